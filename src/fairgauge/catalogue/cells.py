"""Sums of confusion cells, ``TP + FN`` as a value, and arithmetic by the rules of profiles.

One side of many comparisons at once, the groups or their references, is a value too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from operator import add
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairgauge.enums import Profile
from fairgauge.start.records import dataclass, field, replace
from fairgauge.stats.arrays import Index, Mask, quiet

Array = NDArray[np.float64]

Need = Literal["label", "prediction", "score"]

LABEL: frozenset[Need] = frozenset({"label"})
PREDICTION: frozenset[Need] = frozenset({"prediction"})
SCORE: frozenset[Need] = frozenset({"score"})
BOTH = LABEL | PREDICTION

_NAMES = ("TP", "FP", "FN", "TN")


class Cells(NamedTuple):
    """A sum of confusion cells with whole coefficients; build it from TP, FP, FN and TN."""

    tp: int = 0
    fp: int = 0
    fn: int = 0
    tn: int = 0

    def __add__(self, other: Cells) -> Cells:  # type: ignore[override]
        return Cells(*map(add, self, other))

    def __rmul__(self, times: int) -> Cells:  # type: ignore[override]
        return Cells(*[times * each for each in self])

    def __mul__(self, times: int) -> Cells:  # type: ignore[override]
        return times * self

    def __str__(self) -> str:
        """Return the formula: ``TP + FN``, ``2 TP + FP + FN``, ``n``."""
        if self == ALL:
            return "n"
        terms = zip(self, _NAMES, strict=True)
        return " + ".join(name if k == 1 else f"{k} {name}" for k, name in terms if k)

    @property
    def described(self) -> str:
        """Return what the sum counts, in words."""
        return _WORDS.get(self, str(self))

    @property
    def needs(self) -> frozenset[Need]:
        """Return which columns must be known to count the sum."""
        if self == ALL:
            return frozenset()
        if self.tp == self.fn and self.fp == self.tn:
            return LABEL
        if self.tp == self.fp and self.fn == self.tn:
            return PREDICTION
        return BOTH

    def within(self, other: Cells) -> bool:
        """Return whether every row counted here is counted once in ``other``: a share of it."""
        return all(a in (0, 1) and b in (0, 1) and a <= b for a, b in zip(self, other, strict=True))

    def disjoint(self, other: Cells) -> bool:
        """Return whether no row is counted in both sums, and none twice."""
        return all(a + b <= 1 for a, b in zip(self, other, strict=True))

    def count(self, counts: Array) -> Array:  # type: ignore[override]
        """Sum the cells of ``counts`` (array of shape (..., 4): TP, FP, FN, TN)."""
        total: Array | None = None
        for i, k in enumerate(self):
            if k:
                part = counts[..., i] if k == 1 else k * counts[..., i]
                total = part if total is None else total + part
        return np.zeros(counts.shape[:-1]) if total is None else total


TP = Cells(tp=1)
FP = Cells(fp=1)
FN = Cells(fn=1)
TN = Cells(tn=1)


@cache
def needs_of(sums: tuple[Cells, ...]) -> frozenset[Need]:
    """Return which columns must be known to count several sums over the same rows."""
    return frozenset().union(*(cells.needs for cells in sums))


ALL = TP + FP + FN + TN


def rows_in_any(sums: tuple[Cells, ...], counts: Array) -> Array:
    """Count each row once that stands in any of some sums."""
    if len(sums) == 1:
        return sums[0].count(counts)
    inside = [any(of_cell) for of_cell in zip(*sums, strict=True)]
    return np.asarray(counts[..., inside].sum(axis=-1))


_WORDS = {
    TP: "true positives", FP: "false positives", FN: "false negatives", TN: "true negatives",
    TP + FN: "observed positives", TN + FP: "observed negatives",
    TP + FP: "predicted positives", TN + FN: "predicted negatives",
    TP + TN: "correct predictions", FP + FN: "incorrect predictions", ALL: "rows",
}  # fmt: skip


# numbers that are no further apart, relative to their size or at all, differ by rounding alone:
# sums of weights are kept to twelve digits, and a rate of two of them is less exact
ROUNDING, SMALLEST_GAP = 1e-11, 1e-15

# a function without warnings costs one call, a block without them three
_quotient: Callable[[Array, Array], Array] = quiet(np.true_divide)


def divide(over: Array, under: Array, profile: Profile) -> Array:
    """Divide arrays of counts elementwise; the same shape comes back.

    As documented, x/0 is a signed infinity, and 0/0 and inf - inf are undefined (NaN here, a status
    above). As in smclarify 0.5 (the profile ``clarify``), 0/0 and inf - inf are 0.
    """
    result = _quotient(over, under)
    return np.where(np.isnan(result), 0.0, result) if profile.as_smclarify else result


@quiet
def subtract(left: Array, right: Array, profile: Profile) -> Array:
    """Subtract arrays elementwise, 0 within rounding; the same shape comes back."""
    result = left - right
    near = ROUNDING * np.maximum(np.abs(left), np.abs(right)) + SMALLEST_GAP
    result = np.where(np.abs(result) < near, 0.0, result)  # infinities stay as they are
    if profile.as_smclarify:
        result = np.where(np.isinf(left) & (left == right), 0.0, result)
    return result


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Histograms of scores, one per comparison, over bins that all comparisons share."""

    low: Array  # the lower edges of the bins; shape (B,), as of high and centre
    high: Array  # the upper edges, equal where a bin is a single value
    centre: Array  # the mean score of all rows in each bin
    counts: Array  # rows with a positive and with a negative label; shape (n, 2, B)
    every: Array  # all rows with a score, whatever their label; shape (n, B)
    sums: Array  # sums of the scores in each bin, by label; shape (n, 2, B)
    moments: Mapping[str, Array]  # sums by label: score, its square, ln s, ln(1 - s); shape (n, 2)
    total: Array  # the sum of the scores of all rows; shape (n,)
    squares: Array  # and that of their squares
    known: dict[object, Array] = field(default_factory=dict)  # their statistics, once computed

    @property
    def open(self) -> Mask:
        """Return which bins hold an interval of scores, not a single value."""
        return self.high > self.low

    def of(self, which: Index) -> Scores:
        """Return the histograms of some comparisons, by their positions."""
        sums = ("counts", "every", "sums", "total", "squares")
        moments = {name: each[which] for name, each in self.moments.items()}
        of = {name: getattr(self, name)[which] for name in sums}
        return replace(self, moments=moments, known={}, **of)


