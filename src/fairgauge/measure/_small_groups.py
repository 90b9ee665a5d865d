"""Small groups: comparisons with a side below the smallest size asked for decide nothing."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from fairgauge.enums import ReferenceKind, Status
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.results.estimates import as_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairgauge.question.specification import Spec
    from fairgauge.resolve.group_counts import GroupCounts
    from fairgauge.results.estimates import Estimate, Group

_NAMED = (ReferenceKind.GROUP, ReferenceKind.BEST, ReferenceKind.LARGEST)
Small = dict[tuple[str, str | None], Reason]
"""By feature and group; by feature and None where fewer than two of its groups are large enough."""


def small_groups(features: Iterable[GroupCounts], spec: Spec) -> Small:
    """Return why each group below ``min_n`` or ``min_share`` is too small, by feature and name."""
    found: Small = {}
    if spec.min_n is None and spec.min_share is None:
        return found
    unit = "people" if spec.of_people else "rows"
    for counts in features:
        of_share = math.ceil(counts.every_case * (spec.min_share or 0.0))
        minimum = max(spec.min_n or 0, of_share)
        share = (
            {"share": spec.min_share, "total": as_count(counts.every_case), "unit": unit}
            if minimum == of_share
            else {}
        )
        sizes = dict(zip(counts.groups, counts.cases.tolist(), strict=True))
        for name, cases in sorted(sizes.items(), key=lambda item: item[1]):
            if cases < minimum:
                reason = Reason.of(
                    ReasonCode.SMALL_GROUP, n=as_count(cases), minimum=minimum, **share
                )
                found[counts.feature, name] = reason
                found[counts.feature, None] = reason  # the largest of them, in the end
        if sum(cases >= minimum for cases in sizes.values()) > 1:
            found.pop((counts.feature, None), None)
    return found


def mark_estimates(estimates: Sequence[Estimate], small: Small) -> list[Estimate]:
    """Return the estimates; those of a group that is too small name the side."""
    return [_marked(each, small) for each in estimates] if small else list(estimates)


def mark_groups(groups: Sequence[Group], small: Small) -> list[Group]:
    """Return the groups; the rates of those that are too small are marked."""
    return [_marked_rates(each, small) for each in groups] if small else list(groups)


def _replaceable(status: Status, reason: Reason | None) -> bool:
    """Return whether a result is sound, or only below the size that is needed in any case.

    The minimum asked for is then the reason, so that one group does not have two minimums.
    """
    few = status is Status.TOO_FEW and reason is not None and reason.code is ReasonCode.FEW_ROWS
    return status is Status.OK or few


def _marked(estimate: Estimate, small: Small) -> Estimate:
    if estimate.feature is None or not _replaceable(estimate.status, estimate.reason):
        return estimate
    reference = estimate.reference
    sides = {"group": estimate.group}
    if reference is not None and reference.kind in _NAMED:
        sides["reference"] = reference.group
    for side, name in sides.items():
        reason = small.get((estimate.feature, name))
        if reason is not None:
            reason = reason.on(side)
            return replace(estimate, status=Status.TOO_FEW, reason=reason)
    return estimate


def _marked_rates(group: Group, small: Small) -> Group:
    reason = small.get((group.feature, group.group))
    if reason is None or group.reference_kind is not None:
        return group
    rates = {
        name: replace(rate, status=Status.TOO_FEW, reason=reason)
        if _replaceable(rate.status, rate.reason)
        else rate
        for name, rate in group.rates.items()
    }
    return replace(group, rates=rates)
