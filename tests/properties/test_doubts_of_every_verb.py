"""A planted mistake leaves no pass of any verb, changes no number, and is closed by `accept`.

A fail stays a fail. One table, one question for each verb, and one mistake for each check.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.cube.plan import CODES
from fairgauge.enums import CandidateVerdict, DiagnosticCode, Outcome
from fairgauge.results.name_swaps import SwapVerdict

N = 8_000
OUTCOMES = {"label": "y", "positive": "yes"}
ASKED = OUTCOMES | {"sensitive": "g"}
RULE = "selection_rate.ratio >= 0.7"
NOT_OF_NUMBERS = {
    "created", "diagnostics", "doubts", "findings", "fingerprint", "spec", "reason", "goal_reason",
    "kept_reason", "statements",
}  # fmt: skip
"""Why something is so, and what was asked: words, and the rows that they state."""


def words(values: list[int]) -> list[str]:
    return ["yes" if each else "no" for each in values]


@cache
def table(selected: int = 16) -> pl.DataFrame:
    """Return rows of two groups: the candidate treats them alike, the model in use nearly so.

    Of group b, one in ``selected`` more is not selected.
    """
    g, y = ["ab"[i % 2] for i in range(N)], [i // 2 % 2 for i in range(N)]
    p = [1 - label if i % 11 == 0 else label for i, label in enumerate(y)]
    p = [0 if i % selected == 3 else each for i, each in enumerate(p)]
    c = [1 - label if i % 41 == 0 else label for i, label in enumerate(y)]
    return pl.DataFrame(
        {
            "g": g,
            "h": ["xyz"[i // 4 % 3] for i in range(N)],
            "y": words(y), "p": words(p), "c": words(c),
            "s": [(0.7 if each else 0.3) + 0.002 * (i % 97) for i, each in enumerate(c)],
        }
    )  # fmt: skip


def of_audit(rows: pl.DataFrame, **more: Any) -> Any:
    return fg.audit(rows, prediction="p", **ASKED | {"rules": RULE} | more)


def of_strata(rows: pl.DataFrame, **more: Any) -> Any:
    return of_audit(rows, strata="h", rules="|CDDPL| <= 0.2", **more)


def of_reports(rows: pl.DataFrame, **more: Any) -> Any:
    halves = np.random.default_rng(3).random(len(rows)) < 0.5
    return fg.compare(*(of_audit(rows.filter(pl.Series(of)), **more) for of in (halves, ~halves)))


def of_models(rows: pl.DataFrame, **more: Any) -> Any:
    margins = {"accuracy": 0.02, "disparity": 0.05}
    return fg.compare_models(rows, prediction="p", candidate="c", margins=margins, **ASKED | more)


def of_gaps(rows: pl.DataFrame, **more: Any) -> Any:
    asked = {"metrics": "selection_rate.difference", "margins": {"selection_rate": 0.2}}
    return fg.why(rows, prediction="p", **{"strata": "h"} | asked | ASKED | more)


def of_thresholds(rows: pl.DataFrame, **more: Any) -> Any:
    asked = {"rules": "true_positive_rate.ratio >= 0.7", "margins": {"accuracy": 0.05}}
    return fg.thresholds(rows, score="s", threshold=0.5, **asked | ASKED | more)


def of_search(rows: pl.DataFrame, **more: Any) -> Any:
    asked = {"sensitive": ["g", "h"]} | more
    return fg.find(rows, prediction="p", metrics="accuracy", **OUTCOMES | asked)


def of_monitor(rows: pl.DataFrame, **more: Any) -> Any:
    asked = ASKED | {"prediction": "p"} | more
    mixed = rows.sample(fraction=1, shuffle=True, seed=7)
    days = {f"2026-03-{day + 2:02d}": fg.count(mixed[day::20], **asked) for day in range(20)}
    return fg.monitor(days, asked | {"monitor": {"rules": [RULE]}})


def of_pairs(rows: pl.DataFrame, **more: Any) -> Any:
    """Each item has eight names of either group; which row is whose answer is drawn.

    A group that is neither is written in place of that of three names of group a.
    """
    other = next((each for each in rows["g"].unique() if each not in "ab"), "a")
    mixed = pl.concat([part.sample(fraction=1, shuffle=True, seed=7)
                       for part in (rows[::2], rows[1::2])])  # fmt: skip
    half = N // 2
    answers = mixed.with_columns(item=pl.int_range(pl.len()) % half // 8).with_columns(
        name=pl.concat_str(pl.Series(["a"] * half + ["b"] * half), pl.int_range(pl.len()) % 8),
        g=pl.Series(["a"] * half + ["b"] * half),
    )
    answers = answers.with_columns(
        g=pl.when(pl.col("name").is_in(["a0", "a1", "a2"])).then(pl.lit(other)).otherwise("g")
    )
    return fg.pairs(answers, item="item", variant="name", sensitive="g", prediction="p",
                    positive="yes", margins={"selection_rate": 0.2}, **more)  # fmt: skip


VERBS: dict[str, tuple[Callable[..., Any], Callable[[Any], bool]]] = {
    "audit": (of_audit, lambda made: made.verdict is Outcome.PASS),
    "strata": (of_strata, lambda made: made.verdict is Outcome.PASS),
    "compare": (of_reports, lambda made: made.exit_code == 0),
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
        ("audit", "compare", "compare_models", "why", "thresholds", "find", "monitor", "pairs"),
    ),
    "a group in two spellings": (
        DiagnosticCode.SAME_NAMES, "g", planted("g", "A ", "a"),
        ("audit", "compare", "compare_models", "why", "thresholds", "find", "monitor", "pairs"),
    ),
    "a stratum of all": (DiagnosticCode.STRATUM_OF_TOTAL, "h", planted("h", "Total"), ("why",)),
    "a stratum that one group lacks": (
        DiagnosticCode.MISSING_STRATA, "h",
        lambda rows: rows.with_columns(pl.when(~(pl.int_range(N) % 10).is_in([1, 3])).then("h")),
        ("why",),
    ),
    "a stratum that rows of one outcome lack": (
        DiagnosticCode.MISSING_STRATA, "h",
        lambda rows: rows.with_columns(pl.when(
            (pl.col("g") == "a") | (pl.col("p") == "yes") | (pl.int_range(N) % 5 > 0)
        ).then("h")),
        ("why", "strata"),
    ),
    "a stratum that is the outcome": (
        DiagnosticCode.STRATUM_IS_OUTCOME, "h", lambda rows: rows.with_columns(h="p"), ("why",),
    ),
    "a feature that is none": (
        DiagnosticCode.MISSING_MARKER, "h", planted("h", "N/A"), ("find",),
    ),
    "a stratum in two spellings": (
        DiagnosticCode.SAME_NAMES, "h", planted("h", "X ", "x"), ("why",),
    ),
    "decisions that are none": (
        DiagnosticCode.UNDECIDED_OUTCOMES, "p", planted("p", "Pending", "no"),
        ("audit", "compare", "compare_models", "why", "find", "monitor", "pairs"),
    ),
    "a total among the groups": (
        DiagnosticCode.MISSING_MARKER, "g", planted("g", "Total"), ("why", "monitor", "pairs"),
    ),
    "decisions of a candidate that are none": (
        DiagnosticCode.UNDECIDED_OUTCOMES, "c", planted("c", "Pending", "no"),
        ("compare_models",),
    ),
    "labels that are none": (
        DiagnosticCode.UNDECIDED_OUTCOMES, "y", planted("y", "Open claim", "no"),
        ("compare", "compare_models", "thresholds", "find"),
    ),
    "a candidate that is the label": (
        DiagnosticCode.PREDICTION_IS_LABEL, "c", lambda rows: rows.with_columns(c="y"),
        ("compare_models",),
    ),
    "a candidate that is the label in other words": (
        DiagnosticCode.PREDICTION_IS_LABEL, "c",
        lambda rows: rows.with_columns(y=pl.col("c").replace({"no": "rejected"})),
        ("compare_models",),
    ),
    "labels of one kind": (
        DiagnosticCode.ONE_LABEL, "y", lambda rows: rows.with_columns(y=pl.lit("yes")),
        ("compare_models",),
    ),
    "labels of one group that are its predictions": (
        DiagnosticCode.PREDICTION_IS_LABEL, "g",
        lambda rows: rows.with_columns(y=pl.when(pl.col("g") == "a").then("p").otherwise("y")),
        ("find", "monitor"),
    ),
    "predictions that no label has": (
        DiagnosticCode.PREDICTION_NOT_A_LABEL, "p", planted("p", "no later", "no"),
        ("audit", "compare", "compare_models", "why", "find", "monitor"),
    ),
    "predictions that state the opposite": (
        DiagnosticCode.REVERSED_PREDICTIONS, "p",
        lambda rows: rows.with_columns(y=pl.col("y").replace({"no": "yes", "yes": "no"})),
        ("audit", "compare", "monitor"),
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
    doubted = ask(rows)
    said = " ".join(map(str, getattr(doubted, "diagnostics", [f"--accept {code}:{column}"])))
    offered = re.findall(r"--accept ([\w:]+)", said)
    accepted = ask(rows, accept=offered)
    assert not passes(doubted)
    assert f"{code}:{column}" in offered
    assert passes(accepted)
    if (verb, code) == ("why", DiagnosticCode.MISSING_STRATA):  # a regression is shown, too
        assert {*numbers(accepted)} >= {*numbers(doubted)}
    else:
        assert numbers(accepted) == numbers(doubted)


STANDS_ON = {
    "audit": "gp", "strata": "ghp", "compare": "gpy", "compare_models": "gpcy", "why": "ghp",
    "thresholds": "gys", "find": "ghyp", "monitor": "gp", "pairs": "gp",
}  # fmt: skip


@pytest.mark.each_value
@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("verb", STANDS_ON)
def test_no_doubt_that_is_stated_as_open_leaves_a_pass(verb, mistake):
    """Of columns that its question stands on, and not of few rows; a copy is of both outcomes."""
    ask, passes = VERBS[verb]
    made = ask(MISTAKES[mistake][2](table()))
    stated = (d for d in getattr(made, "doubts", ()) if d.column in STANDS_ON[verb])
    found = [d for d in stated if not d.accepted and (d.share is None or d.share > 0.02)]
    if "y" not in STANDS_ON[verb]:
        found = [d for d in found if d.code is not DiagnosticCode.PREDICTION_IS_LABEL]
    assert not (found and passes(made))


@pytest.mark.parametrize("verb", ["audit", "compare", "compare_models", "thresholds", "monitor"])
def test_a_harm_that_is_taken_as_favourable_leaves_no_pass(verb):
    ask, passes = VERBS[verb]
    rows = table().with_columns(pl.col("y", "p", "c").replace("yes", "Denied"))
    answers = {"accept": "unfavourable_positive"}, {"favourable": "positive"}
    doubted, accepted, stated = (ask(rows, positive="Denied", **more) for more in ({}, *answers))
    assert (passes(doubted), passes(accepted), passes(stated)) == (False, True, True)
    assert numbers(accepted) == numbers(doubted)
    assert "favourable outcome" not in str(doubted).split("looks like")[0]


@pytest.mark.parametrize("turn", [1, -1])
def test_a_doubt_of_one_report_leaves_a_comparison_open(turn):
    """Few rows in doubt do not, nor do labels that nothing compared needs; what is worse stays."""
    base = of_audit(table()[:-2], metrics="selection_rate.ratio")
    for column, value, share, code in (
        ("p", "Pending", 0.08, 3), ("p", "Pending", 0.002, 0), ("y", "Open claim", 0.08, 0),
    ):  # fmt: skip
        rows = planted(column, value, "no", share)(table())
        both = base, of_audit(rows, metrics="selection_rate.ratio")
        assert fg.compare(*both[::turn]).exit_code == code
    assert fg.compare(base, of_audit(planted("g", "N/A")(table(4)))).exit_code == 1


@pytest.mark.parametrize("reference", [{"g": "b"}, "largest"])
@pytest.mark.parametrize("verb", ["audit", "thresholds"])
def test_no_pass_stands_on_a_reference_that_would_fail(verb, reference):
    """Of group b, the larger one, a half as many are accepted: seen from b, group a never fails."""
    harmed = (pl.col("g") == "b") & (pl.int_range(pl.len()) % 8 == 3)
    rows = table().with_columns(
        p=pl.when(harmed).then(pl.lit("no")).otherwise("p"),
        s=pl.when(harmed).then(0.3).otherwise("s"),
    )[100:]
    rows = rows.filter((pl.col("g") == "b") | (pl.int_range(pl.len()) % 50 > 0))
    ask, passes = VERBS[verb]
    asked = {"reference": reference, "rules": RULE, "favourable": "positive"}
    asked |= {"margins": {"accuracy": 0.5}} if verb == "thresholds" else {}
    doubted, accepted = (ask(rows, **asked, accept=of) for of in ([], "reference_decides:g"))
    assert not passes(doubted)
    assert passes(accepted)
    assert numbers(accepted) == numbers(doubted)
    assert "reference_decides" in {each.code for each in doubted.doubts}


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


def with_ages(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows with ages from 18 to 77: those of group b are above 40."""
    i = pl.int_range(pl.len())
    of_b = pl.col("g") == "b"
    return rows.with_columns(age=pl.when(of_b).then(41 + i % 37).otherwise(18 + i % 23))


