"""Cube: the multi-way table of counts that everything is computed from. Cubes add up.

Counting rows in shards, in any order, and adding the cubes gives the cube of all rows: cubes of
one plan are a commutative monoid. A missing value is a level of its own (code -1), so what is
excluded, and why, can be read from the cube as well.

Cubes have a codec of their own: their tables are packed as columns of codes and sums, and their
digest is of these very values.
"""

from __future__ import annotations

import hashlib
import json
import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairgauge.cube.parts import RANGE, Part, check_parts, look_alike, read_parts, rounding_noise
from fairgauge.cube.plan import (
    GROUPED,
    REPLICATE,
    WEIGHTS,
    Axis,
    Plan,
    canonical_values,
    centre_moments,
    centre_of,
    check_levels,
    common_question,
    read_question,
    reading_order,
    sorted_levels,
)
from fairgauge.enums import Observation, Role, Task, Uncounted
from fairgauge.errors import (
    ChangedCountsError,
    CubeError,
    DataError,
    DuplicateCountsWarning,
    SpecError,
    quote,
)
from fairgauge.question.features import Feature
from fairgauge.question.specification import Spec
from fairgauge.start.records import dataclass, field, fields, replace
from fairgauge.stats.rounded_counts import range_of_rounded
from fairgauge.values import AmbiguousJsonError, Json, Saved, Value, name_of, read_json

Codes = NDArray[np.int64]
Sums = NDArray[np.float64]

SCHEMA = "fairgauge.cube/1"
_DIGITS = 12
# the largest power of ten that is exact as a double
_MOST = 22
_BITS, _UNIT = 16, math.pi
# from here on every sum is whole to `_DIGITS`
_WHOLE_DIGITS = 1e11
_NOTED = ("copies", "orders")
"""The fields with what rows showed, each a list of records of texts and numbers."""
_MANY = 100_000
"""Cells of a table from which on its numbers are hashed, not its text."""
_SEVERAL = 2
HANDFUL = 10
"""Rows up to which two shards may well hold the same counts by coincidence."""
# whole sums below are exact; above, engines differ in them too
_EXACT = 2.0**53


@dataclass(frozen=True, slots=True, eq=False)
class CountTable:
    """Counts of rows by some axes.

    ``axes``: the axes of the columns of ``codes``.
    ``codes``: array of shape (cells, len(axes)): positions in the levels, -1 where missing.
    ``sums``: for every measure of the plan, array of shape (cells,).
    """

    axes: tuple[Axis, ...]
    codes: Codes
    sums: Mapping[str, Sums]

    @property
    def cases(self) -> Sums:
        """Return the cases of every cell: what its rows stand for, those of weight 0 apart."""
        return self.sums.get("n", self.sums["rows"])

    def codes_of(self, axes: Sequence[Axis]) -> Codes:
        return self.codes[:, [self.axes.index(axis) for axis in axes]]

    def over(self, axes: Iterable[Axis]) -> CountTable:
        kept = tuple(filter(self.axes.__contains__, axes))
        return aggregate(kept, self.codes_of(kept), self.sums)

    def recoded(self, axis: Axis, place: Codes, to: Axis | None = None) -> CountTable:
        """Return the counts with other codes of an axis, or of the axis in its place.

        ``place`` states the new code of each; its last entry is that of missing values.
        """
        if axis not in self.axes:
            return self
        at, codes = self.axes.index(axis), self.codes.copy()
        codes[:, at] = place[codes[:, at]]
        axes = tuple((to or axis) if each == axis else each for each in self.axes)
        return aggregate(axes, codes, self.sums)

    def known(self, axes: Sequence[Axis]) -> CountTable:
        return self.where((self.codes_of(axes) >= 0).all(axis=1))

    def where(self, held: Any) -> CountTable:
        """Return some of the cells: those at which ``held`` is true."""
        return CountTable(self.axes, self.codes[held], {m: s[held] for m, s in self.sums.items()})


@dataclass(frozen=True, slots=True)
class Observed:
    """What rows showed of a column, or of one of its values, and how many rows and cases.

    ``code``: "unseen" of a value that was to be recoded and that no counted row has; "conflict" of
        people whose rows differ in a column (of the column of persons: of rows that have none, of
        that of their order: of people whose last decision is unknown); "placeholder" of an
        identifier that probably stands for unknown ones and counts as one person or cluster (an
        empty text: it may be someone's); "spellings" of identifiers that differ from another one in
        spelling alone, and count as others; "repeated" of a column by which ``cases`` rows are of
        ``rows`` people.
        Of conditions: "left_out" of rows that they exclude, by the value of each axis (a number in
        place of a value: of so many values together; of no column: all); "not met" of all that do
        not meet them; "undecided" of those that have no value of a condition's column and that no
        other excludes; "condition" of the rows by the value of a
        condition's column; "alike" of a value that is spelt nearly as one that is named, as a
        condition; "doubtful" of a value of a condition's column that may be a missing one or a
        total. "recoded" of a value that counts as another one; "unstated" of an outcome that is
        stated as neither positive nor negative.
    ``became``: what a value counts as: a category, or, of a condition, "counted" or "excluded".
    """

    code: Observation
    column: str = ""
    value: Value = None
    rows: int = 0
    cases: int = 0
    role: Role | None = None
    became: str | None = None


