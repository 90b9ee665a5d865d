"""Deciding: compares the estimates with the rules, one verdict for each rule and group.

A rule passes where the whole interval is inside its limits, fails where it is outside, and is
inconclusive otherwise: the absence of evidence is no evidence of absence. Where rows have no group,
it must come to the same with the interval moved as far as they could move the value, whichever
groups they are in; and it passes only if it does with the interval moved as far as missing labels
and predictions could move it. A rule that matches nothing is not evaluated.

A verdict of its own fails falsely in at most half of one minus its confidence level. Holm's
step-down procedure keeps all of them together at that. Passes are not adjusted: the overall verdict
is a pass only where every one is, which is an intersection-union test.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from typing import cast

import numpy as np

from fairgauge.catalogue.across import Across, is_smallest
from fairgauge.catalogue.comparisons import Contrast, Metric, RowMetric
from fairgauge.catalogue.directions import AMOUNTS, is_ratio
from fairgauge.cube.cube import Cube
from fairgauge.enums import (
    OF_PROBABILITIES,
    Decide,
    DiagnosticCode,
    Insufficient,
    Multiplicity,
    Outcome,
    ReferenceKind,
    ReferenceRule,
    ScopeKind,
    Status,
)
from fairgauge.errors import SpecError, closest, listing
from fairgauge.identity import is_named
from fairgauge.inference.missing_values import MANY_MISSING
from fairgauge.inference.possible import WorstCase, worst_case_limits
from fairgauge.measure.measure import measure
from fairgauge.measure.measured import Measured, Shown
from fairgauge.question import category_words as words
from fairgauge.question.features import ByColumn
from fairgauge.question.kits import word_for_positive
from fairgauge.question.rules import Rule, allows, decide_range, distance_inside
from fairgauge.question.specification import Spec
from fairgauge.reasons import NOT_EVALUABLE, Reason, ReasonCode, join_reasons
from fairgauge.resolve.outcomes import recorded_outcomes
from fairgauge.resolve.question_checks import accept_reference, depends_on_favourable
from fairgauge.results.estimates import ComparisonKey, Estimate, Group
from fairgauge.results.scopes import OVERALL, Diagnostic, Interval, not_counted
from fairgauge.results.verdicts import GRAVEST_FIRST, Verdict, counting, gravest, overall
from fairgauge.start.records import replace
from fairgauge.stats.intervals import critical
from fairgauge.values import is_one_of, matches, name_of

_BY_INTERVAL = (ReasonCode.INSIDE, ReasonCode.BELOW, ReasonCode.ABOVE)
_BY_VALUE = (
    ReasonCode.POINT_INSIDE, ReasonCode.POINT_OUTSIDE, ReasonCode.SIGNIFICANT_OUTSIDE,
)  # fmt: skip
_OUTSIDE = (ReasonCode.BELOW, ReasonCode.ABOVE, ReasonCode.SIGNIFICANT_OUTSIDE)
INSUFFICIENT = {
    Insufficient.REPORT: Outcome.NOT_EVALUATED,
    Insufficient.PASS: Outcome.PASS,
    Insufficient.FAIL: Outcome.FAIL,
    Insufficient.IGNORE: Outcome.NONE,
}
"""What a rule comes to where data are insufficient."""
OF_FEATURES = ("group", "feature", "pooled")
"""The scopes of metrics that every feature has."""
_MOST_ROWS = 1e12

Decision = tuple[Outcome, Reason]


def judge(
    measured: Measured, rules: Iterable[Rule], *, explain: bool = True
) -> tuple[Verdict, ...]:
    """Hold the estimates against the rules: one verdict for each rule and group.

    Estimates within single strata never decide. Of several classes or thresholds the worst counts.
    With ``explain``, an inconclusive verdict states the rows that would decide it.
    """
    return tuple(
        verdict for rule in rules for verdict in _verdicts_of_rule(measured, rule, explain)
    )


def interval_decisions(measured: Measured, rules: Iterable[Rule]) -> list[Outcome]:
    """Return what each comparison comes to that a confidence interval decides.

    Two groups that mirror each other are one comparison. A verdict is the worst of several where
    there are several classes or thresholds.
    """
    found: list[Outcome] = []
    for rule in rules:
        by_comparison: dict[tuple[object, ...], list[Outcome]] = {}
        for each in _subjects(measured, rule):
            if rule.decide is not Decide.POINT and each.status is Status.OK and each.interval:
                group = None if _spans_groups(rule) else each.mirror_of or each.group
                key = each.feature, group, each.class_scope, each.threshold
                outcome, _ = _decide_after_uncounted(each, rule, measured)
                by_comparison.setdefault(key, []).append(outcome)
        found += map(gravest, by_comparison.values())
    return found


def _subjects(measured: Measured, rule: Rule) -> Iterator[Estimate]:
    # what a rule is held against: estimates, and rates of groups as estimates without a reference
    yield from _estimates(measured, rule)
    seen = set()
    for group in measured.groups:
        rate = group.rates.get(rule.metric)
        if rate is None or group.scope != OVERALL or group.reference_kind is not None:
            continue
        if not group.class_scope.is_single:
            continue
        threshold = group.threshold if "prediction" in rule.row.needs else None
        key = group.feature, group.group, group.class_scope, threshold
        if key not in seen and _is_for(rule, group):
            seen.add(key)
            yield Estimate(
                metric=rule.metric, definition=cast("Metric", rule.row), set="", reference=None,
                feature=group.feature, group=group.group, class_scope=group.class_scope,
                threshold=threshold, value=rate.value, interval=rate.interval, bounds=rate.bounds,
                n_group=group.n, status=rate.status, reason=rate.reason,
            )  # fmt: skip


def _verdicts_of_rule(measured: Measured, rule: Rule, explain: bool) -> Iterator[Verdict]:
    subjects: dict[tuple[str | None, str | None], list[Estimate]] = {}
    of_all_groups = _spans_groups(rule)
    for each in _subjects(measured, rule):
        # a metric of all groups names those that are furthest apart, in each class or threshold; of
        # two groups that mirror each other, one stands for both
        key = (each.feature, None if of_all_groups else each.mirror_of or each.group)
        subjects.setdefault(key, []).append(each)
    for several in subjects.values():
        decisions = [(each, *_decide_after_uncounted(each, rule, measured)) for each in several]
        each, outcome, reason = min(
            decisions,
            key=lambda one: (
                GRAVEST_FIRST.index(one[1]),
                one[0].status is not Status.OK,
                _distance_inside(one[0], rule),
                one[0].mirror_of is not None,
            ),
        )
        groups = dict.fromkeys(one.group for one in several if not of_all_groups)
        crosses = (
            explain and reason.code is ReasonCode.CROSSES and not _rests_on_probabilities(each)
        )
        of_part = _is_part(each, rule, measured)
        if crosses and rule.definition is not None and each.bounds is None and not of_part:
            reason = _add_needed_rows(reason, each, rule, measured)
        yield replace(
            _verdict(measured, rule, each.feature, each.group, (outcome, reason)),
            mirror=next((group for group in groups if group != each.group), None),
            class_scope=each.class_scope,
            threshold=each.threshold if len({one.threshold for one in several}) > 1 else None,
            value=each.value,
            interval=each.interval,
            group_id=measured.group_id(each.feature, each.group),
        )
    matched = {(each.feature, each.group) for several in subjects.values() for each in several}
    yield from _unmatched_verdicts(measured, rule, matched)


def _rests_on_probabilities(each: Estimate) -> bool:
    return each.interval is not None and not OF_PROBABILITIES.isdisjoint(each.interval.methods)


def _spans_groups(rule: Rule) -> bool:
    return rule.definition is not None and rule.definition.scope == "feature"


def _distance_inside(each: Estimate, rule: Rule) -> float:
    if each.value is None:
        return math.inf
    of_ratio = rule.row is not None and is_ratio(rule.row)  # as far as its inverse
    return distance_inside(each.value, rule.low, rule.high, of_ratio=of_ratio)


def is_judged(estimate: Estimate) -> bool:
    """Return whether rules are held against an estimate: over all rows, unless all are pooled."""
    pooled = estimate.definition.scope == "pooled"
    return estimate.scope.kind is (ScopeKind.POOLED if pooled else ScopeKind.OVERALL)


def _estimates(measured: Measured, rule: Rule) -> Iterator[Estimate]:
    for estimate in measured.estimates:
        if estimate.metric != rule.metric or not estimate.class_scope.is_single:
            continue
        if not is_judged(estimate) or not _is_for(rule, estimate):
            continue
        adequate = measured.adequate.get(_key(estimate, rule))
        if adequate is None:
            yield estimate
            continue
        for part in adequate.estimates:
            yield replace(
                estimate, group=part.group, value=part.value, interval=part.interval,
                status=Status.OK, reason=part.reason,
            )  # fmt: skip
        yield replace(estimate, status=Status.TOO_FEW, reason=join_reasons(adequate.reasons))


def _is_part(each: Estimate, rule: Rule, measured: Measured) -> bool:
    # of an extreme, where the data do not suffice for all of it
    return each.status is Status.OK and _key(each, rule) in measured.adequate


def _key(each: Estimate, rule: Rule) -> ComparisonKey:
    group = None if _spans_groups(rule) else each.group
    return rule.metric, each.feature, group, OVERALL, each.class_scope, each.threshold


def _is_for(rule: Rule, of: Estimate | Group) -> bool:
    if rule.features and not is_named(rule.features, of.feature, of.feature_id):
        return False
    return not rule.groups or is_named(rule.groups, of.group, of.group_id)


def _unmatched_verdicts(
    measured: Measured, rule: Rule, matched: Collection[tuple[str | None, str | None]]
) -> Iterator[Verdict]:
    # That is every group that it names, in every feature that it names, every feature without a
    # comparison, or the rule itself. ``matched`` are the features and groups that have a verdict.
    names_by_feature = {
        feature: list(groups)
        for feature, groups in measured.group_ids.items()
        if not rule.features or is_named(rule.features, feature, measured.feature_ids[feature])
    }
    unmatched = list(_unmatched_groups(measured, rule, matched, names_by_feature))
    judged = {feature for feature, _ in matched}
    for feature, names in names_by_feature.items() if not rule.groups else ():
        if not names:
            unmatched.append((feature, None, Reason.of(ReasonCode.NO_GROUPS)))
        elif feature in judged:
            continue
        elif len(names) == 1 and _is_of_features(rule):  # its only group is the reference
            unmatched.append((feature, None, Reason.of(ReasonCode.FEWER_THAN_TWO_GROUPS)))
        elif rule.features:
            unmatched.append((feature, None, _reason_without_estimate("metric", rule.metric, ())))
    if not matched and not unmatched:
        first = rule.features[0] if rule.features else None
        unmatched.append((first, None, _reason_without_estimate("metric", rule.metric, ())))
    for of, group, reason in unmatched:
        yield _verdict(measured, rule, of, group, _decide_without_value(rule, reason))


def _verdict(
    measured: Measured, rule: Rule, feature: str | None, group: str | None, decided: Decision
) -> Verdict:
    return Verdict(
        rule=str(rule),
        metric=rule.metric,
        definition=rule.row,
        feature=feature,
        group=group,
        outcome=decided[0],
        reason=decided[1],
        feature_id=measured.feature_ids.get(feature or ""),
    )


def _is_of_features(rule: Rule) -> bool:
    return rule.definition is not None and rule.definition.scope in OF_FEATURES


def _unmatched_groups(
    measured: Measured,
    rule: Rule,
    matched: Collection[tuple[str | None, str | None]],
    features: Collection[str],
) -> Iterator[tuple[str | None, str | None, Reason]]:
    # a rule that names features too is on its groups in each of them: "A" of sex is not "A" of
    # race, and a verdict on one of the two decides nothing on the other
    every = dict.fromkeys((*features, *(at for at, _ in matched)))
    for feature in rule.features or (None,):
        here = [
            at
            for at in every
            if feature is None or is_named([feature], at, measured.feature_ids.get(at or ""))
        ]
        groups = [group for at in here for group in measured.group_ids.get(at or "", {}).items()]
        judged = [(group, measured.group_id(at, group)) for at, group in matched if at in here]
        references = [
            (str(each.reference), each.reference.group_id)
            for each in measured.estimates
            if each.metric == rule.metric and each.reference and each.feature in here
        ]
        for name in rule.groups:
            if any(is_named([name], *group) for group in judged):
                continue
            known = any(is_named([name], *group) for group in groups)
            if known and any(is_named([name], *reference) for reference in references):
                yield feature, name, Reason.of(ReasonCode.IS_REFERENCE, name=name)
                continue
            others = () if known else [text for text, _ in groups]
            yield feature, name, _reason_without_estimate("group", name, others)


def _decide_without_value(rule: Rule, reason: Reason) -> Decision:
    # what a rule without a value counts as; never a pass where nothing was evaluated
    outcome = INSUFFICIENT[rule.insufficient]
    if outcome is Outcome.PASS and reason.code in NOT_EVALUABLE:
        outcome = Outcome.NOT_EVALUATED
    if outcome not in (Outcome.PASS, Outcome.FAIL):
        return outcome, reason
    return outcome, counting(reason, Outcome.NOT_EVALUATED, outcome, by_rule=True)


def _reason_without_estimate(what: str, name: str, known: Sequence[str]) -> Reason:
    near, values_there = closest(name, known), listing(known) if known else None
    return Reason.of(ReasonCode.NO_ESTIMATE, what=what, name=name, nearest=near, held=values_there)


def _decide_after_uncounted(each: Estimate, rule: Rule, measured: Measured) -> Decision:
    # decide, but pass nothing where many rows were not counted; a fail stays
    outcome, reason = _decided_by_counts(each, rule, measured)
    lacking = not_counted(measured.uncounted, measured.unit, alone=str(outcome))
    if lacking is None:
        return outcome, reason
    if outcome is Outcome.PASS:
        return Outcome.INCONCLUSIVE, lacking
    if reason.code in (*_OUTSIDE, ReasonCode.POINT_OUTSIDE) and reason.get("missing") is None:
        of = {"missing": lacking["rows"], "what": lacking["what"], "unit": lacking.get("unit")}
        given = dict(reason.parameters) | of
        reason = Reason.of(reason.code, **given)
    return outcome, reason


def _decided_by_counts(each: Estimate, rule: Rule, measured: Measured) -> Decision:
    # A fail that rows without an outcome could change stays one, and its reason states how far; so
    # does one that a bound alone would take back, which no table need reach. Of a rule that is
    # decided by the value ("point"), rows without a group are a note. What has no worst case does
    # not pass where many rows of a group lack an outcome, or many have no group. Groups that nobody
    # recorded pass only by a random sample of people of known group, and neither pass nor fail by
    # probabilities that these people contradict.
    alone = len(measured.group_ids.get(each.feature or "", ())) == 1  # its feature has one group
    if each.value is None and alone and _is_of_features(rule):
        return _decide_without_value(rule, Reason.of(ReasonCode.FEWER_THAN_TWO_GROUPS))
    outcome, reason = _decide(each, rule)
    if outcome in (Outcome.PASS, Outcome.FAIL) and _rests_on_probabilities(each):
        return _decide_by_sample(each, rule, measured, (outcome, reason))
    is_part = outcome is Outcome.FAIL and _is_part(each, rule, measured)
    if is_part:
        value, smallest = each.value or 0.0, is_smallest(each.definition)
        if not (value < rule.low if smallest else value > rule.high):
            return Outcome.NONE, reason  # the parts without enough data may be more extreme
    if is_part and isinstance(each.definition, Across):
        reason = Reason.of(reason.code, limit=reason.get("limit"), sufficient=True)
    by_value = reason.code in _BY_VALUE
    if outcome not in (Outcome.PASS, Outcome.FAIL) or not (by_value or reason.code in _BY_INTERVAL):
        return outcome, reason
    cases = measured.worst_cases.get(_key(each, rule), ())
    for worst in cases:
        if by_value and (not worst.outcomes and rule.decide is Decide.POINT):
            continue
        if worst.outcomes and outcome is Outcome.FAIL:
            # to blank the predictions of a failing group must not take back the fail
            reason = _add_worst_case(reason, each, worst, rule, measured.unit)
            continue
        if not worst.attained and outcome is Outcome.FAIL:
            continue
        low, high = (worst.low, worst.high) if by_value else _worst_case_interval(each, worst, rule)
        if decide_range(low, high, rule) is not outcome:
            worst = replace(worst, low=low, high=high)
            return _leave_open(worst, outcome, measured, by_value=by_value)
    if outcome is Outcome.PASS:
        noted = {False} if by_value and rule.decide is Decide.POINT else set()
        bounded = {worst.outcomes for worst in cases} | noted
        for code, rows in _many_missing(each, rule, measured, bounded):
            unit, passed = measured.unit, str(outcome)
            why = Reason.of(code, rows=rows, unit=unit, alone=passed, unbounded=True)
            return Outcome.INCONCLUSIVE, why
    return outcome, reason


def _leave_open(
    worst: WorstCase, alone: Outcome, measured: Measured, *, by_value: bool
) -> Decision:
    code = ReasonCode.MISSING_OUTCOMES if worst.outcomes else ReasonCode.MISSING_GROUPS
    known = math.isfinite(worst.low)  # else anywhere
    return Outcome.INCONCLUSIVE, Reason.of(
        code, **worst.facts(), unit=measured.unit, alone=str(alone),
        by_value=by_value or None, **({"low": worst.low, "high": worst.high} if known else {}),
    )  # fmt: skip


def _many_missing(
    each: Estimate, rule: Rule, measured: Measured, bounded: Container[bool]
) -> Iterator[tuple[ReasonCode, int]]:
    # outcomes and groups whose worst cases are known are ``bounded`` (True, False)
    feature = each.feature or ""
    if True not in bounded:
        lacking = [measured.lacking.get((feature, need), {}) for need in rule.row.needs]
        # the groups that are, or may be in, what is judged: a rate, a side of two, or all
        reference = each.reference
        named = reference is not None and reference.group is not None and not _spans_groups(rule)
        everyone = rule.definition is not None and not named
        sides = (each.group, reference.group if reference else None)
        rows = [sum(n for group, n in of.items() if everyone or group in sides) for of in lacking]
        if any(rows):
            yield ReasonCode.MISSING_OUTCOMES, max(rows)
    if False not in bounded:
        without, weighing, smallest = measured.groupless.get(feature, (0, 0.0, 0.0))
        if not _spans_groups(rule):  # of two sides the smaller one
            sizes = (n for n in (each.n_group, each.n_reference) if n is not None)
            smallest = min(sizes, default=smallest)
        if without and weighing >= MANY_MISSING * smallest:
            yield ReasonCode.MISSING_GROUPS, without


def _add_worst_case(
    reason: Reason, each: Estimate, worst: WorstCase, rule: Rule, unit: str | None
) -> Reason:
    # That is the interval, or the value by which it is decided. Where no value could be allowed,
    # but it might not be significant, it is stated without ends.
    moved = _worst_case_interval(each, worst, rule)
    low, high = (worst.low, worst.high) if reason.code in _BY_VALUE else moved
    ends: dict[str, float] = {}
    if decide_range(low, high, rule) is not Outcome.FAIL:
        ends = {"low": low, "high": high}
    elif reason.code is not ReasonCode.SIGNIFICANT_OUTSIDE or not _includes_none(moved, rule):
        return reason
    missing = worst.rows + worst.groupless
    return Reason.of(reason.code, **dict(reason.parameters), missing=missing, unit=unit, **ends)


def _decide_by_sample(
    each: Estimate, rule: Rule, measured: Measured, decided: Decision
) -> Decision:
    # a pass has to be right whatever the probabilities are: by a random sample of people's answers
    shown = measured.shown.get(_key(each, rule), Shown(0))
    if shown.contradiction is not None:
        return Outcome.INCONCLUSIVE, shown.contradiction
    outcome, _ = decided
    by_value = rule.decide is not Decide.INTERVAL
    for outcomes, rows in ((False, shown.unplaced), (True, shown.lacking)):
        if not rows or shown.worst is None or each.interval is None:
            continue
        z = 0.0 if by_value else critical(each.interval.level)
        low, high = shown.worst(z, outcomes=outcomes)
        stands = outcome is Outcome.FAIL and (outcomes or rule.decide is Decide.POINT)
        if not stands and decide_range(low, high, rule) is not outcome:
            worst = WorstCase(low, high, rows, outcomes=outcomes)
            return _leave_open(worst, outcome, measured, by_value=by_value)
    if outcome is Outcome.PASS and not shown.random:
        return Outcome.INCONCLUSIVE, Reason.of(ReasonCode.UNSHOWN_PROBABILITIES, known=shown.known)
    return decided


def _worst_case_interval(each: Estimate, worst: WorstCase, rule: Rule) -> tuple[float, float]:
    if each.value is None or each.interval is None:
        return worst.low, worst.high
    ratio = rule.definition is not None and is_ratio(rule.definition)
    low, high, least, greatest, value = map(
        np.asarray, (*each.interval, worst.low, worst.high, each.value)
    )
    below, above = worst_case_limits(
        (low, high), (least, greatest), value, ratio=ratio, wider=worst.wider
    )
    return max(float(below), rule.row.range[0]), min(float(above), rule.row.range[1])


def _decide(each: Estimate, rule: Rule) -> Decision:
    ranged = _rests_on_probabilities(each) and rule.decide is not Decide.POINT
    if each.status is not Status.OK or (each.value is None and not ranged):
        return _decide_without_value(rule, each.reason or Reason.of(ReasonCode.NO_VALUE))
    if each.reason is not None and each.reason.code is ReasonCode.STRATA_MISSING:
        return Outcome.INCONCLUSIVE, each.reason
    if rule.decide is not Decide.INTERVAL and each.bounds is not None:
        low, high = each.bounds
        if decide_range(low, high, rule) is Outcome.INCONCLUSIVE:
            likely = (each.interval is not None and each.interval.of_sites) or None
            ends = {"low": low, "high": high, "likely": likely}
            return Outcome.INCONCLUSIVE, Reason.of(ReasonCode.BOUNDS_CROSS, **ends)
    if rule.decide is not Decide.INTERVAL and each.value is not None and allows(rule, each.value):
        by = str(rule.decide) if rule.decide is Decide.SIGNIFICANT else None
        return Outcome.PASS, Reason.of(ReasonCode.POINT_INSIDE, decide=by)
    if rule.decide is Decide.POINT:
        return Outcome.FAIL, Reason.of(ReasonCode.POINT_OUTSIDE)
    if each.interval is None:
        return Outcome.NOT_EVALUATED, each.reason or Reason.of(ReasonCode.NO_INTERVAL)
    return _decide_by_interval(each.interval, rule)


def _decide_by_interval(interval: Interval, rule: Rule) -> Decision:
    low, high = interval
    if rule.decide is Decide.SIGNIFICANT:
        if _includes_none(interval, rule):
            return Outcome.INCONCLUSIVE, Reason.of(ReasonCode.NOT_SIGNIFICANT)
        return Outcome.FAIL, Reason.of(ReasonCode.SIGNIFICANT_OUTSIDE)
    outcome = decide_range(low, high, rule)
    if outcome is Outcome.PASS:
        return outcome, Reason.of(ReasonCode.INSIDE)
    if outcome is Outcome.FAIL:
        if high < rule.low:
            return outcome, Reason.of(ReasonCode.BELOW, limit=rule.low)
        return outcome, Reason.of(ReasonCode.ABOVE, limit=rule.high)
    first, *second = [b for b in (rule.low, rule.high) if math.isfinite(b) and low <= b <= high]
    return outcome, Reason.of(ReasonCode.CROSSES, limit=first, second=second[0] if second else None)


def _includes_none(interval: Iterable[float], rule: Rule) -> bool:
    assert rule.definition is not None
    low, high = interval
    return low <= rule.definition.neutral <= high


def _add_needed_rows(reason: Reason, each: Estimate, rule: Rule, measured: Measured) -> Reason:
    # nothing would where rows that lack something leave it open
    from fairgauge.inference.needed_rows import POWER, detectable_disparity, needed_rows

    unit = measured.unit
    cases = measured.worst_cases.get(_key(each, rule), ())
    crossing = [w for w in cases if decide_range(w.low, w.high, rule) is Outcome.INCONCLUSIVE]
    kept_open: dict[str, int | str | bool | None] = {}
    if crossing:
        rows = crossing[0].rows + crossing[0].groupless
        kept_open = {"open_rows": rows, "open_groups": not crossing[0].outcomes or None}
    elif each.value is not None and allows(rule, each.value):
        bounded = {worst.outcomes for worst in cases}
        many = next(_many_missing(each, rule, measured, bounded), None)
        if lacking := not_counted(measured.uncounted, None):
            rows, unit = lacking["rows"], lacking.get("unit")
            kept_open = {"what": lacking["what"], "open_rows": rows, "open_unit": unit}
        elif many is not None:
            groups = many[0] is ReasonCode.MISSING_GROUPS or None
            kept_open = {"open_rows": many[1], "open_groups": groups}
    needed = None if kept_open else needed_rows(each, rule.low, rule.high)
    upper = reason["limit"] == rule.high  # of the group's rate, or of what it is lower by
    above = upper is (getattr(each.definition, "order", "") == "group - reference")
    difference, ratio = detectable_disparity(each, above=above)
    return Reason.of(
        ReasonCode.CROSSES,
        limit=reason["limit"],
        second=reason.get("second"),
        needed=needed,
        power=POWER,
        on_limit=True if needed and needed > _MOST_ROWS else None,
        rows=(each.n_group or 0) + (each.n_reference or 0),
        of_group=each.n_group or 0,
        detectable=difference,
        detectable_ratio=ratio,
        unit=unit if kept_open or needed else None,
        **kept_open,
    )


def judge_together(
    measured: Measured, spec: Spec, measure_at: Callable[[float], Measured]
) -> tuple[Verdict, ...]:
    """Decide as `judge` does, and state which fails remain with all comparisons judged together.

    With ``multiplicity="familywise"`` the others are inconclusive.

    ``measure_at`` measures what rules are on at another confidence level.
    """
    # Holm (1979), Scandinavian Journal of Statistics 6, 65-70: with r of m hypotheses rejected, the
    # next is tested at the level divided by m - r. Berger (1982), Technometrics 24, 295-300.
    verdicts = judge(measured, spec.rules)
    outcomes = interval_decisions(measured, spec.rules)
    family, failed = len(outcomes), 0
    if family == 1 or Outcome.FAIL not in outcomes:
        return verdicts
    while True:
        stricter = measure_at(1 - (1 - spec.confidence) / (family - failed))
        rejected = interval_decisions(stricter, spec.rules).count(Outcome.FAIL)
        if rejected in (failed, family):
            break
        failed = rejected
    familywise = spec.multiplicity is Multiplicity.FAMILYWISE
    judged = []
    for each, strict in zip(verdicts, judge(stricter, spec.rules, explain=False), strict=True):
        if each.outcome is not Outcome.FAIL or each.reason.code not in _OUTSIDE:
            judged.append(each)
        elif strict.outcome is Outcome.FAIL:
            judged.append(replace(each, remains=True))
        elif familywise:
            reason = Reason.of(ReasonCode.FAMILYWISE, comparisons=family)
            judged.append(replace(each, outcome=Outcome.INCONCLUSIVE, reason=reason))
        else:
            judged.append(replace(each, remains=False))
    return tuple(judged)


def remaining_notes(
    measured: Measured, spec: Spec, verdicts: Sequence[Verdict]
) -> Iterator[Diagnostic]:
    """Note how many comparisons are decided, and how many fails remain of those that there are."""
    comparisons = len(interval_decisions(measured, spec.rules))
    if comparisons > 1:
        fails = [verdict for verdict in verdicts if verdict.remains is not None]
        yield Diagnostic.note(
            DiagnosticCode.FAILS_TOGETHER,
            comparisons=comparisons,
            confidence=spec.confidence,
            fails=len(fails),
            remaining=sum(bool(verdict.remains) for verdict in fails),
            familywise=spec.multiplicity is Multiplicity.FAMILYWISE,
        )


SINGLE = (ReferenceKind.GROUP, ReferenceKind.BEST, ReferenceKind.LARGEST)
"""The references that are one group, which nothing else judges."""


def reference_notes(
    measured: Measured, spec: Spec, verdicts: Sequence[Verdict]
) -> Iterator[Diagnostic]:
    """Warn of passes where the reference, compared with the group that passes, would fail.

    Nothing else judges the reference: a single group, or all others of a named set.
    """
    sets = {each.column for each in spec.sensitive if each.values}
    passed = {(v.rule, v.feature, v.group) for v in verdicts if v.outcome is Outcome.PASS}
    mirrored = {(e.feature, e.group) for e in measured.estimates if e.mirror_of is not None}
    compared = {(e.metric, e.feature, e.group): e.reference for e in measured.estimates}
    of_others = spec.reference is ReferenceRule.OTHERS
    for rule in spec.rules:
        metric = rule.definition
        if not isinstance(metric, (Contrast, RowMetric)) or metric.turn is None:
            continue
        if isinstance(metric, RowMetric) and not metric.is_ratio and metric.q is None:
            continue
        low, high = metric.turn((rule.low, rule.high))
        instead = replace(rule, low=low, high=high)  # as seen from the other side
        failing: dict[tuple[str | None, str], list[str]] = {}
        for verdict in judge(measured, [instead], explain=False):
            key = str(rule), verdict.feature, verdict.group
            if verdict.outcome is not Outcome.FAIL or key not in passed:
                continue
            reference = compared.get((instead.metric, verdict.feature, verdict.group))
            if reference is not None and reference.kind in SINGLE:
                names = failing.setdefault((verdict.feature, str(reference.group)), [])
                names.append(str(verdict.group))
            elif of_others and verdict.feature in sets and key[1:] not in mirrored:
                yield Diagnostic.warning(
                    DiagnosticCode.REFERENCE_DECIDES, verdict.feature, rule=str(rule),
                    group=verdict.group, references=(), others=True,
                )  # fmt: skip
        for (feature, failed), groups in failing.items():
            yield Diagnostic.warning(
                DiagnosticCode.REFERENCE_DECIDES, feature,
                rule=str(rule), group=failed, references=tuple(dict.fromkeys(groups)),
            )  # fmt: skip


def unattested_positive(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of rules that pass, and would not were the other outcomes the favourable ones.

    Where it is not stated which are, a name must attest it, whatever the words of a trade are. Of 1
    and of a cut it is assumed, and where both outcomes are stated it is shown; a preset has a word
    for it, which no ``decision = D`` next to A is.
    """
    word = word_for_positive(spec.preset)
    axes = [each for each in recorded_outcomes(cube, spec) if not each.bins]
    positive = {axis: spec.positive_of(axis.column) or (1,) for axis in axes}
    assumed = all(any(matches(1, value) for value in of) for of in positive.values())
    stated = spec.words.positive or all(spec.negative_of(axis.column) for axis in axes)
    if assumed or stated or not (spec.favourable in (None, *AMOUNTS) or word):
        return
    others = {a: tuple(v for v in cube.levels[a] if not is_one_of(v, positive[a])) for a in axes}
    attested = [words.is_attested(a.column, positive[a], others[a]) for a in axes]
    if True in attested:
        return
    of_columns = tuple((axis.column, others[axis]) for axis in axes)
    of_score = (spec.score_of or positive[axes[0]][0]) if spec.score else None  # as it is
    turned = replace(spec, positive=ByColumn(of_columns), score_of=of_score)
    rules = [e for e in spec.rules if depends_on_favourable(replace(spec, rules=(e,), margins=()))]
    standing = _passing(cube, turned, rules)
    passing = _passing(cube, spec, [each for each in rules if each not in standing])
    if passing or (word and False in attested):
        values, rest = (tuple(map(name_of, of[axes[-1]])) for of in (positive, others))
        yield Diagnostic.warning(
            DiagnosticCode.UNFAVOURABLE_POSITIVE, column=axes[-1].column, preset=word,
            values=values, others=rest, rules=tuple(map(str, passing)), unattested=True,
        )  # fmt: skip


def _passing(cube: Cube, spec: Spec, rules: Sequence[Rule]) -> list[Rule]:
    if not rules:
        return []
    asked = replace(spec, metrics=(), margins=(), rules=tuple(rules))
    try:
        measured = measure(cube, asked)
    except SpecError:  # of a column that has no other outcome
        return []
    verdicts, accepted = judge(measured, rules, explain=False), accept_reference(spec)
    notes = reference_notes(measured, asked, verdicts)
    withheld = {n["rule"] for n in notes if not accepted.accepts(n.code, n.feature)}
    judged = {rule: overall(e for e in verdicts if e.rule == rule) for rule in map(str, rules)}
    return [e for e in rules if judged[str(e)] is Outcome.PASS and str(e) not in withheld]
