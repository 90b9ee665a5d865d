"""``fairgauge pairs``: answers to the same items under different names, and an exit code."""

from __future__ import annotations

import click

from fairgauge.cli._command_group import Command, add_options
from fairgauge.cli._data_arguments import DataArguments, takes_data
from fairgauge.cli._output import Output, shows_result
from fairgauge.cli._spec_flags import Texts, config_option, flags_for, given_options

COLUMNS = {
    "item": "Column of what was asked (résumé, prompt, posting).",
    "model": "Column of the model that answered.",
    "run": "Column of the repetition.",
    "family": "Column of the text that items are made from (a CV for several postings), which are "
    "then one cluster; without it, items are taken as independent.",
    "by": "Column of the releases of one model, in place of --model: each is also compared with "
    "the release before it.",
    "baseline": "Release that all others are compared with, in place of the one before each.",
}
_SHARED = {
    "sensitive": ("COL", "Column of the group that the variant belongs to."),
    "score": ("COL", "Column of the answers, numbers of any scale."),
    "reference": (
        "R",
        "Names compared with: COL=VALUE, largest, or others, of all other groups (default).",
    ),
    "margin": (
        "RATE=MARGIN",
        "Difference regarded as equivalent: score=0.1, or of decisions selection_rate=0.02.",
    ),
}
"""Flags of audits that hold less here; they are read as there."""


@click.command("pairs", cls=Command)
@add_options(
    *(
        click.option(f"--{name}", metavar=metavar, multiple=name != "score", help=text)
        for name, (metavar, text) in _SHARED.items()
    ),
    *(
        click.option(f"--{name}", metavar="RELEASE" if name == "baseline" else "COL", help=text)
        for name, text in COLUMNS.items()
    ),
)
@click.option(
    "--variant",
    "variants",
    multiple=True,
    metavar="COL|COL=GROUP",
    help="Column of the name, or the edit, under which it was asked; of a wide table, each column "
    "of answers with the group of its name. Repeatable.",
)
@click.option(
    "--placebo",
    multiple=True,
    metavar="VALUE",
    help="Value of the sensitive feature whose variants are irrelevant edits. Repeatable.",
)
@click.option(
    "--release",
    "releases",
    multiple=True,
    metavar="RELEASE",
    help="A release, the oldest first; others are excluded (default all, in the order of their "
    "names, in which numbers count as numbers). Repeatable.",
)
@click.option(
    "--fail-on",
    type=click.Choice(("changed",)),
    help="With --by: exit with 1 if a difference of the newest release changed, with 0 if all are "
    "unchanged within the margin, otherwise with 3.",
)
@config_option
@flags_for(
    "intersections", "prediction", "positive", "exclude_groups", "unknown", "recode", "count",
    "confidence", "seed",
)  # fmt: skip
@takes_data()
@shows_result("pairs")
def command(
    data: DataArguments,
    config: str | None,
    out: Output,
    item: str | None,
    variants: tuple[str, ...],
    model: str | None,
    run: str | None,
    family: str | None,
    by: str | None,
    releases: tuple[str, ...],
    baseline: str | None,
    fail_on: str | None,
    placebo: tuple[str, ...],
    **flags: Texts,
) -> int:
    """Compare answers to the same items under names of several groups (counterfactual audit).

    DATA has a row for each answer, of whatever called the model, or is the counts of such rows
    (fairgauge count --item COL --variant COL); no model is called here. The
    difference between groups is held against the variation between names of one group, irrelevant
    edits (--placebo), items and runs. The margin (--margin score=0.1, or selection_rate=0.02) is
    the difference that is regarded as equivalent. Exit codes: 0 every difference is equivalent, 1
    one differs, 3 otherwise; of releases (--by) those of the newest count.

    \b
    fairgauge pairs answers.csv --item resume --variant name --sensitive race
        --reference race=White --score score --margin score=0.1 --placebo edit -o pairs.html
    """  # noqa: D301 - the paragraph mark of click
    out.check([*data.names, config])
    given = given_options(flags)
    rows = data.read()

    from fairgauge.api.pairing import pairs
    from fairgauge.results.name_swaps import exit_code_of
    from fairgauge.scan.scan_progress import progress

    with progress("Counting answers"):
        audit = pairs(
            rows,
            config=config,
            item=item,
            variant=_variant(variants),
            model=model,
            by=by,
            releases=list(releases) or None,
            baseline=baseline,
            run=run,
            family=family,
            placebo=list(placebo) or None,
            **given,
        )
    if fail_on and not audit.releases:
        raise click.UsageError("--fail-on changed is of releases: name their column (--by COL)")
    out.print_warnings(audit.diagnostics)
    out.show(audit)
    return exit_code_of(audit.change) if fail_on and audit.change else audit.exit_code


def _variant(texts: tuple[str, ...]) -> str | dict[str, str] | None:
    """Return the column of variants, or the groups of several columns."""
    if not texts:
        return None
    if len(texts) == 1 and "=" not in texts[0]:
        return texts[0]
    from fairgauge.errors import Problem, SpecError, quote

    groups = {}
    for text in texts:
        column, equals, group = text.rpartition("=")
        if not equals:
            message = f"several columns need a group each (COL=GROUP), not {quote(text)}"
            raise SpecError(Problem("--variant", message))
        groups[column] = group
    return groups
