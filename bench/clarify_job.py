"""A SageMaker Clarify configuration on a CSV file of 15 columns: every metric but the flip test."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from bench.data import DATA, rows_file

if TYPE_CHECKING:
    from bench.work import Work

FLIP_TEST = "FT"


def wide_file(rows: int) -> Path:
    """Return a CSV file of so many rows, made if it is not there yet."""
    path = DATA / f"applications-{rows}.csv"
    if not path.exists():
        people = rows_file(rows)
        more = ", ".join(f"(hash(score) // {7**i}) % {3 + 5 * i} AS x{i}" for i in range(8))
        unfinished = path.with_name(f"unfinished-{path.name}")
        duckdb.sql(f"COPY (SELECT *, {more} FROM '{people}') TO '{unfinished}' (HEADER)")
        unfinished.replace(path)
    return path


def configuration(path: Path) -> dict[str, object]:
    """Return a configuration of four facets, one of them a threshold of many values, and strata."""
    from fairgauge.compat.service_texts import POST_TRAINING

    after = [metric for metric in POST_TRAINING if metric != FLIP_TEST]
    return {
        "version": "1.0",
        "dataset_type": "text/csv",
        "dataset_uri": str(path),
        "label": "label",
        "predicted_label": "prediction",
        "label_values_or_threshold": [1],
        "facet": [
            {"name_or_index": "sex", "value_or_threshold": ["Female"]},
            {"name_or_index": "race"},
            {"name_or_index": "age", "value_or_threshold": [40]},
            {"name_or_index": "score", "value_or_threshold": [0.5]},
        ],
        "group_variable": "x1",
        "methods": {
            "pre_training_bias": {"methods": "all"},
            "post_training_bias": {"methods": after},
        },
    }


def clarify(rows: int) -> Work:
    """Run a configuration as ``fairgauge clarify`` does, its files and report included."""
    from click.testing import CliRunner

    from fairgauge.cli import main

    folder = Path(tempfile.mkdtemp(prefix="bench-clarify-"))
    small, large = folder / "small.json", folder / "large.json"
    small.write_text(json.dumps(configuration(wide_file(1_000))))
    large.write_text(json.dumps(configuration(wide_file(rows))))

    def run(config: Path) -> None:
        done = CliRunner().invoke(main, ["clarify", str(config), "-o", str(folder)])
        assert done.exit_code == 0, done.output

    run(small)
    return lambda: run(large)
