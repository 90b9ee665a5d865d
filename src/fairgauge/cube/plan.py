"""Plan: what must be counted to answer a Spec, each thing once. A frozen value that cubes carry.

The levels of an axis are its different values, canonical, sorted and checked.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairgauge.catalogue.score_statistics import RocAuc
from fairgauge.enums import Closed, Favourable, Role, Task, Threshold
from fairgauge.errors import DataError, Problem, SpecError, TooManyValues, form_of, quote
from fairgauge.identity import Bin, Part, ValueSet, bins
from fairgauge.question import category_words as words
from fairgauge.question.features import Above, ByColumn, Feature
from fairgauge.question.options import OPTIONS, flag_of
from fairgauge.question.recoding import Recoding
from fairgauge.question.specification import Spec, SwapQuestion, ask, refuse_named_files
from fairgauge.start.records import dataclass, field, fields, replace
from fairgauge.stats.arrays import Integers
from fairgauge.values import (
    Json,
    Saved,
    Value,
    canonical,
    is_number,
    meaning,
    name_of,
    plain_number,
    sort_key,
    typed_texts,
)

_MOST_JOINT_FEATURES = 3
_MOST_JOINT_CANDIDATES = 4
# cuts up to which comparing with each of them is faster than searching
_MOST_COMPARED = 32
GRID, WHOLE = 1_000, 2_000
OUTCOMES = (Role.LABEL, Role.PREDICTION)
LARGEST = 1e70
"""The fourth power of a larger number might not fit: in products of three or more factors, columns
are kept within it."""

WEIGHTS = ("w", "w2", "w3")
"""The sums of the powers of weights."""

_MAY_BE_CODED = (Role.FEATURE, Role.STRATUM, *OUTCOMES, Role.CANDIDATE)

_IDENTIFIERS = frozenset(
    (Role.CLUSTER, Role.ITEM, Role.FAMILY, Role.VARIANT, Role.CONDITION, Role.PROXY,
     Role.SAMPLE_STRATUM)
)  # fmt: skip

_NINES = tuple(10**d - less for d in range(2, 10) for less in (3, 2, 1) if d < 5 or less < 3)
CODES = (*range(-99, 0), *(-n for n in _NINES if 99 < n < 10**4), -888, -777,
         9, *_NINES, 777, 888, 1111, 7777, 8888)  # fmt: skip
"""Numbers that codes of missing values may be: intervals hide them, so they count apart."""
YEARS = (1899.5, 2100.0)
OLDEST = 120.0
"""The numbers between which are years of birth, and that no age exceeds."""
NEARBY = 7 / 8
"""Of a code far from 0, the part of it from which on other numbers are of one scale with it."""
LEAST = 0.001
BEFORE_BIRTH = -LEAST
"""The cut below bands of ages: an age of -2 is in none of them."""
NEAR_9, LEAST_OF_9 = 2**2.5, 0.01
"""From where numbers are of one scale with 9, and the part of all that 9 is where it is a code."""
AROUND_CODES = tuple(sorted({
    *map(float, CODES),
    *(code - LEAST for code in CODES if code - 1 not in CODES),
    *(code * NEARBY for code in CODES if code >= 99 and code + 1 not in CODES),
    *(-100 * 2.0**step for step in range(13)),  # between which other negative numbers are
    *(2.0**step for step in range(-4, 14)),  # where numbers begin, and their median
    -LEAST, 0.0, NEAR_9, OLDEST, *YEARS,
}))  # fmt: skip
AROUND_NUMBERS = tuple(sorted({*AROUND_CODES, *(2 ** (step + 0.5) for step in range(-4, 14))}))
"""The same, which also show whether numbers are spread or a grid of a few: of averaged ones."""
AROUND_WEIGHTS = tuple(edge for edge in AROUND_CODES if edge >= NEAR_9)

FEW_CODES, ROWS_OF_CODE = 8, 3
"""Different negative numbers up to which they may be codes, and the rows of each at least."""


def outlying_codes(rows: Sequence[float], cuts: Sequence[float]) -> dict[float, float]:
    """Return the rows of the codes near which no other number is, or further from 0.

    ``rows``: of each interval that ``cuts`` make, which are those around codes.
    """
    low, high = [-math.inf, *cuts], [*cuts, math.inf]
    held = [k for k, n in enumerate(rows) if n]
    below, above = [k for k in held if high[k] < 0], [k for k in held if high[k] > 0]
    found = {high[k]: rows[k] for k in below}
    if not _are_negative_codes(rows, low, high, held):  # of a scale but for what lies far below
        others = [high[k] for k in below if high[k] > -97 or high[k] not in CODES]
        far = [
            high[k] for k in below
            if high[k] <= -99 and high[k] in CODES and rows[k] >= ROWS_OF_CODE
        ]  # fmt: skip
        found = {c: found[c] for c in far if not any(n <= NEARBY * c for n in others)}
    for k in (each for each in above if high[each] in CODES):
        # scales of few steps hold 9
        near = NEAR_9 if high[k] == 9 else NEARBY * high[k]
        few = rows[k] < max(ROWS_OF_CODE, LEAST_OF_9 * sum(rows) if high[k] == 9 else 0)
        if not few and not any(low[n] >= near for n in above if high[n] not in CODES):
            found[high[k]] = rows[k]
    return found


def _are_negative_codes(
    rows: Sequence[float], low: Sequence[float], high: Sequence[float], held: Sequence[int]
) -> bool:
    # Whether all negative numbers are: few whole ones, each of several rows. They are of a scale
    # of even steps that reaches as far below 0 as above it, or has fewer rows further from it.
    below = [*reversed([k for k in held if high[k] < 0])]
    between = sum(high[k] not in CODES for k in below)
    if not below or between > 1 or len(below) > FEW_CODES:
        return False
    if -high[below[0]] <= LEAST or min(rows[k] for k in below) < ROWS_OF_CODE:
        return False
    steps = [high[k] / high[below[0]] for k in below]
    even = all(step % 1 == 0 for step in steps) and steps[-1] <= 1.5 * len(steps)
    even = even and not any(low[k] >= 0 and high[k] <= -0.75 * high[below[0]] for k in held)
    half = len(below) // 2
    near, far = (sum(rows[k] for k in of) for of in (below[:half], below[len(below) - half :]))
    symmetric = low[held[-1]] < -high[below[-1]]
    return not (even and (symmetric or (len(below) > 2 and near >= far)))


REPLICATE = "@"
"""What stands before the column of a replicate weight in the name of a sum that it makes."""
# the sums that means are made of, which replicate weights make too
_OF_MEANS = ("y", "p", "gap")

COUNTED = tuple(option.name for option in OPTIONS if option.counted)
"""The keys of a specification that decide what is counted."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One thing that rows are distinguished by.

    ``role``: what it stands for.
    ``column``: the column it is read from.
    ``cuts``: cut points of a numeric column; its values are then the numbers 0 ... k of the bins.
    ``closed``: the edge that belongs to a bin: "right" is (low, high], "left" is [low, high).
    ``bounds``: the range that values must lie in.
    ``grid``: number of equal bins between the bounds, for fine histograms; the values are then the
        numbers 0 ... 2 grid + 1: odd ones lie exactly on an edge, even ones between two edges.
    ``recoding``: the categories that its values are counted by. Counts hold only these, so that it
        is no part of what they are.
    ``no_numbers``: the values of a numeric column that are no numbers, as in rows without one.
    ``moments``: the first times of what a condition distinguishes. An engine may count every time
        as the last of these before it.
    ``control``: whether it is asked for as a control, and called so where it is wrong.
    """

    role: Role
    column: str
    cuts: tuple[float, ...] = ()
    closed: Closed = Closed.RIGHT
    bounds: tuple[float, float] | None = None
    grid: int = 0
    recoding: Recoding | None = field(default=None, compare=False)
    no_numbers: tuple[Value, ...] = field(default=(), compare=False)
    moments: tuple[dt.datetime, ...] = field(default=(), compare=False)
    control: bool = field(default=False, compare=False)

    @property
    def bins(self) -> int:
        """Return the number of bins of a numeric axis, 0 for an axis of plain values."""
        return 2 * self.grid + 2 if self.grid else len(self.cuts) + 1 if self.cuts else 0

    @property
    def limited(self) -> bool:
        """Return whether the number of values is limited: not of bins, and not of identifiers."""
        return not self.bins and self.role not in _IDENTIFIERS

    @property
    def stated_cuts(self) -> tuple[float, ...]:
        """Return the cuts that are asked for: those of ages without the one below all bands."""
        return self.cuts[self.cuts[:1] == (BEFORE_BIRTH,) :]

    def bins_of(self, numbers: NDArray[np.float64]) -> Integers:
        """Return the position of the interval of every number, NaN being in any.

        >>> age = Axis(Role.FEATURE, "age", (40.0,), Closed.LEFT)
        >>> age.bins_of(np.array([39.0, 40.0, 41.0])).tolist()
        [0, 1, 1]

        Of a grid the nearest edge is found, then what lies below, on and above it:

        >>> score = Axis(Role.SCORE, "score", bounds=(0.0, 1.0), grid=10)
        >>> score.bins_of(np.array([0.0, 0.05, 0.1, 1.0])).tolist()
        [1, 2, 3, 21]
        """
        if self.grid and self.bounds:
            low, high = self.bounds
            nearest = np.rint((numbers - low) / (high - low) * self.grid)
            edge = self.edge(nearest)
            with np.errstate(invalid="ignore"):  # of NaN
                found = nearest.astype(np.int32)
            found *= 2
            found += numbers >= edge
            found += numbers > edge
            return found
        side: Literal["left", "right"] = "right" if self.closed is Closed.LEFT else "left"
        ends = [np.fmin.reduce(numbers, initial=np.inf), np.fmax.reduce(numbers, initial=-np.inf)]
        first, last = np.searchsorted(self.cuts, ends, side=side).tolist()
        if last - first <= _MOST_COMPARED:
            beyond = np.greater_equal if self.closed is Closed.LEFT else np.greater
            found = np.full(len(numbers), first, dtype=np.int16)
            for cut in self.cuts[first:last]:
                found += beyond(numbers, cut)
            return found
        # by the logarithm, in a third of the time of a search, but where a cut is near, or beyond
        edges = 2.0 ** ((np.arange(-4 * 64, 14 * 64 + 2) - 0.5) / 64)
        below, above = (np.searchsorted(self.cuts, edges * (1 + near)) for near in (-1e-9, 1e-9))
        steps = np.rint(64 * np.log2(np.fmin(np.fmax(numbers, 2.0**-4), 2.0**14))).astype(np.int16)
        places: Integers = np.where(below[:-1] == above[1:], below[:-1], -1)[steps + 4 * 64]
        rest = np.flatnonzero((places < 0) | (np.abs(steps - 5 * 64) == 9 * 64))
        places[rest] = np.searchsorted(self.cuts, numbers[rest], side=side)
        return places

    def edge(self, k: Any) -> Any:
        """Return an edge of the grid, or edges, computed as every engine does.

        >>> Axis(Role.SCORE, "score", bounds=(-1.0, 1.0), grid=1_000).edge(675)
        0.35
        """
        assert self.bounds is not None
        low, high = self.bounds
        return (k * (high - low) + low * self.grid) / self.grid

    def edges(
        self, codes: NDArray[np.int64], levels: tuple[Value, ...]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the lower and upper edges of coded scores; equal where the score is exact."""
        if not self.grid:
            exact = np.array([float(levels[c] or 0) for c in codes.tolist()])
            return exact, exact
        return self.edge((codes - 1) // 2), self.edge(codes // 2)

    def parts(self, levels: tuple[Value, ...]) -> list[Part]:
        """Return what each level is as a group of its own."""
        if not self.cuts:
            return [ValueSet((level,)) for level in levels]
        every = bins(self.stated_cuts, self.closed)
        if len(self.stated_cuts) < len(self.cuts):
            every = (Bin(-math.inf, 0.0, Closed.LEFT), *every)
        return [every[int(level)] for level in levels if isinstance(level, int)]

    def names(self, levels: tuple[Value, ...]) -> list[str]:
        """Return the names of levels as people see them, no two of one column alike."""
        if not self.cuts:
            return [each if isinstance(each, str) else name_of(each) for each in levels]
        return [part.name() for part in self.parts(levels)]


Factor: TypeAlias = Literal["x", "gap", "distance", "log", "log_rest"]
"""Of columns x and y: x, y - x, its size, and the logarithms of x and 1 - x, kept finite."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A number of each row that is summed, times its count and weight; 0 where it is missing.

    It is the product of its factors, of columns x (and y), x less a centre. ``power`` is that of
    the weight, in whose place ``by`` names a replicate weight.
    """

    name: str
    columns: tuple[str, ...]
    factors: tuple[Factor, ...]
    power: int = 1
    centre: float = 0.0
    by: str = ""

    @property
    def limited(self) -> bool:
        """Return whether its columns are kept within `LARGEST`."""
        return len(self.factors) > 2


@dataclass(frozen=True, slots=True)
class Plan:
    """The axes, the tables over some of them, and the columns that are summed.

    ``axes``: every axis, each once.
    ``tables``: the tables to count, each the positions of its axes in ``axes``.
    ``asked``: the part of the specification that the counts answer.
    ``moments``: the numbers that are summed in every cell.
    ``listed``: of columns that have no axis, each with the values that are no numbers.
    """

    axes: tuple[Axis, ...]
    tables: tuple[tuple[int, ...], ...]
    asked: Spec
    moments: tuple[Moment, ...] = ()
    listed: tuple[tuple[str, tuple[Value, ...]], ...] = field(default=(), compare=False)

    @property
    def count(self) -> str | None:
        return self.asked.count

    @property
    def weight(self) -> str | None:
        return self.asked.weight

    @property
    def replicates(self) -> tuple[str, ...]:
        """Return the columns of replicate weights: a row that lacks one of them has no weight."""
        return tuple(dict.fromkeys(moment.by for moment in self.moments if moment.by))

    def axis(self, role: Role, column: str | None = None) -> Axis | None:
        for axis in self.axes:  # a generator would be called for every axis
            if axis.role is role and column in (None, axis.column):
                return axis
        return None

    @property
    def outcomes(self) -> tuple[Axis, ...]:
        """Return the axes of label and prediction; the last is what counts of a person."""
        return tuple(axis for role in OUTCOMES if (axis := self.axis(role)))

    @property
    def joint(self) -> bool:
        """Return whether the cells of all axes make every table, and are hardly more than its own.

        An axis that a table lacks may cut a score whose grid it has: a cut splits one step of it.
        """

        def has_all(table: tuple[int, ...]) -> bool:
            fine = {self.axes[i].column for i in table if self.axes[i].grid}
            lacking = (axis for i, axis in enumerate(self.axes) if i not in table)
            return all(
                axis.role is Role.CODES or (axis.cuts and axis.column in fine) for axis in lacking
            )

        return any(map(has_all, self.tables))

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*(a.column for a in self.axes), *self.numeric_columns]))

    @property
    def numeric_columns(self) -> tuple[str, ...]:
        """Return the columns that must be numbers, each once."""
        every = [axis.column for axis in self.axes if axis.bins]
        every += [column for column in (self.count, self.weight) if column]
        every += [c for m in self.moments for c in (*m.columns, *([m.by] if m.by else []))]
        return tuple(dict.fromkeys(every))

    @property
    def no_numbers(self) -> dict[str, tuple[Value, ...]]:
        of_axes = {a.column: a.no_numbers for a in self.axes if a.bins and a.no_numbers}
        return dict(self.listed) | of_axes

    @property
    def measures(self) -> tuple[str, ...]:
        """Return what is summed: physical rows, cases, powers of weights, and moments.

        Of rows with weights, n are the cases of a weight above 0: the others are no evidence.
        """
        every = ("cases",) if self.count and self.weight else ()
        cases = (*every, "n") if self.count or self.weight else ()
        weights = WEIGHTS if self.weight and self.moments else WEIGHTS[:2] if self.weight else ()
        return ("rows", *cases, *weights, *(moment.name for moment in self.moments))

    @property
    def cases(self) -> str:
        """Return the measure of cases: a row is one, or stands for as many as its count states."""
        if not self.count:
            return "rows"
        return "cases" if self.weight else "n"

    def to_dict(self) -> dict[str, Json]:
        asked = self.asked.to_dict()
        return {
            "axes": [_plain_fields(axis) for axis in self.axes],
            "tables": [list(table) for table in self.tables],
            "moments": [
                {k: v for k, v in _plain_fields(moment).items() if k not in ("centre", "by") or v}
                for moment in self.moments
            ],
            "asked": {key: asked[key] for key in COUNTED},
        }

    @classmethod
    def from_dict(cls, found: Saved) -> Plan:
        def read(values: Saved) -> dict[str, Any]:
            return {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}

        kinds = [{"role": Role(a["role"]), "closed": Closed(a["closed"])} for a in found["axes"]]
        axes = (Axis(**read(a) | kind) for a, kind in zip(found["axes"], kinds, strict=True))
        moments = (Moment(**read(moment)) for moment in found["moments"])
        asked = read_question(found["asked"])
        return cls(tuple(axes), tuple(map(tuple, found["tables"])), asked, tuple(moments))

    def difference(self, other: Plan) -> str:
        mine, yours = self.asked.to_dict(), other.asked.to_dict()
        for key in COUNTED:
            if mine[key] != yours[key]:
                values = ("not set" if v is None else repr(v) for v in (mine[key], yours[key]))
                return f"{key} is {' in one and '.join(values)} in the other"
        cuts = [axis.cuts for each in (self, other) if (axis := each.axis(Role.PREDICTION))]
        if isinstance(self.asked.threshold, Threshold) and len(set(cuts)) > 1:
            medians = " in one and ".join(name_of(median) for (median,) in cuts)
            return (
                f"the threshold is the median of the scores, {medians} in the other; counts at "
                "different medians do not add up: give the rows of both to one count or audit"
            )
        # of numbers about another centre, sums can be moved
        same = centre_moments(self, 0.0) == centre_moments(other, 0.0)
        return "" if same else "they were counted by another version of fairgauge"


