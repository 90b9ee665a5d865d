"""Choose thresholds: what every threshold of a score comes to, from its histogram alone.

Thresholds are chosen by one random half of every group, and what a choice changes is measured in
the other half, so that nothing is claimed for the very rows that it was fitted to. Where a
threshold can be chosen with a margin, it is: a threshold at the very limit of the goal in one half
is beyond it in the other as often as not. Decisions today and at another threshold are those of two
models on the same rows, and compared as such: whether a rate is kept is a test of non-inferiority.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairgauge.catalogue.cells import Array
from fairgauge.catalogue.comparisons import Combined, Contrast
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.catalogue.threshold_goals import is_of_decisions
from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import GRID
from fairgauge.enums import (
    Accepts,
    Better,
    ChosenBy,
    DiagnosticCode,
    Outcome,
    Profile,
    ReferenceRule,
    Status,
    Task,
)
from fairgauge.errors import Problem, SpecError, quote, refuse
from fairgauge.inference.compared_counts import FEWEST_GROUPS, Evidence, generator
from fairgauge.inference.groups.paired_extremes import combined_changes
from fairgauge.inference.interval import StatisticInterval
from fairgauge.inference.missing_values import (
    missing_groups,
    missing_outcomes,
    uncounted,
    uncounted_rows,
)
from fairgauge.inference.needed_rows import POWER
from fairgauge.inference.one.statistic_intervals import statistic_interval
from fairgauge.inference.possible import (
    complete,
    contrast_range,
    reached,
    share_limits,
    share_variances,
    wider_contrast,
)
from fairgauge.inference.two.contrast_intervals import insufficient_sides
from fairgauge.inference.two.paired_changes import StatisticChange, statistic_change
from fairgauge.inference.two.paired_tables import PairedTable, confusion
from fairgauge.measure._change_records import (
    contrast_change,
    contrasted,
    disparity_records,
    rate_records,
)
from fairgauge.measure._small_groups import small_groups
from fairgauge.measure._threshold_references import (
    accepted,
    accepts,
    margins_by_threshold,
    references_of_margins,
    states_by_threshold,
)
from fairgauge.measure.decide import INSUFFICIENT
from fairgauge.measure.measure import reversed_outcomes_of
from fairgauge.question.rules import Rule
from fairgauge.question.specification import Spec
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.resolve.group_checks import one_group, weightless_groups
from fairgauge.resolve.group_counts import GroupCounts, Histogram, without_group
from fairgauge.resolve.outcomes import OutcomeMasks
from fairgauge.resolve.references import References, admissible_groups, group_sizes
from fairgauge.resolve.resolution import resolve
from fairgauge.resolve.sides import Measure, sides_of_unknown, with_others
from fairgauge.results.changes import DisparityChange, RateChange
from fairgauge.results.disparities import is_ratio
from fairgauge.results.doubts import not_counted
from fairgauge.results.estimates import EVERYONE, as_number
from fairgauge.results.scopes import Diagnostic, Interval
from fairgauge.results.threshold_choice import FeatureThresholds, OperatingPoint, ThresholdEffect
from fairgauge.stats.arrays import Index, Limits, Mask, quotient
from fairgauge.stats.contrasts import fold, mover_difference, mover_ratio
from fairgauge.stats.intervals import critical
from fairgauge.stats.multiplicity import tukey_level
from fairgauge.stats.resampling import random_parts

_ROUNDING = 1e-12
_NOT_COUNTED = {
    "cluster": "choose from one row of each cluster, and audit the chosen threshold with clusters",
    "strata": "choose for the intersection with that column, or audit the chosen threshold with it",
}
"""What cannot be asked, and what to do instead."""
_STATED = ("selection_rate", "true_positive_rate", "false_positive_rate")
"""Rates of decisions that are stated with every choice, whichever rate is kept."""
_NEARLY_NONE = 0.01
"""Share of rows with the rarer decision, below which nearly all rows have the same."""


def choose_thresholds(
    cube: Cube,
    spec: Spec,
    goal: Rule,
    kept: str,
    margin: float,
) -> dict[str, Any]:
    """Return the fields of a `ThresholdChoice`: the frontier, and what meets a goal, by feature.

    ``spec`` names the score, its threshold today and the label.
    """
    resolution = resolve(cube, spec)
    problems = []
    if resolution.task is not Task.BINARY:
        problems.append(Problem("score", "thresholds are chosen for a binary outcome"))
    if not resolution.features:
        problems.append(Problem("sensitive", "name the groups that thresholds are chosen for"))
    problems += [
        Problem("sensitive", f"no row has a group of {quote(of.feature)}")
        for of in resolution.features
        if not of.groups
    ]
    for option, instead in _NOT_COUNTED.items():
        if getattr(spec, option):
            why = "the counts of scores, by which thresholds are chosen, do not hold it"
            problems.append(Problem(option, f"{why}; {instead}"))
    refuse(problems)
    (outcome,) = resolution.outcomes
    warned = [*reversed_outcomes_of(resolution)]
    without = uncounted(cube, resolution.features, spec)
    choosers = [
        _Chooser(of, outcome, spec, goal, spec.catalogue.rate(kept), margin, without)
        for of in resolution.features
    ]
    features = tuple(each.chosen() for each in choosers)
    return {
        "accepts": accepts(outcome, spec),
        "features": features,
        "diagnostics": (
            *choosers[0].one_decision(),
            *warned,
            *(
                note
                for of in resolution.features
                for note in (
                    *missing_groups(of, spec),
                    *missing_outcomes(of, spec, complete=True),
                    *one_group(of, spec),
                    *weightless_groups(of),
                )
            ),
            *uncounted_rows(cube, resolution.features, spec),
        ),
    }


class _Chosen(NamedTuple):
    """Which threshold every group has, by its place, and how surely it was chosen."""

    cuts: Index
    by: ChosenBy


class Excluded:
    """The rows that no rate counts: without a group, a label or a score, a weight or a count.

    As in an audit, a goal is met only if it would be whatever these rows are, and missed unless
    their groups could change that. Their worst cases are of all rows, those of both halves.

    Attributes
    ----------
    ungrouped, incomplete : the rows without a group, and those without a label or a score.
    """

    def __init__(
        self,
        counts: GroupCounts,
        outcome: OutcomeMasks,
        spec: Spec,
        cuts: Array,
        without: Mapping[str, int],
    ) -> None:
        self._uncounted = not_counted(without)
        self._unit = spec.unit
        self._accepts_above = accepts(outcome, spec) in (Accepts.FROM, Accepts.ABOVE)
        cases = states_by_threshold(counts, outcome, spec, cuts[:1], "n")
        self.ungrouped = round(without_group(counts, "n"))
        self.incomplete = round(sum(float((of - complete(of)).sum()) for of in cases))
        measure: Measure = "w" if counts.unequally_weighted else "n"
        self._known, self._apart = states_by_threshold(counts, outcome, spec, cuts, measure)
        self._sides_of_unknown = sides_of_unknown(counts)

    def reached(
        self, metric: Contrast | Combined, choices: Index, against: Index, interval: Limits
    ) -> tuple[Limits, Limits]:
        """Return how far intervals go whatever all of these rows are, and whatever their groups."""
        if not self.incomplete + self.ungrouped:
            return interval, interval
        sides = with_others(np.take_along_axis(self._known, choices[:, :, None, None], axis=1))
        groups = len(self._known)

        def worst(keep: Callable[[Array], Array], *, apart: bool) -> tuple[Limits, Limits]:
            def rows(which: Index, rate: Statistic) -> tuple[Array, Array, Array, Rate]:
                assert isinstance(rate, Rate)  # as `metric_of` asks
                # rows of no known group have the threshold of the side that they may be of
                cuts = choices[np.minimum(which, groups - 1), places]
                may, are = (
                    apart * np.einsum("kn,knyp->nyp", of[:, which], self._apart[:, cuts])
                    for of in self._sides_of_unknown
                )
                return keep(sides[which, places]), keep(may), keep(are), rate

            places = np.arange(choices.shape[1])
            limits, wider = [], []
            for g, of in enumerate(against):
                pairs = [
                    (part, [rows(which, part.of) for which in (np.full_like(of, g), of)])
                    for part in parts(metric)
                ]
                ends = [
                    contrast_range(part, *(share_limits(*side) for side in pair))
                    for part, pair in pairs
                ]
                widths = [
                    wider_contrast(part, *(share_variances(*side, part) for side in pair))
                    for part, pair in pairs
                ]
                limits.append(_worst_of(metric, ends))
                wider.append(np.max(widths, axis=0))
            (low, high), (below, above) = (np.stack(each, axis=1) for each in (limits, wider))
            return (low, high), (below, above)

        (value, _), _ = worst(complete, apart=False)
        ends = []
        for keep in (np.asarray, complete):
            limits, wider = worst(keep, apart=True)
            low, high = reached(interval, limits, value, ratio=is_ratio(metric), wider=wider)
            if not is_ratio(metric):
                low, high = np.maximum(low, -1.0), np.minimum(high, 1.0)  # as shares can be
            ends.append((low, high))
        return ends[0], ends[1]

    def loss(self, kept: Statistic, today: int, choices: Index) -> Array:
        """Return what these rows can add to the gain of a rate at other thresholds: 0 or below.

        All rows that lack the same are taken for one of what they may be, each of these in turn.
        """
        if not self.incomplete + self.ungrouped:
            return np.zeros(choices.shape[1])
        taken = np.take_along_axis(self._known, choices[:, :, None, None], axis=1)
        alone = (each.sum(axis=0)[:, :2, :2] for each in (self._known[:, [today]], taken))
        usual = _gain(kept, *alone)
        apart = self._apart.sum(axis=0)
        new = taken.sum(axis=0) + apart[choices[-1]]
        old = self._known[:, today].sum(axis=0) + apart[today] + np.zeros_like(new)
        least = usual
        for each in product(*self._possible(old, new, today, choices)):
            before, after = (
                sum((rows[:, None, None] * of[i] for rows, of in each), table[:, :2, :2])
                for i, table in enumerate((old, new))
            )
            least = np.fmin(least, _gain(kept, before, after))
        return np.nan_to_num(least - usual)

    def _possible(
        self, old: Array, new: Array, today: int, choices: Index
    ) -> Iterator[list[tuple[Array, tuple[Array, Array]]]]:
        up, down = (choices < today).any(axis=0), (choices > today).any(axis=0)
        more, fewer = (up, down) if self._accepts_above else (down, up)
        both = np.minimum(old[:, 2, 0], new[:, 2, 0])
        unlabelled = {
            (1, 1): both, (1, 0): old[:, 2, 0] - both, (0, 1): new[:, 2, 0] - both,
            (0, 0): np.minimum(old[:, 2, 1], new[:, 2, 1]),
        }  # fmt: skip
        kinds: list[tuple[Array, tuple[int, ...], list[tuple[Any, Any]]]] = [
            (rows, (0, 1), [each]) for each, rows in unlabelled.items()
        ]
        decisions = [(1, 1), (0, 0), (~more * 1, 1), (1, ~fewer * 1)]
        kinds += [(old[:, i, 2], ((i,), (i,), (0, 1))[i], decisions) for i in range(3)]
        for rows, labels, decided in kinds:
            if rows.any():
                cells = [
                    [_cell(label, yes) for yes in each] for label in labels for each in decided
                ]
                yield [(rows, (before, after)) for before, after in cells]

    def passing(
        self, outcome: Outcome, reason: Reason | None = None
    ) -> tuple[Outcome, Reason | None]:
        """Return what a pass comes to, with the rows that could change it, if any could."""
        if outcome is Outcome.PASS:
            reason = self.not_counted(outcome) or reason
        return (outcome, None) if reason is None else (Outcome.INCONCLUSIVE, reason)

    def not_counted(self, alone: Outcome) -> Reason | None:
        """Return the rows without which nothing passes, whatever the others show."""
        if self._uncounted is None:
            return None
        what, rows, unit = self._uncounted
        of = {"unit": unit} if unit else self._unit
        return Reason.of(ReasonCode.NOT_COUNTED, what=what, rows=rows, **of, alone=str(alone))

    def judged(self, measured: Disparities) -> tuple[Outcome, Reason | None]:
        """Return what the goal comes to at the first threshold, and the rows that leave it open."""
        (outcome, *_), (alone, *_) = measured.outcomes, measured.alone.outcomes
        if outcome is alone:
            return self.passing(outcome)
        of_groups = replace(measured, whatever=measured.whatever_groups)
        by_groups = of_groups.outcomes[0] is not alone
        return self.passing(outcome, self.reason(alone, by_groups=by_groups))

    def reason(self, alone: Outcome, *, by_groups: bool = False) -> Reason:
        """Return that rows without a label or score, or a group, could change what others show."""
        by_groups |= not self.incomplete
        code = ReasonCode.MISSING_GROUPS if by_groups else ReasonCode.MISSING_OUTCOMES
        rows = self.ungrouped if by_groups else self.incomplete
        return Reason.of(code, rows=rows, alone=str(alone), **self._unit)


def _cell(label: int, yes: int | Mask) -> Array:
    """Return rows of a label with a decision, or none, in a table of both: (n, 2, 2)."""
    accepted = np.asarray(yes, dtype=np.float64)
    cell = np.zeros((accepted.size, 2, 2))
    cell[:, label, 0], cell[:, label, 1] = accepted, 1 - accepted
    return cell


def _gain(kept: Statistic, old: Array, new: Array) -> Array:
    """Return by how much a rate is better, from rows by label and decision: (n, 2, 2)."""
    before, after = (
        kept.value(
            confusion(np.concatenate([each, 0 * each[:, :1]], axis=1), classes=False),
            Profile.DOCUMENTED,
        )
        for each in (old, new)
    )
    return before - after if kept.better is Better.LOWER else after - before


def _worst_of(metric: Contrast | Combined, ranges: Sequence[Limits]) -> Limits:
    if isinstance(metric, Contrast):
        return ranges[0]
    folded = [fold(low, high) for low, high in ranges]
    low, high = (np.max([each[i] for each in folded], axis=0) for i in range(2))
    return low, high


class _Chooser:
    """The histogram of one feature, halved, the goal, and the rate that is kept within a margin."""

    def __init__(
        self,
        counts: GroupCounts,
        outcome: OutcomeMasks,
        spec: Spec,
        goal: Rule,
        kept: Statistic,
        margin: float,
        without: Mapping[str, int],
    ) -> None:
        self.metric, self.goal, self.kept = metric_of(goal), goal, kept
        self.margin, self.spec = margin, spec
        histogram = counts.histogram
        assert histogram is not None
        self.counts = counts
        self.accepts = accepts(outcome, spec)
        names = ("w", "w2", "n") if self.spec.weight else ("n", "n", "n")
        self.by_label = np.stack([by_label(histogram.counts[n], outcome.labels) for n in names])
        assert isinstance(self.spec.threshold, tuple)
        self.cuts = np.unique(np.concatenate([histogram.low, histogram.high, self.spec.threshold]))
        cases = self.by_label[-1]
        # each group by itself, from the scores that it has: names and other groups decide nothing
        firsts = np.zeros(cases.shape)
        for first, each in zip(firsts, cases, strict=True):
            held = each > 0
            first[held], _ = random_parts(each[held], generator(self.spec, "halves", each[held]))
        self.first, self.second = (
            self._half(quotient(half, cases), histogram) for half in (firsts, cases - firsts)
        )
        self._margins = margins_by_threshold(counts, outcome, spec, self.cuts)
        self._rest = Excluded(counts, outcome, spec, self.cuts, without)
        self.today = int(np.searchsorted(self.cuts, self.spec.threshold[0]))
        small = small_groups([counts], self.spec)
        self._small = [small.get((counts.feature, name)) for name in counts.groups]
        self._excluded: Mask = np.zeros(len(counts.groups), dtype=bool)
        everywhere = self._disparities(self.first, self._common_choices, self._usual)
        self._excluded = np.asarray(everywhere.insufficient.all(axis=1))
        _check_between_bins(histogram, self.spec.threshold[0])

    def one_decision(self) -> Iterator[Diagnostic]:
        """Warn of a constant score, and where nearly all rows have the same decision today."""
        cases = self.by_label[-1].sum(axis=(0, 1))
        held, histogram = np.flatnonzero(cases), self.counts.histogram
        assert histogram is not None
        if len(held) == 1 and histogram.low[held[0]] == histogram.high[held[0]]:
            constant = float(histogram.low[held[0]])
            yield Diagnostic.warning(DiagnosticCode.ONE_DECISION, constant=constant)
            return
        yes = accepted(cases, histogram, self.cuts[[self.today]], self.accepts)
        share = float(yes[0] / cases.sum())
        if min(share, 1 - share) < _NEARLY_NONE:
            threshold = float(self.cuts[self.today])
            yield Diagnostic.warning(DiagnosticCode.ONE_DECISION, share=share, threshold=threshold)

    def _half(self, share: Array, histogram: Histogram) -> Half:
        held = self.by_label * np.nan_to_num(share)
        at_cuts = accepted(held, histogram, self.cuts, self.accepts)
        return Half(at_cuts, held.sum(axis=-1))

    def chosen(self) -> FeatureThresholds:
        """Return the frontier and the choices."""
        common = self._common()
        effect = self._effect(common)
        return FeatureThresholds(
            feature=self.counts.feature,
            groups=self.counts.groups,
            frontier=tuple(self._frontier()),
            common=effect,
            outcome=self._without_common() if effect is None else effect.outcome,
        )

    def _common(self) -> _Chosen | None:
        """Return the common threshold closest to today's that meets the goal and keeps the rate.

        Nothing was searched for where it is today's, so that its intervals need no margin.
        """
        today = np.full((len(self.counts.groups) + 1, 1), self.today)
        if self._allowed(today, ChosenBy.INTERVAL).all():
            return _Chosen(today[:, 0], ChosenBy.INTERVAL)
        choices, far = self._common_choices, np.abs(self.cuts - self.cuts[self.today])
        for by in ChosenBy:
            allowed = np.flatnonzero(self._allowed(choices, by))
            if len(allowed):
                return _Chosen(choices[:, allowed[far[allowed].argmin()]], by)
        return None

    def _without_common(self) -> Outcome:
        choices, measures = self._common_choices, self.second
        found = self._disparities(measures, choices, self._usual)
        z = np.full(len(self.cuts), critical(self.spec.confidence))
        low, high = self._gain(measures, choices).difference.at(z)
        lost = (-low if self._lower else high) < -self.margin - _ROUNDING
        open_ = {
            goal
            for goal, worse in zip(found.outcomes, lost.tolist(), strict=True)
            if not worse and goal is not Outcome.FAIL
        }
        if not open_:
            return Outcome.FAIL
        return Outcome.NOT_EVALUATED if open_ == {Outcome.NOT_EVALUATED} else Outcome.INCONCLUSIVE

    def _allowed(self, choices: Index, by: ChosenBy) -> Mask:
        """Return which choices meet the goal and keep the rate in the half that chooses.

        By wider intervals than those that are shown, by these, or by the values alone. Where it is
        by how many standard errors the wider ones are to hold in the other half with a power of
        `POWER`, if nothing were searched for: the values of two halves differ by the root of 2
        standard errors.
        """
        wider = math.sqrt(2.0) * NormalDist().inv_cdf(POWER) if by is ChosenBy.MARGIN else 0.0
        found = self._disparities(self.first, choices, self._usual + wider)
        allowed = found.may_meet if by is ChosenBy.VALUE else found.passing
        z = 0.0 if by is ChosenBy.VALUE else critical(self.spec.confidence) + wider
        if allowed.any():
            kept = choices[:, allowed]
            low, high = self._gain(self.first, kept).difference.at(np.full(kept.shape[1], z))
            least = (-high if self._lower else low) + self._rest.loss(self.kept, self.today, kept)
            same = (kept == self.today).all(axis=0)  # no decision changes
            allowed[allowed] = same | (least >= -self.margin - _ROUNDING)
        return allowed

    @property
    def _lower(self) -> bool:
        return self.kept.better is Better.LOWER

    def _gain(self, half: Half, choices: Index) -> StatisticChange:
        return change_of(self.kept, half.decided(self.today, choices).sum(axis=1))

    @property
    def _usual(self) -> Array:
        """Return the standard errors of an interval.

        As in an audit, they hold for all pairs of groups where the data choose the reference.
        """
        level = self.spec.confidence
        if self.spec.reference is ReferenceRule.BEST:
            candidates = int(admissible_groups(self.counts, self.spec).sum())
            level = tukey_level(candidates, level) if candidates >= FEWEST_GROUPS else level
        return np.asarray(critical(level))

    @property
    def _common_choices(self) -> Index:
        """Return every threshold as that of all groups: (groups + 1, cuts)."""
        return np.tile(np.arange(len(self.cuts)), (len(self.counts.groups) + 1, 1))

    def _references(self, choices: Index) -> tuple[References, ...]:
        """Return the references with some thresholds for every group: those of an audit there.

        ``choices`` is of shape (groups + 1, n).
        """
        groups = np.arange(len(self.counts.groups))
        margins = self._margins[groups[:, None], choices[: len(groups)]]
        return references_of_margins(self.counts, self.metric, self.spec, margins)

    def _disparities(self, half: Half, choices: Index, z: Array) -> Disparities:
        """Return the metric of the goal in a half, with some thresholds for every group.

        ``choices`` is of shape (groups + 1, n).
        """
        sides = with_others_of(half.cells_at(choices))
        places = np.arange(choices.shape[1])
        against = np.stack([each.sides for each in self._references(choices)], axis=1)
        every = [
            disparity(self.metric, sides[:, g], sides[:, of_group, places], z, self.spec.confidence)
            for g, of_group in enumerate(against)
        ]
        value, low, high, why = (np.stack(parts) for parts in zip(*every, strict=True))
        for g, reason in enumerate(self._small):
            if reason is not None:
                why[against == g] = reason.on("reference")
                why[g] = reason.on("group")
        compared = against != np.arange(len(against))[:, None]
        sizes = group_sizes(self.counts)
        return Disparities(
            self.goal, value, low, high, compared, sizes, why, self._excluded,
            *self._rest.reached(self.metric, choices, against, (low, high)),
        )  # fmt: skip

    def _frontier(self) -> Iterator[OperatingPoint]:
        cells = self.second.cells
        whole = _interval_of(self.kept, cells.sum(axis=1))
        low, high = whole.at(self._usual)
        references = self._references(self._common_choices)
        disparities = self._disparities(self.second, self._common_choices, self._usual)
        outcomes, meet, deciding = disparities.outcomes, disparities.meet, disparities.deciding
        for i, cut in enumerate(self.cuts.tolist()):
            at = (deciding[i], i)
            yield OperatingPoint(
                threshold=cut,
                performance=as_number(whole.estimate[i]),
                performance_interval=self._interval(low[i], high[i]),
                group=self.counts.groups[deciding[i]],
                reference=references[i].each[deciding[i]],
                disparity=as_number(disparities.value[at]),
                disparity_interval=self._interval(disparities.low[at], disparities.high[at]),
                value_meets=bool(meet[i]),
                outcome=self._rest.passing(outcomes[i])[0],
            )

    def _interval(self, low: float, high: float) -> Interval | None:
        if np.isnan(low) or np.isnan(high):
            return None
        return Interval(float(low), float(high), self.spec.confidence)

    def _effect(self, choice: _Chosen | None) -> ThresholdEffect | None:
        if choice is None:
            return None
        names, cuts, level = self.counts.groups, choice.cuts, self.spec.confidence
        sides = with_others_of(self.second.decided(self.today, cuts[:, None])[:, :, 0])
        performance = change_of(self.kept, sides[:, [len(names) + 1]])
        (references,) = self._references(cuts[:, None])
        groups = np.flatnonzero(references.sides != np.arange(len(names)))
        base = RateChange(rate=self.kept.name, definition=self.kept, feature=None, group=EVERYONE)
        no_rows = Reason.of(ReasonCode.NO_ROWS)
        (rate,) = rate_records(performance, [base], level, lambda *_: no_rows)
        bases = [
            DisparityChange(
                metric=self.metric.name,
                definition=self.metric,
                feature=self.counts.feature,
                group=names[g],
                reference=references.each[g],
                by="ratio" if is_ratio(self.metric) else "difference",
            )
            for g in groups.tolist()
        ]
        compared = sides[:, np.concatenate([groups, references.sides[groups]])]
        measured = self._disparities(self.second, cuts[:, None], self._usual)
        (value_meets,) = measured.meet.tolist()
        low, high = performance.gain_at(critical(level), self.margin, lower=self._lower)
        change = float(performance.difference.value[0])
        keeps, of_kept = self._keeps(cuts, -change if self._lower else change, low, high)
        outcome, of_goal = self._rest.judged(measured)
        if of_goal is None and outcome is Outcome.INCONCLUSIVE:
            of_goal = self._kept_open(measured, cuts, references)
        if rate.interval is not None:
            ends = (-high, -low) if self._lower else (low, high)
            rate = replace(rate, interval=replace(rate.interval, low=ends[0], high=ends[1]))
        return ThresholdEffect(
            threshold=float(self.cuts[cuts[0]]),
            performance=rate,
            disparities=tuple(
                each if why is None else replace(each, status=Status.TOO_FEW, reason=why)
                for each, why in zip(
                    self._disparity_changes(compared, bases), measured.why[groups, 0], strict=True
                )
            ),
            rates=tuple(self._rates(sides)),
            chosen_by=choice.by,
            value_meets=value_meets,
            goal_outcome=outcome,
            kept_outcome=keeps,
            goal_reason=of_goal,
            kept_reason=of_kept,
        )

    def _kept_open(
        self, measured: Disparities, cuts: Index, references: References
    ) -> Reason | None:
        exact = measured.value, measured.value
        against = references.sides[:, None]
        of_all, of_groups = self._rest.reached(self.metric, cuts[:, None], against, exact)
        certain = replace(measured, low=exact[0], high=exact[1], whatever_groups=of_groups)
        by_all, by_groups = (
            replace(certain, whatever=ends).outcomes[0] is Outcome.INCONCLUSIVE
            for ends in (of_all, of_groups)
        )
        if by_all and self._rest.ungrouped + self._rest.incomplete:
            return self._rest.reason(Outcome.INCONCLUSIVE, by_groups=by_groups)
        return self._rest.not_counted(Outcome.INCONCLUSIVE) if measured.meet.all() else None

    def _rates(self, sides: Array) -> Iterator[RateChange]:
        names, no_rows = self.counts.groups, Reason.of(ReasonCode.NO_ROWS)
        tables = sides[:, [len(names) + 1, *range(len(names))]]
        for name in _STATED:
            row = self.spec.catalogue.rate(name)
            whose = [(None, EVERYONE), *((self.counts.feature, group) for group in names)]
            bases = [
                RateChange(rate=name, definition=row, feature=feature, group=group)
                for feature, group in whose
            ]
            change = change_of(row, tables)
            yield from rate_records(change, bases, self.spec.confidence, lambda *_: no_rows)

    def _keeps(
        self, cuts: Index, gain: float, low: float, high: float
    ) -> tuple[Outcome, Reason | None]:
        """Return whether the kept rate is non-inferior, from its gain and the limits of that.

        With the rows that could change that, or leave it open however many others there are.
        """
        if (cuts == self.today).all():
            return Outcome.PASS, None
        alone, least = Outcome.PASS, low
        if low < -self.margin:
            alone, least = Outcome.INCONCLUSIVE, gain
        if high < -self.margin:
            return Outcome.FAIL, None
        if least < -self.margin:  # further rows would show a loss
            return alone, None
        (loss,) = self._rest.loss(self.kept, self.today, cuts[:, None]).tolist()
        reason = self._rest.not_counted(alone)
        if reason is None and least + loss < -self.margin:
            reason = self._rest.reason(alone)
        return (alone, None) if reason is None else (Outcome.INCONCLUSIVE, reason)

    def _disparity_changes(
        self, compared: Array, bases: Sequence[DisparityChange]
    ) -> tuple[DisparityChange, ...]:
        inside = self.spec.reference is ReferenceRule.OVERALL
        changes = [change_of(part.of, compared) for part in parts(self.metric)]
        if isinstance(self.metric, Contrast):
            made, values = contrast_change(self.metric, changes[0], inside=inside)
        else:
            made, values = combined_changes(self.metric, changes, inside=inside)
        return disparity_records(self.metric, made, values, bases, self.spec).records


def _check_between_bins(histogram: Histogram, threshold: float) -> None:
    inside = np.flatnonzero((histogram.low < threshold) & (threshold < histogram.high))
    for i in inside.tolist():
        low, high = histogram.low[i], histogram.high[i]
        wider = 10.0 ** math.ceil(math.log10(histogram.high[-1])) if histogram.low[0] >= 0 else 0.0
        on_edge = wider and (threshold / wider * GRID).is_integer()
        message = (
            f"the scores between {low:g} and {high:g} are counted together, and the threshold "
            f"{threshold:g} lies among them; give {low:g} or {high:g}"
            f"{f', or the score range 0 to {wider:g} (score_range, --score-range)' * bool(on_edge)}"
        )
        raise SpecError(Problem("threshold", message))


_FAR = np.finfo(float).max
_BY_SEVERITY = (
    Outcome.NONE, Outcome.PASS, Outcome.NOT_EVALUATED, Outcome.INCONCLUSIVE, Outcome.FAIL,
)  # fmt: skip
_SEVERITY = {outcome: place for place, outcome in enumerate(_BY_SEVERITY)}


@dataclass(frozen=True, slots=True, eq=False)
class Disparities:
    """The metric of a goal and its limits, of every group (rows) and threshold (columns).

    ``compared`` states which groups are compared there: not the reference with itself. ``sizes``
    are the rows of the groups. ``why`` holds the reasons why data are insufficient, as in an audit;
    None where they suffice. ``excluded`` are groups that no choice is made for. ``whatever`` is how
    far the limits go whatever the rows are that lack a group or an outcome, ``whatever_groups``
    those that lack a group alone, which can also take back that a goal is missed.
    """

    goal: Rule
    value: Array
    low: Array
    high: Array
    compared: Mask
    sizes: Array
    why: NDArray[np.object_]
    excluded: Mask
    whatever: Limits
    whatever_groups: Limits

    @property
    def alone(self) -> Disparities:
        """Return what the rows alone come to that have a group and both outcomes."""
        ends = self.low, self.high
        return replace(self, whatever=ends, whatever_groups=ends)

    @property
    def insufficient(self) -> Mask:
        """Return where the data of a comparison are insufficient."""
        return _is_stated(self.why)

    @property
    def meet(self) -> Mask:
        """Return where every group meets the goal by its value."""
        return self._inside(self.compared) & self.compared.any(axis=0)

    @property
    def may_meet(self) -> Mask:
        """Return where every group that is not excluded does, and the data of one suffice."""
        judged = self._chosen_for & ~self.insufficient
        return self._inside(self._chosen_for) & judged.any(axis=0)

    def _inside(self, groups: Mask) -> Mask:
        with np.errstate(invalid="ignore"):
            inside = (self.value >= self.goal.low) & (self.value <= self.goal.high)
        return np.asarray((inside | ~groups).all(axis=0))

    @property
    def outcomes(self) -> list[Outcome]:
        """Return what the intervals of all groups come to at every threshold."""
        worst = self._severity.max(axis=0)
        return [_BY_SEVERITY[each] if each else Outcome.NOT_EVALUATED for each in worst.tolist()]

    @property
    def passing(self) -> Mask:
        """Return where the whole interval of every group that is not excluded meets the goal."""
        severity = np.where(self._chosen_for, self._severity, _SEVERITY[Outcome.NONE])
        return np.asarray(severity.max(axis=0) == _SEVERITY[Outcome.PASS])

    @property
    def _chosen_for(self) -> Mask:
        return np.asarray(self.compared & ~self.excluded[:, None])

    @property
    def deciding(self) -> Index:
        """Return the group with the least outcome; of several, the furthest from the goal.

        Of these the one with most rows is taken: names decide nothing.
        """
        severity = self._severity
        with np.errstate(invalid="ignore"):
            beyond = np.maximum(self.goal.low - self.value, self.value - self.goal.high)
        known = np.nan_to_num(beyond, nan=-_FAR, posinf=_FAR, neginf=-_FAR)
        least = np.where(severity == severity.max(axis=0), known, -np.inf)
        furthest = least >= least.max(axis=0) - _ROUNDING
        return np.asarray(np.argmax(np.where(furthest, self.sizes[:, None], -1.0), axis=0))

    @property
    def _severity(self) -> Index:
        with np.errstate(invalid="ignore"):
            fails, passes = np.ones((2, *self.low.shape), dtype=bool)
            for low, high in ((self.low, self.high), self.whatever_groups):
                fails = fails & ((high < self.goal.low) | (low > self.goal.high))
            for low, high in ((self.low, self.high), self.whatever_groups, self.whatever):
                passes = passes & (low >= self.goal.low) & (high <= self.goal.high)
        severity = np.select(
            [~self.compared, self.insufficient, fails, passes],
            [
                _SEVERITY[Outcome.NONE],
                _SEVERITY[INSUFFICIENT[self.goal.insufficient]],
                _SEVERITY[Outcome.FAIL],
                _SEVERITY[Outcome.PASS],
            ],
            _SEVERITY[Outcome.INCONCLUSIVE],
        )
        return np.asarray(severity)


def _is_stated(why: NDArray[np.object_]) -> Mask:
    return np.array([each is not None for each in why.flat], dtype=bool).reshape(why.shape)


def metric_of(goal: Rule) -> Contrast | Combined:
    """Return the metric of a goal."""
    metric = goal.definition
    if is_of_decisions(metric):
        return metric
    message = (
        "must be a difference or a ratio of a rate of decisions, such as 'selection_rate.ratio "
        ">= 0.8'; of equalized odds it is the larger difference in true and false positive rate "
        "of every group, 'worst_odds <= 0.1'"
    )
    raise SpecError(Problem("rules[0]", message))


def parts(metric: Contrast | Combined) -> tuple[Contrast, ...]:
    """Return the contrasts that the metric of a goal is made of."""
    return (metric,) if isinstance(metric, Contrast) else metric.of


def disparity(
    metric: Contrast | Combined, group: Array, reference: Array, z: Array, level: float
) -> tuple[Array, Array, Array, NDArray[np.object_]]:
    """Return the metric of the goal, its limits and why data are insufficient, from both sides.

    The larger of several differences is at most as large as the largest upper limit of any of
    them, whichever it is; its lower limit is that of all of them simultaneously.
    """
    if isinstance(metric, Contrast):
        return _contrast(metric, group, reference, z)
    stricter = z + critical(1 - (1 - level) / len(metric.of)) - critical(level)
    alone = [_contrast(part, group, reference, z) for part in metric.of]
    together = [_contrast(part, group, reference, stricter) for part in metric.of]
    why = alone[0][-1]
    for *_, of_part in alone[1:]:
        why = np.where(_is_stated(why), why, of_part)
    return (
        np.max([np.abs(value) for value, *_ in alone], axis=0),
        np.max([fold(low, high)[0] for _, low, high, _ in together], axis=0),
        np.max([fold(low, high)[1] for _, low, high, _ in alone], axis=0),
        why,
    )


def _contrast(
    metric: Contrast, group: Array, reference: Array, z: Array
) -> tuple[Array, Array, Array, NDArray[np.object_]]:
    sides = [_interval_of(metric.of, cells) for cells in (group, reference)]
    first, second = sides if metric.order == "group - reference" else sides[::-1]
    made = mover_difference if metric.by == "difference" else mover_ratio
    low, high = made(
        first.estimate, *first.at(np.asarray(z)), second.estimate, *second.at(np.asarray(z))
    )
    value = contrasted(metric, sides[0].estimate, sides[1].estimate)
    return value, low, high, np.array(insufficient_sides(*sides), dtype=object)


@dataclass(frozen=True, slots=True, eq=False)
class Half:
    """A random half of the rows; every array has the measures first.

    The measures are the weights, their squares and the cases, all the same without weights.

    Attributes
    ----------
    accepted : array of shape (3, groups + 1, labels, cuts): accepted at each threshold.
    total : array of shape (3, groups + 1, labels).
    """

    accepted: Array
    total: Array

    @property
    def cells(self) -> Array:
        """Return TP, FP, FN and TN: (3, groups + 1, cuts, 4)."""
        rejected = self.total[..., None] - self.accepted
        positive, negative = ([of[:, :, i] for of in (self.accepted, rejected)] for i in range(2))
        return np.stack([positive[0], negative[0], positive[1], negative[1]], axis=-1)

    def cells_at(self, cuts: Index) -> Array:
        """Return the cells with some thresholds for every group: (3, groups + 1, n, 4).

        ``cuts`` is of shape (groups + 1, n).
        """
        return np.take_along_axis(self.cells, cuts[None, :, :, None], axis=2)

    def decided(self, today: int, cuts: Index) -> Array:
        """Return the rows by label and both decisions: (3, groups + 1, n, 3, 2, 2)."""
        old = self.accepted[..., [today]]
        new = np.take_along_axis(self.accepted, cuts[None, :, None], axis=-1)
        both = np.minimum(old, new)  # decisions of one score are nested
        neither = self.total[..., None] - np.maximum(old, new)
        table = np.moveaxis(np.stack([both, old - both, new - both, neither], axis=-1), 2, 3)
        missing = np.zeros((*table.shape[:3], 1, 4))
        return np.concatenate([table, missing], axis=3).reshape(*table.shape[:3], 3, 2, 2)


def by_label(counts: Array, positive: Mask) -> Array:
    """Return counts by group, label (positive, negative) and bin; rows without a label are left."""
    known = counts[:, :-1]
    return np.stack([known[:, of].sum(axis=1) for of in (positive, ~positive)], axis=1)


def with_others_of(counts: Array) -> Array:
    """Append all rows, and all others of every group, to counts with the measures first."""
    return np.stack([with_others(each) for each in counts])


def _margins(cells: Array) -> Array:
    """Return weights by label and decision, a missing label last: (n, 3, 2)."""
    tp, fp, fn, tn = np.moveaxis(cells, -1, 0)
    zero = np.zeros_like(tp)
    rows = [np.stack([tp, fn], -1), np.stack([fp, tn], -1), np.stack([zero, zero], -1)]
    return np.stack(rows, axis=1)


def _interval_of(statistic: Statistic, cells: Array) -> StatisticInterval:
    return _interval_of_margins(statistic, np.stack([_margins(cell) for cell in cells]))


def _interval_of_margins(statistic: Statistic, margins: Array) -> StatisticInterval:
    """Return the interval of a statistic of weights, their squares and cases: (3, n, 3, 2)."""
    weights, squares, cases = (confusion(margin, classes=False) for margin in margins)
    weighted = bool((margins[0] != margins[2]).any())
    return statistic_interval(statistic, Evidence(weights, cases, squares if weighted else None))


def change_of(statistic: Statistic, tables: Array) -> StatisticChange:
    """Return the change of a statistic of weights, their squares and cases: (3, n, 3, 2, 2)."""
    old, new = (_interval_of_margins(statistic, tables.sum(axis=axis)) for axis in (-1, -2))
    return statistic_change(statistic, PairedTable(*tables), old, new)
