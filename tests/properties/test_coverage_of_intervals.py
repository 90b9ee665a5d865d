"""Every contrast of counts in the catalogue covers the truth as often as it says, simulated."""

from __future__ import annotations

import numpy as np
import pytest

from fairgauge.catalogue.catalogue import METRICS
from fairgauge.catalogue.cells import ConfusionCounts
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.statistics import Blend, Quotient, Rate
from fairgauge.enums import Profile
from fairgauge.inference import Comparisons, Evidence, Uncertainty
from fairgauge.question.specification import Spec
from fairgauge.resolve.sides import BOTH, LABEL, PREDICTION

SETS = 3_000
FLOOR = 0.935 - 3 * np.sqrt(0.05 * 0.95 / SETS)
GROUP = np.array([0.25, 0.12, 0.15, 0.48])
SCENARIOS = {
    "equal": (GROUP, GROUP, 60, 240),
    "unequal": (np.array([0.15, 0.15, 0.20, 0.50]), GROUP, 60, 240),
    "large": (np.array([0.05, 0.05, 0.05, 0.85]), GROUP, 1_000, 1_000),
}
CONTRASTS = [
    row
    for row in METRICS
    if row.set == "native"
    and isinstance(row, Contrast)
    and isinstance(row.of, (Rate, Quotient, Blend))
]


def side(counts):
    tp, fp, fn, tn = counts.T
    zero = np.zeros_like(tp)
    cells = {
        BOTH: counts,
        LABEL: np.stack([tp + fn, zero, zero, fp + tn], axis=-1),
        PREDICTION: np.stack([tp + fp, zero, zero, fn + tn], axis=-1),
    }
    return ConfusionCounts(size=counts.sum(axis=-1), cells=cells)


def evidence(counts):
    return Evidence(side(counts), side(counts))


@pytest.fixture(scope="module", params=list(SCENARIOS))
def scenario(request):
    d, a, n, m = SCENARIOS[request.param]
    rng = np.random.default_rng(0)
    drawn = [evidence(rng.multinomial(k, p, SETS).astype(float)) for p, k in ((d, n), (a, m))]
    truth = [side(p[None] * 1e6) for p in (d, a)]
    everything = np.ones(SETS, dtype=bool)
    return Comparisons(drawn[0], drawn[1], None, everything), truth, Uncertainty(Spec())


@pytest.mark.parametrize("metric", CONTRASTS, ids=lambda row: row.name)
def test_a_contrast_covers(metric, scenario):
    compared, truth, how = scenario
    value = metric.value(compared.group.side, compared.reference.side, Profile.DOCUMENTED)
    found = how.of_metric(metric, compared, value)
    right = metric.value(*truth, Profile.DOCUMENTED)[0]
    known = ~np.isnan(found.low)
    assert known.mean() > 0.99
    covered = ((found.low <= right) & (right <= found.high))[known].mean()
    assert covered >= FLOOR, (metric.name, covered)
    assert covered <= 0.985, (metric.name, covered)
