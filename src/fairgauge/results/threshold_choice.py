"""ThresholdChoice: what every threshold of a score comes to, and which one meets a goal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Accepts, ChosenBy, Outcome
from fairgauge.errors import DataError, quote
from fairgauge.question.rules import parse_rule
from fairgauge.reasons import Reason
from fairgauge.results.changes import DisparityChange, RateChange
from fairgauge.results.codec import Finite, Inline, Share
from fairgauge.results.counted import CountedResult
from fairgauge.results.doubts import WhyWithheld
from fairgauge.results.scopes import Interval, Reference
from fairgauge.results.shown_result import ResultKind
from fairgauge.results.verdicts import exit_code

_BY_SEVERITY = (Outcome.PASS, Outcome.NOT_EVALUATED, Outcome.INCONCLUSIVE, Outcome.FAIL)


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingPoint:
    """What one threshold comes to, in the half of the rows by which none is chosen.

    Attributes
    ----------
    threshold : the threshold, on the scale of the score as given.
    performance, performance_interval : the rate that is kept, of all rows; None where undefined.
    group, reference : the group that decides the outcome, of several the furthest from the goal,
        and what it is compared with.
    disparity, disparity_interval : the metric of the goal, of that group.
    value_meets : whether the value of every group's metric meets the goal.
    outcome : pass where the whole interval of every group's metric meets the goal, fail where one
        is outside it, not evaluated where the data of the others are insufficient, else
        inconclusive.
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
    """What a choice changes, in the other half of the rows.

    Attributes
    ----------
    threshold : the threshold of all groups.
    performance : the kept rate of all rows, today and with the choice.
    disparities : the metric of the goal for every group, likewise.
    rates : the selection rate, the true and the false positive rate, of all rows and of every
        group, likewise.
    chosen_by : what met the goal and kept the rate in the half that chose: wider intervals than
        those shown (a margin), these intervals, or the values alone.
    value_meets : whether the value of every group's metric meets the goal in the other half.
    goal_outcome : pass where the whole interval of every group's metric meets the goal there, fail
        where one is outside it, not evaluated where the data of the others are insufficient, else
        inconclusive.
    kept_outcome : pass where the whole interval of the change of the kept rate is within the margin
        there (non-inferior), or no decision changes; fail where it is beyond, else inconclusive.
    goal_reason, kept_reason : which rows leave either inconclusive that the others alone decide, or
        that no number of others would, as they lack a group, an outcome, a weight, a count or what
        a condition is on; else None.
    outcome : pass where both are, fail where either is, else inconclusive.
    """

    threshold: Finite
    performance: RateChange
    disparities: tuple[DisparityChange, ...]
    rates: tuple[RateChange, ...]
    chosen_by: ChosenBy
    value_meets: bool
    goal_outcome: Outcome
    kept_outcome: Outcome
    goal_reason: Reason | None = None
    kept_reason: Reason | None = None

    DERIVED: ClassVar = ("outcome",)

    def withheld(self, goal: Reason | None, kept: Reason | None, today: float) -> ThresholdEffect:
        """Return it with what passes inconclusive for a reason, if there is one.

        The threshold of ``today`` keeps every rate, whatever it is.
        """
        made = self
        if goal is not None and self.goal_outcome is Outcome.PASS:
            made = replace(made, goal_outcome=Outcome.INCONCLUSIVE, goal_reason=goal)
        if kept is not None and self.kept_outcome is Outcome.PASS and self.threshold != today:
            made = replace(made, kept_outcome=Outcome.INCONCLUSIVE, kept_reason=kept)
        return made

    @property
    def outcome(self) -> Outcome:
        """Return what goal and kept rate come to together."""
        return _worst(self.goal_outcome, self.kept_outcome)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureThresholds:
    """The thresholds of a score for the groups of one feature.

    Attributes
    ----------
    feature : the sensitive feature, or the intersection.
    groups : its groups.
    frontier : every common threshold, in ascending order.
    common : the common threshold closest to today's that meets the goal and keeps the rate in the
        half that chooses, as surely as any does (`chosen_by`); None where none does.
    outcome : of the common threshold. Where there is none: fail where every threshold is shown to
        miss the goal or not to keep the rate, else inconclusive, or not evaluated where the data
        are insufficient at all that may.
    """

    feature: str
    groups: tuple[str, ...]
    frontier: tuple[OperatingPoint, ...]
    common: ThresholdEffect | None
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdChoice(CountedResult):
    """The thresholds of a score: the frontier, and the choice closest to today that meets a goal.

    ``choice["sex"]`` is that of one feature.

    Attributes
    ----------
    score : the column of the score.
    accepts : how a score with the favourable decision compares with its threshold; below it where
        the scores are those of another value than the positive one.
    today : the threshold in use.
    goal, kept, margin : the rule, the rate that is kept, and by how much it may be worse.
    confidence, seed : the level of the intervals, and the seed by which rows were halved.
    features : the choice for each sensitive feature and intersection, each by itself.
    """

    KIND: ClassVar = ResultKind(
        name="thresholds",
        schema="fairgauge.thresholds/5",
        title="Thresholds of a score",
        called="a choice of thresholds",
        page="fairgauge.statements.thresholds:thresholds_page",
    )
    DERIVED: ClassVar = ("_brief",)

    score: str
    accepts: Accepts
    today: Finite
    goal: str
    kept: str
    margin: Finite
    confidence: Share
    seed: int
    features: tuple[FeatureThresholds, ...]

    def withheld(self, why: WhyWithheld) -> Self:
        """Return it with no goal met, and no rate kept, that stands on something doubted."""
        needs = parse_rule(self.goal).row.needs
        features = []
        for of in self.features:
            reasons = why(needs, of.feature), why(self.kept_rate.needs, None)
            common = of.common and of.common.withheld(*reasons, self.today)
            frontier = (
                replace(each, outcome=Outcome.INCONCLUSIVE)
                if each.outcome is Outcome.PASS and reasons[0]
                else each
                for each in of.frontier
            )
            features.append(
                replace(
                    of,
                    frontier=tuple(frontier),
                    common=common,
                    outcome=common.outcome if common else of.outcome,
                )
            )
        return replace(self, features=tuple(features))

    @property
    def exit_code(self) -> int:
        """Return 1 where the chosen threshold fails, or all do, 3 undecided, 0 otherwise."""
        return exit_code(_worst(*(feature.outcome for feature in self.features)))

    def __repr__(self) -> str:
        features = ", ".join(feature.feature for feature in self.features)
        return f"<Thresholds of {self.score} for {self.goal} by {features}; print() shows them>"

    def __getitem__(self, feature: str) -> FeatureThresholds:
        """Return the thresholds for the groups of a feature.

        Raises
        ------
        KeyError
            No thresholds were chosen for it.
        """
        for each in self.features:
            if each.feature == feature:
                return each
        raise KeyError(f"{quote(feature)}; there is {', '.join(e.feature for e in self.features)}")

    @property
    def kept_rate(self) -> Statistic:
        """Return the rate that is kept."""
        return self.catalogue.rate_row(self.kept)

    def apply(self, frame: Any, *, feature: str | None = None) -> list[bool | None]:
        """Return the decisions of a choice for the rows of a frame of any engine.

        Parameters
        ----------
        frame : frame
            With the column of the score.
        feature : str, optional
            The feature whose choice is applied; needed where there are several.

        Raises
        ------
        DataError
            There is no such choice, the column is missing, or a score is a text that is no number.
        """
        from fairgauge.question.recoding import not_numbers, read_recodings
        from fairgauge.scan import open_source
        from fairgauge.scan.row_access import numbers_of, read_rows

        of = self._one(feature)
        if of.common is None:
            raise DataError(
                f"no common threshold meets {self.goal} and keeps {self.kept} within "
                f"{self.margin:g} of today"
            )
        source = open_source(frame)
        if self.score not in source.columns:
            raise DataError(f"the data have no column {quote(self.score)}, which is decided by")
        recode = read_recodings(self.spec.get("recode", {}), "recode", [])
        rows = read_rows(source, [self.score], recode=recode)
        scores = numbers_of(rows[self.score]).tolist()
        texts = {
            value
            for value, score in zip(rows[self.score], scores, strict=True)
            if score != score
            and isinstance(value, str)
            and value.strip().lower() not in ("", "nan")
        }
        if texts:
            raise DataError(not_numbers(self.score, texts, recoded=False))
        cut = of.common.threshold
        return [None if score != score else self.accepts.decides(score, cut) for score in scores]

    def _one(self, feature: str | None) -> FeatureThresholds:
        """Return the choice of a feature, or the only one."""
        named = [each for each in self.features if feature in (None, each.feature)]
        if len(named) == 1:
            return named[0]
        every = ", ".join(quote(each.feature) for each in self.features)
        raise DataError(f"name the feature whose thresholds are applied: {every}")


def _worst(*outcomes: Outcome) -> Outcome:
    return max(outcomes, key=_BY_SEVERITY.index)
