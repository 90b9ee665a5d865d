"""The section of a preset: its status, its sources, its statements, and the tables to publish.

The metrics of a preset are called what the text, or practice, calls them: its terms.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby

from fairgauge.catalogue.comparisons import Metric
from fairgauge.enums import DiagnosticCode, ReferenceRule, ScopeKind, Status
from fairgauge.question.features import strata_named
from fairgauge.question.presets import Preset, find_preset
from fairgauge.reasons import ReasonCode
from fairgauge.render import _document_tree as tree
from fairgauge.render._document_tree import Cell, Column, Table
from fairgauge.render.grammar import describe_diagnostic, describe_reason
from fairgauge.render.words.display_names import called
from fairgauge.render.words.estimate_sentences import reference_name
from fairgauge.render.words.finding_sentences import whom_compared
from fairgauge.render.words.metric_words import (
    compared_rate,
    metric_range,
    metric_words,
    published_range,
    published_value,
    rate_heading,
    rate_text,
    unit,
)
from fairgauge.render.words.numbers import count, listing, minus, numbered, percent, plural
from fairgauge.render.words.question_sentences import (
    excluded_sentence,
    only_reference,
    preset_reference_replaced,
    rounded_to,
    rounding_sentence,
    unknown_sentence,
    unstated,
    weightless_rows,
)
from fairgauge.render.words.question_sentences import unit as counted_unit
from fairgauge.results.disparities import is_of_other_rows, is_ratio
from fairgauge.results.estimates import Estimate, Group, RateValue
from fairgauge.results.report import Report
from fairgauge.results.sections import FeatureResults, adjustments, reference_group

_PROTECTED = (
    "These tables are of protected counts, which are rounded at random: their numbers are not "
    "those of the people who were audited. Publish tables of the exact counts, and protect the "
    "counts that go with them."
)
_RATE, _RATIO, _REJECTED = "selection_rate", "selection_rate.ratio", "rejection_share"
_UNKNOWN = ("Unknown", "(missing)")
"""What the row of who has no known category is called: the first that no group is called."""
_NO_GROUP = (ReferenceRule.OTHERS, ReferenceRule.OVERALL)


def terms_of(report: Report) -> Mapping[str, str]:
    """Return what the preset of a report calls metrics; nothing without one.

    Where the reference of the preset is replaced, or is no group, a ratio is called what it is to.
    """
    found = find_preset(report.spec.get("preset"))
    if found is None:
        return {}
    terms = dict(found.terms)
    if preset_reference_replaced(report.spec) or report.spec.get("reference") in _NO_GROUP:
        to = only_reference(report.spec)
        ratios = {_RATIO: f"ratio to {to}", f"{_REJECTED}.ratio": f"denial ratio to {to}"}
        terms |= {metric: words for metric, words in ratios.items() if metric in terms}
    return terms


def not_stated(report: Report) -> Iterator[tree.Block]:
    """Yield what a published report states and this one does not; nothing without a preset."""
    if lacking := unstated(report):
        yield tree.Paragraph(
            f"This report does not state the {lacking[0]}, which the sources of the preset ask of "
            f"a published one ({lacking[1]}, or [document] in a specification file)."
        )


def tables_to_publish(report: Report, sections: Sequence[FeatureResults]) -> list[tree.Table]:
    """Return the tables that the preset of a report calls for; none without a preset."""
    found = find_preset(report.spec.get("preset"))
    if found is None:
        return []
    metrics = found.published_metrics
    column = called(strata_named(report.spec.get("strata")) or "the strata")
    weight = report.spec.get("weight")
    every = (
        _table(each, metrics, report, weight and called(weight), column)
        for each in sections
        if each.class_scope.is_single
    )
    tables = [table for table in every if table is not None]
    tables += (*overall_gaps(report, sections), *gaps_by_category(report, sections))
    excluded = [
        *filter(None, [excluded_sentence(report)]),
        *(
            f"{called(each.feature or '')}: {describe_diagnostic(each)}."
            for each in report.diagnostics
            if each.code is DiagnosticCode.EXCLUDED_GROUP
        ),
    ]
    notes = (unknown_sentence(report), *excluded, *([_PROTECTED] if rounded_to(report) else []))
    last = [replace(table, notes=(*table.notes, *notes)) for table in tables[-1:]]
    return [*tables[:-1], *last]


def _table(
    section: FeatureResults,
    metrics: Sequence[str],
    report: Report,
    weight: str | None,
    column: str,
) -> tree.Table | None:
    """Return people, selections and the preset's metrics for every group of a feature.

    What is adjusted for the strata, where there are any, stands beside what is not. Of weighted
    rows no number of selections stands beside the rate, which is not made of it; of groups that are
    known by probabilities no number at all, because nobody in them was counted.
    """
    absent = {each.metric: each for each in _of_groups(section) if each.metric in metrics}
    metrics = [metric for metric in metrics if metric in section.metrics]
    groups = [group for group in section.groups if group.reference_kind is None]
    if not metrics and not (absent and all(_RATE in group.rates for group in groups)):
        return None
    terms = terms_of(report)
    level = f"{100 * report.spec['confidence']:.4g}%"
    adjusted = [metric for metric in metrics if _adjusted(section, metric)]
    rate = section.rate_row(_RATE)
    unrecorded = report.spec.get("probabilities", ())
    estimated = section.feature in [each["name"] for each in unrecorded]
    heads = ["n", rate_heading(rate), rate.title]
    if estimated:
        heads = [f"estimated {rate.title}"]
    elif weight:
        heads = ["unweighted rows", f"sum of {weight}", f"weighted {rate.title}"]
    rejected = any(each.startswith(f"{_REJECTED}.") for each in metrics)
    heads += [terms.get(_REJECTED) or section.rate_row(_REJECTED).title] if rejected else []
    heads += [_heading(section.metric_row(each), terms) for each in metrics]
    heads += [
        _heading(section.metric_row(each), terms, f" adjusted for {column}") for each in adjusted
    ]
    lacking = () if estimated else _together(section, groups, report, weight)
    compared = [
        *({each.group: each for each in section.estimates if each.metric == m} for m in metrics),
        *(_adjusted(section, each) for each in adjusted),
    ]
    together = [_hold_together(each.values()) for each in compared]
    which = _which_intervals(heads[-len(compared) :], together)
    unknown = [] if estimated else _unknown_row(section, report, rejected + len(compared))

    def row(group: Group) -> tuple[tree.Cell, ...]:
        shown = {"estimated": estimated, "rejected": rejected}
        return _row(group, section, metrics, adjusted, together, **shown)

    every = [*chain(*(each.values() for each in compared))]
    small = any(e.reason and e.reason.code is ReasonCode.SMALL_GROUP for e in every)
    open_ = small or any(map(is_of_other_rows, every))
    why = "why nothing is concluded" if open_ else "why data are insufficient"
    printed = f"In parentheses: {level} confidence intervals{which}, or {why}."
    if not metrics:  # numbers and rates are asked for, whatever cannot be compared
        named = [_heading(each.definition, terms) for each in absent.values()]
        reasons = dict.fromkeys(describe_reason(e.reason) for e in absent.values() if e.reason)
        printed = f"There is no {listing(named, 'or')}: {'; '.join(reasons)}."

    return tree.Table(
        caption=f"Groups of {called(section.name)}",
        columns=(tree.Column("group", numeric=False), *map(tree.Column, heads)),
        rows=(
            *(row(each) for each in groups),
            *unknown,
        ),
        titled=True,
        stacked=True,
        notes=(
            *([_ESTIMATED] if estimated else []),
            printed,
            *filter(None, [rounding_sentence(report)]),
            *lacking,
            *_of_whom(section, adjusted, column),
            *([f"Rates and what compares them are weighted by {weight}."] if weight else []),
            *filter(None, [weightless_rows(report)]),
        ),
    )


_ESTIMATED = (
    "Groups and rates are estimated from probabilities: nobody was counted in a group, so that no "
    "numbers of people stand here."
)


def _hold_together(estimates: Collection[Estimate]) -> bool | None:
    """Return whether all intervals of a column hold for all comparisons of the report together.

    None where the column has no interval.
    """
    held = [each.simultaneous is not None for each in estimates if _has_interval(each)]
    return all(held) if held else None


def _has_interval(estimate: Estimate) -> bool:
    """Return whether the interval of an estimate is printed, and not why data are insufficient."""
    insufficient = estimate.status is Status.TOO_FEW or is_of_other_rows(estimate)
    return estimate.interval is not None and not insufficient


def _of_whom(section: FeatureResults, adjusted: Sequence[str], column: str) -> Iterator[str]:
    """Yield of whom comparisons adjusted for the strata are, if that is not almost all people."""
    for overall, pooled in adjustments(section):
        if pooled.metric in adjusted[:1] and (among := whom_compared(overall, pooled)):
            of = called(pooled.group)
            yield f"Adjusted for {column}, {of}: {among}."


def _which_intervals(heads: Sequence[str], together: Sequence[bool | None]) -> str:
    """Return whether intervals hold for all comparisons together, or each for its own alone."""
    if True not in together:
        return ", each for its comparison alone" if False in together else ""
    alone = [head for head, held in zip(heads, together, strict=True) if held is False]
    but = f" (those of {listing(alone)} each alone)" if alone else ""
    return f", for all comparisons of the report together{but}"


def _unknown_row(
    section: FeatureResults, report: Report, compared: int
) -> Iterator[tuple[tree.Cell, ...]]:
    """Yield the row of who is of unknown category."""
    groups = {str(each.group).casefold() for each in section.groups}
    name = next((each for each in _UNKNOWN if each.casefold() not in groups), _UNKNOWN[-1])
    for each in report.diagnostics:
        if each.code is DiagnosticCode.MISSING_GROUPS and each.feature == section.feature:
            number = tree.Cell(count(each.get("cases") or each["rows"]))
            yield tree.Cell(name, name=True), number, *[tree.Cell("-")] * (2 + compared)


def _together(
    section: FeatureResults, groups: Sequence[Group], report: Report, weight: str | None
) -> Iterator[str]:
    """Yield the people and selections of all groups, and how many lack a decision, or its score.

    A check of the published tables holds their rows against these sums.
    """
    of = section.rate_row(_RATE)
    counted = [(each, each.rates[_RATE]) for each in groups]
    known = [(each, rate) for each, rate in counted if rate.denominator is not None]
    people = sum(rate.denominator or 0 for _, rate in known)
    lacking = sum(group.n for group, _ in known) - people
    more = f"{count(lacking)} more {plural(lacking, 'lacks', 'lack')} it"
    what = counted_unit(report)
    if not weight:
        selected = sum(rate.numerator or 0 for _, rate in known)
        rest = f"; {more} ({count(people + lacking)} in all)" if lacking else ""
        yield (
            f"Groups of {called(section.name)} together: {count(people)} {what} with a known "
            f"{of.title} (n), {count(selected)} {rate_heading(of)}{rest}."
        )
    elif lacking:
        yield (
            f"Unweighted rows, and the sum of {weight}, are of the {what} of which the {of.title} "
            f"is known: {more}."
        )


def _heading(metric: Metric, terms: Mapping[str, str], adjusted: str = "") -> str:
    words = terms.get(metric.name) or metric_words(metric)
    return f"{words}{adjusted}{', pp' if unit(metric) is tree.Unit.POINTS else ''}"


def _row(
    group: Group,
    section: FeatureResults,
    metrics: Sequence[str],
    adjusted: Sequence[str],
    together: Sequence[bool | None],
    *,
    estimated: bool,
    rejected: bool,
) -> tuple[tree.Cell, ...]:
    rate = group.rates[_RATE]
    weight = rate.weighted_denominator
    beside = count(rate.numerator) if weight is None else f"{weight:,.1f}"
    numbers = tuple(map(tree.Cell, (count(rate.denominator), beside, percent(rate.value))))
    if estimated:
        numbers = (_estimated(rate),)
    if rejected:
        share = group.rates[_REJECTED]
        numbers += (_estimated(share) if estimated else tree.Cell(percent(share.value)),)
    compared = [(metric, section.any_of(metric, group.group)) for metric in metrics]
    compared += [(each, _adjusted(section, each).get(group.group)) for each in adjusted]
    cells = (
        tree.Cell("reference")
        if group.group == reference_group(section, metric)
        else _compared(each, together=bool(held))
        for (metric, each), held in zip(compared, together, strict=True)
    )
    return (tree.Cell(called(group.group), name=True), *numbers, *cells)


def _estimated(rate: RateValue) -> tree.Cell:
    """Return a rate of a group that is known by probabilities, with its interval."""
    ends = rate.interval and " to ".join(map(percent, rate.interval))
    reason = rate.reason and describe_reason(rate.reason)
    return tree.Cell(percent(rate.value), below=f"({reason or ends})" if reason or ends else "")


def _adjusted(section: FeatureResults, metric: str) -> dict[str | None, Estimate]:
    """Return a metric adjusted for the strata, by group."""
    return {each.group: each for each in section.adjusted if each.metric == metric}


def _compared(estimate: Estimate | None, *, together: bool) -> tree.Cell:
    """Return the value of a comparison, with its interval or what stands against relying on it.

    ``together`` is whether the interval is the one that holds for all comparisons of the report.
    """
    if estimate is None or estimate.value is None:
        reason = estimate.reason if estimate is not None else None
        return tree.Cell("-", below=f"({describe_reason(reason)})" if reason else "")
    below = ""
    if estimate.reason is not None and not _has_interval(estimate):
        below = f"({describe_reason(estimate.reason)})"
    elif interval := estimate.simultaneous if together else estimate.interval:
        low, high = interval
        ends = metric_range(estimate.definition, low, high)
        if unit(estimate.definition) is tree.Unit.RATIO:
            ends = published_range(low, high)
        below = f"({ends})"
    return tree.Cell(published_value(estimate), below=below)


_DIGITS = 12
"""Decimals at which a gap is compared with the limit: a ratio of .95 is a gap of 5 per cent."""


def overall_gaps(report: Report, sections: Sequence[FeatureResults]) -> Iterator[Table]:
    """Yield the gaps of each group in all metrics of a preset that states gaps by category."""
    if (found := _preset(report)) is None:
        return
    for section in sections:
        ours = [e for e in _of_groups(section) if e.metric in found.options["metrics"]]
        ours = [each for each in ours if is_ratio(each.definition)]
        for gaps in _by_sides(ours, section, found):
            yield _overall(gaps)


def gaps_by_category(report: Report, sections: Sequence[FeatureResults]) -> Iterator[Table]:
    """Yield the gaps of each group in the first metric of such a preset, in every stratum."""
    column = strata_named(report.spec.get("strata"))
    if (found := _preset(report)) is None or column is None:
        return
    for section in sections:
        inside = [e for e in section.inside if e.metric == found.options["metrics"][0]]
        for gaps in _by_sides(inside, section, found):
            yield _by_category(gaps, called(column), report)


def _by_sides(
    estimates: Sequence[Estimate], section: FeatureResults, found: Preset
) -> Iterator[list[_PublishedGap]]:
    """Yield the gaps of each group; of two that are each other's reference, those of one."""
    first = found.options["metrics"][0]
    groups = {each.group for each in _of_groups(section) if each.metric == first}
    ours = sorted((each for each in estimates if each.group in groups), key=_sides)
    for _, compared in groupby(ours, _sides):
        yield [_PublishedGap(each, found) for each in compared]


