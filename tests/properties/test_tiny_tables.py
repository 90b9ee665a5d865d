"""Tables of a few rows, and columns without values: every verb answers, or has one error.

What it answers can be written and read again, and is stated in words: one row is no "1 rows", and
an end that the data do not bound is no "inf".
"""

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.render import render

OF_GROUPS: dict[str, Any] = {"sensitive": "g", "unknown": ["Unknown"]}
BINARY: dict[str, Any] = {"label": "y", "prediction": "p", "positive": 1}
RULE = "selection_rate.ratio >= 0.8"
VERBS: dict[str, Callable[..., Any]] = {
    "audit": lambda rows, **more: fg.audit(
        rows, **BINARY, **OF_GROUPS, **more, rules=[RULE], metrics=["standard", "clarify"]
    ),
    "audit of numbers": lambda rows, **more: fg.audit(rows, label="x", **OF_GROUPS, **more),
    "why": lambda rows, **more: fg.why(rows, **BINARY, **OF_GROUPS, strata="s", **more),
    "why of numbers": lambda rows, **more: fg.why(
        rows, label="x", task="regression", **OF_GROUPS, strata="s", **more
    ),
    "compare_models": lambda rows, **more: fg.compare_models(
        rows, **BINARY, candidate="q", **OF_GROUPS, **more
    ),
    "thresholds": lambda rows, **_: fg.thresholds(
        rows, label="y", positive=1, score="score", threshold=0.5, **OF_GROUPS, rules=RULE
    ),
    "find": lambda rows, **_: fg.find(rows, **BINARY, sensitive=["g", "s"], metrics="accuracy"),
    "explore": lambda rows, **_: fg.explore(rows, **BINARY, **OF_GROUPS, exact=True),
    "explore of two columns": lambda rows, **_: fg.explore(
        rows, label="y", positive=1, sensitive="g", intersections=[("g", "s")], exact=True
    ),
}  # fmt: skip
WRONG = re.compile(r"(?<![\w,.])(1 (rows|cases|strata|groups)|nan|NaN|inf)(?![\w)])")
"""Words that no page may hold: the plural of one, and numbers that are none."""


def table(rows: int, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    binary = {name: rng.integers(0, 2, rows) for name in ("y", "p", "q")}
    return pl.DataFrame(
        {
            **binary,
            "g": rng.choice(["F", "M"], rows),
            "s": rng.choice(["x", "z"], rows),
            "c": rng.choice(["c1", "c2", "c3"], rows),
            "none": pl.Series([None] * rows, dtype=pl.String),
            "x": rng.normal(20, 3, rows).round(1),
            "score": rng.random(rows).round(2),
        }
    )


def answered(verb: str, rows: pl.DataFrame, **more: Any) -> Any:
    """Return an answer that can be written and read again, None where there is one clear error."""
    try:
        found = VERBS[verb](rows, **more)
    except fg.FairgaugeError:
        return None
    if not isinstance(found, fg.Exploration):
        render(found, "html")
        assert type(found).from_dict(json.loads(found.to_json())).to_json() == found.to_json()
    return found


@pytest.mark.parametrize("clusters", [{}, {"cluster": "c"}], ids=["rows", "clusters"])
@pytest.mark.parametrize("column", ["g", "y", "p", "s", "c", "x", "score"])
def test_a_column_without_values_is_answered_or_one_error(
    column: str, clusters: dict[str, str]
) -> None:
    rows = table(60).with_columns(pl.lit(None, dtype=table(1)[column].dtype).alias(column))
    assert any(answered(verb, rows, **clusters) is not None for verb in VERBS)


@pytest.mark.parametrize("verb", [verb for verb in VERBS if "explore" not in verb])
def test_a_page_of_few_rows_is_in_words(verb: str) -> None:
    for rows, more in (
        (1, {}),
        (2, {}),
        (3, {}),
        (6, {}),
        (6, {"cluster": "c"}),
        (9, {"cluster": "none"}),
    ):
        found = answered(verb, table(rows, seed=rows), **more)
        wrong = WRONG.search(page := str(found or ""))
        assert not wrong, page[max(0, wrong.start() - 80) : wrong.end() + 40]
