"""`check` reads a pasted table as it is typed, or refuses it: a misreading is no error of it.

Random tables without an error are written with and without a title, with one to five spaces between
columns that are below each other or not. One wrong ratio is found in every one that is read.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

import fairgauge as fg
from fairgauge.published.sources import read_sources
from fairgauge.published.table_arithmetic import check_arithmetic
from fairgauge.results.check import FaultLevel

if TYPE_CHECKING:
    from fairgauge.published.published_table import PublishedTable
    from fairgauge.results.check import Fault

NAMES = (
    "Hispanic or Latino",
    "White",
    "Black or African American",
    "Native Hawaiian or Pacific Islander",
    "Asian",
    "Native American or Alaska Native",
    "Two or More Races",
)
HEADERS = (
    ("Race/Ethnicity", "# of Applicants", "# Selected", "Selection Rate", "Impact Ratio"),
    ("Race", "Applicants", "Selected", "Selection rate", "Impact ratio"),
    ("Category", "N", "Hired", "Rate", "Ratio"),
)
TITLES = ("", "Race", "Race/Ethnicity Categories", "Table 2.  Impact ratios by race, 2025")
LAYOUTS = ("in order", "left", "right")


def random_rows(rng: random.Random) -> list[tuple[str, ...]]:
    """Return the rows of a table without an error."""
    names = rng.sample(NAMES, rng.randint(2, len(NAMES)))
    people = [rng.randint(100, 1900) for _ in names]
    selected = [round(n * rng.uniform(0.3, 0.6)) for n in people]
    best = max(s / n for n, s in zip(people, selected, strict=True))
    return [
        (name, f"{n:,}", f"{s:,}", f"{100 * s / n:.0f}%", f"{s / n / best:.2f}")
        for name, n, s in zip(names, people, selected, strict=True)
    ]


def pasted(rows: list[tuple[str, ...]], layout: str, gap: int) -> list[str]:
    """Write cells in columns, or behind each other."""
    between = " " * gap
    if layout == "in order":
        return [between.join(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    place = str.ljust if layout == "left" else str.rjust
    return [
        between.join(
            [row[0].ljust(widths[0])]
            + [place(cell, w) for cell, w in zip(row[1:], widths[1:], strict=True)]
        ).rstrip()
        for row in rows
    ]


def read(text: str) -> PublishedTable | None:
    """Return the only table of a text; None where it is refused."""
    try:
        (source,), unread = read_sources(text, {})
    except fg.DataError:
        return None
    assert not unread, text
    (table,) = source.tables
    return table


def errors(table: PublishedTable) -> list[Fault]:
    faults = check_arithmetic(table).faults
    return [fault for fault in faults if fault.level is FaultLevel.ERROR]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("title", TITLES)
def test_a_pasted_table_is_read_as_it_is_typed_or_refused(title, layout):
    rng = random.Random(f"{title} {layout}")
    times = 0
    for gap in (1, 2, 3, 4, 5) * 2:
        rows = random_rows(rng)
        lines = [rng.choice(HEADERS), *rows]
        above = [title] if title else []
        text = "\n".join([*above, *pasted(lines, layout, gap)])
        if (table := read(text)) is None:
            continue
        times += 1
        assert [
            (*row.categories, row.n.text, row.selected.text, row.rate.text, row.ratio.text)
            for row in table.rows
        ] == rows, text
        assert errors(table) == [], text
        wrong = rng.randint(1, len(rows))
        lines[wrong] = (*lines[wrong][:4], f"{float(lines[wrong][4]) - 0.2:.2f}")
        text = "\n".join([*above, *pasted(lines, layout, gap)])
        table = read(text)
        assert table is None or errors(table), text
    assert times >= 8, "nearly all are read"
