"""Rows that a cluster ties together: what they are worth, by hand, by simulation, by engine."""

import math

import numpy as np
import pandas as pd
import pytest

import fairgauge as fg
from fairgauge.catalogue.comparisons import RowMetric
from fairgauge.catalogue.lookup import find_metric
from fairgauge.enums import DiagnosticCode
from fairgauge.enums import IntervalMethod as M
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.stats.intervals import critical, critical_t, wilson

RATES = {
    "selection_rate": (lambda r: r.p == 1, lambda r: r.p >= 0),
    "base_rate": (lambda r: r.y == 1, lambda r: r.y >= 0),
    "accuracy": (lambda r: r.y == r.p, lambda r: (r.y >= 0) & (r.p >= 0)),
    "true_positive_rate": (lambda r: (r.y == 1) & (r.p == 1), lambda r: (r.y == 1) & (r.p >= 0)),
    "positive_predictive_value": (
        lambda r: (r.y == 1) & (r.p == 1),
        lambda r: (r.p == 1) & (r.y >= 0),
    ),
}


def tied(seed, clusters=40, size=12, icc=0.2, rate=0.4, groups=("a", "b", "c"), crossed=False):
    """Rows of clusters, each of one group (of all groups if crossed)."""
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(clusters), size)
    group = np.arange(len(user)) if crossed else user
    chance = rng.beta(rate * (1 / icc - 1), (1 - rate) * (1 / icc - 1), clusters)[user]
    return pd.DataFrame(
        {
            "u": [f"u{i}" for i in user],
            "g": np.array(groups)[group % len(groups)],
            "y": (rng.random(len(user)) < 0.5).astype(int),
            "p": (rng.random(len(user)) < chance).astype(int),
        }
    )


def totals(rows, rate, weight=None):
    """Return successes and trials of every cluster that has trials, from the rows themselves."""
    of, among = (mask(rows).to_numpy(dtype=float) for mask in RATES[rate])
    w = np.ones(len(rows)) if weight is None else rows[weight].to_numpy(dtype=float)
    sums = pd.DataFrame({"u": rows.u, "x": of * w, "m": among * w}).groupby("u").sum()
    return sums[sums.m > 0]


def correlated(ours, theirs, rate):
    """Return the correlation of a share of two sides, from their rows."""
    off = []
    for each in (ours, theirs):
        sums = totals(each, rate)
        off.append((sums.x - sums.x.sum() / sums.m.sum() * sums.m) / (sums.m.sum() - sums.m))
    both = off[0].mul(off[1], fill_value=0.0)
    return both.sum() / math.sqrt((off[0] ** 2).sum() * (off[1] ** 2).sum())


def jackknife(sums):
    """Return the share, its variance with every cluster left out in turn, and its degrees."""
    x, m, c = sums.x, sums.m, len(sums)
    p = x.sum() / m.sum()
    without = (x.sum() - x) / (m.sum() - m)
    leverage = m / (m.sum() - m)
    squares = (leverage**2).sum()
    degrees = leverage.sum() ** 2 / (squares + squares**2 - (leverage**4).sum())
    return p, (c - 1) / c * ((without - p) ** 2).sum(), degrees


def kish(rows, rate, weight):
    """Return the effective rows per unit of weight."""
    _, among = (mask(rows).to_numpy(dtype=float) for mask in RATES[rate])
    w = np.ones(len(rows)) if weight is None else rows[weight].to_numpy(dtype=float)
    return (among * w).sum() / (among * w * w).sum()


def worth(rows, rate, weight=None, everyone=None):
    """Return rate, effective rows and degrees of freedom, from the rows themselves.

    ``everyone`` are the rows of all groups, which show how alike the rows of one cluster are.
    """
    everyone = rows if everyone is None else everyone
    scale = 1.0 if weight is None else len(everyone) / everyone[weight].sum()
    sums = totals(everyone, rate, weight) * scale
    p, variance, _ = jackknife(sums)
    n = sums.m.sum()
    independent = p * (1 - p) / (n - 1)
    at_one = independent * ((sums.m**2).sum() / n - 1)
    rho = min(max((variance - independent) / at_one, 0.0), 1.0) if at_one > 0 else 0.0
    sums = totals(rows, rate, weight) * kish(rows, rate, weight)
    p, variance, degrees = jackknife(sums)
    alike = 1 + rho * max((sums.m**2).sum() / sums.m.sum() - 1, 0.0)
    expected = p * (1 - p) / sums.m.sum() * alike
    n = p * (1 - p) / max(variance, math.sqrt(variance * expected))
    return p, min(n, sums.m.sum()), degrees


