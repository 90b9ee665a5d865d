"""The result of verifying a sealed bundle, as a frozen value."""

from __future__ import annotations

from enum import StrEnum

from fairgauge.results.name_swaps import PairsAudit
from fairgauge.results.report import Report
from fairgauge.results.scopes import in_words
from fairgauge.start.records import dataclass, field

NAME_OF_SIGNATURE = "the signature"
"""What a signature is called among the changed parts of a bundle."""


VerificationResult = StrEnum("VerificationResult", {
    "REPRODUCED": "reproduced", "PARTLY_REPRODUCED": "partly reproduced",
    "DIFFERENT": "different", "CHANGED": "changed", "OTHER_SIGNER": "other signer",
})  # fmt: skip
"""What a verification comes to; partly, where a part of the report could not be compared."""


@dataclass(frozen=True, slots=True)
class DifferentNumber:
    """A value of the sealed report, at ``path``, that its counts and specification do not give."""

    path: str
    subject: str
    sealed: str
    recomputed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What became of a sealed bundle when its report was computed again from its counts.

    ``libraries``: those of another version, each with that of the seal and the present one.
    ``changed``: the parts whose content does not fit the manifest, or which are there twice.
    ``numbers, different``: how many were compared and agree, and those that do not.
    ``texts``: those that the present version writes otherwise: they are not verified.
    ``largest_deviation``: the largest relative difference of a number that counts as the same.
    ``from_rows, not_computed``: what needs the rows, and what does not follow from counts at all.
    ``redrawn, drawn_by, redrawn_by``: random draws that differ, and both versions of NumPy.
    ``signed_by, expected_signer``: fingerprints of keys; None of no signature, and of any signer.
    ``beside``: the options in which the report differs from the question of its counts.
    ``report``: None where it was changed, does not follow from the counts, or has another signer.
    """

    name: str
    sealed_by: str
    verified_by: str
    libraries: tuple[tuple[str, str, str], ...]
    created: str
    changed: tuple[str, ...]
    numbers: int = 0
    different: tuple[DifferentNumber, ...] = ()
    texts: tuple[DifferentNumber, ...] = ()
    largest_deviation: float = 0.0
    from_rows: tuple[str, ...] = ()
    redrawn: tuple[DifferentNumber, ...] = ()
    drawn_by: str = ""
    redrawn_by: str = ""
    signed_by: str | None
    expected_signer: str | None = None
    not_computed: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    report: Report | PairsAudit | None = field(default=None, repr=False)

    @property
    def finding(self) -> VerificationResult:
        """Return what it comes to."""
        if self.changed:
            return VerificationResult.CHANGED
        if self.expected_signer not in (None, self.signed_by):
            return VerificationResult.OTHER_SIGNER
        if self.different:
            return VerificationResult.DIFFERENT
        if self.texts or self.redrawn or self.from_rows:
            return VerificationResult.PARTLY_REPRODUCED
        return VerificationResult.REPRODUCED

    def __str__(self) -> str:
        return in_words("words.verdict_sentences:describe_verification", self)
