"""Reports of impact ratios alone: what a reader who must publish or judge one is told."""

from __future__ import annotations

import functools
import re

import polars as pl
import pytest
from tests.selected_groups import selected

import fairgauge as fg
import sample_reports
from fairgauge.render import render
from fairgauge.render.words import question_sentences as question

CELLS = {
    ("Female", "White"): (300, 600), ("Male", "White"): (330, 600),
    ("Female", "Black"): (150, 420), ("Male", "Black"): (160, 400),
    ("Female", "Asian"): (180, 350), ("Male", "Asian"): (190, 340),
    ("Female", "Native"): (9, 20), ("Male", "Native"): (12, 33),
    (None, "White"): (20, 60), ("Male", None): (22, 40),
}  # fmt: skip


def applicants():
    return pl.DataFrame(
        [
            {"sex": sex, "race": race, "hired": int(i < selected), "score": i / n}
            for (sex, race), (selected, n) in CELLS.items()
            for i in range(n)
        ]
    )


@functools.cache
def report():
    return fg.audit(
        applicants(),
        prediction="hired",
        positive=1,
        sensitive=["sex", "race"],
        preset="nyc-ll144",
        rules=["selection_rate.ratio >= 0.8"],
    )


def shown(of=None, format_="text", **options):
    options |= {"width": 100} if format_ == "text" else {}
    return " ".join(render(of or report(), format_, **options).split())


def test_findings_are_made_of_ratios_where_only_ratios_are_asked():
    """A small group is no reason to leave significant ratios unstated."""
    text = shown(full=True)
    assert "2. Black (race) is selected less often than Asian: 37.8% vs 53.6% (ratio 0.71," in text
    assert "1. Female & Black (sex*race) is selected less often than Male & Asian" in text
    assert "Native, n = 53" in text


def test_ratios_and_differences_have_the_same_findings():
    both = fg.audit(
        applicants(),
        prediction="hired",
        positive=1,
        sensitive=["sex", "race"],
        reference="best",
        intersections=[("sex", "race")],
        metrics=["selection_rate.difference", "selection_rate.ratio"],
        min_share=0.02,
    )
    for group in ("Black (race)", "Female & Black (sex*race)"):
        assert f"{group} is selected less often than" in shown(both, full=True)
        assert f"{group} is selected less often than" in shown(full=True)


def test_the_reference_is_the_best_of_the_groups_that_are_large_enough():
    best = "the group with the most favourable rate among groups of at least"
    assert f"{best} 2% of the rows" in shown()
    few = fg.audit(
        applicants(), prediction="hired", positive=1, sensitive="race", reference="best", min_n=60
    )
    assert "the most favourable rate among groups of at least 60 rows" in shown(few)


def test_in_new_york_the_most_selected_category_of_a_small_audit_is_the_reference():
    """Of 15 people, 5% of the applicants, it was passed over: only shares below 2% may be."""
    cells = {"White": (45, 150), "Black": (22, 90), "Hispanic": (13, 45), "Asian": (14, 15)}
    asked = {"preset": "nyc-ll144"}
    few = fg.audit(selected(cells), **asked, rules="selection_rate.ratio >= 0.2")
    ratios = {each.group: each.value for each in few.estimates}
    assert ratios == pytest.approx(
        {name: selected / n * 15 / 14 for name, (selected, n) in cells.items() if name != "Asian"}
    )
    assert few.exit_code == 3
    assert str(few.brief().headline) == "No difference between groups could be tested"
    small = fg.audit(selected(cells), **{**asked, "preset": "ugesp"})
    assert {each.reference.group for each in small.estimates if each.reference} == {"White"}
    assert "difference between groups with sufficient data" in str(small.brief().headline)
    two = {name: cells[name] for name in ("White", "Asian")}
    none = fg.audit(selected(two), **{**asked, "preset": "ugesp"})
    assert str(none.brief().headline) == "No difference between groups could be tested"


def test_groups_below_the_smallest_share_are_named_with_it():
    text = shown()
    assert "Insufficient data for any conclusion" not in text
    assert "? below the minimum of 2% of the rows (58): Native, n = 53" in text
    assert "? insufficient data" not in text


def test_one_small_group_has_one_minimum():
    for each in report().estimates:
        if "Native" in str(each.group):
            assert "below 20" not in each.says
            assert "below the minimum of" in each.says


def test_no_difference_is_stated_of_comparisons_with_the_reference():
    cells = {"a": (500, 1_000), "b": (460, 1_000), "c": (535, 1_000), "d": (500, 1_000)}
    of = fg.audit(
        selected(cells),
        reference={"g": "a"},
        metrics=["selection_rate.difference"],
    )
    assert any(pair.significant for pair in of.pairs)
    text = shown(of)
    assert (
        "difference in selection rate (between a and any other group of g; simultaneous CIs" in text
    )
    assert "But 1 of 6 pairs of groups of g differs statistically significantly" in text


@pytest.mark.parametrize("format_", ["html", "markdown"])
def test_the_ratio_of_the_reference_is_marked_as_such(format_):
    text = render(report(), format_)
    assert ("| 690 | 53.6 ref. |" if format_ == "markdown" else ">ref.<") in text


