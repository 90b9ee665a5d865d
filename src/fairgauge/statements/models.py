"""The first page of a comparison of models, as statements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from fairgauge.enums import (
    CandidateVerdict,
    Direction,
    Favourable,
    Performance,
    ScopeKind,
    Status,
    Task,
)
from fairgauge.reasons import FEWEST_ROWS
from fairgauge.results.changes import DisparityChange, RateChange
from fairgauge.results.comparison import Candidate, MarginTest, ModelComparison, Reclassified
from fairgauge.results.statement import Page, Range, Statement
from fairgauge.statements.changes import Changes, any_decision, in_order
from fairgauge.statements.compared import event, measure, page, step

_BETTER = (CandidateVerdict.DOMINATES, CandidateVerdict.BETTER_WHERE_TESTED)
_MOST_CANDIDATES, _MOST_NEEDED = 3, 1e6


def models_page(comparison: ModelComparison) -> Page:
    """Return the first page of candidates against the model in use, of the best one in detail."""
    best = next(c for c in comparison.candidates if c.verdict is comparison.verdict)
    return _Models(comparison, best).page()


def changes_shown(comparison: ModelComparison) -> list[Statement]:
    """Return what became of differences between groups under the best candidate."""
    best = next(c for c in comparison.candidates if c.verdict is comparison.verdict)
    made = _Models(comparison, best)
    return [*made.shown, *made.others]


def candidate_statements(comparison: ModelComparison, candidate: Candidate) -> list[Statement]:
    """Return what is stated of one candidate: its verdict and its margins."""
    made = _Models(comparison, candidate)
    return [*made.verdict(), *made.margins()]


class _Models(Changes):
    """The statements of one candidate against the model in use."""

    def __init__(self, comparison: ModelComparison, candidate: Candidate) -> None:
        groups = {(r.feature, r.group) for c in comparison.candidates for r in c.rates if r.feature}
        super().__init__(comparison, sorted(groups, key=str), any_decision(comparison.spec))
        self.comparison, self.candidate = comparison, candidate
        self.place = f"candidates[{comparison.candidates.index(candidate)}]"
        self.old = {"at": "under", "name": comparison.current}
        self.new = {"at": "under", "name": candidate.name}
        changes = in_order(
            self.changed(one, sources=(f"{self.place}.disparities[{i}]",))
            for i, one in enumerate(candidate.disparities)
            if one.outcome is not None
        )
        self.shown = [s for s in changes if s.shown]
        if candidate.verdict in _BETTER:  # what makes it so is stated first
            self.shown.sort(key=lambda s: s.facts["way"] != Direction.CLOSER)
        self.others = [s for s in changes if not s.shown]

    def all_rates(self) -> Iterable[RateChange]:
        """Return the rates of groups under both models."""
        return self.candidate.rates

    def page(self) -> Page:
        r, best = self.comparison, self.candidate
        names = [c.name for c in r.candidates]
        facts = {"name": best.name, "current": r.current, "candidates": names, "n": best.rows,
                 "better": [c.name for c in r.candidates
                            if c.verdict is CandidateVerdict.DOMINATES],
                 "alike": best.decides_alike, "one_decision": best.reason is not None,
                 "performance": str(best.performance)}  # fmt: skip
        statements = [
            Statement(
                code="models_headline", verdict=str(best.verdict), facts=facts,
                parts=tuple(self.shown[:1]), sources=(f"{self.place}.verdict",),
            )
        ]  # fmt: skip
        for c in r.candidates[:_MOST_CANDIDATES]:
            statements += (self if c is best else _Models(r, c)).verdict()
        if (more := len(names) - _MOST_CANDIDATES) > 0:
            statements.append(Statement(code="more_candidates", facts={"n": more}))
        statements.append(Statement(
            code="models", sources=(f"{self.place}.rows", "data.excluded"),
            facts={**facts, "source": r.data.source, "excluded": r.data.excluded,
                   "undecided": best.undecided}))  # fmt: skip
        if self.spec.get("label") and r.task is not Task.MULTICLASS:
            statements.append(
                Statement(
                    code="positive",
                    facts={
                        "event": event(self.spec, "outcome", True),
                        "side": str(self.favourable),
                        "assumed": self.spec.get("positive") in (None, []),
                    },
                )
            )
        statements += self.shown[:2]
        if not self.shown:
            statements += [replace(s, code="unchanged") for s in self.others[:2]]
        asked = [one for one in best.disparities if one.outcome is not None]
        if asked:
            statements.append(Statement(
                code="counted_changes", facts=counted(asked), sources=(f"{self.place}.disparities",)
            ))  # fmt: skip
        statements += self.margins()
        statements += self.accuracy()
        statements += self.reclassified()
        if len(names) > 1:
            others = [c.name for c in r.candidates if c is not best]
            statements.append(step("of_the_best", name=best.name, others=others))
        tested = sum(d.p_adjusted is not None for c in r.candidates for d in c.disparities)
        if tested:
            statements.append(
                Statement(
                    code="interval", interval=Range(0, 0, r.confidence), facts={"changes": tested}
                )
            )
        if self.others:
            statements.append(step("no_change_shown"))
        statements += [step("unfair"), *([step("what_becomes")] if self.spec.get("label") else [])]
        return page("models", r.spec, [*statements, step("elsewhere"), *self.steps()],
                    values=self.values)  # fmt: skip

    def verdict(self) -> Iterator[Statement]:
        """Yield the verdict on a candidate, and what it leaves open."""
        c = self.candidate
        asked = [one for one in c.disparities if one.outcome is not None]
        went = Counter(str(one.direction) for one in asked if one.significant)
        larger = [one for one in asked if one.significant and one.direction is Direction.FURTHER]
        yield Statement(code="candidate", verdict=str(c.verdict), facts={
            "name": c.name, "current": self.comparison.current, "alike": c.decides_alike,
            "one_decision": c.reason is not None, "n": c.rows, "closer": went["closer"],
            "further": went["further"], "differences": len(asked),
            "changed": sum(one.changed for one in asked),
            "within": sum(one.outcome is Performance.NON_INFERIOR for one in larger),
            "performance": str(c.performance), "margins": [_margin(t) for t in c.margins],
        }, sources=(f"{self.place}.verdict", f"{self.place}.margins"))  # fmt: skip
        if c.decides_alike:
            return
        if c.verdict is CandidateVerdict.DOMINATES:
            yield from self.what_remains()
            yield from self.wronged_anew()
            yield from self.not_judged()
        yield from self.beyond()
        yield from self.untested()
        if c.overturned:
            yield Statement(code="overturned", facts={
                "excluded": self.comparison.data.excluded, "undecided": c.undecided,
            }, sources=("data.excluded", f"{self.place}.undecided"))  # fmt: skip

    def what_remains(self) -> Iterator[Statement]:
        """Yield which differences between groups the candidate has, whatever they were before."""
        known = [
            one for one in self.candidate.disparities
            if one.outcome is not None and one.new_interval is not None and one.status is Status.OK
        ]  # fmt: skip
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
        """Yield who loses the better decision although their outcome is the better one, by group.

        A margin allows for some in every group, whom rates of a whole group do not show.
        """
        good = self.favourable is not Favourable.NEGATIVE
        if not self.spec.get("label") or self.favourable is Favourable.NEITHER:
            return
        among = "positive" if good else "negative"
        parts = self.moved(among, good=good)
        if parts:
            yield Statement(code="wronged_anew", parts=parts, facts={
                "event": event(self.spec, "decision", good),
                "among": event(self.spec, "outcome", good), "old": self.old, "new": self.new,
            }, sources=(f"{self.place}.reclassified",))  # fmt: skip

    def moved(self, among: str, *, good: bool = True) -> tuple[Statement, ...]:
        """Return how many of each group of the first feature are decided otherwise."""

        def lost(e: Reclassified) -> float:
            return e.lost if good else e.gained

        every = [
            e
            for e in self.candidate.reclassified
            if e.among == among and e.threshold is None and e.feature is not None and e.n
        ]
        every = [e for e in every if e.feature == every[0].feature]
        every.sort(key=lambda e: -lost(e) / e.n)
        return tuple(
            Statement(code="moved", who=self.side(e.feature, e.group), facts={
                "n": e.n, "lost": lost(e), "gained": e.gained if good else e.lost})
            for e in every[:_MOST_CANDIDATES]
        )  # fmt: skip

    def not_judged(self) -> Iterator[Statement]:
        """Yield the margins, and which rates of groups no margin is about."""
        tested = {t.change.rate for t in self.candidate.groups}
        own = {e.rate: e for e in self.candidate.rates if e.feature and e.rate not in tested}
        margins = [_margin(t) for t in self.candidate.margins]
        apart = sorted({d.margin for d in self.candidate.disparities
                        if d.outcome is not None and d.margin is not None})  # fmt: skip
        yield Statement(code="not_judged", facts={"margins": margins, "apart": apart}, parts=tuple(
            Statement(code="own", of=measure(self.spec, e.definition)) for e in own.values()
        ))  # fmt: skip

    def beyond(self) -> Iterator[Statement]:
        """Yield of how many differences, and groups' own rates, the margins have an outcome."""
        c = self.candidate
        if c.verdict is CandidateVerdict.NONE:
            return
        asked = [one for one in c.disparities if one.outcome is not None]
        every: tuple[tuple[str, list[DisparityChange] | list[MarginTest]], ...]
        every = (("differences", asked), ("rates", [*c.groups]))
        for outcome in (Performance.INFERIOR, Performance.CANNOT_TELL, Performance.NO_MARGIN):
            parts = [
                (kind, sum(t.outcome is outcome and not _is_smaller(t) for t in tests), len(tests))
                for kind, tests in every
            ]
            if parts := [each for each in parts if each[1]]:
                sources = (f"{self.place}.disparities", f"{self.place}.groups")
                held = {t.margin for _, tests in every for t in tests
                        if t.outcome is outcome and not _is_smaller(t)}  # fmt: skip
                margins = sorted(each for each in held if each is not None)
                yield Statement(code="beyond", verdict=str(outcome), sources=sources,
                                facts={"parts": parts, "margins": margins})  # fmt: skip

    def untested(self) -> Iterator[Statement]:
        """Yield who has insufficient data, and who keeps a better candidate from being so."""
        whose: dict[str, list[Statement]] = {}
        rows: dict[tuple[str | None, str | None], int]
        rows = {(e.feature, e.group): round(e.n) for e in self.candidate.reclassified
                if e.among == "all" and e.threshold is None and e.n < FEWEST_ROWS}  # fmt: skip
        for one in self.candidate.untested:
            of = one.change if isinstance(one, MarginTest) else one
            few = of.status is not Status.OK
            if not few and self.candidate.verdict is not CandidateVerdict.BETTER_WHERE_TESTED:
                continue
            n = rows.get((of.feature, of.group)) if few else None
            who = self.side(of.feature, of.group, n=n) if of.feature is not None else None
            why = "few" if few else str(one.outcome)
            whose.setdefault(why, []).append(Statement(code="whose", who=who))
        for why, parts in whose.items():
            yield Statement(code="not_within", verdict=why, parts=tuple(parts))

    def margins(self) -> Iterator[Statement]:
        """Yield the rates that have a margin, under both models."""
        for i, t in enumerate(self.candidate.margins):
            if t.change.old is None or t.change.new is None:
                yield Statement(code="no_value", facts={"title": t.change.definition.title})
            else:
                s = self.shifted(t.change, margin=t.margin, outcome=_margin(t)[2], by=t.by,
                                 overturned=t.overturned)  # fmt: skip
                if t.adjusted is not None and len(self.comparison.candidates) > 1:
                    held = t.adjusted  # the interval that decides
                    s = replace(s, interval=Range(held.low, held.high, held.level, joint=True))
                yield replace(s, sources=(f"{self.place}.margins[{i}]",))

    def accuracy(self) -> Iterator[Statement]:
        """Yield the accuracy where no rate has a margin."""
        for i, e in enumerate(self.candidate.rates):
            whole = e.feature is None and e.scope.kind is ScopeKind.OVERALL
            if whole and e.rate == "accuracy" and e.change is not None:
                if not self.candidate.margins:
                    yield replace(self.shifted(e), sources=(f"{self.place}.rates[{i}]",))
                return

    def reclassified(self) -> Iterator[Statement]:
        """Yield for how many rows the decision changes, and of which groups."""
        for i, e in enumerate(self.candidate.reclassified):
            if e.among == "all" and e.threshold is None and e.feature is None:
                yield Statement(code="reclassified", parts=self.moved("all"), facts={
                    "n": e.n, "changed": e.gained + e.lost, "old": self.old, "new": self.new,
                    "event": event(self.spec, "decision", True),
                }, sources=(f"{self.place}.reclassified[{i}]",))  # fmt: skip
                return

    def steps(self) -> Iterator[Statement]:
        """Yield what to do next."""
        best, verdict = self.candidate, self.candidate.verdict
        if best.decides_alike:
            yield step("check_decisions", name=best.name)
            return
        if best.reason is not None:
            yield step("check_candidate", name=best.name)
        if best.performance is Performance.NO_MARGIN:
            yield step("state_margins")
        if best.overturned and verdict is not CandidateVerdict.WORSE:  # they take back no harm
            yield step("complete_rows")
        open_ = [t for t in best.margins
                 if t.outcome is Performance.CANNOT_TELL and not t.overturned]  # fmt: skip
        if open_ and verdict is CandidateVerdict.CANNOT_TELL and best.reason is None:
            needed = max(t.needed or float("inf") for t in open_)
            yield step("more_rows_for", n=best.rows,
                       rows=needed if needed <= _MOST_NEEDED else None)  # fmt: skip
        if verdict in (CandidateVerdict.TRADE_OFF, CandidateVerdict.WORSE):
            yield step("weigh" if verdict is CandidateVerdict.TRADE_OFF else "try_another")
        if verdict in _BETTER:
            yield from (step("audit_it", name=best.name), step("use_it", name=best.name))
            yield step("follow")


