"""``fairgauge thresholds``: the threshold of a score that meets a goal, and its price."""

from __future__ import annotations

import click

from fairgauge.cli._command_group import Command
from fairgauge.cli._data_arguments import DataArguments, takes_data
from fairgauge.cli._output import Output, shows_result
from fairgauge.cli._spec_flags import Texts, asked, question


@click.command("thresholds", cls=Command)
@question("candidate")
@takes_data()
@shows_result("thresholds")
def command(
    data: DataArguments,
    config: str | None,
    out: Output,
    **flags: Texts,
) -> int:
    """Find the threshold of a score, closest to today's, that meets one rule of fairness.

    The rule (--rule) is what every group must meet: a difference or a ratio of a rate of decisions,
    or of equalized odds 'worst_odds <= 0.1'. The margin (--margin, default accuracy=0.01) is by how
    much a rate of all rows may be worse at most. One random half of the rows chooses, the other
    half measures. Exit codes: 0 the rule is met at the chosen threshold and the rate is kept (the
    whole confidence intervals of every group and of the change of the rate), 1 no threshold is
    chosen and each is shown not to do both, or the other half shows that the chosen one does not,
    3 otherwise.

    \b
    fairgauge thresholds loans.parquet --label repaid --score risk --threshold 0.5 --sensitive sex
        --rule 'selection_rate.ratio >= 0.8' --margin accuracy=0.01 -o thresholds.html
    """  # noqa: D301 - the paragraph mark of click
    out.check([*data.names, config])
    given = asked(config, flags)
    rows = given.read(data)

    from fairgauge.api.thresholding import thresholds
    from fairgauge.scan.scan_progress import progress

    with progress("Counting rows"):
        choice = thresholds(rows, **given.options)
    out.show(choice)
    out.print_warnings(choice.diagnostics)
    return choice.exit_code
