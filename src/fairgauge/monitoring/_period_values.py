"""The values of labels and predictions in every period: a period with others may be recoded.

A rate counts the positive values of label and prediction. Where a period writes them in another
way, its rates would be 0.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fairgauge.cube.cube import HANDFUL, Cube
from fairgauge.cube.plan import Axis
from fairgauge.enums import Role, Task
from fairgauge.errors import ValuesError, listing, quote
from fairgauge.question.recoding import UNKNOWN, write_recodings
from fairgauge.question.specification import Spec
from fairgauge.resolve.outcomes import decide_task
from fairgauge.values import Value, is_one_of, meaning, name_of

BY_DEFAULT = (0, 1)
"""The labels where no value is named as the positive one."""
_MOST_SHOWN = 5


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
    def without_positive(self) -> bool:
        """Return whether no row has a positive value."""
        return not any(is_one_of(value, self.positive) for value in self.held)


def check_values(
    names: Sequence[str], cubes: Sequence[Cube], question: Spec, *, checked: int = 0
) -> None:
    """Refuse periods whose labels or predictions have no value in common with other periods.

    Values that the question recodes are those of their categories. The first periods may have been
    ``checked``.

    Raises
    ------
    ValuesError
        It names the periods that differ from most others, and holds those that differ from all.
    """
    pairs = [(t, 0) for t in range(max(checked, 1), len(names))]
    if len(names) > 1 >= checked:
        pairs.append((0, 1))
    if any(_unlike(cubes[t], cubes[other], question) for t, other in pairs):
        raise _other_values(names, cubes, question)


def _unlike(cube: Cube, other: Cube, question: Spec) -> _Coding | None:
    """Return the values of a column of which another period has none; None where it has some.

    A handful of rows may well have other values by coincidence.
    """
    if min(cube.rows, other.rows) <= HANDFUL:
        return None
    codings = _codings(cube, other, question)
    return next((c for c in codings if c.elsewhere and c.held and c.unknown == c.held), None)


def _other_values(names: Sequence[str], cubes: Sequence[Cube], question: Spec) -> ValuesError:
    """Return the error of periods of which some have no value in common with others."""
    alike: dict[object, list[int]] = {}  # the periods with the same values
    for t, cube in enumerate(cubes):
        axes = (cube.plan.axis(Role.LABEL), cube.plan.axis(Role.PREDICTION))
        values = tuple(_held(cube, axis, question) for axis in axes)
        if cube.rows > HANDFUL and any(values):
            alike.setdefault(values, []).append(t)
    sets = [*alike.values()]
    unlike = [
        [other for other in sets if _unlike(cubes[of[0]], cubes[other[0]], question)] for of in sets
    ]
    periods_unlike = [sum(map(len, others)) for others in unlike]
    most = max(range(len(sets)), key=lambda i: (periods_unlike[i], i))
    usual = max(unlike[most], key=len)
    odd = [of for of, others in zip(sets, unlike, strict=True) if usual in others]
    codings = [_unlike(cubes[of[0]], cubes[usual[0]], question) for of in odd]
    one = next(coding for coding in codings if coding is not None)
    held = dict.fromkeys(v for c in codings if c and c.column == one.column for v in c.held)
    every = sum(map(len, sets)) - 1
    periods = [names[t] for t in sorted(itertools.chain(*odd))]
    where = f"period {periods[0]}" if len(periods) == 1 else f"periods {listing(periods)}"
    return ValuesError(
        f"the {where}: column {quote(one.column)} holds {_some([*held])}, and none of these is "
        f"known from {names[usual[0]]} ({_some(one.elsewhere)}); use the same values in all "
        "periods: correct the wrong rows and count them again (--replace, if they are stored), or "
        "list with each stored value those that mean the same, below [recode] in the "
        f"specification: {_example(one)}",
        [names[t] for of, n in zip(sets, periods_unlike, strict=True) if n == every for t in of],
    )


def check_recoded(names: Sequence[str], cubes: Sequence[Cube], question: Spec) -> None:
    """Refuse counts with values that the question counts by categories.

    Raises
    ------
    ValuesError
        It holds all these periods.
    """
    for recoding in question.recode:
        of = recoding.category_of
        late: dict[str, list[str]] = {}
        for name, cube in zip(names, cubes, strict=True):
            for axis in cube.plan.axes:
                held = _levels(cube, axis) if axis.column == recoding.column else []
                outcome = axis.role in (Role.LABEL, Role.PREDICTION)  # of which True counts as 1
                texts = [name_of(meaning(level) if outcome else level) for level in held]
                raw = [text for text in texts if of.get(text, text) != text]
                if raw:
                    late.setdefault(name, []).extend(raw)
        if late:
            values = dict.fromkeys(itertools.chain(*late.values()))
            raise ValuesError(
                f"{quote(recoding.column)} holds {listing(values)} in the counts of "
                f"{listing(late)}, which the specification recodes; values are recoded while rows "
                "are counted, so add these periods again from their rows (--replace)",
                late,
            )


def _example(coding: _Coding) -> str:
    """Return the beginning of a recoding of a value with those that mean the same."""
    stored = name_of(coding.elsewhere[-1])
    line = write_recodings({coding.column: {stored: [stored]}})[0].removesuffix("]}")
    return f"{line}, ...], ...}}"


def new_values(cube: Cube, first: Cube | None, question: Spec) -> dict[str, tuple[str, ...]]:
    """Return the unknown values of the columns in which no row has a positive value.

    ``first`` holds the first period; None where that is ``cube`` itself.
    """
    return {
        coding.column: tuple(map(name_of, coding.unknown))
        for coding in _codings(cube, first, question)
        if coding.elsewhere and coding.unknown and coding.without_positive and coding.positive
    }


def _codings(cube: Cube, other: Cube | None, question: Spec) -> Iterator[_Coding]:
    """Yield the values of label and prediction, those that are not numbers that were cut."""
    task = decide_task(cube if other is None else other, question)
    if task is Task.REGRESSION or cube.min_cell is not None:
        return
    positive = question.positive if isinstance(question.positive, tuple) else ()
    label = cube.plan.axis(Role.LABEL)
    labels = _held(cube, label, question)
    for axis in (label, cube.plan.axis(Role.PREDICTION)):
        if axis is None or axis.bins:
            continue
        elsewhere = () if other is None else _held(other, axis, question)
        if task is Task.BINARY and not positive:
            elsewhere += BY_DEFAULT
        if axis is not label:
            elsewhere += labels
        wanted = (positive or BY_DEFAULT[1:]) if task is Task.BINARY else ()
        held = _held(cube, axis, question)
        yield _Coding(axis.column, held, tuple(dict.fromkeys(elsewhere)), wanted)


def _held(cube: Cube, axis: Axis | None, question: Spec) -> tuple[Value, ...]:
    """Return the values of a column that rows have, without missing ones; recoded as asked."""
    if axis is None:
        return ()
    category_of: Mapping[str, str] = next(
        (each.category_of for each in question.recode if each.column == axis.column), {}
    )
    known = (v for v in _levels(cube, axis) if category_of.get(name_of(v)) != UNKNOWN)
    return tuple(dict.fromkeys(category_of.get(name_of(value), value) for value in known))


def _levels(cube: Cube, axis: Axis) -> list[Value]:
    """Return the values of a column that rows have, without missing ones; none of cut numbers."""
    if axis.bins:
        return []
    rows = cube.rows_by_level[axis][:-1]
    return [level for level, n in zip(cube.levels[axis], rows, strict=True) if n > 0]


def _some(values: Sequence[Value]) -> str:
    return listing([name_of(value) for value in values], _MOST_SHOWN)
