"""Change: what became of one disparity between two reports."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from fairgauge.catalogue.comparisons import Metric
from fairgauge.enums import Direction
from fairgauge.reasons import Reason
from fairgauge.results.codec import Inline, Share
from fairgauge.results.estimates import Estimate
from fairgauge.results.scopes import Interval

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One disparity, before and after.

    Attributes
    ----------
    old, new : the estimate in each report.
    by : whether the change is a difference (new - old) or a ratio (new / old).
    change : the change; None where one of the values is undefined.
    interval : its confidence interval, None where there is none.
    p_value, p_adjusted : of "no change", alone and adjusted for all changes that are compared.
    changed : whether the change itself is statistically significant, wherever it leads.
    direction : closer to "no difference" or further from it; None where it cannot be known.
    distance_p_adjusted : of "as far from no difference as before", adjusted likewise.
    significant : whether the direction is statistically significant.
    crossed : whether the disparity is now on the other side of "no difference".
    other_side : whether that is statistically significant: the side in either report, adjusted
        likewise.
    mirror_of : the other group, where just two are compared with each other and its change is the
        mirror image of this one: both are one comparison.
    size : how large the change is, for ordering: a share, a logarithm of a ratio, or relative to
        the rates.
    reason : why there is no change or no interval.
    """

    old: Estimate
    new: Estimate
    by: Literal["difference", "ratio"]
    change: float | None
    interval: Inline[Interval | None] = None
    p_value: Share | None = None
    p_adjusted: Share | None = None
    changed: bool = False
    direction: Direction | None = None
    distance_p_adjusted: Share | None = None
    significant: bool = False
    crossed: bool = False
    other_side: bool = False
    mirror_of: str | None = None
    size: float = 0.0
    reason: Reason | None = None

    @property
    def metric(self) -> str:
        """Return the metric of both estimates."""
        return self.new.metric

    @property
    def definition(self) -> Metric:
        """Return the metric itself."""
        return self.new.definition

    @property
    def feature(self) -> str | None:
        """Return the sensitive feature of both estimates."""
        return self.new.feature

    @property
    def group(self) -> str | None:
        """Return the group of both estimates; of a metric of all groups, that of the new one."""
        return self.new.group

    @property
    def threshold(self) -> float | None:
        """Return the score threshold, the new one where the two differ."""
        return self.new.threshold if self.new.threshold is not None else self.old.threshold

    @property
    def moved(self) -> bool:
        """Return whether the two values differ at all."""
        if self.old.value is None or self.new.value is None:
            return self.old.value is not self.new.value
        return not math.isclose(
            self.old.value, self.new.value, rel_tol=_ROUNDING, abs_tol=_ROUNDING
        )
