"""``fairgauge compare``: what changed from one report to another, and an exit code."""

from __future__ import annotations

import click

from fairgauge.cli._command_group import OfSaved
from fairgauge.cli._output import Output, shows_result
from fairgauge.cli._streams import print_message
from fairgauge.enums import WhyIncomplete
from fairgauge.errors import DataError

WORSE, INCOMPLETE = 1, 3
_WHY = {
    WhyIncomplete.RULE_GONE: "the new report lacks a rule of the old one",
    WhyIncomplete.NO_COUNTERPART: "a verdict of one report has no counterpart in the other",
    WhyIncomplete.ASKED_OTHERWISE: "differences moved that the two reports measure differently "
    "(another setting or reference)",
    WhyIncomplete.UNTESTED_VERDICT: "a verdict got worse, or changed to one that decides nothing, "
    "and no test of its difference shows whether by more than sampling variation",
    WhyIncomplete.NOTHING_COMPARED: "no difference has a value in both reports",
    WhyIncomplete.NOTHING_TESTED: "differences between groups moved, and reports of the same rows "
    "do not show whether by more than sampling variation; compare both models on the rows, which "
    "tests every change (fairgauge compare-models DATA --prediction OLD --candidate NEW)",
    WhyIncomplete.MORE_LACK: "many more rows of the new report, or of one of its groups, lack an "
    "outcome, a group or a stratum, or have an unclear one",
    WhyIncomplete.GROUP_GONE: "a group is gone, or has insufficient data now",
}


@click.command("compare", cls=OfSaved)
@click.argument("reports", nargs=-1, required=True, metavar="OLD NEW")
@click.option("--candidate", hidden=True, multiple=True)  # refused with what to do instead
@shows_result("comparison")
@click.option(
    "--same-rows/--different-rows",
    default=None,
    help="Whether both reports are of the same rows (two models on one table): then a change is "
    "tested only where no dependence of the two would explain it. The default decides by the "
    "numbers of rows.",
)
@click.option(
    "--fail-on",
    type=click.Choice(("worse",)),
    help="Exit with 1 if a disparity or a verdict got statistically significantly worse; without "
    "any change, at most 5% of comparisons do. Otherwise with 3 if a verdict got worse that "
    "could not be tested, as where another group is the best now, if a difference moved, and not "
    "closer, that two reports of the same rows cannot test, if a verdict of the first has no "
    "counterpart in the second because its group is gone, if the two have nothing in common that "
    "could be compared, or, without rules, if many more rows of the second, or of one of its "
    "groups, lack an outcome, a group or a stratum.",
)
def command(
    reports: tuple[str, ...],
    candidate: tuple[str, ...],
    out: Output,
    same_rows: bool | None,
    fail_on: str | None,
) -> int:
    """Compare two reports that "fairgauge audit ... -o report.json" wrote.

    What changed from OLD to NEW: of the model in use and of a candidate, or of last month and this.
    Models that decide the same rows are compared by "fairgauge compare-models".

    \b
    fairgauge compare january.json february.json -o diff.html
    """  # noqa: D301 - the paragraph mark of click
    if candidate or len(reports) != 2:
        from fairgauge.question.specification import MODELS_INSTEAD

        raise DataError(f"compare takes two reports, OLD and NEW; {MODELS_INSTEAD}")
    out.check(reports)

    from fairgauge.api.comparing import compare

    comparison = compare(*reports, same_rows=same_rows)
    out.print_warnings(comparison.diagnostics)
    out.show(comparison)
    if not fail_on:
        return 0
    if comparison.worse:
        return WORSE
    for why in comparison.why_incomplete[:1]:
        print_message(_WHY[why], prefix="Not known whether anything got worse: ")
        return INCOMPLETE
    return 0
