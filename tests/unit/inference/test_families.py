"""Intervals for what is singled out of several: of the best group, and of the most extreme one."""

import json

import pytest
from tests.selected_groups import selected

import fairgauge as fg
from fairgauge.enums import IntervalMethod
from fairgauge.stats.contrasts import newcombe
from fairgauge.stats.intervals import critical

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
