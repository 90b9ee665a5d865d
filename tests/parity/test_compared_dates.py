"""Dates and times are compared the same whatever engine reads them."""

import datetime as dt

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import fairgauge as fg
from fairgauge.errors import EmptyDataError, SpecError
from fairgauge.question.conditions import RowCondition

DAYS = [dt.date(2026, 1, 1) + dt.timedelta(n) for n in (0, 30, 31, 58, 59, 89, 90, 200)]
TOKYO = dt.timezone(dt.timedelta(hours=9))
HOURS = [dt.datetime(2026, 3, 31, hour, 30) for hour in (0, 8, 9, 12, 15, 23)]
CASES = {
    "day >= 2026-03-01": 4, "2026-02-01 <= day <= 2026-03-31": 4, "day > 2026-03-01T00:00": 3,
    "time <= 2026-03-31": 6, "time > 2026-03-31": 0,
    "2026-03-31T09:30 <= time < 2026-03-31T23:30:00": 3,
    "zoned < 2026-03-31": 2,  # half past eight in Tokyo is the day before in UTC
    "zoned >= 2026-03-31T12:30:00+09:00": 3, "zoned >= 2026-03-31T03:30": 3,
    "2026-03-31 <= zoned < 2026-03-31T09:30:00+09:00": 0,
    "zoned > 2026-03-31T09:30:00+09:00 or zoned = (missing)": 4,
}  # fmt: skip


def rows(column):
    values = {
        "day": pa.array([*DAYS, None], pa.date32()),
        "time": pa.array([*HOURS, None], pa.timestamp("us")),
        "zoned": pa.array([*(h.replace(tzinfo=TOKYO) for h in HOURS), None],
                          pa.timestamp("us", "Asia/Tokyo")),
    }[column]  # fmt: skip
    flags = [i % 2 for i in range(len(values))]
    return pa.table({column: values, "y": flags, "g": ["a", "b", "a", *"b" * (len(values) - 3)]})


@pytest.mark.each_value
@pytest.mark.parametrize("column", ["day", "time", "zoned"])
def test_every_engine_compares_dates_alike(rows_as, column):
    data = rows_as(rows(column))
    for condition, expected in CASES.items():
        if column not in condition:
            continue
        try:
            found = fg.count(data, label="y", sensitive="g", where=condition).rows
        except EmptyDataError:
            found = 0
        assert found == expected, condition


def _found(data, condition):
    """Return how many rows meet a condition, or what is wrong with it."""
    try:
        return fg.count(data, label="y", sensitive="g", where=condition).rows
    except EmptyDataError:
        return 0
    except SpecError as error:
        return str(error)


ODD = ["2026-03-31 09:30", "2026-03-31T09:30:00.000001", "2026-03-31T09:29:59.999999",
       "2026-03-31T09:30:00Z", "2026-03-31T11:30+02:00", "2026-03-31T09:30:00+00:00",
       "2026-03-31", "0001-01-01T00:00", "9999-12-31T23:59:59"]  # fmt: skip
ENDS = ["2026-03-31", "2026-03-31T09:30", "2026-03-31T09:30:00.000001", "2026-03-31T09:30:00Z"]


FORMS = [*ODD, "2026-02-30T10:00", "2026-03-31T24:00", "soon"]


@pytest.mark.parametrize("odd", FORMS)
def test_files_compare_every_form_of_a_time_as_frames_do(tmp_path, odd):
    """Each with each end, by one comparison that takes the end in and one that does not."""
    file = tmp_path / "rows.csv"
    times = [ODD[0] if odd.count("+") + odd.count("Z") == 0 else ODD[3], odd, odd, None]
    rows = pl.DataFrame({"t": times, "y": [0, 1, 0, 1], "g": ["a", "b", "a", "b"]})
    rows.write_csv(file)
    rows.write_parquet(tmp_path / "rows.parquet")
    for at, end in enumerate(ENDS, FORMS.index(odd)):
        inclusive = (f"t <= {end}", f"{end} <= t <= {ENDS[0]}")[at % 2]
        for condition in (inclusive, (f"t < {end}", f"t > {end}")[at // 2 % 2]):
            expected = _found(rows, condition)
            assert _found(file, condition) == expected, condition
            assert _found(tmp_path / "rows.parquet", condition) == expected, condition


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_times_of_a_file_are_compared_by_the_engine(tmp_path, monkeypatch, kind):
    """A million distinct times took 14 seconds, compared one by one."""
    rng = np.random.default_rng(3)
    start = np.datetime64("2026-01-01T00:00", "us")
    times = start + rng.permutation(5_000) * np.timedelta64(977_000_001, "us")
    rows = pl.DataFrame({"t": times, "y": rng.integers(2, size=5_000), "g": ["a", "b"] * 2_500})
    file = tmp_path / f"rows.{kind}"
    getattr(rows, f"write_{kind}")(file)
    # whether some rows are copies is looked at row by row, where they are as few as here
    monkeypatch.setattr("fairgauge.rowwise.copies._MOST_READ", 0)
    compared, holds = [], RowCondition.holds
    monkeypatch.setattr(RowCondition, "holds", lambda s, v: (compared.append(v), holds(s, v))[1])
    expected = int((times >= np.datetime64("2026-01-20")).sum())
    assert _found(file, "t >= 2026-01-20") == expected
    assert sum(value is not None for value in compared) <= 3
