"""Sequential monitoring with controlled false alarms: e-values from counts, and a detector.

A batch e-value tests "the two rates lie in the tolerated set" and has expectation at most 1
anywhere in that set, whatever the batch sizes and however the rates drift inside it.  The
Shiryaev-Roberts detector sums the e-values over all possible change points.  Its state is a few
numbers per monitor, no data.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from fairgauge.stats.arrays import Array, Limits, floats, quiet
from fairgauge.stats.restricted import under_difference, under_ratio

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

HALF_LIFE = 5.0
"""Batches after which the weight of a past batch is halved in the alternative of recent rates."""


@dataclass(frozen=True, slots=True)
class Tolerated:
    """The tolerated set: ``low <= contrast <= high`` for a difference d - a or a ratio d / a.

    Parameters
    ----------
    low, high : float
        Bounds, possibly infinite (the lower one of a ratio may be 0).  For equality both agree.
    comparison : {"difference", "ratio"}

    Raises
    ------
    ValueError
        When ``low > high``, or a ratio's bound is negative.

    Examples
    --------
    >>> bool(Tolerated(-0.05, 0.05).contains(0.30, 0.34))
    True
    """

    low: float
    high: float
    comparison: Literal["difference", "ratio"] = "difference"

    def __post_init__(self) -> None:
        """Raise ValueError for an empty set."""
        if not self.low <= self.high or (self.comparison == "ratio" and self.low < 0):
            raise ValueError(f"no {self.comparison} lies between {self.low} and {self.high}")

    def contains(self, a: ArrayLike, d: ArrayLike) -> NDArray[np.bool_]:
        """Return whether the rates `a` and `d` are tolerated, bounds included."""
        return ~(self._beyond(a, d, self.low, -1) | self._beyond(a, d, self.high, 1))

    def project(self, a: ArrayLike, d: ArrayLike, n_a: ArrayLike, n_d: ArrayLike) -> Limits:
        """Return the tolerated rates nearest to (`a`, `d`) in n_a KL(a, a0) + n_d KL(d, d0).

        They are the restricted maximum likelihood rates of n_a a and n_d d successes.
        """
        a, d, n_a, n_d = floats(a, d, n_a, n_d)
        near = under_difference if self.comparison == "difference" else under_ratio
        near_a, near_d = a, d
        for bound, side in ((self.low, -1), (self.high, 1)):
            if np.isfinite(bound):
                edge_d, edge_a = near(d * n_d, n_d, a * n_a, n_a, bound)
                beyond = self._beyond(a, d, bound, side)
                near_a, near_d = np.where(beyond, edge_a, near_a), np.where(beyond, edge_d, near_d)
        return near_a, near_d

    def _beyond(self, a: ArrayLike, d: ArrayLike, bound: float, side: int) -> NDArray[np.bool_]:
        a, d = floats(a, d)
        if np.isinf(bound):
            return np.zeros(a.shape, dtype=bool)
        excess = d - a - bound if self.comparison == "difference" else d - bound * a
        return np.asarray(side * excess > 0)


@quiet
def e_value(
    tolerated: Tolerated,
    a: ArrayLike,
    d: ArrayLike,
    x_a: ArrayLike,
    n_a: ArrayLike,
    x_d: ArrayLike,
    n_d: ArrayLike,
) -> Array:
    """Return the e-value of one batch against "the rates are tolerated".

    Parameters
    ----------
    tolerated : Tolerated
    a, d : array-like in [0, 1]
        The alternative hypothesis, chosen before the batch was observed.
    x_a, n_a, x_d, n_d : array-like
        Successes and rows of both groups in the batch; a group may be empty.

    Returns
    -------
    e : array, >= 0
        Its expectation is at most 1 at every tolerated pair of rates; 1 where the alternative is
        itself tolerated.

    References
    ----------
    Turner & Grunwald (2023), Statistics & Probability Letters 198, 109835; Turner, Ly & Grunwald
    (2024), Statistics and Computing 34, 132.

    Examples
    --------
    >>> round(float(e_value(Tolerated(-0.05, 0.05), 0.30, 0.42, 60, 200, 45, 100)), 4)
    3.7014
    """
    a, d, x_a, n_a, x_d, n_d = floats(a, d, x_a, n_a, x_d, n_d)
    near_a, near_d = tolerated.project(a, d, n_a, n_d)
    gain = _log_likelihood(x_a, n_a, a) + _log_likelihood(x_d, n_d, d)
    null = _log_likelihood(x_a, n_a, near_a) + _log_likelihood(x_d, n_d, near_d)
    e = np.where(np.isneginf(gain), 0.0, np.exp(gain - null))
    return np.where(tolerated.contains(a, d), 1.0, e)


@dataclass(frozen=True, slots=True, eq=False)
class Monitor:
    """An e-detector: its settings and its state, replaced after each batch.

    Counts may be arrays, one entry per monitor; the state then has that shape.

    Parameters
    ----------
    tolerated : Tolerated
    alpha : float in (0, 1)
        Largest probability of a false alarm within `horizon` batches; alpha / M for M monitors.
    horizon : float
        Batches that `alpha` refers to (365 for a year of daily ones); inf for all time.
    shift : float, > 0
        Distance beyond the bound at which a change should be detected early, in units of the
        contrast.
    evidence : array of shape (3, ...)
        Shiryaev-Roberts statistics of the alternatives: recent rates, too high, too low.
    recent : array of shape (4, ...)
        Discounted x_a, n_a, x_d, n_d.
    total : array of shape (2, ...)
        Successes and rows of both groups so far.
    batches : int
        Batches seen since the start or the last restart.

    References
    ----------
    Shin, Ramdas & Rinaldo (2023), E-detectors, New England Journal of Statistics in Data Science.

    Examples
    --------
    >>> monitor = Monitor(Tolerated(-0.05, 0.05))
    >>> for day in range(40):
    ...     monitor = monitor.observe(60, 200, 30 if day < 20 else 50, 100)
    >>> bool(monitor.alarm), float(monitor.threshold)
    (True, 7300.0)
    """

    tolerated: Tolerated
    alpha: float = 0.05
    horizon: float = 365.0
    shift: float = 0.05
    evidence: Array = field(default_factory=lambda: np.zeros(3))
    recent: Array = field(default_factory=lambda: np.zeros(4))
    total: Array = field(default_factory=lambda: np.zeros(2))
    batches: int = 0

    @property
    def threshold(self) -> float:
        """Evidence that triggers the alarm."""
        return (self.horizon if np.isfinite(self.horizon) else 1.0) / self.alpha

    @property
    def statistic(self) -> Array:
        """Evidence that the contrast has left the tolerated set."""
        unspent = 0.0 if np.isfinite(self.horizon) else 1 / (self.batches + 1)
        return np.asarray(self.evidence.mean(axis=0) + unspent)

    @property
    def alarm(self) -> NDArray[np.bool_]:
        """Whether the evidence has reached the threshold."""
        return np.asarray(self.statistic >= self.threshold)

    def observe(self, x_a: ArrayLike, n_a: ArrayLike, x_d: ArrayLike, n_d: ArrayLike) -> Monitor:
        """Return the monitor after one more batch of successes and rows."""
        x_a, n_a, x_d, n_d = batch = floats(x_a, n_a, x_d, n_d)
        shape = x_a.shape
        recent, total, evidence = (
            state.reshape(state.shape[0], *(state.shape[1:] or (1,) * len(shape)))
            for state in (self.recent, self.total, self.evidence)
        )
        a, d = self._alternatives(recent, total, n_a, n_d)
        step = self.batches + 1
        start = 1.0 if np.isfinite(self.horizon) else 1 / (step * (step + 1))
        e = e_value(self.tolerated, a, d, x_a, n_a, x_d, n_d)
        return replace(
            self,
            evidence=(evidence + start) * e,
            recent=recent * 0.5 ** (1 / HALF_LIFE) + np.stack(batch),
            total=total + np.stack([x_a + x_d, n_a + n_d]),
            batches=step,
        )

    def restarted(self) -> Monitor:
        """Return the monitor with its evidence at zero, as after an alarm; the rates are kept."""
        return replace(self, evidence=np.zeros_like(self.evidence), batches=0)

    @quiet
    def _alternatives(self, recent: Array, total: Array, n_a: Array, n_d: Array) -> Limits:
        """Return alternative rates of shape (3, ...), from past batches and this one's sizes."""
        smoothed_a = (recent[0] + 0.5) / (recent[1] + 1)
        smoothed_d = (recent[2] + 0.5) / (recent[3] + 1)
        pooled = (total[0] + 0.5) / (total[1] + 1)
        share_d = np.where(n_a + n_d > 0, n_d / (n_a + n_d), 0.5)
        first, second = [smoothed_a + 0 * n_a], [smoothed_d + 0 * n_d]
        for bound, shift in ((self.tolerated.high, self.shift), (self.tolerated.low, -self.shift)):
            if np.isinf(bound):  # no such alternative: tolerated rates, with an e-value of 1
                a = d = pooled + 0 * n_a
            elif self.tolerated.comparison == "difference":
                a = pooled - (bound + shift) * share_d
                d = a + bound + shift
            else:
                ratio = max(bound + shift, bound / 2)
                a = pooled / (1 - share_d + ratio * share_d)
                d = ratio * a
            first.append(a)
            second.append(d)
        return np.clip(np.stack(first), 0.001, 0.999), np.clip(np.stack(second), 0.001, 0.999)


@quiet
def _log_likelihood(x: Array, n: Array, p: Array) -> Array:
    success, failure = x * np.log(p), (n - x) * np.log1p(-p)
    return np.where(x > 0, success, 0.0) + np.where(n > x, failure, 0.0)
