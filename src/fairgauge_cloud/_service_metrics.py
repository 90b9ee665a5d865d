"""Results in the service's shape: fairgauge's own metrics of counts, values without intervals.

The flip test compares rows: every row of a facet with its neighbours outside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fairgauge import Cube
from fairgauge.plugins import MetricValues, Neighbours, describe_reason
from fairgauge_cloud._coded_column import CodedColumn, Kind, Mask
from fairgauge_cloud._facet_counts import FacetQuestion
from fairgauge_cloud._service_texts import (
    CONDITIONAL,
    NO_GROUP,
    NOT_NUMERIC,
    MetricEntry,
    error_text,
    result,
)

_OF_ALL_ROWS = ("GE",)


class ServiceMetrics:
    """The metrics of every facet and block of a question."""

    def __init__(
        self,
        asked: FacetQuestion,
        counts: Cube,
        features: Sequence[Features] = (),
        strata_problem: str | None = None,
    ) -> None:
        self.asked = asked
        self._features = features
        self._strata_problem = strata_problem
        self._values = MetricValues(counts)

    def result(self, metric: str, facet: int, block: int) -> MetricEntry:
        """Return one metric of a block as results write it."""
        if metric == "FT":
            return self._flip(facet, block)
        if metric in CONDITIONAL and (self._strata_problem or self.asked.strata is None):
            return result(metric, None, self._strata_problem or NO_GROUP)
        value, reason = self._values.value(metric, facet, self._name(facet, block))
        rows = self.size(facet, block)
        others = self.known(facet) - rows
        if metric in _OF_ALL_ROWS:
            value = None if value is None else self._entropy()
        elif metric not in CONDITIONAL and 0 in (rows, others):
            value = None
        if value is None:
            text = "" if reason is None else describe_reason(reason)
            code = "" if reason is None else str(reason.code)
            return result(metric, None, error_text(metric, rows, others, code, text))
        return result(metric, value)

    def size(self, facet: int, block: int) -> int:
        """Return the rows of a block."""
        return self._values.size(facet, self._name(facet, block))

    def known(self, facet: int) -> int:
        """Return the rows that are compared."""
        return self._values.size(facet)

    def base_rate(self, facet: int, block: int) -> float:
        """Return the share of positive labels of a block, 0 where it has no rows."""
        rate = self._values.rate("base_rate", facet, self._name(facet, block))
        return rate if rate == rate else 0.0

    def cells(self, facet: int, block: int) -> tuple[float, ...]:
        """Return TP, FP, FN and TN of a block."""
        return self._values.cells(facet, self._name(facet, block))

    def _name(self, facet: int, block: int) -> str:
        return self.asked.block_names(facet)[block]

    def _entropy(self) -> float:
        """Return the generalised entropy, summed row by row as the service sums it."""
        assert self.asked.label is not None
        assert self.asked.prediction is not None
        positive, predicted = self.asked.label.states == 1, self.asked.prediction.states == 1
        benefits = predicted.astype(np.int64) - positive + 1
        ratios = benefits / benefits.mean()
        return float((ratios**2 - 1).sum() / (2 * len(benefits)))

    def _flip(self, facet: int, block: int) -> MetricEntry:
        assert self.asked.prediction is not None
        inside = self.asked.facets[facet].codes == block
        positive = self.asked.prediction.states == 1
        try:
            return result("FT", self._features[facet].flip(inside, positive))
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

    def flip(self, inside: Mask, positive: Mask) -> float:
        """Return the flip test of the rows inside a facet.

        The five nearest rows outside the facet vote on every row inside it; all rows at the
        distance of the fifth share its vote, so that the order of the rows does not matter. The
        test is the share of the rows inside that are positive where their neighbours are negative,
        less the share of the reverse.
        """
        if not inside.any() or inside.all():
            rows = float(inside.sum())
            raise ValueError(error_text("FT", rows, len(inside) - rows))
        columns = self.columns()
        if any(column.kind not in _NUMERIC for column in columns):
            raise ValueError(NOT_NUMERIC)
        if not columns:
            raise ValueError("there are no features to compare rows by")
        points = np.stack([column.numbers() for column in columns], axis=1)
        known = ~np.isnan(points).any(axis=1)
        ours, theirs = inside & known, ~inside & known
        if not ours.any() or not theirs.any():
            raise ValueError("no row of one side has a value in every feature")
        k = NEIGHBOURS if theirs.sum() >= FEWEST_FOR_SEVERAL else 1
        outcomes = positive.astype(np.float64)
        votes = Neighbours.of(points[theirs]).mean(outcomes[theirs], points[ours], k)
        favoured = int((positive[ours] & (votes < 1 / 2)).sum())
        disfavoured = int((~positive[ours] & (votes > 1 / 2)).sum())
        return float((favoured - disfavoured) / ours.sum())
