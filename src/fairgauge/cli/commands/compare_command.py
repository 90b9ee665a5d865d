"""``fairgauge compare``: two reports, or models on the same rows, and an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from fairgauge.cli.command_group import Command
from fairgauge.cli.data_arguments import Where, where
from fairgauge.cli.output import check_outputs, format_option, output_option
from fairgauge.cli.spec_flags import Asked, asked, question
from fairgauge.cli.streams import print_result, terminal_style
from fairgauge.enums import CandidateVerdict
from fairgauge.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairgauge.results.comparison import Comparison
    from fairgauge.results.model_comparison import ModelComparison

WORSE, INCOMPLETE = 1, 3
_REPORTS = 2
_EXIT_CODES = {
    CandidateVerdict.WORSE: 1,
    CandidateVerdict.TRADE_OFF: 3,
    CandidateVerdict.CANNOT_TELL: 3,
}


@click.command(
    "compare", cls=Command, short_help="Compare two reports, or models on the same rows."
)
@click.argument("data", nargs=-1, required=True)
@click.option("-q", "--quiet", is_flag=True, help="Print one line with the verdict.")
@question
@where()
@format_option("comparison")
@output_option("comparison")
@click.option(
    "--same-rows/--different-rows",
    default=None,
    help="Of two reports: whether both are of the same rows (two models on one table): then no "
    "change has a confidence interval. The default decides by the numbers of rows.",
)
@click.option(
    "--fail-on",
    type=click.Choice(("worse",)),
    help="Of two reports: exit with 1 if a disparity or a verdict got statistically significantly "
    "worse; without any change, at most 5% of comparisons do. Otherwise with 3 if a verdict of the "
    "first has no counterpart in the second because its group is gone.",
)
def command(
    data: tuple[str, ...],
    quiet: bool,
    at: Where,
    config: str | None,
    format_: str,
    outputs: tuple[str, ...],
    same_rows: bool | None,
    fail_on: str | None,
    **flags: Any,
) -> int:
    """Compare two reports, or candidate models with the model in use on the same rows.

    Of two reports that "fairgauge audit ... -o report.json" wrote: what changed from the first to
    the second, of the model in use and of a candidate, or of last month and this.

    \b
    fairgauge compare january.json february.json -o diff.html

    Of DATA with --candidate: whether each candidate dominates the model in use (fairer, and not
    worse by more than the margin), is a trade-off, is worse or undecided. Exit codes: 0 a
    candidate dominates, or no margin is given; 1 every candidate is worse; 3 otherwise.

    \b
    fairgauge compare loans.parquet --label repaid --prediction current --candidate new
        --sensitive sex --margin accuracy=0.01 -o choice.html
    """  # noqa: D301 - the paragraph mark of click
    if quiet and format_ != "text":
        raise DataError(f"--quiet is an option of text, not of {format_}")
    check_outputs(outputs, [*data, *([config] if config else [])])
    given = asked(config, flags)
    if not given.options and not given.problems and len(data) == _REPORTS:
        reports = _of_reports(data, same_rows)
        _show(reports, format_, outputs, quiet=quiet)
        if not fail_on:
            return 0
        return WORSE if reports.worse else INCOMPLETE if reports.incomplete else 0
    if same_rows is not None or fail_on:
        raise DataError("--same-rows, --different-rows and --fail-on belong to two reports")
    models = _of_models(data, at, given)
    _show(models, format_, outputs, quiet=quiet)
    return _EXIT_CODES.get(models.verdict, 0)


def _of_reports(data: Sequence[str], same_rows: bool | None) -> Comparison:
    from fairgauge.api.comparing import compare

    old, new = data
    return compare(old, new, same_rows=same_rows)


def _of_models(data: Sequence[str], at: Where, given: Asked) -> ModelComparison:
    rows = given.read(data, at)

    from fairgauge.api.comparing import compare
    from fairgauge.scan.scan_progress import progress

    with progress("Counting rows"):
        found: ModelComparison = compare(rows, **given.options)
    return found


def _show(
    found: Comparison | ModelComparison, format_: str, outputs: Sequence[str], *, quiet: bool
) -> None:
    """Print a comparison, and write its files."""
    from fairgauge.render.formats import render, save_all

    text = render(found, format_, **terminal_style(format_), **({"quiet": True} if quiet else {}))
    save_all(found, outputs)
    print_result(text)
