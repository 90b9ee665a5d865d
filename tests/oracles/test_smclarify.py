"""smclarify 0.5 on six tables, reproduced by profile ``clarify`` for every metric of the catalogue.

The expected values were computed with smclarify 0.5 (see the ``meta`` of each oracle file); FT
compares rows and belongs to another test.
"""

import json
import math
from collections import Counter
from typing import Any

import pandas as pd
import pytest
from vendor import FOLDER, smclarify_columns

import fairgauge as fg
from fairgauge.catalogue.catalogue import METRICS

TABLES = {
    "adult__smclarify_pre": "adult.csv.gz", "adult_pred__smclarify": "adult_pred.csv.gz",
    "compas__smclarify_pre": "compas.csv", "compas_pred__smclarify": "compas_pred.csv",
    "compas_multiclass_pred__smclarify": "compas_multiclass_pred.csv",
    "hmda__smclarify_pre": "hmda.csv", "hmda_pred__smclarify": "hmda_pred.csv",
    "insurance_pred__smclarify_regression": "insurance_pred.csv",
    "ucb_admissions__smclarify_pre": "ucb_admissions.csv",
}  # fmt: skip
NUMBERS = 1556
"""Numbers in all reports, those of `ROW_METRICS` apart."""

ROW_METRICS = {"FT"}


def close(ours: float | None, theirs: Any) -> bool:
    """Compare with smclarify's float arithmetic: KL and the like sum logarithms of shares."""
    if theirs is None or ours is None:
        return ours is theirs
    expected = {"Infinity": math.inf, "-Infinity": -math.inf}.get(theirs, theirs)
    return ours == expected or math.isclose(ours, expected, rel_tol=1e-9, abs_tol=1e-12)


def load(shared: Any, oracle: str) -> pd.DataFrame:
    return pd.read_csv(shared.data(TABLES[oracle]))


def facet_of(entry: dict[str, Any]) -> tuple[Any, Any]:
    """Return the sensitive feature that is meant, and how our groups are called by theirs."""
    column, listed = entry["facet"], entry["sensitive_values"]
    if listed is None:
        return column, lambda name: name
    if "threshold" in entry["id"] and "on_int_column" not in entry["id"]:
        name = f"({pd.Series(listed)[0]:g}, inf)"
        return fg.cut(column, listed), lambda _: name
    # a "threshold" on an integer column was an equality test there: ask for what it did
    return {column: listed}, lambda name: name.replace(",", ", ")


def audit(frame: pd.DataFrame, entry: dict[str, Any], oracle: str) -> tuple[fg.Report, Any]:
    sensitive, name_of = facet_of(entry)
    positive = entry["positive_label_values"]
    report = fg.audit(
        frame, label=entry["label"], prediction=entry.get("predicted"),
        positive=fg.above(positive[0]) if "regression" in oracle else positive,
        sensitive=sensitive,
        strata=entry["group_variable"],
        count=next((name for name in ("Freq", "cases") if name in frame), None),
        metrics="clarify", profile="clarify", missing="exclude",
    )  # fmt: skip
    return report, name_of


def compared(report: fg.Report, name_of: Any, entry: dict[str, Any]) -> list[tuple[str, bool]]:
    """Return every number of one report, and whether we have the same."""
    found = []
    for stage in ("pre", "post"):
        for block in entry.get(stage, {"value": []})["value"]:
            group = name_of(block["value_or_threshold"])
            for metric in block["metrics"]:
                if metric["name"] in ROW_METRICS:
                    continue
                key: Any = (metric["name"], entry["facet"], group)
                ours = report["GE"] if metric["name"] == "GE" else report[key]
                agreed = close(ours.value, metric["value"])
                if metric["value"] is None:
                    agreed = agreed and ours.status != "ok" and bool(ours.reason)
                what = f"{entry['id']} {stage} {group} {metric['name']}: {ours.value} {metric}"
                found.append((what, agreed))
    return found


@pytest.mark.parametrize("oracle", TABLES)
def test_every_report_is_reproduced(shared: Any, oracle: str, record_property: Any) -> None:
    frame = load(shared, oracle)
    found = []
    for entry in shared.oracle(f"{oracle}.json")["reports"]:
        report, name_of = audit(frame, entry, oracle)
        found += compared(report, name_of, entry)
    counts = Counter(agreed for _, agreed in found)
    record_property("oracle", ["smclarify", len(found), counts[True], {}])
    print(
        f"\n{oracle}: {len(found)} numbers compared, {counts[True]} agree, {counts[False]} do not"
    )
    assert not [what for what, agreed in found if not agreed]
    assert len(found) >= 14


VENDORED = sorted(path.stem for path in FOLDER.glob("*__smclarify.json"))


@pytest.mark.parametrize("oracle", VENDORED)
def test_vendored_reports_are_reproduced_from_counts(oracle: str) -> None:
    """Everyone can run these: the reports of facets that are compared value by value."""
    name = oracle.removesuffix("__smclarify")
    tables = json.loads((FOLDER / f"{name}__counts.json").read_text("utf-8"))["tables"]
    reports = json.loads((FOLDER / f"{oracle}.json").read_text("utf-8"))["results"]
    found = []
    for entry in reports:
        columns = smclarify_columns(entry)
        header = [*columns, entry["label"], "prediction", "cases"]
        frame = pd.DataFrame(tables["|".join(columns)], columns=header)
        found += compared(*audit(frame, entry, oracle), entry)
    assert len(found) >= 30
    assert not [what for what, agreed in found if not agreed]


def test_nothing_is_left_out(shared: Any) -> None:
    files = {path.stem for path in shared.oracles("*smclarify*.json")}
    assert files == set(TABLES)
    names = [
        metric["name"]
        for oracle in TABLES
        for entry in shared.oracle(f"{oracle}.json")["reports"]
        for stage in ("pre", "post")
        if stage in entry
        for block in entry[stage]["value"]
        for metric in block["metrics"]
    ]
    assert len([name for name in names if name not in ROW_METRICS]) == NUMBERS
    assert set(names) - {metric.name for metric in METRICS} <= ROW_METRICS
