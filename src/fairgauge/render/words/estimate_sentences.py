"""Sentences about estimates: the group, the rates, the comparison and its uncertainty, in words."""

from __future__ import annotations

import math
from functools import partial, singledispatch

from fairgauge.catalogue.across import Across, DifferentialFairness, Joint, Spread
from fairgauge.catalogue.comparisons import Combined, Contrast, Imbalance, Metric, Representation
from fairgauge.catalogue.distributions import (
    CrossAuc,
    Distance,
    OverallStandardisedDifference,
    ScoreDistance,
    StandardisedDifference,
)
from fairgauge.catalogue.inequality import Inequality, InequalityPart
from fairgauge.catalogue.pooling import ConditionalDisparity
from fairgauge.catalogue.row_metrics import RowMetric
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import ClassKind, IntervalMethod, ReferenceKind, ScopeKind, Status
from fairgauge.reasons import ReasonCode
from fairgauge.render._document_tree import Unit
from fairgauge.render.grammar import describe_reason, spoken
from fairgauge.render.words.display_names import called
from fairgauge.render.words.metric_words import excluded, metric_words, shown_range
from fairgauge.render.words.numbers import amount, percent, plural, points, ratio_amount
from fairgauge.results.estimates import Estimate, GroupPair
from fairgauge.results.scopes import Interval, Reference

_REFERENCES = {
    ReferenceKind.OTHERS: "others",
    ReferenceKind.OVERALL: "overall",
    ReferenceKind.POPULATION: "the population",
}


def reference_name(reference: Reference | None) -> str:
    """Return a reference as it reads in a sentence."""
    if reference is None:
        return "all rows"
    return _REFERENCES.get(reference.kind) or str(reference)


def versus(reference: Reference | None) -> str:
    """Return what follows the name of a group, `` vs others``; nothing without a reference."""
    return "" if reference is None else f" vs {called(reference_name(reference))}"


def describe(estimate: Estimate) -> str:
    """Return an estimate as a sentence: the group, the comparison, and its uncertainty."""
    if estimate.value is None and estimate.interval is None:
        return ""
    body = f"{comparison(estimate)}{certainty(estimate)}{qualification(estimate)}"
    subject = _subject(estimate)
    return f"{subject}: {body}" if subject else f"{body[:1].upper()}{body[1:]}"


def comparison(estimate: Estimate) -> str:
    """Return what an estimate states, without its subject and its uncertainty."""
    if estimate.value is None:
        if estimate.interval is not None:
            return metric_words(estimate.definition)
        return describe_reason(estimate.reason) if estimate.reason else ""
    text = _compared(estimate.definition, estimate, estimate.value)
    of_strata = isinstance(estimate.definition, ConditionalDisparity)
    if estimate.scope.kind is ScopeKind.POOLED and not of_strata:
        text += ", adjusted for the strata"
    return text


def certainty(estimate: Estimate) -> str:
    """Return the interval of an estimate as the end of a sentence; nothing where there is none."""
    interval = estimate.interval
    if interval is None:
        return ""
    return f" ({interval_text(estimate.definition, interval)})"


def interval_text(metric: Metric, interval: Interval) -> str:
    """Return a confidence interval in words, in the direction group minus reference.

    Examples
    --------
    >>> from fairgauge.catalogue.lookup import find_metric
    >>> from fairgauge.results.scopes import Interval
    >>> interval_text(find_metric("DI"), Interval(0.64, 0.79, 0.95))
    '95% CI 0.64 to 0.79'
    >>> interval_text(find_metric("DPPL"), Interval(0.0312, 0.1, 0.95))
    '95% CI −10.0 to −3.1 pp'
    """
    return f"{_level(interval)} {_ends(metric, interval.low, interval.high)}"


def _ends(metric: Metric, low: float, high: float) -> str:
    """Return two ends of a range of a metric in words, in the direction group minus reference."""
    if isinstance(metric, Contrast) and metric.by == "difference":
        if metric.order == "reference - group":
            low, high = 0.0 - high, 0.0 - low
        if metric.of.is_share:
            return f"{shown_range(low, high, Unit.POINTS, sign=True)} pp"
        return _range(low, high, _signed)
    if _in_points(metric) or _in_signed_points(metric):
        signed = _in_signed_points(metric)
        return f"{shown_range(low, high, Unit.POINTS, sign=signed)} pp"
    if isinstance(metric, Imbalance):  # the sentence states the share of both
        low, high = (-high, -low) if metric.order == "reference - group" else (low, high)
        return _range((1 + low) / 2, (1 + high) / 2, percent)
    if isinstance(metric, RowMetric) and metric.kind == "consistency":
        return _range(1 - high, 1 - low, percent)
    if isinstance(metric, Spread) and metric.by in ("minimum", "maximum") and metric.of.is_share:
        return _range(low, high, percent)
    if not isinstance(metric, Contrast):
        return _range(low, high, amount)
    beside = excluded(low, high, Unit.RATIO)
    return _range(low, high, partial(ratio_amount, limits=beside))


