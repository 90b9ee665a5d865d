"""Checks of the specification against the data: assumptions, likely mistakes, unknown names.

Nothing here changes a number. Without these checks an audit would silently answer a question that
was not meant.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import (
    Callable,
    Collection,
    Container,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from fairgauge.catalogue.across import DifferentialFairness
from fairgauge.catalogue.cells import ConfusionCounts
from fairgauge.catalogue.comparisons import Contrast, Metric
from fairgauge.catalogue.distributions import Distance, ScoreDistance
from fairgauge.catalogue.moments import Mean, RegressionTerm
from fairgauge.catalogue.statistics import Statistic
from fairgauge.cube.crossed_strata import with_one_stratum
from fairgauge.cube.cube import Cube, Sums
from fairgauge.cube.levels import quartiles
from fairgauge.cube.plan import Axis
from fairgauge.enums import (
    DiagnosticCode,
    Ends,
    Favourable,
    Missing,
    Profile,
    ReferenceRule,
    Role,
    Task,
    Uncounted,
)
from fairgauge.errors import DataError, closest, listing, quote
from fairgauge.identity import FeatureId, ValueSet, is_named, texts_of
from fairgauge.question.category_words import (
    classes_of_missing,
    codes_of_missing,
    codes_of_no_outcome,
    is_adverse,
    is_undecided,
    may_be_codes,
    means_missing,
    no_outcomes,
    resembles,
)
from fairgauge.question.conditions import Range, RowCondition
from fairgauge.question.features import Ordered
from fairgauge.question.presets import preset
from fairgauge.question.recoding import UNKNOWN, Recoding, write_recodings
from fairgauge.question.specification import Spec
from fairgauge.reasons import FEWEST_ROWS
from fairgauge.resolve.group_counts import GroupCounts, count_groups, unknown_levels
from fairgauge.resolve.outcomes import decide_task, outcome_masks
from fairgauge.resolve.references import large_groups
from fairgauge.results.estimates import Group
from fairgauge.results.scopes import OVERALL, Diagnostic
from fairgauge.stats.arrays import Mask, quotient
from fairgauge.stats.cluster_robust import largest_design_effect
from fairgauge.stats.significance import homogeneity
from fairgauge.values import Value, canonical, matches, name_of, spelled_alike, spelling

_FAVOURABLE = re.compile(
    r"approv|accept|admit|admission|hire|select|grant|pass|award|promot|qualif|eligib|success|"
    r"invit|offer|graduat|employ|favou?r|repa(y|id)|good|recommend|shortlist",
    re.IGNORECASE,
)
"""Parts of the names of columns in which 1 is the favourable outcome."""

_NO = re.compile(r"no|n|false|negative", re.IGNORECASE)
_FEW_PUBLISHED = 10
_CLASSES = 2
_OUTCOMES = (Role.LABEL, Role.PREDICTION)
_MISSING_APART, _HARDLY_CHANCE = 0.02, 1e-3
"""How far apart shares of missing values are, and the p-value of a table's least, to be named."""
_TIMES_AS_OFTEN = 20
"""How much oftener than any other a group has an outcome that counts as one that it alone has."""
_MANY_MISSING = 0.05
"""The share of rows without a stratum from which they are warned of."""
ALMOST_ALL = 0.95
"""The share of the rows of each outcome from which strata determine it, as a copy with mistakes."""
_FEWEST_DETERMINED = 10
"""Rows of a stratum below which all have one outcome often, whatever the stratum."""
_MANY_SINGLE = 20
"""Groups of one row, from which a feature looks like an identifier."""
_MANY_GROUPS = 20
"""Numbers, from which a feature looks like one that is meant to be cut, if most are rare."""
_MOST_READABLE = 40
"""Numbers, from more than which it does, however many rows each has."""


def check_known(cube: Cube, spec: Spec, rows_by_level: Mapping[Axis, Sums]) -> None:
    """Refuse a column of the specification that has no value in any row.

    A cluster column may be empty: values do not need it, and intervals then state the reason.

    Raises
    ------
    DataError
        A column has no value; the message names it.
    """
    if not cube.rows or cube.min_cell is not None:
        return  # an empty cube, or counts that may be rounded to none
    grouped = spec.missing is Missing.GROUP or spec.profile.rules.missing_facet_is_reference
    for axis in cube.plan.axes:
        if axis.role is Role.CLUSTER or (axis.role is Role.FEATURE and grouped):
            continue  # rows without a group are a group of their own
        if not rows_by_level[axis][:-1].any():
            role = Role.SCORE if axis.bounds else axis.role
            what = "number" if axis.bins else "value"
            if people := dict(cube.conflicts).get(axis.column):
                raise DataError(
                    f"column {quote(axis.column)} ({role}) decides nothing: its values contradict "
                    f"each other in the rows of {people:,} people, and no other "
                    f"person has a {what}; check that {quote(spec.person or '')} identifies a "
                    "person (person, --person)"
                )
            raise DataError(f"column {quote(axis.column)} ({role}) holds no {what} in any row")


def likely_mistakes(
    cube: Cube, spec: Spec, task: Task, rows_by_level: Mapping[Axis, Sums]
) -> Iterator[Diagnostic]:
    """Warn of values that suggest that something else was meant."""
    yield from mistaken_outcomes(cube, spec, task, rows_by_level)
    yield from sensitive_outcomes(spec)
    yield from single_row_groups(cube, spec, rows_by_level)
    yield from numeric_groups(cube, spec, rows_by_level)
    yield from many_strata(cube, spec, rows_by_level)
    strata = [each.column for each in spec.strata]
    sensitive = {c for feature in spec.recorded.values() for c in feature.columns}
    yield from doubtful_strata(cube, spec, set(strata) - sensitive)
    yield from missing_values(cube, spec, strata)
    yield from strata_of_outcomes(cube, spec, strata, (Role.LABEL, Role.PREDICTION))
    yield from doubtful_names(cube, spec, rows_by_level)
    yield from doubtful_conditions(cube, spec)
    yield from limits_outside_range(spec)
    yield from ratios_of_signed_amounts(cube, spec)
    yield from unmatched_groups(cube, spec)


def mistaken_outcomes(
    cube: Cube, spec: Spec, task: Task, rows_by_level: Mapping[Axis, Sums]
) -> Iterator[Diagnostic]:
    """Warn of labels and predictions that suggest that something else was meant."""
    if cube.min_cell is None:  # few errors may be rounded to none
        yield from prediction_is_label(cube, spec)
        yield from copied_outcomes(cube, spec)
    if task is not Task.REGRESSION:
        yield from one_outcome(cube, spec, task, rows_by_level)
        yield from predictions_that_are_no_label(cube, spec, task, rows_by_level)
    if task is Task.BINARY:
        yield from undecided_outcomes(cube, spec, rows_by_level)
    if task is Task.MULTICLASS:
        yield from missing_classes(cube, spec, rows_by_level)


def assumed_positive(
    cube: Cube, spec: Spec, task: Task, rows: Iterable[Metric | Statistic]
) -> Iterator[Diagnostic]:
    """Report which value is assumed to be favourable, where what is measured depends on it.

    This is a warning unless the name of the column suggests something favourable: for labels such
    as ``recidivism`` or ``default``, 1 is the unfavourable outcome.
    """
    if spec.positive != () or task is not Task.BINARY or not any(map(depends_on_positive, rows)):
        return
    axis = cube.plan.axis(Role.LABEL) or cube.plan.axis(Role.PREDICTION)
    if axis is None or axis.bins:
        return
    levels = cube.levels[axis]
    value = next((name_of(level) for level in levels if matches(1, level)), None)
    others = tuple(name_of(level) for level in levels if not matches(1, level))
    made = Diagnostic.note if _FAVOURABLE.search(axis.column) else Diagnostic.warning
    yield made(
        DiagnosticCode.ASSUMED_POSITIVE, column=axis.column, value=value or "1", others=others
    )


