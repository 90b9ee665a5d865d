"""``fairgauge seal``: a report and its counts in one file that others can verify."""

from __future__ import annotations

import os
import sys

import click

from fairgauge.cli._command_group import OfSaved
from fairgauge.cli._output import check_outputs, note_cases_alone, note_identifiers, prints_lines
from fairgauge.cli._streams import print_result
from fairgauge.errors import quote


@click.command("seal", cls=OfSaved)
@click.argument("report")
@click.argument("counts")
@click.option(
    "-o", "--output", metavar="FILE", required=True, help="The bundle, a .fairgauge file."
)
@click.option(
    "--key",
    metavar="PEM",
    help="Ed25519 private key that signs the bundle (extra seal); the password of an encrypted one "
    "is in FAIRGAUGE_KEY_PASSWORD, or asked for.",
)
@prints_lines
def command(report: str, counts: str, output: str, key: str | None, *, quiet: bool) -> int:
    """Seal REPORT, a JSON report, with COUNTS, the .cube.json that it was made of.

    The report is computed again from the counts first; a report that does not follow from them is
    refused. The bundle holds no rows, and no identifiers but those that
    the question names (where, recode).

    \b
    fairgauge count people.csv -c audit.toml -o people.cube.json
    fairgauge audit people.cube.json -o report.json
    fairgauge seal report.json people.cube.json -o audit.fairgauge
    """  # noqa: D301 - the paragraph mark of click
    from fairgauge.evidence.sealing import KEY_PASSWORD, is_locked, load_counts, seal

    check_outputs([output], [report, counts])
    cube, password = load_counts(counts), None
    if key is not None and is_locked(key) and KEY_PASSWORD not in os.environ and _is_attended():
        password = click.prompt(f"Password of {quote(key)}", hide_input=True, err=True)
    lines = str(seal(report, cube, output, key, password)).split("\n")
    print_result("\n".join(lines[:1] if quiet else lines))
    note_cases_alone(cube)
    note_identifiers(cube)
    return 0


def _is_attended() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()
