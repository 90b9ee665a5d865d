"""Sample sizes and detectable differences, for planning: of rates, and of crossed designs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from fairgauge.stats.arrays import Array, floats, quiet
from fairgauge.stats.intervals import critical

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

Comparison: TypeAlias = Literal["difference", "ratio"]


@quiet
def detectable_difference(
    p1: ArrayLike,
    n1: ArrayLike,
    p2: ArrayLike,
    n2: ArrayLike,
    confidence: float = 0.95,
    power: float = 0.8,
) -> Array:
    """Return the smallest true difference of rates that a test detects with the given power.

    Parameters
    ----------
    p1, n1, p2, n2 : array-like
        Rates in [0, 1] and sizes of both groups; an empty group gives inf.
    confidence, power : float in (0, 1)

    Returns
    -------
    difference : array

    Examples
    --------
    >>> round(float(detectable_difference(0.3, 290.41, 0.2, 290.41)), 3)
    0.1
    """
    p1, n1, p2, n2 = floats(p1, n1, p2, n2)
    spread = p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2
    known = (n1 > 0) & (n2 > 0)
    z = critical(confidence) + _power_quantile(power)
    return np.where(known, z * np.sqrt(spread), np.inf)


def design_effect(cluster_size: ArrayLike, icc: ArrayLike) -> Array:
    """Return the factor by which clusters raise the sample size needed, 1 + (m - 1) ICC.

    Parameters
    ----------
    cluster_size : array-like, >= 1
        Mean rows per cluster.
    icc : array-like in [0, 1]
        Intra-cluster correlation.

    References
    ----------
    Kish (1965), Survey Sampling.

    Examples
    --------
    >>> float(design_effect(21, 0.1))
    3.0
    """
    size, correlation = floats(cluster_size, icc)
    return 1 + (size - 1) * correlation


def times_the_rows(
    z: ArrayLike, comparisons: int = 1, confidence: float = 0.95, power: float = 0.8
) -> Array:
    """Return how many times the rows would show an effect, if it is as large as estimated.

    Parameters
    ----------
    z : array-like
        How many standard errors the estimate lies from the null, in the direction to be shown; it
        grows with the root of the rows. 0 and below gives inf.
    comparisons : int, >= 1
        Comparisons that are adjusted for, by Bonferroni's level.
    confidence, power : float in (0, 1)

    Examples
    --------
    >>> round(float(times_the_rows(1.0)), 2)  # (1.96 + 0.84) ** 2
    7.85
    """
    (observed,) = floats(z)
    wanted = critical(1 - (1 - confidence) / comparisons) + _power_quantile(power)
    with np.errstate(divide="ignore"):
        return np.where(observed > 0, (wanted / observed) ** 2, np.inf)


def _power_quantile(probability: float) -> float:
    if not 0 < probability < 1:
        raise ValueError(f"power must lie inside (0, 1); found {probability!r}")
    return NormalDist().inv_cdf(probability)


_MOST = 10_000
"""Above this number of names, items or runs none is practical."""
_PLACES = (np.arange(64) + 0.5) / 64
"""The quantiles at which an estimated variance is looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossedDesign:
    """A complete design: every item under every name, each several times.

    Attributes
    ----------
    names_sd, items_sd, cells_sd, runs_sd : standard deviations of names in a group, of the items'
        differences between groups, of items by names, and of runs.
    names : names of both sides.
    items, runs : items, and answers to each under each name.
    placebos : how many irrelevant edits the variance of names is estimated from; None where it is
        from the names.

    Examples
    --------
    >>> design = CrossedDesign(
    ...     names_sd=0.2, items_sd=0.1, cells_sd=0.3, runs_sd=0.5, names=(8, 8), items=30, runs=2
    ... )
    >>> round(design.power_to_differ(delta=0.3, confidence=0.95), 2)
    0.72
    """

    names_sd: float
    items_sd: float
    cells_sd: float
    runs_sd: float
    names: tuple[int, int]
    items: int
    runs: int
    placebos: int | None = None

    @property
    def terms(self) -> dict[str, float]:
        """Return the terms of the variance of the difference, by what they are of."""
        a_name = sum(1 / n for n in self.names)
        return {
            "names": self.names_sd**2 * a_name,
            "items": (self.items_sd**2 + self.cells_sd**2 * a_name) / self.items,
            "runs": self.runs_sd**2 * a_name / (self.items * self.runs),
        }

    def number_of(self, what: str) -> int:
        """Return how many items or runs it has, or names on the side of fewer."""
        return min(self.names) if what == "names" else int(getattr(self, what))

    def with_number(self, what: str, n: int) -> CrossedDesign:
        """Return it with other items or runs, or with at least so many names on each side."""
        first, second = self.names
        value = (max(n, first), max(n, second)) if what == "names" else n
        return replace(self, **{what: value})  # type: ignore[arg-type]

    @property
    def variance(self) -> float:
        """Return the variance of the difference."""
        return math.fsum(self.terms.values())

    @property
    def degrees_of_freedom(self) -> float:
        """Return Satterthwaite's degrees of freedom, expected."""
        cell = (self.cells_sd**2 + self.runs_sd**2 / self.runs) / self.items
        a_name = sum(1 / n for n in self.names)
        of_name = self.names_sd**2 + cell
        if self.placebos is None:
            spread = sum((of_name / n) ** 2 / (n - 1) for n in self.names)
        else:
            spread = (of_name * a_name) ** 2 / (self.placebos - 1)
        of_items = self.items_sd**2 / self.items + cell * a_name
        spread += of_items**2 / (self.items - 1)
        return self.variance**2 / spread if spread > 0 else math.inf

    @property
    def answers(self) -> int:
        """Return how many answers it takes."""
        return sum(self.names) * self.items * self.runs

    def power_to_differ(self, delta: float, confidence: float) -> float:
        """Return the probability that a difference is statistically significant."""
        from scipy import special

        limits, shift = self._limits(confidence), abs(delta) / math.sqrt(self.variance)
        return float((special.ndtr(shift - limits) + special.ndtr(-shift - limits)).mean())

    def power_to_equal(self, delta: float, margin: float, confidence: float) -> float:
        """Return the probability that the whole interval is within the margin."""
        from scipy import special

        error = math.sqrt(self.variance)
        room, shift = margin / error - self._limits(confidence), delta / error
        inside = special.ndtr(room - shift) - special.ndtr(-room - shift)
        return float(np.maximum(inside, 0.0).mean())

    def _limits(self, confidence: float) -> NDArray[np.float64]:
        """Return half of the intervals' widths, in standard errors, over estimated variances."""
        from scipy import special

        df = self.degrees_of_freedom
        if not math.isfinite(df):
            return np.full(1, -special.ndtri((1 - confidence) / 2))
        ratio = np.sqrt(2 * special.gammaincinv(df / 2, _PLACES) / df)
        limits: NDArray[np.float64] = -special.stdtrit(df, (1 - confidence) / 2) * ratio
        return limits


def fewest(
    design: CrossedDesign, what: str, reached: Callable[[CrossedDesign], bool]
) -> int | None:
    """Return the fewest names a side, items or runs with which a design is as wanted.

    They are as many as it has, or more; None where no practical number of them is.
    """
    low = design.number_of(what)

    def enough(n: int) -> bool:
        return reached(design.with_number(what, n))

    if enough(low):
        return low
    high = 2 * low
    while not enough(high):
        if high > _MOST:
            return None
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
