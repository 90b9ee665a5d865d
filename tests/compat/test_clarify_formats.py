"""The same rows in every format and place that a configuration can name give the same numbers."""

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


HEADERS = ["facet", "label", "predicted"]


def test_csv_with_and_without_header(folder: Any, expected: dict[str, Any]) -> None:
    asked = config(headers=HEADERS, predicted_label="predicted", methods=both())
    assert found_in(folder.clarify(asked)) == expected
    folder.csv("bare.csv", ROWS)
    by_index = {"name_or_index": 0, "value_or_threshold": ["d"]}
    bare = {"dataset_uri": "bare.csv", "predicted_label": 2, "facet": [by_index]}
    unnamed = config(**asked | bare | {"label": 1, "headers": None})
    assert found_in(folder.clarify(unnamed), "column_0") == expected
    assert found_in(folder.clarify(asked | bare)) == expected


@pytest.mark.parametrize("kind", ["jsonlines", "json"])
def test_json(folder: Any, expected: dict[str, Any], kind: str) -> None:
    rows = [
        {"features": features, "label": label, "answer": {"value": predicted}}
        for features, (_, label, predicted) in zip(FEATURES, ROWS, strict=True)
    ]
    written = folder.lines("data", rows) if kind == "jsonlines" else folder.json("data", rows)
    each = "" if kind == "jsonlines" else "[*]."
    asked = config(
        dataset_type=f"application/{kind}", dataset_uri=written, features=f"{each}features",
        label=f"{each}label", predicted_label=f"{each}answer.value",
        headers=["visits", *HEADERS], methods=both(),
    )  # fmt: skip
    assert found_in(folder.clarify(asked)) == expected
    facet = [{"name_or_index": 1, "value_or_threshold": ["d"]}]
    index = config(**asked | {"headers": None, "facet": facet})
    assert found_in(folder.clarify(index), "column_1") == expected


def test_parquet(folder: Any, expected: dict[str, Any]) -> None:
    frame = pl.DataFrame(ROWS, schema=HEADERS, orient="row")
    frame.write_parquet(folder.path / "data.parquet")
    parquet = {"dataset_type": "application/x-parquet", "dataset_uri": "data.parquet"}
    asked = config(**parquet, predicted_label="predicted", methods=both())
    assert found_in(folder.clarify(asked)) == expected
    folder.clarify(asked | {"dataset_type": "application/parquet"})
    assert "x-parquet" in folder.notes


def test_folder_of_files_in_a_bucket(folder: Any, expected: dict[str, Any]) -> None:
    (folder.path / "bucket/day").mkdir(parents=True)
    folder.csv("bucket/day/1.csv", [HEADERS, *ROWS[:100]])
    folder.csv("bucket/day/2.csv", [HEADERS, *ROWS[100:]])
    asked = config(dataset_uri="s3://loans/day", predicted_label="predicted", methods=both())
    found = folder.clarify(asked, "--map", "s3://loans=bucket")
    assert found_in(found) == expected


def test_facets_and_predictions_row_by_row(folder: Any, expected: dict[str, Any]) -> None:
    folder.csv("plain.csv", [("visits", "label"), *((i % 7, r[1]) for i, r in enumerate(ROWS))])
    folder.csv("facets.csv", [("facet",), *((r[0],) for r in ROWS)])
    folder.csv("answers.csv", [(r[2],) for r in ROWS])
    asked = config(
        dataset_uri="plain.csv", facet_dataset_uri="facets.csv",
        predicted_label_dataset_uri="answers.csv", predicted_label_headers=["predicted"],
        methods=both(),
    )  # fmt: skip
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
        dataset_uri="plain.csv", facet_dataset_uri="facets.csv",
        predicted_label_dataset_uri="answers", predicted_label="predicted",
        joinsource_name_or_index="id", methods=both(),
    )  # fmt: skip
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
