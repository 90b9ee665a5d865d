"""What may be wrong with periods that are counted or added without a monitor that decides."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from fairgauge.cube.cube import Cube
from fairgauge.errors import ValuesError
from fairgauge.monitoring._feed_checks import Feed, check_feed
from fairgauge.monitoring._period_rows import counted_rows
from fairgauge.monitoring._period_values import check_values
from fairgauge.monitoring.periods import parse_period
from fairgauge.results.monitor_results import HistoryProblem

_SUSPECT = (
    HistoryProblem.SAME_COUNTS, HistoryProblem.DOUBLED_ROWS, HistoryProblem.NEW_VALUE,
    HistoryProblem.ONE_VALUE,
)  # fmt: skip
"""What no later period is needed to see, and no limit of a rule."""


def suspect_periods(cubes: Mapping[str, Cube], added: Collection[str]) -> list[str]:
    """Describe which of the periods that were ``added`` may be wrong: their rows or their values.

    ``cubes`` are those of all periods by their names. The checks are those of `monitor`.
    """
    periods = sorted(map(parse_period, cubes))
    if len(periods) < 2 or len({each.length for each in periods}) > 1:
        return []
    names = [*map(str, periods)]
    ordered = [cubes[name] for name in names]
    asked = ordered[0].asked
    counted = [counted_rows(cube, cube.asked) for cube in ordered]
    outcomes = [each for each in (asked.label, asked.prediction or asked.score) if each is not None]
    feed = Feed(periods=periods, counted=counted, question=asked, outcomes=outcomes)
    found = [
        finding.says
        for finding in check_feed(feed)
        if finding.problem in _SUSPECT and any(map(finding.concerns, added))
    ]
    try:
        check_values(names, ordered, asked)
    except ValuesError as error:
        found.append(str(error))
    return found
