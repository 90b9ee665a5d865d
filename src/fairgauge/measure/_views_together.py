"""The critical value with which the intervals of every view of a table hold together.

Views overlap: groups lie within groups, and thresholds beside thresholds. The counts are therefore
drawn again from their own shares, and of every draw the largest standardized deviation among all
views is taken. Few draws suffice, because the value is an upper limit of their quantile.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairgauge.stats.arrays import Array, quiet

Index = NDArray[np.int64]
Sums = NDArray[np.float32]

FEWEST_TOGETHER = 30
"""Rows of a side below which no interval far out in the tail is claimed: it is not exact there."""
FEWEST_OUTCOMES = 10
"""Rows of each outcome, observed of a rate and expected of a comparison, that it needs as well."""
_DRAWS, _AT_ONCE = 400, 25
_MOST_WORK = 1e9
_UPPER = 1.645
"""The 95% upper limit of the quantile of the draws is this many of its standard errors above."""


def critical_of_views(
    codes: Index,
    counts: Index,
    sizes: Sequence[int],
    sums: Sequence[Sequence[Sequence[int]]],
    confidence: float,
) -> float | None:
    """Return the critical value; None where the draws would take too long, or be too few.

    Parameters
    ----------
    codes : array of shape (cells, columns): the group of each column; codes from the number of
        groups on are of values outside them.
    counts : array of shape (cells, 3, places + 2): rows by label and by thresholds reached.
    sizes : the number of groups of each column.
    sums : of every rate, the coefficients of the eight cells in its numerator and denominator.

    Examples
    --------
    >>> counts = np.array([[[200, 300, 0], [400, 100, 0], [0, 0, 0]]] * 3)
    >>> selected = ([1, 1, 0, 0, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1, 0, 0])
    >>> z = critical_of_views(np.array([[0], [1], [2]]), counts, [3], [selected], 0.95)
    >>> 2.4 < z < 3.2  # of 3 groups and 6 pairs, among them each group with the others
    True
    """
    rank = ceil(_DRAWS * confidence + _UPPER * sqrt(_DRAWS * confidence * (1 - confidence)))
    sides, pairs = _sides_and_pairs(codes, sizes)
    work = _DRAWS * len(sums) * counts.shape[2] * (len(pairs) + len(sides) * len(codes) / 8)
    if rank >= _DRAWS or work > _MOST_WORK or not counts.any():
        return None
    chance = np.random.default_rng(0)
    shares = counts.ravel() / counts.sum()
    expected = _sums(counts[None], sides, sums)
    largest = [
        _largest(_sums(drawn, sides, sums), expected, pairs)
        for _ in range(_DRAWS // _AT_ONCE)
        for drawn in [chance.multinomial(counts.sum(), shares, _AT_ONCE).reshape(-1, *counts.shape)]
    ]
    return float(np.sort(np.concatenate(largest))[rank])


def _sides_and_pairs(codes: Index, sizes: Sequence[int]) -> tuple[Sums, Index]:
    """Return the cells of every side of any view, and which sides are compared."""
    columns = range(len(sizes))
    found: dict[bytes, int] = {}
    pairs: set[tuple[int, int]] = set()

    def position(side: NDArray[np.bool_]) -> int:
        return found.setdefault(side.tobytes(), len(found))

    for size in range(1, len(sizes) + 1):
        for by in combinations(columns, size):
            for whole, groups in _views(codes, sizes, by):
                held = [position(group) for group in groups]
                others = [whole & ~group for group in groups]
                pairs |= {(min(pair), max(pair)) for pair in combinations(held, 2)}
                compared = [(h, position(o)) for h, o in zip(held, others, strict=True) if o.any()]
                pairs |= {(min(pair), max(pair)) for pair in compared}
    sides = np.array([np.frombuffer(side, dtype=np.bool_) for side in found], dtype=np.float32)
    return sides, np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)


def _views(
    codes: Index, sizes: Sequence[int], by: tuple[int, ...]
) -> Iterator[tuple[NDArray[np.bool_], list[NDArray[np.bool_]]]]:
    """Yield the cells of all groups, and of each group, under every filter by the other columns."""
    rest = [i for i in range(len(sizes)) if i not in by]
    for chosen in product(*(range(-1, sizes[i]) for i in rest)):
        filtered = [codes[:, i] == code for i, code in zip(rest, chosen, strict=True) if code >= 0]
        known = [codes[:, i] <= sizes[i] for i in by]
        whole = np.logical_and.reduce([*filtered, *known])
        groups = [
            np.logical_and.reduce([whole, *(codes[:, i] == g for i, g in zip(by, of, strict=True))])
            for of in product(*(range(sizes[i]) for i in by))
        ]
        yield whole, [group for group in groups if group.any()]


def eight_cells(counts: NDArray[Any]) -> NDArray[Any]:
    """Return the cells of decisions at every place, the cells first: of (..., 3, places + 2)."""
    reached = counts[..., :-1][..., ::-1].cumsum(axis=-1)[..., ::-1]
    yes = np.moveaxis(reached[..., 1:], -2, 0)
    no = np.moveaxis(reached[..., :1], -2, 0) - yes
    missing = np.broadcast_to(np.moveaxis(counts[..., -1:], -2, 0), yes.shape)
    return np.stack([yes[0], yes[1], no[0], no[1], yes[2], no[2], missing[0], missing[1]])


def _sums(counts: Index, sides: Sums, sums: Sequence[Sequence[Sequence[int]]]) -> tuple[Sums, Sums]:
    """Return numerators and denominators of the rates: shape (sides, rates, draws, places)."""
    cells = eight_cells(counts).astype(np.float32)
    of_cells = np.tensordot(np.array(sums, np.float32), cells, axes=(2, 0))
    over, under = np.moveaxis(np.tensordot(sides, of_cells, axes=(1, 3)), 2, 0)
    return over, under


@quiet
def _largest(drawn: tuple[Sums, Sums], expected: tuple[Sums, Sums], pairs: Index) -> Array:
    """Return the largest standardized deviation of every draw.

    Of a pair both the difference and the ratio deviate by at most the root of the squares of its
    sides, so that few pairs are computed.
    """
    (over, under), share = drawn, expected[0] / expected[1]
    off, variance = over / under - share, share * (1 - share) / under
    squares = np.where((under >= FEWEST_TOGETHER) & (variance > 0), off**2 / variance, 0.0)
    enough = np.minimum(over, under - over) >= FEWEST_OUTCOMES
    largest = np.asarray(np.where(enough, squares, 0.0).max(axis=(0, 1, 3)))
    for one, two in pairs.tolist():
        rate, draw, place = np.nonzero(squares[one] + squares[two] > largest[:, None])
        if not len(draw):
            continue
        at, fixed = (rate, draw, place), (rate, np.zeros_like(draw), place)
        (x1, n1, d1, v1), (x2, n2, d2, v2) = (
            (over[side][at], under[side][at], off[side][at], variance[side][at])
            for side in (one, two)
        )
        pooled = (x1 + x2) / (n1 + n2)
        fitting = np.minimum(n1, n2) >= FEWEST_TOGETHER
        fitting &= np.minimum(n1, n2) * np.minimum(pooled, 1 - pooled) >= FEWEST_OUTCOMES
        times = share[one][fixed] / share[two][fixed]
        gaps = [(d1 - k * d2) ** 2 / (v1 + k**2 * v2) for k in (1.0, times)]
        worst = np.where(fitting, np.fmax(*gaps), 0.0)
        np.maximum.at(largest, draw, np.where(np.isfinite(worst), worst, 0.0))
    return np.asarray(np.sqrt(largest))
