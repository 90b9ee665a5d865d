"""Findings in words: the group that fares worse, its rate, the difference and its interval."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import AfterAdjusting, ClassKind, GroupKind, ReferenceKind, Status
from fairgauge.reasons import ReasonCode
from fairgauge.render._document_tree import Unit
from fairgauge.render.grammar import plain
from fairgauge.render.words.display_names import called, group_called, shares_of
from fairgauge.render.words.estimate_sentences import reference_name
from fairgauge.render.words.metric_words import (
    compared_rate,
    gap,
    holds_with_others,
    is_simultaneous,
    rate_text,
    shown,
    shown_range,
    unit,
    unit_name,
    value_text,
)
from fairgauge.render.words.numbers import listing, plural, probability
from fairgauge.results.disparities import (
    NOTED_ALONE,
    after_adjusting,
    is_ratio,
    is_reference_first,
    is_significant,
    shares_compared,
    singled_out,
)
from fairgauge.results.estimates import Estimate
from fairgauge.results.finding import Finding
from fairgauge.results.sections import FeatureResults

_MOST_OTHERS = 12


def describe_finding(finding: Finding) -> str:
    """Return a finding as a sentence; the other groups that differ significantly follow in short.

    ``Female (sex) is selected less often than others: 36.2% vs 53.2% (−17.0 pp, 95% CI −19.6 to
    −14.3; ratio 0.68, CI 0.64 to 0.73).``
    """
    g, contrast = plain(), finding.estimate
    rate = compared_rate(contrast.definition)
    facts: dict[str, Any] = {"more": 0}
    if rate is None:
        alone = contrast if contrast.simultaneous is None else singled_out(contrast)
        named = [f"{called(e.group)} ({value_text(e)})" for e in finding.others if e.group]
        facts["says"] = alone.says
    else:
        ratio = None if finding.ratio is None else singled_out(finding.ratio)
        limits = (finding.limits, finding.ratio_limits)
        named = [_in_short(each) for each in finding.others]
        facts |= _direction(contrast, rate)
        facts |= {
            "who": _group_words(contrast, one_of_thresholds=finding.one_of_thresholds),
            "sides": _sides_of(contrast, rate),
            "numbers": _uncertainty(singled_out(contrast), ratio, limits=limits),
            "adjusted": finding.adjusted
            and adjusted_sentence(
                contrast, finding.adjusted, called(finding.adjusted_for or "the strata")
            ),
        }
        if (beside := finding.beside) is not None:
            other = compared_rate(beside.definition)
            assert other is not None
            numbers = _uncertainty(singled_out(beside), brief=True)
            facts["beside"] = _direction(beside, other) | {
                "sides": _sides_of(beside, other),
                "numbers": numbers,
            }
    facts |= {"others": named[:_MOST_OTHERS], "more": max(len(named) - _MOST_OTHERS, 0)}
    return g.say("finding_text", "of_rates" if rate else "of_value", **facts) or ""


def _direction(contrast: Estimate, rate: Statistic) -> dict[str, Any]:
    of_class = contrast.class_ if contrast.class_scope.kind is not ClassKind.SELECTION else None
    other = reference_name(contrast.reference)
    return {
        "lower": gap(contrast) < 0,
        "title": rate.title,
        "verb": rate.verb,
        "of_class": of_class,
        "other": "the overall rate" if other == "overall" else called(other),
    }


def _in_short(each: Estimate) -> str:
    rate = compared_rate(each.definition)
    assert rate is not None
    name = called(each.group)
    if each.class_scope.kind is ClassKind.WORST:
        name += f", class {called(each.class_)}"
    numbers = [_sides_of(each, rate), _uncertainty(singled_out(each), brief=True)]
    return f"{name} ({'; '.join(filter(None, numbers))})"


def _sides_of(each: Estimate, rate: Statistic) -> str:
    if each.rate_group is None and each.rate_reference is None:
        return ""
    return " vs ".join(rate_text(rate, side) for side in (each.rate_group, each.rate_reference))


def _group_words(each: Estimate, *, one_of_thresholds: bool) -> str:
    """Return the group of an estimate, with its feature, and class and threshold in brackets."""
    texts, scope = plain().terms["place"], each.class_scope
    of = called(each.class_) if each.class_ else ""
    kinds = {ClassKind.WORST: "worst", ClassKind.CLASS: "class_", ClassKind.SELECTION: "selection"}
    details = [texts[kinds[scope.kind]].format(value=of)] if scope.kind in kinds else []
    if scope.kind is ClassKind.AVERAGE:
        details.append(texts["average"].format(value=scope.average))
    if one_of_thresholds and each.threshold is not None:
        details.append(texts["at"].format(value=f"{each.threshold:g}"))
    if each.group_id is not None and each.group_id.kind is GroupKind.MISSING:
        name = f"The group without a value of {called(each.feature)}"
    else:
        name = group_called(each.group, each.feature, apart=not details)
        if details and name == called(each.group):
            details.insert(0, called(each.feature))
    return f"{name} ({', '.join(details)})" if details else name


def _uncertainty(
    contrast: Estimate,
    ratio: Estimate | None = None,
    *,
    brief: bool = False,
    limits: tuple[tuple[float, ...], tuple[float, ...]] = ((), ()),
) -> str:
    """Return a difference with its confidence interval, and the ratio with its own.

    ``−17.0 pp, 95% CI −19.6 to −14.3; ratio 0.68, CI 0.64 to 0.73``. A ratio that stands alone is
    ``ratio 0.68, 95% CI 0.64 to 0.73``; ``brief`` is without the level, which stands before.
    ``limits`` are those of rules on the difference, and on the ratio: no number is rounded onto
    one, because 0.798 is below a limit of 0.8 and "0.80" is not.
    """
    of_difference, of_ratio = limits
    if is_ratio(contrast.definition):
        kind, low, high, own = Unit.RATIO, contrast.low, contrast.high, of_ratio
        text = f"ratio {shown(contrast.value, kind, limits=own)}"
    else:
        kind, own = _unit_of_difference(contrast), of_difference
        low, high = _ends(contrast)
        text = f"{shown(gap(contrast), kind, sign=True, limits=own)}{unit_name(kind)}"
    parts = [] if contrast.value is None else [text]
    if contrast.interval is not None:
        ends = shown_range(low, high, kind, sign=kind is not Unit.RATIO, limits=own)
        single = "single " if contrast.bounds is not None else ""
        of_all = "simultaneous " if is_simultaneous(contrast) else single
        kind_of = "" if brief else f"{of_all}{100 * contrast.interval.level:.4g}% "
        parts.append(f"{kind_of}CI {ends}{'' if parts else unit_name(kind)}")
    elif p_value := probability(contrast.p_adjusted, "adjusted p"):
        parts.append(p_value)
    text = ", ".join(parts)
    if ratio is not None and ratio.value is not None:
        text += f"; ratio {shown(ratio.value, Unit.RATIO, limits=of_ratio)}"
        if ratio.interval is not None:
            text += f", CI {shown_range(ratio.low, ratio.high, Unit.RATIO, limits=of_ratio)}"
    return text


def whom_compared(overall: Estimate, adjusted: Estimate) -> str:
    """Return of whom an adjusted difference is; empty if it is of almost all people."""
    shares = shares_compared(overall, adjusted)
    if min(shares) > 1 - NOTED_ALONE:
        return ""
    sides = shares_of(zip((overall.group, reference_name(overall.reference)), shares, strict=True))
    return plain().say("finding_text", "among", sides=sides) or ""


def adjusted_sentence(overall: Estimate, adjusted: Estimate, column: str = "the strata") -> str:
    """Return what becomes of a difference when it is adjusted for the strata.

    A reversal is announced only where both directions are statistically significant, and a
    disappearance only where the adjusted interval excludes the unadjusted difference.
    """
    change = after_adjusting(overall, adjusted)
    among = whom_compared(overall, adjusted)
    if among and change is not AfterAdjusting.LEAVES_OUT:
        column += f" ({among})"
    open_ = adjusted.interval is None or adjusted.definition.neutral in adjusted.interval
    place = "adjusted" if change is None else str(change).replace(", ", "_").replace(" ", "_")
    if change is None and is_significant(adjusted):
        place = "significant"
    facts: dict[str, Any] = dict(adjusted.reason.parameters) if adjusted.reason else {}
    return (
        plain().say(
            "after_adjusting",
            place,
            **{"unit": "rows"} | facts,
            column=column,
            numbers=_uncertainty(singled_out(adjusted)),
            all_tests=not open_,
            p_adjusted=adjusted.p_adjusted,
        )
        or ""
    )


def no_finding_sentence(
    of: Sequence[tuple[Sequence[FeatureResults], Sequence[str]]],
    by_class: Container[str] = (),
    terms: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return which comparisons with the reference are not significant, and how large they could be.

    ``of`` are sections with the rates that do not differ in them; ``by_class`` the features that
    have sections of single classes, too; ``terms`` what a preset calls rates.
    """
    rows = [(section, rate) for sections, rates in of for section in sections for rate in rates]
    pairs = []
    for section, rate in rows:
        held = [pair for pair in section.pairs if pair.rate == rate]
        if differing := sum(pair.significant for pair in held):
            feature, title = called(section.name), section.rate_row(rate).title
            pairs.append({"n": differing, "of": held[0].pairs, "feature": feature, "title": title})
    compared = [
        _not_differing(sections, rates, terms, classes=any(s.feature in by_class for s in sections))
        for sections, rates in of
    ]
    facts: dict[str, Any] = {
        "shares": all(section.rate_row(rate).is_share for section, rate in rows),
        "strata": any(section.strata for section, _ in rows),
    }
    return plain().say("finding_text", "none", compared=compared, pairs=pairs, **facts) or ""


