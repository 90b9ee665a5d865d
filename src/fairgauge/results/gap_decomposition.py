"""Decomposition: how much of a gap is which strata people are in, and what remains within them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from fairgauge import enums
from fairgauge.catalogue.comparisons import Contrast, RowMetric
from fairgauge.catalogue.directions import favourable_of, is_worse_off
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import GapPartKind, GapVerdict, StratumWeights, WhyInconclusive
from fairgauge.results.codec import Finite, Inline, Share
from fairgauge.results.estimates import Estimate, distance, favourable_in
from fairgauge.results.estimates import gap as difference
from fairgauge.results.scopes import STRATUM, Diagnostic, Interval, WhyWithheld
from fairgauge.results.shown_result import CountedData, ResultKind, ResultOfMetrics
from fairgauge.start.records import dataclass, field, replace
from fairgauge.values import Saved


@dataclass(frozen=True, slots=True, kw_only=True)
class GapPart:
    """A part of a gap by some weights; those of the mean of both sides add up to the gap."""

    part: GapPartKind
    weights: StratumWeights = StratumWeights.AVERAGE
    value: float | None
    interval: Inline[Interval | None] = None
    status: enums.Status = enums.Status.OK
    reason: WhyInconclusive | None = None


@dataclass(frozen=True, slots=True)
class StratumGap:
    """Both sides of a gap in one stratum.

    ``composition, within``: what it contributes to the parts of a difference; None of a ratio.
    ``difference_p_adjusted``: of no difference here, for all strata and gaps (Bonferroni).
    ``others``: the mean difference of all strata that are not outlying (DerSimonian and Laird).
    ``p_value, p_adjusted``: of the difference of the others, alone and for all (Bonferroni).
    ``outlying``: whether it differs from the others.
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
    others: Finite | None = None
    p_value: Share | None = None
    p_adjusted: Share | None = None
    outlying: bool = False


UNADJUSTED = (
    WhyInconclusive.NOT_COMPARABLE, WhyInconclusive.MISSING_STRATA, WhyInconclusive.STRATA_DECIDE,
)  # fmt: skip
"""Why a gap has no difference to quote within strata, nor a regression."""


