"""Sources: data that can be counted, what every engine checks, and rows named by a URL."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

from fairgauge.cube.cube import Cube
from fairgauge.cube.levels import check_levels, levels_of
from fairgauge.cube.plan import Axis, Plan
from fairgauge.enums import Role
from fairgauge.errors import DataError, EmptyDataError, quote
from fairgauge.question.category_words import may_be_no_number
from fairgauge.question.recoding import (
    NO_CUT_POINTS,
    UNKNOWN,
    not_numbers,
    recoding_flag,
    write_recodings,
)
from fairgauge.values import canonical, name_of

Head: TypeAlias = Callable[[Sequence["Axis"], int], Sequence[Sequence[object]]]
"""Takes axes and a number of rows; returns the different values of each axis in as many rows."""

ALLOWED_DATA = (
    "give a frame (pandas, polars, pyarrow, DuckDB, ...), a path, a list of paths, a Cube, or "
    "arrays by name: label=[...], prediction=[...], sensitive={'NAME': [...]}"
)
"""What the data may be, for messages."""

MOST_COLUMNS = 10_000
"""The most columns of a file: what describes and queries each of them takes seconds for more."""
ROWS_PER_VALUE = 20
"""First rows that are read for every value that an axis may have."""


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
    """Data whose rows can be read one by one, too."""

    @property
    def at_hand(self) -> bool:
        """Return whether the first rows can be looked at without a query elsewhere."""

    def fetch(self, columns: list[str], most: int | None) -> Fetched:
        """Return the values of columns, of all rows or of the first ``most``."""


@dataclass(frozen=True, slots=True)
class Opened:
    """Data that are opened already; a class of ours, because some frames answer any attribute."""

    source: Source


def readable(source: Source) -> bool:
    """Return whether rows can be read one by one; Spark and databases only count them."""
    return isinstance(source, Readable)


def at_hand(source: Source) -> bool:
    """Return whether the first rows can be looked at without a query elsewhere."""
    return isinstance(source, Readable) and source.at_hand


@dataclass(frozen=True, slots=True)
class Seen:
    """What an engine saw of a numeric column: its range, and a value that is not a number."""

    column: str
    low: float | None
    high: float | None
    unreadable: str | None = None


MOST_UNREADABLE = 100
"""How many texts of a column that must hold numbers are looked at for an error."""


class UnreadableNumbers(DataError):  # noqa: N818 - named for what there is
    """A column that must hold numbers has texts that are none.

    Attributes
    ----------
    column : the column as it is read.
    numberless : whether it is known that no value of it is a number.
    """

    def __init__(
        self, plan: Plan, column: str, texts: Iterable[str], *, numberless: bool = False
    ) -> None:
        self.plan, self.column, self.numberless = plan, column, numberless
        of = {made.sum_of(g): c for made in plan.asked.probabilities for g, c in made.columns}
        name, listed = of.get(column, column), plan.no_numbers.get(column, ())
        recoded = _may_be_recoded(plan, name)
        condition = any(a.role is Role.CONDITION and a.column == column for a in plan.axes)
        cut = numberless and not condition and _is_cut(plan, column)
        super().__init__(
            not_numbers(name, texts, listed, recoded=recoded, condition=condition, cut=cut)
        )

    def of(self, texts: Iterable[str]) -> UnreadableNumbers:
        """Return the error with all texts."""
        return UnreadableNumbers(self.plan, self.column, texts, numberless=self.numberless)


LEAST_LOG = 2.0**-52
"""Probabilities are kept this far from 0 in logarithms, as scikit-learn's log loss does."""


_LARGEST_SQUARED = 1e140
_WEIGHTS = (1e-50, 1e50)
"""Between which the largest weight must lie, so that sums of cubes neither overflow nor vanish."""


_OF_TEXTS = re.compile(r"char|str(ing)?\b|text|object|categor|enum", re.IGNORECASE)


class NotNumeric(DataError):  # noqa: N818 - named for what there is
    """A column that must hold numbers has the type of something else.

    What to do with texts is known from a plan, which has the role of the column.
    """

    def __init__(self, column: str, kind: object, plan: Plan | None = None) -> None:
        self.column, self.kind = column, kind
        message = f"column {quote(column)} must hold numbers, but has the type {quote(kind)}"
        if _OF_TEXTS.search(str(kind)):
            message += f"; {NO_CUT_POINTS}" if plan and _is_cut(plan, column) else ""
            line = write_recodings({column: {UNKNOWN: ["NA"]}})[0]
            message += (
                "; texts are read as numbers where those that are none are listed as unknown, as "
                f"in {recoding_flag(line)}"
                if plan and _may_be_recoded(plan, column)
                else "; make it a column of numbers in the data, or in a query of the database "
                "(--query)"
            )
        super().__init__(message)


@contextmanager
def by_role(plan: Plan) -> Iterator[None]:
    """Let errors of columns of other types name what to do in the role of the column."""
    try:
        yield
    except NotNumeric as error:
        raise NotNumeric(error.column, error.kind, plan) from None


def _is_cut(plan: Plan, column: str) -> bool:
    """Return whether the values of a column are groups, or strata, by cut points."""
    groups = (Role.FEATURE, Role.STRATUM)
    return any(a.role in groups and a.cuts and a.column == column for a in plan.axes)


def _may_be_recoded(plan: Plan, column: str) -> bool:
    """Return whether values of a numeric column can be listed as unknown."""
    given = (c for made in plan.asked.probabilities for _, c in made.columns)
    return column not in (plan.count, plan.weight, *given)


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


