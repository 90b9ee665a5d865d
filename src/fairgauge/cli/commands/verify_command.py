"""``fairgauge verify``: a sealed bundle, computed again from its counts."""

from __future__ import annotations

import click

from fairgauge.cli._command_group import Command
from fairgauge.cli._output import prints_lines
from fairgauge.cli._streams import print_result


@click.command("verify", cls=Command)
@click.argument("bundle")
@click.option(
    "--signed-by",
    metavar="FINGERPRINT",
    help="Key that must have signed the bundle: ed25519:...",
)
@prints_lines
def command(bundle: str, signed_by: str | None, *, quiet: bool) -> int:
    """Compute the whole report of BUNDLE again, and report where it differs.

    Exit code 0: reproduced; 1: a part was changed, a field does not follow from the counts, or
    another key than that of --signed-by, or none, signed it; 3: a part of the report could not be
    compared, such as the texts of another version.

    \b
    fairgauge verify audit.fairgauge
    """  # noqa: D301 - the paragraph mark of click
    from fairgauge.evidence.sealing import verify
    from fairgauge.results.verification import VerificationResult

    found = verify(bundle, signed_by)
    lines = str(found).split("\n")
    print_result("\n".join(lines[:1] if quiet else lines))
    codes = {VerificationResult.REPRODUCED: 0, VerificationResult.PARTLY_REPRODUCED: 3}
    return codes.get(found.finding, 1)
