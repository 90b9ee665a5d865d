"""Favourable values of each column: a decision and a label with other words are one question."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.enums import DiagnosticCode, Outcome
from fairgauge.errors import SpecError
from fairgauge.render import _document_tree as tree
from fairgauge.render.document import document
from fairgauge.render.formats import render

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


# ---- rows without a group that are stated to be ignorable are shared within each outcome
COUNTS = {("a", 1): 300, ("a", 0): 200, ("b", 1): 150, ("b", 0): 130, (None, 1): 30, (None, 0): 170}
ASKED: dict[str, Any] = {
    "prediction": "p", "positive": 1, "sensitive": "g", "count": "n", "reference": {"g": "a"},
    "metrics": ["selection_rate.difference", "selection_rate.ratio"],
}  # fmt: skip


def table(counts: dict[Any, int]) -> dict[str, list[Any]]:
    return {"g": [g for g, _ in counts], "p": [p for _, p in counts], "n": [*counts.values()]}


def test_rows_are_shared_within_each_outcome_as_the_recorded_ones_are():
    report = fg.audit(table(COUNTS), **ASKED, missing="ignorable")
    shared = {
        (g, p): n + COUNTS[None, p] * n / (COUNTS["a", p] + COUNTS["b", p])
        for (g, p), n in COUNTS.items()
        if g
    }
    rate = {g: shared[g, 1] / (shared[g, 1] + shared[g, 0]) for g in "ab"}
    found = report["selection_rate.difference", "g", "b"]
    assert (found.rate_group, found.rate_reference) == pytest.approx((rate["b"], rate["a"]))
    assert found.value == pytest.approx(rate["b"] - rate["a"])
    odds = {g: COUNTS[g, 1] / COUNTS[g, 0] for g in "ab"}  # whose ratio sampling by outcome leaves
    ratio = (rate["b"] / (1 - rate["b"])) / (rate["a"] / (1 - rate["a"]))
    assert ratio == pytest.approx(odds["b"] / odds["a"])


def test_without_such_rows_nothing_changes():
    known = {key: n for key, n in COUNTS.items() if key[0]}
    one, other = (fg.audit(table(known), **ASKED, missing=m) for m in ("ignorable", "exclude"))
    for mine, theirs in zip(one.estimates, other.estimates, strict=True):
        assert (mine.value, mine.low, mine.high) == pytest.approx(
            (theirs.value, theirs.low, theirs.high)
        )


def test_it_decides_and_states_the_worst_case_beside_it():
    asked = ASKED | {"rules": ["selection_rate.ratio >= 0.8"], "favourable": "positive"}
    rows = table({key: 10 * n for key, n in COUNTS.items()})
    known, report = fg.audit(rows, **asked), fg.audit(rows, **asked, missing="ignorable")
    assert (known.verdict, report.verdict) == (Outcome.INCONCLUSIVE, Outcome.PASS)
    (note,) = [d for d in report.diagnostics if d.code is DiagnosticCode.IGNORABLE_MISSING]
    assert (note["rows"], note["total"], note["outcome"]) == (2_000, 9_800, "inconclusive")
    assert note["low"] < 0.8 < note["high"]
    assert "As stated, not checked: the 2,000 rows without g (of 9,800)" in str(report.brief())
    assert fg.Report.from_dict(report.to_dict()) == report
    assert (report.data.used, report.data.excluded) == (9_800, {})
    condition = "an assumption that nobody checked: that rows without g are missing at random"
    assert condition in " ".join(map(str, report.brief().verdict))
    assert "As stated, not checked" in render(report, "text", quiet=True)


def test_a_filing_has_the_recorded_people_and_those_that_are_estimated():
    rows = [(g or "?", p) for (g, p), n in COUNTS.items() for _ in range(n)]
    report = fg.audit(
        {"g": [g for g, _ in rows], "p": [p for _, p in rows]}, preset="ugesp", prediction="p",
        positive=1, sensitive="g", unknown="?", missing="ignorable",
    )  # fmt: skip
    (table, *_) = (e for e in document(report).exhibits if isinstance(e, tree.Table))
    assert [each.heading for each in table.columns][:4] == [
        "group", "recorded n", "estimated n", "estimated selection rate"]  # fmt: skip
    shared = 300 + 30 * 300 / 450, 200 + 170 * 200 / 330
    texts = [cell.text for cell in table.rows[0]][1:4]
    assert texts == ["500", f"{sum(shared):.1f}", f"{100 * shared[0] / sum(shared):.1f}%"]
    assert [cell.text for cell in table.rows[-1]][:2] == ["Unknown", "200"]


@pytest.mark.parametrize(("more", "message"), [
    ({"task": "regression"}, "amounts"), ({"score": "s", "prediction": None}, "scores"),
    ({"weight": "n", "count": None}, "weights"), ({"cluster": "c"}, "clusters"),
    ({"method": "exact"}, "the method exact"), ({"person": "c", "count": None}, "people"),
])  # fmt: skip
def test_what_it_is_not_computed_with_is_refused(more, message):
    rows = table(COUNTS) | {"s": [0.5] * 6, "c": [*range(6)]}
    with pytest.raises(fg.SpecError, match=f"not computed with {message}"):
        fg.audit(rows, **ASKED | more, missing="ignorable")


@pytest.mark.parametrize(("counts", "message"), [
    (COUNTS | {("a", None): 5}, "5 rows have no outcome"),
    ({key: n for key, n in COUNTS.items() if key in {("a", 1), ("b", 1), (None, 1), (None, 0)}},
     "all rows of an outcome lack"),
])  # fmt: skip
def test_rows_that_cannot_be_shared_are_refused(counts, message):
    with pytest.raises(fg.DataError, match=message):
        fg.audit(table(counts), **ASKED, missing="ignorable")