def _not_differing(
    sections: Sequence[FeatureResults],
    rates: Sequence[str],
    terms: Mapping[str, str],
    *,
    classes: bool,
) -> str:
    contrasts = [
        (section, each)
        for section in sections
        for rate in rates
        for each in section.contrasts(rate)
    ]
    titles = [terms.get(rate) or sections[0].rate_row(rate).title for rate in rates]
    words = listing(titles, "or")
    at_thresholds = any(each.threshold is not None for _, each in contrasts)
    thresholds: dict[str, list[str]] = {}
    of_reference: dict[tuple[str, str], list[str]] = {}
    for section in sections:
        own = thresholds.setdefault(called(section.feature), [])
        if section.several_thresholds and at_thresholds:
            own.append(f"{section.threshold:g}")
        key = _sides(section), _which_compared(section, rates)
        features = of_reference.setdefault(key, [])
        if called(section.feature) not in features:
            features.append(called(section.feature))
    named = {
        key: listing([_at_thresholds(name, thresholds[name]) for name in features], "or")
        for key, features in of_reference.items()
    }
    groups = "; ".join(
        f"{sides or ('groups of' if which else '')} {features}{which}".strip()
        for (sides, which), features in named.items()
    )
    over = " over all classes" if classes else ""
    reach = _reach([each for _, each in contrasts])
    return f"{words}{over} ({groups}{f'; {reach}' if reach else ''})"


