"""Counts and formulas of the pages that compute again, as the plain values that they all read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.catalogue.closed_forms import quotients
from fairgauge.catalogue.statistics import Statistic


def rate_formula(statistic: Statistic) -> dict[str, object]:
    """Return a rate as sums of cells: a page knows no metric by its name.

    Examples
    --------
    >>> from fairgauge.catalogue.lookup import find_rate
    >>> rate_formula(find_rate("precision"))["of"]
    [([1, 0, 0, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0, 0])]
    """
    return {
        "name": statistic.name,
        "title": statistic.title,
        "share": statistic.is_share,
        "of": quotients(statistic),
    }


def page_table(
    model: int,
    columns: Sequence[int],
    codes: ArrayLike,
    counts: ArrayLike,
    ranges: Sequence[ArrayLike] = (),
) -> dict[str, object]:
    """Return a table of counts: runs of zeros are written as their negative length.

    Parameters
    ----------
    codes : array of shape (rows, columns): the group of each column.
    counts : array of shape (rows, 3, places + 2): rows by label (positive, negative, missing) and
        by how many places a score reaches; last those without a score or decision.
    ranges : of protected counts, the least and the greatest ones that agree with them.

    Examples
    --------
    >>> page_table(0, [0], [[0]], [[[0, 4, 0], [2, 0, 0], [0, 0, 0]]])["counts"]
    [-1, 4, -1, 2]
    """
    return {
        "model": model,
        "columns": list(columns),
        "codes": np.ravel(codes).tolist(),
        "counts": _in_runs(counts),
        **({"ranges": [_in_runs(each) for each in ranges]} if ranges else {}),
    }


def _in_runs(counts: ArrayLike) -> list[object]:
    flat = np.ravel(counts)
    held = np.flatnonzero(flat)
    gaps = np.diff(held, prepend=-1) - 1
    written: list[object] = []
    for gap, count in zip(gaps.tolist(), flat[held].tolist(), strict=True):
        number = int(count) if count == int(count) else count
        written += [-gap, number] if gap else [number]
    return written