RawValues: TypeAlias = "tuple[Axis, Sequence[tuple[str | None, str | None]], CountTable]"
"""A recoded axis, the names of its values before and after, and counts by the former."""


def join_observed(parts: Sequence[Iterable[Observed]]) -> tuple[Observed, ...]:
    """Return what the rows of several parts of the data show together."""
    held: dict[Observed, list[Observed]] = {}
    for each in chain.from_iterable(parts):
        held.setdefault(replace(each, rows=0, cases=0), []).append(each)
    found = []
    for key, same in held.items():
        # of what each cube sees in its own rows, the most is known; people are in several
        of = max if key.code in (Observation.SPELLINGS, Observation.REPEATED) else sum
        unseen = key.code is Observation.UNSEEN and len(same) < len(parts)
        if not unseen and key.code is not Observation.CONFLICT:
            rows, cases = (of(n) for n in zip(*((e.rows, e.cases) for e in same), strict=True))
            found.append(replace(key, rows=rows, cases=cases))
    names = ("code", "column", "role", "value", "became")
    return tuple(sorted(found, key=lambda e: [str(getattr(e, name)) for name in names]))


def observe_recoded(raw: Iterable[RawValues], cases: str) -> Iterator[Observed]:
    """Yield what the values of recoded columns became, with their rows and ``cases``."""
    for axis, values, table in raw:
        counted = table.over([axis])
        for i, at in enumerate(counted.codes[:, 0].tolist()):
            rows, of = (int(counted.sums[m][i]) for m in ("rows", cases))
            value, became = values[at]
            if at >= 0 and value != became and rows:
                yield Observed(Observation.RECODED, axis.column, value, rows, of, axis.role, became)


def _first_bits(sums: Sums) -> Sums:
    # sums of a few decimals are often halves, which engines see a little above or below
    sums = _round_inexact(sums)
    if _are_whole(sums, _WHOLE_DIGITS):
        return sums
    mantissa, exponent = np.frexp(sums * _UNIT)
    kept: Sums = np.ldexp(np.rint(np.ldexp(mantissa, _BITS)), exponent - _BITS)
    return kept


def _plain_table(table: CountTable) -> Json:
    sums: dict[str, list[Json]] = {
        name: of.astype(np.int64).tolist() if _are_whole(of, _EXACT)
        else [int(each) if each == int(each) else float(each) for each in of.tolist()]
        for name, of in table.sums.items()
    }  # fmt: skip
    return {"codes": table.codes.T.tolist(), "sums": sums}


def _plain_bits(table: CountTable) -> Json:
    sums = {m: _first_bits(s) for m, s in sorted(table.sums.items())}
    if len(table.codes) <= _MANY:
        return _plain_table(replace(table, sums=sums))
    held = hashlib.sha256(table.codes.astype("<i8").tobytes())
    for measure, each in sums.items():
        held.update(measure.encode())
        held.update((each + 0.0).astype("<f8").tobytes())  # 0 has no sign
    return held.hexdigest()


