"""Blocks of a report about its metrics: tables of groups, charts with intervals, pairs."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from fairgauge.catalogue.catalogue import CENTRAL_RATES
from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.lookup import BUILT_IN
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import ClassKind, DiagnosticCode, ReferenceKind, Status
from fairgauge.render import _document_tree as tree
from fairgauge.render.documents._document_parts import table_of_rows
from fairgauge.render.words import numbers
from fairgauge.render.words.diagnostic_sentences import describe_diagnostic
from fairgauge.render.words.display_names import called, capitalised, printable, shorten
from fairgauge.render.words.estimate_sentences import assumption, reference_name
from fairgauge.render.words.finding_sentences import whom_compared
from fairgauge.render.words.glossary import anchor, metric_link
from fairgauge.render.words.metric_words import (
    abbreviations,
    compared_rate,
    estimate_value,
    holds_with_others,
    marked,
    metric_heading,
    metric_range,
    metric_words,
    neutral,
    published_value,
    rate_heading,
    rate_text,
    rate_value,
    ratio_heading,
    shown_ends,
    shown_range,
    signed,
    unit,
    unit_name,
)
from fairgauge.render.words.reason_sentences import (
    INSUFFICIENT,
    describe_reason,
    insufficiency,
    why_insufficient,
)
from fairgauge.results.disparities import distance, is_significant, singled_out
from fairgauge.results.estimates import Estimate, Group, GroupPair
from fairgauge.results.finding import Finding
from fairgauge.results.report import Report
from fairgauge.results.scopes import Reference
from fairgauge.results.sections import (
    FeatureResults,
    gravest_groups,
    reference_group,
    size_beside_rates,
)

_MOST_FINDING_ROWS = 8
_MOST_GROUPS = 200
_MOST_CHART_ROWS = 24
_MOST_PAIRS = 30
_MOST_LINKED = 24
_LARGE = 10
"""The value from which on a column of a table has one decimal."""
_OVERALL = "overall"
SIGNIFICANT = "* statistically significant (adjusted for all comparisons)"
DIFFERENCE = "diff."
OTHERS = "all other groups"
TOGETHER = "The confidence intervals are simultaneous: they hold for all comparisons together."
BY_ITSELF = (
    "Each confidence interval is for a single comparison; statistical significance is based on the "
    "adjusted p-value, so an interval can exclude “no difference” without being significant."
)


def finding_chart(finding: Finding, section: FeatureResults, counted: str) -> tree.Chart:
    """Return the differences of all groups in the rate of a finding, its own group first.

    ``counted`` is what the rate is a share of: rows, or people.
    """
    metric = finding.metric
    definition = finding.estimate.definition
    of_rate = [each for each in section.estimates if each.metric == metric]
    ranked = sorted(
        of_rate if finding.estimate.mirror_of is None else [finding.estimate],
        key=lambda e: (
            e.group != finding.group,
            e.status is Status.TOO_FEW,
            -distance(e),
        ),
    )
    rows = [
        chart_row(
            singled_out(each),
            _group_and_rates(each),
            emphasis=each.group == finding.group,
        )
        for each in ranked[:_MOST_FINDING_ROWS]
    ]
    return tree.Chart(
        f"{capitalised(metric_words(definition))}, groups of {called(section.name)}",
        tuple(rows),
        unit(definition),
        neutral(definition),
        link=metric_link(definition),
        notes=(
            *_meaning(compared_rate(definition), counted),
            *([TOGETHER] if any(map(holds_with_others, map(singled_out, ranked))) else []),
            *adjustment_note(section, metric),
        ),
    )


def _meaning(rate: Statistic | None, counted: str) -> tuple[str, ...]:
    """Return what a rate is, as a sentence; that of a user is in the words of its user."""
    if rate is None or not rate.says:
        return ()
    ours = rate.name in {each.name for each in BUILT_IN.rates}
    text = rate.says.replace("rows", counted) if ours else rate.says
    return (f"{capitalised(rate.title)}: {text}.",)


def adjustment_note(section: FeatureResults, metric: str) -> tuple[str, ...]:
    """Return that the p-values of a metric are adjusted, and for what."""
    own = (each for each in section.estimates if each.metric == metric)
    adjusted = any(each.p_adjusted not in (None, each.p_value) for each in own)
    return ("p-values adjusted for all comparisons of the report.",) if adjusted else ()


def interval_note(shown_estimates: Iterable[Estimate]) -> tuple[str, ...]:
    """Return whether the intervals that are shown hold together, or each by itself.

    Nothing of single comparisons: their p-values are those of one comparison, too.
    """
    having = [each for each in shown_estimates if each.interval is not None]
    if together := [each for each in having if holds_with_others(each)]:
        named = numbers.listing(
            [called(f) for f in dict.fromkeys(e.feature or "" for e in together)]
        )
        held = f"those of {named} hold for all groups together" if named else "they hold together"
        alone = "; each of the others is for a single comparison" * (len(together) < len(having))
        return (f"Simultaneous confidence intervals: {held}{alone}.",)
    several = any(each.p_adjusted not in (None, each.p_value) for each in having)
    return (BY_ITSELF,) if several else ()


def _group_and_rates(each: Estimate) -> str:
    name, rate = _group_and_class(each), compared_rate(each.definition)
    if rate is None or each.rate_group is None or each.rate_reference is None:
        return name
    return f"{name}: {rate_text(rate, each.rate_group)} vs {rate_text(rate, each.rate_reference)}"


def _group_and_class(each: Estimate) -> str:
    """Return the group, with the class where each group has one of its own: the worst."""
    worst = each.class_scope.kind is ClassKind.WORST and each.class_ is not None
    return f"{called(each.group)} (class {called(each.class_)})" if worst else called(each.group)


def metric_chart(section: FeatureResults, metric: str) -> tree.Chart:
    """Return a metric of every group of a section, on one axis."""
    found = [each for each in section.estimates if each.metric == metric]
    kept = found
    if len(found) > _MOST_CHART_ROWS:
        far = {id(e) for e in sorted(found, key=distance, reverse=True)[:_MOST_CHART_ROWS]}
        kept = [each for each in found if id(each) in far]
    kept = [singled_out(each) if each.simultaneous else each for each in kept]
    more = len(found) - len(kept)
    definition = section.metric_row(metric)
    return tree.Chart(
        capitalised(metric_words(definition)),
        tuple(chart_row(each, _group_and_class(each)) for each in kept),
        unit(definition),
        neutral(definition),
        link=metric_link(definition),
        notes=(
            *([f"The {len(kept)} groups of {len(found):,} with the largest differences."]
              if more else []),
            *interval_note(kept),
            *adjustment_note(section, metric),
        ),
    )  # fmt: skip


def chart_row(each: Estimate, label: str, *, emphasis: bool = False) -> tree.ChartRow:
    """Return an estimate as a row of a chart; where nothing is tested, without a p-value."""
    below = [numbers.probability(each.p_adjusted, "adjusted p")]
    if each.status is Status.TOO_FEW:
        below.append(why_insufficient(each.reason))
    ends = metric_range(each.definition, each.low, each.high)
    text = estimate_value(each) + unit_name(unit(each.definition))
    return tree.ChartRow(
        label,
        _mark(each),
        f"{text} ({ends})" if ends else text,
        below=", ".join(filter(None, below)),
        emphasis=emphasis,
    )


def _mark(each: Estimate) -> tree.Mark:
    return tree.mark_of(each.value, each.interval, sparse=each.status is Status.TOO_FEW)


def adjusted_table(
    section: FeatureResults, pairs: Mapping[str, tuple[Estimate, Estimate]], column: str
) -> tree.Table:
    """Return the largest difference of each rate over all rows and adjusted for the strata."""

    def with_range(each: Estimate) -> tree.Cell:
        each = singled_out(each)
        return tree.Cell(marked(estimate_value(each), each), below=_range_of(each))

    table = table_of_rows(
        "Largest difference in each rate",
        pairs.items(),
        (tree.Column("rate", numeric=False), lambda of: section.rate_row(of[0]).title),
        (
            tree.Column(called(section.name), numeric=False),
            lambda of: tree.Cell(called(of[1][0].group), name=True),
        ),
        ("overall", lambda of: with_range(of[1][0])),
        (f"adjusted for {column}", lambda of: with_range(of[1][1])),
    )
    cells = [cell.text for row in table.rows for cell in row]
    marks = legend(cells, [each for pair in pairs.values() for each in pair], shares=True)
    of_whom = [
        f"{capitalised(section.rate_row(rate).title)}, adjusted for {column}: {among}."
        for rate, pair in pairs.items()
        if (among := whom_compared(*pair))
    ]
    return replace(table, notes=("   ".join(marks), *of_whom))


def _range_of(each: Estimate) -> str:
    ends = metric_range(each.definition, each.low, each.high)
    return f"({ends})" if ends else ""


def group_table(
    section: FeatureResults,
    most: int,
    rates: Sequence[str],
    *,
    ratios: bool,
    terms: Mapping[str, str],
    again: bool = False,
) -> tree.Table:
    """Return the rates of the groups of a section, each with its difference from the reference.

    ``ratios`` is whether ratios stand beside differences; those that a preset has a term for always
    do. ``again`` is whether a table of other rates stands before.
    """
    groups = _shown_groups(section, most)
    columns = [_feature_column(section), tree.Column("n")]
    against = _heading_of_reference(section) if ratios else DIFFERENCE
    compared: list[tuple[str, bool, bool]] = []
    for rate in rates:
        has = [
            any(section.find(f"{rate}.{by}", group.group) for group in groups)
            for by in ("difference", "ratio")
        ]
        ratio = f"{rate}.ratio"
        has[1] = has[1] and (ratios or not has[0] or ratio in terms)
        compared.append((rate, has[0], has[1]))
        columns.append(
            tree.Column(
                terms.get(rate) or rate_heading(section.rate_row(rate)), link=anchor("rate", rate)
            )
        )
        columns += [tree.Column(against, joined=True)] if has[0] else []
        if has[1]:
            heading = terms.get(ratio) or ratio_heading(section.metric_row(ratio))
            columns.append(tree.Column(heading, joined=True))
    rows = [_group_cells(section, group, compared, terms) for group in groups]
    totals = [_group_cells(section, section.total, compared, terms)] if section.total else []
    cells = [cell.text for row in rows for cell in row]
    rows_of_rates = [section.rate_row(rate) for rate in rates]
    shares = any(rate.is_share for rate in rows_of_rates)
    differences = any(has for _, has, _ in compared)
    notes: list[str] = []
    if ratios:
        notes += legend(cells, section.estimates, shares=shares, differences=differences)
        notes += filter(None, [abbreviations(rows_of_rates)])
        notes += mirror_notes([section])
    if len(section.groups) > len(groups):
        more = len(section.groups) - len(groups)
        where = "the JSON report" if ratios else "the whole report (--full, HTML, JSON)"
        notes.append(f"{_which_groups(section, most)}, {more:,} more in {where}")
    return tree.Table(
        f"Groups of {called(section.name)}{', further rates' if again else ''}",
        tuple(columns),
        tuple(rows),
        tuple(totals),
        notes=("   ".join(notes),) if notes else (),
    )


def _feature_column(section: FeatureResults) -> tree.Column:
    """Return the heading of a column of groups; "≈" marks those that only probabilities state."""
    estimated = any(assumption(each.interval) for each in section.estimates)
    return tree.Column(called(section.name) + (" ≈" if estimated else ""), numeric=False)


def mirror_notes(sections: Iterable[FeatureResults]) -> tuple[str, ...]:
    """Return that one of two groups mirrors the other, whose comparison stands for both."""
    sides = dict.fromkeys((e.group, e.mirror_of) for each in sections for e in each.mirrors)
    return tuple(f"{called(one)} mirrors {called(other)}" for one, other in sides)


def _shown_groups(section: FeatureResults, most: int) -> list[Group]:
    """Return the groups that every table of a section has: all in order, or the gravest first."""
    return section.groups if len(section.groups) <= most else gravest_groups(section, most)


def _which_groups(section: FeatureResults, most: int) -> str:
    """Return which of many groups a table has, where it has not all of them."""
    differ = any(is_significant(each) for each in section.estimates)
    if not (section.fails or section.leads or differ):
        return f"the {most} largest groups"
    return (
        f"{most} of {len(section.groups):,} groups, those that fail a rule or differ statistically "
        "significantly first, then the largest"
    )


def legend(
    cells: Iterable[str], of: Iterable[Estimate], *, shares: bool, differences: bool = True
) -> Iterator[str]:
    """Yield what the marks of a table mean, those that it has.

    ``of`` are its estimates, whose reasons a question mark stands for. ``shares`` and
    ``differences`` are whether it has shares of rows, and differences of these.
    """
    endings = {text[-1:] for text in cells}
    if "*" in endings:
        yield SIGNIFICANT
    if "?" in endings:
        yield f"? {insufficiency(each.reason for each in of if each.status is Status.TOO_FEW)}"
    if shares:
        yield "rates in %, differences in pp" if differences else "rates in %"


def _only_reference(section: FeatureResults) -> Reference | None:
    """Return what the groups of a section are compared with, where that is one reference."""
    references = {each.reference for each in section.estimates if each.reference}
    return references.pop() if len(references) == 1 else None


def _heading_of_reference(section: FeatureResults) -> str:
    only = _only_reference(section)
    return f"vs {shorten(called(reference_name(only)), 20)}" if only else "vs reference"


def reference_of(section: FeatureResults) -> str:
    """Return what the groups of a section are compared with, in words."""
    if (only := _only_reference(section)) is None:
        return "the reference"
    named = {ReferenceKind.OTHERS: OTHERS, ReferenceKind.OVERALL: "all rows"}
    return named.get(only.kind) or called(reference_name(only))


def _group_cells(
    section: FeatureResults,
    group: Group,
    compared: Sequence[tuple[str, bool, bool]],
    terms: Container[str],
) -> tuple[tree.Cell, ...]:
    total = group.reference_kind is ReferenceKind.OVERALL
    reference = "reference" if len(compared) == 1 else "ref."  # a wide table has no room for it
    cells = [tree.Cell(_OVERALL if total else called(group.group), name=not total)]
    cells.append(tree.Cell(numbers.count(size_beside_rates(group, section.catalogue))))
    for rate, difference, ratio in compared:
        cells.append(tree.Cell(rate_value(section.rate_row(rate), group.rates.get(rate))))
        for by, has in (("difference", difference), ("ratio", ratio)):
            if has:
                metric = f"{rate}.{by}"
                each = None if total else section.find(metric, group.group)
                own = not total and group.group == reference_group(section, metric)
                write = published_value if metric in terms else estimate_value
                cells.append(
                    tree.Cell(marked(write(each), each) if each else reference if own else "")
                )
    return tuple(cells)


def _decimals(section: FeatureResults, metric: str) -> int:
    """Return how many decimals a column of a metric has: fewer where a value is large."""
    values = [abs(each.value) for each in section.estimates
              if each.metric == metric and each.value is not None]  # fmt: skip
    large = max(filter(math.isfinite, values), default=0.0) >= _LARGE
    return 1 if large else 3


def _value_in_column(each: Estimate, decimals: int) -> str:
    """Write a value with as many decimals as the others of its column have."""
    value = each.value
    if (
        value is None
        or math.isinf(value)
        or abs(value) >= 1_000
        or unit(each.definition) is not (tree.Unit.NUMBER)
    ):
        return marked(estimate_value(each), each)
    sign = "+" if signed(each.definition) and round(abs(value), decimals) else ""
    text = f"{value:{sign}.{decimals}f}" if sign else f"{abs(value):.{decimals}f}"
    return marked(numbers.minus(text), each)


def other_metrics(section: FeatureResults) -> list[str]:
    """Return the metrics that the table of rates does not hold."""
    found = []
    for metric in section.metrics:
        row = section.metric_row(metric)
        rate = compared_rate(row)
        beside_rate = rate is not None and metric == f"{rate.name}.{getattr(row, 'by', '')}"
        if row.set not in ("native", "own") or not beside_rate:
            found.append(metric)
    return found


def metric_table(
    section: FeatureResults,
    metrics: Sequence[str],
    most: int,
    terms: Mapping[str, str],
    *,
    marks: bool,
) -> tree.Table:
    """Return the values of metrics for every group, with a vendor's names and signs.

    ``marks`` is whether the table explains its own marks.
    """
    having = dict.fromkeys(str(e.group) for e in section.estimates if e.metric in metrics)
    largest = [group.group for group in _shown_groups(section, most)]
    groups = [name for name in largest if name in having] or list(having)[:most]
    decimals = {metric: _decimals(section, metric) for metric in metrics}
    rows = []
    for group in groups:
        found = ((section.find(metric, group), decimals[metric]) for metric in metrics)
        values = [
            tree.Cell(_value_in_column(each, digits) if each else "-") for each, digits in found
        ]
        rows.append((tree.Cell(called(group), name=True), *values))
    columns = [_feature_column(section)]
    columns += [
        tree.Column(
            terms.get(metric) or _code(section.metric_row(metric)), link=anchor("metric", metric)
        )
        for metric in metrics
    ]
    sets = {section.metric_row(metric).set for metric in metrics}
    vendors = [name for key, name in (("clarify", "Clarify"), ("vertex", "Vertex")) if key in sets]
    caption = f"{' and '.join(vendors)} metrics" if vendors else "Other metrics"
    cells = [cell.text for row in rows for cell in row] if marks else []
    notes = "   ".join(legend(cells, section.estimates, shares=False))
    return tree.Table(
        f"{caption} of {called(section.name)}",
        tuple(columns),
        tuple(rows),
        notes=(notes,) if notes else (),
    )


def _code(metric: Metric) -> str:
    return metric_heading(metric) if metric.set == "native" else metric.name


def metric_sentence(each: Estimate) -> str:
    """Return an estimate as a sentence, or why it has no value."""
    words = capitalised(metric_words(each.definition))
    if each.value is None and each.interval is None:
        reason = describe_reason(each.reason) if each.reason else str(each.status)
        return f"{words}: no value, because {reason}."
    says = each.says if each.group else capitalised(each.says)  # "f" and "F" are two groups
    return printable(f"{says}.")


def overview_row(
    section: FeatureResults, group: Group, rates: Sequence[str], at: int
) -> tuple[tree.Cell, ...]:
    """Return a group as a row of the overview: each rate with its difference, drawn."""
    link = f"feature-{at}" if at < _MOST_LINKED else ""
    cells = [
        tree.Cell(called(section.name), name=True, link=link),
        tree.Cell(called(group.group), name=True),
        tree.Cell(numbers.count(size_beside_rates(group, section.catalogue))),
    ]
    for rate in rates:
        found = next((e for e in section.differences(rate) if e.group == group.group), None)
        value = rate_value(section.rate_row(rate), group.rates.get(rate))
        if found is None:
            cells.append(tree.Cell(value))
            continue
        found = singled_out(found)
        tone = tree.Tone.SOFT if not is_significant(found) else tree.Tone.PLAIN
        below = marked(estimate_value(found), found)
        cells.append(tree.Cell(value, below=below, tone=tone, mark=_mark(found)))
    return tuple(cells)


def confusion_table(section: FeatureResults) -> tree.Table:
    """Return the confusion matrices of the groups of a section."""
    having = [group for group in section.groups if group.counts][:_MOST_GROUPS]
    names = ("tp", "fp", "fn", "tn")
    return tree.Table(
        f"Confusion matrices of {called(section.name)}",
        (
            tree.Column("group", numeric=False),
            *(tree.Column(name.upper()) for name in names),
            tree.Column("n"),
        ),
        tuple(
            (
                tree.Cell(called(group.group), name=True),
                *(tree.Cell(numbers.count((group.counts or {}).get(name))) for name in names),
                tree.Cell(numbers.count(sum((group.counts or {}).values()))),
            )
            for group in having
        ),
        notes=("TP, FP, FN, TN: true and false positives, false and true negatives.",),
    )


def pairs_section(section: FeatureResults, i: int, most: int, report: Report) -> tree.Section:
    """Return every pair of groups in the central rates, folded."""
    by_rate: dict[str, list[GroupPair]] = {}
    for pair in section.pairs:
        by_rate.setdefault(pair.rate, []).append(pair)
    blocks: list[tree.Block] = []
    level = 100 * section.pairs[0].difference_interval.level
    notes = [
        capitalised(describe_diagnostic(each)) + "."
        for each in report.diagnostics
        if each.code is DiagnosticCode.HOMOGENEITY and each.feature == section.feature
    ]
    if notes:
        blocks.append(tree.Items(tuple(notes)))
    blocks.append(
        tree.Paragraph(
            "The group with the lower rate is listed first. The confidence intervals of a rate are "
            f"simultaneous at {level:.4g}%, and the p-values are adjusted for all pairs and all "
            "other comparisons of the report."
        )
    )
    for rate, pairs in by_rate.items():
        shown_pairs = pairs[: min(most, _MOST_PAIRS)]
        more = pairs[0].pairs - len(shown_pairs)
        blocks.append(
            tree.Chart(
                f"{capitalised(pairs[0].definition.title)}: {pairs_words(pairs)}",
                tuple(map(_pair_row, shown_pairs)),
                tree.Unit.POINTS,
                0.0,
                link=anchor("rate", rate),
                notes=(f"{more:,} more pairs with smaller differences.",) if more > 0 else (),
            )
        )
    return tree.Section(f"pairs-{i}", "Every pair of groups", tuple(blocks), folded=True)


def pairs_words(pairs: Sequence[GroupPair]) -> str:
    """Return how many pairs of a rate differ significantly."""
    count, of = sum(each.significant for each in pairs), pairs[0].pairs
    verb = "differs" if count == 1 else "differ"
    many = f"{count:,} or more" if count == len(pairs) < of else f"{count:,}" if count else "none"
    return f"{many} of {of:,} pairs {verb} statistically significantly"


def _pair_row(pair: GroupPair) -> tree.ChartRow:
    below = numbers.probability(pair.p_adjusted, "adjusted p")
    interval = pair.difference_interval
    ends = shown_range(interval.low, interval.high, tree.Unit.POINTS, sign=True)
    sparse = pair.status is not Status.OK
    return tree.ChartRow(
        f"{called(pair.group)} vs {called(pair.other)}",
        tree.mark_of(pair.difference, interval, sparse=sparse),
        f"{numbers.points(pair.difference)} pp ({ends})",
        below=f"{below}, {insufficiency([pair.reason])}" if sparse else below,
        emphasis=pair.significant,
    )


def listed_row(each: Estimate, *, strata: bool) -> tuple[tree.Cell, ...]:
    """Return an estimate as a row of the table of all numbers."""
    sizes = [numbers.count(n) for n in (each.n_group, each.n_reference) if n is not None]
    at = f", threshold {each.threshold:g}" if each.threshold is not None else ""
    prefix = "" if each.class_scope.kind is ClassKind.SELECTION else "class "
    of = f", {prefix}{called(each.class_)}" if each.class_ is not None else ""
    of = of or (f", {each.class_scope.average} average" if each.class_scope.average else "")
    where = (
        called(each.stratum)
        if each.stratum is not None
        else ("" if each.scope.kind == "overall" else "adjusted")
    )
    kind = unit(each.definition)
    low, high = shown_ends(each.low, each.high, kind, sign=signed(each.definition)) or ("", "")
    few = each.status is Status.TOO_FEW
    cells = [
        tree.Cell(each.metric, link=metric_link(each.definition)),
        tree.Cell(f"{called(each.feature)}{of}{at}" if each.feature else "all rows", name=True),
        tree.Cell(called(each.group) if each.group is not None else "", name=True),
        tree.Cell(called(reference_name(each.reference)) if each.reference else ""),
        *([tree.Cell(where, name=True)] if strata else []),
        tree.Cell("-" if each.value is None else estimate_value(each) + unit_name(kind)),
        tree.Cell(low),
        tree.Cell(high),
        tree.Cell(numbers.probability(each.p_adjusted, "")),
        tree.Cell(" / ".join(sizes)),
        tree.Cell(insufficiency([each.reason]) if few else status_words(each.status)),
    ]
    return tuple(cells)


def status_words(status: Status) -> str:
    """Return a status as words: ``insufficient data`` where the data are."""
    return INSUFFICIENT if status is Status.TOO_FEW else str(status).replace("_", " ")


def place_of(metric: Metric) -> int:
    """Return the place of a metric among the central rates."""
    rate = compared_rate(metric)
    central = rate is not None and rate.name in CENTRAL_RATES
    return CENTRAL_RATES.index(rate.name) if rate and central else len(CENTRAL_RATES)
