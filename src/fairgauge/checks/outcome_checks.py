"""Checks of outcomes: of one value, of no decision, copies, and which value is favourable."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import TypeAlias

import numpy as np

from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.directions import AMOUNTS, depends_on_positive
from fairgauge.catalogue.statistics import Statistic
from fairgauge.checks.missingness_checks import HARDLY_CHANCE, p_of_shares
from fairgauge.cube.cube import Cube, counts_together, levels_with_cases
from fairgauge.cube.plan import SUM, Axis, centre_of
from fairgauge.cube.views import axes_of, rows_by
from fairgauge.enums import DiagnosticCode, Favourable, Role, Task, Uncounted
from fairgauge.errors import Problem, SpecError, alternatives, quote
from fairgauge.question import category_words as words
from fairgauge.question.conditions import RowCondition
from fairgauge.question.features import Above
from fairgauge.question.kits import word_for_positive
from fairgauge.question.readers import write_positive
from fairgauge.question.recoding import UNKNOWN
from fairgauge.question.specification import Spec
from fairgauge.reasons import FEWEST_ROWS, Parameter
from fairgauge.resolve import outcomes as resolved
from fairgauge.resolve.question_checks import OTHER_UNIT
from fairgauge.results.scopes import Diagnostic
from fairgauge.stats.arrays import Mask
from fairgauge.stats.patterns import errors_of_amounts
from fairgauge.values import Value, is_one_of, matches, name_of

_LACKING, _RARER, _ONE_SIDED, _NO_CHANCE = 0.1, 0.1, 0.9, 1e-6
_FAR_APART, _ERRORS_APART = 0.1, 5.0
# a correlation, and of how many rows it is significant (p < 0.001)
_REVERSED, _FEWEST_REVERSED = 0.5, 40
_PAIR = (Role.LABEL, Role.PREDICTION)
Masks: TypeAlias = "Sequence[resolved.OutcomeMasks]"


def one_outcome(cube: Cube, spec: Spec, task: Task, masks: Masks) -> Iterator[Diagnostic]:
    """Warn of labels that are all alike, and of predictions: of a score at every threshold."""
    codes = {Role.LABEL: DiagnosticCode.ONE_LABEL}
    if task is Task.REGRESSION:
        for axis in () if cube.min_cell is not None else filter(None, map(cube.plan.axis, _PAIR)):
            if (value := resolved.constant_value(cube, axis)) is not None:
                code = codes.get(axis.role, DiagnosticCode.ONE_DECISION)
                facts: dict[str, Parameter] = {"value": f"{value:.6g}", "numbers": True}
                yield Diagnostic.warning(code, column=axis.column, **facts)
        return
    for axis in cube.plan.outcomes:
        of_labels, code = axis.role is Role.LABEL, codes.get(axis.role, DiagnosticCode.ONE_DECISION)
        rows = cube.cases_by_level[axis][:-1]
        of = [each.labels if of_labels else each.predictions for each in masks]
        positive = {int(rows[each].sum()) for each in of}
        several = positive not in ({0}, {int(rows.sum())})
        if task is Task.MULTICLASS:
            several = np.count_nonzero(rows) != 1
        # a condition may choose the outcome, and nothing that is asked for rest on labels
        if several or rows.sum() < FEWEST_ROWS or any(e.column == axis.column for e in spec.where):
            continue
        judged = [rule.definition for rule in spec.rules if rule.definition is not None]
        asked = (*spec.catalogue.expand(spec.metrics), *judged)
        if of_labels and not any("label" in row.needs for row in asked):
            continue
        if task is Task.MULTICLASS:
            only = name_of(cube.levels[axis][int(rows.argmax())])
            yield Diagnostic.warning(code, column=axis.column, value=only)
        else:
            empty = positive != {0} and cube.cases_by_level[axis][-1] and not axis.bins
            no = "0" if any(matches(1, value) for value in cube.levels[axis]) else "no"
            line = spec.recoding_line(axis.column, {no: [""]}) if empty else None
            yield Diagnostic.warning(
                code, column=axis.column, positive=positive != {0}, line=line,
                threshold=None if of_labels else masks[-1].threshold,
            )  # fmt: skip


def groups_of_one_outcome(cube: Cube, spec: Spec, task: Task, masks: Masks) -> Iterator[Diagnostic]:
    """Warn of groups that have one outcome alone, where by the others' rate that is no chance.

    These may be the cases of a numerator, without the other people of the group. Where some groups
    have the one outcome alone, and some another, all do: the feature may be the outcome. A group
    may have a tenth of the share of the others where that is small.
    """
    absent = {*map(name_of, spec.unknown), *spec.exclude_groups}
    for axis in (each for each in cube.plan.outcomes if not each.bins):
        positive = [e.labels if axis.role is Role.LABEL else e.predictions for e in masks]
        both = positive if task is Task.MULTICLASS else (positive[0], ~positive[0])
        sides = [np.append(mask, False) for mask in both]
        for feature, groups, having, every in rows_by(cube, axis, sides, (Role.FEATURE,)):
            known, found = np.sum(having, axis=0), []
            if not np.equal(having, known).any():  # every group has several outcomes
                continue
            held = ~np.isin(groups, [*absent])
            for this, side in zip(having, sides, strict=True):
                other = known - this
                of_others = other.sum() / np.maximum(known.sum() - this, 1.0)
                least = np.where(of_others >= _LACKING, 1.0, _RARER) * of_others
                expected = (1 - least) ** this < _NO_CHANCE
                alone = held & (other == 0) & (this >= FEWEST_ROWS) & expected
                found += [
                    (groups[at], int(this[at]), 1 - of_others[at], side)
                    for at in np.flatnonzero(alone).tolist()
                ]
            one_sided = len({id(side) for *_, side in found}) == 1
            of_outcome = (np.max(having, axis=0) == known)[held].all()
            chance = all(p_of_shares(cube, e, every) >= HARDLY_CHANCE for e in having[:-1])
            if not (one_sided or of_outcome) or chance:
                continue
            for group, rows, share, side in found:
                values = (name_of(v) for v, of in zip(cube.levels[axis], side, strict=False) if of)
                yield Diagnostic.warning(
                    DiagnosticCode.GROUP_OF_ONE_OUTCOME, feature, column=axis.column,
                    role=str(axis.role), values=tuple(values), group=group, rows=rows,
                    share=float(share), **spec.unit,
                )  # fmt: skip


def groups_of_one_score(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of groups that have one score alone, where by those of the others that is no chance."""
    absent = {*map(name_of, spec.unknown), *spec.exclude_groups}
    of = [[a for a in cube.plan.axes if a.role is role] for role in (Role.FEATURE, Role.SCORE)]
    for axis, score in (both for both in product(*of) if counts_together(cube, *both)):
        table = cube.marginal([axis, score]).known([axis, score])
        (group, at), rows, weights = table.codes.T, table.cases, table.sums.get("w", table.cases)
        alone = (np.bincount(group) == 1)[group]
        for i in np.flatnonzero(alone & (rows >= FEWEST_ROWS) & (not alone.all())).tolist():
            others = group != group[i]
            share = float(rows[others & (at == at[i])].sum() / max(rows[others].sum(), 1.0))
            name = axis.names(cube.levels[axis])[group[i]]
            if share <= 1 - _LACKING and share ** rows[i] < _NO_CHANCE and name not in absent:
                yield Diagnostic.warning(
                    DiagnosticCode.GROUP_OF_ONE_OUTCOME, axis.column, column=score.column,
                    role="score", values=(f"{table.sums[SUM][i] / weights[i]:.6g}",),
                    group=name, rows=int(rows[i]), **spec.unit,
                )  # fmt: skip


