"""Every pair of groups, and rates pulled towards the mean, as readers see them."""

from __future__ import annotations

import html
import re

import polars as pl
import pytest

import fairgauge as fg
import sample_reports
from fairgauge.render import render
from fairgauge.render.outline import outline
from fairgauge.render.pairwise_section import by_rate, counted, pair_panels

COUNTS = {"low": (20, 100), "middle": (50, 100), "high": (90, 120), "few": (3, 12)}


def report(counts=COUNTS, **options):
    cells = {name: {"tp": x, "fn": n - x} for name, (x, n) in counts.items()}
    return fg.audit(fg.confusion("g", cells), metrics="DPPL", **options)


def details(shown):
    return re.findall(r'(?s)<details class="every-pair">.*?</details>', shown)


def plain(markup):
    text = re.sub(r"<[^>]*>", " ", markup)
    return re.sub(r"\s+", " ", html.unescape(text).replace("\N{NO-BREAK SPACE}", " "))


def test_text_says_how_many_pairs_differ_and_which_do_most():
    text = render(report(), "text", width=100)
    assert "  Every pair of groups, 95% intervals that hold all at once\n" in text
    assert "  - selection rate: 3 of 6 pairs differ beyond doubt:\n" in text
    assert "      low against high: -55.0 points [-67.0, -38.5], p < 0.001\n" in text
    assert "few against" not in text  # on too few rows to be sure of
    assert "  - base rate: none of 6 pairs differs beyond doubt\n" in text


def test_markdown_says_the_same():
    text = render(report(), "markdown").replace("\N{NO-BREAK SPACE}", " ")
    assert "Every pair of groups, 95% intervals that hold all at once:" in text
    assert "- selection rate: 3 of 6 pairs differ beyond doubt:" in text
    assert "  - low against high: -55.0 points [-67.0, -38.5], p &lt; 0.001" in text


def test_a_notebook_says_the_same():
    text = plain(render(report(), "notebook"))
    assert "Every pair of groups, 95% intervals that hold all at once:" in text
    assert "selection rate: 3 of 6 pairs differ beyond doubt: low against high: -55.0" in text


@pytest.mark.parametrize("format_", ["text", "markdown", "notebook", "html"])
def test_two_groups_have_no_pairs(format_):
    assert "very pair of groups" not in render(sample_reports.small(), format_)


def test_of_many_sure_pairs_a_few_are_named():
    counts = {f"g{i}": (100 * i, 1_000) for i in range(1, 10)}
    text = render(report(counts), "text")
    assert "selection rate: 36 of 36 pairs differ beyond doubt, most of all:" in text
    block = text.split("Every pair of groups")[1].split("How the intervals")[0]
    assert block.split("accuracy:")[0].count(" against ") == 3


def test_a_list_that_was_cut_short_does_not_count_the_rest_out():
    counts = {f"g{i}": (10 * i, 100_000) for i in range(1, 9_900, 300)}
    found = by_rate(outline(report(counts)).sections[0])["selection_rate"]
    assert (len(found), found[0].among) == (435, 528)
    assert counted(found) == "435 or more of 528 pairs differ beyond doubt"


def test_html_draws_every_pair_under_what_holds_for_all_groups():
    (found,) = details(render(report(), "html"))
    text = plain(found)
    assert text.strip().startswith("Every pair of groups base rate: none of 6 pairs differs")
    assert "Selection rate differs between the 4 groups (chi-square of homogeneity: p" in text
    assert "With 95% probability all intervals of a rate hold at once" in text
    chart = next(t for t in re.findall(r"(?s)<table.*?</table>", found) if "Selection" in t)
    rows = re.findall(r"(?s)<tr( class=\"\w+\")?>\s*<th scope=\"row\">(.*?)</th>", chart)
    assert len(rows) == 6
    assert plain(rows[0][1]).strip() == "low against high"
    assert [how for how, name in rows if "few" in plain(name)] == [' class="faint"'] * 3
    assert [how for how, _ in rows].count(' class="sure"') == 3
    assert "-55.0 [-67.0, -38.5] p < 0.001" in plain(chart)
    assert "0.267 [0.155, 0.440]" in plain(chart)
    assert "too few" in plain(chart)


