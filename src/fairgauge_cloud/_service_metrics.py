"""Results in the service's shape: fairgauge's own metrics of counts, values without intervals.

The flip test compares rows: every row of a facet with its neighbours outside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairgauge import metric as describe_metric
from fairgauge.plugins import MetricValues, Neighbours, Reason, describe_reason
from fairgauge_cloud._facet_counts import CodedColumn, FacetQuestion, Kind, Mask, count_question

REGISTERED_PRE = ("CI", "DPL", "KL", "JS", "LP", "TVD", "KS", "CDDL")
REGISTERED_POST = (
    "DPPL", "DI", "DCA", "DCR", "RD", "SD", "DAR", "DRR", "AD", "CDDPL", "TE", "FT", "GE",
)  # fmt: skip
"""The metrics of each stage, in the order in which an error lists them."""
PRE_TRAINING, POST_TRAINING = (tuple(sorted(each)) for each in (REGISTERED_PRE, REGISTERED_POST))
"""The same in the order of results."""

DESCRIPTIONS = {
    **{code: describe_metric(code).title for code in (*REGISTERED_PRE, *REGISTERED_POST)},
    "DPL": "Difference in Positive Proportions in Labels (DPL)",
    "KL": "Kullback-Liebler Divergence (KL)",
    "LP": "L-p Norm (LP)",
    "KS": "Kolmogorov-Smirnov Distance (KS)",
    "DCA": "Difference in Conditional Acceptance (DCA)",
}
"""What stands beside a code in results, letter for letter as the service writes it."""

ALIASES = {"DCAcc": "DCA", "CDD": "CDDL", "DPPPL": "DPPL", "DPPTL": "DPL"}

NO_GROUP = "Group variable is empty or not provided"
NO_SHARED = "No instance of common facet found, dataset may be too small"
ONLY_FALSE_NEGATIVES = (
    "All predicted labels are false negatives. "
    "There should be at least one prediction that is not false negative."
)
NOT_NUMERIC = "FlipTest does not support non-numeric columns"

_D_EMPTY, _A_EMPTY = "Facet set is empty", "Negated Facet set is empty"
_EMPTY = {
    "CI": (
        "CI: facet set is empty. Check that x[facet] has non-zero length.",
        "CI: negated facet set is empty. Check that x[~facet] has non-zero length.",
    ),
    "DPL": ("Facet set is empty.", "Negative facet set is empty."),
    "DPPL": ("Facet set is empty.", "Negative facet set is empty."),
    "DI": (_D_EMPTY, "Negated facet set is empty"),
    **dict.fromkeys(("DCA", "DCR"), (f"DCO: {_D_EMPTY}", f"DCO: {_A_EMPTY}")),
    **dict.fromkeys(("RD", "SD"), (f"DLA: {_D_EMPTY}", f"DLA: {_A_EMPTY}")),
    **dict.fromkeys(("DAR", "DRR"), (f"DLR: {_D_EMPTY}", f"DLR: {_A_EMPTY}")),
    **dict.fromkeys(("AD", "TE", "FT"), (_D_EMPTY, _A_EMPTY)),
}
CONDITIONAL = ("CDDL", "CDDPL")
"""The metrics that adjust for strata."""
# the engine writes the same words of predictions
_WITHOUT_OUTCOME = {
    "no_positives": "No positive labels in set",
    "no_negatives": "No negative labels in set",
}
_DISTANCES = ("KL", "JS", "LP", "TVD", "KS")


Entry = dict[str, Any]
"""A metric of a result list: name, description, value, and ``error`` where it has no value."""


def unknown_metric(registered: tuple[str, ...]) -> str:
    """Return the engine's message about a name that is none of its metrics."""
    return f"Invalid metric_name: metrics should be one of the registered metrics{[*registered]}"


def error_text(
    metric: str, group_rows: float, reference_rows: float, reason: Reason | None = None
) -> str:
    """Return the engine's words for a metric without a value; where it has none, our own."""
    if metric in _DISTANCES:
        return NO_SHARED
    if metric == "GE":
        return ONLY_FALSE_NEGATIVES
    if metric in CONDITIONAL:
        return _WITHOUT_OUTCOME.get(str(reason.code) if reason else "", NO_GROUP)
    of_group, of_reference = _EMPTY[metric]
    if not reference_rows and (group_rows or metric in ("CI", "DPL", "DPPL", "DI")):
        return of_reference
    if not group_rows:
        return of_group
    return describe_reason(reason) if reason else ""


def result(metric: str, value: float | None, error: str | None = None) -> Entry:
    entry = {"name": metric, "description": DESCRIPTIONS[metric], "value": spell_value(value)}
    return entry if error is None else entry | {"error": error}


def spell_value(value: float | None) -> float | str | None:
    """Write infinities as text, and -0.0 as 0.0."""
    if value is None:
        return None
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value + 0.0


def read_value(value: float | str | None) -> float | None:
    """Read a value of a results file: a number, an infinity in either spelling, or nothing."""
    if isinstance(value, str):
        sign = -1.0 if value.startswith("-") else 1.0
        if value.lstrip("+-") in ("Infinity", "inf", "∞"):
            return sign * math.inf
        return float(value)
    return None if value is None or math.isnan(value) else float(value)


class ServiceMetrics:
    """The metrics of every facet and block of a question."""

    def __init__(
        self,
        asked: FacetQuestion,
        features: Sequence[Features] = (),
        strata_problem: str | None = None,
    ) -> None:
        self.asked = asked
        self.counts = count_question(asked)
        self._features = features
        self._strata_problem = strata_problem
        self._values = MetricValues(self.counts)

    def result(self, metric: str, facet: int, block: int) -> Entry:
        if metric == "FT":
            assert self.asked.prediction is not None
            inside = self.asked.facets[facet].codes == block
            positive = self.asked.prediction.states == 1
            try:
                return result("FT", self._features[facet].flip(inside, positive))
            except ValueError as error:
                return result("FT", None, str(error))
        if metric in CONDITIONAL and (self._strata_problem or self.asked.strata is None):
            return result(metric, None, self._strata_problem or NO_GROUP)
        value, reason = self._values.value(metric, facet, self._name(facet, block))
        rows = self.size(facet, block)
        others = self.size(facet) - rows
        if metric not in (*CONDITIONAL, "GE") and 0 in (rows, others):
            value = None
        if value is None:
            return result(metric, None, error_text(metric, rows, others, reason))
        return result(metric, value)

    def size(self, facet: int, block: int | None = None) -> int:
        return self._values.size(facet, None if block is None else self._name(facet, block))

    def base_rate(self, facet: int, block: int) -> float:
        rate = self._values.rate("base_rate", facet, self._name(facet, block))
        return rate if rate == rate else 0.0

    def cells(self, facet: int, block: int) -> tuple[float, ...]:
        return self._values.cells(facet, self._name(facet, block))

    def _name(self, facet: int, block: int) -> str:
        return self.asked.block_names(facet)[block]


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
