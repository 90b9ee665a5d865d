"""Codes of missing values among numbers, scores, counts and weights; numbers of another unit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from fairgauge.cube.cube import CountTable, Cube, Sums
from fairgauge.cube.plan import (
    AROUND_NUMBERS,
    CODES,
    LEAST,
    NEARBY,
    OLDEST,
    OUTCOMES,
    SQUARES,
    SUM,
    YEARS,
    Axis,
    outlying_codes,
)
from fairgauge.enums import DiagnosticCode, Role, Task
from fairgauge.question import category_words as words
from fairgauge.question.recoding import UNKNOWN
from fairgauge.question.specification import Spec
from fairgauge.results.scopes import Diagnostic
from fairgauge.values import Value, canonical, is_one_of

# the least code of counts, and the part of it that no other count reaches
_LEAST_OF_COUNTS, _FAR_ABOVE = 999, 0.1
# 0 is no code among few scores, nor where others are below that part of the largest
_MANY_SCORES, _FAR_FROM_0 = 30, 0.25
# codes that scales may hold, too, and how far beyond others, and how often, they are of none
_SHORT, _FEWEST_GAPS, _FAR_APART, _OFTEN = (9, 99), 3, 3, 0.01
# a code that no scale with other negative numbers ends at
_FAR_BELOW = -99
# what part of all rows have a score that was filled in (more may be all of a group), how many times
# as many as have any other, and among how many scores
_FILLED, _TIMES_OTHERS, _FINE = (0.03, 0.4), 8, 100
# where 0 is a code: the largest share of it, the least of the others, and the part of their median
# that this is
ZEROS = {
    "never_zero": (0.2, 86.0, 0.1),  # credit scores begin at some hundreds
    "age": (0.5, 8.0, 0.3),  # next to newborns there are other children
    "measured": (0.1, 0.5, 0.3),  # rates of interest and the like are small, and never 0
    "score": (0.1, 0.1, 0.2),  # a model gives small scores, too, if it gives 0
    "number": (0.1, 8.0, 0.25),  # any other may be a count, of which 1 to 7 are no codes
}
NAMED_ZEROS = ("never_zero", "age", "measured")
"""Those of columns that have such a name."""
# how many intervals numbers are spread over, none of them a whole step from the one before
_FEWEST_SPREAD, _WHOLE_STEP = 4, 1.4
# that share among numbers that a condition chooses
_ZEROS_OF_CHOSEN = 0.5
# how many times as large as others numbers of another unit are, and how many of all are of it
TIMES_APART, SHARES_APART = 16, (0.01, 0.3)


def coded_numbers(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of numbers that are often codes of missing ones, of scores and of columns that are cut.

    Where a condition ends at such a number, or names it, its rows are meant to be as they are.
    """
    for axis in cube.plan.axes:
        condition = next((each for each in spec.where if each.column == axis.column), None)
        ends = [*condition.cuts, *condition.values] if condition else []
        of_counts, found = axis.column == spec.count, {}
        of_sizes = axis.column in (spec.count, spec.weight)
        if axis.role is Role.SCORE and axis.bounds is not None and axis.grid:
            found = _coded_scores(cube, axis)
        elif axis.role is Role.CODES:
            found = _coded_counts(cube, axis) if of_counts else _codes_beyond_cuts(cube, axis, spec)
        for value, cases in found.items():
            priced = value in (99, 999) and words.is_column_of("price", axis.column)
            if cases and not priced and not is_one_of(value, ends):
                facts: dict[str, Any] = {"column": axis.column, "value": value, "rows": int(cases)}
                if not (of_sizes or isinstance(value, str)):
                    facts["line"] = spec.recoding_line(axis.column, {UNKNOWN: [value]})
                yield Diagnostic.warning(DiagnosticCode.CODED_NUMBERS, **facts)