def unfavourable_positive(cube: Cube, spec: Spec, task: Task) -> Iterator[Diagnostic]:
    """Warn where what is stated as favourable has the name of the opposite, and other values not.

    Of "no" and "false" the name of the column decides: "hired = no", not "default = no".
    """
    stated = spec.positive if isinstance(spec.positive, tuple) else ()
    axis = cube.plan.axis(Role.LABEL) or cube.plan.axis(Role.PREDICTION)
    if not stated or task is not Task.BINARY or axis is None or axis.bins or axis.cuts:
        return
    of_hiring = bool(_FAVOURABLE.search(axis.column)) and not is_adverse(axis.column)

    def is_refusal(value: Value) -> bool:
        text = name_of(value).strip()
        return is_adverse(text) or bool(of_hiring and _NO.fullmatch(text))

    others = [v for v in cube.levels[axis] if not any(matches(each, v) for each in stated)]
    better = [value for value in others if not is_refusal(value)]
    if better and all(map(is_refusal, stated)) and spec.words.favourable is Favourable.POSITIVE:
        yield Diagnostic.warning(
            DiagnosticCode.UNFAVOURABLE_POSITIVE,
            column=axis.column,
            values=tuple(map(name_of, stated)),
            others=tuple(map(name_of, better)),
        )


