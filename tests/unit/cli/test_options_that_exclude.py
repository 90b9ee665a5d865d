"""Options and inputs that do not go together are refused, with what to do instead."""

import pytest
from loan_cases import BASIC, SEX

import fairgauge as fg

WHOLE = "--full is an option of text and markdown; {} is always whole"
MONITOR = """
label = "approved"
prediction = "predicted"
positive = "yes"
sensitive = "sex"
[monitor]
rules = ["selection_rate.ratio >= 0.8"]
"""


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("audit", *SEX, "--table", "groups", "--quiet"), "prints CSV alone; remove"),
        (("audit", *SEX, "--table", "groups", "--full"), "prints CSV alone; remove"),
        (("audit", *SEX, "--table", "groups", "--format", "json"), "prints CSV"),
        (("audit", *SEX, "--full", "--quiet"), "--quiet prints one line"),
        (("audit", *SEX, "--quiet", "--format", "json"), "--quiet prints one line of text"),
        (("audit", *SEX, "--full", "--format", "html"), WHOLE.format("html")),
        (("check", "--full", "--format", "json"), WHOLE.format("json")),
        (("check", "t.csv", "--n", "n", "--columns", "t.toml"), "give it without --n"),
    ],
)
def test_the_message_names_what_to_remove(fails, loans, args, message):
    assert message in fails(args[0], loans, *args[1:])


def test_counts_where_something_else_is_expected(run, fails, loans, tmp_path):
    (tmp_path / "monitor.toml").write_text(MONITOR)
    for sensitive, cube in (("sex", "day.cube.json"), ("region", "other.cube.json")):
        counted = run("count", loans, *BASIC, "--sensitive", sensitive, "-o", cube)
        assert counted.exit_code == 0, counted.output
    message = "'day.cube.json' holds counts, not a report; audit it first"
    assert fails("render", "day.cube.json") == message
    begun = run("monitor", "run", "history", "day.cube.json", "--period", "2026-01-01",
                "-c", "monitor.toml")  # fmt: skip
    assert begun.exit_code in (0, 3), begun.output
    message = "the counts of 2026-01-02 and those of 2026-01-01 in the history "
    other = ("run", "history", "other.cube.json", "--period", "2026-01-02")
    assert message in fails("monitor", *other)
    quiet = fails("monitor", "status", "history", "--quiet", "--format", "json")
    assert quiet == "--quiet prints one line of text; remove --full and --format"


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
