"""Bad input: one clear message and exit code 2, or an estimate with a status and a reason."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.needs import NOT_ROOT, POSIX

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
