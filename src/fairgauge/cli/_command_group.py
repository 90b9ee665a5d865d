"""The group of all commands, and the one place where an error becomes a message and a code."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, cast

import click

from fairgauge.addresses import without_secrets
from fairgauge.cli._streams import ClosedOutput, print_message, print_no_notes, silence_output
from fairgauge.errors import DataError, FairgaugeError, nearest, quote
from fairgauge.start.entry_points import entry_points
from fairgauge.start.first_help import SECTIONS, commands, first_help

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]

BAD_USAGE = 2
INTERRUPTED = 130
_LONGEST_CAUSE = 300
_VERBS = ("audit", "find", "why", "compare-models", "thresholds", "pairs", "plan")
"""The commands that are rows of `fairgauge.cli.commands.verbs`; the others are modules."""
_OWN = frozenset(name for commands in SECTIONS.values() for name in commands)


class Command(click.Command):
    """A command that takes ``-q``, and no option twice that holds one value.

    click keeps the last value without a word, so that ``--strata a --strata b`` would be an audit
    that nobody asked for. A command that prints more than one document states itself what ``-q``
    prints of it.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not any("-q" in each.opts for each in self.params):
            self.params.append(
                click.Option(
                    ["-q", "--quiet"],
                    is_flag=True,
                    expose_value=False,
                    callback=print_no_notes,
                    help="Print no notes.",
                )
            )

    def make_parser(self, ctx: click.Context) -> Any:
        parser = super().make_parser(ctx)
        parse = parser.parse_args

        def parse_once(args: list[str]) -> tuple[dict[str, Any], list[str], list[click.Parameter]]:
            values, rest, given = parse(args)
            _refuse_repeated(given, ctx)
            return values, rest, given

        parser.parse_args = parse_once  # type: ignore[method-assign]
        return parser


class OfSaved(Command):
    """A command that shows a saved result, in which others may have changed any value."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except FairgaugeError:
            raise
        except (
            ArithmeticError,
            AssertionError,
            AttributeError,
            LookupError,
            TypeError,
            ValueError,
        ) as error:
            raise DataError(
                "a value of the saved result is of a type or in a place where none can be "
                f"({type(error).__name__}: {str(error)[:_LONGEST_CAUSE]}); save it again"
            ) from error


def add_options(*options: Decorator) -> Decorator:
    """Return a decorator that gives a command several options, in the order of its help."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def _refuse_repeated(given: Sequence[click.Parameter], ctx: click.Context) -> None:
    for i, option in enumerate(given):
        # --help and --version end the command, whatever stands beside them
        ends = option.name in ("help", "version")
        if not isinstance(option, click.Option) or option.multiple or ends:
            continue
        if option in given[:i]:
            flags = " or ".join(option.opts + option.secondary_opts)
            raise click.UsageError(f"{flags} is given twice, and holds one value", ctx)


class CommandGroup(click.Group):
    """A command with commands of its own."""

    command_class = Command


