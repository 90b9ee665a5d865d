"""Groups against a given population: whether they are as many as they should be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from fairgauge.catalogue.arithmetic import divide
from fairgauge.catalogue.comparisons import Metric, Scope
from fairgauge.enums import Profile

if TYPE_CHECKING:
    from fairgauge.catalogue.cells import Array, Need


@dataclass(frozen=True, slots=True, kw_only=True)
class Representation(Metric):
    """A group's share of the rows against its share of a given population."""

    by: Literal["difference", "ratio"]
    scope: ClassVar[Scope] = "population"

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset()

    @property
    def formula(self) -> str:
        return f"n_d / n {'-' if self.by == 'difference' else ':'} share of d in the population"

    @property
    def range(self) -> tuple[float, float]:
        return (-1.0, 1.0) if self.by == "difference" else (0.0, math.inf)

    @property
    def neutral(self) -> float:
        return 0.0 if self.by == "difference" else 1.0

    @property
    def edges(self) -> str:
        return "groups without a share in the population are not compared; undefined without rows"

    def value(self, share: Array, target: Array) -> Array:
        """Compare shares of the rows with shares of the population; arrays of shape (n,)."""
        if self.by == "difference":
            return share - target
        return divide(share, target, Profile.DOCUMENTED)