@dataclass(frozen=True, eq=False)
class Cube:
    """Counts of rows; add cubes of the same plan with ``+``.

    Attributes
    ----------
    plan : what was counted.
    levels : the values of every axis, sorted; of features and strata as people read them.
    tables : the counts.
    rows : physical rows read, excluded ones with them.
    excluded : rows that could not be counted at all, by reason.
    question : the whole specification that they were counted for, None where only what decides the
        counts is known.
    min_cell : of protected counts, the smallest number of persons that may be known of a cell. All
        numbers are rounded to multiples of it, ``rows`` and ``excluded`` too, and the measures of
        ``RANGE`` hold what is known of what was rounded. None where the counts are exact; of
        several tables the largest.
    parts : the protected tables that were added up; of one alone what it states of itself.
    observed : what the rows showed that the tables do not.
    copies : what shows that rows are copies of others, by name; they count as all others.
    raw : while conditions choose from all rows, recoded values by those of the conditions.
    orders : columns whose type states the order of its values, each followed by all of these.
    clusters : how clusters are named: "numbered", by hashes under a key ("key:" and what identifies
        it), or, while they are counted and where there are none, by the values themselves ("").
    """

    plan: Plan
    levels: Mapping[Axis, tuple[Value, ...]]
    tables: tuple[CountTable, ...]
    rows: int
    excluded: Mapping[Uncounted, int] = field(default_factory=dict)
    question: Spec | None = None
    min_cell: int | None = None
    parts: tuple[Part, ...] = ()
    observed: tuple[Observed, ...] = ()
    clusters: str = ""
    copies: tuple[tuple[str, int | str], ...] = ()
    orders: tuple[tuple[Value, ...], ...] = ()
    raw: tuple[RawValues, ...] = ()

    @property
    def asked(self) -> Spec:
        """Return the whole question that the counts were made for, rules and metrics included."""
        return self.question or self.plan.asked

    def __add__(self, other: Cube) -> Cube:
        return self.add(other) if isinstance(other, Cube) else NotImplemented

    def add(self, other: Cube, *, allow_duplicates: bool = False) -> Cube:
        """Add the counts of two cubes of the same plan.

        Warns (``DuplicateCountsWarning``) where both hold the same counts of more than ten rows: if
        they are of the same rows, these count twice; ``allow_duplicates`` states that they are not.

        Raises ``CubeError``: the cubes count different things; the message names the difference.
        """
        check_parts(self.tables_added, other.tables_added)
        if not allow_duplicates and self.has_counts_of(other):
            warnings.warn(
                f"both cubes hold {self.alike_in_words}; if they are the same "
                "rows, these now count twice (one.add(other, allow_duplicates=True) adds them "
                "without this warning)",
                DuplicateCountsWarning,
                stacklevel=2,
            )
        if self.asked.of_people:
            raise CubeError(
                "counts of people do not add up: people who are in both would count twice; count "
                "all files together, or each decision (per_person='each', --per-person each)"
            )
        return add_with_shared_people(self, other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cube) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        cells = sum(len(table.codes) for table in self.tables)
        axes = ", ".join(f"{axis.role} {axis.column}" for axis in self.plan.axes)
        return f"<Cube of {self.rows:,} rows in {cells:,} cells: {axes}>"

    def with_tables(self, axes: Iterable[Axis], tables: Iterable[CountTable]) -> Cube:
        """Return a cube of the same rows with other tables, over these axes."""
        axes, tables = tuple(axes), tuple(tables)
        positions = tuple(tuple(axes.index(axis) for axis in table.axes) for table in tables)
        plan = replace(self.plan, axes=axes, tables=positions)
        levels = {axis: self.levels[axis] for axis in axes}
        return replace(self, plan=plan, levels=levels, tables=tables)

    def marginal(self, axes: Sequence[Axis]) -> CountTable:
        """Return the counts by ``axes`` alone, from the smallest table that has them all.

        Raises ``CubeError``: no table has these axes together.
        """
        if having := [table for table in self.tables if set(axes) <= set(table.axes)]:
            return min(having, key=lambda each: len(each.codes)).over(axes)
        wanted = " x ".join(f"{axis.role} {axis.column}" for axis in axes)
        raise CubeError(f"this cube does not hold {wanted}; count the data again with it")

    @cached_property
    def cases_by_level(self) -> dict[Axis, Sums]:
        """Return the cases of every level of every axis; the last are the missing ones."""
        cases, by_size = {}, sorted(self.tables, key=lambda each: -len(each.codes))
        smallest = {axis: table for table in by_size for axis in table.axes}
        for axis in self.plan.axes:
            table = smallest[axis].over([axis])
            cases[axis] = np.zeros(len(self.levels[axis]) + 1)
            cases[axis][table.codes[:, 0]] = table.sums[self.plan.cases]  # -1 is the last
        return cases

    def has_counts_of(self, other: Cube) -> bool:
        """Return whether another cube holds the same counts, of too many rows for a coincidence."""
        if self.min_cell is None or other.min_cell is None:
            return self.rows == other.rows and self.read > HANDFUL and self == other
        mine, theirs = self.tables[0], other.tables[0]
        single = len(self.parts) < _SEVERAL > len(other.parts) and self.min_cell == other.min_cell
        same = single and self.levels == other.levels and np.array_equal(mine.codes, theirs.codes)
        return same and look_alike(mine.cases, theirs.cases, self.min_cell)

    @property
    def alike_in_words(self) -> str:
        """Return what two cubes hold, one of which `has_counts_of` the other."""
        if self.min_cell is None:
            return f"the same counts of {self.read_in_words}"
        return "counts that differ no more than two roundings of the same ones"

    @property
    def tables_added(self) -> tuple[Part, ...]:
        """Return the protected tables that it is the sum of; none of exact counts."""
        if self.min_cell is None or len(self.parts) >= _SEVERAL:
            return self.parts
        own = self.parts[0] if self.parts else Part(table=self.digest)
        alone = tuple(sorted(self.listed))
        redrawn = bool((self.tables[0].sums["noise"] > self.min_cell**2 / 4).any())
        return (own._replace(min_cell=self.min_cell, alone=alone, redrawn=redrawn),)

    @property
    def listed(self) -> set[tuple[str, str]]:
        """Return the columns and values that the counts list, but for bands of the question."""
        of = {a: each for a, each in self.levels.items() if not (a.bins or a.cuts)}
        return {(axis.column, name_of(value)) for axis, each in of.items() for value in each}

    def seen(self, code: Observation, column: str | None = None) -> list[Observed]:
        return [e for e in self.observed if e.code is code and column in (None, e.column)]

    @property
    def conflicts(self) -> dict[str, int]:
        """Return by column of how many people the rows differ in it."""
        return {each.column: each.rows for each in self.seen(Observation.CONFLICT)}

    @property
    def without_condition(self) -> dict[str, int]:
        """Return by column how many cases have no value for the condition on it to be decided."""
        return {e.column: e.cases for e in self.seen(Observation.UNDECIDED) if e.cases}

    @property
    def cases(self) -> int:
        return int(self.tables[0].sums[self.plan.cases].sum())

    @property
    def read(self) -> int:
        """Return the rows that were read, or the cases or people that they stand for."""
        if not self.plan.asked.unit:
            return self.rows
        without_weight = self.excluded.get(Uncounted.NO_WEIGHT, 0) if self.plan.count else 0
        return self.cases + without_weight

    @property
    def read_in_words(self) -> str:
        return f"{self.read:,} {self.plan.asked.unit.get('unit', 'rows')}"

    @property
    def digest(self) -> str:
        """Return a fingerprint of the counts: the same for the same rows and values in any order.

        Sums that are not whole (of scores, weights, regressions) enter with 16 bits, five digits:
        the last digits depend on the order in which an engine adds, and on its logarithms.
        A table of very many cells enters by a hash of its numbers, whose text would take longer
        than counting.
        A file of counts has another digest, of every digit.
        """
        levels = {a: sorted_levels(each) for a, each in self.levels.items() if a.role in GROUPED}
        return _digest(_replace_levels(self, levels).plain_counts(_plain_bits))

    def to_dict(self) -> dict[str, Json]:
        noted: dict[str, Json] = {n: [list(each) for each in getattr(self, n)] for n in _NOTED}
        noted["observed"] = [[getattr(e, f.name) for f in fields(e)] for e in self.observed]
        asked: dict[str, Json] = {"schema": SCHEMA, "question": self.asked.to_dict()}
        return asked | {name: each for name, each in noted.items() if each} | self.plain_counts()

    def plain_counts(self, of_table: Callable[[CountTable], Json] | None = None) -> dict[str, Json]:
        """Return the cube as plain values, but for its whole question."""
        parts: list[Any] = [list(each) for each in self.parts]
        stated: dict[str, Json] = {
            "min_cell": self.min_cell, "clusters": self.clusters, "parts": parts,
        }  # fmt: skip
        levels: list[Any] = [self.levels[axis] for axis in self.plan.axes]
        if of_table and self.clusters == "numbered":  # what follows from the cells
            levels = [each if len(each) <= _MANY else each[-1:] for each in levels]
        return {
            "schema": SCHEMA,
            **{name: each for name, each in stated.items() if each},
            "plan": self.plan.to_dict(),
            "rows": self.rows,
            "excluded": {str(reason): n for reason, n in self.excluded.items()},
            "levels": [list(each) for each in levels],
            "tables": [*map(of_table or _plain_table, self._tables_of_file)],
        }

    @property
    def _tables_of_file(self) -> tuple[CountTable, ...]:
        # the range of a single table follows from its numbers, that of a sum does not
        if self.min_cell is None or len(self.parts) >= _SEVERAL:
            return self.tables
        kept = [m for m in self.tables[0].sums if m not in RANGE]
        return tuple(replace(each, sums={m: each.sums[m] for m in kept}) for each in self.tables)

    def to_json(self) -> str:
        """Return the text of a ``.cube.json`` file.

        Its ``fingerprint`` is that of the counts, which reports of them state; its ``digest`` is of
        the whole file, question included.

        Raises ``CubeError``: a file cannot hold the definition of metrics of a user's own.
        """
        if own := ", ".join(rate.name for rate in self.asked.catalogue.own):
            raise CubeError(
                f"a cube file cannot hold the definition of metrics of your own ({own}): count "
                "without them, and name them where the counts are audited"
            )
        found = self.to_dict() | {"fingerprint": self.digest}
        return json.dumps(found | {"digest": _digest(found)}, separators=(",", ":"))

    @classmethod
    def from_dict(cls, found: Saved) -> Cube:
        """Read the plain values of a ``.cube.json`` file: `to_dict` and the digest.

        Raises ``CubeError``: they are no counts, or were changed since they were written.
        """
        counts = {name: value for name, value in found.items() if name != "digest"}
        try:
            if found.get("digest") == _digest(counts):
                return _read_cube(counts)
        except SpecError as error:
            raise CubeError(f"the question of these counts cannot be read: {error}") from None
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError):
            raise CubeError("this is not a fairgauge cube file") from None
        raise ChangedCountsError(
            "these counts were changed or damaged: their digest does not fit them"
        )

    def save(self, path: str | Path) -> None:
        """Write a ``.cube.json`` file, whole or not at all."""
        from fairgauge.atomic_files import write_whole

        write_whole(path, self.to_json())


