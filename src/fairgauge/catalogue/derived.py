"""What compares a rate: its difference and ratio between two sides, its spreads over groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fairgauge.catalogue.across import Spread, Spreads
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.errors import nearest

if TYPE_CHECKING:
    from fairgauge.catalogue.statistics import Statistic

Contrasts = Literal["difference", "ratio"]

CONTRASTS: tuple[Contrasts, ...] = ("difference", "ratio")
SPREAD_WORDS: dict[Spreads, tuple[str, str, str]] = {
    "largest_gap": (
        "largest gap",
        "the difference between the highest and the lowest group's",
        "the groups differ",
    ),
    "smallest_ratio": (
        "smallest ratio",
        "the lowest group's, divided by the highest group's",
        "the groups differ",
    ),
    "minimum": (
        "minimum",
        "the lowest group's",
        "it is the value of the worst group where higher values are better",
    ),
    "maximum": (
        "maximum",
        "the highest group's",
        "it is the value of the worst group where lower values are better",
    ),
}
_OF_RATIO_SCALE = ("ratio", "smallest_ratio")
"""What means something only of numbers that cannot be negative."""


def comparisons_of(of: Statistic) -> tuple[str, ...]:
    """Return the names of what compares a rate: ``difference``, ``largest_gap`` ...

    Examples
    --------
    >>> from fairgauge.catalogue.lookup import find_rate
    >>> comparisons_of(find_rate("r2"))
    ('difference', 'largest_gap', 'minimum', 'maximum')
    """
    every = (*CONTRASTS, *SPREAD_WORDS)
    return tuple(by for by in every if not (of.signed and by in _OF_RATIO_SCALE))


def comparison_of(of: Statistic, by: str) -> Contrast | Spread:
    """Return what compares a rate in one way."""
    if by not in comparisons_of(of):
        why = "it can be negative" if by in _OF_RATIO_SCALE else "there is no such comparison"
        allowed = ", ".join(comparisons_of(of))
        hint = nearest(by, comparisons_of(of))
        raise LookupError(f"{of.name} has no {by}: {why}.{hint} Allowed: {allowed}")
    for spread in SPREAD_WORDS:
        if by == spread:
            return spread_of(of, spread)
    return contrast_of(of, "difference" if by == "difference" else "ratio")


def comparison_words(by: Contrasts | Spreads, title: str) -> str:
    """Return what a comparison of a rate with this title is, in words.

    >>> comparison_words("ratio", "recall")
    "the group's recall divided by its reference's"
    """
    if by == "difference":
        return f"the group's {title} minus its reference's"
    if by == "ratio":
        return f"the group's {title} divided by its reference's"
    return f"{SPREAD_WORDS[by][1]} {title}"


def contrast_of(of: Statistic, by: Contrasts) -> Contrast:
    """Return the difference (group - reference) or the ratio (group / reference) of a rate."""
    verb = "are" if of.plural else "is"
    higher = f"the group's {of.title} {verb} higher than its reference's"
    return Contrast(
        name=f"{of.name}.{by}",
        set="own" if of.own else "native",
        title=f"{of.title[:1].upper()}{of.title[1:]}, {by}",
        of=of,
        by=by,
        says=comparison_words(by, of.title),
        positive=higher,
        cite=of.cite,
    )


def spread_of(of: Statistic, by: Spreads) -> Spread:
    """Return how a rate spreads over all groups of a feature."""
    title, _, positive = SPREAD_WORDS[by]
    return Spread(
        name=f"{of.name}.{by}",
        set="own" if of.own else "native",
        title=f"{of.title[:1].upper()}{of.title[1:]}, {title}",
        of=of,
        by=by,
        says=comparison_words(by, of.title),
        positive=positive,
        cite=("fairlearn:MetricFrame", *of.cite),
    )
