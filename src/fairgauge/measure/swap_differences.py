"""Differences between answers under the names of two groups, judged together.

Each is held against what names of one group, and irrelevant edits, move the answers by.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from fairgauge.enums import Status
from fairgauge.errors import Problem, SpecError, listing, quote
from fairgauge.inference.possible import contrast_limits, mean_limits, worst_case_limits
from fairgauge.question.specification import SwapQuestion
from fairgauge.resolve.answers import Answers
from fairgauge.results.name_swaps import (
    REASONS_WITH_ENOUGH_DATA,
    AnsweredShare,
    PlaceboSpread,
    SwapDifference,
    SwapNote,
    SwapNoteCode,
    SwapReason,
    SwapVariance,
    SwapVariant,
    SwapVerdict,
)
from fairgauge.start.records import dataclass, replace
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
from fairgauge.stats.intervals import critical
from fairgauge.stats.paired import mcnemar_mid_p, paired_difference
from fairgauge.stats.significance import fisher, holm
from fairgauge.values import matches

SideGroups: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""The groups of both sides of a comparison."""
Compared: TypeAlias = tuple[int, SideGroups]
"""A model, and what is compared in it."""
# share of items that are asked under a name from which on those that are not are missing
_MOSTLY_CROSSED = 0.5
# the quantile of rows of a cell that all cells of a group should have: a few may be repeated.
_USUAL = 0.9


class _Asked(NamedTuple):
    """How many answers of a model were to be given, have a row, and were given, of every cell."""

    group: Index
    asked: Array
    rows: Array
    answered: Array

    def missing(self, groups: Sequence[int]) -> tuple[float, int]:
        """Return how many cells lack answers, parts of cells added up, and how many there are."""
        # Answers of one cell are not independent, so that cells are compared and not answers.
        own = np.isin(self.group, groups) & (self.asked > 0)
        share = 1 - np.minimum(self.answered[own] / self.asked[own], 1)
        return float(share.sum()), int(own.sum())


def _expected_answers(answers: Answers, model: int) -> _Asked:
    # what was to be answered: where most items have most names, each under every name
    mask = answers.model == model
    named = np.isin(answers.group_of[answers.variant], answers.named)
    items, variants = np.unique(answers.item[mask & named]), np.unique(answers.variant[mask])
    mask &= np.isin(answers.item, items)
    codes = (items, answers.item), (variants, answers.variant)
    at = tuple(np.searchsorted(distinct, code[mask]) for distinct, code in codes)
    rows, answered = np.zeros((2, len(items), len(variants)))
    rows[at] = answers.n[mask] + answers.missing[mask]
    answered[at] = answers.n[mask]
    group, asked = answers.group_of[variants], rows.copy()
    by_group = {g: rows[:, group == g] for g in np.unique(group).tolist()}
    there = [float((by_group[g] > 0).mean()) for g in answers.named if g in by_group]
    if max(there, default=0.0) >= _MOSTLY_CROSSED:
        for g, own in by_group.items():
            usual = np.quantile(own[own > 0], _USUAL, method="lower")
            asked[:, group == g] = np.maximum(own, usual)
    cells = np.broadcast_to(group, rows.shape)
    return _Asked(cells.ravel(), asked.ravel(), rows.ravel(), answered.ravel())


def answered_shares(answers: Answers) -> Iterator[AnsweredShare]:
    """Yield how many answers the names of every group have in every model."""
    for code, model in enumerate(answers.models):
        asked = _expected_answers(answers, code)
        for g, name in enumerate(answers.groups):
            own = asked.group == g
            if own.any():
                rows = asked.rows[own].sum()
                yield AnsweredShare(
                    model=model, group=name, n=int(rows), answered=int(asked.answered[own].sum()),
                    absent=int(asked.asked[own].sum() - rows),
                )  # fmt: skip


def _missing_answers(
    answers: Answers, sides: Sequence[SideGroups]
) -> tuple[dict[Compared, tuple[float, float]], dict[Compared, float]]:
    # the shares of answers that both sides lack, and p of equal ones, for all together
    shares_missing: dict[Compared, tuple[float, float]] = {}
    p_values: dict[Compared, float] = {}
    for model in np.unique(answers.model).tolist():
        asked = _expected_answers(answers, model)
        for each in sides:
            (lost, of), (other, among) = map(asked.missing, each)
            if of and among:
                shares_missing[model, each] = lost / of, other / among
                if lost + other:
                    p_values[model, each] = float(fisher(int(lost), of, int(other), among))
    return shares_missing, _adjusted_together(p_values)


