"""Sensitive features that nobody recorded: columns of the probabilities of their groups."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from fairgauge.enums import Assume, KnownDrawn
from fairgauge.errors import Problem, SpecError, quote, shown
from fairgauge.question._argument_syntax import escape, split, unescape
from fairgauge.question.readers import is_finite, items, read_column, read_word, unknown_keys
from fairgauge.values import Json

TOLERANCE = 1e-6
_KEYS = (
    "name", "probabilities", "known", "known_drawn", "table", "on", "assume", "tolerance",
)  # fmt: skip
_MOST_GROUPS = 12
"""The cell of a row, a number to base 21, is then a whole number that every engine has exactly."""


@dataclass(frozen=True, slots=True)
class Probabilities:
    """A sensitive feature of which only the probabilities of its groups are known.

    Attributes
    ----------
    name : what the groups are groups of.
    columns : every group with the column of its probability.
    known : column with the group of those who reported it, missing elsewhere.
    known_drawn : whether these are a random sample of all rows.
    assume : what decides verdicts.
    tolerance : how far the probabilities of a row may be from 1 together.
    table : the file that the columns are in, one row for each value of a column of the data.
    on : this column, which both have: a place or a surname.
    """

    name: str
    columns: tuple[tuple[str, str], ...]
    known: str | None = None
    known_drawn: KnownDrawn = KnownDrawn.UNKNOWN
    assume: Assume = Assume.GIVEN_GROUP
    tolerance: float = TOLERANCE
    table: str | None = None
    on: str | None = None

    @property
    def groups(self) -> tuple[str, ...]:
        """Return the names of the groups."""
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
        """Return the names of the columns that are summed."""
        return (*map(self.sum_of, self.groups), self.rounded)

    @property
    def counted(self) -> Probabilities:
        """Return what decides the counts alone; of a table its name, wherever it lay."""
        table = self.table and PurePath(self.table).name
        return replace(self, known_drawn=KnownDrawn.UNKNOWN, assume=Assume.GIVEN_GROUP, table=table)

    def to_dict(self) -> dict[str, Json]:
        """Return the keys of a specification file."""
        table: dict[str, Json] = {"name": self.name, "probabilities": dict(self.columns)}
        if self.known is not None:
            table["known"] = self.known
        if self.known_drawn is not KnownDrawn.UNKNOWN:
            table["known_drawn"] = str(self.known_drawn)
        if self.table is not None:
            table |= {"table": self.table, "on": self.on}
        if self.assume is not Assume.GIVEN_GROUP:
            table["assume"] = str(self.assume)
        if self.tolerance != TOLERANCE:
            table["tolerance"] = self.tolerance
        return table


def probabilities(
    columns: Mapping[str, str] | None = None,
    /,
    *,
    known: str | None = None,
    known_drawn: str = "unknown",
    assume: str = "given_group",
    tolerance: float = TOLERANCE,
    table: str | PurePath | None = None,
    on: str | None = None,
    **groups: str,
) -> Probabilities:
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
    problems: list[Problem] = []
    found: dict[str, Any] = {
        "name": "probabilities",
        "probabilities": {**(columns or {}), **groups},
        "known": known,
        "known_drawn": known_drawn,
        "assume": assume,
        "tolerance": tolerance,
        "table": None if table is None else str(table),
        "on": on,
    }
    made = _read_table(found, "probabilities", problems)
    if problems or made is None:
        raise SpecError(problems)
    return made


def read_probabilities(
    value: object, path: str, problems: list[Problem]
) -> tuple[Probabilities, ...]:
    """Read features of which only the probabilities of their groups are known."""
    read = []
    for i, each in enumerate(items(value)):
        if isinstance(each, Probabilities):
            read.append(each)
        elif isinstance(each, Mapping):
            made = _read_table(each, f"{path}[{i}]", problems)
            read += [made] if made else []
        else:
            message = f"must be a table with name and probabilities, not {shown(each)}"
            problems.append(Problem(f"{path}[{i}]", message))
    names = [each.name for each in read]
    twice = sorted({name for name in names if names.count(name) > 1})
    problems += [Problem(path, f"has {quote(name)} twice") for name in twice]
    return tuple(read)


def separated(options: Mapping[str, object]) -> Mapping[str, object]:
    """Return options in which features of probabilities are apart from recorded ones."""
    sensitive = options.get("sensitive")
    if sensitive is None or isinstance(sensitive, str):
        return options
    recorded: list[object] = []
    unrecorded: list[object] = []
    for each in items(sensitive):
        if isinstance(each, Mapping) and "probabilities" in each and "column" not in each:
            unrecorded.append(each)
        elif isinstance(each, Mapping) and any(
            isinstance(of, Probabilities) for of in each.values()
        ):
            of_columns = {k: v for k, v in each.items() if not isinstance(v, Probabilities)}
            recorded += [of_columns] if of_columns else []
            unrecorded += [
                replace(v, name=str(k)) for k, v in each.items() if isinstance(v, Probabilities)
            ]
        else:
            recorded.append(each)
    if not unrecorded:
        return options
    given = options.get("probabilities")
    unrecorded += [] if given is None else items(given)
    return {**options, "sensitive": recorded or None, "probabilities": unrecorded}


def _read_table(
    table: Mapping[str, Any], path: str, problems: list[Problem]
) -> Probabilities | None:
    before = len(problems)
    problems += unknown_keys(table, _KEYS, path)
    name, columns, known = (table.get(key) for key in ("name", "probabilities", "known"))
    if not isinstance(name, str) or not name:
        problems.append(Problem(f"{path}.name", "must be the name of the feature, such as race"))
    if not isinstance(columns, Mapping) or not all(isinstance(c, str) for c in columns.values()):
        message = f"must be {{group: column}}, not {shown(columns)}"
        problems.append(Problem(f"{path}.probabilities", message))
    elif not 2 <= len(columns) <= _MOST_GROUPS:
        message = (
            f"must name 2 to {_MOST_GROUPS} groups, each with the column of its probability, not "
            f"{len(columns)}; the probabilities of all groups of a row sum to 1"
        )
        problems.append(Problem(f"{path}.probabilities", message))
    else:
        every = list(columns.values())
        for column in sorted({c for c in every if every.count(c) > 1}):
            message = f"column {quote(column)} cannot be the probability of two groups"
            problems.append(Problem(f"{path}.probabilities", message))
    if known is not None:
        known = read_column(known, f"{path}.known", problems)
    file, on = _read_place(table, path, problems)
    drawn = read_word(KnownDrawn)(
        table.get("known_drawn", KnownDrawn.UNKNOWN), f"{path}.known_drawn", problems
    )
    if drawn is KnownDrawn.RANDOM and known is None:
        message = "needs the column of the groups that are known (known)"
        problems.append(Problem(f"{path}.known_drawn", message))
    assume = read_word(Assume)(table.get("assume", Assume.GIVEN_GROUP), f"{path}.assume", problems)
    tolerance = table.get("tolerance", TOLERANCE)
    if not is_finite(tolerance) or not 0 <= float(tolerance) < 0.5:
        message = f"must be a number from 0 to below 0.5, not {shown(tolerance)}"
        problems.append(Problem(f"{path}.tolerance", message))
    if len(problems) > before:
        return None
    assert isinstance(name, str)
    assert isinstance(columns, Mapping)
    pairs = tuple((str(group), str(column)) for group, column in columns.items())
    return Probabilities(name, pairs, known, drawn, assume, float(tolerance), file, on)


def _read_place(
    table: Mapping[str, Any], path: str, problems: list[Problem]
) -> tuple[str | None, str | None]:
    file, on = table.get("table"), table.get("on")
    if file is not None and not isinstance(file, str):
        problems.append(Problem(f"{path}.table", f"must be the path of a file, not {shown(file)}"))
    if on is not None:
        on = read_column(on, f"{path}.on", problems)
    if file is not None and on is None:
        message = "name the column that the data and the table both have"
        problems.append(Problem(f"{path}.on", message))
    if on is not None and file is None:
        message = "name the file that has the probabilities of its values"
        problems.append(Problem(f"{path}.table", message))
    return file, on


def parse_probabilities(
    texts: Sequence[str], path: str, problems: list[Problem]
) -> list[dict[str, object]]:
    r"""Read ``NAME: GROUP=COL, GROUP=COL; KEY=VALUE``.

    >>> parse_probabilities(["race: Black=p_b, White=p_w; assume=given_group"], "", [])
    [{'name': 'race', 'probabilities': {'Black': 'p_b', 'White': 'p_w'}, 'assume': 'given_group'}]
    """
    tables = []
    for i, text in enumerate(texts):
        first, *others = split(text, ";")
        name, *columns = split(first, ":")
        table: dict[str, object] = {"name": _read(name)}
        table["probabilities"] = dict(
            _pairs(split(":".join(columns), ","), f"{path}[{i}]", problems)
        )
        for key, value in _pairs(others, f"{path}[{i}]", problems):
            number = re.fullmatch(r"[\d.eE+-]+", value)
            table[key] = float(value) if key == "tolerance" and number else value
        tables.append(table)
    return tables


def _pairs(parts: Sequence[str], path: str, problems: list[Problem]) -> list[tuple[str, str]]:
    pairs = []
    for part in filter(str.strip, parts):
        key, *value = split(part, "=")
        if len(value) != 1:
            message = (
                f"cannot read {quote(part.strip())}; write 'NAME: GROUP=COL, GROUP=COL', and "
                "after ';' other keys such as known=COL"
            )
            problems.append(Problem(path, message))
            continue
        pairs.append((_read(key), _read(value[0])))
    return pairs


def write_probabilities(tables: Sequence[Mapping[str, Any]]) -> list[str]:
    """Write the texts that `parse_probabilities` reads."""
    texts = []
    for table in tables:
        columns = ", ".join(
            f"{_written(group)}={_written(column)}"
            for group, column in table["probabilities"].items()
        )
        keys = [
            f"; {key}={_written(table[key])}" for key in _KEYS[2:] if table.get(key) is not None
        ]
        texts.append(f"{_written(table['name'])}: {columns}{''.join(keys)}")
    return texts


def _read(text: str) -> str:
    return unescape(text.strip()).replace("\\;", ";")


def _written(value: object) -> str:
    return escape(value).replace(";", r"\;")


RECORD = "audit the feature alone (fairgauge audit), or name a column of recorded groups"
"""What to do in place of what cannot be computed of probabilities."""


def refuse_probabilities(given: Sequence[Probabilities], what: str, instead: str) -> None:
    """Refuse features of which only probabilities are known, where these do not suffice."""
    if given:
        names = ", ".join(quote(each.name) for each in given)
        message = f"{names}: {what} needs recorded groups, not their probabilities; {instead}"
        raise SpecError(Problem("probabilities", message))
