"""Periods from hours to years, each named by the caller and never by a clock."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from fairgauge.errors import DataError, Problem, SpecError, quote

_HOUR = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d)(?::00(?::00)?)?(Z|[+-]\d\d:?\d\d)?")
_SHAPES = (
    "2026-11-20 (a day), 2026-W47 (a week), 2026-11 (a month), 2026-Q4 (a quarter), 2026 (a year) "
    "or 2026-11-20T14Z (an hour)"
)


class Length(StrEnum):
    """How long a period is."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"


MONTHS = {Length.MONTH: 1, Length.QUARTER: 3, Length.YEAR: 12}
"""How many months a period has, of those that have whole ones."""
LAGS = {
    Length.HOUR: tuple(168 * k for k in (1, 2, 3, 4)),
    Length.DAY: (7, 14, 21, 28),
    Length.WEEK: (1, 2, 3, 4),
    **dict.fromkeys(MONTHS, (1, 2, 3, 4)),
}
"""The same weekdays before a period: by how many periods they are earlier."""
SATURDAY = 5
_MONDAY = dt.date(1970, 1, 5).toordinal()
"""The day from which days are numbered, so that weeks begin on Mondays."""
_MOST_ABSENT = 100_000
"""Eleven years of hours."""
_MISDATED = 300
_FEWEST = 3
"""Days and periods of a gap that may be due to a misspelt date, and periods before it."""
_TO_THURSDAY = dt.timedelta(days=3)
_QUARTER = re.compile(r"(\d{4})-?Q([1-4])")
_CALENDAR = (
    (r"\d{4}-W\d\d", "-1", Length.WEEK),
    (r"\d{4}-\d\d", "-01", Length.MONTH),
    (r"\d{4}-\d\d-\d\d", "", Length.DAY),
    (r"\d{4}", "-01-01", Length.YEAR),
)
"""How a period is written, what makes it its first day, and how long it is."""


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """A period of a history; periods sort by time.

    Attributes
    ----------
    start : the first moment, in UTC.
    length : how long it is.
    """

    start: dt.datetime
    length: Length

    def __str__(self) -> str:
        """Return the name, which is that of its folder: ``2026-11-20``, ``2026-11-20T14Z``."""
        if self.length is Length.HOUR:
            return f"{self.start:%Y-%m-%dT%H}Z"
        if self.length is Length.WEEK:
            year, week, _ = self.start.isocalendar()
            return f"{year:04d}-W{week:02d}"
        if self.length is Length.QUARTER:
            return f"{self.start.year:04d}-Q{self.start.month // 3 + 1}"
        written = {Length.YEAR: "%Y", Length.MONTH: "%Y-%m"}.get(self.length, "%Y-%m-%d")
        return self.start.strftime(written)

    def following(self) -> Period:
        """Return the next period of the same length."""
        if self.length in MONTHS:
            month = self.start.year * 12 + self.start.month - 1 + MONTHS[self.length]
            return Period(self.start.replace(year=month // 12, month=month % 12 + 1), self.length)
        steps = {Length.HOUR: dt.timedelta(hours=1), Length.DAY: dt.timedelta(days=1)}
        return Period(self.start + steps.get(self.length, dt.timedelta(weeks=1)), self.length)


def parse_period(text: object) -> Period:
    """Read the name of a period.

    Hours are those of UTC; a stated offset is converted, and an hour without ``Z`` or an offset is
    refused, because the time zone of the machine must not decide.

    Raises
    ------
    SpecError
        The text names no period.

    Examples
    --------
    >>> str(parse_period("2026-11-20")), str(parse_period("2026-11-20T14+02:00"))
    ('2026-11-20', '2026-11-20T12Z')
    >>> str(parse_period("2026-W47").following())
    '2026-W48'
    >>> str(parse_period("2026Q4").following()), str(parse_period("2026").following())
    ('2027-Q1', '2027')
    """
    name = text.isoformat() if type(text) is dt.date else str(text)
    wrong = Problem("period", f"{quote(name)} is no period; write {_SHAPES}")
    try:
        hour = _HOUR.fullmatch(name)
        if hour:
            return _hour(hour, name)
        if quarter := _QUARTER.fullmatch(name):
            first = dt.datetime(int(quarter[1]), 3 * int(quarter[2]) - 2, 1, tzinfo=dt.UTC)
            return Period(first, Length.QUARTER)
        for pattern, rest, length in _CALENDAR:
            if re.fullmatch(pattern, name):
                start = dt.datetime.fromisoformat(name + rest)
                return Period(start.replace(tzinfo=dt.UTC), length)
    except SpecError:
        raise
    except ValueError:
        raise SpecError(wrong) from None
    raise SpecError(wrong)


def _hour(found: re.Match[str], name: str) -> Period:
    date, hour, offset = found.groups()
    if offset is None:
        message = f"{quote(name)} has no time zone; write {date}T{hour}Z for UTC, or an offset"
        raise SpecError(Problem("period", message))
    moment = dt.datetime.fromisoformat(f"{date}T{hour}:00:00{offset}").astimezone(dt.UTC)
    if moment.minute:
        message = f"{quote(name)} is no whole hour of UTC"
        raise SpecError(Problem("period", message))
    return Period(moment, Length.HOUR)


def last_within(period: Period, length: Length) -> Period:
    """Return the last period of a length within one that is as long or longer.

    A week is within the month, quarter or year that its Thursday is in.

    Raises
    ------
    SpecError
        The period is shorter.

    Examples
    --------
    >>> str(last_within(parse_period("2026-09"), Length.DAY))
    '2026-09-30'
    >>> str(last_within(parse_period("2026"), Length.WEEK))
    '2026-W53'
    """
    if length is period.length:
        return period
    lengths = [*Length]
    if lengths.index(length) > lengths.index(period.length):
        message = (
            f"{period} is shorter than the periods of the history, each a {length}; name a "
            f"{length}, or a longer period"
        )
        raise SpecError(Problem("at", message))
    end = period.following().start
    last = end - dt.timedelta(days=1)
    if length in MONTHS:
        months = MONTHS[length]
        first = (last.month - 1) // months * months + 1
        return Period(last.replace(month=first, day=1), length)
    if length is Length.WEEK:
        within = last - _TO_THURSDAY
        return Period(within - dt.timedelta(days=within.weekday()), length)
    return Period(end - dt.timedelta(hours=1) if length is Length.HOUR else last, length)


def is_one_hour_a_day(periods: Iterable[Period]) -> bool:
    """Return whether periods are hours, of which no day has two: as of midnights of a time zone."""
    found = [*periods]
    days = {each.start.date() for each in found if each.length is Length.HOUR}
    return len(days) == len(found)


def gaps(periods: Sequence[Period]) -> list[Period]:
    """Return the periods between the first and the last that are absent.

    Raises
    ------
    DataError
        More are absent than any feed leaves out: a year that is misspelt.
    """
    absent: list[Period] = []
    for one, other in pairwise(periods):
        lacking = ordinal(other) - ordinal(one) - 1
        if lacking > _MOST_ABSENT:
            raise DataError(
                f"between the periods {one} and {other}, {lacking:,} have no counts, and at most "
                f"{_MOST_ABSENT:,} may be absent in a row; if one of the two is misspelt, name it "
                "as it is, and remove its folder from the history if it was added"
            )
        step = one
        for _ in range(lacking):
            step = step.following()
            absent.append(step)
    return absent


def misdated(periods: Sequence[Period]) -> Period | None:
    """Return the last period where it alone follows a gap like that of a year that is misspelt.

    That has 300 days and more, and ten times the periods of any gap before it.
    """
    if len(periods) <= _FEWEST:
        return None
    *lacking, last = (ordinal(other) - ordinal(one) - 1 for one, other in pairwise(periods))
    far = (periods[-1].start - periods[-2].start).days >= _MISDATED
    unusual = max(10 * max(lacking), _FEWEST) < last <= _MOST_ABSENT
    return periods[-1] if far and unusual else None


def kind_of(period: Period) -> int:
    """Return which periods one is compared with: working days or weekends, of hours the same."""
    hour = period.start.hour if period.length is Length.HOUR else 0
    return 2 * hour + at_weekend(period)


def at_weekend(period: Period) -> bool:
    """Return whether a day or an hour is on a Saturday or Sunday."""
    days = period.length in (Length.HOUR, Length.DAY)
    return days and period.start.weekday() >= SATURDAY


def slot_of(period: Period) -> int:
    """Return the weekday of a day, and the hour of an hour."""
    if period.length is Length.DAY:
        return period.start.weekday()
    return period.start.hour if period.length is Length.HOUR else 0


def ordinal(period: Period) -> int:
    """Return the number of a period among all of its length."""
    start = period.start
    if period.length in MONTHS:
        return (start.year * 12 + start.month - 1) // MONTHS[period.length]
    days = start.toordinal() - _MONDAY
    if period.length is Length.HOUR:
        return 24 * days + start.hour
    return days // 7 if period.length is Length.WEEK else days
