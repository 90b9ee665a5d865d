"""Vertex AI's own example to the last digit, every shape of slices, every form of predictions."""

import json
from fractions import Fraction
from typing import Any

import pytest
from clarify_cases import cases

from fairgauge.errors import SpecError
from fairgauge_cloud.vertex import read_bias_configs, read_vertex_config

STATES = {"California": (50, 10, 20, 120), "Florida": (20, 0, 30, 50)}
PRINTED = {
    "vertex.difference_in_population_size": Fraction(1, 3), "vertex.dpptl": Fraction(1, 10),
    "vertex.accuracy_difference": Fraction(15, 100), "vertex.dpppl": Fraction(-15, 100),
    "vertex.recall_difference": Fraction(-1, 6), "vertex.specificity_difference": Fraction(13, 56),
    "vertex.difference_in_ratio_of_error_types": Fraction(1, 2),
}  # fmt: skip
PROTO = {
    "biasSlices": {"configs": {"state": {"value": {"stringValue": "California"}}}},
    "labels": ["yes"],
}
ANSWER = {0: "no", 1: "yes"}


def record(state: str, label: int, predicted: int) -> dict[str, Any]:
    score = 0.9 if predicted else 0.25
    return {
        "instance": {"state": state, "admitted": ANSWER[label], "person": {"age": 30 + label}},
        "prediction": {"classes": ["no", "yes"], "scores": [1 - score, score]},
    }


def asked(**changes: Any) -> dict[str, Any]:
    base = {
        "target_field_name": "admitted",
        "bias_configs": [PROTO],
        "predictions_gcs_source": "predictions.jsonl",
    }
    return {key: value for key, value in (base | changes).items() if value is not None}


@pytest.fixture
def applicants(folder: Any) -> Any:
    folder.lines("predictions.jsonl", [record(*case) for case in cases(STATES)])
    return folder


def run(folder: Any, config: dict[str, Any], *args: str) -> list[dict[str, Any]]:
    name = folder.json("bias.json", config)
    result = folder.run("vertex", name, *args)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def numbers(found: dict[str, Any], at: int = 0) -> dict[str, float]:
    return found["data_bias"]["metrics"] | found["model_bias"][at]["metrics"]


def assert_printed(found: dict[str, Any]) -> None:
    for name, exact in PRINTED.items():
        assert numbers(found)[name] == pytest.approx(float(exact), abs=1e-15), name


ARTIFACT = {
    "name": "predictions", "type": {"schemaTitle": "system.Artifact", "schemaVersion": "0.0.1"},
    "uri": "predictions.jsonl", "metadata": {"resourceName": "batch-1"},
}  # fmt: skip


def test_the_document_of_a_pipeline_job(applicants: Any) -> None:
    values = asked(predictions_gcs_source=ARTIFACT, project="p", batch_predict_machine_type="n1")
    job = {
        "displayName": "fairness",
        "pipelineSpec": {"schemaVersion": "2.1.0"},
        "runtimeConfig": {"gcsOutputDirectory": "gs://b/out", "parameterValues": values},
    }
    (found,) = run(applicants, job)
    assert_printed(found)
    assert found["notices"] == [
        "project: only concern the cloud and are ignored",
        "batch_predict_machine_type: parameters of other components of the pipeline, ignored",
    ]


def test_the_example_of_the_guide(applicants: Any) -> None:
    (found,) = run(applicants, asked())
    assert_printed(found)
    assert found["slice_a"] == PROTO["biasSlices"]
    assert found["slice_b"] == "not slice_a"
    assert found["labels"] == ["yes"]
    (model,) = found["model_bias"]
    assert model["threshold"] == 0.5
    assert model["confusion"] == {
        "slice_a": {"tp": 50, "fn": 10, "fp": 20, "tn": 120},
        "slice_b": {"tp": 20, "fn": 0, "fp": 30, "tn": 50},
    }
    assert found["data_bias"]["counts"]["slice_a"] == {"rows": 200, "positive_rate": 0.3}


SHAPES = [
    {"bias_slices": {"configs": {"state": {"value": {"string_value": "California"}}}}},
    {"biasSlices": [{"configs": {"state": {"value": "California"}}}]},
    {"slices": [{"configs": {"state": {"value": {"stringValue": "California"}}}}]},
    {"slices": [{"state": "California"}, {"state": "Florida"}]},
    {"slices": {"state": ["California", "Nevada"]}},
    {"slices": [{"configs": {"instance.state": "California"}}]},
]


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_of_slices(applicants: Any, shape: dict[str, Any]) -> None:
    (found,) = run(applicants, asked(bias_configs=[shape | {"labels": ["yes"]}]))
    assert_printed(found)