def qualification(estimate: Estimate) -> str:
    """Return what limits an estimate: insufficient data, no interval, what to expect of noise."""
    parts = []
    if assumed := assumption(estimate.interval):
        parts.append(f"estimated from probabilities, {assumed}")
    if estimate.bounds is not None:
        bounds = _ends(estimate.definition, *estimate.bounds)
        parts.append(f"{bounds} in all tables that agree with the protected counts")
    if estimate.expected is not None:
        expected = f"about {amount(estimate.expected, 2)} is expected under no difference"
        if estimate.corrected is not None:
            expected += f", {amount(estimate.corrected, 2)} beyond it"
        parts.append(expected)
    if estimate.status is Status.TOO_FEW and estimate.reason:
        parts.append(spoken().because(estimate.reason))
    elif estimate.interval is None and estimate.reason:
        parts.append(f"no confidence interval: {describe_reason(estimate.reason)}")
    return "".join(f"; {part}" for part in parts)


_ASSUMPTIONS = {
    IntervalMethod.PROFILE_LIKELIHOOD: "right if the outcome does not depend on the probabilities "
    "within {a_group}",
    IntervalMethod.SHARP_BOUNDS: "without any assumption but that the probabilities are right",
    IntervalMethod.VALIDATED_SAMPLE: "corrected by a random sample of people of known group",
}


def assumption(interval: Interval | None) -> str:
    """Return what an interval of groups assumes of which only probabilities are known, if it is."""
    methods = interval.methods if interval else ()
    text = next((_ASSUMPTIONS[method] for method in methods if method in _ASSUMPTIONS), "")
    in_strata = IntervalMethod.STRATIFIED in methods
    return text.format(a_group="a group of a stratum" if in_strata else "a group")


def describe_pair(pair: GroupPair) -> str:
    """Return a pair of groups as a sentence."""
    low, high = pair.difference_interval
    rates = _contrast_text(pair.definition, pair.rate_group, pair.rate_other, pair.other)
    text = f"{pair.group}: {rates}"
    ends = shown_range(low, high, Unit.POINTS, sign=True)
    interval = f"{_level(pair.difference_interval)} {ends} pp"
    return f"{text} ({interval}, simultaneous over {pair.pairs:,} pairs)"


def _subject(estimate: Estimate) -> str:
    """Return whom an estimate is about; nothing where the sentence names them itself."""
    of_all_groups = isinstance(estimate.definition, Across)
    if of_all_groups or estimate.feature is None or estimate.group is None:
        return ""
    scope, parts = estimate.class_scope, [estimate.group]
    if estimate.stratum is not None:
        parts.append(f"in stratum {estimate.stratum}")
    if scope.kind is ClassKind.CLASS:
        parts.append(f"class {scope.name}")
    if scope.kind is ClassKind.SELECTION:
        parts.append(str(scope.name))
    if scope.kind is ClassKind.WORST:
        parts.append(f"class with the largest difference ({scope.name})")
    if scope.kind is ClassKind.AVERAGE:
        parts.append(f"{scope.average} average over classes")
    if estimate.threshold is not None:
        parts.append(f"threshold {estimate.threshold:g}")
    return ", ".join(parts)


@singledispatch
def _compared(metric: Metric, estimate: Estimate, value: float) -> str:
    """Return the comparison of one kind of metric in words."""
    del estimate
    return f"{metric.title} {amount(value)}"


@_compared.register(Contrast)
def _(metric: Contrast, estimate: Estimate, value: float) -> str:
    ours, theirs = estimate.rate_group, estimate.rate_reference
    if ours is None or theirs is None:
        return f"{metric.title} {amount(value)}"
    other = reference_name(estimate.reference)
    text = _contrast_text(metric.of, ours, theirs, other)
    if estimate.scope.kind is ScopeKind.POOLED:  # of rates weighted by stratum, which nobody has
        apart = _apart(metric.of, ours, theirs)
        text = (
            f"{metric.of.title} {apart} than for {other}"
            if apart
            else f"no difference in {metric.of.title}"
        )
    ratio = metric.by == "ratio" and ours != theirs and math.isfinite(value)
    return f"{text}, ratio {amount(value)}" if ratio else text


