"""Rows of excluded groups take no part in their feature, as if they had not been read."""

from __future__ import annotations

import polars as pl
import pytest

import fairgauge as fg

ROWS = pl.DataFrame(
    {
        "g": ["a"] * 60 + ["b"] * 50 + ["c"] * 40,
        "h": ["x", "y", "y"] * 50,
        "y": [int((i * 7) % 3 == 0) for i in range(150)],
        "p": [int((i * 5) % (3 + i // 60) == 0) for i in range(150)],
        "f": [i % 11 for i in range(150)],
    }
)
ASKED = {
    "label": "y", "prediction": "p", "positive": 1, "features": ["f"],
    "metrics": ["RD", "DI", "JS", "selection_rate.largest_gap", "FT"],
}  # fmt: skip


@pytest.mark.parametrize("reference", ["others", "overall", "best", "largest", {"g": "a"}])
@pytest.mark.parametrize("missing", ["exclude", "group"])
def test_it_is_as_if_the_rows_were_not_there(reference: object, missing: str) -> None:
    options = ASKED | {"reference": reference, "sensitive": "g", "missing": missing}
    without = fg.audit(ROWS, exclude_groups="c", **options)
    alone = fg.audit(ROWS.filter(pl.col("g") != "c"), **options)
    assert without.estimates == alone.estimates
    assert without.pairs == alone.pairs
    assert without.groups == alone.groups
    assert without.data.excluded == {"group of g that is excluded": 40}


def test_a_group_of_an_intersection_can_be_excluded() -> None:
    options = {key: value for key, value in ASKED.items() if key != "features"}
    options |= {"metrics": ["RD", "DI"], "sensitive": ["g", "h"], "intersections": [("g", "h")]}
    crossed = pl.concat_str(["g", "h"], separator=" & ") != "c & x"
    without = fg.audit(ROWS, exclude_groups="c & x", **options)
    alone = fg.audit(ROWS.filter(crossed), **options)
    every = fg.audit(ROWS, **options)
    for report, features in ((alone, ["g*h"]), (every, ["g", "h"])):
        same = [
            [
                (each.key, each.value, each.interval)
                for each in one.estimates
                if each.feature in features
            ]
            for one in (without, report)
        ]
        assert same[0] == same[1]


def test_a_name_that_no_group_has_is_noted() -> None:
    report = fg.audit(ROWS, sensitive="g", exclude_groups=["c", "d"], **ASKED)
    assert sum("'d'" in each.message for each in report.diagnostics) == 1
    assert not any("'c'" in each.message for each in report.diagnostics)


@pytest.mark.parametrize("option", ["exclude_groups", "unknown"])
def test_what_is_left_out_is_no_reference(option: str) -> None:
    with pytest.raises(fg.SpecError, match=f"reference: 'c' is excluded from 'g' by {option}"):
        fg.audit(ROWS, sensitive="g", reference={"g": "c"}, **ASKED | {option: "c"})