def test_shorthand_of_the_guide_is_one_configuration(applicants: Any) -> None:
    found = run(applicants, asked(bias_configs=[{"state": "California"}, {"state": "Florida"}]))
    assert [each["labels"] for each in found] == [["no"], ["yes"]]  # no labels: one by one
    assert_printed(found[1])
    assert found[1]["slice_b"] == {"state": "Florida"}


def test_ranges_several_features_and_dotted_names(applicants: Any) -> None:
    slices = [
        {"configs": {"state": "California", "person.age": {"range": {"low": 31, "high": 32}}}},
        {"configs": {"person.age": {"value": {"floatValue": 30}}}},
    ]
    (found,) = run(applicants, asked(bias_configs=[{"slices": slices, "labels": ["yes"]}]))
    counts = found["data_bias"]["counts"]
    assert counts["slice_a"] == {"rows": 60, "positive_rate": 1.0}  # 30 is below, 31 is inside
    assert counts["slice_b"] == {"rows": 220, "positive_rate": 0.0}


def test_floats_are_compared_as_32_bits(folder: Any) -> None:
    rows = [{"rate": rate, "y": y} for rate in (0.1, 0.2) for y in ("no", "yes")]
    folder.lines("data.jsonl", rows)
    one = {"configs": {"rate": {"value": {"floatValue": 0.10000000149}}}}
    config = asked(
        target_field_name="y", predictions_gcs_source=None,
        dataset_storage_source_uris=["data.jsonl"],
        bias_configs=[{"slices": [one], "labels": ["yes"]}],
    )  # fmt: skip
    (found,) = run(folder, config)
    assert found["data_bias"]["counts"]["slice_a"]["rows"] == 2
    assert "model_bias" not in found


def test_one_result_for_every_threshold(applicants: Any) -> None:
    (found,) = run(applicants, asked(thresholds=[0.25, 0.9, 0.95, "argmax"]))
    selected = [
        sum(each["confusion"]["slice_a"][cell] for cell in ("tp", "fp"))
        for each in found["model_bias"]
    ]
    assert selected == [200, 70, 0, 70]  # a score of exactly the threshold is positive
    nobody = found["model_bias"][2]
    assert nobody["metrics"]["vertex.difference_in_ratio_of_error_types"] is None
    assert nobody["reasons"]["vertex.difference_in_ratio_of_error_types"]


def test_several_positive_labels_add_their_scores(folder: Any) -> None:
    rows = [
        {
            "instance": {"g": group, "y": label},
            "prediction": {"classes": ["p", "q", "r"], "scores": [0.3, 0.3, 0.4]},
        }
        for group in "ab"
        for label in "pqr"
    ]
    folder.lines("predictions.jsonl", rows)
    config = asked(
        target_field_name="y", bias_configs=[{"slices": [{"g": "a"}], "labels": ["p", "q"]}]
    )
    (found,) = run(folder, config)
    # 0.3 + 0.3 reaches 0.5, though r has the largest single score
    assert found["model_bias"][0]["confusion"]["slice_a"] == {"tp": 2, "fn": 0, "fp": 1, "tn": 0}


def test_batch_predictions_as_csv_and_as_bigquery_has_them(applicants: Any) -> None:
    lines = [record(*case) for case in cases(STATES)]
    names = ["state", "admitted", "admitted_yes_scores", "admitted_no_scores"]
    scores = [line["prediction"]["scores"] for line in lines]
    table = [
        [line["instance"]["state"], line["instance"]["admitted"], yes, no]
        for line, (no, yes) in zip(lines, scores, strict=True)
    ]
    name = applicants.csv("prediction.results-00000-of-00001.csv", [names, *table])
    as_csv = asked(predictions_format="csv", predictions_gcs_source=name)
    assert_printed(run(applicants, as_csv)[0])
    rows = [{**line["instance"], "predicted_admitted": line["prediction"]} for line in lines]
    applicants.lines("t/rows.jsonl", rows)
    source = "bq://project.data.table"
    changes = {"predictions_gcs_source": None, "predictions_bigquery_source": source}
    as_table = asked(predictions_format="bigquery", **changes)
    assert_printed(run(applicants, as_table, "--map", f"{source}=t")[0])
    assert "name its folder: --map" in applicants.fails(
        "vertex", applicants.json("bad.json", as_table)
    )


