"""Floats of single and half precision (float32, float16), read as the decimals that they stand for.

0.7 is 0.699999988079071 in single precision, below the threshold 0.7 of its column. A float is read
as the number of few decimal places that has it for its nearest, where there is one: of at most
seven below 1, and of two fewer for each factor of 100. No float is the nearest of two of these
numbers, so that every engine finds the same one, which is what the float is printed as. A float
without such a number is itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairgauge.values import HALF, SCALES

_BOUNDS, _SCALES = np.array(SCALES).T


def doubles(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return numbers as doubles: of less than double precision what they stand for.

    >>> doubles(np.array([0.7, 1 / 3], dtype=np.float32)).tolist()
    [0.7, 0.3333333432674408]
    """
    wide = values.astype(np.float64, copy=False)
    if values.dtype.type not in (np.float32, np.float16):
        return wide
    size = np.abs(values)
    scale: Any = _SCALES[0]
    if np.fmax.reduce(size, initial=0.0) >= _BOUNDS[0]:
        scale = np.append(_SCALES, 1.0)[np.searchsorted(_BOUNDS, size, side="right")]
    if values.dtype.type is np.float16:
        scale = np.maximum(scale * HALF, 1.0)
    near = wide * scale
    np.rint(near, out=near)
    near /= scale
    with np.errstate(over="ignore"):
        np.copyto(wide, near, where=near.astype(values.dtype) == values)
    return wide


def sql_double(value: str, double: str = "DOUBLE", single: str = "FLOAT") -> str:
    """Write an expression of single precision as a double, as `doubles` reads it."""
    wide, near = _sql_near(value, double)
    return f"CASE WHEN CAST({near} AS {single}) = {value} THEN {near} ELSE {wide} END"


def sql_double_of_half(value: str) -> str:
    """Write an expression of half precision, which DuckDB holds in single precision, as a double.

    The decimal is what it stands for if it is nearer than half a step of half precision.
    """
    wide, near = _sql_near(value, "DOUBLE", HALF)
    step = f"greatest(pow(2, floor(log2(greatest(abs({wide}), 1e-9))) - 11), pow(2, -25))"
    return f"CASE WHEN abs({near} - {wide}) < {step} THEN {near} ELSE {wide} END"


def _sql_near(value: str, double: str, factor: float = 1.0) -> tuple[str, str]:
    """Write an expression as a double, and rounded to its decimal places."""
    wide = f"CAST({value} AS {double})"
    sizes = " ".join(
        f"WHEN abs({wide}) < {bound:.0e} THEN {max(scale * factor, 1.0):.0e}"
        for bound, scale in SCALES
    )
    scale = f"CAST(CASE {sizes} ELSE 1 END AS {double})"
    return wide, f"round({wide} * {scale}) / {scale}"
