"""Logs reports to a local MLflow store, where MLflow is installed; prints what it holds."""

from __future__ import annotations

import doctest
import json
import sys
from pathlib import Path

import mlflow
import numpy as np
import pandas as pd

import fairgauge as fg

folder = Path(sys.argv[1])
mlflow.set_tracking_uri(f"sqlite:///{folder / 'runs.db'}")
mlflow.create_experiment("audits", artifact_location=(folder / "artifacts").as_uri())
mlflow.set_experiment("audits")

rng = np.random.default_rng(0)
frame = pd.DataFrame(
    {"a": rng.normal(size=400), "sex": rng.choice(["F", "M: & co", "M? & co"], 400)}
)
frame["y"] = (frame["a"] + (frame["sex"] == "F") + rng.normal(size=400) > 0).astype(int)
options = {"sensitive": "sex", "rules": ["selection_rate.ratio >= 0.99"]}

with mlflow.start_run() as logged:
    report = fg.audit(frame, label="y", prediction=(frame["a"] > 0).astype(int), **options)
    fg.mlflow.log_report(report)

client = mlflow.MlflowClient()
day = fg.confusion("sex", {"F": {"tp": 40, "fn": 60}, "M": {"tp": 80, "fn": 120}})
with mlflow.start_run() as explored:
    fg.mlflow.log_report(fg.audit(day))


def artifacts_of(run: mlflow.ActiveRun) -> list[str]:
    """Return the paths of what a run holds."""
    held_ = client.list_artifacts(run.info.run_id, "fairgauge")
    return sorted({each.path for each in held_})


def held(run: mlflow.ActiveRun) -> dict:
    """Return what the store holds of a run."""
    stored = client.get_run(run.info.run_id)
    text = mlflow.artifacts.load_text(f"{stored.info.artifact_uri}/fairgauge/report.json")
    return {
        "metrics": stored.data.metrics, "verdict": stored.data.tags["fairgauge.verdict"],
        "artifacts": artifacts_of(run), "report": json.loads(text),
    }  # fmt: skip


print(
    json.dumps(
        {
            "logged": held(logged),
            "explored": held(explored),
            "examples": doctest.testmod(fg.mlflow),
        }
    )
)
