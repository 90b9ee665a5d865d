"""Detection: from the counts of all periods to evidence, thresholds and the first alarms.

The promise is one probability, alpha, of at least one false alarm within the horizon, over all
rules and groups together. It is divided before anything is known of the outcomes:

- Comparisons of the first period, or of a baseline, share 80% of alpha equally; those that appear
  later share 80% of what is left at that time. A threshold once set is never changed, so that a
  later period cannot take an alarm back.
- Two groups that are each compared with the other are one comparison: that of the group with fewer
  rows, whose limits hold for both (`one_of_two`). With the rows of a third group the other one
  arrives as a comparison of its own. Limits never change, as thresholds do not.
- A baseline is an estimate. Of the alpha of its comparison, half is the error of exact confidence
  limits of the contrast in the baseline; everything within the tolerated distance of these limits
  is tolerated, and the detector spends the other half. If a false alarm occurs, either the limits
  miss the true baseline, with a probability of at most alpha / 2, or they contain it: then the true
  tolerated set is a part of the one that the detector uses, every batch e-value has expectation at
  most 1, and the alarm has a probability of at most alpha / 2 within the horizon. Using the
  baseline's likelihood again in the e-value of every period would not do: given the past, which
  holds the baseline, such an e-value has an expectation above 1.

The periods so far are folded, so that one more costs no more than one. The fold holds nothing that
cannot be computed again: it is used only where the specification and the text of every period that
it covers are the same as when it was made, and is ignored otherwise.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from fairgauge.catalogue.comparisons import Ends
from fairgauge.enums import ReferenceRule
from fairgauge.monitoring._comparison_counts import ComparisonCounts, ComparisonId, SideCounts
from fairgauge.monitoring._period_rows import CountedRows
from fairgauge.monitoring.monitor_spec import MonitoredRate, MonitorRule, MonitorSpec
from fairgauge.results.monitor_results import Baseline, LargestGroup
from fairgauge.stats.arrays import Array, Mask
from fairgauge.stats.exact import exact_limits
from fairgauge.stats.sequential import Contrasted, EDetector, Tolerated
from fairgauge.version import __version__

SPENT_AT_ONCE = 0.8
"""The part of what is left of alpha that comparisons share when they arrive."""


@dataclass(frozen=True, slots=True, eq=False)
class Detected:
    """What the detectors found in the comparisons of counts, in their order.

    Attributes
    ----------
    low, high, threshold : arrays of shape (comparisons,): the tolerated values, and what alarms.
    evidence : array of shape (periods, comparisons).
    detectors : the state of the detector of each contrast, after the last period.
    """

    low: Array
    high: Array
    threshold: Array
    evidence: Array
    detectors: dict[str, dict[str, Array]]


def divide_alpha(alpha: float, arrivals: Sequence[int]) -> Array:
    """Return the share of alpha of every comparison, from the periods in which they arrived.

    >>> divide_alpha(0.05, [0, 0, 3]).round(4).tolist()
    [0.02, 0.02, 0.008]
    """
    # comparisons of a baseline and of the first period arrive together
    first = np.maximum(np.asarray(arrivals, dtype=np.int64), 0)
    shares = np.zeros(len(first))
    left = alpha
    for wave in np.unique(first):
        held = first == wave
        shares[held] = left * SPENT_AT_ONCE / held.sum()
        left *= 1 - SPENT_AT_ONCE
    return shares


class Pair(NamedTuple):
    """Two comparisons by their numbers, of which one stands for both.

    ``until`` is the number of the first period in which they are two, infinite where there is none.
    """

    one: int
    other: int
    until: float


def one_of_two(
    ids: Sequence[ComparisonId],
    arrivals: Sequence[int],
    rules: Sequence[MonitorRule],
    alike: Callable[[int, int], tuple[Mask, Mask]],
    rows: Callable[[int], float],
) -> list[Pair]:
    """Return the two groups of a feature that are each compared with the other, by a rule for both.

    It is for both if it tolerates "no difference" and its metric can be turned. ``alike`` returns
    the periods in which either of two has values, and those in which one mirrors the other;
    ``rows`` those of a group.
    """
    held: dict[tuple[int, str, str | None], list[int]] = {}
    for i, each in enumerate(ids):
        rule = rules[each.rule]
        metric = rule.definition
        if metric is not None and metric.turn is not None:
            neutral = metric.neutral if rule.baseline is None else 0.0
            if rule.low <= neutral <= rule.high:
                held.setdefault((each.rule, each.feature, each.class_), []).append(i)
    found = []
    for of in held.values():
        first = sorted(of, key=lambda i: arrivals[i])[:2]
        if len(first) == 2:
            compared, mirrored = alike(*first)
            apart = np.flatnonzero(compared & ~mirrored)
            until = float(apart[0]) if len(apart) else math.inf
            # without labels nothing is compared yet, but two groups are one comparison
            alone = len(of) == 2 and not compared.any()
            if alone or compared[: int(min(until, len(compared)))].any():
                one, other = sorted(first, key=rows)
                found.append(Pair(one, other, until))
    return found


_TURNED = [2, 3, 0, 1]
"""The columns of counts seen from the other side."""


def pairs_of_counts(
    counts: ComparisonCounts, rules: Sequence[MonitorRule], rates: Mapping[int, MonitoredRate]
) -> list[Pair]:
    """Return the comparisons of counts of which one stands for two."""

    def alike(i: int, j: int) -> tuple[Mask, Mask]:
        one, other = counts.counts[:, i], counts.counts[:, j]
        compared = (one[:, 1] * one[:, 3] > 0) | (other[:, 1] * other[:, 3] > 0)
        others = counts.references[i] == counts.references[j] == ReferenceRule.OTHERS
        return compared, (one == other[:, _TURNED]).all(axis=1) & others

    def rows(i: int) -> float:
        """Return the rows of a group in the first period that compares it."""
        _, n_d, _, n_a = counts.counts[:, i].T
        own = n_a if rates[counts.ids[i].rule].turned else n_d
        return float(own[np.argmax(n_d * n_a > 0)])

    return one_of_two(counts.ids, counts.arrivals, rules, alike, rows)


def without_mirrors(counts: ComparisonCounts, pairs: Sequence[Pair]) -> ComparisonCounts:
    """Return counts in which one comparison stands for two, against the other group by name."""
    arrivals, references = [*counts.arrivals], [*counts.references]
    gone = set[int]()
    for one, other, until in pairs:
        if math.isinf(until):
            references[one] = counts.ids[other].group
            gone.add(other)
        else:
            arrivals[other] = int(until)
    left = [i for i in range(len(counts.ids)) if i not in gone]
    return ComparisonCounts(
        [counts.ids[i] for i in left],
        [arrivals[i] for i in left],
        [references[i] for i in left],
        counts.counts[:, left],
        counts.unlabelled,
    )


def tolerated(
    each: ComparisonId, rules: Sequence[MonitorRule], baseline: Ends | None, *, for_two: bool
) -> Ends:
    """Return what is tolerated of a comparison; ``for_two``, also of the other one that it mirrors.

    ``baseline`` is the confidence limits of its baseline, around which the limits of the rule then
    are. Of a group that its baseline does not have, everything is tolerated.
    """
    rule = rules[each.rule]
    if rule.baseline is not None and baseline is None:
        return -math.inf, math.inf
    low, high = baseline or (0.0, 0.0)
    low, high = low + rule.low, high + rule.high
    turn = None if rule.definition is None else rule.definition.turn
    if for_two and turn is not None:
        least, most = turn(baseline) if baseline is not None else (0.0, 0.0)
        other_low, other_high = turn((least + rule.low, most + rule.high))
        low, high = max(low, other_low), min(high, other_high)
    return low, high


def detect(
    counts: ComparisonCounts,
    alphas: Array,
    limits: Sequence[Ends],
    spec: MonitorSpec,
    rates: Mapping[int, MonitoredRate],
    baselines: Collection[ComparisonId],
    resumed: Fold | None = None,
) -> Detected:
    """Fold the counts of all periods into evidence.

    Parameters
    ----------
    counts : ComparisonCounts
    alphas : array of shape (comparisons,)
        The alpha of each, as `divide_alpha` returns them.
    limits : sequence of pairs
        The tolerated values of each.
    spec : MonitorSpec
    rates : mapping
        The rate that each rule contrasts.
    baselines : collection
        The comparisons that have a baseline, which takes half of their alpha.
    resumed : Fold, optional
        What the first of the periods came to, of the same comparisons.
    """
    periods, size, _ = counts.counts.shape
    spent = alphas / [2 if each in baselines else 1 for each in counts.ids]
    low, high = np.array(limits, dtype=np.float64).reshape(-1, 2).T.copy()
    begin = 0 if resumed is None else resumed.periods
    evidence = np.zeros((periods, size))
    evidence[:begin] = 0.0 if resumed is None else resumed.evidence
    detectors: dict[str, dict[str, Array]] = {}
    threshold = np.full(size, np.inf)
    by_contrast: dict[Contrasted, list[int]] = {}
    decided = counts.counts.copy()
    for i, each in enumerate(counts.ids):
        decided[: max(counts.arrivals[i], 0), i] = 0  # one that was one of two until then
        by_contrast.setdefault(rates[each.rule].by, []).append(i)
    for by, held in by_contrast.items():
        if by == "ratio":
            low[held] = np.maximum(low[held], 0.0)
        detector = EDetector(
            Tolerated(low[held], high[held], by),
            alpha=spent[held],
            horizon=float(spec.horizon),
            shift=spec.worth_catching,
        )
        threshold[held] = detector.threshold
        if resumed is not None:
            detector = replace(detector, batches=begin, **resumed.detectors[by])  # type: ignore[arg-type]
        if begin < periods:
            x_d, n_d, x_a, n_a = np.moveaxis(decided[begin:, held], -1, 0)
            if by == "rate":
                x_a = n_a = np.zeros_like(n_d)
            detector, evidence[begin:, held] = detector.follow(x_a, n_a, x_d, n_d)
        detectors[by] = {name: getattr(detector, name) for name in _STATE}
    return Detected(low, high, threshold, evidence, detectors)


def baseline_limits(
    held: SideCounts, alpha: float, rate: MonitoredRate, rule: MonitorRule
) -> Baseline:
    """Return a baseline with its confidence limits, whose error is half of alpha."""
    assert rule.baseline is not None
    low, high = exact_limits(held.x_d, held.n_d, held.x_a, held.n_a, alpha / 2, rate.by)
    d, a = (x / n if n else np.nan for x, n in ((held.x_d, held.n_d), (held.x_a, held.n_a)))
    value = {"difference": d - a, "ratio": d / a if a else np.nan, "rate": d}[rate.by]
    own, theirs = (held.n_a, held.n_d) if rate.turned else (held.n_d, held.n_a)
    return Baseline(
        source=rule.baseline.source,
        digest=rule.baseline.cube.digest,
        value=None if np.isnan(value) else float(value),
        low=float(low),
        high=float(high),
        n_group=int(own),
        n_reference=0 if rate.by == "rate" else int(theirs),
    )


LARGEST = 200_000
"""Numbers of evidence above which a fold is not kept: reading it would cost more than it saves."""

_FORMAT = 10
"""What evidence is made of: where it changes, folds of before are of anything else."""
_STATE = ("evidence", "recent", "total")


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """What some periods came to.

    Attributes
    ----------
    counts : the counts of the comparisons.
    rows : the rows of every period.
    evidence : array of shape (periods, comparisons).
    detectors : the state of the detector of each contrast, after the last period.
    """

    counts: ComparisonCounts
    rows: list[CountedRows]
    evidence: Array
    detectors: dict[str, dict[str, Array]] = field(default_factory=dict)

    @property
    def periods(self) -> int:
        """Return how many periods it covers."""
        return len(self.evidence)

    def fits(self, counts: ComparisonCounts, decided: ComparisonCounts) -> bool:
        """Return whether the counts of more periods are of the same comparisons.

        Those that are ``decided`` are the same unless two of them were one.
        """
        return counts.ids == self.counts.ids and len(decided.ids) == self.evidence.shape[1]


def key_of(asked: MonitorSpec, largest: Sequence[LargestGroup], texts: Sequence[str]) -> str:
    """Return the digest of a specification, the largest groups, and the texts of periods."""
    references = [[each.feature, each.group] for each in largest]
    own = [f"{rate.name} = {rate.formula}" for rate in asked.catalogue.own]
    found = hashlib.sha256()
    found.update(
        json.dumps(
            [_FORMAT, __version__, asked.to_dict(), references, own], sort_keys=True
        ).encode()
    )
    for text in texts:
        found.update(hashlib.sha256(text.encode()).digest())
    return found.hexdigest()


def write_fold(fold: Fold, key: str) -> str:
    """Return the text of a fold; reading it gives the same numbers to the last digit."""
    counts = fold.counts
    return json.dumps(
        {
            "key": key,
            "periods": fold.periods,
            "ids": [list(each) for each in counts.ids],
            "arrivals": counts.arrivals,
            "references": counts.references,
            "unlabelled": counts.unlabelled.tolist(),
            "counts": counts.counts.tolist(),
            "rows": fold.rows,
            "evidence": fold.evidence.tolist(),
            "detectors": {
                by: {name: held.tolist() for name, held in state.items()}
                for by, state in fold.detectors.items()
            },
        }
    )


def read_fold(
    text: str | None, asked: MonitorSpec, largest: Sequence[LargestGroup], texts: Sequence[str]
) -> Fold | None:
    """Read a fold of the first of these periods; None where it is of anything else, or damaged."""
    try:
        found: dict[str, Any] = json.loads(text or "")
        size = found["periods"]
        if size > len(texts) or found["key"] != key_of(asked, largest, texts[:size]):
            return None
        ids = [ComparisonId(*each) for each in found["ids"]]
        counts = ComparisonCounts(
            ids,
            found["arrivals"],
            found["references"],
            np.array(found["counts"], dtype=np.float64).reshape(size, len(ids), 4),
            np.array(found["unlabelled"], dtype=np.float64),
        )
        detectors = {
            by: {name: np.array(state[name], dtype=np.float64) for name in _STATE}
            for by, state in found["detectors"].items()
        }
        rows = [CountedRows(*each) for each in found["rows"]]
        evidence = np.array(found["evidence"], dtype=np.float64).reshape(size, -1)
    except (ValueError, KeyError, TypeError):
        return None
    return Fold(counts, rows, evidence, detectors)
