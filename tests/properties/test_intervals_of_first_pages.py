"""On a first page one number has one interval: in its sentences, its grid and on the terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from tests import every_result

import fairgauge as fg
import sample_reports
from fairgauge.render import render
from fairgauge.render.brief._rules_in_words import estimate_of
from fairgauge.render.brief._stated_findings import stated_contrasts
from fairgauge.render.brief._vocabulary import Vocabulary
from fairgauge.render.brief.audit_exhibits import rule_grid, rules_as_stated
from fairgauge.results.disparities import singled_out

if TYPE_CHECKING:
    from fairgauge.results.report import Report

_DIFFERENCE = "-0.1 <= selection_rate.difference <= 0.1"
_OF_RATES = "-0.1 <= false_positive_rate.difference <= 0.1"


def _risk(**options: object) -> Report:
    asked = {"label": "reoffended", "prediction": "high", "positive": 1, "sensitive": "race"}
    return fg.audit(every_result.defendants(), words=every_result.RISK_WORDS, **asked, **options)


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


def test_a_number_has_one_interval(report: Report) -> None:
    intervals: dict[object, set[tuple[float | None, float | None]]] = {}
    for each in stated_contrasts(report):
        shown = singled_out(each)
        intervals.setdefault(each.key, set()).add((shown.low, shown.high))
    for rule in rules_as_stated(report):
        for verdict in rule.verdicts:
            estimate = estimate_of(report, verdict)
            if estimate is not None and verdict.interval is not None:
                ends = verdict.interval.low, verdict.interval.high
                intervals.setdefault(estimate.key, set()).add(ends)
    assert intervals
    assert {key: ends for key, ends in intervals.items() if len(ends) > 1} == {}


@pytest.mark.parametrize("name", ["loans by difference", "risk", "loans"])
def test_the_grid_and_the_terminal_print_the_interval_of_the_sentence(name: str) -> None:
    """Between 18 and 27 more of 100 stand beside +18.1 to +27.4 pp, of no narrower interval."""
    report = REPORTS[name]()
    grid = rule_grid(report, Vocabulary.of_report(report))
    assert grid is not None
    cells = [cell for _, lines in grid.parts for _, row in lines for cell in row if cell]
    printed = [cell.interval for cell in cells] + [" ".join(render(report, "text").split())]
    compared = 0
    for sentence in report.brief().certainty:
        found = re.search(r"between (\d+) and (\d+) (?:fewer|more) of 100", sentence.text)
        if found is None or not sentence.sources[0].startswith("estimates["):
            continue
        estimate = report.estimates[int(sentence.sources[0][10:-1])]
        value = f"{100 * estimate.value:+.1f} pp".replace("-", "−")
        for text in printed:
            for low, high in re.findall(
                rf"{re.escape(value)}, (?:95% )?CI \(?([+−][\d.]+) to ([+−][\d.]+)", text
            ):
                ends = sorted(abs(float(end.replace("−", "-"))) for end in (low, high))
                assert ends == pytest.approx([int(found[1]), int(found[2])], abs=0.56)
                compared += 1
    assert compared >= 1
    assert any("have that for all comparisons together" in note for note in grid.notes)
