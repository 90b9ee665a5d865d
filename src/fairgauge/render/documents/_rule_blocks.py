"""What rules come to in words: which groups decide, by which values, and what is open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fairgauge.catalogue.comparisons import is_of_all_groups
from fairgauge.enums import ClassKind, Outcome
from fairgauge.reasons import ReasonCode
from fairgauge.render.grammar import describe_reason, insufficiency
from fairgauge.render.words import numbers
from fairgauge.render.words.display_names import called, group_called
from fairgauge.render.words.metric_words import (
    metric_number,
    metric_range,
    metric_words,
    unit,
    unit_name,
)
from fairgauge.render.words.verdict_sentences import (
    judged_groups,
    limits_of,
    missing_outcome,
    open_by_groups,
    outcome_word,
    rows_needed,
    verdict_word,
)
from fairgauge.results.report import Report
from fairgauge.results.verdicts import RuleResult, Verdict, before_counting

_SIGNIFICANCE = {
    ReasonCode.SIGNIFICANT_OUTSIDE: "significant",
    ReasonCode.NOT_SIGNIFICANT: "not significant",
}
_MOST_DECIDING = 2


def outcome_words(
    verdicts: Sequence[Verdict],
    report: Report,
    names: Mapping[tuple[str | None, str | None], str],
) -> str:
    """Return what a rule comes to: which groups decide, and how many there are of the others.

    ``names`` are what the first page calls groups, where tables have another name.
    """
    worst = before_counting(verdicts[0])
    word = verdict_word(worst).upper()
    deciding = [each for each in verdicts if before_counting(each) is worst]
    if worst is Outcome.PASS:
        if is_of_all_groups(verdicts[0].definition):
            passing = numbers.listing([called(each.feature) for each in deciding])
        elif len(deciding) == 1 and not deciding[0].alternatives:
            passing = _compared_groups(deciding[0], report)
        else:
            passing = numbers.numbered(len(deciding), "groups")
        ignored = [_compared_groups(e, report) for e in verdicts if e.outcome is Outcome.NONE]
        beside = f"; {verdict_word(Outcome.NONE)}: {numbers.listing(ignored)}" if ignored else ""
        return f"PASS for {passing}{beside}"
    most = len(deciding) if len(deciding) <= _MOST_DECIDING else 1
    named = [_verdict_group(each, report, names) for each in deciding[:most]]
    undecided = [each.reason for each in deciding if _insufficient(each)]
    without = f" ({insufficiency(undecided)})" if undecided else ""
    text = f"{word}{without} for {', '.join(named)}"
    if len(deciding) > len(named):
        text += f" and {len(deciding) - len(named):,} more"
    words = [
        insufficiency([each.reason]) if _insufficient(each) else verdict_word(before_counting(each))
        for each in verdicts
        if before_counting(each) is not worst
    ]
    others = [f"{words.count(each):,} {each}" for each in dict.fromkeys(words)]
    return "; ".join([text, ", ".join(others)]) if others else text


def counting_words(verdicts: Sequence[Verdict]) -> str:
    """Return what undecided verdicts count as, in brackets; nothing where none is so counted."""
    parts = []
    every = [each for each in verdicts if each.reason.code is ReasonCode.COUNTED_AS]
    if counted := [each for each in every if not each.reason.get("by_rule")]:
        undecided = dict.fromkeys(outcome_word(before_counting(each)) for each in counted)
        verb = numbers.plural(len(undecided), "counts", "count")
        outcome = counted[0].outcome
        parts.append(
            f"{numbers.listing([*undecided])} {verb} as {outcome_word(outcome).upper()}, as asked "
            f"by --inconclusive {outcome}"
        )
    for outcome in (Outcome.PASS, Outcome.FAIL):
        few = sum(v.outcome is outcome and bool(v.reason.get("by_rule")) for v in every)
        if few:
            parts.append(
                f"{numbers.numbered(few, 'comparisons')} that the data cannot "
                f"decide {numbers.plural(few, 'counts', 'count')} as "
                f"{outcome_word(outcome).upper()}, as the rule asks"
            )
    return f" ({'; '.join(parts)})" if parts else ""


_ABSENT = {ReasonCode.NO_ESTIMATE, ReasonCode.FEWER_THAN_TWO_GROUPS}


def _insufficient(verdict: Verdict) -> bool:
    """Return whether a verdict has a value and decides nothing, for want of data."""
    return before_counting(verdict) is Outcome.NOT_EVALUATED and verdict.value is not None


def _verdict_group(
    verdict: Verdict, report: Report, names: Mapping[tuple[str | None, str | None], str]
) -> str:
    name = _compared_groups(verdict, report)
    of_one = not is_of_all_groups(verdict.definition)
    called_there = names.get((verdict.feature, verdict.group), "") if of_one else ""
    limits = [_alternative(each, report) for each in verdict.alternatives]
    details = "; ".join(filter(None, [called_there, *(limits or [_details(verdict, report)])]))
    return f"{name} ({details})" if details else name


def _alternative(limit: Verdict, report: Report) -> str:
    """Return what one of several limits was held against, and what it comes to."""
    words = " ".join([metric_words(limit.definition), _details(limit, report)])
    return f"{words}: {outcome_word(limit.outcome)}"


def _details(verdict: Verdict, report: Report) -> str:
    """Return the value that decides, of which class or threshold, and what would change it."""
    held = held_against(verdict).removeprefix("-")
    significance = _SIGNIFICANCE.get(verdict.reason.code, "")
    needed = rows_needed(verdict)
    alone = "not with all comparisons judged together" if verdict.remains is False else ""
    alone += open_by_groups(verdict)
    absent = describe_reason(verdict.reason) if verdict.reason.code in _ABSENT else ""
    parts = [
        ", ".join(filter(None, [held, significance])),
        alone,
        needed,
        _unknown(verdict),
        absent,
    ]
    return "; ".join(filter(None, [_which(verdict, report), *parts]))


def _unknown(verdict: Verdict) -> str:
    """Return how many rows without a group or an outcome leave a rule open, whatever its CI."""
    reason = verdict.reason
    if reason.code is ReasonCode.MISSING_GROUPS:
        named = reason.get("what") is not None
        lacking = missing_outcome(verdict) if named else f"without {called(verdict.feature)}"
    elif reason.code in (ReasonCode.MISSING_OUTCOMES, ReasonCode.NOT_COUNTED):
        lacking = missing_outcome(verdict)
    elif reason.code in (ReasonCode.UNCLEAR_VALUES, ReasonCode.FAVOURABLE_UNSTATED):
        return describe_reason(reason)
    else:
        return ""
    rows = numbers.numbered(reason["rows"], reason.get("unit") or "rows")
    of_outcomes = reason.code is ReasonCode.MISSING_OUTCOMES
    how = "might" if of_outcomes and reason.get("low") is None else "could"
    could = f"{'up to ' if reason.get('at_most') else ''}{rows} {lacking} {how} change it"
    could += ", which is not computed for this metric" * (how == "might")
    beside = [at for end in ("low", "high") if (at := reason.get(f"{end}_beside")) is not None]
    return f"{could}, with {called(beside[0])} as the reference" if beside else could


def _compared_groups(verdict: Verdict, report: Report) -> str:
    """Return the group of a verdict, or the two that it is of; the feature where it has none."""
    groups = judged_groups(report, verdict)
    if len(groups) == 1:
        return group_called(*groups, verdict.feature, apart=False)
    return numbers.listing([*map(called, groups)]) or called(verdict.feature or "no group")


def _which(verdict: Verdict, report: Report) -> str:
    """Return the class or the threshold that decides, where there are several."""
    scope = verdict.class_scope
    if scope.kind in (ClassKind.CLASS, ClassKind.WORST) and scope.name is not None:
        return f"class {called(scope.name)} against all others"
    if scope.kind is ClassKind.NONE and any(
        each.metric == verdict.metric and each.class_scope.kind is ClassKind.CLASS
        for each in report.estimates
    ):
        return "all classes"
    if scope.kind is ClassKind.SELECTION:
        return called(scope.name)
    thresholds = {each.threshold for each in report.estimates} - {None}
    several = verdict.threshold is not None and len(thresholds) > 1
    return f"threshold {verdict.threshold:g}" if several else ""


def held_against(verdict: Verdict) -> str:
    """Return the value that a rule was held against, with its interval; a dash without one."""
    if verdict.value is None and verdict.interval is None:
        return "-"
    metric, limits = verdict.definition, limits_of(verdict)
    parts = []
    if verdict.value is not None:
        parts.append(metric_number(metric, verdict.value, limits) + unit_name(unit(metric)))
    if verdict.interval is not None:
        low, high = verdict.interval
        ends = metric_range(metric, low, high, limits)
        parts.append(f"CI {ends}{'' if parts else unit_name(unit(metric))}")
    return ", ".join(parts)


def verdict_name(verdict: Verdict, report: Report) -> str:
    name = _compared_groups(verdict, report)
    if name == called(verdict.group) and verdict.feature:
        return group_called(verdict.group, verdict.feature)
    return name


def verdict_of_all(report: Report) -> str:
    """Return what all rules come to: ``FAIL: 1 of 2 rules``."""
    rules = report.by_rule
    if not rules:
        return ""
    outcomes = [each.outcome for each in rules]
    count = outcomes.count(report.verdict)
    noun = numbers.plural(len(rules), "rule", "rules")
    text = f"{outcome_word(report.verdict).upper()}: "
    if set(outcomes) == {Outcome.NONE}:
        were = numbers.plural(len(rules), "was", "were")
        return f"{text}the {noun} {were} ignored as not evaluated"
    unevaluated = outcomes.count(Outcome.NOT_EVALUATED)
    if report.verdict is not Outcome.INCONCLUSIVE or not unevaluated:
        return f"{text}{count:,} of {len(rules):,} {noun}"
    if not count:
        which = f"{unevaluated:,} of {len(rules):,} {noun}"
        if unevaluated == len(rules):
            which = f"the {noun}"
        were = numbers.plural(unevaluated, "was", "were")
        return f"{text}{which} {were} not evaluated{_for_which_groups(rules)}"
    return f"{text}{count:,} of {len(rules):,} {noun}, {unevaluated:,} not evaluated"


def _for_which_groups(rules: Sequence[RuleResult]) -> str:
    """Return for how many groups rules are not evaluated, where they are for others."""
    partly = [each.verdicts for each in rules if each.outcome is Outcome.NOT_EVALUATED]
    open_ = [sum(v.outcome is Outcome.NOT_EVALUATED for v in each) for each in partly]
    if all(count == len(each) for count, each in zip(open_, partly, strict=True)):
        return ""
    if len(partly) > 1:
        return " for some groups"
    noun = "group" if all(each.group for each in partly[0]) else "comparison"
    return f" for {open_[0]:,} of {len(partly[0]):,} {noun}s"
