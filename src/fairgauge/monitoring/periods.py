"""Periods from hours to years, each named by the caller and never by a clock."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from fairgauge.errors import DataError, Problem, SpecError, quote
from fairgauge.results.monitor_results import HistoryFinding, HistoryProblem
from fairgauge.start.records import replace

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
SATURDAY, _WEEK = 5, 7
_MONDAY = dt.date(1970, 1, 5).toordinal()
"""The day from which days are numbered, so that weeks begin on Mondays."""
_MOST_ABSENT = 10_000
"""More than a year of hours."""
_QUARTER = re.compile(r"(\d{4})-?Q([1-4])")
_CALENDAR = ((r"\d{4}-W\d\d", "-1", Length.WEEK), (r"\d{4}-\d\d", "-01", Length.MONTH),
    (r"\d{4}-\d\d-\d\d", "", Length.DAY), (r"\d{4}", "-01-01", Length.YEAR))  # fmt: skip
"""How a period is written, what makes it its first day, and how long it is."""


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """A period of a history, from a first moment in UTC; periods sort by time."""

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

    Raises ``SpecError``: the text names no period.

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
        if hour := _HOUR.fullmatch(name):
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
        raise SpecError(Problem("period", f"{quote(name)} is no whole hour of UTC"))
    return Period(moment, Length.HOUR)


def gaps(periods: Sequence[Period]) -> list[Period]:
    """Return the absent periods between the first and the last; far too many are refused."""
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
        while (step := step.following()) < other:
            absent.append(step)
    return absent


def absent_runs(periods: Sequence[Period], until: Period | None) -> list[HistoryFinding]:
    """Return the gaps; a weekday or hour that never occurs is none.

    ``until`` is the last period asked for. The value of a gap is the first of up to six periods
    before it that stand apart, as if misdated: three times as many are absent on both sides
    together, in a history with no more than a gap in seven periods; or the first of all, alone.
    """
    slots = {slot_of(period) for period in periods}
    weeks = {ordinal(period) // _WEEK for period in periods}
    new = len(periods) < 2 * _WEEK and len(weeks) < 3  # too few to know which days there are
    after = [*periods[-1:]]
    while until is not None and after and after[-1].start < until.following().start:
        after.append(after[-1].following())
    found: list[HistoryFinding] = []
    begin, before = 0, 0  # of the periods between two gaps, and what the first of these lacks
    for end, (one, other) in enumerate(pairwise([*periods, *after[2:][-1:]]), 1):
        lacking = [
            each for each in gaps([one, other])
            if slot_of(each) in slots
            or (new and each.length is Length.DAY and each.start.weekday() < SATURDAY)
        ]  # fmt: skip
        if n := len(lacking):
            inside = end < len(periods)
            apart = end == 1 or 3 * (end - begin) <= min(before + n, 3 * _WEEK - 3)
            found.append(HistoryFinding(
                problem=HistoryProblem.GAP, period=str(lacking[0]), last=str(lacking[-1]), rows=n,
                value=str(periods[begin]) if inside and apart else None,
                other=str(other) if inside else None))  # fmt: skip
            begin, before = end, n
    return found if _WEEK * len(found) <= len(periods) else [replace(e, value=None) for e in found]


def kind_of(period: Period) -> int:
    """Return which periods one is compared with: working days or weekends, of hours the same."""
    hourly = period.length is Length.HOUR
    weekend = (hourly or period.length is Length.DAY) and period.start.weekday() >= SATURDAY
    return 2 * period.start.hour * hourly + weekend


def slot_of(period: Period) -> int:
    """Return the weekday of a day, and the hour of an hour."""
    if period.length is Length.DAY:
        return period.start.weekday()
    return period.start.hour if period.length is Length.HOUR else 0


def weekday_of(period: Period) -> int:
    """Return what of a week a period is: its weekday, of an hour with the hour."""
    daily = period.length in (Length.HOUR, Length.DAY)
    return slot_of(period) + 24 * period.start.weekday() * daily


def ordinal(period: Period) -> int:
    """Return the number of a period among all of its length."""
    start = period.start
    if period.length in MONTHS:
        return (start.year * 12 + start.month - 1) // MONTHS[period.length]
    days = start.toordinal() - _MONDAY
    if period.length is Length.HOUR:
        return 24 * days + start.hour
    return days // 7 if period.length is Length.WEEK else days
