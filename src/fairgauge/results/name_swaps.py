"""PairsAudit: what answers to the same items under different names show about groups."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar, Literal

from fairgauge.enums import Status
from fairgauge.results.codec import Finite, Share
from fairgauge.results.scopes import Diagnostic, WhyWithheld, Worded, in_words
from fairgauge.results.shown_result import ResultKind, ResultOfRows
from fairgauge.start.records import dataclass, replace
from fairgauge.values import Saved

SwapVerdict = StrEnum("SwapVerdict", {
    "DIFFERS": "differs", "EQUIVALENT": "equivalent", "CANNOT_TELL": "cannot tell",
})  # fmt: skip
"""What a comparison of answers under different names came to."""

SwapReason = StrEnum("SwapReason", "ONE_VARIANT FEW_VARIANTS FEW_ITEMS NO_ITEMS NO_VARIATION "
    "MISSING_ANSWERS UNCLEAR_ANSWERS IMPRECISE")  # fmt: skip
"""Why a comparison of answers cannot be decided."""
REASONS_WITH_ENOUGH_DATA = (
    None, SwapReason.IMPRECISE, SwapReason.MISSING_ANSWERS, SwapReason.UNCLEAR_ANSWERS
)  # fmt: skip
"""Reasons, or none, where there are enough names and items for a verdict."""

SwapNoteCode = StrEnum("SwapNoteCode",
    "BASELINE_REFERENCE FEW_PLACEBOS INCOMPLETE UNFAVOURABLE ITEMS_EXCLUDED")  # fmt: skip
"""What a reader of an audit by swapped names should know."""


@dataclass(frozen=True, slots=True)
class SwapNote:
    """A note on an audit by swapped names; on the variant, group or model ``name``, if on one."""

    code: SwapNoteCode
    name: str | None = None
    count: int | None = None

    @property
    def message(self) -> str:
        stated_by = "fairgauge.statements.search:note_statement"
        return str(in_words("page:stated", stated_by, str(self.code), self))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCounts:
    """What was counted; ``runs`` are the most answers to one item under one variant."""

    source: str
    fingerprint: str
    answers: int
    missing: int
    items: int
    variants: int
    models: int
    runs: int
    excluded: Mapping[str, int]
    families: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapVariance:
    """The variance of a difference, and its terms.

    ``residual``: of single cells, which is in both others and is subtracted once.
    ``placebo``: of irrelevant edits in place of names; None with fewer than three edits.
    ``decides``: which of both the interval is of: the wider one.
    """

    names: Finite
    items: Finite
    residual: Finite
    placebo: Finite | None
    decides: Literal["names", "placebo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapDifference:
    """The difference between the names of a group and those of its reference, in one model.

    ``rate``: what the numbers are: score, or selection_rate of decisions.
    ``value``: the mean difference; names and items are both random, save with one variant.
    ``families``: of how many texts these items are made; None where none were named.
    ``p_equivalence``: the larger one-sided p-value of a difference beyond the margin, adjusted.
    ``p_missing``: of answers that are missing equally often under names of both sides, adjusted.
    """

    DERIVED: ClassVar = ("ratio",)

    model: str | None
    feature: str
    group: str
    reference: str
    rate: str
    value: Finite | None = None
    low: Finite | None = None
    high: Finite | None = None
    confidence: Share
    p_value: Share | None = None
    p_adjusted: Share | None = None
    degrees_of_freedom: float | None = None
    mean_group: Finite | None = None
    mean_reference: Finite | None = None
    variants_group: int
    variants_reference: int
    items: int
    items_excluded: int
    families: int | None = None
    complete: bool
    variance: SwapVariance | None = None
    margin: Finite | None
    p_equivalence: Share | None = None
    p_missing: Share | None = None
    verdict: SwapVerdict = SwapVerdict.CANNOT_TELL
    status: Status = Status.OK
    reason: SwapReason | None = None

    @property
    def of_decisions(self) -> bool:
        return self.rate == "selection_rate"

    @property
    def units(self) -> int:
        """Return of how many independent items it is, or families of items."""
        return self.items if self.families is None else self.families

    @property
    def unequal(self) -> bool:
        return self.p_missing is not None and self.p_missing <= 1 - self.confidence

    @property
    def ratio(self) -> Finite | None:
        if not self.of_decisions or self.mean_group is None or not self.mean_reference:
            return None
        return self.mean_group / self.mean_reference

    def withheld(self, why: WhyWithheld) -> SwapDifference:
        doubt = why(("prediction", "score"), self.feature)
        if self.verdict is not SwapVerdict.EQUIVALENT or doubt is None:
            return self
        return replace(self, verdict=SwapVerdict.CANNOT_TELL, reason=SwapReason.UNCLEAR_ANSWERS)

    says = Worded("page:stated", "fairgauge.statements.search:swap_statement", "says")


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapVariant:
    """The answers under one variant; ``centred`` is their mean less that of all names."""

    model: str | None
    variant: str
    group: str
    placebo: bool
    n: int
    mean: Finite
    centred: Finite
    low: Finite | None
    high: Finite | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceboSpread:
    """How far irrelevant edits move the answers of a model, beside names within groups."""

    model: str | None
    variants: int
    spread: Finite | None
    spread_names: Finite | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredShare:
    """How many of the answers of a group are there: a refusal is a result, too.

    ``absent`` are rows that it lacks where every item is asked under every name of a group.
    """

    DERIVED: ClassVar = ("share",)

    model: str | None
    group: str
    n: int
    answered: int
    absent: int = 0

    @property
    def share(self) -> Share:
        asked = self.n + self.absent
        return self.answered / asked if asked else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PairsAudit(ResultOfRows):
    """What answers to the same items under different names show; `print` shows it."""

    KIND: ClassVar = ResultKind(name="pairs", schema="fairgauge.pairs/2",
        title="Audit by swapped names", called="an audit by swapped names",
        page="fairgauge.statements.search:swaps_page")  # fmt: skip
    DERIVED: ClassVar = ("counted", "verdict", "doubts", "_statements")

    data: AnswerCounts
    spec: Saved
    differences: tuple[SwapDifference, ...]
    variants: tuple[SwapVariant, ...]
    placebo: tuple[PlaceboSpread, ...]
    answered: tuple[AnsweredShare, ...]
    notes: tuple[SwapNote, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def verdict(self) -> SwapVerdict:
        """Return differs where any difference does, equivalent where all are, else cannot tell."""
        order = (SwapVerdict.DIFFERS, SwapVerdict.CANNOT_TELL, SwapVerdict.EQUIVALENT)
        found = (each.verdict for each in self.differences)
        return min(found, key=order.index, default=SwapVerdict.CANNOT_TELL)

    @property
    def distinct(self) -> tuple[SwapDifference, ...]:
        """Return the differences, of two that mirror each other the one that is not above 0."""
        kept: dict[object, SwapDifference] = {}
        for each in self.differences:
            key = (each.model, frozenset((each.group, each.reference)))
            if key not in kept or (each.value or 0.0) < 0:
                kept[key] = each
        return tuple(kept.values())

    @property
    def exit_code(self) -> int:
        """Return 1 where a difference remains, 0 where all are equivalent, 3 otherwise."""
        return {SwapVerdict.DIFFERS: 1, SwapVerdict.EQUIVALENT: 0}.get(self.verdict, 3)
