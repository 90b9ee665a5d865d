"""Sentences about verdicts: the comparison, the interval, the limit, and what would change it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from fairgauge.catalogue.across import is_of_one_group
from fairgauge.catalogue.cells import ALL
from fairgauge.catalogue.comparisons import Metric, is_of_all_groups
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.enums import ClassKind, Decide, Outcome, ScopeKind
from fairgauge.question import rules
from fairgauge.reasons import NOT_EVALUABLE, Reason, ReasonCode
from fairgauge.render.grammar import describe_reason
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
from fairgauge.render.words.numbers import count, listing, numbered, percent, probability
from fairgauge.render.words.rule_words import limit_text
from fairgauge.results.estimates import Estimate
from fairgauge.results.report import Report
from fairgauge.results.scopes import NO_CLASS
from fairgauge.results.verdicts import Verdict

_MOST_TIMES = 10
"""Times the rows at hand that somebody may be able to collect."""
_MOST_LINES = 20
_POWER = "80% power"


def describe_verdict(verdict: Verdict) -> str:
    """Return why a verdict is what it is, as a sentence without the rule and the group."""
    reason = verdict.reason
    if verdict.alternatives and reason.code not in _OF_ALL_LIMITS | NOT_EVALUABLE:
        return f"{_alternatives(verdict)}{_remaining(verdict)}"
    if reason.code is ReasonCode.FEW_ROWS and isinstance(verdict.definition, Statistic):
        reason = reason.on("group")  # a rule on a rate of one group has no other side
    text = (
        _DESCRIBED[reason.code](verdict) if reason.code in _DESCRIBED else describe_reason(reason)
    )
    if assumed := assumption(verdict.interval):
        text += f"; estimated from probabilities, {assumed}"
    where = "" if verdict.alternatives else class_or_threshold(verdict)  # limits have their own
    return f"{text} ({where}){_remaining(verdict)}" if where else f"{text}{_remaining(verdict)}"


def describe_unmet(report: Report, verdicts: Sequence[Verdict]) -> str:
    """Return why a report does not meet its rules: a heading, and a line for each verdict."""
    if not report.verdicts:
        return "the audit has no rules, so that nothing is checked; give rules=['METRIC >= LIMIT']"
    are = "is" if len(verdicts) == 1 else "are"
    heading = f"{len(verdicts):,} of {len(report.verdicts):,} verdicts {are} not a pass"
    lines = [describe_outcome(report, each) for each in verdicts[:_MOST_LINES]]
    more = len(verdicts) - len(lines)
    return "\n".join([heading, *lines, *([f"and {more:,} more"] if more else [])])


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


def describe_outcome(report: Report, verdict: Verdict) -> str:
    """Return a verdict in one line: its outcome, its rule, its groups and why."""
    groups = listing(judged_groups(report, verdict))
    of = ": ".join(filter(None, (verdict.feature, groups)))
    outcome = verdict_word(verdict.outcome).upper()
    line = f"{outcome} {verdict.rule}{f', {of}' if of else ''}: {describe_verdict(verdict)}"
    return printable(line)


def outcome_word(outcome: Outcome) -> str:
    """Return an outcome as words."""
    return str(outcome).replace("_", " ")


def verdict_word(outcome: Outcome) -> str:
    """Return what a verdict comes to; of a group that its rule ignores, that it does."""
    return "ignored" if outcome is Outcome.NONE else outcome_word(outcome)


def describe_evidence(verdict: Verdict) -> str:
    """Return what decides a verdict, for a place where the value and its interval are shown."""
    code = verdict.reason.code
    if code in (ReasonCode.INSIDE, ReasonCode.BELOW, ReasonCode.ABOVE):
        text = f"the whole confidence interval is {_where(verdict)}"
    elif code is ReasonCode.CROSSES:
        text = f"the confidence interval includes {_crossed(verdict)}"
        text = "; ".join([text, *_needed(verdict), *_detectable(verdict.reason)])
    else:
        return describe_verdict(verdict)
    which = class_or_threshold(verdict)
    text += f" ({which})" * bool(which)
    return f"{text}{_remaining(verdict)}{_without_missing(verdict)}"


def _remaining(verdict: Verdict) -> str:
    """Return whether a fail remains when all comparisons are judged together."""
    if verdict.remains is None:
        return ""
    does = "remains" if verdict.remains else "does not remain"
    by_groups = open_by_groups(verdict, ", because ")
    return f"; it {does} when all comparisons are judged together{by_groups}"


def open_by_groups(verdict: Verdict, start: str = ": ") -> str:
    """Return that rows without a group keep a fail from remaining; nothing where they do not."""
    if verdict.reason.get("together") is None:
        return ""
    (reason,) = verdict.reason["together"]
    rows = numbered(reason["rows"], reason.get("unit") or "rows")
    at_most = "up to " * bool(reason.get("at_most"))
    return f"{start}{at_most}{rows} without {called(verdict.feature)} could then change it"


def class_or_threshold(verdict: Verdict) -> str:
    """Return the class or the threshold that decides, where there are several."""
    if verdict.class_scope.kind is ClassKind.CLASS:
        return f"class {verdict.class_scope.name} against all others"
    if verdict.class_scope.kind is ClassKind.SELECTION:
        return str(verdict.class_scope.name)
    return "" if verdict.threshold is None else f"threshold {verdict.threshold:g}"


def _measured(verdict: Verdict) -> str:
    words = metric_words(verdict.definition)
    return words if verdict.value is None else f"{words} {_shown(verdict, verdict.value)}"


def _estimated(verdict: Verdict) -> str:
    """Return the value with its confidence interval, where there is one."""
    measured = _measured(verdict)
    return f"{measured}, {_ends(verdict)}" if verdict.interval else measured


def _shown(verdict: Verdict, value: float) -> str:
    """Return a number in the unit of the metric."""
    text = metric_number(verdict.definition, value, limits_of(verdict))
    return f"{text}{unit_name(unit(verdict.definition))}"


def limits_of(verdict: Verdict) -> tuple[float, ...]:
    """Return the finite limits that the value of a verdict is held against."""
    return tuple(filter(math.isfinite, rules.limits_of(verdict.rule)))


def _limit(verdict: Verdict) -> str:
    """Return the limit of the rule as it was written, in the unit of the metric."""
    limit = verdict.reason.get("limit")
    return "the limit" if limit is None else limit_text(limit, verdict.definition)


def _crossed(verdict: Verdict) -> str:
    """Return the limit that an interval includes, or both."""
    second = verdict.reason.get("second")
    both = "" if second is None else f" and {limit_text(second, verdict.definition)}"
    return f"{_limit(verdict)}{both}"


def _ends(verdict: Verdict) -> str:
    interval = verdict.interval
    assert interval is not None
    ends = metric_range(verdict.definition, interval.low, interval.high, limits_of(verdict))
    pp = unit_name(unit(verdict.definition))
    return f"{100 * interval.level:.4g}% CI ({ends}{pp})"


def _clear(verdict: Verdict) -> str:
    interval = f"whole {_ends(verdict)}" if verdict.interval else "confidence interval"
    of = " of the groups with sufficient data" if verdict.reason.get("sufficient") else ""
    return (
        f"{_measured(verdict)}{of}: the {interval} is {_where(verdict)}{_without_missing(verdict)}"
        f"{_by_volunteers(verdict)}"
    )


def _where(verdict: Verdict) -> str:
    """Return on which side of its limits a whole interval is."""
    if verdict.reason.code is ReasonCode.INSIDE:
        return "inside the limits"
    below = verdict.reason.code is ReasonCode.BELOW
    return f"{'below' if below else 'above'} {_limit(verdict)}"


def _by_volunteers(verdict: Verdict) -> str:
    """Return on whom a pass rests where they were not drawn at random."""
    people = verdict.reason.get("volunteers")
    if people is None:
        return ""
    return (
        f"; the pass depends on the answers of {numbered(people, 'people')} who were not drawn at "
        "random"
    )


def _without_missing(verdict: Verdict) -> str:
    """Return that a fail is of the rows with an outcome, where the others could change it."""
    reason = verdict.reason
    if reason.get("missing") is None:
        return ""
    rows = numbered(reason["missing"], reason.get("unit") or "rows").removeprefix("1 ")
    if reason.get("low") is None:
        lacking = missing_outcome(verdict)
        return f"; the {rows} {lacking} could change it, but take back no fail"
    low, high = (_shown(verdict, reason[end]) for end in ("low", "high"))
    return (
        f"; with the {rows} {missing_outcome(verdict)} it could reach from {low} to "
        f"{high}, depending on what is missing, which takes back no fail"
    )


def _point(verdict: Verdict) -> str:
    where = "inside" if verdict.reason.code is ReasonCode.POINT_INSIDE else "outside"
    if verdict.reason.get("decide") == Decide.SIGNIFICANT:
        return f"{_estimated(verdict)}: {where} the limits, significant or not"
    by_value = f"{_measured(verdict)} is {where} the limits; decided by the value alone"
    return f"{by_value}{_without_missing(verdict)}"


def _significance(verdict: Verdict) -> str:
    """Return whether a value outside the limits is significantly away from no difference."""
    no = "" if verdict.reason.code is ReasonCode.SIGNIFICANT_OUTSIDE else "not "
    beyond = f"outside the limits and {no}statistically significant"
    return f"{_estimated(verdict)}: {beyond}{_without_missing(verdict)}"


def _alternatives(verdict: Verdict) -> str:
    """Return what every limit comes to and why, and what they come to together."""
    limits = [
        f"{describe_verdict(each)} ({outcome_word(each.outcome)})" for each in verdict.alternatives
    ]
    return "; ".join([*limits, _together(verdict)])


def _together(verdict: Verdict) -> str:
    """Return how the limits of a rule decide together."""
    outcomes = {each.outcome for each in verdict.alternatives}
    if Outcome.PASS in outcomes:
        return "one limit that passes is enough"
    if outcomes == {Outcome.FAIL}:
        return "every limit fails"
    return "no limit passes, and not all fail"


def _crosses(verdict: Verdict) -> str:
    reason = verdict.reason
    text = f"{_measured(verdict)}: the {_ends(verdict)} includes {_crossed(verdict)}"
    return "; ".join([text, *_needed(verdict), *_kept_open(verdict), *_detectable(reason)])


def _kept_open(verdict: Verdict) -> list[str]:
    """Return which rows leave a rule open however many more there are."""
    reason = verdict.reason
    if reason.get("open_rows") is None:
        return []
    unit = reason.get("unit") or "rows"
    rows = numbered(reason["open_rows"], reason.get("open_unit") or unit).removeprefix("1 ")
    groups = reason.get("open_groups")
    lacking = f"without {verdict.feature}" if groups else missing_outcome(verdict)
    return [f"more {unit} alone would not decide it, because of the {rows} {lacking}"]


def rows_needed(verdict: Verdict) -> str:
    """Return in few words how many rows of the group would decide a rule, where it helps."""
    rows = rows_of_group(verdict.reason)
    if rows is None or verdict.group is None:
        return ""
    needed, has = rows
    counted = _counted(verdict) or verdict.reason.get("unit") or "rows"
    return f"needs about {needed} {counted} of {called(verdict.group)}, has {has}"


def _needed(verdict: Verdict) -> list[str]:
    rows = rows_of_group(verdict.reason)
    if rows is None:
        return []
    needed, has = rows
    number = f"{needed} {_counted(verdict)}".strip()
    text = (
        f"about {number} of the group, and of its reference in proportion, would decide the rule "
        f"with {_POWER}; there are {has}"
    )
    return [text]


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
    # of the group's part of the rows, which are more than there are: these decided nothing
    return f"{max(rounded_up(needed * has / reason['rows']), int(has) + 1):,}", count(has)


_SMALLEST_SHOWN = 0.001
"""A smaller difference is stated as below it, and not as 0.0 percentage points."""


def _detectable(reason: Reason) -> list[str]:
    gap = reason.get("detectable")
    if gap is None:
        return []
    size = f"{100 * gap:.1f}" if gap >= _SMALLEST_SHOWN else f"below {100 * _SMALLEST_SHOWN:g}"
    ratio = reason.get("detectable_ratio")
    text = "" if ratio is None else f" (ratio {ratio:.2f})"
    return [f"smallest detectable difference at these sizes ({_POWER}): {size} pp{text}"]


def rounded_up(rows: float) -> int:
    """Round up to two digits: more would pretend to know."""
    digits = max(0, math.floor(math.log10(max(rows, 1))) - 1)
    unit: int = 10**digits
    return math.ceil(rows / unit) * unit


def _missing_rows(verdict: Verdict) -> str:
    reason = verdict.reason
    rows = numbered(reason["rows"], reason.get("unit") or "rows")
    who = f"up to {rows}" if reason.get("at_most") else f"the {rows.removeprefix('1 ')}"
    outcomes = reason.code is ReasonCode.MISSING_OUTCOMES
    stated = outcomes or reason.get("what") is not None
    lacking = missing_outcome(verdict) if stated else f"without {verdict.feature}"
    depends = "what is missing" if outcomes else "their groups"
    start = f"{_measured(verdict)}: alone this would {reason['alone']}, but {who} {lacking}"
    if reason.get("low") is None:
        return f"{start} might change it, which is not computed for this metric"
    number = "value" if reason.get("by_value") else "confidence interval"
    low, high = (_worst_end(verdict, end) for end in ("low", "high"))
    return (
        f"{start} could change it: depending on {depends}, the {number} could reach from {low} to "
        f"{high}"
    )


def _worst_end(verdict: Verdict, end: str) -> str:
    """Return how far a worst case reaches, and which group would then be the reference."""
    value, beside = _shown(verdict, verdict.reason[end]), verdict.reason.get(f"{end}_beside")
    return value if beside is None else f"{value} (with {called(beside)} as the reference)"


def _without(verdict: Verdict) -> str:
    reason = verdict.reason
    rows = numbered(reason["rows"], reason.get("unit") or "rows").removeprefix("1 ")
    without = f"the {rows} without a {reason['what']} could change it"
    if reason.code is not ReasonCode.NOT_COUNTED:
        without = describe_reason(reason)
    return f"{_measured(verdict)}: alone this would {reason['alone']}, but {without}"


def missing_outcome(verdict: Verdict) -> str:
    """Return what rows lack that leave a verdict open: outcomes or groups, a weight or a count.

    People may have known outcomes beside a missing one.
    """
    if (what := verdict.reason.get("what")) is not None:
        return f"without a {what}"
    needs = verdict.definition.needs if verdict.definition else ()
    lacking = [need for need in ("label", "prediction", "score") if need in needs]
    lacking += [str(verdict.feature)] * bool(verdict.reason.get("without_group"))
    start = "with a missing" if verdict.reason.get("unit") == "people" else "without a"
    return f"{start} {' or '.join(lacking)}"


def _counted_as(verdict: Verdict) -> str:
    """Return why nothing was decided, and what that was asked to count as."""
    reason = verdict.reason
    (undecided,) = reason["reasons"]
    text = describe_verdict(
        replace(verdict, reason=undecided, class_scope=NO_CLASS, threshold=None)
    )
    return f"{text}; {outcome_word(reason['undecided'])} counts as {reason['outcome']}"


def _familywise(verdict: Verdict) -> str:
    measured = " and ".join(map(_estimated, verdict.alternatives or (verdict,)))
    return (
        f"{measured}: outside the limits on {'their' if verdict.alternatives else 'its'} own, but "
        "not once the "
        f"{verdict.reason['comparisons']:,} comparisons are decided together (Holm)"
        f"{open_by_groups(verdict)}"
    )


def _unshown(verdict: Verdict) -> str:
    """Return why probabilities do not let a rule pass."""
    reason = verdict.reason
    low, high, people = reason.get("low"), reason.get("high"), reason["known"]
    text = f"{_estimated(verdict)}: inside the limits only if the probabilities are right"
    if not people:
        return f"{text}, which only people's own answers can show: name their column (known)"
    of_known = f"the {people:,} people of known group"
    if low is None or high is None:
        return f"{text}, and {of_known} do not show that they distinguish the groups"
    ends = f"{_shown(verdict, low)} to {_shown(verdict, high)}"
    return f"{text}; as little as {of_known} show of them, it could be {ends}"


def _contradicted(verdict: Verdict) -> str:
    """Return how people of known group contradict what an estimate assumes."""
    reason = verdict.reason
    people, p = numbered(reason["known"], "people"), probability(reason["p"])
    if reason.get("group") is None:
        return (
            f"{_estimated(verdict)}, but the answers of {people} contradict the probabilities ({p})"
        )
    share, low, high = (percent(reason[each]) for each in ("share", "low", "high"))
    return (
        f"{_estimated(verdict)}, but the answers of {people} of {called(reason['group'])} "
        f"contradict it: their rate is {share}, and estimated from {low} to {high} ({p})"
    )


_OF_ALL_LIMITS = frozenset({ReasonCode.COUNTED_AS, ReasonCode.FAMILYWISE})
"""Reasons of a rule with alternatives that are of all of its limits together."""
_DESCRIBED = {
    ReasonCode.INSIDE: _clear,
    ReasonCode.BELOW: _clear,
    ReasonCode.ABOVE: _clear,
    ReasonCode.POINT_INSIDE: _point,
    ReasonCode.POINT_OUTSIDE: _point,
    ReasonCode.SIGNIFICANT_OUTSIDE: _significance,
    ReasonCode.NOT_SIGNIFICANT: _significance,
    ReasonCode.CROSSES: _crosses,
    ReasonCode.MISSING_GROUPS: _missing_rows,
    ReasonCode.MISSING_OUTCOMES: _missing_rows,
    ReasonCode.NOT_COUNTED: _without,
    ReasonCode.UNCLEAR_VALUES: _without,
    ReasonCode.FAVOURABLE_UNSTATED: _without,
    ReasonCode.COUNTED_AS: _counted_as,
    ReasonCode.FAMILYWISE: _familywise,
    ReasonCode.UNSHOWN_PROBABILITIES: _unshown,
    ReasonCode.ANSWERS_CONTRADICT: _contradicted,
}
