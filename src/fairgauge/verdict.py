"""Verdict: what a rule came to for one comparison; and `judge`, which decides all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairgauge.words import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairgauge.estimate import Estimate
    from fairgauge.rule import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a rule came to for one group of one feature."""

    rule: str
    metric: str
    feature: str | None
    group: str
    outcome: Outcome
    reason: str


def judge(estimates: Iterable[Estimate], rules: Iterable[Rule]) -> tuple[Verdict, ...]:
    """Hold the estimates against the rules."""
    every = tuple(estimates)
    return tuple(
        Verdict(
            rule=str(rule),
            metric=rule.metric,
            feature=each.feature,
            group=each.group,
            outcome=(decided := _decide(each, rule))[0],
            reason=decided[1],
        )
        for rule in rules
        for each in every
        if each.metric == rule.metric
        and (not rule.features or each.feature in rule.features)
        and (not rule.groups or each.group in rule.groups)
    )


def overall(verdicts: Iterable[Verdict]) -> Outcome:
    """Return what all verdicts come to: the worst of them, none without rules."""
    outcomes = {verdict.outcome for verdict in verdicts}
    if not outcomes:
        return Outcome.NONE
    if Outcome.FAIL in outcomes:
        return Outcome.FAIL
    if outcomes == {Outcome.PASS}:
        return Outcome.PASS
    return Outcome.INCONCLUSIVE


def _decide(estimate: Estimate, rule: Rule) -> tuple[Outcome, str]:
    if estimate.value is None or estimate.status is not Status.OK:
        return Outcome.NOT_EVALUATED, estimate.reason or str(estimate.status)
    if rule.decide == "point" or estimate.low is None or estimate.high is None:
        inside = rule.allows(estimate.value)
        word = "inside" if inside else "outside"
        return (
            Outcome.PASS if inside else Outcome.FAIL
        ), f"{rule.metric} {estimate.value:.4g} is {word} the limits (decided by the value alone)"
    shown = f"{rule.metric} {estimate.value:.4g} ({estimate.low:.4g} to {estimate.high:.4g})"
    if rule.allows(estimate.low) and rule.allows(estimate.high):
        return Outcome.PASS, f"{shown} lies inside the limits"
    if estimate.high < rule.low or estimate.low > rule.high:
        return Outcome.FAIL, f"{shown} lies outside the limits"
    return Outcome.INCONCLUSIVE, f"{shown} reaches over a limit: not enough data to tell"
