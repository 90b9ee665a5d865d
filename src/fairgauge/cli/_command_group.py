"""The group of all commands, and where errors become messages and codes.

Standard output carries the result alone; everything else goes to standard error.
"""

from __future__ import annotations

import contextlib
import gc
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from types import FrameType
from typing import Any, NoReturn, TypeAlias, cast

import click

from fairgauge.errors import DataError, FairgaugeError, SpecError, hide_secrets, quote
from fairgauge.start.first_help import SECTIONS, commands, entry_points, first_help
from fairgauge.start.records import fields

Decorator: TypeAlias = Callable[[Callable[..., object]], Callable[..., object]]

BAD_USAGE = 2
INTERRUPTED = 130
_LONGEST_CAUSE, _LONGEST_MESSAGE = 300, 1_900
_NO_NOTES, _EVERY_OPTION, _MANY_OPTIONS = "fairgauge: no notes", "fairgauge: every option", 25
_HEADINGS = {  # of options; after the mark those of few commands, which their help always has
    "Data": "names table query sheet header_row spark where recode checks max_groups count "
    "successes weight | columns show_sql dialect",
    "Question": "config preset label prediction score score_of score_range threshold positive "
    "negative favourable metrics features task profile margin list | candidate disparity harm "
    "controls worse tolerance depth item variant model family placebo",
    "Groups": "sensitive probabilities intersect strata reference unknown exclude_groups missing "
    "min_group min_share person per_person | min_rows min_cell",
    "Uncertainty": "confidence method multiplicity seed replicates cluster strata_of_sample "
    "replicate_weights lonely | alpha chosen_on retrained looks fixed_number",
    "Rules": "rule inconclusive accept | fail_on",
    "Output": "files format lang full quiet document word help | output exact counted from_result",
}
_USUAL = "label prediction score positive sensitive reference confidence rule preset files help"
# the modules of commands; all others of ours are rows of `fairgauge.cli.commands.verbs`
_MODULES = {
    "counts": ("count", "merge", "protect"),
    "monitoring": ("monitor",),
    "saved": ("render", "seal", "verify", "schema", "page", "explore"),
    "starting": ("demo", "choose", "presets", "metrics", "validate"),
}
_MODULE_OF = dict.fromkeys((name for of in SECTIONS.values() for name in of), "verbs")
_MODULE_OF |= {name: module for module, names in _MODULES.items() for name in names}


# what a terminal acts on, but for line ends and tabs, and overrides of the direction of text
_ACTED_ON = re.compile(
    "(\x1b\\[[0-9;]*m)|[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\r(?!\n)"
)  # the group is a colour


class ClosedOutput(Exception):  # noqa: N818 - an event, not an error
    """The reader of standard output has stopped reading."""


def print_result(text: str, *, coloured: bool = False) -> None:
    """Write a result to standard output; one that is ``coloured`` keeps its colours."""
    if sys.stdout is None:
        raise DataError("standard output is closed")
    if hasattr(sys.stdout, "reconfigure"):
        # lone surrogates, and terminals without Unicode; in JSON these escapes are JSON's own
        sys.stdout.reconfigure(errors="backslashreplace")

    def escape(found: re.Match[str]) -> str:  # as JSON does, too
        is_kept = coloured and found[1] is not None
        return found[0] if is_kept else f"\\u{ord(found[0][0]):04x}{found[0][1:]}"

    text = _ACTED_ON.sub(escape, text)
    try:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        raise ClosedOutput from None
    except OSError as error:
        silence_output()
        raise DataError(f"cannot write standard output: {error.strerror or error}") from None


