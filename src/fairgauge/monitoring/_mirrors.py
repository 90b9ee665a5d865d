"""Two groups that are each compared with the other: one comparison, with one share of alpha.

What is tolerated holds for both groups at once: what a rule tolerates of the other group, turned,
is tolerated of the one that stands for both. They are one for as long as no further group has rows.
From then on each is compared with others than the other alone, has the limits of the rule, and half
of the share: both continue from the same evidence R, so that an alarm of either at 2 T / alpha, as
one of both at T / alpha before, takes a mean of the two of T / alpha or more. That mean is evidence
of the same kind, and reaches T / alpha within the horizon with a probability of at most alpha.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fairgauge.catalogue.comparisons import Contrast, Ends, Metric
from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import Favourable, ReferenceRule
from fairgauge.monitoring._comparison_counts import ComparisonCounts, ComparisonId, SideCounts
from fairgauge.monitoring.monitor_spec import MonitoredRate, MonitorRule
from fairgauge.results.disadvantage import adverse_sign
from fairgauge.results.estimates import Estimate
from fairgauge.results.monitor_results import MonitoredComparison, other_of_two
from fairgauge.stats.arrays import Array, Mask

_PAIR = 2
_TURNED = [2, 3, 0, 1]
"""The columns of counts seen from the other side."""


class Mirror(NamedTuple):
    """A comparison that only mirrors another.

    ``of`` is the number of the other, which stands for both; ``until`` that of the first period in
    which they are two, infinite where there is none.
    """

    of: int
    until: float


def paired(mirrors: Mapping[int, Mirror]) -> set[int]:
    """Return the comparisons of two groups that are one in all periods: neither has a third."""
    lasting = {i: mirror.of for i, mirror in mirrors.items() if math.isinf(mirror.until)}
    return {*lasting, *lasting.values()}


def shares_by_period(shares: Array, mirrors: Mapping[int, Mirror], periods: int) -> Array:
    """Return the share of alpha of every comparison in every period: (periods, comparisons).

    ``shares`` are those of before any two groups that were one comparison became two.
    """
    found = np.tile(shares, (periods, 1))
    for i, mirror in mirrors.items():
        if mirror.until < periods:
            found[int(mirror.until) :, [i, mirror.of]] /= 2
    return found


def tolerated(
    ids: Sequence[ComparisonId],
    rules: Sequence[MonitorRule],
    baselines: Mapping[ComparisonId, Ends],
    mirrors: Mapping[int, Mirror],
    periods: int,
) -> tuple[Array, Array]:
    """Return what is tolerated of every comparison: two arrays of shape (periods, comparisons).

    ``baselines`` are the confidence limits of baselines, around which the limits of a rule then
    are. Of a group that its baseline does not have, everything is tolerated.
    """
    found = np.empty((2, periods, len(ids)))
    for i, each in enumerate(ids):
        rule = rules[each.rule]
        lacking = rule.baseline is not None and each not in baselines
        own = (-math.inf, math.inf) if lacking else _limits(rule, baselines.get(each))
        found[..., i] = np.reshape(own, (2, 1))
    for i, mirror in mirrors.items():
        rule, baseline = rules[ids[i].rule], baselines.get(ids[mirror.of])
        turn = None if rule.definition is None else rule.definition.turn
        alike = slice(0, int(min(mirror.until, periods)))
        if turn is not None and np.isfinite(found[:, alike, mirror.of]).any():
            low, high = _limits(rule, baseline)
            other_low, other_high = turn(_limits(rule, turn(baseline) if baseline else None))
            both = max(low, other_low), min(high, other_high)
            found[:, alike, mirror.of] = np.reshape(both, (2, 1))
            found[:, alike, i] = np.reshape(turn(both), (2, 1))
    return found[0], found[1]


def _limits(rule: MonitorRule, baseline: Ends | None) -> Ends:
    low, high = baseline or (0.0, 0.0)
    return low + rule.low, high + rule.high


def _folds(rule: MonitorRule, metric: Metric | None) -> bool:
    """Return whether a rule can hold for two groups that mirror each other: for "no difference"."""
    if metric is None or metric.turn is None:
        return False
    neutral = metric.neutral if rule.baseline is None else 0.0
    return rule.low <= neutral <= rule.high


def mirrors_of_counts(
    counts: ComparisonCounts,
    rules: Sequence[MonitorRule],
    rates: Mapping[int, MonitoredRate],
    baselines: Mapping[ComparisonId, SideCounts],
) -> dict[int, Mirror]:
    """Return the comparisons of counts that only mirror another, by their numbers."""
    absent = SideCounts(0.0, 0.0, 0.0, 0.0)

    def compare(i: int, j: int) -> tuple[Mask, Mask]:
        """Compare the baseline, then every period."""
        sides = (
            np.vstack([baselines.get(counts.ids[k], absent), counts.counts[:, k]]) for k in (i, j)
        )
        one, other = sides
        compared = (one[:, 1] * one[:, 3] > 0) | (other[:, 1] * other[:, 3] > 0)
        return compared, (one == other[:, _TURNED]).all(axis=1)

    def rows(i: int) -> float:
        """Return the rows of a group in the first period that compares it."""
        _, n_d, _, n_a = counts.counts[:, i].T
        own = n_a if rates[counts.ids[i].rule].turned else n_d
        return float(own[np.argmax(n_d * n_a > 0)])

    folds = [
        reference == ReferenceRule.OTHERS and _folds(rules[each.rule], rules[each.rule].definition)
        for each, reference in zip(counts.ids, counts.references, strict=True)
    ]
    found = _mirrors(counts.ids, counts.arrivals, folds, compare, rows)
    return {i: Mirror(of, until - 1) for i, (of, until) in found.items() if until > 1}


def mirrors_of_estimates(
    spent: Mapping[ComparisonId, Mapping[int, Estimate]],
    rules: Sequence[MonitorRule],
    periods: int,
) -> dict[int, Mirror]:
    """Return the comparisons of estimates that only mirror another, by their numbers."""
    ids = list(spent)

    def compare(i: int, j: int) -> tuple[Mask, Mask]:
        pairs = [(spent[ids[i]].get(t), spent[ids[j]].get(t)) for t in range(periods)]
        alike = [
            one is not None
            and other is not None
            and (one.mirror_of == other.group or other.mirror_of == one.group)
            for one, other in pairs
        ]
        return np.array([one is not None or other is not None for one, other in pairs]), np.array(
            alike
        )

    def rows(i: int) -> float:
        return next((float(e.n_group) for e in spent[ids[i]].values() if e.n_group), 0.0)

    arrivals = [min(held) for held in spent.values()]
    folds = [_folds(rules[each.rule], rules[each.rule].definition) for each in ids]
    return _mirrors(ids, arrivals, folds, compare, rows)


def worse_off_first(
    comparisons: Sequence[MonitoredComparison], favourable: Favourable
) -> tuple[MonitoredComparison, ...]:
    """Return comparisons of which that of the worse off group stands for two that are mirrored."""
    found = list(comparisons)
    for i, each in enumerate(comparisons):
        if each.mirror_of is not None and _is_worse_off(each, favourable):
            other = other_of_two(each, comparisons)
            assert other is not None
            found[i] = replace(each, mirror_of=None)
            found[comparisons.index(other)] = replace(other, mirror_of=each.group)
    return tuple(found)


def _is_worse_off(each: MonitoredComparison, favourable: Favourable) -> bool:
    """Return whether the rate of a group is worse, since the change or in the last period."""
    rates = each.last if each.alarm is None else each.alarm.after
    if rates is None or rates.rate_group is None or rates.rate_reference is None:
        return False
    if each.class_ is not None:  # which of several classes is better nobody stated
        return False
    row = each.definition.of if isinstance(each.definition, Contrast) else each.definition
    if not isinstance(row, Rate):
        return False
    return (rates.rate_group - rates.rate_reference) * adverse_sign(row, favourable) > 0


def _mirrors(
    ids: Sequence[ComparisonId],
    arrivals: Sequence[int],
    folds: Sequence[bool],
    compare: Callable[[int, int], tuple[Mask, Mask]],
    rows: Callable[[int], float],
) -> dict[int, Mirror]:
    """Return mirrors among the first two comparisons of every rule, feature and class.

    ``compare`` returns where either of two is compared with something, and where they are mirrored.
    """
    alike: dict[tuple[int, str, str | None], list[int]] = {}
    for i, each in enumerate(ids):
        if folds[i]:
            alike.setdefault((each.rule, each.feature, each.class_), []).append(i)
    found: dict[int, Mirror] = {}
    for held in alike.values():
        first = sorted(held, key=lambda i: arrivals[i])[:_PAIR]
        if len(first) < _PAIR:
            continue
        compared, mirrored = compare(*first)
        apart = np.flatnonzero(compared & ~mirrored)
        until = float(apart[0]) if len(apart) else math.inf
        # without labels nothing is compared yet, but two groups are one comparison
        alone = len(held) == _PAIR and not compared.any()
        if alone or compared[: int(min(until, len(compared)))].any():
            of, mirror = sorted(first, key=rows)
            found[mirror] = Mirror(of, until)
    return found
