"""Which outcome is favourable: guards of presets, the best group, and who fails a rule."""

from __future__ import annotations

import re
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


def test_a_preset_of_outcomes_takes_prices_with_their_own_direction():
    data = decided(words=(5.0, 4.0), column="rate_spread")
    asked = LENDING | {"label": "rate_spread", "task": "regression", "metrics": "mean_label.ratio"}
    report = fg.audit(data, **asked, favourable="lower")
    worst = "Average rate spread is higher for applications of Black people"
    assert str(report.brief().headline).startswith(worst)


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


def test_of_classes_none_is_unfavourable_until_one_is_positive():
    data = decided().with_columns(rating=pl.Series(["low", "middle", "high"] * 1_000))
    asked = {"label": "rating", "sensitive": "race", "favourable": "negative"}
    with pytest.raises(fg.SpecError, match="state which classes are positive"):
        fg.audit(data, **asked)
    assert fg.audit(data, **asked, positive="high").estimates


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


HARM = {"sensitive": "race", "prediction": "decision", "positive": "denied",
        "favourable": "negative", "reference": {"race": "White"}}  # fmt: skip
APPROVED = ["rejection_share.ratio >= 0.8"]


@pytest.mark.parametrize(
    ("words", "denied", "approved", "kind"),
    [
        ({"positive": "denied", "negative": "approved"}, "denied", "approved", "markdown"),
        ({"positive": "denied"}, "denied", "not denied", "text"),
        ({}, "decision = denied", "decision other than denied", "html"),
    ],
)
def test_who_is_denied_is_not_called_selected(words, denied, approved, kind):
    """Tables had columns "selected" of those denied and "rejection share" of those approved."""
    report = fg.audit(decided(), rules=APPROVED, words=words, **HARM)
    assert report == fg.Report.from_dict(report.to_dict())
    assert report.findings[0].says == fg.Report.from_dict(report.to_dict()).findings[0].says
    full = {} if kind == "html" else {"full": True}
    shown = " ".join(render(report, kind, **full).split()).lower()
    for missing in ("is selected", "selection rate", "rejection share"):
        assert missing not in shown
    assert f"{denied} more often than White" in report.findings[0].says
    assert re.search(f"{approved}”? rate", shown)


@pytest.mark.parametrize("asked", [{}, {"metrics": "base_rate.ratio"}, {"reference": "best"}])
def test_the_gap_of_who_is_worse_off_leads(asked):
    """It led with Asian people, who are searched least, where Black people are searched most."""
    shares = {"Asian": (102, 0.03), "Black": (2_400, 0.16), "White": (3_600, 0.10)}
    rows = [
        (race, f"d{i % 3}", "yes" if i < n * share else "no")
        for race, (n, share) in shares.items() for i in range(n)
    ]  # fmt: skip
    stops = pl.DataFrame(rows, schema=["race", "district", "searched"], orient="row")
    found = fg.why(stops, label="searched", positive="yes", favourable="negative",
                   sensitive="race", strata="district", **asked)  # fmt: skip
    assert found.brief().headline.text.startswith("Black")


@pytest.mark.parametrize("stated", [{}, {"reference": "largest"}, {"reference": {"sex": "M"}}])
def test_the_draft_of_colorado_asks_for_the_group_of_white_applicants(stated):
    """It compared with all others, where a group passes that fails compared with White."""
    data = decided(words=("approved", "no")).with_columns(sex=pl.lit("M"))
    asked = {"prediction": "decision", "positive": "approved", "sensitive": ["race", "sex"],
             "preset": "colorado-insurance-draft-2023"}  # fmt: skip
    with pytest.raises(fg.SpecError, match=r"--reference race=GROUP"):
        fg.audit(data, **asked, **stated)


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
    ("outcome", ("RIF", "Retained"), {"positive": "RIF"}),
    ("decision", ("Counteroffer", "approved"), {"positive": "Counteroffer"}),
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
    for stated in ("negative", "positive"):
        found = _codes(data, **asked, favourable=stated)
        assert DiagnosticCode.UNFAVOURABLE_POSITIVE not in found


