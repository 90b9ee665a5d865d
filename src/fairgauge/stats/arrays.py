"""The shared vocabulary of arrays: types, broadcasting and division without warnings."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

Array: TypeAlias = NDArray[np.float64]
Limits: TypeAlias = tuple[Array, Array]

P = ParamSpec("P")
R = TypeVar("R")


def quiet(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function whose divisions by zero give inf or nan in silence.

    Examples
    --------
    >>> float(quiet(np.divide)(1.0, 0.0))
    inf
    """

    @wraps(function)
    def silent(*args: P.args, **kwargs: P.kwargs) -> R:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return function(*args, **kwargs)

    return silent


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
    arrays = [np.asarray(value, dtype=np.float64) for value in values]
    shape = arrays[0].shape
    if all(array.shape == shape for array in arrays):
        return tuple(arrays)
    return tuple(np.broadcast_arrays(*arrays))


@quiet
def quotient(numerator: ArrayLike, denominator: ArrayLike) -> Array:
    """Divide in silence: x/0 is inf, 0/0 is nan.

    Examples
    --------
    >>> quotient([1, 1, 0], [2, 0, 0]).tolist()
    [0.5, inf, nan]
    """
    over, under = floats(numerator, denominator)
    return np.asarray(over / under)


def whole(name: str, *values: ArrayLike) -> tuple[Array, ...]:
    """Return the values as `floats` does, insisting on whole numbers that are not negative.

    Raises
    ------
    ValueError
        When a value is negative, fractional or not finite: exact methods need counts.
    """
    arrays = floats(*values)
    for array in arrays:
        if not np.all((array >= 0) & (array == np.floor(array)) & np.isfinite(array)):
            raise ValueError(f"{name} needs whole, non-negative counts; found {array!r}")
    return arrays
