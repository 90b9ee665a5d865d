"""Checks of groups: too many, too few, of few people, of no weight, or in another unit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from fairgauge.cube.cube import Cube, levels_with_cases
from fairgauge.cube.levels import MANY_LEVELS, MOST_READABLE, quartiles
from fairgauge.enums import DiagnosticCode, ReferenceRule, Role, Task
from fairgauge.question.presets import preset
from fairgauge.question.recoding import has_categories
from fairgauge.question.specification import Spec
from fairgauge.reasons import FEWEST_ROWS
from fairgauge.resolve.group_counts import GroupCounts
from fairgauge.resolve.references import large_groups
from fairgauge.results.estimates import Group
from fairgauge.results.scopes import OVERALL, Diagnostic
from fairgauge.stats.arrays import quotient
from fairgauge.values import name_of

FEW_PUBLISHED = 10
"""The rows of a group from which its rate shows nothing about single people."""
_MANY_SINGLE = 20
"""Groups of one row, from which a feature looks like an identifier."""
OTHER_UNIT = 10.0
"""The ratio of means from which one of them may be in another unit: per cent, or a month's."""


def single_row_groups(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of features with many groups, most of one row, as identifiers have."""
    axes = {axis.column: axis for axis in cube.plan.axes if axis.role is Role.FEATURE}
    for name, feature in spec.recorded.items():
        crossed = [axes[column] for column in feature.columns]
        if len(crossed) == 1:
            [axis] = crossed
            if quartiles(cube.levels[axis]) and not has_categories(spec.recoding(axis.column)):
                continue
            of_levels = cube.cases_by_level[axis][:-1]
            rows = of_levels[of_levels > 0]
        else:
            table = cube.marginal(crossed)
            cases = table.sums[cube.plan.cases]
            rows = cases[(table.codes >= 0).all(axis=1) & (cases > 0)]
        single = int((rows == 1).sum())
        if single >= _MANY_SINGLE and single > len(rows) / 2:
            yield Diagnostic.warning(
                DiagnosticCode.SINGLE_ROW_GROUPS, name, groups=len(rows), single=single, **spec.unit
            )


def numeric_groups(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of features with very many numbers, or many of few rows, that are not cut."""
    for feature in spec.sensitive:
        axis = cube.plan.axis(Role.FEATURE, feature.column)
        assert axis is not None
        if axis.bins or feature.values or has_categories(spec.recoding(feature.column)):
            continue
        levels = [each for each in levels_with_cases(cube, axis) if each[1]]
        small = sum(rows < FEWEST_ROWS for _, rows in levels)
        cuts = quartiles([value for value, _ in levels], [rows for _, rows in levels])
        sparse = len(levels) >= MANY_LEVELS and small > len(levels) / 2
        if cuts and (sparse or len(levels) > MOST_READABLE):
            yield Diagnostic.warning(
                DiagnosticCode.NUMERIC_GROUPS,
                feature.column,
                groups=len(levels),
                small=small,
                minimum=FEWEST_ROWS,
                cuts=tuple(map(name_of, cuts)),
                **spec.unit,
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
    every = "cases" if "cases" in counts.counts else "rows"
    rows, weights = (counts.counts[name][:-1, 0].sum(axis=(1, 2)) for name in (every, "w"))
    none = np.flatnonzero((rows > 0) & (weights == 0))
    if len(none):
        yield Diagnostic.warning(
            DiagnosticCode.WEIGHTLESS_GROUPS,
            counts.feature,
            groups=tuple(counts.groups[i] for i in none),
            rows=int(rows[none].sum()),
        )


def unlike_amounts(counts: GroupCounts, spec: Spec) -> Iterator[Diagnostic]:
    """Warn where numbers of one large group are on average many times those of another."""
    large = np.flatnonzero(large_groups(counts, spec))
    if spec.task is not Task.REGRESSION or len(large) < 2:
        return
    for name, column in (("y", spec.label), ("p", spec.prediction)):
        if column is None or name not in counts.counts:
            continue
        n, total = (counts.counts[each][large, 0].sum(axis=(1, 2)) for each in ("n", name))
        means = quotient(total, n) + counts.centre
        if means.min() > 0 and means.max() >= OTHER_UNIT * means.min():
            low, high = large[means.argmin()], large[means.argmax()]
            yield Diagnostic.warning(
                DiagnosticCode.UNLIKE_AMOUNTS,
                counts.feature,
                column=column, times=float(means.max() / means.min()),
                most=counts.groups[high], least=counts.groups[low],
            )  # fmt: skip


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
    people = {
        (each.feature, name): len(np.unique(each.clusters.cluster[each.clusters.group == i]))
        for each in features
        if spec.person and each.clusters is not None
        for i, name in enumerate(each.groups)
    }
    published = "mean_label" if of_amounts else "selection_rate"
    few = [
        each
        for each in groups
        if each.reference_kind is None
        and (each.scope == OVERALL or of_amounts)
        and (rate := each.rates.get(published))
        and rate.denominator
        and people.get((each.feature, each.group), rate.denominator) < FEW_PUBLISHED
    ]
    more: dict[str, Any] = {"unit": "people"} if spec.person else {}
    if of_amounts:
        more["strata"] = tuple(str(each.scope.stratum or "") for each in few)
    if few:
        yield Diagnostic.warning(
            DiagnosticCode.FEW_PUBLISHED,
            groups=tuple(str(each.group) for each in few),
            features=tuple(each.feature for each in few),
            fewer=FEW_PUBLISHED,
            **more,
        )
