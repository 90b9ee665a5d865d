"""Means adjusted for strata of which some hold one row of a side."""

import numpy as np
import pandas as pd
import pytest

import fairgauge as fg
from fairgauge.enums import ScopeKind


def table(seed: int, *, gap: float = 0.0, single: int = 2) -> pd.DataFrame:
    """Return numbers of two groups in twelve strata, of which some have one row of A."""
    rng = np.random.default_rng(seed)
    parts = []
    for s in range(12):
        ours, theirs = (1 if s < single else int(rng.integers(8, 40))), int(rng.integers(40, 90))
        mean = rng.normal()
        numbers = np.concatenate([rng.normal(mean + gap, 1, ours), rng.normal(mean, 1, theirs)])
        parts.append(pd.DataFrame({"g": ["A"] * ours + ["B"] * theirs, "s": f"s{s}", "y": numbers}))
    return pd.concat(parts)


def adjusted(rows: pd.DataFrame):
    report = fg.audit(rows, label="y", task="regression", sensitive="g", strata="s",
                      metrics=["mean_label.difference"])  # fmt: skip
    [found] = [e for e in report.estimates if e.scope.kind is ScopeKind.POOLED and e.group == "A"]
    return found


def test_a_single_row_of_one_stratum_does_not_unbound_the_adjusted_difference():
    """One branch with one applicant made a clear gap "no longer statistically significant"."""
    rows = table(1, gap=0.8)
    found, without = adjusted(rows), adjusted(rows[~rows["s"].isin(["s0", "s1"])])
    assert found.p_value < 1e-6
    assert found.low > 0
    assert found.value == pytest.approx(without.value, abs=0.1)
    assert found.high - found.low == pytest.approx(without.high - without.low, rel=0.15)
