"""Counts, formulas and critical values for a page in which every view is computed again.

Which outcome is positive, which rows are in which group and what the first view compares with are
resolved here. The page adds up cells and applies closed forms, which are those of audits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from math import prod
from typing import Any, TypeAlias, cast

import numpy as np

from fairgauge.catalogue.across import Contrasts, contrast_of
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.lookup import coefficients
from fairgauge.catalogue.statistics import Rate, tested_as
from fairgauge.cube.cube import Cube
from fairgauge.cube.parts import RANGE
from fairgauge.cube.plan import Axis
from fairgauge.cube.views import asked_of, candidate_axes, view_of_candidate
from fairgauge.enums import Closed, Level, Method, Profile, ReferenceRule, Role, Task
from fairgauge.errors import CubeError, Problem, SpecError, problems_where, quote, refuse
from fairgauge.identity import GroupId, group_names
from fairgauge.inference.missing_values import missing_groups, missing_outcomes, uncounted_rows
from fairgauge.measure.measure import reversed_outcomes_of
from fairgauge.measure.slices import Slice
from fairgauge.question.conditions import write_conditions
from fairgauge.question.specification import Spec, refuse_beyond_audits
from fairgauge.reasons import FEWEST_EXPECTED, FEWEST_ROWS
from fairgauge.resolve.group_counts import GroupCounts, Grouping, group_columns
from fairgauge.resolve.references import CountsBySide, resolve_references
from fairgauge.resolve.resolution import Resolution, resolve
from fairgauge.results.scopes import Diagnostic
from fairgauge.start.records import replace
from fairgauge.stats.arrays import Index
from fairgauge.values import Json

FEWEST_PERSONS = 10
"""A cell of fewer persons may show what one of them is."""
MOST_CELLS = 100_000
_STEPS = 100
_MOST_CHECKED = 200
_Cuts: TypeAlias = Sequence[float | None]
_WAYS: tuple[Contrasts, ...] = ("difference", "ratio")
_MANAGED = (
    "threshold", "sensitive", "intersections", "metrics", "reference", "where", "rules",
    "multiplicity", "method", "features", "document", "margins", "candidate", "preset",
    "replicates", "inconclusive", "max_groups", "strata",
)  # fmt: skip
"""Options that the page states by itself, or that change nothing of what it shows."""


def explored(
    cube: Cube, spec: Spec, *, row_notes: Sequence[Diagnostic] = (), exact: bool = False
) -> dict[str, object]:
    """Return what a page needs to compute every view of the counts, as plain values.

    ``row_notes`` is what an audit states of the rows, as counts alone do not show it; ``exact``
    whether cells of fewer than ten persons may be in the page, which people who have it can read.
    """
    refuse_beyond_audits(spec, "explore")
    for option, what in ((spec.weight, "weighted"), (spec.cluster, "clustered")):
        if option:
            raise CubeError(
                f"the rows are {what} ({quote(option)}), and intervals of {what} rows are not "
                "computed in a page; audit them (fairgauge audit), or count without this column"
            )
    if len(cube.parts) > 1:
        raise CubeError(
            "the counts are of several sites, each of which rounded its own, and their intervals "
            "are not computed in a page; audit them (fairgauge audit)"
        )
    if spec.profile is not Profile.DOCUMENTED:
        raise SpecError(Problem("profile", "the page computes the documented profile alone"))
    if spec.method is not Method.DEFAULT:
        raise SpecError(Problem("method", "the page computes the default intervals alone"))
    models = [(cube, resolve(cube, replace(spec, candidate=(), margins=())))]
    for axis in candidate_axes(cube):
        counts = view_of_candidate(cube, axis)
        models.append((counts, resolve(counts, asked_of(spec, axis))))
    resolution = models[0][1]
    spec = resolution.spec
    crossed = [f.crossing for f in resolution.features if len(f.crossing.parts) > 1]
    problems = problems_where(
        (resolution.task is not Task.BINARY, "task",
         "the page is of binary decisions: name the favourable values (--positive VALUE)"),
        (any((each.group_of < 0).any() for each in crossed), "exclude_groups",
         "excludes an intersection; the page can exclude the values of one column alone"),
    )  # fmt: skip
    refuse(problems)
    rates = _rates(resolution)
    groupings = list(group_columns(cube, spec).values())
    thresholds, audited = _thresholds(models[0][0] if len(models) == 1 else None, resolution)
    tables = [
        {"model": i, **table}
        for i, (counts, own) in enumerate(models)
        for table in _tables(counts, own, groupings, thresholds)
    ]
    notes = [
        *row_notes,
        *uncounted_rows(cube, resolution.features, spec),
        *reversed_outcomes_of(resolution),
        *(note for counts in resolution.features for note in missing_outcomes(counts, spec)),
        *(note for counts in resolution.features for note in missing_groups(counts, spec)),
    ]
    warnings = [each for each in notes if each.level is Level.WARNING]
    small = _count_small_cells(tables, groupings, cube, warnings, exact=exact)
    return {
        "digest": cube.digest,
        "rows": cube.rows,
        "turned": resolution.outcomes[0].turned is not None,
        "label": spec.label,
        "decision": spec.decision,
        "models": [_model(own.spec) for _, own in models],
        "scored": spec.prediction is None and spec.score is not None,
        "confidence": spec.confidence,
        "fewest": {"rows": FEWEST_ROWS, "expected": FEWEST_EXPECTED},
        "exact": exact and cube.min_cell is None and small > 0,
        "protected": cube.min_cell,
        "columns": [_column(each, spec) for each in groupings],
        "thresholds": thresholds,
        "audited": audited,
        "tables": tables,
        "rates": rates_data(rates),
        "spec": spec.to_dict(),
        "by": _columns_of(resolution.features[0], groupings),
        "reference": _reference(resolution, groupings, rates),
        "check": [
            [i, *numbers]
            for i, (_, own) in enumerate(models)
            for numbers in islice(_checks(own, groupings, rates), 3 * _MOST_CHECKED)
        ],
        "where": [each.to_text() for each in spec.where],
        "warnings": [
            f"{f'{each.feature}: ' if each.feature else ''}{each.message}." for each in warnings
        ],
    }


def _rates(resolution: Resolution) -> list[Rate]:
    if resolution.spec.score and not resolution.spec.decision:
        message = "give the threshold of the score that the page opens at (--threshold T)"
        raise SpecError(Problem("threshold", message))
    known = {"label"} if resolution.spec.label else set()
    known |= {"prediction"} if resolution.spec.decision else set()
    asked = dict.fromkeys(a.metric.of for a in resolution.metrics if isinstance(a.metric, Contrast))
    fitting = [each for each in asked if isinstance(each, Rate) and each.needs <= known]
    if not fitting:
        message = "none of these is a rate of decisions that the page can compute, such as accuracy"
        raise SpecError(Problem("metrics", message))
    return fitting


def rates_data(rates: Sequence[Rate]) -> list[dict[str, object]]:
    """Return rates as a page computes them: what they count, and what that is among.

    Rates whose comparisons are one test of an audit have the same number of a ``test``.
    """
    tests: dict[object, int] = {}
    return [
        {
            "name": rate.name,
            "title": rate.title,
            "says": rate.says,
            "test": tests.setdefault(tested_as(rate), len(tests)),
            "sums": [coefficients(each, rate.needs) for each in rate.sums],
            "moves": "prediction" in rate.needs,
        }
        for rate in rates
    ]


def _column(grouping: Grouping, spec: Spec) -> dict[str, object]:
    column = grouping.axis.column
    feature = spec.feature(column).to_dict()
    parts = [cast("list[Json]", GroupId.of(part).to_plain()) for part in grouping.groups]
    return {
        "name": column,
        "groups": list(group_names([GroupId.of(part) for part in grouping.groups])),
        "conditions": [text for part in parts for text in write_conditions({column: part[0]})],
        "values": [each.name() for each in grouping.groups],
        "written": column if len(feature) == 1 else feature,
    }


def _thresholds(cube: Cube | None, resolution: Resolution) -> tuple[list[float | None], int]:
    # Of scores in bins these are 99 edges and the audited ones; of decisions there is one, None.
    # Candidates are counted at the audited ones alone: without a cube these are all.
    audited = [outcome.threshold for outcome in resolution.outcomes]
    score = cube.plan.axis(Role.SCORE) if cube else None
    asked = [each for each in audited if each is not None]
    if score is None or resolution.spec.prediction or not asked:
        return list(audited), 0
    edges = {score.edge(k * score.grid // _STEPS) for k in range(1, _STEPS)}
    on_grid = {score.edge(k) for k in range(score.grid + 1)}
    every = sorted({*asked, *(edges if on_grid.issuperset(asked) else ())})
    return list(every), every.index(asked[0])


def _tables(
    cube: Cube, resolution: Resolution, groupings: Sequence[Grouping], thresholds: _Cuts
) -> list[dict[str, Any]]:
    audited, label = [each.threshold for each in resolution.outcomes], cube.plan.axis(Role.LABEL)
    scored = [(Role.SCORE, thresholds)] if len(thresholds) > len(audited) else []
    tables: list[dict[str, Any]] = []
    for role, places in (*scored, (Role.PREDICTION, audited)):
        axis = cube.plan.axis(role)
        at, needed = [thresholds.index(each) for each in places], {a for a in (label, axis) if a}
        counted = {
            tuple(i for i, grouping in enumerate(groupings) if grouping.axis in table.axes)
            for table in cube.tables
            if needed <= set(table.axes)
        }
        wider = [set(each["columns"]) for each in tables]
        for columns in sorted(counted - {()}):
            larger = [*wider, *(set(each) for each in counted if len(each) > len(columns))]
            if not any(each.issuperset(columns) for each in larger):
                tables.append(_table(cube, resolution, groupings, [*columns], axis, places, at))
    return tables


def _table(
    cube: Cube,
    resolution: Resolution,
    groupings: Sequence[Grouping],
    columns: list[int],
    axis: Axis | None,
    thresholds: _Cuts,
    places: list[int],
) -> dict[str, object]:
    # counts by groups of some columns, label and place: how many thresholds a score reaches; of
    # protected counts the least and the greatest ones that agree with them, too
    outcome = resolution.outcomes[0]
    label = cube.plan.axis(Role.LABEL)
    parts = [groupings[i] for i in columns]
    axes = [*(part.axis for part in parts), *(a for a in (label, axis) if a)]
    table = cube.marginal(axes)
    code_of = dict(zip(axes, table.codes.T, strict=True))
    groups = [part.group_of[code_of[part.axis]] for part in parts]
    sizes = [len(part.groups) for part in parts]  # codes after these are of values outside them
    codes = np.stack(
        [np.where(g < 0, n - 1 - g, g) for g, n in zip(groups, sizes, strict=True)], axis=-1
    )
    missing = len(thresholds) + 1
    labels, bins = np.full(len(codes), 2), np.full(len(codes), missing)
    if label:
        labels = np.append(np.where(outcome.labels, 0, 1), 2)[code_of[label]]
    if axis:
        bins = np.append(_reached(axis, resolution, thresholds, cube), missing)[code_of[axis]]
    every, index = np.unique(codes, axis=0, return_inverse=True)
    shape = (len(every), 3, len(places) + 2)
    flat = np.ravel_multi_index((index.ravel(), labels, bins), shape)
    counted = [table.cases, *(table.sums[name] for name in RANGE[:2] if name in table.sums)]
    counts, *ranges = (np.bincount(flat, sums, prod(shape)).astype(np.int64) for sums in counted)
    return {
        "columns": columns, "places": places, "codes": every.ravel().tolist(),
        "counts": counts.tolist(), "ranges": [each.tolist() for each in ranges],
    }  # fmt: skip


def _reached(axis: Axis, resolution: Resolution, thresholds: _Cuts, cube: Cube) -> Index:
    # of a score of the negative value these are the last ones; else the first
    if axis.role is not Role.SCORE:
        masks = np.array([each.predictions for each in resolution.outcomes])
        return np.asarray(masks.sum(axis=0, dtype=np.int64))
    codes = np.arange(axis.bins)
    decisions = cube.plan.axis(Role.PREDICTION)
    closed = decisions is None or decisions.closed is Closed.LEFT
    low, high = axis.bounds or (0.0, 1.0)
    edges = [round((t - low) / (high - low) * axis.grid) for t in thresholds if t is not None]
    above = np.array([codes >= 2 * k + (1 if closed else 2) for k in edges])
    turned = resolution.outcomes[0].turned is not None
    return np.asarray((~above if turned else above).sum(axis=0, dtype=np.int64))


def _count_small_cells(
    tables: Sequence[Mapping[str, Any]], groupings: Sequence[Grouping], cube: Cube,
    warnings: Sequence[Diagnostic], *, exact: bool,
) -> int:  # fmt: skip
    counts: list[int] = [n for each in tables for n in each["counts"] if n]
    stated = (each.get(name) for each in warnings for name in ("rows", "cases", "people", "n"))
    counts += [int(n) for n in stated if isinstance(n, (int, float)) and n > 0]
    if tables[-1]["model"]:  # the difference of two models is of who is in one cell of both
        counts += _crossed_decisions(cube, groupings)
    cells, small = len(counts), sum(n < FEWEST_PERSONS for n in counts)
    if cells > MOST_CELLS:
        widest = max(groupings, key=lambda each: len(each.groups))
        raise CubeError(
            f"the page would hold {cells:,} counts, more than {MOST_CELLS:,}; count without "
            f"{quote(widest.axis.column)}, which has {len(widest.groups):,} groups, or take its "
            "values together (recode)"
        )
    if small and not exact and cube.min_cell is None:
        score = " and without the score" if cube.plan.axis(Role.SCORE) else ""
        of_both = ", those whom models decide differently among them" * bool(tables[-1]["model"])
        raise CubeError(
            f"{small:,} of {cells:,} counts in the page would be of fewer than {FEWEST_PERSONS} "
            f"persons{of_both}, and people who have the file can read them; explore fewer columns"
            f"{score}, protect the counts first (fairgauge protect), or state that they may be in "
            "the file (exact=True, --exact)"
        )
    return int(small)


def _crossed_decisions(cube: Cube, groupings: Sequence[Grouping]) -> list[int]:
    # the cases of each cell of groups, label and the decisions of several models
    roles, found = (Role.LABEL, Role.PREDICTION, Role.CANDIDATE), list[int]()
    for table in (each for each in cube.tables if any(a.role is roles[-1] for a in each.axes)):
        parts = [each for each in groupings if each.axis in table.axes]
        axes = [*(each.axis for each in parts), *(a for a in table.axes if a.role in roles)]
        crossed = cube.marginal(axes)
        codes = crossed.codes.copy()
        for i, part in enumerate(parts):
            codes[:, i] = part.group_of[codes[:, i]]
        _, index = np.unique(codes, axis=0, return_inverse=True)
        found += [n for n in np.bincount(index.ravel(), crossed.cases).astype(int).tolist() if n]
    return found


def _reference(
    resolution: Resolution, groupings: Sequence[Grouping], rates: Sequence[Rate]
) -> str | list[int]:
    # of the first view: what the audit compares with
    feature, spec = resolution.features[0], resolution.spec
    # of protected counts a group that is chosen by its rate has no bounds
    if not feature.groups or (feature.protected and isinstance(spec.reference, ReferenceRule)):
        return "others"
    if spec.reference is ReferenceRule.OVERALL:
        return "overall"
    rate = next((each for each in rates if "prediction" in each.needs), rates[0])
    sides = CountsBySide(feature, resolution.outcomes[0], spec.profile)
    references = resolve_references(feature, sides, contrast_of(rate, "difference"), spec)
    group = references.each[0].group_id
    return "others" if group is None else _codes(group, feature, groupings)


def _codes(group: GroupId, feature: GroupCounts, groupings: Sequence[Grouping]) -> list[int]:
    parts = zip(_columns_of(feature, groupings), group.parts, strict=True)
    return [groupings[at].groups.index(part) for at, part in parts]


def _columns_of(feature: GroupCounts, groupings: Sequence[Grouping]) -> list[int]:
    columns = [each.axis.column for each in groupings]
    return list(map(columns.index, feature.feature_id.columns))


def _checks(
    resolution: Resolution, groupings: Sequence[Grouping], rates: Sequence[Rate]
) -> Iterator[list[object]]:
    spec = replace(resolution.spec, reference=ReferenceRule.OTHERS)
    metrics = [(i, contrast_of(rate, by)) for i, rate in enumerate(rates) for by in _WAYS]
    for feature, (i, metric) in product(resolution.features, metrics):
        by = _columns_of(feature, groupings)
        of_feature = Slice(feature, resolution.outcomes[0], spec)
        for each in islice(of_feature.estimates(metric), _MOST_CHECKED):
            if each.value is None or each.group_id is None or each.stratum is not None:
                continue
            codes = _codes(each.group_id, feature, groupings)
            ends = [each.interval.low, each.interval.high] if each.interval else [None, None]
            numbers = (n if n is None or np.isfinite(n) else str(n) for n in (each.value, *ends))
            yield [by, codes, i, metric.by, *numbers]


def _model(spec: Spec) -> dict[str, object]:
    usual, own = Spec().to_dict(), spec.to_dict()
    stated = {key: own[key] for key in own if key not in _MANAGED and own[key] != usual[key]}
    return {"name": spec.prediction or spec.score or "", "question": stated}
