"""Words that state of what numbers are: which groups, which family, which intervals."""

from __future__ import annotations

import datetime as dt

import fairgauge as fg
from fairgauge.enums import DiagnosticCode
from fairgauge.render import render

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


def test_tables_to_publish_have_the_intervals_of_the_first_page() -> None:
    """One interval of a ratio in all of a report, and what it holds for beside it."""
    report = audited(HIRED, preset="nyc-ll144")
    text = shown(report, full=True)
    finding = report.findings[0]
    low, high = finding.estimate.simultaneous
    assert f"({low:.3f} to {high:.3f})" in text[text.index("To file") :]
    assert f"{low:.2f} and {high:.2f} times as often" in text


def test_every_fail_states_whether_it_remains() -> None:
    report = audited(HIRED, reference={"race": "White"}, rules=["selection_rate.ratio >= 0.98"])
    fails = [each for each in report.verdicts if each.outcome == "fail"]
    assert [each.remains for each in fails].count(None) == 0
    for each in fails:
        words = "remains" if each.remains else "does not remain"
        assert f"it {words} when all comparisons are judged together" in each.says
    assert "robability" not in shown(report)


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


def test_a_report_names_what_the_preset_calls_for_and_nobody_stated() -> None:
    missing = "This report does not state the"
    bare = shown(audited(HIRED, preset="nyc-ll144"), full=True)
    assert (
        f"{missing} source of the data, date of the audit and date the tool was first used, "
        "which the preset asks for."
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
