"""Distances between two distributions over the same categories."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from fairgauge.catalogue.arithmetic import divide
from fairgauge.enums import Profile

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairgauge.catalogue.cells import Array

Distances = Literal["kl", "js", "lp", "tvd", "ks"]


@dataclass(frozen=True, slots=True)
class DistanceKind:
    """A distance between distributions P_a (reference) and P_d (group)."""

    formula: str
    most: float
    of_shares: Callable[[Array, Array], Array]

    def between(self, reference: Array, group: Array, profile: Profile) -> Array:
        """Compare counts of shape (n, K); a category that one side lacks has probability 0.

        In profile ``clarify`` categories that either side lacks are removed without renormalising,
        as smclarify does (values can then be negative or too small).
        """
        p = divide(reference, reference.sum(axis=-1, keepdims=True), Profile.DOCUMENTED)
        q = divide(group, group.sum(axis=-1, keepdims=True), Profile.DOCUMENTED)
        if profile is Profile.CLARIFY:
            shared = (p > 0) & (q > 0)
            p, q = (np.where(shared | np.isnan(side), side, 0.0) for side in (p, q))
            nothing = ~shared.any(axis=-1)
            return np.where(nothing, np.nan, self.of_shares(p, q))
        return self.of_shares(p, q)


def _kl(p: Array, q: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p == 0, 0.0 * q, p * np.log(p / q))
    total: Array = terms.sum(axis=-1)
    return total


def _js(p: Array, q: Array) -> Array:
    middle = (p + q) / 2
    return (_kl(p, middle) + _kl(q, middle)) / 2


def _lp(p: Array, q: Array) -> Array:
    total: Array = np.sqrt(((p - q) ** 2).sum(axis=-1))
    return total


def _tvd(p: Array, q: Array) -> Array:
    total: Array = np.abs(p - q).sum(axis=-1) / 2
    return total


def _ks(p: Array, q: Array) -> Array:
    most: Array = np.abs(p - q).max(axis=-1)
    return most


DISTANCES: dict[Distances, DistanceKind] = {
    "kl": DistanceKind("sum_y P_a(y) ln(P_a(y) / P_d(y))", math.inf, _kl),
    "js": DistanceKind("KL(P_a, M) / 2 + KL(P_d, M) / 2,  M = (P_a + P_d) / 2", math.log(2), _js),
    "lp": DistanceKind("(sum_y (P_a(y) - P_d(y))^2)^(1/2)", math.sqrt(2), _lp),
    "tvd": DistanceKind("sum_y |P_a(y) - P_d(y)| / 2", 1.0, _tvd),
    "ks": DistanceKind("max_y |P_a(y) - P_d(y)|", 1.0, _ks),
}
