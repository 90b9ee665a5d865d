"""Margins of disparities: how much worse each, and a group's own rates, may be under a candidate.

A margin is asked for by name, or once for all disparities; else it follows from a rule. Margins of
ratios are shares of them: with 0.05, a ratio of 0.8 may become 0.76.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairgauge.errors import Problem, SpecError, listing, quote
from fairgauge.question.specification import EVERY_DISPARITY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fairgauge.catalogue.comparisons import Metric
    from fairgauge.question.specification import Spec
    from fairgauge.results.model_comparison import DisparityChange


def rate_margins(spec: Spec) -> tuple[tuple[str, float], ...]:
    """Return the margins of rates of all rows."""
    return tuple(each for each in spec.margins if _disparity(spec, each[0]) is None)


def margin_of_disparity(spec: Spec, one: DisparityChange) -> float | None:
    """Return by how much further from "no difference" a disparity may be.

    By default, half of the distance between its value under the model in use and the limit of its
    rule: 0 where it is beyond.
    """
    asked = _asked(spec, one.metric)
    if asked is not None or one.old is None:
        return asked
    slacks = [
        far - _distance(one.definition, one.old, one.by) * same_side
        for far, same_side in _limits(spec, one)
    ]
    return _as_margin(max(min(slacks), 0.0) / 2, one.by) if slacks else None


def margin_of_group(spec: Spec, one: DisparityChange) -> float | None:
    """Return by how much a group's own rate may be worse, of which a disparity is made.

    By default, half of the distance between "no difference" and the limit of the rule.
    """
    asked = _asked(spec, one.metric)
    far = [far for far, _ in _limits(spec, one)]
    return asked if asked is not None or not far else _as_margin(min(far) / 2, one.by)


def as_distance(margin: float, by: str) -> float:
    """Return a margin as a distance: of ratios, of their logarithms.

    >>> as_distance(0.05, "difference")
    0.05
    """
    return -math.log1p(-margin) if by == "ratio" else margin


def check_margins(spec: Spec, compared: Iterable[str]) -> None:
    """Refuse margins of disparities that are not compared.

    Raises
    ------
    SpecError
        A margin is of a metric that is not among those compared.
    """
    names = list(dict.fromkeys(compared))
    problems = [
        Problem(
            f"margins.{name}",
            f"is not compared; name {quote(name)} in metrics, too (compared: {listing(names)})",
        )
        for name, _ in spec.margins
        if _disparity(spec, name) not in (None, EVERY_DISPARITY, *names)
    ]
    if problems:
        raise SpecError(problems)


def _disparity(spec: Spec, name: str) -> str | None:
    """Return the metric that a margin is of by its own name; None where it is of a rate."""
    if name == EVERY_DISPARITY:
        return name
    try:
        spec.catalogue.rate(name)
    except LookupError:
        return spec.catalogue.metric(name).name
    return None


def _asked(spec: Spec, metric: str) -> float | None:
    """Return the margin that is asked for by the metric's name, or for all disparities."""
    margins = {_disparity(spec, name): margin for name, margin in spec.margins}
    return margins.get(metric, margins.get(EVERY_DISPARITY))


def _limits(spec: Spec, one: DisparityChange) -> Iterator[tuple[float, bool]]:
    """Yield how far each limit of a rule is, and whether the disparity is on that side now."""
    metric = one.definition
    for _, limit in spec.limits:
        of_these = (not limit.features or one.feature in limit.features) and (
            not limit.groups or one.group in limit.groups
        )
        if limit.metric != metric.name or not of_these or math.isnan(metric.neutral):
            continue
        for end in (limit.low, limit.high):
            if math.isfinite(end) and (one.by == "difference" or end > 0):
                same = one.old is not None and (one.old - metric.neutral) * (
                    end - metric.neutral
                ) > 0  # fmt: skip
                yield _distance(metric, end, one.by), same


def _distance(metric: Metric, value: float, by: str) -> float:
    if by == "ratio":
        return abs(math.log(value)) if value > 0 else math.inf
    return abs(value - metric.neutral)


def _as_margin(distance: float, by: str) -> float:
    return -math.expm1(-distance) if by == "ratio" else distance
