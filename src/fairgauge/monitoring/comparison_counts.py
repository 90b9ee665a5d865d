"""The counts that every monitored comparison rests on, period by period."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
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
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from fairgauge.catalogue.confusion_counts import ConfusionCounts
    from fairgauge.monitoring.monitor_spec import MonitorRule, MonitorSpec
    from fairgauge.stats.arrays import Array


class ComparisonId(NamedTuple):
    """A rule, by its number, for a group of a feature."""

    rule: int
    feature: str
    group: str


class SideCounts(NamedTuple):
    """Successes and rows of the two rates of a contrast, as its formula has them.

    ``d`` is the first of the formula: the group, or the reference where a metric is reference less
    group.
    """

    x_d: float
    n_d: float
    x_a: float
    n_a: float


class RuleCounts(NamedTuple):
    """The counts of a rule for the groups of a feature in one period.

    Attributes
    ----------
    rule, feature : the number of the rule, and the feature.
    groups, references : the names of the groups, and of what they are compared with.
    counts : array of shape (groups, 4): x_d, n_d, x_a, n_a.
    """

    rule: int
    feature: str
    groups: tuple[str, ...]
    references: tuple[str, ...]
    counts: Array

    @property
    def ids(self) -> list[ComparisonId]:
        """Return the comparisons, one for each group."""
        return [ComparisonId(self.rule, self.feature, group) for group in self.groups]


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
    """Collects the counts of comparisons from one cube after the other.

    ``rates`` are those of the rules that counts decide exactly, and ``resumed`` are the counts of
    earlier periods.
    """

    spec: MonitorSpec
    rates: Mapping[int, MonitoredRate]
    resumed: ComparisonCounts | None = None
    _known: Cube | None = None
    _periods: list[list[RuleCounts]] = field(default_factory=list)
    _incomplete: list[bool] = field(default_factory=list)
    _references: dict[ComparisonId, str] = field(default_factory=dict)
    _arrivals: dict[ComparisonId, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.resumed is not None:
            held = self.resumed
            self._arrivals = dict(zip(held.ids, held.arrivals, strict=True))
            self._references = dict(zip(held.ids, held.references, strict=True))

    @property
    def _before(self) -> int:
        return 0 if self.resumed is None else len(self.resumed.counts)

    def expect(self, cube: Cube) -> None:
        """Take note of the comparisons of a baseline, which are known before the first period."""
        self._note(self._read(cube), -1)

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
        self._note(found, self._before + len(self._periods))
        self._periods.append(found)
        self._incomplete.append(lacks_labels(cube))

    def collected(self) -> ComparisonCounts:
        """Return the counts of all periods so far."""
        ids = list(self._arrivals)
        position = {each: i for i, each in enumerate(ids)}
        counts = np.zeros((self._before + len(self._periods), len(ids), 4))
        incomplete = np.zeros(len(counts), dtype=bool)
        if self.resumed is not None:
            counts[: self._before, : len(self.resumed.ids)] = self.resumed.counts
            incomplete[: self._before] = self.resumed.incomplete
        incomplete[self._before :] = self._incomplete
        for t, held in enumerate(self._periods, self._before):
            for each in held:
                counts[t, [position[key] for key in each.ids]] = each.counts
        return ComparisonCounts(
            ids,
            list(self._arrivals.values()),
            [self._references[each] for each in ids],
            counts,
            incomplete,
        )

    def _note(self, found: Sequence[RuleCounts], period: int) -> None:
        for held in found:
            for each, reference in zip(held.ids, held.references, strict=True):
                self._arrivals.setdefault(each, period)
                self._references.setdefault(each, reference)

    def _read(self, cube: Cube) -> list[RuleCounts]:
        if cube.min_cell is not None:
            raise CubeError("protected counts cannot be monitored; give the exact counts")
        try:
            found = list(rule_counts(cube, self.spec, self.rates))
        except SpecError:
            # a value that is named in the question may be absent on one day
            if self._known is None:
                raise
            found = list(rule_counts(sum_cubes([cube, self._known]), self.spec, self.rates))
        if self._known is None:
            self._known = without_rows(cube)
        return found


def rule_counts(
    cube: Cube, spec: MonitorSpec, rates: Mapping[int, MonitoredRate]
) -> Iterator[RuleCounts]:
    """Yield the counts of every rule that contrasts a rate of rows, for every feature.

    Raises
    ------
    SpecError
        A group, reference or positive value that the counts do not have.
    """
    question = spec.question
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
            held = asked_groups(counted.groups, rule)
            if rate.by != "rate":  # the reference itself is compared with nothing
                held = [g for g in held if references.sides[g] != g]
            first, second = (theirs, own) if rate.turned else (own, theirs)
            columns = (*counts_of(first, rate), *counts_of(second, rate))
            named = ("" if rate.by == "rate" else str(references.each[g]) for g in held)
            yield RuleCounts(
                i,
                counted.feature,
                tuple(counted.groups[g] for g in held),
                tuple(named),
                np.stack(columns, axis=-1)[held],
            )


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


def sum_cubes(cubes: Sequence[Cube]) -> Cube:
    """Return the counts of several periods as one; two may well hold the same counts."""
    return reduce(lambda one, other: one.add(other, allow_duplicates=True), cubes)


def without_rows(cube: Cube) -> Cube:
    """Return the levels of a cube with no rows: adding it makes values known that no row has."""
    tables = tuple(
        CountTable(table.axes, table.codes[:0], {m: sums[:0] for m, sums in table.sums.items()})
        for table in cube.tables
    )
    return replace(cube, tables=tables, rows=0, excluded={})