def counts_together(cube: Cube, *axes: Axis) -> bool:
    """Return whether a table of a cube has all of several axes."""
    return any(set(axes) <= set(table.axes) for table in cube.tables)


def levels_with_cases(cube: Cube, axis: Axis) -> list[tuple[Value, int]]:
    """Return the levels of an axis, each with its cases."""
    cases = cube.cases_by_level[axis][:-1].round().tolist()
    return list(zip(cube.levels[axis], map(int, cases), strict=True))


def add_with_shared_people(one: Cube, other: Cube) -> Cube:
    """Add the counts of two cubes, as `Cube.add` does: people who are in both count in each."""
    # sums are about the centre that is furthest from 0
    centre = max((centre_of(each.plan) for each in (one, other)), key=lambda c: (abs(c), c))
    one, other = (
        each if centre_of(each.plan) == centre else _recentre(each, centre) for each in (one, other)
    )
    if difference := one.plan.difference(other.plan):
        raise CubeError(f"the cubes count different things: {difference}")
    for recoded, plain in ((one, other), (other, one)):
        for axis in plain.plan.axes:
            recoding = recoded.asked.recoding(axis.column)
            known = recoding.category_of if recoding else {}
            for name in map(name_of, plain.levels[axis]):
                if (category := known.get(name, name)) != name:
                    raise CubeError(
                        f"the cubes count different things: one counts {quote(name)} of "
                        f"{quote(axis.column)} as {quote(category)}, the other as itself; count "
                        "both with the same recoding (recode, --recode)"
                    )
    if one.clusters != other.clusters or one.clusters == "numbered":
        raise CubeError(
            "the clusters of the two have no common names, so that one that is in both would "
            "be two: count all files together, or each with the same key in the environment "
            "(FAIRGAUGE_CLUSTER_KEY)"
        )
    mine, theirs = ({column: values for column, *values in each.orders} for each in (one, other))
    orders = {c: each for c, each in (mine | theirs).items() if mine.get(c, each) == each}
    levels = {axis: _joined_levels(axis, one, other, orders) for axis in one.plan.axes}
    # not rounded: the rounding of a hundred shards would add up to what shows in the digest
    tables = tuple(
        stack_tables([_recode(mine, one, levels), _recode(theirs, other, levels)]).over(mine.axes)
        for mine, theirs in zip(one.tables, other.tables, strict=True)
    )
    excluded = Counter(one.excluded) + Counter(other.excluded)
    parts = [
        part._replace(alone=tuple(each for each in part.alone if each not in others.listed))
        for cube, others in ((one, other), (other, one)) for part in cube.tables_added
    ]  # fmt: skip
    return replace(
        one, levels=levels, tables=tables, rows=one.rows + other.rows,
        excluded=dict(sorted(excluded.items())),
        question=common_question(one.asked, other.asked),
        parts=tuple(sorted(parts)), min_cell=max((each.min_cell for each in parts), default=None),
        orders=tuple((column, *values) for column, values in orders.items()),
        copies=one.copies or other.copies, observed=join_observed((one.observed, other.observed)),
    )  # fmt: skip


