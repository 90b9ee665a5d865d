"""The rows that are used: with known outcomes and a group of at least one feature."""

from itertools import permutations

import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import DiagnosticCode
from fairgauge.resolve.resolution import missing_group, missing_stratum, unit_excluded

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


def test_reasons_name_what_rows_lack():
    assert missing_group("sex") == "missing sex"
    assert missing_group("label") == "missing label (sensitive feature)"
    assert missing_stratum("branch", 1) == "missing stratum"
    assert missing_stratum("branch", 2) == "missing branch (stratum)"
    assert unit_excluded("missing count", "cases") == "rows"
    assert unit_excluded("missing weight", "cases") == "cases"
