"""What is drawn on the first page of an audit: dots beside its findings, and the grid of rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.catalogue.cells import TN, TP
from fairgauge.render._document_tree import DotArray, DotArrays
from fairgauge.render.brief._rule_grid import rule_grid
from fairgauge.render.brief._stated_findings import disparities_of, led_by
from fairgauge.render.brief._vocabulary import Vocabulary, some

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fairgauge.render._document_tree import Block
    from fairgauge.render.brief._compared_shares import ComparedShares
    from fairgauge.results.report import Report

_DOTS = 100


def audit_exhibits(report: Report, texts: Mapping[str, str]) -> Iterator[Block]:
    """Yield an array of dots for each finding of the brief, and the grid of rules.

    Parameters
    ----------
    texts : each rule as it is written elsewhere in the report.
    """
    words = Vocabulary.of_report(report)
    for each in led_by(disparities_of(report, words)):
        if each.shares is not None and (arrays := dot_arrays(each.shares, each.sentence())):
            yield arrays
    if (grid := rule_grid(report, words, texts)) is not None:
        yield grid


def dot_arrays(shares: ComparedShares, sentence: str) -> DotArrays | None:
    """Return both sides as dots, a hundred each; None where they are not stated of 100."""
    found = shares.counts if shares.rate.known else None
    if found is None or found.of != _DOTS:
        return None
    event = shares.event
    if event is None:
        filled, rest = "the decision fits the outcome", "it does not"
        if shares.row.of != TP + TN:
            filled, rest = "the decision does not fit the outcome", "it does"
    else:
        filled, rest = event.happened, shares.opposite
    ringed = 0
    if shares.is_worse:
        ringed = found.reference - found.group
    gap = f"the gap to the rate of {shares.rate.among(shares.other)}" if ringed else ""
    sides = ((shares.subject, found.group, ringed), (shares.other, found.reference, 0))
    arrays = tuple(
        DotArray(
            count,
            rings,
            f"of 100 {shares.rate.among(some(people))}",
            f"{side.hits:,} of {side.size:,}" if side and side.hits is not None else "",
            f"Of 100 {shares.rate.among(some(people))}, {count} {filled}",
        )
        for (people, count, rings), side in zip(sides, shares.shares, strict=True)
    )
    return DotArrays(sentence, (arrays[0], arrays[1]), (filled, gap, rest))
