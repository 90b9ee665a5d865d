"""How many people have to be asked for their group until a rule is decided.

Those who are asked are drawn at random. Their answers correct what probabilities make of all people
(`validated_rates`), or make an estimate of their own.
"""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from fairgauge.enums import Estimator
from fairgauge.inference.unrecorded_rates import By, LinearEstimator, UnrecordedRate, contrast_value
from fairgauge.reasons import FEWEST_ROWS
from fairgauge.stats.arrays import Array
from fairgauge.stats.group_probabilities import group_given_kind, validated_rates
from fairgauge.stats.intervals import critical

Limits = tuple[float, float]


class NeededAnswers:
    """The answers that decide rules about one rate, if people answer as one estimator expects.

    Parameters
    ----------
    rate : of every group.
    expects : the estimator that is taken to be right: of probabilities, or of answers there are.
    confidence, power : of the interval, and the probability that it decides.
    """

    def __init__(
        self, rate: UnrecordedRate, expects: Estimator, confidence: float, power: float
    ) -> None:
        self._rate, self._confidence, self._power = rate, confidence, power
        cells = rate.cells
        if expects is Estimator.VALIDATED:
            assert cells.known is not None
            answers = cells.known
        elif expects is Estimator.WEIGHTED:
            answers = cells.n[:, :, None] * cells.p[:, None, :]
        else:
            answers = cells.n[:, :, None] * group_given_kind(rate.theta, cells.p)
        self._of_one = answers / answers.sum()
        self._people = float(cells.n.sum())

    def value(self, sides: tuple[int, ...], by: By | None) -> float:
        """Return the rate of a side, or the contrast of two, that is expected."""
        rates = [self._made(self._people, alone=False).value(side) for side in sides]
        return rates[0] if by is None else contrast_value(by, rates[0], rates[1])

    def answers(
        self, sides: tuple[int, ...], by: By | None, limits: Limits, *, alone: bool = False
    ) -> float:
        """Return the fewest answers that decide a rule; infinite where those of all do not.

        With ``alone``, of people whose probabilities are not known.
        """
        value, (low, high) = self.value(sides, by), limits
        passes = low < value < high
        both = passes and math.isfinite(low) and math.isfinite(high)
        tail = (1 - self._power) / (2 if both else 1)
        z = critical(self._confidence) + NormalDist().inv_cdf(1 - tail)

        def decided(people: int) -> bool:
            made = self._made(people, alone=alone)
            if not all(self._is_enough(made, people, side) for side in sides):
                return False
            one, other = sides[0], sides[-1]
            least, most = made.limits(one, z) if by is None else made.contrast(by, one, other, z)
            return (low <= least and most <= high) if passes else (most < low or least > high)

        fewest, enough = 1, math.floor(self._people)
        if not decided(enough):
            return math.inf
        while fewest < enough:
            middle = (fewest + enough) // 2
            fewest, enough = (fewest, middle) if decided(middle) else (middle + 1, enough)
        return enough

    def _made(self, people: float, *, alone: bool) -> LinearEstimator:
        rate, cells = self._rate, self._rate.cells
        known = self._of_one * people
        made = validated_rates(rate.theta, cells.p, cells.n, known, rate.sides, cells.squares)
        if alone:
            none = np.zeros_like(cells.p)
            by_itself = validated_rates(rate.theta, none, cells.n, known, rate.sides, cells.squares)
            made = replace(by_itself, rates=made.rates)
        return LinearEstimator(made)

    def _is_enough(self, made: LinearEstimator, people: int, side: int) -> bool:
        """Return whether so many answers would probably suffice for the rate of a side."""
        mask: Array = self._rate.sides[side]
        if mask.all():
            return True
        expected = people * float(self._of_one[:, :, mask].sum())
        surely = expected - NormalDist().inv_cdf(self._power) * math.sqrt(expected)
        return min(surely, made.effective_people(side)) >= FEWEST_ROWS
