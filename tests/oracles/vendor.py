"""Write ``vendored/``: the numbers of other tools, and the counts that they follow from.

    python tests/oracles/vendor.py

Reads the oracle values and tables beside the repository. Of a table it keeps counts by group,
label and prediction, never rows; of an oracle file the numbers that the tests compare.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).resolve().parent / "vendored"
SHARED = Path(__file__).resolve().parents[3] / "shared"

COLUMNS = {
    "compas_pred": ("compas_pred.csv", "two_year_recid"),
    "adult_pred": ("adult_pred.csv.gz", "income"),
    "hmda_pred": ("hmda_pred.csv", "deny"),
    "compas_multiclass_pred": ("compas_multiclass_pred.csv", "score_text"),
}
"""File and label of every table; the prediction is the column of that name."""
BINARY = ("compas_pred", "adult_pred", "hmda_pred")

FRAME = (
    "overall", "by_group", "difference_to_overall", "difference_between_groups", "ratio_to_overall",
)  # fmt: skip
SIDES = (
    "accuracy", "base_rate", "error_rate", "false_discovery_rate", "false_negative_rate",
    "false_omission_rate", "false_positive_rate", "negative_predictive_value",
    "positive_predictive_value", "precision", "recall", "selection_rate", "sensitivity",
    "specificity", "true_negative_rate", "true_positive_rate", "binary_confusion_matrix",
    "generalized_entropy_index", "coefficient_of_variation",
)  # fmt: skip
IMPACT = "impact_ratio(selection_rate / max selection_rate)"


def kept(found: dict[str, Any], names: Any) -> dict[str, Any]:
    return {name: found[name] for name in names if name in found}


def fairlearn(entry: dict[str, Any]) -> dict[str, Any]:
    small: dict[str, Any] = {"metric_frame": kept(entry["metric_frame"], FRAME)}
    if entry.get("control_feature"):
        small["control_feature"] = entry["control_feature"]
        small["metric_frame_control"] = kept(entry["metric_frame_control"], ["by_group"])
    if "named" in entry:
        small["named"] = {k: v for k, v in entry["named"].items() if k.endswith("to_overall)")}
    return small


def sklearn(entry: dict[str, Any]) -> dict[str, Any]:
    groups = {name: kept(group, ["counts"]) for name, group in entry["groups"].items()}
    return {"groups": groups, IMPACT: entry[IMPACT]}


def aif360(entry: dict[str, Any]) -> dict[str, Any]:
    names = ("attribute", "privileged", "unprivileged", "favorable_label")
    return kept(entry, names) | {
        "classification_metric": kept(entry["classification_metric"], SIDES)
    }


def smclarify(entry: dict[str, Any]) -> dict[str, Any]:
    names = (
        "id", "facet", "sensitive_values", "label", "predicted", "positive_label_values",
        "group_variable",
    )  # fmt: skip
    stages = {
        stage: {
            "value": [
                block
                | {"metrics": [kept(m, ("name", "value")) for m in without_flips(block["metrics"])]}
                for block in entry[stage]["value"]
            ]
        }
        for stage in ("pre", "post")
        if stage in entry
    }
    return kept(entry, names) | stages


def without_flips(metrics: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return metrics without the flip test, which compares rows."""
    return [metric for metric in metrics if metric["name"] != "FT"]


def numbers(name: str, peer: str, results: Any) -> Any:
    """Return the part of an oracle's results that follows from counts."""
    if peer == "smclarify":  # of facets that are compared value by value; ages would be many cells
        return [
            smclarify(entry)
            for entry in results
            if entry["sensitive_values"] is None and entry["facet_dtype"] == "object"
        ]
    if peer == "fairlearn" and name not in BINARY:
        return {
            columns: {
                key: {"metric_frame": kept(frame["metric_frame"], ["by_group"])}
                for key, frame in by_key.items()
                if key.startswith("one_vs_rest")
            }
            for columns, by_key in results.items()
        }
    if peer == "aif360":
        return [aif360(entry) for entry in results if "attribute" in entry]
    if peer == "aequitas":
        return {key: {"group": result["group"]} for key, result in results.items()}
    small = {"fairlearn": fairlearn, "sklearn": sklearn}[peer]
    return {
        key: {
            columns: small(entry)
            for columns, entry in by_columns.items()
            if columns not in ("overall", "pairs")
        }
        for key, by_columns in results.items()
    }


def files() -> Iterator[tuple[str, str]]:
    """Yield every table with every peer that is vendored."""
    for name in BINARY:
        for peer in ("fairlearn", "sklearn", "aif360", "aequitas", "smclarify"):
            yield name, peer
    yield "compas_multiclass_pred", "fairlearn"
    yield "compas_multiclass_pred", "smclarify"


def margins(name: str, peer: str, results: Any) -> Iterator[tuple[str, ...]]:
    """Yield the columns that a vendored number needs counted together."""
    if peer == "smclarify":
        yield from (smclarify_columns(entry) for entry in results)
    elif peer == "aif360":
        yield from ((entry["attribute"],) for entry in results)
    elif peer == "aequitas":
        yield from (
            (row["attribute_name"],) for result in results.values() for row in result["group"]
        )
    elif name not in BINARY:
        yield from (tuple(columns.split("|")) for columns in results)
    else:
        for by_columns in results.values():
            for columns, entry in by_columns.items():
                yield tuple(columns.split("|"))
                if "control_feature" in entry:
                    yield (*columns.split("|"), entry["control_feature"])


def smclarify_columns(entry: dict[str, Any]) -> tuple[str, ...]:
    columns = (entry["facet"], entry["group_variable"])
    return tuple(dict.fromkeys(column for column in columns if column))


def results_of(found: dict[str, Any]) -> Any:
    """Return the results of an oracle file; smclarify's are called reports."""
    return found["results"] if "results" in found else found["reports"]


def counted(frame: pd.DataFrame, label: str, columns: tuple[str, ...]) -> list[list[Any]]:
    """Return (values of the columns, label, prediction, number of rows) of every cell."""
    names = [*columns, label, "prediction"]
    cells = frame.groupby(names, dropna=False, sort=True).size()
    return [
        [None if pd.isna(v) else getattr(v, "item", lambda v=v: v)() for v in key] + [int(n)]
        for key, n in cells.items()
    ]


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    wanted: dict[str, set[tuple[str, ...]]] = {name: set() for name in COLUMNS}
    for name, peer in files():
        found = json.loads((SHARED / "oracles" / f"{name}__{peer}.json").read_text("utf-8"))
        results = numbers(name, peer, results_of(found))
        wanted[name] |= set(margins(name, peer, results))
        meta = kept(found["meta"], ("peer", "call", "calls", "precision/recall/f1"))
        write(f"{name}__{peer}.json", {"meta": meta, "results": results})
    for name, sets in wanted.items():
        file, label = COLUMNS[name]
        frame = pd.read_csv(SHARED / "data" / file)
        tables = {"|".join(columns): counted(frame, label, columns) for columns in sorted(sets)}
        write(f"{name}__counts.json", {"label": label, "tables": tables})


def write(name: str, value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    (FOLDER / name).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
