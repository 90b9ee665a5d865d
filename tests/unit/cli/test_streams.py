"""The command line at a terminal: colours, its width, and questions that are broken off."""

import os
import re
from collections.abc import Callable

import pytest
from loan_cases import SEX

from fairgauge.cli import _command_group as streams
from fairgauge.errors import Problem, SpecError

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
