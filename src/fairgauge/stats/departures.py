"""When a share of a period departs from its history, and when a change that was found lasts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any, TypeAlias

import numpy as np

from fairgauge.stats.arrays import Array

# periods from which on the next is expected to be like them
FEWEST = 7
# the log of the probability below which something is no coincidence
RARE = math.log(1e-6)
# the least by which a share must differ, and the most that hardly any rows are
SHARE = 0.05
COINCIDENCE = math.log(1e-4)
DESIGN = 3.3
# what numbers are rounded to, rather than copies, and the smallest part of what is expected of
# Pearson's statistic that counts
_ROUNDED, _SMALLEST_PART = 5, 0.1
VOLUME, OF_VOLUME = math.log(4 / 3), 4.3
"""A volume is unusual from a third on, and from so many usual deviations on."""
_RECENT, _SUPPOSED, _ALIKE = 14, 4, 192
"""Until the periods show it, the variance of a share is supposed to be 3.3 times that of sampling.

That counts as four degrees of freedom. A period of more than 634 rows is supposed to vary as much
as one of 192 does by sampling, as shares vary by period however many rows there are.
"""
# the deviation of the logarithm of the volume that is supposed of days, at least and at most, as if
# so many of them were known; and how many periods are remembered
_SUPPOSED_DEVIATIONS, _AS_IF_KNOWN, _FEWEST_WORKING, MEMORY = (0.065, 0.3), 8, 5, 56
# shares of scores that move by days alone hardly reach, and by another scale far surpass: outside
# of a range, and on one side of a median
_OTHER_RANGE, _OTHER_SIDE, _FILLED = 0.2, 0.3, 0.1
_LEFT, _HINT, _BY_DAY = 2 / 3, 3.0, 0.05
"""Rows of an outcome are lost where less than 2/3 are left, and its rate hints at it.

So are those of a group; the log of its odds is supposed to vary by 0.05 from day to day.
"""
_RUNS, _LEFT_IN_SEVERAL, _RARE_IN_SEVERAL = (1, 3, 7), 0.8, math.log(3e-5)
"""Of several periods in a row, less than 4/5 are left: a third may be lost in each.

