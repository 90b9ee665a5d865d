"""The helpers of smclarify: frequencies of discrete values, and a smoothing filter."""

# ruff: noqa: N802 - the names are smclarify's
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

__all__ = ["GaussianFilter", "collapse_to_binary", "pdf", "pdfs_aligned_nonzero"]


def collapse_to_binary(values: Iterable[Any], pivot: Any = 0.0) -> Array:
    """Return 1 for values of at least the pivot, or among a list of them, and 0 for others.

    >>> collapse_to_binary([1, 2, 3], 2).tolist(), collapse_to_binary("abc", ["a"]).tolist()
    ([0, 1, 1], [1, 0, 0])
    """
    if np.isscalar(pivot):
        return np.array([int(value >= pivot) for value in values])
    return np.array([int(value in pivot) for value in values])


def GaussianFilter(input_array: Array, sigma: int = 1) -> Array:
    """Smooth an array with a Gaussian kernel of its own length."""
    count = len(input_array)
    if not count:
        raise ValueError("input array is empty")
    places = np.arange(count) - (count - 1) / 2
    kernel = np.exp(-((places / sigma) ** 2) / 2) / (np.sqrt(2 * np.pi) * sigma)
    return np.convolve(input_array, kernel, "same")


def pdf(xs: Iterable[object]) -> list[tuple[Any, float]]:
    """Return every value with its share, in the order of the values.

    >>> pdf([2, 1, 2, 2])
    [(1, 0.25), (2, 0.75)]
    """
    counts = Counter(xs)
    total = sum(counts.values())
    return sorted((value, count / total) for value, count in counts.items())


def pdfs_aligned_nonzero(*args: Sequence[object]) -> list[Array]:
    """Return the shares of the values that all sequences have, one array for every sequence.

    >>> [shares.tolist() for shares in pdfs_aligned_nonzero([1, 2], [1, 1, 3, 3])]
    [[0.5], [0.5]]
    """
    shares = [dict(pdf(each)) for each in args]
    common = sorted(set.intersection(*map(set, shares))) if shares else []
    return [np.array([each[value] for value in common]) for each in shares]
