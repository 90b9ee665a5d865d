"""Sums of confusion cells, ``TP + FN`` as a value, and arithmetic by the rules of profiles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fairgauge.enums import Profile

Array = NDArray[np.float64]

Need = Literal["label", "prediction", "score"]

_NAMES = ("TP", "FP", "FN", "TN")


@dataclass(frozen=True, slots=True)
class Cells:
    """A sum of confusion cells with whole coefficients; build it from TP, FP, FN and TN."""

    tp: int = 0
    fp: int = 0
    fn: int = 0
    tn: int = 0

    def __add__(self, other: Cells) -> Cells:
        pairs = zip(self.coefficients, other.coefficients, strict=True)
        return Cells(*(a + b for a, b in pairs))

    def __rmul__(self, times: int) -> Cells:
        return Cells(*(times * a for a in self.coefficients))

    def __mul__(self, times: int) -> Cells:
        return times * self

    def __str__(self) -> str:
        """Return the formula: ``TP + FN``, ``2 TP + FP + FN``, ``n``."""
        if self == ALL:
            return "n"
        terms = zip(self.coefficients, _NAMES, strict=True)
        return " + ".join(name if k == 1 else f"{k} {name}" for k, name in terms if k)

    @property
    def coefficients(self) -> tuple[int, int, int, int]:
        """Return the coefficients of TP, FP, FN and TN."""
        return (self.tp, self.fp, self.fn, self.tn)

    @property
    def described(self) -> str:
        """Return what the sum counts, in words."""
        return _WORDS.get(self, str(self))

    @property
    def needs(self) -> frozenset[Need]:
        """Return which columns must be known to count the sum."""
        if self == ALL:
            return frozenset()
        if self.tp == self.fn and self.fp == self.tn:
            return frozenset({"label"})
        if self.tp == self.fp and self.fn == self.tn:
            return frozenset({"prediction"})
        return frozenset({"label", "prediction"})

    def within(self, other: Cells) -> bool:
        """Return whether every row counted here is counted once in ``other``: a share of it."""
        pairs = zip(self.coefficients, other.coefficients, strict=True)
        return all(a in (0, 1) and b in (0, 1) and a <= b for a, b in pairs)

    def disjoint(self, other: Cells) -> bool:
        """Return whether no row is counted in both sums, and none twice."""
        pairs = zip(self.coefficients, other.coefficients, strict=True)
        return all(a in (0, 1) and b in (0, 1) and a + b <= 1 for a, b in pairs)

    def count(self, counts: Array) -> Array:
        """Sum the cells of ``counts`` (array of shape (..., 4): TP, FP, FN, TN)."""
        parts: list[Array] = [
            counts[..., i] if k == 1 else k * counts[..., i]
            for i, k in enumerate(self.coefficients)
            if k
        ]
        return reduce(add, parts) if parts else np.zeros(counts.shape[:-1])


TP = Cells(tp=1)
FP = Cells(fp=1)
FN = Cells(fn=1)
TN = Cells(tn=1)
ALL = TP + FP + FN + TN

_WORDS = {
    TP: "true positives",
    FP: "false positives",
    FN: "false negatives",
    TN: "true negatives",
    TP + FN: "observed positives",
    TN + FP: "observed negatives",
    TP + FP: "predicted positives",
    TN + FN: "predicted negatives",
    TP + TN: "correct predictions",
    FP + FN: "incorrect predictions",
    ALL: "rows",
}


def divide(over: Array, under: Array, profile: Profile) -> Array:
    """Divide arrays of counts elementwise; the same shape comes back.

    As documented, x/0 is a signed infinity, and 0/0 and inf - inf are undefined (NaN here, a status
    above). As in smclarify 0.5 (the profile ``clarify``), 0/0 and inf - inf are 0.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        result = np.true_divide(over, under)
    return (
        np.nan_to_num(result, nan=0.0, posinf=np.inf, neginf=-np.inf)
        if profile.rules.zero_over_zero_is_zero
        else result
    )


def subtract(left: Array, right: Array, profile: Profile) -> Array:
    """Subtract arrays elementwise; the same shape comes back."""
    with np.errstate(invalid="ignore"):
        result: Array = left - right
    if profile.rules.zero_over_zero_is_zero:
        result = np.where(np.isinf(left) & (left == right), 0.0, result)
    return result


def amount(number: float, digits: int = 3, sign: str = "") -> str:
    """Write a number with a few digits, or as a whole number where it has more before the point.

    Examples
    --------
    >>> amount(0.12345), amount(12610.4), amount(262.0, 2), amount(1234.5, sign="+")
    ('0.123', '12,610', '262', '+1,234')
    """
    large = abs(number) >= 10**digits
    return f"{number:{sign},.0f}" if large else f"{number:{sign}.{digits}g}"