With a chance of 1e-4, of 1,500 shares that drift or follow the seasons 2 were suspected.
"""

# the fewest rows of two periods in a cell of which Pearson's statistic holds, and of a new value
_CELL, _FEWEST_ROWS = 10, 5
# the rows of a value, and all; and those of the values of every group
_Rows: TypeAlias = tuple[int, int]
_Counts: TypeAlias = Mapping[Any, Mapping[Any, int]]


class Change:
    """A change that was found: it lasts while periods are nearer to it than to what was usual.

    It is over once as many periods were not as were, at most seven.
    """

    def __init__(self) -> None:
        self._by = 0.0
        self._held = 0

    def lasts(self, apart: float, *, found: bool) -> bool:
        """Return whether a period so far from what is usual is one of the change, or is found."""
        if found or (self._held and apart * self._by > self._by**2 / 2):
            self._held = min(self._held + 1, FEWEST) if apart * self._by > 0 else 1
            self._by += (apart - self._by) / self._held
            return True
        self._held = max(self._held - 1, 0)
        return False


def find_departures(
    kinds: Sequence[int],
    counted: Sequence[int],
    sizes: Sequence[int],
    of_all: Sequence[int] | None = None,
    *,
    least: float = SHARE,
    fewer: bool = True,
    lost: bool = False,
) -> dict[int, tuple[int, float, float]]:
    """Return the rows, the share and the usual one of the periods in which it departs from it.

    Usual is that of the last 14 periods of its kind before it that do not. It departs by ``least``,
    or as there are none, in this period and those before it; or, of the rows of a group among those
    ``of_all``, as many are lost, in it or in several in a row. With ``fewer``, it may be less than
    usual in the first week, too; with ``lost``, it departs where a third of the rows is lost.
    """
    found: dict[int, tuple[int, float, float]] = {}
    pools: dict[int, tuple[list[int], list[int], dict[int, float]]] = {}
    change = Change()
    for t, (rows, size) in enumerate(zip(counted, sizes, strict=False)):
        if not size:
            continue
        pool, without, losses = pools.setdefault(kinds[t], ([], [], {}))
        if rows:
            pool += [s for s in without if s not in found]
            without.clear()
        else:
            without.append(t)
        usual = pool[-_RECENT:]
        others = [(counted[s], sizes[s]) for s in usual]
        of, every = total = add_up(others)
        share = rows / size
        one = rows, sum([sizes[s] for s in without]) if of and not rows else size
        suspect = False
        if len(usual) > 1:
            apart = share - of / every
            suspect = bool(abs(apart) > least or (fewer and not rows and of))
            suspect = suspect and _weigh_evidence(one, others, total) > -RARE
            suspect &= apart > 0 or fewer or len(usual) >= FEWEST
            run = _count_lost(one, [(counted[s], sizes[s]) for s in pool[-MEMORY:]]) if lost else 0
            suspect |= run > 0
            if least < 1:  # else it is a rate, which may well change
                suspect = change.lasts(apart, found=suspect)
            if of_all and rows:
                groups = [(sizes[s], of_all[s]) for s in usual]
                losses[t] = _weigh_loss(one, others, total, (size, of_all[t]), groups)
                if losses[t] < -COINCIDENCE / 1.5:
                    losses.clear()
                suspect = change.lasts(apart, found=sum(losses.values()) > -COINCIDENCE)
        if suspect:
            several = pool[len(pool) - run + 1 :] if run else []
            del pool[len(pool) - len(several) :]
            for s in without or losses or [*several, t]:
                found.setdefault(s, (sizes[s], counted[s] / sizes[s], of / every))
        elif rows and t not in losses:
            pool.append(t)
    return found


def find_new(parts: Sequence[tuple[Sequence[int], Sequence[int]]]) -> dict[int, float | None]:
    """Return the periods of a value that no earlier one has, with its share if that matters.

    ``parts``: its rows and all, of all and of every group. It has too many for a rare one, and is
    new for a week, or as long as it has 5% of one of these in a week: then its share matters.
    """
    rows, sizes = map(np.array, parts[0])
    first = int(np.flatnonzero(rows)[0])
    of, every = np.cumsum(parts[0], axis=1)
    before = every[first] - sizes[first]
    many = [t for t in range(first, len(rows)) if of[t] >= _FEWEST_ROWS]
    new = (t for t in many if log_chance(of[t], every[t] - before, every[t]) / DESIGN < RARE)
    if first < FEWEST or (begin := next(new, None)) is None:
        return {}
    large = np.zeros(len(rows), dtype=bool)
    for part in parts:
        lately, of_all = (np.convolve(each, np.ones(FEWEST))[: len(rows)] for each in part)
        large |= lately >= np.maximum(SHARE * of_all, _FEWEST_ROWS)
    stays = np.flatnonzero((rows > 0) & (large | (np.arange(len(rows)) < first + FEWEST)))
    shares = (rows / np.maximum(sizes, 1)).tolist() if large.any() else [None] * len(rows)
    return {t: shares[t] for t in stays.tolist() if t >= begin}


def _weigh_loss(
    one: _Rows, others: Sequence[_Rows], total: _Rows, group: _Rows, groups: Sequence[_Rows]
) -> float:
    # That rows of one outcome of a group are lost: there are fewer of them by a third or more, and
    # fewer of the group, by about as many. Where its rate is another one, its rows are as many.
    (rows, size), (of, every) = one, total
    expected = (size - rows) * of / max(every - of, 1)
    if rows >= _LEFT * expected:
        return 0.0
    own, others_too = sums = add_up(groups)
    lost = (group[1] - size) * own / max(others_too - own, 1) - size
    if lost < (expected - rows) / 2:
        return 0.0
    of_rate = _weigh_evidence(one, others, total)
    return of_rate + _weigh_evidence(group, groups, sums) if of_rate > _HINT else 0.0


def _count_lost(one: _Rows, usual: Sequence[_Rows]) -> int:
    # in how many of the last periods together rows of a group are lost, where in the last they are
    if _has_left(one, add_up(usual), 1.0):
        return 0
    for size in _RUNS:
        first = max(len(usual) - size + 1, 0)
        if _is_lost(add_up([*usual[first:], one]), usual[:first], size):
            return size
    return 0


def _has_left(one: _Rows, usual: _Rows, part: float) -> bool:
    # whether a group has that part of the rows that those of the others lead to expect
    (rows, size), (of, every) = one, usual
    return rows * (every - of) >= part * (size - rows) * of


def _is_lost(one: _Rows, usual: Sequence[_Rows], size: int) -> bool:
    # Whether a group has less than 2/3 of its rows, which is rare by Student's distribution where
    # its share varies by sampling, and as it did before. Several periods are compared with as many
    # at a time before, whose shares vary by what days in a row have in common, too.
    left, rare = (_LEFT, RARE) if size == 1 else (_LEFT_IN_SEVERAL, _RARE_IN_SEVERAL)
    of, every = add_up(usual)
    if not one[0] or len(usual) <= (FEWEST - 1) * size or _has_left(one, (of, every), left):
        return False
    from scipy.special import stdtr

    others = [add_up(usual[max(t - size, 0) : t]) for t in range(len(usual), 0, -size)]
    supposed = 1 + _BY_DAY**2 * of * (every - of) / every / len(others)
    varies = _estimate_dispersion(others, (of, every), supposed)
    deviations = math.sqrt(2 * _ratio_of_likelihoods(one, (of, every)) / varies)
    return float(stdtr(len(others) - 1 + _SUPPOSED, -deviations)) < math.exp(rare)


def add_up(counts: Sequence[_Rows]) -> _Rows:
    """Return the rows of a value, and all, of several periods."""
    return sum([of for of, _ in counts]), sum([every for _, every in counts])


def _weigh_evidence(one: _Rows, others: Sequence[_Rows], total: _Rows) -> float:
    # The log of the likelihood ratio of two shares to one, which is half the square of the
    # deviations between them where the share varies by sampling alone, and as many times that as it
    # varies more. Each period is the number of such rows, and of all.
    typical = max([every for _, every in others]) if one[0] else 0.0
    varies = _estimate_dispersion(others, total, max(DESIGN, typical / _ALIKE))
    return _ratio_of_likelihoods(one, total) / varies


def _ratio_of_likelihoods(*sums: _Rows) -> float:
    of_all, every_row = add_up(sums)
    both = of_all / every_row
    return sum([
        a * math.log(a / every / b)
        for of, every in sums
        for a, b in ((of, both), (every - of, 1 - both))
        if a > 0
    ])  # fmt: skip


def _estimate_dispersion(counts: Sequence[_Rows], total: _Rows, supposed: float) -> float:
    # it is Pearson's statistic by its degrees of freedom, with four more of what is ``supposed``,
    # which decides where the periods are few, or hardly any row is of one of the two kinds
    of, every = total
    share, last = of / every, len(counts) - 1
    if not 0 < share < 1:
        return supposed
    found = sum([(n - m * share) ** 2 / (m * share * (1 - share)) for n, m in counts])
    freedom = min(last, min(of, every - of) / supposed)
    return max(1.0, (found * freedom / last + _SUPPOSED * supposed) / (freedom + _SUPPOSED))


def log_chance(rows: float, some: float, every: float) -> float:
    """Return the log of the chance that so many rows of all are among some of these."""
    if rows > some:
        return -math.inf
    logs = [math.lgamma(n + 1) - math.lgamma(n - rows + 1) for n in (some, every)]
    return logs[0] - logs[1]


def log_multiple(times: int, variances: Array) -> float:
    """Return the log of the largest chance that counts of these variances are all multiples.

    It is the mean of the characteristic function of a sum of independent indicators over all
    frequencies of the multiples, whose size is at most exp(-v (1 - cos t)).

    >>> round(math.exp(log_multiple(2, np.array([25.0, 0.5]))), 4)
    0.342
    """
    waves = 1 - np.cos(2 * np.pi * np.arange(times) / times)
    return float(np.log(np.exp(-np.outer(variances, waves)).mean(axis=1)).sum())


def estimate_deviation(apart: Sequence[float], working: Sequence[float], sampling: float) -> float:
    """Return by how much logarithms of volumes usually differ from what is expected of them.

    ``apart``: by how much those before did. As if eight of them were known, also what the last
    ``working`` days differ by among each other, and ``sampling``; more where few are known.
    """
    held = np.sort(np.abs(apart[-MEMORY:]))
    among = math.inf
    if len(working) >= _FEWEST_WORKING:
        # one weekday may always have other volumes; the factor as below
        last = np.array(working[-_RECENT:])
        near = np.sort(np.abs(last - np.median(last)))[: math.ceil(0.7 * len(last))]
        among = 1.8 * math.sqrt(float(np.mean(near**2))) * (1 + 1 / len(last))
    supposed = _AS_IF_KNOWN * float(np.clip(among, *_SUPPOSED_DEVIATIONS)) ** 2
    kept = held[: math.ceil(0.8 * len(held))]  # the factor makes it that of a normal distribution
    squares = 1.5**2 * len(held) * float(np.mean(kept**2)) if len(held) else 0.0
    known = len(held) + _AS_IF_KNOWN
    uncertain = 1 + 8 / (known + 8)
    of_sampling = _AS_IF_KNOWN * sampling**2 / 2
    return math.sqrt((uncertain**2 * (squares + supposed) + of_sampling) / known)


def usual_volume(value: float, same: Sequence[float], alike: Sequence[float], far: float) -> float:
    """Return the usual logarithm of a volume by those of its weekday, and all of its kind.

    It is the median of the last four of its weekday. Of two, and for more rows than those have that
    holidays put ``far`` apart, the nearest decides. Until there are three, all of them may be
    holidays: then more rows may be as many as the last two of its kind, of two weekdays, have.
    """
    few, more = len(same) < 3, value > median(same)
    others = [*same] if few or (more and max(same) - min(same) > far) else [median(same)]
    if few and more:
        others += [n for n in alike[-2:] if len(same) == 1 or abs(value - n) < VOLUME]
    return min(others, key=lambda other: abs(value - other))


def average_of_recent(deviations: Sequence[float], third: float) -> float | None:
    """Return that of up to seven periods that together are far from usual, if any are."""
    days = np.arange(1, len(deviations) + 1)
    sums = np.cumsum(deviations[::-1])
    far = np.abs(sums) > np.maximum(third * days, OF_VOLUME * np.sqrt(days))
    return float((sums / days)[far.argmax()]) if far.any() else None


def measure_change(one: _Counts, two: _Counts) -> tuple[float, float]:
    """Return Pearson's statistic of the counts within groups, and what is expected of it.

    It is of the cells that have enough rows; the sizes of groups may be fixed, and the same counts
    are no coincidence of their own.
    """
    varies = freedom = 0.0
    for group, after in two.items() if one != two else ():
        before = one.get(group, {})
        n, m = np.array([(before.get(of, 0), after.get(of, 0)) for of in {**before, **after}]).T
        both, (size, other) = n + m, (n.sum(), m.sum())
        if size:
            kept = both >= _CELL
            times = other / size
            varies += float(((m - times * n) ** 2 / (times * both))[kept].sum())
            freedom += float((1 - both / (size + other))[kept].sum())
    return varies, freedom


def usual_of_kind(volumes: Sequence[float], kinds: Sequence[int], t: int) -> float:
    """Return the usual logarithm of a volume of the kind of a period, by the others.

    It is that of all days where fewer than two others show it, or two that differ: in a new
    history, or after a gap, a Saturday may be the first; or else that of the period itself, as of
    hours, which are not like others.
    """
    alike = [kind == kinds[t] for kind in kinds]
    for chosen in (alike, [max(kinds) <= 1] * len(kinds)):
        others = [volumes[s] for s, held in enumerate(chosen) if held and s != t]
        if len(others) > 2 or (len(others) == 2 and abs(others[0] - others[1]) < VOLUME):
            return median(others)
    return volumes[t]


def find_multiples(
    divisors: Sequence[int], variances: Sequence[Array], *, of_counts: bool
) -> dict[int, int]:
    """Return the numbers that all cells of a period are multiples of, where that is no chance.

    Also of several in a row together (then, and ``of_counts``, none to which they are rounded).
    """
    found: dict[int, int] = {}
    run, shared = list[int](), 1
    for t, divisor in enumerate(divisors):
        shared = math.gcd(shared, divisor)
        run = [*run[-MEMORY:], t] if shared > 1 else [t]
        shared = shared if shared > 1 else divisor
        if shared % _ROUNDED and sum(log_multiple(shared, variances[s]) for s in run) < RARE:
            found |= dict.fromkeys(run, shared)
        single = not of_counts or divisor % _ROUNDED
        if single and log_multiple(divisor, variances[t]) < RARE:
            found[t], shared = divisor, 1
    return found


def find_shared(counts: Sequence[_Counts]) -> set[int]:
    """Return the periods that share rows with those before.

    Within groups, their counts change far less from one to the next than those of other rows would.
    Of sums of chi-squared numbers, of which every two neighbours depend on each other, Chernoff's
    bound holds with half of the freedom (by Cauchy and Schwarz).
    """
    changes = [measure_change(one, two) for one, two in pairwise(counts)]
    found = set[int]()
    for t in range(len(changes)):
        varies, freedom = np.cumsum(changes[t::-1][:MEMORY], axis=0).T
        part = np.clip(varies / np.maximum(freedom, 1.0), _SMALLEST_PART, 1.0)
        chance = freedom / 4 * (np.log(part) + 1 - part)
        if chance.min() < RARE:
            found |= {*range(t + 1 - int(chance.argmin()), t + 2)}
    return found


def find_other_ranges(histograms: Array) -> dict[int, tuple[float, float]]:
    """Return the periods that hardly have scores of the same scale, each with two shares.

    These are the share of its rows outside the range of those before, and 0; or 0, and the share of
    those before in its own range.
    """
    found: dict[int, tuple[float, float]] = {}
    usual, known = np.zeros(histograms.shape[1]), 0
    for t, parts in enumerate(histograms):
        outside = known >= FEWEST and parts.any() and _share_outside_usual_range(parts, usual)
        if outside:
            found[t] = outside
        else:
            usual, known = usual + parts, known + int(parts.any())
    return found


def find_other_sides(histograms: Array, kinds: Sequence[int]) -> dict[int, tuple[float, float]]:
    """Return the periods of which far more than usual are on one side of the first ones' median."""
    sizes = histograms.sum(axis=1)
    first = np.cumsum(histograms[sizes > 0][:FEWEST].sum(axis=0))
    median = int(np.searchsorted(first, first[-1] / 2, side="right"))
    above, every = ([*map(int, of)] for of in (histograms[:, median:].sum(axis=1), sizes))
    found = find_departures(kinds, above, every, least=_OTHER_SIDE)
    return {
        t: (share, usual) if share > usual else (1 - share, 1 - usual)
        for t, (_, share, usual) in found.items()
    }


