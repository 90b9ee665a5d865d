"""Outcomes: which values of label and prediction are positive, for each threshold, cut or class.

A binary audit has one mask for each score threshold or cut of ordered levels, a multiclass audit
one for each class (that class against all others), a regression a single one in which nothing is
positive.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fairgauge.catalogue.cells import FN, FP, TN, TP, Cells
from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.statistics import Statistic
from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import Axis
from fairgauge.enums import ClassKind, Favourable, Role, Task
from fairgauge.errors import (
    DataError,
    Problem,
    SpecError,
    cells,
    if_absent,
    may_name_people,
    nearest,
    quote,
    refuse,
    values_held,
)
from fairgauge.question.category_words import is_adverse, is_no, is_undecided, is_yes, may_be_value
from fairgauge.question.conditions import RowCondition
from fairgauge.question.features import ByColumn, Ordered
from fairgauge.question.options import flag_of
from fairgauge.question.specification import Spec
from fairgauge.results.scopes import NO_CLASS, ClassScope
from fairgauge.stats.arrays import Mask
from fairgauge.values import Value, is_one_of, match, name_of, sort_key

_TWO = 2
_CODINGS = ({"0", "1", "false", "true"}, {"no", "yes"}, {"n", "y"}, {"f", "t"})
"""How files write whether something is so: two of them in one column are two codings."""


@dataclass(frozen=True, slots=True, eq=False)
class OutcomeMasks:
    """The positive levels of label and prediction, as masks over the levels of their axes.

    ``turned`` is the sum of the ends of the scores' range where they are scores of a negative
    value: the score of the positive is what is left of it. ``label_values`` names the labels of
    observed positives and negatives, where they are two outcomes that are not cut.
    """

    labels: Mask
    predictions: Mask
    threshold: float | None = None
    class_scope: ClassScope = NO_CLASS
    turned: float | None = None
    label_values: Mapping[Cells, tuple[str, ...]] = field(default_factory=dict)

    @property
    def of_no_class(self) -> OutcomeMasks:
        """Return the masks of all classes together, of which none is positive."""
        return OutcomeMasks(np.zeros_like(self.labels), np.zeros_like(self.predictions))

    def threshold_of(self, of: Metric | Statistic) -> float | None:
        """Return the threshold of a metric or a rate; None of one that needs no decision."""
        return self.threshold if "prediction" in of.needs else None


def decide_task(cube: Cube, spec: Spec) -> Task:
    """Decide what label and prediction are, if it is not given.

    More than two texts with no positive one are classes; numbers are never guessed to be classes.
    """
    label = cube.plan.axis(Role.LABEL)
    if spec.task is not None or spec.positive or label is None or label.cuts:
        return spec.task or Task.BINARY
    levels = cube.levels[label]
    texts = all(isinstance(level, str) for level in levels)
    return Task.MULTICLASS if texts and len(levels) > _TWO else Task.BINARY


def outcome_masks(cube: Cube, spec: Spec, task: Task) -> tuple[OutcomeMasks, ...]:
    """Find which levels are positive.

    Raises
    ------
    SpecError
        No positive value is given and the labels are not 0 and 1, or the data do not have it.
    """
    label, prediction = cube.plan.axis(Role.LABEL), cube.plan.axis(Role.PREDICTION)
    label_levels = cube.levels[label] if label else ()
    prediction_levels = cube.levels[prediction] if prediction else ()
    if task is Task.REGRESSION:
        return (OutcomeMasks(_mask((), label_levels), _mask((), prediction_levels)),)
    _refuse_two_codings(cube, spec)
    if task is Task.MULTICLASS:
        if spec.favourable is Favourable.NEGATIVE:
            message = "negative is of two outcomes; state which classes are positive (--positive)"
            raise SpecError(Problem("favourable", message))
        return _classes(cube, label_levels, prediction_levels, spec.max_classes)
    if isinstance(spec.positive, Ordered):
        return _selections(cube, spec.positive, label_levels, prediction_levels)
    present = _plain_levels(cube)
    wanted = of_predictions = _wanted(spec, present, label or prediction)
    if isinstance(spec.positive, ByColumn):
        own = {
            axis: _wanted(replace(spec, positive=stated), [cube.levels[axis]], axis)
            for axis in cube.plan.outcomes
            if not axis.bins and (stated := spec.positive_of(axis.column))
        }
        wanted, of_predictions = (own.get(each, ()) for each in (label, prediction))  # type: ignore[arg-type]
    labels = _mask(wanted, label_levels) if label and not label.bins else _truth(label_levels)
    if spec.score_of is not None and present and not is_one_of(spec.score_of, present[0]):
        message = _no_such_value(spec.score_of, present[0], str(spec.label), spec)
        raise SpecError(Problem("score_of", message))
    sides = {TP + FN: labels, TN + FP: ~labels} if label and not label.bins else {}
    values = {
        part: tuple(name_of(v) for v, of in zip(label_levels, mask.tolist(), strict=True) if of)
        for part, mask in sides.items()
    }
    of_positive = spec.score_of is None or is_one_of(spec.score_of, wanted)
    turned = None if of_positive else sum(spec.score_range)
    if prediction is None or prediction.bounds is None:
        cut = prediction is not None and prediction.bins
        mask = _truth(prediction_levels) if cut else _mask(of_predictions, prediction_levels)
        return (OutcomeMasks(labels, mask, turned=turned, label_values=values),)
    bins = np.arange(prediction.bins)
    return tuple(
        OutcomeMasks(
            labels, (bins > i) == of_positive, threshold, turned=turned, label_values=values
        )
        for i, threshold in enumerate(prediction.cuts)
    )


def _selections(
    cube: Cube, positive: Ordered, labels: Sequence[Value], predictions: Sequence[Value]
) -> tuple[OutcomeMasks, ...]:
    """Return one mask for every cut of ordered levels: the first level, the first two ..."""
    problems = []
    for axis in cube.plan.outcomes:
        strange = [value for value in cube.levels[axis] if not is_one_of(value, positive.levels)]
        if strange:
            message = f"does not order {_some(strange)}, which column {quote(axis.column)} holds"
            problems.append(Problem("positive", message))
    if not problems:
        problems = [
            Problem("positive", f"no row has the level {quote(name_of(value))}; remove it")
            for value in positive.levels
            if not is_one_of(value, (*labels, *predictions))
        ]
    refuse(problems)
    return tuple(
        OutcomeMasks(
            _mask(selected, labels),
            _mask(selected, predictions),
            class_scope=ClassScope(ClassKind.SELECTION, " or ".join(map(name_of, selected))),
        )
        for selected in positive.selections
    )


def check_decisions(cube: Cube, spec: Spec) -> None:
    """Check that the predictions of a binary audit can be compared with its labels.

    Whatever the positive value, an audit refuses counts of which this does not hold.

    Raises
    ------
    SpecError
        The predictions are scores, or share no value with the labels.
    """
    if decide_task(cube, spec) is Task.BINARY and not isinstance(spec.positive, Ordered):
        _check_predictions(spec, _plain_levels(cube))


def _refuse_two_codings(cube: Cube, spec: Spec) -> None:
    """Refuse a column that writes the same outcomes in two ways, as two files of a folder may.

    Where the positive values name both ways, the column is as it is meant.
    """
    for axis in cube.plan.outcomes:
        if axis.bins:
            continue
        held = ways_of_writing(cube.levels[axis], spec.positive_of(axis.column))
        if len(held) > 1:
            ways = " and ".join(", ".join(quote(text) for text in sorted(each)) for each in held)
            raise DataError(
                f"column {quote(axis.column)} holds {ways}: two ways to write one outcome, of "
                "which one would count as unfavourable. Use the same values in all files and "
                "columns of outcomes, or recode one way as the other (recode)"
            )


def ways_of_writing(levels: Iterable[Value], positive: Iterable[Value] = ()) -> list[set[str]]:
    """Return the ways in which values write whether something is so; none where they state more.

    They are one way where the positive values name an outcome in all of them.

    >>> ways_of_writing([1, "yes"]), len(ways_of_writing([1, "yes"], [1, "yes"]))
    ([{'1'}, {'yes'}], 1)
    """
    texts = {name_of(level).casefold() for level in levels}
    held = [coding & texts for coding in _CODINGS if coding & texts]
    wanted = {name_of(value).casefold() for value in positive}
    if texts != set().union(*held):
        return []
    return [set().union(*held)] if all(coding & wanted for coding in held) else held


def _plain_levels(cube: Cube) -> list[Sequence[Value]]:
    return [cube.levels[axis] for axis in cube.plan.outcomes if not axis.bins]


def _classes(
    cube: Cube, labels: Sequence[Value], predictions: Sequence[Value], most: int
) -> tuple[OutcomeMasks, ...]:
    if any(axis.bins for axis in cube.plan.outcomes):
        message = "a multiclass audit needs a prediction of classes, not a score or a cut"
        raise SpecError(Problem("task", message))
    classes: list[Value] = []
    for value in (*labels, *predictions):  # "2" and "2.0" are one class
        classes += [] if is_one_of(value, classes) else [value]
    classes.sort(key=sort_key)
    if len(classes) > most:
        raise SpecError(_too_many_classes(len(classes), most, cube.plan.outcomes))
    if not classes:
        raise DataError("no row has a label or a prediction")
    return tuple(
        OutcomeMasks(
            _mask((value,), labels),
            _mask((value,), predictions),
            class_scope=ClassScope(ClassKind.CLASS, name_of(value)),
        )
        for value in classes
    )


def _too_many_classes(classes: int, most: int, outcomes: Sequence[Axis]) -> Problem:
    columns = list(dict.fromkeys(quote(axis.column) for axis in outcomes))
    together = " and ".join(columns)
    which = f"columns {together} together have" if columns[1:] else f"column {together} has"
    return Problem(str(outcomes[0].role), (
        f"{which} {classes:,} classes, more than {most:,}; state which values are favourable "
        f"(positive, --positive VALUE), or raise max_classes (--max-classes {classes})"
    ))  # fmt: skip


def _wanted(spec: Spec, present: list[Sequence[Value]], axis: Axis | None) -> tuple[Value, ...]:
    """Return the positive values: those asked, or 1 and true of labels that are 0 and 1."""
    if not isinstance(spec.positive, tuple) or axis is None or not any(present):
        return spec.positive if isinstance(spec.positive, tuple) else ()
    if not spec.positive:
        if not all(is_one_of(value, (0, 1)) for value in present[0]):
            raise SpecError(Problem("positive", _which_is_positive(spec, present)))
        _check_predictions(spec, present)
        return (1,)
    nobody = not any(is_one_of(level, spec.positive) for levels in present for level in levels)
    problems = []
    for value in spec.positive:
        for levels in present:
            try:
                match(value, levels)
            except LookupError as error:
                problems += [Problem("positive", str(error))] if str(error) else []
        if all(not is_one_of(value, levels) for levels in present):
            message = _no_such_value(
                value, present[0], axis.column, spec, beside=spec.positive, nobody=nobody
            )
            problems.append(Problem("positive", message))
    if not problems and _is_in_other_words(spec.positive, present):
        problems.append(Problem(
            "positive",
            f"{_no_such_value(spec.positive[0], present[0], axis.column, spec)}: none of its "
            "outcomes would be favourable, and each favourable prediction wrong; "
            f"{_of_each_column(spec, present)}",
        ))  # fmt: skip
    every = list(dict.fromkeys(level for levels in present for level in levels))
    # of a part of the rows the others may have unfavourable ones
    if not spec.where and (message := _all_favourable(spec.positive, every, axis.column)):
        problems.append(Problem("positive", message))
    refuse(problems)
    _check_predictions(spec, present)
    return spec.positive


def _is_in_other_words(positive: Sequence[Value], present: list[Sequence[Value]]) -> bool:
    """Return whether labels of several outcomes have none that is positive.

    Labels of one outcome alone may be all that there are.
    """
    decided = [v for v in present[0] if may_be_value(name_of(v)) or not is_undecided(v)]
    none = all(not is_one_of(value, present[0]) for value in positive)
    return len(present) == _TWO and len(decided) >= _TWO and none


def _all_favourable(positive: Sequence[Value], levels: Sequence[Value], column: str) -> str:
    """Return what is wrong where the positive values are all that a column has; else nothing."""
    every = all(is_one_of(level, positive) for level in levels)
    if len(positive) < 2 or len(levels) < 2 or not every:
        return ""
    return (
        f"names every value of {quote(column)} ({_some(levels)}), so that no outcome is "
        "unfavourable; name the favourable values alone"
    )


def _check_predictions(spec: Spec, present: list[Sequence[Value]]) -> None:
    """Refuse predictions that are no decisions: scores, or the values of another column."""
    if len(present) < _TWO or not spec.words_of_predictions:
        return
    labels, predictions = present
    strange = [value for value in predictions if not is_one_of(value, labels)]
    apart = len(strange) == len(predictions) > 0
    # of two, every decision is wrong; labels may still come
    if not apart or not labels or len(labels) + len(predictions) <= _TWO:
        strange = [value for value in strange if isinstance(value, float)]
    if strange:
        message = (
            f"holds {_some(strange)}, which the label {quote(spec.label)} does not (it holds "
            f"{_some(labels)}); {_of_each_column(spec, present)}, or give a score as score "
            "(--score COL)"
        )
        raise SpecError(Problem("prediction", message))


def _of_each_column(spec: Spec, present: Sequence[Sequence[Value]]) -> str:
    named = {}
    for column, levels in zip((spec.label, spec.prediction), present, strict=True):
        names = [*map(name_of, levels)]
        stated = [name_of(v) for v in levels if is_one_of(v, spec.positive_of(column))]
        kept = [name for name in names if not (is_adverse(name) or is_no(name))]
        likely = [*filter(is_yes, names), *kept, *names]
        named[str(column)] = stated or (["VALUE"] if may_name_people(names) else likely[:1])
    return (
        f"if the columns have other words, name the favourable values of each, such as "
        f"{flag_of('positive', named)} (positive={named}), or use the same in both (recode)"
    )


def _which_is_positive(spec: Spec, present: list[Sequence[Value]]) -> str:
    column = spec.label or spec.prediction
    message = (
        f"name the value of {quote(column)} that is positive (--positive VALUE); it holds "
        f"{_some(present[0])}"
    )
    if len(present) == _TWO and not any(is_one_of(value, present[0]) for value in present[1]):
        return f"{message}; {_of_each_column(spec, present)}"
    if len(present[0]) <= _TWO:
        return message
    return (
        f"{message}. A binary audit of {len(present[0]):,} values needs the positive ones "
        "(positive=..., or fairgauge.above, '>x' on the command line); "
        "task='multiclass' or task='regression' reads them as they are"
    )


def _no_such_value(
    value: Value,
    levels: Sequence[Value],
    column: str,
    spec: Spec,
    beside: Sequence[Value] = (),
    *,
    nobody: bool = False,
) -> str:
    """Return that a column lacks a value; ``nobody`` that no outcome is one of those beside it."""
    asked = name_of(value)
    stated = [each for each in spec.where if each.column == column and not each.holds(value)]
    meant = nearest(asked, [name_of(level) for level in levels])
    why = f" in {_rows_with(stated[:1])}." if stated else f".{meant}"
    leave = "" if nobody else if_absent(value, beside, meant)
    if not levels and len(beside) > 1:
        leave = (
            "; if labels have other words for the outcomes than predictions, name the favourable "
            "values of each column (--positive COLUMN=VALUE)"
        )
    if nobody and not (stated or meant):
        leave = (
            f"; if nobody has it in {_rows_with(spec.where)}, groups cannot differ: choose rows "
        )
        leave += "in which somebody has it"
    has = values_held(map(name_of, levels))
    return f"column {quote(column)} has no value {quote(asked)}{why} {has}{leave}"


def _rows_with(conditions: Sequence[RowCondition]) -> str:
    texts = " and ".join(each.to_text() for each in conditions)
    return f"the rows with {texts} (where)" if conditions else "these rows"


def _mask(wanted: Sequence[Value], levels: Sequence[Value]) -> Mask:
    return np.array([is_one_of(level, wanted) for level in levels], dtype=bool)


def _truth(levels: Sequence[Value]) -> Mask:
    """Read the bins of a cut: all above the first are positive."""
    return np.array([bool(level) for level in levels], dtype=bool)


def _some(levels: Sequence[Value]) -> str:
    return cells(map(name_of, levels))
