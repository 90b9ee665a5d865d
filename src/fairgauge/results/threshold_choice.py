"""ThresholdChoice: what every threshold of a score comes to, and which one meets a goal."""

from __future__ import annotations

from typing import ClassVar, Self

from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Accepts, Outcome
from fairgauge.question.rules import parse_rule
from fairgauge.reasons import Reason
from fairgauge.results.codec import Finite, Inline, Share
from fairgauge.results.estimates import DisparityChange, RateChange
from fairgauge.results.scopes import Interval, Reference, WhyWithheld
from fairgauge.results.shown_result import CountedResult, ResultKind, exit_code, find_named
from fairgauge.results.verdicts import gravest
from fairgauge.start.records import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingPoint:
    """What one candidate comes to, on all rows.

    ``performance``: the rate that is kept, of all rows; None where undefined.
    ``group``: the one that decides the outcome, of several the furthest from the goal.
    ``value_meets``: whether the value of every group's metric meets the goal.
    ``outcome``: pass where the whole interval of every group does, which at another threshold than
    today's allows for the number of candidates; fail where one is outside it.
    """

    threshold: Finite
    performance: float | None
    performance_interval: Interval | None
    group: str
    reference: Inline[Reference | None] = None
    disparity: float | None
    disparity_interval: Interval | None
    value_meets: bool
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdEffect:
    """What a choice changes.

    ``performance, rates``: the kept rate, and the others of all rows and groups, today and then.
    ``goal_outcome``: pass where the whole interval of every group meets it, fail where one is out.
    ``kept_outcome``: the same of the change and the margin.
    ``goal_reason, kept_reason``: which rows leave either inconclusive that the others alone decide.
    """

    threshold: Finite
    performance: RateChange
    disparities: tuple[DisparityChange, ...]
    rates: tuple[RateChange, ...]
    value_meets: bool
    goal_outcome: Outcome
    kept_outcome: Outcome
    goal_reason: Reason | None = None
    kept_reason: Reason | None = None

    DERIVED: ClassVar = ("outcome",)

    def withheld(self, goal: Reason | None, kept: Reason | None) -> ThresholdEffect:
        """Return it with what passes inconclusive for a reason, if there is one."""
        made = self
        if goal is not None and self.goal_outcome is Outcome.PASS:
            made = replace(made, goal_outcome=Outcome.INCONCLUSIVE, goal_reason=goal)
        if kept is not None and self.kept_outcome is Outcome.PASS:
            made = replace(made, kept_outcome=Outcome.INCONCLUSIVE, kept_reason=kept)
        return made

    @property
    def outcome(self) -> Outcome:
        return gravest((self.goal_outcome, self.kept_outcome))


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureThresholds:
    """The thresholds of a score for the groups of one feature.

    ``frontier``: the candidates in ascending order: today's threshold, those that were named, and
    quantiles of the score.
    ``common``: today's threshold where it meets the goal for every feature; else the closest to it
    that is shown to meet goal and margin for every feature, of all candidates together.
    ``outcome``: of it; without one, of all features: fail where all are shown to miss a limit.
    """

    feature: str
    groups: tuple[str, ...]
    frontier: tuple[OperatingPoint, ...]
    common: ThresholdEffect | None
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdChoice(CountedResult):
    """Thresholds of a score: the candidates, and the one closest to today's that meets a goal.

    ``choice["sex"]`` is that of one feature. ``accepts`` is how a favourable score compares with
    its threshold.
    """

    KIND: ClassVar = ResultKind(name="thresholds", schema="fairgauge.thresholds/6",
        title="Thresholds of a score", called="a choice of thresholds",
        page="fairgauge.statements.thresholds:thresholds_page")  # fmt: skip

    score: str
    accepts: Accepts
    today: Finite
    goal: str
    kept: str
    margin: Finite
    confidence: Share
    features: tuple[FeatureThresholds, ...]

    def withheld(self, why: WhyWithheld) -> Self:
        needs = parse_rule(self.goal).row.needs
        features = []
        for of in self.features:
            reasons = why(needs, of.feature), why(self.kept_rate.needs, None)
            common = of.common and of.common.withheld(*reasons)
            open_ = {Outcome.PASS: Outcome.INCONCLUSIVE} if reasons[0] else {}
            frontier = (replace(e, outcome=open_.get(e.outcome, e.outcome)) for e in of.frontier)
            features.append(replace(of, frontier=tuple(frontier), common=common,
                    outcome=common.outcome if common else of.outcome))  # fmt: skip
        return replace(self, features=tuple(features))

    @property
    def exit_code(self) -> int:
        """Return 1 where the chosen threshold fails, or all do, 3 undecided, 0 otherwise."""
        return exit_code(gravest(feature.outcome for feature in self.features))

    def __getitem__(self, feature: str) -> FeatureThresholds:
        """Return the thresholds for the groups of a feature; a ``KeyError`` if there are none."""
        return find_named(self.features, feature, "feature")

    @property
    def kept_rate(self) -> Statistic:
        return self.catalogue.rate_row(self.kept)
