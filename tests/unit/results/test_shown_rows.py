"""The rows of a report: tuples that a console and a notebook show as tables."""

from __future__ import annotations

import pickle
import re

import polars as pl
import pytest

import fairgauge as fg

COUNTS = fg.confusion(
    "sex",
    {"F": {"tp": 10, "fn": 90}, "M": {"tp": 60, "fn": 40}, "<b>x": {"tp": 30, "fn": 60}},
)
REPORT = fg.audit(COUNTS, rules=["true_positive_rate.ratio >= 0.8"])
NAMES = ["groups", "estimates", "verdicts", "pairs", "findings"]


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_a_tuple_that_is_shown_as_a_table(name):
    rows = getattr(REPORT, name)
    assert isinstance(rows, tuple)
    assert rows == tuple(rows)
    head, *lines = repr(rows).splitlines()
    assert "feature" in head.split()
    shown = lines[:20]
    assert len(shown) == min(len(rows), 20)
    assert all("sex" in line for line in shown)
    assert len(max(repr(rows).splitlines(), key=len)) <= 200
    page = rows._repr_html_()
    assert page.count("<tr>") == len(shown) + 1
    assert "<b>x" not in page
    assert not re.search("<(script|style)|style=", page)


def test_a_group_stands_with_its_counts_and_rates():
    head, *lines = repr(REPORT.groups).splitlines()
    assert head.split()[:3] == ["feature", "group", "n"]
    (women,) = [line for line in lines if " F " in line]
    assert women.split()[2] == "100"
    rate = head.split().index("true_positive_rate")
    assert women.split()[rate] == "0.1000"


def test_a_part_of_the_rows_is_shown_as_they_are():
    few = REPORT.estimates[:2]
    assert type(few) is type(REPORT.estimates)
    assert len(repr(few).splitlines()) == 3
    assert repr(REPORT.estimates[:0]) == "(no rows)"
    assert pickle.loads(pickle.dumps(REPORT.estimates)) == REPORT.estimates


def test_what_has_no_room_is_counted():
    many = type(REPORT.groups)(REPORT.groups * 20)
    assert f"{len(many) - 20} more rows; report.to_pandas() has all" in repr(many)


def test_a_report_that_was_read_has_the_same_rows():
    again = fg.Report.from_dict(REPORT.to_dict())
    for name in NAMES:
        assert repr(getattr(again, name)) == repr(getattr(REPORT, name))


def test_rows_that_are_shown_keep_what_their_names_stand_for():
    """Scores that are cut at their median have a scoring rate, in the row and in its sentence."""
    rows = pl.DataFrame({"g": ["a", "b"] * 200, "s": [i / 400 for i in range(400)]})
    report = fg.audit(rows, score="s", sensitive="g", threshold="median")
    scored = [each for each in report.estimates if each.metric.startswith("selection_rate")]
    assert scored
    assert all("scoring rate" in str(each) for each in scored)
