"""Presets: every file is complete, sets options that hold, and gives the tables it names."""

from __future__ import annotations

import datetime as dt
import html
import json
import re

import polars as pl
import pytest
from click.testing import CliRunner

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.enums import Outcome
from fairgauge.errors import SpecError
from fairgauge.question.presets import preset, preset_names
from fairgauge.render import render
from fairgauge.render.document import document as report_document
from fairgauge.render.words.question_sentences import unknown_sentence

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


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_is_complete_and_dated(name):
    found = preset(name)
    assert isinstance(found.as_of, dt.date)
    for text in (found.title, found.jurisdiction, found.status, *found.sources):
        assert text
    assert found.statements
    assert found.publishes
    assert json.loads(json.dumps(found.to_dict()))["name"] == name
    reference = {"sex": "Male"} if found.compared_with else None
    report = fg.audit(applicants(), preset=name, prediction="hired", sensitive="sex", label="hired",
                      count="people", unknown="Unknown", reference=reference)  # fmt: skip
    assert report.spec["preset"] == name
    assert report.spec["metrics"] == found.options["metrics"]


def test_new_yorks_three_tables_have_references_of_their_own():
    report = audit()
    references = {(each.feature, each.reference.group) for each in report.estimates}
    assert references == {("sex", "Male"), ("race", "White"), ("sex*race", "Male & White")}
    ratio = report["selection_rate.ratio", "sex", "Female"]
    assert round(ratio.value, 3) == 0.979
    assert [round(end, 3) for end in (ratio.low, ratio.high)] == [0.902, 1.062]
    black = report["selection_rate.ratio", "sex*race", "Male & Black"]
    # the reference is chosen by the data, so the interval is wider than that of White men named
    assert round(black.value, 3) == 0.806
    assert black.low < 0.671
    assert black.high > 0.959
    assert report.data.excluded["missing sex"] == 250  # one row of so many people


def test_the_law_without_a_limit_gives_no_verdict():
    assert audit().verdict is Outcome.NONE
    for name in ("nyc-ll144", "eu-ai-act-annex-iv", "us-lending"):
        assert "rules" not in preset(name).options


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


def test_the_same_question_again_is_the_same():
    report = audit()
    again = fg.audit(applicants(), **{k: v for k, v in report.spec.items() if v is not None})
    assert again.to_dict()["estimates"] == report.to_dict()["estimates"]


def test_the_report_quotes_the_preset_with_its_date_and_claims_nothing():
    text = " ".join(render(audit(), "html").split())
    assert f"in force (as of {preset('nyc-ll144').as_of})" in text
    assert "6 RCNY 5-300" in text
    assert "does not state that the audit" in text
    assert "compliant" not in text


def test_an_unknown_preset_names_those_there_are():
    with pytest.raises(fg.SpecError, match="Did you mean 'nyc-ll144'"):
        fg.audit(applicants(), preset="nyc-144", prediction="hired", sensitive="sex")


def test_the_command_lists_and_describes():
    listed = CliRunner().invoke(main, ["presets"])
    first = [line.split()[0] for line in listed.output.splitlines() if not line.startswith(" ")]
    assert first == list(preset_names())
    assert preset("us-lending").status in " ".join(listed.output.split())
    one = CliRunner().invoke(main, ["presets", "nyc-ll144"])
    assert "6 RCNY 5-300 to 5-304" in one.output
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
    stated = "95% confidence intervals, for all comparisons of the report together, or why data"
    assert stated in text
    narrower = render(audit(confidence=0.9), "html")
    assert "In parentheses: 90% confidence intervals" in narrower


