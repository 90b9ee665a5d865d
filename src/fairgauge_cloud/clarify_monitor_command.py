"""``fairgauge clarify-monitor``: whether the bias drifted away from a baseline."""

from __future__ import annotations

from pathlib import Path

import click

from fairgauge.plugins import (
    Command,
    check_outputs,
    made_folder,
    print_message,
    print_result,
    write_all,
)

VIOLATED, UNDECIDED = 1, 3


@click.command("clarify-monitor", cls=Command)
@click.argument("current", metavar="CURRENT")
@click.option("--baseline", required=True, metavar="FILE", help="The analysis.json to hold to.")
@click.option("-o", "--output", metavar="DIR", default=".", help="Folder of the results (.).")
@click.option("--fail-on-violation", is_flag=True, help="Exit 1 if a metric drifted.")
def command(current: str, baseline: str, output: str, *, fail_on_violation: bool) -> int:
    """Compare bias metrics with a baseline, and write constraint_violations.json into DIR.

    CURRENT is an analysis.json, of the service or of fairgauge clarify. Without --fail-on-violation
    the exit code is 0; with it, 1 if a metric drifted and 3 if none could be compared.

    \b
    fairgauge clarify-monitor today.json --baseline baseline.json --fail-on-violation
    """  # noqa: D301 - the paragraph mark of click
    from fairgauge_cloud.clarify.analysis_files import compare, read_results, values_of

    written = str(made_folder(output) / "constraint_violations.json")
    check_outputs([written], [current, baseline])
    drift = compare(*(values_of(read_results(Path(name)), name) for name in (current, baseline)))
    write_all({written: drift.to_json()})
    print_result(drift.summary)
    for each in drift.not_evaluated:
        print_message(f"not evaluated: {each}", prefix="Note: ")
    if not fail_on_violation:
        return 0
    return VIOLATED if drift.violations else (0 if drift.evaluated else UNDECIDED)
