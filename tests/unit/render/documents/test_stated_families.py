"""Words that state of what numbers are: which groups, which family, which intervals."""

from __future__ import annotations

import datetime as dt

import pytest

import fairgauge as fg
from fairgauge.enums import DiagnosticCode
from fairgauge.render import render

RULE = "selection_rate.ratio >= 0.8"
HIRED = {
    "White": (400, 1100), "Black": (100, 400), "Hispanic": (62, 260), "Asian": (142, 360),
    "Native": (4, 13),
}  # fmt: skip


def audited(groups: dict[str, tuple[int, int]], **options: object) -> fg.Report:
    rows = [
        {"race": name, "hired": outcome, "n": n}
        for name, (hired, every) in groups.items()
        for outcome, n in ((1, hired), (0, every - hired))
    ]
    import polars as pl

    asked = {"preset": "ugesp"} | options
    return fg.audit(
        pl.DataFrame(rows), prediction="hired", positive=1, sensitive="race", count="n", **asked
    )


def shown(report: fg.Report, **options: object) -> str:
    return " ".join(render(report, "text", width=100, **options).split())


def note(report: fg.Report, code: DiagnosticCode) -> object:
    [found] = [each for each in report.diagnostics if each.code is code]
    return found


def test_every_significant_group_is_named_in_the_findings() -> None:
    text = shown(audited(HIRED), full=True)
    stated = text[text.index(" Findings 1. ") : text.index(" Details ")]
    assert "1. Hispanic (race) is selected less often than Asian" in stated
    assert "Also statistically significant: Black (25.0% vs 39.4%; −14.4 pp," in stated
    assert "White" not in stated


def test_bills_of_materials_name_them_with_both_rates() -> None:
    assert "Black (25.0% vs 39.4%" in render(audited(HIRED), "cyclonedx")


def test_no_difference_is_stated_of_groups_of_the_minimum_size_alone() -> None:
    groups = {"W": (400, 1000), "B": (190, 500), "C": (3, 15)}
    assert "between W and any other group of race of the minimum size or more;" in shown(
        audited(groups)
    )
    of_all = shown(audited({name: groups[name] for name in "WB"}))
    assert "between W and any other group of race; CIs include" in of_all


def test_a_verdict_states_for_how_many_groups_a_rule_was_not_evaluated() -> None:
    report = audited({"W": (400, 1000), "B": (390, 1000), "C": (3, 15)})
    text = shown(report)
    assert "INCONCLUSIVE: the rule was not evaluated for 1 of 2 groups" in text
    others = audited({"W": (400, 1000), "B": (390, 1000), "C": (3, 15)}, exclude_groups=["C"])
    assert shown(others).count("PASS: 1 of 1 rule") == 1
    open_ = shown(audited({"W": (400, 1000), "B": (80, 250), "C": (3, 15)}))
    assert "INCONCLUSIVE: 1 of 1 rule" in open_


def test_the_family_of_p_values_is_stated() -> None:
    text = shown(audited(HIRED), full=True)
    assert "adjusted for all pairs and all other comparisons of the report" in text
    size = note(audited(HIRED), DiagnosticCode.ADJUSTED_P)["comparisons"]
    assert f"are adjusted for {size:,} comparisons and tests." in text


def test_the_tests_that_a_report_adjusts_for_can_be_counted() -> None:
    """Four ratios to a chosen reference are one test; beside them homogeneity, and all pairs."""
    groups = {"A": (190, 400), "B": (150, 400), "C": (160, 400), "D": (155, 400)}
    asked = {"reference": "best", "metrics": ["selection_rate.difference", "selection_rate.ratio"]}
    report = audited(groups, **asked)
    assert note(report, DiagnosticCode.ADJUSTED_P)["comparisons"] == 3
    stated = (
        "is adjusted for 3 tests, all that the data can decide, 1 of homogeneity and 1 of all pairs"
    )
    assert stated in shown(report, full=True)


def test_tables_to_publish_have_the_intervals_of_the_first_page() -> None:
    """One interval of a ratio in all of a report, and what it holds for beside it."""
    report = audited(HIRED, preset="nyc-ll144")
    text = shown(report, full=True)
    finding = report.findings[0]
    low, high = finding.estimate.simultaneous
    assert f"({low:.3f} to {high:.3f})" in text[text.index("To file") :]
    assert "95% confidence intervals, for all comparisons of the report together, or why" in text
    assert f"{low:.2f} and {high:.2f} times as often" in text


def test_every_fail_states_whether_it_remains() -> None:
    report = audited(HIRED, reference={"race": "White"}, rules=["selection_rate.ratio >= 0.98"])
    fails = [each for each in report.verdicts if each.outcome == "fail"]
    assert [each.remains for each in fails].count(None) == 0
    for each in fails:
        words = "remains" if each.remains else "does not remain"
        assert f"it {words} when all comparisons are judged together" in each.says
    assert "when all 3 comparisons are judged together (Holm)" in shown(report)
    assert "robability" not in shown(report)


