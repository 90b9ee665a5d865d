"""What the document of an audit by swapped names has besides its fields: its charts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fairgauge.enums import Status
from fairgauge.render import _document_tree as tree
from fairgauge.render.page import told
from fairgauge.render.words import numbers
from fairgauge.render.words.display_names import called, group_called
from fairgauge.render.words.metric_words import shown, shown_range
from fairgauge.results.name_swaps import PairsAudit, SwapDifference, SwapVerdict
from fairgauge.statements.swaps import spread_statement

_TONES = {
    SwapVerdict.DIFFERS: tree.Tone.BAD,
    SwapVerdict.EQUIVALENT: tree.Tone.GOOD,
    SwapVerdict.CANNOT_TELL: tree.Tone.UNSURE,
}


def _facts(audit: PairsAudit) -> dict[str, Any]:
    return {
        "verdict": str(audit.verdict).upper(),
        "tone": str(_TONES[audit.verdict]),
        "no_runs": all(each.runs is None for each in audit.components),
    }


def _charts(audit: PairsAudit) -> Iterator[tree.Chart]:
    """Yield differences with the margin of equivalence."""
    drawn = [each for each in audit.distinct if each.value is not None]
    if not drawn:
        return
    margin, unit = drawn[0].margin, _unit(audit)
    rows = tuple(
        tree.ChartRow(
            _compared(each),
            tree.Mark(each.value, each.low, each.high, sparse=each.status is not Status.OK),
            shown(each.value, unit, sign=True),
            below=_p(each),
            badge=str(each.verdict),
            tone=_TONES[each.verdict],
        )
        for each in drawn
    )
    title = f"Group less reference{', and the margin of equivalence' if margin else ''}"
    yield tree.Chart(title, rows, unit, 0.0, allowed=(-margin, margin) if margin else None)


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


def _dot_plots(audit: PairsAudit) -> Iterator[tree.Chart]:
    """Yield the dot plot of every model: means of groups, names by group, irrelevant edits."""
    unit, level = _unit(audit), f"{100 * audit.differences[0].confidence:.4g}%"
    for model in dict.fromkeys(each.model for each in audit.variants):
        groups = [each for each in audit.groups if each.model == model]
        variants = [each for each in audit.variants if each.model == model]
        rows = [
            tree.ChartRow(
                f"{called(each.group)}: mean of {numbers.numbered(each.variants, 'names')}",
                tree.Mark(each.centred),
                shown(each.centred, unit, sign=True),
                emphasis=True,
            )
            for each in groups
        ]
        for each in sorted(variants, key=lambda each: (each.placebo, each.group)):
            edit = "irrelevant edit" if each.placebo else called(each.group)
            rows.append(
                tree.ChartRow(
                    f"{called(each.variant)} ({edit})",
                    tree.Mark(each.centred, each.low, each.high),
                    shown(each.centred, unit, sign=True),
                    below=shown_range(each.low, each.high, unit, sign=True),
                    tone=tree.Tone.SOFT if each.placebo else tree.Tone.PLAIN,
                )
            )
        band = next(
            (
                (each.low, each.high)
                for each in audit.placebo
                if each.model == model and each.low is not None and each.high is not None
            ),
            None,
        )
        notes = f"Means over items, less those of all names, with {level} CIs over items."
        yield tree.Chart(
            f"Answers by variant{'' if model is None else f', {called(model)}'}",
            tuple(rows),
            unit,
            0.0,
            allowed=band,
            notes=(notes, *(["The band is the range of the irrelevant edits."] if band else [])),
        )


def _edits(audit: PairsAudit) -> Iterator[str]:
    said = told(audit).language.say
    for each in audit.placebo:
        yield said("spread", "certain", spread_statement(each)) or ""


STREAMS = {
    "facts": _facts,
    "differences_said": lambda audit: [each.says for each in audit.distinct],
    "differences_drawn": _charts,
    "variants_drawn": _dot_plots,
    "edits": _edits,
    "noted": lambda audit: [each.message for each in audit.notes],
}