AGED = ("audit", "compare_models", "why", "thresholds", "monitor")
BANDS = {"sensitive": [fg.cut("age", [40])]}


def with_codes(code: int | str) -> pl.DataFrame:
    number = 2024 - pl.col("age") if code == "year of birth" else pl.lit(code)
    some = pl.lit(pl.Series(np.random.default_rng(68).random(N) < 0.08))
    return with_ages(table()).with_columns(age=pl.when(some).then(number).otherwise("age"))


def test_no_code_in_a_column_that_is_cut_passes():
    codes = {*CODES} - {9}  # which is an age
    assert not [code for code in codes if VERBS["audit"][1](of_audit(with_codes(code), **BANDS))]


def test_codes_among_the_scores_of_a_candidate_leave_no_pass():
    i, in_use = pl.int_range(pl.len()), pl.when(pl.col("p") == "yes").then(0.7).otherwise(0.3)
    rows = table(8).with_columns(u=in_use, t=pl.when(i % 12 == 4).then(-9.0).otherwise("s"))
    asked = OUTCOMES | {"score": "u", "threshold": 0.5, "score_range": [-9, 1], "sensitive": "g"}
    asked |= {"candidate": "t", "margins": {"accuracy": 0.05, "disparity": 0.1}}
    doubted, accepted = (
        fg.compare_models(rows, **asked, accept=of) for of in ([], "coded_numbers:t")
    )
    assert doubted["t"].verdict is CandidateVerdict.CANNOT_TELL
    assert accepted["t"].verdict is CandidateVerdict.DOMINATES
    assert numbers(accepted) == numbers(doubted)


