"""The brief of an audit: its headline, findings, certainty, limits and next steps as sentences."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from typing import Any

from fairgauge.catalogue.cells import ALL, FN, FP, TN, TP
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.decomposable import has_decomposition
from fairgauge.catalogue.pooling import ConditionalDisparity
from fairgauge.catalogue.statistics import Rate
from fairgauge.catalogue.threshold_goals import is_of_decisions
from fairgauge.enums import (
    OF_PROBABILITIES,
    AfterAdjusting,
    ClassKind,
    DiagnosticCode,
    Estimator,
    Favourable,
    IntervalMethod,
    Outcome,
    ReferenceKind,
    ReferenceRule,
    ScopeKind,
    Status,
    Task,
)
from fairgauge.errors import quote
from fairgauge.question.features import strata_named
from fairgauge.question.options import flag_of
from fairgauge.question.presets import preset, preset_names
from fairgauge.reasons import WITHOUT_METHOD, Reason, ReasonCode
from fairgauge.render.brief._compared_means import columns_of
from fairgauge.render.brief._compared_shares import (
    ComparedShares,
    RateWords,
    could_leave_none,
    missing_could_reverse,
)
from fairgauge.render.brief._next_steps import analyst, owner, reader, supplier
from fairgauge.render.brief._rules_in_words import WHY_ON_ONE_SIDE, rule_sentence, shares_of
from fairgauge.render.brief._stated_findings import (
    MOST_FINDINGS,
    StatedFinding,
    disagreement,
    disparities_of,
    headline_adjusted,
    led_by,
    not_shown,
)
from fairgauge.render.brief._vocabulary import (
    Vocabulary,
    interval_in_words,
    joined,
    place_of,
    taken_as_better,
)
from fairgauge.render.words.command_line import command_decomposing
from fairgauge.render.words.diagnostic_sentences import (
    describe_diagnostic,
    left_open_by_groups,
    within_strata,
)
from fairgauge.render.words.display_names import all_called, called, capitalised
from fairgauge.render.words.finding_sentences import among_compared, uncertainty
from fairgauge.render.words.metric_words import compared_rate, metric_value
from fairgauge.render.words.numbers import listing, numbered, percent, plural
from fairgauge.render.words.question_sentences import (
    can_decompose,
    chosen_rows,
    conditions_of,
    incomplete,
    not_favourable,
    of_least_size,
    rounded_to,
    rounding_sentence,
    strata_leave_nothing,
    subgroups_not_examined,
    unit,
    unstated,
    used_words,
    without_probabilities,
)
from fairgauge.render.words.reason_sentences import describe_reason, insufficiency
from fairgauge.render.words.verdict_sentences import (
    estimate_of,
    missing_outcome,
    rounded_up,
    rows_of_group,
)
from fairgauge.results.brief import Brief, Sentence
from fairgauge.results.disadvantage import AMOUNTS
from fairgauge.results.disparities import (
    gap,
    is_ratio,
    is_significant,
    shown_adjusted_alone,
    singled_out,
)
from fairgauge.results.doubts import ALIKE, APART, OF_ONE_PERSON, SCORE_APART, SPELT, UNSTATED
from fairgauge.results.estimates import Estimate
from fairgauge.results.finding import Finding
from fairgauge.results.report import Report
from fairgauge.results.scopes import OVERALL, Diagnostic
from fairgauge.results.stated_comparison import StatedComparison
from fairgauge.results.verdicts import (
    RuleResult,
    Verdict,
    before_counting,
    is_of_both_sides,
    reasons_of,
)

_CHOSEN = (ReferenceKind.BEST, ReferenceKind.LARGEST)
_MOST_LIMITS, _MOST_STEPS = 4, 3
_MANY_MISSING = 0.05
_MOST_RULES = 2
_MOST_SMALL = 3
_COUNTED = {
    Outcome.FAIL: ("fails", "fail"),
    Outcome.PASS: ("passes", "pass"),
    Outcome.INCONCLUSIVE: ("is inconclusive", "are inconclusive"),
    Outcome.NOT_EVALUATED: ("is not evaluated", "are not evaluated"),
    Outcome.NONE: ("is ignored as not evaluated", "are ignored as not evaluated"),
}
"""What comparisons come to, of one and of several."""
_TOGETHER = "when all comparisons are judged together"
_FOR_SOME = " for some groups"
_EVERY_RULE = {1: "The rule", 2: "Both rules"}
_NO_GROUP = (ReferenceRule.OTHERS, ReferenceRule.OVERALL)
_NOT_COUNTED, _UNCLEAR = ReasonCode.NOT_COUNTED, ReasonCode.UNCLEAR_VALUES
_UNSTATED = ReasonCode.FAVOURABLE_UNSTATED
_UNDECIDED = (Outcome.INCONCLUSIVE, Outcome.NOT_EVALUATED)
_OF_MISSING = (ReasonCode.MISSING_GROUPS, ReasonCode.MISSING_OUTCOMES)


def audit_brief(report: Report) -> Brief:
    """Return the brief of a report."""
    words = Vocabulary.of_report(report)
    disparities = disparities_of(report, words)
    led = led_by(disparities)
    neutral = (bool(led) or _lacks_direction(report, words)) and not any(
        each.stated.worse for each in led
    )
    return Brief(
        headline=_headline(report, words, disparities),
        verdict=tuple(_verdict(report, words, led)),
        looked_at=tuple(_looked_at(report, words)),
        found=tuple(_worse_off(report, words, disparities)),
        certainty=tuple(_certainty(report, words, disparities)),
        limits=tuple(_limits(report, words))[:_MOST_LIMITS],
        steps=tuple(_steps(report, words, disparities))[:_MOST_STEPS],
        question="Who differs, and by how much" if neutral else "Who is worse off, and by how much",
    )


# ---- the headline and the verdict ---------------------------------------------------------------


def _alone(report: Report) -> str:
    """Return which features have one group alone, as the reason why nothing was tested."""
    alone = [d for d in report.diagnostics if d.code is DiagnosticCode.ONE_GROUP]
    has = [f"{called(d.feature or '')} has one group, {called(d['group'])}" for d in alone]
    return f": {listing(has)}" if has else ""


def _headline(report: Report, words: Vocabulary, disparities: list[StatedFinding]) -> Sentence:
    if (failed := _failed_alone(report, words, disparities)) is not None:
        return failed
    if not disparities:
        return _nothing_stated(report, words)
    first = disparities[0]
    text = _estimated(report, first.finding.estimate.feature) + first.headline()
    text += _of_known(report, first.shares or first.stated)
    source = first.source
    for each in disparities[1:2]:
        some = each.shares if each.stated.is_of_some_in(first.stated) else None
        if some is not None and not could_leave_none(report, some.contrast, some.row):
            text += f", also among those {some.rate.condition}"
            source += each.source
    change = first.after_adjusting
    column = f"{first.column}{first.among}"
    if change is AfterAdjusting.REVERSES:
        text += f", but the reverse holds after adjusting for {column}"
    elif change is AfterAdjusting.DISAPPEARS and not _insufficient(report, first.finding):
        text += f", but after adjusting for {column} no difference is shown on average"
        text += _variation(report, first.finding)
    pair = disagreement(report, disparities)
    if pair is not None and first in pair:
        text += f", but {_reverse(first, pair[pair[0] is first])}"
        source += pair[pair[0] is first].source
    elif not report.verdicts:
        text += _chosen_from(report, first.stated.contrast)
    return Sentence(text, source)


def _reverse(first: StatedFinding, other: StatedFinding) -> str:
    """Return in what the reverse of a headline is shown."""
    if first.means is not None and other.means is not None:
        level = "lower" if first.means.is_higher else "higher"
        return f"their {other.means.name} {other.means.verb} {level}"
    top = other if other.shares is None else first
    where = "at the top of the list" if top is other else "over the whole list"
    return f"the reverse is shown {where}"


def _of_known(report: Report, of: ComparedShares | StatedComparison) -> str:
    """Return of which rows a headline is, where others could take it back, or may count."""
    if any(each.code is DiagnosticCode.UNCOUNTED_ROWS for each in report.diagnostics):
        return f", among the {unit(report)} that are counted"
    reverses = isinstance(of, ComparedShares) and missing_could_reverse(report, of)
    if of.row is None or not (reverses or could_leave_none(report, of.contrast, of.row)):
        return ""
    needs = of.row.needs
    known = [
        each
        for each in incomplete(report)
        if each in needs or (each == "score" and "prediction" in needs)
    ]
    return f", among the {unit(report)} with a known {listing(known)}" if known else ""


def _nothing_stated(report: Report, words: Vocabulary) -> Sentence:
    """Return the headline without a finding; of some rows alone it clears no other rows."""
    text, source = _no_finding(report, words)
    if conditions := conditions_of(report):
        text += f"; only rows with {listing(conditions, most=3)} were compared with each other"
    return Sentence(text, source)


def _is_tested(report: Report) -> bool:
    return any(each.p_adjusted is not None for each in report.estimates)


def _no_finding(report: Report, words: Vocabulary) -> tuple[str, tuple[str, ...]]:
    if not _is_tested(report):
        return f"No difference between groups could be tested{_alone(report)}", ()
    if offset := _offsetting(report):
        name = report.catalogue.rate_row(offset[0]["metric"]).title
        text = f"No difference in {name} is shown, but differences of both signs offset each other"
        return f"{text} in it", ("diagnostics",)
    for overall, adjusted in shown_adjusted_alone(report.estimates)[:1]:
        source = (f"estimates[{report.estimates.index(adjusted)}]",)
        text = headline_adjusted(report, words, adjusted)
        among = f"{_strata(report)}{among_compared(overall, adjusted)}"
        return f"{text}, adjusted for {among}, but over all rows no difference is shown", source
    found = [each for each in report.estimates if is_significant(each)]
    pairs = any(pair.significant for pair in report.pairs)
    if any(each.reference is not None for each in found) or (found and not pairs):
        return "There are statistically significant differences", ("estimates",)
    within, over = _within_strata(report), " over all rows" * bool(_differ_within_strata(report))
    large = _of_least_size(report)
    if pairs:
        return (
            f"No group{large} differs statistically significantly from its reference{over}, but "
            f"some groups differ from each other{within}"
        ), ("pairs",)
    if differing := _differing_groups(report):
        whole = [each for each in differing if each.get("significant_without") is not False]
        of = dict.fromkeys(called(each.feature or "") for each in whole or differing)
        few = "" if whole else ", those with insufficient data for a comparison included,"
        return (
            f"No single difference between groups{large} is statistically significant{over}, but "
            f"one test of all groups{few} shows that they differ by {listing([*of])}{within}"
        ), ("diagnostics",)
    if over:
        return (
            f"No difference between groups{large} is statistically significant over all rows, "
            f"but{within.removeprefix(', and')}"
        ), ("diagnostics",)
    if report.verdict is Outcome.PASS and all(
        before_counting(each) is Outcome.PASS for each in report.verdicts
    ):
        return f"No group{large} differs statistically significantly from the others", ()
    if (undecided := _undecided(report)) is not None:
        none = f"no difference between groups{large} is shown"
        return f"{undecided}, and {none}", ("verdict",)
    compared = [(e, e.interval) for e in report.estimates if e.interval is not None]
    if compared and all({e.value, *ends} == {e.definition.neutral} for e, ends in compared):
        return f"No group{large} differs from the others in any number that could be compared", ()
    return (
        f"No difference between groups{large} is statistically significant; there may still be one",
        (),
    )


def _is_small(reason: Reason | None) -> bool:
    """Return whether a side is below the smallest size that was asked for."""
    return reason is not None and reason.code is ReasonCode.SMALL_GROUP


def _of_least_size(report: Report) -> str:
    """Return of which groups what is concluded is, where others have insufficient data."""
    small = any(_is_small(each.reason) for each in report.estimates)
    few = any(e.status is Status.TOO_FEW and not _is_small(e.reason) for e in report.estimates)
    size = of_least_size(report.spec) if small else ""
    return f"{size}{' and' * bool(size)} with sufficient data" if few else size


def _strata(report: Report) -> str:
    """Return the column of the strata."""
    return called(strata_named(report.spec.get("strata")) or "the strata")


def _estimated(report: Report, feature: str | None) -> str:
    """Return what the headline about a feature begins with, if nobody recorded its groups."""
    if feature not in {each["name"] for each in report.spec.get("probabilities", ())}:
        return ""
    decide = {
        each.estimator for each in report.estimators if each.feature == feature if each.decides
    }
    if decide == {Estimator.VALIDATED} and _is_answered(report, feature):
        return ""
    if decide != {Estimator.VALIDATED} and _contradicted(report, feature):
        return "Estimated from probabilities, which people's own answers contradict: "
    assumed = _IF_RIGHT.get(decide.pop(), "") if len(decide) == 1 else ""
    return f"Estimated from probabilities{assumed or ', each by the estimator that decides'}: "


_IF_RIGHT = {
    Estimator.VALIDATED: ", corrected by answers",
    Estimator.BOUNDS: ", if these are right",
    Estimator.LIKELIHOOD: ", if these are independent of the outcome within a group",
    Estimator.BRACKET: ", if the two usual estimates bracket the truth",
}
"""What is assumed of groups that nobody recorded, by the estimator that decides."""


def _is_answered(report: Report, feature: str | None) -> bool:
    """Return whether the rates of a feature are those of people's answers alone."""
    return any(
        each.code is DiagnosticCode.GROUP_NOT_RECORDED
        and each.feature == feature
        and bool(each["random"])
        and (each["known"] == each["people"] or bool(each.get("alone")))
        for each in report.diagnostics
    )


