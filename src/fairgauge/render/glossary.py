"""What every name in a report means: the catalogue's rows, for those that the report uses."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from fairgauge.enums import Better
from fairgauge.render.document import Entry
from fairgauge.render.metric_words import (
    CRITERIA,
    equivalents,
    metric_row,
    metric_words,
    rate_row,
    rate_words,
)

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
    facts = [("formula", row.formula), ("range", _range(row.range))]
    if math.isfinite(row.neutral):
        reading = f"{row.neutral:g} means no difference. Above {row.neutral:g}: "
        facts.append(("reading", f"{reading}{_OPENING.sub('', row.positive)}."))
    else:
        facts.append(("reading", _sentence(row.positive)))
    facts += [
        ("undefined", _sentence(row.edges)),
        ("vendors", equivalents(row)),
        ("also called", ", ".join(row.aka)),
        ("source", ", ".join(row.cite)),
    ]
    return _entry("metric", row.name, metric_words(row.name), row.says, facts)


def _rate(row: Statistic) -> Entry:
    facts = [
        ("formula", row.formula),
        ("range", _range(row.range)),
        ("reading", _BETTER[row.better]),
        ("criterion", CRITERIA.get(row.name, "")),
        ("also called", ", ".join(row.aka)),
        ("source", ", ".join(row.cite)),
    ]
    return _entry("rate", row.name, rate_words(row.name), row.says, facts)


def _entry(kind: str, name: str, title: str, says: str, facts: list[tuple[str, str]]) -> Entry:
    kept = tuple((word, text) for word, text in facts if text)
    return Entry(anchor(kind, name), name, title, _sentence(says), kept)


def _range(ends: tuple[float, float]) -> str:
    low, high = (("−∞" if end < 0 else "∞") if math.isinf(end) else f"{end:.4g}" for end in ends)
    return f"{low.replace('-', '−')} to {high}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""
