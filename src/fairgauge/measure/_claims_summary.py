"""The summary of claims: the few subgroups that account for all others that are worse."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.measure._subgroup_counts import combined
from fairgauge.resolve.searched_features import COUNTED
from fairgauge.stats.arrays import quiet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairgauge.catalogue.cells import Array
    from fairgauge.measure._subgroup_counts import Subgroups
    from fairgauge.resolve.searched_features import SearchedRows

_MOST_MEMBERS = 30
_MOST_AHEAD = 6
"""Claims that may be members next, whose counts are taken with those of members."""
_CORRECTION = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class _Strata:
    """Counts of all rows, and of those in each claim, by who is in some claims.

    Attributes
    ----------
    of : the claims.
    inside : array of shape (strata, claims of ``of``): whether rows are in the claim.
    n, events : arrays of shape (strata,).
    claim_n, claim_events : arrays of shape (strata, all claims).
    """

    of: tuple[int, ...]
    inside: NDArray[np.bool_]
    n: Array
    events: Array
    claim_n: Array
    claim_events: Array

    @quiet
    def stratified(self, members: Sequence[int]) -> Array:
        """Return the z of all claims in the strata of some of the claims (Mantel-Haenszel)."""
        among = self.inside[:, [self.of.index(each) for each in members]]
        _, merged = np.unique(among, axis=0, return_inverse=True)
        n, x, nc, xc = (
            _summed(merged.ravel(), each)
            for each in (self.n[:, None], self.events[:, None], self.claim_n, self.claim_events)
        )
        variance = np.nansum(nc * (n - nc) * x * (n - x) / (n * n * (n - 1)), axis=0)
        excess = np.nansum(xc - nc * x / n, axis=0) - _CORRECTION
        return np.where(variance > 0, excess / np.sqrt(variance), 0.0)


def _summed(strata: NDArray[np.int64], counts: Array) -> Array:
    found = np.zeros((int(strata.max(initial=-1)) + 1, counts.shape[1]))
    np.add.at(found, strata, counts)
    return found


class _Evidence:
    """The evidence of all claims beside some of them; another reading of the rows for new ones."""

    def __init__(self, searched: SearchedRows, subgroups: Subgroups, claims: Sequence[int]) -> None:
        self._searched, self._sizes, self._claims = searched, subgroups.sizes, len(claims)
        self._conditions = [subgroups.conditions(at) for at in claims]
        self._places: dict[tuple[int, ...], NDArray[np.int32]] = {}
        for i, conditions in enumerate(self._conditions):
            features = tuple(conditions)
            if features not in self._places:
                cells = math.prod(self._sizes[f] + 1 for f in features)
                self._places[features] = np.zeros(cells, dtype=np.int32)
            values = [np.array([value]) for value in conditions.values()]
            self._places[features][combined(values, self._sizes, features)] = 1 + i
        self._strata = _Strata(
            of=(),
            inside=np.zeros((1, 0), dtype=bool),
            n=np.array([searched.n]),
            events=np.array([searched.events]),
            claim_n=subgroups.n[[*claims]][None],
            claim_events=subgroups.events[[*claims]][None],
        )

    def beside(self, members: Sequence[int], more: Sequence[int] = ()) -> Array:
        """Return the z of the claims in the strata of members; ``more`` may be members next."""
        if not set(members) <= set(self._strata.of):
            self._strata = self._counted(tuple(dict.fromkeys((*members, *more))))
        return self._strata.stratified(members)

    def _counted(self, of: tuple[int, ...]) -> _Strata:
        """Count the rows, and those of each claim, by who is in some of the claims."""
        found: dict[int, Array] = {}
        for part in self._searched.parts():
            held = part.outcomes >= COUNTED
            codes = [each[held] for each in part.codes]
            events = part.outcomes[held] - COUNTED
            cases = None if part.cases is None else part.cases[held]
            patterns, strata = np.unique(
                self._patterns(codes, of, len(events)), return_inverse=True
            )
            strata = 2 * strata.ravel() + events
            counts = np.zeros((2 * len(patterns), 1 + self._claims))
            counts[:, 0] = np.bincount(strata, cases, len(counts))
            for features, places in self._places.items():
                place = places[combined([codes[f] for f in features], self._sizes, features)]
                inside = np.flatnonzero(place)
                at, inverse = np.unique(place[inside], return_inverse=True)
                keys = strata[inside] * len(at) + inverse.ravel()
                weights = None if cases is None else cases[inside]
                counts[:, at] = np.bincount(keys, weights, len(counts) * len(at)).reshape(
                    len(counts), len(at)
                )
            for i, pattern in enumerate(patterns.tolist()):
                found[pattern] = found.get(pattern, 0.0) + counts[2 * i : 2 * i + 2]
        patterns = np.array(sorted(found), dtype=np.int64)
        every = np.stack([np.zeros((2, 1 + self._claims)), *(found[p] for p in patterns.tolist())])
        sums = every[1:].sum(axis=1)
        return _Strata(
            of=of,
            inside=(patterns[:, None] >> np.arange(len(of)) & 1).astype(bool),
            n=sums[:, 0],
            events=every[1:, 1, 0],
            claim_n=sums[:, 1:],
            claim_events=every[1:, 1, 1:],
        )

    def _patterns(
        self, codes: Sequence[NDArray[np.int64]], of: Sequence[int], rows: int
    ) -> NDArray[np.int64]:
        """Return for every row one bit for each of some claims that it is in."""
        found = np.zeros(rows, dtype=np.int64)
        for bit, claim in enumerate(of):
            inside = np.ones(rows, dtype=bool)
            for feature, value in self._conditions[claim].items():
                inside &= codes[feature] == value
            found |= inside.astype(np.int64) << bit
        return found


def explain_claims(
    searched: SearchedRows, subgroups: Subgroups, claims: Sequence[int], c: float
) -> NDArray[np.int64]:
    """Return for every claim the member of the summary that accounts for most of its evidence.

    In the strata that members make no other claim exceeds the critical value. In turn the claim
    with the most evidence beside them is taken, or in its place its most general ancestor among the
    claims that brings its evidence below the critical value. Members that the others account for
    are removed again. No claim is added: every member is one. Members are explained by -1, as are
    claims that exceed the critical value nevertheless.

    Parameters
    ----------
    searched : the rows, with the worse outcome as their event.
    subgroups, claims : all subgroups, and the positions of those that are worse.
    c : the critical value.
    """
    if not claims:
        return np.zeros(0, dtype=np.int64)
    evidence = _Evidence(searched, subgroups, claims)
    conditions = [frozenset(subgroups.conditions(at).items()) for at in claims]
    members: list[int] = []
    z = evidence.beside(members)
    while z.max() > c and len(members) < _MOST_MEMBERS:
        members.append(_general(int(np.argmax(z)), members, evidence, conditions, c))
        z = evidence.beside(members)
    unexplained = set(np.flatnonzero(z > c).tolist())
    for member in list(members):
        others = [each for each in members if each != member]
        if others and set(np.flatnonzero(evidence.beside(others) > c).tolist()) <= unexplained:
            members = others
    members = members or [int(np.argmax(evidence.beside([])))]
    beside = np.stack([evidence.beside([member]) for member in members])
    explained_by: NDArray[np.int64] = np.array(members)[np.argmin(beside, axis=0)]
    explained_by[[*members, *unexplained]] = -1
    return explained_by


def _general(
    claim: int,
    members: Sequence[int],
    evidence: _Evidence,
    conditions: Sequence[frozenset[tuple[int, int]]],
    c: float,
) -> int:
    """Return the most general claim that contains a claim and accounts for it, or the claim."""
    ancestors = [i for i, each in enumerate(conditions) if each < conditions[claim]]
    ancestors = sorted(set(ancestors) - set(members), key=lambda i: (len(conditions[i]), i))
    for at, ancestor in enumerate(ancestors):
        next_ones = [claim, *ancestors[at : at + _MOST_AHEAD]]
        if evidence.beside([*members, ancestor], next_ones)[claim] <= c:
            return ancestor
    return claim