@pytest.mark.each_value
@pytest.mark.parametrize("code", [-9, 999, "year of birth"])
@pytest.mark.parametrize("verb", AGED)
def test_codes_in_a_column_that_is_cut_leave_no_pass(verb, code):
    """Whatever engine counts them, and of counts as of rows; ages themselves are no codes."""
    ask, passes = VERBS[verb]
    assert passes(ask(with_ages(table()), **BANDS))
    coded = with_codes(code)
    doubted = ask(coded, **BANDS)
    accepted = ask(coded, **BANDS, accept="coded_numbers:age")
    assert not passes(doubted)
    assert passes(accepted) or code == -9  # such an age is in no band, and may be of any
    assert numbers(accepted) == numbers(doubted)
    if verb == "audit":
        counts = fg.count(coded, prediction="p", rules=RULE, **ASKED | BANDS)
        for data in (counts, coded.to_pandas(), coded.to_arrow()):
            again = fg.audit(data, prediction="p", rules=RULE, **ASKED | BANDS)
            assert again.diagnostics == doubted.diagnostics
        cleared = ask(with_codes(-9), **BANDS, recode={"age": {"unknown": [-9]}})
        assert "coded_numbers" not in {each.code for each in cleared.diagnostics}


@pytest.mark.parametrize(("verb", "asked"), [
    ("why", {"strata": BANDS["sensitive"]}), ("find", {"sensitive": ["g", *BANDS["sensitive"]]}),
    ("why", {"controls": BANDS["sensitive"]}),
])  # fmt: skip
def test_codes_in_strata_and_searched_features_leave_no_pass(verb, asked):
    ask, passes = VERBS[verb]
    i = pl.int_range(pl.len())
    rows = table().with_columns(age=pl.when(i % 7 < 6).then(20 + i % 51).otherwise(-9))
    assert not passes(ask(rows, **asked))
    assert passes(ask(rows, **asked, accept="coded_numbers:age"))


