"""The document of the health of a history: what may be wrong with the rows of some periods."""

from __future__ import annotations

from fairgauge.render._document_tree import DocumentTree, Items, Tone
from fairgauge.render.documents._document_parts import document_of, listed
from fairgauge.render.words import numbers
from fairgauge.results.monitor_results import HistoryHealth


def history_document(health: HistoryHealth, *, full: bool = True) -> DocumentTree:
    """Build the document of the health of a history."""
    del full  # it has no summary
    count, size = len(health.findings), len(health.periods)
    span = numbers.numbered(size, "periods")
    if health.periods:
        span += f", {health.periods[0]} to {health.periods[-1]}"
    sentences = Items(tuple(each.says for each in health.findings))
    return document_of(
        health,
        title=f"History of {health.model}",
        beside=span,
        verdict=numbers.numbered(count, "findings").upper()
        if count
        else "NOTHING FOUND"
        if size
        else "NO PERIODS",
        tone=Tone.BAD if count else Tone.GOOD if size else Tone.UNSURE,
        sections=[listed("feed", "Rows that may be wrong", sentences)] if count else [],
        file_name="history",
    )
