"""What people do first, and the one clear error that it gets."""

from __future__ import annotations

import zipfile

import pytest
from loan_cases import SEX, table

import fairgauge as fg

QUESTION = {"label": "approved", "prediction": "predicted", "positive": "yes", "sensitive": "sex"}


@pytest.mark.parametrize("again", ["loans.csv", "./loans.csv"])
def test_a_file_that_is_named_twice_would_count_twice(fails, loans, again):
    assert fails("audit", loans, again, *SEX) == (
        f"'{again}' is named twice: its rows would count twice"
    )
    with pytest.raises(fg.DataError, match="is named twice: its rows would count twice"):
        fg.audit([loans, again], **QUESTION)


def test_a_glob_may_find_a_file_again(run, loans):
    assert run("audit", loans, "*.csv", *SEX, "-q").exit_code == 0


def test_positive_values_that_are_all_there_are(fails, loans):
    flags = ("--label", "approved", "--prediction", "predicted", "--sensitive", "sex")
    message = fails("audit", loans, *flags, "--positive", "yes,no")
    assert message.startswith("positive: names every value of 'approved' (")
    assert message.endswith("no outcome is unfavourable; name the favourable values alone")


@pytest.mark.parametrize("name", ["loans.xlsx", "renamed.csv"])
def test_a_workbook_is_not_called_a_text_of_another_coding(fails, loans, name):
    with zipfile.ZipFile(name, "w") as book:
        book.writestr("xl/workbook.xml", "<workbook/>")
    del loans
    expected = f"'{name}' is a workbook, which is not read; save its sheet as CSV"
    assert fails("audit", name, *SEX) == expected


@pytest.mark.parametrize("coding", ["utf-16", "utf-16le", "utf-16be"])
def test_utf_16_is_named(fails, loans, tmp_path, coding):
    (tmp_path / "wide.csv").write_bytes(table().encode(coding))
    del loans
    message = fails("audit", "wide.csv", *SEX)
    assert message == (
        f"'wide.csv' is UTF-16 text; save it as UTF-8, for example with iconv -f {coding} -t utf-8"
    )


@pytest.mark.parametrize("command", ["audit", "count", "plan", "check", "verify", "render"])
def test_an_empty_path_is_not_the_working_folder(fails, loans, tmp_path, command):
    (tmp_path / "table.csv").write_text("sex,n,hired\nMale,80,48\nFemale,40,12\n")
    del loans
    to = ("-o", "out.html") if command == "render" else ()
    message = fails(command, "", *to)
    assert message == "the path is an empty text; name a file, or '.' for the working folder"


def test_quiet_counts_print_no_notes(run, loans):
    noted = run("count", loans, *SEX, "-o", "a.cube.json")
    quiet = run("count", loans, *SEX, "-o", "b.cube.json", "-q")
    assert quiet.exit_code == noted.exit_code == 0
    assert quiet.output == ""
