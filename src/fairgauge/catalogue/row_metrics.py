"""Metrics that counts cannot give: what compares single rows, or orders them all.

They are asked for by name and read the rows once more. Their names, meanings and ranges are defined
here; the rows are compared in `fairgauge.rowwise`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
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
    "quarter",
]

BINARY = frozenset({Task.BINARY})
REGRESSION = frozenset({Task.REGRESSION})
_QUARTERS = (1, 2, 3, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowMetric(Metric):
    """A metric of rows.

    Attributes
    ----------
    kind : what it compares.
    formula, range, neutral, needs, tasks : as of any metric.
    one_per : whether it is one number of each group, of a feature, or of all rows.
    by_features : whether it compares rows by their features.
    top, percent : how many of the highest scores count: rows, or per cent; which quarter.
    q : of a quantile, the share of rows at or below it.
    """

    kind: Kind
    # `field()` states that there is no default, which otherwise would be the property of the base
    formula: str = field()
    range: tuple[float, float] = field()
    neutral: float = field(default=0.0)
    needs: frozenset[Need] = field()
    tasks: frozenset[Task] = field()
    one_per: Literal["group", "feature", "table"] = "group"
    by_features: bool = False
    top: float | None = None
    q: float | None = None
    percent: bool = False
    scope: ClassVar[Scope] = "rows"

    @property
    def is_ratio(self) -> bool:
        """Return whether it divides a number of the group by that of its reference."""
        return self.kind in ("top", "exposure", "quantile_ratio")

    @property
    def edges(self) -> str:
        empty = "undefined when a side has no row with all columns that it needs"
        return (
            empty
            if self.top is None or self.kind == "quarter"
            else f"{empty}, and where the top is the whole ranking"
        )

    @property
    def parameters(self) -> tuple[str, ...]:  # type: ignore[override]
        if self.q is not None:
            return ("q",)
        if self.kind == "quarter":
            return ("k",)
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
        if self.kind == "quarter":
            if value not in _QUARTERS:
                raise LookupError(f"{self.name}: k must be 1, 2, 3 or 4, not {value:g}")
            title = f"Share of quarter {value:g} of the label"
            return replace(self, name=f"{self.name}(k={value:g})", title=title, top=value)
        if parameter == "k" and (value <= 0 or value % 1):
            raise LookupError(f"{self.name}: k must be a whole number above 0, not {value:g}")
        if parameter == "percent" and not 0 < value < 100:
            message = f"{self.name}: percent must be above 0 and below 100, not {value:g}"
            raise LookupError(message)
        name = f"{self.name}({parameter}={value:g})"
        return replace(self, name=name, top=value, percent=parameter == "percent")
