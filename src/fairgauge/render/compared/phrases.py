"""What a comparison says, sorted into what is told together, and in words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairgauge.enums import Direction, Outcome, ReferenceKind, ScopeKind, Turn
from fairgauge.render import numbers
from fairgauge.render.display_names import printable, shorten
from fairgauge.render.metric_meanings import compared, is_share, is_signed, rate_title
from fairgauge.render.question import name
from fairgauge.render.reason_sentences import describe_reason
from fairgauge.render.row_charts import rule_words
from fairgauge.render.short_sentences import reading

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairgauge.comparison.changes import Change
    from fairgauge.comparison.comparison import Alone, Comparison, Origin, VerdictChange
    from fairgauge.report.estimates import Estimate

ARROW = "→"
LONGEST_REASON = 300
_LONGEST_VALUE = 60
_DIRECTIONS = {
    Direction.FURTHER: "further from no difference",
    Direction.CLOSER: "closer to no difference",
    Direction.AS_FAR: "as far from no difference as before",
}
METHOD = (
    "The interval of a change is MOVER's of the two intervals (Zou and Donner 2008); it assumes "
    "that the two reports rest on different, independent rows. A ratio changes by a ratio. The "
    "p-values invert these limits; all changes are one family (Holm). "
    "Statistically significant: the interval of the change of the distance from no difference does not "
    "hold 0, the adjusted p-value is at most one minus the confidence, and both estimates have "
    "enough data."
)
"""How a change is judged."""


@dataclass(frozen=True, slots=True)
class Told:
    """The changes of a comparison, sorted.

    Attributes
    ----------
    further, closer : what moved statistically significantly.
    moved : what moved otherwise.
    undefined : what has a value in one report only.
    stayed : what did not change.
    mirrored : groups that are left out because another group mirrors them.
    several : whether there is more than one threshold.
    """

    further: tuple[Change, ...]
    closer: tuple[Change, ...]
    moved: tuple[Change, ...]
    undefined: tuple[Change, ...]
    stayed: tuple[Change, ...]
    mirrored: tuple[str, ...]
    several: bool


def tell(comparison: Comparison) -> Told:
    """Sort the changes; of two groups that mirror each other, the smaller one speaks for both."""
    mirrors = _mirrors(comparison)
    sure = {(*_of(each), each.group) for each in comparison.changes if each.significant}
    kept = [
        each
        for each in comparison.changes
        if (each.feature, each.group) not in mirrors
        or (each.significant and (*_of(each), mirrors[each.feature, each.group]) not in sure)
    ]
    valued = [each for each in kept if each.change is not None]
    return Told(
        further=tuple(e for e in valued if e.significant and e.direction is Direction.FURTHER),
        closer=tuple(e for e in valued if e.significant and e.direction is Direction.CLOSER),
        moved=tuple(e for e in valued if e.moved and not e.significant),
        undefined=tuple(e for e in kept if e.change is None and e.moved),
        stayed=tuple(each for each in kept if not each.moved),
        mirrored=tuple(dict.fromkeys(name(group) for _, group in mirrors)),
        several=len({each.threshold for each in comparison.changes} - {None}) > 1,
    )


def _of(each: Change) -> tuple[object, ...]:
    return (each.metric, each.feature, each.new.scope, each.new.class_scope, each.threshold)


def _mirrors(comparison: Comparison) -> dict[tuple[str | None, str | None], str]:
    """Return the larger of just two groups that are each compared with the other, and the other."""
    found: dict[tuple[str | None, str | None], str] = {}
    groups: dict[str, list[tuple[float, str]]] = {}
    for group in comparison.groups:
        groups.setdefault(group.feature, []).append((group.new_n or 0.0, group.group))
    for feature, sizes in groups.items():
        own = [each for each in comparison.changes if each.feature == feature]
        kinds = {
            side.reference.kind for each in own for side in (each.old, each.new) if side.reference
        }
        if len(sizes) == 2 and kinds == {ReferenceKind.OTHERS}:
            (_, smaller), (_, larger) = sorted(sizes)
            found[feature, larger] = smaller
    return found


def whom(each: Change | VerdictChange, most: int = 30) -> str:
    """Return the feature and the group: ``sex Female``."""
    names = (each.feature, each.group)
    return " ".join(shorten(printable(part), most) for part in names if part is not None)


def subject(each: Change, *, several: bool = False, most: int = 30) -> str:
    """Return what a change is about: ``sex Female, in A``, where A is a stratum."""
    parts = [whom(each, most)]
    scope, of_class = each.new.scope, each.new.class_scope
    if scope.stratum is not None:
        parts.append(f"in {shorten(printable(scope.stratum), most)}")
    elif scope.kind is ScopeKind.POOLED:
        parts.append("adjusted for strata")
    if of_class.name is not None:
        parts.append(f"class {shorten(printable(of_class.name), most)}")
    elif of_class.average is not None:
        parts.append(f"{of_class.average} average")
    if several and each.threshold is not None:
        parts.append(f"threshold {each.threshold:g}")
    return ", ".join(parts)


def seen(each: Change, side: Estimate, *, interval: bool = False) -> str:
    """Return a value as it stands in one of the reports."""
    signed = is_signed(each.metric)
    shown = numbers.number(side.value, signed=signed)
    limits = numbers.interval(side.low, side.high, signed=signed) if interval else ""
    return f"{shown} {limits}".strip()


def shift(each: Change) -> str:
    """Return a change: ``+0.150``, or ``×0.902`` of a ratio."""
    if each.change is None:
        return "-"
    by_ratio = each.by == "ratio"
    return (
        f"×{numbers.number(each.change)}" if by_ratio else numbers.number(each.change, signed=True)
    )


def limits(each: Change) -> str:
    """Return the interval of a change; nothing where there is none."""
    return numbers.interval(*(each.interval or (None, None)), signed=each.by == "difference")


def direction(each: Change) -> str:
    """Say where a disparity went, and whether that is statistically significantly."""
    if each.direction is None:
        return ""
    side = ", on the other side" if each.crossed else ""
    doubt = (
        ", statistically significant"
        if each.significant
        else ", not statistically significant"
        if each.interval
        else ""
    )
    return f"{_DIRECTIONS[each.direction]}{side}{doubt}"


def sides(each: Change) -> str:
    """Return the two rates that are compared, before and after; nothing where there are none."""
    rate = compared(each.metric)
    if rate is None or None in (each.old.rate_group, each.new.rate_group):
        return ""
    show = numbers.percent if is_share(rate) else numbers.number
    own = f"{show(each.old.rate_group)} {ARROW} {show(each.new.rate_group)}"
    other = f"{show(each.old.rate_reference)} {ARROW} {show(each.new.rate_reference)}"
    return f"{rate_title(rate)} {own}, of {reading(each.new.reference, 30)} {other}"


def evidence(each: Change) -> str:
    """Return the rates behind a change, and its p-value."""
    p_value = numbers.probability(each.p_adjusted, "adjusted p")
    return "; ".join(part for part in (sides(each), p_value) if part)


def because(each: Change) -> str:
    """Return why a change has no interval, or no value."""
    reason = describe_reason(each.reason) if each.reason else ""
    return shorten(printable(reason), LONGEST_REASON)


def summary(comparison: Comparison, told: Told) -> str:
    """Say in a sentence how many disparities went where."""
    if not comparison.changes:
        return "The two reports have no estimate in common."
    if not any(each.moved for each in comparison.changes):
        return f"Nothing changed: {_many(len(told.stayed), 'disparity', 'disparities')} as before."
    if comparison.refused:
        counts = [
            (_going(told.moved, Direction.FURTHER), "went further from no difference"),
            (_going(told.moved, Direction.CLOSER), "came closer to no difference"),
            (_going(told.moved, Direction.AS_FAR), "moved and are as far from it as before"),
            (_going(told.moved, None), "changed"),
        ]
    else:
        counts = [
            (len(told.further), "are statistically significantly further from no difference"),
            (len(told.closer), "are significantly closer"),
            (len(told.moved), "changed, not statistically significantly"),
        ]
    counts += [(len(told.undefined), "have a value in one report only")]
    counts += [(len(told.stayed), "did not change")]
    (first, went), *others = [each for each in counts if each[0]]
    parts = [f"{_many(first, 'disparity', 'disparities')} {went}"]
    return "; ".join(parts + [f"{count:,} {word}" for count, word in others]) + "."


def _going(changes: Sequence[Change], where: Direction | None) -> int:
    return sum(each.direction is where for each in changes)


def _many(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def verdict_summary(comparison: Comparison) -> str:
    """Say how many verdicts changed; nothing where no rule is in both reports."""
    turns = [each.turn for each in comparison.flips]
    counts = {
        "got worse": turns.count(Turn.WORSE),
        "got better": turns.count(Turn.BETTER),
        "changed otherwise": turns.count(Turn.OTHER),
        "stayed": comparison.stayed,
    }
    if not turns:
        return f"Verdicts that changed: none of {comparison.stayed:,}." if comparison.stayed else ""
    found = [f"{count:,} {word}" for word, count in counts.items() if count]
    return f"Of the verdicts, {', '.join(found)}."


def verdict(comparison: Comparison, show: Callable[[str], str] = str) -> str:
    """Return the verdicts as a whole, before and after."""
    old, new = show(comparison.old.verdict), show(comparison.new.verdict)
    return f"{new}, as before" if old == new else f"{old} {ARROW} {new}"


def judged(comparison: Comparison) -> bool:
    """Tell whether any of the two reports had rules."""
    return {comparison.old.verdict, comparison.new.verdict} != {Outcome.NONE}


def lacking(each: Alone) -> tuple[str, str]:
    """Return what one report has alone, and how much has no counterpart because of it."""
    of = f" of {name(each.feature)}" if each.feature is not None and each.what == "group" else ""
    unit = ("verdict", "verdicts") if each.what == "rule" else ("estimate", "estimates")
    return f"{each.what} {name(each.name)}{of}", _many(each.count, *unit)


def called(origin: Origin) -> str:
    """Return the name of a report: its file, or what was audited."""
    return name(origin.name) if origin.name else source(origin)


def source(origin: Origin) -> str:
    """Return the name of what was audited, without the folders it lies in."""
    return name(re.split(r"[/\\]", origin.source)[-1])


def facts(origin: Origin) -> str:
    """Return a report in a line: its data, rows and date."""
    of = f"{source(origin)}, " if origin.name else ""
    used = f", {numbers.count(origin.used)} used" if origin.used != origin.rows else ""
    cases = f", {numbers.count(origin.cases)} cases" if origin.cases != origin.rows else ""
    rows = f"{numbers.count(origin.rows)} rows{cases}{used}"
    return f"{of}{rows}, audited {printable(origin.created[:10])}"


def sizes(comparison: Comparison) -> list[tuple[str, float, float]]:
    """Return the numbers of rows, used and left out by reason, in both reports."""
    old, new = comparison.old, comparison.new
    found: list[tuple[str, float, float]] = [("rows", old.rows, new.rows)]
    if (old.cases, new.cases) != (old.rows, new.rows):
        found.append(("cases", old.cases, new.cases))
    found.append(("rows used", old.used, new.used))
    for reason in dict.fromkeys([*old.excluded, *new.excluded]):
        before, after = old.excluded.get(reason, 0), new.excluded.get(reason, 0)
        if before or after:
            found.append((f"rows with a {shorten(printable(reason), 40)}", before, after))
    return found


def setting(value: Any) -> str:
    """Return a setting of a specification on one line."""
    if value is None or value == [] or value == {}:
        return "none"
    if isinstance(value, str):
        text = value
    elif isinstance(value, list):
        text = ", ".join(map(_item, value))
    elif isinstance(value, Mapping):
        text = json.dumps(value, ensure_ascii=False)
    else:
        text = str(value)
    return shorten(printable(text), _LONGEST_VALUE)


def _item(value: Any) -> str:
    """Return one of several settings: a rule, a feature, the columns of an intersection, a name."""
    if isinstance(value, Mapping) and "metric" in value:
        return f"{value['metric']} {rule_words(value)}"
    if isinstance(value, Mapping) and "column" in value:
        parts = [each for key, each in value.items() if key != "column" and each]
        shown = f" {json.dumps(parts[0], ensure_ascii=False)}" if parts else ""
        return f"{value['column']}{shown}"
    return "*".join(map(str, value)) if isinstance(value, list) else str(value)
