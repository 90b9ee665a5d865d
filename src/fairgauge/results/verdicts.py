"""Verdicts: the outcome of a rule for one group, over all groups, and of all rules."""

from __future__ import annotations

import math
from collections.abc import Iterable

from fairgauge.catalogue.comparisons import Contrast, Metric, RowMetric
from fairgauge.catalogue.directions import adverse_sign, is_ratio
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Favourable, Outcome
from fairgauge.errors import FairgaugeError, Problem, SpecError, display
from fairgauge.identity import FeatureId, GroupId
from fairgauge.question.rules import distance_inside, limits_of
from fairgauge.reasons import NOT_EVALUABLE, Reason, ReasonCode
from fairgauge.results import scopes
from fairgauge.results.codec import Finite, Inline
from fairgauge.results.estimates import favourable_in
from fairgauge.start.records import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(scopes.HasDefinition[Metric | Statistic]):
    """The outcome of a rule for one group of one feature.

    ``group, mirror``: None where a rule matches nothing; the other one of just two.
    ``remains``: whether a fail is one when all comparisons of rules are judged together (Holm).
    """

    rule: str
    metric: str
    feature: str | None
    feature_id: Inline[FeatureId | None] = None
    group: str | None
    group_id: Inline[GroupId | None] = None
    mirror: str | None = None
    class_scope: Inline[scopes.ClassScope] = scopes.NO_CLASS
    threshold: Finite | None = None
    outcome: Outcome
    remains: bool | None = None
    reason: Reason
    value: float | None = None
    interval: Inline[scopes.Interval | None] = None

    def withheld(self, why: scopes.WhyWithheld) -> Verdict:
        row, is_open = self.definition, self.outcome is Outcome.INCONCLUSIVE
        crosses = is_open and self.reason.code is ReasonCode.CROSSES
        if row is None or not (crosses or self.outcome is Outcome.PASS):
            return self
        low, high = limits_of(self.rule) if crosses else (-math.inf, math.inf)
        if crosses and (self.value is None or not low <= self.value <= high):
            return self
        doubt = why(needs_of(row), self.feature)
        if doubt is None or (
            crosses and (doubt.get("rows") is None or self.reason.get("open_rows"))
        ):
            return self
        if not crosses:
            return replace(self, outcome=Outcome.INCONCLUSIVE, reason=doubt)
        # more rows would else make a pass of it: now no number of rows would decide it
        open_ = {"open_rows": doubt["rows"], "what": doubt["what"], "unit": doubt.get("unit")}
        given = dict(self.reason.parameters) | {"needed": None, "on_limit": None} | open_
        return replace(self, reason=Reason.of(self.reason.code, **given))

    says = scopes.Worded("words.verdict_sentences:describe_verdict")


def needs_of(row: Metric | Statistic | RowMetric) -> set[str]:
    """Return the outcomes that a number stands on, and whether on strata or compared features."""
    pooled = isinstance(row, Metric) and row.scope == "pooled"
    compares = isinstance(row, RowMetric) and row.by_features
    ranks = isinstance(row, RowMetric) and row.kind in ("top", "exposure")
    also = (scopes.STRATUM, pooled), (scopes.FEATURES, compares), (scopes.RANKING, ranks)
    return {*row.needs, *(what for what, stands in also if stands)}


class RulesNotMet(FairgaugeError, AssertionError):  # noqa: N818 - a result, not an error
    """Not every rule of an audit is met; ``verdicts`` are those that are not a pass."""

    exit_code = 1

    def __init__(self, message: str, verdicts: tuple[Verdict, ...] = ()) -> None:
        self.verdicts = verdicts
        super().__init__(message, verdicts)

    def __str__(self) -> str:
        return str(self.args[0])


def counted_as(verdicts: Iterable[Verdict], outcome: Outcome) -> tuple[Verdict, ...]:
    """Return the verdicts, with the undecided ones counted as a pass or a fail.

    A rule that matches no group or metric of the data, or none of whose comparisons has a value, is
    never a pass: it stays not evaluated.

    >>> undecided = Verdict(rule="DI >= 0.8", metric="DI", feature="sex", group="F",
    ...     outcome=Outcome.INCONCLUSIVE, reason=Reason.of(ReasonCode.NO_INTERVAL))
    >>> print(counted_as([undecided], Outcome.FAIL)[0].says)
    there is no confidence interval; inconclusive counts as fail
    """
    listed = tuple(verdicts)
    measured = {e.rule for e in listed if e.value is not None or e.interval is not None}

    def counted(each: Verdict) -> Verdict:
        undecided = each.outcome in (Outcome.INCONCLUSIVE, Outcome.NOT_EVALUATED)
        unmatched = each.reason.code in NOT_EVALUABLE or each.rule not in measured
        if not undecided or (unmatched and outcome is Outcome.PASS):
            return each
        return replace(each, outcome=outcome, reason=counting(each.reason, each.outcome, outcome))

    return tuple(map(counted, listed))