def _adjusted_together(p_values: Mapping[Compared, float]) -> dict[Compared, float]:
    # adjusted for all models and comparisons (Holm), of which two that mirror each other are one
    once = {(model, frozenset(sides)): p for (model, sides), p in p_values.items()}
    adjusted = holm([*once.values()]).tolist() if once else []
    family = dict(zip(once, adjusted, strict=True))
    return {(model, sides): family[model, frozenset(sides)] for model, sides in p_values}


_FEWEST_ITEMS = _FEWEST_VARIANTS = _FEWEST_PLACEBOS = 3
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


class _Sides(NamedTuple):
    """Two sides that are compared: a group, and the groups of its reference, with their names."""

    groups: SideGroups
    names: tuple[str, str]


_Draft: TypeAlias = tuple[SwapDifference, float]
"""A comparison alone, and how far it could be from none if answers that are missing were given."""


def compare_swaps(answers: Answers, question: SwapQuestion) -> dict[str, Any]:
    """Compare names of every group with those of its reference; return fields of a `PairsAudit`."""
    models = []
    for code, model in enumerate(answers.models):
        mask = (answers.n > 0) & (answers.model == code)
        if mask.any():
            own = answers.item[mask], answers.variant[mask]
            group = answers.group_of[own[1]]
            models.append(_Cells(model, code, *own, group, answers.mean[mask], answers.n[mask]))
    sides = [*_compared_sides(answers, question)]
    edits = [g for g, placebo in enumerate(answers.placebo) if placebo]
    effects = {each.code: _effects(each.of(np.isin(each.group, edits))) for each in models}
    lacking, p_missing = _missing_answers(answers, [side.groups for side in sides])
    given = answers.mean[answers.n > 0]
    ends = (0.0, 1.0) if question.decides else (float(given.min()), float(given.max()))
    drafts = {}
    for cells, side in product(models, sides):
        key = cells.code, side.groups
        result = _compare(cells, side, effects[cells.code], question, answers.family_of)
        result = replace(result, p_missing=p_missing.get(key))
        drafts[key] = result, _reach(result, lacking.get(key, (0.0, 0.0)), ends)
    results = [result for result, _ in drafts.values()]
    return {
        "differences": tuple(_judge_differences(drafts, question)),
        "variants": tuple(v for cells in models for v in _variants(answers, cells, question)),
        "placebo": tuple(
            _placebo_spread(answers, cells, effects[cells.code])
            for cells in models
            if len(effects[cells.code])
        ),
        "answered": tuple(answered_shares(answers)),
        "notes": tuple(_swap_notes(answers, question, results, [*map(len, effects.values())])),
    }


def _compared_sides(answers: Answers, question: SwapQuestion) -> Iterator[_Sides]:
    named = answers.named
    reference = _common_reference(answers, question)
    for group in named:
        own = answers.groups[group]
        if reference is None:
            others = tuple(g for g in named if g != group)
            name = answers.groups[others[0]] if len(others) == 1 else OTHERS
            yield _Sides(((group,), others), (own, name))
        elif group != reference:
            yield _Sides(((group,), (reference,)), (own, answers.groups[reference]))


def _common_reference(answers: Answers, question: SwapQuestion) -> int | None:
    # the group that all others are compared with; None where each has all others
    name = question.named_reference
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


