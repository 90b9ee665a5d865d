"""Sensitive features: which column, and which of its values make a group.

Of those that nobody recorded, the columns of the probabilities of their groups.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import PurePath
from typing import Any, TypeAlias

from fairgauge.enums import Assume, Closed, KnownDrawn
from fairgauge.errors import SpecError, display, quote, refuse
from fairgauge.question import readers
from fairgauge.question.readers import Location, Reader, items, read_column, read_values, read_word
from fairgauge.start.records import dataclass, field, replace
from fairgauge.values import Json, Value, name_of


@dataclass(frozen=True, slots=True)
class Feature:
    """A sensitive feature.

    Cuts closed on the right make the groups (-inf, c1], (c1, c2], ..., (ck, inf); on the left they
    make [-inf, c1), [c1, c2), ..., [ck, inf).
    """

    column: str
    values: tuple[tuple[Value, ...], ...] = ()  # value sets, each one group; none: each value is
    cuts: tuple[float, ...] = ()  # ascending cut points of a numeric column
    closed: Closed = Closed.RIGHT
    # whether a regression is adjusted for it, as in why alone
    control: bool = field(default=False, metadata=readers.NOT_WRITTEN)
    order: tuple[Value, ...] = ()  # the values in the order in which they are shown; others follow

    to_dict = readers.plain_fields


@dataclass(frozen=True, slots=True)
class Above:
    """A cut of a numeric label (and prediction): values above ``threshold`` are positive.

    ``closed`` is the side of it that ``threshold`` itself is on, as of a feature that is cut.
    """

    threshold: float
    closed: Closed = Closed.RIGHT

    def to_dict(self) -> dict[str, float | str]:
        closed = {} if self.closed is Closed.RIGHT else {"closed": str(self.closed)}
        return {"above": self.threshold, **closed}


@dataclass(frozen=True, slots=True)
class ByColumn:
    """Favourable values of label and of prediction, which have other words for the outcomes."""

    columns: tuple[tuple[str, tuple[Value, ...]], ...]

    def to_dict(self) -> dict[str, list[Value]]:
        return {column: list(values) for column, values in self.columns}


Positive: TypeAlias = tuple[Value, ...] | ByColumn | Above
"""What is favourable: values, those of each column, numbers above a cut, or each cut of levels."""


def cut(column: str, points: Sequence[float] | float, *, closed: str = "right") -> Feature:
    """Cut a numeric column into groups.

    Parameters
    ----------
    column : str
        Name of a numeric column.
    points : float or list of float
        Cut points; ``[40, 60]`` makes (-inf, 40], (40, 60] and (60, inf).
    closed : {"right", "left"}
        The edge that belongs to an interval; "left" makes [-inf, 40), [40, 60) and [60, inf).

    Raises
    ------
    SpecError
        No points, a point that is not a finite number, or an edge that is neither.

    Examples
    --------
    >>> import fairgauge as fg
    >>> fg.cut("age", [40]).cuts
    (40.0,)
    """
    at = Location("cut")
    made = _features_of({"column": column, "cuts": points, "closed": closed}, at)
    refuse(at.problems)
    return made[0]


def above(threshold: float, *, closed: str = "right") -> Above:
    """Make values above ``threshold`` the positive ones, of a numeric label and its predictions.

    Parameters
    ----------
    threshold : float
        The cut, in the unit of the column.
    closed : {"right", "left"}
        As of `cut`: with "left" the threshold itself is positive, too (``--positive '>=X'``).

    Raises
    ------
    SpecError
        The threshold is not a finite number, or ``closed`` is neither.

    Examples
    --------
    >>> import fairgauge as fg
    >>> fg.above(50_000)
    Above(threshold=50000.0, closed=<Closed.RIGHT: 'right'>)
    """
    at = Location("above")
    made = Above(readers.read_number()(threshold, at), readers.read_word(Closed)(closed, at))
    refuse(at.problems)
    return made


def read_features(value: object, at: Location) -> tuple[Feature, ...]:
    """Read every form of features; value sets of a column are one."""
    if not isinstance(value, (str, Feature, Mapping, Sequence)):
        at.report(f"must be a list of columns, not {display(value)}")
        return ()
    given = (_features_of(item, at[i]) for i, item in enumerate(items(value)))
    return _join_value_sets(chain.from_iterable(given), at)


MOST_STRATA = 6  # the columns of strata that are crossed at most


def read_strata(value: object, at: Location) -> tuple[Feature, ...]:
    """Read one to six columns of strata, with cuts or without."""
    strata = read_features(value, at)
    if (crossed := sum(not each.control for each in strata)) > MOST_STRATA:
        at.report(f"takes at most {MOST_STRATA} columns, which are crossed, not {crossed}")
    for each in strata:
        if each.values:
            what = "has a set of values, and each value is a stratum"
            at.report(f"{quote(each.column)} {what}; put values together with recode")
    return strata


def strata_named(strata: Iterable[Feature]) -> str | None:
    """Return the columns of strata as a sentence names them."""
    columns = [each.column for each in strata]
    return " and ".join(filter(None, [", ".join(columns[:-1]), *columns[-1:]])) or None


def _features_of(item: object, at: Location) -> list[Feature]:
    if isinstance(item, Feature):
        return [item]
    if isinstance(item, str):
        return [Feature(item)]
    if not isinstance(item, Mapping):
        at.report(f"must be the name of a column, not {display(item)}")
        return []
    if not set(KEYS) & set(item):
        return [Feature(str(column), _value_sets(of, at[column])) for column, of in item.items()]
    found = readers.read_table(item, KEYS, at)
    if item.get("column") is None:
        at["column"].report("is missing")
    if len(found.keys() & {"values", "cuts", "order"}) > 1:
        at.report("takes one of values, cuts and order")
    if "closed" in found and item.get("cuts") is None:
        at["closed"].report("is the closed edge of intervals and needs cuts, such as cuts = [40]")
    return [Feature(**found | {"column": str(found.get("column"))})]


def _value_sets(values: object, at: Location) -> tuple[tuple[Value, ...], ...]:
    every = items(values)
    if every and all(isinstance(each, Sequence) and not isinstance(each, str) for each in every):
        return tuple(read_values(each, at[i]) for i, each in enumerate(every))
    values_read = read_values(values, at)
    return (values_read,) if values_read else ()


KEYS: Mapping[str, Reader] = {
    "column": read_column, "values": _value_sets, "cuts": readers.read_numbers,
    "closed": read_word(Closed), "order": read_values,
}  # fmt: skip


def _join_value_sets(features: Iterable[Feature], at: Location) -> tuple[Feature, ...]:
    columns: dict[str, Feature] = {}
    for feature in features:
        before = columns.get(feature.column)
        if before is None:
            columns[feature.column] = feature
        elif before.values and feature.values:
            columns[feature.column] = Feature(feature.column, before.values + feature.values)
        else:
            both = ", as a stratum and as a control" * (before.control is not feature.control)
            at.report(f"column {quote(feature.column)} is asked for twice{both}")
    for feature in columns.values():
        listed = Counter(value for each in feature.values for value in each)
        if twice := sorted(name_of(value) for value, times in listed.items() if times > 1):
            at.report(f"value {quote(twice[0])} of {quote(feature.column)} is listed twice")
    return tuple(columns.values())


TOLERANCE = 1e-6
_MOST_GROUPS = 12  # every engine has the cell of a row, a number to base 21, then exactly


@dataclass(frozen=True, slots=True)
class Probabilities:
    """A sensitive feature of which only the probabilities of its groups are known."""

    name: str  # what the groups are groups of
    columns: tuple[tuple[str, str], ...]  # every group with the column of its probability
    known: str | None = None  # column with the group of those who reported it, missing elsewhere
    known_drawn: KnownDrawn = KnownDrawn.UNKNOWN  # whether these are a random sample of all rows
    table: str | None = None  # the file of the columns, by a column of the data
    on: str | None = None  # this column, which both have: a place or a surname
    assume: Assume = Assume.GIVEN_GROUP  # what decides verdicts
    tolerance: float = TOLERANCE  # how far the probabilities of a row may be from 1 together

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(group for group, _ in self.columns)

    @property
    def cell(self) -> str:
        """Return the name of the column that numbers the cells of the grid."""
        return f"{self.name} (cell of probabilities)"

    @property
    def rounded(self) -> str:
        """Return the name of the column that is 1 where the probabilities do not sum to 1."""
        return f"{self.name} (rounded probabilities)"

    def sum_of(self, group: str) -> str:
        """Return the name of the column that is summed for a group."""
        return f"{self.name} (probability of {group})"

    @property
    def summed(self) -> tuple[str, ...]:
        return (*map(self.sum_of, self.groups), self.rounded)

    @property
    def counted(self) -> Probabilities:
        """Return what decides the counts alone; of a table its name, wherever it lay."""
        table = self.table and PurePath(self.table).name
        return replace(self, known_drawn=KnownDrawn.UNKNOWN, assume=Assume.GIVEN_GROUP, table=table)

    def to_dict(self) -> dict[str, Json]:
        plain = readers.plain_fields(self)
        named = {"name": plain.pop("name"), "probabilities": dict(plain.pop("columns"))}
        return named | plain


def probabilities(
    columns: Mapping[str, str] | None = None, /, *, known: str | None = None,
    known_drawn: str = "unknown", assume: str = "given_group", tolerance: float = TOLERANCE,
    table: str | PurePath | None = None, on: str | None = None, **groups: str,
) -> Probabilities:  # fmt: skip
    """Name the columns with the probabilities of groups that nobody recorded.

    It stands in place of a column: ``sensitive={"race": fg.probabilities(...)}``. The probabilities
    of a row sum to 1.

    Parameters
    ----------
    columns : mapping of str to str, optional
        The column of the probability of each group, for groups whose names are no Python names.
    known : str, optional
        Column with the group of those who reported it, missing elsewhere.
    known_drawn : {"unknown", "random"}
        Whether the rows of known group are a random sample of all rows: then, and only then, they
        make estimates that are right whatever the probabilities are.
    assume : {"given_group", "nothing"}
        What decides verdicts: the estimate that is right if the outcome does not depend on the
        probabilities within a group, or the range that no assumption but right probabilities
        leaves.
    tolerance : float
        How far the probabilities of a row may be from 1 together.
    table : str or Path, optional
        A CSV or Parquet file with the columns, where the data do not have them: one row for each
        value of a column of the data, which is joined while rows are counted. A row whose value is
        not in the table has no probabilities, and is excluded.
    on : str, optional
        This column, which both have: a place or a surname.
    **groups : str
        The column of the probability of each group: ``Black="p_black"``.

    Raises
    ------
    SpecError
        Fewer than two groups, a column for two of them, or a word that is not allowed.

    Examples
    --------
    >>> import fairgauge as fg
    >>> fg.probabilities(Black="p_black", White="p_white").groups
    ('Black', 'White')
    """
    at = Location("probabilities")
    made = _read_probabilities({
        "name": "probabilities", "probabilities": {**(columns or {}), **groups}, "known": known,
        "known_drawn": known_drawn, "assume": assume, "tolerance": tolerance, "on": on,
        "table": None if table is None else str(table),
    }, at)  # fmt: skip
    if made is None:
        raise SpecError(at.problems)
    return made


def read_probabilities(value: object, at: Location) -> tuple[Probabilities, ...]:
    """Read features of which only the probabilities of their groups are known."""
    asked = [_read_probabilities(each, at[i]) for i, each in enumerate(items(value))]
    read = tuple(each for each in asked if each)
    names = [each.name for each in read]
    for name in sorted({name for name in names if names.count(name) > 1}):
        at.report(f"has {quote(name)} twice")
    return read


def separated(options: Mapping[str, object]) -> Mapping[str, object]:
    """Return options in which features of probabilities are apart from recorded ones."""
    sensitive = options.get("sensitive")
    if sensitive is None or isinstance(sensitive, str):
        return options
    recorded: list[object] = []
    unrecorded: list[object] = []
    for each in items(sensitive):
        table = each if isinstance(each, Mapping) else {}
        if "probabilities" in table and "column" not in table:
            unrecorded.append(each)
            continue
        named = {k: v for k, v in table.items() if isinstance(v, Probabilities)}
        unrecorded += [replace(v, name=str(k)) for k, v in named.items()]
        others = {k: v for k, v in table.items() if k not in named}
        recorded += [] if named and not others else [others if named else each]
    if not unrecorded:
        return options
    unrecorded += items(options.get("probabilities") or ())
    return {**options, "sensitive": recorded or None, "probabilities": unrecorded}


def _read_columns(columns: object, at: Location) -> tuple[tuple[str, str], ...]:
    if not isinstance(columns, Mapping) or not all(isinstance(c, str) for c in columns.values()):
        at.report(f"must be {{group: column}}, not {display(columns)}")
        return ()
    if not 2 <= len(columns) <= _MOST_GROUPS or len(set(columns.values())) < len(columns):
        at.report(
            f"must name 2 to {_MOST_GROUPS} groups, each with a column of its own, not "
            f"{display(columns)}; the probabilities of all groups of a row sum to 1"
        )
    return tuple((str(group), column) for group, column in columns.items())


_KEYS: Mapping[str, Reader] = {
    "name": read_column, "probabilities": _read_columns, "known": read_column,
    "known_drawn": read_word(KnownDrawn),
    "table": lambda path, at: at.expect(isinstance(path, str), "the path of a file", path) and path,
    "on": read_column, "assume": read_word(Assume), "tolerance": readers.read_number(0, 0.5),
}  # fmt: skip


def _read_probabilities(table: object, at: Location) -> Probabilities | None:
    if isinstance(table, Probabilities):
        return table
    if not isinstance(table, Mapping):
        at.report(f"must be a table with name and probabilities, not {display(table)}")
        return None
    before = len(at.problems)
    found = readers.read_table(table, _KEYS, at)
    for key in ("name", "probabilities"):
        if not table.get(key):
            at[key].report("is missing: name the feature, such as race, and {group: column}")
    if ("table" in found) is not ("on" in found):
        key, what = ("on", "the column of both") if "table" in found else ("table", "their file")
        at[key].report(f"name {what}: a file of probabilities (table) is joined by a column (on)")
    if found.get("known_drawn") is KnownDrawn.RANDOM and "known" not in found:
        at["known_drawn"].report("needs the column of the groups that are known (known)")
    if len(at.problems) > before:
        return None
    return Probabilities(columns=found.pop("probabilities"), **found)


def parse_probabilities(texts: Sequence[str], at: Location) -> list[dict[str, object]]:
    """Read ``NAME: GROUP=COL, GROUP=COL; KEY=VALUE``."""
    tables = []
    for i, text in enumerate(texts):
        first, *others = readers.split(text, ";")
        name, *columns = readers.split(first, ":")
        groups = _pairs(readers.split(":".join(columns), ","), at[i])
        table: dict[str, object] = {"name": _unescape(name), "probabilities": dict(groups)}
        for key, value in _pairs(others, at[i]):
            number = re.fullmatch(r"[\d.eE+-]+", value)
            table[key] = float(value) if key == "tolerance" and number else value
        tables.append(table)
    return tables


def _pairs(parts: Sequence[str], at: Location) -> list[tuple[str, str]]:
    pairs = []
    for part in filter(str.strip, parts):
        key, *value = map(_unescape, readers.split(part, "="))
        if len(value) == 1:
            pairs.append((key, value[0]))
        else:
            allowed = "write 'NAME: GROUP=COL, GROUP=COL', and after ';' keys such as known=COL"
            at.report(f"cannot read {quote(part.strip())}; {allowed}")
    return pairs


def write_probabilities(tables: Sequence[Mapping[str, Any]]) -> list[str]:
    """Write the texts that `parse_probabilities` reads."""
    texts = []
    for table in tables:
        pairs = [f"{_escape(g)}={_escape(c)}" for g, c in table["probabilities"].items()]
        keys = [f"; {k}={_escape(table[k])}" for k in [*_KEYS][2:] if table.get(k) is not None]
        texts.append(f"{_escape(table['name'])}: {', '.join(pairs)}{''.join(keys)}")
    return texts


def _unescape(text: str) -> str:
    return readers.unescape(text.strip()).replace("\\;", ";")


def _escape(value: object) -> str:
    return readers.escape(value).replace(";", r"\;")