def _contradicted(report: Report, feature: str | None) -> bool:
    """Return whether people of known group contradict what estimates of a feature assume."""
    return any(
        each.feature == feature
        and (
            each.code is DiagnosticCode.KNOWN_RATES
            or (each.code is DiagnosticCode.CALIBRATION and each["contradicts"])
        )
        for each in report.diagnostics
    )


def _chosen_from(report: Report, first: Estimate) -> str:
    """Return of how many comparisons the one of the headline was chosen, where no rule chose it."""
    kind = ClassKind.CLASS if first.class_scope.kind is ClassKind.WORST else first.class_scope.kind
    asked = [
        each
        for each in report.estimates
        if (each.metric, each.scope, each.class_scope.kind) == (first.metric, first.scope, kind)
        and each.group is not None
        and each.mirror_of is None
    ]
    of = [each for each in asked if each.interval is not None and each.status is Status.OK]
    if len(of) <= 1:
        return ""
    furthest = max(map(_distance, of))
    largest = math.isclose(_distance(first), furthest)
    which = "the largest difference in" if largest else "one of"
    lacking = [each.reason for each in asked if each not in of]
    only_small = all(map(_is_small, lacking))
    sizes = of_least_size(report.spec) if only_small else " with sufficient data"
    compared = f" between groups{sizes}" if lacking else ""
    row = compared_rate(first.definition)
    rate = "rate" if row is not None and row.is_share else "metric"
    places: dict[str, set[object]] = {
        "cuts" if kind is ClassKind.SELECTION else "classes": {each.class_scope for each in of},
        "thresholds": {each.threshold for each in of},
    }
    several = [numbered(len(found), name) for name, found in places.items() if len(found) > 1]
    over = f" over {listing(several)}" if several else ""
    return f": {which} {len(of):,} comparisons of this {rate}{over}{compared}"


def _distance(each: Estimate) -> float:
    """Return how far a comparison is from no difference."""
    if not is_ratio(each.definition) or each.value is None:
        return abs(gap(each))
    return abs(math.log(each.value)) if each.value else math.inf


