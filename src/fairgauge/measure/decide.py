"""Verdict: what a rule came to for one group; and `judge`, which decides all of them.

A rule passes where the whole interval lies inside its limits, fails where it lies outside, and is
inconclusive otherwise: the absence of evidence is no evidence of absence. Where rows have no group,
it must come to the same whichever groups they are in.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairgauge.catalogue.averages import AVERAGES
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.enums import Outcome, Status
from fairgauge.inference.sample_size import POWER, rows_to_decide, smallest_shown
from fairgauge.report.estimates import WORST
from fairgauge.report.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from fairgauge.report.estimates import Compared, Estimate, Ungrouped
    from fairgauge.spec.rules import Rule

_WORST_FIRST = (Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.NOT_EVALUATED, Outcome.PASS)
_MOST_ROWS = 1e12


def judge(
    estimates: Iterable[Estimate],
    rules: Iterable[Rule],
    ungrouped: Mapping[Compared, Ungrouped] | None = None,
) -> tuple[Verdict, ...]:
    """Hold the estimates against the rules: one verdict for each rule and group.

    Numbers within single strata never decide. Of several classes or thresholds the worst counts.
    ``ungrouped`` holds the worst cases of those that rows without a group could move.
    """
    every = tuple(estimates)
    return tuple(verdict for rule in rules for verdict in _judged(every, rule, ungrouped or {}))


def _judged(
    estimates: Iterable[Estimate], rule: Rule, ungrouped: Mapping[Compared, Ungrouped]
) -> Iterator[Verdict]:
    held: dict[tuple[str | None, str], list[Estimate]] = {}
    for each in estimates:
        if _is_held(each, rule):
            held.setdefault((each.feature, each.group), []).append(each)
    for (feature, group), every in held.items():
        decided = [(each, *_held(each, rule, ungrouped)) for each in every]
        each, outcome, reason = min(decided, key=lambda found: _WORST_FIRST.index(found[1]))
        if len(every) > 1:
            reason += _which(each)
        yield Verdict(
            rule=str(rule),
            metric=rule.metric,
            feature=feature,
            group=group,
            outcome=outcome,
            reason=reason,
        )


def _is_held(each: Estimate, rule: Rule) -> bool:
    """Tell whether a rule is about an estimate."""
    if each.metric != rule.metric or each.class_ in (*AVERAGES, WORST):
        return False
    if each.stratum is not None and rule.definition.scope != "pooled":
        return False
    if rule.features and each.feature not in rule.features:
        return False
    return not rule.groups or each.group in rule.groups


def _which(each: Estimate) -> str:
    if each.class_ is not None:
        return f" (class {each.class_})"
    return "" if each.threshold is None else f" (threshold {each.threshold:g})"


def _held(
    each: Estimate, rule: Rule, ungrouped: Mapping[Compared, Ungrouped]
) -> tuple[Outcome, str]:
    """Decide, but only if rows without a group could not turn the verdict."""
    decided = _decide(each, rule)
    worst = ungrouped.get((each.metric, each.feature, each.group, each.class_, each.threshold))
    if worst is None or decided[0] not in (Outcome.PASS, Outcome.FAIL):
        return decided
    low, high = _reached(each, worst, rule)
    if _outcome(low, high, rule) is decided[0]:
        return decided
    many = "the row" if worst.rows == 1 else f"the {worst.rows:,} rows"
    return Outcome.INCONCLUSIVE, (
        f"{each.says.removeprefix(f'{each.group}: ')}: alone this would {decided[0]}, but {many} "
        f"without {each.feature} could turn it: {rule.metric} lies between {worst.low:.3g} and "
        f"{worst.high:.3g}, depending on their groups"
    )


def _reached(each: Estimate, worst: Ungrouped, rule: Rule) -> tuple[float, float]:
    """Return how far the interval, or the value that decides alone, goes in the worst cases."""
    value, low, high = each.value, each.low, each.high
    if rule.decide == "point" or value is None or low is None or high is None:
        return worst.low, worst.high
    metric = rule.definition
    if not (isinstance(metric, Contrast) and metric.by == "ratio"):
        return low + worst.low - value, high + worst.high - value
    known = 0 < value < math.inf
    below = low * worst.low / value if known and worst.low > 0 else min(low, worst.low)
    above = high * worst.high / value if known else max(high, worst.high)
    return below, above


def _outcome(low: float, high: float, rule: Rule) -> Outcome:
    """Return what a rule comes to for all values between two."""
    if rule.allows(low) and rule.allows(high):
        return Outcome.PASS
    return Outcome.FAIL if high < rule.low or low > rule.high else Outcome.INCONCLUSIVE


def _decide(each: Estimate, rule: Rule) -> tuple[Outcome, str]:
    if each.value is None or each.status is not Status.OK:
        return Outcome.NOT_EVALUATED, each.reason or str(each.status)
    said = each.says.removeprefix(f"{each.group}: ")
    if rule.decide == "point":
        inside = rule.allows(each.value)
        where = f"{rule.metric} {each.value:.4g} is {'inside' if inside else 'outside'} the limits"
        outcome = Outcome.PASS if inside else Outcome.FAIL
        return outcome, f"{said}: {where}, decided by the value alone"
    if each.low is None or each.high is None:
        why = each.reason or "the value has no interval"
        return Outcome.NOT_EVALUATED, f"{why}; decide='point' decides by the value alone"
    if rule.allows(each.low) and rule.allows(each.high):
        return Outcome.PASS, f"{said}: {rule.metric} is {_inside(rule)} beyond doubt"
    if each.high < rule.low:
        return Outcome.FAIL, f"{said}: {rule.metric} is below {rule.low:g} beyond doubt"
    if each.low > rule.high:
        return Outcome.FAIL, f"{said}: {rule.metric} is above {rule.high:g} beyond doubt"
    return Outcome.INCONCLUSIVE, f"{said}: {_undecided(each, rule)}"


def _inside(rule: Rule) -> str:
    if math.isinf(rule.high):
        return f"at least {rule.low:g}"
    if math.isinf(rule.low):
        return f"at most {rule.high:g}"
    return f"between {rule.low:g} and {rule.high:g}"


def _undecided(each: Estimate, rule: Rule) -> str:
    """Say what the data leave open, what would settle it, and what they could show at all."""
    assert each.low is not None
    assert each.high is not None
    crossed = [b for b in (rule.low, rule.high) if math.isfinite(b) and each.low <= b <= each.high]
    limits = " and of ".join(f"{bound:g}" for bound in crossed)
    found = [f"{rule.metric} may lie on either side of {limits}", *_more_rows(each, rule)]
    shown = smallest_shown(each, metric=rule.definition)
    if shown is not None:
        ratio = "" if shown.ratio is None else f" (a ratio of {shown.ratio:.2f})"
        found.append(
            f"groups of these sizes show differences of {100 * shown.difference:.1f} points or "
            f"more{ratio} with {POWER:.0%} probability"
        )
    return "; ".join(found)


def _more_rows(each: Estimate, rule: Rule) -> Iterator[str]:
    needed = rows_to_decide(each, rule.low, rule.high, rule.definition)
    if needed is None or math.isnan(needed):
        return
    if needed > _MOST_ROWS:
        yield "the value lies on the limit, so that no number of rows would decide"
        return
    rows = (each.n_group or 0) + (each.n_reference or 0)
    yield f"about {_rounded(needed):,} such rows would decide ({rows:,.10g} now)"


def _rounded(rows: float) -> int:
    """Round up to two digits: more would pretend to know."""
    digits = max(0, math.floor(math.log10(max(rows, 1))) - 1)
    unit: int = 10**digits
    return math.ceil(rows / unit) * unit
