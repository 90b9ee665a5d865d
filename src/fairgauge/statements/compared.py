"""Comparisons as statements: sides as they were counted, read from the side that is worse off."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any

from fairgauge.catalogue import directions
from fairgauge.catalogue.cells import ALL, FN, FP, TN, TP, Cells
from fairgauge.catalogue.comparisons import Metric, RowMetric, is_of_all_groups
from fairgauge.catalogue.distributions import OverallStandardisedDifference
from fairgauge.catalogue.score_statistics import Mean, RegressionTerm, ScoreTerm
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.enums import (
    ClassKind,
    Closed,
    CountedAs,
    DiagnosticCode,
    Favourable,
    Missing,
    ReferenceKind,
    Task,
    Threshold,
    Uncounted,
)
from fairgauge.identity import FeatureId, GroupId
from fairgauge.question.conditions import plain_conditions
from fairgauge.question.features import Above, ByColumn
from fairgauge.question.options import BY_NAME
from fairgauge.question.specification import Spec, read_spec
from fairgauge.resolve.resolution import missing_stratum
from fairgauge.results import estimates
from fairgauge.results.estimates import Group
from fairgauge.results.scopes import ClassScope, Diagnostic
from fairgauge.results.shown_result import CountedValue
from fairgauge.results.statement import (
    Event,
    EventKind,
    Harm,
    Measure,
    Op,
    Page,
    Range,
    Side,
    Statement,
    fact,
)
from fairgauge.start.records import replace

EVENTS: dict[Cells, tuple[EventKind, bool]] = {TP + FP: ("decision", True),
    TN + FN: ("decision", False), TP + FN: ("outcome", True), TN + FP: ("outcome", False),
}  # fmt: skip
OUTCOMES = ("label", "prediction", "score")
Counted = dict[str, Any]
"""The number of a side, with the rows that it counts where it is a share of whole rows."""
Rates = tuple[Counted, Counted]
StatedValues = tuple[str, str, str, list[tuple[str, float]], bool, bool]


def words_of(spec: Spec, *, repeated: bool = False) -> dict[str, object]:
    """Return the words that a result was asked with, those of its preset where it states none."""
    held: dict[str, object] = {} if spec.preset is None else dict(spec.preset.words)
    given, unit = spec.words.to_dict(), unit_of(spec)
    if "unit" in held:
        held |= dict.fromkeys(("noun", "unit"), held["noun" if unit == "people" else "unit"])
    if given.get("positive", held.get("positive")) != held.get("positive") or given.get("negative"):
        held = {key: word for key, word in held.items() if key not in ("positive", "negative")}
    side = str(spec.favourable or Favourable.POSITIVE)
    found = {"unit": unit, "favourable": side, "groups": {}} | held | given
    if (repeated or spec.cluster) and not found.get("noun"):
        found["noun"] = found["unit"]
    return found


def unit_of(spec: Spec) -> str:
    """Return what a result counts: people, the cases of a count, or rows."""
    return spec.unit.get("unit", "rows")


def asked_conditions(spec: Spec) -> dict[str, list[str]]:
    """Return the conditions on rows, and of which columns these may lack a value, or may not."""
    if not spec.where:
        return {}
    outcomes = {spec.label, spec.prediction, spec.score}
    held = [each for each in spec.where if not each.holds(None)]
    kept = [each.column for each in held if each.keeps_missing(outcomes)]
    absent = [each.column for each in held if not each.keeps_missing(outcomes)]
    conditions = BY_NAME["where"].type.write(plain_conditions(spec.where))
    return {"conditions": conditions, "absent": absent, "kept": kept}


def is_used_partly(excluded: Iterable[str], spec: Spec) -> bool:
    """Return whether rows that are used are excluded from some features."""
    apart = {missing_stratum(each.column, len(spec.strata)) for each in spec.strata}
    return bool(set(excluded) - {"missing cluster", *Uncounted} - apart)


def event(
    spec: Spec,
    kind: EventKind,
    positive: bool,
    scope: ClassScope | None = None,
    threshold: float | None = None,
) -> Event:
    """Return a decision or an outcome as its column and value."""
    decides = kind == "outcome" and not (spec.prediction or spec.score)
    of, asked = partial(Event, kind, positive, decides=decides, once=spec.of_people), spec.positive
    column = spec.label or "label"
    if kind == "decision":
        column = spec.prediction or spec.score or "prediction"
    if isinstance(asked, Above):
        op: Op = "above" if asked.closed is Closed.RIGHT else "from"
        return of(column, (f"{asked.threshold:g}",), op)
    values = dict(asked.columns).get(column, ()) if isinstance(asked, ByColumn) else asked
    name = getattr(scope, "name", None)
    if name is not None:
        return Event(kind, positive, column, (str(name),), "=" if positive else "not", named=False)
    if kind == "decision" and not spec.prediction and spec.score:
        median = isinstance(spec.threshold, Threshold)
        # of several thresholds each is another decision
        at = spec.threshold if threshold is None else (threshold,)
        cuts = (str(at),) if isinstance(at, Threshold) else tuple(f"{c:g}" for c in at)
        op = "to" if spec.favourable is Favourable.LOWER else "from"
        return Event(kind, positive, column, cuts, op, named=not median)
    if not values:
        return of(column, ("1" if positive else "0",))
    names = tuple(f"{v:g}" if isinstance(v, float) else str(v) for v in values)
    return of(column, names, "=" if positive else "not")


def for_any_decision(spec: Spec) -> Spec:
    """Return a question whose decisions are those of no column: two have made them."""
    named, positive = ((spec.prediction, "decision"), (spec.score, "score")), spec.positive
    if isinstance(positive, ByColumn):
        values = dict(positive.columns)
        values |= {name: values.get(column, ()) for column, name in named if column}
        positive = ByColumn(tuple(values.items()))
    decision, score = (column and name for column, name in named)
    return replace(spec, prediction=decision, score=score, positive=positive)


def measure(
    spec: Spec, row: Statistic, scope: ClassScope | None = None,
    threshold: float | None = None,
) -> Measure:  # fmt: skip
    """Return what a rate counts, among whom; of other numbers their column."""
    class_, average = (None, None) if scope is None else (scope.name, scope.average)
    of_row = partial(
        Measure, class_=class_, average=average and str(average), threshold=threshold,
        classes=spec.task is Task.MULTICLASS,
    )  # fmt: skip
    label, decided = spec.label or "label", spec.prediction or spec.score
    predicted = decided or "prediction"
    if isinstance(row, Mean):
        own = label if row.of is RegressionTerm.LABEL else predicted
        return of_row("mean", row.of.name.casefold(), column=own, beside=label)
    if getattr(row, "of", None) is ScoreTerm.CALIBRATION_GAP:  # the mean error of a score
        return of_row("mean", "error", column=predicted, beside=label)
    # of a user's own rate a saved result holds no cells
    rate = row if isinstance(row, Rate) and not row.own else None
    cells = None if rate is None else directions.event_of(rate)
    among = None if rate is None else EVENTS.get(rate.among)
    of_one = average is None and (class_ is None or cells is not None)
    if rate is not None and of_one and (among or rate.among == ALL):
        whom = among and event(spec, *among, scope, threshold)
        if cells is not None:
            of = event(spec, *EVENTS[cells], scope, threshold)
            return of_row("share", row.title, of, whom)
        if directions.is_of_fit(rate):
            return of_row("fit" if rate.of == TP + TN else "misfit", row.title, among=whom)
    return of_row("number", row.title, column="" if row.is_share else decided or "")


def side_of(
    feature: str | None, group: str | None, feature_id: FeatureId | None = None,
    group_id: GroupId | None = None,
) -> Side:  # fmt: skip
    """Return a group as a side: its value in each column."""
    if feature_id is not None and group_id is not None and group_id.parts:
        names = (part.name() for part in group_id.parts)
        return Side("group", feature, tuple(zip(feature_id.columns, names, strict=True)))
    return Side("group", feature, ((str(feature), str(group)),))


def _place_of(group: Group) -> tuple[object, ...]:
    return group.feature, group.scope, group.class_scope, group.threshold


_DECIDED = ("label", "prediction")
_SIDES = ("positive", "negative", "undecided")
_LEFT_OUT = (CountedAs.MISSING, CountedAs.EXCLUDED)
_NOT_LISTED = (CountedAs.NUMBER, CountedAs.UNCOUNTED, CountedAs.FURTHER)
_UNSTATED: Mapping[str, tuple[str, ...]] = {
    "label": _NOT_LISTED, "prediction": _NOT_LISTED,
    "where": (CountedAs.COUNTED, CountedAs.UNCOUNTED, CountedAs.FURTHER),
}  # fmt: skip
"""What values became that the first page never lists; groups and classes are listed by name."""
_MOST_VALUES = 6


def stated_values(counted: Iterable[CountedValue]) -> list[StatedValues]:
    """Return the values that a first page states: of outcomes and groups of several, and excluded.

    Those that count as one are of a role and a column; with their cases, whether they are named as
    a group or a class, and whether their column is named.
    """
    columns: dict[str, list[CountedValue]] = {}
    for each in counted:
        columns.setdefault(f"{each.role} {each.column}", []).append(each)
    known, found = set[str](), []
    for every in columns.values():
        role, column = every[0].role, every[0].column
        there = [each.value for each in every if each.as_ not in _LEFT_OUT]
        amounts = any(each.as_ == CountedAs.NUMBER for each in every)
        held: dict[str, list[tuple[str, float]]] = {}
        for each in every:
            if each.as_ in _LEFT_OUT and (amounts or each.value in there):
                continue  # of rows that something else leaves out
            if each.value is not None and each.as_ and each.as_ not in _UNSTATED.get(role, ()):
                held.setdefault(each.as_, []).append((each.value, each.cases))
        for state, values in held.items():
            # a group or class; of one value, where another is called so: names may be swapped
            named = state not in (_SIDES if role in _DECIDED else ()) and state not in _LEFT_OUT
            names = sorted({value for value, _ in values})
            side = "\n".join([state, column if named or state in _LEFT_OUT else "", *names])
            swapped = named and values[0][0] != state and state in there
            one_is_stated = swapped if named else state not in ("positive", "negative")
            if (len(values) > 1 or one_is_stated) and side not in known:
                known.add(side)
                found.append((role, column, state, values, named))
    several = len({column for role, column, _, _, _ in found if role in _DECIDED}) > 1
    return [(*of, several or of[4] or of[2] in _LEFT_OUT) for of in found]


class PageStatements:
    """What the comparisons of one result have in common: groups, words, which side is better."""

    kind = ""
    """The kind of its first page, which its `statements` make."""

    def __init__(
        self, result: Any, groups: Iterable[Any] = (), *, decided_twice: bool = False
    ) -> None:
        self.result, asked = result, read_spec(result.spec)
        asked = replace(asked, task=getattr(result, "task", asked.task))
        self.spec = for_any_decision(asked) if decided_twice else asked
        self.groups, self.totals = tuple(groups), tuple(getattr(result, "totals", ()))
        known = (g for g in self.groups if hasattr(g, "group_id"))
        self.ids = {(g.feature, g.group): (g.feature_id, g.group_id) for g in known}
        others, kind = ReferenceKind.OTHERS, "reference_kind"
        own = (g for g in self.groups if getattr(g, kind, None) is not others)
        self.named = {(g.feature, g.group) if hasattr(g, "group") else g for g in own}
        self.favourable = self.spec.favourable or Favourable.POSITIVE
        notes = getattr(result, "diagnostics", ())
        self.rounded = any(each.code is DiagnosticCode.PROTECTED for each in notes)

    def statements(self) -> Iterable[Statement]:
        """Return what is stated of the result, in order."""
        return ()

    def page(self, *, repeated: bool = False) -> Page:
        made = self.statements()
        return page(self.kind, self.spec, made, repeated=repeated, values=self.values)

    def event(self, kind: EventKind, positive: bool) -> Event:
        return event(self.spec, kind, positive)

    def counted_values(self) -> Iterator[Statement]:
        """Yield the values of outcomes and groups made of several, and those excluded."""
        for role, column, state, values, named, several in stated_values(self.result.counted):
            kind: EventKind = "outcome" if role == "label" else "decision"
            of = replace(self.event(kind, state == "positive"), once=False)
            yield fact("counted_as", "counted", column=column, state="named" if named else state,
                event=of if not named and state in ("positive", "negative") else None,
                name=state, values=values[:_MOST_VALUES], more=max(0, len(values) - _MOST_VALUES),
                several=several)  # fmt: skip

    def measure(
        self, row: Statistic, scope: ClassScope | None = None, threshold: float | None = None
    ) -> Measure:
        return measure(self.spec, row, scope, threshold)

    def counted(self, rate: float | None, n: float | None, row: object) -> Counted:
        """Return a number, with the rows that a share counts, where it is of whole rows."""
        if rate is None or not n or not isinstance(row, Rate):
            return {"rate": rate}
        if self.spec.weight or self.spec.missing is Missing.IGNORABLE:
            return {"rate": rate}
        return {"rate": rate, "hits": round(rate * n), "n": round(n)}

    def side(self, feature: str | None, group: str | None, **counted: Any) -> Side:
        return replace(side_of(feature, group, *self.ids.get((feature, group), ())), **counted)

    @property
    def values(self) -> dict[str, set[str]]:
        """Return the values of every column, so that no two groups are called alike."""
        found: dict[str, set[str]] = {}
        for feature, group in self.named:
            for column, value in self.side(feature, group).values:
                found.setdefault(column, set()).add(value)
        return found

    def reference(self, each: Any, **counted: Any) -> Side:
        """Return with whom a group is compared; of two groups all others are the other one."""
        reference = each.reference
        if reference is None:
            return Side("population", each.feature, **counted)
        if (other := reference.group or estimates.other_group(self.named, each)) is not None:
            return self.side(each.feature, other, **counted)
        of_all = reference.kind is ReferenceKind.OVERALL
        return Side("everyone" if of_all else "others", each.feature, **counted)

    @cached_property
    def _group_at(self) -> dict[tuple[object, ...], Group]:
        return {(*_place_of(g), g.group): g for g in reversed(self.groups)}

    def counts(self, each: Any, row: Statistic) -> Rates:
        """Return the number of both sides, with the rows that it counts where these are whole."""
        place = (each.feature, each.scope, each.class_scope.of_class, each.threshold)

        def held(group: Group | None) -> Counted | None:
            rate = None if group is None else group.rates.get(row.name)
            if group is None or rate is None or rate.value is None:
                return None
            hits, n = rate.numerator, rate.denominator
            if group.weight is not None or rate.bounds or hits is None or not n:  # no whole rows
                return {"rate": rate.value}
            return {"rate": rate.value, "hits": int(hits), "n": int(n)}

        reference = each.reference
        mine = held(self._group_at.get((*place, each.group))) or {"rate": each.rate_group}
        theirs: Counted = {"rate": each.rate_reference}
        if reference is not None and reference.group is not None:
            return mine, held(self._group_at.get((*place, reference.group))) or theirs
        overall = (g for g in self.totals if g.reference_kind is ReferenceKind.OVERALL)
        total = held(next((g for g in overall if _place_of(g) == place), None))
        if total and reference is not None and reference.kind is ReferenceKind.OVERALL:
            return mine, total
        if total and total.get("n") and mine.get("n") and total["n"] > mine["n"]:
            hits, n = total["hits"] - mine["hits"], total["n"] - mine["n"]
            of_others = each.rate_reference
            if of_others is not None and math.isclose(hits / n, of_others, rel_tol=1e-9):
                theirs = {"rate": hits / n, "hits": hits, "n": n}
        return mine, theirs

    def shifted(self, one: Any, code: str, **more: Any) -> Statement:
        """Return a rate of all rows, or of a group, before and after."""
        old, new = self.both(one) or ({}, {})
        who = self.side(one.feature, one.group) if one.feature else Side("rows")
        was = replace(who, **old), Side("population")
        made = Statement(code=code, who=replace(who, **new), was=was, value=one.change,
            of=self.measure(one.definition, one.class_scope, one.threshold))  # fmt: skip
        return replace(made, **more)

    def both(self, one: Any) -> Rates | None:
        """Return a rate before and after, with the rows that it counts; None if either is not."""
        if one.old is None or one.new is None:
            return None
        old, new = (self.counted(rate, one.n, one.definition) for rate in (one.old, one.new))
        return old, new

    def adverse(self, of: object, scope: ClassScope) -> int:
        """Return the sign of a difference that harms; 0 where neither does."""
        if not isinstance(of, Statistic | RowMetric):
            return 0
        return directions.adverse_sign(of, estimates.favourable_in(self.favourable, scope))

    def _measure_of(self, metric: Metric | Statistic) -> Measure:
        label = self.spec.label or "label"
        if isinstance(metric, RowMetric) and metric.q is not None:
            name = "median" if metric.q == _MIDDLE else f"{metric.q:g}"
            return Measure("mean", name, column=label, beside=label)
        if isinstance(metric, RowMetric) and metric.kind in ("top", "exposure"):
            top = f"{metric.top or 0:g}"
            return Measure("rank", metric.kind, column=top, beside="%" if metric.percent else "")
        if isinstance(metric, OverallStandardisedDifference):
            return Measure("number", metric.mean)
        return Measure("other", metric.title)

    def statement(
        self,
        each: Any,
        code: str = "differs",
        *,
        turn: bool = True,
        alone: bool = False,
        **more: Any,
    ) -> Statement:
        """Return a comparison as a statement, from the worse-off side if it can be turned."""
        several_cuts = more.pop("several_cuts", False)
        row = directions.compared_number(each.definition)  # None of all groups at once: a spread
        if row is not None and self.groups and hasattr(self.groups[0], "rates"):
            mine, theirs = self.counts(each, row)
        else:
            mine = self.counted(each.rate_group, each.n_group, row)
            theirs = self.counted(each.rate_reference, each.n_reference, row)
        who, than = self.side(each.feature, each.group, **mine), self.reference(each, **theirs)
        far = estimates.gap(each)
        harmed = self.adverse(row or each.definition, each.class_scope) * far
        harm: Harm | None = None if harmed == 0 else "worse" if harmed > 0 else "better"
        # of groups with insufficient data nothing is concluded, and no interval stated
        sufficient = each.simultaneous is not None or each.bounds is not None
        ends = Range.of(each.interval) if alone or not row or sufficient else None
        value = each.value
        if directions.is_reference_first(each.definition):
            ends = ends and replace(ends, low=-ends.high, high=-ends.low)
            value = None if value is None else -value
        at = each.threshold if several_cuts else None
        measured = (
            self._measure_of(each.definition) if row is None
            else self.measure(row, each.class_scope, at)
        )  # fmt: skip
        exact = measured.classes and not self.spec.weight
        facts = {
            "across": each.group is None or is_of_all_groups(each.definition),
            "worst_class": each.class_scope.kind is ClassKind.WORST,
            "exact": exact and getattr(each, "bounds", None) is None,
        } | more.pop("facts", {})
        if self.rounded:
            facts["rounded"] = True
        found = Statement(code=code, who=who, than=than, of=measured, value=value, harm=harm,
            by="ratio" if directions.is_ratio(each.definition) else "difference", interval=ends,
            shown=estimates.is_significant(each), facts=facts,
            way=None if None not in (who.rate, than.rate) else (far > 0) - (far < 0))  # fmt: skip
        if turn and harm == "better" and than.kind == "group":
            found = swap_sides(found)
        return replace(found, **more)


_MIDDLE = 0.5
_TURNED: dict[Harm, Harm] = {"worse": "better", "better": "worse"}


def swap_sides(s: Statement) -> Statement:
    """Return a comparison read from its other side."""
    harm: Harm | None = _TURNED.get(s.harm) if s.harm else None
    ends = s.interval and inverse((s.interval.low, s.interval.high), s.by)
    value = s.value
    if value is not None:
        value = -value if s.by == "difference" else 1 / value if value else math.inf
    return replace(
        s, who=s.than, than=s.who, value=value, harm=harm, way=None if s.way is None else -s.way,
        interval=ends and s.interval and replace(s.interval, low=ends[0], high=ends[1]),
    )  # fmt: skip


def inverse(ends: tuple[float, float], by: str) -> tuple[float, float] | None:
    """Return an interval read from the other side."""
    if by == "difference":
        return -ends[1], -ends[0]
    return (1 / ends[1], 1 / ends[0]) if ends[0] > 0 else None


def page(
    kind: str,
    spec: Spec | None,
    statements: Iterable[Statement],
    *,
    repeated: bool = False,
    **words: object,
) -> Page:
    """Return a page of statements in order; ``repeated``, see `words_of`."""
    held = words_of(spec or Spec(), repeated=repeated)
    return Page(kind=kind, statements=tuple(statements), words=held | words)


def step(code: str, **facts: object) -> Statement:
    """Return what to do next, as a statement."""
    return Statement(code=code, facts=facts)


def excluded_rows(diagnostics: Iterable[Diagnostic]) -> Iterator[Statement]:
    """Yield which rows are excluded, from the notes of a result."""
    notes = (each for each in diagnostics if each.code is DiagnosticCode.EXCLUDED)
    excluded = [(each["rows"], each.get("unit") or "rows", each["reason"]) for each in notes]
    if excluded:
        yield Statement(code="excluded", facts={"excluded": excluded}, sources=("diagnostics",))
