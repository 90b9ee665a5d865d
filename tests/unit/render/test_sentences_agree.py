"""Sentences of a report agree with its tables and with each other."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import fairgauge as fg
from fairgauge.integrations.github_action import workflow_commands
from fairgauge.render.formats import render


@pytest.fixture(scope="module")
def loans() -> pd.DataFrame:
    """Return loans whose approval differs by sex and region, with a small group and gaps."""
    rng = np.random.default_rng(1)
    n = 1_200
    sex = rng.choice(["F", "M", "X"], n, p=[0.45, 0.52, 0.03])
    region = np.where(rng.random(n) < np.where(sex == "F", 0.8, 0.2), "north", "south")
    label = rng.random(n) < np.where(region == "north", 0.3, 0.7)
    score = np.clip(np.where(label, 0.65, 0.35) + rng.normal(0, 0.2, n), 0, 1)
    return pd.DataFrame(
        {
            "sex": sex,
            "region": region,
            "age": rng.integers(18, 80, n),
            "repaid": label.astype(int),
            "score": score,
            "approved": (score >= 0.5).astype(int),
        }
    )


def _audit(loans: pd.DataFrame, **asked: object) -> fg.Report:
    return fg.audit(
        loans,
        **{"label": "repaid", "prediction": "approved", "positive": 1, "sensitive": "sex", **asked},
    )


def _text(report: fg.Report, *, full: bool = False) -> str:
    """Return a report as text, its lines joined."""
    return " ".join(render(report, full=full).split())


@pytest.mark.parametrize(
    "asked",
    [
        {"metrics": ["CDDPL", "KS", "TVD"], "strata": "region"},
        {"metrics": "representation.ratio", "population": {"sex": {"F": 0.7, "M": 0.2, "X": 0.1}}},
        {"metrics": "FT", "features": ["age"]},
        {"metrics": ["skew", "exposure_ratio"], "score": "score"},
    ],
)
def test_large_groups_have_sufficient_data_whatever_is_asked(loans, asked):
    """Metrics that compare no rates are data too."""
    text = _text(_audit(loans, **asked))
    assert "Insufficient data for any conclusion: F" not in text
    assert "No difference could be" not in text


def test_what_is_significant_is_stated_where_no_rates_are_compared(loans):
    """The stars of the table are in the findings."""
    text = _text(_audit(loans, metrics=["TVD"]))
    assert "People with sex F and all other people differ in Total Variation Distance" in text
    assert "* statistically significant" in text


def test_a_metric_without_a_test_is_not_called_significant(loans):
    """A largest gap is never below 0, so that its interval excludes 0 whatever the data."""
    text = _text(_audit(loans, metrics="selection_rate.largest_gap"))
    assert "tatistically significant" not in text
    assert "No difference between groups could be tested" in text


def test_conditional_disparity_is_on_the_screen_and_its_absence_too(loans):
    """What was asked is shown, or why it has no value."""
    with_strata = _text(_audit(loans, metrics="CDDPL", strata="region"))
    assert re.search(r"sex CDDPL F [−+\d.]+", with_strata)
    without = _text(_audit(loans, metrics="CDDPL"))
    assert "(Clarify CDDPL): not applicable, because strata are needed" in without


@pytest.mark.parametrize(
    ("metric", "asked"),
    [("consistency", {"features": ["age"]}), ("CDDPL", {"strata": "region"})],
)
def test_the_interval_of_a_sentence_is_in_the_unit_of_its_value(loans, metric, asked):
    """Both are numbers, as in the tables, and the value is inside its interval."""
    report = _audit(loans, metrics=metric, **asked)
    found = [e for e in report.estimates if e.interval is not None]
    assert found
    number = r"([−+]?\d\.\d{3})"
    for each in found:
        stated = re.search(rf" {number}\b.* \(95% CI {number} to {number}\)$", each.says)
        assert stated is not None, each.says
        numbers = [float(text.replace("−", "-")) for text in stated.groups()]
        assert numbers == pytest.approx([each.value, each.low, each.high], abs=0.0005)


def test_a_group_that_is_too_small_is_in_no_pair(loans):
    """Groups below min_n differ from nobody, although F and M would."""
    larger = int((loans["sex"] == "F").sum()) + 1
    assert _audit(loans, metrics="selection_rate").pairs
    assert not _audit(loans, metrics="selection_rate", min_n=larger).pairs


def test_rules_on_rates_are_in_per_cent_without_a_sign(loans):
    """As in the tables."""
    text = _text(_audit(loans, rules=["accuracy >= 0.7", "f1 >= 0.1"]))
    assert "accuracy >= 70%" in text
    assert "F1 >= 0.1" in text
    assert "(+" not in text.partition("Findings")[0]


def test_a_largest_gap_names_both_groups(loans):
    """The verdict is of two groups, not of one."""
    text = _text(_audit(loans, rules="selection_rate.largest_gap <= 0.01"))
    assert "FAIL for M and F (" in text


RATES = {"A": 60, "B": 59, "C": 30}


def _of_three_groups(rule):
    table = {g: {"tp": 10 * rate, "fn": 1_000 - 10 * rate} for g, rate in RATES.items()}
    return fg.audit(fg.confusion("grp", table), rules=rule)


@pytest.mark.parametrize(
    ("rule", "groups"),
    [
        ("true_positive_rate.largest_gap <= 0.1", ["A", "C"]),
        ("true_positive_rate.largest_gap <= 0.3", ["A", "C"]),
        ("true_positive_rate.smallest_ratio >= 0.8", ["C", "A"]),
        ("true_positive_rate.minimum >= 0.5", ["C"]),
        ("true_positive_rate.maximum <= 0.5", ["A"]),
    ],
)
def test_every_place_names_the_same_groups_of_a_rule(rule, groups):
    """A failed largest gap named the best-off group alone, as if the rule failed for it."""
    report = _of_three_groups(rule)
    named = " and ".join(groups)
    between = " and ".join(f"people with grp {each}" for each in groups)
    of = f"{'between' if len(groups) == 2 else 'for'} {between}"
    (verdict,) = report.verdicts
    does = "fails" if verdict.outcome == "fail" else "is inconclusive"
    assert f"” {does} {of}." in str(report.brief())
    assert f"{verdict.outcome.upper()} ({named} (grp)):" in render(report, "text", quiet=True)
    assert f': {named}" time=' in render(report, "junit")
    assert f"{str(verdict.outcome).upper()} for {named} (" in _text(report)
    with pytest.raises(fg.RulesNotMet, match=f"grp: {named}: "):
        report.check()
    assert all(f"grp: {named}: " in each for each in workflow_commands(report))
    markdown = render(report, "markdown")
    assert f"| {named} | {verdict.outcome}, " in markdown  # the grid of the first page
    assert "()" not in markdown
    html = render(report, "html")
    assert "each group and" not in html
    assert f">{named}</th>" in html


def test_rules_that_are_not_evaluated_are_counted(loans):
    """The verdict is inconclusive because of them."""
    report = _audit(loans, min_n=5_000, rules="selection_rate.ratio >= 0.8")
    assert "INCONCLUSIVE: the rule was not evaluated" in _text(report)


def test_too_few_errors_are_not_called_too_few_rows():
    """Thousands of rows are not insufficient: the errors that accuracy is about are."""
    rows = {"sex": ["F", "M"] * 1_000, "y": [0, 0, 1, 1] * 500}
    report = fg.audit(
        rows | {"p": rows["y"]}, label="y", prediction="p", positive=1, sensitive="sex",
        metrics="accuracy", rules="|accuracy.difference| <= 0.05",
    )  # fmt: skip
    text = " ".join(_text(report).split())
    assert "NOT EVALUATED (insufficient data: every rate is the same 0% or 100%) for " in text
    assert "? insufficient data: every rate is the same 0% or 100%;" in text


def test_verdicts_on_accuracy_state_of_which_classes():
    """The accuracy of the whole and that of a class against all others are different numbers."""
    rows = {
        "sex": ["F", "M"] * 600,
        "y": ["a", "b", "c"] * 400,
        "p": (["a", "b", "c"] * 3 + ["b", "c", "a"]) * 100,
    }
    report = fg.audit(
        rows, label="y", prediction="p", sensitive="sex", rules="accuracy.difference >= 0.5"
    )
    (found,) = report.verdicts
    text = " ".join(_text(report).split())
    assert found.class_scope.name == "a"
    assert "FAIL for M (class a against all others; " in text
    assert "(class a against all others)" in found.says
    wrong = [
        label if sex == "F" or i % 10 < 4 else "abc"[("abc".index(label) + 1 + i // 10 % 2) % 3]
        for i, (sex, label) in enumerate(zip(rows["sex"], rows["y"], strict=True))
    ]
    report = fg.audit(
        rows | {"p": wrong}, label="y", prediction="p", sensitive="sex",
        rules="accuracy.ratio >= 0.9",
    )  # fmt: skip
    assert "FAIL for M (all classes; 0.4" in _text(report)


def test_verdicts_name_the_threshold_that_decides(loans):
    """There are several, and one decides."""
    report = _audit(
        loans, prediction=None, score="score", threshold=[0.3, 0.6],
        rules="selection_rate.ratio >= 0.99",
    )  # fmt: skip
    assert "FAIL for F (threshold 0." in _text(report)


def test_rates_without_a_threshold_name_none(loans):
    """ROC AUC is of all thresholds."""
    report = _audit(loans, prediction=None, score="score", threshold=[0.3, 0.6], metrics="roc_auc")
    stated = "ROC AUC (groups of sex with sufficient data; simultaneous CIs include"
    assert stated in _text(report)


def test_every_table_has_the_same_groups(loans):
    """The largest ones, in the tables of rates and of other metrics."""
    rng = np.random.default_rng(3)
    weights = np.arange(1, 21) / np.arange(1, 21).sum()
    loans = loans.assign(town=[f"t{i:02d}" for i in rng.choice(20, len(loans), p=weights)])
    text = render(_audit(loans, sensitive="town", metrics=["selection_rate", "TVD"]))
    first, second = (
        [
            line.split()[0]
            for line in part.splitlines()
            if line.startswith("t") and line[1].isdigit()
        ]
        for part in text.split("12 of 20 groups")[:2]
    )
    assert first == second
    assert len(first) == 12


@pytest.mark.parametrize("rules", [[], ["selection_rate.ratio >= 0.8"]])
def test_a_table_of_some_groups_has_the_group_of_the_headline(rules):
    """The smallest of twenty groups is the one that fares worst: it stands first."""
    counts = {f"town {i:02}": {"tp": 300 + i, "fn": 300 + i} for i in range(19)}
    counts["hamlet"] = {"tp": 10, "fn": 90}
    report = fg.audit(fg.confusion("town", counts), rules=rules)
    text = render(report)
    assert "town hamlet" in report.brief().headline.text
    rows = re.findall(r"^(hamlet|town \d\d) ", text, re.MULTILINE)
    assert (rows[0], len(rows)) == ("hamlet", 12)
    note = "12 of 20 groups, those that fail a rule or differ statistically significantly first"
    assert f"{note}, then the largest, 8 more in" in " ".join(text.split())


def test_rows_without_a_prediction_are_accounted_for(loans):
    """They are neither in n nor in the selection rate, and are named as excluded."""
    loans = loans.assign(approved=loans["approved"].where(loans.index % 10 != 0))
    text = _text(_audit(loans))
    assert "1,080 with a prediction and a group" in text
    assert "n counts the rows of a group that the selection rate is of; another" in text


def test_n_of_averages_over_classes_is_not_called_that_of_the_selection_rate():
    """Averages are of rows with a label and a prediction, and have no selection rate."""
    table = pd.DataFrame({"g": [*"ab"] * 60, "y": [*"rst"] * 40, "p": [*"rsttsr"] * 20})
    table.loc[:14, "y"] = None
    report = fg.audit(table, label="y", prediction="p", sensitive="g")
    over = "n counts the rows of a group with a label and a prediction."
    of_one = "Of one class n counts the rows of a group that the selection rate is of; another"
    assert over in _text(report)
    assert "that the selection rate is of" not in _text(report)
    text = render(report, "html")
    assert f"Over all classes {over} {of_one}" in text
    assert [group.rates["accuracy"].denominator for group in report.groups[-2:]] == [52, 53]
    assert re.search(r"macro average over classes.*?>52<.*?>53<", text, re.DOTALL)


def test_rows_of_one_feature_alone_are_not_called_all_used(loans):
    """A row without a sex still has a race."""
    loans = loans.assign(sex=loans["sex"].where(loans.index % 10 != 0))
    text = _text(_audit(loans, sensitive=["sex", "region"]))
    assert "all used for at least one feature" in text


def test_not_significant_although_the_interval_excludes_no_difference_is_explained(loans):
    """Alone it would be significant."""
    from dataclasses import replace

    from fairgauge.render.words.finding_sentences import adjusted_sentence
    from fairgauge.results.scopes import Interval

    report = _audit(loans, metrics="selection_rate", strata="region")
    overall = report["selection_rate.difference", "sex", "F"]
    adjusted = replace(
        overall,
        value=-0.033,
        interval=Interval(-0.064, -0.002, 0.95),
        simultaneous=Interval(-0.34, 0.008, 0.95),
        p_value=0.04,
        p_adjusted=0.12,
    )
    sentence = adjusted_sentence(overall, adjusted, "region")
    assert "longer statistically significant after adjustment for all comparisons" in sentence
    assert "0.120" in sentence


def test_names_wrap_in_tables_and_are_never_cut(loans):
    """A long name of a group or a metric is whole."""
    name = "Native Hawaiian or Other Pacific Islander of several communities"
    loans = loans.assign(sex=loans["sex"].replace("F", name))
    report = _audit(loans, rules="CDDPL <= 0.1", strata="region")
    for full in (False, True):
        assert "…" not in render(report, full=full)


def test_differences_that_disappear_are_one_note_for_each_feature(loans):
    """The difference, the ratio and a vendor's metric of one rate are one result."""
    report = _audit(loans, strata="region", metrics=["standard", "clarify"])
    text = _text(report, full=True)
    notes = text.partition(" Data ")[2].partition(" Methods ")[0]
    assert notes.count("is not shown on average when adjusted") == 1


