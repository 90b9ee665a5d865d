"""What never changes a number, over the verbs beside `audit`.

Invariants 6 and 7 of the architecture, through the public API: the order of rows and columns, the
engine, shards, the scale of weights and a column of counts are how a table is written, not what it
holds. `test_invariants.py` holds them over every metric of an audit.
"""

import json
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import fairgauge as fg

QUESTION: dict[str, Any] = {
    "label": "label", "positive": 1, "sensitive": ["group", "second"],
    "intersections": [("group", "second")],
}  # fmt: skip
RULE = "selection_rate.ratio >= 0.8"
DAYS = 6
NOT_COMPARED = {"created", "digest", "fingerprint", "data", "source", "command"}
"""When a result was made, and the names and digests of what it was read from."""


@cache
def table(seed: int = 0, rows: int = 400) -> pl.DataFrame:
    """Return rows of two features, two models, scores, counts, weights and days."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["A", "B", "C"], rows, p=[0.5, 0.3, 0.2])
    label = (rng.random(rows) < np.where(group == "A", 0.6, 0.4)).astype(int)
    return pl.DataFrame(
        {
            "group": group, "second": rng.choice(["x", "y"], rows), "label": label,
            "prediction": np.where(rng.random(rows) < 0.7, label, 1 - label),
            "candidate": np.where(rng.random(rows) < 0.8, label, 1 - label),
            "score": np.round(np.clip(rng.normal(0.4 + 0.2 * label, 0.2), 0, 1), 2),
            "n": rng.integers(1, 4, rows), "w": rng.integers(1, 9, rows) / 4.0,
            "day": np.arange(rows) % DAYS,
        }
    )  # fmt: skip


def report(data: Any, **more: Any) -> fg.Report:
    return fg.audit(data, **QUESTION, prediction="prediction", rules=[RULE], **more)


def of_reports(data: Any, **more: Any) -> Any:
    return fg.compare(report(table(1)), report(data, **more))


def of_models(data: Any, **more: Any) -> Any:
    asked = {**QUESTION, "prediction": "prediction", "candidate": "candidate"}
    return fg.compare_models(data, **asked, **more)


def of_alternatives(data: Any, **more: Any) -> Any:
    asked = {**QUESTION, "prediction": "prediction", "candidate": "candidate"}
    return fg.alternatives(data, **asked | {"reference": "largest"} | more)


def of_thresholds(data: Any, **more: Any) -> Any:
    return fg.thresholds(data, **QUESTION, score="score", threshold=0.5, rules=[RULE], **more)


def of_search(data: Any, **more: Any) -> Any:
    features = ["group", "second"]
    return fg.find(
        data, label="label", prediction="prediction", positive=1, sensitive=features,
        metrics="selection_rate", **more,
    )  # fmt: skip


def of_gaps(data: Any, **more: Any) -> Any:
    return fg.why(
        data, label="label", prediction="prediction", positive=1, sensitive="group",
        strata="second", **more,
    )  # fmt: skip


def of_page(data: Any, **more: Any) -> Any:
    return fg.explore(data, **QUESTION, prediction="prediction", exact=True, **more)


VERBS: dict[str, Callable[..., Any]] = {
    "audit": report, "compare": of_reports, "compare_models": of_models,
    "alternatives": of_alternatives,
    "thresholds": of_thresholds, "find": of_search, "why": of_gaps,
    "explore": of_page,
}  # fmt: skip
"""The verbs of rows and counts. `pairs` has a table of its own (tests/unit/api/test_pairing.py)."""
WEIGHTED = [verb for verb in VERBS if verb not in ("find", "explore")]
"""Exact probabilities, and intervals that a page computes, are of rows without weights."""
EVERY_VERB = pytest.mark.parametrize("verb", VERBS)


def differences(one: Any, other: Any, path: str = "") -> list[str]:
    """Return where two results differ, numbers but for rounding."""
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() != other.keys():
            return [f"{path}: keys {sorted(one.keys() ^ other.keys())}"]
        parts = [key for key in one if key not in NOT_COMPARED]
        return [d for key in parts for d in differences(one[key], other[key], f"{path}.{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return [d for i, (a, b) in pairs for d in differences(a, b, f"{path}[{i}]")]
    if isinstance(one, float) and isinstance(other, (int, float)):
        same = math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    else:
        same = one == other
    return [] if same else [f"{path}: {one!r} {other!r}"]


def without_question(result: Any) -> dict[str, Any]:
    """Return a result as plain values, without the columns and the data that the question names."""
    plain = result._data if isinstance(result, fg.Exploration) else result.to_dict()
    if "statements" in plain:
        looked = {"looked_at"}
        plain["statements"] = [e for e in plain["statements"] if not looked & {*e["part"]}]
    if "counted" in plain:  # a row of count 0 is read
        plain["counted"] = [each for each in plain["counted"] if each["cases"]]
    question = ("spec", "diagnostics", "models")
    return {key: value for key, value in plain.items() if key not in question}


def same(one: Any, other: Any) -> None:
    assert type(one) is type(other)
    found = differences(without_question(one), without_question(other))
    assert not found, f"{len(found)} differ, such as {found[:4]}"


@cache
def answer(verb: str) -> Any:
    return VERBS[verb](table())


@EVERY_VERB
def test_the_order_of_rows_and_columns_changes_nothing(verb: str) -> None:
    order = np.random.default_rng(7).permutation(len(table()))
    shuffled = table()[order].select(sorted(table().columns, reverse=True))
    same(answer(verb), VERBS[verb](shuffled))


@pytest.mark.each_value
@EVERY_VERB
@pytest.mark.parametrize("engine", ["pandas", "duckdb", "parquet"])
def test_the_engine_changes_nothing(verb: str, engine: str, tmp_path: Path) -> None:
    data: Any = table().to_pandas()
    if engine == "duckdb":
        data = duckdb.from_arrow(table().to_arrow())
    elif engine == "parquet":
        table().write_parquet(data := tmp_path / "rows.parquet")
    same(answer(verb), VERBS[verb](data))


def same_but_for_rows(one: Any, other: Any) -> None:
    """Hold results together of a table and of fewer rows that state how many cases they are."""
    of_writing = (".rows", ".used", ".differences", "keys ['unit']")
    texts = [json.dumps(without_question(each), default=str) for each in (one, other)]
    texts = [text.replace(" cases", " rows").replace('"cases"', '"rows"') for text in texts]
    found = differences(*map(json.loads, texts))
    found = [
        d for d in found if not (d.split(":")[0].endswith(of_writing) or d.endswith(of_writing))
    ]
    assert not found, found[:4]


def repeated() -> pl.DataFrame:
    return table()[np.repeat(np.arange(len(table())), table()["n"].to_numpy())]


@EVERY_VERB
def test_a_count_column_is_repeated_rows(verb: str) -> None:
    same_but_for_rows(VERBS[verb](repeated()), VERBS[verb](table(), count="n"))


@pytest.mark.each_value
@pytest.mark.parametrize("weight", [0.0, None])
@pytest.mark.parametrize("verb", WEIGHTED)
def test_a_count_column_is_repeated_rows_of_weights(verb: str, weight: float | None) -> None:
    """Cases of weight 0 were not stated, and a rule passed that the repeated rows do not decide."""
    place = pl.int_range(pl.len())
    some = (pl.col("group") == "A") & (place % 4 == 0)
    rows = table().with_columns(w=pl.when(some).then(weight).otherwise(1.0 + place % 3))
    apart = rows[np.repeat(np.arange(len(rows)), rows["n"].to_numpy())]
    same_but_for_rows(VERBS[verb](apart, weight="w"), VERBS[verb](rows, count="n", weight="w"))


@pytest.mark.parametrize("verb", ["audit", "find", "thresholds", "why"])
def test_a_row_of_count_0_is_no_row(verb: str) -> None:
    """A group, or a score, that only rows of count 0 have is none."""
    zero = table()[:3].with_columns(group=pl.lit("Z"), second=pl.lit("z"), score=0.999, n=0)
    with_zeros = pl.concat([table(), zero.cast(table().schema)])
    same_but_for_rows(VERBS[verb](table(), count="n"), VERBS[verb](with_zeros, count="n"))


@cache
def doubtful(seed: int) -> pl.DataFrame:
    """Return counts of 0 to 400 cases with values that are missing, undecided or spelt otherwise.

    Every group and stratum has cases.
    """
    rng = np.random.default_rng(seed)
    rows = 48

    def column(begin: list[str | None], shares: dict[str | None, float]) -> list[str | None]:
        drawn = rng.choice(len(shares), rows - len(begin), p=[*shares.values()])
        return begin + [[*shares][i] for i in drawn]

    counted = rng.choice([0, 1, 3, 20, 150, 400], rows)
    counted[:8] = np.maximum(counted[:8], 3)
    groups = {"F": 0.4, "M": 0.4, "F ": 0.08, "Unknown": 0.07, None: 0.05}
    outcomes = {"yes": 0.42, "no": 0.42, "Pending": 0.05, "YES": 0.06, None: 0.05}
    return pl.DataFrame(
        {
            "group": column(["F", "M", "F ", "Unknown", None, "F", "M", "M"], groups),
            "outcome": column([], outcomes),
            "on": column(["2025-03-01"] * 8, {"2025-03-01": 0.75, "2024-03-01": 0.15, None: 0.1}),
            "stratum": column(["x", "y"] * 4, {"x": 0.5, "y": 0.45, None: 0.05}),
            "n": counted,
        }
    )


DOUBTFUL: dict[str, Any] = {
    "prediction": "outcome", "positive": "yes", "where": ["on >= 2025-01-01"],
}  # fmt: skip


def doubtful_audit(data: Any, **more: Any) -> fg.Report:
    return fg.audit(data, **DOUBTFUL, sensitive="group", rules=[RULE], **more)


DOUBTFUL_VERBS: dict[str, Callable[..., Any]] = {
    "audit": doubtful_audit,
    "compare": lambda data, **more: fg.compare(
        doubtful_audit(doubtful(0), count="n"), doubtful_audit(data, **more)
    ),
    "find": lambda data, **more: fg.find(
        data, **DOUBTFUL, sensitive=["group", "stratum"], metrics="selection_rate", **more
    ),
    "why": lambda data, **more: fg.why(
        data, **DOUBTFUL, sensitive="group", strata="stratum", **more
    ),
}  # fmt: skip


def without_unit(plain: Any) -> Any:
    """Return plain values without the words for what their numbers are of."""
    if isinstance(plain, dict):
        kept = {key: value for key, value in plain.items() if key not in ("unit", "message")}
        return {key: without_unit(value) for key, value in kept.items()}
    return [without_unit(each) for each in plain] if isinstance(plain, (list, tuple)) else plain


def judgements(result: Any) -> Any:
    """Return what is warned and noted, and what is decided, with the numbers of both.

    That rows stand several times is warned of rows alone, and rows left out are those of the table.
    """
    plain = without_unit(result.to_dict())
    of_rows = ("doubled_rows", "rows_left_out")
    found = {
        "diagnostics": [e for e in plain["diagnostics"] if e["code"] not in of_rows],
        "exit_code": result.exit_code if hasattr(result, "exit_code") else None,
    }
    kept = ("name", "rule", "metric", "feature", "group", "outcome", "verdict", "reason")
    for part in ("verdicts", "gaps", "worse"):
        if isinstance(listed := plain.get(part), list):
            found[part] = [{key: each[key] for key in kept if key in each} for each in listed]
    return found


@pytest.mark.each_value
@pytest.mark.parametrize("verb", DOUBTFUL_VERBS)
@pytest.mark.parametrize("seed", range(1, 7))
def test_doubtful_rows_of_a_count_are_as_many_as_their_cases(verb: str, seed: int) -> None:
    counted = doubtful(seed)
    rows = counted[np.repeat(np.arange(len(counted)), counted["n"].to_numpy())]
    made = DOUBTFUL_VERBS[verb]
    found = differences(judgements(made(rows)), judgements(made(counted, count="n")))
    assert not found, f"{len(found)} differ, such as {found[:4]}"


def without_sums_of_weights(plain: Any) -> Any:
    """Return a result without the sums of weights that it states beside the numbers of rows."""
    if isinstance(plain, dict):
        kept = {key: value for key, value in plain.items() if "weight" not in key}
        return {key: without_sums_of_weights(value) for key, value in kept.items()}
    return [without_sums_of_weights(each) for each in plain] if isinstance(plain, list) else plain


@pytest.mark.each_value
@pytest.mark.parametrize("verb", WEIGHTED)
@pytest.mark.parametrize("factor", [0.25, 1000.0])
def test_the_scale_of_weights_changes_nothing(verb: str, factor: float) -> None:
    plain, scaled = (
        without_sums_of_weights(without_question(VERBS[verb](data, weight="w")))
        for data in (table(), table().with_columns(pl.col("w") * factor))
    )
    found = differences(plain, scaled)
    assert not found, f"{len(found)} differ, such as {found[:4]}"


@pytest.mark.parametrize("verb", ["audit", "compare", "why", "explore"])
def test_shards_that_are_merged_change_nothing(verb: str) -> None:
    asked = {**QUESTION, "prediction": "prediction", "rules": [RULE]}
    if verb == "why":
        asked |= {"sensitive": "group", "intersections": [], "strata": "second", "rules": []}
    if verb == "explore":
        asked |= {"rules": []}
    whole, *shards = (fg.count(rows, **asked) for rows in (table(), table()[:137], table()[137:]))
    merged = shards[1] + shards[0]
    assert merged == whole
    of_counts: dict[str, Callable[[fg.Cube], Any]] = {
        "audit": fg.audit, "why": fg.why,
        "explore": lambda cube: fg.explore(cube, exact=True),
        "compare": lambda cube: fg.compare(report(table(1)), fg.audit(cube)),
    }  # fmt: skip
    same(answer(verb), of_counts[verb](merged))


@pytest.mark.each_value
@EVERY_VERB
@pytest.mark.parametrize("rows", [1, 3])
def test_the_type_of_a_result_does_not_depend_on_its_input(verb: str, rows: int) -> None:
    """Of almost no rows: a result of the same type whose numbers are missing for a reason."""
    try:
        found = VERBS[verb](table()[:rows])
    except fg.FairgaugeError:  # one clear error, where nothing can be answered
        found = None
    if found is None:
        assert verb in ("thresholds", "compare_models", "why")
    else:
        assert type(found) is type(answer(verb))
        json.dumps(without_question(found), allow_nan=False, default=str)


@pytest.mark.parametrize("verb", ["audit"])
def test_random_draws_have_a_seed_that_the_result_states(verb: str) -> None:
    method = {"method": "bootstrap", "replicates": 40}
    one, again, other = (VERBS[verb](table(), **method, seed=seed) for seed in (5, 5, 6))
    same(one, again)
    assert differences(without_question(one), without_question(other))
    plain = one.to_dict()
    assert plain.get("spec", plain)["seed"] == 5


PUBLISHED = [
    ("A", 200, 90, "45%", "0.75"),
    ("B", 150, 90, "60%", "1.00"),
    ("C", 90, 18, "22%", "0.33"),
]
"""Groups, people, selected people, and the rate and the ratio that are printed, of C too high."""
HEAD = ("Group", "n", "Selected", "Selection rate", "Impact ratio")


def as_csv(rows: list[tuple[Any, ...]]) -> str:
    return "\n".join(",".join(map(str, line)) for line in [HEAD, *rows]) + "\n"


def as_html(rows: list[tuple[Any, ...]]) -> str:
    cells = ["".join(f"<td>{cell}</td>" for cell in line) for line in [HEAD, *rows]]
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in cells)}</table>"