def test_data_and_predictions_of_their_own(applicants: Any) -> None:
    applicants.csv("data.csv", [("CA", "yes"), ("FL", "no"), ("CA", "no")])
    config = asked(
        dataset_format="csv",
        dataset_storage_source_uris=["gs://bucket/data.csv"],
        columns=["state", "admitted"],
        bias_configs=[{"slices": [{"state": ["CA", "California"]}], "labels": ["yes"]}],
    )
    (found,) = run(applicants, config, "--map", "gs://bucket=.")
    assert found["data_bias"]["counts"]["slice_a"] == {"rows": 2, "positive_rate": 0.5}
    accuracy = found["model_bias"][0]["metrics"]["vertex.accuracy_difference"]
    assert accuracy == pytest.approx(0.15)


@pytest.mark.parametrize(
    ("files", "columns", "message"),
    [
        ({"a.csv": "CA,yes\n"}, ["state"], "columns: names 1 columns, but 'a.csv' has 2"),
        (
            {"a.csv": "state,admitted\nCA,yes\n", "b.csv": "state,admit\nFL,no\n"},
            None,
            "the files have different columns: 'state', 'admitted' in 'a.csv' and 'state', 'admit'",
        ),
        ({"a.csv": "state,admit\nCA,yes\n"}, None, "Did you mean 'admit'?"),
        ({"a.csv": ""}, None, "'a.csv' is empty"),
    ],
)
def test_tables_that_do_not_fit(
    folder: Any, files: dict[str, str], columns: list[str] | None, message: str
) -> None:
    for name, text in files.items():
        folder.text(name, text)
    config = asked(
        dataset_format="csv", dataset_storage_source_uris=list(files), columns=columns,
        predictions_gcs_source=None,
    )  # fmt: skip
    assert message in folder.fails("vertex", folder.json("bad.json", config))


def test_a_folder_of_prediction_files(folder: Any) -> None:
    rows = [record(*case) for case in cases(STATES)]
    folder.lines("job/prediction.results-00000-of-00002", rows[:90])
    folder.lines("job/prediction.results-00001-of-00002", rows[90:])
    folder.lines("job/prediction.errors_stats-00000", [{"error": "none"}])
    (found,) = run(folder, asked(predictions_gcs_source={"uri": "job"}))
    assert_printed(found)
    (found,) = run(folder, asked(predictions_gcs_source="job/prediction.results-*"))
    assert_printed(found)


def test_overlaps_missing_features_and_empty_slices_are_said(applicants: Any) -> None:
    slices = [{"state": ["California", "Florida"]}, {"state": "Florida"}]
    (found,) = run(applicants, asked(bias_configs=[{"slices": slices, "labels": ["yes"]}]))
    assert "bias_configs[0]: 100 rows are in both slices" in found["notices"]
    assert found["data_bias"]["counts"]["slice_a"]["rows"] == 300
    slices = [{"state": "Utah"}]
    (found,) = run(applicants, asked(bias_configs=[{"slices": slices, "labels": ["yes"]}]))
    assert "bias_configs[0]: slice_a holds no rows" in found["notices"]
    assert numbers(found)["vertex.difference_in_population_size"] == -1.0
    assert numbers(found)["vertex.recall_difference"] is None


def test_yaml_artifacts_and_cloud_parameters(applicants: Any) -> None:
    applicants.text(
        "bias.yaml",
        "target_field_name: admitted\nproject: p\nlocation: us-central1\n"
        "predictions_gcs_source: predictions.jsonl\n"
        "bias_configs:\n- slices: [{state: California}]\n  labels: ['yes']\n",
    )
    result = applicants.run("vertex", "bias.yaml", "-o", "out")
    assert result.exit_code == 0, result.output
    assert "project, location: only concern the cloud" in result.stderr
    (data,) = applicants.read("out/data_bias_metrics.json")
    assert list(data) == ["slice_a", "slice_b", "labels", "data_bias"]
    (model,) = applicants.read("out/bias_model_metrics.json")
    assert list(model) == ["slice_a", "slice_b", "labels", "model_bias"]