def _compare(
    cells: _Cells, sides: _Sides, placebo: Array, question: SwapQuestion, family_of: Index | None
) -> SwapDifference:
    both = cells.of(np.isin(cells.group, sum(sides.groups, ())))
    in_group = np.isin(both.group, sides.groups[0])
    items = np.intersect1d(both.item[in_group], both.item[~in_group])
    excluded = len(np.unique(both.item)) - len(items)
    both = both.of(np.isin(both.item, items))
    in_group = np.isin(both.group, sides.groups[0])
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
    )
    if not len(items):
        return result
    _, item = np.unique(both.item, return_inverse=True)
    _, variant = np.unique(both.variant, return_inverse=True)
    family = None
    if family_of is not None:
        families, family = np.unique(family_of[both.item], return_inverse=True)
        result = replace(result, families=len(families))
    crossed = crossed_difference(item, variant, in_group, both.y, both.n, family)
    result = replace(
        result,
        value=crossed.value,
        mean_group=crossed.mean_group,
        mean_reference=crossed.mean_reference,
    )
    if min(variants) > 1:
        return _test_names(result, crossed, both, placebo, question)
    result = replace(result, reason=SwapReason.ONE_VARIANT)
    if result.units < _FEWEST_ITEMS:
        return result
    if question.decides and family is None and variants == (1, 1) and (both.n == 1).all():
        return _add_paired_interval(result, both.y[in_group][np.argsort(item[in_group])],
                              both.y[~in_group][np.argsort(item[~in_group])])  # fmt: skip
    return _add_interval(result, crossed.items) if _varies(crossed.items, both) else result


def _add_paired_interval(result: SwapDifference, one: Array, two: Array) -> SwapDifference:
    # of one decision about each item under either name
    better, worse = int((one > two).sum()), int((one < two).sum())
    low, high = paired_difference(better, worse, len(one), critical(result.confidence))
    return replace(result, low=float(low), high=float(high), p_value=mcnemar_mid_p(better, worse))


def _reach(
    result: SwapDifference, lacking: tuple[float, float], ends: tuple[float, float]
) -> float:
    # how far the interval is from none where answers that are missing may be as the ends
    if result.low is None or result.high is None or not any(lacking):
        return 0.0
    means = np.array([result.mean_group, result.mean_reference], dtype=float)
    sides = (mean_limits(*of, ends) for of in zip(means, lacking, strict=True))
    worst = contrast_limits(*sides, ratio=False)
    interval, value = (np.array(result.low), np.array(result.high)), np.array(result.value)
    low, high = worst_case_limits(interval, worst, value, ratio=False)
    return max(-float(low), float(high))


def _add_interval(result: SwapDifference, variance: Variance) -> SwapDifference:
    assert result.value is not None
    width = half_width(variance, result.confidence)
    return replace(
        result,
        low=result.value - width,
        high=result.value + width,
        p_value=two_sided_p(result.value, variance),
        degrees_of_freedom=variance.degrees_of_freedom,
    )


def _test_names(
    result: SwapDifference,
    found: CrossedDifference,
    both: _Cells,
    placebo: Array,
    question: SwapQuestion,
) -> SwapDifference:
    confidence, margin = question.spec.confidence, question.margin
    if result.units < _FEWEST_ITEMS:
        return replace(result, reason=SwapReason.FEW_ITEMS)
    totals: dict[Literal["names", "placebo"], Variance] = {"names": found.total()}
    edits = None
    if len(placebo) >= _FEWEST_PLACEBOS:
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
        _add_interval(result, totals[decides]),
        p_value=max(two_sided_p(found.value, total) for total in totals.values()),
        p_equivalence=equivalence,
        variance=SwapVariance(
            names=found.names.value, items=found.items.value, residual=found.residual.value,
            placebo=edits, decides=decides,
        ),
        reason=SwapReason.FEW_VARIANTS if fewest_names < _FEWEST_VARIANTS else None,
    )  # fmt: skip


def _varies(variance: Variance, cells: _Cells) -> bool:
    return variance.value > (_ROUNDING * float(np.abs(cells.y).max())) ** 2