def test_what_stands_with_the_pairs_is_not_told_again():
    text = render(report(), "html")
    assert text.count("Selection rate differs between the 4 groups") == 1
    assert "selection rate differs between the 4 groups" not in text
    # of two groups, the note stays where notes are
    assert "selection rate differs between the 2 groups" in render(sample_reports.small(), "html")


def test_pairs_of_all_rates_stand_on_one_axis():
    panels = pair_panels(outline(report()).sections[0], 30)
    assert len({panel.neutral for panel in panels}) == 1
    for row in (row for panel in panels for row in panel.rows):
        assert row.mark.low <= row.mark.at <= row.mark.high
        assert row.mark.at <= panels[0].neutral  # the lower rate stands first
        assert row.sure == (row.mark.high < panels[0].neutral and not row.mark.faint)


def test_of_more_pairs_than_there_is_room_for_some_are_drawn():
    counts = {f"g{i}": (40 + i, 100) for i in range(12)}
    (found,) = details(render(report(counts), "html"))
    assert "The 30 pairs that differ most; 36 more in the JSON report." in plain(found)


def test_where_there_is_no_room_for_charts_pairs_are_named():
    groups = ["a"] * 60 + ["b"] * 60 + ["c"] * 60
    right = [i % 60 < 20 * (1 + i // 60) for i in range(180)]
    table = {"y": [1, 0] * 90, "s": [0.9 if each else 0.1 for each in right]}
    table |= {f"f{i}": groups for i in range(10)}
    found = fg.audit(
        pl.DataFrame(table), label="y", score="s", sensitive=[f"f{i}" for i in range(10)]
    )
    first = details(render(found, "html"))[0]
    assert "<table" not in first
    text = plain(first)
    assert "All pairs are in the JSON report." in text
    assert "Selection rate: 3 of 3 pairs differ beyond doubt: a against c: -66.7 points" in text


def test_hostile_names_do_no_harm_in_pairs():
    shown = render(sample_reports.hostile(), "html")
    assert details(shown)
    assert "<script>alert" not in shown
    assert "\x1b" not in render(sample_reports.hostile(), "text")


def test_a_rate_that_is_pulled_far_has_a_second_mark():
    text = render(report({"a": (90, 300), "b": (96, 300), "c": (8, 10)}), "html")
    panel = next(
        t for t in re.findall(r"(?s)<table.*?</table>", text) if "Selection rate</a> of each" in t
    )
    assert panel.count('class="pulled"') == 1
    assert re.search(r"80\.0%.*pulled: \d\d\.\d%", plain(panel))
    assert text.count("for looking, never for a verdict") == 1


def test_rates_that_hardly_move_have_one_mark():
    text = render(report({"a": (900, 3000), "b": (960, 3000), "c": (1000, 3000)}), "html")
    assert "pulled" not in re.sub(r"(?s)<style>.*?</style>", "", text)


def test_the_largest_gap_is_one_number_of_all_groups():
    cells = {name: {"tp": x, "fn": n - x} for name, (x, n) in COUNTS.items()}
    metrics = ["DPPL", "selection_rate.largest_gap"]
    found = fg.audit(fg.confusion("g", cells), metrics=metrics)
    section = outline(found).sections[0]
    assert section.metrics == ("DPPL",)
    assert [each.metric for each in section.across] == ["selection_rate.largest_gap"]
    text = render(found, "text")
    assert "Disparities against the rest" in text
    assert "  All groups at once\n" in text
    shown = render(found, "html")
    assert re.search(r"All groups at once</h4>.*selection rate is furthest apart", shown, re.DOTALL)