def _failed_alone(
    report: Report, words: Vocabulary, disparities: list[StatedFinding]
) -> Sentence | None:
    """Return what the gravest fail is of, where no finding has it: it may not remain among all.

    A fail to the disadvantage of a group is graver than that of a group that is better off.
    """
    if report.verdict is not Outcome.FAIL:
        return None
    failed = [each for each in report.verdicts if before_counting(each) is Outcome.FAIL]
    stated = [
        (each, shares)
        for each in failed
        if (shares := shares_of(report, words, each, turn=is_of_both_sides(each))) is not None
    ]
    stated.sort(key=lambda each: (not each[1].is_worse, each[0].remains is False))
    for first in [each.stated for each in disparities[:1]]:
        better_off = first.failing_beside is not None or (first.fails and first.better)
        if (first.fails and not first.better) or (
            better_off and not any(shares.is_worse for _, shares in stated)
        ):
            return None
    if not stated:
        return None
    verdict, shares = stated[0]
    shares = ComparedShares(report, words, shares.contrast, shares.row)
    if (text := shares.headline()) is None:
        return None
    text = _estimated(report, verdict.feature) + text + _of_known(report, shares)
    if verdict.remains is False:
        text += f", judged by itself, but not {_TOGETHER}"
    return Sentence(text, (f"verdicts[{report.verdicts.index(verdict)}]",))


def _undecided(report: Report) -> str | None:
    """Return which rules are inconclusive, where none fails: "2 of 3 rules are inconclusive"."""
    if not report.by_rule or report.verdict in (Outcome.FAIL, Outcome.PASS):
        return None
    counted, every = Counter(map(_whole_or_some, report.by_rule)), len(report.by_rule)
    parts = [
        (f"{_EVERY_RULE.get(every, f'All {every:,} rules')}" if count == every
         else f"{count:,} of {every:,} rules") + f" {plural(count, *_COUNTED[outcome])}{whom}"
        for outcome in (*_UNDECIDED, Outcome.NONE) for whom in ("", _FOR_SOME)
        if (count := counted[outcome, whom])
    ]  # fmt: skip
    return listing(parts)


def _whole_or_some(rule: RuleResult) -> tuple[Outcome, str]:
    """Return what a rule comes to, and for whom, where it is evaluated for other groups."""
    unevaluated = rule.outcome is Outcome.NOT_EVALUATED
    some = unevaluated and any(each.outcome is not rule.outcome for each in rule.verdicts)
    return rule.outcome, _FOR_SOME if some else ""


def _verdict(report: Report, words: Vocabulary, led: list[StatedFinding]) -> Iterator[Sentence]:
    """Yield what the rules come to, who is outside, and how many comparisons that are."""
    rules = report.by_rule
    if not rules:
        yield from _estimated_groups(report)
        yield from _no_limit(report, "Without a rule there is no verdict.")
        return
    outcomes = [each.outcome for each in rules]
    fails, every = outcomes.count(Outcome.FAIL), len(rules)
    whole = _EVERY_RULE.get(every, f"All {every:,} rules")
    if report.verdict is Outcome.FAIL:
        who = whole if fails == every else f"{fails:,} of {every:,} rules"
        remain = {each.remains for each in report.verdicts}
        alone = f", but not {_TOGETHER}" if False in remain and True not in remain else ""
        text = f"{who} {plural(fails, 'fails', 'fail')}{alone}."
    elif report.verdict is Outcome.PASS:
        passes, ignored = outcomes.count(Outcome.PASS), outcomes.count(Outcome.NONE)
        who = f"{passes:,} of {every:,} rules" if ignored else whole
        text = f"{who} {plural(passes, 'passes', 'pass')}"
        text += f", and {ignored:,} {plural(ignored, *_COUNTED[Outcome.NONE])}" * bool(ignored)
        text += "."
    else:
        text = f"{_undecided(report)}."
    yield Sentence(text, ("verdict",))
    yield from _estimated_groups(report)
    limits = plural(every, "The limit of the rule is", "The limits of the rules are")
    yield from _no_limit(report, f"{limits} this audit's own.")
    if (strata := strata_named(report.spec.get("strata"))) is not None:
        yield from _unadjusted(report, called(strata))
    yield from _rules_in_words(report, words)
    for each in led:
        if each.stated.fails and each.after_adjusting is AfterAdjusting.REVERSES:
            people = "" if each.shares is None else f" for {each.shares.subject}"
            yield Sentence(
                f"After adjusting for {each.column}{each.among} it is the reverse{people}.",
                each.source,
            )
    if report.verdict is Outcome.PASS and not all(each.stated.judged for each in led):
        not_asked = plural(len(rules), "The rule does", "The rules do")
        yield Sentence(f"{not_asked} not ask about every difference below.", ("findings",))
    counted = Counter(before_counting(each) for each in report.verdicts)
    if (every := counted.total()) == 1 or list(counted) == [Outcome.PASS]:
        return
    parts = [
        f"{count:,} {plural(count, *verbs)}{_remaining(report, count) * (outcome is Outcome.FAIL)}"
        for outcome, verbs in _COUNTED.items()
        if (count := counted[outcome])
    ]
    in_all, which = _judged_in_all(report)
    beside = ""
    if which:  # what has insufficient data, or is decided by its value, is not among these
        beside = (
            f": each by the worst of its comparisons ({which}), of which confidence intervals "
            f"judge {in_all:,} in all"
        )
    noun = "verdicts" if which or report.task is Task.MULTICLASS else "comparisons"
    yield Sentence(f"Of {every:,} {noun} {listing(parts)}{beside}.", ("verdicts",))


def _judged_in_all(report: Report) -> tuple[int, str]:
    """Return how many comparisons intervals judge, and which of them a verdict has several of."""
    found = [d for d in report.diagnostics if d.code is DiagnosticCode.FAILS_TOGETHER]
    whole = found[0]["comparisons"] if found else 0
    if whole <= len(report.verdicts):
        return whole, ""
    if report.task is Task.MULTICLASS:
        return whole, "of all classes and of each class"
    positive = report.spec.get("positive")
    ordered = isinstance(positive, Mapping) and "ordered" in positive
    return whole, f"one at each {'cut' if ordered else 'threshold'}"


def _remaining(report: Report, fails: int) -> str:
    """Return how many of the fails remain when all comparisons are judged together."""
    judged = [each.remains for each in report.verdicts if each.remains is not None]
    if not judged:
        return ""
    remaining = judged.count(True)
    together = f"{'also' if remaining == fails else f'{remaining:,}'} when all are judged together"
    by_groups = sum(bool(each.reason.get("together")) for each in report.verdicts)
    return f" ({'; '.join(filter(None, [together, left_open_by_groups(by_groups)]))})"


def _rules_in_words(report: Report, words: Vocabulary) -> Iterator[Sentence]:
    """Yield the rules that decide the verdict in words, with the groups that do."""
    undecided = report.verdict is Outcome.INCONCLUSIVE
    of = (*_UNDECIDED, Outcome.NONE) if undecided else (report.verdict,)
    for each in [each for each in report.by_rule if each.outcome in of][:_MOST_RULES]:
        yield Sentence(rule_sentence(report, words, each, each.outcome), ("verdicts",))


def _estimated_groups(report: Report) -> Iterator[Sentence]:
    """Yield of which features nobody recorded the groups, and what they are estimated from."""
    for i, each in enumerate(report.spec.get("probabilities", ())):
        columns = all_called(each["probabilities"].values())
        by = f", by {called(each['on'])}" if each.get("on") else ""
        name, corrected = capitalised(called(each["name"])), ""
        was = f"{name} was not recorded: it"
        note = next(
            made
            for made in report.diagnostics
            if made.code is DiagnosticCode.GROUP_NOT_RECORDED and made.feature == each["name"]
        )
        if note.get("without"):
            yield Sentence(without_probabilities(note, report), (f"spec.probabilities[{i}]",))
        if _is_answered(report, each["name"]):
            continue  # its warning states whose answers decide
        volunteers = [
            people
            for verdict in report.verdicts
            for reason in reasons_of(verdict)
            if verdict.feature == each["name"] and (people := reason.get("volunteers"))
        ]
        known = f"{name} is known for {note['known']:,} of {numbered(note['people'], 'people')}"
        if note["random"] and note["known"]:
            was = f"{known}, drawn at random: of the others it"
            corrected = ", and rates are corrected by these answers"
        elif note["known"]:
            was = f"{known}, not stated to be drawn at random: in the rates it"
        yield Sentence(
            f"{was} is estimated from probabilities ({columns}{by}){corrected}.",
            (f"spec.probabilities[{i}]",),
        )
        if volunteers:
            yield Sentence(
                f"A pass depends on the answers of {numbered(max(volunteers), 'people')} who were "
                "not drawn at random.",
                ("verdicts",),
            )


