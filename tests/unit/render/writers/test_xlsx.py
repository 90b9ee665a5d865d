"""Workbooks: the tables of the report, texts that are never formulas, and the same bytes twice."""

import io
import sys

import openpyxl
import pytest

import fairgauge as fg
import sample_reports
from fairgauge.errors import MissingExtra
from fairgauge.render import save
from fairgauge.render.streams import table_of


def workbook(report, folder):
    path = folder / "report.xlsx"
    save(report, path)
    return openpyxl.load_workbook(io.BytesIO(path.read_bytes()))


@pytest.mark.parametrize("sample", ["small", "several", "berkeley", "scored", "hostile"])
def test_every_table_of_a_report_is_a_sheet(sample, tmp_path):
    report = getattr(sample_reports, sample)()
    book = workbook(report, tmp_path)
    assert book.sheetnames[0] == "Summary"
    assert book.sheetnames[-1] == "Specification"
    for name in ("estimates", "groups", "verdicts", "pairs"):
        table = table_of(report, name)
        assert (name.capitalize() in book.sheetnames) is bool(table.rows)
        if table.rows:
            rows = list(book[name.capitalize()].iter_rows(values_only=True))
            assert rows[0] == table.columns
            assert len(rows) == len(table.rows) + 1
            i = table.columns.index("feature")
            assert len({row[i] for row in rows[1:]}) == len({row[i] for row in table.rows})


def test_numbers_are_numbers_and_infinite_ones_texts(tmp_path):
    report = sample_reports.several()
    rows = list(workbook(report, tmp_path)["Estimates"].iter_rows(min_row=2, values_only=True))
    at = table_of(report).columns.index("value")
    ours = [row[at] for row in table_of(report).rows]
    for shown, value in zip((row[at] for row in rows), ours, strict=True):
        if value is None:
            assert shown is None
        else:
            assert float(str(shown)) == pytest.approx(value, rel=1e-14)


def test_a_report_gives_the_same_bytes_twice(tmp_path):
    report = sample_reports.small()
    for name in ("a.xlsx", "b.xlsx"):
        report.save(tmp_path / name)
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()


def test_without_the_library_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(MissingExtra, match=r"a workbook \(.xlsx\) .*fairgauge\[xlsx\]"):
        save(sample_reports.small(), tmp_path / "report.xlsx")
    assert list(tmp_path.iterdir()) == []


def test_the_table_to_publish_comes_first_as_it_is_printed(tmp_path):
    rows = {"sex": ["F"] * 1500 + ["M"] * 1500 + ["X"] * 3 + [None] * 7}
    rows["hired"] = [1, 0, 0] * 500 + [1, 0] * 751 + [None] + [1] * 7
    stated = {"source": "ATS export", "audit_date": "2026-11-21", "first_used": "2026-01-05"}
    report = fg.audit(
        rows, preset="nyc-ll144", prediction="hired", positive=1, sensitive="sex", document=stated
    )
    book = workbook(report, tmp_path)
    assert book.sheetnames[:2] == ["To publish", "Summary"]
    lines = {row[0].value: row for row in book["To publish"].iter_rows()}
    heads, female, male, small, unknown = (
        [cell.value for cell in lines[each]] for each in ("group", "F", "M", "X", "Unknown")
    )
    assert heads[:5] == ["group", "n", "selected", "selection rate", "impact ratio"]
    assert female[:5] == ["F", 1500, 500, 0.333, 0.667]
    formats = [cell.number_format for cell in lines["F"]]
    assert formats[1:5] == ["#,##0", "#,##0", "#,##0.0%", "#,##0.000"]
    assert male[:5] == ["M", 1500, 750, 0.5, "reference"]
    assert small[:5] == ["X", 2, 1, 0.5, 1]
    assert small[5].startswith("(n = 2 in the group, below the minimum of ")
    assert unknown[1] == 7
    assert "Of unknown category, among the rows with a known prediction: 7 rows in sex." in lines
    assert any("1 more lacks it" in str(text) for text in lines)
    stated = {"date of the audit: 2026-11-21", "date the tool was first used: 2026-01-05"}
    assert stated | {"source: ATS export"} <= {*lines}
