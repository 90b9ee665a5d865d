"""Checks of names: those that mean a missing value, and spellings of one value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from fairgauge.checks.coded_numbers import coded_numbers
from fairgauge.cube.cube import Cube, levels_with_cases
from fairgauge.cube.plan import Axis
from fairgauge.cube.views import axes_of
from fairgauge.enums import DiagnosticCode, Level, Observation, Role, Task
from fairgauge.errors import closest, refuse
from fairgauge.question import category_words as words
from fairgauge.question.recoding import UNKNOWN
from fairgauge.question.specification import Spec
from fairgauge.reasons import Parameter
from fairgauge.resolve.group_counts import unknown_levels
from fairgauge.resolve.outcomes import decide_task
from fairgauge.resolve.question_checks import idle_recodings, unmatched_name, unmatched_value
from fairgauge.results.scopes import Diagnostic
from fairgauge.start.records import replace
from fairgauge.values import Value, compact_reading, is_one_of, meaning, name_of

Levels = Mapping[Axis, list[tuple[Value, int]]]
"""The values of columns, each with its rows."""


class _Spelling(NamedTuple):
    """The name of a value of a column, its rows, and the group or outcome that it means."""

    column: str
    text: str
    rows: int
    meaning: Hashable


def doubtful_names(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of names that mean a missing value, and of several that may be one group or outcome.

    Raises ``SpecError``: A recoding does nothing.
    """
    refuse(idle_recodings([cube], spec))
    groups = _known_groups(cube, spec)
    for each in (
        *_missing_markers(cube, spec, groups),
        *coded_numbers(cube, spec),
        *_groups_alike(spec, groups),
        *_outcomes_alike(cube, spec),
        *_unseen_values(cube, spec),
    ):
        yield each.but(**spec.unit)


def doubtful_strata(cube: Cube, spec: Spec, columns: Iterable[str]) -> Iterator[Diagnostic]:
    """Warn of strata that may be one, or all: spelt alike, or a total."""
    for axis in axes_of(cube, [*columns]):
        if axis.bins:
            continue
        levels, cases = cube.levels[axis], levels_with_cases(cube, axis)
        known = axis.names(levels)
        if totals := [name for name in known if words.is_total(name, known)]:
            yield Diagnostic.warning(
                DiagnosticCode.STRATUM_OF_TOTAL, column=axis.column, values=tuple(totals),
                rows=sum(n for value, n in cases if name_of(value) in totals),
                line=spec.recoding_line(axis.column, {UNKNOWN: totals}),
            )  # fmt: skip
        held = (_Spelling(axis.column, name_of(v), n, name_of(v)) for v, n in cases)
        several = [*same_reading_groups(held)]
        if several:  # one note of a column, which may have hundreds of values
            named = {max(e, key=_plainness).text: [s.text for s in e] for e in several}
            yield _same_names(several[0], spec).but(
                strata=True, more=len(several) - 1, line=spec.recoding_line(axis.column, named)
            )


def _known_groups(cube: Cube, spec: Spec) -> Levels:
    known = {}
    for axis in (a for a in cube.plan.axes if a.role is Role.FEATURE and not a.bins):
        unknown = unknown_levels(axis, cube.levels[axis], spec)
        known[axis] = [
            each
            for each, missing in zip(levels_with_cases(cube, axis), unknown, strict=True)
            if not missing and (each[1] or not spec.count)  # count 0 stands for no case
        ]
    return known


def _missing_markers(cube: Cube, spec: Spec, groups: Levels) -> Iterator[Diagnostic]:
    # also where these are ``excluded``: whatever they are, rules pass
    for axis, levels in groups.items():
        recoding = spec.recoding(axis.column)
        stated = set(recoding.category_of.values()) if recoding else ()
        own = any(each.column == axis.column for each in spec.where)
        seen = cube.seen(Observation.LEFT_OUT, axis.column) if own else ()
        apart = [(each.value, each.rows) for each in seen if each.role is axis.role]
        every = [*cube.levels[axis], *(level for level, _ in apart)]
        missing = words.missing_words(every)
        if not spec.feature(axis.column).values:
            missing += words.codes_of_missing(every) + words.no_groups(axis.column, every)
        levels = [*levels, *apart]
        names = [name_of(level) for level, _ in levels]
        # of which a value may be a group: 3 is a race and a sex
        elsewhere = [v for other, of in groups.items() if other is not axis for v, _ in of]
        for (level, rows), name in zip(levels, names, strict=True):
            total = isinstance(level, str) and words.is_total(name, names)
            chosen = (level, rows) in apart
            if (level in missing or (total and not chosen)) and level not in stated:
                excluded = name in spec.exclude_groups or chosen
                what = {"excluded": excluded, "of_all": total}
                what["unsure"] = words.may_be_group(name, axis.column, names)
                facts: dict[str, Parameter] = {key: True for key, value in what.items() if value}
                if not total and is_one_of(level, elsewhere):
                    facts["line"] = spec.recoding_line(axis.column, {UNKNOWN: (level,)})
                made = Diagnostic.note if "unsure" in facts else Diagnostic.warning
                yield made(
                    DiagnosticCode.MISSING_MARKER, axis.column, value=level, rows=rows, **facts
                )


