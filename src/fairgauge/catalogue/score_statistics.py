"""Statistics of scores, from histograms, and of regressions, from sums over rows.

Those of scores have a rigorous bound on what binning can hide.

Scores that lie on an edge of the histogram are counted exactly there, so rounded scores (0.37) give
exact values and a bound of 0.

Statistics at a cut that the scores themselves determine (the top k rows, a recall) go from the
highest score down. Rows with equal scores at the cut of the top k count in part, which is the
expectation over all orders of equal scores.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from fairgauge.catalogue.cells import (
    BOTH,
    LABEL,
    PREDICTION,
    Array,
    ConfusionCounts,
    Need,
    Scores,
    divide,
)
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Profile, Task
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.start.records import dataclass

Sums: TypeAlias = "Mapping[str, Array]"


class RegressionTerm(StrEnum):
    """A number of a row's label y and prediction p, of which a statistic is the mean."""

    LABEL = "y"
    PREDICTION = "p"
    ERROR = "p - y"
    ABSOLUTE_ERROR = "|p - y|"
    SQUARED_ERROR = "(p - y)^2"


_NEEDS: Mapping[RegressionTerm, frozenset[Need]] = {
    RegressionTerm.LABEL: LABEL, RegressionTerm.PREDICTION: PREDICTION,
}  # fmt: skip


def needs_of(term: RegressionTerm) -> frozenset[Need]:
    """Return which columns a row must have: of an error both."""
    return _NEEDS.get(term, BOTH)


