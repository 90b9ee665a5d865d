"""``fairgauge schema``: the JSON Schema of a file that fairgauge reads or writes."""

from __future__ import annotations

import json
from collections.abc import Callable

import click

from fairgauge.cli._command_group import Command
from fairgauge.cli._streams import print_result
from fairgauge.errors import DataError, nearest, quote
from fairgauge.values import Json


@click.command(
    "schema",
    cls=Command,
)
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """Print the JSON Schema of a file that fairgauge reads or writes.

    Without NAME the names are listed: of every kind of result, of a cube and of a specification.

    \b
    fairgauge schema report > report.schema.json
    fairgauge schema spec > audit.schema.json
    """  # noqa: D301 - the paragraph mark of click
    schemas = _schemas()
    if name is None:
        print_result("\n".join(schemas))
    elif name not in schemas:
        known = list(schemas)
        raise DataError(f"no schema {quote(name)}.{nearest(name, known)} Use {', '.join(known)}")
    else:
        print_result(json.dumps(schemas[name](), indent=2, ensure_ascii=False))


def _schemas() -> dict[str, Callable[[], dict[str, Json]]]:
    """Return what makes each schema, by name; results are imported when they are asked for."""
    from fairgauge.cube.cube import cube_schema
    from fairgauge.monitoring.monitor_spec import schema as spec_schema
    from fairgauge.results.shown_result import result_classes

    of_results = {each.KIND.name: each.json_schema for each in result_classes().values()}
    return {**of_results, "cube": cube_schema, "spec": spec_schema}
