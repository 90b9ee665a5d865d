"""The values of labels and predictions in every period: a period with others may be recoded.

A rate counts the positive values of label and prediction. Where a period writes them in another
way, its rates would be 0.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fairgauge.cube.cube import HANDFUL, Cube
from fairgauge.cube.plan import Axis
from fairgauge.enums import Role, Task
from fairgauge.errors import ValuesError, cells, listing, quote
from fairgauge.question.recoding import write_recodings
from fairgauge.question.specification import Spec
from fairgauge.resolve.outcomes import decide_task, ways_of_writing
from fairgauge.values import Value, is_one_of, meaning, name_of

BY_DEFAULT = (0, 1)
"""The labels where no value is named as the positive one."""
_TWO = 2


@dataclass(frozen=True, slots=True)
class _Coding:
    """The values of a column in a period.

    Attributes
    ----------
    column : its name.
    held : the values that rows of the period have.
    elsewhere : those that the label, or another period, has.
    positive : the positive values; none of several classes.
    """

    column: str
    held: tuple[Value, ...]
    elsewhere: tuple[Value, ...]
    positive: tuple[Value, ...]

    @property
    def unknown(self) -> tuple[Value, ...]:
        """Return the values that are neither positive nor held elsewhere."""
        known = (*self.elsewhere, *self.positive)
        return tuple(value for value in self.held if not is_one_of(value, known))

    @property
    def foreign(self) -> tuple[Value, ...]:
        """Return values that are not those of another period: all, or those of another way."""
        if len(ways_of_writing((*self.held, *self.elsewhere), self.positive)) == 1:
            return ()
        return self.held if self.unknown == self.held else self.other_way

    @property
    def other_way(self) -> tuple[Value, ...]:
        """Return the values of a way of writing outcomes that no other period has."""
        ways = ways_of_writing((*self.held, *self.elsewhere), self.positive)
        for way in ways if len(ways) > 1 else ():
            own = tuple(value for value in self.held if name_of(value).casefold() in way)
            if own and not set(own) - set(self.unknown):
                return own
        return ()


def check_values(
    names: Sequence[str], cubes: Sequence[Cube], question: Spec, *, checked: int = 0
) -> None:
    """Refuse periods whose labels or predictions have other values than those of other periods.

    They have none in common, or write one outcome in two ways. Values that the question recodes are
    those of their categories. The first periods may have been ``checked``.

    Raises
    ------
    ValuesError
        It names the periods that differ from most others, and holds those that differ from all.
    """
    if len(names) < _TWO:
        return
    new = [cubes[t] for t in range(max(checked, 1), len(names))]
    axes = cubes[0].plan.outcomes
    labelled = (cube for cube in cubes if all(_held(cube, axis, question) for axis in axes))
    first = next(labelled, cubes[0])
    if (checked < _TWO and _unlike(cubes[0], cubes[1], question)) or any(
        _unlike(cube, first, question)
        or any(coding.other_way for coding in _codings(first, cube, question))
        for cube in new
    ):
        columns = (_OddPeriods.of(axis, cubes, question) for axis in axes)
        if found := [each for each in columns if each is not None]:
            raise _other_values(names, found, question)


def _unlike(cube: Cube, other: Cube, question: Spec) -> dict[str, _Coding]:
    """Return the columns with values that are not those of another period.

    A handful of rows may well have other values by coincidence, but not in another way of writing.
    """
    handful = min(cube.rows, other.rows) <= HANDFUL
    return {
        coding.column: coding
        for coding in _codings(cube, other, question)
        if coding.elsewhere and (foreign := coding.foreign)
        if not (handful and foreign == coding.held)
    }


def _other_values(
    names: Sequence[str], found: Sequence[_OddPeriods], question: Spec
) -> ValuesError:
    """Return the error of periods with other values than most."""
    stated = []
    for odd in dict.fromkeys(each.odd for each in found):
        known = " and ".join(
            f"column {quote(each.coding.column)} holds {_some(each.foreign)}, and none of these is "
            f"known from {names[each.usual]} ({_some(each.coding.elsewhere)})"
            for each in found
            if each.odd == odd
        )
        periods = [names[t] for t in odd]
        where = f"period {periods[0]}" if len(periods) == 1 else f"periods {listing(periods)}"
        stated.append(f"the {where}: {known}")
    return ValuesError(
        f"{'; '.join(stated)}; use the same values in all periods: correct the wrong rows and "
        "count them again (--replace, if they are stored), or list with each stored value those "
        "that mean the same, below [recode] in the specification: "
        f"{'; '.join(_example(each.coding, question) for each in found)}",
        {names[t] for each in found for t in each.alone},
    )


@dataclass(frozen=True, slots=True)
class _OddPeriods:
    """The periods whose values of a column are not those of most others.

    Attributes
    ----------
    odd, alone : these periods, and those whose values are those of no other.
    usual : one of the others.
    coding, foreign : what the first odd ones have beside that one, and the values of all.
    """

    odd: tuple[int, ...]
    alone: tuple[int, ...]
    usual: int
    coding: _Coding
    foreign: tuple[Value, ...]

    @classmethod
    def of(cls, axis: Axis, cubes: Sequence[Cube], question: Spec) -> _OddPeriods | None:
        alike: dict[object, list[int]] = {}  # the periods with the same values
        for t, cube in enumerate(cubes):
            own, label = (
                _held(cube, each, question) for each in (axis, cube.plan.axis(Role.LABEL))
            )
            if own:
                alike.setdefault((own, label, cube.rows > HANDFUL), []).append(t)
        sets = [*alike.values()]
        codings = [
            {j: coding for j, other in enumerate(sets)
             if (coding := _unlike(cubes[of[0]], cubes[other[0]], question).get(axis.column))}
            for of in sets
        ]  # fmt: skip
        unlike = [sum(len(sets[j]) for j in others) for others in codings]
        if not any(unlike):
            return None
        most = max(range(len(sets)), key=lambda i: (unlike[i], i))
        usual = max(codings[most], key=lambda j: len(sets[j]))
        found = [(of, others[usual]) for of, others in zip(sets, codings, strict=True)
                 if usual in others]  # fmt: skip
        return cls(
            odd=tuple(sorted(t for of, _ in found for t in of)),
            alone=tuple(t for of, n in zip(sets, unlike, strict=True)
                        if n == sum(map(len, sets)) - 1 for t in of),
            usual=sets[usual][0],
            coding=found[0][1],
            foreign=tuple(dict.fromkeys(v for _, coding in found for v in coding.foreign)),
        )  # fmt: skip


def check_recoded(names: Sequence[str], cubes: Sequence[Cube], question: Spec) -> None:
    """Refuse counts with values that the question counts by categories.

    Of numbers that are cut, counts do not state it.

    Raises
    ------
    ValuesError
        It holds all these periods.
    """
    for recoding in question.recode:
        late: dict[str, list[str]] = {}
        for name, cube in zip(names, cubes, strict=True):
            texts: list[str] = []
            for axis in cube.plan.axes:
                held = _levels(cube, axis) if axis.column == recoding.column else []
                outcome = axis.role in (Role.LABEL, Role.PREDICTION)  # of which True counts as 1
                typed = (meaning(v) if outcome and not isinstance(v, str) else v for v in held)
                texts += map(name_of, typed)
            categories = zip(texts, recoding.categories_of(texts), strict=True)
            if raw := [text for text, category in categories if category not in (None, text)]:
                late[name] = raw
        if late:
            values = dict.fromkeys(itertools.chain(*late.values()))
            raise ValuesError(
                f"{quote(recoding.column)} holds {cells(values)} in the rows of "
                f"{listing(late)}, which the specification recodes; values are recoded while rows "
                "are counted, so add these periods again from their rows (--replace)",
                late,
            )


def _example(coding: _Coding, question: Spec) -> str:
    """Return the beginning of a recoding of a value with those that mean the same.

    It begins with the values that are recoded.
    """
    stored, recoding = name_of(coding.elsewhere[-1]), question.recoding(coding.column)
    listed = dict(recoding.categories) if recoding else {}
    listed[stored] = listed.pop(stored, (stored,))  # as the last one
    line = write_recodings({coding.column: listed})[0].removesuffix("]}")
    return f"{line}, ...], ...}}"


def _codings(cube: Cube, other: Cube | None, question: Spec) -> Iterator[_Coding]:
    """Yield the values of label and prediction, those that are not numbers that were cut."""
    task = decide_task(cube if other is None else other, question)
    if task is Task.REGRESSION or cube.min_cell is not None:
        return
    labels: tuple[Value, ...] = ()
    for axis in cube.plan.outcomes:
        if axis.bins:
            continue
        positive = question.positive_of(axis.column)
        wanted = (positive or BY_DEFAULT[1:]) if task is Task.BINARY else ()
        elsewhere = () if other is None else _held(other, axis, question)
        if task is Task.BINARY and not positive:
            elsewhere += BY_DEFAULT
        held = _held(cube, axis, question)
        shared = labels if question.words_of_predictions else ()
        coding = _Coding(axis.column, held, tuple(dict.fromkeys((*elsewhere, *shared))), wanted)
        labels = tuple(value for value in held if other is None or value not in coding.foreign)
        yield coding


def _held(cube: Cube, axis: Axis | None, question: Spec) -> tuple[Value, ...]:
    """Return the values of a column that rows have, without missing ones; recoded as asked."""
    if axis is None:
        return ()
    held, recoding = _levels(cube, axis), question.recoding(axis.column)
    return tuple(dict.fromkeys(v for v in (recoding.apply(held) if recoding else held)
                               if v is not None))  # fmt: skip


def _levels(cube: Cube, axis: Axis) -> list[Value]:
    """Return the values of a column that rows have, without missing ones; none of cut numbers."""
    if axis.bins:
        return []
    rows = cube.cases_by_level[axis][:-1]
    return [level for level, n in zip(cube.levels[axis], rows, strict=True) if n > 0]


def _some(values: Sequence[Value]) -> str:
    return cells(map(name_of, values))
