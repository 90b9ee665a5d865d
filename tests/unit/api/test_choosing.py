"""Every way through the questions ends in a specification that runs and judges what it names."""

from collections.abc import Iterator

import numpy as np
import pytest
from click.testing import CliRunner

import fairgauge as fg
from fairgauge.api.choosing import QUESTIONS, next_question, recommend, specification
from fairgauge.cli import main
from fairgauge.question.specification import read_options

ROWS = 4_000


def every_path(answers: dict[str, str]) -> Iterator[dict[str, str]]:
    question = next_question(answers)
    if question is None:
        yield answers
        return
    for word in question.answers:
        yield from every_path(answers | {question.name: word})


PATHS = list(every_path({}))


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A table for each kind of model, with the columns named after their roles."""
    random = np.random.default_rng(16)
    group = random.choice(["A", "B"], ROWS)
    score = random.random(ROWS).round(3)
    label = (random.random(ROWS) < score).astype(int)
    amount = random.normal(10, 2, ROWS).round(2)
    columns = {
        "decision": (label, (score >= 0.5).astype(int)),
        "score": (label, score),
        "class": (random.choice(["x", "y", "z"], ROWS), random.choice(["x", "y", "z"], ROWS)),
        "number": (amount, (amount + random.normal(0, 1, ROWS)).round(2)),
    }
    columns |= {"ranking": columns["score"], "none": columns["decision"]}
    folder = tmp_path_factory.mktemp("tables")
    for name, (observed, predicted) in columns.items():
        role = "score" if name in ("score", "ranking") else "prediction"
        lines = [f"{a},{y},{p}" for a, y, p in zip(group, observed, predicted, strict=True)]
        (folder / f"{name}.csv").write_text("\n".join([f"group,label,{role}", *lines]) + "\n")
    return folder


@pytest.mark.parametrize("answers", PATHS, ids=lambda answers: "-".join(answers.values()))
def test_every_path_ends_in_a_specification_that_runs(answers, tables, tmp_path):
    found = recommend(answers)
    file = tmp_path / "audit.toml"
    file.write_text(specification(found), encoding="utf-8")
    report = fg.audit(tables / f"{answers['model']}.csv", **read_options(file))
    measured = {each.metric for each in report.estimates} | {
        rate for each in report.groups for rate in each.rates
    }
    for measure in found.measures:
        assert any(name.startswith(measure) for name in measured), measure
    judged = {str(each.rule): str(each.outcome) for each in report.verdicts}
    assert len(judged) == len(found.limits)
    assert "not_evaluated" not in judged.values()


def test_answers_lead_to_the_error_that_is_guarded_against():
    def rules(**answers: str) -> list[str]:
        given = {"model": "decision", "outcomes": "all", "parity": "no"} | answers
        return [*recommend(given).limits]

    assert rules(error="refused") == ["-0.1 <= true_positive_rate.difference <= 0.1"]
    assert rules(error="granted") == ["-0.1 <= false_positive_rate.difference <= 0.1"]
    assert rules(error="both") == rules(error="refused") + rules(error="granted")
    assert rules(error="both", parity="yes")[0] == "selection_rate.ratio >= 0.8"


def test_columns_to_fill_in_and_the_other_outcome_are_marked_and_no_file_is_overwritten(tmp_path):
    text = specification(recommend({"model": "decision", "outcomes": "none"}), {"sensitive": "sex"})
    marked = [line for line in text.splitlines() if "  # fill in the name of your column" in line]
    assert marked == ['prediction = "prediction"  # fill in the name of your column']
    asked = {"model": "score", "outcomes": "selected"}
    assert "threshold = 0.5  # fill in your threshold" in specification(recommend(asked))
    assert '# positive = ["VALUE"]\n# negative = ["VALUE"]\n' in text
    asked = ["choose", "--model", "decision", "--outcomes", "none", "-o"]
    runs = [CliRunner().invoke(main, [*asked, str(tmp_path / name)])
            for name in ("x.toml", "x.toml", "none/x.toml")]  # fmt: skip
    assert [each.exit_code for each in runs] == [0, 2, 2]
    assert "already; name another, or remove it" in runs[1].output
    assert "there is no folder" in runs[2].output


@pytest.mark.parametrize("outcomes", ["none", "selected", "biased"])
def test_that_groups_are_to_be_selected_alike_needs_no_outcomes(outcomes):
    answers = {"model": "decision", "outcomes": outcomes}
    found, asked = recommend(answers), recommend(answers | {"parity": "yes"})
    assert found.limits == asked.limits
    assert "selection_rate.ratio >= 0.8" in asked.limits
    with pytest.raises(fg.SpecError, match="parity: is asked only where"):
        recommend(answers | {"parity": "no"})
    with pytest.raises(fg.SpecError, match="parity: is asked only where"):
        recommend({"model": "number", "parity": "yes"})


def test_mistakes_are_listed_with_what_is_allowed():
    with pytest.raises(fg.SpecError, match=r"no answer 'scores'\. Did you mean 'score'"):
        recommend({"model": "scores"})
    with pytest.raises(fg.SpecError, match="asked only where model is decision or score"):
        recommend({"model": "number", "error": "both"})
    with pytest.raises(fg.SpecError, match="outcomes: is not answered; choose one of"):
        recommend({"model": "ranking"})


def test_every_question_can_be_reached():
    reached = {name for answers in PATHS for name in answers}
    assert reached == {question.name for question in QUESTIONS}