def test_an_undecided_rule_names_the_rows_without_a_group():
    """Of 0.91 with a confidence interval above 0.8 it is not obvious why nothing is decided."""
    of = fg.audit(
        applicants().vstack(
            applicants().head(400).with_columns(pl.lit(None, pl.String).alias("sex"))
        ),
        prediction="hired",
        positive=1,
        sensitive="sex",
        reference="best",
        rules=["selection_rate.ratio >= 0.8"],
        metrics=["selection_rate.ratio"],
    )
    undecided = "INCONCLUSIVE for Female (0.91, CI 0.84 to 0.98; 460 rows without sex could"
    assert f"{undecided} change it)" in shown(of)


def test_charts_and_legends_of_ratios_do_not_speak_of_differences():
    whole = shown(format_="html")
    assert "ratio to Male" in whole
    assert "differences in pp" not in whole
    assert "diff." not in shown()
    assert "differences in pp" in shown(sample_reports.several(), "html")


def test_the_number_of_unknowns_stands_in_the_lead_of_a_preset():
    numbers = "Of unknown category: 60 rows in sex, 40 rows in race, 100 rows in sex*race."
    assert numbers in shown()
    assert numbers in question.lead(report())


@pytest.mark.parametrize("unknown", ["Race Not Available", None])
@pytest.mark.parametrize("preset", ["nyc-ll144", "us-lending"])
def test_rows_of_unknown_category_that_a_condition_cannot_choose_are_stated(unknown, preset):
    """They are not among the chosen rows, of which alone the tables count who has no group."""
    race = ["White"] * 1200 + ["Black"] * 500 + ["Asian"] * 100 + [unknown] * 200
    sex = [*["F", "M"] * 990, *[None] * 20]
    sex[:30] = [None] * 30
    table = pl.DataFrame({"race": race, "sex": sex, "hired": [1, 0, 1, 1] * 500})
    options = {"prediction": "hired", "positive": 1, "preset": preset, "reference": "others"}
    options |= {"unknown": [unknown] if unknown else [], "where": ["race = White or Black"]}
    why = "the condition on race cannot be decided"
    undecided = f"200 rows of unknown race are in no number: {why}"
    for sensitive, crossed, others in (
        (["race"], [], "no rows"),
        (["race", "sex"], [["race", "sex"]], "30 rows in sex, 30 rows in race*sex"),
    ):
        of = fg.audit(table, sensitive=sensitive, intersections=crossed, **options)
        assert of.data.excluded["missing race (where)"] == 200
        sentence = f"{undecided}. Of unknown category among the others: {others}."
        for format_, how in (("markdown", {"full": True}), ("html", {}), ("text", {"full": True})):
            assert sentence in shown(of, format_, **how).replace("\\", "")
        assert "Of unknown category: no rows" not in question.unknown_sentence(of)
    chosen = fg.audit(table, sensitive="race", **options | {"where": {"race": ["White", None]}})
    stated = f"{undecided}. " if unknown else "Of unknown category: 200 rows in race."
    assert stated in question.unknown_sentence(chosen)
    if preset == "us-lending":
        kept = fg.audit(table, sensitive="race", missing="group", **options)
        assert f"{undecided}. Who else is of unknown category" in question.unknown_sentence(kept)


def test_the_table_of_excluded_rows_has_the_intersection():
    assert "<td>unknown sex or race (sex*race)</td><td>100</td>" in _plain_cells(
        shown(format_="html")
    )


def _plain_cells(html):
    return re.sub(r"<(td|th)[^>]*>", r"<td>", html).replace("</th>", "</td>")


def test_p_values_are_called_adjusted_where_they_are():
    whole = shown(format_="html").replace("\N{NO-BREAK SPACE}", " ")
    assert "adjusted p = " in whole
    assert ">p = 0.016" not in whole


def test_charts_state_which_intervals_they_have():
    """One number has one interval, or the report states what distinguishes the two."""
    together = "Simultaneous confidence intervals: those of "
    best = shown(format_="html")
    assert together in best
    assert "simultaneous 95% CI 0.59 to 0.84" in best
    several = shown(sample_reports.several(), "html")
    assert together in several


def test_scores_alone_are_not_said_to_have_a_positive_value():
    scored = fg.audit(
        applicants(), score="score", sensitive="race", preset="nyc-ll144", score_range=(0, 1)
    )
    text = shown(scored)
    assert "1 or true" not in text
    assert "score is > the median of the scores (0.4983)" in text
    assert "1 or true" not in shown(scored, "html")


@pytest.mark.parametrize("column", ["sex", "race"])
def test_a_text_that_means_unknown_is_not_no_rows_of_unknown_category(column):
    rows = applicants().with_columns(pl.col(column).fill_null("Unknown"))
    text = shown(
        fg.audit(
            rows, prediction="hired", positive=1, sensitive=["sex", "race"], preset="nyc-ll144"
        )
    )
    count = rows.filter(pl.col(column) == "Unknown").height
    assert count > 0
    assert f"'Unknown' of {column} ({count} rows)" in text
    assert "state it: --unknown Unknown" in text
    assert "no rows" not in text


def test_rows_without_one_feature_are_excluded_from_it_alone():
    assert "Excluded from sex: 60 rows; from race: 40 rows." in shown()
