"""Planning: how many rows an audit needs, and the smallest disparity that a table can show."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast

from fairgauge.api.audit import audit
from fairgauge.errors import Problem, refuse, shown
from fairgauge.inference.needed_rows import POWER, DetectableDisparity, detectable_disparity
from fairgauge.measure.needed_self_reports import needed_self_reports
from fairgauge.question.options import Options
from fairgauge.question.readers import is_finite
from fairgauge.question.spec_file import Config, with_config
from fairgauge.question.specification import ask
from fairgauge.reasons import ReasonCode
from fairgauge.results.planned import Needed, Planned, PlannedPairs, Smallest
from fairgauge.results.report import Report
from fairgauge.results.shown_result import made_now
from fairgauge.stats.rows_to_decide import (
    Comparison,
    CrossedDesign,
    Goal,
    fewest,
    rows_for_verdict,
)
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
    comparisons: float = 1.0,
    pairs: Mapping[str, float] | None = None,
    names: int | None = None,
    items: int | None = None,
    runs: int = 1,
    **options: Any,
) -> Planned:
    """Report how many rows an audit needs, or the smallest disparity that a table can show.

    Parameters
    ----------
    data : frame, path or Cube, optional
        A table to audit, with the options of `fairgauge.audit`: what it can show of every group
        and every difference of rates asked for; of groups that nobody recorded
        (`fairgauge.probabilities`), how many people to ask for theirs until the rules are decided.
        Without it, the rows needed are reported, for which ``rate`` is required.
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
    pairs : mapping, optional
        For an audit by swapped names (`fairgauge.pairs`) instead: standard deviations of ``names``
        in a group, of ``items`` (of their differences between groups), of the ``interaction`` of
        items and names, and of ``runs``, as the components of a pilot; 0 where absent. Reported are
        the names a side that find a difference of ``tolerance``, which may be on any scale.
    comparisons : float, default 1
        Models and groups of that audit, whose p-values are adjusted together.
    names, items, runs : int, optional
        Of that audit: the items, and the answers to each under each name (default 1); with
        ``names`` in place of ``items``, the items are reported.

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
        "comparisons": comparisons,
    }  # fmt: skip
    planned = partial(Planned, confidence=confidence, power=power, **made_now())
    if pairs is not None:
        wrong = _out_of_range({"power": power, "confidence": confidence, "detects": tolerance})
        of_others = {"ratio": _RATIO, "share": 0.5, "icc": 0.0, "among": 1.0, "rate": None,
                     "cluster_size": 1.0}  # fmt: skip
        unused = [*options, *(name for name, default in of_others.items()
                              if numbers[name] != default)]  # fmt: skip
        wrong += [Problem(name, "is not planned for with pairs; remove it") for name in unused]
        if not comparisons >= 1:
            wrong.append(Problem("comparisons", f"must be 1 or more, not {shown(comparisons)}"))
        design = _read_design(pairs, names, items, runs, wrong)
        level = 1 - (1 - confidence) / comparisons  # the hardest step of Holm
        answers = _answers_needed(design, tolerance, power, level, by_items=names is not None)
        return planned(answers=answers)
    _check(numbers, data, options)
    effect = 1 + (cluster_size - 1) * icc  # the factor by which clusters raise the rows (Kish)
    if data is not None:
        if asked_level is not None:
            options["confidence"] = asked_level
        report = audit(data, **options)
        cube = report.counts
        spec = ask(base=cube.asked, **options)
        reports = needed_self_reports(cube, spec, power) if spec.probabilities else ()
        return planned(
            confidence=spec.confidence,
            smallest=_smallest(report, power),
            self_reports=tuple(reports),
            own=report.own,
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
    unrecorded = {each["name"] for each in report.spec.get("probabilities", ())}
    several_thresholds = len({each.threshold for each in report.groups}) > 1
    for estimate in report.estimates:
        scope = estimate.class_scope.of_class
        if estimate.feature in unrecorded or scope.average is not None:  # of no one share of rows
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


_DEVIATIONS = ("names", "items", "interaction", "runs")


def _read_design(
    deviations: Mapping[str, float],
    names: int | None,
    items: int | None,
    runs: int,
    problems: list[Problem],
) -> CrossedDesign:
    """Return the design of an audit by swapped names, with 3 of what is to be found.

    Its own problems are raised together with those that there are already.
    """
    allowed = ", ".join(_DEVIATIONS)
    for name, value in deviations.items():
        if name not in _DEVIATIONS:
            problems.append(Problem(f"pairs.{name}", f"unknown key. Allowed: {allowed}"))
        elif not (is_finite(value) and float(value) >= 0):
            message = f"must be a number, 0 or greater, not {shown(value)}"
            problems.append(Problem(f"pairs.{name}", message))
    if not any(deviations.values()):
        problems.append(Problem("pairs", "give a standard deviation above 0, such as runs=0.5"))
    if (names is None) == (items is None):
        problems.append(Problem("items", "give either the number of items, or of names a side"))
    for name, count, least in (("names", names, 3), ("items", items, 3), ("runs", runs, 1)):
        if count is not None and not (isinstance(count, int) and count >= least):
            message = f"must be a whole number of at least {least}, not {shown(count)}"
            problems.append(Problem(name, message))
    refuse(problems)
    sd = {name: float(deviations.get(name, 0.0)) for name in _DEVIATIONS}
    side = names or 3
    return CrossedDesign(
        names_sd=sd["names"], items_sd=sd["items"], cells_sd=sd["interaction"], runs_sd=sd["runs"],
        names=(side, side), items=items or 3, runs=runs,
    )  # fmt: skip


def _answers_needed(
    design: CrossedDesign, tolerance: float, power: float, confidence: float, *, by_items: bool
) -> PlannedPairs:
    def finds(planned: CrossedDesign) -> bool:
        return planned.power_to_differ(tolerance, confidence) >= power

    def equates(planned: CrossedDesign) -> bool:
        return planned.power_to_equal(0.0, tolerance, confidence) >= power

    number = fewest(design, "items" if by_items else "names", finds)
    names = design.names[0] if by_items else number
    items = number if by_items else design.items
    share: dict[str, float] = {}
    equivalent = None
    if names is not None and items is not None:
        found = replace(design, names=(names, names), items=items)
        share = {term: value / found.variance for term, value in found.terms.items()}
        equivalent = found.power_to_equal(0.0, tolerance, confidence)
    return PlannedPairs(
        names=names,
        items=items,
        runs=design.runs,
        planned="items" if by_items else "names",
        detects=tolerance,
        deviations={
            "names": design.names_sd,
            "items": design.items_sd,
            "interaction": design.cells_sd,
            "runs": design.runs_sd,
        },
        power_equivalent=equivalent,
        equivalent_from=fewest(design, "items" if by_items else "names", equates),
        share_names=share.get("names"),
        share_items=share.get("items"),
        share_runs=share.get("runs"),
    )


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
            option = "tolerance" if name == "detects" else name
            problems.append(Problem(option, f"must be a number {inside}, not {value!r}"))
    return problems


_RANGES = {
    "detects": (0.0, math.inf, "above 0"),
    "among": (0.0, 1.0 + _BELOW, "above 0, at most 1"),
    "comparisons": (1.0 - _BELOW, math.inf, "of at least 1"),
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
