"""Verdicts on candidates: fairer, as good within the margins, and what both come to.

Many disparities of several candidates are looked at, so their p-values are adjusted together
(Holm): where no candidate differs from the model in use, the probability that any is called fairer
or less fair is at most one minus the confidence level. A candidate is as good if it is so in every
rate with a margin, an intersection-union test, adjusted for the number of candidates.

Beside each adjusted p-value stands the interval at the level at which Holm's procedure tests it, so
that interval and verdict cannot disagree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.enums import (
    CandidateVerdict,
    Direction,
    Fairness,
    Performance,
    ScopeKind,
    Status,
)
from fairgauge.inference.sample_size import POWER
from fairgauge.measure._change_records import interval_of
from fairgauge.stats.intervals import critical
from fairgauge.stats.multiplicity import holm, holm_levels
from fairgauge.stats.power import times_the_rows
from fairgauge.stats.significance import normal_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from fairgauge.catalogue.cells import Array
    from fairgauge.measure._change_records import MeasuredDisparities
    from fairgauge.results.model_comparison import Candidate, DisparityChange, MarginTest
    from fairgauge.stats.arrays import Limits


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredMargin:
    """A test of a margin, before it is adjusted for the number of candidates.

    Attributes
    ----------
    test : what is tested, with the p-value where there is one.
    change_at : the limits of the change at a critical value; None without an interval.
    lower : whether lower values of the rate are better.
    """

    test: MarginTest
    change_at: Callable[[Array], Limits] | None = None
    lower: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredCandidate:
    """A candidate without a verdict, its disparities and the tests of its margins."""

    candidate: Candidate
    disparities: tuple[MeasuredDisparities, ...]
    margins: tuple[MeasuredMargin, ...]


def judged(measured: Sequence[MeasuredCandidate], confidence: float) -> tuple[Candidate, ...]:
    """Return candidates with their verdicts, and with what these are made of adjusted."""
    disparities = _disparities_tested(measured, confidence)
    margins = _margins_tested(measured, confidence)
    return tuple(
        _judged(replace(each.candidate, disparities=of_each, margins=tests))
        for each, of_each, tests in zip(measured, disparities, margins, strict=True)
    )


def _disparities_tested(
    measured: Sequence[MeasuredCandidate], confidence: float
) -> list[tuple[DisparityChange, ...]]:
    """Adjust the p-values of all disparities that count, and mark which are significant."""
    every = [record for one in measured for batch in one.disparities for record in batch.records]
    adjusted_for_strata = frozenset(
        each.metric for each in every if each.scope.kind is ScopeKind.POOLED and each.interval
    )
    p = np.array(
        [
            each.p_value if _counts(each, adjusted_for_strata) else math.nan
            for each in every
        ],
        dtype=float,
    )  # fmt: skip
    adjusted, levels = holm(p), holm_levels(p, 1 - confidence)
    comparisons = int(np.isfinite(p).sum())
    tested, at = [], 0
    for one in measured:
        of_candidate: list[DisparityChange] = []
        for batch in one.disparities:
            here = slice(at, at + len(batch.records))
            made = _tested_together(batch, adjusted[here], levels[here], confidence)
            of_candidate += [
                _with_rows_needed(each, one.candidate.rows, comparisons, confidence)
                for each in made
            ]
            at = here.stop
        tested.append(tuple(of_candidate))
    return tested


def _tested_together(
    batch: MeasuredDisparities, adjusted: Array, levels: Array, confidence: float
) -> list[DisparityChange]:
    """Return disparities with their adjusted p-values and intervals, where they count."""
    counts = np.isfinite(adjusted)
    if batch.distance_at is None or not counts.any():
        return list(batch.records)
    strict = np.where(counts, 1 - levels, confidence).tolist()
    low, high = batch.distance_at(np.array([critical(each) for each in strict]))
    return [
        replace(
            each,
            p_adjusted=float(adjusted[i]),
            distance_adjusted=None
            if each.distance_interval is None
            else interval_of(low[i], high[i], confidence, each.distance_interval.methods),
            significant=bool(adjusted[i] <= 1 - confidence)
            and each.direction is not Direction.AS_FAR,
        )
        if counts[i]
        else each
        for i, each in enumerate(batch.records)
    ]


def _with_rows_needed(
    each: DisparityChange, rows: int, comparisons: int, confidence: float
) -> DisparityChange:
    if each.p_adjusted is None or each.p_value is None or each.significant:
        return each
    z = normal_quantile(1 - each.p_value / 2)
    return replace(each, needed=_rows(rows, z, comparisons, confidence))


def _counts(each: DisparityChange, adjusted_for_strata: Container[str]) -> bool:
    """Return whether a disparity is part of the verdict: of all rows, and of no average.

    Of a metric that is adjusted for strata, that is the adjusted disparity.
    """
    scope = ScopeKind.POOLED if each.metric in adjusted_for_strata else ScopeKind.OVERALL
    single = each.class_scope.is_single
    known = each.status is Status.OK and each.p_value is not None
    return each.scope.kind is scope and single and known


def _margins_tested(
    measured: Sequence[MeasuredCandidate], confidence: float
) -> list[tuple[MarginTest, ...]]:
    """Adjust the tests of the margins for the number of candidates."""
    worst = [
        max((m.test.p_value for m in each.margins if m.test.p_value is not None), default=math.nan)
        for each in measured
    ]
    adjusted = holm(np.array(worst, dtype=float)).tolist()
    made = []
    for each, before, after in zip(measured, worst, adjusted, strict=True):
        factor = max(after / before, 1.0) if before > 0 else 1.0
        rows, several = each.candidate.rows, len(measured)
        made.append(tuple(_tested(one, factor, rows, several, confidence) for one in each.margins))
    return made


def _tested(
    margin: MeasuredMargin, factor: float, rows: int, candidates: int, confidence: float
) -> MarginTest:
    """Return a test that the interval of the change decides at the adjusted level."""
    test, change = margin.test, margin.test.change
    if margin.change_at is None or test.p_value is None or change.interval is None:
        return test
    z = critical(1 - (1 - confidence) / factor)
    low, high = (float(limit[0]) for limit in margin.change_at(np.array([z])))
    worst, best = (-high, -low) if margin.lower else (low, high)
    outcome = Performance.CANNOT_TELL
    if worst > -test.margin:
        outcome = Performance.NON_INFERIOR
    elif best < -test.margin:
        outcome = Performance.INFERIOR
    undecided = outcome is Performance.CANNOT_TELL
    normal = normal_quantile(1 - test.p_value)
    return replace(
        test,
        outcome=outcome,
        adjusted=interval_of(low, high, confidence, change.interval.methods),
        better=worst > 0,
        p_adjusted=min(1.0, test.p_value * factor),
        needed=_rows(rows, normal, candidates, confidence) if undecided else None,
    )


def _rows(rows: int, z: float, comparisons: int, confidence: float) -> float | None:
    """Return the rows that would probably show an effect as large as estimated, if any would."""
    times = float(times_the_rows(z, comparisons, confidence, POWER))
    return math.ceil(rows * times) if math.isfinite(times) else None


def _judged(each: Candidate) -> Candidate:
    """Return a candidate with its verdict."""
    fairness, performance = _fairness(each), _performance(each)
    verdict = _verdict(each, fairness, performance)
    undecided = verdict is CandidateVerdict.CANNOT_TELL
    needed = _needed(each, fairness, performance) if undecided else None
    return replace(each, verdict=verdict, fairness=fairness, performance=performance, needed=needed)


def _fairness(each: Candidate) -> Fairness:
    """Return what became of the disparities: significantly closer, further, both or neither."""
    went = {one.direction for one in each.disparities if one.significant}
    if went >= {Direction.CLOSER, Direction.FURTHER}:
        return Fairness.MIXED
    if Direction.CLOSER in went:
        return Fairness.FAIRER
    return Fairness.LESS_FAIR if Direction.FURTHER in went else Fairness.CANNOT_TELL


def _performance(each: Candidate) -> Performance:
    """Return whether a candidate is as good: in every rate with a margin."""
    outcomes = {test.outcome for test in each.margins}
    if not outcomes:
        return Performance.NO_MARGIN
    if Performance.INFERIOR in outcomes:
        return Performance.INFERIOR
    single = outcomes == {Performance.NON_INFERIOR}
    return Performance.NON_INFERIOR if single else Performance.CANNOT_TELL


def _verdict(each: Candidate, fairness: Fairness, performance: Performance) -> CandidateVerdict:
    if performance is Performance.NO_MARGIN:
        return CandidateVerdict.NONE
    if fairness is Fairness.MIXED:
        return CandidateVerdict.TRADE_OFF
    if fairness is Fairness.LESS_FAIR:
        better = any(test.better for test in each.margins)
        return CandidateVerdict.TRADE_OFF if better else CandidateVerdict.WORSE
    if performance is Performance.CANNOT_TELL:
        return CandidateVerdict.CANNOT_TELL
    if fairness is Fairness.FAIRER:
        inferior = performance is Performance.INFERIOR
        return CandidateVerdict.TRADE_OFF if inferior else CandidateVerdict.DOMINATES
    inferior = performance is Performance.INFERIOR
    return CandidateVerdict.WORSE if inferior else CandidateVerdict.CANNOT_TELL


def _needed(each: Candidate, fairness: Fairness, performance: Performance) -> float | None:
    """Return the rows that would probably show what is undecided, if the estimates are right."""
    needed: list[float | None] = []
    if performance is Performance.CANNOT_TELL:
        needed += [t.needed for t in each.margins if t.outcome is Performance.CANNOT_TELL]
    if fairness is Fairness.CANNOT_TELL:
        closer = (d.needed for d in each.disparities if d.direction is Direction.CLOSER)
        needed.append(min((rows for rows in closer if rows is not None), default=None))
    known = [rows for rows in needed if rows is not None]
    return max(known, default=None) if len(known) == len(needed) else None
