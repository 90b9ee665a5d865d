"""Seeded simulations: how often intervals hold the truth where clusters tie rows together.

Every stratum of one table is a data set of its own, so that one audit tries hundreds. Clusters
belong to one group each, or have rows in both: alike in both, or one gaining what the other loses.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import fairgauge as fg

CELLS = np.array([0.30, 0.10, 0.15, 0.45])
LABEL, PREDICTION = np.array([1, 0, 1, 0]), np.array([1, 1, 0, 0])


def held(estimates, truth, kept=lambda each: True):
    hits = {name: [] for name in truth}
    for each in filter(kept, estimates):
        if each.interval is not None:
            right = truth[each.metric]
            hits[each.metric].append(each.low <= right + 1e-9 and right - 1e-9 <= each.high)
    return {name: (100 * np.mean(each), len(each)) for name, each in hits.items()}


AMONG_FEW = ("RD", "TE", "f1.difference", "positive_predictive_value.ratio")


def uneven(seed, sets, clusters, icc):
    """Return `worlds` of nested clusters whose numbers of rows are lognormal."""
    rng = np.random.default_rng(seed)
    parts = []
    for g, group in enumerate("ab"):
        rows = np.maximum(np.rint(20 * np.exp(rng.normal(-0.5, 1.0, (sets, clusters)))), 1)
        chance = rng.dirichlet(CELLS * (1 / icc - 1), (sets, clusters))
        counts = rng.multinomial(rows.astype(int), chance)
        s, c, cell = np.nonzero(counts)
        columns = {"s": s, "u": g * clusters + c, "g": group, "n": counts[s, c, cell]}
        parts.append(pd.DataFrame(columns | {"y": LABEL[cell], "p": PREDICTION[cell]}))
    return pd.concat(parts)


def test_adequate_intervals_of_uneven_clusters_hold_the_truth():
    """Of rates among few rows too, whose adequacy must not select variances that are too small."""
    sets = 400
    report = fg.audit(
        uneven(3, sets, 30, 0.3), label="y", prediction="p", sensitive="g", count="n", cluster="u",
        strata="s", metrics=list(AMONG_FEW),
    )  # fmt: skip
    for name in AMONG_FEW:
        every = [
            each
            for each in report.estimates
            if each.metric == name and each.scope.kind == "stratum" and each.group == "a"
        ]
        adequate = [each.interval for each in every if each.status == "ok" and each.interval]
        truth = 1.0 if name.endswith("ratio") else 0.0
        held = sum(each.low <= truth <= each.high for each in adequate)
        assert len(adequate) > 0.8 * sets, name
        floor = 0.935 - 3 * np.sqrt(0.05 * 0.95 / len(adequate))
        assert held / len(adequate) >= floor, (name, held, len(adequate))


@pytest.mark.parametrize("seed", range(5))
def test_adequacy_does_not_follow_from_how_alike_the_rows_of_a_cluster_are(seed):
    """Rows are as many, wherever the outcomes are: in a few clusters, or spread over all."""
    rng = np.random.default_rng(seed)
    rows = 240
    table = pd.DataFrame({"g": "a", "u": np.repeat(np.arange(12), 20), "y": 1, "p": 0}, range(rows))
    few = int(rng.integers(4, 13))  # around five expected in either group
    other = table.assign(g="b", u=table["u"] + 12)
    reasons = []
    for at in (np.arange(few), rng.choice(rows, few, replace=False)):
        chosen = np.isin(np.arange(rows), at).astype(int)
        both = pd.concat([table.assign(p=chosen), other.assign(p=chosen)])
        report = fg.audit(
            both, label="y", prediction="p", sensitive="g", cluster="u", metrics=["RD", "DPPL"]
        )
        reasons.append([(each.metric, each.status, each.reason) for each in report.estimates])
    assert reasons[0] == reasons[1]
    expected = "ok" if few >= 5 else "too_few"
    assert {status for _, status, _ in reasons[0]} == {expected}
