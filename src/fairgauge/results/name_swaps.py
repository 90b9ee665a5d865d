"""PairsAudit: what answers to the same items under different names show about groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, ClassVar, Literal

from fairgauge.enums import Status
from fairgauge.results.codec import Finite, Share, Version
from fairgauge.results.describers import function_at
from fairgauge.results.doubts import WhyWithheld
from fairgauge.results.scopes import Diagnostic
from fairgauge.results.shown_result import ResultKind, ShownResult
from fairgauge.values import Saved


class SwapVerdict(StrEnum):
    """What a comparison of answers under different names came to."""

    DIFFERS = "differs"
    EQUIVALENT = "equivalent"
    CANNOT_TELL = "cannot tell"


class SwapReason(StrEnum):
    """Why a comparison of answers cannot be decided."""

    ONE_VARIANT = "one_variant"
    FEW_VARIANTS = "few_variants"
    FEW_ITEMS = "few_items"
    NO_ITEMS = "no_items"
    NO_VARIATION = "no_variation"
    UNEQUAL_ANSWERS = "unequal_answers"
    UNCLEAR_ANSWERS = "unclear_answers"
    IMPRECISE = "imprecise"


UNDECIDED = (
    None, SwapReason.IMPRECISE, SwapReason.UNEQUAL_ANSWERS, SwapReason.UNCLEAR_ANSWERS
)  # fmt: skip
"""Reasons, or none, where there are enough names and items for a verdict."""


class SwapNoteCode(StrEnum):
    """What a reader of an audit by swapped names should know."""

    BASELINE_REFERENCE = "baseline_reference"
    FEW_PLACEBOS = "few_placebos"
    UNEQUAL_RUNS = "unequal_runs"
    INCOMPLETE = "incomplete"
    UNFAVOURABLE = "unfavourable"
    ITEMS_EXCLUDED = "items_excluded"


@dataclass(frozen=True, slots=True)
class SwapNote:
    """A note on an audit by swapped names.

    Attributes
    ----------
    code : its subject.
    name : the variant, the group or the model that it is about, if it is about one.
    count : how many it counts.
    """

    code: SwapNoteCode
    name: str | None = None
    count: int | None = None

    @property
    def message(self) -> str:
        """Return it as a sentence."""
        said: str = function_at("fairgauge.render.page:stated")(
            "fairgauge.statements.swaps:note_statement", str(self.code), self
        )
        return said


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCounts:
    """What was counted.

    Attributes
    ----------
    source : what the data are called.
    fingerprint : the digest of the counts.
    answers, missing : answers, and those that are missing (a refusal, an empty field).
    items, variants, models : how many there are; one model where no column names them.
    runs : the most answers to one item under one variant.
    excluded : rows that do not take part, by reason.
    families : how many texts items are made from; None where none were named.
    """

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

    Attributes
    ----------
    names, items : that of names within groups, and of items' differences.
    residual : that of single cells, which is in both and is subtracted once.
    placebo : that of irrelevant edits in place of names; None with fewer than three edits.
    decides : the one that the interval is of, names or placebo: the wider interval.
    """

    names: Finite
    items: Finite
    residual: Finite
    placebo: Finite | None
    decides: Literal["names", "placebo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapDifference:
    """The difference between the names of a group and those of its reference, in one model.

    Attributes
    ----------
    model : the model; None where there is one without a name.
    feature, group, reference : what is compared; the reference may be all other groups.
    rate : what the numbers are: score, or selection_rate of decisions.
    value, low, high : the mean difference, group less reference, with its confidence interval; both
        names and items are random, save with one variant, where the interval is of items alone.
    confidence : the level of the interval.
    p_value, p_adjusted : of no difference; adjusted for all comparisons with a verdict (Holm).
    degrees_of_freedom : of the interval (Satterthwaite).
    mean_group, mean_reference : the means of both sides.
    variants_group, variants_reference : how many names there are.
    items, items_excluded : the items with names of both sides, and those with names of one.
    families : of how many texts these items are made; None where none were named.
    complete : whether every item has every name.
    variance : the variance and its terms; None without an interval over names.
    margin : the margin of equivalence, None where none was given.
    p_equivalence : the larger one-sided p-value of a difference beyond the margin, adjusted.
    p_missing : of answers that are missing equally often under names of both sides, adjusted; None
        where no answer is missing.
    verdict, reason : what it came to, and why it is undecided.
    status : ok, too_few where there is no verdict for want of variants or items, or undefined.
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
        """Return whether the numbers are shares of decisions, not scores."""
        return self.rate == "selection_rate"

    @property
    def units(self) -> int:
        """Return of how many independent items it is, or families of items."""
        return self.items if self.families is None else self.families

    @property
    def unequal(self) -> bool:
        """Return whether one side lacks answers statistically significantly more often."""
        return self.p_missing is not None and self.p_missing <= 1 - self.confidence

    @property
    def ratio(self) -> Finite | None:
        """Return the ratio of both shares of favourable decisions; None of scores, and of 0."""
        if not self.of_decisions or self.mean_group is None or not self.mean_reference:
            return None
        return self.mean_group / self.mean_reference

    def withheld(self, why: WhyWithheld) -> SwapDifference:
        """Return it undecided where it shows equivalence of answers that are doubted."""
        if self.verdict is not SwapVerdict.EQUIVALENT or why(("prediction", "score"), None) is None:
            return self
        return replace(self, verdict=SwapVerdict.CANNOT_TELL, reason=SwapReason.UNCLEAR_ANSWERS)

    @property
    def says(self) -> str:
        """Return it as sentences, with its verdict."""
        said: str = function_at("fairgauge.render.page:stated")(
            "fairgauge.statements.swaps:swap_statement", "says", self
        )
        return said


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapVariant:
    """The answers under one variant.

    Attributes
    ----------
    model, variant, group : which.
    placebo : whether it is an irrelevant edit.
    n : its answers.
    mean : the mean over items.
    centred, low, high : the mean less that of all names over the same items, with the confidence
        interval over items; None with one item.
    """

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
class SwapGroup:
    """The names of one group: the mean of their means.

    Attributes
    ----------
    model, group : which.
    variants : how many names.
    centred : the mean of the names, each less that of all names over the same items.
    """

    model: str | None
    group: str
    variants: int
    centred: Finite


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceboSpread:
    """How far irrelevant edits move the answers of a model.

    Attributes
    ----------
    model, variants : the model, and how many edits.
    spread, spread_names : standard deviations of the edits, and of names within groups.
    low, high : the range of the edits' means less those of all names over the same items.
    """

    model: str | None
    variants: int
    spread: Finite | None
    spread_names: Finite | None
    low: Finite | None
    high: Finite | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapComponents:
    """Standard deviations of what answers vary by, for planning; 0 where none is seen.

    Attributes
    ----------
    model : the model.
    names : between names of one group.
    items : of the items' differences between groups.
    interaction : of items by names within a group.
    runs : between answers to the same item under the same name; None with single answers.
    """

    model: str | None
    names: Finite | None
    items: Finite | None
    interaction: Finite | None
    runs: Finite | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredShare:
    """How many of the answers of a group are there: a refusal is a result, too.

    Attributes
    ----------
    model, group : which.
    n, answered : its rows, and those with an answer.
    absent : rows that it lacks where every item is asked under every name of a group: without them
        some items and names have fewer rows than others of the group.
    """

    DERIVED: ClassVar = ("share",)

    model: str | None
    group: str
    n: int
    answered: int
    absent: int = 0

    @property
    def share(self) -> Share:
        """Return the share of the answers that are there."""
        asked = self.n + self.absent
        return self.answered / asked if asked else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PairsAudit(ShownResult):
    """What answers to the same items under different names show; `print` shows it.

    Attributes
    ----------
    version, created : of the fairgauge that made it, and when.
    data : what was counted.
    spec : the question.
    differences : every group against its reference, in every model.
    variants : every variant's answers.
    groups : the mean of every group's names.
    placebo : how far irrelevant edits move the answers of each model.
    components : what answers vary by.
    answered : how many rows of each group have an answer.
    notes : what a reader should know.
    diagnostics : warnings of what may be wrong with the answers.
    """

    KIND: ClassVar = ResultKind(
        name="pairs",
        schema="fairgauge.pairs/2",
        title="Audit by swapped names",
        called="an audit by swapped names",
        page="fairgauge.statements.swaps:swaps_page",
    )
    DERIVED: ClassVar = ("verdict", "_brief")

    version: Version
    created: str
    data: AnswerCounts
    spec: Saved
    differences: tuple[SwapDifference, ...]
    variants: tuple[SwapVariant, ...]
    groups: tuple[SwapGroup, ...]
    placebo: tuple[PlaceboSpread, ...]
    components: tuple[SwapComponents, ...]
    answered: tuple[AnsweredShare, ...]
    notes: tuple[SwapNote, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def verdict(self) -> SwapVerdict:
        """Return differs where any difference does, equivalent where all are, else cannot tell."""
        found = {each.verdict for each in self.differences}
        if SwapVerdict.DIFFERS in found:
            return SwapVerdict.DIFFERS
        return found.pop() if found == {SwapVerdict.EQUIVALENT} else SwapVerdict.CANNOT_TELL

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

    def to_pandas(self, table: str = "differences") -> Any:
        """Return a table as a `pandas.DataFrame`: differences, variants, components, answered."""
        return function_at("fairgauge.render.streams:to_pandas")(self, table)

    def __repr__(self) -> str:
        return f"<PairsAudit of {self.data.answers:,} answers: {self.verdict}; print() shows it>"
