"""What is compared with what: at every threshold, and where the reference itself would fail."""

import numpy as np
import polars as pl
import pytest
from tests.selected_groups import selected

import fairgauge as fg
from fairgauge.enums import DiagnosticCode, Outcome

RULES = ["others", "overall", "largest", "best", {"g": "C"}]
GOAL = "selection_rate.ratio >= 0.8"


def scored(seed=1, groups=("A", "B", "C"), shares=(0.6, 0.3, 0.1), n=2000, unlabelled=False):
    """Return rows whose best group changes with the threshold."""
    rng = np.random.default_rng(seed)
    group = rng.choice(groups, n, p=shares)
    place = np.searchsorted(groups, group)
    score = np.clip(rng.normal(0.5 + 0.05 * place, 0.25 - 0.05 * place), 0, 1).round(2)
    label = (rng.random(n) < score).astype(int).tolist()
    if unlabelled:  # more of them in one group, so that it is the best of labelled rows alone
        label = [
            None if g == "A" and s < 0.4 else y for g, s, y in zip(group, score, label, strict=True)
        ]
    return pl.DataFrame({"g": group, "s": score, "y": label})


ASKED = {"label": "y", "score": "s", "sensitive": "g", "positive": 1}


@pytest.mark.each_value
@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"groups": ("A", "B"), "shares": (0.7, 0.3)},
        {"shares": (0.6, 0.394, 0.006)},  # C has too few rows to be the best
        {"unlabelled": True},
    ],
    ids=["three groups", "two groups", "a group of 12 rows", "rows without a label"],
)
def test_every_threshold_has_the_reference_of_an_audit_at_it(rule, options):
    if rule == {"g": "C"} and "C" not in options.get("groups", "ABC"):
        rule = {"g": "B"}
    rows = scored(**options)
    (choice,) = fg.thresholds(rows, reference=rule, threshold=0.5, rules=GOAL, **ASKED).features
    points = choice.frontier[::2]
    audits = fg.audit(
        rows, reference=rule, metrics="selection_rate.ratio",
        threshold=[point.threshold for point in points], **ASKED,
    )  # fmt: skip
    reference_of = {(each.threshold, each.group): each.reference for each in audits.estimates}
    assert len(points) > 5
    for point in points:
        assert point.reference == reference_of[point.threshold, point.group]


def test_a_choice_compares_with_the_reference_at_its_own_thresholds():
    rows = scored()
    goal = "selection_rate.ratio >= 0.5"
    (choice,) = fg.thresholds(
        rows, reference="best", threshold=0.5, rules=goal, margins={"accuracy": 0.2}, **ASKED
    ).features
    cut = choice.common.threshold
    report = fg.audit(
        rows, reference="best", metrics="selection_rate.ratio", threshold=cut, **ASKED
    )
    assert {(e.group, e.reference) for e in choice.common.disparities} == {
        (e.group, e.reference) for e in report.estimates
    }


def counts_of(rates: dict[str, float], n: int = 20_000) -> fg.Cube:
    return selected({name: (round(n * rate), n) for name, rate in rates.items()})


def turned(report: fg.Report) -> dict[tuple[str, str], tuple[str, ...]]:
    return {
        (note["rule"], note["group"]): note["references"]
        for note in report.diagnostics
        if note.code is DiagnosticCode.REFERENCE_DECIDES
    }


def test_of_two_groups_a_reference_that_fails_itself_is_named() -> None:
    """The group that fares worse, named as the reference, passed without a warning."""
    rates = {"F": 0.3, "M": 0.5}
    asked = {"reference": {"g": "F"}, "rules": ["DI >= 0.8"]}
    report = fg.audit(counts_of(rates), **asked)
    assert report.verdict is Outcome.INCONCLUSIVE
    assert fg.audit(counts_of(rates), **asked, accept="reference_decides").verdict is Outcome.PASS
    [note] = [n for n in report.diagnostics if n.code is DiagnosticCode.REFERENCE_DECIDES]
    assert note.message.startswith(
        "the rule DI >= 0.8 holds for 'M', compared with 'F'; compared with 'M' "
        "instead, 'F' would fail: check that what is favourable is stated the right way round "
        "(--favourable); if it is, name another reference (--reference), or recode rows of 'F' "
    )
    for reference in ({"g": "M"}, "best"):  # fails, as it should
        assert not turned(fg.audit(counts_of(rates), reference=reference, rules=["DI >= 0.8"]))


def test_a_named_set_that_passes_is_warned_of_where_all_others_would_fail() -> None:
    """The others had 0.6 of its rate: a pass, as two sets of all values fail."""
    counts = counts_of({"a": 0.5, "b": 0.3, "c": 0.5, "d": 0.3})
    one, other = {"g": [["a", "c"]]}, {"g": [["b", "d"]]}
    report = fg.audit(counts, sensitive=one, rules=["DI >= 0.8"])
    assert report.verdict is Outcome.INCONCLUSIVE
    [note] = [n for n in report.diagnostics if n.code is DiagnosticCode.REFERENCE_DECIDES]
    assert note.message == (
        "the rule DI >= 0.8 holds for 'a, c', compared with all others; these, "
        "compared with 'a, c', would fail: check that what is favourable is stated the right way "
        "round (--favourable); if it is, judge them too: name their values as a further "
        "set (--sensitive g=V1,V2); if it is meant, accept it (--accept reference_decides:g)"
    )
    for sensitive in (other, {"g": [["a", "c"], ["b", "d"]]}):
        failed = fg.audit(counts, sensitive=sensitive, rules=["DI >= 0.8"])
        assert failed.verdict is Outcome.FAIL
        assert not turned(failed)
    assert not turned(fg.audit(counts, sensitive=one, rules=["DI >= 0.5"]))
