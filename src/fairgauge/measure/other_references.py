"""References: which groups are tied for it, and whether one would fail that nothing judges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.enums import DiagnosticCode, Outcome, ReferenceKind, ReferenceRule
from fairgauge.measure.decide import judge
from fairgauge.measure.slices import Slice
from fairgauge.question.rules import Rule
from fairgauge.question.specification import Spec
from fairgauge.resolve.asked_metrics import AskedMetric
from fairgauge.resolve.references import Tie
from fairgauge.results.estimates import Measured
from fairgauge.results.scopes import Diagnostic
from fairgauge.results.verdicts import Verdict

_SINGLE = (ReferenceKind.GROUP, ReferenceKind.BEST, ReferenceKind.LARGEST)


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
        turned = [each for each in map(_turned, rule.limits) if each is not None]
        if len(turned) < len(rule.limits):
            continue
        instead = replace(turned[0], alternatives=tuple(turned[1:]))
        failing: dict[tuple[str | None, str], list[str]] = {}
        for verdict in judge(measured, [instead], explain=False):
            key = str(rule), verdict.feature, verdict.group
            if verdict.outcome is not Outcome.FAIL or key not in passed:
                continue
            reference = compared.get((instead.metric, verdict.feature, verdict.group))
            if reference is not None and reference.kind in _SINGLE:
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


def _turned(limit: Rule) -> Rule | None:
    """Return a limit as seen from the other side; None of what no two sides have."""
    metric = limit.definition
    if not isinstance(metric, Contrast) or metric.turn is None:
        return None
    low, high = metric.turn((limit.low, limit.high))
    return replace(limit, low=low, high=high)
