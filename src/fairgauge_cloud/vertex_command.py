"""``fairgauge vertex``: a Vertex AI bias configuration, run on local files."""

from __future__ import annotations

import json
from pathlib import Path

import click

from fairgauge.plugins import (
    Command,
    check_outputs,
    flags_for,
    given_options,
    made_folder,
    print_message,
    print_result,
    write_all,
)
from fairgauge_cloud.clarify_command import map_option, print_notices

ARTIFACTS = {"data_bias": "data_bias_metrics.json", "model_bias": "bias_model_metrics.json"}


@click.command("vertex", cls=Command)
@click.argument("config", metavar="CONFIG")
@click.option("-o", "--output", metavar="DIR", help="Folder for the artifacts of the components.")
@map_option("gs://bucket/prefix=data")
@flags_for("confidence", "method", "replicates", "seed")
def command(config: str, output: str | None, maps: tuple[str, ...], **settings: str | None) -> None:
    """Run the parameters of DetectDataBiasOp or DetectModelBiasOp on local files.

    CONFIG is JSON or YAML, with the components' own names. One line of JSON is printed for every
    bias configuration (and, without labels, for every class); with -o, data_bias_metrics.json and
    bias_model_metrics.json are written into DIR.

    \b
    fairgauge vertex bias.yaml --map gs://my-bucket=data
    """  # noqa: D301 - the paragraph mark of click
    from fairgauge_cloud._files import Places, read_maps
    from fairgauge_cloud.vertex.evaluation import evaluate
    from fairgauge_cloud.vertex.vertex_config import load_vertex_config

    asked = load_vertex_config(Path(config))
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
            text = json.dumps(entries, indent=2, ensure_ascii=False) + "\n"
            write_all({folder / name: text})
    lines = (json.dumps(each, ensure_ascii=False, allow_nan=False) for each in results)
    print_result("\n".join(lines))