def unlike_classes(cube: Cube, masks: Masks) -> Iterator[Diagnostic]:
    """Warn of predicted classes that agree with the labels far less often than by coincidence."""
    label, prediction = map(cube.plan.axis, _PAIR)
    if label is None or prediction is None or label.column == prediction.column:
        return
    table = cube.marginal([label, prediction]).known([label, prediction])
    (given, decided), rows = table.codes.T, table.cases
    right = np.logical_or.reduce([np.outer(e.labels, e.predictions) for e in masks])[given, decided]
    n = float(rows.sum())
    of_classes = [(rows[e.labels[given]].sum(), rows[e.predictions[decided]].sum()) for e in masks]
    expected = sum(float(one * other) for one, other in of_classes) / max(n * n, 1.0)
    share = float(rows[right].sum()) / max(n, 1.0)
    error = math.sqrt(expected * (1 - expected) / max(n, 1.0))
    if expected - share >= max(_FAR_APART, _ERRORS_APART * error):
        yield Diagnostic.warning(
            DiagnosticCode.REVERSED_PREDICTIONS, column=prediction.column, label=label.column,
            agree=share, expected=expected,
        )  # fmt: skip


def predictions_in_another_unit(cube: Cube) -> Iterator[Diagnostic]:
    """Warn of predicted numbers that are many times the labels of their rows, or run against them.

    The product of both follows from the squares of each and of their difference.
    """
    label, prediction = map(cube.plan.axis, _PAIR)
    if label is None or prediction is None:
        return
    _, given = resolved.sums_of_known(cube, [label, prediction])
    n = max(given["w"], 1.0)
    sums = [given[each] + n * centre_of(cube.plan) for each in ("y", "p")]
    if min(sums) > 0 and max(sums) >= OTHER_UNIT * min(sums):
        most, least = (label, prediction) if sums[0] > sums[1] else (prediction, label)
        yield Diagnostic.warning(
            DiagnosticCode.UNLIKE_AMOUNTS, column=most.column, other=least.column,
            times=max(sums) / min(sums),
        )  # fmt: skip
    y2, p2, gap2 = (given[each] / n for each in ("yy", "pp", "gap2"))
    y, p = given["y"] / n, given["p"] / n
    covariance = (y2 + p2 - gap2) / 2 - y * p
    spread = math.sqrt(max(y2 - y * y, 0.0) * max(p2 - p * p, 0.0))
    if given["rows"] >= _FEWEST_REVERSED and covariance <= -_REVERSED * spread < 0:
        yield Diagnostic.warning(
            DiagnosticCode.REVERSED_PREDICTIONS, column=prediction.column, label=label.column,
            correlation=covariance / spread,
        )  # fmt: skip


