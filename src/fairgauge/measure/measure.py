"""Measure: every rate and metric that is asked for, computed from a cube.

Every metric is one vectorised call over all comparisons, so 2,000 strata cost little more than one.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

import numpy as np

from fairgauge.catalogue.across import Across, Spread
from fairgauge.catalogue.averages import AVERAGES, agreement, averaged
from fairgauge.catalogue.catalogue import KAPPA, RATES
from fairgauge.catalogue.comparisons import Comparison, Contrast, Imbalance
from fairgauge.catalogue.conditional import ConditionalDisparity
from fairgauge.catalogue.distributions import Distance
from fairgauge.catalogue.lookup import SETS
from fairgauge.catalogue.representation import Representation
from fairgauge.catalogue.row_metrics import RowMetric
from fairgauge.catalogue.score_statistics import ScoreStatistic
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Level, Method, Profile, Role, Status, Task
from fairgauge.errors import Problem, SpecError, quote
from fairgauge.inference.clusters import spanning
from fairgauge.inference.families import adjusted, central, homogeneous, turned_round
from fairgauge.inference.missing_groups import missing_groups
from fairgauge.inference.pairwise import left_out, pairwise
from fairgauge.inference.reversals import simpsons
from fairgauge.measure.slices import View
from fairgauge.report.estimates import WORST, Diagnostic, Estimate, Group, Measured
from fairgauge.resolve.group_counts import EVERYONE, tally, tally_all
from fairgauge.resolve.outcomes import Reading, decide_task, readings
from fairgauge.resolve.sides import score_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from fairgauge.catalogue.cells import Need
    from fairgauge.catalogue.comparisons import Metric
    from fairgauge.cube.cube import Cube
    from fairgauge.report.estimates import Compared, Pair, Ungrouped
    from fairgauge.resolve.group_counts import Tally
    from fairgauge.spec.specification import Spec

Made = TypeVar("Made")
Asked: TypeAlias = "tuple[Metric, str | None]"
"""A metric, and what stands against computing it."""

_FEWEST_COVERED = 0.9


class ByRows(Protocol):
    """Computes from the rows what counts cannot give."""

    def metrics(
        self, asked: Sequence[RowMetric], reading: Reading
    ) -> tuple[list[Estimate], list[Diagnostic]]:
        """Compute the metrics of rows."""

    def histograms(self, tallies: Sequence[Tally]) -> tuple[list[Tally], Diagnostic]:
        """Give tallies exact score histograms."""


def measure(cube: Cube, spec: Spec, by_rows: ByRows | None = None) -> Measured:
    """Compute every rate and metric that is asked for.

    ``by_rows`` computes the metrics that need the rows themselves; without it they are not
    applicable.

    Raises
    ------
    SpecError
        A value set, reference or positive value that the data do not have, or a metric of classes
        asked of continuous labels.
    """
    task = decide_task(cube, spec)
    asked, reads, tallies = _resolved(cube, spec, task)
    rates = [rate for rate in _listed(asked) if not _unfit(rate, cube, spec, task)]
    groups: list[Group] = []
    estimates: list[Estimate] = []
    diagnostics: list[Diagnostic] = []
    pairs: list[Pair] = []
    worst: dict[Compared, Ungrouped] = {}
    rules = {rule.metric for rule in spec.rules}
    ruled = [m for m, o in asked if m.name in rules and isinstance(m, Contrast) and not o]
    if by_rows and spec.method is Method.EXACT and cube.plan.axis(Role.SCORE):
        tallies, note = by_rows.histograms(tallies)
        diagnostics.append(note)
    for each in tallies:
        views = [View(each, reading, spec) for reading in reads]
        view = views[0]
        if task is Task.MULTICLASS:
            measured = _multiclass(views, rates, asked)
        else:
            measured = _thresholds(views, rates, asked)
        groups += measured[0]
        estimates += measured[1]
        diagnostics += _coverage(view, asked)
        diagnostics += [*spanning(each, spec.cluster), *missing_groups(each)]
        for read, metric in product(views, ruled):
            worst |= read.ungrouped(metric)
        if task is Task.BINARY and len(each.groups) > 1:
            groups_of = view.all_groups()
            diagnostics += homogeneous(central(rates), groups_of, spec)
            diagnostics += left_out(groups_of)
            pairs += pairwise(central(rates), groups_of, spec)
        diagnostics += simpsons(measured[1], spec.catalogue)
    everyone = tally_all(cube)
    for reading in reads if task is Task.BINARY else reads[:1]:
        view = View(everyone, reading, spec)
        if task is Task.BINARY and reading is reads[0] and spec.label:
            diagnostics += turned_round(view.all_groups(), spec)
        estimates += (
            estimate
            for metric, obstacle in asked
            if metric.scope == "table"
            for estimate in _of_view(view, metric, obstacle)
        )
    rowwise = [(m, o) for m, o in asked if isinstance(m, RowMetric)]
    if rowwise:
        found = _of_rows(rowwise, by_rows, tallies, reads[0])
        estimates += found[0]
        diagnostics += found[1]
    tested = adjusted(estimates)
    diagnostics += tested.diagnostics
    scores = tuple(counts for each in tallies for counts in score_counts(each, reads[0]))
    return Measured(
        task, tuple(groups), tested.estimates, tuple(diagnostics), scores, tuple(pairs), worst
    )


def _resolved(
    cube: Cube, spec: Spec, task: Task
) -> tuple[list[Asked], tuple[Reading, ...], list[Tally]]:
    """Find in the data what is asked, and report everything at once that they do not have."""
    problems: list[Problem] = []

    def found(make: Callable[[], Made]) -> Made | None:
        try:
            return make()
        except SpecError as error:
            problems.extend(error.problems)
            return None

    asked = found(lambda: _asked(cube, spec, task))
    reads = found(lambda: readings(cube, spec, task))
    tallies = found(lambda: tally(cube, spec))
    if asked is None or reads is None or tallies is None:
        raise SpecError(problems)
    return asked, reads, tallies


def _of_rows(
    asked: list[tuple[RowMetric, str | None]],
    by_rows: ByRows | None,
    tallies: list[Tally],
    reading: Reading,
) -> tuple[list[Estimate], list[Diagnostic]]:
    """Compute the metrics of rows that can be, and say why the others cannot."""
    unread = None if by_rows else "needs the rows themselves, and only counts are given"
    estimates = [
        Estimate(
            metric=metric.name,
            set=metric.set,
            feature=feature,
            group=group,
            reference=None,
            status=Status.NOT_APPLICABLE,
            reason=obstacle or unread,
        )
        for metric, obstacle in asked
        if obstacle or unread
        for feature, group in _whom(metric, tallies)
    ]
    possible = [metric for metric, obstacle in asked if not obstacle]
    if by_rows is None or not possible:
        return estimates, []
    computed, notes = by_rows.metrics(possible, reading)
    return [*estimates, *computed], notes


def _whom(metric: RowMetric, tallies: list[Tally]) -> Iterator[tuple[str | None, str]]:
    """Return the features and groups that a metric of rows is one number of."""
    if metric.facts.of == "table":
        yield None, EVERYONE
        return
    for each in tallies:
        for group in (EVERYONE,) if metric.facts.of == "feature" else each.groups:
            yield each.feature, group


def _thresholds(
    views: list[View], rates: list[Statistic], asked: list[Asked]
) -> tuple[list[Group], list[Estimate]]:
    """Measure at every threshold; what does not depend on the prediction, at the first alone."""
    groups: list[Group] = []
    estimates: list[Estimate] = []
    for i, view in enumerate(views):
        groups += view.groups(rates)
        here = [
            (metric, obstacle)
            for metric, obstacle in asked
            if metric.scope not in ("table", "rows") and (i == 0 or "prediction" in metric.needs)
        ]
        view.uncertainty.expect(metric for metric, obstacle in here if not obstacle)
        for metric, obstacle in here:
            estimates += _of_view(view, metric, obstacle)
    return groups, estimates


def _multiclass(
    views: list[View], rates: list[Statistic], asked: list[Asked]
) -> tuple[list[Group], list[Estimate]]:
    """Measure each class against the rest, their averages, the worst class, and all at once."""
    counted, spec, reads = views[0].tally, views[0].spec, [view.reading for view in views]
    at_once = [View(counted, reading, spec, at_once=len(reads)) for reading in reads]
    whole = View(counted, Reading(_none(reads[0].labels), _none(reads[0].predictions)), spec, reads)
    groups = [group for view in views for group in view.groups(rates)]
    of_all = {each.name: each for each in (agreement(), KAPPA)}
    groups += whole.groups(of_all.values())
    for how in AVERAGES:
        groups += whole.groups([averaged(rate, how) for rate in rates], how)
    estimates: list[Estimate] = []
    for view in (*views, *at_once):
        view.uncertainty.expect(metric for metric, obstacle in asked if not obstacle)
    for metric, obstacle in asked:
        if metric.scope in ("table", "rows"):
            continue
        if obstacle or isinstance(metric, (Distance, Imbalance, Representation)):
            estimates += _of_view(whole, metric, obstacle)
            continue
        by_class = [_of_view(view, metric) for view in views]
        estimates += (estimate for each in by_class for estimate in each)
        surely = [_of_view(view, metric) for view in at_once]
        estimates += (_worst_class(metric, each) for each in zip(*surely, strict=True))
        if isinstance(metric, (Contrast, Spread)):
            for how in AVERAGES:
                estimates += _of_classes(whole, metric, averaged(metric.of, how), how)
            if metric.of.name in of_all:
                estimates += _of_classes(whole, metric, of_all[metric.of.name])
    return groups, estimates


def _of_classes(
    whole: View, metric: Contrast | Spread, of: Statistic, class_: str | None = None
) -> Iterator[Estimate]:
    """Measure the same comparison of a statistic of all classes."""
    if isinstance(metric, Spread):
        return whole.across(replace(metric, of=of), class_=class_)
    return whole.estimates(replace(metric, of=of), class_=class_)


def _of_view(view: View, metric: Metric, obstacle: str | None = None) -> list[Estimate]:
    """Measure one metric in one view, within strata and pooled over them."""
    if isinstance(metric, Across):
        return list(view.across(metric, obstacle))
    if isinstance(metric, Representation):
        return list(view.represented(metric, obstacle))
    assert isinstance(metric, Comparison)
    return [*view.estimates(metric, obstacle), *view.pooled(metric, obstacle)]


def _asked(cube: Cube, spec: Spec, task: Task) -> list[Asked]:
    """Return the metrics asked for, with what stands against each.

    Of the standard metrics only those that the data allow are taken.

    Raises
    ------
    SpecError
        A metric of classes is asked by name of a regression.
    """
    found: dict[str, Asked] = {}
    problems = []
    named: list[tuple[str, str | Statistic | Metric]] = [
        *((f"metrics[{i}]", name) for i, name in enumerate(spec.metrics)),
        *((f"rules[{i}].metric", rule.own or rule.metric) for i, rule in enumerate(spec.rules)),
    ]
    for path, name in named:
        for metric in spec.catalogue.expand([name]):
            obstacle = _obstacle(metric, cube, spec, task)
            if task is Task.REGRESSION and task not in metric.tasks and name not in SETS:
                message = (
                    f"{metric.name} compares classes, but {quote(spec.label)} is continuous; "
                    "say which values are positive (fairgauge.above, --positive '>x')"
                )
                problems.append(Problem(path, message))
            if name != "standard" or obstacle is None:
                found.setdefault(metric.name, (metric, obstacle))
    if problems:
        raise SpecError(problems)
    return list(found.values())


def _listed(asked: Sequence[Asked]) -> Iterator[Statistic]:
    """Yield the rates that groups list: the usual ones, and those whose comparison is asked for."""
    compared = (metric for metric, _ in asked if isinstance(metric, (Contrast, Spread)))
    wanted = dict.fromkeys(metric.of for metric in compared)
    yield from (rate for rate in RATES if not rate.on_request or rate in wanted)
    yield from (rate for rate in wanted if (rate.on_request or rate.own) and rate not in RATES)


def _unfit(rate: Statistic, cube: Cube, spec: Spec, task: Task) -> bool:
    """Tell whether a rate cannot be computed of these data."""
    fits = task in rate.tasks and rate.needs <= _available(cube)
    return not fits or _off_scale(rate, spec) or _not_weighted(rate, spec)


def _available(cube: Cube) -> frozenset[Need]:
    every: dict[Need, Role] = {
        "label": Role.LABEL,
        "prediction": Role.PREDICTION,
        "score": Role.SCORE,
    }
    return frozenset(need for need, role in every.items() if cube.plan.axis(role))


def _obstacle(metric: Metric, cube: Cube, spec: Spec, task: Task) -> str | None:
    """Say why a metric cannot be asked of these data, if so."""
    if task not in metric.tasks:
        return f"is not a metric of a {task} audit"
    missing = sorted(metric.needs - _available(cube))
    if missing:
        return f"needs a {' and a '.join(missing)}"
    if _off_scale(getattr(metric, "of", None), spec):
        return "needs scores that are probabilities, from 0 to 1"
    if _not_weighted(getattr(metric, "of", None), spec):
        return "counts rows from the top, and does not take weights; name a top in per cent"
    if isinstance(metric, Representation) and not spec.population:
        return "needs a population to hold the groups against (population, --population)"
    if isinstance(metric, RowMetric) and spec.weight:
        return "compares single rows, and does not take weights"
    if isinstance(metric, RowMetric) and metric.facts.by_features and not spec.features:
        return "compares rows; name the columns to compare them by (features, --features)"
    if isinstance(metric, ConditionalDisparity) and cube.plan.axis(Role.STRATUM) is None:
        return "needs strata, a column that is held fixed"
    return None


def _off_scale(of: object, spec: Spec) -> bool:
    """Tell whether a statistic reads scores as probabilities, and they are not."""
    return isinstance(of, ScoreStatistic) and of.probability and spec.score_range != (0.0, 1.0)


def _not_weighted(of: object, spec: Spec) -> bool:
    """Tell whether a statistic is not defined of weighted rows, and they are weighted."""
    return isinstance(of, Statistic) and not of.takes_weights and spec.weight is not None


def _coverage(view: View, asked: list[Asked]) -> Iterator[Diagnostic]:
    """Say how many rows a conditional metric rests on, where it is not all."""
    if view.spec.profile is not Profile.DOCUMENTED:
        return
    for metric, obstacle in asked:
        if obstacle or not isinstance(metric, ConditionalDisparity):
            continue
        group, reference = view.both(view.sides, metric, view.compared(metric))
        covered = metric.coverage(group, reference)
        covered = covered[~np.isnan(covered)]
        least = float(covered.min()) if len(covered) else 1.0
        if least < 1.0:
            level = Level.NOTE if least >= _FEWEST_COVERED else Level.WARNING
            message = (
                f"{metric.name} covers {least:.1%} of the rows: strata without positive or without "
                f"negative {metric.of}s say nothing and are left out"
            )
            yield Diagnostic(level, "coverage", message, view.tally.feature)


def _worst_class(metric: Metric, by_class: Sequence[Estimate]) -> Estimate:
    """Return the estimate of the class that lies furthest from "no difference".

    Their limits hold at once, so that those of the one that is picked do.

    Where no value means that, it is the lowest minimum or the highest maximum.
    """

    def distance(each: Estimate) -> float:
        value = each.value
        if value is None:
            return -math.inf
        if math.isnan(metric.neutral):
            return -value if getattr(metric, "by", None) == "minimum" else value
        if metric.neutral == 0:
            return abs(value)
        return math.inf if value <= 0 or math.isinf(value) else abs(math.log(value))

    worst = max(by_class, key=distance)
    says = f"{worst.says} (class {worst.class_})" if worst.says else ""
    return replace(worst, class_=WORST, says=says)


def _none(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return np.zeros_like(mask)
