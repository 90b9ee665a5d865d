"""The sections of features: their overview, and the tables and charts of each.

Of groups that nobody recorded they state what every estimator makes of the comparisons.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from fairgauge.catalogue.catalogue import CENTRAL_RATES
from fairgauge.catalogue.comparisons import Metric
from fairgauge.enums import AfterAdjusting, Average, ClassKind, Estimator, Status
from fairgauge.question.rules import limits_of
from fairgauge.render import _document_tree as tree
from fairgauge.render.documents import _metric_blocks as metric_blocks
from fairgauge.render.documents._appendix_sections import where_numbers_are
from fairgauge.render.documents.report_notes import missing_values
from fairgauge.render.words import numbers
from fairgauge.render.words.display_names import called, capitalised, group_called, printable
from fairgauge.render.words.estimate_sentences import assumption
from fairgauge.render.words.finding_sentences import (
    adjusted_for_strata,
    adjusted_sentence,
    group_words,
    uncertainty,
)
from fairgauge.render.words.glossary import anchor, metric_link
from fairgauge.render.words.metric_words import (
    compared_rate,
    holds_with_others,
    metric_ci,
    metric_value,
    metric_words,
    neutral,
    rate_heading,
    rate_value,
    unit,
    unit_name,
    with_unit,
)
from fairgauge.results.disparities import (
    after_adjusting,
    distance,
    is_of_other_rows,
    is_significant,
    significant_strata,
    singled_out,
    tests_within_strata,
    with_both_sides,
)
from fairgauge.results.estimates import ByEstimator, Estimate
from fairgauge.results.report import Report
from fairgauge.results.sections import FeatureResults, adjustments, conditional, size_of_rate
from fairgauge.results.verdicts import Verdict
from fairgauge.values import are_years

_MOST_GROUPS_FULL = 200
_MOST_COLUMNS = 14
_MOST_METRICS = 40
_MOST_CHART_ROWS = 24
_FEWEST_IN_OVERVIEW = 5
_MOST_MATRIX_ROWS, _MOST_DRAWN_MATRIX_ROWS = 150, 60
_MOST_CONDITIONAL = 6
_TWO = 2


def overview_sections(results: Sequence[FeatureResults]) -> Iterator[tree.Section]:
    """Yield every group and central rate in one table, where there are several."""
    rates = [
        rate
        for rate in CENTRAL_RATES
        if any(rate in section.rates and section.differences(rate) for section in results)
    ]
    rows = [
        metric_blocks.overview_row(section, group, rates, i)
        for i, section in enumerate(results)
        if section.class_scope.is_single
        and 2 * len(set(rates).intersection(section.rates)) >= len(rates)
        for group in section.groups
        if group.reference_kind is None
    ]
    if len(rows) * len(rates) < _FEWEST_IN_OVERVIEW:
        return
    references = {metric_blocks.reference_of(section) for section in results if section.estimates}
    reference = references.pop() if len(references) == 1 else "the reference"
    titles = ((results[0].rate_row(rate).title, anchor("rate", rate)) for rate in rates)
    columns = [
        *(tree.Column(name, numeric=False) for name in ("feature", "group")),
        tree.Column("n"),
        *(tree.Column(title, link=link) for title, link in titles),
    ]
    marks = "; ".join(
        metric_blocks.legend(
            [cell.below for row in rows for cell in row],
            [each for section in results for each in section.estimates],
            shares=False,
        )
    )
    notes = [
        "Rates in %, differences in percentage points (pp); their confidence intervals are in the "
        "details."
        if any(results[0].rate_row(rate).is_share for rate in rates)
        else "The confidence intervals of the differences are in the details.",
        *([f"{marks}."] if marks else []),
    ]
    if len(rows) > _MOST_MATRIX_ROWS:
        notes.append(f"{len(rows) - _MOST_MATRIX_ROWS:,} more groups are in the details.")
    table = tree.Table(
        f"Every group and rate, with its difference from {reference}",
        tuple(columns),
        tuple(rows[:_MOST_MATRIX_ROWS]),
        notes=tuple(notes),
        matrix=len(rows) <= _MOST_DRAWN_MATRIX_ROWS,
    )
    yield tree.Section("overview", "Overview", (table,), short="Overview")


def feature_section(
    i: int,
    section: FeatureResults,
    room: int,
    report: Report,
    column: str,
    terms: Mapping[str, str],
) -> tree.Section:
    """Return everything of one feature.

    ``room`` is the number of rows that its charts may have, ``column`` that of the strata,
    ``terms`` what a preset calls metrics.
    """
    blocks: list[tree.Block] = []
    if section.groups:
        blocks += feature_tables(
            section, _MOST_GROUPS_FULL, len(section.rates), full=True, terms=terms
        )
    charts, common = _common_notes(list(_charts(section, room)))
    if charts:
        ratios = all(chart.unit is tree.Unit.RATIO for chart in charts)
        what = "ratios to" if ratios else "differences from"
        title = f"Charts of {what} {metric_blocks.reference_of(section)}, metric by metric"
        notes = [tree.Paragraph(note, tree.Tone.SOFT) for note in common]
        blocks.append(tree.Section(f"charts-{i}", title, (*notes, *charts), folded=True))
    blocks += strata_blocks(section, i, column, report)
    if section.pairs:
        blocks.append(metric_blocks.pairs_section(section, i, max(3, room // 10), report))
    if any(group.counts and any(group.counts.values()) for group in section.groups):
        blocks.append(
            tree.Section(
                f"matrices-{i}",
                "Confusion matrices",
                (metric_blocks.confusion_table(section),),
                folded=True,
            )
        )
    missing = missing_values(section.missing)
    if missing:
        blocks.append(tree.Heading("No value"))
        blocks.append(tree.Items(tuple(missing)))
    scope = section.class_scope  # sections of single classes are many
    folded = not (
        scope.kind in (ClassKind.NONE, ClassKind.SELECTION) or scope.average is Average.MACRO
    )
    return tree.Section(f"feature-{i}", called(section.name), tuple(blocks), folded=folded)


def feature_tables(
    section: FeatureResults, most: int, rates: int, *, full: bool, terms: Mapping[str, str]
) -> Iterator[tree.Block]:
    """Yield the tables of one feature: at most so many groups and rates."""
    for i, several in enumerate(_beside(section, rates, full=full)):
        yield metric_blocks.group_table(
            section, most, several, ratios=full, again=i > 0, terms=terms
        )
    other = metric_blocks.other_metrics(section)
    if other:
        yield metric_blocks.metric_table(section, other[:_MOST_METRICS], most, terms, marks=full)
    held = [] if full else conditional(section)
    if held:
        yield tree.Items(tuple(_by_metric(section, held[:_MOST_CONDITIONAL])))
        if len(held) > _MOST_CONDITIONAL:
            more = len(held) - _MOST_CONDITIONAL
            yield tree.Paragraph(f"{more:,} more in the full report.", tree.Tone.SOFT)
    if section.across:
        yield tree.Items(
            tuple(metric_blocks.metric_sentence(each) for each in section.across[:_MOST_METRICS])
        )


def _by_metric(section: FeatureResults, estimates: Sequence[Estimate]) -> Iterator[str]:
    """Yield estimates as sentences, those of a metric after its name."""
    sentences: dict[str, list[str]] = {}
    for each in estimates:
        words = capitalised(metric_words(section.metric_row(each.metric)))
        sentences.setdefault(words, []).append(metric_blocks.metric_sentence(each))
    yield from (f"{words}. {' '.join(found)}" for words, found in sentences.items())


def _beside(section: FeatureResults, most: int, *, full: bool) -> Iterator[list[str]]:
    """Yield the rates of one table each: all of them, or as many as fit beside each other."""
    rates = section.rates[:most]
    if not full:
        yield rates
        return
    found: list[str] = []
    columns = 0
    for rate in rates:
        own = 1 + sum(f"{rate}.{by}" in section.metrics for by in ("difference", "ratio"))
        if found and columns + own > _MOST_COLUMNS:
            yield found
            found, columns = [], 0
        found = [*found, rate]
        columns += own
    yield found


def _charts(section: FeatureResults, room: int) -> Iterator[tree.Chart]:
    rows = min(len(section.groups) or 1, _MOST_CHART_ROWS)
    metrics = [row for row in map(section.metric_row, section.metrics) if metric_link(row)]
    metrics.sort(key=lambda row: (metric_blocks.place_of(row), row.set != "native"))
    most = max(4, room // rows)
    for metric in metrics[:most]:
        yield metric_blocks.metric_chart(section, metric.name)


def _common_notes(charts: list[tree.Chart]) -> tuple[list[tree.Chart], list[str]]:
    """Return charts without the notes that all of them have, if any, and these."""
    noted = [each.notes for each in charts if each.notes]
    if len(noted) < _TWO:
        return charts, []
    common = [note for note in noted[0] if all(note in notes for notes in noted)]
    return [
        replace(each, notes=tuple(note for note in each.notes if note not in common))
        for each in charts
    ], common


_MOST_RATES = 8
_MOST_STRATA = 30
_MOST_ADJUSTED_SENTENCES = 2
_INTERVALS_OF_STRATA = (
    "The confidence intervals of all rows and of the adjusted comparison are simultaneous over all "
    "groups; that of a single stratum is for {}."
)


def strata_blocks(
    section: FeatureResults, i: int, column: str, report: Report
) -> Iterator[tree.Block]:
    """Yield what adjusting a feature for the strata changes, and each stratum."""
    if not section.strata and not section.adjusted:
        return
    tests, elsewhere = tests_within_strata(report.estimates), where_numbers_are(report)
    yield tree.Heading(f"Adjusted for {column} ({len(section.strata):,} strata)")
    single: list[tree.Block] = []
    every = adjustments(section)
    pairs = [p for p in every if unit(p[0].definition) is not tree.Unit.RATIO] or every
    chosen: dict[str, tuple[Estimate, Estimate]] = {}
    for overall, _ in pairs:
        compared = compared_rate(overall.definition)
        if compared and compared.name not in chosen:
            ours = [p for p in pairs if compared_rate(p[0].definition) == compared]
            enough = [p for p in ours if p[0].status is Status.OK] or ours
            chosen[compared.name] = max(enough, key=lambda p: distance(p[0]))
    if len(chosen) > _MOST_ADJUSTED_SENTENCES:
        yield metric_blocks.adjusted_table(section, chosen, column)
    for rate, (overall, adjusted) in chosen.items():
        change = after_adjusting(overall, adjusted)
        if change not in (None, AfterAdjusting.REMAINS) or len(chosen) <= _MOST_ADJUSTED_SENTENCES:
            subject = group_words(overall, one_of_thresholds=section.several_thresholds)
            words = f"{subject}, {section.rate_row(rate).title}: "
            sentence = adjusted_sentence(overall, adjusted, column)
            yield tree.Paragraph(f"{words}{uncertainty(singled_out(overall))} overall. {sentence}")
        inside = _in_strata(section, rate, (overall, adjusted), column, elsewhere, tests)
        if change is AfterAdjusting.REVERSES or len(chosen) == 1:
            yield from inside
        else:
            single += inside
    yield from map(tree.Paragraph, _by_metric(section, conditional(section)[:_MOST_METRICS]))
    if single:
        yield tree.Section(f"strata-{i}", f"By {column}, rate by rate", tuple(single), folded=True)


def _tested_strata(inside: Sequence[Estimate], tests: int) -> str:
    """Return which strata differ by themselves, by the test of the first page, one of so many.

    ``inside`` is the comparison in each stratum that has both sides.
    """
    if not inside:
        return "No stratum has rows of both sides."
    of = adjusted_for_strata(inside, tests)
    if not (found := significant_strata(inside, tests)):
        return f"No single stratum is statistically significant ({of})."
    named = numbers.listing([called(each.stratum) for each in found])
    return f"Statistically significant by itself ({of}): {named}."


def _in_strata(
    section: FeatureResults,
    rate: str,
    pair: tuple[Estimate, Estimate],
    column: str,
    elsewhere: str,
    tests: int,
) -> Iterator[tree.Block]:
    overall, adjusted = pair
    inside = [e for e in section.inside
              if (e.metric, e.group) == (overall.metric, overall.group)]  # fmt: skip
    both, names = with_both_sides(inside), section.strata
    if not are_years(names):  # which are in the order of time
        ranked = sorted(inside, key=lambda each: each.value if each.value is not None else math.inf)
        lower = (overall.value or 0.0) < overall.definition.neutral
        names = [str(each.stratum) for each in (ranked if lower else reversed(ranked))]
        names += [name for name in section.strata if name not in names]
    names = names[:_MOST_STRATA]
    by_name = {str(each.stratum): each for each in inside}
    concluded = adjusted
    if is_of_other_rows(adjusted):  # from which nothing is concluded, its p-value included
        concluded = replace(adjusted, p_adjusted=None)
    shown_inside = [by_name[name] for name in names if name in by_name]
    rows = [
        metric_blocks.chart_row(singled_out(overall), "all rows", emphasis=True),
        *(
            metric_blocks.chart_row(each, group_called(each.stratum, column, apart=False))
            for each in shown_inside
        ),
        metric_blocks.chart_row(singled_out(concluded), f"adjusted for {column}", emphasis=True),
    ]
    more = len(section.strata) - len(names)
    together = any(map(holds_with_others, shown_inside))
    held = "all groups of that stratum together" if together else "a single comparison"
    words = capitalised(metric_words(overall.definition))
    yield tree.Chart(
        f"{words} of {_group(section, overall.group)} by {column}",
        tuple(rows),
        unit(overall.definition),
        neutral(overall.definition),
        link=metric_link(overall.definition),
        notes=(
            *([f"{more:,} more strata {elsewhere}."] if more > 0 else []),
            *(
                [_INTERVALS_OF_STRATA.format(held)]
                if any(map(holds_with_others, map(singled_out, (overall, adjusted))))
                else []
            ),
            _tested_strata(both, len(both) if is_significant(overall) else tests),
        ),
    )
    row = section.rate_row(rate)
    by_key = {(g.stratum, g.group): g for g in section.groups_inside}
    groups = [group.group for group in section.groups[:_MOST_RATES]]
    columns = [tree.Column(column, numeric=False)]
    for group in groups:
        columns += [
            tree.Column(f"{_group(section, group)}, n"), tree.Column(rate_heading(row)),
        ]  # fmt: skip
    table_rows = []
    for name in names:
        cells = [tree.Cell(called(name), name=True)]
        for group in groups:
            found = by_key.get((name, group))
            cells += [
                tree.Cell(numbers.count(size_of_rate(found, rate)) if found else "0"),
                tree.Cell(rate_value(row, found.rates.get(rate)) if found else "-"),
            ]
        table_rows.append(tuple(cells))
    if groups:  # the class with the largest difference has rates of no group of its own
        yield tree.Table(f"{capitalised(row.title)} by {column}", tuple(columns), tuple(table_rows))


def _group(section: FeatureResults, group: str | None) -> str:
    """Return a group, with its feature where its name alone is not clear."""
    return group_called(group, section.feature, apart=False)


_Comparison: TypeAlias = tuple[object, ...]

_MOST_LINES, _MOST_CHARTS = 60, 12
_NAMES = {
    Estimator.LIKELIHOOD: "likelihood",
    Estimator.BOUNDS: "bounds",
    Estimator.VALIDATED: "validated by people of known group",
}


def estimator_blocks(report: Report) -> Iterator[tree.Block]:
    """Yield what estimators assume, and every comparison: those that rules are about as charts.

    Without rules, the comparisons of findings are drawn; all others are a line each.
    """
    every: dict[_Comparison, list[ByEstimator]] = {}
    assumed: dict[Estimator, str] = {}
    for each in report.estimators:
        every.setdefault(_comparison(each), []).append(each)
        assumed.setdefault(each.estimator, assumption(each.interval))
    yield tree.Items(
        tuple(f"{capitalised(_NAMES[name])}: {text}." for name, text in assumed.items())
    )
    limits = {_comparison(each): each for each in report.verdicts}
    stated = limits or dict.fromkeys(_comparison(each.estimate) for each in report.findings)
    drawn = [key for key in stated if key in every][:_MOST_CHARTS]
    for key in drawn:
        yield _chart(every[key], limits.get(key), report)
    lines = [_line(every[key], limits.get(key), report) for key in every if key not in drawn]
    yield tree.Items(tuple(lines[:_MOST_LINES]))
    if len(lines) > _MOST_LINES:
        yield tree.Paragraph(f"{len(lines) - _MOST_LINES:,} more comparisons in the JSON report.")


def _comparison(each: ByEstimator | Estimate | Verdict) -> _Comparison:
    return each.metric, each.feature, each.group, each.class_scope, each.threshold


def _chart(
    estimators: Sequence[ByEstimator], verdict: Verdict | None, report: Report
) -> tree.Chart:
    """Return what every estimator makes of one comparison, on one axis: what decides first."""
    first = estimators[0]
    metric = report.catalogue.metric(first.metric)
    rows = tuple(
        tree.ChartRow(
            capitalised(_NAMES[each.estimator]),
            tree.mark_of(each.value, each.interval),
            _number(each, metric),
            below=capitalised("; ".join(_details(each, verdict))),
            emphasis=each.decides,
        )
        for each in sorted(estimators, key=lambda each: not each.decides)
    )
    return tree.Chart(
        f"{group_called(first.group, first.feature)}: {_of(first, metric)}",
        rows,
        unit(metric),
        neutral(metric),
        allowed=limits_of(verdict.rule) if verdict else None,
        link=metric_link(metric),
    )


def _line(estimators: Sequence[ByEstimator], verdict: Verdict | None, report: Report) -> str:
    first = estimators[0]
    metric = report.catalogue.metric(first.metric)
    parts = [
        ", ".join([f"{_NAMES[each.estimator]} {_number(each, metric)}", *_details(each, verdict)])
        for each in estimators
    ]
    return f"{printable(first.group)}, {_of(first, metric)}: {'; '.join(parts)}."


def _of(each: ByEstimator, metric: Metric) -> str:
    where = "" if each.threshold is None else f", threshold {each.threshold:g}"
    return f"{metric_words(metric)}{where}"


def _number(each: ByEstimator, metric: Metric) -> str:
    interval = metric_ci(metric, each.interval)
    if each.value is None:
        return f"{interval}{unit_name(unit(metric))}"
    return f"{metric_value(metric, each.value)} ({interval})"


def _details(each: ByEstimator, verdict: Verdict | None) -> Iterator[str]:
    """Yield whether an estimator decides, how precise it is, and how wrong it may be."""
    if each.decides:
        yield "decides"
    if each.effective_people is not None:
        yield f"as precise as {each.effective_people:,} people of known group"
    if each.tipping_slope is not None and abs(each.tipping_slope) <= 1:
        bounds = (0.0,) if verdict is None else limits_of(verdict.rule)
        inside = any(each.interval.low < bound < each.interval.high for bound in bounds)
        limit = "no difference" if verdict is None else "the limit of the rule"
        yield (
            f"its CI would {'exclude' if inside else 'reach'} {limit} if, within a group, the rate "
            f"{'rose' if each.tipping_slope > 0 else 'fell'} by "
            f"{with_unit(abs(each.tipping_slope), tree.Unit.POINTS)} from a probability of 0 to 1"
        )
