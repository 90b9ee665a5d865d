"""``fairgauge clarify-monitor``: whether the bias drifted away from a baseline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fairgauge.errors import DataError, quote
from fairgauge.plugins import Command, check_outputs, made_folder, print_result, write_all
from fairgauge_cloud.clarify_command import data_options, folder_option, print_notices

if TYPE_CHECKING:
    from fairgauge_cloud._files import Places

VIOLATED, UNDECIDED = 1, 3


@click.command("clarify-monitor", cls=Command)
@click.argument("current", metavar="CURRENT")
@click.option("--baseline", required=True, metavar="FILE", help="The analysis.json to hold to.")
@folder_option
@click.option("--fail-on-violation", is_flag=True, help="Exit 1 if a metric drifted.")
@data_options
def command(current: str, baseline: str, output: str, **flags: Any) -> int:
    """Compare bias metrics with a baseline, and write constraint_violations.json into DIR.

    CURRENT is an analysis.json, or a configuration to run now: an analysis_config.json, a monitor's
    own (BiasAnalysisConfig), or the definition of a model bias job; its results are then written
    into DIR too. A monitor's data are a table (--dataset). Without --fail-on-violation the exit
    code is 0; with it, 1 if a metric drifted and 3 if none could be compared.

    \b
    fairgauge clarify-monitor today.json --baseline baseline.json --fail-on-violation
    """  # noqa: D301 - the paragraph mark of click
    from fairgauge_cloud._files import Places, read_maps
    from fairgauge_cloud.clarify.analysis import Job
    from fairgauge_cloud.clarify.analysis_files import (
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
    asked = _configuration(path, places, dataset)
    if asked is None:
        found = read_results(path)
    else:
        config = check_config(asked, has_dataset=dataset is not None)
        job = Job(config, load_dataset(config, places, dataset, flags["first_row"]))
        found, report = job.results, job.report()
        print_notices(job.notices)
        write_results(found, report, folder, "report")
    drift = compare(values_of(found, current), values_of(read_results(Path(baseline)), baseline))
    write_all({written: drift.to_json()})
    print_result(drift.summary)
    print_notices(f"not evaluated: {each}" for each in drift.not_evaluated)
    if not flags["fail_on_violation"]:
        return 0
    return VIOLATED if drift.violations else (0 if drift.evaluated else UNDECIDED)


def _configuration(path: Path, places: Places, dataset: str | None) -> dict[str, Any] | None:
    # the configuration that a file stands for; None if it is results
    from fairgauge_cloud._files import json_document
    from fairgauge_cloud.clarify.clarify_config import convert_monitor_config, read_job_definition

    found, attributes = json_document(path), dict[str, object]()
    if isinstance(found, dict) and "ModelBiasJobInput" in found:
        uri, attributes = read_job_definition(found)
        if uri is None:
            message = "names no configuration (ModelBiasAppSpecification.ConfigUri)"
            raise DataError(f"{quote(path)} {message}")
        (place,) = places.files(uri)
        found = json_document(place)
    if not isinstance(found, dict):
        return None
    # that of a monitor asks for no methods
    if "methods" not in found and {"facet", "label_values_or_threshold"} & found.keys():
        return convert_monitor_config(found | attributes, dataset)
    return found if "methods" in found else None
