"""Planning how many people are asked for their group, of which only probabilities are known.

Those who are asked are drawn at random. Their answers correct what probabilities make of all people
(`validated_rates`), or make an estimate of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.statistics import Rate
from fairgauge.cube.cube import Cube
from fairgauge.enums import Decide, Estimator
from fairgauge.errors import Problem, quote, refuse
from fairgauge.inference.unrecorded_rates import (
    By,
    LinearEstimator,
    UnrecordedRate,
    can_be_validated,
    contrast_value,
)
from fairgauge.measure.measure_unrecorded import EstimatedGroups, compared_sides, estimated_groups
from fairgauge.question.rules import Rule
from fairgauge.question.specification import Spec
from fairgauge.reasons import FEWEST_ROWS
from fairgauge.resolve.resolution import Resolution, resolve
from fairgauge.results.planned import SelfReports
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
        mask: Array = self._rate.sides[side]
        if mask.all():
            return True
        expected = people * float(self._of_one[:, :, mask].sum())
        surely = expected - NormalDist().inv_cdf(self._power) * math.sqrt(expected)
        return min(surely, made.effective_people(side)) >= FEWEST_ROWS


def needed_self_reports(cube: Cube, spec: Spec, power: float) -> Iterator[SelfReports]:
    """Yield the self-reports that decide every rule, for every group that nobody recorded.

    Raises
    ------
    SpecError
        There is no rule, rows depend on each other, or a rule is of no shares.
    """
    problems = []
    if not spec.rules:
        message = "name a rule that people's own answers are to decide, such as DI >= 0.8"
        problems.append(Problem("rules", message))
    if spec.cluster is not None:
        message = "self-reports are planned for rows that are independent; plan without cluster"
        problems.append(Problem("cluster", message))
    for i, rule in spec.limits:
        of = rule.row.of if isinstance(rule.row, Contrast) else rule.row
        if not isinstance(of, Rate) or rule.decide is not Decide.INTERVAL:
            message = (
                f"self-reports are planned for shares of rows and their differences and ratios "
                f"that the whole interval decides, not for {quote(str(rule))}"
            )
            problems.append(Problem(f"rules[{i}]", message))
    refuse(problems)
    resolution = resolve(cube, spec)
    for counts in estimated_groups(cube, spec):
        for _, rule in spec.limits:
            if not rule.features or counts.feature in rule.features:
                yield from _of_rule(counts, rule, resolution, power)


def _of_rule(
    counts: EstimatedGroups, rule: Rule, resolution: Resolution, power: float
) -> Iterator[SelfReports]:
    row = rule.row
    of = row.of if isinstance(row, Contrast) else row
    assert isinstance(of, Rate)
    for outcome in resolution.outcomes:
        rate = counts.rate(of, outcome)
        times = counts.every_case / rate.cells.n.sum()  # of those asked some have no such rate
        by_what_is_right: dict[Estimator, NeededAnswers] = {}
        for group, side, reference in compared_sides(counts, resolution.spec):
            if rule.groups and counts.groups[group] not in rule.groups:
                continue
            sides: tuple[int, ...] = (group,)
            by = None
            if isinstance(row, Contrast):
                by = row.by
                sides = (group, side) if row.order == "group - reference" else (side, group)
            # answers that there are, or what probabilities make of all people
            answered = counts.drawn and can_be_validated(rate, sides)
            expects = Estimator.VALIDATED if answered else Estimator.LIKELIHOOD
            if expects not in by_what_is_right:
                by_what_is_right[expects] = NeededAnswers(
                    rate, expects, resolution.spec.confidence, power
                )
            needed = by_what_is_right[expects]
            answers, alone = (
                math.ceil(each * times) if math.isfinite(each) else each
                for each in (
                    needed.answers(sides, by, (rule.low, rule.high), alone=alone)
                    for alone in (False, True)
                )
            )
            yield SelfReports(
                metric=rule.metric,
                definition=row,
                feature=counts.feature,
                group=counts.groups[group],
                reference=str(reference) if by else None,
                rule=str(rule),
                class_scope=outcome.class_scope,
                threshold=outcome.threshold,
                expects=expects,
                expected=needed.value(sides, by),
                self_reports=answers,
                at_most=max(answers, alone),
                answered=counts.drawn,
            )
