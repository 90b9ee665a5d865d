"""Conditions: which rows are counted, by named values or intervals of columns."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from fairgauge.enums import Closed
from fairgauge.errors import Problem, quote, shown
from fairgauge.identity import Bin, GroupId, MissingValue, Part, ValueSet
from fairgauge.question.readers import items, read_value
from fairgauge.values import MISSING_NAME, Value, canonical, matches, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairgauge.question.readers import Problems
    from fairgauge.values import Json

_NUMBER = r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_INTERVAL = re.compile(
    rf"(?:(?P<low>{_NUMBER})\s*(?P<above><=?)\s*)?(?P<column>[^=<>]*[^=<>\s])"
    rf"(?:\s*(?P<below><=?|>=?)\s*(?P<end>{_NUMBER}))?"
)
_QUOTED_OR_PLAIN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|.*?)\s*(?:\bor\b\s*|$)')
_EXPECTED = (
    "a condition is COLUMN = VALUE, COLUMN = VALUE or VALUE, or an interval such as "
    "30 < COLUMN <= 60"
)


@dataclass(frozen=True, slots=True)
class RowCondition:
    """Rows that have one of some values in a column.

    Attributes
    ----------
    column : the column.
    parts : the values, intervals between two numbers, or missing values; of a row one must hold.
    """

    column: str
    parts: tuple[Part, ...]

    @property
    def cuts(self) -> tuple[float, ...]:
        """Return the ends of the intervals, at which the column is cut; none of plain values."""
        ends = (
            end for part in self.parts if isinstance(part, Bin) for end in (part.low, part.high)
        )
        return tuple(sorted({end for end in ends if math.isfinite(end)}))

    @property
    def closed(self) -> Closed:
        """Return the edge that belongs to the intervals."""
        bins = [part.closed for part in self.parts if isinstance(part, Bin)]
        return bins[0] if bins else Closed.RIGHT

    @property
    def values(self) -> tuple[Value, ...]:
        """Return the plain values; None is a missing one."""
        return tuple(
            value
            for part in self.parts
            if not isinstance(part, Bin)
            for value in (part.values if isinstance(part, ValueSet) else (None,))
        )

    def holds(self, value: Value) -> bool:
        """Return whether a row with a value in the column is among them.

        >>> RowCondition("age", (Bin(30.0, math.inf), MissingValue())).holds(31)
        True
        """
        if value is None:
            return None in self.values
        return any(matches(asked, value) for asked in self.values if asked is not None) or any(
            _is_inside(value, part) for part in self.parts if isinstance(part, Bin)
        )

    def to_text(self) -> str:
        """Return the condition as its flag has it.

        >>> print(RowCondition("age", (Bin(30.0, 60.0),)).to_text())
        30 < age <= 60
        >>> print(RowCondition("race", (ValueSet(("A or B", 1)), MissingValue())).to_text())
        race = "A or B" or 1 or (missing)
        """
        if self.cuts:
            return " or ".join(_interval_text(self.column, part) for part in self.parts)
        return f"{self.column} = {' or '.join(map(_value_text, self.values))}"


Conditions: TypeAlias = tuple[RowCondition, ...]


def _is_inside(value: Value, interval: Bin) -> bool:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    if interval.closed is Closed.LEFT:
        return interval.low <= number < interval.high
    return interval.low < number <= interval.high


def _interval_text(column: str, part: Part) -> str:
    if not isinstance(part, Bin):
        return f"{column} = {MISSING_NAME}"
    above, below = ("<=", "<") if part.closed is Closed.LEFT else ("<", "<=")
    if math.isinf(part.high):
        return f"{column} {'>=' if above == '<=' else '>'} {name_of(canonical(part.low))}"
    low = f"{name_of(canonical(part.low))} {above} " if math.isfinite(part.low) else ""
    return f"{low}{column} {below} {name_of(canonical(part.high))}"


def _value_text(value: Value) -> str:
    if value is None:
        return MISSING_NAME
    text = name_of(value)
    plain = text == text.strip() and not re.search(r"\bor\b", text) and text != MISSING_NAME
    return text if plain and text and not text.startswith('"') else json.dumps(text)


def plain_conditions(conditions: Conditions) -> Json:
    """Return conditions as a specification file has them."""
    found: dict[str, Json] = {}
    for condition in conditions:
        values: list[Json] = []
        for part in condition.parts:
            values += (
                part.values if isinstance(part, ValueSet) else GroupId.of(part).to_plain() or []
            )
        found[condition.column] = values
    return found


def write_conditions(conditions: Mapping[str, Sequence[Json]]) -> list[str]:
    """Write every condition of a specification file as a text."""
    return [each.to_text() for each in read_conditions(conditions, "where", [])]


def read_conditions(value: object, path: str, problems: Problems) -> Conditions:
    """Read a table of columns and values, or texts; conditions on one column join their values."""
    parts: dict[str, tuple[Part, ...]] = {}
    tables = [value] if isinstance(value, Mapping) else items(value)
    for i, table in enumerate(tables):
        if isinstance(table, Mapping):
            read = [
                (str(c), _parts(values, f"{path}.{c}", problems)) for c, values in table.items()
            ]
        elif isinstance(table, str):
            read = [*_read_text(table, f"{path}[{i}]", problems)]
        else:
            problems.append(Problem(path, f"{_EXPECTED}, not {shown(table)}"))
            continue
        for column, of_column in read:
            if column in parts:
                problems.append(
                    Problem(f"{path}.{column}", "is given twice; join its values with or")
                )
            parts[column] = of_column
    conditions = tuple(RowCondition(column, each) for column, each in parts.items())
    problems += _mixed(conditions, path)
    return conditions


def _mixed(conditions: Conditions, path: str) -> Iterator[Problem]:
    """Yield the conditions that have both intervals and values, or edges of two kinds."""
    for each in conditions:
        closed = {part.closed for part in each.parts if isinstance(part, Bin)}
        if (closed and any(value is not None for value in each.values)) or len(closed) > 1:
            message = "takes either values or intervals that are closed on the same side"
            yield Problem(f"{path}.{each.column}", message)


def _parts(values: object, path: str, problems: Problems) -> tuple[Part, ...]:
    """Read the values of a column: None is a missing one, a table an interval."""
    listed = [values] if values is None or isinstance(values, Mapping) else items(values)
    plain = [each for each in listed if each is not None and not isinstance(each, Mapping)]
    parts: list[Part] = []
    if plain:
        parts.append(ValueSet(tuple(read_value(each, path, problems) for each in plain)))
    for value in listed:
        if isinstance(value, Mapping) and set(value) == _KEYS:
            parts += GroupId.read("interval", [value]).parts
        elif isinstance(value, Mapping):
            problems.append(Problem(path, f"an interval has low, high and closed: {shown(value)}"))
    if None in listed:
        parts.append(MissingValue())
    if not parts:
        problems.append(Problem(path, "must hold at least one value"))
    return tuple(parts)


_KEYS = {"low", "high", "closed"}


def _read_text(text: str, path: str, problems: Problems) -> Iterator[tuple[str, tuple[Part, ...]]]:
    """Read ``COLUMN = VALUE or VALUE``, or an interval."""
    interval = _INTERVAL.fullmatch(text.strip())
    if interval and (interval["above"] or interval["below"]):
        column, part = _read_interval(interval)
        if part is not None:
            yield column, (part,)
            return
    column, sign, rest = text.partition("=")
    if not sign or not column.strip() or not rest.strip():
        problems.append(Problem(path, f"{_EXPECTED}, not {quote(text)}"))
        return
    values: list[Value] = []
    at = 0
    rest = rest.strip()
    while at < len(rest):
        found = _QUOTED_OR_PLAIN.match(rest, at)
        assert found is not None  # the pattern matches every text
        word, at = found[1], found.end()
        values.append(_unquoted(word) if word != MISSING_NAME else None)
    yield column.strip(), _parts(values, path, problems)


def _unquoted(word: str) -> str:
    """Return a value without the quotation marks that it stands in."""
    try:
        value = json.loads(word) if word.startswith('"') else word
    except ValueError:
        return word
    return value if isinstance(value, str) else word


def _read_interval(found: re.Match[str]) -> tuple[str, Bin | None]:
    """Return the column and the interval; None where its edges do not make one of ours."""
    low = float(found["low"]) if found["above"] else -math.inf
    high = float(found["end"]) if found["below"] else math.inf
    above, below = found["above"] or "", found["below"] or ""
    if below.startswith(">"):  # COLUMN > 30
        if above:
            return found["column"], None
        low, high, above, below = high, math.inf, "<=" if below == ">=" else "<", ""
    closed = {"<": Closed.RIGHT, "<=": Closed.LEFT}.get(above)
    of_high = {"<": Closed.LEFT, "<=": Closed.RIGHT}.get(below)
    if closed is not None and of_high is not None and closed is not of_high:
        return found["column"], None
    return found["column"].strip(), Bin(low, high, closed or of_high or Closed.RIGHT)
