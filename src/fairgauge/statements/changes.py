"""Changes as statements: a difference between groups, or a rate, before and after."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from fairgauge.catalogue.comparisons import Contrast, is_of_all_groups
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Direction, ScopeKind
from fairgauge.results.changes import DisparityChange, RateChange
from fairgauge.results.disadvantage import other_group
from fairgauge.results.disparities import is_reference_first, is_significant
from fairgauge.results.scopes import Interval
from fairgauge.results.statement import Harm, Measure, Range, Side, Statement
from fairgauge.statements.compared import Compared, inverse, measure, whole

Rates = tuple[dict[str, Any], dict[str, Any]]


class Changes(Compared):
    """Differences between groups before and after, from the side that is worse off after."""

    old: dict[str, Any]
    new: dict[str, Any]

    def changed(self, one: DisparityChange, code: str = "changed", **more: Any) -> Statement:
        """Return what became of a difference."""
        of = one.definition.of if isinstance(one.definition, Contrast) else one.definition
        row = of if isinstance(of, Statistic) else None
        mine, theirs = self.rates_of(one, row)
        who, than = self.side(one.feature, one.group), self.reference(one)
        adverse, turned = self.adverse(row, one.class_scope), False
        harm: Harm | None = None
        was = None
        if mine and theirs:
            after = mine[1]["rate"] - theirs[1]["rate"]
            far = after or (mine[0]["rate"] - theirs[0]["rate"])
            if one.after is not None and not is_significant(one.after):
                far = (mine[0]["rate"] - theirs[0]["rate"]) or far  # who was worse off before
            of_two = other_group(self.named, one) is not None
            turned = adverse * after < 0 and than.kind == "group" and of_two
            harm = "worse" if adverse * far > 0 or (adverse * far and of_two) else None
            was = replace(who, **mine[0]), replace(than, **theirs[0])
            who, than = replace(who, **mine[1]), replace(than, **theirs[1])
        if turned and was is not None:
            who, than, was = than, who, was[::-1]
        ends, held = _distance(one), one.new_interval
        pair = held and self.oriented(one, (held.low, held.high), turned=turned)
        return Statement(
            code=code, who=None if one.feature is None else who, than=than, was=was,
            of=Measure("number", one.definition.title) if row is None
            else measure(self.spec, row, one.class_scope, one.threshold),
            by=one.by, value=one.new, shown=one.significant or one.changed or one.other_side,
            harm=harm, interval=ends,
            facts={
                "old": self.old, "new": self.new, "crossed": one.crossed,
                "way": str(one.direction) if one.significant and one.direction else None,
                "reverse": one.other_side, "old_value": one.old, "new_value": one.new,
                "across": is_of_all_groups(one.definition), "size": _size(one),
                "was_than": self.other_reference(one),
                "metric": one.metric, "stratum": one.scope.stratum,
                "held": pair and held and Range(*pair, held.level),
            }, **more,
        )  # fmt: skip

    def other_reference(self, one: DisparityChange) -> Side | None:
        """Return with whom a group was compared before, where it is with another one now."""
        if one.before is None or one.after is None or is_of_all_groups(one.definition):
            return None
        before = self.reference(one.before)
        return None if before == self.reference(one.after) else before

    def oriented(
        self, one: DisparityChange, ends: tuple[float, float], *, turned: bool
    ) -> tuple[float, float] | None:
        """Return an interval of a metric as one of the side that is stated less the other."""
        if is_reference_first(one.definition):
            ends = (-ends[1], -ends[0])
        return inverse(ends, one.by) if turned else ends

    def rates_of(
        self, one: DisparityChange, row: Statistic | None
    ) -> tuple[Rates | None, Rates | None]:
        """Return the rates of both sides, before and after; None where they are not known."""
        whole_scope = one.scope.kind is ScopeKind.OVERALL and one.class_scope.is_single
        if row is None or not row.is_share or not whole_scope or is_of_all_groups(one.definition):
            return None, None
        if one.before is None or one.after is None:
            other = (one.reference and one.reference.group) or other_group(self.named, one)
            return self.rate(one, row, one.group), self.rate(one, row, other) if other else None
        if self.reference(one.before) != self.reference(one.after):
            return None, None
        sides = []
        for name in ("group", "reference"):
            held = []
            for e in (one.before, one.after):
                rate, n = getattr(e, f"rate_{name}"), getattr(e, f"n_{name}")
                if rate is None:
                    return None, None
                held.append({"rate": rate, **({} if e.bounds else whole(rate, n, row, self.spec))})
            sides.append((held[0], held[1]))
        return sides[0], sides[1]

    def all_rates(self) -> Iterable[RateChange]:
        """Return the rates of groups before and after."""
        return ()

    def rate(self, one: DisparityChange, row: Statistic, group: str | None) -> Rates | None:
        """Return the rate of a group before and after, on the same rows."""
        place = (row.name, one.feature, group, one.scope, one.class_scope, one.threshold)
        for e in self.all_rates():
            if (e.rate, e.feature, e.group, e.scope, e.class_scope, e.threshold) == place:
                if e.old is None or e.new is None:
                    return None
                old, new = ({"rate": v, **whole(v, e.n, row, self.spec)} for v in (e.old, e.new))
                return old, new
        return None

    def shifted(self, one: RateChange, **facts: Any) -> Statement:
        """Return a rate of all rows, or of a group, before and after."""
        row = one.definition
        old, new = ({"rate": v, **whole(v, one.n, row, self.spec)} for v in (one.old, one.new))
        who = self.side(one.feature, one.group) if one.feature else Side("rows")
        return Statement(
            code="shifted", who=replace(who, **new), value=one.change,
            was=(replace(who, **old), Side("population")),
            of=measure(self.spec, row, one.class_scope, one.threshold),
            interval=None if one.interval is None else _range(one.interval),
            facts={"old": self.old, "new": self.new, "share": row.is_share, **facts},
        )  # fmt: skip


def any_decision(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a question whose decisions are those of no column: two have made them."""
    names = {"prediction": "decision", "score": "score"}
    return {**spec, **{key: name for key, name in names.items() if spec.get(key)}}


