"""The rules of an audit in words: what each allows, and who is outside, worse or better off."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.moments import Mean
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.enums import ClassKind, Outcome, ReferenceKind
from fairgauge.question.rules import limits_of
from fairgauge.reasons import ReasonCode
from fairgauge.render.brief._compared_means import ComparedMeans, quantity
from fairgauge.render.brief._compared_shares import ComparedShares, RateWords
from fairgauge.render.brief._vocabulary import Vocabulary, of_any_class, place_of
from fairgauge.render.words.display_names import called, capitalised
from fairgauge.render.words.metric_words import compared_rate
from fairgauge.render.words.numbers import listing, minus, numbered, plural
from fairgauge.render.words.rule_words import rule_words, rules_of
from fairgauge.render.words.verdict_sentences import compares_groups, estimate_of, judged_groups
from fairgauge.results.disparities import is_ratio
from fairgauge.results.report import Report
from fairgauge.results.verdicts import (
    RuleResult,
    Verdict,
    before_counting,
    is_of_both_sides,
    reasons_of,
)

WHY_ON_ONE_SIDE = {
    ReasonCode.ANSWERS_CONTRADICT: "people's own answers contradict what is assumed",
    ReasonCode.UNSHOWN_PROBABILITIES: "a pass also needs people of known group who show that the "
    "probabilities distinguish the groups",
    ReasonCode.STRATA_MISSING: "rows without a stratum are excluded, and have other rates than "
    "the others",
    ReasonCode.NOT_COUNTED: "rows that are not counted could change it",
    ReasonCode.UNCLEAR_VALUES: "it is unclear what many values mean",
    ReasonCode.FAVOURABLE_UNSTATED: "nobody stated whether the positive outcome is favourable "
    "(--favourable positive, or negative)",
}
"""Why a rule is inconclusive although the interval is on one side of its limit."""
_PER_HUNDRED = 100
_MOST_NAMED = 3
_COMPARED_WITH = "those they are compared with"
_WORSE, _BETTER = "worse off", "better off"
_BETTER_THAN_ALL = f"{_BETTER} than all others together"
"""Of a group beside several others: one of these may be better off still."""
_BETTER_SIDES = (_BETTER, _BETTER_THAN_ALL)


def shares_of(
    report: Report, words: Vocabulary, verdict: Verdict, *, turn: bool = False
) -> ComparedShares | None:
    """Return the shares that a verdict compares, from the side of its group without ``turn``."""
    contrast = estimate_of(report, verdict)
    row = None if contrast is None else compared_rate(contrast.definition)
    if contrast is None or not isinstance(row, Rate) or not contrast.class_scope.is_single:
        return None
    return ComparedShares(report, words, contrast, row, turn=turn)


def rule_text(report: Report, rule: RuleResult) -> str:
    """Return a rule with its metric and limits: "selection rate ratio >= 0.8"."""
    return rule_words(rules_of(report).get(rule.rule), rule.rule, rule.worst.definition)


def rule_in_words(report: Report, words: Vocabulary, rule: RuleResult) -> str:
    """Return what a rule allows: "were approved at least 0.8 times as often"; empty without words.

    Of several limits, and of several cuts of an order, no one phrase is true.
    """
    asked = rules_of(report).get(rule.rule)
    several = asked is None or bool(asked.alternatives)
    if several or len({each.class_scope for each in rule.verdicts}) > 1:
        return ""
    row, limits = compared_rate(rule.worst.definition), limits_of(rule.rule)
    contrasts = [estimate_of(report, each) for each in rule.verdicts]
    references = {each.reference.kind for each in contrasts if each and each.reference}
    whom = "others" if references == {ReferenceKind.OTHERS} else _COMPARED_WITH
    if isinstance(row, Mean):
        by_ratio = is_ratio(rule.worst.definition)
        return _mean_rule_in_words(quantity(report.spec, row), by_ratio, limits, whom)
    shares = next(filter(None, (shares_of(report, words, each) for each in rule.verdicts)), None)
    if shares is None:
        return ""
    scope = shares.contrast.class_scope  # of several classes and thresholds it is about each
    of_each = scope.kind is ClassKind.CLASS
    words = of_any_class(words) if of_each else words.at(scope)
    rate = RateWords(words, shares.row)
    phrase = share_rule_in_words(rate, shares.contrast.definition, limits, whom)
    return f"for each class, {phrase}" if of_each and phrase and rate.event is not None else phrase


_ARE = {
    Outcome.INCONCLUSIVE: "inconclusive",
    Outcome.NOT_EVALUATED: "not evaluated",
    Outcome.NONE: "ignored as not evaluated",
}


def rule_sentence(report: Report, words: Vocabulary, rule: RuleResult, outcome: Outcome) -> str:
    """Return a rule in words, and for whom it comes to an outcome: on which side they are."""
    phrase = rule_in_words(report, words, rule) or rule_text(report, rule)
    if len(report.by_rule) > 1:
        number = [each.rule for each in report.by_rule].index(rule.rule) + 1
        name = f"Rule {number}, “{phrase}”,"
    else:
        name = f"“{capitalised(phrase)}”"
    counted = sum(e.outcome is outcome and before_counting(e) is not outcome for e in rule.verdicts)
    counting = (
        f"{numbered(counted, 'comparisons')} that the data cannot decide "
        f"{plural(counted, 'counts', 'count')} as a {outcome}, as was asked"
    )
    verdicts = [each for each in rule.verdicts if before_counting(each) is outcome]
    if outcome is Outcome.PASS or not verdicts:
        some = " that is evaluated" * (Outcome.NONE in [each.outcome for each in rule.verdicts])
        every = f"every comparison{some} passes"
        return f"{name.rstrip(',')}: {counting if counted else every}."
    if outcome is not Outcome.FAIL:
        are = _ARE[outcome]
        text = f"{name} is {are} {_together(report, words, verdicts)}"
        for code, why in WHY_ON_ONE_SIDE.items():
            whom = [e for e in verdicts if {reason.code for reason in reasons_of(e)} == {code}]
            of = "," if len(whom) == len(verdicts) else f"; {_together(report, words, whom)}"
            text += f"{of} because {why}" if whom else ""
        return f"{text}."
    by_side: dict[str, tuple[list[str], list[str]]] = {}
    for each in verdicts:
        subject, side = _whom(report, words, each)
        people = by_side.setdefault(side, ([], []))[each.remains is False]
        people += [] if subject in people else [subject]
    clauses = []
    for side in sorted(by_side, key=lambda side: (side != _WORSE, side in _BETTER_SIDES)):
        sure, alone = (_listed(words, verdicts[0], people) for people in by_side[side])
        who = f"{alone}, judged alone" if alone else sure
        if sure and alone:
            who = f"{sure} and, judged alone, {alone}"
        clauses.append(f"{_preposition(verdicts[0])} {who}" + f" ({side})" * bool(side))
    return f"{name} fails {'; '.join([*clauses, *[counting] * bool(counted)])}."


def _preposition(verdict: Verdict) -> str:
    """Return what stands before whom a verdict is of: it may be of several groups."""
    between = verdict.feature is not None and compares_groups(verdict.definition)
    return "between" if between else "for"


def _group_of(report: Report, words: Vocabulary, verdict: Verdict) -> str:
    """Return the groups that a verdict is of, with the class of several that decides."""
    groups = judged_groups(report, verdict)
    if not groups:
        return f"the groups of {words.feature(verdict.feature)}" if verdict.feature else "all"
    if verdict.feature is None:  # a rule names a group that no feature has
        return f"the group {listing([*map(called, groups)])}"
    return listing([words.group(verdict.feature, each) for each in groups]) + place_of(
        words, verdict
    )


def _together(report: Report, words: Vocabulary, verdicts: Sequence[Verdict]) -> str:
    """Return the groups that verdicts are of, with the preposition; nothing without verdicts."""
    if not verdicts:
        return ""
    named = dict.fromkeys(_group_of(report, words, each) for each in verdicts)
    return f"{_preposition(verdicts[0])} {_listed(words, verdicts[0], list(named))}"


def _listed(words: Vocabulary, verdict: Verdict, people: list[str]) -> str:
    """Return people in a list; of one column it is named once: "people with sex F or M"."""
    if compares_groups(verdict.definition):
        return listing(people, "and between", _MOST_NAMED)
    lead = f"{words.noun} with {called(verdict.feature or '')} "
    if len(people) > 1 and all(each.startswith(lead) for each in people):
        rest = [each.removeprefix(lead) for each in people]
        return lead + listing(rest, "or", _MOST_NAMED)
    return listing(people, most=_MOST_NAMED)


def _whom(report: Report, words: Vocabulary, verdict: Verdict) -> tuple[str, str]:
    """Return whom a verdict is of, and how they fare.

    Of two groups that a rule limits alike it is of the one that is worse off.
    """
    if verdict.group is None or verdict.feature is None:
        return _group_of(report, words, verdict), ""
    contrast = estimate_of(report, verdict)
    turn = is_of_both_sides(verdict)
    shares = shares_of(report, words, verdict, turn=turn)
    if shares is not None:
        worse, event = shares.rate.worse(-1.0 if shares.lower else 1.0), shares.event
        often = "less often" if shares.lower else "more often"
        neither = f"theirs is {'lower' if shares.lower else 'higher'}"
        if event is not None:
            neither = f"they {event.happened} {often}"
        subject = shares.subject
        if event is None:
            subject += place_of(words, verdict)
        better = _BETTER_THAN_ALL if words.has_several_others(shares.contrast) else _BETTER
        return subject, neither if worse is None else _WORSE if worse else better
    row = None if contrast is None else compared_rate(contrast.definition)
    if contrast is not None and row is not None and contrast.reference and not row.is_share:
        means = ComparedMeans(words, contrast, row, turn=turn)
        subject = f"{means.subject}{place_of(words, verdict)}"
        if means.has_direction:
            return subject, _WORSE if means.is_worse else _BETTER
        return subject, f"theirs is {'higher' if means.is_higher else 'lower'}"
    group = _group_of(report, words, verdict)
    if not isinstance(row, Rate) or verdict.value is None:
        return group, ""
    beyond = verdict.value - getattr(verdict.definition, "neutral", verdict.value)
    worse = RateWords(words.at(verdict.class_scope), row).worse(beyond) if beyond else None
    return group, "" if worse is None else _WORSE if worse else _BETTER


def share_rule_in_words(
    rate: RateWords,
    metric: Metric | Statistic,
    limits: tuple[float, float],
    whom: str = _COMPARED_WITH,
) -> str:
    """Return what a rule on a share allows: "were approved at least 0.8 times as often"."""
    event, condition = rate.event, rate.condition
    if not rate.known or getattr(metric, "neutral", None) not in (0, 1):
        return ""
    people = f"of those {condition}, " if condition else ""
    happened = rate.clause if event is None else event.happened
    if is_ratio(metric):
        return f"{people}{happened} {_between(limits)} times as often as {whom}"
    if metric.range != (-1, 1):
        return ""
    if event is None:
        sides = _from_none(limits, "less often", "more often", "more or less often")
        if sides is None:
            return ""
        size = f"{_PER_HUNDRED * sides[0]:g}"
        points = "percentage point" if size == "1" else "percentage points"
        return f"{happened} at most {size} {points} {sides[1]} than for {whom}"
    if (allowed := _from_none(limits, "fewer", "more", "")) is None:
        return ""
    most, side = allowed
    if not side:
        who = f"those {condition}" if condition else "groups"
        return f"{who} differ by at most {_PER_HUNDRED * most:g} of 100 in {rate.how_often}"
    return f"{people}at most {_PER_HUNDRED * most:g} {side} of 100 {happened} than of {whom}"


def _mean_rule_in_words(name: str, by_ratio: bool, limits: tuple[float, float], whom: str) -> str:
    """Return what a rule on a mean allows: "average pay at most 1.05 times that of others"."""
    if by_ratio:
        return f"{name} {_between(limits)} times that of {whom}"
    allowed = _from_none(limits, "lower", "higher", "higher or lower")
    return "" if allowed is None else f"{name} at most {allowed[0]:g} {allowed[1]} than of {whom}"


def _from_none(
    limits: tuple[float, float], lower: str, higher: str, both: str
) -> tuple[float, str] | None:
    """Return how far from none a difference may be, and on which side; None of other limits."""
    low, high = limits
    if low == -high:
        return high, both
    if low < 0 and math.isinf(high):
        return -low, lower
    if high > 0 and math.isinf(low):
        return high, higher
    return None


def _between(limits: tuple[float, float]) -> str:
    low, high = limits
    if math.isinf(low) or math.isinf(high):
        return minus(f"at least {low:g}" if math.isinf(high) else f"at most {high:g}")
    return minus(f"between {low:g} and {high:g}")
