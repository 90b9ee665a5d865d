"""``fairgauge plan``: how many rows an audit needs, and what a table can show."""

from __future__ import annotations

from typing import Any

import click

from fairgauge.cli._command_group import Command, add_options
from fairgauge.cli._data_arguments import DataArguments
from fairgauge.cli._output import Output, shows_result
from fairgauge.cli._spec_flags import asked, question

_NUMBERS = {
    "rate": "Rate of the reference (for example 0.3).",
    "tolerance": "Difference of rates to tolerate and to detect (default 0.1).",
    "ratio": "Ratio of rates to tolerate and to detect (default 0.8).",
    "power": "Power: probability of the wanted verdict (default 0.8).",
    "share": "Share of the group in all rows (default 0.5).",
    "among": "Share of the rows that are in the denominator of the rate (default 1).",
    "cluster-size": "Rows per cluster (default 1).",
    "icc": "Intracluster correlation (default 0).",
    "paired": "Of two models on the same rows: share of rows that they decide differently.",
    "comparisons": "Of two models: disparities that are compared (default 1).",
    "candidates": "Of models on the same rows: candidates that are compared (default 1).",
}


_COUNTS = {
    "names": "Of an audit by swapped names: names a side (the items are then reported).",
    "items": "Of an audit by swapped names: items (the names a side are then reported).",
    "runs": "Of an audit by swapped names: answers to each item under each name (default 1).",
}


@click.command("plan", cls=Command)
@click.argument("data", nargs=-1)
@add_options(
    *(click.option(f"--{name}", type=float, help=text) for name, text in _NUMBERS.items()),
    click.option(
        "--pairs",
        metavar="NAME=SD,...",
        help="For an audit by swapped names: standard deviations of names, items, interaction and "
        "runs, as in the components of a pilot (names=0.07,interaction=0.1,runs=0.56).",
    ),
    *(click.option(f"--{name}", type=int, help=text) for name, text in _COUNTS.items()),
)
@question("candidate")
@shows_result("plan")
def command(
    data: tuple[str, ...],
    config: str | None,
    out: Output,
    **flags: Any,
) -> None:
    """Report how many rows an audit needs, or the smallest disparity that DATA can show.

    Without DATA, --rate, --paired or --pairs is required; with it, the flags of "fairgauge audit"
    name what is compared. Of groups that nobody recorded (--probabilities), report how many people
    to ask for theirs until the rules are decided.

    \b
    fairgauge plan --rate 0.3 --tolerance 0.05
    fairgauge plan --paired 0.1 --margin accuracy=0.01 --tolerance 0.03 --comparisons 6
    fairgauge plan --pairs names=0.07,interaction=0.1,runs=0.56 --tolerance 0.2 --items 17 --runs 5
    fairgauge plan loans.csv --label approved --prediction predicted --sensitive sex
    """  # noqa: D301 - the paragraph mark of click
    out.check([*data, config])
    names = [name.replace("-", "_") for name in (*_NUMBERS, *_COUNTS)]
    pairs = flags.pop("pairs")
    numbers = {name: flags.pop(name) for name in names}
    given = {name: value for name, value in numbers.items() if value is not None}
    what = asked(config, flags)
    if what.problems and not data:
        what.check()
    rows = what.read(DataArguments(data)) if data else None

    from fairgauge.api.planning import plan

    planned = plan(rows, **given, **what.options, pairs=_deviations(pairs))
    out.show(planned)


def _deviations(text: str | None) -> dict[str, float] | None:
    if text is None:
        return None
    from fairgauge.errors import Problem, SpecError, quote

    found: dict[str, float] = {}
    for part in text.split(","):
        name, _, value = (each.strip() for each in part.partition("="))
        try:
            found[name] = float(value)
        except ValueError:
            message = f"cannot read {quote(part)}; write NAME=SD, such as names=0.07,runs=0.56"
            raise SpecError(Problem("--pairs", message)) from None
    return found
