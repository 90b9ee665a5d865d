"""What rules are for and no comparison holds: a group, a feature or a whole rule.

Nothing passes by absence, as in an audit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from fairgauge.errors import closest
from fairgauge.identity import texts_of
from fairgauge.measure.decide import OF_FEATURES
from fairgauge.monitoring._period_cubes import PeriodCubes
from fairgauge.monitoring.monitor_spec import MonitorRule, MonitorSpec
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.resolve.group_counts import GroupCounts, count_groups
from fairgauge.results.monitor_results import MonitoredComparison, Unmatched


def unmatched(
    asked: MonitorSpec, comparisons: Sequence[MonitoredComparison], cubes: PeriodCubes
) -> Iterator[Unmatched]:
    """Yield what rules are for and no comparison holds.

    ``asked`` has the references by name. All periods are read only where something may be absent.
    """
    if not cubes:
        yield from (Unmatched(rule=text) for text in dict.fromkeys(map(str, asked.rules)))
        return
    features: dict[str, GroupCounts] = {}
    for rule in asked.rules:
        own = [each for each in comparisons if each.rule == str(rule)]
        if not features and _may_lack(rule, own, asked):
            features = {e.feature: e for e in count_groups(cubes.blank, asked.question)}
        if features:
            yield from _of_rule(rule, own, features)


def _may_lack(rule: MonitorRule, own: Sequence[MonitoredComparison], asked: MonitorSpec) -> bool:
    """Return whether a rule may be for something that its comparisons do not hold."""
    named = {(feature, name) for feature in rule.features or (None,) for name in rule.groups}
    followed = {(feature, e.group) for e in own for feature in (e.feature, None)}
    compared = {each.feature for each in own if _has_both_sides(each)}
    return not (named <= followed and compared >= _features_of(rule, own, asked.question.audited))


def _features_of(
    rule: MonitorRule, own: Sequence[MonitoredComparison], features: Iterable[str]
) -> set[str]:
    """Return the features in which a rule compares groups; the groups that it names have some."""
    return {each.feature for each in own} if rule.groups else {*(rule.features or features)}


def _has_both_sides(each: MonitoredComparison) -> bool:
    return any(
        point.value is not None or (point.n_group and point.n_reference) for point in each.points
    )


def _of_rule(
    rule: MonitorRule, own: Sequence[MonitoredComparison], features: Mapping[str, GroupCounts]
) -> Iterator[Unmatched]:
    found = [*_absent_groups(rule, own, features), *_lone_features(rule, own, features)]
    if not own and not found:
        reason = Reason.of(ReasonCode.NO_ESTIMATE, what="metric", name=rule.metric)
        found = [Unmatched(rule=str(rule), reason=reason)]
    yield from found


def _absent_groups(
    rule: MonitorRule, own: Sequence[MonitoredComparison], features: Mapping[str, GroupCounts]
) -> Iterator[Unmatched]:
    """Yield the groups that a rule names and that are compared in no feature that it is for."""
    followed = {(each.feature, each.group) for each in own}
    for feature in rule.features or (None,):  # a rule has its groups in each feature it names
        held = [counts for counts in features.values() if feature in (counts.feature, None)]
        texts: dict[tuple[str, str], tuple[str, ...]] = {
            (of, group): (group,) for of, group in followed if feature in (of, None)
        }
        texts |= {
            (counts.feature, group): texts_of(group, group_id)
            for counts in held
            for group, group_id in zip(counts.groups, counts.group_ids, strict=True)
        }
        references = {
            (counts.feature, counts.groups[counts.named_reference])
            for counts in held
            if counts.named_reference is not None
        }
        for name in rule.groups:
            meant = {key for key, of in texts.items() if name in of}
            if meant & followed:
                continue
            nearest = reason = None
            if not meant:
                nearest = closest(name, chain(*texts.values()))
            elif meant & references:
                reason = Reason.of(ReasonCode.IS_REFERENCE, name=name)
            else:
                reason = Reason.of(ReasonCode.NO_ESTIMATE, what="group", name=name)
            yield Unmatched(
                rule=str(rule), group=name, nearest=nearest, feature=feature, reason=reason
            )


def _lone_features(
    rule: MonitorRule, own: Sequence[MonitoredComparison], features: Mapping[str, GroupCounts]
) -> Iterator[Unmatched]:
    """Yield the features in which a rule has no two groups to compare."""
    compares = rule.definition is not None and rule.definition.scope in OF_FEATURES
    asked = _features_of(rule, own, features)
    for feature, counts in features.items():
        size = len(counts.groups)
        if feature in asked and (size == 0 or (size == 1 and compares)):
            code = ReasonCode.FEWER_THAN_TWO_GROUPS if size else ReasonCode.NO_GROUPS
            yield Unmatched(rule=str(rule), feature=feature, reason=Reason.of(code))
