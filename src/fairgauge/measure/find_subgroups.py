"""Subgroups in which a rate is worse: counted, tested together, and summarised."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairgauge.catalogue.cells import Array
from fairgauge.enums import SubgroupStatus, Worse
from fairgauge.errors import Problem, SpecError
from fairgauge.resolve.searched_features import COUNTED, EVENT, OUTCOMES, SearchedRows
from fairgauge.results.subgroup_search import (
    Detectable,
    Largest,
    OverallRate,
    SearchQuestion,
    Subgroup,
)
from fairgauge.start.records import dataclass, replace
from fairgauge.stats.arrays import Index, Integers, Mask, quiet
from fairgauge.stats.signed_roots import (
    SimultaneousTails,
    detectable_gap,
    largest_upper_end,
    score_limits,
    signed_root,
)
from fairgauge.stats.significance import normal_quantile

Codes: TypeAlias = Integers

MOST_SUBGROUPS = 10_000_000
# combinations of values of one set of features, which are counted in one array
_MOST_COMBINATIONS = 50_000_000
# the same of all sets that are counted in one reading of the rows
_MOST_TOGETHER = 20_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Subgroups:
    """Subgroups, in the order of their number of conditions and then of the features.

    Of each there is its set of features, its combination of values within the set, as `conditions`
    reads it, and its counts. ``duplicates`` have the same rows as one with fewer conditions;
    ``sizes`` are the numbers of values of the features.
    """

    sets: tuple[tuple[int, ...], ...]
    of_set: Codes
    value: Codes
    rows: Array
    n: Array
    events: Array
    duplicates: int
    sizes: tuple[int, ...]

    def digest(self, counted: str) -> str:
        """Return a fingerprint of all counts; ``counted`` is that of each feature alone."""
        fingerprint = hashlib.sha256(counted.encode())
        for each in (self.of_set, self.value, self.rows, self.n, self.events):
            fingerprint.update(each.astype("<f8").tobytes())
        return f"sha256:{fingerprint.hexdigest()}"

    def conditions(self, at: int) -> dict[int, int]:
        """Return the value of each feature that a subgroup has a condition on."""
        features = self.sets[int(self.of_set[at])]
        values = np.unravel_index(int(self.value[at]), [self.sizes[f] + 1 for f in features])
        return {f: int(v) for f, v in zip(features, values, strict=True)}


def count_subgroups(rows: SearchedRows, depth: int, min_rows: int) -> Subgroups:
    """Count the conjunctions of up to ``depth`` values of different features.

    Those of at least ``min_rows`` rows, with a row outside. A conjunction with as many rows as one
    with a condition less has the same rows, and is counted once.
    """
    sets = _sets(rows.sizes, rows.rows, depth, min_rows)
    duplicates, nothing = 0, np.zeros(0, dtype=np.int64)
    found: list[tuple[Codes, Codes, Array]] = [(nothing, nothing, np.zeros((0, OUTCOMES)))]
    for i, counts in enumerate(_count_feature_sets(rows, sets)):
        rows_held = counts.sum(axis=-1)
        wanted = (rows_held >= max(min_rows, 1)) & (rows_held < rows.rows)
        same = np.zeros(rows_held.shape, dtype=bool)
        for axis in range(rows_held.ndim):
            wanted[(slice(None),) * axis + (-1,)] = False  # no value
        for axis in range(rows_held.ndim if rows_held.ndim > 1 else 0):
            same |= rows_held == rows_held.sum(axis=axis, keepdims=True)
        duplicates += int((wanted & same).sum())
        value = np.flatnonzero(wanted & ~same)
        found.append((np.full(len(value), i), value, counts.reshape(-1, OUTCOMES)[value]))
    of_set, value, counted = map(np.concatenate, zip(*found, strict=True))
    return Subgroups(
        sets=sets,
        of_set=of_set,
        value=value,
        rows=counted.sum(axis=1),
        n=counted[:, COUNTED:].sum(axis=1),
        events=counted[:, EVENT],
        duplicates=duplicates,
        sizes=rows.sizes,
    )


def _count_feature_sets(rows: SearchedRows, sets: Sequence[tuple[int, ...]]) -> Iterator[Array]:
    # rows are read once for as many sets as fit into memory
    together: list[list[tuple[int, ...]]] = []
    cells_together = math.inf
    for features in sets:
        cells = prod(rows.sizes[f] + 1 for f in features)
        cells_together += cells
        if cells_together > _MOST_TOGETHER:
            together.append([])
            cells_together = cells
        together[-1].append(features)
    for each in together:
        counts_of: dict[tuple[int, ...], Array] = {}
        for part in rows.parts():
            for features in each:
                codes = combine_codes([part.codes[f] for f in features], rows.sizes, features)
                shape = [*(rows.sizes[f] + 1 for f in features), OUTCOMES]
                key = codes * OUTCOMES + part.outcomes
                counts = np.bincount(key, part.cases, prod(shape)).reshape(shape)
                counts_of[features] = counts_of.get(features, 0) + counts.astype(np.float64)
        yield from counts_of.values()


def combine_codes(columns: Sequence[Codes], sizes: Sequence[int], features: Sequence[int]) -> Codes:
    """Return the combinations of the values of features, whose columns these are."""
    key = np.zeros(len(columns[0]), dtype=np.intp)
    for f, column in zip(features, columns, strict=True):
        key = key * (sizes[f] + 1) + column
    return key


def _sets(
    sizes: Sequence[int], rows: float, depth: int, min_rows: int
) -> tuple[tuple[int, ...], ...]:
    features = [f for f, size in enumerate(sizes) if size > 0]
    fitting = max(rows // max(min_rows, 1), 1.0)
    depths = range(1, min(depth, len(features)) + 1)
    possible: float = sum(comb(len(features), k) for k in depths)
    if possible <= MOST_SUBGROUPS:
        every = (each for k in depths for each in combinations(features, k))
        possible = sum(min(prod(sizes[f] for f in each), fitting) for each in every)
    if possible > MOST_SUBGROUPS:
        message = (
            f"there may be more than {MOST_SUBGROUPS:,} subgroups; search fewer features, a "
            "smaller depth (--depth) or larger subgroups (--min-rows)"
        )
        raise SpecError(Problem("depth", message))
    sets = tuple(each for k in depths for each in combinations(features, k))
    widest = max((prod(sizes[f] + 1 for f in each) for each in sets), default=1)
    if widest > _MOST_COMBINATIONS:
        message = (
            f"{widest:,} combinations of values of one set of features are too many to count at "
            "once; search a smaller depth (--depth), or features of fewer values"
        )
        raise SpecError(Problem("depth", message))
    return sets


MOST_MEMBERS = 30
"""Claims that a summary takes at most."""
MOST_AHEAD = 6
"""Claims that may be members next, whose counts are taken with those of members."""
# The continuity correction of Mantel and Haenszel (1959), Journal of the National Cancer Institute
# 22, 719-748
_CORRECTION = 0.5


class ClaimCounts:
    """Counts of all rows, and of those in each claim, by who is in some of the claims.

    The rows are read again for claims that were not asked for together before.
    """

    def __init__(self, searched: SearchedRows, subgroups: Subgroups, claims: Sequence[int]) -> None:
        self._searched, self._sizes, self._claims = searched, subgroups.sizes, len(claims)
        self.conditions: list[frozenset[tuple[int, int]]] = []
        self._places: dict[tuple[int, ...], NDArray[np.int32]] = {}
        for i, conditions in enumerate(map(subgroups.conditions, claims)):
            self.conditions.append(frozenset(conditions.items()))
            features = tuple(conditions)
            if features not in self._places:
                cells = math.prod(self._sizes[f] + 1 for f in features)
                self._places[features] = np.zeros(cells, dtype=np.int32)
            values = [np.array([value]) for value in conditions.values()]
            self._places[features][combine_codes(values, self._sizes, features)] = 1 + i
        # all rows are one stratum of no claims; what is summed is in rows
        every = [(searched.n, subgroups.n), (searched.events, subgroups.events)]
        self._of: tuple[int, ...] = ()
        self._inside = np.zeros((1, 0), dtype=bool)
        self._all = np.array([[total, *of[[*claims]]] for total, of in every])
        self._sums = self._all[:, None]

    @quiet
    def evidence(self, members: Sequence[int], more: Sequence[int] = ()) -> Array:
        """Return the evidence of every claim in the strata that members make.

        ``more`` are claims that may be asked for next.
        """
        if not set(members) <= set(self._of):
            self._count(tuple(dict.fromkeys((*members, *more))))
        among = self._inside[:, [self._of.index(each) for each in members]]
        merged = np.unique(among, axis=0, return_inverse=True)[1].ravel()
        every = [self._sums[:, merged == i].sum(axis=1) for i in range(merged.max() + 1)]
        every_n, every_x = np.stack(every, axis=1)
        n, x, nc, xc = every_n[:, :1], every_x[:, :1], every_n[:, 1:], every_x[:, 1:]
        variance = np.nansum(nc * (n - nc) * x * (n - x) / (n * n * (n - 1)), axis=0)
        excess = np.nansum(xc - nc * x / n, axis=0) - _CORRECTION
        return np.where(variance > 0, excess / np.sqrt(variance), 0.0)

    def _count(self, of: tuple[int, ...]) -> None:
        sums_by_pattern: dict[int, Array] = {}
        for part in self._searched.parts():
            counted = part.outcomes >= COUNTED
            patterns = np.zeros(len(counted), dtype=np.int64)
            for bit, claim in enumerate(of):
                within = [counted, *(part.codes[f] == v for f, v in self.conditions[claim])]
                patterns[np.logical_and.reduce(within)] |= 1 << bit
            claimed = np.flatnonzero(patterns)  # often few: the others are all rows less these
            codes = [code[claimed] for code in part.codes]
            cases = np.ones(len(claimed)) if part.cases is None else part.cases[claimed]
            summed = [cases, cases * (part.outcomes[claimed] == EVENT)]
            here, strata = np.unique(patterns[claimed], return_inverse=True)
            strata, width = strata.ravel(), 1 + self._claims
            sums = np.zeros((len(summed), len(here), width))
            for sum_of, each in zip(sums, summed, strict=True):
                sum_of[:, 0] = np.bincount(strata, each, len(here))
            for features, places in self._places.items():
                place = places[combine_codes([codes[f] for f in features], self._sizes, features)]
                inside = np.flatnonzero(place)
                keys = strata[inside] * width + place[inside]
                for sum_of, each in zip(sums, summed, strict=True):
                    sum_of += np.bincount(keys, each[inside], sum_of.size).reshape(sum_of.shape)
            for pattern, each in zip(here.tolist(), sums.swapaxes(0, 1), strict=True):
                sums_by_pattern[pattern] = sums_by_pattern.get(pattern, 0.0) + each
        rest = self._all - sum(sums_by_pattern.values())
        sums_by_pattern[0] = np.where(rest[0] > 0, rest, 0.0)
        patterns = np.array(sorted(sums_by_pattern), dtype=np.int64)
        self._of = of
        self._inside = (patterns[:, None] >> np.arange(len(of)) & 1).astype(bool)
        self._sums = np.stack([sums_by_pattern[pattern] for pattern in patterns.tolist()], axis=1)


def explain_claims(
    searched: SearchedRows, subgroups: Subgroups, claims: Sequence[int], c: float
) -> Index:
    """Return for every claim the member of the summary that accounts for most of its evidence."""
    # In the strata that members make no other claim exceeds the critical value. In turn the claim
    # with the most evidence beside them is taken, or in its place its most general ancestor among
    # the claims that brings its evidence below the critical value. Members that the others account
    # for are removed again. No claim is added: every member is one. Members are explained by -1, as
    # are claims that exceed the critical value ``c`` nevertheless.
    if not claims:
        return np.zeros(0, dtype=np.int64)
    counts = ClaimCounts(searched, subgroups, claims)
    members: list[int] = []
    z = counts.evidence(members)
    while z.max() > c and len(members) < MOST_MEMBERS:
        members.append(_general(int(np.argmax(z)), members, counts, c))
        z = counts.evidence(members)
    unexplained = set(np.flatnonzero(z > c).tolist())
    for member in list(members):
        others = [each for each in members if each != member]
        if others and set(np.flatnonzero(counts.evidence(others) > c).tolist()) <= unexplained:
            members = others
    members = members or [int(np.argmax(counts.evidence([])))]
    beside = np.stack([counts.evidence([member]) for member in members])
    explained_by: Index = np.array(members)[np.argmin(beside, axis=0)]
    explained_by[[*members, *unexplained]] = -1
    return explained_by


def _general(claim: int, members: Sequence[int], counts: ClaimCounts, c: float) -> int:
    conditions = counts.conditions
    ancestors = [i for i, each in enumerate(conditions) if each < conditions[claim]]
    ancestors = sorted(set(ancestors) - set(members), key=lambda i: (len(conditions[i]), i))
    for at, ancestor in enumerate(ancestors):
        next_ones = [claim, *ancestors[at : at + MOST_AHEAD]]
        if counts.evidence([*members, ancestor], next_ones)[claim] <= c:
            return ancestor
    return claim


# rows that the rate is a share of, on either side: a smaller subgroup is not tested
_FEWEST_COUNTED = 20
MOST_UNDECIDED = 1_000
POWER = 0.8
SHARES = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005)
_LARGE = 0.1
_MOST_ROWS = 1e12


def find_subgroups(searched: SearchedRows, question: SearchQuestion) -> dict[str, Any]:
    """Search all subgroups of rows, and return the fields of a `SubgroupSearch`."""
    # on the side that is worse, so that a worse rate is always the higher one
    sided = searched.turned() if question.worse is Worse.LOWER else searched
    every = count_subgroups(sided, question.depth, question.min_rows)
    rows, n, worse = sided.rows, sided.n, sided.events
    events = n - worse if question.worse is Worse.LOWER else worse
    overall = OverallRate(
        rows=int(rows), n=int(n), events=int(events), rate=events / n if n else None
    )
    tested = (every.n >= _FEWEST_COUNTED) & (n - every.n >= _FEWEST_COUNTED)
    subgroups = _Tested(every, np.flatnonzero(tested), sided, question)
    of_parts = {} if sided.counted is None else {"fingerprint": every.digest(sided.counted)}
    return of_parts | {
        "overall": overall,
        "worse": subgroups.worse(),
        "undecided": subgroups.undecided(),
        "examined": len(subgroups.at),
        "undecided_count": int((subgroups.status == UNDECIDED).sum()),
        "not_worse_count": int((subgroups.status == NOT_WORSE).sum()),
        "too_few": int((~tested).sum()),
        "duplicates": every.duplicates,
        "critical_value": subgroups.c,
        "other_critical_value": subgroups.other_c,
        "largest": subgroups.largest(),
        "detectable": tuple(subgroups.detectable()),
    }


WORSE, UNDECIDED, NOT_WORSE = 0, 1, 2
STATUS = (SubgroupStatus.WORSE, SubgroupStatus.UNDECIDED, SubgroupStatus.NOT_WORSE)


class _Tested:
    """The subgroups that are tested, all together; events are those that are worse."""

    def __init__(
        self,
        every: Subgroups,
        at: NDArray[np.intp],
        searched: SearchedRows,
        question: SearchQuestion,
    ) -> None:
        self.every, self.at, self.searched, self.question = every, at, searched, question
        self.rows, self.total, self.events = searched.rows, searched.n, searched.events
        self.n, self.x = every.n[at], every.events[at]
        self.others_n, self.others_x = self.total - self.n, self.events - self.x
        self.roots = signed_root(self.x, self.n, self.others_x, self.others_n, question.tolerance)
        self.tails = SimultaneousTails(self.n, self.events, self.total)
        others = SimultaneousTails(self.n, self.total - self.events, self.total)
        self.c = self.tails.critical_value(question.alpha)
        self.other_c = others.critical_value(question.alpha)
        self.status = np.where(
            self.roots > self.c, WORSE, np.where(self.roots < -self.other_c, NOT_WORSE, UNDECIDED)
        )
        open_ = np.flatnonzero(self.status == UNDECIDED)
        differences = (self.x / self.n - self.others_x / self.others_n)[open_]
        first = open_[np.argsort(-differences, kind="stable")][:MOST_UNDECIDED]
        self.listed = np.concatenate([np.flatnonzero(self.status == WORSE), first])
        # both ends of what is listed, on the sides that the statuses are; NaN elsewhere
        self.low, self.high, self.p_adjusted = np.full((3, len(at)), np.nan)
        if len(self.listed):
            ends = score_limits(*self._counts(self.listed), self.c, self.other_c)
            low, high, edge = *ends, question.tolerance
            claimed = np.maximum(low, np.nextafter(edge, 1)), np.minimum(low, edge)
            self.low[self.listed] = np.where(self.status[self.listed] == WORSE, *claimed)
            self.high[self.listed] = np.maximum(high, edge)
            self.p_adjusted[self.listed] = self.tails.adjusted(self.roots[self.listed], self.c)

    def worse(self) -> tuple[Subgroup, ...]:
        """Return the subgroups that are worse, by what is guaranteed of them."""
        at = self.listed[self.status[self.listed] == WORSE]
        at = at[np.argsort(-self.low[at], kind="stable")]
        explained_by = explain_claims(self.searched, self.every, self.at[at].tolist(), self.c)
        listed = [*map(self._describe, at.tolist())]
        return tuple(
            each if by < 0 else replace(each, explained_by=listed[by].name)
            for each, by in zip(listed, explained_by.tolist(), strict=True)
        )

    def undecided(self) -> tuple[Subgroup, ...]:
        """Return the undecided subgroups with the largest estimates."""
        at = self.listed[self.status[self.listed] == UNDECIDED]
        return tuple(map(self._describe, at.tolist()))

    def largest(self) -> Largest:
        """Return what holds for all subgroups at once."""
        return Largest(
            by_at_most=self._largest_upper(np.ones(len(self.at), dtype=bool)),
            by_at_most_of_large=self._largest_upper(self.n >= _LARGE * self.total),
        )

    def detectable(self) -> Iterator[Detectable]:
        """Yield what would have been found, for groups of several shares."""
        rate = self.events / self.total if self.total else 0.0
        for share in SHARES:
            n = int(share * self.total)
            if n < _FEWEST_COUNTED or not len(self.at):
                continue
            gap = detectable_gap(n, self.total, rate, self.c, self.question.tolerance, POWER)
            yield Detectable(share=share, n=n, difference=gap)

    def _largest_upper(self, kept: Mask) -> float | None:
        at = np.flatnonzero(kept)
        return largest_upper_end(*self._counts(at), self.other_c) if len(at) else None

    def _counts(self, at: NDArray[np.intp]) -> tuple[Array, Array, Array, Array]:
        return self.x[at], self.n[at], self.others_x[at], self.others_n[at]

    def _describe(self, i: int) -> Subgroup:
        low, high = float(self.low[i]), float(self.high[i])
        n, x, root = float(self.n[i]), float(self.x[i]), float(self.roots[i])
        if self.question.worse is Worse.LOWER:
            low, high, x, all_x = -high, -low, n - x, self.total - self.events
        else:
            all_x = self.events
        reference = (all_x - x) / (self.total - n)
        name, conditions = self._name(i)
        status = STATUS[int(self.status[i])]
        # the rows at which a root, which grows as their square root, is probably found
        needed = (
            self.rows * ((self.c + normal_quantile(POWER)) / root) ** 2 if root > 0 else math.inf
        )
        open_ = status is SubgroupStatus.UNDECIDED and needed < _MOST_ROWS
        return Subgroup(
            name=name,
            conditions=conditions,
            rows=int(self.every.rows[self.at[i]]),
            n=int(n),
            events=int(x),
            rate=x / n,
            reference_rate=reference,
            difference=x / n - reference,
            low=low,
            high=high,
            evidence=root,
            p_adjusted=float(self.p_adjusted[i]),
            status=status,
            rows_needed=math.ceil(needed) if open_ else None,
        )

    def _name(self, i: int) -> tuple[str, dict[str, str]]:
        # the conditions as one text, which no other conditions have; and by feature
        features, values = self.question.features, self.every.conditions(int(self.at[i])).items()
        conditions = {features[f].name: features[f].values[value] for f, value in values}
        parts = (
            f"{_unclear(name, ' & ', ' = ')} = {_unclear(value, ' & ')}"
            for name, value in conditions.items()
        )
        return " & ".join(parts), conditions


def _unclear(text: str, *separators: str) -> str:
    if text.startswith('"') or any(each in text for each in separators):
        return json.dumps(text, ensure_ascii=False)
    return text
