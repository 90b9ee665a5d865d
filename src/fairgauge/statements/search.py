"""The first page of a search for subgroups."""

from __future__ import annotations

from collections.abc import Iterator

from fairgauge.catalogue.lookup import has_decomposition
from fairgauge.enums import DiagnosticCode, Worse
from fairgauge.results.statement import Page, Range, Side, Statement
from fairgauge.results.subgroup_search import Subgroup, SubgroupSearch
from fairgauge.start.records import replace
from fairgauge.statements.compared import excluded_rows, measure, page, step

_MOST_ROWS = 1e6
_USUAL_SHARE = 0.1


def search_page(search: SubgroupSearch) -> Page:
    """Return the first page of a search for subgroups."""
    return page("find", search.spec, _search_statements(search))


def nearer_end(search: SubgroupSearch, subgroup: Subgroup) -> float:
    """Return the end of the interval that is nearer to no difference."""
    return subgroup.low if search.question.worse is Worse.HIGHER else subgroup.high


def _subgroup(search: SubgroupSearch, subgroup: Subgroup) -> Statement:
    return Statement(code="subgroup", who=Side("group", None, tuple(subgroup.conditions.items()),
            subgroup.rate, subgroup.events, subgroup.n), than=Side("others",
            rate=subgroup.reference_rate, hits=search.overall.events - subgroup.events,
            n=search.overall.n - subgroup.n), of=measure(search.spec, search.question.definition),
        value=subgroup.difference, way=(subgroup.difference > 0) - (subgroup.difference < 0),
        interval=Range(subgroup.low, subgroup.high, joint=True), shown=True, harm="worse",
        facts={"at_least": nearer_end(search, subgroup)},
        sources=(f"worse[{search.worse.index(subgroup)}]",))  # fmt: skip


def _search_statements(search: SubgroupSearch) -> Iterator[Statement]:
    question = search.question
    reasons = {f"missing {each}": each for each in ("label", "prediction")}
    lacking = {n["reason"] for n in search.diagnostics if n.code is DiagnosticCode.EXCLUDED}
    described = question.definition.among.described
    members = tuple(_subgroup(search, each) for each in search.worse if each.explained_by is None)
    by_share = {d.share: d.difference for d in search.detectable if d.difference is not None}
    usual = _USUAL_SHARE if _USUAL_SHARE in by_share else next(iter(by_share), None)
    facts = {"worse": str(question.worse), "alpha": question.alpha, "tolerance": question.tolerance,
        "depth": min(question.depth, len(question.features)), "features": len(question.features),
        "min_rows": question.min_rows, "counted": None if described == "rows" else described,
        "among": [reasons[reason] for reason in reasons if reason in lacking],
        "rows": search.overall.rows, "overall": search.overall.rate, "examined": search.examined,
        "undecided": search.undecided_count, "not_worse": search.not_worse_count,
        "n": len(search.worse), "lacks_outcomes": search.lacks_outcomes, "sizes": by_share,
        "usual": None if search.lacks_outcomes else usual,
        "at_most": None if search.lacks_outcomes else search.largest.by_at_most,
        "at_most_of_large": search.largest.by_at_most_of_large}  # fmt: skip
    code = "found_worse" if members else "found_none"
    if not search.examined:
        code = "none_examined"
    elif search.is_constant:
        code = "same_everywhere"
    of = measure(search.spec, question.definition)
    head = Statement(code=code, of=of, parts=members, facts=facts, sources=("worse", "question"))
    yield head
    yield replace(head, code="examined", sources=("overall", "examined", "question"))
    yield from excluded_rows(search.diagnostics)
    yield from members[:3]
    if len(members) > 3:
        yield step("more_listed", n=len(members) - 3)
    if search.examined and not search.is_constant:
        yield replace(head, code="decided", sources=("undecided_count", "not_worse_count"))
        yield replace(head, code="at_most", sources=("largest",))
        yield replace(head, code="would_have_been_found", sources=("detectable",))
    yield step("only_a_place")
    if members:
        yield replace(members[0], code="compare_subgroup")
        if not search.own and has_decomposition(question.definition):
            yield step("find_where", metric=question.rate)
    elif search.undecided and not search.is_constant:
        if not question.tolerance:
            yield step("state_tolerance")
        largest = search.undecided[0]
        if largest.rows_needed is not None and largest.rows_needed <= _MOST_ROWS:
            who = Side("group", None, tuple(largest.conditions.items()))
            facts = {"needed": largest.rows_needed, "rows": search.overall.rows}
            yield Statement(code="collect_rows", who=who, value=largest.difference, facts=facts,
                            sources=("undecided[0]",))  # fmt: skip
