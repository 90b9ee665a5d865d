"""Where results go: whole or not at all, never over an input; streams, signals, last resorts."""

import os
import signal
import stat
import subprocess
from importlib import import_module
from pathlib import Path

import pytest
from loan_cases import SEX, table
from tests.needs import POSIX

from fairgauge.atomic_files import write_all, write_whole
from fairgauge.errors import DataError

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
