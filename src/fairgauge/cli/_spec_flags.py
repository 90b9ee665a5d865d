"""The flags of a specification on the command line, made from the table of options."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import click

from fairgauge.cli._command_group import Decorator, add_options
from fairgauge.errors import Problem, SpecError
from fairgauge.question.options import BY_NAME, OPTIONS, Option, Spec, parse_flag

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fairgauge.cli._data_arguments import DataArguments
    from fairgauge.cube.cube import Cube
    from fairgauge.scan.source import Source


Texts: TypeAlias = str | tuple[str, ...] | None
"""What follows a flag on the command line: a text, several, or nothing where it is not given."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of `fairgauge.audit` as given, and what could not be parsed of them."""

    options: dict[str, Any]
    problems: tuple[Problem, ...]

    def check(self, data: Source | Cube | None = None) -> Spec:
        """Check the options against the columns of the data; every problem is listed.

        Raises
        ------
        SpecError
            Something could not be parsed, or is wrong.
        """
        from fairgauge.cube.cube import Cube
        from fairgauge.cube.plan import plan
        from fairgauge.scan import check_types
        from fairgauge.scan.probability_columns import with_probabilities

        if data is None:
            return self._ask()
        if isinstance(data, Cube):
            return self._ask(base=data.asked)
        spec = self._ask(data.columns)
        # the types of columns are the same wherever scores are cut: their median is not read here
        check_types(with_probabilities(data, spec), plan(spec, median=spec.score_range[0]))
        return spec

    def read(self, data: DataArguments) -> object:
        """Return the data as `fairgauge.audit` takes them.

        Raises
        ------
        SpecError
            Something could not be parsed; what is wrong with the columns is listed, too.
        """
        if self.problems:
            self.check(data.open())
        return data.read()

    def _ask(self, columns: Sequence[str] | None = None, base: Spec | None = None) -> Spec:
        from fairgauge.question.specification import ask

        try:
            spec = ask(columns, base, **self.options)
        except SpecError as error:
            more = [p for p in error.problems if not any(_same(p, q) for q in self.problems)]
            raise SpecError([*self.problems, *more]) from None
        if self.problems:
            raise SpecError(self.problems)
        return spec


def _same(one: Problem, other: Problem) -> bool:
    short, long = sorted((one.path, other.path), key=len)
    return long == short or (long.startswith(short) and long[len(short)] in ".[")


def question(*refused: str, **helps: str) -> Decorator:
    """Return a decorator with the flags of a specification, which are keywords for `asked`.

    Parameters
    ----------
    refused : options that help does not list, because the command refuses them with what to do.
    **helps : the help of options that mean something of their own to the command.
    """
    return add_options(config_option, *_flags(refused=refused, helps=helps))


def takes_config(of: str) -> Decorator:
    """Return a decorator that gives a command ``-c``, and the option by which it may name code."""
    return add_options(
        click.option("-c", "--config", metavar="FILE", help=of, callback=_import_allowed),
        click.option(
            "--allow-code",
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_allow_code,
            help="Import the modules beside -c FILE whose metrics it names (MODULE:NAME).",
        ),
    )


_ALLOWED = "fairgauge.allow_code"


def _allow_code(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    ctx.meta[_ALLOWED] = value


def _import_allowed(ctx: click.Context, _: click.Parameter, config: str | None) -> str | None:
    """Import what a specification names where that is allowed; otherwise reading it refuses."""
    if config is not None and ctx.meta[_ALLOWED]:
        from fairgauge.question.spec_file import import_code  # not for --help

        import_code(config)
    return config


config_option = takes_config("Specification file (.toml .yaml .json), whose keys flags override.")


def flags_for(*names: str, **helps: str) -> Decorator:
    """Return a decorator that gives a command the flags of some options; see `question`."""
    return add_options(*_flags([BY_NAME[name] for name in names], helps=helps))


def _flags(
    options: Sequence[Option] = OPTIONS,
    refused: Sequence[str] = (),
    helps: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Decorator]:
    """Yield every flag once: two options may share one, which then takes several values."""
    flags = [flag for option in options for flag in option.flags]
    for flag in dict.fromkeys(flags):
        sharing = [option for option in options if flag in option.flags]
        option = sharing[0]
        yield click.option(
            flag,
            _key(flag),
            metavar="|".join(dict.fromkeys(option.type.metavar for option in sharing)),
            help=helps.get(option.name) or option.help(flag),
            multiple=option.type.repeatable or len(sharing) > 1,
            nargs=option.type.arguments,
            hidden=option.name in refused,
        )


def _key(flag: str) -> str:
    return flag.removeprefix("--").replace("-", "_")


def asked(
    config: str | None,
    flags: Mapping[str, Texts],
    *,
    judges: bool = False,
    counts: bool = False,
) -> Asked:
    """Read the specification file, if there is one, and the flags, which override its keys.

    The command ``judges`` by the rules of a monitor in the file, or its ``counts`` carry them.
    """
    from fairgauge.question.spec_file import overridden, with_config  # not for --help

    file: dict[str, Any] = {}
    options: dict[str, Any] = {}
    problems: list[Problem] = []
    if config is not None:
        ruled = _given(flags.get("rule"))
        file = {**with_config(config, {}, judges=judges and not ruled, counts=counts and not ruled)}
    for option in OPTIONS:
        given = {flag: texts for flag in option.flags if _given(texts := flags.get(_key(flag)))}
        if len(option.flags) > 1 and given:  # a table, whose keys the flags give one by one
            table = file.get(option.name)
            before = dict(table) if isinstance(table, dict) else {}
            options[option.name] = before | {_key(flag): text for flag, text in given.items()}
        elif given:
            (texts,) = given.values()
            texts = (texts,) if isinstance(texts, str) else texts
            value = parse_flag(option, texts, problems, file | options)
            if value is not None:
                options[option.name] = value
    return Asked(overridden(file, options), tuple(problems))


def given_options(flags: Mapping[str, Texts]) -> dict[str, Any]:
    """Return the options that some flags give, without a specification file."""
    given = asked(None, flags)
    if given.problems:
        raise SpecError(given.problems)
    return given.options


def _given(value: Texts) -> TypeGuard[str | tuple[str, ...]]:
    return value is not None and value != ()
