"""Rows and configurations that the tests of other systems' files share."""

from typing import Any

CELLS = ((1, 1), (1, 0), (0, 1), (0, 0))
"""Label and prediction of tp, fn, fp, tn."""

MONITORED = {"a": (32, 130, 17, 45), "d": (2, 78, 0, 30)}
"""TP, FN, FP, TN of the real monitoring run (semantics.md 1.6), facets a and d."""

BASELINE = {"1": (143, 456), "0": (17, 210)}
"""Positive labels and rows of the real baseline job (semantics.md 1.6), by the facet Sex."""


def cases(counts: dict[str, tuple[int, int, int, int]]) -> list[tuple[str, int, int]]:
    """Expand TP, FN, FP and TN of groups to rows: group, label, prediction."""
    return [
        (group, label, prediction)
        for group, numbers in counts.items()
        for n, (label, prediction) in zip(numbers, CELLS, strict=True)
        for _ in range(n)
    ]


def both() -> dict[str, Any]:
    return {"pre_training_bias": {"methods": "all"}, "post_training_bias": {"methods": "all"}}


def before() -> dict[str, Any]:
    return {"pre_training_bias": {"methods": "all"}}


def after() -> dict[str, Any]:
    return {"post_training_bias": {"methods": "all"}}


def config(**changes: Any) -> dict[str, Any]:
    """Return a small configuration, with changes; None takes a key away."""
    base = {
        "version": "1.0", "dataset_type": "text/csv", "dataset_uri": "data.csv", "label": "label",
        "label_values_or_threshold": [1],
        "facet": [{"name_or_index": "facet", "value_or_threshold": ["d"]}], "methods": before(),
    }  # fmt: skip
    return {key: value for key, value in (base | changes).items() if value is not None}


def values(found: dict[str, Any], stage: str = "post", facet: str = "facet", block: int = 0) -> Any:
    """Return the metrics of a facet value: name to value."""
    section = found[f"{stage}_training_bias_metrics"]
    return {m["name"]: m["value"] for m in section["facets"][facet][block]["metrics"]}