def _judge_differences(
    drafts: Mapping[Compared, _Draft], question: SwapQuestion
) -> Iterator[SwapDifference]:
    # the differences with the verdicts of one family: groups and models that have one each
    alpha = 1 - question.spec.confidence
    open_ = [(key, each) for key, (each, _) in drafts.items() if each.reason is None]
    p_values = {key: each.p_value for key, each in open_ if each.p_value is not None}
    of_margin = {key: each.p_equivalence for key, each in open_ if each.p_equivalence is not None}
    differs, equivalent = _adjusted_together(p_values), _adjusted_together(of_margin)
    for key, (result, reach) in drafts.items():
        p, p_equivalence = differs.get(key), equivalent.get(key)
        verdict, reason = SwapVerdict.CANNOT_TELL, result.reason
        # the margin comes first: then no further comparison makes one that differs equivalent
        if p_equivalence is not None and p_equivalence <= alpha / 2:
            if reach > (result.margin or 0.0):  # it might be beyond the margin
                reason = SwapReason.MISSING_ANSWERS
            else:
                verdict = SwapVerdict.EQUIVALENT
        elif p is not None and p <= alpha:
            verdict = SwapVerdict.DIFFERS
        elif reason is None:
            reason = SwapReason.IMPRECISE
        undefined = reason in (SwapReason.NO_ITEMS, SwapReason.NO_VARIATION)
        status = Status.UNDEFINED if undefined else Status.TOO_FEW
        yield replace(
            result, p_adjusted=p, p_equivalence=p_equivalence, verdict=verdict,
            status=Status.OK if reason in REASONS_WITH_ENOUGH_DATA else status, reason=reason,
        )  # fmt: skip


def _effects(cells: _Cells) -> Array:
    # the effects of variants, beside those of items; their mean is 0
    if not len(cells.y):
        return np.zeros(0)
    return name_effects(cells.item, cells.variant, cells.y)


def _variants(answers: Answers, cells: _Cells, question: SwapQuestion) -> Iterator[SwapVariant]:
    named = np.isin(cells.group, answers.named)
    size = len(answers.items)
    count = np.bincount(cells.item[named], minlength=size)
    base = np.bincount(cells.item[named], cells.y[named], size) / np.maximum(count, 1)
    answered = cells.of(count[cells.item] > 0)
    for v in np.unique(answered.variant).tolist():
        mask = answered.variant == v
        y, centred = answered.y[mask], answered.y[mask] - base[answered.item[mask]]
        width = None
        family = None if answers.family_of is None else answers.family_of[answered.item[mask]]
        if len(y if family is None else np.unique(family)) > 1:
            width = half_width(mean_variance(centred, family), question.spec.confidence)
        mean = float(centred.mean())
        group = int(answers.group_of[v])
        yield SwapVariant(
            model=cells.model,
            variant=answers.variants[v],
            group=answers.groups[group],
            placebo=answers.placebo[group],
            n=int(answered.n[mask].sum()),
            mean=float(y.mean()),
            centred=mean,
            low=None if width is None else mean - width,
            high=None if width is None else mean + width,
        )


def _placebo_spread(answers: Answers, cells: _Cells, effects: Array) -> PlaceboSpread:
    of_groups = (cells.of(cells.group == group) for group in answers.named)
    names = [_effects(own) for own in of_groups if len(own.y)]
    squares, df = sum(float(each @ each) for each in names), sum(len(each) - 1 for each in names)
    return PlaceboSpread(
        model=cells.model,
        variants=len(effects),
        spread=float(effects.std(ddof=1)) if len(effects) > 1 else None,
        spread_names=math.sqrt(squares / df) if df else None,
    )


def _swap_notes(
    answers: Answers, question: SwapQuestion, results: Iterable[SwapDifference], edits: list[int]
) -> Iterator[SwapNote]:
    reference = _common_reference(answers, question)
    if reference is not None:
        variants = np.flatnonzero(answers.group_of == reference).tolist()
        names = [answers.groups[reference], *(answers.variants[v] for v in variants)]
        if len(variants) == 1 and any(word in n.casefold() for word in _BASELINES for n in names):
            yield SwapNote(SwapNoteCode.BASELINE_REFERENCE, answers.groups[reference])
    if few := [n for n in edits if 0 < n < _FEWEST_PLACEBOS]:
        yield SwapNote(SwapNoteCode.FEW_PLACEBOS, count=min(few))
    compared = [each for each in results if each.items]
    if not all(each.complete for each in compared):
        yield SwapNote(SwapNoteCode.INCOMPLETE)
    if len(answers.unfavourable) > 1:
        yield SwapNote(SwapNoteCode.UNFAVOURABLE, listing(answers.unfavourable))
    if excluded := max((each.items_excluded for each in compared), default=0):
        yield SwapNote(SwapNoteCode.ITEMS_EXCLUDED, count=excluded)
