"""What every estimator makes of comparisons of groups that nobody recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from fairgauge.catalogue.comparisons import Metric
from fairgauge.enums import Estimator
from fairgauge.question.rules import limits_of
from fairgauge.render import _document_tree as tree
from fairgauge.render.words.display_names import capitalised, group_called, printable
from fairgauge.render.words.estimate_sentences import assumption
from fairgauge.render.words.glossary import metric_link
from fairgauge.render.words.metric_words import (
    metric_ci,
    metric_value,
    metric_words,
    neutral,
    unit,
    unit_name,
    with_unit,
)
from fairgauge.results.estimates import ByEstimator, Estimate
from fairgauge.results.report import Report
from fairgauge.results.verdicts import Verdict

_Comparison: TypeAlias = tuple[object, ...]

_MOST_LINES, _MOST_CHARTS = 60, 12
_NAMES = {
    Estimator.LIKELIHOOD: "likelihood",
    Estimator.WEIGHTED: "weighted by probability",
    Estimator.BRACKET: "bracket of likelihood and weighted",
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
