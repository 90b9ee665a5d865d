"""Estimates in words: whom they are of, the comparison and its uncertainty; texts are data."""

from __future__ import annotations

import math
from typing import Any

from fairgauge.catalogue.across import Across, Spread
from fairgauge.catalogue.comparisons import Contrast, Metric
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import ClassKind, IntervalMethod, ScopeKind, Status
from fairgauge.reasons import ReasonCode
from fairgauge.render._document_tree import Unit
from fairgauge.render.grammar import plain
from fairgauge.render.words.display_names import called, capitalised
from fairgauge.render.words.metric_words import (
    metric_range,
    metric_value,
    metric_words,
    shown_range,
    unit,
    unit_name,
)
from fairgauge.render.words.numbers import amount, percent
from fairgauge.results.estimates import Estimate, GroupPair
from fairgauge.results.scopes import Interval, Reference


def reference_name(reference: Reference | None) -> str:
    """Return a reference as it reads in a sentence."""
    names = plain().terms["reference"]
    kind = "none" if reference is None else str(reference.kind)
    return str(names[kind]) if kind in names else str(reference)


def versus(reference: Reference | None) -> str:
    """Return what follows the name of a group, `` vs others``; nothing without a reference."""
    return "" if reference is None else f" vs {called(reference_name(reference))}"


def describe(estimate: Estimate) -> str:
    """Return an estimate as a sentence: the group, the comparison, and its uncertainty."""
    if estimate.value is None and estimate.interval is None:
        return ""
    metric, reason, interval = estimate.definition, estimate.reason, estimate.interval
    g = plain()
    few = estimate.status is Status.TOO_FEW and reason is not None
    stated = interval is None or (reason and reason.code is ReasonCode.STRATA_MISSING)
    body = g.say(
        "estimate",
        "says",
        compared=_compared(estimate),
        pooled=estimate.scope.kind is ScopeKind.POOLED,
        interval=interval and interval_text(metric, interval),
        bounds=estimate.bounds and _ends(metric, *estimate.bounds),
        assumed=assumption(interval),
        expected=None if estimate.expected is None else amount(estimate.expected, 2),
        beyond=None if estimate.corrected is None else amount(estimate.corrected, 2),
        few=g.because(reason) if few else None,
        without=g.reason(reason) if reason is not None and stated and not few else None,
    )
    subject = _subject(estimate)
    return f"{subject}: {body}" if subject else capitalised(body or "")


def _compared(estimate: Estimate) -> str | None:
    metric, value = estimate.definition, estimate.value
    g, title = plain(), metric_words(metric)
    if value is None:
        return title
    other = reference_name(estimate.reference)
    ours, theirs = estimate.rate_group, estimate.rate_reference
    if isinstance(metric, Contrast) and ours is not None and theirs is not None:
        by_ratio = metric.by == "ratio" and ours != theirs and math.isfinite(value)
        pooled = estimate.scope.kind is ScopeKind.POOLED
        return _rates(metric.of, ours, theirs, other, pooled=pooled) + (
            f", ratio {amount(value)}" if by_ratio else ""
        )
    return g.say(
        "estimate",
        "value",
        title=title,
        value=metric_value(metric, value),
        group=estimate.group if isinstance(metric, Across) else None,
        of_one=isinstance(metric, Spread) and metric.by in ("minimum", "maximum"),
        other=other,
        versus="" if isinstance(metric, Across) else versus(estimate.reference),
    )


def _rates(rate: Statistic, ours: float, theirs: float, other: str, **how: Any) -> str:
    """Return two rates compared: ``recall 74.1% vs 92.9% for others, 18.8 pp lower``."""
    gap = 0.0 if ours == theirs else abs(ours - theirs)  # not of two infinite odds, a NaN
    apart = f"{100 * gap:.1f} pp" if rate.is_share else amount(gap)
    sides = [
        rate.infinite if math.isinf(v) else percent(v) if rate.is_share else amount(v)
        for v in (ours, theirs)
    ]
    facts: dict[str, Any] = {
        "title": rate.title,
        "sides": sides,
        "other": other,
        "above": ours > theirs,
    } | how
    known = math.isfinite(ours) and math.isfinite(theirs)
    return plain().say("estimate", "rates", apart=gap and apart, known=known, **facts) or ""


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
    return f"{100 * interval.level:.4g}% CI {_ends(metric, interval.low, interval.high)}"


def _ends(metric: Metric, low: float, high: float) -> str:
    if isinstance(metric, Contrast) and metric.by == "difference":
        if metric.order == "reference - group":
            low, high = 0.0 - high, 0.0 - low
        kind = Unit.POINTS if metric.of.is_share else Unit.NUMBER
        return f"{shown_range(low, high, kind, sign=True)}{unit_name(kind)}"
    return f"{metric_range(metric, low, high)}{unit_name(unit(metric))}"


def assumption(interval: Interval | None) -> str:
    """Return what an interval of groups assumes of which only probabilities are known, if it is."""
    methods = interval.methods if interval else ()
    said = (
        plain().say("assumed", str(each), in_strata=IntervalMethod.STRATIFIED in methods)
        for each in methods
    )
    return next(filter(None, said), "")


def describe_pair(pair: GroupPair) -> str:
    """Return a pair of groups as a sentence."""
    rates = _rates(pair.definition, pair.rate_group, pair.rate_other, pair.other, pooled=False)
    interval = pair.difference_interval
    ends = f"{shown_range(interval.low, interval.high, Unit.POINTS, sign=True)} pp"
    level = f"{100 * interval.level:.4g}"
    facts: dict[str, Any] = {"group": pair.group, "rates": rates, "level": level, "ends": ends}
    return plain().say("estimate", "pair", pairs=pair.pairs, **facts) or ""


def _subject(estimate: Estimate) -> str:
    """Return whom an estimate is about; nothing where the sentence names them itself."""
    if isinstance(estimate.definition, Across) or None in (estimate.feature, estimate.group):
        return ""
    scope = estimate.class_scope
    place = {
        "stratum": estimate.stratum,
        "class_": scope.name if scope.kind is ClassKind.CLASS else None,
        "selection": scope.name if scope.kind is ClassKind.SELECTION else None,
        "worst": scope.name if scope.kind is ClassKind.WORST else None,
        "average": scope.average if scope.kind is ClassKind.AVERAGE else None,
        "at": None if estimate.threshold is None else f"{estimate.threshold:g}",
    }
    texts = plain().terms["place"]
    named = [texts[key].format(value=value) for key, value in place.items() if value is not None]
    return ", ".join([str(estimate.group), *named])