def test_one_test_of_all_groups_states_what_it_does_not_show(loans):
    """It is not about single groups."""
    report = _audit(loans, metrics="selection_rate")
    (note,) = [d.message for d in report.diagnostics if d.code == "homogeneity"]
    assert "in one test of all of them (chi-square test of homogeneity, " in note
    assert note.endswith("It does not show which groups differ")


def test_findings_that_do_not_fit_are_counted(loans):
    """One screen holds three."""
    report = _audit(loans, prediction=None, score="score", threshold=[0.3, 0.5, 0.7])
    assert "The full report lists 10 more differences." in _text(report)


def test_rows_without_a_value_are_described_where_they_make_a_finding():
    counts = {"M": (160, 400), "F": (160, 400), None: (20, 200)}
    rows = {
        "sex": [sex for sex in counts for _ in range(2)],
        "hired": [1, 0] * 3,
        "n": [n for x, of in counts.values() for n in (x, of - x)],
    }
    asked = {"prediction": "hired", "positive": 1, "sensitive": "sex", "count": "n"}
    report = fg.audit(rows, **asked, missing="group", metrics="selection_rate")
    says = report.findings[0].says
    assert says.startswith("The group without a value of sex is selected less often than others")


@pytest.mark.parametrize("strata", [["region"], ["region", "grade"]])
def test_rows_without_a_stratum_are_missing_from_numbers_within_strata_alone(loans, strata):
    """They were "excluded", beside tables with all rows."""
    known = loans.index % 10 != 0
    lacking = loans.assign(region=loans["region"].where(known), grade=1)
    report = _audit(lacking, sensitive="sex", strata=strata)
    rows, reason = int((~known).sum()), "missing stratum"
    if len(strata) > 1:
        reason = "missing region (stratum)"
    assert report.data.excluded == {reason: rows}
    assert report.data.used == len(loans)
    alone = f"Not in the numbers within strata, or adjusted for them: {rows} rows ({reason})."
    for kind in ("text", "markdown"):
        text = " ".join(render(report, kind).split())
        assert alone in text
        assert "all used" in text
        for other in ("Excluded:", "lacks several of these", "for at least one feature"):
            assert other not in text
    assert f"{reason}, excluded from numbers within strata, or adjusted" in render(report, "html")
