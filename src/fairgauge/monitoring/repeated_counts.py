"""Counts of periods that are those of other periods, or of rows that all stand several times."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from fairgauge.cube.cube import Cube
from fairgauge.monitoring._history_checks import check_history
from fairgauge.monitoring._period_rows import counted_rows
from fairgauge.monitoring.periods import parse_period
from fairgauge.results.monitor_results import HistoryFinding, HistoryProblem

_REPEATED = (HistoryProblem.SAME_COUNTS, HistoryProblem.DOUBLED_ROWS)


def repeated_counts(cubes: Mapping[str, Cube], added: Collection[str]) -> list[HistoryFinding]:
    """Return which of the periods that were ``added`` hold counts or rows more than once.

    ``cubes`` are those of all periods by their names. The checks are those of `monitor`.
    """
    periods = sorted(map(parse_period, cubes))
    if len(periods) < 2 or len({each.length for each in periods}) > 1:
        return []
    ordered = [cubes[str(each)] for each in periods]
    counted = [counted_rows(cube, cube.asked, ordered[0] if i else None)
               for i, cube in enumerate(ordered)]  # fmt: skip
    return [
        finding
        for finding in check_history(periods, counted)
        if finding.problem in _REPEATED and any(map(finding.concerns, added))
    ]
