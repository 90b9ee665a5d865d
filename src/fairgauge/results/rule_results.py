"""RuleResult: what one rule comes to over all groups, the verdict that decides it first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairgauge.enums import Outcome
from fairgauge.question.rules import limits_of
from fairgauge.results.disparities import is_ratio
from fairgauge.results.verdicts import before_counting

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairgauge.results.verdicts import Verdict

_GRAVEST_FIRST = (
    Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.NOT_EVALUATED, Outcome.PASS, Outcome.NONE,
)  # fmt: skip
_DIGITS = 9
"""Of distances that are compared: beyond these they differ by rounding alone."""


@dataclass(frozen=True, slots=True)
class RuleResult:
    """What a rule comes to.

    Attributes
    ----------
    rule : its text form.
    verdicts : its verdicts, the gravest first, and of these the furthest outside its limits.
    """

    rule: str
    verdicts: tuple[Verdict, ...]

    @property
    def outcome(self) -> Outcome:
        """Return the gravest outcome of its verdicts, as they are counted."""
        return min((each.outcome for each in self.verdicts), key=_GRAVEST_FIRST.index)

    @property
    def worst(self) -> Verdict:
        """Return the verdict that decides: of the group that is furthest outside the limits."""
        return self.verdicts[0]


def results_by_rule(verdicts: Iterable[Verdict]) -> tuple[RuleResult, ...]:
    """Return what every rule comes to, in the order in which the rules are asked."""
    by_rule: dict[str, list[Verdict]] = {}
    for each in verdicts:
        by_rule.setdefault(each.rule, []).append(each)
    return tuple(
        RuleResult(rule, tuple(_gravest_first(of_rule))) for rule, of_rule in by_rule.items()
    )


def _gravest_first(verdicts: list[Verdict]) -> list[Verdict]:
    return sorted(
        verdicts,
        key=lambda each: (_GRAVEST_FIRST.index(before_counting(each)), -_distance_outside(each)),
    )


def _distance_outside(verdict: Verdict) -> float:
    """Return how far the value of a verdict is outside the limits of its rule: below 0 inside."""
    if verdict.value is None:
        return -math.inf
    scale = _log if is_ratio(verdict.definition) else float  # 0.8 is as far from 1 as 1.25
    low, high = limits_of(verdict.rule)
    value = scale(verdict.value)
    below = scale(low) - value if math.isfinite(low) else -math.inf
    above = value - scale(high) if math.isfinite(high) else -math.inf
    return round(max(below, above), _DIGITS)


def _log(ratio: float) -> float:
    return math.log(ratio) if ratio > 0 else -math.inf