@pytest.mark.parametrize(
    ("changes", "path", "message"),
    [
        ({"target_field": "x"}, "target_field", "unknown key. Did you mean 'target_field_name'?"),
        ({"target_field_name": None}, "target_field_name", "is required"),
        ({"bias_configs": []}, "bias_configs", "must be a list of bias configurations"),
        ({"bias_configs": [3]}, "bias_configs[0]", "must be an object or a list of slices"),
        ({"bias_configs": [{"labels": ["x"]}]}, "bias_configs[0]", "has no slices"),
        ({"bias_configs": [{"slices": [{"a": 1}], "label": ["x"]}]}, "bias_configs[0].label",
         "unknown key"),
        ({"bias_configs": [{"slices": [{"a": 1}, {"a": 2}, {"a": 3}]}]}, "bias_configs[0].slices",
         "one slice (against all others) or two, not 3"),
        *(({"bias_configs": [{"slices": [one]}]}, f"bias_configs[0].slices[0].{path}", message)
          for one, path, message in (
            ({"configs": {"a": {"all_values": True}}}, "a", "all_values is not for bias"),
            ({"a": {"range": {"low": 3, "high": 1}}}, "a.range", "must have a number low below a "),
            ({"a": {"valu": 1}}, "a", "must be a value or a range"),
        )),
        ({"bias_configs": [{"slices": ["a"]}]}, "bias_configs[0].slices[0]", "must map features"),
        ({"thresholds": [2]}, "thresholds[0]", "must be a number between 0 and 1"),
        ({"dataset": "projects/1"}, "dataset", "export it"),
        ({"predictions_gcs_source": None}, "", "name the data"),
        ({"thresholds": []}, "thresholds", "name at least one, or leave it out for 0.5"),
        ({"predictions_gcs_source": []}, "predictions_gcs_source", "names no file"),
    ],
)  # fmt: skip
def test_mistakes_have_their_path(changes: dict[str, Any], path: str, message: str) -> None:
    with pytest.raises(SpecError) as error:
        read_vertex_config(json.dumps(asked(**changes)))
    found = {problem.path: problem.message for problem in error.value.problems}
    assert message in found[path]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (asked(target_field_name="admited"), "Did you mean 'admitted'?"),
        (asked(bias_configs=[{"slices": [{"stat": "x"}]}]), "Did you mean 'state'?"),
        (
            asked(bias_configs=[{"slices": [{"state": "x"}], "labels": ["maybe"]}]),
            "bias_configs[0].labels: no label is 'maybe'",
        ),
        (asked(predictions_gcs_source="absent"), "no file 'absent'"),
        (asked(predictions_gcs_source="gs://b/x"), "--map gs://b=FOLDER"),
        (asked(predictions_gcs_source="plain.jsonl"), "holds no predictions"),
        (asked(predictions_gcs_source="odd.jsonl"), "row 1: cannot read the prediction"),
        (asked(predictions_gcs_source="cut.jsonl"), "line 1 is not JSON"),
        (asked(predictions_gcs_source="list.jsonl"), "must hold an object a line"),
        (asked(predictions_gcs_source="keys.jsonl"), "row 1: cannot read the prediction"),
        (asked(predictions_gcs_source="none.jsonl"), "'none.jsonl' "),
        (asked(predictions_gcs_source={"name": "predictions"}), "predictions_gcs_source"),
        ([], "bad.json' must be an object, not '[]'"),
    ],
)
def test_data_that_do_not_fit(applicants: Any, config: Any, message: str) -> None:
    plain = [{"instance": {"state": "California", "admitted": "yes"}}]
    applicants.lines("plain.jsonl", plain)
    odd = [plain[0] | {"prediction": {"classes": ["a", "b"], "scores": [1]}}]
    applicants.lines("odd.jsonl", odd)
    applicants.text("cut.jsonl", '{"instance": ')
    applicants.text("list.jsonl", "[1]\n")
    applicants.text("none.jsonl", "\n")
    keys = {"state": "x", "admitted": "yes", "predicted_admitted": [{"a": 1}]}
    applicants.lines("keys.jsonl", [keys])
    applicants.json("bad.json", config)
    assert message in applicants.fails("vertex", "bad.json")


@pytest.mark.parametrize("whole", [True, False])
def test_configurations_as_the_text_of_json(applicants: Any, whole: bool) -> None:
    text = json.dumps(PROTO, indent=2)
    (found,) = run(applicants, asked(bias_configs=text if whole else [text]))
    assert_printed(found)


def asked_of_people(folder: Any, age: Any, **changes: Any) -> dict[str, Any]:
    """Write predictions for four ages, of which 20 and 30 are below 40; 0.6 is the class's."""
    rows = [(20, 1, 1), (30, 1, 0), (40, 0, 0), (50, 0, 1)] * 5
    folder.lines(
        "people.jsonl",
        [
            {"age": age, "y": str(y), "predicted_y": str(p), "predicted_y_probs": [
                {"label": "1", "prob": 0.4 + 0.2 * p}, {"label": "0", "prob": 0.6}
            ]}
            for age, y, p in rows
        ],
    )  # fmt: skip
    slices = [{"slices": [{"age": age}], "labels": ["1"]}]
    of = {"predictions_gcs_source": "people.jsonl", "bias_configs": slices}
    return asked(**{"target_field_name": "y"} | of | changes)