def check_head(plan: Plan, head: Head, texts: Collection[str], limit: int) -> None:
    """Check the first rows, so that a column of too many values is reported before the scan."""
    axes = [axis for axis in plan.axes if axis.limited]
    if axes:
        found = head(axes, ROWS_PER_VALUE * limit)
        check_values(dict(zip(axes, found, strict=True)), texts, limit)


def check_values(
    found: Mapping[Axis, Sequence[object]], texts: Collection[str], limit: int
) -> None:
    """Check that no axis has too many values; ``found`` may leave out those of few."""
    for axis, values in found.items():
        if axis.limited and len(values) > limit:
            check_levels(axis, levels_of(axis, values, text=axis.column in texts), limit)


def ranged_columns(plan: Plan) -> set[str]:
    """Return the columns whose least and greatest values must be checked."""
    made = {column for each in plan.asked.probabilities for column in each.summed}
    return set(plan.numeric_columns) - made


def check_numbers(plan: Plan, seen: list[Seen]) -> None:
    """Check what an engine saw against what the plan allows.

    Raises
    ------
    DataError
        Text where numbers are needed, a score outside its range, a negative or infinite weight or
        count, an infinite number that is cut or averaged.
    """
    for each in seen:
        if each.unreadable is not None:
            numberless = each.low is None
            raise UnreadableNumbers(plan, each.column, [each.unreadable], numberless=numberless)
        if each.low is None:
            continue
        if each.column in (plan.count, plan.weight):
            _check_factor(each, "count" if each.column == plan.count else "weight")
        summed = any(each.column in moment.columns for moment in plan.moments)
        axes = [axis for axis in plan.axes if axis.column == each.column]
        for axis in axes:
            if axis.bounds:
                _check_bounds(each, axis.bounds, axis.role)
        # of a condition, every number is on one side
        finite = summed or any(axis.cuts and axis.role is not Role.CONDITION for axis in axes)
        for value in (each.low, each.high or 0.0) if finite else ():
            if math.isinf(value):
                raise DataError(not_numbers(each.column, [f"{value:g}"]))
            if summed and abs(value) > _LARGEST_SQUARED:
                raise DataError(
                    f"column {quote(each.column)} is averaged, but has {value:g}, which is too "
                    "large to be squared; give it in another unit"
                )


def _check_factor(seen: Seen, what: str) -> None:
    for value in (seen.low, seen.high):
        if value is not None and value < 0:
            message = (
                f"column {quote(seen.column)} is the {what}, but has the negative value {value:g}"
            )
            raise DataError(message)
        if value is not None and math.isinf(value):
            raise DataError(
                f"column {quote(seen.column)} is the {what}, but has the infinite value {value:g}; "
                f"leave it empty where the {what} is not known"
            )
    if what == "weight" and seen.high and not _WEIGHTS[0] <= seen.high <= _WEIGHTS[1]:
        raise DataError(
            f"column {quote(seen.column)} is the weight, but its largest value is {seen.high:g}, "
            "whose cube cannot be computed; divide the column by a constant (only the proportions "
            f"of weights matter) so that its largest value lies between {_WEIGHTS[0]:g} and "
            f"{_WEIGHTS[1]:g}"
        )


def _check_bounds(seen: Seen, bounds: tuple[float, float], role: Role) -> None:
    low, high = bounds
    for value in (seen.low, seen.high):
        if value is None:
            continue
        if math.isinf(value):
            raise DataError(not_numbers(seen.column, [f"{value:g}"]))
        if not low <= value <= high:
            what = "score" if role is not Role.LABEL else str(role)
            line = write_recodings({seen.column: {UNKNOWN: [canonical(value)]}})[0]
            code = (
                f", as codes of missing values are; if it means that the {what} is missing, list "
                f"it as unknown: {recoding_flag(line)}; only if it is a {what}, "
            )
            correct = "; correct the column where it is on another scale, or "
            raise DataError(
                f"column {quote(seen.column)} is the {what} and must lie in [{low:g}, {high:g}], "
                f"but has {name_of(value)}{code if may_be_no_number(value) else correct}"
                "set the range of all of its values: score_range=(LOW, HIGH) "
                "(--score-range LOW HIGH)"
            )


def check_counts(plan: Plan, fractional: object, cases: float, weight: float, rows: int) -> None:
    """Check the column sums: whole counts, and something to count."""
    if rows == 0:
        raise EmptyDataError("the data have no rows")
    if fractional is not None:
        raise DataError(
            f"column {quote(plan.count)} is the count and must hold whole numbers, "
            f"but has {quote(fractional)}; give sampling weights as weight (--weight COL)"
        )
    if plan.count and cases == 0:
        raise DataError(f"column {quote(plan.count)} is the count, and every count is 0 or missing")
    if plan.weight and weight == 0:
        raise DataError(f"column {quote(plan.weight)} is the weight, and the weights sum to 0")


_SIGNATURES = {"sqlite": (0, b"SQLite format 3\0"), "duckdb": (8, b"DUCK")}
"""Where the signature of a file of a database begins, and what it is."""


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
        ``duckdb:///file.duckdb``, or any other URL that ibis connects to. A password in it
        is never shown.
    rows : str
        A table (``people``, ``schema.people``) or a SELECT.

    Examples
    --------
    >>> import fairgauge as fg
    >>> fg.sql("postgresql://me@localhost/bank", "loans")
    Query(rows='loans')
    """
    return Query(url, rows)


def database_url(path: str | Path) -> str | None:
    """Return the URL of a file that is a database, None where it is something else."""
    try:
        with Path(path).open("rb") as handle:
            head = handle.read(16)
    except (OSError, ValueError):
        return None
    for scheme, (start, signature) in _SIGNATURES.items():
        if head[start:].startswith(signature):
            return f"{scheme}:///{path}"
    return None