def centre_of(plan: Plan) -> float:
    """Return what numbers are summed less, so that their squares are not far from 0."""
    return max((moment.centre for moment in plan.moments), key=abs, default=0.0)


def centre_moments(plan: Plan, centre: float) -> Plan:
    """Return a plan with sums of labels and predictions about a centre."""
    numbers = {axis.column for axis in plan.outcomes}
    moments = (
        replace(m, centre=centre) if {*m.columns[:1]} & numbers and "x" in m.factors else m
        for m in plan.moments
    )
    return replace(plan, moments=tuple(moments))


def _plain_fields(value: Axis | Moment) -> dict[str, Json]:
    # the fields by name; `dataclasses.asdict` copies each, which every digest would pay
    return {each.name: getattr(value, each.name) for each in fields(value) if each.compare}


def read_question(options: Mapping[str, object]) -> Spec:
    """Read the options that a cube holds, as `Spec.to_dict` wrote them."""
    given = {key: value for key, value in options.items() if value not in ([], {})}
    refuse_named_files(given)
    return ask(None, None, **given)


def common_question(one: Spec, other: Spec) -> Spec:
    """Return the question of counts added up: where the two differ, an option has its default.

    Options that decide the counts are the same in both.
    """
    default = Spec()
    mine, yours = _normalise_outcomes(one), _normalise_outcomes(other)
    differing = [f.name for f in fields(Spec) if getattr(mine, f.name) != getattr(yours, f.name)]
    return replace(one, **{name: getattr(default, name) for name in differing})


