"""Checks of groups and strata that are missing in rows: oftener with one outcome than another."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from fairgauge.cube.cube import Cube, Sums
from fairgauge.cube.plan import MANY_LEVELS, OUTCOMES, Axis
from fairgauge.cube.views import axes_of, rows_by, with_one_stratum
from fairgauge.enums import DiagnosticCode, Favourable, Observation, Role, Uncounted
from fairgauge.question import category_words as words
from fairgauge.question.conditions import RowCondition
from fairgauge.question.recoding import UNKNOWN
from fairgauge.question.specification import Spec
from fairgauge.reasons import FEWEST_ROWS, Parameter
from fairgauge.resolve.group_counts import unknown_levels
from fairgauge.results.scopes import Diagnostic
from fairgauge.stats.arrays import Mask
from fairgauge.stats.sampling import largest_design_effect
from fairgauge.stats.significance import homogeneity
from fairgauge.values import name_of

# what conditions leave of a group beside what they leave out, where that is nearly all
_HARDLY = 0.1
_MARGIN, HARDLY_CHANCE, _MANY_MISSING = 0.02, 1e-3, 0.05
"""How far apart shares are, the p-value of a table's least, and which share is many."""


def many_strata(cube: Cube, spec: Spec, crossed: Cube | None = None) -> Iterator[Diagnostic]:
    """Warn of many strata of few rows, which often lack one side of a comparison.

    ``crossed`` are the counts by the strata that are asked for, where the cube may hold others.
    """
    if not spec.strata:
        return
    crossed = crossed or with_one_stratum(cube)
    axis = next(a for a in crossed.plan.axes if a.role is Role.STRATUM)
    rows = crossed.cases_by_level[axis][:-1]
    rows = rows[rows > 0]
    few = rows < FEWEST_ROWS
    if len(rows) >= MANY_LEVELS and rows[few].sum() > rows.sum() / 2:
        yield Diagnostic.warning(
            DiagnosticCode.MANY_STRATA, strata=len(rows), minimum=FEWEST_ROWS,
            share=float(rows[few].sum() / rows.sum()), **spec.unit,
        )  # fmt: skip


def units_without_rows(spec: Spec) -> Iterator[Diagnostic]:
    """Warn of conditions on the rows of a sample, whose design needs all of its units."""
    if spec.where and spec.design and spec.cluster and not spec.replicate_weights:
        yield Diagnostic.warning(DiagnosticCode.UNITS_WITHOUT_ROWS)


def missing_values(cube: Cube, spec: Spec, strata: Collection[str]) -> Iterator[Diagnostic]:
    """Warn of groups and strata that are missing more often with one outcome than with another.

    Of strata, which no other note counts, also where many rows lack them, or of one group more.
    """
    recorded = () if spec.groups_missing else spec.recorded.values()
    features = {column for feature in recorded for column in feature.columns}
    axes = axes_of(cube, {*strata, *features})
    for axis in axes:
        # the last are rows without a value
        absent = np.append(unknown_levels(axis, cube.levels[axis], spec), True)
        cases = cube.cases_by_level[axis]
        rows, total = int(cases[absent].sum()), int(cases.sum())
        if not rows:
            continue
        apart, by_group = (
            _largest_gap_of_shares(cube, axis, absent, roles, HARDLY_CHANCE / len(axes))
            for roles in (OUTCOMES, (Role.FEATURE,))
        )
        if axis.column not in strata and apart:
            code = DiagnosticCode.UNEQUALLY_MISSING
            yield Diagnostic.warning(code, axis.column, **apart, **spec.unit)
        many = apart or by_group or rows >= max(1, _MANY_MISSING * total)
        if axis.column in strata and many:
            apart |= {f"group_{name}": value for name, value in by_group.items()}
            facts = {"column": axis.column, "rows": rows, "total": total, **apart}
            yield Diagnostic.warning(DiagnosticCode.MISSING_STRATA, **facts, **spec.unit)


