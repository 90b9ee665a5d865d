"""Text as it is pasted from published audits: one space, notes, headers of two lines, nesting."""

from __future__ import annotations

import random
import re

import pytest

import fairgauge as fg
from fairgauge.errors import DataError
from fairgauge.results.check import FaultCode

LABELS = "# of Applicants # Selected Selection Rate Impact Ratio"
TWO_ROWS = "Hispanic or Latino 408 204 50.0% 0.967\nWhite 797 412 51.7% 1.000"
TWO_GROUPS = {("Hispanic or Latino",): (408, 204), ("White",): (797, 412)}
NEW_YORK = [
    ("Hispanic or Latino", "Male", "", 205, 90, "43.9%", "0.841"),
    ("Hispanic or Latino", "Female", "", 190, 82, "43.2%", "0.827"),
    ("Not Hispanic or Latino", "Male", "White", 412, 215, "52.2%", "1.000"),
    ("Not Hispanic or Latino", "Male", "Black", 226, 95, "42.0%", "0.806"),
    ("Not Hispanic or Latino", "Male", "Asian", 321, 167, "52.0%", "0.997"),
    ("Not Hispanic or Latino", "Female", "White", 385, 197, "51.2%", "0.981"),
    ("Not Hispanic or Latino", "Female", "Black", 164, 75, "45.7%", "0.876"),
    ("Not Hispanic or Latino", "Female", "Asian", 295, 135, "45.8%", "0.877"),
]


def headings(rows, between, start=""):
    """Write every level above the rows, on lines of their own."""
    above = ()
    for *names, n, selected, rate, ratio in rows:
        names = [name for name in names if name]
        path = tuple(names[:-1])
        if path != above:
            same = next((i for i, (a, b) in enumerate(zip(path, above, strict=False)) if a != b), 0)
            yield from path[same:]
        above = path
        yield between.join([start + names[-1], str(n), str(selected), rate, ratio])


def as_lines(rows):
    """Write the levels in front of the first of their rows, as text of merged cells comes out."""
    above = ("", "", "")
    for *names, n, selected, rate, ratio in rows:
        first = next(i for i, (a, b) in enumerate(zip(names, above, strict=True)) if a != b)
        above = names
        own = " ".join(name for name in names[first:] if name)
        yield f"{own} {n} {selected} {rate} {ratio}"


