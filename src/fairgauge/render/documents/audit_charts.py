"""Charts of an audit: the gaps and the rates of its groups, a chart for each metric or rate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fairgauge.enums import Status
from fairgauge.render import _document_tree as tree
from fairgauge.render.grammar import spoken
from fairgauge.render.page import first_page, rule_grid
from fairgauge.render.words import metric_words as metrics
from fairgauge.render.words import numbers
from fairgauge.render.words.display_names import called, capitalised
from fairgauge.render.words.verdict_sentences import reference_name
from fairgauge.results.report import Report
from fairgauge.statements.sections import FeatureResults, on_one_screen, sections_of


def plots(report: Report) -> dict[str, Iterable[tree.Block]]:
    """Return what can be plotted of an audit, by kind; nothing is made before it is asked for."""
    shown = on_one_screen(sections_of(report))
    return {"gaps": gap_charts(shown), "rules": _rules(report), "rates": _rate_charts(shown)}


def _rules(report: Report) -> Iterator[tree.Block]:
    if (grid := rule_grid(first_page(report))) is not None:
        yield grid


def gap_charts(sections: Sequence[FeatureResults]) -> Iterator[tree.Chart]:
    """Yield a chart for each metric that compares groups, with the groups of all features."""
    for metric in dict.fromkeys(metric for each in sections for metric in each.metrics):
        found = [(section, each) for section in sections for group in section.groups
                 if (each := section.find(metric, group.group)) is not None]  # fmt: skip
        row = found[0][1].definition
        apart = len({section.key for section, _ in found}) > 1
        than = {called(reference_name(each.reference)) for _, each in found if each.reference}
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
                    metrics.marked(metrics.estimate_value(each), each),
                    metrics.metric_ci(row, each.interval),
                )
                for section, each in found
            ),
            metrics.unit(row),
            None if row.neutral != row.neutral else row.neutral,
        )


def _rate_charts(sections: Sequence[FeatureResults]) -> Iterator[tree.Chart]:
    for name in dict.fromkeys(rate for each in sections for rate in each.rates):
        of = [section for section in sections if name in section.rates]
        row = of[0].rate_row(name)
        rows = []
        for section in of:
            for group in section.groups:
                if (rate := group.rates.get(name)) is None:
                    continue
                low, high = rate.interval or (None, None)
                text = metrics.rate_value(row, rate) + "%" * row.is_share
                n = "" if rate.denominator is None else f"n = {numbers.count(rate.denominator)}"
                label = _label(section, group.group, apart=len(of) > 1)
                mark = tree.Mark(rate.value, low, high, sparse=rate.reason is not None)
                rows.append(tree.ChartRow(label, mark, text, n))
        yield tree.Chart(capitalised(metrics.titled(row.title)), tuple(rows), metrics.unit(row))


def _label(section: FeatureResults, group: str | None, *, apart: bool) -> str:
    # a group, with its feature where several features, or several classes of one, are in a chart
    return f"{called(section.name)}: {called(group)}" if apart else called(group)
