"""Families of p-values, and what the estimates of a feature show together.

P-values are adjusted for the comparisons of a family; a test of homogeneity states whether the
groups differ at all before any is singled out; adjusting for strata may reverse a difference
(Simpson's paradox).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.lookup import find_rate
from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import (
    AfterAdjusting,
    ClassKind,
    DiagnosticCode,
    IntervalMethod,
    ReferenceKind,
    ScopeKind,
)
from fairgauge.inference.evidence import generator, is_one_test
from fairgauge.inference.one.statistic_intervals import statistic_interval
from fairgauge.results.disparities import after_adjusting
from fairgauge.results.scopes import Diagnostic, Reference
from fairgauge.stats.many import between_variance, expected_range
from fairgauge.stats.multiplicity import adjust
from fairgauge.stats.significance import homogeneity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from fairgauge.catalogue.cells import Array, Need
    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.inference.evidence import FeatureGroups
    from fairgauge.question.specification import Spec
    from fairgauge.results.estimates import Estimate

_PAIR = 2
_CHANCE = 0.5
_REPLICATES = 500


@dataclass(frozen=True, slots=True)
class AdjustedEstimates:
    """Estimates with their p-values adjusted, and how."""

    estimates: tuple[Estimate, ...]
    diagnostics: tuple[Diagnostic, ...]


def adjusted_estimates(estimates: Sequence[Estimate]) -> AdjustedEstimates:
    """Adjust p-values for the number of groups that a metric compares in a feature.

    A family is one metric in one feature (and one class and threshold), over all rows; the pooled
    comparisons are one of their own. Two groups that are each other's reference are one comparison.
    """
    families: dict[tuple[object, ...], list[int]] = {}
    for i, each in enumerate(estimates):
        tested = each.p_value is not None and each.scope.kind is not ScopeKind.STRATUM
        if tested and each.class_scope.kind is not ClassKind.WORST:
            key = (each.metric, each.feature, each.class_scope, each.threshold, each.scope)
            families.setdefault(key, []).append(i)
    made = list(estimates)
    used = set()
    for family in families.values():
        p = [estimates[i].p_value for i in family]
        if any(_adjusted_already(estimates[i]) for i in family):
            adjusted, how = np.array(p, dtype=float), "tukey"
        elif _mirrored([estimates[i] for i in family]):
            adjusted, how = np.array(p, dtype=float), "holm"
        else:
            adjusted, how = adjust(np.array(p, dtype=float))
        used.add(how)
        for i, value in zip(family, adjusted.tolist(), strict=True):
            made[i] = replace(made[i], p_adjusted=value)
    return AdjustedEstimates(tuple(made), tuple(_adjustment_notes(used)))


def _adjusted_already(each: Estimate) -> bool:
    """Return whether the interval holds for all pairs of groups, and the p-value with it."""
    return each.interval is not None and IntervalMethod.TUKEY in each.interval.methods


def _mirrored(family: list[Estimate]) -> bool:
    """Return whether two groups are each other's reference, so that both tests are one."""
    if len(family) != _PAIR:
        return False
    one, two = family
    sizes = (one.n_group, one.n_reference) == (two.n_reference, two.n_group)
    others = all(each.reference == Reference(ReferenceKind.OTHERS) for each in family)
    p = [each.p_value or 0.0 for each in family]
    return sizes and is_one_test(one.definition, p, others)


def _adjustment_notes(used: set[str]) -> Iterator[Diagnostic]:
    if used:
        procedures = tuple(sorted(used, reverse=True))
        yield Diagnostic.note(DiagnosticCode.ADJUSTED_P, procedures=procedures)


def central_rates(rates: Iterable[Statistic]) -> list[Rate]:
    """Return the rates by which all groups are compared: of labels, of predictions and of both."""
    first: dict[frozenset[Need], Rate] = {}
    for rate in rates:
        if isinstance(rate, Rate):
            first.setdefault(rate.needs, rate)
    return list(first.values())


