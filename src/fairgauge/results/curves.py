"""Curves: what the binned scores of a group give at every threshold; pure functions of counts.

A score on an edge of a bin is counted there exactly, so cells and rates at an edge are exact.
Within an open bin scores are not distinguished: a curve is straight there, as it is among ties.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, TypeAlias

import numpy as np

from fairgauge.cube.plan import GRID, Axis
from fairgauge.enums import Role
from fairgauge.errors import DataError
from fairgauge.results.estimates import ScoreCounts

Closed: TypeAlias = Literal["left", "right"]
"""The edge that belongs to what lies above it: ``left`` is [t, ...), ``right`` is (t, ...)."""

_DECILES = 10
_SAME_EDGE = 9


@dataclass(frozen=True, slots=True)
class CellsAt:
    """The rows of a group on both sides of a threshold.

    Attributes
    ----------
    tp, fp, fn, tn : the confusion cells of the rows with a label.
    selected, rejected : rows without a label that are predicted positive, and negative.
    """

    tp: float
    fp: float
    fn: float
    tn: float
    selected: float
    rejected: float


@dataclass(frozen=True, slots=True)
class RocPoint:
    """A corner of a ROC curve: the rates when scores from ``threshold`` up are positive."""

    threshold: float
    false_positive_rate: float
    true_positive_rate: float


@dataclass(frozen=True, slots=True)
class Decile:
    """The rows with scores in (low, high]; ``mean_score`` and ``share`` are None without rows.

    Attributes
    ----------
    low, high : the bin, as tenths of the range of scores; the first also holds the score 0.
    n : its rows with a label.
    mean_score, share : the mean of their scores, and the share of positive labels among them.
    """

    low: float
    high: float
    n: float
    mean_score: float | None
    share: float | None


@dataclass(frozen=True, slots=True)
class RatesAt:
    """Rates at a threshold; None where nothing is counted that they are shares of."""

    threshold: float
    selection_rate: float | None
    true_positive_rate: float | None
    false_positive_rate: float | None


@dataclass(frozen=True, slots=True)
class Steps:
    """Counts over the places of the grid: 2k + 1 is the edge k itself, 2k lies just below it."""

    places: tuple[int, ...]
    positive: tuple[float, ...]
    negative: tuple[float, ...]
    unlabelled: tuple[float, ...]


def edges(low: float, high: float) -> tuple[float, ...]:
    """Return the edges that scores are counted on, as the scan computes them.

    >>> len(edges(0.0, 1.0)), edges(0.0, 1.0)[250]
    (1001, 0.25)
    """
    grid = Axis(Role.SCORE, "score", bounds=(low, high), grid=GRID)
    return tuple(grid.edge(k) for k in range(GRID + 1))


def at_threshold(counts: ScoreCounts, threshold: float, closed: Closed = "left") -> CellsAt:
    """Count the confusion cells of a group at a threshold.

    Parameters
    ----------
    counts : ScoreCounts
        The scores of a group; where they speak for the negative value (``turned``), rows from the
        threshold up are predicted negative.
    threshold : float
        An edge of the bins; any number where every bin is a single score.
    closed : {"left", "right"}
        Whether a score equal to the threshold counts as above it ("left", score >= threshold, the
        documented profile) or not ("right", score > threshold, the clarify profile).

    Raises
    ------
    DataError
        The threshold lies inside a bin, whose scores are not distinguished.

    Examples
    --------
    >>> from fairgauge.results.estimates import ScoreCounts
    >>> scores = (0.2, 0.5, 0.9)
    >>> counts = ScoreCounts(
    ...     feature="sex", group="F", low=scores, high=scores,
    ...     positive=(1, 2, 3), negative=(4, 1, 0), unlabelled=(0, 0, 1), total=(1.0, 1.5, 2.7),
    ... )
    >>> at_threshold(counts, 0.5)
    CellsAt(tp=5, fp=1, fn=1, tn=4, selected=1, rejected=0)
    >>> at_threshold(counts, 0.5, closed="right").tp
    3
    """
    for low, high in zip(counts.low, counts.high, strict=True):
        if low < threshold < high:
            raise DataError(
                f"the scores between {low:g} and {high:g} are counted together, and the threshold "
                f"{threshold:g} lies among them; take one of the two edges"
            )
    above = [
        low > threshold or (low == threshold and (closed == "left" or high > low))
        for low, high in zip(counts.low, counts.high, strict=True)
    ]
    yes = [each != (counts.turned is not None) for each in above]

    def total(of: Sequence[float], side: bool) -> float:
        return sum(n for n, on in zip(of, yes, strict=True) if on is side)

    return CellsAt(
        tp=total(counts.positive, True),
        fp=total(counts.negative, True),
        fn=total(counts.positive, False),
        tn=total(counts.negative, False),
        selected=total(counts.unlabelled, True),
        rejected=total(counts.unlabelled, False),
    )


def roc(counts: ScoreCounts) -> tuple[RocPoint, ...]:
    """Return the corners of a group's ROC curve, from (0, 0) to (1, 1).

    Empty without both positive and negative labels. The area under it is ``roc_auc``; a bin that
    holds both labels is a straight piece, as ties are.

    Examples
    --------
    >>> from fairgauge.results.estimates import ScoreCounts
    >>> counts = ScoreCounts(
    ...     feature="sex", group="F", low=(0.2, 0.9), high=(0.2, 0.9),
    ...     positive=(1, 3), negative=(4, 0), unlabelled=(0, 0), total=(1.0, 2.7),
    ... )
    >>> [(p.threshold, p.false_positive_rate, p.true_positive_rate) for p in roc(counts)]
    [(inf, 0.0, 0.0), (0.9, 0.0, 0.75), (0.2, 1.0, 1.0)]
    """
    positives, negatives = sum(counts.positive), sum(counts.negative)
    if not positives or not negatives:
        return ()
    down = slice(None) if counts.turned is not None else slice(None, None, -1)
    thresholds = (counts.high if counts.turned is not None else counts.low)[down]
    tpr = [0.0, *(n / positives for n in accumulate(counts.positive[down]))]
    fpr = [0.0, *(n / negatives for n in accumulate(counts.negative[down]))]
    first = -math.inf if counts.turned is not None else math.inf
    return tuple(map(RocPoint, (first, *thresholds), fpr, tpr))


def reliability(counts: ScoreCounts) -> tuple[Decile, ...]:
    """Return the ten bins (0, 0.1], ... (0.9, 1] of scores that are probabilities.

    The weighted mean distance of ``mean_score`` and ``share`` is ``expected_calibration_error``.
    A bin of scores goes where its upper edge does; rows without a label are excluded.

    Examples
    --------
    >>> from fairgauge.results.estimates import ScoreCounts
    >>> counts = ScoreCounts(
    ...     feature="sex", group="F", low=(0.25,), high=(0.25,),
    ...     positive=(1,), negative=(3,), unlabelled=(0,), total=(1.0,),
    ... )
    >>> reliability(counts)[2]
    Decile(low=0.2, high=0.3, n=4.0, mean_score=0.25, share=0.25)
    """
    n = np.add(counts.positive, counts.negative)
    total, upper = np.array(counts.total), np.array(counts.high)
    if counts.turned is not None:
        total, upper = counts.turned * n - total, counts.turned - np.array(counts.low)
    at = np.clip(np.ceil(np.round(upper * _DECILES, _SAME_EDGE)) - 1, 0, _DECILES - 1).astype(int)
    rows, scores, positive = (
        np.bincount(at, of, _DECILES).tolist() for of in (n, total, counts.positive)
    )
    return tuple(
        Decile(
            i / _DECILES,
            (i + 1) / _DECILES,
            rows[i],
            scores[i] / rows[i] if rows[i] else None,
            positive[i] / rows[i] if rows[i] else None,
        )
        for i in range(_DECILES)
    )


def sweep(
    counts: ScoreCounts, low: float, high: float, closed: Closed = "left"
) -> tuple[RatesAt, ...]:
    """Return the rates of a group with each edge of the grid from ``low`` to ``high`` in turn.

    Each equals that of `at_threshold`; they are added up once for all edges.
    """
    found = steps([counts], low, high)
    first = [2 * k + (1 if closed == "left" else 2) for k in range(GRID + 1)]
    cut = np.searchsorted(found.places, first)
    every = np.add(np.add(found.positive, found.negative), found.unlabelled)
    shares = []
    for of in (every, np.array(found.positive), np.array(found.negative)):
        total = of.sum()
        below = np.concatenate([[0.0], np.cumsum(of)])[cut]
        kept = below if counts.turned is not None else total - below
        shares.append((kept / total).tolist() if total else [None] * len(cut))
    return tuple(map(RatesAt, edges(low, high), *shares))


def steps(several: Sequence[ScoreCounts], low: float, high: float) -> Steps:
    """Return the counts of one or several groups over the grid, leaving out places without rows.

    Single scores that are on no edge fall between two of them, as in an audit by bins.
    """
    grid = edges(low, high)
    below, above, positive, negative, unlabelled = (
        np.concatenate([np.asarray(getattr(each, of), dtype=np.float64) for each in several])
        for of in ("low", "high", "positive", "negative", "unlabelled")
    )
    on_edge = np.isin(below, grid) & (below == above)
    places, at = np.unique(
        2 * np.searchsorted(grid, above, side="left") + on_edge, return_inverse=True
    )
    sums = (np.bincount(at, of, len(places)).tolist() for of in (positive, negative, unlabelled))
    whole = (tuple(int(n) if n == int(n) else n for n in of) for of in sums)
    return Steps(tuple(places.tolist()), *whole)
