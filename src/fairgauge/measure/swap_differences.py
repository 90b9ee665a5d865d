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
    SwapNeeds,
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
    permutation_p,
    two_sided_p,
    upper_tail,
)
from fairgauge.stats.intervals import critical
from fairgauge.stats.multiplicity import holm
from fairgauge.stats.paired import paired_difference, paired_p
from fairgauge.stats.rows_to_decide import CrossedDesign, fewest
from fairgauge.values import matches, name_of

What = Literal["names", "items", "runs"]

FEWEST_ITEMS = 3
FEWEST_VARIANTS = 3
FEWEST_PLACEBOS = 3
_BASELINES = ("baseline", "original", "none", "control", "unedited")
OTHERS = "others"
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class _Cells:
    """The cells of one model, of the means of all models, or of the changes since a release.

    Attributes
    ----------
    models : the codes of the models that they are made of.
    since, before : of changes, the release from which, and its answers; y is what is added to them.
    """

    model: str | None
    pooled: bool
    models: tuple[int, ...]
    item: Index
    variant: Index
    group: Index
    y: Array
    n: Array
    since: str | None = None
    before: Array | None = None

    def of(self, mask: Mask) -> _Cells:
        return replace(
            self, item=self.item[mask], variant=self.variant[mask], group=self.group[mask],
            y=self.y[mask], n=self.n[mask],
            before=None if self.before is None else self.before[mask],
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
    of_models = [*_by_model(answers)]
    series = question.series
    pooled = [] if series else [c for c in [_of_all_models(answers)] if c is not None]
    sides = [*_sides(answers, question)]
    every = [*of_models, *pooled]
    changes = [*_changes(of_models, question)] if series else []
    effects = {id(cells): _placebo_effects(answers, cells) for cells in (*every, *changes)}

    doubtful = doubts(answers, [side.groups for side in sides])
    span = 1.0 if question.decides else float(np.ptp(answers.mean[answers.n > 0]))

    def drafted(of: Sequence[_Cells]) -> list[_Draft]:
        return [
            _draft(cells, side, effects[id(cells)], question, span, answers.family_of, [
                doubtful[model, side.groups] for model in cells.models
                if (model, side.groups) in doubtful
            ])
            for cells in of
            for side in sides
        ]  # fmt: skip

    drafts, changed = drafted(every), drafted(changes)
    variants = tuple(v for cells in every for v in _variants(answers, cells, question))
    return {
        "releases": tuple(str(cells.model) for cells in of_models) if series else (),
        "differences": tuple(_judged(drafts, answers, question, effects)),
        "changes": tuple(_judged(changed, answers, question, effects)),
        "variants": variants,
        "groups": tuple(_group_means(variants)),
        "placebo": tuple(
            _spread(answers, cells, effects[id(cells)], variants)
            for cells in every
            if len(effects[id(cells)])
        ),
        "components": tuple(_components(answers, cells, drafts) for cells in of_models),
        "answered": tuple(answered_shares(answers)),
        "notes": tuple(_notes(answers, question, drafts, effects, alone=not (pooled or series))),
    }


# ---- cells --------------------------------------------------------------------------------------


def _by_model(answers: Answers) -> Iterator[_Cells]:
    there = answers.n > 0
    for code in answers.order:
        mask = there & (answers.model == code)
        if mask.any():
            variant = answers.variant[mask]
            yield _Cells(
                answers.models[code], False, (code,), answers.item[mask], variant,
                answers.group_of[variant], answers.mean[mask], answers.n[mask],
            )  # fmt: skip


def _changes(releases: Sequence[_Cells], question: SwapQuestion) -> Iterator[_Cells]:
    """Yield the changes of the cells that a release and the one it is compared with have.

    The same names and items answer twice, so that what they have in common is in no change.
    """
    baseline = None if question.baseline is None else name_of(question.baseline)
    earlier = next((cells for cells in releases if cells.model == baseline), None)
    for i, now in enumerate(releases):
        then = earlier if earlier is not None else releases[i - 1]
        if now is then or (earlier is None and i == 0):
            continue
        width = 1 + max(int(now.variant.max()), int(then.variant.max()))
        ours, theirs = (cells.item * width + cells.variant for cells in (now, then))
        _, at, of = np.intersect1d(ours, theirs, assume_unique=True, return_indices=True)
        both = now.of(at)
        n = 1 / (1 / now.n[at] + 1 / then.n[of])
        yield replace(
            both, models=(*now.models, *then.models), y=both.y - then.y[of], n=n,
            since=then.model, before=then.y[of],
        )  # fmt: skip


def _of_all_models(answers: Answers) -> _Cells | None:
    """Return the means over models of the cells that all models have; None of one model."""
    there = answers.n > 0
    models = len(np.unique(answers.model[there]))
    if models < 2:
        return None
    keys = answers.item[there] * len(answers.variants) + answers.variant[there]
    cells, cell, count = np.unique(keys, return_inverse=True, return_counts=True)
    mean = np.bincount(cell, answers.mean[there]) / count
    n = np.bincount(cell, answers.n[there])
    common = count == models
    if not common.any():
        return None
    item, variant = np.divmod(cells[common], len(answers.variants))
    return _Cells(
        None, True, tuple(np.unique(answers.model[there]).tolist()), item, variant,
        answers.group_of[variant], mean[common], n[common],
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
    doubtful: Sequence[LackingAnswers],
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
        pooled=cells.pooled,
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
        since=cells.since,
        p_missing=min((each.p for each in doubtful if each.p is not None), default=None),
    )
    alpha = 1 - question.spec.confidence
    lacking = sum(each.excess for each in doubtful if each.p is not None and each.p <= alpha)
    of = len(cells.models) if cells.pooled else 1
    reach = span * lacking / of
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
    if both.before is not None:
        then = crossed_difference(item, variant, in_group, both.before, both.n)
        result = replace(result, before=then.value)
    if min(variants) == 1:
        result = _of_one_variant(result, found, both, in_group, item, question)
    else:
        result = _of_names(result, found, both, in_group, (item, variant), placebo, question)
    return _Draft(cells, sides, result, reach, found)


def _of_one_variant(
    result: SwapDifference,
    found: CrossedDifference,
    both: _Cells,
    in_group: Mask,
    item: Index,
    question: SwapQuestion,
) -> SwapDifference:
    """Return the paired difference over items: group and name cannot be separated."""
    confidence = question.spec.confidence
    low = high = p_value = degrees = None
    single = result.variants_group == result.variants_reference == 1 and both.since is None
    single &= result.families is None
    if result.units < FEWEST_ITEMS:
        pass
    elif single and question.decides and both.n.max() == 1:
        decision = np.zeros((2, result.items))
        decision[in_group.astype(np.int64), item] = both.y
        better = float(np.count_nonzero(decision[1] > decision[0]))
        worse = float(np.count_nonzero(decision[1] < decision[0]))
        limits = paired_difference(better, worse, result.items, critical(confidence))
        low, high, p_value = *map(float, limits), float(paired_p(better, worse))
    elif _varies(found.items, both):
        width = half_width(found.items, confidence)
        low, high = found.value - width, found.value + width
        p_value, degrees = two_sided_p(found.value, found.items), found.items.degrees_of_freedom
    return replace(result, low=low, high=high, p_value=p_value,
                   degrees_of_freedom=degrees, reason=SwapReason.ONE_VARIANT)  # fmt: skip


def _of_names(
    result: SwapDifference,
    found: CrossedDifference,
    both: _Cells,
    in_group: Mask,
    codes: tuple[Index, Index],
    placebo: Array,
    question: SwapQuestion,
) -> SwapDifference:
    """Return the difference over names and items, of which both are samples."""
    confidence, margin = question.spec.confidence, question.margin
    means, of_group = _name_means(*codes, both.y, in_group)
    p, smallest = permutation_p(means, of_group, question.spec.seed)
    result = replace(result, p_permutation=p, p_permutation_smallest=smallest)
    if result.units < FEWEST_ITEMS:
        return replace(result, reason=SwapReason.FEW_ITEMS)
    totals: dict[Literal["names", "placebo"], Variance] = {"names": found.total()}
    edits = None
    if len(placebo) >= FEWEST_PLACEBOS:
        edits = float(placebo.var(ddof=1)) * found.of_names
        totals["placebo"] = found.total(Variance(((edits, len(placebo) - 1),)))
    if not _varies(totals["names"], both):
        return replace(result, reason=SwapReason.NO_VARIATION)
    widths = {by: half_width(total, confidence) for by, total in totals.items()}
    decides = max(widths, key=lambda by: widths[by])
    equivalence = None
    if margin is not None:
        equivalence = max(upper_tail(margin - abs(found.value), total) for total in totals.values())
    fewest_names = min(result.variants_group, result.variants_reference)
    return replace(
        result,
        low=found.value - widths[decides],
        high=found.value + widths[decides],
        p_value=max(two_sided_p(found.value, total) for total in totals.values()),
        p_equivalence=equivalence,
        degrees_of_freedom=totals[decides].degrees_of_freedom,
        variance=SwapVariance(
            names=found.names.value, items=found.items.value, residual=found.residual.value,
            placebo=edits, decides=decides,
        ),
        reason=SwapReason.FEW_VARIANTS if fewest_names < FEWEST_VARIANTS else None,
    )  # fmt: skip


def _varies(variance: Variance, cells: _Cells) -> bool:
    """Return whether a variance is more than what rounding adds: changes may be all alike."""
    size = max(float(np.abs(y).max()) for y in (cells.y, cells.before) if y is not None)
    return variance.value > (_ROUNDING * size) ** 2


def _name_means(item: Index, variant: Index, y: Array, in_group: Mask) -> tuple[Array, Mask]:
    """Return the mean of every name less those of its items, and whether it is in the group."""
    of_item = np.bincount(item, y) / np.bincount(item)
    means = np.bincount(variant, y - of_item[item]) / np.bincount(variant)
    of_group = np.zeros(len(means), dtype=np.bool_)
    of_group[variant[in_group]] = True
    return means, of_group


# ---- all comparisons together -------------------------------------------------------------------


def _judged(
    drafts: Sequence[_Draft],
    answers: Answers,
    question: SwapQuestion,
    effects: Mapping[int, Array],
) -> Iterator[SwapDifference]:
    """Yield the differences with the verdicts of one family: groups and models (Holm)."""
    alpha = 1 - question.spec.confidence
    differs = _adjusted(drafts, [each.result.p_value for each in drafts])
    equivalent = _adjusted(drafts, [each.result.p_equivalence for each in drafts])
    family = max(sum(draft.result.reason is None for draft in drafts), 1)
    for draft, p, p_equivalence in zip(drafts, differs, equivalent, strict=True):
        result, found = draft.result, draft.difference
        verdict, reason = SwapVerdict.CANNOT_TELL, result.reason
        # the margin comes first: then no further comparison makes one that differs equivalent
        if reason is None and p_equivalence is not None and p_equivalence <= alpha / 2:
            reason = draft.doubt
            verdict = SwapVerdict.EQUIVALENT if reason is None else verdict
        elif reason is None and p is not None and p <= alpha:
            verdict = SwapVerdict.DIFFERS
        elif reason is None:
            reason = SwapReason.IMPRECISE
        needed = None
        if reason is SwapReason.IMPRECISE and found is not None:
            names = result.variants_group, result.variants_reference
            edits = None
            if result.variance is not None and result.variance.placebo is not None:
                edits = result.variance.placebo, len(effects[id(draft.cells)])
            runs, level = _runs(answers, draft.cells), 1 - alpha / family
            units = result.items, result.units
            needed = needs(found, names, units, runs, edits, question.margin, level)
        yield replace(
            result, p_adjusted=p, p_equivalence=p_equivalence, verdict=verdict,
            status=_status(reason), reason=reason, needed=needed,
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
        key = (id(draft.cells), sides)
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
    """Yield every variant, beside the mean of all names over the same items."""
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
            pooled=cells.pooled,
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
    """Yield the mean of the names of every group, in every model."""
    names: dict[tuple[str | None, bool, str], list[float]] = {}
    for each in variants:
        if not each.placebo:
            names.setdefault((each.model, each.pooled, each.group), []).append(each.centred)
    for (model, pooled, group), means in names.items():
        mean = math.fsum(means) / len(means)
        yield SwapGroup(model=model, pooled=pooled, group=group, variants=len(means), centred=mean)


def _spread(
    answers: Answers, cells: _Cells, effects: Array, variants: Sequence[SwapVariant]
) -> PlaceboSpread:
    edits = [
        each.centred
        for each in variants
        if each.placebo and (each.model, each.pooled) == (cells.model, cells.pooled)
    ]
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
        pooled=cells.pooled,
        variants=len(effects),
        spread=float(effects.std(ddof=1)) if len(effects) > 1 else None,
        spread_names=math.sqrt(squares / df) if df else None,
        low=min(edits, default=None),
        high=max(edits, default=None),
    )


def _components(answers: Answers, cells: _Cells, drafts: Sequence[_Draft]) -> SwapComponents:
    """Return what the answers of a model vary by: the mean over comparisons, by moments."""
    runs, _ = _runs(answers, cells)
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


def _runs(answers: Answers, cells: _Cells) -> tuple[float, int]:
    """Return the variance of a run of cells, 0 where none is seen, and how many runs there are.

    A run of the mean over models is one of each, and so is one of a change.
    """
    variances = []
    for code in cells.models:
        mask = (answers.n > 1) & (answers.model == code)
        degrees = float((answers.n[mask] - 1).sum())
        variances.append(float(answers.squares[mask].sum()) / degrees if degrees else 0.0)
    number = len(variances)
    runs = 1 / float((1 / cells.n).mean())
    if cells.pooled:
        return math.fsum(variances) / number**2, max(round(runs / number), 1)
    return math.fsum(variances), max(round(runs * number), 1)


# ---- notes --------------------------------------------------------------------------------------


def _notes(
    answers: Answers,
    question: SwapQuestion,
    drafts: Sequence[_Draft],
    effects: Mapping[int, Array],
    *,
    alone: bool,
) -> Iterator[SwapNote]:
    """Yield the notes; ``alone`` states that models have no mean and are no series."""
    reference = _reference(answers, question)
    if reference is not None:
        variants = np.flatnonzero(answers.group_of == reference).tolist()
        names = [answers.groups[reference], *(answers.variants[v] for v in variants)]
        if len(variants) == 1 and any(_is_baseline(name) for name in names):
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
    yield from _repeated(answers, question)
    if len(answers.unfavourable) > 1:
        yield SwapNote(SwapNoteCode.UNFAVOURABLE, listing(answers.unfavourable))
    if answers.alike:
        yield SwapNote(SwapNoteCode.SPELLED_ALIKE, answers.alike[0], len(answers.alike))
    if excluded := max((each.items_excluded for each in compared), default=0):
        yield SwapNote(SwapNoteCode.ITEMS_EXCLUDED, count=excluded)
    span = float(np.ptp(answers.mean[answers.n > 0]))
    if question.margin is not None and 0 < span <= question.margin:
        yield SwapNote(SwapNoteCode.WIDE_MARGIN)
    if len(answers.models) > 1 and alone:
        yield SwapNote(SwapNoteCode.MODELS_DIFFER)


def _repeated(answers: Answers, question: SwapQuestion) -> Iterator[SwapNote]:
    """Note rows that may be in the data twice, or are of a model that answers alike each time."""
    if answers.repeated:
        yield SwapNote(SwapNoteCode.REPEATED_RUNS, question.run, answers.repeated)
    several = answers.n[answers.n > 0].min() > 1
    differ = (answers.squares > _ROUNDING * answers.n * answers.mean**2).any()
    if several and not differ and question.run is None and question.spec.count is None:
        yield SwapNote(SwapNoteCode.SAME_ANSWERS)


def _is_baseline(name: str) -> bool:
    return any(word in name.casefold() for word in _BASELINES)


_POWER = 0.8


def needs(
    found: CrossedDifference,
    names: tuple[int, int],
    items: tuple[int, int],
    runs: tuple[float, int],
    edits: tuple[float, int] | None,
    margin: float | None,
    confidence: float,
) -> SwapNeeds | None:
    """Return what would probably decide, if the values are as estimated; None where nothing would.

    Parameters
    ----------
    found : the difference and the terms of its variance.
    names, items : of both sides; and how many there are, and families of them.
    runs : their variance, and how many each item has.
    edits : the variance of irrelevant edits in place of that of names, and how many there are.
    margin : of equivalence; what is aimed at where the estimate is within it.
    """
    (runs_variance, each), per_family = runs, items[0] / items[1]
    cell = found.residual.value / found.of_cells / per_family
    of_runs = min(runs_variance / per_family, each * cell)
    design = CrossedDesign(
        names_sd=_deviation(found.names.value - found.residual.value, found.of_names),
        items_sd=_deviation(found.items.value - found.residual.value, found.of_items),
        cells_sd=_deviation(cell - of_runs / each, 1.0),
        runs_sd=math.sqrt(of_runs),
        names=names,
        items=items[1],
        runs=each,
    )
    if not design.variance > 0:
        return None
    judged = [design]  # as the comparison itself is judged: by the larger p-value of both
    if edits is not None:
        of_edits = _deviation(edits[0] - found.residual.value, found.of_names)
        judged.append(replace(design, names_sd=of_edits, placebos=edits[1]))
    equal = margin is not None and abs(found.value) < margin

    def power(planned: CrossedDesign) -> float:
        if equal:
            assert margin is not None
            return planned.power_to_equal(found.value, margin, confidence)
        return planned.power_to_differ(found.value, confidence)

    def number(what: What) -> int | None:
        """Return how many would decide, more than there are: these have not."""
        fewest_of = [fewest(one, what, lambda planned: power(planned) >= _POWER) for one in judged]
        known = [n for n in fewest_of if n is not None]
        return max(*known, design.number_of(what) + 1) if len(known) == len(judged) else None

    whats: tuple[What, ...] = ("names", "items", "runs")
    wanted = {what: number(what) for what in whats}
    answers: dict[What, int] = {
        what: design.with_number(what, n).answers for what, n in wanted.items() if n is not None
    }
    if not answers:
        return None
    cheapest: What = min(answers, key=lambda what: answers[what])
    return SwapNeeds(
        names=wanted["names"], items=wanted["items"], runs=wanted["runs"], cheapest=cheapest,
        runs_known=runs_variance > 0,
    )  # fmt: skip


def _deviation(variance: float, times: float) -> float:
    return math.sqrt(max(variance, 0.0) / times)
