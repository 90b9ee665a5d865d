"""Intervals that hold together are of the groups of a feature over all rows, never of a stratum."""

import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import ScopeKind


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