def counted(changes: Iterable[DisparityChange]) -> dict[str, int]:
    """Return how many differences went where."""
    kept = [one for one in changes if one.mirror_of is None]
    moved = [one for one in kept if one.change is not None and one.moved]
    shown = Counter(str(one.direction) for one in moved if one.significant)
    changed = [one for one in moved if one.changed and not one.significant]
    rest = [one for one in moved if not (one.significant or one.changed)]
    return {
        "further": shown["further"], "closer": shown["closer"], "changed": len(changed),
        "moved": sum(not one.untested for one in rest),
        "untested": sum(one.untested for one in rest),
        "undefined": sum(one.change is None and one.moved for one in kept),
        "stayed": sum(not one.moved for one in kept),
    }  # fmt: skip


def _margin(test: MarginTest) -> tuple[str, float, str, float | None, str]:
    """Return a margin: its rate, how large it is, what is shown, at which threshold, and how."""
    outcome = "better" if test.better else str(test.outcome)
    return test.change.definition.title, test.margin, outcome, test.change.threshold, test.by


def _is_smaller(test: DisparityChange | MarginTest) -> bool:
    """Return whether a difference is shown to become smaller, which needs no margin."""
    if not isinstance(test, DisparityChange):
        return False
    return test.significant and test.direction is Direction.CLOSER and not test.overturned
