"""Where results go: whole or not at all, never over an input; streams, signals, last resorts."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from loan_cases import SEX, table
from tests.needs import POSIX

import fairgauge
from fairgauge.atomic_files import write_whole

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


def test_a_file_that_cannot_be_made_keeps_no_other_from_being_written(
    fails, loans, tmp_path, monkeypatch
):
    monkeypatch.setenv("CHROME_PATH", sys.executable)  # a browser that prints nothing
    said = fails("audit", loans, *SEX, "-o", "a.html", "-o", "a.pdf", "-o", "a.json")
    assert said.startswith(f"cannot make 'a.pdf': {sys.executable!r} printed no PDF: ")
    assert said.endswith("; 'a.html' and 'a.json' are written")
    assert names(tmp_path) == ["a.html", "a.json", loans]


@needs_full
def test_a_full_disk_leaves_no_output_behind(fails, loans, tmp_path):
    (tmp_path / "full.json").symlink_to(FULL)
    said = fails("audit", loans, *SEX, "-o", "a.html", "-o", "full.json")
    assert said == "cannot write 'full.json': No space left on device"
    assert names(tmp_path) == ["full.json", loans]
    assert FULL.is_char_device()


@POSIX
def test_an_output_is_replaced_whole_and_keeps_its_rights(run, loans, tmp_path):
    target = tmp_path / "a.json"
    target.write_text("old")
    target.chmod(0o640)
    (tmp_path / "link.json").symlink_to("a.json")
    assert run("audit", loans, *SEX, "-o", "link.json").exit_code == 0
    assert target.read_text().startswith("{")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert (tmp_path / "link.json").is_symlink()


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
    with shell("metrics", "--json", stdout=writing) as process:
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
        assert process.wait(timeout=20) == 130
        assert process.stderr.read().strip() == b"Interrupted"
        assert process.stdout.read() == b""
    assert names(tmp_path) == [loans]


STUCK = """
import hashlib, sys
from importlib import import_module
from fairgauge.cli import main
from fairgauge.scan import input_files

def audit(*_, **__):
    print(input_files.standard_input(), file=sys.stderr, flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)  # minutes in a library that heeds no signal

import_module("fairgauge.api.audit").audited = audit
main()
"""


@POSIX
@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_that_a_library_does_not_heed(loans):
    folder = str(Path(fairgauge.__file__).parents[1])
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", STUCK, "audit", loans, *SEX],
        env=os.environ | {"PYTHONPATH": folder}, stdin=pipe, stdout=pipe, stderr=pipe,
    ) as process:  # fmt: skip
        assert process.stdin
        assert process.stderr
        process.stdin.write(table().encode())
        process.stdin.close()
        copy = Path(process.stderr.readline().decode().strip())
        assert copy.read_text() == table()
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(timeout=20) == 130
        finally:
            process.kill()
        assert process.stderr.read().strip() == b"Interrupted"
        assert not copy.parent.exists()


@POSIX
def test_a_closed_standard_input(shell):
    with shell("audit", "-", *SEX, stdin=None, preexec_fn=lambda: os.close(0)) as process:
        said = process.communicate()[1].decode()
    message = "Error: standard input is closed; pipe the rows in, or name a file\n"
    assert (process.returncode, said) == (2, message)


@pytest.mark.parametrize("debug", [False, True])
def test_the_last_resort(run, loans, monkeypatch, debug):
    def broken(*_, **__):
        raise ZeroDivisionError("a\x1b[31mb" + "c" * 5_000)

    monkeypatch.setattr(LINE, "audited", broken)
    monkeypatch.setenv("FAIRGAUGE_DEBUG", "1" if debug else "0")
    result = run("audit", loans, *SEX)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert ("Traceback" in result.stderr) is debug
    message = result.stderr[result.stderr.index("Error: fairgauge failed") :]
    assert message.startswith("Error: fairgauge failed in a way it should not (ZeroDivisionError: ")
    assert "Please report it" in message
    assert "\x1b" not in message
    assert len(message) < 2_000


def test_an_error_of_the_system(run, loans, monkeypatch):
    def broken(*_, **__):
        raise PermissionError(13, "Permission denied", "/data/x")

    monkeypatch.setattr(LINE, "audited", broken)
    assert run("audit", loans, *SEX).stderr == "Error: Permission denied: '/data/x'\n"
