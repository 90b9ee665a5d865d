"""Resolution: what a specification means in the counts, as one immutable value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from fairgauge.catalogue.catalogue import RATES
from fairgauge.catalogue.cells import Need
from fairgauge.catalogue.comparisons import Contrast, Metric
from fairgauge.catalogue.lookup import SETS
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.cube.cube import Cube, cases_of_no_weight
from fairgauge.cube.plan import WEIGHTS
from fairgauge.enums import GroupKind, Profile, ReferenceRule, Role, Task
from fairgauge.errors import Problem, cells, collecting, quote, refuse, suggest
from fairgauge.identity import texts_of
from fairgauge.question.specification import Spec, strata_alone, unmet_need
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.resolve.group_counts import GroupCounts, count_everyone, count_groups, weights_differ
from fairgauge.resolve.outcomes import OutcomeMasks, decide_task, outcome_masks
from fairgauge.start.records import dataclass, replace
from fairgauge.values import name_of


@dataclass(frozen=True, slots=True)
class AskedMetric:
    """A metric that is asked for, and the reason why it cannot be computed, if there is one."""

    metric: Metric
    obstacle: Reason | None = None


def asked_metrics(cube: Cube, spec: Spec, task: Task) -> list[AskedMetric]:
    """Return the metrics that the specification and its rules name, each once.

    Of the standard metrics only those that the data allow are taken.

    Raises ``SpecError``: A metric of classes is asked for by name of a regression.
    """
    asked: dict[str, AskedMetric] = {}
    problems = []
    named: list[tuple[str, str | Statistic | Metric]] = [
        (f"metrics[{i}]", name) for i, name in enumerate(spec.metrics)
    ]
    named += [
        (f"rules[{i}].metric", limit.own or limit.metric)
        for i, limit in enumerate(spec.rules)
        if limit.definition is not None
    ]
    for path, name in named:
        for metric in spec.catalogue.expand([name]):
            obstacle = _obstacle(metric, cube, spec, task)
            if task is Task.REGRESSION and task not in metric.tasks and name not in SETS:
                problems.append(Problem(path, _class_error(metric, "compares classes", spec)))
            beside_errors = metric.tasks == {Task.REGRESSION} and (
                len(metric.needs) == 1 < len(_available(cube))
            )
            if name != "standard" or (obstacle is None and not beside_errors):
                asked.setdefault(metric.name, AskedMetric(metric, obstacle))
    problems += _rules_of_other_tasks(spec, task)
    refuse(problems)
    return list(asked.values())


def _rules_of_other_tasks(spec: Spec, task: Task) -> Iterator[Problem]:
    # the rules on what is not defined in the task: they could never be evaluated
    for i, rule in enumerate(spec.rules):
        row = rule.own or rule.definition or spec.catalogue.rate(rule.metric)
        of_metric = rule.definition is not None
        if task in row.tasks or (task is Task.REGRESSION and of_metric):
            continue  # metrics of classes are reported with the named ones
        if task is Task.REGRESSION:
            message = _class_error(row, "is of classes", spec)
        else:
            tasks = ", ".join(each for each in Task if each in row.tasks)
            message = f"{row.name} is not defined in a {task} audit, only in: {tasks}"
        yield Problem(f"rules[{i}].metric", message)


def _class_error(row: Metric | Statistic, what: str, spec: Spec) -> str:
    return (
        f"{row.name} {what}, but {quote(spec.label)} is continuous; "
        "state which values are positive (fairgauge.above, --positive '>x')"
    )


def asked_rates(
    cube: Cube, spec: Spec, task: Task, asked: Sequence[AskedMetric]
) -> list[Statistic]:
    """Return the rates to compute for every group, of those that the data allow.

    These are the rates that computable metrics are made of, and those that rules name; with
    ``all``, every rate of the catalogue as well.
    """
    compared = (rate for each in asked for rate in each.metric.statistics)
    ruled = (spec.catalogue.rate(rule.metric) for rule in spec.rules if not rule.definition)
    listed = dict.fromkeys(RATES)
    listed |= dict.fromkeys(r for r in (*compared, *ruled) if r.own)
    if "all" not in spec.metrics:
        wanted = {limit.metric for limit in spec.rules} | {
            rate.name for each in asked if each.obstacle is None for rate in each.metric.statistics
        }
        listed = {rate: None for rate in listed if rate.name in wanted}
    available, asking = _available(cube), without_equal_weights(cube, spec)
    return [
        rate
        for rate in listed
        if task in rate.tasks and rate.needs <= available and unmet_need(rate, asking) is None
    ]


def without_equal_weights(cube: Cube, spec: Spec) -> Spec:
    """Return the question without a weight that all rows have alike: such weights are none.

    Where rows are excluded some of these may have no weight, or one of 0, and single rows are read
    without it.
    """
    if spec.weight is None or cube.excluded or cases_of_no_weight(cube):
        return spec
    sums = cube.tables[0].sums
    n, w, w2 = (float(sums[name].sum()) for name in ("n" if "n" in sums else "rows", "w", "w2"))
    return spec if weights_differ(n, w, w2) else replace(spec, weight=None)


_ROLES: Mapping[Need, Role] = {
    "label": Role.LABEL, "prediction": Role.PREDICTION, "score": Role.SCORE,
}  # fmt: skip


def _available(cube: Cube) -> frozenset[Need]:
    return frozenset([need for need, role in _ROLES.items() if cube.plan.axis(role)])


def _obstacle(metric: Metric, cube: Cube, spec: Spec, task: Task) -> Reason | None:
    if task not in metric.tasks:
        return Reason.of(ReasonCode.WRONG_TASK, task=str(task))
    missing = " and ".join(sorted(metric.needs - _available(cube)))
    if missing:
        return Reason.of(ReasonCode.NEEDS_COLUMNS, columns=missing)
    unmet = unmet_need(metric, without_equal_weights(cube, spec))
    if unmet is None and cube.min_cell is not None:
        return protection_obstacle(metric, spec)
    return unmet


_CHOSEN = (ReferenceRule.BEST, ReferenceRule.LARGEST)


def protection_obstacle(metric: Metric, spec: Spec) -> Reason | None:
    """Return why a metric has no exact bounds under protected counts, None where it has."""
    # Bounds are exact for differences and ratios of rates of groups that share no row, where it is
    # known what is compared: counts that are rounded do not show which group is best or largest.
    bounded = isinstance(metric, Contrast) and isinstance(metric.of, Rate)
    if not bounded or metric.scope != "group" or "score" in metric.needs:
        return Reason.of(ReasonCode.PROTECTED)
    if spec.reference in _CHOSEN and spec.profile is not Profile.CLARIFY:
        column = next((f.column for f in spec.sensitive), "COL")
        return Reason.of(
            ReasonCode.PROTECTED_REFERENCE, reference=str(spec.reference), column=column
        )
    if spec.reference is ReferenceRule.OVERALL or spec.profile is Profile.CLARIFY:
        return Reason.of(ReasonCode.PROTECTED)
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
        """Return the counts of all rows as one group."""
        return replace(count_everyone(self.cube), mean_weight=self.mean_weight)


def resolve(cube: Cube, spec: Spec) -> Resolution:
    """Resolve groups, references, positive outcomes, thresholds, strata and metrics.

    Raises ``SpecError``: everything at once that is asked for and that the data or the catalogue do
        not have.
    Raises ``DataError``: missing values where the specification treats them as errors.
    """
    problems: list[Problem] = []
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
    """Resolve groups and named references, which need no label and no prediction.

    Raises ``SpecError``: A group or a value that the data do not have.
    Raises ``DataError``: missing values where the specification treats them as errors.
    """
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
    texts = {
        text
        for each in counted
        for name, group in zip(each.groups, each.group_ids, strict=True)
        if group.kind is not GroupKind.MISSING
        for text in texts_of(name, group)
    }
    return texts.union(*(each.groups for each in spec.probabilities))


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
    tables = tuple(
        replace(
            table,
            sums={
                name: of / mean ** powers[name] if name in powers else of
                for name, of in table.sums.items()
            },
        )
        for table in cube.tables
    )
    return replace(cube, tables=tables), mean
