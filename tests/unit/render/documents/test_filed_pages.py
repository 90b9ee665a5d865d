"""What is printed for the file: sources, room for signatures, and the command that repeats it."""

import shlex

import pytest
from click.testing import CliRunner
from tests.every_result import loans
from tests.model_rows import QUESTION, rows
from tests.monitored_days import RATIO, asked, days

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.render._document_tree import Code, Facts, SignOff, Table
from fairgauge.render.document import document

ASKED = {
    "words": {"prediction": "approved", "positive": "yes", "sensitive": "sex", "strata": "region",
              "words": {"noun": "applicants", "groups": {"sex": {"Female": "women"}}}},
    "controls": {"prediction": "approved", "positive": "yes", "sensitive": "sex",
                 "strata": ["region"], "controls": [fg.cut("score", [0.2, 0.4])]},
    "margins": {"label": "repaid", "positive": "yes", "sensitive": ["race"],
                "reference": {"race": "White"}, "strata": "region",
                "margins": {"base_rate": 0.05}},
    "quantiles": {"prediction": "approved", "positive": "yes", "sensitive": "sex",
                  "strata": fg.cut("score", "quantiles")},
}  # fmt: skip


def blocks_filed(found):
    return [b for s in document(found, paper=True).sections for b in s.blocks]


def filed(found):
    """Return the facts and the command that are filed, of a page that is signed."""
    blocks = blocks_filed(found)
    assert isinstance(blocks[-1], SignOff)
    facts = {k: v for block in blocks if isinstance(block, Facts) for k, v in block.pairs}
    (code,) = (block.text for block in blocks if isinstance(block, Code))
    return facts, code


def made_again(command):
    """Return what the command that is filed makes."""
    program, *arguments = shlex.split(command)
    assert program == "fairgauge"
    again = CliRunner().invoke(main, [*arguments, "-o", "again.json", "-q"])
    assert again.exit_code in (0, 1, 3), again.output
    return fg.load("again.json")


@pytest.mark.parametrize("name", ASKED)
def test_the_command_that_is_filed_repeats_the_decomposition(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    loans().write_csv("loans.csv")
    found = fg.why("loans.csv", **ASKED[name])
    facts, command = filed(found)
    assert facts["fingerprint of the counts"] == found.fingerprint
    assert found.fingerprint.startswith("sha256:")
    assert facts["made at"] == found.created
    same = made_again(command)
    assert [(gap.parts, gap.strata, gap.verdict) for gap in same.gaps] == [
        (gap.parts, gap.strata, gap.verdict) for gap in found.gaps
    ]
    assert {**same.spec} == {**found.spec}


@pytest.mark.parametrize("others", [[], ["race"]])
def test_what_is_filed_of_several_gaps_has_the_parts_of_one_and_the_others(others):
    found = fg.why(loans(), prediction="approved", positive="yes", sensitive=["sex", *others],
                   strata="region")  # fmt: skip
    tables = [each.caption for each in blocks_filed(found) if isinstance(each, Table)]
    assert tables == ["Parts of the gap", "Strata", *["Other gaps" for _ in others]]


def test_the_command_filed_with_a_comparison_of_models_makes_it_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows(600).write_csv("models.csv")
    made = fg.compare_models(
        "models.csv", **QUESTION, positive=1, candidate="fairer", margins={"accuracy": 0.02},
        words={"groups": {"sex": {"F": "women", "M": "men"}}},
    )  # fmt: skip
    facts, command = filed(made)
    assert facts["fingerprint of the counts"] == made.data.fingerprint
    assert facts["source"] == "models.csv"
    assert made_again(command).to_dict()["candidates"] == made.to_dict()["candidates"]


def test_the_command_filed_with_a_monitor_makes_it_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    history = fg.History("history")
    for name, counts in days(12, 99, 0.4).items():
        history.add(name, counts)
    facts, command = filed(fg.monitor(history, asked(RATIO)))
    assert facts["history"] == "history"
    assert facts["made with"].startswith("fairgauge ")
    assert command == "fairgauge monitor status history --at 2026-01-12"
    _, command = filed(fg.monitor(days(3, 9, 0.4), asked(RATIO)))  # counts at hand have no name
    assert command == "fairgauge monitor status HISTORY --at 2026-01-03"
