"""What results state, as data: who, compared with whom, in what, by how much, how certainly.

A result carries statements and tables. It holds no sentence; texts make them of both.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from fairgauge.results.codec import Finite, Key, Sparse
from fairgauge.results.scopes import Interval
from fairgauge.start.records import dataclass, field, replace

Harm = Literal["worse", "better"]
By = Literal["difference", "ratio"]
SideKind = Literal["group", "others", "everyone", "population", "rows"]
Op = Literal["=", "not", "from", "to", "above"]
EventKind = Literal["decision", "outcome"]


@dataclass(frozen=True, slots=True)
class Event(Sparse):
    """A decision or an outcome that rows have, or not: its column and value, and on which side."""

    kind: EventKind
    positive: bool
    column: str
    values: tuple[str, ...] = ()
    op: Op = "="
    decides: bool = False  # of an outcome: no other decision, so that words of one may name it
    named: bool = True  # whether words of the user may name it: not one class of several
    once: bool = False  # of people: in any of their rows if positive, otherwise in none

    @property
    def opposite(self) -> Event:
        """Return what all other rows have."""
        op: Op = "not" if self.op == "=" else "=" if self.op == "not" else self.op
        return replace(self, positive=not self.positive, op=op)


@dataclass(frozen=True, slots=True)
class Measure(Sparse):
    """What is counted, among whom; or the number that is compared."""

    kind: Literal["share", "fit", "misfit", "mean", "number", "rank", "other"]
    name: str
    event: Event | None = None
    among: Event | None = None
    column: str = ""
    beside: str = ""
    classes: bool = False  # of several classes: a decision is right or wrong, not positive
    class_: str | None = None
    average: str | None = None
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class Side(Sparse):
    """Whom a number is of, with the number: their share as it was counted, or their mean."""

    kind: SideKind
    feature: str | None = None
    values: tuple[tuple[str, str], ...] = ()
    rate: float | None = None
    hits: int | None = None
    n: int | None = None


@dataclass(frozen=True, slots=True)
class Range(Sparse):
    """A confidence interval of `who` less (or over) `than`."""

    low: float
    high: float
    level: float = 0.95
    joint: bool = False

    @classmethod
    def of(cls, interval: Interval | None, *, joint: bool = False) -> Range | None:
        """Return an interval as it is stated; None where there is none."""
        if interval is None:
            return None
        return cls(interval.low, interval.high, interval.level, joint)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement(Sparse):
    """One fact of a result.

    ``code, part``: the key of its texts, and the parts of a first page that state it.
    ``who, than, was``: whom it is of (the side that is worse off), with whom compared; both before.
    ``of, by``: what is compared, and whether as a difference or a ratio.
    ``shown``: whether a difference (or a change) is shown; None where none is claimed.
    ``harm``: how `who` fares; None where nobody stated which direction is the better one.
    ``adjusted_for``: the columns within which it is compared; empty of all rows.
    ``way``: the sign of `who` less `than`, where only the direction is known and not both numbers.
    ``facts``: what else its texts state: numbers, names and codes, never words.
    """

    code: str
    part: tuple[str, ...] = ()
    who: Side | None = None
    than: Side | None = None
    was: tuple[Side, Side] | None = None
    of: Measure | None = None
    by: By = "difference"
    value: float | None = None
    interval: Range | None = None
    shown: bool | None = None
    harm: Harm | None = None
    adjusted_for: tuple[str, ...] = ()
    way: Finite | None = None
    verdict: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    parts: Annotated[tuple[Statement, ...], Key("statements")] = ()
    sources: tuple[str, ...] = ()

    @property
    def lower(self) -> bool | None:
        """Return whether `who` has the lower number; None where both are equal or unknown."""
        if self.way is not None:
            return None if self.way == 0 else self.way < 0
        mine, theirs = (None if each is None else each.rate for each in (self.who, self.than))
        if mine is None or theirs is None or math.isclose(mine, theirs, abs_tol=1e-12):
            return None
        return mine < theirs


def fact(code: str, *sources: str, **facts: object) -> Statement:
    """Return a statement of facts that are no comparison, with where they stand in the result."""
    return Statement(code=code, sources=sources, facts=facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Numbers in rows: each cell is a value with its format, or a statement."""

    code: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A first page: what a result states first, and what is drawn."""

    kind: str
    statements: tuple[Statement, ...]
    grid: Table | None = None
    words: dict[str, Any] = field(default_factory=dict)