def homogeneity_notes(
    rates: Sequence[Rate], groups: FeatureGroups, spec: Spec, large: NDArray[np.bool_]
) -> Iterator[Diagnostic]:
    """Yield for each rate whether the groups of a feature differ at all, and by how much.

    Weighted rows count with their effective sample size. All groups are tested; how much they
    differ is of the ``large`` ones, because the range over a few rows is wide in any case.
    """
    evidence = groups.pick(np.arange(len(groups.names)))
    feature = groups.feature
    for rate in rates:
        share = statistic_interval(rate, evidence).share
        assert share is not None
        known = share.n > 0
        if np.count_nonzero(known) < _PAIR:
            continue
        x, n = share.x[known], share.n[known]
        p = float(homogeneity(x, n)[1])
        size = _differences(x[large[known]], n[large[known]], rate, spec)
        some = int(np.count_nonzero(large[known]))
        yield Diagnostic.note(
            DiagnosticCode.HOMOGENEITY,
            feature,
            rate=rate.name,
            groups=len(n),
            large=some if some < len(n) else None,
            p=p,
            significant=p < 1 - spec.confidence,
            **size,
        )


def _differences(x: Array, n: Array, rate: Rate, spec: Spec) -> dict[str, float | None]:
    """Return the range over groups, what is expected of it, and the deviation between groups."""
    if len(n) < _PAIR:
        return {}
    n_sorted = np.sort(n)  # the draws do not depend on the order of the groups
    rng = generator(spec, rate.name, n_sorted)
    expected = float(expected_range(x.sum() / n.sum(), n_sorted, rng, _REPLICATES))
    between = float(between_variance(x, n)[1])  # unknown where a group is a single row
    return {
        "range": float(np.ptp(x / n)),
        "expected_range": expected,
        "between_sd": None if np.isnan(between) else float(np.sqrt(max(between, 0.0))),
    }


def reversed_ranking(whole: FeatureGroups, spec: Spec) -> Iterator[Diagnostic]:
    """Warn where scores rank the positives below the negatives, as those of another value do.

    ``whole`` is all rows as one group. The interval takes rows as independent, clustered or not:
    the warning asks what was meant, and states no uncertainty.
    """
    everyone = replace(whole.pick(np.zeros(1, dtype=np.int64)), clusters=None)
    if everyone.side.scores is None:
        return
    area = statistic_interval(find_rate("roc_auc"), everyone)
    (_, high), _ = area.limits(spec.confidence)
    if area.estimate[0] < high[0] < _CHANCE:
        yield Diagnostic.warning(DiagnosticCode.REVERSED_SCORES, auc=float(area.estimate[0]))


def adjustment_notes(estimates: Sequence[Estimate]) -> Iterator[Diagnostic]:
    """Yield what adjusting for the strata does to statistically significant differences.

    A reversal is stated only where both directions are statistically significant after adjustment
    for multiple comparisons; a disappearance only where the adjusted interval shows it.
    """
    pooled = {_subject(e): e for e in estimates if e.scope.kind is ScopeKind.POOLED}
    for each in estimates:
        adjusted = pooled.get(_subject(each))
        if each.scope.kind is not ScopeKind.OVERALL or adjusted is None:
            continue
        if not isinstance(each.definition, Contrast) or each.p_adjusted is None:
            continue
        change = after_adjusting(each, adjusted)
        if change is None or change is AfterAdjusting.REMAINS:
            continue
        values = {"overall": each.value, "adjusted": adjusted.value}
        subject = {"group": each.group, "metric": each.metric}
        if change is AfterAdjusting.REVERSES:
            yield Diagnostic.warning(DiagnosticCode.SIMPSON, each.feature, **subject, **values)
            continue
        gone = change is AfterAdjusting.DISAPPEARS
        code = DiagnosticCode.DISAPPEARS if gone else DiagnosticCode.NOT_SIGNIFICANT_ADJUSTED
        yield Diagnostic.note(code, each.feature, **subject, **values, p=adjusted.p_adjusted)


def _subject(each: Estimate) -> tuple[object, ...]:
    return (each.metric, each.feature, each.group, each.class_scope, each.threshold)
