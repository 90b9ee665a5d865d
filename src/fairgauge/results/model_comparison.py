"""ModelComparison: candidate models against the model in use on the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import CandidateVerdict, Direction, Fairness, Performance, Status, Task
from fairgauge.reasons import Reason
from fairgauge.results.codec import Finite, Inline, Share, Version
from fairgauge.results.definitions import OfRow
from fairgauge.results.scopes import (
    NO_CLASS,
    OVERALL,
    ClassScope,
    Diagnostic,
    Interval,
    Reference,
    Scope,
)
from fairgauge.results.shown_result import ResultKind, ResultOfMetrics
from fairgauge.values import Saved

Among = Literal["all", "positive", "negative"]
"""All rows, or those whose label is the favourable outcome, or is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateChange(OfRow[Statistic]):
    """A rate of one group under both models, on the same rows.

    Attributes
    ----------
    rate : its name.
    feature, group : whose; None and "all" of all rows.
    scope, class_scope, threshold : which rows, classes and score threshold.
    old, new : under the model in use and the candidate; None where undefined.
    change : new less old.
    interval : its paired confidence interval, None where there is none.
    ratio, ratio_interval : new divided by old, likewise.
    p_value : of no change.
    n : the (effective) rows that it rests on.
    status, reason : whether the numbers can be relied on, and why not, or why there is no interval.
    """

    rate: str
    feature: str | None
    group: str
    scope: Inline[Scope] = OVERALL
    class_scope: Inline[ClassScope] = NO_CLASS
    threshold: Finite | None = None
    old: float | None = None
    new: float | None = None
    change: float | None = None
    interval: Interval | None = None
    ratio: float | None = None
    ratio_interval: Interval | None = None
    p_value: Share | None = None
    n: Finite | None = None
    status: Status = Status.OK
    reason: Reason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DisparityChange(OfRow[Metric]):
    """A disparity under both models, on the same rows.

    Attributes
    ----------
    metric, feature, group, reference : the metric, and who is compared with whom; no feature for
        an index of all rows.
    scope, class_scope, threshold : which rows, classes and score threshold.
    old, new : its value under the model in use and the candidate; None where undefined.
    new_interval : the confidence interval of the latter; None where there is none.
    by : whether it changes by a difference (new - old) or by a ratio (new / old).
    change, interval : the change, and its paired confidence interval.
    distance, distance_interval : the change of the distance from "no difference"; negative where
        the candidate is closer; of ratios, of the logarithm's.
    direction : closer to "no difference" or further from it.
    crossed : whether it is on the other side of "no difference" under the candidate.
    other_side : whether that is statistically significant: the side under either model, adjusted
        (Holm) for all disparities of all candidates.
    changed : whether the change itself is statistically significant, wherever it leads.
    change_p_value, change_p_adjusted : of no change, alone and adjusted (Holm) for all disparities
        of all candidates.
    p_value, p_adjusted : of "as far as before", likewise.
    distance_adjusted : the interval of the change of the distance at the level at which it is
        tested among all disparities; it excludes 0 just where `p_adjusted` is significant.
    significant : whether the direction is statistically significant.
    margin : by how much further from "no difference" it may be; of ratios a share. None where no
        margin is stated.
    margin_interval : the interval of the change of the distance that is held against the margin;
        of a minimum or maximum over groups, of how much worse it is.
    outcome : non-inferior where that whole interval is within the margin, inferior where it is
        beyond at the level of all such tests of the candidate; None where it is no part of the
        verdict.
    overturned : whether the rows that are excluded could overturn that it is closer, or within its
        margin: then it counts as neither.
    needed : rows of this composition that would show the observed direction; None where none would,
        or it is significant.
    n_group, n_reference : (effective) rows of both sides.
    status, reason : whether the numbers can be relied on, and why not, or why there is no interval.
    """

    metric: str
    feature: str | None
    group: str
    reference: Inline[Reference | None]
    scope: Inline[Scope] = OVERALL
    class_scope: Inline[ClassScope] = NO_CLASS
    threshold: Finite | None = None
    old: float | None = None
    new: float | None = None
    new_interval: Interval | None = None
    by: Literal["difference", "ratio"] = "difference"
    change: float | None = None
    interval: Interval | None = None
    distance: float | None = None
    distance_interval: Interval | None = None
    direction: Direction | None = None
    crossed: bool = False
    other_side: bool = False
    changed: bool = False
    change_p_value: Share | None = None
    change_p_adjusted: Share | None = None
    p_value: Share | None = None
    p_adjusted: Share | None = None
    distance_adjusted: Interval | None = None
    significant: bool = False
    margin: Finite | None = None
    margin_interval: Interval | None = None
    outcome: Performance | None = None
    overturned: bool = False
    needed: Finite | None = None
    n_group: Finite | None = None
    n_reference: Finite | None = None
    status: Status = Status.OK
    reason: Reason | None = None


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
    gained_interval, lost_interval : confidence intervals of their shares.
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
    gained_interval: Interval | None
    lost_interval: Interval | None


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
    needed : rows of this composition that would probably decide the verdict, None where it is
        decided or no number would.
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
    needed: Finite | None = None
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedData:
    """What was counted: where from, the digest of its counts, and its rows, with those excluded."""

    source: str
    fingerprint: str
    rows: int
    excluded: Mapping[str, int]


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
        document="fairgauge.render.documents.models_document:models_document",
        brief="fairgauge.render.brief.models_brief:models_brief",
        tables={"changes": "fairgauge.render.writers.flat_rows:model_changes_of"},
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
