"""Configurations in the manner of the public guides run as they are, but for where the data is."""

from __future__ import annotations

import sys
from typing import Any

import polars as pl
import pytest
from clarify_cases import values

PEOPLE = [
    {"Age": 20 + i % 40, "Gender": i % 2, "Income": 1000 + 37 * i, "Occupation": i % 4}
    for i in range(120)
]
TARGETS = [int(person["Income"] > 3000 + 900 * person["Gender"]) for person in PEOPLE]
MODEL = """
def csv(rows):
    return [[int(row[2] > 3200), (row[2] - 1000) / 4440] for row in rows]

def lines(records):
    return [
        {"predicted_label": int(r["data"]["features"]["values"][2] > 3200)} for r in records
    ]

def document(records):
    return {"predictions": [{"predicted_label": int(r["Income"] > 3200)} for r in records]}
"""
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
    "dataset_type": "text/csv",
    "dataset_uri": "s3://bucket/data.csv",
    "label": "Target",
    "probability_threshold": 0.7,
    "excluded_columns": [],
    "predictor": CLOUD
    | {"content_type": "text/csv", "accept_type": "text/csv", "label": 0, "probability": 1},
}
LINES = BASE | {
    "dataset_type": "application/jsonlines",
    "dataset_uri": "s3://bucket/data.jsonl",
    "features": "data.features.values",
    "label": "data.label",
    "predictor": CLOUD
    | {
        "content_template": '{"data":{"features":{"values":$features}}}',
        "label": "predicted_label",
    },
}
DOCUMENT = BASE | {
    "dataset_type": "application/json",
    "dataset_uri": "s3://bucket/data.json",
    "features": "[*].[Age,Gender,Income,Occupation]",
    "label": "[*].Target",
    "predictor": CLOUD
    | {
        "content_template": "$records",
        "record_template": '{"Age":"${Age}","Gender":"${Gender}","Income":"${Income}"}',
        "label": "predictions[*].predicted_label",
    },
}
PARQUET = {key: value for key, value in CSV.items() if key != "headers"} | {
    "dataset_type": "application/x-parquet",
    "dataset_uri": "s3://bucket/data.parquet",
}


@pytest.fixture
def bucket(folder: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Write the same people in four formats, and the models that judge them."""
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
    folder.text("guide_models.py", MODEL)
    monkeypatch.syspath_prepend(str(folder.path))
    monkeypatch.delitem(sys.modules, "guide_models", raising=False)
    return folder


@pytest.mark.parametrize(
    ("config", "model"),
    [(CSV, "csv"), (LINES, "lines"), (DOCUMENT, "document"), (PARQUET, "csv")],
    ids=["csv", "json lines", "json", "parquet"],
)
def test_every_format_gives_the_same_numbers(
    bucket: Any, config: dict[str, Any], model: str
) -> None:
    found = bucket.clarify(config, "--map", "s3://bucket=.", "--model", f"guide_models:{model}")
    assert values(found, "pre", "Gender")["CI"] == 0.0
    assert values(found, "pre", "Gender")["DPL"] == pytest.approx(
        sum(TARGETS[::2]) / 60 - sum(TARGETS[1::2]) / 60
    )
    predicted = [int(person["Income"] > 3200) for person in PEOPLE]
    assert values(found, "post", "Gender")["DPPL"] == pytest.approx(
        sum(predicted[::2]) / 60 - sum(predicted[1::2]) / 60
    )
    blocks = found["post_training_bias_metrics"]["facets"]["Age"]
    assert [block["value_or_threshold"] for block in blocks] == ["(40, 59]"]
    assert isinstance(values(found, "post", "Gender")["CDDPL"], float)
    assert isinstance(values(found, "post", "Gender")["FT"], float)


def test_what_is_ignored_is_said(bucket: Any) -> None:
    bucket.clarify(CSV, "--map", "s3://bucket=.", "--model", "guide_models:csv")
    notices = " ".join(bucket.ours()["notices"])
    assert "methods.shap, methods.pdp: explanations are out of scope" in notices
    assert "predictor.model_name" in notices


def test_pandas_is_not_needed(bucket: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    found = bucket.clarify(CSV, "--map", "s3://bucket=.", "--model", "guide_models:csv")
    assert values(found, "pre", "Gender")["CI"] == 0.0


@pytest.mark.parametrize(
    ("module", "config", "model", "extra"),
    [
        ("jmespath", LINES, "guide_models:lines", "clarify"),
        ("onnxruntime", CSV, "model.onnx", "onnx"),
    ],
)
def test_a_missing_extra_is_one_line(
    bucket: Any,
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    config: dict[str, Any],
    model: str,
    extra: str,
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    bucket.json("c.json", config)
    message = bucket.fails("clarify", "c.json", "--map", "s3://bucket=.", "--model", model)
    assert f"pip install 'fairgauge[{extra}]'" in message.splitlines()[-1]