def never_repeats(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of people or clusters of one row each: counted by them, rows count as without them."""
    axis = cube.plan.axis(Role.CLUSTER)
    if cube.min_cell is not None or spec.count:
        return
    if spec.of_people:
        single = cube.rows > 1 and not cube.excluded.get(Uncounted.SAME_PERSON)
    else:
        rows = cube.rows_by_level()[axis][:-1] if axis is not None else np.zeros(0)
        single = len(rows) > 1 and rows.max() == 1
    if single:
        column, role = _identified(spec)
        yield Diagnostic.warning(DiagnosticCode.NEVER_REPEATS, column=column, role=role)


def alike_identifiers(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of identifiers in two spellings, each a person or cluster, and of those of no one."""
    column, role = _identified(spec)
    for value, rows in cube.placeholders:
        line = write_recodings({str(column): {UNKNOWN: [value if value != "" else "VALUE"]}})[0]
        yield Diagnostic.warning(
            DiagnosticCode.PLACEHOLDER_IDENTIFIER,
            column=column,
            role=role,
            rows=rows,
            line=line,
            **({} if value == "" else {"value": name_of(value)}),
        )
    if cube.spellings:
        yield Diagnostic.warning(
            DiagnosticCode.ALIKE_IDENTIFIERS, column=column, role=role, identifiers=cube.spellings
        )


def doubtful_dates(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of dates that order the decisions of people, and may mean that none is known."""
    if cube.far_dates:
        values, rows = zip(*cube.far_dates, strict=True)
        column = str(spec.order)
        line = write_recodings({column: {UNKNOWN: [*spec.no_numbers(column), *values]}})[0]
        names = tuple(map(name_of, values))
        yield Diagnostic.warning(
            DiagnosticCode.FAR_DATES, column=column, values=names, rows=rows, line=line
        )


def _identified(spec: Spec) -> tuple[str | None, str]:
    """Return the column of persons or of clusters, and which of these it identifies."""
    return (spec.person, "person") if spec.person else (spec.cluster, "cluster")


def few_published(
    features: Iterable[GroupCounts], spec: Spec, groups: Iterable[Group]
) -> Iterator[Diagnostic]:
    """Warn of groups of a few people in tables to publish: their rates are of single people.

    Of rates of decisions the tables are of all strata together, of pay of each stratum, too.
    """
    chosen = None if spec.preset is None else preset(spec.preset)
    if chosen is None or (not chosen.published_metrics and chosen.category_limit is None):
        return
    of_amounts = chosen.category_limit is not None
    people = _people_by_group(features) if spec.person else {}
    rates = [
        (each, each.rates.get("mean_label" if of_amounts else "selection_rate")) for each in groups
    ]
    few = [
        each
        for each, rate in rates
        if each.reference_kind is None
        and (each.scope == OVERALL or of_amounts)
        and rate
        and rate.denominator
        and people.get((each.feature, each.group), rate.denominator) < _FEW_PUBLISHED
    ]
    more: dict[str, Any] = {"unit": "people"} if spec.person else {}
    if of_amounts:
        more["strata"] = tuple(str(each.scope.stratum or "") for each in few)
    if few:
        yield Diagnostic.warning(
            DiagnosticCode.FEW_PUBLISHED,
            groups=tuple(str(each.group) for each in few),
            features=tuple(each.feature for each in few),
            fewer=_FEW_PUBLISHED,
            **more,
        )


def _people_by_group(features: Iterable[GroupCounts]) -> dict[tuple[str, str], float]:
    """Return how many people each group has, where each of their decisions counts."""
    people: dict[tuple[str, str], float] = {}
    for each in features:
        if each.clusters is not None:
            held = set(
                zip(each.clusters.group.tolist(), each.clusters.cluster.tolist(), strict=True)
            )
            of_group = Counter(group for group, _ in held)
            people |= {(each.feature, name): of_group[i] for i, name in enumerate(each.groups)}
    return people


def prediction_is_label(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of a prediction column that is the label column, or equals it in every row."""
    label, prediction = cube.plan.axis(Role.LABEL), cube.plan.axis(Role.PREDICTION)
    if label is None or prediction is None or label.cuts or prediction.bins:
        return
    counted, equal = _always_equal(cube, label, prediction)
    if equal or spec.label == spec.prediction:
        yield Diagnostic.warning(
            DiagnosticCode.PREDICTION_IS_LABEL,
            column=spec.prediction,
            label=spec.label,
            rows=counted,
        )


def _always_equal(cube: Cube, axis: Axis, other: Axis) -> tuple[int, bool]:
    """Return how many rows have a value of two columns, and whether these are equal in all of them.

    A few rows, or a column of one value, may be equal by coincidence: they are not.
    """
    apart, same = agreeing_rows(cube, axis, other)
    several = len(cube.levels[axis]) > 1
    # with fewer rows, even a good prediction may equal the label in every one
    return apart + same, not apart and same >= FEWEST_ROWS and several


def agreeing_rows(
    cube: Cube,
    axis: Axis,
    other: Axis,
    agree: Callable[[Value, Value], bool] = matches,
    unknown: Container[str] = (),
) -> tuple[int, int]:
    """Return the rows in which the known values of two columns differ, and in which they agree."""
    found = [0, 0]
    table = cube.marginal([axis, other])
    for (i, j), rows in zip(table.codes.tolist(), table.sums["rows"].tolist(), strict=True):
        if min(i, j) >= 0:
            one, two = cube.levels[axis][i], cube.levels[other][j]
            if name_of(one) not in unknown and (other.bounds or name_of(two) not in unknown):
                found[agree(one, two)] += int(rows)
    return found[0], found[1]


def copied_outcomes(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of sensitive features that equal the label or the prediction in every row."""
    outcomes = [
        axis
        for axis in (cube.plan.axis(Role.LABEL), cube.plan.axis(Role.PREDICTION))
        if axis is not None and not axis.bins and not axis.cuts
    ]
    for axis in cube.plan.axes:
        if axis.role is not Role.FEATURE or axis.bins or axis.cuts:
            continue
        for outcome in outcomes:
            if axis.column in (spec.label, spec.prediction, spec.score):
                break  # which is reported by its name
            if not any({axis, outcome} <= set(table.axes) for table in cube.tables):
                continue  # counted apart
            rows, equal = _always_equal(cube, axis, outcome)
            if equal:
                yield Diagnostic.warning(
                    DiagnosticCode.SENSITIVE_IS_OUTCOME,
                    column=axis.column,
                    role=str(outcome.role),
                    outcome=outcome.column,
                    rows=rows,
                )
                break


def sensitive_outcomes(spec: Spec) -> Iterator[Diagnostic]:
    """Warn of sensitive features that are the label, the prediction or the score."""
    columns = dict.fromkeys(
        [each.column for each in spec.sensitive]
        + [column for columns in spec.intersections for column in columns]
    )
    outcomes = {Role.LABEL: spec.label, Role.PREDICTION: spec.prediction, Role.SCORE: spec.score}
    for column in columns:
        role = next((role for role, outcome in outcomes.items() if outcome == column), None)
        if role is not None:
            yield Diagnostic.warning(
                DiagnosticCode.SENSITIVE_IS_OUTCOME, column=column, role=str(role)
            )


def one_outcome(
    cube: Cube, spec: Spec, task: Task, rows_by_level: Mapping[Axis, Sums]
) -> Iterator[Diagnostic]:
    """Warn of labels that are all alike, and of predictions: of a score at every threshold.

    No verdict is withheld: labels of one outcome may be all that there are.
    """
    masks = outcome_masks(cube, spec, task)
    judged = [rule.definition for _, rule in spec.limits if rule.definition is not None]
    needs = {need for row in (*spec.catalogue.expand(spec.metrics), *judged) for need in row.needs}
    for role, code in zip(_OUTCOMES, (DiagnosticCode.ONE_LABEL, DiagnosticCode.ONE_DECISION),
                          strict=True):  # fmt: skip
        axis = cube.plan.axis(role)
        if axis is None or any(each.column == axis.column for each in spec.where):
            continue
        if role is Role.LABEL and "label" not in needs:
            continue  # nothing that is asked for rests on it
        rows = rows_by_level[axis][:-1]
        if rows.sum() < FEWEST_ROWS:
            continue
        of = [each.labels if role is Role.LABEL else each.predictions for each in masks]
        positive = {int(rows[each].sum()) for each in of}
        if task is Task.MULTICLASS and np.count_nonzero(rows) == 1:
            value = name_of(cube.levels[axis][int(rows.argmax())])
            yield Diagnostic.warning(code, column=axis.column, value=value)
        elif task is Task.BINARY and positive in ({0}, {int(rows.sum())}):
            threshold = masks[-1].threshold if role is Role.PREDICTION else None
            yield Diagnostic.warning(
                code, column=axis.column, positive=positive != {0}, threshold=threshold
            )


def predictions_that_are_no_label(
    cube: Cube, spec: Spec, task: Task, rows_by_level: Mapping[Axis, Sums]
) -> Iterator[Diagnostic]:
    """Warn of predicted values that no label has: they count as unfavourable, or as wrong.

    `undecided_outcomes` warns of those that may be none.
    """
    label, prediction = cube.plan.axis(Role.LABEL), cube.plan.axis(Role.PREDICTION)
    if label is None or prediction is None or label.bins or prediction.bins:
        return
    if isinstance(spec.positive, Ordered):  # which names every value of both
        return
    labels = [*cube.levels[label], *(spec.positive if isinstance(spec.positive, tuple) else ())]
    if task is Task.BINARY and isinstance(spec.positive, tuple):
        labels += no_outcomes(cube.levels[prediction])
    strange = [
        not any(matches(value, each) for each in labels) for value in cube.levels[prediction]
    ]
    if len(cube.levels[label]) < _CLASSES or not any(strange):
        return  # where the labels are of one class, the other is known from predictions alone
    rows = int(rows_by_level[prediction][:-1][strange].sum())
    if rows:
        values = [
            name_of(v) for v, odd in zip(cube.levels[prediction], strange, strict=True) if odd
        ]
        of_classes: dict[str, Any] = {"classes": True} if task is Task.MULTICLASS else {}
        yield Diagnostic.warning(
            DiagnosticCode.PREDICTION_NOT_A_LABEL,
            column=spec.prediction,
            label=spec.label,
            values=tuple(values),
            rows=rows,
            **of_classes,
        )


def single_row_groups(
    cube: Cube, spec: Spec, rows_by_level: Mapping[Axis, Sums]
) -> Iterator[Diagnostic]:
    """Warn of features with many groups, most of one row, as identifiers have."""
    axes = {axis.column: axis for axis in cube.plan.axes if axis.role is Role.FEATURE}
    for name, feature in spec.recorded.items():
        columns = feature.columns
        if len(columns) == 1:
            if quartiles(cube.levels[axes[columns[0]]]):
                continue
            of_levels = rows_by_level[axes[columns[0]]][:-1]
            rows = of_levels[of_levels > 0]
        else:
            table = cube.marginal([axes[column] for column in columns])
            rows = table.sums["rows"][(table.codes >= 0).all(axis=1)]
        single = int((rows == 1).sum())
        if single >= _MANY_SINGLE and single > len(rows) / 2:
            yield Diagnostic.warning(
                DiagnosticCode.SINGLE_ROW_GROUPS,
                name,
                groups=len(rows),
                single=single,
            )


def numeric_groups(
    cube: Cube, spec: Spec, rows_by_level: Mapping[Axis, Sums]
) -> Iterator[Diagnostic]:
    """Warn of features with very many numbers, or many of few rows, that are not cut."""
    for feature in spec.sensitive:
        axis = next(
            a for a in cube.plan.axes if a.role is Role.FEATURE and a.column == feature.column
        )
        if axis.bins or axis.cuts or feature.values:
            continue
        levels = [each for each in _with_rows(cube.levels[axis], rows_by_level[axis]) if each[1]]
        small = sum(rows < FEWEST_ROWS for _, rows in levels)
        cuts = quartiles([value for value, _ in levels], [rows for _, rows in levels])
        sparse = len(levels) >= _MANY_GROUPS and small > len(levels) / 2
        if cuts and (sparse or len(levels) > _MOST_READABLE):
            yield Diagnostic.warning(
                DiagnosticCode.NUMERIC_GROUPS,
                feature.column,
                groups=len(levels),
                small=small,
                minimum=FEWEST_ROWS,
                cuts=tuple(map(name_of, cuts)),
            )


def missing_values(cube: Cube, spec: Spec, strata: Collection[str]) -> Iterator[Diagnostic]:
    """Warn of groups and strata that are missing more often with one outcome than with another.

    Of strata, which no other note counts, also where many rows lack them, or of one group more.
    """
    if cube.min_cell is not None:
        return
    grouped = spec.missing is Missing.GROUP or spec.profile.rules.missing_facet_is_reference
    features = {c for each in spec.recorded.values() for c in each.columns if not grouped}
    unit = {"unit": "people"} if spec.of_people else {"unit": "cases"} if spec.count else {}
    axes = _axes_of(cube, {*strata, *features})
    for axis in axes:
        absent = np.append(unknown_levels(axis, cube.levels[axis], spec), True)  # code -1 is last
        table = cube.marginal([axis])
        cases = table.sums.get("n", table.sums["rows"])
        rows, total = int(cases[absent[table.codes[:, 0]]].sum()), int(cases.sum())
        if not rows:
            continue
        level = _HARDLY_CHANCE / len(axes)
        apart, by_group = (
            max(_apart(cube, axis, absent, roles, level), key=_distance, default={})
            for roles in (_OUTCOMES, (Role.FEATURE,))
        )
        if axis.column not in strata:
            if apart:
                yield Diagnostic.warning(
                    DiagnosticCode.UNEQUALLY_MISSING, axis.column, **apart, **unit
                )
            continue
        if apart or by_group or rows >= max(1, _MANY_MISSING * total):
            yield Diagnostic.warning(
                DiagnosticCode.MISSING_STRATA,
                column=axis.column,
                rows=rows,
                total=total,
                **apart,
                **{f"group_{name}": value for name, value in by_group.items()},
                **unit,
            )


def _distance(apart: Mapping[str, Any]) -> float:
    return float(apart["most_share"] - apart["least_share"])


def _apart(
    cube: Cube, axis: Axis, absent: Mask, roles: Sequence[Role], level: float
) -> Iterator[dict[str, Any]]:
    """Yield how often values are ``absent`` by columns of some roles, where that differs.

    They differ by a margin, and at a ``level`` of the chi-square test.
    """
    for column, names, lacking, every, p in _shares_by(cube, axis, absent, roles):
        share = lacking / every
        if np.ptp(share) >= _MISSING_APART and p < level:
            most, least = int(np.argmax(share)), int(np.argmin(share))
            yield {
                "outcome": column,
                "most": names[most],
                "most_share": float(share[most]),
                "least": names[least],
                "least_share": float(share[least]),
                "p": p,
            }


def _shares_by(
    cube: Cube, axis: Axis, marked: Mask, roles: Sequence[Role]
) -> Iterator[tuple[str, list[str], Sums, Sums, float]]:
    """Yield the rows of ``marked`` values, and all, of the large levels of columns of some roles.

    Beside them are the column, the names of the levels, and the p-value of the test of equal
    shares. Rows of one cluster are alike: they count as so many as there are clusters, if unequal.
    """
    cluster, alike = cube.plan.axis(Role.CLUSTER), 1.0
    if cluster is not None:
        of_cluster = cube.marginal([cluster])
        cases = of_cluster.sums.get("n", of_cluster.sums["rows"])
        alike = largest_design_effect(cases[of_cluster.codes[:, 0] >= 0])
    for other in [a for a in cube.plan.axes if a.role in roles and not a.bins]:
        if not any({axis, other} <= set(table.axes) for table in cube.tables):
            continue
        table = cube.marginal([axis, other])
        known = table.codes[:, 1] >= 0
        codes, rows = table.codes[known], table.sums.get("n", table.sums["rows"])[known]
        every = np.bincount(codes[:, 1], rows).astype(np.float64)
        having = np.bincount(codes[:, 1], rows * marked[codes[:, 0]]).astype(np.float64)
        held = np.flatnonzero(every >= FEWEST_ROWS)
        if len(held) >= _CLASSES:
            names = other.names(cube.levels[other])
            p = float(homogeneity(having[held] / alike, every[held] / alike)[1])
            yield other.column, [names[i] for i in held], having[held], every[held], p


def strata_of_outcomes(
    cube: Cube,
    spec: Spec,
    columns: Collection[str],
    roles: Collection[Role],
    controls: Collection[str] = (),
) -> Iterator[Diagnostic]:
    """Warn of columns each value of which has almost one outcome alone, both outcomes included."""
    if cube.min_cell is not None:
        return
    masks = outcome_masks(cube, spec, decide_task(cube, spec))
    for stratum, role in product(_axes_of(cube, columns), roles):
        outcome = cube.plan.axis(role)
        together = (outcome is not None and {stratum, outcome} <= set(t.axes) for t in cube.tables)
        if outcome is None or not any(together):
            continue
        table = cube.marginal([stratum, outcome])
        held = (table.codes >= 0).all(axis=1)
        (level, code), rows = table.codes[held].T, table.sums.get("n", table.sums["rows"])[held]
        every = np.bincount(level, rows).astype(np.float64)
        of_masks = (each.labels if role is Role.LABEL else each.predictions for each in masks)
        positive = (np.bincount(level, rows * mask[code]) for mask in of_masks)
        shares = [share_determined(each.astype(np.float64), every) for each in positive]
        if max(shares) >= ALMOST_ALL:
            of_control: dict[str, bool] = {"control": True} if stratum.column in controls else {}
            yield Diagnostic.warning(
                DiagnosticCode.STRATUM_IS_OUTCOME,
                None,
                column=stratum.column,
                outcome=outcome.column,
                share=max(shares),
                **of_control,
            )


def controls_of_groups(cube: Cube, spec: Spec, controls: Collection[str]) -> Iterator[Diagnostic]:
    """Warn of controls of which no value has rows of two groups of a feature."""
    for name, feature in spec.recorded.items():
        groups = [
            a for a in cube.plan.axes if a.role is Role.FEATURE and a.column in feature.columns
        ]
        for control in _axes_of(cube, controls):
            axes = [control, *groups]
            if not any(set(axes) <= set(table.axes) for table in cube.tables):
                continue
            table = cube.marginal(axes)
            held = table.codes[(table.codes >= 0).all(axis=1) & (table.sums["rows"] > 0)]
            if len(held) > 1 and len(np.unique(held[:, 0])) == len(held):
                yield Diagnostic.warning(
                    DiagnosticCode.STRATUM_IS_GROUP, name, column=control.column
                )


def doubtful_strata(cube: Cube, spec: Spec, columns: Collection[str]) -> Iterator[Diagnostic]:
    """Warn of strata that may be one, or none: of a missing value, or spelt as another one."""
    for axis in _axes_of(cube, columns):
        codes = [] if axis.bins else codes_of_missing(cube.levels[axis])
        found = (each for each in cube.levels[axis] if means_missing(each) or each in codes)
        missing = list(map(name_of, found))
        if missing:
            line = _line(axis.column, {UNKNOWN: missing}, spec)
            yield Diagnostic.warning(
                DiagnosticCode.STRATUM_OF_MISSING,
                column=axis.column, values=tuple(missing), line=line,
            )  # fmt: skip
        names = [each for each in cube.levels[axis] if isinstance(each, str)]
        if not axis.bins and (others := spelled_alike(names)):
            first = next(each for each in names if spelling(each) == spelling(others[0]))
            yield Diagnostic.warning(
                DiagnosticCode.ALIKE_STRATA,
                column=axis.column,
                values=len(others),
                example=(first, others[0]),
            )


def _axes_of(cube: Cube, strata: Collection[str]) -> list[Axis]:
    """Return the axes of columns, each of which may be counted as a stratum or as a feature."""
    either = (Role.STRATUM, Role.FEATURE)
    return [a for a in cube.plan.axes if a.role in either and a.column in strata]


def share_determined(positive: Sums, rows: Sums) -> float:
    """Return the smaller share of both outcomes that are those of most rows of their stratum.

    >>> share_determined(np.array([98.0, 0.0, 2.0]), np.array([100.0, 60.0, 2.0]))
    0.967741935483871
    """
    negative = rows - positive
    if not positive.sum() or not negative.sum():
        return 0.0
    held = rows >= _FEWEST_DETERMINED
    alike = positive[held & (positive > negative)], negative[held & (negative > positive)]
    return float(min(alike[0].sum() / positive.sum(), alike[1].sum() / negative.sum()))


def many_strata(
    cube: Cube, spec: Spec, rows_by_level: Mapping[Axis, Sums], crossed: Cube | None = None
) -> Iterator[Diagnostic]:
    """Warn of many strata of few rows, which often lack one side of a comparison, or of numbers.

    ``crossed`` are the counts by the strata that are asked for, where the cube may hold others.
    """
    if not spec.strata:
        return
    crossed = crossed or with_one_stratum(cube)
    axis = next(a for a in crossed.plan.axes if a.role is Role.STRATUM)
    table = crossed.marginal([axis])
    cases = table.sums.get("n", table.sums["rows"])
    rows = cases[(table.codes[:, 0] >= 0) & (cases > 0)]
    few = rows < FEWEST_ROWS
    listed: dict[str, str] = {}
    controls = False
    for each in cube.plan.axes:
        asked = any(each.column == feature.column for feature in spec.strata)
        controls |= asked and each.control  # asked for without strata, they are the strata
        if each.role is Role.STRATUM and asked and not each.cuts:
            levels, sizes = cube.levels[each], rows_by_level[each].tolist()
            cuts = quartiles(levels, sizes[: len(levels)])
            # else as many strata as before, or codes, which have no order
            if cuts and len(levels) > len(cuts) + 1 and not may_be_codes(levels):
                listed[each.column] = ",".join(map(name_of, cuts))
    sparse = len(rows) >= _MANY_GROUPS and rows[few].sum() > rows.sum() / 2
    if not sparse and not (listed and len(rows) > _MOST_READABLE):
        return
    yield Diagnostic.warning(
        DiagnosticCode.MANY_STRATA,
        None,
        strata=len(rows),
        share=float(rows[few].sum() / rows.sum()),
        minimum=FEWEST_ROWS,
        columns=tuple(listed),
        cuts=tuple(listed.values()),
        **({"controls": True} if controls else {}),
    )


_HMDA_COLUMN = re.compile(r"action[ _-]?(taken|type)", re.IGNORECASE)
_HMDA_CODES = [str(code) for code in range(1, 9)]
_HMDA_APPROVED = ("1", "2", "8")
"""Made, approved but not accepted by the applicant, and a preapproval that was not accepted."""
_HMDA_UNDECIDED = ("4", "5", "6")
"""Withdrawn, closed for incompleteness, and purchased: nobody was approved or denied."""


def undecided_outcomes(
    cube: Cube, spec: Spec, rows_by_level: Mapping[Axis, Sums]
) -> Iterator[Diagnostic]:
    """Warn of outcomes that count as unfavourable, though their names are of no decision.

    Of HMDA's codes also of approvals that do. Of people, whose decisions count as one, how many
    rows have each is not known any more.
    """
    if not isinstance(spec.positive, tuple):  # which names every value, or where numbers are cut
        return
    label, prediction = cube.plan.axis(Role.LABEL), cube.plan.axis(Role.PREDICTION)
    decides = label or prediction  # predictions that no label has are warned of apart
    for axis in (label, prediction):
        if axis is None or axis.bins or axis.cuts:
            continue
        levels = _with_rows(cube.levels[axis], rows_by_level[axis])
        codes = bool(_HMDA_COLUMN.search(axis.column)) and all(
            name_of(level) in _HMDA_CODES for level, _ in levels
        )
        asked = spec.positive or (1,)
        refused = [
            (level, rows)
            for level, rows in levels
            if (rows or spec.of_people) and not any(matches(value, level) for value in asked)
        ]
        undecided = [
            each
            for each in refused
            if (name_of(each[0]) in _HMDA_UNDECIDED if codes else is_undecided(each[0]))
        ]
        none, beside = codes_of_no_outcome(() if codes else [level for level, _ in levels])
        apart = [each for each in refused if each[0] in none]
        before = [each.values for each in spec.where if (each.column, each.negated) ==
                  (axis.column, True)]  # fmt: skip
        for some, others in [each for each in ((undecided, []), (apart, beside)) if each[0]]:
            more: dict[str, Any] = {"beside": tuple(map(name_of, others))} if others else {}
            values = (*(v for each in before for v in each), *(level for level, _ in some))
            condition = RowCondition(axis.column, (ValueSet(values),), negated=True)
            yield Diagnostic.warning(
                DiagnosticCode.UNDECIDED_OUTCOMES,
                None,
                column=axis.column,
                values=tuple(name_of(level) for level, _ in some),
                rows=None if spec.of_people else sum(rows for _, rows in some),
                codes=codes,
                condition=condition.to_text(),
                **more,
            )
        approved = [each for each in refused if name_of(each[0]) in _HMDA_APPROVED]
        if codes and approved and all(name_of(value) in _HMDA_APPROVED for value in asked):
            yield Diagnostic.warning(
                DiagnosticCode.APPROVED_AS_REFUSED,
                column=axis.column,
                values=tuple(name_of(level) for level, _ in approved),
                rows=None if spec.of_people else sum(rows for _, rows in approved),
                positive=tuple(sorted(map(name_of, (*asked, *(level for level, _ in approved))))),
            )
        if axis is decides and not codes and len(refused) > 1:  # of two outcomes, one is meant
            rest = [each for each in refused if each not in (*undecided, *apart)]
            yield from _unlisted_outcomes(cube, spec, axis, rest)


def _unlisted_outcomes(
    cube: Cube, spec: Spec, axis: Axis, refused: Sequence[tuple[Value, int]]
) -> Iterator[Diagnostic]:
    """Warn of outcomes that count as unfavourable, and may be the favourable one in other words.

    Those resemble it, or one group alone has them. Others are noted, unless all are plain refusals.
    """
    stated = spec.positive if isinstance(spec.positive, tuple) else ()
    known = [_without_separators(name_of(value)) for value in stated]  # `doubtful_names` warns
    adverse = any(is_adverse(name_of(value)) for value in stated)
    alike, possible = [], []
    for name, value in [(name_of(value).strip(), value) for value, _ in refused]:
        if _without_separators(name) in known:
            continue
        if any(resembles(value, each) for each in stated):
            alike.append(value)
        elif bool(is_adverse(name) or _NO.fullmatch(name)) is adverse:
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
            None,
            **_held(axis, some, spec),
            positive=positive,
            **of_group,
        )
    if len(rest) > 1 and any(value in possible for value, _ in rest):
        yield Diagnostic.note(DiagnosticCode.UNLISTED_OUTCOMES, None, **_held(axis, rest, spec))


def _held(axis: Axis, some: Sequence[tuple[Value, int]], spec: Spec) -> dict[str, Any]:
    """Return the column, its values, and the rows of each, unless people are counted."""
    rows = None if spec.of_people else tuple(rows for _, rows in some)
    return {"column": axis.column, "values": tuple(name_of(v) for v, _ in some), "rows": rows}


def _of_one_group(
    cube: Cube, outcome: Axis, values: Sequence[Value]
) -> dict[tuple[str, str], list[Value]]:
    """Return outcomes that one group has and the others hardly, by the feature and the group."""
    found: dict[tuple[str, str], list[Value]] = {}
    if cube.min_cell is not None or len(values) > _MOST_SPELLED:
        return found
    for value in values:
        marked = np.array([*(level == value for level in cube.levels[outcome]), False])
        for column, groups, having, every, p in _shares_by(cube, outcome, marked, (Role.FEATURE,)):
            at = int(np.argmax(having / every))
            *_, second, most = np.sort(having / every)
            often = most >= max(_MISSING_APART, _TIMES_AS_OFTEN * second)
            # of fewer rows the test of small groups does not hold
            if often and having[at] >= _FEWEST_DETERMINED and p < _HARDLY_CHANCE / len(values):
                found.setdefault((column, groups[at]), []).append(value)
                break
    return found


def missing_classes(
    cube: Cube, spec: Spec, rows_by_level: Mapping[Axis, Sums]
) -> Iterator[Diagnostic]:
    """Warn of classes that usually mean a missing value, and are right where both columns agree."""
    if isinstance(spec.positive, Ordered):  # which names every class
        return
    for axis in (cube.plan.axis(Role.LABEL), cube.plan.axis(Role.PREDICTION)):
        if axis is None or axis.bins:
            continue
        levels = [each for each in _with_rows(cube.levels[axis], rows_by_level[axis]) if each[1]]
        missing = classes_of_missing(level for level, _ in levels)
        if missing:
            names = [*map(name_of, missing)]
            yield Diagnostic.warning(
                DiagnosticCode.CLASSES_OF_MISSING,
                column=axis.column,
                values=tuple(names),
                rows=sum(rows for level, rows in levels if level in missing),
                line=_line(axis.column, {UNKNOWN: names}, spec),
            )


def doubtful_names(
    cube: Cube, spec: Spec, rows_by_level: Mapping[Axis, Sums]
) -> Iterator[Diagnostic]:
    """Warn of names that mean a missing value, and of several that may be one group or outcome."""
    for each in (
        *_missing_markers(cube, spec, rows_by_level),
        *coded_numbers(cube, spec),
        *_same_names(cube, spec, rows_by_level),
        *_recodings(cube, spec, rows_by_level),
    ):
        yield each.of_people() if spec.of_people else each


def _missing_markers(
    cube: Cube, spec: Spec, rows_by_level: Mapping[Axis, Sums]
) -> Iterator[Diagnostic]:
    """Warn of groups whose names, or codes, usually mean a missing value."""
    for axis in cube.plan.axes:
        if axis.role is not Role.FEATURE or axis.cuts:
            continue
        unknown = unknown_levels(axis, cube.levels[axis], spec)
        levels = _with_rows(cube.levels[axis], rows_by_level[axis])
        stated = spec.feature(axis.column).values or axis.bins
        codes = [] if stated else codes_of_missing(cube.levels[axis])
        for (level, rows), missing in zip(levels, unknown, strict=True):
            if missing or name_of(level) in spec.exclude_groups:
                continue
            if means_missing(level) or level in codes:
                yield Diagnostic.warning(
                    DiagnosticCode.MISSING_MARKER, axis.column, value=level, rows=rows
                )


def doubtful_conditions(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of values that conditions exclude, and that are spelt nearly as one they ask for."""
    asked = {each.column: each.to_text() for each in spec.where}
    for column, value, rows in cube.undecided:
        if value:
            yield Diagnostic.warning(
                DiagnosticCode.SPELT_OTHERWISE,
                column=column,
                value=value,
                rows=rows,
                condition=asked[column],
            )


_OF_HMDA = (8888, 9999)
"""Not applicable; and no co-applicant: a column has both."""


def coded_numbers(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of numbers at the ends of columns that are often codes of missing ones.

    Columns whose rows a condition chooses are not warned of: the ends are those of all rows.
    """
    chosen = {each.column for each in spec.where}
    for column, end in sorted(cube.ends):
        if column in chosen:
            continue
        value = canonical(end)
        role = {spec.count: "count", spec.weight: "weight"}.get(column)
        if role:  # which cannot be recoded
            line = RowCondition(column, (Range(-math.inf, end, Ends.NEITHER),)).to_text()
            yield Diagnostic.warning(
                DiagnosticCode.CODED_NUMBERS, column=column, value=value, line=line, role=role
            )
            continue
        whole = [cube.levels[a] for a in cube.plan.axes if a.column == column and not a.cuts]
        codes = (
            code
            for code in (_OF_HMDA if value in _OF_HMDA else (value,))
            if all(code in levels for levels in whole)
        )
        values = [*spec.no_numbers(column), *codes]
        line = write_recodings({column: {UNKNOWN: list(dict.fromkeys(values))}})[0]
        yield Diagnostic.warning(
            DiagnosticCode.CODED_NUMBERS, None, column=column, value=value, line=line
        )


def _same_names(cube: Cube, spec: Spec, rows_by_level: Mapping[Axis, Sums]) -> Iterator[Diagnostic]:
    """Warn of different groups or outcomes whose names differ only in case or spaces."""
    for axis in cube.plan.axes:
        if axis.role is Role.FEATURE and not axis.bins:
            sets = spec.feature(axis.column).values
            unknown = unknown_levels(axis, cube.levels[axis], spec)
            levels = _with_rows(cube.levels[axis], rows_by_level[axis])
            texts = [
                _TextValue(axis.column, level, rows, _value_set(level, sets))
                for (level, rows), missing in zip(levels, unknown, strict=True)
                if isinstance(level, str) and not missing and level not in spec.exclude_groups
            ]
            yield from _alike(texts, axis.column)
    outcomes = _outcome_texts(cube, spec, rows_by_level)
    yield from _alike(each._replace(rows=None) if spec.of_people else each for each in outcomes)


def _outcome_texts(cube: Cube, spec: Spec, rows_by_level: Mapping[Axis, Sums]) -> list[_TextValue]:
    """Return the texts of the labels and predictions, with the rows of each."""
    outcomes = (cube.plan.axis(Role.LABEL), cube.plan.axis(Role.PREDICTION))
    return [
        _TextValue(axis.column, level, rows, _outcome(level, spec))
        for axis in dict.fromkeys(outcomes)
        if axis is not None and not axis.bins
        for level, rows in _with_rows(cube.levels[axis], rows_by_level[axis])
        if isinstance(level, str)
    ]


def _recodings(cube: Cube, spec: Spec, rows_by_level: Mapping[Axis, Sums]) -> Iterator[Diagnostic]:
    """Check recodings against the data, and suggest those that the spellings of groups call for."""
    for column, value in sorted(cube.unseen):
        known = [name_of(v) for a in cube.plan.axes if a.column == column for v in cube.levels[a]]
        recoding = spec.recoding(column)
        left_over = [name for name in known if recoding and name not in recoding.names]
        yield _unmatched(f"recode.{column}", value, left_over or known)
    for axis in cube.plan.axes:
        if axis.bins or axis.role is Role.CLUSTER:
            continue
        levels = _with_rows(cube.levels[axis], rows_by_level[axis])
        recoding = spec.recoding(axis.column)
        if recoding is not None:
            yield from _left_over(recoding, levels)
        if axis.role is Role.FEATURE and not spec.feature(axis.column).values:
            unknown = unknown_levels(axis, cube.levels[axis], spec)
            texts = {
                level: rows
                for (level, rows), missing in zip(levels, unknown, strict=True)
                if isinstance(level, str) and not missing and level not in spec.exclude_groups
            }
            if suggested := _suggested(texts):
                yield _recoding(axis.column, suggested, spec)
    yield from _outcome_recodings(_outcome_texts(cube, spec, rows_by_level), spec)


def _left_over(recoding: Recoding, levels: Sequence[tuple[Value, int]]) -> Iterator[Diagnostic]:
    """Note the values that a recoding leaves; warn of those spelt nearly as what it recodes."""
    left = {name_of(v): rows for v, rows in levels if name_of(v) not in recoding.names}
    mapped = {spelling(name) for name in recoding.category_of if name.strip()}
    alike = tuple(name for name in left if spelling(name) in mapped)
    if alike or (left and recoding.names):
        made = Diagnostic.warning if alike else Diagnostic.note
        yield made(
            DiagnosticCode.NOT_RECODED,
            recoding.column,
            values=alike or tuple(left),
            rows=tuple(left[name] for name in alike or left),
            alike=bool(alike),
        )


def _recoding(column: str, suggested: Mapping[str, list[str]], spec: Spec) -> Diagnostic:
    """Suggest to recode the values of a column."""
    return Diagnostic.warning(DiagnosticCode.RECODING, column, line=_line(column, suggested, spec))


def _line(column: str, suggested: Mapping[str, list[str]], spec: Spec) -> str:
    """Return a suggested recoding as written: in one block with the values that are recoded."""
    if recoding := spec.recoding(column):
        suggested = _joined(recoding, suggested)
    return write_recodings({column: suggested})[0]


def _outcome_recodings(texts: Sequence[_TextValue], spec: Spec) -> Iterator[Diagnostic]:
    """Suggest recodings of labels and predictions of which two spellings are two outcomes."""
    rows: dict[str, int] = {}
    for each in texts:
        rows[each.text] = rows.get(each.text, 0) + (each.rows or 0)
    columns: dict[str, dict[str, list[str]]] = {}
    for best, values in _suggested(rows).items():
        alike = [each for each in texts if each.text in values]
        if best == UNKNOWN or len({each.meaning for each in alike}) == 1:
            continue
        # what is stated as favourable stays the name, so that the question need not change
        stated = [each.text for each in alike if each.meaning is True]
        name = stated[0] if stated else best
        for column in dict.fromkeys(each.column for each in alike):
            held = [value for value in values if (column, value) in {e[:2] for e in alike}]
            if held != [name]:
                columns.setdefault(column, {})[name] = held
    for column, suggested in columns.items():
        yield _recoding(column, suggested, spec)


_SEPARATORS = re.compile(
    r"(?<=[^\W\d_])\s*-\s*(?=[^\W\d_])|(?<!\d)[\s_/,.;:&'\"()]+|[\s_/,.;:&'\"()]+(?!\d)"
    r"|\b(?:or|and)\b",
    re.IGNORECASE,
)
"""What spellings differ in: not signs, or what stands between digits ("<40" and ">40", "A+")."""
_MOST_SPELLED = 200
"""Values of a column up to which spellings are compared: names of places or people are not."""


def _suggested(rows: Mapping[str, int]) -> dict[str, list[str]]:
    """Return values that may be one category, by the best spelling, and unknown ones.

    The best is the most frequent one in mixed case; single letters come last. Spellings differ in
    case, blanks, separators, "or" and "and" alone, or one is the first letter of the other and of
    no third.

    >>> _suggested({"Male": 9, "M": 3, "male ": 2, "F": 1, "Decline to answer": 4})
    {'Male': ['Male', 'male ', 'M'], 'unknown': ['Decline to answer']}
    >>> _suggested({"asian": 9, "Asian": 8, "ASIAN ": 9})
    {'Asian': ['Asian', 'ASIAN ', 'asian']}
    >>> _suggested({"<=50K": 9, ">50K": 3, "A+": 2, "A-": 2, "1.5": 1, "15": 1, "18-25": 1})
    {}
    """
    if len(rows) > _MOST_SPELLED:
        return {}
    unknown = [value for value in rows if means_missing(value)]
    alike: dict[str, list[str]] = {}
    for value in rows:
        if value not in unknown:
            alike.setdefault(_without_separators(value), []).append(value)
    for letter in [key for key in alike if len(key) == 1]:
        whole = [key for key in alike if len(key) > 1 and key.startswith(letter)]
        if len(whole) == 1:
            alike[whole[0]] += alike.pop(letter)
    found = {}
    for values in alike.values():
        if len(values) > 1:
            by_rows = sorted(values, key=lambda v: (len(v) == 1, _is_of_one_case(v), -rows[v], v))
            found[by_rows[0].strip()] = by_rows
    if not found:
        return {}  # `_missing_markers` reports unknown values, one by one
    return found | ({UNKNOWN: unknown} if unknown else {})


def _without_separators(value: str) -> str:
    return spelling(_SEPARATORS.sub(" ", value))


def _is_of_one_case(value: str) -> bool:
    return value in (value.lower(), value.upper())


def _joined(recoding: Recoding, more: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Return the categories of a recoding with further values."""
    found = {name: list(map(name_of, values)) for name, values in recoding.categories}
    for name, values in more.items():
        into = next((v for v in values if v in found), name)
        held = found.setdefault(into, [])
        held += [value for value in values if value not in held]
    return found


class _TextValue(NamedTuple):
    """A text of a column, its number of rows if known, and the group or outcome that it means."""

    column: str
    text: str
    rows: int | None
    meaning: Hashable


def _with_rows(levels: Sequence[Value], rows: Sums) -> list[tuple[Value, int]]:
    """Return the levels of an axis, each with its rows; the last ``rows`` are of none."""
    return [(level, int(n)) for level, n in zip(levels, rows[:-1].tolist(), strict=True)]


def _value_set(level: str, sets: Sequence[Sequence[Value]]) -> Hashable:
    """Return the group of a level: the position of its value set, or itself without value sets."""
    if not sets:
        return level
    return next(
        (i for i, values in enumerate(sets) if any(matches(v, level) for v in values)), None
    )


def _outcome(level: str, spec: Spec) -> Hashable:
    """Return whether a level is favourable, or its class where none is stated."""
    if isinstance(spec.positive, tuple) and spec.positive:
        return any(matches(value, level) for value in spec.positive)
    return next((value for value in (0, 1) if matches(value, level)), level)  # "True", "true"


def _alike(texts: Iterable[_TextValue], feature: str | None = None) -> Iterator[Diagnostic]:
    """Warn once for each set of similar texts with different meanings."""
    alike: dict[str, list[_TextValue]] = {}
    for each in texts:
        alike.setdefault(spelling(each.text), []).append(each)
    for several in alike.values():
        if len({each.meaning for each in several}) > 1:
            yield Diagnostic.warning(
                DiagnosticCode.SAME_NAMES,
                feature,
                values=tuple(each.text for each in several),
                rows=tuple(each.rows for each in several if each.rows is not None),
                columns=tuple(each.column for each in several),
            )


def one_group(counts: GroupCounts, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of one group that has nothing to be compared with: no others, or itself as reference."""
    if len(counts.groups) != 1 or not counts.feature_id.columns:
        return
    chosen = spec.reference in (ReferenceRule.LARGEST, ReferenceRule.BEST)
    itself = counts.has_others and (chosen or counts.named_reference is not None)
    if itself or not counts.has_others:
        yield Diagnostic.warning(
            DiagnosticCode.ONE_GROUP, counts.feature,
            group=counts.groups[0], **({"itself": True} if itself else {}),
        )  # fmt: skip


def weightless_groups(counts: GroupCounts) -> Iterator[Diagnostic]:
    """Warn of groups whose rows all have a weight of 0: nothing is estimated of them."""
    if not counts.weighted:
        return
    groups = len(counts.groups)
    rows, weights = (
        counts.counts[name][:groups, 0].reshape(groups, -1).sum(axis=1) for name in ("rows", "w")
    )
    none = np.flatnonzero((rows > 0) & (weights == 0))
    if len(none):
        yield Diagnostic.warning(
            DiagnosticCode.WEIGHTLESS_GROUPS,
            counts.feature,
            groups=tuple(counts.groups[i] for i in none),
            rows=int(rows[none].sum()),
        )


_OTHER_UNIT = 10.0
"""The ratio of means from which one of them may be in another unit: per cent, or a month's."""


def unlike_amounts(counts: GroupCounts, spec: Spec) -> Iterator[Diagnostic]:
    """Warn where numbers of one large group are on average many times those of another."""
    large = np.flatnonzero(large_groups(counts, spec))
    if spec.task is not Task.REGRESSION or len(large) < 2:
        return
    for name, column in (("y", spec.label), ("p", spec.prediction)):
        if column is None or name not in counts.counts:
            continue
        n, total = (
            counts.counts[each][large, 0].reshape(len(large), -1).sum(axis=1)
            for each in ("n", name)
        )
        means = quotient(total, n)
        if means.min() > 0 and means.max() >= _OTHER_UNIT * means.min():
            low, high = large[means.argmin()], large[means.argmax()]
            yield Diagnostic.warning(
                DiagnosticCode.UNLIKE_AMOUNTS,
                counts.feature,
                column=column, times=float(means.max() / means.min()),
                most=counts.groups[high], least=counts.groups[low],
            )  # fmt: skip


def group_texts(features: Iterable[GroupCounts]) -> dict[FeatureId, set[str]]:
    """Return what a user may write for the groups of every feature."""
    return {
        counts.feature_id: {
            text
            for name, group in zip(counts.groups, counts.group_ids, strict=True)
            for text in texts_of(name, group)
        }
        for counts in features
    }


def unmatched_groups(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of groups and unknown values in the question that the data need not have."""
    groups: Mapping[FeatureId, Collection[str]] = {}
    if spec.population or spec.words.groups:  # excluded ones among them
        groups = group_texts(count_groups(cube, replace(spec, exclude_groups=())))
    groups = _with_estimated(spec, groups)
    axes = [a for a in cube.plan.axes if a.role is Role.FEATURE and not a.cuts]
    levels = [level for axis in axes for level in cube.levels[axis]]
    for i, value in enumerate(spec.unknown):
        if not any(matches(value, level) for level in levels):
            yield _unmatched(f"unknown[{i}]", name_of(value), map(name_of, levels))
    for column, shares in spec.population:
        for name in (name_of(value) for value, _ in shares):
            written = groups[FeatureId((column,))]
            if name not in written:
                yield _unmatched(f"population.{column}", name, written)
    for feature, words in spec.words.groups.items():
        written = groups[spec.audited[feature]]
        for name in words if not isinstance(words, str) else ():
            if name not in written:
                yield _unmatched(f"words.groups.{feature}", name, written)


def unmatched_rules(
    spec: Spec, groups: Mapping[FeatureId, Collection[str]]
) -> Iterator[Diagnostic]:
    """Warn of the groups of rules that the data do not have: such a rule is not evaluated.

    A rule that names features has its groups in each of them.
    """
    groups = _with_estimated(spec, groups)
    every = {name for names in groups.values() for name in names}
    for i, rule in enumerate(spec.rules):
        names_in_scope = [
            set(groups[feature])
            for name, feature in spec.audited.items()
            if is_named(rule.features, name, feature)
        ] or [every]
        for j, name in enumerate(rule.groups):
            for names in names_in_scope:
                if name not in names:
                    yield _unmatched(f"rules[{i}].groups[{j}]", name, names)


def _with_estimated(
    spec: Spec, groups: Mapping[FeatureId, Collection[str]]
) -> dict[FeatureId, Collection[str]]:
    """Return what may be written for groups, those known by probabilities alone among them."""
    return {**groups, **{FeatureId((each.name,)): each.groups for each in spec.probabilities}}


def limits_outside_range(spec: Spec) -> Iterator[Diagnostic]:
    """Warn of rules that no value of the metric meets: 80 instead of 0.8.

    Those that every value meets are refused where they are read.
    """
    for i, rule in spec.limits:
        row = rule.own or rule.definition or spec.catalogue.rate(rule.metric)
        low, high = row.range
        if rule.low > high or rule.high < low:
            yield Diagnostic.warning(
                DiagnosticCode.LIMITS_OUTSIDE_RANGE,
                path=f"rules[{i}]",
                metric=rule.metric,
                low=low,
                high=high,
            )


def ratios_of_signed_amounts(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of ratios of means of which some values are negative: the zero of the scale decides."""
    judged = [rule.definition for _, rule in spec.limits if rule.definition is not None]
    averaged, ruled = (
        {
            metric.of.of
            for metric in asked
            if isinstance(metric, Contrast) and metric.by == "ratio" and isinstance(metric.of, Mean)
        }
        for asked in ([*spec.catalogue.expand(spec.metrics), *judged], judged)
    )
    terms = (
        (Role.LABEL, RegressionTerm.LABEL, "y"), (Role.PREDICTION, RegressionTerm.PREDICTION, "p"),
    )  # fmt: skip
    for role, term, total in terms:
        axis = cube.plan.axis(role)
        if axis is None or term not in averaged or cube.min_cell is not None:
            continue
        table = cube.marginal([axis])
        if total not in table.sums:
            continue
        cases, held = table.sums.get("n", table.sums["rows"]), table.codes[:, 0] >= 0
        below = held & (table.sums[total] < 0)  # numbers are counted apart above 0, and not above
        if below.any():
            made = Diagnostic.warning if term in ruled else Diagnostic.note
            yield made(
                DiagnosticCode.SIGNED_RATIO,
                column=axis.column,
                share=float(cases[below].sum() / cases[held].sum()),
            )


def _unmatched(path: str, name: str, known: Iterable[str]) -> Diagnostic:
    names = sorted(known)
    near, held = closest(name, names), listing(names)
    return Diagnostic.warning(
        DiagnosticCode.UNMATCHED, path=path, name=name, nearest=near, held=held
    )


_OF_ALL_OUTCOMES = (DifferentialFairness, Distance, ScoreDistance)
"""Metrics in which every outcome counts alike, as consistency does."""
_COUNTS = np.array([[11.0, 7.0, 5.0, 3.0]])
"""TP, FP, FN and TN; reversed, they are those with the other outcome as the positive one."""


def depends_on_positive(row: Metric | Statistic) -> bool:
    """Return whether a metric or rate of two outcomes is another one if the other is positive.

    Examples
    --------
    >>> from fairgauge.catalogue.lookup import find_rate
    >>> depends_on_positive(find_rate("selection_rate")), depends_on_positive(find_rate("accuracy"))
    (True, False)
    """
    if Task.BINARY not in row.tasks or not row.needs & {"label", "prediction"}:
        return False
    if isinstance(row, Metric):
        alike = isinstance(row, _OF_ALL_OUTCOMES) or row.name == "consistency"
        return any(map(depends_on_positive, row.statistics)) if row.statistics else not alike
    if "score" in row.needs:
        return True
    sides = (
        ConfusionCounts(size=each.sum(axis=-1), cells={row.needs: each})
        for each in (_COUNTS, _COUNTS[:, ::-1])
    )
    one, other = (row.value(side, Profile.DOCUMENTED) for side in sides)
    return not np.allclose(one, other)