def predictions_that_are_no_label(cube: Cube, spec: Spec, task: Task) -> Iterator[Diagnostic]:
    """Warn of predicted values that no label has: they count as unfavourable, or as wrong.

    Of several values that count as unfavourable, those are ``unclear`` that no label has and that
    are not named as a denial. `undecided_outcomes` warns of those that may be no decision.
    """
    label, prediction = map(cube.plan.axis, _PAIR)
    if label is None or prediction is None or label.bins or prediction.bins:
        return
    if not spec.words_of_predictions:  # of both columns
        return
    positive = spec.positive_of(spec.label) or (1,)
    labels = [*cube.levels[label], *positive]
    levels = levels_with_cases(cube, prediction)
    strange = [each for each in levels if not is_one_of(each[0], labels)]
    if strange and task is Task.BINARY and spec.names_values:
        unlike = unlike_refusals(cube, prediction, spec)
        strange = [each for each in strange if each not in unlike]
    rows = sum(rows for _, rows in strange)
    # where the labels are of one class, the other is known from predictions alone
    if len(cube.levels[label]) < 2 or not rows:
        return
    facts: dict[str, Parameter] = {"classes": True} if task is Task.MULTICLASS else {}
    facts |= {"column": spec.prediction, "label": spec.label, "rows": rows, "unclear": 0}
    refused = sum(not is_one_of(value, positive) for value, _ in levels)
    if task is Task.BINARY and len(strange) < refused:
        unclear = (rows for value, rows in strange if not words.is_adverse(name_of(value)))
        facts["unclear"] = sum(unclear)
    facts["values"] = tuple(name_of(value) for value, _ in strange)
    yield Diagnostic.warning(DiagnosticCode.PREDICTION_NOT_A_LABEL, **facts, **spec.unit)


