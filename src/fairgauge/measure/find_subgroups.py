"""Subgroups in which a rate is worse: counted, tested together, and summarised."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairgauge.catalogue.cells import Array
from fairgauge.enums import SubgroupStatus, Worse
from fairgauge.measure._claims_summary import explain_claims
from fairgauge.measure._subgroup_counts import Subgroups, count_subgroups
from fairgauge.resolve.searched_features import SearchedRows
from fairgauge.results.subgroup_search import (
    Detectable,
    Largest,
    OverallRate,
    SearchQuestion,
    Subgroup,
)
from fairgauge.stats.arrays import Mask
from fairgauge.stats.signed_roots import (
    SimultaneousTails,
    both_ends,
    detectable_gap,
    largest_upper_end,
    signed_root,
)
from fairgauge.stats.significance import normal_quantile

_FEWEST_COUNTED = 20
"""Rows that the rate is a share of, on either side: a smaller subgroup is not tested."""
MOST_UNDECIDED = 1_000
POWER = 0.8
SHARES = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005)
_LARGE = 0.1
_MOST_ROWS = 1e12


def find_subgroups(searched: SearchedRows, question: SearchQuestion) -> dict[str, Any]:
    """Search all subgroups of rows, and return the fields of a `SubgroupSearch`.

    Raises
    ------
    SpecError
        The features make too many subgroups.
    """
    # on the side that is worse, so that a worse rate is always the higher one
    sided = searched.turned() if question.worse is Worse.LOWER else searched
    every = count_subgroups(sided, question.depth, question.min_rows)
    rows, n, worse = sided.rows, sided.n, sided.events
    events = n - worse if question.worse is Worse.LOWER else worse
    overall = OverallRate(
        rows=int(rows), n=int(n), events=int(events), rate=events / n if n else None
    )
    tested = (every.n >= _FEWEST_COUNTED) & (n - every.n >= _FEWEST_COUNTED)
    found = _Tested(every, np.flatnonzero(tested), sided, question)
    of_parts = {} if sided.counted is None else {"fingerprint": every.digest(sided.counted)}
    return of_parts | {
        "overall": overall,
        "worse": found.worse(),
        "undecided": found.undecided(),
        "examined": len(found.at),
        "undecided_count": int((found.status == UNDECIDED).sum()),
        "not_worse_count": int((found.status == NOT_WORSE).sum()),
        "too_few": int((~tested).sum()),
        "duplicates": every.duplicates,
        "critical_value": found.c,
        "other_critical_value": found.other_c,
        "largest": found.largest(),
        "detectable": tuple(found.detectable()),
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
        self.c, self.other_c = self._critical_values()
        self.status = np.where(
            self.roots > self.c,
            WORSE,
            np.where(self.roots < -self.other_c, NOT_WORSE, UNDECIDED),
        )
        self.listed = self._listed()
        self.low, self.high = self._ends()
        self.p_adjusted = np.full(len(at), np.nan)
        if len(self.listed):
            self.p_adjusted[self.listed] = self.tails.adjusted(self.roots[self.listed], self.c)

    def _critical_values(self) -> tuple[float, float]:
        alpha = self.question.alpha
        other = SimultaneousTails(self.n, self.total - self.events, self.total)
        return self.tails.critical_value(alpha), other.critical_value(alpha)

    def worse(self) -> tuple[Subgroup, ...]:
        """Return the subgroups that are worse, by what is guaranteed of them."""
        at = self.listed[self.status[self.listed] == WORSE]
        at = at[np.argsort(-self.low[at], kind="stable")]
        explained_by = explain_claims(self.searched, self.every, self.at[at].tolist(), self.c)
        listed = self._described(at)
        return tuple(
            each if by < 0 else replace(each, explained_by=listed[by].name)
            for each, by in zip(listed, explained_by.tolist(), strict=True)
        )

    def undecided(self) -> tuple[Subgroup, ...]:
        """Return the undecided subgroups with the largest estimates."""
        return tuple(self._described(self.listed[self.status[self.listed] == UNDECIDED]))

    def largest(self) -> Largest:
        """Return what holds for all subgroups at once."""
        worse = self.listed[self.status[self.listed] == WORSE]
        lows = self.low[worse]
        best = int(worse[np.argmax(lows)]) if len(worse) else None
        large = self.n >= _LARGE * self.total
        return Largest(
            guaranteed=None if best is None else self._name(best)[0],
            by_at_least=None if best is None else float(lows.max()),
            by_at_most=self._largest_upper(np.ones(len(self.at), dtype=bool)),
            by_at_most_of_large=self._largest_upper(large),
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

    def _listed(self) -> NDArray[np.intp]:
        undecided = np.flatnonzero(self.status == UNDECIDED)
        differences = (self.x / self.n - self.others_x / self.others_n)[undecided]
        first = undecided[np.argsort(-differences, kind="stable")][:MOST_UNDECIDED]
        return np.concatenate([np.flatnonzero(self.status == WORSE), first])

    def _ends(self) -> tuple[Array, Array]:
        """Return both ends of what is listed, on the sides that the statuses are; NaN elsewhere."""
        at, edge = self.listed, self.question.tolerance
        claimed = self.status[at] == WORSE
        low, high = np.full((2, len(self.at)), np.nan)
        if len(at):
            low[at], high[at] = both_ends(*self._counts(at), self.c, self.other_c)
        low[at] = np.where(
            claimed, np.maximum(low[at], np.nextafter(edge, 1)), np.minimum(low[at], edge)
        )
        high[at] = np.maximum(high[at], edge)
        return low, high

    def _largest_upper(self, kept: Mask) -> float | None:
        at = np.flatnonzero(kept)
        if not len(at):
            return None
        return largest_upper_end(*self._counts(at), self.other_c)

    def _counts(self, at: NDArray[np.intp]) -> tuple[Array, Array, Array, Array]:
        return self.x[at], self.n[at], self.others_x[at], self.others_n[at]

    def _described(self, at: NDArray[np.intp]) -> list[Subgroup]:
        if not len(at):
            return []
        low, high = self.low[at].tolist(), self.high[at].tolist()
        return [self._subgroup(*each) for each in zip(at.tolist(), low, high, strict=True)]

    def _subgroup(self, i: int, low: float, high: float) -> Subgroup:
        n, x, root = float(self.n[i]), float(self.x[i]), float(self.roots[i])
        if self.question.worse is Worse.LOWER:
            low, high, x, all_x = -high, -low, n - x, self.total - self.events
        else:
            all_x = self.events
        reference = (all_x - x) / (self.total - n)
        name, conditions = self._name(i)
        status = STATUS[int(self.status[i])]
        undecided = status is SubgroupStatus.UNDECIDED
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
            rows_needed=rows_needed(self.rows, self.c, root) if undecided else None,
        )

    def _name(self, i: int) -> tuple[str, dict[str, str]]:
        conditions = conditions_of(self.every, int(self.at[i]), self.question)
        return name_of_conditions(conditions), conditions


def conditions_of(every: Subgroups, at: int, question: SearchQuestion) -> dict[str, str]:
    """Return the conditions of a subgroup by the names of their features, in their order."""
    features, values = question.features, every.conditions(at).items()
    return {features[f].name: features[f].values[value] for f, value in values}


def rows_needed(rows: float, c: float, root: float) -> int | None:
    """Return the rows at which a root, which grows as their square root, is probably found."""
    if root <= 0:
        return None
    needed = rows * ((c + normal_quantile(POWER)) / root) ** 2
    return math.ceil(needed) if needed < _MOST_ROWS else None


def name_of_conditions(conditions: Mapping[str, str]) -> str:
    """Return conditions as one text, which no other conditions have."""
    parts = (
        f"{_unclear(name, ' & ', ' = ')} = {_unclear(value, ' & ')}"
        for name, value in conditions.items()
    )
    return " & ".join(parts)


def _unclear(text: str, *separators: str) -> str:
    if text.startswith('"') or any(each in text for each in separators):
        return json.dumps(text, ensure_ascii=False)
    return text
