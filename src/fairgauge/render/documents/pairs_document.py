"""The document of an audit by swapped names, and its tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairgauge.enums import Status
from fairgauge.render import _document_tree as tree
from fairgauge.render.documents._document_parts import document_of, listed
from fairgauge.render.documents.report_notes import opening_warnings, report_warnings
from fairgauge.render.page import told
from fairgauge.render.words import numbers
from fairgauge.render.words.display_names import called, group_called
from fairgauge.render.words.metric_words import shown, shown_range
from fairgauge.render.writers.flat_rows import FlatTable, table_of_records
from fairgauge.results.name_swaps import (
    PairsAudit,
    SwapDifference,
    SwapVerdict,
)
from fairgauge.statements.swaps import spread_statement

_TONES = {
    SwapVerdict.DIFFERS: tree.Tone.BAD,
    SwapVerdict.EQUIVALENT: tree.Tone.GOOD,
    SwapVerdict.CANNOT_TELL: tree.Tone.UNSURE,
}
_NESTED = ("variance",)
METHOD = (
    "Names and items are samples, and crossed: the variance of a difference has a term for names "
    "and one for items, less that of single answers, which is in both. With three irrelevant edits "
    "or more, their variance stands in the place of that of names where the confidence interval is "
    "wider so. Each confidence interval is of one comparison alone; p-values, and so the verdicts, "
    "are adjusted for all groups and models (Holm)."
)


def pairs_document(audit: PairsAudit, *, full: bool = True) -> tree.DocumentTree:
    """Build the document of an audit by swapped names."""
    sentences = tree.Items(tuple(each.says for each in audit.distinct))
    charts = _difference_charts(audit, audit.distinct) if full else ()
    sections = [listed("differences", "Differences", sentences, *charts, short="Differences")]
    if full:
        sections += [*_dot_plots(audit), *_variation(audit), _answered_section(audit)]
    notes: list[tree.Block] = (
        [tree.Items(tuple(each.message for each in audit.notes))] if audit.notes else []
    )
    if full:
        notes.append(tree.Paragraph(METHOD, tree.Tone.SOFT))
    sections.append(tree.Section("notes", "Notes", tuple(notes)))
    counts = audit.data
    return document_of(
        audit,
        title="Audit by swapped names",
        beside=numbers.numbered(counts.answers, "answers"),
        verdict=str(audit.verdict).upper(),
        tone=_TONES[audit.verdict],
        sections=sections,
        not_shown=() if full else ("every variant", "what the answers vary by", "who answered"),
        file_name="pairs",
        warnings=opening_warnings(report_warnings(audit.diagnostics)),
    )


def _difference_charts(
    audit: PairsAudit, differences: Sequence[SwapDifference]
) -> Iterator[tree.Block]:
    shown_rows = [each for each in differences if each.value is not None]
    margin = shown_rows[0].margin if shown_rows else None
    rows = tuple(
        tree.ChartRow(
            _compared(each),
            tree.Mark(
                each.value,
                each.low,
                each.high,
                sparse=each.status is not Status.OK,
            ),
            shown(each.value, _unit(audit), sign=True),
            below=_p(each),
            badge=str(each.verdict),
            tone=_TONES[each.verdict],
        )
        for each in shown_rows
    )
    if rows:
        yield tree.Chart(
            f"Group less reference{', and the margin of equivalence' if margin else ''}",
            rows,
            _unit(audit),
            0.0,
            allowed=(-margin, margin) if margin else None,
        )


def _p(each: SwapDifference) -> str:
    """Return the adjusted p-value that the verdict follows from."""
    if each.verdict is SwapVerdict.EQUIVALENT:
        return numbers.probability(each.p_equivalence, "adjusted one-sided p")
    return "" if each.p_adjusted is None else numbers.probability(each.p_adjusted, "adjusted p")


def _compared(each: SwapDifference) -> str:
    where = "" if each.model is None else f", {called(each.model)}"
    other = "others" if each.reference == "others" else called(each.reference)
    return f"{group_called(each.group, each.feature, apart=False)} vs {other}{where}"


def _unit(audit: PairsAudit) -> tree.Unit:
    points = audit.differences[0].of_decisions
    return tree.Unit.POINTS if points else tree.Unit.NUMBER


def _dot_plots(audit: PairsAudit) -> Iterator[tree.Section]:
    """Yield the dot plot of every model: names by group, then irrelevant edits."""
    charts = [_dot_plot(audit, model) for model in dict.fromkeys(v.model for v in audit.variants)]
    title = "Variants" if len(charts) == 1 else "Variants by model"
    yield listed("variants", title, *charts, short="Variants")


def _dot_plot(audit: PairsAudit, model: str | None) -> tree.Chart:
    own = [each for each in audit.variants if each.model == model]
    own.sort(key=lambda each: (each.placebo, each.group))
    unit = _unit(audit)
    rows = [
        tree.ChartRow(
            f"{called(each.group)}: mean of {numbers.numbered(each.variants, 'names')}",
            tree.Mark(each.centred),
            shown(each.centred, unit, sign=True),
            emphasis=True,
        )
        for each in audit.groups
        if each.model == model
    ]
    for each in own:
        edit = "irrelevant edit" if each.placebo else called(each.group)
        text = shown(each.centred, unit, sign=True)
        rows.append(
            tree.ChartRow(
                f"{called(each.variant)} ({edit})",
                tree.Mark(each.centred, each.low, each.high),
                text,
                below=shown_range(each.low, each.high, unit, sign=True),
                tone=tree.Tone.SOFT if each.placebo else tree.Tone.PLAIN,
            )
        )
    band = next((p for p in audit.placebo if p.model == model), None)
    allowed = None
    level = f"{100 * audit.differences[0].confidence:.4g}%"
    over = f"with {level} confidence intervals over items"
    notes = [f"Means over items, less those of all names over the same items, {over}."]
    if band is not None and band.low is not None and band.high is not None:
        allowed = (band.low, band.high)
        notes.append("The band is the range of the irrelevant edits.")
    where = "" if model is None else f", {called(model)}"
    caption = f"Answers by variant{where}"
    return tree.Chart(caption, tuple(rows), unit, 0.0, allowed=allowed, notes=tuple(notes))


def _variation(audit: PairsAudit) -> Iterator[tree.Section]:
    """Yield what the answers vary by."""
    several = any(each.model is not None for each in audit.components)
    heads = ["names", "items", "interaction", "runs"]
    columns = tuple(tree.Column(head) for head in heads)
    if several:
        columns = (tree.Column("model", numeric=False), *columns)
    rows = []
    for each in audit.components:
        cells = [
            tree.Cell("-" if sd is None else numbers.amount(sd, 2))
            for sd in (each.names, each.items, each.interaction, each.runs)
        ]
        rows.append((tree.Cell(called(each.model), name=True), *cells) if several else tuple(cells))
    note = (
        "Standard deviations, by the method of moments; 0 where none is seen: of names within a "
        "group, of the items' differences between groups, of items by names within a group "
        "(interaction), and of answers to the same item under the same name (runs)."
    )
    if all(each.runs is None for each in audit.components):
        note += " With single answers, the interaction holds what varies between runs."
    table = tree.Table("What the answers vary by", columns, tuple(rows), notes=(note,))
    edits = [
        text
        for each in audit.placebo
        if (text := told(audit).language.say("spread", "certain", spread_statement(each)))
    ]
    yield listed(
        "variation",
        "What the answers vary by",
        table,
        *([tree.Items(tuple(edits))] if edits else []),
        short="Variation",
    )


def _answered_section(audit: PairsAudit) -> tree.Section:
    several = len({each.model for each in audit.answered}) > 1
    pairs = tuple(
        (
            f"{called(each.group)}{f', {called(each.model)}' if several else ''}",
            f"{numbers.count(each.answered)} of {numbers.count(each.n)} ({each.share:.1%})",
        )
        for each in audit.answered
    )
    blocks: list[tree.Block] = [tree.Facts(pairs)]
    if audit.data.excluded:
        reasons = (f"{numbers.count(n)} {why}" for why, n in audit.data.excluded.items())
        blocks.append(tree.Paragraph(f"Excluded rows: {', '.join(reasons)}."))
    return listed("answered", "Answers given", *blocks)


def differences_of(audit: PairsAudit) -> FlatTable:
    """Return a row for every difference."""
    return table_of_records(SwapDifference, audit.differences, without=_NESTED)