def find_filled(
    histograms: Array, kinds: Sequence[int]
) -> dict[int, tuple[int, tuple[float, float]]]:
    """Return the periods in which one part of the range has far more scores than usual.

    Each has the number of the part, its share and the usual one: scores were filled in.
    """
    found: dict[int, tuple[int, tuple[float, float]]] = {}
    every = histograms.sum(axis=1)
    shares, sizes = histograms[every > 0] / every[every > 0, None], [*map(int, every)]
    for part in np.flatnonzero(np.ptp(shares, axis=0) > _FILLED).tolist():
        counted = [*map(int, histograms[:, part])]
        departures = find_departures(kinds, counted, sizes, least=_FILLED, fewer=False)
        for t, (_, share, usual) in departures.items():
            if share > usual:
                found[t] = part, (share, usual)
    return found


def _share_outside_usual_range(parts: Array, usual: Array) -> tuple[float, float] | None:
    # none where these may be a coincidence: that the first so many of all rows by score are new
    # ones, or that all of these are between two that have so few of the others between them
    rows, every = float(parts.sum()), float(usual.sum())
    low, high = np.flatnonzero(usual)[[0, -1]]
    outside = int(parts[:low].sum() + parts[high + 1 :].sum())
    chance = math.log1p(outside) + log_chance(outside, rows, rows + every)
    if outside > _OTHER_RANGE * rows and chance < RARE:
        return outside / rows, 0.0
    first, last = np.flatnonzero(parts)[[0, -1]]
    inside = float(usual[first : last + 1].sum())
    chance = 2 * math.log(rows) + (rows - 2) * math.log((inside + 1) / (every + 1))
    return (0.0, inside / every) if inside < SHARE * every and chance < RARE else None


def is_in_other_unit(one: tuple[float, float], usual: Sequence[tuple[float, float]]) -> bool:
    """Return whether mean and square are three times as large or a third of the usual ones.

    That is beyond what these vary by; each may be that by a few large numbers.
    """
    sizes = np.abs([*usual, one])
    if len(usual) < FEWEST or not sizes.all():
        return False
    *before, last = np.log(sizes)
    apart, spread = np.abs(last - np.median(before, axis=0)), np.ptp(before, axis=0)
    return bool((apart > math.log(3) + spread).all())