def joint(a, b, r):
    return math.sqrt(a * a + b * b - 2 * r * a * b)


def ask(data, **options):
    asked = {"label": "y", "prediction": "p", "sensitive": "g", "cluster": "u"}
    return fg.audit(data, **(asked | options))


def limits(estimate):
    return pytest.approx((estimate.low, estimate.high), abs=1e-9)


def test_a_rate_worked_by_hand():
    """Clusters of 2, 2, 4, 2 rows with 1, 0, 3, 2 selected, three times.

    Leaving out a cluster moves the share of .6 by .2, 1.2, .6, .8 over 28, 28, 26, 28.
    """
    clusters = np.repeat(np.arange(12), [2, 2, 4, 2] * 3)
    rows = pd.DataFrame(
        {
            "u": [*clusters, *range(20, 24)],
            "g": ["a"] * 30 + ["b"] * 4,
            "p": [1, 0, 0, 0, 1, 1, 1, 0, 1, 1] * 3 + [1] * 2 + [0] * 2,
        }
    )
    report = fg.audit(rows, prediction="p", sensitive="g", cluster="u", metrics="DPPL")
    group = next(each for each in report.groups if each.group == "a")
    variance = 11 / 12 * 3 * ((0.2**2 + 1.2**2 + 0.8**2) / 28**2 + 0.6**2 / 26**2)
    n = 0.24 / variance
    ones, twos = 9 * 2 / 28, 3 * 4 / 26
    squares = 9 * (2 / 28) ** 2 + 3 * (4 / 26) ** 2
    fourths = 9 * (2 / 28) ** 4 + 3 * (4 / 26) ** 4
    degrees = (ones + twos) ** 2 / (squares + squares**2 - fourths)
    assert (round(n, 2), round(degrees, 2)) == (26.96, 9.48)
    low, high = wilson(0.6 * n, n, critical_t(0.95, degrees))
    assert group.rates["selection_rate"].value == 0.6
    assert (float(low), float(high)) == pytest.approx(
        (group.rates["selection_rate"].low, group.rates["selection_rate"].high), abs=1e-6
    )
    found = report["DPPL", "g", "a"]
    assert found.status == "too_few"
    assert found.low < found.value < found.high
    assert found.reason == Reason.of(ReasonCode.FEW_CLUSTERS, clusters=4.0, minimum=5.0).on(
        "reference"
    )


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("crossed", [False, True])
def test_counts_give_what_the_rows_give(rate, crossed):
    rows = tied(3, crossed=crossed)
    rows.loc[::17, "y"] = np.nan
    rows.loc[::23, "p"] = np.nan
    report = ask(rows, metrics=f"{rate}.difference")
    sides = {
        group: (
            worth(rows[rows.g == group], rate, everyone=rows),
            worth(rows[rows.g != group], rate, everyone=rows),
        )
        for group in "abc"
    }
    for group, ours in sides.items():
        (p, n, df), (q, m, other) = ours
        r = correlated(rows[rows.g == group], rows[rows.g != group], rate)
        assert (abs(r) > 1e-3) == crossed
        found = report[f"{rate}.difference", "g", group]
        assert found.interval.methods == (M.MOVER, M.JACKKNIFE, M.WILSON)
        assert found.value == pytest.approx(p - q)
        low1, high1 = wilson(p * n, n, critical_t(0.95, df))
        low2, high2 = wilson(q * m, m, critical_t(0.95, other))
        low = p - q - joint(p - low1, high2 - q, r)
        high = p - q + joint(high1 - p, q - low2, r)
        assert (low, high) == limits(found)
        of_rate = next(each for each in report.groups if each.group == group).rates[rate]
        assert (float(low1), float(high1)) == limits(of_rate)


