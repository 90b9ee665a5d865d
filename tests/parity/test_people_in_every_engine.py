"""People counted from their rows: every engine counts what a table of people has."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import fairgauge as fg

ROWS = {
    "who": ["a", "a", "b", "b", "b", "c", None, " ", "d", "d", "e", "e", "f", "f"],
    "day": [
        *("2026-01-02", "2026-01-01", "2026-01-01", "2026-01-03", "2026-01-02", "2026-01-01"),
        *(None, None, "2026-01-01", "2026-01-02", "2026-01-05", "2026-01-04"),
        *("2026-01-01", None),
    ],
    "hired": [0, 1, 1, 0, 1, 0, 1, 0, 0, None, 1, 0, 1, 0],
    "sex": ["M", None, "F", "F", "F", "F", "M", "F", "M", "M", "M", "F", "M", "M"],
}
PEOPLE = {
    "any": [("M", 1), ("F", 1), ("F", 0), ("M", 1), ("F", 0), ("M", 0), (None, 1), ("M", 1)],
    "last": [("M", 0), ("F", 0), ("F", 0), ("M", 1), ("F", 0), ("M", 0), (None, 1), ("M", None)],
}


@pytest.mark.parametrize("counted", list(PEOPLE))
def test_people_are_those_of_a_table_of_people(rows_as, counted):
    asked = {"prediction": "hired", "positive": 1, "sensitive": "sex"}
    order = {"order": "day"} if counted == "last" else {}
    rows = rows_as(pa.table(ROWS))
    found = fg.count(rows, person="who", per_person=counted, **order, **asked)
    sexes, decisions = zip(*PEOPLE[counted], strict=True)
    people = fg.count(pa.table({"sex": sexes, "hired": decisions}), **asked)
    assert found.levels.keys() == people.levels.keys()
    for mine, theirs in zip(found.tables, people.tables, strict=True):
        assert mine.codes.tolist() == theirs.codes.tolist()
        assert mine.sums["rows"].tolist() == theirs.sums["rows"].tolist()
    undated = (("day", 1),) if counted == "last" else ()
    assert (found.rows, found.cases) == (14, 8)
    assert found.conflicts == (("sex", 1), *undated, ("who", 2))
    assert not {"a", "b"} & {v for levels in found.levels.values() for v in levels}


@pytest.mark.parametrize("counted", ["any", "each"])
def test_identifiers_that_stand_for_unknown_ones_are_counted_and_recoded(rows_as, counted):
    who = ["N/A", "N/A", *ROWS["who"][2:]]
    rows = rows_as(pa.table({**ROWS, "who": who}))
    asked = {"prediction": "hired", "positive": 1, "sensitive": "sex", "per_person": counted}
    assert fg.count(rows, person="who", **asked).placeholders == (("N/A", 2),)
    recoded = fg.count(rows, person="who", **asked, recode={"who": {"unknown": ["N/A"]}})
    unnamed = pa.table({**ROWS, "who": [None, None, *who[2:]]})
    assert recoded.placeholders == ()
    assert recoded == fg.count(unnamed, person="who", **asked)


def test_numbers_are_those_of_the_last_row_of_each_person(rows_as):
    y = [1.5, 2.5, 3.0, 4.25, 5.0, 6.0, 7.5, 8.0, 9.0, None, 1.25, 0.5, 2.0, 3.0]
    asked = {"label": "y", "task": "regression", "sensitive": "sex"}
    rows = rows_as(pa.table({**ROWS, "y": y}))
    found = fg.count(rows, person="who", per_person="last", order="day", **asked)
    people = {"F": [4.25, 6.0, 8.0], "M": [1.5, 7.5, 9.0], None: [1.25]}  # f's last has no date
    (table,) = found.tables
    (sex, _) = table.axes
    sums: dict = {}
    for code, y, yy in zip(table.codes, table.sums["y"], table.sums["yy"], strict=True):
        name = (*found.levels[sex], None)[code[0]]
        sums[name] = sums.get(name, 0) + np.array([y, yy])
    expected = {name: [sum(y), sum(each**2 for each in y)] for name, y in people.items()}
    assert {name: each.tolist() for name, each in sums.items()} == expected
