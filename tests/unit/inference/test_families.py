"""Intervals for what is singled out of several: of the best group, and of the most extreme one."""

import json

import polars as pl
import pytest
from tests.selected_groups import selected

import fairgauge as fg
from fairgauge.enums import IntervalMethod, ScopeKind
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


@pytest.mark.parametrize("metric", ["selection_rate.difference", "selection_rate.ratio"])
def test_a_single_stratum_has_no_simultaneous_interval(metric: str) -> None:
    """Its ordinary interval stood in its place, though three groups are compared."""
    rows = [
        {"g": "abc"[i % 3], "day": "xy"[i % 2], "hired": int((i * 7) % 11 < 3 + i % 3)}
        for i in range(1_200)
    ]
    report = fg.audit(
        pl.DataFrame(rows),
        prediction="hired",
        positive=1,
        sensitive="g",
        strata="day",
        metrics=[metric],
    )
    for each in report.estimates:
        assert each.interval is not None
        if each.scope.kind is ScopeKind.STRATUM:
            assert each.simultaneous is None
        else:
            assert each.simultaneous is not None
            assert each.simultaneous.low < each.interval.low
            assert each.simultaneous.high > each.interval.high
