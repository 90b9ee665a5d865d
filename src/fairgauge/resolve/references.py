"""References: what every group is compared with, resolved once for counts and for rows alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fairgauge.catalogue.cells import BOTH, LABEL, PREDICTION, Array, ConfusionCounts, Need, Scores
from fairgauge.catalogue.comparisons import Contrast, Metric
from fairgauge.catalogue.directions import favours_the_least
from fairgauge.catalogue.lookup import find_rate
from fairgauge.catalogue.statistics import Statistic
from fairgauge.cube.parts import RANGE
from fairgauge.cube.plan import WEIGHTS
from fairgauge.enums import Favourable, Profile, ReferenceKind, ReferenceRule, Task
from fairgauge.identity import MissingValue
from fairgauge.question.specification import Spec
from fairgauge.reasons import FEWEST_ROWS
from fairgauge.resolve.group_counts import GroupCounts, Histogram, as_reference
from fairgauge.resolve.outcomes import OutcomeMasks
from fairgauge.results.scopes import Reference
from fairgauge.start.records import dataclass, replace
from fairgauge.stats.arrays import Index, Mask

Measure = Literal["n", "w", "w2", "w3", "low", "high", "noise"]
"""What is counted: cases, their weights, the squares or cubes of their weights, the least or the
most cases that protected counts allow, or the variance of their rounding."""

COUNTS = ("rows", "cases", "n", "open", *WEIGHTS, *RANGE)
SCORES = ("s", "s2", "ln_s", "ln_1s")


def side_of_all(groups: int) -> int:
    """Return the number of the side of all rows: groups come first, then values of no group."""
    return groups + 1


def side_of_others(groups: int) -> int:
    """Return the number of the side of all others of the first group; the next groups' follow."""
    return side_of_all(groups) + 1


def sides_of_unknown(counted: GroupCounts) -> tuple[Mask, Mask]:
    """Return which sides the kinds of rows without a group may be of, and which they are of.

    The shapes are (kinds, sides). They are of all rows, and of all others of a group that the
    values which they have rule out, unless they may be of a group that is excluded.
    """
    may = np.pad(counted.crossing.fits, ((0, 0), (0, 1)), constant_values=True)
    every = np.ones((len(may), 1), dtype=bool)
    others = may | counted.crossing.excludes
    return np.hstack([may, ~every, others]), np.hstack([may & False, every, ~others])


