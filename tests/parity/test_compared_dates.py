"""Dates and times are compared the same whatever engine reads them."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

import fairgauge as fg
from fairgauge.errors import EmptyDataError

DAYS = [dt.date(2026, 1, 1) + dt.timedelta(n) for n in (0, 30, 31, 58, 59, 89, 90, 200)]
TOKYO = dt.timezone(dt.timedelta(hours=9))
HOURS = [dt.datetime(2026, 3, 31, hour, 30) for hour in (0, 8, 9, 12, 15, 23)]
CASES = {
    "day >= 2026-03-01": 4,
    "2026-02-01 <= day <= 2026-03-31": 4,
    "day > 2026-03-01T00:00": 3,
    "time <= 2026-03-31": 6,
    "time > 2026-03-31": 0,
    "2026-03-31T09:30 <= time < 2026-03-31T23:30:00": 3,
    "zoned < 2026-03-31": 2,  # half past eight in Tokyo is the day before in UTC
    "zoned >= 2026-03-31T12:30:00+09:00": 3,
    "zoned >= 2026-03-31T03:30": 3,
}


def rows(column):
    values = {
        "day": pa.array([*DAYS, None], pa.date32()),
        "time": pa.array([*HOURS, None], pa.timestamp("us")),
        "zoned": pa.array([*(h.replace(tzinfo=TOKYO) for h in HOURS), None],
                          pa.timestamp("us", "Asia/Tokyo")),
    }[column]  # fmt: skip
    flags = [i % 2 for i in range(len(values))]
    return pa.table({column: values, "y": flags, "g": ["a", "b", "a", *"b" * (len(values) - 3)]})


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
