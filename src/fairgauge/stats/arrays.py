"""Array types, broadcasting, division without warnings and blockwise evaluation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import ParamSpec, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
Limits: TypeAlias = tuple[Array, Array]
"""Lower and upper limits of confidence intervals."""

_PAIRWISE = 8
"""Numbers from which on numpy adds pairs first."""
BLOCK = 4_000_000
"""Random numbers drawn at once; more strata are worked off in blocks."""

_as_floats = partial(np.asarray, dtype=np.float64)
_shape = attrgetter("shape")
P = ParamSpec("P")
R = TypeVar("R")


def quiet(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function so that divisions by zero return inf or nan without a warning.

    Examples
    --------
    >>> float(quiet(np.divide)(1.0, 0.0))
    inf
    """
    return np.errstate(divide="ignore", invalid="ignore", over="ignore")(function)


def floats(*values: ArrayLike) -> tuple[Array, ...]:
    """Return the values as float64 arrays of one common (broadcast) shape.

    Raises
    ------
    ValueError
        When the shapes do not broadcast.

    Examples
    --------
    >>> x, n = floats([1, 2], 10)
    >>> n.tolist()
    [10.0, 10.0]
    """
    arrays = tuple(map(_as_floats, values))
    if len(set(map(_shape, arrays))) == 1:
        return arrays
    shape = np.broadcast(*arrays).shape
    found = []
    for array in arrays:
        if array.shape == shape:
            found.append(array)
        else:  # a view of it (`np.broadcast_to`) costs twenty calls
            filled = np.empty(shape)
            filled[...] = array
            found.append(filled)
    return tuple(found)


@quiet
def quotient(numerator: ArrayLike, denominator: ArrayLike) -> Array:
    """Divide without warnings: x/0 is inf, 0/0 is nan.

    Examples
    --------
    >>> quotient([1, 1, 0], [2, 0, 0]).tolist()
    [0.5, inf, nan]
    """
    over, under = floats(numerator, denominator)
    return np.asarray(over / under)


def sum_of_cells(values: Array) -> Array:
    """Sum along the last axis, the same numbers as ``values.sum(-1)``.

    Of thousands of tables of few cells numpy's takes ten times as long, as it loops over each.

    >>> sum_of_cells(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [3.0, 7.0]
    """
    if not 1 <= values.shape[-1] < _PAIRWISE:
        return np.asarray(values.sum(-1))
    total: Array = values[..., 0]
    for k in range(1, values.shape[-1]):
        total = total + values[..., k]
    return total


def whole(name: str, *values: ArrayLike) -> tuple[Array, ...]:
    """Return the values as `floats` does, after checking that they are counts.

    Parameters
    ----------
    name : str
        The method that needs counts, for the error.
    values : array-like

    Raises
    ------
    ValueError
        When a value is negative, fractional or not finite.
    """
    arrays = floats(*values)
    for array in arrays:
        if not np.all((array >= 0) & (array == np.floor(array)) & np.isfinite(array)):
            raise ValueError(f"{name} needs whole, non-negative counts; found {array!r}")
    return arrays


def in_blocks(function: Callable[..., Array], draws: int, *arrays: Array) -> Array:
    """Apply a resampling function along the strata, few enough at a time to fit in memory.

    Parameters
    ----------
    function : callable
        From arrays of shape (strata, ...) to an array of shape (strata,).
    draws : int
        Tables that it draws for every stratum.
    arrays : array
        The first has shape (..., K), its leading axes being those of the strata, which the others
        share.

    Returns
    -------
    values : array of shape (...)

    Examples
    --------
    >>> in_blocks(lambda a: a.sum(axis=-1), 2000, np.ones((2, 3, 4))).tolist()
    [[4.0, 4.0, 4.0], [4.0, 4.0, 4.0]]
    """
    strata = arrays[0].shape[:-1]
    flat = [array.reshape(-1, *array.shape[len(strata) :]) for array in arrays]
    step = max(1, BLOCK // (draws * arrays[0].shape[-1]))
    parts = [function(*(x[i : i + step] for x in flat)) for i in range(0, len(flat[0]), step)]
    return np.concatenate([np.empty(0), *parts]).reshape(strata)
