"""Which outcome is favourable: guards of presets, the best group, and who fails a rule."""

import math
from typing import Any

import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import DiagnosticCode, Outcome
from fairgauge.render import render

DENIED = {"Black": 0.3, "Hispanic": 0.2, "White": 0.1}


def decided(denied: dict[str, float] = DENIED, words: tuple[Any, Any] = ("denied", "approved"),
            column: str = "decision") -> pl.DataFrame:  # fmt: skip
    """Return a thousand decisions of each group, of which so many have the first word."""
    rows = [
        (group, words[i >= 1_000 * share]) for group, share in denied.items() for i in range(1_000)
    ]
    return pl.DataFrame(rows, schema=["race", column], orient="row")


LENDING = {"sensitive": "race", "preset": "us-lending", "reference": {"race": "White"}}


def test_the_approvals_of_a_preset():
    report = fg.audit(decided(), **LENDING, prediction="decision", positive="approved")
    found = {each.metric: each.value for each in report.estimates if each.group == "Black"}
    assert found["selection_rate.ratio"] == pytest.approx(0.7 / 0.9)
    assert found["rejection_share.ratio"] == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"prediction": "decision", "favourable": "lower"}, "of outcomes, not lower"),
        ({"label": "n", "task": "regression", "favourable": "negative"}, "not negative"),
        ({"label": "n", "task": "regression", "reference": "best"}, "state higher or lower"),
        ({"label": "decision", "favourable": "lower"}, "--task regression"),
        ({"prediction": "decision", "favourable": "neither", "reference": "best"},
         "state positive or negative"),
    ],
)  # fmt: skip
def test_what_is_favourable_is_of_the_outcome(asked, message):
    positive = {"positive": "denied"} if "prediction" in asked else {}
    data = decided().with_columns(n=pl.lit(1.0))
    with pytest.raises(fg.SpecError, match=message):
        fg.audit(data, sensitive="race", **positive, **asked)


def test_the_best_group_of_a_harm_has_the_least_of_it():
    """The group with most layoffs was the reference, and the rule passed."""
    data = decided({"A": 0.3, "B": 0.2, "C": 0.1}, (1, 0), "laid_off")
    asked = {"prediction": "laid_off", "positive": 1, "sensitive": "race", "reference": "best"}
    rule = "selection_rate.ratio <= 1.25"
    report = fg.audit(data, **asked, favourable="negative", rules=[rule])
    assert {each.reference.group for each in report.estimates} == {"C"}
    found = {each.group: (each.outcome, each.value) for each in report.verdicts}
    assert found == {"A": (Outcome.FAIL, pytest.approx(3)), "B": (Outcome.FAIL, pytest.approx(2))}
    (verdict, *_) = [str(each) for each in report.brief().verdict if "fails for" in str(each)]
    assert "race A or B (worse off)" in verdict
    mirrored = fg.audit(
        data, **asked, favourable="negative", rules=["rejection_share.ratio >= 0.8"]
    )
    assert {each.reference.group for each in mirrored.estimates} == {"C"}
    assert mirrored.verdict is not Outcome.PASS


@pytest.mark.parametrize("reference", ["others", {"sex": "F"}], ids=str)
@pytest.mark.parametrize(
    "rule", ["selection_rate.ratio <= 1.25", "selection_rate.difference <= 0.1"]
)
def test_a_rule_that_men_fail_names_men(rule, reference):
    """It failed for women, who were at 0.68."""
    counts = {"F": {"tp": 360, "fn": 640}, "M": {"tp": 530, "fn": 470}}
    words = {"groups": {"sex": {"F": "women", "M": "men"}}, "positive": "approved"}
    data = fg.confusion("sex", {sex: {"fp": 0, "tn": 0, **of} for sex, of in counts.items()})
    report = fg.audit(data, rules=[rule], reference=reference, words=words)
    assert [each.group for each in report.verdicts] == ["M"]
    found = [str(each) for each in report.brief().verdict if "fails for" in str(each)]
    assert [text.split("fails for ")[1] for text in found] == ["men (better off)."]
    assert "Men fail as the better-off side." in map(str, report.brief().found)
    page = render(report, "text")
    assert "fails for men (better off)" in " ".join(page.split())