def _normalise_outcomes(spec: Spec) -> Spec:
    def meant(values: tuple[Value, ...]) -> tuple[Value, ...]:
        return tuple(dict.fromkeys(map(meaning, values)))

    positive = spec.positive
    if isinstance(positive, tuple):
        positive = meant(positive)
    elif isinstance(positive, ByColumn):
        positive = ByColumn(tuple((column, meant(held)) for column, held in positive.columns))
    return replace(spec, positive=positive, score_of=meaning(spec.score_of))


def plan(spec: Spec, median: float | None = None) -> Plan:
    """Return what must be counted to answer a specification.

    ``median`` is the median of the scores, where that is the threshold.

    A few features are counted together, so that every intersection comes from one table; many are
    counted in one table for each margin that is asked for. Scores are counted in fine bins, in a
    table of their own for each margin, and so are clusters.
    """
    outcome = [_axis_of(Role.STRATUM, column) for column in spec.strata]
    outcome += _outcome_axes(spec, median)
    candidates = [  # read as the decisions of the model in use are
        replace(axis, role=Role.CANDIDATE, column=column)
        for axis in outcome
        if axis.role is Role.PREDICTION
        for column in spec.candidate
    ]
    asked = [*((f.column,) for f in spec.sensitive), *spec.intersections]
    columns = dict.fromkeys([column for margin in asked for column in margin])
    features = {c: _axis_of(Role.FEATURE, spec.feature(c)) for c in columns}
    margins = [[features[c] for c in margin] for margin in asked]
    together = [[*features.values()]] if len(features) <= _MOST_JOINT_FEATURES else margins
    # a few candidates are counted jointly; many would make too many cells
    joint = [candidates] if len(candidates) <= _MOST_JOINT_CANDIDATES else [[c] for c in candidates]
    decisions = [[*outcome, *each] for each in joint]
    tables = [[*margin, *each] for margin in together for each in decisions]
    axes = [*features.values(), *outcome, *candidates]
    moments: tuple[Moment, ...] = ()
    scores: list[list[Axis]] = []
    if spec.task is Task.REGRESSION:
        named = {Role.LABEL: spec.label, Role.PREDICTION: spec.prediction}
        found = ((name, [named[r] for r in roles], of) for name, roles, of in _REGRESSION_MOMENTS)
        # of one column alone, only its own
        moments = tuple(Moment(name, tuple(filter(None, c)), of) for name, c, of in found if all(c))
        if (
            spec.weight
        ):  # variances of weighted statistics are made of the first, skewness of others
            powers = [m for m in moments if len(m.factors) <= 3 and len(set(m.factors)) == 1]
            moments += tuple(
                replace(moment, name=f"{moment.name}_{WEIGHTS[power - 1]}", power=power)
                for power, of in ((2, moments), (3, powers))
                for moment in of
            )
        moments += _moments_of_factors(spec)
    elif spec.score and spec.task is not Task.MULTICLASS:
        between = spec.score_range
        score = Axis(Role.SCORE, spec.score, bounds=between, grid=steps_of(between))
        axes.append(score)
        label = [axis for axis in outcome if axis.role is Role.LABEL]
        tables += [[*margin, *label, score] for margin in (*margins, [])]
        # those of candidates to see codes among them, and where areas have a margin, with others
        of_candidates = [replace(score, column=column) for column in spec.candidate]
        axes += of_candidates
        tables += [[each] for each in of_candidates]
        areas = any(isinstance(spec.catalogue.row(name), RocAuc) for name, _ in spec.margins)
        areas = areas and bool(label) and not spec.prediction
        scores = [[*label, score, each] for each in of_candidates if areas]
        moments = _score_moments(spec.score)
        if spec.score_range == (0.0, 1.0):
            logs: dict[str, Factor] = {"ln_s": "log", "ln_1s": "log_rest"}
            moments += tuple(Moment(name, (spec.score,), (of,)) for name, of in logs.items())
    sampling = (Role.CLUSTER, spec.cluster), (Role.SAMPLE_STRATUM, spec.strata_of_sample)
    sampled = [Axis(role, column) for role, column in sampling if column]
    axes += sampled
    tables += [[*each, *sampled] for each in scores]
    if sampled:
        tables += [[*margin, *each, *sampled] for margin in margins for each in decisions]
    for i, each in enumerate(spec.probabilities):
        own = [Axis(Role.KNOWN, each.known)] if each.known else []
        own.append(Axis(Role.PROXY, each.cell))
        axes += own
        by_cluster = [axis for axis in axes if axis.role is Role.CLUSTER]
        tables += [[*outcome, *own, *of] for of in ([], by_cluster)]
        moments += tuple(Moment(f"p{i}_{j}", (c,), ("x",)) for j, c in enumerate(each.summed))
    numbers = (axis for axis in axes if axis.cuts and axis.role in _MAY_BE_CODED)
    coded = [axis.column for axis in numbers if not axis.bounds]
    coded += [condition.column for condition in spec.where if condition.cuts]
    for column in dict.fromkeys([*coded, *filter(None, (spec.count, spec.weight))]):
        edges = AROUND_WEIGHTS if column == spec.weight else AROUND_CODES
        averaged = moments and column in (spec.label, spec.prediction)
        axes.append(Axis(Role.CODES, column, AROUND_NUMBERS if averaged else edges))
        # sums of numbers can be moved to another centre where it is known which rows have one
        known = [axis for axis in outcome if axis.role in OUTCOMES and moments]
        tables.append([*known, axes[-1]])
    if spec.replicate_weights:
        means = [m for m in moments if m.name in _OF_MEANS and m.power == 1]
        moments += tuple(
            replace(moment, name=f"{moment.name}{REPLICATE}{column}", by=column)
            for moment in (Moment("", (), ()), *means)
            for column in spec.replicate_weights.columns
        )
    positions = [tuple(sorted(axes.index(axis) for axis in table)) for table in tables]
    counted = _normalise_outcomes(Spec(**{key: getattr(spec, key) for key in COUNTED}))
    counted = replace(counted, probabilities=tuple(p.counted for p in counted.probabilities))
    every = tuple(map(partial(read_as, spec), axes))
    return Plan(every, tuple(dict.fromkeys(positions)), counted, moments)


