"""Numbers that are no share of rows, with clusters: checked by leaving clusters out of the rows."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.catalogue.catalogue import METRICS
from fairgauge.catalogue.lookup import find_metric
from fairgauge.enums import IntervalMethod as M
from fairgauge.reasons import ReasonCode
from fairgauge.stats.intervals import wilson
from fairgauge.stats.sampling import satterthwaite_degrees

CLUSTERS = 30
JACKKNIFE = (M.JACKKNIFE, M.STUDENT_T)


def tied(seed, count=CLUSTERS, size=14, crossed=True, icc=0.2):
    """Rows of clusters in strata and groups; crossed: every cluster has rows in both groups."""
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(count), size)
    group = rng.integers(0, 2, len(user)) if crossed else user % 2
    chance = rng.beta(0.5 * (1 / icc - 1), 0.5 * (1 / icc - 1), count)[user]
    y = (rng.random(len(user)) < 0.2 + 0.6 * chance).astype(int)
    return pd.DataFrame(
        {
            "u": [f"u{i}" for i in user],
            "g": np.array(["a", "b"])[group],
            "s": np.array(["north", "south"])[rng.integers(0, 2, len(user))],
            "y": y,
            "p": np.where(rng.random(len(user)) < 0.25 + 0.2 * chance, 1 - y, y),
        }
    )


def ask(data, **options):
    asked = {"label": "y", "prediction": "p", "sensitive": "g", "cluster": "u"}
    return fg.audit(data, **(asked | options))


def left_out(rows, read, **options):
    """Return numbers of a report without clusters, of all rows and without each cluster."""
    plain = {"cluster": None} | options
    values = [read(ask(rows, **plain))]
    values += [read(ask(rows[rows.u != u], **plain)) for u in sorted(set(rows.u))]
    return pd.DataFrame(values)


def spread(values):
    """Return the jackknife standard error of each column."""
    moved = values.iloc[1:] - values.iloc[0]
    blocks = len(moved)
    return np.sqrt((blocks - 1) / blocks * (moved**2).sum())


def degrees(*sides):
    """Return the degrees of freedom of the side that has fewer, from the rows of each."""
    return min(float(satterthwaite_degrees(each.groupby("u").size())) for each in sides)


@pytest.mark.parametrize("rate", ["balanced_accuracy", "conditional_acceptance", "cohen_kappa"])
def test_contrasts_of_what_is_no_share(rate):
    rows = tied(2, size=40)
    report = ask(rows, metrics=[f"{rate}.difference"])

    def read(report):
        return {g.group: g.rates[rate].value for g in report.groups}

    values = left_out(rows, read, metrics=[f"{rate}.difference"])
    error, value = spread(values), values.iloc[0]
    moved = values.iloc[1:] - value
    r = (moved.a * moved.b).sum() / math.sqrt((moved.a**2).sum() * (moved.b**2).sum())
    assert abs(r) > 0.05
    low, high = {}, {}
    ends = find_metric(f"{rate}.difference").of.range
    denominators = {
        "balanced_accuracy": lambda rows: [rows[rows.y == 1], rows[rows.y == 0]],
        "conditional_acceptance": lambda rows: [rows[(rows.p == 1) | (rows.y == 1)]],
        "cohen_kappa": lambda rows: [rows],
    }
    for group in report.groups:
        g, found = group.group, group.rates[rate]
        low[g], high[g] = found.low, found.high
        sizes = [each.groupby("u").size() for each in denominators[rate](rows[rows.g == g])]
        size = min(sizes, key=lambda each: each.sum() ** 2 / (each**2).sum())
        t = stats.t(float(satterthwaite_degrees(size))).ppf(0.975)
        if math.isinf(ends[1]):
            half = t * error[g] / value[g]
            expected = [value[g] * math.exp(s * half) for s in (-1, 1)]
        else:  # Wilson's limits of as many rows as would have this variance
            span = ends[1] - ends[0]
            level = (value[g] - ends[0]) / span
            n = level * (1 - level) * span**2 / error[g] ** 2
            expected = [ends[0] + span * float(each) for each in wilson(level * n, n, t)]
        assert [found.low, found.high] == pytest.approx(expected, rel=1e-5)
    found = report[f"{rate}.difference", "g", "a"]
    a, b = value.a - low["a"], high["b"] - value.b
    gap = value.a - value.b
    assert found.low == pytest.approx(gap - math.sqrt(a * a + b * b - 2 * r * a * b))
    a, b = high["a"] - value.a, value.b - low["b"]
    assert found.high == pytest.approx(gap + math.sqrt(a * a + b * b - 2 * r * a * b))
    assert found.interval.methods == (M.MOVER, *JACKKNIFE)


NAMES = [m.name for m in METRICS if m.needs <= {"label", "prediction"} and "binary" in m.tasks]
ALL = {"metrics": "all" if EVERY_CASE else NAMES[::3], "strata": "s"}


def comparable(report):
    return {
        (e.metric, e.group, e.scope, e.class_scope): (
            e.low, e.high, e.p_value, e.interval and e.interval.methods, e.reason,
        )
        for e in report.estimates
    }  # fmt: skip


def close(one, other):
    assert one.keys() == other.keys()
    for key, numbers in one.items():
        assert numbers[3:] == other[key][3:], key
        for a, b in zip(numbers[:3], other[key][:3], strict=True):
            assert a == b or a == pytest.approx(b, rel=1e-6, abs=1e-9), key


def test_names_of_clusters_and_the_order_of_rows_change_nothing():
    rows = tied(9, count=90, size=6)
    expected = comparable(ask(rows, **ALL))
    assert sum(low is not None for low, *_ in expected.values()) > (300 if EVERY_CASE else 200)
    rng = np.random.default_rng(9)
    names = dict(zip(sorted(set(rows.u)), rng.permutation(90), strict=True))
    other = rows.assign(u=rows.u.map(names)).sample(frac=1, random_state=9)
    close(comparable(ask(other, **ALL)), expected)


def test_the_seed_decides_the_blocks():
    rows = tied(10, count=600, size=2)
    name = "balanced_accuracy.difference"
    one, same, other = (ask(rows, metrics=[name], seed=s)[name, "g", "a"] for s in (0, 0, 1))
    assert one.interval == same.interval
    assert one.interval != other.interval
    assert tuple(one.interval) == pytest.approx(tuple(other.interval), abs=0.05)


def test_clusters_of_one_row_each_are_rows():
    rows = tied(11, count=4_000, size=1, crossed=False)
    names = ["DPPL", "DCA", "balanced_accuracy.difference", "GE", "CI", "CDDL", "TE"]
    one, plain = (
        ask(rows, metrics=names, strata="s"),
        ask(rows, metrics=names, cluster=None, strata="s"),
    )
    for each, other in zip(one.estimates, plain.estimates, strict=True):
        off = 0.12  # as 400 blocks of clusters show a width
        assert each.interval is not None, (each.metric, each.scope, each.reason)
        width, right = (e.high - e.low for e in (each, other))
        assert width == pytest.approx(right, rel=off), (each.metric, each.scope)


def test_limits_hold_the_value_widen_with_the_confidence_and_agree_with_p():
    rows = tied(13, count=50)
    narrow, wide = (comparable(ask(rows, confidence=c, **ALL)) for c in (0.8, 0.99))
    estimates = ask(rows, **ALL).estimates
    values = {(e.metric, e.group, e.scope, e.class_scope): e.value for e in estimates}
    for key, (low, high, *_) in narrow.items():
        if low is not None:
            assert low <= values[key] <= high, key
            if wide[key][0] is not None:
                assert wide[key][0] <= low + 1e-9, key
                assert wide[key][1] >= high - 1e-9, key
    for each in estimates:
        neutral = find_metric(each.metric).neutral
        if each.p_value is not None and each.low is not None and not math.isnan(neutral):
            inside = each.low - 1e-9 <= neutral <= each.high + 1e-9
            assert (each.p_value >= 0.05 - 1e-6) == inside, (each.metric, each.scope)


def test_numbers_within_strata_are_those_of_their_rows_alone():
    rows = tied(15)
    names = ["RD", "DPPL", "TE", "accuracy.largest_gap", "balanced_accuracy.difference"]
    every = ask(rows, metrics=names, strata="s")
    north = ask(rows[rows.s == "north"], metrics=names)
    for each in north.estimates:
        other = next(
            e
            for e in every.estimates
            if (e.metric, e.group, e.stratum) == (each.metric, each.group, "north")
        )
        assert each.interval is not None
        assert tuple(other.interval) == pytest.approx(tuple(each.interval))
        assert other.interval.methods == each.interval.methods


def test_few_effective_clusters_decide_nothing():
    names = ["GE", "DCA", "CI", "RD", "accuracy.largest_gap", "accuracy.minimum"]
    for count, status in ((4, "too_few"), (15, "ok"), (25, "ok")):
        report = ask(tied(17, count=count, size=60), metrics=names)
        for each in report.estimates:
            assert each.status == status, each.metric
            assert each.interval is not None, each.metric
    uneven = tied(17, count=25, size=60)
    uneven["u"] = uneven.u.where(uneven.index > 900, "u0")  # one cluster holds most rows
    for each in ask(uneven, metrics=names).estimates:
        assert each.status == "too_few"
        assert each.reason.code is ReasonCode.FEW_CLUSTERS
        assert each.reason["clusters"] < each.reason["minimum"] == 5