def _no_limit(report: Report, so: str) -> Iterator[Sentence]:
    """Yield that the text of the preset sets no limit, and what follows from it."""
    name = report.spec.get("preset")
    if name in preset_names() and (text := preset(name).no_limit):
        yield Sentence(f"{text} {so}", ("spec.preset",))


def _unadjusted(report: Report, strata: str) -> Iterator[Sentence]:
    """Yield that rules are judged on all rows; those of metrics over strata are not."""
    every = len(report.by_rule)
    over_strata = sum(
        any(isinstance(each.definition, ConditionalDisparity) for each in rule.verdicts)
        for rule in report.by_rule
    )
    if of_all := every - over_strata:
        compares = plural(of_all, "compares all rows and is", "compare all rows and are")
        who = f"{of_all:,} of {every:,} rules {compares}" if over_strata else None
        if who is None:
            who = f"{_EVERY_RULE.get(every, f'All {every:,} rules')} {compares}"
        within = ", within which differences are shown" * bool(_differ_within_strata(report))
        yield Sentence(f"{who} not adjusted for {strata}{within}.", ("spec.strata",))


# ---- what was looked at -------------------------------------------------------------------------


def _looked_at(report: Report, words: Vocabulary) -> Iterator[Sentence]:
    data, spec = report.data, report.spec
    used = used_words(report)
    yield Sentence(f"{numbered(data.cases, words.unit)}, {used}.", ("data.cases", "data.used"))
    if rounding := rounding_sentence(report):
        yield Sentence(rounding, ("diagnostics",))
    yield from (Sentence(text, ("spec.where",)) for text in chosen_rows(report))
    features = dict.fromkeys(words.feature(each.feature) for each in report.groups)
    by = listing([f"by {each}" for each in features])
    if (strata := strata_named(spec.get("strata"))) is not None:
        by += f", overall and within {called(strata)}"
    decided, labelled = bool(spec.get("prediction") or spec.get("score")), bool(spec.get("label"))
    if report.task is Task.REGRESSION:
        label, prediction = columns_of(spec)
        text = f"{capitalised(prediction)} was compared with {label} {by}, in the unit of {label}."
        if not (decided and labelled):
            of = prediction if decided else label
            text = f"The average {of} was compared {by}, in the unit of {of}."
    elif report.task is Task.MULTICLASS:
        label, prediction = columns_of(spec)
        classes = dict.fromkeys(
            called(each.class_scope.name)
            for each in report.groups
            if each.class_scope.kind is ClassKind.CLASS
        )
        named = f": {listing(list(classes), 'or')}" if classes else ""
        text = f"Predicted class ({prediction}{named}) and {label}, {by}."
        if not (decided and labelled):
            text = f"The class of {prediction if decided else label}{named} was compared {by}."
    elif decided and labelled:
        decision, outcome = words.both(TP + FP), words.both(TP + FN)
        text = f"Decision ({decision}) and outcome ({outcome}), {by}."
    elif decided:
        text = f"Decision ({words.both(TP + FP)}), {by}."
    elif labelled:
        text = f"Outcome ({words.both(TP + FN)}), {by}; no model was audited."
    else:
        text = f"The numbers of {words.noun} were compared {by}."
    if report.task is Task.BINARY:
        taken = taken_as_better(words, assumed=_is_positive_assumed(report))
        text = " ".join(filter(None, (text, taken)))
    yield Sentence(text, ("spec",))
    if values := not_favourable(report):
        yield Sentence(values, ("diagnostics",))


# ---- who is worse off, and by how much ----------------------------------------------------------


def _worse_off(
    report: Report, words: Vocabulary, disparities: list[StatedFinding]
) -> Iterator[Sentence]:
    for each in led_by(disparities):
        yield Sentence(each.sentence(), each.source)
        if better_off := each.better_off_sentence():
            yield better_off
        if text := each.sentence_within():
            yield Sentence(text, each.source)
    if (pair := disagreement(report, disparities)) is not None:
        yield from (Sentence(e.sentence(), e.source) for e in pair if e not in led_by(disparities))
        yield _disagreeing(*pair)
    yield from _unjudged(report, led_by(disparities))
    every = {contrast.key for each in disparities for contrast in each.differences}
    if (more := len(every) - sum(each.described for each in led_by(disparities))) > 0:
        differences = f"{more:,} more {plural(more, 'difference', 'differences')}"
        if report.task is Task.MULTICLASS:  # of classes it lists each
            differences = "more differences"
        yield Sentence(f"The full report lists {differences}.", ("findings",))
    yield from _only_within_strata(report, words)
    for note in _offsetting(report)[:MOST_FINDINGS]:
        text = f"{called(note.feature or '')} = {describe_diagnostic(note)}."
        yield Sentence(text, (f"diagnostics[{report.diagnostics.index(note)}]",))
    if not disparities:
        yield from _without_disparities(report, words)


def _offsetting(report: Report) -> list[Diagnostic]:
    """Return in which means of rates differences of both signs offset each other."""
    return [d for d in report.diagnostics if d.code is DiagnosticCode.OFFSETTING_PARTS]


def _disagreeing(one: StatedFinding, other: StatedFinding) -> Sentence:
    """Return that two findings of the same people are opposite."""
    text = "The whole list and its top disagree on who is ahead."
    if (first := one.means) is not None and (second := other.means) is not None:
        ways = ("higher", "lower") if first.is_higher else ("lower", "higher")
        text = (
            f"For {first.subject} {first.name} is {ways[0]} and {second.name} is {ways[1]} than "
            f"for {first.other}: the two disagree."
        )
    return Sentence(text, (*one.source, *other.source))


def _without_disparities(report: Report, words: Vocabulary) -> Iterator[Sentence]:
    """Yield what differs where no disparity is stated, or that nothing is shown to."""
    pairs = [pair for pair in report.pairs if pair.significant]
    for pair in pairs[:MOST_FINDINGS]:
        rates = f"{percent(pair.rate_group)} vs {percent(pair.rate_other)}"
        yield Sentence(
            f"{called(pair.group)} and {called(pair.other)} ({called(pair.feature)}) differ in "
            f"{pair.definition.title}: {rates}.",
            ("pairs",),
        )
    if (more := len(pairs) - MOST_FINDINGS) > 0:
        noun = plural(more, "pair of groups differs", "pairs of groups differ")
        yield Sentence(f"{more:,} more {noun} statistically significantly.", ("pairs",))
    adjusted = shown_adjusted_alone(report.estimates)
    for whole, pooled in adjusted[:MOST_FINDINGS]:
        yield _adjusted_alone(report, words, whole, pooled)
    if (more := len(adjusted) - MOST_FINDINGS) > 0:
        noun = plural(more, "difference is", "differences are")
        yield Sentence(f"{more:,} more {noun} shown adjusted for {_strata(report)} alone.")
    others = [] if pairs or adjusted else _other_differences(report)
    for place in others[:MOST_FINDINGS]:
        yield Sentence(f"{report.estimates[place].says}.", (f"estimates[{place}]",))
    if pairs or adjusted or others or _offsetting(report):
        return
    differing = _differing_groups(report)
    for each in differing:
        text = f"{called(each.feature or '')}: {describe_diagnostic(each)}."
        yield Sentence(text, ("diagnostics",))
    if differing:
        return
    for open_ in not_shown(report, words):
        if open_.text is not None:
            yield Sentence(open_.text, open_.source)
    if not _is_tested(report):
        yield Sentence("No difference was tested. This does not show equal treatment.")
        return
    over = " over all rows" * bool(_differ_within_strata(report))
    large = _of_least_size(report)
    between = f" between groups{large}" if large else ""
    yield Sentence(
        f"No difference beyond sampling variation is shown{between}{over}. This does not show "
        "equal treatment."
    )


