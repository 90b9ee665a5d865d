"""Groups that nobody recorded, in every verb: it works, or refuses by name and says what to do.

A command that is new has to be entered here.
"""

from itertools import product
from typing import Any

import click
import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.cli import main

GROUPS = {"Black": "p_black", "White": "p_white", "other": "p_other"}
GIVEN = f"race: {', '.join(f'{group}={column}' for group, column in GROUPS.items())}"
ASKED = ("--prediction", "chosen", "--positive", "1", "--probabilities", GIVEN)
QUESTION: dict[str, Any] = {"prediction": "chosen", "positive": 1}
MONITOR = """prediction = "chosen"
positive = 1
[[sensitive]]
name = "race"
probabilities = {Black = "p_black", White = "p_white", other = "p_other"}
[monitor]
rules = ["selection_rate.difference >= -0.05"]
"""

COMMANDS: dict[str, tuple[tuple[str, ...], str]] = {
    "audit": (("audit", "rows.csv", *ASKED), ""),
    "validate": (("validate", "rows.csv", *ASKED), ""),
    "count": (("count", "rows.csv", *ASKED, "-o", "made.cube.json"), ""),
    "merge": (("merge", "one.cube.json", "two.cube.json", "-o", "sum.cube.json"), ""),
    "protect": (("protect", "one.cube.json", "--min-cell", "5", "-o", "safe.cube.json"),
                "share the report instead"),
    "render": (("render", "report.json"), ""),
    "seal": (("seal", "report.json", "one.cube.json", "-o", "made.fairgauge"), ""),
    "verify": (("verify", "sealed.fairgauge"), ""),
    "choose": (("choose", "--model", "decision", "--outcomes", "none", "--prediction", "chosen",
                "--positive", "1", "--probabilities", GIVEN, "-o", "made.toml"), ""),
    "compare": (("compare", "report.json", "report.json"), "hold both against the same rules"),
    "compare-models": (("compare-models", "rows.csv", *ASKED, "--candidate", "other"),
                       "audit the decisions of each model by itself"),
    "alternatives": (("alternatives", "rows.csv", *ASKED, "--candidate", "other"),
                     "audit the decisions of each model by itself"),
    "thresholds": (("thresholds", "rows.csv", "--label", "other", "--score", "score",
                    "--threshold", "0.5", "--positive", "1", "--probabilities", GIVEN,
                    "--rule", "DI >= 0.8"),
                   "audit the feature alone"),
    # of recorded columns; those of probabilities are refused as features, see REFUSED
    "find": (("find", "rows.csv", "-c", "audit.toml", "--sensitive", "place", "--metrics",
              "selection_rate"), ""),
    "why": (("why", "rows.csv", *ASKED, "--strata", "place"), "audit the feature alone"),
    "explore": (("explore", "rows.csv", *ASKED, "-o", "page.html"), "audit the feature alone"),
    "monitor": (("monitor", "run", "history", "rows.csv", "--period", "2026-11-20", "-c",
                 "monitor.toml"), "audit each period"),
}  # fmt: skip
"""What each command is run with, and what it says to do instead; empty where it works."""
OF_OTHERS = {
    "demo", "presets", "metrics", "schema", "check", "pairs", "clarify",
    "clarify-monitor", "page", "plan", "vertex",
}  # fmt: skip
"""Commands that take no such features: of tables, answers, or other services' configurations."""


def people(rows, seed):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([0.2, 0.6, 0.2], rows)
    columns = dict(zip(GROUPS.values(), p.T, strict=True))
    made = {name: rng.integers(0, 2, rows) for name in ("chosen", "other")}
    return pl.DataFrame(
        {**made, "score": rng.random(rows), "place": rng.integers(0, 3, rows), **columns}
    )


def feature():
    return {"race": fg.probabilities(GROUPS)}


def counts(seed):
    return fg.count(people(500, seed), sensitive=feature(), **QUESTION)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    at = tmp_path_factory.mktemp("verbs")
    people(500, 0).write_csv(at / "rows.csv")
    for seed, name in enumerate(("one", "two")):
        counts(seed).save(at / f"{name}.cube.json")
    report = fg.audit(counts(0))
    report.save(at / "report.json")
    fg.seal(report, counts(0), at / "sealed.fairgauge")
    (at / "monitor.toml").write_text(MONITOR)
    (at / "audit.toml").write_text(MONITOR.split("[monitor]")[0])
    return at


def test_every_command_is_entered():
    assert set(main.list_commands(click.Context(main))) == set(COMMANDS) | OF_OTHERS


@pytest.mark.parametrize("verb", COMMANDS)
def test_every_command_works_or_refuses_by_name(verb, folder, monkeypatch):
    monkeypatch.chdir(folder)
    arguments, instead = COMMANDS[verb]
    result = CliRunner().invoke(main, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit)
    if not instead:
        assert result.exit_code in (0, 3), result.output
        return
    assert result.exit_code == 2
    text = " ".join(result.stderr.split())
    assert "race" in text
    assert instead in text


REFUSED = {
    "find": lambda: fg.find(
        people(500, 0), sensitive=feature(), metrics="selection_rate", **QUESTION
    ),
}
"""What no command above asks for."""


