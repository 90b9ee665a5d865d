"""Bad configurations give every mistake with its path; good ones from the guides are accepted."""

import json
from typing import Any

import polars as pl
import pytest
from clarify_cases import after, both, config

from fairgauge_cloud.clarify.clarify_config import ConfigError, read_config

ROWS = [("facet", "age", "label", "p"), *(
    (facet, 20 + i % 25, (i + (facet == "d")) % 2, i % 3 % 2)
    for i in range(500) for facet in ("a", "d")
)]  # fmt: skip


PARQUET = "application/x-parquet"


def asks(methods: list[str]) -> dict[str, Any]:
    return {"pre_training_bias": {"methods": methods}}


def mistakes(asked: Any, **given: bool) -> dict[str, str]:
    """Return what is wrong with a configuration: path to message."""
    with pytest.raises(ConfigError) as error:
        read_config(json.dumps(asked), **given)
    return {problem.path: problem.message for problem in error.value.problems}


def test_every_mistake_is_listed_at_once() -> None:
    asked = config(
        dataset_type="text/cvs", headrs=["a"], facet=[{"nam": "sex"}],
        label_values_or_threshold=None,
        methods={"pre_training_bias": {"methods": ["DPX"]}, "post_training": {}},
    )  # fmt: skip
    found = mistakes(asked)
    assert "Did you mean 'text/csv'?" in found["dataset_type"]
    assert "unknown key. Did you mean 'headers'?" in found["headrs"]
    assert found["facet[0].name_or_index"] == "is required"
    assert found["facet[0].nam"].startswith("unknown key.")
    assert "unknown key. Did you mean 'post_training_bias'?" in found["methods.post_training"]


@pytest.mark.parametrize(
    ("changes", "path", "message"),
    [
        ({"version": "2.0"}, "version", "only '1.0' is supported, not '2.0'"),
        ({"dataset_type": None}, "dataset_type", "is required"),
        ({"methods": None}, "methods", "is required"),
        ({"dataset_uri": None}, "dataset_uri", "is required, or name the data with --dataset"),
        ({"label": None}, "label", "is required for bias metrics"),
        ({"label": 1.5}, "label", "must be text or a whole number, not '1.5'"),
        ({"facet": None}, "facet", "is required for bias metrics: name at least one"),
        ({"facet": "sex"}, "facet", "must be a list, not 'sex'"),
        ({"headers": ["a", "b", "a"]}, "headers", "names 'a' twice"),
        ({"probability_threshold": "x"}, "probability_threshold", "must be a whole number or a"),
        ({"dataset_type": "application/x-image"}, "dataset_type", "images have no bias metrics"),
        ({"dataset_type": "application/json"}, "features", "Data must contain features."),
        ({"dataset_type": PARQUET, "label": 2}, "label", f"must be text for {PARQUET}"),
        ({"dataset_type": PARQUET, "facet_dataset_uri": "f.csv"}, "facet_dataset_uri", "is only"),
        ({"time_series_data_config": {}}, "time_series_data_config", "unsupported for time series"),
        ({"methods": {"shap": {}}}, "methods", "asks for no bias metrics (shap explain a model"),
        ({"methods": asks(["CI", "DPX"])}, "methods.pre_training_bias.methods[1]",
         "Invalid metric_name: metrics should be one of the registered metrics['CI', 'DPL',"),
        ({"methods": asks([])}, "methods.pre_training_bias.methods", "names no metric"),
        ({"methods": after()}, "methods.post_training_bias", "needs predictions: name predicted_"),
        ({"methods": {**both(), "report": {"name": "../x"}}, "predicted_label": "p"},
         "methods.report.name", "must be a plain file name"),
    ],
)  # fmt: skip
def test_one_mistake(changes: dict[str, Any], path: str, message: str) -> None:
    found = mistakes(config(**changes))
    assert message in found[path]


@pytest.mark.parametrize("text", ["{", "[1]", '"x"', ""])
def test_texts_that_are_no_configuration(text: str) -> None:
    with pytest.raises(ConfigError, match=r"as JSON\.|must be an object"):
        read_config(text)


def test_the_command_says_it_all_and_never_a_traceback(folder: Any) -> None:
    folder.csv("data.csv", [("facet", "label"), ("a", 1), ("d", 0)])
    asked = config(
        label="lable",
        facet=[{"name_or_index": "facet"}, {"name_or_index": "ae"}],
        group_variable="group",
    )
    folder.json("bad.json", asked)
    for more in ([], ["--check"]):
        message = folder.fails("clarify", "bad.json", *more)
        assert "3 mistakes" in message
        assert "label: Headers must contain label. no column 'lable'" in message
        assert "Did you mean 'label'?" in message
        assert "facet[1].name_or_index: Unable to locate the facet." in message
        assert "group_variable: no column 'group'" in message


