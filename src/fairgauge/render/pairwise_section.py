"""Every pair of groups: how many differ beyond doubt, which do most, and all of them as a chart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairgauge.enums import Status
from fairgauge.render import numbers
from fairgauge.render.axis_geometry import Mark, Tick, scale, ticks
from fairgauge.render.display_names import printable, shorten
from fairgauge.render.metric_meanings import rate_title
from fairgauge.render.row_charts import mark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairgauge.render.outline import Section
    from fairgauge.report.estimates import GroupPair

MOST_NAMED = 3
"""Pairs of a rate that are named where there is room for a few lines."""


@dataclass(frozen=True, slots=True)
class PairRow:
    """A pair in a chart, and its numbers."""

    group: str
    other: str
    mark: Mark
    points: str
    interval: str
    beside: str
    ratio: str
    ratio_interval: str
    sure: bool


@dataclass(frozen=True, slots=True)
class PairPanel:
    """The pairs of groups in one rate.

    Attributes
    ----------
    rate, counted : the rate, and how many pairs differ in it.
    ticks, neutral : the axis, and "no difference" on it.
    rows, more : the pairs, and how many are left out.
    """

    rate: str
    counted: str
    ticks: Sequence[Tick]
    neutral: float
    rows: Sequence[PairRow]
    more: int


def by_rate(section: Section) -> dict[str, list[GroupPair]]:
    """Return the pairs of a section by rate."""
    found: dict[str, list[GroupPair]] = {}
    for each in section.pairs:
        found.setdefault(each.rate, []).append(each)
    return found


def _most_sure(pairs: Sequence[GroupPair]) -> list[GroupPair]:
    """Return the few pairs to name: those that differ most of those that do beyond doubt."""
    return [each for each in pairs if each.significant][:MOST_NAMED]


def counted(pairs: Sequence[GroupPair]) -> str:
    """Say how many pairs of a rate differ: ``9 of 15 pairs differ beyond doubt``."""
    sure = sum(each.significant for each in pairs)
    among = pairs[0].pairs
    of = f"of {among:,} pairs"
    if not sure:
        return f"none {of} differs beyond doubt"
    more = "or more " if sure == len(pairs) < among else ""
    return f"{sure:,} {more}{of} {'differs' if sure == 1 else 'differ'} beyond doubt"


def _told(pairs: Sequence[GroupPair]) -> str:
    """Say how many pairs of a rate differ, before those that differ most."""
    sure = sum(each.significant for each in pairs)
    follows = ", most of all:" if sure > MOST_NAMED else ":" if sure else ""
    return f"{rate_title(pairs[0].rate)}: {counted(pairs)}{follows}"


def heading(pairs: Sequence[GroupPair]) -> str:
    """Say what the intervals of pairs promise."""
    return f"Every pair of groups, {100 * pairs[0].difference_interval.level:g}% intervals that hold all at once"


def _line(pair: GroupPair, most: int) -> str:
    """Return a pair on one line."""
    group, other = (shorten(printable(name), most) for name in (pair.group, pair.other))
    return (
        f"{group} against {other}: {numbers.points(pair.difference)} points "
        f"[{numbers.points(pair.difference_interval.low)}, "
        f"{numbers.points(pair.difference_interval.high)}], "
        f"{numbers.probability(pair.p_adjusted)}"
    )


def named(pairs: Sequence[GroupPair], most: int) -> tuple[str, list[str]]:
    """Return how many pairs of a rate differ, and those that do most, a line each."""
    return _told(pairs), [_line(each, most) for each in _most_sure(pairs)]


def pair_panels(section: Section, most: int) -> list[PairPanel]:
    """Return a chart of the pairs in each rate, at most so many rows each, on one axis."""
    shown = {rate: pairs[:most] for rate, pairs in by_rate(section).items()}
    limits = [v for each in shown.values() for p in each for v in _in_points(p)]
    axis = scale(limits, [-10.0, 10.0])
    return [
        PairPanel(
            rate=rate,
            counted=counted(pairs),
            ticks=ticks(axis),
            neutral=axis.at(0.0),
            rows=[
                PairRow(
                    each.group,
                    each.other,
                    mark(*_in_points(each), axis, faint=each.status is not Status.OK),
                    numbers.points(each.difference),
                    f"[{numbers.points(each.difference_interval.low)}, "
                    f"{numbers.points(each.difference_interval.high)}]",
                    _beside(each),
                    numbers.number(each.ratio),
                    numbers.interval(*(each.ratio_interval or (None, None))),
                    each.significant,
                )
                for each in shown[rate]
            ],
            more=len(pairs) - len(shown[rate]),
        )
        for rate, pairs in by_rate(section).items()
    ]


def _in_points(pair: GroupPair) -> tuple[float, float, float]:
    low, high = pair.difference_interval
    return 100 * pair.difference, 100 * low, 100 * high


def _beside(pair: GroupPair) -> str:
    found = [numbers.probability(pair.p_adjusted)]
    if pair.status is not Status.OK:
        found.append(str(pair.status).replace("_", " "))
    return ", ".join(found)
