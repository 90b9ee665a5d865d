"""Finding rows of the catalogue by any name in use."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from fairgauge.catalogue.catalogue import METRICS, RATES
from fairgauge.catalogue.synonyms import NAMES, plain
from fairgauge.errors import nearest, quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fairgauge.catalogue.comparisons import Metric
    from fairgauge.catalogue.statistics import Statistic

Row = TypeVar("Row", bound="Metric | Statistic")
_PARAMETRISED = re.compile(
    r"(?P<name>[^()]+)\(\s*(?P<parameter>\w+)\s*=\s*(?P<value>-?\d+(\.\d+)?)\s*\)"
)
SETS = ("standard", "clarify", "vertex", "native", "all")


class AmbiguousName(LookupError):  # noqa: N818 - it says what is wrong
    """Tools give one name to numbers that differ; the message names them."""


def expand(names: Iterable[str]) -> tuple[Metric, ...]:
    """Return the metrics that names and sets stand for, each once, in the order asked.

    A set (``standard``, ``clarify``, ``vertex``, ``native``, ``all``) stands for its metrics, and
    the name of a rate for its difference and, where it has one, its ratio.

    Raises
    ------
    LookupError
        A name is unknown; the message says so and names the nearest.
    """
    found: dict[str, Metric] = {}
    for name in names:
        for row in _expand_one(name):
            found.setdefault(row.name, row)
    return tuple(found.values())


def _expand_one(name: str) -> tuple[Metric, ...]:
    if name == "all":
        return METRICS
    if name == "standard":
        return tuple(row for row in METRICS if row.standard)
    if name in SETS:
        return tuple(row for row in METRICS if row.set == name)
    key = plain(name)
    if key in _metrics() or _PARAMETRISED.fullmatch(name):
        return (find_metric(name),)
    if key in _rates():
        rate = find_rate(name)
        names = (plain(f"{rate.name}.{by}") for by in ("difference", "ratio"))
        return tuple(row for each in names for row in _metrics().get(each, ()))
    raise LookupError(_unknown(name))


def find_metric(name: str) -> Metric:
    """Return the metric of a name, a synonym or another tool's name.

    A parameter may follow in brackets: ``generalized_entropy(alpha=3)``.

    Raises
    ------
    AmbiguousName
        Tools give the name to metrics that differ, in sign or otherwise.
    LookupError
        No metric has the name; the message names the nearest.
    """
    parametrised = _PARAMETRISED.fullmatch(name)
    if parametrised and plain(name) not in _metrics():
        row = find_metric(parametrised["name"])
        return row.with_parameter(parametrised["parameter"], float(parametrised["value"]))
    return _only(name, _metrics())


def find_rate(name: str) -> Statistic:
    """Return the rate of a name, a synonym or another tool's name; LookupError as `find_metric`."""
    return _only(name, _rates())


def _only(name: str, index: Mapping[str, tuple[Row, ...]]) -> Row:
    rows = index.get(plain(name), ())
    if len(rows) == 1:
        return rows[0]
    raise AmbiguousName(_ambiguous(name, rows)) if rows else LookupError(_unknown(name))


def _ambiguous(name: str, rows: Sequence[Metric | Statistic]) -> str:
    shown = [f"{row.name} ({_whose(name, row)}{row.formula})" for row in rows]
    return f"{quote(name)} is {' or '.join(shown)}; say which"


def _whose(name: str, row: Metric | Statistic) -> str:
    tools = [
        each.tool for each in NAMES if each.ours == row.name and plain(each.name) == plain(name)
    ]
    return f"{' and '.join(tools)}: " if tools else ""


def _unknown(name: str) -> str:
    for each in NAMES:
        if each.ours is None and plain(each.name) == plain(name):
            return f"no metric is {quote(name)} of {each.tool}: {each.differs}"
    known = [*_metrics(), *_rates(), *(r.name for r in RATES), *(r.name for r in METRICS), *SETS]
    return f"no metric named {quote(name)}.{nearest(name, known)} See: fairgauge metrics"


@cache
def _metrics() -> dict[str, tuple[Metric, ...]]:
    return _index(METRICS)


@cache
def _rates() -> dict[str, tuple[Statistic, ...]]:
    return _index(RATES)


def _index(rows: Sequence[Row]) -> dict[str, tuple[Row, ...]]:
    """Return the rows of every name in use; several only where they are different numbers."""
    own = {row.name: row for row in rows}
    called: dict[str, set[str]] = {}
    for row in rows:
        for name in (*row.aka, row.title):
            called.setdefault(plain(name), set()).add(row.name)
    for each in NAMES:
        if each.ours in own:
            called.setdefault(plain(each.name), set()).add(each.ours)
    place = {row.name: i for i, row in enumerate(rows)}
    index = {
        key: _different([own[name] for name in sorted(names, key=place.__getitem__)])
        for key, names in called.items()
    }
    return index | {plain(row.name): (row,) for row in rows}


def _different(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return the first row of every formula."""
    if len(rows) == 1:
        return tuple(rows)
    of_formula: dict[str, Row] = {}
    for row in rows:
        of_formula.setdefault(row.formula, row)
    return tuple(of_formula.values())
