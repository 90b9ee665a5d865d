"""Checks of what the question names against the data: columns, groups, values, and limits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from fairgauge import errors
from fairgauge.catalogue.comparisons import Contrast, Metric
from fairgauge.catalogue.directions import adverse_end, adverse_sign
from fairgauge.catalogue.lookup import Catalogue
from fairgauge.catalogue.score_statistics import Mean, RegressionTerm
from fairgauge.catalogue.statistics import Statistic
from fairgauge.cube.cube import Cube, levels_with_cases
from fairgauge.cube.plan import MANY_LEVELS, MOST_READABLE, quartiles
from fairgauge.enums import DiagnosticCode, Favourable, Observation, ReferenceRule, Role, Task
from fairgauge.errors import DataError, Problem, SpecError, listing, quote, refuse, suggest
from fairgauge.identity import FeatureId, is_named, texts_of
from fairgauge.question.category_words import has_words, is_column_of, is_form_of
from fairgauge.question.recoding import has_categories, ranges_of
from fairgauge.question.rules import Rule
from fairgauge.question.specification import EVERY_DISPARITY, Spec
from fairgauge.reasons import FEWEST_ROWS, Parameter
from fairgauge.resolve.group_counts import GroupCounts
from fairgauge.resolve.references import large_groups
from fairgauge.results.estimates import Group
from fairgauge.results.scopes import OVERALL, Diagnostic
from fairgauge.start.records import replace
from fairgauge.stats.arrays import quotient
from fairgauge.values import is_one_of, name_of


def check_known(cube: Cube, spec: Spec) -> None:
    """Refuse a column of the specification that has no value in any row, and idle recodings.

    A cluster column may be empty: values do not need it, and intervals then state the reason.

    Raises ``SpecError``: A recoding does nothing.
    Raises ``DataError``: A column has no value; the message names it.
    """
    if not cube.rows or cube.min_cell is not None:
        return  # an empty cube, or counts that may be rounded to none
    for axis in cube.plan.axes:
        if axis.role is Role.CLUSTER or (axis.role is Role.FEATURE and spec.groups_missing):
            continue  # rows without a group are a group of their own
        if not cube.cases_by_level[axis][:-1].any():
            role = Role.SCORE if axis.bounds else axis.role
            what = "number" if axis.bins else "value"
            if people := cube.conflicts.get(axis.column):
                raise DataError(
                    f"column {quote(axis.column)} ({role}) decides nothing: its values contradict "
                    f"each other in the rows of {people:,} people, and no other "
                    f"person has a {what}; check that {quote(spec.person or '')} identifies a "
                    "person (person, --person)"
                )
            if spec.of_people and axis in cube.plan.outcomes[:-1] and cube.levels[axis]:
                continue  # labels of earlier decisions, and of no last one
            raise DataError(f"column {quote(axis.column)} ({role}) holds no {what} in any row")
    refuse(idle_recodings([cube], spec))


def idle_recodings(cubes: Sequence[Cube], spec: Spec) -> list[Problem]:
    """Return the recodings of which no part of the data has a value.

    Not those of unknown values alone, of which data may happen to have none, and of a column that
    holds the categories already; nor where conditions choose rows, as others may have the values.
    """
    problems = []
    for recoding in () if spec.where else spec.recode:
        column = recoding.column
        listed = {name for name in recoding.category_of if name.strip()}
        unseen = ({e.value for e in cube.seen(Observation.UNSEEN, column)} for cube in cubes)
        if not (listed and recoding.names and all(map(listed.issubset, unseen))):
            continue
        axes = [(cube, axis) for cube in cubes for axis in cube.plan.axes if axis.column == column]
        known = {name_of(v) for cube, axis in axes if not axis.bins for v in cube.levels[axis]}
        if known and known.isdisjoint(recoding.names):
            texts = [name for name in sorted(listed) if not ranges_of(name)]
            meant = next(filter(None, (suggest(name, known) for name in texts)), "")
            problems.append(Problem(
                f"recode.{column}",
                f"no row has {listing(sorted(listed))} in {quote(column)}.{meant} It holds "
                f"{listing(sorted(known))}; list values as they are written there, or ranges of "
                "its numbers, such as 25-60, <25 or >60, or remove this recoding",
            ))  # fmt: skip
    return problems


def uncrossed_features(spec: Spec) -> Iterator[Diagnostic]:
    """Warn that all features together, or two of them, are not a table where a preset has one."""
    if (own := spec.preset) is None or not own.intersect:
        return
    estimated = tuple(each.name for each in spec.probabilities)
    recorded = tuple(each.column for each in spec.sensitive)
    features = (*recorded, *estimated)
    if estimated and len(features) > 1:
        code = DiagnosticCode.NOT_CROSSED
        yield Diagnostic.warning(code, preset=own.name, features=features, estimated=estimated)
    if len(recorded) > 2 and spec.intersections == (recorded,):
        code = DiagnosticCode.NO_PAIRS_CROSSED
        yield Diagnostic.warning(code, preset=own.name, features=recorded)


def other_references(cube: Cube, spec: Spec, task: Task) -> Iterator[Diagnostic]:
    """Warn of a reference that may not be of whom a preset compares with; refuse another."""
    own = spec.preset
    if own is None or not has_words(own.compared_with) or not isinstance(spec.reference, tuple):
        return
    if task is Task.REGRESSION and own.with_amounts:
        return
    groups: dict[str, Sequence[str]] = {of.name: of.groups for of in spec.probabilities}
    axes = (axis for axis in cube.plan.axes if axis.role is Role.FEATURE)
    groups |= {axis.column: axis.names(cube.levels[axis]) for axis in axes}
    for feature, group in spec.reference:
        meant = [each for each in groups.get(feature, ()) if is_column_of(own.compared_with, each)]
        if feature not in groups or isinstance(group, tuple) or name_of(group) in meant:
            continue
        if meant:
            other = f"{quote(name_of(group))} is another group: name {errors.alternatives(meant)}"
            message = f"the preset {quote(own.name)} compares with {own.compared_with}, and {other}"
            raise SpecError(Problem(f"reference.{feature}", message))
        yield Diagnostic.warning(
            DiagnosticCode.REFERENCE_ASSUMED, feature, preset=own.name,
            group=name_of(group), people=own.compared_with,
        )  # fmt: skip


def unmatched_values(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of unknown values in the question, and negative ones, that the data need not have."""
    outcomes = [axis for axis in cube.plan.outcomes if not axis.bins]
    outcomes = outcomes if spec.negative and not spec.where else []
    recorded = [level for axis in outcomes for level in cube.levels[axis]]
    for axis in outcomes[-1:] if isinstance(spec.negative, tuple) else outcomes:
        undecided = cube.seen(Observation.UNSTATED, axis.column)
        others = {(axis.column, str(e.value)): e.rows for e in undecided}
        for i, value in enumerate(spec.negative_of(axis.column)):
            if not is_one_of(value, recorded):
                yield from unmatched_value(f"negative[{i}]", name_of(value), others)
    axes = [a for a in cube.plan.axes if a.role is Role.FEATURE and not a.cuts]
    levels = [(a.column, *level) for a in axes for level in levels_with_cases(cube, a)]
    others = {(c, name_of(v)): n for c, v, n in levels if not is_one_of(v, spec.unknown)}
    for i, value in enumerate(() if spec.where else spec.unknown):  # other rows may have them
        if not is_one_of(value, [level for _, level, _ in levels]):
            yield from unmatched_value(f"unknown[{i}]", name_of(value), others)
    for column, called in ({} if spec.where else spec.words.groups).items():
        known = {name_of(level) for of, level, _ in levels if of == column}
        for value in called if known and isinstance(called, Mapping) else ():
            if value not in known:
                yield unmatched_name(f"words.groups.{column}.{value}", value, known)