def test_a_schema_error_has_the_services_title(folder: Any) -> None:
    folder.json("bad.json", config(unknown=1))
    message = folder.fails("clarify", "bad.json")
    assert message.startswith("Analysis configuration schema validation error.\n")
    folder.text("bad.json", "{")
    assert "Unable to load analysis configuration as JSON." in folder.fails("clarify", "bad.json")
    assert "no file 'absent.json'" in folder.fails("clarify", "absent.json")


FILES = {
    "data.csv": "facet,label\na,1\nd,0\n", "ragged.csv": "facet,label\na\n", "short.csv": "x\na\n",
    "bare.csv": "facet,label\n", "twins.csv": "facet,label,label\na,1,0\n", "empty.csv": "",
    "two.csv": "one,two\na,b\nc,d\n", "keys.csv": "id,label\n1,1\n2,0\n",
    "also.csv": "id,label\n1,0\n2,1\n", "again.csv": "id,facet\n1,a\n1,d\n",
    "others.csv": "id,facet\n8,a\n9,d\n", "none.jsonl": '{"x": [], "y": 1}\n',
    "good.jsonl": '{"x": [1, "a"], "y": 1}\n{"x": [2, "d"], "y": 0}\n',
    "ragged.jsonl": '{"x": [1, "a"], "y": 1}\n{"x": [2], "y": 0}\n',
    "data.json": '[{"x": [1, "a"], "y": 1}, {"x": [2, "d"], "y": 0}]',
}  # fmt: skip
LINES = {
    "dataset_type": "application/jsonlines", "dataset_uri": "good.jsonl", "features": "x",
    "label": "y", "facet": [{"name_or_index": 1, "value_or_threshold": ["d"]}],
}  # fmt: skip
DOCUMENT = LINES | {
    "dataset_type": "application/json", "dataset_uri": "data.json", "features": "[].x",
    "label": "[].y",
}  # fmt: skip
JOIN = {"dataset_uri": "keys.csv", "joinsource_name_or_index": "id"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dataset_uri": "absent.csv"}, "no file 'absent.csv'"),
        ({"dataset_uri": "s3://b/x.csv"}, "name its folder: --map s3://b=FOLDER"),
        ({"headers": ["a"]}, "Headers in config do not match with the number of columns in the d"),
        ({"dataset_uri": "ragged.csv"}, "line 2: the header has 2 columns, this line 1"),
        ({"dataset_uri": "empty.csv"}, "is empty"),
        ({"dataset_uri": "bare.csv"}, "'bare.csv' holds no rows"),
        ({"dataset_uri": "twins.csv"}, "'twins.csv' has the column 'label' twice"),
        ({"facet_dataset_uri": "short.csv"}, "has 1 rows and the data 2"),
        ({"facet_dataset_uri": "short.csv", "joinsource_name_or_index": "id"},
         "joinsource_name_or_index: no column 'id'"),
        ({"predicted_label_dataset_uri": "two.csv", "methods": after()},
         "predicted_label: no column 'predicted_label' in its file."),
        ({"predicted_label": "decided", "methods": both()},
         "predicted_label: no column 'decided' in the data."),
        ({"label_values_or_threshold": ["x"]},
         "label_values_or_threshold: Facet/label value provided must be a single numeric"),
        (JOIN | {"facet_dataset_uri": "also.csv"}, "'label' of 'also.csv' is also in the data"),
        (JOIN | {"facet_dataset_uri": "again.csv"}, "the join key '1' stands twice in 'again.csv'"),
        (JOIN | {"facet_dataset_uri": "others.csv"}, "no join key of 'others.csv' is in the data"),
        (LINES | {"features": "a["}, "features: 'a[' is not a JMESPath"),
        (LINES | {"features": "y"},
         "features: 'y' is no list of features for every row of 'good.jsonl'"),
        (LINES | {"label": "z"}, "label: 'z' finds nothing in 'good.jsonl'"),
        (LINES | {"dataset_uri": "none.jsonl"}, "'none.jsonl': Data must contain features."),
        (LINES | {"dataset_uri": "ragged.jsonl"},
         "'ragged.jsonl' is ragged: row 2 has 1 features, the first 2"),
        (LINES | {"headers": ["a", "b"]}, "2 names, but the data have 2 features + label"),
        (DOCUMENT | {"dataset_uri": "data.csv"}, "is not JSON"),
        (DOCUMENT | {"features": "[].y"},
         "'[].y' is no list of features for every row of 'data.json'. Data must contain"),
        *((DOCUMENT | {"label": path}, f"label: '{path}' gives {n} values in 'data.json', but the")
          for path, n in (("[0].y", 0), ("[:1].y", 1), ("[0].{a: y}", 0))),
    ],
)  # fmt: skip
def test_data_that_do_not_fit(folder: Any, changes: dict[str, Any], message: str) -> None:
    for name, text in FILES.items():
        folder.text(name, text)
    said = folder.fails("clarify", folder.json("bad.json", config(**changes)))
    assert message in " ".join(said.split("\n"))


