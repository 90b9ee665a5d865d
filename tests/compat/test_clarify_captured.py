"""Captured traffic of endpoints and batch transforms, in every encoding, gives the same numbers."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from clarify_cases import MONITORED, both, cases, config, values

ROWS = [(f"{20 + i % 40}", *case) for i, case in enumerate(cases(MONITORED))]
HEADERS = ["visits", "facet", "label"]
MONITOR: dict[str, Any] = {
    "version": "1.0",
    "headers": HEADERS,
    "label": "label",
    "label_values_or_threshold": [1],
    "facet": [{"name_or_index": "facet", "value_or_threshold": ["d"]}],
}


@pytest.fixture
def expected(folder: Any) -> Any:
    """Run the same rows as CSV; return all values."""
    folder.csv("data.csv", [["visits", "facet", "label", "predicted"], *ROWS])
    return folder.clarify(config(predicted_label="predicted", methods=both()), into="base")


def part(kind: str, data: str, encoding: str) -> dict[str, Any]:
    if encoding == "BASE64":
        data = base64.b64encode(data.encode()).decode()
    return {"observedContentType": kind, "mode": "INPUT", "data": data, "encoding": encoding}


def record(request: Any, answer: Any, truth: str, *, source: str = "endpoint") -> dict[str, Any]:
    return {
        "captureData": {f"{source}Input": request, f"{source}Output": answer},
        "groundTruthData": {"data": truth, "encoding": "CSV"},
        "eventMetadata": {"eventId": "0"},
        "eventVersion": "0",
    }


def csv_records(encoding: str, source: str) -> list[dict[str, Any]]:
    return [
        record(
            part("text/csv", f"{visits},{facet}\n", encoding),
            part("text/csv; charset=utf-8", str(predicted), encoding),
            f"{label}\n",
            source=source,
        )
        for visits, facet, label, predicted in ROWS
    ]


def json_records(encoding: str) -> list[dict[str, Any]]:
    return [
        record(
            part("application/json", json.dumps({"features": [int(visits), facet]}), encoding),
            part("application/json", json.dumps({"score": 0.3 + 0.4 * predicted}), encoding),
            str(label),
        )
        for visits, facet, label, predicted in ROWS
    ]


JSON = {"FeaturesAttribute": "features", "ProbabilityAttribute": "score"}


@pytest.mark.parametrize(
    ("records", "attributes"),
    [
        (csv_records("CSV", "endpoint"), {"InferenceAttribute": "0"}),
        (csv_records("CSV", "endpoint"), {}),
        (csv_records("BASE64", "endpoint"), {"InferenceAttribute": "0"}),
        (csv_records("CSV", "batchTransform"), {"InferenceAttribute": "0"}),
        (json_records("JSON"), JSON | {"ProbabilityThresholdAttribute": 0.6}),
        (json_records("BASE64"), JSON),
    ],
    ids=["csv", "csv without attributes", "base64", "batch transform", "json", "json in base64"],
)
def test_every_encoding(folder: Any, expected: Any, records: Any, attributes: Any) -> None:
    folder.lines("merged/part-0.jsonl", records[:100])
    folder.lines("merged/part-1.jsonl", records[100:])
    folder.json("monitor.json", MONITOR | attributes)
    result = folder.run(
        "clarify-monitor", "monitor.json", "--baseline", "base/analysis.json", "-o", "now",
        "--dataset", "merged", "--fail-on-violation",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert values(folder.read("now/analysis.json")) == values(expected)


def test_a_threshold_that_is_no_number_is_refused(folder: Any) -> None:
    folder.json("monitor.json", MONITOR | {"ProbabilityThresholdAttribute": "high"})
    args = ("clarify-monitor", "monitor.json", "--baseline", "b.json", "--dataset", "merged")
    assert "probability_threshold: must be" in folder.fails(*args)


def test_a_request_of_several_rows(folder: Any, expected: Any) -> None:
    text = "".join(f"{visits},{facet}\n" for visits, facet, *_ in ROWS)
    answers = ",".join(str(row[3]) for row in ROWS)
    truth = "".join(f"{row[2]}\n" for row in ROWS)
    whole = record(part("text/csv", text, "CSV"), part("text/csv", answers, "CSV"), truth)
    folder.lines("merged.jsonl", [whole])
    asked = config(
        dataset_type="application/sagemakercapturejson",
        dataset_uri="merged.jsonl",
        headers=HEADERS,
        methods=both(),
    )
    assert values(folder.clarify(asked)) == values(expected)


def test_the_definition_of_a_job(folder: Any, expected: Any) -> None:
    folder.lines("merged.jsonl", json_records("JSON"))
    folder.json("bucket/analysis_config.json", MONITOR)
    definition = {
        "JobDefinitionName": "bias",
        "ModelBiasAppSpecification": {
            "ImageUri": "clarify",
            "ConfigUri": "s3://bucket/analysis_config.json",
        },
        "ModelBiasJobInput": {
            "EndpointInput": {"EndpointName": "live", "LocalPath": "/opt/ml/x", **JSON},
            "GroundTruthS3Input": {"S3Uri": "s3://bucket/truth"},
        },
    }
    folder.json("job.json", definition)
    args = ("clarify-monitor", "job.json", "--baseline", "base/analysis.json")
    result = folder.run(*args, "--dataset", "merged.jsonl", "--map", "s3://bucket=bucket")
    assert result.exit_code == 0, result.output
    assert values(folder.read("analysis.json")) == values(expected)
    folder.json("job.json", definition | {"ModelBiasAppSpecification": {}})
    assert "names no configuration" in folder.fails(*args)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"eventId": 1}, "line 1 is no captured request: captureData holds no ...Input"),
        ({"captureData": {"endpointInput": {}}}, "the data cannot be decoded"),
        (
            record(part("text/csv", "1,d", "GZIP"), part("text/csv", "1", "CSV"), "1"),
            "encoding 'GZIP' is not CSV, JSON or BASE64",
        ),
        (
            record(part("text/csv", "1,d", "CSV"), part("text/csv", "1\n0", "CSV"), "1"),
            "line 1 holds 1 rows of features and 2 answers",
        ),
        (
            record(part("text/csv", "1,d,9", "CSV"), part("text/csv", "1", "CSV"), "1"),
            "headers: names 2 features, but 'merged.jsonl' holds 3",
        ),
        (
            record(part("application/json", "[1]", "JSON"), part("text/csv", "1", "CSV"), "1"),
            "features: is required: the request is JSON",
        ),
    ],
)
def test_lines_that_are_no_capture(folder: Any, line: Any, message: str) -> None:
    folder.lines("merged.jsonl", [line])
    folder.json("monitor.json", MONITOR)
    args = ("clarify-monitor", "monitor.json", "--baseline", "b.json", "--write-baseline")
    assert message in folder.fails(*args, "--dataset", "merged.jsonl")
