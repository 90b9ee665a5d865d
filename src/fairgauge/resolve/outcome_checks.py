"""Checks of outcomes: of one value, of no decision, not listed as favourable, or of no label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from fairgauge.cube.cube import Cube, levels_with_cases
from fairgauge.cube.plan import SQUARES, SUM, Axis, centre_of
from fairgauge.enums import DiagnosticCode, Level, Role, Task
from fairgauge.identity import ValueSet
from fairgauge.question.category_words import (
    classes_of_missing,
    is_adverse,
    is_refusal,
    is_undecided,
    may_be_value,
    no_outcomes,
    resembles,
)
from fairgauge.question.conditions import RowCondition
from fairgauge.question.features import Ordered
from fairgauge.question.hmda_actions import (
    APPROVED,
    CODES,
    PREAPPROVALS,
    UNDECIDED,
    action_code,
    are_actions,
    no_decisions,
)
from fairgauge.question.recoding import UNKNOWN
from fairgauge.question.specification import Spec
from fairgauge.reasons import FEWEST_ROWS, Reason, ReasonCode
from fairgauge.resolve.copy_checks import (
    copied_outcomes,
    only_value,
    prediction_is_label,
    score_is_label,
)
from fairgauge.resolve.group_checks import OTHER_UNIT
from fairgauge.resolve.missingness_checks import (
    HARDLY_CHANCE,
    MARGIN,
    p_of_shares,
    rows_by,
    shares_by,
)
from fairgauge.resolve.name_checks import (
    MOST_SPELLED,
    coded_rows,
    rows_of_no_score,
    stated_apart,
    without_separators,
)
from fairgauge.resolve.outcomes import OutcomeMasks, outcome_masks
from fairgauge.results.scopes import Diagnostic
from fairgauge.values import Value, is_one_of, matches, name_of, reading, spelt_nearly

_MOMENTS = {Role.LABEL: ("y", "yy"), Role.PREDICTION: ("p", "pp"), Role.SCORE: (SUM, SQUARES)}
"""The sums of numbers and of their squares."""
_FEWEST_OF_ONE_GROUP = 10
"""Rows of an outcome of one group, of fewer than which the test does not hold."""
_HALF = 0.5
_TIMES_AS_OFTEN = 20
"""How much oftener than any other a group has an outcome that counts as one that it alone has."""


def mistaken_outcomes(cube: Cube, spec: Spec, task: Task) -> Iterator[Diagnostic]:
    """Warn of labels and predictions that suggest that something else was meant."""
    yield from copies_of_label(cube, spec, task)
    if cube.min_cell is None:  # few errors may be rounded to none
        yield from copied_outcomes(cube, spec)
        yield from groups_of_one_outcome(cube, spec, task)
    if task is not Task.REGRESSION:
        yield from one_outcome(cube, spec, task)
        yield from predictions_that_are_no_label(cube, spec, task)
    if task is Task.BINARY:
        yield from undecided_outcomes(cube, spec)
    if task is Task.MULTICLASS:
        yield from missing_classes(cube, spec)
    if task is Task.REGRESSION and cube.min_cell is None:
        yield from _one_number(cube)
        yield from predictions_in_another_unit(cube)


def copies_of_label(cube: Cube, spec: Spec, task: Task) -> Iterator[Diagnostic]:
    """Warn of predictions and scores that are the label column, or a copy of it in every row."""
    if cube.min_cell is None:
        yield from prediction_is_label(cube, spec)
        if task is Task.REGRESSION:
            yield from _copied_numbers(cube, spec)
        if task is Task.BINARY:
            yield from score_is_label(cube, spec, outcome_masks(cube, spec, task))


def one_outcome(cube: Cube, spec: Spec, task: Task) -> Iterator[Diagnostic]:
    """Warn of labels that are all alike, and of predictions: of a score at every threshold.

    No verdict is withheld: labels of one outcome may be all that there are.
    """
    masks = outcome_masks(cube, spec, task)
    judged = [rule.definition for _, rule in spec.limits if rule.definition is not None]
    needs = {need for row in (*spec.catalogue.expand(spec.metrics), *judged) for need in row.needs}
    for axis in cube.plan.outcomes:
        of_labels = axis.role is Role.LABEL
        if any(each.column == axis.column for each in spec.where):
            continue
        if of_labels and "label" not in needs:
            continue  # nothing that is asked for rests on it
        rows = cube.cases_by_level[axis][:-1]
        if rows.sum() < FEWEST_ROWS:
            continue
        code = DiagnosticCode.ONE_LABEL if of_labels else DiagnosticCode.ONE_DECISION
        of = [each.labels if of_labels else each.predictions for each in masks]
        positive = {int(rows[each].sum()) for each in of}
        if task is Task.MULTICLASS and np.count_nonzero(rows) == 1:
            value = name_of(cube.levels[axis][int(rows.argmax())])
            yield Diagnostic.warning(code, column=axis.column, value=value)
        elif task is Task.BINARY and positive in ({0}, {int(rows.sum())}):
            threshold = None if of_labels else masks[-1].threshold
            yield Diagnostic.warning(
                code, column=axis.column, positive=positive != {0}, threshold=threshold
            )


def groups_of_one_outcome(cube: Cube, spec: Spec, task: Task) -> Iterator[Diagnostic]:
    """Warn of groups that have one outcome alone, which fewer than half of the others have.

    These may be the cases of a numerator, without the other people of the group; not where some
    groups have the one outcome alone, and some the other.
    """
    if task is not Task.BINARY or cube.min_cell is not None:
        return
    masks = outcome_masks(cube, spec, task)[0]
    absent = {*map(name_of, spec.unknown), *spec.exclude_groups}
    for axis in (each for each in cube.plan.outcomes if not each.bins):
        positive = masks.labels if axis.role is Role.LABEL else masks.predictions
        sides = [np.append(mask, False) for mask in (positive, ~positive)]
        for feature, groups, of_sides, every in rows_by(cube, axis, sides, (Role.FEATURE,)):
            having, lacking = of_sides
            held = ~np.isin(groups, [*absent])
            found = [
                (groups[at], int(this[at]), share, side)
                for this, other, side in ((having, lacking, sides[0]), (lacking, having, sides[1]))
                for at in np.flatnonzero(held & (other == 0) & (this >= FEWEST_ROWS)).tolist()
                if (share := 1 - other.sum() / (this.sum() + other.sum() - this[at])) < _HALF
            ]
            one_sided = len({id(side) for *_, side in found}) == 1
            if not (one_sided and p_of_shares(cube, having, every) < HARDLY_CHANCE):
                continue
            for group, rows, share, side in found:
                values = (name_of(v) for v, of in zip(cube.levels[axis], side, strict=False) if of)
                yield Diagnostic.warning(
                    DiagnosticCode.GROUP_OF_ONE_OUTCOME, feature, column=axis.column,
                    role=str(axis.role), values=tuple(values), group=group, rows=rows,
                    share=float(share), **spec.unit,
                )  # fmt: skip


def one_decision(cube: Cube, outcomes: Sequence[OutcomeMasks], task: Task) -> Reason | None:
    """Return that all rows are decided alike, at one of several thresholds or cuts at least."""
    decision = cube.plan.axis(Role.PREDICTION)
    assert decision is not None
    rows = cube.cases_by_level[decision][:-1]
    if task is Task.MULTICLASS:
        if np.count_nonzero(rows) != 1:
            return None
        value = name_of(cube.levels[decision][int(rows.argmax())])
        return Reason.of(ReasonCode.ONE_DECISION, value=value)
    for each in outcomes:
        positive = rows[each.predictions].sum()
        if rows.any() and positive in (0, rows.sum()):
            return Reason.of(
                ReasonCode.ONE_DECISION,
                positive=bool(positive),
                threshold=each.threshold,
                cut=each.class_scope.name,
            )
    return None


ConstantOutcomes = dict[tuple[str, float | None], Reason]
"""Why groups cannot differ in what a metric needs, at a threshold or (None) at any."""


def reason_of_one_value(
    needs: Iterable[str], threshold: float | None, constant: ConstantOutcomes
) -> Reason | None:
    """Return why groups cannot differ in a metric; None where some outcome that it needs varies."""
    found = [
        constant.get((need, threshold)) or constant.get((need, None))
        for need in ("score", "prediction", "label")
        if need in needs
    ]
    return found[0] if all(found) and found else None


def constant_outcomes(
    cube: Cube, spec: Spec, outcomes: Sequence[OutcomeMasks], task: Task
) -> ConstantOutcomes:
    """Return which of label, prediction and score are the same in all rows, and at which threshold.

    Protected counts do not show it.
    """
    found: ConstantOutcomes = {}
    for axis in cube.plan.outcomes if cube.min_cell is None else ():
        of = str(axis.role)
        rows = cube.cases_by_level[axis]
        if task is Task.REGRESSION:
            if (number := _only_number(cube, axis)) is not None:
                found[of, None] = one_value(of, number)
            continue
        if rows[-1] and spec.profile.rules.missing_outcome_is_negative:
            continue
        if task is Task.MULTICLASS or isinstance(spec.positive, Ordered):
            if np.count_nonzero(rows[:-1]) == 1:
                value = name_of(cube.levels[axis][int(rows[:-1].argmax())])
                found[of, None] = Reason.of(ReasonCode.ONE_VALUE, of=of, value=value)
            continue
        for each in outcomes:
            positive = rows[:-1][each.labels if axis.role is Role.LABEL else each.predictions].sum()
            if rows[:-1].any() and positive in (0, rows[:-1].sum()):
                threshold = None if axis.role is Role.LABEL else each.threshold
                found[of, threshold] = Reason.of(
                    ReasonCode.ONE_VALUE, of=of, positive=bool(positive), threshold=threshold
                )
    score = cube.plan.axis(Role.SCORE)
    if score and cube.min_cell is None and (number := _only_number(cube, score)) is not None:
        found["score", None] = one_value("score", number)
    return found


def one_value(of: str, number: float) -> Reason:
    """Return that a number is the same in all rows."""
    return Reason.of(ReasonCode.ONE_VALUE, of=of, value=f"{number:.6g}")


def _one_number(cube: Cube) -> Iterator[Diagnostic]:
    """Warn of numbers that are all alike."""
    of_labels: dict[str, Any] = {"numbers": True}
    for role, code, more in (
        (Role.LABEL, DiagnosticCode.ONE_LABEL, of_labels),
        (Role.PREDICTION, DiagnosticCode.ONE_DECISION, {}),
    ):
        axis = cube.plan.axis(role)
        if axis and (value := _only_number(cube, axis)) is not None:
            yield Diagnostic.warning(code, column=axis.column, value=f"{value:.6g}", **more)


def _only_number(cube: Cube, axis: Axis) -> float | None:
    """Return the number that all rows have in a column, None where they differ or are few."""
    rows, sums = _sums_of_known(cube, [axis])
    total, squares = _MOMENTS[axis.role]
    mean, alike = only_value(sums["w"], sums[total], sums[squares])
    mean += centre_of(cube.plan) * (total != SUM)
    return mean if alike and rows >= FEWEST_ROWS else None


def _copied_numbers(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of predicted numbers that equal the label in every row."""
    label, prediction = map(cube.plan.axis, (Role.LABEL, Role.PREDICTION))
    if label is None or prediction is None or label.column == prediction.column:
        return
    rows, sums = _sums_of_known(cube, [label, prediction])
    if rows >= FEWEST_ROWS and sums["gap2"] == 0 and _only_number(cube, label) is None:
        yield Diagnostic.warning(
            DiagnosticCode.PREDICTION_IS_LABEL,
            column=prediction.column,
            label=label.column,
            rows=rows,
            **spec.unit,
        )


