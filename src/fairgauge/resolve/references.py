"""References: what every group is compared with, resolved once for counts and for rows alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.lookup import find_rate
from fairgauge.enums import Better, ReferenceKind, ReferenceRule
from fairgauge.results.scopes import Reference

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairgauge.catalogue.comparisons import Metric
    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.question.specification import Spec
    from fairgauge.resolve.group_counts import GroupCounts
    from fairgauge.resolve.sides import CountsBySide

    Index = NDArray[np.int64]
    Values = NDArray[np.float64]

FEWEST_ROWS = 20
"""A smaller group is sparse: it is not chosen as a reference unless a smaller size is asked for."""

_SAME_VALUE = 1e-12


@dataclass(frozen=True, slots=True)
class Tie:
    """Groups with the same most favourable value, or of the same largest size.

    Attributes
    ----------
    chosen : the reference: of most rows, and of several of these the first by name.
    others : the groups that are tied with it, the largest first.
    rate : the name of the rate that is the same; None where it is the size.
    value : the value of the rate, or the number of rows.
    by_rows : whether the number of rows decides; else the name does.
    """

    chosen: str
    others: tuple[str, ...]
    rate: str | None
    value: float
    by_rows: bool


@dataclass(frozen=True, slots=True, eq=False)
class References:
    """What every group of a feature is compared with.

    Attributes
    ----------
    sides : array of shape (groups,): the number of the side, as `CountsBySide` counts them.
    each : the reference of every group.
    tie : the groups of which the reference was chosen, where several were equally admissible.
    """

    sides: Index
    each: tuple[Reference, ...]
    tie: Tie | None = None

    def rows(self, group: int, codes: Index) -> NDArray[np.bool_]:
        """Return which rows are the reference of a group, from the group code of every row."""
        kind = self.each[group].kind
        if kind is ReferenceKind.OVERALL:
            return np.asarray(codes >= -1)
        if kind is ReferenceKind.OTHERS:
            return np.asarray((codes >= -1) & (codes != group))
        return np.asarray(codes == self.sides[group])


def resolve_references(
    counts: GroupCounts, sides: CountsBySide, metric: Metric | None, spec: Spec
) -> References:
    """Return the reference of every group under a metric.

    A named value is the reference of the features that have it, and all others elsewhere. ``best``
    is the admissible group that the metric's statistic favours; for a metric without one, that of
    the selection rate, or without predictions of the base rate. Where nothing is favoured, it is
    the largest admissible group. Ties are broken by the number of rows, then by the name.
    """
    rule, size = spec.reference, len(counts.groups)
    groups = np.arange(size)
    if isinstance(rule, tuple) and counts.named_reference is not None:
        named = counts.named_reference
        reference = Reference(ReferenceKind.GROUP, counts.groups[named])
        return References(np.full(size, named), (reference,) * size)
    if isinstance(rule, tuple) or rule is ReferenceRule.OTHERS:
        return References(sides.others + groups, (Reference(ReferenceKind.OTHERS),) * size)
    if rule is ReferenceRule.OVERALL:
        overall = Reference(ReferenceKind.OVERALL)
        return References(np.full(size, sides.whole), (overall,) * size)
    if not size:
        return References(groups, ())
    every = sides.pick(groups, np.zeros_like(groups))
    admissible = admissible_groups(counts, spec)
    if not admissible.any():
        admissible = every.size == every.size.max(initial=0.0)
    kind, favoured, rate = ReferenceKind.LARGEST, every.size, None
    if rule is ReferenceRule.BEST:
        kind = ReferenceKind.BEST
        statistic = _favouring(metric, counts)
        values = None if statistic is None else statistic.value(every, spec.profile)
        if statistic is not None and values is not None and not np.isnan(values[admissible]).all():
            favoured, rate = values, statistic
    chosen, tie = _most_favoured(counts, np.where(admissible, favoured, np.nan), every.size, rate)
    reference = Reference(kind, counts.groups[chosen])
    return References(np.full(size, chosen), (reference,) * size, tie)


def _most_favoured(
    counts: GroupCounts, values: Values, sizes: Values, rate: Statistic | None
) -> tuple[int, Tie | None]:
    """Return the group with the most favourable value, and those that are tied with it.

    Of several the one with most rows is taken, so that its confidence interval is the narrowest;
    of several of these the first by name. Values are equal up to rounding errors.
    """
    lower = rate is not None and rate.better is Better.LOWER
    most = float(np.nanmin(values) if lower else np.nanmax(values))
    equal = np.flatnonzero(np.isclose(values, most, rtol=_SAME_VALUE, atol=_SAME_VALUE)).tolist()
    chosen, *others = sorted(equal, key=lambda each: (-sizes[each], counts.groups[each]))
    if not others:
        return chosen, None
    return chosen, Tie(
        counts.groups[chosen],
        tuple(counts.groups[each] for each in others),
        None if rate is None else rate.name,
        float(values[chosen]),
        by_rows=bool(sizes[chosen] > sizes[others[0]]),
    )


def admissible_groups(counts: GroupCounts, spec: Spec) -> NDArray[np.bool_]:
    """Return which groups may be chosen as the best or the largest reference.

    Groups of fewer than ``min_n`` rows (by default `FEWEST_ROWS`) or ``min_share`` may not.
    """
    minimum = FEWEST_ROWS if spec.min_n is None else spec.min_n
    large = (counts.cases >= minimum) & (counts.shares >= (spec.min_share or 0.0))
    return np.asarray(large)


def _favouring(metric: Metric | None, counts: GroupCounts) -> Statistic | None:
    """Return the statistic by which one group is the best."""
    if isinstance(metric, Contrast):
        return metric.of
    if metric is None or not (counts.has_labels or counts.has_predictions):
        return None
    of_labels = not counts.has_predictions or metric.needs == {"label"}
    return find_rate("base_rate" if of_labels else "selection_rate")
