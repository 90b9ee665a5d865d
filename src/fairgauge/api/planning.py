"""Planning: how many rows an audit needs, and the smallest disparity that a table can show."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, cast

from fairgauge.api.audit import audit
from fairgauge.errors import Problem, refuse
from fairgauge.inference.needed_rows import POWER, DetectableDisparity, detectable_disparity
from fairgauge.question.options import Options
from fairgauge.question.probabilities import RECORD, refuse_probabilities
from fairgauge.question.spec_file import Config, with_config
from fairgauge.question.specification import ask
from fairgauge.reasons import ReasonCode
from fairgauge.results.planned import Needed, Planned, Smallest
from fairgauge.results.report import Report
from fairgauge.results.shown_result import made_now
from fairgauge.stats.rows_to_decide import Comparison, Goal, rows_for_verdict
from fairgauge.values import is_number

_LEVEL = 0.95
_RATIO = 0.8
_TOLERANCE = 0.1
_BELOW = 1e-9
_INSUFFICIENT = (
    ReasonCode.FEW_ROWS, ReasonCode.SMALL_GROUP, ReasonCode.FEW_CLUSTERS,
    ReasonCode.FEW_EFFECTIVE_ROWS,
)  # fmt: skip


def plan(
    data: object = None,
    *,
    rate: float | None = None,
    tolerance: float | None = None,
    ratio: float = _RATIO,
    power: float = POWER,
    config: Config = None,
    confidence: float | None = None,
    share: float = 0.5,
    among: float = 1.0,
    cluster_size: float = 1.0,
    icc: float = 0.0,
    **options: Any,
) -> Planned:
    """Report how many rows an audit needs, or the smallest disparity that a table can show.

    Parameters
    ----------
    data : frame, path or Cube, optional
        A table to audit, with the options of `fairgauge.audit`: what it can show of every group
        and every difference of rates asked for. Without it, the rows needed are reported, for which
        ``rate`` is required.
    rate : float in (0, 1)
        The rate of the reference, such as the share of people selected.
    tolerance : float in (0, 1), default 0.1
        The difference of rates that is tolerated, and that should be found.
    ratio : float in (0, 1), default 0.8
        The smallest ratio of rates that is tolerated, and that should be found.
    power : float in (0, 1), default 0.8
        The probability of the wanted verdict: to pass where the rates are equal, to be found where
        they differ as much.
    config : str, Path or mapping, optional
        A specification file, or its keys, which the options override.
    confidence : float in (0, 1), default 0.95
        The level of the intervals; by default that of the counts, where they are given.
    share : float in (0, 1), default 0.5
        The group's share of all rows.
    among : float in (0, 1], default 1
        The share of rows that the rate is counted among: the base rate, for a true positive rate.
    cluster_size, icc : float
        Rows of each cluster (user, session) and their intra-cluster correlation.

    Returns
    -------
    Planned

    Raises
    ------
    SpecError
        Neither data nor a rate are given, or a number is out of its range.

    Notes
    -----
    The probability is that of the verdict of an audit, over all tables that may be drawn: rows are
    sampled, so that the sizes of both groups vary too, and a rule is not evaluated where rows or
    expected counts are too few. They count on independent rows, but for the design effect
    1 + (cluster_size - 1) icc; that of a table with clusters or weights is the one of each
    interval. To find a disparity is to have an interval without "no difference".

    Examples
    --------
    >>> import fairgauge as fg
    >>> fg.plan(rate=0.3, tolerance=0.05).needed[0]
    Needed(goal='to pass equal rates as within 0.05', group=1770, reference=1770)
    """
    if confidence is not None:
        options["confidence"] = confidence
    options = {**with_config(config, cast("Options", options))}
    asked_level = options.pop("confidence", None)
    confidence = _LEVEL if asked_level is None else asked_level
    tolerance = _TOLERANCE if tolerance is None else tolerance
    numbers = {
        "tolerance": tolerance, "ratio": ratio, "power": power, "confidence": confidence,
        "share": share, "icc": icc, "among": among, "rate": rate, "cluster_size": cluster_size,
    }  # fmt: skip
    planned = partial(Planned, confidence=confidence, power=power, **made_now())
    _check(numbers, data, options)
    effect = 1 + (cluster_size - 1) * icc  # the factor by which clusters raise the rows (Kish)
    if data is not None:
        if asked_level is not None:
            options["confidence"] = asked_level
        report = audit(data, **options)
        spec = ask(base=report.counts.asked, **options)
        refuse_probabilities(spec.probabilities, "a plan", RECORD)
        return planned(
            confidence=spec.confidence, smallest=_smallest(report, power), own=report.own
        )
    assert rate is not None

    def rows(
        goal: str, group: float, lower: float, upper: float, verdict: Goal, by: Comparison
    ) -> Needed:
        table = effect * rows_for_verdict(
            group, rate, lower, upper, verdict, by, confidence, power, share=share, among=among
        )
        return _of_both_sides(goal, table, share)

    needed = [
        rows(
            f"to pass equal rates as within {tolerance:g}",
            rate, -tolerance, tolerance, "pass", "difference",
        )
    ]  # fmt: skip
    apart = [p for p in (rate - tolerance, rate + tolerance) if 0 < p < 1]
    found = [
        rows(f"to find a difference of {tolerance:g}", p, 0.0, 0.0, "fail", "difference")
        for p in apart
    ]
    if found:  # the harder of both directions
        needed.append(max(found, key=lambda each: each.total))
    needed += [
        rows(
            f"to pass equal rates as at least {ratio:g} times",
            rate, ratio, math.inf, "pass", "ratio",
        ),
        rows(f"to find a ratio of {ratio:g}", ratio * rate, 1.0, 1.0, "fail", "ratio"),
    ]  # fmt: skip
    return planned(needed=tuple(needed))


def _smallest(report: Report, power: float) -> tuple[Smallest, ...]:
    found: dict[tuple[object, ...], Smallest] = {}
    several_thresholds = len({each.threshold for each in report.groups}) > 1
    for estimate in report.estimates:
        scope = estimate.class_scope.of_class
        if scope.average is not None:  # of no one share of rows
            continue
        few = estimate.reason is not None and estimate.reason.code in _INSUFFICIENT
        few = few and estimate.of_separate_rates and estimate.value is not None
        shown = DetectableDisparity(None, None) if few else detectable_disparity(estimate, power)
        threshold = estimate.threshold if several_thresholds else None
        key = (
            estimate.feature,
            estimate.group,
            scope,
            threshold,
            estimate.rate_group,
            estimate.n_group,
            estimate.rate_reference,
        )
        if shown is None or key in found:
            continue
        assert estimate.group is not None  # two rates are compared, both known
        assert estimate.rate_reference is not None
        assert estimate.n_group is not None
        assert estimate.n_reference is not None
        found[key] = Smallest(
            metric=estimate.metric,
            definition=estimate.definition,
            feature=estimate.feature,
            group=estimate.group,
            reference=None if estimate.reference is None else str(estimate.reference),
            class_scope=scope,
            threshold=threshold,
            rate=estimate.rate_reference,
            n_group=estimate.n_group,
            n_reference=estimate.n_reference,
            difference=shown.difference,
            ratio=shown.ratio,
            reason=estimate.reason if few else None,
        )
    return tuple(found.values())


def _check(numbers: Mapping[str, object], data: object, options: Iterable[str]) -> None:
    problems = []
    if data is None and numbers["rate"] is None:
        problems.append(Problem("rate", "name the rate to plan for, or give data"))
    if data is not None and numbers["rate"] is not None:
        problems.append(Problem("rate", "is read off the data; leave out one of both"))
    if data is None:
        problems += [Problem(name, "needs data to audit") for name in options]
    problems += _out_of_range(numbers)
    refuse(problems)


def _out_of_range(numbers: Mapping[str, object]) -> list[Problem]:
    problems = []
    for name, value in numbers.items():
        if name == "rate" and value is None:
            continue
        low, high, inside = _RANGES.get(name, (0.0, 1.0, "between 0 and 1"))
        if not (is_number(value) and low < value < high):
            problems.append(Problem(name, f"must be a number {inside}, not {value!r}"))
    return problems


_RANGES = {
    "among": (0.0, 1.0 + _BELOW, "above 0, at most 1"),
    "icc": (-_BELOW, 1.0 + _BELOW, "from 0 to 1"),
    "cluster_size": (1.0 - _BELOW, math.inf, "of at least 1"),
}


def _of_both_sides(goal: str, table: float, share: float) -> Needed:
    if math.isinf(table):
        return Needed(goal, math.inf, math.inf)
    total = _whole(table)
    group = _whole(share * total)
    return Needed(goal, group, total - group)


def _whole(rows: float) -> float:
    return math.ceil(rows - _BELOW)