def silence_output() -> None:
    """Discard what is still buffered, so that Python reports no error about it at exit."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def is_quiet() -> bool:
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.params.get("quiet") or context.meta.get(_NO_NOTES))


def print_message(message: Exception | str, prefix: str = "Error: ") -> None:
    """Write a message to standard error, escaped and of limited length; no note if quiet."""
    if is_quiet() and prefix == "Note: ":
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


class Command(click.Command):
    """A command that takes ``-q``, and no option twice that holds one value.

    click keeps the last value without a word, so that ``--strata a --strata b`` would be an audit
    that nobody asked for. A command that prints more than one document states itself what ``-q``
    prints of it.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not any("-q" in each.opts for each in self.params):
            help_text = "Print no notes, and one line of several."
            self.params.append(click.Option(
                ["-q", "--quiet"], is_flag=True, expose_value=False, help=help_text,
                callback=lambda context, _, quiet: context.meta.update({_NO_NOTES: quiet}),
            ))  # fmt: skip

    def make_parser(self, ctx: click.Context) -> Any:
        parser = super().make_parser(ctx)
        parse = parser.parse_args

        def parse_once(
            args: list[str],
        ) -> tuple[dict[str, object], list[str], list[click.Parameter]]:
            if "--all" in args and {"-h", "--help"}.intersection(args):
                args = [each for each in args if each != "--all"]
                ctx.meta[_EVERY_OPTION] = True
            values, rest, given = parse(args)
            for i, option in enumerate(given):
                # --help and --version end the command, whatever stands beside them
                ends = option.name in ("help", "version")
                if not isinstance(option, click.Option) or option.multiple or ends:
                    continue
                if option in given[:i]:
                    flags = " or ".join(option.opts + option.secondary_opts)
                    raise click.UsageError(f"{flags} is given twice, and holds one value", ctx)
            return values, rest, given

        parser.parse_args = parse_once  # type: ignore[method-assign]
        return parser

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write options under headings; of many those to begin with, unless all are asked for."""
        shown = [("help" if "--help" in e.opts else e.name or "", row)
                 for e in self.get_params(ctx) if (row := e.get_help_record(ctx))]  # fmt: skip
        if len(shown) < _MANY_OPTIONS:
            return super().format_options(ctx, formatter)
        rows = dict[str, list[tuple[str, str]]]((title, []) for title in ("Options", *_HEADINGS))
        for name, row in shown:
            title = next((t for t, names in _HEADINGS.items() if name in names.split()), "Options")
            own = _HEADINGS.get(title, "| " + name).partition("|")[2].split()
            if name in (*own, *_USUAL.split()) or _EVERY_OPTION in ctx.meta:
                rows[title].append(row)
        for title in filter(rows.get, rows):
            with formatter.section(title):
                formatter.write_dl(rows[title])
        if _EVERY_OPTION not in ctx.meta:
            formatter.write(f"\nEvery option: {ctx.command_path} --help --all\n")
        return None


def add_options(*options: Decorator) -> Decorator:
    """Return a decorator that gives a command several options, in the order of its help."""

    def decorate(command: Callable[..., object]) -> Callable[..., object]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def gather_options(record: type, keyword: str, *options: Decorator) -> Decorator:
    """Return a decorator with options that a command gets as one record, a keyword of it."""
    named = {each.name for each in fields(record)}

    def decorate(command: Callable[..., object]) -> Callable[..., object]:
        @add_options(*options)
        @wraps(command)
        def with_record(*args: object, **given: object) -> object:
            found = record(**{name: given.pop(name) for name in named & given.keys()})
            return command(*args, **{keyword: found}, **given)

        return with_record

    return decorate


class CommandGroup(click.Group):
    command_class = Command


class Commands(click.Group):
    """Rows of `fairgauge.cli.commands.verbs`, modules NAME_command beside it, and plug-ins."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return sorted(commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        found: object = None
        if cmd_name in _MODULE_OF:
            module = import_module(f"fairgauge.cli.commands.{_MODULE_OF[cmd_name]}")
            if _MODULE_OF[cmd_name] == "verbs":
                found = module.command_of(cmd_name, module.VERBS[cmd_name])
            else:
                found = getattr(module, f"{cmd_name}_command")
        elif plug_in := entry_points("fairgauge.commands").get(cmd_name):
            found = plug_in.load()
        return cast("click.Command | None", found)

    def get_help(self, ctx: click.Context) -> str:
        del ctx
        return first_help().rstrip()

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: object,
    ) -> NoReturn:
        """Run a command and exit with its code; a command returns its code, or None for 0."""
        del standalone_mode
        # there is no linear algebra here: the threads of OpenBLAS would only wait for work, which
        # costs a quarter of a small audit's CPU time
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        # collecting garbage while modules are imported costs a tenth of a small audit's CPU time
        gc.set_threshold(100_000)
        in_main_thread = threading.current_thread() is threading.main_thread()
        if in_main_thread and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, _end_process)
        try:
            code = super().main(
                args, prog_name or "fairgauge", complete_var, standalone_mode=False, **extra
            )
        except (KeyboardInterrupt, click.Abort):
            code = INTERRUPTED
        except SystemExit:
            raise
        except BaseException as error:  # the last resort: never a traceback, nor that of Rust
            # a library that is interrupted raises an error of its own
            code = INTERRUPTED if "Interrupt" in type(error).__name__ else _explain(error)
        if code == INTERRUPTED:
            print_message("Interrupted", prefix="")
        sys.exit(code if isinstance(code, int) else 0)


def _end_process(number: int, frame: FrameType | None) -> None:
    del frame
    if module := sys.modules.get("fairgauge.atomic_files"):
        module.remove_folders()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _explain(error: BaseException) -> int:
    if isinstance(error, ClosedOutput):
        silence_output()
    elif isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
    elif isinstance(error, click.ClickException):
        context = getattr(error, "ctx", None)
        if context is not None:
            click.echo(context.get_usage(), err=True)
            click.echo(f"Try '{context.command_path} --help' for help.\n", err=True)
        print_message(error.format_message())
    elif isinstance(error, FairgaugeError):
        print_message(error)
        return error.exit_code
    elif isinstance(error, OSError):
        where = f": {quote(error.filename)}" if error.filename else ""
        print_message(f"{error.strerror or error}{where}")
    else:
        if os.environ.get("FAIRGAUGE_DEBUG") == "1":
            import traceback

            sys.stderr.write(hide_secrets("".join(traceback.format_exception(error))))
        cause = hide_secrets(str(error))[:_LONGEST_CAUSE]
        print_message(
            f"fairgauge failed in a way it should not ({type(error).__name__}: {cause}). "
            "Please report it, with the output of the same command under FAIRGAUGE_DEBUG=1"
        )
    return BAD_USAGE
