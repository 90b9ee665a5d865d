"""Bounds: the limits of one number of one group, by the shape of the statistic.

What a number is made of decides how sure it is: a share of rows is binomial; odds and F1 are
monotone in a share, so its limits are mapped; two counts that overlap are paired; a mean has a
standard error; an area under a curve has DeLong's.
"""

from __future__ import annotations

from functools import partial, singledispatch
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.averages import Agreement
from fairgauge.catalogue.cells import Cells
from fairgauge.catalogue.moments import Mean, MomentStatistic
from fairgauge.catalogue.score_statistics import ScoreStatistic
from fairgauge.catalogue.statistics import Blend, DrawnStatistic, Quotient, Rate, Statistic
from fairgauge.enums import IntervalMethod
from fairgauge.inference.bound import Bounds, Formula, of_share
from fairgauge.inference.evidence import CellCount
from fairgauge.inference.interval import NoInterval
from fairgauge.inference.regressions import of_moments
from fairgauge.inference.scored import rows_of_mean, scored
from fairgauge.reasons import ReasonCode
from fairgauge.stats.arrays import quotient
from fairgauge.stats.intervals import (
    paired_ratio,
)

if TYPE_CHECKING:
    from fairgauge.catalogue.cells import Array, Need
    from fairgauge.inference.evidence import Count, Evidence
    from fairgauge.stats.arrays import Limits


@singledispatch
def bounds(statistic: Statistic, evidence: Evidence) -> Bounds:
    """Return the limits of a statistic.

    Raises
    ------
    NoInterval
        Nothing honest can be said from what is counted.
    """
    del evidence
    raise NoInterval(ReasonCode.NO_METHOD, of=statistic.title)


@bounds.register(Rate)
def _(statistic: Rate, evidence: Evidence) -> Bounds:
    of, among = _counted(statistic.needs, statistic.of, statistic.among)
    return of_share(evidence, of, among)


@bounds.register(Agreement)
def _(statistic: Agreement, evidence: Evidence) -> Bounds:
    return of_share(evidence, statistic.agreed, statistic.size)


def is_drawn(statistic: Statistic) -> bool:
    """Tell whether the limits of a statistic are those of drawn tables: no closed form fits it."""
    if isinstance(statistic, Quotient):
        over, under = statistic.over, statistic.under
        plain = {*over.coefficients, *under.coefficients} <= {0, 1}
        return not (plain or over.disjoint(under) or _as_part(over, under))
    return isinstance(statistic, DrawnStatistic)


@bounds.register(Quotient)
def _(statistic: Quotient, evidence: Evidence) -> Bounds:
    over, under = statistic.over, statistic.under
    if over.disjoint(under):
        of, among = _counted(statistic.needs, over, over + under)
        return of_share(evidence, of, among, _odds, IntervalMethod.WILSON_ODDS)
    part = _as_part(over, under)
    if part is not None:
        of, among = _counted(statistic.needs, part[0], part[0] + part[1])
        shape = partial(_weighted_share, times=part[2])
        return of_share(evidence, of, among, shape, IntervalMethod.WILSON_TRANSFORMED)
    return _paired(statistic, evidence)


@bounds.register(Blend)
def _(statistic: Blend, evidence: Evidence) -> Bounds:
    if not all(a.among.disjoint(b.among) for a, b in combinations(statistic.of, 2)):
        raise NoInterval(ReasonCode.SHARED_ROWS, of=statistic.title)
    if evidence.clusters is not None:
        raise NoInterval(ReasonCode.SHARED_CLUSTERS, of=statistic.title)  # not independent
    parts = [bounds(rate, evidence) for rate in statistic.of]
    estimate: Array = np.mean([part.estimate for part in parts], axis=0)

    def at(z: Array) -> Limits:
        limits = [part.at(z) for part in parts]
        below = [(part.estimate - low) ** 2 for part, (low, _) in zip(parts, limits, strict=True)]
        above = [(high - part.estimate) ** 2 for part, (_, high) in zip(parts, limits, strict=True)]
        low = estimate - np.sqrt(np.sum(below, axis=0)) / len(parts)
        return low, estimate + np.sqrt(np.sum(above, axis=0)) / len(parts)

    n: Array = np.min([part.n for part in parts], axis=0)
    shares = tuple(share for part in parts for share in part.shares)
    return Bounds(estimate, n, at, (IntervalMethod.MOVER, IntervalMethod.WILSON), shares)


@bounds.register(ScoreStatistic)
def _(statistic: ScoreStatistic, evidence: Evidence) -> Bounds:
    return scored(statistic, evidence)


@bounds.register(MomentStatistic)
def _(statistic: MomentStatistic, evidence: Evidence) -> Bounds:
    return of_moments(statistic, evidence)


def denominator(statistic: Statistic) -> Count | None:
    """Return the rows by which a statistic of a whole is the mean of its parts', if it is one.

    ``statistic(whole) = sum of rows(part) statistic(part) / sum of rows(part)``.
    """
    if isinstance(statistic, Rate):
        return _counted(statistic.needs, statistic.among)[0]
    if isinstance(statistic, Quotient):
        return _counted(statistic.needs, statistic.under)[0]
    if isinstance(statistic, ScoreStatistic):
        return rows_of_mean(statistic)
    if isinstance(statistic, Agreement):
        return statistic.size
    if isinstance(statistic, Mean):
        return statistic.size
    return None


def _paired(statistic: Quotient, evidence: Evidence) -> Bounds:
    """Return the quotient of two counts of the same rows."""
    pairs = list(zip(statistic.over.coefficients, statistic.under.coefficients, strict=True))
    if any(each not in (0, 1) for pair in pairs for each in pair):
        raise NoInterval(ReasonCode.NO_METHOD, of=statistic.formula)
    both, over, under = (
        Cells(*(int(pair == kind) for pair in pairs)) for kind in ((1, 1), (1, 0), (0, 1))
    )
    worth = evidence.worth(statistic.size)
    cells = _counted(statistic.needs, both, over, under)
    shared, above, below = (count(evidence.side) * worth for count in cells)
    return Bounds(
        quotient(shared + above, shared + below),
        evidence.rows(statistic.size),
        Formula(paired_ratio, (shared, above, below)),
        (IntervalMethod.BONETT_PRICE,),
    )


def _counted(needs: frozenset[Need], *cells: Cells) -> list[Count]:
    """Return how to count sums of cells over the rows where ``needs`` are known."""
    return [CellCount(needs, each) for each in cells]


def _as_part(over: Cells, under: Cells) -> tuple[Cells, Cells, int] | None:
    """Read ``kA / (kA + B)``, A and B disjoint, such as F1; None where it is not of that shape."""
    above, below = over.coefficients, under.coefficients
    times = max(above)
    rest = [b - a for a, b in zip(above, below, strict=True)]
    fits = set(above) <= {0, times} and set(rest) <= {0, 1} and times > 0
    of, other = Cells(*(int(a > 0) for a in above)), Cells(*rest) if fits else over
    return (of, other, times) if fits and of.disjoint(other) else None


def _odds(share: Array) -> Array:
    return quotient(share, 1 - np.asarray(share))


def _weighted_share(share: Array, times: int) -> Array:
    return quotient(times * share, times * share + 1 - share)
