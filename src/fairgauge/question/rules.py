"""Rules: limits set on a metric, and reading them from text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from fairgauge.enums import Decide, Insufficient, Outcome
from fairgauge.errors import Problem, SpecError, display, quote
from fairgauge.question.readers import Location, Reader, items, read_keys, read_names, read_word
from fairgauge.start.records import dataclass
from fairgauge.values import canonical, is_number, name_of

if TYPE_CHECKING:
    from fairgauge.catalogue.comparisons import Metric
    from fairgauge.catalogue.statistics import Statistic

_SCOPE: Mapping[str, Reader] = {
    "features": read_names, "groups": read_names, "insufficient": read_word(Insufficient),
    "decide": read_word(Decide),
}  # fmt: skip
_KEYS = ("metric", "at_least", "at_most", "between", *_SCOPE)
_ROUNDING = 1e-12
_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|[+-]?inf(?:inity)?"


class FourFifths(NamedTuple):
    """The four-fifths rule: to the group with the highest rate, of 2% of all people or more."""

    metric: str = "selection_rate.ratio"
    low: float = 0.8
    reference: str = "best"
    min_share: float = 0.02

    def __str__(self) -> str:
        return f"{self.metric} >= {self.low:g}"


FOUR_FIFTHS = FourFifths()
"""The four-fifths rule of 29 CFR 1607.4 D."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A metric, or the rate of a group, must lie in [low, high]; `rule` makes one."""

    metric: str  # the catalogue name of a metric, or of a rate (``accuracy``) of groups themselves
    low: float = -inf  # the limits; infinite where there is none
    high: float = inf
    features: tuple[str, ...] = ()  # the features and the groups that it is for; empty: all
    groups: tuple[str, ...] = ()
    decide: Decide = Decide.INTERVAL  # what decides: the interval, the value, or significance
    insufficient: Insufficient = Insufficient.REPORT  # what it comes to where data do not suffice
    own: Statistic | Metric | None = None  # the metric or rate itself where it is a user's

    @property
    def definition(self) -> Metric | None:
        """Return the metric that the rule is about; None of a rate."""
        from fairgauge.catalogue.comparisons import Metric  # not for --help

        return self.row if isinstance(self.row, Metric) else None

    @property
    def row(self) -> Metric | Statistic:
        from fairgauge.catalogue.lookup import BUILT_IN  # not for --help

        return self.own or BUILT_IN.row(self.metric)

    def __str__(self) -> str:
        """Return the text form of the rule: ``DI >= 0.8``, ``-0.1 <= RD <= 0.1``."""
        low, high = name_of(canonical(self.low)), name_of(canonical(self.high))
        if math.isinf(self.high):
            return f"{self.metric} >= {low}"
        return f"{'' if math.isinf(self.low) else f'{low} <= '}{self.metric} <= {high}"

    def to_dict(self) -> dict[str, object]:
        keys = {"metric": self.metric, "at_least": self.low, "at_most": self.high}
        keys |= {"features": [*self.features], "groups": [*self.groups]}
        stated = {key: value for key, value in keys.items() if value not in ([], inf, -inf)}
        return stated | {"decide": str(self.decide), "insufficient": str(self.insufficient)}


def allows(rule: Rule, value: float) -> bool:
    """Return whether a value lies inside the limits, or only rounding puts it outside.

    12 of 20 are four fifths of 15 of 20, but 0.6 / 0.75 is 0.7999999999999999.
    """
    slack = _ROUNDING * max(1.0, abs(value)) if math.isfinite(value) else 0.0
    return rule.low - slack <= value <= rule.high + slack


def decide_range(low: float, high: float, rule: Rule) -> Outcome:
    """Return what a rule comes to where its value may be anywhere between two ends."""
    if allows(rule, low) and allows(rule, high):
        return Outcome.PASS
    return Outcome.FAIL if high < rule.low or low > rule.high else Outcome.INCONCLUSIVE


def distance_inside(value: float, low: float, high: float, *, of_ratio: bool) -> float:
    """Return how far a value is inside limits, below 0 outside; 0.8 is as far from 1 as 1.25.

    Beyond 9 digits two groups that mirror each other could differ by rounding alone.
    """
    if of_ratio:
        value, low, high = log_of(value), log_of(low), log_of(high)
    below = value - low if math.isfinite(low) else inf
    above = high - value if math.isfinite(high) else inf
    inside = min(below, above)
    return round(inside, 9) if math.isfinite(inside) else inside


