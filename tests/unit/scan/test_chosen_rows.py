"""Conditions on rows: the same numbers as of a table that has only the rows that meet them."""

import datetime as dt
from itertools import cycle

import jsonschema
import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.monitoring.monitor_spec import schema
from fairgauge.question.conditions import plain_conditions, read_conditions
from fairgauge.question.readers import Location

RNG = np.random.default_rng(3)
ROWS = 1_200
FRAME = pl.DataFrame({
    "sex": RNG.choice(["F", "M"], ROWS),
    "region": RNG.choice([1, 2, 3], ROWS),
    "age": RNG.integers(18, 90, ROWS),
    "race": pl.Series(RNG.choice(["A", "B or C", None], ROWS), dtype=pl.String),
    "y": RNG.integers(0, 2, ROWS),
    "p": RNG.integers(0, 2, ROWS),
    "s": RNG.random(ROWS).round(3),
    "w": RNG.integers(1, 4, ROWS),
    "id": RNG.integers(0, 300, ROWS),
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
    "region = 2 or 3": COL("region").is_in([2, 3]),
    'race = "B or C"': COL("race") == "B or C",
    "race = A or (missing)": COL("race").is_null() | (COL("race") == "A"),
    "30 < age <= 60": (COL("age") > 30) & (COL("age") <= 60),
    "30 <= age < 60": (COL("age") >= 30) & (COL("age") < 60),
    "age > 40": COL("age") > 40,
    "age >= 40": COL("age") >= 40,
    "age <= 40": COL("age") <= 40,
    "age < 40": COL("age") < 40,
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
    "sex = F": COL("sex") == "F",
    "sex != F": COL("sex") != "F",
    "region != 2 or 3": ~COL("region").is_in([2, 3]),
    'race != "B or C"': COL("race").is_null() | (COL("race") != "B or C"),  # as != in Python
    "race != A or (missing)": COL("race") == "B or C",
}
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
