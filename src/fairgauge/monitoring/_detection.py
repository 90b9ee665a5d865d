"""Detection: from the counts of all periods to evidence, thresholds and the first alarms.

The promise is one probability, alpha, of at least one false alarm within the horizon, over all
rules and groups together. It is divided before anything is known of the outcomes:

- Comparisons of the first period, or of a baseline, share 80% of alpha equally; those that appear
  later share 80% of what is left at that time. A threshold once set is never changed, so that a
  later period cannot take an alarm back.
- Two groups that are each compared with the other are one comparison with one share, whose limits
  hold for both (`_mirrors`). Where they become two, each has half of that share. Batch e-values
  have an expectation of at most 1 in every period, whichever limits that period has.
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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from fairgauge.monitoring._comparison_counts import ComparisonCounts, ComparisonId, SideCounts
from fairgauge.monitoring._mirrors import Mirror, shares_by_period, tolerated
from fairgauge.monitoring._period_rows import CountedRows
from fairgauge.monitoring.monitor_spec import MonitoredRate, MonitorRule, MonitorSpec
from fairgauge.results.monitor_results import Baseline, LargestGroup
from fairgauge.stats.arrays import Array
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
    low, high : arrays of shape (periods, comparisons): the tolerated values.
    threshold : array of shape (periods, comparisons).
    evidence : array of shape (periods, comparisons).
    detectors : the state of the detector of each contrast, after the last period.
    """

    low: Array
    high: Array
    threshold: Array
    evidence: Array
    detectors: dict[str, dict[str, Array]]


def divide_alpha(
    alpha: float, arrivals: Sequence[int], mirrors: Mapping[int, Mirror] | None = None
) -> Array:
    """Return the share of alpha of every comparison, from the periods in which they arrived.

    One that only mirrors another has that one's share, which is spent once.

    >>> divide_alpha(0.05, [0, 0, 3]).round(4).tolist()
    [0.02, 0.02, 0.008]
    """
    # comparisons of a baseline and of the first period arrive together
    first = np.maximum(np.asarray(arrivals, dtype=np.int64), 0)
    own = np.ones(len(first), dtype=bool)
    own[list(mirrors or {})] = False
    shares = np.zeros(len(first))
    left = alpha
    for wave in np.unique(first[own]):
        held = own & (first == wave)
        shares[held] = left * SPENT_AT_ONCE / held.sum()
        left *= 1 - SPENT_AT_ONCE
    for i, mirror in (mirrors or {}).items():
        shares[i] = shares[mirror.of]
    return shares


def detect(
    counts: ComparisonCounts,
    alphas: Array,
    spec: MonitorSpec,
    rates: Mapping[int, MonitoredRate],
    baselines: Mapping[ComparisonId, Baseline],
    mirrors: Mapping[int, Mirror],
    resumed: Fold | None = None,
) -> Detected:
    """Fold the counts of all periods into evidence.

    Parameters
    ----------
    counts : ComparisonCounts
    alphas : array of shape (comparisons,)
        The alpha of each, as `divide_alpha` returns them.
    spec : MonitorSpec
    rates : mapping
        The rate that each rule contrasts.
    baselines : mapping
        The baselines of the comparisons that have one, with their limits.
    mirrors : mapping
        The comparisons that only mirror another, by their numbers.
    resumed : Fold, optional
        What the first of the periods came to, of the same comparisons.
    """
    periods, size, _ = counts.counts.shape
    spent = shares_by_period(alphas, mirrors, periods)
    spent /= [2 if each in baselines else 1 for each in counts.ids]
    around = {each: (held.low, held.high) for each, held in baselines.items()}
    low, high = tolerated(counts.ids, spec.rules, around, mirrors, periods)
    begin = 0 if resumed is None else resumed.periods
    evidence = np.zeros((periods, size))
    evidence[:begin] = 0.0 if resumed is None else resumed.evidence
    detectors: dict[str, dict[str, Array]] = {}
    threshold = np.full((periods, size), np.inf)
    by_contrast: dict[Contrasted, list[int]] = {}
    for i, each in enumerate(counts.ids):
        by_contrast.setdefault(rates[each.rule].by, []).append(i)
    parts = sorted({begin, periods, *(m.until for m in mirrors.values() if begin < m.until)})
    edges = [(int(one), int(other)) for one, other in pairwise(parts) if np.isfinite(other)]
    for by, held in by_contrast.items():
        if by == "ratio":
            low[:, held] = np.maximum(low[:, held], 0.0)
        detector = EDetector(
            Tolerated(low[-1, held], high[-1, held], by),
            alpha=spent[:, held],
            horizon=float(spec.horizon),
            shift=spec.worth_catching,
        )
        threshold[:, held] = detector.threshold
        if resumed is not None:
            detector = replace(detector, batches=begin, **resumed.detectors[by])  # type: ignore[arg-type]
        for start, end in edges:  # limits change where two groups are no longer one comparison
            x_d, n_d, x_a, n_a = np.moveaxis(counts.counts[start:end, held], -1, 0)
            if by == "rate":
                x_a = n_a = np.zeros_like(n_d)
            within = Tolerated(low[start, held], high[start, held], by)
            detector, found = replace(detector, tolerated=within).follow(x_a, n_a, x_d, n_d)
            evidence[start:end, held] = found
        detectors[by] = state_of(detector)
    for i, mirror in mirrors.items():
        alike = slice(0, int(min(mirror.until, periods)))
        evidence[alike, i] = evidence[alike, mirror.of]
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

_FORMAT = 9
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

    def fits(self, counts: ComparisonCounts) -> bool:
        """Return whether the counts of more periods are of the same comparisons."""
        return counts.ids == self.counts.ids


def state_of(detector: EDetector) -> dict[str, Array]:
    """Return the state of a detector."""
    return {name: getattr(detector, name) for name in _STATE}


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
        evidence = np.array(found["evidence"], dtype=np.float64).reshape(size, len(ids))
    except (ValueError, KeyError, TypeError):
        return None
    return Fold(counts, rows, evidence, detectors)
