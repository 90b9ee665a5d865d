"""How often limits of what lies across groups hold the truth; every slot is a data set."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from tests.needs import EVERY_CASE

from fairgauge.catalogue.catalogue import KAPPA
from fairgauge.catalogue.cells import ConfusionCounts
from fairgauge.catalogue.lookup import find_metric
from fairgauge.enums import Profile
from fairgauge.inference import Evidence, Uncertainty
from fairgauge.inference.one.statistic_intervals import EveryGroup
from fairgauge.question.specification import Spec
from fairgauge.resolve.sides import BOTH
from fairgauge.stats import intervals

Z = intervals.critical(0.95)


def covered(low, high, truth):
    return 100 * np.mean((low <= truth + 1e-12) & (high >= truth - 1e-12))


def _parts(name):
    """Benefits of groups with errors of .05 to .2, the same in every group or not."""

    def study(rng, size):
        metric = find_metric(name)
        for n, groups, uneven in product((50, 200, 2000), (2, 6), (False, True)):
            fn = np.linspace(0.05, 0.2 if uneven else 0.05, groups)
            shares = np.stack([0.4 - fn, np.full(groups, 0.1), fn, np.full(groups, 0.5)], axis=1)
            counts = np.stack([rng.multinomial(n, each, size) for each in shares], axis=1)
            flat = counts.reshape(-1, 4).astype(float)
            side = ConfusionCounts(size=flat.sum(axis=1), cells={BOTH: flat})
            found = metric.across(side, size, Profile.DOCUMENTED)
            how = Uncertainty(Spec(metrics=(name,), replicates=500))
            made = how.of_feature(metric, EveryGroup(Evidence(side, side), size), found)
            yield covered(made.low, made.high, metric.of_counts(shares))

    return study


def _kappas(rng, size):
    """Cohen's kappa of one group, from rare to even labels, predicted badly and well."""
    for n, base, right in product((50, 200, 2000), (0.1, 0.3, 0.5), (0.6, 0.8, 0.95)):
        wrong = 1 - right
        shares = np.array([base * right, (1 - base) * wrong, base * wrong, (1 - base) * right])
        counts = rng.multinomial(n, shares, size).astype(float)
        side, whole = (
            ConfusionCounts(size=c.sum(axis=1), cells={BOTH: c}) for c in (counts, shares[None])
        )
        how = Uncertainty(Spec(replicates=500))
        (found,) = how.of_rates([KAPPA], Evidence(side, side), np.ones(size, dtype=bool))
        yield covered(found.low, found.high, KAPPA.value(whole, Profile.DOCUMENTED)[0])


STUDIES = {
    "kappa": (_kappas, 1000, 93.0),
    "between": (_parts("between_group_generalized_entropy"), 1500, 94.0),
    "theil": (_parts("between_group_theil_index"), 1500, 93.5),
    "within": (_parts("within_group_generalized_entropy"), 400, 92.0),
}


@pytest.mark.parametrize("name", STUDIES)
def test_coverage_is_kept(name):
    study, size, floor = STUDIES[name]
    size = size if EVERY_CASE else size // 3
    least = min(study(np.random.default_rng(20261120), size))
    assert least >= floor - 300 * np.sqrt(floor / 100 * (1 - floor / 100) / size)
