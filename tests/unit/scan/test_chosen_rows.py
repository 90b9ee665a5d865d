"""Conditions on rows: the same numbers as of a table that has only the rows that meet them."""

import datetime as dt
import json
from itertools import cycle

import jsonschema
import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import DiagnosticCode, Observation, Outcome
from fairgauge.monitoring.monitor_spec import schema
from fairgauge.question.conditions import plain_conditions, read_conditions
from fairgauge.question.readers import Location

RNG = np.random.default_rng(3)
ROWS = 1_200
FRAME = pl.DataFrame({
    "sex": RNG.choice(["F", "M"], ROWS), "region": RNG.choice([1, 2, 3], ROWS),
    "age": RNG.integers(18, 90, ROWS),
    "race": pl.Series(RNG.choice(["A", "B or C", None], ROWS), dtype=pl.String),
    "y": RNG.integers(0, 2, ROWS), "p": RNG.integers(0, 2, ROWS), "s": RNG.random(ROWS).round(3),
    "w": RNG.integers(1, 4, ROWS), "id": RNG.integers(0, 300, ROWS),
    "day": pl.Series([
        None if i % 9 == 0 else dt.date(2026, 1, 1) + dt.timedelta(int(i))
        for i in RNG.integers(0, 120, ROWS)
    ], dtype=pl.Date),
    "at": [
        dt.datetime(2026, 1, 1) + dt.timedelta(hours=int(i)) for i in RNG.integers(0, 2_400, ROWS)
    ],
})  # fmt: skip
COL = pl.col
CONDITIONS = {
    "region = 2 or 3": COL("region").is_in([2, 3]), 'race = "B or C"': COL("race") == "B or C",
    "race = A or (missing)": COL("race").is_null() | (COL("race") == "A"),
    "30 < age <= 60": (COL("age") > 30) & (COL("age") <= 60),
    "30 <= age < 60": (COL("age") >= 30) & (COL("age") < 60), "age > 40": COL("age") > 40,
    "age >= 40": COL("age") >= 40, "age <= 40": COL("age") <= 40, "age < 40": COL("age") < 40,
    "30 <= age <= 60": (COL("age") >= 30) & (COL("age") <= 60),
    "30 < age < 60": (COL("age") > 30) & (COL("age") < 60),
    "age < 30 or age >= 80": (COL("age") < 30) | (COL("age") >= 80),
    "20 <= age <= 30 or age > 80": COL("age").is_between(20, 30) | (COL("age") > 80),
    "day >= 2026-02-10": COL("day") >= dt.date(2026, 2, 10),
    "2026-02-10 < day <= 2026-03-31": (
        (COL("day") > dt.date(2026, 2, 10)) & (COL("day") <= dt.date(2026, 3, 31))
    ),
    "day < 2026-01-20 or day = (missing)": (
        COL("day").is_null() | (COL("day") < dt.date(2026, 1, 20))
    ),
    "at <= 2026-02-10": COL("at") < dt.datetime(2026, 2, 11),
    "at > 2026-02-10": COL("at") >= dt.datetime(2026, 2, 11),
    "at >= 2026-02-10T12:00:00": COL("at") >= dt.datetime(2026, 2, 10, 12),
    "sex = F": COL("sex") == "F", "sex != F": COL("sex") != "F",
    "region != 2 or 3": ~COL("region").is_in([2, 3]),
    'race != "B or C"': COL("race").is_null() | (COL("race") != "B or C"),  # as != in Python
    "race != A or (missing)": COL("race") == "B or C",
}  # fmt: skip
BASIC = {"label": "y", "prediction": "p", "sensitive": "sex"}


def numbers(report):
    return (
        report.data.used,
        [(e.metric, e.group, e.value, e.interval) for e in report.estimates],
        [(g.group, g.n) for g in report.groups],
    )


@pytest.mark.parametrize(
    ("condition", "engine"),
    [*zip(CONDITIONS, cycle(["polars", "pandas", "arrow", "csv", "parquet"]))],
)
def test_every_engine_counts_the_rows_that_meet_a_condition(condition, engine, tmp_path):
    FRAME.write_csv(tmp_path / "rows.csv")
    FRAME.write_parquet(tmp_path / "rows.parquet")
    data = {
        "polars": FRAME, "pandas": FRAME.to_pandas(), "arrow": FRAME.to_arrow(),
        "csv": tmp_path / "rows.csv", "parquet": tmp_path / "rows.parquet",
    }[engine]  # fmt: skip
    expected = fg.audit(FRAME.filter(CONDITIONS[condition]), **BASIC)
    assert numbers(fg.audit(data, **BASIC, where=condition)) == numbers(expected)


