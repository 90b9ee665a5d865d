"""Sentences of a report agree with its tables and with each other."""

from __future__ import annotations

import polars as pl
import pytest
from tests.every_result import loans
from tests.selected_groups import selected

import fairgauge as fg
from fairgauge.integrations.github_action import workflow_commands
from fairgauge.render.formats import render


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
    table = {name: (10 * rate, 1_000) for name, rate in (("A", 60), ("B", 59), ("C", 30))}
    report = fg.audit(selected(table, "grp"), rules=rule)
    named = " and ".join(groups)
    between = " and ".join(f"people with grp {each}" for each in groups)
    of = f"{'between' if len(groups) == 2 else 'for'} {between}"
    (verdict,) = report.verdicts
    does = "fails" if verdict.outcome == "fail" else "is inconclusive"
    assert f"” {does} {of}." in str(report.brief())
    assert f"{verdict.outcome.upper()} ({named} (grp)):" in render(report, "text", quiet=True)
    assert f': {named}" time=' in render(report, "junit")
    assert f"{str(verdict.outcome).upper()} for {named} (" in " ".join(render(report).split())
    with pytest.raises(fg.RulesNotMet, match=f"grp: {named}: "):
        report.check()
    assert all(f"grp: {named}: " in each for each in workflow_commands(report))
    markdown = render(report, "markdown")
    assert f"| {named} | {verdict.outcome}, " in markdown  # the grid of the first page
    assert "()" not in markdown
    html = render(report, "html")
    assert "each group and" not in html
    assert f">{named}</th>" in html


@pytest.mark.parametrize("strata", [["region"], ["region", "grade"]])
def test_rows_without_a_stratum_are_missing_from_numbers_within_strata_alone(strata):
    """They were "excluded", beside tables with all rows."""
    lacking = (
        loans()
        .with_row_index()
        .with_columns(region=pl.when(pl.col("index") % 10 > 0).then("region"), grade=1)
    )
    report = fg.audit(
        lacking, label="repaid", prediction="approved", positive="yes", sensitive="sex",
        strata=strata,
    )  # fmt: skip
    rows, reason = lacking["region"].null_count(), "missing stratum"
    if len(strata) > 1:
        reason = "missing region (stratum)"
    assert report.data.excluded == {reason: rows}
    assert report.data.used == len(lacking)
    for kind in ("text", "markdown"):
        text = " ".join(render(report, kind).split())
        assert "all used" in text
        for other in ("Excluded:", "lacks several of these", "for at least one feature"):
            assert other not in text
    assert f"{reason}, excluded from numbers within strata, or adjusted" in render(report, "html")
