"""Intervals that must not move: of audits and of candidates, over designs that use every method.

A change to the code of an interval that is meant to keep its coverage keeps its numbers. One that
is meant to move numbers writes the approved ones anew and is measured (`bench/`, docs/coverage)::

    export FAIRGAUGE_UPDATE_GOLDEN=1
    python -m pytest tests/golden/test_golden_intervals.py

Of each design every sixteenth interval is kept, by a hash of what it is of, so that the file stays
small and yet holds intervals of every metric.
"""

import json
import os
import zlib
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import fairgauge as fg

APPROVED = Path(__file__).parent / "intervals.json"
KEPT = 16
"""One interval of so many is kept."""

BINARY = {"label": "label", "prediction": "prediction", "positive": 1}
SCORED = {**BINARY, "score": "score", "features": ["x"]}
CLASSES = {"label": "true", "prediction": "predicted", "task": "multiclass"}
AMOUNTS = {"label": "amount", "prediction": "estimate", "task": "regression"}
SOME = ("selection_rate.difference", "true_positive_rate.ratio", "precision.difference",
        "accuracy.difference", "kappa.difference", "selection_rate.largest_gap",
        "true_positive_rate.smallest_ratio", "accuracy.minimum", "TVD")  # fmt: skip
AUDITS = {
    "scores and strata": {**SCORED, "strata": "stratum"},
    "two groups": {**SCORED, "sensitive": "pair"},
    "overall as the reference": {**BINARY, "strata": "stratum", "reference": "overall"},
    "few rows, far apart": {**BINARY, "sensitive": "far", "reference": {"far": "main"}},
    "the best group as the reference": {**BINARY, "reference": "best"},
    "weights": {**SCORED, "strata": "stratum", "weight": "w"},
    "clusters": {**SCORED, "strata": "stratum", "cluster": "cluster"},
    "weights and clusters": {**BINARY, "weight": "w", "cluster": "cluster"},
    "clusters and overall": {**BINARY, "cluster": "cluster", "reference": "overall"},
    "exact": {**BINARY, "method": "exact", "metrics": SOME}, "bayes": {**BINARY, "method": "bayes"},
    "bootstrap": {**BINARY, "method": "bootstrap"},
    "bootstrap and weights": {**BINARY, "method": "bootstrap", "weight": "w"}, "classes": CLASSES,
    "classes and weights": {**CLASSES, "weight": "w"},
    "classes and clusters": {**CLASSES, "cluster": "cluster", "sensitive": "pair"},
    "amounts": AMOUNTS, "amounts and weights": {**AMOUNTS, "weight": "w"},
    "amounts and clusters": {**AMOUNTS, "cluster": "cluster"},
}  # fmt: skip
MODELS = {
    "two models": {**BINARY, "candidate": ["newer"]},
    "two models, overall": {**BINARY, "candidate": ["newer"], "reference": "overall"},
    "two models, weights": {
        **BINARY, "candidate": ["newer"], "weight": "w",
        "margins": {"accuracy": 0.05},
    },
    "two models, clusters": {
        **BINARY, "candidate": ["newer"], "cluster": "cluster",
    },
    "two models, classes": {**CLASSES, "candidate": ["guessed"], "metrics": SOME},
    "two models, classes and clusters": {
        **CLASSES, "candidate": ["guessed"], "cluster": "cluster", "sensitive": "pair",
        "metrics": SOME,
    },
    "two models, scores": {
        "label": "label", "positive": 1, "score": "score", "candidate": ["rank"], "threshold": 0.5,
    },
}  # fmt: skip
LIMITS = (("low", "high"), "simultaneous", "interval", "ratio_interval", "distance_interval",
          "distance_adjusted", "adjusted")  # fmt: skip
"""Where rows of the JSON hold intervals."""
NAMES = ("metric", "rate", "group", "reference", "scope", "stratum", "class_scope",
         "class", "worst_class", "average", "threshold", "among")  # fmt: skip
"""What an interval is of, in the JSON."""


