"""`fairgauge validate` accepts what `audit` accepts, up to errors that need labels counted."""

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.api.audit import check_groups
from fairgauge.errors import FairgaugeError
from fairgauge.question.specification import ask
from fairgauge.render import render
from fairgauge.scan import open_source

RNG = np.random.default_rng(5)
ROWS = 240
TABLE = pl.DataFrame(
    {
        "g": RNG.choice(["A", "B", "C", "Unknown"], ROWS), "h": RNG.choice([1, 2, 3], ROWS),
        "blank": [None] * ROWS, "y": RNG.integers(0, 2, ROWS), "p": RNG.integers(0, 2, ROWS),
        "s": RNG.random(ROWS).round(3),
    }
).with_columns(g=pl.when(pl.int_range(pl.len()) < 5).then(None).otherwise("g"))  # fmt: skip

GROUPS = st.sampled_from(["A", "B", "C", "Unknown", "a", "nobody"])
SENSITIVE = st.sampled_from(
    ["g", ["g", "h"], {"g": ["A", "B"]}, {"g": [["A", "B"], ["C"]]}, {"g": ["nobody"]}, ["blank"]]
)
REFERENCES = st.one_of(
    st.sampled_from(["others", "overall", "largest", "best"]),
    st.fixed_dictionaries({"g": GROUPS}),
    st.fixed_dictionaries({"g": GROUPS, "h": st.sampled_from([1, 4])}),
)
OPTIONS = st.fixed_dictionaries(
    {"sensitive": SENSITIVE},
    optional={
        "reference": REFERENCES, "exclude_groups": st.lists(GROUPS, max_size=2, unique=True),
        "unknown": st.lists(GROUPS, max_size=1),
        "missing": st.sampled_from(["drop", "group", "error"]),
        "intersections": st.sampled_from([[["g", "h"]]]),
        "profile": st.sampled_from(["documented", "clarify"]), "min_n": st.sampled_from([1, 100]),
        "rules": st.sampled_from([["DI >= 0.8"]]),
    },
)  # fmt: skip
DECISIONS = st.sampled_from(
    [
        {"label": "y", "prediction": "p"},
        {"label": "y", "prediction": "p", "strata": "h"},
        {"score": "s", "preset": "nyc-ll144"},
        {"label": "y", "score": "s", "threshold": "median"},
        {"label": "y", "score": "s", "threshold": 0.4},
    ]
)


def refusal(call: Any) -> str | None:
    """Return why something is refused, None where it is accepted."""
    try:
        call()
    except FairgaugeError as error:
        return str(error)
    return None


@settings(suppress_health_check=list(HealthCheck))
@given(decisions=DECISIONS, options=OPTIONS)
def test_validate_accepts_what_audit_accepts(
    decisions: dict[str, Any], options: dict[str, Any]
) -> None:
    asked = {**decisions, **options}

    def validate() -> None:
        source = open_source(TABLE)
        check_groups(source, ask(source.columns, **asked))

    by_validate, by_audit = refusal(validate), refusal(lambda: fg.audit(TABLE, **asked))
    assert by_validate == by_audit


@settings(suppress_health_check=list(HealthCheck))
@given(options=OPTIONS)
def test_counts_are_resolved_as_in_an_audit(options: dict[str, Any]) -> None:
    counted = {"sensitive": ["g", "h"], "label": "y", "prediction": "p"}
    counts = fg.count(TABLE, **counted)
    asked = {name: value for name, value in options.items() if name != "sensitive"}

    def validate() -> None:
        check_groups(counts, ask(base=counts.asked, **asked))

    assert refusal(validate) == refusal(lambda: fg.audit(counts, **asked))


# ---- tables of a few rows, and columns without values: every verb answers, or has one error
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
            **binary, "g": rng.choice(["F", "M"], rows), "s": rng.choice(["x", "z"], rows),
            "c": rng.choice(["c1", "c2", "c3"], rows),
            "none": pl.Series([None] * rows, dtype=pl.String),
            "x": rng.normal(20, 3, rows).round(1), "score": rng.random(rows).round(2),
        }
    )  # fmt: skip


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
