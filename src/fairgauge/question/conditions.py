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
_VALUES = re.compile(r"(?P<column>[^=]*[^=!\s])\s*(?P<sign>!=|==?)(?P<values>.*)", re.DOTALL)
_SIGN = re.compile(r"[=<>]")
_QUOTED_OR_PLAIN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|.*?)\s*(?:\bor\b\s*|$)')
_EXPECTED = (
    "a condition is COLUMN = VALUE, COLUMN = VALUE or VALUE, COLUMN != VALUE or VALUE (none of "
    "them), or an interval such as 30 < COLUMN <= 60"
)


@dataclass(frozen=True, slots=True)
class RowCondition:
    """Rows that have one of some values in a column, or none of them.

    Attributes
    ----------
    column : the column.
    parts : the values, intervals between two numbers, or missing values; of a row one must hold.
    negated : whether none may hold: every row meets a condition or its negation, rows with a
        missing value too.
    """

    column: str
    parts: tuple[Part, ...]
    negated: bool = False

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
        return self.negated != self._is_listed(value)

    def _is_listed(self, value: Value) -> bool:
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
        sign = "!=" if self.negated else "="
        return f"{self.column} {sign} {' or '.join(map(_value_text, self.values))}"


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
        found[condition.column] = {NOT: values} if condition.negated else values
    return found


def write_conditions(conditions: Mapping[str, Sequence[Json]]) -> list[str]:
    """Write every condition of a specification file as a text."""
    return [each.to_text() for each in read_conditions(conditions, "where", [])]


def read_conditions(value: object, path: str, problems: Problems) -> Conditions:
    """Read a table of columns and values, or texts; conditions on one column join their values."""
    found: dict[str, RowCondition] = {}
    tables = [value] if isinstance(value, Mapping) else items(value)
    for i, table in enumerate(tables):
        if isinstance(table, Mapping):
            read = [
                _read_table(str(column), values, f"{path}.{column}", problems)
                for column, values in table.items()
            ]
        elif isinstance(table, str):
            read = [*_read_text(table, f"{path}[{i}]", problems)]
        else:
            problems.append(Problem(path, f"{_EXPECTED}, not {shown(table)}"))
            continue
        for condition in read:
            where = f"{path}.{condition.column}"
            if condition.column in found:
                problems.append(Problem(where, "is given twice; join its values with or"))
            found[condition.column] = condition
    conditions = tuple(found.values())
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
NOT = "not"
"""The key of the values of a specification file that no row may have."""


def _read_table(column: str, values: object, path: str, problems: Problems) -> RowCondition:
    """Read the values of a column, or ``{not = values}``, which are no intervals."""
    if not (isinstance(values, Mapping) and set(values) == {NOT}):
        return RowCondition(column, _parts(values, path, problems))
    parts = _parts(values[NOT], path, problems)
    if any(isinstance(part, Bin) for part in parts):
        problems.append(Problem(path, "takes values beside not; name the intervals that are left"))
    return RowCondition(column, parts, negated=True)


def _read_text(text: str, path: str, problems: Problems) -> Iterator[RowCondition]:
    """Read ``COLUMN = VALUE or VALUE``, the same with ``!=``, or an interval.

    Several are joined by ``&``, as in the names of the subgroups of a search.
    """
    joined = text.split(" & ")
    if '"' not in text and len(joined) > 1 and all(map(_SIGN.search, joined)):
        for each in joined:
            yield from _read_text(each, path, problems)
        return
    interval = _INTERVAL.fullmatch(text.strip())
    if interval and (interval["above"] or interval["below"]):
        column, part = _read_interval(interval)
        if part is not None:
            yield RowCondition(column, (part,))
            return
    written = _VALUES.fullmatch(text.strip())
    rest = written["values"].strip() if written else ""
    if not written or not rest:
        problems.append(Problem(path, f"{_EXPECTED}, not {quote(text)}"))
        return
    values: list[Value] = []
    at = 0
    while at < len(rest):
        found = _QUOTED_OR_PLAIN.match(rest, at)
        assert found is not None  # the pattern matches every text
        word, at = found[1], found.end()
        values.append(_unquoted(word) if word != MISSING_NAME else None)
    parts = _parts(values, path, problems)
    yield RowCondition(written["column"].strip(), parts, negated=written["sign"] == "!=")


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