def idle_rules(
    spec: Spec, features: Iterable[GroupCounts], path: str = "rules"
) -> Iterator[Diagnostic]:
    """Warn of groups of rules that none of the rule's features has, or that are the reference."""
    # what may be written for the groups of every feature, with whether it is the reference
    written = {FeatureId((of.name,)): [(g, False) for g in of.groups] for of in spec.probabilities}
    for of in features:
        each = enumerate(zip(of.groups, of.group_ids, strict=True))
        texts = [(text, i) for i, group in each for text in texts_of(*group)]
        written[of.feature_id] = [(text, i == of.named_reference) for text, i in texts]
    for i, rule in enumerate(spec.rules):
        named = [[of] for name, of in spec.audited.items() if is_named(rule.features, name, of)]
        of_groups = rule.definition is not None and rule.definition.scope == "group"
        for j, name in enumerate(rule.groups):
            for scope in named or [[*spec.audited.values()]]:
                at = f"{path}[{i}].groups[{j}]"
                groups = [each for feature in scope for each in written[feature]]
                meant = [is_reference for text, is_reference in groups if text == name]
                if not meant:
                    yield unmatched_name(at, name, {text for text, _ in groups})
                elif of_groups and all(meant):
                    yield Diagnostic.warning(
                        DiagnosticCode.UNMATCHED, path=at, name=name, reference=True
                    )


