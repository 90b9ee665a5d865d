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


@pytest.mark.parametrize(("options", "used"), [
    ({"weight": "w"}, "5,400 used"), ({"sensitive": "sex"}, "5,400 used"), ({}, "all used"),
    ({"sensitive": ["race", "sex"]}, "all used for at least one feature"),
    ({"person": "id"}, "3,000 people, all used"),
])  # fmt: skip
def test_how_many_rows_are_used_is_stated(options, used):
    every = range(6_000)
    rows = pl.DataFrame({
        "race": ["B" if i // 2 % 2 else "W" for i in every], "id": [i // 2 for i in every],
        "sex": ["FM"[i % 3 > 0] if i % 10 < 9 else None for i in every],
        "dept": [str(i // 2 % 5) for i in every], "y": [int(i % 7 < 3) for i in every],
        "w": [1.5 if i % 10 else None for i in every],
    })  # fmt: skip
    asked = {"label": "y", "positive": 1, "sensitive": "race", "strata": "dept", **options}
    assert used in " ".join(str(fg.audit(rows, **asked)).split())


def test_reasons_name_what_rows_lack():
    assert missing_group("sex") == "missing sex"
    assert missing_group("label") == "missing label (sensitive feature)"
    assert missing_stratum("branch", 1) == "missing stratum"
    assert missing_stratum("branch", 2) == "missing branch (stratum)"
    assert unit_excluded("missing count", "cases") == "rows"
    assert unit_excluded("missing weight", "cases") == "cases"