@pytest.mark.parametrize("weight", [None, "people"])
def test_tables_to_publish_of_lending_have_the_denial_rate_and_the_denial_ratio(weight):
    how = {"weight": weight} if weight else {"count": "people"}
    report = fg.audit(applicants(), preset="us-lending", prediction="hired", positive=1,
                      sensitive="sex", unknown="Unknown", **how)  # fmt: skip
    (table,) = report_document(report).to_publish
    heads = [column.heading for column in table.columns]
    rate, ratio = heads.index("denial rate"), heads.index("denial ratio")
    assert {len(row) for row in table.rows} == {len(heads)}
    for row in table.rows[:2]:
        group = next(each for each in report.groups if each.group == row[0].text)
        assert row[rate].text == f"{group.rates['rejection_share'].value:.1%}"
    found = {
        each.group: each for each in report.estimates if each.metric == "rejection_share.ratio"
    }
    stated = {row[0].text: row[ratio].text for row in table.rows if row[0].text in found}
    assert stated == {group: f"{each.value:.3f}" for group, each in found.items()}


def lending(**more):
    rows = applicants().with_columns(
        pl.when(pl.col("race").is_in(["White", "Asian"])).then(1).otherwise(2).alias("office")
    )
    return fg.audit(rows, preset="us-lending", prediction="hired", positive=1, sensitive="sex",
                    count="people", unknown="Unknown", **more)  # fmt: skip


@pytest.mark.parametrize("format_", ["html"])
def test_everything_adjusted_for_segments_stands_in_the_tables_to_publish(format_):
    report = lending(strata="office", where="sex != Unknown")
    pooled = {e.metric: e for e in report.estimates if str(e.scope.kind) == "pooled"}
    options = {} if format_ == "html" else {"full": True}
    text = " ".join(render(report, format_, **options).split())
    unknown = " ".join(render(lending(strata="office"), format_, **options).split())
    assert "(rows without a group have other rates than the others, overall or within" in unknown
    for name in ("selection_rate.ratio", "selection_odds.ratio"):
        each = pooled[name]
        assert f"{each.value:.3f}" in text
        low, high = each.simultaneous or each.interval
        assert f"({low:.3f} to {high:.3f})" in text
    assert "Findings and the tables to publish are also adjusted for office" in text
    assert "tables of groups and rules are not" in text


def test_decisions_given_as_a_label_are_one_mistake_that_names_the_prediction():
    with pytest.raises(fg.SpecError) as caught:
        fg.audit(applicants(), preset="us-lending", label="hired", positive=1, sensitive="sex")
    assert len(caught.value.problems) == 1
    assert "use prediction in place of label (--prediction hired)" in str(caught.value)


def test_a_preset_without_decisions_asks_for_them_and_not_for_what_its_metrics_need():
    with pytest.raises(fg.SpecError) as caught:
        fg.audit(applicants(), preset="nyc-ll144", sensitive="sex")
    assert [each.path for each in caught.value.problems] == ["prediction"]
    assert "compares decisions, and none are given; add prediction (--prediction COL), or" in str(
        caught.value
    )


def test_an_impact_ratio_just_below_four_fifths_is_not_shown_as_it():
    decisions = [1] * 799 + [0] * 201 + [1] * 1000
    rows = pl.DataFrame({"g": ["a"] * 1000 + ["b"] * 1000, "ok": decisions})
    asked = {"prediction": "ok", "positive": 1, "sensitive": "g"}
    screen = render(fg.audit(rows, preset="nyc-ll144", **asked), "text")
    assert "0.799*" in screen
    assert "0.80*" not in screen


def test_a_first_page_states_that_the_law_sets_no_limit():
    """Local Law 144 asks for ratios and sets no limit: there is no verdict, or it is one's own."""
    none = "Local Law 144 sets no limit for an impact ratio (a rate divided by the highest one)."
    assert preset("nyc-ll144").no_limit == none
    assert none in preset("nyc-ll144").statements
    brief = audit().brief()
    assert list(map(str, brief.verdict)) == [f"{none} Without a rule there is no verdict."]
    for format_ in ("text", "markdown", "html"):
        assert none in render(audit(), format_)
    verdict = list(map(str, audit(rules=["selection_rate.ratio >= 0.8"]).brief().verdict))
    assert f"{none} The limit of the rule is this audit's own." in verdict