def _sums_of_known(cube: Cube, axes: Sequence[Axis]) -> tuple[int, dict[str, float]]:
    """Return how many rows have a value of every axis, and their sums, with that of weights."""
    table = cube.marginal(axes)
    known = (table.codes >= 0).all(axis=1)
    sums = {name: float(each[known].sum()) for name, each in table.sums.items()}
    return int(sums[cube.plan.cases]), {"w": sums.get("n", sums["rows"]), **sums}


def predictions_in_another_unit(cube: Cube) -> Iterator[Diagnostic]:
    """Warn of predicted numbers that are on average many times the labels of the same rows."""
    label, prediction = cube.plan.axis(Role.LABEL), cube.plan.axis(Role.PREDICTION)
    if label is None or prediction is None:
        return
    table = cube.marginal([label, prediction])
    known = (table.codes >= 0).all(axis=1)
    of_centre = float(table.sums.get("w", table.cases)[known].sum()) * centre_of(cube.plan)
    sums = [float(table.sums[name][known].sum()) + of_centre for name in ("y", "p")]
    if min(sums) > 0 and max(sums) >= OTHER_UNIT * min(sums):
        most, least = (label, prediction) if sums[0] > sums[1] else (prediction, label)
        yield Diagnostic.warning(
            DiagnosticCode.UNLIKE_AMOUNTS, column=most.column, other=least.column,
            times=max(sums) / min(sums),
        )  # fmt: skip


