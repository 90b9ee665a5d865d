"""Sentences about findings: the group that fares worse, its rate, the difference, and its CI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.enums import ClassKind, Status
from fairgauge.render.display_names import called
from fairgauge.render.document import Unit
from fairgauge.render.estimate_sentences import reference_name
from fairgauge.render.metric_words import (
    compared_rate,
    gap,
    is_share,
    rate_words,
    shown,
    shown_range,
    significant,
    unit,
)
from fairgauge.render.numbers import amount, listing, percent
from fairgauge.render.outline import reverses

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairgauge.render.outline import Finding, Section
    from fairgauge.report.estimates import Estimate


def describe_finding(finding: Finding, column: str = "the strata") -> str:
    """Return a finding as a sentence.

    ``Female (sex) is selected less often than others: 36.2% vs 53.2% (−17.0 pp, 95% CI −19.6 to
    −14.3; ratio 0.68, CI 0.64 to 0.73).``
    """
    difference = finding.difference
    subject = group_words(difference, finding.section)
    lower = gap(difference) < 0
    if finding.rate == "selection_rate":
        verb = f"is selected {'less' if lower else 'more'} often than"
    else:
        verb = f"has a {'lower' if lower else 'higher'} {rate_words(finding.rate)} than"
    other = called(reference_name(difference.reference))
    other = "the overall rate" if other == "overall" else other
    sides = " vs ".join(
        _side(finding.rate, side) for side in (difference.rate_group, difference.rate_reference)
    )
    text = f"{subject} {verb} {other}: {sides} ({uncertainty(difference, finding.ratio)})."
    if finding.adjusted is None:
        return text
    return f"{text} {adjusted_sentence(difference, finding.adjusted, column)}"


def group_words(each: Estimate, section: Section) -> str:
    """Return the group of an estimate, with its feature, class and threshold in brackets."""
    details = [called(each.feature)]
    if each.class_scope.kind is ClassKind.WORST:
        details.append(f"class {called(each.class_)}, the furthest from no difference")
    elif section.class_scope.kind is ClassKind.CLASS:
        details.append(f"class {called(each.class_)}")
    elif section.class_scope.kind is ClassKind.AVERAGE:
        details.append(f"{section.class_scope.average} average")
    if section.several_thresholds and section.threshold is not None:
        details.append(f"threshold {section.threshold:g}")
    return f"{called(each.group)} ({', '.join(details)})"


def uncertainty(difference: Estimate, ratio: Estimate | None = None) -> str:
    """Return a difference with its confidence interval, and the ratio with its own.

    ``−17.0 pp, 95% CI −19.6 to −14.3; ratio 0.68, CI 0.64 to 0.73``
    """
    kind = _unit_of_difference(difference)
    low, high = _ends(difference)
    text = shown(gap(difference), kind, sign=True) + (" pp" if kind is Unit.POINTS else "")
    if difference.interval is not None:
        ends = shown_range(low, high, kind, sign=True)
        text += f", {100 * difference.interval.level:.4g}% CI {ends}"
    if ratio is not None and ratio.value is not None:
        text += f"; ratio {shown(ratio.value, Unit.RATIO)}"
        if ratio.interval is not None:
            text += f", CI {shown_range(ratio.low, ratio.high, Unit.RATIO)}"
    return text


def _unit_of_difference(each: Estimate) -> Unit:
    """Return the unit of a difference as group minus reference, a vendor's in points too."""
    rate = compared_rate(each.metric)
    return Unit.POINTS if rate is not None and is_share(rate) else unit(each.metric)


def _ends(each: Estimate) -> tuple[float | None, float | None]:
    """Return the interval of a difference as group minus reference."""
    if each.low is None or each.high is None:
        return None, None
    turned = each.value is not None and gap(each) != each.value
    return (0.0 - each.high, 0.0 - each.low) if turned else (each.low, each.high)


def _side(rate: str, value: float | None) -> str:
    return percent(value) if is_share(rate) else amount(value or 0.0)


def adjusted_sentence(overall: Estimate, adjusted: Estimate, column: str = "the strata") -> str:
    """Return what becomes of a difference when it is adjusted for the strata.

    A reversal is announced only where both directions are statistically significant.
    """
    result = f"{uncertainty(adjusted)}"
    if reverses(overall, adjusted):
        return (
            f"After adjusting for {column} the difference reverses (Simpson's paradox): {result}."
        )
    if significant(adjusted):
        return f"After adjusting for {column} the difference remains: {result}."
    if significant(overall):
        return (
            f"The difference disappears after adjusting for {column}: {result}, not statistically "
            "significant."
        )
    return f"Adjusted for {column}: {result}, not statistically significant."


def no_finding_sentence(sections: Sequence[Section], rates: Sequence[str]) -> str:
    """Return which differences are not statistically significant, and how large they could be."""
    intervals = [
        _ends(difference)
        for section in sections
        for rate in rates
        for difference in section.differences(rate)
        if difference.status is Status.OK and _unit_of_difference(difference) is Unit.POINTS
    ]
    words = listing([rate_words(rate) for rate in rates], "or")
    groups = listing([called(section.name) for section in sections], "or")
    text = f"No statistically significant difference in {words} between the groups of {groups}"
    sizes = [abs(end) for ends in intervals for end in ends if end is not None]
    if not sizes:
        return f"{text}."
    return (
        f"{text}; differences of up to {100 * max(sizes):.1f} pp are inside the confidence "
        "intervals. This does not show that the rates are equal."
    )
