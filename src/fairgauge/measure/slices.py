"""View: one tally under one reading; makes its groups and estimates, a metric at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairgauge.catalogue.arithmetic import divide
from fairgauge.catalogue.comparisons import Contrast, Metric
from fairgauge.catalogue.pooling import favoured, pool
from fairgauge.enums import Profile, Reference, Status
from fairgauge.inference import Comparisons, Evidence, Uncertainty
from fairgauge.inference.clusters import ClusterSides
from fairgauge.inference.missing_groups import ungrouped
from fairgauge.inference.pairwise import Groups
from fairgauge.inference.rates import rate_values
from fairgauge.inference.saying import told
from fairgauge.report.estimates import (
    POOLED,
    POPULATION,
    Estimate,
    Group,
    as_count,
    as_number,
    called,
)
from fairgauge.resolve.group_counts import EVERYONE
from fairgauge.resolve.sides import BOTH, Sides
from fairgauge.values import name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fairgauge.catalogue.across import Across
    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.comparisons import Comparison
    from fairgauge.catalogue.confusion_counts import Side
    from fairgauge.catalogue.representation import Representation
    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.report.estimates import Compared as Key
    from fairgauge.report.estimates import Ungrouped
    from fairgauge.resolve.group_counts import Tally
    from fairgauge.resolve.outcomes import Reading
    from fairgauge.resolve.sides import Index
    from fairgauge.spec.specification import Spec


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """The comparisons of a metric: sides by number, slots, and the names of the references."""

    groups: Index
    references: Index
    slots: Index
    names: Sequence[str | None]


class View:
    """One tally under one reading: what is compared with what.

    Its intervals hold for ``at_once`` classes at once, of which the worst may then be picked.
    """

    def __init__(
        self,
        counted: Tally,
        reading: Reading,
        spec: Spec,
        per_class: Sequence[Reading] = (),
        at_once: int = 1,
    ) -> None:
        self.tally = counted
        self.reading = reading
        self.spec = spec
        self._all_classes = bool(per_class)
        self.cases = Sides(counted, reading, spec.profile, per_class)
        self.sides = self.cases
        self.squares: Sides | None = None
        if counted.weighted:
            self.sides = Sides(counted, reading, spec.profile, per_class, "w")
            self.squares = Sides(counted, reading, spec.profile, per_class, "w2")
        self.clusters = ClusterSides(counted, reading, spec.profile, per_class, spec.seed)
        self.uncertainty = Uncertainty(spec, per_class, at_once)

    def groups(self, rates: Iterable[Statistic], class_: str | None = None) -> Iterator[Group]:
        """Return the counts and rates of every group in every slot; ``class_`` names an average."""
        names = [*self.tally.groups]
        if self.tally.has_others:
            names.append(str(Reference.OTHERS))
        which, slots = self._all_slots(np.arange(len(names)))
        evidence = self.evidence(which, slots)
        cases, side = evidence.cases, evidence.side
        whole = self.sides.pick(np.full_like(which, self.sides.whole), slots)
        how, profile, margin = self.uncertainty, self.spec.profile, slots == 0
        values = rate_values(list(rates), evidence, margin, how, profile)
        weighted, has_cells = self.tally.weighted, self._has_cells
        for i, (g, slot) in enumerate(zip(which.tolist(), slots.tolist(), strict=True)):
            yield Group(
                feature=self.tally.feature,
                group=names[g],
                stratum=self.tally.slots[slot],
                class_=class_ or self.reading.class_,
                threshold=self.reading.threshold,
                n=as_count(cases.size[i]),
                weight=float(side.size[i]) if weighted else None,
                share=float(side.size[i] / whole.size[i]) if whole.size[i] else None,
                counts=_cells(cases.counts(BOTH)[i]) if has_cells else None,
                weighted_counts=_cells(side.counts(BOTH)[i]) if has_cells and weighted else None,
                rates={name: rate for name, each in values.items() if (rate := each[i])},
            )

    def estimates(
        self, metric: Comparison, obstacle: str | None = None, *, class_: str | None = None
    ) -> Iterator[Estimate]:
        """Return one estimate of a metric for every comparison; ``class_`` names an average."""
        compared = self.compared(metric, obstacle)
        slots = self.tally.slots
        threshold = self.reading.threshold if "prediction" in metric.needs else None
        fields = None if obstacle else self._fields(metric, compared)
        for i, group in enumerate(compared.groups.tolist()):
            name, reference = self.tally.groups[group], compared.names[i]
            found = (
                {"status": Status.NOT_APPLICABLE, "reason": obstacle}
                if fields is None
                else fields(i, name, reference)
            )
            yield Estimate(
                metric=metric.name,
                set=metric.set,
                feature=None if metric.scope == "table" else self.tally.feature,
                group=name,
                reference=reference,
                stratum=POOLED if metric.scope == "pooled" else slots[compared.slots[i]],
                class_=class_ or self.reading.class_,
                threshold=threshold,
                **found,
            )

    def across(
        self, metric: Across, obstacle: str | None = None, *, class_: str | None = None
    ) -> Iterator[Estimate]:
        """Return a metric of all groups at once, at the margin and in every stratum."""
        names = self.tally.groups
        threshold = self.reading.threshold if "prediction" in metric.needs else None
        who: dict[str, Any] = {
            "metric": metric.name,
            "set": metric.set,
            "feature": self.tally.feature,
            "class_": class_ or self.reading.class_,
            "threshold": threshold,
        }
        if obstacle or not names:
            reason = obstacle or "there are no groups"
            status = Status.NOT_APPLICABLE if obstacle else Status.UNDEFINED
            yield Estimate(**who, group=EVERYONE, reference=None, status=status, reason=reason)
            return
        which, slots = self._all_slots(np.arange(len(names)))
        if "score" in metric.needs:
            which, slots = which[: len(names)], slots[: len(names)]
        evidence, many = self.evidence(which, slots), len(which) // len(names)
        found = metric.across(evidence.side, many, self.spec.profile)
        sure = self.uncertainty.of_feature(metric, evidence, many, found)
        for slot, value in enumerate(found.value.tolist()):
            first, second = names[found.first[slot]], names[found.second[slot]]
            at: dict[str, Any] = {"stratum": self.tally.slots[slot]}
            if math.isnan(value):
                reason = "fewer than two groups in which it is defined"
                status = Status.UNDEFINED
                yield Estimate(
                    **who, **at, group=EVERYONE, reference=None, status=status, reason=reason
                )
            else:
                says = metric.sentence(value, first, second)
                at |= told(metric, sure, slot, says, self.spec.confidence)
                yield Estimate(**who, **at, group=first, reference=second, value=value)

    def represented(
        self, metric: Representation, obstacle: str | None = None
    ) -> Iterator[Estimate]:
        """Return how the groups' shares of the rows stand against those of a population."""
        shares = {name_of(v): s for v, s in dict(self.spec.population).get(self.tally.feature, ())}
        names = [name for name in self.tally.groups if obstacle or name in shares]
        which = np.array([self.tally.groups.index(name) for name in names], dtype=np.int64)
        zero = np.zeros_like(which)
        ours, every = (self.evidence(side, zero) for side in (which, zero + self.sides.whole))
        share = divide(ours.side.size, every.side.size, Profile.DOCUMENTED)
        target = np.array([shares.get(name, np.nan) for name in names])
        value = metric.value(share, target)
        sure = self.uncertainty.of_population(metric, ours, every, target, value)
        for i, name in enumerate(names):
            more: dict[str, Any] = {"status": Status.NOT_APPLICABLE, "reason": obstacle}
            if known := not obstacle and not math.isnan(value[i]):
                says = metric.sentence(float(value[i]), name, share[i], target[i])
                more = told(metric, sure, i, says, self.spec.confidence)
            elif not obstacle:
                reason = "there are no rows, or none are expected"
                more = {"status": Status.UNDEFINED, "reason": reason}
            yield Estimate(
                metric=metric.name,
                set=metric.set,
                feature=self.tally.feature,
                group=name,
                reference=POPULATION,
                value=float(value[i]) if known else None,
                n_group=as_count(ours.cases.size[i]),
                rate_group=as_number(share[i]),
                rate_reference=as_number(target[i]),
                **more,
            )

    def pooled(self, metric: Metric, obstacle: str | None = None) -> Iterator[Estimate]:
        """Return a contrast with the strata held fixed, for every group.

        Each side is the mean of its strata, with the weights of Mantel and Haenszel,
        n_d n_a / (n_d + n_a), over the strata in which both sides are known.
        """
        strata = len(self.tally.strata)
        if not strata or obstacle or not isinstance(metric, Contrast) or "score" in metric.needs:
            return
        once = self.compared(metric)
        margin = once.slots == 0
        compared = Compared(
            np.repeat(once.groups[margin], strata),
            np.repeat(once.references[margin], strata),
            np.tile(np.arange(strata) + 1, margin.sum()),
            [name for name, kept in zip(once.names, margin, strict=True) if kept],
        )
        evidence = self.comparisons(metric, compared)
        group, reference = evidence.group, evidence.reference
        pooled = pool(metric, group.side, reference.side, strata, self.spec.profile)
        sure = self.uncertainty.of_pooled(metric, evidence, pooled.weights, pooled.value)
        cases = metric.sizes(group.cases, reference.cases)
        n_group, n_reference = (each.reshape(-1, strata).sum(axis=1) for each in cases)
        threshold = self.reading.threshold if "prediction" in metric.needs else None
        for i, at in enumerate(once.groups[margin].tolist()):
            name, other = self.tally.groups[at], compared.names[i]
            sides = float(pooled.group[i]), float(pooled.reference[i])
            value = float(pooled.value[i])
            known = not math.isnan(value)
            reason = "no stratum has both sides" if math.isnan(sides[0]) else "both sides are 0"
            more: dict[str, Any] = {"status": Status.UNDEFINED, "reason": reason}
            if known:
                says = f"{metric.sentence(value, name, called(other), sides)}, within strata"
                more = told(metric, sure, i, says, self.spec.confidence)
            yield Estimate(
                metric=metric.name,
                set=metric.set,
                feature=self.tally.feature,
                group=name,
                reference=other,
                stratum=POOLED,
                class_=self.reading.class_,
                threshold=threshold,
                value=value if known else None,
                n_group=as_count(n_group[i]),
                n_reference=as_count(n_reference[i]),
                rate_group=as_number(sides[0]),
                rate_reference=as_number(sides[1]),
                **more,
            )

    def ungrouped(self, metric: Metric) -> dict[Key, Ungrouped]:
        """Return how far a metric could move, whichever groups the rows without one are in."""
        found = self.compared(metric)
        margin = found.slots == 0
        sides = found.groups[margin], found.references[margin]
        return ungrouped(self.tally, self.reading, metric, sides, self.spec.profile)

    def all_groups(self) -> Groups:
        """Return the groups over all rows, to be compared with each other."""
        return Groups(
            self.tally.feature,
            self.tally.groups,
            self.reading.class_,
            self.reading.threshold,
            lambda which: self.evidence(which, np.zeros_like(which)),
        )

    def evidence(self, which: Index, slots: Index, *, pooled: bool = False) -> Evidence:
        """Return what is known of some sides, weighted and not."""
        cases = self.cases.pick(which, slots, pooled=pooled)
        clusters = self.clusters.pick(which, slots, pooled=pooled)
        if self.squares is None:
            return Evidence(cases, cases, clusters=clusters)
        side, squares = (s.pick(which, slots, pooled=pooled) for s in (self.sides, self.squares))
        return Evidence(side, cases, squares, clusters)

    def comparisons(self, metric: Metric, compared: Compared) -> Comparisons:
        """Return both sides of every comparison."""
        pooled = metric.scope == "pooled"
        group, reference = (
            self.evidence(which, compared.slots, pooled=pooled)
            for which in (compared.groups, compared.references)
        )
        inside = metric.scope != "table" and (compared.references == self.sides.whole).all()
        rest = compared.groups + self.sides.rest
        return Comparisons(
            group=group,
            reference=reference,
            rest=self.evidence(rest, compared.slots, pooled=pooled) if inside else None,
            margin=compared.slots == 0,
            where=f"{self.tally.feature}/{self.reading.class_}",
            name=metric.name,
        )

    def both(self, sides: Sides, metric: Comparison, compared: Compared) -> tuple[Side, Side]:
        """Return the group and the reference side of every comparison."""
        pooled = metric.scope == "pooled"
        return (
            sides.pick(compared.groups, compared.slots, pooled=pooled),
            sides.pick(compared.references, compared.slots, pooled=pooled),
        )

    def compared(self, metric: Metric, obstacle: str | None = None) -> Compared:
        """Return what a metric compares here, or would if nothing stood against it."""
        groups = np.arange(len(self.tally.groups))
        if metric.scope == "table":
            return Compared(groups, groups, np.zeros_like(groups), [None])
        references, names = self._references(None if obstacle else metric, groups)
        which = groups[references != groups]
        if metric.scope == "pooled" or "score" in metric.needs:  # scores are counted at the margin
            slots = np.zeros_like(which)
        else:
            which, slots = self._all_slots(which)
        return Compared(which, references[which], slots, [names[g] for g in which])

    def _fields(self, metric: Comparison, compared: Compared) -> Any:
        """Return the fields of every estimate, computed at once."""
        profile = self.spec.profile
        evidence = self.comparisons(metric, compared)
        group, reference = evidence.group.side, evidence.reference.side
        value = metric.value(group, reference, profile)
        ours, theirs = metric.side_values(group, reference, profile)
        n_group, n_reference = metric.sizes(evidence.group.cases, evidence.reference.cases)
        sure = self.uncertainty.of_metric(metric, evidence, value)
        error = metric.error(group, reference)
        empty = (group.size == 0) | (reference.size == 0)

        def fields(i: int, name: str, other: str | None) -> dict[str, Any]:
            found: dict[str, Any] = {
                "n_group": as_count(n_group[i]),
                "n_reference": as_count(n_reference[i]),
                "rate_group": as_number(ours[i]),
                "rate_reference": as_number(theirs[i]),
            }
            if profile is Profile.CLARIFY and empty[i] and metric.scope not in ("table", "pooled"):
                return found | {"status": Status.ERROR, "reason": "Facet set is empty"}
            if math.isnan(value[i]):
                status = Status.ERROR if profile is Profile.CLARIFY else Status.UNDEFINED
                reason = metric.why_undefined(group, reference, i)
                return found | {"status": status, "reason": reason}
            says = metric.sentence(
                float(value[i]), name, called(other), (float(ours[i]), float(theirs[i]))
            )
            return (
                found
                | {
                    "value": float(value[i]),
                    "error": None if error is None else as_number(error[i]),
                    "says": says,
                }
                | told(metric, sure, i, says, self.spec.confidence)
            )

        return fields

    @property
    def _has_cells(self) -> bool:
        """Whether TP, FP, FN and TN mean something here."""
        return self.tally.has_labels and self.tally.has_predictions and not self._all_classes

    def _references(self, metric: Metric | None, groups: Index) -> tuple[Index, list[str]]:
        """Return the side that each group is compared with, and its name.

        Where a metric cannot tell which group is the best, it is the largest.
        """
        rule, own = self.spec.reference, self.tally.groups
        if isinstance(rule, tuple):
            named = self.tally.named_reference
            if named in own:
                return np.full_like(groups, own.index(named)), [named] * len(own)
            rule = Reference.OTHERS
        if rule is Reference.OTHERS:
            return self.sides.rest + groups, [str(rule)] * len(own)
        if rule is Reference.OVERALL:
            return np.full_like(groups, self.sides.whole), [str(rule)] * len(own)
        every = self.sides.pick(groups, np.zeros_like(groups))
        best = int(np.argmax(every.size))
        if rule is Reference.BEST and metric is not None:
            best = favoured(metric, every, self.spec.profile, best)
        return np.full_like(groups, best), [own[best]] * len(own)

    def _all_slots(self, which: Index) -> tuple[Index, Index]:
        """Repeat the groups for the margin and every stratum."""
        slots = np.arange(len(self.tally.slots))
        return np.tile(which, len(slots)), np.repeat(slots, len(which))


def _cells(counts: Array) -> dict[str, float]:
    return dict(zip(("tp", "fp", "fn", "tn"), map(as_count, counts), strict=True))
