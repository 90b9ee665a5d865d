"""The first page of an audit by swapped names, as statements."""

from __future__ import annotations

from fairgauge.results.name_swaps import (
    UNDECIDED,
    PairsAudit,
    SwapDifference,
    SwapReason,
    SwapVerdict,
)
from fairgauge.results.statement import Page, Range, Side, Statement
from fairgauge.statements.compared import page, step


def swaps_page(audit: PairsAudit) -> Page:
    """Return the first page of an audit by swapped names."""
    newest = audit.newest(audit.distinct)
    by = {str(v): sum(d.verdict is v for d in newest) for v in SwapVerdict}

    def swap(d: SwapDifference, code: str) -> Statement:
        i = audit.differences.index(d)
        than = (
            Side("others", d.feature, rate=d.mean_reference, n=d.variants_reference)
            if d.reference == "others"
            else Side(
                "group",
                d.feature,
                ((d.feature, d.reference),),
                rate=d.mean_reference,
                n=d.variants_reference,
            )
        )
        return Statement(
            code=code,
            who=Side(
                "group", d.feature, ((d.feature, d.group),), rate=d.mean_group, n=d.variants_group
            ),
            than=than,
            value=d.value,
            interval=None
            if d.low is None or d.high is None
            else Range(d.low, d.high, d.confidence),
            verdict=str(d.verdict),
            shown=d.verdict is SwapVerdict.DIFFERS,
            sources=(f"differences[{i}]",),
            facts={
                "decisions": d.of_decisions,
                "items": d.items,
                "model": d.model,
                "complete": d.complete,
                "margin": d.margin,
                "release": audit.releases[-1] if audit.releases else None,
                "lower": (d.value or 0) < 0,
            },
        )

    differing = sorted(
        (d for d in newest if d.verdict is SwapVerdict.DIFFERS), key=lambda d: d.p_adjusted or 0.0
    )
    shown = differing or [d for d in newest if d.value is not None]
    data, facts = (
        audit.data,
        {
            "n": len(newest),
            **{k.replace(" ", "_"): n for k, n in by.items()},
            "margin": audit.differences[0].margin,
            "few": all(d.reason not in UNDECIDED for d in newest),
            "of_decisions": audit.differences[0].of_decisions,
            "error": 1 - audit.differences[0].confidence,
        },
    )
    statements = [
        Statement(
            code="swaps",
            verdict=str(audit.verdict),
            facts=facts,
            parts=tuple(swap(d, "swap") for d in differing[:1]),
        )
    ]
    statements.append(
        Statement(
            code="answers",
            sources=("data",),
            facts={
                "answers": data.answers,
                "items": data.items,
                "variants": data.variants,
                "runs": data.runs,
                "models": data.models,
                "missing": data.missing,
                "excluded": dict(data.excluded),
            },
        )
    )
    statements += [swap(d, "swap") for d in shown[:3]]
    if len(shown) > 3:
        statements.append(Statement(code="more_swaps", facts={"n": len(shown) - 3}))
    edits = any(d.variance is not None and d.variance.placebo is not None for d in differing)
    statements.append(
        Statement(code="beyond_names", shown=bool(differing), facts={**facts, "edits": edits})
    )
    statements += [
        Statement(
            code="spread",
            facts={"model": s.model, "n": s.variants, "edits": s.spread, "names": s.spread_names},
        )
        for s in audit.placebo[:4]
    ]
    few = [
        swap(d, "swap")
        for d in newest
        if d.verdict is SwapVerdict.CANNOT_TELL and d.reason not in UNDECIDED
    ]
    if few:
        statements.append(Statement(code="too_few_names", parts=tuple(few), facts={"n": len(few)}))
    statements += [step("more_than_group"), step("not_in_use"), step("unfair")]
    if any(d.reason in (SwapReason.ONE_VARIANT, SwapReason.FEW_VARIANTS) for d in newest):
        statements.append(step("more_names"))
    if any(d.needed is not None for d in newest):
        statements.append(step("more_answers"))
    if not any(s.variants >= 3 for s in audit.placebo):
        statements.append(step("add_edits"))
    if audit.verdict is SwapVerdict.DIFFERS:
        statements.append(step("read_answers"))
    elif audit.differences[0].margin is None:
        statements.append(step("state_margin"))
    return page("pairs", audit.spec, statements)
