"""The same rows in every format and place that a configuration can name give the same numbers."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from clarify_cases import MONITORED, both, cases, config, values

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
    assert "x-parquet" in folder.notes


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
    assert folder.ours()["data"]["rows"] == 45
    assert "15 rows without a match in facets.csv are excluded" in folder.notes
