"""``fairgauge why``: how much of a gap is which strata people are in, and what remains."""

from __future__ import annotations

import click

from fairgauge.cli._command_group import Command
from fairgauge.cli._data_arguments import DataArguments, takes_data
from fairgauge.cli._output import Output, shows_result
from fairgauge.cli._spec_flags import Texts, asked, given_options, question
from fairgauge.cli._streams import print_message
from fairgauge.enums import GapVerdict
from fairgauge.errors import quote

_CODES = {GapVerdict.REMAINS: 1, GapVerdict.REVERSES: 1, GapVerdict.INCONCLUSIVE: 3}
"""A reversal is a difference that remains within strata, against the other side."""


@click.command("why", cls=Command, short_help="Decompose gaps: composition, and what remains.")
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
@click.option(
    "--review",
    "review_to",
    metavar="FILE.csv",
    help="Also write files to review: how many were refused on the side with the lower rate, and "
    "accepted on the other, in every combination of strata and controls; with --id who, each with "
    "up to three comparable people who were accepted.",
)
@click.option("--id", "identifier", metavar="COL", help="Column that names persons or files.")
@takes_data()
@shows_result("why")
def command(
    data: DataArguments,
    config: str | None,
    controls: tuple[str, ...],
    fail_on: str | None,
    review_to: str | None,
    identifier: str | None,
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
    if review_to is None and identifier is not None:
        raise click.UsageError("--id is of --review FILE.csv: the file, and who is listed in it")
    out.check([*data.names, config], review_to)
    given = asked(config, flags)
    rows = given.read(data)

    from fairgauge.api.decomposing import why
    from fairgauge.scan.scan_progress import progress

    with progress("Counting rows"):
        # of the flags alone, since a file may hold what only audits use
        beside = given_options({"strata": controls}).get("strata")
        found = why(rows, config=config, controls=beside, **asked(None, flags).options)
    if review_to is not None:
        from fairgauge.atomic_files import write_whole
        from fairgauge.render.words.numbers import numbered, plural
        from fairgauge.render.writers.flat_rows import FlatTable, table_of, table_text

        table = table_of(found, "review")
        if identifier is not None:
            from fairgauge.api.matched_files import matched_files

            files = matched_files(rows, found, identifier)
            table = FlatTable(files.columns, files.rows)
            if files.repeated:
                values = numbered(files.repeated, "values")
                stand = plural(files.repeated, "stands", "stand")
                print_message(
                    f"{values} of {quote(identifier)} {stand} in several rows of the strata that "
                    "are listed, so that rows are not people; if rows were loaded twice, remove "
                    "the copies",
                    prefix="Warning: ",
                )
            for note in files.notes:
                print_message(note, prefix="Note: ")
        elif withheld := sum(int(gap.review_withheld) for gap in found.gaps):
            fewest = "fewer people on a side than --min-group states"
            print_message(f"{withheld:,} combinations with {fewest} are withheld", prefix="Note: ")
        write_whole(review_to, table_text(table))
    out.print_warnings(found.diagnostics)
    out.show(found)
    if not fail_on:
        return 0
    return _CODES.get(found.verdict, 0)
