"""Finding rows of the catalogue by any name in use."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from fairgauge.errors import nearest, quote
from fairgauge.metrics.catalogue import METRICS, RATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairgauge.metrics.comparisons import Metric
    from fairgauge.metrics.kinds import Statistic

Row = TypeVar("Row", bound="Metric | Statistic")
_PARAMETRISED = re.compile(
    r"(?P<name>[^()]+)\(\s*(?P<parameter>\w+)\s*=\s*(?P<value>-?\d+(\.\d+)?)\s*\)"
)
SETS = ("standard", "clarify", "vertex", "native", "all")


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
    key = _key(name)
    if key in _metrics() or _PARAMETRISED.fullmatch(name):
        return (find_metric(name),)
    if key in _rates():
        rate = _rates()[key]
        names = (_key(f"{rate.name}.{by}") for by in ("difference", "ratio"))
        return tuple(_metrics()[each] for each in names if each in _metrics())
    raise LookupError(_unknown(name))


def find_metric(name: str) -> Metric:
    """Return the metric of a name or synonym; LookupError with the nearest name otherwise.

    A parameter may follow in brackets: ``generalized_entropy(alpha=3)``.
    """
    parametrised = _PARAMETRISED.fullmatch(name)
    if parametrised and _key(name) not in _metrics():
        row = find_metric(parametrised["name"])
        return row.with_parameter(parametrised["parameter"], float(parametrised["value"]))
    try:
        return _metrics()[_key(name)]
    except KeyError:
        raise LookupError(_unknown(name)) from None


def find_rate(name: str) -> Statistic:
    """Return the rate of a name or synonym; LookupError with the nearest name otherwise."""
    try:
        return _rates()[_key(name)]
    except KeyError:
        raise LookupError(_unknown(name)) from None


def _unknown(name: str) -> str:
    known = [*_metrics(), *_rates(), *(r.name for r in RATES), *(r.name for r in METRICS), *SETS]
    return f"no metric named {quote(name)}.{nearest(name, known)} See: fairgauge metrics"


def _key(name: str) -> str:
    return re.sub(r"[\s_\-]+", "_", name.strip().casefold())


@cache
def _metrics() -> dict[str, Metric]:
    return _index(METRICS)


@cache
def _rates() -> dict[str, Statistic]:
    return _index(RATES)


def _index(rows: Sequence[Row]) -> dict[str, Row]:
    index: dict[str, Row] = {_key(row.name): row for row in rows}
    for row in rows:
        for name in (*row.aka, row.title):
            index.setdefault(_key(name), row)
    return index
