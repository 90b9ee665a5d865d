"""The same rows in every format and place that a configuration can name give the same numbers."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from clarify_cases import MONITORED, after, both, cases, config, values

if TYPE_CHECKING:
    from collections.abc import Iterator

ROWS = cases(MONITORED)
FEATURES = [[i % 7, group] for i, (group, _, _) in enumerate(ROWS)]


@pytest.fixture
def expected(folder: Any, monitored: dict[str, Any]) -> dict[str, Any]:
    return found_in(folder.clarify(monitored))


def found_in(found: dict[str, Any], facet: str = "facet") -> dict[str, Any]:
    """Return all values but FT, which depends on the features that there are."""
    every = {stage: values(found, stage, facet) for stage in ("pre", "post")}
    every["post"].pop("FT")
    return every


def test_csv_without_header_by_index(folder: Any, expected: dict[str, Any]) -> None:
    folder.csv("bare.csv", ROWS)
    facet = [{"name_or_index": 0, "value_or_threshold": ["d"]}]
    asked = config(dataset_uri="bare.csv", label=1, predicted_label=2, facet=facet, methods=both())
    found = folder.clarify(asked)
    assert found_in(found, "column_0") == expected
    named = folder.clarify(
        asked | {"headers": ["facet", "label", "predicted"], "label": "label", "predicted_label": 2}
    )
    assert found_in(named) == expected


def test_csv_with_header_and_headers(folder: Any, expected: dict[str, Any]) -> None:
    asked = config(
        headers=["facet", "label", "predicted"], predicted_label="predicted", methods=both()
    )
    assert found_in(folder.clarify(asked)) == expected


def test_json_lines(folder: Any, expected: dict[str, Any]) -> None:
    folder.lines(
        "data.jsonl",
        [
            {"features": features, "label": label, "answer": {"value": predicted}}
            for features, (_, label, predicted) in zip(FEATURES, ROWS, strict=True)
        ],
    )
    asked = config(
        dataset_type="application/jsonlines",
        dataset_uri="data.jsonl",
        features="features",
        label="label",
        predicted_label="answer.value",
        headers=["visits", "facet", "label", "predicted"],
        methods=both(),
    )
    assert found_in(folder.clarify(asked)) == expected


def test_json_document(folder: Any, expected: dict[str, Any]) -> None:
    folder.json(
        "data.json",
        {
            "people": [
                {"visits": visits, "facet": facet, "label": label, "predicted": predicted}
                for (visits, facet), (_, label, predicted) in zip(FEATURES, ROWS, strict=True)
            ]
        },
    )
    asked = config(
        dataset_type="application/json",
        dataset_uri="data.json",
        features="people[*].[visits,facet]",
        label="people[*].label",
        predicted_label="people[*].predicted",
        headers=["visits", "facet", "label", "predicted"],
        methods=both(),
    )
    assert found_in(folder.clarify(asked)) == expected
    index = config(
        **asked | {"headers": None, "facet": [{"name_or_index": 1, "value_or_threshold": ["d"]}]}
    )
    assert found_in(folder.clarify(index), "column_1") == expected


def test_parquet(folder: Any, expected: dict[str, Any]) -> None:
    frame = pl.DataFrame(ROWS, schema=["facet", "label", "predicted"], orient="row")
    frame.write_parquet(folder.path / "data.parquet")
    asked = config(
        dataset_type="application/x-parquet",
        dataset_uri="data.parquet",
        predicted_label="predicted",
        methods=both(),
    )
    assert found_in(folder.clarify(asked)) == expected
    folder.clarify(asked | {"dataset_type": "application/parquet"})
    assert any("x-parquet" in note for note in folder.ours()["notices"])


def test_folder_of_files_in_a_bucket(folder: Any, expected: dict[str, Any]) -> None:
    header = ("facet", "label", "predicted")
    (folder.path / "bucket/day").mkdir(parents=True)
    folder.csv("bucket/day/1.csv", [header, *ROWS[:100]])
    folder.csv("bucket/day/2.csv", [header, *ROWS[100:]])
    asked = config(dataset_uri="s3://loans/day", predicted_label="predicted", methods=both())
    found = folder.clarify(asked, "--map", "s3://loans=bucket")
    assert found_in(found) == expected


def test_data_named_beside_the_configuration(folder: Any, expected: dict[str, Any]) -> None:
    asked = config(dataset_uri=None, predicted_label="predicted", methods=both())
    assert found_in(folder.clarify(asked, "--dataset", "data.csv")) == expected


def test_facets_and_predictions_row_by_row(folder: Any, expected: dict[str, Any]) -> None:
    folder.csv("plain.csv", [("visits", "label"), *((i % 7, r[1]) for i, r in enumerate(ROWS))])
    folder.csv("facets.csv", [("facet",), *((r[0],) for r in ROWS)])
    folder.csv("answers.csv", [(r[2],) for r in ROWS])
    asked = config(
        dataset_uri="plain.csv",
        facet_dataset_uri="facets.csv",
        predicted_label_dataset_uri="answers.csv",
        predicted_label_headers=["predicted"],
        methods=both(),
    )
    assert found_in(folder.clarify(asked)) == expected
    asked["facet"] = [{"name_or_index": 0, "value_or_threshold": ["d"]}]  # of the facets' file
    assert found_in(folder.clarify(asked)) == expected


def test_facets_and_predictions_by_key(folder: Any, expected: dict[str, Any]) -> None:
    numbered = list(enumerate(ROWS))
    folder.csv("plain.csv", [("id", "label"), *((i, r[1]) for i, r in numbered)])
    folder.csv("facets.csv", [("id", "facet"), *((i, r[0]) for i, r in reversed(numbered))])
    (folder.path / "answers").mkdir()
    for part in (0, 1):
        rows = [("id", "predicted"), *((i, r[2]) for i, r in numbered if i % 2 == part)]
        folder.csv(f"answers/{part}.csv", rows)
    asked = config(
        dataset_uri="plain.csv",
        facet_dataset_uri="facets.csv",
        predicted_label_dataset_uri="answers",
        predicted_label="predicted",
        joinsource_name_or_index="id",
        methods=both(),
    )
    assert found_in(folder.clarify(asked)) == expected
    by_index = asked | {"joinsource_name_or_index": 0}
    folder.csv("facets.csv", [("facet", "id"), *((r[0], i) for i, r in reversed(numbered))])
    assert found_in(folder.clarify(by_index)) == expected  # of the data; elsewhere by its name
    without = config(**asked | {"joinsource_name_or_index": None})
    folder.json("bad.json", without)
    assert "joinsource_name_or_index: is required" in folder.fails("clarify", "bad.json")


def test_an_inner_join_says_what_it_leaves_out(folder: Any) -> None:
    folder.csv("data.csv", [("id", "label"), *((i, i % 2) for i in range(60))])
    folder.csv("facets.csv", [("id", "facet"), *((i, "da"[i % 3 > 0]) for i in range(45))])
    folder.clarify(config(facet_dataset_uri="facets.csv", joinsource_name_or_index="id"))
    assert folder.ours()["rows"] == 45
    assert "15 rows without a match in facets.csv are excluded" in folder.ours()["notices"]


MODEL = """
def doubled(rows):
    return [2 * row[0] for row in rows]

