"""Seeded simulations: coverage of intervals of statistics of scores."""

from __future__ import annotations

from functools import cache
from itertools import product
from statistics import NormalDist

import numpy as np
import pytest
from tests.needs import EVERY_CASE

from fairgauge.stats import calibration, contrasts, scores
from fairgauge.stats.intervals import critical
from fairgauge.stats.norm_ball import ball

Z = critical(0.95)
_FINE = 2_000


def covered(limits, truth):
    low, high = limits
    return 100 * np.mean((low <= truth + 1e-12) & (high >= truth - 1e-12))


def _true_precision(prevalence, shift):
    """Average precision of binormal scores, by numerical integration."""
    at = np.linspace(-8, 10, 40_001)
    cdf = np.vectorize(NormalDist().cdf)
    coarse = at[::40]
    above = np.interp(at, coarse, 1 - cdf(coarse - shift))
    below = np.interp(at, coarse, 1 - cdf(coarse))
    precision = prevalence * above / (prevalence * above + (1 - prevalence) * below + 1e-300)
    density = np.exp(-((at - shift) ** 2) / 2) / np.sqrt(2 * np.pi)
    return float((precision * density).sum() * (at[1] - at[0]))


def _ranked(rng, size, n, prevalence, shift):
    """Histograms of binormal scores; at least one row of either label."""
    found = []
    for _ in range(size):
        y = rng.random(n) < prevalence
        y[:2] = [True, False]
        s = rng.normal(size=n) + shift * y
        at = np.clip(((s + 5) / 12 * _FINE).astype(int), 0, _FINE - 1)
        found.append([np.bincount(at[y], minlength=_FINE), np.bincount(at[~y], minlength=_FINE)])
    return np.moveaxis(np.array(found, dtype=float), 1, 0)


def average_precisions(rng, size):
    for n, prevalence, area in product((20, 50, 200, 2000), (0.3, 0.6), (0.6, 0.75, 0.9)):
        shift = NormalDist().inv_cdf(area) * 2**0.5
        pos, neg = _ranked(rng, size, n, prevalence, shift)
        found = scores.precision_from_counts(pos, neg)
        limits = scores.precision_interval(*found, pos.sum(-1), Z)
        yield covered(limits, _true_precision(prevalence, shift))


def precision_gaps(rng, size):
    for n, (first, second) in product((50, 200), ((0.7, 0.7), (0.9, 0.7))):
        sides, truths = [], []
        for area in (first, second):
            shift = NormalDist().inv_cdf(area) * 2**0.5
            pos, neg = _ranked(rng, size, n, 0.3, shift)
            average, variance = scores.precision_from_counts(pos, neg)
            sides += [average, *scores.precision_interval(average, variance, pos.sum(-1), Z)]
            truths.append(_true_precision(0.3, shift))
        yield covered(contrasts.mover_difference(*sides), truths[0] - truths[1])


def _outcomes(rng, size, n, shape, slope, shift):
    """Scores from a beta distribution; outcomes of log odds shift + slope logit(score)."""
    s = rng.beta(*shape, (size, n))
    p = 1 / (1 + np.exp(-(shift + slope * np.log(s / (1 - s)))))
    return s, p, rng.random((size, n)) < p


SHAPES = ((1, 1), (2, 5), (0.5, 0.5))
MODELS = ((1.0, 0.0), (0.6, 0.3), (1.0, 0.8))


def _binned(s, y):
    bins = np.clip(np.ceil(s * 10) - 1, 0, 9).astype(int)
    inside = (bins[..., None] == np.arange(10)).astype(float)

    def total(values):
        return (values[..., None] * inside).sum(1)

    return calibration.Bins(inside.sum(1), total(y.astype(float)), total(s), total((s - y) ** 2))


@cache
def _true_gaps(shape, slope, shift):
    rng = np.random.default_rng(0)
    s, p, _ = _outcomes(rng, 1, 500_000, shape, slope, shift)
    bins = np.clip(np.ceil(s[0] * 10) - 1, 0, 9).astype(int)
    off = np.bincount(bins, s[0] - p[0], 10)
    rows = np.bincount(bins, minlength=10)
    return np.abs(off).sum() / rows.sum(), (np.abs(off) / rows).max()


