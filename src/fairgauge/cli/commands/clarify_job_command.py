"""``fairgauge clarify-job``: the entry point of a container that runs as a processing job."""

from __future__ import annotations

import os
from pathlib import Path

import click

from fairgauge.cli._command_group import Command
from fairgauge.cli._output import Output, print_notices, prints_report
from fairgauge.cli._streams import print_message, print_result


@click.command("clarify-job", cls=Command, short_help="Run as a SageMaker processing job.")
@click.option(
    "--root",
    metavar="DIR",
    default="/opt/ml",
    show_default=True,
    help="Folder below which the service mounts the input and reads the output.",
)
@prints_report
def command(root: str, out: Output) -> None:
    """Run the bias part of a processing job, from the folders that the service mounts.

    Reads processing/input/config/analysis_config.json and processing/input/data below the root, and
    writes analysis.json, fairgauge.json and the report (HTML, a notebook, and PDF where there is a
    Chromium) into processing/output. With the environment
    variable baseline_constraints the job is one of a monitor, and constraint_violations.json is
    written too. The exit code is 0 unless the job failed; output/message holds the reason.
    """
    from fairgauge.compat.clarify.processing_job import JobFolders, run_job, write_message
    from fairgauge.errors import FairgaugeError
    from fairgauge.render import render

    shown = out.shown
    folders = JobFolders(Path(root), os.environ)
    try:
        found, drift = run_job(folders)
    except FairgaugeError as error:
        try:
            write_message(folders, str(error))
        except FairgaugeError as unwritten:
            print_message(str(unwritten))
        raise
    print_notices(found)
    if found.report is not None:
        out.print_warnings(found.report.diagnostics)
        print_result(render(found.report, **shown))
    if drift is not None:
        print_result(drift.summary)
