"""Rows without a group that are stated to be ignorable are shared within each outcome."""

from typing import Any

import pytest

import fairgauge as fg
from fairgauge.enums import DiagnosticCode, Outcome
from fairgauge.render import _document_tree as tree
from fairgauge.render.document import document
from fairgauge.render.formats import render

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