LAYOUTS = {
    "headings, one space": "\n".join([f"Category {LABELS}", *headings(NEW_YORK, " ")]),
    "headings, tabs": "\n".join(
        ["Category\t# of Applicants\t# Selected\tRate\tRatio", *headings(NEW_YORK, "\t")]
    ),
    "in front of rows": "\n".join([LABELS, *as_lines(NEW_YORK)]),
    "csv": "\n".join(
        ["Ethnicity,Sex,Race,Applicants,Selected,Rate,Ratio"]
        + [",".join(map(str, row)) for row in NEW_YORK]
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_layout_of_new_york_has_one_reference_over_all(layout):
    found = fg.check(LAYOUTS[layout])
    (table,) = found.tables
    assert table.reference == table.printed_reference == "Not Hispanic or Latino & Male & White"
    assert found.errors == 0
    assert found.numbers_checked == 2 * len(NEW_YORK) - 1
    assert [(g.name, g.n, g.selected) for g in table.groups] == [
        (" & ".join(name for name in row[:3] if name), *row[3:5]) for row in NEW_YORK
    ]


def test_headings_of_both_features_that_share_categories_are_one_table():
    text = f"""Category {LABELS}
Hispanic
Male 205 90 43.9% 0.841
Female 190 82 43.2% 0.827
Not Hispanic Male
White 412 215 52.2% 1.000
Black 226 95 42.0% 0.806
Not Hispanic Female
White 385 197 51.2% 0.981
Black 164 75 45.7% 0.876
"""
    (table,) = fg.check(text).tables
    assert table.reference == "Not Hispanic Male & White"
    assert [g.name for g in table.groups][:2] == ["Hispanic & Male", "Hispanic & Female"]


BLOCKS = {
    "one level": [row for row in NEW_YORK if row[2]],
    "first without races": NEW_YORK,
    "last without races": [*NEW_YORK[2:], *NEW_YORK[:2]],
}


def below_each_other(rows, first, indent):
    """Write cells in columns, those of numbers at the right, with headings on lines of their own.

    Sexes are indented by one step, and races by two.
    """
    sexes = {"Male", "Female"}
    for name, *numbers in rows:
        step = 0 if name in (first, "Not Hispanic or Latino", "Hispanic or Latino") else 2
        own = " " * (indent if name in sexes else indent * step) + name
        yield (own.ljust(30) + "".join(f"{cell:>18}" for cell in numbers)) if numbers else own


@pytest.mark.one_in(6)
@pytest.mark.parametrize("blocks", BLOCKS)
@pytest.mark.parametrize("title", ["", "Table 2: people by sex and race\n"])
@pytest.mark.parametrize("first", ["Category", ""])
def test_one_nested_table_has_the_same_categories_however_it_is_written(blocks, title, first):
    rows = [row if blocks != "one level" else ("", *row[1:]) for row in BLOCKS[blocks]]
    labels = ["# of Applicants", "# Selected", "Selection Rate", "Impact Ratio"]
    cells = [[first, *labels], *(line.split("\t") for line in headings(rows, "\t"))]
    names = [" & ".join(name for name in row[:3] if name) for row in rows]
    texts = [
        *(title + "\n".join(map(mark.join, cells)) for mark in ("\t", " ")),
        *(title + "\n".join(below_each_other(cells, first, indent)) for indent in (0, 1, 2, 4)),
    ]
    if not title:
        wide = [",".join([*row, *[""] * (5 - len(row))]) for row in cells]
        texts.append("\n".join(wide))
    for text in texts:
        found = fg.check(text)
        assert [group.name for table in found.tables for group in table.groups] == names, text
        assert found.errors == 0


@pytest.mark.parametrize("between", ["\t", " "])
def test_a_heading_that_may_stand_below_another_or_in_its_place_is_ambiguous(between):
    rows = [*NEW_YORK[2:], ("Two or More", "Younger", "", 205, 90, "43.9%", "0.841")]
    labels = ["Category", "# of Applicants", "# Selected", "Selection Rate", "Impact Ratio"]
    text = "\n".join([between.join(labels), *headings(rows, between)])
    with pytest.raises(DataError, match="row 10, 'Two or More', is ambiguous: it may stand below"):
        fg.check(text)


@pytest.mark.parametrize("above", ["", "Not Hispanic\n"])
@pytest.mark.parametrize("between", [" ", "\t"])
def test_rows_above_the_first_heading_are_of_no_block(above, between):
    """The two rows of all Hispanic people stand above the headings of the others."""
    header = between.join(("Category", "# of Applicants", "# Selected", "Selection Rate", "Ratio"))
    rows = [[" ".join(each[:2]), *map(str, each[3:])] for each in NEW_YORK[:2]]
    first = "\n".join(map(between.join, rows))
    parts = dict.fromkeys(each[1] for each in NEW_YORK)
    blocks = [(sex, *[[each[2], *map(str, each[3:])] for each in NEW_YORK[2:] if each[1] == sex])
              for sex in parts]  # fmt: skip
    below = "\n".join("\n".join([f"Other {sex}", *map(between.join, of)]) for sex, *of in blocks)
    found = fg.check(f"{header}\n{first}\n{above}{below}\n")
    (table,) = found.tables
    assert (found.errors, found.numbers_checked) == (0, 2 * len(NEW_YORK) - 1)
    prefix = "Not Hispanic & " if above else ""
    assert [group.name for group in table.groups][1:3] == [
        "Hispanic or Latino Female", f"{prefix}Other Male & White"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "note",
    [
        "* Candidates of unknown race or ethnicity (250) are not included above.",
        "Note: the ratios are those of the year 2023",
        "Source: the applicant tracking system, 1 January to 31 December 2023\nPage 4 of 12",
    ],
)
def test_a_note_below_rows_with_one_space_is_no_row(note):
    found = fg.check(f"Table 2\nRace/Ethnicity {LABELS}\n{TWO_ROWS}\n{note}")
    (table,) = found.tables
    assert {(g.name,): (g.n, g.selected) for g in table.groups} == TWO_GROUPS
    assert found.errors == 0


def test_a_line_that_counts_people_of_unknown_category_is_a_row_of_these():
    (table,) = fg.check(f"Race/Ethnicity {LABELS}\n{TWO_ROWS}\nUnknown 250\n").tables
    assert table.unknown == 250


@pytest.mark.parametrize(
    "name", ["Native Hawaiian or\nPacific Islander", "Asian /\nPacific Islander"]
)
def test_a_name_that_is_broken_behind_a_conjunction_is_one(name):
    """Its first half was a heading of the rows below it, or was lost."""
    flat = fg.check(f"Race {LABELS}\n{TWO_ROWS}\n{name} 119 52 43.7% 0.845").tables[0]
    whole = " ".join(name.split())
    assert [each.name for each in flat.groups] == ["Hispanic or Latino", "White", whole]
    nested = "\n".join(headings(NEW_YORK, " ")).replace("Black 226", f"{name} 226")
    (table,) = fg.check(f"Category {LABELS}\n{nested}").tables
    names = [each.name for each in table.groups]
    assert names[3] == f"Not Hispanic or Latino & Male & {whole}"
    assert names[4] == "Not Hispanic or Latino & Male & Asian"


@pytest.mark.parametrize("total", ["Total 1,205 616 51.1%", "Total 1,205 616 51.1% -"])
def test_a_total_without_a_ratio_is_one(total):
    (table,) = fg.check(f"Race {LABELS}\n{TWO_ROWS}\n{total}").tables
    assert len(table.groups) == 2
    assert FaultCode.TOTAL_MISMATCH not in [each.code for each in table.faults]
    (wrong,) = fg.check(f"Race {LABELS}\n{TWO_ROWS}\n{total}".replace("616", "617")).tables
    assert FaultCode.TOTAL_MISMATCH in [each.code for each in wrong.faults]


@pytest.mark.parametrize(("n", "selected", "wrong"), [
    (1205, 616, False), (1365, 616, False), (1365, 700, False), (1205, 700, True),
])  # fmt: skip
def test_a_total_is_of_the_people_whose_number_it_states(n, selected, wrong):
    """Its selected people could be of unknown category where its people were not."""
    rate = f"{100 * selected / n:.1f}%"
    text = f"Race,{','.join(['Applicants', 'Selected', 'Rate', 'Ratio'])}\n"
    text += "Hispanic,408,204,50.0%,0.967\nWhite,797,412,51.7%,1.000\nUnknown,160,,,\n"
    (table,) = fg.check(f"{text}Total,{n},{selected},{rate},").tables
    codes = [each.code for each in table.faults]
    assert (FaultCode.TOTAL_MISMATCH in codes) is wrong


@pytest.mark.parametrize(
    "header",
    [
        "Race / Ethnicity # of # Selection Impact\nCategories Applicants Selected Rate Ratio",
        "Race/Ethnicity # of # Selection Impact\nApplicants Selected Rate Ratio",
        "Race/Ethnicity # of Applicants # Selected Selection\nRate Impact\nRatio",
        "Race/Ethnicity # of Applicants # Selected\nSelection Rate\nImpact Ratio",
        "Table 2\nRace/Ethnicity # of Applicants # Selected Selection Rate Impact\nRatio",
    ],
)
def test_a_header_of_several_lines_with_one_space(header):
    (table,) = fg.check(f"{header}\n{TWO_ROWS}").tables
    assert {(g.name,): (g.n, g.selected) for g in table.groups} == TWO_GROUPS
    assert "#" not in table.name


@pytest.mark.parametrize("between", ["\t", "   "])
@pytest.mark.parametrize("corner", ["", "Race or"])
def test_a_header_that_is_broken_over_two_lines(between, corner):
    upper = [corner, "Number of", "Number", "Selection", "Impact"]
    lower = ["Ethnicity", "Applicants", "Selected", "Rate", "Ratio"]
    rows = [["Hispanic", "408", "204", "50.0%", "0.967"], ["White", "797", "412", "51.7%", "1.000"]]
    (table,) = fg.check("\n".join(between.join(line) for line in (upper, lower, *rows))).tables
    assert list(table.columns.values()) == [
        "Number of Applicants", "Number Selected", "Selection Rate", "Impact Ratio",
    ]  # fmt: skip
    assert [g.name for g in table.groups] == ["Hispanic", "White"]


def test_withheld_intersections_with_one_space_keep_both_features():
    text = """Sex Race Applicants Selected Rate Ratio
Male White 412 215 52.2% 1.000
Male Black 226 95 42.0% 0.806
Male NHPI <10 * * *
Female White 385 197 51.2% 0.981
Female Black 164 75 45.7% 0.876
Female NHPI <10 * * *
"""
    found = fg.check(text)
    (table,) = found.tables
    assert table.name == "Sex × Race"
    assert [g.name for g in table.groups if g.n is None] == ["Male & NHPI", "Female & NHPI"]
    assert found.errors == 0


def test_a_name_with_the_word_of_a_sex_behind_it_is_divided_too():
    text = "Group Applicants Hired\nWhite Male 412 215\nBlack Male 226 95\nWhite Female 385 197"
    (table,) = fg.check(text).tables
    assert [g.name for g in table.groups] == ["White & Male", "Black & Male", "White & Female"]
    names = "Group Applicants Hired\nMen 412 215\nWomen 385 197\nWomen in part time 100 44"
    (table,) = fg.check(names).tables
    assert [g.name for g in table.groups][2] == "Women in part time"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"Audit\n\nSex {LABELS}\nMale 1390 667 48% 1.00\nFemale 1181 555\nX 90 40 44% .93\n",
            "line 5, 'Female 1181 555', does not end in 4 numbers as other lines do",
        ),
        ("Male 1390 667\nFemale 1181 555", "no header stands above line 1, 'Male 1390 667'"),
        ("Sex A B\nMale 1390 667\nFemale 1181 555", "line 1, 'Sex A B', is no header of 3 columns"),
    ],
)
def test_pasted_lines_that_are_no_table_are_named_by_their_number(text, message):
    with pytest.raises(DataError, match=re.escape(message)):
        fg.check(text)


