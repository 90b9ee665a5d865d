"""Multiclass: a rate of each class against all others, averaged to one number per group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairgauge.catalogue.cells import (
    ALL,
    BOTH,
    FN,
    FP,
    LABEL,
    TP,
    Array,
    ConfusionCounts,
    Need,
    divide,
)
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Average, Better, Profile, Task
from fairgauge.reasons import Reason, ReasonCode

AVERAGES: tuple[Average, ...] = tuple(Average)


@dataclass(frozen=True, slots=True, kw_only=True)
class Averaged(Statistic):
    """A statistic averaged over classes.

    ``macro`` is the plain mean over the classes in which it is defined, ``micro`` is taken of the
    summed cells, ``weighted`` weighs classes by their labels. All are of the rows that have a label
    and a prediction, unless one of the two columns is given alone.
    """

    of: Statistic
    how: Average
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.MULTICLASS})

    @property
    def is_share(self) -> bool:  # type: ignore[override]
        return self.of.is_share

    @property
    def title(self) -> str:
        return f"{self.how} {self.of.title}"

    @property
    def needs(self) -> frozenset[Need]:
        return self.of.needs

    @property
    def formula(self) -> str:
        return f"{self.how} average of {self.of.formula} over classes"

    @property
    def range(self) -> tuple[float, float]:
        return self.of.range

    def value(self, side: ConfusionCounts, profile: Profile) -> Array:
        classes = [_complete(each) for each in side.per_class]
        if self.how is Average.MICRO:
            return self.of.value(_summed(side.size, classes), profile)
        values = np.stack([self.of.value(each, profile) for each in classes])
        known = ~np.isnan(values)
        weights = np.ones_like(values)
        if self.how is Average.WEIGHTED:
            labels = [_labels(each) for each in classes]
            weights = np.stack(labels)
        weights = np.where(known, weights, 0.0)
        total = (weights * np.where(weights > 0, values, 0.0)).sum(axis=0)  # 0 of an infinity is 0
        return divide(total, weights.sum(axis=0), Profile.DOCUMENTED)

    def size(self, side: ConfusionCounts) -> Array:
        return ALL.count(_complete(side).counts(self.needs))

    def why_undefined(self, side: ConfusionCounts, at: int) -> Reason:
        return Reason.of(ReasonCode.NO_CLASS_DEFINED, reasons=(self.of.why_undefined(side, at),))


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement(Statistic):
    """Overall multiclass accuracy: the share of rows whose prediction is their label."""

    is_share: ClassVar[bool] = True
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.MULTICLASS})
    needs: ClassVar[frozenset[Need]] = BOTH
    formula: ClassVar[str] = "sum of TP over classes / n"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def value(self, side: ConfusionCounts, profile: Profile) -> Array:
        return divide(self.agreed(side), self.size(side), profile)

    def agreed(self, side: ConfusionCounts) -> Array:
        """Return the rows whose prediction is their label."""
        return np.asarray(np.sum([TP.count(each.counts(BOTH)) for each in side.per_class], axis=0))

    def size(self, side: ConfusionCounts) -> Array:
        return ALL.count(side.counts(BOTH))

    def why_undefined(self, side: ConfusionCounts, at: int) -> Reason:
        del side, at
        return Reason.of(ReasonCode.NO_ROWS, of="label and prediction")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kappa(Statistic):
    """Cohen's kappa: agreement of predictions and labels beyond that of independent ones.

    Over all classes where there are several, else over the positive and the negative.
    """

    needs: ClassVar[frozenset[Need]] = BOTH
    formula: ClassVar[str] = (
        "(accuracy - c) / (1 - c),  c = sum_y share of labels y x share of predictions y"
    )
    range: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    edges: ClassVar[str] = "undefined for a group whose labels and predictions are all of one class"

    def value(self, side: ConfusionCounts, profile: Profile) -> Array:
        classes = [each.counts(BOTH) for each in side.per_class]
        if not classes:  # the positive class, and the negative one with its cells exchanged
            cells = side.counts(BOTH)
            classes = [cells, cells[..., ::-1]]
        rows = self.size(side)
        agreed = np.sum([TP.count(each) for each in classes], axis=0)
        pairs = [(TP + FN).count(each) * (TP + FP).count(each) for each in classes]
        chance = np.sum(pairs, axis=0)
        return divide(rows * agreed - chance, rows**2 - chance, profile)

    def size(self, side: ConfusionCounts) -> Array:
        return ALL.count(side.counts(BOTH))

    def why_undefined(self, side: ConfusionCounts, at: int) -> Reason:
        if self.size(side)[at] == 0:
            return Reason.of(ReasonCode.NO_ROWS, of="label and prediction")
        return Reason.of(ReasonCode.ONE_CLASS_ONLY, of="labels and predictions")


def averaged(of: Statistic, how: Average) -> Averaged:
    """Average a statistic over classes."""
    return Averaged(
        name=of.name,
        of=of,
        how=how,
        better=of.better,
        says=f"the {how} average over classes of {of.says}",
        cite=of.cite,
    )


def adds_up(of: Statistic) -> bool:
    """Return whether a statistic adds up to the same over all classes, in every group.

    These are the shares that need the label alone, or the prediction alone: every row is of one
    class, so that they add up to 1, and their averages are the same in every group.
    """
    return of.is_share and of.needs in ({"label"}, {"prediction"})


def agreement() -> Agreement:
    """Return overall accuracy."""
    says = "the share of rows whose predicted class is their label"
    return Agreement(name="accuracy", better=Better.HIGHER, says=says, cite=("clarify:AD",))


def _complete(side: ConfusionCounts) -> ConfusionCounts:
    """Return the counts of rows with label and prediction; of all where no row has both."""
    both = side.counts(BOTH)
    if not both.any():
        return side
    return ConfusionCounts(size=side.size, cells=dict.fromkeys(side.cells, both))


def _summed(size: Array, classes: Sequence[ConfusionCounts]) -> ConfusionCounts:
    """Add the cells of all classes."""
    cells = {
        needs: np.sum([each.counts(needs) for each in classes], axis=0)
        for needs in classes[0].cells
    }
    return ConfusionCounts(size=size, cells=cells)


def _labels(side: ConfusionCounts) -> Array:
    return (TP + FN).count(side.counts(LABEL))