def _adjusted_alone(
    report: Report, words: Vocabulary, overall: Estimate, adjusted: Estimate
) -> Sentence:
    """Return a difference that is shown adjusted for the strata, and not over all rows."""
    of = compared_rate(adjusted.definition)
    assert of is not None
    text = (
        f"{capitalised(of.title)}{place_of(words, adjusted)} of "
        f"{words.group(adjusted.feature, adjusted.group)}, compared with "
        f"{words.reference(adjusted)}: no difference over all rows is shown "
        f"({uncertainty(singled_out(overall))}), but adjusted for {_strata(report)}"
        f"{among_compared(overall, adjusted)} one is statistically significant "
        f"({uncertainty(singled_out(adjusted))})."
    )
    places = (report.estimates.index(each) for each in (overall, adjusted))
    return Sentence(text, tuple(f"estimates[{place}]" for place in places))


def _differing_groups(report: Report) -> list[Diagnostic]:
    """Return the tests of all groups of a feature at once that show that they differ."""
    return [
        each
        for each in report.diagnostics
        if each.code is DiagnosticCode.HOMOGENEITY and each.get("significant")
    ]


def _insufficient(report: Report, finding: Finding) -> bool:
    """Return whether it is not decided what remains of a difference within strata."""
    codes = {(each.code, each.feature) for each in report.diagnostics}
    return (DiagnosticCode.STRATA_INSUFFICIENT, finding.feature) in codes


def _variation(report: Report, finding: Finding) -> str:
    """Return how an adjusted difference varies over strata, as the end of a headline.

    Of two groups either one's is noted.
    """
    estimate = finding.estimate
    mirrors = (
        each.group
        for each in report.estimates
        if each.feature == estimate.feature and each.mirror_of == estimate.group
    )
    of = estimate.reference and estimate.reference.group
    sides = {estimate.group, of, estimate.mirror_of, *mirrors}
    for each in report.diagnostics:
        asked = (finding.feature, f"{finding.rate}.difference")
        if each.code is not DiagnosticCode.COMPOSITION or each["group"] not in sides:
            continue
        if (each.feature, each["metric"]) != asked:
            continue
        if each["p"] is not None and each["p"] < 1 - (estimate.confidence or 0):
            return ", and it varies over strata"
        if each["outlying"]:
            unlike = listing([called(name) for name in each["outlying"]], most=3)
            are = plural(len(each["outlying"]), "is", "are")
            return f", and {unlike} {are} unlike the others"
    return ""


def _differ_within_strata(report: Report) -> list[Diagnostic]:
    """Return what differs within strata, and is not shown to over all rows."""
    return [each for each in report.diagnostics if each.code is DiagnosticCode.WITHIN_STRATA]


def _within_strata(report: Report) -> str:
    """Return what is shown within strata alone, as the end of a headline; empty if nothing is."""
    every = _differ_within_strata(report)
    if not every:
        return ""
    strata = called(every[0]["strata"])
    if any(each["lower"] and each["higher"] for each in every):
        return f", and within {strata} differences in both directions are shown"
    named = list(
        dict.fromkeys(name for each in every for name in (*each["lower"], *each["higher"]))
    )
    if named:
        which = plural(len(named), "one is shown", "differences are shown")
        return f", and in {strata} {listing([called(each) for each in named], most=3)} {which}"
    return f", and over {strata} differences vary statistically significantly"


def _only_within_strata(report: Report, words: Vocabulary) -> Iterator[Sentence]:
    """Yield which comparisons differ within strata, and are not shown to over all rows."""
    for i, each in enumerate(report.diagnostics):
        if each.code is not DiagnosticCode.WITHIN_STRATA:
            continue
        of, (place, first) = each.definition, _overall(report, each)
        assert isinstance(of, Contrast)
        yield Sentence(
            f"{capitalised(of.of.title)}{place_of(words, first)} of "
            f"{words.group(each.feature, each['group'])}, compared with "
            f"{words.reference(first)}: no difference over all rows is shown, but "
            f"{within_strata(each)}.",
            (f"diagnostics[{i}]", f"estimates[{place}]"),
        )


def _overall(report: Report, within: Diagnostic) -> tuple[int, Estimate]:
    """Return the place of the comparison of all rows that differs within strata, and this."""
    key = within["metric"], within.feature, within["group"], within["class"], within["threshold"]
    return next(
        (i, each)
        for i, each in enumerate(report.estimates)
        if each.scope == OVERALL
        and (each.metric, each.feature, each.group, each.class_, each.threshold) == key
    )


def _unjudged(report: Report, led: list[StatedFinding]) -> Iterator[Sentence]:
    """Yield which of the stated differences no rule is about."""
    found = [each for each in led if report.verdicts and not each.stated.judged]
    if found:
        which = "the first" if found[0] is led[0] else "the second"
        these = plural(len(found), f"{which} difference", "these differences")
        yield Sentence(
            f"No rule is about {these if led[1:] else 'this difference'}.", found[0].source
        )


def _other_differences(report: Report) -> list[int]:
    """Return the places of significant estimates that are no findings, those that fail first."""
    failed = {
        (each.metric, each.feature, each.group)
        for each in report.verdicts
        if each.outcome is Outcome.FAIL
    }
    return sorted(
        (i for i, each in enumerate(report.estimates) if is_significant(each)),
        key=lambda i: (
            ((each := report.estimates[i]).metric, each.feature, each.group) not in failed
        ),
    )


def _wronged(shares: ComparedShares) -> tuple[int, str, str] | None:
    """Return how many people who are worse off got a wrong decision, who they are, and which."""
    mine, row = shares.shares[0], shares.row
    if not shares.is_worse or mine is None or mine.hits is None or mine.size is None:
        return None
    if (row.of, row.among) not in ((TP, TP + FN), (FP, TN + FP)):
        return None
    of_hits = _is_of_hits(shares)
    decision = shares.words.event(TN + FN if of_hits else TP + FP)
    if decision is None:
        return None
    wrongly = mine.size - mine.hits if of_hits else mine.hits
    return wrongly, shares.rate.among(shares.subject), decision.happened


def _is_of_hits(shares: ComparedShares) -> bool:
    """Return whether the rate counts who was decided rightly: who was not, was wronged."""
    return shares.row.of == TP


# ---- how certain, what not, what next -----------------------------------------------------------


def _certainty(
    report: Report, words: Vocabulary, disparities: list[StatedFinding]
) -> Iterator[Sentence]:
    yield from _intervals(report, words, disparities)
    open_ones = [e for e in report.verdicts if before_counting(e) is Outcome.INCONCLUSIVE]
    codes = [{reason.code for reason in reasons_of(each)} for each in open_ones]
    for code, why in WHY_ON_ONE_SIDE.items():
        if on_one_side := codes.count({code}):
            beside = ", although the whole CI is on one side of the limit"
            beside *= code not in (
                _NOT_COUNTED,
                _UNCLEAR,
                _UNSTATED,
            )  # of which a value alone may decide
            yield Sentence(f"Inconclusive ({on_one_side:,}){beside}: {why}.", ("verdicts",))
    if any(len(of) > 1 or not of <= WHY_ON_ONE_SIDE.keys() for of in codes):
        yield Sentence(
            "“Inconclusive”: the data allow both a pass and a fail.",
            ("verdicts",),
        )
    fails = [e for e in report.verdicts if before_counting(e) is Outcome.FAIL]
    if open_fails := [part for each in fails if (part := _open_part(each)) is not None]:
        most = max(open_fails, key=lambda each: float(each.reason["missing"])).reason
        it = plural(len(open_fails), "it", "them")
        who = plural(len(open_fails), "A fail leaves", f"{len(open_fails):,} fails leave")
        lacking = missing_outcome(open_fails[0])
        yield Sentence(
            f"{who} out the {most['missing']:,} {most.get('unit') or 'rows'} {lacking}, which "
            f"could change {it}, but take back no fail.",
            ("verdicts",),
        )
    unbounded = [
        each
        for each in report.verdicts
        if each.reason.code in (ReasonCode.RATIO_MAY_BE_ZERO, ReasonCode.RATIO_NOT_ABOVE_ZERO)
        if before_counting(each) is Outcome.NOT_EVALUATED
    ]
    if unbounded:
        whom = [words.group(each.feature, each.group) for each in unbounded if each.group]
        who = listing(list(dict.fromkeys(whom)), most=3)
        yield Sentence(
            f"Not evaluated for {who}: {describe_reason(unbounded[0].reason)}. A rule on the "
            "difference can be evaluated.",
            ("verdicts",),
        )
    yield from _small(report, words)
    if unevaluated := [each for each in report.verdicts if _lacks_data(report, each)]:
        named = [words.group(each.feature, each.group) for each in unevaluated if each.group]
        of = f" of {listing(list(dict.fromkeys(named)), most=3)}" if named else ""
        yield Sentence(
            f"Not evaluated, {_lacking(unevaluated)}: "
            f"{numbered(len(unevaluated), 'comparisons')}{of}.",
            ("verdicts",),
        )
        return
    if (sparse := _sparse(report, words)) is not None:
        yield Sentence(sparse)


