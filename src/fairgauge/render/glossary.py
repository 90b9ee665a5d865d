"""What every name in a report means: the catalogue's entries of the names that it uses."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairgauge.catalogue.descriptions import entry
from fairgauge.render.metric_meanings import metric_row, rate_row

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairgauge.catalogue.comparisons import Metric
    from fairgauge.catalogue.statistics import Statistic


@dataclass(frozen=True, slots=True)
class Entry:
    """One name of the glossary, as it is printed.

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
    return [_printed("metric", row) for name in dict.fromkeys(names) if (row := metric_row(name))]


def rate_entries(names: Iterable[str]) -> list[Entry]:
    """Return the entries of rates, in order."""
    return [_printed("rate", row) for name in dict.fromkeys(names) if (row := rate_row(name))]


def _printed(kind: str, row: Statistic | Metric) -> Entry:
    found = entry(row)
    neutral = "" if found.neutral is None else f"; {found.neutral:g} means no difference"
    return Entry(
        anchor=anchor(kind, found.name),
        name=found.name,
        title=found.title,
        says=_sentence(found.says),
        formula=found.formula,
        range=f"{_range(found.range)}{neutral}",
        reading=_sentence(found.reading),
        edges=_sentence(found.edges),
        aka=found.synonyms,
        cite=row.cite,
    )


def _range(limits: tuple[float, float]) -> str:
    low, high = (
        ("-∞" if limit < 0 else "∞") if math.isinf(limit) else f"{limit:.4g}" for limit in limits
    )
    return f"{low} to {high}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""