def test_a_preset_with_a_rule_sets_a_limit():
    for each in map(preset, preset_names()):
        assert bool(each.no_limit) is not bool(each.options.get("rules"))


@pytest.mark.parametrize("format_", ["markdown"])
def test_the_smd_of_lending_has_one_decimal_in_every_table(format_):
    """In hundredths of a standard deviation, whether it is small or large."""
    rows = pl.DataFrame(
        {
            "race": ["A"] * 400 + ["B"] * 200 + ["C"] * 200,
            "ok": [1, 0] * 200 + [1, 0, 0, 0] * 50 + [1, 0] * 99 + [1, 1],
        }
    )
    report = fg.audit(rows, preset="us-lending", prediction="ok", positive=1, sensitive="race")
    smd = {
        each.group: f"{each.value:+.1f}".replace("-", "\u2212")
        for each in report.estimates
        if each.metric == "selection_smd_overall"
    }
    assert smd == {"B": "\u221250.4", "C": "+1.0"}
    text = render(report, format_, **({} if format_ == "html" else {"full": True}))
    for value in smd.values():
        assert text.count(value) >= 2
    assert not re.search(r"\+1\.\d{2}|\u221250\.4\d", html.unescape(text))


def _by_category(selected: str = "") -> pl.DataFrame:
    """Return 400 applicants, of whom 40 have no sex; those are selected, and `selected` too."""
    sexes = ["Female"] * 160 + ["Male"] * 160 + ["Non-binary"] * 40 + [None] * 40
    hired = [int(i % 3 == 0 and (sex is None or sex in selected)) for i, sex in enumerate(sexes)]
    hired[0] = None
    return pl.DataFrame({"sex": sexes, "race": ["A", "B"] * 200, "hired": hired})


_ASKED = {"prediction": "hired", "positive": 1, "sensitive": ["sex", "race"]}


def test_people_of_unknown_category_are_no_category_to_publish():
    rows = _by_category("Female Male Non-binary")
    with pytest.raises(SpecError, match=r"missing: group .* nyc-ll144 states them apart"):
        fg.audit(rows, preset="nyc-ll144", missing="group", **_ASKED)
    text = unknown_sentence(fg.audit(rows, preset="ugesp", missing="group", **_ASKED))
    assert text == "Who is of unknown category is in the tables as a group of its own, (missing)."


def test_excluded_groups_are_stated_below_the_tables_to_publish():
    rows = _by_category("Female Male Non-binary")
    report = fg.audit(rows, preset="nyc-ll144", exclude_groups=["Non-binary"], **_ASKED)
    stated = (
        "Excluded groups (Non-binary), in no row of the tables of sex and sex*race, 40 rows, also "
        "those without a known prediction."
    )
    text = render(report, "markdown").replace("\\*", "*")
    assert f"<sub>{stated}</sub>" in text
    of_group = (
        "<sub>sex: the group Non-binary is excluded (state why): 40 rows with a known decision or "
        "score, 13 of them selected, selection rate 32.5%.</sub>"
    )
    assert of_group in text
    (warned,) = [e for e in report.diagnostics if e.code == "excluded_group" and e.feature == "sex"]
    assert (warned.level, warned["group"], warned["rows"]) == ("warning", "Non-binary", 40)
    assert "<sub>sex*race: the group Non-binary &amp; A is excluded (state why): 20 rows" in text
    small = fg.audit(
        rows, preset="nyc-ll144", exclude_groups=["Non-binary"], min_share=0.12, **_ASKED
    )
    assert "Non-binary is excluded (it is below the minimum of 12%)" in render(small, "markdown")
    below = [e for e in small.diagnostics if e.code == "excluded_group" and e.feature == "sex"]
    assert [each.level for each in below] == ["note"]
    few = rows.filter((pl.col("sex") != "Non-binary") | (pl.int_range(pl.len()) < 326))
    text = render(
        fg.audit(few, preset="nyc-ll144", exclude_groups=["Non-binary"], **_ASKED), "markdown"
    )
    assert "6 rows with a known decision or score; a rate of so few can show" in text
    whole = fg.audit(rows, preset="nyc-ll144", **_ASKED)
    assert "Excluded groups" not in render(whole, "markdown")


