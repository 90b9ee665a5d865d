"""Rows of which nobody knows whether they meet a condition are counted, stated and warned of."""

from __future__ import annotations

import json

import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import DiagnosticCode, Outcome
from fairgauge.reasons import ReasonCode

ASKED = {"prediction": "p", "positive": 1, "sensitive": "g", "rules": "selection_rate.ratio >= 0.8"}


def rows(value: str | None, lacking: int = 150, kind: type = str) -> pl.DataFrame:
    """Return rows of two groups; refusals of one have another value of the condition's column."""
    refused = [value] * lacking + ["5"] * (400 - lacking)
    return pl.DataFrame({
        "g": ["a"] * 800 + ["b"] * 800,
        "p": [1] * 320 + [0] * 480 + [1] * 400 + [0] * 400,
        "r": pl.Series(["5"] * 400 + refused + ["5"] * 780 + ["1"] * 20, dtype=pl.String),
    }).with_columns(pl.col("r").cast(pl.Int64) if kind is int else pl.col("r"))  # fmt: skip


def warnings(report, code):
    return [each for each in report.diagnostics if each.code is code]


@pytest.mark.parametrize("where", ["r = 5", "r >= 3", ["r = 5", "g = a or b"]])
@pytest.mark.parametrize("engine", ["polars", "pandas", "csv", "parquet", "counts"])
def test_rows_that_a_condition_cannot_decide_are_stated_and_no_rule_passes(where, engine, tmp_path):
    """They were dropped unseen: "all used", and a pass by the absence of refusals."""
    frame = rows(None, kind=int)
    frame.write_csv(tmp_path / "rows.csv")
    frame.write_parquet(tmp_path / "rows.parquet")
    data = {"polars": frame, "pandas": frame.to_pandas(), "csv": tmp_path / "rows.csv",
            "parquet": tmp_path / "rows.parquet"}  # fmt: skip
    if engine == "counts":
        cube = fg.count(frame, **ASKED, where=where)
        cube = fg.Cube.from_dict(json.loads(cube.to_json()))
        assert (cube.rows, cube.undecided) == (1_430, (("r", "", 150, 150),))
        assert cube.add(cube, allow_duplicates=True).undecided == (("r", "", 300, 300),)
        report = fg.audit(cube)
    else:
        report = fg.audit(data[engine], **ASKED, where=where)
    assert (report.data.rows, report.data.used) == (1_580, 1_430)
    assert report.data.excluded == {"missing r (where)": 150}
    (warned,) = warnings(report, DiagnosticCode.UNCOUNTED_ROWS)
    assert "9.5% of the rows (150 of 1,580) have no value of r" in warned.message
    assert report.verdict is Outcome.INCONCLUSIVE
    assert "150 rows without a value of r could change it" in " ".join(str(report).split())
    assert "all used" not in str(report)


def test_a_few_are_stated_alone():
    report = fg.audit(rows(None, lacking=3), **ASKED, where="r = 5")
    assert report.data.excluded == {"missing r (where)": 3}
    assert not warnings(report, DiagnosticCode.UNCOUNTED_ROWS)
    assert report.verdicts[0].reason.code is not ReasonCode.NOT_COUNTED


@pytest.mark.parametrize("value", [" ", "N/A", "Not applicable", "Unknown"])
def test_texts_that_may_mean_a_missing_value_leave_no_pass_until_they_are_accepted(value):
    report = fg.audit(rows(value), **ASKED, where="r = 5")
    (warned,) = warnings(report, DiagnosticCode.MISSING_MARKER)
    assert (warned["value"], warned["rows"], report.data.excluded) == (value, 150, {})
    assert report.verdict is Outcome.INCONCLUSIVE
    accepted = fg.audit(rows(value), **ASKED, where="r = 5", accept="missing_marker:r")
    assert accepted.verdict is Outcome.PASS
    assert accepted.estimates == report.estimates


@pytest.mark.parametrize(
    "where", ["r != 1", "r = 5 or (missing)", "r != 1 or (missing)", ["r = 5", "g = b"], "g = b"]
)
def test_rows_that_a_condition_decides_are_not_warned_of(where):
    report = fg.audit(rows(None), **ASKED, where=where)
    assert not {each for each in report.data.excluded if "where" in each}
    assert not warnings(report, DiagnosticCode.UNCOUNTED_ROWS)


def test_conditions_on_whole_columns_are_not_warned_of():
    report = fg.audit(rows("1"), **ASKED, where="r = 5")
    assert not warnings(report, DiagnosticCode.UNCOUNTED_ROWS)
    assert (report.data.rows, report.data.excluded) == (report.data.used, {})


def test_of_people_the_rows_are_stated_as_rows():
    frame = rows(None).with_row_index("id")
    report = fg.audit(frame, **ASKED, person="id", where="r = 5")
    (warned,) = warnings(report, DiagnosticCode.UNCOUNTED_ROWS)
    assert "9.5% of the rows (150 of 1,580) have no value of r" in warned.message
    assert report.verdict is Outcome.INCONCLUSIVE


def test_a_search_states_them():
    asked = {"prediction": "p", "positive": 1, "rate": "selection_rate", "features": "g"}
    found = fg.find(rows(None), **asked, where="r = 5")
    (note,) = warnings(found, DiagnosticCode.EXCLUDED)
    assert (note.level, note["reason"], note["rows"]) == ("warning", "missing r (where)", 150)


@pytest.mark.parametrize("engine", ["polars", "csv", "parquet"])
def test_texts_among_dates_that_mean_a_missing_one_are_missing(engine, tmp_path):
    others = {"5": "2026-01-15", "1": "2026-05-01"}
    frame = rows("N/A").with_columns(pl.col("r").replace(others))
    frame.write_csv(tmp_path / "rows.csv")
    frame.write_parquet(tmp_path / "rows.parquet")
    data = frame if engine == "polars" else tmp_path / f"rows.{engine}"
    report = fg.audit(data, **ASKED, where="2026-01-01 <= r < 2026-04-01")
    assert [each["rows"] for each in warnings(report, DiagnosticCode.MISSING_MARKER)] == [150]
    assert report.verdict is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(("code", "warned"), [(9999, True), (-99, True), (88, False), (0, False)])
def test_numbers_of_conditions_that_may_be_codes_are_named(code, warned):
    frame = rows(str(code), kind=int)
    report = fg.audit(frame, **ASKED, where="3 <= r < 10")
    found = warnings(report, DiagnosticCode.CODED_NUMBERS)
    assert [each["value"] for each in found] == [code] * warned
    for each in found:
        assert "r, on which a condition depends" in each.message.replace("'", "")
        again = fg.audit(frame, **ASKED, where="3 <= r < 10", recode=each["line"])
        assert again.data.excluded == {"missing r (where)": 150}
        assert again.verdict is Outcome.INCONCLUSIVE
    stated = "r < 9999" if code > 0 else "r > -99"
    assert not warnings(fg.audit(frame, **ASKED, where=stated), DiagnosticCode.CODED_NUMBERS)
