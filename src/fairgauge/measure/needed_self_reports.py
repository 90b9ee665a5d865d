"""Planning how many people are asked for their group, of which only probabilities are known."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.statistics import Rate
from fairgauge.cube.cube import Cube
from fairgauge.enums import Decide, Estimator
from fairgauge.errors import Problem, SpecError, quote
from fairgauge.inference.needed_answers import NeededAnswers
from fairgauge.inference.unrecorded_rates import UnrecordedRate, can_be_validated
from fairgauge.measure.measure_unrecorded import EstimatedGroups, compared_sides, estimated_groups
from fairgauge.question.rules import Rule
from fairgauge.question.specification import Spec
from fairgauge.resolve.resolution import Resolution, resolve
from fairgauge.results.planned import SelfReports


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
    if problems:
        raise SpecError(problems)
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
            for expects in _expected(counts, rate, sides):
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


def _expected(
    counts: EstimatedGroups, rate: UnrecordedRate, sides: Sequence[int]
) -> list[Estimator]:
    """Return what is taken to be right: answers that there are, or both usual assumptions."""
    if counts.drawn and can_be_validated(rate, sides):
        return [Estimator.VALIDATED]
    usual = [Estimator.WEIGHTED]
    return usual if rate.mixture.unidentified.any() else [Estimator.LIKELIHOOD, *usual]
