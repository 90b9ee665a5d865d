"""How unevenly benefit is spread over all rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from fairgauge.metrics.comparisons import Comparison, Scope
from fairgauge.words import Profile, Task

if TYPE_CHECKING:
    from fairgauge.metrics.side import Side
    from fairgauge.metrics.symbols import Array, Need


@dataclass(frozen=True, slots=True, kw_only=True)
class Inequality(Comparison):
    """Generalized entropy of the benefits b = prediction - label + 1 over all rows."""

    alpha: int = 2
    scope: ClassVar[Scope] = "table"
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.BINARY})

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({"label", "prediction"})

    @property
    def formula(self) -> str:
        return "mean((b / mean(b))^2 - 1) / 2,  b = 2 for FP, 1 for TP and TN, 0 for FN"

    @property
    def range(self) -> tuple[float, float]:
        return (0.0, math.inf)

    @property
    def edges(self) -> str:
        return "at most (n - 1) / 2; undefined when every row is a false negative"

    def value(self, group: Side, reference: Side, profile: Profile) -> Array:
        del reference, profile
        counts = group.counts(self.needs)
        rows = counts.sum(axis=-1)
        total = 2 * counts[..., 1] + counts[..., 0] + counts[..., 3]
        squares = 4 * counts[..., 1] + counts[..., 0] + counts[..., 3]
        with np.errstate(invalid="ignore", divide="ignore"):
            result: Array = (rows * squares / total**2 - 1) / 2
        return result

    def sizes(self, group: Side, reference: Side) -> tuple[Array, Array]:
        del reference
        rows = group.counts(self.needs).sum(axis=-1)
        return rows, np.full_like(rows, np.nan)

    def why_undefined(self, group: Side, reference: Side, at: int) -> str:
        del reference
        if group.counts(self.needs)[at].sum() == 0:
            return "there are no rows with a label and a prediction"
        return "every row is a false negative, so the mean benefit is 0"

    def sentence(self, value: float, group: str, reference: str, sides: tuple[float, float]) -> str:
        del reference, sides
        return f"{group}: benefits are spread with a generalized entropy of {value:.3g} (0 is even)"
