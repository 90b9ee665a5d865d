"""``fairgauge clarify``: a SageMaker Clarify bias configuration, run on local files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fairgauge.plugins import (
    Command,
    Output,
    check_outputs,
    flags_for,
    given_options,
    made_folder,
    print_message,
    print_result,
    prints_report,
    render,
)

if TYPE_CHECKING:
    from fairgauge_cloud._files import Places
    from fairgauge_cloud.clarify.analysis import Analysis
    from fairgauge_cloud.clarify.clarify_config import AnalysisConfig
    from fairgauge_cloud.clarify.dataset import FirstRow


@click.command("clarify", cls=Command)
@click.argument("config", metavar="CONFIG")
@click.option("-o", "--output", metavar="DIR", default=".", help="Folder of the results (.).")
@click.option(
    "--profile",
    type=click.Choice(("clarify", "documented")),
    default="clarify",
    help="The service's numbers (clarify), or the right reading of its pages (documented).",
)
@click.option(
    "--map",
    "maps",
    metavar="URI=DIR",
    multiple=True,
    help="Where a bucket or prefix is on this machine: s3://bucket/prefix=data. Repeatable.",
)
@click.option(
    "--dataset",
    metavar="FILE",
    help="The data, in the place of CONFIG's dataset_uri; - reads standard input.",
)
@click.option(
    "--first-row",
    type=click.Choice(("auto", "header", "data")),
    default="auto",
    help="What the first row of CSV files is; auto decides by its cells.",
)
@click.option("--check", is_flag=True, help="Only report what is wrong with CONFIG, and stop.")
@flags_for("confidence", "method", "replicates", "seed")
@prints_report
def command(
    config: str,
    output: str,
    profile: str,
    maps: tuple[str, ...],
    dataset: str | None,
    first_row: str,
    check: bool,
    out: Output,
    **settings: Any,
) -> None:
    """Run the bias part of an analysis_config.json on local files.

    Writes analysis.json as the service does, fairgauge.json (confidence intervals and everything
    else that the service does not give) and report.html into DIR, and prints the report.

    \b
    fairgauge clarify analysis_config.json -o results --map s3://my-bucket=data
    fairgauge clarify analysis_config.json --check
    """  # noqa: D301 - the paragraph mark of click
    from fairgauge_cloud._files import Places, read_maps
    from fairgauge_cloud.clarify.clarify_config import ConfigError, load_config
    from fairgauge_cloud.clarify.dataset import FirstRow

    _ = out.shown  # refuses options that contradict each other, before any work
    try:
        asked = load_config(Path(config), has_dataset=dataset is not None)
    except ConfigError as error:
        print_message(error.title, prefix="")
        raise
    places = Places(read_maps(maps), Path(config).parent)
    if check:
        _check(asked, places, dataset, FirstRow(first_row))
    else:
        options = given_options(settings)
        options |= {"profile": profile, "first_row": FirstRow(first_row)}
        options |= {"dataset": dataset}
        _run(asked, places, config, output, out, options)


def _check(asked: AnalysisConfig, places: Places, dataset: str | None, first_row: FirstRow) -> None:
    from fairgauge_cloud.clarify.analysis import check_job

    for notice in check_job(asked, places, dataset, first_row):
        print_message(notice, prefix="Note: ")
    print_result("no mistakes found")


def _run(
    asked: AnalysisConfig,
    places: Places,
    config: str,
    output: str,
    out: Output,
    options: dict[str, Any],
) -> None:
    from fairgauge_cloud.clarify.analysis import analyse
    from fairgauge_cloud.clarify.analysis_files import result_paths, write_results

    folder = made_folder(output)
    name = asked.methods.report.name if asked.methods.report else "report"
    check_outputs([str(path) for path in result_paths(folder, name)], [config])
    found = analyse(asked, places, **options)
    print_notices(found)
    write_results(found, folder, name)
    if found.report is not None:
        out.print_warnings(found.report.diagnostics)
        print_result(render(found.report, **out.shown))


def print_notices(found: Analysis) -> None:
    """Write what a reader should know of how a configuration was read to standard error."""
    for notice in found.notices:
        print_message(notice, prefix="Warning: " if notice in found.doubts else "Note: ")
