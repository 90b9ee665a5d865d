"""The same table in every format a publisher uses, and files that are no table."""

import zipfile

import pytest
from stated_headers import check

import fairgauge as fg
from fairgauge.errors import DataError
from fairgauge_check.printed import is_empty, read_number
from fairgauge_check.table_files import grids_of_text

COUNTS = {("Male", "A"): (1200, 480), ("Male", "B"): (300, 150), ("Female", "A"): (900, 300)}

CSV = """Title of the audit,,,
Sex,Race,Applicants,Hired
Male,A,"1,200",480
,B,300,150
Female,A,900,300
"""
SEMICOLONS = "Sex;Race;Applicants;Hired\nMale;A;1.200;480\n".replace("1.200", "1200") + (
    "Male;B;300;150\nFemale;A;900;300\n"
)
TABS = CSV.replace('"1,200"', "1 200").replace(",", "\t").replace("1 200", "1,200")
MARKDOWN = """## Hiring

| Sex | Race | Applicants | Hired* |
|:---|---|--:|--:|
| **Male** | A | 1,200 | 480 |
| | B | 300 | 150† |
| Female | A | 900 | 300 |

* hired within 90 days
"""
HTML = """<h2>Hiring</h2><table><thead>
<tr><th>Sex</th><th>Race</th><th>Applicants</th><th>Hired</th></tr></thead>
<tr><td rowspan=2>Male</td><td>A</td><td>1,200</td><td>480<sup>a</sup></td></tr>
<tr><td>B</td><td>300</td><td>150</td></tr><tr><td>Female<td>A</td><td>900</td><td>300</td></tr>
</table>"""


def counts(check):
    (table,) = check.tables
    return {tuple(g.name.split(" & ")): (g.n, g.selected) for g in table.groups}


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".csv", CSV), (".csv", SEMICOLONS), (".tsv", TABS), (".md", MARKDOWN),
        (".html", HTML.replace("<sup>a</sup>", "")),
    ],
)  # fmt: skip
def test_every_format_gives_the_same_counts(tmp_path, suffix, text):
    path = tmp_path / f"audit{suffix}"
    path.write_text(text, encoding="utf-8")
    assert counts(check(path)) == COUNTS
    if suffix not in (".tsv", ".md"):
        assert counts(check(text)) == COUNTS


