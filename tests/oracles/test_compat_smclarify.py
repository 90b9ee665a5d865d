"""Every report that smclarify 0.5 made of nine tables, through the same names in fairgauge.

The oracle files say how each was asked (``setup``, ``call``); columns, blocks, order, names,
descriptions, values and errors must all be as they were.
"""

import ast
import math
import re
from typing import Any

import pandas as pd
import pytest
from test_smclarify import TABLES

from fairgauge_cloud.smclarify.bias.report import (
    FacetColumn,
    LabelColumn,
    StageType,
    bias_basic_stats,
    bias_report,
    model_performance_report,
)

TIED = {name for name in TABLES if "pred" in name and "hmda" not in name}
"""Tables where smclarify's flip test depends on the order of the rows (see the oracles' README)."""


def assert_same(ours: Any, theirs: Any, path: str = "") -> None:
    """Compare whole structures: keys, order and texts exactly, numbers to rounding."""
    if isinstance(theirs, dict):
        assert list(ours) == list(theirs), path
        for key in theirs:
            assert_same(ours[key], theirs[key], f"{path}/{key}")
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs), path
        for i, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            assert_same(one, other, f"{path}[{i}]")
    elif isinstance(theirs, float) and isinstance(ours, (int, float)):
        assert math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-12), f"{path}: {ours} {theirs}"
    else:
        assert ours == theirs, path


def without_flips(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        block | {"metrics": [m for m in block["metrics"] if m["name"] != "FT"]} for block in blocks
    ]


def load(shared: Any, oracle: str) -> pd.DataFrame:
    frame = pd.read_csv(shared.data(TABLES[oracle]))
    if "Freq" in frame:  # a table of counts: every cell as many rows
        return frame.loc[frame.index.repeat(frame["Freq"])].reset_index(drop=True)
    return frame


@pytest.mark.parametrize("oracle", TABLES)
def test_reports_are_those_of_smclarify(shared: Any, oracle: str) -> None:
    frame = load(shared, oracle)
    for entry in shared.oracle(f"{oracle}.json")["reports"]:
        asked = entry["df_columns"]
        rows = frame[asked].copy()
        if entry["facet_dtype"] != "object":
            rows[entry["facet"]] = rows[entry["facet"]].astype(entry["facet_dtype"])
        group = entry["group_variable"]
        positive = entry["positive_label_values"]
        facet = FacetColumn(entry["facet"], entry["sensitive_values"])
        label = LabelColumn(entry["label"], rows[entry["label"]], positive)
        strata = None if group is None else frame[group]
        before = (rows, facet, label, StageType.PRE_TRAINING)
        found = {
            "pre": bias_report(*before, group_variable=strata),
            "basic_pre": bias_basic_stats(*before),
        }
        if "post" in entry:
            predicted = LabelColumn("prediction", rows["prediction"], positive)
            after = (rows, facet, label, StageType.POST_TRAINING, predicted)
            found["post"] = bias_report(*after, group_variable=strata)
            found["basic_post"] = bias_basic_stats(*after)
        for stage, ours in found.items():
            theirs = entry[stage]["value"]
            if oracle in TIED and stage == "post":
                ours, theirs = without_flips(ours), without_flips(theirs)
            assert_same(ours, theirs, f"{entry['id']}/{stage}")


@pytest.mark.parametrize("oracle", [name for name in TABLES if "pred" in name])
def test_performance_reports_are_those_of_smclarify(shared: Any, oracle: str) -> None:
    frame = load(shared, oracle)
    entries = shared.oracle(f"{oracle}.json")["performance"]
    assert entries
    for entry in entries:
        label = entry["value"]["label"]
        positive = ast.literal_eval(re.findall(r"\], (\[.*?\])\)", entry["call"])[0])
        ours = model_performance_report(
            frame,
            LabelColumn(label, frame[label], positive),
            LabelColumn("prediction", frame["prediction"], positive),
        )
        assert_same(ours, entry["value"], oracle)
