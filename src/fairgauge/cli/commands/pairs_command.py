"""``fairgauge pairs``: answers to the same items under different names, and an exit code."""

from __future__ import annotations

import click

from fairgauge.cli._command_group import Command, add_options
from fairgauge.cli._data_arguments import DataArguments, takes_data
from fairgauge.cli._output import Output, shows_result
from fairgauge.cli._spec_flags import Texts, config_option, flags_for, given_options

COLUMNS = {
    "item": "Column of what was asked (résumé, prompt, posting).",
    "variant": "Column of the name, or the edit, under which it was asked.",
    "model": "Column of the model that answered.",
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
    *(click.option(f"--{name}", metavar="COL", help=text) for name, text in COLUMNS.items()),
)
@click.option(
    "--placebo",
    multiple=True,
    metavar="VALUE",
    help="Value of the sensitive feature whose variants are irrelevant edits. Repeatable.",
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
    variant: str | None,
    model: str | None,
    placebo: tuple[str, ...],
    **flags: Texts,
) -> int:
    """Compare answers to the same items under names of several groups (counterfactual audit).

    DATA has a row for each answer, of whatever called the model, or is the counts of such rows
    (fairgauge count --item COL --variant COL); no model is called here. The
    difference between groups is held against the variation between names of one group, irrelevant
    edits (--placebo), items and runs. The margin (--margin score=0.1, or selection_rate=0.02) is
    the difference that is regarded as equivalent. Exit codes: 0 every difference is equivalent, 1
    one differs, 3 otherwise.

    \b
    fairgauge pairs answers.csv --item resume --variant name --sensitive race
        --reference race=White --score score --margin score=0.1 --placebo edit -o pairs.html
    """  # noqa: D301 - the paragraph mark of click
    out.check([*data.names, config])
    given = given_options(flags)
    rows = data.read()

    from fairgauge.api.pairing import pairs
    from fairgauge.scan.scan_progress import progress

    with progress("Counting answers"):
        audit = pairs(
            rows,
            config=config,
            item=item,
            variant=variant,
            model=model,
            placebo=list(placebo) or None,
            **given,
        )
    out.print_warnings(audit.diagnostics)
    out.show(audit)
    return audit.exit_code
