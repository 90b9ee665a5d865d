"""An audit as statements. No English: codes, sides and numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

from fairgauge.catalogue.across import is_of_one_group
from fairgauge.catalogue.cells import ALL, FN, FP, TN, TP
from fairgauge.catalogue.comparisons import Contrast, is_of_all_groups
from fairgauge.catalogue.decomposable import has_decomposition, usual_rate
from fairgauge.catalogue.moments import Mean, RegressionTerm
from fairgauge.catalogue.pooling import ConditionalDisparity
from fairgauge.catalogue.row_metrics import RowMetric
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.catalogue.threshold_goals import is_of_decisions
from fairgauge.enums import (
    AfterAdjusting,
    ClassKind,
    Decide,
    DiagnosticCode,
    Estimator,
    IntervalMethod,
    Outcome,
    ReferenceKind,
    ReferenceRule,
    ScopeKind,
    Status,
    Task,
)
from fairgauge.question.conditions import read_conditions
from fairgauge.question.features import strata_named
from fairgauge.question.options import BY_NAME, flag_of
from fairgauge.question.presets import find_preset
from fairgauge.question.rules import limits_of
from fairgauge.reasons import WITHOUT_METHOD, ReasonCode
from fairgauge.results.disadvantage import AMOUNTS
from fairgauge.results.disparities import (
    NOTED_ALONE,
    after_adjusting,
    gap,
    is_ratio,
    is_significant,
    shares_compared,
    shown_adjusted_alone,
    significant_strata,
    with_both_sides,
)
from fairgauge.results.doubts import (
    ALIKE,
    APART,
    OF_ONE_PERSON,
    SCORE_APART,
    SPELT,
    UNSTATED,
)
from fairgauge.results.scopes import OVERALL
from fairgauge.results.stated_comparison import stated_comparisons
from fairgauge.results.statement import Page, Range, Statement, Table
from fairgauge.results.verdicts import before_counting, is_of_both_sides, reasons_of
from fairgauge.statements.compared import (
    Compared,
    event,
    is_used_partly,
    measure,
    page,
    step,
    swapped,
    unit_of,
)
from fairgauge.statements.missing_outcomes import could_undo

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
    repeated = bool(made.notes[DiagnosticCode.REPEATED_ID])
    held = page("audit", report.spec, every, repeated=repeated, values=made.values)
    return replace(held, grid=made.grid())


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
        self.led = self.stated[:_MOST_FINDINGS]
        self.disagreeing = self._disagreement()
        self.rules = report.by_rule
        self.name = find_preset(report.spec.get("preset"))

    def _of(self, each: Any) -> Statement:
        contrast = each.contrast
        found = self.statement(contrast, several_cuts=self.cuts, sources=self._place(contrast))
        return replace(found, facts=found.facts | {"judged": each.judged, "fails": each.fails})

    def _place(self, contrast: Any) -> tuple[str, ...]:
        keys = [each.key for each in self.report.estimates]
        return (f"estimates[{keys.index(contrast.key)}]",)

    def _change(self, finding: Any) -> AfterAdjusting | None:
        same = finding.adjusted is None or finding.adjusted.key == finding.estimate.key
        if same or self.strata_leave_nothing:
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
                if e.is_of_some_in(each)
                and s.of is not None
                and s.of.among is not None
                and e.row is not None
                and not could_undo(self.report, e.contrast, e.row)
            ]
            change, facts = self._change(finding), self._estimators(finding.feature)
            if change is AfterAdjusting.DISAPPEARS and self._is_undecided_within(finding):
                change = None
            if change is AfterAdjusting.DISAPPEARS:
                facts |= self._varies(finding)
            if change is not None:
                facts["among"] = self._among(finding.estimate, finding.adjusted)
            pair = self.disagreeing
            if pair is not None and found in (pair[0][2], pair[1][2]):
                other = pair[pair[0][2] is found]
                facts |= {"opposite": other[2], "at_top": self._is_of_top(other, found)}
            elif not self.report.verdicts:
                facts |= self._chosen_from(each.contrast)
            yield replace(
                found,
                code="headline",
                parts=tuple(also),
                adjusted_for=(str(finding.adjusted_for),) if change else (),
                facts=found.facts
                | {"after": change}
                | facts
                | self._known(each.contrast, each.row),
            )
        else:
            yield self._nothing()

    def _nothing(self) -> Statement:
        """Return what is shown, or not, where no finding is stated."""
        report, estimates = self.report, self.report.estimates
        conditions = (
            BY_NAME["where"].type.write(self.spec["where"]) if self.spec.get("where") else ()
        )
        within = self.notes[DiagnosticCode.WITHIN_STRATA]
        both = any(each["lower"] and each["higher"] for each in within)
        named = [name for each in within for name in (*each["lower"], *each["higher"])]
        facts = {
            "conditions": list(conditions),
            "within": self.strata if within else None,
            "both": both,
            "strata": list(dict.fromkeys(named)),
        } | self._sized()

        def nothing(code: str, *sources: str, **more: Any) -> Statement:
            return Statement(code=code, shown=False, sources=sources, facts=facts | more)

        if not self.is_tested:
            alone = [(d.feature, d["group"]) for d in self.notes[DiagnosticCode.ONE_GROUP]]
            return nothing("nothing_tested", one_group=alone)
        if offset := self.notes[DiagnosticCode.OFFSETTING_PARTS]:
            title = report.catalogue.rate_row(offset[0]["metric"]).title
            return nothing("offset", "diagnostics", metric=title)
        for whole, pooled in shown_adjusted_alone(estimates)[:1]:
            found = self.statement(pooled, "adjusted_alone", sources=self._place(pooled))
            among = self._among(whole, pooled)
            return replace(
                found,
                adjusted_for=(self.strata or "",),
                facts=found.facts | facts | {"among": among},
            )
        shown = [each for each in estimates if is_significant(each)]
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
            return nothing("undecided", "verdict", n=len(self.rules), outcomes=self._undecided())
        ends = [(each, each.interval) for each in estimates if each.interval is not None]
        if ends and all({e.value, i.low, i.high} == {e.definition.neutral} for e, i in ends):
            return nothing("all_equal")
        return nothing("nothing_shown")

    @property
    def is_tested(self) -> bool:
        return any(each.p_adjusted is not None for each in self.report.estimates)

    def _sized(self) -> dict[str, Any]:
        """Return of which groups what is concluded is, where others have insufficient data."""
        small = any(_is_small(each.reason) for each in self.report.estimates)
        few = any(
            e.status is Status.TOO_FEW and not _is_small(e.reason) for e in self.report.estimates
        )
        return {"sufficient": few, "least": self._least() if small else None}

    def _least(self) -> dict[str, Any]:
        """Return the smallest groups that are compared, as it was asked."""
        rows, share = self.spec.get("min_n"), self.spec.get("min_share")
        return {
            "rows": rows if rows and rows > 1 else None,
            "share": share,
            "unit": unit_of(self.spec),
        }

    def _undecided(self) -> dict[str, int]:
        """Return how many rules are not decided: for some groups alone, where others are."""
        counted: Counter[str] = Counter()
        for rule in self.rules:
            some = rule.outcome is Outcome.NOT_EVALUATED and any(
                each.outcome is not rule.outcome for each in rule.verdicts
            )
            counted[f"{rule.outcome}{'_for_some' if some else ''}"] += 1
        return {code: n for code, n in counted.items() if code not in ("fail", "pass")}

    def _differing(self) -> list[Any]:
        """Return the tests of all groups of a feature at once that show that they differ."""
        return [d for d in self.notes[DiagnosticCode.HOMOGENEITY] if d.get("significant")]

    @staticmethod
    def _among(whole: Any, pooled: Any) -> list[float] | None:
        """Return the shares of both sides within strata that both are in, unless almost all are."""
        shares = shares_compared(whole, pooled)
        return None if min(shares) > 1 - NOTED_ALONE else list(shares)

    def _is_undecided_within(self, finding: Any) -> bool:
        notes = self.notes[DiagnosticCode.STRATA_INSUFFICIENT]
        return any(each.feature == finding.feature for each in notes)

    def _disagreement(self) -> tuple[Any, Any] | None:
        """Return two findings that compare the same people the other way round.

        They are of a mean and of a quantile of the same numbers, or of a whole list and of its top.
        """
        for one, other in combinations(self.stated, 2):
            if {_ranked(one), _ranked(other)} not in _DISAGREE:
                continue
            asked, first = other[0], one[0].estimate
            same = (asked.metric, first.feature, first.group, asked.class_scope)
            turned = (
                each
                for each in self.report.estimates
                if (each.metric, each.feature, each.group, each.class_scope) == same
            )
            if any(is_significant(each) and gap(each) * gap(first) < 0 for each in turned):
                return one, other
        return None

    @staticmethod
    def _is_of_top(other: Any, found: Statement) -> bool | None:
        """Return whether the top of a list is the reverse of the whole; None of amounts."""
        if other[2].of.kind == found.of.kind == "mean" if found.of else False:
            return None
        return bool(other[2].of.kind == "rank")

    def _failed_alone(self) -> Statement | None:
        """Return the gravest fail where no finding has it: it may not remain among all."""
        if self.report.verdict is not Outcome.FAIL:
            return None
        judged = [
            (self._judged(v), self._estimate(v))
            for v in self.report.verdicts
            if before_counting(v) is Outcome.FAIL
        ]
        judged = [
            (s, contrast)
            for s, contrast in judged
            if s.of is not None and s.of.kind in _SHARES and s.than and s.lower is not None
        ]
        for _, first, _ in self.stated[:1]:
            better_off = first.failing_beside is not None or (first.fails and first.better)
            worse = any(s.harm == "worse" for s, _ in judged)
            if (first.fails and not first.better) or (better_off and not worse):
                return None
        if not judged:
            return None
        found, contrast = min(judged, key=lambda e: (e[0].harm != "worse", e[0].facts["alone"]))
        if found.harm == "better" and found.than is not None and found.than.kind == "group":
            found = swapped(found)
        known = self._known(contrast, contrast.definition.of)
        facts = found.facts | self._estimators(contrast.feature) | known | {"after": None}
        return replace(found, code="headline", facts=facts)

    def _known(self, contrast: Any, row: Any) -> dict[str, Any]:
        """Return of which rows a headline is, where others could take it back, or may count."""
        if self.notes[DiagnosticCode.UNCOUNTED_ROWS]:
            return {"counted": unit_of(self.spec)}
        if row is None:
            return {}
        open_ = could_undo(self.report, contrast, row)
        missing = [
            what
            for what in ("label", "prediction", "score")
            if self.report.data.excluded.get(f"missing {what}")
        ]
        return {
            "unit": unit_of(self.spec),
            "known": [
                w
                for w in missing
                if open_ and (w in row.needs or (w == "score" and "prediction" in row.needs))
            ],
        }

    def _estimators(self, feature: Any) -> dict[str, Any]:
        """Return how groups are estimated that nobody recorded, and if answers contradict it."""
        if feature not in [each["name"] for each in self.spec.get("probabilities", ())]:
            return {}
        decide = sorted(
            {str(e.estimator) for e in self.report.estimators if e.feature == feature and e.decides}
        )
        validated = decide == [str(Estimator.VALIDATED)]
        if validated and self._is_answered(feature):
            return {}
        against = not validated and any(
            d.feature == feature and (d.code is DiagnosticCode.KNOWN_RATES or d["contradicts"])
            for code in (DiagnosticCode.KNOWN_RATES, DiagnosticCode.CALIBRATION)
            for d in self.notes[code]
        )
        return {"estimator": decide[0] if len(decide) == 1 else "several", "contradicted": against}

    def _is_answered(self, feature: Any) -> bool:
        """Return whether the rates of a feature are those of people's answers alone."""
        return any(
            each.feature == feature
            and bool(each["random"])
            and (each["known"] == each["people"] or bool(each.get("alone")))
            for each in self.notes[DiagnosticCode.GROUP_NOT_RECORDED]
        )

    def _varies(self, finding: Any) -> dict[str, Any]:
        """Return how an adjusted difference varies over strata, noted of either of two groups."""
        estimate, report = finding.estimate, self.report
        mirrors = (
            each.group
            for each in report.estimates
            if each.feature == estimate.feature and each.mirror_of == estimate.group
        )
        of = estimate.reference and estimate.reference.group
        sides = {estimate.group, of, estimate.mirror_of, *mirrors}
        for d in self.notes[DiagnosticCode.COMPOSITION]:
            asked = (d.feature, d["metric"]) == (finding.feature, f"{finding.rate}.difference")
            if not asked or d["group"] not in sides:
                continue
            if d["p"] is not None and d["p"] < 1 - (estimate.confidence or 0):
                return {"varies": True}
            if d["outlying"]:
                return {"outlying": list(d["outlying"])}
        return {}

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
        if len(of) < _SEVERAL:
            return {}
        lacking = [e.reason for e in asked if e not in of]
        only_small = bool(lacking) and all(map(_is_small, lacking))
        kinds = "cuts" if kind is ClassKind.SELECTION else "classes"
        places = {
            kinds: len({e.class_scope for e in of}),
            "thresholds": len({e.threshold for e in of}),
        }
        return {
            "chosen_of": len(of),
            "lacking": bool(lacking),
            "sufficient": not only_small,
            "least": self._least() if only_small else None,
            "largest": math.isclose(_far(first), max(map(_far, of))),
            "over": {name: n for name, n in places.items() if n > 1},
        }

    def verdict(self) -> Iterator[Statement]:
        no_limit = Statement(
            code="no_limit",
            facts={"text": self.name and self.name.no_limit, "rules": len(self.rules)},
            sources=("spec.preset",),
        )
        if not self.rules:
            yield from self._estimated_groups()
            if self.name is not None and self.name.no_limit:
                yield no_limit
            return
        outcomes: Any = Counter(str(each.outcome) for each in self.rules)
        if self.report.verdict not in (Outcome.FAIL, Outcome.PASS):
            outcomes = self._undecided()
        elif self.report.verdict is Outcome.FAIL:
            outcomes = {"fail": outcomes["fail"]}
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
        yield from self._estimated_groups()
        if self.name is not None and self.name.no_limit:
            yield no_limit
        if self.strata:
            over_strata = sum(
                any(isinstance(each.definition, ConditionalDisparity) for each in rule.verdicts)
                for rule in self.rules
            )
            if len(self.rules) > over_strata:
                within = bool(self.notes[DiagnosticCode.WITHIN_STRATA])
                of_all = {"n": len(self.rules) - over_strata, "of": len(self.rules)}
                yield Statement(
                    code="not_adjusted",
                    facts=of_all | {"within": within},
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
                    "open_by_groups": sum(
                        bool(each.reason.get("together")) for each in self.report.verdicts
                    ),
                }
                | self._judged_in_all(),
            )

    def _judged_in_all(self) -> dict[str, Any]:
        """Return how many comparisons intervals judge, and which ones a verdict has several of."""
        found = [d["comparisons"] for d in self.notes[DiagnosticCode.FAILS_TOGETHER]]
        classes = self.report.task is Task.MULTICLASS
        if not found or found[0] <= len(self.report.verdicts):
            return {"several": classes, "each_of": None}
        positive = self.spec.get("positive")
        ordered = isinstance(positive, Mapping) and "ordered" in positive
        each_of = "classes" if classes else "cuts" if ordered else "thresholds"
        return {"several": True, "each_of": each_of, "in_all": found[0]}

    def _estimated_groups(self) -> Iterator[Statement]:
        """Yield of which features nobody recorded the groups, and what they are estimated from."""
        for i, each in enumerate(self.spec.get("probabilities", ())):
            notes = self.notes[DiagnosticCode.GROUP_NOT_RECORDED]
            note = next(made for made in notes if made.feature == each["name"])
            source = (f"spec.probabilities[{i}]",)
            keys = ("known", "people", "random", "without", "unplaced", "sampled")
            facts = {key: note.get(key) for key in keys} | {
                "feature": note.feature,
                "columns": list(each["probabilities"].values()),
                "on": each.get("on"),
                "unit": unit_of(self.spec),
                "rules": bool(self.rules),
            }
            if note.get("without"):
                yield Statement(code="no_probabilities", facts=facts, sources=source)
            if self._is_answered(each["name"]):
                continue  # its warning states whose answers decide
            yield Statement(code="not_recorded", facts=facts, sources=source)
            volunteers = [
                people
                for verdict in self.report.verdicts
                for reason in reasons_of(verdict)
                if verdict.feature == each["name"] and (people := reason.get("volunteers"))
            ]
            if volunteers:
                most = {"people": max(volunteers)}
                yield Statement(code="volunteers", facts=most, sources=("verdicts",))

    def _rule(self, rule: Any, number: int) -> Statement:
        undecided = str(rule.outcome) in ("inconclusive", "not_evaluated", "none")
        judged = [
            self._own_side(each) if undecided else self._judged(each) for each in rule.verdicts
        ]
        decisive = tuple(each for each in judged if each.verdict == str(rule.outcome))
        counts_as = sum(
            e.outcome is rule.outcome and before_counting(e) is not rule.outcome
            for e in rule.verdicts
        )
        like = next((each for each in judged if each.of is not None), None)
        neutral = getattr(rule.worst.definition, "neutral", math.nan)
        several = len({each.class_scope for each in rule.verdicts}) > 1 or any(
            v.alternatives for v in rule.verdicts
        )
        asked = [
            keys.get("decide")
            for keys in self.spec.get("rules", ())
            if str(rule.rule).startswith(str(keys["metric"])) or keys["metric"] in rule.rule
        ]
        references = {
            e.reference.kind
            for v in rule.verdicts
            if (e := self._estimate(v)) is not None and e.reference
        }
        of = like.of if like and not several else None
        if of is not None and self.cuts and not several:  # a rule is about each threshold
            of = replace(
                of, event=self._asked(of.event), among=self._asked(of.among), threshold=None
            )
        each_class = bool(of and of.class_ and rule.worst.class_scope.kind is ClassKind.CLASS)
        if of is not None and each_class:
            of = replace(of, event=_any_class(of.event), among=_any_class(of.among))
        return Statement(
            code="rule",
            of=of,
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
                "others": references == {ReferenceKind.OTHERS},
                "each_class": each_class,
                "counts_as": counts_as,
                "ignored": any(each.outcome is Outcome.NONE for each in rule.verdicts),
                "significant": any(str(each) == str(Decide.SIGNIFICANT) for each in asked),
            },
        )

    def _asked(self, of: Any) -> Any:
        """Return an event of one of several thresholds as it was asked: of all of them."""
        return event(self.spec, of.kind, of.positive) if of and of.op == "from" else of

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
        """Return what a rule comes to for a group, or for the worse-off one of two."""
        contrast, outcome = self._estimate(verdict), str(before_counting(verdict))
        codes = {reason.code for reason in reasons_of(verdict)}
        facts = {
            "alone": verdict.remains is False,
            "limits": limits_of(verdict.rule),
            "rule": verdict.rule,
            "counted_as": str(verdict.outcome) if str(verdict.outcome) != outcome else None,
            "why": [str(code) for code in ON_ONE_SIDE if codes == {code}],
            "on_side": bool(codes) and codes <= set(ON_ONE_SIDE),
            "needed": needed(verdict.reason),
            "class_": _class_of(verdict),
            "at": verdict.threshold if self.cuts else None,
            "average": verdict.class_scope.average and str(verdict.class_scope.average),
        }
        across = is_of_all_groups(verdict.definition) and not is_of_one_group(verdict.definition)
        of_all = is_of_all_groups(verdict.definition)
        facts |= {"across": across, "of_all": of_all, "feature": verdict.feature}
        if contrast is None or contrast.reference is None or contrast.group is None:
            who = (
                None
                if verdict.group is None or verdict.feature is None
                else self.side(verdict.feature, verdict.group)
            )
            facts |= {"group": verdict.group}
            who = None if across else who
            harm = None if who is None else self._harm_of(verdict)
            return Statement(
                code="judged", who=who, verdict=outcome, value=verdict.value, harm=harm, facts=facts
            )
        turn = is_of_both_sides(verdict)
        found = self.statement(contrast, "judged", turn=turn, alone=True, several_cuts=self.cuts)
        better = found.harm == "better" and found.than is not None and found.than.kind == "others"
        return replace(
            found,
            verdict=outcome,
            facts=found.facts | facts | {"than_all": better},
        )

    def _harm_of(self, verdict: Any) -> Any:
        """Return how a group fares by a rule on its own rate."""
        row = verdict.definition
        row = row if isinstance(row, Statistic) else getattr(row, "of", None)
        beyond = verdict.value and verdict.value - getattr(verdict.definition, "neutral", math.nan)
        if not isinstance(row, Rate) or not beyond or math.isnan(beyond):
            return None
        sign = self.adverse(row, verdict.class_scope) * beyond
        return None if sign == 0 else "worse" if sign > 0 else "better"

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
                mirrored = low == -high and verdict.mirror is not None
                if mirrored and _people_of(verdict.feature, other := swapped(own)) in rows:
                    own = other
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
                "kinds": sorted({str(each.class_scope.kind) for each in verdicts})
                + ["threshold"] * bool(self.cuts),
                "level": min((v.interval.level for v in verdicts if v.interval), default=None),
                "all_pairs": [feature for feature, held in tukey.items() if held],
                "all_by_pairs": all(tukey.values()),
                "joint": any(each.simultaneous for each in self.report.estimates),
            },
        )

    def _own_side(self, verdict: Any) -> Statement:
        """Return a verdict as it is judged: of its own group, in the numbers of its limits."""
        contrast, judged = self._estimate(verdict), self._judged(verdict)
        facts = judged.facts | {"two": verdict.mirror is not None}
        ends = verdict.interval and Range(
            verdict.interval.low, verdict.interval.high, verdict.interval.level
        )
        judged = replace(judged, value=verdict.value, interval=ends, facts=facts)
        if contrast is None or contrast.reference is None or contrast.group is None:
            return judged
        own = self.statement(contrast, "judged", turn=False, alone=True)
        return replace(judged, who=own.who, than=own.than, harm=own.harm)

    # ---- what was looked at and found

    def looked_at(self) -> Iterator[Statement]:
        data, spec, task = self.report.data, self.report.spec, self.report.task
        every = data.rows if unit_of(spec) == "rows" else data.cases
        missing = [w for w in OUTCOMES if data.excluded.get(f"missing {w}")]
        yield Statement(
            code="rows",
            sources=("data.cases", "data.used"),
            facts={
                "n": data.cases,
                "used": None if data.used == every else data.used,
                "least": bool(self.notes[DiagnosticCode.USED_AT_LEAST]),
                "known": [] if data.used == every else missing,
                "several": len(spec.get("sensitive", ())) > 1,
                "partly": is_used_partly(data.excluded, spec),
            },
        )
        if (of := self.name) is not None:
            yield Statement(
                code="preset",
                facts={
                    "name": of.name,
                    "jurisdiction": of.jurisdiction,
                    "status": of.status,
                    "as_of": of.as_of.isoformat(),
                },
                sources=("spec.preset",),
            )
        for note in self.notes[DiagnosticCode.PROTECTED]:
            yield Statement(
                code="rounded_counts",
                facts={"min_cell": note["min_cell"]},
                sources=("diagnostics",),
            )
        if spec.get("where"):
            outcomes = {spec.get(role) for role in OUTCOMES}
            held = [e for e in read_conditions(spec["where"], "where", []) if not e.holds(None)]
            keeps = [(e.column, e.keeps_missing(outcomes)) for e in held]
            yield Statement(
                code="conditions",
                facts={
                    "conditions": list(BY_NAME["where"].type.write(spec["where"])),
                    "absent": [column for column, kept in keeps if not kept],
                    "kept": [column for column, kept in keeps if kept],
                },
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
                    "asked": bool(spec.get("positive")),
                    "side": str(self.favourable),
                },
            )

        for note in self.notes[DiagnosticCode.NOT_FAVOURABLE][:1]:
            rows = note["rows"] or [0] * len(note["values"])  # of people no rows are counted
            counted = sorted(zip(rows, note["values"], strict=True), key=lambda each: -each[0])
            yield Statement(
                code="not_favourable",
                sources=("diagnostics",),
                facts={"values": counted, "side": str(self.favourable)},
            )

    def found(self) -> Iterator[Statement]:
        for finding, each, found in self.led:
            yield found
            if (beside := each.failing_beside) is not None:
                better = self._of(beside)
                better = better if better.harm == "better" else swapped(better)
                same = beside.contrast is each.contrast
                yield replace(better, code="better_off", facts=better.facts | {"same": same})
            elif each.fails and each.better:
                yield Statement(code="they_are_better_off", sources=found.sources)
            if (within := self._within(finding, found)) is not None:
                yield within
        if self.disagreeing is not None:
            one, other = self.disagreeing
            yield from (each[2] for each in (one, other) if each not in self.led)
            amounts = one[2].of.kind == other[2].of.kind == "mean"
            sources = (*one[2].sources, *other[2].sources)
            parts = (one[2], other[2])
            yield replace(
                one[2], code="disagree", parts=parts, facts={"amounts": amounts}, sources=sources
            )
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
            stated = sum(
                1 + (e.failing_beside is not None and e.failing_beside.contrast is not e.contrast)
                for _, e, _ in self.led
            )
            if (more := len(every) - stated) > 0:
                classes = self.report.task is Task.MULTICLASS  # of which it lists each
                yield Statement(
                    code="more", facts={"n": None if classes else more}, sources=("findings",)
                )
        for note in self.notes[DiagnosticCode.WITHIN_STRATA]:
            yield self.statement(
                self._of_note(note),
                "only_within",
                turn=False,
                adjusted_for=(self.strata or "",),
                sources=("diagnostics",),
                facts={"note": note},
            )
        for note in self.notes[DiagnosticCode.OFFSETTING_PARTS][:2]:
            yield Statement(code="offsetting", facts={"note": note}, sources=("diagnostics",))
        if not self.stated:
            yield from self._unstated()

    def _within(self, finding: Any, found: Statement) -> Statement | None:
        """Return what becomes of a finding within the strata, with those that stand out."""
        change = self._change(finding)
        if change is None or found.of is None or found.of.kind not in _IN_WORDS:
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
                "among": self._among(finding.estimate, finding.adjusted),
                "left": finding.adjusted.reason and dict(finding.adjusted.reason.parameters),
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

    def _unstated(self) -> Iterator[Statement]:
        """Yield what differs where no finding is stated, or that nothing is shown to."""
        report = self.report
        pairs = [pair for pair in report.pairs if pair.significant]
        for pair in pairs[:_MOST_FINDINGS]:
            yield Statement(
                code="pair_differs",
                shown=True,
                of=measure(self.spec, pair.definition, pair.class_scope),
                sources=("pairs",),
                who=self.side(pair.feature, pair.group, rate=pair.rate_group),
                than=self.side(pair.feature, pair.other, rate=pair.rate_other),
            )
        if (more := len(pairs) - _MOST_FINDINGS) > 0:
            yield Statement(code="more_pairs", facts={"n": more}, sources=("pairs",))
        adjusted = shown_adjusted_alone(report.estimates)
        for whole, pooled in adjusted[:_MOST_FINDINGS]:
            among = self._among(whole, pooled)
            yield self.statement(
                pooled,
                "shown_adjusted",
                adjusted_for=(self.strata or "",),
                sources=(*self._place(whole), *self._place(pooled)),
                parts=(self.statement(whole, "over_all"),),
                facts={"among": among},
            )
        if (more := len(adjusted) - _MOST_FINDINGS) > 0:
            yield Statement(
                code="more_adjusted", facts={"n": more}, adjusted_for=(self.strata or "",)
            )
        others = [] if pairs or adjusted else self._other_differences()
        yield from (
            self.statement(each, several_cuts=self.cuts, sources=self._place(each))
            for each in others[:_MOST_FINDINGS]
        )
        if pairs or adjusted or others or self.notes[DiagnosticCode.OFFSETTING_PARTS]:
            return
        for note in self._differing():
            yield Statement(
                code="all_groups_differ", facts={"note": note}, sources=("diagnostics",)
            )
        if self._differing():
            return
        yield from self._not_shown()
        yield Statement(
            code="none_beyond_variation",
            shown=False,
            facts={
                "tested": self.is_tested,
                "over_all": bool(self.notes[DiagnosticCode.WITHIN_STRATA]),
            }
            | self._sized(),
        )

    def _other_differences(self) -> list[Any]:
        """Return the significant estimates that are no findings, those that fail first."""
        failed = {
            (each.metric, each.feature, each.group)
            for each in self.report.verdicts
            if each.outcome is Outcome.FAIL
        }
        found = [each for each in self.report.estimates if is_significant(each)]
        return sorted(found, key=lambda e: (e.metric, e.feature, e.group) not in failed)

    def _not_shown(self) -> Iterator[Statement]:
        """Yield what is compared although no difference is shown: the shares of the first rule."""
        if self.report.task is Task.REGRESSION:
            yield from self._means_not_shown()
            return
        open_ = [
            self._joint(v)
            for rule in self.rules[:1]
            for v in rule.verdicts
            if before_counting(v) is Outcome.INCONCLUSIVE
        ]
        of_shares = [
            s for s in open_ if s and s.lower is not None and s.of and s.of.kind in _SHARES
        ]
        yield from sorted(of_shares, key=lambda s: -abs(_apart(s)))[:1]

    def _means_not_shown(self) -> Iterator[Statement]:
        """Yield the largest difference of each mean."""
        means = [
            e
            for e in self.report.estimates
            if e.scope.kind is ScopeKind.OVERALL
            and e.mirror_of is None
            and e.reference
            and e.status is Status.OK
            and isinstance(e.definition, Contrast)
            and not is_ratio(e.definition)
            and None not in (e.rate_group, e.rate_reference)
        ]
        for name in list(dict.fromkeys(e.metric for e in means))[:_MOST_FINDINGS]:
            of = [e for e in means if e.metric == name]
            largest = max(of, key=lambda e: abs(gap(e)))
            yield self.statement(
                largest, sources=self._place(largest), facts={"largest_of": len(of)}
            )

    def _of_note(self, note: Any) -> Any:
        """Return the comparison of all rows that differs within strata."""
        keys = ("metric", "group", "class", "threshold")
        metric, group, class_, threshold = (note[key] for key in keys)
        return next(
            e
            for e in self.report.estimates
            if e.scope.kind is ScopeKind.OVERALL
            and (e.metric, e.feature, e.group) == (metric, note.feature, group)
            and (e.class_, e.threshold) == (class_, threshold)
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
        yield from self._intervals()
        open_ = [v for v in self.report.verdicts if before_counting(v) is Outcome.INCONCLUSIVE]
        codes = [{reason.code for reason in reasons_of(each)} for each in open_]
        for code in ON_ONE_SIDE:
            if n := codes.count({code}):
                beside = code not in _NOT_BESIDE  # of which a value alone may decide
                facts = {"n": n, "why": str(code), "beside": beside}
                yield Statement(code="open_because", facts=facts, sources=("verdicts",))
        if any(len(of) > 1 or not of <= set(ON_ONE_SIDE) for of in codes):
            yield Statement(code="inconclusive", sources=("verdicts",))
        fails = [
            part
            for v in self.report.verdicts
            if before_counting(v) is Outcome.FAIL
            for part in [p for p in v.alternatives or (v,) if p.reason.get("missing") is not None][
                :1
            ]
        ]
        if fails:
            most = max(fails, key=lambda each: float(each.reason["missing"])).reason
            unit = most.get("unit") or "rows"
            facts = {"n": len(fails), "missing": most["missing"], "unit": unit}
            facts |= {"lacking": _lacking(fails[0])}
            yield Statement(code="open_fails", facts=facts, sources=("verdicts",))
        unevaluated = [
            v for v in self.report.verdicts if before_counting(v) is Outcome.NOT_EVALUATED
        ]
        zero = [v for v in unevaluated if v.reason.code in _OF_ZERO]
        if zero:
            yield Statement(
                code="ratio_of_zero",
                parts=self._people(zero),
                facts={"reason": zero[0].reason},
                sources=("verdicts",),
            )
        yield from self._small()
        if lacking := [v for v in unevaluated if self._lacks_data(v)]:
            yield Statement(
                code="not_evaluated",
                parts=self._people(lacking),
                facts={"n": len(lacking), "reasons": [v.reason for v in lacking]},
                sources=("verdicts",),
            )
        else:
            yield from self._sparse()

    def _people(self, verdicts: Any) -> tuple[Statement, ...]:
        """Return the groups of verdicts, each once."""
        named = dict.fromkeys((v.feature, v.group) for v in verdicts if v.group and v.feature)
        return tuple(Statement(code="judged", who=self.side(*each)) for each in named)

    def _intervals(self) -> Iterator[Statement]:
        """Yield what the adjusted averages and the intervals of the page are."""
        stated = [
            s
            for s in (*[s for _, _, s in self.led], *([] if self.stated else self._not_shown()))
            if s.interval
        ]
        if any(
            within is not None and within.facts["concluded"]
            for within in (self._within(f, s) for f, _, s in self.led)
        ):
            yield Statement(code="adjusted_means", adjusted_for=(self.strata or "",))
        if stated:
            joint = all(s.interval is not None and s.interval.joint for s in stated)
            ends = stated[0].interval
            yield Statement(
                code="interval",
                interval=ends and replace(ends, joint=joint),
                facts={"assumed": self.estimated},
            )

    def _small(self) -> Iterator[Statement]:
        """Yield the groups below the smallest size with their shares, the most different first."""
        small: dict[Any, list[Any]] = {}
        for e in sorted(self.report.estimates, key=lambda e: -abs(gap(e))):
            if e.group and e.scope.kind is ScopeKind.OVERALL and _is_small(e.reason):
                own = self.statement(e, turn=False)
                whom = own.who if e.reason.side == "group" else own.than
                small.setdefault(whom and (whom.kind, whom.feature, whom.values), []).append(e)
        for estimates in [*small.values()][:_MOST_SMALL]:
            of_shares = [e for e in estimates if self._is_of_shares(e) and e.class_scope.is_single]
            first = next(iter(of_shares), estimates[0])
            found = self.statement(first, "small", turn=False, sources=self._place(first))
            facts = {"reason": first.reason, "counted": bool(of_shares)}
            side = "who" if first.reason.side == "group" else "than"
            yield replace(found, facts=found.facts | facts | {"side": side})
        if (more := len(small) - _MOST_SMALL) > 0:
            yield Statement(code="more_small", facts={"n": more}, sources=("groups",))

    def _is_of_shares(self, each: Any) -> bool:
        of = self.statement(each).of
        return of is not None and of.kind in _SHARES

    def _lacks_data(self, verdict: Any) -> bool:
        """Return whether a rule is not evaluated because the data of its comparison are too few."""
        place = (verdict.feature, verdict.group, verdict.class_scope, OVERALL)
        rates = (
            each.rates.get(verdict.metric)
            for each in self.report.groups
            if (each.feature, each.group, each.class_scope, each.scope) == place
            and verdict.threshold in (None, each.threshold)
        )
        measured = self._estimate(verdict) or next(rates, None)
        return measured is not None and measured.status is Status.TOO_FEW

    def _sparse(self) -> Iterator[Statement]:
        """Yield which groups have insufficient data, for all of their comparisons or for some.

        An average over classes, and the class that differs most, lack what single classes lack.
        """
        compared: dict[Any, list[Any]] = {}
        for e in self.report.estimates:
            of_one = e.class_scope.kind not in (ClassKind.AVERAGE, ClassKind.WORST)
            if e.group and e.scope.kind is ScopeKind.OVERALL and of_one:
                compared.setdefault((e.feature, e.group), []).append(e)
        parts = []
        for whom, of in compared.items():
            few = [e for e in of if e.status is Status.TOO_FEW and not _is_small(e.reason)]
            if few:
                facts = {"some": any(e.status is Status.OK for e in of)}
                of_reference = {e.reason and e.reason.side for e in few} == {"reference"}
                than = self.reference(few[0]) if of_reference and few[0].reference else None
                who = self.side(*whom)
                parts.append(Statement(code="judged", who=who, than=than, facts=facts))
        if parts:
            yield Statement(code="sparse", parts=tuple(parts))

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
            adjusted_for=(self.strata,) if self.strata and not self.strata_leave_nothing else (),
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
    def strata_leave_nothing(self) -> bool:
        """Return whether strata are outcomes or groups by another name."""
        codes = (DiagnosticCode.STRATUM_IS_OUTCOME, DiagnosticCode.STRATUM_IS_GROUP)
        return any(self.notes[code] for code in codes)

    @property
    def estimated(self) -> bool:
        return any(
            each.decides and each.estimator is not Estimator.VALIDATED
            for each in self.report.estimators
        )

    def steps(self) -> Iterator[Statement]:
        """Yield what the result asks for next; the first three are shown."""
        spec, report = self.spec, self.report
        failed = [
            v
            for v in report.verdicts
            if before_counting(v) is Outcome.FAIL and v.remains is not False
        ]
        yield from self._missing_statements()
        yield from self._recoding()
        yield from self._recording()
        reasons = [reason for v in report.verdicts for reason in reasons_of(v)]
        for what in {r["what"] for r in reasons if r.code is ReasonCode.NOT_COUNTED}:
            yield step("count_rows", what=what)
        yield from self._asking_people()
        yield from self._explaining(failed)
        for _, each, found in self.led:
            if (wronged := self._wronged(each, found)) is not None:
                yield wronged
                break
        undecided = report.verdict in (Outcome.INCONCLUSIVE, Outcome.NOT_EVALUATED) and not failed
        if failed:
            yield step("decide", compare=not spec.get("probabilities"))
        elif undecided:
            yield from self._later()
        if self._has_subgroups():
            yield step("find_subgroups")
        by_thresholds = any(is_of_decisions(v.definition) and not v.alternatives for v in failed)
        if by_thresholds and spec.get("score") and spec.get("label"):
            yield step("other_threshold")
        if not (failed or undecided):
            yield from self._later()

    def _missing_statements(self) -> Iterator[Statement]:
        """Yield what nobody stated, without which it is not known who is worse off."""
        spec = self.spec
        if self.lacks_direction:
            yield step("state_direction", column=spec.get("label") or spec.get("prediction"))
        if self.notes[DiagnosticCode.ASSUMED_POSITIVE]:
            yield step("state_positive")
        reasons = [reason for v in self.report.verdicts for reason in reasons_of(v)]
        of = (ReasonCode.UNCLEAR_VALUES, ReasonCode.FAVOURABLE_UNSTATED)
        unclear = {r["what"] for r in reasons if r.code in of}
        yield from (step(code) for what, code in _CLEARED_BY.items() if what in unclear)
        unclear -= _CLEARED_BY.keys()
        if self.notes[DiagnosticCode.SAME_NAMES]:
            unclear = {what for what in unclear if not what.startswith(SPELT)}
        if unclear:
            yield step("state_values")
        gaps = self.name is not None and self.name.category_limit is not None
        if gaps and spec.get("reference") in (ReferenceRule.OTHERS, ReferenceRule.OVERALL):
            yield step("name_reference")
        if gaps and not spec.get("strata"):
            yield step("name_categories")
        if self.report.task is Task.MULTICLASS and not spec.get("positive"):
            yield step("state_class")

    @property
    def lacks_direction(self) -> bool:
        """Return whether nobody stated which amounts are the better ones for people."""
        return self.report.task is Task.REGRESSION and self.favourable not in AMOUNTS

    def _recoding(self) -> Iterator[Statement]:
        """Yield which values to recode first: a reference that is no group, and other spellings."""
        chosen = (ReferenceKind.BEST, ReferenceKind.LARGEST)
        references = {
            (e.feature, e.reference.group)
            for e in self.report.estimates
            if e.reference is not None and e.reference.kind in chosen
        }
        for note in self.notes[DiagnosticCode.MISSING_MARKER]:
            if (note.feature, note["value"]) in references:
                given = flag_of("unknown", note["value"])
                yield step("name_unknown", value=note["value"], option=given, feature=note.feature)
        for by_option in (True, False):
            respelled = [
                note.feature
                for note in self.notes[DiagnosticCode.SAME_NAMES]
                if note.feature and (note.get("options") is not False) is by_option
            ]
            if respelled:
                yield step("recode", features=respelled, by_option=by_option)

    def _recording(self) -> Iterator[Statement]:
        """Ask for the groups and outcomes that many rows lack."""
        unit, columns = unit_of(self.spec), {g.feature: g.feature_id for g in self.report.groups}
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
        unclear = {d["column"] for d in self.notes[DiagnosticCode.PEOPLE_UNCLEAR]} - {None}
        for what, note in lacking.items():
            name = self.spec.get(what) or what
            facts = {"rows": note["rows"], "total": note["total"], "unit": unit}
            contradictory = bool(unclear & {name, self.spec.get("order")})
            yield step("record_outcomes", column=name, contradictory=contradictory, **facts)

    def _asking_people(self) -> Iterator[Statement]:
        """Yield how many people to ask for their group, which settles what probabilities cannot."""
        for i, note in enumerate(self.report.diagnostics):
            if note.code is not DiagnosticCode.GROUP_NOT_RECORDED:
                continue
            answers, known = note.get("answers"), note["known"]
            answered = known if note["random"] else 0
            of = [v for v in self.report.verdicts if v.feature == note.feature]
            undecided = (Outcome.INCONCLUSIVE, Outcome.NOT_EVALUATED)
            decided = of and all(v.outcome not in undecided for v in of)
            if answered and (decided if answers is None else answers <= answered):
                continue
            facts = {
                "feature": note.feature,
                "known": known,
                "answered": answered,
                "answers": answers,
                "shown": note.get("shown"),
            }
            source = (f"diagnostics[{i}]",)
            if known and not note["random"]:
                yield Statement(code="state_random", facts=facts, sources=source)
            yield Statement(code="ask_people", facts=facts, sources=source)

    def _explaining(self, failed: list[Any]) -> Iterator[Statement]:
        """Yield what would show where the difference arises that the page reports first.

        It answers for this very difference: of one that has no decomposition, the audit compares
        people alike in another column.
        """
        strata = None if self.strata_leave_nothing else self.strata
        first: Any = next(iter(failed), None)
        for finding, each, found in self.led[:1]:
            in_words = found.of is not None and found.of.kind != "other"
            first = each.contrast if in_words else finding.estimate
        for note in self.notes[DiagnosticCode.WITHIN_STRATA][: first is None]:
            first = self._of_note(note)
        for _, adjusted in shown_adjusted_alone(self.report.estimates)[: first is None]:
            first = adjusted
        if first is None or self.spec.get("probabilities"):
            return
        definition = first.definition
        row = definition.of if isinstance(definition, Contrast) else None
        if self._can_decompose() and row is not None and has_decomposition(row):
            usual = usual_rate(
                decided=bool(self.spec.get("prediction") or self.spec.get("score")),
                labelled=bool(self.spec.get("label")),
                regression=self.report.task is Task.REGRESSION,
            )
            named = None if row.name == usual else row.name
            change = self._change(self.led[0][0]) if self.led else None
            if change is AfterAdjusting.LEAVES_OUT:
                yield step("complete_strata", column=str(self.led[0][0].adjusted_for))
            else:
                yield step("divide" if strata else "find_where", metric=named, within=strata)
        elif (
            strata is None
            and isinstance(definition, Contrast)
            and not self.notes[DiagnosticCode.PROTECTED]
            and "score" not in definition.needs
        ):
            yield step("compare_alike")

    def _can_decompose(self) -> bool:
        """Return whether `why` decomposes gaps of the rows or counts that a report is of."""
        positive = self.spec.get("positive")
        ordered = isinstance(positive, Mapping) and "ordered" in positive
        known = not (self.spec.get("probabilities") or ordered or self.cuts)
        protected = bool(self.notes[DiagnosticCode.PROTECTED])
        whole = self.spec.get("reference") == ReferenceRule.OVERALL
        binary = self.report.task in (Task.BINARY, Task.REGRESSION)
        return binary and known and not (protected or whole)

    def _has_subgroups(self) -> bool:
        """Return whether a search can look for subgroups that the audit did not examine."""
        spec = self.spec
        dependent = any(spec.get(name) for name in ("weight", "cluster", "intersections"))
        protected = bool(self.notes[DiagnosticCode.PROTECTED])
        outcomes = any(spec.get(name) for name in OUTCOMES)
        searched = self.report.task is Task.BINARY and outcomes and not self.cuts
        alone = searched and not (dependent or protected)
        return alone and len(spec.get("sensitive", ())) >= _SEVERAL

    def _later(self) -> Iterator[Statement]:
        """Yield what comes after an audit without fails; monitors are for recorded groups."""
        report = self.report
        estimated = {each["name"] for each in self.spec.get("probabilities", ())}
        preset_ = self.name
        gaps = preset_ is not None and preset_.category_limit is not None
        if report.verdict is Outcome.PASS:
            if not estimated:
                yield step("follow")
        elif not report.verdicts and preset_ is not None and (preset_.published_metrics or gaps):
            stated = self.spec.get("document") or {}
            rounded = bool(self.notes[DiagnosticCode.PROTECTED])
            lacking = [key for key in preset_.document if key not in stated]
            yield step("publish", lacking=lacking, rounded=rounded, public=preset_.public)
        elif not report.verdicts:
            yield step("tolerable")
        else:
            undecided = [
                v
                for v in report.verdicts
                if v.outcome in (Outcome.INCONCLUSIVE, Outcome.NOT_EVALUATED)
            ]
            if any(
                v.value is not None
                and v.feature not in estimated
                and all(map(_by_more_rows, reasons_of(v)))
                for v in undecided
            ):
                reasons = [v.reason for v in undecided]
                if all(map(_is_constant, reasons)):
                    yield step("check_outcome", reasons=reasons)
                    return
                plan = any(each.of_separate_rates for each in report.estimates)
                found = self._cheapest() or Statement(code="more_rows")
                yield replace(found, code="more_rows", facts=found.facts | {"plan": plan})

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
        n = (found.who.n or 0) - found.who.hits if of_hits else found.who.hits
        return replace(
            found,
            code="read_cases",
            facts={"n": n, "event": event(self.report.spec, "decision", not of_hits)},
        )

    def _cheapest(self) -> Statement | None:
        found = [
            s
            for v in self.report.verdicts
            if (s := self._own_side(v)).verdict == "inconclusive" and s.facts["needed"] and s.who
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


_MOST_RULES, _MOST_ROWS, _MOST_FINDINGS, _MOST_SMALL = 2, 14, 2, 3
_SEVERAL, _MANY_MISSING = 2, 0.05
_SHARES = ("share", "fit", "misfit")
_IN_WORDS = (*_SHARES, "mean")
OUTCOMES = ("label", "prediction", "score")
_NOT_BESIDE = (ReasonCode.NOT_COUNTED, ReasonCode.UNCLEAR_VALUES, ReasonCode.FAVOURABLE_UNSTATED)
_OF_ZERO = (ReasonCode.RATIO_MAY_BE_ZERO, ReasonCode.RATIO_NOT_ABOVE_ZERO)
_CLEARED_BY = {
    "clear identifier": "write_identifiers",
    OF_ONE_PERSON: "recode_identifier",
    UNSTATED: "state_favourable",
    APART: "check_predictions",
    SCORE_APART: "check_scores",
    ALIKE: "check_all_rows",
}
"""What to do first about rows that are unclear, by what they lack."""
_DISAGREE = ({"mean", "quantile"}, {"list", "top"})
_GRAVEST = ("fail", "inconclusive", "not_evaluated", "pass")
_BESIDE = (*ON_ONE_SIDE, ReasonCode.MISSING_GROUPS, ReasonCode.MISSING_OUTCOMES)


def _apart(s: Any) -> float:
    return float((s.who.rate or 0) - (s.than.rate or 0))


def _is_small(reason: Any) -> bool:
    """Return whether a side is below the smallest size that was asked for."""
    return reason is not None and reason.code is ReasonCode.SMALL_GROUP


def _lacking(verdict: Any) -> list[str]:
    """Return what rows lack that leave a verdict open: outcomes or groups, a weight or a count."""
    if (what := verdict.reason.get("what")) is not None:
        return [what]
    needs = verdict.definition.needs if verdict.definition else ()
    without_group = [str(verdict.feature)] * bool(verdict.reason.get("without_group"))
    return [need for need in OUTCOMES if need in needs] + without_group


def _is_constant(reason: Any) -> bool:
    """Return whether nothing is decided because all rows have one value."""
    few = reason.code is ReasonCode.FEW_EXPECTED and reason["expected"] == 0
    return few or reason.code is ReasonCode.ONE_VALUE


def _by_more_rows(reason: Any) -> bool:
    """Return whether more rows could decide a rule: not where what rows lack leaves it open."""
    others = (
        *ON_ONE_SIDE,
        ReasonCode.MISSING_GROUPS,
        ReasonCode.MISSING_OUTCOMES,
        *WITHOUT_METHOD,
    )
    return reason.code not in others and reason.get("open_rows") is None


def _far(each: Any) -> float:
    """Return how far a comparison is from no difference."""
    if not is_ratio(each.definition) or each.value is None:
        return abs(gap(each))
    return abs(math.log(each.value)) if each.value else math.inf


def _ranked(stated: Any) -> str | None:
    """Return what a finding is of, where another one may be of the same numbers or ranking."""
    finding, each, _ = stated
    definition, row = finding.estimate.definition, each.row
    if isinstance(definition, RowMetric):
        of_top = definition.kind in ("top", "exposure")
        return "quantile" if definition.q is not None else "top" if of_top else None
    if isinstance(row, Mean):
        return "mean" if row.of is RegressionTerm.LABEL else None
    return "list" if isinstance(row, Rate) and (row.of, row.among) == (TP + FP, ALL) else None


def _any_class(of: Any) -> Any:
    """Return an event of a rule that is about each class."""
    return of and replace(of, values=())


def _class_of(verdict: Any) -> str | None:
    return verdict.class_scope.name if verdict.class_scope.kind is ClassKind.CLASS else None


def _people_of(feature: Any, own: Statement) -> tuple[Any, ...]:
    """Return whose row of the grid a verdict is in: of all groups at once it is that of two."""
    pair = own.than if own.facts.get("across") else None
    return feature, tuple(side and side.values for side in (own.who, pair))


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