def _of_groups(section: FeatureResults) -> list[Estimate]:
    """Return the comparisons over all strata, also those without a value."""
    missing = [each for each in section.missing if each.scope.kind is ScopeKind.OVERALL]
    return [*section.estimates, *missing]


def _preset(report: Report) -> Preset | None:
    """Return the preset of a report if it states from which gap on a category counts."""
    found = find_preset(report.spec.get("preset"))
    return found if found is not None and found.category_limit is not None else None


def _sides(each: Estimate) -> tuple[str, str]:
    return str(each.group), reference_name(each.reference)


@dataclass(frozen=True)
class _PublishedGap:
    """By how much a group is below the reference, as a share of what the reference has."""

    of: Estimate
    preset: Preset

    @property
    def value(self) -> float | None:
        return None if self.of.value is None else round(1 - self.of.value, _DIGITS)

    @property
    def noun(self) -> str:
        name = self.of.metric.removesuffix(".ratio")
        return self.preset.terms.get(name, name)

    @property
    def sizes(self) -> tuple[Cell, Cell]:
        return Cell(count(self.of.n_group)), Cell(count(self.of.n_reference))

    @property
    def rates(self) -> tuple[Cell, ...]:
        rate = compared_rate(self.of.definition)
        values = (self.of.rate_group, self.of.rate_reference)
        return tuple(Cell("-" if v is None or not rate else rate_text(rate, v)) for v in values)

    @property
    def cell(self) -> Cell:
        """Return the gap with its interval, or why the data are insufficient."""
        of = self.of
        below = describe_reason(of.reason) if of.status is not Status.OK and of.reason else ""
        if not below and of.interval is not None:
            low, high = of.interval
            below = f"{_percent(1 - high)} to {_percent(1 - low)}"
        return Cell(_percent(self.value), below=f"({below})" if below else "")


