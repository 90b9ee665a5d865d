"""Differences of means in units of the spread inside the two sides."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from fairgauge.catalogue.arithmetic import amount
from fairgauge.catalogue.comparisons import Comparison
from fairgauge.enums import Profile, Task

if TYPE_CHECKING:
    from fairgauge.catalogue.cells import Array, Need
    from fairgauge.catalogue.confusion_counts import Side

_PREDICTION: frozenset[Need] = frozenset({"prediction"})
_NEEDS: dict[str, frozenset[Need]] = {"score": frozenset({"score"}), "selection": _PREDICTION}
_SUMS = {"label": ("y", "yy"), "prediction": ("p", "pp")}


@dataclass(frozen=True, slots=True, kw_only=True)
class StandardisedDifference(Comparison):
    """The difference of two means over the pooled standard deviation (Cohen's d).

    The mean of ``selection`` is the selection rate.
    """

    of: Literal["label", "prediction", "score", "selection"]

    @property
    def tasks(self) -> frozenset[Task]:  # type: ignore[override]
        return frozenset({Task.BINARY if self.of in ("score", "selection") else Task.REGRESSION})

    @property
    def needs(self) -> frozenset[Need]:
        return _NEEDS.get(self.of, frozenset({"label", "prediction"}))

    @property
    def formula(self) -> str:
        return "(mean_d - mean_a) / sqrt(((n_d - 1) s_d^2 + (n_a - 1) s_a^2) / (n_d + n_a - 2))"

    @property
    def range(self) -> tuple[float, float]:
        return (-math.inf, math.inf)

    @property
    def edges(self) -> str:
        return "undefined with fewer than two rows on a side, or when the values do not vary"

    def value(self, group: Side, reference: Side, profile: Profile) -> Array:
        ours, theirs = self.side_values(group, reference, profile)
        n, spread = self._spread(group)
        m, other = self._spread(reference)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = (ours - theirs) / np.sqrt((spread + other) / (n + m - 2))
        known = (np.minimum(n, m) >= 2) & np.isfinite(value)
        return np.where(known, value, np.nan)

    def side_values(self, group: Side, reference: Side, profile: Profile) -> tuple[Array, Array]:
        del profile
        return self._mean(group), self._mean(reference)

    def sizes(self, group: Side, reference: Side) -> tuple[Array, Array]:
        return self._sums(group)[0], self._sums(reference)[0]

    def why_undefined(self, group: Side, reference: Side, at: int) -> str:
        for side, name in ((group, "group"), (reference, "reference")):
            if self._sums(side)[0][at] < 2:
                return f"the {name} has fewer than two rows with a {self._what}"
        return f"{self._what}s do not vary"

    def sentence(self, value: float, group: str, reference: str, sides: tuple[float, float]) -> str:
        word = "above" if value > 0 else "below"
        mean = "selection rate" if self.of == "selection" else f"mean {self.of}"
        return (
            f"{group}: {mean} {amount(sides[0], 4)}, "
            f"{abs(value):.3g} standard deviations {word} "
            f"{reference} ({amount(sides[1], 4)})"
        )

    @property
    def _what(self) -> str:
        return "prediction" if self.of == "selection" else self.of

    def _sums(self, side: Side) -> tuple[Array, Array, Array]:
        """Return rows, sum and sum of squares."""
        if self.of == "score":
            assert side.scores is not None
            return side.scores.every.sum(axis=-1), side.scores.total, side.scores.squares
        if self.of == "selection":  # of zeros and ones, the squares are themselves
            cells = side.counts(_PREDICTION)
            return cells.sum(axis=-1), cells[..., 0], cells[..., 0]
        first, second = _SUMS[self.of]
        return side.moments["n"], side.moments[first], side.moments[second]

    def _mean(self, side: Side) -> Array:
        n, total, _ = self._sums(side)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean: Array = total / n
        return mean

    def _spread(self, side: Side) -> tuple[Array, Array]:
        """Return rows, and the sum of squares about the mean."""
        n, total, squares = self._sums(side)
        with np.errstate(divide="ignore", invalid="ignore"):
            return n, np.maximum(squares - total**2 / n, 0.0)
