"""The summary of claims: the few subgroups that account for all others that are worse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairgauge.catalogue.cells import Array
from fairgauge.measure._subgroup_counts import Subgroups, combined
from fairgauge.resolve.searched_features import COUNTED, EVENT, OutcomeRows, SearchedRows
from fairgauge.stats.arrays import Index, Mask, quiet
from fairgauge.stats.significance import normal_quantile

MOST_MEMBERS = 30
"""Claims that a summary takes at most."""
MOST_AHEAD = 6
"""Claims that may be members next, whose counts are taken with those of members."""
_CORRECTION = 0.5
_SIGNIFICANT = normal_quantile(0.95)
_NARROWED = 0.01
"""The share of claims that are worse alike in all their rows, and of which a part is named."""


class ClaimCounts:
    """Counts of all rows, and of those in each claim, by who is in some of the claims.

    The rows are read again for claims that were not asked for together before.
    """

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
        # all rows are one stratum of no claims; what is summed is in rows
        every = [(searched.n, subgroups.n), (searched.events, subgroups.events)]
        self._of: tuple[int, ...] = ()
        self._inside = np.zeros((1, 0), dtype=bool)
        self._all = np.array([[total, *of[[*claims]]] for total, of in every])
        self._sums = self._all[:, None]

    def by(self, members: Sequence[int], more: Sequence[int] = ()) -> tuple[Mask, Array]:
        """Return the strata that some claims make, and the sums in them.

        Parameters
        ----------
        members : the claims.
        more : claims that may be asked for next.

        Returns
        -------
        inside : array of shape (strata, members): whether its rows are in each.
        sums : array of shape (2, strata, 1 + claims): rows and events of all rows, and of those in
            each claim.
        """
        if not set(members) <= set(self._of):
            self._count(tuple(dict.fromkeys((*members, *more))))
        among = self._inside[:, [self._of.index(each) for each in members]]
        inside, merged = np.unique(among, axis=0, return_inverse=True)
        merged = merged.ravel()
        sums = [self._sums[:, merged == i].sum(axis=1) for i in range(len(inside))]
        return inside, np.stack(sums, axis=1)

    def _count(self, of: tuple[int, ...]) -> None:
        found: dict[int, Array] = {}
        for part in self._searched.parts():
            patterns = self._patterns(part, of)
            held = np.flatnonzero(patterns)  # often few: the others are all rows less these
            codes = [code[held] for code in part.codes]
            cases = np.ones(len(held)) if part.cases is None else part.cases[held]
            summed = [cases, cases * (part.outcomes[held] == EVENT)]
            here, strata = np.unique(patterns[held], return_inverse=True)
            sums = self._sums_of(codes, summed, strata.ravel(), len(here))
            for pattern, each in zip(here.tolist(), sums.swapaxes(0, 1), strict=True):
                found[pattern] = found.get(pattern, 0.0) + each
        rest = self._all - sum(found.values())
        found[0] = np.where(rest[0] > 0, rest, 0.0)
        patterns = np.array(sorted(found), dtype=np.int64)
        self._of = of
        self._inside = (patterns[:, None] >> np.arange(len(of)) & 1).astype(bool)
        self._sums = np.stack([found[pattern] for pattern in patterns.tolist()], axis=1)

    def _sums_of(
        self,
        codes: Sequence[NDArray[np.integer[Any]]],
        summed: Sequence[Array],
        strata: NDArray[np.intp],
        number: int,
    ) -> Array:
        sums = np.zeros((len(summed), number, 1 + self._claims))
        for sum_of, each in zip(sums, summed, strict=True):
            sum_of[:, 0] = np.bincount(strata, each, number)
        for features, places in self._places.items():
            place = places[combined([codes[f] for f in features], self._sizes, features)]
            inside = np.flatnonzero(place)
            keys = strata[inside] * (1 + self._claims) + place[inside]
            for sum_of, each in zip(sums, summed, strict=True):
                sum_of += np.bincount(keys, each[inside], sum_of.size).reshape(sum_of.shape)
        return sums

    def _patterns(self, part: OutcomeRows, of: Sequence[int]) -> Index:
        counted = part.outcomes >= COUNTED
        found = np.zeros(len(counted), dtype=np.int64)
        for bit, claim in enumerate(of):
            values = self._conditions[claim].items()
            inside = np.logical_and.reduce([counted, *(part.codes[f] == v for f, v in values)])
            found[inside] |= 1 << bit
        return found


def _stratified(counts: ClaimCounts, members: Sequence[int], more: Sequence[int] = ()) -> Array:
    n, x = counts.by(members, more)[1]
    return _mantel_haenszel(n[:, 1:], x[:, 1:], n[:, :1], x[:, :1])


@quiet
def _mantel_haenszel(nc: Array, xc: Array, n: Array, x: Array) -> Array:
    variance = np.nansum(nc * (n - nc) * x * (n - x) / (n * n * (n - 1)), axis=0)
    excess = np.nansum(xc - nc * x / n, axis=0) - _CORRECTION
    return np.where(variance > 0, excess / np.sqrt(variance), 0.0)


def explain_claims(
    searched: SearchedRows, subgroups: Subgroups, claims: Sequence[int], c: float
) -> Index:
    """Return for every claim the member of the summary that accounts for most of its evidence.

    In the strata that members make no other claim exceeds the critical value. In turn the claim
    with the most evidence beside them is taken, or in its place its most general ancestor among the
    claims that brings its evidence below the critical value. Members that are worse through one
    claim inside them alone give place to it, until none does. Members that the others account for
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
    counts = ClaimCounts(searched, subgroups, claims)
    conditions = [frozenset(subgroups.conditions(at).items()) for at in claims]
    members: list[int] = []
    while True:
        z = _stratified(counts, members)
        while z.max() > c and len(members) < MOST_MEMBERS:
            members.append(_general(int(np.argmax(z)), members, counts, conditions, c))
            z = _stratified(counts, members)
        narrowed = list(members)
        for k, member in enumerate(members):
            others = [each for each in narrowed if each != member]
            narrowed[k] = _narrowed(member, others, counts, conditions)
        if narrowed == members:
            break
        members = narrowed
    unexplained = set(np.flatnonzero(z > c).tolist())
    for member in list(members):
        others = [each for each in members if each != member]
        if others and set(np.flatnonzero(_stratified(counts, others) > c).tolist()) <= unexplained:
            members = others
    members = members or [int(np.argmax(_stratified(counts, [])))]
    beside = np.stack([_stratified(counts, [member]) for member in members])
    explained_by: Index = np.array(members)[np.argmin(beside, axis=0)]
    explained_by[[*members, *unexplained]] = -1
    return explained_by


