"""An audit as statements. No English: codes, sides and numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from fairgauge.catalogue.cells import FN, FP, TN, TP
from fairgauge.catalogue.comparisons import Contrast, is_of_all_groups
from fairgauge.catalogue.decomposable import has_decomposition, usual_rate
from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import (
    AfterAdjusting,
    ClassKind,
    DiagnosticCode,
    Estimator,
    IntervalMethod,
    Outcome,
    ScopeKind,
    Status,
    Task,
)
from fairgauge.question.features import strata_named
from fairgauge.question.options import BY_NAME
from fairgauge.question.presets import preset, preset_names
from fairgauge.question.rules import limits_of
from fairgauge.reasons import ReasonCode
from fairgauge.results.disadvantage import AMOUNTS
from fairgauge.results.disparities import (
    after_adjusting,
    gap,
    is_ratio,
    is_significant,
    shares_compared,
    significant_strata,
    with_both_sides,
)
from fairgauge.results.stated_comparison import stated_comparisons
from fairgauge.results.statement import Page, Range, Statement, Table
from fairgauge.results.verdicts import before_counting, reasons_of
from fairgauge.statements.compared import Compared, event, measure, words_of
from fairgauge.statements.missing_outcomes import could_leave_none, could_reverse

CONCLUDED = {
    AfterAdjusting.DISAPPEARS,
    AfterAdjusting.REVERSES,
    AfterAdjusting.REMAINS,
    AfterAdjusting.CHANGES_LITTLE,
    AfterAdjusting.NOT_SIGNIFICANT,
}
ON_ONE_SIDE = (
    ReasonCode.ANSWERS_CONTRADICT,
    ReasonCode.UNSHOWN_PROBABILITIES,
    ReasonCode.STRATA_MISSING,
    ReasonCode.NOT_COUNTED,
    ReasonCode.UNCLEAR_VALUES,
    ReasonCode.FAVOURABLE_UNSTATED,
)


def audit_page(report: Any) -> Page:
    """Return the first page of an audit."""
    made = _Audit(report)
    every = [
        *made.headline(),
        *made.verdict(),
        *made.looked_at(),
        *made.found(),
        *made.certain(),
        *made.limits(),
        *made.steps(),
    ]
    return Page(
        kind="audit", statements=tuple(every), grid=made.grid(), words=words_of(report.spec)
    )


class _Audit(Compared):
    def __init__(self, report: Any) -> None:
        super().__init__(report, report.groups)
        self.report, self.strata = report, strata_named(report.spec.get("strata"))
        self.notes = {
            code: [d for d in report.diagnostics if d.code is code] for code in DiagnosticCode
        }
        cuts = report.spec.get("threshold") or ()
        self.cuts = not isinstance(cuts, str) and len(cuts) > 1
        pairs = zip(report.findings, stated_comparisons(report, report.findings), strict=True)
        self.stated = [(finding, each, self._of(each)) for finding, each in pairs]
        self.led = self.stated[:2]
        self.rules = report.by_rule
        self.name = (
            preset(report.spec["preset"]) if report.spec.get("preset") in preset_names() else None
        )

    def _of(self, each: Any) -> Statement:
        contrast = each.contrast
        found = self.statement(contrast, several_cuts=self.cuts, sources=self._place(contrast))
        return replace(found, facts=found.facts | {"judged": each.judged, "fails": each.fails})

    def _place(self, contrast: Any) -> tuple[str, ...]:
        return (
            f"estimates[{next(i for i, e in enumerate(self.report.estimates) if e.key == contrast.key)}]",
        )

    def _change(self, finding: Any) -> AfterAdjusting | None:
        if finding.adjusted is None or finding.adjusted.key == finding.estimate.key:
            return None
        return after_adjusting(finding.estimate, finding.adjusted)

    # ---- headline and verdict

    def headline(self) -> Iterator[Statement]:
        if (failed := self._failed_alone()) is not None:
            yield failed
        elif self.stated:
            finding, each, found = self.led[0]
            also = [
                s
                for _, e, s in self.led[1:]
                if e.is_of_some_in(each) and not could_leave_none(self.report, e.contrast, e.row)
            ]
            facts: dict[str, Any] = {"after": self._change(finding)}
            if facts["after"] is AfterAdjusting.DISAPPEARS:
                facts["varies"] = self._varies(finding)
            if not self.report.verdicts:
                facts |= self._chosen_from(each.contrast)
            within = (str(finding.adjusted_for),) if facts["after"] else ()
            yield replace(
                found,
                code="headline",
                parts=tuple(also),
                adjusted_for=within,
                facts=found.facts
                | facts
                | self._estimators(finding.feature)
                | self._known(each.contrast, each.row),
            )
        else:
            yield self._nothing()

    def _nothing(self) -> Statement:
        tested = any(each.p_adjusted is not None for each in self.report.estimates)
        small = any(each.status is Status.TOO_FEW for each in self.report.estimates)
        found = [
            each
            for each in self.report.estimates
            if is_significant(each) and each.reference is not None
        ]
        code = "other_differences" if found else "nothing_shown" if tested else "nothing_tested"
        groups = [
            each for each in self.notes[DiagnosticCode.HOMOGENEITY] if each.get("significant")
        ]
        within = [each for each in self.notes[DiagnosticCode.WITHIN_STRATA]]
        return Statement(
            code=code,
            shown=False,
            verdict=str(self.report.verdict),
            sources=("estimates",),
            facts={
                "equal": bool(
                    ends := [
                        (e, e.interval) for e in self.report.estimates if e.interval is not None
                    ]
                )
                and all({e.value, i.low, i.high} == {e.definition.neutral} for e, i in ends),
                "sufficient": small,
                "rules": len(self.rules),
                "conditions": bool(self.report.spec.get("where")),
                "pairs": any(p.significant for p in self.report.pairs),
                "features": [each.feature for each in groups],
                "within": self.strata if within else None,
                "one_group": [
                    (d.feature, d["group"]) for d in self.notes[DiagnosticCode.ONE_GROUP]
                ],
                "undecided": dict(Counter(str(rule.outcome) for rule in self.rules)),
            },
        )

    def _failed_alone(self) -> Statement | None:
        """Return the gravest fail where no finding has it: it may not remain among all."""
        if self.report.verdict is not Outcome.FAIL:
            return None
        judged = [
            self._judged(v) for v in self.report.verdicts if before_counting(v) is Outcome.FAIL
        ]
        judged = [
            each
            for each in judged
            if each.of is not None and each.of.kind != "number" and each.than
        ]
        if not judged or any(each.fails and not each.better for _, each, _ in self.stated[:1]):
            return None
        first = min(judged, key=lambda s: (s.harm != "worse", s.facts["alone"]))
        if self.stated and first.harm != "worse":
            return None
        return replace(first, code="headline", facts=first.facts | {"after": None})

    def _known(self, contrast: Any, row: Any) -> dict[str, Any]:
        """Return of which rows a headline is, where others could take it back, or may count."""
        if self.notes[DiagnosticCode.UNCOUNTED_ROWS]:
            return {"counted": True}
        open_ = isinstance(row, Rate) and (
            could_leave_none(self.report, contrast, row)
            or could_reverse(self.report, contrast, row, self.statement(contrast, turn=False))
        )
        missing = [
            what
            for what in ("label", "prediction", "score")
            if self.report.data.excluded.get(f"missing {what}")
        ]
        return {
            "known": [
                w
                for w in missing
                if open_ and (w in row.needs or (w == "score" and "prediction" in row.needs))
            ]
        }

    def _estimators(self, feature: Any) -> dict[str, Any]:
        """Return by which estimators groups are known that nobody recorded, and whether answers contradict these."""
        if feature not in [each["name"] for each in self.report.spec.get("probabilities", ())]:
            return {}
        decide = sorted(
            {str(e.estimator) for e in self.report.estimators if e.feature == feature and e.decides}
        )
        against = any(
            d.feature == feature and (d.code is DiagnosticCode.KNOWN_RATES or d["contradicts"])
            for code in (DiagnosticCode.KNOWN_RATES, DiagnosticCode.CALIBRATION)
            for d in self.notes[code]
        )
        return {"estimator": decide[0] if len(decide) == 1 else "several", "contradicted": against}

    def _varies(self, finding: Any) -> bool:
        estimate = finding.estimate
        return any(
            d["p"] is not None and d["p"] < 1 - (estimate.confidence or 0)
            for d in self.notes[DiagnosticCode.COMPOSITION]
            if (d.feature, d["metric"]) == (finding.feature, f"{finding.rate}.difference")
        )

    def _chosen_from(self, first: Any) -> dict[str, Any]:
        kind = (
            ClassKind.CLASS if first.class_scope.kind is ClassKind.WORST else first.class_scope.kind
        )
        asked = [
            e
            for e in self.report.estimates
            if (e.metric, e.scope, e.class_scope.kind) == (first.metric, first.scope, kind)
            and e.group is not None
            and e.mirror_of is None
        ]
        of = [e for e in asked if e.interval is not None and e.status is Status.OK]
        far = lambda e: (
            abs(math.log(e.value)) if is_ratio(e.definition) and e.value else abs(gap(e))
        )
        return {
            "chosen_of": len(of) if len(of) > 1 else 0,
            "sufficient": len(of) < len(asked),
            "largest": bool(of) and math.isclose(far(first), max(map(far, of))),
            "classes": len({e.class_scope for e in of}),
        }

    def verdict(self) -> Iterator[Statement]:
        if self.name is not None and self.name.no_limit:
            yield Statement(
                code="no_limit",
                facts={"text": self.name.no_limit, "rules": len(self.rules)},
                sources=("spec.preset",),
            )
        if not self.rules:
            return
        outcomes = Counter(str(each.outcome) for each in self.rules)
        remain = {each.remains for each in self.report.verdicts}
        yield Statement(
            code="rules",
            verdict=str(self.report.verdict),
            sources=("verdict",),
            facts={
                "n": len(self.rules),
                "outcomes": dict(outcomes),
                "alone": False in remain and True not in remain,
            },
        )
        for note in self.notes[DiagnosticCode.GROUP_NOT_RECORDED]:
            columns = next(
                e["probabilities"]
                for e in self.report.spec["probabilities"]
                if e["name"] == note.feature
            )
            yield Statement(
                code="not_recorded",
                sources=("spec.probabilities",),
                facts={
                    "feature": note.feature,
                    "known": note["known"],
                    "people": note["people"],
                    "random": note["random"],
                    "columns": list(columns.values()),
                },
            )
        if self.strata:
            yield Statement(
                code="not_adjusted",
                facts={
                    "n": len(self.rules),
                    "within": bool(self.notes[DiagnosticCode.WITHIN_STRATA]),
                },
                adjusted_for=(self.strata,),
                sources=("spec.strata",),
            )
        undecided = ("inconclusive", "not_evaluated", "none")
        decisive = (
            undecided
            if self.report.verdict is Outcome.INCONCLUSIVE
            else (str(self.report.verdict),)
        )
        for number, rule in [
            (i, r) for i, r in enumerate(self.rules, 1) if str(r.outcome) in decisive
        ][:2]:
            yield self._rule(rule, number)
        for finding, each, found in self.led:
            if each.fails and self._change(finding) is AfterAdjusting.REVERSES:
                yield replace(found, code="reversed", adjusted_for=(str(finding.adjusted_for),))
        if self.report.verdict is Outcome.PASS and not all(each.judged for _, each, _ in self.led):
            yield Statement(code="not_asked", facts={"n": len(self.rules)}, sources=("findings",))
        counted = Counter(str(before_counting(each)) for each in self.report.verdicts)
        if counted.total() > 1 and set(counted) != {"pass"}:
            judged = [each.remains for each in self.report.verdicts if each.remains is not None]
            yield Statement(
                code="counted",
                sources=("verdicts",),
                facts={
                    "n": counted.total(),
                    "outcomes": dict(counted),
                    "remaining": sum(judged) if judged else None,
                },
            )

    def _rule(self, rule: Any, number: int) -> Statement:
        undecided = str(rule.outcome) in ("inconclusive", "not_evaluated", "none")
        judged = [
            self._own_side(each) if undecided else self._judged(each) for each in rule.verdicts
        ]
        decisive = tuple(each for each in judged if each.verdict == str(rule.outcome))
        like = next((each for each in judged if each.of is not None), None)
        neutral = getattr(rule.worst.definition, "neutral", math.nan)
        several = len({each.class_scope for each in rule.verdicts}) > 1 or any(
            v.alternatives for v in rule.verdicts
        )
        others = {each.than.kind for each in judged if each.than} <= {
            "others",
            "group",
        } and not any(
            e.reference and e.reference.group
            for v in rule.verdicts
            if (e := self._estimate(v)) is not None
        )
        return Statement(
            code="rule",
            of=like.of if like and not several else None,
            by=like.by if like else "difference",
            verdict=str(rule.outcome),
            parts=decisive,
            sources=("verdicts",),
            facts={
                "text": rule.rule,
                "limits": limits_of(rule.rule),
                "number": number if len(self.rules) > 1 else None,
                "at": number,
                "neutral": None if math.isnan(neutral) else neutral,
                "others": others,
                "each_class": bool(like and like.of and like.of.class_),
            },
        )

    def _estimate(self, verdict: Any) -> Any:
        judged = (verdict.metric, verdict.feature, verdict.group, verdict.class_scope)
        return next(
            (
                e
                for e in self.report.estimates
                if (e.metric, e.feature, e.group, e.class_scope) == judged
                and verdict.threshold in (None, e.threshold)
                and e.scope.kind is ScopeKind.OVERALL
            ),
            None,
        )

    def _judged(self, verdict: Any) -> Statement:
        """Return what a rule comes to for a group, from its worse-off side where it can be turned."""
        contrast, outcome = self._estimate(verdict), str(before_counting(verdict))
        codes = {reason.code for reason in reasons_of(verdict)}
        facts = {
            "alone": verdict.remains is False,
            "limits": limits_of(verdict.rule),
            "rule": verdict.rule,
            "counted_as": str(verdict.outcome) if str(verdict.outcome) != outcome else None,
            "why": [str(code) for code in codes if code in ON_ONE_SIDE],
            "needed": needed(verdict.reason),
        }
        if contrast is None or contrast.reference is None or contrast.group is None:
            who = (
                None
                if verdict.group is None or verdict.feature is None
                else self.side(verdict.feature, verdict.group)
            )
            return Statement(
                code="judged", who=who, verdict=outcome, value=verdict.value, facts=facts
            )
        found = self.statement(contrast, "judged", alone=True, several_cuts=self.cuts)
        across = is_of_all_groups(
            verdict.definition
        )  # of the two furthest apart: it is of neither side
        better = found.harm == "better" and found.than is not None and found.than.kind == "others"
        return replace(
            found,
            verdict=outcome,
            facts=found.facts | facts | {"than_all": better, "across": across},
        )

    def grid(self) -> Table | None:
        """Return the rules with what they come to for each group, a statement a cell.

        Of more rules than fit beside each other the gravest are shown, and of more rows the worst.
        """
        if not self.rules:
            return None
        numbered = list(enumerate(self.rules, 1))
        if len(numbered) > _MOST_RULES:
            numbered.sort(key=lambda each: min(map(_gravity_of, each[1].verdicts)))
        chosen = numbered[:_MOST_RULES]
        rows: dict[Any, list[Statement | None]] = {}
        for i, (_, rule) in enumerate(chosen):
            for verdict in rule.verdicts:
                own = self._own_side(verdict)
                low, high = own.facts["limits"]
                if low == -high and verdict.mirror and (verdict.feature, own.than) in rows:
                    own = from_the_other_side(own)
                row = rows.setdefault(_people_of(verdict.feature, own), [None] * len(chosen))
                row[i] = row[i] or own
        kept = sorted(rows.items(), key=lambda row: (_gravity(row[1]), _advantage(row[1])))
        kept = sorted(kept[:_MOST_ROWS], key=lambda row: _advantage(row[1]))
        features = list(dict.fromkeys(each.feature for each in self.report.groups))
        kept.sort(key=lambda row: features.index(row[0][0]) if row[0][0] in features else -1)
        verdicts = [each for _, rule in chosen for each in rule.verdicts]
        tukey = {
            each.feature: IntervalMethod.TUKEY in each.interval.methods
            for each in self.report.verdicts
            if each.interval is not None
        }
        return Table(
            code="grid",
            columns=tuple(rule.rule for _, rule in chosen),
            rows=tuple((feature, *row) for (feature, _), row in kept),
            facts={
                "rules": [self._rule(rule, i) for i, rule in chosen],
                "more": {"rule": len(numbered) - len(chosen), "row": len(rows) - len(kept)},
                "alternatives": any(each.alternatives for each in verdicts),
                "why": sorted(
                    {r.code for v in verdicts for r in reasons_of(v) if r.code in _BESIDE}
                ),
                "kinds": sorted({str(each.class_scope.kind) for each in verdicts}),
                "level": min((v.interval.level for v in verdicts if v.interval), default=None),
                "all_pairs": [feature for feature, held in tukey.items() if held],
                "all_by_pairs": all(tukey.values()),
                "joint": any(each.simultaneous for each in self.report.estimates),
            },
        )

    def _own_side(self, verdict: Any) -> Statement:
        """Return a verdict as it is judged: of its own group, in the numbers of its limits."""
        contrast, judged = self._estimate(verdict), self._judged(verdict)
        cut = verdict.threshold if self.cuts else None
        two = verdict.mirror is not None
        facts = judged.facts | {"at": cut, "class_": _class_of(verdict), "two": two}
        ends = verdict.interval and Range(
            verdict.interval.low, verdict.interval.high, verdict.interval.level
        )
        bracket = verdict.interval and IntervalMethod.BRACKET in verdict.interval.methods
        value = None if bracket else verdict.value
        judged = replace(judged, value=value, interval=ends, facts=facts)
        if contrast is None or contrast.reference is None or contrast.group is None:
            return judged
        own = self.statement(contrast, "judged", turn=False, alone=True)
        return replace(judged, who=own.who, than=own.than, harm=own.harm)

    # ---- what was looked at and found

    def looked_at(self) -> Iterator[Statement]:
        data, spec, task = self.report.data, self.report.spec, self.report.task
        yield Statement(
            code="rows",
            sources=("data.cases", "data.used"),
            facts={
                "n": data.cases,
                "used": None if data.used in (data.cases, data.rows) else data.used,
                "excluded": dict(data.excluded),
            },
        )
        for note in self.notes[DiagnosticCode.PROTECTED]:
            yield Statement(
                code="rounded_counts",
                facts={"min_cell": note["min_cell"]},
                sources=("diagnostics",),
            )
        if spec.get("where"):
            yield Statement(
                code="conditions",
                facts={"conditions": list(BY_NAME["where"].type.write(spec["where"]))},
                sources=("spec.where",),
            )
        decided, labelled = (
            bool(spec.get("prediction") or spec.get("score")),
            bool(spec.get("label")),
        )
        binary = task is Task.BINARY
        classes = [
            g.class_scope.name for g in self.report.groups if g.class_scope.kind is ClassKind.CLASS
        ]
        facts = {
            "task": str(task),
            "features": list(
                dict.fromkeys(
                    (g.feature, g.feature_id and g.feature_id.columns) for g in self.report.groups
                )
            ),
            "within": self.strata,
            "decision": event(spec, "decision", True) if decided and binary else None,
            "outcome": event(spec, "outcome", True) if labelled and binary else None,
            "prediction": spec.get("prediction") or spec.get("score"),
            "label": spec.get("label"),
            "classes": list(dict.fromkeys(classes)),
        }
        yield Statement(code="question", facts=facts, sources=("spec",))
        assumed = bool(self.notes[DiagnosticCode.ASSUMED_POSITIVE])
        if binary and (decided or labelled) and self.favourable != "neither":
            yield Statement(
                code="taken_as_better",
                sources=("spec",),
                facts={
                    "event": event(spec, "decision" if decided else "outcome", True),
                    "assumed": assumed,
                    "side": str(self.favourable),
                },
            )

    def found(self) -> Iterator[Statement]:
        for finding, each, found in self.led:
            yield found
            if each.failing_beside is not None:
                yield replace(self._of(each.failing_beside), code="better_off")
            if (within := self._within(finding, found)) is not None:
                yield within
        unjudged = [i for i, (_, each, _) in enumerate(self.led) if self.rules and not each.judged]
        if unjudged:
            yield Statement(
                code="unjudged",
                facts={"which": unjudged, "of": len(self.led)},
                sources=("verdicts",),
            )
        if self.stated:
            every = {
                c.key
                for f, _, _ in self.stated
                for c in (f.estimate, *filter(None, [f.beside]), *f.others, *f.others_beside)
            }
            stated = sum(1 + (e.failing_beside is not None) for _, e, _ in self.led)
            if (more := len(every) - stated) > 0:
                yield Statement(code="more", facts={"n": more}, sources=("findings",))
        for i, note in enumerate(self.notes[DiagnosticCode.WITHIN_STRATA][:2]):
            whole = next(
                e
                for e in self.report.estimates
                if e.scope.kind is ScopeKind.OVERALL
                and (e.metric, e.feature, e.group, e.class_, e.threshold)
                == (note["metric"], note.feature, note["group"], note["class"], note["threshold"])
            )
            yield self.statement(
                whole,
                "only_within",
                turn=False,
                adjusted_for=(self.strata or "",),
                sources=("diagnostics",),
                facts={
                    "lower": list(note["lower"]),
                    "higher": list(note["higher"]),
                    "others": len(self.notes[DiagnosticCode.WITHIN_STRATA]) - 2 if i == 1 else 0,
                },
            )
        if not self.stated:
            yield from self._not_shown()

    def _within(self, finding: Any, found: Statement) -> Statement | None:
        """Return what becomes of a finding within the strata, with those that stand out."""
        change = self._change(finding)
        if change is None or found.of is None or found.of.kind == "number":
            return None
        inside = with_both_sides(
            e
            for e in self.report.estimates
            if e.scope.kind is ScopeKind.STRATUM
            and e.key == replace(finding.estimate, scope=e.scope).key
        )
        differ, way = significant_strata(inside), gap(finding.estimate)
        parts = tuple(
            self.statement(
                e,
                "stratum",
                alone=True,
                facts={"stratum": str(e.stratum), "same": gap(e) * way > 0},
            )
            for e in sorted(differ, key=lambda e: -abs(gap(e)))
        )
        adjusted = self.statement(finding.adjusted, "adjusted")
        shares = shares_compared(finding.estimate, finding.adjusted)
        return replace(
            found,
            code="adjusted",
            interval=adjusted.interval,
            value=adjusted.value,
            parts=parts,
            shown=is_significant(finding.adjusted),
            adjusted_for=(str(finding.adjusted_for),),
            facts={
                "change": str(change),
                "concluded": change in CONCLUDED,
                "strata": len(inside),
                "every": [self._stratum(e, found) for e in inside],
                "among": [round(s, 3) for s in shares] if min(shares) < 0.9 else None,
            },
        )

    def _stratum(self, each: Any, found: Statement) -> Statement:
        """Return a stratum of a finding, from the same side."""
        own = self.statement(each, "stratum", turn=False, facts={
            "stratum": str(each.stratum), "sizes": (each.n_group, each.n_reference)})  # fmt: skip
        if found.who and own.who and found.who.values == own.who.values:
            return own
        facts = own.facts | {"sizes": own.facts["sizes"][::-1]}
        return replace(own, who=own.than, than=own.who, facts=facts)

    def _not_shown(self) -> Iterator[Statement]:
        """Yield the comparison that a rule leaves open, and that nothing is shown."""
        open_ = [
            self._joint(v)
            for rule in self.rules[:1]
            for v in rule.verdicts
            if before_counting(v) is Outcome.INCONCLUSIVE
        ]
        open_ = [s for s in open_ if s is not None and s.lower is not None]
        yield from sorted(open_, key=lambda s: -abs((s.who.rate or 0) - (s.than.rate or 0)))[:1]
        if self.report.task is Task.REGRESSION:
            means = [
                e
                for e in self.report.estimates
                if e.scope.kind is ScopeKind.OVERALL
                and e.mirror_of is None
                and e.reference
                and e.status is Status.OK
                and not is_ratio(e.definition)
                and isinstance(e.definition, Contrast)
            ]
            for name in list(dict.fromkeys(e.metric for e in means))[:2]:
                of = [e for e in means if e.metric == name]
                yield self.statement(
                    max(of, key=lambda e: abs(gap(e))), facts={"largest_of": len(of)}
                )
        for pair in [p for p in self.report.pairs if p.significant][:2]:
            yield Statement(
                code="pair_differs",
                shown=True,
                of=measure(self.spec, pair.definition, pair.class_scope),
                sources=("pairs",),
                who=self.side(pair.feature, pair.group, rate=pair.rate_group),
                than=self.side(pair.feature, pair.other, rate=pair.rate_other),
            )
        for note in self.notes[DiagnosticCode.HOMOGENEITY]:
            if note.get("significant"):
                yield Statement(
                    code="all_groups_differ",
                    shown=True,
                    facts={
                        "feature": note.feature,
                        "groups": note.get("groups"),
                        "metric": note.get("metric") or note.get("rate"),
                    },
                    sources=("diagnostics",),
                )
        large = any(each.status is Status.TOO_FEW for each in self.report.estimates)
        yield Statement(
            code="none_beyond_variation",
            shown=False,
            facts={
                "tested": any(e.p_adjusted is not None for e in self.report.estimates),
                "sufficient": large,
            },
        )

    def _joint(self, verdict: Any) -> Statement | None:
        contrast = self._estimate(verdict)
        return (
            None
            if contrast is None
            else self.statement(contrast, several_cuts=self.cuts, sources=self._place(contrast))
        )

    # ---- how certain, what not, what next

    def certain(self) -> Iterator[Statement]:
        levels = [
            s
            for s in (*[s for _, _, s in self.led], *([] if self.led else self._not_shown()))
            if s.interval
        ]
        if any(self._within(f, s) for f, _, s in self.led):
            yield Statement(code="adjusted_means", adjusted_for=(self.strata or "",))
        if levels:
            yield Statement(
                code="interval", interval=levels[0].interval, facts={"assumed": self.estimated}
            )
        judged = [self._judged(v) for v in self.report.verdicts]
        open_ = [j for j in judged if j.verdict == "inconclusive"]
        for code in ON_ONE_SIDE:
            if n := sum(j.facts["why"] == [str(code)] for j in open_):
                yield Statement(
                    code="open_because", facts={"n": n, "why": str(code)}, sources=("verdicts",)
                )
        if any(not j.facts["why"] for j in open_):
            yield Statement(code="inconclusive", sources=("verdicts",))
        missing = [
            r
            for v in self.report.verdicts
            if before_counting(v) is Outcome.FAIL
            for r in reasons_of(v)
            if r.get("missing")
        ]
        if missing:
            most = max(missing, key=lambda r: float(r["missing"]))
            yield Statement(
                code="open_fails",
                facts={"n": len(missing), "missing": most["missing"]},
                sources=("verdicts",),
            )
        small: dict[Any, Any] = {}
        for e in sorted(self.report.estimates, key=lambda e: -abs(gap(e))):
            if (
                e.group
                and e.scope.kind is ScopeKind.OVERALL
                and e.reason
                and e.reason.code is ReasonCode.SMALL_GROUP
                and isinstance(e.definition, Contrast)
            ):
                whom = e.reference.group if e.reason.get("side") == "reference" else e.group
                small.setdefault(
                    (e.feature, whom),
                    self.statement(
                        e,
                        "small",
                        turn=False,
                        facts={"minimum": e.reason["minimum"]},
                        sources=self._place(e),
                    ),
                )
        yield from [*small.values()][:3]
        if len(small) > 3:
            yield Statement(code="more_small", facts={"n": len(small) - 3}, sources=("groups",))
        none = [j for j in judged if j.verdict == "not_evaluated" and j.who]
        if none:
            yield Statement(
                code="not_evaluated",
                parts=tuple({j.who: j for j in none}.values()),
                facts={"n": len(none)},
                sources=("verdicts",),
            )
        elif sparse := [
            e
            for e in self.report.estimates
            if e.status is Status.TOO_FEW and e.group and e.scope.kind is ScopeKind.OVERALL
        ]:
            whom = {
                (e.feature, e.group): Statement(code="judged", who=self.side(e.feature, e.group))
                for e in sparse
            }
            yield Statement(code="sparse", parts=tuple(whom.values()))

    def limits(self) -> Iterator[Statement]:
        spec, document = self.report.spec, self.report.spec.get("document") or {}
        if document.get("caveat"):
            yield Statement(
                code="caveat", facts={"text": document["caveat"]}, sources=("spec.document.caveat",)
            )
        if self.report.task is Task.REGRESSION and spec.get("label") and spec.get("prediction"):
            yield Statement(code="large_errors", facts={"label": spec["label"]})
        own = bool(self.rules) and not (self.name is not None and "rules" in self.name.options)
        yield Statement(
            code="why_not",
            adjusted_for=(self.strata,) if self.strata else (),
            facts={"limits": bool(self.rules), "own": own},
        )
        if self.estimated:
            yield Statement(code="probabilities", sources=("estimators",))
        if (
            spec.get("label")
            and (spec.get("prediction") or spec.get("score"))
            and self.report.task is Task.BINARY
        ):
            refused = event(spec, "decision", self.favourable == "negative")
            yield Statement(
                code="outcome_known",
                facts={"refused": refused, "outcome": event(spec, "outcome", True)},
                sources=("spec.label",),
            )
        columns = [f["column"] for f in spec.get("sensitive", ())] + [
            p["name"] for p in spec.get("probabilities", ())
        ]
        yield Statement(
            code="other_groups", facts={"columns": columns, "period": document.get("period")}
        )

    @property
    def estimated(self) -> bool:
        return any(
            each.decides and each.estimator is not Estimator.VALIDATED
            for each in self.report.estimators
        )

    def steps(self) -> Iterator[Statement]:
        spec, task = self.report.spec, self.report.task
        step = lambda code, **facts: Statement(code=code, facts=facts)  # noqa: E731
        if task is Task.REGRESSION and self.result.spec.get("words", {}).get("favourable") not in [
            str(a) for a in AMOUNTS
        ]:
            yield step("state_direction", column=spec.get("label") or spec.get("prediction"))
        if self.notes[DiagnosticCode.ASSUMED_POSITIVE]:
            yield step("state_positive")
        if task is Task.MULTICLASS and not spec.get("positive"):
            yield step("state_class")
        for note in self.notes[DiagnosticCode.MISSING_GROUPS]:
            if note["rows"] > 0.05 * note["total"]:
                yield step(
                    "record_groups", feature=note.feature, rows=note["rows"], total=note["total"]
                )
        for note in self.notes[DiagnosticCode.GROUP_NOT_RECORDED] if self.estimated else ():
            yield step(
                "ask_people",
                feature=note.feature,
                answers=note.get("answers"),
                known=note["known"],
                random=note["random"],
                rules=bool(self.rules),
            )
        lacking: dict[str, Any] = {}
        for note in self.notes[DiagnosticCode.MISSING_OUTCOMES]:
            if note["most_share"] > 0.05 and note["total"] > (
                lacking[note["what"]]["total"] if note["what"] in lacking else 0
            ):
                lacking[note["what"]] = note
        for what, note in lacking.items():
            yield step(
                "record_outcomes",
                column=spec.get(what) or what,
                rows=note["rows"],
                total=note["total"],
            )
        failed = [
            v
            for v in self.report.verdicts
            if before_counting(v) is Outcome.FAIL and v.remains is not False
        ]
        first = self.led[0][1] if self.led else None
        row, contrast = (
            (first.row, first.contrast) if first else (None, failed[0] if failed else None)
        )
        if contrast is not None and not spec.get("probabilities"):
            row = row or (
                contrast.definition.of if isinstance(contrast.definition, Contrast) else None
            )
            named = (
                None
                if row is None
                or row.name
                == usual_rate(
                    decided=bool(spec.get("prediction") or spec.get("score")),
                    labelled=bool(spec.get("label")),
                    regression=task is Task.REGRESSION,
                )
                else row.name
            )
            if task in (Task.BINARY, Task.REGRESSION) and has_decomposition(row) and not self.cuts:
                yield step(
                    "divide" if self.strata else "find_where", metric=named, within=self.strata
                )
            elif (
                not self.strata
                and isinstance(contrast.definition, Contrast)
                and "score" not in contrast.definition.needs
            ):
                yield step("compare_alike")
        for _, each, found in self.led:
            if (wronged := self._wronged(each, found)) is not None:
                yield wronged
                break
        undecided = (
            self.report.verdict in (Outcome.INCONCLUSIVE, Outcome.NOT_EVALUATED) and not failed
        )
        if failed:
            yield step("decide", compare=not spec.get("probabilities"))
        elif self.report.verdict is Outcome.PASS:
            yield step("follow")
        elif not self.rules:
            publish = self.name is not None and bool(self.name.published_metrics)
            lacking = [
                each
                for each in (self.name.document if publish else ())
                if not (spec.get("document") or {}).get(each)
            ]
            yield step("publish" if publish else "tolerable", lacking=lacking)
        elif undecided:
            yield replace(self._cheapest() or Statement(code="more_rows"), code="more_rows")

    def _wronged(self, each: Any, found: Statement) -> Statement | None:
        row = each.row
        if (
            found.harm != "worse"
            or found.who is None
            or found.who.hits is None
            or not isinstance(row, Rate)
        ):
            return None
        if (row.of, row.among) not in ((TP, TP + FN), (FP, TN + FP)):
            return None
        of_hits = row.of == TP
        n = found.who.n - found.who.hits if of_hits else found.who.hits
        return replace(
            found,
            code="read_cases",
            facts={"n": n, "event": event(self.report.spec, "decision", not of_hits)},
        )

    def _cheapest(self) -> Statement | None:
        found = [
            s
            for v in self.report.verdicts
            if (s := self._judged(v)).verdict == "inconclusive" and s.facts["needed"] and s.who
        ]
        if not found:
            return None
        best = min(found, key=lambda s: s.facts["needed"][0] / s.facts["needed"][1])
        number = (
            [r.rule for r in self.rules].index(best.facts["rule"]) + 1
            if len(self.rules) > 1
            else None
        )
        return replace(best, facts=best.facts | {"number": number})


_MOST_RULES, _MOST_ROWS = 2, 14
_GRAVEST = ("fail", "inconclusive", "not_evaluated", "pass")
_BESIDE = (*ON_ONE_SIDE, ReasonCode.MISSING_GROUPS, ReasonCode.MISSING_OUTCOMES)


def _class_of(verdict: Any) -> str | None:
    return verdict.class_scope.name if verdict.class_scope.kind is ClassKind.CLASS else None


def _people_of(feature: Any, own: Statement) -> tuple[Any, ...]:
    """Return whose row of the grid a verdict is in: of all groups at once it is that of two."""
    pair = own.than if own.facts.get("across") else None
    return feature, tuple(side and side.values for side in (own.who, pair))


def from_the_other_side(own: Statement) -> Statement:
    """Return a verdict on one of two groups as one on the other, where limits are symmetric."""
    ends = own.interval
    harm: Any = {"worse": "better", "better": "worse"}.get(own.harm or "")
    return replace(
        own, who=own.than, than=own.who, value=None if own.value is None else -own.value,
        interval=ends and replace(ends, low=-ends.high, high=-ends.low), harm=harm,
    )  # fmt: skip


def _gravity_of(verdict: Any) -> tuple[int, bool]:
    """Return how grave a verdict is: the gravest first, fails that remain before others."""
    outcome = str(before_counting(verdict))
    return _place(outcome), verdict.remains is False


def _gravity(row: list[Statement | None]) -> tuple[int, bool]:
    return min((_place(s.verdict), s.facts["alone"]) for s in row if s)


def _place(outcome: str | None) -> int:
    return _GRAVEST.index(outcome) if outcome in _GRAVEST else len(_GRAVEST)


def _advantage(row: list[Statement | None]) -> float:
    """Return how much better a group fares than its reference in the first rule: worst first."""
    for s in filter(None, row):
        if s.who and s.than and s.who.rate is not None and s.than.rate is not None:
            far = s.who.rate - s.than.rate
            return far if s.harm is None else abs(far) * (1 if s.harm == "better" else -1)
    return 0.0


def needed(reason: Any) -> tuple[int, int] | None:
    """Return how many rows of its group would decide a rule, of how many there are."""
    rows = reason.get("needed")
    if rows is None or reason.get("on_limit") or rows > 10 * reason["rows"]:
        return None
    has = reason["of_group"]
    exact = rows * has / reason["rows"]
    digits = 1 - math.floor(math.log10(exact)) if exact > 0 else 0
    return max(
        math.ceil(exact * 10**digits) // 10**digits
        if digits > 0
        else math.ceil(exact / 10**-digits) * 10**-digits,
        int(has) + 1,
    ), int(has)
