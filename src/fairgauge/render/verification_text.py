"""The text of a verification of a sealed bundle."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairgauge.render.display_names import called
from fairgauge.report.verification import VerificationResult

if TYPE_CHECKING:
    from fairgauge.report.verification import Verification

_MOST_LISTED = 20


def describe_verification(found: Verification) -> str:
    """Return what a verification comes to, in a few lines."""
    lines = [_headline(found)]
    lines.append(
        f"  sealed {found.created} by fairgauge {found.sealed_by}; verified by {found.verified_by}"
    )
    lines += [
        f"  {called(name)} {called(here)}; sealed with {called(sealed)}"
        for name, sealed, here in found.libraries
    ]
    if found.signed_by:
        lines.append(f"  signed by {found.signed_by}")
    lines += [f"  changed: {name}" for name in found.changed]
    for each in found.different[:_MOST_LISTED]:
        lines.append(
            f"  {called(each.subject)} ({each.path}): {called(each.sealed)} in the report, "
            f"{called(each.recomputed)} from the counts"
        )
    if len(found.different) > _MOST_LISTED:
        lines.append(f"  and {len(found.different) - _MOST_LISTED:,} more")
    if found.from_rows:
        lines.append(f"  not recomputed, because they need the rows: {', '.join(found.from_rows)}")
    return "\n".join(lines)


def _headline(found: Verification) -> str:
    name = called(found.name)
    if found.finding is VerificationResult.CHANGED:
        return f"CHANGED: {name} is not as it was sealed"
    if found.finding is VerificationResult.DIFFERENT:
        count = len(found.different)
        return (
            f"DIFFERENT: {count:,} of {count + found.numbers:,} values of {name} do not follow "
            "from the counts"
        )
    exact = "to the last digit"
    if found.largest_deviation:
        exact = f"to {math.floor(-math.log10(found.largest_deviation))} significant digits"
    return f"REPRODUCED: all {found.numbers:,} values of {name} follow from the counts {exact}"