class CountsBySide:
    """Picks the `ConfusionCounts` of the sides of comparisons, for one measure and one outcome.

    Sides are picked by number: groups come first, then the known values of no group, then all rows
    (`whole`), then all others of every group (``others + group``). The counts may hold their slots
    several times over, one copy after another.
    """

    def __init__(
        self, counted: GroupCounts, outcome: OutcomeMasks, profile: Profile,
        per_class: Sequence[OutcomeMasks] = (), measure: Measure = "n",
    ) -> None:  # fmt: skip
        counts = counted.counts[measure]
        self.whole = side_of_all(len(counted.groups))
        self.others = side_of_others(len(counted.groups))
        self._slots = 1 + len(counted.strata)
        self._centre = counted.centre
        self._counts = add_others(counts)
        self._by_class: dict[Need, Array] = {
            "label": self._counts.sum(axis=3)[:, :, :-1],
            "prediction": self._counts.sum(axis=2)[:, :, :-1],
        }
        self._outcome, self._profile = outcome, profile
        self._states = _states(self._counts, outcome, profile)
        self._open = counted.counts.get("open")
        # a column that is not given has the place of missing values alone
        known = [slice(-1 if size > 1 else None) for size in counts.shape[2:]]
        sums = _moments_by_name(counted.counts, measure)
        self._moments = self._sums_over(sums, *known)
        self._of_columns = {}
        if sums and min(counts.shape[2:]) > 1:
            by_label = self._sums_over(sums, known[0], slice(None))
            by_prediction = self._sums_over(sums, slice(None), known[1])
            self._of_columns = {LABEL: by_label, PREDICTION: by_prediction}
        self._scores = scores_of_sides(counted.histogram, measure, outcome)
        self._per_class = [CountsBySide(counted, r, profile, (), measure) for r in per_class]
        self._classes = per_class
        self.of_classes = bool(per_class)

    def _sums_over(
        self, sums: Mapping[str, Array], labels: slice, predictions: slice
    ) -> dict[str, Array]:
        at = (..., labels, predictions)
        found = {name: add_others(each[at].sum(axis=(2, 3))) for name, each in sums.items()}
        return {"n": self._counts[at].sum(axis=(2, 3)), **found}

    def pick(
        self, which: Index, slots: Index, *, pooled: bool = False, overall: bool = False
    ) -> ConfusionCounts:
        """Return sides of comparisons in slots (0: margin); ``overall`` adds all rows of these."""
        states = self._states[which, slots]
        joint = None
        strata: dict[Need, Array] = {}
        if pooled:
            sides, _, *states_of = self._states.shape
            copies = self._states.reshape(sides, -1, self._slots, *states_of)
            within = copies[which, slots // self._slots, 1:]
            strata["label"] = within.sum(axis=3)[:, :, :2]
            strata["prediction"] = within.sum(axis=2)[:, :, :2]
        if self.of_classes:
            labels, predictions = (
                np.stack([getattr(each, of) for each in self._classes]).astype(float)
                for of in ("labels", "predictions")
            )
            raw = self._counts[which, slots]
            joint = np.asarray(labels @ raw[:, :-1, :-1] @ predictions.T)
        return ConfusionCounts(
            size=states.sum(axis=(1, 2)),
            cells=cells_of_states(states),
            classes={column: each[which, slots] for column, each in self._by_class.items()},
            strata=strata,
            per_class=tuple(each.pick(which, slots) for each in self._per_class),
            moments={name: sums[which, slots] for name, sums in self._moments.items()},
            column_moments={
                column: {name: sums[which, slots] for name, sums in of.items()}
                for column, of in self._of_columns.items()
            },
            scores=self._scores.of(which) if self._scores else None,
            joint=joint, centre=self._centre,
            overall=self.pick(np.full_like(which, self.whole), slots) if overall else None,
        )  # fmt: skip

    def states(self, which: Index, slots: Index | int = 0, *, open_missing: bool) -> Array:
        """Return the rows of sides by label and prediction: positive, negative or missing.

        With ``open_missing``, those are missing that may be no decision, and both of people whose
        decision an unknown one could change.
        """
        if not open_missing or self._profile.as_smclarify:
            return np.array(self._states[which, slots])
        states = np.array(self._possible[which, slots])
        if self._open is not None:
            every = _states(add_others(self._open), self._outcome, self._profile, possible=True)
            open_ = every[which, slots]
            states -= open_
            states[:, -1, -1] += open_.sum(axis=(1, 2))
        return states

    @cached_property
    def _possible(self) -> Array:
        if self._outcome.open_labels is None and self._outcome.open_predictions is None:
            return self._states
        return _states(self._counts, self._outcome, self._profile, possible=True)


def cells_of_states(states: Array) -> dict[frozenset[Need], Array]:
    """Return confusion cells of rows by label and prediction: positive, negative or missing."""
    label, prediction = states.sum(axis=2), states.sum(axis=1)
    zero = np.zeros(len(states))
    return {
        BOTH: states[:, :2, :2].transpose(0, 2, 1).reshape(-1, 4),
        LABEL: np.stack([label[:, 0], zero, zero, label[:, 1]], axis=-1),
        PREDICTION: np.stack([prediction[:, 0], zero, zero, prediction[:, 1]], axis=-1),
    }


def _moments_by_name(counts: Mapping[str, Array], measure: Measure) -> dict[str, Array]:
    moments = {name: sums for name, sums in counts.items() if name not in COUNTS}
    suffixes = tuple(f"_{name}" for name in WEIGHTS[1:])
    own = f"_{measure}"
    if own in suffixes:
        return {n.removesuffix(own): sums for n, sums in moments.items() if n.endswith(own)}
    return {n: sums for n, sums in moments.items() if not n.endswith(suffixes)}


def add_others(counts: Array) -> Array:
    """Append the whole, and for every group the sum of all others."""
    # The others are added up, not subtracted from the whole, so that weights leave no rounding.
    zero = np.zeros_like(counts[:1])
    before = np.concatenate([zero, np.cumsum(counts, axis=0)])
    after = np.concatenate([np.cumsum(counts[::-1], axis=0)[::-1], zero])
    rest = before[:-1] + after[1:]
    return np.concatenate([counts, before[-1:], rest])


def scores_of_sides(
    histogram: Histogram | None, measure: str, outcome: OutcomeMasks
) -> Scores | None:
    """Return the score histograms of every side, by label; None without scores."""
    if histogram is None:
        return None
    own = [add_others(histogram.counts[name].sum(axis=(1, 2))) for name in ("s", "s2")]
    if outcome.turned is not None:
        histogram = histogram.turned(outcome.turned)

    def by_label(each: Array) -> Array:
        ends = outcome.labels, ~outcome.labels
        return np.stack([each[:, :-1][:, end].sum(axis=1) for end in ends], axis=1)

    # labels and bins are summed before sides, of which there are twice as many as groups
    sums = (
        name for name in SCORES if name in histogram.counts
    )  # logarithms of probabilities alone
    moments = {m: add_others(by_label(histogram.counts[m].sum(axis=2))) for m in sums}
    turned = [add_others(histogram.counts[name].sum(axis=(1, 2))) for name in ("s", "s2")]
    total, squares = own if outcome.lowest else turned  # a mean place is one of places
    counts = histogram.counts[measure]
    return Scores(
        low=histogram.low, high=histogram.high, centre=histogram.centre,
        counts=add_others(by_label(counts)), every=add_others(counts.sum(axis=1)),
        sums=add_others(by_label(histogram.counts["s"])), moments=moments, total=total,
        squares=squares,
    )  # fmt: skip


def _states(
    counts: Array, outcome: OutcomeMasks, profile: Profile, *, possible: bool = False
) -> Array:
    states = counts
    for axis, positive, undecided in (
        (2, outcome.labels, outcome.open_labels),
        (3, outcome.predictions, outcome.open_predictions),
    ):
        known = np.take(states, range(states.shape[axis] - 1), axis=axis)
        missing = np.take(states, -1, axis=axis)
        negative = ~positive
        if possible and undecided is not None:
            negative = negative & ~undecided
            missing = missing + np.compress(undecided, known, axis=axis).sum(axis=axis)
        yes = np.compress(positive, known, axis=axis).sum(axis=axis)
        no = np.compress(negative, known, axis=axis).sum(axis=axis)
        if profile.as_smclarify:
            no, missing = no + missing, np.zeros_like(missing)
        states = np.stack([yes, no, missing], axis=axis)
    return states


Values = NDArray[np.float64]

SAME_VALUE = 1e-12


@dataclass(frozen=True, slots=True)
class Tie:
    """Groups with the same most favourable value, or of the same largest size."""

    chosen: str  # the reference: of most rows, and of several of these the first by name
    others: tuple[str, ...]  # the groups that are tied with it, the largest first
    rate: str | None  # the name of the rate that is the same; None where it is the size
    value: float  # the value of the rate, or the number of rows
    by_rows: bool  # whether the number of rows decides; else the name does
    least: bool  # whether the least value is the best


@dataclass(frozen=True, slots=True, eq=False)
class References:
    """What every group of a feature is compared with."""

    sides: Index  # array of shape (groups,): the number of the side, as `CountsBySide` counts them
    each: tuple[Reference, ...]  # the reference of every group
    # the groups of which the reference was chosen, where several were equally admissible
    tie: Tie | None = None

    def rows(self, group: int, codes: Index) -> Mask:
        """Return which rows are the reference of a group, from the group code of every row."""
        kind = self.each[group].kind
        if kind is ReferenceKind.OVERALL:
            return np.asarray(codes >= -1)
        if kind is ReferenceKind.OTHERS:
            return np.asarray((codes >= -1) & (codes != group))
        return np.asarray(codes == self.sides[group])


def resolve_references(
    counts: GroupCounts, sides: CountsBySide, metric: Metric | None, spec: Spec,
    by_rows: Values | None = None,
) -> References:  # fmt: skip
    """Return the reference of every group under a metric, of one outcome.

    ``by_rows``: the metric's own number of every group, such as its median, that rows alone give:
        it is what the best group is the best by.
    """

    def values_of(statistic: Statistic) -> Values:
        groups = np.arange(len(counts.groups))
        return statistic.value(sides.pick(groups, np.zeros_like(groups)), spec.profile)[:, None]

    return references_at(counts, metric, spec, values_of, 1, by_rows)[0]


def references_at(
    counts: GroupCounts, metric: Metric | None, spec: Spec,
    values_of: Callable[[Statistic], Values], places: int, by_rows: Values | None = None,
) -> tuple[References, ...]:  # fmt: skip
    """Return the references at each of several places, such as the thresholds of a score.

    A named value is the reference of the features that have it, and all others elsewhere. ``best``
    is the admissible group that the metric's statistic favours at the place; for a metric without
    one, that of the selection rate, or without predictions of the base rate. Where nothing is
    favoured, it is the largest admissible group. Ties are broken by the number of rows, then by the
    name. What the first place is tied with is stated.

    ``values_of``: returns a statistic of every group at every place; shape (groups, places).
    """
    rule, size = spec.reference, len(counts.groups)
    groups = np.arange(size)
    if isinstance(rule, tuple) and (named := counts.named_reference) is not None:
        return (References(np.full(size, named), (as_reference(counts, named),) * size),) * places
    if isinstance(rule, tuple) or rule is ReferenceRule.OTHERS:
        others = Reference(ReferenceKind.OTHERS)
        return (References(side_of_others(size) + groups, (others,) * size),) * places
    if rule is ReferenceRule.OVERALL or not size:
        overall = Reference(ReferenceKind.OVERALL)
        return (References(np.full(size, side_of_all(size)), (overall,) * size),) * places
    # Of several the one with most rows is taken, so that its confidence interval is the narrowest;
    # of several of these the first by name. Values are equal up to rounding errors.
    sizes = group_sizes(counts)
    large, people = large_groups(counts, spec), groups_of_known_category(counts)
    by_size = np.repeat(sizes[:, None], places, axis=1)
    best = rule is ReferenceRule.BEST
    rate = _favouring(metric, counts) if best and by_rows is None else None
    values = by_size if rate is None else values_of(rate)
    least = rate is not None and favours_the_least(rate, spec.favourable)
    if best and by_rows is not None:  # amounts, or places in a ranking for a positive outcome
        amounts = spec.task is Task.REGRESSION
        least = spec.favourable is (Favourable.LOWER if amounts else Favourable.NEGATIVE)
        values = by_rows[:, None]
    sign = -1.0 if least else 1.0
    chosen, tied, unknown = choose_groups(sizes, large, people, counts.groups, sign * values)
    kind = ReferenceKind.BEST if best else ReferenceKind.LARGEST
    first = int(chosen[0])
    of_group = {
        group: References(np.full(size, group), (as_reference(counts, group, kind),) * size)
        for group in set(chosen.tolist())
    }
    references = tuple(of_group[group] for group in chosen.tolist())
    alike = [group for group in np.flatnonzero(tied[:, 0]).tolist() if group != first]
    if not alike:
        return references
    alike.sort(key=lambda group: (-sizes[group], counts.groups[group]))
    if unknown[0]:
        rate, values = None, by_size
    tie = Tie(
        counts.groups[first], tuple(counts.groups[group] for group in alike),
        None if rate is None else rate.name, float(values[first, 0]),
        by_rows=bool(sizes[first] > sizes[alike[0]]), least=least,
    )  # fmt: skip
    return (replace(references[0], tie=tie), *references[1:])


def choose_groups(
    sizes: Values, large: Mask, people: Mask, names: Sequence[str], values: Values
) -> tuple[Index, Mask, Mask]:
    """Return the group of the largest value at each place, the tied ones, and where none is known.

    Admissible are large groups of people of known category. Where none of them has a value, the
    largest is chosen; where there is none, one of the largest, of known category if any is.
    """
    admissible = large & people
    if not admissible.any():
        able = np.where(people | ~people.any(), sizes, -1.0)
        admissible = able == able.max(initial=0.0)
    unknown = np.asarray(np.isnan(values[admissible]).all(axis=0))
    favoured = np.where(admissible[:, None], np.where(unknown, sizes[:, None], values), np.nan)
    tied = np.isclose(favoured, np.nanmax(favoured, axis=0), rtol=SAME_VALUE, atol=SAME_VALUE)
    by_rows = sorted(range(len(sizes)), key=lambda group: (-sizes[group], names[group]))
    return np.where(tied, np.argsort(by_rows)[:, None], len(sizes)).argmin(axis=0), tied, unknown


def group_sizes(counts: GroupCounts) -> Values:
    """Return the rows of every group over all strata, by weight where weights differ."""
    rows = counts.counts["w" if counts.unequally_weighted else "n"]
    return np.asarray(rows[:-1, 0].sum(axis=(1, 2)))


def admissible_groups(counts: GroupCounts, spec: Spec) -> Mask:
    """Return which groups may be chosen as the reference: large ones, of known category."""
    return large_groups(counts, spec) & groups_of_known_category(counts)


def groups_of_known_category(counts: GroupCounts) -> Mask:
    """Return which groups are of people whose category is known in every column."""
    groups = ([isinstance(part, MissingValue) for part in each.parts] for each in counts.group_ids)
    return ~np.fromiter(map(any, groups), dtype=bool)


def large_groups(counts: GroupCounts, spec: Spec) -> Mask:
    """Return which groups have ``min_n`` rows (by default `FEWEST_ROWS`) and ``min_share``."""
    return np.asarray(counts.cases >= _minimum_reference_rows(counts, spec))


def _minimum_reference_rows(counts: GroupCounts, spec: Spec) -> float:
    minimum = FEWEST_ROWS if spec.min_n is None else spec.min_n
    return max(minimum, (spec.min_share or 0.0) * counts.every_case)


@dataclass(frozen=True, slots=True, eq=False)
class Rivals:
    """The groups that could be the reference that the data choose, were more known of some rows."""

    best: bool  # whether the best is chosen; else the largest
    favourable: Favourable | None  # what makes a group the best
    large: Mask  # which are large enough already
    # how many rows of no known group each needs to be the reference, and how many where its own
    # rows without an outcome have one; inf of people of unknown category
    needed: tuple[Values, Values]


def rivals(counts: GroupCounts, spec: Spec) -> Rivals | None:
    """Return which groups could be the reference; None where the data do not choose it."""
    if spec.reference not in (ReferenceRule.BEST, ReferenceRule.LARGEST):
        return None
    best = spec.reference is ReferenceRule.BEST
    large, people = large_groups(counts, spec), groups_of_known_category(counts)
    able = people | ~people.any()
    ahead = np.zeros(len(able))
    if not best:
        sizes = group_sizes(counts)
        held = large & people if (large & people).any() else able
        ahead = sizes[held].max(initial=0.0) - sizes
        if counts.unequally_weighted:
            unknown = counts.unknown["w"][:, 0].sum(axis=(1, 2))
            # the weights of the rows that it needs are not known
            ahead = np.where(ahead <= unknown @ counts.crossing.fits, 0.0, np.inf)
    every = counts.counts["n"][:-1, 0].sum(axis=(1, 2))
    # where no group is large enough, the largest is the reference
    fewest = min(_minimum_reference_rows(counts, spec), float(counts.cases[able].max(initial=0.0)))
    alone, decided = (
        np.where(able, np.maximum(np.maximum(fewest - cases, ahead), 0.0), np.inf)
        for cases in (counts.cases, every)
    )
    return Rivals(best, spec.favourable, large, (alone, decided))


def _favouring(metric: Metric | None, counts: GroupCounts) -> Statistic | None:
    if isinstance(metric, Contrast):
        return metric.of
    if metric is None or not (counts.has_labels or counts.has_predictions):
        return None
    of_labels = not counts.has_predictions or metric.needs == {"label"}
    if metric.tasks == {Task.REGRESSION}:
        return find_rate("mean_label" if of_labels else "mean_prediction")
    return find_rate("base_rate" if of_labels else "selection_rate")