def steps_of(bounds: tuple[float, float]) -> int:
    """Return the steps of a range of scores: a thousand, or somewhat more, at each whole number.

    >>> steps_of((0.0, 1.0)), steps_of((1.0, 10.0)), steps_of((300.0, 850.0)), steps_of((0.0, 1e6))
    (1000, 1008, 1100, 1000)
    """
    width = bounds[1] - bounds[0]
    whole = all(map(float.is_integer, map(float, bounds))) and width <= WHOLE
    return int(width) * math.ceil(GRID / width) if whole else GRID


def read_as(spec: Spec, axis: Axis) -> Axis:
    """Return an axis with what its values are counted as."""
    if axis.bins:
        return replace(axis, no_numbers=spec.no_numbers(axis.column))
    return replace(axis, recoding=spec.recoding(axis.column))


def _axis_of(role: Role, column: Feature) -> Axis:
    cuts = column.cuts
    if role is Role.FEATURE and cuts[:1] > (0.0,) and words.is_column_of("age", column.column):
        cuts = (BEFORE_BIRTH, *cuts)
    return Axis(role, column.column, cuts, column.closed, control=column.control)


def _outcome_axes(spec: Spec, median: float | None) -> list[Axis]:
    # of a regression any cut will do: it marks only which rows have a number
    cuts: tuple[float, ...] = (0.0,) if spec.task is Task.REGRESSION else ()
    axes = [_outcome_axis(Role.LABEL, spec.label, spec, cuts)] if spec.label else []
    if spec.prediction:
        return [*axes, _outcome_axis(Role.PREDICTION, spec.prediction, spec, cuts)]
    if not spec.score:
        return axes
    # a score is positive strictly above the median, and in the profile of Clarify above a
    # threshold; otherwise at a threshold too
    closed = Closed.RIGHT if spec.profile.as_smclarify else Closed.LEFT
    if not isinstance(spec.threshold, Threshold):
        # without a threshold any cut will do: it marks only which rows have a score
        cuts = tuple(sorted(spec.threshold)) or (sum(spec.score_range) / 2,)
    elif median is None:
        message = "the median of the scores is not known; count the rows with fairgauge.count"
        raise SpecError(Problem("threshold", message))
    else:
        cuts, closed = (median,), Closed.RIGHT
    if (
        spec.favourable is Favourable.LOWER and spec.task is not Task.REGRESSION
    ):  # the lowest scores, at a threshold too
        closed = Closed.LEFT if closed is Closed.RIGHT else Closed.RIGHT
    return [*axes, Axis(Role.PREDICTION, spec.score, cuts, closed, spec.score_range)]


