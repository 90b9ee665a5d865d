"""Configurations in the manner of the public guides run as they are, but for where the data is."""

from typing import Any

import polars as pl
import pytest
from clarify_cases import values

PEOPLE = [
    {"Age": 20 + i % 40, "Gender": i % 2, "Income": 1000 + 37 * i, "Occupation": i % 4}
    for i in range(120)
]
TARGETS = [int(person["Income"] > 3000 + 900 * person["Gender"]) for person in PEOPLE]
METHODS = {
    "shap": {"baseline": [[30, 0, 2000, 1]], "num_samples": 100, "agg_method": "mean_abs"},
    "pdp": {"grid_resolution": 10},
    "pre_training_bias": {"methods": "all"},
    "post_training_bias": {"methods": "all"},
    "report": {"name": "report", "title": "Analysis Report"},
}
BASE: dict[str, Any] = {
    "version": "1.0",
    "headers": ["Age", "Gender", "Income", "Occupation", "Target"],
    "label_values_or_threshold": [1],
    "facet": [
        {"name_or_index": "Gender", "value_or_threshold": [1]},
        {"name_or_index": "Age", "value_or_threshold": [40]},
    ],
    "group_variable": "Occupation",
    "methods": METHODS,
}
CLOUD = {"model_name": "m", "instance_type": "ml.m5.xlarge", "initial_instance_count": 1}
CSV = BASE | {
    "dataset_type": "text/csv", "dataset_uri": "s3://bucket/data.csv", "label": "Target",
    "probability_threshold": 0.7, "excluded_columns": [],
    "predictor": CLOUD
    | {"content_type": "text/csv", "accept_type": "text/csv", "label": 0, "probability": 1},
}  # fmt: skip
LINES = BASE | {
    "dataset_type": "application/jsonlines", "dataset_uri": "s3://bucket/data.jsonl",
    "features": "data.features.values", "label": "data.label",
    "predictor": CLOUD
    | {
        "content_template": '{"data":{"features":{"values":$features}}}',
        "label": "predicted_label",
    },
}  # fmt: skip
DOCUMENT = BASE | {
    "dataset_type": "application/json", "dataset_uri": "s3://bucket/data.json",
    "features": "[*].[Age,Gender,Income,Occupation]", "label": "[*].Target",
    "predictor": CLOUD
    | {
        "content_template": "$records",
        "record_template": '{"Age":"${Age}","Gender":"${Gender}","Income":"${Income}"}',
        "label": "predictions[*].predicted_label",
    },
}  # fmt: skip
PARQUET = {key: value for key, value in CSV.items() if key != "headers"} | {
    "dataset_type": "application/x-parquet",
    "dataset_uri": "s3://bucket/data.parquet",
}


@pytest.fixture
def bucket(folder: Any) -> Any:
    """Write the same people in four formats."""
    full = [person | {"Target": t} for person, t in zip(PEOPLE, TARGETS, strict=True)]
    folder.csv("data.csv", [tuple(each.values()) for each in full])
    folder.lines(
        "data.jsonl",
        [
            {"data": {"features": {"values": list(person.values())}, "label": target}}
            for person, target in zip(PEOPLE, TARGETS, strict=True)
        ],
    )
    folder.json("data.json", full)
    pl.DataFrame(full).write_parquet(folder.path / "data.parquet")
    return folder


@pytest.mark.parametrize(
    "config", [CSV, LINES, DOCUMENT, PARQUET], ids=["csv", "json lines", "json", "parquet"]
)
def test_every_format_gives_the_same_numbers(bucket: Any, config: dict[str, Any]) -> None:
    found = bucket.clarify(config, "--map", "s3://bucket=.")
    assert values(found, "pre", "Gender")["CI"] == 0.0
    assert values(found, "pre", "Gender")["DPL"] == pytest.approx(
        sum(TARGETS[::2]) / 60 - sum(TARGETS[1::2]) / 60
    )


def test_what_is_ignored_is_said(bucket: Any) -> None:
    bucket.clarify(CSV, "--map", "s3://bucket=.")
    notices = bucket.notes
    assert "shap, pdp (explanations are out of scope)" in notices
    assert "predictor: ignored, because fairgauge calls no model" in notices
