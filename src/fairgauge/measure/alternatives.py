"""Alternatives: candidates that are as good as the model in use, and less discriminatory.

A claim is of a candidate and a group that is worse off than its reference: every rate with a margin
is worse by less than it, the gap of the group is smaller and not turned round into as large a one,
and no other group's gap is larger by as much as the harm that was stated. It needs all of that; the
claims of all candidates hold together (`claims.shown_claims`). Who lacks a group, an outcome or a
decision is in the worst case of each part.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise, repeat

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.catalogue import directions
from fairgauge.catalogue.cells import Array
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.cube.cube import Cube
from fairgauge.cube.views import candidate_axes
from fairgauge.enums import Favourable, ReferenceRule, Status, Task
from fairgauge.inference.paired_changes import shown_claims
from fairgauge.measure import _changes
from fairgauge.measure._changes import MeasuredDisparities, MeasuredMargins, interval_of
from fairgauge.measure.compare_models import PairedModels
from fairgauge.question.specification import Spec
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.resolve.outcomes import one_decision
from fairgauge.results.alternatives import Alternative, Assumed, GapChange, KeptRate, Search
from fairgauge.results.estimates import RateChange
from fairgauge.stats.arrays import Mask, floats, quiet
from fairgauge.stats.intervals import critical
from fairgauge.stats.sequential import better_share, chance_of_better, mean_least, records_p


def judge_alternatives(
    cube: Cube, spec: Spec, metric: Contrast, harm: float
) -> tuple[Alternative, ...]:
    """Return what every candidate changes, and for whom it is shown to be an alternative.

    ``spec`` has the rates that are kept, with their margins.
    """
    axes = candidate_axes(cube)
    tested = [_TestedCandidate(PairedModels(cube, axis, spec), metric, harm) for axis in axes]
    claims = sum(int(one.claimed.sum()) for one in tested)
    starts = np.cumsum([0, *(len(one.claimed) for one in tested)])

    def hold(level: float, *, excluded: bool = True) -> Mask:
        return np.concatenate([one.hold(level, excluded=excluded) for one in tested])

    # the best group of the model in use is the reference at random, too: claims then hold for each
    best = spec.reference is ReferenceRule.BEST
    groups = max((len(e.rates) for e in tested), default=1) if best else 1
    confidence = 1 - (1 - spec.confidence) / groups
    shown, _ = shown_claims(hold, claims, confidence)
    counted, _ = shown_claims(lambda level: hold(level, excluded=False), claims, confidence)
    level = 1 - (1 - confidence) / max(claims, 1)
    return tuple(
        one.judged(shown[first:last], counted[first:last], level)
        for one, (first, last) in zip(tested, pairwise(starts.tolist()), strict=True)
    )


@quiet
def worst_limit(
    value: ArrayLike, limit: ArrayLike, reach: ArrayLike, n: ArrayLike, z: float
) -> Array:
    """Return the upper limit of a change, whatever rows hold that may move it by ``reach``.

    Each of them moves it by 1 / n at most, and adds the square to the variance.
    """
    value, limit, reach, n = floats(value, limit, reach, n)
    wider = np.hypot(limit - value, z * np.sqrt(reach / n))
    return np.asarray(np.where(reach > 0, value + wider + reach, limit))


class _TestedCandidate:
    """A candidate, and what every claim about it needs."""

    def __init__(self, models: PairedModels, metric: Contrast, harm: float) -> None:
        self.models, self.metric, self.spec = models, metric, models.spec
        models.tolerated = 0.0  # what has no worst case is not claimed where any row could undo it
        every_batch = [*models.disparities()]
        self.batches = [batch for batch in every_batch if batch.distance_at is not None]
        self.margins = tuple(models.margin_tests())
        self.records = [record for batch in self.batches for record in batch.records]
        self.favourable = self.spec.favourable or Favourable.POSITIVE
        self.harm = _changes.margin_distance(harm, metric.by)
        alike = one_decision(models.cubes.candidate, models.other.outcomes, Task.BINARY)
        unbounded = Reason.of(ReasonCode.UNBOUNDED)
        self.reasons = [
            alike or e.reason or (None if e.distance_interval else unbounded) for e in self.records
        ]
        self.rates: list[RateChange] = []
        for feature in range(len(models.resolution.features)):
            (sliced,) = models.slices(feature)
            every = np.arange(len(sliced.counts.groups))
            self.rates += models.rate_changes(sliced, metric.of, sliced.class_scope, every)
        self.least_rate = min((r for e in self.rates for r in (e.old, e.new) if r), default=0.0)
        # of groups that are worse off than their reference; none where any gap has no interval
        far = [0.0 if each.old is None else each.old - metric.neutral for each in self.records]
        adverse = directions.adverse_end(metric, self.favourable) * np.array(far) >= 0
        held = (each.status is Status.OK for each in self.records)
        measured = len(self.batches) == len(every_batch)
        known = [
            measured and ok and why is None for ok, why in zip(held, self.reasons, strict=True)
        ]
        self.claimed = np.array(known, dtype=bool) & (np.array(far) != 0) & adverse

    # ---- what the parts of claims come to at a critical value

    def _distances(self, z: float, *, excluded: bool = True) -> tuple[Array, Array]:
        # by how much further from no difference gaps may be, at least and at most
        low, high = [np.empty(0)], [np.empty(0)]
        for batch in self.batches:
            assert batch.distance_at is not None
            size = len(batch.records)
            least, most = batch.distance_at(np.full(size, z))
            low.append(np.nan_to_num(least, nan=-np.inf))
            of = [(e.distance, min(e.n_group or 0, e.n_reference or 0)) for e in batch.records]
            value, n = np.array(of, dtype=float).reshape(-1, 2).T
            if self.metric.by == "ratio":  # a row moves the logarithm by that part of the rate
                n *= self.least_rate
            if excluded:
                most = worst_limit(value, most, batch.reach, n, z)
            high.append(np.nan_to_num(most, nan=np.inf))
        return np.concatenate(low), np.concatenate(high)

    def _kept(self, z: float, *, excluded: bool = True) -> list[tuple[bool, bool]]:
        # of every rate whether it is worse by less than its margin, and whether it is by more
        found = []
        for batch in self.margins:
            low, high = batch.gain_at(z)
            if batch.gain is not None:
                value, n = batch.gain.value[0], batch.tests[0].change.n or 0
                low = -worst_limit(-value, -low, batch.reach, n, z).item() if excluded else low
            margin = batch.tests[0].margin
            found.append((low > -margin, high < -margin))
        return found

    def hold(self, level: float, *, excluded: bool = True) -> Mask:
        """Return which claims, one for each comparison, hold by intervals at a confidence level."""
        kept = all(is_kept for is_kept, _ in self._kept(critical(level), excluded=excluded))
        if not kept or not self.claimed.any():
            return np.zeros(len(self.claimed), dtype=bool)
        _, most = self._distances(critical(level), excluded=excluded)
        harmed = most >= self.harm
        of_others = harmed.sum() - harmed  # how many other groups may be harmed
        return np.asarray(self.claimed & (most < 0) & (of_others == 0))

    def judged(self, shown: Mask, counted: Mask, level: float) -> Alternative:
        """Return the candidate, with intervals at a level, and what ``counted`` rows would show."""
        strict = critical(level)
        parts = len(self.records) + len(self.margins)
        of_one = critical(1 - (1 - self.spec.confidence) / max(parts, 1))
        least, _ = self._distances(of_one)
        kept, lost = ([of[k] for of in self._kept(z)] for k, z in enumerate((strict, of_one)))
        larger = least > self.harm
        withheld = counted.any() and not shown.any()
        limits = [(batch, i) for batch in self.batches for i in range(len(batch.records))]
        far = [each.new for each in self.records if each.new is not None]
        if self.metric.by == "ratio":
            far = [math.log(value) if value > 0 else math.inf for value in far]
        return Alternative(
            name=self.models.name,
            rows=int(self.models.cubes.joint.tables[0].cases.sum()),
            performance=tuple(map(self._kept_rate, self.margins, kept, lost, repeat(strict))),
            gaps=tuple(
                self._gap(place, bool(shown[place]), bool(larger[place]), *limits[place], strict)
                for place in range(len(self.records))
            ),
            rates=tuple(self.rates),
            worse=any(lost) or bool(larger.any()),
            leads=bool((shown & self.hold(level)).any()),
            greatest_gap=max(map(abs, far), default=None),
            withheld_because=self.models.lacking() if withheld or not self.records else None,
        )

    def _kept_rate(self, batch: MeasuredMargins, shown: bool, worse: bool, z: float) -> KeptRate:
        (test,) = batch.tests
        change, joint = test.change, None
        if batch.change is not None and change.interval is not None:
            low, high = batch.change.difference.at(np.array([z]))
            joint = interval_of(low[0], high[0], self.spec.confidence, change.interval.methods)
        return KeptRate(
            rate=test.rate, margin=test.margin, old=change.old, new=change.new,
            change=change.change, interval=change.interval, simultaneous=joint, shown=shown,
            worse=worse, lower=batch.lower,
        )  # fmt: skip

    def _gap(
        self, place: int, shown: bool, larger: bool, batch: MeasuredDisparities, i: int, z: float
    ) -> GapChange:
        each, joint, far = self.records[place], None, None
        assert each.feature is not None
        assert each.group is not None
        if batch.shift_at is not None and each.interval is not None:
            assert batch.distance_at is not None
            at, methods = np.full(len(batch.records), z), each.interval.methods
            (low, high), (least, most) = batch.shift_at(at), batch.distance_at(at)
            if each.by == "ratio":
                low, high = np.exp(low), np.exp(high)
            joint = interval_of(low[i], high[i], self.spec.confidence, methods)
            far = interval_of(least[i], most[i], self.spec.confidence, methods)
        own = next(r for r in self.rates if (r.feature, r.group) == (each.feature, each.group))
        shrinks = each.distance is not None and each.distance < 0
        adverse = directions.adverse_sign(self.metric.of, self.favourable)
        return GapChange(
            feature=each.feature, group=each.group, reference=each.reference,
            old=each.old, new=each.new, change=each.change, interval=each.interval,
            simultaneous=joint, distance=far, shown=shown, larger=larger,
            levelled=shrinks and adverse != 0 and adverse * (own.change or 0) >= 0,
            reason=self.reasons[place],
        )  # fmt: skip


# ---- what more retrainings of one recipe could find, in the greatest gap of any group


_MORE = 10
"""How many more retrainings are spoken of, beside one and as many again."""


def further_search(
    candidates: Sequence[Alternative],
    neutral: float,
    confidence: float,
    assumes: Assumed,
    looks: tuple[int, ...],
) -> Search | None:
    """Return what more could find; None where no candidate is as good and has its gaps.

    A retraining that is not as good, as measured, counts as no gain: the order stays exchangeable.
    """
    size = len(candidates)
    known = [one.greatest_gap for one in candidates]
    good = [one.is_as_good and gap is not None for one, gap in zip(candidates, known, strict=True)]
    gaps = np.array([gap if ok and gap is not None else np.inf
                     for gap, ok in zip(known, good, strict=True)])  # fmt: skip
    if not np.isfinite(gaps).any():
        return None
    best = int(gaps.argmin())
    held = {"any": None, "planned": len(looks), "fixed": 1}[assumes]
    share, least = better_share(size, 1 - confidence, held), float(gaps[best])
    regret = min(_regret(candidates, best, neutral), _most(candidates[best], neutral))
    return Search(
        n=size,
        as_good=sum(good),
        chance_of_better=tuple((m, chance_of_better(size, m)) for m in sorted({1, _MORE, size})),
        curve=tuple(mean_least(gaps[np.isfinite(gaps)]).tolist()),
        bound=least * share,
        bound_of_ten=least * (1 - (1 - share) ** _MORE),
        regret=regret if math.isfinite(regret) else None,
        records_p=records_p(gaps),
        assumes=assumes,
        looks=looks,
    )


def _ends(gap: GapChange, neutral: float) -> tuple[float, float]:
    # the least and the greatest distance of a gap from no difference, by the simultaneous interval
    # of its change, which is paired: the gap under the model in use, which all share, drops out
    if gap.old is None or gap.simultaneous is None or (neutral and not gap.old):
        return 0.0, np.inf  # of a ratio that was 0, too, from which no change has an end
    scaled = np.asarray if neutral == 0 else np.log
    new = sorted((scaled(gap.old) + scaled([gap.simultaneous.low, gap.simultaneous.high])).tolist())
    return (0.0 if new[0] <= 0 <= new[1] else min(map(abs, new))), max(map(abs, new))


def _most(one: Alternative, neutral: float) -> float:
    return float(max((_ends(gap, neutral)[1] for gap in one.gaps), default=np.inf))


def _regret(candidates: Sequence[Alternative], best: int, neutral: float) -> float:
    # intervals hold for all at once: multiple comparisons with the best (Hsu 1984), without the
    # correlation of the two, so that it is wider than it need be
    least = [
        max((_ends(gap, neutral)[0] for gap in one.gaps), default=0.0)
        for k, one in enumerate(candidates)
        if k != best and one.is_as_good
    ]
    return max(_most(candidates[best], neutral) - min(least, default=np.inf), 0.0)
