"""Planning: how many rows an audit needs."""

from __future__ import annotations

import math

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.errors import Problem, refuse
from fairgauge.inference.needed_rows import POWER
from fairgauge.question.specification import Config, read_part, with_config
from fairgauge.results.plan import Needed, Planned
from fairgauge.results.shown_result import made_now
from fairgauge.stats.rows_to_decide import Comparison, rows_for_verdict
from fairgauge.values import is_number

_BELOW = 1e-9
_RANGES = {
    "among": (0.0, 1.0 + _BELOW, "above 0, at most 1"),
    "icc": (-_BELOW, 1.0 + _BELOW, "from 0 to 1"),
    "cluster_size": (1.0 - _BELOW, math.inf, "of at least 1"),
}


def plan(
    *,
    rate: float,
    tolerance: float | None = None,
    ratio: float | None = None,
    power: float = POWER,
    confidence: float | None = None,
    share: float = 0.5,
    among: float = 1.0,
    cluster_size: float = 1.0,
    icc: float = 0.0,
    config: Config = None,
) -> Planned:
    """Report how many rows an audit needs, to be planned before there are data.

    Parameters
    ----------
    rate : float in (0, 1)
        The rate of the reference, such as the share of people selected.
    tolerance : float in (0, 1), optional
        The difference of rates that is tolerated, and that should be found: by default that of the
        strictest rule of ``config``, or 0.1.
    ratio : float in (0, 1), optional
        The smallest ratio of rates that is tolerated, and that should be found: by default that of
        the strictest rule of ``config``, or 0.8.
    power : float in (0, 1), default 0.8
        The probability of the wanted verdict: to pass where the rates are equal, to be found where
        they differ as much.
    confidence : float in (0, 1), optional
        The level of the intervals: by default that of ``config``, or 0.95.
    share : float in (0, 1), default 0.5
        The group's share of all rows.
    among : float in (0, 1], default 1
        The share of rows that the rate is counted among: the base rate, for a true positive rate.
    cluster_size, icc : float
        Rows of each cluster (user, session) and their intra-cluster correlation.
    config : str, Path or mapping, optional
        A specification file, or its keys, whose rules on differences and ratios of rates are to be
        decided.

    Returns
    -------
    Planned

    Raises
    ------
    SpecError
        A number is out of its range, or the specification is wrong.

    Notes
    -----
    The rows are those that an audit states for a verdict that is open: the interval is that of the
    audit, and a rule is not evaluated where rows or expected counts are too few. They count on
    independent rows, but for the design effect 1 + (cluster_size - 1) icc. To find a disparity is
    to have an interval without "no difference".

    Examples
    --------
    >>> import fairgauge as fg
    >>> fg.plan(rate=0.3, tolerance=0.05).needed[0]
    Needed(goal='to pass equal rates as within 0.05', group=1763, reference=1763)
    """
    asked = read_part(("preset", "rules", "confidence"), with_config(config, {}))
    limits: dict[str, list[float]] = {"difference": [], "ratio": []}
    for rule in asked.rules:
        row, ends = rule.row, [e for e in (rule.low, rule.high) if math.isfinite(e) and e]
        if isinstance(row, Contrast) and row.of.range == (0.0, 1.0):
            is_ratio = row.by == "ratio"
            limits[row.by] += [min(e, 1 / e) if is_ratio else abs(e) for e in ends]
    tolerance = min(limits["difference"], default=0.1) if tolerance is None else tolerance
    ratio = max(limits["ratio"], default=0.8) if ratio is None else ratio
    confidence = asked.confidence if confidence is None else confidence
    numbers = {
        "tolerance": tolerance, "ratio": ratio, "power": power, "confidence": confidence,
        "share": share, "icc": icc, "among": among, "rate": rate, "cluster_size": cluster_size,
    }  # fmt: skip
    problems = []
    for name, value in numbers.items():
        low, high, inside = _RANGES.get(name, (0.0, 1.0, "above 0 and below 1"))
        if not (is_number(value) and low < value < high):
            problems.append(Problem(name, f"must be a number {inside}, not {value!r}"))
    refuse(problems)
    effect = 1 + (cluster_size - 1) * icc  # the factor by which clusters raise the rows (Kish)

    def rows(goal: str, group: float, lower: float, upper: float, by: Comparison) -> Needed:
        total = effect * rows_for_verdict(
            group, rate, lower, upper, by, confidence, power, share=share, among=among
        )
        if math.isinf(total):
            return Needed(goal, math.inf, math.inf)
        total = math.ceil(total - _BELOW)
        of_group = math.ceil(share * total - _BELOW)
        return Needed(goal, of_group, total - of_group)

    within = f"to pass equal rates as within {tolerance:g}"
    apart = [p for p in (rate - tolerance, rate + tolerance) if 0 < p < 1]
    of_difference = f"to find a difference of {tolerance:g}"
    found = [rows(of_difference, p, 0.0, 0.0, "difference") for p in apart]
    needed = (
        rows(within, rate, -tolerance, tolerance, "difference"),
        *([max(found, key=lambda each: each.total)] if found else []),  # of both directions
        rows(f"to pass equal rates as at least {ratio:g} times", rate, ratio, math.inf, "ratio"),
        rows(f"to find a ratio of {ratio:g}", ratio * rate, 1.0, 1.0, "ratio"),
    )
    assumed = {name: float(n) for name, n in numbers.items() if name not in ("power", "confidence")}
    return Planned(**made_now(), confidence=confidence, power=power, assumed=assumed, needed=needed)
