"""What becomes of a rate, and of a disparity: of two reports, two models or two thresholds."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Direction, Performance, Status
from fairgauge.reasons import Reason
from fairgauge.results.codec import Finite, Inline, Share
from fairgauge.results.definitions import OfRow
from fairgauge.results.doubts import WhyWithheld
from fairgauge.results.estimates import Estimate
from fairgauge.results.scopes import NO_CLASS, OVERALL, ClassScope, Interval, Reference, Scope

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class RateChange(OfRow[Statistic]):
    """A rate of one group under both models, on the same rows.

    Attributes
    ----------
    rate : its name.
    feature, group : whose; None and "all" of all rows.
    scope, class_scope, threshold : which rows, classes and score threshold.
    old, new : under the model in use and the candidate; None where undefined.
    change : new less old.
    interval : its paired confidence interval, None where there is none.
    p_value : of no change.
    n : the (effective) rows that it rests on.
    status, reason : whether the numbers can be relied on, and why not, or why there is no interval.
    """

    rate: str
    feature: str | None
    group: str
    scope: Inline[Scope] = OVERALL
    class_scope: Inline[ClassScope] = NO_CLASS
    threshold: Finite | None = None
    old: float | None = None
    new: float | None = None
    change: float | None = None
    interval: Interval | None = None
    p_value: Share | None = None
    n: Finite | None = None
    status: Status = Status.OK
    reason: Reason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DisparityChange(OfRow[Metric]):
    """A disparity before and after: under two models on the same rows, or in two reports.

    Attributes
    ----------
    metric, feature, group, reference : the metric, and who is compared with whom; no feature for
        an index of all rows. Of two reports, as in the new one.
    scope, class_scope, threshold : which rows, classes and score threshold.
    old, new : its values; None where undefined.
    old_interval, new_interval : their confidence intervals; None where there is none.
    by : whether it changes by a difference (new - old) or by a ratio (new / old).
    change, interval : the change, and its confidence interval.
    distance, distance_interval : the change of the distance from "no difference"; negative where
        it is closer; of ratios, of the logarithm's.
    direction : closer to "no difference" or further from it; None where it cannot be known.
    crossed : whether it is now on the other side of "no difference".
    other_side : whether that is statistically significant: the side before and after, adjusted
        (Holm) for all disparities that are compared.
    changed : whether the change itself is statistically significant, wherever it leads.
    change_p_value, change_p_adjusted : of no change, alone and adjusted likewise.
    p_value, p_adjusted : of "as far as before", likewise.
    distance_adjusted : the interval of the change of the distance at the level at which it is
        tested among all disparities; it excludes 0 just where `p_adjusted` is significant.
    significant : whether the direction is statistically significant.
    margin : by how much further from "no difference" it may be; of ratios a share. None where no
        margin is stated.
    margin_interval : the interval of the change of the distance that is held against the margin;
        of a minimum or maximum over groups, of how much worse it is.
    outcome : non-inferior where that whole interval is within the margin, inferior where it is
        beyond at the level of all such tests of the candidate; None where it is no part of the
        verdict.
    overturned : whether the rows that are excluded could overturn that it is closer, or within its
        margin: then it counts as neither.
    n_group, n_reference : (effective) rows of both sides.
    status, reason : whether the numbers can be relied on, and why not, or why there is no interval.
    mirror_of : the other group, where just two are compared with each other and its change is the
        mirror image of this one: both are one comparison.
    before, after : the estimates of two reports; None of models.
    """

    metric: str
    feature: str | None
    group: str | None
    reference: Inline[Reference | None]
    scope: Inline[Scope] = OVERALL
    class_scope: Inline[ClassScope] = NO_CLASS
    threshold: Finite | None = None
    old: float | None = None
    new: float | None = None
    old_interval: Interval | None = None
    new_interval: Interval | None = None
    by: Literal["difference", "ratio"] = "difference"
    change: float | None = None
    interval: Interval | None = None
    distance: float | None = None
    distance_interval: Interval | None = None
    direction: Direction | None = None
    crossed: bool = False
    other_side: bool = False
    changed: bool = False
    change_p_value: Share | None = None
    change_p_adjusted: Share | None = None
    p_value: Share | None = None
    p_adjusted: Share | None = None
    distance_adjusted: Interval | None = None
    significant: bool = False
    margin: Finite | None = None
    margin_interval: Interval | None = None
    outcome: Performance | None = None
    overturned: bool = False
    n_group: Finite | None = None
    n_reference: Finite | None = None
    status: Status = Status.OK
    reason: Reason | None = None
    mirror_of: str | None = None
    before: Estimate | None = None
    after: Estimate | None = None

    def withheld(self, why: WhyWithheld) -> DisparityChange:
        """Return it overturned where it stands on something doubted: not closer, nor as good."""
        is_as_good = self.outcome is Performance.NON_INFERIOR
        is_closer = self.significant and self.direction is Direction.CLOSER
        if not (is_as_good or is_closer) or why(self.definition.needs, self.feature) is None:
            return self
        outcome = Performance.CANNOT_TELL if is_as_good else self.outcome
        return replace(self, outcome=outcome, overturned=True)

    @property
    def worse(self) -> bool:
        """Return whether a disparity is statistically significantly worse.

        It is further from no difference, or on the other side of it and not closer.
        """
        if self.significant:
            return self.direction is Direction.FURTHER
        return self.other_side

    @property
    def moved(self) -> bool:
        """Return whether the two values differ at all."""
        if self.old is None or self.new is None:
            return self.old is not self.new
        return not math.isclose(self.old, self.new, rel_tol=_ROUNDING, abs_tol=_ROUNDING)

    @property
    def apart(self) -> bool:
        """Return whether the confidence intervals of both values share no value."""
        old, new = self.old_interval, self.new_interval
        return old is not None and new is not None and (old.high < new.low or new.high < old.low)

    @property
    def untested(self) -> bool:
        """Return whether a disparity moved, and no test shows by more than sampling variation."""
        return self.moved and self.change is not None and self.change_p_adjusted is None