def _errors(limits_of, which, models):
    def study(rng, size):
        for n, shape, model in product((50, 200, 2000), SHAPES, models):
            truth = _true_gaps(shape, *model)[which]
            s, _, y = _outcomes(rng, size, n, shape, *model)
            yield covered(limits_of(_binned(s, y), Z), truth)

    return study


@np.errstate(all="ignore")
def _fitted(x, y):
    """Fit logistic regressions by Newton's steps; not finite where the labels are separated."""
    a, b = np.zeros(len(x)), np.ones(len(x))
    for _ in range(30):
        p = 1 / (1 + np.exp(-(a[:, None] + b[:, None] * x)))
        v, off = p * (1 - p), y - p
        h = [(v * x**k).sum(1) for k in range(3)]
        g = [(off * x**k).sum(1) for k in range(2)]
        det = h[0] * h[2] - h[1] ** 2
        a = a + (h[2] * g[0] - h[1] * g[1]) / det
        b = b + (h[0] * g[1] - h[1] * g[0]) / det
    return a, b


def _recalibrated(which):
    def study(rng, size):
        for n, shape, (slope, shift) in product((100, 200, 2000), SHAPES, MODELS):
            s, _, y = _outcomes(rng, size, n, shape, slope, shift)
            x = np.clip(np.log(s / (1 - s)), np.log(1e-6), -np.log(1e-6))
            a, b = _fitted(x, y)
            known = np.isfinite(a + b)  # separated labels have no fit
            a, b, x, y = a[known], b[known], x[known], y[known]
            variances = calibration.recalibration_variances(y, ~y, x, a, b)
            half = Z * np.sqrt(variances[which])
            value, truth = (a, b)[which], (shift, slope)[which]
            yield covered((value - half, value + half), truth)

    return study


def curve_areas(rng, size):
    for n, (first, second) in product((50, 200), ((0.7, 0.7), (0.9, 0.7))):
        shifts = [NormalDist().inv_cdf(area) * 2**0.5 for area in (first, second)]
        truth = abs(_true_curve(shifts[0]) - _true_curve(shifts[1])).mean()
        hits = []
        for _ in range(size):
            pair = [_ranked(rng, 1, n, 0.3, shift)[:, 0] for shift in shifts]
            pair = [each.reshape(2, -1, 20).sum(-1) for each in pair]  # coarser bins
            value = abs(scores.roc_curves(pair[0]) - scores.roc_curves(pair[1])).mean()
            far, _ = ball(scores.curve_errors(*pair, rng, 200), value, 0.95)
            hits.append(covered((value - far, value + far), truth))
        yield np.mean(hits)


def _true_curve(shift):
    """The binormal ROC curve at the points where curves are compared."""
    at = (np.arange(128) + 0.5) / 128
    normal = NormalDist()
    return np.array([normal.cdf(shift + normal.inv_cdf(x)) for x in at])


STUDIES = {
    "average precision": (average_precisions, 300, 93.0),
    "difference of average precision": (precision_gaps, 400, 93.5),
    "expected calibration error, calibrated": (
        _errors(calibration.mean_error_limits, 0, MODELS[:1]), 500, 94.0,
    ),
    "expected calibration error, not": (
        _errors(calibration.mean_error_limits, 0, MODELS[1:]), 500, 94.0,
    ),
    "maximum calibration error": (
        _errors(calibration.largest_error_limits, 1, MODELS), 300, 95.5,
    ),
    "calibration intercept": (_recalibrated(0), 400, 92.0),
    "calibration slope": (_recalibrated(1), 400, 93.5),
    "area between ROC curves": (curve_areas, 200, 93.5),
}  # fmt: skip


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", STUDIES)
def test_coverage_is_kept(name):
    study, size, floor = STUDIES[name]
    size = size if EVERY_CASE else size // 3
    least = min(study(np.random.default_rng(20261120), size))
    error = 100 * np.sqrt(floor / 100 * (1 - floor / 100) / size)
    assert least >= floor - 3 * error