def predictions_that_are_no_label(cube: Cube, spec: Spec, task: Task) -> Iterator[Diagnostic]:
    """Warn of predicted values that no label has: they count as unfavourable, or as wrong.

    `undecided_outcomes` warns of those that may be none.
    """
    label, prediction = cube.plan.axis(Role.LABEL), cube.plan.axis(Role.PREDICTION)
    if label is None or prediction is None or label.bins or prediction.bins:
        return
    if isinstance(spec.positive, Ordered) or not spec.words_of_predictions:  # of both columns
        return
    labels = [*cube.levels[label], *spec.positive_of(spec.label)]
    if task is Task.BINARY and spec.names_values:
        labels += no_outcomes(cube.levels[prediction])
    levels = levels_with_cases(cube, prediction)
    strange = [each for each in levels if not is_one_of(each[0], labels)]
    rows = sum(rows for _, rows in strange)
    # where the labels are of one class, the other is known from predictions alone
    if len(cube.levels[label]) > 1 and rows:
        names = tuple(name_of(value) for value, _ in strange)
        of_classes: dict[str, Any] = {"classes": True} if task is Task.MULTICLASS else {}
        if task is Task.MULTICLASS:
            spellings = [reading(name_of(v)) for v in (*labels, *cube.levels[prediction])]
            respelt = respelt_classes(cube, spec).get(prediction, set())
            slips = (n for n in names if n in respelt and spellings.count(reading(n)) == 1)
            of_classes |= {"alike": alike} if (alike := tuple(slips)) else {}
        yield Diagnostic.warning(
            DiagnosticCode.PREDICTION_NOT_A_LABEL,
            column=spec.prediction,
            label=spec.label,
            values=names,
            rows=rows,
            **spec.unit,
            **of_classes,
        )


