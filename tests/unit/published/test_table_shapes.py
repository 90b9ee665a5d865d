"""Tables of other shapes have the same counts, and what cannot be read is named with the flag."""

from __future__ import annotations

import pytest

import fairgauge as fg
from fairgauge.results.check import FaultCode

COUNTS = {
    ("Male", "A"): (1100, 550),
    ("Male", "B"): (800, 300),
    ("Female", "A"): (900, 400),
    ("Female", "B"): (700, 300),
}
WIDE = """Race,Men,Men hired,Women,Women hired
A,1100,550,900,400
B,800,300,700,300
"""
WIDE_NAMES_BEHIND = """Race,Applicants (Men),Hired (Men),Applicants (Women),Hired (Women)
A,1100,550,900,400
B,800,300,700,300
"""
TWO_HEADERS = """Race,Men,,,Women,,
,Applicants,Selected,Rate,Applicants,Selected,Rate
A,1100,550,50%,900,400,44.4%
B,800,300,37.5%,700,300,42.9%
"""
SPANS = """<table><tr><th rowspan=2>Race<th colspan=2>Men<th colspan=2>Women</tr>
<tr><th># of applicants<th># selected<th># of applicants<th># selected</tr>
<tr><td>A<td>1,100<td>550<td>900<td>400</tr>
<tr><td>B<td>800<td>300<td>700<td>300</tr></table>
"""
BLOCKS = """Category  Applicants  Selected  Rate
Men         1,900       850       44.7%
A           1,100       550       50.0%
B           800         300       37.5%
Women       1,600       700       43.8%
A           900         400       44.4%
B           700         300       42.9%
Total       3,500       1,550     44.3%
"""
NAMES_ALONE = """Category,Applicants,Selected
Men,,
A,1100,550
B,800,300
Women,,
A,900,400
B,700,300
"""
MARGINS = """| Sex | Race | Applicants | Hired |
|---|---|---|---|
| Men | All | 1900 | 850 |
| | A | 1100 | 550 |
| | B | 800 | 300 |
| Women | All | 1600 | 700 |
| | A | 900 | 400 |
| | B | 700 | 300 |
| All | A | 2000 | 950 |
| All | B | 1500 | 600 |
"""
BLANK_MARGINS = """Sex,Race,Applicants,Hired
Men,,1900,850
Men,A,1100,550
Men,B,800,300
Women,,1600,700
Women,A,900,400
Women,B,700,300
"""


def counts(text):
    (table,) = fg.check(text).tables
    words = {"men": "Male", "women": "Female", "a": "A", "b": "B"}
    found = {}
    for group in table.groups:
        names = [words[part.casefold()] for part in group.name.split(" & ")]
        found[tuple(sorted(names, reverse=True))] = (group.n, group.selected)
    return found


@pytest.mark.parametrize(
    "text",
    [WIDE, WIDE_NAMES_BEHIND, TWO_HEADERS, SPANS, BLOCKS, NAMES_ALONE, MARGINS, BLANK_MARGINS],
)
def test_every_shape_gives_the_same_counts(text):
    assert counts(text) == COUNTS
    assert fg.check(text).errors == 0


@pytest.mark.parametrize(
    ("text", "row"),
    [
        (BLOCKS.replace("1,900", "1,901"), 1),
        (BLOCKS.replace("3,500", "3,501"), 7),
        (MARGINS.replace("1600", "1601"), 4),
        (MARGINS.replace("| All | B | 1500", "| All | B | 1400"), 8),
        (BLANK_MARGINS.replace("1900", "2000"), 1),
    ],
)
def test_a_margin_among_the_rows_is_held_against_its_rows(text, row):
    faults = [(fault.code, fault.row[0]) for fault in fg.check(text).tables[0].errors]
    assert (FaultCode.TOTAL_MISMATCH, row) in faults


def test_a_row_keeps_its_number_in_a_wide_table():
    text = TWO_HEADERS.replace("42.9%", "49.2%")
    (fault,) = fg.check(text).tables[0].errors
    assert fault.row == (3, "B & Women")


def test_a_column_for_each_group_and_a_row_for_each_number():
    text = "Measure,Men,Women,Unknown\nApplicants,100,90,20\nSelected,50,40,\nRate,50%,44.4%,\n"
    (table,) = fg.check(text).tables
    assert [(g.name, g.n, g.selected) for g in table.groups] == [
        ("Men", 100, 50),
        ("Women", 90, 40),
    ]
    assert table.unknown == 20
    assert table.errors == ()


