"""``fairgauge metrics``: the catalogue, or one entry explained."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING

import click

from fairgauge.cli.streams import say

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairgauge.catalogue import Entry

_WIDTH = 80
_COLUMN = 24
_HEADINGS = {
    "rate": "Rates: a number of one group. As a metric, a rate stands for its difference and ratio",
    "clarify": "clarify: the metrics of Amazon SageMaker Clarify, with its signs",
    "vertex": "vertex: the metrics of Google Vertex AI, with its signs",
    "native": "native: every rate, .difference is group - reference, .ratio is group / reference",
}


@click.command("metrics", short_help="List the metrics, or explain one.")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="As strict JSON.")
def command(name: str | None, as_json: bool) -> None:
    """List every rate and metric, or explain the one called NAME.

    NAME is a name, a synonym, or one of the sets rate, clarify, vertex and native.
    """
    from fairgauge.catalogue import metric, metrics

    if name is not None and name not in _HEADINGS:
        entry = metric(name)
        say(entry.to_json() if as_json else str(entry))
        return
    entries = [entry for entry in metrics() if name in (None, entry.set)]
    if as_json:
        plain = [entry.to_dict() for entry in entries]
        say(json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        say(_list(entries))


def _list(entries: Iterable[Entry]) -> str:
    every = list(entries)
    parts = [
        f"{textwrap.fill(heading, _WIDTH)}\n{_rows([e for e in every if e.set == name], name)}"
        for name, heading in _HEADINGS.items()
        if any(entry.set == name for entry in every)
    ]
    return "\n\n".join(
        [*parts, "fairgauge metrics NAME explains one: formula, range, sign, source"]
    )


def _rows(entries: list[Entry], name: str) -> str:
    if name == "native":
        return textwrap.fill(
            ", ".join(entry.name for entry in entries),
            _WIDTH,
            initial_indent="  ",
            subsequent_indent="  ",
            break_on_hyphens=False,
        )
    return "\n".join(map(_row, entries))


def _row(entry: Entry) -> str:
    """Return a name and its sentence, beside or, below a long name, beneath it."""
    beside = len(entry.name) + 4 <= _COLUMN
    text = textwrap.fill(
        entry.says,
        _WIDTH,
        initial_indent=f"  {entry.name}".ljust(_COLUMN) if beside else " " * _COLUMN,
        subsequent_indent=" " * _COLUMN,
    )
    return text if beside else f"  {entry.name}\n{text}"
