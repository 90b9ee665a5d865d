"""Verdicts on candidates: fairer, as good within the margins, and what both come to.

Many disparities of several candidates are looked at, so their p-values are adjusted together
(Holm): where no candidate differs from the model in use, the probability that any is called fairer
or less fair is at most one minus the confidence level. A candidate is as good if it is so in every
rate with a margin, an intersection-union test, adjusted for the number of candidates.
"""

from __future__ import annotations

import math
from dataclasses import replace
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
from fairgauge.stats.multiplicity import holm
from fairgauge.stats.power import times_the_rows
from fairgauge.stats.significance import normal_quantile

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from fairgauge.comparison.model_comparison import Candidate, DisparityChange, MarginTest
    from fairgauge.spec.specification import Spec


def judged(candidates: Sequence[Candidate], spec: Spec) -> tuple[Candidate, ...]:
    """Return candidates with their verdicts, and with what these are made of adjusted."""
    confidence = spec.confidence
    return tuple(
        map(_judged, _margins_tested(_disparities_tested(candidates, confidence), confidence))
    )


def _disparities_tested(candidates: Sequence[Candidate], confidence: float) -> list[Candidate]:
    """Adjust the p-values of all disparities that count, and mark which are significant."""
    every = [each for one in candidates for each in one.disparities]
    adjusted_for_strata = frozenset(
        each.metric for each in every if each.scope.kind is ScopeKind.POOLED and each.interval
    )
    p = [each.p_value for each in every if _counts(each, adjusted_for_strata)]
    adjusted = iter(holm(np.array(p, dtype=float)).tolist())

    def tested(each: DisparityChange, rows: int) -> DisparityChange:
        if not _counts(each, adjusted_for_strata) or each.p_value is None:
            return each
        p_adjusted = next(adjusted)
        significant = p_adjusted <= 1 - confidence and each.direction is not Direction.AS_FAR
        z = normal_quantile(1 - each.p_value / 2)
        needed = None if significant else _rows(rows, z, len(p), confidence)
        return replace(each, p_adjusted=p_adjusted, significant=significant, needed=needed)

    return [
        replace(one, disparities=tuple(tested(each, one.rows) for each in one.disparities))
        for one in candidates
    ]


def _counts(each: DisparityChange, adjusted_for_strata: Container[str]) -> bool:
    """Return whether a disparity is part of the verdict: of all rows, and of no average.

    Of a metric that is adjusted for strata, that is the adjusted disparity.
    """
    scope = ScopeKind.POOLED if each.metric in adjusted_for_strata else ScopeKind.OVERALL
    single = each.class_scope.is_single
    known = each.status is Status.OK and each.p_value is not None
    return each.scope.kind is scope and single and known


def _margins_tested(candidates: Sequence[Candidate], confidence: float) -> list[Candidate]:
    """Adjust the tests of the margins for the number of candidates."""
    worst = [
        max((t.p_value for t in each.margins if t.p_value is not None), default=math.nan)
        for each in candidates
    ]
    adjusted = holm(np.array(worst, dtype=float)).tolist()
    made = []
    for each, before, after in zip(candidates, worst, adjusted, strict=True):
        factor = after / before if before > 0 else 1.0
        tests = tuple(
            _tested(test, factor, each.rows, len(candidates), confidence) for test in each.margins
        )
        made.append(replace(each, margins=tests))
    return made


def _tested(
    test: MarginTest, factor: float, rows: int, candidates: int, confidence: float
) -> MarginTest:
    if test.p_value is None:
        return test
    p_adjusted = min(1.0, test.p_value * max(factor, 1.0))
    outcome = test.outcome
    if outcome is Performance.NON_INFERIOR and p_adjusted > (1 - confidence) / 2:
        outcome = Performance.CANNOT_TELL
    undecided = outcome is Performance.CANNOT_TELL
    z = normal_quantile(1 - test.p_value)
    needed = _rows(rows, z, candidates, confidence) if undecided else None
    return replace(test, outcome=outcome, p_adjusted=p_adjusted, needed=needed)


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