def halved(rows):
    return [row[0] for row in rows]

def scores_of(rows):
    return [[0.5] for _ in rows]

def lines(records):
    return [{"score": record["data"]["x"][0]} for record in records]

def document(found):
    return {"predictions": [{"label": "yes" if r["x"] > 0.5 else "no"} for r in found]}

def one(record):
    return {"p": record["x"]}

def scores(rows):
    return [[1 - row[0], row[0]] for row in rows]

def both(rows):
    return [["no", 0.2] if row[0] < 0.5 else ["yes", 0.9] for row in rows]

def named_lines(records):
    assert all(record["names"] == ["x"] for record in records)
    return lines(records)

def named_document(found):
    assert found["feature_names"] == ["x"]
    return document([{"x": row[0]} for row in found["instances"]])

def as_csv(rows):
    return "".join(f"{label},{score}\\n" for label, score in both(rows))

def as_csv_line(rows):
    return ",".join(str(row[0]) for row in rows)

def as_json_lines(records):
    import json
    answers = ["yes" if r["features"][0] > 0.5 else "no" for r in records]
    return "".join(json.dumps({"answer": answer}) + "\\n" for answer in answers)

def broken(rows):
    raise RuntimeError("no such weight")

def short(rows):
    return [1]

def number(records):
    return 0.5

def arrays(rows):
    import numpy as np
    return np.array([2 * row[0] for row in rows])

nothing = 3
"""


@pytest.fixture
def modelled(folder: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Write a table whose model says yes above 0.5, a module of models, and a configuration."""
    rows = [("a", 0.75, "yes"), ("a", 0.25, "no"), ("d", 0.75, "no"), ("d", 0.125, "yes")] * 20
    folder.csv("data.csv", [("facet", "x", "label"), *rows])
    folder.text("my_model.py", MODEL)
    monkeypatch.syspath_prepend(str(Path.cwd()))

    def ask(function: str, predictor: dict[str, Any], **changes: Any) -> dict[str, Any]:
        asked = config(
            label_values_or_threshold=["yes"],
            excluded_columns=["facet"],
            methods=after(),
            predictor=predictor,
            **changes,
        )
        found = values(folder.clarify(asked, "--model", f"my_model:{function}"))
        assert found["AD"] == 1.0  # all of a right, all of d wrong
        return asked

    return ask