def test_a_ratio_is_stated_to_as_many_places_as_show_that_it_is_another():
    text = "group,n,hired,ratio\nA,412,215,1.000\nB,115,52,0.867\n"
    ((fault,),) = [table.errors for table in fg.check(text).tables]
    assert "it is 0.866491" in fault.message


ALIGNED = """Race/Ethnicity               Applicants  Selected  Selection rate  Impact ratio
Asian                        461         163       35.4%           0.890
Black or African American    734         165       22.5%           0.566
Native Hawaiian or other     48          13        27.1%           0.681
White                        624         248       39.7%           1.000
Total                        1,867       589       31.5%
"""


@pytest.mark.parametrize("near", [1, 2, 3])
def test_numbers_behind_one_space_are_those_of_the_row(near):
    """A long name leaves one space before its first numbers, above and below wider gaps."""
    for name in ("Black or African American", "Native Hawaiian or other"):
        (line,) = (each for each in ALIGNED.splitlines() if each.startswith(name))
        cells = re.split(r"\s{2,}", line)
        row = " ".join(cells[: near + 1])
        for cell in cells[near + 1 :]:
            row = row.ljust(line.index(cell)) + cell
        found = fg.check(ALIGNED.replace(line, row))
        assert (found.errors, found.numbers_checked, found.unread) == (0, 10, ())
        assert [group.n for group in found.tables[0].groups] == [461, 734, 48, 624]


