"""Alternatives: which candidates are as good as the model in use and less discriminatory."""

from __future__ import annotations

import math
from typing import ClassVar, Literal, Self

from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.directions import is_ratio
from fairgauge.enums import AlternativesVerdict, Outcome
from fairgauge.reasons import Reason
from fairgauge.results.codec import Finite, Inline, Share
from fairgauge.results.estimates import RateChange
from fairgauge.results.scopes import Interval, Reference, WhyWithheld
from fairgauge.results.shown_result import CountedResult, ResultKind, find_named
from fairgauge.start.records import dataclass, replace

Assumed = Literal["any", "planned", "fixed"]
"""When a bound holds: at any number of retrainings, at planned ones, at one fixed beforehand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _PairedChange:
    """What a number is under the model in use and under a candidate.

    ``interval``: of the change by itself; ``simultaneous``: one that holds for all candidates.
    ``shown``: whether a claim about it is shown, of all candidates together.
    """

    old: float | None
    new: float | None
    change: float | None
    interval: Interval | None
    simultaneous: Interval | None
    shown: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRate(_PairedChange):
    """A rate of all rows; ``shown``: whether it is shown to be worse by less than the margin.

    ``worse``: whether it is shown to be worse by more. ``lower``: whether lower numbers are better.
    """

    rate: str
    margin: Finite
    worse: bool
    lower: bool

    @property
    def is_kept(self) -> bool:
        """Return whether it is worse by no more than the margin, as measured."""
        lost = None if self.change is None else self.change if self.lower else -self.change
        return lost is not None and lost <= self.margin


@dataclass(frozen=True, slots=True, kw_only=True)
class GapChange(_PairedChange):
    """The disparity of a group; of a ratio the change is the factor.

    ``distance``: the simultaneous interval of how much further it is from no difference, of ratios
    of their logarithms.
    ``shown``: whether the candidate is shown to be as good and less discriminatory for this group,
    and no other group worse off by as much as the harm that was stated.
    ``larger``: whether the gap is shown to be greater by more than that.
    ``levelled``: whether it is smaller without a better rate of the group itself.
    ``reason``: why there is no claim for this group.
    """

    feature: str
    group: str
    reference: Inline[Reference | None]
    distance: Interval | None
    larger: bool
    levelled: bool
    reason: Reason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """A candidate: what it changes, and for which groups it is shown to be an alternative.

    ``rates``: the rate that gaps are made of, of every group.
    ``worse``: whether it is shown to be worse: in a rate by more than its margin, or for a group by
    more than the harm that was stated.
    ``leads``: whether its own simultaneous intervals show it.
    ``greatest_gap``: of any group, as measured; a distance from no difference.
    ``withheld_because``: which rows, or what doubt, could undo what would be shown otherwise.
    """

    name: str
    rows: int
    performance: tuple[KeptRate, ...]
    gaps: tuple[GapChange, ...]
    rates: tuple[RateChange, ...]
    worse: bool
    leads: bool
    greatest_gap: float | None
    withheld_because: Reason | None = None

    DERIVED: ClassVar = ("shown_for", "worse_for", "not_judged")

    @property
    def shown_for(self) -> tuple[str, ...]:
        """Return the groups for which it is shown to be less discriminatory, and as good."""
        return tuple(gap.group for gap in self.gaps if gap.shown)

    @property
    def worse_for(self) -> tuple[str, ...]:
        return tuple(gap.group for gap in self.gaps if gap.larger)

    @property
    def not_judged(self) -> tuple[str, ...]:
        return tuple(gap.group for gap in self.gaps if gap.reason is not None)

    @property
    def is_as_good(self) -> bool:
        """Return whether every rate is within its margin as measured."""
        return all(each.is_kept for each in self.performance)

    @property
    def lifts(self) -> bool:
        """Return whether it helps a group by a better rate of its own, and no gap only levels."""
        return not any(gap.levelled for gap in self.gaps if gap.shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What further retrainings of the same recipe could find, in the greatest gap of any group.

    ``n``: retrainings measured; ``as_good``: of them those within every margin, as measured.
    ``chance_of_better``: by how many more, the probability that one of them beats the best.
    ``curve``: the mean of the smallest gap of j retrainings, for j = 1, 2, ...
    ``bound``: upper bound of the mean gain of one more retraining, as measured on these rows;
    ``bound_of_ten``: of the best of ten more. ``assumes``: when they hold; ``looks``: the numbers
    at which it was planned to look.
    ``regret``: how much smaller the gap of another one measured may truly be than that of the best;
    None where nothing bounds it.
    ``records_p``: p-value of as many records in the order of training, if the order means nothing.
    """

    n: int
    as_good: int
    chance_of_better: tuple[tuple[int, Share], ...]
    curve: tuple[Finite, ...]
    bound: Finite
    bound_of_ten: Finite
    regret: Finite | None
    records_p: Share
    assumes: Assumed
    looks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternatives(CountedResult):
    """Which candidates are as good as the model in use and less discriminatory.

    ``result["model"]`` is one candidate. ``current`` is the model in use.
    ``chosen_on``: the rows on which the one candidate was chosen, by name.
    """

    KIND: ClassVar = ResultKind(name="alternatives", schema="fairgauge.alternatives/1",
        title="Less discriminatory alternatives", called="a search for alternatives",
        page="fairgauge.statements.alternatives:alternatives_page")  # fmt: skip
    DERIVED: ClassVar = ("verdict", "best", *CountedResult.DERIVED)

    current: str
    disparity: str
    harm: Finite
    confidence: Share
    fingerprint: str
    candidates: tuple[Alternative, ...]
    chosen_on: str | None = None
    chosen_among: int | None = None
    search: Search | None = None

    @property
    def metric(self) -> Metric:
        return self.catalogue.metric(self.disparity)

    @property
    def verdict(self) -> AlternativesVerdict:
        if any(one.shown_for for one in self.candidates):
            return AlternativesVerdict.SHOWN
        judged = any(gap.reason is None for one in self.candidates for gap in one.gaps)
        judged |= all(one.worse for one in self.candidates)
        return AlternativesVerdict.NONE_SHOWN if judged else AlternativesVerdict.NOT_JUDGED

    @property
    def best(self) -> str | None:
        """Return the candidate to name first: who lifts a group comes before who levels down."""
        shown = [one for one in self.candidates if one.shown_for and one.leads]
        if not shown:
            return None
        return max(shown, key=lambda one: (one.lifts, self.reduction(one))).name

    def reduction(self, one: Alternative) -> float:
        """Return by how much the gap of a group that it is shown for shrinks at most."""
        neutral = self.metric.neutral
        known = [g for g in one.gaps if g.shown or not one.shown_for]
        sizes = [abs(g.old - neutral) - abs(g.new - neutral) for g in known
                 if g.old is not None and g.new is not None]  # fmt: skip
        return max(sizes, default=-math.inf)

    def closer(self, gap: GapChange) -> tuple[float | None, float | None, float | None]:
        """Return by how much a gap is smaller, of a ratio by what factor, for all candidates."""
        low, high = gap.simultaneous or (None, None)
        ratio, neutral = is_ratio(self.metric), self.metric.neutral
        if gap.old is None or gap.change is None or gap.old < neutral:  # upwards is closer
            return gap.change, low, high
        value, least, most = (
            v if v is None else 1 / v if ratio and v else -v for v in (gap.change, high, low)
        )
        return value, least, most

    def reach_of(self, gap: GapChange) -> tuple[float, float]:
        """Return the changes between which a gap is smaller and not turned into as large a one."""
        if not is_ratio(self.metric):
            return 0.0, 2 * abs(gap.old or 0.0)
        return 1.0, max(gap.old or 1.0, 1 / (gap.old or 1.0)) ** 2

    @property
    def exit_code(self) -> int:
        """Return 0 where a candidate is shown, 1 where every one is shown to be worse, else 3."""
        if self.verdict is AlternativesVerdict.SHOWN:
            return 0
        return 1 if all(one.worse for one in self.candidates) else 3

    def withheld(self, why: WhyWithheld) -> Self:
        candidates = []
        for one in self.candidates:
            kept = (why(self.catalogue.rate_row(e.rate).needs, None) for e in one.performance)
            gaps = (why(self.metric.needs, gap.feature) for gap in one.gaps if gap.shown)
            reason = next((each for each in (*kept, *gaps) if each is not None), None)
            if reason is not None and one.shown_for:
                open_ = tuple(replace(gap, shown=False) for gap in one.gaps)
                one = replace(one, gaps=open_, withheld_because=reason)
            candidates.append(one)
        return replace(self, candidates=tuple(candidates))

    @property
    def outcome(self) -> Outcome:
        return {0: Outcome.PASS, 1: Outcome.FAIL, 3: Outcome.INCONCLUSIVE}[self.exit_code]

    def __getitem__(self, name: str) -> Alternative:
        return find_named(self.candidates, name)
