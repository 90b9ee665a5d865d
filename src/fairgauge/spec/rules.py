"""Rules: limits set on a metric, and reading them from text."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.derived import comparisons_of
from fairgauge.catalogue.lookup import NotAMetric, find_metric
from fairgauge.catalogue.own import meant
from fairgauge.catalogue.statistics import Statistic
from fairgauge.errors import Problem, SpecError, quote

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|[+-]?inf(?:inity)?"
_ONE_SIDED = re.compile(rf"(?P<metric>.+?)\s*(?P<sign><=|>=)\s*(?P<bound>{_NUMBER})", re.IGNORECASE)
_TWO_SIDED = re.compile(
    rf"(?P<low>{_NUMBER})\s*<=\s*(?P<metric>.+?)\s*<=\s*(?P<high>{_NUMBER})", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Rule:
    """A metric must lie in [low, high] for every group of the named features (all if none).

    ``decide`` is "interval" (pass and fail only when the whole interval agrees) or "point". ``own``
    is the metric itself where it is a user's, which no catalogue has.
    """

    metric: str
    low: float = -math.inf
    high: float = math.inf
    features: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    decide: str = "interval"
    own: Metric | None = None

    @property
    def definition(self) -> Metric:
        """Return the metric that the rule is about."""
        return self.own or find_metric(self.metric)

    def __str__(self) -> str:
        """Return the rule as it is written: ``DI >= 0.8``, ``-0.1 <= RD <= 0.1``."""
        if math.isinf(self.high):
            return f"{self.metric} >= {self.low:g}"
        if math.isinf(self.low):
            return f"{self.metric} <= {self.high:g}"
        return f"{self.low:g} <= {self.metric} <= {self.high:g}"

    def allows(self, value: float) -> bool:
        """Tell whether a value lies inside the limits."""
        return self.low <= value <= self.high

    def to_dict(self) -> dict[str, Any]:
        """Return the rule with the keys of a specification file."""
        bounds = {
            "at_least": None if math.isinf(self.low) else self.low,
            "at_most": None if math.isinf(self.high) else self.high,
        }
        kept = {key: value for key, value in bounds.items() if value is not None}
        more = {"features": list(self.features), "groups": list(self.groups)}
        named = {key: value for key, value in more.items() if value}
        return {"metric": self.metric, **kept, **named, "decide": self.decide}


def rule(
    metric: str | Metric,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    between: tuple[float, float] | list[float] | None = None,
    features: str | list[str] | tuple[str, ...] = (),
    groups: str | list[str] | tuple[str, ...] = (),
    decide: str = "interval",
) -> Rule:
    """Set a limit on a metric.

    Parameters
    ----------
    metric : str or Metric
        Name or synonym of a metric of the catalogue, or a metric of one's own:
        ``fg.rate(...).compared("ratio")``.
    at_least, at_most : float, optional
        The smallest and the largest value allowed.
    between : pair of float, optional
        Both limits at once.
    features, groups : str or list of str, optional
        Only these sensitive features or groups are held to the rule; default all.
    decide : {"interval", "point"}
        Whether the whole interval decides, or the value alone.

    Raises
    ------
    SpecError
        The metric is unknown, no limit is given, or the limits are impossible.

    Examples
    --------
    >>> import fairgauge as fg
    >>> print(fg.rule("RD", between=(-0.1, 0.1)))
    -0.1 <= RD <= 0.1
    """
    made, problems = check_rule(
        {
            "metric": metric,
            "at_least": at_least,
            "at_most": at_most,
            "between": between,
            "features": features,
            "groups": groups,
            "decide": decide,
        },
        "rule",
    )
    if made is None:
        raise SpecError(problems)
    return made


def parse_rule(text: str) -> Rule:
    """Read ``DI >= 0.8``, ``RD <= 0.1`` or ``-0.1 <= RD <= 0.1``.

    Raises
    ------
    SpecError
        The text is not a rule, or the rule is impossible.
    """
    stripped = text.strip()
    two, one = _TWO_SIDED.fullmatch(stripped), _ONE_SIDED.fullmatch(stripped)
    if two:
        return rule(two["metric"], at_least=float(two["low"]), at_most=float(two["high"]))
    if one and one["sign"] == ">=":
        return rule(one["metric"], at_least=float(one["bound"]))
    if one:
        return rule(one["metric"], at_most=float(one["bound"]))
    shapes = "'METRIC >= X', 'METRIC <= X' or 'X <= METRIC <= Y'"
    raise SpecError(Problem("rule", f"cannot read {quote(text)}; write {shapes}"))


def check_rule(asked: dict[str, Any], path: str) -> tuple[Rule | None, list[Problem]]:
    """Make a rule from the keys of a specification, or say everything that is wrong with it."""
    problems: list[Problem] = []
    metric = None
    try:
        metric = _metric(asked.get("metric"))
    except LookupError as error:
        problems.append(Problem(f"{path}.metric", str(error)))
    low, high = _bounds(asked, path, problems)
    decide = asked.get("decide", "interval")
    if decide not in ("interval", "point"):
        problems.append(
            Problem(f"{path}.decide", f"{quote(decide)} is not allowed; say 'interval' or 'point'")
        )
    if problems or metric is None:
        return None, problems
    return Rule(
        metric.name,
        low,
        high,
        _names(asked.get("features")),
        _names(asked.get("groups")),
        decide,
        metric if metric.set == "own" else None,
    ), []


def _metric(asked: Any) -> Metric:
    """Return the metric of a rule, given by a name, by an import path or as a user's own."""
    found = meant(asked)
    if isinstance(found, Statistic):
        allowed = ", ".join(comparisons_of(found))
        raise NotAMetric(
            f"{found.name} is a rate; a rule needs what compares it, such as "
            f"compared('difference'); allowed: {allowed}"
        )
    return found if isinstance(found, Metric) else find_metric(found)


def _bounds(asked: dict[str, Any], path: str, problems: list[Problem]) -> tuple[float, float]:
    low, high = asked.get("at_least"), asked.get("at_most")
    between = asked.get("between")
    if between is not None:
        if low is not None or high is not None:
            problems.append(Problem(path, "say either between, or at_least and at_most"))
        try:
            low, high = between
        except (TypeError, ValueError):
            problems.append(Problem(f"{path}.between", "must be two numbers: [low, high]"))
            return -math.inf, math.inf
    if low is None and high is None:
        problems.append(Problem(path, "has no limit; say at_least, at_most or between"))
        return -math.inf, math.inf
    for key, bound in (("at_least", low), ("at_most", high)):
        if bound is not None and (isinstance(bound, bool) or not isinstance(bound, (int, float))):
            problems.append(Problem(f"{path}.{key}", f"must be a number, not {quote(bound)}"))
            return -math.inf, math.inf
        if isinstance(bound, float) and math.isnan(bound):
            problems.append(Problem(f"{path}.{key}", "must be a number, not NaN"))
            return -math.inf, math.inf
    try:
        lowest = -math.inf if low is None else float(low)
        highest = math.inf if high is None else float(high)
    except OverflowError:
        problems.append(Problem(path, "has a limit too large for a number"))
        return -math.inf, math.inf
    if lowest > highest:
        problems.append(
            Problem(path, f"is impossible: at least {lowest:g} and at most {highest:g}")
        )
    if math.isinf(lowest) and math.isinf(highest):
        problems.append(Problem(path, "allows every value; give a finite limit"))
    return lowest, highest


def _names(asked: Any) -> tuple[str, ...]:
    if asked is None:
        return ()
    return (asked,) if isinstance(asked, str) else tuple(str(name) for name in asked)
