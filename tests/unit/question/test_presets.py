"""Presets: every file is complete, sets options that hold, and gives the tables it names."""

import datetime as dt
import html
import re

import polars as pl
import pytest
from click.testing import CliRunner

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.enums import Outcome
from fairgauge.question.kits import find_kit, kit_names
from fairgauge.render import render

MEN = {"Hispanic": (205, 90), "White": (412, 215), "Black": (226, 95), "NHPI": (87, 37),
       "Asian": (321, 167), "AIAN": (24, 11), "Two or more": (115, 52)}  # fmt: skip
WOMEN = {"Hispanic": (190, 82), "White": (385, 197), "Black": (164, 75), "NHPI": (32, 15),
         "Asian": (295, 135), "AIAN": (17, 7), "Two or more": (98, 44)}  # fmt: skip


def applicants():
    """Return New York's own example (6 RCNY 5-301), a row for each cell and outcome."""
    rows = [
        {"sex": sex, "race": race, "hired": outcome, "people": n}
        for sex, cells in (("Male", MEN), ("Female", WOMEN))
        for race, (applied, selected) in cells.items()
        for outcome, n in ((1, selected), (0, applied - selected))
    ]
    rows += [{"sex": "Unknown", "race": "Unknown", "hired": 0, "people": 250}]
    return pl.DataFrame(rows)


def audit(**more):
    options = {"prediction": "hired", "sensitive": ["sex", "race"], "count": "people"}
    return fg.audit(applicants(), preset="nyc-ll144", unknown="Unknown", **options, **more)


@pytest.mark.parametrize("name", kit_names())
def test_a_preset_is_complete_and_dated(name):
    found = find_kit(name)
    assert isinstance(found.as_of, dt.date)
    for text in (found.title, found.jurisdiction, found.status, *found.sources):
        assert text
    assert found.statements
    assert found.publishes
    reference = {"sex": "Male"} if found.compared_with else None
    report = fg.audit(applicants(), preset=name, prediction="hired", sensitive="sex", label="hired",
                      count="people", unknown="Unknown", reference=reference)  # fmt: skip
    assert report.spec["preset"] == name
    assert report.spec["metrics"] == found.options["metrics"]
    assert found.options_for({"task": "regression", "label": "y"})["metrics"]


def test_the_law_without_a_limit_gives_no_verdict():
    assert audit().verdict is Outcome.NONE
    for name in ("nyc-ll144", "eu-ai-act-annex-iv", "us-lending"):
        assert "rules" not in find_kit(name).options


def test_a_score_is_cut_at_the_median_of_all_applicants():
    rows = pl.DataFrame({"score": [i / 99 for i in range(100)], "sex": ["F", "M"] * 50})
    report = fg.audit(rows, preset="nyc-ll144", score="score", sensitive="sex")
    assert report.spec["threshold"] == "median"
    assert sum(group.rates["selection_rate"].value * group.n for group in report.groups) == 50


def test_what_is_stated_beside_a_preset_holds():
    report = audit(reference="largest", metrics=["selection_rate.difference"], min_share=0.1)
    assert {each.metric for each in report.estimates} == {"selection_rate.difference"}
    assert report.spec["min_share"] == 0.1
    assert report.spec["reference"] == "largest"


def test_an_unknown_preset_names_those_there_are():
    with pytest.raises(fg.SpecError, match="Did you mean 'nyc-ll144'"):
        fg.audit(applicants(), preset="nyc-144", prediction="hired", sensitive="sex")


def test_the_command_lists_and_describes():
    listed = CliRunner().invoke(main, ["presets"])
    first = [line.split()[0] for line in listed.output.splitlines() if not line.startswith(" ")]
    assert first == list(kit_names())
    assert find_kit("us-lending").status in " ".join(listed.output.split())
    one = CliRunner().invoke(main, ["presets", "nyc-ll144"])
    assert "6 RCNY 5-300 to 5-304" in one.output
    nydfs = find_kit("nydfs-cl7-2024")
    shown = " ".join(CliRunner().invoke(main, ["presets", nydfs.name]).output.split())
    for text in (nydfs.period, nydfs.read, nydfs.in_force.isoformat(), "metrics (of amounts)"):
        assert text in shown
    wrong = CliRunner().invoke(main, ["presets", "nyc"])
    assert wrong.exit_code == 2


def test_the_tables_to_publish_are_new_yorks():
    """Numbers of people, selections, rates and ratios with three decimals, as in 6 RCNY 5-301."""
    text = html.unescape(render(audit(), "html"))
    rows = [
        [" ".join(re.sub(r"<[^>]+>", " ", cell).split()) for cell in re.split("</t[dh]>", row)]
        for row in re.findall(r"<tr>(.*?)</tr>", text, flags=re.DOTALL)
    ]
    (female,) = {tuple(row) for row in rows if row[:4] == ["Female", "1,181", "555", "47.0%"]}
    assert female[4].startswith("0.979")
    assert "0.875 to 1.095" in female[4]
    assert any(row[:2] == ["Male & White", "412"] and row[4:5] == ["reference"] for row in rows)
    (small,) = {tuple(row) for row in rows if row[:3] == ["Female & AIAN", "17", "7"]}
    assert "below the minimum of 57 (2% of all 2,821 cases)" in small[4]
    assert "impact ratio" in text
    stated = "95% confidence intervals, for all comparisons together, or why "
    assert stated in text
    narrower = render(audit(confidence=0.9), "html")
    assert "In parentheses: 90% confidence intervals" in narrower


def test_a_reference_is_of_the_people_with_whom_the_source_compares():
    """A gap in per cent of women's pay, or a premium against white applicants', is another one."""
    rows = pl.DataFrame({
        "sex": ["woman", "man"] * 50, "code": [1, 2] * 50, "p": [9.0 + i % 7 for i in range(100)],
    })  # fmt: skip
    asked = {"preset": "eu-pay-transparency", "label": "p"}
    with pytest.raises(fg.SpecError, match=r"compares with men, and 'woman' .* name man"):
        fg.audit(rows, **asked, sensitive="sex", reference={"sex": "woman"})
    for column, group, warned in (("sex", "man", 0), ("code", "2", 1)):
        report = fg.audit(rows, **asked, sensitive=column, reference={column: group})
        assert sum(d.code == "reference_assumed" for d in report.diagnostics) == warned
    premiums = {"preset": "colorado-insurance-draft-2023", "label": "p", "sensitive": "sex"}
    with pytest.raises(fg.SpecError, match="whose reference for amounts is overall; remove it"):
        fg.audit(rows, **premiums, task="regression", reference={"sex": "man"})
