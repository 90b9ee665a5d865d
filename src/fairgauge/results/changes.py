"""What becomes of a rate, and of a disparity: of two reports, two models or two thresholds."""

from __future__ import annotations

import math
from typing import Literal

from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Direction, Performance, Status
from fairgauge.reasons import Reason
from fairgauge.results.codec import Finite, Inline, Share
from fairgauge.results.definitions import HasDefinition
from fairgauge.results.doubts import WhyWithheld
from fairgauge.results.estimates import Estimate
from fairgauge.results.scopes import NO_CLASS, OVERALL, ClassScope, Interval, Reference, Scope
from fairgauge.start.records import dataclass, replace

_ROUNDING = 1e-9
Became = Literal["further", "closer", "changed", "moved", "untested", "undefined", "stayed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RateChange(HasDefinition[Statistic]):
    """A rate of one group under both models, on the same rows.

    ``feature, group``: None and "all" of all rows.
    ``change, interval``: new less old, with its paired interval.
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
class DisparityChange(HasDefinition[Metric]):
    """A disparity before and after: under two models on the same rows, or in two reports.

    ``feature, group, reference``: no feature of an index of all rows; of reports as in the new one.
    ``by, change``: whether it changes by a difference (new - old) or by a ratio (new / old).
    ``distance``: the change of the distance from "no difference", of ratios of its logarithm.
    ``distance_adjusted``: its interval at the level at which it is tested among all disparities.
    ``direction``: closer to "no difference" or further from it; None where it cannot be known.
    ``crossed, other_side``: whether it is beyond "no difference" now, and significantly (Holm).
    ``changed``: whether the change itself is statistically significant, wherever it leads.
    ``change_p_value, change_p_adjusted, p_value, p_adjusted``: of no change, of "as far as before".
    ``significant``: whether the direction is statistically significant.
    ``margin, margin_interval``: by how much further it may be, and the interval held against it.
    ``outcome``: whether that whole interval is within it; None where it is no part of the verdict.
    ``overturned``: whether excluded rows could overturn that it is closer, or within its margin.
    ``mirror_of``: the other of just two groups, whose change is the mirror image of this one.
    ``before, after``: the estimates of two reports; None of models.
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
        """Return whether it is significantly further, or on the other side and not closer."""
        if self.significant:
            return self.direction is Direction.FURTHER
        return self.other_side

    @property
    def moved(self) -> bool:
        if self.old is None or self.new is None:
            return self.old is not self.new
        return not math.isclose(self.old, self.new, rel_tol=_ROUNDING, abs_tol=_ROUNDING)

    @property
    def size(self) -> float:
        if self.by == "ratio":
            return abs(math.log(self.change)) if self.change else math.inf
        return abs(self.change or 0.0)

    @property
    def apart(self) -> bool:
        old, new = self.old_interval, self.new_interval
        return old is not None and new is not None and (old.high < new.low or new.high < old.low)

    @property
    def untested(self) -> bool:
        return self.moved and self.change is not None and self.change_p_adjusted is None

    @property
    def became(self) -> Became:
        """Return what became of it: where it went if a test shows it, or whether it moved."""
        if self.change is None or not self.moved:
            return "undefined" if self.moved else "stayed"
        if self.significant and self.direction is not None:
            return "further" if self.direction is Direction.FURTHER else "closer"
        if self.changed:
            return "changed"
        return "untested" if self.untested else "moved"
