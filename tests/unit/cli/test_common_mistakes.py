"""What people do first, and the one clear error that it gets."""

from __future__ import annotations

import pytest
from loan_cases import BASIC, SEX

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


@pytest.mark.parametrize("command", ["audit", "count", "plan", "check", "verify", "render"])
def test_an_empty_path_is_not_the_working_folder(fails, loans, tmp_path, command):
    (tmp_path / "table.csv").write_text("sex,n,hired\nMale,80,48\nFemale,40,12\n")
    del loans
    to = ("-o", "out.html") if command == "render" else ()
    message = fails(command, "", *to)
    assert message == "the path is an empty text; name a file, or '.' for the working folder"


def test_seal_finds_the_counts_that_a_report_was_made_of(run, fails, loans, tmp_path):
    assert run("count", loans, *SEX, "-o", "day.cube.json").exit_code == 0
    assert run("count", loans, *BASIC, "--sensitive", "region", "-o", "a.cube.json").exit_code == 0
    assert run("audit", "day.cube.json", "-o", "report.json").exit_code == 0
    (tmp_path / "broken.cube.json").write_text("{}")
    sealed = run("seal", "report.json", "-o", "audit.fairgauge")
    assert sealed.exit_code == 0, sealed.output
    assert run("verify", "audit.fairgauge").exit_code == 0
    (tmp_path / "day.cube.json").unlink()
    message = fails("seal", "report.json", "-o", "again.fairgauge")
    assert message.startswith("no .cube.json beside 'report.json' holds the counts")
    assert "fairgauge seal REPORT COUNTS.cube.json" in message
