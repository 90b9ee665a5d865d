"""Needs: the rows that would decide a verdict, and the smallest disparity that a table can show."""

from __future__ import annotations

import math

import numpy as np

from fairgauge.catalogue.comparisons import Contrast, Metric
from fairgauge.enums import IntervalMethod
from fairgauge.results.estimates import Estimate
from fairgauge.stats.contrasts import mover_wilson_ratio, newcombe
from fairgauge.stats.intervals import critical
from fairgauge.stats.rows_to_decide import (
    detectable_difference,
    rows_to_decide,
    rows_to_decide_rates,
)

POWER = 0.8
"""The default power."""


def needed_rows(estimate: Estimate, lower: float, upper: float) -> float | None:
    """Return the rows of both sides that would decide a verdict with a power of `POWER`.

    They are those of an estimate that is the truth; infinite where it lies on a limit, and None
    where it or its interval is unknown or unbounded.
    """
    rows = (estimate.n_group or 0) + (estimate.n_reference or 0)
    value, low, high = estimate.value, estimate.low, estimate.high
    if value is None or low is None or high is None or not estimate.confidence or not rows:
        return None
    metric = estimate.definition
    sides, times = _rates_with_sizes(estimate), _interval_inflation(estimate, metric)
    if sides and times and isinstance(metric, Contrast) and (metric.by != "ratio" or lower >= 0):
        (p1, n1), (p2, n2) = sides if metric.order == "group - reference" else sides[::-1]
        found = times * float(
            rows_to_decide_rates(
                p1, n1 / times, p2, n2 / times, lower, upper, metric.by, estimate.confidence, POWER
            )
        )
    else:
        found = float(
            rows_to_decide(
                value, low, high, rows, lower, upper, estimate.confidence, POWER,
                logarithmic=metric.neutral == 1 and low > 0 and lower >= 0,
            )
        )  # fmt: skip
    if math.isnan(found):
        return None
    return math.ceil(found) if math.isfinite(found) else found


def _interval_inflation(estimate: Estimate, metric: Metric) -> float | None:
    # it is 1 but where the interval is not as long as that of so many single rows: they have
    # weights or clusters, or several intervals hold together
    sides = _rates_with_sizes(estimate)
    if sides is None or not isinstance(metric, Contrast) or estimate.confidence is None:
        return None
    if metric.by not in ("difference", "ratio") or estimate.low is None or estimate.high is None:
        return None
    (p1, n1), (p2, n2) = sides if metric.order == "group - reference" else sides[::-1]
    ends = np.array([estimate.low, estimate.high])
    z = critical(estimate.confidence)
    if metric.by == "difference":
        alone = np.array(newcombe(p1 * n1, n1, p2 * n2, n2, z))
    else:
        if not (p1 > 0 and p2 > 0 and 0 < ends[0] < ends[1] < math.inf):
            return None
        ends, alone = np.log(ends), np.log(mover_wilson_ratio(p1 * n1, n1, p2 * n2, n2, z))
    times = float((np.ptp(ends) / np.ptp(alone)) ** 2)
    return times if times > 0 else None


def detectable_disparity(
    estimate: Estimate, *, above: bool = False
) -> tuple[float | None, float | None]:
    """Return the smallest difference and ratio of rates that groups of these sizes probably show.

    Both are taken to have the reference's rate. The ratio is that of a group with a lower rate, or
    with one ``above`` the reference's. None where no rate is so far from the reference's, or two
    rates are not compared.
    """
    sides, interval = _rates_with_sizes(estimate), estimate.interval
    if sides is None or interval is None:
        return None, None
    times = _interval_inflation(estimate, estimate.definition)
    dependent = {IntervalMethod.JACKKNIFE, IntervalMethod.SURVEY_DESIGN}
    if times is None and dependent & {*interval.methods}:
        # such as a ratio to 0, which does not show how precise clustered rows are
        return None, None
    (_, n), (rate, m) = sides
    n, m = n / (times or 1.0), m / (times or 1.0)
    gap = float(detectable_difference(rate, m, rate, n, interval.level, POWER))
    if not math.isfinite(gap):
        return None, None
    possible = gap <= max(rate, 1 - rate)
    away = gap if above else -gap
    ratio = 1 + away / rate if rate and 0 < rate + away <= 1 else None
    return gap if possible else None, ratio


def _rates_with_sizes(estimate: Estimate) -> tuple[tuple[float, float], tuple[float, float]] | None:
    numbers = (
        estimate.rate_group, estimate.n_group, estimate.rate_reference, estimate.n_reference,
    )  # fmt: skip
    if not estimate.of_separate_rates or any(n is None or not np.isfinite(n) for n in numbers):
        return None
    p, n, q, m = (float(number) for number in numbers if number is not None)
    return (p, n), (q, m)
