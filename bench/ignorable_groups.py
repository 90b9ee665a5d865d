"""Coverage of intervals where rows without a group are shared by assumption.

``python -m bench.ignorable_groups`` draws tables in which half of the rows of one outcome have no
group, whatever the group is, and the same tables with every group recorded, and writes how often
intervals cover to ``evidence/coverage_of_ignorable_groups.json``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import fairgauge as fg

FILE = Path(__file__).parents[1] / "evidence" / "coverage_of_ignorable_groups.json"
SETS, ROWS, SEED = 2_000, 1_500, 95
GROUPS = {"a": (0.55, 0.50), "b": (0.30, 0.42), "c": (0.15, 0.50)}
"""The share of rows and the selection rate of each group."""
METRICS = ("selection_rate.difference", "selection_rate.ratio")


def table(rng: np.random.Generator, unrecorded: float) -> dict[str, list[Any]]:
    """Draw counts by group and decision; a part of the rows that were not selected has no group."""
    sizes = rng.multinomial(ROWS, [share for share, _ in GROUPS.values()])
    rows: dict[str, list[Any]] = {"g": [], "p": [], "n": []}
    lost = 0
    for (name, (_, rate)), n in zip(GROUPS.items(), sizes, strict=True):
        selected = rng.binomial(n, rate)
        blank = rng.binomial(n - selected, unrecorded)
        lost += blank
        for p, cases in ((1, selected), (0, n - selected - blank)):
            rows = {k: [*rows[k], v] for k, v in (("g", name), ("p", p), ("n", int(cases)))}
    return {k: [*rows[k], v] for k, v in (("g", None), ("p", 0), ("n", int(lost)))}


def coverage(unrecorded: float, missing: str) -> dict[str, float]:
    """Return the share of tables in which the interval of each comparison holds the true value."""
    rng, held = np.random.default_rng(SEED), dict[str, int]()
    for _ in range(SETS):
        report = fg.audit(
            table(rng, unrecorded), prediction="p", positive=1, sensitive="g", count="n",
            reference={"g": "a"}, metrics=METRICS, missing=missing,
        )  # fmt: skip
        for each in report.estimates:
            ours, theirs = GROUPS[str(each.group)][1], GROUPS["a"][1]
            true = ours - theirs if each.metric.endswith("difference") else ours / theirs
            key = f"{each.metric} of {each.group}"
            inside = each.low is not None and each.low <= true <= (each.high or 0)
            held[key] = held.get(key, 0) + inside
    return {key: n / SETS for key, n in held.items()}


if __name__ == "__main__":
    found = {
        "sets": SETS, "rows": ROWS, "confidence": 0.95,
        "all groups recorded": coverage(0.0, "exclude"),
        "0 of 100 unrecorded": coverage(0.0, "ignorable"),
        "50 of 100 of one outcome unrecorded": coverage(0.5, "ignorable"),
        "the same, excluded": coverage(0.5, "exclude"),
    }  # fmt: skip
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
