"""Many verdicts: the probability of a false fail among them, and verdicts that limit it.

A verdict of its own fails falsely in at most half of one minus its confidence level. Holm's
step-down procedure keeps all of them together at that. Passes are not adjusted: the overall verdict
is a pass only where every one is, which is an intersection-union test.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairgauge.enums import DiagnosticCode, Multiplicity, Outcome
from fairgauge.measure.decide import interval_decisions, judge
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.results.scopes import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fairgauge.measure.decide import IntervalDecision
    from fairgauge.question.specification import Spec
    from fairgauge.results.estimates import Measured
    from fairgauge.results.verdicts import Verdict

_OUTSIDE = (
    ReasonCode.BELOW, ReasonCode.ABOVE, ReasonCode.SIGNIFICANT_OUTSIDE, ReasonCode.ALTERNATIVES,
)  # fmt: skip


def judge_familywise(
    measured: Measured, spec: Spec, measure_at: Callable[[float], Measured]
) -> tuple[Verdict, ...]:
    """Decide as `judge` does, and keep only the fails that all comparisons together allow.

    Parameters
    ----------
    measured : everything measured at the confidence level of the specification.
    spec : what is asked.
    measure_at : measures what rules are on at another confidence level.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6, 65-70: with r of m hypotheses rejected, the
    next is tested at the level divided by m - r. Berger (1982), Technometrics 24, 295-300.
    """
    verdicts = judge(measured, spec.rules)
    decisions = interval_decisions(measured, spec.rules)
    family, failed = len(decisions), 0
    if not _fails(decisions):
        return verdicts
    while True:
        level = 1 - (1 - spec.confidence) / (family - failed)
        stricter = measure_at(level)
        rejected = _fails(interval_decisions(stricter, spec.rules))
        if rejected in (failed, family):
            break
        failed = rejected
    return tuple(
        _kept(given, strict, family)
        for given, strict in zip(verdicts, judge(stricter, spec.rules, explain=False), strict=True)
    )


def _fails(decisions: Sequence[IntervalDecision]) -> int:
    return sum(each.outcome is Outcome.FAIL for each in decisions)


def _kept(given: Verdict, strict: Verdict, family: int) -> Verdict:
    """Return the verdict, inconclusive where it fails at its own level alone."""
    fails_alone = given.outcome is Outcome.FAIL and given.reason.code in _OUTSIDE
    if not fails_alone or strict.outcome is Outcome.FAIL:
        return given
    reason = Reason.of(ReasonCode.FAMILYWISE, comparisons=family)
    return replace(given, outcome=Outcome.INCONCLUSIVE, reason=reason)


def false_fail_notes(measured: Measured, spec: Spec) -> Iterator[Diagnostic]:
    """Note how likely a false overall fail is, where several comparisons are decided."""
    decisions = interval_decisions(measured, spec.rules)
    if len(decisions) < 2:
        return
    familywise = spec.multiplicity is Multiplicity.FAMILYWISE
    together = [each.family for each in decisions if each.family is not None]
    yield Diagnostic.note(
        DiagnosticCode.FALSE_FAIL,
        comparisons=len(decisions),
        confidence=spec.confidence,
        probability=_probability(decisions, spec.confidence, familywise=familywise),
        familywise=familywise,
        simultaneous=len(together) or None,
    )


def _probability(
    decisions: Sequence[IntervalDecision], confidence: float, *, familywise: bool
) -> float:
    """Return the probability of any false fail, or the most that it can be.

    Of single intervals it is that of independent comparisons. Simultaneous intervals of a family
    miss any true value in at most one minus the confidence level; with these it is the sum.
    """
    error = 1 - confidence
    if familywise:
        return error / 2
    families = {each.family for each in decisions if each.family is not None}
    single = sum(each.family is None for each in decisions)
    if not families:
        return 1 - (1 - error / 2) ** single
    return min(1.0, len(families) * error + single * error / 2)
