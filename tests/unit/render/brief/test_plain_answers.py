"""What a reader without statistics asks of the first page, and whether it has the answer."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from tests.every_result import of_loans, result

import fairgauge as fg
from fairgauge.enums import Outcome
from fairgauge.render import render
from fairgauge.render._document_tree import Chart
from fairgauge.render.document import document as report_document
from fairgauge.results.verdicts import before_counting

_FAILING = {
    "loans": of_loans,
    "defendants": lambda: result("defendants"),
    "close limits": lambda: of_loans(rules=["selection_rate.ratio >= 0.95"]),
    "judged together": lambda: of_loans(multiplicity="familywise"),
}  # fmt: skip


@pytest.mark.parametrize("name", _FAILING)
def test_each_fail_states_whether_it_remains_and_the_verdict_counts_them(name: str) -> None:
    """The box of the verdict lists no fail as certain that another sentence takes back."""
    report = _FAILING[name]()
    fails = [each for each in report.verdicts if before_counting(each) is Outcome.FAIL]
    judged = [each.remains for each in fails if each.remains is not None]
    head, *others, counts = map(str, report.brief().verdict)
    together = "when all comparisons are judged together"
    assert (together in head) is (bool(judged) and True not in judged)
    remaining = judged.count(True)
    if len(report.verdicts) == 1:
        return
    assert f" {len(fails)} fail" in counts
    stated = "also" if remaining == len(fails) else f"{remaining:,}"
    assert (f"({stated} when all are judged together)" in counts) is bool(judged)
    assert any("judged alone" in each for each in others) is (False in judged)


def test_inconclusive_and_not_evaluated_state_what_differs_and_what_to_do() -> None:
    brief = result("inconclusive").brief()
    inconclusive, unevaluated = (
        next(text for text in map(str, brief.certainty) if text.startswith(begins))
        for begins in ("“Inconclusive”: ", "Not evaluated, ")
    )
    assert "both a pass and a fail" in inconclusive
    assert "would probably decide" in str(brief.steps[0])
    assert "insufficient data" in unevaluated
    page = render(result("inconclusive"), "html")
    outcomes = re.findall(r'class="v (\w+)"', page)
    assert {"inconclusive", "not_evaluated"} <= set(outcomes)
    assert "Not evaluated: the data do not suffice, or there is no CI." in page


def test_drawn_shares_of_strata_are_those_of_the_table() -> None:
    """Of women in A 89 of 108 were admitted, of men 512 of 825."""
    grid = next(
        each for each in report_document(result("strata")).exhibits if isinstance(each, Chart)
    )
    a = next(row for row in grid.rows if row.label == "A")
    assert (a.text, a.below) == ("82 v 62 of 100", "108 v 825")
    assert a.mark.value == pytest.approx(89 / 108)
    assert a.before is not None
    assert a.before.value == pytest.approx(512 / 825)
    assert [row.label for row in grid.rows] == sorted(row.label for row in grid.rows)


def test_rounded_counts_are_not_shown_as_exact() -> None:
    """A reader of the first page, or of its table, learns that each number is rounded."""
    rng = np.random.default_rng(5)
    rows = pl.DataFrame({
        "sex": rng.choice(["Female", "Male"], 900), "race": rng.choice(["Black", "White"], 900),
        "hired": rng.integers(0, 2, 900),
    })  # fmt: skip
    counts = fg.count(rows, prediction="hired", positive=1, sensitive=["sex", "race"],
                      preset="nyc-ll144")  # fmt: skip
    named = {"sex": "Male", "race": "White"}
    report = fg.audit(fg.protect(counts, min_cell=10), reference=named)
    page = report.brief()
    stated = "Counts are protected: rounded at random to multiples of 10"
    assert any(str(each).startswith(stated) for each in page.looked_at)
    first = render(report, "markdown").partition("## Bias audit")[0]
    tables = first.count("In parentheses: 95% confidence intervals")
    assert tables
    assert first.count(f"<sub>{stated}") == tables
    assert "tables to publish of the exact counts" in first
    assert not any(str(each).startswith(stated) for each in fg.audit(counts).brief().looked_at)
