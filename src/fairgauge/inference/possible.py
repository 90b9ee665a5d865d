"""How far a number could move, whatever the rows hold that do not state what it needs.

The one engine of worst cases (Manski): every missing outcome may be favourable or not, and every
row without a group may be of any group that the values which it has allow. Nothing is assumed of
why a value is missing. A rule must not pass because the rows that would break it are absent; a fail
stays one, because to blank predictions must not take it back.

It is asked of a rate (`rate_cases`) and of a metric (`metric_cases`) over all rows, of a contrast
that is shown (`could_undo`), of the change between two models (`PossiblePairs`), and of shares at
hand (`contrast_range`): each returns the least and the greatest value, and how much wider an
interval is there (`worst_case_limits`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Literal, NamedTuple

import numpy as np

from fairgauge.catalogue.across import Joint, Spread, contrast_of
from fairgauge.catalogue.catalogue import rate as rate_of
from fairgauge.catalogue.cells import ALL, Array, Cells, ConfusionCounts
from fairgauge.catalogue.comparisons import Combined, Contrast, Metric
from fairgauge.catalogue.directions import favours_the_least, is_ratio
from fairgauge.catalogue.distributions import OverallStandardisedDifference, OverallStandardisedMean
from fairgauge.catalogue.lookup import closed_form
from fairgauge.catalogue.statistics import Blend, Quotient, Rate, Statistic, share_of
from fairgauge.enums import Profile, WhyInconclusive
from fairgauge.inference.missing_values import (
    MANY_MISSING,
    differs_without_group,
    lacks_more,
    most_unknown,
    sides_and_unknown,
)
from fairgauge.question.specification import Spec
from fairgauge.resolve.group_counts import GroupCounts, ungrouped_by_kind, ungrouped_rows
from fairgauge.resolve.outcomes import OutcomeMasks
from fairgauge.resolve.references import (
    CountsBySide,
    Measure,
    Rivals,
    add_others,
    side_of_all,
    sides_of_unknown,
)
from fairgauge.results.estimates import ComparisonKey, Estimate
from fairgauge.results.scopes import OVERALL
from fairgauge.start.records import dataclass, replace
from fairgauge.stats.arrays import Index, Limits, Mask, quiet, quotient

Shares = tuple[Array, Array]
"""The rows that a rate counts, and those among which it counts them."""

_ACCURACY = rate_of("accuracy")
_SELECTION = contrast_of(rate_of("selection_rate"), "difference")
# the state of an outcome that is neither positive (0) nor negative (1)
_MISSING = 2
_HALF_A_ROW = 0.5  # in every cell, so that no variance is 0


@dataclass(frozen=True, slots=True)
class WorstCase:
    """The least and the greatest value of a rate or comparison, whatever some rows do not state.

    ``outcomes``: whether rows lack an outcome, which only takes back a pass, and not a group.
    ``groupless``: how many rows beside these have their outcomes, but no group.
    ``at_most``: whether there may be fewer such rows, since counts are protected.
    ``wider``: of each end, how much further the limit of an interval is from the value there.
    ``attained``: whether some table has it; what bounds all tables only takes back a pass.
    ``undecided``: the outcomes that count as not known among these, as they may be no decision.
    """

    low: float
    high: float
    rows: int
    outcomes: bool = False
    groupless: int = 0
    at_most: bool = False
    wider: tuple[float, float] = (1.0, 1.0)
    attained: bool = True
    undecided: tuple[str, ...] = ()

    def facts(self) -> dict[str, int | bool | tuple[str, ...] | None]:
        """Return how many rows lack what, as a reason states it."""
        more = {name: getattr(self, name) or None for name in ("groupless", "at_most", "undecided")}
        return {"rows": self.rows, **more}


Cases = dict[ComparisonKey, tuple[WorstCase, ...]]
"""The worst cases of rates or comparisons: of rows without a group, and without an outcome."""


def rate_cases(
    counted: GroupCounts,
    outcome: OutcomeMasks,
    rate: Statistic,
    profile: Profile,
    per_class: Sequence[OutcomeMasks] = (),
) -> Cases:
    """Return the least and the greatest rate of every group, whatever rows do not state."""
    found: Cases = {}
    for cases in _possible_shares(counted, outcome, rate, profile, per_class):
        every = np.arange(len(counted.groups))
        (low, high), (now, *ends) = cases.of(every), cases.variances(every)
        wider = relative_standard_error(np.array(ends), now)
        for i, group in enumerate(counted.groups):
            key = (
                rate.name,
                counted.feature,
                group,
                OVERALL,
                outcome.class_scope,
                outcome.threshold_of(rate),
            )
            case = cases.case(low[i], high[i], wider[:, i], i)
            if case.rows:
                found[key] = (*found.get(key, ()), case)
    return found


def metric_cases(
    counted: GroupCounts,
    outcome: OutcomeMasks,
    metric: Metric,
    compared: tuple[Index, Index] | None,
    profile: Profile,
    rivals: Rivals | None = None,
    per_class: Sequence[OutcomeMasks] = (),
) -> Cases:
    """Return how far a metric could move, whatever rows without a group or an outcome are.

    It is of contrasts of shares and odds, of the SMD (rows without a group alone), and of gaps and
    extremes of shares; of rows without a group alone, of what else `_PossibleNumbers` bounds. Rows
    that lack a group and an outcome may be on either side, and the shares of three groups or more
    go as far as they can each by itself, so that the ends are at least as far apart as any table
    puts them. Of a contrast of shares and rows without a group alone, both ends are attained: the
    same assignment takes one side as low and the other as high as it can be.

    ``compared``: the sides of a contrast, numbers as `CountsBySide` has them.
    ``rivals``: the groups that could be the reference; None where the data do not choose it.
    """
    if isinstance(metric, OverallStandardisedMean):
        return {}
    if isinstance(metric, (Combined, Joint)):
        asked = counted, outcome
        parts = [metric_cases(*asked, each, compared, profile, rivals) for each in metric.of]
        best = rivals is not None and rivals.best  # by another rate than that of the parts
        return {} if per_class or best else _join_cases(metric, parts)
    smd = isinstance(metric, OverallStandardisedDifference)
    contrast = _SELECTION if smd else metric
    if not isinstance(contrast, (Contrast, Spread)):
        return {}
    found: Cases = {}
    threshold = outcome.threshold_of(metric)
    of = share_of(contrast.of) if isinstance(contrast, Contrast) else contrast.of
    for cases in _possible_shares(counted, outcome, of or contrast.of, profile, per_class):
        names: Sequence[str | None] = [None]
        ends: Limits | None = None
        wider = np.ones((2, 1))
        if isinstance(contrast, Spread):
            ends, wider = cases.spread(contrast), cases.wider_spread(contrast)
        elif compared is not None and not (smd and cases.outcomes):
            names = [counted.groups[at] for at in compared[0].tolist()]
            ends = contrast_range(contrast, *map(cases.of, compared))
            sides = np.array([compared, compared])
            if rivals is not None and not smd:
                ends, sides = _range_over_rivals(contrast, cases, compared, rivals, ends)
            wider = cases.wider(contrast, compared, sides)
            ends = cases.standardised(*ends) if smd else ends
        for i, (low, high) in enumerate(zip(*ends, strict=True) if ends else ()):
            key = (metric.name, counted.feature, names[i], OVERALL, outcome.class_scope, threshold)
            found[key] = (*found.get(key, ()), cases.case(low, high, wider[:, i]))
    return found


def _join_cases(metric: Combined | Joint, parts: Sequence[Cases]) -> Cases:
    # each part goes as far as it can by itself; of contrasts their sizes are joined
    join = np.mean if metric.how == "mean" else np.min if metric.neutral == 1 else np.max
    found: Cases = {}
    for key in parts[0]:
        each = [part[of.name, *key[1:]] for of, part in zip(metric.of, parts, strict=True)]
        found[metric.name, *key[1:]] = tuple(
            replace(
                cases[0],
                low=float(join([max(0.0, case.low, -case.high) for case in cases])),
                high=float(join([max(case.high, -case.low) for case in cases])),
                wider=tuple(np.max([case.wider for case in cases], axis=0).tolist()),
                attained=False,
            )
            for cases in zip(*each, strict=True)
        )
    return found


def _range_over_rivals(
    metric: Contrast,
    cases: _PossibleShares,
    compared: tuple[Index, Index],
    rivals: Rivals,
    ends: Limits,
) -> tuple[Limits, Index]:
    # And of which two sides each end is, a group and its reference: (2, 2, n). Who is compared may
    # itself be the reference: that of now then has the verdict. So it has beside a group that is
    # too small for a verdict of its own, and could be large enough.
    every = np.arange(len(rivals.large))
    needed = rivals.needed[cases.outcomes]
    own, possible = (np.array(cases.of(every, more)) for more in (0.0, needed))
    least = favours_the_least(metric.of, rivals.favourable)
    worse = int((metric.order == "group - reference") is least)
    reached, sides = np.array(ends), np.array([compared, compared])
    for i, (group, reference) in enumerate(zip(*compared, strict=True)):
        others = np.flatnonzero((needed <= cases.apart[every]) & (every != reference))
        beside = others[(others == group) | ~rivals.large[others]]
        if rivals.best:
            low, high = possible[:, beside]
            theirs = own[:, reference]
            beside = beside[low < theirs[1] if least else high > theirs[0]]
        others = others[others != group]
        first = np.repeat([group, reference], [len(others), len(beside)])
        second = np.concatenate([others, beside])
        extremes = contrast_range(metric, tuple(own[:, first]), tuple(possible[:, second]))
        for end in (worse,) if rivals.best else (0, 1):
            values = np.append(extremes[end], reached[end, i])
            most = int(np.nanargmax(values) if end else np.nanargmin(values))
            reached[end, i] = values[most]
            if most < len(second):
                sides[end, :, i] = first[most], second[most]
    return (reached[0], reached[1]), sides


def _possible_shares(
    counted: GroupCounts,
    outcome: OutcomeMasks,
    of: Statistic | None,
    profile: Profile,
    per_class: Sequence[OutcomeMasks],
) -> Iterator[_PossibleShares]:
    if per_class:
        if of != _ACCURACY:  # over all classes no other rate is a share of rows
            return
        counted, outcome = _agreement_counts(counted, per_class), _AGREED
    simple = not (counted.protected or counted.weighted or counted.clusters or counted.design)
    if isinstance(of, Rate) and not counted.protected:
        for outcomes in (False, True):
            cases = _PossibleShares(counted, outcome, of, profile, outcomes=outcomes)
            if cases.rows_of():
                yield cases
    # of weighted rows, and of clusters, the sums that bound a variance are not counted
    elif simple and of is not None and ungrouped_rows(counted, "n"):
        numbers = _PossibleNumbers(counted, outcome, of, profile)
        if numbers.rows_of():
            yield numbers


_AGREED = OutcomeMasks(np.array([True, False]), np.array([True, False]))


def _agreement_counts(counted: GroupCounts, per_class: Sequence[OutcomeMasks]) -> GroupCounts:
    # every known label is positive, and a prediction is where it is the label
    agree = np.logical_or.reduce([np.outer(each.labels, each.predictions) for each in per_class])

    def folded(sums: Array) -> Array:
        known = sums[..., :-1, :-1]
        every = np.zeros((*sums.shape[:-2], _MISSING + 1, _MISSING + 1))
        every[..., 0, 0] = known[..., agree].sum(axis=-1)
        every[..., 0, 1] = known[..., ~agree].sum(axis=-1)
        every[..., 0, _MISSING] = sums[..., :-1, -1].sum(axis=-1)
        every[..., _MISSING, 0] = sums[..., -1, :-1].sum(axis=-1)
        every[..., _MISSING, _MISSING] = sums[..., -1, -1]
        return every

    counts, unknown = (
        {name: folded(sums) for name, sums in each.items()}
        for each in (counted.counts, counted.unknown)
    )
    return replace(counted, counts=counts, unknown=unknown, histogram=None)


class _PossibleShares:
    """The ends of a share of rows over all that rows of unknown group or outcome may be.

    Without ``outcomes``, rows that have what the share needs, and no group, may be of any; with
    them, missing outcomes may have any value, too. ``apart`` is how many rows without a group are,
    or may be, of every side.
    """

    attained = True
    _undecided: tuple[str, ...] = ()
    # how rows by label and prediction count as those that state what is needed, or may
    _stating: Sequence[bool] = ()

    def __init__(
        self,
        counted: GroupCounts,
        outcome: OutcomeMasks,
        rate: Rate,
        profile: Profile,
        *,
        outcomes: bool,
    ) -> None:
        self.outcomes, self._rate, self._groups = outcomes, rate, len(counted.groups)
        self._whole = side_of_all(self._groups)
        self._undecided = tuple(name for need, name in outcome.undecided if need in rate.needs)
        measure: Measure = "w" if counted.weighted else "n"
        self._known, unknown = sides_and_unknown(counted, outcome, profile, measure)
        kinds, (may, are) = np.arange(len(counted.crossing.unknown)), sides_of_unknown(counted)
        _, self._stating = share_weights(ALL, ALL, rate.needs, at_least=True, outcomes=outcomes)
        self.apart = self._lacking = ungrouped_by_kind(counted, "n") @ (may | are)
        self._groupless = np.zeros_like(self.apart)
        if outcomes:
            known, apart = sides_and_unknown(counted, outcome, profile, "n")
            own, states = (
                self._states(known, np.arange(len(self.apart))),
                self._states(apart, kinds),
            )
            self.apart = states.sum(axis=1) @ (may | are)
            _, complete = share_weights(ALL, ALL, rate.needs, at_least=True, outcomes=False)
            lacking = np.logical_not(complete)
            without = states @ lacking @ (may | are)
            self._lacking, self._groupless = own @ lacking + without, self.apart - without
        states = self._states(unknown, kinds)
        self._may, self._are = (1.0 * of.T @ states for of in (may, are))
        self._weighted = counted.weighted

    def _states(self, sides: CountsBySide, which: Index) -> Array:
        return sides.states(which, open_missing=self.outcomes).reshape(-1, (_MISSING + 1) ** 2)

    def _shares(self, states: Array, *, at_least: bool, outcomes: bool) -> Shares:
        rate = self._rate
        of = share_weights(rate.of, rate.among, rate.needs, at_least=at_least, outcomes=outcomes)
        return states @ of[0], states @ of[1]

    def rows_of(self, side: int | None = None) -> int:
        """Return how many rows of a side, or of all, do not state what it needs."""
        return round(float(self._lacking[self._whole if side is None else side]))

    def case(self, low: float, high: float, wider: Array, side: int | None = None) -> WorstCase:
        """Return the ends of a comparison, or of the rate of a side."""
        groupless = round(float(self._groupless[self._whole if side is None else side]))
        return WorstCase(
            float(low), float(high), self.rows_of(side), self.outcomes, groupless=groupless,
            wider=(float(wider[0]), float(wider[1])), attained=self.attained,
            undecided=self._undecided * self.outcomes,
        )  # fmt: skip

    def of(self, which: Index, needed: Array | float = 0.0) -> Limits:
        """Return the least and the greatest rate of some sides, with rows of unknown group.

        ``needed`` is how many of these rows they must have. What such rows weigh is not known.
        """
        placed = (self._may[which] + self._are[which]) @ self._stating  # others are in no rate
        must = 0.0 if self._weighted else np.maximum(needed - (self.apart[which] - placed), 0.0)
        low, high = (quotient(*end) for end in self._ends(which, must))
        return np.nan_to_num(low, nan=0.0), np.nan_to_num(high, nan=1.0)

    def _ends(self, which: Index, needed: Array | float = 0.0) -> list[Shares]:
        # ``needed`` of the rows that may be of the side are, if there are as many
        may, ends = self._may[which], []
        for at_least in (True, False):
            (x, n), certain, more = (
                self._shares(each, at_least=at_least, outcomes=self.outcomes)
                for each in (self._states(self._known, which), self._are[which], may)
            )
            known = x + certain[0], n + certain[1]
            ends.append(end_of_share(known, more, may @ self._stating, needed, at_least=at_least))
        return ends

    def variances(self, which: Index, metric: Contrast | Spread | None = None) -> Array:
        """Return the variances of shares as they are, at the least and at the greatest: (3, n)."""
        # they are of what a metric compares, by the delta method
        states = self._states(self._known, which)
        counted = self._shares(states, at_least=True, outcomes=False)
        x, n = np.moveaxis(np.array([counted, *self._ends(which)]), 1, 0)
        odds = isinstance(metric, Contrast) and isinstance(metric.of, Quotient)
        return share_variance(x, n, ratio=metric is not None and is_ratio(metric), odds=odds)

    def wider(self, metric: Contrast, compared: tuple[Index, Index], sides: Index) -> Array:
        """Return how much larger standard errors of comparisons are at both ends: (2, n).

        Of the pair that is ``compared``, and of the ``sides`` of each end: (2, 2, n).
        """
        now, ends = sum(self.variances(which, metric)[0] for which in compared), []
        for end, pair in enumerate(sides):
            at = end if metric.order == "group - reference" else 1 - end
            ours, theirs = (self.variances(which, metric) for which in pair)
            ends.append(ours[1 + at] + theirs[2 - at])
        return relative_standard_error(np.array(ends), np.asarray(now))

    def wider_spread(self, metric: Spread) -> Array:
        """Return a number above which no ratio of standard errors is at either end: (2, 1)."""
        now, *ends = self.variances(np.arange(self._groups), metric)
        return np.full((2, 1), relative_standard_error(np.array(ends), now).max(initial=1.0))

    def standardised(self, low: Array, high: Array) -> Limits:
        overall = self.of(np.array([self._whole]))[0]
        deviation = np.sqrt(overall * (1 - overall))
        return quotient(100 * low, deviation), quotient(100 * high, deviation)

    def spread(self, metric: Spread) -> Limits | None:
        """Return the ends of a gap or an extreme over groups that have rows it may count."""
        held = np.flatnonzero(self._held())
        if len(held) < 2:
            return None
        ends = _spread_range(metric, *self.of(held))
        return None if ends is None else (np.array(ends[:1]), np.array(ends[1:]))

    def _held(self) -> Mask:
        states = self._states(self._known, np.arange(self._groups))
        return self._shares(states, at_least=False, outcomes=self.outcomes)[1] > 0


class _PossibleNumbers(_PossibleShares):
    """The ends of another number of sides over all groups that rows without one may be of.

    They are no nearer than those of any table. Where none are known, no row is stated to lack a
    group, as where many lack an outcome, too.
    """

    attained = False

    def __init__(
        self, counted: GroupCounts, outcome: OutcomeMasks, of: Statistic, profile: Profile
    ) -> None:
        self.outcomes, self._groups = False, len(counted.groups)
        self._whole = side_of_all(self._groups)
        without, (may, are) = ungrouped_by_kind(counted, "n"), sides_of_unknown(counted)
        self.apart, self._groupless = without @ (may | are), np.zeros(may.shape[1])
        every = np.arange(len(self.apart))
        known = CountsBySide(counted, outcome, profile).pick(every, np.zeros_like(every))
        more = most_unknown(counted, outcome, profile, every, "n")
        self._value, ends = of.value(known, profile), _ends_of_number(of, known, more)
        of_cells = isinstance(of, (Quotient, Blend))
        complete = (ALL.count(more.counts(of.needs)) if of_cells else of.size(more)).max()
        many = without.sum() - complete >= max(1.0, MANY_MISSING * counted.cases.min(initial=0.0))
        self._lacking = self.apart * (ends is not None and not many)
        self._ends_of_sides = np.empty((4, 0)) if ends is None else ends
        # of numbers that do not vary yet, nothing bounds how much wider an interval would be
        constant = ~(self._ends_of_sides[2] > 0)
        self._ends_of_sides[:2, constant] = [[-np.inf], [np.inf]]

    def of(self, which: Index, needed: Array | float = 0.0) -> Limits:
        del needed  # the more rows must be of a side, the nearer its ends are
        low, high = self._ends_of_sides[:2, which]
        return low, high

    def variances(self, which: Index, metric: Contrast | Spread | None = None) -> Array:
        low, _, now, most = self._ends_of_sides[:, which]
        if metric is not None and is_ratio(metric):
            now, most = quotient(now, self._value[which] ** 2), quotient(most, low**2)
        return np.array([now, most, most])

    def _held(self) -> Mask:
        return ~np.isnan(self._value[: self._groups])


def _ends_of_number(of: Statistic, known: ConfusionCounts, more: ConfusionCounts) -> Array | None:
    # as `ends_of_number`. A quotient of sums is monotone in each confusion cell, whatever the
    # others are, and so is a mean of rates of different rows: their ends are at corners.
    if not isinstance(of, (Quotient, Blend)):
        from fairgauge.inference._numeric_statistics import ends_of_number

        return ends_of_number(of, known, more)
    if isinstance(of, Blend) and closed_form(of) is None:  # of rates that share rows
        return None
    held, added = known.counts(of.needs), more.counts(of.needs)
    tables = [held + added * corner for corner in product((0.0, 1.0), repeat=len(Cells()))]
    sides = (ConfusionCounts(size=known.size, cells={of.needs: cells}) for cells in tables)
    values = [of.value(side, Profile.DOCUMENTED) for side in sides]
    variances = [_variance_of_cells(of, cells + _HALF_A_ROW) for cells in tables]
    ends = np.fmin.reduce(values), np.fmax.reduce(values)
    return np.array([*ends, variances[0], np.max(variances, axis=0)])


def _variance_of_cells(of: Statistic, cells: Array) -> Array:
    if isinstance(of, Blend):
        variances = [_variance_of_cells(rate, cells) for rate in of.of]
        return np.asarray(np.sum(variances, axis=0) / len(variances) ** 2)
    over, under = of.sums
    rows = under.count(cells)
    slope = np.array(over) - quotient(over.count(cells), rows)[:, None] * np.array(under)
    return quotient((slope**2 * cells).sum(axis=-1), rows**2)


def _spread_range(metric: Spread, low: Array, high: Array) -> tuple[float, float] | None:
    if metric.by == "minimum":
        return float(low.min()), float(high.min())
    if metric.by == "maximum":
        return float(low.max()), float(high.max())
    apart = ~np.eye(len(low), dtype=bool)
    if metric.by == "largest_gap":
        least = max(0.0, float(low.max() - high.min()))
        return least, float((high[:, None] - low[None, :])[apart].max())
    if metric.by == "smallest_ratio":
        low, high = np.maximum(low, 0.0), np.maximum(high, 0.0)  # it is of numbers above 0
        ratios = quotient(low[:, None], high[None, :])[apart]
        # anything where all may be 0
        least = np.nan_to_num(np.fmin.reduce(ratios), nan=0.0)
        return float(least), float(np.fmin(1.0, quotient(high.min(), low.max())))
    return None


# ---- arithmetic that pages have, too


@cache
def share_weights(
    of: Cells, among: Cells, needs: frozenset[str], *, at_least: bool, outcomes: bool
) -> tuple[list[bool], list[bool]]:
    """Return which rows a share counts, and among which, by label and prediction.

    Each is positive, negative or missing. With ``outcomes``, what is missing is as it makes the
    share the least or the greatest; without, it is in no share.
    """
    # A success lowers no share and a failure raises none: rows that may be neither (0) are neither.
    # Rows among which it counts are 1, and those that it counts 2.
    kinds: list[int] = []
    first = (1, 0, 2) if at_least else (2, 0, 1)
    for label in range(_MISSING + 1):
        for prediction in range(_MISSING + 1):
            unstated = label == _MISSING and "label" in needs
            unstated = unstated or (prediction == _MISSING and "prediction" in needs)
            cells = [2 * p + y for y in _VALUES[label] for p in _VALUES[prediction]]
            possible = [int(among[cell]) * (1 + int(of[cell])) for cell in cells]
            kinds.append(0 if unstated and not outcomes else min(possible, key=first.index))
    return [kind > 1 for kind in kinds], [kind > 0 for kind in kinds]


_VALUES = ((0,), (1,), (0, 1))


def end_of_share(
    known: Shares, more: Shares, placed: Array, needed: Array | float, *, at_least: bool
) -> Shares:
    """Return a share with those of some rows that take it to an end, and those that must be of it.

    ``placed`` is how many these rows are, and ``needed`` how many of them are of the side.
    """
    (x, n), (hits, size) = known, more
    moving = np.where(at_least, size - hits, hits)
    opposed = size - moving
    forced = np.clip(needed - (placed - opposed), 0.0, opposed)
    return x + np.where(at_least, forced, moving), n + forced + moving


@quiet
def share_variance(x: Array, n: Array, *, ratio: bool, odds: bool = False) -> Array:
    """Return the variance of a share or of odds, or of its logarithm where a ratio is of it.

    A share is at least half a row from 0 and 1, where the variance would be none or without end.
    """
    share = np.clip(quotient(x, n), quotient(0.5, n), 1 - quotient(0.5, n))
    slope = np.where(odds, (1 - share) ** -2.0, 1.0)
    slope = np.where(ratio, slope / np.where(odds, share / (1 - share), share), slope)
    return quotient(slope**2 * share * (1 - share), n)


def relative_standard_error(ends: Array, now: Array) -> Array:
    """Return how much larger standard errors are at ends than now; 1 where they are not."""
    larger = quotient(ends, now)
    return np.asarray(np.sqrt(np.where(larger > 1, larger, 1.0)))


def contrast_limits(first: Limits, second: Limits, *, ratio: bool) -> Limits:
    """Return the ends of a contrast from those of both sides."""
    if not ratio:
        return first[0] - second[1], first[1] - second[0]
    low = quotient(np.maximum(first[0], 0.0), np.maximum(second[1], 0.0))
    high = quotient(np.maximum(first[1], 0.0), np.maximum(second[0], 0.0))
    return np.where(np.isnan(low), 0.0, low), np.where(np.isnan(high), np.inf, high)


@quiet
def worst_case_limits(
    interval: Limits,
    worst: Limits,
    value: Array,
    *,
    ratio: bool,
    wider: tuple[Array | float, Array | float] = (1.0, 1.0),
) -> Limits:
    """Return how far intervals go if their values may go to the worst cases.

    ``wider`` is how much further from these the limits are, as standard errors are larger there.
    """
    (low, high), (least, greatest) = interval, worst
    if not ratio:
        return least - wider[0] * (value - low), greatest + wider[1] * (high - value)
    known = (value > 0) & (value < np.inf)
    below = np.where(known & (least > 0), least * (low / value) ** wider[0], np.minimum(low, least))
    above = np.where(known, greatest * (high / value) ** wider[1], np.maximum(high, greatest))
    return below, above


def contrast_range(metric: Contrast, ours: Limits, theirs: Limits) -> Limits:
    """Return the ends of a contrast from those of its group's and of its reference's number.

    Those of odds are of the share that they are of. A ratio of what is not above 0 is unbounded.
    """
    if isinstance(metric.of, Quotient) and metric.of.is_odds:
        ours, theirs = ((_odds(side[0]), _odds(side[1])) for side in (ours, theirs))
    first, second = (ours, theirs) if metric.order == "group - reference" else (theirs, ours)
    return contrast_limits(first, second, ratio=metric.by != "difference")


def uncompared_limits(
    within: Limits, kept: Shares, alone: Shares, *, ratio: bool, of_reference: bool
) -> tuple[Limits, Limits]:
    """Return an interval within strata as it is where rows in strata of one side alone count, too.

    The other side may have any rate there, the least or the greatest. ``kept, alone`` are the rows
    of the side in strata of both and of it alone, at whose composition the interval is;
    ``of_reference``: of the reference.
    """
    (x, n), (y, m) = kept, alone
    own, every, sign = quotient(x, n), quotient(x + y, n + m), 1 if of_reference else -1

    def at(rate: float) -> Limits:
        other = [own * end**sign if ratio else own + sign * end for end in within]
        whole = [quotient(n * each + m * rate, n + m) for each in other]
        low, high = (quotient(e, every) ** sign if ratio else sign * (e - every) for e in whole)
        return low, high

    rates = (1.0, 0.0)[::-sign]
    return at(rates[0]), at(rates[1])


def mean_limits(mean: Array | float, lacking: Array | float, ends: tuple[float, float]) -> Limits:
    """Return the least and the greatest mean, where a share is missing and may be as the ends.

    >>> [round(float(end), 2) for end in mean_limits(0.5, 0.1, (0.0, 1.0))]
    [0.45, 0.55]
    """
    low, high = (np.asarray(mean + lacking * (end - mean)) for end in ends)
    return low, high


def _odds(share: Array) -> Array:
    return quotient(share, 1 - share)


# ---- what is shown ------------------------------------------------------------------------------


def could_undo(
    counted: GroupCounts,
    outcome: OutcomeMasks,
    estimate: Estimate,
    sides: tuple[int, int],
    spec: Spec,
    shown: Sequence[Sequence[float]],
    columns: Iterable[Index] = (),
) -> WhyInconclusive | None:
    """Return what is missing that could leave a difference not shown; None where nothing could.

    ``sides``: numbers of a group and its reference, as `CountsBySide` has them.
    ``shown``: the limits of the difference, all of which must stay on their side.
    ``columns``: the level of every stratum in each column that strata cross.
    """
    # It is the outcomes that one side lacks beyond the share that the other lacks, or rows without
    # a group that have other rates than those with one: all may be of one side, and of any outcome.
    # So many rows move a share by no more than their part of its rows, times what is left of it.
    # Were any missing row taken for any outcome and group, few gaps of ordinary data would be
    # decided.
    metric = estimate.definition
    assert isinstance(metric, Contrast)
    more = lacks_more(counted, metric.needs, *sides, spec)
    of_groups = differs_without_group(
        counted, outcome, share_of(metric.of) or metric.of, spec, columns
    )
    if not (more.any() or of_groups):
        return None
    odds = isinstance(metric.of, Quotient)
    shares = np.array([estimate.rate_group or 0.0, estimate.rate_reference or 0.0])
    shares = shares / (1 + shares) if odds else shares
    # all that is missing takes both towards each other
    towards = np.where(shares[::-1] < shares, shares, 1 - shares)
    apart = min((_least_gap(estimate, limits) for limits in shown), default=0.0)
    n = np.array([estimate.n_group or 0.0, estimate.n_reference or 0.0])

    def reached_by(rows: Array | float) -> bool:
        return float((towards * quotient(rows, n + rows)).sum()) >= apart

    if more.any() and reached_by(more):
        return WhyInconclusive.MISSING_OUTCOMES
    if of_groups and reached_by(ungrouped_rows(counted, "n")):
        return WhyInconclusive.MISSING_GROUPS
    return None


def _least_gap(estimate: Estimate, limits: Sequence[float]) -> float:
    # how far apart the shares of both sides are at the nearer limit; 0 of no shares
    metric, other = estimate.definition, estimate.rate_reference
    assert isinstance(metric, Contrast)
    limit = float(min(limits, key=lambda each: abs(each - metric.neutral)))
    if share_of(metric.of) is None or not math.isfinite(limit) or other is None:
        return 0.0
    forward = metric.order == "group - reference"
    if metric.by == "difference":
        first = other + (limit if forward else -limit)
    else:
        first = other * (limit if forward else float(quotient(1.0, limit)))
    if isinstance(metric.of, Quotient):  # of odds
        first, other = first / (1 + first), other / (1 + other)
    return abs(first - other)


# ---- two models on the same rows ----------------------------------------------------------------


class RateLimits(NamedTuple):
    """The ends of a rate under the model in use, and of its change, of every side."""

    old: Limits
    change: Limits

    @quiet
    def in_logarithms(self) -> RateLimits:
        (low, high), (least, most) = self.old, self.change
        down = quotient(least, np.where(least < 0, low, high))
        up = quotient(most, np.where(most > 0, low, high))
        change = np.log1p(np.maximum(down, -1.0)), np.log1p(np.maximum(up, -1.0))
        return RateLimits((np.log(low), np.log(high)), change)


class PossiblePairs:
    """The rows of every side by label and both decisions, each of which may be missing.

    ``groups``: shape (groups + 1, labels + 1, K + 1, K + 1): group holds known values of no group.
    ``without``: likewise of the kinds of rows without a group.
    ``sides``: which sides each kind may be of, of shape (kinds, sides).
    """

    # A row without a label, that a model does not decide, or whose value may be no decision, may
    # have either value. Both sides of a comparison are taken as far as they can go by themselves,
    # so the ends may be wider than any one table reaches.

    def __init__(self, groups: Array, without: Array, sides: Mask, outcome: OutcomeMasks) -> None:
        labels, decisions = (
            np.eye(_MISSING + 1)[
                np.append(np.where(positive, 0, 1 if open_ is None else 1 + open_), _MISSING)
            ]
            for positive, open_ in (
                (outcome.labels, outcome.open_labels),
                (outcome.predictions, outcome.open_predictions),
            )
        )
        known, apart = (
            np.einsum("glpq,la,pb,qc->gabc", cells, labels, decisions, decisions, optimize=True)
            for cells in (groups, without)
        )
        self._known, self._apart = add_others(known), np.tensordot(1.0 * sides.T, apart, 1)

    def limits(self, rate: Rate, which: Index, *, missing: bool = True) -> RateLimits:
        """Return the ends of a rate and of its change; those of complete rows alone are equal."""
        tp, fp, fn, tn = rate.among
        old = self._ends(rate, which, "old", missing=missing)
        if tp == fn and fp == tn:  # it counts among the same rows whatever is decided
            return RateLimits(old, self._ends(rate, which, "change", missing=missing))
        new = self._ends(rate, which, "new", missing=missing)
        return RateLimits(old, (new[0] - old[1], new[1] - old[0]))

    @quiet
    def _ends(
        self, rate: Rate, which: Index, of: Literal["old", "new", "change"], *, missing: bool
    ) -> Limits:
        # a row that may be one of several takes the value that moves the mean furthest, or is not
        # among those that count
        counted, either = [*zip(rate.among, rate.of, strict=True)], {_MISSING: (0, 1)}
        total = n = np.zeros(len(which))
        lowest, highest = ({value: np.zeros_like(n) for value in _ADDED} for _ in range(2))
        for cell in product(range(_MISSING + 1), repeat=3):
            options = {
                (counted[2 * before + y], counted[2 * after + y])
                for y, before, after in product(*(either.get(at, (at,)) for at in cell))
            }
            values = {
                {"old": x_old, "new": x_new, "change": x_new - x_old}[of]
                for (among_old, x_old), (among_new, x_new) in options
                if (among_new if of == "new" else among_old)
            }
            if not values:
                continue
            known, open_ = self._known[(which, *cell)], self._apart[(which, *cell)]
            if len(options) == 1:
                total, n = total + min(values) * known, n + known
            else:
                open_ = known + open_
            if missing:
                lowest[min(values)] = lowest[min(values)] + open_
                highest[-max(values)] = highest[-max(values)] + open_
        return _least_mean(total, n, lowest), -_least_mean(-total, n, highest)


# what a row adds to a rate, or to its change
_ADDED = (-1, 0, 1)


def _least_mean(total: Array, n: Array, more: Mapping[int, Array]) -> Array:
    for value in _ADDED:
        added = np.where((n == 0) | (total > value * n), more[value], 0.0)
        total, n = total + value * added, n + added
    return quotient(total, n)


@quiet
def furthest(group: RateLimits, reference: RateLimits) -> Array:
    """Return the most by which a difference of two sides may get further from 0.

    Its distance is ``|old + change| - |old|``, which is greatest at a corner. Where old is infinite
    (the logarithm of a rate of 0), it tends to the change in the direction of old. It is nan, which
    is any distance, where a rate may have no value, or where both rates may be 0.
    """
    old = group.old[0] - reference.old[1], group.old[1] - reference.old[0]
    change = group.change[0] - reference.change[1], group.change[1] - reference.change[0]
    corners = [
        np.where(np.isinf(x), np.sign(x) * c, np.abs(x + c) - np.abs(x))
        for x, c in product(old, change)
    ]
    return np.asarray(np.max(corners, axis=0))
