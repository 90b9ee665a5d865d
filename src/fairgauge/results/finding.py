"""Finding: a disparity that a report leads with, why it was chosen, and adjusted for what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fairgauge.enums import FindingReason
from fairgauge.results.codec import Finite, Inline, Share
from fairgauge.results.describers import in_words
from fairgauge.results.estimates import Estimate
from fairgauge.results.scopes import (
    ClassScope,
    Interval,
    Reference,
    SavedFeatureId,
    SavedGroupId,
    Scope,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyOfTests:
    """The tests that a report judges together: adjusted p-values and wider intervals are for these.

    Attributes
    ----------
    comparisons : comparisons, of all metrics and features, that the data can decide; a difference
        and the ratio beside it are one, as are two groups that mirror each other.
    homogeneity : tests of whether the groups of a feature differ at all in a rate.
    all_pairs : sets of all pairs of groups, one for each of these.
    """

    DERIVED_FIRST: ClassVar = ("tests",)

    comparisons: int
    homogeneity: int = 0
    all_pairs: int = 0

    @property
    def tests(self) -> int:
        """Return how many tests are judged together."""
        return self.comparisons + self.homogeneity + self.all_pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A disparity that a report leads with: the group of a feature that fares worst in a rate.

    Which direction is the worse one, the user states (``favourable``), or it is that of the rate.

    Attributes
    ----------
    rate : the rate that is compared; of a metric that compares none, such as a median, its name.
    why : why it is a finding, the criterion that chose it first.
    estimate : the comparison of the group that fares worst: its difference, or its ratio where only
        ratios are asked for.
    interval : the confidence interval that a report shows of it: the one that holds together with
        those of all comparisons of the report.
    p_adjusted : of "no difference", adjusted for these; None where there is no test.
    family : the tests that it is adjusted for, its own among them; None where there is no test.
    ratio : the ratio beside a difference.
    adjusted, adjusted_for : the same comparison adjusted for the strata, and their column.
    beside : the significant contrast of the same group in the rate that is reported with this one:
        the true and the false positive rate are one finding.
    others, others_beside : the significant contrasts of other groups in these two rates, the
        largest first.
    limits, ratio_limits : the limits of rules on the difference and on the ratio of the rate, in
        the direction group minus reference: no number is rounded onto one of them.
    one_of_thresholds : whether the report has the same comparison at other thresholds.
    """

    DERIVED_FIRST: ClassVar = (
        "metric", "feature", "feature_id", "group", "group_id", "reference", "scope", "class_scope",
        "threshold",
    )  # fmt: skip
    DERIVED: ClassVar = ("says",)

    rate: str
    why: tuple[FindingReason, ...]
    interval: Inline[Interval | None]
    p_adjusted: Share | None
    family: FamilyOfTests | None = None
    estimate: Estimate
    ratio: Estimate | None = None
    adjusted: Estimate | None = None
    beside: Estimate | None = None
    adjusted_for: str | None = None
    others: tuple[Estimate, ...] = ()
    others_beside: tuple[Estimate, ...] = ()
    limits: tuple[Finite, ...] = ()
    ratio_limits: tuple[Finite, ...] = ()
    one_of_thresholds: bool = False

    @property
    def metric(self) -> str:
        """Return the metric of the estimate."""
        return self.estimate.metric

    @property
    def feature(self) -> str | None:
        """Return the sensitive feature."""
        return self.estimate.feature

    @property
    def group(self) -> str | None:
        """Return the group that fares worst."""
        return self.estimate.group

    @property
    def feature_id(self) -> SavedFeatureId:
        """Return what the feature is."""
        return self.estimate.feature_id

    @property
    def group_id(self) -> SavedGroupId:
        """Return what the group is."""
        return self.estimate.group_id

    @property
    def reference(self) -> Inline[Reference | None]:
        """Return what the group is compared with."""
        return self.estimate.reference

    @property
    def scope(self) -> Inline[Scope]:
        """Return which rows it is of."""
        return self.estimate.scope

    @property
    def class_scope(self) -> Inline[ClassScope]:
        """Return which classes of a multiclass audit it is of."""
        return self.estimate.class_scope

    @property
    def threshold(self) -> Finite | None:
        """Return the score threshold, None where it is at none."""
        return self.estimate.threshold

    @property
    def says(self) -> str:
        """Return the finding as a sentence."""
        return in_words("finding_sentences:describe_finding", self)
