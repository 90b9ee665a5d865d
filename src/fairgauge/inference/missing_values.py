"""Rows without an outcome, a group or a stratum: their shares, and what they could change.

Manski's worst cases: every missing outcome may be favourable or not, and every unknown success may
be of the group and every unknown failure of its reference, or the other way round. Nothing is
assumed of why a value is missing. A rule must not pass because the rows that would break it are
absent. A fail stays one, because to blank predictions must not take it back.

What is adjusted for strata is of the rows with a stratum alone. Where their rates are not those of
all rows, a difference may change because it is adjusted, or because rows are missing, and the data
do not show which.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.across import Spread
from fairgauge.catalogue.catalogue import rate as rate_of
from fairgauge.catalogue.cells import Array, ConfusionCounts, Need
from fairgauge.catalogue.comparisons import Contrast, Metric
from fairgauge.catalogue.derived import contrast_of
from fairgauge.catalogue.distributions import OverallStandardisedDifference
from fairgauge.catalogue.statistics import Quotient, Rate, Statistic
from fairgauge.cube.cube import Cube, cases_of_no_weight
from fairgauge.enums import Decide, DiagnosticCode, Profile, Uncounted
from fairgauge.question.specification import Spec
from fairgauge.reasons import FEWEST_EXPECTED, FEWEST_ROWS
from fairgauge.resolve.group_counts import (
    GroupCounts,
    known_outcome,
    without_group,
    without_group_by_kind,
)
from fairgauge.resolve.outcomes import OutcomeMasks
from fairgauge.resolve.references import Rivals, large_groups
from fairgauge.resolve.sides import CountsBySide, Measure, sides_of_unknown
from fairgauge.results.disadvantage import favours_the_least
from fairgauge.results.disparities import LITTLE, is_ratio
from fairgauge.results.estimates import ComparisonKey, WorstCase
from fairgauge.results.scopes import OVERALL, Diagnostic
from fairgauge.stats.arrays import Index, Limits, Mask, quotient
from fairgauge.stats.cluster_robust import largest_design_effect
from fairgauge.stats.significance import chi_square_tail, homogeneity, homogeneity_table, two_sided
from fairgauge.stats.unknown_people import missing_bounds

if TYPE_CHECKING:  # which an audit does not need
    from fairgauge.resolve.searched_features import SearchedRows
    from fairgauge.results.subgroup_search import SearchedFeature

Shares = tuple[Array, Array]
"""The rows that a rate counts, and those among which it counts them."""

_ACCURACY = rate_of("accuracy")
_SELECTION = contrast_of(rate_of("selection_rate"), "difference")
_OF_DECISIONS = ("prediction", "score")
MANY_MISSING = 0.01
"""The share of the rows of a group from which those that lack something are many."""
_MANY = 0.05
_LEVEL = 0.01
_HARDLY_CHANCE = 1e-3
"""Far below usual levels: with many comparisons a chance finding would withhold verdicts."""
_MISSING = 2
"""The state of an outcome that is neither positive (0) nor negative (1)."""


def missing_outcomes(
    counted: GroupCounts, spec: Spec, *, complete: bool = False
) -> Iterator[Diagnostic]:
    """Warn where rows that lack the label or prediction are many, or not alike in all groups.

    ``complete`` is whether all rates, not those alone that need it, are of rows that have it.
    """
    if counted.protected:  # whose rounded counts no test of equal shares is of
        return
    every = np.arange(len(counted.groups))
    shown = np.flatnonzero(large_groups(counted, spec))
    for what, all_missing, _, all_n in _missing(counted, spec, every) if len(shown) else ():
        missing, n = all_missing[shown], all_n[shown]
        shares = quotient(missing, n)
        by_share = np.argsort(-shares, kind="stable")
        most, least = int(by_share[0]), int(by_share[-1])
        if shares[most] < MANY_MISSING:
            continue
        p = float(homogeneity(missing, n)[1])
        if not (missing.sum() >= _MANY * n.sum() or p < _LEVEL):
            continue
        yield Diagnostic.warning(
            DiagnosticCode.MISSING_OUTCOMES,
            counted.feature,
            what=what,
            rows=int(all_missing.sum()),
            total=int(all_n.sum()),
            most=counted.groups[shown[most]],
            most_share=float(shares[most]),
            least=counted.groups[shown[least]],
            least_share=float(shares[least]),
            groups=len(shown),
            **({"p": p} if len(shown) > 1 else {}),
            ruled=bool(spec.rules),
            **({"of_groups": len(every)} if len(shown) < len(every) else {}),
            **({"complete": True} if complete else {}),
            **spec.unit,
        )


def lacks_more(
    counted: GroupCounts, needs: Container[str], group: int, reference: int, spec: Spec
) -> Array:
    """Return which share of each side's rows without an outcome are beyond the other side's share.

    It is 0 where that may be chance. Else the rows with one need not be like all rows, and that
    they do not differ shows nothing.

    Parameters
    ----------
    needs : the columns of outcomes that are compared.
    group, reference : numbers of groups; a reference that is none of them is all others.
    """
    every = np.arange(len(counted.groups))
    others = every == reference if reference < len(every) else every != group
    more = np.zeros(2)
    for what, missing, open_, n in _missing(counted, spec, every):
        if not any(need in needs for need in (what, *_OF_DECISIONS * (what != "label"))):
            continue
        sums = missing + open_, n
        lacks, rows = (np.array([each[group], each[others].sum()]) for each in sums)
        shares = quotient(lacks, rows)
        if np.ptp(shares) >= MANY_MISSING and homogeneity(lacks, rows)[1] < _HARDLY_CHANCE:
            more = np.maximum(more, (shares - shares.min()) / np.maximum(shares, MANY_MISSING))
    return more


def differs_without_group(
    counted: GroupCounts,
    outcome: OutcomeMasks,
    of: Statistic,
    spec: Spec,
    columns: Iterable[Index] = (),
    sides: Sequence[int] = (),
) -> bool:
    """Return whether rows without a group are many, and have other rates than those with one.

    They may have them over all rows, within the strata, or within the levels of one of several
    ``columns``, which state the level of every stratum. With ``sides`` it is whether they have
    higher rates within them than each of these, or lower ones than each.
    """
    if counted.protected or without_group(counted, "n") < MANY_MISSING * counted.every("n"):
        return False
    known, unknown = sides_and_unknown(counted, outcome, spec.profile, "n")
    slots = np.arange(1 + len(counted.strata))
    first = np.zeros_like(slots)
    left = unknown.pick(first + unknown.whole, slots)
    beside = [known.pick(first + side, slots) for side in sides or [known.whole]]
    divided = list({each.tobytes(): each for each in (slots[:-1], *columns)}.values())
    for each in zip(*(_unlike_tables(of, left, kept) for kept in beside), strict=True):
        tables, means = [table for table, _ in each], each[0][1]
        p = [_p_within([table[1:] for table in tables], levels, means) for levels in divided]
        if min(p) < _HARDLY_CHANCE / len(p):
            return True
        if not sides and _p_unlike(tables[0][:1], means=means)[0] < _HARDLY_CHANCE:
            return True
    return False


def _p_within(tables: Sequence[Array], levels: Index, means: bool) -> float:
    """Return the p-value of rows being like others in every level: of all (Fisher), or of one.

    Beside several other rows they are unlike where they are above, or below, each of these.
    """
    p, signs = [], []
    for table in tables:
        sums = np.zeros((1 + levels.max(initial=-1), *table.shape[1:]))
        np.add.at(sums, levels, table)
        if means:
            enough = sums[:, :, 0].min(axis=1) >= FEWEST_ROWS
            signs.append(np.sign(np.diff(quotient(sums[..., 1], sums[..., 0]))))
        else:
            every, rows = sums.sum(axis=1, keepdims=True), sums.sum(axis=2, keepdims=True)
            expected = rows * quotient(every, every.sum(axis=2, keepdims=True))
            enough = np.where(every > 0, expected, np.inf).min(axis=(1, 2)) >= FEWEST_EXPECTED
            signs.append(np.sign(np.diff(quotient(sums[..., 0], sums.sum(axis=2)))))
        p.append(np.where(enough, _p_unlike(sums, means=means), np.nan))
    found = np.where(np.ptp(signs, axis=0)[:, 0] > 0, 1.0, np.max(p, axis=0))
    found = found[~np.isnan(found)]
    if not found.size:
        return 1.0
    with np.errstate(divide="ignore"):
        together = chi_square_tail(-2 * np.log(found).sum(), 2 * found.size)
    return 2 * min(float(together), found.size * float(found.min()))


def unevenly_lacking(
    searched: SearchedRows, features: Sequence[SearchedFeature], spec: Spec
) -> Iterator[Diagnostic]:
    """Warn of features of which rows of one value lack an outcome significantly more often.

    What is alike among the rows with one then need not be alike among all.
    """
    for (what, of), (i, feature) in product(searched.lacking.items(), enumerate(features)):
        missing, rows = of[i][:-1], searched.rows_of[i][:-1]
        held = np.flatnonzero(rows >= FEWEST_ROWS)
        if len(held) < _TWO:
            continue
        shares = missing[held] / rows[held]
        p = float(homogeneity(missing[held], rows[held])[1])
        if np.ptp(shares) < MANY_MISSING or p >= _HARDLY_CHANCE / len(features):
            continue
        most, least = int(np.argmax(shares)), int(np.argmin(shares))
        yield Diagnostic.warning(
            DiagnosticCode.MISSING_OUTCOMES,
            feature.name,
            what=what,
            rows=int(missing.sum()),
            total=int(rows.sum()),
            most=feature.values[held[most]],
            most_share=float(shares[most]),
            least=feature.values[held[least]],
            least_share=float(shares[least]),
            groups=len(held),
            p=p,
            ruled=False,
            **spec.unit,
        )


def lacking(counted: GroupCounts, spec: Spec) -> dict[tuple[str, str], dict[str, int]]:
    """Return how many rows lack each outcome, by feature, of every group of which many do.

    A rule on what has no worst case then does not pass for such a group, or beside one.
    """
    every = np.arange(len(counted.groups))
    return {
        (counted.feature, need): {
            group: int(lacks)
            for group, lacks, rows in zip(counted.groups, missing + open_, n, strict=True)
            if lacks and lacks >= MANY_MISSING * rows
        }
        for what, missing, open_, n in _missing(counted, spec, every)
        for need in ((what,) if what == "label" else _OF_DECISIONS)
    }


def groupless(counted: GroupCounts, spec: Spec) -> dict[str, tuple[int, float]]:
    """Return how many rows of a feature have no group, and the rows of its smallest large group.

    Where they are many beside a side, a rule on what has no worst case does not pass.
    """
    rows = round(without_group(counted, "n"))
    large = counted.cases[large_groups(counted, spec)]
    smallest = float(large.min()) if large.size else 0.0
    return {counted.feature: (rows, smallest)} if rows and not counted.protected else {}


def uncounted(cube: Cube, features: Sequence[GroupCounts], spec: Spec) -> dict[str, int]:
    """Return the rows without a count, a weight, or what a condition is on, if they are many.

    Many beside some group: their groups and outcomes are not known, and no rule passes without
    them.
    """
    without = cube.excluded.get(Uncounted.NO_COUNT, 0)  # nobody knows for how many cases each is
    many = {"count": without} if without > _few(cube, features, spec, "rows") else {}
    found = {"weight": cube.excluded.get(Uncounted.NO_WEIGHT, 0)}
    if any(_weighs_unevenly(counts) for counts in features):
        found["weight above 0"] = cases_of_no_weight(cube)
    found |= {f"value of {of}": cases for of, cases in cube.without_condition.items()}
    few = _few(cube, features, spec, cube.plan.cases)
    return many | {what: n for what, n in found.items() if n > few}


def _few(cube: Cube, features: Sequence[GroupCounts], spec: Spec, measure: str) -> float:
    """Return how many rows, or cases, are few beside every large group."""
    every = cube.read if measure == cube.plan.cases else cube.rows
    rows = (of.counts[measure][: len(of.groups), 0].sum(axis=(1, 2)) for of in features)
    held = (n[large_groups(of, spec)] for n, of in zip(rows, features, strict=True))
    return float(MANY_MISSING * np.concatenate([*held, np.array([every], dtype=float)]).min())


def _weighs_unevenly(counted: GroupCounts) -> bool:
    """Return whether rows of weight 0 are significantly more frequent in one group than in another.

    A group whose rows all weigh 0 is warned of apart.
    """
    every = "cases" if "cases" in counted.counts else "rows"
    rows, n = (
        counted.counts[name][: len(counted.groups), 0].sum(axis=(1, 2)) for name in (every, "n")
    )
    held = (rows >= FEWEST_ROWS) & (n > 0)
    if not counted.weighted or held.sum() < _TWO or not (n < rows)[held].any():
        return False
    shares = quotient(rows - n, rows)[held]
    apart = np.ptp(shares) >= MANY_MISSING
    return bool(apart and homogeneity((rows - n)[held], rows[held])[1] < _HARDLY_CHANCE)


def uncounted_rows(cube: Cube, features: Sequence[GroupCounts], spec: Spec) -> Iterator[Diagnostic]:
    """Warn of many rows that are in no number at all, as nobody knows what they count for."""
    read = (cube.rows if spec.of_people else cube.read) + sum(cube.without_condition.values())
    for what, rows in uncounted(cube, features, spec).items():
        of_rows = what == "count" or (what == "weight" and not spec.count)
        yield Diagnostic.warning(
            DiagnosticCode.UNCOUNTED_ROWS,
            what=what,
            rows=rows,
            total=cube.rows if of_rows else read,
            ruled=bool(spec.rules),
            **({"column": spec.weight} if what == "weight above 0" else {}),
            **({} if of_rows or spec.of_people else spec.unit),
        )


def _missing(
    counted: GroupCounts, spec: Spec, which: Index
) -> Iterator[tuple[str, Array, Array, Array]]:
    if spec.profile.rules.missing_outcome_is_negative:
        return
    cells = counted.counts["n"][: len(counted.groups), 0]
    open_ = counted.counts.get("open", np.zeros_like(cells)[:, None])[: len(counted.groups), 0]
    score = "score" if spec.prediction is None else "prediction"
    for what, axis in (("label", 1), (score, 2)):
        if cells.shape[axis] > 1 and len(which):  # else there is no such column
            missing = np.take(cells, -1, axis=axis).sum(axis=1)[which]
            held = np.delete(open_, -1, axis=axis).sum(axis=(1, 2))[which]
            yield what, missing, held, cells.sum(axis=(1, 2))[which]


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
    for cases in _possible(counted, outcome, rate, profile, per_class):
        every = np.arange(len(counted.groups))
        (low, high), (now, *ends) = cases.of(every), cases.variances(every)
        wider = _wider(np.array(ends), now)
        for i, group in enumerate(counted.groups):
            key = (
                rate.name,
                counted.feature,
                group,
                OVERALL,
                outcome.class_scope,
                outcome.threshold_of(rate),
            )
            if rows := cases.rows_of(i):
                case = replace(cases.case(low[i], high[i], wider[:, i]), rows=rows)
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
    extremes of shares. Rows that lack a group and an outcome may be on either side, and the shares
    of three groups or more go as far as they can each by itself, so that the ends are at least as
    far apart as any table puts them. Of a contrast and rows without a group alone, both ends are
    attained: the same assignment takes one side as low and the other as high as it can be.

    Parameters
    ----------
    compared : the sides of a contrast, numbers as `CountsBySide` has them.
    rivals : the groups that could be the reference; None where the data do not choose it.
    """
    smd = isinstance(metric, OverallStandardisedDifference)
    contrast = _SELECTION if smd else metric
    if not isinstance(contrast, (Contrast, Spread)):
        return {}
    found: Cases = {}
    threshold = outcome.threshold_of(metric)
    of = share_of(contrast.of) if isinstance(contrast, Contrast) else contrast.of
    for cases in _possible(counted, outcome, of, profile, per_class):
        names: Sequence[str | None] = [None]
        ends: Limits | None = None
        beside, wider = np.full((2, 1), None), np.ones((2, 1))
        if isinstance(contrast, Spread):
            ends, wider = cases.spread(contrast), cases.wider_spread(contrast)
        elif compared is not None and not (smd and cases.outcomes):
            names = [counted.groups[at] for at in compared[0].tolist()]
            ends = contrast_range(contrast, *map(cases.of, compared))
            beside, sides = np.full((2, len(names)), None), np.array([compared, compared])
            if rivals is not None and not smd:
                ends, sides = _beside_rivals(contrast, cases, compared, rivals, ends)
                other = sides[:, 1] != compared[1]
                beside[other] = np.asarray(counted.groups)[sides[:, 1][other]]
            wider = cases.wider(contrast, compared, sides)
            ends = cases.standardised(*ends) if smd else ends
        for i, (low, high) in enumerate(zip(*ends, strict=True) if ends else ()):
            key = (metric.name, counted.feature, names[i], OVERALL, outcome.class_scope, threshold)
            case = replace(cases.case(low, high, wider[:, i]), beside=tuple(beside[:, i]))
            found[key] = (*found.get(key, ()), case)
    return found


