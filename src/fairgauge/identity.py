"""Identity: what features and groups are, as values; and their names, unique within one result.

Names are for people. Two different groups may read the same: "A & B" and "C" crossed with "A" and
"B & C", or the values "A, B" beside the set of "A" and "B". Nothing that decides a number compares
names: it compares the values here, which hold what a group is made of. Names are then made once for
all groups of a result, and only those that would collide are written with quotation marks.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from enum import IntEnum
from itertools import pairwise
from typing import Any, Protocol, TypeAlias

from fairgauge.enums import Closed, GroupKind
from fairgauge.start.records import dataclass
from fairgauge.values import MISSING_NAME, Json, Value, canonical, name_of

_CROSSED, _LISTED, _OF_COLUMNS = " & ", ", ", "*"
_SEPARATORS = frozenset('&,*"')
# words that a result writes beside the groups of every feature
_WORDS = (str(GroupKind.OTHERS), str(GroupKind.OVERALL))


class Quotes(IntEnum):
    """Which parts of a name stand in quotation marks."""

    NONE = 0
    WHERE_UNCLEAR = 1
    ALL = 2


def _quote_name(part: str, quotes: Quotes) -> str:
    # the text of one value or column in a name; with all quotes, names are unambiguous
    if quotes is Quotes.NONE:
        return part
    unclear = not _SEPARATORS.isdisjoint(part) or part in (*_WORDS, MISSING_NAME)
    if quotes is Quotes.WHERE_UNCLEAR and not unclear:
        return part
    escaped = part.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@dataclass(frozen=True, slots=True)
class FeatureId:
    """A sensitive feature: its column, or the columns that are crossed."""

    columns: tuple[str, ...]

    def name(self, quotes: Quotes = Quotes.NONE) -> str:
        """Return its name, which may be that of another feature too."""
        return _OF_COLUMNS.join([_quote_name(column, quotes) for column in self.columns])


@dataclass(frozen=True, slots=True, eq=False)
class ValueSet:
    """One value of a column, or several that are taken together.

    Sets of the same values in another order are equal. Values are compared by their texts: no
    column has two values of one text (they are refused while counting), Python takes ``True`` for
    1, and the same column may be read as 1 from one file and as "1" from another.
    """

    values: tuple[Value, ...]

    @property
    def texts(self) -> frozenset[str]:
        """Return the texts of the values, which identify them within their column."""
        return frozenset(map(name_of, self.values))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ValueSet) and self.texts == other.texts

    def __hash__(self) -> int:
        return hash(self.texts)

    def name(self, quotes: Quotes = Quotes.NONE) -> str:
        return _LISTED.join([_quote_name(name_of(value), quotes) for value in self.values])


@dataclass(frozen=True, slots=True)
class Bin:
    """The numbers of a column between two cuts; the ends are infinite outside the cuts."""

    low: float
    high: float
    closed: Closed = Closed.RIGHT

    def name(self, quotes: Quotes = Quotes.NONE) -> str:  # noqa: ARG002 - a column of bins has no texts
        """Return the interval with the edges that belong to it.

        The end at infinity is open where the cuts belong to the bins below them.
        """
        ends = self.low, self.high
        # numbers that were computed have digits of no meaning: 0.1 + 0.2 = 0.30000000000000004
        short = tuple(x if x.is_integer() else float(f"{x:.12g}") for x in map(float, ends))
        low, high = (
            str(end) if math.isinf(end) else name_of(canonical(end))
            for end in (short if short[0] < short[1] else ends)
        )
        if self.closed is Closed.LEFT:
            return f"[{low}, {high})"
        return f"({low}, {high})" if self.high == math.inf else f"({low}, {high}]"


@dataclass(frozen=True, slots=True)
class MissingValue:
    """The rows without a value of a column, where they are a group."""

    def name(self, quotes: Quotes = Quotes.NONE) -> str:  # noqa: ARG002 - our own word has no quotes
        return MISSING_NAME


def bins(cuts: Sequence[float], closed: Closed = Closed.RIGHT) -> tuple[Bin, ...]:
    """Return the bins that cut points make."""
    return tuple(Bin(low, high, closed) for low, high in pairwise((-math.inf, *cuts, math.inf)))


Part: TypeAlias = ValueSet | Bin | MissingValue
"""What a group is in one column of its feature."""
_KINDS = {ValueSet: GroupKind.VALUES, Bin: GroupKind.INTERVAL, MissingValue: GroupKind.MISSING}


@dataclass(frozen=True, slots=True)
class GroupId:
    """A group of rows."""

    kind: GroupKind  # of what it is made
    parts: tuple[Part, ...] = ()  # what it is in each column; none where no value defines it

    @classmethod
    def of(cls, *parts: Part) -> GroupId:
        """Return the group that is something in each column of its feature."""
        return cls(GroupKind.INTERSECTION if len(parts) > 1 else _KINDS[type(parts[0])], parts)

    def name(self, quotes: Quotes = Quotes.NONE) -> str:
        """Return its name, which may be that of another group too."""
        if not self.parts:
            return str(self.kind)
        return _CROSSED.join([part.name(quotes) for part in self.parts])

    def has_values(self, asked: object) -> bool:
        """Return whether it is the group of a value, or of the values of several columns.

        A list is the values of its columns, or the set of values of its single column.

        >>> group = GroupId.of(ValueSet((1,)), ValueSet(("A", "B")))
        >>> group.has_values([1, ["B", "A"]]), group.has_values("1 & A, B"), group.has_values(1)
        (True, True, False)
        """
        if isinstance(asked, str) and self.name() == asked:
            return True
        values = asked if len(self.parts) > 1 else (asked,)
        if not isinstance(values, (list, tuple)) or len(values) != len(self.parts):
            return False
        return all(
            part == ValueSet(tuple(map(canonical, each))) if isinstance(each, (list, tuple))
            else isinstance(part, MissingValue) if canonical(each) is None
            else part.name() == name_of(canonical(each))
            for part, each in zip(self.parts, values, strict=True)
        )  # fmt: skip

    def to_plain(self) -> list[Json] | None:
        """Return what it is in each column of its feature: values, an interval, null if missing.

        None of a group that no value defines.
        """
        return [_plain_part(part) for part in self.parts] if self.parts else None

    @classmethod
    def read(cls, kind: str, parts: Sequence[object] | None) -> GroupId:
        return cls.of(*map(_read_part, parts)) if parts else cls(GroupKind(kind))


def name_of_values(values: Value | Sequence[Value]) -> str:
    """Return the name of the group of a value, or of the values of several columns."""
    if isinstance(values, (list, tuple)):
        return _CROSSED.join(map(name_of, values))
    return name_of(canonical(values))


OTHERS = GroupId(GroupKind.OTHERS)
OVERALL = GroupId(GroupKind.OVERALL)
EVERYONE = GroupId(GroupKind.EVERYONE)


def _plain_part(part: Part) -> Json:
    if isinstance(part, ValueSet):
        return list(part.values)
    if isinstance(part, MissingValue):
        return None
    # an infinite end is a text, as strict JSON has it
    low, high = (e if math.isfinite(e) else canonical(e) for e in (part.low, part.high))
    return {"low": low, "high": high, "closed": str(part.closed)}


def _read_part(written: Any) -> Part:
    if written is None:
        return MissingValue()
    if isinstance(written, list):
        return ValueSet(tuple(written))
    return Bin(float(written["low"]), float(written["high"]), Closed(written["closed"]))


class _Named(Protocol):
    def name(self, quotes: Quotes = ...) -> str: ...


def group_names(groups: Sequence[GroupId]) -> tuple[str, ...]:
    """Return the names of all groups of a feature, none equal, and none a word of every result."""
    return unique_names(groups, [word for word in _WORDS if GroupId(GroupKind(word)) not in groups])


def unique_names(ids: Sequence[_Named], taken: Collection[str] = ()) -> tuple[str, ...]:
    """Return the names of features or groups, no two of them equal, and none of them ``taken``."""
    # names all of whose parts are quoted can be read back, so that the last step leaves no two
    # alike
    quotes = [Quotes.NONE] * len(ids)
    while True:
        names = [each.name(how) for each, how in zip(ids, quotes, strict=True)]
        uses = Counter([*names, *taken])
        colliding = [
            i for i, name in enumerate(names) if uses[name] > 1 and quotes[i] is not Quotes.ALL
        ]
        if not colliding:
            return tuple(names)
        for i in colliding:
            quotes[i] = Quotes(quotes[i] + 1)


def texts_of(name: str, of: FeatureId | GroupId | None) -> tuple[str, ...]:
    """Return what a user may write for a feature or a group: its name, or that without quotes.

    Without quotes it may be another's too: a rule on such a name is on both, so that it never
    passes because one of them was meant.
    """
    return tuple(dict.fromkeys((name, name if of is None else of.name())))


def is_named(texts: Collection[str], name: str | None, of: FeatureId | GroupId | None) -> bool:
    """Return whether a feature or a group is among those that a user wrote."""
    return name is not None and any(text in texts for text in texts_of(name, of))


def position_of_value(value: Value, groups: Sequence[GroupId], names: Sequence[str]) -> int | None:
    """Return the group that a value of a column means: that of the value, or that of its name.

    A set of values and an interval have no other way to be named where one value is expected.
    """
    alone = GroupId.of(ValueSet((value,)))
    if alone in groups:
        return groups.index(alone)
    return next(iter(positions_named(name_of(value), groups, names)), None)


def positions_named(text: str, groups: Sequence[GroupId], names: Sequence[str]) -> list[int]:
    """Return the groups that a user means by a text: that of this name, or all that read so.

    ``text``: what the user wrote.
    ``groups, names``: the groups of a feature, and their names in the result.

    >>> groups = [GroupId.of(ValueSet(("A, B",))), GroupId.of(ValueSet(("A", "B")))]
    >>> [positions_named(text, groups, group_names(groups)) for text in ('A, B', '"A, B"', 'A')]
    [[1], [0], []]
    """
    if text in names:
        return [names.index(text)]
    return [i for i, group in enumerate(groups) if group.parts and group.name() == text]
