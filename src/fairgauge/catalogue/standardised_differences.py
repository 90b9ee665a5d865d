"""Differences of means in units of a spread: that inside the two sides, or that of all rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from fairgauge.catalogue.arithmetic import divide
from fairgauge.catalogue.comparisons import ComparisonMetric
from fairgauge.enums import Profile, Task
from fairgauge.reasons import Reason, ReasonCode

if TYPE_CHECKING:
    from fairgauge.catalogue.cells import Array, Need
    from fairgauge.catalogue.confusion_counts import ConfusionCounts

_PREDICTION: frozenset[Need] = frozenset({"prediction"})
_NEEDS: dict[str, frozenset[Need]] = {
    "label": frozenset({"label"}),
    "prediction": _PREDICTION,
    "score": frozenset({"score"}),
    "selection": _PREDICTION,
}
_SUMS = {"label": ("y", "yy"), "prediction": ("p", "pp")}


@dataclass(frozen=True, slots=True, kw_only=True)
class StandardisedDifference(ComparisonMetric):
    """The difference of two means over the pooled standard deviation (Cohen's d).

    The mean of ``selection`` is the selection rate. ``mean`` is what the mean is called.
    """

    of: Literal["label", "prediction", "score", "selection"]
    mean: str

    @property
    def tasks(self) -> frozenset[Task]:  # type: ignore[override]
        return frozenset({Task.BINARY if self.of in ("score", "selection") else Task.REGRESSION})

    @property
    def needs(self) -> frozenset[Need]:
        return _NEEDS[self.of]

    @property
    def formula(self) -> str:
        return "(mean_d - mean_a) / sqrt(((n_d - 1) s_d^2 + (n_a - 1) s_a^2) / (n_d + n_a - 2))"

    @property
    def range(self) -> tuple[float, float]:
        return (-math.inf, math.inf)

    @property
    def edges(self) -> str:
        return "undefined with fewer than two rows on a side, or when the values do not vary"

    def value(self, group: ConfusionCounts, reference: ConfusionCounts, profile: Profile) -> Array:
        ours, theirs = self.side_values(group, reference, profile)
        n, spread = self._spread(group)
        m, other = self._spread(reference)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = (ours - theirs) / np.sqrt((spread + other) / (n + m - 2))
        known = (np.minimum(n, m) >= 2) & np.isfinite(value)
        return np.where(known, value, np.nan)

    def side_values(
        self, group: ConfusionCounts, reference: ConfusionCounts, profile: Profile
    ) -> tuple[Array, Array]:
        del profile
        return self._mean(group), self._mean(reference)

    def sizes(self, group: ConfusionCounts, reference: ConfusionCounts) -> tuple[Array, Array]:
        return self._sums(group)[0], self._sums(reference)[0]

    def why_undefined(self, group: ConfusionCounts, reference: ConfusionCounts, at: int) -> Reason:
        for side, name in ((group, "group"), (reference, "reference")):
            if self._sums(side)[0][at] < 2:
                n = float(self._sums(side)[0][at])
                return Reason.of(ReasonCode.FEW_ROWS, n=n, minimum=2).on(name)
        return Reason.of(ReasonCode.NO_VARIATION, of=f"{self._what}s")

    @property
    def _what(self) -> str:
        return "prediction" if self.of == "selection" else self.of

    def _sums(self, side: ConfusionCounts) -> tuple[Array, Array, Array]:
        """Return rows, sum and sum of squares."""
        if self.of == "score":
            assert side.scores is not None
            return side.scores.every.sum(axis=-1), side.scores.total, side.scores.squares
        if self.of == "selection":  # of zeros and ones, the squares are themselves
            cells = side.counts(_PREDICTION)
            return cells.sum(axis=-1), cells[..., 0], cells[..., 0]
        first, second = _SUMS[self.of]
        return side.moments["n"], side.moments[first], side.moments[second]

    def _mean(self, side: ConfusionCounts) -> Array:
        n, total, _ = self._sums(side)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean: Array = total / n
        return mean

    def _spread(self, side: ConfusionCounts) -> tuple[Array, Array]:
        """Return rows, and the sum of squares about the mean."""
        n, total, squares = self._sums(side)
        with np.errstate(divide="ignore", invalid="ignore"):
            return n, np.maximum(squares - total**2 / n, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class OverallStandardisedDifference(ComparisonMetric):
    """100 times the difference of two selection rates over the standard deviation of all rows."""

    mean: str = "selection rate"
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.BINARY})
    needs_overall: ClassVar[bool] = True

    @property
    def needs(self) -> frozenset[Need]:
        return _PREDICTION

    @property
    def formula(self) -> str:
        return "100 (p_d - p_a) / sqrt(p (1 - p)), p_d, p_a, p: selection rates of d, a, all rows"

    @property
    def range(self) -> tuple[float, float]:
        return (-math.inf, math.inf)

    @property
    def edges(self) -> str:
        return "undefined with no rows on a side, or when all rows have the same prediction"

    def value(self, group: ConfusionCounts, reference: ConfusionCounts, profile: Profile) -> Array:
        ours, theirs = self.side_values(group, reference, profile)
        assert group.overall is not None
        overall = self._rate(group.overall)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = 100 * (ours - theirs) / np.sqrt(overall * (1 - overall))
        return np.where(np.isfinite(value), value, np.nan)

    def side_values(
        self, group: ConfusionCounts, reference: ConfusionCounts, profile: Profile
    ) -> tuple[Array, Array]:
        del profile
        return self._rate(group), self._rate(reference)

    def sizes(self, group: ConfusionCounts, reference: ConfusionCounts) -> tuple[Array, Array]:
        return self.rows(group), self.rows(reference)

    def why_undefined(self, group: ConfusionCounts, reference: ConfusionCounts, at: int) -> Reason:
        for side, name in ((group, "group"), (reference, "reference")):
            if not self.rows(side)[at]:
                return Reason.of(ReasonCode.NO_ROWS).on(name)
        return Reason.of(ReasonCode.NO_VARIATION, of="predictions")

    def rows(self, side: ConfusionCounts) -> Array:
        """Return the rows of a side whose prediction is known."""
        rows: Array = side.counts(_PREDICTION).sum(axis=-1)
        return rows

    def selected(self, side: ConfusionCounts) -> Array:
        """Return the selected rows of a side."""
        return side.counts(_PREDICTION)[..., 0]

    def _rate(self, side: ConfusionCounts) -> Array:
        return divide(self.selected(side), self.rows(side), Profile.DOCUMENTED)
