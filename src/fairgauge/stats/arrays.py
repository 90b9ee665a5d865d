"""Array types, broadcasting, division without warnings and blockwise evaluation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any, ParamSpec, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
Integers: TypeAlias = NDArray[np.integer[Any]]
AnyArray: TypeAlias = NDArray[Any]
Limits: TypeAlias = tuple[Array, Array]
"""Lower and upper limits of confidence intervals."""

# numbers from which on numpy adds pairs first
_PAIRWISE = 8

as_floats = partial(np.asarray, dtype=np.float64)
_shape = attrgetter("shape")
P = ParamSpec("P")
R = TypeVar("R")


def quiet(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function so that divisions by zero return inf or nan without a warning.

    >>> float(quiet(np.divide)(1.0, 0.0))
    inf
    """
    return np.errstate(divide="ignore", invalid="ignore", over="ignore")(function)


def distinct(values: AnyArray) -> AnyArray:
    """Return the sorted different values, without the hashes of numpy 2.3: a twentieth of the time.

    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    return np.unique(values, return_counts=True)[0]


def floats(*values: ArrayLike) -> tuple[Array, ...]:
    """Return the values as float64 arrays of one common (broadcast) shape.

    Raises ``ValueError``: when the shapes do not broadcast.

    >>> x, n = floats([1, 2], 10)
    >>> n.tolist()
    [10.0, 10.0]
    """
    arrays = tuple(map(as_floats, values))
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

    >>> quotient([1, 1, 0], [2, 0, 0]).tolist()
    [0.5, inf, nan]
    """
    return np.asarray(as_floats(numerator) / as_floats(denominator))


def sum_of_cells(values: Array) -> Array:
    """Sum along the last axis, the same numbers as ``values.sum(-1)``.

    >>> sum_of_cells(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [3.0, 7.0]
    """
    # Of thousands of tables of few cells numpy's takes ten times as long, as it loops over each.
    if not 1 <= values.shape[-1] < _PAIRWISE:
        return np.asarray(values.sum(-1))
    total: Array = values[..., 0]
    for k in range(1, values.shape[-1]):
        total = total + values[..., k]
    return total


def whole_counts(name: str, *values: ArrayLike) -> tuple[Array, ...]:
    """Return the values as `floats` does, after checking that they are counts.

    ``name``: the method that needs counts, for the error.

    Raises ``ValueError``: when a value is negative, fractional or not finite.
    """
    arrays = floats(*values)
    for array in arrays:
        if not np.all((array >= 0) & (array == np.floor(array)) & np.isfinite(array)):
            raise ValueError(f"{name} needs whole, non-negative counts; found {array!r}")
    return arrays
