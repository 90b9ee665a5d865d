"""The HTML page without a browser: its policy, its parts, its charts' geometry."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from html.parser import HTMLParser

import pytest

import fairgauge as fg
import sample_reports
from fairgauge.render import render
from fairgauge.render.axis_geometry import Scale, scale, ticks
from fairgauge.render.command_line import command

VOID = {"meta", "link", "br", "input", "circle", "line", "rect", "path"}


class Page(HTMLParser):
    """Collects the tags of a page, and checks that they close."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag


@pytest.fixture(
    scope="module", params=["small", "several", "berkeley", "crossed", "hostile", "scored"]
)
def page(request):
    return render(sample_reports.sure(getattr(sample_reports, request.param)()), "html")


def test_tags_close_and_ids_are_unique(page):
    found = Page(page)
    assert found.open == []
    ids = [attrs["id"] for _, attrs in found.tags if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_every_link_leads_into_the_page(page):
    tags = Page(page).tags
    ids = {attrs.get("id") for _, attrs in tags}
    for tag, attrs in tags:
        for name in ("src", "action", "srcset", "style", "onclick", "data"):
            assert name not in attrs, (tag, attrs)
        link = attrs.get("href") or "data:,"
        assert link == "data:," if tag == "link" else link.startswith("#") or tag != "a"
        if tag == "a":
            assert link[1:] in ids, link


def test_the_policy_allows_only_what_is_in_the_page(page):
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1])
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        text = re.search(rf"(?s)<{tag}>(.*?)</{tag}>", page)[1]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_every_chart_has_a_caption_and_is_hidden_from_screen_readers(page):
    tables = re.findall(r"(?s)<table.*?</table>", page)
    assert tables
    assert all("<caption>" in table for table in tables)
    assert all(
        'aria-hidden="true"' in svg for svg in re.findall(r"<svg[^>]*>", page) if "x=" not in svg
    )


def test_the_story_is_told_in_order():
    text = render(sample_reports.several(), "html")
    places = [
        text.index(f'<section id="{part}"')
        for part in ("short", "disparities", "groups", "data", "all", "method", "provenance",
                     "glossary", "limits")
    ]  # fmt: skip
    assert places == sorted(places)


def test_every_estimate_is_in_the_table():
    report = sample_reports.crossed()
    table = re.search(r'(?s)<table[^>]*id="estimates">.*?</table>', render(report, "html"))[0]
    assert table.count("<tr>") == len(report.estimates) + 1


def test_a_page_of_every_metric_stays_below_a_megabyte():
    report = sample_reports.sure(sample_reports.crossed(metrics="all"))
    text = render(report, "html")
    assert len(text.encode()) < 1_000_000
    shown = re.search(r'(?s)<table[^>]*id="estimates">.*?</table>', text)[0].count("<tr>") - 1
    assert f"{len(report.estimates) - shown:,} more in the JSON and CSV reports" in text


def test_every_metric_is_explained():
    report = sample_reports.small()
    text = render(report, "html")
    for name in {each.metric for each in report.estimates}:
        assert f'<article id="metric-{name}">' in text
        assert f'href="#metric-{name}"' in text
    assert "[TP / (TP + FN)]_a - [TP / (TP + FN)]_d" in html.unescape(text)


def test_limits_of_a_rule_are_shaded_where_the_metric_stands():
    text = render(sample_reports.small(), "html")
    chart = re.search(r'(?s)<table class="chart" data-metric="DI">.*?</table>', text)[0]
    other = re.search(r'(?s)<table class="chart" data-metric="RD">.*?</table>', text)[0]
    assert 'class="allowed"' in chart
    assert 'class="allowed"' not in other
    assert "0.8 to 1.25" in chart


def test_heat_tables_for_intersections_only():
    assert 'class="heat"' in render(sample_reports.crossed(), "html")
    assert 'class="heat"' not in render(sample_reports.small(), "html")


def test_the_picture_of_berkeley_shows_all_rows_and_each_department():
    text = render(sample_reports.berkeley(), "html")
    tables = re.findall(r'(?s)<table class="chart strata[^"]*">.*?</table>', text)
    assert len(tables) == 2
    rows = re.findall(r'(?s)<th scope="row">(.*?)</th>', tables[0])
    assert [re.sub("<.*?>", "", row) for row in rows] == ["all rows", *"ABCDEF"]
    assert "Dept held fixed" in tables[1]


def test_the_command_asks_the_same_again():
    assert command(sample_reports.small()) == (
        "fairgauge audit DATA --label label --prediction prediction --positive 1 --sensitive sex "
        "--rule '0.8 <= DI <= 1.25' --rule '-0.5 <= AD <= 0.5'"
    )
    rules = [fg.rule("DI", at_least=0.8, features="sex")]
    cube = fg.confusion("sex", {"F": {"tp": 2, "tn": 1}, "M": {"tp": 3, "fn": 1}})
    assert command(fg.audit(cube, rules=rules)) is None


def test_an_axis_has_round_ends_and_few_ticks():
    axis = scale([-0.283, 0.17, None, float("inf")], [0.0])
    assert (axis.low, axis.high) == pytest.approx((-0.4, 0.2))
    assert [tick.label for tick in ticks(axis)] == ["-0.4", "-0.2", "0", "0.2"]
    assert axis.at(axis.low) == 4
    assert axis.at(axis.high) == 96
    assert axis.at(99) == 96


def test_a_ratio_is_as_far_from_one_as_its_inverse():
    axis = scale([0.5, 1.3], [1.0], log=True)
    assert axis.at(1) == 50
    assert axis.at(0.5) + axis.at(2) == pytest.approx(100)
    assert isinstance(axis, Scale)


def test_a_single_value_still_has_an_axis():
    axis = scale([0.0], [0.0])
    assert axis.low < 0 < axis.high
