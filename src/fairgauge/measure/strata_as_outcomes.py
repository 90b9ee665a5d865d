"""Strata that are the outcome by another name, within which nothing is left to compare."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import DiagnosticCode
from fairgauge.results.gap_decomposition import Gap
from fairgauge.results.scopes import Diagnostic

_ALMOST_ALL = 0.99
_FEWEST = 10
"""Rows of a level below which all have one outcome often, whatever the level."""


def strata_that_are_outcomes(gaps: Sequence[Gap]) -> Iterator[Diagnostic]:
    """Warn of columns each value of which has almost one outcome alone, both outcomes included."""
    warned = set()
    for gap in gaps:
        metric = gap.estimate.definition
        if not isinstance(metric, Contrast) or not isinstance(metric.of, Rate):
            continue
        for column in gap.columns:
            share = _share_alike(gap, column)
            if share >= _ALMOST_ALL and column not in warned:
                warned.add(column)
                yield Diagnostic.warning(
                    DiagnosticCode.STRATUM_IS_OUTCOME, None, column=column, share=share
                )


def _share_alike(gap: Gap, column: str) -> float:
    """Return the smaller share of both outcomes that are those of most rows with their value."""
    levels: dict[str, list[float]] = {}
    for each in gap.strata:
        cell = levels.setdefault(each.stratum[column], [0.0, 0.0])
        for rate, n in ((each.rate_group, each.n_group), (each.rate_reference, each.n_reference)):
            cell[0] += (rate or 0.0) * n
            cell[1] += n
    positive, negative = sum(x for x, _ in levels.values()), sum(n - x for x, n in levels.values())
    if not positive or not negative:
        return 0.0
    held = [(x, n) for x, n in levels.values() if n >= _FEWEST]
    alike = sum(x for x, n in held if 2 * x > n), sum(n - x for x, n in held if 2 * x < n)
    return min(alike[0] / positive, alike[1] / negative)
