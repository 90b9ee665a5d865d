"""Whether the groups meet a goal at thresholds of a score: its metric there, and its limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairgauge.catalogue.cells import Array
from fairgauge.catalogue.comparisons import Combined, Contrast
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.enums import Outcome, Profile
from fairgauge.errors import Problem, SpecError
from fairgauge.inference.compared_counts import Evidence
from fairgauge.inference.interval import StatisticInterval
from fairgauge.inference.one.statistic_intervals import statistic_interval
from fairgauge.inference.two.contrast_intervals import insufficient_sides
from fairgauge.inference.two.paired_changes import StatisticChange, statistic_change
from fairgauge.inference.two.paired_tables import PairedTable, confusion
from fairgauge.measure._change_records import contrasted
from fairgauge.measure.decide import INSUFFICIENT
from fairgauge.question.rules import Rule
from fairgauge.resolve.sides import with_others
from fairgauge.stats.contrasts import fold, mover_difference, mover_ratio
from fairgauge.stats.intervals import critical

Index = NDArray[np.int64]
Mask = NDArray[np.bool_]

_ROUNDING = 1e-12
_FAR = np.finfo(float).max
_MOST_BANDS = 200
"""Bands of one rate that are tried; of a part below 1, and of the first of several rates."""
_MOST_INSIDE = 40
"""Bands of the second of several rates that are tried inside each band of the first."""
_BY_SEVERITY = (
    Outcome.NONE, Outcome.PASS, Outcome.NOT_EVALUATED, Outcome.INCONCLUSIVE, Outcome.FAIL,
)  # fmt: skip
_SEVERITY = {outcome: place for place, outcome in enumerate(_BY_SEVERITY)}


@dataclass(frozen=True, slots=True, eq=False)
class Disparities:
    """The metric of a goal and its limits, of every group (rows) and threshold (columns).

    ``compared`` states which groups are compared there: not the reference with itself. ``sizes``
    are the rows of the groups. ``why`` holds the reasons why data are insufficient, as in an audit;
    None where they suffice. ``excluded`` are groups that no choice is made for.
    """

    goal: Rule
    value: Array
    low: Array
    high: Array
    compared: Mask
    sizes: Array
    why: NDArray[np.object_]
    excluded: Mask

    @property
    def insufficient(self) -> Mask:
        """Return where the data of a comparison are insufficient."""
        return _is_stated(self.why)

    @property
    def meet(self) -> Mask:
        """Return where every group meets the goal by its value."""
        return self._inside(self.compared) & self.compared.any(axis=0)

    @property
    def may_meet(self) -> Mask:
        """Return where every group that is not excluded does, and the data of one suffice."""
        judged = self._chosen_for & ~self.insufficient
        return self._inside(self._chosen_for) & judged.any(axis=0)

    def _inside(self, groups: Mask) -> Mask:
        with np.errstate(invalid="ignore"):
            inside = (self.value >= self.goal.low) & (self.value <= self.goal.high)
        return np.asarray((inside | ~groups).all(axis=0))

    @property
    def outcomes(self) -> list[Outcome]:
        """Return what the intervals of all groups come to at every threshold."""
        worst = self._severity.max(axis=0)
        return [_BY_SEVERITY[each] if each else Outcome.NOT_EVALUATED for each in worst.tolist()]

    @property
    def passing(self) -> Mask:
        """Return where the whole interval of every group that is not excluded meets the goal."""
        severity = np.where(self._chosen_for, self._severity, _SEVERITY[Outcome.NONE])
        return np.asarray(severity.max(axis=0) == _SEVERITY[Outcome.PASS])

    @property
    def _chosen_for(self) -> Mask:
        return np.asarray(self.compared & ~self.excluded[:, None])

    @property
    def deciding(self) -> Index:
        """Return the group with the least outcome; of several, the furthest from the goal.

        Of these the one with most rows is taken: names decide nothing.
        """
        severity = self._severity
        with np.errstate(invalid="ignore"):
            beyond = np.maximum(self.goal.low - self.value, self.value - self.goal.high)
        known = np.nan_to_num(beyond, nan=-_FAR, posinf=_FAR, neginf=-_FAR)
        least = np.where(severity == severity.max(axis=0), known, -np.inf)
        furthest = least >= least.max(axis=0) - _ROUNDING
        return np.asarray(np.argmax(np.where(furthest, self.sizes[:, None], -1.0), axis=0))

    @property
    def open(self) -> Mask:
        """Return where the interval includes a limit of the goal, or is unknown."""
        return np.asarray(self._severity == _SEVERITY[Outcome.INCONCLUSIVE])

    @property
    def _severity(self) -> Index:
        with np.errstate(invalid="ignore"):
            fails = (self.high < self.goal.low) | (self.low > self.goal.high)
            passes = (self.low >= self.goal.low) & (self.high <= self.goal.high)
        severity = np.select(
            [~self.compared, self.insufficient, fails, passes],
            [
                _SEVERITY[Outcome.NONE],
                _SEVERITY[INSUFFICIENT[self.goal.insufficient]],
                _SEVERITY[Outcome.FAIL],
                _SEVERITY[Outcome.PASS],
            ],
            _SEVERITY[Outcome.INCONCLUSIVE],
        )
        return np.asarray(severity)


def _is_stated(why: NDArray[np.object_]) -> Mask:
    """Return where there is a reason."""
    return np.array([each is not None for each in why.flat], dtype=bool).reshape(why.shape)


def metric_of(goal: Rule) -> Contrast | Combined:
    """Return the metric of a goal."""
    metric = goal.definition
    if isinstance(metric, Contrast) and _is_of_decisions(metric):
        return metric
    if (
        isinstance(metric, Combined)
        and metric.how == "worst"
        and all(map(_is_of_decisions, metric.of))
    ):
        return metric
    message = (
        "must be a difference or a ratio of a rate of decisions, such as 'selection_rate.ratio "
        ">= 0.8'; of equalized odds it is the larger difference in true and false positive rate "
        "of every group, 'worst_odds <= 0.1'"
    )
    raise SpecError(Problem("rules[0]", message))


def _is_of_decisions(metric: Contrast) -> bool:
    return isinstance(metric.of, Rate) and "prediction" in metric.needs


def is_ratio(metric: Contrast | Combined) -> bool:
    return isinstance(metric, Contrast) and metric.by == "ratio"


def parts(metric: Contrast | Combined) -> tuple[Contrast, ...]:
    """Return the contrasts that the metric of a goal is made of."""
    return (metric,) if isinstance(metric, Contrast) else metric.of


def disparity(
    metric: Contrast | Combined, group: Array, reference: Array, z: Array, level: float
) -> tuple[Array, Array, Array, NDArray[np.object_]]:
    """Return the metric of the goal, its limits and why data are insufficient, from both sides.

    The larger of several differences is at most as large as the largest upper limit of any of
    them, whichever it is; its lower limit is that of all of them simultaneously.
    """
    if isinstance(metric, Contrast):
        return _contrast(metric, group, reference, z)
    stricter = z + critical(1 - (1 - level) / len(metric.of)) - critical(level)
    alone = [_contrast(part, group, reference, z) for part in metric.of]
    together = [_contrast(part, group, reference, stricter) for part in metric.of]
    why = alone[0][-1]
    for *_, of_part in alone[1:]:
        why = np.where(_is_stated(why), why, of_part)
    return (
        np.max([np.abs(value) for value, *_ in alone], axis=0),
        np.max([fold(low, high)[0] for _, low, high, _ in together], axis=0),
        np.max([fold(low, high)[1] for _, low, high, _ in alone], axis=0),
        why,
    )


def _contrast(
    metric: Contrast, group: Array, reference: Array, z: Array
) -> tuple[Array, Array, Array, NDArray[np.object_]]:
    """Return a contrast, its limits and why data are insufficient, from the cells of both sides."""
    sides = [interval_of(metric.of, cells) for cells in (group, reference)]
    first, second = sides if metric.order == "group - reference" else sides[::-1]
    made = mover_difference if metric.by == "difference" else mover_ratio
    low, high = made(
        first.estimate, *first.at(np.asarray(z)), second.estimate, *second.at(np.asarray(z))
    )
    value = contrasted(metric, sides[0].estimate, sides[1].estimate)
    return value, low, high, np.array(insufficient_sides(*sides), dtype=object)


@dataclass(frozen=True, slots=True)
class Bands:
    """Bands of rates, each from its upper end down to what a goal allows beside that.

    Attributes
    ----------
    lowest : returns the lower end of a band from its upper end.
    every : whether the band below every rate is tried, instead of some.
    """

    lowest: Callable[[float], float]
    every: bool

    def holding(
        self, rates: Sequence[Array], within: Mask, most: int = _MOST_BANDS
    ) -> Iterator[Mask]:
        """Yield the thresholds of every group in a band of each rate: (groups, cuts).

        Bands in which a group has no threshold are passed over.
        """
        if not rates:
            yield within
            return
        rate, others = rates[0], rates[1:]
        tops = np.unique(rate[within])
        if not self.every and len(tops) > most:
            tops = tops[np.unique(np.linspace(0, len(tops) - 1, most, dtype=np.int64))]
        for top in tops.tolist():
            low, high = self.lowest(top) - _ROUNDING, top + _ROUNDING
            inside = within & (rate >= low) & (rate <= high)
            if inside.any(axis=1).all():
                yield from self.holding(others, inside, _MOST_INSIDE)


def band(metric: Contrast | Combined, goal: Rule, part: float) -> Callable[[float], float] | None:
    """Return the least rate beside the greatest in a part of what a goal allows.

    None of one-sided goals.
    """
    if isinstance(metric, Combined):
        widest = goal.high
    elif metric.by == "ratio" and 0 < goal.low <= 1:
        least = 1 - part * (1 - goal.low)
        return lambda top: least * top
    elif metric.by == "difference" and goal.low <= 0 <= goal.high:
        widest = min(-goal.low, goal.high)
    else:
        return None
    return lambda top: top - part * widest


@dataclass(frozen=True, slots=True, eq=False)
class Half:
    """A random half of the rows; every array has the measures first.

    The measures are the weights, their squares and the cases, all the same without weights.

    Attributes
    ----------
    accepted : array of shape (3, groups + 1, labels, cuts): accepted at each threshold.
    total : array of shape (3, groups + 1, labels).
    """

    accepted: Array
    total: Array

    @property
    def cells(self) -> Array:
        """Return TP, FP, FN and TN: (3, groups + 1, cuts, 4)."""
        rejected = self.total[..., None] - self.accepted
        positive, negative = ([of[:, :, i] for of in (self.accepted, rejected)] for i in range(2))
        return np.stack([positive[0], negative[0], positive[1], negative[1]], axis=-1)

    def cells_at(self, cuts: Index) -> Array:
        """Return the cells with some thresholds for every group: (3, groups + 1, n, 4).

        ``cuts`` is of shape (groups + 1, n).
        """
        return np.take_along_axis(self.cells, cuts[None, :, :, None], axis=2)

    def decided(self, today: int, cuts: Index) -> Array:
        """Return the rows by label and both decisions: (3, groups + 1, n, 3, 2, 2)."""
        old = self.accepted[..., [today]]
        new = np.take_along_axis(self.accepted, cuts[None, :, None], axis=-1)
        both = np.minimum(old, new)  # decisions of one score are nested
        neither = self.total[..., None] - np.maximum(old, new)
        table = np.moveaxis(np.stack([both, old - both, new - both, neither], axis=-1), 2, 3)
        missing = np.zeros((*table.shape[:3], 1, 4))
        return np.concatenate([table, missing], axis=3).reshape(*table.shape[:3], 3, 2, 2)


def by_label(counts: Array, positive: Mask) -> Array:
    """Return counts by group, label (positive, negative) and bin; rows without a label are left."""
    known = counts[:, :-1]
    return np.stack([known[:, of].sum(axis=1) for of in (positive, ~positive)], axis=1)


def with_others_of(counts: Array) -> Array:
    """Append all rows, and all others of every group, to counts with the measures first."""
    return np.stack([with_others(each) for each in counts])


def _margins(cells: Array) -> Array:
    """Return weights by label and decision, a missing label last: (n, 3, 2)."""
    tp, fp, fn, tn = np.moveaxis(cells, -1, 0)
    zero = np.zeros_like(tp)
    rows = [np.stack([tp, fn], -1), np.stack([fp, tn], -1), np.stack([zero, zero], -1)]
    return np.stack(rows, axis=1)


def value_of(statistic: Statistic, cells: Array) -> Array:
    return statistic.value(confusion(_margins(cells), classes=False), Profile.DOCUMENTED)


def interval_of(statistic: Statistic, cells: Array) -> StatisticInterval:
    return _interval_of_margins(statistic, np.stack([_margins(cell) for cell in cells]))


def _interval_of_margins(statistic: Statistic, margins: Array) -> StatisticInterval:
    """Return the interval of a statistic of weights, their squares and cases: (3, n, 3, 2)."""
    weights, squares, cases = (confusion(margin, classes=False) for margin in margins)
    weighted = bool((margins[0] != margins[2]).any())
    return statistic_interval(statistic, Evidence(weights, cases, squares if weighted else None))


def change_of(statistic: Statistic, tables: Array) -> StatisticChange:
    """Return the change of a statistic of weights, their squares and cases: (3, n, 3, 2, 2)."""
    old, new = (_interval_of_margins(statistic, tables.sum(axis=axis)) for axis in (-1, -2))
    return statistic_change(statistic, PairedTable(*tables), old, new)
