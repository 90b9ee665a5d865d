"""What every value was counted as, read from levels and observations of a cube."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np

from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import Axis
from fairgauge.enums import CountedAs, Favourable, Observation, Role, Task, Uncounted
from fairgauge.question.specification import Spec
from fairgauge.resolve.group_counts import EXCLUDED, OTHER, Grouping, group_columns
from fairgauge.resolve.outcomes import decide_task
from fairgauge.results.shown_result import CountedRole, CountedValue
from fairgauge.start.records import dataclass
from fairgauge.values import Value, is_one_of, name_of

_MOST = 30
_ROLES: Mapping[Role, CountedRole] = {
    Role.LABEL: "label", Role.PREDICTION: "prediction", Role.CANDIDATE: "prediction",
    Role.FEATURE: "sensitive", Role.STRATUM: "strata",
}  # fmt: skip


class _Entries(dict[tuple[Value, str], tuple[int, int]]):
    """Rows and cases by value and what it became; a number in place of a value: of so many."""

    def add(self, value: Value, became: str, rows: int, cases: int) -> None:
        held = self.get((value, became), (0, 0))
        self[value, became] = held[0] + rows, held[1] + cases


@dataclass(frozen=True, eq=False)
class Counted:
    """The values of counts, which are listed when they are read."""

    cube: Cube
    spec: Spec

    @cached_property
    def values(self) -> tuple[CountedValue, ...]:
        """Return each value of each column, with what it became: 30 a column, and the others."""
        return tuple(_counted_values(self.cube, self.spec))

    def __reduce__(self) -> tuple[type, tuple[tuple[CountedValue, ...]]]:
        return tuple, (self.values,)  # a report that is pickled has no use for its question


def _counted_values(cube: Cube, spec: Spec) -> Iterator[CountedValue]:
    total = cube.rows + sum(e.rows for e in cube.seen(Observation.LEFT_OUT, ""))
    axes = [axis for axis in cube.plan.axes if axis.role in _ROLES]
    axes = [axis for role in _ROLES for axis in axes if axis.role is role]
    groupings = group_columns(cube, spec)
    shown = {axis.column for axis in axes if axis.role is not Role.FEATURE}
    axes += [a for a in cube.plan.axes if a.role is Role.SCORE and a.column not in shown]
    for axis in axes:
        entries = _entries(cube, axis, spec, groupings)
        for e in cube.observed and cube.seen(Observation.LEFT_OUT, axis.column):
            if e.role is axis.role:
                entries.add(e.value, CountedAs.EXCLUDED, e.rows, e.cases)
        role = _ROLES.get(axis.role, "prediction")
        yield from _listed(entries, role, axis.column, cube, total)
        if spec.negative and role in ("label", "prediction") and not axis.bins:
            # those stated as negative that no row of any outcome has: they may be misspelt
            levels = [v for each in cube.plan.outcomes if not each.bins for v in cube.levels[each]]
            for value in spec.negative_of(axis.column):
                if not is_one_of(value, levels):
                    state = str(CountedAs.NEGATIVE)
                    yield CountedValue(
                        role=role, column=axis.column, value=name_of(value), as_=state, rows=0,
                        cases=0,
                    )  # fmt: skip
    for column in dict.fromkeys(each.column for each in spec.where):
        entries = _Entries()
        for e in cube.seen(Observation.CONDITION, column):
            entries.add(e.value, str(e.became), e.rows, e.cases)
        if entries:
            yield from _listed(entries, "where", column, cube, total)


def _entries(cube: Cube, axis: Axis, spec: Spec, groupings: Mapping[str, Grouping]) -> _Entries:
    # of the counted rows; what was recoded, or is no stated outcome, by its own value
    table, entries = cube.marginal([axis]), _Entries()
    names, became = axis.names(cube.levels[axis]), _became(cube, axis, spec, groupings)
    numbers = list[int]()
    counted = [table.sums[m].astype(np.int64).tolist() for m in ("rows", cube.plan.cases)]
    for i, (code, rows, cases) in enumerate(zip(table.codes[:, 0].tolist(), *counted, strict=True)):
        if rows and code >= 0 and became[code] == CountedAs.NUMBER:
            numbers.append(i)
        elif rows or cases:
            entries.add(names[code] if code >= 0 else None, became[code], rows, cases)
    if numbers:
        rows, cases = (int(table.sums[m][numbers].sum()) for m in ("rows", cube.plan.cases))
        entries.add(_range(cube, axis), CountedAs.NUMBER, rows, cases)
    of = dict(entries.keys())
    if spec.of_people:  # a value that is nobody's best is in no cell
        recoded = cube.seen(Observation.RECODED, axis.column)
        recoded_as = [
            (e.value, of.get(e.became, became[-1])) for e in recoded if e.role is axis.role
        ]
        bands = bool(axis.cuts)
        for name, state in [*zip(() if bands else names, became, strict=False), *recoded_as]:
            entries.add(name, state, 0, 0)
        return entries
    for e in cube.seen(Observation.UNSTATED, axis.column):
        if e.role is axis.role:
            entries.add(e.value, CountedAs.UNDECIDED, e.rows, e.cases)
            entries.add(None, became[-1], -e.rows, -e.cases)
    of = dict(entries.keys())
    for e in cube.seen(Observation.RECODED, axis.column):
        if e.role is axis.role and e.became in of:
            entries.add(e.value, of[e.became], e.rows, e.cases)
            entries.add(e.became, of[e.became], -e.rows, -e.cases)
    return entries


def _became(cube: Cube, axis: Axis, spec: Spec, groupings: Mapping[str, Grouping]) -> list[str]:
    # of every level; the last is that of missing values
    levels, task = cube.levels[axis], decide_task(cube, spec)
    if axis.role is Role.STRATUM:
        return [*map(_named, axis.names(levels)), CountedAs.MISSING]
    if axis.role is Role.FEATURE:
        grouping = groupings.get(axis.column)
        if grouping is None:
            return [*map(_named, axis.names(levels)), CountedAs.MISSING]
        groups = [_named(group.name()) for group in grouping.groups]
        none = {OTHER: CountedAs.OTHERS, EXCLUDED: CountedAs.EXCLUDED}
        return [
            groups[g] if 0 <= g < len(groups) else none.get(g, CountedAs.MISSING)
            for g in grouping.group_of
        ]
    missing = CountedAs.NEGATIVE if spec.profile.as_smclarify else CountedAs.MISSING
    undecided = axis.bounds and (len(axis.cuts) > 1 or not spec.threshold)
    if task is Task.REGRESSION or axis.role is Role.SCORE or undecided:
        return [*(CountedAs.NUMBER for _ in levels), CountedAs.MISSING]
    if task is Task.MULTICLASS:
        return [*(_named(name_of(level)) for level in levels), CountedAs.MISSING]
    asked = spec.positive_of(axis.column) or (1,)
    positive = [bool(v) if axis.bins else is_one_of(v, asked) for v in levels]
    of_label = spec.positive_of(spec.label) or (1,)
    other = spec.score_of is not None and not is_one_of(spec.score_of, of_label)
    if axis.bounds and (other or spec.favourable is Favourable.LOWER):
        positive = [not each for each in positive]  # scores of the other outcome, or places
    return [*(CountedAs.POSITIVE if each else CountedAs.NEGATIVE for each in positive), missing]


def _named(name: str) -> str:
    # a group or class; in quotes where that is also what a value without one is counted as
    return f"“{name}”" if name in [*CountedAs] else name


def _range(cube: Cube, axis: Axis) -> str:
    # of amounts as far as intervals show it: whether there are codes among them, and how large
    own = [a for a in cube.plan.axes if a.column == axis.column]
    by = next((a for a in own if a.grid or a.role is Role.CODES), axis)
    codes = cube.marginal([by]).known([by]).codes[:, 0]
    edges = np.array([-np.inf, *by.cuts, np.inf])
    low, high = by.edges(codes, ()) if by.grid else (edges[codes], edges[codes + 1])
    return f"{low.min():g} to {high.max():g}"


def _listed(
    entries: _Entries, role: CountedRole, column: str, cube: Cube, total: int
) -> Iterator[CountedValue]:
    # rows in no cell lack a count or a weight, or are further ones of a person
    people = cube.asked.of_people
    if without := total - sum([rows for rows, _ in entries.values()]):
        cases = cube.excluded.get(Uncounted.NO_WEIGHT, 0)
        entries.add(None, CountedAs.FURTHER if people else CountedAs.UNCOUNTED, without, cases)
    held = [(key, *n) for key, n in entries.items() if any(n) or (people and key[0] is not None)]
    named = [each for each in held if not isinstance(each[0][0], int)]
    named.sort(key=lambda each: (-each[2], -each[1], *map(str, each[0])))
    for (value, became), rows, cases in named[:_MOST]:
        name = None if value is None else str(value)
        yield CountedValue(
            role=role, column=column, value=name, as_=str(became), rows=rows, cases=cases
        )
    further = named[_MOST:] + [each for each in held if isinstance(each[0][0], int)]
    if further:
        numbers = {value: value if isinstance(value, int) else 1 for (value, _), *_ in further}
        yield CountedValue(
            role=role, column=column, others=sum(numbers.values()),
            rows=sum(each[1] for each in further), cases=sum(each[2] for each in further),
        )  # fmt: skip