def test_a_number_of_a_name_is_not_parted_from_it():
    text = ALIGNED.replace("39.7%           1.000", "39.7%").replace("White ", "Age 40")
    groups = fg.check(text).tables[0].groups
    assert {group.name: group.n for group in groups}["Age 40"] == 624


def test_a_line_whose_numbers_do_not_make_its_cells_is_named_and_nothing_passes():
    row = "Black or African American 734 165                  22.5%"
    lines = [row if "Black" in line else line for line in ALIGNED.splitlines()[:-1]]
    found = fg.check("\n".join(lines))
    assert "734 165" in " ".join(found.unread[0].reason.split())
    assert [group.n for group in found.tables[0].groups] == [461, 48, 624]
    assert found.exit_code == 3


def test_a_header_of_two_unclear_lines_is_read_where_it_is_written_as_the_error_states():
    lines = ["Race/Ethnicity # of # Selected Selection Impact"]
    lines += ["Category Applicants Applicants Rate Ratio"]
    with pytest.raises(DataError, match="write the header in one line, with two spaces"):
        fg.check("\n".join([*lines, TWO_ROWS]))
    header = (
        "Race/Ethnicity Category  # of Applicants  # Selected Applicants  Selection Rate  Ratio"
    )
    (table,) = fg.check(f"{header}\n{TWO_ROWS}").tables
    assert {(g.name,): (g.n, g.selected) for g in table.groups} == TWO_GROUPS


