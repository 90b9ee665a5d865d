"""The counts of a feature of which only probabilities are known: by cell and outcome."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from fairgauge.catalogue.score_statistics import Mean
from fairgauge.catalogue.statistics import Rate
from fairgauge.cube.cube import CountTable, Cube
from fairgauge.cube.plan import WEIGHTS, Axis, centre_of
from fairgauge.enums import KnownDrawn, Role
from fairgauge.errors import Problem, SpecError, cells, listing, quote, suggest
from fairgauge.question.features import Probabilities
from fairgauge.resolve.outcomes import OutcomeMasks, kinds_of_rows
from fairgauge.scan.chosen_rows import WHOLE, digits_of
from fairgauge.start.records import dataclass
from fairgauge.stats.arrays import Array, Index
from fairgauge.stats.group_mixture import Clusters
from fairgauge.stats.significance import homogeneity
from fairgauge.stats.unrecorded_means import AmountCells
from fairgauge.stats.unrecorded_rates import RateCells
from fairgauge.values import name_of

COUNTED, AMONG, OTHER = range(3)
"""The kinds of rows of a rate: those that it counts, the others among them, and further rows."""
_UNKNOWN = -1
_LACKING, _BESIDE = -1, -2
_HARDLY_CHANCE = 1e-3


@dataclass(frozen=True, eq=False)
class UnrecordedGroups:
    """A feature of which only probabilities are known, in the counts of a cube."""

    asked: Probabilities  # the columns of probabilities, and what else is asked of them
    position: int  # which of these features it is
    cube: Cube  # the counts, weights in units of their mean
    unknown: frozenset[str] = frozenset()  # answers that name no group

    @property
    def feature(self) -> str:
        return self.asked.name

    @property
    def groups(self) -> tuple[str, ...]:
        return self.asked.groups

    @cached_property
    def _table(self) -> CountTable:
        return self._part(self._every, [True])

    @cached_property
    def _every(self) -> CountTable:
        # those of all rows: the cell of those without probabilities is the last
        return self._part(self.cube.marginal(self._axes()), [True, False])

    @cached_property
    def people(self) -> Array:
        """Return how many people have probabilities, and how many have none."""
        return np.array([self._part(self._every, [which]).cases.sum() for which in (True, False)])

    @cached_property
    def answers(self) -> Array:
        """Return how many of these, and of those, are known to be of each group."""
        parts = (self._part(self._every, [which]) for which in (True, False))
        return np.array([self.known_cells(part)[1].sum(axis=0) for part in parts])

    @property
    def _drawn(self) -> bool:
        return bool(self.asked.known_drawn is KnownDrawn.RANDOM and self.answers.any())

    @property
    def unplaced(self) -> int:
        """Return how many people have no probabilities and are of no known group."""
        return round(float(self.people[1] - self.answers[1].sum()))

    @cached_property
    def sampled(self) -> bool:
        """Return whether a random sample is of all people, as far as its answers show."""
        by_chance = homogeneity(self.answers.sum(axis=1), self.people)[1] >= _HARDLY_CHANCE
        return self._drawn and bool(by_chance or not self.people.all())

    @property
    def every_case(self) -> float:
        """Return how many people the estimates are of."""
        return float(self.people.sum()) - (0 if self.sampled else self.unplaced)

    @cached_property
    def rounded(self) -> int:
        """Return in how many rows the probabilities were divided by their sum."""
        return int(self._table.sums[self._moment(len(self.asked.groups))].sum())

    @cached_property
    def cases(self) -> Array:
        """Return the expected number of people in every group, to a tenth."""
        shares = self._sums(self._table).sum(axis=0)
        shares /= shares.sum() or 1.0
        of = self._every if self.sampled else self._table
        p, answers = self.known_cells(of)
        if self._drawn and answers.any():
            off = answers - answers.sum(axis=1, keepdims=True) * p
            shares = np.maximum(shares + off.sum(axis=0) / answers.sum(), 0.0)
        beside = 0.0 if self.sampled else self.answers[1]
        return np.asarray(np.round(shares * of.cases.sum() + beside, 1))

    def check_answers(self) -> None:
        """Refuse answers that are no group, and are not stated to mean an unknown one."""
        self._known_groups(self._every)

    def known_cells(self, of: CountTable | None = None) -> tuple[Array, Array]:
        """Return the mean probabilities of every cell and its known rows by group."""
        table = self._table if of is None else of
        groups = self._known_groups(table)
        _, which = np.unique(self._cell_codes(table), return_inverse=True)
        shape = int(which.max(initial=0)) + 1, len(self.asked.groups)
        some = groups >= 0
        known = _add_up(shape, (which[some], groups[some]), table.cases[some])
        return _means(_add_up(shape, which, self._sums(table))), known

    def cells(self, rate: Rate, outcome: OutcomeMasks, *, everyone: bool = False) -> RateCells:
        """Return the rows of a rate under an outcome: of those with probabilities, or of all rows.

        Rows without them have the mean of the others, which a random sample corrects.
        """
        table = self._every if everyone else self._table
        kind = self._kinds(table, rate, outcome)
        used = np.flatnonzero(kind >= 0)
        codes = self._cell_codes(table)[used]
        kinds = 3 if (kind == OTHER).any() else 2
        kind = kind[used]
        unique, which = np.unique(codes, return_inverse=True)
        weights, sums = self._weights(table)[used], self._sums(table)[used]
        shape, size = (len(unique), kinds), len(self.asked.groups)
        squares = known = None
        if "w2" in table.sums:
            squares = _add_up(shape, (which, kind), table.sums["w2"][used])
        groups = self._known_groups(table)[used]
        if any(axis.role is Role.KNOWN for axis in table.axes):
            some = groups >= 0
            known = _add_up((*shape, size), (which[some], kind[some], groups[some]), weights[some])
        n = _add_up(shape, (which, kind), weights)
        p = _means(_add_up((len(unique), size), which, sums))
        by_kind = _add_up((kinds, size), kind, sums)
        cells = self._cells
        proxies, strata = unique % len(cells), unique // len(cells)
        digits = digits_of([cells[c] for c in proxies.tolist()], size)
        clusters = self._clusters(rate, outcome, unique, everyone=everyone)
        return RateCells(
            p, n, squares, by_kind, known, digits, clusters, *self._counts_unplaced(rate, outcome),
            self._lacking(rate, outcome), strata if self._strata else None,
        )  # fmt: skip

    def amounts(self, mean: Mean, outcome: OutcomeMasks, *, everyone: bool = False) -> AmountCells:
        """Return the rows of an amount: those whose group is probable or known, or all rows."""
        table, groups = self._every, len(self.groups)
        codes, place = self._amount_codes(table, mean, outcome, everyone)
        unique, which = np.unique(codes[codes >= 0], return_inverse=True)
        cell, known = unique // (groups + 1), unique % (groups + 1) - 1
        probable = everyone | (cell < len(self._cells) - 1)
        used = (codes >= 0)[:, None]
        shares = _add_up((len(self._cells), groups), place, self._sums(table) * used)
        p = np.where(probable[:, None], _means(shares)[cell], np.eye(groups)[known])
        letter, weighted = str(mean.of), "w" in table.sums
        names = letter, letter * 2, f"{letter}3"
        powers = [
            [_add_up((len(unique),), which, each[codes >= 0]) for each in (
                table.sums[WEIGHTS[k]] if weighted else table.cases,
                *(table.sums[f"{of}_{WEIGHTS[k]}" if weighted and k else of] for of in names))]
            for k in range(3)
        ]  # fmt: skip
        beside = codes == _BESIDE
        unplaced = [self._weights(table), *(table.sums[name] for name in names[:2])]
        return AmountCells(
            p, probable, digits_of([self._cells[c] for c in cell.tolist()], groups), known,
            np.array(powers), float(table.sums[f"{letter}4"][codes >= 0].sum()), weighted,
            centre_of(self.cube.plan), self._amount_clusters(mean, outcome, unique, everyone),
            np.array([each[beside].sum() for each in unplaced]),
            round(float(table.cases[beside].sum())), self._lacking(mean, outcome)[0],
        )  # fmt: skip

    def _amount_codes(
        self, table: CountTable, mean: Mean, outcome: OutcomeMasks, everyone: bool
    ) -> tuple[Index, Index]:
        # the number of the cell and known group of every entry, below 0 of those that are in none;
        # and of the cell
        last, known = len(self._cells) - 1, self._known_groups(table)
        cell = np.minimum(self._cell_codes(table), last)
        codes = cell * (len(self.groups) + 1) + known + 1
        codes[(cell == last) & (known < 0) & (not everyone)] = _BESIDE
        codes[self._kinds(table, mean, outcome) != COUNTED] = _LACKING
        return codes, cell

    def _amount_clusters(
        self, mean: Mean, outcome: OutcomeMasks, unique: Index, everyone: bool
    ) -> tuple[Index, Index, Array, Array] | None:
        if (by_cluster := self._cluster_table([True, False])) is None:
            return None
        table, cluster = by_cluster
        codes, _ = self._amount_codes(table, mean, outcome, everyone)
        used = (codes >= 0) & (cluster >= 0)
        weights, amounts = self._weights(table)[used], table.sums[str(mean.of)][used]
        return cluster[used], np.searchsorted(unique, codes[used]), weights, amounts

    def _lacking(self, rate: Rate | Mean, outcome: OutcomeMasks) -> tuple[int, float]:
        table = self._every
        lacks = self._kinds(table, rate, outcome) == _UNKNOWN
        for role, mask in (
            (Role.LABEL, outcome.open_labels), (Role.PREDICTION, outcome.open_predictions),
        ):  # fmt: skip
            if mask is not None and str(role) in rate.needs:
                axis = next(axis for axis in table.axes if axis.role is role)
                lacks |= np.append(mask, False)[table.codes[:, table.axes.index(axis)]]
        return round(float(table.cases[lacks].sum())), float(self._weights(table)[lacks].sum())

    def _counts_unplaced(self, rate: Rate, outcome: OutcomeMasks) -> tuple[Array, int]:
        table = self._part(self._every, [False])
        kind, groups = self._kinds(table, rate, outcome), self._known_groups(table)
        shape = (OTHER + 2, len(self.groups) + 1)  # the last ones are of none
        beside = _add_up(shape, (kind, groups), self._weights(table))
        open_ = (groups == _UNKNOWN) & ((kind == COUNTED) | (kind == AMONG))
        return beside[:OTHER], round(float(table.cases[open_].sum()))

    @property
    def _proxy(self) -> Axis:
        axis = self.cube.plan.axis(Role.PROXY, self.asked.cell)
        assert axis is not None
        return axis

    def _axes(self) -> list[Axis]:
        known = self.asked.known and self.cube.plan.axis(Role.KNOWN, self.asked.known)
        return [*self.cube.plan.outcomes, *([known] if known else []), *self._strata, self._proxy]

    @property
    def _strata(self) -> list[Axis]:
        return [axis for axis in self.cube.plan.axes if axis.role is Role.STRATUM]

    def _part(self, table: CountTable, probable: Sequence[bool]) -> CountTable:
        at, last, codes = table.axes.index(self._proxy), len(self._cells), table.codes.copy()
        codes[codes[:, at] < 0, at] = last - 1
        kept = np.isin(codes[:, at] < last - 1, probable)
        sums = {measure: of[kept] for measure, of in table.sums.items()}
        return type(table)(table.axes, codes[kept], sums)

    @property
    def _cells(self) -> list[int]:
        # the number of every cell; the last is of rows without probabilities
        return [*(int(level or 0) for level in self.cube.levels[self._proxy]), 0]

    def _moment(self, i: int) -> str:
        return f"p{self.position}_{i}"

    def _sums(self, table: CountTable) -> Array:
        every = [table.sums[self._moment(i)] for i in range(len(self.asked.groups))]
        return np.stack(every, axis=1) / WHOLE

    def _weights(self, table: CountTable) -> Array:
        return table.sums.get("w", table.cases)

    def _cell_codes(self, table: CountTable) -> Index:
        # rows of which a stratum is not known are a stratum of their own
        stratum = np.zeros(len(table.codes), dtype=np.int64)
        for axis in self._strata:
            own = table.codes[:, table.axes.index(axis)]
            stratum = stratum * (len(self.cube.levels[axis]) + 1) + own + 1
        proxy = table.codes[:, table.axes.index(self._proxy)]
        last = len(self._cells) - 1  # of all strata together: no probabilities, no likelihood
        strata = np.prod([len(self.cube.levels[axis]) + 1 for axis in self._strata], dtype=np.int64)
        return np.where(proxy == last, strata * (last + 1) + last, stratum * (last + 1) + proxy)

    def _known_groups(self, table: CountTable) -> Index:
        axis = next((axis for axis in table.axes if axis.role is Role.KNOWN), None)
        if axis is None:
            return np.full(len(table.codes), _UNKNOWN)
        names = [name_of(level) for level in self.cube.levels[axis]]
        strange = [name for name in names if name not in {*self.asked.groups, *self.unknown}]
        if strange:
            near, groups = suggest(strange[0], self.groups), listing(self.groups)
            raise SpecError(Problem(f"probabilities[{self.position}].known", (
                f"column {quote(axis.column)} holds {cells(strange)}, which is no group.{near} "
                f"Groups: {groups}; leave it empty where the group is not known, or state what "
                "that is called (unknown, --unknown)"
            )))  # fmt: skip
        places = {name: i for i, name in enumerate(self.asked.groups) if name not in self.unknown}
        position = np.array([*(places.get(name, _UNKNOWN) for name in names), _UNKNOWN])
        return np.asarray(position[table.codes[:, table.axes.index(axis)]])

    def _kinds(self, table: CountTable, rate: Rate | Mean, outcome: OutcomeMasks) -> Index:
        if isinstance(rate, Mean):
            needed = (axis for axis in self.cube.plan.outcomes if str(axis.role) in rate.needs)
            axes = [table.axes.index(axis) for axis in needed]
            return np.where((table.codes[:, axes] >= 0).all(axis=1), COUNTED, _UNKNOWN)
        kinds = kinds_of_rows(self.cube, outcome, rate)
        codes = (table.codes[:, table.axes.index(axis)] for axis in self.cube.plan.outcomes)
        return np.array([OTHER, AMONG, COUNTED, _UNKNOWN])[kinds[tuple(codes)]]

    def _clusters(
        self, rate: Rate, outcome: OutcomeMasks, cells: Index, *, everyone: bool
    ) -> Clusters | None:
        by_cluster = self._cluster_table([True, False] if everyone else [True])
        if by_cluster is None:
            return None
        table, cluster = by_cluster
        kind, known = self._kinds(table, rate, outcome), self._known_groups(table)
        used = (kind >= 0) & (cluster >= 0)
        cell = np.searchsorted(cells, self._cell_codes(table)[used])
        return cluster[used], cell, kind[used], self._weights(table)[used], known[used]

    def _cluster_table(self, probable: Sequence[bool]) -> tuple[CountTable, Index] | None:
        axis = self.cube.plan.axis(Role.CLUSTER)
        if axis is None:
            return None
        table = self._part(self.cube.marginal([*self._axes(), axis]), probable)
        return table, table.codes[:, table.axes.index(axis)]


def _add_up(shape: tuple[int, ...], at: Index | tuple[Index, ...], values: Array) -> Array:
    total = np.zeros(shape)
    np.add.at(total, at, values)
    return total


def _means(sums: Array) -> Array:
    # the mean probabilities of cells from their sums; where there are none, of all
    total, every = sums.sum(axis=1, keepdims=True), sums.sum(axis=0)
    mean = every / every.sum() if every.any() else np.full(len(every), 1 / len(every))
    return np.where(total > 0, sums / np.where(total > 0, total, 1.0), mean)
