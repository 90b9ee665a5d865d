"""The documentation of options: parameters of a docstring, and a page, both from their table."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, ForwardRef, TypeVar

from fairgauge.spec.options import OPTIONS, Options

if TYPE_CHECKING:
    from collections.abc import Callable

Function = TypeVar("Function", bound="Callable[..., Any]")

_PLACE = "    {options}\n"
_WIDTH = 92
_PAGE = """\
# Options of an audit

An option is a keyword of `fairgauge.audit`, a key of a specification file (TOML, YAML or JSON) and
a flag of `fairgauge audit`, `count`, `validate` and `plan`. A flag overrides the key of a file.
`fairgauge validate --schema` prints the JSON Schema of a file.

| Option | Flag | Default | Description |
|---|---|---|---|
"""


def with_options(function: Function) -> Function:
    """Put the parameters of all options in the place of ``{options}`` in a docstring."""
    if function.__doc__ is not None:  # python -OO has none
        function.__doc__ = function.__doc__.replace(_PLACE, textwrap.indent(parameters(), "    "))
    return function


def parameters() -> str:
    """Return the options as the parameters of a numpy docstring.

    >>> print(parameters().split("prediction")[0].strip())
    label : str | None
        Column of the observed outcome.
    """
    return "".join(
        f"{option.name} : {_type(option.name)}\n{textwrap.indent(_filled(option.help()), '    ')}\n"
        for option in OPTIONS
    )


def page() -> str:
    """Return the page of documentation: every option, its flags, its default, its description."""
    return _PAGE + "".join(
        f"| `{option.name}` | {_cell(', '.join(f'`{flag}`' for flag in option.flags))} "
        f"| {f'`{option.usual}`' if option.usual else ''} | {_cell(_description(option.name))} |\n"
        for option in OPTIONS
    )


def _description(name: str) -> str:
    (option,) = (each for each in OPTIONS if each.name == name)
    words = f" One of {', '.join(f'`{word}`' for word in option.type.words)}."
    return f"{option.description}.{words if option.type.words else ''}"


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def _filled(text: str) -> str:
    return textwrap.fill(text, _WIDTH, break_on_hyphens=False)


def _type(name: str) -> str:
    annotation = Options.__annotations__[name]
    return annotation.__forward_arg__ if isinstance(annotation, ForwardRef) else str(annotation)
