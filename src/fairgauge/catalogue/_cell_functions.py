"""Statistics that are any function of the four cells, given as Python code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.cells import ALL, FN, FP, TN, TP, Cells
from fairgauge.catalogue.statistics import DrawnStatistic, none_of
from fairgauge.errors import Problem, SpecError, quote
from fairgauge.reasons import all_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairgauge.catalogue.cells import Array, Need
    from fairgauge.catalogue.confusion_counts import ConfusionCounts
    from fairgauge.enums import Profile
    from fairgauge.reasons import Reason

_BOTH: frozenset[Need] = frozenset({"label", "prediction"})
_TRIAL = np.array([[7, 2, 3, 11], [1, 1, 1, 1], [40, 5, 2, 9], [3, 17, 8, 2]], dtype=float)
"""Tables without an empty cell, on which every function is tried when it is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellFunction(DrawnStatistic):
    """A function of arrays of TP, FP, FN and TN, undefined where a sum in ``nonzero`` is 0."""

    function: Callable[[Array, Array, Array, Array], object]
    limits: tuple[float, float]
    nonzero: tuple[Cells, ...] = ()
    share: bool = False

    @property
    def is_share(self) -> bool:  # type: ignore[override]
        return self.share

    @property
    def sums(self) -> tuple[Cells, ...]:
        return (TP, FP, FN, TN)

    @property
    def needs(self) -> frozenset[Need]:
        return _BOTH

    @property
    def formula(self) -> str:
        return f"{self.name}(TP, FP, FN, TN)"

    @property
    def range(self) -> tuple[float, float]:
        return self.limits

    @property
    def edges(self) -> str:
        sums = " or ".join(f"{cells} = 0" for cells in (*self.nonzero, ALL))
        return f"undefined when {sums}"

    def value(self, side: ConfusionCounts, profile: Profile) -> Array:
        del profile
        counts = side.counts(_BOTH)
        defined = np.all([cells.count(counts) > 0 for cells in (ALL, *self.nonzero)], axis=0)
        values = np.full(defined.shape, np.nan)
        if defined.any():
            values[defined] = self._computed(counts[defined])
        return values

    def size(self, side: ConfusionCounts) -> Array:
        counts = side.counts(_BOTH)
        rows: Array = np.min([cells.count(counts) for cells in (*self.nonzero, ALL)], axis=0)
        return rows

    def why_undefined(self, side: ConfusionCounts, at: int) -> Reason:
        counts = side.counts(_BOTH)[at]
        empty = [cells for cells in (ALL, *self.nonzero) if not cells.count(counts)]
        return all_of(map(none_of, empty))

    def try_out(self) -> None:
        """Check that the function works element by element.

        Raises
        ------
        SpecError
            It does not.
        """
        together = self._computed(_TRIAL)
        alone = np.concatenate([self._computed(row[None]) for row in _TRIAL])
        if not np.allclose(together, alone, rtol=1e-9):
            raise self._refused(
                "gives other values for arrays than for their elements one by one; "
                "compute it element by element, without sums over the arrays"
            )

    def _computed(self, counts: Array) -> Array:
        """Return the values of tables of shape (n, 4), checked; shape (n,)."""
        try:
            with np.errstate(all="ignore"):
                found = self.function(*(counts[:, i].copy() for i in range(4)))
            values = np.asarray(found, dtype=np.float64)
        except Exception as error:
            raise self._refused(
                f"raised {type(error).__name__}: {error}; it takes arrays of TP, FP, FN and TN "
                "and computes element by element (np.where instead of if)"
            ) from error
        if values.shape != counts.shape[:1]:
            raise self._refused(
                f"returned an array of shape {values.shape} for arrays of shape "
                f"{counts.shape[:1]}; it must return one number for each table"
            )
        low, high = self.limits
        wrong = ~np.isfinite(values) | (values < low) | (values > high)
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            cells = ", ".join(
                f"{name} = {count:.6g}"
                for name, count in zip(("TP", "FP", "FN", "TN"), counts[at].tolist(), strict=True)
            )
            allowed = (
                f"a number from {low:g} to {high:g}; give its range"
                if np.isfinite(values[at])
                else "a finite number; name the sums of cells that must not be 0 (nonzero=...)"
            )
            raise self._refused(f"returned {values[at]:g} for {cells}; it must return {allowed}")
        return values

    def _refused(self, why: str) -> SpecError:
        called = getattr(self.function, "__qualname__", repr(self.function))
        return SpecError(Problem("metrics", f"function {quote(called)} of {self.name} {why}"))
