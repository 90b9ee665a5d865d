"""Results in the service's shape: fairgauge's own metrics of a cube, values alone.

Intervals and sentences belong to the report (`fairgauge.audit` of the same cube); replaying a job
needs the numbers, at the speed of counting. The flip test alone compares rows: every row of a facet
with its neighbours outside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairgauge.catalogue.cells import BOTH, ConfusionCounts
from fairgauge.catalogue.comparisons import ComparisonMetric
from fairgauge.catalogue.lookup import find_metric, find_rate
from fairgauge.compat._coded_column import CodedColumn, Kind
from fairgauge.compat._facet_counts import FacetQuestion
from fairgauge.compat._service_texts import (
    CONDITIONAL,
    NO_GROUP,
    NOT_NUMERIC,
    MetricEntry,
    error_text,
    result,
)
from fairgauge.cube.cube import Cube
from fairgauge.enums import Profile, Task
from fairgauge.identity import GroupId, ValueSet
from fairgauge.render.words.reason_sentences import describe_reason
from fairgauge.resolve.group_counts import count_everyone, count_groups
from fairgauge.resolve.outcomes import outcome_masks
from fairgauge.resolve.sides import CountsBySide
from fairgauge.scan.row_access import feature_matrix
from fairgauge.stats.arrays import Index, Mask
from fairgauge.stats.neighbours import Neighbours

Array = NDArray[np.float64]
Flags = Mask


class ServiceMetrics:
    """The metrics of every facet and block of a question."""

    def __init__(
        self,
        asked: FacetQuestion,
        cube: Cube,
        features: Sequence[Features] = (),
        strata_problem: str | None = None,
    ) -> None:
        spec = cube.plan.asked
        self.asked = asked
        self._profile = spec.profile
        self._features = features
        self._strata_problem = strata_problem
        outcome = outcome_masks(cube, spec, Task.BINARY)[0]
        counts = count_groups(cube, spec)
        self._sides = [CountsBySide(each, outcome, spec.profile) for each in counts]
        self._groups = [each.group_ids for each in counts]
        self._everyone = CountsBySide(count_everyone(cube), outcome, spec.profile)

    def result(self, metric: str, facet: int, block: int) -> MetricEntry:
        """Return one metric of a block as results write it."""
        if metric == "FT":
            return self._flip(facet, block)
        if metric in CONDITIONAL and (self._strata_problem or self.asked.strata is None):
            return result(metric, None, self._strata_problem or NO_GROUP)
        row = find_metric(metric)
        assert isinstance(row, ComparisonMetric)
        group, reference = self._compared(row, facet, block)
        sizes = float(group.size[0]), float(reference.size[0])
        lacking = not self._profile.rules.empty_facet_has_metrics
        value = row.value(group, reference, self._profile)[0]
        one_sided = lacking and row.scope == "group" and 0 in sizes
        if not np.isnan(value) and not one_sided:
            if metric == "GE" and lacking:
                value = self._entropy()
            return result(metric, float(value))
        undefined = row.why_undefined(group, reference, 0) if np.isnan(value) else None
        if lacking:
            return result(metric, None, error_text(metric, *sizes, undefined))
        return result(metric, None, None if undefined is None else describe_reason(undefined))

    def size(self, facet: int, block: int) -> int:
        """Return the rows of a block."""
        return int(self._block(facet, block).size[0])

    def known(self, facet: int) -> int:
        """Return the rows that are compared: those whose facet is known (``clarify``: all)."""
        sides = self._sides[facet]
        return int(sides.pick(np.array([sides.whole]), np.array([0])).size[0])

    def base_rate(self, facet: int, block: int) -> float:
        """Return the share of positive labels of a block, 0 where it has no rows."""
        rate = find_rate("base_rate").value(self._block(facet, block), Profile.CLARIFY)
        return float(rate[0])

    def cells(self, facet: int, block: int) -> list[float]:
        """Return TP, FP, FN and TN of a block."""
        counts: list[float] = self._block(facet, block).counts(BOTH)[0].tolist()
        return counts

    def _block(self, facet: int, block: int, *, pooled: bool = False) -> ConfusionCounts:
        return self._sides[facet].pick(self._at(facet, block), np.array([0]), pooled=pooled)

    def _at(self, facet: int, block: int) -> Index:
        name = self.asked.block_names(facet)[block]
        return np.array([self._groups[facet].index(GroupId.of(ValueSet((name,))))])

    def _compared(
        self, metric: ComparisonMetric, facet: int, block: int
    ) -> tuple[ConfusionCounts, ConfusionCounts]:
        if metric.scope == "table":
            everyone = self._everyone.pick(np.array([0]), np.array([0]))
            return everyone, everyone
        pooled = metric.scope == "pooled"
        sides = self._sides[facet]
        rest = sides.pick(sides.others + self._at(facet, block), np.array([0]), pooled=pooled)
        return self._block(facet, block, pooled=pooled), rest

    def _entropy(self) -> float:
        """Return the generalised entropy, summed row by row as the service sums it."""
        assert self.asked.label is not None
        assert self.asked.prediction is not None
        positive, predicted = self.asked.label.states == 1, self.asked.prediction.states == 1
        benefits = predicted.astype(np.int64) - positive + 1
        ratios = benefits / benefits.mean()
        return float((ratios**2 - 1).sum() / (2 * len(benefits)))

    def _flip(self, facet: int, block: int) -> MetricEntry:
        """Return the flip test, which compares rows."""
        assert self.asked.prediction is not None
        inside = self.asked.facets[facet].codes == block
        positive = self.asked.prediction.states == 1
        try:
            return result("FT", self._features[facet].flip(inside, positive, self._profile))
        except ValueError as error:
            return result("FT", None, str(error))


def unsortable(values: Sequence[object]) -> str | None:
    """Return Python's message when the values of the strata cannot be put in order, if so."""
    try:
        np.unique(np.array(values, dtype=object))
    except TypeError as error:
        return str(error)
    return None


