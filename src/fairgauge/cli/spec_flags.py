"""What is asked on the command line: the flags of a specification, over the keys of its file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from fairgauge.cli import argument_syntax
from fairgauge.enums import Method, Missing, Profile, ReferenceRule, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairgauge.errors import Problem
    from fairgauge.spec.specification import Spec


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of `fairgauge.audit` as argument_syntax, and what could not be read of them."""

    options: dict[str, Any]
    problems: tuple[Problem, ...]

    def check(self, rows: Any = None) -> Spec:
        """Hold what is asked against the columns of the data, and raise every mistake at once.

        Raises
        ------
        SpecError
            Something could not be read, or is wrong.
        """
        from fairgauge.cube.cube import Cube
        from fairgauge.cube.plan import plan
        from fairgauge.scan import open_source
        from fairgauge.scan.column_types import check_types
        from fairgauge.spec.spec_file import check

        if rows is None:
            return check(self.options, self.problems)
        if isinstance(rows, Cube):
            return check(self.options, self.problems, base=rows.plan.asked)
        source = open_source(rows)
        spec = check(self.options, self.problems, columns=source.columns)
        check_types(source, plan(spec))
        return spec


def question(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the flags of a specification; they arrive as keywords for `asked`."""
    for flag in reversed(_FLAGS):
        command = flag(command)
    return command


def asked(config: str | None, flags: Mapping[str, Any]) -> Asked:
    """Read the specification file, if there is one, and the flags, which override its keys."""
    options: dict[str, Any] = {}
    problems: list[Problem] = []
    if config is not None:
        from fairgauge.spec.spec_file import read_options

        options, found = read_options(config)
        problems += [p for p in found if not _given(flags.get(p.path.split(".")[0].split("[")[0]))]
    for key, value in flags.items():
        if _given(value):
            options[key] = _READERS.get(key, _name)(value, key, problems)
    return Asked(options, tuple(problems))


def _given(value: Any) -> bool:
    return value is not None and value != ()


def _name(value: str, path: str, problems: list[Problem]) -> str:
    del path, problems
    return argument_syntax.unescape(value)


def _each(read: Callable[..., Any]) -> Callable[..., Any]:
    """Read an option that is given once for each item."""

    def every(values: tuple[str, ...], path: str, problems: list[Problem]) -> list[Any]:
        return [read(value, f"{path}[{i}]", problems) for i, value in enumerate(values)]

    return every


_READERS: dict[str, Callable[..., Any]] = {
    "threshold": lambda value, _path, _problems: [
        argument_syntax.number(v) for v in argument_syntax.names(value)
    ],
    "score_range": lambda value, _path, _problems: [argument_syntax.number(v) for v in value],
    "score_of": _name,
    "positive": argument_syntax.positive,
    "sensitive": _each(argument_syntax.sensitive),
    "intersections": _each(lambda value, _path, _problems: argument_syntax.intersection(value)),
    "reference": argument_syntax.reference,
    "metrics": lambda value, _path, _problems: argument_syntax.names(value),
    "features": lambda value, _path, _problems: argument_syntax.names(value),
    "confidence": lambda value, _path, _problems: argument_syntax.number(value),
    "replicates": lambda value, _path, _problems: argument_syntax.number(value),
    "seed": lambda value, _path, _problems: argument_syntax.number(value),
    "max_groups": lambda value, _path, _problems: argument_syntax.number(value),
    "population": argument_syntax.population,
    "rules": argument_syntax.rules,
}


def _flag(
    name: str, metavar: str, text: str, key: str | None = None, **more: Any
) -> Callable[..., Any]:
    key = key or name.removeprefix("--").replace("-", "_")
    return click.option(name, key, metavar=metavar, help=text, **more)


def _words(kind: type[Method | Missing | Profile | ReferenceRule | Task]) -> str:
    return "|".join(kind)


# ruff: noqa: E501 - a flag is one line, so that the table reads as a table
# fmt: off
_FLAGS = (
    click.option("-c", "--config", metavar="FILE", help="A specification (.toml .yaml .json); flags override it."),
    _flag("--label", "COL", "The observed outcome."),
    _flag("--prediction", "COL", "The model's decision."),
    _flag("--score", "COL", "The model's number behind the decision, from 0 to 1."),
    _flag("--threshold", "T", "Scores from T up are positive (0.5). Several: 0.3,0.5", multiple=True),
    _flag("--score-of", "VALUE", "The label value that the score is the probability of."),
    _flag("--score-range", "LOW HIGH", "The range of the score, if it is not 0 to 1.", nargs=2),
    _flag("--positive", "VALUE,...", "The favourable label values, or a cut: '>50000'.", multiple=True),
    _flag("--sensitive", "COL...", "A column whose values are groups. COL=V1,V2: these values together. COL:40,60: cut there. Repeatable.", multiple=True),
    _flag("--intersect", "A*B", "Groups of two or more columns together. Repeatable.", key="intersections", multiple=True),
    _flag("--strata", "COL", "A column held fixed: compare within its values."),
    _flag("--count", "COL", "Whole numbers: the cases that a row stands for."),
    _flag("--weight", "COL", "Sampling weights."),
    _flag("--cluster", "COL", "What ties rows together (a user, a session)."),
    _flag("--reference", "R", f"What groups are compared with: {_words(ReferenceRule)} or COL=VALUE (rest).", multiple=True),
    _flag("--metrics", "NAME,...", "standard|clarify|vertex|native|all, or names; see: fairgauge metrics.", multiple=True),
    _flag("--features", "COL,...", "Columns for the metrics that compare rows.", multiple=True),
    _flag("--task", "T", f"{_words(Task)}."),
    _flag("--confidence", "C", "Level of the intervals (0.95)."),
    _flag("--method", "M", f"How intervals are made: {_words(Method)}."),
    _flag("--replicates", "R", "Of the methods that resample (2000)."),
    _flag("--seed", "N", "Of the methods that draw random numbers (0)."),
    _flag("--profile", "P", f"{_words(Profile)}: the sources' formulas, or smclarify's numbers."),
    _flag("--missing", "M", f"Rows without a group: {_words(Missing)}."),
    _flag("--population", "COL:V=SHARE,...", "Shares of a population to hold groups against. Repeatable.", multiple=True),
    _flag("--rule", "RULE", "'DI >= 0.8' or '-0.1 <= RD <= 0.1'. Repeatable.", key="rules", multiple=True),
    _flag("--max-groups", "N", "The most values that a column may have (1000)."),
)
# fmt: on
