"""What people do first, and the one clear error that it gets."""

import pytest
from loan_cases import SEX

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


@pytest.mark.parametrize("command", ["audit", "count", "check", "verify", "render"])
def test_an_empty_path_is_not_the_working_folder(fails, loans, tmp_path, command):
    (tmp_path / "table.csv").write_text("sex,n,hired\nMale,80,48\nFemale,40,12\n")
    del loans
    to = ("-o", "out.html") if command == "render" else ()
    message = fails(command, "", *to)
    assert message == "the path is an empty text; name a file, or '.' for the working folder"