class Commands(click.Group):
    """Rows of `fairgauge.cli.commands.verbs`, modules NAME_command beside it, and plug-ins."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return sorted(commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        found: Any = None
        if cmd_name in _VERBS:
            verbs = import_module("fairgauge.cli.commands.verbs")
            found = verbs.command_of(cmd_name, verbs.VERBS[cmd_name])
        elif cmd_name in _OWN:
            module = import_module(f"fairgauge.cli.commands.{cmd_name.replace('-', '_')}_command")
            found = module.command
        elif plug_in := entry_points("fairgauge.commands").get(cmd_name):
            found = plug_in.load()
        return cast("click.Command | None", found)

    def get_help(self, ctx: click.Context) -> str:
        del ctx
        return first_help().rstrip()

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        # click would import every command that fits
        from click.shell_completion import CompletionItem

        every = commands().items() if incomplete[:1].isalnum() or not incomplete else ()
        found = [CompletionItem(name, help=d) for name, d in every if name.startswith(incomplete)]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            every = self.list_commands(ctx)
            message = (
                f"no command {quote(args[0])}.{nearest(args[0], every)} "
                f"Commands: {', '.join(every)}"
            )
            raise click.UsageError(message, ctx)
        return super().resolve_command(ctx, args)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> NoReturn:
        """Run a command and exit with its code; a command returns its code, or None for 0."""
        del standalone_mode
        # there is no linear algebra here: the threads of OpenBLAS would only wait for work, which
        # costs a quarter of a small audit's CPU time
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        # collecting garbage while modules are imported costs a tenth of a small audit's CPU time
        gc.set_threshold(100_000)
        with noticed(_abandon) as signals:
            try:
                code = super().main(
                    args, prog_name or "fairgauge", complete_var, standalone_mode=False, **extra
                )
            except (KeyboardInterrupt, click.Abort):
                code = INTERRUPTED
            except Exception as error:  # the last resort: never a traceback
                code = INTERRUPTED if signals else _explain(error)
        if signal.SIGTERM in signals:
            _remove_folders()
            os.kill(os.getpid(), signal.SIGTERM)
        if code == INTERRUPTED:
            print_message("Interrupted", prefix="")
        sys.exit(code if isinstance(code, int) else 0)


def _abandon(number: int) -> NoReturn:
    """End the process at once, whatever it is doing; its private folders are removed first."""
    if number == signal.SIGINT:
        print_message("Interrupted", prefix="")
    _remove_folders()
    os._exit(128 + number)


def _remove_folders() -> None:
    """Remove the temporary folders of this process; without their module it has made none."""
    if module := sys.modules.get("fairgauge.temporary_files"):
        module.remove_folders()


def _explain(error: Exception) -> int:
    if isinstance(error, ClosedOutput):
        silence_output()
    elif isinstance(error, click.ClickException):
        _show(error)
    elif isinstance(error, FairgaugeError):
        print_message(error)
        return error.exit_code
    elif isinstance(error, OSError):
        where = f": {quote(error.filename)}" if error.filename else ""
        print_message(f"{error.strerror or error}{where}")
    else:
        if os.environ.get("FAIRGAUGE_DEBUG") == "1":
            import traceback

            sys.stderr.write(without_secrets("".join(traceback.format_exception(error))))
        cause = without_secrets(str(error))[:_LONGEST_CAUSE]
        print_message(
            f"fairgauge failed in a way it should not ({type(error).__name__}: "
            f"{cause}). Please report it, with the output of the same command "
            "under FAIRGAUGE_DEBUG=1"
        )
    return BAD_USAGE


def _show(error: click.ClickException) -> None:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return
    context = getattr(error, "ctx", None)
    if context is not None:
        click.echo(context.get_usage(), err=True)
        click.echo(f"Try '{context.command_path} --help' for help.\n", err=True)
    print_message(error.format_message())


_GRACE = 1.0
"""Seconds after a signal in which a command can end by itself."""


@contextmanager
def noticed(abandon: Callable[[int], None]) -> Iterator[list[int]]:
    """List the signals that ask the process to end, which raise KeyboardInterrupt: SIGINT, SIGTERM.

    Python raises only between its own instructions, and a scan may be a single one, in a library
    that ignores interrupts. If the block has not ended in time, ``abandon`` is called, in a thread
    of its own; it must end the process. A process that ignores interrupts (``nohup``, a background
    job of a script) goes on ignoring them.
    """
    happened: list[int] = []
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    # of an interrupt Python's own, or that of a library such as pyspark
    effects = {number: effect for number, effect in before.items() if callable(effect)}
    if before[signal.SIGTERM] is signal.SIG_DFL:
        effects[signal.SIGTERM] = signal.default_int_handler

    def handle(number: int, frame: FrameType | None) -> None:
        happened.append(number)
        effects[signal.Signals(number)](number, frame)

    if effects and threading.current_thread() is threading.main_thread():
        for each in effects:
            signal.signal(each, handle)
        try:
            with _watched(abandon):
                yield happened
        finally:
            for each in effects:
                signal.signal(each, before[each])
    else:
        yield happened


@contextmanager
def _watched(abandon: Callable[[int], None]) -> Iterator[None]:
    """Call a function if the block goes on for too long after a signal.

    The number of a signal is written to the pipe when it arrives, whatever the main thread does.
    """
    ended = threading.Event()
    reading, writing = os.pipe()
    if os.name == "posix":  # pragma: no branch - no test runs elsewhere
        os.set_blocking(writing, False)

    def watch() -> None:
        while number := os.read(reading, 1):
            if number[0] in (signal.SIGINT, signal.SIGTERM) and not ended.wait(_GRACE):
                abandon(number[0])

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        ended.set()
        os.close(writing)
        watching.join()
        os.close(reading)
