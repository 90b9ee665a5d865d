"""Statistics at a cut that the scores themselves determine: the top k rows, a recall.

They are computed from histograms, highest score first. Rows with equal scores at the cut of the
top k count in part, which is the expectation over all orders of equal scores.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from fairgauge.catalogue.arithmetic import divide
from fairgauge.catalogue.score_statistics import ScoreStatistic, scores_of
from fairgauge.enums import Profile
from fairgauge.reasons import Reason, ReasonCode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.confusion_counts import ConfusionCounts, Scores
    from fairgauge.catalogue.statistics import Statistic

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """Rows from the highest score down, up to and including each bin; arrays of shape (n, B)."""

    positive: Array
    negative: Array

    @classmethod
    def of(cls, scores: Scores) -> Ranked:
        """Return the cumulative counts of score histograms."""
        return cls(*(np.cumsum(scores.counts[:, i, ::-1], axis=-1) for i in (0, 1)))

    def positives_among(self, rows: Array) -> Array:
        """Return the positives among the highest ``rows`` of each group; arrays of shape (n,)."""
        every = self.positive + self.negative
        before = np.zeros(1)
        found = [
            np.interp(k, np.concatenate([before, total]), np.concatenate([before, positive]))
            for k, total, positive in zip(rows, every, self.positive, strict=True)
        ]
        return np.array(found, dtype=float)

    def at_recall(self, recall: Array) -> NDArray[np.int64]:
        """Return the bin of the highest cut that reaches a recall; shape (n,)."""
        needed = recall * self.positive[:, -1] * (1 - _ROUNDING)
        return np.asarray((self.positive >= needed[:, None]).argmax(axis=-1))

    def false_positive_rate(self, at: NDArray[np.int64]) -> Array:
        """Return the share of negatives at or above the cut at a bin; shape (n,)."""
        above = np.take_along_axis(self.negative, at[:, None], 1)[:, 0]
        return divide(above, self.negative[:, -1], Profile.DOCUMENTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrecisionAtK(ScoreStatistic):
    """The share of positives among the k highest scores of a group, k in rows or in per cent."""

    k: float = 100
    percent: bool = False
    parameters: ClassVar[tuple[str, ...]] = ("k", "percent")
    is_share: ClassVar[bool] = True

    @property
    def title(self) -> str:
        return f"precision in the top {self.k:g}{'%' if self.percent else ''}"

    @property
    def formula(self) -> str:
        top = f"{self.k:g}% of its rows" if self.percent else f"{self.k:g} rows"
        return f"share of observed positives among the {top} with the highest scores"

    @property
    def takes_weights(self) -> bool:  # type: ignore[override]
        return self.percent

    def with_parameter(self, parameter: str, value: float) -> Statistic:
        if parameter not in self.parameters:
            return super(PrecisionAtK, self).with_parameter(parameter, value)
        percent = parameter == "percent"
        if not 0 < value <= (100 if percent else np.inf) or (not percent and value % 1):
            allowed = "above 0 and at most 100" if percent else "a whole number above 0"
            raise LookupError(f"{self.name}: {parameter} must be {allowed}, not {value:g}")
        name = f"{self.name}({'percent=' if percent else ''}{value:g})"
        return replace(self, name=name, k=value, percent=percent)

    @property
    def edges(self) -> str:
        if self.percent:
            return "undefined for a group without rows with a score and a label"
        return f"undefined for a group of fewer than {self.k:g} rows with a score and a label"

    def rows(self, scores: Scores) -> Array:
        """Return how many rows the top has; shape (n,)."""
        total = scores.counts.sum(axis=(1, 2))
        return total * self.k / 100 if self.percent else np.full_like(total, self.k)

    def of_scores(self, scores: Scores) -> Array:
        rows = self.rows(scores)
        share = divide(Ranked.of(scores).positives_among(rows), rows, Profile.DOCUMENTED)
        return np.where(rows <= scores.counts.sum(axis=(1, 2)), share, np.nan)

    def error(self, side: ConfusionCounts) -> Array:
        scores = scores_of(side)
        rows, ranked = self.rows(scores), Ranked.of(scores)
        every = ranked.positive + ranked.negative
        at = (every >= rows[:, None] * (1 - _ROUNDING)).argmax(axis=-1)
        of_bin = scores.counts[np.arange(len(rows)), :, scores.counts.shape[-1] - 1 - at]
        positive, negative = of_bin[:, 0], of_bin[:, 1]
        taken = rows - (np.take_along_axis(every, at[:, None], 1)[:, 0] - positive - negative)
        expected = divide(taken * positive, positive + negative, Profile.CLARIFY)
        most, least = np.minimum(taken, positive), np.maximum(taken - negative, 0.0)
        off = np.maximum(most - expected, expected - least) * scores.open[::-1][at]
        return divide(off, rows, Profile.DOCUMENTED)

    def size(self, side: ConfusionCounts) -> Array:
        scores = scores_of(side)
        rows: Array = np.minimum(self.rows(scores), scores.counts.sum(axis=(1, 2)))
        return rows

    def why_undefined(self, side: ConfusionCounts, at: int) -> Reason:
        if not self.percent and self.size(side)[at] < self.k:
            n = float(self.size(side)[at])
            return Reason.of(ReasonCode.FEW_ROWS, n=n, minimum=self.k)
        return super(PrecisionAtK, self).why_undefined(side, at)


@dataclass(frozen=True, slots=True, kw_only=True)
class FalsePositiveRateAtRecall(ScoreStatistic):
    """The false positive rate at the highest threshold that reaches a recall."""

    recall: float = 0.8
    parameters: ClassVar[tuple[str, ...]] = ("recall",)
    is_share: ClassVar[bool] = True
    two_classes: ClassVar[bool] = True

    @property
    def title(self) -> str:
        return f"false positive rate at recall {self.recall:g}"

    @property
    def formula(self) -> str:
        return f"FP / (TN + FP) at the highest threshold with TP / (TP + FN) >= {self.recall:g}"

    def with_parameter(self, parameter: str, value: float) -> Statistic:
        if parameter not in self.parameters:
            return super(FalsePositiveRateAtRecall, self).with_parameter(parameter, value)
        if not 0 < value <= 1:
            raise LookupError(f"{self.name}: recall must be above 0 and at most 1, not {value:g}")
        return replace(self, name=f"{self.name}({value:g})", recall=value)

    def of_scores(self, scores: Scores) -> Array:
        ranked = Ranked.of(scores)
        return ranked.false_positive_rate(ranked.at_recall(np.full(len(scores.every), self.recall)))

    def error(self, side: ConfusionCounts) -> Array:
        scores = scores_of(side)
        ranked = Ranked.of(scores)
        at = ranked.at_recall(np.full(len(scores.every), self.recall))
        negative = scores.counts[np.arange(len(at)), 1, scores.counts.shape[-1] - 1 - at]
        of_open_bin = negative * scores.open[::-1][at]
        return divide(of_open_bin, ranked.negative[:, -1], Profile.DOCUMENTED)