def undecided_outcomes(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of outcomes that count as not positive, though their names are of no decision.

    Of HMDA's codes also of approvals that do. Of people, whose decisions count as one, how many
    rows have each is not known any more.
    """
    if not spec.names_values:  # an order names every value, and numbers are cut
        return
    for i, axis in enumerate(cube.plan.outcomes):
        if axis.bins:
            continue
        asked = spec.positive_of(axis.column) or (1,)
        requested = {action_code(name_of(each)) for each in asked}
        levels = levels_with_cases(cube, axis)
        values = [level for level, _ in levels]
        codes = are_actions(axis.column, values)
        none_of_codes = no_decisions(axis.column, values, asked)
        counted = [(level, rows) for level, rows in levels if rows or spec.of_people]
        refused = [each for each in counted if not is_one_of(each[0], asked)]
        undecided = [
            each
            for each in (counted if codes and PREAPPROVALS.keys() & requested else refused)
            if (name_of(each[0]) in none_of_codes if codes else is_undecided(each[0]))
            and not (len(refused) == 1 and may_be_value(name_of(each[0])))
        ]
        none = [] if codes else [*no_outcomes(values), *_beside_yes_and_no(values, asked)]
        beside = [level for level, rows in levels if rows and level not in none]
        apart = [
            each
            for each in refused
            if each[0] in none and not is_undecided(each[0]) and each not in undecided
        ]
        for some, others in [each for each in ((undecided, []), (apart, beside)) if each[0]]:
            held = _held(axis, some, spec, sum)
            more: dict[str, Any] = {"beside": tuple(map(name_of, others))} if others else {}
            if codes:
                more |= _decided_alone(axis.column, values, asked, [v for v, _ in some], spec)
            else:
                more["line"] = spec.recoding_line(axis.column, {UNKNOWN: held["values"]})
            yield Diagnostic.warning(DiagnosticCode.UNDECIDED_OUTCOMES, **held, codes=codes, **more)
        approved = [each for each in refused if _is_approved(each[0]) and each not in undecided]
        if codes and approved and all(map(_is_approved, asked)):
            both = {*map(name_of, asked), *(name_of(level) for level, _ in approved)}
            yield Diagnostic.warning(
                DiagnosticCode.APPROVED_AS_REFUSED,
                **_held(axis, approved, spec, sum),
                positive=tuple(sorted(e for e in both if action_code(e) not in PREAPPROVALS)),
            )
        # of two outcomes, one is meant; predictions that no label has are warned of apart
        if (i == 0 or not spec.words_of_predictions) and len(refused) > 1:
            if not codes:
                rest = [each for each in refused if each not in (*undecided, *apart)]
                yield from _unlisted_outcomes(cube, spec, axis, rest)
            # whatever their names mean, and in whichever language
            yield Diagnostic.note(DiagnosticCode.NOT_FAVOURABLE, **_held(axis, refused, spec))


def _is_approved(value: Value) -> bool:
    return action_code(name_of(value)) in APPROVED


def _decided_alone(
    column: str, values: Iterable[Value], asked: Iterable[Value], undecided: list[Value], spec: Spec
) -> dict[str, Any]:
    """Return the condition by which codes of HMDA that are decisions are alone.

    Where preapprovals are asked for, that is one of applications and one of requests, each with its
    positive codes.
    """
    codes = {action_code(name_of(each)) for each in asked}
    requested = codes.intersection(PREAPPROVALS)
    if not requested:
        excluded = (v for e in spec.where if e.column == column and e.negated for v in e.values)
        others = ValueSet((*excluded, *undecided))
        return {"condition": RowCondition(column, (others,), negated=True).to_text()}
    of_applications = codes.union(*(PREAPPROVALS[each] for each in requested))
    found = {}
    for what, kept, positive in (
        ("requests", {*PREAPPROVALS}, requested),
        ("applications", {*CODES}.difference(UNDECIDED, PREAPPROVALS), of_applications),
    ):
        alone = tuple(value for value in values if action_code(name_of(value)) in kept)
        names = map(name_of, alone)
        if favourable := [name for name in names if action_code(name) in positive]:
            found[what] = RowCondition(column, (ValueSet(alone),)).to_text(), *favourable
    return found


def _beside_yes_and_no(values: Sequence[Value], asked: Sequence[Value]) -> list[Value]:
    """Return the 2 of 0, 1 and 2 where 1 alone is favourable: of a scale an end would be."""
    coded = len(values) == 3 and all(is_one_of(number, values) for number in range(3))
    favourable = [number for number in range(3) if is_one_of(number, asked)]
    return [value for value in values if matches(2, value)] if coded and favourable == [1] else []


def unclear_outcomes(cube: Cube, spec: Spec, task: Task) -> dict[str, int]:
    """Return the rows, by the role of their column, of which it is unclear what their outcome is.

    It is warned of, is probably another spelling of a favourable one or of a class, or is predicted
    beside an unfavourable label and is neither a label nor a plain refusal. A number, or a score,
    is that may be a code of a missing one.
    """
    found: Counter[str] = Counter()
    for axis, of in unclear_names(cube, spec, task).items():
        held = levels_with_cases(cube, axis)
        found[str(axis.role)] += sum(n for value, n in held if name_of(value) in of)
    for column, _, rows in coded_rows(cube, spec):
        roles = {"label": spec.label, "prediction": spec.prediction}
        found.update({role: rows for role, name in roles.items() if name == column})
    return {**found, "score": rows_of_no_score(cube, spec)}


def unclear_names(cube: Cube, spec: Spec, task: Task) -> dict[Axis, set[str]]:
    """Return the names of outcomes, by their column, of which it is unclear what they are."""
    if not spec.names_values or task is Task.REGRESSION:
        return {}
    two = task is Task.BINARY
    every = undecided_outcomes(cube, spec) if two else missing_classes(cube, spec)
    warned = [each for each in every if makes_unclear(each)]
    label, found = cube.plan.axis(Role.LABEL), {}
    respelt = {} if two else respelt_classes(cube, spec)
    for axis in cube.plan.outcomes:
        unclear = {name for each in warned if each["column"] == axis.column
                   for name in each["values"]} | respelt.get(axis, set())  # fmt: skip
        if two and not axis.bins:
            other = label if spec.words_of_predictions and axis is not label else None
            labels = cube.levels[other] if other else ()
            unclear |= unlike_refusals(cube.levels[axis], spec.positive_of(axis.column), labels)
        if unclear:
            found[axis] = unclear
    return found


def respelt_classes(cube: Cube, spec: Spec) -> dict[Axis, set[str]]:
    """Return the names of classes that are probably other spellings of one, by their column.

    Of several spellings the class is the most frequent label, or prediction where no label is one.
    A prediction that no label is may also be a class with a slip.
    """
    label, classes = cube.plan.axis(Role.LABEL), list[str]()
    columns = {axis.column for axis in cube.plan.outcomes}
    found: dict[Axis, set[str]] = {}
    for axis in cube.plan.outcomes:
        labels = cube.levels[label] if label and axis is not label else ()
        by_rows = sorted(levels_with_cases(cube, axis), key=lambda each: -each[1])
        for name in (name_of(value) for value, _ in by_rows):
            slip = bool(labels) and not is_one_of(name, labels)
            if any(
                not is_one_of(name, [each])
                and (reading(each) == reading(name) or (slip and may_be_spelling_of(name, [each])))
                and not stated_apart({each, name}, columns, spec)
                for each in classes
            ):
                found.setdefault(axis, set()).add(name)
            else:
                classes.append(name)
    return found


def makes_unclear(note: Diagnostic) -> bool:
    """Return whether a note of outcomes states that they may be favourable, or none."""
    listed = note.code is not DiagnosticCode.UNLISTED_OUTCOMES or note.get("positive") is not None
    return note.level is Level.WARNING and listed


def unlike_refusals(
    values: Iterable[Value], positive: Sequence[Value], labels: Sequence[Value]
) -> set[str]:
    """Return the names of unfavourable values that may be favourable ones, or are no label."""
    refused = [value for value in values if not is_one_of(value, positive or (1,))]
    names, stated = [*map(name_of, refused)], [*map(name_of, positive)]
    other_words = (name_of(v) for v in refused if any(resembles(v, each) for each in positive))
    strange = [name_of(value) for value in refused if labels and not is_one_of(value, labels)]
    beside = [name for name in strange if len(strange) < len(names) and not is_adverse(name)]
    return {*beside, *other_words, *(n for n in names if may_be_spelling_of(n, stated))}


def may_be_spelling_of(name: str, stated: Sequence[str]) -> bool:
    """Return whether a name is probably another spelling of one that is stated."""
    alike = without_separators(name) in map(without_separators, stated)
    return alike or any(spelt_nearly(name, each) for each in stated)


def _unlisted_outcomes(
    cube: Cube, spec: Spec, axis: Axis, refused: Sequence[tuple[Value, int]]
) -> Iterator[Diagnostic]:
    """Warn of outcomes that count as not positive, and may be the positive one in other words.

    Those resemble it, or one group alone has them. Others beside plain refusals are warned of, too,
    and withhold nothing.
    """
    stated = spec.positive_of(axis.column)
    known = [without_separators(name_of(value)) for value in stated]  # `doubtful_names` warns
    adverse = any(is_adverse(name_of(value)) for value in stated)
    names = [name_of(value).strip() for value, _ in refused]
    alike, possible = [], []
    for name, value in [(name_of(value).strip(), value) for value, _ in refused]:
        if without_separators(name) in known:
            continue
        slip = len(name) > 1 and may_be_spelling_of(name, [name_of(each) for each in stated])
        if slip or any(resembles(value, each) for each in stated):
            alike.append(value)
        elif may_be_spelling_of(name, [each for each in names if each != name]):
            continue  # of another refusal
        elif is_refusal(name) is adverse:
            possible.append(value)
    warned: list[tuple[list[Value], dict[str, Any]]] = [(alike, {})] if alike else []
    for (feature, group), values in _of_one_group(cube, axis, possible).items():
        warned.append((values, {"group_column": feature, "group": group}))
    rest = list(refused)
    for values, of_group in warned:
        some = [each for each in rest if each[0] in values]
        rest = [each for each in rest if each not in some]
        positive = tuple(map(name_of, (*stated, *values)))
        yield Diagnostic.warning(
            DiagnosticCode.UNLISTED_OUTCOMES,
            **_held(axis, some, spec),
            positive=positive,
            **of_group,
        )
    others = [each for each in rest if each[0] in possible]
    if others and any(is_refusal(name) is not adverse for name in names):
        yield Diagnostic.warning(DiagnosticCode.UNLISTED_OUTCOMES, **_held(axis, others, spec))


def _held(
    axis: Axis,
    some: Sequence[tuple[Value, int]],
    spec: Spec,
    collect: Callable[[Iterable[int]], Any] = tuple,
) -> dict[str, Any]:
    """Return the column, its values, and the rows of them, unless people are counted."""
    rows = None if spec.of_people else collect(rows for _, rows in some)
    values = tuple(name_of(value) for value, _ in some)
    unit = {} if spec.of_people else spec.unit
    return {"column": axis.column, "values": values, "rows": rows, **unit}


def _of_one_group(
    cube: Cube, outcome: Axis, values: Sequence[Value]
) -> dict[tuple[str, str], list[Value]]:
    """Return outcomes that one group has and the others hardly, by the feature and the group."""
    found: dict[tuple[str, str], list[Value]] = {}
    if cube.min_cell is not None or len(values) > MOST_SPELLED:
        return found
    for value in values:
        marked = np.array([*(level == value for level in cube.levels[outcome]), False])
        for column, groups, having, every, p in shares_by(cube, outcome, marked, (Role.FEATURE,)):
            at = int(np.argmax(having / every))
            *_, second, most = np.sort(having / every)
            often = most >= max(MARGIN, _TIMES_AS_OFTEN * second)
            if often and having[at] >= _FEWEST_OF_ONE_GROUP and p < HARDLY_CHANCE / len(values):
                found.setdefault((column, groups[at]), []).append(value)
                break
    return found


def missing_classes(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of classes that usually mean a missing value, and are right where both columns agree."""
    if isinstance(spec.positive, Ordered):  # which names every class
        return
    for axis in cube.plan.outcomes:
        if axis.bins:
            continue
        levels = [each for each in levels_with_cases(cube, axis) if each[1]]
        missing = classes_of_missing(level for level, _ in levels)
        if missing:
            names = tuple(map(name_of, missing))
            yield Diagnostic.warning(
                DiagnosticCode.CLASSES_OF_MISSING,
                column=axis.column,
                values=names,
                rows=sum(rows for level, rows in levels if level in missing),
                **spec.unit,
                line=spec.recoding_line(axis.column, {UNKNOWN: names}),
            )
