"""Write ``vendored/scores_*.json``: thresholds and weights that other tools choose.

    pip install fairlearn==0.15.0 aif360==0.6.1 error-parity==0.3.12
    python tests/oracles/vendor_thresholds.py

The rows are drawn here, from a seed. The file of each table holds its counts by group, label and
score, and beside them what every tool makes of the same rows.
"""

from __future__ import annotations

import json
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

FOLDER = Path(__file__).resolve().parent / "vendored"
TABLES = {"scores_alike": (2_000, 0.3, 11), "scores_apart": (600, 1.2, 12)}
"""Rows, the distance between the scores of both groups, and the seed."""
CONSTRAINTS = (
    "demographic_parity", "true_positive_rate_parity", "false_positive_rate_parity",
    "equalized_odds",
)  # fmt: skip
TOLERANCES = (0.0, 0.02, 0.05, 0.1, 0.2)


def rows(n: int, apart: float, seed: int) -> pd.DataFrame:
    """Draw groups of unequal sizes whose scores and base rates differ."""
    rng = np.random.default_rng(seed)
    group = np.where(rng.random(n) < 0.35, "F", "M")
    label = (rng.random(n) < np.where(group == "F", 0.4, 0.55)).astype(int)
    signal = 1.6 * (label - 0.5) + rng.normal(size=n) - apart * (group == "F")
    score = (1 / (1 + np.exp(-signal))).round(2)
    weight = rng.choice([0.5, 1.0, 3.0], n)
    return pd.DataFrame({"group": group, "label": label, "score": score, "weight": weight, "n": 1})


def fairlearn(frame: pd.DataFrame, constraint: str) -> dict[str, Any]:
    """Return the expected accuracy, and the thresholds between which each group is randomised."""
    from fairlearn.postprocessing import ThresholdOptimizer
    from sklearn.base import BaseEstimator

    class Scored(BaseEstimator):
        """The score is the model."""

        def fit(self, x: Any, y: Any) -> Scored:
            return self

        def predict(self, x: Any) -> Any:
            return np.asarray(x)[:, 0]

    optimizer = ThresholdOptimizer(
        estimator=Scored(),
        constraints=constraint,
        objective="accuracy_score",
        grid_size=2_000,
        prefit=True,
        predict_method="predict",
    )
    given = {"sensitive_features": frame["group"]}
    optimizer.fit(frame[["score"]], frame["label"], **given)
    accepted = optimizer._pmf_predict(frame[["score"]], **given)[:, 1]
    label = frame["label"].to_numpy()
    chosen = optimizer.interpolated_thresholder_.interpolation_dict
    thresholds = {
        group: {
            "above": [finite(each.operation0.threshold), finite(each.operation1.threshold)],
            "chances": [float(each.p0), float(each.p1)],
            "ignored": float(each.get("p_ignore", 0.0)),
        }
        for group, each in chosen.items()
    }
    return {
        "accuracy": float(np.where(label == 1, accepted, 1 - accepted).mean()),
        "thresholds": thresholds,
    }


def finite(threshold: float) -> float:
    """Return a threshold as a number of JSON; scores lie in [0, 1]."""
    return float(np.clip(threshold, -1.0, 2.0))


def error_parity(frame: pd.DataFrame, constraint: str, tolerance: float) -> dict[str, float]:
    """Return the least error rate within a tolerance, and the disparity at which it is reached."""
    from error_parity import RelaxedThresholdOptimizer

    optimizer = RelaxedThresholdOptimizer(
        predictor=lambda x: np.asarray(x)[:, 0], constraint=constraint, tolerance=tolerance
    )
    group = (frame["group"] == "M").to_numpy().astype(int)
    optimizer.fit(X=frame[["score"]].to_numpy(), y=frame["label"].to_numpy(), group=group)
    return {
        "tolerance": tolerance,
        "error_rate": float(optimizer.cost(false_pos_cost=1.0, false_neg_cost=1.0)),
        "disparity": float(optimizer.constraint_violation()),
    }


def reweighing(frame: pd.DataFrame, weight: str) -> dict[str, dict[str, float]]:
    """Return the factor of the weight of every group and label."""
    from aif360.algorithms.preprocessing import Reweighing
    from aif360.datasets import BinaryLabelDataset

    coded = frame.assign(group=(frame["group"] == "M").astype(float))[["group", "label", weight]]
    data = BinaryLabelDataset(
        df=coded.astype(float),
        label_names=["label"],
        protected_attribute_names=["group"],
        instance_weights_name=weight,
    )
    made = Reweighing([{"group": 0.0}], [{"group": 1.0}]).fit(data)
    return {
        "F": {"positive": float(made.w_up_fav), "negative": float(made.w_up_unfav)},
        "M": {"positive": float(made.w_p_fav), "negative": float(made.w_p_unfav)},
    }


def results(frame: pd.DataFrame) -> dict[str, Any]:
    """Return what every tool makes of a table."""
    return {
        "fairlearn": {name: fairlearn(frame, name) for name in CONSTRAINTS},
        "error_parity": {
            name: [error_parity(frame, name, tolerance) for tolerance in TOLERANCES]
            for name in CONSTRAINTS
        },
        "aif360": {"plain": reweighing(frame, "n"), "weighted": reweighing(frame, "weight")},
    }


def main() -> None:
    warnings.simplefilter("ignore")
    tools = ("fairlearn", "error-parity", "aif360", "scikit-learn", "numpy", "cvxpy")
    meta = {"versions": {name: version(name) for name in tools}}
    for name, (n, apart, seed) in TABLES.items():
        frame = rows(n, apart, seed)
        cells = frame.groupby(["group", "label", "score", "weight"])["n"].sum().reset_index()
        table = {
            "columns": list(cells.columns),
            "counts": [[getattr(v, "item", lambda v=v: v)() for v in row] for row in cells.values],
        }
        value = {"meta": meta, "table": table, "results": results(frame)}
        text = json.dumps(value, separators=(",", ":"), allow_nan=False)
        (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
