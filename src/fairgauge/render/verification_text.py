"""The text of a verification of a sealed bundle."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairgauge.render.display_names import called
from fairgauge.report.verification import VerificationResult

if TYPE_CHECKING:
    from fairgauge.report.verification import DifferentNumber, Verification

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
    if found.redrawn:
        lines.append(
            f"  not compared, because NumPy {found.redrawn_by} draws other random numbers than "
            f"{found.drawn_by}: {_listed(found.redrawn)}"
        )
    if found.from_rows:
        lines.append(f"  not recomputed, because they need the rows: {', '.join(found.from_rows)}")
    return "\n".join(lines)


def _listed(numbers: tuple[DifferentNumber, ...]) -> str:
    shown = ", ".join(number.path for number in numbers[:_MOST_LISTED])
    more = len(numbers) - _MOST_LISTED
    return f"{shown} and {more:,} more" if more > 0 else shown


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
    which = f"{found.numbers:,} of {found.numbers + len(found.redrawn):,}"
    of = which if found.redrawn else f"all {found.numbers:,}"
    return f"REPRODUCED: {of} values of {name} follow from the counts {exact}"
