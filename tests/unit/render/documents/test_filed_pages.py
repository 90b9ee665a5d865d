"""What is printed for the file: sources, room for signatures, and the command that repeats it."""

import shlex

import pytest
from click.testing import CliRunner
from tests.every_result import loans, result
from tests.model_rows import QUESTION, rows
from tests.monitored_days import RATIO, asked, days

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.render._document_tree import Code, Facts, SignOff, Table
from fairgauge.render.document import document as document

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


@pytest.mark.parametrize("name", ASKED)
def test_the_command_that_is_filed_repeats_the_decomposition(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    loans().write_csv("loans.csv")
    found = fg.why("loans.csv", **ASKED[name])
    (line,) = [each.text for each in blocks_filed(found) if isinstance(each, Code)]
    program, *arguments = shlex.split(line)
    assert program == "fairgauge"
    again = CliRunner().invoke(main, [*arguments, "-o", "again.json", "-q"])
    assert again.exit_code == 0, again.output
    same = fg.load("again.json")
    assert [gap.parts for gap in same.gaps] == [gap.parts for gap in found.gaps]
    assert [gap.strata for gap in same.gaps] == [gap.strata for gap in found.gaps]
    assert [gap.verdict for gap in same.gaps] == [gap.verdict for gap in found.gaps]
    assert {**same.spec} == {**found.spec}


def test_what_is_filed_has_sources_method_and_room_for_signatures():
    found = result("why")
    blocks = blocks_filed(found)
    facts = dict(pair for each in blocks if isinstance(each, Facts) for pair in each.pairs)
    assert facts["fingerprint of the counts"] == found.fingerprint
    assert found.fingerprint.startswith("sha256:")
    assert facts["made at"] == found.created
    assert isinstance(blocks[-1], SignOff)


def test_what_is_filed_of_several_gaps_has_the_parts_of_one_and_the_others():
    found = fg.why(loans(), prediction="approved", positive="yes", sensitive=["sex", "race"],
                   strata="region")  # fmt: skip
    tables = [each.caption for each in blocks_filed(found) if isinstance(each, Table)]
    assert tables == ["Parts of the gap", "Strata", "Other gaps"]
    one = [each.caption for each in blocks_filed(result("why")) if isinstance(each, Table)]
    assert one == ["Parts of the gap", "Strata"]


def _filed(document):
    """Return the facts, the command and the signatures that are filed."""
    blocks = [block for section in document.sections for block in section.blocks]
    facts = {k: v for block in blocks if isinstance(block, Facts) for k, v in block.pairs}
    (code,) = (block.text for block in blocks if isinstance(block, Code))
    return facts, code, [block for block in blocks if isinstance(block, SignOff)]


def test_the_command_filed_with_a_comparison_of_models_makes_it_again(tmp_path):
    data = tmp_path / "models.csv"
    rows(600).write_csv(data)
    made = fg.compare_models(
        data, **QUESTION, positive=1, candidate="fairer", margins={"accuracy": 0.02},
        words={"groups": {"sex": {"F": "women", "M": "men"}}},
    )  # fmt: skip
    facts, command, signed = _filed(document(made, paper=True))
    assert facts["fingerprint of the counts"] == made.data.fingerprint
    assert facts["source"] == str(data)
    assert len(signed) == 1
    program, *arguments = shlex.split(command)
    assert program == "fairgauge"
    CliRunner().invoke(main, [*arguments, "-q", "-o", str(tmp_path / "again.json")])
    again = fg.load(tmp_path / "again.json").to_dict()
    assert again["candidates"] == made.to_dict()["candidates"]


def test_the_command_filed_with_a_monitor_makes_it_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    history = fg.History("history")
    for name, counts in days(12, 99, 0.4).items():
        history.add(name, counts)
    made = fg.monitor(history, asked(RATIO))
    facts, command, signed = _filed(document(made, paper=True))
    assert facts["history"] == "history"
    assert facts["made with"].startswith("fairgauge ")
    assert len(signed) == 1
    assert command == "fairgauge monitor status history --at 2026-01-12"


def test_counts_at_hand_have_no_name_in_the_command():
    _, command, _ = _filed(document(fg.monitor(days(3, 9, 0.4), asked(RATIO)), paper=True))
    assert command == "fairgauge monitor status HISTORY --at 2026-01-03"
