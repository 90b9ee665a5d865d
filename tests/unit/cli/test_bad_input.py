"""Bad input: one clear message and exit code 2, or an estimate with a status and a reason."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from loan_cases import BASIC, SEX
from tests.needs import NOT_ROOT, POSIX

import fairgauge as fg
from fairgauge.cli import main

ROWS = "y,p,sex,race\n1,1,F,Black\n0,1,F,White\n1,0,M,White\n0,0,M,Black\n"
FLAGS = ("--label", "y", "--prediction", "p", "--sensitive", "sex")


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(ROWS)


@pytest.fixture
def write(tmp_path):
    def call(name, content):
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(data)
        return name

    return call


def audit(*args):
    return CliRunner().invoke(main, ["audit", *args])


def said(*args):
    """Audit what must be refused; return the message."""
    before = sorted(Path().iterdir())
    result = audit(*args)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert "Please report it" not in result.stderr
    assert len(result.stderr) < 2_000
    assert sorted(Path().iterdir()) == before
    return result.stderr.removeprefix("Error: ").rstrip("\n")


def test_files_that_are_not_there():
    assert said("no.csv", *FLAGS) == "no file 'no.csv'"
    assert said("n" * 5_000 + ".csv", *FLAGS).endswith("File name too long")


@POSIX
def test_pipes_and_devices(tmp_path):
    os.mkfifo("p.csv")
    assert said("p.csv", *FLAGS) == (
        "'p.csv' is a pipe or a device; pass its rows to standard input and name it -"
    )
    assert said("/dev/null", *FLAGS).startswith("'/dev/null' is a pipe or a device")
    (tmp_path / "link.csv").symlink_to("/dev/zero")
    assert said("link.csv", *FLAGS).startswith("'link.csv' is a pipe or a device")


@NOT_ROOT
def test_files_without_permission(tmp_path):
    (tmp_path / "t.csv").chmod(0)
    assert said("t.csv", *FLAGS) == "cannot read 't.csv': Permission denied"


@pytest.mark.parametrize(
    "url", ["postgresql://me:s3cret@host/db", "mysql+pymysql://me:s3cret@host", "s3://me:s3cret@x"]
)
def test_a_password_is_never_shown(url):
    message = said(url, "--label", "nothing", "--sensitive", "sex")
    assert "s3cret" not in message
    assert url.partition(":")[0] in message


def test_hostile_names_in_messages(write):
    evil = "a\x1b[31m‮<b>\\" + "c" * 10_000
    message = said("t.csv", "--label", evil, "--sensitive", evil)
    assert "\x1b" not in message
    assert "‮" not in message
    longest = evil[:1_000]  # that a text of a question may have
    write("evil.csv", f'y,"{longest}"\n1,x\n0,z\n')
    assert audit("evil.csv", "--label", "y", "--sensitive", longest).exit_code == 0


# ---- options and inputs that do not go together are refused, with what to do instead
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