WIDE_HEADER = "Race  Applicants  Selected  Selection rate  Impact ratio"
WIDE_ROWS = [
    "Black or African American  779  280  36%  0.81",
    "Hispanic or Latino  1,359  601  44%  1.00",
]
IN_WIDE_ROWS = [("Black or African American", 779, 280), ("Hispanic or Latino", 1359, 601)]


def counts(found):
    """Return the categories, and their people, of the only table of a check without an error."""
    (table,) = found.tables
    assert (found.errors, found.unread) == (0, ())
    return [(group.name, group.n, group.selected) for group in table.groups]


@pytest.mark.parametrize("above", [["Race"], ["Table 2.  Impact ratios"], ["Acme Inc.", "By race"]])
@pytest.mark.parametrize("below", [[], ["All applicants"]])
def test_a_title_directly_above_wide_spaces_shifts_no_column(above, below):
    """A number that stands below the header of another column was read as one of that."""
    text = "\n".join([*above, WIDE_HEADER, *below, *WIDE_ROWS])
    assert counts(fg.check(text)) == IN_WIDE_ROWS


def test_a_row_of_numbers_is_no_part_of_the_header_above_it():
    """The first row was joined to the header, the last was a heading, and no error was found."""
    text = """Race/Ethnicity
Race   # of Applicants   # Selected   Selection Rate   Impact Ratio
Asian   1,307   543   42%   0.70
Black or African American   945   418   44%   1.00
White   658   237   36%   0.99
"""
    (table,) = fg.check(text).tables
    assert [group.n for group in table.groups] == [1307, 945, 658]
    assert [fault.row for fault in table.errors] == [(1, "Asian"), (3, "White")]


def test_a_first_row_of_marks_is_no_part_of_the_header():
    text = "\n".join(["Race", WIDE_HEADER, "Native American  <10  *  *  *", *WIDE_ROWS])
    assert counts(fg.check(text)) == [("Native American", None, None), *IN_WIDE_ROWS]


def test_a_name_with_wide_spaces_is_one():
    rows = [row.replace("or African", "or  African") for row in WIDE_ROWS]
    assert counts(fg.check("\n".join([WIDE_HEADER, *rows]))) == IN_WIDE_ROWS


def test_a_row_that_lacks_a_cell_in_text_without_places_is_named():
    """Which cell it is, is not known: 39% was read as the number selected."""
    found = fg.check("\n".join([WIDE_HEADER, *WIDE_ROWS, "White  1,420  39%  0.89"]))
    assert (found.errors, found.exit_code) == (0, 3)
    assert "White 1,420 39% 0.89" in found.unread[0].reason


