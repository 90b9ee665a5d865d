"""Favourable values of each column: a decision and a label with other words are one question."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.errors import SpecError

WORDS = [("Hired", "Rejected"), ("no", "yes"), ("2", "1"), ("a=b", "c,d"), ("1", "0")]


def rows_of(prediction=("1", "0"), label=("1", "0")):
    random = np.random.default_rng(3)
    sex, good = random.choice(["F", "M"], 900), random.random(900) < 0.5
    chosen = random.random(900) < np.where(good, 0.6, 0.2) - 0.1 * (sex == "F")
    return pd.DataFrame({
        "sex": sex, "day": ["2026-01-01", "2026-01-02", "2026-01-03"] * 300,
        "decision": np.where(chosen, *prediction), "other": np.where(~chosen, *prediction),
        "outcome": np.where(good, *label),
    })  # fmt: skip


PLAIN = {"label": "outcome", "prediction": "decision", "sensitive": "sex", "positive": "1"}
CODED = rows_of()


def asked_for(prediction, label):
    return PLAIN | {"positive": {"decision": prediction[0], "outcome": [label[0]]}}


def numbers(found):
    return [(e.metric, e.group, e.value, e.interval) for e in found.estimates]


BEFORE = fg.audit(CODED, **PLAIN)
RULE = {"metric": "true_positive_rate.difference", "between": [-0.5, 0.5]}
LOUD = {"same_names", "prediction_not_a_label", "undecided_outcomes",
        "unfavourable_positive"}  # fmt: skip


@given(prediction=st.sampled_from(WORDS), label=st.sampled_from(WORDS))
def test_the_words_of_columns_change_no_number(prediction, label):
    """A decision "Hired" beside a label "yes" was refused; of "yes" that is bad, both were good."""
    rows, asked = rows_of(prediction, label), asked_for(prediction, label)
    found = fg.audit(rows, **asked)
    assert numbers(found) == numbers(BEFORE)
    assert not LOUD & {d.code for d in found.diagnostics}
    assert numbers(fg.audit(fg.count(rows, **asked))) == numbers(BEFORE)
    assert numbers(fg.audit(rows, config=found.spec)) == numbers(BEFORE)


def test_every_verb_takes_the_words_of_columns():
    words = ("Hired", "Rejected"), ("yes", "no")
    rows, asked = rows_of(*words), asked_for(*words)
    of_days = {"monitor": {"rules": [RULE]}}
    of_find = {"sensitive": ["sex", "day"], "metrics": "false_negative_rate"}
    for verb, part in (
        (lambda rows, asked: fg.why(rows, **asked, strata="day"), "gaps"),
        (lambda rows, asked: fg.compare_models(rows, candidate="other", **asked), "candidates"),
        (lambda rows, asked: fg.find(rows, **of_find, **without(asked, "sensitive")), "worse"),
        (lambda rows, asked: fg.monitor(
            {day: fg.count(of, **asked) for day, of in rows.groupby("day")}, asked | of_days
        ), "comparisons"),
    ):  # fmt: skip
        found, before = (verb(*each).to_dict()[part] for each in ((rows, asked), (CODED, PLAIN)))
        assert numbers_in(found) == numbers_in(before) != []


def without(asked, name):
    return {key: value for key, value in asked.items() if key != name}


def numbers_in(plain):
    if isinstance(plain, dict | list):
        held = plain.values() if isinstance(plain, dict) else plain
        return [number for each in held for number in numbers_in(each)]
    return [plain] if isinstance(plain, float | int) else []


@pytest.mark.parametrize(("positive", "stated"), [
    ({"decision": "1"}, "names no value of 'outcome'"),
    ({"decision": "1", "outcome": "1", "x": "1"}, r"positive\.x: is no label and no prediction"),
    ({"decision": "3", "outcome": "1"}, "column 'decision' has no value '3'"),
    ({}, "COLUMN = VALUE"),
    ({"decision": ["1", "0"], "outcome": "1"}, "names every value of 'decision'"),
])  # fmt: skip
def test_what_is_wrong_with_values_of_columns(positive, stated):
    with pytest.raises(SpecError, match=stated):
        fg.audit(CODED, **(PLAIN | {"positive": positive}))


@pytest.mark.parametrize(
    ("positive", "scores", "share"),
    [
        (">=0.5", [0.25, 0.5, 0.5, 0.75], 0.75),
        (">0.5", [0.25, 0.5, 0.5, 0.75], 0.25),
        (">=-1", [-2, -1, 0, 3], 0.75),
        # a category that looks like a cut is one
        (">50000", [">50000", "<=50000", "<=50000", ">50000"], 0.5),
        (">= 60", [">= 60", "30", "40", "50"], 0.25),
    ],
)
def test_cuts_of_the_command_line_are_read_from_above_and_from_below(
    positive, scores, share, tmp_path
):
    frame = pd.DataFrame({"sex": ["F", "M", "M"] * 80, "s": scores * 60})
    for path in (tmp_path / "a.csv", tmp_path / "a.parquet"):
        frame.to_csv(path, index=False) if path.suffix == ".csv" else frame.to_parquet(path)
        asked = ["audit", str(path), "--prediction", "s", "--positive", positive, "-o"]
        done = CliRunner().invoke(main, [*asked, str(tmp_path / "r.json"), "--sensitive", "sex"])
        assert done.exit_code == 0, done.output
        report = fg.load(tmp_path / "r.json")
        rates = [e.value for e in report.estimates if e.metric == "selection_rate"]
        assert rates == pytest.approx([share] * len(rates))