def test_raised_marks_of_a_workbook_are_no_part_of_numbers_and_names(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    from openpyxl.cell.rich_text import CellRichText, TextBlock
    from openpyxl.cell.text import InlineFont

    def raised(text, mark):
        return CellRichText(text, TextBlock(InlineFont(vertAlign="superscript"), mark))

    book = openpyxl.Workbook()
    book.active.append(["Sex", raised("Applicants", "a"), "Hired"])
    book.active.append([raised("Male", "1"), 1000, raised("500", "2")])
    book.active.append(["Female", 900, 405])
    book.save(tmp_path / "audit.xlsx")
    groups = check(tmp_path / "audit.xlsx").tables[0].groups
    expected = [("Male", 1000, 500), ("Female", 900, 405)]
    assert [(each.name, each.n, each.selected) for each in groups] == expected


def test_merged_cells_and_percentages_of_a_workbook(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Hiring"
    sheet.append(["Sex", "Race", "Applicants", "Hired", "Rate"])
    for (sex, race), (n, hired) in COUNTS.items():
        sheet.append([sex, race, n, hired, hired / n])
        sheet.cell(sheet.max_row, 5).number_format = "0.0%"
    sheet["A3"] = None
    sheet.merge_cells("A2:A3")
    book.save(tmp_path / "audit.xlsx")
    found = check(tmp_path / "audit.xlsx")
    assert counts(found) == COUNTS
    assert found.tables[0].name == "Hiring"
    assert found.errors == 0


def test_a_workbook_that_unpacks_to_too_much_is_refused(tmp_path):
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * 250_000_000)
    with pytest.raises(fg.DataError, match="unpacks to 250,000,000 bytes"):
        check(path)


@pytest.mark.parametrize(
    ("text", "value", "margin"),
    [
        ("1,390", 1390, 0.5), ("1 390", 1390, 0.5), ("1'390", 1390, 0.5), ("1\u00a0390", 1390, 0.5),
        ("1\u202f390", 1390, 0.5), ("1\u2019390", 1390, 0.5),
        ("1.000 (reference)", 1, 5e-4),
        ("47.98%", 0.4798, 5e-5), ("47.98 %*", 0.4798, 5e-5), (".979", 0.979, 5e-4),
        ("0,979", 0.979, 5e-4), ("0.98 (b)", 0.98, 5e-3), ("0.98†", 0.98, 5e-3), ("12[1]", 12, 0.5),
        ("−3", -3, 0.5),
    ],
)  # fmt: skip
def test_printed_numbers(text, value, margin):
    found = read_number(text)
    assert found.value == pytest.approx(value)
    assert found.unit == pytest.approx(2 * margin)


@pytest.mark.parametrize(
    ("text", "empty"),
    [("", True), ("-", True), ("—", True), ("N/A", True), ("n/a*", True), ("*", False),
     ("Excluded (< 2%)", False), ("<10", False), ("not calculated", False)],
)  # fmt: skip
def test_cells_without_a_number(text, empty):
    assert is_empty(text) is empty
    assert read_number(text) is None


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("audit.pdf", b"x", "is no table that can be read"),
        ("audit.csv", b"", "holds no table"),
        ("audit.csv", b"one column\n1\n", "holds no table"),
        ("audit.csv", b"\xff\xfe\x00", "not UTF-8 text; .* iconv -f windows-1252 -t utf-8"),
        ("audit.xlsx", b"not a workbook", "as XLSX"),
        ("audit.csv", b"n,hired\n12,3\n10,2\n", "no table has the columns that are stated"),
    ],
)
def test_what_is_no_table_is_named(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(fg.DataError, match=message):
        check(path)


def test_a_missing_file_and_an_empty_folder(tmp_path):
    with pytest.raises(fg.DataError, match="no file"):
        check(tmp_path / "no.csv")
    with pytest.raises(fg.DataError, match="holds no"):
        check(tmp_path)


def test_what_is_too_large_for_a_published_table_is_refused(tmp_path, monkeypatch):
    openpyxl = pytest.importorskip("openpyxl")
    monkeypatch.setattr("fairgauge_check.table_files.MOST_BYTES", 5_000)
    monkeypatch.setattr("fairgauge_check.table_files.MOST_CELLS", 5)
    (tmp_path / "rows.csv").write_text(CSV * 100, encoding="utf-8")
    with pytest.raises(fg.DataError, match=r"for rows: fairgauge audit\) has at most 5,000"):
        check(tmp_path / "rows.csv")
    book = openpyxl.Workbook()
    for row in (["Sex", "n", "hired"], ["F", 10, 2]):
        book.active.append(row)
    book.save(tmp_path / "rows.xlsx")
    with pytest.raises(
        fg.DataError, match=r"rows.xlsx' has 6 cells; a published table has at most"
    ):
        check(tmp_path / "rows.xlsx")


def test_empty_lines_separate_the_tables_of_a_file(tmp_path):
    single = "Sex,Applicants,Hired\nMale,1500,630\nFemale,900,300\n"
    (tmp_path / "two.csv").write_text(f"\n\n{CSV}\n,,\n\n{single}", encoding="utf-8")
    groups = [[group.name for group in t.groups] for t in check(tmp_path / "two.csv").tables]
    assert groups == [["Male & A", "Male & B", "Female & A"], ["Male", "Female"]]


def test_ordinals_keep_the_raised_letters_that_footnotes_lose():
    table = "<table>\n<tr><th>Quarter<th>n<th>hired</tr><tr><td>{}<td>10<td>5</tr></table>"
    for raised, name in (("2<sup>nd</sup>", "2nd"), ("last<sup>b</sup>", "last")):
        (found,) = check(table.format(raised)).tables
        assert [group.name for group in found.groups] == [name]


def test_numbers_of_a_workbook_are_read_with_the_places_that_are_shown(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["Sex", "n", "hired", "Rate"], ["F", 30, 10, 1 / 3], ["M", 30, 20, 2 / 3]):
        book.active.append(row)
    book.active["D2"].number_format = book.active["D3"].number_format = "0.00"
    book.active["C2"] = 10.0
    book.save(tmp_path / "audit.xlsx")
    (table,) = check(tmp_path / "audit.xlsx").tables
    assert table.errors == ()
    book.active["D2"] = 0.36
    book.save(tmp_path / "audit.xlsx")
    (error,) = check(tmp_path / "audit.xlsx").tables[0].errors
    assert "0.36" in error.message


def test_nothing_to_check_is_an_error():
    with pytest.raises(fg.DataError, match="no file to check; give at least one"):
        check([])
    with pytest.raises(fg.DataError, match="has no row with a number"):
        check("sex,n,hired\nF,,\nM,,\n")


TABLE = "<table><tr><th>sex<th>n<th>hired<tr><td>M<td>80<td>40<tr><td>F<td>60<td>20</table>"


def test_a_page_with_nul_or_of_too_many_signs_is_refused():
    for piece, message in (("\0", "NUL"), (", ", "more than 1,000,000 characters")):
        with pytest.raises(DataError, match=message):
            grids_of_text(TABLE + piece * 600_000, ".html")


@pytest.mark.parametrize("piece", ["<!--", "<![x", "\n", "<script>"])
def test_what_is_no_text_of_a_page_costs_nothing(piece):
    assert grids_of_text(TABLE + piece * 40_000, ".html")[0].rows[0] == ("M", "80", "40")


def test_a_table_of_many_rows_is_refused():
    text = "sex,n,hired\n" + "".join(f"g{i},80,40\n" for i in range(2_000))
    with pytest.raises(DataError, match="2,001 rows"):
        grids_of_text(text, ".csv")
