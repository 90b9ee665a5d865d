"""The first page of a plan, as statements."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.enums import Estimator
from fairgauge.reasons import FEWEST_ROWS, ReasonCode
from fairgauge.results.planned import Planned, SelfReports, Smallest
from fairgauge.results.statement import Page, Side, Statement
from fairgauge.statements.compared import page, side_of, step

_MOST_GOALS, _MOST_GROUPS = 4, 3
_ROUNDING = 1e-9


def plan_page(planned: Planned) -> Page:
    """Return the first page of a plan."""
    return page("plan", {}, _statements(planned))


def per_hundred(difference: float) -> float:
    """Return a difference in percentage points, rounded up to one decimal: never as less."""
    return math.ceil(1000 * difference - _ROUNDING) / 10


def smallest_statement(each: Smallest, source: str = "") -> Statement:
    """Return the smallest difference that would be found, or why none would."""
    definition = each.definition.of if isinstance(each.definition, Contrast) else each.definition
    reason = each.reason
    lacking = None if reason is None else reason.get("n")
    return Statement(
        code="smallest",
        who=side_of(each.feature, each.group) if each.feature else None,
        value=None if each.difference is None else per_hundred(each.difference),
        facts={
            "group": each.group,
            "rate": definition.title,
            "average": each.class_scope.average,
            "class_": None if each.class_scope.average else each.class_scope.name,
            "at": each.threshold,
            "n": each.n_group,
            "n_reference": each.n_reference,
            "reason": reason,
            "lacking": reason and lacking and math.ceil(reason["minimum"] - lacking),
        },
        sources=(source,),
    )


def _statements(planned: Planned) -> Iterator[Statement]:
    answers, asked = planned.answers, planned.self_reports
    smallest = sorted(
        (smallest_statement(each, f"smallest[{i}]") for i, each in enumerate(planned.smallest)),
        key=lambda s: (
            s.value is not None,
            s.facts["reason"] is None,
            s.facts["n"] if s.value is None else -s.value,
        ),
    )
    shown = [s for s in smallest if s.value is not None]
    level = {"power": planned.power, "confidence": planned.confidence}
    practical = answers is not None and None not in (answers.names, answers.items)
    yield from _head(planned, smallest)
    by_rule = _by_rule(asked)
    for several in by_rule[:_MOST_GROUPS]:
        yield Statement(
            code="people_to_ask",
            who=side_of(several[0].feature, several[0].group),
            parts=tuple(map(_asked, several)),
            facts={
                "rule": several[0].rule,
                "definition": several[0].definition,
                "threshold": several[0].threshold,
            },
            sources=tuple(f"self_reports[{asked.index(each)}]" for each in several),
        )
    if len(by_rule) > _MOST_GROUPS:
        yield step("more_people", n=len(by_rule) - _MOST_GROUPS)
    yield from smallest[:_MOST_GROUPS]
    others = [s for s in smallest[_MOST_GROUPS:] if s.value is not None]
    if none := len(smallest[_MOST_GROUPS:]) - len(others):
        yield step("no_difference_found", n=none)
    if others:
        named = any(s.value is not None for s in smallest[:_MOST_GROUPS])
        yield step("smaller_found", n=len(others), most=None if named else others[0].value)
    if shown or planned.needed or asked or practical:
        of = "difference" if shown else "rule" if asked else "goal"
        yield Statement(
            code="planned_power", facts={**level, "of": of}, sources=("power", "confidence")
        )
        if asked:
            yield step("fewer_may_decide")
    if answers is not None or planned.needed:
        yield step("as_assumed", answers=answers is not None)
    if asked:
        yield step("which_assumption")
        few = {
            (each.feature, each.group): each.answered
            for each in asked
            if each.answered and each.expects is not Estimator.VALIDATED
        }
        if few:
            parts = tuple(Statement(code="asked", who=side_of(*key)) for key in few)
            facts = {"answered": max(few.values()), "fewest": FEWEST_ROWS}
            yield Statement(code="answers_unused", parts=parts, facts=facts)
    if smallest:
        yield step("only_planned")
    yield from _steps(planned)


def _head(planned: Planned, smallest: list[Statement]) -> Iterator[Statement]:
    """Yield the headline, what was looked at, and goals."""
    answers, asked = planned.answers, planned.self_reports
    shown = [s for s in smallest if s.value is not None]
    if answers is not None:
        facts = {name: getattr(answers, name) for name in ("names", "items", "runs", "detects")}
        facts["deviations"] = {name: sd for name, sd in answers.deviations.items() if sd}
        yield Statement(
            code="answers_impractical"
            if None in (answers.names, answers.items)
            else "answers_needed",
            facts=facts,
            sources=("names", "items", "runs"),
        )
        yield Statement(code="answers_vary", facts=facts, sources=("answers.deviations",))
    elif planned.needed:
        most = max(each.total for each in planned.needed)
        goal = next(each.goal for each in planned.needed if each.total == most)
        yield step("rows_needed", total=most, goal=goal, n=len(planned.needed))
    elif asked:
        yield _answers_of_all(asked)
    elif smallest:
        yield Statement(
            code="differences_found",
            value=shown[0].value if shown else None,
            facts={
                "shown": len(shown),
                "every": len(smallest),
                "evaluated": any(each.reason is None for each in planned.smallest),
            },
            sources=(*(shown[0].sources if shown else ()), "smallest"),
        )
    else:
        yield Statement(code="nothing_planned", sources=("smallest",))
    if asked:
        yield step("people_of", features=list(dict.fromkeys(each.feature for each in asked)))
    if smallest:
        yield step("comparisons_planned", n=len(smallest))
    for i, needed in enumerate(planned.needed[:_MOST_GOALS]):
        facts = {"goal": needed.goal, "group": needed.group, "reference": needed.reference}
        yield Statement(
            code="goal", facts=facts | {"total": needed.total}, sources=(f"needed[{i}]",)
        )


def _by_rule(asked: tuple[SelfReports, ...]) -> list[list[SelfReports]]:
    """Return the rows of each rule of a group: one for each assumption."""
    by_rule: dict[Any, list[SelfReports]] = {}
    for each in asked:
        key = each.feature, each.group, each.rule, each.threshold, each.class_scope
        by_rule.setdefault(key, []).append(each)
    return list(by_rule.values())


def _asked(each: SelfReports) -> Statement:
    return Statement(
        code="asked",
        facts={
            "expects": str(each.expects),
            "needed": each.self_reports,
            "answered": each.answered,
        },
    )


def _answers_of_all(asked: tuple[SelfReports, ...]) -> Statement:
    """Return how many answers decide how many rules, by the assumption that is right."""
    by_rule = [{each.expects: each for each in rows} for rows in _by_rule(asked)]
    expected = list(dict.fromkeys(each.expects for each in asked))
    expected = [each for each in expected if each is not Estimator.VALIDATED] or expected
    parts = []
    for expects in expected:
        rows = [
            of.get(expects) or max(of.values(), key=lambda each: each.self_reports)
            for of in by_rule
        ]
        enough = [each.self_reports for each in rows if math.isfinite(each.self_reports)]
        facts = {"expects": str(expects), "decided": len(enough), "rules": len(rows)}
        facts |= {"needed": max(enough, default=math.inf)}
        parts.append(Statement(code="asked", facts=facts))
    answered = max(each.answered for each in asked)
    parts = [replace(s, facts={**s.facts, "answered": answered}) for s in parts]
    every = all(s.facts["decided"] == s.facts["rules"] for s in parts)
    most = max(parts, key=lambda s: s.facts["needed"])
    facts = {**most.facts, "either": every and len(parts) > 1}
    return Statement(
        code="answers_of_all",
        who=Side("everyone"),
        parts=tuple(parts),
        facts=facts,
        sources=("self_reports",),
    )


def _steps(planned: Planned) -> Iterator[Statement]:
    answers, asked = planned.answers, planned.self_reports
    if answers is not None and (answers.names is None or answers.items is None):
        yield step("give_other", names=answers.items is not None)
    elif answers is not None:
        yield step("collect_answers")
    elif planned.needed:
        yield step("collect_and_audit")
    if asked:
        needed = [each for each in asked if math.isfinite(each.self_reports)]
        if not needed:
            yield step("collect_more_people")
            return
        if all(each.self_reports <= each.answered for each in needed):
            yield step("audit_answers")
            return
        yield step("draw_people", again=any(each.answered for each in asked))
    if planned.smallest:
        codes = [each.reason.code for each in planned.smallest if each.reason is not None]
        yield step("state_limits", clusters=ReasonCode.FEW_CLUSTERS in codes)
    elif not (answers or planned.needed or asked):
        yield step("audit_by_rules")