@dataclass(frozen=True, slots=True, kw_only=True)
class MomentStatistic(Statistic):
    """A number of the labels and predictions of one group, from their sums."""

    fewest_rows: ClassVar[int] = 1
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.REGRESSION})

    @abstractmethod
    def from_sums(self, sums: Sums) -> Array:
        """Return one number per group; it need not be right where rows are missing."""

    def centre(self, side: ConfusionCounts) -> float:
        """Return what the numbers that it is the mean of are summed less."""
        del side
        return 0.0

    needs: ClassVar[frozenset[Need]] = BOTH
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)

    @property
    def edges(self) -> str:
        return "undefined for a group without rows"

    def value(self, side: ConfusionCounts, profile: Profile) -> Array:
        del profile
        with np.errstate(divide="ignore", invalid="ignore"):
            values = self.from_sums(side.moments_of(self.needs)) + self.centre(side)
        enough = self.size(side) >= self.fewest_rows
        return np.where(enough & np.isfinite(values), values, np.nan)

    def size(self, side: ConfusionCounts) -> Array:
        return side.moments_of(self.needs)["n"]

    def why_undefined(self, side: ConfusionCounts, at: int) -> Reason:
        n = float(self.size(side)[at])
        if n < self.fewest_rows:
            return Reason.of(ReasonCode.FEW_ROWS, n=n, minimum=self.fewest_rows)
        return Reason.of(ReasonCode.NO_VARIATION, of="labels or residuals")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean(MomentStatistic):
    """The mean over rows of a number of their label and prediction."""

    of: RegressionTerm

    @property
    def needs(self) -> frozenset[Need]:  # type: ignore[override]
        return needs_of(self.of)

    @property
    def formula(self) -> str:
        return f"mean({self.of})"

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        errors = self.of in (RegressionTerm.ABSOLUTE_ERROR, RegressionTerm.SQUARED_ERROR)
        return (0.0 if errors else -math.inf, math.inf)

    def centre(self, side: ConfusionCounts) -> float:
        return side.centre if self.of in _NEEDS else 0.0

    def from_sums(self, sums: Sums) -> Array:
        if self.of is RegressionTerm.ERROR:
            return (sums["p"] - sums["y"]) / sums["n"]
        if self.of is RegressionTerm.SQUARED_ERROR:
            return np.maximum(sums["gap2"], 0.0) / sums["n"]
        return sums["gap" if self.of is RegressionTerm.ABSOLUTE_ERROR else self.of] / sums["n"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RootMeanSquaredError(MomentStatistic):
    """The root of the mean squared error."""

    formula: ClassVar[str] = "sqrt(mean((p - y)^2))"

    def from_sums(self, sums: Sums) -> Array:
        return np.asarray(np.sqrt(np.maximum(sums["gap2"], 0.0) / sums["n"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedVariance(MomentStatistic):
    """R²: the share of the variance of y that p explains."""

    fewest_rows: ClassVar[int] = 2
    formula: ClassVar[str] = "1 - sum((p - y)^2) / sum((y - mean(y))^2)"
    range: ClassVar[tuple[float, float]] = (-math.inf, 1.0)
    edges: ClassVar[str] = "undefined for a group of fewer than 2 rows, or whose labels do not vary"

    def from_sums(self, sums: Sums) -> Array:
        return 1 - sums["gap2"] / np.maximum(sums["yy"] - sums["y"] ** 2 / sums["n"], 0.0)


_DECILES = 10


class ScoreTerm(StrEnum):
    """A number of a row's score and label, of which a statistic is the mean."""

    SCORE = "score"
    CALIBRATION_GAP = "score - label"
    SQUARED_ERROR = "(score - label)^2"
    LOG_LOSS = "-label ln(score) - (1 - label) ln(1 - score)"


PROPER_SCORES = (ScoreTerm.SQUARED_ERROR, ScoreTerm.LOG_LOSS)
"""Means that depend on how often the outcome occurs, of calibrated scores, too."""


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
    def from_scores(self, scores: Scores) -> Array:
        """Return one number per group; it need not be right where rows are missing."""

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({"label", "score"} if self.labelled else {"score"})

    range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    @property
    def edges(self) -> str:
        if self.two_classes:
            return "undefined for a group without positive or without negative labels"
        needed = "a score and a label" if self.labelled else "a score"
        return f"undefined for a group without rows with {needed}"

    def value(self, side: ConfusionCounts, profile: Profile) -> Array:
        del profile
        scores = scores_of(side)
        if self not in scores.known:
            labels = scores.counts.sum(axis=-1)
            rows = labels.min(axis=-1) if self.two_classes else labels.sum(axis=-1)
            enough = (rows if self.labelled else scores.every.sum(axis=-1)) > 0
            scores.known[self] = np.where(enough, self.from_scores(scores), np.nan)
            scores.known[self].setflags(write=False)
        return scores.known[self]

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
        scores = scores_of(side)
        counts = scores.counts[at].sum(axis=-1)
        if (counts if self.labelled else scores.every[at]).sum() == 0:
            of = "score and label" if self.labelled else "score"
        elif self.two_classes and counts.min() == 0:
            of = f"{'positive' if counts[0] == 0 else 'negative'} label"
        else:
            return Reason.of(ReasonCode.NOT_CONVERGED, of=self.title)
        return Reason.of(ReasonCode.NO_ROWS, of=of)


@dataclass(frozen=True, slots=True, kw_only=True)
class RocAuc(ScoreStatistic):
    """The area under the ROC curve: how often a positive row scores above a negative, ties half."""

    two_classes: ClassVar[bool] = True
    formula: ClassVar[str] = "P(score of a positive > score of a negative) + P(equal) / 2"

    def from_scores(self, scores: Scores) -> Array:
        positive, negative = scores.counts[:, 0], scores.counts[:, 1]
        below = np.cumsum(negative, axis=-1) - negative / 2
        return _mean((positive * below).sum(axis=-1), positive.sum(axis=-1) * negative.sum(axis=-1))

    def error(self, side: ConfusionCounts) -> Array:
        """Return half the share of pairs that share an open bin."""
        scores = scores_of(side)
        positive, negative = scores.counts[:, 0], scores.counts[:, 1]
        tied = (positive * negative * scores.open).sum(axis=-1) / 2
        return _mean(tied, positive.sum(axis=-1) * negative.sum(axis=-1))


@dataclass(frozen=True, slots=True, kw_only=True)
class AveragePrecision(ScoreStatistic):
    """Precision averaged over the observed positives, from the highest score down."""

    two_classes: ClassVar[bool] = True
    formula: ClassVar[str] = (
        "sum_k (recall_k - recall_k-1) precision_k, from the highest score down"
    )

    def from_scores(self, scores: Scores) -> Array:
        gained, tp, rows = _cumulate_from_highest(scores)
        return np.asarray((divide(tp, rows, Profile.CLARIFY) * gained).sum(axis=-1))

    def error(self, side: ConfusionCounts) -> Array:
        """Return the most that it can be off, bin by bin the best or worst order.

        At worst, the first positive of a bin comes after all of its negatives, with a weight that
        may be anything where rows are weighted.
        """
        scores = scores_of(side)
        gained, tp, rows = _cumulate_from_highest(scores)
        positive, negative = (scores.counts[:, i, ::-1] for i in (0, 1))
        middle = divide(tp, rows, Profile.CLARIFY)
        best = divide(tp, rows - negative, Profile.CLARIFY)
        whole = (scores.counts % 1 == 0).all(axis=(1, 2))[:, None]
        least = np.where(whole, np.minimum(positive, 1.0), 0.0)
        worst = divide(tp - positive + least, rows - positive + least, Profile.CLARIFY)
        spread = np.maximum(np.maximum(best, middle) - middle, middle - np.minimum(worst, middle))
        return np.asarray((spread * gained * scores.open[::-1]).sum(axis=-1))


def _cumulate_from_highest(scores: Scores) -> tuple[Array, Array, Array]:
    # for each bin, highest first: gain in recall, true positives, rows so far
    positive, negative = (scores.counts[:, i, ::-1] for i in (0, 1))
    tp = np.cumsum(positive, axis=-1)
    gained = _mean(positive, positive.sum(axis=-1, keepdims=True))
    return gained, tp, tp + np.cumsum(negative, axis=-1)


_RANGES = {
    ScoreTerm.SCORE: (-math.inf, math.inf), ScoreTerm.CALIBRATION_GAP: (-1.0, 1.0),
    ScoreTerm.SQUARED_ERROR: (0.0, 1.0), ScoreTerm.LOG_LOSS: (0.0, math.inf),
}  # fmt: skip


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
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        return _RANGES[self.of]

    def from_scores(self, scores: Scores) -> Array:
        if self.of is ScoreTerm.SCORE:
            return _mean(scores.total, scores.every.sum(axis=-1))
        sums, positives = scores.moments["s"], scores.counts[:, 0].sum(axis=-1)
        if self.of is ScoreTerm.CALIBRATION_GAP:
            total = sums.sum(axis=-1) - positives
        elif self.of is ScoreTerm.SQUARED_ERROR:
            total = scores.moments["s2"].sum(axis=-1) - 2 * sums[:, 0] + positives
        else:
            total = -(scores.moments["ln_s"][:, 0] + scores.moments["ln_1s"][:, 1])
        return _mean(total, scores.counts.sum(axis=(1, 2)))


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

    def from_scores(self, scores: Scores) -> Array:
        total = scores.moments["s"][:, self.position]
        return _mean(total, scores.counts[:, self.position].sum(axis=-1))


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationError(ScoreStatistic):
    """The mean distance of mean score and share of positives over ten equal bins of the score."""

    probability: ClassVar[bool] = True

    formula: ClassVar[str] = (
        "sum_b n_b / n |mean score_b - positive share_b| over ten bins (0, 0.1], ... (0.9, 1]"
    )

    def from_scores(self, scores: Scores) -> Array:
        rows, positives, total = decile_counts(scores)
        return _mean(np.abs(total - positives).sum(axis=-1), rows.sum(axis=-1))


def _mean(total: Array, rows: Array) -> Array:
    return divide(total, rows, Profile.DOCUMENTED)


def decile_membership(scores: Scores) -> Array:
    """Return which of the bins (0, 0.1], ... (0.9, 1] each fine bin is in; shape (B, 10), 0 or 1.

    The upper edge decides: a score on an edge belongs below it, 0 to the first bin.
    """
    at = np.clip(np.ceil(np.round(scores.high * _DECILES, 9)) - 1, 0, _DECILES - 1).astype(int)
    return np.asarray(np.eye(_DECILES)[at])


def decile_counts(scores: Scores) -> Array:
    """Return rows, positives and sums of scores in the bins of `CalibrationError`; (3, n, 10)."""
    of_bins = scores.counts.sum(axis=1), scores.counts[:, 0], scores.sums.sum(axis=1)
    return np.asarray(np.stack(of_bins) @ decile_membership(scores))


def roc_points(scores: Scores) -> list[Array]:
    """Return the shares of negatives and positives that score highest, of each group; (2, k).

    A point for each score, or of many scores a hundred; none without both labels.
    """

    def points(labels: Array) -> Array:
        total = labels.sum(axis=-1, keepdims=True)
        shares = np.cumsum(labels, axis=-1) / np.where(total > 0, total, 1.0)
        shares = np.concatenate([np.zeros((2, 1)), shares[:, labels.any(axis=0)]], axis=-1)
        steps = np.floor(shares.sum(axis=0) * 50)
        few = shares.shape[-1] <= 100
        kept = few | np.append(True, np.diff(steps) > 0) | (steps == steps[-1])
        return np.asarray(shares[:, kept & total.all()].round(4))

    return [points(labels[::-1, ::-1]) for labels in scores.counts]


def scores_of(side: ConfusionCounts) -> Scores:
    """Return the score histograms of a side, which must have them."""
    assert side.scores is not None
    return side.scores