def _open_part(verdict: Verdict) -> Verdict | None:
    """Return a verdict, or the first of its alternatives, that missing outcomes could change."""
    parts = verdict.alternatives or (verdict,)
    return next((part for part in parts if part.reason.get("missing") is not None), None)


def _sparse(report: Report, words: Vocabulary) -> str | None:
    """Return which comparisons have insufficient data, by group; None where all have enough.

    An average over classes, and the class that differs most, lack what single classes lack.
    """
    compared: dict[str, list[Estimate]] = {}
    for each in report.estimates:
        of_one = each.class_scope.kind not in (ClassKind.AVERAGE, ClassKind.WORST)
        if each.group and each.scope.kind is ScopeKind.OVERALL and of_one:
            compared.setdefault(words.group(each.feature, each.group), []).append(each)
    whole: list[str] = []
    some: list[str] = []
    for people, estimates in compared.items():
        if any(each.status is Status.TOO_FEW and not _is_small(each.reason) for each in estimates):
            usable = any(each.status is Status.OK for each in estimates)
            (some if usable else whole).append(people)
    parts = [
        f"for {which} comparisons of {listing(named, most=3)}"
        for which, named in (("all", whole), ("some", some))
        if named
    ]
    return f"Insufficient data {', and '.join(parts)}." if parts else None


def _small(report: Report, words: Vocabulary) -> Iterator[Sentence]:
    """Yield the groups below the smallest size with their shares, the most different first."""
    small: dict[str, list[Estimate]] = {}
    for each in sorted(report.estimates, key=lambda each: -abs(gap(each))):
        if each.group and each.scope == OVERALL and each.reason and _is_small(each.reason):
            of_group = each.reason.side == "group"
            people = words.group(each.feature, each.group) if of_group else words.reference(each)
            small.setdefault(people, []).append(each)
    for people, estimates in [*small.items()][:_MOST_SMALL]:
        stated = ((each, _shares_in_words(report, words, each)) for each in estimates)
        first, text = next((each for each in stated if each[1]), (estimates[0], ""))
        yield Sentence(
            f"Nothing is concluded about {people}, {insufficiency([first.reason])}"
            f"{f': {text[:1].lower()}{text[1:]}' if text else '.'}",
            (f"estimates[{report.estimates.index(first)}]",),
        )
    if (more := len(small) - _MOST_SMALL) > 0:
        are = plural(more, "group is", "groups are")
        yield Sentence(f"{more:,} more {are} below the smallest size.", ("groups",))


def _shares_in_words(report: Report, words: Vocabulary, each: Estimate) -> str:
    """Return both shares of a comparison as counts; empty where it has none."""
    row = compared_rate(each.definition)
    if not isinstance(row, Rate) or not each.class_scope.is_single:
        return ""
    return ComparedShares(report, words, each, row, turn=False).sentence() or ""


def _intervals(
    report: Report, words: Vocabulary, disparities: list[StatedFinding]
) -> Iterator[Sentence]:
    """Yield the intervals of what is stated, overall and within strata, and what an interval is."""
    stated_above: tuple[str, ...] = ()
    explained: list[Estimate] = []
    averaged = ""
    for each in led_by(disparities):
        if text := each.interval_sentence():
            yield Sentence(text, each.source)
            explained.append(each.finding.estimate)
        elif (
            each.shares is None
            and each.means is None
            and each.finding.estimate.simultaneous is not None
        ):
            stated_above += each.source
        if text := each.interval_within():
            yield Sentence(text, each.source)
            averaged = averaged or _averaged(each)
    for open_ in [] if disparities else not_shown(report, words):
        if open_.interval is not None:
            yield Sentence(open_.interval, open_.source)
            explained.append(open_.contrast)
    if averaged:
        yield Sentence(averaged)
    if (text := _both_estimates(report, explained)) is not None:
        yield Sentence(text, ("estimators",))
    if explained:
        yield Sentence(_interval_in_words(explained))
    if stated_above:  # of numbers without counts of people the sentence has the interval
        yield Sentence(
            "The simultaneous intervals above hold for all comparisons of the report together.",
            stated_above,
        )


def _both_estimates(report: Report, explained: list[Estimate]) -> str | None:
    """Return the two estimates between which the first bracket that is stated lies."""
    first = next(
        (e for e in explained if e.interval and IntervalMethod.BRACKET in e.interval.methods), None
    )
    if first is None:
        return None
    at = first.metric, first.feature, first.group, first.class_scope, first.threshold
    made = {
        each.estimator: metric_value(first.definition, each.value)
        for each in report.estimators
        if (each.metric, each.feature, each.group, each.class_scope, each.threshold) == at
    }
    return (
        f"The CI for {called(first.group)} is of two estimates together: "
        f"{made[Estimator.LIKELIHOOD]}, the one stated, and {made[Estimator.WEIGHTED]}, by usual "
        "weights (BISG)."
    )


def _averaged(found: StatedFinding) -> str:
    """Return of what an adjusted difference is the average."""
    return f"Adjusted for {found.column}: the average difference within {found.column}."


_ASSUMED = OF_PROBABILITIES - {IntervalMethod.VALIDATED_SAMPLE}


def _interval_in_words(stated: list[Estimate]) -> str:
    """Return what the intervals above are, for whom has never met one."""
    level = f"{100 * (stated[0].confidence or 0):.4g}"
    holds = ""
    if any(_ASSUMED & set(each.interval.methods) for each in stated if each.interval):
        holds = " Of groups from probabilities this holds only if what is assumed of them does."
    if not all(each.simultaneous for each in stated):
        return f"{interval_in_words(stated[0].confidence or 0)}.{holds}"
    return (
        f"{level}% CI (confidence interval): in {level} of 100 such audits all ranges contain the "
        f"true value.{holds}"
    )


def _lacking(verdicts: list[Verdict]) -> str:
    if all(_is_small(each.reason) for each in verdicts):
        return insufficiency([each.reason for each in verdicts])
    return _constant(verdicts) or "insufficient data"


def _constant(verdicts: Iterable[Verdict]) -> str:
    """Return what is the same in all rows, if nothing is evaluated for that reason alone."""
    found = dict.fromkeys(_of_one_value(each.reason) for each in verdicts)
    return "" if "" in found else " and ".join(found)


def _of_one_value(reason: Reason) -> str:
    if reason.code is ReasonCode.FEW_EXPECTED and reason["expected"] == 0:
        return "every rate is the same 0% or 100%"
    return describe_reason(reason) if reason.code is ReasonCode.ONE_VALUE else ""


def _lacks_data(report: Report, verdict: Verdict) -> bool:
    """Return whether a rule is not evaluated because the data of its comparison are too few."""
    if before_counting(verdict) is not Outcome.NOT_EVALUATED:
        return False
    judged = (verdict.feature, verdict.group, verdict.class_scope, OVERALL)
    rates = (
        each.rates.get(verdict.metric)
        for each in report.groups
        if (each.feature, each.group, each.class_scope, each.scope) == judged
        and verdict.threshold in (None, each.threshold)
    )
    measured = estimate_of(report, verdict) or next(rates, None)
    return measured is not None and measured.status is Status.TOO_FEW


