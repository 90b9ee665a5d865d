"""Detection: from the counts of all periods to evidence, thresholds and the first alarms.

The promise is one probability, alpha, of at least one false alarm within the horizon, over all
rules and groups together. It is divided before anything is known of the outcomes:

- Comparisons of the first period, or of a baseline, share 80% of alpha equally; those that appear
  later share 80% of what is left at that time. A threshold once set is never changed, so that a
  later period cannot take an alarm back.
- A baseline is an estimate. Of the alpha of its comparison, half is the error of exact confidence
  limits of the contrast in the baseline; everything within the tolerated distance of these limits
  is tolerated, and the detector spends the other half. If a false alarm occurs, either the limits
  miss the true baseline, with a probability of at most alpha / 2, or they contain it: then the true
  tolerated set is a part of the one that the detector uses, every batch e-value has expectation at
  most 1, and the alarm has a probability of at most alpha / 2 within the horizon. Using the
  baseline's likelihood again in the e-value of every period would not do: given the past, which
  holds the baseline, such an e-value has an expectation above 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from fairgauge.catalogue.comparisons import Ends
from fairgauge.monitoring._counts import ComparisonCounts, SideCounts
from fairgauge.monitoring.monitor_spec import MonitoredRate, MonitorRule, MonitorSpec
from fairgauge.monitoring.periods import DAYS, WEEKEND
from fairgauge.results.monitor_results import Baseline
from fairgauge.stats.arrays import Array
from fairgauge.stats.exact import exact_limits
from fairgauge.stats.sequential import Contrasted, Tolerated, evidence_of_change

_BLOCK = 50_000
"""E-values of periods and comparisons that are computed at once."""
_OF_WEEKDAYS = 0.2
"""The part of the evidence that is of single weekdays, and of weekends."""
SPENT_AT_ONCE = 0.8
"""The part of what is left of alpha that comparisons share when they arrive."""


def divide_alpha(alpha: float, arrivals: Sequence[int]) -> Array:
    """Return the share of alpha of every comparison, from the periods in which they arrived.

    >>> divide_alpha(0.05, [0, 0, 3]).round(4).tolist()
    [0.02, 0.02, 0.008]
    """
    # comparisons of a baseline and of the first period arrive together
    first = np.maximum(np.asarray(arrivals, dtype=np.int64), 0)
    shares = np.zeros(len(first))
    left = alpha
    for wave in np.unique(first):
        held = first == wave
        shares[held] = left * SPENT_AT_ONCE / held.sum()
        left *= 1 - SPENT_AT_ONCE
    return shares


def tolerated_limits(
    rule: MonitorRule, rate: MonitoredRate | None, baseline: Baseline | None, *, for_two: bool
) -> Ends:
    """Return what is tolerated of a comparison; ``for_two``, also of the other one that it mirrors.

    Of a group without the baseline of its rule everything is.
    """
    least = 0.0 if rate is not None and rate.by == "ratio" else -math.inf
    if rule.baseline is not None and baseline is None:
        return least, math.inf
    ends = (baseline.low, baseline.high) if baseline is not None else (0.0, 0.0)
    low, high = ends[0] + rule.low, ends[1] + rule.high
    turn = None if rule.definition is None else rule.definition.turn
    if for_two and turn is not None:
        turned = turn(ends) if baseline is not None else ends
        other_low, other_high = turn((turned[0] + rule.low, turned[1] + rule.high))
        low, high = max(low, other_low), min(high, other_high)
    return max(low, least), high


def evidence_parts(
    evidence_of: Callable[..., Array], sides: Sequence[Array],
    weekdays: Mapping[str, Sequence[int]], horizon: int,
) -> Array:  # fmt: skip
    """Return evidence after every period, whose sum decides: of all, and of each of the weekdays.

    What occurs at weekends alone is otherwise outweighed by the days between them.
    ``evidence_of``: the evidence of periods, after each of these, by the arrays of their ``sides``.
    """
    # The sum R of e-values less the number of its periods is a supermartingale, of whatever
    # periods. One of weekdays stays between them; its weight is such that all its periods of the
    # horizon count for no more than its share of the horizon, so that the sum of all R is 0 at
    # first and expected to grow by no more than the horizon, as that of all periods alone would.
    every = evidence_of(*sides)
    if not weekdays:
        return every[np.newaxis]
    parts = np.zeros((1 + len(weekdays), *every.shape))
    parts[0] = (1 - _OF_WEEKDAYS) * every
    for part, (name, days) in zip(parts[1:], weekdays.items(), strict=True):
        if days:
            weeks = math.ceil(horizon / len(DAYS)) * (2 if name == WEEKEND else 1)
            weight = _OF_WEEKDAYS / len(weekdays) * horizon / weeks
            so_far = evidence_of(*(side[days] for side in sides))
            so_far = np.concatenate([np.zeros_like(every[:1]), so_far])
            part[:] = weight * so_far[np.searchsorted(days, np.arange(len(part)), side="right")]
    return parts


def first_alarm(
    parts: Array, entered: int, threshold: float, weekdays: Mapping[str, Sequence[int]]
) -> tuple[int, str | None, Sequence[int]] | None:
    """Return the period of the first alarm of those ``entered``, and the days that it is about.

    Those are what most of its evidence is of: all, without a name, or some weekdays.
    """
    crossed = np.flatnonzero(parts[:, :entered].sum(axis=0) >= threshold)
    if not crossed.size:
        return None
    at = int(crossed[0])
    name = [None, *weekdays][int(parts[:, at].argmax())]
    return at, name, [t for t in (weekdays[name] if name else range(entered)) if t < entered]


def detect(
    counts: ComparisonCounts, limits: Sequence[Ends], spec: MonitorSpec,
    rates: Mapping[int, MonitoredRate], weekdays: Mapping[str, Sequence[int]],
) -> Array:  # fmt: skip
    """Fold the counts of all periods into the parts of the evidence, shape (part, period, id)."""
    periods, size, _ = counts.counts.shape
    low, high = np.array(limits, dtype=np.float64).reshape(-1, 2).T
    parts = np.zeros((1 + len(weekdays), periods, size))
    by_contrast: dict[Contrasted, list[int]] = {}
    for i, each in enumerate(counts.ids):
        by_contrast.setdefault(rates[each.rule].by, []).append(i)
    step = max(_BLOCK // max(periods, 1), 1)
    for by, of in by_contrast.items():
        for held in (of[begin : begin + step] for begin in range(0, len(of), step)):
            tolerated = Tolerated(low[held], high[held], by)
            evidence_of = partial(evidence_of_change, tolerated, shift=spec.worth_catching)
            sides = sides_of(counts.counts[:, held], by)
            parts[..., held] = evidence_parts(evidence_of, sides, weekdays, spec.horizon)
    return parts


def sides_of(counts: Array, by: Contrasted) -> tuple[Array, Array, Array, Array]:
    """Return the successes and rows of both sides of counts: x_a, n_a, x_d, n_d."""
    x_d, n_d, x_a, n_a = np.moveaxis(counts, -1, 0)
    return (0 * x_d, 0 * n_d, x_d, n_d) if by == "rate" else (x_a, n_a, x_d, n_d)


def baseline_limits(
    held: SideCounts, alpha: float, rate: MonitoredRate, rule: MonitorRule
) -> Baseline:
    """Return a baseline with its confidence limits, whose error is half of alpha."""
    assert rule.baseline is not None
    low, high = exact_limits(held.x_d, held.n_d, held.x_a, held.n_a, alpha / 2, rate.by)
    d, a = (x / n if n else np.nan for x, n in ((held.x_d, held.n_d), (held.x_a, held.n_a)))
    value = {"difference": d - a, "ratio": d / a if a else np.nan, "rate": d}[rate.by]
    own, theirs = (held.n_a, held.n_d) if rate.turned else (held.n_d, held.n_a)
    return Baseline(source=rule.baseline.source, digest=rule.baseline.cube.digest,
        value=None if np.isnan(value) else float(value), low=float(low), high=float(high),
        n_group=int(own), n_reference=0 if rate.by == "rate" else int(theirs))  # fmt: skip
