"""Intervals for what is singled out of several: of the best group, and of the most extreme one."""

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.selected_groups import selected

import fairgauge as fg
from fairgauge.enums import IntervalMethod, ScopeKind
from fairgauge.inference.paired_changes import shown_claims
from fairgauge.stats.contrasts import newcombe
from fairgauge.stats.intervals import critical
from fairgauge.stats.significance import holm, normal_tail

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


statistics = st.lists(st.floats(-1, 6), min_size=1, max_size=12)


@given(statistics)
def test_what_is_shown_is_what_holms_procedure_rejects(least):
    least = np.array(least)
    shown, level = shown_claims(lambda at: least > critical(at), len(least), 0.95)
    assert shown.tolist() == (holm(2 * normal_tail(np.maximum(least, 0))) < 0.05).tolist()
    assert (least[~shown] <= critical(level)).all()


def test_a_false_claim_is_shown_in_one_of_forty_tables_whatever_the_candidates():
    """Each has two parts, one of which is false; they have 0 to 81% in common."""
    rng = np.random.default_rng(0)
    for candidates, shared in ((1, 0.0), (10, 0.0), (10, 0.9)):
        named = 0
        for _ in range(2_000):
            part = shared * rng.normal() + np.sqrt(1 - shared**2) * rng.normal(size=candidates)
            parts = np.stack([part, np.full(candidates, 9.0)])
            shown, _ = shown_claims(lambda at: parts.min(axis=0) > critical(at), candidates, 0.95)  # noqa: B023
            named += shown.any()
        assert named <= 64
