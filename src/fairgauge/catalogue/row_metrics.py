"""Metrics that counts cannot give: what compares single rows, or orders them all.

They are asked for by name and read the rows once more. Their names, meanings and ranges are defined
here; the rows are compared in `fairgauge.rowwise`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from fairgauge.catalogue.cells import Need
from fairgauge.catalogue.comparisons import Metric, Scope
from fairgauge.enums import Task

Kind = Literal[
    "flip",
    "consistency",
    "prediction_ks",
    "prediction_wasserstein",
    "residual_ks",
    "residual_wasserstein",
    "top",
    "skew",
    "ndkl",
    "exposure",
    "quantile_difference",
    "quantile_ratio",
]

_BINARY = frozenset({Task.BINARY})
_REGRESSION = frozenset({Task.REGRESSION})


@dataclass(frozen=True, slots=True)
class KindFacts:
    """What is true of a kind: formula, range, neutral value, needs, tasks, per group or not."""

    formula: str
    range: tuple[float, float]
    neutral: float
    needs: frozenset[Need]
    tasks: frozenset[Task]
    of: Literal["group", "feature", "table"] = "group"
    by_features: bool = False


_PREDICTION: frozenset[Need] = frozenset({"prediction"})
_SCORE: frozenset[Need] = frozenset({"score"})
_LABEL: frozenset[Need] = frozenset({"label"})
_BOTH: frozenset[Need] = frozenset({"label", "prediction"})

FACTS: dict[Kind, KindFacts] = {
    "flip": KindFacts(
        "(F+ - F-) / n_d,  F+ predicted negative with a positive neighbourhood, F- the reverse",
        (-1.0, 1.0),
        0.0,
        _PREDICTION,
        _BINARY,
        by_features=True,
    ),
    "consistency": KindFacts(
        "1 - mean |prediction - mean prediction of the 5 nearest rows, itself among them|",
        (0.0, 1.0),
        1.0,
        _PREDICTION,
        _BINARY,
        of="table",
        by_features=True,
    ),
    "prediction_ks": KindFacts(
        "max_p |F_d(p) - F_a(p)|",
        (0.0, 1.0),
        0.0,
        _PREDICTION,
        _REGRESSION,
    ),
    "prediction_wasserstein": KindFacts(
        "integral |F_d(p) - F_a(p)| dp", (0.0, math.inf), 0.0, _PREDICTION, _REGRESSION
    ),
    "residual_ks": KindFacts(
        "max_e |F_d(e) - F_a(e)|, e = p - y",
        (0.0, 1.0),
        0.0,
        _BOTH,
        _REGRESSION,
    ),
    "residual_wasserstein": KindFacts(
        "integral |F_d(e) - F_a(e)| de, e = p - y", (0.0, math.inf), 0.0, _BOTH, _REGRESSION
    ),
    "top": KindFacts(
        "share of the group's rows among the k highest scores, over the reference's",
        (0.0, math.inf),
        1.0,
        _SCORE,
        _BINARY,
    ),
    "skew": KindFacts(
        "ln(share of the group among the k highest scores / share of the group in all rows)",
        (-math.inf, math.inf),
        0.0,
        _SCORE,
        _BINARY,
    ),
    "ndkl": KindFacts(
        "sum_i KL(groups in the top i || groups in all) / log2(i + 1) / sum_i 1 / log2(i + 1)",
        (0.0, math.inf),
        0.0,
        _SCORE,
        _BINARY,
        of="feature",
    ),
    "exposure": KindFacts(
        "mean_d(1 / log2(rank + 1)) / mean_a(1 / log2(rank + 1))",
        (0.0, math.inf),
        1.0,
        _SCORE,
        _BINARY,
    ),
    "quantile_difference": KindFacts(
        "Q_d(q) - Q_a(q), Q(q) the number that a share q of labels is at or below",
        (-math.inf, math.inf),
        0.0,
        _LABEL,
        _REGRESSION,
    ),
    "quantile_ratio": KindFacts(
        "Q_d(q) / Q_a(q), Q(q) the number that a share q of labels is at or below",
        (0.0, math.inf),
        1.0,
        _LABEL,
        _REGRESSION,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RowMetric(Metric):
    """A metric of rows.

    Attributes
    ----------
    kind : what it compares.
    top, percent : how many of the highest scores count: rows, or per cent.
    q : of a quantile, the share of rows at or below it.
    """

    kind: Kind
    top: float | None = None
    q: float | None = None
    percent: bool = False
    scope: ClassVar[Scope] = "rows"

    @property
    def facts(self) -> KindFacts:
        """Return what is true of the kind."""
        return FACTS[self.kind]

    @property
    def tasks(self) -> frozenset[Task]:  # type: ignore[override]
        return self.facts.tasks

    @property
    def needs(self) -> frozenset[Need]:
        return self.facts.needs

    @property
    def formula(self) -> str:
        return self.facts.formula

    @property
    def range(self) -> tuple[float, float]:
        return self.facts.range

    @property
    def neutral(self) -> float:
        return self.facts.neutral

    edges: ClassVar[str] = "undefined when a side has no row with all columns that it needs"

    @property
    def parameters(self) -> tuple[str, ...]:  # type: ignore[override]
        if self.q is not None:
            return ("q",)
        return () if self.top is None else ("k", "percent")

    def with_parameter(self, parameter: str, value: float) -> Metric:
        if parameter not in self.parameters:
            return super(RowMetric, self).with_parameter(parameter, value)
        if parameter == "q":
            if not 0 < value < 1:
                message = f"{self.name}: q must be above 0 and below 1, not {value:g}"
                raise LookupError(message)
            by = self.kind.removeprefix("quantile_")
            title = f"{value:g} quantile of the label, {by}"
            return replace(self, name=f"quantile_label({value:g}).{by}", title=title, q=value)
        if parameter == "k" and (value <= 0 or value % 1):
            raise LookupError(f"{self.name}: k must be a whole number above 0, not {value:g}")
        if parameter == "percent" and not 0 < value <= 100:
            message = f"{self.name}: percent must be above 0 and at most 100, not {value:g}"
            raise LookupError(message)
        name = f"{self.name}({parameter}={value:g})"
        return replace(self, name=name, top=value, percent=parameter == "percent")