def _outcome_axis(role: Role, column: str, spec: Spec, cuts: tuple[float, ...] = ()) -> Axis:
    if isinstance(spec.positive, Above):
        return Axis(role, column, (spec.positive.threshold,), spec.positive.closed)
    return Axis(role, column, cuts)


# powers up to the fourth: the precision of a mean square depends on the fourth
_REGRESSION_MOMENTS: tuple[tuple[str, tuple[Role, ...], tuple[Factor, ...]], ...] = (
    ("y", (Role.LABEL,), ("x",)),
    ("p", (Role.PREDICTION,), ("x",)),
    ("yy", (Role.LABEL,), ("x",) * 2),
    ("pp", (Role.PREDICTION,), ("x",) * 2),
    ("gap", OUTCOMES, ("distance",)),
    ("gap2", OUTCOMES, ("gap",) * 2),
    ("y3", (Role.LABEL,), ("x",) * 3),
    ("p3", (Role.PREDICTION,), ("x",) * 3),
    ("gap3", OUTCOMES, ("gap",) * 3),
    ("distance3", OUTCOMES, ("distance",) * 3),
    ("y4", (Role.LABEL,), ("x",) * 4),
    ("p4", (Role.PREDICTION,), ("x",) * 4),
    ("gap4", OUTCOMES, ("gap",) * 4),
    ("gap2_y", OUTCOMES, ("gap", "gap", "x")),
    ("gap2_yy", OUTCOMES, ("gap", "gap", "x", "x")),
)


