"""Sentences about findings: the group that fares worse, its rate, the difference, and its CI."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from types import MappingProxyType

from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import AfterAdjusting, ClassKind, GroupKind, ReferenceKind, Status
from fairgauge.reasons import ReasonCode
from fairgauge.render._document_tree import Unit
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
_ALSO = "Also statistically significant"


def describe_finding(finding: Finding, *, brief: bool = False) -> str:
    """Return a finding as a sentence; the other groups that differ significantly follow in short.

    ``Female (sex) is selected less often than others: 36.2% vs 53.2% (−17.0 pp, 95% CI −19.6 to
    −14.3; ratio 0.68, CI 0.64 to 0.73).``
    """
    contrast = finding.estimate
    if compared_rate(contrast.definition) is None:
        text = f"{(contrast if contrast.simultaneous is None else singled_out(contrast)).says}."
        others = [] if brief else [each for each in finding.others if each.group is not None]
        named = [f"{called(each.group)} ({value_text(each)})" for each in others[:_MOST_OTHERS]]
        more = [*named, *_more(len(others) - len(named))]
        return f"{text} {_ALSO}: {'; '.join(more)}." if more else text
    sides = _sides_of(contrast)
    ratio = None if finding.ratio is None else singled_out(finding.ratio)
    limits = (finding.limits, finding.ratio_limits)
    numbers = uncertainty(singled_out(contrast), ratio, limits=limits)
    shown_sides = f"{sides} ({numbers})" if sides else numbers
    text = f"{finding_without_numbers(finding)}: {shown_sides}"
    text += f"{_also(finding.beside)}." if finding.beside else "."
    if finding.adjusted is not None:
        column = called(finding.adjusted_for or "the strata")
        text += f" {adjusted_sentence(contrast, finding.adjusted, column)}"
    return text if brief else " ".join([text, *_other_groups(finding)])


def finding_without_numbers(finding: Finding) -> str:
    """Return whose rate is lower or higher than whose."""
    contrast = finding.estimate
    subject = group_words(contrast, one_of_thresholds=finding.one_of_thresholds)
    lower = gap(contrast) < 0
    rate = _rate_of(contrast)
    if verb := rate.verb:
        if contrast.class_ and contrast.class_scope.kind is not ClassKind.SELECTION:
            verb = f"is predicted {called(contrast.class_)}"
        verb = f"{verb} {'less' if lower else 'more'} often than"
    else:
        verb = f"has a {'lower' if lower else 'higher'} {rate.title} than"
    other = called(reference_name(contrast.reference))
    return f"{subject} {verb} {'the overall rate' if other == 'overall' else other}"


def _other_groups(finding: Finding) -> Iterator[str]:
    """Yield in short which other groups differ significantly, in the same rate or the one beside.

    ``Also statistically significant: Black (25.0% vs 39.4%; −14.4 pp, CI −26.3 to −2.1).``
    """
    beside = f"{_ALSO} in {_rate_of(finding.beside).title}" if finding.beside else _ALSO
    for words, others in (
        (_ALSO, finding.others),
        (beside, finding.others_beside),
    ):
        if others:
            named = [
                f"{_group_and_class(each)} ({_sides_of(each)}{'; ' if _sides_of(each) else ''}"
                f"{uncertainty(singled_out(each), brief=True)})"
                for each in others[:_MOST_OTHERS]
            ]
            more = len(others) - len(named)
            yield f"{words}: {'; '.join([*named, *_more(more)])}."


def _more(count: int) -> list[str]:
    return [f"{count:,} more in the tables"] if count > 0 else []


def _rate_of(contrast: Estimate) -> Statistic:
    """Return the rate that a contrast compares."""
    rate = compared_rate(contrast.definition)
    assert rate is not None
    return rate


def _group_and_class(each: Estimate) -> str:
    of_class = each.class_scope.kind is ClassKind.WORST
    return f"{called(each.group)}, class {called(each.class_)}" if of_class else called(each.group)


def _sides_of(each: Estimate) -> str:
    rate = _rate_of(each)
    if each.rate_group is None and each.rate_reference is None:
        return ""
    return " vs ".join(rate_text(rate, side) for side in (each.rate_group, each.rate_reference))


def _also(each: Estimate) -> str:
    """Return the difference of the same group in the other rate of equalized odds."""
    level = "lower" if gap(each) < 0 else "higher"
    difference = uncertainty(singled_out(each), brief=True)
    return f", and a {level} {_rate_of(each).title}: {_sides_of(each)} ({difference})"


def group_words(each: Estimate, *, one_of_thresholds: bool) -> str:
    """Return the group of an estimate, with its feature, and class and threshold in brackets.

    It begins a sentence. Rows without a value that are asked for as a group are described.
    """
    details = []
    if each.class_scope.kind is ClassKind.WORST:
        details.append(f"class {called(each.class_)}, where the difference is largest")
    elif each.class_scope.kind is ClassKind.CLASS:
        details.append(f"class {called(each.class_)}")
    elif each.class_scope.kind is ClassKind.SELECTION:
        details.append(called(each.class_))
    elif each.class_scope.kind is ClassKind.AVERAGE:
        details.append(f"{each.class_scope.average} average")
    if one_of_thresholds and each.threshold is not None:
        details.append(f"threshold {each.threshold:g}")
    if each.group_id is not None and each.group_id.kind is GroupKind.MISSING:
        name = f"The group without a value of {called(each.feature)}"
        return f"{name} ({', '.join(details)})" if details else name
    if not details:
        return group_called(each.group, each.feature)
    name = group_called(each.group, each.feature, apart=False)
    own = [called(each.feature)] if name == called(each.group) else []
    return f"{name} ({', '.join([*own, *details])})"


def uncertainty(
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
        text = shown(gap(contrast), kind, sign=True, limits=own)
        text += unit_name(kind)
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


def among_compared(overall: Estimate, adjusted: Estimate) -> str:
    """Return of whom an adjusted difference is, in brackets; empty if of almost all people."""
    among = whom_compared(overall, adjusted)
    return f" ({among})" if among else ""


def whom_compared(overall: Estimate, adjusted: Estimate) -> str:
    """Return of whom an adjusted difference is; empty if it is of almost all people."""
    shares = shares_compared(overall, adjusted)
    if min(shares) > 1 - NOTED_ALONE:
        return ""
    sides = overall.group, reference_name(overall.reference)
    return f"among {shares_of(zip(sides, shares, strict=True))}, in strata that both are in"


def adjusted_sentence(overall: Estimate, adjusted: Estimate, column: str = "the strata") -> str:
    """Return what becomes of a difference when it is adjusted for the strata.

    A reversal is announced only where both directions are statistically significant, and a
    disappearance only where the adjusted interval excludes the unadjusted difference.
    """
    result = f"{uncertainty(singled_out(adjusted))}"
    change = after_adjusting(overall, adjusted)
    if change is not AfterAdjusting.LEAVES_OUT:
        column += among_compared(overall, adjusted)
    if change is AfterAdjusting.NOT_COMPARABLE:
        return (
            f"Adjusted for {column}: {result}. This leaves out more than half of one side, so that "
            "nothing is concluded from it."
        )
    if change is AfterAdjusting.LACKS_OUTCOMES:
        return (
            f"Adjusted for {column}: {result}. Outcomes are missing more often on one side, and "
            "could leave no difference shown, so that nothing is concluded from it."
        )
    if change is AfterAdjusting.LACKS_GROUPS:
        return (
            f"Adjusted for {column}: {result}. Rows without a group have other rates than the "
            "others, overall or within strata, and could change what is shown, so that nothing is "
            "concluded from it."
        )
    if change is AfterAdjusting.REVERSES:
        return (
            f"After adjusting for {column} the difference reverses (Simpson's paradox): {result}."
        )
    if change is AfterAdjusting.LEAVES_OUT:
        left = adjusted.reason
        assert left is not None
        unit = left.get("unit") or "rows"
        return (
            f"Adjusting for {column} excludes the {left['rows']:,} of {left['total']:,} {unit} "
            f"without it, whose rates differ from those of the others: what holds of the others "
            f"({result}) need not hold of all, so that nothing is concluded from it."
        )
    if change is AfterAdjusting.REMAINS:
        return f"After adjusting for {column} the difference remains: {result}."
    if is_significant(adjusted):
        return f"Adjusted for {column} the difference is statistically significant: {result}."
    words = _significant_among_all(adjusted)
    if change is AfterAdjusting.DISAPPEARS:
        return (
            f"After adjusting for {column} no difference is shown on average: {result}, not "
            f"{words}."
        )
    if change is AfterAdjusting.CHANGES_LITTLE:
        return (
            f"Adjusting for {column} changes the difference little ({result}), but it is no longer "
            f"{words}."
        )
    if change is AfterAdjusting.NOT_SIGNIFICANT:
        return f"After adjusting for {column} the difference is no longer {words}: {result}."
    return f"Adjusted for {column}: {result}, not {words}."


def _significant_among_all(each: Estimate) -> str:
    """Return what a difference is not: significant, or significant after adjusting for all else.

    The second where its own interval excludes "no difference".
    """
    text = "statistically significant"
    if each.interval is None or each.definition.neutral in each.interval:
        return text
    p_value = probability(each.p_adjusted)
    return f"{text} after adjustment for all comparisons{f' ({p_value})' if p_value else ''}"


def _tested(each: Estimate) -> bool:
    """Return whether an estimate can be significant: a distance, never below 0, needs a test."""
    if each.status is not Status.OK or math.isnan(each.definition.neutral):
        return False
    one_sided = each.definition.neutral in each.definition.range
    return each.p_value is not None or (each.interval is not None and not one_sided)


def no_finding_sentence(
    of: Sequence[tuple[Sequence[FeatureResults], Sequence[str]]],
    by_class: Container[str] = (),
    terms: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return which comparisons with the reference are not significant, and how large they could be.

    ``of`` are sections with the rates that do not differ in them; ``by_class`` the features that
    have sections of single classes, too; ``terms`` what a preset calls rates. Pairs of groups may
    differ significantly though none differs from its reference: these are counted.
    """
    compared = "; in ".join(
        _not_differing(sections, rates, terms, classes=any(s.feature in by_class for s in sections))
        for sections, rates in of
    )
    pairs = [text for sections, rates in of for text in _differing_pairs(sections, rates)]
    but = f" But {'; '.join(pairs)}." if pairs else ""
    compared_rates = [
        section.rate_row(rate) for sections, rates in of for section in sections for rate in rates
    ]
    what = "rates" if all(rate.is_share for rate in compared_rates) else "groups"
    over = " over all rows" * any(section.strata for sections, _ in of for section in sections)
    return (
        f"No statistically significant difference{over} in {compared}. This does not show that the "
        f"{what} are equal.{but}"
    )


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
            of = "" if kind is Unit.POINTS else _rate_of(each).title
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


def _differing_pairs(sections: Sequence[FeatureResults], rates: Sequence[str]) -> Iterator[str]:
    """Yield how many pairs of groups differ, where some do."""
    yield from (
        f"{count:,} of {pairs[0].pairs:,} pairs of groups of {called(section.name)} "
        f"{plural(count, 'differs', 'differ')} statistically significantly in "
        f"{section.rate_row(rate).title}"
        for section in sections
        for rate in rates
        if (pairs := [pair for pair in section.pairs if pair.rate == rate])
        and (count := sum(pair.significant for pair in pairs))
    )


def _at_thresholds(name: str, thresholds: Sequence[str]) -> str:
    if not thresholds:
        return name
    return f"{name} at {plural(len(thresholds), 'threshold', 'thresholds')} {listing(thresholds)}"


def adjusted_for_strata(inside: Sequence[Estimate], tests: int) -> str:
    """Return for what the tests of single strata are adjusted, one of so many."""
    of_all = " of all comparisons" * (tests > len(inside))
    one = "the only stratum with rows of both sides"
    of = one if tests == 1 else f"adjusted for all {tests:,} strata{of_all}, Bonferroni"
    groups = ", and for all groups of a stratum" * any(map(holds_with_others, inside))
    return f"{of}{groups}"