def test_rows_without_a_cluster_are_told_and_left_out_of_intervals():
    rows = tied(12)
    rows.loc[:9, "u"] = None
    report = ask(rows, metrics="DPPL")
    assert report.data.excluded == {"missing cluster": 10}
    (note,) = [d for d in report.diagnostics if d.code is DiagnosticCode.EXCLUDED]
    assert (note["rows"], note["reason"]) == (10, "missing cluster")
    mine = rows[rows.g == "a"]
    _, n, df = worth(mine[mine.u.notna()], "selection_rate", everyone=rows[rows.u.notna()])
    found = next(each for each in report.groups if each.group == "a").rates["selection_rate"]
    assert found.value == mine.p.mean()
    low, high = wilson(mine.p.mean() * n, n, critical_t(0.95, df))
    assert (float(low), float(high)) == limits(found)


def test_without_any_cluster_nothing_is_known():
    rows = tied(13).assign(u=pd.Series([None] * 480, dtype=object))
    found = ask(rows, metrics="DPPL")["DPPL", "g", "a"]
    assert found.status == "too_few"
    assert found.reason == Reason.of(ReasonCode.FEW_CLUSTERS, clusters=0.0, minimum=5.0).on("group")


@pytest.mark.parametrize("metric", ["KL", "JS", "TVD"])
def test_what_has_no_cluster_robust_form_has_no_interval(metric):
    for found in ask(tied(14), metrics=metric).estimates:
        assert found.value is not None
        assert (found.interval, found.p_value) == (None, None)
        assert found.reason.code in (ReasonCode.FEW_CLUSTERS, ReasonCode.NO_CLUSTER_METHOD)


def test_scores_are_not_counted_by_cluster():
    rows = tied(15).assign(s=np.random.default_rng(15).random(480))
    reason = Reason.of(ReasonCode.NO_CLUSTER_METHOD)
    found = {
        each.metric: (each.interval, each.reason)
        for each in ask(rows, score="s", threshold=0.5, metrics="all", prediction=None).estimates
        if each.value is not None
        and "score" in find_metric(each.metric).needs
        and not isinstance(find_metric(each.metric), RowMetric)
    }
    assert len(found) > 10
    assert set(found.values()) == {(None, reason)}


def test_a_verdict_counts_on_clusters_not_on_rows():
    rule = fg.rule("selection_rate.difference", between=(-0.05, 0.05))
    report = ask(tied(19, clusters=80), rules=[rule])
    reason = report.verdicts[0].reason
    assert reason.code is ReasonCode.CROSSES
    assert reason["needed"] > reason["rows"]
    low, high = report["selection_rate.difference", "g", report.verdicts[0].group].interval
    # half of the interval is the first of both quantiles of standard errors
    quantiles = (critical(0.95) + critical(0.6)) / critical(0.95)
    assert reason["detectable"] == pytest.approx(quantiles * (high - low) / 2, rel=0.05)


@pytest.mark.parametrize("strata", [None, "y"])
@pytest.mark.parametrize("weight", [None, "w"])
def test_two_groups_that_mirror_each_other_are_one_comparison(weight, strata):
    """Clusters give both directions p-values that agree but for the degrees of freedom."""
    groups = np.random.default_rng(4).choice(["a", "b"], 3_000)
    rows = tied(3, clusters=300, size=10).assign(g=groups, w=lambda r: 1 + r.index % 3)
    rows["p"] *= (rows.g == "b") | (rows.index % 3 > 0)
    report = fg.audit(
        rows, prediction="p", positive=1, sensitive="g", cluster="u", weight=weight,
        strata=strata, metrics=["selection_rate.difference", "selection_rate.ratio"],
    )  # fmt: skip
    tested = [e for e in report.estimates if e.p_value is not None and e.scope.kind != "stratum"]
    assert len(tested) == (8 if strata else 4)
    for each in tested:
        tests = 2 if strata else 1  # of all rows, and adjusted for the strata
        assert each.p_adjusted == pytest.approx(1 - (1 - each.p_value) ** tests)
        assert (M.SIMULTANEOUS_GROUPS in each.simultaneous.methods) == (tests > 1)
        assert (each.simultaneous.low == each.low) == (tests == 1)