@pytest.mark.parametrize("verb", REFUSED)
def test_every_function_that_refuses_says_what_to_do(verb):
    with pytest.raises(fg.SpecError, match="audit the feature alone") as refused:
        REFUSED[verb]()
    assert "race" in str(refused.value)


def test_the_specification_that_choose_writes_is_audited(folder, monkeypatch):
    monkeypatch.chdir(folder)
    run = CliRunner().invoke(main, [*COMMANDS["choose"][0][:-1], "audited.toml"])
    assert run.exit_code == 0, run.output
    report = fg.audit(people(500, 3), config="audited.toml")
    assert {each.feature for each in report.estimators} == {"race"}


# ---- rows without probabilities of groups: nothing passes or fails that they could change
NAMES = ("Black", "White")
RATES = {"selection_rate.difference": np.subtract, "selection_rate.ratio": np.divide}
BOTH = [("unknown", "given_group"), ("unknown", "nothing")]


def drawn(seed: int, answered: float) -> pl.DataFrame:
    """Draw people with probabilities of 0 or 1, some without any, and answers of some."""
    rng = np.random.default_rng(seed)
    n, rates = int(rng.integers(200, 500)), rng.uniform(0.2, 0.8, 2)
    group = rng.integers(0, 2, n)
    missing = np.arange(n) < rng.integers(1, n // 5)
    y = (rng.random(n) < np.where(missing, rng.random(), rates[group])).astype(int)
    known = np.where(missing, rng.random(n) < answered, rng.random(n) < 0.6)
    order = rng.permutation(n)
    black = np.where(missing, None, (group == 0) * 1.0)
    white = np.where(missing, None, (group == 1) * 1.0)
    names = np.where(known, np.array(NAMES)[group], None)
    columns = {"y": y, "b": black, "w": white, "known": names, "group": np.array(NAMES)[group]}
    schema = {"y": pl.Int64, "b": pl.Float64, "w": pl.Float64, "known": pl.String}
    return pl.DataFrame({name: of[order].tolist() for name, of in columns.items()}, schema | {
        "group": pl.String})  # fmt: skip


def audited(data: pl.DataFrame, rule: Any, how: str, assume: str, **asked: Any) -> fg.Report:
    race = fg.probabilities(Black="b", White="w", known="known", known_drawn=how, assume=assume)
    return fg.audit(data, prediction="y", positive=1, sensitive={"race": race},
                    reference={"race": "White"}, rules=[rule], **asked)  # fmt: skip


def possible(data: pl.DataFrame, contrast: Any) -> np.ndarray:
    """Enumerate the values that rows without probabilities and without an answer could give."""
    rows = data.select("b", "known").rows()
    placed = [known if b is None else NAMES[b == 0] for b, known in rows]
    y = data["y"].to_numpy()
    each = [*zip(placed, y.tolist(), strict=True)]
    counts = np.array([[each.count((g, v)) for v in (0, 1)] for g in NAMES])
    open_, found = [each.count((None, v)) for v in (0, 1)], []
    for failures, successes in product(range(open_[0] + 1), range(open_[1] + 1)):
        moved = np.array([failures, successes])
        both = counts[0] + moved, counts[1] + np.array(open_) - moved
        found.append(contrast(*(side[1] / side.sum() for side in both)))
    return np.array(found)


@pytest.mark.parametrize(("how", "assume"), [*BOTH, ("random", "given_group")])
@pytest.mark.parametrize("metric", RATES)
def test_no_verdict_is_one_that_their_groups_could_change(how, assume, metric):
    outcomes = set()
    for seed in range(8 if EVERY_CASE else 4):
        data = drawn(seed, answered=0.5)
        values = possible(data, RATES[metric])
        for at in (values.min() - 0.02, values.min() - 0.3, values.max() + 0.3):
            limit = max(float(at), -0.99 if metric.endswith("difference") else 0.01)
            (verdict,) = audited(data, f"{metric} >= {limit}", how, assume).verdicts
            outcomes.add(str(verdict.outcome))
            if verdict.outcome == "pass":
                assert how == "random"
                assert values.min() >= limit
            if verdict.outcome == "fail" and how != "random":  # which estimates all rows
                assert values.max() < limit
    assert "fail" in outcomes
    assert ("pass" in outcomes) is (how == "random")


@pytest.mark.parametrize(("how", "assume"), BOTH)
def test_their_worst_case_is_attained(how, assume):
    for seed in range(4):
        data = drawn(seed, answered=0.3)
        values = possible(data, np.subtract)
        at = float(values.min()) + 1e-6
        rule = {"metric": "selection_rate.difference", "at_least": at, "decide": "point"}
        (verdict,) = audited(data, rule, how, assume).verdicts
        if verdict.reason.code == "missing_groups":
            assert verdict.reason["low"] == pytest.approx(values.min(), abs=1e-4)
            assert verdict.reason["high"] == pytest.approx(values.max(), abs=1e-4)
            assert (
                verdict.reason["rows"]
                == data.filter(pl.col("b").is_null() & pl.col("known").is_null()).height
            )
        else:
            assert verdict.outcome == "fail" or assume == "nothing"
