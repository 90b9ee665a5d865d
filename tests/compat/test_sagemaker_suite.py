"""Others' configurations, as the SDK makes them, give smclarify's numbers.

They are those of the SDK's own unit tests, and more than 40 that follow public notebooks.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from client_libraries import SCRIPTS, ask
from smclarify_blocks import same
from tests.needs import EVERY_CASE

from fairgauge_cloud.clarify.clarify_config import read_config

sys.path.insert(0, str(SCRIPTS))
from loans import loans

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from folders import Folder

PREDICTED = "predictions of another file"


@dataclass(frozen=True)
class Case:
    """A configuration and its table."""

    name: str
    config: dict[str, Any]
    frame: pd.DataFrame

    @property
    def label(self) -> str:
        """Return the column of the label."""
        named = self.config["label"]
        if isinstance(named, int):
            return str(self.frame.columns[named])
        last = named.rpartition(".")[2].strip('"')
        return last if last in self.frame else str(self.frame.columns[0])

    @property
    def features(self) -> list[str]:
        """Return what a model is sent: neither labels nor predictions."""
        return [name for name in self.frame if name not in (self.label, "Predicted Label")]


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    made = loans()
    return made.assign(
        row=range(len(made)),
        label_float=made["label"].astype(float),
        gender_float=made["gender"].astype(float),
        predicted_education=made["education"].where(made["label"] == 1, 6 - made["education"]),
    )


@pytest.fixture(scope="module")
def written() -> Any:
    """Return the configurations that the SDK makes."""
    return ask("sagemaker", "sagemaker_suite_configs.py")


@pytest.fixture(scope="module")
def made(table: pd.DataFrame, written: Any) -> dict[str, list[Case]]:
    return {
        kind: [
            Case(
                each["name"],
                each["config"],
                table[list(each["table"].values())].set_axis(list(each["table"]), axis="columns"),
            )
            for each in cases
        ]
        for kind, cases in written.items()
        if kind != "content types"
    }


def write(folder: Folder, case: Case, table: pd.DataFrame) -> list[str]:
    """Write what a configuration reads; return the options that name it."""
    config, frame, path = case.config, case.frame, folder.path
    kind = config["dataset_type"]
    name = f"data.{kind.rpartition('/')[2]}"
    if kind == "application/x-parquet":
        pl.from_pandas(frame).write_parquet(path / name)
    elif kind == "text/csv":
        has_header = "headers" not in config and "0" not in frame
        frame.to_csv(path / name, index=False, header=has_header)
    else:
        write_records(folder, case, name)
    joined = {"F4": range(len(frame))} if "joinsource_name_or_index" in config else {}
    if "predicted_label_dataset_uri" in config:
        apart = table[["predicted"]].assign(**joined)
        apart.to_csv(path / "predicted.csv", index=False, header=False)
    if "facet_dataset_uri" in config:
        apart = table[["age" if config["facet_headers"][0] == "Age" else "race"]]
        apart = apart.assign(**joined or {"person": table["sex"]})
        apart.to_csv(path / "facets.csv", index=False, header=False)
    return ["--dataset", name, "--map", f"s3://bucket={path}"]


def write_records(folder: Folder, case: Case, name: str) -> None:
    """Write a table as JSON: the features in a list, or every column under its name."""
    frame, config = case.frame, case.config
    rows = frame.astype(object).to_dict("records")
    if config["features"] == "features":
        rows = [
            {
                "features": [row[name] for name in config["headers"] if name in case.features],
                config["label"]: row[case.label],
                "predicted": row.get("Predicted Label"),
            }
            for row in rows
        ]
    if config["dataset_type"] == "application/json":
        folder.json(name, rows)
    else:
        folder.lines(name, rows)


def jobs(case: Case, table: pd.DataFrame, path: Path) -> list[dict[str, Any]]:
    """Write the whole table, and return what smclarify is asked: every facet in every stage."""
    config, frame = case.config, case.frame
    if "predicted_label_dataset_uri" in config:
        predicted, frame = PREDICTED, frame.assign(**{PREDICTED: table["predicted"]})
    else:
        predicted = str(config.get("predicted_label", "")).rpartition(".")[2].strip('"')
        predicted = (
            "Predicted Label" if predicted == "predicted" != frame.columns[-1] else predicted
        )
    if "facet_dataset_uri" in config:
        apart = {"Age": "age"} if "F4" in config["facet_headers"] else {"Person": "sex"}
        frame = frame.assign(**{name: table[column] for name, column in apart.items()})
    frame.to_csv(path, index=False)
    is_read = set(config.get("headers", frame)) | {case.label, predicted}
    is_read |= set(config.get("facet_headers", []))
    is_read -= {"F4" if "joinsource_name_or_index" in config else None}
    columns = [name for name in frame if name in is_read]
    return [
        {
            "table": str(path),
            "columns": columns,
            "label": case.label,
            "positive": config["label_values_or_threshold"],
            "predicted": predicted,
            "group": config.get("group_variable"),
            "facet": column_of(frame, facet["name_or_index"]),
            "values": listed(facet.get("value_or_threshold")),
            "stage": stage,
        }
        for facet in config["facet"]
        for stage in ("pre", "post")
        if f"{stage}_training_bias" in config["methods"]
        and (stage == "pre" or "predictor" not in config)
    ]


def listed(values: Any) -> Any:
    return values if isinstance(values, list) or values is None else [values]


def column_of(frame: pd.DataFrame, named: str | int) -> str:
    return str(frame.columns[named]) if isinstance(named, int) else named


@pytest.mark.parametrize(("kind", "fewest"), [("suite", 28), ("notebooks", 40)])
def test_others_configurations_give_smclarifys_numbers(
    kind: str,
    fewest: int,
    made: dict[str, list[Case]],
    table: pd.DataFrame,
    folder: Folder,
) -> None:
    asked, ours = [], []
    step = 1 if EVERY_CASE else 4
    for i, case in enumerate(made[kind][::step]):
        args = write(folder, case, table)
        found = folder.clarify(case.config, *args)
        for job in jobs(case, table, folder.path / f"whole{i}.csv"):
            asked.append(job)
            facets = found[f"{job['stage']}_training_bias_metrics"]["facets"]
            name = job["facet"] if job["facet"] in facets else f"column_{job['facet']}"
            ours.append((case.name, facets[name]))
    theirs = ask("smclarify", "smclarify_numbers.py", given=asked)
    compared = sum(
        same(blocks, reports, name) for (name, blocks), reports in zip(ours, theirs, strict=True)
    )
    print(f"\n{len(made[kind][::step])} configurations, {compared} values compared with smclarify")
    assert len(made[kind]) >= fewest
    assert compared > 10 * fewest / step


def test_every_pair_of_content_and_accept_types_is_read(written: Any) -> None:
    configs = written["content types"]
    assert len(configs) == 12
    for config in configs:
        notices = read_config(json.dumps(config), has_dataset=True).notices
        assert "predictor: ignored, because fairgauge calls no model" in notices
