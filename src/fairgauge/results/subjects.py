"""The subject of an estimate or a verdict: what it is matched by between two reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from fairgauge.catalogue.comparisons import Metric

if TYPE_CHECKING:
    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.results.estimates import Estimate
    from fairgauge.results.verdicts import Verdict

Subject: TypeAlias = tuple[str, str | None, str | None]
"""The metric, the feature, and the group; no group where the metric is of all groups."""


def is_of_all_groups(metric: Metric | Statistic) -> bool:
    """Return whether a metric is one number of all groups of a feature.

    Examples
    --------
    >>> from fairgauge.catalogue.lookup import find_metric, find_rate
    >>> is_of_all_groups(find_metric("accuracy.largest_gap"))
    True
    >>> is_of_all_groups(find_metric("DI")), is_of_all_groups(find_rate("accuracy"))
    (False, False)
    """
    return isinstance(metric, Metric) and metric.scope == "feature"


def subject_of(each: Estimate | Verdict) -> Subject:
    """Return what an estimate or a verdict is about.

    The groups that a metric of all groups names are those that are furthest apart in this report.
    In another report they may be others, and it is the same metric of the same feature.
    """
    group = None if is_of_all_groups(each.definition) else each.group
    return (each.metric, each.feature, group)
