"""Numbers that a table withholds, or that are none of its own: nothing is taken for what it is not.

Totals are held against what the printed numbers allow, and what was not checked is stated.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stated_headers import check

import fairgauge as fg
from fairgauge.enums import Outcome
from fairgauge_check.check_result import FaultCode

RATES = (
    "Race,Applicants,Approved,{},Approval rate\nWhite,1000,800,{},80.0%\nBlack,300,190,{},63.3%\n"
)


def faults(text):
    (table,) = check(text).tables
    return {(fault.code, fault.row and fault.row[1]) for fault in table.faults}


def errors(text):
    return [fault.message for table in check(text).tables for fault in table.errors]


def ignored(text):
    (table,) = check(text).tables
    found = [fault for fault in table.faults if fault.code is FaultCode.COLUMNS_IGNORED]
    return [name for fault in found for name in fault["columns"]]


@pytest.mark.parametrize(
    ("header", "values"),
    [("Withdrawn", (50, 20)), ("Median income", (70000, 52000)), ("Score", ("1.00", "0.50"))],
)
def test_a_leftover_column_is_not_the_ratio_and_is_named(header, values):
    text = RATES.format(header, *values)
    assert ignored(text) == [header]
    assert all(group.printed is None for group in check(text).tables[0].groups)


@given(st.lists(st.tuples(st.integers(2, 3000), st.floats(0, 1)), min_size=2, max_size=5))
def test_the_true_rate_of_a_total_is_never_an_error_and_an_impossible_one_always(rows):
    counts = [(n, round(n * share)) for n, share in rows]
    pooled = sum(x for _, x in counts) / sum(n for n, _ in counts)
    lines = [f"G{i},{n},{100 * x / n:.1f}%" for i, (n, x) in enumerate(counts)]
    people = sum(n for n, _ in counts)

    def of_total(rate):
        found = faults("\n".join(["Group,Applicants,Rate", *lines, f"Total,{people},{rate:.1f}%"]))
        return (FaultCode.TOTAL_RATE_MISMATCH, "Total") in found

    assert not of_total(100 * pooled)
    wrong = 100 * pooled + (3 if pooled < 0.5 else -3)
    assert of_total(wrong)


def test_the_rate_of_a_total_states_what_the_rows_allow():
    text = "Group,Applicants,Rate\nMale,1500,42.0%\nFemale,1300,35.2%\nTotal,2800,60.0%\n"
    assert errors(text) == [
        ("the total rate is printed as 60.0%; that of its rows is between 38.82% and 38.89%")
    ]


def test_a_total_of_rates_alone_lies_between_them():
    text = "Group,Rate\nMale,42.0%\nFemale,35.2%\nTotal,{}\n"
    assert errors(text.format("38.8%")) == []
    assert len(errors(text.format("43.8%"))) == 1


def test_a_total_with_withheld_rows_is_held_against_what_they_allow():
    text = "Race,Applicants,Selected\nA,1000,300\nB,500,110\nC,300,*\nTotal,1800,{}\n"
    assert errors(text.format(500)) == []
    assert errors(text.format(800)) == [
        (
            "the total number selected (or scored high) is printed as 800; "
            "its rows add up to between 410 and 710"
        )
    ]
    withheld = text.format(500).replace("C,300,*", "C,*,*")
    assert (FaultCode.TOTAL_NOT_CHECKED, "Total") in faults(withheld)


ROWS = [
    ["Race", "Applicants", "Selected", "Rate", "Ratio"],
    ["White", "1204", "312", "25.9%", "1.00"],
    ["Black", "655", "130", "19.8%", "0.77"],
]


@pytest.mark.parametrize(
    "cells",
    [
        ["Other", "9", "*", "*", "*"],
        ["Other", "900", "*", "*", "*"],
        ["Other", "60", "<5", "<8.3%", "<0.17"],
        ["Other", "60", "<5", "n/a", "n/a"],
    ],
)
@pytest.mark.parametrize("style", ["csv", "markdown"])
def test_a_withheld_category_is_a_note_in_every_format(cells, style):
    rows = [*ROWS, cells]
    if style == "markdown":
        rows = [rows[0], ["---"] * 5, *rows[1:]]
    marks = {"csv": ",", "markdown": " | "}
    edge = "|" if style == "markdown" else ""
    text = "".join(f"{edge}{marks[style].join(row)}{edge}\n" for row in rows)
    assert errors(text) == []
    assert (FaultCode.NOT_STATED, "Other") in faults(text)


def test_escaped_marks_of_markdown_are_marks():
    text = (
        "| g | n | hired |\n|---|---|---|\n| **A** | 90 | 40 |\n| B | 80 | 30 |\n| C | 9 | \\* |\n"
    )
    (table,) = check(text).tables
    assert [group.name for group in table.groups] == ["A", "B", "C"]
    assert (FaultCode.NOT_STATED, "C") in faults(text)


def test_a_share_of_people_states_that_not_all_are_known():
    text = "g,n,hired,ratio\nA,300,150,1.00\nB,100,30,\nC,*,*,*\n"
    assert errors(text) == [
        "no impact ratio is printed for 100 people, 25.0% of those whose number is printed"
    ]


def test_what_could_not_be_read_is_in_the_lead_the_verdict_and_the_navigation(tmp_path):
    (tmp_path / "good.csv").write_text("g,n,hired\nA,80,48\nB,40,20\n")
    (tmp_path / "bad.csv").write_text("g,ratio\nA,1.00\nB,0.50\n")
    found = check(tmp_path)
    shown = str(found)
    assert "1 file, table, row or cell was not read, and not checked." in shown
    assert "1 NOT READ" in shown
    found.save(tmp_path / "check.html")
    assert 'href="#not-read"' in (tmp_path / "check.html").read_text()


TIERS = """,Men,,,Women,,,
Job,Applied,Hired,Rate,Applied,Hired,Rate,Ratio
Engineer,200,50,25%,100,20,20%,0.80
Analyst,150,60,40%,140,42,30%,0.75
"""
RATIOS = ["Sex,Ratio\nM,1.00\nF,0.84\n", "Sex,n,Ratio\nM,90,1.00\nF,80,0.84\n"]


@pytest.mark.parametrize("text", RATIOS)
def test_ratios_alone_cannot_be_checked(text):
    with pytest.raises(fg.DataError, match="no table has the columns that are stated"):
        check(text)


def test_numbers_of_an_error_are_in_the_unit_and_the_style_of_the_printed_ones():
    text = "g,n,hired,rate\nA,1200,720,60.0%\nB,200,140,71.0%\nTotal,1660,860,{}\n"
    total = "the total number of people is printed as 1660; its rows add up to 1400; unless the "
    total += (
        "table leaves out 260 or more of them, such as a category, one of these numbers is wrong"
    )
    assert errors(text.format("51.8%")) == [
        "the rate is printed as 71.0%; 140 of 200 is 70%",
        total,
    ]


def test_of_equal_rates_the_printed_reference_is_the_reference():
    found = check("g,rate,ratio\nA,50.0%,\nB,50.0%,1.00\nC,40.0%,0.80\n")
    assert found.tables[0].reference == "B"
    assert found.verdict is Outcome.NONE


def test_the_same_text_in_several_rows_is_one_note():
    rows = "".join(f"{name},9,3,33.3%,{text}\n" for name, text in zip("BCDE", "**-*", strict=True))
    found = check(f"group,n,hired,rate,ratio\nA,1000,500,50.0%,1.000\n{rows}")
    (note,) = [f for f in found.tables[0].faults if f.code is FaultCode.NOT_STATED]
    assert note.message == (
        "text stands in the place of a number, which is treated as not stated: '*' (impact ratio) "
        "in rows 2, 3 and 5"
    )
    assert type(found).from_dict(found.to_dict()) == found