def limits_outside_range(cube: Cube, spec: Spec) -> Iterator[Diagnostic]:
    """Warn of rules that no value of the metric meets (80 instead of 0.8), or all here do."""
    for i, rule in enumerate(spec.rules):
        (low, high), reach = rule.row.range, _largest_difference(cube, spec, rule.row)
        if rule.low > high or rule.high < low:
            code, metric = DiagnosticCode.LIMITS_OUTSIDE_RANGE, rule.metric
            yield Diagnostic.warning(code, path=f"rules[{i}]", metric=metric, low=low, high=high)
        elif rule.low <= -reach and reach <= rule.high:
            code = DiagnosticCode.LIMITS_THE_BETTER_OFF
            yield Diagnostic.warning(code, rule=str(rule), reach=reach)


def _largest_difference(cube: Cube, spec: Spec, row: Metric | Statistic) -> float:
    # of means of numbers: how far the intervals reach in which rows have one
    if not (isinstance(row, Contrast) and row.by == "difference" and isinstance(row.of, Mean)):
        return math.inf
    columns = {RegressionTerm.LABEL: spec.label, RegressionTerm.PREDICTION: spec.prediction}
    for axis in cube.plan.axes:
        if axis.role is Role.CODES and axis.column == columns.get(row.of.of):
            first, *_, last = np.flatnonzero(cube.cases_by_level[axis][:-1]).repeat(2).tolist()
            edges = (-math.inf, *axis.cuts, math.inf)
            return edges[last + 1] - edges[first]
    return math.inf


def depends_on_favourable(spec: Spec) -> bool:
    """Return whether the reference, a one-sided rule or a margin turns with what is favourable."""
    better = Favourable.HIGHER if spec.task is Task.REGRESSION else Favourable.POSITIVE
    one_sided = (rule for rule in spec.rules if math.isinf(rule.high - rule.low))
    held = [spec.catalogue.row(name) for name, _ in spec.margins if name != EVERY_DISPARITY]
    if len(held) < len(spec.margins):
        held += spec.catalogue.expand(spec.metrics)
    rates = [e for row in held for e in (row.statistics if isinstance(row, Metric) else (row,))]
    turned = (adverse_sign(e, better) != adverse_sign(e, Favourable.NEGATIVE) for e in rates)
    limited = {spec.catalogue.row(rule.metric) for rule in one_sided}
    ends = (adverse_end(e, better) != adverse_end(e, Favourable.NEGATIVE) for e in limited)
    return spec.reference is ReferenceRule.BEST or any(turned) or any(ends)


def accept_reference(spec: Spec) -> Spec:
    """Return a question in which the reference is accepted where a preset states whom to take.

    Not of amounts, where it states so of decisions, which rules of its own are on.
    """
    kit = spec.preset
    stated = kit is not None and (kit.compared_with or "reference" in kit.options)
    if kit is None or not stated or (spec.task is Task.REGRESSION and kit.with_amounts):
        return spec
    return replace(spec, accept=(*spec.accept, str(DiagnosticCode.REFERENCE_DECIDES)))


