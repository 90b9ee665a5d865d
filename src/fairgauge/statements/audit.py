"""An audit as statements. No English: codes, sides and numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from fairgauge import enums
from fairgauge.catalogue import directions
from fairgauge.catalogue.across import is_of_one_group
from fairgauge.catalogue.cells import ALL, FN, FP, TN, TP
from fairgauge.catalogue.comparisons import Contrast, is_of_all_groups
from fairgauge.catalogue.directions import AMOUNTS
from fairgauge.catalogue.distributions import ConditionalDisparity
from fairgauge.catalogue.lookup import has_decomposition, is_of_decisions, usual_rate
from fairgauge.catalogue.score_statistics import PROPER_SCORES
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.enums import (
    AfterAdjusting,
    ClassKind,
    CountedAs,
    DiagnosticCode,
    Level,
    Outcome,
    Status,
    Task,
)
from fairgauge.identity import FeatureId
from fairgauge.question.features import strata_named
from fairgauge.question.rules import FOUR_FIFTHS, limits_of
from fairgauge.reasons import WITHOUT_METHOD, Reason, ReasonCode
from fairgauge.results import estimates as measured
from fairgauge.results.estimates import Estimate, Finding, Group, gap
from fairgauge.results.report import COUNTS, Report
from fairgauge.results.scopes import OVERALL, UNSTATED, Diagnostic
from fairgauge.results.statement import Harm, Page, Range, Statement, Table, fact
from fairgauge.results.verdicts import (
    GRAVEST_FIRST,
    RuleResult,
    Verdict,
    before_counting,
    is_of_both_sides,
    reasons_of,
)
from fairgauge.start.records import replace
from fairgauge.statements import compared as comparisons
from fairgauge.statements import sections
from fairgauge.statements.compared import OUTCOMES, PageStatements, step, swap_sides, unit_of
from fairgauge.statements.sections import StatedComparison, stated_comparisons
from fairgauge.values import name_of

CONCLUDED = {AfterAdjusting.DISAPPEARS, AfterAdjusting.REVERSES, AfterAdjusting.REMAINS,
    AfterAdjusting.CHANGES_LITTLE, AfterAdjusting.NOT_SIGNIFICANT}  # fmt: skip
ON_ONE_SIDE = (ReasonCode.ANSWERS_CONTRADICT, ReasonCode.UNSHOWN_PROBABILITIES,
    ReasonCode.STRATA_MISSING, ReasonCode.NOT_COUNTED, ReasonCode.UNCLEAR_VALUES,
    ReasonCode.FAVOURABLE_UNSTATED, ReasonCode.LIMITS_THE_BETTER_OFF,
    ReasonCode.REFERENCE_DECIDES)  # fmt: skip


def audit_page(report: Report) -> Page:
    """Return the first page of an audit."""
    made = _Audit(report)
    repeated = bool(made.notes[DiagnosticCode.ROWS_THAT_REPEAT_PEOPLE])
    return replace(made.page(repeated=repeated), grid=made.grid())


class _Audit(PageStatements):
    kind = "audit"

    def __init__(self, report: Report) -> None:
        super().__init__(report, report.groups)
        self.report, self.strata = report, strata_named(self.spec.strata)
        every = report.diagnostics
        self.notes = {code: [d for d in every if d.code is code] for code in DiagnosticCode}
        cuts = self.spec.threshold
        self.cuts = isinstance(cuts, tuple) and len(cuts) > 1
        pairs = zip(report.findings, stated_comparisons(report, report.findings), strict=True)
        self.stated: list[tuple[Finding, StatedComparison, Statement]]
        self.stated = [(finding, each, self._judged_statement(each)) for finding, each in pairs]
        self.led = self.stated[:_MOST_FINDINGS]
        self.rules = report.by_rule
        self.name = self.spec.preset

    def _judged_statement(self, each: StatedComparison) -> Statement:
        found = self._comparison(each.contrast)
        return replace(found, facts=found.facts | {"judged": each.judged, "fails": each.fails})

    def _comparison(self, each: Estimate) -> Statement:
        return self.statement(each, several_cuts=self.cuts, sources=self._place(each))

    def _verdicts_of(self, outcome: Outcome) -> list[Verdict]:
        return [each for each in self.report.verdicts if before_counting(each) is outcome]

    def _place(self, contrast: Estimate) -> tuple[str, ...]:
        at = self._places.get(contrast.key)
        return () if at is None else (f"estimates[{at}]",)

    @cached_property
    def _places(self) -> dict[object, int]:
        return {each.key: i for i, each in reversed([*enumerate(self.report.estimates)])}

    @cached_property
    def _significant(self) -> list[Estimate]:
        return [each for each in self.report.estimates if measured.is_significant(each)]

    @cached_property
    def _overall(self) -> list[Estimate]:
        return [e for e in self.report.estimates if e.scope.kind is enums.ScopeKind.OVERALL]

    def _change(self, finding: Finding) -> AfterAdjusting | None:
        adjusted = finding.adjusted
        if adjusted is None or adjusted.key == finding.estimate.key or self.strata_leave_nothing:
            return None
        return measured.after_adjusting(finding.estimate, adjusted)

    def statements(self) -> Iterator[Statement]:
        for place in (self.headline, self.verdict, self.looked_at, self.found, self.certain,
                      self.limits, self.steps):  # fmt: skip
            yield from place()

    # ---- headline and verdict

    def headline(self) -> Iterator[Statement]:
        if (failed := self._failed_alone()) is not None:
            yield failed
        elif self.stated and not self._fit_alike:
            finding, each, found = self.led[0]
            also = tuple(s for _, e, s in self.led[1:] if _is_contrary(s, found)
                or (e.row and e.is_of_some_in(each)
                    and not could_undo(self.report, e.contrast, e.row))
            )  # fmt: skip
            change, facts = self._change(finding), self._estimators(finding.estimate.feature)
            few = {d.feature for d in self.notes[DiagnosticCode.STRATA_INSUFFICIENT]}
            if change is AfterAdjusting.DISAPPEARS and finding.estimate.feature in few:
                change = None
            if change is AfterAdjusting.DISAPPEARS:
                facts |= self._varies(finding)
            if change is not None and finding.adjusted is not None:
                facts["among"] = self._shares_compared(finding.estimate, finding.adjusted)
            known = self._facts_of_rows(each.contrast, each.row)
            yield replace(
                found, code="headline", parts=also, facts=found.facts | facts | known
                | {"after": change}, adjusted_for=(str(finding.adjusted_for),) if change else (),
            )  # fmt: skip
        else:
            yield self._nothing()

    @cached_property
    def _fit_alike(self) -> list[str]:
        # which numbers of a score's fit are compared, where only others differ, as base rates do
        if not self.stated or self.stated[0][1].place < _OTHERS or self.stated[0][1].fails:
            return []
        tested = (e for e in self._overall if e.p_adjusted is not None)
        compared = (e.definition.of for e in tested if isinstance(e.definition, Contrast))
        place = sections.place_among_scores
        rates = (row for row in compared if place(row) < _OTHERS)
        return [row.title for row in sorted(dict.fromkeys(rates), key=place)]

    def _nothing(self) -> Statement:
        report, estimates = self.report, self.report.estimates
        within = self.notes[DiagnosticCode.WITHIN_STRATA]
        named = [name for each in within for name in (*each["lower"], *each["higher"])]
        facts = {
            "within": self.strata if within else None,
            "both": any(each["lower"] and each["higher"] for each in within),
            "strata": list(dict.fromkeys(named)),
        } | self._sufficiency_facts()

        def nothing(code: str, *sources: str, **more: object) -> Statement:
            return replace(fact(code, *sources, **facts | more), shown=False)

        if not self.is_tested:
            alone = [(d.feature, d["group"]) for d in self.notes[DiagnosticCode.ONE_GROUP]]
            return nothing("nothing_tested", one_group=alone)
        if self._fit_alike:
            return nothing("fit_alike", "estimates", names=self._fit_alike)
        for whole, pooled in sections.shown_adjusted_alone(estimates)[:1]:
            found = self.statement(pooled, "adjusted_alone", sources=self._place(pooled))
            facts |= {"among": self._shares_compared(whole, pooled)}
            return replace(found, adjusted_for=(self.strata or "",), facts=found.facts | facts)
        shown = self._significant
        pairs = any(pair.significant for pair in report.pairs)
        if any(each.reference is not None for each in shown) or (shown and not pairs):
            return nothing("other_differences", "estimates")
        if pairs:
            return nothing("pairs_differ", "pairs")
        if differing := self._differing():
            large = [each for each in differing if each.get("significant_without") is not False]
            features = list(dict.fromkeys(each.feature for each in large or differing))
            return nothing("groups_differ", "diagnostics", features=features, few=not large)
        if within:
            return nothing("differs_within", "diagnostics")
        passed = all(before_counting(each) is Outcome.PASS for each in report.verdicts)
        if report.verdict is Outcome.PASS and passed:
            return nothing("none_differs")
        if self.rules and report.verdict not in (Outcome.FAIL, Outcome.PASS):
            outcomes = count_undecided(self.rules)
            return nothing("undecided", "verdict", n=len(self.rules), outcomes=outcomes)
        return nothing("nothing_shown")

    @property
    def is_tested(self) -> bool:
        return any(each.p_adjusted is not None for each in self.report.estimates)

    def _sufficiency_facts(self) -> dict[str, object]:
        # of which groups what is concluded is, where others have insufficient data
        estimates = self.report.estimates
        small = ReasonCode.SMALL_GROUP in {e.reason.code for e in estimates if e.reason}
        few = any(not _is_small(e.reason) for e in estimates if e.status is Status.TOO_FEW)
        rows, share = self.spec.min_n, self.spec.min_share
        least = {"rows": rows and rows > 1 and rows, "share": share, "unit": unit_of(self.spec)}
        return {"sufficient": few, "least": least if small else None}

    def _differing(self) -> list[Diagnostic]:
        return [d for d in self.notes[DiagnosticCode.HOMOGENEITY] if d.get("significant")]

    @staticmethod
    def _shares_compared(whole: Estimate, pooled: Estimate) -> list[float] | None:
        # the shares of both sides within strata that both are in, unless almost all are
        shares = measured.shares_compared(whole, pooled)
        return None if min(shares) > 1 - sections.NOTED_ALONE else list(shares)

    def _failed_alone(self) -> Statement | None:
        # the gravest fail where no finding has it: it may not remain among all
        if self.report.verdict is not Outcome.FAIL:
            return None
        fails = self._verdicts_of(Outcome.FAIL)
        failed = [(self._verdict_statement(v), self._estimate(v)) for v in fails]
        shares = [(s, e) for s, e in failed if is_of_shares(s) and s.than and s.lower is not None]
        judged = [(s, e) for s, e in shares if e is not None]
        for _, first, _ in self.stated[:1]:
            better_off = first.failing_beside is not None or (first.fails and first.better)
            worse = any(s.harm == "worse" for s, _ in judged)
            if (first.fails and not first.better) or (better_off and not worse):
                return None
        if not judged:
            return None
        found, contrast = min(judged, key=lambda e: (e[0].harm != "worse", e[0].facts["alone"]))
        if found.harm == "better" and found.than is not None and found.than.kind == "group":
            found = swap_sides(found)
        known = self._facts_of_rows(contrast, directions.compared_number(contrast.definition))
        facts = found.facts | self._estimators(contrast.feature) | known | {"after": None}
        return replace(found, code="headline", facts=facts)

    def _facts_of_rows(self, contrast: Estimate, row: Statistic | None) -> dict[str, object]:
        # of which rows a headline is, where others could take it back, or may count
        if self.notes[DiagnosticCode.UNCOUNTED_ROWS]:
            return {"counted": unit_of(self.spec)}
        if row is None:
            return {}
        known: list[str] = []
        if could_undo(self.report, contrast, row):
            needs = {*row.needs, *(["score"] if "prediction" in row.needs else [])}
            missing = self.report.data.excluded
            known = [what for what in OUTCOMES if missing.get(f"missing {what}") and what in needs]
        return {"unit": unit_of(self.spec), "known": self._name_roles(known)}

    def _name_roles(self, roles: Sequence[str]) -> list[str]:
        # without a label nothing is predicted
        decided = self.report.task is not Task.REGRESSION and not self.spec.label
        return ["decision" if w == "prediction" and decided else w for w in roles]

    def _estimators(self, feature: str | None) -> dict[str, object]:
        if feature not in self._estimated_features:
            return {}
        own = (e for e in self.report.estimators if e.feature == feature and e.decides)
        decide = sorted({str(each.estimator) for each in own})
        validated = decide == [str(enums.Estimator.VALIDATED)]
        if validated and self._is_answered(feature):
            return {}
        notes = [d for d in self.notes[DiagnosticCode.CALIBRATION] if d.feature == feature]
        against = not validated and any(note["contradicts"] for note in notes)
        return {"estimator": decide[0] if len(decide) == 1 else "several", "contradicted": against}

    def _is_answered(self, feature: str | None) -> bool:
        notes = self.notes[DiagnosticCode.GROUP_NOT_RECORDED]
        random = (each for each in notes if each.feature == feature and each["random"])
        return any(each["known"] == each["people"] or each.get("alone") for each in random)

    def _varies(self, finding: Finding) -> dict[str, object]:
        of = finding.estimate.reference and finding.estimate.reference.group
        sides = {finding.estimate.group, of, finding.estimate.mirror_of}
        sides |= {e.group for e in self.report.estimates if e.mirror_of == finding.estimate.group}
        asked = finding.estimate.feature, f"{finding.rate}.difference"
        for d in self.notes[DiagnosticCode.STRATA_VARY]:
            if (d.feature, d["metric"]) == asked and d["group"] in sides:
                return {"varies": True} if d["varies"] else {"outlying": list(d["outlying"])}
        return {}

    def verdict(self) -> Iterator[Statement]:
        verdict, verdicts, n = self.report.verdict, self.report.verdicts, len(self.rules)
        outcomes = dict(Counter(str(each.outcome) for each in self.rules))
        if verdict not in (Outcome.FAIL, Outcome.PASS):
            outcomes = count_undecided(self.rules)
        elif verdict is Outcome.FAIL:
            outcomes = {"fail": outcomes["fail"]}
        remain = {each.remains for each in verdicts}
        alone = False in remain and True not in remain
        if self.rules:
            stated = fact("rules", "verdict", n=n, outcomes=outcomes, alone=alone)
            yield replace(stated, verdict=str(verdict))
        yield from self._estimated_groups()
        if self.name is not None and self.name.no_limit:
            text = self.name.no_limit if self.name.is_ours else f"“{self.name.no_limit}”"
            yield fact("no_limit", "spec.preset", text=text, rules=n)
        if not self.rules:
            return
        rows = ([each.definition for each in rule.verdicts] for rule in self.rules)
        over_strata = sum(any(isinstance(e, ConditionalDisparity) for e in of) for of in rows)
        if self.strata and n > over_strata:
            within = bool(self.notes[DiagnosticCode.WITHIN_STRATA])
            stated = fact("not_adjusted", "spec.strata", n=n - over_strata, of=n, within=within)
            yield replace(stated, adjusted_for=(self.strata,))
        decisive: tuple[str, ...] = (str(verdict),)
        if verdict is Outcome.INCONCLUSIVE:
            decisive = ("inconclusive", "not_evaluated", "none")
        numbered = [(i, r) for i, r in enumerate(self.rules, 1) if str(r.outcome) in decisive]
        yield from (self._rule(rule, number) for number, rule in numbered[:2])
        if self.spec.reference != FOUR_FIFTHS.reference and any(
            each.metric == FOUR_FIFTHS.metric and limits_of(each.rule)[0] == FOUR_FIFTHS.low
            and each.interval and each.mirror is None and (each.value or 0) > 1 for each in verdicts
        ):  # fmt: skip
            yield fact("not_four_fifths", "spec.reference")
        notes = (e for e in self.notes[DiagnosticCode.MISSING_MARKER] if e.level is Level.WARNING)
        named = {(e.feature, name_of(e["value"])) for e in notes}
        own = (self._estimate(each) for each in verdicts)
        doubtful = {(e.feature, e.reference.group) for e in own if e and e.reference} & named
        for feature, group in sorted(doubtful, key=str):
            yield fact("doubted_reference", "diagnostics", feature=feature, group=group)
        for finding, each, found in self.led:
            if each.fails and self._change(finding) is AfterAdjusting.REVERSES:
                yield replace(found, code="reversed", adjusted_for=(str(finding.adjusted_for),))
        if verdict is Outcome.PASS and not all(each.judged for _, each, _ in self.led):
            yield fact("not_asked", "findings", n=n)
        counted = Counter(str(before_counting(each)) for each in verdicts)
        if counted.total() > 1 and set(counted) != {"pass"}:
            judged = [each.remains for each in verdicts if each.remains is not None]
            facts = {"outcomes": dict(counted), "remaining": sum(judged) if judged else None}
            yield fact("counted", "verdicts", n=counted.total(), **facts)

    def _estimated_groups(self) -> Iterator[Statement]:
        # of which features nobody recorded the groups, and what they are estimated from
        for i, each in enumerate(self.spec.probabilities):
            notes = self.notes[DiagnosticCode.GROUP_NOT_RECORDED]
            note = next(made for made in notes if made.feature == each.name)
            source = (f"spec.probabilities[{i}]",)
            keys = ("known", "people", "random", "without", "unplaced", "sampled")
            facts = {key: note.get(key) for key in keys} | {
                "feature": note.feature, "columns": [column for _, column in each.columns],
                "on": each.on, "unit": unit_of(self.spec), "rules": bool(self.rules),
            }  # fmt: skip
            if note.get("without"):
                yield fact("no_probabilities", *source, **facts)
            if self._is_answered(each.name):
                continue  # its warning states whose answers decide
            yield fact("not_recorded", *source, **facts)

    def _rule(self, rule: RuleResult, number: int) -> Statement:
        outcome = rule.outcome
        undecided = str(outcome) in ("inconclusive", "not_evaluated", "none")
        judged = [*map(self._own_side if undecided else self._verdict_statement, rule.verdicts)]
        decisive = tuple(each for each in judged if each.verdict == str(outcome))
        decided = [each for each in rule.verdicts if each.outcome is outcome]
        counts_as = sum(before_counting(each) is not outcome for each in decided)
        like = next((each for each in judged if each.of is not None), None)
        neutral = getattr(rule.worst.definition, "neutral", math.nan)
        several = len({each.class_scope for each in rule.verdicts}) > 1
        rules = self.report.spec["rules"]
        asked = {str(keys.get("decide")) for keys in rules if keys["metric"] in rule.rule}
        estimates = filter(None, map(self._estimate, rule.verdicts))
        references = {each.reference.kind for each in estimates if each.reference}
        of = like.of if like and not several else None
        events: Any = None if of is None else (of.event, of.among)
        if events and self.cuts:  # a rule is about each threshold
            own = self.event
            events = tuple(
                own(e.kind, e.positive) if e and e.op in ("from", "to") else e for e in events
            )
        each_class = bool(of and of.class_ and rule.worst.class_scope.kind is ClassKind.CLASS)
        if events and each_class:
            events = tuple(e and replace(e, values=()) for e in events)
        if of is not None and events:
            at = None if self.cuts else of.threshold
            of = replace(of, event=events[0], among=events[1], threshold=at)
        return Statement(
            code="rule", of=of, by=like.by if like else "difference", verdict=str(outcome),
            parts=decisive, sources=("verdicts",), facts={
                "text": rule.rule, "limits": limits_of(rule.rule),
                "number": number if len(self.rules) > 1 else None, "at": number,
                "neutral": None if math.isnan(neutral) else neutral,
                "others": references == {enums.ReferenceKind.OTHERS}, "each_class": each_class,
                "counts_as": counts_as,
                "ignored": any(each.outcome is Outcome.NONE for each in rule.verdicts),
                "significant": str(enums.Decide.SIGNIFICANT) in asked,
            },
        )  # fmt: skip

    def _estimate(self, verdict: Verdict) -> Estimate | None:
        return judged_estimate(verdict, self._estimates_of.get(verdict.group, ()))

    @cached_property
    def _estimates_of(self) -> dict[str | None, list[Estimate]]:
        found: dict[str | None, list[Estimate]] = {}
        for each in self.report.estimates:
            found.setdefault(each.group, []).append(each)
        return found

    def _verdict_statement(self, verdict: Verdict) -> Statement:
        contrast, outcome = self._estimate(verdict), str(before_counting(verdict))
        scope = verdict.class_scope
        codes = {reason.code for reason in reasons_of(verdict)}
        facts = {"alone": verdict.remains is False, "limits": limits_of(verdict.rule),
            "rule": verdict.rule,
            "counted_as": str(verdict.outcome) if str(verdict.outcome) != outcome else None,
            "why": [str(code) for code in ON_ONE_SIDE if codes == {code}],
            "needed": needed(verdict.reason),
            "class_": scope.name if scope.kind is ClassKind.CLASS else None,
            "at": verdict.threshold if self.cuts else None,
            "average": scope.average and str(scope.average)}  # fmt: skip
        of_all = is_of_all_groups(verdict.definition)
        across = of_all and not is_of_one_group(verdict.definition)
        facts |= {"across": across, "of_all": of_all, "feature": verdict.feature}
        if contrast is None or contrast.reference is None or contrast.group is None:
            named = verdict.group is not None and verdict.feature is not None and not across
            return Statement(
                code="judged", who=self.side(verdict.feature, verdict.group) if named else None,
                verdict=outcome, value=verdict.value, facts=facts | {"group": verdict.group},
                harm=self._harm_of(verdict) if named else None,
            )  # fmt: skip
        turn = is_of_both_sides(verdict)
        found = self.statement(contrast, "judged", turn=turn, alone=True, several_cuts=self.cuts,
                               sources=self._place(contrast))  # fmt: skip
        better = found.harm == "better" and found.than is not None and found.than.kind == "others"
        return replace(found, verdict=outcome, facts=found.facts | facts | {"than_all": better})

    def _harm_of(self, verdict: Verdict) -> Harm | None:
        row = directions.compared_number(verdict.definition)
        beyond = verdict.value and verdict.value - getattr(verdict.definition, "neutral", math.nan)
        if not isinstance(row, Rate) or not beyond or math.isnan(beyond):
            return None
        sign = self.adverse(row, verdict.class_scope) * beyond
        return None if sign == 0 else "worse" if sign > 0 else "better"

    def grid(self) -> Table | None:
        """Return the rules with what they come to for each group; of many the gravest."""
        if not self.rules:
            return None
        numbered = list(enumerate(self.rules, 1))
        if len(numbered) > _MOST_RULES:
            grave = GRAVEST_FIRST.index  # fails that remain come before others
            numbered.sort(key=lambda each: min(
                (grave(before_counting(v)), v.remains is False) for v in each[1].verdicts
            ))  # fmt: skip
        chosen = numbered[:_MOST_RULES]
        rows: dict[tuple[str | None, object], list[Statement | None]] = {}
        for i, (_, rule) in enumerate(chosen):
            for verdict in rule.verdicts:
                own = self._own_side(verdict)
                low, high = own.facts["limits"]
                mirrored = low == -high and verdict.mirror is not None
                if mirrored and _people_of(verdict.feature, other := swap_sides(own)) in rows:
                    own = other
                row = rows.setdefault(_people_of(verdict.feature, own), [None] * len(chosen))
                row[i] = row[i] or own
        kept = sorted(rows.items(), key=lambda row: (_gravity(row[1]), _advantage(row[1])))
        kept = sorted(kept[:_MOST_ROWS], key=lambda row: _advantage(row[1]))
        features = list(dict.fromkeys(each.feature for each in self.report.groups))
        kept.sort(key=lambda row: features.index(row[0][0]) if row[0][0] in features else -1)
        verdicts = [each for _, rule in chosen for each in rule.verdicts]
        return Table(code="grid", columns=tuple(rule.rule for _, rule in chosen),
            rows=tuple((feature, *row) for (feature, _), row in kept), facts={
                "rules": [self._rule(rule, i) for i, rule in chosen],
                "more": {"rule": len(numbered) - len(chosen), "row": len(rows) - len(kept)},
                "why": sorted(
                    {r.code for v in verdicts for r in reasons_of(v) if r.code in _BESIDE}),
                "level": min((v.interval.level for v in verdicts if v.interval), default=None),
            })  # fmt: skip

    def _own_side(self, verdict: Verdict) -> Statement:
        # a verdict as it is judged: of its own group, in the numbers of its limits
        contrast, judged = self._estimate(verdict), self._verdict_statement(verdict)
        facts = judged.facts | {"two": verdict.mirror is not None}
        ends = Range.of(verdict.interval)
        judged = replace(judged, value=verdict.value, interval=ends, facts=facts)
        if contrast is None or contrast.reference is None or contrast.group is None:
            return judged
        own = self.statement(contrast, "judged", turn=False, alone=True)
        return replace(judged, who=own.who, than=own.than, harm=own.harm)

    # ---- what was looked at and found

    def looked_at(self) -> Iterator[Statement]:
        data, spec, task = self.report.data, self.spec, self.report.task
        every = data.rows if unit_of(spec) == "rows" else data.cases
        missing = [w for w in OUTCOMES if data.excluded.get(f"missing {w}")]
        yield fact("rows", "data.cases", "data.used", n=data.cases,
            used=None if data.used == every else data.used,
            least=bool(self.notes[DiagnosticCode.USED_AT_LEAST]),
            rounded=self.rounded,
            known=[] if data.used == every else self._name_roles(missing),
            several=len(spec.sensitive) > 1,
            chosen=bool(spec.where),
            partly=comparisons.is_used_partly(data.excluded, spec))  # fmt: skip
        if (of := self.name) is not None:
            own = {"name": of.name, "jurisdiction": of.jurisdiction, "status": of.status}
            yield fact("preset", "spec.preset", **own, as_of=of.as_of.isoformat())
        elif (name := self.report.spec["preset"]) is not None:
            name = name.get("name") if isinstance(name, Mapping) else name
            yield fact("preset_not_found", "spec.preset", name=str(name))
        for note in self.notes[DiagnosticCode.PROTECTED]:
            yield fact("rounded_counts", "diagnostics", "data.rows", **dict(note.parameters))
        for note in self.notes[DiagnosticCode.LISTED_ONCE]:
            yield fact("listed_once", "diagnostics", **dict(note.parameters))
        if conditions := comparisons.asked_conditions(spec):
            left_out = sum(note["rows"] for note in self.notes[DiagnosticCode.ROWS_LEFT_OUT])
            yield fact("conditions", "spec.where", **conditions, left_out=left_out)
        for note in self.notes[DiagnosticCode.GROUPS_LEFT_OUT]:
            named, rows = list(note["groups"]), note["rows"]
            facts = {"feature": note.feature, "groups": named, "n": rows, "why": note["why"]}
            yield fact("groups_left_out", "diagnostics", **facts)
        binary, labelled = task is Task.BINARY, spec.label is not None
        decided = spec.decision is not None
        groups, of_counts = self.report.groups, self.report.data.source == COUNTS
        features = ((g.feature, g.feature_id and g.feature_id.columns) for g in groups)
        classes = (e.class_scope.name for e in groups if e.class_scope.kind is ClassKind.CLASS)
        yield fact("question", "spec", task=str(task), of_counts=of_counts,
            features=list(dict.fromkeys(features)),
            within=self.strata, weight=spec.weight,
            decision=self.event("decision", True) if decided and binary else None,
            outcome=self.event("outcome", True) if labelled and binary else None,
            prediction=spec.prediction or spec.score, label=spec.label,
            classes=list(dict.fromkeys(classes)))  # fmt: skip
        side, asked = str(self.favourable), bool(spec.positive)
        if binary and (decided or labelled) and side != "neither" and side not in AMOUNTS:
            yield fact("taken_as_better", "spec",
                event=self.event("decision" if decided else "outcome", True),
                assumed=bool(self.notes[DiagnosticCode.ASSUMED_POSITIVE]),
                asked=asked, side=side, of_counts=of_counts,
                stated=asked or spec.favourable is not None)  # fmt: skip
        if (self.report.spec["preset"] or binary) and self.favourable in AMOUNTS:
            column = spec.score or spec.label or spec.prediction
            yield fact("taken_as_better", "spec", of=column, side=side)
        yield from self.counted_values()
        for note in self.notes[DiagnosticCode.IGNORABLE_MISSING]:
            names = ("rows", "total", "outcome", "rule", "group", "low", "high")
            stated = {name: note.get(name) for name in names}
            yield fact("ignorable", "diagnostics", feature=note.feature, **stated)

    def found(self) -> Iterator[Statement]:
        for finding, each, found in self.led:
            yield found
            if each.row is not None and getattr(each.row, "of", None) in PROPER_SCORES:
                yield fact("mixed_number", "findings", name=each.row.title)
            if (beside := each.failing_beside) is not None:
                better = self._judged_statement(beside)
                better = better if better.harm == "better" else swap_sides(better)
                same = beside.contrast is each.contrast
                yield replace(better, code="better_off", facts=better.facts | {"same": same})
            elif each.fails and each.better:
                yield Statement(code="they_are_better_off", sources=found.sources)
            if (within := self._within_strata(finding, found)) is not None:
                yield within
        if self.stated:
            # those with a star in a table: of a rate and its complement one
            rows = [
                (of, rate, directions.disparity(of.rate_row(rate)))
                for of in sections.sections_of(self.report) for rate in of.rates
            ]  # fmt: skip
            every: set[object] = {
                (of.key, row, e.group) for of, rate, row in rows for e in of.contrasts(rate)
                if measured.is_significant(e)
            }  # fmt: skip
            in_tables = {row for *_, row in rows}
            every |= {
                c.key for f in self.report.findings for c in (f.estimate, *f.others)
                if directions.disparity(c.definition) not in in_tables
            }  # fmt: skip
            pairs = [(e.contrast, e.failing_beside) for _, e, _ in self.led if e.failing_beside]
            apart = sum(other.contrast is not contrast for contrast, other in pairs)
            if (more := len(every) - len(self.led) - apart) > 0:
                classes = self.report.task is Task.MULTICLASS  # of which it lists each
                yield fact("more", "findings", n=None if classes else more)
        for note in self.notes[DiagnosticCode.WITHIN_STRATA]:
            whole = self._estimate_of(note)
            yield self.statement(whole, "only_within", turn=False,
                adjusted_for=(self.strata or "",), sources=("diagnostics", *self._place(whole)),
                facts={"note": note})  # fmt: skip
        if not self.stated:
            yield from self._further_differences()

    def _within_strata(self, finding: Finding, found: Statement) -> Statement | None:
        change, after = self._change(finding), finding.adjusted
        if after is None or change is None or found.of is None or found.of.kind not in _IN_WORDS:
            return None
        strata = [e for e in self.report.estimates if e.scope.kind is enums.ScopeKind.STRATUM]
        whole = finding.estimate
        own = (e for e in strata if e.key == replace(whole, scope=e.scope).key)
        inside = sections.with_both_sides(own)
        differ, way = sections.significant_strata(inside), gap(finding.estimate)
        parts = tuple(
            self.statement(e, "stratum", alone=True, sources=self._place(e), facts={
                "stratum": str(e.stratum), "same": gap(e) * way > 0})
            for e in sorted(differ, key=lambda e: -abs(gap(e)))
        )  # fmt: skip
        adjusted = self.statement(after, "adjusted")
        return replace(found, code="adjusted", interval=adjusted.interval, value=adjusted.value,
            parts=parts, shown=measured.is_significant(after),
            sources=(*found.sources, *self._place(after)),
            adjusted_for=(str(finding.adjusted_for),), facts={"change": str(change),
                "concluded": change in CONCLUDED, "strata": len(inside),
                "every": [self._stratum(e, found) for e in inside],
                "among": self._shares_compared(whole, after),
                "left": after.reason and dict(after.reason.parameters)},
        )  # fmt: skip

    def _stratum(self, each: Estimate, found: Statement) -> Statement:
        own = self.statement(each, "stratum", turn=False, facts={
            "stratum": str(each.stratum), "sizes": (each.n_group, each.n_reference)})  # fmt: skip
        if found.who and own.who and found.who.values == own.who.values:
            return own
        facts = own.facts | {"sizes": own.facts["sizes"][::-1]}
        return replace(own, who=own.than, than=own.who, facts=facts)

    def _further_differences(self) -> Iterator[Statement]:
        report = self.report
        pairs = [pair for pair in report.pairs if pair.significant]
        for pair in pairs[:_MOST_FINDINGS]:
            yield Statement(code="pair_differs", shown=True,
                of=self.measure(pair.definition, pair.class_scope), sources=("pairs",),
                who=self.side(pair.feature, pair.group, rate=pair.rate_group),
                than=self.side(pair.feature, pair.other, rate=pair.rate_other))  # fmt: skip
        adjusted = sections.shown_adjusted_alone(report.estimates)
        for whole, pooled in adjusted[:_MOST_FINDINGS]:
            yield self.statement(pooled, "shown_adjusted", adjusted_for=(self.strata or "",),
                sources=(*self._place(whole), *self._place(pooled)),
                parts=(self.statement(whole, "over_all"),),
                facts={"among": self._shares_compared(whole, pooled)})  # fmt: skip
        failed = {(v.metric, v.feature, v.group) for v in self._verdicts_of(Outcome.FAIL)}
        shown = [] if pairs or adjusted else self._significant
        sides = sorted(shown, key=lambda e: (e.metric, e.feature, e.group) not in failed)
        # of two groups that mirror each other the first
        one_of = {(*e.key[:2], e.mirror_of or e.group, *e.key[3:]): e for e in reversed(sides)}
        others = [*one_of.values()][::-1]
        yield from map(self._comparison, others[:_MOST_FINDINGS])
        found = pairs, adjusted, others
        if more := sum(max(len(of) - _MOST_FINDINGS, 0) for of in found):
            yield fact("more", "pairs", "estimates", n=more)
        if any(found):
            return
        if differing := self._differing():
            yield from (fact("all_groups_differ", "diagnostics", note=each) for each in differing)
            return
        yield from self._no_differences()
        over_all = bool(self.notes[DiagnosticCode.WITHIN_STRATA])
        facts = {"tested": self.is_tested, "over_all": over_all} | self._sufficiency_facts()
        yield replace(fact("none_beyond_variation", **facts), shown=False)

    def _no_differences(self) -> Iterator[Statement]:
        # what is compared although no difference is shown: the shares of the first rule
        if self.report.task is Task.REGRESSION:
            known = [e for e in self._overall if None not in (e.rate_group, e.rate_reference)]
            compared = [e for e in known if e.reference and e.mirror_of is None]
            valued = [e for e in compared if e.status is Status.OK]
            contrasts = [e for e in valued if isinstance(e.definition, Contrast)]
            means = [e for e in contrasts if not directions.is_ratio(e.definition)]
            if means:
                largest = max(means, key=lambda e: abs(gap(e)))
                yield self.statement(largest, sources=self._place(largest))
            return
        first = [verdict for rule in self.rules[:1] for verdict in rule.verdicts]
        open_ = [each for each in first if before_counting(each) is Outcome.INCONCLUSIVE]
        stated = map(self._comparison, filter(None, map(self._estimate, open_)))
        of_shares = [s for s in stated if s.lower is not None and is_of_shares(s)]
        yield from sorted(of_shares, key=lambda s: -abs(_rate_difference(s)))[:1]

    def _estimate_of(self, note: Diagnostic) -> Estimate:
        place = (note.feature, *map(note.get, ("metric", "group", "class", "threshold")))
        for each in self._overall:
            if (each.feature, each.metric, each.group, each.class_, each.threshold) == place:
                return each
        raise LookupError(note)

    # ---- how certain, what not, what next

    def certain(self) -> Iterator[Statement]:
        found = [s for _, _, s in self.led] if self.stated else [*self._no_differences()]
        compared = [s for s in found if s.interval]
        within = filter(None, (self._within_strata(f, s) for f, _, s in self.led))
        if any(each.facts["concluded"] for each in within):
            yield Statement(code="adjusted_means", adjusted_for=(self.strata or "",))
        if compared:
            yield Statement(code="interval", interval=compared[0].interval,
                facts={"assumed": self.estimated}, sources=compared[0].sources)  # fmt: skip
        open_ = self._verdicts_of(Outcome.INCONCLUSIVE)
        codes = [
            {_NOT_COMPUTED if why.get("unbounded") else why.code for why in reasons_of(each)}
            for each in open_
        ]
        for code in (*ON_ONE_SIDE, _NOT_COMPUTED):
            if n := codes.count({code}):
                # of which a value alone may decide
                beside = code not in (*_NOT_BESIDE, _NOT_COMPUTED)
                facts = {"n": n, "why": str(code), "beside": beside}
                yield fact("open_because", "verdicts", **facts)
        if any(len(of) > 1 or not of <= {*ON_ONE_SIDE, _NOT_COMPUTED} for of in codes):
            best = self.spec.reference is enums.ReferenceRule.BEST
            yield fact("inconclusive", "verdicts", shown=len(self.led), best=best)
        unevaluated = self._verdicts_of(Outcome.NOT_EVALUATED)
        zero = [v for v in unevaluated if v.reason.code in _OF_ZERO]
        if zero:
            stated = fact("ratio_of_zero", "verdicts", reason=zero[0].reason)
            yield replace(stated, parts=self._people(zero))
        yield from self._small_groups()
        if lacking := [v for v in unevaluated if self._lacks_data(v)]:
            yield Statement(code="not_evaluated", parts=self._people(lacking),
                facts={"n": len(lacking), "reasons": [v.reason for v in lacking]},
                sources=("verdicts",))  # fmt: skip
        else:
            yield from self._sparse()

    def _people(self, verdicts: Iterable[Verdict]) -> tuple[Statement, ...]:
        named = dict.fromkeys((v.feature, v.group) for v in verdicts if v.group and v.feature)
        return tuple(Statement(code="judged", who=self.side(*each)) for each in named)

    def _small_groups(self) -> Iterator[Statement]:
        small: dict[object, list[Estimate]] = {}
        below = [e for e in self._overall if e.group and _is_small(e.reason)]
        for e in sorted(below, key=lambda e: -abs(gap(e))):
            own = self.statement(e, turn=False)
            whom = own.who if e.reason and e.reason.side == "group" else own.than
            small.setdefault(whom and (whom.kind, whom.feature, whom.values), []).append(e)
        for estimates in [*small.values()][:_MOST_SMALL]:
            single = (e for e in estimates if e.class_scope.is_single)
            of_shares = [e for e in single if is_of_shares(self.statement(e))]
            first = next(iter(of_shares), estimates[0])
            found = self.statement(first, "small", turn=False, sources=self._place(first))
            facts = {"reason": first.reason, "counted": bool(of_shares)}
            side = "who" if first.reason and first.reason.side == "group" else "than"
            yield replace(found, facts=found.facts | facts | {"side": side})

    def _lacks_data(self, verdict: Verdict) -> bool:
        place = (verdict.feature, verdict.group, verdict.class_scope, OVERALL)
        at = (e for e in self.report.groups if verdict.threshold in (None, e.threshold))
        own = (e for e in at if (e.feature, e.group, e.class_scope, e.scope) == place)
        rates = (each.rates.get(verdict.metric) for each in own)
        own_number = self._estimate(verdict) or next(rates, None)
        return own_number is not None and own_number.status is Status.TOO_FEW

    def _sparse(self) -> Iterator[Statement]:
        # which groups have insufficient data, for all of their comparisons or for some
        compared: dict[tuple[str | None, str], list[Estimate]] = {}
        for e in self._overall:
            if e.group and e.class_scope.is_single:
                compared.setdefault((e.feature, e.group), []).append(e)
        parts = []
        for whom, of in compared.items():
            few = [e for e in of if e.status is Status.TOO_FEW and not _is_small(e.reason)]
            if few:
                facts = {"some": any(e.status is Status.OK for e in of)}
                of_reference = {e.reason and e.reason.side for e in few} == {"reference"}
                than = self.reference(few[0]) if of_reference and few[0].reference else None
                parts.append(Statement(code="judged", who=self.side(*whom), than=than, facts=facts))
        if parts:
            yield Statement(code="sparse", parts=tuple(parts))

    def limits(self) -> Iterator[Statement]:
        spec, document = self.spec, self.spec.document
        if document.caveat:
            yield fact("caveat", "spec.document.caveat", text=document.caveat)
        own = bool(self.rules) and not (self.name is not None and "rules" in self.name.options)
        stated = fact("why_not", limits=bool(self.rules), own=own)
        adjusted = self.strata and not self.strata_leave_nothing
        yield replace(stated, adjusted_for=(self.strata or "",)) if adjusted else stated
        if self.estimated:
            yield Statement(code="probabilities", sources=("estimators",))
        if spec.label and spec.decision and self.report.task is Task.BINARY:
            refused = self.event("decision", self.favourable == "negative")
            outcome = self.event("outcome", True)
            yield fact("outcome_known", "spec.label", refused=refused, outcome=outcome)
        columns = [*(each.column for each in spec.sensitive), *self._estimated_features]
        yield fact("other_groups", columns=columns, period=document.period or None)

    @property
    def _estimated_features(self) -> list[str]:
        return [each.name for each in self.spec.probabilities]

    @property
    def strata_leave_nothing(self) -> bool:
        # where strata are outcomes or groups by another name
        code = DiagnosticCode
        same = (code.STRATUM_IS_OUTCOME, code.STRATUM_IS_GROUP, code.STRATUM_OF_ONE_SIDE)
        return any(self.notes[each] for each in same)

    @property
    def estimated(self) -> bool:
        decide = (each for each in self.report.estimators if each.decides)
        return any(each.estimator is not enums.Estimator.VALIDATED for each in decide)

    def steps(self) -> Iterator[Statement]:
        # what the result asks for next; the first three are shown
        spec, report = self.spec, self.report
        failed = [v for v in self._verdicts_of(Outcome.FAIL) if v.remains is not False]
        yield from self._missing_statements()
        yield from self._recording()
        yield from self._asking_people()
        yield from self._explaining(failed)
        cases = (self._cases_to_read(each, found) for _, each, found in self.led)
        yield from [*filter(None, cases)][:1]
        undecided = report.verdict in (Outcome.INCONCLUSIVE, Outcome.NOT_EVALUATED) and not failed
        if failed:
            yield step("decide", compare=not spec.probabilities)
        elif undecided:
            yield from self._later()
        dependent = spec.weight or spec.cluster or spec.intersections or spec.design
        apart = not (dependent or self.cuts or self.notes[DiagnosticCode.PROTECTED])
        outcomes = spec.label or spec.prediction or spec.score
        searched = self.report.task is Task.BINARY and outcomes and apart
        if searched and len(spec.sensitive) >= _SEVERAL:
            yield step("find_subgroups")
        by_thresholds = any(is_of_decisions(v.definition) for v in failed)
        if by_thresholds and spec.score and spec.label:
            yield step("other_threshold")
        if not (failed or undecided):
            yield from self._later()

    def _missing_statements(self) -> Iterator[Statement]:
        # what nobody stated, without which it is not known who is worse off
        spec, report = self.spec, self.report
        directed = self.favourable in AMOUNTS or self.favourable is enums.Favourable.NEITHER
        directed &= not self.notes[DiagnosticCode.UNFAVOURABLE_POSITIVE]
        if self.report.task is Task.REGRESSION and not directed:
            yield step("state_direction", column=spec.label or spec.prediction)
        if self.notes[DiagnosticCode.ASSUMED_POSITIVE]:
            yield step("state_positive", classes=False)
        reasons = [reason for v in self.report.verdicts for reason in reasons_of(v)]
        doubted = {reason["what"] for reason in reasons if reason.code in _NOT_BESIDE}
        unstated = set() if report.spec["preset"] else {UNSTATED}  # which the user has no word for
        if doubted & unstated and self.report.task is not Task.REGRESSION:
            yield step("state_favourable")
        if doubted - unstated or {e.code for e in report.doubts if not e.accepted} - _OF_LIMITS:
            yield step("heed_warnings")
        gaps = self.name is not None and self.name.publishes_amounts
        if gaps and not spec.strata:
            yield step("name_categories")
        if self.report.task is Task.MULTICLASS and not spec.positive:
            yield step("state_positive", classes=True)

    def _recording(self) -> Iterator[Statement]:
        unit = unit_of(self.spec)
        columns: dict[str | None, FeatureId | None]
        columns = {g.feature: g.feature_id for g in self.report.groups}
        for note in self.notes[DiagnosticCode.MISSING_GROUPS]:
            if note["rows"] > _MANY_MISSING * note["total"]:
                held = columns.get(note.feature)
                of = list(held.columns) if held is not None else [note.feature]
                facts = {"rows": note["rows"], "total": note["total"], "unit": unit}
                yield step("record_groups", columns=of, some=bool(note.get("columns")), **facts)
        lacking: dict[str, Any] = {}
        for note in self.notes[DiagnosticCode.MISSING_OUTCOMES]:
            if note["most_share"] > _MANY_MISSING:
                held = lacking.setdefault(note["what"], note)
                lacking[note["what"]] = max(held, note, key=lambda each: each["total"])
        data, amounts, label = self.report.data, self.report.task is Task.REGRESSION, OUTCOMES[0]
        without = data.excluded.get(f"missing {label}", 0)
        if amounts and without > _MANY_MISSING * data.rows:  # of estimated groups there is no note
            lacking.setdefault(label, {"rows": without, "total": data.rows})
        unclear = {d["column"] for d in self.notes[DiagnosticCode.PEOPLE_UNCLEAR]} - {None}
        for what, note in lacking.items():
            name = getattr(self.spec, what) or what
            facts = {"rows": note["rows"], "total": note["total"], "unit": unit}
            if note.get("unstated"):  # those alone that have no value
                own = [e for e in self.report.counted if e.role == what]
                empty = sum(e.cases for e in own if e.as_ == CountedAs.MISSING)
                facts |= {"rows": empty, "total": sum(e.cases for e in own)}
                if empty <= _MANY_MISSING * facts["total"]:
                    continue
            facts |= {"contradictory": name in unclear, "amounts": amounts}
            yield step("record_outcomes", column=name, **facts)

    def _asking_people(self) -> Iterator[Statement]:
        # for their group, which settles what probabilities cannot
        for i, note in enumerate(self.report.diagnostics):
            if note.code is not DiagnosticCode.GROUP_NOT_RECORDED:
                continue
            answered = note["known"] if note["random"] else 0
            of = [v for v in self.report.verdicts if v.feature == note.feature]
            undecided = (Outcome.INCONCLUSIVE, Outcome.NOT_EVALUATED)
            estimates = [e for e in self.report.estimates if e.feature == note.feature]
            few = [e.reason for e in estimates if e.reason]
            if answered and not few and all(v.outcome not in undecided for v in of):
                continue
            sized = (reason for reason in few if reason.code is ReasonCode.FEW_EFFECTIVE_PEOPLE)
            rows = max((reason.get("rows") or 0 for reason in sized), default=0)
            facts = {"feature": note.feature, "known": note["known"], "answered": answered}
            yield fact("ask_people", f"diagnostics[{i}]", **facts, rows=rows)

    def _explaining(self, failed: list[Verdict]) -> Iterator[Statement]:
        # what would show where the difference arises that the page reports first
        strata = None if self.strata_leave_nothing else self.strata
        first: Verdict | Estimate | None = next(iter(failed), None)
        for finding, each, found in self.led[:1]:
            in_words = found.of is not None and found.of.kind != "other"
            first = each.contrast if in_words else finding.estimate
        for note in self.notes[DiagnosticCode.WITHIN_STRATA][: first is None]:
            first = self._estimate_of(note)
        for _, adjusted in sections.shown_adjusted_alone(self.report.estimates)[: first is None]:
            first = adjusted
        if first is None or self.spec.probabilities or self.spec.design:
            return
        row = directions.compared_number(first.definition)
        whole = self.spec.reference is enums.ReferenceRule.OVERALL
        known = not (self.cuts or self.notes[DiagnosticCode.PROTECTED] or whole)
        binary = self.report.task in (Task.BINARY, Task.REGRESSION)
        if known and binary and row is not None and has_decomposition(row):
            usual = usual_rate(
                decided=self.spec.decision is not None,
                labelled=self.spec.label is not None,
                regression=self.report.task is Task.REGRESSION,
            )
            named = None if row.name == usual else row.name
            yield step("divide" if strata else "find_where", metric=named, within=strata)

    def _later(self) -> Iterator[Statement]:
        # what comes after an audit without fails; monitors are for recorded groups
        report = self.report
        estimated = self._estimated_features
        preset_ = self.name
        gaps = preset_ is not None and preset_.publishes_amounts
        if report.verdict is Outcome.PASS:
            if not estimated:
                yield step("follow")
        elif not report.verdicts and preset_ is not None and (preset_.published_metrics or gaps):
            lacking = [key for key in preset_.document if not getattr(self.spec.document, key)]
            yield step("publish", lacking=lacking, rounded=self.rounded, public=preset_.public)
        elif not report.verdicts:
            yield step("tolerable")
        else:
            open_ = (Outcome.INCONCLUSIVE, Outcome.NOT_EVALUATED)
            undecided = [each for each in report.verdicts if each.outcome in open_]
            shares = {reason.get("share") for each in undecided for reason in reasons_of(each)}
            if shares and None not in shares:  # more rows leave a share as it is
                yield step("smaller_share", share=max(shares))
                return
            of_rows = [v for v in undecided if v.value is not None and v.feature not in estimated]
            # more rows decide no rule that what rows lack leaves open, nor one of constant rates
            without = {*_BESIDE, *WITHOUT_METHOD, ReasonCode.ONE_VALUE}
            if not all(
                any(r.code in without or r.get("open_rows") is not None or r.get("expected") == 0
                    for r in reasons_of(each)) for each in of_rows
            ):  # fmt: skip
                plan = any(each.of_separate_rates for each in report.estimates)
                found = self._cheapest() or Statement(code="more_rows")
                few = [r for each in undecided for r in reasons_of(each)]
                facts: dict[str, object] = {"plan": plan}
                if self.rounded:
                    facts["rounded"] = True
                if all(reason.get("expected") for reason in few):  # it grows as the rows do
                    times, n = max(r["minimum"] / r["expected"] for r in few), report.data.cases
                    facts |= {"enough": times * n, "n": n}
                yield replace(found, code="more_rows", facts=found.facts | facts)

    def _cases_to_read(self, each: StatedComparison, found: Statement) -> Statement | None:
        row, who = each.row, found.who
        if found.harm != "worse" or who is None or who.hits is None or not isinstance(row, Rate):
            return None
        if (row.of, row.among) not in ((TP, TP + FN), (FP, TN + FP)):
            return None
        of_hits = row.of == TP
        n = (who.n or 0) - who.hits if of_hits else who.hits
        facts = {"n": n, "event": self.event("decision", not of_hits)}
        return replace(found, code="read_cases", facts=facts)

    def _cheapest(self) -> Statement | None:
        open_ = map(self._own_side, self._verdicts_of(Outcome.INCONCLUSIVE))
        found = [s for s in open_ if s.facts.get("needed") and s.who]
        if not found:
            return None
        best = min(found, key=lambda s: s.facts["needed"][0] / s.facts["needed"][1])
        rules = [rule.rule for rule in self.rules]
        number = rules.index(best.facts["rule"]) + 1 if len(rules) > 1 else None
        return replace(best, facts=best.facts | {"number": number})


_MOST_RULES, _MOST_ROWS, _MOST_FINDINGS, _MOST_SMALL = 2, 14, 2, 3
_OTHERS = 2  # the place of numbers that do not show how a score fits
_SEVERAL, _MANY_MISSING = 2, 0.05
_SHARES = ("share", "fit", "misfit")
_IN_WORDS = (*_SHARES, "mean")
_NOT_BESIDE = (ReasonCode.NOT_COUNTED, ReasonCode.UNCLEAR_VALUES, ReasonCode.FAVOURABLE_UNSTATED)
_OF_ZERO = (ReasonCode.RATIO_MAY_BE_ZERO, ReasonCode.RATIO_NOT_ABOVE_ZERO)
# doubts of what is asked, which have their own advice
_OF_LIMITS = {DiagnosticCode.LIMITS_THE_BETTER_OFF, DiagnosticCode.REFERENCE_DECIDES,
    DiagnosticCode.UNFAVOURABLE_POSITIVE}  # fmt: skip
_NOT_COMPUTED = "not_computed"  # how far rows that lack something could move it
_BESIDE = {*ON_ONE_SIDE, ReasonCode.MISSING_GROUPS, ReasonCode.MISSING_OUTCOMES}


def _is_contrary(one: Statement, other: Statement) -> bool:
    # whether the median of a column is lower for the side whose average of it is higher
    of = {each.of.name: each.of.column for each in (one, other) if each.of}
    sides = [[(side and side.feature, side and side.values) for side in pair]
             for pair in ((one.who, one.than), (other.than, other.who))]  # fmt: skip
    return of.keys() == {"label", "median"} and len({*of.values()}) == 1 and sides[0] == sides[1]


def count_undecided(rules: Iterable[RuleResult]) -> dict[str, int]:
    """Return how many rules are not decided: for some groups alone, where others are."""
    counted: dict[str, int] = {}
    for rule in rules:
        some = rule.outcome is Outcome.NOT_EVALUATED and len({e.outcome for e in rule.verdicts}) > 1
        code = f"{rule.outcome}{'_for_some' if some else ''}"
        if code not in ("fail", "pass"):
            counted[code] = counted.get(code, 0) + 1
    return counted


def is_of_shares(s: Statement) -> bool:
    """Return whether shares are compared: of a decision or outcome, or of those that fit it."""
    return s.of is not None and s.of.kind in _SHARES


def _rate_difference(s: Statement) -> float:
    mine, theirs = (0 if side is None else side.rate or 0 for side in (s.who, s.than))
    return float(mine - theirs)


def _is_small(reason: Reason | None) -> bool:
    return reason is not None and reason.code is ReasonCode.SMALL_GROUP


def _people_of(feature: str | None, own: Statement) -> tuple[str | None, object]:
    # whose row of the grid a verdict is in: of all groups at once it is that of two
    pair = own.than if own.facts.get("across") else None
    return feature, tuple(side and side.values for side in (own.who, pair))


def _gravity(row: list[Statement | None]) -> tuple[int, bool]:
    places = ((GRAVEST_FIRST.index(Outcome(s.verdict or "")), s.facts["alone"]) for s in row if s)
    return min(places)


def _advantage(row: list[Statement | None]) -> float:
    # how much better a group fares than its reference in the first rule: worst first
    for s in filter(None, row):
        if s.who and s.than and s.who.rate is not None and s.than.rate is not None:
            far = s.who.rate - s.than.rate
            return far if s.harm is None else abs(far) * (1 if s.harm == "better" else -1)
    return 0.0


def judged_estimate(verdict: Verdict, estimates: Iterable[Estimate]) -> Estimate | None:
    """Return the comparison that a verdict judges; it names a threshold where there are several."""
    judged = (verdict.metric, verdict.feature, verdict.group, verdict.class_scope)
    group = verdict.group  # first, as there may be thousands
    own = (
        e for e in estimates
        if e.group == group and (e.metric, e.feature, e.group, e.class_scope) == judged
        and e.scope == OVERALL
    )  # fmt: skip
    return next((e for e in own if verdict.threshold in (None, e.threshold)), None)


def needed(reason: Reason) -> tuple[int, int] | None:
    """Return how many rows of its group would decide a rule, of how many there are."""
    rows = reason.get("needed")
    if rows is None or reason.get("on_limit") or rows > 10 * reason["rows"]:
        return None
    has = reason["of_group"]
    exact = rows * has / reason["rows"]
    digits = 1 - math.floor(math.log10(exact)) if exact > 0 else 0
    if digits > 0:
        rounded = math.ceil(exact * 10**digits) // 10**digits
    else:
        rounded = math.ceil(exact / 10**-digits) * 10**-digits
    return max(rounded, int(has) + 1), int(has)


_HARDLY_MORE, _HARDLY_CHANCE = 0.01, 1e-3


def could_undo(report: Report, contrast: Estimate, row: Statistic) -> bool:
    """Return whether rows that lack an outcome could leave a difference not shown, or turn it.

    A rate of all rows turns if all of these have one outcome; it is not shown if those beyond the
    share that the other side lacks move it by more than its interval is from none.
    """
    needs = {*row.needs, *(["score"] if "prediction" in row.needs else [])}
    lacking = [e for e in report.diagnostics if e.code is DiagnosticCode.MISSING_OUTCOMES]
    own = [e for e in lacking if e.feature == contrast.feature and e["what"] in needs]
    uneven = any(each["groups"] > 1 and each["p"] < _HARDLY_CHANCE for each in own)
    group, reference = _sizes(report, contrast)
    every = (contrast.rate_group, contrast.n_group, group), (
        contrast.rate_reference, contrast.n_reference, reference)  # fmt: skip
    sides = [(rate, 1 - n / of) for rate, n, of in every if rate is not None and n and of]
    if not isinstance(row, Rate) or row.among != ALL or len(sides) < 2:
        return uneven
    (low, of_low), (high, of_high) = sorted(sides)
    if low * (1 - of_low) + of_low > high * (1 - of_high):
        return True
    (rate, more), (other, fewer) = sorted(sides, key=lambda side: -side[1])
    interval = contrast.simultaneous or (contrast.bounds and contrast.interval)
    if not uneven or interval is None or contrast.definition.neutral in interval:
        return uneven
    share = (more - fewer) / (1 - fewer)
    if more - fewer < _HARDLY_MORE or rate == other:
        return False
    moved = share * ((rate < other) - rate) / (other - rate)  # of the way to no difference
    nearest = min(measured.distance(replace(contrast, value=end)) for end in interval)
    return moved * measured.distance(contrast) >= nearest


def _sizes(report: Report, contrast: Estimate) -> tuple[float, float]:
    # the rows of both sides of a comparison, those without an outcome included
    place = (contrast.feature, contrast.scope, contrast.class_scope.of_class, contrast.threshold)

    def sizes(groups: Sequence[Group], name: str) -> dict[str | None, float]:
        held = [g for g in groups if (g.feature, g.scope, g.class_scope, g.threshold) == place]
        return {getattr(each, name): each.n for each in reversed(held)}

    of_groups, reference = sizes(report.groups, "group"), contrast.reference
    group = of_groups.get(contrast.group, 0.0)
    every = sizes(report.totals, "reference_kind").get(enums.ReferenceKind.OVERALL, 0.0)
    if reference is None or not (group and every):
        return 0, 0
    if reference.group is not None:
        return group, of_groups.get(reference.group, 0.0)
    return group, every - group * (reference.kind is enums.ReferenceKind.OTHERS)
