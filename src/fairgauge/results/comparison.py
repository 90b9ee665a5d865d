"""What changes: between two reports, or between models that decide the same rows.

One result: what became of every difference between groups, and a verdict in the same words. Of two
reports the rows are independent, or the same without their correlation; of models they are paired.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from fairgauge import enums
from fairgauge.catalogue.comparisons import is_of_all_groups
from fairgauge.catalogue.directions import harm_in_words
from fairgauge.catalogue.lookup import SCORING_RATE, Catalogue, Facts, is_of_scoring_rates
from fairgauge.enums import CandidateVerdict, Fairness, Outcome, Performance, WhyIncomplete
from fairgauge.reasons import FEWEST_ROWS, Reason, ReasonCode
from fairgauge.results.codec import Finite, Moment, Restored, Share, Word
from fairgauge.results.estimates import DisparityChange, Estimate, RateChange
from fairgauge.results.scopes import Diagnostic, Interval, WhyWithheld
from fairgauge.results.shown_result import ResultKind, ResultOfMetrics, find_named
from fairgauge.results.verdicts import Verdict, reasons_of
from fairgauge.start.records import dataclass, field, replace
from fairgauge.values import Saved

Which = Literal["old", "new"]
Among = Literal["all", "positive", "negative"]
What = Literal["feature", "metric", "group", "reference", "estimate", "rule"]

BADNESS = {Outcome.PASS: 0, Outcome.INCONCLUSIVE: 1, Outcome.NOT_EVALUATED: 1, Outcome.NONE: 1,
    Outcome.FAIL: 2}  # fmt: skip
"""How bad an outcome is; where rules were set, none is as bad as one that was not evaluated."""
_ASKED_OTHERWISE = (ReasonCode.ASKED_DIFFERENTLY, ReasonCode.DIFFERENT_LEVELS)
MANY_MORE = 0.05
"""By how much more of the rows are not used, if they could hide a change."""
_OF_MISSING_ROWS = (
    ReasonCode.MISSING_GROUPS, ReasonCode.MISSING_OUTCOMES, ReasonCode.NOT_COUNTED,
    ReasonCode.UNCLEAR_VALUES, ReasonCode.FAVOURABLE_UNSTATED,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginTest:
    """Whether a candidate is as good as the model in use in one rate, of all rows or of a group.

    ``margin, by``: by how much the rate may be worse, as a difference or as a share of it.
    ``adjusted``: the interval of the change at the level of all candidates, by which it is decided.
    ``better``: whether that whole interval is on the better side of no change.
    ``overturned``: whether excluded rows could overturn that it is, so that it is not.
    ``p_value, p_adjusted``: one-sided, of being worse by more; with the claims of all candidates.
    ``needed``: rows of this composition that would show non-inferiority; None where none would.
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
        is_as_good = self.outcome is Performance.NON_INFERIOR
        if not is_as_good or why(self.change.definition.needs, self.change.feature) is None:
            return self
        return replace(self, outcome=Performance.CANNOT_TELL, overturned=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reclassified:
    """Rows of one group that a candidate accepts (``gained``), or rejects (``lost``), instead.

    ``among`` are all rows, or those whose label is the favourable outcome, or is not.
    """

    feature: str | None
    group: str
    among: Among
    threshold: Finite | None
    n: Finite
    gained: Finite
    lost: Finite


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A candidate model against the model in use, or the new report against the old one.

    ``name``: the column of its decisions or scores; the file of the report.
    ``rows, undecided``: rows that both models decide, and that one of them does not.
    ``fairness, performance``: what the verdict is made of.
    ``together``: whether it is shown to be fairer and as good where that is one claim about each
        candidate, and the claims hold for all of them; of reports always.
    ``reason``: why it is neither fairer nor less fair: the candidate decides all rows alike.
    ``groups``: the tests of the groups' own rates. Of reports there are disparities alone.
    """

    name: str
    rows: int
    undecided: int = 0
    verdict: CandidateVerdict = CandidateVerdict.NONE
    fairness: Fairness = Fairness.CANNOT_TELL
    performance: Performance = Performance.NO_MARGIN
    together: bool = True
    reason: Reason | None = None
    disparities: tuple[DisparityChange, ...]
    rates: tuple[RateChange, ...] = ()
    margins: tuple[MarginTest, ...] = ()
    groups: tuple[MarginTest, ...] = ()
    reclassified: tuple[Reclassified, ...] = ()

    @property
    def decides_alike(self) -> bool:
        """Return whether no decision differs from that of the model in use, and no rate."""
        moved = any(each.gained or each.lost for each in self.reclassified)
        return bool(self.reclassified) and not moved and not any(each.change for each in self.rates)

    @property
    def untested(self) -> tuple[DisparityChange | MarginTest, ...]:
        """Return what is not shown to be within a margin: disparities, and groups' own rates."""
        undecided = (Performance.CANNOT_TELL, Performance.NO_MARGIN)
        return tuple(each for each in self.of_groups if each.outcome in undecided)

    @property
    def of_groups(self) -> tuple[DisparityChange | MarginTest, ...]:
        return (*self.disparities, *self.groups)

    @property
    def overturned(self) -> bool:
        return any(each.overturned for each in (*self.of_groups, *self.margins))

    def withheld(self, why: WhyWithheld) -> Candidate:
        names = ("disparities", "margins", "groups")
        own: Any = {name: tuple(e.withheld(why) for e in getattr(self, name)) for name in names}
        return with_verdict(replace(self, **own))


def with_verdict(candidate: Candidate) -> Candidate:
    """Return a candidate with its verdict."""
    order = (Performance.INFERIOR, Performance.CANNOT_TELL, Performance.NON_INFERIOR)
    outcomes = (test.outcome for test in candidate.margins)
    performance = min(outcomes, key=order.index, default=Performance.NO_MARGIN)
    fairness = _fairness(candidate)
    verdict = _verdict(candidate, fairness, performance)
    return replace(candidate, verdict=verdict, fairness=fairness, performance=performance)


def _fairness(candidate: Candidate) -> Fairness:
    # what is further within its margin makes nothing less fair by itself; what excluded rows could
    # overturn is not closer; a group that is harmed by more than the margin is
    if candidate.reason is not None:
        return Fairness.CANNOT_TELL
    good = Performance.NON_INFERIOR
    moved = [each for each in candidate.disparities if each.significant]
    further = [e for e in moved if e.direction is enums.Direction.FURTHER and e.outcome is not good]
    harmed = any(each.outcome is Performance.INFERIOR for each in candidate.of_groups)
    if any(each.direction is enums.Direction.CLOSER and not each.overturned for each in moved):
        return Fairness.MIXED if harmed or further else Fairness.FAIRER
    less_fair = harmed or not all(each.overturned for each in further)
    return Fairness.LESS_FAIR if less_fair else Fairness.CANNOT_TELL


def _verdict(
    candidate: Candidate, fairness: Fairness, performance: Performance
) -> CandidateVerdict:
    fairer, less_fair = fairness is Fairness.FAIRER, fairness is Fairness.LESS_FAIR
    if not candidate.margins and all(each.margin is None for each in candidate.disparities):
        return CandidateVerdict.NONE
    if fairness is Fairness.MIXED:
        return CandidateVerdict.TRADE_OFF
    if less_fair or performance is Performance.INFERIOR:
        better = any(test.better for test in candidate.margins) if less_fair else fairer
        return CandidateVerdict.TRADE_OFF if better else CandidateVerdict.WORSE
    if not (fairer and performance is Performance.NON_INFERIOR and candidate.together):
        return CandidateVerdict.CANNOT_TELL
    untested = bool(candidate.untested)
    return CandidateVerdict.BETTER_WHERE_TESTED if untested else CandidateVerdict.DOMINATES


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What is compared: a report with its data, or the model in use with what was counted.

    ``name``: the file of a report, None of one at hand; the model's column.
    ``used_at_least, rounded``: whether more rows may be used, and whether numbers are of protected
        counts, as notes of the report state.
    """

    name: str | None
    source: str
    fingerprint: str
    rows: int
    excluded: Mapping[str, int]
    created: Moment
    version: Word
    cases: Finite | None = None
    used: int | None = None
    used_at_least: bool = False
    rounded: bool = False
    verdict: Outcome = Outcome.NONE

    @property
    def share_lacking(self) -> float:
        """Return the share of cases that lack one thing; of rows where none has a count."""
        cases = self.cases or 0
        each = (n for why, n in self.excluded.items() if why not in {*enums.Uncounted})
        lacking = max([cases - (self.used or 0), *each]) / max(cases, 1)
        return max(lacking, self.excluded.get(enums.Uncounted.NO_COUNT, 0) / max(self.rows, 1))


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that the two reports were asked differently, and what follows from it."""

    key: str
    old: object
    new: object
    says: str = ""

    @property
    def leaves_out_other_rows(self) -> bool:
        # other values of one column may be another period
        old, new = ({*of} if isinstance(of, Mapping) else set() for of in (self.old, self.new))
        return self.key == "where" and old != new


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictChange:
    """A verdict in both reports, for one group; ``shown`` where intervals changed sides."""

    old: Verdict
    new: Verdict
    shown: bool = False

    @property
    def worse(self) -> bool:
        return BADNESS[self.new.outcome] > BADNESS[self.old.outcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmatchedVerdict:
    """A verdict without a counterpart in the other report: neither better nor worse."""

    verdict: Verdict
    report: Which
    reason: Reason

    @property
    def is_unaccounted(self) -> bool:
        is_reference = self.reason.code is ReasonCode.IS_REFERENCE
        return self.verdict.outcome is Outcome.FAIL if self.report == "new" else not is_reference


@dataclass(frozen=True, slots=True, kw_only=True)
class Alone:
    """What only one report has, and how many estimates have no counterpart for it."""

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

    @property
    def hardly_left(self) -> bool:
        """Return whether hardly a row of it is left, of most rows of the other groups."""
        old, new = self.old_n or 0.0, self.new_n or 0.0
        of_old, of_new = old / (self.old_share or 1.0), new / (self.new_share or 1.0)
        return 0 < new <= 0.1 * old and of_new - new >= (of_old - old) / 2


_ORDER = (
    CandidateVerdict.DOMINATES, CandidateVerdict.BETTER_WHERE_TESTED, CandidateVerdict.TRADE_OFF,
    CandidateVerdict.CANNOT_TELL, CandidateVerdict.WORSE, CandidateVerdict.NONE,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(ResultOfMetrics):
    """What changes from one report to another, or from the model in use to candidates.

    `print` shows it. Of models on the same rows every change has a paired interval.

    ``spec``: what was asked; of two reports, what the new one was.
    ``old, new``: the reports; of models the one in use, and None.
    ``candidates``: in the order in which they were named; or the new report.
    ``same_rows``: whether both sides are taken to rest on the same rows.
    ``refused``: why no change of reports has an interval; of the same rows, why only the widest.
    ``flips, stayed, unmatched``: verdicts that changed, did not, or that only one report has.
    ``diagnostics``: warnings; of two reports, open doubts of either, and missing rows of the new.
    """

    KIND: ClassVar = ResultKind(name="comparison", schema="fairgauge.comparison/7",
        title="What changes between reports, or models", called="a comparison of fairgauge",
        page="fairgauge.statements.changes:change_page")  # fmt: skip
    DERIVED: ClassVar = ("counted", "verdict", "worse", "metrics", "doubts", "_statements")

    task: enums.Task
    spec: Saved = field(default_factory=dict)
    confidence: Share
    old: Origin
    new: Origin | None = None
    candidates: tuple[Candidate, ...]
    same_rows: bool = True
    refused: Reason | None = None
    differences: tuple[Difference, ...] = ()
    flips: tuple[VerdictChange, ...] = ()
    stayed: tuple[VerdictChange, ...] = ()
    unmatched: tuple[UnmatchedVerdict, ...] = ()
    alone: tuple[Alone, ...] = ()
    sizes: tuple[GroupChange, ...] = ()
    scoring: Annotated[bool, Restored("metrics", Facts, is_of_scoring_rates)] = False
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def catalogue(self) -> Catalogue:
        return Catalogue(self.own, (SCORING_RATE,) if self.scoring else harm_in_words(self.spec))

    @property
    def metrics(self) -> Facts:
        """Return the facts of the user's own rates and of scoring rates, by their names."""
        scoring = [SCORING_RATE.name] if self.scoring else []
        return self.catalogue.facts([*scoring, *(rate.name for rate in self.own)])

    @property
    def data(self) -> Origin:
        return self.old

    @property
    def changes(self) -> tuple[DisparityChange, ...]:
        return tuple(each for one in self.candidates for each in one.disparities)

    @property
    def verdict(self) -> CandidateVerdict:
        return min((one.verdict for one in self.candidates), key=_ORDER.index)

    @property
    def exit_code(self) -> int:
        """Return 1 where all are worse, 0 where one dominates or nothing is to decide, else 3.

        Of two reports, 0 where nothing got worse, and all that could have was compared.
        """
        if self.verdict is CandidateVerdict.WORSE:
            return 1
        if self.new is not None:
            return 3 if self.why_incomplete else 0
        return 0 if self.verdict in (CandidateVerdict.DOMINATES, CandidateVerdict.NONE) else 3

    @property
    def worse(self) -> bool:
        """Return whether a disparity or a verdict got statistically significantly worse.

        Without any change, that has a probability of at most one minus the confidence: all changes
        of disparities are one family (Holm), and verdicts fail far less often.
        """
        fails = any(flip.shown and flip.worse for flip in self.flips)
        return fails or any(change.worse for change in self.changes)

    @property
    def compared(self) -> bool:
        return any(change.change is not None for change in self.changes)

    @property
    def why_untested(self) -> Reason | None:
        return None if any(c.change_p_adjusted is not None for c in self.changes) else self.refused

    @property
    def why_incomplete(self) -> tuple[WhyIncomplete, ...]:
        """Return why something may have got worse that two reports could not be compared in."""
        if self.new is None:
            return ()
        hidden = not (self.stayed or self.flips)  # no verdict shows what is hidden
        rules = any(each.what == "rule" and each.report == "old" for each in self.alone)
        unmatched = any(each.is_unaccounted for each in self.unmatched)
        references = hidden and any(each.what == "reference" for each in self.alone)
        sizes = [(each.old_n or 0, each.new_n or 0) for each in self.sizes]
        gone = any(old >= FEWEST_ROWS * (2 if n else 1) for old, n in sizes if n < FEWEST_ROWS)
        lacking = self.new.share_lacking - self.old.share_lacking >= MANY_MORE
        lacking |= any(
            each.code not in enums.DOUBTS
            and (each.get("most_share") or 1.0) - (each.get("least_share") or 0.0) >= MANY_MORE
            for each in self.diagnostics
        )
        # of a copy, unless it is stated that the rows are the same, or other things are asked
        stated = self.refused is not None and self.refused.get("evidence") == "stated"
        asked = any(each.key != "fairgauge" for each in self.differences)
        copied = self.old.fingerprint == self.new.fingerprint and not (stated or asked)
        labelled = any("label" in each.definition.needs for each in self.changes)
        idle = "" if labelled else self.spec.get("label") or ""  # nothing compared needs it
        reasons = {
            WhyIncomplete.NO_COUNTERPART: rules or unmatched or references,
            WhyIncomplete.UNTESTED: self._verdicts_untested() or any(map(self._open, self.changes)),
            WhyIncomplete.OTHER_ROWS: any(e.leaves_out_other_rows for e in self.differences),
            WhyIncomplete.GROUP_GONE: (hidden and gone) or any(e.hardly_left for e in self.sizes),
            WhyIncomplete.SAME_COUNTS: copied,
            WhyIncomplete.NOTHING_COMPARED: hidden and not self.compared,
            WhyIncomplete.MORE_LACK: lacking,
            WhyIncomplete.DOUBTED: any(not e.accepted and e.column != idle for e in self.doubts),
        }
        return tuple(why for why, holds in reasons.items() if holds)

    def _open(self, each: DisparityChange) -> bool:
        # groups that are nearly alike take turns as the reference: little that moves is no sign
        if not each.moved or each.change_p_adjusted is not None:
            return False
        code = each.reason and each.reason.code
        if code is ReasonCode.DIFFERENT_REFERENCES:
            return each.apart
        further = self.refused is not None and each.direction is not enums.Direction.CLOSER
        return code in _ASKED_OTHERWISE or further

    def _verdicts_untested(self) -> bool:
        assert self.new is not None
        changes = [each for each in self.changes if each.change_p_adjusted is not None]
        tested = {(of, each.class_scope) for each in changes for of in subjects_of(each)}

        def is_open(flip: VerdictChange) -> bool:
            new, undecided = flip.new, (Outcome.INCONCLUSIVE, Outcome.NOT_EVALUATED)
            at = {(subject, new.class_scope) for subject in subjects_of(new)}
            if not at & tested or new.outcome is Outcome.NOT_EVALUATED:
                return not flip.shown and (flip.worse or new.outcome in undecided)
            missing = any(reason.code in _OF_MISSING_ROWS for reason in reasons_of(new))
            return flip.worse and missing and not flip.shown

        if any(map(is_open, self.flips)):
            return True
        old, new = BADNESS[self.old.verdict], BADNESS[self.new.verdict]
        judged = self.old.verdict is not Outcome.NONE and new > old
        return judged and all(BADNESS[f.new.outcome] < new for f in self.flips if f.worse)

    def __getitem__(self, name: str) -> Candidate:
        return find_named(self.candidates, name)


Subject: TypeAlias = tuple[str, str | None, str | None]
"""The metric, the feature, and the group; no group where the metric is of all groups."""


def subject_of(each: Estimate | Verdict | DisparityChange) -> Subject:
    """Return what an estimate is about; of all groups, whichever are furthest apart."""
    return each.metric, each.feature, None if is_of_all_groups(each.definition) else each.group


def subjects_of(each: Verdict | DisparityChange) -> set[Subject]:
    """Return what a verdict or a change is about: of groups that mirror each other, both."""
    metric, feature, group = subject_of(each)
    return {(metric, feature, side) for side in (group, each.mirror or group)}
