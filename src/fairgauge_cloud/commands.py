"""``fairgauge clarify``, ``clarify-monitor`` and ``vertex``: configurations, run on local files.

Those of SageMaker Clarify's bias jobs and of Vertex AI's bias components; ``clarify-monitor`` shows
whether the bias drifted away from a baseline.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    write_all,
)

if TYPE_CHECKING:
    pass

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
)
"""The options of where the data of a configuration are, and how they are read."""


@click.command("clarify", cls=Command)
@click.argument("config", metavar="CONFIG")
@folder_option
@data_options
@click.option(
    "--predictions",
    metavar="FILE",
    help="What the model answered, one answer a row, as CONFIG's predictor reads it.",
)
@click.option("--check", is_flag=True, help="Only report what is wrong with CONFIG, and stop.")
@flags_for("confidence", "method", "replicates", "seed")
@prints_report
def clarify(
    config: str,
    output: str,
    maps: tuple[str, ...],
    dataset: str | None,
    predictions: str | None,
    check: bool,
    out: Output,
    **settings: Any,
) -> int:
    """Run the bias part of an analysis_config.json on local files.

    Writes analysis.json as the service does and the report of the same counts, with confidence
    intervals, as fairgauge.json and report.html into DIR, and prints the report. The exit code is 3
    if a method that CONFIG asks for is not computed.

    \b
    fairgauge clarify analysis_config.json -o results --map s3://my-bucket=data
    fairgauge clarify analysis_config.json --check
    """  # noqa: D301 - the paragraph mark of click
    from fairgauge_cloud._files import MOST_OF_CONFIGURATION, Places, read_maps, read_text
    from fairgauge_cloud.clarify.analysis import Job, result_paths, write_results
    from fairgauge_cloud.clarify.clarify_config import ConfigError, read_config
    from fairgauge_cloud.clarify.dataset import load_dataset, with_answers

    _ = out.shown  # refuses options that contradict each other, before any work
    given = {"has_dataset": dataset is not None, "has_answers": predictions is not None}
    try:
        asked = read_config(read_text(Path(config), MOST_OF_CONFIGURATION), **given)
    except ConfigError as error:
        print_message(error.title, prefix="")
        raise
    places = Places(read_maps(maps), Path(config).parent)
    name = asked.methods.report.name if asked.methods.report else "report"
    if not check:
        folder = made_folder(output)
        read = [config, predictions] if predictions else [config]
        check_outputs([str(path) for path in result_paths(folder, name)], read)
    made = load_dataset(asked, places, dataset)
    if predictions is not None:
        made = with_answers(made, asked, Path(predictions))
    job = Job(asked, made)
    if missing := asked.not_computed:
        print_message(missing, prefix="Not computed: ")
    if check:
        print_notices(job.notices)
        print_result("the configuration fits the data")
        return UNDECIDED if missing else 0
    report = job.report(**given_options(settings))
    print_notices(job.notices)
    write_results(job.results, report, folder, name)
    if report is not None:
        out.print_warnings(report.diagnostics)
        print_result(render(report, **out.shown))
    return UNDECIDED if missing else 0


VIOLATED, UNDECIDED = 1, 3


def print_notices(notices: Iterable[str]) -> None:
    """Print what a reader should know of how a configuration was read."""
    for notice in notices:
        print_message(notice, prefix="Note: ")


@click.command("clarify-monitor", cls=Command)
@click.argument("current", metavar="CURRENT")
@click.option("--baseline", required=True, metavar="FILE", help="The analysis.json to hold to.")
@folder_option
@click.option("--fail-on-violation", is_flag=True, help="Exit 1 if a metric drifted.")
@data_options
def clarify_monitor(current: str, baseline: str, output: str, **flags: Any) -> int:
    """Compare bias metrics with a baseline, and write constraint_violations.json into DIR.

    CURRENT is an analysis.json, or a configuration to run now: an analysis_config.json, or a
    monitor's own (BiasAnalysisConfig); its results are then written into DIR too. A monitor's data
    are a table (--dataset). Without --fail-on-violation the exit code is 0; with it, 1 if a metric
    drifted, and 3 if none could be compared, one that has a value in the baseline has none, or the
    service would have stopped.

    \b
    fairgauge clarify-monitor today.json --baseline baseline.json --fail-on-violation
    """  # noqa: D301 - the paragraph mark of click
    from fairgauge_cloud._files import Places, read_maps
    from fairgauge_cloud.clarify.analysis import (
        Job,
        compare,
        read_results,
        values_of,
        write_results,
    )
    from fairgauge_cloud.clarify.clarify_config import check_config
    from fairgauge_cloud.clarify.dataset import load_dataset

    folder = made_folder(output)
    written = str(folder / "constraint_violations.json")
    check_outputs([written], [current, baseline])
    path, dataset = Path(current), flags["dataset"]
    places = Places(read_maps(flags["maps"]), path.parent)
    asked, stops = _configuration(path, dataset), False
    if asked is None:
        found = read_results(path)
    else:
        config = check_config(asked, has_dataset=dataset is not None)
        job = Job(config, load_dataset(config, places, dataset))
        found, report, stops = job.results, job.report(), job.stops
        if missing := config.not_computed:
            print_message(missing, prefix="Not computed: ")
        print_notices(job.notices)
        write_results(found, report, folder, "report")
    drift = compare(values_of(found, current), values_of(read_results(Path(baseline)), baseline))
    write_all({written: drift.to_json()})
    print_result(drift.summary)
    print_notices(f"not evaluated: {each}" for each in drift.not_evaluated)
    if not flags["fail_on_violation"]:
        return 0
    if drift.violations:
        return VIOLATED
    return UNDECIDED if stops or drift.lost or not drift.evaluated else 0


def _configuration(path: Path, dataset: str | None) -> dict[str, object] | None:
    # the configuration that a file stands for; None if it is results
    from fairgauge_cloud._files import json_document
    from fairgauge_cloud.clarify.clarify_config import convert_monitor_config

    found = json_document(path)
    if not isinstance(found, dict):
        return None
    # that of a monitor asks for no methods
    if "methods" not in found and {"facet", "label_values_or_threshold"} & found.keys():
        return convert_monitor_config(found, dataset)
    return found if "methods" in found else None


ARTIFACTS = {"data_bias": "data_bias_metrics.json", "model_bias": "bias_model_metrics.json"}


@click.command("vertex", cls=Command)
@click.argument("config", metavar="CONFIG")
@click.option("-o", "--output", metavar="DIR", help="Folder for the artifacts of the components.")
@map_option("gs://bucket/prefix=data")
@flags_for("confidence", "method", "replicates", "seed")
def vertex(config: str, output: str | None, maps: tuple[str, ...], **settings: str | None) -> None:
    """Run the parameters of DetectDataBiasOp or DetectModelBiasOp on local files.

    CONFIG is JSON or YAML, with the components' own names. One line of JSON is printed for every
    bias configuration (and, without labels, for every class); with -o, data_bias_metrics.json and
    bias_model_metrics.json are written into DIR.

    \b
    fairgauge vertex bias.yaml --map gs://my-bucket=data
    """  # noqa: D301 - the paragraph mark of click
    from fairgauge_cloud._files import MOST_OF_CONFIGURATION, Places, read_maps, read_text
    from fairgauge_cloud.vertex import evaluate, read_vertex_config

    asked = read_vertex_config(read_text(Path(config), MOST_OF_CONFIGURATION), Path(config))
    places = Places(read_maps(maps), Path(config).parent)
    options = given_options(settings)
    if output is not None:
        folder = made_folder(output)
        check_outputs([str(folder / name) for name in ARTIFACTS.values()], [config])
    found = list(evaluate(asked, places, **options))
    for warning in dict.fromkeys(each for one in found for each in one.warnings):
        print_message(warning, prefix="")
    print_notices(dict.fromkeys(each for one in found for each in one.notices))
    results = [each.results for each in found]
    for part, name in ARTIFACTS.items() if output is not None else ():
        keys = ("slice_a", "slice_b", "labels", part)
        if entries := [{key: each[key] for key in keys} for each in results if part in each]:
            write_all({folder / name: json.dumps(entries, indent=2, ensure_ascii=False) + "\n"})
    lines = (json.dumps(each, ensure_ascii=False, allow_nan=False) for each in results)
    print_result("\n".join(lines))