def _cheapest(report: Report, words: Vocabulary) -> str | None:
    """Return whose inconclusive comparison the fewest more rows would probably decide."""
    found = [
        (rows_of_group(each.reason), each)
        for each in report.verdicts
        if before_counting(each) is Outcome.INCONCLUSIVE and each.group is not None
    ]
    decidable = [(rows, each) for rows, each in found if rows is not None]
    if not decidable:
        return None
    (needed, _, has), verdict = min(
        decidable, key=lambda one: float(one[0][0].replace(",", "")) / _number(one[0][2])
    )
    rule = [each.rule for each in report.by_rule].index(verdict.rule) + 1
    of = f"rule {rule}" if len(report.by_rule) > 1 else "the rule"
    people = words.group(verdict.feature, verdict.group)
    contrast = estimate_of(report, verdict)
    row = None if contrast is None else compared_rate(contrast.definition)
    if isinstance(row, Rate) and row.among != ALL:  # only these are counted
        among = RateWords(words.at(verdict.class_scope, verdict.threshold), row).among(people)
        people = f"{people} of whom the {row.title} is" if among == people else among
    return (
        f"about {needed} {people} (the data have {has}) and others in proportion would probably "
        f"decide {of} for them"
    )


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _limits(report: Report, words: Vocabulary) -> Iterator[Sentence]:
    spec = report.spec
    document = spec.get("document") or {}
    if caveat := document.get("caveat"):
        yield Sentence(called(caveat), ("spec.document.caveat",))
    if report.task is Task.REGRESSION and spec.get("label") and spec.get("prediction"):
        label, _ = columns_of(spec)
        yield Sentence(
            f"Whether such errors are large beside the average {label} (--metrics mean_label)."
        )
    strata = strata_named(spec.get("strata"))
    adjusted = strata and not strata_leave_nothing(report)
    beside = f" (the audit adjusted for {called(strata)} alone)" if adjusted else ""
    limit = f", or {_own_limits(spec)}," if report.verdicts else ""
    yield Sentence(f"Why gaps exist{beside}; whether they{limit} are fair.")
    if any(
        each.decides and each.estimator is not Estimator.VALIDATED for each in report.estimators
    ):
        yield Sentence(
            "Whether the probabilities are right, and what is assumed with them: only people's own "
            "answers show it.",
            ("estimators",),
        )
    decided = spec.get("prediction") or spec.get("score")
    refused = words.event(TP + FP if words.favourable is Favourable.NEGATIVE else TN + FN)
    outcome = words.event(TP + FN)
    if decided and spec.get("label") and report.task is Task.BINARY and refused and outcome:
        people = joined(words.noun, refused.among)
        yield Sentence(
            f"How it is known whether {people} {outcome.happened}.",
            ("spec.label",),
        )
    columns = [called(each["column"]) for each in spec.get("sensitive", ())]
    columns += [called(each["name"]) for each in spec.get("probabilities", ())]
    groups = f"Groups beyond {listing(columns)}; other" if columns else "Other"
    period = document.get("period")
    yield Sentence(f"{groups} times and places{f' than {called(period)}' if period else ''}.")


def _own_limits(spec: Mapping[str, Any]) -> str:
    """Return the limits, with who set them where that is not the preset."""
    name = spec.get("preset")
    of_preset = name in preset_names() and "rules" in preset(name).options
    return "the limits" if of_preset else "the limits of this audit"


def _is_positive_assumed(report: Report) -> bool:
    return any(each.code is DiagnosticCode.ASSUMED_POSITIVE for each in report.diagnostics)


def _explaining_steps(
    report: Report, disparities: list[StatedFinding], failed: list[Verdict]
) -> Iterator[Sentence]:
    """Yield what would show where the difference arises that the page reports first.

    It answers for this very difference: of one that has no decomposition, the audit compares
    people alike in another column.
    """
    spec, strata = report.spec, strata_named(report.spec.get("strata"))
    strata = None if strata_leave_nothing(report) else strata
    stated = next(
        ((each.shares or each.means, each.finding.estimate) for each in disparities), None
    )
    first: Estimate | Verdict | None = next(iter(failed), None)
    if stated is not None:
        first = stated[1] if stated[0] is None else stated[0].contrast
    for within in _differ_within_strata(report)[: first is None]:
        _, first = _overall(report, within)
    for _, adjusted in shown_adjusted_alone(report.estimates)[: first is None]:
        first = adjusted
    if first is None or spec.get("probabilities"):
        return
    row = compared_rate(first.definition)
    if can_decompose(report) and has_decomposition(row):
        line = command_decomposing(spec, row)
        if disparities and disparities[0].after_adjusting is AfterAdjusting.LEAVES_OUT:
            yield supplier(
                f"complete {disparities[0].column}, or give the rows without a value one of their "
                "own, and audit again."
            )
            return
        if strata is not None:
            yield analyst(
                f"see how the difference divides over {called(strata)}, with intervals ({line}, "
                "with the same --strata)."
            )
            return
        yield analyst(f"find where the gap arises ({line} --strata COLUMN).")
    elif strata is None and isinstance(first.definition, Contrast) and _has_counts(report, first):
        yield analyst("compare people alike in another column (--strata COLUMN).")


def _has_counts(report: Report, first: Estimate | Verdict) -> bool:
    """Return whether an audit adjusts a comparison for strata: exact counts, and no scores."""
    return not rounded_to(report) and "score" not in first.definition.needs


def _steps_of_estimated_groups(report: Report) -> Iterator[Sentence]:
    """Yield how many people to ask for their group, which settles what probabilities cannot."""
    for i, each in enumerate(report.diagnostics):
        if each.code is not DiagnosticCode.GROUP_NOT_RECORDED:
            continue
        answers, known = each.get("answers"), each["known"]
        answered = known if each["random"] else 0
        of = [verdict for verdict in report.verdicts if verdict.feature == each.feature]
        decided = of and all(verdict.outcome not in _UNDECIDED for verdict in of)
        if answered and (decided if answers is None else answers <= answered):
            continue
        path = (f"diagnostics[{i}]",)
        if known and not each["random"]:
            yield analyst(
                f"state whether the {known:,} people of known {called(each.feature or '')} were "
                "drawn at random (known_drawn = random): their answers then correct the estimate.",
                path,
            )
        who, so_many = "randomly drawn people", ""
        if answered and answers is None:
            who = f"more {who} (beyond the {answered:,} who answered)"
        elif answers is not None:
            included = (
                f" in all, {answered:,} of whom were asked already," if answered else " in all"
            )
            who = f"about {rounded_up(answers):,} {who}{included}"
            so_many = (
                f" The answers of so many show the difference of {called(each['shown'])} to within "
                "5 of 100; smaller groups need more."
            )
        plan = " How many decide each rule: fairgauge plan." if report.spec.get("rules") else ""
        yield supplier(
            f"ask {who} for their {called(each.feature or '')}, and name the column of their "
            f"answers (known, with known_drawn = random): it settles what probabilities "
            f"cannot.{so_many}{plan}",
            path,
        )


def _after_fails(report: Report) -> Iterator[Sentence]:
    """Yield who decides what becomes of a fail; reports are compared of recorded groups."""
    if report.spec.get("probabilities"):
        yield owner("decide what changes, then have the same rules audited again.")
    else:
        yield owner("decide what changes, then have reports compared (fairgauge compare).")


def _later_steps(report: Report, words: Vocabulary) -> Iterator[Sentence]:
    """Yield what comes after an audit without fails; monitors are for recorded groups."""
    estimated = {each["name"] for each in report.spec.get("probabilities", ())}
    if report.verdict is Outcome.PASS:
        if not estimated:
            yield analyst("check the same rules over time (fairgauge monitor).")
    elif not report.verdicts and _has_tables_to_publish(report.spec):
        lacking = unstated(report)
        if rounded_to(report):
            yield analyst("make the tables to publish of the exact counts: these are rounded.")
        elif lacking is not None:
            yield owner(f"state {lacking[0]} ({lacking[1]}), then sign and publish the tables.")
        else:
            yield owner("publish the tables as the preset calls for, and sign them.")
    elif not report.verdicts:
        yield owner("decide which difference is tolerable; a rule would give a verdict.")
    elif any(
        each.value is not None
        and each.outcome in _UNDECIDED
        and each.feature not in estimated
        and all(map(_by_more_rows, reasons_of(each)))
        for each in report.verdicts
    ):
        if constant := _constant(each for each in report.verdicts if each.outcome in _UNDECIDED):
            yield analyst(f"check the outcome: {constant}.")
            return
        needed = _cheapest(report, words)
        more = f"more rows: {needed}" if needed else "more rows"
        planned = any(each.of_separate_rates for each in report.estimates)
        yield owner(f"decide whether to collect {more}{' (fairgauge plan)' * planned}.")


