"""The flags of a specification on the command line, made from the table of options."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import click

from fairgauge.cli._command_group import Decorator, add_options
from fairgauge.errors import Problem, refuse
from fairgauge.question.options import BY_NAME, OPTIONS, Option, Spec, parse_flag

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fairgauge.cube.cube import Cube
    from fairgauge.scan.source import Source


Texts: TypeAlias = str | tuple[str, ...] | None
"""What follows a flag on the command line: a text, several, or nothing where it is not given."""


def check_options(options: Mapping[str, Any], data: Source | Cube | None = None) -> Spec:
    """Check options against the columns of the data, and return the question they ask."""
    from fairgauge.cube.cube import Cube
    from fairgauge.cube.plan import plan
    from fairgauge.question.specification import ask, ask_rows
    from fairgauge.scan import check_types
    from fairgauge.scan.chosen_rows import add_probability_columns

    if data is None or isinstance(data, Cube):
        return ask(None, None if data is None else data.asked, **options)
    spec = ask_rows(data, **options)
    # the types of columns are the same wherever scores are cut: their median is not read here
    check_types(add_probability_columns(data, spec), plan(spec, median=spec.score_range[0]))
    return spec


def question(*refused: str, **helps: str) -> Decorator:
    """Return a decorator with the flags of a specification, which are keywords for `read_question`.

    Parameters
    ----------
    refused : options that help does not list, because the command refuses them with what to do.
    **helps : the help of options that mean something of their own to the command.
    """
    return add_options(config_option, *_flags(refused=refused, helps=helps))


def takes_config(of: str) -> Decorator:
    """Return a decorator that gives a command ``-c``."""
    return click.option("-c", "--config", metavar="FILE", help=of)


config_option = takes_config("Specification file (.toml .yaml .json), whose keys flags override.")


def flags_for(*names: str, **helps: str) -> Decorator:
    """Return a decorator that gives a command the flags of some options; see `question`."""
    return add_options(*_flags([BY_NAME[name] for name in names], helps=helps))


def _flags(
    options: Sequence[Option] = OPTIONS,
    refused: Sequence[str] = (),
    helps: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Decorator]:
    for option in options:
        yield click.option(
            option.flag,
            _option_key(option.flag),
            metavar=option.type.metavar,
            help=helps.get(option.name) or option.help(flag=True),
            multiple=option.type.repeatable,
            nargs=option.type.arguments,
            hidden=option.name in refused,
        )


def _option_key(flag: str) -> str:
    return flag.removeprefix("--").replace("-", "_")


def read_question(
    config: str | None, flags: Mapping[str, Texts], *, judges: bool = False
) -> dict[str, Any]:
    """Read the specification file, if there is one, and the flags, which override its keys."""
    from fairgauge.question.spec_file import overridden, with_config  # not for --help

    file: dict[str, Any] = {}
    options: dict[str, Any] = {}
    problems: list[Problem] = []
    if config is not None:
        ruled = _is_given(flags.get("rule"))
        file = {**with_config(config, {}, judges=judges and not ruled)}
    for option in OPTIONS:
        if _is_given(texts := flags.get(_option_key(option.flag))):
            texts = (texts,) if isinstance(texts, str) else texts
            value = parse_flag(option, texts, problems, file | options)
            if value is not None:
                options[option.name] = value
    refuse(problems)
    return overridden(file, options)


def given_options(flags: Mapping[str, Texts]) -> dict[str, Any]:
    """Return the options that some flags give, without a specification file."""
    return read_question(None, flags)


def _is_given(value: Texts) -> TypeGuard[str | tuple[str, ...]]:
    return value is not None and value != ()