def limits_of_the_better_off(
    limits: Iterable[Rule], catalogue: Catalogue, favourable: Favourable
) -> Iterator[Diagnostic]:
    """Warn of rules that nobody who is worse off can fail, with those that they can."""
    bounds = []
    for each in limits:  # a ratio of 80 and more is one in per cent, which no group reaches
        ratio = getattr(catalogue.row(each.metric), "neutral", math.nan) == 1
        high = math.inf if ratio and each.high >= _PER_CENT else each.high
        bounds.append((each, (each.low, high)))
    for rule, ends in bounds:
        row = catalogue.row(rule.metric)
        end, percent = adverse_end(row, favourable), ends[1] != rule.high
        facts: dict[str, Parameter] = {"percent": True} if percent else {}
        if not (end or (percent and ends[0] <= 0)):
            continue
        adverse = end > 0
        if any(math.isfinite(of[adverse]) for each, of in bounds if each.metric == rule.metric):
            continue
        instead, bound = None, 100 / rule.high if percent else ends[not adverse]
        neutral = getattr(row, "neutral", math.nan)
        if neutral == 1 and row.range[1] > 1 and bound > 0:
            limit = bound if percent and end < 0 else round(1 / bound, 4)
            instead = f"{rule.metric} {'>=' if end < 0 else '<='} {limit:g}"
        elif neutral == 0 and row.range[0] < 0:
            instead = f"{rule.metric} {'<=' if adverse else '>='} {-bound:g}"
        yield Diagnostic.warning(
            DiagnosticCode.LIMITS_THE_BETTER_OFF,
            rule=str(rule), higher=adverse, instead=instead, **facts,
        )  # fmt: skip


def limits_only_the_better_off(
    limits: Iterable[Rule], catalogue: Catalogue, spec: Spec, path: str
) -> list[Problem]:
    """Return what is wrong with rules that nobody who is worse off can fail, unless accepted."""
    code = str(DiagnosticCode.LIMITS_THE_BETTER_OFF)
    if code in spec.accept:
        return []
    favourable = spec.favourable or Favourable.POSITIVE
    return [
        Problem(path, (
            f"no group that is worse off can fail {quote(note['rule'])}, so a pass would mean "
            f"nothing to it; write {note['instead'] or 'the other limit'}, "
            f"or accept it (accept = [{quote(code)}])"
        )) for note in limits_of_the_better_off(limits, catalogue, favourable)
    ]  # fmt: skip


def unmatched_name(path: str, name: str, known: Iterable[str]) -> Diagnostic:
    """Warn of a name in the question that the data do not have."""
    names, code = sorted(known), DiagnosticCode.UNMATCHED
    near, held = errors.closest(name, names), listing(names)
    return Diagnostic.warning(code, path=path, name=name, nearest=near, held=held)


def unmatched_value(
    path: str, name: str, known: Mapping[tuple[str, str], int]
) -> Iterator[Diagnostic]:
    """Warn of a value that no row has: where some have a form of it, they are what is in doubt.

    ``known`` are the rows of the values that there are, each with its column.
    """
    found = {each: rows for each, rows in known.items() if is_form_of(each[1], name)}
    for (column, value), rows in found.items():
        code = DiagnosticCode.MISSPELT
        yield Diagnostic.warning(code, path=path, name=name, column=column, value=value, rows=rows)
    if not found:
        yield unmatched_name(path, name, {value for _, value in known})


