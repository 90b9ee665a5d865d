"""Which metrics have exact bounds where counts are protected, and why the others have none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import Profile, ReferenceRule
from fairgauge.reasons import Reason, ReasonCode

if TYPE_CHECKING:
    from fairgauge.catalogue.comparisons import Metric
    from fairgauge.question.specification import Spec

_CHOSEN = (ReferenceRule.BEST, ReferenceRule.LARGEST)


def protection_obstacle(metric: Metric, spec: Spec) -> Reason | None:
    """Return why a metric has no exact bounds under protected counts, None where it has.

    Bounds are exact for differences and ratios of rates of groups that share no row, where it is
    known what is compared: counts that are rounded do not show which group is best or largest.
    """
    bounded = isinstance(metric, Contrast) and isinstance(metric.of, Rate)
    if not bounded or metric.scope != "group" or "score" in metric.needs:
        return Reason.of(ReasonCode.PROTECTED)
    if spec.reference in _CHOSEN and spec.profile is not Profile.CLARIFY:
        column = next((f.column for f in spec.sensitive), "COL")
        return Reason.of(
            ReasonCode.PROTECTED_REFERENCE, reference=str(spec.reference), column=column
        )
    if spec.reference is ReferenceRule.OVERALL or spec.profile is Profile.CLARIFY:
        return Reason.of(ReasonCode.PROTECTED)
    return None
