"""Statistics of scores, from histograms; each with a rigorous bound on what binning can hide.

Scores that lie on an edge of the histogram are counted exactly there, so rounded scores (0.37) give
exact values and a bound of 0.

Statistics at a cut that the scores themselves determine (the top k rows, a recall) go from the
highest score down. Rows with equal scores at the cut of the top k count in part, which is the
expectation over all orders of equal scores.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar, Literal

import numpy as np

from fairgauge.catalogue.cells import Array, ConfusionCounts, Need, Scores, divide
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Profile, Task
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.stats.arrays import Index, Mask

_DECILES = 10
_FURTHEST_LOGIT = 1e-6
_NEWTON_STEPS = 50
_SETTLED = 1e-12


class ScoreTerm(StrEnum):
    """A number of a row's score and label, of which a statistic is the mean."""

    SCORE = "score"
    CALIBRATION_GAP = "score - label"
    SQUARED_ERROR = "(score - label)^2"
    LOG_LOSS = "-label ln(score) - (1 - label) ln(1 - score)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreStatistic(Statistic):
    """A number of the scores of one group, and of their labels unless ``labelled`` is False."""

    labelled: ClassVar[bool] = True
    """Whether rows without a label are excluded."""
    two_classes: ClassVar[bool] = False
    """Whether it takes both positive and negative labels."""
    probability: ClassVar[bool] = False
    """Whether it reads scores as probabilities."""
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.BINARY})

    @abstractmethod
    def of_scores(self, scores: Scores) -> Array:
        """Return one number per group; it need not be right where rows are missing."""

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({"label", "score"} if self.labelled else {"score"})

    @property
    def range(self) -> tuple[float, float]:
        return (0.0, 1.0)

    @property
    def edges(self) -> str:
        if self.two_classes:
            return "undefined for a group without positive or without negative labels"
        needed = "a score and a label" if self.labelled else "a score"
        return f"undefined for a group without rows with {needed}"

    def value(self, side: ConfusionCounts, profile: Profile) -> Array:
        del profile
        scores = scores_of(side)
        return np.where(self._enough(scores), self.of_scores(scores), np.nan)

    def size(self, side: ConfusionCounts) -> Array:
        scores = scores_of(side)
        rows: Array = (scores.counts if self.labelled else scores.every[:, None]).sum(axis=(1, 2))
        return rows

    def smallest_denominator(self, side: ConfusionCounts) -> Array:
        """Return the rows that it rests on: those of the rarer label, where it takes both."""
        if self.two_classes:
            return np.asarray(scores_of(side).counts.sum(axis=-1).min(axis=-1))
        return self.size(side)

    def why_undefined(self, side: ConfusionCounts, at: int) -> Reason:
        counts = scores_of(side).counts[at].sum(axis=-1)
        if self.size(side)[at] == 0:
            of = "score and label" if self.labelled else "score"
            return Reason.of(ReasonCode.NO_ROWS, of=of)
        if self.two_classes and counts.min() == 0:
            of = f"{'positive' if counts[0] == 0 else 'negative'} label"
            return Reason.of(ReasonCode.NO_ROWS, of=of)
        return Reason.of(ReasonCode.NOT_CONVERGED, of=self.title)

    def _enough(self, scores: Scores) -> Mask:
        counts = scores.counts.sum(axis=-1)
        rows = counts.min(axis=-1) if self.two_classes else counts.sum(axis=-1)
        return np.asarray((rows if self.labelled else scores.every.sum(axis=-1)) > 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RocAuc(ScoreStatistic):
    """The area under the ROC curve."""

    two_classes: ClassVar[bool] = True
    formula: ClassVar[str] = "P(score of a positive > score of a negative) + P(equal) / 2"

    def of_scores(self, scores: Scores) -> Array:
        return roc_auc(scores)

    def error(self, side: ConfusionCounts) -> Array:
        return roc_auc_bound(scores_of(side))


@dataclass(frozen=True, slots=True, kw_only=True)
class AveragePrecision(ScoreStatistic):
    """Precision averaged over the observed positives, from the highest score down."""

    two_classes: ClassVar[bool] = True
    formula: ClassVar[str] = (
        "sum_k (recall_k - recall_k-1) precision_k, from the highest score down"
    )

    def of_scores(self, scores: Scores) -> Array:
        return average_precision(scores)

    def error(self, side: ConfusionCounts) -> Array:
        return average_precision_bound(scores_of(side))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreMean(ScoreStatistic):
    """The mean over rows of a number of their score and label."""

    of: ScoreTerm

    @property
    def labelled(self) -> bool:  # type: ignore[override]
        return self.of is not ScoreTerm.SCORE

    @property
    def probability(self) -> bool:  # type: ignore[override]
        return self.of is not ScoreTerm.SCORE

    @property
    def formula(self) -> str:
        return f"mean({self.of})"

    @property
    def range(self) -> tuple[float, float]:
        return {
            ScoreTerm.SCORE: (-math.inf, math.inf),
            ScoreTerm.CALIBRATION_GAP: (-1.0, 1.0),
            ScoreTerm.SQUARED_ERROR: (0.0, 1.0),
            ScoreTerm.LOG_LOSS: (0.0, math.inf),
        }[self.of]

    def of_scores(self, scores: Scores) -> Array:
        return {
            ScoreTerm.SCORE: mean_score,
            ScoreTerm.CALIBRATION_GAP: calibration_gap,
            ScoreTerm.SQUARED_ERROR: brier_score,
            ScoreTerm.LOG_LOSS: log_loss,
        }[self.of](scores)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelMeanScore(ScoreStatistic):
    """The mean score of the rows with one label."""

    label: Literal["positive", "negative"]
    probability: ClassVar[bool] = True

    @property
    def position(self) -> int:
        """Return where the label stands in arrays by label."""
        return 0 if self.label == "positive" else 1

    def smallest_denominator(self, side: ConfusionCounts) -> Array:
        return np.asarray(scores_of(side).counts[:, self.position].sum(axis=-1))

    @property
    def formula(self) -> str:
        return f"mean(score) of observed {self.label}s"

    def of_scores(self, scores: Scores) -> Array:
        total = scores.moments["s"][:, self.position]
        return divide(total, scores.counts[:, self.position].sum(axis=-1), Profile.DOCUMENTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationError(ScoreStatistic):
    """The distance of mean score and share of positives over ten equal bins of the score."""

    over_bins: Literal["mean", "largest"]
    probability: ClassVar[bool] = True

    @property
    def formula(self) -> str:
        if self.over_bins == "mean":
            return (
                "sum_b n_b / n |mean score_b - positive share_b| over ten bins "
                "(0, 0.1], ... (0.9, 1]"
            )
        return "max_b |mean score_b - positive share_b| over ten bins"

    def of_scores(self, scores: Scores) -> Array:
        rows, gap = _deciles(scores)
        if self.over_bins == "mean":
            return divide(gap.sum(axis=-1), rows.sum(axis=-1), Profile.DOCUMENTED)
        return np.asarray(divide(gap, rows, Profile.CLARIFY).max(axis=-1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalibration(ScoreStatistic):
    """A coefficient of the logistic regression of the label on the log odds of the score."""

    coefficient: Literal["intercept", "slope"]
    two_classes: ClassVar[bool] = True
    probability: ClassVar[bool] = True

    @property
    def formula(self) -> str:
        symbol = "a" if self.coefficient == "intercept" else "b"
        return f"{self.coefficient} {symbol} of logit P(label = 1) = a + b logit(score)"

    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)

    def of_scores(self, scores: Scores) -> Array:
        return recalibration(scores)[0 if self.coefficient == "intercept" else 1]


def roc_auc(scores: Scores) -> Array:
    """Return the probability that a positive row scores above a negative one, ties half."""
    positive, negative = scores.counts[:, 0], scores.counts[:, 1]
    return cross_auc(positive, negative)


def cross_auc(positive: Array, negative: Array) -> Array:
    """Return the area under the curve of two histograms of shape (n, B)."""
    below = np.cumsum(negative, axis=-1) - negative / 2
    pairs = positive.sum(axis=-1) * negative.sum(axis=-1)
    return divide((positive * below).sum(axis=-1), pairs, Profile.DOCUMENTED)


def cross_auc_bound(scores: Scores, positive: Array, negative: Array) -> Array:
    """Return half the share of pairs that share an open bin."""
    pairs = positive.sum(axis=-1) * negative.sum(axis=-1)
    tied = (positive * negative * scores.open).sum(axis=-1) / 2
    return divide(tied, pairs, Profile.DOCUMENTED)


def roc_auc_bound(scores: Scores) -> Array:
    """Return the most that `roc_auc` can be off."""
    return cross_auc_bound(scores, scores.counts[:, 0], scores.counts[:, 1])


def average_precision(scores: Scores) -> Array:
    """Return the sum of precision times gain in recall, from the highest score down."""
    gained, tp, rows = _from_the_top(scores)
    return np.asarray((divide(tp, rows, Profile.CLARIFY) * gained).sum(axis=-1))


def average_precision_bound(scores: Scores) -> Array:
    """Return the most that `average_precision` can be off, bin by bin the best or worst order.

    At worst, the first positive of a bin comes after all of its negatives, with a weight that may
    be anything where rows are weighted.
    """
    gained, tp, rows = _from_the_top(scores)
    positive, negative = (scores.counts[:, i, ::-1] for i in (0, 1))
    middle = divide(tp, rows, Profile.CLARIFY)
    best = divide(tp, rows - negative, Profile.CLARIFY)
    whole = (scores.counts % 1 == 0).all(axis=(1, 2))[:, None]
    least = np.where(whole, np.minimum(positive, 1.0), 0.0)
    worst = divide(tp - positive + least, rows - positive + least, Profile.CLARIFY)
    spread = np.maximum(np.maximum(best, middle) - middle, middle - np.minimum(worst, middle))
    return np.asarray((spread * gained * scores.open[::-1]).sum(axis=-1))


def _from_the_top(scores: Scores) -> tuple[Array, Array, Array]:
    """Return for each bin, highest first: gain in recall, true positives, rows so far."""
    positive, negative = (scores.counts[:, i, ::-1] for i in (0, 1))
    total = positive.sum(axis=-1, keepdims=True)
    tp = np.cumsum(positive, axis=-1)
    return divide(positive, total, Profile.DOCUMENTED), tp, tp + np.cumsum(negative, axis=-1)


def brier_score(scores: Scores) -> Array:
    """Return the mean squared distance of score and label."""
    squares, sums = scores.moments["s2"], scores.moments["s"]
    positives = scores.counts[:, 0].sum(axis=-1)
    off = squares.sum(axis=-1) - 2 * sums[:, 0] + positives
    return divide(off, scores.counts.sum(axis=(1, 2)), Profile.DOCUMENTED)


def log_loss(scores: Scores) -> Array:
    """Return the mean negative log likelihood of the labels."""
    likelihood = scores.moments["ln_s"][:, 0] + scores.moments["ln_1s"][:, 1]
    return divide(-likelihood, scores.counts.sum(axis=(1, 2)), Profile.DOCUMENTED)


def in_deciles(scores: Scores) -> Array:
    """Return which of the bins (0, 0.1], ... (0.9, 1] each fine bin is in; shape (B, 10), 0 or 1.

    The upper edge decides: a score on an edge belongs below it, 0 to the first bin.
    """
    at = np.clip(np.ceil(np.round(scores.high * _DECILES, 9)) - 1, 0, _DECILES - 1).astype(int)
    return np.asarray(np.eye(_DECILES)[at])


def _deciles(scores: Scores) -> tuple[Array, Array]:
    """Return rows and |sum of scores - positives| in the bins (0, 0.1], ... (0.9, 1]."""
    inside = in_deciles(scores)
    rows = scores.counts.sum(axis=1) @ inside
    gap: Array = np.abs((scores.sums.sum(axis=1) - scores.counts[:, 0]) @ inside)
    return rows, gap


def mean_score(scores: Scores) -> Array:
    """Return the mean of all scores."""
    return divide(scores.total, scores.every.sum(axis=-1), Profile.DOCUMENTED)


def calibration_gap(scores: Scores) -> Array:
    """Return the mean score minus the share of positive labels."""
    off = scores.moments["s"].sum(axis=-1) - scores.counts[:, 0].sum(axis=-1)
    return divide(off, scores.counts.sum(axis=(1, 2)), Profile.DOCUMENTED)


def logits(scores: Scores) -> Array:
    """Return the log odds of the mean score of every bin; shape (n, B)."""
    mean = divide(scores.sums.sum(axis=1), scores.counts.sum(axis=1), Profile.CLARIFY)
    mean = np.clip(mean, _FURTHEST_LOGIT, 1 - _FURTHEST_LOGIT)
    return np.asarray(np.log(mean / (1 - mean)))


def recalibration(scores: Scores) -> tuple[Array, Array]:
    """Return intercept and slope of the label's logistic regression on the logit of the score.

    The score of a bin is its mean. The fit is by Newton's method from the fit without a slope, as
    steps from a slope of 1 may diverge where scores are far from calibrated.
    """
    rows, x = scores.counts.sum(axis=1), logits(scores)
    settled = np.zeros(len(rows), dtype=bool)
    with np.errstate(all="ignore"):
        positives, negatives = np.moveaxis(scores.counts.sum(axis=-1), 1, 0)
        a, b = np.log(positives / negatives), np.zeros(len(rows))
        for _ in range(_NEWTON_STEPS):
            p = 1 / (1 + np.exp(-(a[:, None] + b[:, None] * x)))
            off = scores.counts[:, 0] - rows * p
            v = rows * p * (1 - p)
            g0, g1 = off.sum(axis=-1), (off * x).sum(axis=-1)
            h00, h01, h11 = v.sum(axis=-1), (v * x).sum(axis=-1), (v * x * x).sum(axis=-1)
            det = h00 * h11 - h01 * h01
            da, db = (h11 * g0 - h01 * g1) / det, (h00 * g1 - h01 * g0) / det
            a, b = a + da, b + db
            settled = (np.abs(da) + np.abs(db)) < _SETTLED * (1 + np.abs(a) + np.abs(b)) * 1e3
            if settled.all():
                break
    return np.where(settled, a, np.nan), np.where(settled, b, np.nan)


def score_ks(ours: Scores, theirs: Scores) -> Array:
    """Return the largest distance of the two cumulative distributions of scores."""
    gaps = np.cumsum(shares(ours.every) - shares(theirs.every), axis=-1)
    return np.asarray(np.abs(gaps).max(axis=-1))


def score_wasserstein(ours: Scores, theirs: Scores) -> Array:
    """Return the area between the two cumulative distributions of scores."""
    after = np.abs(np.cumsum(shares(ours.every) - shares(theirs.every), axis=-1))
    return np.asarray(after[:, :-1] @ np.diff(ours.centre))


def abroca(ours: Scores, theirs: Scores) -> Array:
    """Return the area between the two ROC curves (straight within a bin, as ties are)."""
    areas = [_between_curves(a, b) for a, b in zip(ours.counts, theirs.counts, strict=True)]
    return np.array(areas)


def _between_curves(ours: Array, theirs: Array) -> float:
    """Integrate |difference| of two piecewise linear ROC curves exactly; counts of shape (2, B)."""
    if min(ours.sum(axis=-1).min(), theirs.sum(axis=-1).min()) == 0:
        return float("nan")
    curves = []
    for counts in (ours, theirs):
        steps = np.cumsum(counts[:, ::-1], axis=-1) / counts.sum(axis=-1, keepdims=True)
        tpr, fpr = np.concatenate([np.zeros((2, 1)), steps], axis=-1)
        curves.append((fpr, tpr))
    x = np.unique(np.concatenate([curves[0][0], curves[1][0]]))
    width = np.diff(x)
    # inside an interval both curves are straight: two inner points give both of its ends
    near, far = x[:-1] + width / 4, x[:-1] + width * 3 / 4
    gaps = [np.interp(at, *curves[0]) - np.interp(at, *curves[1]) for at in (near, far)]
    left, right = (3 * gaps[0] - gaps[1]) / 2, (3 * gaps[1] - gaps[0]) / 2
    size = np.abs(left) + np.abs(right)
    crossing = left * right < 0
    same_side = size / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        crossed = (left**2 + right**2) / (2 * size)
    return float((np.where(crossing, crossed, same_side) * width).sum())


def shares(counts: Array) -> Array:
    """Return counts as shares of their row."""
    return divide(counts, counts.sum(axis=-1, keepdims=True), Profile.DOCUMENTED)


def scores_of(side: ConfusionCounts) -> Scores:
    """Return the score histograms of a side, which must have them."""
    assert side.scores is not None
    return side.scores


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

    def at_recall(self, recall: Array) -> Index:
        """Return the bin of the highest cut that reaches a recall; shape (n,)."""
        needed = recall * self.positive[:, -1] * (1 - _ROUNDING)
        return np.asarray((self.positive >= needed[:, None]).argmax(axis=-1))

    def false_positive_rate(self, at: Index) -> Array:
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
        if not 0 < value < (100 if percent else np.inf) or (not percent and value % 1):
            allowed = "above 0 and below 100" if percent else "a whole number above 0"
            raise LookupError(f"{self.name}: {parameter} must be {allowed}, not {value:g}")
        name = f"{self.name}({'percent=' if percent else ''}{value:g})"
        return replace(self, name=name, k=value, percent=percent)

    @property
    def edges(self) -> str:
        if self.percent:
            return "undefined for a group without rows with a score and a label"
        return f"undefined for a group of {self.k:g} rows or fewer with a score and a label"

    def rows(self, scores: Scores) -> Array:
        """Return how many rows the top has; shape (n,)."""
        total = scores.counts.sum(axis=(1, 2))
        return total * self.k / 100 if self.percent else np.full_like(total, self.k)

    def of_scores(self, scores: Scores) -> Array:
        rows = self.rows(scores)
        share = divide(Ranked.of(scores).positives_among(rows), rows, Profile.DOCUMENTED)
        return np.where(rows < scores.counts.sum(axis=(1, 2)), share, np.nan)  # else the base rate

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
        return np.asarray(np.minimum(self.rows(scores), scores.counts.sum(axis=(1, 2))))

    def why_undefined(self, side: ConfusionCounts, at: int) -> Reason:
        n = float(self.size(side)[at])
        if not self.percent and n < self.k:
            return Reason.of(ReasonCode.FEW_ROWS, n=n, minimum=self.k)
        if not self.percent:
            return Reason.of(ReasonCode.ALL_AT_TOP, rows=n)
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