def _which_compared(section: FeatureResults, rates: Sequence[str]) -> str:
    """Return which groups are compared in some rates; empty where that is every one of them."""
    contrasts = [each for rate in rates for each in section.contrasts(rate)]
    metrics = {each.metric for each in contrasts}
    lacking = [each for each in section.missing if each.metric in metrics]
    lacking += [e for e in contrasts if e.status is not Status.OK or e.interval is None]
    small = all(e.reason is not None and e.reason.code is ReasonCode.SMALL_GROUP for e in lacking)
    which = " of the minimum size or more" if small else " with sufficient data"
    return which if lacking else ""


def _sides(section: FeatureResults) -> str:
    """Return what is compared in a section, up to its name; nothing of the usual comparison."""
    kinds = {each.reference for each in section.estimates if each.reference}
    only = next(iter(kinds)) if len(kinds) == 1 else None
    if only is None:
        return "between the groups and their references of"
    if only.kind is ReferenceKind.OTHERS:
        return ""
    if only.kind in (ReferenceKind.OVERALL, ReferenceKind.POPULATION):
        whole = "all rows" if only.kind is ReferenceKind.OVERALL else "the population"
        return f"from {whole} in any group of"
    return f"between {called(reference_name(only))} and any other group of"


def _reach(contrasts: Sequence[Estimate]) -> str:
    """Return which differences the intervals of contrasts include; of ratios, their range.

    The intervals are those that hold together. Where some comparison has none, as those of
    protected counts, all are those that hold each by itself, which is stated.
    """
    sure = [each for each in contrasts if each.status is Status.OK and each.interval is not None]
    together = all(each.simultaneous is not None for each in sure)
    cis = "CIs" if together else "single CIs"
    if together:
        sure = [singled_out(each) for each in sure]
        cis = "simultaneous CIs" if any(map(is_simultaneous, sure)) else cis
    furthest: dict[str, float] = {}
    for each in sure:
        kind = _unit_of_difference(each)
        ends = [abs(end) for end in _ends(each) if end is not None]
        if kind is not Unit.RATIO and ends:
            of = (
                ""
                if kind is Unit.POINTS
                else rate.title
                if (rate := compared_rate(each.definition))
                else ""
            )
            furthest[of] = max([furthest.get(of, 0.0), *ends])
    if furthest:
        sizes = [
            f"{shown(size, Unit.NUMBER)}{f' in {of}' if len(furthest) > 1 else ''}"
            if of
            else f"{100 * size:.1f} pp"
            for of, size in furthest.items()
        ]
        return f"{cis} include differences of up to {listing(sizes)}"
    ratios = [each for each in sure if is_ratio(each.definition)]
    lows = [each.low for each in ratios if each.low is not None]
    highs = [each.high for each in ratios if each.high is not None]
    return f"{cis} of ratios: {shown_range(min(lows), max(highs), Unit.RATIO)}" if lows else ""


def _unit_of_difference(each: Estimate) -> Unit:
    """Return the unit of a difference as group minus reference, a vendor's in points too."""
    if is_ratio(each.definition):
        return Unit.RATIO
    rate = compared_rate(each.definition)
    return Unit.POINTS if rate is not None and rate.is_share else unit(each.definition)


def _ends(each: Estimate) -> tuple[float | None, float | None]:
    """Return the interval of a difference as group minus reference."""
    if each.low is None or each.high is None:
        return None, None
    turned = is_reference_first(each.definition)
    return (0.0 - each.high, 0.0 - each.low) if turned else (each.low, each.high)


def _at_thresholds(name: str, thresholds: Sequence[str]) -> str:
    if not thresholds:
        return name
    return f"{name} at {plural(len(thresholds), 'threshold', 'thresholds')} {listing(thresholds)}"


def adjusted_for_strata(inside: Sequence[Estimate], tests: int) -> str:
    """Return for what the tests of single strata are adjusted, one of so many."""
    facts: dict[str, Any] = {
        "together": any(map(holds_with_others, inside)),
        "of_all": tests > len(inside),
    }
    return plain().say("finding_text", "strata", n=tests, **facts) or ""
