"""Rows with something behind their numbers, and lines in no table: read, refused or named."""

from __future__ import annotations

import pytest

from told import check

import fairgauge as fg
from fairgauge.enums import Outcome
from fairgauge.errors import DataError

RULE = "selection_rate.ratio >= 0.8"
ROWS = """Category Applicants Selected Rate Impact ratio
Male 2319 1720 74.2% 1.000
Female 1848 499 27.0% {}
Non-binary 2041 1514 74.2% 1.000
"""


@pytest.mark.parametrize(
    "ratio",
    [
        "0.964 (0.762 to 0.992)", "0.964 (0.7-1.9)", "0.964 [0.7, 1.9]", "0.964 (p = 0.02)",
        "0.964 (n<30)", "0.964 Yes", "0.964 adverse impact",
        "0.964 (n = 30 in the group, below the minimum of 91 (2% of all 4,537 people))",
    ],
)  # fmt: skip
def test_a_row_with_a_remark_behind_its_ratio_is_read(ratio):
    found = check(ROWS.format(ratio), rules=RULE)
    assert [group.n for group in found.tables[0].groups] == [2319, 1848, 2041]
    assert (found.errors, found.verdict, found.exit_code) == (1, Outcome.FAIL, 1)


@pytest.mark.parametrize(
    "ratio", ["N/A", "--", "N/A (fewer than 2%)", "Not calculated due to small numbers", "*"]
)
def test_a_row_with_words_in_the_place_of_its_ratio_is_read(ratio):
    found = check(ROWS.format(ratio), rules=RULE)
    assert [group.n for group in found.tables[0].groups] == [2319, 1848, 2041]
    assert found.exit_code == 1


@pytest.mark.parametrize(
    "reference", ["1.000 (reference)", "1.000 ref", "Reference group", "(reference)"]
)
def test_the_reference_of_single_spaced_text_is_read(reference):
    text = ROWS.format("0.364").replace("1720 74.2% 1.000", f"1721 74.2% {reference}")
    found = check(text, rules=RULE)
    assert (found.tables[0].reference, found.exit_code) == ("Male", 1)


def test_a_row_that_cannot_be_read_is_named_by_its_line():
    with pytest.raises(DataError, match=r"line 3, 'Female 1848 499 27.0% 0.964 0.7-1.9', does not"):
        check(ROWS.format("0.964 0.7-1.9"))


@pytest.mark.parametrize("between", ["\t", "  "])
def test_a_row_with_other_spaces_than_the_table_is_named_and_nothing_passes(between):
    text = ROWS.format("0.964").replace(" ", between).replace(f"Impact{between}", "Impact ")
    text = text.replace(between.join(["1848", "499", "27.0%"]), "1848 499 27.0%")
    text = text.replace(f"Female{between}", "Female ").replace(f"{between}0.964", " 0.964")
    found = check(text, rules=RULE)
    (row,) = found.unread
    assert row.reason == (
        "row 2 of the table, 'Female 1848 499 27.0% 0.964', holds a number that is not read"
    )
    assert (found.verdict, found.exit_code) == (Outcome.INCONCLUSIVE, 3)
    assert "1 file, table, row or cell was not read" in str(found)


def test_dates_and_single_numbers_beside_a_table_are_no_rows():
    notes = "Data of January 1, 2024 to December 31 2024.\nPage 3 of 7\nVersion 2\n\n"
    found = check(f"{notes}{ROWS.format('0.364')}\n{notes}")
    assert (found.unread, found.exit_code) == ((), 0)


def test_a_text_of_a_folder_with_rows_that_cannot_be_read_is_undecided(tmp_path):
    (tmp_path / "good.csv").write_text("g,n,hired\nA,800,480\nB,800,481\n")
    (tmp_path / "bad.txt").write_text(ROWS.format("0.964 0.7-1.9"))
    found = check(tmp_path, rules=RULE)
    assert [each.counts for each in found.unread] == [True]
    assert (found.verdict, found.exit_code) == (Outcome.INCONCLUSIVE, 3)


