"""Where a job's data start, which columns it reads, and what it says of what is not there."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from clarify_cases import MONITORED, after, both, cases, config, values

from fairgauge_cloud._facet_counts import CodedColumn, Kind
from fairgauge_cloud.smclarify.bias.report import FacetColumn, LabelColumn, StageType, bias_report

ROWS = cases(MONITORED)
HEADERS = ["facet", "label", "predicted"]


@pytest.mark.parametrize("first", [("Facet", "Label", "Predicted"), ("sex", "y", "score")])
def test_a_header_spelled_differently_is_not_data(folder: Any, first: tuple[str, ...]) -> None:
    folder.csv("data.csv", [first, *ROWS])
    asked = config(headers=HEADERS, predicted_label="predicted", methods=both())
    folder.json("bad.json", asked)
    for more in ([], ["--check"]):
        message = folder.fails("clarify", "bad.json", *more)
        assert f"looks like a header that is spelled differently: '{first[0]}' for" in message
        assert "if it is data, move the row below another one" in message
    folder.csv("data.csv", [HEADERS, *ROWS])
    headed = folder.clarify(asked)
    folder.csv("data.csv", ROWS)
    assert folder.clarify(asked) == headed


def test_a_first_row_with_a_number_is_data(folder: Any) -> None:
    folder.csv("data.csv", [("d", 1, "?"), *ROWS])
    asked = config(headers=HEADERS, predicted_label="predicted")
    folder.clarify(asked)
    assert folder.ours()["data"]["rows"] == len(ROWS) + 1


def test_the_flip_test_leaves_out_its_own_facet_alone(folder: Any) -> None:
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(
        {
            "sex": rng.integers(0, 2, 400), "education": rng.integers(1, 5, 400),
            "income": rng.normal(50, 10, 400).round(6), "label": rng.integers(0, 2, 400),
        }
    )  # fmt: skip
    frame["predicted"] = (frame["income"] + 4 * frame["education"] > 60).astype(int)
    frame.to_csv(folder.path / "data.csv", index=False)
    facets = [
        {"name_or_index": "sex", "value_or_threshold": [1]},
        {"name_or_index": "education", "value_or_threshold": [3]},
    ]
    found = folder.clarify(config(facet=facets, predicted_label="predicted", methods=after()))
    for name, value in (("sex", 1), ("education", 3)):
        (alone,) = bias_report(
            frame, FacetColumn(name, [value]), LabelColumn("label", frame["label"], [1]),
            StageType.POST_TRAINING, LabelColumn("predicted", frame["predicted"], [1]),
            metrics=["FT"],
        )  # fmt: skip
        assert values(found, facet=name)["FT"] == alone["metrics"][0]["value"] != 0.0


def test_without_predictions_the_first_stage_is_measured(folder: Any) -> None:
    folder.csv("data.csv", [("facet", "label"), *((f, y) for f, y, _ in ROWS)])
    found = folder.clarify(config(methods=both(), predictor={"endpoint_name": "live"}))
    assert list(found) == ["version", "pre_training_bias_metrics"]
    assert "Not computed: post_training_bias (there are no predictions" in folder.notes
    folder.clarify(config(methods=both()), "-q")
    assert folder.notes.startswith("Not computed: post_training_bias")


SURE = [0.9 if y == 1 else 0.2 for *_, y in ROWS]
# how a model answers, as a file has it, and how a configuration reads it
ANSWERS = {
    "label": ("text/csv", {"label": 1}, [["x", y] for *_, y in ROWS]),
    "score": ("text/csv", {}, [[s] for s in SURE]),
    "score by place": ("text/csv", {"probability": 1}, [["x", s] for s in SURE]),
    "scores": (
        "text/csv", {"label_headers": [0, 1]}, [[1 - s, s] for s in SURE],
    ),
    "label in lines": ("application/jsonlines", {"label": "of.label"},
                       [{"of": {"label": y}} for *_, y in ROWS]),
    "score in lines": ("application/jsonlines", {"probability": "p"}, [{"p": s} for s in SURE]),
    "labels and scores": (
        "application/jsonlines", {"label": "names", "probability": "p"},
        [{"names": [1, 0], "p": [s, 1 - s]} for s in SURE],
    ),
    "document": ("application/json", {"label": "all[*].y"}, {"all": [{"y": y} for *_, y in ROWS]}),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_of_the_model_are_its_predictions(folder: Any, name: str) -> None:
    kind, read, answers = ANSWERS[name]
    folder.csv("data.csv", [("facet", "label", "given"), *ROWS])
    asked = config(methods=both(), label="label")
    expected = folder.clarify(asked | {"predicted_label": "given"})
    folder.csv("data.csv", [("facet", "label"), *((f, y) for f, y, _ in ROWS)])
    {"csv": folder.csv, "jsonlines": folder.lines, "json": folder.json}[kind.partition("/")[2]](
        "answers", answers
    )
    asked["predictor"] = {"endpoint_name": "live", "accept_type": kind} | read
    found = folder.clarify(asked, "--predictions", "answers")
    assert found == expected
    assert "Not computed" not in folder.notes
    assert "predictor: ignored" not in folder.notes
    half = folder.json("half.json", asked | {"probability_threshold": 0.95})
    if "score" in name and "scores" not in name:
        result = folder.run("clarify", half, "--predictions", "answers", "-o", "other")
        assert folder.read("other/analysis.json") != expected, result.output


@pytest.mark.parametrize(
    ("read", "answers", "message"),
    [
        ({"label": 0}, [[1]] * (len(ROWS) - 1), "333 answers and the data 334 rows"),
        (
            {"label": 0}, [["y"], *[[1]] * len(ROWS)], "in their order (and no header)",
        ),
        ({"label": 3}, [[1]] * len(ROWS), "predictor.label: must be the place of one of 1 columns"),
        ({}, [["yes"]] * len(ROWS), "answer 1: a probability must be a number"),
        ({}, [[0.5, 0.5]] * len(ROWS), "2 probabilities and 0 labels"),
    ],
)  # fmt: skip
def test_answers_that_do_not_fit_are_one_error(
    folder: Any, read: dict[str, Any], answers: list[list[Any]], message: str
) -> None:
    folder.csv("data.csv", [("facet", "label"), *((f, y) for f, y, _ in ROWS)])
    folder.csv("answers.csv", answers)
    asked = folder.json("bad.json", config(methods=both(), predictor=read))
    assert message in folder.fails("clarify", asked, "--predictions", "answers.csv")


@pytest.mark.parametrize("name", ["2024-report", "my.report", "loans 2026"])
def test_report_names(folder: Any, monitored: dict[str, Any], name: str) -> None:
    monitored["methods"]["report"] = {"name": name, "title": "Analysis Report"}
    folder.clarify(monitored)
    assert (folder.path / "out" / f"{name}.html").exists()


def test_an_explanation_alone_is_one_line(folder: Any) -> None:
    asked = {"version": "1.0", "dataset_type": "text/csv", "methods": {"shap": {"num_samples": 5}}}
    folder.json("bad.json", asked)
    message = folder.fails("clarify", "bad.json")
    lines = [line for line in message.splitlines() if line and "schema validation" not in line]
    assert len(lines) == 1
    assert "shap explain a model, which fairgauge does not" in lines[0]


def test_the_data_beside_are_found_from_the_current_folder(folder: Any) -> None:
    (folder.path / "configs").mkdir()
    (folder.path / "in").mkdir()
    folder.csv("in/data", [("facet", "label"), *((f, y) for f, y, _ in ROWS)])
    folder.json("configs/c.json", config(dataset_uri=None))
    result = folder.run("clarify", "configs/c.json", "--dataset", "in/data", "-o", "out")
    assert result.exit_code == 0, result.output


class Counted(int):
    """A number that counts how often it is hashed."""

    hashed = 0

    def __hash__(self) -> int:
        Counted.hashed += 1
        return int.__hash__(self)


def test_relabelling_is_linear_in_the_levels() -> None:
    levels = [Counted(i) for i in range(2_000)]
    column = CodedColumn("x", Kind.INTEGER, np.arange(2_000), tuple(range(2_000)))
    Counted.hashed = 0
    column.relabel(levels, Kind.FLOAT)
    assert Counted.hashed <= 4 * len(levels)


def test_the_data_named_beside_take_the_place_of_the_configurations(folder: Any) -> None:
    rows = [("facet", "label"), *[("d", 1), ("a", 0), ("d", 0), ("a", 1)] * 30]
    folder.csv("here.csv", rows)
    found = folder.clarify(config(dataset_uri="s3://elsewhere/data.csv"), "--dataset", "here.csv")
    assert found["pre_training_bias_metrics"]["facets"]["facet"][0]["value_or_threshold"] == "d"
    assert folder.ours()["data"]["rows"] == 120


# ---- configurations in the manner of the public guides run as they are, but for where the data is
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
