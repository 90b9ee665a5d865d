"""Other tools' names: each finds a number of ours, or says why there is none; none misleads.

Names with a parameter, too.
"""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.catalogue.catalogue import METRICS, NAMES, RATES, Name, lookup_key
from fairgauge.catalogue.cells import ALL, FN, FP, TP, divide, subtract
from fairgauge.catalogue.lookup import BUILT_IN, find_metric, find_rate
from fairgauge.enums import Profile

ROWS = {row.name: row for row in (*RATES, *METRICS)}


def test_every_name_is_of_a_row_or_says_why() -> None:
    for each in NAMES:
        assert each.differs if each.ours is None else each.ours in ROWS, each


def test_every_name_resolves_or_says_what_to_do() -> None:
    assert not [each for each in NAMES if not resolves_or_says_what_to_do(each)]


def resolves_or_says_what_to_do(each: Name) -> bool:
    found, messages = [], []
    for find in (find_metric, find_rate):
        try:
            found.append(find(each.name).name)
        except LookupError as error:
            messages.append(str(error))
    if each.ours is None:
        own = lookup_key(each.name) in {lookup_key(name) for name in found}
        return own or all(str(each.differs) in message for message in messages)
    same = [row.name for row in ROWS.values() if row.formula == ROWS[each.ours].formula]
    choices = [text for text in messages if text.endswith("name one of them")]
    chosen = any(f"{name} (" in text for name in same for text in choices)
    return chosen or bool(set(found) & set(same))


def test_no_two_names_of_a_tool_clash() -> None:
    keys = [(each.tool, lookup_key(each.name)) for each in NAMES]
    assert len(keys) == len(set(keys))


def test_signs_that_differ_must_be_chosen() -> None:
    table = fg.confusion("g", {"a": {"tp": 3, "fn": 1}, "b": {"tp": 1, "fn": 3}})
    with pytest.raises(fg.SpecError) as caught:
        fg.audit(table, metrics=["Recall Difference"])
    assert str(caught.value) == (
        "metrics[0]: 'Recall Difference' is RD (Clarify: [TP / (TP + FN)]_a - [TP / (TP + FN)]_d)"
        " or vertex.recall_difference (Vertex AI: [TP / (TP + FN)]_d - [TP / (TP + FN)]_a);"
        " name one of them"
    )
    with pytest.raises(fg.SpecError, match=r"AD .* or vertex\.accuracy_difference .*one of them"):
        fg.rule("accuracy difference", between=(-0.1, 0.1))


def rows(seed, n=240, digits=2):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, n)
    score = np.round(np.clip(rng.normal(0.4 + 0.2 * label, 0.2), 0, 1), digits)
    return pl.DataFrame({"g": rng.choice(["a", "b"], n), "y": label, "s": score})


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("Top selection ratio( 20 )", "top_selection_ratio(k=20)"),
        ("top_selection_ratio(k=20)", "top_selection_ratio(k=20)"),
        ("top_selection_ratio(percent=5)", "top_selection_ratio(percent=5)"),
    ],
)
def test_a_metric_with_a_parameter_has_one_name(asked, name):
    assert [m.name for m in BUILT_IN.expand([asked])] == [name]
    assert fg.metric(asked).name == name
    assert str(fg.rule(asked, at_least=0.8)) == f"{name} >= 0.8"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("AD(3)", "AD has no parameter"),
        ("top_selection_ratio(0)", "k must be a whole number above 0, not 0"),
        ("top_selection_ratio(2.5)", "k must be a whole number above 0, not 2.5"),
        ("top_selection_ratio(percent=120)", "percent must be above 0 and below 100, not 120"),
        ("top_selection_ratio(recall=1)", "top_selection_ratio has no parameter recall"),
        ("between_group_generalized_entropy(k=1)", "entropy has no parameter k"),
        ("accuracy.worst", "has no worst: there is no such comparison"),
        ("op_selection_ratio(20)", "Did you mean 'top_selection_ratio'?"),
    ],
)
def test_a_parameter_that_is_not_allowed_says_so(asked, message):
    with pytest.raises(fg.SpecError) as caught:
        fg.audit(rows(0), label="y", score="s", sensitive="g", metrics=asked)
    assert message in str(caught.value)
    with pytest.raises(fg.SpecError) as caught:
        fg.metric(asked)
    assert message in str(caught.value)


# ---- the parts of the catalogue: sums of cells, divisions, distances, and finding rows by name
DOCUMENTED, CLARIFY = Profile.DOCUMENTED, Profile.CLARIFY


def array(*numbers: float) -> Any:
    return np.array(numbers, dtype=float)


def test_a_part_and_its_whole() -> None:
    assert TP.within(TP + FN)
    assert not TP.within(FN + FP)
    assert not (2 * TP).within(ALL)
    assert FN.disjoint(FP)
    assert not TP.disjoint(TP + FN)


def test_division_by_zero() -> None:
    over, under = array(1, -1, 0, 3), array(0, 0, 0, 2)
    found = divide(over, under, DOCUMENTED)
    assert found[:2].tolist() == [math.inf, -math.inf]
    assert math.isnan(found[2])
    assert found[3] == 1.5
    assert divide(over, under, CLARIFY).tolist() == [math.inf, -math.inf, 0, 1.5]


def test_infinity_less_infinity() -> None:
    left, right = array(math.inf, math.inf, -math.inf, 1), array(math.inf, 1, -math.inf, 3)
    found = subtract(left, right, DOCUMENTED)
    assert math.isnan(found[0])
    assert math.isnan(found[2])
    assert subtract(left, right, CLARIFY).tolist() == [0, math.inf, 0, -2]


def test_asking_for_several_gives_each_once_in_order() -> None:
    found = [m.name for m in BUILT_IN.expand(["DI", "AD", "clarify", "AD", "accuracy"])]
    assert found[:2] == ["DI", "AD"]
    assert len(found) == len(set(found))
    assert found[-2:] == ["accuracy.difference", "accuracy.ratio"]