def test_merged_cells_of_two_header_rows_in_a_workbook(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Race", "Men", None, "Women", None])
    sheet.append([None, "Applicants", "Selected", "Applicants", "Selected"])
    sheet.append(["A", 1100, 550, 900, 400])
    sheet.append(["B", 800, 300, 700, 300])
    for cells in ("A1:A2", "B1:C1", "D1:E1"):
        sheet.merge_cells(cells)
    book.save(tmp_path / "audit.xlsx")
    assert counts([tmp_path / "audit.xlsx"]) == COUNTS


def test_text_of_a_pdf_has_one_space_between_columns():
    text = """Category # of Applicants # Selected Selection Rate Impact Ratio
Hispanic or Latino 408 204 50.0% 1.000
Two or more races 213 96 45.1 % 0.901
Unknown 25 - - -
"""
    (table,) = fg.check(text).tables
    assert dict(table.columns)["n"] == "# of Applicants"
    assert [group.name for group in table.groups] == ["Hispanic or Latino", "Two or more races"]
    assert (table.unknown, table.errors) == (25, ())


def test_dots_between_thousands_where_decimals_have_commas():
    text = "Gruppe;Applicants;Selected;Rate\nA;1.390;667;48,0 %\nB;1.181;555;47,0 %\n"
    (table,) = fg.check(text).tables
    assert [group.n for group in table.groups] == [1390, 1181]
    assert table.errors == ()
    named = fg.check(text, columns={"n": "Applicants"}).tables[0]
    assert [group.n for group in named.groups] == [1390, 1181]
    unclear = fg.check(text.replace(",0 %", " %")).tables[0]
    assert "the dot separates thousands" in unclear.errors[0].message


def test_a_share_in_parentheses_is_the_rate():
    text = """Race  Applicants     Selected (%)
A     1,390 (54.1%)  667 (48.0%)
B     1,181 (45.9%)  555 (57.0%)
"""
    (table,) = fg.check(text).tables
    assert [group.n for group in table.groups] == [1390, 1181]
    assert [fault.code for fault in table.errors] == [FaultCode.RATE_MISMATCH]


def test_remarks_name_no_category():
    text = "Sex,n,hired,Notes\nMale,100,50,\nFemale,90,40,since May\n"
    assert [group.name for group in fg.check(text).tables[0].groups] == ["Male", "Female"]


def test_columns_of_groups_that_differ_are_named_with_the_flag():
    text = "Race,Men,Men hired,Women\nA,100,50,90\nB,80,30,70\n"
    with pytest.raises(fg.DataError, match="--column"):
        fg.check(text)


@pytest.mark.parametrize(
    "text",
    [
        "Sex Applicants Selected\nMale 80 48\nFemale 40\n",  # a number is missing
        "Applicants Selected\nMale 80 48\nFemale 40 12\n",  # no header for the names
        "Sex Foo Bar\nMale 80 48\nFemale 40 12\n",  # headers without a role
        "Sex Selected of Applicants Rate\nMale 1 2 3 4 5\nFemale 1 2 3 4 5\n",  # many numbers
    ],
)
def test_lines_with_one_space_that_divide_into_no_columns_are_no_table(text):
    with pytest.raises(fg.DataError, match="holds no table of at least two columns"):
        fg.check(text)


@pytest.mark.parametrize(
    "header",
    [
        "Men hired,Women hired,Others",  # no group has the name of the last column
        "Men,Men applied,Men hired,Women applied,Women hired",  # the men are counted twice
        "Men applied,Men hired,Women applied",  # nobody knows how many women are hired
        "Applicants men,Hired men,Rate men,Applicants women,Hired women",  # one rate for two groups
        "Hired (men),Hired (),Applicants (men),Applicants ()",  # a group without a name
    ],
)
def test_columns_of_groups_that_do_not_match_are_not_taken_for_groups(header):
    cells = ",".join(str(100 - 7 * i) for i in range(header.count(",") + 1))
    with pytest.raises(fg.DataError, match=r"could each be the number .*--column"):
        fg.check(f"Race,{header}\nA,{cells}\nB,{cells}\n")


def test_a_header_of_html_over_several_lines_has_a_blank_between_its_words():
    rows = "<tr><td>Men<td>100<td>50<td>50%</tr><tr><td>Women<td>100<td>40<td>40%</tr>"
    head = "<th>Sex<th>People<br>who applied<th><p>Selected</p><p>people</p><th>Selection<br/>rate"
    (table,) = fg.check(f"<table><tr>{head}</tr>\n{rows}</table>").tables
    assert dict(table.columns) == {
        "n": "People who applied", "selected": "Selected people", "rate": "Selection rate"
    }  # fmt: skip
    (table,) = fg.check("|Sex|n|Selection<br>rate|\n|--|--|--|\n|M|100|50%|\n|F|100|40%|\n").tables
    assert table.columns["rate"] == "Selection rate"
