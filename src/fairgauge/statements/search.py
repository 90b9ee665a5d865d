"""The first pages of searches: for subgroups, and for differences between swapped names."""

from __future__ import annotations

import math
from collections.abc import Iterator

from fairgauge.catalogue.lookup import has_decomposition
from fairgauge.enums import DiagnosticCode, Worse
from fairgauge.question.specification import read_spec
from fairgauge.results import name_swaps as swaps
from fairgauge.results.name_swaps import PairsAudit, SwapReason, SwapVerdict
from fairgauge.results.statement import Page, Range, Side, SideKind, Statement, fact
from fairgauge.results.subgroup_search import Subgroup, SubgroupSearch
from fairgauge.start.records import replace
from fairgauge.statements.compared import excluded_rows, measure, page, step

_MOST_FOUND, _MOST_NAMED, _FEWEST_EDITS, _MOST_DECIMALS = 3, 4, 3, 6
_STATED = ("model", "items", "families", "units", "complete", "ratio", "margin", "p_equivalence",
           "p_missing", "reason")  # fmt: skip
# shares of missing answers that differ by more are shown with what was found
_FAR_APART = 0.05


def swaps_page(audit: PairsAudit) -> Page:
    """Return the first page of an audit by swapped names."""
    return page("pairs", read_spec(audit.spec), _swap_statements(audit))


def swap_statement(d: swaps.SwapDifference, sources: tuple[str, ...] = ()) -> Statement:
    """Return a difference between names of two groups."""
    kind: SideKind = "others" if d.reference == "others" else "group"
    of, to = (((d.feature, name),) for name in (d.group, d.reference))
    who = Side("group", d.feature, of, d.mean_group, None, d.variants_group)
    than = Side(kind, d.feature, to, d.mean_reference, None, d.variants_reference)
    fewest = min(who.n or 0, than.n or 0)
    scale = 100 if d.of_decisions else 1
    ends = None if d.low is None or d.high is None else (d.low, d.high)
    digits = 2 if scale == 1 else 1
    if ends and ends[1] > ends[0]:  # as many as the confidence interval supports
        digits = 1 - math.floor(math.log10(scale * (ends[1] - ends[0]) / 2))
    facts = {name: getattr(d, name) for name in _STATED} | {
        "decisions": d.of_decisions,
        "scale": scale,
        "digits": min(max(digits, 0), _MOST_DECIMALS),
        "edits": d.variance is not None and d.variance.placebo is not None,
        "p": d.p_adjusted,
        "error": 1 - d.confidence,
        "fewest": [side.values[0][1] for side in (who, than) if side.n == fewest],
        # Of means that lie the other way round than the difference adjusted for items.
        "turned": ((d.mean_group or 0) - (d.mean_reference or 0)) * (d.value or 0) < 0,
        "alone_apart": ends is not None and not ends[0] <= 0 <= ends[1],
        "alone_within": ends is not None and max(-ends[0], ends[1]) < (d.margin or 0.0),
    }
    return Statement(code="not_swapped" if d.value is None else "swap", who=who, than=than,
        value=d.value, way=None if d.value is None else (d.value > 0) - (d.value < 0),
        interval=ends and Range(*ends, d.confidence), shown=d.verdict is SwapVerdict.DIFFERS,
        verdict=str(d.verdict), facts=facts, sources=sources)  # fmt: skip


def note_statement(note: swaps.SwapNote) -> Statement:
    """Return what a reader should know."""
    facts = {"code": note.code, "name": note.name, "n": note.count}
    return Statement(code="swap_note", facts=facts)


def spread_statement(spread: swaps.PlaceboSpread) -> Statement:
    """Return how far irrelevant edits and names move the answers."""
    facts = {"model": spread.model, "n": spread.variants}
    return fact("spread", **facts, edits=spread.spread, names=spread.spread_names)


