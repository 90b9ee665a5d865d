"""Comparisons of whole distributions, of labels, predictions and scores: their distances.

Differences of means are in units of a spread: that inside the two sides, or that of all rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from fairgauge.catalogue.cells import LABEL, PREDICTION, SCORE, Array, ConfusionCounts, Need, divide
from fairgauge.catalogue.comparisons import ComparisonMetric
from fairgauge.catalogue.score_statistics import (
    abroca,
    cross_auc,
    cross_auc_bound,
    roc_auc_bound,
    score_ks,
    score_wasserstein,
    scores_of,
    shares,
)
from fairgauge.enums import Profile, Task
from fairgauge.reasons import Reason, ReasonCode


@dataclass(frozen=True, slots=True, kw_only=True)
class Distance(ComparisonMetric):
    """How far apart the label (or prediction) distributions of the two sides are."""

    of: Need
    by: Distances
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.BINARY, Task.MULTICLASS})

    @property
    def symmetric(self) -> bool:
        return self.by != "kl"

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({self.of})

    @property
    def formula(self) -> str:
        return DISTANCES[self.by].formula

    @property
    def range(self) -> tuple[float, float]:
        return (0.0, DISTANCES[self.by].most)

    @property
    def edges(self) -> str:
        unseen = "Infinity if a category of the reference is unseen in the group; "
        return f"{unseen if self.by == 'kl' else ''}undefined when a side has no rows"

    def value(self, group: ConfusionCounts, reference: ConfusionCounts, profile: Profile) -> Array:
        if profile.rules.classes_are_collapsed:
            ours, theirs = (_collapsed(side, self.of) for side in (group, reference))
        else:
            ours, theirs = group.classes[self.of], reference.classes[self.of]
        return DISTANCES[self.by].between(theirs, ours, profile)

    def size(self, side: ConfusionCounts) -> Array:
        return np.asarray(side.classes[self.of].sum(axis=-1))

    def why_undefined(self, group: ConfusionCounts, reference: ConfusionCounts, at: int) -> Reason:
        del reference
        side = "group" if self.size(group)[at] == 0 else "reference"
        return Reason.of(ReasonCode.NO_ROWS, of=self.of).on(side)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreDistance(ComparisonMetric):
    """How far apart the score distributions, or the ROC curves, of the two sides are."""

    by: Literal["ks", "wasserstein", "abroca"]
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.BINARY})

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({"label", "score"} if self.by == "abroca" else {"score"})

    @property
    def formula(self) -> str:
        return {
            "ks": "max_s |F_d(s) - F_a(s)|",
            "wasserstein": "integral |F_d(s) - F_a(s)| ds",
            "abroca": "integral |ROC_d(x) - ROC_a(x)| dx",
        }[self.by]

    @property
    def range(self) -> tuple[float, float]:
        return (0.0, math.inf if self.by == "wasserstein" else 1.0)

    @property
    def edges(self) -> str:
        what = "without positive or negative labels" if self.by == "abroca" else "without scores"
        return f"undefined when a side is {what}"

    def value(self, group: ConfusionCounts, reference: ConfusionCounts, profile: Profile) -> Array:
        del profile
        ours, theirs = scores_of(group), scores_of(reference)
        if self.by == "abroca":
            return abroca(ours, theirs)
        if self.by == "ks":
            return score_ks(ours, theirs)
        return score_wasserstein(ours, theirs)

    def error(self, group: ConfusionCounts, reference: ConfusionCounts) -> Array | None:
        ours, theirs = scores_of(group), scores_of(reference)
        if self.by == "abroca":
            return roc_auc_bound(ours) + roc_auc_bound(theirs)
        shared = np.maximum(*(shares(each.every) for each in (ours, theirs))) * ours.open
        if self.by == "ks":
            return np.asarray(shared.max(axis=-1, initial=0.0))
        return np.asarray((shared * (ours.high - ours.low)).sum(axis=-1))

    def size(self, side: ConfusionCounts) -> Array:
        return np.asarray(scores_of(side).every.sum(axis=-1))

    def why_undefined(self, group: ConfusionCounts, reference: ConfusionCounts, at: int) -> Reason:
        del reference
        side = "group" if self.size(group)[at] == 0 else "reference"
        if self.by == "abroca":
            return Reason.of(ReasonCode.ONE_CLASS_ONLY, of="labels with scores")
        return Reason.of(ReasonCode.NO_ROWS, of="score").on(side)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossAuc(ComparisonMetric):
    """The AUC between the positives of one side and the negatives of the other."""

    positives: Literal["group", "reference"]
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.BINARY})
    symmetric: ClassVar[bool] = False
    needs: ClassVar[frozenset[Need]] = frozenset({"label", "score"})

    @property
    def formula(self) -> str:
        p, n = ("d", "a") if self.positives == "group" else ("a", "d")
        return f"P(score of a positive of {p} > score of a negative of {n}) + P(equal) / 2"

    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    neutral: ClassVar[float] = math.nan
    edges: ClassVar[str] = "undefined without positives on the one side or negatives on the other"

    def value(self, group: ConfusionCounts, reference: ConfusionCounts, profile: Profile) -> Array:
        del profile
        return cross_auc(*self._histograms(group, reference))

    def error(self, group: ConfusionCounts, reference: ConfusionCounts) -> Array | None:
        return cross_auc_bound(scores_of(group), *self._histograms(group, reference))

    def _histograms(
        self, group: ConfusionCounts, reference: ConfusionCounts
    ) -> tuple[Array, Array]:
        ours, theirs = scores_of(group).counts, scores_of(reference).counts
        first, second = (ours, theirs) if self.positives == "group" else (theirs, ours)
        return first[:, 0], second[:, 1]

    def sizes(self, group: ConfusionCounts, reference: ConfusionCounts) -> tuple[Array, Array]:
        at = 0 if self.positives == "group" else 1
        return (
            scores_of(group).counts[:, at].sum(axis=-1),
            scores_of(reference).counts[:, 1 - at].sum(axis=-1),
        )

    def why_undefined(self, group: ConfusionCounts, reference: ConfusionCounts, at: int) -> Reason:
        ours, _ = self.sizes(group, reference)
        word = "positive" if (ours[at] == 0) == (self.positives == "group") else "negative"
        side = "group" if ours[at] == 0 else "reference"
        return Reason.of(ReasonCode.NO_ROWS, of=f"{word} label and score").on(side)


def _collapsed(side: ConfusionCounts, of: Need) -> Array:
    counts = side.counts(frozenset({of}))
    return np.stack([counts[..., 0], counts[..., 3]], axis=-1)


Distances = Literal["kl", "js", "lp", "tvd", "ks"]


@dataclass(frozen=True, slots=True)
class DistanceKind:
    """A distance between distributions P_a (reference) and P_d (group)."""

    formula: str
    most: float
    of_shares: Callable[[Array, Array], Array]

    def between(self, reference: Array, group: Array, profile: Profile) -> Array:
        """Compare counts of shape (n, K); a category that one side lacks has probability 0.

        In profile ``clarify`` categories that either side lacks are removed without renormalising,
        as smclarify does (values can then be negative or too small).
        """
        p = divide(reference, reference.sum(axis=-1, keepdims=True), Profile.DOCUMENTED)
        q = divide(group, group.sum(axis=-1, keepdims=True), Profile.DOCUMENTED)
        if profile.rules.distances_of_shared_classes:
            shared = (p > 0) & (q > 0)
            p, q = (np.where(shared | np.isnan(side), side, 0.0) for side in (p, q))
            nothing = ~shared.any(axis=-1)
            return np.where(nothing, np.nan, self.of_shares(p, q))
        return self.of_shares(p, q)


def _kl(p: Array, q: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p == 0, 0.0 * q, p * np.log(p / q))
    return np.asarray(terms.sum(axis=-1))


def _js(p: Array, q: Array) -> Array:
    middle = (p + q) / 2
    return (_kl(p, middle) + _kl(q, middle)) / 2


def _lp(p: Array, q: Array) -> Array:
    return np.asarray(np.sqrt(((p - q) ** 2).sum(axis=-1)))


def _tvd(p: Array, q: Array) -> Array:
    return np.asarray(np.abs(p - q).sum(axis=-1) / 2)


def _ks(p: Array, q: Array) -> Array:
    return np.asarray(np.abs(p - q).max(axis=-1))


DISTANCES: dict[Distances, DistanceKind] = {
    "kl": DistanceKind("sum_y P_a(y) ln(P_a(y) / P_d(y))", math.inf, _kl),
    "js": DistanceKind("KL(P_a, M) / 2 + KL(P_d, M) / 2,  M = (P_a + P_d) / 2", math.log(2), _js),
    "lp": DistanceKind("(sum_y (P_a(y) - P_d(y))^2)^(1/2)", math.sqrt(2), _lp),
    "tvd": DistanceKind("sum_y |P_a(y) - P_d(y)| / 2", 1.0, _tvd),
    "ks": DistanceKind("max_y |P_a(y) - P_d(y)|", 1.0, _ks),
}


_NEEDS: dict[str, frozenset[Need]] = {
    "label": LABEL,
    "prediction": PREDICTION,
    "score": SCORE,
    "selection": PREDICTION,
}
_SUMS = {"label": ("y", "yy"), "prediction": ("p", "pp")}


@dataclass(frozen=True, slots=True, kw_only=True)
class StandardisedDifference(ComparisonMetric):
    """The difference of two means over the pooled standard deviation (Cohen's d).

    The mean of ``selection`` is the selection rate. ``mean`` is what the mean is called.
    """

    of: Literal["label", "prediction", "score", "selection"]
    mean: str

    @property
    def tasks(self) -> frozenset[Task]:
        return frozenset({Task.BINARY if self.of in ("score", "selection") else Task.REGRESSION})

    @property
    def needs(self) -> frozenset[Need]:
        return _NEEDS[self.of]

    formula: ClassVar[str] = (
        "(mean_d - mean_a) / sqrt(((n_d - 1) s_d^2 + (n_a - 1) s_a^2) / (n_d + n_a - 2))"
    )
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    edges: ClassVar[str] = (
        "undefined with fewer than two rows on a side, or when the values do not vary"
    )

    def value(self, group: ConfusionCounts, reference: ConfusionCounts, profile: Profile) -> Array:
        ours, theirs = self.side_values(group, reference, profile)
        n, spread = self._spread(group)
        m, other = self._spread(reference)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = (ours - theirs) / np.sqrt((spread + other) / (n + m - 2))
        known = (np.minimum(n, m) >= 2) & np.isfinite(value)
        return np.where(known, value, np.nan)

    def side_value(self, side: ConfusionCounts, profile: Profile) -> Array:
        del profile
        n, total, _ = self._sums(side)
        with np.errstate(divide="ignore", invalid="ignore"):
            centre = side.centre if self.of in _SUMS else 0.0
            return np.asarray(total / n + centre)

    def size(self, side: ConfusionCounts) -> Array:
        return self._sums(side)[0]

    def why_undefined(self, group: ConfusionCounts, reference: ConfusionCounts, at: int) -> Reason:
        for side, name in ((group, "group"), (reference, "reference")):
            if (n := float(self.size(side)[at])) < 2:
                return Reason.of(ReasonCode.FEW_ROWS, n=n, minimum=2).on(name)
        return Reason.of(ReasonCode.NO_VARIATION, of=f"{self._what}s")

    @property
    def _what(self) -> str:
        return "prediction" if self.of == "selection" else self.of

    def _sums(self, side: ConfusionCounts) -> tuple[Array, Array, Array]:
        """Return rows, sum and sum of squares."""
        if self.of == "score":
            assert side.scores is not None
            return side.scores.every.sum(axis=-1), side.scores.total, side.scores.squares
        if self.of == "selection":  # of zeros and ones, the squares are themselves
            cells = side.counts(PREDICTION)
            return cells.sum(axis=-1), cells[..., 0], cells[..., 0]
        first, second = _SUMS[self.of]
        sums = side.moments_of(frozenset({self.of}))
        return sums["n"], sums[first], sums[second]

    def _spread(self, side: ConfusionCounts) -> tuple[Array, Array]:
        """Return rows, and the sum of squares about the mean."""
        n, total, squares = self._sums(side)
        with np.errstate(divide="ignore", invalid="ignore"):
            return n, np.maximum(squares - total**2 / n, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class OverallStandardisedDifference(ComparisonMetric):
    """100 times the difference of two selection rates over the standard deviation of all rows."""

    mean: str = "selection rate"
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.BINARY})
    needs_overall: ClassVar[bool] = True
    needs: ClassVar[frozenset[Need]] = PREDICTION
    formula: ClassVar[str] = (
        "100 (p_d - p_a) / sqrt(p (1 - p)), p_d, p_a, p: selection rates of d, a, all rows"
    )
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    edges: ClassVar[str] = (
        "undefined with no rows on a side, or when all rows have the same prediction"
    )

    def value(self, group: ConfusionCounts, reference: ConfusionCounts, profile: Profile) -> Array:
        ours, theirs = self.side_values(group, reference, profile)
        assert group.overall is not None
        overall = self.side_value(group.overall, profile)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = 100 * (ours - theirs) / np.sqrt(overall * (1 - overall))
        return np.where(np.isfinite(value), value, np.nan)

    def side_value(self, side: ConfusionCounts, profile: Profile) -> Array:
        del profile
        return divide(self.selected(side), self.size(side), Profile.DOCUMENTED)

    def size(self, side: ConfusionCounts) -> Array:
        """Return the rows of a side whose prediction is known."""
        return np.asarray(side.counts(PREDICTION).sum(axis=-1))

    def why_undefined(self, group: ConfusionCounts, reference: ConfusionCounts, at: int) -> Reason:
        for side, name in ((group, "group"), (reference, "reference")):
            if not self.size(side)[at]:
                return Reason.of(ReasonCode.NO_ROWS).on(name)
        return Reason.of(ReasonCode.NO_VARIATION, of="predictions")

    def selected(self, side: ConfusionCounts) -> Array:
        """Return the selected rows of a side."""
        return side.counts(PREDICTION)[..., 0]