def _beside_rivals(
    metric: Contrast,
    cases: _PossibleShares,
    compared: tuple[Index, Index],
    rivals: Rivals,
    ends: Limits,
) -> tuple[Limits, Index]:
    """Return the ends of a contrast with the best or largest group, whichever that may be.

    And of which two sides each end is, a group and its reference: (2, 2, n). Who is compared may
    itself be the reference: that of now then has the verdict. So it has beside a group that is too
    small for a verdict of its own, and could be large enough.
    """
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


def _possible(
    counted: GroupCounts,
    outcome: OutcomeMasks,
    of: Statistic | None,
    profile: Profile,
    per_class: Sequence[OutcomeMasks],
) -> Iterator[_PossibleShares]:
    """Yield what a share may be where rows lack a group, and where they lack an outcome."""
    if per_class:
        if of != _ACCURACY:  # over all classes no other rate is a share of rows
            return
        counted, outcome = _of_agreement(counted, per_class), _AGREED
    if isinstance(of, Rate) and not counted.protected:
        for outcomes in (False, True):
            cases = _PossibleShares(counted, outcome, of, profile, outcomes=outcomes)
            if cases.rows:
                yield cases


_AGREED = OutcomeMasks(np.array([True, False]), np.array([True, False]))


def _of_agreement(counted: GroupCounts, per_class: Sequence[OutcomeMasks]) -> GroupCounts:
    """Return counts of one class that have the accuracy of several.

    Every known label is positive, and a prediction is where it is the label.
    """
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
    them, missing outcomes may have any value, too. ``rows`` is how many rows lack one, ``apart``
    how many without a group are, or may be, of every side.
    """

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
        measure: Measure = "w" if counted.weighted else "n"
        self._known, unknown = sides_and_unknown(counted, outcome, profile, measure)
        kinds, (may, are) = np.arange(len(counted.crossing.unknown)), sides_of_unknown(counted)
        without = without_group_by_kind(counted, "n")
        self.rows, self._others, self._lacking = round(without.sum()), 0, np.zeros(self._groups)
        if outcomes:
            known, apart = sides_and_unknown(counted, outcome, profile, "n")
            each = (
                known.states(np.array([known.whole]), open_missing=True),
                apart.states(kinds, open_missing=True),
            )
            without = each[1].sum(axis=(1, 2))
            self.rows = int(sum(_incomplete(states, rate).sum() for states in each))
            self._others = int(without.sum() - _incomplete(each[1], rate).sum())
            every = known.states(np.arange(self._groups), open_missing=True)
            self._lacking = _incomplete(every, rate)
        self.apart = without @ (may | are)
        states = self._states(unknown, kinds)
        self._may, self._are = (np.tensordot(1.0 * of.T, states, 1) for of in (may, are))
        self._weighted = counted.weighted

    def _states(self, sides: CountsBySide, which: Index) -> Array:
        states = _needed(sides.states(which, open_missing=self.outcomes), self._rate)
        return states if self.outcomes else complete(states)

    def rows_of(self, group: int) -> int:
        """Return how many rows of a group, or that may be of it, do not state what it needs."""
        return round(float(self._lacking[group] + self.apart[group]))

    def case(self, low: float, high: float, wider: Array) -> WorstCase:
        ends, rows, others = (float(low), float(high)), self.rows + self._others, self._others > 0
        by = (float(wider[0]), float(wider[1]))
        return WorstCase(*ends, rows, outcomes=self.outcomes, without_group=others, wider=by)

    def of(self, which: Index, needed: Array | float = 0.0) -> Limits:
        """Return the least and the greatest rate of some sides, with rows of unknown group.

        ``needed`` is how many of these rows they must have. What such rows weigh is not known.
        """
        states, may, are, rate = self._sides(which)
        without = self.apart[which] - (may + are).sum(axis=(1, 2))  # they are in no rate
        must = 0.0 if self._weighted else np.maximum(needed - without, 0.0)
        return share_limits(states, may, are, rate, must)

    def _sides(self, which: Index) -> tuple[Array, Array, Array, Rate]:
        return self._states(self._known, which), self._may[which], self._are[which], self._rate

    def variances(self, which: Index, metric: Contrast | Spread | None = None) -> Array:
        return share_variances(*self._sides(which), metric)

    def wider(self, metric: Contrast, compared: tuple[Index, Index], sides: Index) -> Array:
        """Return how much larger standard errors of comparisons are at both ends: (2, n).

        Of the pair that is ``compared``, and of the ``sides`` of each end: (2, 2, n).
        """
        now = sum(self.variances(which, metric)[0] for which in compared)
        ends = [
            _end_variance(metric, end, *(self.variances(which, metric) for which in pair))
            for end, pair in enumerate(sides)
        ]
        return _wider(np.array(ends), np.asarray(now))

    def wider_spread(self, metric: Spread) -> Array:
        """Return a number above which no ratio of standard errors is at either end: (2, 1)."""
        now, *ends = self.variances(np.arange(self._groups), metric)
        return np.full((2, 1), _wider(np.array(ends), now).max(initial=1.0))

    def standardised(self, low: Array, high: Array) -> Limits:
        overall = self.of(np.array([self._known.whole]))[0]
        deviation = np.sqrt(overall * (1 - overall))
        return quotient(100 * low, deviation), quotient(100 * high, deviation)

    def spread(self, metric: Spread) -> Limits | None:
        """Return the ends of a gap or an extreme over groups that have rows it may count."""
        states = self._states(self._known, np.arange(self._groups))
        held = np.flatnonzero(_shares(states, self._rate, at_least=False)[1] > 0)
        if len(held) < _TWO:
            return None
        ends = _spread_range(metric, *self.of(held))
        return None if ends is None else (np.array(ends[:1]), np.array(ends[1:]))


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
        ratios = quotient(low[:, None], high[None, :])[apart]
        return float(np.nanmin(ratios)), min(1.0, float(quotient(high.min(), low.max())))
    return None


_TWO = 2


def share_limits(
    states: Array, may: Array, are: Array, rate: Rate, needed: Array | float = 0.0
) -> Limits:
    """Return the least and the greatest share of each of some sides.

    Parameters
    ----------
    states : rows by label and prediction, positive, negative or missing: (n, 3, 3).
    may, are : likewise those without a group that may be of the side, or not, and that are of it.
    needed : how many of those that may be of the side are at least, if there are as many.
    """
    low, high = (quotient(*end) for end in _share_ends(states, may, are, rate, needed))
    return np.nan_to_num(low, nan=0.0), np.nan_to_num(high, nan=1.0)


def _share_ends(
    states: Array, may: Array, are: Array, rate: Rate, needed: Array | float = 0.0
) -> tuple[Shares, Shares]:
    """Return what each share counts, and among what, where it is the least and the greatest."""
    ends = []
    for at_least in (True, False):
        (x, n), certain, more = (
            _shares(each, rate, at_least=at_least) for each in (states, are, may)
        )
        moving, opposed = (more[1] - more[0], more[0])[:: 1 if at_least else -1]
        forced = np.clip(needed - (may.sum(axis=(1, 2)) - opposed), 0.0, opposed)
        x, n = x + certain[0] + at_least * forced, n + certain[1] + forced
        ends.append((x + moving * (not at_least), n + moving))
    return ends[0], ends[1]


def share_variances(
    states: Array,
    may: Array,
    are: Array,
    rate: Rate,
    metric: Contrast | Spread | None = None,
) -> Array:
    """Return the variances of shares as they are, at the least and at the greatest: (3, n).

    They are of what a metric compares, by the delta method: odds, and logarithms of a ratio. A
    share is at least half a row from 0 and 1, where the variance would be none or without end.
    """
    counted = _shares(complete(states), rate, at_least=True)
    x, n = np.moveaxis(np.array([counted, *_share_ends(states, may, are, rate)]), 1, 0)
    share = np.clip(quotient(x, n), quotient(0.5, n), 1 - quotient(0.5, n))
    odds = isinstance(metric, Contrast) and isinstance(metric.of, Quotient)
    slope = (1 - share) ** -2 if odds else np.ones_like(share)
    if metric is not None and is_ratio(metric):
        slope /= _odds(share) if odds else share
    return quotient(slope**2 * share * (1 - share), n)


def wider_contrast(metric: Contrast, ours: Array, theirs: Array) -> Array:
    """Return how much larger the standard errors of a contrast are at both ends: (2, n).

    ``ours`` and ``theirs`` are the variances of both shares, as `share_variances` returns them.
    """
    ends = [_end_variance(metric, end, ours, theirs) for end in range(2)]
    return _wider(np.array(ends), ours[0] + theirs[0])


def _end_variance(metric: Contrast, end: int, ours: Array, theirs: Array) -> Array:
    """Return the variance of a contrast at its low end (0) or its high one (1)."""
    at = end if metric.order == "group - reference" else 1 - end
    return np.asarray(ours[1 + at] + theirs[2 - at])


def _wider(ends: Array, now: Array) -> Array:
    """Return how much larger standard errors are at ends than now; 1 where they are not."""
    return np.asarray(np.sqrt(np.fmax(quotient(ends, now), 1.0)))


def reached(
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
    with np.errstate(all="ignore"):
        known = (value > 0) & (value < np.inf)
        below = np.where(
            known & (least > 0), least * (low / value) ** wider[0], np.minimum(low, least)
        )
        above = np.where(known, greatest * (high / value) ** wider[1], np.maximum(high, greatest))
    return below, above


def _needed(states: Array, rate: Rate) -> Array:
    """Return states as a rate asks for them: one of labels or predictions alone asks for no other.

    It has the same for TP and FP, or for TP and FN: what is positive is in the place of TP.
    """
    if len(rate.needs) > 1:
        return states
    outcome = states.sum(axis=1 if "prediction" in rate.needs else 2)
    return np.asarray(outcome[:, :, None] * np.eye(_MISSING + 1))


def _shares(states: Array, rate: Rate, *, at_least: bool) -> Shares:
    """Return what a rate counts, and among what, where it is as low (or as high) as it can be.

    A success lowers no share and a failure raises none: rows that may be neither are neither.
    """
    states, values = _needed(states, rate), {0: (0,), 1: (1,), _MISSING: (0, 1)}
    order = [(True, False), (False, False), (True, True)]
    x, n = np.zeros(len(states)), np.zeros(len(states))
    for label, prediction in product(values, repeat=2):
        cells = [2 * p + y for y in values[label] for p in values[prediction]]
        kinds = [(bool(rate.among[c]), bool(rate.of[c])) for c in cells]
        among, of = min(kinds, key=(order if at_least else order[::-1]).index)
        n += among * states[:, label, prediction]
        x += of * states[:, label, prediction]
    return x, n


def complete(states: Array) -> Array:
    """Return the rows that have both outcomes, in the same shape."""
    known = states.copy()
    known[..., _MISSING, :] = known[..., :, _MISSING] = 0.0
    return known


def _incomplete(states: Array, rate: Rate) -> Array:
    needed = _needed(states, rate)
    known = needed[:, :_MISSING, :_MISSING]
    return np.asarray(needed.sum(axis=(1, 2)) - known.sum(axis=(1, 2)))


def missing_groups(counted: GroupCounts, spec: Spec) -> Iterator[Diagnostic]:
    """Note which share of the cases is in no group because a feature is missing.

    Cases without any outcome, which are in no rate, do not count. Where some rows weigh nothing, it
    states both numbers; where there are rules, what such rows mean for them.
    """
    stated = "n" if spec.count else "rows"
    rows, cases = (round(without_group(counted, name)) for name in (stated, "n"))
    if not rows:
        return
    total = round(counted.every(stated))
    every = round(counted.every("n"))
    known = known_outcome(counted, spec)
    crossed = counted.feature_id.columns
    made = Diagnostic.note if cases / every < MANY_MISSING else Diagnostic.warning
    of_cases = {"cases": cases, "total_cases": every} if every != total else {}
    yield made(
        DiagnosticCode.MISSING_GROUPS,
        counted.feature,
        rows=rows,
        total=total,
        ruled=any(rule.decide is not Decide.POINT for rule in spec.rules),
        **({"by_value": True} if any(r.decide is Decide.POINT for r in spec.rules) else {}),
        **(
            {"significant": True} if any(r.decide is Decide.SIGNIFICANT for r in spec.rules) else {}
        ),
        **spec.unit,
        **({"known": known} if known else {}),
        **({"columns": crossed} if len(crossed) > 1 else {}),
        **of_cases,
    )


def most_unknown(
    counted: GroupCounts, outcome: OutcomeMasks, profile: Profile, which: Index
) -> ConfusionCounts:
    """Return the most rows without a group that may be of some sides, by protected counts."""
    fits = 1.0 * np.logical_or(*sides_of_unknown(counted)).T[which]
    most = {"high": np.tensordot(fits, counted.unknown["high"], 1)}
    each = replace(counted, groups=("",) * (len(which) - 1), counts=most, histogram=None)
    places = np.arange(len(which))
    return CountsBySide(each, outcome, profile, (), "high").pick(places, np.zeros_like(places))


def sides_and_unknown(
    counted: GroupCounts, outcome: OutcomeMasks, profile: Profile, measure: Measure
) -> tuple[CountsBySide, CountsBySide]:
    """Return the sides of comparisons, and the kinds of rows without a group as the groups."""
    kinds = ("",) * (len(counted.crossing.unknown) - 1)  # the last is in no group
    without = replace(counted, groups=kinds, counts=counted.unknown, histogram=None)
    known, unknown = (
        CountsBySide(each, outcome, profile, (), measure) for each in (counted, without)
    )
    return known, unknown


def worst_values(
    metric: Contrast,
    group: ConfusionCounts,
    reference: ConfusionCounts,
    unknown: ConfusionCounts,
    unknown_reference: ConfusionCounts,
) -> Limits:
    """Return the least and the greatest value of a contrast of shares.

    The unknown rows are those that may be of each side. Both ends are attained: the same assignment
    takes one side as low and the other as high as it can be.
    """
    assert isinstance(metric.of, Rate)
    of, among, needs = metric.of.of, metric.of.among, metric.of.needs
    ours, theirs = (
        missing_bounds(*(each.count(side.counts(needs)) for side in sides for each in (of, among)))
        for sides in ((group, unknown), (reference, unknown_reference))
    )
    return contrast_range(metric, ours, theirs)


def contrast_range(metric: Contrast, ours: Limits, theirs: Limits) -> Limits:
    """Return the ends of a contrast from those of its group's and of its reference's share."""
    if isinstance(metric.of, Quotient):
        ours, theirs = ((_odds(side[0]), _odds(side[1])) for side in (ours, theirs))
    first, second = (ours, theirs) if metric.order == "group - reference" else (theirs, ours)
    if metric.by == "difference":
        return first[0] - second[1], first[1] - second[0]
    low, high = quotient(first[0], second[1]), quotient(first[1], second[0])
    return np.where(np.isnan(low), 0.0, low), np.where(np.isnan(high), np.inf, high)


def share_of(of: Statistic) -> Rate | None:
    """Return the share that a statistic rises with: itself, or that of odds among both kinds."""
    if isinstance(of, Quotient) and of.is_odds:
        among = of.over + of.under
        return Rate(
            name=of.name, says=of.says, better=of.better, cite=of.cite, of=of.over, among=among
        )
    return of if isinstance(of, Rate) else None


def _odds(share: Array) -> Array:
    return quotient(share, 1 - share)


class RowsWithoutStratum:
    """The rows of one feature that have no stratum, beside those that have one.

    Attributes
    ----------
    rows, total : how many there are, and how many rows with them, without weights.
    """

    def __init__(
        self,
        counted: GroupCounts,
        outcome: OutcomeMasks,
        spec: Spec,
        per_class: Sequence[OutcomeMasks] = (),
    ) -> None:
        cases = counted.counts["n"]
        self.total = int(cases[:, 0].sum())
        self.rows = self.total - int(cases[:, 1:].sum())
        if not self.rows:
            return
        every = {name: sums[:, :1] for name, sums in counted.counts.items()}
        kept = {
            name: sums[:, 1:].sum(axis=1, keepdims=True) for name, sums in counted.counts.items()
        }
        left = {name: sums - kept[name] for name, sums in every.items()}
        plain = replace(counted, strata=(), histogram=None, clusters=None)

        def sides(counts: dict[str, Array], measure: Measure) -> CountsBySide:
            of = replace(plain, counts=counts)
            return CountsBySide(of, outcome, spec.profile, per_class, measure)

        weights: Measure = "w" if counted.unequally_weighted else "n"
        self._profile = spec.profile
        self._every, self._kept = (sides(counts, weights) for counts in (every, kept))
        self._cases = sides(left, "n"), sides(kept, "n")
        self._alike = 1.0
        if counted.clusters is not None:
            rows = np.bincount(counted.clusters.cluster, counted.clusters.counts["n"])
            self._alike = largest_design_effect(rows.astype(np.float64))

    def change(self, of: Statistic, groups: Index, references: Index) -> Mask:
        """Return for which comparisons leaving them out changes a side by itself.

        It does where their rates differ statistically significantly from those of the other rows,
        and the rate of a side moves by more than a tenth of the difference between both sides. That
        both sides may move alike, so that their difference stays, shows nothing of what it is
        within strata that nobody knows.
        """
        changed = np.zeros(len(groups), dtype=np.bool_)
        if not self.rows:
            return changed
        margin = np.zeros_like(groups)
        every, kept = (
            [of.value(sides.pick(which, margin), self._profile) for which in (groups, references)]
            for sides in (self._every, self._kept)
        )
        for side, which in enumerate((groups, references)):
            left_cases, kept_cases = (cases.pick(which, margin) for cases in self._cases)
            with np.errstate(invalid="ignore"):
                moved = np.abs(kept[side] - every[side])
                changed |= (moved > LITTLE * np.abs(every[0] - every[1])) & _differ(
                    of, left_cases, kept_cases, self._alike
                )
        return changed


def _differ(of: Statistic, left: ConfusionCounts, kept: ConfusionCounts, alike: float) -> Mask:
    """Return where rows without a stratum differ from others in what a rate is of.

    ``alike`` is the design effect of clusters.
    """
    found = [
        _p_unlike(table / alike, means=means) for table, means in _unlike_tables(of, left, kept)
    ]
    return np.asarray((np.array(found) < _HARDLY_CHANCE).any(axis=0))


def _unlike_tables(
    of: Statistic, left: ConfusionCounts, kept: ConfusionCounts
) -> Iterator[tuple[Array, bool]]:
    """Yield the outcomes that a rate is of in some rows and in others, of shape (n, 2, k).

    Of means it is the rows, their sum and that of their squares, and whether it is so.
    """
    if "yy" in left.moments or "pp" in left.moments:
        for need in (each for each in of.needs if each in _SUM_OF):
            column = _SUM_OF[need]
            sums = [[side.moments_of(frozenset({need}))[name] for name in ("n", column, 2 * column)]
                    for side in (left, kept)]  # fmt: skip
            yield np.moveaxis(np.array(sums), (0, 1), (-2, -1)), True
        return
    counts = [side.counts(of.needs) for side in (left, kept)]
    if isinstance(of, Rate):
        counts = [
            np.stack([of.of.count(each), of.among.count(each) - of.of.count(each)], axis=-1)
            for each in counts
        ]
    yield np.stack(counts, axis=-2), False


_SUM_OF: dict[Need, str] = {"label": "y", "prediction": "p"}


def _p_unlike(tables: Array, *, means: bool) -> Array:
    """Return the p-values of some rows being like others, of shape (n,)."""
    if not means:
        return homogeneity_table(tables)[1]
    rows, sums, squares = np.moveaxis(tables, -1, 0)
    n, average = rows.sum(axis=-1), quotient(sums, rows)
    variance = quotient(squares.sum(axis=-1), n) - quotient(sums.sum(axis=-1), n) ** 2
    with np.errstate(all="ignore"):  # no rows on one side
        error = np.sqrt(variance * quotient(1.0, rows).sum(axis=-1))
        return two_sided((average[..., 0] - average[..., 1]) / error)
