"""Resolution: what a specification means in the counts, as one immutable value."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from fairgauge import enums
from fairgauge.catalogue.catalogue import RATES
from fairgauge.catalogue.cells import Need
from fairgauge.catalogue.comparisons import Contrast, Metric
from fairgauge.catalogue.lookup import SETS
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.cube.cube import Cube, cases_of_no_weight
from fairgauge.cube.plan import OUTCOMES, WEIGHTS
from fairgauge.enums import DiagnosticCode, Method, Profile, ReferenceRule, Role, Task, Uncounted
from fairgauge.errors import Problem, cells, collecting, quote, refuse, suggest
from fairgauge.identity import texts_of
from fairgauge.question.features import Probabilities
from fairgauge.question.specification import Spec, strata_alone, unmet_need
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.resolve import group_counts
from fairgauge.resolve.group_counts import GroupCounts, count_groups, unknown_levels
from fairgauge.resolve.outcomes import OutcomeMasks, decide_task, outcome_masks
from fairgauge.results.scopes import Diagnostic
from fairgauge.start.records import dataclass, replace
from fairgauge.stats.arrays import Array, Mask
from fairgauge.values import name_of


@dataclass(frozen=True, slots=True)
class AskedMetric:
    """A metric that is asked for, and the reason why it cannot be computed, if there is one."""

    metric: Metric
    obstacle: Reason | None = None


def asked_metrics(cube: Cube, spec: Spec, task: Task) -> list[AskedMetric]:
    """Return the metrics that are asked for, each once; of the standard ones those possible."""
    asked: dict[str, AskedMetric] = {}
    problems, catalogue = [], spec.catalogue
    named = [(f"metrics[{i}]", name) for i, name in enumerate(spec.metrics)]
    if "standard" in spec.metrics and spec.score and not spec.decision and task is Task.BINARY:
        named.append(("metrics", "mean_score.difference"))
    for i, rule in enumerate(spec.rules):
        named += [(f"rules[{i}].metric", rule.own or rule.metric)] if rule.definition else []
    for path, name in named:
        for metric in catalogue.expand([name]):
            obstacle = _obstacle(metric, cube, spec, task)
            if task is Task.REGRESSION and task not in metric.tasks and name not in SETS:
                problems.append(Problem(path, _class_error(metric, "compares classes", spec)))
            of_amounts = metric.tasks == {Task.REGRESSION} and len(metric.needs) == 1
            beside_errors = of_amounts and len(_available(cube)) > 1
            if name != "standard" or (obstacle is None and not beside_errors):
                asked.setdefault(metric.name, AskedMetric(metric, obstacle))
    problems += _rules_of_other_tasks(spec, task)
    refuse(problems)
    return list(asked.values())


def _rules_of_other_tasks(spec: Spec, task: Task) -> Iterator[Problem]:
    # the rules on what is not defined in the task: they could never be evaluated
    for i, rule in enumerate(spec.rules):
        row = rule.row
        if task in row.tasks or (task is Task.REGRESSION and isinstance(row, Metric)):
            continue  # metrics of classes are reported with the named ones
        if task is Task.REGRESSION:
            message = _class_error(row, "is of classes", spec)
        else:
            tasks = ", ".join(each for each in Task if each in row.tasks)
            message = f"{row.name} is not defined in a {task} audit, only in: {tasks}"
        yield Problem(f"rules[{i}].metric", message)


def _class_error(row: Metric | Statistic, what: str, spec: Spec) -> str:
    positive = "state which values are positive (fairgauge.above, --positive '>x')"
    return f"{row.name} {what}, but {quote(spec.label)} is continuous; {positive}"


def asked_rates(
    cube: Cube, spec: Spec, task: Task, asked: Sequence[AskedMetric]
) -> list[Statistic]:
    """Return the rates to compute for every group, of those that the data allow.

    These are the rates that computable metrics are made of, and those that rules name; with
    ``all``, every rate of the catalogue as well.
    """
    compared = (rate for each in asked for rate in each.metric.statistics)
    ruled = (spec.catalogue.rate(rule.metric) for rule in spec.rules if not rule.definition)
    listed = [*dict.fromkeys([*RATES, *[r for r in (*compared, *ruled) if r.own]])]
    if "all" not in spec.metrics:
        computed = [each.metric.statistics for each in asked if each.obstacle is None]
        wanted = {rule.metric for rule in spec.rules} | {r.name for of in computed for r in of}
        listed = [rate for rate in listed if rate.name in wanted]
    available, asking = _available(cube), without_equal_weights(cube, spec)
    allowed = (rate for rate in listed if task in rate.tasks and rate.needs <= available)
    met = [rate for rate in allowed if unmet_need(rate, asking) is None]
    return met if _is_ordered(cube) else [rate for rate in met if not getattr(rate, "power", 0)]


def without_equal_weights(cube: Cube, spec: Spec) -> Spec:
    """Return the question without a weight that all rows have alike: such weights are none.

    Where rows are excluded some of these may have no weight, or one of 0, and single rows are read
    without it.
    """
    if spec.weight is None or cube.excluded or cases_of_no_weight(cube):
        return spec
    sums = cube.tables[0].sums
    n, w, w2 = (float(sums[name].sum()) for name in ("n" if "n" in sums else "rows", "w", "w2"))
    return spec if group_counts.weights_differ(n, w, w2) else replace(spec, weight=None)


def _available(cube: Cube) -> frozenset[Need]:
    needs: tuple[Need, ...] = ("label", "prediction", "score")
    return frozenset(need for need in needs if cube.plan.axis(Role(need)))


def _is_ordered(cube: Cube) -> bool:
    # whether all classes are numbers, which state their order
    return all(isinstance(v, (int, float)) for a in cube.plan.outcomes for v in cube.levels[a])


def _obstacle(metric: Metric, cube: Cube, spec: Spec, task: Task) -> Reason | None:
    if task not in metric.tasks:
        return Reason.of(ReasonCode.WRONG_TASK, task=str(task))
    if any(getattr(each, "power", 0) for each in metric.statistics) and not _is_ordered(cube):
        return Reason.of(ReasonCode.NEEDS_ORDER)
    missing = " and ".join(sorted(metric.needs - _available(cube)))
    if missing:
        return Reason.of(ReasonCode.NEEDS_COLUMNS, columns=missing)
    unmet = unmet_need(metric, without_equal_weights(cube, spec))
    if unmet is None and cube.min_cell is not None:
        return protection_obstacle(metric, spec)
    return unmet


def protection_obstacle(metric: Metric, spec: Spec) -> Reason | None:
    """Return why a metric has no exact bounds under protected counts, None where it has."""
    # Bounds are exact for differences and ratios of rates of groups that share no row, where it is
    # known what is compared: counts that are rounded do not show which group is best or largest.
    bounded = isinstance(metric, Contrast) and isinstance(metric.of, Rate)
    apart = spec.reference is not ReferenceRule.OVERALL and spec.profile is not Profile.CLARIFY
    if not (bounded and apart and metric.scope == "group") or "score" in metric.needs:
        return Reason.of(ReasonCode.PROTECTED)
    if spec.reference in (ReferenceRule.BEST, ReferenceRule.LARGEST):
        column = next((f.column for f in spec.sensitive), "COL")
        chosen = str(spec.reference)
        return Reason.of(ReasonCode.PROTECTED_REFERENCE, reference=chosen, column=column)
    return None


@dataclass(frozen=True, eq=False)
class Resolution:
    """What a specification means in the counts."""

    spec: Spec  # the specification
    task: Task  # what label and prediction are
    # which outcomes are positive, one for each threshold or class
    outcomes: tuple[OutcomeMasks, ...]
    features: tuple[GroupCounts, ...]  # the counts of every sensitive feature and intersection
    # the metrics that are asked for, each with what stands against computing it
    metrics: tuple[AskedMetric, ...]
    # cube, mean_weight: the counts in mean weights, and that mean
    cube: Cube
    mean_weight: float

    @cached_property
    def everyone(self) -> GroupCounts:
        return replace(group_counts.count_everyone(self.cube), mean_weight=self.mean_weight)


def resolve(cube: Cube, spec: Spec) -> Resolution:
    """Resolve what a specification means in the counts; refuse at once all that they lack."""
    problems: list[Problem] = []
    if len(cube.parts) > 1 and spec.method is not Method.DEFAULT:
        message = f"there is no {spec.method} interval of protected counts of several sites"
        problems.append(Problem("method", f"{message}; leave it out"))
    cube, mean_weight = normalise_weights(cube)
    task = decide_task(cube, spec)
    with collecting(problems):
        metrics = asked_metrics(cube, spec, task)
    with collecting(problems):
        outcomes = outcome_masks(cube, spec, task)
    with collecting(problems):
        features = resolve_groups(cube, spec)
    refuse(problems)
    features = [replace(feature, mean_weight=mean_weight) for feature in features]
    return Resolution(spec, task, outcomes, tuple(features), tuple(metrics), cube, mean_weight)


def resolve_groups(cube: Cube, spec: Spec) -> list[GroupCounts]:
    """Resolve groups and named references, which need no label and no prediction."""
    features = count_groups(cube, spec)
    refuse([*absent_exclusions([cube], spec), *strata_alone(spec)])
    return features


def absent_exclusions(cubes: Sequence[Cube], spec: Spec) -> Iterator[Problem]:
    """Yield the groups that are to be excluded and that no feature of any counts has.

    Where data come in parts, such as the periods of a monitor, a part need not have each of them.
    """
    if not spec.exclude_groups:
        return
    texts = {text for cube in cubes for text in _excludable(cube, spec)}
    held = {*texts, *map(name_of, spec.unknown)}  # rows of unknown groups are in none already
    for i, name in enumerate(spec.exclude_groups):
        if name not in held:
            known = cells(sorted(texts))
            message = f"no feature has a group {quote(name)}.{suggest(name, texts)} Groups: {known}"
            yield Problem(f"exclude_groups[{i}]", message)


def held_exclusions(cube: Cube, spec: Spec) -> tuple[str, ...]:
    """Return the groups that are to be excluded and that one part of the data has."""
    texts = _excludable(cube, spec) if spec.exclude_groups else ()
    return tuple(name for name in spec.exclude_groups if name in texts)


def _excludable(cube: Cube, spec: Spec) -> set[str]:
    counted = count_groups(cube, replace(spec, exclude_groups=()))
    named = (pair for each in counted for pair in zip(each.groups, each.group_ids, strict=True))
    known = (pair for pair in named if pair[1].kind is not enums.GroupKind.MISSING)
    estimated = (each.groups for each in spec.probabilities)
    return {text for pair in known for text in texts_of(*pair)}.union(*estimated)


def normalise_weights(cube: Cube) -> tuple[Cube, float]:
    """Return the cube with weights in units of their mean, and that mean: 1 without weights.

    Weights state how much rows count against each other. Their unit must not matter where a number
    of rows enters a formula: in the divisor of a variance, or beside a prior count.
    """
    sums = cube.tables[0].sums
    total = sums["w"].sum() if "w" in sums else 0.0
    if not total > 0:
        return cube, 1.0
    mean = float(total / sums.get("n", sums["rows"]).sum())
    powers = {name: i for i, name in enumerate(WEIGHTS, 1)}
    powers |= {moment.name: moment.power for moment in cube.plan.moments}

    def divided(sums: Mapping[str, Array]) -> dict[str, Array]:
        return {n: of / mean ** powers[n] if n in powers else of for n, of in sums.items()}

    tables = tuple(replace(table, sums=divided(table.sums)) for table in cube.tables)
    return replace(cube, tables=tables), mean


OF_NO_WEIGHT = "weight of 0"
"""Why rows that weigh nothing are excluded."""
NO_CLUSTER = f"missing {Role.CLUSTER}"
"""Why rows are in no confidence interval."""

_NAMES_OF_OTHERS = {*map(str, Role), "count", "weight"}
# the roles of axes that tables of the same outcomes do not share
_OF_GROUPS = {Role.FEATURE, Role.PROXY, Role.KNOWN, Role.CANDIDATE}
_ALL_OUTCOMES = (*OUTCOMES, Role.SCORE)
MANY_UNCLUSTERED = 0.05
"""The share of the rows from which those without a cluster are warned of."""


def missing_group(column: str) -> str:
    """Return the reason that rows lack a group of a sensitive feature."""
    apart = " (sensitive feature)" if column in _NAMES_OF_OTHERS else ""
    return f"missing {column}{apart}"


def excluded_group(column: str) -> str:
    """Return the reason that rows are in a group of a sensitive feature that is excluded."""
    return f"group of {column} that is excluded"


def missing_in_condition(column: str) -> str:
    """Return the reason that nobody knows whether rows meet a condition."""
    return f"missing {column} (where)"


def missing_stratum(column: str, strata: int) -> str:
    """Return the reason that rows are in no number within strata, of so many columns."""
    return f"missing {f'{column} (stratum)' if strata > 1 else Role.STRATUM}"


def unit_excluded(reason: str, unit: str) -> str:
    """Return what is excluded for a reason: rows where nobody knows of how many cases or people."""
    known = reason == Uncounted.NO_WEIGHT and unit != "people"
    return unit if known or reason not in {*Uncounted} else "rows"


def used_rows(
    cube: Cube, spec: Spec, needed: Collection[Role] = _ALL_OUTCOMES
) -> tuple[int, tuple[Diagnostic, ...]]:
    """Count the cases whose needed outcomes are known, and at least one audited feature.

    Features that are counted apart do not show which rows have a group of several of them, nor
    which have none of any: the rows are then those of the feature with most, and a note states it.
    """
    cluster = cube.plan.axis(Role.CLUSTER)
    unclustered = [table for table in cube.tables if cluster not in table.axes]
    joint = max(unclustered, key=lambda table: len(table.axes))
    outcomes = {axis for axis in joint.axes if axis.role not in _OF_GROUPS}
    groups = {axis for axis in cube.plan.axes if axis.role in (Role.FEATURE, Role.PROXY)}
    used, complete, together = 0, 0, False
    for table in unclustered:
        if outcomes != {axis for axis in table.axes if axis.role not in _OF_GROUPS}:
            continue
        in_any = np.zeros(len(table.codes), dtype=bool)
        known = np.ones(len(table.codes), dtype=bool)
        in_group: dict[str, Mask] = {}
        for axis, codes in zip(table.axes, table.codes.T, strict=True):
            absent = np.append(unknown_levels(axis, cube.levels[axis], spec), True)
            if axis.role is Role.FEATURE:
                apart = np.isin([*axis.names(cube.levels[axis]), ""], spec.exclude_groups)
                in_group[axis.column] = ((~absent | spec.uses_rows_without_group) & ~apart)[codes]
            elif axis.role in (Role.PROXY, Role.KNOWN):
                in_any |= ~absent[codes]
            elif axis.role in needed:
                known &= ~absent[codes] | spec.profile.as_smclarify
        in_any |= any(not _unplaced_people(cube, each, spec) for each in spec.probabilities)
        for feature in spec.recorded.values():  # of an intersection, in a group of each column
            if in_group.keys() >= set(feature.columns):
                in_any |= np.all([in_group[column] for column in feature.columns], axis=0)
        used = max(used, int(table.cases[known & in_any].sum()))
        complete = int(table.cases[known].sum())
        together |= groups <= {*table.axes}
    exact = together or used == complete
    return used, () if exact else (Diagnostic.note(DiagnosticCode.USED_AT_LEAST, rows=used),)


def excluded_rows(
    cube: Cube, spec: Spec, needed: Collection[Role] = _ALL_OUTCOMES
) -> dict[str, int]:
    """Count cases excluded, by reason; those without an outcome where it is needed.

    Rows without a count are rows, as nobody knows for how many cases they stand.
    """
    reasons = {str(reason): rows for reason, rows in cube.excluded.items()}
    reasons[OF_NO_WEIGHT] = cases_of_no_weight(cube)
    if not spec.of_people:  # who are counted, and not rows
        reasons |= {missing_in_condition(c): rows for c, rows in cube.without_condition.items()}
    for axis in cube.plan.axes:
        rows = cube.cases_by_level[axis]
        absent = np.append(unknown_levels(axis, cube.levels[axis], spec), True)  # code -1 is last
        missing = int(rows[absent].sum())
        if axis.role is Role.FEATURE:
            apart = np.isin([*axis.names(cube.levels[axis]), ""], spec.exclude_groups)
            if not spec.uses_rows_without_group:
                differ = cube.conflicts.get(axis.column, 0)
                reasons[f"contradictory {axis.column}"] = differ
                reasons[missing_group(axis.column)] = missing - differ
            reasons[excluded_group(axis.column)] = int(rows[apart].sum())
        elif axis.role is Role.PROXY:
            of = next(each for each in spec.probabilities if each.cell == axis.column)
            reasons[missing_group(of.name)] = _unplaced_people(cube, of, spec)
        elif axis.role in (Role.CANDIDATE, Role.KNOWN, Role.CODES):
            continue  # of other models; few are known; and counted as another axis
        elif axis.role is Role.STRATUM:
            reasons[missing_stratum(axis.column, len(spec.strata))] = missing
        elif axis.role is Role.CLUSTER:
            reasons[NO_CLUSTER] = missing
        elif axis.role not in _ALL_OUTCOMES or axis.role in needed:
            name = "score" if axis.bounds else str(axis.role)
            reasons[f"missing {name}"] = missing * (not spec.profile.as_smclarify)
    return {reason: rows for reason, rows in reasons.items() if rows}


def exclusion_notes(
    excluded: Mapping[str, int], spec: Spec, every: float = math.inf
) -> Iterator[Diagnostic]:
    """Note the rows that are excluded, by reason; warn where many of ``every`` row lack a cluster.

    Intervals would be of a part of the rows that values are of.
    """
    for reason, rows in excluded.items():
        counted = spec.unit.get("unit", "rows")
        unit = spec.unit if unit_excluded(reason, counted) == counted else {}
        if reason != Uncounted.SAME_PERSON:  # of whom one decision counts, as another note states
            note = Diagnostic.note(DiagnosticCode.EXCLUDED, rows=rows, reason=reason, **unit)
            many = reason == NO_CLUSTER and rows >= MANY_UNCLUSTERED * every
            yield replace(note, level=enums.Level.WARNING) if many else note


def _unplaced_people(cube: Cube, of: Probabilities, spec: Spec) -> int:
    # estimates by a random sample are of these, too
    from fairgauge.resolve.unrecorded_counts import UnrecordedGroups

    unknown = frozenset(map(name_of, spec.unknown))
    counts = UnrecordedGroups(of, spec.probabilities.index(of), cube, unknown)
    return 0 if counts.sampled else counts.unplaced
