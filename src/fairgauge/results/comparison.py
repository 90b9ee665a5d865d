"""Comparisons: of two reports, and of models that decide the same rows, with the same records.

What becomes of a disparity is one record, whichever rows it is of: of two reports the rows are
independent, of two models they are paired.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, Literal, TypeAlias, TypeVar

from fairgauge.catalogue.comparisons import is_of_all_groups
from fairgauge.catalogue.facts import Facts
from fairgauge.catalogue.lookup import SCORING_RATE, Catalogue, is_of_scoring_rates
from fairgauge.enums import (
    CandidateVerdict,
    Direction,
    Fairness,
    Outcome,
    Performance,
    Task,
    Turn,
    Uncounted,
    WhyIncomplete,
)
from fairgauge.identity import FeatureId, GroupId, feature_names, group_names
from fairgauge.reasons import FEWEST_ROWS, Reason, ReasonCode
from fairgauge.results.changes import DisparityChange, RateChange
from fairgauge.results.codec import Finite, Restored, Share, Version
from fairgauge.results.disadvantage import harm_in_words
from fairgauge.results.doubts import WhyWithheld
from fairgauge.results.estimates import Estimate, Group
from fairgauge.results.report import Report
from fairgauge.results.scopes import (
    ClassScope,
    Diagnostic,
    Interval,
)
from fairgauge.results.shown_result import ResultKind, ResultOfMetrics
from fairgauge.results.verdicts import Verdict, reasons_of
from fairgauge.values import Saved

Named = TypeVar("Named", Estimate, Group, Verdict)
Groups = dict[FeatureId, dict[GroupId, str]]
What = Literal[
    "feature", "metric", "group", "reference", "stratum", "class", "average", "threshold",
    "estimate", "rule",
]  # fmt: skip
Which = Literal["old", "new"]

BADNESS = {
    Outcome.PASS: 0,
    Outcome.INCONCLUSIVE: 1,
    Outcome.NOT_EVALUATED: 1,
    Outcome.NONE: 1,
    Outcome.FAIL: 2,
}
"""How bad an outcome is; where rules were set, none is as bad as one that was not evaluated."""
_ASKED_OTHERWISE = (ReasonCode.ASKED_DIFFERENTLY, ReasonCode.DIFFERENT_LEVELS)
MANY_MORE = 0.05
"""By how much more of the rows are not used, unclear or uneven, if they could hide a change."""


Among = Literal["all", "positive", "negative"]
"""All rows, or those whose label is the favourable outcome, or is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginTest:
    """Whether a candidate is as good as the model in use in one rate, of all rows or of a group.

    Attributes
    ----------
    rate, margin : by how much the rate may be worse.
    by : whether by a difference, or by a share of it.
    change : the rate under both models.
    adjusted : the interval of the change at the level at which the candidate is tested among all
        candidates.
    outcome : non-inferior where that whole interval is within the margin, inferior where it is
        beyond.
    better : whether that whole interval is on the better side of no change.
    overturned : whether the rows that are excluded could overturn that it is non-inferior, which it
        then is not.
    p_value, p_adjusted : one-sided, of being worse by more than the margin; adjusted (Holm) for all
        margins of all candidates. None of a group.
    needed : rows of this composition that would show non-inferiority; None where none would, or the
        test is decided.
    """

    rate: str
    margin: Finite
    by: Literal["difference", "ratio"] = "difference"
    change: RateChange
    outcome: Performance = Performance.CANNOT_TELL
    adjusted: Interval | None = None
    better: bool = False
    overturned: bool = False
    p_value: Share | None = None
    p_adjusted: Share | None = None
    needed: Finite | None = None

    def withheld(self, why: WhyWithheld) -> MarginTest:
        """Return it overturned where it stands on something doubted and is non-inferior."""
        is_as_good = self.outcome is Performance.NON_INFERIOR
        if not is_as_good or why(self.change.definition.needs, self.change.feature) is None:
            return self
        return replace(self, outcome=Performance.CANNOT_TELL, overturned=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reclassified:
    """Who is decided differently: rows of one group that a candidate accepts, or rejects, instead.

    Attributes
    ----------
    feature, group : whose; None and "all" of all rows.
    among : all rows, or those of one label.
    threshold : the score threshold.
    n : rows.
    gained, lost : rows that the candidate alone accepts, and that the model in use alone accepts.
    weighted_n, weighted_gained, weighted_lost : the sums of their weights; None without weights.
    """

    feature: str | None
    group: str
    among: Among
    threshold: Finite | None
    n: Finite
    gained: Finite
    lost: Finite
    weighted_n: Finite | None = None
    weighted_gained: Finite | None = None
    weighted_lost: Finite | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A candidate model against the model in use.

    Attributes
    ----------
    name : the column of its decisions or scores.
    rows, undecided : rows that both models decide, and rows that one of them does not; of a count
        column the cases that they stand for.
    verdict : what it is against the model in use.
    fairness, performance : what the verdict is made of.
    reason : why no difference between groups counts as fairer or less fair: the candidate decides
        all rows alike; None where it does not.
    disparities, rates, margins, groups, reclassified : the numbers; ``groups`` are the tests of
        the groups' own rates.
    """

    name: str
    rows: int
    undecided: int
    verdict: CandidateVerdict = CandidateVerdict.NONE
    fairness: Fairness = Fairness.CANNOT_TELL
    performance: Performance = Performance.NO_MARGIN
    reason: Reason | None = None
    disparities: tuple[DisparityChange, ...]
    rates: tuple[RateChange, ...]
    margins: tuple[MarginTest, ...]
    groups: tuple[MarginTest, ...] = ()
    reclassified: tuple[Reclassified, ...]

    @property
    def decides_alike(self) -> bool:
        """Return whether no decision differs from that of the model in use, and no rate."""
        moved = any(each.gained or each.lost for each in self.reclassified)
        return bool(self.reclassified) and not moved and not any(each.change for each in self.rates)

    @property
    def untested(self) -> tuple[DisparityChange | MarginTest, ...]:
        """Return what is not shown to be within a margin: disparities, and groups' own rates."""
        undecided = (Performance.CANNOT_TELL, Performance.NO_MARGIN)
        every: tuple[DisparityChange | MarginTest, ...] = (*self.disparities, *self.groups)
        return tuple(each for each in every if each.outcome in undecided)

    @property
    def overturned(self) -> bool:
        """Return whether the rows that are excluded keep any claim from being made."""
        every: tuple[DisparityChange | MarginTest, ...]
        every = (*self.disparities, *self.margins, *self.groups)
        return any(each.overturned for each in every)

    def withheld(self, why: WhyWithheld) -> Candidate:
        """Return it with nothing better or as good that stands on something doubted."""
        return with_verdict(
            replace(
                self,
                disparities=tuple(each.withheld(why) for each in self.disparities),
                margins=tuple(each.withheld(why) for each in self.margins),
                groups=tuple(each.withheld(why) for each in self.groups),
            )
        )


def with_verdict(candidate: Candidate) -> Candidate:
    """Return a candidate with its verdict."""
    fairness, performance = _fairness(candidate), _performance(candidate)
    verdict = _verdict(candidate, fairness, performance)
    return replace(candidate, verdict=verdict, fairness=fairness, performance=performance)


def _fairness(candidate: Candidate) -> Fairness:
    """Return what became of the disparities: significantly closer, further, both or neither.

    One that is further by less than its margin allows is not, nor is one closer that the rows that
    are excluded could overturn; a group that is harmed by more than the margin is. One that is
    further, but within its margin unless they overturn that, makes nothing less fair by itself.
    Where all rows are decided alike groups cannot differ, and the data show neither.
    """
    if candidate.reason is not None:
        return Fairness.CANNOT_TELL
    moved = [
        each
        for each in candidate.disparities
        if each.significant
        and not (each.direction is Direction.CLOSER and each.overturned)
        and not (each.direction is Direction.FURTHER and each.outcome is Performance.NON_INFERIOR)
    ]
    outcomes = [each.outcome for each in candidate.disparities]
    harmed = Performance.INFERIOR in (*outcomes, *(each.outcome for each in candidate.groups))
    closer = any(each.direction is Direction.CLOSER for each in moved)
    further = [each for each in moved if each.direction is Direction.FURTHER]
    if closer:
        return Fairness.MIXED if harmed or further else Fairness.FAIRER
    less_fair = harmed or not all(each.overturned for each in further)
    return Fairness.LESS_FAIR if less_fair else Fairness.CANNOT_TELL


def _performance(candidate: Candidate) -> Performance:
    """Return whether a candidate is as good: in every rate with a margin."""
    outcomes = {test.outcome for test in candidate.margins}
    if not outcomes:
        return Performance.NO_MARGIN
    if Performance.INFERIOR in outcomes:
        return Performance.INFERIOR
    single = outcomes == {Performance.NON_INFERIOR}
    return Performance.NON_INFERIOR if single else Performance.CANNOT_TELL


def _verdict(
    candidate: Candidate, fairness: Fairness, performance: Performance
) -> CandidateVerdict:
    if not candidate.margins and not any(
        disparity.margin is not None for disparity in candidate.disparities
    ):
        return CandidateVerdict.NONE
    if fairness is Fairness.MIXED:
        return CandidateVerdict.TRADE_OFF
    if fairness is Fairness.LESS_FAIR:
        better = any(test.better for test in candidate.margins)
        return CandidateVerdict.TRADE_OFF if better else CandidateVerdict.WORSE
    fairer = fairness is Fairness.FAIRER
    if performance is Performance.INFERIOR:
        return CandidateVerdict.TRADE_OFF if fairer else CandidateVerdict.WORSE
    if not fairer or performance is not Performance.NON_INFERIOR:
        return CandidateVerdict.CANNOT_TELL
    return (
        CandidateVerdict.BETTER_WHERE_TESTED if candidate.untested else CandidateVerdict.DOMINATES
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedData:
    """What was counted: where from, the digest of its counts, and its rows, with those excluded."""

    source: str
    fingerprint: str
    rows: int
    excluded: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin(ComparedData):
    """One of the two reports, with its data.

    Attributes
    ----------
    name : the file that the report was read from, None of a report at hand.
    created, version : when, and by which fairgauge.
    cases, used : its data, as in the report.
    used_at_least : whether more rows may be used, as a note of the report states.
    unclear : the most rows of which one warning states that their outcome or group may be another
        one or none.
    uneven : by how much more of the rows of one group than of another lack an outcome, or of one
        outcome a group, at most, if a warning states it.
    verdict : what its rules came to.
    """

    name: str | None
    created: str
    version: str
    cases: Finite
    used: int
    unclear: int
    uneven: Finite
    verdict: Outcome
    used_at_least: bool = False

    @property
    def share_lacking(self) -> float:
        """Return the share of cases, or of people, that lack one thing, or are unclear.

        Those without a group of one feature are used for the others. A further row of a person
        lacks nothing: it counts with the person's others. Of rows without a count it is the share
        of rows, as nobody knows for how many cases they stand.
        """
        each = (n for why, n in self.excluded.items() if why not in {*Uncounted})
        lacking = (max([self.cases - self.used, *each]) + self.unclear) / max(self.cases, 1)
        return max(lacking, self.excluded.get(Uncounted.NO_COUNT, 0) / max(self.rows, 1))


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that the two reports were asked differently, and what follows from it."""

    key: str
    old: object
    new: object
    says: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictChange:
    """A verdict that changed: of one rule, for one group.

    Attributes
    ----------
    old, new : the verdict in each report.
    turn : whether it got worse.
    """

    old: Verdict
    new: Verdict
    turn: Turn

    @property
    def feature(self) -> str | None:
        """Return the sensitive feature of both verdicts."""
        return self.new.feature

    @property
    def group(self) -> str | None:
        """Return the group of both verdicts; of a metric of all groups, that of the new one."""
        return self.new.group

    @property
    def is_of_missing_rows(self) -> bool:
        """Return whether it changed because rows are missing: no test of the others shows how.

        Of a rule with alternatives, whether one of those that decide it did.
        """
        return any(reason.code in _OF_MISSING_ROWS for reason in reasons_of(self.new))


_OF_MISSING_ROWS = (
    ReasonCode.MISSING_GROUPS, ReasonCode.MISSING_OUTCOMES, ReasonCode.NOT_COUNTED,
    ReasonCode.UNCLEAR_VALUES,
    ReasonCode.FAVOURABLE_UNSTATED,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmatchedVerdict:
    """A verdict without a counterpart in the other report, which has the rule.

    Nothing is known of how it changed: it is neither better nor worse, nor as before.

    Attributes
    ----------
    verdict : the verdict.
    report : the report that has it.
    reason : why the other has none: the group is absent there, or is the reference.
    """

    verdict: Verdict
    report: Which
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Alone:
    """What only one of the two reports has.

    Attributes
    ----------
    what, feature, name : a feature, a metric, a group of a feature, a group that is the reference
        in the other report, an average over the classes of one report, a rule ..., and which.
    report : the one that has it.
    count : how many estimates (of a rule: verdicts) have no counterpart because of it.
    """

    what: What
    feature: str | None
    name: str
    report: Which
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChange:
    """The size of a group, and its share of the known rows, in both reports."""

    feature: str
    group: str
    old_n: Finite | None
    new_n: Finite | None
    old_share: Share | None
    new_share: Share | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(ResultOfMetrics):
    """What changed between two reports; `print` shows it.

    Attributes
    ----------
    version : of the fairgauge that compared.
    old, new : the two reports.
    same_rows : whether both are taken to rest on the same rows.
    refused : why no change has an interval; None where changes have one. Of the same rows, the
        changes have one that are shown whatever the correlation of the two estimates.
    differences : what was asked differently, the grave first.
    turn : what became of the verdict as a whole; None where it stayed, or no rules were set.
    flips : the verdicts that changed, those that got worse first.
    stayed : how many verdicts did not change.
    unmatched : the verdicts that only one of the reports has, of rules that both have.
    changes : what became of every disparity, the most important first.
    alone : what only one of the reports has.
    groups : the sizes of the groups.
    spec : what the new report was asked.
    scoring : whether selection rates of the new report are scoring rates.
    own : the rates of the user's own, as far as they can be shown.
    diagnostics : the warnings of missing or unclear rows that the new report has alone.
    """

    KIND: ClassVar = ResultKind(
        name="comparison",
        schema="fairgauge.comparison/6",
        title="Two fairness audits compared",
        called="a comparison of fairgauge",
        page="fairgauge.statements.comparison:comparison_page",
    )
    DERIVED: ClassVar = ("worse", "metrics", "_brief")

    version: Version
    old: Origin
    new: Origin
    same_rows: bool
    refused: Reason | None
    differences: tuple[Difference, ...]
    turn: Turn | None
    flips: tuple[VerdictChange, ...]
    stayed: int
    unmatched: tuple[UnmatchedVerdict, ...]
    changes: tuple[DisparityChange, ...]
    alone: tuple[Alone, ...]
    groups: tuple[GroupChange, ...]
    spec: Saved = field(default_factory=dict)
    scoring: Annotated[bool, Restored("metrics", Facts, is_of_scoring_rates)] = False
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def catalogue(self) -> Catalogue:
        """Return what the names in the comparison stand for."""
        return Catalogue(self.own, (SCORING_RATE,) if self.scoring else harm_in_words(self.spec))

    @property
    def metrics(self) -> Facts:
        """Return the facts of the user's own rates and of scoring rates, by their names."""
        scoring = [SCORING_RATE.name] if self.scoring else []
        return self.catalogue.facts([*scoring, *(rate.name for rate in self.own)])

    @property
    def created(self) -> str:
        """Return when the new report was made."""
        return self.new.created

    @property
    def worse(self) -> bool:
        """Return whether a disparity or a verdict got statistically significantly worse.

        A disparity did that is further from no difference, or that is on the other side of it and
        not closer: a group that was better off is worse off now.

        Without any change, that has a probability of at most one minus the confidence: all changes
        of disparities are one family (Holm), and a verdict goes from pass to fail, by intervals
        that share no value, far less often.
        """
        turns = {flip.turn for flip in self.flips}
        return Turn.WORSE in turns or any(change.worse for change in self.changes)

    @property
    def compared(self) -> bool:
        """Return whether any disparity has a value in both reports."""
        return any(change.change is not None for change in self.changes)

    @property
    def why_untested(self) -> Reason | None:
        """Return why no change is tested; None where some are."""
        return None if any(c.change_p_adjusted is not None for c in self.changes) else self.refused

    @property
    def incomplete(self) -> bool:
        """Return whether something may have got worse that could not be compared."""
        return bool(self.why_incomplete)

    @property
    def why_incomplete(self) -> tuple[WhyIncomplete, ...]:
        """Return why something may have got worse that could not be compared, the causes first.

        A verdict of the old report, or a fail of the new one, whose rule or group is not in the
        other report (an old verdict on a group that is the reference now is accounted for: it has
        become the best, the largest, or the one that is named); a disparity that moved where the
        reports are not asked alike, or whose confidence intervals share no value where another
        group is the reference; a verdict that got worse, or that of all rules, where no change of
        its disparity could be tested, or because rows are missing that could change it; a verdict
        that changed to one that decides nothing, as where the reference is gone; a disparity that
        moved, and not closer to no difference, of the same rows, where no test shows it; or,
        without verdicts beside them, reports that have no disparity with a value in both, or many
        more rows that lack something, or are unclear, in the new report, of all groups or of one,
        or a group of enough rows that is gone, or has fewer than a group needs.
        """
        rules = (each.what == "rule" and each.report == "old" for each in self.alone)
        reasons = {
            WhyIncomplete.RULE_GONE: any(rules),
            WhyIncomplete.NO_COUNTERPART: bool(self.unaccounted),
            WhyIncomplete.ASKED_OTHERWISE: self._unlike,
            WhyIncomplete.UNTESTED_VERDICT: self._untested_worse,
            WhyIncomplete.NOTHING_TESTED: self._untested_further,
        }
        if not (self.stayed or self.flips):
            reasons |= self._not_judged()
        return tuple(why for why, holds in reasons.items() if holds)

    @property
    def unaccounted(self) -> tuple[UnmatchedVerdict, ...]:
        """Return the verdicts of the old report, and fails of the new one, without a counterpart.

        An old verdict on a group that is the reference now is accounted for.
        """
        return tuple(
            each
            for each in self.unmatched
            if (
                each.verdict.outcome is Outcome.FAIL
                if each.report == "new"
                else each.reason.code is not ReasonCode.IS_REFERENCE
            )
        )

    def _not_judged(self) -> dict[WhyIncomplete, bool]:
        """Return what could hide a change where no verdict shows whether it does."""
        lack = self.new.share_lacking - self.old.share_lacking, self.new.uneven - self.old.uneven
        gone = [each.old_n or 0 for each in self.groups if not each.new_n]
        few = [each.old_n or 0 for each in self.groups if (each.new_n or 0) < FEWEST_ROWS]
        return {
            WhyIncomplete.NOTHING_COMPARED: not self.compared,
            WhyIncomplete.MORE_LACK: max(lack) >= MANY_MORE,
            WhyIncomplete.GROUP_GONE: max(gone, default=0) >= FEWEST_ROWS
            or max(few, default=0) >= 2 * FEWEST_ROWS,
        }

    @property
    def _untested_further(self) -> bool:
        """Return whether a disparity moved, not closer to no difference, and no test shows it.

        A verdict that stayed does not decide that: it may fail in both reports, or be of another
        disparity.
        """
        return self.refused is not None and any(
            each.moved and each.change_p_adjusted is None and each.direction is not Direction.CLOSER
            for each in self.changes
        )

    @property
    def _unlike(self) -> bool:
        """Return whether a disparity moved that was measured otherwise before.

        Groups that are nearly alike take turns as the reference: little that moves is no sign.
        """
        untested = [(change, change.reason.code)
                    for change in self.changes if change.untested and change.reason]  # fmt: skip
        return any(
            code in _ASKED_OTHERWISE or (code is ReasonCode.DIFFERENT_REFERENCES and change.apart)
            for change, code in untested
        )

    @property
    def _untested_worse(self) -> bool:
        """Return whether a verdict, or that of all rules, got worse, and no test shows by what.

        One that changed to a verdict that decides nothing may have.
        """
        tested = {
            place
            for each in self.changes
            if each.change_p_adjusted is not None
            for place in places_of(each)
        }

        def is_tested(flip: VerdictChange) -> bool:
            deciding = places_deciding(flip.new)
            return bool(deciding & tested) and flip.new.outcome is not Outcome.NOT_EVALUATED

        def is_shown(flip: VerdictChange) -> bool:
            return flip.turn is Turn.WORSE or (is_tested(flip) and not flip.is_of_missing_rows)

        undecided = (Outcome.INCONCLUSIVE, Outcome.NOT_EVALUATED)
        if any(f.new.outcome in undecided and not is_tested(f) for f in self.flips):
            return True
        worse = [f for f in self.flips if BADNESS[f.new.outcome] > BADNESS[f.old.outcome]]
        old, new = self.old.verdict, self.new.verdict
        as_bad = [flip for flip in worse if BADNESS[flip.new.outcome] >= BADNESS[new]]
        judged = old is not Outcome.NONE and BADNESS[new] > BADNESS[old]
        return not all(map(is_shown, worse)) or (judged and not as_bad)

    def __repr__(self) -> str:
        moved = sum(change.moved for change in self.changes)
        return (
            f"<Comparison of two reports: {len(self.flips):,} verdicts and {moved:,} of "
            f"{len(self.changes):,} estimates changed; print() shows it>"
        )


@dataclass(frozen=True, slots=True)
class SortedChanges:
    """The changes of a comparison, sorted.

    Attributes
    ----------
    further, closer : what moved statistically significantly.
    changed : what changed statistically significantly, and is neither significantly.
    moved : what moved otherwise, and was tested.
    untested : what moved, and could not be tested.
    undefined : what has a value in one report only.
    stayed : what did not change.
    mirrored : what is the mirror image of the change of another group.
    """

    further: tuple[DisparityChange, ...]
    closer: tuple[DisparityChange, ...]
    changed: tuple[DisparityChange, ...]
    moved: tuple[DisparityChange, ...]
    untested: tuple[DisparityChange, ...]
    undefined: tuple[DisparityChange, ...]
    stayed: tuple[DisparityChange, ...]
    mirrored: tuple[DisparityChange, ...]


def sort_changes(changes: Iterable[DisparityChange]) -> SortedChanges:
    """Sort changes; of two groups that mirror each other, the smaller one stands for both."""
    every = tuple(changes)
    kept = [each for each in every if each.mirror_of is None]
    valued = [each for each in kept if each.change is not None]
    further, closer = (
        tuple(each for each in valued if each.significant and each.direction is direction)
        for direction in (Direction.FURTHER, Direction.CLOSER)
    )
    rest = [each for each in valued if each.moved and not (each.significant or each.changed)]
    return SortedChanges(
        further=further,
        closer=closer,
        changed=tuple(each for each in valued if each.changed and not each.significant),
        moved=tuple(each for each in rest if not each.untested),
        untested=tuple(each for each in rest if each.untested),
        undefined=tuple(each for each in kept if each.change is None and each.moved),
        stayed=tuple(each for each in kept if not each.moved),
        mirrored=tuple(each for each in every if each.mirror_of is not None),
    )


Subject: TypeAlias = tuple[str, str | None, str | None]
"""The metric, the feature, and the group; no group where the metric is of all groups."""


def subject_of(each: Estimate | Verdict | DisparityChange) -> Subject:
    """Return what an estimate or a verdict is about.

    The groups that a metric of all groups names are those that are furthest apart in this report.
    In another report they may be others, and it is the same metric of the same feature.
    """
    group = None if is_of_all_groups(each.definition) else each.group
    return (each.metric, each.feature, group)


Place: TypeAlias = tuple[Subject, ClassScope, float | None]
"""Where a verdict may be decided: a subject, a class and a threshold; None where there is one."""


def places_of(each: Estimate | DisparityChange) -> set[Place]:
    """Return where an estimate may decide a verdict."""
    return {(subject_of(each), each.class_scope, at) for at in (each.threshold, None)}


def places_deciding(verdict: Verdict) -> set[Place]:
    """Return where a verdict was decided: of two groups that mirror each other, at both."""
    metric, feature, group = subject_of(verdict)
    return {
        ((metric, feature, side), verdict.class_scope, verdict.threshold)
        for side in (group, verdict.mirror or group)
    }


def with_joint_names(old: Report, new: Report) -> tuple[Report, Report]:
    """Return two reports in which a group has one name, and a name is of one group.

    What one report calls "A & B & C" may be another group than what the other calls so, and the
    same set of values may be listed in another order.

    Reports older than `fairgauge.report/3` do not state what their groups are: beside one of them
    groups of one name are taken to be the same.
    """
    groups: Groups = {}
    for report in (old, new):
        subjects: tuple[Estimate | Group, ...] = (*report.groups, *report.estimates)
        for each in subjects:
            if each.feature is None:
                continue
            if each.feature_id is None:
                return old, new
            of_feature = groups.setdefault(each.feature_id, {})
            if each.group_id is not None and each.group is not None:
                of_feature.setdefault(each.group_id, each.group)
    features = dict(zip(groups, feature_names(list(groups)), strict=True))
    for of_feature in groups.values():
        of_feature.update(zip(of_feature, group_names(list(of_feature)), strict=True))
    return _renamed(old, features, groups), _renamed(new, features, groups)


def _renamed(report: Report, features: Mapping[FeatureId, str], groups: Groups) -> Report:
    def in_joint_names(each: Named) -> Named:
        if each.feature_id is None:
            return each
        feature = features.get(each.feature_id)
        group = groups.get(each.feature_id, {}).get(each.group_id) if each.group_id else None
        return replace(each, feature=feature or each.feature, group=group or each.group)

    def with_reference(each: Estimate) -> Estimate:
        reference = each.reference
        if each.feature_id is None or reference is None or reference.group_id is None:
            return each
        name = groups[each.feature_id].get(reference.group_id, reference.group)
        return replace(each, reference=replace(reference, group=name))

    return replace(
        report,
        groups=tuple(map(in_joint_names, report.groups)),
        estimates=tuple(with_reference(in_joint_names(estimate)) for estimate in report.estimates),
        verdicts=tuple(map(in_joint_names, report.verdicts)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelComparison(ResultOfMetrics):
    """Candidate models against the model in use, on the same rows; `print` shows it.

    Attributes
    ----------
    version, created : of the fairgauge that compared, and when.
    task : what labels and decisions are.
    data : what was counted.
    spec : the whole question.
    current : the column of the model in use.
    confidence : the level of the intervals.
    candidates : the candidates, in the order in which they were named.
    own : the rates of the user's own, as far as they can be shown.
    diagnostics : what the question may have meant instead, of every model, and who is excluded.
    """

    KIND: ClassVar = ResultKind(
        name="models",
        schema="fairgauge.models/3",
        title="Models compared on the same rows",
        called="a comparison of models",
        page="fairgauge.statements.models:models_page",
    )
    DERIVED: ClassVar = ("verdict", "metrics", "_brief")

    version: Version
    created: str
    task: Task
    data: ComparedData
    spec: Saved
    current: str
    confidence: Share
    candidates: tuple[Candidate, ...]
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def exit_code(self) -> int:
        """Return 0 if a candidate dominates or nothing is to decide, 1 if all are worse, else 3."""
        if self.verdict in (CandidateVerdict.DOMINATES, CandidateVerdict.NONE):
            return 0
        return 1 if self.verdict is CandidateVerdict.WORSE else 3

    @property
    def verdict(self) -> CandidateVerdict:
        """Return the best verdict of a candidate.

        Dominates, better in what could be tested, trade-off, cannot tell, worse.
        """
        order = (
            CandidateVerdict.DOMINATES,
            CandidateVerdict.BETTER_WHERE_TESTED,
            CandidateVerdict.TRADE_OFF,
            CandidateVerdict.CANNOT_TELL,
            CandidateVerdict.WORSE,
            CandidateVerdict.NONE,
        )
        return min((candidate.verdict for candidate in self.candidates), key=order.index)

    def __getitem__(self, name: str) -> Candidate:
        """Return the candidate of a name."""
        for each in self.candidates:
            if each.name == name:
                return each
        names = ", ".join(candidate.name for candidate in self.candidates)
        raise KeyError(f"no candidate {name!r}; there are {names}")

    def __repr__(self) -> str:
        verdicts = ", ".join(
            f"{candidate.name}: "
            f"{'no verdict' if candidate.verdict is CandidateVerdict.NONE else candidate.verdict}"
            for candidate in self.candidates
        )
        return f"<Comparison with the model {self.current}; {verdicts}; print() shows it>"
