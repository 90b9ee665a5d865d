"""The rows that are used: with known outcomes and a group of at least one feature."""

from itertools import permutations

import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import DiagnosticCode
from fairgauge.render.formats import render

ROWS = 200
WITHOUT_A = [i % 5 == 0 for i in range(ROWS)]


def table(*, without_others=False):
    """Return four features, of which the first, or all in other rows each, lack groups."""
    columns = {
        name: [
            None
            if (WITHOUT_A[i] if name == "a" else without_others and i % 7 == k)
            else "xy"[(i >> k) % 2]
            for i in range(ROWS)
        ]
        for k, name in enumerate("abcd")
    }
    return pl.DataFrame({**columns, "ok": [i % 3 == 0 for i in range(ROWS)]})


def is_least(report):
    return any(each.code is DiagnosticCode.USED_AT_LEAST for each in report.diagnostics)


@pytest.mark.parametrize("order", [*permutations("abcd")][::5])
def test_rows_with_a_group_of_any_of_four_features_are_used(order):
    """Many features are counted apart, and the rows used were those of the first of them."""
    report = fg.audit(table(), prediction="ok", sensitive=list(order))
    assert (report.data.used, is_least(report)) == (ROWS, False)
    assert "all used" in str(report)


def test_where_every_feature_lacks_groups_the_number_used_is_stated_as_the_least():
    rows = table(without_others=True)
    truth = rows.filter(~pl.all_horizontal(pl.col("a", "b", "c", "d").is_null())).height
    for order in ("abcd", "dcba"):
        report = fg.audit(rows, prediction="ok", sensitive=list(order))
        data = report.data
        most = max(rows[name].count() for name in "abcd")
        assert (data.used, is_least(report)) == (most, True)
        assert data.used <= truth
        assert f"at least {most} used" in str(report)
        assert f"at least {most} used" in render(report, "text", full=True)
    few = fg.audit(rows, prediction="ok", sensitive=["a", "b", "c"])
    assert (few.data.used, is_least(few)) == (200, False)
    compared = fg.compare(report, few)
    assert compared.old.used_at_least
    assert f"at least {most} used" in render(compared, "text", full=True)
    gaps = fg.why(
        rows.with_columns(s=pl.lit("x")), prediction="ok", sensitive=list("abcd"), strata="s"
    )
    assert "at least" in str(gaps.brief().looked_at[0])


@pytest.mark.parametrize("sensitive", [[], ["a"]])
def test_rows_are_used_by_an_intersection_where_they_have_a_group_of_each_column(sensitive):
    """All were, though rows without a group of one column are in no number of the audit."""
    asked = {"prediction": "ok", "intersections": [("a", "b")], "sensitive": sensitive}
    report = fg.audit(table(), **asked)
    assert (report.data.used, is_least(report)) == (ROWS - sum(WITHOUT_A), False)
    b_too = fg.audit(table(), **{**asked, "sensitive": [*sensitive, "b"]})
    assert b_too.data.used == ROWS
