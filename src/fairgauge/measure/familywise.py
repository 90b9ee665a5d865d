"""Many verdicts: the probability of a false fail among them, and verdicts that limit it.

A verdict of its own fails falsely in at most half of one minus its confidence level. Holm's
step-down procedure keeps all of them together at that. Passes are not adjusted: the overall verdict
is a pass only where every one is, which is an intersection-union test.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairgauge.enums import DiagnosticCode, Multiplicity, Outcome
from fairgauge.measure.decide import interval_outcomes, judge
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.report.results import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairgauge.report.estimates import Measured
    from fairgauge.report.verdicts import Verdict
    from fairgauge.spec.specification import Spec

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
    outcomes = interval_outcomes(measured, spec.rules)
    family, failed = len(outcomes), 0
    if Outcome.FAIL not in outcomes:
        return verdicts
    while True:
        level = 1 - (1 - spec.confidence) / (family - failed)
        stricter = measure_at(level)
        rejected = interval_outcomes(stricter, spec.rules).count(Outcome.FAIL)
        if rejected in (failed, family):
            break
        failed = rejected
    return tuple(
        _kept(given, strict, family)
        for given, strict in zip(verdicts, judge(stricter, spec.rules, explain=False), strict=True)
    )


def _kept(given: Verdict, strict: Verdict, family: int) -> Verdict:
    """Return the verdict, inconclusive where it fails at its own level alone."""
    fails_alone = given.outcome is Outcome.FAIL and given.reason.code in _OUTSIDE
    if not fails_alone or strict.outcome is Outcome.FAIL:
        return given
    reason = Reason.of(ReasonCode.FAMILYWISE, comparisons=family)
    return replace(given, outcome=Outcome.INCONCLUSIVE, reason=reason)


def false_fail_notes(measured: Measured, spec: Spec) -> Iterator[Diagnostic]:
    """Note how likely a false overall fail is, where several comparisons are decided."""
    family = len(interval_outcomes(measured, spec.rules))
    if family < 2:
        return
    alone = (1 - spec.confidence) / 2
    familywise = spec.multiplicity is Multiplicity.FAMILYWISE
    yield Diagnostic.note(
        DiagnosticCode.FALSE_FAIL,
        comparisons=family,
        confidence=spec.confidence,
        probability=alone if familywise else 1 - (1 - alone) ** family,
        familywise=familywise,
    )
