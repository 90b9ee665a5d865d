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


@pytest.mark.parametrize("headers", [None, [*HEADERS, "predicted"]])
@pytest.mark.parametrize("predicted", ["predicted", "3"])
def test_a_monitor_reads_a_table_in_place_of_captures(
    folder: Any, expected: Any, headers: list[str] | None, predicted: str
) -> None:
    monitor = MONITOR | {"headers": headers, "InferenceAttribute": predicted}
    folder.json("monitor.json", monitor)
    result = folder.run(
        "clarify-monitor", "monitor.json", "--baseline", "base/analysis.json", "-o", "now",
        "--dataset", "data.csv", "--fail-on-violation",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert values(folder.read("now/analysis.json")) == values(expected)


PARTS = [ROWS[start : start + 50] for start in range(0, len(ROWS), 50)]
DOCUMENTS = {
    "headers": ["visits", "facet", "Approved"],
    "label": "instances[*].label",
    "FeaturesAttribute": "instances[*].features",
    "InferenceAttribute": "predictions[*].label",
}
LINES = {
    "headers": ["visits", "facet", "Approved"],
    "FeaturesAttribute": "features",
    "ProbabilityAttribute": "score",
}


def sent(row: Any) -> dict[str, Any]:
    return {"features": [int(row[0]), row[1]]}


def replied(row: Any) -> dict[str, Any]:
    return {"label": row[3], "score": 0.3 + 0.4 * row[3]}


def lines_of(values: Any) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def truths(rows: Any, *, document: bool) -> dict[str, Any]:
    every = [{"label": row[2]} for row in rows]
    data = json.dumps({"instances": every}) if document else lines_of(every)
    kind = "application/json" if document else "application/jsonlines"
    return {"data": data, "encoding": "JSON", "observedContentType": kind}


def documents_of_several(encoding: str) -> list[dict[str, Any]]:
    """Return what an endpoint captures that is sent documents of 50 rows."""
    kind = "application/json"
    return [
        record(
            part(kind, json.dumps({"instances": list(map(sent, rows))}), encoding),
            part(kind, json.dumps({"predictions": list(map(replied, rows))}), encoding),
            "",
        )
        | {"groundTruthData": truths(rows, document=True)}
        for rows in PARTS
    ]


def lines_of_several(encoding: str) -> list[dict[str, Any]]:
    """Return what an endpoint captures that is sent 50 lines of JSON at a time."""
    kind = "application/jsonlines"
    return [
        record(
            part(kind, lines_of(map(sent, rows)), encoding),
            part(kind, lines_of(map(replied, rows)), encoding),
            "",
        )
        | {"groundTruthData": truths(rows, document=False)}
        for rows in PARTS
    ]


def joined(data: str, encoding: str, truth: Any) -> dict[str, Any]:
    """Return what a batch transform that joins input and output leaves: its output alone."""
    text = base64.b64encode(data.encode()).decode() if encoding == "BASE64" else data
    return {
        "captureData": {"batchTransformOutput": {"data": text, "encoding": encoding}},
        "groundTruthData": truth,
        "eventMetadata": {"eventId": "0"},
        "eventVersion": "0",
    }


def joined_documents(encoding: str) -> list[dict[str, Any]]:
    return [
        joined(
            json.dumps(
                {
                    "SageMakerOutput": {"predictions": list(map(replied, rows))},
                    "instances": list(map(sent, rows)),
                }
            ),
            encoding,
            truths(rows, document=True),
        )
        for rows in PARTS
    ]


def joined_lines(encoding: str) -> list[dict[str, Any]]:
    return [
        joined(
            json.dumps({"SageMakerOutput": replied(row), **sent(row)}),
            encoding,
            {"data": json.dumps({"label": row[2]}), "encoding": "JSON"},
        )
        for row in ROWS
    ]


def joined_csv(encoding: str) -> list[dict[str, Any]]:
    return [
        joined(
            f"{visits},{facet},{0.3 + 0.4 * predicted}",
            encoding,
            {"data": str(label), "encoding": "CSV"},
        )
        for visits, facet, label, predicted in ROWS
    ]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("encoding", ["as text", "BASE64"])
@pytest.mark.parametrize(
    ("made", "attributes"),
    [
        (documents_of_several, DOCUMENTS),
        (lines_of_several, LINES),
        (joined_documents, DOCUMENTS),
        (joined_lines, LINES),
        (joined_csv, {"ProbabilityAttribute": "0"}),
        (joined_csv, {"ProbabilityAttribute": "2", "ProbabilityThresholdAttribute": 0.6}),
    ],
)
def test_requests_of_several_rows_and_joined_transforms(
    folder: Any, expected: Any, made: Any, attributes: Any, encoding: str
) -> None:
    """The forms of the service's own examples: the same rows give the same values."""
    text = "CSV" if made is joined_csv else "JSON"
    folder.lines("merged.jsonl", made(text if encoding == "as text" else encoding))
    folder.json("monitor.json", MONITOR | attributes)
    result = folder.run(
        "clarify-monitor", "monitor.json", "--baseline", "base/analysis.json", "-o", "now",
        "--dataset", "merged.jsonl", "--fail-on-violation",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert values(folder.read("now/analysis.json")) == values(expected)


def test_joined_csv_needs_headers(folder: Any) -> None:
    folder.lines("merged.jsonl", joined_csv("CSV"))
    asked = {key: value for key, value in MONITOR.items() if key != "headers"}
    folder.json("monitor.json", asked | {"facet": [{"name_or_index": 1}]})
    args = ("clarify-monitor", "monitor.json", "--baseline", "b.json", "--write-baseline")
    assert "headers: are required: a joined" in folder.fails(*args, "--dataset", "merged.jsonl")


def test_a_threshold_that_is_no_number_is_refused(folder: Any) -> None:
    folder.json("monitor.json", MONITOR | {"ProbabilityThresholdAttribute": "high"})
    args = ("clarify-monitor", "monitor.json", "--baseline", "b.json", "--dataset", "merged")
    assert "probability_threshold: must be" in folder.fails(*args)


def monitored(folder: Any, records: Any, **changes: Any) -> tuple[dict[Any, Any], str]:
    """Run a monitor on captures; return the values and the notices."""
    folder.lines("merged.jsonl", records)
    folder.json("monitor.json", MONITOR | changes)
    result = folder.run(
        "clarify-monitor", "monitor.json", "--baseline", "none.json", "--write-baseline",
        "-o", "now", "--dataset", "merged.jsonl",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    return values(folder.read("now/analysis.json")), result.stderr


NO_TRUTH = [None, *({"data": text, "encoding": "CSV"} for text in ("", "\n", "nan", None))]
NO_TRUTH += [{"data": text, "encoding": code} for code in ("JSON", "BASE64") for text in ("", None)]


@pytest.mark.parametrize("truth", NO_TRUTH)
def test_ground_truth_that_is_empty_is_missing(folder: Any, truth: Any) -> None:
    records = csv_records("CSV", "endpoint")
    for each in records[::7]:
        del each["groundTruthData"]
    absent, notices = monitored(folder, records)
    count = len(records[::7])
    assert f"{count} missing values of 'label' count as negative" in notices
    assert monitored(folder, [{"groundTruthData": truth} | each for each in records]) == (
        absent, notices,
    )  # fmt: skip


@pytest.mark.parametrize("probability", [False, True])
@pytest.mark.parametrize("text", ["", "nan", None])
def test_answers_that_are_empty_are_missing_predictions(
    folder: Any, text: str | None, probability: bool
) -> None:
    place = "ProbabilityAttribute" if probability else "InferenceAttribute"
    rows = [[*row[:3], "" if i % 7 == 0 else row[3]] for i, row in enumerate(ROWS)]
    folder.csv("data.csv", [["visits", "facet", "label", "predicted"], *rows])
    table = folder.clarify(config(predicted_label="predicted", methods=both()), into="base")
    records = csv_records("CSV", "endpoint")
    for each in records[::7]:
        each["captureData"]["endpointOutput"]["data"] = text
    found, notices = monitored(folder, records, **{place: "0"})
    assert found == values(table)
    count = len(records[::7])
    assert f"{count} missing values of 'predicted_label' count as negative" in notices


def test_answers_without_any_prediction_are_refused(folder: Any) -> None:
    folder.lines("merged.jsonl", json_records("JSON"))
    folder.json("monitor.json", MONITOR | JSON | {"ProbabilityAttribute": "scores"})
    text = folder.fails(
        "clarify-monitor", "monitor.json", "--baseline", "b.json", "--write-baseline",
        "--dataset", "merged.jsonl",
    )  # fmt: skip
    assert "no answer of the model holds a prediction" in text
    assert "ProbabilityAttribute" in text


@pytest.mark.parametrize(
    ("score", "threshold", "text"),
    [
        (lambda p, i: -999 if i % 5 == 0 else p, 0.5, "has a score outside 0 to 1, from -999 to"),
        (lambda p, i: 100 * p, 0.5, "score outside 0 to 1, from 30 to 70, which"),
        (lambda p, i: 100 * p, 50, None),
        (lambda p, i: p, 0.5, None),
    ],
)
def test_scores_that_are_no_probabilities_are_warned_of(
    folder: Any, score: Any, threshold: float, text: str | None
) -> None:
    records = json_records("JSON")
    for i, (each, row) in enumerate(zip(records, ROWS, strict=True)):
        found = json.dumps({"score": score(0.3 + 0.4 * row[3], i)})
        each["captureData"]["endpointOutput"]["data"] = found
    changes = JSON | {"ProbabilityThresholdAttribute": threshold}
    _, notices = monitored(folder, records, **changes)
    assert ("outside 0 to 1" in notices) is (text is not None)
    if text is not None:
        (line,) = (each for each in notices.splitlines() if "outside 0 to 1" in each)
        assert line.startswith("Warning: ")
        assert text.replace("has a", "have a") in line


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
        ({"eventId": 1}, "line 1 is no captured request: it has no captureData"),
        ({"captureData": {"endpointInput": {}}}, "captureData holds no ...Output"),
        ({"captureData": {"endpointOutput": {}}}, "the data cannot be decoded"),
        (
            {"captureData": {"batchTransformOutput": {"data": '{"score": 1}', "encoding": "JSON"}}},
            "no SageMakerOutput beside it: transform with join_source='Input'",
        ),
        (
            record(part("text/csv", "1,d", "CSV"), part("text/csv", "1", "CSV"), '{"y": 1}')
            | {"groundTruthData": {"data": '{"y": 1}', "encoding": "JSON"}},
            "'label' finds no label in groundTruthData",
        ),
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


@pytest.mark.parametrize(
    ("requests", "attributes", "message"),
    [
        (["1,d", "1,d,3"], {"headers": None}, "is ragged: row 2 has 3 features, the first 2"),
        (['{"x": 3}'], {"FeaturesAttribute": "y"}, "features: 'y' finds no list in"),
        (['{"x": [[1], 2]}'], {"FeaturesAttribute": "x"}, "features: 'x' finds no list in"),
    ],
)
def test_captures_that_do_not_fit(
    folder: Any, requests: list[str], attributes: dict[str, Any], message: str
) -> None:
    kind = {True: ("application/json", "JSON"), False: ("text/csv", "CSV")}
    lines = [
        record(part(name, text, encoding), part("text/csv", "1", "CSV"), "1")
        for text in requests
        for name, encoding in [kind[text.startswith("{")]]
    ]
    folder.lines("merged.jsonl", lines)
    asked = MONITOR | {"facet": [{"name_or_index": 1}]} | attributes
    folder.json("monitor.json", {key: value for key, value in asked.items() if value is not None})
    args = ("clarify-monitor", "monitor.json", "--baseline", "b.json", "--write-baseline")
    assert message in folder.fails(*args, "--dataset", "merged.jsonl")


def test_captures_without_headers_are_counted_by_position(folder: Any, expected: Any) -> None:
    folder.lines("merged.jsonl", csv_records("CSV", "endpoint"))
    facet = [{"name_or_index": 1, "value_or_threshold": ["d"]}]
    asked = config(
        dataset_type="application/sagemakercapturejson", dataset_uri="merged.jsonl", facet=facet,
        methods=both(),
    )  # fmt: skip
    found = folder.clarify(asked)
    assert values(found, facet="column_1") == values(expected)