def unlike_refusals(cube: Cube, axis: Axis, spec: Spec) -> list[tuple[Value, int]]:
    """Return the outcomes that count as not positive of which `undecided_outcomes` warns."""
    undecided = resolved.undecided_levels(cube, axis, spec)
    return [*undecided, *_approved_actions(cube, axis, spec, undecided)]


def _approved_actions(
    cube: Cube, axis: Axis, spec: Spec, undecided: Sequence[tuple[Value, int]]
) -> list[tuple[Value, int]]:
    # by HMDA's codes: what is approved, and was not accepted, is no denial
    refused = resolved.refused_levels(cube, axis, spec)
    approved = words.approved_refusals(
        axis.column, cube.levels[axis], [v for v, _ in refused], [v for v, _ in undecided],
        spec.positive_of(axis.column) or (1,),
    )  # fmt: skip
    return [each for each in refused if each[0] in approved]


def undecided_outcomes(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of outcomes that count as not positive, though their names or codes are of no decision.

    Also of HMDA's codes of approvals. Of people, whose decisions count as one, how many rows have
    each is not known any more.
    """
    if not spec.names_values:  # an order names every value, and numbers are cut
        return
    for axis in cube.plan.outcomes:
        if axis.bins or spec.negative_of(axis.column):
            continue  # both outcomes are stated
        asked = spec.positive_of(axis.column) or (1,)
        undecided = resolved.undecided_levels(cube, axis, spec)
        if undecided:
            held = _describe_values(axis, undecided, spec, sum)
            line = spec.recoding_line(axis.column, {UNKNOWN: [value for value, _ in undecided]})
            events = len(undecided) > 1 and [*cube.levels[axis][:4]] == [0, 1, 2, 3]
            more: dict[str, Parameter] = {"events": True} if events else {"line": line}
            if words.are_actions(axis.column, cube.levels[axis]):
                excluded = (v for e in spec.where if e.column == axis.column and e.negated
                            for v in e.values)  # fmt: skip
                others = (*excluded, *(value for value, _ in undecided))
                more = _actions(undecided) | {
                    "condition": RowCondition(axis.column, others, negated=True).to_text()
                }
            yield Diagnostic.warning(DiagnosticCode.UNDECIDED_OUTCOMES, **held, **more)
        if approved := _approved_actions(cube, axis, spec, undecided):
            yield Diagnostic.warning(
                DiagnosticCode.APPROVED_AS_REFUSED, **_actions(approved),
                **_describe_values(axis, approved, spec, sum),
                positive=tuple(sorted({*map(name_of, asked), *(name_of(v) for v, _ in approved)})),
            )  # fmt: skip


def _actions(some: Sequence[tuple[Value, int]]) -> dict[str, Parameter]:
    return {"actions": tuple(words.action_code(name_of(value)) for value, _ in some)}


def _describe_values(
    axis: Axis,
    some: Sequence[tuple[Value, int]],
    spec: Spec,
    collect: Callable[[Iterable[int]], int | tuple[int, ...]] = tuple,
) -> dict[str, Parameter]:
    # the column, its values, and the rows of them, unless people are counted
    rows = None if spec.of_people else collect(rows for _, rows in some)
    values = tuple(name_of(value) for value, _ in some)
    people = {"people": sum(n for _, n in some)} if spec.of_people else {}
    unit: dict[str, Parameter] = {**people, **({} if people else spec.unit)}
    return {"column": axis.column, "values": values, "rows": rows, **unit}


def copies_of_label(cube: Cube, spec: Spec, task: Task, masks: Masks) -> Iterator[Diagnostic]:
    """Warn of predictions and scores that are the label column, or a copy of it in every row."""
    label, prediction = map(cube.plan.axis, _PAIR)
    if label is None or prediction is None:
        return
    rows, equal = 0, spec.label == spec.prediction
    if not (label.bins or prediction.bins):
        sides = (masks[0].labels, masks[0].predictions) if task is Task.BINARY else None
        rows, same = _always_equal(cube, label, prediction, sides)
        equal |= same
    elif task is Task.REGRESSION and label.column != prediction.column:
        rows, sums = resolved.sums_of_known(cube, [label, prediction])
        equal = (
            rows >= FEWEST_ROWS
            and sums["gap2"] == 0
            and resolved.constant_value(cube, label) is None
        )
    else:
        equal = False
    if equal:
        yield Diagnostic.warning(
            DiagnosticCode.PREDICTION_IS_LABEL,
            column=spec.prediction, label=spec.label, rows=rows, **spec.unit,
        )  # fmt: skip
    if task is Task.BINARY:
        yield from _score_is_label(cube, spec, masks)
    if not equal:
        yield from _copies_in_groups(cube, spec, task, masks, label, prediction)


def _score_is_label(cube: Cube, spec: Spec, outcomes: Masks) -> Iterator[Diagnostic]:
    # that it has one value where the label is positive and another elsewhere, or that its decisions
    # at a threshold are the label
    label, decision, score = map(cube.plan.axis, (*_PAIR, Role.SCORE))
    rows, copied = 0, None
    for axis in filter(None, (score, None if spec.prediction else decision)):
        if label is None or not spec.score or copied or not counts_together(cube, label, axis):
            continue
        table = cube.marginal([label, axis]).known([label, axis])
        given, code = table.codes[table.cases > 0].T
        positive, rows = outcomes[0].labels[given], int(table.cases.sum())
        one, other = ({*code[side].tolist()} for side in (positive, ~positive))
        if axis is score:
            same = len(one) == len(other) == 1 and one != other
        else:
            same = any((each.predictions[code] == positive).all() for each in outcomes)
        copied = axis if same and one and other and rows >= FEWEST_ROWS else None
    if copied or (spec.score and spec.label == spec.score):
        facts: dict[str, Parameter] = {"decisions": True} if copied is decision else {}
        facts |= {"column": spec.score, "label": spec.label, "rows": rows, "score": True}
        yield Diagnostic.warning(DiagnosticCode.PREDICTION_IS_LABEL, **facts, **spec.unit)


def _copies_in_groups(
    cube: Cube, spec: Spec, task: Task, masks: Masks, label: Axis, prediction: Axis
) -> Iterator[Diagnostic]:
    # of groups without any error, beside so many of the others that this is no chance
    by_score = {} if spec.prediction else {"score": True, "decisions": True}
    for axis in (each for each in cube.plan.axes if each.role is Role.FEATURE):
        if not counts_together(cube, axis, label, prediction):
            continue
        table = cube.marginal([axis, label, prediction]).known([axis, label, prediction])
        (group, given, decided), rows = table.codes.T, table.sums[cube.plan.cases]
        every = np.bincount(group, rows)
        if task is Task.REGRESSION:
            sums = {e: np.bincount(group, of).astype(float) for e, of in table.sums.items()}
            wrong, others = errors_of_amounts(sums)
        else:
            agree = [np.equal.outer(e.labels, e.predictions) for e in masks]
            # of a score by the first threshold
            right = agree[0] if prediction.bins else np.logical_and.reduce(agree)
            wrong = np.bincount(group, rows * ~right[given, decided]).astype(np.float64)
            others = (wrong.sum() - wrong) / np.maximum(every.sum() - every, 1.0)
        copied = (wrong == 0) & (every >= FEWEST_ROWS) & ((1 - others) ** every < _NO_CHANCE)
        for at in np.flatnonzero(copied).tolist():
            yield Diagnostic.warning(
                DiagnosticCode.PREDICTION_IS_LABEL, axis.column,
                column=spec.prediction or spec.score, label=spec.label,
                group=axis.names(cube.levels[axis])[at], rows=int(every[at]),
                **by_score, **spec.unit,
            )  # fmt: skip


def copied_outcomes(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of sensitive features that are the label, the prediction or the score, or equal one."""
    named = {spec.score: Role.SCORE, spec.prediction: Role.PREDICTION, spec.label: Role.LABEL}
    outcomes = [axis for axis in cube.plan.outcomes if not axis.bins]
    for axis in (each for each in cube.plan.axes if each.role is Role.FEATURE):
        if axis.column in named:
            role = str(named[axis.column])
            yield Diagnostic.warning(
                DiagnosticCode.SENSITIVE_IS_OUTCOME, column=axis.column, role=role
            )
            continue
        counted = [e for e in outcomes if not axis.bins and counts_together(cube, axis, e)]
        for outcome in counted:
            rows, equal = _always_equal(cube, axis, outcome)
            if equal:
                yield Diagnostic.warning(
                    DiagnosticCode.SENSITIVE_IS_OUTCOME, column=axis.column,
                    role=str(outcome.role), outcome=outcome.column, rows=rows, **spec.unit,
                )  # fmt: skip
                break


def _always_equal(
    cube: Cube, axis: Axis, other: Axis, sides: tuple[Mask, Mask] | None = None
) -> tuple[int, bool]:
    # Also outcomes of the same sides in other words. Few rows, or a column of one value, may be
    # equal by coincidence: they are not. So may even a good prediction be of few.
    table = cube.marginal([axis, other])
    held = (table.codes >= 0).all(axis=1) & (table.sums[cube.plan.cases] > 0)
    codes, rows = table.codes[held].tolist(), int(table.sums[cube.plan.cases][held].sum())
    several = len({i for i, _ in codes}) > 1
    levels, others = cube.levels[axis], cube.levels[other]
    same = all(matches(levels[i], others[j]) for i, j in codes)
    if sides is not None:
        found = {(bool(sides[0][i]), bool(sides[1][j])) for i, j in codes}
        same |= found == {(True, True), (False, False)}
    return rows, rows >= FEWEST_ROWS and several and same


def strata_of_outcomes(
    cube: Cube,
    spec: Spec,
    columns: Collection[str],
    roles: Collection[Role],
    controls: Collection[str] = (),
) -> Iterator[Diagnostic]:
    """Warn of columns each value of which has almost one outcome alone, both outcomes included."""
    strata = axes_of(cube, columns)
    if cube.min_cell is not None or not strata:
        return
    masks = resolved.outcome_masks(cube, spec, resolved.decide_task(cube, spec))
    for stratum, outcome in product(strata, cube.plan.outcomes):
        if outcome.role not in roles or not counts_together(cube, stratum, outcome):
            continue
        table = cube.marginal([stratum, outcome]).known([stratum, outcome])
        (level, code), rows = table.codes.T, table.cases
        every = np.bincount(level, rows).astype(np.float64)
        labels = outcome.role is Role.LABEL
        of_masks = (each.labels if labels else each.predictions for each in masks)
        positive = (np.bincount(level, rows * mask[code]) for mask in of_masks)
        share = max(resolved.share_determined(each.astype(np.float64), every) for each in positive)
        if share >= resolved.ALMOST_ALL:
            facts: dict[str, Parameter] = {"control": True} if stratum.column in controls else {}
            facts |= {"column": stratum.column, "outcome": outcome.column, "share": share}
            yield Diagnostic.warning(DiagnosticCode.STRATUM_IS_OUTCOME, **facts)


def strata_of_one_side(
    cube: Cube, spec: Spec, columns: Collection[str], controls: Collection[str] = ()
) -> Iterator[Diagnostic]:
    """Warn of strata and controls by which nearly all rows are of a group alone, or of others."""
    for name, feature in spec.recorded.items():
        groups = [
            a for a in cube.plan.axes if a.role is Role.FEATURE and a.column in feature.columns
        ]
        for stratum in axes_of(cube, {*columns} - {*feature.columns}):
            if not counts_together(cube, stratum, *groups):
                continue
            table = cube.marginal([stratum, *groups]).known([stratum, *groups])
            level, rows = table.codes[:, 0], table.cases
            of_group = np.unique(table.codes[:, 1:], axis=0, return_inverse=True)[1].ravel()
            every, *of_groups = (
                np.bincount(level, rows * held).astype(np.float64)
                for held in (True, *(of_group == g for g in {*of_group.tolist()}))
            )
            share = max((resolved.share_determined(of, every) for of in of_groups), default=0.0)
            if share >= _ONE_SIDED:
                yield Diagnostic.warning(
                    DiagnosticCode.STRATUM_OF_ONE_SIDE, name, column=stratum.column,
                    rows=int(rows.sum()), control=stratum.column in controls, **spec.unit,
                )  # fmt: skip


# ---- the favourable outcome


def assumed_positive(
    cube: Cube, spec: Spec, task: Task, rows: Iterable[Metric | Statistic]
) -> Iterator[Diagnostic]:
    """Report which value is assumed to be favourable, where what is measured depends on it.

    This is a warning unless the name of the column suggests something favourable: for labels such
    as ``recidivism`` or ``default``, 1 is the unfavourable outcome.
    """
    if spec.positive != () or task is not Task.BINARY or not any(map(depends_on_positive, rows)):
        return
    if spec.favourable not in (None, *AMOUNTS) and not word_for_positive(spec.preset):
        return  # what 1 is for a person is stated
    axis = cube.plan.axis(Role.LABEL) or cube.plan.axis(Role.PREDICTION)
    if axis is None or axis.bins:
        return
    levels = cube.levels[axis]
    value = next((name_of(level) for level in levels if matches(1, level)), None)
    others = tuple(name_of(level) for level in levels if not matches(1, level))
    favourable = words.is_of_favours(axis.column) and not words.is_of_denials(axis.column)
    warned = any(each["column"] == axis.column for each in unfavourable_positive(cube, spec, task))
    made = Diagnostic.note if favourable or warned else Diagnostic.warning
    yield made(
        DiagnosticCode.ASSUMED_POSITIVE, column=axis.column, value=value or "1", others=others
    )


def unfavourable_positive(cube: Cube, spec: Spec, task: Task) -> Iterator[Diagnostic]:
    """Warn where what counts as favourable has the name of a harm, and other values not.

    Of yes and no, 1 and 0, and of a cut the name of the column decides: "hired = no" and
    "denied = yes", not "default = no", and of HMDA's codes their meaning. Of a score without a
    label its name decides.

    Raises ``SpecError``: A preset would call such an outcome by the word for its opposite, whether
        or not it is stated.
    """
    if task is Task.REGRESSION and spec.preset and spec.favourable in (None, Favourable.POSITIVE):
        column = spec.label or spec.prediction
        yield Diagnostic.warning(DiagnosticCode.UNFAVOURABLE_POSITIVE, column=column, amounts=True)
    negative, word = spec.favourable is Favourable.NEGATIVE, word_for_positive(spec.preset)
    if task is not Task.BINARY or (spec.favourable is Favourable.NEITHER and not word):
        return
    meant = spec.favourable is Favourable.POSITIVE and not word
    made = partial(Diagnostic.note, stated=True) if meant else Diagnostic.warning
    axes = resolved.recorded_outcomes(cube, spec)
    for i, axis in enumerate(axes):
        positive = spec.positive_of(axis.column) or (1,)
        better = _better_outcomes(axis, cube.levels[axis], positive, negative=negative)
        if negative:  # as it is stated, also of a "Detention granted"
            better = [each for each in better if len(name_of(each).split()) == 1]
        if better and word and axis is axes[-1]:
            what = "what is stated" if spec.positive else "1, which is assumed,"
            message = (
                f"the preset {quote(spec.preset)} calls the positive outcome {quote(word)}, and "
                f"{what} has the name or code of the opposite in {quote(axis.column)}; state "
                f"{alternatives(map(name_of, better))} (--positive)"
            )
            raise SpecError(Problem("positive", message))
        if better and (i == 0 or not spec.words_of_predictions):
            cut = isinstance(spec.positive, Above) and write_positive(spec.positive.to_dict())
            yield made(
                DiagnosticCode.UNFAVOURABLE_POSITIVE, column=axis.column, negative=negative,
                values=tuple(cut or map(name_of, positive)),
                others=tuple(map(name_of, better)), preset=word,
            )  # fmt: skip
    called = spec.words.positive
    if word and (words.is_adverse(called) or words.is_harm(called)):
        message = (
            f"{quote(called)} contradicts the preset {quote(spec.preset)}, in which {quote(word)} "
            "is the positive outcome; remove it, and state the values that mean it (--positive)"
        )
        raise SpecError(Problem("words.positive", message))
    alone = None if axes or negative or spec.favourable in AMOUNTS else spec.score
    if alone and (words.is_of_denials(alone) or words.is_of_risk(alone)):
        yield made(
            DiagnosticCode.UNFAVOURABLE_POSITIVE, column=alone, values=("a high score",),
            others=(), negative=False, preset=word,
        )  # fmt: skip


def absent_at_least_once(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of people who count by the absence of an event, which any of their rows may lack."""
    further = cube.excluded.get(Uncounted.SAME_PERSON)
    if not (spec.of_people and further) or spec.favourable is Favourable.NEGATIVE:
        return
    axis = cube.plan.outcomes[-1]
    positive = spec.positive_of(axis.column) or (1,)
    others = [name_of(v) for v in cube.levels[axis] if not is_one_of(v, positive)]
    plain = all(words.is_no(name_of(v)) or matches(0, v) for v in positive)
    if others and (plain or all(words.is_harm(each, axis.column) for each in others)):
        yield Diagnostic.warning(
            DiagnosticCode.UNFAVOURABLE_POSITIVE, column=axis.column, rows=further,
            values=tuple(map(name_of, positive)), others=tuple(others), at_least_once=True,
        )  # fmt: skip


def _better_outcomes(
    axis: Axis, levels: Sequence[Value], positive: Sequence[Value], *, negative: bool
) -> list[Value]:
    # those are the positive ones, or with ``negative`` all others; of what is recoded, also by the
    # values that it is from, and of yes, no, 1 and 0 by these alone
    if axis.bins:
        (cut, *_) = axis.cuts
        low = 0 if 0 <= cut < 1 else f"a recoding of the values up to {cut:g}"
        return [low] if words.is_of_harms(axis.column) and not negative else []
    better = partial(words.better_outcomes, axis.column, negative=negative)
    if axis.recoding is None:
        return better(levels, positive)
    recoded = dict(axis.recoding.categories)
    held = {level: recoded.get(name_of(level), (level,)) for level in levels}
    meant = [value for each in positive for value in recoded.get(name_of(each), (each,))]
    by_values = better([value for values in held.values() for value in values], meant)
    found = [level for level in levels if any(is_one_of(v, by_values) for v in held[level])]
    plain = all(words.is_yes(each) or words.is_no(each) or matches(0, each)
                for each in map(name_of, positive))  # fmt: skip
    return found if found or plain else better(levels, positive)
