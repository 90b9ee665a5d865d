"""Sources: data that can be counted, what every engine checks, and rows named by a URL."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

from fairgauge.cube.cube import Cube, Sums
from fairgauge.cube.plan import Axis, Plan, canonical_values, check_levels, sorted_levels
from fairgauge.enums import Role
from fairgauge.errors import DataError, EmptyDataError, quote
from fairgauge.question.recoding import UNKNOWN, not_numbers, recoding_flag, write_recodings
from fairgauge.start.records import dataclass, field
from fairgauge.values import canonical, name_of

ALLOWED_DATA = (
    "give a frame (pandas, polars, pyarrow, DuckDB, ...), a path, a list of paths, a Cube, or "
    "arrays by name: label=[...], prediction=[...], sensitive={'NAME': [...]}"
)
"""What the data may be, for messages."""

MOST_COLUMNS = 10_000
"""The most columns of a file: what describes and queries each of them takes seconds for more."""


class Source(Protocol):
    """Data of one engine."""

    @property
    def name(self) -> str:
        """Return what the data are called in messages."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns."""

    def count(self, plan: Plan, limit: int) -> Cube:
        """Count the rows once; at most ``limit`` values on an axis."""


Record: TypeAlias = tuple[Any, ...]
"""A row of a query's result; the query determines the types of its values."""

Fetched: TypeAlias = tuple[list[Sequence[object]], bool]
"""The values of columns, and whether they are untyped text."""


@runtime_checkable
class Readable(Source, Protocol):
    """Data whose rows can be read one by one, too; Spark and databases only count them."""

    @property
    def at_hand(self) -> bool:
        """Return whether the first rows can be looked at without a query elsewhere."""

    def fetch(self, columns: list[str], most: int | None) -> Fetched:
        """Return the values of columns, of all rows or of the first ``most``."""


@dataclass(frozen=True, slots=True)
class Opened:
    """Data that are opened already; a class of ours, because some frames answer any attribute."""

    source: Source


def can_look_at_rows(source: Source) -> bool:
    """Return whether the first rows can be looked at without a query elsewhere."""
    return isinstance(source, Readable) and source.at_hand


def innermost(source: Source) -> Source:
    """Return the source of all rows that one is of, whatever conditions its own meet."""
    return innermost(within) if (within := getattr(source, "source", None)) else source


@dataclass(frozen=True, slots=True)
class RowsOfSource:
    """The rows of a source, counted otherwise: what its kinds have in common."""

    source: Source

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def columns(self) -> tuple[str, ...]:
        return self.source.columns

    @property
    def at_hand(self) -> bool:
        return can_look_at_rows(self.source)


@dataclass(frozen=True, slots=True)
class Seen:
    """What an engine saw of a numeric column: its ends, if any, and a text that is no number."""

    column: str
    ends: tuple[float, float] | None
    unreadable: str | None = None


MOST_UNREADABLE = 100
"""How many texts of a column that must hold numbers are looked at for an error."""


class UnreadableNumbers(DataError):  # noqa: N818 - named for what there is
    """A column that must hold numbers has texts that are none."""

    def __init__(self, plan: Plan, column: str, texts: Iterable[str]) -> None:
        self.column = column
        given = (c for made in plan.asked.probabilities for _, c in made.columns)
        recoded = column not in given
        super().__init__(
            not_numbers(column, texts, plan.no_numbers.get(column, ()), recoded=recoded)
        )


LEAST_LOG = 2.0**-52
"""Probabilities are kept this far from 0 in logarithms, as scikit-learn's log loss does."""


# squares of up to 1e280 can be added up 1e28 times before they exceed the largest double
_LARGEST_SQUARED = 1e140
# between which the largest weight must lie, so that sums of cubes neither overflow nor vanish.
_WEIGHTS = (1e-50, 1e50)


class NotNumeric(DataError):  # noqa: N818 - named for what there is
    """A column that must hold numbers has the type of something else."""

    def __init__(self, column: str, kind: object) -> None:
        super().__init__(
            f"column {quote(column)} must hold numbers, but has the type {quote(kind)}; make it a "
            "column of numbers in the data or in a query, or list the texts that are none as "
            "unknown (recode)"
        )


def check_unique_names(columns: Iterable[str], what: str, most: int = MOST_COLUMNS) -> None:
    """Check that columns are not too many, and no two have one name; ``what`` has them."""
    seen: set[str] = set()
    for column in columns:
        if len(seen) == most:
            raise DataError(
                f"{what} has more than {most:,} columns; keep those that are asked about"
            )
        if column in seen:
            raise DataError(f"{what} has the column {quote(column)} twice; rename one of them")
        seen.add(column)


def check_values(
    found: Mapping[Axis, Sequence[object]], texts: Collection[str], limit: int
) -> None:
    """Check that no axis has too many values; ``found`` may leave out those of few."""
    for axis, values in found.items():
        if axis.limited and len(values) > limit:
            read = canonical_values(values, text=axis.column in texts)
            read = axis.recoding.apply(read) if axis.recoding else read
            check_levels(axis, sorted_levels(read), limit)


def ranged_columns(plan: Plan) -> set[str]:
    """Return the columns whose least and greatest values must be checked."""
    made = {column for each in plan.asked.probabilities for column in each.summed}
    return set(plan.numeric_columns) - made


