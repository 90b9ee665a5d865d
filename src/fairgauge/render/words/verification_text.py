"""The text of a verification of a sealed bundle."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import takewhile

from fairgauge.render.words.display_names import called
from fairgauge.results.verification import (
    NAME_OF_SIGNATURE,
    DifferentNumber,
    Verification,
    VerificationResult,
)

_MOST_LISTED = 20
_LONG, _CONTEXT = 120, 40
"""Characters: texts that are shown in part, and how much before the place where they differ."""
_AGREEING = (VerificationResult.REPRODUCED, VerificationResult.PARTLY_REPRODUCED)
_STATED = "; stated and not checked: source of the rows, texts of the author, dates, versions"
_EQUAL = "counts, verdicts and texts are the same"
"""What is the same where numbers agree to many digits, and not to the last one."""


def describe_verification(found: Verification) -> str:
    """Return what a verification comes to, in a few lines."""
    lines = [_headline(found)]
    lines.append(
        f"  states that it was sealed {called(found.created)} by fairgauge "
        f"{called(found.sealed_by)}; verified by {found.verified_by}"
    )
    lines += [
        f"  {called(name)} {called(here)}; sealed with {called(sealed)}"
        for name, sealed, here in found.libraries
    ]
    if found.finding in _AGREEING and found.largest_deviation:
        lines.append(f"  {_EQUAL}")
    lines.append(_signature(found))
    lines += [f"  changed: {name}" for name in found.changed]
    lines += _compared(found.different, "from the counts")
    if found.texts:
        lines.append(
            f"  not verified, because fairgauge {found.verified_by} writes them otherwise: "
            f"{_texts(found)}; fairgauge render {called(found.name)} writes the report in the "
            f"words of {found.verified_by}"
        )
        lines += _compared(found.texts, f"by fairgauge {found.verified_by}")
    if found.redrawn:
        lines.append(
            f"  not verified, because NumPy {found.redrawn_by} draws other random numbers than "
            f"{called(found.drawn_by)}: {_shortened([number.path for number in found.redrawn])}"
        )
    if found.from_rows:
        lines.append(f"  not verified, because they need the rows: {_shortened(found.from_rows)}")
    if found.beside:
        lines.append(
            "  options in which the report differs from the question of the counts: "
            f"{', '.join(map(called, found.beside))}"
        )
    if found.not_computed:
        lines.append(f"  stated and not checked: {_shortened(found.not_computed)}")
    return "\n".join(lines)


def _signature(found: Verification) -> str:
    if found.signed_by:
        return f"  signed by {found.signed_by}"
    if NAME_OF_SIGNATURE in found.changed:
        return "  the signature is not that of this bundle"
    return "  not signed: nothing shows who made it"


def _compared(different: Sequence[DifferentNumber], where: str) -> Iterator[str]:
    """Yield fields of the report with the value that they should have."""
    for each in different[:_MOST_LISTED]:
        at = "" if each.subject == each.path else f" ({called(each.path)})"
        sealed, other = _around_difference(each.sealed, each.recomputed)
        yield f"  {called(each.subject)}{at}: {sealed} in the report, {other} {where}"
    if len(different) > _MOST_LISTED:
        yield f"  and {len(different) - _MOST_LISTED:,} more"


def _around_difference(one: str, other: str) -> tuple[str, str]:
    """Return two texts as they are shown, long ones from shortly before they differ."""
    if max(len(one), len(other)) <= _LONG:
        return called(one), called(other)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    start = max(0, same - _CONTEXT)
    mark = "…" if start else ""
    return f"{mark}{called(one[start:])}", f"{mark}{called(other[start:])}"


def _texts(found: Verification) -> str:
    count = len(found.texts)
    return f"{count:,} {'text' if count == 1 else 'texts'} of fairgauge {called(found.sealed_by)}"


def _not_verified(found: Verification) -> str:
    parts = [_texts(found)] if found.texts else []
    if found.redrawn:
        count = len(found.redrawn)
        noun = "a value that rests" if count == 1 else f"{count:,} values that rest"
        parts.append(f"{noun} on random draws")
    if found.from_rows:
        parts.append("what needs the rows")
    return ", ".join(parts)


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
    agree = f"{found.numbers:,} values of {name} follow from the counts {exact}"
    if found.finding is VerificationResult.PARTLY_REPRODUCED:
        return f"PARTLY REPRODUCED: {agree}; not verified: {_not_verified(found)}{_STATED}"
    return f"REPRODUCED: all {agree}{_STATED}"