@pytest.mark.parametrize("rule", ["selection_rate.difference <= 0.05", "DPPL >= -0.05"])
def test_a_rule_that_those_worse_off_cannot_fail_is_no_pass_until_it_is_accepted(rule):
    counts = {"F": {"tp": 300, "fn": 700}, "M": {"tp": 600, "fn": 400}}
    data = fg.confusion("sex", {sex: {"fp": 0, "tn": 0, **of} for sex, of in counts.items()})
    asked = {"rules": [rule], "reference": {"sex": "M"}}
    assert fg.audit(data, **asked).verdict is Outcome.INCONCLUSIVE
    assert (
        fg.audit(data, **asked, accept=["limits_the_better_off", "reference_decides"]).verdict
        is Outcome.PASS
    )
    both = {**asked, "rules": [rule, "-0.05 <= selection_rate.difference <= 0.05"]}
    assert fg.audit(data, **both).verdict is Outcome.FAIL
    asked |= {"label": "y", "sensitive": "sex"}
    rows = pl.DataFrame({"sex": ["F", "M"], "y": [0, 1], "p": [1, 1], "s": [0, 1]})
    with pytest.raises(fg.SpecError, match="no group that is worse off can fail"):
        fg.monitor({"2026-01": data}, {**asked, "prediction": "p"})
    with pytest.raises(fg.SpecError, match="no group that is worse off can fail"):
        fg.thresholds(rows, **asked, score="s", threshold=0.5)
    with pytest.raises(fg.SpecError, match="judge one model"):
        fg.compare_models(rows, **asked, prediction="p", candidate="s")


OF_EITHER = {"DCA", "DCR", "DAR", "DRR", "TE", "jaccard_index", "error_type_ratio",
    "vertex.difference_in_ratio_of_error_types", "positive_predictive_value", "average_odds",
    "false_discovery_rate", "negative_predictive_value", "false_omission_rate",
    "conditional_acceptance", "conditional_rejection",
    "average_predictive_value_difference"}  # fmt: skip
"""Metrics of which neither direction is the worse one."""


def test_no_metric_passes_a_limit_on_the_side_of_those_who_are_better_off():
    counts = {"F": (300, 50, 300, 350), "M": (560, 50, 40, 350)}
    of = {sex: dict(zip(("tp", "fp", "fn", "tn"), n, strict=True)) for sex, n in counts.items()}
    data, asked = fg.confusion("sex", of), {"reference": {"sex": "M"}}
    rules = []
    for each in fg.audit(data, **asked, metrics="all").estimates:
        neutral = getattr(each.definition, "neutral", math.nan)
        if each.value is not None and abs(each.value - neutral) > 1e-9:
            sign = "<=" if each.value < neutral else ">="
            rules.append(f"{each.metric} {sign} {(each.value + neutral) / 2:g}")
    rules += ["rejection_share.ratio <= 125", "false_negative_rate.ratio <= 125"]
    verdicts = fg.audit(data, **asked, rules=rules).verdicts
    passed = {each.metric for each in verdicts if each.outcome is Outcome.PASS}
    assert {name.removesuffix(".ratio").removesuffix(".difference") for name in passed} <= OF_EITHER
    lost = fg.audit(data, **asked, rules="rejection_share.ratio <= 125").diagnostics
    assert [e["instead"] for e in lost if e.get("percent")] == ["rejection_share.ratio <= 1.25"]


def _codes(data, **asked):
    return [each.code for each in fg.audit(data, sensitive="race", **asked).diagnostics]


HARMS = [
    ("laid_off", ("T", "F"), {"positive": "T"}),
    ("denied", (1, 0), {"positive": {"above": 0}}),
    ("days_delinquent", (60, 5), {"positive": {"above": 30}}),
    ("decision", ("Denied", "Approved"), {"positive": "yes"}
     | {"recode": {"decision": {"yes": ["Denied"], "no": ["Approved"]}}}),
    ("hired", ("Rejected", "Hired"), {"positive": "yes"}
     | {"recode": {"hired": {"yes": ["Rejected"], "no": ["Hired"]}}}),
    ("action_taken", (3, 1), {"positive": "yes"}
     | {"recode": {"action_taken": {"yes": [3], "no": [1]}}}),
    ("outcome", ("Dismissed", "Kept"), {"positive": "Dismissed"}),
    *(("denied", words, {"positive": words[0]})
      for words in ((True, False), ("yes", "no"), ("True", "False"), ("Y", "N"))),
    *((column, (1, 0), {"positive": 1}) for column in ("let_go", "search_conducted")),
    ("score_text", ("High", "Low"), {"positive": "High"}),
    *(("outcome", (word, "no"), {"positive": word})
      for word in ("Arrested", "High risk", "denied")),
]  # fmt: skip


