"""What is vendored is what stands beside the repository: the same numbers, the same counts."""

import json
from typing import Any

import pandas as pd
import pytest
from vendor import COLUMNS, FOLDER, counted, files, results_of, without_flips

LIMIT = 300_000


def part_of(small: Any, whole: Any, where: str = "") -> list[str]:
    """Return where a value is not part of another."""
    if isinstance(small, dict):
        return [
            problem
            for key, value in small.items()
            for problem in (
                part_of(value, whole[key], f"{where}/{key}")
                if key in whole
                else [f"{where}/{key} is not there"]
            )
        ]
    return [] if small == whole else [where]


def comparable(entry: dict[str, Any]) -> dict[str, Any]:
    """Return a report of smclarify with its metrics as name and value."""
    stages = {
        stage: {
            block["value_or_threshold"]: {
                metric["name"]: metric["value"] for metric in without_flips(block["metrics"])
            }
            for block in entry[stage]["value"]
        }
        for stage in ("pre", "post")
        if stage in entry
    }
    return entry | stages


def read(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize(("name", "peer"), list(files()))
def test_numbers_are_those_of_the_oracle(shared: Any, name: str, peer: str) -> None:
    file = f"{name}__{peer}.json"
    small, whole = read(file)["results"], results_of(shared.oracle(file))
    if peer == "smclarify":
        whole = [comparable(entry) for entry in whole]
        whole = [next(w for w in whole if w["id"] == entry["id"]) for entry in small]
        small = [comparable(entry) for entry in small]
    elif isinstance(small, list):
        whole = [entry for entry in whole if "attribute" in entry]
        assert len(small) == len(whole)
    if isinstance(small, list):
        small, whole = (dict(enumerate(entries)) for entries in (small, whole))
    if peer == "aequitas":
        assert all(result["group"] for result in small.values())
    assert small
    assert part_of(small, whole) == []


@pytest.mark.parametrize("name", COLUMNS)
def test_counts_are_those_of_the_table(shared: Any, name: str) -> None:
    file, label = COLUMNS[name]
    frame = pd.read_csv(shared.data(file))
    found = read(f"{name}__counts.json")
    assert found["label"] == label
    for columns, cells in found["tables"].items():
        assert cells == counted(frame, label, tuple(columns.split("|"))), columns
        assert sum(cell[-1] for cell in cells) == len(frame)


def test_no_rows_are_vendored() -> None:
    """Counts by at most two columns, label and prediction; small in all."""
    for name in COLUMNS:
        for columns, cells in read(f"{name}__counts.json")["tables"].items():
            assert columns.count("|") <= 1
            assert len(cells) <= 200
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < LIMIT