def test_every_verb_takes_conditions():
    kept = FRAME.filter(COL("region") == 1)
    where = {"where": "region = 1"}
    search = {"label": "y", "prediction": "p", "sensitive": ["sex", "race"], "metrics": "fpr"}
    one, other = fg.find(FRAME, **search, **where), fg.find(kept, **search)
    assert (one.worse, one.undecided, one.overall) == (other.worse, other.undecided, other.overall)
    models = {**BASIC, "candidate": "y2"}
    frame = FRAME.with_columns(y2=(COL("s") > 0.5).cast(pl.Int64))
    first = fg.compare_models(frame, **models, **where)
    second = fg.compare_models(frame.filter(COL("region") == 1), **models)
    assert [c.disparities for c in first.candidates] == [c.disparities for c in second.candidates]
    assert "Only rows with region = 1 are counted" in str(first)
    choose = {"label": "y", "score": "s", "threshold": 0.5, "sensitive": "sex"}
    choose["rules"] = "selection_rate.ratio >= 0.5"
    chosen = fg.thresholds(FRAME, **choose, **where)
    assert chosen.features == fg.thresholds(kept, **choose).features
    assert "Only rows with region = 1" in str(chosen)


@pytest.mark.parametrize("text", CONDITIONS)
def test_a_condition_is_written_as_it_is_read(text):
    (condition,) = read_conditions(text, Location("where"))
    assert condition.to_text() == text
    plain = plain_conditions((condition,))
    assert read_conditions(plain, Location("where")) == (condition,)
    asked = {"sensitive": ["sex"], "where": plain}
    jsonschema.Draft202012Validator(schema()).validate(asked)


@pytest.mark.parametrize("value", ["F", "M", None])
def test_every_row_meets_a_condition_or_its_negation(value):
    (condition,), (negation,) = (
        read_conditions(text, Location("where")) for text in ("sex = F", "sex!=F")
    )
    assert condition.holds(value) != negation.holds(value)
    for text in ("sex == F", "sex = 'F'", '"sex" = "F"', "'sex' = 'F'"):
        assert condition == read_conditions(text, Location("where"))[0]


# ---- rows of which nobody knows whether they meet a condition are counted, stated and warned of
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


# ---- many candidates are counted by sums of conditions, and as in every other source
NAMES = [f"c{k:02}" for k in range(70)]


def decided(rows=3_000):
    rng = np.random.default_rng(0)
    found = {name: rng.integers(0, 2, rows) for name in ("y", "current", *NAMES)}
    return pl.DataFrame({"g": rng.choice(["F", "M"], rows), "w": rng.uniform(1, 2, rows)} | found)


def late(column, value):
    """Return a value that first rows do not show."""
    return (
        pl.when(pl.int_range(pl.len()) == pl.len() - 1).then(value).otherwise(column).alias(column)
    )


CASES = {
    "whole numbers": ([], {}), "some without a decision": ([late("c01", None)], {}),
    "texts": ([pl.col(NAMES).cast(pl.String), pl.col("y", "current").cast(pl.String)], {}),
    "truth values": ([pl.col("y", "current", *NAMES).cast(pl.Boolean)], {"positive": True}),
    "a value that first rows do not show": ([late("c02", 2)], {}),
    "all alike": ([pl.lit(1).alias("c03")], {}), "weights": ([], {"weight": "w"}),
    "scores": ([pl.col("current", *NAMES) * 0.5 + 0.2], {"score": "current", "prediction": None,
                                                        "threshold": 0.5}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_file_of_seventy_candidates_has_the_counts_of_a_frame(case, tmp_path):
    """From 61 on counting a file ended with an OverflowError."""
    changes, more = CASES[case]
    rows = decided().with_columns(*changes)
    rows.write_parquet(tmp_path / "rows.parquet")
    rows.write_csv(tmp_path / "rows.csv")
    asked = {"label": "y", "prediction": "current", "candidate": "c*", "sensitive": "g"}
    asked = {k: v for k, v in (asked | {"positive": 1} | more).items() if v is not None}
    cube = fg.count(rows, **asked)
    assert fg.count(tmp_path / "rows.parquet", **asked) == cube
    if case not in ("texts", "truth values"):
        assert fg.count(tmp_path / "rows.csv", **asked) == cube