def left_out_groups(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """State the rows that conditions leave out, and warn of groups of which they leave hardly any.

    A condition on the column of the groups states itself that they are not compared. Warn too of
    values that differ in spelling alone from one that a condition names, or may be none.
    """
    none_met, undecided = cube.seen(Observation.NOT_MET), cube.seen(Observation.UNDECIDED)
    total = cube.read + sum(each.cases for each in (*none_met, *undecided))
    for each in (*cube.seen(Observation.ALIKE), *cube.seen(Observation.DOUBTFUL)):
        column, value = each.column, str(each.value)
        facts: dict[str, Parameter] = {"condition": value, "rows": each.rows, "total": total}
        if column:
            condition = f"{column} = {value}".replace("= >", "> ")  # of numbers that are no code
            facts |= {"condition": condition, "value": value,
                      "line": spec.recoding_line(column, {UNKNOWN: [value]})}  # fmt: skip
        named = (e.column for e in spec.where if value.startswith(f"{e.column} = "))
        facts["column"] = column or next(named, None)
        yield Diagnostic.warning(DiagnosticCode.ALIKE_CONDITION, **facts)
    if none_met:
        yield Diagnostic.note(DiagnosticCode.ROWS_LEFT_OUT, rows=sum(e.rows for e in none_met))
    for axis in (each for each in cube.plan.axes if each.role is Role.FEATURE):
        (left, held), asked = _left_and_kept(cube, axis), spec.feature(axis.column)
        unnamed = {*spec.exclude_groups, *map(name_of, spec.unknown)}
        if asked.values:
            unnamed |= {*left} - {name_of(value) for values in asked.values for value in values}
        unnamed |= {value for value in left if words.is_total(value, left)}
        left = {value: cases for value, cases in left.items() if value not in unnamed}
        gone = {value: cases for value, cases in left.items() if not held.get(value)}
        own = any(each.column == axis.column for each in spec.where)
        kept, out = sum(held.values()), sum(left.values())
        hardly = {
            value: cases
            for value, cases in left.items()
            if not own and value not in gone and cases >= FEWEST_ROWS
            if held[value] <= _HARDLY * cases
            if kept - held[value] >= out - cases
        }
        for groups, why in ((gone, "condition"), (hardly, "hardly")):
            if groups:
                yield (Diagnostic.note if own else Diagnostic.warning)(
                    DiagnosticCode.GROUPS_LEFT_OUT, axis.column,
                    groups=tuple(groups), rows=int(sum(groups.values())), total=total, why=why,
                    **spec.unit,
                )  # fmt: skip
    for column, refusals in _left_out_refusals(cube, spec):
        yield Diagnostic.warning(
            DiagnosticCode.GROUPS_LEFT_OUT, column, groups=tuple(refusals),
            rows=sum(refusals.values()), total=total, why="outcome", **spec.unit,
        )  # fmt: skip


def _left_and_kept(cube: Cube, axis: Axis) -> tuple[dict[str, int], dict[str, int]]:
    # the cases of each value of a column that conditions leave out, and that they keep
    seen = cube.seen(Observation.LEFT_OUT, axis.column)
    left = {str(e.value): e.cases for e in seen if e.role is axis.role and e.value is not None}
    cases = cube.cases_by_level[axis][:-1].tolist()
    return left, dict(zip(axis.names(cube.levels[axis]), cases, strict=True))


def _left_out_refusals(cube: Cube, spec: Spec) -> Iterator[tuple[str, dict[str, int]]]:
    # by a condition on a value that refusals lack, where hardly any other outcome does
    if not any(c == RowCondition(c.column, (None,), negated=True) for c in spec.where):
        return
    conditions = {each.column for each in spec.where}
    for axis in cube.plan.outcomes:
        if axis.bins or axis.column in conditions:
            continue
        left, kept = _left_and_kept(cube, axis)
        approved = {*map(name_of, spec.positive_of(axis.column) or (1,))}
        if spec.favourable is Favourable.NEGATIVE:
            approved = {*left, *kept} - approved
        gone = {value: cases for value, cases in left.items() if value not in approved}
        of_left, of_kept = (
            sum(n for value, n in each.items() if value in approved) / max(1, sum(each.values()))
            for each in (left, kept)
        )
        surely = (1 - of_kept) ** sum(left.values()) < HARDLY_CHANCE  # that any would be approved
        if gone and surely and of_left < _HARDLY * of_kept:
            yield axis.column, gone


def copied_rows(cube: Cube) -> Iterator[Diagnostic]:
    """Warn where rows are probably copies of others, as in a table that was written twice."""
    if cube.copies:
        yield Diagnostic.warning(DiagnosticCode.DOUBLED_ROWS, None, **dict(cube.copies))


def repeated_people(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of columns by which several rows are of one person, unless people are stated."""
    for each in () if spec.person or spec.cluster else cube.seen(Observation.REPEATED):
        yield Diagnostic.warning(
            DiagnosticCode.ROWS_THAT_REPEAT_PEOPLE, column=each.column, distinct=each.rows,
            rows=each.cases - each.rows, total=each.cases, score=spec.score is not None,
        )  # fmt: skip


def _largest_gap_of_shares(
    cube: Cube, axis: Axis, absent: Mask, roles: Sequence[Role], level: float
) -> dict[str, Parameter]:
    # of those that differ by a margin, and at a ``level`` of the chi-square test
    found: dict[str, Parameter] = {}
    largest = 0.0
    for column, names, (lacking,), every in rows_by(cube, axis, [absent], roles):
        share, p = lacking / every, p_of_shares(cube, lacking, every)
        least, most = int(np.argmin(share)), int(np.argmax(share))
        gap = float(share[most] - share[least])
        if gap >= _MARGIN and gap > largest and p < level:
            largest, found = gap, {"outcome": column, "p": p}
            for side, at in (("most", most), ("least", least)):
                found |= {side: names[at], f"{side}_share": float(share[at])}
    return found


def p_of_shares(cube: Cube, having: Sums, every: Sums) -> float:
    """Return the p-value of the test of equal shares.

    Rows of one cluster are alike: they count as so many as there are clusters, if unequal.
    """
    cluster, alike = cube.plan.axis(Role.CLUSTER), 1.0
    if cluster is not None:
        of_cluster = cube.marginal([cluster])
        alike = largest_design_effect(of_cluster.cases[of_cluster.codes[:, 0] >= 0])
    return float(homogeneity(having / alike, every / alike)[1])


def doubtful_identifiers(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of people or clusters of one row each, in two spellings, and of those of no one.

    Counted by people or clusters of one row, rows count as without them.
    """
    column, role = spec.person or spec.cluster, "person" if spec.person else "cluster"
    of: dict[str, Parameter] = {"column": column, "role": role}
    axis = cube.plan.axis(Role.CLUSTER)
    rows = cube.cases_by_level[axis][:-1] if axis is not None else np.zeros(0)
    if spec.of_people:
        single = cube.rows > 1 and not cube.excluded.get(Uncounted.SAME_PERSON)
    else:
        single = len(rows) > 1 and rows.max() == 1
    sampled = bool(spec.count or spec.design)  # may have units of one row
    if single and not sampled and cube.min_cell is None:
        others = tuple(each.column for each in cube.seen(Observation.REPEATED))
        # people may have a row each, unless another column shows that they have several
        made = Diagnostic.warning if role == "cluster" or others else Diagnostic.note
        yield made(DiagnosticCode.NEVER_REPEATS, **of, others=others)
    for value, n in ((e.value, e.rows) for e in cube.seen(Observation.PLACEHOLDER)):
        line = spec.recoding_line(str(column), {UNKNOWN: ["VALUE" if value == "" else value]})
        named = {} if value == "" else {"value": name_of(value)}
        code = DiagnosticCode.PLACEHOLDER_IDENTIFIER
        yield Diagnostic.warning(code, rows=n, line=line, **of, **named)
    for n in (each.rows for each in cube.seen(Observation.SPELLINGS)):
        yield Diagnostic.warning(DiagnosticCode.ALIKE_IDENTIFIERS, identifiers=n, **of)
