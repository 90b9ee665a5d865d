"""Needs: the rows that would decide a verdict, and the smallest disparity that a table can show."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.lookup import find_metric
from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import IntervalMethod, ReferenceKind
from fairgauge.report.results import OVERALL
from fairgauge.stats.power import detectable_difference, n_to_decide

if TYPE_CHECKING:
    from fairgauge.catalogue.comparisons import Metric
    from fairgauge.report.estimates import Estimate

POWER = 0.8
"""The default power."""


@dataclass(frozen=True, slots=True)
class DetectableDisparity:
    """The smallest disparity that two groups of these sizes can show.

    Attributes
    ----------
    difference : of the rates.
    ratio : below 1, of the rates; None where even a rate of 0 could not be detected.
    """

    difference: float
    ratio: float | None


def rows_to_decide(
    estimate: Estimate, lower: float, upper: float, metric: Metric | None = None
) -> float | None:
    """Return the rows (both sides together) at which an inconclusive verdict would be decided.

    The value is taken as it is. Infinite where it lies on a limit, None where it is not known.
    ``metric`` is what was estimated, if the catalogue does not have it.
    """
    rows = (estimate.n_group or 0) + (estimate.n_reference or 0)
    value, low, high = estimate.value, estimate.low, estimate.high
    if value is None or low is None or high is None or not rows:
        return None
    metric = metric or find_metric(estimate.metric)
    sides = _rates(estimate, metric)
    if sides is not None and isinstance(metric, Contrast) and estimate.confidence:
        first, second = sides if metric.order == "group - reference" else sides[::-1]
        x1, x2 = first[0] * first[1], second[0] * second[1]
        found = n_to_decide(
            x1, first[1], x2, second[1], lower, upper, estimate.confidence, metric.by
        )
        return float(found)
    factor = _factor(value, (low, high), (lower, upper), logarithmic=metric.neutral == 1)
    return math.ceil(rows * factor) if math.isfinite(factor) else math.inf


def detectable_disparity(
    estimate: Estimate, power: float = POWER, metric: Metric | None = None
) -> DetectableDisparity | None:
    """Return the smallest disparity that would probably be found in groups of these sizes.

    Both are taken to have the reference's rate. None where two rates are not compared. ``metric``
    is what was estimated, if the catalogue does not have it.
    """
    sides = _rates(estimate, metric or find_metric(estimate.metric))
    if sides is None or estimate.confidence is None:
        return None
    (_, n), (rate, m) = sides
    gap = float(detectable_difference(rate, m, rate, n, estimate.confidence, power))
    if not math.isfinite(gap):
        return None
    return DetectableDisparity(gap, 1 - gap / rate if rate > gap else None)


def _factor(
    value: float, interval: tuple[float, float], limits: tuple[float, float], *, logarithmic: bool
) -> float:
    """Return how many times the rows shrink an interval, as their root, off the limits it holds."""
    (low, high), (lower, upper) = interval, limits
    if value < lower:
        pairs = [(high, lower)]
    elif value > upper:
        pairs = [(low, upper)]
    else:
        pairs = [(low, lower)] if low < lower else []
        pairs += [(high, upper)] if high > upper else []
    factor = 1.0
    for end, limit in pairs:
        away = (end, limit, value)
        if logarithmic and min(away) > 0:
            away = (math.log(end), math.log(limit), math.log(value))
        far, near = away[0] - away[2], away[1] - away[2]
        factor = max(factor, (far / near) ** 2 if near else math.inf)
    return factor


def _rates(
    estimate: Estimate, metric: Metric
) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Return rate and rows of both sides, where they are two separate shares of single rows."""
    numbers = (
        estimate.rate_group, estimate.n_group, estimate.rate_reference, estimate.n_reference,
    )  # fmt: skip
    rate = isinstance(metric, Contrast) and isinstance(metric.of, Rate)
    reference = estimate.reference
    overall = reference is not None and reference.kind is ReferenceKind.OVERALL
    apart = not overall and estimate.scope == OVERALL
    interval = estimate.interval
    clustered = interval is not None and IntervalMethod.CLUSTER_ROBUST in interval.methods
    if not rate or not apart or clustered or any(n is None or not np.isfinite(n) for n in numbers):
        return None
    p, n, q, m = (float(number) for number in numbers if number is not None)
    return (p, n), (q, m)
