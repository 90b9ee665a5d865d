"""``fairgauge why``: how much of a gap is which strata people are in, and what remains."""

from __future__ import annotations

import click

from fairgauge.cli._command_group import Command
from fairgauge.cli._data_arguments import DataArguments, takes_data
from fairgauge.cli._output import Output, shows_result
from fairgauge.cli._spec_flags import Texts, asked, given_options, question
from fairgauge.enums import GapVerdict

_CODES = {GapVerdict.REMAINS: 1, GapVerdict.REVERSES: 1, GapVerdict.INCONCLUSIVE: 3}
"""A reversal is a difference that remains within strata, against the other side."""


@click.command("why", cls=Command)
@question(
    "candidate", "rules", "inconclusive", "multiplicity", "population",
    "features",
    margins="Largest difference within strata, or with --control by regression, that is "
    "tolerated, in the unit of the rate: base_rate=0.02. Repeatable.",
)  # fmt: skip
@click.option(
    "--control",
    "controls",
    metavar="COL...",
    multiple=True,
    help="Column for which the regression is adjusted beside the strata, as a number too: "
    "dti:36,43, dti:quantiles. Repeatable.",
)
@click.option(
    "--fail-on",
    type=click.Choice(("remains",)),
    help="Exit with 1 if a difference remains within strata, or with --control by regression, in "
    "either direction (a reversal too), otherwise with 3 if either is inconclusive.",
)
@takes_data()
@shows_result("why")
def command(
    data: DataArguments,
    config: str | None,
    controls: tuple[str, ...],
    fail_on: str | None,
    out: Output,
    **flags: Texts,
) -> int:
    """Decompose the gap between groups into composition and what remains within strata.

    Composition is the groups' shares of strata, such as the departments that they apply to. A gap
    is accounted for by it, remains within strata, or reverses there. Accounted for is arithmetic:
    it does not show whether the strata should count, or why groups differ in them.
    Where the difference varies over strata, an average may
    hide what remains in some: the gap is inconclusive in place of accounted for. Metrics are
    differences or ratios of rates (--metrics selection_rate.ratio), margins differences within
    strata that are tolerated (--margin base_rate=0.02). Numbers are cut by hand (dti:36,43) or into
    ten intervals of about equally many rows (dti:quantiles).

    \b
    fairgauge why admissions.csv --label Admit --positive Admitted --sensitive Gender --strata Dept
    fairgauge why loans.parquet --prediction approved --sensitive race --reference race=White
        --strata product --control dti:quantiles --control ltv:80,90 -o why.html
    """  # noqa: D301 - the paragraph mark of click
    out.check([*data.names, config])
    given = asked(config, flags)
    rows = given.read(data)

    from fairgauge.api.decomposing import why
    from fairgauge.scan.scan_progress import progress

    with progress("Counting rows"):
        # of the flags alone, since a file may hold what only audits use
        beside = given_options({"strata": controls}).get("strata")
        found = why(rows, config=config, controls=beside, **asked(None, flags).options)
    out.print_warnings(found.diagnostics)
    out.show(found)
    if not fail_on:
        return 0
    return _CODES.get(found.verdict, 0)