def _moments_of_factors(spec: Spec) -> tuple[Moment, ...]:
    # by which checks see whether numbers are parts of their cases, or grow with their weights
    moments: list[Moment] = []
    if spec.weight:
        moments.append(Moment("w4", (spec.weight,), ("x",), power=3))
    number = spec.label or spec.prediction
    if spec.count and number:
        moments += [
            Moment("size", (spec.count,), ("x",)),
            Moment("size2", (spec.count,), ("x", "x")),
        ]
        both = (number, spec.count)
        moments += [Moment("left", both, ("gap",)), Moment("left2", both, ("gap", "gap")),
                    Moment("apart", both, ("distance",))]  # fmt: skip
    return tuple(moments)


SUM, SQUARES = "s", "s2"
"""The sums of scores and of their squares."""


def _score_moments(score: str) -> tuple[Moment, ...]:
    return Moment(SUM, (score,), ("x",)), Moment(SQUARES, (score,), ("x", "x"))


def answer_plan(question: SwapQuestion) -> Plan:
    """Return what must be counted to compare answers under different names.

    Whether a score is there shows at an axis of two intervals, as a number is in one of them.
    """
    spec = question.spec
    named = {Role.ITEM: question.item, Role.VARIANT: question.variant, Role.MODEL: question.model,
             Role.FAMILY: question.family}  # fmt: skip
    axes = [Axis(role, column) for role, column in named.items() if column is not None]
    axes += [Axis(Role.FEATURE, column) for column in question.feature]
    moments: tuple[Moment, ...] = ()
    coded: list[Axis] = []
    if question.decides:
        axes.append(_outcome_axis(Role.PREDICTION, question.answer, spec))
    else:
        axes.append(Axis(Role.SCORE, question.answer, (0.0,)))
        coded.append(Axis(Role.CODES, question.answer, AROUND_NUMBERS))
        moments = _score_moments(question.answer)
    asked = Spec(sensitive=spec.sensitive, intersections=spec.intersections, count=spec.count)
    made = tuple(map(partial(read_as, spec), (*axes, *coded)))
    tables = (tuple(range(len(axes))), *((len(axes),) for _ in coded))
    return Plan(made, tables, asked, moments)