def _coded_scores(cube: Cube, axis: Axis) -> dict[Value, float]:
    # Not where other scores show that it is part of their scale: of a negative one, others beside
    # it or its opposite alone, of one far from 0, others nearby, of 0 few steps.
    table, rows, found = cube.marginal([axis]), np.zeros(axis.bins + 1), {}
    rows[table.codes[:, 0]] = table.cases  # those that weigh something
    rows = rows[:-1]
    held = np.flatnonzero(rows)
    for at in {*held[:1].tolist(), *held[-1:].tolist()}:
        end = axis.edge(at // 2)
        code = end in (0, *_SHORT) or words.is_code_of_missing(f"{end:.15g}")
        if at % 2 == 0 or not code:  # between two edges
            continue
        nearby = NEARBY * end or _FAR_FROM_0 * axis.bounds[1]  # type: ignore[index]
        points = np.clip([-end, 0.0, nearby], *axis.bounds)  # type: ignore[misc]
        opposite, zero, near = axis.bins_of(points).tolist()
        others = rows > 0
        others[at] = False
        if _FAR_BELOW < end < 0:
            of_scale = others[:zero].any() or not np.delete(others, opposite).any()
        elif end in _SHORT:
            gaps = np.diff([axis.edge(each // 2) for each in held.tolist()])
            apart = len(gaps) >= _FEWEST_GAPS and gaps[-1] > _FAR_APART * gaps[:-1].max()
            of_scale = not apart or at < held[-1] or rows[at] < _OFTEN * rows.sum()
        else:
            of_scale = others[min(at, near) : max(at, near) + 1].any()
        if not of_scale and (end or others.sum() >= _MANY_SCORES):
            found[canonical(end)] = rows[at]
    # what was filled in; not at an end, where a model may cap its scores
    *_, second, most = np.sort(rows)
    at, share, times = int(rows.argmax()), most / max(rows.sum(), 1), most / max(second, 1)
    is_much = _FILLED[0] <= share <= _FILLED[1] and times >= _TIMES_OTHERS
    if at % 2 and is_much and len(held) >= _FINE and held[0] < at < held[-1]:
        found[canonical(axis.edge(at // 2))] = most
    return found | _scores_far_above(table.known([axis]))


def _scores_far_above(table: CountTable) -> dict[Value, float]:
    # The scores above the first gap that many lie below, if each is a code, or far above: credit
    # bureaus have 9001 to 9003. The sum of squares shows where all of a bin are one number.
    held, found = table.cases > 0, dict[Value, float]()  # rows that weigh something
    cases, weights = (each[held] for each in (table.cases, table.sums.get("w", table.cases)))
    means, squares = (table.sums[each][held] / weights for each in (SUM, SQUARES))
    alike = squares - means**2 <= 1e-9 * means**2  # but for rounding
    gaps = (means[:-1] < NEARBY * means[1:]) & (means[1:] > max(_SHORT))
    gaps[: _MANY_SCORES - 1] = False
    first = int(gaps.argmax()) + 1 if gaps.any() else len(means)
    usual, often = means[:first].max(initial=0), _OFTEN * cases.sum()
    for mean, one, rows in zip(means[first:], alike[first:], cases[first:], strict=True):
        far, name = mean >= _FAR_APART * usual and rows >= often, f"{mean:.9g}"
        if one and (far or words.is_code_of_missing(name)):
            found[canonical(float(name))] = rows
        elif far:
            apart = f">={float(f'{2 * usual:.0e}'):g}"
            found[apart] = found.get(apart, 0) + rows
        else:
            return {}
    return found


def _coded_counts(cube: Cube, axis: Axis) -> dict[Value, float]:
    # how many rows have each: they count as so many cases
    rows, high = cube.cases_by_level[axis][:-1], np.array([*axis.cuts, np.inf])
    return {
        code: rows[high == code].sum() // code
        for code in CODES
        if code >= _LEAST_OF_COUNTS
        and not ((rows > 0) & (high != code) & (high > code * _FAR_ABOVE)).any()
    }


def _codes_beyond_cuts(cube: Cube, axis: Axis, spec: Spec) -> dict[Value, float]:
    # Those beyond all cuts, where no other number is near, or further from 0; a negative one also
    # where the least cut, as one at quantiles, makes it an interval of its own. So are years of
    # birth where all cuts are ages, and in a column of ages all that nobody reaches.
    rows = cube.cases_by_level[axis][:-1]
    low, high = np.array([-np.inf, *axis.cuts]), np.array([*axis.cuts, np.inf])
    of = [each for each in cube.plan.axes if each.column == axis.column and each is not axis]
    averaged = spec.task is Task.REGRESSION
    cuts = [c for a in of if a.role not in (Role.SCORE, *OUTCOMES * averaged) for c in a.cuts]
    chosen = [each for each in spec.where if each.column == axis.column]
    cuts += [c for condition in chosen for c in condition.cuts]
    least, most = min(cuts, default=np.inf), max(cuts, default=-np.inf)
    years = (low == YEARS[0]) & bool(cuts and least >= 0 and most < OLDEST)
    others = np.where(years, 0, rows)
    coded = years & ~((others > 0) & ~np.isin(high, CODES))[low >= OLDEST].any()
    found: dict[Value, float] = {"1900-2100": rows[coded].sum()}
    of_score = any(each.role is Role.SCORE for each in of)
    zero = of_score and rows[high == 0].any()  # beside which -1 may be one
    for code, held in outlying_codes(others, axis.cuts).items():
        if code > most if code > 0 else code <= least and not (zero and code == -1):
            value = canonical(code) if code in CODES else "<0"
            found[value] = found.get(value, 0) + held
            coded |= high == code
    if words.is_column_of("age", axis.column) and most < OLDEST:
        impossible = (low >= OLDEST) & ~coded
        found[f">{OLDEST:g}"] = rows[impossible].sum()
        coded |= impossible
    if axis.column != spec.weight:  # rows of weight 0 do not count
        others = np.where(coded, 0, rows)
        found[0] = _coded_zeros(axis, low, others, of_score, bool(chosen)) * (least > 0)
        found |= _numbers_apart(low, high, others, (least, most))
    return found


def _coded_zeros(axis: Axis, low: Sums, rows: Sums, of_score: bool, chosen: bool) -> float:
    # the rows of 0, few and far below all others, as placeholders are
    zero, of_all = low == -LEAST, rows.sum()
    held, lowest = rows[zero].sum(), low[(rows > 0) & ~zero].min(initial=np.inf)
    median = low[np.searchsorted(rows.cumsum(), of_all / 2)]
    names = [name for name in NAMED_ZEROS if words.is_column_of(name, axis.column)]
    cases = names[:1] + ["score"] * of_score
    spread = axis.cuts == AROUND_NUMBERS and _is_spread(low, rows, median)
    if spread and not names and not words.is_column_of("often_zero", axis.column):
        cases.append("number")
    is_code = any(
        held <= max(share, _ZEROS_OF_CHOSEN * chosen) * of_all
        and lowest >= max(least, part * median)
        for share, least, part in map(ZEROS.__getitem__, cases)
    )
    return held if is_code else 0


def _is_spread(low: Sums, rows: Sums, median: float) -> bool:
    # whether numbers are no grid of a few, such as of tariffs, of which 0 may be one
    held = np.flatnonzero((rows > 0) & (low >= 0))
    below = held[low[held] <= median]
    steps = low[below[1:]] / low[below[:-1] + 1]
    return len(held) >= _FEWEST_SPREAD and bool((steps < _WHOLE_STEP).all())


def _numbers_apart(
    low: Sums, high: Sums, rows: Sums, cuts: tuple[float, float]
) -> dict[Value, float]:
    # the fewer of those below and above where there are none, beyond all cuts, as of another unit
    held = np.flatnonzero((rows > 0) & (low >= 0))
    least, most = (share * rows[held].sum() for share in SHARES_APART)
    for below, above in pairwise(held.tolist()):
        fewer, more = rows[held[held <= below]].sum(), rows[held[held >= above]].sum()
        beyond = high[below] <= cuts[0] if fewer < more else low[above] >= cuts[1]
        is_apart = low[above] >= TIMES_APART * high[below] and beyond
        if is_apart and least <= min(fewer, more) <= most:
            between = float(f"{math.sqrt(low[above] * high[below]):.0e}")
            return {f"{'<' if fewer < more else '>='}{between:g}": min(fewer, more)}
    return {}
