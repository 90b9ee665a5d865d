"""Standard output carries the result alone; everything else goes to standard error."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any

import click

from fairgauge.errors import DataError, SpecError, hide_secrets

_LONGEST_MESSAGE = 1_900
_NOTE = "Note: "
_NO_NOTES = "fairgauge: no notes"


class ClosedOutput(Exception):  # noqa: N818 - an event, not an error
    """The reader of standard output has stopped reading."""


def print_result(text: str) -> None:
    """Write a result to standard output."""
    if sys.stdout is None:
        raise DataError("standard output is closed")
    if hasattr(sys.stdout, "reconfigure"):
        # lone surrogates, and terminals without Unicode; in JSON these escapes are JSON's own
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        raise ClosedOutput from None
    except OSError as error:
        silence_output()
        raise DataError(f"cannot write standard output: {error.strerror or error}") from None


def terminal_style(format_: str) -> dict[str, Any]:
    """Return colour and width for the terminal; a file or a pipe gets plain text of fixed width."""
    if format_ != "text" or sys.stdout is None or not sys.stdout.isatty():
        return {}
    from fairgauge.render.writers.terminal import wants_colour

    colour = wants_colour(sys.stdout)
    import shutil

    return {"colour": colour, "width": min(max(shutil.get_terminal_size().columns, 80), 120)}


def silence_output() -> None:
    """Discard what is still buffered, so that Python reports no error about it at exit."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def print_no_notes(context: click.Context, option: click.Parameter, quiet: bool) -> None:
    """Have a command print no notes: the callback of its ``--quiet``."""
    del option
    context.meta[_NO_NOTES] = quiet


def print_message(message: Exception | str, prefix: str = "Error: ") -> None:
    """Write a message to standard error, escaped and of limited length; no note if quiet."""
    context = click.get_current_context(silent=True)
    quiet = context is not None and (context.params.get("quiet") or context.meta.get(_NO_NOTES))
    if quiet and prefix == _NOTE:
        return
    if isinstance(message, SpecError) and len(message.problems) > 1:
        mistakes = [f"{len(message.problems)} mistakes in the specification", *message.problems]
        text = "\n  ".join(map(str, mistakes))
    else:
        text = str(message)
    text = printable(hide_secrets(text))
    if len(text) > _LONGEST_MESSAGE:
        text = f"{text[:_LONGEST_MESSAGE]} ..."
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            sys.stderr.write(f"{prefix}{text}\n")
            sys.stderr.flush()


def printable(text: str) -> str:
    """Escape what a terminal would act on: control characters and bidirectional overrides.

    Spaces that keep words on one line become plain ones.
    """
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode()
        for c in text.replace("\N{NO-BREAK SPACE}", " ")
    )
