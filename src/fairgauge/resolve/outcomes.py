"""Outcomes: which values of label and prediction are positive, for each threshold or class.

A binary audit has one mask for each score threshold, a multiclass audit one for each class (that
class against all others), a regression a single one in which nothing is positive.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from typing import Any

import numpy as np

from fairgauge import errors
from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.cube.cube import Cube, Observed, Sums, aggregate, levels_with_cases
from fairgauge.cube.plan import OUTCOMES, SQUARES, SUM, Axis, Plan, centre_of
from fairgauge.enums import (
    ClassKind,
    DiagnosticCode,
    Favourable,
    Observation,
    Role,
    Task,
    Uncounted,
)
from fairgauge.errors import DataError, Problem, SpecError, quote, refuse, suggest
from fairgauge.question.category_words import is_undecided, may_be_value, undecided_refusals
from fairgauge.question.features import ByColumn
from fairgauge.question.specification import Spec
from fairgauge.reasons import FEWEST_ROWS, Reason, ReasonCode
from fairgauge.resolve.group_counts import unknown_levels
from fairgauge.results.scopes import NO_CLASS, ClassScope
from fairgauge.scan.identifiers import observe_identifiers
from fairgauge.start.records import dataclass, replace
from fairgauge.stats.arrays import Array, Index, Mask
from fairgauge.values import Value, is_one_of, match, name_of, sort_key

# how files write whether something is so: two of them in one column are two codings
CODINGS = ({"0", "1", "false", "true"}, {"no", "yes"}, {"n", "y"}, {"f", "t"})
# a number that is written for readers: 43%, 1,222 or 1222 (43%)
_WRITTEN = re.compile(r"\d{1,3}([.,\s]\d{3})+|\d[\d.,\s]*(%|\(\s*\d[\d.,\s]*%?\s*\))")
_MOST_CLASSES = 100
_OF_EACH_COLUMN = (
    "if the columns have other words, name the favourable values of each (--positive COLUMN=VALUE, "
    "positive={COLUMN: VALUE}), or use the same in both (recode)"
)


@dataclass(frozen=True, slots=True, eq=False)
class OutcomeMasks:
    """The positive levels of label and prediction, as masks over the levels of their axes.

    ``open_labels, open_predictions`` are those that count as negative, and may be no decision; None
    where there are none. ``undecided``: their names, each with the role of its column.
    ``turned`` is the sum of the ends of the scores' range where they are scores of a negative
    value, or the lowest are the best: the score of the positive is what is left of it.
    ``lowest``: whether the lowest are, as places are.
    """

    labels: Mask
    predictions: Mask
    threshold: float | None = None
    class_scope: ClassScope = NO_CLASS
    turned: float | None = None
    lowest: bool = False
    open_labels: Mask | None = None
    open_predictions: Mask | None = None
    undecided: tuple[tuple[str, str], ...] = ()

    @property
    def closed(self) -> OutcomeMasks:
        """Return it with every value as it is counted, also those that may be no decision."""
        return replace(self, open_labels=None, open_predictions=None, undecided=())

    @property
    def of_no_class(self) -> OutcomeMasks:
        """Return the masks of all classes together, of which none is positive."""
        return OutcomeMasks(np.zeros_like(self.labels), np.zeros_like(self.predictions))

    def threshold_of(self, of: Metric | Statistic) -> float | None:
        """Return the threshold of a metric or a rate; None of one that needs no decision."""
        return self.threshold if "prediction" in of.needs else None


def with_stated_outcomes(cube: Cube, spec: Spec) -> Cube:
    """Return counts in which every value that is stated as neither outcome is a missing one.

    What was counted before so stays; its observations state these values.

    Raises ``SpecError``: no value of a column is a negative one that is named.
    """
    levels, tables, observed = dict(cube.levels), cube.tables, [*cube.observed]
    for axis in cube.plan.axes if spec.negative else ():
        negative = spec.negative_of(axis.column)
        if axis.role not in (*OUTCOMES, Role.CANDIDATE) or axis.bins or not negative:
            continue
        stated = (*(spec.positive_of(axis.column) or (1,)), *negative)
        known = _mask(stated, levels[axis])
        if known.all():
            continue
        if not spec.positive and not all(is_one_of(v, (0, 1)) for v in levels[axis]):
            raise SpecError(Problem("positive", _ask_for_positive(spec, [levels[axis]])))
        if levels[axis] and not _mask(negative, levels[axis]).any():
            message = _describe_absent(negative[0], levels[axis], axis.column, spec)
            raise SpecError(Problem("negative", message))
        table = cube.marginal([axis]).known([axis])
        for i, code in enumerate(table.codes[:, 0].tolist()):
            if not known[code]:
                rows, cases = (int(table.sums[m][i]) for m in ("rows", cube.plan.cases))
                name = name_of(levels[axis][code])
                code_of = Observation.UNSTATED
                observed.append(Observed(code_of, axis.column, name, rows, cases, axis.role))
        place = np.append(np.where(known, np.cumsum(known) - 1, -1), -1)
        levels[axis] = tuple(compress(levels[axis], known.tolist()))
        tables = tuple(each.recoded(axis, place) for each in tables)
    if tables is cube.tables:
        return cube
    return replace(cube, levels=levels, tables=tables, observed=tuple(observed))


def decide_task(cube: Cube, spec: Spec) -> Task:
    """Decide what label and prediction are, if it is not given."""
    # More than two texts with no positive one are classes; numbers are never guessed to be classes.
    label = cube.plan.axis(Role.LABEL)
    if spec.task is not None or spec.positive or label is None or label.cuts:
        return spec.task or Task.BINARY
    levels = cube.levels[label]
    texts = all(isinstance(level, str) and not _WRITTEN.fullmatch(level) for level in levels)
    return Task.MULTICLASS if texts and len(levels) > 2 else Task.BINARY


def outcome_masks(cube: Cube, spec: Spec, task: Task) -> tuple[OutcomeMasks, ...]:
    """Find which levels are positive: those that are stated, or 1 of labels that are 0 and 1."""
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
        return _classes(cube, label_levels, prediction_levels)
    present = [cube.levels[axis] for axis in cube.plan.outcomes if not axis.bins]
    wanted = of_predictions = _positive_values(spec, present, label or prediction)
    if isinstance(spec.positive, ByColumn):
        own = {
            axis: _positive_values(replace(spec, positive=stated), [cube.levels[axis]], axis)
            for axis in cube.plan.outcomes
            if not axis.bins and (stated := spec.positive_of(axis.column))
        }
        wanted, of_predictions = (own.get(each, ()) for each in (label, prediction))  # type: ignore[arg-type]
    labels = _mask(wanted, label_levels) if label and not label.bins else _truth(label_levels)
    if spec.score_of is not None and present and not is_one_of(spec.score_of, present[0]):
        message = _describe_absent(spec.score_of, present[0], str(spec.label), spec)
        raise SpecError(Problem("score_of", message))
    lowest = spec.favourable is Favourable.LOWER
    of_positive = not lowest and (spec.score_of is None or is_one_of(spec.score_of, wanted))
    order: dict[str, Any] = {"turned": None if of_positive else sum(spec.score_range)}
    masks = [(axis, open_levels(cube, axis, spec)) for axis in cube.plan.outcomes]
    names = [(str(axis.role), name_of(level)) for axis, mask in masks if mask is not None
             for level in compress(cube.levels[axis], mask)]  # fmt: skip
    order |= {"lowest": lowest, "undecided": tuple(names)}
    order |= {f"open_{axis.role}s": mask for axis, mask in masks}
    if prediction is None or prediction.bounds is None or not spec.threshold:
        cut = prediction is not None and prediction.bins
        mask = _truth(prediction_levels) if cut else _mask(of_predictions, prediction_levels)
        return (OutcomeMasks(labels, mask, **order),)
    bins = np.arange(prediction.bins)
    return tuple(
        OutcomeMasks(labels, (bins > i) == of_positive, threshold, **order)
        for i, threshold in enumerate(prediction.cuts)
    )


def recorded_outcomes(cube: Cube, spec: Spec) -> list[Axis]:
    """Return the label and the decisions that are recorded, and not made from a score."""
    scored = spec.score if spec.prediction is None else None
    return [each for each in cube.plan.outcomes if each.column != scored]


def refused_levels(cube: Cube, axis: Axis, spec: Spec) -> list[tuple[Value, int]]:
    """Return the values of an outcome that count as not positive, with their cases."""
    asked = spec.positive_of(axis.column) or (1,)
    # of people, whose decisions count as one, how many rows have each is not known any more
    held = (each for each in levels_with_cases(cube, axis) if each[1] or spec.of_people)
    return [each for each in held if not is_one_of(each[0], asked)]


def undecided_levels(cube: Cube, axis: Axis, spec: Spec) -> list[tuple[Value, int]]:
    """Return the refused values whose names or codes are of no decision, with their cases."""
    refused = refused_levels(cube, axis, spec)
    asked = spec.positive_of(axis.column) or (1,)
    if spec.negative_of(axis.column):
        return []
    none = undecided_refusals(axis.column, cube.levels[axis], [v for v, _ in refused], asked)
    return [each for each in refused if each[0] in none]


def open_levels(cube: Cube, axis: Axis, spec: Spec) -> Mask | None:
    """Return which levels these are; None of none, or where it is accepted what they count as."""
    accepted = spec.accepts(DiagnosticCode.UNDECIDED_OUTCOMES, axis.column)
    if accepted or len(cube.levels[axis]) <= 2 or axis.bins or not spec.names_values:
        return None
    undecided = [value for value, _ in undecided_levels(cube, axis, spec)]
    return np.array([v in undecided for v in cube.levels[axis]]) if undecided else None


def _refuse_two_codings(cube: Cube, spec: Spec) -> None:
    # where the positive values name both ways, the column is as it is meant
    for axis in cube.plan.outcomes:
        if axis.bins:
            continue
        held = ways_of_writing(cube.levels[axis], spec.positive_of(axis.column))
        if len(held) > 1:
            ways = " and ".join(", ".join(quote(text) for text in sorted(each)) for each in held)
            wanted = [v for v in cube.levels[axis] if is_one_of(v, spec.positive_of(axis.column))]
            others = [value for value in cube.levels[axis] if value not in wanted]
            line = spec.recoding_line(axis.column, {"positive": wanted, "negative": others})
            raise DataError(
                f"column {quote(axis.column)} holds {ways}: two ways to write one outcome, of "
                "which one would count as unfavourable. Use the same values in all files and "
                "columns of outcomes, or recode one way as the other (recode); if they are as "
                f"stated, name them so: {line} with positive = 'positive'"
            )


def ways_of_writing(levels: Iterable[Value], positive: Iterable[Value] = ()) -> list[set[str]]:
    """Return the ways in which values write whether something is so; none where they state more.

    They are one way where the positive values name an outcome in all of them.
    """
    texts = {name_of(level).casefold() for level in levels}
    held = [coding & texts for coding in CODINGS if coding & texts]
    wanted = {name_of(value).casefold() for value in positive}
    every = {each for coding in held for each in coding}
    if texts != every:
        return []
    return [every] if all(coding & wanted for coding in held) else held


def _classes(
    cube: Cube, labels: Sequence[Value], predictions: Sequence[Value]
) -> tuple[OutcomeMasks, ...]:
    if any(axis.bins for axis in cube.plan.outcomes):
        message = "a multiclass audit needs a prediction of classes, not a score or a cut"
        raise SpecError(Problem("task", message))
    classes: list[Value] = []
    for value in (*labels, *predictions):  # "2" and "2.0" are one class
        classes += [] if is_one_of(value, classes) else [value]
    classes.sort(key=sort_key)
    if len(classes) > _MOST_CLASSES:
        columns = [*dict.fromkeys(quote(axis.column) for axis in cube.plan.outcomes)]
        have = f"columns {' and '.join(columns)} together have"
        raise SpecError(Problem(str(cube.plan.outcomes[0].role), (
            f"{have if columns[1:] else f'column {columns[0]} has'} {len(classes):,} classes, more "
            f"than {_MOST_CLASSES:,}; state which values are favourable (positive, --positive "
            "VALUE), or recode classes into fewer (recode)"
        )))  # fmt: skip
    if not classes:
        raise DataError("no row has a label or a prediction")
    scopes = (ClassScope(ClassKind.CLASS, name_of(value)) for value in classes)
    return tuple(
        OutcomeMasks(_mask((value,), labels), _mask((value,), predictions), None, scope)
        for value, scope in zip(classes, scopes, strict=True)
    )


def _positive_values(
    spec: Spec, present: Sequence[Sequence[Value]], axis: Axis | None
) -> tuple[Value, ...]:
    # the positive values: those asked, or 1 and true of labels that are 0 and 1
    if not isinstance(spec.positive, tuple) or axis is None or not any(present):
        return spec.positive if isinstance(spec.positive, tuple) else ()
    if not spec.positive:
        if not all(is_one_of(value, (0, 1)) for value in present[0]):
            raise SpecError(Problem("positive", _ask_for_positive(spec, present)))
        _check_predictions(spec, present)
        return (1,)
    every = list(dict.fromkeys(level for levels in present for level in levels))
    problems = []
    for value in spec.positive:
        for levels in present:
            try:
                match(value, levels)
            except LookupError as error:
                problems += [Problem("positive", str(error))] if str(error) else []
        if all(not is_one_of(value, levels) for levels in present):
            message = _describe_absent(value, present[0], axis.column, spec)
            problems.append(Problem("positive", message))
    # labels of one outcome alone may be all that there are
    decided = [v for v in present[0] if may_be_value(name_of(v)) or not is_undecided(v)]
    absent = all(not is_one_of(value, present[0]) for value in spec.positive)
    if not problems and absent and len(present) == 2 and len(decided) >= 2:
        absence = _describe_absent(spec.positive[0], present[0], axis.column, spec)
        problems.append(Problem("positive", (
            f"{absence}: none of its outcomes would be favourable, and each favourable prediction "
            f"wrong; {_OF_EACH_COLUMN}"
        )))  # fmt: skip
    # of a part of the rows the others may have unfavourable ones
    all_named = len(every) > 1 and all(is_one_of(level, spec.positive) for level in every)
    if not spec.where and all_named and len(spec.positive) > 1:
        problems.append(Problem("positive", (
            f"names every value of {quote(axis.column)} ({_sample(every)}), so that no outcome is "
            "unfavourable; name the favourable values alone"
        )))  # fmt: skip
    refuse(problems)
    _check_predictions(spec, present)
    return spec.positive


def _check_predictions(spec: Spec, present: Sequence[Sequence[Value]]) -> None:
    # refuse predictions that are no decisions: scores, or the values of another column
    if len(present) < 2 or not spec.words_of_predictions:
        return
    labels, predictions = present
    strange = [value for value in predictions if not is_one_of(value, labels)]
    apart = len(strange) == len(predictions) > 0
    # of two, every decision is wrong; labels may still come
    if not apart or not labels or len(labels) + len(predictions) <= 2:
        strange = [value for value in strange if isinstance(value, float)]
    if strange:
        raise SpecError(Problem("prediction", (
            f"holds {_sample(strange)}, which the label {quote(spec.label)} does not (it holds "
            f"{_sample(labels)}); {_OF_EACH_COLUMN}, or give a score as score (--score COL)"
        )))  # fmt: skip


def _ask_for_positive(spec: Spec, present: Sequence[Sequence[Value]]) -> str:
    asked = f"name the value of {quote(spec.label or spec.prediction)} that is positive"
    message = f"{asked} (--positive VALUE); it holds {_sample(present[0])}"
    if len(present) == 2 and not any(is_one_of(value, present[0]) for value in present[1]):
        return f"{message}; {_OF_EACH_COLUMN}"
    classes = "task='multiclass' or task='regression' reads them as they are"
    rates = all(isinstance(each, str) and _WRITTEN.fullmatch(each) for each in present[0])
    if spec.count and (rates or all(isinstance(each, (int, float)) for each in present[0])):
        classes = (
            f"if it is, or has a rate of, how many of the {quote(spec.count)} cases of a row are "
            "positive, name the column of their number (successes, --successes COL); without one, "
            "add it: the rate times the count, rounded"
        )
    cut = "of numbers a cut (fairgauge.above, --positive '>x')"
    return f"{message}; {cut}; {classes}" if len(present[0]) > 2 or rates else message


def _describe_absent(value: Value, levels: Sequence[Value], column: str, spec: Spec) -> str:
    asked, names = name_of(value), [name_of(level) for level in levels]
    stated = [each for each in spec.where if each.column == column and not each.holds(value)]
    meant = suggest(asked, names)
    if re.fullmatch(r"[<>]=?\s*[+-]?[\d.]+", asked):
        below = "where less is better, with favourable='negative' (--favourable negative)"
        meant = f" A cut is written fairgauge.above(X), --positive '>X' or '>=X'; {below}."
    why = f" in the rows with {stated[0].to_text()} (where)." if stated else f".{meant}"
    return f"column {quote(column)} has no value {quote(asked)}{why} It has {errors.cells(names)}"


def _mask(wanted: Sequence[Value], levels: Sequence[Value]) -> Mask:
    return np.array([is_one_of(level, wanted) for level in levels], dtype=bool)


def _truth(levels: Sequence[Value]) -> Mask:
    return np.array([bool(level) for level in levels], dtype=bool)


def _sample(levels: Sequence[Value]) -> str:
    return errors.cells(map(name_of, levels))


ALMOST_ALL = 0.95
"""The share of the rows of each outcome from which strata determine it, as a copy with mistakes."""
ROUNDING = 1e-11
"""The part of a squared mean up to which a variance is that of rounding alone."""
# rows of a stratum below which all have one outcome often, whatever the stratum
_FEWEST_DETERMINED = 10
# the sums of numbers and of their squares
MOMENTS = {Role.LABEL: ("y", "yy"), Role.PREDICTION: ("p", "pp"), Role.SCORE: (SUM, SQUARES)}

ConstantOutcomes = dict[tuple[str, float | None], Reason]
"""Why groups cannot differ in what a metric needs, at a threshold or (None) at any."""


def one_decision(cube: Cube, outcomes: Sequence[OutcomeMasks], task: Task) -> Reason | None:
    """Return that all rows are decided alike, at one of several thresholds at least."""
    decision = cube.plan.axis(Role.PREDICTION)
    assert decision is not None
    alike = _outcomes_of_all(cube, decision, outcomes, task)
    return next((Reason.of(ReasonCode.ONE_DECISION, **each) for each in alike), None)


def _outcomes_of_all(
    cube: Cube, axis: Axis, outcomes: Sequence[OutcomeMasks], task: Task
) -> Iterator[dict[str, Any]]:
    # what all rows that have an outcome have: a class, or one of two outcomes at a threshold
    rows = cube.cases_by_level[axis][:-1]
    of_label = axis.role is Role.LABEL
    if task is Task.MULTICLASS:
        if np.count_nonzero(rows) == 1:
            yield {"value": name_of(cube.levels[axis][int(rows.argmax())])}
        return
    for each in outcomes:
        positive = rows[each.labels if of_label else each.predictions].sum()
        if rows.any() and positive in (0, rows.sum()):
            yield {"positive": bool(positive), "threshold": None if of_label else each.threshold}


def reason_of_one_value(
    needs: Iterable[str], threshold: float | None, constant: ConstantOutcomes
) -> Reason | None:
    """Return why groups cannot differ in a metric; None where some outcome that it needs varies."""
    needed = (need for need in ("score", "prediction", "label") if need in needs)
    found = [constant.get((need, threshold)) or constant.get((need, None)) for need in needed]
    return found[0] if all(found) and found else None


def constant_outcomes(
    cube: Cube, spec: Spec, outcomes: Sequence[OutcomeMasks], task: Task
) -> ConstantOutcomes:
    """Return which of label, prediction and score are the same in all rows, and where."""
    found: ConstantOutcomes = {}
    if cube.min_cell is not None:  # protected counts do not show it
        return found
    for axis in (*cube.plan.outcomes, cube.plan.axis(Role.SCORE)):
        if axis is None:
            continue
        of = str(axis.role)
        if axis.role is Role.SCORE or task is Task.REGRESSION:
            if (number := constant_value(cube, axis)) is not None:
                found[of, None] = Reason.of(ReasonCode.ONE_VALUE, of=of, value=f"{number:.6g}")
        elif not (cube.cases_by_level[axis][-1] and spec.profile.as_smclarify):
            for each in _outcomes_of_all(cube, axis, outcomes, task):
                found[of, each.get("threshold")] = Reason.of(ReasonCode.ONE_VALUE, of=of, **each)
    return found


def constant_value(cube: Cube, axis: Axis) -> float | None:
    """Return the number that all rows have in a column, None where they differ or are few."""
    rows, sums = sums_of_known(cube, [axis])
    total, squares = MOMENTS[axis.role]
    mean = sums[total] / sums["w"] if sums["w"] else math.nan
    alike = sums[squares] - sums["w"] * mean**2 <= ROUNDING * sums[squares]
    mean += centre_of(cube.plan) * (total != SUM)
    return mean if alike and rows >= FEWEST_ROWS else None


def sums_of_known(cube: Cube, axes: Sequence[Axis]) -> tuple[int, dict[str, float]]:
    """Return how many rows have a value of every axis, and their sums, with that of weights."""
    table = cube.marginal(axes).known(axes)
    sums = {name: float(each.sum()) for name, each in table.sums.items()}
    return int(sums[cube.plan.cases]), {"w": sums.get("n", sums["rows"]), **sums}


def share_determined(positive: Sums, rows: Sums) -> float:
    """Return the smaller share of both outcomes that are those of most rows of their stratum."""
    negative = rows - positive
    if not positive.sum() or not negative.sum():
        return 0.0
    held = rows >= _FEWEST_DETERMINED
    alike = positive[held & (positive > negative)], negative[held & (negative > positive)]
    return float(min(alike[0].sum() / positive.sum(), alike[1].sum() / negative.sum()))


_NEGATIVE, _POSITIVE, _UNKNOWN = 0, 1, 2
# TP, FP, FN or TN by label and prediction; where one is not known, by the other alone
_CELL_OF = np.array([[3, 1, 3], [2, 0, 0], [3, 0, 0]])


def kinds_of_rows(cube: Cube, masks: OutcomeMasks, rate: Rate) -> Index:
    """Return what rows are to a rate, by their codes of outcomes.

    2 is one that it counts, 1 another of those that it is a share of, 0 none of these, and -1 one
    of which an outcome that it needs is not known.
    """
    states = {
        role: np.append(np.where(mask, _POSITIVE, _NEGATIVE), _UNKNOWN)  # code -1 reads the last
        if cube.plan.axis(role)
        else np.array([_UNKNOWN])
        for role, mask in ((Role.LABEL, masks.labels), (Role.PREDICTION, masks.predictions))
    }
    label, prediction = np.meshgrid(*states.values(), indexing="ij")
    cell = _CELL_OF[label, prediction]
    known = {Role.LABEL: label != _UNKNOWN, Role.PREDICTION: prediction != _UNKNOWN}
    counted = np.logical_and.reduce([known[Role(need)] for need in rate.needs])
    of, among = (np.array(each)[cell] for each in (rate.of, rate.among))
    found = np.where(counted, among + of, -1).astype(np.int64)
    return found[tuple(slice(None) if cube.plan.axis(role) else 0 for role in states)]


def plan_by_person(plan: Plan, spec: Spec) -> Plan:
    """Return the plan of one table by all axes and the person."""
    person = str(spec.person)
    axes = (*plan.axes, Axis(Role.CLUSTER, person, recoding=spec.recoding(person)))
    return replace(plan, axes=axes, tables=(tuple(range(len(axes))),))


def count_people(rows: Cube, plan: Plan, spec: Spec) -> Cube:
    """Return counts of people, each once, of counts of rows by person.

    A person is in the group that their rows state; where these state several, their group is
    unknown. A row without a person counts as a person of its own. The decision of a person
    without a known one is missing, as that of a row may be. Where a known one could be changed
    by an unknown one, the known one counts, and the measure "open" counts the person.
    """
    (table,) = rows.tables
    codes = {axis: table.codes[:, i].copy() for i, axis in enumerate(table.axes)}
    for axis in plan.axes:
        if axis.role is Role.FEATURE:
            unknown = np.append(unknown_levels(axis, rows.levels[axis], spec), False)
            codes[axis][unknown[codes[axis]]] = -1
    by_person = table.axes[len(plan.axes)]
    identifiers, person = rows.levels[by_person], codes[by_person]
    named = person >= 0
    if len(named) and not named.any():
        raise DataError(
            f"column {quote(str(spec.person))} names no person: it is empty in every row; name the "
            "column of persons, or audit rows (without person)"
        )
    held = np.s_[:] if named.all() else named  # of which nothing is a copy
    known = {axis: code[held] for axis, code in codes.items()}
    people, of = np.unique(person[named], return_inverse=True)
    others = (axis for axis in plan.axes if axis.role not in OUTCOMES)
    groups = {axis: consistent_value(known[axis], of, len(people)) for axis in others}
    for axis, (_, several) in groups.items():
        if axis.role is Role.STRATUM and several.any():
            raise DataError(
                f"{int(several.sum()):,} people are in several strata of {quote(axis.column)}, and "
                "a person counts once; count each of their decisions (--per-person each), or "
                "remove strata"
            )
    unnamed = table.sums["rows"][~named]
    own = {measure: each[held] for measure, each in table.sums.items()}
    outcomes, counting, open_ = _decisions(rows, plan, spec, known, of, len(people), own)
    differing = ((a, several) for a, (_, several) in groups.items() if a.role is not Role.CODES)
    conflicts = {axis.column: int(several.sum()) for axis, several in differing}
    conflicts.setdefault(str(spec.person), int(unnamed.sum()))
    columns = [outcomes[a] if a in outcomes else groups[a][0] for a in plan.axes]
    own_rows = [codes[axis][~named] for axis in plan.axes]
    every = np.concatenate([np.stack(columns, axis=-1), np.stack(own_rows, axis=-1)])
    sums = {"rows": np.concatenate([np.ones(len(people)), unnamed])}
    if open_.any():
        sums["open"] = np.concatenate([open_, np.zeros_like(unnamed)])
    of_counting = of[counting]
    counted = np.maximum(np.bincount(of_counting, own["rows"][counting], len(people)), 1)
    for moment in plan.moments:
        unknown = np.any([c < 0 for a, c in outcomes.items() if a.column in moment.columns], axis=0)
        mean = np.bincount(of_counting, own[moment.name][counting], len(people)) / counted
        every_sum = [np.where(unknown, 0.0, mean), table.sums[moment.name][~named]]
        sums[moment.name] = np.concatenate(every_sum)
    further = int(table.sums["rows"].sum() - sums["rows"].sum())
    tables = tuple(
        aggregate(tuple(plan.axes[i] for i in at), every[:, list(at)], sums) for at in plan.tables
    )
    of_person = np.bincount(of, table.sums["rows"][named])
    return Cube(
        plan, {axis: rows.levels[axis] for axis in plan.axes}, tables, rows.rows,
        {Uncounted.SAME_PERSON: further} if further else {},
        observed=(
            *(replace(e, rows=0, cases=0) if e.code is Observation.RECODED else e
              for e in rows.observed),  # recoded rows are not people
            *(Observed(Observation.CONFLICT, c, rows=n) for c, n in conflicts.items() if n),
            *observe_identifiers(identifiers, of_person, spec.recoding(str(spec.person))),
        ),
    )  # fmt: skip


def consistent_value(code: Index, of: Index, people: int) -> tuple[Index, Mask]:
    """Return the one known value of every person, -1 where there is none or there are several."""
    low = np.full(people, np.iinfo(np.int64).max)
    high = np.full(people, -1)
    np.minimum.at(low, of[code >= 0], code[code >= 0])
    np.maximum.at(high, of, code)
    several = (high >= 0) & (low != high)
    return np.where(several, -1, high), several


def _decisions(
    rows: Cube, plan: Plan, spec: Spec, known: dict[Axis, Index], of: Index, people: int,
    sums: Mapping[str, Array],
) -> tuple[dict[Axis, Index], Mask, Mask]:  # fmt: skip
    # third, whether an unknown one could change it
    axis = plan.outcomes[-1]
    complete = known[axis] >= 0
    # the positive one counts if any is, whichever is favourable: "at least once"; -2 is of none
    cube = replace(rows, plan=plan)
    if (task := decide_task(cube, spec)) is not Task.BINARY:
        message = "of classes no decision is positive; state positive, or count each decision"
        raise SpecError(Problem("per_person", message))
    (masks,) = outcome_masks(cube, spec, task)
    mask = masks.labels if axis.role is Role.LABEL else masks.predictions
    ranks = np.append(np.where(mask, 0, -1), -2)
    rank = ranks[known[axis]]  # code -1 reads the last, of no decision
    best = np.full(people, ranks[-1])
    np.maximum.at(best, of, rank)
    at_best = rank == best[of]
    # of several that count alike the rarest stays: it is the one that a check may doubt
    sizes = np.bincount(known[axis] + 1, sums["rows"], len(rows.levels[axis]) + 1)
    by_size = np.append(np.argsort(-sizes[1:], kind="stable"), -1)
    place = np.argsort(by_size[:-1])
    found = np.full(people, -1)
    held = at_best & complete
    np.maximum.at(found, of[held], place[known[axis][held]])
    open_ = np.isin(np.arange(people), of[~complete]) & (best > ranks[-1]) & (best < 0)
    return {axis: by_size[found]}, at_best, open_
