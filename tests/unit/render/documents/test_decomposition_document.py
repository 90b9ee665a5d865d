"""The document of a decomposition: what is filed, and the command that repeats it."""

import shlex

import pytest
from click.testing import CliRunner
from tests.every_result import loans, result

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.render._document_tree import Code, Facts, SignOff, Table
from fairgauge.render.document import document as decomposition_document

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
    return [b for s in decomposition_document(found, paper=True).sections for b in s.blocks]


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
