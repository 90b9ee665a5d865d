"""The brief of a monitor: what left its tolerated range, since when, and how certain that is."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from fairgauge.catalogue.comparisons import Contrast, is_of_all_groups
from fairgauge.enums import ReferenceRule
from fairgauge.question.rules import limits_of
from fairgauge.render.brief._compared_shares import rate_words
from fairgauge.render.brief._frequencies import Share, common_counts, counted_changes, size_words
from fairgauge.render.brief._next_steps import analyst, owner, reader, supplier
from fairgauge.render.brief._rules_in_words import share_rule_in_words
from fairgauge.render.brief._vocabulary import (
    ANY_DECISION,
    UNFAIR,
    AllPeople,
    Vocabulary,
    interval_in_words,
    some,
    without_outcome,
)
from fairgauge.render.words.display_names import called, capitalised
from fairgauge.render.words.metric_words import compared_rate
from fairgauge.render.words.monitor_sentences import (
    counted_each_time,
    counted_unit,
    describe_insufficient,
    describe_lacking,
    describe_now,
    describe_outside,
    describe_parts,
    describe_promise,
    describe_values,
    describe_waiting,
    explain_evidence,
    look_first,
    of_strata,
    over_periods,
    tolerated_words,
    turned_around,
    within_period,
)
from fairgauge.render.words.numbers import listing, numbered, plural
from fairgauge.render.words.rule_words import monitored_rules
from fairgauge.results.brief import Brief, Sentence
from fairgauge.results.monitor_results import (
    Currently,
    HistoryFinding,
    MonitoredComparison,
    MonitorReport,
    MonitorState,
    PooledPeriods,
    lately_outside,
)

_MOST_ALARMS, _MOST_STEPS, _MOST_NAMED, _MOST_LIMITS = 2, 3, 4, 4
_OF_POSITIVE = re.compile("positive|selected|accepted", re.IGNORECASE)
_FEWEST_LATELY = 3
"""Fewer periods in a row are often outside through sampling variation."""


def monitor_brief(report: MonitorReport) -> Brief:
    """Return the brief of a monitor."""
    words = vocabulary_of(report)
    alarms = [_Alarmed(report, words, each) for each in report.alarms]
    # without an alarm, the comparison that is nearest to one states who is worse off
    known = [
        _Compared(report, words, each)
        for each in report.gravest
        if not alarms and each.last is not None
    ][:1]
    brief = Brief(
        headline=_headline(report, alarms),
        verdict=tuple(_verdict(report, words)),
        looked_at=tuple(_looked_at(report, words)),
        found=tuple(_found(alarms) if alarms else _found_now(report, known)),
        certainty=tuple(_certainty(report, alarms, known)),
        limits=tuple(_limits(report, alarms))[:_MOST_LIMITS],
        steps=tuple(_steps(report, alarms))[:_MOST_STEPS],
        question=f"{'What changed' if alarms else 'Who is worse off'}, and by how much",
    )
    positive = words.positive_sentence()
    names = [each.metric for each in report.comparisons]
    sentences = [str(each) for _, part in brief.answers for each in part]
    used = _OF_POSITIVE.search(" ".join([str(brief.headline), *sentences, *names]))
    if positive and used and report.spec.get("positive"):  # without, each class may be in turn
        explained = (*brief.looked_at, Sentence(positive, ("spec.positive",)))
        return replace(brief, looked_at=explained)
    return brief


def vocabulary_of(report: MonitorReport) -> Vocabulary:
    """Return the words of a monitor, with the groups that it compares."""
    named = dict.fromkeys((each.feature, each.group) for each in report.comparisons)
    return Vocabulary(
        report.spec,
        [(feature, group, None, None) for feature, group in named],
        decisions=None if report.spec.get("prediction") else ANY_DECISION,
    )


def drawn_caption(report: MonitorReport, each: MonitoredComparison) -> str | None:
    """Return what a chart over time is of, in words: who is compared with whom, and what may be."""
    found, row = _Compared(report, vocabulary_of(report), each), each.definition
    rate = found.rate
    if rate is None or rate.event is None or not isinstance(row, Contrast):
        return None
    one, other = f"{rate.among(found.subject)} {rate.event.happened}", rate.among(found.other)
    if row.order != "group - reference":
        return None
    allowed = f"allowed: {tolerated_words(each)}"
    if row.by == "ratio":
        return f"How many times as often {one} as {other}; {allowed}"
    return f"How much more (+) or less (−) often {one} than {other} (percentage points); {allowed}"


class _Compared:
    """A comparison in words, as its group is compared with the other."""

    def __init__(self, report: MonitorReport, words: Vocabulary, each: MonitoredComparison) -> None:
        self.each = each
        self.source: tuple[str, ...] = (f"comparisons[{report.comparisons.index(each)}]",)
        row = compared_rate(each.definition) or each.definition
        self.rate = rate_words(words, row) if each.class_ is None else None
        self.subject = words.group(each.feature, each.group)
        others = report.spec.get("reference") == ReferenceRule.OTHERS
        self.other: str = AllPeople(words.noun, other=True)
        self.of_others = others and bool(each.reference)
        if not others or each.reference != ReferenceRule.OTHERS:
            self.other = words.group(each.feature, each.reference)

    def ranging(self, low: float | None, high: float | None) -> str | None:
        """Return a range of its values: "between 4 and 20 fewer of 100 women than of 100 men"."""
        row, rate = self.each.definition, self.rate
        if rate is None or low is None or high is None or not math.isfinite(high):
            return None
        if not isinstance(row, Contrast):
            near, far = ("0" if end == 0 else size for end, size in
                         zip((low, high), size_words((low, high), 100), strict=True))  # fmt: skip
            people, happened = rate.among(some(self.subject)), getattr(rate.event, "happened", None)
            return happened and f"between {near} and {far} of 100 {people} {happened}"
        if row.order != "group - reference":
            return None
        sides = self.subject, self.other
        return (rate.times_as_often if row.by == "ratio" else rate.apart)((low, high), *sides)

    def limit_left(self, value: float | None) -> str:
        """Return on which side a value is outside of its limits, in words."""
        each, rate = self.each, self.rate
        event = None if rate is None else rate.event
        below, above = (
            value is not None and value < each.low,
            value is not None and value > each.high,
        )
        if rate is None or event is None or not (below or above):
            return describe_outside(each)
        limit, subject = (each.low if below else each.high), rate.among(self.subject)
        if not isinstance(each.definition, Contrast):
            size = "fewer" if below else "more"
            return f"{size} than {100 * limit:.4g} of 100 {subject} {event.happened}"
        often, other = "less" if below else "more", rate.among(self.other)
        if each.definition.by == "ratio":
            return f"{subject} {event.happened} {often} than {limit:.4g} times as often as {other}"
        turned = each.definition.order != "group - reference"
        if limit * (-1 if below else 1) <= 0 or turned:
            return describe_outside(each)
        return (
            f"{subject} {event.happened} {often} often than {other}, by more than "
            f"{abs(100 * limit):.4g} of 100,"
        )

    def so_far(self, length: str) -> str | None:
        """Return what the running value of all periods shows of who has the higher rate."""
        equal, last = getattr(self.each.definition, "neutral", None), self.each.last
        if equal is None or last is None or last.running_low is None or last.running_high is None:
            return None
        text = f"Over all {length}s so far the data"
        if last.running_low <= equal <= last.running_high:
            return f"{text} do not show who is worse off."
        rate, row = self.rate, self.each.definition
        if rate is None or rate.event is None or getattr(row, "order", "") != "group - reference":
            return f"{text} show that the rates differ."
        lower = last.running_high < equal
        than = rate.less_often(self.subject, self.other, lower=lower)
        return f"{text} show a difference: {than[:1].lower()}{than[1:]}."

    def last_counts(self) -> str | None:
        """Return the rates of the last period as counts: "Of 100 women, 38 were approved"."""
        last, rate = self.each.last, self.rate
        if last is None or rate is None:
            return None
        shares = [
            Share.counted(round(share * size), size)
            for share, size in ((last.rate_group, last.n_group),
                                (last.rate_reference, last.n_reference))
            if share is not None and size
        ]  # fmt: skip
        found = common_counts(shares, lambda _: True)
        of = [found[0] if found else share.size for share in shares]
        hits = found[1] if found else [share.hits for share in shares]
        if not shares or last.rate_group is None:
            return None
        when = within_period(last.period)
        text = rate.counted(f"{of[0]:,}", self.subject, f"{hits[0]:,}", when)
        if len(shares) == 1:
            return f"{text}."
        return f"{text}; {rate.counted_beside(f'{of[1]:,}', self.other, f'{hits[1]:,}')}."


class _Alarmed(_Compared):
    """A comparison with its alarm, in words."""

    def __init__(self, report: MonitorReport, words: Vocabulary, each: MonitoredComparison) -> None:
        super().__init__(report, words, each)
        assert each.alarm is not None
        self.alarm = each.alarm
        self.source = (f"{self.source[0]}.alarm",)

    @property
    def since(self) -> PooledPeriods:
        """Return the periods after the change: those that the alarm did not choose, if any."""
        now = self.alarm.now
        lasts = self.alarm.currently in (Currently.OUTSIDE, Currently.BOTH)
        return now if now is not None and now.rate_group is not None and lasts else self.alarm.after

    def over(self, periods: PooledPeriods) -> str:
        """Return which periods numbers are of, and what these are."""
        chosen = periods is self.alarm.after
        how = "when the change was clearest" if chosen else "after the alarm"
        return f"{over_periods(periods)}, {how}"

    def when_words(self) -> str:
        """Return since when, and until when where it has passed."""
        after, now = self.alarm.after, self.alarm.currently
        passed = now is Currently.TOLERATED or turned_around(self.each, self.alarm)
        if passed and after.first == after.last:
            return within_period(self.alarm.since)
        until = f" to {after.last}" if passed else " on" * (now is not Currently.BOTH)
        return f"from about {self.alarm.since}{until}"

    def headline(self) -> str:
        """Return which limit was left since when, in words."""
        left, now = self.limit_left(self.alarm.after.value), self.alarm.now
        text = f"{capitalised(left)} {self.when_words()}"
        if now is not None and turned_around(self.each, self.alarm):
            text += f"; over {now.first} to {now.last} {self.limit_left(now.value)}"
        return text

    def now(self) -> str:
        """Return what the last periods after the alarm are, as counts where they have some."""
        now = self.alarm.now
        stated = None if now is None else self.ranging(now.low, now.high)
        return describe_now(self.each, self.alarm, named=True, stated=stated)

    def counts(self) -> str | None:
        """Return the rates of both sides as counts, before and after."""
        before, after, rate = self.alarm.before, self.since, self.rate
        if before is None or rate is None:
            return None
        mine = _shares((before.rate_group, before.n_group), (after.rate_group, after.n_group))
        theirs = _shares(
            (before.rate_reference, before.n_reference), (after.rate_reference, after.n_reference)
        )
        if mine is None:
            return None
        found = counted_changes([mine] if theirs is None else [mine, theirs])
        if found is None:
            return None
        (of, old, new), *others = found[1]
        when = "in the baseline" if before.first is None else "before the change"
        text = f"{rate.counted(of, self.subject, old, when)} and {new} {self.over(after)}"
        for people, before_there, then_there in others:
            counts = f"{before_there} and {then_there}"
            text += f"; {rate.counted_beside(people, self.other, counts)}"
        if mine is not None and theirs is not None and (size := found[0]) is not None:
            gaps = (
                ours.of(size) - other.of(size) for ours, other in zip(mine, theirs, strict=True)
            )
            passed = self.alarm.currently is Currently.TOLERATED
            last = "then" if passed and after is self.alarm.after else "after"
            text += ": {} before, {} {}".format(*map(_fewer, gaps), last)
        return f"{text}."

    def parts(self) -> str:
        """Return the parts of the change; its periods may be others than those of the counts."""
        text, after = describe_parts(self.each, self.alarm), self.alarm.after
        if after is self.since:
            return text
        return f"{capitalised(self.over(after))}, {text[:1].lower()}{text[1:]}"


def _fewer(difference: int) -> str:
    if difference == 0:
        return "as many"
    return f"{abs(difference):,} {'fewer' if difference < 0 else 'more'}"


def _shares(*sides: tuple[float | None, int]) -> tuple[Share, Share] | None:
    before, after = (
        None if rate is None or not 0 <= rate <= 1 else Share.of_rate(rate, size)
        for rate, size in sides
    )
    return None if before is None or after is None else (before, after)


def _headline(report: MonitorReport, alarms: list[_Alarmed]) -> Sentence:
    if alarms:
        return Sentence(alarms[0].headline(), alarms[0].source)
    headlines = {
        MonitorState.INSUFFICIENT: "No alarm, and for some of what is monitored insufficient data",
        MonitorState.UNDEFINED: "No alarm, and some of what is monitored has no value now",
        MonitorState.WAITING: "No alarm; some of what is monitored waits for labels",
    }
    no_alarm = f"No alarm in {numbered(len(report.periods), f'{report.length}s')}"
    no_alarm += ", but rows may be wrong" * bool(report.faults)
    return Sentence(headlines.get(report.state, no_alarm), ("comparisons",))


def _verdict(report: MonitorReport, words: Vocabulary) -> Iterator[Sentence]:
    every = len(report.comparisons)
    of = f"{every:,} monitored comparisons"
    if alarms := report.alarms:
        first = min(each.alarm.period for each in alarms if each.alarm is not None)
        text = f"The monitored comparison raised an alarm with the rows of {first}."
        if every > 1:
            raised = f"{len(alarms):,} of {of} raised an alarm"
            text = f"{raised}, the first with the rows of {first}."
        yield Sentence(text, ("comparisons",))
    elif every:
        none = "The monitored comparison raised no alarm."
        none = f"None of {of} raised an alarm." if every > 1 else none
        yield Sentence(none, ("comparisons",))
        yield from _outside_lately(report, words)
    if found := _doubtful(report):
        text = f"The rows may be wrong {_spans(found)}, see below"
        stays = ": nothing passes until they are corrected" if report.faults else ""
        yield Sentence(f"{text}{stays}.", ("findings",))
    if report.waiting and report.state is not MonitorState.WAITING:
        of = numbered(len(report.periods), f"{report.length}s")
        wait = len(report.waiting)
        yield Sentence(
            f"For rules that need labels {wait:,} of {of} {plural(wait, 'waits', 'wait')}.",
            ("waiting",),
        )
    if report.state is MonitorState.INSUFFICIENT:
        yield Sentence(f"{capitalised(describe_insufficient(report))}.", ("comparisons",))
    if report.state is MonitorState.WAITING:
        yield Sentence(f"{capitalised(describe_waiting(report))}.", ("comparisons",))
    if report.undefined:
        yield Sentence(f"{describe_lacking(report)}.", ("comparisons",))


def _doubtful(report: MonitorReport) -> list[HistoryFinding]:
    """Return what may be wrong with the last period, with those of an alarm, or lets none pass."""
    concerning = report.concerning(report.periods[-1]) if report.periods else ()
    concerning += report.faults
    alarmed = [each.alarm.since for each in report.alarms if each.alarm is not None]
    since = min(alarmed, default=None)
    return [
        each
        for each in report.findings
        if each in concerning or (since is not None and each.last >= since)
    ]


def _spans(findings: Sequence[HistoryFinding]) -> str:
    """Return the periods of findings, those that overlap as one span."""
    spans: list[tuple[str, str]] = []
    for begin, end in sorted((each.period, each.last) for each in findings):
        if spans and begin <= spans[-1][1]:
            first, last = spans.pop()
            begin, end = first, max(last, end)
        spans.append((begin, end))
    return listing([within_period(b) if b == e else f"from {b} to {e}" for b, e in spans])


def _outside_lately(report: MonitorReport, words: Vocabulary) -> Iterator[Sentence]:
    """Yield that a comparison without an alarm was not tolerated in any of the last periods."""
    longest = max(report.comparisons, key=lately_outside)
    most = lately_outside(longest)
    if most >= _FEWEST_LATELY:
        found = _Compared(report, words, longest)
        valued = [(p.period, p.value) for p in found.each.points
                  if not p.waits and p.value is not None][-most:]  # fmt: skip
        values = [value for _, value in valued]
        same_side = max(values) < found.each.low or min(values) > found.each.high
        left = found.limit_left(values[-1] if same_side else None).rstrip(",")
        yield Sentence(
            f"{capitalised(left)}, on each of the last {most:,} {report.length}s with a value "
            f"({valued[0][0]} to {valued[-1][0]}), which is not yet evidence enough for an alarm.",
            found.source,
        )


def _looked_at(report: MonitorReport, words: Vocabulary) -> Iterator[Sentence]:
    if report.periods:
        size = numbered(len(report.periods), f"{report.length}s")
        rows = sum(each.rows for each in report.rows)
        of_rows = f"{numbered(rows, counted_unit(report))} of " if rows else ""
        yield Sentence(
            f"{capitalised(of_rows)}{size}, {report.periods[0]} to {report.periods[-1]}"
            f"{counted_each_time(report) if rows else ''}.",
            ("periods", "rows"),
        )
    if report.absent:
        named = listing(list(report.absent), most=_MOST_NAMED)
        yield Sentence(f"Periods without counts: {named}.", ("absent",))
    if report.comparisons:
        every, written = len(report.comparisons), monitored_rules(report)
        texts = list(
            dict.fromkeys(
                _rule(_Compared(report, words, each)) or written[each.rule]
                for each in report.comparisons
            )
        )
        one = _Compared(report, words, report.comparisons[0])
        pair = f"comparison, {some(one.subject)} with {some(one.other)},"
        pair = pair if one.each.reference else "comparison"
        yield Sentence(
            f"{every:,} {plural(every, pair, 'comparisons')} by the "
            f"{plural(len(texts), 'rule', 'rules')} {listing(texts, most=_MOST_NAMED)}.",
            ("comparisons",),
        )


def _rule(compared: _Compared) -> str:
    """Return what its rule allows, in quotation marks; nothing near a baseline."""
    each, rate = compared.each, compared.rate
    if rate is None or each.baseline is not None or each.lacks_baseline:
        return ""
    whom = {"whom": "others"} if compared.of_others else {}
    words = share_rule_in_words(rate, each.definition, limits_of(each.rule), **whom)
    return words and f"“{words}”"


def _found(alarms: list[_Alarmed]) -> Iterator[Sentence]:
    for each in alarms[:_MOST_ALARMS]:
        yield Sentence(each.counts() or each.each.says, each.source)
        if (parts := each.alarm.decomposition) is not None and parts.by:
            yield Sentence(each.parts(), each.source)
    if (more := len(alarms) - _MOST_ALARMS) > 0:
        yield Sentence(f"{more:,} more {plural(more, 'alarm', 'alarms')} below.", ("comparisons",))


def _found_now(report: MonitorReport, known: Sequence[_Compared]) -> Iterator[Sentence]:
    """Yield the rates of the last period where there is no alarm, of what is nearest to one."""
    for each in known:
        yield Sentence(each.last_counts() or each.each.says, each.source)
        if text := each.so_far(report.length):
            yield Sentence(text, each.source)
        if len(report.comparisons) > 1:
            yield Sentence(_among(report), ("comparisons",))
    if not known:
        yield Sentence("No monitored comparison has a value now.", ("comparisons",))


def _among(report: MonitorReport) -> str:
    """Return of how many comparisons the stated one is the nearest to an alarm."""
    every = f"{len(report.comparisons):,} comparisons"
    sufficient = [each for each in report.comparisons if each.is_sufficient]
    valued = [each for each in sufficient if each.last is not None]
    with_data = "sufficient data" if len(sufficient) < len(report.comparisons) else ""
    with_value = "a value now" if len(valued) < len(sufficient) else ""
    has = " and ".join(filter(None, (with_data, with_value)))
    if len(valued) < 2:
        return f"{'No other' if valued else 'None'} of {every} has {has}."
    counted = f"{len(valued):,} of {len(report.comparisons):,}"
    among = f"the comparisons with {has} ({counted})" if has else every
    return f"Of {among} this is the one nearest to an alarm."


def _certainty(
    report: MonitorReport, alarms: list[_Alarmed], nearest: Sequence[_Compared]
) -> Iterator[Sentence]:
    length = report.length
    for quiet in nearest:
        yield from (Sentence(text, quiet.source) for text in _values(quiet, length))
        yield Sentence(explain_evidence(quiet.each), quiet.source)
    if report.comparisons:
        yield Sentence(describe_promise(report), ("alpha", "horizon"))
    stated = dict.fromkeys((each.now(), each.source) for each in alarms[:_MOST_ALARMS])
    for text, source in stated:
        yield Sentence(text, source)
    if any("95% CI" in text for text, _ in stated):
        yield Sentence(f"{interval_in_words()}.")
    needed = {str(need) for each in report.comparisons for need in each.definition.needs}
    excluded: Counter[str] = Counter()
    for period in report.rows:
        excluded.update(period.excluded)
    for text in without_outcome(
        "No comparison", {"": excluded}, needed, {"": counted_unit(report)}
    ):
        yield Sentence(text, ("rows",))


def _values(quiet: _Compared, length: str) -> Iterator[str]:
    """Yield the intervals of the last period and of all periods, and what they are."""
    last = quiet.each.last
    assert last is not None
    now = quiet.ranging(last.low, last.high)
    so_far = quiet.ranging(last.running_low, last.running_high)
    if now is None:
        yield describe_values(quiet.each, length)
    else:
        yield f"{capitalised(within_period(last.period))} {now} (95% CI)."
        if so_far is not None:
            yield f"Over all {length}s so far {so_far} (95% CI, for all {length}s together)."
    text = interval_in_words()
    if last.running_low is not None:
        text += (
            f"; for all {length}s together, so wide that in at least 95 of 100 such monitors the "
            f"ranges of every {length} contain theirs"
        )
    if last.low is not None:
        yield f"{text}."


def _limits(report: MonitorReport, alarms: list[_Alarmed]) -> Iterator[Sentence]:
    if not alarms:
        yield Sentence(
            "That rates are equal: a small or recent change, or one of a small group, may have "
            "raised no alarm."
        )
    if any(each.alarm.decomposition is not None and not each.alarm.decomposition.by
           for each in alarms):  # fmt: skip
        yield Sentence(
            "Why it changed: whether other people came, or similar people were decided differently."
        )
    if any(each.since is each.alarm.after for each in alarms):
        yield Sentence(
            f"The size of the change: {report.length}s in which it was clearest overstate it."
        )
    yield Sentence(UNFAIR)
    features = list(dict.fromkeys(called(each.feature) for each in report.comparisons))
    if features:
        were = plural(len(features), "is", "are")
        only = f"only {listing(features)} {were} monitored"
        yield Sentence(f"Other groups of people ({only}), times and places.")


def _steps(report: MonitorReport, alarms: list[_Alarmed]) -> Iterator[Sentence]:
    if report.findings:
        signs = plural(len(report.findings), "sign that rows", "signs that rows")
        yield supplier(
            f"first look at {len(report.findings):,} {signs} may be wrong, below.", ("findings",)
        )
    named_groups = {
        "which no period has": [e for e in report.unmatched if e.group and e.reason is None],
        "which is compared with nothing": [e for e in report.unmatched if e.group and e.reason],
    }
    for why, found in named_groups.items():
        if found:
            named = listing([called(each.group) for each in found], most=_MOST_NAMED)
            yield analyst(f"correct the rules that name {named}, {why}.", ("unmatched",))
    if report.overdue:
        named = listing(list(report.overdue), most=_MOST_NAMED)
        yield supplier(f"add the labels that are due, of {named}.", ("overdue",))
    for each in alarms[:1]:
        parts, turned = each.alarm.decomposition, turned_around(each.each, each.alarm)
        if parts is not None and of_strata(each.each, parts):
            yield analyst(look_first(parts), each.source)
        elif parts is not None and not report.spec.get("strata"):
            yield analyst(
                "name columns that may explain the change (strata), and count all periods again, "
                "in a new history."
            )
        then = f" and from {now.first} on" * turned if (now := each.alarm.now) else ""
        across = is_of_all_groups(each.each.definition)
        of = "" if across else f" of {some(each.subject)}"
        yield reader(f"read cases{of} decided {each.when_words()}{then}.")
        if each.alarm.currently is not Currently.TOLERATED:
            yield owner("decide what changes; the next periods show whether it is over.")
    if report.undefined and not report.findings:  # which state what is wrong, and of which days
        first = min(each.undefined[0].period for each in report.undefined)
        yield supplier(
            f"look at the rows from {first} on of what has no value; if they are wrong, correct "
            "them and add the periods again with --replace.",
            ("comparisons",),
        )
    elif not (alarms or report.overdue or report.undefined):
        yield analyst(f"add the next {report.length} (fairgauge monitor run).")
