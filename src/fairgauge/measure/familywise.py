"""Many verdicts: which fails remain when all comparisons are judged together.

A verdict of its own fails falsely in at most half of one minus its confidence level. Holm's
step-down procedure keeps all of them together at that. Passes are not adjusted: the overall verdict
is a pass only where every one is, which is an intersection-union test.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairgauge.enums import DiagnosticCode, Multiplicity, Outcome
from fairgauge.measure._decide import interval_decisions, judge
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.results.scopes import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fairgauge.question.specification import Spec
    from fairgauge.results.estimates import Measured
    from fairgauge.results.verdicts import Verdict

_OUTSIDE = (
    ReasonCode.BELOW, ReasonCode.ABOVE, ReasonCode.SIGNIFICANT_OUTSIDE, ReasonCode.ALTERNATIVES,
)  # fmt: skip


def judge_together(
    measured: Measured, spec: Spec, measure_at: Callable[[float], Measured]
) -> tuple[Verdict, ...]:
    """Decide as `judge` does, and state which fails remain with all comparisons judged together.

    With ``multiplicity="familywise"`` the others are inconclusive.

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
    outcomes = interval_decisions(measured, spec.rules)
    family, failed = len(outcomes), 0
    if family == 1 or not _fails(outcomes):
        return verdicts
    while True:
        level = 1 - (1 - spec.confidence) / (family - failed)
        stricter = measure_at(level)
        rejected = _fails(interval_decisions(stricter, spec.rules))
        if rejected in (failed, family):
            break
        failed = rejected
    familywise = spec.multiplicity is Multiplicity.FAMILYWISE
    return tuple(
        _judged(given, strict, family, familywise=familywise)
        for given, strict in zip(verdicts, judge(stricter, spec.rules, explain=False), strict=True)
    )


def _fails(outcomes: Sequence[Outcome]) -> int:
    return outcomes.count(Outcome.FAIL)


def _judged(given: Verdict, strict: Verdict, family: int, *, familywise: bool) -> Verdict:
    """Return the verdict, and of a fail by an interval whether it remains."""
    if given.outcome is not Outcome.FAIL or given.reason.code not in _OUTSIDE:
        return given
    remains = strict.outcome is Outcome.FAIL
    if remains or not familywise:
        return replace(given, remains=remains)
    reason = Reason.of(ReasonCode.FAMILYWISE, comparisons=family)
    return replace(given, outcome=Outcome.INCONCLUSIVE, reason=reason)


def remaining_notes(
    measured: Measured, spec: Spec, verdicts: Sequence[Verdict]
) -> Iterator[Diagnostic]:
    """Note how many comparisons are decided, and how many fails remain of those that there are."""
    comparisons = len(interval_decisions(measured, spec.rules))
    if comparisons > 1:
        remaining = [each.remains for each in verdicts if each.remains is not None]
        yield Diagnostic.note(
            DiagnosticCode.FAILS_TOGETHER,
            comparisons=comparisons,
            confidence=spec.confidence,
            fails=len(remaining),
            remaining=sum(remaining),
            familywise=spec.multiplicity is Multiplicity.FAMILYWISE,
        )
