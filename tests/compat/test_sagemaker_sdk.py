"""Configurations that the SageMaker SDK makes give smclarify's numbers, in files the SDK reads."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from click.testing import CliRunner
from client_libraries import SCRIPTS, ask
from folders import Folder
from smclarify_blocks import same
from tests.needs import EVERY_CASE

from fairgauge.cli import main

sys.path.insert(0, str(SCRIPTS))
from loans import loans

if TYPE_CHECKING:
    import pandas as pd

NUMERIC = ["gender", "age", "income", "education", "label", "predicted"]
FEWEST = 48
STEP = 1 if EVERY_CASE else 3


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return loans()


@pytest.fixture(scope="module")
def made(table: pd.DataFrame) -> dict[str, Any]:
    """Return the configurations and the monitors' that the SDK makes."""
    found = ask("sagemaker", "sagemaker_configs.py", ",".join(table.columns))
    assert len(found["configurations"]) >= FEWEST
    configurations = dict(list(dict(found["configurations"]).items())[::STEP])
    return {"configurations": configurations, "monitors": dict(found["monitors"])}


def written(folder: Any, table: pd.DataFrame, config: dict[str, Any]) -> str:
    """Write the table as a configuration reads it; return the name of the file."""
    kind, path = config["dataset_type"], folder.path
    if kind == "application/x-parquet":
        pl.from_pandas(table).write_parquet(path / "loans.parquet")
        return "loans.parquet"
    if kind == "text/csv":
        table[config["headers"]].to_csv(path / "loans.csv", index=False, header=False)
        return "loans.csv"
    features = config["headers"][:-2]
    rows = [
        {"features": row[:-2], "label": row[-2], "predicted": row[-1]}
        for row in table[config["headers"]].astype(object).to_numpy().tolist()
    ]
    assert features
    if kind == "application/json":
        return folder.json("loans.json", {"rows": rows})  # type: ignore[no-any-return]
    return folder.lines("loans.jsonl", rows)  # type: ignore[no-any-return]


def jobs(config: dict[str, Any], name: str, path: str) -> list[dict[str, Any]]:
    """Return what smclarify must be asked for the same numbers, a job for every facet and stage."""
    headers = config["headers"]
    predicted = config.get("predicted_label", "predicted_label").rpartition(".")[2]
    common = {
        "table": path, "columns": headers, "label": config["label"].rpartition(".")[2],
        "positive": config["label_values_or_threshold"], "predicted": predicted,
        "group": config.get("group_variable"),
    }  # fmt: skip
    return [
        common
        | {
            "facet": facet["name_or_index"], "values": facet.get("value_or_threshold"),
            "stage": stage, "name": name,
        }
        for facet in config["facet"]
        for stage in ("pre", "post")
        if f"{stage}_training_bias" in config["methods"]
        and (stage == "pre" or "predictor" not in config)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def runs(
    table: pd.DataFrame, made: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """Run every configuration; return where the results of each are."""
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        folder = Folder(tmp_path_factory.mktemp("sdk"))
        patch.chdir(folder.path)
        for i, (name, config) in enumerate(made["configurations"].items()):
            args = ["--dataset", written(folder, table, config)]
            folder.clarify(config, *args, into=f"out{i}")
            found[name] = folder.path / f"out{i}" / "analysis.json"
    return found


def test_every_configuration_gives_smclarifys_numbers(
    table: pd.DataFrame, made: dict[str, Any], runs: dict[str, Path], tmp_path: Path
) -> None:
    table.to_csv(tmp_path / "whole.csv", index=False)
    asked = []
    for name, config in made["configurations"].items():
        asked += jobs(config, name, str(tmp_path / "whole.csv"))
    ours = {name: json.loads(path.read_text()) for name, path in runs.items()}
    assert len(ours) >= FEWEST / STEP
    theirs = ask("smclarify", "smclarify_numbers.py", given=asked)
    compared = 0
    for job, reports in zip(asked, theirs, strict=True):
        section = ours[job["name"]][f"{job['stage']}_training_bias_metrics"]
        compared += same(section["facets"][job["facet"]], reports, job["name"])
    print(f"\n{len(ours)} configurations, {compared} values compared with smclarify")
    assert compared > 1_500 / STEP


def test_the_sdks_readers_take_our_files(runs: dict[str, Path], tmp_path: Path) -> None:
    paths = [str(path) for path in runs.values()]
    check = ["clarify-monitor", paths[0], "--baseline", paths[1], "-o", str(tmp_path)]
    assert CliRunner().invoke(main, check).exit_code == 0
    violations = str(tmp_path / "constraint_violations.json")
    found = ask("sagemaker", "sagemaker_readers.py", *paths, violations)
    assert found == {path: json.loads(Path(path).read_text()) for path in (*paths, violations)}


def test_a_monitors_configuration_runs_on_a_table(
    folder: Any, table: pd.DataFrame, made: dict[str, Any]
) -> None:
    monitor = made["monitors"]["monitor"]
    folder.json("monitor.json", monitor | {"InferenceAttribute": "predicted"})
    table[NUMERIC].to_csv(folder.path / "loans.csv", index=False)
    both = {f"{stage}_training_bias": {"methods": "all"} for stage in ("pre", "post")}
    places = {"dataset_type": "text/csv", "dataset_uri": "loans.csv", "headers": NUMERIC}
    folder.clarify(
        monitor | places | {"predicted_label": "predicted", "methods": both}, into="base"
    )
    result = folder.run(
        "clarify-monitor", "monitor.json", "--baseline", "base/analysis.json", "--dataset",
        "loans.csv", "--fail-on-violation", "-o", "now",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "0 drifted, 0 not evaluated" in result.stdout
    assert json.loads(Path("now/constraint_violations.json").read_text())["violations"] == []
