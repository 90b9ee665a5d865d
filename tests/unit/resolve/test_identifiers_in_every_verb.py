"""A column that names every row is warned of wherever it is a feature or a stratum."""

import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import DiagnosticCode

ROWS = 60
TABLE = pl.DataFrame(
    {
        "ref": [f"r{i // 2 if i < 10 else i}" for i in range(ROWS)],
        "sex": ["F", "M"] * (ROWS // 2),
        "department": ["A", "A", "B", "B", "B"] * (ROWS // 5),
        "y": [1, 0, 0, 1, 1, 0] * (ROWS // 6),
    }
)
ASKED = {"label": "y", "positive": 1}


def found(code, *results):
    return [[d for d in each.diagnostics if d.code is code] for each in results]


@pytest.mark.parametrize("features", [["ref", "sex"], ["sex", "department"]])
def test_identifiers_among_features_that_are_searched(features):
    result = fg.find(TABLE, sensitive=features, metrics="base_rate", worse="lower", **ASKED)
    (warned,) = found(DiagnosticCode.SINGLE_ROW_GROUPS, result)
    assert [d.feature for d in warned] == (["ref"] if "ref" in features else [])
    assert ("looks like an identifier" in str(result)) is ("ref" in features)


def test_identifiers_among_groups_and_strata_of_a_gap():
    by_ref = fg.why(TABLE, sensitive="ref", strata="department", **ASKED)
    within_ref = fg.why(TABLE, sensitive="sex", strata="ref", **ASKED)
    usual = fg.why(TABLE, sensitive="sex", strata="department", **ASKED)
    groups = found(DiagnosticCode.SINGLE_ROW_GROUPS, by_ref, within_ref, usual)
    strata = found(DiagnosticCode.MANY_STRATA, by_ref, within_ref, usual)
    assert [len(each) for each in groups] == [1, 0, 0]
    assert [len(each) for each in strata] == [0, 1, 0]
    assert "100% of the rows compared are in strata of fewer than 20 rows" in str(within_ref)