@pytest.mark.parametrize("order", [("Applicants", "Selected"), ("Selected", "Applicants")])
@pytest.mark.parametrize("between", [" ", "  "])
def test_unknown_people_behind_any_space_are_read_in_any_table(order, between):
    """One space stands behind "Unknown" where the others are shorter, or no columns are aligned."""
    numbers = {"Applicants": ["90", "80"], "Selected": ["45", "36"]}
    header = f"Sex      {order[0]:12}{order[1]:12}Impact ratio"
    rows = [
        f"{name:9}{numbers[order[0]][i]:12}{numbers[order[1]][i]:12}{ratio}"
        for i, (name, ratio) in enumerate([("Male", "1.00"), ("Female", "0.90")])
    ]
    for lines in ([header, *rows], [re.sub(r"\s{2,}", "  ", line) for line in (header, *rows)]):
        if between == " " or lines[0] != header:
            found = fg.check("\n".join([*lines, f"Unknown{between}12"]))
            assert counts(found) == [("Male", 90, 45), ("Female", 80, 36)]
            assert found.tables[0].unknown == 12


def test_columns_below_each_other_may_have_one_space_between_their_headers():
    text = """Race                      Applicants Selected Rate Ratio
Black or African American        779      280  36%  0.81
Hispanic or Latino             1,359      601  44%  1.00
"""
    assert counts(fg.check(text)) == IN_WIDE_ROWS
    assert counts(fg.check(f"Table 2. Race\n{text}")) == IN_WIDE_ROWS


@pytest.mark.parametrize("between", [",", "\t", "  "])
@pytest.mark.parametrize("first", ["Applicants", "Race Applicants"])
def test_a_header_that_lacks_a_cell_is_not_understood(first, between):
    """The numbers were possible as they were read, and a ratio of 56% was an error."""
    rows = [("White", "80", "45", "56%", "0.97"), ("Black", "90", "52", "58%", "1.00")]
    text = "\n".join(map(between.join, [(first, "Selected", "Rate", "Ratio"), *rows]))
    with pytest.raises(DataError, match=f"its first header is '{first}', and its last column has"):
        fg.check(text)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("nested", [True, False])
@pytest.mark.parametrize("aligned", [True, False])
def test_a_correct_table_has_no_error_whether_or_not_the_names_have_a_header(aligned, nested, seed):
    """Of nested ragged rows below an indented header, numbers were read under the next name."""
    rng = random.Random(seed)
    outer = ["Hispanic", "Not Hispanic"] if nested else [""]
    indent = rng.choice([0, 2, 4]) if nested else 0
    most = 10 ** rng.choice([2, 3, 4])
    people = [rng.randint(most // 10, most - 1) for _ in outer for _ in range(2)]
    known = [(n, rng.randint(1, n)) for n in people]
    best = max(selected / n for n, selected in known)
    header = ("Applicants", "Selected", "Selection Rate", "Impact Ratio")
    rows = [(str(n), str(k), f"{k / n:.1%}", f"{k / n / best:.3f}") for n, k in known]
    adjust = rng.choice([str.rjust, str.ljust])
    widths = [14 if aligned else 0] * 4

    def line(name, cells):
        return name + "  ".join(map(adjust, cells, widths)).rstrip()

    margin = 14 if aligned else rng.randint(1, 24)
    first = rng.choice(["Group".ljust(margin if aligned else 7), " " * margin])
    text = [line(first, header)]
    for i, row in enumerate(rows):
        if nested and i % 2 == 0:
            text.append(outer[i // 2])
        name = " " * indent + ("Male", "Female")[i % 2] + "  "
        text.append(line(name.ljust(14) if aligned else name, row))
    assert [pair for _, *pair in counts(fg.check("\n".join(text)))] == [[*pair] for pair in known]
    if first.isspace() and not aligned:  # not indented, or a row lacks a number: not understood
        for lines in ([text[0].strip(), *text[1:]], [*text, "Total  9999  999"]):
            with pytest.raises(DataError, match="is not understood: "):
                fg.check("\n".join(lines))