def counting(
    reason: Reason, undecided: Outcome, outcome: Outcome, *, by_rule: bool = False
) -> Reason:
    """Return why a verdict is undecided, and what it counts as, by its rule or in all rules."""
    how = {"undecided": str(undecided), "outcome": str(outcome), "by_rule": by_rule or None}
    return Reason.of(ReasonCode.COUNTED_AS, reasons=(reason,), **how)


def before_counting(verdict: Verdict) -> Outcome:
    """Return what the data come to, whatever an undecided verdict counts as."""
    if verdict.reason.code is not ReasonCode.COUNTED_AS:
        return verdict.outcome
    return Outcome(verdict.reason["undecided"])


def reasons_of(verdict: Verdict) -> tuple[Reason, ...]:
    """Return why the data come to an outcome, whatever an undecided verdict counts as."""
    counted = verdict.reason.code is ReasonCode.COUNTED_AS
    return verdict.reason["reasons"] if counted else (verdict.reason,)


def unmet(verdicts: Iterable[Verdict], inconclusive: str) -> tuple[Verdict, ...]:
    """Return the verdicts that are not a pass, counting the undecided as "fail" or "pass"."""
    if inconclusive not in (Outcome.FAIL, Outcome.PASS):
        message = f"use 'fail' or 'pass', not {display(inconclusive)}"
        raise SpecError(Problem("inconclusive", message))
    every = counted_as(verdicts, Outcome.PASS) if inconclusive == Outcome.PASS else tuple(verdicts)
    if overall(every) is Outcome.PASS:
        return ()
    return tuple(verdict for verdict in every if verdict.outcome is not Outcome.PASS)


def overall(verdicts: Iterable[Verdict]) -> Outcome:
    """Return the overall outcome: the worst of all verdicts, ``none`` without rules."""
    outcomes = {verdict.outcome for verdict in verdicts}
    if not outcomes or Outcome.FAIL in outcomes:
        return Outcome.FAIL if outcomes else Outcome.NONE
    # groups that a rule ignores for insufficient data count only where there are no others
    return Outcome.PASS if outcomes - {Outcome.NONE} == {Outcome.PASS} else Outcome.INCONCLUSIVE


GRAVEST_FIRST = (
    Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.NOT_EVALUATED, Outcome.PASS, Outcome.NONE,
)  # fmt: skip


def gravest(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the gravest of some outcomes."""
    return min(outcomes, key=GRAVEST_FIRST.index)


@dataclass(frozen=True, slots=True)
class RuleResult:
    """What a rule comes to: its verdicts, the gravest first, of those who are worse off first."""

    rule: str
    verdicts: tuple[Verdict, ...]

    @property
    def outcome(self) -> Outcome:
        return gravest(verdict.outcome for verdict in self.verdicts)

    @property
    def worst(self) -> Verdict:
        """Return the verdict that decides: of who is worse off and furthest outside the limits."""
        return self.verdicts[0]


def results_by_rule(verdicts: Iterable[Verdict], favourable: Favourable) -> tuple[RuleResult, ...]:
    """Return what every rule comes to, in the order in which the rules are asked."""
    by_rule: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        by_rule.setdefault(verdict.rule, []).append(verdict)

    def gravity(each: Verdict) -> tuple[int, bool, float]:
        outcome = GRAVEST_FIRST.index(before_counting(each))
        return outcome, _is_better_off(each, favourable), _distance_inside(each)

    return tuple(RuleResult(rule, tuple(sorted(of, key=gravity))) for rule, of in by_rule.items())


def _is_better_off(verdict: Verdict, favourable: Favourable) -> bool:
    row = verdict.definition
    if not isinstance(row, Contrast) or verdict.value is None or is_of_both_sides(verdict):
        return False
    sign = -1 if row.order == "reference - group" else 1
    adverse = adverse_sign(row.of, favourable_in(favourable, verdict.class_scope))
    return sign * adverse * (verdict.value - row.neutral) < 0


def is_of_both_sides(verdict: Verdict) -> bool:
    """Return whether the outcome of one of two groups that mirror each other is the other's, too.

    That is where the rule limits both directions alike: <= 1.25 limits the higher rate alone.
    """
    if verdict.mirror is None:
        return False
    low, high = limits_of(verdict.rule)
    of_ratio = getattr(verdict.definition, "neutral", math.nan) == 1
    return math.isclose(low * high, 1) if of_ratio else low == -high


def _distance_inside(verdict: Verdict) -> float:
    if verdict.value is None:
        return math.inf
    return distance_inside(
        verdict.value, *limits_of(verdict.rule), of_ratio=is_ratio(verdict.definition)
    )