@pytest.mark.parametrize(("column", "words", "asked"), HARMS)
def test_a_harm_is_recognised_however_it_is_spelt(column, words, asked):
    """A preset took T for F, a cut of denied, and a recoding of it, for approvals."""
    data, asked = decided(words=words, column=column), asked | {"prediction": column}
    with pytest.raises(fg.SpecError, match="calls the positive outcome 'approved'"):
        fg.audit(data, sensitive="race", preset="us-lending", **asked)
    assert DiagnosticCode.UNFAVOURABLE_POSITIVE in _codes(data, **asked)
    assert DiagnosticCode.UNFAVOURABLE_POSITIVE not in _codes(data, **asked, favourable="negative")
    stated = fg.audit(data, sensitive="race", **asked, favourable="positive")
    assert stated.doubts == ()
    assert "is stated as favourable, and has the name" in " ".join(map(str, stated.diagnostics))


@pytest.mark.parametrize("assumed", [{}, {"positive": 1}])
def test_a_harm_that_nobody_stated_passes_no_rule(assumed):
    """With most layoffs as the best rate it stated PASS, and who is worse off, wrongly."""
    data = decided({"A": 0.3, "B": 0.2, "C": 0.1}, (1, 0), "laid_off")
    asked = {"prediction": "laid_off", "sensitive": "race", **assumed}
    best = {"reference": "best", "rules": ["selection_rate.ratio <= 1.25"]}
    report = fg.audit(data, **asked, **best)
    assert report.verdict is Outcome.INCONCLUSIVE
    pages = " ".join(render(report, "text", full=True).split())
    assert "worse off" not in pages
    assert "better off" not in pages
    assert "--favourable negative" in pages
    assert "because nobody stated what is better for people" in pages
    lenient = ["selection_rate.ratio >= 0.1"]
    assert fg.audit(data, **asked, rules=lenient).verdict is Outcome.INCONCLUSIVE
    both = ["0.1 <= selection_rate.ratio <= 10"]  # of neither side alone
    assert fg.audit(data, **asked, rules=both).verdict is Outcome.PASS
    for stated, outcome in (("negative", Outcome.FAIL), ("positive", Outcome.INCONCLUSIVE)):
        assert fg.audit(data, **asked, **best, favourable=stated).verdict is outcome


@pytest.mark.parametrize("column", ["credit_limit", "loanAmount", "lender_credits", "APR"])
def test_a_preset_has_less_as_better_of_prices_alone(column):
    """Half the limit of credit met ratio <= 1.25, as a lower price would."""
    amounts = [6e3, 3e3, 6.1e3, 6e3, 3.1e3, 6.1e3]
    rows = {"race": ["White", "Black", "White"] * 400, column: amounts * 200}
    asked = {"label": column, "task": "regression", "sensitive": "race", "preset": "us-lending",
             "rules": ["mean_label.ratio <= 1.25"], "accept": "reference_decides"}  # fmt: skip
    report, is_price = fg.audit(pl.DataFrame(rows), **asked), column == "APR"
    assert report.verdict is (Outcome.PASS if is_price else Outcome.INCONCLUSIVE)
    brief = str(report.brief())
    assert ("A lower APR is taken as better" in brief) is is_price
    assert ("--favourable higher, or lower" in brief) is not is_price
    stated = fg.audit(pl.DataFrame(rows), **asked, favourable="lower")
    assert stated.verdict is Outcome.PASS


@pytest.mark.parametrize(
    ("rate", "worse"), [("base_rate", "higher"), ("negative_base_rate", "lower")]
)
def test_find_turns_the_rates_of_labels(rate, worse):
    """It had no side of a base rate as the better one, although it was stated."""
    data = decided(words=(1, 0), column="laid_off")
    asked = {"label": "laid_off", "positive": 1, "sensitive": ["race"], "metrics": rate}
    assert fg.find(data, **asked, favourable="negative").question.worse == worse
    assert fg.find(data, **asked, favourable="positive").question.worse != worse
    with pytest.raises(fg.SpecError, match="state which is worse"):
        fg.find(data, **asked)
    with pytest.raises(fg.SpecError, match="contradicts favourable = positive"):
        fg.find(data, **asked, favourable="positive", worse=worse)
    assert fg.find(data, **asked, favourable="negative", worse=worse).question.worse == worse
