"""Properties of every interval of the catalogue; no metric is named."""

import math
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.distributions import tested_statistic as what_is_tested
from fairgauge.catalogue.lookup import find_metric
from fairgauge.catalogue.statistics import DrawnStatistic
from fairgauge.enums import IntervalMethod as M
from fairgauge.enums import Status

FEW = settings(
    max_examples=15 if EVERY_CASE else 5,
    deadline=None, suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip
COUNTS = st.tuples(*[st.integers(0, 60)] * 4)
DRAWN = [
    ((0, 0, 0, 0), (0, 0, 0, 0)),
    ((60, 0, 0, 60), (0, 60, 60, 0)),
    ((12, 7, 30, 41), (25, 3, 9, 55)),
    ((1, 0, 2, 3), (4, 1, 0, 2)),
    ((20, 10, 5, 40), (20, 10, 5, 40)),
    ((33, 48, 17, 0), (51, 2, 60, 19)),
]
TABLES = st.tuples(COUNTS, COUNTS) if EVERY_CASE else st.sampled_from(DRAWN)
RANDOM = {M.JEFFREYS, M.BOOTSTRAP, M.BALL}


def cube(table, times=1):
    names = ("tp", "fp", "fn", "tn")
    cells = [{n: times * k for n, k in zip(names, counts, strict=True)} for counts in table]
    return fg.confusion("g", {"a": cells[0], "b": cells[1]})


@cache  # the properties share their examples
def audited(table, times=1, **options):
    options = {"metrics": "all", "replicates": 200} | options
    report = fg.audit(cube(table, times), **options)
    return {(e.metric, e.group): e for e in report.estimates if e.interval is not None}


@FEW
@given(TABLES, st.sampled_from(["others", "overall"]), st.sampled_from(["default", "exact"]))
def test_an_interval_holds_its_value_and_stays_in_range(table, reference, method):
    for (name, _), each in audited(table, reference=reference, method=method).items():
        low, high = find_metric(name).range
        assert low - 1e-9 <= each.low <= each.value <= each.high <= high + 1e-9, each
        assert each.interval.methods, each
        assert each.confidence == 0.95


@FEW
@given(TABLES)
def test_higher_confidence_widens(table):
    wide, narrow = (audited(table, confidence=level) for level in (0.99, 0.8))
    for key, each in narrow.items():
        slack = 1e-9 * max(1.0, abs(each.value)) if math.isfinite(each.value) else 0.0
        assert wide[key].low <= each.low + slack, key
        assert wide[key].high >= each.high - slack, key


@FEW
@given(st.tuples(*[st.tuples(*[st.integers(5, 60)] * 4)] * 2))
def test_more_rows_narrow(table):
    few, many = audited(table), audited(table, times=16)
    for key, each in few.items():
        if RANDOM.isdisjoint(each.interval.methods):
            assert many[key].high - many[key].low < each.high - each.low, key


@FEW
@given(TABLES)
def test_a_contrast_of_two_groups_is_minus_or_one_over_the_other_way(table):
    found = audited(table)
    for (name, group), each in found.items():
        metric = find_metric(name)
        other = found.get((name, "b" if group == "a" else "a"))
        if not isinstance(metric, Contrast) or other is None:
            continue
        if table[0] == table[1] and not RANDOM.isdisjoint(each.interval.methods):
            continue  # both comparisons are of the same counts, and so are their draws
        if metric.by == "difference":
            expected = (-other.high, -other.low)
        else:
            expected = tuple(math.inf if v == 0 else 1 / v for v in (other.high, other.low))
        assert (each.low, each.high) == pytest.approx(expected, rel=1e-6, abs=1e-9), name


@FEW
@given(TABLES)
def test_interval_and_p_value_never_disagree(table):
    for (name, _), each in audited(table).items():
        metric = find_metric(name)
        if isinstance(metric, Contrast) and each.p_value is not None:
            excludes = each.low > metric.neutral or each.high < metric.neutral
            if abs(each.p_value - 0.05) > 1e-6:
                assert excludes == (each.p_value < 0.05), each


@FEW
@given(TABLES)
def test_a_difference_and_a_ratio_agree_on_no_difference(table):
    p = {}
    for (name, group), each in audited(table).items():
        metric = find_metric(name)
        if isinstance(metric, Contrast) and not isinstance(metric.of, DrawnStatistic):
            p.setdefault((what_is_tested(metric), group), set()).add(each.p_value)
    assert all(len(values) == 1 for values in p.values()), p


@FEW
@given(TABLES)
def test_adjusting_never_lowers_a_p_value(table):
    for each in audited(table).values():
        if each.p_adjusted is not None:  # of groups with sufficient data
            assert each.p_value <= each.p_adjusted <= 1


@FEW
@given(TABLES)
def test_few_rows_are_told_and_keep_their_value(table):
    for each in audited(table).values():
        metric = find_metric(each.metric)
        if isinstance(metric, Contrast) and min(each.n_group, each.n_reference) < 20:
            assert each.status is Status.TOO_FEW
            assert each.reason
