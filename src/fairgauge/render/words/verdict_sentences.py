"""Estimates and verdicts in words: of whom, with which uncertainty, and why."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fairgauge.catalogue.across import Across, is_of_one_group
from fairgauge.catalogue.cells import ALL
from fairgauge.catalogue.comparisons import Contrast, is_of_all_groups
from fairgauge.catalogue.directions import is_ratio, is_reference_first
from fairgauge.catalogue.statistics import Blend, Rate, Statistic
from fairgauge.enums import ClassKind, IntervalMethod, Outcome, ScopeKind, Status
from fairgauge.question import rules
from fairgauge.reasons import ReasonCode
from fairgauge.render._document_tree import Unit
from fairgauge.render.grammar import in_words, spoken
from fairgauge.render.words import metric_words as metrics
from fairgauge.render.words.display_names import called, capitalised, group_called, printable
from fairgauge.render.words.numbers import listing
from fairgauge.results.estimates import Estimate
from fairgauge.results.report import Report
from fairgauge.results.scopes import OVERALL, ClassScope, Interval, Reference, Scope
from fairgauge.results.verdicts import Verdict, before_counting
from fairgauge.statements.audit import judged_estimate, needed

_MOST_LINES, _MOST_NAMED = 20, 3
_DECIDED = (Outcome.PASS, Outcome.FAIL)


def describe_verdict(verdict: Verdict) -> str:
    """Return why a verdict is what it is, as a sentence without the rule and the group."""
    g, reason = spoken(), verdict.reason
    if reason.code is ReasonCode.FEW_ROWS and isinstance(verdict.definition, Statistic):
        reason = reason.on("group")  # a rule on a rate of one group has no other side
    metric, held = verdict.definition, held_against(verdict)
    rate, ratio = metrics.compared_rate(metric), is_ratio(metric) or None
    facts: dict[str, object] = {
        "measured": f"{metrics.metric_words(metric)} {g.cell(held)}" if held != "-" else "",
        "why": g.reason(reason, **_facts_in_units(verdict)), "needed": needed(reason),
        "where": place_words(verdict.class_scope, verdict.threshold), "group": verdict.group,
        "of": rate.among.described if isinstance(rate, Rate) and rate.among != ALL else "rows",
        "detectable": reason.get("detectable" if ratio is None else "detectable_ratio"),
        "ratio": ratio, "remains": verdict.remains, "assumed": assumption(verdict.interval),
    }  # fmt: skip
    return g.say("because", "says", **facts) or ""


def _facts_in_units(verdict: Verdict) -> dict[str, object]:
    known: dict[str, Any] = dict(verdict.reason.parameters)
    metric, cell = verdict.definition, spoken().cell
    found = _may_lack(verdict)
    for end in ("limit", "second", "low", "high"):
        if (value := known.get(end)) is not None:
            limit = metrics.limit_text(value, metric) if end in ("limit", "second") else None
            found[end] = cell(limit or metrics.metric_value(metric, value, limits_of(verdict)))
    return found


def _may_lack(verdict: Verdict) -> dict[str, object]:
    needs = verdict.definition.needs if verdict.definition else ()
    roles = spoken().terms["role"]
    outcomes = [roles[need] for need in ("label", "prediction", "score") if need in needs]
    feature = verdict.feature and called(verdict.feature)
    return {"lacking": spoken().listing(outcomes, "or"), "of_feature": feature}


def held_against(verdict: Verdict) -> str:
    """Return the value that a rule was held against, with its interval; a dash without one."""
    metric, limits = verdict.definition, limits_of(verdict)
    value = "" if verdict.value is None else metrics.metric_value(metric, verdict.value, limits)
    if verdict.interval is None:
        return value or "-"
    low, high = verdict.interval
    ends = metrics.metric_range(metric, low, high, limits)
    level = f"{100 * verdict.interval.level:g}% CI"
    unit = metrics.unit_name(metrics.unit(metric))
    return f"{value}, {level} {ends}" if value else f"{level} {ends}{unit}"


def limits_of(verdict: Verdict) -> tuple[float, ...]:
    """Return the finite limits that the value of a verdict is held against."""
    return tuple(filter(math.isfinite, rules.limits_of(verdict.rule)))


def rule_lines(report: Report, terms: Mapping[str, str] | None = None) -> Iterator[tuple[str, str]]:
    """Yield every rule with what it comes to and for whom, the gravest outcome first.

    ``terms``: what a preset calls metrics.
    """
    g = spoken()
    for rule in report.by_rule:
        outcomes: dict[Outcome, list[str]] = {}
        for each in rule.verdicts:
            outcome, reason = before_counting(each), each.reason
            decided = outcome in _DECIDED or reason.code is ReasonCode.CROSSES
            held = g.cell(held_against(each).removeprefix("-"))
            place = place_words(each.class_scope, each.threshold)
            details = [held, place, "" if decided else g.reason(reason, **_may_lack(each))]
            name = verdict_name(each, report, apart=False)
            outcomes.setdefault(outcome, []).append(f"{name} ({'; '.join(filter(None, details))})")
        texts = []
        for outcome, names in outcomes.items():
            listed = g.listing(names, "and", _MOST_NAMED)
            texts.append(f"{in_words(verdict_word(outcome)).upper()} {g.terms['for']} {listed}")
        of, words = rule.worst.definition, metrics.rule_in_words(report, rule)
        if own := (terms or {}).get(of.name):
            words = words.replace(metrics.metric_words(of), own)
        yield g.cell(words), "; ".join(texts)


def verdict_rows(report: Report) -> Iterator[dict[str, object]]:
    """Yield every rule with its verdicts, the gravest first."""
    for rule in report.by_rule:
        rows = [
            {
                "group": verdict_name(each, report),
                "held": held_against(each),
                "outcome": before_counting(each),
                "evidence": printable(capitalised(describe_verdict(each))),
            }
            for each in rule.verdicts
        ]
        title = spoken().cell(metrics.rule_in_words(report, rule))
        yield {"title": capitalised(title), "verdicts": rows}


def verdict_name(verdict: Verdict, report: Report, *, apart: bool = True) -> str:
    """Return the group of a verdict, or the two that it is of; the feature where it has none."""
    groups = judged_groups(report, verdict)
    if len(groups) == 1:
        return group_called(*groups, verdict.feature, apart=apart)
    return listing([*map(called, groups)]) or called(verdict.feature or "all")


def judged_groups(report: Report, verdict: Verdict) -> tuple[str, ...]:
    """Return the group of a verdict; of a metric of all groups, both that are furthest apart.

    None where there are no groups, or the metric names no pair of them.
    """
    of_two = is_of_all_groups(verdict.definition) and not is_of_one_group(verdict.definition)
    if verdict.group is None or not of_two:
        return () if verdict.group is None else (verdict.group,)
    estimate = judged_estimate(verdict, report.estimates)
    if estimate is None or estimate.reference is None:
        return ()
    return verdict.group, reference_name(estimate.reference)


def describe_unmet(report: Report, verdicts: Sequence[Verdict]) -> str:
    """Return why a report does not meet its rules: a heading, and a line for each verdict."""
    heading = spoken().say("because", "unmet", n=len(verdicts), of=len(report.verdicts)) or ""
    lines = [heading, *(describe_outcome(report, each) for each in verdicts[:_MOST_LINES])]
    if (more := len(verdicts) - _MOST_LINES) > 0:
        lines.append(spoken().terms["more"].format(first="", n=more).strip())
    return "\n".join(lines)


def describe_outcome(report: Report, verdict: Verdict) -> str:
    """Return a verdict in one line: its outcome, its rule, its groups and why."""
    of = ": ".join(filter(None, (verdict.feature, listing(judged_groups(report, verdict)))))
    outcome, rule = in_words(verdict_word(verdict.outcome)).upper(), verdict.rule
    return printable(f"{outcome} {rule}{f', {of}' if of else ''}: {describe_verdict(verdict)}")


def outcome_word(outcome: Outcome) -> str:
    """Return an outcome as words."""
    return str(outcome).replace("_", " ")


def verdict_word(outcome: Outcome) -> str:
    """Return what a verdict comes to; of a group that its rule ignores, that it does."""
    return "ignored" if outcome is Outcome.NONE else outcome_word(outcome)


def verdict_of_all(report: Report) -> str:
    """Return what all rules come to: ``FAIL: 1 of 2 rules``."""
    outcomes = [each.outcome for each in report.by_rule]
    if not outcomes:
        return ""
    g, counted = spoken(), outcomes.count(report.verdict)
    unevaluated = outcomes.count(Outcome.NOT_EVALUATED)
    facts: dict[str, object] = {"n": counted, "ignored": {*outcomes} == {Outcome.NONE}}
    facts["unevaluated"] = unevaluated * (report.verdict is Outcome.INCONCLUSIVE)
    facts["counted"] = sum(e.reason.code is ReasonCode.COUNTED_AS for e in report.verdicts)
    if facts["unevaluated"] and not counted:
        facts |= {"n": unevaluated, "unevaluated": None}
    word = g.terms["word"][str(report.verdict)]
    return g.say("read", "verdict", word=word, of=len(outcomes), **facts) or ""


def reference_name(reference: Reference | None) -> str:
    """Return a reference as it reads in a sentence."""
    names = spoken().terms["reference"]
    kind = "none" if reference is None else str(reference.kind)
    return str(names[kind]) if kind in names else str(reference)


def versus(reference: Reference | None) -> str:
    """Return what follows the name of a group, `` vs others``; nothing without a reference."""
    return "" if reference is None else f" vs {called(reference_name(reference))}"


def describe(estimate: Estimate) -> str:
    """Return an estimate as a sentence: the group, the comparison, and its uncertainty."""
    if estimate.value is None and estimate.interval is None:
        return ""
    metric: Any = estimate.definition
    reason, interval = estimate.reason, estimate.interval
    g, mine, theirs = spoken(), estimate.rate_group, estimate.rate_reference
    few = estimate.status is Status.TOO_FEW and reason is not None
    stated = interval is None or (reason and reason.code is ReasonCode.STRATA_MISSING)
    across, pooled = isinstance(metric, Across), estimate.scope.kind is ScopeKind.POOLED

    def written(value: float | None) -> str | None:
        return None if value is None else g.cell(metrics.metric_value(metric, value))

    value, title = written(estimate.value), metrics.metric_words(metric)
    facts: dict[str, object] = {"sides": None}
    of_rates = isinstance(metric, Contrast) and not pooled and value is not None
    if of_rates and mine is not None and theirs is not None:
        title = metric.of.title
        alike = math.isclose(mine, theirs, rel_tol=1e-12, abs_tol=1e-15)
        apart = metrics.with_unit(
            abs(mine - theirs), _unit_of_gap(metric), limits=() if alike else (0.0,)
        )
        facts = {
            "sides": [g.cell(metrics.rate_text(metric.of, each)) for each in (mine, theirs)],
            "apart": g.cell(apart), "way": 0 if alike else (mine > theirs) - (mine < theirs),
            "mean": isinstance(metric.of, Blend),
            "ratio": value if metric.by == "ratio" else None,
        }  # fmt: skip
    facts |= {
        "title": title, "value": value, "group": estimate.group if across else None,
        "other": called(reference_name(estimate.reference)),
        "compared": estimate.reference is not None, "pooled": pooled,
        "interval": interval and g.cell(interval_text(metric, interval)),
        "simultaneous": metrics.is_simultaneous(estimate), "expected": written(estimate.expected),
        "bounds": estimate.bounds and _ends(metric, *estimate.bounds),
        "likely": interval is not None and interval.of_sites,
        "assumed": assumption(interval),
        "why": g.because(reason) if few else g.reason(reason) if reason and stated else None,
    }  # fmt: skip
    body = g.say("estimate", "says", **facts)
    who = group_called(estimate.group, estimate.feature, apart=False)
    place = place_words(estimate.class_scope, estimate.threshold, estimate.scope)
    subject = "" if across or estimate.feature is None else ", ".join(filter(None, [who, place]))
    return f"{subject}: {body}" if subject else capitalised(body or "")


def interval_text(metric: object, interval: Interval) -> str:
    """Return a confidence interval in words, in the direction group minus reference.

    >>> from fairgauge.catalogue.lookup import find_metric
    >>> from fairgauge.results.scopes import Interval
    >>> interval_text(find_metric("DI"), Interval(0.64, 0.9987, 0.95))
    '95% CI 0.64 to 0.999'
    >>> interval_text(find_metric("DPPL"), Interval(0.0312, 0.1, 0.95))
    '95% CI −10.0 to −3.1 pp'
    """
    return f"{100 * interval.level:.4g}% CI {_ends(metric, interval.low, interval.high)}"


def _unit_of_gap(metric: Any) -> Unit:
    return Unit.POINTS if metric.of.is_share else Unit.NUMBER


def _ends(metric: Any, low: float, high: float) -> str:
    kind, sign = metrics.unit(metric), metrics.signed(metric)
    if isinstance(metric, Contrast):  # a vendor's number is written as that of anybody
        kind = Unit.RATIO if metric.by == "ratio" else _unit_of_gap(metric)
        sign = kind is not Unit.RATIO
        if is_reference_first(metric):
            low, high = 0.0 - high, 0.0 - low
    return f"{metrics.shown_range(low, high, kind, sign=sign)}{metrics.unit_name(kind)}"


def assumption(interval: Interval | None) -> str:
    """Return what an interval of groups assumes of which only probabilities are known, if it is."""
    methods = interval.methods if interval else ()
    within, say = IntervalMethod.STRATIFIED in methods, spoken().say
    said = (say("assumed", str(each), in_strata=within) for each in methods)
    return next(filter(None, said), "")


def place_words(
    of_class: ClassScope, threshold: float | None = None, scope: Scope = OVERALL
) -> str:
    """Return of which stratum, class and threshold a number is: ``stratum A, threshold 0.3``."""
    place = {
        "stratum": scope.stratum,
        "class_": of_class.name if of_class.kind is ClassKind.CLASS else None,
        "worst": of_class.name if of_class.kind is ClassKind.WORST else None,
        "average": of_class.average if of_class.kind is ClassKind.AVERAGE else None,
        "at": None if threshold is None else f"{threshold:g}",
    }
    texts = spoken().terms["place"]
    named = (texts[key].format(value=value) for key, value in place.items() if value is not None)
    return ", ".join(map(called, named))
