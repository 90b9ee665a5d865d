"""Where results go: whole or not at all, never over an input; streams, signals, last resorts."""

import os
import re
import signal
import stat
import subprocess
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from loan_cases import SEX, table
from tests.needs import POSIX

from fairgauge.atomic_files import write_all, write_whole
from fairgauge.cli import _command_group as streams
from fairgauge.errors import DataError, Problem, SpecError

LINE = import_module("fairgauge.api.audit")  # the package has a function of that name
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.is_char_device(), reason="needs /dev/full")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("x.doc", "the suffix of 'x.doc' names no format of a report; use .txt, .json, .csv, "),
        ("x", "the suffix of 'x' names no format of a report; use "),
        ("no/x.json", "cannot write 'no/x.json': there is no folder '"),
        ("loans.csv", "the output 'loans.csv' is also an input; choose another name"),
        ("./loans.csv", "the output './loans.csv' is also an input; choose another name"),
        ("link.csv", "the output 'link.csv' is also an input; choose another name"),
        ("audit.json", "the output 'audit.json' is also an input; choose another name"),
        ("sub.json", "the output 'sub.json' is a folder; name a file"),
        ("", "the output '' is a folder; name a file"),
    ],
)
def test_outputs_that_are_refused(fails, loans, tmp_path, output, said):
    (tmp_path / "link.csv").symlink_to("loans.csv")
    (tmp_path / "audit.json").write_text("{}")
    (tmp_path / "sub.json").mkdir()
    before = names(tmp_path)
    assert fails("audit", loans, *SEX, "-c", "audit.json", "-o", output).startswith(said)
    assert names(tmp_path) == before
    assert (tmp_path / loans).read_text() == table()


def test_nothing_is_written_when_the_audit_fails(fails, loans, tmp_path):
    fails("audit", loans, *SEX, "--reference", "sex=X", "-o", "a.json")
    assert names(tmp_path) == [loans]


@needs_full
def test_a_full_disk_leaves_no_output_behind(tmp_path):
    with pytest.raises(DataError, match="cannot write '/dev/full': No space left on device"):
        write_all({tmp_path / "a.html": "text", FULL: "text"})
    assert names(tmp_path) == []
    assert FULL.is_char_device()


@POSIX
def test_an_output_is_replaced_whole_and_keeps_its_rights(run, loans, tmp_path):
    target = tmp_path / "a.json"
    target.write_text("old")
    target.chmod(0o640)
    assert run("audit", loans, *SEX, "-o", "a.json").exit_code == 0
    assert target.read_text().startswith("{")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_lone_surrogates_are_escaped(tmp_path):
    write_whole(tmp_path / "a", '"\ud800"')
    assert (tmp_path / "a").read_text() == '"\\ud800"'


@needs_full
def test_a_full_standard_output(shell, loans):
    with FULL.open("wb") as full, shell("audit", loans, *SEX, stdout=full) as process:
        said = process.communicate()[1].decode()
    assert (process.returncode, said) == (
        2,
        "Error: cannot write standard output: No space left on device\n",
    )


@POSIX
def test_a_closed_standard_output(shell, loans):
    with shell("audit", loans, *SEX, stdout=None, preexec_fn=lambda: os.close(1)) as process:
        said = process.communicate()[1].decode()
    assert (process.returncode, said) == (2, "Error: standard output is closed\n")


@POSIX
def test_a_reader_that_went_away(shell, loans):
    reading, writing = os.pipe()
    os.close(reading)
    with shell("metrics", stdout=writing) as process:
        os.close(writing)
        said = process.communicate()[1]
    assert (process.returncode, said) == (2, b"")


@POSIX
@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_while_reading(shell, loans, tmp_path):
    with shell("audit", "-", *SEX, "-o", "a.json", stdin=subprocess.PIPE) as process:
        process.stdin.write(table().encode() * 5_000)  # more than a pipe holds: it is reading
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        # a signal between two reads is heeded when the next returns, which the end of a stream does
        process.stdin.close()
        assert process.wait(timeout=20) == 130
        assert process.stderr.read().strip() == b"Interrupted"
        assert process.stdout.read() == b""
    assert names(tmp_path) == [loans]


@POSIX
def test_a_closed_standard_input(shell):
    with shell("audit", "-", *SEX, stdin=None, preexec_fn=lambda: os.close(0)) as process:
        said = process.communicate()[1].decode()
    message = "Error: standard input is closed; pipe the rows in, or name a file\n"
    assert (process.returncode, said) == (2, message)


def test_an_error_of_the_system(run, loans, monkeypatch):
    def broken(*_, **__):
        raise PermissionError(13, "Permission denied", "/data/x")

    monkeypatch.setattr(LINE, "count_data", broken)
    assert run("audit", loans, *SEX).stderr == "Error: Permission denied: '/data/x'\n"


# ---- the command line at a terminal: colours, its width, and questions that are broken off
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
CLEARED = "\x1b[2K"  # the bar of progress, on a slow machine
END_OF_INPUT = b"\x04"


@pytest.fixture
def terminal(shell) -> Callable[..., tuple[int, str]]:
    """Run the command line at a terminal of its own; return the exit code and what is shown."""
    pty = pytest.importorskip("pty", reason="terminals of one's own are POSIX's alone")

    def call(*args: str, typed: bytes = b"", **settings: str) -> tuple[int, str]:
        ours, theirs = pty.openpty()
        folder = os.path.dirname(os.path.dirname(os.path.dirname(streams.__file__)))  # noqa: PTH120
        env = os.environ | {"PYTHONPATH": folder, "TERM": "xterm", "NO_COLOR": ""} | settings
        streams_ = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
        with shell(*args, env=env, **streams_) as process:
            os.close(theirs)
            os.write(ours, typed)
            shown = b""
            try:
                while part := os.read(ours, 65_536):
                    shown += part
            except OSError:  # how Linux tells the end of a terminal
                pass
            os.close(ours)
            return process.wait(timeout=60), shown.decode()

    return call


def test_a_terminal_gets_colours_and_lines_of_its_width(terminal, loans):
    code, shown = terminal("audit", loans, *SEX)
    assert code == 0
    assert COLOUR.search(shown)
    code, plain = terminal("audit", loans, *SEX, NO_COLOR="1")
    assert code == 0
    assert not COLOUR.search(plain)
    coloured, uncoloured = (text.rpartition(CLEARED)[2] for text in (shown, plain))
    assert COLOUR.sub("", coloured) == uncoloured


@pytest.mark.parametrize("typed", [b"", b"decision\n"], ids=["first", "second"])
def test_a_question_that_is_broken_off_is_an_interrupt(terminal, tmp_path, monkeypatch, typed):
    monkeypatch.chdir(tmp_path)
    code, shown = terminal("choose", typed=typed + END_OF_INPUT)
    assert code == 130, shown
    assert shown.rstrip().endswith("Interrupted")
    assert not list(tmp_path.iterdir())


def test_long_messages_are_cut_and_many_mistakes_are_counted(capsys):
    streams.print_message("x" * 5_000)
    cut = capsys.readouterr().err
    assert cut.endswith("x ...\n")
    assert len(cut) < 2_000
    streams.print_message(SpecError([Problem(f"rules[{i}]", "y" * 100) for i in range(100)]))
    text = capsys.readouterr().err
    shown = text.count("rules[")
    assert 0 < shown < 100
    assert text.startswith("Error: 100 mistakes in the specification\n")
    assert text.endswith(" ...\n")
    assert len(text) < 2_000