@pytest.mark.parametrize("values", [
    lambda rng: rng.integers(-9, 10, N), lambda rng: rng.normal(0, 3, N).round(2),
    lambda rng: rng.choice([-1, 1], N), lambda rng: rng.integers(0, 1_000, N),
    lambda rng: rng.integers(1_890, 2_030, N), lambda rng: rng.lognormal(8, 1, N).round(),
])  # fmt: skip
def test_numbers_of_a_scale_are_no_codes(values):
    rng = np.random.default_rng(7)
    rows = table().with_columns(x=pl.Series(values(rng)))
    for cut in ([0], [1, 5], [40, 60], [500], [1_950], [2_000, 5_000]):
        found = of_audit(rows, sensitive=[fg.cut("x", cut)])
        assert "coded_numbers" not in {each.code for each in found.diagnostics}


LEFT = [(verb, 0) for verb in ("audit", "compare_models", "why", "thresholds", "monitor")]


@pytest.mark.parametrize(("verb", "left"), [*LEFT, ("audit", 5), ("why", 5)])
def test_a_condition_that_removes_a_group_leaves_no_pass(verb, left):
    """Nor one that leaves five of its rows; nor do counts forget it, nor shards that are added."""
    ask, passes = VERBS[verb]
    of_group = np.random.default_rng(2).random(N) < 0.1
    some, out = (
        pl.lit(pl.Series(each)) for each in (of_group, of_group & (of_group.cumsum() > left))
    )
    rows = table().with_columns(g=pl.when(some).then(pl.lit("c")).otherwise("g"), k=out)
    chosen = {"where": "k = false"}
    doubted = ask(rows, **chosen)
    assert not passes(doubted)
    accepted = ask(rows, **chosen, accept="groups_left_out:g")
    assert passes(accepted) or left
    assert numbers(accepted) == numbers(doubted)
    if verb == "audit":
        (found,) = (d for d in doubted.diagnostics if d.code == "groups_left_out")
        assert (found["groups"], found["rows"]) == (("c",), int(rows["k"].sum()))
        assert "c" in str(doubted)
        asked = {"prediction": "p", "rules": RULE} | ASKED | chosen
        halves = fg.count(rows[::2], **asked), fg.count(rows[1::2], **asked)
        for data in (fg.count(rows, **asked), halves[0].add(halves[1], allow_duplicates=True)):
            assert fg.audit(data, **asked).verdict is Outcome.INCONCLUSIVE
        stated = of_audit(rows, where="g != c")
        assert stated.verdict is Outcome.PASS
        assert "groups_left_out" in {each.code for each in stated.diagnostics}


