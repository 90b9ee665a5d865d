"""Differences between answers under the names of two groups, judged together.

Each is held against what names of one group, and irrelevant edits, move the answers by.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from fairgauge.enums import Status
from fairgauge.errors import Problem, SpecError, listing, quote
from fairgauge.measure._missing_answers import Compared, LackingAnswers, answered_shares, doubts
from fairgauge.question.swap_question import SwapQuestion, named_reference
from fairgauge.resolve.answers import Answers
from fairgauge.results.name_swaps import (
    UNDECIDED,
    PlaceboSpread,
    SwapComponents,
    SwapDifference,
    SwapGroup,
    SwapNote,
    SwapNoteCode,
    SwapReason,
    SwapVariance,
    SwapVariant,
    SwapVerdict,
)
from fairgauge.stats.arrays import Array, Index, Mask
from fairgauge.stats.crossed_designs import (
    CrossedDifference,
    Variance,
    crossed_difference,
    half_width,
    mean_variance,
    name_effects,
    two_sided_p,
    upper_tail,
)
from fairgauge.stats.multiplicity import holm
from fairgauge.values import matches

FEWEST_ITEMS = 3
FEWEST_VARIANTS = 3
FEWEST_PLACEBOS = 3
_BASELINES = ("baseline", "original", "none", "control", "unedited")
OTHERS = "others"
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class _Cells:
    """The cells of one model."""

    model: str | None
    code: int
    item: Index
    variant: Index
    group: Index
    y: Array
    n: Array

    def of(self, mask: Mask) -> _Cells:
        return replace(
            self, item=self.item[mask], variant=self.variant[mask], group=self.group[mask],
            y=self.y[mask], n=self.n[mask],
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Sides:
    """Two sides that are compared: a group, and the groups of its reference, with their names."""

    group: int
    reference: tuple[int, ...]
    names: tuple[str, str]

    @property
    def groups(self) -> Compared:
        """Return the groups of both."""
        return (self.group,), self.reference


@dataclass(frozen=True, slots=True)
class _Draft:
    """A comparison before it is judged together with the others.

    ``result`` has the p-values and the reason of this comparison alone. It could be moved so far by
    answers that one side is ``lacking`` more often.
    """

    cells: _Cells
    sides: _Sides
    result: SwapDifference
    lacking: float
    difference: CrossedDifference | None = None

    @property
    def doubt(self) -> SwapReason | None:
        """Return why a difference that is within the margin might be beyond it."""
        value, margin = self.result.value or 0.0, self.result.margin or 0.0
        if not self.lacking or abs(value) + self.lacking <= margin:
            return None
        return SwapReason.UNEQUAL_ANSWERS


def compare_swaps(answers: Answers, question: SwapQuestion) -> dict[str, Any]:
    """Compare names of every group with those of its reference; return fields of a `PairsAudit`.

    Raises
    ------
    SpecError
        The largest group is asked for, and two are equally large.
    """
    models = [*_by_model(answers)]
    sides = [*_sides(answers, question)]
    effects = {cells.code: _placebo_effects(answers, cells) for cells in models}
    doubtful = doubts(answers, [side.groups for side in sides])
    span = 1.0 if question.decides else float(np.ptp(answers.mean[answers.n > 0]))
    drafts = [
        _draft(
            cells, side, effects[cells.code], question, span, answers.family_of,
            doubtful.get((cells.code, side.groups)),
        )
        for cells in models
        for side in sides
    ]  # fmt: skip
    variants = tuple(v for cells in models for v in _variants(answers, cells, question))
    return {
        "differences": tuple(_judged(drafts, question)),
        "variants": variants,
        "groups": tuple(_group_means(variants)),
        "placebo": tuple(
            _spread(answers, cells, effects[cells.code], variants)
            for cells in models
            if len(effects[cells.code])
        ),
        "components": tuple(_components(answers, cells, drafts) for cells in models),
        "answered": tuple(answered_shares(answers)),
        "notes": tuple(_notes(answers, question, drafts, effects)),
    }


# ---- cells --------------------------------------------------------------------------------------


def _by_model(answers: Answers) -> Iterator[_Cells]:
    there = answers.n > 0
    for code, model in enumerate(answers.models):
        mask = there & (answers.model == code)
        if mask.any():
            variant = answers.variant[mask]
            yield _Cells(
                model, code, answers.item[mask], variant,
                answers.group_of[variant], answers.mean[mask], answers.n[mask],
            )  # fmt: skip


# ---- sides --------------------------------------------------------------------------------------


def _sides(answers: Answers, question: SwapQuestion) -> Iterator[_Sides]:
    named = answers.named
    reference = _reference(answers, question)
    for group in named:
        own = answers.groups[group]
        if reference is None:
            others = tuple(g for g in named if g != group)
            name = answers.groups[others[0]] if len(others) == 1 else OTHERS
            yield _Sides(group, others, (own, name))
        elif group != reference:
            yield _Sides(group, (reference,), (own, answers.groups[reference]))


def _reference(answers: Answers, question: SwapQuestion) -> int | None:
    """Return the group that all others are compared with; None where each has all others."""
    name = named_reference(question)
    if name is not None:
        return next(g for g in answers.named if matches(name, answers.groups[g]))
    if question.spec.reference != "largest":
        return None
    group = answers.group_of[answers.variant]
    size = {
        g: (int(np.count_nonzero(answers.group_of == g)), float(answers.n[group == g].sum()))
        for g in answers.named
    }
    largest = [g for g in answers.named if size[g] == max(size.values())]
    if len(largest) > 1:
        names = " and ".join(quote(answers.groups[g]) for g in largest[:2])
        message = f"{names} have equally many variants and answers; name one of them (COL=VALUE)"
        raise SpecError(Problem("reference", message))
    return largest[0]


# ---- one comparison -----------------------------------------------------------------------------


def _draft(
    cells: _Cells,
    sides: _Sides,
    placebo: Array,
    question: SwapQuestion,
    span: float,
    family_of: Index | None,
    doubt: LackingAnswers | None,
) -> _Draft:
    both = cells.of(np.isin(cells.group, (sides.group, *sides.reference)))
    in_group = both.group == sides.group
    items = np.intersect1d(both.item[in_group], both.item[~in_group])
    excluded = len(np.unique(both.item)) - len(items)
    both = both.of(np.isin(both.item, items))
    in_group = both.group == sides.group
    variants = (len(np.unique(both.variant[in_group])), len(np.unique(both.variant[~in_group])))
    result = SwapDifference(
        model=cells.model,
        feature="*".join(question.feature),
        group=sides.names[0],
        reference=sides.names[1],
        rate=question.rate,
        confidence=question.spec.confidence,
        variants_group=variants[0],
        variants_reference=variants[1],
        items=len(items),
        items_excluded=excluded,
        complete=len(both.y) == len(items) * sum(variants),
        margin=question.margin,
        reason=SwapReason.NO_ITEMS,
        p_missing=None if doubt is None else doubt.p,
    )
    reach = span * doubt.excess if doubt is not None and result.unequal else 0.0
    if not len(items):
        return _Draft(cells, sides, result, reach)
    _, item = np.unique(both.item, return_inverse=True)
    _, variant = np.unique(both.variant, return_inverse=True)
    family = None
    if family_of is not None:
        families, family = np.unique(family_of[both.item], return_inverse=True)
        result = replace(result, families=len(families))
    found = crossed_difference(item, variant, in_group, both.y, both.n, family)
    result = replace(
        result, value=found.value, mean_group=found.mean_group, mean_reference=found.mean_reference
    )
    if min(variants) == 1:
        result = replace(result, reason=SwapReason.ONE_VARIANT)
        if result.units >= FEWEST_ITEMS and _varies(found.items, both):
            result = _with_interval(result, found.items)
    else:
        result = _of_names(result, found, both, placebo, question)
    return _Draft(cells, sides, result, reach, found)


def _with_interval(result: SwapDifference, variance: Variance) -> SwapDifference:
    assert result.value is not None
    width = half_width(variance, result.confidence)
    return replace(
        result,
        low=result.value - width,
        high=result.value + width,
        p_value=two_sided_p(result.value, variance),
        degrees_of_freedom=variance.degrees_of_freedom,
    )


def _of_names(
    result: SwapDifference,
    found: CrossedDifference,
    both: _Cells,
    placebo: Array,
    question: SwapQuestion,
) -> SwapDifference:
    confidence, margin = question.spec.confidence, question.margin
    if result.units < FEWEST_ITEMS:
        return replace(result, reason=SwapReason.FEW_ITEMS)
    totals: dict[Literal["names", "placebo"], Variance] = {"names": found.total()}
    edits = None
    if len(placebo) >= FEWEST_PLACEBOS:
        edits = float(placebo.var(ddof=1)) * found.of_names
        totals["placebo"] = found.total(Variance(((edits, len(placebo) - 1),)))
    if not _varies(totals["names"], both):
        return replace(result, reason=SwapReason.NO_VARIATION)
    decides = max(totals, key=lambda by: half_width(totals[by], confidence))
    equivalence = None
    if margin is not None:
        equivalence = max(upper_tail(margin - abs(found.value), total) for total in totals.values())
    fewest_names = min(result.variants_group, result.variants_reference)
    return replace(
        _with_interval(result, totals[decides]),
        p_value=max(two_sided_p(found.value, total) for total in totals.values()),
        p_equivalence=equivalence,
        variance=SwapVariance(
            names=found.names.value, items=found.items.value, residual=found.residual.value,
            placebo=edits, decides=decides,
        ),
        reason=SwapReason.FEW_VARIANTS if fewest_names < FEWEST_VARIANTS else None,
    )  # fmt: skip


def _varies(variance: Variance, cells: _Cells) -> bool:
    return variance.value > (_ROUNDING * float(np.abs(cells.y).max())) ** 2


# ---- all comparisons together -------------------------------------------------------------------


def _judged(drafts: Sequence[_Draft], question: SwapQuestion) -> Iterator[SwapDifference]:
    """Yield the differences with the verdicts of one family: groups and models (Holm)."""
    alpha = 1 - question.spec.confidence
    differs = _adjusted(drafts, [each.result.p_value for each in drafts])
    equivalent = _adjusted(drafts, [each.result.p_equivalence for each in drafts])
    for draft, p, p_equivalence in zip(drafts, differs, equivalent, strict=True):
        result = draft.result
        verdict, reason = SwapVerdict.CANNOT_TELL, result.reason
        # the margin comes first: then no further comparison makes one that differs equivalent
        if reason is None and p_equivalence is not None and p_equivalence <= alpha / 2:
            reason = draft.doubt
            verdict = SwapVerdict.EQUIVALENT if reason is None else verdict
        elif reason is None and p is not None and p <= alpha:
            verdict = SwapVerdict.DIFFERS
        elif reason is None:
            reason = SwapReason.IMPRECISE
        yield replace(
            result, p_adjusted=p, p_equivalence=p_equivalence, verdict=verdict,
            status=_status(reason), reason=reason,
        )  # fmt: skip


def _status(reason: SwapReason | None) -> Status:
    if reason in UNDECIDED:
        return Status.OK
    undefined = reason in (SwapReason.NO_ITEMS, SwapReason.NO_VARIATION)
    return Status.UNDEFINED if undefined else Status.TOO_FEW


def _adjusted(drafts: Sequence[_Draft], p_values: Sequence[float | None]) -> list[float | None]:
    """Return p-values adjusted for all comparisons with a verdict.

    Two that mirror each other are one comparison.
    """
    places: dict[object, int] = {}
    family: list[float] = []
    place: list[int | None] = []
    for draft, p in zip(drafts, p_values, strict=True):
        if draft.result.reason is not None or p is None:
            place.append(None)
            continue
        sides = frozenset(((draft.sides.group,), draft.sides.reference))
        key = (draft.cells.code, sides)
        if key not in places:
            places[key] = len(family)
            family.append(p)
        place.append(places[key])
    adjusted = holm(family).tolist() if family else []
    return [None if at is None else adjusted[at] for at in place]


# ---- variants, placebos, components -------------------------------------------------------------


def _placebo_effects(answers: Answers, cells: _Cells) -> Array:
    """Return the effects of irrelevant edits, beside those of items; their mean is 0."""
    edits = cells.of(np.isin(cells.group, [g for g, p in enumerate(answers.placebo) if p]))
    if not len(edits.y):
        return np.zeros(0)
    _, variant = np.unique(edits.variant, return_inverse=True)
    return name_effects(edits.item, variant, edits.y)


def _variants(answers: Answers, cells: _Cells, question: SwapQuestion) -> Iterator[SwapVariant]:
    named = np.isin(cells.group, answers.named)
    size = len(answers.items)
    count = np.bincount(cells.item[named], minlength=size)
    base = np.bincount(cells.item[named], cells.y[named], size) / np.maximum(count, 1)
    held = cells.of(count[cells.item] > 0)
    for v in np.unique(held.variant).tolist():
        mask = held.variant == v
        y, centred = held.y[mask], held.y[mask] - base[held.item[mask]]
        width = None
        family = None if answers.family_of is None else answers.family_of[held.item[mask]]
        if len(y if family is None else np.unique(family)) > 1:
            width = half_width(mean_variance(centred, family), question.spec.confidence)
        mean = float(centred.mean())
        group = int(answers.group_of[v])
        yield SwapVariant(
            model=cells.model,
            variant=answers.variants[v],
            group=answers.groups[group],
            placebo=answers.placebo[group],
            n=int(held.n[mask].sum()),
            mean=float(y.mean()),
            centred=mean,
            low=None if width is None else mean - width,
            high=None if width is None else mean + width,
        )


def _group_means(variants: Sequence[SwapVariant]) -> Iterator[SwapGroup]:
    names: dict[tuple[str | None, str], list[float]] = {}
    for each in variants:
        if not each.placebo:
            names.setdefault((each.model, each.group), []).append(each.centred)
    for (model, group), means in names.items():
        mean = math.fsum(means) / len(means)
        yield SwapGroup(model=model, group=group, variants=len(means), centred=mean)


def _spread(
    answers: Answers, cells: _Cells, effects: Array, variants: Sequence[SwapVariant]
) -> PlaceboSpread:
    edits = [each.centred for each in variants if each.placebo and each.model == cells.model]
    squares, df = 0.0, 0
    for group in answers.named:
        own = cells.of(cells.group == group)
        _, variant = np.unique(own.variant, return_inverse=True)
        if len(own.y):
            names = name_effects(own.item, variant, own.y)
            squares += float(names @ names)
            df += len(names) - 1
    return PlaceboSpread(
        model=cells.model,
        variants=len(effects),
        spread=float(effects.std(ddof=1)) if len(effects) > 1 else None,
        spread_names=math.sqrt(squares / df) if df else None,
        low=min(edits, default=None),
        high=max(edits, default=None),
    )


def _components(answers: Answers, cells: _Cells, drafts: Sequence[_Draft]) -> SwapComponents:
    """Return what the answers of a model vary by: the mean over comparisons, by moments."""
    mask = (answers.n > 1) & (answers.model == cells.code)
    degrees = float((answers.n[mask] - 1).sum())
    runs = float(answers.squares[mask].sum()) / degrees if degrees else 0.0
    own = [each.difference for each in drafts if each.cells is cells and each.result.variance]
    found: dict[str, list[float]] = {"names": [], "items": [], "interaction": []}
    for each in filter(None, own):
        cell = each.residual.value / each.of_cells
        within = runs * float((1 / cells.n).mean())
        found["names"].append((each.names.value - each.residual.value) / each.of_names)
        found["items"].append((each.items.value - each.residual.value) / each.of_items)
        found["interaction"].append(cell - within)

    def deviation(name: str) -> float | None:
        values = found[name]
        return math.sqrt(max(math.fsum(values) / len(values), 0.0)) if values else None

    return SwapComponents(
        model=cells.model,
        names=deviation("names"),
        items=deviation("items"),
        interaction=deviation("interaction"),
        runs=math.sqrt(runs) if cells.n.max() > 1 else None,
    )


# ---- notes --------------------------------------------------------------------------------------


def _notes(
    answers: Answers,
    question: SwapQuestion,
    drafts: Sequence[_Draft],
    effects: Mapping[int, Array],
) -> Iterator[SwapNote]:
    reference = _reference(answers, question)
    if reference is not None:
        variants = np.flatnonzero(answers.group_of == reference).tolist()
        names = [answers.groups[reference], *(answers.variants[v] for v in variants)]
        if len(variants) == 1 and any(word in n.casefold() for word in _BASELINES for n in names):
            yield SwapNote(SwapNoteCode.BASELINE_REFERENCE, answers.groups[reference])
    edits = [len(each) for each in effects.values() if 0 < len(each) < FEWEST_PLACEBOS]
    if edits:
        yield SwapNote(SwapNoteCode.FEW_PLACEBOS, count=min(edits))
    there = answers.n[answers.n > 0]
    if there.min() != there.max():
        yield SwapNote(SwapNoteCode.UNEQUAL_RUNS, count=int(there.min()))
    compared = [draft.result for draft in drafts if draft.result.items]
    if not all(each.complete for each in compared):
        yield SwapNote(SwapNoteCode.INCOMPLETE)
    if len(answers.unfavourable) > 1:
        yield SwapNote(SwapNoteCode.UNFAVOURABLE, listing(answers.unfavourable))
    if excluded := max((each.items_excluded for each in compared), default=0):
        yield SwapNote(SwapNoteCode.ITEMS_EXCLUDED, count=excluded)
