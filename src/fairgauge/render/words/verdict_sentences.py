"""Verdicts in words: the comparison, the interval, the limit, and what would change it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fairgauge.catalogue.across import is_of_one_group
from fairgauge.catalogue.cells import ALL
from fairgauge.catalogue.comparisons import Metric, is_of_all_groups
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.enums import ClassKind, Outcome, ScopeKind
from fairgauge.question import rules
from fairgauge.reasons import NOT_EVALUABLE, Reason, ReasonCode
from fairgauge.render.grammar import plain
from fairgauge.render.words.display_names import called, printable
from fairgauge.render.words.estimate_sentences import assumption, reference_name
from fairgauge.render.words.metric_words import (
    compared_rate,
    metric_number,
    metric_range,
    metric_words,
    unit,
    unit_name,
)
from fairgauge.render.words.numbers import count, listing, percent
from fairgauge.render.words.rule_words import limit_text
from fairgauge.results.estimates import Estimate
from fairgauge.results.report import Report
from fairgauge.results.scopes import NO_CLASS
from fairgauge.results.verdicts import Verdict

_MOST_TIMES = 10
"""Times the rows at hand that somebody may be able to collect."""
_MOST_LINES = 20
_OF_ALL_LIMITS = frozenset({ReasonCode.COUNTED_AS, ReasonCode.FAMILYWISE})
"""Reasons of a rule with alternatives that are of all of its limits together."""


def describe_verdict(verdict: Verdict) -> str:
    """Return why a verdict is what it is, as a sentence without the rule and the group."""
    g, reason = plain(), verdict.reason
    if verdict.alternatives and reason.code not in _OF_ALL_LIMITS | NOT_EVALUABLE:
        limits = [
            f"{describe_verdict(each)} ({outcome_word(each.outcome)})"
            for each in verdict.alternatives
        ]
        outcomes = {each.outcome for each in verdict.alternatives}
        how = "all_fail" if outcomes == {Outcome.FAIL} else "open"
        how = "one_passes" if Outcome.PASS in outcomes else how
        return f"{'; '.join([*limits, g.say('because', how) or ''])}{_remaining(verdict)}"
    if reason.code is ReasonCode.FEW_ROWS and isinstance(verdict.definition, Statistic):
        reason = reason.on("group")  # a rule on a rate of one group has no other side
    text = g.say("because", reason.code, **_facts(verdict)) or g.reason(reason)
    assumed = assumption(verdict.interval)
    where = "" if verdict.alternatives else class_or_threshold(verdict)  # limits have their own
    beside: dict[str, Any] = {"text": text, "assumed": assumed, "where": where}
    return (g.say("because", "beside", **beside) or "") + _remaining(verdict)


def describe_evidence(verdict: Verdict) -> str:
    """Return what decides a verdict, for a place where the value and its interval are shown."""
    place = f"short_{verdict.reason.code}"
    text = plain().say("because", place, **_facts(verdict))
    if text is None or verdict.alternatives:
        return describe_verdict(verdict)
    which = class_or_threshold(verdict)
    return f"{text}{f' ({which})' if which else ''}{_remaining(verdict)}"


def describe_unmet(report: Report, verdicts: Sequence[Verdict]) -> str:
    """Return why a report does not meet its rules: a heading, and a line for each verdict."""
    heading = plain().say("because", "unmet", n=len(verdicts), of=len(report.verdicts)) or ""
    lines = [describe_outcome(report, each) for each in verdicts[:_MOST_LINES]]
    more = len(verdicts) - len(lines)
    return "\n".join([heading, *lines, *([f"and {more:,} more"] if more else [])])


def judged_groups(report: Report, verdict: Verdict) -> tuple[str, ...]:
    """Return the group of a verdict; of a metric of all groups, both that are furthest apart.

    None where there are no groups, or the metric names no pair of them.
    """
    if verdict.group is None or not compares_groups(verdict.definition):
        return () if verdict.group is None else (verdict.group,)
    estimate = estimate_of(report, verdict)
    if estimate is None or estimate.reference is None:
        return ()
    return verdict.group, reference_name(estimate.reference)


def estimate_of(report: Report, verdict: Verdict) -> Estimate | None:
    """Return the comparison that a verdict judges; it names a threshold where there are several."""
    judged = (verdict.metric, verdict.feature, verdict.group, verdict.class_scope)
    return next(
        (
            each
            for each in report.estimates
            if (each.metric, each.feature, each.group, each.class_scope) == judged
            and verdict.threshold in (None, each.threshold)
            and each.scope.kind is ScopeKind.OVERALL
        ),
        None,
    )


def compares_groups(metric: Metric | Statistic) -> bool:
    """Return whether a metric of all groups is of both that are furthest apart."""
    return is_of_all_groups(metric) and not is_of_one_group(metric)


def describe_outcome(report: Report, verdict: Verdict) -> str:
    """Return a verdict in one line: its outcome, its rule, its groups and why."""
    of = ": ".join(filter(None, (verdict.feature, listing(judged_groups(report, verdict)))))
    outcome = verdict_word(verdict.outcome).upper()
    return printable(
        f"{outcome} {verdict.rule}{f', {of}' if of else ''}: {describe_verdict(verdict)}"
    )


def outcome_word(outcome: Outcome) -> str:
    """Return an outcome as words."""
    return str(outcome).replace("_", " ")


def verdict_word(outcome: Outcome) -> str:
    """Return what a verdict comes to; of a group that its rule ignores, that it does."""
    return "ignored" if outcome is Outcome.NONE else outcome_word(outcome)


def _remaining(verdict: Verdict) -> str:
    """Return whether a fail remains when all comparisons are judged together."""
    if verdict.remains is None:
        return ""
    because = open_by_groups(verdict, ", because ")
    return plain().say("because", "remains", remains=verdict.remains, because=because) or ""


def open_by_groups(verdict: Verdict, start: str = ": ") -> str:
    """Return that rows without a group keep a fail from remaining; nothing where they do not."""
    if verdict.reason.get("together") is None:
        return ""
    (reason,) = verdict.reason["together"]
    facts: dict[str, Any] = {"unit": "rows", "feature": verdict.feature}
    facts |= dict(reason.parameters)
    return f"{start}{plain().say('because', 'open_by_groups', **facts)}"


def class_or_threshold(verdict: Verdict) -> str:
    """Return the class or the threshold that decides, where there are several."""
    scope = verdict.class_scope
    if scope.kind is ClassKind.CLASS:
        return f"class {scope.name} against all others"
    if scope.kind is ClassKind.SELECTION:
        return str(scope.name)
    return "" if verdict.threshold is None else f"threshold {verdict.threshold:g}"


def limits_of(verdict: Verdict) -> tuple[float, ...]:
    """Return the finite limits that the value of a verdict is held against."""
    return tuple(filter(math.isfinite, rules.limits_of(verdict.rule)))


def _facts(verdict: Verdict) -> dict[str, Any]:
    """Return what the texts of a verdict state: its numbers in the unit of its metric."""
    metric, reason, interval = verdict.definition, verdict.reason, verdict.interval
    pp = unit_name(unit(metric))
    known: dict[str, Any] = dict(reason.parameters)

    def shown(value: float) -> str:
        return f"{metric_number(metric, value, limits_of(verdict))}{pp}"

    measured, ends = metric_words(metric), ""
    if verdict.value is not None:
        measured = f"{measured} {shown(verdict.value)}"
    if interval is not None:
        range_ = metric_range(metric, interval.low, interval.high, limits_of(verdict))
        ends = f"{100 * interval.level:.4g}% CI ({range_}{pp})"
    show = percent if reason.code is ReasonCode.ANSWERS_CONTRADICT else shown
    facts: dict[str, Any] = {"unit": "rows", "feature": verdict.feature} | known
    for end in ("low", "high"):
        if known.get(end) is not None:
            facts[end] = show(known[end])
            if (beside := known.get(f"{end}_beside")) is not None:
                facts[end] += f" (with {called(beside)} as the reference)"
    for limit in ("limit", "second"):
        if known.get(limit) is not None:
            facts[limit] = limit_text(known[limit], metric)
    if reason.code is ReasonCode.COUNTED_AS:
        (undecided,) = reason["reasons"]
        plainly = replace(verdict, reason=undecided, class_scope=NO_CLASS, threshold=None)
        facts["why"] = describe_verdict(plainly)
    if reason.code is ReasonCode.FAMILYWISE:
        facts["every"] = [
            f"{metric_words(each.definition)} {of['value']}, {of['ends']}"
            for each in verdict.alternatives
            for of in [_facts(each)]
        ]
        facts["open_by_groups"] = open_by_groups(verdict)
    rows = rows_of_group(reason)
    return facts | {
        "measured": measured,
        "value": None if verdict.value is None else shown(verdict.value),
        "ends": ends,
        "lacking": missing_outcome(verdict),
        "needed": rows,
        "counted": _counted(verdict),
    }


def rows_needed(verdict: Verdict) -> str:
    """Return in few words how many rows of the group would decide a rule, where it helps."""
    rows = rows_of_group(verdict.reason)
    if rows is None or verdict.group is None:
        return ""
    counted = _counted(verdict) or verdict.reason.get("unit") or "rows"
    facts: dict[str, Any] = {"needed": rows, "counted": counted, "group": verdict.group}
    return plain().say("because", "rows_needed", **facts) or ""


def _counted(verdict: Verdict) -> str:
    """Return of which rows a compared rate is, "observed positives"; empty where of all."""
    rate = compared_rate(verdict.definition)
    return rate.among.described if isinstance(rate, Rate) and rate.among != ALL else ""


def rows_of_group(reason: Reason) -> tuple[str, str] | None:
    """Return how many rows of the group would decide a rule, and how many there are.

    None where it helps nobody: no number would, or many times as many as there are.
    """
    needed = reason.get("needed")
    if needed is None or reason.get("on_limit") or needed > _MOST_TIMES * reason["rows"]:
        return None
    has: float = reason["of_group"]
    part = needed * has / reason["rows"]
    step: int = 10 ** max(0, math.floor(math.log10(max(part, 1))) - 1)
    # of the group's part of the rows, which are more than there are: these decided nothing
    return f"{max(math.ceil(part / step) * step, int(has) + 1):,}", count(has)


def missing_outcome(verdict: Verdict) -> str:
    """Return what rows lack that leave a verdict open: outcomes or groups, a weight or a count.

    People may have known outcomes beside a missing one.
    """
    if (what := verdict.reason.get("what")) is not None:
        return f"without a {what}"
    if verdict.reason.code is ReasonCode.MISSING_GROUPS:
        return f"without {verdict.feature}"
    needs = verdict.definition.needs if verdict.definition else ()
    lacking = [need for need in ("label", "prediction", "score") if need in needs]
    lacking += [str(verdict.feature)] * bool(verdict.reason.get("without_group"))
    start = "with a missing" if verdict.reason.get("unit") == "people" else "without a"
    return f"{start} {' or '.join(lacking)}"
