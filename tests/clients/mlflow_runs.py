"""Logs reports to a local MLflow store, where MLflow is installed; prints what it holds."""

from __future__ import annotations

import doctest
import json
import sys
import tempfile
from pathlib import Path

import mlflow
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

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

model = LogisticRegression().fit(frame[["a"]], frame["y"])
frame["p"] = model.predict(frame[["a"]])
with mlflow.start_run() as evaluated:
    result = mlflow.models.evaluate(
        data=frame,
        targets="y",
        predictions="p",
        model_type="classifier",
        evaluators=["fairgauge"],
        evaluator_config={"fairgauge": options},
    )

both = {"default": {"log_explainer": False},
        "fairgauge": options | {"sensitive": frame[["sex"]]}}  # fmt: skip
with mlflow.start_run() as evaluated_by_both:
    # without its requirements MLflow starts a process that loads the model, to find them
    uri = mlflow.sklearn.log_model(
        model, name="m", serialization_format="cloudpickle", pip_requirements=["scikit-learn"]
    ).model_uri
    asked = {"model": uri, "model_type": "classifier"}
    by_both = mlflow.models.evaluate(
        data=frame[["a", "y"]],
        targets="y",
        evaluators=[*both],
        evaluator_config=both,
        **asked,
    ).metrics
with mlflow.start_run():
    arrays = mlflow.models.evaluate(
        data=frame[["a"]].to_numpy(),
        targets=frame["y"].to_numpy(),
        feature_names=["a"],
        evaluators=["fairgauge"],
        evaluator_config={"fairgauge": both["fairgauge"]},
        **asked,
    ).metrics

client = mlflow.MlflowClient()


def day(selected: int) -> fg.Cube:
    """Return the counts of one day."""
    women = {"tp": selected, "fn": 100 - selected}
    return fg.confusion("sex", {"F": women, "M": {"tp": 80, "fn": 120}})


question = {"label": "label", "prediction": "prediction", "positive": 1, "sensitive": "sex"}
rule = {"metric": "selection_rate.ratio", "at_least": 0.8, "groups": "F"}
days = {f"2026-11-{d:02d}": day(40 if d < 12 else 15) for d in range(1, 25)}
with mlflow.start_run() as watched:
    history = fg.History(tempfile.mkdtemp())
    for period, counts in days.items():
        history.add(period, counts)
    monitored = fg.monitor(history, question | {"monitor": {"rules": [rule]}})
    last = fg.mlflow.log_monitor(monitored)
with mlflow.start_run() as explored:
    fg.mlflow.log_report(fg.audit(day(40), **question))


def series(key: str) -> list[tuple[int, float]]:
    """Return the steps of a metric with their values."""
    found = client.get_metric_history(watched.info.run_id, key)
    return sorted((each.step, each.value) for each in found)


def followed() -> dict:
    """Return what the store holds of the monitor."""
    stored = client.get_run(watched.info.run_id)
    at = f"{stored.info.artifact_uri}/fairgauge/monitor.json"
    return {
        "series": {key: series(key) for key in stored.data.metrics},
        "last": last,
        "verdict": stored.data.tags["fairgauge.verdict"],
        "report": json.loads(mlflow.artifacts.load_text(at)),
        "artifacts": artifacts_of(watched),
    }


def artifacts_of(run: mlflow.ActiveRun) -> list[str]:
    """Return the paths of what a run holds."""
    held_ = client.list_artifacts(run.info.run_id, "fairgauge")
    return sorted({each.path for each in held_})


def held(run: mlflow.ActiveRun) -> dict:
    """Return what the store holds of a run."""
    stored = client.get_run(run.info.run_id)
    text = mlflow.artifacts.load_text(f"{stored.info.artifact_uri}/fairgauge/report.json")
    return {
        "metrics": stored.data.metrics,
        "verdict": stored.data.tags["fairgauge.verdict"],
        "artifacts": artifacts_of(run),
        "report": json.loads(text),
    }


print(
    json.dumps(
        {
            "logged": held(logged),
            "evaluated": held(evaluated),
            "explored": held(explored),
            "result": result.metrics,
            "evaluated by both": held(evaluated_by_both)["report"],
            "by both": {name: float(value) for name, value in by_both.items()},
            "of arrays": {name: float(value) for name, value in arrays.items()},
            "followed": followed(),
            "examples": doctest.testmod(fg.mlflow),
        }
    )
)
