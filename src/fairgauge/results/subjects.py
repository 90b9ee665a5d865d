"""The subject of an estimate or a verdict: what it is matched by between two reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from fairgauge.catalogue.lookup import Catalogue
    from fairgauge.results.estimates import Estimate
    from fairgauge.results.verdicts import Verdict

Subject: TypeAlias = tuple[str, str | None, str | None]
"""The metric, the feature, and the group; no group where the metric is of all groups."""


def is_of_all_groups(metric: str, catalogue: Catalogue) -> bool:
    """Return whether a metric is one number of all groups of a feature; an unknown one is not.

    Examples
    --------
    >>> from fairgauge.catalogue.lookup import BUILT_IN
    >>> is_of_all_groups("accuracy.largest_gap", BUILT_IN)
    True
    >>> is_of_all_groups("accuracy.difference", BUILT_IN), is_of_all_groups("accuracy", BUILT_IN)
    (False, False)
    """
    try:
        return catalogue.metric(metric).scope == "feature"
    except LookupError:
        return False


def subject_of(each: Estimate | Verdict, catalogue: Catalogue) -> Subject:
    """Return what an estimate or a verdict is about.

    The groups that a metric of all groups names are those that are furthest apart in this report.
    In another report they may be others, and it is the same metric of the same feature.
    """
    group = None if is_of_all_groups(each.metric, catalogue) else each.group
    return (each.metric, each.feature, group)