def _general(
    claim: int,
    members: Sequence[int],
    counts: ClaimCounts,
    conditions: Sequence[frozenset[tuple[int, int]]],
    c: float,
) -> int:
    ancestors = [i for i, each in enumerate(conditions) if each < conditions[claim]]
    ancestors = sorted(set(ancestors) - set(members), key=lambda i: (len(conditions[i]), i))
    for at, ancestor in enumerate(ancestors):
        next_ones = [claim, *ancestors[at : at + MOST_AHEAD]]
        if _stratified(counts, [*members, ancestor], next_ones)[claim] <= c:
            return ancestor
    return claim


def _narrowed(
    claim: int,
    members: Sequence[int],
    counts: ClaimCounts,
    conditions: Sequence[frozenset[tuple[int, int]]],
) -> int:
    """Return the claim, or one inside it without whose rows it is not shown to be worse.

    A claim may be worse through the rows of one inside it alone. Beside members the two cannot be
    distinguished, if the critical value of all subgroups is high, or if the one inside is where
    the claim overlaps a member, which leaves no rows to compare it with. So it is taken where the
    other rows of the claim are not significantly worse than those outside, and it is by
    significantly more than these, at a level for all that are compared so. Of several it is the
    most general.
    """
    wider = conditions[claim]
    inside = [i for i, each in enumerate(conditions) if wider < each and i not in members]
    if not inside:
        return claim
    sums = counts.by(members, [claim])[1]
    every, own, parts = sums[..., :1], sums[..., [1 + claim]], sums[..., [1 + i for i in inside]]
    rest = _mantel_haenszel(*(own - parts), *(every - parts))
    possible = np.flatnonzero(rest <= _SIGNIFICANT)
    part = parts[..., possible]
    evidence = _contrast(part, own - part, every - own).tolist()
    enough = normal_quantile(1 - _NARROWED / max(len(possible), 1))
    compared = zip([inside[k] for k in possible.tolist()], evidence, strict=True)
    shown = [(len(conditions[i]), -z, i) for i, z in compared if z > enough]
    return _narrowed(min(shown)[-1], members, counts, conditions) if shown else claim


@quiet
def _contrast(one: Array, other: Array, outside: Array) -> Array:
    """Return the z of the excess of some rows over that of others, both over those outside.

    All are arrays of rows and events by stratum. An excess is a difference of rates (Mantel and
    Haenszel); the variance is that of one excess in both, in every stratum.
    """
    both = one + other
    base = outside[1] / outside[0]
    shares, excess = [], []
    for n, x in (one, other, both):
        weights = n * outside[0] / (n + outside[0])
        shares.append(weights / weights.sum(axis=0))
        excess.append(np.nansum(shares[-1] * (x / n - base), axis=0))
    rate = np.clip(base + excess[2], 0, 1)
    variances = [
        rate * (1 - rate) * shares[0] ** 2 / one[0],
        rate * (1 - rate) * shares[1] ** 2 / other[0],
        base * (1 - base) * (shares[0] - shares[1]) ** 2 / outside[0],
    ]
    variance = np.nansum(variances, axis=(0, 1))
    correction = _CORRECTION * (1 / one[0].sum(axis=0) + 1 / other[0].sum(axis=0))
    return np.asarray((excess[0] - excess[1] - correction) / np.sqrt(variance))
