"""Every metric that the oracle files name is in the table of names."""

import re
from typing import Any

from fairgauge.catalogue.catalogue import NAMES, lookup_key

KNOWN = {
    tool: {lookup_key(n.name) for n in NAMES if n.tool == tool} for tool in {n.tool for n in NAMES}
}
NOT_METRICS = {
    "aequitas": {"model_id", "score_threshold", "attribute_name", "attribute_value"},
    "AIF360": {
        "attribute", "priv_group", "rest", "pos", "weights", "note", "coefficient_of_variation",
        "one_vs_rest", "favorable_label", "rows_used",
    },
}  # fmt: skip


def bare(name: str) -> str:
    """Return a name without its arguments, prefixes and places."""
    name = re.sub(r"\(.*", "", name.removeprefix("f:"))
    for word in ("label: ", "label ", "pred "):
        name = name.removeprefix(word)
    return name


def missing(tool: str, names: set[str]) -> set[str]:
    found = {bare(name) for name in names} - NOT_METRICS.get(tool, set())
    return {name for name in found if lookup_key(name) not in KNOWN[tool]}


def test_aif360(shared: Any) -> None:
    names: set[str] = set()
    for path in shared.oracles("*__aif360.json"):
        for entry in shared.oracle(path.name)["results"]:
            for block in ("classification_metric", "label_dataset_metric", "intersectional"):
                names |= set(entry.get(block, {}))
    for path in shared.oracles("*__aif360_sklearn.json"):
        for entry in shared.oracle(path.name)["results"]:
            names |= set(entry)
    assert len(names) > 80
    assert not missing("AIF360", names)


def test_aequitas(shared: Any) -> None:
    names: set[str] = set()
    for path in shared.oracles("*__aequitas.json"):
        for result in shared.oracle(path.name)["results"].values():
            for row in result["fairness_group_value(tau=0.8)"]:
                names |= {name for name in row if not name.endswith("ref_group_value")}
            names |= set(result["fairness_overall"])
    assert len(names) > 40
    assert not missing("aequitas", names)


def test_fairlearn(shared: Any) -> None:
    names: set[str] = set()
    for path in shared.oracles("*_pred__fairlearn.json"):
        for by_columns in shared.oracle(path.name)["results"].values():
            for entry in by_columns.values():
                names |= set(entry["named"]) if "named" in entry else set()
    assert len(names) == 16
    assert not missing("Fairlearn", names)


def test_smclarify(shared: Any) -> None:
    names: set[str] = set()
    for path in shared.oracles("*__smclarify*.json"):
        for entry in shared.oracle(path.name)["reports"]:
            for stage in ("pre", "post"):
                for block in entry.get(stage, {"value": []})["value"]:
                    for metric in block["metrics"]:
                        names |= {metric["name"], metric["description"]}
    assert len(names) > 30
    assert not {name for name in names if lookup_key(name) not in KNOWN["Clarify"]}