_PER_CENT = 80.0
FEW_PUBLISHED = 10
"""The rows of a group from which its rate shows nothing about single people."""
# groups of one row, from which a feature looks like an identifier
_MANY_SINGLE = 20
OTHER_UNIT = 10.0
"""The ratio of means from which one of them may be in another unit: per cent, or a month's."""
_FEWEST_CONSTANT, _ROUNDING = 30, 1e-11
# the ratio that they must exceed by so many standard errors
_SURELY_TIMES, _SURELY_ERRORS = OTHER_UNIT / 2, 3.0


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
                DiagnosticCode.NUMERIC_GROUPS, feature.column, groups=len(levels), small=small,
                minimum=FEWEST_ROWS, cuts=tuple(map(name_of, cuts)), **spec.unit,
            )  # fmt: skip


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
        groups, code = tuple(counts.groups[i] for i in none), DiagnosticCode.WEIGHTLESS_GROUPS
        yield Diagnostic.warning(code, counts.feature, groups=groups, rows=int(rows[none].sum()))


def unlike_amounts(counts: GroupCounts, spec: Spec) -> Iterator[Diagnostic]:
    """Warn where numbers of a large group are many times those of another, or all one number."""
    large = np.flatnonzero(large_groups(counts, spec))
    if spec.task is not Task.REGRESSION or len(large) < 2:
        return
    for name, column in (("y", spec.label), ("p", spec.prediction)):
        if column is None or name * 2 not in counts.counts:
            continue
        n, total, squares = (
            counts.counts[each][large, 0].sum(axis=(1, 2))
            for each in ("w" if counts.weighted else "n", name, name * 2)
        )
        means = quotient(total, n)
        spread, cases = quotient(squares, n) - means**2, counts.cases[large]
        variances = spread / cases
        least, most = means.argmin(), means.argmax()
        constant = (spread <= _ROUNDING * quotient(squares, n)) & (cases >= _FEWEST_CONSTANT)
        means = means + counts.centre
        for at in np.flatnonzero(constant & (means != 0) & (not constant.all())).tolist():
            yield Diagnostic.warning(
                DiagnosticCode.GROUP_OF_ONE_OUTCOME, counts.feature, column=column,
                role="label" if name == "y" else "prediction", values=(f"{means[at]:.6g}",),
                group=counts.groups[large[at]], rows=int(cases[at]), **spec.unit,
            )  # fmt: skip
        # nor as one large number makes it, in a group of few
        error = math.hypot(*np.sqrt(np.maximum(variances, 0.0))[[most, least]] * (1, _SURELY_TIMES))
        surely = means[most] - _SURELY_TIMES * means[least] > _SURELY_ERRORS * error
        if surely and means[least] > 0 and means[most] >= OTHER_UNIT * means[least]:
            yield Diagnostic.warning(
                DiagnosticCode.UNLIKE_AMOUNTS, counts.feature,
                column=column, times=float(means[most] / means[least]),
                most=counts.groups[large[most]], least=counts.groups[large[least]],
            )  # fmt: skip


def few_published(
    features: Iterable[GroupCounts], spec: Spec, groups: Iterable[Group]
) -> Iterator[Diagnostic]:
    """Warn of groups of a few people in tables to publish; those of pay are of each stratum."""
    chosen = spec.preset
    if chosen is None or not (chosen.published_metrics or chosen.publishes_amounts):
        return
    of_amounts = chosen.publishes_amounts
    people = {
        (each.feature, name): len(np.unique(each.clusters.cluster[each.clusters.group == i]))
        for each in features
        if spec.person and each.clusters is not None
        for i, name in enumerate(each.groups)
    }
    published = "mean_label" if of_amounts else "selection_rate"
    shown = [e for e in groups if e.reference_kind is None and (e.scope == OVERALL or of_amounts)]
    rates = ((each, each.rates.get(published)) for each in shown)
    sizes = ((each, rate.denominator) for each, rate in rates if rate and rate.denominator)
    few = [of for of, n in sizes if people.get((of.feature, of.group), n) < FEW_PUBLISHED]
    more: dict[str, Parameter] = {"unit": "people"} if spec.person else {}
    if of_amounts:
        more["strata"] = tuple(str(each.scope.stratum or "") for each in few)
    if few:
        yield Diagnostic.warning(
            DiagnosticCode.FEW_PUBLISHED, groups=tuple(str(each.group) for each in few),
            features=tuple(each.feature for each in few), fewer=FEW_PUBLISHED, **more,
        )  # fmt: skip
