"""Other references: which groups are tied for it, and whether a verdict depends on the choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.enums import DiagnosticCode, Outcome, ReferenceKind, ReferenceRule, Status
from fairgauge.measure.decide import judge
from fairgauge.measure.slices import Slice
from fairgauge.question.rules import Rule
from fairgauge.question.specification import Spec
from fairgauge.resolve.asked_metrics import AskedMetric
from fairgauge.resolve.references import Tie, admissible_groups
from fairgauge.results.estimates import Measured, OtherReference
from fairgauge.results.scopes import Diagnostic
from fairgauge.results.verdicts import Verdict

if TYPE_CHECKING:  # which an audit does not need
    from fairgauge.results.threshold_choice import FeatureThresholds

MOST_REFERENCES = 10
"""How many other references are tried for a feature: the largest."""

_SINGLE = (ReferenceKind.GROUP, ReferenceKind.BEST, ReferenceKind.LARGEST)
_OPPOSITE = {Outcome.PASS: Outcome.FAIL, Outcome.FAIL: Outcome.PASS}


def with_other_references(
    slices: Sequence[Slice], metrics: Sequence[AskedMetric]
) -> Iterator[OtherReference]:
    """Measure what rules are on with each admissible group as the reference of a feature."""
    counts, spec = slices[0].counts, slices[0].spec
    ruled = {limit.metric for _, limit in spec.limits}
    asked = [
        metric.metric
        for metric in metrics
        if metric.metric.name in ruled and metric.obstacle is None
        if isinstance(metric.metric, Contrast) and _has_one_reference(slices[0], metric.metric)
    ]
    if not asked:
        return
    admissible = np.flatnonzero(admissible_groups(counts, spec))
    largest = admissible[np.argsort(-counts.cases[admissible], kind="stable")]
    for position in largest[:MOST_REFERENCES].tolist():
        name = counts.groups[position]
        others = [_with_reference(each, position) for each in slices]
        yield OtherReference(
            feature=counts.feature,
            reference=name,
            estimates=tuple(e for each in others for m in asked for e in each.estimates(m)),
            worst_cases={
                key: case for each in others for m in asked
                for key, case in each.worst_cases(m).items()
            },
        )  # fmt: skip


def _with_reference(each: Slice, position: int) -> Slice:
    """Return the same slice of one outcome with another group as the reference."""
    name = each.counts.groups[position]
    spec = replace(each.spec, reference=((each.counts.feature, name),))
    return Slice(replace(each.counts, named_reference=position), each.outcome, spec)


def _has_one_reference(each: Slice, metric: Contrast) -> bool:
    """Return whether all groups are compared with one of them."""
    return any(reference.kind in _SINGLE for reference in each.references(metric).each)


def choices(slices: Sequence[Slice], metrics: Sequence[AskedMetric]) -> list[Diagnostic]:
    """State which groups could be the reference as well as those that the data chose."""
    if slices[0].spec.reference not in (ReferenceRule.BEST, ReferenceRule.LARGEST):
        return []
    found: dict[Tie, None] = {}
    for slice_ in slices:
        for asked in metrics:
            if asked.obstacle is None and asked.metric.scope not in ("table", "rows"):
                references = slice_.references(asked.metric)
                found |= {references.tie: None} if references.tie else {}
    feature = slices[0].counts.feature
    return [
        Diagnostic.warning(
            DiagnosticCode.REFERENCE_TIED,
            feature,
            chosen=tie.chosen,
            others=tie.others,
            rate=tie.rate,
            value=tie.value,
            by_rows=tie.by_rows,
            least=tie.least,
        )
        for tie in found
    ]


def reference_notes(
    measured: Measured, spec: Spec, verdicts: Sequence[Verdict]
) -> list[Diagnostic]:
    """Warn of verdicts that would be the opposite with another admissible group as reference.

    Also of passes where the reference, compared with the group that passes, would fail: of two
    groups there are no others; and those that are in no named set are no group of their own.
    """
    return [
        *_other_groups(measured, spec.rules, verdicts),
        *_others_of_sets(measured, spec, verdicts),
    ]


def _others_of_sets(
    measured: Measured, spec: Spec, verdicts: Sequence[Verdict]
) -> Iterator[Diagnostic]:
    """Warn of named sets that pass a rule that all others, compared with them, would fail."""
    sets = {each.column for each in spec.sensitive if each.values}
    passed = {(v.rule, v.feature, v.group) for v in verdicts if v.outcome is Outcome.PASS}
    mirrored = {(e.feature, e.group) for e in measured.estimates if e.mirror_of is not None}
    for rule in spec.rules:
        turned = [each for each in map(_turned, rule.limits) if each is not None]
        if spec.reference is not ReferenceRule.OTHERS or len(turned) < len(rule.limits):
            continue
        instead = replace(turned[0], alternatives=tuple(turned[1:]))
        for verdict in judge(measured, [instead], explain=False):
            key = str(rule), verdict.feature, verdict.group
            alone = verdict.feature in sets and key[1:] not in mirrored
            if alone and key in passed and verdict.outcome is Outcome.FAIL:
                yield Diagnostic.warning(
                    DiagnosticCode.REFERENCE_DECIDES, verdict.feature,
                    rule=key[0], group=verdict.group, outcome="pass", references=(), others=True,
                )  # fmt: skip


def _turned(limit: Rule) -> Rule | None:
    """Return a limit as seen from the other side; None of what no two sides have."""
    metric = limit.definition
    if not isinstance(metric, Contrast) or metric.turn is None:
        return None
    low, high = metric.turn((limit.low, limit.high))
    return replace(limit, low=low, high=high)


def reference_at_thresholds(chosen: FeatureThresholds, goal: Rule) -> Iterator[Diagnostic]:
    """Warn of a choice whose values meet a goal that the reference, compared with them, misses."""
    turn = goal.definition.turn if isinstance(goal.definition, Contrast) else None
    if turn is None:
        return
    low, high = turn((goal.low, goal.high))
    least, most = max(goal.low, float(f"{low:.3g}")), min(goal.high, float(f"{high:.3g}"))
    for effect in (chosen.common, chosen.by_group):
        beyond = [
            (max(low - each.new, each.new - high), each.new, each.group, str(each.reference.group))
            for each in (effect.disparities if effect and effect.value_meets else ())
            if each.new is not None and not low <= each.new <= high
            if each.status is not Status.TOO_FEW
            if each.reference is not None and each.reference.kind in _SINGLE
        ]
        if beyond:
            _, value, group, reference = max(beyond)
            yield Diagnostic.warning(
                DiagnosticCode.REFERENCE_DECIDES, chosen.feature,
                rule=str(goal), group=group, references=(reference,),
                value=turn((value, value))[0], by_group=effect is chosen.by_group,
                both=str(replace(goal, low=least, high=most)) if least <= most else None,
            )  # fmt: skip


def _other_groups(
    measured: Measured, rules: Sequence[Rule], verdicts: Sequence[Verdict]
) -> list[Diagnostic]:
    opposite: dict[tuple[str, str | None, str | None], list[str]] = {}
    given = {(each.rule, each.feature, each.group): each.outcome for each in verdicts}
    for other in measured.other_references:
        instead = replace(
            measured,
            groups=(),
            estimates=other.estimates,
            worst_cases=other.worst_cases,
            adequate={},
        )
        for verdict in judge(instead, rules, explain=False):
            key = verdict.rule, verdict.feature, verdict.group
            before = given.get(key)
            if before is None and verdict.outcome is Outcome.FAIL:
                before = given.get((verdict.rule, verdict.feature, other.reference))
            if before is not None and _OPPOSITE.get(before) is verdict.outcome:
                opposite.setdefault(key, []).append(other.reference)
    return [
        Diagnostic.warning(
            DiagnosticCode.REFERENCE_DECIDES,
            key[1],
            rule=key[0],
            group=key[2],
            outcome=str(given.get(key, Outcome.PASS)),
            references=tuple(references),
            **({} if key in given else {"itself": True}),
        )
        for key, references in opposite.items()
    ]