def _recentre(cube: Cube, centre: float) -> Cube:
    plan, away, tables = centre_moments(cube.plan, centre), centre_of(cube.plan) - centre, []
    names = {(m.columns, m.factors, m.power, m.by): m.name for m in plan.moments}
    for table in cube.tables:
        known = {a.column: table.codes[:, table.axes.index(a)] >= 0 for a in plan.outcomes}
        sums = dict(table.sums)
        for columns, factors, power, by in names:
            if not columns or columns[0] not in known:
                continue
            times = factors.count("x")
            others, x = factors[: len(factors) - times], factors[len(factors) - times :]
            rows = table.sums[WEIGHTS[power - 1]] if plan.weight else table.cases
            rows = table.sums[f"{REPLICATE}{by}"] if by else rows
            lower = [
                table.sums[names[columns, (*others, *x[:k]), power, by]]
                if others or k
                else rows * known[columns[0]]
                for k in range(times + 1)
            ]
            parts = [math.comb(times, k) * away ** (times - k) * e for k, e in enumerate(lower)]
            sums[names[columns, factors, power, by]] = np.sum(parts, axis=0)
        tables.append(replace(table, sums=sums))
    return replace(cube, plan=plan, tables=tuple(tables))


def cases_of_no_weight(cube: Cube) -> int:
    """Return how many counted cases have a weight of 0."""
    table = cube.tables[0]
    return int((table.sums[cube.plan.cases] - table.cases).sum())