def is_of_answers(plan: Plan) -> bool:
    """Return whether a plan counts answers under swapped names."""
    return plan.axis(Role.ITEM) is not None


MANY_LEVELS = 20
"""Numbers, from which a column looks like one that is meant to be cut, if most are rare."""
MOST_READABLE = 40
"""Numbers, from more than which it does, however many rows each has."""
# the least whole number of nine digits, as those of people and of census tracts have
_IDENTIFIER = 10**8


def nested_value_error(axis: Axis) -> DataError:
    """Return the error of an axis whose values are lists or objects."""
    return DataError(
        f"column {quote(axis.column)} ({axis.role}) holds values that are not plain "
        "(lists, objects); name a column of texts, numbers, dates or true and false"
    )


def canonical_values(raw: Sequence[object], *, text: bool) -> list[Value]:
    """Return raw values in canonical form; untyped text is numeric if all of it is."""
    if {*map(type, raw)} <= {float, type(None)}:  # once for each of the few that rows have
        known = {value: canonical(value) for value in {*raw}}
        return [known[value] for value in raw]
    values = [canonical(value) for value in raw]
    texts = [value for value in values if value is None or isinstance(value, str)]
    return typed_texts(texts) if text and len(texts) == len(values) else values


def identity(value: Value) -> tuple[bool, Value]:
    """Return what distinguishes a value from all others as a key."""
    return (isinstance(value, bool), value)  # True and 1 are equal in Python, not in data


def sorted_levels(values: Sequence[Value]) -> tuple[Value, ...]:
    """Return the different values, sorted, without missing ones."""
    unique = {identity(value): value for value in values if value is not None}
    return tuple(sorted(unique.values(), key=sort_key))


GROUPED = (Role.FEATURE, Role.STRATUM)
"""The roles whose values are shown in the order in which people read them."""
# a number that no letter precedes, as in a code; a minus is one where no number precedes it.
_NUMBER = re.compile(
    r"(?<![^\W_])(?:(?<![^\s(\[<>≤≥=])[-−](?=[\d∞i]))?"
    r"(?:\d{1,3}(?:[,'\u00a0\u202f]\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3}){2,}|\d+(?:\.\d+)?|inf\b|∞)"
)
_BELOW = re.compile(r"[<≤]\W{0,3}\d|\b(?:under|below|less|fewer|younger|up to)\b", re.IGNORECASE)
_ABOVE = re.compile(r"[>≥]\W{0,3}\d|\d\W{0,2}\+|\b(?:over|above|more|older|least)\b", re.IGNORECASE)
_BAND = re.compile(
    rf"^[ (\[$€£~−-]*\d|\d\D{{1,5}}\d|{_BELOW.pattern}|{_ABOVE.pattern}", re.IGNORECASE
)


def reading_order(levels: Sequence[Value], stated: Sequence[Value] = ()) -> tuple[Value, ...]:
    """Return sorted levels in the order that their type states, else bands by their first number.

    Bands are such as "under 5", "5-17" and "75+": a value begins with a number, has two, or states
    on which side of one it is. Values of no number come last.

    >>> reading_order(["100+", "18-24", "5-17", "<5", "unknown"])
    ('<5', '5-17', '18-24', '100+', 'unknown')
    >>> reading_order(["high", "low", "other"], stated=["low", "medium", "high"])
    ('low', 'high', 'other')
    """
    place = {name_of(value): i for i, value in enumerate(stated)}
    numbers = {value: _numbers_in(name_of(value)) for value in levels if isinstance(value, str)}
    banded = any(found and _BAND.search(name) for name, found in numbers.items())

    def key(value: Value) -> tuple[int, list[float], int, list[float]]:
        at = place.get(name_of(value), len(place))
        if not isinstance(value, str) or not banded:
            return at, [], 0, []
        first, rest = numbers[value][:1] or [math.inf], numbers[value][1:]
        above = _ABOVE.search(value) is not None
        below = not above and (value[:1].isalpha() or _BELOW.search(value) is not None)
        return at, first, above - below, rest

    return tuple(sorted(levels, key=key))


