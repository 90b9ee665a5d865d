"""The rows of every period: how many, which are excluded, and periods with the same counts."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from fairgauge.cube.cube import HANDFUL
from fairgauge.monitoring._period_values import new_values
from fairgauge.resolve.excluded_rows import excluded_rows
from fairgauge.results.monitor_results import PeriodRows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairgauge.cube.cube import Cube
    from fairgauge.monitoring.periods import Period
    from fairgauge.question.specification import Spec


class CountedRows(NamedTuple):
    """The rows that a cube counts, the fingerprint of their counts, and values that are new."""

    digest: str
    rows: int
    excluded: dict[str, int]
    new_values: dict[str, tuple[str, ...]]


def counted_rows(cube: Cube, question: Spec, first: Cube | None) -> CountedRows:
    """Return the rows that a cube counts, and those that the question excludes, by reason.

    ``first`` holds the first period; None where that is ``cube`` itself.
    """
    complete = _complete(cube, question)
    excluded = {} if complete else excluded_rows(cube, question, cube.rows_by_level())[0]
    return CountedRows(
        _fingerprint(cube),
        cube.rows,
        {why: n for why, n in excluded.items() if n},
        new_values(cube, first, question),
    )


def _complete(cube: Cube, question: Spec) -> bool:
    """Return whether nothing can be excluded: no value is missing, and none is excluded by name."""
    named = question.unknown or question.exclude_groups
    return not (named or cube.excluded) and all((table.codes >= 0).all() for table in cube.tables)


def _fingerprint(cube: Cube) -> str:
    """Return what distinguishes counts from others of the same plan, as their digest does."""
    excluded = {str(reason): rows for reason, rows in cube.excluded.items()}
    found = hashlib.sha256(repr((cube.rows, excluded, [*cube.levels.values()])).encode())
    for table in cube.tables:
        found.update(table.codes.tobytes())
        for sums in table.sums.values():
            found.update(sums.tobytes())
    return found.hexdigest()


def rows_of_periods(
    periods: Sequence[Period], counted: Sequence[CountedRows]
) -> Iterator[PeriodRows]:
    """Yield the rows of every period, with the first period that holds the same counts.

    Periods of a handful of rows may well hold the same counts by coincidence.
    """
    first: dict[str, str] = {}
    for period, held in zip(periods, counted, strict=True):
        name = str(period)
        twin = first.setdefault(held.digest, name) if held.rows > HANDFUL else name
        yield PeriodRows(
            period=name,
            start=period.start.isoformat(),
            rows=held.rows,
            excluded=held.excluded,
            same_counts_as=twin if twin != name else None,
            new_values={column: tuple(new) for column, new in held.new_values.items()},
        )
