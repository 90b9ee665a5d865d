"""Intervals from drawn tables: the three of the bootstrap, against scipy's on the rows."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import bootstrap

import fairgauge as fg
from fairgauge.catalogue.catalogue import METRICS
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.enums import IntervalMethod as M

GROUP, REST = np.repeat([1.0, 0.0], [30, 70]), np.repeat([1.0, 0.0], [40, 60])


def audited(method, metric="DPPL", who=("g", "a"), **options):
    cells = {"a": {"tp": 30, "fn": 70}, "b": {"tp": 40, "fn": 60}}
    table = fg.confusion("g", cells)
    return fg.audit(table, metrics=metric, method=method, replicates=20_000, **options)[
        metric, *who
    ]


def test_the_bootstrap_of_cells_is_that_of_rows():
    found = audited("bootstrap")
    made = bootstrap(
        (REST, GROUP),
        lambda x, y, axis: x.mean(axis) - y.mean(axis),
        n_resamples=20_000,
        method="percentile",
        vectorized=True,
        random_state=np.random.default_rng(1),  # `rng` from SciPy 1.15 on
    )
    assert (found.low, found.high) == pytest.approx(tuple(made.confidence_interval), abs=0.011)
    assert found.interval.methods == (M.BOOTSTRAP,)


@pytest.mark.parametrize("method", ["bootstrap", "bayes"])
def test_the_p_value_is_the_level_at_which_limits_touch_equality(method):
    p = audited(method).p_value
    assert 0.05 < p < 0.3
    inside, outside = (audited(method, confidence=1 - each) for each in (p * 0.8, p * 1.25))
    assert inside.low <= 0 < inside.high  # shares of draws are 0 exactly, now and then
    assert outside.low > 0  # the difference is positive


def test_metrics_answer_as_alone_where_predictions_are_missing():
    """Rows with a label are not the rows with both."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"g": ["a", "b"] * 150, "y": rng.integers(0, 2, 300)})
    table["p"] = np.where(rng.random(300) < 0.7, table["y"], 1 - table["y"])
    table.loc[:20, "p"] = None
    asked = {"label": "y", "prediction": "p", "sensitive": "g", "method": "bootstrap"}
    names = ["DPL", "DPPL", "RD", "TE", "DCA"]
    together = fg.audit(table, metrics=names, replicates=400, **asked)
    for name in names:
        alone = fg.audit(table, metrics=name, replicates=400, **asked)[name, "g", "a"]
        assert together[name, "g", "a"].interval == alone.interval


CONTRASTS = [
    m.name
    for m in METRICS
    if isinstance(m, Contrast) and "binary" in m.tasks and "score" not in m.needs
]


@pytest.mark.each_value
@pytest.mark.parametrize("reference", ["others", "overall"])
@pytest.mark.parametrize("method", ["bayes", "bootstrap"])
def test_all_methods_agree_where_rows_are_many(method, reference):
    """Of 400 rows a group, limits of any contrast lie near the default's, whatever the method."""
    cells = {
        "a": {"tp": 120, "fp": 50, "fn": 60, "tn": 170},
        "b": {"tp": 150, "fp": 40, "fn": 50, "tn": 160},
    }
    table = fg.confusion("g", cells)
    default, other = (
        fg.audit(table, metrics=CONTRASTS, reference=reference, method=each, replicates=4000)
        for each in ("default", method)
    )
    for one, two in zip(default.estimates, other.estimates, strict=True):
        off = max(abs(one.low - two.low), abs(one.high - two.high))
        assert off < 0.16 * (one.high - one.low), (one, two)
