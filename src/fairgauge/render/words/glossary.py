"""What every name in a report means: the catalogue's rows, for those that the report uses."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.descriptions import entry
from fairgauge.catalogue.facts import UnknownMetric
from fairgauge.catalogue.statistics import Statistic
from fairgauge.render._document_tree import Entry
from fairgauge.render.words.metric_words import equivalents, metric_words


def anchor(kind: str, name: str) -> str:
    """Return the place of a name in the glossary: ``metric-DPL``."""
    return f"{kind}-{re.sub(r'[^A-Za-z0-9]+', '-', name)}"


def metric_link(row: Metric | Statistic) -> str:
    """Return the place of a metric in the glossary; nothing where it has none."""
    has_entry = isinstance(row, Metric) and not isinstance(row, UnknownMetric)
    return anchor("metric", row.name) if has_entry else ""


def metric_entries(rows: Iterable[Metric]) -> list[Entry]:
    """Return the entries of metrics, in order; a metric that is not described has none."""
    return [
        _entry("metric", row, metric_words(row), ("vendors", equivalents(row)))
        for row in rows
        if metric_link(row)
    ]


def rate_entries(rows: Iterable[Statistic]) -> list[Entry]:
    """Return the entries of rates, in order."""
    return [_entry("rate", row, row.title, ("criterion", row.criterion)) for row in rows]


def _entry(kind: str, row: Metric | Statistic, title: str, more: tuple[str, str]) -> Entry:
    found = entry(row)
    neutral = "" if found.neutral is None else f"; {found.neutral:g} means no difference"
    facts = (
        ("formula", found.formula),
        ("range", f"{_range(found.range)}{neutral}"),
        ("reading", _sentence(found.reading)),
        ("edge cases", _sentence(found.edges)),
        more,
        ("also called", ", ".join(n for n in found.synonyms if n.casefold() != title.casefold())),
        ("source", ", ".join(found.sources)),
    )
    kept = tuple((word, text) for word, text in facts if text)
    return Entry(anchor(kind, found.name), found.name, title, _sentence(found.says), kept)


def _range(ends: tuple[float, float]) -> str:
    low, high = (("−∞" if end < 0 else "∞") if math.isinf(end) else f"{end:.4g}" for end in ends)
    return f"{low.replace('-', '−')} to {high}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""
