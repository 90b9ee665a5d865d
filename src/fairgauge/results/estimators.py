"""What every estimator makes of a comparison of groups of which only probabilities are known."""

from __future__ import annotations

from dataclasses import dataclass

from fairgauge.enums import Estimator
from fairgauge.results.codec import Finite, Inline
from fairgauge.results.scopes import NO_CLASS, ClassScope, Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class ByEstimator:
    """One comparison by one estimator; `Estimate` is by the one that decides.

    Attributes
    ----------
    metric, feature, group, class_scope, threshold : as of the `Estimate`.
    estimator : how the rates are estimated, and so what is assumed.
    decides : whether it is the one of the `Estimate`, and of verdicts.
    value : None of an estimator that has a range alone.
    interval : its confidence interval; of bounds the range that the data leave, widened by it.
    set_low, set_high : the range that the data leave, of bounds.
    effective_people : as how many people of known group, in the side with fewer, it is as precise.
    tipping_slope : of the likelihood, by how much the rate of people of one group would have to
        change from a probability of 0 to one of 1 for its interval to reach the limit of the rule,
        or no difference.
    """

    metric: str
    feature: str
    group: str
    class_scope: Inline[ClassScope] = NO_CLASS
    threshold: Finite | None = None
    estimator: Estimator
    decides: bool
    value: float | None = None
    interval: Inline[Interval]
    set_low: float | None = None
    set_high: float | None = None
    effective_people: Finite | None = None
    tipping_slope: Finite | None = None
