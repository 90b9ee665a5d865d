"""``fairgauge thresholds``: the threshold of a score that meets a goal, and its price."""

from __future__ import annotations

import click

from fairgauge.cli.command_group import Command
from fairgauge.cli.data_arguments import Where, where
from fairgauge.cli.output import check_outputs, format_option, output_option
from fairgauge.cli.spec_flags import Texts, asked, question
from fairgauge.cli.streams import print_result, terminal_style
from fairgauge.enums import Outcome
from fairgauge.errors import DataError

_EXIT_CODES = ((None, 1), (Outcome.FAIL, 1), (Outcome.INCONCLUSIVE, 3), (Outcome.PASS, 0))
"""By the least outcome of all features; None where no common threshold meets the goal."""


@click.command(
    "thresholds", cls=Command, short_help="Find the threshold of a score that meets a goal."
)
@click.argument("data", nargs=-1, required=True)
@click.option(
    "--goal",
    required=True,
    metavar="RULE",
    help="What every group must meet, for example 'selection_rate.ratio >= 0.8' or, of equalized "
    "odds, 'worst_odds <= 0.1'.",
)
@click.option(
    "--keep",
    default="accuracy within 0.01",
    metavar="'RATE within MARGIN'",
    help="Rate of all rows that may be worse by a margin at most (default 'accuracy within 0.01').",
)
@click.option("-q", "--quiet", is_flag=True, help="Print one line with the chosen thresholds.")
@question
@where()
@format_option("thresholds")
@output_option("thresholds")
def command(
    data: tuple[str, ...],
    goal: str,
    keep: str,
    quiet: bool,
    at: Where,
    config: str | None,
    format_: str,
    outputs: tuple[str, ...],
    **flags: Texts,
) -> int:
    """Find the threshold of a score, closest to today's, that meets a fairness goal.

    One random half of the rows chooses, the other half measures. Exit codes: 0 the goal is met at
    the chosen threshold (the whole confidence interval of every group), 1 no threshold meets it or
    it is not met in the other half, 3 otherwise.

    \b
    fairgauge thresholds loans.parquet --label repaid --score risk --threshold 0.5 --sensitive sex
        --goal 'selection_rate.ratio >= 0.8' --keep 'accuracy within 0.01' -o thresholds.html
    """  # noqa: D301 - the paragraph mark of click
    if quiet and format_ != "text":
        raise DataError(f"--quiet is an option of text, not of {format_}")
    check_outputs(outputs, [*data, *([config] if config else [])])
    given = asked(config, flags)
    rows = given.read(data, at)

    from fairgauge.api.thresholding import thresholds
    from fairgauge.render.formats import render, save_all
    from fairgauge.scan.scan_progress import progress

    with progress("Counting rows"):
        found = thresholds(rows, goal=goal, keep=keep, **given.options)
    text = render(found, format_, **terminal_style(format_), **({"quiet": True} if quiet else {}))
    save_all(found, outputs)
    print_result(text)
    outcomes = {each.common.outcome if each.common else None for each in found.features}
    return next(code for outcome, code in _EXIT_CODES if outcome in outcomes)
