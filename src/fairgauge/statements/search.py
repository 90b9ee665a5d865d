"""The first page of a search for subgroups, as statements."""

from __future__ import annotations

from dataclasses import replace

from fairgauge.catalogue.decomposable import has_decomposition
from fairgauge.results.statement import Page, Range, Side, Statement
from fairgauge.results.subgroup_search import SubgroupSearch
from fairgauge.statements.compared import measure, page, step


def search_page(found: SubgroupSearch) -> Page:
    """Return the first page of a search for subgroups."""
    q, spec = found.question, found.spec
    of = measure(spec, q.definition)
    members = [e for e in found.worse if e.explained_by is None]
    facts = {
        "worse": str(q.worse),
        "reference": str(q.reference),
        "examined": found.examined,
        "rows": found.overall.rows,
        "alpha": q.alpha,
        "depth": min(q.depth, len(q.features)),
        "features": len(q.features),
        "n": len(found.worse),
        "summary": len(members),
        "tolerance": q.tolerance,
        "undecided": found.undecided_count,
        "not_worse": found.not_worse_count,
        "too_few": found.too_few,
        "constant": found.is_constant,
        "control": str(q.multiplicity),
    }
    parts = tuple(
        Statement(
            code="subgroup",
            of=of,
            who=Side("group", None, tuple(e.conditions.items()), rate=e.rate, hits=e.events, n=e.n),
            than=Side("others", None, rate=e.reference_rate),
            value=e.difference,
            interval=Range(e.low, e.high, joint=True),
            shown=True,
            harm="worse",
            facts={
                "at_least": max(q.tolerance, e.low if str(q.worse) == "higher" else -e.high),
                "reference": str(q.reference),
            },
            sources=(f"worse[{i}]",),
        )
        for i, e in enumerate(members)
    )
    usual = next(
        (
            d.difference
            for d in found.detectable
            if abs(d.share - 0.1) < 1e-9 and d.difference is not None
        ),
        None,
    )
    facts["usual"] = None if found.lacks_outcomes else usual
    head = Statement(
        code="search",
        of=of,
        parts=parts,
        shown=bool(parts),
        facts=facts,
        sources=("summary", "question"),
    )
    detectable = [(d.share, d.difference) for d in found.detectable if d.difference is not None]
    statements = [head, *parts[:3]]
    if len(parts) > 3:
        statements.append(Statement(code="more_subgroups", facts={"n": len(parts) - 3}))
    statements.append(Statement(code="decided", facts=facts))
    if detectable:
        statements.append(
            Statement(
                code="would_have_been_found",
                of=of,
                facts={"sizes": detectable, "worse": str(q.worse)},
                sources=("detectable",),
            )
        )
    statements.append(step("only_a_place"))
    if parts:
        statements.append(replace(parts[0], code="compare_subgroup"))
        if has_decomposition(q.definition):
            statements.append(step("find_where", metric=q.rate))
    elif found.undecided:
        first = found.undecided[0]
        if not q.tolerance:
            statements.append(step("state_tolerance"))
        if first.rows_needed is not None and first.rows_needed <= 1e6:
            statements.append(
                step(
                    "collect_rows",
                    needed=first.rows_needed,
                    rows=found.overall.rows,
                    name=first.name,
                    difference=first.difference,
                )
            )
    return page("find", spec, statements)