@dataclass(frozen=True, slots=True)
class Heterogeneity:
    """The test that a difference is the same in all strata, and its true spread."""

    statistic: Finite
    degrees: int
    p_value: Share
    spread: Finite


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustedGap:
    """The gap adjusted for the columns of the strata by regression of the counts.

    It is logistic regression of rates, and linear regression of means.

    ``value``: the average marginal effect: of the rates that all rows would have on either side.
    ``p_adjusted``: adjusted for the regressions of all gaps (Holm); None of one alone.
    ``ratio``: of the same two rates, or means; None where one is not above 0.
    ``odds_ratio``: None where the sides separate the outcomes.
    ``cells``: the cells of side and columns with rows.
    ``extrapolated_group, extrapolated_reference``: the shares of rows in cells of one side.
    ``collinear``: how many levels of columns are combinations of others, and excluded.
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
        alone, p = 0 not in self.interval, self.p_adjusted
        return alone if p is None else p < 1 - self.interval.level

    def at(self, scale: str) -> tuple[float | None, Interval | None]:
        of_ratio = scale == "ratio"
        return (self.ratio, self.ratio_interval) if of_ratio else (self.value, self.interval)


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """The common support: the strata that both sides have, and the shares of rows in them.

    ``strata_untested`` are those with one cluster alone on a side, which show no precision.
    """

    share_group: Share
    share_reference: Share
    strata_used: int
    strata: int
    strata_untested: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """The gap between a group and its reference in one rate, and its parts.

    ``overall``: the gap over all rows; None where all have a stratum.
    ``p_adjusted``: of no gap, adjusted for all gaps (Holm), with the best group for all pairs.
    ``other_group``: of two groups the one that all others are.
    ``controls``: the columns for which only the regression is adjusted, beside the strata.
    ``verdict, reason``: what becomes of it within strata at the compositions of both sides.
    ``margin``: the largest difference within strata that is tolerated.
    ``parts``: those that add up to the gap (multiply to a ratio), and within by other weights.
    ``heterogeneity``: whether the difference varies over strata; None with fewer than two.
    ``strata``: outlying ones first, then by how far the difference is in the direction of the gap.
    ``left_out``: the rows without a value of a stratum or control, which the regression excludes.
    ``confounded``: whether they have other rates than the others, so that there is no regression.
    ``adjusted, no_regression``: the regression, or why none; of a ratio see its difference.
    ``doubted``: whether it stands on something doubted, so that neither verdict is a pass.
    """

    DERIVED: ClassVar = ("regression_verdict",)

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
    left_out: Finite = 0
    confounded: bool = False
    adjusted: AdjustedGap | None = None
    no_regression: enums.WhyNoRegression | None = None
    doubted: bool = False

    @property
    def test(self) -> tuple[str | None, str | None, str]:
        return tested(self.estimate)

    @property
    def scale(self) -> str:
        metric = self.estimate.definition
        return metric.by if isinstance(metric, Contrast) else ""

    @property
    def is_shown(self) -> bool:
        interval = self.estimate.interval
        return interval is not None and self.estimate.definition.neutral not in interval

    @property
    def alpha(self) -> float:
        return 1 - (self.estimate.confidence or 0.95)

    @property
    def regression_verdict(self) -> GapVerdict | None:
        """Return what becomes of the gap by the regression with controls; None without controls."""
        if not self.controls or not (self.adjusted or self.no_regression):
            return None
        if not self.adjusted or self.reason in UNADJUSTED:
            return GapVerdict.INCONCLUSIVE
        verdict = verdict_by(self.adjusted, self)
        return GapVerdict.INCONCLUSIVE if self.doubted and verdict.is_pass else verdict

    def withheld(self, why: WhyWithheld) -> Gap:
        if why({*self.estimate.definition.needs, STRATUM}, self.estimate.feature) is None:
            return self
        verdict, reason = self.verdict, self.reason
        if verdict.is_pass:
            verdict, reason = GapVerdict.INCONCLUSIVE, WhyInconclusive.UNCLEAR_VALUES
        return replace(self, doubted=True, verdict=verdict, reason=reason)

    @property
    def verdict_with_controls(self) -> GapVerdict:
        """Return what becomes of it with all that it is asked to be adjusted for.

        What remains within strata alone may be the controls: 250 branches of two regions.
        """
        beside = self.regression_verdict or self.verdict
        remains = self.verdict in (GapVerdict.REMAINS, GapVerdict.REVERSES)
        return beside if remains else max(self.verdict, beside, key=_GRAVITY.index)

    @property
    def is_higher(self) -> bool:
        """Return whether the group has the higher rate.

        Where no gap is shown it is by what shows a difference within: not where it is lower in any.
        """
        if self.adjusted and self.adjusted.is_shown and not self.is_shown:
            return self.adjusted.value > 0
        shown = [e for e in self.strata if e.outlying and e.interval and 0 not in e.interval]
        neutral = self.estimate.definition.neutral
        above = [(each.difference or 0.0) > 0 for each in (*shown, *self.differing_strata)]
        above += [ends.low > neutral for _, _, ends in averages_of(self) if neutral not in ends]
        return all(above) if above and not self.is_shown else (self.estimate.value or 0.0) > neutral

    @property
    def varies(self) -> bool:
        return self.heterogeneity is not None and self.heterogeneity.p_value < self.alpha

    @property
    def differing_strata(self) -> list[StratumGap]:
        """Return the strata in which a difference is shown, all tested together, largest first."""
        tested = ((e, e.difference_p_adjusted) for e in self.strata)
        shown = [each for each, p in tested if p is not None and p < self.alpha]
        return sorted(shown, key=lambda each: -abs(each.difference or 0.0))

    @property
    def adjusted_for(self) -> tuple[str, ...]:
        return (*self.columns, *self.controls)

    def part(self, kind: GapPartKind, weights: StratumWeights = StratumWeights.AVERAGE) -> GapPart:
        (found,) = [each for each in self.parts if (each.part, each.weights) == (kind, weights)]
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Decomposition(ResultOfMetrics):
    """How much of the gaps between groups is composition, and what remains within strata.

    ``used, excluded``: the rows that have all that a gap needs, and the others by reason.
    """

    KIND: ClassVar = ResultKind(name="why", schema="fairgauge.why/3", title="Decomposition of gaps",
        called="a decomposition of gaps", page="fairgauge.statements.why:why_page")  # fmt: skip
    DERIVED: ClassVar = ("counted", "metrics", "verdict", "doubts", "_statements")

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
        """Return the gravest verdict; a difference is graver than what is inconclusive."""
        return max(map(self.verdict_of, self.gaps), key=_GRAVITY.index)

    def verdict_of(self, gap: Gap) -> GapVerdict:
        return self.with_regression(gap).verdict_with_controls

    def gravest(self) -> list[tuple[int, Gap]]:
        """Return the gaps, each with its place, by verdict: those with too few data come last.

        Then by metric as asked, by who is worse off, and by size: no name decides.
        """
        favourable = favourable_of(self.spec)
        gravest = _GRAVITY.index(GapVerdict.REVERSES)
        metrics = list(dict.fromkeys(gap.estimate.metric for gap in self.gaps))
        return sorted(
            enumerate(self.gaps),
            key=lambda each: (
                each[1].reason is WhyInconclusive.TOO_FEW,
                -min(_GRAVITY.index(self.verdict_of(each[1])), gravest),
                metrics.index(each[1].estimate.metric),
                not _is_worse_off(each[1], favourable),
                -round(distance(_gap_within(each[1])), 12),  # beyond, names would decide
            ),
        )

    def with_regression(self, gap: Gap) -> Gap:
        """Return a gap with its regression, of a ratio with that of the difference of its rate."""
        if gap.adjusted or gap.no_regression:
            return gap
        fitted = (each for each in self.gaps if each.adjusted or each.no_regression)
        same = next((each for each in fitted if each.test == gap.test), gap)
        names = ("adjusted", "controls", "left_out", "confounded", "no_regression")
        return replace(gap, **{name: getattr(same, name) for name in names})


def verdict_by(fit: AdjustedGap, gap: Gap) -> GapVerdict:
    """Return what becomes of a gap by a regression."""
    low, high = fit.interval
    beyond = gap.margin is not None and max(-low, high) >= gap.margin
    if not fit.is_shown:
        by_itself = 0 not in fit.interval and (beyond or gap.margin is None)
        if by_itself or (gap.is_shown and beyond):
            return GapVerdict.INCONCLUSIVE
        return GapVerdict.ACCOUNTED_FOR if gap.is_shown else GapVerdict.NO_GAP
    if gap.margin is not None and not beyond:
        return GapVerdict.WITHIN_MARGIN
    reverse = gap.is_shown and gap.is_higher == (fit.value < 0)
    return GapVerdict.REVERSES if reverse else GapVerdict.REMAINS


def averages_of(gap: Gap) -> list[tuple[StratumWeights | None, float, Interval]]:
    """Return the averages over strata: the weights of each, None of the regression, with its CI."""
    within = [(e.weights, e.value, e.interval) for e in gap.parts if e.part is GapPartKind.WITHIN]
    fit = None if gap.controls else gap.adjusted
    found = (*within, *([] if fit is None else [(None, *fit.at(gap.scale))]))
    return [(by, v, ends) for by, v, ends in found if v is not None and ends is not None]


def tested(estimate: Estimate) -> tuple[str | None, str | None, str]:
    """Return what is tested: the difference and the ratio of a rate are one test."""
    metric = estimate.definition
    assert isinstance(metric, Contrast)
    return estimate.feature, estimate.group, metric.of.name


def _gap_within(gap: Gap) -> Estimate:
    remains = gap.verdict in (GapVerdict.REMAINS, GapVerdict.REVERSES)
    of, within = gap.estimate, gap.part(GapPartKind.WITHIN).value if remains else None
    return of if within is None else replace(of, value=within, rate_group=None, rate_reference=None)


def _is_worse_off(gap: Gap, favourable: enums.Favourable) -> bool:
    left, own = _gap_within(gap), favourable_in(favourable, gap.estimate.class_scope)
    row = left.definition.of if isinstance(left.definition, Contrast) else left.definition
    return isinstance(row, (Statistic, RowMetric)) and is_worse_off(row, difference(left), own)


_GRAVITY = (
    GapVerdict.NO_GAP, GapVerdict.ACCOUNTED_FOR, GapVerdict.WITHIN_MARGIN, GapVerdict.INCONCLUSIVE,
    GapVerdict.REVERSES, GapVerdict.REMAINS,
)  # fmt: skip
