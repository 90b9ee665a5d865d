"""The counts that every monitored comparison rests on, period by period."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairgauge.cube.cube import CountTable, Cube
from fairgauge.enums import Role, Task
from fairgauge.errors import CubeError, DataError, Problem, SpecError
from fairgauge.monitoring.monitor_spec import MonitoredRate, monitored_rate
from fairgauge.resolve.group_counts import count_groups
from fairgauge.resolve.outcomes import decide_task, outcome_masks
from fairgauge.resolve.references import resolve_references
from fairgauge.resolve.sides import CountsBySide

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fairgauge.catalogue.confusion_counts import ConfusionCounts
    from fairgauge.monitoring.monitor_spec import MonitorRule, MonitorSpec
    from fairgauge.stats.arrays import Array


class ComparisonId(NamedTuple):
    """A rule, by its number, for a group of a feature."""

    rule: int
    feature: str
    group: str


@dataclass(frozen=True, slots=True)
class SideCounts:
    """Successes and rows of the two rates of a contrast, as its formula has them.

    ``d`` is the first of the formula: the group, or the reference where a metric is reference less
    group.
    """

    x_d: float
    n_d: float
    x_a: float
    n_a: float


@dataclass(slots=True)
class ComparisonCounts:
    """The counts of all comparisons over all periods.

    Attributes
    ----------
    ids : the comparisons, in the order in which they arrived.
    arrivals : for each the number of its first period; -1 where a baseline has it.
    references : for each what it is compared with.
    counts : array of shape (periods, comparisons, 4): x_d, n_d, x_a, n_a.
    incomplete : for every period, whether a row lacks its label.
    """

    ids: list[ComparisonId]
    arrivals: list[int]
    references: list[str]
    counts: Array
    incomplete: NDArray[np.bool_]


@dataclass(slots=True)
class Collector:
    """Collects the counts of comparisons from one cube after the other."""

    spec: MonitorSpec
    _known: Cube | None = None
    _rows: list[dict[ComparisonId, SideCounts]] = field(default_factory=list)
    _incomplete: list[bool] = field(default_factory=list)
    _references: dict[ComparisonId, str] = field(default_factory=dict)
    _arrivals: dict[ComparisonId, int] = field(default_factory=dict)

    def expect(self, cube: Cube) -> None:
        """Take note of the comparisons of a baseline, which are known before the first period."""
        for each, (_, reference) in self._read(cube).items():
            self._arrivals.setdefault(each, -1)
            self._references.setdefault(each, reference)

    def add(self, cube: Cube, period: object) -> None:
        """Count one more period.

        Raises
        ------
        DataError
            The counts do not answer the question; the message names the period.
        """
        try:
            found = self._read(cube)
        except SpecError as error:
            raise DataError(f"the period {period}: {error}") from None
        for each, (_, reference) in found.items():
            self._arrivals.setdefault(each, len(self._rows))
            self._references.setdefault(each, reference)
        self._rows.append({each: counts for each, (counts, _) in found.items()})
        self._incomplete.append(lacks_labels(cube))

    def collected(self) -> ComparisonCounts:
        """Return the counts of all periods so far."""
        ids = list(self._arrivals)
        position = {each: i for i, each in enumerate(ids)}
        counts = np.zeros((len(self._rows), len(ids), 4))
        for t, row in enumerate(self._rows):
            for each, held in row.items():
                counts[t, position[each]] = (held.x_d, held.n_d, held.x_a, held.n_a)
        return ComparisonCounts(
            ids,
            list(self._arrivals.values()),
            [self._references[each] for each in ids],
            counts,
            np.array(self._incomplete, dtype=bool),
        )

    def _read(self, cube: Cube) -> dict[ComparisonId, tuple[SideCounts, str]]:
        if cube.min_cell is not None:
            raise CubeError("protected counts cannot be monitored; give the exact counts")
        try:
            found = dict(side_counts(cube, self.spec))
        except SpecError:
            # a value that is named in the question may be absent on one day
            if self._known is None:
                raise
            found = dict(side_counts(cube + self._known, self.spec))
        if self._known is None:
            self._known = without_rows(cube)
        return found


def side_counts(
    cube: Cube, spec: MonitorSpec
) -> Iterator[tuple[ComparisonId, tuple[SideCounts, str]]]:
    """Yield the counts of every comparison that contrasts a rate of rows, with its reference.

    Raises
    ------
    SpecError
        A group, reference or positive value that the counts do not have.
    """
    question = spec.question
    rates = exact_rates(spec, cube)
    if not rates:
        return
    outcome = outcome_masks(cube, question, Task.BINARY)[0]
    for counted in count_groups(cube, question):
        sides = CountsBySide(counted, outcome, question.profile)
        references = resolve_references(counted, sides, None, question)
        groups = np.arange(len(counted.groups))
        margin = np.zeros_like(groups)
        own, theirs = sides.pick(groups, margin), sides.pick(references.sides, margin)
        for i, rate in rates.items():
            rule = spec.rules[i]
            if rule.features and counted.feature not in rule.features:
                continue
            first, second = (theirs, own) if rate.turned else (own, theirs)
            x_d, n_d = counts_of(first, rate)
            x_a, n_a = counts_of(second, rate)
            for g in asked_groups(counted.groups, rule):
                if rate.by != "rate" and references.sides[g] == g:
                    continue  # the reference itself
                held = SideCounts(x_d[g], n_d[g], x_a[g], n_a[g])
                named = "" if rate.by == "rate" else str(references.each[g])
                yield ComparisonId(i, counted.feature, counted.groups[g]), (held, named)


def asked_groups(groups: Sequence[str], rule: MonitorRule) -> list[int]:
    """Return the numbers of the groups that a rule is for."""
    return [i for i, name in enumerate(groups) if not rule.groups or name in rule.groups]


def counts_of(side: ConfusionCounts, rate: MonitoredRate) -> tuple[Array, Array]:
    """Return the successes and rows of a rate."""
    cells = side.counts(rate.rate.needs)
    return rate.rate.of.count(cells), rate.rate.among.count(cells)


def exact_rates(spec: MonitorSpec, cube: Cube) -> dict[int, MonitoredRate]:
    """Return the rules that counts of independent rows decide exactly, each with its rate.

    Weighted and clustered rows are not binomial, a group is part of "overall", and metrics that
    contrast no rate have no e-value: these rules use alpha spending.

    Raises
    ------
    SpecError
        The outcome has several classes.
    """
    question = spec.question
    task = decide_task(cube, question)
    if task is Task.MULTICLASS:
        message = "a monitor follows two outcomes or numbers; name the positive value of the label"
        raise SpecError(Problem("positive", message))
    plain = question.weight is None and question.cluster is None and task is Task.BINARY
    overlapping = str(question.reference) == "overall"
    found = {}
    for i, rule in enumerate(spec.rules):
        rate = monitored_rate(rule.metric, question) if plain else None
        if rate is not None and (rate.by == "rate" or not overlapping):
            found[i] = rate
    return found


def lacks_labels(cube: Cube) -> bool:
    """Return whether a row has no label."""
    axis = cube.plan.axis(Role.LABEL)
    if axis is None:
        return False
    table = cube.marginal([axis])
    return bool(table.sums["rows"][table.codes[:, 0] < 0].sum() > 0)


def without_rows(cube: Cube) -> Cube:
    """Return the levels of a cube with no rows: adding it makes values known that no row has."""
    tables = tuple(
        CountTable(table.axes, table.codes[:0], {m: sums[:0] for m, sums in table.sums.items()})
        for table in cube.tables
    )
    return replace(cube, tables=tables, rows=0, excluded={})
