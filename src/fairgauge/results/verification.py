"""The result of verifying a sealed bundle, as a frozen value."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from fairgauge.results.describers import in_words
from fairgauge.results.name_swaps import PairsAudit
from fairgauge.results.report import Report

NAME_OF_SIGNATURE = "the signature"
"""What a signature is called among the changed parts of a bundle."""


class VerificationResult(StrEnum):
    """What a verification comes to; partly, where a part of the report could not be compared."""

    REPRODUCED = "reproduced"
    PARTLY_REPRODUCED = "partly reproduced"
    DIFFERENT = "different"
    CHANGED = "changed"
    OTHER_SIGNER = "other signer"


@dataclass(frozen=True, slots=True)
class DifferentNumber:
    """A value of the sealed report that the counts and its specification do not give.

    Attributes
    ----------
    path : where it stands in the report: ``estimates[3].value``.
    subject : the metric, feature and group, in words of the report's keys.
    sealed, recomputed : the two values, as text; "absent" where one has none.
    """

    path: str
    subject: str
    sealed: str
    recomputed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What became of a sealed bundle when its report was computed again from its counts.

    Attributes
    ----------
    name : the file.
    sealed_by, verified_by : the versions of fairgauge that made and verified the bundle.
    libraries : the numerical libraries of which it was verified by another version, each with the
        version that it was sealed by and the present one.
    created : when it was sealed, as it states.
    changed : the parts whose content does not fit the manifest, or which are there twice.
    numbers : how many numbers and texts of the report were compared, and agree.
    different : those that differ.
    texts : the texts that the version which the report states wrote, and the present one writes
        otherwise: they are not verified.
    largest_deviation : the largest relative difference of a number that counts as the same; of
        numbers below 0.001 it is relative to 0.001.
    from_rows : metrics and diagnostics that need the rows, and cannot be recomputed from counts.
    redrawn : numbers that differ and rest on random draws, where another version of NumPy made
        the draws: NumPy does not promise that a seed gives the same ones in all its versions.
    drawn_by, redrawn_by : the versions of NumPy that made the draws of the bundle and of this
        verification.
    signed_by : the fingerprint of the key that signed it, None without a signature.
    expected_signer : the fingerprint of the key that must have signed it; None where any may have.
    not_computed : the fields that do not follow from counts: the bundle states them.
    beside : the options in which the report differs from the question of its counts.
    report : the report, with its sentences written by the present version; None where it was
        changed, does not follow from the counts, or has another signer than the expected one.
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
        return in_words("verification_text:describe_verification", self)
