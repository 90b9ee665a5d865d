"""Charts of an audit: the gaps and the rates of its groups, a chart for each metric or rate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from fairgauge.enums import Status
from fairgauge.render import _document_tree as tree
from fairgauge.render.grammar import spoken
from fairgauge.render.page import first_page, rule_grid
from fairgauge.render.words import metric_words as metrics
from fairgauge.render.words import numbers
from fairgauge.render.words.display_names import called, capitalised
from fairgauge.render.words.verdict_sentences import reference_name
from fairgauge.results.estimates import Group
from fairgauge.results.report import Report
from fairgauge.statements.sections import FeatureResults, gravest_groups, on_one_screen, sections_of

_MOST_GROUPS = 12


def plots(report: Report) -> dict[str, Iterable[tree.Block]]:
    """Return what can be plotted of an audit, by kind; nothing is made before it is asked for."""
    shown = on_one_screen(sections_of(report))
    return {"gaps": _gap_charts(shown), "rules": _rules(report), "rates": _rate_charts(shown)}


def _rules(report: Report) -> Iterator[tree.Block]:
    if (grid := rule_grid(first_page(report))) is not None:
        yield grid


def leading_chart(report: Report) -> list[tree.Chart]:
    """Return the chart of the metric that the first finding is of, in reports without rules."""
    first = [each.estimate.metric for each in report.findings[:1]]
    asked = () if report.by_rule else first
    charts = _gap_charts(on_one_screen(sections_of(report)), asked)
    return [each for each in charts if len(each.rows) > 1]


def _gap_charts(
    sections: Sequence[FeatureResults], asked: Iterable[str] | None = None
) -> Iterator[tree.Chart]:
    # a chart for each metric that compares groups, with the gravest groups of all features
    every = dict.fromkeys(metric for each in sections for metric in each.metrics)
    for metric in every if asked is None else asked:
        found = [(section, each) for section in sections for group in _gravest(section)
                 if (each := section.find(metric, group.group)) is not None]  # fmt: skip
        row = found[0][1].definition
        apart = len({section.key for section, _ in found}) > 1
        than = {called(reference_name(each.reference)) for _, each in found if each.reference}
        unit = metrics.unit_name(metrics.unit(row))
        starred = any(metrics.marked("", each) == "*" for _, each in found)
        title = spoken().say("gap_chart", "text", metric=metrics.metric_words(row),
                             than=than.pop() if len(than) == 1 else "")  # fmt: skip
        yield tree.Chart(
            capitalised(title or ""),
            tuple(
                tree.ChartRow(
                    _label(section, each.group, apart=apart),
                    tree.Mark(
                        each.value, each.low, each.high, sparse=each.status is Status.TOO_FEW
                    ),
                    metrics.marked(metrics.estimate_value(each) + unit, each),
                    metrics.metric_ci(row, each.interval),
                )
                for section, each in found
            ),
            metrics.unit(row),
            None if math.isnan(row.neutral) else row.neutral,
            notes=(spoken().terms["legend"]["significant"],) * starred,
        )


def _rate_charts(sections: Sequence[FeatureResults]) -> Iterator[tree.Chart]:
    for name in dict.fromkeys(rate for each in sections for rate in each.rates):
        of = [section for section in sections if name in section.rates]
        row = of[0].rate_row(name)
        rows = []
        for section in of:
            for group in _gravest(section):
                if (rate := group.rates.get(name)) is None:
                    continue
                low, high = rate.interval or (None, None)
                text = metrics.rate_value(row, rate) + "%" * row.is_share
                n = "" if rate.denominator is None else f"n = {numbers.count(rate.denominator)}"
                label = _label(section, group.group, apart=len(of) > 1)
                mark = tree.Mark(rate.value, low, high, sparse=rate.reason is not None)
                rows.append(tree.ChartRow(label, mark, text, n))
        yield tree.Chart(capitalised(metrics.titled(row.title)), tuple(rows), metrics.unit(row))


def _gravest(section: FeatureResults) -> list[Group]:
    few = len(section.groups) <= _MOST_GROUPS
    return section.groups if few else gravest_groups(section, _MOST_GROUPS)


def _label(section: FeatureResults, group: str | None, *, apart: bool) -> str:
    # a group, with its feature where several features, or several classes of one, are in a chart
    return f"{called(section.name)}: {called(group)}" if apart else called(group)
