"""Codes of missing values among numbers, and numbers of another unit; sums, places, exposures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

import numpy as np

from fairgauge.catalogue.directions import AMOUNTS
from fairgauge.cube.cube import CountTable, Cube, counts_together
from fairgauge.cube.plan import (
    AROUND_NUMBERS,
    CODES,
    GROUPED,
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
from fairgauge.enums import DiagnosticCode, Observation, Role, Task
from fairgauge.identity import GroupId, group_names
from fairgauge.question import category_words as words
from fairgauge.question.recoding import UNKNOWN
from fairgauge.question.specification import Spec
from fairgauge.reasons import Parameter
from fairgauge.resolve.group_counts import group_columns
from fairgauge.results.scopes import Diagnostic
from fairgauge.stats import patterns
from fairgauge.values import Value, canonical, is_one_of, meaning

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
            rows = cube.cases_by_level[axis][:-1].tolist()
            own = [e for e in cube.plan.axes if e.column == axis.column and e is not axis]
            apart = (Role.SCORE, *OUTCOMES * (spec.task is Task.REGRESSION))
            cuts = [c for e in own if e.role not in apart for c in e.stated_cuts]
            cuts += [c for e in spec.where if e.column == axis.column for c in e.cuts]
            found = codes_of_counts(axis.cuts, rows) if of_counts else codes_beyond_cuts(
                axis.column, axis.cuts, rows, cuts, of_weight=axis.column == spec.weight,
                of_score=any(e.role is Role.SCORE for e in own), chosen=condition is not None,
            )  # fmt: skip
        for value, cases in found.items():
            if cases and not is_price(axis.column, value) and not is_one_of(value, ends):
                facts: dict[str, Parameter] = {"column": axis.column, "rows": int(cases)}
                facts["value"] = value
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


def is_price(column: str, value: Value) -> bool:
    """Return whether a number is often one of a column of prices, by its name."""
    return value in (99, 999) and words.is_column_of("price", column)


def codes_of_counts(edges: Sequence[float], rows: Sequence[float]) -> dict[Value, float]:
    """Return how many rows have a count that is a code: they count as so many cases."""
    high, found = [*edges, math.inf], dict[Value, float]()
    for code in CODES:
        others = [end for end, n in zip(high, rows, strict=True) if n and end != code]
        far = code >= _LEAST_OF_COUNTS and not any(end > code * _FAR_ABOVE for end in others)
        if far and code in edges:
            found[code] = rows[high.index(code)] // code
    return found


def codes_beyond_cuts(
    column: str, edges: Sequence[float], rows: Sequence[float], cuts: Sequence[float], *,
    of_score: bool = False, chosen: bool = False, of_weight: bool = False,
) -> dict[Value, float]:  # fmt: skip
    """Return the codes among numbers of which there are ``rows`` in the intervals of ``edges``.

    Those beyond all cuts, where no other number is near, or further from 0; a negative one also
    where the least cut, as one at quantiles, makes it an interval of its own. So are years of birth
    where all cuts are ages, and in a column of ages all that nobody reaches.
    """
    low, high, at = [-math.inf, *edges], [*edges, math.inf], range(len(rows))
    least, most = min(cuts, default=math.inf), max(cuts, default=-math.inf)
    of_ages = bool(cuts) and least >= 0 and most < OLDEST
    years = [k for k in at if of_ages and low[k] == YEARS[0]]
    others = [0 if k in years else rows[k] for k in at]
    old = any(others[k] and low[k] >= OLDEST and high[k] not in CODES for k in at)
    coded = set[int]() if old else set(years)
    found: dict[Value, float] = {"1900-2100": sum(rows[k] for k in coded)}
    zero = of_score and any(rows[k] and high[k] == 0 for k in at)  # beside which -1 may be one
    for code, held in outlying_codes(others, edges).items():
        beyond = code > most if code > 0 else code <= least and not (zero and code == -1)
        if beyond:
            value = meaning(code) if code in CODES else "<0"
            found[value] = found.get(value, 0) + held
            coded.add(high.index(code))
    if words.is_column_of("age", column) and most < OLDEST:
        impossible = {k for k in at if low[k] >= OLDEST and k not in coded}
        found[f">{OLDEST:g}"] = sum(rows[k] for k in impossible)
        coded |= impossible
    if not of_weight:  # rows of weight 0 do not count
        others = [0 if k in coded else rows[k] for k in at]
        found[0] = _coded_zeros(column, edges, others, of_score, chosen) if least > 0 else 0
        found |= _numbers_apart(low, high, others, least, most)
    return found


def _coded_zeros(
    column: str, edges: Sequence[float], rows: Sequence[float], of_score: bool, chosen: bool
) -> float:
    # the rows of 0, few and far below all others, as placeholders are
    low, of_all = [-math.inf, *edges], sum(rows)
    held = rows[low.index(-LEAST)]
    others = (start for start, n in zip(low, rows, strict=True) if n and start != -LEAST)
    lowest, sums = min(others, default=math.inf), accumulate(rows)
    median = next(start for start, n in zip(low, sums, strict=True) if n >= of_all / 2)
    names = [name for name in NAMED_ZEROS if words.is_column_of(name, column)]
    cases = [*names[:1], *["score"] * of_score]
    if len(edges) == len(AROUND_NUMBERS) and not names:
        # numbers that are no grid of a few, such as of tariffs, of which 0 may be one
        spread = [k for k, n in enumerate(rows) if n and low[k] >= 0]
        below = pairwise(k for k in spread if low[k] <= median)
        fine = all(low[k] / low[before + 1] < _WHOLE_STEP for before, k in below)
        if fine and len(spread) >= _FEWEST_SPREAD and not words.is_column_of("often_zero", column):
            cases.append("number")
    is_code = any(
        held <= max(share, _ZEROS_OF_CHOSEN if chosen else 0) * of_all
        and lowest >= max(least, part * median)
        for share, least, part in (ZEROS[each] for each in cases)
    )
    return held if is_code else 0


def _numbers_apart(
    low: Sequence[float], high: Sequence[float], rows: Sequence[float], least: float, most: float
) -> dict[Value, float]:
    # the fewer of those below and above where there are none, beyond all cuts, as of another unit
    held = [k for k, n in enumerate(rows) if n and low[k] >= 0]
    of_all = sum(rows[k] for k in held)
    for below, above in pairwise(held):
        fewer = sum(rows[k] for k in held if k <= below)
        more = of_all - fewer
        beyond = high[below] <= least if fewer < more else low[above] >= most
        is_apart = low[above] >= TIMES_APART * high[below] and beyond
        if is_apart and SHARES_APART[0] * of_all <= min(fewer, more) <= SHARES_APART[1] * of_all:
            between = float(f"{math.sqrt(low[above] * high[below]):.0e}")
            return {f"{'<' if fewer < more else '>='}{between:g}": min(fewer, more)}
    return {}


# ---- what columns of numbers are, whatever their names


def groups_that_overlap(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of groups whose every count is the sum of those of others, whatever they are called."""
    for grouping in group_columns(cube, spec).values():
        axis, outcomes = grouping.axis, cube.plan.outcomes
        if len(grouping.groups) < 3 or not counts_together(cube, axis, *outcomes):
            continue
        table = cube.marginal([axis, *outcomes])
        table = table.where(grouping.group_of[table.codes[:, 0]] >= 0)
        of_group, several = grouping.group_of[table.codes[:, 0]], len(grouping.groups)
        cell = np.unique(table.codes[:, 1:], axis=0, return_inverse=True)[1].ravel()
        cells = np.zeros((several, int(cell.max(initial=-1)) + 1), dtype=np.int64)
        np.add.at(cells, (of_group, cell), table.cases.astype(np.int64))
        amounts = [np.bincount(of_group, table.sums[each], several).tolist()
                   for each in ("y", "p") if each in table.sums]  # fmt: skip
        names = group_names([GroupId.of(each) for each in grouping.groups])
        for whole, parts in patterns.sums_of_others(cells.tolist(), amounts):
            if not words.is_total(names[whole[0]], names):  # of which another check warns
                values, of = (tuple(names[each] for each in held) for held in (whole, parts))
                yield Diagnostic.warning(
                    DiagnosticCode.GROUPS_THAT_OVERLAP, axis.column, values=values, parts=of,
                    rows=int(cells[whole].sum()), **spec.unit,
                )  # fmt: skip