@dataclass(frozen=True, slots=True, eq=False)
class ConfusionCounts:
    """Sufficient statistics of ``n`` groups, one row per comparison.

    A row with a label and no prediction is counted in TP or TN by its label; a row with a
    prediction and no label likewise. Where a regression has both columns, its sums are of rows with
    both: n, y, p, yy, pp, gap = |p - y| and gap2 = (p - y)²; those of y and p are less `centre`,
    which keeps the digits of numbers that are far from 0.
    """

    size: Array  # rows of each group, weighted when there are weights; shape (n,)
    # TP, FP, FN, TN over the rows where the needed columns are known, by these; shape (n, 4)
    cells: Mapping[frozenset[Need], Array] = field(default_factory=dict)
    classes: Mapping[Need, Array] = field(default_factory=dict)  # rows by category; (n, K)
    strata: Mapping[Need, Array] = field(default_factory=dict)  # positive, negative; (n, S, 2)
    per_class: tuple[ConfusionCounts, ...] = ()  # each class of several against all others
    moments: Mapping[str, Array] = field(default_factory=dict)  # sums of a regression; shape (n,)
    # where both columns are given, the sums over the rows in which one is known, by that one
    column_moments: Mapping[frozenset[Need], Mapping[str, Array]] = field(default_factory=dict)
    centre: float = 0.0
    scores: Scores | None = None  # histograms of the scores
    joint: Array | None = None  # rows by class of label and prediction; shape (n, K, K)
    overall: ConfusionCounts | None = None  # all rows of the same slots

    def counts(self, needs: frozenset[Need]) -> Array:
        """Return the confusion cells over rows where ``needs`` are known; shape (n, 4)."""
        return self.cells[needs]

    @property
    def table(self) -> Array:
        """Return the rows by class of label and prediction; shape (n, K, K)."""
        if self.joint is not None:
            return self.joint
        tp, fp, fn, tn = np.moveaxis(self.counts(BOTH), -1, 0)
        return np.stack([np.stack([tp, fn], axis=-1), np.stack([fp, tn], axis=-1)], axis=-2)

    def moments_of(self, needs: frozenset[Need]) -> Mapping[str, Array]:
        """Return the sums of a regression over rows where ``needs`` are known."""
        return self.column_moments.get(needs, self.moments)

    def every_cell(self) -> Array:
        """Return all that is counted of each group by label and prediction; shape (n, cells)."""
        return np.concatenate([self.size[:, None], *self.cells.values()], axis=1)
