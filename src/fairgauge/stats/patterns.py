"""What counts and numbers show of how they were made, without a name: places, lists, sums, rates.

What decides is written in plain loops over numbers, so that another language can take it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations, compress, product
from operator import add, gt, le, sub

import numpy as np

from fairgauge.stats.arrays import Array
from fairgauge.values import Value, sort_key

_FEWEST_PLACES = 20
# numbers that differ more are no places, though most of all of them occur
_WHOLE = 2_000
# Of the square root of the rows: by coincidence scores stay within it in 1 of 100,000 tables (the
# distribution of Kolmogorov's statistic at 0.3)
_NEAR = 0.3
_FEWEST_LISTS, _FEWEST_SHUFFLED = 10, 20
_UNLIKE = 3  # times as long as another list, from which on lengths are not alike
_EVEN = 0.25  # of the variance of random counts, up to which lengths are no coincidence
# how many sums of other groups are expected by coincidence, at most, and how many are tried
_COINCIDENCES, _MOST_TRIED = 0.04, 20_000
# what published counts are rounded to, at least: 5 or 10
_ROUNDED_TO = 5
# of how many numbers a common divisor is what they are rounded to; of how many groups all sums are
# tried, and those of two or three
_FEWEST_ROUNDED, _MOST_SUMMED, _MOST_PAIRED = 3, 12, 40
# what part of its size a group may be larger or smaller by, at least: a standard deviation
_SPREAD = 0.25
# how near sums of amounts are that differ by rounding alone, and the coincidences among them
_ROUNDED, _OF_AMOUNTS = 1e-9, 1e-6
# how near one number percentages are beside their distances from a share of the cases, squared,
# and how far above their expectation these are, in standard errors
_NEARER, _BEYOND = 0.5, 3.0
_GROWS_WITH, _STEPS, _MANY = 0.5, 11.0, 30
"""From which correlation with the cases on labels may be parts of them: not steps of a scale, up to
where these are, unless some of many rows have none."""
_OF_EVENTS, _AS_EXPOSURE, _SURELY = 50.0, 0.3, 4.0
"""Up to how many times their mean events vary, from which part of the growth in proportion to
weights on these may be exposure, and from how many standard errors on where they are no parts."""
NO_WHOLE = ((0.0, 0.75), (1.0, 1.5), (2.0, 3.0))
"""Between which numbers no whole one is, of those that intervals of labels part."""
# the part of a squared mean up to which a variance is that of rounding alone
_NEAR_0 = 1e-11


def are_places(
    low: Sequence[float], high: Sequence[float], rows: Sequence[int], sizes: Sequence[int] = ()
) -> bool:
    """Return whether scores are places: a permutation of 1 to n, also with ties, or most of it.

    ``low, high, rows``: of the intervals of scores that occur, in ascending order.
    ``sizes``: how many rows each list has where there are several, with places of their own.

    >>> are_places(range(1, 31), range(1, 31), [1] * 30), are_places([1, 2], [1, 2], [20, 10])
    (True, False)
    """
    total = sum(rows)
    if total < _FEWEST_PLACES:
        return False
    shift = 1 if low[0] == 0 else 0  # places that begin at 0
    near = max(_NEAR * total**0.5 - 2, 0)  # less what ties and whole numbers leave open
    before, tied, single, equal = 0, True, True, True
    for i in range(len(rows)):
        after = before + rows[i]
        tied = tied and low[i] + shift <= after + near and high[i] + shift >= before + 1 - near
        single = single and rows[i] == 1 and low[i] == high[i]
        equal = equal and rows[i] == rows[0] and low[i] == high[i] == low[0] + i
        before = after
    most_of_all = single and 2 * total >= high[-1] + shift and high[-1] - low[0] <= _WHOLE
    places_of_lists = equal and low[0] + shift == 1 and len(rows) >= _FEWEST_LISTS
    return tied or most_of_all or places_of_lists or _are_places_of(sizes, high, rows, shift, near)


def _are_places_of(
    sizes: Sequence[int], high: Sequence[float], rows: Sequence[int], shift: int, near: float
) -> bool:
    if len(sizes) < 2:
        return False
    longest = max(sizes)
    ending = [0] * (longest + 1)
    for size in sizes:
        ending[size] += 1
    have, expected, held, place = len(sizes), 0, 0, 0  # lists that are as long as the place
    for i in range(len(rows)):
        held += rows[i]
        while place < high[i] + shift and place < longest:
            place += 1
            expected += have
            have -= ending[place]
        if high[i] + shift > longest or abs(held - expected) > near:
            return False
    return True


def count_lists(values: Sequence[Value], complete: bool) -> int:
    """Return how many lists of like length the values of a column make; 0 where they are none.

    ``complete``: whether these are all rows; otherwise the last list may be cut off.

    >>> count_lists([row // 5 for row in range(100)], True), count_lists(range(100), True)
    (20, 0)
    """
    lengths: dict[Value, int] = {}
    blocks, ordered, before = 0, True, None
    for value in values:
        if value is None or (isinstance(value, float) and not value.is_integer()):
            return 0
        if value != before:
            blocks += 1
            ordered = ordered and (before is None or sort_key(before) < sort_key(value))
            before = value
        lengths[value] = lengths.get(value, 0) + 1
    every = [*lengths.values()]
    together = blocks == len(every)
    if not complete:
        every = every[:-1] if together else []
    if len(every) < (_FEWEST_LISTS if together else _FEWEST_SHUFFLED):
        return 0
    mean, variance = sum(every) / len(every), 0.0
    for length in every:
        variance += (length - mean) ** 2 / len(every)
    if mean < 2:
        return 0
    alike = together and not ordered and max(every) <= _UNLIKE * min(every)
    return len(every) if alike or variance <= _EVEN * mean else 0


def sums_of_others(
    cells: Sequence[Sequence[int]], amounts: Sequence[Sequence[float]] = ()
) -> list[tuple[list[int], list[int]]]:
    """Return groups whose every cell is the sum of those of others, with the numbers of these.

    It is one group, or several, as of two breakdowns of the same people. What coincidence makes so
    is not returned: few or rounded counts, and groups of nearly one size.

    >>> sums_of_others([[8_011, 91_989], [5_402, 24_598], [4_203, 25_797], [9_605, 50_395]])
    [([3], [1, 2])]
    >>> sums_of_others([[20_060, 48_430], [28_420, 60_440], [39_500, 91_960], [67_930, 152_390]])
    [([3], [1, 2])]
    >>> sums_of_others([[1_207, 4_911], [803, 3_402], [1_544, 6_120], [466, 2_193]])
    [([2, 3], [0, 1])]
    >>> sums_of_others([[80, 920], [50, 250], [40, 260], [90, 510]])
    []
    >>> sums_of_others([[0, 75, 0], [125, 0, 0], [0, 0, 4_820]])
    []
    """
    sizes, of_all = [sum(of) for of in cells], math.gcd(*(n for of in cells for n in of)) or 1
    columns = [*zip(*cells, strict=True)]
    # of a few numbers a common divisor shows no rounding
    units = [of_all if len({*of} - {0}) < _FEWEST_ROUNDED else math.gcd(*of) for of in columns]
    rounded = [each * (each >= _ROUNDED_TO) for each in units]
    held = sorted((at for at, n in enumerate(sizes) if n), key=lambda at: -sizes[at])
    several, found = [*filter(None, [_equal_sums(cells, held, rounded)])], []
    for at in held:
        smaller = [each for each in held if each != at and sizes[each] <= sizes[at]]
        parts = _parts_of(cells, at, smaller, [0] * len(units))
        if not parts and any(rounded):
            parts = _parts_of(cells, at, smaller, rounded)
        several += [[[at], parts]] if len(parts) > 1 else []
    for whole, parts in several:
        n, rest = sum(map(sizes.__getitem__, whole)), {*held} - {*whole, *parts}
        others = [each for each in held if each not in whole or len(whole) > 1]
        own, of_parts, of_rest = ([sum(map(of.__getitem__, part)) for of in columns]
                                  for part in (whole, parts, rest))  # fmt: skip
        ways = 1.0 if own == of_parts else float(len(parts) + 2) ** len(units)  # as many are near
        if len(whole) > 1:
            tried = math.comb(min(len(held), _MOST_PAIRED), min(len(whole), len(parts)))
            ways *= (3 if rest else 2) ** len(held) if rest or len(held) <= _MOST_SUMMED else tried
            spread = float(np.std([sizes[at] for at in held])) * math.sqrt(len(held))
        elif spread := _SPREAD * n * math.sqrt(len(parts)) * (len(parts) < len(held) - 1):
            # else it may be half of all by design
            ways *= len(held) * math.comb(sum(sizes[at] <= n for at in others), len(parts))
        rarity = max(1.0, 2.5 * spread / (math.gcd(*sizes) or 1))
        for cell in range(len(units) - 1):  # the last follows from the others
            share = own[cell] / n
            apart = n * _deviation(
                [cells[each][cell] / sizes[each] for each in others], [sizes[e] for e in others]
            )
            spread = math.sqrt(n * share * (1 - share) + apart**2 / len(parts))
            rarity *= max(1.0, 2.5 * spread / units[cell])
        near = [each * len(held) / 2 for each in rounded]  # of a third breakdown
        third = len(whole) > 1 and all(map(le, map(abs, map(sub, of_rest, own)), near))
        odds = ways / rarity ** (1 + third)
        for of in amounts:
            largest = max(abs(of[each]) for each in [*whole, *parts])
            gap = sum(of[each] for each in whole) - sum(of[each] for each in parts)
            odds = 1.0 if abs(gap) > _ROUNDED * largest else odds * (_OF_AMOUNTS if largest else 1)
        if odds < _COINCIDENCES:
            found.append((whole, sorted(parts)))
    return found


def _equal_sums(
    cells: Sequence[Sequence[int]], groups: Sequence[int], rounded: Sequence[int]
) -> list[list[int]]:
    # the most groups of which some have in every cell what others have, but for what cells are
    # ``rounded`` to; groups of equal cells make no others equal
    distinct = [at for at in groups if cells.count(cells[at]) == 1]
    near = np.array(rounded) * (len(distinct) + 1) / 2
    if len(distinct) > _MOST_SUMMED:  # of so many, two or three that have half of all
        counts, largest = np.array(cells)[distinct], range(min(len(distinct), _MOST_PAIRED))
        for few in (np.array([*combinations(largest, k)]) for k in (2, 3)):
            gaps = np.abs(2 * counts[few].sum(axis=1) - counts.sum(axis=0))
            for of in few[(gaps <= 2 * near).all(axis=1)][:1].tolist():
                whole = [distinct[i] for i in of]
                return [whole, [at for at in distinct if at not in whole]]
        return []
    if len(distinct) < 4:
        return []
    halves = distinct[::2], distinct[1::2]
    signs = [np.array([*product((0, 1, -1), repeat=len(of))]) for of in halves]
    one, two = (sign @ np.array(cells)[of] for sign, of in zip(signs, halves, strict=True))
    i, j = np.nonzero(np.abs(one[:, None, 0] + two[:, 0]) <= near[0])
    fits = (np.abs(one[i] + two[j]) <= near).all(axis=1)
    sides, of = np.hstack([signs[0][i[fits]], signs[1][j[fits]]]), [*halves[0], *halves[1]]
    plus, minus, rest = (sides == k for k in (1, -1, 0))
    third = (np.abs((plus * 1 - rest) @ np.array(cells)[of]) <= near).all(axis=1)  # as is no chance
    enough = np.minimum(plus.sum(axis=1), minus.sum(axis=1)) > 1
    best = np.lexsort((rest.sum(axis=1), ~third, ~enough))[0]
    return [[*compress(of, side[best])] for side in (plus, minus)] if enough[best] else []


def _deviation(numbers: Sequence[float], weights: Sequence[float]) -> float:
    every = list(zip(numbers, weights, strict=True))
    mean = sum(x * w for x, w in every) / sum(weights)
    return math.sqrt(sum(w * (x - mean) ** 2 for x, w in every) / sum(weights))


def _parts_of(
    cells: Sequence[Sequence[int]], at: int, others: Sequence[int], rounded: Sequence[int]
) -> list[int]:
    # the first groups found, the largest tried first, whose cells add up to those of one, but for
    # what they are ``rounded`` to
    # what all groups from each on have together
    every = np.array([*(cells[each] for each in others), [0] * len(cells[at])])
    rest = np.cumsum(every[::-1], axis=0)[::-1].tolist()
    most = [each * (len(others) + 1) / 2 for each in rounded]  # that later ones may make up for
    open_: list[tuple[int, list[int], list[int]]] = [(0, list(cells[at]), [])]
    for _ in range(_MOST_TRIED // (len(others) + 1)):
        if not open_:
            return []
        start, left, parts = open_.pop()
        near = [each * (len(parts) + 1) / 2 for each in rounded]
        if len(parts) > 1 and all(map(le, map(abs, left), near)):
            return parts
        if start == len(others) or any(map(gt, left, map(add, rest[start], most))):
            continue
        open_.append((start + 1, left, parts))
        this = cells[others[start]]
        if all(map(le, this, map(add, left, most))):
            open_.append((start + 1, [*map(sub, left, this)], [*parts, others[start]]))
    return []


def are_rates(rows: Sequence[tuple[float, float, float]]) -> bool:
    """Return whether all numbers are from 0 to 1, and some between: (above, up to, rows).

    >>> are_rates([(0.125, 0.25, 7.0)]), are_rates([(0.125, 0.25, 7.0), (1.0, 2.0, 1.0)])
    (True, False)
    """
    of_all = all(high <= 1 and (low >= 0 or high == 0) for low, high, _ in rows)
    return of_all and any(low >= 0 and high < 1 for low, high, _ in rows)


def may_be_percentages(sums: Mapping[str, float]) -> bool:
    """Return whether numbers of positive cases are near one number, and not near a share of cases.

    >>> [may_be_percentages({"rows": 2, "cases": n, "squares": nn, "positive": 118,
    ...                      "squares+": 7684, "gaps": gaps}) for n, nn, gaps in (
    ...     (1520, 1270400, 1080484), (1520, 1270400, 1116964))]
    [False, True]
    """
    n, positive = max(sums["rows"], 1), sums["positive"]
    share = positive / max(sums["cases"], 1)
    products = (sums["squares"] + sums["squares+"] - sums["gaps"]) / 2
    of_number = sums["squares+"] - positive**2 / n
    of_share = sums["squares+"] - 2 * share * products + share**2 * sums["squares"]
    variance = positive * (1 - share)  # where the shares are the same
    above = 1 + _BEYOND * math.sqrt(2 / n)
    return of_number <= _NEARER * of_share and of_share > above * variance


def are_many_numbers(rows: Sequence[tuple[float, float, float]]) -> bool:
    """Return whether numbers are more than the steps of a scale: (above, up to, rows).

    >>> are_many_numbers([(2.8, 4.0, 90.0)]), are_many_numbers([(32.0, 45.3, 2.0)])
    (False, True)
    """
    some_none = any(high == 0 for _, high, _ in rows) and sum(n for *_, n in rows) >= _MANY
    return some_none or any(low >= _STEPS for low, _, _ in rows)


def are_parts_of_cases(sums: Mapping[str, float]) -> bool:
    """Return whether no label exceeds the cases of its row, and they grow together.

    The sums are of cases, each with its row's label y and number of cases n.
    """
    if "left" not in sums or sums["apart"] > sums["left"]:
        return False
    w = sums["n"]
    y, n, gap = sums["y"] / w, sums["size"] / w, sums["left"] / w
    var_y, var_n = sums["yy"] / w - y * y, sums["size2"] / w - n * n
    var_gap = sums["left2"] / w - gap * gap
    spread = math.sqrt(max(var_y, 0.0) * max(var_n, 0.0))
    return spread > 0 and (var_y + var_n - var_gap) / 2 >= _GROWS_WITH * spread


def is_exposure(sums: Mapping[str, Sequence[float]]) -> bool:
    """Return whether labels are of events, and grow with the weights as they do with exposure.

    Within cells the variance of events is about their mean: that of amounts exceeds it many times.
    Sampling weights do not depend on the labels of a cell: these are then on average as large for
    large weights, and in proportion to them where weights are exposure. Weights below 1 are parts
    of a whole, such as a year, as no sampling weights are.
    """
    grown = expected = variance = apart = 0.0
    for i, w in enumerate(sums["w"]):
        w2, w3, w4, y, y2 = (sums[name][i] for name in ("w2", "w3", "w4", "y", "y_w2"))
        mean = w2 / w if w > 0 else 0.0
        if y <= 0 or w3 <= mean * w2 * (1 + 1e-9):
            continue  # no event, or one weight
        grown += y2 - mean * y
        expected += y / w2 * (w3 - mean * w2)
        apart += sums["yy"][i] - 2 * y / w2 * y2 + (y / w2) ** 2 * w3
        spread = max(sums["yy"][i] / w - (y / w) ** 2, 0.0)
        variance += spread * max(w4 - 2 * mean * w3 + mean * mean * w2, 0.0)
    parts = sum(sums["w3"]) < sum(sums["w2"]) < sum(sums["w"])
    sure = grown >= _SURELY * math.sqrt(variance)
    few = apart <= _OF_EVENTS * sum(sums["y"])
    return few and expected > 0 and grown >= _AS_EXPOSURE * expected and (parts or sure)


def errors_of_amounts(sums: Mapping[str, Array]) -> tuple[Array, Array]:
    """Return the squared errors of each group, and the least share of rows with one in the others.

    They are infinite where labels do not vary; the share is that of the inequality of Cauchy and
    Schwarz. The sums are of labels y, and of what predictions differ by from them.
    """
    y, yy, gap, gap2 = (sums[name] for name in ("y", "yy", "gap", "gap2"))
    n = sums.get("w", sums.get("n", sums["rows"]))
    varied = n * yy - y**2 > _NEAR_0 * n * yy
    other_n, other_gap, other_gap2 = (each.sum() - each for each in (n, gap, gap2))
    share = other_gap**2 / np.maximum(other_n * other_gap2, 1e-300)
    return np.where(varied, gap2, np.inf), share