def table() -> pl.DataFrame:
    """Return 240 rows with groups, strata, classes, scores, amounts, weights and clusters."""
    rng = np.random.default_rng(20261121)
    rows = 240
    order = np.arange(rows)
    group, label = rng.integers(0, 3, rows), rng.integers(0, 2, rows)
    right = rng.random(rows) < 0.6 + 0.08 * group
    prediction = np.where(right, label, 1 - label)
    classes, true = np.array(["c1", "c2", "c3"]), rng.integers(0, 3, rows)
    predicted = np.where(right, true, rng.integers(0, 3, rows))
    amount = rng.normal(10, 3, rows)
    score = np.clip(rng.normal(0.4 + 0.2 * label, 0.2), 0, 1)
    return pl.DataFrame(
        {
            "group": np.array(["g1", "g2", "g3"])[group],
            "pair": np.where(group == 0, "p1", "p2"),
            # few, of whom nearly all are selected: their limits are those of the score
            "far": np.where((order < 70) & (prediction == 1) | (order < 4), "tiny", "main"),
            "stratum": np.array(["s1", "s2"])[rng.integers(0, 2, rows)], "label": label,
            "prediction": prediction, "newer": np.where(rng.random(rows) < 0.85, prediction, label),
            "score": np.round(64 * score) / 64,
            "rank": np.round(64 * np.clip(score + rng.normal(0, 0.1, rows), 0, 1)) / 64,
            "true": classes[true], "predicted": classes[predicted],
            "guessed": classes[np.where(rng.random(rows) < 0.85, predicted, true)],
            "amount": np.round(4 * amount) / 4,  # sums of quarters are exact in any order
            "estimate": np.round(4 * (amount + rng.normal(0.3 * group, 2))) / 4,
            "x": np.round(4 * rng.normal(0, 1, rows)) / 4, "w": rng.integers(1, 9, rows) / 4.0,
            "cluster": rng.integers(0, 30, rows),
        }
    )  # fmt: skip


def intervals(design: str) -> dict[str, list[float]]:
    """Return the intervals and p-values of a design by what they are of."""
    asked = {"sensitive": "group", "metrics": "all", "replicates": 60}
    if design in AUDITS:
        answer = fg.audit(table(), **{**asked, **AUDITS[design]}).to_dict()
        rates = [
            {**group, **rate, "rate": name}
            for group in answer["groups"]
            for name, rate in group["rates"].items()
        ]
        rows = [*answer["estimates"], *rates, *answer["pairs"]]
    else:
        answer = fg.compare_models(table(), **{**asked, **MODELS[design]}).to_dict()
        (candidate,) = answer["candidates"]
        rows = [row for part in candidate.values() if isinstance(part, list) for row in part]
    return dict(numbers for row in rows for numbers in intervals_of(row))


def intervals_of(row):
    """Yield the intervals of a row of the JSON by name, each with the p-value of the row."""
    of = " | ".join(f"{name}={row[name]}" for name in NAMES if row.get(name) not in (None, "none"))
    for place in LIMITS:
        low, high = ends(row.get(place)) if isinstance(place, str) else map(row.get, place)
        if low is not None and high is not None:
            p = row.get("p_value")
            name = place if isinstance(place, str) else "interval"
            yield f"{of} | {name}", [float(low), float(high), *([] if p is None else [p])]


def ends(interval):
    """Return the limits of an interval of the JSON, an object or a pair."""
    if interval is None:
        return None, None
    return (interval["low"], interval["high"]) if isinstance(interval, dict) else interval[:2]


def kept(numbers: dict[str, list[float]]) -> dict[str, list[float]]:
    return {name: of for name, of in numbers.items() if zlib.crc32(name.encode()) % KEPT == 0}


@pytest.mark.parametrize("design", [*AUDITS, *MODELS])
def test_no_interval_moves(design: str) -> None:
    found = kept(intervals(design))
    if os.environ.get("FAIRGAUGE_UPDATE_GOLDEN"):
        approve(design, found)
    approved = json.loads(APPROVED.read_text(encoding="utf-8"))[design]
    assert approved
    assert found.keys() == approved.keys()
    moved = [
        f"{name}: {found[name]}, approved {numbers}"
        for name, numbers in approved.items()
        if not np.allclose(found[name], [float(x) for x in numbers], rtol=1e-12, atol=1e-12)
    ]
    assert not moved, f"{len(moved)} of {len(approved)} moved, such as {moved[:3]}"


def approve(design: str, found: dict[str, list[float]]) -> None:
    """Write the intervals of one design."""
    approved = json.loads(APPROVED.read_text(encoding="utf-8")) if APPROVED.exists() else {}
    approved[design] = {
        name: [x if np.isfinite(x) else str(x) for x in numbers] for name, numbers in found.items()
    }
    designs = [
        json.dumps(name) + ": {\n" + ",\n".join(lines(approved[name])) + "\n}"
        for name in (*AUDITS, *MODELS)
        if name in approved
    ]
    text = "{\n" + ",\n".join(designs) + "\n}\n"
    APPROVED.write_text(text, encoding="utf-8", newline="\n")


def lines(numbers: dict[str, list[float]]) -> list[str]:
    """Return an interval in each line, so that a difference shows which one moved."""
    return [f"{json.dumps(name)}: {json.dumps(of)}" for name, of in sorted(numbers.items())]