def read_saved_text(text: str, name: str) -> Saved:
    """Return the plain values of what was saved, of whichever schema, counts or a result."""
    try:
        found: Saved = read_json(text)
        found["schema"]
    except AmbiguousJsonError as error:
        raise CubeError(f"{quote(name)} is no saved result of fairgauge: {error}") from None
    except (ValueError, KeyError, TypeError):
        raise CubeError(
            f"{quote(name)} is no saved result of fairgauge, or is truncated; fairgauge count DATA "
            "-o FILE.cube.json makes a cube, fairgauge audit DATA -o FILE.json a report"
        ) from None
    return found


def read_cube(text: str, name: str) -> Cube:
    """Read the text of a ``.cube.json`` file."""
    found = read_saved_text(text, name)
    if (schema := found["schema"]) != SCHEMA:
        raise CubeError(f"{quote(name)} has format {quote(schema)}; this version reads {SCHEMA!r}")
    try:
        return Cube.from_dict(found)
    except CubeError as error:
        raise type(error)(f"{quote(name)}: {error}") from None


def _read_cube(found: Saved) -> Cube:
    plan = Plan.from_dict(found["plan"])
    levels = {a: tuple(each) for a, each in zip(plan.axes, found["levels"], strict=True)}
    if not all(isinstance(value, str | int | float) for of in levels.values() for value in of):
        raise TypeError("a value of a column is none")
    parts = read_parts(found.get("parts", ()))
    known = {*plan.measures, *(RANGE if len(parts) >= _SEVERAL else ())}
    tables = tuple(
        CountTable(
            tuple(plan.axes[i] for i in positions),
            np.array(each["codes"], dtype=np.int64).reshape(len(positions), -1).T,
            {m: np.array(sums, dtype=np.float64) for m, sums in each["sums"].items()},
        )
        for positions, each in zip(plan.tables, found["tables"], strict=True)
    )
    sizes = {axis: axis.bins or len(held) for axis, held in levels.items()}
    sampled = plan.axis(Role.SAMPLE_STRATUM) or not plan.asked.strata_of_sample
    if not sampled or {axis for each in tables for axis in each.axes} != {*plan.axes}:
        raise ValueError("a column of its question is in no table")
    for each in tables:
        if not ((each.codes >= -1) & (each.codes < [sizes[axis] for axis in each.axes])).all():
            raise ValueError("a cell has a value that is none of its column")
        if not (np.isfinite([*each.sums.values()]).all() and (each.sums["rows"] >= 0).all()):
            raise ValueError("a sum of a cell is no number")
        if not known - {"n"} | {plan.cases} <= {*each.sums} - {"open"} <= known:
            raise ValueError("its sums are not those of its question")
        of_rows = {m: of for m, of in each.sums.items() if m in ("rows", "n", "open", *RANGE)}
        quarters = {m: of * 4 if m == RANGE[-1] else of for m, of in of_rows.items()}
        if any((of % 1).any() or (of < 0).any() or of.sum() > _EXACT for of in quarters.values()):
            raise ValueError("a number of rows is not one")
        low, rows, high = (of_rows.get(m, each.sums["rows"]) for m in ("low", "rows", "high"))
        if (low > rows).any() or (rows > high).any():
            raise ValueError("a number of rows is not in its range")
    if any(len({*map(name_of, held)}) < len(held) for held in levels.values()):
        raise ValueError("two values of a column have one name")
    if (min_cell := found.get("min_cell")) is not None and len(parts) < _SEVERAL:
        tables = tuple(with_ranges(table, min_cell) for table in tables)
    excluded = {Uncounted(reason): n for reason, n in found["excluded"].items()}
    observed = tuple(
        Observed(Observation(e[0]), e[1], e[2], e[3], e[4], e[5] and Role(e[5]), e[6])
        for e in found.get("observed", ())
    )
    counts = (found["rows"], *excluded.values(), *(n for e in observed for n in (e.rows, e.cases)))
    if not all(type(n) is int and n >= 0 for n in counts):
        raise ValueError("a number of rows is not one")
    several = len(parts) >= _SEVERAL
    cells = [each.min_cell for each in parts] if several else [] if min_cell is None else [min_cell]
    if (parts and not cells) or not all(type(each) is int and each > 0 for each in cells):
        raise ValueError("a smallest cell is none")
    if cells and (max(cells) != min_cell or any(
        (of % math.gcd(*cells)).any()
        for each in tables for m, of in each.sums.items() if m not in RANGE
    )):  # fmt: skip
        raise ValueError("its numbers are not multiples of its smallest cell")
    counted = max(int(each.sums["rows"].sum()) for each in tables) + sum(excluded.values())
    if counted != found["rows"]:
        raise ValueError(f"it has {counted:,} rows, and not {found['rows']!r}")
    noted = {name: tuple(map(tuple, found.get(name, ()))) for name in _NOTED}
    return Cube(
        plan, levels, tables, found["rows"], excluded, read_question(found["question"]), min_cell,
        parts, clusters=found.get("clusters", ""), observed=observed, **noted,
    )  # fmt: skip


