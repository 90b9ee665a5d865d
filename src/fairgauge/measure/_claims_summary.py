"""Which of the subgroups that are worse account for the others, which contain or overlap them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats.arrays import quiet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairgauge.catalogue.cells import Array
    from fairgauge.measure._subgroup_counts import Subgroups
    from fairgauge.resolve.searched_features import OutcomeCells

_MOST_MEMBERS = 30
_CORRECTION = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class ClaimsSummary:
    """The claims that account for all.

    Attributes
    ----------
    members : their positions among the claims.
    explained_by : for every claim the position of the member that accounts for most of its
        evidence; -1 for members, and for claims that exceed the critical value beside all members.
    """

    members: tuple[int, ...]
    explained_by: NDArray[np.int64]


class _Evidence:
    """The evidence of all claims, stratified by who is in some of them (Mantel-Haenszel)."""

    def __init__(self, cells: OutcomeCells, subgroups: Subgroups, claims: Sequence[int]) -> None:
        self.n, self.events = cells.n, cells.events
        self.inside = {i: subgroups.members(cells, at) for i, at in enumerate(claims)}

    def stratified(self, members: Sequence[int], claims: Sequence[int] | None = None) -> Array:
        """Return the z of the claims in the strata that membership makes, events being worse."""
        strata = np.zeros(len(self.n), dtype=np.int64)
        for member in members:
            strata = 2 * strata + self.inside[member]
            strata = np.unique(strata, return_inverse=True)[1]
        number = int(strata.max(initial=0)) + 1
        n, x = (_summed(strata, each, number) for each in (self.n, self.events))
        asked = range(len(self.inside)) if claims is None else claims
        return np.array([self._z(claim, strata, n, x) for claim in asked])

    @quiet
    def _z(self, claim: int, strata: NDArray[np.int64], n: Array, x: Array) -> float:
        inside = self.inside[claim]
        of_claim = strata[inside]
        nc, xc = (_summed(of_claim, each[inside], len(n)) for each in (self.n, self.events))
        variance = np.nansum(nc * (n - nc) * x * (n - x) / (n * n * (n - 1)))
        excess = np.nansum(xc - nc * x / n) - _CORRECTION
        return float(excess / np.sqrt(variance)) if variance > 0 else 0.0


def _summed(strata: NDArray[np.int64], values: Array, number: int) -> Array:
    return np.bincount(strata, values, number).astype(np.float64)


def summarise_claims(
    cells: OutcomeCells, subgroups: Subgroups, claims: Sequence[int], c: float
) -> ClaimsSummary:
    """Choose claims in whose strata no other exceeds the critical value.

    In turn the claim with the most evidence beside those taken, or in its place its most general
    ancestor among the claims that brings its evidence below the critical value. Members that the
    others account for are removed again. No claim is added: every member is one.

    Parameters
    ----------
    cells : the cells, with the worse outcome as their event.
    subgroups, claims : all subgroups, and the positions of those that are worse.
    c : the critical value.
    """
    if not claims:
        return ClaimsSummary((), np.zeros(0, dtype=np.int64))
    evidence = _Evidence(cells, subgroups, claims)
    conditions = [frozenset(subgroups.conditions(at).items()) for at in claims]
    members: list[int] = []
    z = evidence.stratified(members)
    while z.max() > c and len(members) < _MOST_MEMBERS:
        members.append(_general(int(np.argmax(z)), members, evidence, conditions, c))
        z = evidence.stratified(members)
    unexplained = set(np.flatnonzero(z > c).tolist())
    for member in list(members):
        others = [each for each in members if each != member]
        if others and set(np.flatnonzero(evidence.stratified(others) > c).tolist()) <= unexplained:
            members = others
    members = members or [int(np.argmax(evidence.stratified([])))]
    beside = np.stack([evidence.stratified([member]) for member in members])
    explained_by = np.array(members)[np.argmin(beside, axis=0)]
    explained_by[[*members, *unexplained]] = -1
    return ClaimsSummary(tuple(members), explained_by)


def _general(
    claim: int,
    members: Sequence[int],
    evidence: _Evidence,
    conditions: Sequence[frozenset[tuple[int, int]]],
    c: float,
) -> int:
    """Return the most general claim that contains a claim and accounts for it, or the claim."""
    ancestors = [i for i, each in enumerate(conditions) if each < conditions[claim]]
    for ancestor in sorted(ancestors, key=lambda i: len(conditions[i])):
        if ancestor not in members and evidence.stratified([*members, ancestor], [claim])[0] <= c:
            return ancestor
    return claim
