"""What became of the rows of a join, as sentences."""

from __future__ import annotations

from collections.abc import Iterator

from fairgauge.errors import form_of, quote
from fairgauge.render.words.numbers import plural
from fairgauge.scan.label_join import DisjointIdentifiers, JoinCounts

_PUT_ASIDE = {
    "unlabelled": ("row", "rows", "without a label"),
    "repeated_predictions": ("repeated prediction", "repeated predictions", "counted once"),
    "repeated_labels": ("repeated label", "repeated labels", "counted once"),
    "conflicting_predictions": (
        "identifier",
        "identifiers",
        "with different predictions, excluded",
    ),
    "conflicting_labels": ("identifier", "identifiers", "with different labels, none of them used"),
    "orphans": ("label", "labels", "without a prediction, excluded"),
    "unidentified": ("row", "rows", "without an identifier, excluded"),
}
"""The fields of the counts, each with what it counts and what became of it."""


def describe_join(counts: JoinCounts) -> Iterator[str]:
    """Yield what was written, and everything that was put aside."""
    rows = plural(counts.written, "row", "rows")
    yield f"{counts.written:,} {rows} written, {counts.written - counts.unlabelled:,} with a label"
    for field, (one, many, fate) in _PUT_ASIDE.items():
        count: int = getattr(counts, field)
        if count:
            yield f"{count:,} {plural(count, one, many)} {fate}"


def describe_disjoint(found: DisjointIdentifiers) -> str:
    """State that two files have no identifier in common, and what to look at."""
    return (
        "no label has the identifier of a prediction (predictions have the form "
        f"{quote(form_of(found.predictions))}, labels {quote(form_of(found.labels))}), so that "
        "every row is without a label. Are these the files of the same rows? Identifiers are "
        "compared as text: '01' is not '1'"
    )