@pytest.mark.parametrize(
    ("column", "words", "asked"),
    [
        ("decision", ("Denied", "Approved"), {"positive": "yes"}
         | {"recode": {"decision": {"no": ["Denied"], "yes": ["Approved"]}}}),
        ("action_taken", (3, 1), {"positive": "denied"}
         | {"recode": {"action_taken": {"rest": [3], "denied": [1]}}, "positive": "denied"}),
        ("approved", ("F", "T"), {"positive": "T"}),
        ("approved", (0, 1), {"positive": {"above": 0}}),
        ("outcome", ("RIF", "Retained"), {"positive": "Retained"}),
        ("decision", ("Denied", "Charges dismissed"), {"positive": "Charges dismissed"}),
    ],
)  # fmt: skip
def test_what_is_favourable_is_no_harm_however_it_is_spelt(column, words, asked):
    data, asked = decided(words=words, column=column), asked | {"prediction": column}
    assert "approved" in str(fg.audit(data, **LENDING, **asked).brief().headline)
    assert DiagnosticCode.UNFAVOURABLE_POSITIVE not in _codes(data, **asked)


def test_a_score_of_a_harm_is_none_of_approvals():
    """Of scores of defaults the preset only warned, and named an option that it refuses."""
    data = decided(words=("default", "repaid"), column="repaid").with_columns(risk=pl.lit(0.4))
    asked = {"score": "risk", "sensitive": "race", "preset": "us-lending"}
    with pytest.raises(fg.SpecError, match="state repaid"):
        fg.audit(data, label="repaid", positive="default", **asked)
    assert fg.audit(data, label="repaid", positive="repaid", **asked).estimates
    for name in ("risk", "p_default", "fraud_score"):
        report = fg.audit(data.rename({"risk": name}), **asked | {"score": name})
        code = DiagnosticCode.UNFAVOURABLE_POSITIVE
        (text,) = [str(each.message) for each in report.diagnostics if each.code is code]
        assert "--favourable" not in text


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
    assert "because nobody stated whether the positive outcome is favourable" in pages
    lenient = ["selection_rate.ratio >= 0.1"]
    assert fg.audit(data, **asked, rules=lenient).verdict is Outcome.INCONCLUSIVE
    both = ["0.1 <= selection_rate.ratio <= 10"]  # of neither side alone
    assert fg.audit(data, **asked, rules=both).verdict is Outcome.PASS
    for stated, outcome in (("negative", Outcome.FAIL), ("positive", Outcome.PASS)):
        assert fg.audit(data, **asked, **best, favourable=stated).verdict is outcome


@pytest.mark.parametrize(
    ("rule", "instead"),
    [
        ("selection_rate.difference >= -0.1", "selection_rate.difference <= 0.1"),
        ("rejection_share.ratio <= 1.25", "rejection_share.ratio >= 0.8"),
        ("DPPL <= 0.1", "DPPL >= -0.1"),
    ],
)
def test_a_rule_that_nobody_who_is_worse_off_can_fail_is_warned_of(rule, instead):
    """It passed, and nothing was said."""
    data = decided(words=(1, 0), column="laid_off")
    asked = {"prediction": "laid_off", "positive": 1, "sensitive": "race", "reference": "best"}
    code = DiagnosticCode.LIMITS_THE_BETTER_OFF
    report = fg.audit(data, **asked, favourable="negative", rules=[rule])
    assert [each["instead"] for each in report.diagnostics if each.code is code] == [instead]
    assert f"state {instead} as a rule" in " ".join(render(report, "text").split())
    for stated, rules in (("negative", [instead]), ("negative", [rule, instead]),
                          ("positive", [rule]), ("neither", [rule])):  # fmt: skip
        more = {"reference": "largest"} if stated == "neither" else {}
        report = fg.audit(data, **asked | more, favourable=stated, rules=rules)
        assert code not in [each.code for each in report.diagnostics]


@pytest.mark.parametrize(
    ("rate", "worse"), [("base_rate", "higher"), ("negative_base_rate", "lower")]
)
def test_find_turns_the_rates_of_labels(rate, worse):
    """It had no side of a base rate as the better one, although it was stated."""
    data = decided(words=(1, 0), column="laid_off")
    asked = {"label": "laid_off", "positive": 1, "features": ["race"], "rate": rate}
    assert fg.find(data, **asked, favourable="negative").question.worse == worse
    assert fg.find(data, **asked, favourable="positive").question.worse != worse
    with pytest.raises(fg.SpecError, match="state which is worse"):
        fg.find(data, **asked)
    with pytest.raises(fg.SpecError, match="contradicts favourable = positive"):
        fg.find(data, **asked, favourable="positive", worse=worse)
    assert fg.find(data, **asked, favourable="negative", worse=worse).question.worse == worse
