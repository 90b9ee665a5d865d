"""The rules of a report in words: their metrics and limits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Decide
from fairgauge.errors import SpecError
from fairgauge.question.rules import Rule, limits_of, parse_rule
from fairgauge.render._document_tree import Unit
from fairgauge.render.words import numbers
from fairgauge.render.words.display_names import called
from fairgauge.render.words.metric_words import metric_words, unit
from fairgauge.results.report import Report

if TYPE_CHECKING:
    from fairgauge.results.monitor_results import MonitorReport

_DECIDED = {Decide.SIGNIFICANT: "fails only if significant"}


def rules_of(report: Report) -> dict[str, Rule]:
    """Return the rules of a report by their text."""
    rules: dict[str, Rule] = {}
    for keys in report.spec.get("rules", ()):
        others = tuple(map(_rule, keys.get("alternatives", ())))
        rule = replace(
            _rule(keys), alternatives=others, decide=Decide(keys.get("decide", Decide.INTERVAL))
        )
        same = rules.setdefault(str(rule), rule)
        if same.decide is not rule.decide:  # of several groups in several ways: each row states it
            rules[str(rule)] = replace(rule, decide=Decide.INTERVAL)
    return rules


def _rule(keys: Mapping[str, Any]) -> Rule:
    return Rule(keys["metric"], keys.get("at_least", -math.inf), keys.get("at_most", math.inf))


def written_rule_words(text: str, metric: Metric | Statistic | None = None) -> str:
    """Return the text form of a rule in words; the metric may be a user's own, which none finds."""
    try:
        rule = parse_rule(text)
    except SpecError:
        return called(text) if metric is None else _own_words(text, metric)
    return rule_words(rule, text, metric or rule.row)


def _own_words(text: str, metric: Metric | Statistic) -> str:
    return limit_words(Rule(metric.name, *limits_of(text)), metric)


def monitored_rules(report: MonitorReport) -> dict[str, str]:
    """Return the rules of a monitor in words by their text: limits, or how near a baseline."""
    metrics = {each.rule: each.definition for each in report.comparisons}
    words: dict[str, str] = {}
    for keys in report.spec["monitor"]["rules"]:
        if source := keys.get("source"):
            near = keys["within"]
            words |= {
                text: f"{metric_words(row)} within {limit_text(near, row)} of {called(source)}"
                for text, row in metrics.items()
                if text == f"{row.name} within {near:g} of {source}"
            }
    others = [*metrics, *(each.rule for each in report.unmatched)]
    return {text: words.get(text) or written_rule_words(text, metrics.get(text)) for text in others}


def rule_words(rule: Rule | None, text: str, metric: Metric | Statistic) -> str:
    """Return a rule with its metrics and limits in words: ``selection rate ratio >= 0.8``.

    Where the interval alone does not decide, what does follows in brackets.
    """
    if rule is None:
        return called(text)
    limits = (limit_words(rule, metric), *(limit_words(r, r.row) for r in rule.alternatives))
    decided = _DECIDED.get(rule.decide)
    return f"{' or '.join(limits)}{f' ({decided})' if decided else ''}"


def limit_words(rule: Rule, metric: Metric | Statistic) -> str:
    """Return one limit of a rule in words: ``|selection rate difference| <= 10 pp``."""
    words = metric_words(metric)
    low, high = (limit_text(end, metric) for end in (rule.low, rule.high))
    if rule.low == -rule.high and math.isfinite(rule.high):
        return f"|{words}| <= {high}"
    if math.isinf(rule.high):
        return f"{words} >= {low}"
    return f"{words} <= {high}" if math.isinf(rule.low) else f"{low} <= {words} <= {high}"


def limit_text(value: float, metric: Metric | Statistic) -> str:
    """Return a limit of a rule as it was written, in the unit of the metric: ``10 pp``."""
    if unit(metric) is Unit.POINTS:
        return numbers.minus(f"{100 * value:g} pp")
    if unit(metric) is Unit.PERCENT:
        return f"{100 * value:g}%"
    return numbers.minus(f"{value:g}")