def _swap_statements(audit: PairsAudit) -> Iterator[Statement]:
    first, data = audit.differences[0], audit.data
    every = enumerate(audit.differences)
    stated = {id(d): swap_statement(d, (f"differences[{i}]",)) for i, d in every}
    by_p = sorted(audit.distinct, key=lambda d: d.p_adjusted or 0.0)
    differing = [stated[id(d)] for d in by_p if d.verdict is SwapVerdict.DIFFERS]
    code = "swaps_differ" if differing else "swaps_not_shown"
    enough = swaps.REASONS_WITH_ENOUGH_DATA
    if not differing and all(d.reason not in enough for d in audit.distinct):
        code = "swaps_few"
    elif audit.verdict is SwapVerdict.EQUIVALENT:
        code = "swaps_equivalent"
    facts = {"margin": first.margin, "decisions": first.of_decisions, "n": len(audit.distinct)}
    facts |= {v.name.lower(): sum(d.verdict is v for d in audit.distinct) for v in SwapVerdict}
    yield Statement(code=code, parts=tuple(differing), facts=facts, sources=("verdict",))
    yield fact("swaps_counted", "verdict", **facts)
    yield fact("answers", "data", **{name: getattr(data, name) for name in data.__slots__})
    if (unequal := _unequal_answers(audit)) is not None:
        yield unequal
    shown = differing or [stated[id(d)] for d in audit.distinct if d.value is not None]
    yield from shown[:_MOST_FOUND]
    if len(shown) > _MOST_FOUND:
        yield step("more_listed", n=len(shown) - _MOST_FOUND)
    if differing:
        edits = any(each.facts["edits"] for each in differing)
        yield fact("beyond_names", error=1 - first.confidence, edits=edits)
    for i, spread in enumerate(audit.placebo[:_MOST_NAMED]):
        yield replace(spread_statement(spread), sources=(f"placebo[{i}]",))
    undecided = [d for d in audit.distinct if d.verdict is SwapVerdict.CANNOT_TELL]
    if few := [d for d in undecided if d.reason not in swaps.REASONS_WITH_ENOUGH_DATA]:
        yield step("too_few_names", n=len(few), groups=list(dict.fromkeys(d.group for d in few)))
    yield from (step("more_than_group"), step("not_in_use"), step("unfair"))
    yield from _steps(audit)


def _steps(audit: PairsAudit) -> Iterator[Statement]:
    reasons = {d.reason for d in audit.distinct}
    if reasons & {SwapReason.ONE_VARIANT, SwapReason.FEW_VARIANTS, SwapReason.IMPRECISE}:
        yield step("more_answers")
    if not any(each.variants >= _FEWEST_EDITS for each in audit.placebo):
        yield step("add_edits")
    if audit.verdict is SwapVerdict.DIFFERS:
        yield step("read_answers")
    elif audit.differences[0].margin is None:
        yield step("state_margin")


def _unequal_answers(audit: PairsAudit) -> Statement | None:
    # which groups lack answers most unequally, if by 5 pp or significantly
    edits = {each.group for each in audit.variants if each.placebo}
    by_model: dict[str | None, list[swaps.AnsweredShare]] = {}
    for each in audit.answered:
        if each.group not in edits:
            by_model.setdefault(each.model, []).append(each)
    significant = any(each.unequal for each in audit.differences)

    def side(each: swaps.AnsweredShare) -> Side:
        asked = each.n + each.absent * significant
        missing = asked - each.answered
        return Side("group", None, (("", each.group),), missing / asked, missing, asked)

    def rate(each: swaps.AnsweredShare) -> float:
        return side(each).rate or 0.0

    ends = [(max(shares, key=rate), min(shares, key=rate)) for shares in by_model.values()]
    most, fewest = max(ends, key=lambda pair: rate(pair[0]) - rate(pair[1]))
    if not significant and rate(most) - rate(fewest) <= _FAR_APART:
        return None
    return Statement(code="unequal_answers", who=side(most), than=side(fewest),
        facts={"model": most.model, "absent": [e.absent * significant for e in (most, fewest)]},
        sources=("answered",))  # fmt: skip


_MOST_ROWS = 1e6
_USUAL_SHARE = 0.1


def search_page(search: SubgroupSearch) -> Page:
    """Return the first page of a search for subgroups."""
    return page("find", read_spec(search.spec), _search_statements(search))


def nearer_end(search: SubgroupSearch, subgroup: Subgroup) -> float:
    """Return the end of the interval that is nearer to no difference."""
    return subgroup.low if search.question.worse is Worse.HIGHER else subgroup.high


def _subgroup(search: SubgroupSearch, subgroup: Subgroup) -> Statement:
    return Statement(code="subgroup", who=Side("group", None, tuple(subgroup.conditions.items()),
            subgroup.rate, subgroup.events, subgroup.n), than=Side("others",
            rate=subgroup.reference_rate, hits=search.overall.events - subgroup.events,
            n=search.overall.n - subgroup.n),
            of=measure(read_spec(search.spec), search.question.definition),
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
    of = measure(read_spec(search.spec), question.definition)
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
