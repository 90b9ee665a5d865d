"""Joint names: two reports with one name for each group, so that they can be held together.

Names are unique within one report. What one of them calls "A & B & C" may be another group than
what the other calls so, and the same set of values may be listed in another order.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from fairgauge.identity import FeatureId, GroupId, feature_names, group_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairgauge.results.estimates import Estimate, Group
    from fairgauge.results.report import Report
    from fairgauge.results.verdicts import Verdict

    Named = TypeVar("Named", Estimate, Group, Verdict)
    Groups = dict[FeatureId, dict[GroupId, str]]


def with_joint_names(old: Report, new: Report) -> tuple[Report, Report]:
    """Return two reports in which a group has one name, and a name is of one group.

    Reports older than `fairgauge.report/3` do not state what their groups are: beside one of them
    groups of one name are taken to be the same.
    """
    groups: Groups = {}
    for report in (old, new):
        subjects: tuple[Estimate | Group, ...] = (*report.groups, *report.estimates)
        for each in subjects:
            if each.feature is None:
                continue
            if each.feature_id is None:
                return old, new
            of_feature = groups.setdefault(each.feature_id, {})
            if each.group_id is not None and each.group is not None:
                of_feature.setdefault(each.group_id, each.group)
    features = dict(zip(groups, feature_names(list(groups)), strict=True))
    for of_feature in groups.values():
        of_feature.update(zip(of_feature, group_names(list(of_feature)), strict=True))
    return _renamed(old, features, groups), _renamed(new, features, groups)


def _renamed(report: Report, features: Mapping[FeatureId, str], groups: Groups) -> Report:
    def in_joint_names(each: Named) -> Named:
        if each.feature_id is None:
            return each
        feature = features.get(each.feature_id)
        group = groups.get(each.feature_id, {}).get(each.group_id) if each.group_id else None
        return replace(each, feature=feature or each.feature, group=group or each.group)

    def with_reference(each: Estimate) -> Estimate:
        reference = each.reference
        if each.feature_id is None or reference is None or reference.group_id is None:
            return each
        name = groups[each.feature_id].get(reference.group_id, reference.group)
        return replace(each, reference=replace(reference, group=name))

    return replace(
        report,
        groups=tuple(map(in_joint_names, report.groups)),
        estimates=tuple(with_reference(in_joint_names(each)) for each in report.estimates),
        verdicts=tuple(map(in_joint_names, report.verdicts)),
    )
