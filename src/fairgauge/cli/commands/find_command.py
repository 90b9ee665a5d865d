"""``fairgauge find``: where a rate is worse, in any subgroup that features make."""

from __future__ import annotations

from typing import Any

import click

from fairgauge.cli._command_group import Command, add_options
from fairgauge.cli._data_arguments import DataArguments, takes_data
from fairgauge.cli._output import Output, shows_result
from fairgauge.cli._spec_flags import asked, config_option, flags_for
from fairgauge.enums import Missing, SearchedReference, Worse
from fairgauge.errors import Problem, refuse
from fairgauge.question.option_types import LISTED_FEATURES
from fairgauge.question.options import OF_ROWS

WORSE, NOTHING_SHOWN = 1, 3

_SEARCH: dict[str, dict[str, Any]] = {
    "rate": {
        "metavar": "RATE",
        "help": "Rate to search, a share of rows (for example false_positive_rate).",
    },
    "features": {
        "metavar": LISTED_FEATURES.metavar,
        "multiple": True,
        "help": "Columns to search, protected or not. Numbers after a column are its cut points: "
        "sex,age:40,60. Repeatable.",
    },
    "worse": {
        "type": click.Choice([*map(str, Worse)]),
        "help": "Side that is worse (default: that of the rate).",
    },
    "tolerance": {
        "type": float,
        "help": "Worse means by more than this (default 0; 0.02 is 2 pp).",
    },
    "depth": {"type": int, "help": "Most conditions of a subgroup (default 3)."},
    "min_rows": {"type": int, "help": "Fewest rows of a subgroup (default 20)."},
    "reference": {
        "type": click.Choice([*map(str, SearchedReference)]),
        "help": "What a subgroup is compared with (default others).",
    },
    "alpha": {"type": float, "help": "Error rate in each direction (default 0.05)."},
    "missing": {
        "type": click.Choice([*map(str, Missing)]),
        "help": "Treatment of missing values of features: a value, none, or an error (default "
        "group).",
    },
    "min_cell": {
        "type": int,
        "help": "List no subgroup that differs from a listed one by fewer people; round counts.",
    },
}
"""The flags of the search itself, which are keywords of `fairgauge.find`."""


@click.command("find", cls=Command)
@add_options(*(click.option(f"--{n.replace('_', '-')}", **flag) for n, flag in _SEARCH.items()))
@flags_for(*OF_ROWS)
@config_option
@takes_data()
@shows_result("find")
@click.option(
    "--fail-on",
    type=click.Choice(("worse",)),
    help="Exit with 1 if any subgroup is worse, with 3 if none could be examined, if the rate is "
    "the same 0% or 100% in all rows, or if rows that lack an outcome could hide one.",
)
def command(
    data: DataArguments,
    config: str | None,
    out: Output,
    fail_on: str | None,
    **flags: Any,
) -> int:
    """Find the subgroups in which a rate is worse, of all that some columns make.

    Every conjunction of a few values is compared with all other rows. With a chance of at most 5%
    (--alpha) any subgroup that is called worse is not, however many are examined.

    \b
    fairgauge find loans.csv --label repaid --prediction approved --rate false_positive_rate
        --features sex,race,age:25,45,60 --tolerance 0.02 --fail-on worse -o find.html
    """  # noqa: D301 - the paragraph mark of click
    out.check([*data.names, config])
    search = {name: flags.pop(name) for name in _SEARCH}
    listed = search.pop("features")
    given = asked(None, flags)
    problems: list[Problem] = [*given.problems]
    features = LISTED_FEATURES.parse(listed, "features", problems) if listed else None

    from fairgauge.api.searching import find
    from fairgauge.scan.scan_progress import progress

    refuse(problems)
    stated = {name: value for name, value in search.items() if value is not None}
    rows = data.read()
    with progress("Counting rows"):
        found = find(rows, features=features, config=config, **stated, **given.options)
    out.show(found)
    out.print_warnings(found.diagnostics)
    if fail_on is None:
        return 0
    if found.worse:
        return WORSE
    decided = found.examined and not found.is_constant and not found.lacks_outcomes
    return 0 if decided else NOTHING_SHOWN
