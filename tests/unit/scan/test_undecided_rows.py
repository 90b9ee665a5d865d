"""Rows of which nobody knows whether they meet a condition are counted, stated and warned of."""

import json

import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import DiagnosticCode, Observation, Outcome

ASKED = {"prediction": "p", "positive": 1, "sensitive": "g", "rules": "selection_rate.ratio >= 0.8"}

UNCODED = ("age > 0", "tenure >= 18", "age <= 120")  # it is named, or ordinary


def rows(value: str | None, lacking: int = 150, kind: type = str) -> pl.DataFrame:
    """Return rows of two groups; refusals of one have another value of the condition's column."""
    refused = [value] * lacking + ["5"] * (400 - lacking)
    return pl.DataFrame({
        "g": ["a"] * 800 + ["b"] * 800,
        "p": [1] * 320 + [0] * 480 + [1] * 400 + [0] * 400,
        "r": pl.Series(["5"] * 400 + refused + ["5"] * 780 + ["1"] * 20, dtype=pl.String),
    }).with_columns(pl.col("r").cast(pl.Int64) if kind is int else pl.col("r"))  # fmt: skip


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
        assert cube.rows == 1_430
        twice = cube.add(cube, allow_duplicates=True)
        seen = [of.seen(Observation.UNDECIDED, "r") for of in (cube, twice)]
        assert [[(e.rows, e.cases) for e in each] for each in seen] == [[(150, 150)], [(300, 300)]]
        report = fg.audit(cube)
    else:
        report = fg.audit(data[engine], **ASKED, where=where)
    assert (report.data.rows, report.data.used) == (1_580, 1_430)
    assert report.data.excluded == {"missing r (where)": 150}
    (warned,) = [each for each in report.diagnostics if each.code is DiagnosticCode.UNCOUNTED_ROWS]
    assert "9.5% of the rows (150 of 1,580) have no value of r" in warned.message
    assert report.verdict is Outcome.INCONCLUSIVE
    assert "150 rows without a value of r could change that" in " ".join(str(report).split())
    assert "all used" not in str(report)


@pytest.mark.parametrize(("value", "where", "doubted"), [
    ("N/A", "r = 5", False), ("Unknown", "r = 5", False), ("N/A", "r != 1", True),
    ("TOTAL", "r != 1", True), ("Total loss", "r != 1", None), ("7", "r = 5", None),
    ("None", "r = 5", None),
])  # fmt: skip
def test_missing_words_and_totals_in_a_condition_are_no_plain_values(value, where, doubted):
    """Refusals of a region "N/A" were left out unseen, and a total was kept: a ratio passed."""
    data = rows(value, 300).with_columns(pl.col("r").replace({"5": "five"}))
    found = fg.audit(data, **ASKED, where=where.replace("5", "five"))
    excluded = {"missing r (where)": 300} if doubted is False else {}
    assert found.data.excluded == excluded
    codes = [(each.code, each.column, each.values) for each in found.doubts]
    assert codes == [(DiagnosticCode.ALIKE_CONDITION, "r", (value,))] * (doubted is True)
    assert doubted is None or found.verdict is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(("code", "where"), [
    (999, "r < 90"), (-1, "r >= 0"), (99, "0 <= r <= 40"), (41, "0 <= r <= 40"),
    (0, "age >= 18"), (0, "age > 0"), (0, "tenure >= 18"), (130, "age < 90"), (130, "age <= 120"),
])  # fmt: skip
def test_codes_of_missing_numbers_that_a_condition_drops_are_doubted(code, where):
    column, plain = where.removeprefix("0 <= ").split()[0], code == 41 or where in UNCODED
    data = rows(str(code), kind=int).rename({"r": column}).with_columns(
        pl.col(column).replace({5: 35, 1: 31} if code == 0 else {}))  # fmt: skip
    found = fg.audit(data, **ASKED, where=where)
    doubts = [(each.column, each.values) for each in found.doubts]
    assert doubts == [(column, (">120" if code == 130 else str(code),))] * (not plain)
    assert found.verdict is (Outcome.PASS if plain else Outcome.INCONCLUSIVE)
    accepted = fg.audit(data, **ASKED, where=where, accept=f"alike_condition:{column}")
    assert accepted.verdict is Outcome.PASS
