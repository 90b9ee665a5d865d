"""A planted mistake leaves no pass of any verb, changes no number, and is closed by `accept`.

A fail stays a fail. One table, one question for each verb, and one mistake for each check.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import CandidateVerdict, DiagnosticCode, Outcome
from fairgauge.results.name_swaps import SwapVerdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

N = 8_000
OUTCOMES = {"label": "y", "positive": "yes"}
ASKED = OUTCOMES | {"sensitive": "g"}
RULE = "selection_rate.ratio >= 0.7"
NOT_OF_NUMBERS = {
    "created", "diagnostics", "findings", "fingerprint", "spec", "reason", "goal_reason",
    "kept_reason",
}  # fmt: skip
"""Why something is so, and what was asked: words, and the rows that they state."""


def words(values: list[int]) -> list[str]:
    return ["yes" if each else "no" for each in values]


def table(selected: int = 16) -> pl.DataFrame:
    """Return rows of two groups: the candidate treats them alike, the model in use nearly so.

    Of group b, one in ``selected`` more is not selected.
    """
    g, y = ["ab"[i % 2] for i in range(N)], [i // 2 % 2 for i in range(N)]
    p = [1 - label if i % 10 == 0 else label for i, label in enumerate(y)]
    p = [0 if i % selected == 3 else each for i, each in enumerate(p)]
    c = [1 - label if i % 40 == 0 else label for i, label in enumerate(y)]
    return pl.DataFrame(
        {
            "g": g,
            "h": ["xyz"[i // 4 % 3] for i in range(N)],
            "y": words(y),
            "p": words(p),
            "c": words(c),
            "s": [(0.7 if each else 0.3) + 0.002 * (i % 97) for i, each in enumerate(c)],
        }
    )


def of_audit(rows: pl.DataFrame, **more: Any) -> Any:
    return fg.audit(rows, prediction="p", rules=RULE, **ASKED, **more)


def of_models(rows: pl.DataFrame, **more: Any) -> Any:
    margins = {"accuracy": 0.02, "disparity": 0.05}
    return fg.compare_models(rows, prediction="p", candidate="c", margins=margins, **ASKED, **more)


def of_gaps(rows: pl.DataFrame, **more: Any) -> Any:
    asked = {"metrics": "selection_rate.difference", "margins": {"selection_rate": 0.2}}
    return fg.why(rows, prediction="p", strata="h", **asked, **ASKED, **more)


def of_thresholds(rows: pl.DataFrame, **more: Any) -> Any:
    asked = {"rules": "true_positive_rate.ratio >= 0.7", "margins": {"accuracy": 0.05}}
    return fg.thresholds(rows, score="s", threshold=0.5, **asked, **ASKED, **more)


def of_search(rows: pl.DataFrame, **more: Any) -> Any:
    return fg.find(rows, prediction="p", features=["g", "h"], rate="accuracy", **OUTCOMES, **more)


def of_monitor(rows: pl.DataFrame, **more: Any) -> Any:
    asked = ASKED | {"prediction": "p"} | more
    mixed = rows.sample(fraction=1, shuffle=True, seed=7)
    days = {f"2026-03-{day + 2:02d}": fg.count(mixed[day::20], **asked) for day in range(20)}
    return fg.monitor(days, asked | {"monitor": {"rules": [RULE]}})


def of_pairs(rows: pl.DataFrame, **more: Any) -> Any:
    """Each item has four names of either group; which row is whose answer is drawn."""
    mixed = pl.concat([part.sample(fraction=1, shuffle=True, seed=7)
                       for part in (rows[::2], rows[1::2])])  # fmt: skip
    half = N // 2
    answers = mixed.with_columns(item=pl.int_range(pl.len()) % half // 4).with_columns(
        name=pl.concat_str(pl.Series(["a"] * half + ["b"] * half), pl.int_range(pl.len()) % 4),
        g=pl.Series(["a"] * half + ["b"] * half),
    )
    return fg.pairs(answers, item="item", variant="name", sensitive="g", prediction="p",
                    positive="yes", margins={"selection_rate": 0.2}, **more)  # fmt: skip


VERBS: dict[str, tuple[Callable[..., Any], Callable[[Any], bool]]] = {
    "audit": (of_audit, lambda made: made.verdict is Outcome.PASS),
    "compare_models": (
        of_models,
        lambda made: made["c"].verdict
        in (CandidateVerdict.DOMINATES, CandidateVerdict.BETTER_WHERE_TESTED),
    ),
    "why": (of_gaps, lambda made: all(gap.verdict.is_pass for gap in made.gaps)),
    "thresholds": (
        of_thresholds, lambda made: all(each.outcome is Outcome.PASS for each in made.features)
    ),
    "find": (of_search, lambda made: not made.lacks_outcomes),
    "monitor": (of_monitor, lambda made: made.verdict is Outcome.PASS),
    "pairs": (of_pairs, lambda made: made.verdict is SwapVerdict.EQUIVALENT),
}  # fmt: skip
"""What each verb asks, and whether it comes to what shows that nothing is wrong."""


def planted(column: str, value: str, instead_of: str | None = None, share: float = 0.08) -> Any:
    """Return what writes a value into some rows, of those that hold another one."""

    def plant(rows: pl.DataFrame) -> pl.DataFrame:
        at = pl.lit(pl.Series(np.random.default_rng(68).random(N) < share))
        if instead_of is not None:
            at &= pl.col(column) == instead_of
        value_or_given = pl.when(at).then(pl.lit(value)).otherwise(pl.col(column))
        return rows.with_columns(value_or_given.alias(column))

    return plant


MISTAKES: dict[str, tuple[DiagnosticCode, str, Any, tuple[str, ...]]] = {
    "a group that is none": (
        DiagnosticCode.MISSING_MARKER, "g", planted("g", "Unknown"),
        ("audit", "compare_models", "why", "thresholds", "monitor"),
    ),
    "a group in two spellings": (
        DiagnosticCode.SAME_NAMES, "g", planted("g", "A ", "a"),
        ("audit", "compare_models", "why", "thresholds", "monitor"),
    ),
    "decisions that are none": (
        DiagnosticCode.UNDECIDED_OUTCOMES, "p", planted("p", "Pending", "no"),
        ("audit", "compare_models", "why", "find", "monitor", "pairs"),
    ),
    "decisions of a candidate that are none": (
        DiagnosticCode.UNDECIDED_OUTCOMES, "c", planted("c", "Pending", "no"),
        ("compare_models",),
    ),
    "labels that are none": (
        DiagnosticCode.UNDECIDED_OUTCOMES, "y", planted("y", "Open claim", "no"),
        ("compare_models", "thresholds", "find"),
    ),
    "a candidate that is the label": (
        DiagnosticCode.PREDICTION_IS_LABEL, "c", lambda rows: rows.with_columns(c="y"),
        ("compare_models",),
    ),
    "predictions that no label has": (
        DiagnosticCode.PREDICTION_NOT_A_LABEL, "p", planted("p", "maybe", "no"),
        ("audit", "compare_models", "why", "find"),
    ),
}  # fmt: skip
CASES = [(verb, mistake) for mistake, of in MISTAKES.items() for verb in of[3]]


def numbers(made: Any) -> list[tuple[tuple[object, ...], float]]:
    """Return every number of what a result saves, with where it stands."""

    def walk(part: Any, path: tuple[object, ...]) -> Iterator[tuple[tuple[object, ...], float]]:
        if isinstance(part, dict):
            for key, value in part.items():
                if key not in NOT_OF_NUMBERS:
                    yield from walk(value, (*path, key))
        elif isinstance(part, list):
            for i, value in enumerate(part):
                yield from walk(value, (*path, i))
        elif isinstance(part, int | float) and not isinstance(part, bool):
            yield path, part

    return [*walk(made.to_dict(), ())]


@pytest.mark.parametrize("verb", VERBS)
def test_rows_without_a_mistake_pass(verb):
    ask, passes = VERBS[verb]
    assert passes(ask(table()))


@pytest.mark.parametrize(
    ("verb", "mistake"), CASES, ids=[f"{verb}: {mistake}" for verb, mistake in CASES]
)
def test_a_planted_mistake_leaves_no_pass_until_it_is_accepted(verb, mistake):
    ask, passes = VERBS[verb]
    code, column, plant, _ = MISTAKES[mistake]
    rows = plant(table())
    doubted, accepted = ask(rows), ask(rows, accept=f"{code}:{column}")
    assert not passes(doubted)
    assert passes(accepted)
    assert numbers(accepted) == numbers(doubted)


@pytest.mark.parametrize("mistake", [name for name, of in MISTAKES.items() if "audit" in of[3]])
def test_a_fail_stays_a_fail(mistake):
    code, _, plant, _ = MISTAKES[mistake]
    rows = table().with_columns(
        p=pl.when((pl.col("g") == "b") & (pl.int_range(pl.len()) % 3 > 0))
        .then(pl.lit("no")).otherwise("p")
    )  # fmt: skip
    assert of_audit(rows).verdict is Outcome.FAIL
    found = of_audit(plant(rows))
    assert code in {each.code for each in found.diagnostics}
    assert found.verdict is Outcome.FAIL


OWN_WORDS = ["N/A", "Total", "Pending", "Unbekannt", "non renseigné", "rechazado", "Open", "9"]
"""Words that checks know, of every meaning and language; all are names as any other for numbers."""


@pytest.mark.parametrize("word", OWN_WORDS)
@pytest.mark.parametrize(("column", "value"), [("g", "a"), ("h", "y"), ("p", "no"), ("y", "no")])
def test_a_word_that_checks_know_changes_no_number(column, value, word):
    """Group, stratum and outcome; of the larger group also as the reference."""
    for reference in ("others", "largest", "best"):
        assert every_number(reference, column, value, word) == every_number(reference)


@cache
def every_number(reference: str, column: str = "g", value: str = "", word: str = "") -> Any:
    """Return the numbers of an audit in which a value has another name, in order of size."""
    rows = table().filter((pl.col("g") == "a") | (pl.int_range(pl.len()) % 3 > 0))
    also = ["y"] * (column == "p")  # one name of both outcomes
    called = rows.with_columns(pl.col(column, *also).replace(value, word))
    found = fg.audit(called, prediction="p", rules=RULE, strata="h", reference=reference, **ASKED)
    return sorted(number for _, number in numbers(found))