def in_order(found: Iterable[Statement]) -> list[Statement]:
    """Return changes once for each pair and rate: those of the worse off first, further first.

    A difference and a ratio of one rate are about one; the difference can be stated as counts.
    """

    def place(s: Statement) -> tuple[bool, ...]:
        facts = s.facts
        event = s.of is not None and s.of.event is not None
        further = facts["way"] == Direction.FURTHER
        return s.harm != "worse", not further, not facts["reverse"], not event

    once: dict[object, Statement] = {}
    for s in sorted(found, key=place):
        pair = [side and side.values for side in (s.who, s.than)]
        key = (s.of, *pair, s.facts["stratum"]) if s.was else (s.facts["metric"], *pair, s.sources)
        kept = once.setdefault(key, s)
        if (kept.by, s.by) == ("ratio", "difference") and place(s) == place(kept):
            once[key] = s
    metrics = list(dict.fromkeys(s.facts["metric"] for s in once.values()))
    return sorted(
        once.values(),
        key=lambda s: (place(s), metrics.index(s.facts["metric"]), -s.facts["size"]),
    )


def _size(one: DisparityChange) -> float:
    """Return by how much a disparity changes, whichever way; of ratios the logarithm."""
    if one.by == "ratio":
        return abs(math.log(one.change)) if one.change else math.inf
    return abs(one.change or 0.0)


def _range(interval: Interval) -> Range:
    return Range(interval.low, interval.high, interval.level)


def _distance(one: DisparityChange) -> Range | None:
    """Return the interval of the change of the distance of two shares; None of anything else."""
    row = one.definition.of if isinstance(one.definition, Contrast) else None
    if one.crossed or one.by == "ratio" or row is None or not getattr(row, "is_share", False):
        return None
    if one.before is None:
        return None if one.distance_adjusted is None else _range(one.distance_adjusted)
    if one.interval is None:
        return None
    low, high = one.interval
    if (one.new or 0.0) < 0:
        low, high = -high, -low
    return Range(low, high, one.interval.level)
