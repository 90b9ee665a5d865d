"""Dagster: an asset of decisions, and a check of it that is an audit."""

from __future__ import annotations

import dagster as dg
import pandas as pd

import fairgauge as fg


@dg.asset
def decisions() -> pd.DataFrame:
    """Return the decisions of the model."""
    return pd.read_csv("predictions.csv")


@dg.asset_check(asset=decisions, blocking=True)
def groups_are_treated_alike(decisions: pd.DataFrame) -> dg.AssetCheckResult:
    """Fail where a rule is not met; warn where the data cannot decide it."""
    report = fg.audit(
        decisions,
        label="repaid",
        prediction="approved",
        positive="yes",
        sensitive="sex",
        rules=["selection_rate.ratio >= 0.8", "accuracy >= 0.6"],
    )
    undecided = report.verdict == "inconclusive"
    return dg.AssetCheckResult(
        passed=report.verdict == "pass",
        severity=dg.AssetCheckSeverity.WARN if undecided else dg.AssetCheckSeverity.ERROR,
        metadata={"report": dg.MetadataValue.text(str(report))},
    )