def _contrast_text(rate: Statistic, ours: float, theirs: float, other: str) -> str:
    """Return two rates compared: ``recall 74.1% vs 92.9% for others, 18.8 pp lower``."""
    text = f"{rate.title} {_rate(rate, ours)} vs {_rate(rate, theirs)} for {other}"
    if math.isinf(ours) or math.isinf(theirs):
        return text
    return f"{text}, {_apart(rate, ours, theirs) or 'no difference'}"


def _apart(rate: Statistic, ours: float, theirs: float) -> str:
    """Return how far one rate is from another, ``18.8 pp lower``; empty where they are equal."""
    gap = abs(ours - theirs)
    if not gap:
        return ""
    size = f"{100 * gap:.1f} pp" if rate.is_share else amount(gap)
    return f"{size} {'higher' if ours > theirs else 'lower'}"


@_compared.register(Imbalance)
def _(metric: Imbalance, estimate: Estimate, value: float) -> str:
    del metric, value
    ours, theirs = estimate.rate_group or 0.0, estimate.rate_reference or 0.0
    share = ours / (ours + theirs) if ours + theirs else math.nan
    other = reference_name(estimate.reference)
    rows = plural(ours, "row", "rows")
    return f"{ours:,.10g} {rows} vs {theirs:,.10g} for {other}, {percent(share)} of both"


@_compared.register(Combined)
def _(metric: Combined, estimate: Estimate, value: float) -> str:
    names = " and ".join(each.of.title for each in metric.of)
    how = "at most" if metric.how == "worst" else "on average"
    return f"{names} differ from {reference_name(estimate.reference)} by {how} {100 * value:.1f} pp"


@_compared.register(ConditionalDisparity)
def _(metric: ConditionalDisparity, estimate: Estimate, value: float) -> str:
    negative, positive = f"negative {metric.of}s", f"positive {metric.of}s"
    reason, excluded = estimate.reason, ""
    if reason is not None and reason.code is ReasonCode.STRATA_MISSING:
        excluded = f"; {describe_reason(reason)}"
    if value == 0:
        return f"the same share of {negative} as of {positive}, adjusted for the strata{excluded}"
    direction = "higher" if value > 0 else "lower"
    return (
        f"its share of {negative} is {100 * abs(value):.1f} pp {direction} than its share of "
        f"{positive}, adjusted for the strata{excluded}"
    )


@_compared.register(Distance)
@_compared.register(ScoreDistance)
def _(metric: Distance | ScoreDistance, estimate: Estimate, value: float) -> str:
    return f"{metric.title} {amount(value)} from {reference_name(estimate.reference)}"


@_compared.register(CrossAuc)
def _(metric: CrossAuc, estimate: Estimate, value: float) -> str:
    own, other = "of the group", f"of {reference_name(estimate.reference)}"
    positive, negative = (own, other) if metric.positives == "group" else (other, own)
    return f"a positive {positive} scores above a negative {negative} in {percent(value)} of pairs"


@_compared.register(StandardisedDifference)
def _(metric: StandardisedDifference, estimate: Estimate, value: float) -> str:
    ours, theirs = (amount(r or 0.0, 4) for r in (estimate.rate_group, estimate.rate_reference))
    direction = "higher" if value > 0 else "lower"
    return (
        f"{metric.mean} {ours} vs {theirs} for {reference_name(estimate.reference)}, "
        f"{amount(abs(value))} standard deviations {direction}"
    )


@_compared.register(OverallStandardisedDifference)
def _(metric: OverallStandardisedDifference, estimate: Estimate, value: float) -> str:
    ours, theirs = (percent(r or 0.0) for r in (estimate.rate_group, estimate.rate_reference))
    return (
        f"{metric.mean} {ours} vs {theirs} for {reference_name(estimate.reference)}, "
        f"SMD {amount(value)} in hundredths of the overall standard deviation"
    )


@_compared.register(Representation)
def _(metric: Representation, estimate: Estimate, value: float) -> str:
    text = (
        f"{percent(estimate.rate_group)} of the rows vs {percent(estimate.rate_reference)} of the "
        "population"
    )
    if metric.by == "difference":
        return f"{text}, {points(value)} pp"
    return f"{text}, {amount(value)} times"


@_compared.register(Inequality)
def _(metric: Inequality, estimate: Estimate, value: float) -> str:
    del estimate
    return f"{metric.title} of the benefits is {amount(value)} (0 means equal benefits)"