def _by_more_rows(reason: Reason) -> bool:
    """Return whether more rows could decide a rule: not where what rows lack leaves it open."""
    others = (*WHY_ON_ONE_SIDE, *_OF_MISSING, *WITHOUT_METHOD)
    return reason.code not in others and reason.get("open_rows") is None


def _lacks_direction(report: Report, words: Vocabulary) -> bool:
    """Return whether nobody stated which amounts are the better ones for people."""
    return report.task is Task.REGRESSION and words.favourable not in AMOUNTS


def _amount(report: Report) -> str:
    """Return the column whose amounts are compared."""
    label, prediction = columns_of(report.spec)
    return label if report.spec.get("label") else prediction


_CLEARED_BY = {
    "clear identifier": "write the identifiers of each person alike, and count the rows again.",
    OF_ONE_PERSON: (
        "recode the identifier that probably stands for several people (--recode, as its "
        "warning states), and count the rows again."
    ),
    UNSTATED: (
        "state whether the positive outcome is good or bad for people (--favourable positive, or "
        "negative)."
    ),
    APART: (
        "check that the predictions are the model's, not a copy of the label (--prediction): "
        "they are equal in all rows."
    ),
    SCORE_APART: "check that the scores are the model's, not a copy of the label (--score).",
    ALIKE: "check that the data hold all rows of the group in the warning, not one outcome alone.",
}
"""What to do first about rows that are unclear, by what they lack."""


def _missing_statements(report: Report, words: Vocabulary) -> Iterator[Sentence]:
    """Yield what nobody stated, without which it is not known who is worse off."""
    if _lacks_direction(report, words):
        yield analyst(
            f"state whether higher values of {_amount(report)} are better for people "
            "(--favourable higher, or lower)."
        )
    if _is_positive_assumed(report):
        yield analyst(
            "state which value is the favourable outcome (fairgauge audit --positive VALUE)."
        )
    reasons = [reason for each in report.verdicts for reason in reasons_of(each)]
    unclear = {each["what"] for each in reasons if each.code in (_UNCLEAR, _UNSTATED)}
    yield from (analyst(step) for what, step in _CLEARED_BY.items() if what in unclear)
    unclear -= _CLEARED_BY.keys()
    if any(each.code is DiagnosticCode.SAME_NAMES for each in report.diagnostics):
        unclear = {what for what in unclear if not what.startswith(SPELT)}
    if unclear:
        yield analyst(
            "state what the values in the warnings mean (--positive, --unknown, --recode, --where)."
        )
    if _states_gaps(report.spec) and report.spec.get("reference") in _NO_GROUP:
        yield analyst(
            "name the group that the preset compares with (fairgauge audit --reference "
            "COLUMN=VALUE)."
        )
    if _states_gaps(report.spec) and not report.spec.get("strata"):
        yield analyst(
            "name the column of the categories that the preset looks at (fairgauge audit --strata "
            "COLUMN)."
        )
    if report.task is Task.MULTICLASS and not report.spec.get("positive"):
        yield analyst(
            "state which class is favourable, if one is (fairgauge audit --positive CLASS)."
        )


def _recoding_steps(report: Report) -> Iterator[Sentence]:
    """Yield which values to recode first: a reference that is no group, and other spellings."""
    references = {
        (each.feature, each.reference.group)
        for each in report.estimates
        if each.reference is not None and each.reference.kind in _CHOSEN
    }
    unknown = [
        each
        for each in report.diagnostics
        if each.code is DiagnosticCode.MISSING_MARKER
        and (each.feature, each["value"]) in references
    ]
    for each in unknown:
        given = flag_of("unknown", each["value"])
        yield analyst(
            f"name {quote(each['value'])} as unknown ({given}) if it means that the value is "
            f"missing: it is the reference of {called(each.feature or '')} now, and cannot be then."
        )
    for by_option in (True, False):
        respelled = [
            called(each.feature or "")
            for each in report.diagnostics
            if each.code is DiagnosticCode.SAME_NAMES
            and each.feature
            and (each.get("options") is not False) is by_option
        ]
        if respelled:
            recode = (
                "recode {} first, with --recode" if by_option else "correct {} in the data first"
            )
            lines = "; the notes of the whole report have the lines" * by_option
            yield analyst(
                f"{recode.format(listing(respelled))}: some values look like spellings of one "
                f"category{lines}."
            )


def _states_gaps(spec: Mapping[str, Any]) -> bool:
    """Return whether the preset looks at gaps in categories of people."""
    name = spec.get("preset")
    return name in preset_names() and preset(name).category_limit is not None


def _has_tables_to_publish(spec: Mapping[str, Any]) -> bool:
    name = spec.get("preset")
    named = name in preset_names() and bool(preset(name).published_metrics)
    return named or _states_gaps(spec)


def _recording_steps(report: Report, words: Vocabulary) -> Iterator[Sentence]:
    """Ask for the groups and outcomes that many rows lack."""
    for each in report.diagnostics:
        if each.code is DiagnosticCode.MISSING_GROUPS and (
            each["rows"] > _MANY_MISSING * each["total"]
        ):
            columns, every = (
                words.feature(each.feature, together=""),
                numbered(each["total"], unit(report)),
            )
            lack = "lack at least one of them" if each.get("columns") else "have no group"
            yield supplier(f"record {columns} where missing: {each['rows']:,} of {every} {lack}.")
    lacking: dict[str, Diagnostic] = {}
    unclear = {
        d["column"] for d in report.diagnostics if d.code is DiagnosticCode.PEOPLE_UNCLEAR
    } - {None}
    for each in report.diagnostics:
        if each.code is DiagnosticCode.MISSING_OUTCOMES and each["most_share"] > _MANY_MISSING:
            held = lacking.setdefault(each["what"], each)
            lacking[each["what"]] = max(held, each, key=itemgetter("total"))
    for what, each in lacking.items():
        name, every = report.spec.get(what) or what, numbered(each["total"], unit(report))
        where, none = "missing", "none"
        if unclear & {name, report.spec.get("order")}:  # of them several decisions are recorded
            where, none = "missing, or contradictory", "none that is known"
        yield supplier(
            f"record {called(name)} where {where}: {each['rows']:,} of {every} have {none}."
        )


def _steps(
    report: Report, words: Vocabulary, disparities: list[StatedFinding]
) -> Iterator[Sentence]:
    """Yield what the result asks for next; the first three are shown."""
    spec = report.spec
    failed = [
        each
        for each in report.verdicts
        if before_counting(each) is Outcome.FAIL and each.remains is not False
    ]
    remaining = bool(failed)
    yield from _missing_statements(report, words)
    yield from _recoding_steps(report)
    yield from _recording_steps(report, words)
    reasons = (reason for each in report.verdicts for reason in reasons_of(each))
    for what in {each["what"] for each in reasons if each.code is _NOT_COUNTED}:
        yield supplier(f"give every row that is to count a {what}; the others are in no number.")
    yield from _steps_of_estimated_groups(report)
    yield from _explaining_steps(report, disparities, failed)
    led = (each.shares for each in led_by(disparities) if each.shares is not None)
    wronged = next(filter(None, map(_wronged, led)), None)
    if wronged is not None:
        number, people, decided = wronged
        joint = "and" if f" {words.which} " in people else words.which
        yield reader(f"read a sample of the {number:,} {people} {joint} {decided}.")
    undecided = report.verdict in _UNDECIDED and not remaining
    if remaining:
        yield from _after_fails(report)
    elif undecided:
        yield from _later_steps(report, words)
    if subgroups_not_examined(report):
        yield analyst(
            "look for smaller groups, by several columns together, that fare worse (fairgauge "
            "find)."
        )
    by_thresholds = any(is_of_decisions(e.definition) and not e.alternatives for e in failed)
    if by_thresholds and spec.get("score") and spec.get("label"):
        yield analyst("see what another threshold would give and cost (fairgauge thresholds).")
    if not (remaining or undecided):
        yield from _later_steps(report, words)
