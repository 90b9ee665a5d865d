"""Intervals for what is singled out of several: of the best group, and of the most extreme one."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from tests.selected_groups import selected

import fairgauge as fg
from fairgauge.enums import IntervalMethod
from fairgauge.inference import uncertainty
from fairgauge.stats.contrasts import newcombe
from fairgauge.stats.intervals import critical
from fairgauge.stats.multiplicity import tukey_critical

RATES = dict(zip("abcdef", (120, 130, 110, 125, 90, 118), strict=True))


def audit(counts, rows=400, **options):
    groups = selected({name: (x, rows) for name, x in counts.items()})
    metrics = ["selection_rate.difference", "DI"]
    return fg.audit(groups, **({"metrics": metrics} | options))


def test_the_interval_of_the_most_extreme_group_holds_for_all_groups():
    report = audit(RATES)
    z = critical(0.95 ** (1 / 8))  # with the test of homogeneity, and all pairs
    for name, x in RATES.items():
        each = report["selection_rate.difference", "g", name]
        others = sum(RATES.values()) - x
        assert tuple(each.simultaneous) == pytest.approx(newcombe(x, 400, others, 2000, z))
        assert each.simultaneous.level == 0.95
        assert each.simultaneous.methods[0] is IntervalMethod.SIMULTANEOUS_GROUPS
        assert each.simultaneous.low < each.low < each.high < each.simultaneous.high
    assert fg.Report.from_dict(json.loads(report.to_json())).estimates == report.estimates


def test_a_single_comparison_is_simultaneous_by_itself():
    for each in audit({"a": 120, "b": 130}).estimates:
        assert each.simultaneous == each.interval
    for each in audit({"a": 120, "b": 130}, reference={"g": "a"}).estimates:
        assert each.simultaneous == each.interval


def test_against_the_best_group_all_pairs_are_covered():
    report = audit(RATES, reference="best")
    level = 0.95 ** (1 / 3)  # the pairs with the best, all pairs, and the test of homogeneity
    alone, z = (float(tukey_critical(6, each)) for each in (0.95, level))
    pairs = {frozenset((p.group, p.other)): p for p in report.pairs if p.rate == "selection_rate"}
    for each in report.estimates:
        assert each.p_adjusted == pytest.approx(1 - (1 - each.p_value) ** 3)
        neutral = 0.0 if each.metric == "selection_rate.difference" else 1.0
        assert (each.p_value < 0.05) == (not each.low <= neutral <= each.high)
        if neutral == 0.0:
            sides = RATES[each.group], 400, 130, 400
            assert tuple(each.interval) == pytest.approx(newcombe(*sides, alone))
            assert tuple(each.simultaneous) == pytest.approx(newcombe(*sides, z))
            pair = pairs[frozenset((each.group, "b"))]
            ends = sorted(map(abs, pair.difference_interval))
            assert ends == pytest.approx(sorted(map(abs, each.simultaneous)))
            assert each.p_adjusted == pytest.approx(pair.p_adjusted)


@pytest.mark.parametrize("groups", [5, 12])
def test_coverage_of_all_comparisons_with_the_best_of_equal_groups(groups):
    rng, sets, covered = np.random.default_rng(groups), 150, 0
    for _ in range(sets):
        counts = dict(zip("abcdefghijkl", rng.binomial(400, 0.3, groups), strict=False))
        report = audit(counts, reference="best", metrics="selection_rate.difference")
        covered += all(each.low <= 0 <= each.high for each in report.estimates)
    assert covered / sets > 0.95 - 3 * math.sqrt(0.05 * 0.95 / sets)


def test_limits_that_hold_together_are_computed_once_for_all_groups(monkeypatch):
    """They were computed once for each group: a minute for a thousand groups."""
    computed = []
    original = uncertainty.contrast_interval

    def counted(*asked):
        computed.append(asked)
        return original(*asked)

    monkeypatch.setattr(uncertainty, "contrast_interval", counted)
    calls = []
    for groups in (3, 30):
        computed.clear()
        audit({f"g{i}": 100 + i for i in range(groups)}, metrics="selection_rate.difference")
        calls.append(len(computed))
    assert calls[0] == calls[1] > 1
