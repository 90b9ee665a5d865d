"""Nothing passes by absence: where nothing could be evaluated, no verb gives a good verdict.

Invariant 4 of the architecture over all verbs, through the command line too: its exit code is then
never 0, so that no pipeline goes on because there was nothing to see.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from test_every_verb import RULE, table
from tests.swapped_names import ASKED, study

import fairgauge as fg
from fairgauge.cli import main

QUESTION: dict[str, Any] = {
    "label": "label", "prediction": "prediction", "positive": 1, "sensitive": "group",
}  # fmt: skip
FEW = 12


def flags(**options: Any) -> list[str]:
    given = QUESTION | options
    return [f"--{name}={value}" for name, value in given.items() if value is not None]


def exit_code(*args: str) -> int:
    return CliRunner().invoke(main, [*args, "--quiet"]).exit_code


def apart() -> pl.DataFrame:
    """Return two groups with other rates and not one stratum in common."""
    return pl.DataFrame(
        {
            "group": ["A"] * 200 + ["B"] * 200,
            "stratum": ["s"] * 200 + ["t"] * 200,
            "prediction": [0, 1] * 100 + [0, 0, 0, 1] * 50,
        }
    )


def of_audit(folder: Path) -> tuple[list[str], int]:
    """A rule on the reference, of which there is no comparison."""
    rule = {"metric": "selection_rate.ratio", "at_least": 0.01, "groups": ["A"]}
    asked = QUESTION | {"reference": {"group": "A"}, "rules": [rule]}
    found = fg.audit(table(), **asked)
    table().write_csv(folder / "rows.csv")
    (folder / "audit.json").write_text(json.dumps(asked), encoding="utf-8")
    code = exit_code("audit", str(folder / "rows.csv"), f"--config={folder / 'audit.json'}")
    return [found.verdict.value, *(each.outcome.value for each in found.verdicts)], code


def of_search(folder: Path) -> tuple[list[str], int]:
    found = fg.find(table()[:FEW], label="label", prediction="prediction", positive=1,
                    sensitive=["group", "second"], metrics="selection_rate")  # fmt: skip
    assert (found.examined, found.not_worse_count, found.largest.by_at_most) == (0, 0, None)
    table()[:FEW].write_csv(folder / "rows.csv")
    asked = [*flags(sensitive=None), "--sensitive=group,second", "--metrics=selection_rate"]
    code = exit_code("find", str(folder / "rows.csv"), *asked, "--fail-on=worse")
    return [each.status.value for each in (*found.worse, *found.undecided)], code


def of_gaps(folder: Path) -> tuple[list[str], int]:
    asked: dict[str, Any] = {"label": None, "strata": "stratum"}
    found = fg.why(apart(), **QUESTION | asked, margins={"selection_rate": 0.5})
    apart().write_csv(folder / "rows.csv")
    more = ["--margin=selection_rate=0.5", "--fail-on=remains"]
    code = exit_code("why", str(folder / "rows.csv"), *flags(**asked), *more)
    return [found.verdict.value, *(gap.verdict.value for gap in found.gaps)], code


def of_pairs(folder: Path) -> tuple[list[str], int]:
    answers = study((1, 1), 10, 1)
    found = fg.pairs(answers, **ASKED, reference={"group": "White"},
                     margins={"score": 10})  # fmt: skip
    answers.to_csv(folder / "answers.csv", index=False)
    asked = [f"--{name}={value}" for name, value in ASKED.items()]
    more = ["--reference=group=White", "--margin=score=10"]
    code = exit_code("pairs", str(folder / "answers.csv"), *asked, *more)
    return [found.verdict.value, *(each.verdict.value for each in found.differences)], code


def of_thresholds(folder: Path) -> tuple[list[str], int]:
    asked = {"label": "label", "score": "score", "positive": 1, "sensitive": "group"}
    asked["threshold"] = 0.5
    found = fg.thresholds(table()[:FEW], **asked, rules=[RULE])
    assert [each.common for each in found.features] == [None]
    table()[:FEW].write_csv(folder / "rows.csv")
    given = [f"--{name}={value}" for name, value in asked.items()]
    code = exit_code("thresholds", str(folder / "rows.csv"), *given, f"--rule={RULE}")
    return [], code


def of_reports(folder: Path) -> tuple[list[str], int]:
    """Reports of other features: no disparity of one is in the other."""
    for name, feature in (("old", "group"), ("new", "second")):
        fg.audit(table(), **QUESTION | {"sensitive": feature}).save(folder / f"{name}.json")
    found = fg.compare(*(fg.load(folder / f"{name}.json") for name in ("old", "new")))
    assert found.changes == ()
    assert found.why_incomplete
    names = (str(folder / f"{name}.json") for name in ("old", "new"))
    return [], exit_code("compare", *names, "--fail-on=worse")


def of_models(folder: Path) -> tuple[list[str], int]:
    margins = {"accuracy": 0.01, "disparity": 0.05}
    found = fg.compare_models(table()[:FEW], **QUESTION, candidate="candidate", margins=margins)
    table()[:FEW].write_csv(folder / "rows.csv")
    more = ["--candidate=candidate", *(f"--margin={k}={v}" for k, v in margins.items())]
    code = exit_code("compare-models", str(folder / "rows.csv"), *flags(), *more)
    return [found.verdict.value, *(str(each.verdict) for each in found.candidates)], code


def of_monitor(folder: Path) -> tuple[list[str], int]:
    asked = QUESTION | {"monitor": {"rules": [RULE]}}
    found = fg.monitor({"2026-01-01": fg.count(table()[:FEW], **QUESTION)}, asked)
    assert fg.monitor({}, asked).exit_code == 3
    table()[:FEW].write_csv(folder / "rows.csv")
    rules = f'[monitor]\nrules = ["{RULE}"]\n'
    lines = [f"{name} = {value!r}\n".replace("'", '"') for name, value in QUESTION.items()]
    (folder / "audit.toml").write_text("".join(lines) + rules, encoding="utf-8")
    history, spec = str(folder / "history"), str(folder / "audit.toml")
    run = ["monitor", "run", history, str(folder / "rows.csv"), "--period=2026-01-01"]
    code = exit_code(*run, f"--config={spec}")
    assert code == exit_code("monitor", "status", history)
    return [
        found.verdict.value,
        found.state.value,
        *(c.state.value for c in found.comparisons),
    ], code


GOOD = {
    "pass", "no alarm", "not_worse", "dominates", "better in what could be tested",
    "accounted for", "within margin", "no gap shown", "equivalent",
}  # fmt: skip
"""Verdicts on which somebody would go ahead."""
VERBS: dict[str, Callable[[Path], tuple[list[str], int]]] = {
    "audit": of_audit, "find": of_search, "why": of_gaps, "pairs": of_pairs,
    "thresholds": of_thresholds, "compare": of_reports, "compare_models": of_models,
    "monitor": of_monitor,
}  # fmt: skip


@pytest.mark.parametrize("verb", VERBS)
def test_where_nothing_is_evaluated_nothing_passes(verb: str, tmp_path: Path) -> None:
    verdicts, code = VERBS[verb](tmp_path)
    assert not GOOD & set(verdicts), verdicts
    assert code == 3
