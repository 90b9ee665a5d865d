"""Families: p-values that belong together, and what groups show before any is singled out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.lookup import find_rate
from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import Level
from fairgauge.inference.bounds import bounds
from fairgauge.inference.draws import generator
from fairgauge.report.estimates import POOLED, WORST, Diagnostic, Estimate
from fairgauge.stats.many import between_variance, expected_range
from fairgauge.stats.multiplicity import adjust
from fairgauge.stats.significance import homogeneity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fairgauge.catalogue.cells import Need
    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.inference.pairwise import Groups
    from fairgauge.spec.specification import Spec

_PAIR = 2
_CHANCE = 0.5
_REPLICATES = 500


@dataclass(frozen=True, slots=True)
class Adjusted:
    """Estimates with their p-values adjusted, and how."""

    estimates: tuple[Estimate, ...]
    diagnostics: tuple[Diagnostic, ...]


def adjusted(estimates: Sequence[Estimate]) -> Adjusted:
    """Adjust p-values for the number of groups that a metric compares in a feature.

    A family is one metric in one feature (and one class and threshold), over all rows; the pooled
    comparisons are one of their own. Two groups that are each other's reference are one comparison.
    """
    families: dict[tuple[object, ...], list[int]] = {}
    for i, each in enumerate(estimates):
        if each.p_value is not None and each.stratum in (None, POOLED) and each.class_ != WORST:
            key = (each.metric, each.feature, each.class_, each.threshold, each.stratum)
            families.setdefault(key, []).append(i)
    made = list(estimates)
    used = set()
    for family in families.values():
        p = [estimates[i].p_value for i in family]
        if _mirrored([estimates[i] for i in family]):
            found, how = np.array(p, dtype=float), "holm"
        else:
            found, how = adjust(np.array(p, dtype=float))
        used.add(how)
        for i, value in zip(family, found.tolist(), strict=True):
            made[i] = replace(made[i], p_adjusted=value)
    return Adjusted(tuple(made), tuple(_named(used)))


def _mirrored(family: list[Estimate]) -> bool:
    """Tell whether two groups are each other's reference, so that both tests are one."""
    if len(family) != _PAIR:
        return False
    one, two = family
    same = np.isclose(one.p_value or 0.0, two.p_value or 0.0, rtol=1e-6, atol=0.0)
    return bool(same) and (one.n_group, one.n_reference) == (two.n_reference, two.n_group)


def _named(used: set[str]) -> Iterator[Diagnostic]:
    names = {"holm": "Holm", "benjamini-hochberg": "Benjamini and Hochberg (over 20 groups)"}
    if used:
        how = " or ".join(names[each] for each in sorted(used, reverse=True))
        message = (
            f"p-values are adjusted by {how}; a family is all groups of one metric in one "
            "feature, over all rows"
        )
        yield Diagnostic(Level.NOTE, "family", message)


def central(rates: Iterable[Statistic]) -> list[Rate]:
    """Return the rates to tell all groups apart by: one of labels, of predictions and of both."""
    first: dict[frozenset[Need], Rate] = {}
    for rate in rates:
        if isinstance(rate, Rate):
            first.setdefault(rate.needs, rate)
    return list(first.values())


def homogeneous(rates: Sequence[Rate], groups: Groups, spec: Spec) -> Iterator[Diagnostic]:
    """Say for a feature whether its groups differ at all, and by how much more than by chance.

    A table cell is a row of what weights are worth.
    """
    evidence = groups.pick(np.arange(len(groups.names)))
    feature = groups.feature
    for rate in rates:
        share = bounds(rate, evidence).share
        assert share is not None
        known = share.n > 0
        if np.count_nonzero(known) < _PAIR:
            continue
        x, n = share.x[known], share.n[known]
        p = float(homogeneity(x, n)[1])
        rng = generator(spec, f"{feature}/{rate.name}")
        chance = float(expected_range(x.sum() / n.sum(), n, rng, _REPLICATES))
        between = float(between_variance(x, n)[1])  # unknown where a group is a single row
        spread = (
            f"{100 * np.sqrt(max(between, 0.0)):.1f} points" if not np.isnan(between) else "unknown"
        )
        differ = "differs between" if p < 1 - spec.confidence else "may be the same in"
        message = (
            f"{rate.title} {differ} the {len(n)} groups (chi-square of homogeneity: "
            f"{_p(p)}): they lie {100 * np.ptp(x / n):.1f} points apart, where chance alone "
            f"would give {100 * chance:.1f}; the standard deviation between groups, without "
            f"noise, is {spread}"
        )
        yield Diagnostic(Level.NOTE, "homogeneity", message, feature)


def _p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p {p:.3f}"


def turned_round(whole: Groups, spec: Spec) -> Iterator[Diagnostic]:
    """Say where scores rank the positives below the negatives, as those of another value do.

    ``whole`` is everybody as one group.
    """
    everyone = whole.pick(np.zeros(1, dtype=np.int64))
    if everyone.side.scores is None or everyone.clusters is not None:
        return
    area = bounds(find_rate("roc_auc"), everyone)
    (_, high), _ = area.limits(spec.confidence)
    if area.estimate[0] < high[0] < _CHANCE:
        message = (
            f"the scores rank positives below negatives (ROC AUC {area.estimate[0]:.2f} of all "
            "rows); if they are the probabilities of another value than the positive one, name "
            "it: score_of=VALUE, --score-of VALUE"
        )
        yield Diagnostic(Level.WARNING, "scores", message)
