"""What the document of an audit by swapped names has besides its fields: its charts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from fairgauge.enums import Status
from fairgauge.render import _document_tree as tree
from fairgauge.render.words import numbers
from fairgauge.render.words import swap_sentences as words
from fairgauge.render.words.display_names import called, group_called
from fairgauge.render.words.metric_words import shown, shown_range
from fairgauge.results.name_swaps import (
    PairsAudit,
    PlaceboSpread,
    SwapDifference,
    SwapGroup,
    SwapVariant,
    SwapVerdict,
)

_Record = TypeVar("_Record", SwapGroup, SwapVariant, PlaceboSpread)

_TONES = {
    SwapVerdict.DIFFERS: tree.Tone.BAD,
    SwapVerdict.EQUIVALENT: tree.Tone.GOOD,
    SwapVerdict.CANNOT_TELL: tree.Tone.UNSURE,
}


def _facts(audit: PairsAudit) -> dict[str, Any]:
    return {
        "verdict": words.verdict_words(audit),
        "tone": str(_TONES[audit.verdict]),
        "no_runs": all(each.runs is None for each in audit.components),
    }


def _charts(audit: PairsAudit, differences: Sequence[SwapDifference]) -> Iterator[tree.Block]:
    """Yield differences, or changes of them, with the margin of equivalence."""
    drawn = [each for each in differences if each.value is not None]
    if not drawn:
        return
    margin = drawn[0].margin
    what = "Group less reference" if drawn[0].since is None else "Change of group less reference"
    yield tree.Chart(
        f"{what}{', and the margin of equivalence' if margin else ''}",
        tuple(
            tree.ChartRow(
                _compared(each),
                tree.Mark(each.value, each.low, each.high, sparse=each.status is not Status.OK),
                words.change_text(each, each.value or 0.0),
                below=_p(each),
                badge=words.badge(each),
                tone=_TONES[each.verdict],
            )
            for each in drawn
        ),
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
    where = "" if each.model is None and not each.pooled else f", {_model(each)}"
    where += "" if each.since is None else f" since {called(each.since)}"
    other = "others" if each.reference == "others" else called(each.reference)
    return f"{group_called(each.group, each.feature, apart=False)} vs {other}{where}"


def _model(each: Any) -> str:
    return "all models" if each.pooled else called(each.model)


def _unit(audit: PairsAudit) -> tree.Unit:
    points = audit.differences[0].of_decisions
    return tree.Unit.POINTS if points else tree.Unit.NUMBER


def _of_model(records: Iterable[_Record], key: tuple[str | None, bool]) -> list[_Record]:
    return [each for each in records if (each.model, each.pooled) == key]


def _dot_plots(audit: PairsAudit) -> Iterator[tree.Chart]:
    """Yield the dot plot of every model: means of groups, names by group, irrelevant edits."""
    unit, level = _unit(audit), f"{100 * audit.differences[0].confidence:.4g}%"
    for key in dict.fromkeys((each.model, each.pooled) for each in audit.variants):
        groups, variants = _of_model(audit.groups, key), _of_model(audit.variants, key)
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
                for each in _of_model(audit.placebo, key)
                if each.low is not None and each.high is not None
            ),
            None,
        )
        notes = f"Means over items, less those of all names, with {level} CIs over items."
        yield tree.Chart(
            f"Answers by variant{'' if key == (None, False) else f', {_model(variants[0])}'}",
            tuple(rows),
            unit,
            0.0,
            allowed=band,
            notes=(notes, *(["The band is the range of the irrelevant edits."] if band else [])),
        )


STREAMS = {
    "facts": _facts,
    "differences_said": lambda audit: [each.says for each in audit.distinct],
    "differences_drawn": lambda audit: _charts(audit, audit.distinct),
    "changes_said": lambda audit: [each.says for each in audit.distinct_changes],
    "changes_drawn": lambda audit: _charts(audit, audit.distinct_changes),
    "variants_drawn": _dot_plots,
    "edits": lambda audit: map(words.describe_spread, audit.placebo),
    "noted": lambda audit: [each.message for each in audit.notes],
}
