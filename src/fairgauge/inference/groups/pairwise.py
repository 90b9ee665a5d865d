"""Pairwise comparisons of all groups of a feature, whose intervals hold simultaneously.

Each pair is MOVER of both groups' limits at Tukey's critical value (Agresti, Bini, Bertaccini and
Ryu 2008 for shares). The largest gap shares the limit towards "no difference", so that it and the
pair that differs most never disagree about whether there is one; its other limit is narrower. The
p-value is the level of Tukey's range at which a pair just touches "no difference".
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fairgauge.catalogue.cells import Array
from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import DiagnosticCode, IntervalMethod, Status
from fairgauge.inference.compared_counts import FEWEST_GROUPS, FeatureGroups
from fairgauge.inference.groups.families import Family
from fairgauge.inference.interval import Methods, concatenated, decidable, each_once
from fairgauge.inference.one.statistic_intervals import statistic_interval
from fairgauge.inference.two.contrast_intervals import insufficient_sides
from fairgauge.question.specification import Spec
from fairgauge.reasons import Reason
from fairgauge.results.estimates import GroupPair
from fairgauge.results.scopes import Diagnostic, Interval
from fairgauge.stats.arrays import Index, Limits, quotient
from fairgauge.stats.contrasts import mover_difference, mover_ratio
from fairgauge.stats.multiplicity import sidak, tukey_critical, tukey_p
from fairgauge.stats.significance import invert_z, two_sided

MOST_LISTED = 435
"""Pairs kept of a rate: all of 30 groups; of more groups, those that differ most."""

_MOST_COMPARED = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class _PairIntervals:
    """Pairs of groups in one rate; arrays of shape (pairs,), but ``groups``, a number."""

    groups: int
    first: Index
    second: Index
    rates: tuple[Array, Array]
    difference: Limits
    ratio: Limits
    methods: Methods

    def take(self, at: Index) -> _PairIntervals:
        first, second = self.rates
        return _PairIntervals(
            self.groups, self.first[at], self.second[at], (first[at], second[at]),
            (self.difference[0][at], self.difference[1][at]),
            (self.ratio[0][at], self.ratio[1][at]), self.methods,
        )  # fmt: skip

    def by_size(self) -> Index:
        distance = np.nan_to_num(np.maximum(-self.difference[1], 0.0))
        return np.lexsort((self.rates[0] - self.rates[1], -distance))


def pairwise(
    rates: Sequence[Rate], groups: FeatureGroups, spec: Spec, family: Family
) -> list[GroupPair]:
    """Compare every two groups in some rates, those that differ most first.

    Fewer than three groups with sufficient data give none: their comparison is an estimate already.
    Of very many pairs, `MOST_LISTED` of each rate are kept; all of them hold at once even so.
    """
    size = len(groups.names)
    if size < FEWEST_GROUPS or _pairs(size) > _MOST_COMPARED:
        return []
    every = ((rate, _compared(rate, groups, family.level)) for rate in rates)
    kept = [
        (rate, compared.take(compared.by_size()[:MOST_LISTED]))
        for rate, compared in every
        if compared.groups >= FEWEST_GROUPS
    ]
    tested = _tested(kept, groups)
    return [
        pair
        for (rate, compared), (p, too_few) in zip(kept, tested, strict=True)
        for pair in _group_pairs(rate, compared, sidak(p, family.size), too_few, groups, spec)
    ]


def pairs_not_listed(groups: FeatureGroups) -> Iterator[Diagnostic]:
    """Note how many pairs of a feature are not listed, if any."""
    size = len(groups.names)
    every = _pairs(size)
    if every <= MOST_LISTED:
        return
    listed = 0 if every > _MOST_COMPARED else MOST_LISTED
    yield Diagnostic.note(
        DiagnosticCode.PAIRS_LIMITED, groups.feature, pairs=every, groups=size, listed=listed
    )


def _pairs(groups: int) -> int:
    return groups * (groups - 1) // 2


def _compared(rate: Rate, groups: FeatureGroups, confidence: float) -> _PairIntervals:
    interval = statistic_interval(rate, groups.pick(np.arange(len(groups.names))))
    known = np.flatnonzero(decidable(interval))
    one, two = (known[i] for i in np.triu_indices(len(known), k=1))
    swapped = interval.estimate[one] > interval.estimate[two]
    first, second = np.where(swapped, two, one), np.where(swapped, one, two)
    c = np.full(len(interval.estimate), float(tukey_critical(len(known), confidence)))
    numbers = (interval.estimate, *interval.at(c))
    sides = [each[i] for i in (first, second) for each in numbers]
    correlated = (*sides, interval.correlation(interval, first, second))
    return _PairIntervals(
        groups=len(known),
        first=first,
        second=second,
        rates=(sides[0], sides[3]),
        difference=mover_difference(*correlated),
        ratio=mover_ratio(*correlated),
        methods=each_once(IntervalMethod.TUKEY, IntervalMethod.MOVER, *interval.methods),
    )


def _tested(
    kept: Sequence[tuple[Rate, _PairIntervals]], groups: FeatureGroups
) -> Iterator[tuple[Array, list[Reason | None]]]:
    ours, theirs = (
        [statistic_interval(rate, groups.pick(which)) for rate, which in sides]
        for sides in (
            [(rate, each.first) for rate, each in kept],
            [(rate, each.second) for rate, each in kept],
        )
    )
    at = [np.arange(len(each.first)) for _, each in kept]
    tied = [a.correlation(b, i, i) for a, b, i in zip(ours, theirs, at, strict=True)]
    r = np.concatenate([np.empty(0), *tied])
    one, two = concatenated(ours), concatenated(theirs)
    z = invert_z(lambda z: mover_difference(one.estimate, *one.at(z), two.estimate, *two.at(z), r))
    start = 0
    for (_, each), a, b in zip(kept, ours, theirs, strict=True):
        here = z[start : (start := start + len(each.first))]
        # the range is computed to some 1e-15; beyond, a pair alone is the better bound
        yield np.maximum(tukey_p(here, each.groups), two_sided(here)), insufficient_sides(a, b)


def _group_pairs(
    rate: Rate,
    kept: _PairIntervals,
    p: Array,
    too_few: Sequence[Reason | None],
    groups: FeatureGroups,
    spec: Spec,
) -> Iterator[GroupPair]:
    first, second = kept.rates
    ratio = quotient(first, second)
    for i, few in enumerate(too_few):
        rates = float(first[i]), float(second[i])
        difference, as_ratio = (
            Interval(float(low[i]), float(high[i]), spec.confidence, kept.methods)
            for low, high in (kept.difference, kept.ratio)
        )
        known = not math.isnan(ratio[i])
        group, other = (groups.names[which[i]] for which in (kept.first, kept.second))
        yield GroupPair(
            feature=groups.feature,
            rate=rate.name,
            definition=rate,
            group=group,
            other=other,
            class_scope=groups.class_scope,
            threshold=groups.threshold if "prediction" in rate.needs else None,
            rate_group=rates[0],
            rate_other=rates[1],
            difference=rates[0] - rates[1],
            difference_interval=difference,
            ratio=float(ratio[i]) if known else None,
            ratio_low=as_ratio.low if known else None,
            ratio_high=as_ratio.high if known else None,
            pairs=_pairs(kept.groups),
            p_adjusted=float(p[i]),
            status=Status.TOO_FEW if few else Status.OK,
            reason=few and Reason(few.code, parameters=few.parameters),  # of the smaller of both
        )
