"""Decomposition: how much of a gap is which strata people are in, and what remains within them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from statistics import fmean
from typing import Any, ClassVar

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.row_metrics import RowMetric
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import (
    Favourable,
    GapPartKind,
    GapVerdict,
    Status,
    StratumWeights,
    WhyInconclusive,
    WhyNoRegression,
)
from fairgauge.results.codec import Finite, Inline, Share, Version
from fairgauge.results.counted import CountedData
from fairgauge.results.describers import function_at
from fairgauge.results.disadvantage import favourable_in, favourable_of, is_worse_off
from fairgauge.results.disparities import distance
from fairgauge.results.disparities import gap as difference
from fairgauge.results.doubts import WhyWithheld
from fairgauge.results.estimates import Estimate
from fairgauge.results.scopes import Diagnostic, Interval
from fairgauge.results.shown_result import ResultKind, ResultOfMetrics
from fairgauge.values import Saved

_NO_WIDTH = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class GapPart:
    """A part of a gap.

    Attributes
    ----------
    part : what it is.
    column : the column whose composition it is, None for all together.
    weights : the shares of strata by which differences within strata are averaged; those of the
        mean of both sides give the parts that add up to the gap.
    value, interval : the part; None where no stratum has both sides.
    status : whether it rests on enough data.
    reason : why it does not, None otherwise.
    """

    part: GapPartKind
    column: str | None = None
    weights: StratumWeights = StratumWeights.AVERAGE
    value: float | None
    interval: Inline[Interval | None] = None
    status: Status = Status.OK
    reason: WhyInconclusive | None = None


@dataclass(frozen=True, slots=True)
class StratumGap:
    """Both sides of a gap in one stratum.

    Attributes
    ----------
    stratum : the name of its value in each column.
    n_group, n_reference : the rows of both sides in the denominator of the rate.
    share_group, share_reference : their shares of all such rows of their side.
    rate_group, rate_reference : the rates; None without rows.
    difference, interval : of the rates.
    composition, within : what the stratum contributes to the parts of a difference; None of a
        ratio, and where it does not have both sides.
    difference_p_adjusted : of no difference in the stratum, adjusted for all strata that both
        sides have and for all gaps (Bonferroni); None where it does not have both sides.
    simultaneous_low, simultaneous_high : the interval of the difference that agrees with it: all of
        them together hold at the confidence level.
    others : the mean difference of all other strata that are not outlying, weighted by their
        precision and spread (DerSimonian and Laird), None of means and without others.
    p_value, p_adjusted : of the same difference as in the others, alone and adjusted for all
        strata (Bonferroni); None where the data are insufficient.
    outlying : whether it differs statistically significantly from the others.
    outlying_alone : whether it would, if this gap were the only one.
    detectable : the distance from the others that would be outlying with 80% power; None where
        none would be.
    """

    stratum: Mapping[str, str]
    n_group: Finite
    n_reference: Finite
    share_group: Share
    share_reference: Share
    rate_group: float | None
    rate_reference: float | None
    difference: float | None
    interval: Inline[Interval | None]
    composition: Finite | None
    within: Finite | None
    difference_p_adjusted: Share | None = None
    simultaneous_low: Finite | None = None
    simultaneous_high: Finite | None = None
    others: Finite | None = None
    p_value: Share | None = None
    p_adjusted: Share | None = None
    outlying: bool = False
    outlying_alone: bool = False
    detectable: Finite | None = None


UNADJUSTED = (
    WhyInconclusive.NOT_COMPARABLE,
    WhyInconclusive.MISSING_STRATA,
    WhyInconclusive.STRATA_DECIDE,
)
"""Why a gap has no difference to quote within strata, nor a regression."""


@dataclass(frozen=True, slots=True)
class Heterogeneity:
    """The test that a difference is the same in all strata.

    Attributes
    ----------
    statistic, degrees, p_value : Cochran's chi-square.
    spread : the standard deviation of the true differences beyond sampling variation.
    """

    statistic: Finite
    degrees: int
    p_value: Share
    spread: Finite


def furthest_from_others(gaps: Sequence[StratumGap], most: int) -> list[int]:
    """Return which strata are furthest from the others, in order.

    Outlying ones come first, those without an interval last. The distance is that in half-widths of
    the interval on the side of the others, which small strata have too: a test needs more rows, and
    a difference alone is largest in the smallest.
    """
    average = fmean(each.difference or 0.0 for each in gaps) if gaps else 0.0

    def rank(i: int) -> tuple[bool, bool, float, float]:
        own = gaps[i].difference or 0.0
        others = gaps[i].others
        apart = own - (average if others is None else others)
        low, high = gaps[i].interval or (-inf, inf)
        width = own - low if apart > 0 else high - own
        sufficient = gaps[i].interval is not None
        return gaps[i].outlying_alone, sufficient, abs(apart) / max(width, _NO_WIDTH), abs(apart)

    return sorted(sorted(range(len(gaps)), key=rank)[-most:])


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustedGap:
    """The gap adjusted for the columns of the strata by regression of the counts.

    It is logistic regression of rates, and linear regression of means.

    Attributes
    ----------
    value, interval, p_value : the average marginal effect: the difference of the rates, or means,
        that all rows of both sides would have on either side.
    p_adjusted : adjusted for the regressions of all gaps (Holm); None of one alone.
    ratio, ratio_interval : of the same two rates, or means; None where one is not above 0.
    odds_ratio, odds_ratio_interval : of rates, of the sides; None where the sides separate the
        outcomes.
    cells : the cells of side and columns with rows.
    extrapolated_group, extrapolated_reference : the shares of the rows of both sides in cells that
        the other side does not have.
    collinear : of columns with levels that are combinations of the others, how many of these are
        excluded, which changes no adjusted difference.
    """

    value: Finite
    interval: Inline[Interval]
    p_value: Share | None
    p_adjusted: Share | None = None
    ratio: Finite | None = None
    ratio_interval: Interval | None = None
    odds_ratio: Finite | None = None
    odds_ratio_interval: Interval | None = None
    cells: int
    extrapolated_group: Share = 0.0
    extrapolated_reference: Share = 0.0
    collinear: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_shown(self) -> bool:
        """Return whether a difference is shown, of several gaps where all are tested together."""
        if self.p_adjusted is None:
            return 0 not in self.interval
        return self.p_adjusted < 1 - self.interval.level

    def at(self, scale: str) -> tuple[float | None, Interval | None]:
        """Return the difference, or the ratio, with its interval."""
        return (
            (self.ratio, self.ratio_interval) if scale == "ratio" else (self.value, self.interval)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """The common support: the strata that both sides have.

    Attributes
    ----------
    share_group, share_reference : the shares of the rows of both sides that are in them.
    strata_used, strata : how many there are, and how many that either side has.
    strata_untested : how many of those used have one cluster alone on a side, so that nothing shows
        how precise their differences are; none where rows are not clustered.
    """

    share_group: Share
    share_reference: Share
    strata_used: int
    strata: int
    strata_untested: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """The gap between a group and its reference in one rate, and its parts.

    Attributes
    ----------
    estimate : the gap over all strata.
    overall : the gap over all rows, adjusted for all gaps (Holm); None where all have a stratum.
    p_adjusted : of no gap, adjusted for all gaps (Holm), with the best group for all pairs;
        None of one gap alone or without p-value.
    other_group : of two groups the one that all others are; None of more, or of another reference.
    columns : the columns of the strata.
    controls : the columns for which the regression alone is adjusted, beside those of the strata.
    verdict : what becomes of it within strata, decided at the compositions of both sides, so that
        no choice of weights decides.
    reason : why it is inconclusive, None otherwise.
    margin : the largest difference within strata that is tolerated, None where none is stated.
    parts : parts that add up to the gap (multiply to a ratio), composition by column where there
        are several, and within strata with other weights.
    support : the common support.
    heterogeneity : whether the difference of rates or means varies over strata, of a ratio too;
        None with fewer than two strata that both sides have.
    strata : the strata, outlying ones first, then by how far the difference is in the direction of
        the gap, those with insufficient data for a test last; of one column of numbers in their
        order behind outlying ones.
    detectable : the smallest difference, of a ratio the ratio, that would have been shown within
        strata at both compositions with 80% power, were it the same in all; None where there is no
        interval.
    left_out : the rows without a value of a stratum or control, which the regression excludes.
    confounded : whether they have other rates than the others, so that there is no regression.
    adjusted : the difference adjusted for the columns by regression; None of a ratio beside the
        difference of its rate, where there is no fit, where more than half of a side is in strata
        that the other does not have, where a column is the outcome by another name, and where rows
        without a stratum have other rates than the others.
    no_regression : why there is no such difference; None where there is one, and of a ratio
        beside the difference of its rate.
    doubted : whether it stands on something doubted, so that neither verdict is a pass.
    """

    DERIVED: ClassVar = ("regression_verdict", "largest_remaining")

    estimate: Estimate
    overall: Estimate | None = None
    p_adjusted: Share | None = None
    other_group: str | None = None
    columns: tuple[str, ...]
    controls: tuple[str, ...] = ()
    verdict: GapVerdict
    reason: WhyInconclusive | None = None
    margin: Finite | None = None
    parts: tuple[GapPart, ...]
    support: Support
    heterogeneity: Heterogeneity | None = None
    strata: tuple[StratumGap, ...]
    detectable: Finite | None = None
    left_out: Finite = 0
    confounded: bool = False
    adjusted: AdjustedGap | None = None
    no_regression: WhyNoRegression | None = None
    doubted: bool = False

    @property
    def scale(self) -> str:
        """Return whether it is a difference or a ratio."""
        metric = self.estimate.definition
        return metric.by if isinstance(metric, Contrast) else ""

    @property
    def is_shown(self) -> bool:
        """Return whether its confidence interval excludes no difference."""
        interval = self.estimate.interval
        return interval is not None and self.estimate.definition.neutral not in interval

    @property
    def is_shown_together(self) -> bool:
        """Return whether it is shown where all gaps are judged together."""
        alpha = 1 - (self.estimate.confidence or 0.95)
        return self.is_shown and (self.p_adjusted is None or self.p_adjusted < alpha)

    @property
    def regression_verdict(self) -> GapVerdict | None:
        """Return what becomes of the gap by the regression with controls; None without controls.

        It is also None of a ratio beside the difference of its rate.
        """
        if not self.controls or not (self.adjusted or self.no_regression):
            return None
        if not self.adjusted or self.reason in UNADJUSTED:
            return GapVerdict.INCONCLUSIVE
        verdict = _verdict_by(self.adjusted, self)
        return GapVerdict.INCONCLUSIVE if self.doubted and verdict.is_pass else verdict

    def withheld(self, why: WhyWithheld) -> Gap:
        """Return it with neither verdict a pass, where it stands on something doubted."""
        if why(self.estimate.definition.needs, self.estimate.feature) is None:
            return self
        if not self.verdict.is_pass:
            return replace(self, doubted=True)
        return replace(
            self, doubted=True, verdict=GapVerdict.INCONCLUSIVE,
            reason=WhyInconclusive.UNCLEAR_VALUES,
        )  # fmt: skip

    @property
    def verdict_with_controls(self) -> GapVerdict:
        """Return what becomes of it with all that it is asked to be adjusted for.

        What remains within strata alone may be the controls: 250 branches of two regions. Where
        nothing remains within strata, the regression can only show more.
        """
        both = self.verdict, self.regression_verdict or self.verdict
        if self.verdict in (GapVerdict.REMAINS, GapVerdict.REVERSES):
            return both[1]
        return max(both, key=_GRAVITY.index)

    @property
    def is_higher(self) -> bool:
        """Return whether the group has the higher rate.

        Where no gap is shown it is by the regression, if that shows a difference, else by the
        averages and strata in which one is shown: it is not higher where it is lower in any.
        """
        if self.adjusted and self.adjusted.is_shown and not self.is_shown:
            return self.adjusted.value > 0
        shown = [e for e in self.strata if e.outlying and e.interval and 0 not in e.interval]
        shown += self.differing_strata
        neutral = self.estimate.definition.neutral
        above = [(each.difference or 0.0) > 0 for each in shown]
        above += [ends.low > neutral for _, _, ends in averages_of(self) if neutral not in ends]
        if above and not self.is_shown:
            return all(above)
        return (self.estimate.value or 0.0) > neutral

    @property
    def varies(self) -> bool:
        """Return whether the difference varies over strata statistically significantly."""
        level = self.estimate.confidence or 0.95
        return self.heterogeneity is not None and self.heterogeneity.p_value < 1 - level

    @property
    def differing_strata(self) -> list[StratumGap]:
        """Return the strata in which a difference is shown, all tested together, largest first."""
        tested = [each for each in self.strata if each.difference_p_adjusted is not None]
        alpha = 1 - (self.estimate.confidence or 0.95)
        shown = [each for each in tested if (each.difference_p_adjusted or 0.0) < alpha]
        return sorted(shown, key=lambda each: -abs(each.difference or 0.0))

    @property
    def adjusted_for(self) -> tuple[str, ...]:
        """Return the columns for which the regression is adjusted."""
        return (*self.columns, *self.controls)

    def part(
        self,
        kind: GapPartKind,
        weights: StratumWeights = StratumWeights.AVERAGE,
        column: str | None = None,
    ) -> GapPart:
        """Return one of its parts."""
        for part in self.parts:
            if (part.part, part.weights, part.column) == (kind, weights, column):
                return part
        raise KeyError(f"{kind}, {weights}, {column}")

    @property
    def largest_remaining(self) -> float | None:
        """Return the largest gap within strata, in its direction, that the data allow.

        It is the further end of the intervals at both compositions; None where there is none.
        """
        neutral, value = self.estimate.definition.neutral, self.estimate.value
        ends = [
            self.part(GapPartKind.WITHIN, weights).interval
            for weights in (StratumWeights.GROUP, StratumWeights.REFERENCE)
        ]
        known = [end for end in ends if end is not None]
        if not known or value is None:
            return None
        lower = value < neutral
        return min(end.low for end in known) if lower else max(end.high for end in known)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decomposition(ResultOfMetrics):
    """How much of the gaps between groups is composition, and what remains within strata.

    Attributes
    ----------
    version, created : the fairgauge that made it, and when.
    data : what was counted.
    fingerprint : the digest of the counts; empty in older files.
    spec : what was asked, strata included.
    confidence : the level of the intervals.
    used : the rows that have a group, a stratum and every outcome that a gap needs; of a count
        column, their cases.
    excluded : the others, by reason.
    gaps : one for each metric and group.
    diagnostics : warnings of what the question may have meant instead.
    """

    KIND: ClassVar = ResultKind(
        name="why",
        schema="fairgauge.why/3",
        title="Decomposition of gaps",
        called="a decomposition of gaps",
        page="fairgauge.statements.why:why_page",
    )
    DERIVED: ClassVar = ("metrics", "verdict", "_brief")

    version: Version
    created: str
    data: CountedData
    spec: Saved
    confidence: Share
    used: int
    excluded: Mapping[str, int]
    gaps: tuple[Gap, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    fingerprint: str = ""

    @property
    def verdict(self) -> GapVerdict:
        """Return the gravest verdict, within strata or with controls.

        A difference is graver than what is inconclusive.
        """
        return max(map(self._verdict_of, self.gaps), key=_GRAVITY.index)

    def _verdict_of(self, gap: Gap) -> GapVerdict:
        return self.with_regression(gap).verdict_with_controls

    def gravest(self) -> list[tuple[int, Gap]]:
        """Return the gaps, each with its place, by verdict: those with too few data come last.

        Of one verdict those of the metric that was asked first lead, then those of groups that are
        worse off, then those of the largest size, so that no name of a group decides which gap is
        described. What reverses is as grave as what remains.
        """
        favourable = favourable_of(self.spec)
        gravest = _GRAVITY.index(GapVerdict.REVERSES)
        metrics = list(dict.fromkeys(gap.estimate.metric for gap in self.gaps))
        return sorted(
            enumerate(self.gaps),
            key=lambda each: (
                each[1].reason is WhyInconclusive.TOO_FEW,
                -min(_GRAVITY.index(self._verdict_of(each[1])), gravest),
                metrics.index(each[1].estimate.metric),
                not _is_worse_off(each[1], favourable),
                -_size(each[1]),
            ),
        )

    def described(self) -> list[tuple[int, Gap]]:
        """Return the gaps in the order in which they are described, each with its place.

        The gravest come first, but after all others those of which no difference is shown, neither
        over all strata nor within, so that they take the headline from none that is shown.
        """
        return sorted(self.gravest(), key=lambda each: not self._shows_one(each[1]))

    def _shows_one(self, gap: Gap) -> bool:
        """Return whether a difference is shown, over all strata or within, by enough data."""
        whole = gap
        if gap.reason is WhyInconclusive.MISSING_STRATA and gap.overall is not None:
            whole = replace(gap, estimate=gap.overall, p_adjusted=gap.overall.p_adjusted)
        decided = self._verdict_of(gap) not in (GapVerdict.NO_GAP, GapVerdict.INCONCLUSIVE)
        within = decided or gap.reason in _SHOWN_WITHIN
        return gap.reason is not WhyInconclusive.TOO_FEW and (within or whole.is_shown_together)

    def with_regression(self, gap: Gap) -> Gap:
        """Return a gap with its regression, of a ratio with that of the difference of its rate."""
        if gap.adjusted or gap.no_regression:
            return gap
        alike = (
            each
            for each in self.gaps
            if (each.adjusted or each.no_regression) and test_of(each) == test_of(gap)
        )
        same = next(alike, gap)
        return replace(
            gap, adjusted=same.adjusted, controls=same.controls,
            left_out=same.left_out, confounded=same.confounded,
            no_regression=same.no_regression,
        )  # fmt: skip

    def to_pandas(self, table: str = "parts") -> Any:
        """Return a table (``parts strata adjusted``) as a `pandas.DataFrame`."""
        return function_at("fairgauge.render.streams:to_pandas")(self, table)

    def __repr__(self) -> str:
        return f"<Decomposition of {len(self.gaps):,} gaps: {self.verdict}; print() shows them>"


def _verdict_by(fit: AdjustedGap, gap: Gap) -> GapVerdict:
    """Return what becomes of a gap by one regression."""
    low, high = fit.interval
    beyond = gap.margin is not None and max(-low, high) >= gap.margin
    if not fit.is_shown:
        if 0 not in fit.interval and (beyond or gap.margin is None):
            return GapVerdict.INCONCLUSIVE  # by itself it would be
        if not gap.is_shown:
            return GapVerdict.NO_GAP
        return GapVerdict.INCONCLUSIVE if beyond else GapVerdict.ACCOUNTED_FOR
    if gap.margin is not None and not beyond:
        return GapVerdict.WITHIN_MARGIN
    reverse = gap.is_shown and gap.is_higher == (fit.value < 0)
    return GapVerdict.REVERSES if reverse else GapVerdict.REMAINS


def averages_of(gap: Gap) -> list[tuple[StratumWeights | None, float, Interval]]:
    """Return the averages over strata: the weights of each, None of the regression, with its CI.

    With controls the regression is of another comparison.
    """
    fits = () if gap.controls or gap.adjusted is None else (gap.adjusted,)
    found = [
        *((each.weights, each.value, each.interval)
          for each in gap.parts if each.part is GapPartKind.WITHIN),
        *((None, *each.at(gap.scale)) for each in fits),
    ]  # fmt: skip
    return [
        (weights, value, ends)
        for weights, value, ends in found
        if value is not None and ends is not None
    ]


def test_of(gap: Gap) -> tuple[str | None, str | None, str]:
    """Return what a gap tests."""
    return tested(gap.estimate)


def tested(estimate: Estimate) -> tuple[str | None, str | None, str]:
    """Return what is tested: the difference and the ratio of a rate are one test."""
    metric = estimate.definition
    assert isinstance(metric, Contrast)
    return estimate.feature, estimate.group, metric.of.name


def _what_is_left(gap: Gap) -> Estimate:
    """Return the difference of a gap; where a difference remains, that within strata."""
    remains = gap.verdict in (GapVerdict.REMAINS, GapVerdict.REVERSES)
    within = gap.part(GapPartKind.WITHIN).value if remains else None
    if within is None:
        return gap.estimate
    return replace(gap.estimate, value=within, rate_group=None, rate_reference=None)


def _size(gap: Gap) -> float:
    """Return how far the rates are from each other, in what is left of a gap."""
    return round(distance(_what_is_left(gap)), _DIGITS)


def _is_worse_off(gap: Gap, favourable: Favourable) -> bool:
    """Return whether what is left of a gap is to the disadvantage of its group."""
    left = _what_is_left(gap)
    row = left.definition.of if isinstance(left.definition, Contrast) else left.definition
    if not isinstance(row, (Statistic, RowMetric)):
        return False
    return is_worse_off(row, difference(left), favourable_in(favourable, left.class_scope))


_DIGITS = 12
"""Beyond these the order of sums shows, which names decide."""
_SHOWN_WITHIN = (WhyInconclusive.VARIES, WhyInconclusive.OFFSET, WhyInconclusive.IN_A_STRATUM)
"""Why a gap is inconclusive although differences within strata are shown."""
_GRAVITY = (
    GapVerdict.NO_GAP,
    GapVerdict.ACCOUNTED_FOR,
    GapVerdict.WITHIN_MARGIN,
    GapVerdict.INCONCLUSIVE,
    GapVerdict.REVERSES,
    GapVerdict.REMAINS,
)