def rates_with_counts(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of labels that are rates of the cases of their rows, or how many of these have one."""
    column = spec.label or spec.prediction
    axis = Axis(Role.CODES, column or "", AROUND_NUMBERS)
    if spec.count is None or spec.count == column:
        return
    is_rate, is_number = any(cube.seen(Observation.MEANS, column)), False
    if axis in cube.levels:
        rows = _rows_by_interval(cube, axis)
        of = [each for each in cube.plan.outcomes if each.column == column]
        sums = {name: float(e.sum()) for name, e in cube.marginal(of).known(of).sums.items()}
        is_rate = is_rate or patterns.are_rates(rows)
        is_number = patterns.are_many_numbers(rows) and patterns.are_parts_of_cases(sums)
    if is_rate or is_number:
        code, named = DiagnosticCode.RATES_WITH_COUNTS, bool(spec.successes)
        yield Diagnostic.warning(code, column=column, of=spec.count, share=is_rate, named=named)


def exposure_as_weight(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of a weight that counts of events grow with, as they do with the time at risk."""
    axis = Axis(Role.CODES, spec.label or "", AROUND_NUMBERS)
    label = cube.plan.axis(Role.LABEL)
    if spec.weight is None or label is None or axis not in cube.levels:
        return
    table = cube.tables[0].known([label])
    of_cells = table.over([each for each in table.axes if each.role in GROUPED])
    sums = {m: s.tolist() for m, s in of_cells.sums.items()}
    rows, between = _rows_by_interval(cube, axis), patterns.NO_WHOLE
    whole = not any(a <= low and high <= b for low, high, _ in rows for a, b in between)
    if whole and rows and min(high for _, high, _ in rows) >= 0 and patterns.is_exposure(sums):
        code = DiagnosticCode.EXPOSURE_AS_WEIGHT
        yield Diagnostic.warning(code, column=spec.weight, label=spec.label)


def _rows_by_interval(cube: Cube, axis: Axis) -> list[tuple[float, float, float]]:
    table, ends = cube.marginal([axis]).known([axis]), [-math.inf, *axis.cuts, math.inf]
    places, rows = table.codes[:, 0].tolist(), table.sums["rows"].tolist()
    return [(ends[i], ends[i + 1], n) for i, n in zip(places, rows, strict=True) if n > 0]


def places_as_scores(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of scores that are places, of which the first is the best, unless it is stated."""
    axis = cube.plan.axis(Role.SCORE, spec.score)
    if axis is None or spec.favourable in AMOUNTS or spec.weight or spec.count:
        return
    table = cube.marginal([axis]).known([axis])
    low, high = axis.edges(table.codes[:, 0], cube.levels[axis])
    order = low.argsort(kind="stable")
    rows = table.sums["rows"][order].astype(int).tolist()
    sizes: list[int] = []
    if spec.list and (lists := cube.plan.axis(Role.CLUSTER)):
        sizes = cube.marginal([lists]).known([lists]).sums["rows"].astype(int).tolist()
    if rows and patterns.are_places(low[order].tolist(), high[order].tolist(), rows, sizes):
        code = DiagnosticCode.PLACES_AS_SCORES
        yield Diagnostic.warning(code, column=spec.score, rows=sum(rows), **spec.unit)
