"""Changes as statements, and the first page of two reports, or of models on the same rows.

A difference between groups, or a rate, stands before and after, from the side that is worse off
after. A page is of the best candidate, or of the new report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, get_args

from fairgauge import enums
from fairgauge.catalogue import directions
from fairgauge.catalogue.comparisons import Contrast, is_of_all_groups
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import CandidateVerdict, Direction, Fairness, Outcome, Performance
from fairgauge.question.rules import limits_of
from fairgauge.reasons import FEWEST_ROWS, ReasonCode
from fairgauge.results import estimates
from fairgauge.results.comparison import Candidate, Change, MarginTest
from fairgauge.results.estimates import Became, DisparityChange, RateChange, other_group
from fairgauge.results.statement import Harm, Measure, Page, Range, Statement, fact
from fairgauge.start.records import replace
from fairgauge.statements.compared import PageStatements, Rates, inverse, side_of, step

Ends = tuple[float, float]
_BETTER = (CandidateVerdict.DOMINATES, CandidateVerdict.BETTER_WHERE_TESTED)
_NOT_PASSED = (Outcome.FAIL, Outcome.INCONCLUSIVE)
# the share of rows that lack an outcome from which it is stated beside the verdict
_MANY = 0.01
_MOST_CANDIDATES, _MOST_NEEDED, _MOST_FOUND = 3, 1e6, 2


def change_page(change: Change) -> Page:
    """Return the first page of a comparison, of the best candidate in detail."""
    return _Changes(change, _deciding_candidate(change)).page()


def changes_shown(change: Change) -> list[Statement]:
    """Return what became of differences between groups under the best candidate."""
    made = _Changes(change, _deciding_candidate(change))
    return [*made.shown, *made.others]


def candidate_statements(change: Change, candidate: Candidate) -> list[Statement]:
    """Return what is stated of one candidate: its verdict and its margins."""
    made = _Changes(change, candidate)
    return [*made.verdict(), *made.margins()]


def _deciding_candidate(change: Change) -> Candidate:
    return next(c for c in change.candidates if c.verdict is change.verdict)


class _Changes(PageStatements):
    # of one candidate, or of the new report
    kind = "comparison"

    def __init__(self, change: Change, candidate: Candidate) -> None:
        of_reports = change.new is not None
        sides = [s for c in change.changes for s in (c.before, c.after) if s and s.feature]
        named = {(e.feature, e.group) for e in change.sizes}
        named |= {(s.feature, s.group) for s in sides if s.feature and s.group}
        named |= {(r.feature, r.group) for c in change.candidates for r in c.rates if r.feature}
        other = not of_reports or any(e.key == "prediction" for e in change.differences)
        super().__init__(change, sorted(named, key=str), decided_twice=other)
        self.ids = {(s.feature, s.group): (s.feature_id, s.group_id) for s in sides}
        self.change, self.candidate = change, candidate
        self.place = f"candidates[{change.candidates.index(candidate)}]"
        names = (change.old.name, candidate.name) if not of_reports else ("old", "new")
        at = "report" if of_reports else "under"
        self.old, self.new = ({"at": at, "name": name} for name in names)
        self.is_untested = change.why_untested is not None
        every = enumerate(candidate.disparities)
        asked = [(i, each) for i, each in every if of_reports or each.outcome is not None]
        self.asked = [each for _, each in asked]
        self.gaps = gaps_once(self.asked)
        self.tests = sum(
            len(gaps_once(e for e in one.disparities if e.change_p_adjusted is not None))
            for one in change.candidates
        )
        if of_reports and self.is_untested:
            asked = [each for each in asked if each[1].moved]
        elif of_reports:
            asked = [each for each in asked if each[1].change_p_adjusted is not None]
        place = f"{self.place}.disparities"
        changes = sort_changes(
            self.changed(e, sources=(f"{place}[{i}]", f"{self.place}.rates")) for i, e in asked
        )
        whole = of_reports and self.is_untested
        self.shown = [s for s in changes if s.shown or whole]
        self.others = [s for s in changes if not (s.shown or whole)]
        if candidate.verdict in _BETTER:  # what makes it so is stated first
            self.shown.sort(key=lambda s: s.facts["way"] != Direction.CLOSER)

    def statements(self) -> list[Statement]:
        c = self.change
        statements = [self.headline()]
        if c.new is None:
            for one in c.candidates[:_MOST_CANDIDATES]:
                statements += (self if one is self.candidate else _Changes(c, one)).verdict()
            statements += [*self.of_models(), *self.shown[:_MOST_FOUND]]
        else:
            statements += [*self.of_rules(), *self.of_reports()]
            statements += self.shown[:_MOST_FOUND]
        if not self.shown:
            more = {"tests": self.tests, "alone": c.new is not None}
            unchanged = self.others[:_MOST_FOUND]
            statements += [replace(s, code="unchanged", facts=s.facts | more) for s in unchanged]
        if self.asked:
            went = Counter(each.became for each in self.gaps)
            facts = {key: went[key] for key in get_args(Became)}
            statements.append(fact("counted_changes", f"{self.place}.disparities", **facts))
        statements += [*self.margins(), *self.accuracy(), *self.reclassified()]
        if len(c.candidates) > 1:
            others = [one.name for one in c.candidates if one is not self.candidate]
            statements.append(step("of_the_best", name=self.candidate.name, others=others))
        return [*statements, *self.certain(), *self.limits(), *self.steps()]

    def headline(self) -> Statement:
        c, best = self.change, self.candidate
        untested = sum(each.untested for each in self.gaps)
        facts = {
            "reports": c.new is not None, "name": best.name, "current": c.old.name,
            "n": best.rows if c.new is None else None,
            "candidates": [one.name for one in c.candidates], "alike": best.decides_alike,
            "better": [one.name for one in c.candidates
                       if one.verdict is CandidateVerdict.DOMINATES],
            "one_decision": best.reason is not None, "performance": str(best.performance),
            "any": bool(c.changes), "compared": c.compared, "untested": self.is_untested,
            "moved": any(e.moved for e in c.changes), "not_tested": untested,
            "tested": sum(e.moved and e.change_p_adjusted is not None for e in self.gaps),
            "same": not (c.flips or c.alone or c.unmatched or c.differences),
            "copy": enums.WhyIncomplete.SAME_COUNTS in c.why_incomplete,
        }  # fmt: skip
        parts = () if c.new is not None and self.is_untested else tuple(self.shown[:1])
        return Statement(code="changes_headline", verdict=str(best.verdict), facts=facts,
                         parts=parts, sources=(f"{self.place}.verdict",))  # fmt: skip

    def changed(self, one: DisparityChange, code: str = "changed", **more: Any) -> Statement:
        row = directions.compared_number(one.definition)
        mine, theirs = self.rates_of(one, row)
        who, than = self.side(one.feature, one.group), self.reference(one)
        adverse, turned = self.adverse(row, one.class_scope), False
        harm: Harm | None = None
        was = None
        if mine and theirs:
            after = mine[1]["rate"] - theirs[1]["rate"]
            far = after or (mine[0]["rate"] - theirs[0]["rate"])
            if one.after is not None and not estimates.is_significant(one.after):
                far = (mine[0]["rate"] - theirs[0]["rate"]) or far  # who was worse off before
            of_two = other_group(self.named, one) is not None
            turned = adverse * after < 0 and than.kind == "group" and of_two
            harm = "worse" if adverse * far > 0 or (adverse * far and of_two) else None
            was = replace(who, **mine[0]), replace(than, **theirs[0])
            who, than = replace(who, **mine[1]), replace(than, **theirs[1])
        if turned and was is not None:
            who, than, was = than, who, was[::-1]
        ends, held = _distance(one), one.new_interval
        pair = held and self.oriented(one, (held.low, held.high), turned=turned)
        change = None if ends or one.interval is None else self.oriented(
            one, (one.interval.low, one.interval.high), turned=turned)  # fmt: skip
        return Statement(
            code=code, who=None if one.feature is None else who, than=than, was=was,
            of=Measure("number", one.definition.title) if row is None
            else self.measure(row, one.class_scope, one.threshold),
            by=one.by, value=one.new, shown=one.significant or one.changed or one.other_side,
            harm=harm, interval=ends,
            facts={
                "old": self.old, "new": self.new, "crossed": one.crossed,
                "way": str(one.direction) if one.significant and one.direction else None,
                "reverse": one.other_side, "old_value": one.old, "new_value": one.new,
                "across": is_of_all_groups(one.definition), "size": one.size,
                "metric": one.metric, "stratum": one.scope.stratum,
                "other_reference": one.before is not None and one.after is not None
                and self.reference(one.before) != self.reference(one.after),
                "held": pair and held and Range(*pair, held.level),
                "change": change and one.interval and Range(*change, one.interval.level),
            }, **more,
        )  # fmt: skip

    def oriented(self, one: DisparityChange, ends: Ends, *, turned: bool) -> Ends | None:
        if directions.is_reference_first(one.definition):
            ends = (-ends[1], -ends[0])
        return inverse(ends, one.by) if turned else ends

    def rates_of(
        self, one: DisparityChange, row: Statistic | None
    ) -> tuple[Rates | None, Rates | None]:
        whole_scope = one.scope.kind is enums.ScopeKind.OVERALL and one.class_scope.is_single
        if row is None or not row.is_share or not whole_scope or is_of_all_groups(one.definition):
            return None, None
        if one.before is None or one.after is None:
            other = (one.reference and one.reference.group) or other_group(self.named, one)
            return self.rate(one, row, one.group), self.rate(one, row, other) if other else None
        if self.reference(one.before) != self.reference(one.after):
            return None, None
        sides = []
        for name in ("group", "reference"):
            held = []
            for e in (one.before, one.after):
                rate, n = getattr(e, f"rate_{name}"), getattr(e, f"n_{name}")
                if rate is None:
                    return None, None
                held.append(self.counted(rate, None if e.bounds else n, row))
            sides.append((held[0], held[1]))
        return sides[0], sides[1]

    def rate(self, one: DisparityChange, row: Statistic, group: str | None) -> Rates | None:
        place = (row.name, one.feature, group, one.scope, one.class_scope, one.threshold)
        for e in self.candidate.rates:
            if (e.rate, e.feature, e.group, e.scope, e.class_scope, e.threshold) == place:
                return self.both(e)
        return None

    def rate_shifted(self, one: RateChange, **facts: object) -> Statement:
        at = {"old": self.old, "new": self.new, "share": one.definition.is_share}
        return self.shifted(one, "shifted", interval=Range.of(one.interval), facts=at | facts)

    def of_rules(self) -> Iterator[Statement]:
        c = self.change
        if c.new is None or {c.old.verdict, c.new.verdict} == {Outcome.NONE}:
            return
        moves = Counter((str(e.old.outcome), str(e.new.outcome)) for e in c.flips)
        alone = Counter(each.report for each in c.unmatched)
        stated = fact("both_verdicts", "old.verdict", "new.verdict", "flips", "stayed", "unmatched",
            before=str(c.old.verdict), stayed=len(c.stayed),
            moves=[(*of, n) for of, n in moves.items()],
            in_old=alone["old"], in_new=alone["new"])  # fmt: skip
        yield replace(stated, verdict=str(c.new.verdict))
        yield from self.rules_now()

    def rules_now(self) -> Iterator[Statement]:
        c = self.change
        verdicts = [each.new for each in (*c.flips, *c.stayed)]
        verdicts += [each.verdict for each in c.unmatched if each.report == "new"]
        for rule, outcome in product(dict.fromkeys(e.rule for e in verdicts), _NOT_PASSED):
            held = [e for e in verdicts if (e.rule, e.outcome) == (rule, outcome)]
            if not held:
                continue
            metric, scope = held[0].definition, held[0].class_scope
            row = directions.compared_number(metric) if isinstance(metric, Contrast) else None
            yield Statement(
                code="rule_now", verdict=str(outcome),
                of=self.measure(row, scope) if row is not None and scope.is_single else None,
                by="ratio" if directions.is_ratio(metric) else "difference",
                parts=tuple(Statement(code="whose", who=side_of(e.feature, e.group)
                                      if e.feature and e.group else None) for e in held),
                facts={"text": rule, "limits": limits_of(rule), "significant": False,
                       "others": self.spec.reference is enums.ReferenceRule.OTHERS},
                sources=("flips", "stayed", "unmatched"),
            )  # fmt: skip

    def of_reports(self) -> Iterator[Statement]:
        c = self.change
        for name in ("old", "new"):
            origin: Any = getattr(c, name)
            yield fact("origin", name, name=name, file=origin.name or origin.source,
                rows=origin.rows, cases=origin.cases, used=origin.used,
                least=origin.used_at_least, rounded=origin.rounded, created=origin.created[:10],
                source=origin.source if origin.name else None)  # fmt: skip
        if c.same_rows or c.refused is None:
            evidence = c.refused.get("evidence") if c.same_rows and c.refused else None
            copy = enums.WhyIncomplete.SAME_COUNTS in c.why_incomplete
            yield step("same_rows", same=c.same_rows, evidence=evidence, copy=copy)
        if c.differences:
            other = enums.WhyIncomplete.OTHER_ROWS in c.why_incomplete
            keys = [each.key for each in c.differences]
            yield step("asked_differently", keys=keys, other_rows=other)
        if enums.WhyIncomplete.DOUBTED in c.why_incomplete:
            yield step("reports_in_doubt")

    def of_models(self) -> Iterator[Statement]:
        c, best = self.change, self.candidate
        names = [one.name for one in c.candidates]
        yield fact("models", f"{self.place}.rows", "old.excluded", candidates=names,
            current=c.old.name, n=best.rows, source=c.old.source,
            excluded=c.old.excluded, undecided=best.undecided)  # fmt: skip
        yield from self.counted_values()
        if self.spec.label and c.task is not enums.Task.MULTICLASS:
            event, assumed = self.event("outcome", True), not self.spec.positive
            yield step("positive", event=event, side=str(self.favourable), assumed=assumed)

    def verdict(self) -> Iterator[Statement]:
        c, asked = self.candidate, self.gaps
        went = Counter(str(one.direction) for one in asked if one.significant)
        larger = [one for one in asked if one.significant and one.direction is Direction.FURTHER]
        yield Statement(code="candidate", verdict=str(c.verdict), facts={
            "name": c.name, "current": self.change.old.name, "alike": c.decides_alike,
            "one_decision": c.reason is not None, "n": c.rows, "closer": went["closer"],
            "further": went["further"], "differences": len(asked),
            "changed": sum(one.changed for one in asked),
            "within": sum(one.outcome is Performance.NON_INFERIOR for one in larger),
            "performance": str(c.performance), "margins": [_margin(t) for t in c.margins],
            "apart": c.fairness is Fairness.FAIRER and not c.together,
            "kept": _sizes(asked) * all(one.outcome is Performance.NON_INFERIOR for one in asked),
            "open": [side_of(of.feature, of.group) for one in c.untested
                     if (of := one.change if isinstance(one, MarginTest) else one).feature],
        }, sources=(f"{self.place}.verdict", f"{self.place}.margins"))  # fmt: skip
        if c.decides_alike:
            return
        if c.verdict is CandidateVerdict.DOMINATES:
            yield from (*self.what_remains(), *self.wronged_anew())
        if c.overturned:  # the cause of what follows
            places = ("old.excluded", f"{self.place}.undecided")
            excluded = self.change.old.excluded
            yield fact("overturned", *places, excluded=excluded, undecided=c.undecided)
        yield from self.beyond()
        yield from self.untested()

    def untested(self) -> Iterator[Statement]:
        whose: dict[str, list[Statement]] = {}
        rows: dict[tuple[str | None, str | None], int]
        rows = {(e.feature, e.group): round(e.n) for e in self.candidate.reclassified
                if e.among == "all" and e.threshold is None and e.n < FEWEST_ROWS}  # fmt: skip
        for one in self.candidate.untested:
            of = one.change if isinstance(one, MarginTest) else one
            few = of.status is not enums.Status.OK
            if not few and self.candidate.verdict is not CandidateVerdict.BETTER_WHERE_TESTED:
                continue
            n = rows.get((of.feature, of.group)) if few else None
            who = self.side(of.feature, of.group, n=n) if of.feature is not None else None
            why = "few" if few else str(one.outcome)
            whose.setdefault(why, []).append(Statement(code="whose", who=who))
        for why, parts in whose.items():
            yield Statement(code="not_within", verdict=why, parts=tuple(parts))

    def what_remains(self) -> Iterator[Statement]:
        known = [e for e in self.gaps if e.status is enums.Status.OK and e.new_interval]
        held = [one for one in known if one.definition.neutral not in (one.new_interval or ())]
        if not known:
            return
        stated = [self.changed(one) for one in held]
        first = next((s for s in stated if self.shown and s == replace(
            self.shown[0], sources=())), next(iter(stated), None))  # fmt: skip
        part = first and replace(first, interval=first.facts["held"], was=None, shown=True)
        yield Statement(
            code="remaining", parts=(part,) if part else (), sources=(f"{self.place}.disparities",),
            facts={"n": len(held), "of": len(known), "new": self.new},
        )  # fmt: skip

    def wronged_anew(self) -> Iterator[Statement]:
        # a margin allows for some in every group, whom rates of a whole group do not show
        good = self.favourable is not enums.Favourable.NEGATIVE
        if not self.spec.label or self.favourable is enums.Favourable.NEITHER:
            return
        parts = self.moved("positive" if good else "negative", good=good)
        if parts:
            yield Statement(code="wronged_anew", parts=parts, facts={
                "event": self.event("decision", good), "among": self.event("outcome", good),
                "old": self.old, "new": self.new,
            }, sources=(f"{self.place}.reclassified",))  # fmt: skip

    def moved(self, among: str, *, good: bool = True) -> tuple[Statement, ...]:
        known = (e for e in self.candidate.reclassified if e.among == among and e.n)
        every = [e for e in known if e.threshold is None and e.feature]
        own = [e for e in every if e.feature == every[0].feature]
        moved = [(e, (e.lost, e.gained) if good else (e.gained, e.lost)) for e in own]
        moved.sort(key=lambda of: -of[1][0] / of[0].n)
        return tuple(
            Statement(code="moved", who=self.side(e.feature, e.group),
                      facts={"n": e.n, "lost": lost, "gained": gained})
            for e, (lost, gained) in moved[:_MOST_CANDIDATES]
        )  # fmt: skip

    def beyond(self) -> Iterator[Statement]:
        c = self.candidate
        if c.verdict is CandidateVerdict.NONE:
            return

        def smaller(e: DisparityChange) -> bool:  # which needs no margin
            return e.significant and e.direction is Direction.CLOSER and not e.overturned

        for outcome in (Performance.INFERIOR, Performance.CANNOT_TELL, Performance.NO_MARGIN):
            gaps = [e for e in self.asked if e.outcome is outcome and not smaller(e)]
            rates = [test for test in c.groups if test.outcome is outcome]
            kinds = (
                ("differences", len(gaps_once(gaps)), len(self.gaps), _sizes(gaps)),
                ("rates", len(rates), len(c.groups), _sizes(rates)),
            )
            if parts := [kind for kind in kinds if kind[1]]:
                places = (f"{self.place}.disparities", f"{self.place}.groups")
                yield replace(fact("beyond", *places, parts=parts), verdict=str(outcome))

    def margins(self) -> Iterator[Statement]:
        for i, t in enumerate(self.candidate.margins):
            if t.change.old is None or t.change.new is None:
                yield fact("no_value", title=t.change.definition.title)
            else:
                facts = {"margin": t.margin, "outcome": _margin(t)[2], "by": t.by}
                s = self.rate_shifted(t.change, **facts, overturned=t.overturned)
                if t.adjusted is not None and t.adjusted != t.change.interval:
                    s = replace(s, interval=Range.of(t.adjusted, joint=True))  # which decides
                yield replace(s, sources=(f"{self.place}.margins[{i}]",))

    def accuracy(self) -> Iterator[Statement]:
        for i, e in enumerate(self.candidate.rates):
            whole = e.feature is None and e.scope.kind is enums.ScopeKind.OVERALL
            if whole and e.rate == "accuracy" and e.change is not None:
                if not self.candidate.margins:
                    yield replace(self.rate_shifted(e), sources=(f"{self.place}.rates[{i}]",))
                return

    def reclassified(self) -> Iterator[Statement]:
        for i, e in enumerate(self.candidate.reclassified):
            if e.among == "all" and e.threshold is None and e.feature is None:
                facts = {"n": e.n, "changed": e.gained + e.lost, "old": self.old, "new": self.new}
                facts["event"] = self.event("decision", True)
                stated = fact("reclassified", f"{self.place}.reclassified[{i}]", **facts)
                yield replace(stated, parts=self.moved("all"))
                return

    def certain(self) -> Iterator[Statement]:
        c = self.change
        refused = c.refused and str(c.refused.code)
        if self.is_untested:
            yield fact("no_interval", "refused", why=refused)
            return
        if c.refused is not None:
            yield fact("widest", "refused", why=refused)
        if self.tests:
            stated = fact("interval", changes=self.tests)
            yield replace(stated, interval=Range(0, 0, c.confidence))
        if any(not each.significant for each in self.asked):
            yield step("no_change_shown")

    def limits(self) -> Iterator[Statement]:
        c = self.change
        if c.new is not None:
            yield step("no_causes")
        if alone := [(side_of(e.feature, e.name), e.report) for e in c.alone if e.what == "group"]:
            yield fact("groups_alone", "alone", groups=alone)
        yield step("unfair")
        if c.new is None:
            yield from [step("what_becomes")] if self.spec.label else []
            yield step("elsewhere")

    def steps(self) -> Iterator[Statement]:
        c = self.change
        if c.new is None:
            yield from self.next_of_models()
            return
        if c.refused is not None and c.refused.code is ReasonCode.ASKED_DIFFERENTLY:
            yield step("audit_alike")
        elif c.same_rows:
            yield step("compare_paired")
        if c.worse:
            yield step("find_change")
        yield step("follow")

    def next_of_models(self) -> Iterator[Statement]:
        best, verdict = self.candidate, self.candidate.verdict
        if best.decides_alike or best.reason is not None:
            yield step("check_candidate", name=best.name)
        if best.decides_alike:
            return
        if best.performance is Performance.NO_MARGIN:
            yield step("state_margins")
        if best.overturned and verdict is not CandidateVerdict.WORSE:  # they take back no harm
            yield step("complete_rows")
        margins = (t for t in best.margins if not t.overturned)
        open_ = [t for t in margins if t.outcome is Performance.CANNOT_TELL]
        if open_ and verdict is CandidateVerdict.CANNOT_TELL and best.reason is None:
            needed = max(t.needed or float("inf") for t in open_)
            rows = needed if needed <= _MOST_NEEDED else None
            yield step("more_rows_for", n=best.rows, rows=rows)
        if verdict in (CandidateVerdict.TRADE_OFF, CandidateVerdict.WORSE):
            yield step("weigh")
        if verdict in _BETTER:
            yield from (step("audit_it", name=best.name), step("follow"))


def sort_changes(found: Iterable[Statement]) -> list[Statement]:
    """Return changes once for each pair and rate: those of the worse off first, further first."""

    def place(s: Statement) -> tuple[bool, ...]:
        facts = s.facts
        event = s.of is not None and s.of.event is not None
        further = facts["way"] == Direction.FURTHER
        return s.harm != "worse", not further, not facts["reverse"], not event

    once: dict[object, Statement] = {}
    for s in sorted(found, key=place):
        pair = [side and side.values for side in (s.who, s.than)]
        key = (s.of, *pair, s.facts["stratum"]) if s.was else (s.facts["metric"], *pair, s.sources)
        kept = once.setdefault(key, s)
        if (kept.by, s.by) == ("ratio", "difference") and place(s) == place(kept):
            once[key] = s
    metrics = list(dict.fromkeys(s.facts["metric"] for s in once.values()))
    largest = sorted(once.values(), key=lambda s: -s.facts["size"])
    return sorted(largest, key=lambda s: (place(s), metrics.index(s.facts["metric"])))


def gaps_once(changes: Iterable[DisparityChange]) -> list[DisparityChange]:
    """Return changes once for each pair of groups and rate: a ratio and a difference are one gap.

    It became what the worst of them became.
    """
    once: dict[object, DisparityChange] = {}
    for one in sorted(changes, key=lambda each: get_args(Became).index(each.became)):
        against = one.reference and (one.reference.group or one.reference.kind)
        pair = frozenset({one.group, one.mirror or against})
        place = one.feature, pair, one.scope, one.class_scope, one.threshold
        once.setdefault((directions.disparity(one.definition), *place), one)
    return [*once.values()]


def _distance(one: DisparityChange) -> Range | None:
    # the interval of the change of the distance of two shares; None of anything else
    row = one.definition.of if isinstance(one.definition, Contrast) else None
    if one.crossed or one.by == "ratio" or row is None or not row.is_share:
        return None
    if one.before is None:
        return Range.of(one.distance_interval)
    if one.interval is None:
        return None
    low, high = one.interval
    if (one.new or 0.0) < 0:
        low, high = -high, -low
    return Range(low, high, one.interval.level)


def _sizes(tests: Iterable[DisparityChange | MarginTest]) -> list[tuple[float, str]]:
    # the margins that some are held against, each once
    return sorted({(t.margin, t.by) for t in tests if t.margin is not None})


def _margin(test: MarginTest) -> tuple[str, float, str, float | None, str]:
    # a margin: its rate, how large it is, what is shown, at which threshold, and how
    outcome = "better" if test.better else str(test.outcome)
    return test.change.definition.title, test.margin, outcome, test.change.threshold, test.by