@_compared.register(Spread)
def _(metric: Spread, estimate: Estimate, value: float) -> str:
    first, second, rate = estimate.group, reference_name(estimate.reference), metric.of
    title = rate.title
    if first is None and metric.by in ("largest_gap", "smallest_ratio"):
        return f"all groups have the same {title}"
    gap = f"{100 * value:.1f} pp" if rate.is_share and math.isfinite(value) else amount(value)
    return {
        "largest_gap": f"the largest gap in {title} is {gap}, between {first} and {second}",
        "smallest_ratio": (
            f"the smallest ratio of {title} is {amount(value)}, of {first} to {second}"
        ),
        "minimum": f"the lowest {title} is {_rate(rate, value)}, of {first}",
        "maximum": f"the highest {title} is {_rate(rate, value)}, of {first}",
    }[metric.by]


@_compared.register(Joint)
def _(metric: Joint, estimate: Estimate, value: float) -> str:
    names = " and ".join(each.of.title for each in metric.of)
    what = "ratio" if metric.neutral == 1 else "gap"
    how = "mean" if metric.how == "mean" else "smallest" if what == "ratio" else "largest"
    first, second = estimate.group, reference_name(estimate.reference)
    size = f"{100 * value:.1f} pp" if _in_points(metric) else amount(value)
    apart = "" if first is None else f" (furthest apart: {first} and {second})"
    return f"the {how} {what} in {names} is {size}{apart}"


@_compared.register(DifferentialFairness)
def _(metric: DifferentialFairness, estimate: Estimate, value: float) -> str:
    first, second = estimate.group, reference_name(estimate.reference)
    if first is None:
        return f"all groups have the same shares of {metric.of}s (epsilon 0)"
    return (
        f"shares of {metric.of}s differ by a factor of up to {amount(math.exp(value))} between "
        f"{first} and {second} (epsilon {amount(value)})"
    )


@_compared.register(InequalityPart)
def _(metric: InequalityPart, estimate: Estimate, value: float) -> str:
    first, second = estimate.group, reference_name(estimate.reference)
    means = f"highest mean benefit: {first}, lowest: {second}"
    if first is None:
        means = "the mean benefit of all groups is the same"
    return f"generalized entropy of the benefits {metric.part} groups is {amount(value)} ({means})"


def _top_of(metric: RowMetric) -> str:
    return "" if metric.top is None else f" {metric.top:g}{'%' * metric.percent}"


@_compared.register(RowMetric)
def _(metric: RowMetric, estimate: Estimate, value: float) -> str:
    other = reference_name(estimate.reference)
    ours, theirs = percent(estimate.rate_group), percent(estimate.rate_reference)
    templates = {
        "flip": (
            f"{ours} of rows would be decided favourably by their nearest neighbours among "
            f"{other} but are not, {theirs} the reverse: flip test {_signed(value)}"
        ),
        "consistency": (
            f"predictions differ from those of their nearest neighbours by {percent(1 - value)} "
            "on average"
        ),
        "top": (
            f"{ours} of its rows are among the top{_top_of(metric)}, vs {theirs} for {other}, "
            f"ratio {amount(value)}"
        ),
        "skew": f"{ours} of the top vs {theirs} of all rows, skew {_signed(value)}",
        "exposure": f"{amount(value)} times the mean exposure of {other}",
    }
    if metric.q is not None:
        first, second = (each or 0.0 for each in (estimate.rate_group, estimate.rate_reference))
        sides = f"{amount(first)} vs {amount(second)} for {other}"
        what = metric.title.rpartition(" ")[0].rstrip(",").lower()
        by = f"ratio {amount(value)}" if metric.neutral else f"difference {_signed(value)}"
        return f"{what} {sides}, {by}"
    return templates.get(metric.kind) or f"{metric.title} {amount(value)}"


def _in_points(metric: Metric) -> bool:
    """Return whether a metric is the size of a difference of shares."""
    if isinstance(metric, Combined):
        return all(part.of.is_share for part in metric.of)
    if isinstance(metric, Joint):
        return metric.neutral == 0 and all(part.of.is_share for part in metric.of)
    return isinstance(metric, Spread) and metric.by == "largest_gap" and metric.of.is_share


def _in_signed_points(metric: Metric) -> bool:
    """Return whether a metric is a difference of shares other than of two rates of groups."""
    if isinstance(metric, Representation):
        return metric.by == "difference"
    return isinstance(metric, ConditionalDisparity)


def _level(interval: Interval) -> str:
    return f"{100 * interval.level:.4g}% CI"


def _range(low: float, high: float, show: object) -> str:
    assert callable(show)
    return f"{show(low)} to {show(high)}"


def _rate(rate: Statistic, value: float) -> str:
    if math.isinf(value):
        return rate.infinite
    return percent(value) if rate.is_share else amount(value)


def _signed(value: float) -> str:
    return amount(value, signed=True)
