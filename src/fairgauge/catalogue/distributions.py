"""Comparisons of whole distributions: of labels and predictions, and of scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from fairgauge.catalogue.comparisons import ComparisonMetric
from fairgauge.catalogue.distances import DISTANCES, Distances
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

if TYPE_CHECKING:
    from fairgauge.catalogue.cells import Array, Need
    from fairgauge.catalogue.confusion_counts import ConfusionCounts


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
        if profile is Profile.CLARIFY:  # smclarify collapses to positive and negative first
            ours, theirs = (_collapsed(side, self.of) for side in (group, reference))
        else:
            ours, theirs = group.classes[self.of], reference.classes[self.of]
        return DISTANCES[self.by].between(theirs, ours, profile)

    def sizes(self, group: ConfusionCounts, reference: ConfusionCounts) -> tuple[Array, Array]:
        return group.classes[self.of].sum(axis=-1), reference.classes[self.of].sum(axis=-1)

    def why_undefined(self, group: ConfusionCounts, reference: ConfusionCounts, at: int) -> Reason:
        ours, _ = self.sizes(group, reference)
        side = "group" if ours[at] == 0 else "reference"
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
            most: Array = shared.max(axis=-1, initial=0.0)
            return most
        total: Array = (shared * (ours.high - ours.low)).sum(axis=-1)
        return total

    def sizes(self, group: ConfusionCounts, reference: ConfusionCounts) -> tuple[Array, Array]:
        return scores_of(group).every.sum(axis=-1), scores_of(reference).every.sum(axis=-1)

    def why_undefined(self, group: ConfusionCounts, reference: ConfusionCounts, at: int) -> Reason:
        ours, _ = self.sizes(group, reference)
        side = "group" if ours[at] == 0 else "reference"
        if self.by == "abroca":
            return Reason.of(ReasonCode.ONE_CLASS_ONLY, of="labels with scores")
        return Reason.of(ReasonCode.NO_ROWS, of="score").on(side)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossAuc(ComparisonMetric):
    """The AUC between the positives of one side and the negatives of the other."""

    positives: Literal["group", "reference"]
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.BINARY})

    @property
    def symmetric(self) -> bool:
        return False

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({"label", "score"})

    @property
    def formula(self) -> str:
        p, n = ("d", "a") if self.positives == "group" else ("a", "d")
        return f"P(score of a positive of {p} > score of a negative of {n}) + P(equal) / 2"

    @property
    def range(self) -> tuple[float, float]:
        return (0.0, 1.0)

    @property
    def neutral(self) -> float:
        return math.nan

    @property
    def edges(self) -> str:
        return "undefined without positives on the one side or negatives on the other"

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
