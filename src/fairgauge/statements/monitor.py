"""The first pages of a monitor and of the health of its history, as statements."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from fairgauge.catalogue.comparisons import Contrast, is_of_all_groups
from fairgauge.catalogue.directions import compared_number, is_reference_first
from fairgauge.enums import ReferenceRule
from fairgauge.question.rules import limits_of
from fairgauge.reasons import ReasonCode
from fairgauge.results import monitor_results as monitored
from fairgauge.results.monitor_results import AfterAlarm, MonitorReport, MonitorState
from fairgauge.results.statement import Measure, Page, Range, Side, Statement, fact
from fairgauge.start.records import replace
from fairgauge.statements.compared import PageStatements, step

_MOST_ALARMS, _MOST_FOUND = 2, 5


def monitor_page(report: MonitorReport) -> Page:
    """Return the first page of a monitor."""
    return _Monitor(report).page()


def alarm_statements(report: MonitorReport) -> list[Statement]:
    """Return what is stated of every alarm."""
    made = _Monitor(report)
    return [s for each in report.alarms for s in made.alarm(each)]


def chart_statement(report: MonitorReport, each: monitored.MonitoredComparison) -> Statement:
    """Return what a chart over time is of: who is compared with whom, and what may be."""
    return _Monitor(report).compared(each, "drawn")


def open_states(report: MonitorReport) -> list[Statement]:
    """Return why what is monitored is not decided."""
    return [*_Monitor(report).undecided()]


class _Monitor(PageStatements):
    kind = "monitor"

    def __init__(self, report: MonitorReport) -> None:
        super().__init__(report, dict.fromkeys((e.feature, e.group) for e in report.comparisons))
        self.report = report
        self.of_others = self.spec.reference is ReferenceRule.OTHERS
        self.alarmed = [[*self.alarm(each)] for each in report.alarms]

    def compared(
        self,
        each: monitored.MonitoredComparison,
        code: str,
        now: monitored.Point | monitored.PooledPeriods | None = None,
        was: monitored.PooledPeriods | None = None,
        **facts: object,
    ) -> Statement:
        row = compared_number(each.definition) if each.class_ is None else None
        than = self.side(each.feature, each.reference)
        if self.of_others and each.reference == ReferenceRule.OTHERS:
            than = Side("others", each.feature)

        who, before, ends = self.side(each.feature, each.group), None, None

        of = Measure("number", each.definition.title)
        if row is not None:
            of = self.measure(row)
        share = None if of.kind == "number" else row  # what is no share is of no rows

        def sides(held: monitored.Point | monitored.PooledPeriods) -> tuple[Side, Side]:
            mine = self.counted(held.rate_group, held.n_group, share)
            theirs = self.counted(held.rate_reference, held.n_reference, share)
            return replace(who, **mine), replace(than, **theirs)

        if was is not None and was.rate_group is not None:
            before = sides(was)
        if now is not None:
            who, than = sides(now)
            ends = None if now.low is None or now.high is None else Range(now.low, now.high)
        across, first = is_of_all_groups(each.definition), is_reference_first(each.definition)
        return Statement(
            code=code, who=who, than=than if each.reference else None, was=before,
            of=of,
            by=each.definition.by if isinstance(each.definition, Contrast) else "difference",
            value=None if now is None else now.value, interval=ends,
            sources=(f"comparisons[{self.report.comparisons.index(each)}]",),
            facts={"limits": (each.low, each.high), "text": each.rule, "across": across,
                   "in_values": across or first or row is None, "metric": each.definition,
                   "class": each.class_, **facts},
        )  # fmt: skip

    def alarm(self, each: monitored.MonitoredComparison) -> Iterator[Statement]:
        alarm, (low, high) = each.alarm, (each.low, each.high)
        assert alarm is not None
        now, after, before = alarm.now, alarm.after, alarm.before
        lasts = alarm.currently in (AfterAlarm.OUTSIDE, AfterAlarm.BOTH)
        since = now if now is not None and now.rate_group is not None and lasts else after

        def side_of(value: float | None) -> str | None:
            if value is None or low <= value <= high:
                return None
            return "low" if value < low else "high"

        turned = alarm.currently is AfterAlarm.OUTSIDE and now is not None and (
            side_of(now.value) != side_of(after.value))  # fmt: skip
        place = f"comparisons[{self.report.comparisons.index(each)}]"
        now_at = _period_facts(now, clearest=False) if now else None
        s = self.compared(each, "alarm", since, before)
        facts = {
            "side": side_of(after.value), "since": alarm.since, "until": after.last,
            "passed": alarm.currently is AfterAlarm.TOLERATED or turned,
            "single": after.first == after.last, "turned": turned,
            "sure": alarm.currently is not AfterAlarm.BOTH, "period": alarm.period,
            "old": {
                "at": "before_change" if before and before.first else "baseline",
                "alone": before.first if before and before.first == before.last else None,
                "outside": before is not None and before.first is not None
                and side_of(before.value) == side_of(after.value),
            },
            "new": _period_facts(since, clearest=since is after),
            "clearest": since is after,
            "now_side": side_of(now.value) if turned and now else None,
            "now": now_at,
        }  # fmt: skip
        yield replace(
            s, verdict=alarm.currently and str(alarm.currently), interval=None,
            facts={**s.facts, **facts}, sources=(f"{place}.alarm",),
        )  # fmt: skip
        yield replace(
            self.compared(each, "now", now, at=now_at, until=after.last),
            verdict=alarm.currently and str(alarm.currently), sources=(f"{place}.alarm.now",),
        )  # fmt: skip

    def statements(self) -> list[Statement]:
        r, length = self.report, self.report.length
        every = len(r.comparisons)
        statements = [of[0] for of in self.alarmed[:_MOST_ALARMS]]
        if (more := len(self.alarmed) - _MOST_ALARMS) > 0:
            statements.append(step("more_listed", n=more))
        if not self.alarmed:
            stated = fact("no_alarm", n=len(r.periods), length=length, faults=bool(r.faults))
            statements.append(replace(stated, verdict=str(r.state)))
        raised = [each.alarm.period for each in r.alarms if each.alarm is not None]
        if every:
            first = min(raised, default=None)
            stated = fact("monitored", "comparisons", n=every, alarms=len(raised), first=first)
            statements.append(replace(stated, verdict=str(r.verdict)))
        if spans := self.doubtful():
            statements.append(fact("doubtful_rows", "findings", spans=spans, faults=bool(r.faults)))
        if r.waiting and r.state is not MonitorState.WAITING:
            of = {"n": len(r.waiting), "of": len(r.periods)}
            statements.append(fact("waiting", "waiting", **of, length=length))
        statements += self.undecided()
        statements += self.looked_at()
        now = [*self.nearest()]
        statements += now
        if every:
            approximate = any(e.detector is monitored.Detector.ASYMPTOTIC for e in r.comparisons)
            statements.append(fact("promise", "alpha", "horizon",
                n=every, alpha=r.alpha, horizon=r.horizon, length=length,
                approximate=approximate, people=self.spec.person is not None))  # fmt: skip
        statements += [of[1] for of in self.alarmed[:_MOST_ALARMS]]
        with_interval = [s for s in statements if s.interval is not None]
        if with_interval:
            together = length if any(s.code == "so_far" for s in now) else None
            stated = fact("interval", *with_interval[0].sources, together=together)
            statements.append(replace(stated, interval=with_interval[0].interval))
        totals = sum((Counter(period.excluded) for period in r.rows), Counter[str]())
        if totals:
            statements.append(fact("rows_of_none", "rows", rows=dict(totals)))
        return [*statements, *self.limits(), *self.steps()]

    def looked_at(self) -> Iterator[Statement]:
        r = self.report
        if r.periods:
            yield fact("periods", "periods", "rows",
                rows=sum(p.rows for p in r.rows), n=len(r.periods), length=r.length,
                first=r.periods[0], last=r.periods[-1], absent=r.absent,
                people=self.spec.person is not None)  # fmt: skip
        rules: dict[str, Statement] = {}
        near = [keys for keys in r.spec["monitor"]["rules"] if keys.get("source")]
        for each in r.comparisons:
            plain = each.baseline is not None or each.lacks_baseline
            limits = (each.low, each.high) if plain else limits_of(each.rule)
            named = f"{each.definition.name} within {{within:g}} of {{source}}"
            baseline: dict[str, object]
            baseline = next((of for of in near if named.format(**of) == each.rule), {})
            stated = self.compared(
                each, "rule", limits=limits, others=self.of_others, plain=plain,
                within=baseline.get("within"), source=baseline.get("source"),
            )  # fmt: skip
            if len(r.comparisons) > 1:  # of which no one stands for the rule
                stated = replace(stated, who=None, than=None, sources=())
            rules.setdefault(each.rule, stated)
        if rules:
            stated = fact("monitored_rules", "comparisons", n=len(r.comparisons))
            yield replace(stated, parts=tuple(rules.values()))

    def nearest(self) -> Iterator[Statement]:
        r = self.report  # of those without an alarm, which stand above
        valued = [e for e in r.gravest if e.last is not None and e.alarm is None]
        near = next(iter(valued), None)
        largest = max(valued, key=_shown_size, default=None)
        stands = largest is not None and _shown_size(largest) > 0
        each = largest if stands else near
        if near is None or each is None or each.last is None:
            yield from () if self.alarmed else (step("no_value_now"),)
            return
        last = each.last
        base = self.compared(each, "last", last, length=r.length, period=last.period)
        yield base
        if last.running_low is not None and last.running_high is not None:
            low, high = last.running_low, last.running_high
            equal = getattr(each.definition, "neutral", None)
            yield replace(
                base, code="so_far", interval=Range(low, high),
                shown=None if equal is None else not low <= equal <= high,
                way=None if equal is None else (low > equal) - (high < equal),
            )  # fmt: skip
        if len(r.comparisons) > 1 and (len(valued) > 1 or not self.alarmed):
            enough = [e for e in r.comparisons if e.state is not MonitorState.INSUFFICIENT]
            facts = {"n": len(r.comparisons), "sufficient": len(enough)}
            facts |= {"largest": stands, "near": each is near, "alarms": len(self.alarmed)}
            yield fact("nearest", "comparisons", **facts, valued=sum(e in valued for e in enough))
        few = any(e.alarm is None and e.state is MonitorState.INSUFFICIENT for e in r.comparisons)
        stated = self.compared(near, "evidence", share=-near.nearness, few=few,
            evidence=near.evidence or 0.0, threshold=near.threshold)  # fmt: skip
        named = each is not near or self.alarmed
        yield replace(stated, parts=(self.compared(near, "whose"),) if named else ())

    def doubtful(self) -> list[tuple[str, str]]:
        # when rows may be wrong: lately, in those of an alarm, or so that none pass
        r = self.report
        of_last = (r.concerning(r.periods[-1]) if r.periods else ()) + r.faults
        since = min((e.alarm.since for e in r.alarms if e.alarm is not None), default=None)
        found = [e for e in r.findings if e in of_last or (since is not None and e.last >= since)]
        spans: list[tuple[str, str]] = []
        for begin, end in sorted((each.period, each.last) for each in found):
            if spans and begin <= spans[-1][1]:
                first, last = spans.pop()
                begin, end = first, max(last, end)
            spans.append((begin, end))
        return spans

    def undecided(self) -> Iterator[Statement]:
        r = self.report
        every = len(r.comparisons)
        if not r.periods:
            yield step("no_period_considered")
        else:
            by: dict[str, list[Statement]] = {}
            for each in r.comparisons:
                if each.state is MonitorState.INSUFFICIENT:
                    why = "no_baseline" if each.lacks_baseline else "open" if each.open else "few"
                    if each.open and each.open.code is ReasonCode.REFERENCE_DECIDES:
                        why = "reference"
                    by.setdefault(why, []).append(self.compared(each, "whose"))
            for why, parts in by.items():
                facts = {"why": why, "of": every}
                facts["min_n"] = self.spec.min_n or monitored.SMALLEST_GROUP
                yield replace(fact("insufficient", "comparisons", **facts), parts=tuple(parts))
            absent: dict[str, list[str]] = {}
            for one in r.unmatched:
                if one.group is not None or one.reason is not None:
                    why = "absent" if one.reason is None else str(one.reason.code)
                    absent.setdefault(why, []).append(str(one.group or one.feature or one.rule))
            for why, names in absent.items():
                yield fact("unmatched", why=why, names=list(dict.fromkeys(names)))
            if not by and not absent and r.state is MonitorState.INSUFFICIENT:
                yield step("no_group_of_rules")
        if r.state is MonitorState.WAITING:
            waiting = sum(e.state is MonitorState.WAITING for e in r.comparisons)
            facts = {"n": waiting, "of": every, "overdue": r.overdue, "periods": len(r.waiting)}
            yield fact("wait_for_labels", "comparisons", **facts, length=r.length)
        if r.undefined:
            last = {e.undefined[-1].period for e in r.undefined}
            facts = {"period": min(last), "last": last == {r.periods[-1]}, "some": len(last) > 1}
            whose = tuple(self.compared(e, "whose") for e in r.undefined)
            yield replace(fact("undefined", "comparisons", **facts), parts=whose)

    def limits(self) -> Iterator[Statement]:
        r, first = self.report, [of[0].facts for of in self.alarmed]
        if not self.alarmed:
            yield step("not_equal")
        if first:
            yield step("why_changed")
        if any(facts["clearest"] for facts in first):
            yield step("clearest", length=r.length)
        yield step("unfair")
        columns = list(dict.fromkeys(e.feature for e in r.comparisons))
        if columns:
            yield step("other_groups", columns=columns)

    def steps(self) -> Iterator[Statement]:
        r = self.report
        if r.findings:
            yield step("look_at_rows", n=len(r.findings))
        named = [e for e in r.unmatched if e.group]
        for why in (True, False):
            groups = [str(e.group) for e in named if (e.reason is None) is why]
            if groups:
                yield step("correct_rules", names=groups, absent=why)
        if r.overdue:
            yield step("add_labels", periods=list(r.overdue))
        for alarm, *_ in self.alarmed[:1]:
            yield replace(alarm, code="read_since")
            if alarm.verdict != AfterAlarm.TOLERATED:
                yield step("decide_monitor")
        if r.undefined and not r.findings:  # which state what is wrong, and of which days
            yield step("look_at_undefined", first=min(e.undefined[0].period for e in r.undefined))
        elif not (self.alarmed or r.overdue or r.undefined):
            yield step("add_next", length=r.length)


def _shown_size(each: monitored.MonitoredComparison) -> float:
    # by how much groups differ at least, over all periods so far; 0 where no difference is shown
    neutral, last = getattr(each.definition, "neutral", None), each.last
    if neutral is None or last is None or last.running_low is None or last.running_high is None:
        return 0.0
    low, high = last.running_low, last.running_high
    if neutral:  # a ratio
        low, high = (math.log(end) if end > 0 else -math.inf for end in (low, high))
    return max(low, -high, 0.0)


def history_page(health: monitored.HistoryHealth) -> Page:
    """Return the first page of the health of a history."""
    h = health
    first, last = (h.periods[0], h.periods[-1]) if h.periods else (None, None)
    facts = {"n": len(h.findings), "periods": len(h.periods), "model": h.model}
    state = "found" if h.findings else "none" if h.periods else "empty"
    stated = fact("history", "findings", "periods", **facts, first=first, last=last)
    found = enumerate(h.findings[:_MOST_FOUND])
    statements = [replace(stated, verdict=state)]
    statements += [fact("finding", f"findings[{i}]", finding=each) for i, each in found]
    if (more := len(h.findings) - _MOST_FOUND) > 0:
        statements.append(step("more_listed", n=more))
    statements += [step("which_rows"), step("other_changes")]
    return Page(kind="history", statements=tuple(statements))


def _period_facts(held: monitored.PooledPeriods, *, clearest: bool) -> dict[str, object]:
    return {"at": "over", "first": held.first, "last": held.last, "clearest": clearest}
