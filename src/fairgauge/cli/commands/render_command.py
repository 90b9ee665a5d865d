"""``fairgauge render``: a saved result in another format."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fairgauge.cli._command_group import OfSaved
from fairgauge.cli._output import Output, shows_result
from fairgauge.cli._streams import print_message, print_result
from fairgauge.errors import DataError, quote

if TYPE_CHECKING:
    from fairgauge.results.name_swaps import PairsAudit
    from fairgauge.results.report import Report


@click.command("render", cls=OfSaved)
@click.argument("saved")
@shows_result()
def command(saved: str, out: Output) -> int:
    """Render SAVED, the JSON of a report, a comparison, a check, thresholds, a plan or a monitor.

    SAVED may be a sealed bundle too: its report is rendered if it follows from its counts.

    The commands audit, compare, compare-models, check, thresholds, plan and monitor write it with
    "-o FILE.json".
    Without -o it is printed. The exit code is 0, whatever the verdict.

    \b
    fairgauge render report.json -o report.html -o report.md
    """  # noqa: D301 - the paragraph mark of click
    out.check([saved])

    from fairgauge.api.loading import load
    from fairgauge.cube.cube import Cube
    from fairgauge.evidence.bundle import SUFFIX
    from fairgauge.render.formats import render, save_all

    result = _verified_report(saved) if saved.endswith(SUFFIX) else load(saved)
    if isinstance(result, Cube):
        raise DataError(f"{quote(saved)} holds counts, not a report; audit it first")
    save_all(result, out.files, full=out.full, lang=out.lang)
    if not out.files:
        print_result(render(result, **out.shown))
    return 0


def _verified_report(bundle: str) -> Report | PairsAudit:
    from fairgauge.evidence.sealing import verify

    found = verify(bundle)
    headline = str(found).splitlines()[0]
    if found.report is None:
        raise DataError(f"{headline}; fairgauge verify {quote(bundle)} lists what differs")
    print_message(headline, prefix="Note: ")
    return found.report