def _numbers_in(text: str) -> list[float]:
    """Return the numbers in a text, infinite ones of intervals included.

    >>> _numbers_in("$25,000-$49,999"), _numbers_in("(-inf, 5]"), _numbers_in("A1")
    ([25000.0, 49999.0], [-inf, 5.0], [])
    """
    plain = (re.sub(r"[,'\u00a0\u202f]", "", each) for each in _NUMBER.findall(text))
    plain = (each.replace(".", "") if each.count(".") > 1 else each for each in plain)
    return [float(each.replace("−", "-").replace("∞", "inf")) for each in plain]


def quartiles(levels: Sequence[Value], rows: Sequence[float] | None = None) -> tuple[float, ...]:
    """Return cut points that make four intervals of about as many rows, where there are four.

    ``levels`` ascend, each with its ``rows`` (by default as many as any other). There are none
    where some are no numbers, or all are whole numbers of as many digits as identifiers have.

    >>> quartiles([20, 30, 40, 50, 60]), quartiles([20, 30, 40], [8, 1, 1]), quartiles(["a"])
    ((30, 40, 50), (20,), ())
    >>> quartiles([17031010100, 17031017400, 17031020100])
    ()
    """
    numbers = [each for each in levels if is_number(each)]
    identify = all(each >= _IDENTIFIER and float(each).is_integer() for each in numbers)
    if identify or len(numbers) < len(levels):
        return ()
    return cuts_of(numbers, rows or [1.0] * len(numbers), 4)


def cuts_of(values: Sequence[float], cases: Sequence[float], intervals: int) -> tuple[float, ...]:
    """Return cut points of ascending numbers into intervals of equally many cases, if they differ.

    >>> cuts_of([1, 2, 3, 4], [1, 1, 1, 7], 2), cuts_of([1, 2, 3, 4], [1, 1, 1, 1], 4)
    ((), (1, 2, 3))
    """
    below = list(accumulate(cases))
    at = [bisect_left(below, k * below[-1] / intervals) for k in range(1, intervals) if below]
    return tuple(dict.fromkeys(values[i] for i in at if values[i] < values[-1]))


def _remedy(axis: Axis, levels: Sequence[Value]) -> str:
    if axis.role not in GROUPED:
        cut = "cut a numeric column into intervals (--positive '>x')"
        # some may be codes of missing ones, such as NA
        if axis.role is Role.LABEL and any(plain_number(name_of(v)) is not None for v in levels):
            cut += ", or, without a score, compare its mean (task='regression', --task regression)"
        if axis.role in (Role.PREDICTION, Role.CANDIDATE):
            return f"name scores by score in place of prediction (--score COL), or {cut}"
        return cut
    flag = "--strata" if axis.role is Role.STRATUM else "--sensitive"
    flag = "--control" if axis.control else flag
    if cuts := quartiles(sorted_levels(levels)):
        options = cut_options(axis.column, map(name_of, cuts), flag)
        named = f"name them so (--probabilities 'FEATURE: GROUP={axis.column}, ...')"
        other = f", or, if they are the probabilities of a group, {named}"
        between = axis.role is Role.FEATURE and 0 <= min(cuts) <= max(cuts) <= 1
        return f"cut its numbers into intervals, such as {options}{other * between}"
    return "choose a column of fewer values"


def cut_options(column: str, cuts: Iterable[str], flag: str = "--sensitive") -> str:
    """Return how a column is cut, on the command line and in Python.

    >>> cut_options("age", ["40", "60"])
    "--sensitive age:40,60 (fairgauge.cut('age', [40, 60]))"
    """
    listed = list(cuts)
    given = flag_of("sensitive", [{"column": column, "cuts": listed}], flag)
    return f"{given} (fairgauge.cut({column!r}, [{', '.join(listed)}]))"


def check_levels(axis: Axis, levels: Sequence[Value], limit: int) -> None:
    """Check the values of an axis: not too many (but of clusters), and no two with one name."""
    if axis.limited and len(levels) > limit:
        role = "control" if axis.control else axis.role
        raise TooManyValues(
            f"column {quote(axis.column)} ({role}) has more than {limit:,} distinct values; "
            f"{_remedy(axis, levels)}, or raise max_groups (--max-groups)"
        )
    names: dict[str, Value] = {}
    for level in levels:
        name = name_of(level)
        if name in names:
            shown = name if axis.limited else form_of(name)  # of a cluster
            kinds = " and ".join(type(each).__name__ for each in (names[name], level))
            raise DataError(
                f"column {quote(axis.column)} holds {quote(shown)} as two types ({kinds}); "
                "make the column one type"
            )
        names[name] = level
