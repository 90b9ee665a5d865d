"""``fairgauge compare-models``: candidates and the model in use, and an exit code."""

from __future__ import annotations

import click

from fairgauge.cli._command_group import Command
from fairgauge.cli._data_arguments import DataArguments, takes_data, warn_of_files
from fairgauge.cli._output import Output, shows_result
from fairgauge.cli._spec_flags import Texts, asked, question


@click.command("compare-models", cls=Command)
@question()
@takes_data()
@shows_result("comparison")
def command(
    data: DataArguments,
    config: str | None,
    out: Output,
    **flags: Texts,
) -> int:
    """Compare candidate models with the model in use, which decide the same rows of DATA.

    States whether each candidate dominates the model in use (fairer, not worse by more than the
    margin, and no disparity or group worse by more than theirs), is better in what could be tested,
    is a trade-off, is worse or undecided. Exit codes: 0 a candidate dominates, or no margin is
    given; 1 every candidate is worse; 3 otherwise. Two reports are compared by "fairgauge compare".

    \b
    fairgauge compare-models loans.parquet --label repaid --prediction current --candidate new
        --sensitive sex --margin accuracy=0.01 --margin disparity=0.05 -o choice.html
    """  # noqa: D301 - the paragraph mark of click
    out.check([*data.names, config])
    given = asked(config, flags)
    rows = given.read(data)
    warn_of_files(rows)

    from fairgauge.api.comparing import compare_models
    from fairgauge.scan.scan_progress import progress

    with progress("Counting rows"):
        models = compare_models(rows, **given.options)
    out.print_warnings(models.diagnostics)
    return out.show(models)