@pytest.mark.each_value
@pytest.mark.parametrize("share", [1.0, 0.95, 0.6])
@pytest.mark.parametrize("verb", ["audit", "compare_models", "why", "thresholds", "find"])
def test_copied_rows_leave_no_pass(verb, share):
    ask, passes = VERBS[verb]
    once = table().with_columns(x=pl.Series(np.random.default_rng(3).random(N)))
    assert passes(ask(once))
    again = once.filter(pl.Series(np.random.default_rng(5).random(N) <= share))
    copied = pl.concat([once, again])
    doubted = ask(copied)
    assert not passes(doubted)
    assert passes(ask(copied, accept="doubled_rows"))
    if verb == "audit":
        counts = fg.count(copied, prediction="p", rules=RULE, **ASKED)
        assert fg.audit(counts).verdict is Outcome.INCONCLUSIVE


def test_few_combinations_of_values_are_no_copies():
    """Of two columns every row stands many times; their numbers may be rounded, or balanced."""
    rng = np.random.default_rng(4)
    for times in (2, 5, 25):
        groups = [f"g{i}" for i in range(20)]
        counts = [(g, y, times * int(rng.integers(4, 40))) for g in groups for y in ("yes", "no")]
        if times == 2:
            counts = [(g, y, 50) for g, y, _ in counts]
        every = [(g, y) for g, y, n in counts for _ in range(n)]
        rows = pl.DataFrame(every, ["g", "p"], orient="row")
        found = fg.audit(rows, prediction="p", positive="yes", sensitive="g")
        assert "doubled_rows" not in {each.code for each in found.diagnostics}