def _groups_alike(spec: Spec, groups: Levels) -> Iterator[Diagnostic]:
    # not where each is stated: recoded to itself, or named in a value set
    for axis, levels in groups.items():
        sets, recoding = spec.feature(axis.column).values, spec.recoding(axis.column)
        names = recoding.names if recoding else ()
        for several in same_reading_groups(
            _Spelling(axis.column, name_of(level), rows, _value_set(level, sets))
            for level, rows in levels
            if name_of(level) not in spec.exclude_groups
        ):
            stated = (each.meaning is not None if sets else each.text in names for each in several)
            if not all(stated):
                yield _same_names(several, spec, feature=axis.column)


def _outcomes_alike(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    classes = decide_task(cube, spec) is Task.MULTICLASS
    outcomes = [
        _Spelling(
            axis.column, level, rows, is_one_of(level, positive) if positive else meaning(level)
        )
        for axis in cube.plan.outcomes
        if not axis.bins
        # without stated values, "True", "true" and "1" mean the same
        for positive in [() if classes else spec.positive_of(axis.column)]
        for level, rows in levels_with_cases(cube, axis)
        # levels of rows that are protected, or of another decision of a person, may have none
        if isinstance(level, str) and (rows or cube.min_cell is not None or spec.of_people)
    ]
    alike = [outcomes]
    if not spec.words_of_predictions:
        alike = [[e for e in outcomes if e.column == axis.column] for axis in cube.plan.outcomes]
    for several in (found for some in alike for found in same_reading_groups(some)):
        names, columns = {e.text for e in several}, {e.column for e in several}
        stated = [each for column in columns if (each := spec.recoding(column))]
        if not (classes and any(names <= {*each.names} for each in stated)):
            yield _same_names(several, spec, classes=classes)


def _same_names(
    several: Sequence[_Spelling], spec: Spec, *, feature: str | None = None, classes: bool = False
) -> Diagnostic:
    rows: Counter[Hashable] = Counter()
    for each in several:
        rows[each.meaning] += each.rows
    # what is stated as favourable stays the name, so that the question need not change
    named = [each for each in several if each.meaning is True] or several
    best = max(named, key=_plainness).text
    more: dict[str, Parameter] = {"classes": True} if classes else {}
    columns = {each.column for each in several if each.text != best}
    if len(columns) == 1:
        (column,) = columns
        names = [each.text for each in several if each.column == column]
        more["line"] = spec.recoding_line(column, {best: names})
    others = tuple(e.text for e in several if e.meaning != rows.most_common(1)[0][0])
    counted = feature is not None or not spec.of_people
    if not counted:
        more["people"] = sum(each.rows for each in several if each.text in others)
    return Diagnostic.warning(
        DiagnosticCode.SAME_NAMES, feature, values=tuple(each.text for each in several),
        rows=tuple(each.rows for each in several if counted),
        columns=tuple(each.column for each in several), others=others, **more,
    )  # fmt: skip


def _plainness(each: _Spelling) -> tuple[bool, int, bool, str]:
    # what makes a spelling the name of all: no blanks around it, most rows, a title
    return each.text == each.text.strip(), each.rows, each.text.istitle(), each.text


def _value_set(level: Value, sets: Sequence[Sequence[Value]]) -> Hashable:
    # the group of a level: the position of its value set, or its name without them
    if not sets:
        return name_of(level)
    return next((i for i, values in enumerate(sets) if is_one_of(level, values)), None)


def same_reading_groups(texts: Iterable[_Spelling]) -> list[list[_Spelling]]:
    """Return the texts that read alike and mean several things, together."""
    alike: dict[Value, list[_Spelling]] = {}
    for each in texts:
        alike.setdefault(compact_reading(each.text), []).append(each)
    return [several for several in alike.values() if len({each.meaning for each in several}) > 1]


def _unseen_values(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    # one of several spellings of a category that has others is noted alone, unless it may be
    # misspelt itself: a value that is not recoded is then nearly the same
    unseen = sorted(cube.seen(Observation.UNSEEN), key=lambda each: each.column)
    for column, values in groupby(unseen, key=lambda each: each.column):
        axes = [axis for axis in cube.plan.axes if axis.column == column and not axis.bins]
        known = {name_of(v): n for axis in axes for v, n in levels_with_cases(cube, axis)}
        left = cube.seen(Observation.CONDITION, column)
        every = {str(each.value): each.rows for each in left} | known
        recoding, path = spec.recoding(column), f"recode.{column}"
        names, category_of = (recoding.names, recoding.category_of) if recoding else ((), {})
        left_over = {(column, name): n for name, n in every.items() if name not in names}
        for value in (str(each.value) for each in values):
            if closest(value, [name for _, name in left_over]) is not None:
                yield from unmatched_value(path, value, left_over)
            else:
                found = unmatched_name(path, value, known)
                spelt_otherwise = category_of.get(value) in known
                yield replace(found, level=Level.NOTE) if spelt_otherwise else found
