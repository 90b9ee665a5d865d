"""Words of changes: a rate or a disparity before and after, and who is better off now."""

from __future__ import annotations

from collections.abc import Iterator

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Direction, Favourable, ReferenceKind, ScopeKind
from fairgauge.render._document_tree import Unit
from fairgauge.render.words.display_names import called
from fairgauge.render.words.estimate_sentences import reference_name
from fairgauge.render.words.metric_words import (
    ci_words,
    metric_number,
    rate_text,
    shown,
    unit,
    unit_name,
    with_unit,
)
from fairgauge.results.changes import DisparityChange, RateChange
from fairgauge.results.disadvantage import favours_the_least, has_direction
from fairgauge.results.scopes import ClassScope, Scope

ARROW = "→"
"""Between a value before and after."""
NOT_SURELY = "changed sides, not significantly"
"""Of a disparity that changed sides by its estimates alone."""


def changed_sides(each: DisparityChange, favourable: Favourable) -> str:
    """Return who is better off now: ``changed sides: Male is now worse off than Female``.

    Of a rate of which neither direction is worse, who has the higher one.
    """
    metric, group, reference, new = each.definition, each.group, each.reference, each.new
    if not isinstance(metric, Contrast) or group is None or reference is None or new is None:
        return "changed sides"
    higher = (new > metric.neutral) == (metric.order == "group - reference")
    ours, theirs = called(group), called(reference_name(reference))
    if not has_direction(metric.of, favourable):
        more = "higher" if higher else "lower"
        return f"changed sides: {ours} now has a {more} {metric.of.title} than {theirs}"
    worse = higher == favours_the_least(metric.of, favourable)
    if not worse and reference.kind is ReferenceKind.GROUP:
        return f"changed sides: {theirs} is now worse off than {ours}"
    return f"changed sides: {ours} is now {'worse' if worse else 'better'} off than {theirs}"


def sides_words(each: DisparityChange, favourable: Favourable) -> str:
    """Return that a disparity changed sides, and how far that is shown; else nothing.

    What is significantly further from no difference is on its new side significantly.
    """
    if not each.crossed:
        return ""
    sides = changed_sides(each, favourable)
    if each.other_side:
        return sides
    if each.significant and each.direction is Direction.FURTHER:
        return f"{sides}, while its side before was not significant"
    return NOT_SURELY


DIRECTIONS = {
    Direction.FURTHER: "further from no difference",
    Direction.CLOSER: "closer to no difference",
    Direction.AS_FAR: "as far from no difference as before",
    None: "",
}
"""Where disparities go."""


def shift_words(each: DisparityChange) -> str:
    """Return a change with its interval: ``change +15.0 pp, 95% CI +11.0 to +19.0``."""
    if each.change is None:
        return ""
    return ", ".join(filter(None, [f"change {change_words(each)}", change_ci_words(each)]))


def change_ci_words(each: DisparityChange) -> str:
    """Return the interval of a change by itself: ``95% CI +6.0 to +11.5``."""
    return ci_words(each.interval, _unit_of_change(each), sign=each.by != "ratio")


def change_words(each: DisparityChange) -> str:
    """Return a change in its unit: ``+15.0 pp``; of a ratio the factor ``×1.05``."""
    kind = _unit_of_change(each)
    if each.by == "ratio":
        return f"×{shown(each.change, kind)}"
    return with_unit(each.change, kind, sign=True)


def _unit_of_change(each: DisparityChange) -> Unit:
    return Unit.RATIO if each.by == "ratio" else unit(each.definition)


def rate_unit(rate: Statistic) -> Unit:
    """Return what the changes of a rate are."""
    return Unit.POINTS if rate.is_share else Unit.NUMBER


def describe_rate_shift(each: RateChange) -> str:
    """Return a rate before and after: ``70.7% → 70.9% (change +0.1 pp, 95% CI ...)``."""
    old, new = (rate_text(each.definition, value) for value in (each.old, each.new))
    kind = rate_unit(each.definition)
    change = f"change {with_unit(each.change, kind, sign=True)}"
    words = ", ".join(filter(None, [change, ci_words(each.interval, kind, sign=True)]))
    return f"{old} {ARROW} {new} ({words})"


def before_after(one: DisparityChange) -> str:
    """Return a disparity before and after, without its unit: ``−17.2 → −6.3``."""
    return f" {ARROW} ".join(metric_number(one.definition, value) for value in (one.old, one.new))


def describe_disparity_shift(one: DisparityChange) -> str:
    """Return a disparity before and after: ``−17.2 → −6.3 pp (change +10.9 pp, 95% CI ...)``."""
    text = f"{before_after(one)}{unit_name(unit(one.definition))}"
    return f"{text} ({shift_words(one)})" if one.change is not None else text


def rows_words(scope: Scope) -> Iterator[str]:
    """Yield of which rows a number is, where these are not all: ``in A``, where A is a stratum."""
    if scope.stratum is not None:
        yield f"in {called(scope.stratum)}"
    elif scope.kind is ScopeKind.POOLED:
        yield "adjusted for the strata"


def scope_words(scope: Scope, of_class: ClassScope, threshold: float | None) -> str:
    """Return which rows, class and threshold a number is of: ``, in A, threshold 0.3``."""
    parts = [*rows_words(scope)]
    if of_class.name is not None:
        parts.append(f"class {called(of_class.name)}")
    elif of_class.average is not None:
        parts.append(f"{of_class.average} average")
    if threshold is not None:
        parts.append(f"threshold {threshold:g}")
    return "".join(f", {part}" for part in parts)
