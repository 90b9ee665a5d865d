"""Outline: a report sorted into what is told together, in the order of telling."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.enums import ClassKind, Outcome, ReferenceKind, ScopeKind, Status
from fairgauge.render.metric_meanings import (
    compared,
    distance,
    has_margin,
    headline_rank,
    is_directed,
    is_of_feature,
    metric_row,
    reverses,
)
from fairgauge.render.reason_sentences import describe_reason

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairgauge.report.estimates import Estimate, Group, GroupPair
    from fairgauge.report.report import Report
    from fairgauge.report.results import ClassScope
    from fairgauge.report.verdicts import Verdict

_MOST_HEADLINES = 3
_MOST_STRATIFIED = 2
_MOST_TURNS = 6
_GRAVE_FIRST = (
    Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.NOT_EVALUATED, Outcome.PASS, Outcome.NONE,
)  # fmt: skip
_View: TypeAlias = "tuple[str, float | None, ClassScope]"
_READABLE = frozenset({Status.OK, Status.TOO_FEW})


@dataclass(frozen=True, slots=True)
class Unusable:
    """Estimates without a value, for one reason.

    Attributes
    ----------
    status, reason : why there is no value.
    metrics, groups : of what, and of whom.
    """

    status: Status
    reason: str
    metrics: tuple[str, ...]
    groups: tuple[str, ...]


@dataclass(frozen=True)
class Section:
    """One sensitive feature (or intersection) at one threshold and of one class.

    Attributes
    ----------
    feature, threshold, class_scope : what it is of; the threshold is None without scores.
    groups : the groups over all strata.
    estimates : the estimates over all strata that have a value.
    unusable : those that have none, by reason.
    across : estimates of the whole feature, comparing no two sides.
    pooled : the estimates that hold strata fixed.
    pairs : every two groups in the central rates, those that differ most first.
    strata : names of the strata.
    in_strata : groups and estimates of single strata.
    """

    feature: str
    threshold: float | None
    class_scope: ClassScope
    groups: tuple[Group, ...]
    estimates: tuple[Estimate, ...]
    unusable: tuple[Unusable, ...]
    across: tuple[Estimate, ...]
    pooled: tuple[Estimate, ...]
    pairs: tuple[GroupPair, ...]
    strata: tuple[str, ...]
    groups_in_strata: tuple[Group, ...]
    estimates_in_strata: tuple[Estimate, ...]

    @property
    def of_class(self) -> str:
        """Return the class or average of the section as words; nothing where there is none."""
        scope = self.class_scope
        if scope.kind is ClassKind.CLASS:
            return f"class {scope.name}"
        if scope.kind is ClassKind.AVERAGE:
            return f"{scope.average} average over classes"
        return f"class furthest from no difference ({scope.name})" if scope.name else ""

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """Return the metrics that have a value somewhere, in order."""
        return tuple(dict.fromkeys(each.metric for each in self.estimates))

    @cached_property
    def compared(self) -> tuple[str, ...]:
        """Return the groups that are compared with a reference, in order."""
        return tuple(dict.fromkeys(str(each.group) for each in self.estimates))

    @property
    def mirrored(self) -> bool:
        """Tell whether there are just two groups, each the reference of the other."""
        kinds = {each.reference.kind for each in self.estimates if each.reference}
        return len(self.groups) == 2 and kinds == {ReferenceKind.OTHERS}

    @cached_property
    def focus(self) -> str | None:
        """Return the group that speaks for all, if one does: the smaller of two, or the one."""
        if len(self.compared) == 1:
            return self.compared[0]
        return min(self.groups, key=lambda group: group.n).group if self.mirrored else None

    def of(self, metric: str) -> list[Estimate]:
        """Return the estimates of a metric over all strata."""
        return [each for each in self.estimates if each.metric == metric]

    def farthest(self, metric: str) -> Estimate | None:
        """Return the estimate of a metric that lies farthest from "no difference".

        Intervals decide first, so that a tiny group does not lead by chance.
        """
        found = [e for e in self.of(metric) if self.focus in (None, e.group)]
        sound = [e for e in found if e.status is Status.OK]
        return max(sound or found, key=distance, default=None)

    def headlines(self) -> list[Estimate]:
        """Return the few estimates to speak of first: of those that are sure, if any are."""
        ranked: dict[str, tuple[int, Estimate]] = {}
        for metric in self.metrics:
            rank, found = headline_rank(metric), self.farthest(metric)
            row = metric_row(metric)
            if rank is None or found is None or not isinstance(row, Contrast):
                continue
            if row.of.name not in ranked or row.by == "difference":
                ranked[row.of.name] = (rank, found)
        best = [found for _, found in sorted(ranked.values(), key=lambda each: each[0])]
        sure = [found for found in best if distance(found)[0] > 0]
        return (sure or best[:1] if any(e.interval for e in best) else best)[:_MOST_HEADLINES]

    @cached_property
    def held(self) -> tuple[tuple[Estimate, Estimate], ...]:
        """Return pairs of an estimate over all rows and its counterpart with strata held fixed."""
        margins = {(each.metric, each.group): each for each in self.estimates}
        found = []
        for pooled in self.pooled:
            if self.focus in (None, pooled.group):
                names = (m for m in self.metrics if has_margin(pooled.metric, m))
                margin = next((margins.get((name, pooled.group)) for name in names), None)
                found += [(margin, pooled)] if margin else []
        return tuple(found)

    def turns(self) -> list[tuple[Estimate, Estimate]]:
        """Return the pairs to speak of; of many groups, those whose direction turns around."""
        kept: dict[tuple[str, str], tuple[Estimate, Estimate]] = {}
        for margin, pooled in self.held:
            if margin.metric in self.stratified:
                own = margin.metric == pooled.metric
                subject = (margin.metric, str(margin.group))
                known = kept.setdefault(subject, (margin, pooled))
                kept[subject] = (margin, pooled) if own else known
        pairs = list(kept.values())
        if self.focus is None:
            pairs = [(m, p) for m, p in pairs if reverses(m, p)]
        return pairs[:_MOST_TURNS]

    def farthest_pooled(self) -> list[Estimate]:
        """Return, of every metric that holds strata fixed, the estimate farthest from neutral."""
        best: dict[str, Estimate] = {}
        for each in self.pooled:
            if self.focus in (None, each.group):
                kept = best.setdefault(each.metric, each)
                best[each.metric] = max(kept, each, key=distance)
        return list(best.values())

    @cached_property
    def stratified(self) -> tuple[str, ...]:
        """Return the metrics to show by stratum, those with a pooled counterpart first."""
        inside = dict.fromkeys(each.metric for each in self.estimates_in_strata)
        held = {margin.metric for margin, _ in self.held}
        places = {metric: i for i, metric in enumerate(inside) if is_directed(metric)}
        ranked = sorted(
            places,
            key=lambda m: (m not in held, headline_rank(m) is None, headline_rank(m), places[m]),
        )
        one_each = {compared(metric): metric for metric in reversed(ranked)}
        kept = [metric for metric in ranked if metric in one_each.values()]
        return tuple(kept[: _MOST_STRATIFIED if held else 1])


@dataclass(frozen=True, slots=True)
class Outline:
    """The sections of a report, and its metrics of the whole table."""

    sections: tuple[Section, ...]
    whole: tuple[Estimate, ...]


def outline(report: Report) -> Outline:
    """Sort a report into sections: a feature, a threshold and a class each."""
    views: dict[_View, _Gathered] = {}
    for group in report.groups:
        gathered = views.setdefault(
            (group.feature, group.threshold, group.class_scope), _Gathered()
        )
        gathered.groups.append(group)
    whole = []
    for each in report.estimates:
        if each.feature is None:
            whole.append(each)
            continue
        views.setdefault(_view(each, views), _Gathered()).estimates.append(each)
    for pair in report.pairs:
        views.setdefault(_view(pair, views), _Gathered()).pairs.append(pair)
    sections = [_section(*view, gathered) for view, gathered in views.items()]
    return Outline(tuple(sections), tuple(whole))


class _Gathered:
    def __init__(self) -> None:
        self.groups: list[Group] = []
        self.estimates: list[Estimate] = []
        self.pairs: list[GroupPair] = []


def _view(each: Estimate | GroupPair, views: Iterable[_View]) -> _View:
    """Return the section of an estimate; one without a threshold stands with the first."""
    own = (str(each.feature), each.threshold, each.class_scope)
    if each.threshold is not None:
        return own
    return next((view for view in views if (view[0], view[2]) == (own[0], own[2])), own)


def _section(
    feature: str, threshold: float | None, class_scope: ClassScope, gathered: _Gathered
) -> Section:
    readable = [e for e in gathered.estimates if e.value is not None and e.status in _READABLE]
    margin = [e for e in readable if e.scope.kind is ScopeKind.OVERALL]
    inside = [e for e in readable if e.scope.kind is ScopeKind.STRATUM]
    groups_inside = [g for g in gathered.groups if g.stratum is not None]
    names = [str(g.stratum) for g in groups_inside] + [str(e.stratum) for e in inside]
    return Section(
        feature=feature,
        threshold=threshold,
        class_scope=class_scope,
        groups=tuple(g for g in gathered.groups if g.stratum is None),
        estimates=tuple(e for e in margin if not _across(e)),
        unusable=_unusable(gathered.estimates),
        across=tuple(e for e in margin if _across(e)),
        pooled=tuple(e for e in readable if e.scope.kind is ScopeKind.POOLED),
        pairs=tuple(gathered.pairs),
        strata=tuple(dict.fromkeys(names)),
        groups_in_strata=tuple(groups_inside),
        estimates_in_strata=tuple(inside),
    )


def _across(each: Estimate) -> bool:
    """Tell whether an estimate is of all groups at once, though it may name the two it is from."""
    return each.reference is None or is_of_feature(each.metric)


def verdicts_by_rule(report: Report) -> list[tuple[str, list[Verdict]]]:
    """Return the verdicts of every rule, the grave ones first."""
    found: dict[str, list[Verdict]] = {}
    for each in report.verdicts:
        found.setdefault(each.rule, []).append(each)
    return [(rule, sorted(each, key=_gravity)) for rule, each in found.items()]


def _gravity(verdict: Verdict) -> int:
    return _GRAVE_FIRST.index(verdict.outcome)


def _unusable(estimates: Iterable[Estimate]) -> tuple[Unusable, ...]:
    """Fold the estimates without a value by reason."""
    folded: dict[tuple[Status, str], list[Estimate]] = {}
    for each in estimates:
        if each.scope.kind is not ScopeKind.STRATUM and (
            each.value is None or each.status not in _READABLE
        ):
            reason = describe_reason(each.reason) if each.reason else str(each.status)
            folded.setdefault((each.status, reason), []).append(each)
    return tuple(
        Unusable(
            status,
            reason,
            tuple(dict.fromkeys(each.metric for each in found)),
            tuple(dict.fromkeys(str(each.group) for each in found)),
        )
        for (status, reason), found in folded.items()
    )
