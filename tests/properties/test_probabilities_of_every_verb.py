"""Groups that nobody recorded, in every verb: it works, or refuses by name and says what to do.

A command that is new has to be entered here.
"""

from typing import Any

import click
import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

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
    "scorer": lambda: fg.scorer("selection_rate.ratio", sensitive=feature()),
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