def check_numbers(plan: Plan, seen: list[Seen]) -> None:
    """Check what an engine saw against what the plan allows.

    Raises ``DataError``: text where numbers are needed, a score outside its range, a negative or
        infinite weight or count, an infinite number that is cut or averaged.
    """
    for each in seen:
        if each.unreadable is not None:
            raise UnreadableNumbers(plan, each.column, [each.unreadable])
        if each.ends is None:
            continue
        if each.column in (plan.count, plan.weight):
            _check_factor(each.column, each.ends, is_count=each.column == plan.count)
        summed = any(each.column in (*moment.columns, moment.by) for moment in plan.moments)
        axes = [axis for axis in plan.axes if axis.column == each.column]
        for axis in axes:
            _check_bounds(axis, each.ends)
        # of a condition, every number is on one side; codes are those of a condition or a cut
        of_rows = (Role.CONDITION, Role.CODES)
        finite = summed or any(axis.cuts and axis.role not in of_rows for axis in axes)
        for value in each.ends if finite else ():
            if math.isinf(value):
                raise DataError(not_numbers(each.column, [f"{value:g}"]))
            if summed and abs(value) > _LARGEST_SQUARED:
                raise DataError(
                    f"column {quote(each.column)} is averaged, but has {value:g}, which is too "
                    "large to be squared; give it in another unit"
                )


def _check_factor(column: str, ends: tuple[float, float], *, is_count: bool) -> None:
    (least, most), what, largest = _WEIGHTS, "count" if is_count else "weight", ends[1]
    for value in ends:
        if not 0 <= value < math.inf:
            raise DataError(
                f"column {quote(column)} is the {what}, but has the value {value:g}; leave it "
                f"empty where the {what} is not known"
            )
    if largest and not is_count and not least <= largest <= most:
        raise DataError(
            f"column {quote(column)} is the weight, and its largest value is {largest:g}; "
            "divide it by a constant (only the proportions of weights matter) so that this lies "
            f"between {least:g} and {most:g}"
        )


def _check_bounds(axis: Axis, ends: tuple[float, float]) -> None:
    low, high = axis.bounds or (-math.inf, math.inf)
    for value in ends if axis.bounds else ():
        if math.isinf(value):
            raise DataError(not_numbers(axis.column, [f"{value:g}"]))
        if not low <= value <= high:
            what = "score" if axis.role is not Role.LABEL else str(axis.role)
            line = write_recodings({axis.column: {UNKNOWN: [canonical(value)]}})[0]
            raise DataError(
                f"column {quote(axis.column)} is the {what} and must lie in [{low:g}, {high:g}], "
                f"but has {name_of(value)}; if the {what} is on another scale, state the range of "
                "all of its values: score_range=(LOW, HIGH) (--score-range LOW HIGH); if it means "
                f"that the {what} is missing, list it as unknown: {recoding_flag(line)}"
            )


def check_counts(plan: Plan, fractional: object, sums: Mapping[str, Sums], rows: int) -> None:
    """Check the sums of cells that have all rows: whole counts, and something to count."""
    if rows == 0:
        raise EmptyDataError("the data have no rows")
    if fractional is not None:
        raise DataError(
            f"column {quote(plan.count)} is the count and must hold whole numbers, "
            f"but has {quote(fractional)}; give sampling weights as weight (--weight COL)"
            ", and, of time at risk, a column of events divided by it as label"
        )
    if plan.count and not sums[plan.cases].any():
        raise DataError(f"column {quote(plan.count)} is the count, and every count is 0 or missing")
    if plan.count and sums[plan.cases].sum() > 2**53:
        what = f"column {quote(plan.count)} is the count, and the counts add up to more than 2^53"
        raise DataError(f"{what}, up to which sums are exact")
    if plan.weight and not sums["w"].any():
        raise DataError(f"column {quote(plan.weight)} is the weight, and the weights sum to 0")


@dataclass(frozen=True, slots=True)
class Query:
    """A table or a SELECT of a database; see `sql`."""

    url: str = field(repr=False)
    rows: str


def sql(url: str, rows: str) -> Query:
    """Name rows in a database, to be counted where they are.

    Parameters
    ----------
    url : str
        ``postgresql://user@host/name``, ``mysql://user@host/name``, ``sqlite:///file.db``,
        ``duckdb:///file.duckdb``, or any other that ibis connects to. No password is shown.
    rows : str
        A table (``people``, ``schema.people``) or a SELECT.

    Examples
    --------
    >>> import fairgauge as fg
    >>> fg.sql("postgresql://me@localhost/bank", "loans")
    Query(rows='loans')
    """
    return Query(url, rows)


@dataclass(slots=True)
class FileRecord:
    """What was found in a file.

    ``lines_above``: lines above its header.
    ``declared_missing``: of each column, how many values it declares missing, by their reasons.
    ``labels``: of each column, what the file calls it.
    ``named_values``: of each column of named codes, the names by code, in the order of the codes.
    ``weights``: columns whose names are those of weights.
    """

    lines_above: int = 0
    declared_missing: dict[str, dict[str, int]] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    named_values: dict[str, dict[object, str]] = field(default_factory=dict)
    weights: list[str] = field(default_factory=list)


RECORDS: dict[str, FileRecord] = defaultdict(FileRecord)
"""By the path that was opened; the last time counts."""
