"""Rows without a label or a prediction: their share by group, and what they could change.

Manski's worst cases, of outcomes in place of groups: every missing value may be favourable or not.
A rule must not pass because the rows that would break it are absent. A fail stays one, because to
blank predictions must not take it back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

import numpy as np

from fairgauge.catalogue.across import Spread
from fairgauge.catalogue.cells import Array
from fairgauge.catalogue.comparisons import Contrast, Metric
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.cube.cube import Cube
from fairgauge.enums import DiagnosticCode, Uncounted
from fairgauge.inference.missing_groups import contrast_range, sides_and_unknown
from fairgauge.question.specification import Spec
from fairgauge.resolve.group_counts import GroupCounts
from fairgauge.resolve.outcomes import OutcomeMasks
from fairgauge.resolve.references import large_groups
from fairgauge.resolve.sides import Index, Measure
from fairgauge.results.estimates import ComparisonKey, WorstCase
from fairgauge.results.scopes import OVERALL, Diagnostic
from fairgauge.stats.arrays import Limits, quotient
from fairgauge.stats.significance import homogeneity
from fairgauge.stats.unknown_people import missing_bounds

Shares = tuple[Array, Array]
"""The rows that a rate counts, and those among which it counts them."""

_FEW = 0.01
_MANY = 0.05
_LEVEL = 0.01
_MISSING = 2
"""The state of an outcome that is neither positive (0) nor negative (1)."""


def missing_outcomes(counted: GroupCounts, spec: Spec) -> Iterator[Diagnostic]:
    """Warn where rows that lack the label or prediction are many, or not alike in all groups."""
    every = np.arange(len(counted.groups))
    shown = np.flatnonzero(large_groups(counted, spec))
    for what, all_missing, all_n in _missing(counted, spec, every) if len(shown) else ():
        missing, n = all_missing[shown], all_n[shown]
        shares = quotient(missing, n)
        most, least = int(np.nanargmax(shares)), int(np.nanargmin(shares))
        if shares[most] < _FEW:
            continue
        p = float(homogeneity(missing, n)[1])
        if not (missing.sum() >= _MANY * n.sum() or p < _LEVEL):
            continue
        yield Diagnostic.warning(
            DiagnosticCode.MISSING_OUTCOMES,
            counted.feature,
            what=what,
            rows=int(all_missing.sum()),
            total=int(all_n.sum()),
            most=counted.groups[shown[most]],
            most_share=float(shares[most]),
            least=counted.groups[shown[least]],
            least_share=float(shares[least]),
            groups=len(shown),
            p=p,
            ruled=bool(spec.rules),
            **({"of_groups": len(every)} if len(shown) < len(every) else {}),
            **({"unit": "people"} if spec.of_people else {}),
        )


def lacking(counted: GroupCounts, spec: Spec) -> dict[tuple[str, str], int]:
    """Return how many rows lack each outcome that many rows of a group lack, by feature.

    A rule on what has no worst case then does not pass.
    """
    every = np.arange(len(counted.groups))
    return {
        (counted.feature, need): int(missing.sum())
        for what, missing, n in _missing(counted, spec, every)
        if (missing >= _FEW * n)[missing > 0].any()
        for need in ((what,) if what == "label" else ("prediction", "score"))
    }


def uncounted(cube: Cube, features: Iterable[GroupCounts], spec: Spec) -> dict[str, int]:
    """Return the rows without a count, and without a weight, that are many beside some group.

    Their groups and outcomes are not known: no rule passes without them.
    """
    fewest = [
        counts.counts["rows"][: len(counts.groups), 0].sum(axis=(1, 2))[large_groups(counts, spec)]
        for counts in features
    ]
    rows = np.concatenate([*fewest, np.array([cube.rows], dtype=np.float64)])
    found = {
        "count": cube.excluded.get(Uncounted.NO_COUNT, 0),
        "weight": cube.excluded.get(Uncounted.NO_WEIGHT, 0),
    }
    return {what: n for what, n in found.items() if n > _FEW * rows.min()}


def _missing(counted: GroupCounts, spec: Spec, which: Index) -> Iterator[tuple[str, Array, Array]]:
    """Yield the rows of some groups that lack an outcome, and all of their rows."""
    if counted.protected or spec.profile.rules.missing_outcome_is_negative:
        return
    cells = counted.counts["n"][: len(counted.groups), 0]
    score = "score" if spec.prediction is None else "prediction"
    for what, axis in (("label", 1), (score, 2)):
        if cells.shape[axis] > 1 and len(which):  # else there is no such column
            missing = np.take(cells, -1, axis=axis).sum(axis=1)[which]
            yield what, missing, cells.sum(axis=(1, 2))[which]


def rate_cases(
    counted: GroupCounts, outcome: OutcomeMasks, rate: Statistic, spec: Spec
) -> dict[ComparisonKey, WorstCase]:
    """Return the least and the greatest rate of every group, whatever the missing outcomes are."""
    cases = _CompletedShares(counted, outcome, rate, spec)
    if not cases.rows:
        return {}
    low, high = cases.of(np.arange(len(counted.groups)))
    scope, threshold = outcome.class_scope, outcome.threshold
    return {
        (rate.name, counted.feature, group, OVERALL, scope, threshold): cases.case(low[i], high[i])
        for i, group in enumerate(counted.groups)
    }


def metric_cases(
    counted: GroupCounts,
    outcome: OutcomeMasks,
    metric: Metric,
    compared: tuple[Index, Index] | None,
    spec: Spec,
) -> dict[ComparisonKey, WorstCase]:
    """Return how far contrasts and extremes of shares could go; of other metrics, nothing.

    Rows that lack a group too may be on either side, so that the ends are at least as far apart as
    any table puts them.

    Parameters
    ----------
    compared : the sides of a contrast, numbers as `CountsBySide` has them.
    """
    if not isinstance(metric, (Contrast, Spread)):
        return {}
    cases = _CompletedShares(counted, outcome, metric.of, spec)
    if not cases.rows:
        return {}
    scope = outcome.class_scope
    threshold = outcome.threshold if "prediction" in metric.needs else None
    if isinstance(metric, Spread):
        ends = cases.spread(metric)
        key = (metric.name, counted.feature, None, OVERALL, scope, threshold)
        return {key: cases.case(*ends)} if ends else {}
    assert compared is not None
    ours = cases.of(compared[0], with_unknown=True)
    theirs = cases.of(compared[1], with_unknown=True)
    low, high = contrast_range(metric, ours, theirs)
    names = [counted.groups[at] for at in compared[0].tolist()]
    return {
        (metric.name, counted.feature, name, OVERALL, scope, threshold): cases.case(low[i], high[i])
        for i, name in enumerate(names)
    }


class _CompletedShares:
    """The ends of a share of rows over all values that missing outcomes may have.

    ``rows`` is how many rows lack one that the share needs, in any group or none.
    """

    def __init__(
        self, counted: GroupCounts, outcome: OutcomeMasks, rate: Statistic, spec: Spec
    ) -> None:
        self.rows = 0
        if counted.protected or not isinstance(rate, Rate):
            return
        self._rate, self._groups = rate, len(counted.groups)
        measure: Measure = "w" if counted.weighted else "n"
        self._known, self._unknown = sides_and_unknown(counted, outcome, spec.profile, measure)
        cases = sides_and_unknown(counted, outcome, spec.profile, "n")
        each = (cases[0].states(np.array([cases[0].whole])), cases[1].states(_FIRST))
        self.rows = int(sum(_incomplete(states, rate) for states in each))
        # what lacks both a group and an outcome may be of each group, in rates too
        self._apart = self._unknown.states(_FIRST)
        self._incomplete_apart = self._apart.copy()
        self._incomplete_apart[:, :_MISSING, :_MISSING] = 0

    def case(self, low: float, high: float) -> WorstCase:
        return WorstCase(float(low), float(high), self.rows, outcomes=True)

    def of(self, which: Index, *, with_unknown: bool = False) -> Limits:
        """Return the least and the greatest rate of some sides.

        Rows ``with_unknown`` group may be of a side, or not; else those alone that also lack an
        outcome.
        """
        apart = self._apart if with_unknown else self._incomplete_apart
        ends = []
        for at_least in (True, False):
            x, n = _shares(self._known.states(which), self._rate, at_least=at_least)
            every = _shares(self._apart, self._rate, at_least=at_least)
            more = _shares(apart, self._rate, at_least=at_least)
            whole = which == self._known.whole  # which has all rows, whatever their groups
            x, n = x + whole * every[0], n + whole * every[1]
            ends.append(missing_bounds(x, n, ~whole * more[0], ~whole * more[1])[not at_least])
        return ends[0], ends[1]

    def spread(self, metric: Spread) -> tuple[float, float] | None:
        """Return the ends of a gap or an extreme over groups that have rows it may count."""
        states = self._known.states(np.arange(self._groups))
        held = np.flatnonzero(_shares(states, self._rate, at_least=False)[1] > 0)
        if len(held) < _TWO:
            return None
        low, high = self.of(held)
        if metric.by == "minimum":
            return float(low.min()), float(high.min())
        if metric.by == "maximum":
            return float(low.max()), float(high.max())
        apart = ~np.eye(len(held), dtype=bool)
        if metric.by == "largest_gap":
            least = max(0.0, float(low.max() - high.min()))
            return least, float((high[:, None] - low[None, :])[apart].max())
        if metric.by == "smallest_ratio":
            ratios = quotient(low[:, None], high[None, :])[apart]
            return float(np.nanmin(ratios)), min(1.0, float(quotient(high.min(), low.max())))
        return None


_FIRST = np.zeros(1, dtype=np.int64)
_TWO = 2


def _needed(states: Array, rate: Rate) -> Array:
    """Return states as a rate asks for them: one of labels or predictions alone asks for no other.

    It has the same for TP and FP, or for TP and FN: what is positive is in the place of TP.
    """
    if len(rate.needs) > 1:
        return states
    outcome = states.sum(axis=1 if "prediction" in rate.needs else 2)
    return np.asarray(outcome[:, :, None] * np.eye(_MISSING + 1))


def _shares(states: Array, rate: Rate, *, at_least: bool) -> Shares:
    """Return what a rate counts, and among what, where it is as low (or as high) as it can be.

    A success lowers no share and a failure raises none: rows that may be neither are neither.
    """
    states, values = _needed(states, rate), {0: (0,), 1: (1,), _MISSING: (0, 1)}
    order = [(True, False), (False, False), (True, True)]
    x, n = np.zeros(len(states)), np.zeros(len(states))
    for label, prediction in product(values, repeat=2):
        cells = [2 * p + y for y in values[label] for p in values[prediction]]
        kinds = [(bool(rate.among.coefficients[c]), bool(rate.of.coefficients[c])) for c in cells]
        among, of = min(kinds, key=(order if at_least else order[::-1]).index)
        n += among * states[:, label, prediction]
        x += of * states[:, label, prediction]
    return x, n


def _incomplete(states: Array, rate: Rate) -> float:
    """Return how many rows lack an outcome that a rate needs."""
    needed = _needed(states, rate)
    return float(needed.sum() - needed[:, :_MISSING, :_MISSING].sum())
