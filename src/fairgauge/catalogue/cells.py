"""Sums of confusion cells: ``TP + FN`` is a value that counts and explains itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Literal

import numpy as np
from numpy.typing import NDArray

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
