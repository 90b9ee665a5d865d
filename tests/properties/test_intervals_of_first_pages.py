"""The grid of rules draws the intervals that decide, and a page states each number's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests import every_result

import fairgauge as fg
import sample_reports
from fairgauge.render.page import first_page, rule_grid
from fairgauge.statements.audit import audit_page
from fairgauge.statements.compared import inverse

if TYPE_CHECKING:
    from fairgauge.render._document_tree import GridCell
    from fairgauge.results.report import Report

_DIFFERENCE = "-0.1 <= selection_rate.difference <= 0.1"
_OF_RATES = "-0.1 <= false_positive_rate.difference <= 0.1"


def _risk(**options: object) -> Report:
    asked = {"label": "reoffended", "prediction": "high", "positive": 1, "sensitive": "race"}
    return fg.audit(
        every_result.defendants(),
        words=every_result.RISK_WORDS,
        favourable="negative",
        **asked,
        **options,
    )


def _calls() -> Report:
    rules = ["accuracy.difference >= -0.02"]
    asked = {"label": "asked", "prediction": "routed", "sensitive": "accent"}
    return fg.audit(every_result.calls(), rules=rules, **asked)


def _errors() -> Report:
    rules = ["-5 <= mean_error.difference <= 5"]
    return every_result.of_regression(label="price", prediction="estimate", rules=rules)


REPORTS = {
    "small": sample_reports.small,
    "several": sample_reports.several,
    "scored": sample_reports.scored,
    "crossed": lambda: sample_reports.crossed(rules=every_result.RULES),
    "loans": every_result.of_loans,
    "loans by difference": lambda: every_result.of_loans(rules=[_DIFFERENCE]),
    "familywise": lambda: every_result.of_loans(multiplicity="familywise"),
    "risk": lambda: _risk(rules=[_OF_RATES, _DIFFERENCE]),
    "thresholds": lambda: every_result.of_scores(threshold=[0.4, 0.6], rules=[_DIFFERENCE]),
    "errors": _errors,
    "classes": _calls,
    "unrecorded": every_result.unrecorded,
}


@pytest.fixture(scope="module", params=REPORTS)
def report(request: pytest.FixtureRequest) -> Report:
    return REPORTS[request.param]()


def _cells(report: Report) -> list[GridCell]:
    grid = rule_grid(first_page(report))
    assert grid is not None
    return [cell for _, lines in grid.parts for _, row in lines for cell in row if cell]


def test_every_interval_of_the_grid_is_the_one_that_decides_its_rule(report: Report) -> None:
    """A wider one would reach over a limit beside the word FAIL, or out of it beside PASS."""
    decide = {
        frozenset((abs(each.interval.low), abs(each.interval.high)))
        for each in report.verdicts
        if each.interval is not None
    }
    drawn = [cell.mark for cell in _cells(report) if cell.mark.low is not None]
    assert drawn
    assert {frozenset((abs(mark.low), abs(mark.high))) for mark in drawn} <= decide


def test_every_interval_of_a_page_is_its_number_s_own(report: Report) -> None:
    """Not the wider one for all comparisons together: a number stands with one interval."""
    intervals = [each.interval for each in report.estimates if each.interval is not None]
    ends = [(each.low, each.high) for each in intervals]
    own = [(low, high) for pair in ends for low, high in (pair, inverse(pair, "difference"))]
    own += filter(None, (inverse(pair, "ratio") for pair in ends))
    stated = [each for each in audit_page(report).statements if each.interval is not None]
    assert stated
    for each in stated:
        if each.code != "interval":  # which is about all of them
            assert any(np.allclose((each.interval.low, each.interval.high), of) for of in own)