CELLS = [
    ["Category", "Applicants", "Selected", "Rate", "Impact ratio"],
    ["Male", "2319", "1720", "74.2%", "1.000"],
    ["Non-binary", "2041", "1514", "74.2%", "1.000"],
    ["Female", "1848", "499", "27.0%", "0.964"],
    ["Other", "300", "222", "74.0%", "0.997"],
]


def written(rows, style):
    if style == "html":
        return "<table>" + "".join(f"<tr><td>{'<td>'.join(row)}</tr>" for row in rows) + "</table>"
    mark = {"csv": ",", "tabs": "\t", "one space": " ", "markdown": "|"}[style]
    lines = [mark.join(row) for row in rows]
    if style == "markdown" and rows[0] == CELLS[0]:
        lines.insert(1, "|".join(["---"] * 5))
    return "\n".join(lines) + "\n"


@pytest.mark.one_in(6)
@pytest.mark.parametrize("gap", ["\n", "\f", "\n\f", "\nContinued on next page\n\n", "\n3\n\n"])
@pytest.mark.parametrize("style", ["csv", "tabs", "one space", "markdown", "html"])
def test_a_table_goes_on_behind_a_gap_or_a_page_break(tmp_path, style, gap):
    suffix = {"csv": "csv", "markdown": "md", "html": "html"}.get(style, "txt")
    path = tmp_path / f"table.{suffix}"
    path.write_text(written(CELLS[:3], style) + gap + written(CELLS[3:], style))
    found = check(path, rules=RULE)
    (table,) = found.tables
    assert [group.n for group in table.groups] == [2319, 2041, 1848, 300]
    assert ([each.row for each in table.errors], found.exit_code) == ([(3, "Female")], 1)


@pytest.mark.parametrize("style", ["csv", "tabs", "one space", "markdown"])
@pytest.mark.parametrize("title", ["Race", "Table 2: Race"])
def test_rows_below_a_title_without_a_header_are_refused_or_named(tmp_path, style, title):
    """Which columns they have is not known: they may be of another table."""
    path = tmp_path / f"table.{'csv' if style == 'csv' else 'txt'}"
    path.write_text(f"{written(CELLS[:3], style)}\n{title}\n\n{written(CELLS[3:], style)}")
    if style == "one space":
        found = check(path, rules=RULE)
        assert (len(found.unread), found.exit_code) == (2, 3)
    else:
        with pytest.raises(DataError, match="has no header"):
            check(path, rules=RULE)


def test_a_table_without_a_header_is_refused():
    with pytest.raises(DataError, match="has no header: its first row is 'Male', '2319', '1720'"):
        check(written(CELLS[1:], "csv"))


@pytest.mark.parametrize("ending", [".txt", ".md", ".csv"])
@pytest.mark.parametrize(
    ("cell", "named"),
    [
        ("see note 0.84", True), ("approx 0.84", True), ("between 0.7 and 0.9", True),
        ("see note 3", False), ("n/a", False), ("< 0.9", False), ("withheld", False),
    ],
)  # fmt: skip
def test_a_number_behind_words_is_named_and_nothing_passes(cell, named, ending, tmp_path):
    """It was treated as not stated, and the table had no error."""
    rows = [
        ("Group", "Applicants", "Selected", "Rate", "Impact ratio"),
        ("Male", "100", "50", "50%", "1.00"),
        ("Female", "100", "41", "41%", cell),
        ("Other", "100", "44", "44%", "0.88"),
    ]
    if ending == ".md":
        rows.insert(1, ("---",) * 5)
    between = {".txt": "   ", ".md": " | ", ".csv": ","}[ending]
    path = tmp_path / f"table{ending}"
    path.write_text("\n".join(between.join(row) for row in rows))
    found = check(path)
    assert [cell in each.reason for each in found.unread] == [True] * named
    assert found.exit_code or not named
