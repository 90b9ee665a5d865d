"""What a reader without statistics asks of the first page, and whether it has the answer."""

import re

import numpy as np
import polars as pl
import pytest
from tests.every_result import RESULTS, loans, of_loans, result, scored

import fairgauge as fg
from fairgauge.enums import Outcome
from fairgauge.render import render
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


def test_rounded_counts_are_not_shown_as_exact() -> None:
    """A reader of the first page, or of its table, learns that each number is rounded."""
    counts = fg.count(loans()[:900], prediction="approved", positive="yes",
                      sensitive=["sex", "race"], preset="nyc-ll144")  # fmt: skip
    named = {"sex": "Male", "race": "White"}
    report = fg.audit(fg.protect(counts, min_cell=10), reference=named)
    page = report.brief()
    stated = "Counts are protected: rounded at random to multiples of 10"
    assert any(str(each).startswith(stated) for each in page.looked_at)
    assert stated in " ".join(render(report, "text").split())
    first = render(report, "markdown").partition("## Bias audit")[0]
    tables = first.count("In parentheses: 95% confidence intervals")
    assert tables
    assert first.count(f"<sub>{stated}") == tables
    assert "tables to publish of the exact counts" in first
    assert not any(str(each).startswith(stated) for each in fg.audit(counts).brief().looked_at)


QUESTION = {"label": "repaid", "prediction": "approved", "positive": "yes"}
SCORES = {"label": "repaid", "positive": "yes", "sensitive": "sex", "score": "score",
          "threshold": 0.5, "metrics": "accuracy.difference"}  # fmt: skip
OWNERS = ("Analyst", "Those responsible", "Those who supply the data", "Those who know the cases")


def undecided_models():
    """Return models of which few rows do not show which is better."""
    drawn = np.random.default_rng(2).random((4, 120)) < 0.5
    rows = pl.DataFrame(dict(zip(["y", "old", "new", "sex"], drawn * 1, strict=True)))
    asked = {"label": "y", "prediction": "old", "candidate": "new", "sensitive": "sex"}
    return fg.compare_models(rows, **asked, margins={"accuracy": 0.01, "disparity": 0.01})


def undecided_strata():
    """Return a gap of few rows in strata of numbers, and of two columns."""
    return fg.why(loans()[:160], label="repaid", sensitive="sex", positive="yes",
                  strata=["age", "region"])  # fmt: skip


def undecided_subgroups():
    return fg.find(loans()[:400], **QUESTION, sensitive=["sex", "race"],
                   metrics="false_negative_rate")  # fmt: skip


MADE = {name: (lambda name=name: result(name)) for name in RESULTS} | {
    each.__name__: each for each in (undecided_models, undecided_strata, undecided_subgroups)
}


@pytest.mark.parametrize("name", MADE)
def test_every_step_begins_with_who_takes_it(name):
    steps = [str(each) for each in MADE[name]().brief().steps]
    assert steps
    for step in steps:
        assert step.startswith(tuple(f"{owner}: " for owner in OWNERS)), step


@pytest.mark.parametrize(
    ("rule", "is_taken"),
    [
        ("accuracy.difference >= 0.5", True),
        ("selection_rate >= 0.99", False),
        ("roc_auc >= 0.99", False),
        ("mean_score >= 0.99", False),
        ("accuracy >= 0.99", False),
    ],
)
def test_another_threshold_is_advised_only_for_a_rule_that_thresholds_takes(rule, is_taken):
    report = fg.audit(scored(), **SCORES, rules=rule)
    assert report.verdict is Outcome.FAIL
    assert ("(fairgauge thresholds)" in " ".join(map(str, report.brief().steps))) == is_taken
    if not is_taken:
        with pytest.raises(fg.SpecError):
            fg.thresholds(scored(), **SCORES, rules=rule)


def test_the_rows_of_the_goal_that_needs_most_head_the_page() -> None:
    made = fg.plan(rate=0.5, tolerance=0.05)
    brief = made.brief()
    most = max(each.total for each in made.needed)
    assert str(brief.headline) == f"{most:,.0f} rows are probably enough for each goal"
    assert len(brief.found) == len(made.needed)
    assert "a rate of 50 of 100 in the reference" in " ".join(map(str, brief.looked_at))
    assert str(brief.certainty[0]).startswith("80% of audits so planned reach the goal (power)")


def test_the_next_step_states_how_many_rows_are_evaluated() -> None:
    def audited(times: int) -> fg.Report:
        cells = {name: {"tp": 0, "fn": 0, "fp": fp * times, "tn": (n - fp) * times}
                 for name, fp, n in (("a", 10, 1_000), ("b", 1, 100))}  # fmt: skip
        return fg.audit(fg.confusion("g", cells), rules="|false_positive_rate.difference| <= 0.5")

    said = " ".join(str(audited(1).brief()).split())
    assert "about 5,500 of the same composition, and not 1,100, would be enough" in said
    outcomes = [each.outcome for k in (1, 5) for each in audited(k).verdicts]
    assert outcomes == [Outcome.NOT_EVALUATED, Outcome.INCONCLUSIVE]