@pytest.mark.parametrize(
    "wanted",
    [{"range": {"low": 20, "high": 40}}, {"range_": {"low": 20.0, "high": 40.0}}, [20, 40]],
)
def test_every_spelling_of_a_range(folder: Any, wanted: Any) -> None:
    (found,) = run(folder, asked_of_people(folder, wanted))
    assert found["data_bias"]["counts"]["slice_a"] == {"rows": 10, "positive_rate": 1.0}
    assert found["data_bias"]["counts"]["slice_b"] == {"rows": 10, "positive_rate": 0.0}


def test_probabilities_beside_a_class_decide_by_the_threshold(folder: Any) -> None:
    config = asked_of_people(folder, [20, 40], thresholds=[0.3, 0.5, 0.7])
    (found,) = run(folder, config)
    predicted = [each["confusion"]["slice_a"] for each in found["model_bias"]]
    assert [each["tp"] + each["fp"] for each in predicted] == [10, 5, 0]
    assert not [note for note in found["notices"] if "thresholds" in note]
    rows = [{"age": 20, "y": 1, "predicted_y": 1}, {"age": 50, "y": 0, "predicted_y": 1}]
    folder.lines("people.jsonl", rows)
    (found,) = run(folder, config | {"thresholds": [0.9]})
    assert any("thresholds: have no effect" in note for note in found["notices"])


def test_booleans_are_no_numbers() -> None:
    (config,), problems = read_bias_configs([{"slices": [{"flag": True}]}])
    assert not problems
    (condition,) = config.slices[0].conditions
    assert condition.values == (True,)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("deep.json", "[" * 100_000, "is nested too deeply"),
        ("deep.yaml", "[" * 100_000, "is nested too deeply"),
        ("laughs.yaml", "a: &a [1]\nb: [*a, *a]\n", "aliases (*name) are not supported"),
        ("twice.json", '{"a": 1, "a": 2}', "the key 'a' is given twice"),
    ],
)
def test_a_hostile_configuration_is_an_error_that_names_the_file(
    folder: Any, name: str, text: str, message: str
) -> None:
    folder.text(name, text)
    said = folder.fails("vertex", name)
    assert name in said
    assert message in said


@pytest.mark.parametrize("thresholds", [[0.5], ["argmax", 0.5]])
def test_scores_that_no_threshold_fits_are_refused(
    folder: Any, thresholds: list[float | str]
) -> None:
    rows = [record(*case) for case in cases(STATES)]
    for row in rows:
        row["prediction"]["scores"] = [100 * each for each in row["prediction"]["scores"]]
    folder.lines("predictions.jsonl", rows)
    config = asked(thresholds=thresholds)
    message = folder.fails("vertex", folder.json("bias.json", config))
    assert "has the score 90; scores must lie in [0, 1]" in message
    (found,) = run(folder, asked(thresholds=["argmax"]))
    assert_printed(found)


@pytest.mark.parametrize(
    ("score", "remedy"), [(92, "divide percentages by 100"), (-999, "correct or remove these rows")]
)
def test_what_to_do_about_scores_depends_on_their_range(
    folder: Any, score: float, remedy: str
) -> None:
    rows = [record(*case) for case in cases(STATES)]
    rows[3]["prediction"]["scores"][1] = score
    folder.lines("predictions.jsonl", rows)
    message = folder.fails("vertex", folder.json("bias.json", asked()))
    assert f"has the score {score}; " in message
    assert [text for text in ("divide", "correct or remove") if text in message] == [
        remedy.removesuffix(" percentages by 100").removesuffix(" these rows")
    ]


def test_a_number_and_its_text_are_one_value_of_a_feature(folder: Any) -> None:
    rows = [record(*case) for case in cases(STATES)]
    for i, row in enumerate(rows):
        number = 1 if row["instance"]["state"] == "California" else 0
        row["instance"]["state"] = str(number) if i % 2 else number
    folder.lines("predictions.jsonl", rows)
    (found,) = run(folder, asked(bias_configs=[{"slices": [{"state": 1}], "labels": ["yes"]}]))
    assert_printed(found)
    assert found["notices"] == []


def test_rows_without_the_feature_of_a_slice_are_in_neither(folder: Any) -> None:
    rows = [record(*case) for case in cases(STATES)]
    rows[0]["instance"]["state"] = rows[1]["instance"]["state"] = None
    folder.lines("predictions.jsonl", rows)
    (found,) = run(folder, asked())
    assert found["data_bias"]["counts"]["slice_a"]["rows"] == 198
    assert found["notices"] == ["bias_configs[0]: 2 rows lack a feature of the slice"]
