"""``fairgauge schema``: the JSON Schema of a file that fairgauge reads or writes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from fairgauge.cli.command_group import Command
from fairgauge.cli.streams import print_result

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairgauge.values import Json

NAMES = ("report", "comparison", "models", "thresholds", "monitor", "cube", "spec")


@click.command(
    "schema",
    cls=Command,
    short_help="Print the JSON Schema of a report, a cube or a specification.",
)
@click.argument("name", type=click.Choice(NAMES))
def command(name: str) -> None:
    """Print the JSON Schema of a file that fairgauge reads or writes.

    \b
    fairgauge schema report > report.schema.json
    fairgauge schema spec > audit.schema.json
    """  # noqa: D301 - the paragraph mark of click
    print_result(json.dumps(_schema(name)(), indent=2, ensure_ascii=False))


def _schema(name: str) -> Callable[[], dict[str, Json]]:
    """Return what makes a schema, imported when it is asked for."""
    from fairgauge.monitoring.spec_schema import schema as spec_schema
    from fairgauge.results import schemas

    return {
        "report": schemas.report_schema,
        "comparison": schemas.comparison_schema,
        "models": schemas.models_schema,
        "thresholds": schemas.thresholds_schema,
        "monitor": schemas.monitor_schema,
        "cube": schemas.cube_schema,
        "spec": spec_schema,
    }[name]
