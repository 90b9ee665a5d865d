"""``fairgauge presets``: what regulations ask for, with status, date and source."""

from __future__ import annotations

import json
import textwrap

import click

from fairgauge.cli._command_group import Command
from fairgauge.cli._streams import print_result
from fairgauge.question.presets import Preset

_WIDTH = 80
_INDENT = 32


@click.command("presets", cls=Command)
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="As strict JSON.")
def command(name: str | None, as_json: bool) -> None:
    """List the presets of regulations, or describe the one called NAME.

    A preset sets the metrics, the reference and the tables that a text calls for; it quotes that
    text with its date, and does not state that an audit meets a law.

    \b
    fairgauge presets nyc-ll144
    fairgauge audit applicants.csv --preset nyc-ll144 --prediction hired --sensitive sex --sensitive race
    """  # noqa: D301, E501 - the paragraph mark of click
    from fairgauge.question.presets import preset, presets

    found = presets() if name is None else (preset(name),)
    if as_json:
        plain = [each.to_dict() for each in found]
        shown = plain if name is None else plain[0]
        print_result(json.dumps(shown, indent=2, ensure_ascii=False, allow_nan=False))
    elif name is None:
        print_result("\n".join(line for each in found for line in _short(each)))
    else:
        print_result(_described(found[0]))


def _short(preset: Preset) -> list[str]:
    text = f"{preset.jurisdiction}: {preset.status}"
    name = f"{preset.name:<{_INDENT}}"
    return textwrap.wrap(text, _WIDTH, initial_indent=name, subsequent_indent=" " * _INDENT)


def _described(preset: Preset) -> str:
    lines = [
        f"{preset.name}: {preset.title}",
        "",
        *_field("jurisdiction", preset.jurisdiction),
        *_field("status", f"{preset.status} (as of {preset.as_of.isoformat()})"),
        *(_field("superseded by", preset.superseded_by) if preset.superseded_by else ()),
        *(line for each in preset.sources for line in _field("source", each)),
        "",
        *(line for each in preset.statements for line in _item(each)),
        "",
        "A published report holds:" if preset.public else "The document holds:",
        *(line for each in preset.publishes for line in _item(each)),
        "",
        "It sets:",
        *_settings(preset),
    ]
    return "\n".join(lines)


def _settings(preset: Preset) -> list[str]:
    shown = {**preset.options, **{f"{k} (with a score)": v for k, v in preset.with_score.items()}}
    lines = [f"  {name} = {json.dumps(value)}" for name, value in shown.items()]
    together = ["  intersections: all recorded features together, in one table"]
    return [*lines, *(together if preset.intersect else [])]


def _field(name: str, text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=f"  {name:<15}", subsequent_indent=" " * 17)


def _item(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent="  - ", subsequent_indent="    ")