def with_ranges(table: CountTable, min_cell: int) -> CountTable:
    """Return protected counts with the range of what was rounded, and the noise in every cell."""
    rows, redrawn = table.sums["rows"], np.zeros(len(table.codes), dtype=bool)
    for axis, codes in zip(table.axes, table.codes.T, strict=True):
        if axis.role in GROUPED and len(rows):
            most = np.zeros(codes.max() + 2)
            np.maximum.at(most, codes, rows)
            redrawn |= (codes >= 0) & (most[codes] <= min_cell)
    low, high = range_of_rounded(rows, min_cell)
    of_cells = (low, high, rounding_noise(rows, redrawn, min_cell))
    return replace(table, sums={**table.sums, **dict(zip(RANGE, of_cells, strict=True))})


def reorder_levels(cube: Cube, stated: Mapping[str, Sequence[object]]) -> Cube:
    """Return counts with features and strata in the order that types or the question state."""
    asked = (f for f in cube.plan.asked.sensitive if isinstance(f, Feature) and f.order)
    stated = {**stated, **{feature.column: feature.order for feature in asked}}
    if not stated:
        return cube
    orders: list[tuple[Value, ...]] = []
    levels = {}
    for axis in cube.plan.axes:
        if axis.role in GROUPED and not axis.bins and axis.column in stated:
            values = canonical_values(stated[axis.column], text=False)
            values = axis.recoding.apply(values) if axis.recoding else values
            known = tuple(dict.fromkeys(value for value in values if value is not None))
            orders.append((axis.column, *known))
            levels[axis] = reading_order(cube.levels[axis], known)
    return replace(_replace_levels(cube, levels), orders=tuple(orders))


def _replace_levels(cube: Cube, levels: Mapping[Axis, tuple[Value, ...]]) -> Cube:
    moved = {axis: each for axis, each in levels.items() if each != cube.levels[axis]}
    if not moved:
        return cube
    every = {**cube.levels, **moved}
    tables = (_recode(each, cube, every).over(each.axes) for each in cube.tables)
    return replace(cube, levels=every, tables=tuple(tables))


def _joined_levels(
    axis: Axis, one: Cube, other: Cube, orders: Mapping[Value, Sequence[Value]]
) -> tuple[Value, ...]:
    # a column of a CSV file is text if any of its values is: one shard alone may have looked
    # numeric
    levels = [*one.levels[axis], *other.levels[axis]]
    if any(isinstance(level, str) for level in levels):
        levels = [each if isinstance(each, bool) else name_of(each) for each in levels]
    joined = sorted_levels(levels)
    if not axis.bins:
        try:
            check_levels(axis, joined, len(joined))
        except DataError as error:
            raise CubeError(str(error)) from None
    return reading_order(joined, orders.get(axis.column, ())) if axis.role in GROUPED else joined


