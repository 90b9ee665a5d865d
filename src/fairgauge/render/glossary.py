"""What every name in a report means: the catalogue's rows, for those that the report uses."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairgauge.enums import Better
from fairgauge.render.metric_meanings import metric_row, rate_row

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairgauge.catalogue.comparisons import Metric
    from fairgauge.catalogue.statistics import Statistic

_BETTER = {
    Better.HIGHER: "A higher value favours the group.",
    Better.LOWER: "A lower value favours the group.",
    Better.NEITHER: "Neither direction is better by itself.",
}
_OPENING = re.compile(r"^above [01], ")


@dataclass(frozen=True, slots=True)
class Entry:
    """One name of the glossary.

    Attributes
    ----------
    anchor, name, title : where it stands, and what it is called.
    says, formula, range, reading, edges : what it means, how it is computed and read.
    aka, cite : its other names, and where it is defined.
    """

    anchor: str
    name: str
    title: str
    says: str
    formula: str
    range: str
    reading: str
    edges: str
    aka: tuple[str, ...]
    cite: tuple[str, ...]


def anchor(kind: str, name: str) -> str:
    """Return the place of a name in the glossary: ``metric-DPL``."""
    return f"{kind}-{re.sub(r'[^A-Za-z0-9]+', '-', name)}"


def metric_entries(names: Iterable[str]) -> list[Entry]:
    """Return the entries of metrics, in order."""
    return [_metric(row) for name in dict.fromkeys(names) if (row := metric_row(name))]


def rate_entries(names: Iterable[str]) -> list[Entry]:
    """Return the entries of rates, in order."""
    return [_rate(row) for name in dict.fromkeys(names) if (row := rate_row(name))]


def _metric(row: Metric) -> Entry:
    return Entry(
        anchor("metric", row.name),
        row.name,
        row.title,
        _sentence(row.says),
        row.formula,
        f"{_range(row.range)}; {row.neutral:g} means no difference",
        f"Above {row.neutral:g}: {_OPENING.sub('', row.positive)}.",
        _sentence(row.edges),
        row.aka,
        row.cite,
    )


def _rate(row: Statistic) -> Entry:
    return Entry(
        anchor("rate", row.name),
        row.name,
        row.title,
        _sentence(row.says),
        row.formula,
        _range(row.range),
        _BETTER[row.better],
        "Undefined where the number below the line is 0.",
        row.aka,
        row.cite,
    )


def _range(limits: tuple[float, float]) -> str:
    low, high = (
        ("-∞" if limit < 0 else "∞") if math.isinf(limit) else f"{limit:.4g}" for limit in limits
    )
    return f"{low} to {high}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""
