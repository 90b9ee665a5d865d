"""Choose thresholds: what some thresholds of a score come to, from its histogram alone.

The candidates are the threshold of today, those that are named, and quantiles of the score, which
no outcome has a part in. Today's is judged first, as an audit judges it. That another one meets the
goal and keeps the rate is a claim; all claims hold together, on all rows (`claims.shown_claims`).
Decisions today and at another threshold are those of two models on the same rows, and compared as
such: whether a rate is kept is a test of non-inferiority.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairgauge.catalogue.cells import Array
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.directions import is_ratio
from fairgauge.catalogue.lookup import is_of_decisions
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.cube.cube import Cube
from fairgauge.enums import (
    Accepts,
    Better,
    DiagnosticCode,
    Outcome,
    Profile,
    ReferenceRule,
    Status,
    Task,
)  # fmt: skip
from fairgauge.errors import Problem, SpecError, problems_where, quote, refuse
from fairgauge.inference.contrast_intervals import contrast_interval, interval_sides, side_interval
from fairgauge.inference.interval import FEWEST_GROUPS, Comparisons, SideData
from fairgauge.inference.missing_values import (
    large_uncounted,
    missing_groups,
    missing_outcomes,
    uncounted_rows,
)  # fmt: skip
from fairgauge.inference.paired_changes import (
    StatisticChange,
    confusion,
    shown_claims,
    statistic_change,
)  # fmt: skip
from fairgauge.inference.possible import PossiblePairs, metric_cases, worst_case_limits
from fairgauge.measure._changes import interval_of, measured_disparities, rate_records
from fairgauge.measure._small_groups import small_groups
from fairgauge.measure.decide import INSUFFICIENT, SINGLE
from fairgauge.measure.measure import reversed_outcomes_of
from fairgauge.question.rules import Rule
from fairgauge.question.specification import Spec
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.resolve.group_counts import GroupCounts, Histogram, ungrouped_rows
from fairgauge.resolve.outcomes import OutcomeMasks
from fairgauge.resolve.question_checks import one_group, weightless_groups
from fairgauge.resolve.references import (
    References,
    add_others,
    admissible_groups,
    group_sizes,
    references_at,
    rivals,
    side_of_all,
    side_of_others,
    sides_of_unknown,
)  # fmt: skip
from fairgauge.resolve.resolution import resolve
from fairgauge.results.estimates import EVERYONE, DisparityChange, RateChange, as_number
from fairgauge.results.scopes import Diagnostic, not_counted
from fairgauge.results.threshold_choice import FeatureThresholds, OperatingPoint, ThresholdEffect
from fairgauge.results.verdicts import gravest
from fairgauge.start.records import dataclass, replace
from fairgauge.stats.arrays import Index, Limits, Mask
from fairgauge.stats.intervals import critical
from fairgauge.stats.paired import PairedTable
from fairgauge.stats.significance import tukey_level


def accepts(outcome: OutcomeMasks) -> Accepts:
    """Return which side of a threshold has the favourable decision, as in an audit."""
    below = Accepts.UP_TO if outcome.lowest else Accepts.BELOW
    return Accepts.FROM if outcome.turned is None else below


def rows_accepted(counts: Array, histogram: Histogram, cuts: Array, decision: Accepts) -> Array:
    """Return the rows that each threshold accepts: bins, the last axis, become thresholds."""
    # a score at the threshold is on its upper side, unless the lowest are the best
    first = np.searchsorted(histogram.low, cuts, side="left")
    if decision is Accepts.UP_TO:
        first = np.searchsorted(histogram.high, cuts, side="right")
    nothing = np.zeros((*counts.shape[:-1], 1))
    if decision is not Accepts.FROM:
        sums = np.concatenate([nothing, np.cumsum(counts, axis=-1)], axis=-1)
    else:
        sums = np.concatenate([np.cumsum(counts[..., ::-1], -1)[..., ::-1], nothing], axis=-1)
    return np.asarray(sums[..., first])


_ROUNDING, _DIGITS = 1e-12, 12
_QUANTILES = 20
# what cannot be asked, and what to do instead
_NOT_COUNTED = {
    "cluster": "choose from one row of each cluster, and audit the chosen threshold with clusters",
    "strata": "choose for the intersection with that column, or audit the chosen threshold with it",
}
# rates of decisions that are stated with every choice, whichever rate is kept
_STATED = ("selection_rate", "true_positive_rate", "false_positive_rate")


def choose_thresholds(
    cube: Cube, spec: Spec, goal: Rule, kept: str, margin: float
) -> dict[str, Any]:
    """Return the fields of a `ThresholdChoice`: the frontier, and what meets a goal, by feature.

    ``spec`` names the score, its threshold today and the label.
    """
    resolution = resolve(cube, spec)
    why = "the counts of scores, by which thresholds are chosen, do not hold it"
    problems = problems_where(
        (resolution.task is not Task.BINARY, "score", "thresholds are chosen for a binary outcome"),
        (not resolution.features, "sensitive", "name the groups that thresholds are chosen for"),
        *((not of.groups, "sensitive", f"no row has a group of {quote(of.feature)}")
          for of in resolution.features),
        *((getattr(spec, option), option, f"{why}; {instead}")
          for option, instead in _NOT_COUNTED.items()),
    )  # fmt: skip
    refuse(problems)
    outcome = resolution.outcomes[0]
    without = large_uncounted(cube, resolution.features, spec)
    rate, scores = spec.catalogue.rate(kept), resolution.everyone.histogram
    assert scores is not None
    assert isinstance(spec.threshold, tuple)
    for threshold in spec.threshold:
        inside = (scores.low < threshold) & (threshold < scores.high)
        for low, high in zip(scores.low[inside], scores.high[inside], strict=True):
            message = (
                f"the scores between {low:.12g} and {high:.12g} are counted together, and the "
                f"threshold {threshold:g} lies among them; give {low:.12g} or {high:.12g}"
            )
            raise SpecError(Problem("threshold", message))
    cuts = np.unique([*spec.threshold, *_quantile_cuts(scores)])
    choosers = [
        _Chooser(of, outcome, spec, goal, rate, margin, without, cuts) for of in resolution.features
    ]
    return {
        "accepts": accepts(outcome),
        "features": tuple(_choose_together(choosers)),
        "diagnostics": (
            *reversed_outcomes_of(resolution),
            *(
                note
                for of in resolution.features
                for note in (
                    *missing_groups(of, spec),
                    *missing_outcomes(of, spec),
                    *one_group(of, spec),
                    *weightless_groups(of),
                )
            ),
            *uncounted_rows(cube, resolution.features, spec),
        ),
    }


def reference_notes(goal: Rule, features: Sequence[FeatureThresholds]) -> Iterator[Diagnostic]:
    """Warn of choices that pass where the reference, compared with a group, would miss the goal."""
    turn = _metric_of(goal).turn
    for of in features if turn is not None else ():
        assert turn is not None
        low, high = turn((goal.low, goal.high))  # as seen from the other side
        failing: dict[str, list[str]] = {}
        effect = of.common
        for each in effect.disparities if effect and effect.goal_outcome is Outcome.PASS else ():
            reference, ends = each.reference, each.new_interval
            if reference is None or reference.kind not in SINGLE or ends is None:
                continue
            if ends.high < low or ends.low > high:
                failing.setdefault(str(reference.group), []).append(str(each.group))
        for failed, groups in failing.items():
            yield Diagnostic.warning(
                DiagnosticCode.REFERENCE_DECIDES, of.feature,
                rule=str(goal), group=failed, references=tuple(groups),
            )  # fmt: skip


class Excluded:
    """The rows that a rate does not count: without a group, what it needs, a weight or a count."""

    def __init__(
        self, counts: GroupCounts, of: Statistic, spec: Spec, without: Mapping[str, int]
    ) -> None:
        self._without, self._unit = without, spec.unit
        every, apart = (each["n"][:, 0].sum(axis=0) for each in (counts.counts, counts.unknown))
        known = slice(-1 if "label" in of.needs else None), slice(-1)
        groupless = round(float(apart.sum() - apart[known].sum()))
        self._incomplete = round(float(every.sum() - every[known].sum())) + groupless
        self._ungrouped = round(ungrouped_rows(counts, "n"))
        self._groupless = self._ungrouped - groupless
        self.rows = self._incomplete + self._groupless

    def passing(
        self, outcome: Outcome, reason: Reason | None = None
    ) -> tuple[Outcome, Reason | None]:
        """Return what a pass comes to, with the rows that could change it, if any could."""
        if outcome is Outcome.PASS:
            unit = self._unit.get("unit")
            reason = not_counted(self._without, unit, alone=str(outcome)) or reason
        return (outcome, None) if reason is None else (Outcome.INCONCLUSIVE, reason)

    def judged(self, measured: Disparities) -> tuple[Outcome, Reason | None]:
        """Return what the goal comes to at the first threshold, and the rows that leave it open."""
        outcome, alone, of_groups = (
            replace(measured, limits=measured.limits[:count]).outcomes[0] for count in (3, 1, 2)
        )
        why = self.reason(alone, of_groups is not alone)
        return self.passing(outcome, None if outcome is alone else why)

    def reason(self, alone: Outcome, by_groups: bool = False) -> Reason:
        """Return that rows without what is needed, or a group, could change what others show."""
        of = {"rows": self._incomplete, "groupless": self._groupless or None}
        code = ReasonCode.MISSING_OUTCOMES
        if by_groups or not self._incomplete:
            code, of = ReasonCode.MISSING_GROUPS, {"rows": self._ungrouped}
        return Reason.of(code, **of, alone=str(alone), **self._unit)


def counts_at(counts: GroupCounts, outcome: OutcomeMasks, cut: float) -> GroupCounts:
    """Return the counts of the decisions at a threshold: favourable, not so and missing ones."""
    histogram = counts.histogram
    assert histogram is not None
    of, decided = accepts(outcome), []
    both = (counts.counts, histogram.counts), (counts.unknown, histogram.unknown)
    for held, scores in both:
        sums = {}
        for name in {"rows", "n", "w"} & held.keys():
            every, missing = scores[name], held[name][:, 0, :, -1]
            yes = rows_accepted(every, histogram, np.array([cut]), of)[..., 0]
            sums[name] = np.stack([yes, every.sum(axis=-1) - yes, missing], axis=-1)[:, None]
        decided.append(sums)
    return replace(counts, counts=decided[0], unknown=decided[1], strata=(), histogram=None)


def least_gain(kept: Statistic, old: GroupCounts, new: GroupCounts, outcome: OutcomeMasks) -> float:
    """Return the least gain in a rate of all rows, whatever those are that lack something.

    ``old, new``: the counts at two thresholds, whose decisions ``outcome`` is of. Of what is no
    share nothing is known.
    """
    if not isinstance(kept, Rate):
        return -np.inf
    measure = "w" if old.weighted else "n"
    tables = []
    for before, after in ((old.counts, new.counts), (old.unknown, new.unknown)):
        one, other = before[measure][:, 0], after[measure][:, 0]
        held = np.zeros((*one.shape, 3))  # decisions of one score are nested
        held[..., 0, 0] = np.minimum(one[..., 0], other[..., 0])
        held[..., 0, 1], held[..., 1, 0] = (e[..., 0] - held[..., 0, 0] for e in (one, other))
        held[..., 1, 1] = np.minimum(one[..., 1], other[..., 1])
        held[..., 2, 2] = one[..., 2]
        tables.append(held)
    sides = np.logical_or(*sides_of_unknown(old))
    pairs = PossiblePairs(tables[0], tables[1], sides, outcome)
    low, high = pairs.limits(kept, np.array([side_of_all(len(old.groups))])).change
    return float(-high[0] if kept.better is Better.LOWER else low[0])


class _Chooser:
    """The histogram of one feature, the goal, and the rate that is kept within a margin.

    ``cuts`` are the candidates in ascending order, and ``today`` the place of today's among them.
    """

    def __init__(
        self, counts: GroupCounts, outcome: OutcomeMasks, spec: Spec, goal: Rule, kept: Statistic,
        margin: float, without: Mapping[str, int], cuts: Array,
    ) -> None:  # fmt: skip
        self.metric, self.goal, self.kept = _metric_of(goal), goal, kept
        self.counts, self.margin, self.spec, self.cuts = counts, margin, spec, cuts
        histogram = counts.histogram
        assert histogram is not None
        assert isinstance(spec.threshold, tuple)
        self.today = int(np.searchsorted(self.cuts, spec.threshold[0]))
        names = ("w", "w2", "n") if spec.weight else ("n", "n", "n")
        every = np.stack([histogram.counts[n] for n in names])
        kinds = outcome.labels, ~outcome.labels  # and those that lack it
        known = (np.compress(kind, every[..., :-1, :], -2).sum(axis=-2) for kind in kinds)
        by_label = np.stack([*known, every[..., -1, :]], axis=-2)
        self._accepted = rows_accepted(by_label, histogram, self.cuts, accepts(outcome))
        self._total = by_label.sum(axis=-1)
        self._lower = kept.better is Better.LOWER
        # as in an audit, intervals hold for all pairs where the data choose the reference
        groups = int(admissible_groups(counts, spec).sum())
        best = spec.reference is ReferenceRule.BEST and groups >= FEWEST_GROUPS
        self._chosen_among = groups if best else 0
        self._rest, self._rest_of_kept = (
            Excluded(counts, of, spec, without) for of in (self.metric.of, kept)
        )
        small = small_groups([counts], spec)
        self._small = [small.get((counts.feature, name)) for name in counts.groups]
        self._every = np.arange(len(self.cuts))
        at = [counts_at(counts, outcome, cut) for cut in self.cuts.tolist()]
        decided = replace(outcome, predictions=np.array([True, False]), open_predictions=None)
        self._change = change_of(kept, self._decided(self._every).sum(axis=1)).difference
        gain = -self._change.value if self._lower else self._change.value
        self._least_gain = np.array([least_gain(kept, at[self.today], e, decided) for e in at])
        self._lost = np.maximum(gain - self._least_gain, 0.0)
        self._possible = self._possible_disparities(at, decided)
        everywhere = self._disparities(self._every, spec.confidence)
        self._judged = ~everywhere.why.astype(np.bool_).all(axis=1, keepdims=True)
        self.judges = len(counts.groups) > 1 and bool(self._judged.any())

    def hold(self, confidence: float, *, excluded: bool = True) -> Mask:
        """Return at which thresholds all groups that are judged meet the goal, the rate kept.

        By intervals at a confidence level; whatever excluded rows are, unless asked otherwise.
        """
        gaps = self._disparities(self._every, confidence)
        limits = gaps.limits if excluded else gaps.limits[:1]
        gaps = replace(gaps, compared=gaps.compared & self._judged, limits=limits)
        least = self.gain(confidence)[0] - (self._lost if excluded else 0.0)
        kept = (self._every == self.today) | (least >= -self.margin - _ROUNDING)
        return np.asarray(gaps.passing & kept)

    def gain(self, confidence: float) -> Limits:
        """Return the limits of how much better the kept rate is at every threshold."""
        low, high = self._change.at(np.full(len(self.cuts), critical(confidence)))
        return (-high, -low) if self._lower else (low, high)

    def _decided(self, cuts: Index) -> Array:
        # the rows by label and the decisions of today and at each: (3, groups + 1, n, 3, 2, 2)
        old, new = self._accepted[..., [self.today]], self._accepted[..., cuts]
        both = np.minimum(old, new)  # decisions of one score are nested
        neither = self._total[..., None] - np.maximum(old, new)
        table = np.moveaxis(np.stack([both, old - both, new - both, neither], axis=-1), 2, 3)
        return table.reshape(*table.shape[:-1], 2, 2)

    def _references(self, cuts: Index) -> tuple[References, ...]:
        margins = self._decided(cuts)[0, :-1].sum(axis=-2)
        flat = confusion(margins.reshape(-1, *margins.shape[2:]), classes=False)

        def values_of(statistic: Statistic) -> Array:
            return statistic.value(flat, self.spec.profile).reshape(margins.shape[:2])

        return references_at(self.counts, self.metric, self.spec, values_of, len(cuts))

    def _disparities(self, cuts: Index, confidence: float) -> Disparities:
        many = self._chosen_among
        spec = replace(self.spec, confidence=tukey_level(many, confidence) if many else confidence)
        sides = np.stack([add_others(each) for each in self._decided(cuts).sum(axis=-2)])
        places, metric = np.arange(len(cuts)), self.metric
        against = np.stack([each.sides for each in self._references(cuts)], axis=1)
        size, every = len(self.counts.groups), []
        for g, of_group in enumerate(against):
            # as an audit compares them
            group, reference = map(_side_data, (sides[:, g], sides[:, of_group, places]))
            whole = (of_group == side_of_all(size)).all()
            rest = _side_data(sides[:, side_of_others(size) + g]) if whole else None
            compared = Comparisons(group, reference, rest, np.ones(len(cuts), dtype=np.bool_))
            comparison = interval_sides(metric.of, compared, spec)
            value = metric.value(group.side, reference.side, Profile.DOCUMENTED)
            made = contrast_interval(metric, comparison, compared, spec)
            made = made.containing(value, metric.range)
            every.append((value, made.low, made.high, np.array(made.too_few, dtype=object)))
        value, low, high, why = (np.stack(parts) for parts in zip(*every, strict=True))
        for g, reason in enumerate(self._small):
            if reason is not None:
                why[against == g] = reason.on("reference")
                why[g] = reason.on("group")
        compared = against != np.arange(len(against))[:, None]
        limits, ratio = [(low, high)], is_ratio(metric)
        for end, by in zip(*(each[..., cuts] for each in self._possible), strict=True):
            ends, wider = (end[0], end[1]), (by[0], by[1])
            least, most = worst_case_limits((low, high), ends, value, ratio=ratio, wider=wider)
            limits.append((np.fmin(low, least), np.fmax(high, most)))
        return Disparities(self.goal, value, compared, group_sizes(self.counts), why, tuple(limits))

    def _possible_disparities(self, at: Sequence[GroupCounts], of: OutcomeMasks) -> Limits:
        # the least and greatest value of every group (columns) at each threshold, and how much
        # further intervals reach from there, whatever rows without a group, and those without an
        # outcome are: as of an audit; nan where no row lacks any
        shape = 2, 2, len(self.counts.groups), len(at)
        ends, wider, profile = np.full(shape, np.nan), np.ones(shape), self.spec.profile
        for i, references in enumerate(self._references(self._every)):
            compared, chosen = (np.arange(shape[2]), references.sides), rivals(at[i], self.spec)
            cases = metric_cases(at[i], of, self.metric, compared, profile, chosen)
            for (_, _, group, *_), each in cases.items():
                g = self.counts.groups.index(str(group))
                for case in each:
                    ends[int(case.outcomes), :, g, i] = case.low, case.high
                    wider[int(case.outcomes), :, g, i] = case.wider
        return ends, wider

    def frontier(self, shown: Mask) -> Iterator[OperatingPoint]:
        every, level = self._every, self.spec.confidence
        whole = side_interval(self.kept, _side_data(self._decided(every).sum(axis=(1, -2))))
        low, high = whole.at(np.asarray(critical(level)))
        references = self._references(every)
        disparities = self._disparities(every, level)
        # what passes by its own interval passes only where that of all candidates does, too
        sure = shown | self._disparities(every, 1 - (1 - level) / max(len(every) - 1, 1)).passing
        sure[self.today] = True
        least, most = disparities.limits[0]
        outcomes, meet, deciding = disparities.outcomes, disparities.meet, disparities.deciding
        for i, cut in enumerate(self.cuts.tolist()):
            at, outcome = (deciding[i], i), self._rest.passing(outcomes[i])[0]
            yield OperatingPoint(
                threshold=cut,
                performance=as_number(whole.estimate[i]),
                performance_interval=interval_of(low[i], high[i], level, ()),
                group=self.counts.groups[deciding[i]],
                reference=references[i].each[deciding[i]],
                disparity=as_number(disparities.value[at]),
                disparity_interval=interval_of(least[at], most[at], level, ()),
                value_meets=bool(meet[i]),
                outcome=outcome if sure[i] or outcome is not Outcome.PASS else Outcome.INCONCLUSIVE,
            )

    def effect(self, cut: int, shown: bool) -> ThresholdEffect:
        cuts = np.array([cut])
        names, level = self.counts.groups, self.spec.confidence
        sides = np.stack([add_others(each[:, 0]) for each in self._decided(cuts)])
        tables = sides[:, [len(names) + 1, *range(len(names))]]  # of all rows, and of the groups
        performance, (rate,) = self._rates(self.kept, tables[:, :1])
        stated = (self._rates(self.spec.catalogue.rate(name), tables)[1] for name in _STATED)
        (references,) = self._references(cuts)
        groups = np.flatnonzero(references.sides != np.arange(len(names)))
        measured = self._disparities(cuts, level)
        least, most = measured.limits[0]
        shared: Any = {"metric": self.metric.name, "definition": self.metric}
        shared |= {"by": "ratio" if is_ratio(self.metric) else "difference"}
        bases = [
            DisparityChange(
                feature=self.counts.feature, group=names[g], reference=references.each[g],
                new_interval=interval_of(least[g, 0], most[g, 0], level, ()), **shared,
            )
            for g in groups.tolist()
        ]  # fmt: skip
        compared = sides[:, np.concatenate([groups, references.sides[groups]])]
        inside = self.spec.reference is ReferenceRule.OVERALL
        changes = measured_disparities(
            self.metric, change_of(self.metric.of, compared), bases, self.spec, inside=inside
        )
        low, high = performance.gain_at(critical(level), self.margin, lower=self._lower)
        # another threshold than today's is chosen only where the rate is shown to be kept
        keeps, of_kept = Outcome.PASS, None
        outcome, of_goal = self._rest.judged(measured)
        if cut != self.today:
            missing = not shown and (
                outcome is Outcome.PASS or self._least_gain[cut] < -self.margin - _ROUNDING
            )
            why = self._rest_of_kept.reason(Outcome.PASS) if missing else None
            keeps, of_kept = self._rest_of_kept.passing(Outcome.PASS, why)
        if rate.interval is not None:
            ends = (-high, -low) if self._lower else (low, high)
            rate = replace(rate, interval=replace(rate.interval, low=ends[0], high=ends[1]))
        return ThresholdEffect(
            threshold=float(self.cuts[cut]),
            performance=rate,
            disparities=tuple(
                each if why is None else replace(each, status=Status.TOO_FEW, reason=why)
                for each, why in zip(changes.records, measured.why[groups, 0], strict=True)
            ),
            rates=tuple(chain(*stated)),
            value_meets=bool(measured.meet[0]),
            goal_outcome=outcome,
            kept_outcome=keeps,
            goal_reason=of_goal,
            kept_reason=of_kept,
        )

    def _rates(self, row: Statistic, tables: Array) -> tuple[StatisticChange, list[RateChange]]:
        of_groups = ((self.counts.feature, group) for group in self.counts.groups)
        whose = [(None, EVERYONE), *of_groups][: tables.shape[1]]
        bases = [RateChange(rate=row.name, definition=row, feature=f, group=g) for f, g in whose]
        change, no_rows = change_of(row, tables), Reason.of(ReasonCode.NO_ROWS)
        return change, [*rate_records(change, bases, self.spec.confidence, lambda *_: no_rows)]


def _choose_together(choosers: Sequence[_Chooser]) -> Iterator[FeatureThresholds]:
    # one threshold decides for the groups of every feature, so that it has to meet the goal for all
    one, judging = choosers[0], [each for each in choosers if each.judges]
    cuts, today, level = one.cuts, one.today, one.spec.confidence
    others = np.arange(len(cuts)) != today

    def choose(*, excluded: bool) -> tuple[int | None, Mask]:
        def hold(confidence: float) -> Mask:
            every = [each.hold(confidence, excluded=excluded) for each in judging]
            return np.asarray(np.all(every or [np.zeros(len(cuts), dtype=bool)], axis=0))

        shown, _ = shown_claims(lambda c: hold(c) & others, int(others.sum()), level)
        closest = int(np.where(shown, np.abs(cuts - cuts[today]), np.inf).argmin())
        return today if hold(level)[today] else closest if shown.any() else None, shown

    cut, shown = choose(excluded=True)
    if cut is None:  # where only rows that are excluded leave it open
        cut, _ = choose(excluded=False)
    frontiers = [tuple(each.frontier(shown)) for each in choosers]
    # that each misses a limit needs no adjustment: the claim is false only where all are
    kept = np.all([e.gain(level)[1] >= -e.margin - _ROUNDING for e in choosers], axis=0)
    points = [at for at, may in zip(zip(*frontiers, strict=True), kept, strict=True) if may]
    open_ = {gravest(e.outcome for e in at) for at in points} - {Outcome.FAIL}
    outcome = Outcome.INCONCLUSIVE if open_ else Outcome.FAIL
    outcome = Outcome.NOT_EVALUATED if open_ == {Outcome.NOT_EVALUATED} else outcome
    for each, frontier in zip(choosers, frontiers, strict=True):
        proposed = cut if each.judges else None
        effect = None if proposed is None else each.effect(proposed, bool(shown[proposed]))
        stated = Outcome.NOT_EVALUATED if judging and not each.judges else outcome
        yield FeatureThresholds(
            feature=each.counts.feature, groups=each.counts.groups, frontier=frontier,
            common=effect, outcome=stated if effect is None else effect.outcome,
        )  # fmt: skip


def _quantile_cuts(histogram: Histogram) -> Array:
    # of all scores, of every group and outcome
    rows = histogram.counts["n"].reshape(-1, len(histogram.low)).sum(axis=0)
    below = np.cumsum(rows) / max(rows.sum(), 1.0)
    shares = np.arange(1, _QUANTILES + 1) / (_QUANTILES + 1)
    held = np.flatnonzero(rows)
    at = held[np.searchsorted(below[held], shares)] if len(held) else held
    return np.asarray(np.unique(histogram.low[at]))


_FAR = 1e200
_BY_SEVERITY = (
    Outcome.NONE, Outcome.PASS, Outcome.NOT_EVALUATED, Outcome.INCONCLUSIVE, Outcome.FAIL,
)  # fmt: skip
_SEVERITY = {outcome: place for place, outcome in enumerate(_BY_SEVERITY)}


@dataclass(frozen=True, slots=True, eq=False)
class Disparities:
    """The metric of a goal and its limits, of every group (rows) and threshold (columns).

    ``compared`` states which groups are compared there: not the reference with itself. ``sizes``
    are the rows of the groups. ``why`` holds the reasons why data are insufficient, as in an audit;
    None where they suffice. ``limits`` are those of the intervals, and how far they go whatever the
    rows are that lack a group, which can also take back that a goal is missed, and whatever those
    are that lack a group or an outcome.
    """

    goal: Rule
    value: Array
    compared: Mask
    sizes: Array
    why: NDArray[np.object_]
    limits: tuple[Limits, ...]

    @property
    def meet(self) -> Mask:
        """Return where every group meets the goal by its value."""
        with np.errstate(invalid="ignore"):
            inside = (self.value >= self.goal.low) & (self.value <= self.goal.high)
        return np.asarray((inside | ~self.compared).all(axis=0) & self.compared.any(axis=0))

    @property
    def outcomes(self) -> list[Outcome]:
        """Return what the intervals of all groups come to at every threshold."""
        worst = self._severity.max(axis=0)
        return [_BY_SEVERITY[each] if each else Outcome.NOT_EVALUATED for each in worst.tolist()]

    @property
    def passing(self) -> Mask:
        """Return where the whole interval of every group meets the goal."""
        return np.asarray(self._severity.max(axis=0) == _SEVERITY[Outcome.PASS])

    @property
    def deciding(self) -> Index:
        """Return the group with the least outcome; of several, the furthest from the goal.

        Of these the one with most rows is taken: names decide nothing.
        """
        with np.errstate(invalid="ignore"):
            beyond = np.maximum(self.goal.low - self.value, self.value - self.goal.high)
        known = np.nan_to_num(beyond, nan=-_FAR, posinf=_FAR, neginf=-_FAR)
        sizes = np.broadcast_to(self.sizes[:, None], known.shape)
        order = np.lexsort((-sizes, -np.round(known, _DIGITS), -self._severity), axis=0)
        return np.asarray(order[0])

    @property
    def _severity(self) -> Index:
        with np.errstate(invalid="ignore"):
            outside = [(high < self.goal.low) | (low > self.goal.high) for low, high in self.limits]
            inside = [
                (low >= self.goal.low) & (high <= self.goal.high) for low, high in self.limits
            ]
        fails, passes = np.all(outside[:2], axis=0), np.all(inside, axis=0)
        outcomes = Outcome.NONE, INSUFFICIENT[self.goal.insufficient], Outcome.FAIL, Outcome.PASS
        severity = np.select(
            [~self.compared, self.why.astype(np.bool_), fails, passes],
            [_SEVERITY[each] for each in outcomes],
            _SEVERITY[Outcome.INCONCLUSIVE],
        )
        return np.asarray(severity)


def _metric_of(goal: Rule) -> Contrast:
    metric = goal.definition
    if is_of_decisions(metric):
        return metric
    message = (
        "must be a difference or a ratio of a rate of decisions, such as 'selection_rate.ratio "
        ">= 0.8'"
    )
    raise SpecError(Problem("rules[0]", message))


def _side_data(margins: Array) -> SideData:
    # of weights, their squares and cases: (3, n, 3, 2)
    weights, squares, cases = (confusion(margin, classes=False) for margin in margins)
    weighted = bool((margins[0] != margins[2]).any())
    return SideData(weights, cases, squares if weighted else None)


def change_of(statistic: Statistic, tables: Array) -> StatisticChange:
    """Return the change of a statistic of weights, their squares and cases: (3, n, 3, 2, 2)."""
    old, new = (side_interval(statistic, _side_data(tables.sum(axis=axis))) for axis in (-1, -2))
    return statistic_change(statistic, PairedTable(*tables), old, new)