OWN_WORDS = ["N/A", "Total", "Pending", "Unbekannt", "non renseigné", "rechazado", "Open", "9"]
"""Words that checks know, of every meaning and language; all are names as any other for numbers."""


@pytest.mark.each_value
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


@pytest.mark.parametrize("verb", AGED)
def test_rows_that_weigh_nothing_leave_no_pass(verb):
    """Half of those of one group that are refused weigh 0, in every period as in some."""
    ask, passes = VERBS[verb]
    none = (pl.col("g") == "b") & (pl.col("y") == "no") & (pl.int_range(pl.len()) % 16 < 8)
    rows = table().with_columns(w=pl.when(none).then(0.0).otherwise(1.0))
    assert passes(ask(rows.with_columns(w=pl.lit(1.0)), weight="w"))
    assert not passes(ask(rows, weight="w"))


def of_f1(rows: pl.DataFrame, **more: Any) -> Any:
    return fg.audit(rows, prediction="p", rules="|f1_score.difference| <= 0.5", **ASKED | more)


WEIGHED = VERBS | {"audit": (of_f1, VERBS["audit"][1])}
"""Of F1 there is no worst case."""


@pytest.mark.parametrize(("verb", "lacking"), [
    ("audit", "g"), ("audit", "y"), ("why", "g"), ("thresholds", "g"), ("thresholds", "y"),
    ("monitor", "g"),
])  # fmt: skip
def test_few_missing_values_matter_by_what_they_weigh(verb, lacking):
    """One row in 600, which weighs 400: exit 0, as though it were one in 600.

    These are yes with a score below the threshold: a group of theirs would have lower rates.
    """
    ask, passes = WEIGHED[verb]
    missed = (pl.col("y") == "yes") & (pl.col("s") < 0.5)
    lacks = pl.when(~(few := missed & (missed.cum_sum() % 7 == 1))).then(lacking)
    rows, heavy = (
        table().with_columns(lacks, w=pl.when(few).then(weight).otherwise(1.0))
        for weight in (1.0, 400.0)
    )
    assert passes(ask(rows, weight="w"))
    assert not passes(ask(heavy, weight="w"))


@pytest.mark.parametrize("verb", [verb for verb, _ in LEFT])
def test_a_value_spelt_nearly_as_one_of_a_condition_leaves_no_pass(verb):
    """Nor do counts forget it; a value that is recoded to itself is another one."""
    ask, passes = VERBS[verb]
    code = np.random.default_rng(2).choice(["1", " 1", "01", "2"], N, p=[0.8, 0.08, 0.08, 0.04])
    rows = table().with_columns(code=pl.Series(code))
    for condition in ("code = 1", "code != 1"):
        assert not passes(ask(rows, where=condition))
    for condition, recode in (
        ('code = 1 or " 1" or 01', {}), ("code = 1", {"code": {"1": ["1", " 1", "01"]}}),
        ("code = 1", {"code": {" 1": " 1", "01": "01"}}),
    ):  # fmt: skip
        assert passes(ask(rows, where=condition, recode=recode))
    if verb == "audit":
        asked = {"prediction": "p", "rules": RULE} | ASKED | {"where": "code = 1"}
        found = fg.audit(fg.count(rows, **asked), **asked)
        notes = [each for each in found.diagnostics if each.code == "alike_condition"]
        assert [each["condition"] for each in notes] == ['code = " 1"', "code = 01"]
        assert [each["rows"] for each in notes] == [sum(code == " 1"), sum(code == "01")]


@pytest.mark.parametrize(
    "verb", ["audit", "compare_models", "why", "thresholds", "find", "monitor"]
)
def test_no_pass_stands_on_a_code_that_meets_a_condition(verb):
    """``age >= 18`` held for 999, "not known", and passed without a word of it."""
    ask, passes = VERBS[verb]
    assert passes(ask(with_ages(table()), where="age >= 18"))
    rows = with_codes(999)
    doubted, accepted = (
        ask(rows, where="age >= 18", accept=of) for of in ([], "coded_numbers:age")
    )
    assert not passes(doubted)
    assert passes(accepted)
    assert numbers(accepted) == numbers(doubted)