NEIGHBOURS = 5
FEWEST_FOR_SEVERAL = 10
"""Rows outside the facet from which on several neighbours vote."""

_NUMERIC = (Kind.INTEGER, Kind.FLOAT, Kind.BOOLEAN)


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """The columns by which rows are near each other, read when they are needed."""

    columns: Callable[[], Sequence[CodedColumn]]

    def flip(self, inside: Flags, positive: Flags, profile: Profile = Profile.CLARIFY) -> float:
        """Return the flip test of the rows inside a facet.

        The five nearest rows outside the facet vote on every row inside it; all rows at the
        distance of the fifth share its vote, so that the order of the rows does not matter.

        Parameters
        ----------
        inside, positive : array of bool, of shape (rows,)
            Which rows are in the facet, and which are predicted positive.

        Returns
        -------
        float in [-1, 1]
            ``clarify``: the share of the rows inside that are positive where their neighbours are
            negative, less the share of the reverse; ``documented``: the reverse less it, by
            neighbours in scaled columns.
        """
        if not inside.any() or inside.all():
            rows = float(inside.sum())
            raise ValueError(error_text("FT", rows, len(inside) - rows))
        points = _points(self.columns(), profile)
        known = ~np.isnan(points).any(axis=1)
        ours, theirs = inside & known, ~inside & known
        if not ours.any() or not theirs.any():
            raise ValueError("no row of one side has a value in every feature")
        k = NEIGHBOURS if theirs.sum() >= FEWEST_FOR_SEVERAL else 1
        outcomes = positive.astype(np.float64)
        votes = Neighbours.of(points[theirs]).mean(outcomes[theirs], points[ours], k)
        favoured = int((positive[ours] & (votes < 1 / 2)).sum())
        disfavoured = int((~positive[ours] & (votes > 1 / 2)).sum())
        flips = favoured - disfavoured
        return float((flips if profile.rules.flips_are_favoured else -flips) / ours.sum())


def _points(columns: Sequence[CodedColumn], profile: Profile) -> Array:
    """Return the rows as points: numbers as they are (``clarify``), or every feature scaled."""
    if not profile.rules.features_are_scaled and any(c.kind not in _NUMERIC for c in columns):
        raise ValueError(NOT_NUMERIC)
    if not columns:
        raise ValueError("there are no features to compare rows by")
    if not profile.rules.features_are_scaled:
        return np.stack([column.numbers() for column in columns], axis=1)
    return feature_matrix([column.cells() for column in columns], scaled=True)[0]
