"""The counts of both sides of many comparisons, picked out of the counts of a feature."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from fairgauge.catalogue.cells import BOTH, LABEL, PREDICTION, Array, ConfusionCounts, Need, Scores
from fairgauge.cube.cube import RANGE
from fairgauge.cube.plan import WEIGHTS
from fairgauge.enums import Profile, ReferenceKind
from fairgauge.resolve.group_counts import GroupCounts, Histogram
from fairgauge.resolve.outcomes import OutcomeMasks
from fairgauge.results.estimates import ScoreCounts
from fairgauge.stats.arrays import Index, Mask

Measure = Literal["n", "w", "w2", "w3", "low", "high"]
"""What is counted: cases, their weights, the squares or cubes of their weights, or the least or the
most cases that protected counts allow."""

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
        self,
        counted: GroupCounts,
        outcome: OutcomeMasks,
        profile: Profile,
        per_class: Sequence[OutcomeMasks] = (),
        measure: Measure = "n",
    ) -> None:
        counts = counted.counts[measure]
        self.whole = side_of_all(len(counted.groups))
        self.others = side_of_others(len(counted.groups))
        self._slots = 1 + len(counted.strata)
        self._centre = counted.centre
        self._counts = with_others(counts)
        self._states = _states(self._counts, outcome, profile)
        self._open = None
        if "open" in counted.counts and not profile.rules.missing_outcome_is_negative:
            self._open = _states(with_others(counted.counts["open"]), outcome, profile)
        # a column that is not given has the place of missing values alone
        known = [slice(-1 if size > 1 else None) for size in counts.shape[2:]]
        sums = _moments(counted.counts, measure)
        self._moments = self._sums_over(sums, *known)
        self._of_columns = {}
        if sums and min(counts.shape[2:]) > 1:
            self._of_columns = {
                LABEL: self._sums_over(sums, known[0], slice(None)),
                PREDICTION: self._sums_over(sums, slice(None), known[1]),
            }
        self._scores = Histograms(counted.histogram, measure, outcome)
        self._per_class = [CountsBySide(counted, r, profile, (), measure) for r in per_class]
        self._classes = per_class

    def _sums_over(
        self, sums: Mapping[str, Array], labels: slice, predictions: slice
    ) -> dict[str, Array]:
        at = (..., labels, predictions)
        found = {name: with_others(each[at].sum(axis=(2, 3))) for name, each in sums.items()}
        return {"n": self._counts[at].sum(axis=(2, 3)), **found}

    @property
    def of_classes(self) -> bool:
        """Return whether the counts are of all classes together."""
        return bool(self._classes)

    def pick(
        self, which: Index, slots: Index, *, pooled: bool = False, overall: bool = False
    ) -> ConfusionCounts:
        """Return one side of comparisons: the numbers of the sides, and their slots (0: margin).

        With ``overall``, the counts of all rows of the slots too.
        """
        states = self._states[which, slots]
        raw = self._counts[which, slots]
        return ConfusionCounts(
            size=states.sum(axis=(1, 2)),
            cells=cells_of_states(states),
            classes={"label": raw.sum(axis=2)[:, :-1], "prediction": raw.sum(axis=1)[:, :-1]},
            strata=self._by_stratum(which, slots) if pooled else {},
            per_class=tuple(each.pick(which, slots) for each in self._per_class),
            moments={name: sums[which, slots] for name, sums in self._moments.items()},
            centre=self._centre,
            column_moments={
                column: {name: sums[which, slots] for name, sums in of.items()}
                for column, of in self._of_columns.items()
            },
            scores=self._scores.pick(which),
            joint=self._joint(raw) if self._classes else None,
            overall=self.pick(np.full_like(which, self.whole), slots) if overall else None,
        )

    def states(self, which: Index, slots: Index | int = 0, *, open_missing: bool) -> Array:
        """Return the rows of sides by label and prediction: positive, negative or missing.

        With ``open_missing``, both are missing of people whose decision an unknown one could
        change.
        """
        states = np.array(self._states[which, slots])
        if open_missing and self._open is not None:
            open_ = self._open[which, slots]
            states -= open_
            states[:, -1, -1] += open_.sum(axis=(1, 2))
        return states

    def _joint(self, raw: Array) -> Array:
        labels, predictions = (
            np.stack([getattr(each, of) for each in self._classes]).astype(float)
            for of in ("labels", "predictions")
        )
        return np.asarray(labels @ raw[:, :-1, :-1] @ predictions.T)

    def _by_stratum(self, which: Index, slots: Index) -> dict[Need, Array]:
        sides, _, *states_of = self._states.shape
        copies = self._states.reshape(sides, -1, self._slots, *states_of)
        states = copies[which, slots // self._slots, 1:]
        return {"label": states.sum(axis=3)[:, :, :2], "prediction": states.sum(axis=2)[:, :, :2]}


def cells_of_states(states: Array) -> dict[frozenset[Need], Array]:
    """Return confusion cells of rows by label and prediction, each positive, negative or missing.

    Where no prediction is missing, it may have two values alone.
    """
    label, prediction = states.sum(axis=2), states.sum(axis=1)
    zero = np.zeros(len(states))
    return {
        BOTH: states[:, :2, :2].transpose(0, 2, 1).reshape(-1, 4),
        LABEL: np.stack([label[:, 0], zero, zero, label[:, 1]], axis=-1),
        PREDICTION: np.stack([prediction[:, 0], zero, zero, prediction[:, 1]], axis=-1),
    }


def _moments(counts: Mapping[str, Array], measure: Measure) -> dict[str, Array]:
    moments = {name: sums for name, sums in counts.items() if name not in COUNTS}
    suffixes = tuple(f"_{name}" for name in WEIGHTS[1:])
    own = f"_{measure}"
    if own in suffixes:
        return {n.removesuffix(own): sums for n, sums in moments.items() if n.endswith(own)}
    return {n: sums for n, sums in moments.items() if not n.endswith(suffixes)}


def with_others(counts: Array) -> Array:
    """Append the whole, and for every group the sum of all others.

    The others are added up, not subtracted from the whole, so that weights leave no rounding.
    """
    zero = np.zeros_like(counts[:1])
    before = np.concatenate([zero, np.cumsum(counts, axis=0)])
    after = np.concatenate([np.cumsum(counts[::-1], axis=0)[::-1], zero])
    rest = before[:-1] + after[1:]
    return np.concatenate([counts, before[-1:], rest])


class Histograms:
    """The score histograms of every side, by label."""

    def __init__(self, histogram: Histogram | None, measure: str, outcome: OutcomeMasks) -> None:
        if histogram is not None and outcome.turned is not None:
            histogram = histogram.turned(outcome.turned)
        self._histogram = histogram
        if histogram is None:
            return
        counts = {m: with_others(c) for m, c in histogram.counts.items() if m in (measure, *SCORES)}
        self._centre = histogram.centre
        self._every = counts[measure].sum(axis=1)
        self._total, self._squares = (counts[m].sum(axis=(1, 2)) for m in ("s", "s2"))
        by_label = {m: _by_label(c, outcome.labels) for m, c in counts.items()}
        self._counts, self._sums = by_label[measure], by_label["s"]
        self._moments = {m: c.sum(axis=2) for m, c in by_label.items() if m in SCORES}

    def pick(self, which: Index) -> Scores | None:
        """Return the histograms of some sides; None without scores."""
        if self._histogram is None:
            return None
        return Scores(
            low=self._histogram.low,
            high=self._histogram.high,
            centre=self._centre,
            counts=self._counts[which],
            every=self._every[which],
            sums=self._sums[which],
            moments={m: each[which] for m, each in self._moments.items()},
            total=self._total[which],
            squares=self._squares[which],
        )


def _by_label(counts: Array, positive: Mask) -> Array:
    """Sum the positive and the negative labels; shape (sides, 2, B)."""
    known = counts[:, :-1]
    stacked: Array = np.stack([known[:, positive].sum(axis=1), known[:, ~positive].sum(axis=1)], 1)
    return stacked


def _states(counts: Array, outcome: OutcomeMasks, profile: Profile) -> Array:
    states = counts
    for axis, positive in ((2, outcome.labels), (3, outcome.predictions)):
        known = np.take(states, range(states.shape[axis] - 1), axis=axis)
        yes = np.compress(positive, known, axis=axis).sum(axis=axis)
        no = np.compress(~positive, known, axis=axis).sum(axis=axis)
        missing = np.take(states, -1, axis=axis)
        if profile.rules.missing_outcome_is_negative:
            no, missing = no + missing, np.zeros_like(missing)
        states = np.stack([yes, no, missing], axis=axis)
    return states


def score_counts(counted: GroupCounts, outcome: OutcomeMasks) -> Iterator[ScoreCounts]:
    """Return the scores of every group in bins, leaving out the bins that it does not have.

    Known values of no group come last, as the others, where there are any.
    """
    if counted.histogram is None:
        return
    histogram = counted.histogram
    of, sums = (
        counted.in_given_weights(histogram.counts[name])
        for name in ("w" if counted.weighted else "n", "s")
    )
    by_label = _by_label(of, outcome.labels)
    total = _by_label(sums, outcome.labels).sum(axis=1)
    kinds: list[ReferenceKind | None] = [None] * len(counted.groups)
    kinds += [ReferenceKind.OTHERS] if counted.has_others else []
    names = (*counted.groups, str(ReferenceKind.OTHERS))
    for i, kind in enumerate(kinds):
        held = of[i].sum(axis=0) > 0
        yield ScoreCounts(
            feature=counted.feature,
            group=names[i],
            reference_kind=kind,
            low=_listed(histogram.low[held]),
            high=_listed(histogram.high[held]),
            positive=_listed(by_label[i, 0, held]),
            negative=_listed(by_label[i, 1, held]),
            unlabelled=_listed(of[i, -1, held]),
            total=_listed(total[i, held]),
            turned=outcome.turned,
        )


def _listed(numbers: Array) -> tuple[float, ...]:
    return tuple(int(n) if n == int(n) else n for n in numbers.tolist())
