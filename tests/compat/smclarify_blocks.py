"""Blocks of an ``analysis.json`` beside smclarify's."""

import math
from typing import Any


def same(ours: list[dict[str, Any]], theirs: Any, name: str) -> int:
    """Compare the blocks of a facet; return how many values were compared.

    Where smclarify ends with an error, ours is an error of every metric of that facet alone.
    """
    if isinstance(theirs, dict):
        (block,) = ours
        assert {metric["error"] for metric in block["metrics"]} == {theirs["raised"]}, name
        assert {metric["value"] for metric in block["metrics"]} == {None}, name
        return len(block["metrics"])
    assert [b["value_or_threshold"] for b in ours] == [b["value_or_threshold"] for b in theirs], (
        name
    )
    compared = 0
    for block, other in zip(ours, theirs, strict=True):
        expected = {metric["name"]: metric for metric in other["metrics"]}
        for one in block["metrics"]:
            two = expected[one["name"]]
            where = f"{name}, {block['value_or_threshold']}: {one} {two}"
            assert one["description"] == two["description"], where
            assert one.get("error") == two.get("error"), where
            if isinstance(two["value"], float) and isinstance(one["value"], (int, float)):
                assert math.isclose(one["value"], two["value"], rel_tol=1e-9, abs_tol=1e-12), where
            else:
                assert one["value"] == two["value"], where
            compared += 1
    return compared