def log_of(ratio: float) -> float:
    """Return the logarithm of a ratio, which may be 0."""
    return math.log(ratio) if ratio > 0 else -inf


def rule(
    metric: str | Statistic | Metric, *, at_least: float | None = None,
    at_most: float | None = None, between: tuple[float, float] | list[float] | None = None,
    features: str | list[str] | tuple[str, ...] = (),
    groups: str | list[str] | tuple[str, ...] = (), decide: str = "interval",
    insufficient: str = "report",
) -> Rule:  # fmt: skip
    """Set a limit on a metric, or on a rate of every group.

    Parameters
    ----------
    metric : str, rate or metric
        Name or synonym of a metric, or of a rate, of the catalogue; or one's own:
        ``fg.rate(...)``, ``fg.rate(...).compared("ratio")``.
    at_least, at_most : float, optional
        The smallest and the largest value allowed.
    between : pair of float, optional
        Both limits at once.
    features, groups : str or list of str, optional
        Only these sensitive features or groups are held to the rule; default all. With both, the
        rule is on each of these groups in each of these features: a group that a feature does not
        have is not evaluated, never a pass.
    decide : {"interval", "point", "significant"}
        Whether the whole confidence interval decides, the value alone, or the value where it
        differs statistically significantly from "no difference".
    insufficient : {"report", "pass", "fail", "ignore"}
        What the rule comes to where the data are insufficient to decide it: inconclusive
        ("report"), one of the two verdicts, or no verdict at all.

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
    return parse_rule({
        "metric": metric, "at_least": at_least, "at_most": at_most, "between": between,
        "features": features, "groups": groups, "decide": decide, "insufficient": insufficient,
    })  # fmt: skip


def parse_rule(rule: Mapping[str, object] | str) -> Rule:
    """Read the keys of a rule, ``DI >= 0.8`` or ``-0.1 <= RD <= 0.1``, in short ``|RD| <= 0.1``."""
    at = Location("rule")
    if (made := _read_rule(rule, at)) is None:
        raise SpecError(at.problems)
    return made


def write_rules(rules: Iterable[Mapping[str, Any]]) -> list[str]:
    """Write the limits of rules; what else a rule holds has no text form."""
    return [str(Rule(e["metric"], e.get("at_least", -inf), e.get("at_most", inf))) for e in rules]


def limits_of(text: str) -> tuple[float, float]:
    """Return the limits of the text of a rule, whatever its metric is."""
    if (found := split_limit(text)) is None:
        raise SpecError(Problem("rule", f"cannot read {quote(text)}"))
    return found[1:]


_SIGN = re.compile("(<=|>=)")


def split_limit(text: str) -> tuple[str, float, float] | None:
    """Return the name of the metric of a limit, and its ends; infinite where there is none."""
    parts = [part.strip() for part in _SIGN.split(text)]
    metric, low, high = parts[0], -inf, inf
    if len(parts) == 3 and _is_number(parts[2]):
        bound = float(parts[2])
        low, high = (bound, inf) if parts[1] == ">=" else (-inf, bound)
        if parts[1] == "<=" and metric[:1] == "|" and metric[1:][-1:] == "|":
            metric, low = metric[1:-1].strip(), -bound
    elif len(parts) == 5 and parts[1] == parts[3] == "<=":
        if not (_is_number(parts[0]) and _is_number(parts[4])):
            return None
        metric, low, high = parts[2], float(parts[0]), float(parts[4])
    else:
        return None
    return (metric, low, high) if metric and not any(mark in metric for mark in "<>|") else None


def _is_number(text: str) -> bool:
    return re.fullmatch(_NUMBER, text, flags=re.IGNORECASE) is not None


def read_rules(value: object, at: Location) -> tuple[Rule, ...]:
    """Read rules, their keys or their texts, in a list or alone."""
    places: dict[Rule, int] = {}
    for i, item in enumerate(items(value)):
        if (rule := _read_rule(item, at[i])) is None:
            continue
        if (same := places.setdefault(rule, i)) != i:
            at[i].report(f"is the same rule as {at[same].path}; remove one of them")
    return tuple(places)


def _read_rule(item: object, at: Location) -> Rule | None:
    if isinstance(item, Rule):
        return item
    if isinstance(item, str):
        if (found := split_limit(item)) is None:
            ways = "'METRIC >= X', 'METRIC <= X', 'X <= METRIC <= Y' or '|METRIC| <= X'"
            at.report(f"cannot read {quote(item)}; write {ways}")
            return None
        item = {"metric": found[0], "between": found[1:]}
    if isinstance(item, Mapping):
        return check_rule(item, at)
    at.report(f"must be a rule, such as 'selection_rate.ratio >= 0.8', not {display(item)}")
    return None


def check_rule(keys: Mapping[str, object], at: Location) -> Rule | None:
    """Make a rule from the keys of a specification; None where something is wrong with it."""
    if at.report_unknown_keys(keys, _KEYS):
        return None  # a misspelt key is one mistake, not also a rule without a limit or a metric
    before = len(at.problems)
    metric, own = _read_metric(keys.get("metric"), at["metric"])
    rule = Rule(metric, *_bounds(keys, at), own=own, **read_keys(keys, _SCOPE, at))
    if metric:
        _check_scope_and_limits(rule, at)
    return None if len(at.problems) > before else rule


def _check_scope_and_limits(rule: Rule, at: Location) -> None:
    from fairgauge.catalogue.comparisons import RowMetric  # not for --help

    metric = rule.definition
    if metric is not None:
        of = metric.one_per if isinstance(metric, RowMetric) else metric.scope
        for key in (key for key in ("features", "groups") if of == "table" and getattr(rule, key)):
            at[key].report(f"{metric.name} is one number of the whole table; remove {key}")
        if of == "feature" and rule.groups:
            rates = [rate.name for rate in metric.statistics]
            others = f", or set a rule on {rates[0]} or {rates[0]}.difference" if rates else ""
            one = "is one number of all groups of a feature; remove groups"
            at["groups"].report(f"{metric.name} {one}{others}")
    # what a limit can never fail, or cannot be decided by
    if rule.decide is Decide.SIGNIFICANT and (metric is None or math.isnan(metric.neutral)):
        no_neutral = "has no value of no difference to be significantly away from"
        at["decide"].report(f"{rule.metric} {no_neutral}")
    low, high = rule.row.range
    limits = [limit for limit in (rule.low, rule.high) if math.isfinite(limit)]
    if limits and rule.low <= low and high <= rule.high:
        every = f"is between {low:g} and {high:g}, and every value of it is allowed"
        at.report(f"can never fail: {rule.metric} {every}")


def _read_metric(asked: object, at: Location) -> tuple[str, Statistic | Metric | None]:
    # the name of a metric, or of a rate, and itself where it is a user's own
    from fairgauge.catalogue import lookup  # not for --help
    from fairgauge.catalogue.own import metric_or_name

    if asked is None:
        at.report("is missing")
        return "", None
    problems: list[LookupError] = []
    for find in (lookup.find_metric, lookup.find_rate):
        try:
            row = metric_or_name(asked)
            row = find(row) if isinstance(row, str) else row
            return row.name, row if lookup.own_of((row,)) else None
        except lookup.AmbiguousName as error:
            problems.insert(0, error)
            break
        except LookupError as error:  # of an unknown name that of the metrics
            problems.append(error)
    at.report(str(problems[0]))
    return "", None


def _bounds(asked: Mapping[str, object], at: Location) -> tuple[float, float]:
    low, high, between = (asked.get(key) for key in ("at_least", "at_most", "between"))
    if between is not None:
        if low is not None or high is not None:
            at.report("takes either between, or at_least and at_most")
        if not isinstance(between, Sequence) or len(between) != 2:
            at["between"].report("must be two numbers: [low, high]")
            return -inf, inf
        low, high = between
    if low is None and high is None:
        at.report("has no limit; give at_least, at_most or between")
        return -inf, inf
    lowest = -inf if low is None else _end(low, at["at_least"])
    highest = inf if high is None else _end(high, at["at_most"])
    if lowest > highest:
        at.report(f"is impossible: at least {lowest:g} and at most {highest:g}")
    if math.isinf(lowest) and math.isinf(highest):
        at.report("allows every value; give a finite limit")
    return lowest, highest


def _end(value: object, at: Location) -> float:
    # infinity is a limit, too: of a text such as ``inf <= DI``, which then allows every value
    with suppress(OverflowError):
        if is_number(value) and not math.isnan(value):
            return float(value)
    at.report(f"must be a number, not {display(value)}")
    return math.nan
