"""``fairgauge verify``: a sealed bundle, computed again from its counts."""

from __future__ import annotations

import click

from fairgauge.cli.streams import say


@click.command("verify", short_help="Compute a sealed report again from its counts.")
@click.argument("bundle")
def command(bundle: str) -> int:
    """Compute every number and verdict of BUNDLE again, and report where they differ.

    Exit code 0: reproduced; 1: a part was changed, or a number does not follow from the counts.

    \b
    fairgauge verify audit.fairgauge
    """  # noqa: D301 - the paragraph mark of click
    from fairgauge.evidence.sealing import verify
    from fairgauge.report.verification import VerificationResult

    found = verify(bundle)
    say(str(found))
    return 0 if found.finding is VerificationResult.REPRODUCED else 1