def test_the_range_over_groups_is_of_those_with_sufficient_data() -> None:
    few = note(audited(HIRED), DiagnosticCode.HOMOGENEITY)
    large = note(
        audited({name: of for name, of in HIRED.items() if name != "Native"}),
        DiagnosticCode.HOMOGENEITY,
    )
    for name in ("groups", "p", "range", "between_sd"):
        assert few[name] == large[name]
    assert "between the 4 groups with sufficient data" in few.message
    assert "the range over these groups is 15.6 pp" in few.message


def test_a_test_of_all_groups_that_depends_on_a_sparse_one_states_it() -> None:
    """0 of 25 alone made the groups differ, and was insufficient for any conclusion."""
    groups = {"White": (5038, 5938), "Black": (1494, 1779), "Asian": (399, 472), "Two": (0, 25)}
    asked = {"reference": {"race": "White"}, "metrics": ["selection_rate.difference"]}
    asked |= {"preset": None}
    report = audited(groups, **asked)
    text = shown(report)
    assert "one test of all groups, those with insufficient data for a comparison included," in text
    assert (
        "It does not show which groups differ. Without Two, with fewer than 5 expected of the "
        "rarer outcome, it would not be statistically significant." in text
    )
    assert "for any conclusion" not in text
    found = note(report, DiagnosticCode.HOMOGENEITY)
    three = note(audited({name: groups[name] for name in ("White", "Black", "Asian")}, **asked),
                 DiagnosticCode.HOMOGENEITY)  # fmt: skip
    assert (found["sparse"], found["p_without"]) == (("Two",), three["p"])
    assert three.get("sparse") is None


def test_a_table_names_the_reference_that_replaces_that_of_the_preset() -> None:
    preset = "the group with the most favourable rate"
    for name in ("ugesp", "nyc-ll144"):
        given = audited(HIRED, preset=name, reference={"race": "White"})
        text = shown(given, full=True)
        assert f"White (in place of the reference of the preset, {preset})" in text
        assert f"The reference of the preset ({preset}) is replaced" in text
        assert "| ratio to White |" in render(given, "markdown")
        assert "| ratio to the highest rate |" not in render(given, "markdown")
        assert "in place of" not in shown(audited(HIRED, preset=name), full=True)
    lending = audited(HIRED, preset="us-lending", reference={"race": "White"})
    assert "in place of" not in shown(lending)


def test_a_report_names_what_the_preset_calls_for_and_nobody_stated() -> None:
    missing = "This report does not state the"
    bare = shown(audited(HIRED, preset="nyc-ll144"), full=True)
    assert (
        f"{missing} source of the data, date of the audit and date the tool was first used, "
        "which the sources of the preset ask of a published one (--source, --audit-date and "
        "--first-used"
    ) in bare
    dates = {"audit_date": "2026-11-20", "first_used": dt.date(2026, 1, 1)}
    half = audited(HIRED, preset="nyc-ll144", document=dates)
    assert f"{missing} source of the data, which" in shown(half, full=True)
    page = shown(half, full=True)
    assert "date of the audit 2026-11-20" in page
    assert "date the tool was first used 2026-01-01" in page
    whole = audited(HIRED, preset="nyc-ll144", document=dates | {"source": "the tracker"})
    assert missing not in shown(whole, full=True)
    assert missing not in shown(audited(HIRED), full=True)


@pytest.mark.parametrize("date", ["20 Nov 2026", "2026-13-01", 20261120])
def test_a_date_that_is_none_is_refused(date: object) -> None:
    with pytest.raises(fg.FairgaugeError, match=r"document\.audit_date"):
        audited(HIRED, document={"audit_date": date})


def test_rules_are_mentioned_where_there_are_rules() -> None:
    unknown = HIRED | {None: (30, 60)}
    ruled = note(audited(unknown), DiagnosticCode.MISSING_GROUPS)  # type: ignore[arg-type]
    assert "have no known race; a rule on rates, or on a difference, a ratio or" in ruled.message
    bare = note(
        audited(unknown, preset="nyc-ll144"),  # type: ignore[arg-type]
        DiagnosticCode.MISSING_GROUPS,
    )
    assert bare.message.endswith("have no known race and are in no group of it")


def test_the_words_of_verdicts_and_intervals_are_defined() -> None:
    page = render(audited(HIRED, confidence=0.9), "html")
    for words in (
        "Statistically significant: the adjusted p-value is at most 0.1:",
        "Pass, fail: the whole confidence interval is",
        "Inconclusive: the confidence interval includes the limit",
        "Simultaneous intervals hold for all groups together with 90% confidence",
        "80% power: ",
    ):
        assert words in page


def test_a_report_states_which_interval_decides_a_rule() -> None:
    named = audited(HIRED, reference={"race": "White"})
    assert "Rules are decided by the confidence intervals shown here" in shown(named, full=True)