@pytest.mark.parametrize("word", ["$feature_names", "$feature_name"])
def test_names_of_features_in_a_template(modelled: Any, word: str) -> None:
    predictor = {
        "content_type": "application/jsonlines",
        "content_template": f'{{"data": {{"x": $features}}, "names": {word}}}',
        "probability": "score",
        "label_headers": ["yes"],
    }
    modelled("named_lines", predictor)
    predictor = {
        "content_type": "application/json",
        "content_template": f'{{"instances": $records, "feature_names": {word}}}',
        "record_template": "$features",
        "label": "predictions[*].label",
    }
    modelled("named_document", predictor)


def test_answers_as_text(modelled: Any) -> None:
    modelled("as_csv", {"label": 0, "probability": 1})
    modelled("as_csv_line", {"label_headers": ["yes"]})
    lines = {"content_type": "application/jsonlines", "label": "answer"}
    modelled("as_json_lines", lines)


class Endpoint(BaseHTTPRequestHandler):
    """A model server: yes above a half, in the type that is asked for."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self.path != "/invocations":
            self.send_error(404, "no such model")
            return
        if self.headers["Content-Type"] == "text/csv":
            answer = "".join("yes\n" if float(x) > 0.5 else "no\n" for x in body.splitlines())
        else:
            rows = [json.loads(line)["features"][0] for line in body.splitlines()]
            answer = "".join(json.dumps({"p": x}) + "\n" for x in rows)
        self.send_response(200)
        self.send_header("Content-Type", self.headers["Accept"])
        self.end_headers()
        self.wfile.write(answer.encode())

    def log_message(self, *args: Any) -> None:
        """Keep standard error clean."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_local_endpoint(folder: Any, endpoint: str) -> None:
    rows = [("a", 0.75, "yes"), ("a", 0.25, "no"), ("d", 0.75, "no"), ("d", 0.125, "yes")] * 600
    folder.csv("data.csv", [("facet", "x", "label"), *rows])
    for predictor in (
        {"content_type": "text/csv", "accept_type": "text/csv", "label": 0},
        {"content_type": "application/jsonlines", "probability": "p", "label_headers": ["yes"]},
    ):
        asked = config(
            label_values_or_threshold=["yes"],
            excluded_columns=["facet"],
            methods={"post_training_bias": {"methods": ["AD", "DPPL"]}},
            predictor=predictor,
        )
        found = folder.clarify(asked, "--model", f"{endpoint}/invocations")
        assert values(found) == {"AD": 1.0, "DPPL": 0.0}
    folder.json("bad.json", asked)
    message = folder.fails("clarify", "bad.json", "--model", f"{endpoint}/ping")
    assert "failed: 404 no such model" in message
    closed = folder.fails("clarify", "bad.json", "--model", "http://127.0.0.1:9/invocations")
    assert "the model at 'http://127.0.0.1:9/invocations' failed" in closed


def test_scores_with_one_label_header(modelled: Any) -> None:
    modelled("doubled", {"label_headers": ["yes"]}, probability_threshold=1)


def test_one_label_header_that_is_no_label_is_but_shown(folder: Any, modelled: Any) -> None:
    """Scores decide between 0 and 1 then, whatever the header is."""
    rows = [("a", 0.75, 1), ("a", 0.25, 0), ("d", 0.75, 0), ("d", 0.125, 1)] * 20
    folder.csv("data.csv", [("facet", "x", "label"), *rows])
    asked = config(
        excluded_columns=["facet"], methods=after(), predictor={"label_headers": ["success"]}
    )
    found = values(folder.clarify(asked, "--model", "my_model:halved"))
    assert found["AD"] == 1.0


def test_a_name_that_the_answers_do_not_have(folder: Any, modelled: Any) -> None:
    modelled("scores", {"label_headers": ["no", "yes"]})
    asked = config(
        label_values_or_threshold=["yes"], methods=after(), predictor={"probability": "pr"}
    )
    message = folder.fails("clarify", folder.json("c.json", asked), "--model", "my_model:scores_of")
    assert "predictor.probability: the model's answers have nothing under 'pr'" in message
    assert "it is a position: 0" in message


def test_arrays_are_answers_too(modelled: Any) -> None:
    modelled("arrays", {"label_headers": ["yes"]}, probability_threshold=1)


def test_a_label_that_is_a_fraction_is_a_score(folder: Any, modelled: Any) -> None:
    """Labels are 1 and 0, so that 0.75 under the name of the label is no label."""
    rows = [("a", 0.75, 1), ("a", 0.25, 0), ("d", 0.75, 0), ("d", 0.125, 1)] * 20
    folder.csv("data.csv", [("facet", "x", "label"), *rows])
    asked = config(excluded_columns=["facet"], methods=after(), predictor={"label": 0})
    found = values(folder.clarify(asked, "--model", "my_model:halved"))
    assert found["AD"] == 1.0


