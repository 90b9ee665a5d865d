"""``fairgauge metrics``: the catalogue, or one entry explained."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING

import click

from fairgauge.cli._command_group import Command
from fairgauge.cli._streams import print_result

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairgauge.catalogue.descriptions import MetricDescription

_WIDTH = 80
_COLUMN = 24
_HEADINGS = {
    "rate": "Rates: a number of one group",
    "clarify": "clarify: the metrics of Amazon SageMaker Clarify, with its signs",
    "vertex": "vertex: the metrics of Google Vertex AI, with its signs",
    "native": "native: every rate above, compared; a rate alone stands for .difference and .ratio",
}


@click.command("metrics", cls=Command)
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="As strict JSON.")
def command(name: str | None, as_json: bool) -> None:
    """List every rate and metric, or explain the one called NAME.

    NAME is a name, a synonym, or one of the sets rate, clarify, vertex and native.
    """
    from fairgauge.catalogue.descriptions import metric, metrics

    if name is not None and name not in _HEADINGS:
        entry = metric(name)
        print_result(entry.to_json() if as_json else str(entry))
        return
    entries = [entry for entry in metrics() if name in (None, entry.set)]
    if as_json:
        plain = [entry.to_dict() for entry in entries]
        print_result(json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        print_result(_list(entries))


def _list(entries: Iterable[MetricDescription]) -> str:
    every = list(entries)
    parts = [
        f"{textwrap.fill(heading, _WIDTH)}\n{_rows([e for e in every if e.set == name])}"
        for name, heading in _HEADINGS.items()
        if any(entry.set == name for entry in every)
    ]
    return "\n\n".join(
        [*parts, "fairgauge metrics NAME explains one: formula, range, sign, source"]
    )


def _rows(entries: list[MetricDescription]) -> str:
    """Return a line for each entry; one comparison of all the rates is a single line."""
    from fairgauge.catalogue.across import Spread
    from fairgauge.catalogue.comparisons import Contrast
    from fairgauge.catalogue.derived import comparison_words
    from fairgauge.catalogue.lookup import find_metric

    lines: dict[str, str] = {}
    for entry in entries:
        row = find_metric(entry.name) if entry.set == "native" else None
        if isinstance(row, (Contrast, Spread)) and row.name == f"{row.of.name}.{row.by}":
            name = f"RATE.{row.by}"
            lines.setdefault(name, _row(name, comparison_words(row.by, "rate")))
        else:
            lines[entry.name] = _row(entry.name, entry.says)
    return "\n".join(lines.values())


def _row(name: str, says: str) -> str:
    beside = len(name) + 4 <= _COLUMN
    text = textwrap.fill(
        says,
        _WIDTH,
        initial_indent=f"  {name}".ljust(_COLUMN) if beside else " " * _COLUMN,
        subsequent_indent=" " * _COLUMN,
    )
    return text if beside else f"  {name}\n{text}"
