"""What options say of the data is what a table that is prepared beforehand says.

Each of these is an audit twice: with an option, and without it of a table whose rows or values are
what the option makes of them. They are crossed with what a row stands for.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import polars as pl
import pytest

import fairgauge as fg

Asked: TypeAlias = dict[str, Any]
QUESTION: Asked = {
    "label": "y", "prediction": "p", "positive": 1, "sensitive": "g",
    "rules": ["selection_rate.ratio >= 0.8", "accuracy >= 0.6"],
}  # fmt: skip
g, age = pl.col("g"), pl.col("age")


@cache
def table() -> pl.DataFrame:
    rng, rows = np.random.default_rng(3), 300
    label = rng.random(rows) < rng.choice([0.3, 0.6], rows)
    group = rng.choice(["F", "M", "X", "Unknown", None], rows, p=[0.4, 0.35, 0.15, 0.07, 0.03])
    return pl.DataFrame(
        {
            "g": pl.Series(group.tolist(), dtype=pl.String), "h": rng.choice([1, 2], rows),
            "age": rng.integers(18, 80, rows), "s": rng.choice(["x", "z"], rows),
            "y": label.astype(int),
            "p": np.where(rng.random(rows) < 0.8, label, ~label).astype(int),
            "n": rng.integers(0, 4, rows), "w": rng.integers(1, 9, rows) / 4,
            "c": rng.integers(0, 70, rows),
        }
    )  # fmt: skip


INTERVALS = pl.when(age <= 40).then(pl.lit("(-inf, 40]")).otherwise(pl.lit("(40, inf)"))
OLD = pl.when(age < 40).then(pl.lit("[-inf, 40)")).otherwise(pl.lit("[40, inf)"))
OPTIONS: dict[str, tuple[Asked, Callable[[pl.DataFrame], pl.DataFrame], Asked]] = {
    "where": (
        {"where": ["s = x", "age < 70"]},
        lambda t: t.filter(pl.col("s") == "x", age < 70), {},
    ),
    "where a group": ({"where": ["g != (missing)"]}, lambda t: t.filter(g.is_not_null()), {}),
    "recode": (
        {"recode": {"g": {"F": ["F", "X"], "unknown": ["Unknown"]}}},
        lambda t: t.with_columns(g.replace({"X": "F", "Unknown": None})), {},
    ),
    "recode outcomes": (
        {"recode": {"y": {"yes": [1], "no": [0]}, "p": {"yes": [1], "no": [0]}}, "positive": "yes"},
        lambda t: t, {},
    ),
    "unknown": (
        {"unknown": ["Unknown"]}, lambda t: t.with_columns(g.replace({"Unknown": None})), {},
    ),
    "unknown as a group": (
        {"unknown": ["Unknown"], "missing": "group"},
        lambda t: t.with_columns(g.replace({"Unknown": None})), {"missing": "group"},
    ),
    "exclude_groups": (
        {"exclude_groups": ["X"]}, lambda t: t.filter(g.is_null() | (g != "X")), {},
    ),
    "cut": (
        {"sensitive": fg.cut("age", [40])},
        lambda t: t.with_columns(age=INTERVALS), {"sensitive": "age"},
    ),
    "cut closed on the left": (
        {"sensitive": fg.cut("age", [40], closed="left")},
        lambda t: t.with_columns(age=OLD), {"sensitive": "age"},
    ),
    "cut strata": (
        {"strata": fg.cut("age", [40])},
        lambda t: t.with_columns(age=INTERVALS), {"strata": "age"},
    ),
    "crossed strata": (
        {"strata": ["s", "h"]},
        lambda t: t.with_columns(sh=pl.format("{} & {}", "s", "h")), {"strata": "sh"},
    ),
    "a value of another type": (
        {"sensitive": "h", "reference": {"h": 1}},
        lambda t: t.with_columns(pl.col("h").cast(pl.String)),
        {"sensitive": "h", "reference": {"h": "1"}},
    ),
}  # fmt: skip


def found(report: fg.Report) -> dict[tuple[object, ...], tuple[object, ...]]:
    """Return the numbers and verdicts of a report, by what they are of."""
    plain = report.to_dict()
    numbers = {
        tuple(
            each[key] for key in ("metric", "feature", "group", "reference", "scope", "stratum")
        ): (
            each["status"],
            *(each[key] for key in ("value", "low", "high", "p_value", "n_group", "n_reference")),
        )
        for each in plain["estimates"]
    }
    verdicts = {
        (each["rule"], each["feature"], each["group"]): (each["outcome"],)
        for each in plain["verdicts"]
    }
    return numbers | verdicts


@pytest.mark.each_value
@pytest.mark.parametrize(
    "stands_for", [{}, {"count": "n"}, {"weight": "w"}, {"cluster": "c"}],
    ids=["rows", "cases", "weights", "clusters"],
)  # fmt: skip
@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_is_a_table_prepared_beforehand(option: str, stands_for: dict[str, str]) -> None:
    more, prepare, less = OPTIONS[option]
    asked = found(fg.audit(table(), **QUESTION | more | stands_for))
    prepared = found(fg.audit(prepare(table()), **QUESTION | less | stands_for))
    assert asked.keys() == prepared.keys()
    for what, (state, *numbers) in asked.items():
        other, *others = prepared[what]
        assert state == other, what
        known = [[x for x in of if x is not None] for of in (numbers, others)]
        assert known[0] == pytest.approx(known[1], rel=1e-9, abs=1e-12), what
