"""Conditions: which rows are counted, by named values or ranges of numbers and dates of columns."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from typing import TypeAlias

from fairgauge.enums import Closed, Ends
from fairgauge.errors import Problem, SpecError, display, form_of, quote
from fairgauge.question.category_words import means_missing
from fairgauge.question.readers import Location, items, read_value
from fairgauge.start.records import dataclass
from fairgauge.values import MISSING_NAME, Json, Value, canonical, is_number, matches, name_of

End: TypeAlias = float | dt.date  # or a time; an infinite number where there is no end

_VALUES = r"(?s)(?P<column>[^=]*[^=!<>\s])\s*(?P<sign>!=|==?)(?P<values>.*)"
_SIGN = re.compile(r"[=<>]")
_COMPARISON = r"\s*(<=?|>=?)\s*"
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_MOMENT = r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d(:?\d\d)?)?)?)?"
_PERIOD = r"(\d{4})-(?:(0[1-9]|1[0-2])|Q([1-4])|H([12]))"
_ENDS_OF = {  # by whether the ends belong to a range
    (True, True): Ends.BOTH, (True, False): Ends.LEFT, (False, True): Ends.RIGHT,
    (False, False): Ends.NEITHER,
}  # fmt: skip
_QUOTED = r"""("(?:[^"\\]|\\.)*"|'[^']*')"""
_QUOTED_OR_PLAIN = rf"\s*({_QUOTED}|.*?)\s*(?:\bor\b\s*|$)"
_ENDS = "a number, a date such as 2026-01-31 or a time such as 2026-01-31T12:00"
_EXPECTED = (
    "a condition is COLUMN = VALUE, COLUMN = VALUE or VALUE, COLUMN != VALUE or VALUE (none of "
    "them), or a comparison such as COLUMN >= 30, 30 < COLUMN <= 60 or 2026-01-01 <= COLUMN < "
    f"2026-04-01, with {_ENDS}"
)
_INTERVAL = (
    "an interval has low, high and closed: two numbers, dates or times (-Infinity or Infinity "
    f"where there is none), and {', '.join(Ends)}"
)


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers, or the dates and times, between two ends.

    A date is the whole day: ``<= 2026-03-31`` holds for every time of this day. Times with a time
    zone are compared in UTC, in which an end that states no zone is taken to be. Of months
    (``2026-03``), quarters (``2026-Q1``) and halves of years in the data, the first day is.
    """

    low: End  # the ends
    high: End
    closed: Ends  # which ends belong to it

    @property
    def of_moments(self) -> bool:
        return any(isinstance(end, dt.date) for end in (self.low, self.high))

    @property
    def has_low(self) -> bool:
        return self.closed in (Ends.LEFT, Ends.BOTH)

    @property
    def has_high(self) -> bool:
        return self.closed in (Ends.RIGHT, Ends.BOTH)

    def cuts(self, closed: Closed) -> tuple[float, float]:
        """Return the ends as those of an interval of numbers that is closed on a side."""
        low, high = float(self.low), float(self.high)  # type: ignore[arg-type]
        if closed is Closed.RIGHT:  # then all ranges are
            return low, high
        after = [end if math.isinf(end) else math.nextafter(end, math.inf) for end in (low, high)]
        return low if self.has_low else after[0], after[1] if self.has_high else high

    def holds(self, value: Value) -> bool:
        """Return whether a value lies in it; a text that means a missing value does not."""
        if means_missing(value):
            return False
        found = self._moment(value) if self.of_moments else _number(value)
        low, high = _order(found, self.low), _order(found, self.high)
        above = low > 0 or (self.has_low and low == 0)
        return above and (high < 0 or (self.has_high and high == 0))

    def _moment(self, value: Value) -> dt.datetime:
        moment = _moment(value) or _first_day(value) if isinstance(value, str) else None
        form = f"has a value of the form {quote(form_of(name_of(value)))}, which"
        if moment is None:
            raise LookupError(
                f"{form} is no date and no time in the form 2026-01-31 or 2026-01-31T12:00; write "
                "all in it, in a copy of the data"
            )
        for end in (self.low, self.high):
            if isinstance(end, dt.datetime) and end.tzinfo and not moment.tzinfo:
                local = end.replace(tzinfo=None).isoformat()
                none = "has no time zone; compare it with a time that has none"
                raise LookupError(f"{form} {none}: {local}")
        return _to_utc(moment)

    def to_text(self, column: str) -> str:
        """Return the comparison of a column with it: ``30 < age <= 60``."""
        above, below = "<=" if self.has_low else "<", "<=" if self.has_high else "<"
        if _is_open(self.low):
            return f"{column} {below} {_end_text(self.high)}"
        if _is_open(self.high):
            return f"{column} {_TURNED[above]} {_end_text(self.low)}"
        return f"{_end_text(self.low)} {above} {column} {below} {_end_text(self.high)}"

    def to_plain(self) -> Json:
        low, high = (
            _end_text(end) if isinstance(end, dt.date) or math.isinf(end) else end
            for end in (self.low, self.high)
        )
        return {"low": low, "high": high, "closed": str(self.closed)}


def _is_open(end: End) -> bool:
    return isinstance(end, float) and math.isinf(end)


def _end_text(end: End) -> str:
    return end.isoformat() if isinstance(end, dt.date) else name_of(canonical(end))


def _moment(text: str) -> dt.datetime | None:
    with suppress(ValueError):
        return dt.datetime.fromisoformat(text) if re.fullmatch(_MOMENT, text) else None
    return None


def _first_day(text: str) -> dt.datetime | None:
    if not (found := re.fullmatch(_PERIOD, text)) or found[1] == "0000":
        return None
    month, quarter, half = (int(each or 0) for each in found.groups()[1:])
    return dt.datetime(int(found[1]), month or (3 * quarter or 6 * half - 3) - 2, 1)


def _to_utc(moment: dt.datetime) -> dt.datetime:
    try:
        return moment.astimezone(dt.UTC).replace(tzinfo=None) if moment.tzinfo else moment
    except OverflowError:  # the last hours of 9999, or the first of the year 1
        return moment.replace(tzinfo=None)


def _number(value: Value) -> float:
    with suppress(TypeError, ValueError):
        return float(value)  # type: ignore[arg-type]
    return math.nan


def _order(value: float | dt.date, end: End) -> int:
    if isinstance(value, dt.datetime):
        if not isinstance(end, dt.date):  # it is infinite
            return -1 if end > 0 else 1
        end, value = (_to_utc(end), value) if isinstance(end, dt.datetime) else (end, value.date())
    return (value > end) - (value < end)  # type: ignore[operator]


def _read_end(raw: object) -> End | None:
    value = canonical(raw)
    if isinstance(value, str) and (moment := _moment(value)):
        return moment.date() if len(value) == len("2026-01-31") else moment
    number = _number(value) if is_number(value) or isinstance(value, str) else math.nan
    return None if math.isnan(number) else number


@dataclass(frozen=True, slots=True)
class RowCondition:
    """Rows that have one of some values in a column, or none of them.

    A row must have one of the values, or lie in one of the ranges. Negated, none may hold: every
    row meets a condition or its negation, rows with a missing value too.
    """

    column: str
    values: tuple[Value, ...]  # None is a missing one
    ranges: tuple[Range, ...] = ()
    negated: bool = False

    @property
    def cuts(self) -> tuple[float, ...]:
        """Return where the column is cut into intervals of numbers; none of other conditions."""
        numbers = (each.cuts(self.closed) for each in self.ranges if not each.of_moments)
        return tuple(sorted({end for ends in numbers for end in ends if math.isfinite(end)}))

    @property
    def moments(self) -> tuple[dt.datetime, ...]:
        """Return the first times of what it distinguishes; none where it does more than that."""
        plain = any(value is not None for value in self.values)
        if plain or not self.ranges or not all(each.of_moments for each in self.ranges):
            return ()
        ends = [e for each in self.ranges for e in (each.low, each.high) if isinstance(e, dt.date)]
        if any(end.year in (dt.MINYEAR, dt.MAXYEAR) for end in ends):  # nothing is beyond
            return ()
        zoned = any(isinstance(end, dt.datetime) and end.tzinfo for end in ends)
        times: set[dt.datetime] = set()
        for end in ends:
            if isinstance(end, dt.datetime):
                first, length = _to_utc(end), dt.timedelta(microseconds=1)
            else:
                first, length = dt.datetime(end.year, end.month, end.day), dt.timedelta(days=1)
            times |= {first, first + length}
        return tuple(sorted(time.replace(tzinfo=dt.UTC if zoned else None) for time in times))

    @property
    def closed(self) -> Closed:
        """Return the edge that belongs to the intervals between the cuts."""
        right = self.ranges and all(each.closed is Ends.RIGHT for each in self.ranges)
        return Closed.RIGHT if right else Closed.LEFT

    def holds(self, value: Value) -> bool:
        if value is None:
            return self.negated != (None in self.values)
        if any(matches(asked, value) for asked in self.values if asked is not None):
            return not self.negated
        try:
            return self.negated != any(each.holds(value) for each in self.ranges)
        except LookupError as error:
            message = f"column {quote(self.column)} {error}"
            raise SpecError(Problem(f"where.{self.column}", message)) from None

    def keeps_missing(self, outcomes: Container[str | None]) -> bool:
        """Return whether rows without a value are counted: those without an outcome are.

        Nobody knows whether they meet a condition on it. They are rows without an outcome, which a
        pass allows for; excluded, nobody would hear of them. A condition may name them.
        """
        return self.holds(None) or (self.column in outcomes and None not in self.values)

    def to_text(self) -> str:
        if self.ranges:
            missing = [f"{self.column} = {MISSING_NAME}"] * (None in self.values)
            return " or ".join([*(each.to_text(self.column) for each in self.ranges), *missing])
        sign = "!=" if self.negated else "="
        return f"{self.column} {sign} {' or '.join(map(_value_text, self.values))}"


Conditions: TypeAlias = tuple[RowCondition, ...]


def _value_text(value: Value) -> str:
    if value is None:
        return MISSING_NAME
    text = name_of(value)
    plain = text == text.strip() != MISSING_NAME and not re.search(r"""^['"]|^$|\bor\b""", text)
    return text if plain else json.dumps(text)


def _unquoted(text: str) -> str:
    if not re.fullmatch(_QUOTED, text):
        return text
    with suppress(ValueError):
        return str(json.loads(text)) if text[0] == '"' else text[1:-1]
    return text


def plain_conditions(conditions: Conditions) -> Json:
    """Return conditions as a specification file has them."""
    found: dict[str, Json] = {}
    for each in conditions:
        known: list[Json] = [value for value in each.values if value is not None]
        values = [*known, *(of.to_plain() for of in each.ranges), *[None] * (None in each.values)]
        found[each.column] = {NOT: values} if each.negated else values
    return found


def write_conditions(conditions: Mapping[str, Json]) -> list[str]:
    """Write every condition of a specification file as a text."""
    return [each.to_text() for each in read_conditions(conditions, Location("where"))]


def read_conditions(value: object, at: Location) -> Conditions:
    """Read a table of columns and values, or texts; a column has one condition."""
    found: dict[str, RowCondition] = {}
    for i, table in enumerate(items(value)):
        if isinstance(table, Mapping):
            read = [_read_table(str(column), of, at[column]) for column, of in table.items()]
        elif isinstance(table, str):
            read = [*_read_text(table, at[i])]
        else:
            at.report(f"{_EXPECTED}, not {display(table)}")
            continue
        for condition in read:
            if condition.column in found:
                at[condition.column].report(
                    "is given twice; join its values with or, or give one range, such as 30 <= "
                    "COLUMN < 60; to exclude a code from a range, list it as unknown (recode)"
                )
            found[condition.column] = condition
    conditions = tuple(found.values())
    for each in conditions:
        ends = [end for part in each.ranges for end in (part.low, part.high) if not _is_open(end)]
        kinds = {isinstance(end, dt.date) for end in ends}
        values = each.ranges and any(value is not None for value in each.values)
        if values or len(kinds) > 1:
            at[each.column].report("takes either values, or ranges of numbers, or ranges of dates")
    return conditions


def _values_and_ranges(values: object, at: Location) -> tuple[tuple[Value, ...], tuple[Range, ...]]:
    if not (listed := items(values)):
        at.report("must hold at least one value")
    plain = [each for each in listed if not isinstance(each, Mapping)]
    known = [read_value(each, at) for each in plain if each is not None]
    ranges = [_read_range(each, at) for each in listed if isinstance(each, Mapping)]
    return (*known, *([None] * (len(known) < len(plain)))), tuple(ranges)


_KEYS = {"low", "high", "closed"}
NOT = "not"  # the key of the values of a specification file that no row may have


def _read_range(table: Mapping[str, object], at: Location) -> Range:
    low, high = (_read_end(table.get(key)) for key in ("low", "high"))
    closed = table.get("closed")
    if set(table) != _KEYS or low is None or high is None or closed not in list(Ends):
        at.report(f"{_INTERVAL}; not {display(table)}")
        return Range(-math.inf, math.inf, Ends.BOTH)
    return Range(low, high, Ends(str(closed)))


def _read_table(column: str, values: object, at: Location) -> RowCondition:
    if not (isinstance(values, Mapping) and set(values) == {NOT}):
        return RowCondition(column, *_values_and_ranges(values, at))
    excluded, ranges = _values_and_ranges(values[NOT], at)
    if ranges:
        at.report("takes values beside not; name the intervals that are left")
    return RowCondition(column, excluded, negated=True)


def _read_text(text: str, at: Location) -> Iterator[RowCondition]:
    # several conditions are joined by ``&``, as in the names of the subgroups of a search
    joined = re.split(r" & |\s+and\s+", text)
    if '"' not in text and len(joined) > 1 and all(map(_SIGN.search, joined)):
        for each in joined:
            yield from _read_text(each, at)
        return
    if compared := _split_comparison(text):
        yield compared
        return
    written = re.fullmatch(_VALUES, text.strip())
    rest = written["values"].strip() if written else ""
    if not written or not rest:
        at.report(f"{_EXPECTED}, not {quote(text)}")
        return
    values: list[Value] = []
    for found in re.finditer(_QUOTED_OR_PLAIN, rest):
        word = _unquoted(found[1])
        if found.start() < len(rest):  # the pattern matches the end, too
            values.append(word if word != MISSING_NAME or found[1] != word else None)
    read, _ = _values_and_ranges(values, at)
    yield RowCondition(_unquoted(written["column"].strip()), read, negated=written["sign"] == "!=")


def _split_comparison(text: str) -> RowCondition | None:
    # read the comparisons of one column; None where the text is something else
    either = re.split(r"\s+or\s+", text)
    read = [_comparison(each) for each in (either if all(map(_SIGN.search, either)) else [text])]
    found = [each for each in read if each]
    columns = {column for column, _ in found}
    if len(found) < len(read) or len(columns) > 1 or found[0][1] is None:
        return None
    ranges = tuple(each for _, each in found if each is not None)
    return RowCondition(columns.pop(), (None,) * (len(ranges) < len(found)), ranges)


def _comparison(text: str) -> tuple[str, Range | None] | None:
    column, equal, value = text.partition("=")
    if equal and value.strip() == MISSING_NAME:
        return _unquoted(column.strip()), None
    words = re.split(_COMPARISON, text.strip())
    match words:
        case [first, sign, column] if _read_end(column) is None:
            signs, ends = [_TURNED[sign]], [first]
        case [column, *signs_and_ends] if len(words) == 3:
            signs, ends = signs_and_ends[:1], signs_and_ends[1:]
        case [first, before, column, sign, last]:
            signs, ends = [_TURNED[before], sign], [first, last]
        case _:
            return None
    stated = {sign[0]: (_read_end(end), "=" in sign) for sign, end in zip(signs, ends, strict=True)}
    low, has_low = stated.get(">", (-math.inf, not stated.get("<", (None, False))[1]))
    high, has_high = stated.get("<", (math.inf, not has_low))
    if len(stated) < len(ends) or low is None or high is None or not column or "=" in column:
        return None
    return _unquoted(column), Range(low, high, _ENDS_OF[has_low, has_high])
