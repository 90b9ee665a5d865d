"""The first page of a comparison of two reports, as statements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from fairgauge.catalogue.comparisons import Metric
from fairgauge.enums import Outcome, ReferenceKind
from fairgauge.reasons import ReasonCode
from fairgauge.results.comparison import Comparison, Origin
from fairgauge.results.statement import Page, Side, Statement
from fairgauge.statements.changes import Changes, any_decision, in_order
from fairgauge.statements.compared import page, side_of, step
from fairgauge.statements.models import counted

OUTCOMES = ("label", "prediction", "score")
_NEEDED = (*OUTCOMES, "weight", "count")
_MANY = 0.01
"""The share of rows that lack one of these from which it is stated beside the verdict."""
_MOST_FINDINGS = 2


def comparison_page(comparison: Comparison) -> Page:
    """Return the first page of a comparison of two reports."""
    return _Reports(comparison).page()


class _Reports(Changes):
    """The statements of one comparison of two reports."""

    old, new = {"at": "report", "name": "old"}, {"at": "report", "name": "new"}

    def __init__(self, comparison: Comparison) -> None:
        named = {(each.feature, each.group) for each in comparison.groups}
        sides = [s for c in comparison.changes for s in (c.before, c.after) if s and s.feature]
        groups = named | {(s.feature, s.group) for s in sides if s.group}
        other = any(e.key == "prediction" for e in comparison.differences)
        spec = any_decision(comparison.spec) if other else comparison.spec
        super().__init__(comparison, sorted(groups, key=str), spec)
        self.ids = {(s.feature, s.group): (s.feature_id, s.group_id) for s in sides}
        self.comparison = comparison
        self.untested = comparison.why_untested is not None
        self.found = in_order(
            self.changed(one, sources=(f"changes[{i}]",))
            for i, one in enumerate(comparison.changes)
            if one.mirror_of is None
            and (one.moved if self.untested else one.significant or one.changed or one.other_side)
        )

    def page(self) -> Page:
        c = self.comparison
        statements = [self.headline(), *self.verdicts(), *self.lacking(many=True)]
        for name, origin in (("old", c.old), ("new", c.new)):
            statements.append(self.origin(name, origin))
        if c.same_rows or c.refused is None:
            evidence = c.refused["evidence"] if c.same_rows and c.refused else None
            facts = {"same": c.same_rows, "evidence": evidence}
            statements.append(Statement(code="same_rows", facts=facts))
        if c.differences:
            keys = [each.key for each in c.differences]
            statements.append(
                Statement(code="asked_differently", facts={"keys": keys}, sources=("differences",))
            )
        statements += self.found[:_MOST_FINDINGS]
        if c.changes:
            statements.append(
                Statement(code="counted_changes", facts=counted(c.changes), sources=("changes",))
            )
        statements += self.certain()
        statements += self.lacking(many=False)
        if not self.untested and any(not each.significant for each in c.changes):
            statements.append(step("no_change_shown"))
        statements.append(step("no_causes"))
        alone = [(side_of(e.feature, e.name), e.report) for e in c.alone if e.what == "group"]
        if alone:
            statements.append(
                Statement(code="groups_alone", facts={"groups": alone}, sources=("alone",))
            )
        statements.append(step("unfair"))
        return page("comparison", c.spec, [*statements, *self.steps()], values=self.values)

    def headline(self) -> Statement:
        """Return the first change that is shown, or that none is."""
        c = self.comparison
        tested = sum(e.moved and e.change_p_adjusted is not None for e in c.changes)
        facts = {
            "moved": any(e.moved for e in c.changes), "any": bool(c.changes),
            "compared": c.compared, "untested": self.untested, "tested": tested,
            "alike": not (c.turn or c.flips or c.alone or c.unmatched or c.differences),
            "not_tested": counted(c.changes)["untested"],
        }  # fmt: skip
        if not self.found or self.untested:
            return Statement(code="reports_headline", facts=facts, sources=("changes",))
        metric = c.changes[int(self.found[0].sources[0][8:-1])].definition
        known = [e for e in self.many_lack(_needed([metric])) if e in OUTCOMES]
        return Statement(
            code="reports_headline",
            parts=tuple(self.found[:1]),
            facts={**facts, "known": known},
            sources=self.found[0].sources,
        )

    def verdicts(self) -> Iterator[Statement]:
        """Yield what the rules come to in both reports."""
        c = self.comparison
        if {c.old.verdict, c.new.verdict} == {Outcome.NONE}:
            return
        turns = Counter(str(each.turn) for each in c.flips)
        alone = Counter(each.report for each in c.unmatched)
        yield Statement(code="both_verdicts", verdict=str(c.new.verdict), facts={
            "before": str(c.old.verdict), "turns": dict(turns), "stayed": c.stayed,
            "in_old": alone["old"], "in_new": alone["new"],
        }, sources=("old.verdict", "new.verdict", "flips", "stayed", "unmatched"))  # fmt: skip

    def origin(self, name: str, origin: Origin) -> Statement:
        """Return what one report is of."""
        return Statement(code="origin", sources=(name,), facts={
            "name": name, "file": origin.name or origin.source,
            "rows": origin.rows, "cases": origin.cases, "used": origin.used,
            "least": origin.used_at_least, "created": origin.created[:10],
            "source": origin.source if origin.name else None,
        })  # fmt: skip

    def certain(self) -> Iterator[Statement]:
        """Yield how certain the changes are."""
        c = self.comparison
        refused = c.refused and str(c.refused.code)
        if self.untested:
            yield Statement(code="no_interval", facts={"why": refused}, sources=("refused",))
            return
        stated = next((s.interval for s in self.found if s.interval is not None), None)
        tested = sum(e.change_p_adjusted is not None for e in c.changes if e.mirror_of is None)
        if stated is not None:
            yield Statement(code="interval", interval=stated)
        if c.refused is not None:
            yield Statement(code="widest", facts={"why": refused}, sources=("refused",))
        elif self.found and tested > 1:
            yield Statement(code="judged_together", facts={"n": tested}, sources=("changes",))

    def many_lack(self, needed: Iterable[str]) -> list[str]:
        """Return what many rows of a report lack, of what is needed."""
        origins = self.comparison.old, self.comparison.new
        return [
            each for each in needed
            if any(o.excluded.get(f"missing {each}", 0) >= _MANY * max(o.cases, 1) for o in origins)
        ]  # fmt: skip

    def lacking(self, *, many: bool) -> Iterator[Statement]:
        """Yield which rows are in no change, whether these are many in some report, or few."""
        c = self.comparison
        needed = _needed(each.definition for each in c.changes)
        if bool(self.many_lack(needed)) is not many:
            return
        rows = [
            (name, each, n)
            for name, origin in (("old", c.old), ("new", c.new))
            for each in needed
            if (n := origin.excluded.get(f"missing {each}", 0))
        ]
        if rows:
            yield Statement(
                code="lacking_many" if many else "lacking_few", facts={"rows": rows},
                sources=("old.excluded", "new.excluded"),
            )  # fmt: skip

    def steps(self) -> Iterator[Statement]:
        """Yield what to do next."""
        c = self.comparison
        if c.refused is not None and c.refused.code is ReasonCode.ASKED_DIFFERENTLY:
            yield step("audit_alike")
        elif c.same_rows:
            yield step("compare_paired")
        codes = {e.reason.code for e in c.changes if e.untested and e.reason}
        best = any(e.reference is not None and e.reference.kind is ReferenceKind.BEST
                   for e in c.changes if e.interval is not None)  # fmt: skip
        if ReasonCode.DIFFERENT_REFERENCES in codes:
            yield step("same_reference", untested=True)
        elif best:
            yield step("same_reference", untested=False)
        for report, other in (("new", "old"), ("old", "new")):
            parts = [
                Statement(code="whose", who=None if (v := each.verdict).feature is None else
                          Side("group", v.feature, ((v.feature, str(v.group)),)))
                for each in c.unaccounted
                if each.report == other
            ]  # fmt: skip
            if parts:
                yield Statement(code="find_verdict", parts=tuple(parts), facts={"report": report})
        if c.worse:
            yield step("find_change")
        yield step("follow")


def _needed(metrics: Iterable[Metric]) -> list[str]:
    """Return what rows must have to be in some metrics; decisions may be made by a score."""
    needs = {str(need) for metric in metrics for need in metric.needs}
    if "prediction" in needs:
        needs.add("score")
    return [each for each in _NEEDED if each in needs or each not in OUTCOMES]