def test_parquet_needs_as_many_headers_as_columns(folder: Any) -> None:
    frame = pl.DataFrame({"facet": ["a", "d"], "label": [1, 0]})
    frame.write_parquet(folder.path / "data.parquet")
    parquet = {"dataset_type": "application/x-parquet", "dataset_uri": "data.parquet"}
    asked = config(**parquet, headers=["facet"])
    message = folder.fails("clarify", folder.json("bad.json", asked))
    assert "1 names, but 2 columns" in message


def test_a_folder_without_files_is_named(folder: Any) -> None:
    (folder.path / "bucket/day").mkdir(parents=True)
    asked = folder.json("bad.json", config(dataset_uri="s3://loans/day"))
    message = folder.fails("clarify", asked, "--map", "s3://loans=bucket")
    assert "no file in the folder 'bucket/day' (of 's3://loans/day')" in message


def test_a_good_configuration_checks_in_silence(folder: Any) -> None:
    folder.csv("data.csv", ROWS)
    segments = [{"name_or_index": "age", "segments": [["[1, 20]"]]}]
    asked = config(predictor={"endpoint_name": "live"}, segment_config=segments)
    asked["methods"]["shap"] = {"num_samples": 5}
    folder.json("good.json", asked)
    result = folder.run("clarify", "good.json", "--check")
    assert result.exit_code == 3
    assert result.stdout == "the configuration fits the data\n"
    assert "Not computed: shap (explanations are out of scope)" in result.stderr
    assert "segment_config: segments are not measured" in result.stderr
    assert "predictor: ignored, because fairgauge calls no model" in result.stderr
    assert not (folder.path / "analysis.json").exists()


def test_scalars_and_lists_are_both_accepted() -> None:
    asked = config(label_values_or_threshold=1, probability_threshold=1)
    asked["facet"][0]["value_or_threshold"] = "d"
    found = read_config(json.dumps(asked))
    assert found.label_values_or_threshold == [1]
    assert found.facet is not None
    assert found.facet[0].value_or_threshold == ["d"]


def test_maps_must_name_folders(folder: Any) -> None:
    folder.json("good.json", config())
    message = folder.fails("clarify", "good.json", "--map", "s3://b", "--map", "s3://b=nowhere")
    assert "--map[0]: must be PREFIX=FOLDER" in message
    assert "--map[1]: there is no folder 'nowhere'" in message


def test_a_configuration_nested_too_deeply_is_an_error(folder: Any) -> None:
    folder.text("deep.json", "[" * 100_000)
    assert "maximum recursion depth" in folder.fails("clarify", "deep.json")


def test_a_group_without_rows_has_no_interval_and_keeps_its_name(folder: Any) -> None:
    folder.csv("data.csv", ROWS)
    facet = [{"name_or_index": "facet", "value_or_threshold": ["D"]}]
    asked = config(facet=facet, group_variable="age")
    result = folder.run("clarify", folder.json("run.json", asked))
    assert result.exit_code == 0
    assert "d: the same share" not in result.stdout
    report = json.loads((folder.path / "fairgauge.json").read_text())
    named = [each["low"] for each in report["estimates"] if each["group"] == "D"]
    assert set(named) <= {None}


def test_the_other_side_of_a_facet_are_other_people(folder: Any) -> None:
    folder.csv("data.csv", [ROWS[0], *((f, a, int(f == "a"), p) for f, a, _, p in ROWS[1:])])
    result = folder.run("clarify", folder.json("run.json", config()))
    assert "other people" in result.stdout
    assert "with facet others" not in result.stdout