def test_a_feature_without_a_ratio_keeps_its_numbers_in_the_tables_to_publish():
    """Nobody of a known sex is selected: numbers and rates are published, and why no ratio is."""
    rows = _by_category("")
    assert sorted({*rows["hired"]} - {None}) == [0, 1]
    asked = _ASKED | {"sensitive": "sex", "positive": 1}
    text = render(fg.audit(rows, preset="nyc-ll144", **asked), "markdown")
    assert "| Female | 159 | 0 | 0.0% |" in text
    assert "| Male | 160 | 0 | 0.0% |" in text
    assert "There is no impact ratio: selection rate is 0 on both sides." in text


def test_a_third_feature_does_not_replace_the_table_of_two_in_silence():
    rows = pl.DataFrame(
        {"sex": ["F", "M"] * 300, "race": ["A", "B", "B"] * 200, "y": [0, 1, 1, 1, 0] * 120}
    ).with_columns(age=pl.Series(["40 or over"] * 200 + ["under 40"] * 400))
    asked = {"prediction": "y", "positive": 1, "preset": "nyc-ll144"}
    code = "no_pairs_crossed"
    three = fg.audit(rows, **asked, sensitive=["sex", "race", "age"])
    (warned,) = [each for each in three.diagnostics if each.code == code]
    assert warned.message == (
        "preset nyc-ll144 makes one table of sex, race and age together, and none of two of them "
        "(sex*race, sex*age or race*age); name every intersection that is to be published, for "
        "example --intersect 'sex*race' --intersect 'sex*race*age'"
    )
    assert "none of two of them" in " ".join(str(three).split())
    for given in (
        {"sensitive": ["sex", "race"]},
        {"sensitive": ["sex", "race", "age"], "intersections": [["sex", "race"]]},
    ):
        report = fg.audit(rows, **asked, **given)
        assert "sex*race" in {group.feature for group in report.groups}
        assert not [each for each in report.diagnostics if each.code == code]


def test_a_table_with_groups_of_probabilities_alone_is_stated_not_to_be_made():
    """It was left out in silence, and the page counted race to what it does not show."""
    rows = pl.DataFrame(
        {"sex": ["F", "M"] * 100, "w": [0.1, 0.8, 0.9, 0.3] * 50, "y": [0, 1, 1, 1, 0] * 40}
    ).with_columns(b=1 - pl.col("w"))
    asked = {
        "prediction": "y", "positive": 1, "preset": "nyc-ll144", "sensitive": "sex",
        "probabilities": {"name": "race", "probabilities": {"White": "w", "Black": "b"}},
    }  # fmt: skip
    with pytest.raises(SpecError, match="--reference race=White --reference sex=GROUP; the groups"):
        fg.audit(rows, **asked)
    asked["reference"] = {"race": "White", "sex": "M"}
    (warned,) = [each for each in fg.audit(rows, **asked).diagnostics if each.code == "not_crossed"]
    assert "a table of sex and race together, and it is not made: race is not" in warned.message
    assert "--where 'sex = VALUE'" in warned.message
    page = " ".join(render(fg.audit(rows, **asked), "text", full=True).split())
    assert "Groups beyond sex and race; other times and places." in page
    alone = fg.audit(rows, **asked | {"sensitive": [], "reference": {"race": "White"}})
    assert not [each for each in alone.diagnostics if each.code == "not_crossed"]
