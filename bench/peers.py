"""The same work done by others, each in a virtual environment of its own under bench/.venvs.

A peer's interpreter runs this module: it prepares a pandas frame of shared text objects, measures
what the library does to report on one feature with five groups, and prints the cost as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

from bench.measure import ROOT, Cost, fresh, timed

_VENVS = Path(__file__).parent / ".venvs"
_METRICS = ["AD", "DAR", "DCA", "DCR", "DI", "DPPL", "DRR", "RD", "TE"]


def python_of(peer: str) -> Path | None:
    """Return the interpreter of a peer, installed if that can be done; else None."""
    venv = _VENVS / peer
    python = venv / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", peer], check=False)
    found = subprocess.run([python, "-c", f"import {peer}"], capture_output=True, check=False)
    return python if found.returncode == 0 else None


def version_of(peer: str, python: Path) -> str:
    """Return the version of a peer."""
    code = f"import importlib.metadata as m; print(m.version({peer!r}))"
    found = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return found.stdout.strip()


def same(ours: str, theirs: str) -> bool:
    """Return whether two texts state the same differences of all groups."""
    one, other = json.loads(ours), json.loads(theirs)
    return one.keys() == other.keys() and all(abs(one[g] - other[g]) < 1e-9 for g in one)


def run(peer: str, python: Path, table: Path) -> Cost:
    """Measure a peer's report on a CSV file."""
    command = [str(python), "-m", "bench.peers", peer, str(table)]
    return fresh(command, environment={"PYTHONPATH": str(ROOT)})


def _people(path: str) -> Any:
    import numpy as np
    import pandas as pd

    frame = pd.read_csv(path, usecols=["race", "label", "prediction"])
    codes, names = pd.factorize(frame["race"])
    frame["race"] = pd.Series(np.array(names.tolist(), dtype=object)[codes], dtype=object)
    return frame


def _from_rates(rates: dict[str, float], sizes: dict[str, int]) -> dict[str, float]:
    # by how much the rate of each group exceeds that of all others
    positives, rows = sum(rates[g] * sizes[g] for g in rates), sum(sizes.values())
    return {g: rates[g] - (positives - rates[g] * sizes[g]) / (rows - sizes[g]) for g in rates}


def _aequitas(frame: Any) -> Any:
    from aequitas.bias import Bias
    from aequitas.group import Group

    frame = frame.rename(columns={"prediction": "score", "label": "label_value"})

    def work() -> Any:
        crosstab, _ = Group().get_crosstabs(frame, attr_cols=["race"])
        return Bias().get_disparity_predefined_groups(
            crosstab, original_df=frame, ref_groups_dict={"race": "White"}, check_significance=False
        )

    def differences(crosstab: Any) -> dict[str, float]:
        groups = crosstab.set_index("attribute_value")
        return _from_rates(groups["pprev"].to_dict(), groups["group_size"].to_dict())

    return work, differences


def _aif360(frame: Any) -> Any:
    from aif360.datasets import BinaryLabelDataset
    from aif360.metrics import ClassificationMetric

    def of_group(race: str) -> list[float]:
        rows = frame[["label", "prediction"]].assign(group=(frame["race"] == race).astype(float))
        names = {"label_names": ["label"], "protected_attribute_names": ["group"]}
        labels = BinaryLabelDataset(df=rows[["label", "group"]], **names)
        predicted = labels.copy()
        predicted.labels = rows[["prediction"]].to_numpy(dtype=float)
        metric = ClassificationMetric(
            labels, predicted, unprivileged_groups=[{"group": 1.0}],
            privileged_groups=[{"group": 0.0}],
        )  # fmt: skip
        return [
            metric.disparate_impact(),
            metric.statistical_parity_difference(),
            metric.equal_opportunity_difference(),
            metric.average_odds_difference(),
            metric.error_rate_difference(),
            metric.false_positive_rate_difference(),
            metric.false_discovery_rate_difference(),
            metric.false_omission_rate_difference(),
            metric.accuracy(privileged=True),
            metric.accuracy(privileged=False),
            metric.generalized_entropy_index(),
        ]

    return (
        lambda: {race: of_group(race) for race in frame["race"].unique()},
        lambda found: {race: values[1] for race, values in found.items()},
    )


def _fairlearn(frame: Any) -> Any:
    from fairlearn import metrics as fm
    from sklearn import metrics as sm

    metrics = {
        "selection_rate": fm.selection_rate,
        "accuracy": sm.accuracy_score,
        "recall": sm.recall_score,
        "precision": lambda y, p: sm.precision_score(y, p, zero_division=0),
        "true_negative_rate": fm.true_negative_rate,
        "false_positive_rate": fm.false_positive_rate,
        "false_negative_rate": fm.false_negative_rate,
        "count": fm.count,
    }

    def work() -> Any:
        found = fm.MetricFrame(
            metrics=metrics,
            y_true=frame["label"],
            y_pred=frame["prediction"],
            sensitive_features=frame["race"],
        )
        compared = (of(method="to_overall") for of in (found.difference, found.ratio))
        return found.by_group, *compared

    def differences(answer: Any) -> dict[str, float]:
        by_group = answer[0]
        return _from_rates(by_group["selection_rate"].to_dict(), by_group["count"].to_dict())

    return work, differences


def _smclarify(frame: Any) -> Any:
    from smclarify.bias import report as sr

    names = ("label", "prediction")
    frame[[*names]] = frame[[*names]].astype(str)

    def work() -> Any:
        label, prediction = (sr.LabelColumn(name, frame[name], ["1"]) for name in names)
        stage = sr.StageType.POST_TRAINING
        facet = sr.FacetColumn("race")
        return sr.bias_report(frame, facet, label, stage, prediction, metrics=_METRICS)

    def differences(found: Any) -> dict[str, float]:
        return {
            each["value_or_threshold"]: -metric["value"]
            for each in found
            for metric in each["metrics"]
            if metric["name"] == "DPPL"
        }

    return work, differences


def _vfairness(frame: Any) -> Any:
    from vfairness import FairnessAnalyzer

    label, prediction, race = (frame[c].to_numpy() for c in ("label", "prediction", "race"))

    def work() -> Any:  # its intervals, by a bootstrap, take minutes of 20,000 rows
        return FairnessAnalyzer(label, prediction, race).get_report(include_ci=False)

    def differences(found: Any) -> dict[str, float]:
        groups = found["group_stats"].items()
        rates = {name: of["positive_rate"] for name, of in groups}
        return _from_rates(rates, {name: of["size"] for name, of in groups})

    return work, differences


PEERS = {
    "fairlearn": _fairlearn,
    "smclarify": _smclarify,
    "aif360": _aif360,
    "aequitas": _aequitas,
    "vfairness": _vfairness,
}

if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    work, differences = PEERS[sys.argv[1]](_people(sys.argv[2]))

    def stated(answer: Any) -> str:
        return json.dumps({group: float(value) for group, value in differences(answer).items()})

    print(json.dumps(timed(work, stated)))
