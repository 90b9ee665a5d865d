"""Subgroups in whose parts of the score the mean score is not the share of positive labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairgauge.catalogue.cells import Array
from fairgauge.enums import Worse
from fairgauge.measure._claims_summary import MOST_AHEAD, MOST_MEMBERS, ClaimCounts
from fairgauge.measure._subgroup_counts import count_subgroups
from fairgauge.measure.find_subgroups import (
    MOST_UNDECIDED,
    NOT_WORSE,
    POWER,
    SHARES,
    STATUS,
    UNDECIDED,
    WORSE,
    conditions_of,
    edge_sizes,
    funnel_marks,
    name_of_conditions,
    rows_needed,
)
from fairgauge.resolve.searched_features import SearchedRows
from fairgauge.results.subgroup_search import (
    Detectable,
    Funnel,
    FunnelPoint,
    Largest,
    OverallRate,
    SearchQuestion,
    Subgroup,
)
from fairgauge.stats.arrays import Mask
from fairgauge.stats.signed_roots import (
    BinomialTails,
    binomial_root,
    detectable_excess,
    fewest_above,
    lower_rate,
)

Positions = NDArray[np.intp]

_LARGE = 0.1


def find_miscalibration(searched: SearchedRows, question: SearchQuestion) -> dict[str, Any]:
    """Search all subgroups of rows by score, and return the fields of a `SubgroupSearch`.

    The last feature of the question is the score.

    Raises
    ------
    SpecError
        The features make too many subgroups.
    """
    found = _TestedScores(searched, question)
    rows, n, events = (int(each) for each in (searched.rows, searched.n, searched.events))
    of_parts = (
        {} if searched.counted is None else {"fingerprint": found.every.digest(searched.counted)}
    )
    return of_parts | {
        "overall": OverallRate(rows=rows, n=n, events=events, rate=None),
        "worse": found.worse(),
        "undecided": found.undecided(),
        "examined": len(found.n),
        "undecided_count": int((found.status == UNDECIDED).sum()),
        "not_worse_count": int((found.status == NOT_WORSE).sum()),
        "too_few": 0,
        "duplicates": found.every.duplicates,
        "critical_value": found.c_high,
        "other_critical_value": found.c_low,
        "largest": found.largest(),
        "detectable": tuple(found.detectable()),
        "funnel": Funnel(funnel_marks(found.n, found.gap, found.status), tuple(found.edge())),
    }


@dataclass(frozen=True, slots=True, eq=False)
class _Roots:
    """The evidence that scores are too high, and that they are too low, by more than tolerated."""

    high: Array
    low: Array


class _TestedScores:
    """All subgroups by score; a gap is the mean score less the share of positive labels."""

    def __init__(self, searched: SearchedRows, question: SearchQuestion) -> None:
        self.searched, self.question = searched, question
        self.every = count_subgroups(searched, question.depth, question.min_rows)
        assert self.every.scores is not None
        assert searched.scores is not None
        self.total, self.mean_of_all = searched.n, searched.scores / max(searched.n, 1)
        self.n, self.x = self.every.n, self.every.events
        self.mean = np.clip(self.every.scores / self.n, 0, 1)  # sums of scores are rounded
        self.gap = self.mean - self.x / self.n
        self.roots = self._roots(self.n, self.x, self.mean)
        sides = 2 if question.worse is Worse.EITHER else 1
        self.sides = sides
        self.tails_high = BinomialTails(self.n, 1 - self.mean)
        self.tails_low = BinomialTails(self.n, self.mean)
        self.c_high = self.tails_high.critical_value(question.alpha / sides)
        self.c_low = self.tails_low.critical_value(question.alpha / sides)
        self.low, self.high = self._ends()
        too_high, too_low = self._beyond(self.roots)
        self.status = np.where(
            too_high | too_low, WORSE, np.where(self._within(), NOT_WORSE, UNDECIDED)
        )

    def _roots(self, n: Array, x: Array, mean: Array) -> _Roots:
        by = self.question.tolerance
        return _Roots(
            high=-binomial_root(x, n, np.clip(mean - by, 0, 1)),
            low=binomial_root(x, n, np.clip(mean + by, 0, 1)),
        )

    def _beyond(self, roots: _Roots) -> tuple[Mask, Mask]:
        """Return where scores are too high, and where they are too low, of the sides asked for."""
        side = self.question.worse
        too_high = (roots.high > self.c_high) & (side is not Worse.LOWER)
        return too_high, (roots.low > self.c_low) & (side is not Worse.HIGHER)

    def _ends(self) -> tuple[Array, Array]:
        most = 1 - lower_rate(self.n - self.x, self.n, self.c_high)
        least = lower_rate(self.x, self.n, self.c_low)
        by = self.question.tolerance
        above, below = self.roots.high > self.c_high, self.roots.low > self.c_low
        low, high = self.mean - most, self.mean - least
        low = np.where(above, np.maximum(low, np.nextafter(by, 1)), np.minimum(low, by))
        high = np.where(below, np.minimum(high, -np.nextafter(by, 1)), np.maximum(high, -by))
        return low, high

    def _within(self) -> Mask:
        """Return where the whole interval is inside what is tolerated, on the sides asked for."""
        by, side = self.question.tolerance, self.question.worse
        inside_above = (self.high < by) | (side is Worse.LOWER)
        return np.asarray(inside_above & ((self.low > -by) | (side is Worse.HIGHER)))

    def worse(self) -> tuple[Subgroup, ...]:
        """Return the subgroups that are miscalibrated, by what is guaranteed of them."""
        at = np.flatnonzero(self.status == WORSE)
        at = at[np.argsort(-self._guaranteed(at), kind="stable")]
        listed = self._described(at)
        explained = self._explained_by(at)
        return tuple(
            each if by is None else replace(each, explained_by=listed[by].name)
            for each, by in zip(listed, explained, strict=True)
        )

    def _guaranteed(self, at: Positions) -> Array:
        return np.maximum(self.low[at], -self.high[at])

    def _explained_by(self, claims: Positions) -> list[int | None]:
        """Return of each claim the one without whose rows it has the least evidence.

        In turn the claim with the most evidence is taken, and its rows are removed from all, until
        none exceeds the critical value. None of claims that are taken, and where some remain.
        """
        if not len(claims):
            return []
        counts = ClaimCounts(self.searched, self.every, claims.tolist())
        members: list[int] = []
        excess = self._excess(counts, members)
        while excess.max() > 0 and len(members) < MOST_MEMBERS:
            ahead = np.argsort(-excess, kind="stable")[:MOST_AHEAD].tolist()
            members.append(ahead[0])
            excess = self._excess(counts, members, ahead)
        beside = np.stack([self._excess(counts, [member]) for member in members])
        by: list[int | None] = [members[i] for i in np.argmin(beside, axis=0).tolist()]
        for i in (*members, *np.flatnonzero(excess > 0).tolist()):
            by[i] = None
        return by

    def _excess(
        self, counts: ClaimCounts, members: Sequence[int], ahead: Sequence[int] = ()
    ) -> Array:
        """Return by how much the evidence of claims exceeds the critical value outside members."""
        inside, sums = counts.by(members, ahead)
        n, x, s = sums[:, ~inside.any(axis=1), 1:].sum(axis=1)
        size = np.maximum(n, 1)
        roots = self._roots(size, x, np.clip(s / size, 0, 1))
        side = self.question.worse
        high = roots.high - self.c_high if side is not Worse.LOWER else np.full(len(n), -np.inf)
        low = roots.low - self.c_low if side is not Worse.HIGHER else np.full(len(n), -np.inf)
        return np.where(n > 0, np.maximum(high, low), -np.inf)

    def undecided(self) -> tuple[Subgroup, ...]:
        """Return the undecided subgroups with the largest gaps on the sides asked for."""
        at = np.flatnonzero(self.status == UNDECIDED)
        return tuple(
            self._described(at[np.argsort(-self._sided(at), kind="stable")][:MOST_UNDECIDED])
        )

    def _sided(self, at: Positions) -> Array:
        side, gap = self.question.worse, self.gap[at]
        return np.abs(gap) if side is Worse.EITHER else gap if side is Worse.HIGHER else -gap

    def largest(self) -> Largest:
        """Return what holds for all subgroups at once."""
        worse = np.flatnonzero(self.status == WORSE)
        guaranteed = self._guaranteed(worse)
        best = int(worse[np.argmax(guaranteed)]) if len(worse) else None
        named = None if best is None else conditions_of(self.every, best, self.question)
        side = self.question.worse
        ends = {Worse.HIGHER: self.high, Worse.LOWER: -self.low}
        beyond = ends.get(side, np.maximum(self.high, -self.low))
        large = beyond[self.n >= _LARGE * self.total]
        return Largest(
            guaranteed=None if named is None else name_of_conditions(named),
            by_at_least=None if best is None else float(guaranteed.max()),
            by_at_most=float(beyond.max()) if len(beyond) else None,
            by_at_most_of_large=float(large.max()) if len(large) else None,
        )

    def detectable(self) -> Iterator[Detectable]:
        """Yield what would have been found at the mean of all scores, on every side asked for."""
        if not len(self.n):
            return
        mean = self.mean_of_all
        side, by = self.question.worse, self.question.tolerance
        rates = {Worse.HIGHER: [(1 - mean, self.c_high)], Worse.LOWER: [(mean, self.c_low)]}
        sides = rates.get(side) or [each for pair in rates.values() for each in pair]
        for share in SHARES:
            n = int(share * self.total)
            if n < self.question.min_rows:
                continue
            gaps = [detectable_excess(n, rate, c, by, POWER) for rate, c in sides]
            known = [gap for gap in gaps if gap is not None]
            found = max(known) if len(known) == len(gaps) else None
            yield Detectable(share=share, n=n, difference=found)

    def edge(self) -> Iterator[FunnelPoint]:
        """Yield the smallest gap that is shown on each side, where scores have the mean of all."""
        if not len(self.n):
            return
        mean = self.mean_of_all
        by, side, sizes = self.question.tolerance, self.question.worse, edge_sizes(self.n)
        for sign, c, not_asked in ((1, self.c_high, Worse.LOWER), (-1, self.c_low, Worse.HIGHER)):
            if side is not_asked:
                continue
            rate = 1 - mean if sign > 0 else mean
            fewest = fewest_above(sizes, min(rate + by, 1.0), c)
            for n, events in zip(sizes.tolist(), fewest.tolist(), strict=True):
                if events <= n:
                    yield FunnelPoint(int(n), sign * (events / n - rate))

    def _described(self, at: Positions) -> list[Subgroup]:
        high, low = self.roots.high[at], self.roots.low[at]
        too_high = high >= low
        if self.question.worse is not Worse.EITHER:
            too_high = np.full(len(at), self.question.worse is Worse.HIGHER)
        evidence = np.where(too_high, high, low)
        p_high = self.tails_high.adjusted(high, self.c_high)
        p_low = self.tails_low.adjusted(low, self.c_low)
        p_adjusted = np.minimum(self.sides * np.where(too_high, p_high, p_low), 1.0)
        c = np.where(too_high, self.c_high, self.c_low)
        return [
            self._subgroup(i, float(evidence[k]), float(p_adjusted[k]), float(c[k]))
            for k, i in enumerate(at.tolist())
        ]

    def _subgroup(self, i: int, root: float, p_adjusted: float, c: float) -> Subgroup:
        status = STATUS[int(self.status[i])]
        conditions = conditions_of(self.every, i, self.question)
        n, mean, share = float(self.n[i]), float(self.mean[i]), float(self.x[i] / self.n[i])
        undecided = self.status[i] == UNDECIDED
        return Subgroup(
            name=name_of_conditions(conditions),
            conditions=conditions,
            rows=int(n),
            n=int(n),
            events=int(self.x[i]),
            rate=mean,
            reference_rate=share,
            difference=mean - share,
            low=float(self.low[i]),
            high=float(self.high[i]),
            evidence=root,
            p_adjusted=p_adjusted,
            status=status,
            rows_needed=rows_needed(self.total, c, root) if undecided else None,
        )
