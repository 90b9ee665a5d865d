"""Estimate: a metric, computed for one comparison; and `measure`, which makes all of them.

Every metric is one vectorised call over all comparisons, so 2,000 strata cost little more than one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fairgauge.metrics.catalogue import RATES
from fairgauge.metrics.comparisons import ConditionalDisparity, Contrast, Metric
from fairgauge.metrics.lookup import expand
from fairgauge.tally import EVERYONE, Positives, Sides, Tally, positives, tally, tally_all
from fairgauge.words import Better, Level, Profile, Reference, Role, Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fairgauge.cube import Cube
    from fairgauge.metrics.kinds import Statistic
    from fairgauge.metrics.side import Side
    from fairgauge.metrics.symbols import Array, Need
    from fairgauge.spec import Spec
    from fairgauge.tally import Index

POOLED = "pooled"
_FEWEST_COVERED = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One metric of one comparison.

    Attributes
    ----------
    metric, set : catalogue name, and whose metric it is.
    feature, group, reference : who is compared with whom.
    stratum : the stratum held fixed, None for all rows, "pooled" for a pooled metric.
    class_ : the class of a multiclass audit, None otherwise.
    threshold : the score threshold, None without scores.
    value : the estimate; None where undefined, +-inf where the formula says so.
    low, high, confidence, method : its interval, and how it was made.
    p_value, p_adjusted : of "no difference", alone and adjusted for all comparisons.
    n_group, n_reference : the rows that both sides rest on.
    rate_group, rate_reference : the numbers that are compared.
    status, reason : whether the value can be relied on, and if not, why.
    says : the comparison in a sentence.
    """

    metric: str
    set: str
    feature: str | None
    group: str
    reference: str | None
    stratum: str | None = None
    class_: str | None = None
    threshold: float | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    confidence: float | None = None
    method: str | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    n_group: float | None = None
    n_reference: float | None = None
    rate_group: float | None = None
    rate_reference: float | None = None
    status: Status = Status.OK
    reason: str | None = None
    says: str = ""

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return (low, high), or None without an interval."""
        return None if self.low is None or self.high is None else (self.low, self.high)


@dataclass(frozen=True, slots=True)
class RateValue:
    """A rate of one group, with its interval and status."""

    value: float | None
    low: float | None = None
    high: float | None = None
    status: Status = Status.OK
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The counts and rates of one group.

    Attributes
    ----------
    n, weight, share : its rows (or cases), their weight, and its share of the known rows.
    counts, weighted_counts : tp, fp, fn, tn; None without labels or predictions.
    rates : every rate that applies.
    """

    feature: str
    group: str
    stratum: str | None = None
    class_: str | None = None
    threshold: float | None = None
    n: float = 0
    weight: float | None = None
    share: float | None = None
    counts: Mapping[str, float] | None = None
    weighted_counts: Mapping[str, float] | None = None
    rates: Mapping[str, RateValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Something that a reader should know."""

    level: Level
    code: str
    message: str
    where: str | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything computed from a cube."""

    groups: tuple[Group, ...]
    estimates: tuple[Estimate, ...]
    diagnostics: tuple[Diagnostic, ...]


def measure(cube: Cube, spec: Spec) -> Measured:
    """Compute every rate and metric that is asked for.

    Raises
    ------
    SpecError
        A value set, reference or positive value that the data do not have.
    """
    asked = _asked(cube, spec)
    positive = positives(cube, spec)
    tallies = tally(cube, spec)
    groups: list[Group] = []
    estimates: list[Estimate] = []
    diagnostics: list[Diagnostic] = []
    for threshold in range(len(positive.predictions)):
        for each in tallies:
            view = _View(each, positive, spec, threshold)
            groups += view.groups(_available(cube))
            for metric in asked:
                if metric.whole_table or (threshold and "prediction" not in metric.needs):
                    continue
                estimates += view.estimates(metric, _obstacle(metric, cube))
                diagnostics += view.notes(metric, _obstacle(metric, cube))
        everyone = _View(tally_all(cube), positive, spec, threshold)
        for metric in asked:
            if metric.whole_table:
                estimates += everyone.estimates(metric, _obstacle(metric, cube))
    return Measured(tuple(groups), tuple(estimates), tuple(diagnostics))


def _asked(cube: Cube, spec: Spec) -> tuple[Metric, ...]:
    """Return the metrics asked for; of the standard ones, those that the data allow."""
    found: dict[str, Metric] = {}
    for name in spec.metrics:
        for metric in expand([name]):
            if name != "standard" or _obstacle(metric, cube) is None:
                found.setdefault(metric.name, metric)
    for rule in spec.rules:
        for metric in expand([rule.metric]):
            found.setdefault(metric.name, metric)
    return tuple(found.values())


def _available(cube: Cube) -> frozenset[Need]:
    every: dict[Need, Role] = {"label": Role.LABEL, "prediction": Role.PREDICTION}
    return frozenset(need for need, role in every.items() if cube.plan.axis(role))


def _obstacle(metric: Metric, cube: Cube) -> str | None:
    """Say why a metric cannot be asked of these data, if so."""
    missing = sorted(metric.needs - _available(cube))
    if missing:
        return f"needs a {' and a '.join(missing)}"
    if metric.needs_strata and cube.plan.axis(Role.STRATUM) is None:
        return "needs strata, a column that is held fixed"
    return None


class _View:
    """One tally at one threshold: what is compared with what."""

    def __init__(self, counted: Tally, positive: Positives, spec: Spec, threshold: int) -> None:
        self._tally = counted
        self._spec = spec
        self._threshold = positive.predictions[threshold][0]
        weighted = "w" in counted.counts
        self._cases = Sides(counted.counts["n"], positive, spec.profile, threshold)
        self._sides = (
            Sides(counted.counts["w"], positive, spec.profile, threshold)
            if weighted
            else self._cases
        )
        self._weighted = weighted

    def groups(self, available: frozenset[Need]) -> Iterator[Group]:
        """Return the counts and rates of every group in every slot."""
        names = [*self._tally.groups]
        if self._has_others():
            names.append(str(Reference.REST))
        which, slots = self._all_slots(np.arange(len(names)))
        cases, side = self._cases.pick(which, slots), self._sides.pick(which, slots)
        whole = self._sides.pick(np.full_like(which, self._sides.whole), slots)
        rates = {r.name: _rate_values(r, side, self._spec) for r in RATES if r.needs <= available}
        both = {"label", "prediction"} <= available
        needs: frozenset[Need] = frozenset({"label", "prediction"})
        for i, (g, slot) in enumerate(zip(which.tolist(), slots.tolist(), strict=True)):
            yield Group(
                feature=self._tally.feature,
                group=names[g],
                stratum=self._tally.slots[slot],
                threshold=self._threshold,
                n=_plain(cases.size[i]),
                weight=float(side.size[i]) if self._weighted else None,
                share=float(side.size[i] / whole.size[i]) if whole.size[i] else None,
                counts=_cells(cases.counts(needs)[i]) if both else None,
                weighted_counts=_cells(side.counts(needs)[i]) if both and self._weighted else None,
                rates={name: values[i] for name, values in rates.items()},
            )

    def estimates(self, metric: Metric, obstacle: str | None) -> Iterator[Estimate]:
        """Return one estimate of a metric for every comparison."""
        compared = self._compared(metric)
        stratum = [POOLED if metric.needs_strata else self._tally.slots[s] for s in compared.slots]
        feature = None if metric.whole_table else self._tally.feature
        threshold = self._threshold if "prediction" in metric.needs else None
        if obstacle is None:
            numbers = self._numbers(metric, compared)
        for i, group in enumerate(compared.groups):
            who: dict[str, Any] = {
                "metric": metric.name,
                "set": metric.set,
                "feature": feature,
                "group": self._tally.groups[group],
                "reference": compared.names[i],
                "stratum": stratum[i],
                "threshold": threshold,
            }
            if obstacle is not None:
                yield Estimate(**who, status=Status.NOT_APPLICABLE, reason=obstacle)
            else:
                yield Estimate(**who, **numbers(i, who["group"], who["reference"]))

    def notes(self, metric: Metric, obstacle: str | None) -> Iterator[Diagnostic]:
        """Return what a reader should know of a metric here."""
        if not isinstance(metric, ConditionalDisparity) or obstacle:
            return
        compared = self._compared(metric)
        group, reference = self._both(self._sides, compared, pooled=True)
        covered = metric.coverage(group, reference)
        least = float(np.nanmin(covered)) if len(covered) and not np.isnan(covered).all() else 1.0
        if least < 1.0 and self._spec.profile is Profile.DOCUMENTED:
            level = Level.NOTE if least >= _FEWEST_COVERED else Level.WARNING
            message = (
                f"{metric.name} covers {least:.1%} of the rows: strata without positive or without "
                f"negative {metric.of}s say nothing and are left out"
            )
            yield Diagnostic(level, "coverage", message, self._tally.feature)

    def _numbers(self, metric: Metric, compared: _Compared) -> Any:
        """Return the fields of every estimate, computed at once."""
        profile = self._spec.profile
        group, reference = self._both(self._sides, compared, pooled=metric.needs_strata)
        cases = self._both(self._cases, compared, pooled=metric.needs_strata)
        value = metric.value(group, reference, profile)
        ours, theirs = metric.side_values(group, reference, profile)
        n_group, n_reference = metric.sizes(*cases)
        empty = (group.size == 0) | (reference.size == 0)

        def fields(i: int, name: str, other: str | None) -> dict[str, Any]:
            found: dict[str, Any] = {
                "n_group": _plain(n_group[i]),
                "n_reference": _plain(n_reference[i]),
                "rate_group": _finite_or_none(ours[i]),
                "rate_reference": _finite_or_none(theirs[i]),
            }
            if profile is Profile.CLARIFY and empty[i] and not metric.whole_table:
                reason = "Facet set is empty"
                return found | {"status": Status.ERROR, "reason": reason}
            if math.isnan(value[i]):
                status = Status.ERROR if profile is Profile.CLARIFY else Status.UNDEFINED
                reason = metric.why_undefined(group, reference, i)
                return found | {"status": status, "reason": reason}
            says = metric.sentence(
                float(value[i]), name, _called(other), (float(ours[i]), float(theirs[i]))
            )
            return found | {"value": float(value[i]), "says": says}

        return fields

    def _both(self, sides: Sides, compared: _Compared, *, pooled: bool) -> tuple[Side, Side]:
        return (
            sides.pick(compared.groups, compared.slots, pooled=pooled),
            sides.pick(compared.references, compared.slots, pooled=pooled),
        )

    def _compared(self, metric: Metric) -> _Compared:
        groups = np.arange(len(self._tally.groups))
        if metric.whole_table:
            return _Compared(groups, groups, np.zeros_like(groups), [None])
        references, names = self._references(metric, groups)
        kept = references != groups
        which = groups[kept]
        if metric.needs_strata:
            return _Compared(
                which, references[kept], np.zeros_like(which), [names[g] for g in which]
            )
        every, slots = self._all_slots(which)
        return _Compared(every, references[every], slots, [names[g] for g in every])

    def _references(self, metric: Metric, groups: Index) -> tuple[Index, list[str]]:
        """Return the side that each group is compared with, and its name."""
        rule, own = self._spec.reference, self._tally.groups
        if isinstance(rule, tuple):
            named = self._tally.named_reference
            if named is None or named not in own:
                rule = Reference.REST
            else:
                return np.full_like(groups, own.index(named)), [named] * len(own)
        if rule is Reference.REST:
            return self._sides.rest + groups, [str(rule)] * len(own)
        if rule is Reference.OVERALL:
            return np.full_like(groups, self._sides.whole), [str(rule)] * len(own)
        every = self._sides.pick(groups, np.zeros_like(groups))
        best = int(np.argmax(every.size))
        if rule is Reference.BEST:
            best = _best(metric, every, self._spec.profile, best)
        return np.full_like(groups, best), [own[best]] * len(own)

    def _all_slots(self, which: Index) -> tuple[Index, Index]:
        """Repeat the groups for the margin and every stratum."""
        slots = np.arange(len(self._tally.slots))
        return np.tile(which, len(slots)), np.repeat(slots, len(which))

    def _has_others(self) -> bool:
        return bool(self._tally.counts["rows"][-1].sum() > 0)


@dataclass(frozen=True, slots=True, eq=False)
class _Compared:
    """The comparisons of a metric: sides by number, slots, and the names of the references."""

    groups: Index
    references: Index
    slots: Index
    names: Sequence[str | None]


def _best(metric: Metric, every: Side, profile: Profile, otherwise: int) -> int:
    """Return the group that a statistic favours most (the largest, where nothing is favoured)."""
    if not isinstance(metric, Contrast):
        return otherwise
    values = metric.of.value(every, profile)
    if np.isnan(values).all():
        return otherwise
    if metric.of.better is Better.LOWER:
        return int(np.nanargmin(values))
    return int(np.nanargmax(values))


def _rate_values(rate: Statistic, side: Side, spec: Spec) -> list[RateValue]:
    values = rate.value(side, spec.profile).tolist()
    return [
        RateValue(None, status=Status.UNDEFINED, reason=rate.why_undefined(side, i))
        if math.isnan(value)
        else RateValue(value)
        for i, value in enumerate(values)
    ]


def _cells(counts: Array) -> dict[str, float]:
    return dict(zip(("tp", "fp", "fn", "tn"), map(_plain, counts), strict=True))


def _plain(number: Any) -> float | Any:
    """Return a count as an int where it is whole."""
    value = float(number)
    if math.isnan(value):
        return None
    return int(value) if value == int(value) else value


def _finite_or_none(number: Any) -> float | None:
    return None if math.isnan(number) else float(number)


def _called(reference: str | None) -> str:
    """Return a reference as it reads in a sentence."""
    return {None: EVERYONE, "rest": "the rest", "overall": "everyone"}.get(
        reference, str(reference)
    )
