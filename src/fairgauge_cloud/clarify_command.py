"""``fairgauge clarify``: a SageMaker Clarify bias configuration, run on local files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from fairgauge.plugins import (
    Command,
    Decorator,
    Output,
    add_options,
    check_outputs,
    flags_for,
    given_options,
    made_folder,
    print_message,
    print_result,
    prints_report,
    render,
)

folder_option = click.option(
    "-o", "--output", metavar="DIR", default=".", help="Folder of the results (.)."
)


def map_option(example: str) -> Decorator:
    """Return the option that names the folders of buckets."""
    text = f"Where a bucket or prefix is on this machine: {example}. Repeatable."
    return click.option("--map", "maps", metavar="URI=DIR", multiple=True, help=text)


data_options = add_options(
    map_option("s3://bucket/prefix=data"),
    click.option(
        "--dataset",
        metavar="FILE",
        help="The data, in the place of CONFIG's dataset_uri; - reads standard input.",
    ),
    click.option(
        "--first-row",
        type=click.Choice(("auto", "header", "data")),
        default="auto",
        help="What the first row of CSV files is; auto decides by its cells.",
    ),
)
"""The options of where the data of a configuration are, and how they are read."""


@click.command("clarify", cls=Command)
@click.argument("config", metavar="CONFIG")
@folder_option
@data_options
@click.option("--check", is_flag=True, help="Only report what is wrong with CONFIG, and stop.")
@flags_for("confidence", "method", "replicates", "seed")
@prints_report
def command(
    config: str,
    output: str,
    maps: tuple[str, ...],
    dataset: str | None,
    first_row: str,
    check: bool,
    out: Output,
    **settings: Any,
) -> None:
    """Run the bias part of an analysis_config.json on local files.

    Writes analysis.json as the service does and the report of the same counts, with confidence
    intervals, as fairgauge.json and report.html into DIR, and prints the report.

    \b
    fairgauge clarify analysis_config.json -o results --map s3://my-bucket=data
    fairgauge clarify analysis_config.json --check
    """  # noqa: D301 - the paragraph mark of click
    from fairgauge_cloud._files import Places, read_maps
    from fairgauge_cloud.clarify.analysis import Job
    from fairgauge_cloud.clarify.analysis_files import result_paths, write_results
    from fairgauge_cloud.clarify.clarify_config import ConfigError, load_config
    from fairgauge_cloud.clarify.dataset import load_dataset

    _ = out.shown  # refuses options that contradict each other, before any work
    try:
        asked = load_config(Path(config), has_dataset=dataset is not None)
    except ConfigError as error:
        print_message(error.title, prefix="")
        raise
    places = Places(read_maps(maps), Path(config).parent)
    if check:
        job = Job(asked, load_dataset(asked, places, dataset, first_row))
        print_notices(job.notices)
        print_result("the configuration fits the data")
        return
    folder = made_folder(output)
    name = asked.methods.report.name if asked.methods.report else "report"
    check_outputs([str(path) for path in result_paths(folder, name)], [config])
    job = Job(asked, load_dataset(asked, places, dataset, first_row))
    report = job.report(**given_options(settings))
    print_notices(job.notices)
    write_results(job.results, report, folder, name)
    if report is not None:
        out.print_warnings(report.diagnostics)
        print_result(render(report, **out.shown))


def print_notices(notices: Iterable[str]) -> None:
    """Print what a reader should know of how a configuration was read."""
    for notice in notices:
        print_message(notice, prefix="Note: ")
