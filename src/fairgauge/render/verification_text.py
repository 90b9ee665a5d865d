"""The text of a verification of a sealed bundle."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairgauge.render.display_names import called
from fairgauge.report.verification import NAME_OF_SIGNATURE, VerificationResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairgauge.report.verification import DifferentNumber, Verification

_MOST_LISTED = 20
_EQUAL = (
    "counts, verdicts and texts are the same, and so is every digit that the report prints as "
    "text, Markdown and HTML"
)
"""What is the same where numbers agree to many digits, and not to the last one."""


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
    if found.finding is VerificationResult.REPRODUCED and found.largest_deviation:
        lines.append(f"  {_EQUAL}")
    lines.append(_signature(found))
    lines += [f"  changed: {name}" for name in found.changed]
    for each in found.different[:_MOST_LISTED]:
        at = "" if each.subject == each.path else f" ({each.path})"
        lines.append(
            f"  {called(each.subject)}{at}: {called(each.sealed)} in the report, "
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
    if found.beside:
        lines.append(
            "  options of the report that the question of the counts does not have: "
            f"{', '.join(map(called, found.beside))}"
        )
    if found.not_computed:
        lines.append(f"  not computed, as counts do not give it: {_shortened(found.not_computed)}")
    return "\n".join(lines)


def _signature(found: Verification) -> str:
    if found.signed_by:
        return f"  signed by {found.signed_by}"
    if NAME_OF_SIGNATURE in found.changed:
        return "  the signature is not that of this bundle"
    return "  not signed: nothing shows who made it"


def _listed(numbers: tuple[DifferentNumber, ...]) -> str:
    return _shortened([number.path for number in numbers])


def _shortened(names: Sequence[str]) -> str:
    shown = ", ".join(map(called, names[:_MOST_LISTED]))
    more = len(names) - _MOST_LISTED
    return f"{shown} and {more:,} more" if more > 0 else shown


def _headline(found: Verification) -> str:
    name = called(found.name)
    if found.finding is VerificationResult.CHANGED:
        return f"CHANGED: {name} is not as it was sealed"
    if found.finding is VerificationResult.OTHER_SIGNER:
        return f"OTHER SIGNER: {name} is not signed by {called(found.expected_signer)}"
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