@pytest.mark.parametrize(
    ("model", "predictor", "message"),
    [
        ("scores", {}, "the model gives several scores for a row; name their labels in"),
        ("scores", {"label_headers": ["a", "b", "c"]}, "the model gives 2 scores for 3 labels"),
        ("scores", {"label": 5}, "predictor.label: no position 5 in the model's answer"),
        ("nothing", {}, "'nothing' of module 'my_model' cannot be called"),
    ],
)
def test_answers_that_cannot_be_read(
    folder: Any, modelled: Any, model: str, predictor: dict[str, Any], message: str
) -> None:
    asked = config(
        label_values_or_threshold=["yes"], excluded_columns=["facet"], methods=after(),
        predictor=predictor or None,
    )  # fmt: skip
    name = folder.json("bad.json", asked)
    assert message in folder.fails("clarify", name, "--model", f"my_model:{model}")


def test_scores_of_several_labels(modelled: Any) -> None:
    modelled("scores", {"label_headers": ["no", "yes"]})


def test_labels_by_position(modelled: Any) -> None:
    modelled("both", {"label": 0, "probability": 1})
    modelled("both", {"label": 0})


def test_json_lines_model(modelled: Any) -> None:
    predictor = {
        "content_type": "application/jsonlines",
        "content_template": '{"data": {"x": $features}}',
        "probability": "score",
        "label_headers": ["yes"],
    }
    modelled("lines", predictor)


@pytest.mark.parametrize("record", ["$features_kvp", '{"x": "${x}"}'])
def test_json_model(modelled: Any, record: str) -> None:
    predictor = {
        "content_type": "application/json",
        "content_template": "$records",
        "record_template": record,
        "label": "predictions[*].label",
    }
    modelled("document", predictor)


def test_a_record_at_a_time(modelled: Any) -> None:
    predictor = {
        "content_type": "application/json",
        "content_template": "$record",
        "record_template": "$features_kvp",
        "probability": "p",
        "label_headers": ["yes"],
    }
    modelled("one", predictor)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("my_model:broken", "the model failed: RuntimeError: no such weight"),
        ("my_model:short", "the model gives 1 answers for 80 rows"),
        ("my_model:absent", "module 'my_model' has no function 'absent'"),
        ("no_such_module:f", "cannot import 'no_such_module'"),
        ("model.pkl", "name FILE.onnx, MODULE:FUNCTION or a URL"),
        ("absent.onnx", "no model 'absent.onnx'"),
    ],
)
def test_models_that_cannot_be_used(folder: Any, modelled: Any, model: str, message: str) -> None:
    asked = config(label_values_or_threshold=["yes"], methods=after())
    name = folder.json("bad.json", asked)
    assert message in folder.fails("clarify", name, "--model", model)


def test_onnx_model(folder: Any, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    helper, kinds = onnx.helper, onnx.TensorProto
    half = helper.make_tensor("half", kinds.FLOAT, [1], [0.5])
    graph = helper.make_graph(
        [
            helper.make_node("Greater", ["rows", "half"], ["over"]),
            helper.make_node("Cast", ["over"], ["answer"], to=kinds.INT64),
        ],
        "above_half",
        [helper.make_tensor_value_info("rows", kinds.FLOAT, [None, 1])],
        [helper.make_tensor_value_info("answer", kinds.INT64, [None, 1])],
        [half],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "model.onnx")
    rows = [("a", 0.75, 1), ("a", 0.25, 0), ("d", 0.75, 0), ("d", 0.125, 1)] * 20
    folder.csv("data.csv", [("facet", "x", "label"), *rows])
    asked = config(excluded_columns=["facet"], methods=after())
    assert values(folder.clarify(asked, "--model", "model.onnx"))["AD"] == 1.0
    absent = folder.json("bad.json", asked | {"predictor": {"label": "decision"}})
    message = folder.fails("clarify", absent, "--model", "model.onnx")
    assert "predictor.label: no output 'decision' of the model; it has 'answer'" in message
    named = asked | {"predictor": {"label": "answer"}}
    assert values(folder.clarify(named, "--model", "model.onnx"))["AD"] == 1.0
    text = config(methods=after())
    folder.json("bad.json", text)
    message = folder.fails("clarify", "bad.json", "--model", "model.onnx")
    assert "column 'facet' is text" in message


def test_json_lines_answered_by_one_number(modelled: Any, folder: Any) -> None:
    lines = {"content_type": "application/jsonlines", "label": "answer"}
    asked = modelled("as_json_lines", lines)
    name = folder.json("one_number.json", asked)
    message = folder.fails("clarify", name, "--model", "my_model:number")
    assert "predictor.label: 'answer' gives 1 values for 80 rows" in message