def _percent(value: float | None) -> str:
    return percent(value) if value is None else minus(percent(value))


def _overall(gaps: Sequence[_PublishedGap]) -> Table:
    group, reference = map(called, _sides(gaps[0].of))
    return Table(
        caption=f"Gap of {group}",
        columns=(Column("", numeric=False), *_columns(group, reference)),
        rows=tuple((Cell(each.noun, name=True), *each.sizes, each.cell) for each in gaps),
        titled=True,
        stacked=True,
        notes=(_note(group, reference, "comparison"),),
    )


def _by_category(gaps: Sequence[_PublishedGap], column: str, report: Report) -> Table:
    limit = gaps[0].preset.category_limit or 0.0
    group, reference = map(called, _sides(gaps[0].of))
    least = f"{100 * limit:.4g}% or more"

    absent = report.data.excluded.get("missing stratum", 0)
    verb = plural(absent, "is", "are")
    note = f"{numbered(absent, counted_unit(report))} without {column} {verb} in no category."
    without_one = [note] if absent else []

    def reached(each: _PublishedGap) -> str:
        return "-" if each.value is None else "yes" if abs(each.value) >= limit else "no"

    return Table(
        caption=f"Gap of {group} in {gaps[0].noun}, by {column}",
        columns=(
            Column(column, numeric=False),
            *_columns(group, reference, Column(group), Column(reference)),
            Column(least),
        ),
        rows=tuple(
            (
                Cell(called(each.of.stratum), name=True),
                *each.sizes,
                *each.rates,
                each.cell,
                Cell(reached(each)),
            )
            for each in sorted(gaps, key=lambda each: -abs(each.value or 0.0))
        ),
        titled=True,
        stacked=True,
        notes=(
            _note(group, reference, column)
            + f" “{least}” is of the gap as counted, in either direction, whatever its interval.",
            *without_one,
        ),
    )


def _columns(group: str, reference: str, *rates: Column) -> tuple[Column, ...]:
    sizes = (Column(f"{group}, n"), Column(f"{reference}, n"))
    return (*sizes, *rates, Column(f"gap, % of {reference}"))


def _note(group: str, reference: str, each: str) -> str:
    return (
        f"The gap is by how much {group} is below {reference}, in per cent of {reference}; below 0 "
        f"it is higher. In parentheses: confidence intervals, each for its {each} alone."
    )
