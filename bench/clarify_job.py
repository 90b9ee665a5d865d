"""SageMaker Clarify configurations on CSV files: every metric but the flip test, and that alone."""

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
    from fairgauge_cloud._service_texts import POST_TRAINING

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


def numbers_file(rows: int) -> Path:
    """Return a CSV file of so many rows of numbers alone, which the flip test needs."""
    path = DATA / f"numbers-{rows}.csv"
    if not path.exists():
        some = ", ".join(f"hash(i * 31 + {j}) % 1000003 / 1e6 AS x{j}" for j in range(8))
        known = "hash(i) % 2 AS sex, hash(i + 1) % 2 AS label, hash(i + 2) % 2 AS prediction"
        unfinished = path.with_name(f"unfinished-{path.name}")
        query = f"SELECT {known}, {some} FROM range({rows}) AS rows(i)"
        duckdb.sql(f"COPY ({query}) TO '{unfinished}' (HEADER)")
        unfinished.replace(path)
    return path


def flip_configuration(path: Path) -> dict[str, object]:
    """Return a configuration of the flip test alone."""
    return configuration(path) | {
        "facet": [{"name_or_index": "sex", "value_or_threshold": [0]}],
        "group_variable": None,
        "methods": {"post_training_bias": {"methods": [FLIP_TEST]}},
    }


def clarify(rows: int) -> Work:
    """Run a configuration as ``fairgauge clarify`` does, its files and report included."""
    return _job(configuration(wide_file(1_000)), configuration(wide_file(rows)))


def flip_test(rows: int) -> Work:
    """Run a configuration of the flip test."""
    return _job(flip_configuration(numbers_file(1_000)), flip_configuration(numbers_file(rows)))


def _job(warm_up: dict[str, object], measured: dict[str, object]) -> Work:
    from click.testing import CliRunner

    from fairgauge.cli import main

    folder = Path(tempfile.mkdtemp(prefix="bench-clarify-"))
    small, large = folder / "small.json", folder / "large.json"
    small.write_text(json.dumps(warm_up))
    large.write_text(json.dumps(measured))

    def run(config: Path) -> None:
        done = CliRunner().invoke(main, ["clarify", str(config), "-o", str(folder)])
        assert done.exit_code == 0, done.output

    run(small)
    return lambda: run(large)