def _recode(table: CountTable, cube: Cube, levels: Mapping[Axis, tuple[Value, ...]]) -> CountTable:
    codes = table.codes.copy()
    for i, axis in enumerate(table.axes):
        position = {name_of(level): p for p, level in enumerate(levels[axis])}
        place = np.array([*(position[name_of(level)] for level in cube.levels[axis]), -1])
        codes[:, i] = place[codes[:, i]]  # code -1 reads the last entry
    return replace(table, codes=codes)


# how many cells there may be for each row of a table, up to which every cell has a place
_DENSE = 4


def aggregate(axes: tuple[Axis, ...], codes: Codes, sums: Mapping[str, Sums]) -> CountTable:
    """Sum the cells that have the same codes, and sort them."""
    if not axes:
        totals = {m: np.array([s.sum()]) for m, s in sums.items()}
        return CountTable(axes, np.zeros((1, 0), dtype=np.int64), totals)
    unique, inverse = distinct_rows(codes)
    summed = {
        m: np.bincount(inverse, weights=s, minlength=len(unique)).astype(np.float64)
        for m, s in sums.items()
    }
    return CountTable(axes, unique, summed)


def distinct_rows(codes: Codes) -> tuple[Codes, Codes]:
    """Return the sorted different rows of codes, and the place of every row among them."""
    widths = codes.max(axis=0, initial=0) + 2
    if np.prod(widths.astype(float)) >= 2**62:
        unique, inverse = np.unique(codes, axis=0, return_inverse=True)
        return unique, inverse.reshape(-1)
    keys = np.zeros(len(codes), dtype=np.int64)
    for column, width in zip(codes.T, widths.tolist(), strict=True):  # no copy of all columns
        keys *= width
        keys += column
        keys += 1
    if (keys[1:] >= keys[:-1]).all():
        first = np.append(True, keys[1:] > keys[:-1])[: len(keys)]
        held, inverse = keys[first], np.cumsum(first) - 1
    elif widths.prod() <= _DENSE * len(keys):  # a tenth of the time that sorting takes
        occurs = np.bincount(keys) > 0
        held, inverse = np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[keys]
    else:
        held, inverse = np.unique(keys, return_inverse=True)
    unique = np.empty((len(widths), len(held)), dtype=np.int64)
    for at in reversed(range(len(widths))):
        held, unique[at] = np.divmod(held, widths[at])
    unique -= 1
    return unique.T, inverse


def round_sums(plan: Plan, table: CountTable) -> CountTable:
    """Round sums that are not whole, but not squares: variances are small differences of them.

    Where every row is a case, and so weighs something, only the rows are kept.
    """
    squared = plan.moments if plan.asked.task is Task.REGRESSION else ()
    kept = {m.name for m in squared if m.factors == ("x", "x") and m.power < 3}
    sums = {m: s if m in kept else _round_inexact(s) for m, s in table.sums.items()}
    if not plan.count and "n" in sums and (sums["n"] == sums["rows"]).all():
        del sums["n"]
    return CountTable(table.axes, table.codes, sums)


def stack_tables(tables: Sequence[CountTable]) -> CountTable:
    """Return the cells of tables with the same axes, one after the other.

    If one of them states its cases, all do: in the others each row is one.

    >>> one = CountTable((), np.zeros((1, 0), dtype=np.int64), {"rows": np.array([2.0])})
    >>> two = replace(one, sums={"rows": np.array([2.0]), "n": np.array([1.0])})
    >>> stack_tables([one, two]).sums["n"].tolist()
    [2.0, 1.0]
    """
    if any("n" in table.sums for table in tables):
        tables = [replace(each, sums={"n": each.sums["rows"], **each.sums}) for each in tables]
    sums = {m: np.concatenate([each.sums[m] for each in tables]) for m in tables[0].sums}
    return CountTable(tables[0].axes, np.concatenate([each.codes for each in tables]), sums)


def _round_inexact(sums: Sums) -> Sums:
    # round sums that are not exact to 12 digits: in the others engines and orders differ
    if _are_whole(sums, _EXACT):
        return sums
    digits = _DIGITS - 1 - np.floor(np.log10(np.abs(sums, where=sums != 0, out=np.ones(len(sums)))))
    finer, coarser = 10.0 ** np.clip(digits, 0, _MOST), 10.0 ** np.clip(-digits, 0, _MOST)
    near: Sums = np.rint(sums * finer / coarser) / finer * coarser
    odd = np.abs(digits) > _MOST
    near[odd] = [float(f"{each:.{_DIGITS}g}") for each in sums[odd].tolist()]
    return near


def _are_whole(sums: Sums, limit: float) -> bool:
    return bool(((sums == np.floor(sums)) & (np.abs(sums) < limit)).all())


def _digest(found: Saved) -> str:
    text = json.dumps(found, separators=(",", ":"), sort_keys=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
