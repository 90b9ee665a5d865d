"""Designs of audits, what they draw, and what is read off their reports.

`bench.reviewed_audits` measures them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

import fairgauge as fg

_ALONE, _AS_STRATA = 20, 100
_AS_GROUPS = 400
LEVEL = 0.05
_TINY = 1e-9
BINARY: dict[str, Any] = {"positive": 1, "sensitive": "group"}
COUNTED = {**BINARY, "count": "n", "prediction": "prediction"}
LABELLED = {**COUNTED, "label": "label"}
OF_ERRORS = {"label": "label", "prediction": "prediction", "task": "regression"}

Occurrences = dict[str, bool]
"""What happened in one audit; what could not happen, such as coverage without an adequate interval,
is absent."""

Read = Callable[[fg.Report, str], Iterator[tuple[str, bool]]]
"""Reads what happened off a report, of all rows or of each stratum."""


@dataclass(frozen=True)
class Design:
    """One design.

    Attributes
    ----------
    of : which part of a review it is from.
    setting : what is drawn.
    wanted : of every number that is counted, or of the one that matters.
    measure : draws so many data sets, audits them and yields what happened in each.
    chunk : data sets that are drawn at once.
    """

    of: str
    setting: str
    wanted: str
    measure: Callable[[np.random.Generator, int], Iterator[tuple[str, bool]]]
    chunk: int


def alone(of: str, setting: str, wanted: str, read: Callable[..., Occurrences]) -> Design:
    """Return a design of which every data set has an audit of its own."""

    def measure(rng: np.random.Generator, size: int) -> Iterator[tuple[str, bool]]:
        for _ in range(size):
            yield from read(rng).items()

    return Design(of, setting, wanted, measure, _ALONE)


def as_strata(
    of: str,
    setting: str,
    wanted: str,
    draw: Callable[..., pl.DataFrame],
    read: Read,
    **options: Any,
) -> Design:
    """Return a design of which data sets are audited as strata: each as it would be alone."""

    def measure(rng: np.random.Generator, size: int) -> Iterator[tuple[str, bool]]:
        sets = [draw(rng).with_columns(set=pl.lit(i)) for i in range(size)]
        report = fg.audit(pl.concat(sets), strata="set", **{"sensitive": "group", **options})
        yield from read(report, "stratum")

    return Design(of, setting, wanted, measure, _AS_STRATA)


def as_groups(
    of: str,
    setting: str,
    wanted: str,
    draw: Callable[[np.random.Generator], pl.DataFrame],
    truths: dict[str, float],
    **options: Any,
) -> Design:
    """Return a design of which data sets are groups of one audit.

    ``draw`` draws one of them, without its name; ``truths`` are of rates.
    """

    def measure(rng: np.random.Generator, size: int) -> Iterator[tuple[str, bool]]:
        sets = [draw(rng).with_columns(group=pl.lit(f"g{i}")) for i in range(size)]
        report = fg.audit(pl.concat(sets), **{"sensitive": "group", **options})
        for group in report.groups:
            for name, truth in truths.items():
                rate = group.rates[name]
                if rate.status == "ok" and rate.interval is not None:
                    yield f"{name} covers", holds(rate.interval, truth)

    return Design(of, setting, wanted, measure, _AS_GROUPS)


COVERS = "93.5 to 98.5"
AT_LEAST = "93.5 or more"
RARELY = "at most 5"
PLANNED = "about 80"
NOT_WIDE = "at most 98.5, where it can be had"
LAST = "last round"


_OF_ALL_GROUPS = {"selection_rate.largest_gap"}


def _of_intervals(report: fg.Report, truth: float, metrics: Any, scope: str) -> Iterator[Any]:
    for each in report.estimates:
        of_first = each.group == "g0" or each.metric in _OF_ALL_GROUPS
        asked = each.metric in metrics and of_first and each.scope.kind == scope
        known = each.status == "ok" and each.interval is not None
        if asked and known and each.class_scope.kind in ("none", "average"):
            name = " ".join(filter(None, (each.class_scope.average, each.metric)))
            yield f"{name} covers", holds(each.interval, truth)


def covers(report: fg.Report, truth: float, *metrics: str, scope: str = "overall") -> Occurrences:
    """Return whether adequate intervals of metrics of the first group hold the truth.

    Averages over classes count under their own names; ``scope`` is "pooled" of what is adjusted for
    strata.
    """
    return dict(_of_intervals(report, truth, metrics, scope))


def hold(**truths: float) -> Read:
    """Return the reader of whether adequate intervals hold these truths, of metrics by name."""

    def read(report: fg.Report, scope: str) -> Iterator[tuple[str, bool]]:
        for metric, truth in truths.items():
            yield from _of_intervals(report, truth, (metric,), scope)

    return read


def hold_rates(**truths: float) -> Read:
    """Return the reader of whether adequate intervals hold these truths, of rates by name."""

    def read(report: fg.Report, scope: str) -> Iterator[tuple[str, bool]]:
        for group in report.groups:
            if group.group == "g0" and (group.stratum is not None) == (scope == "stratum"):
                for name, truth in truths.items():
                    rate = group.rates[name]
                    if rate.status == "ok" and rate.interval is not None:
                        yield f"{name} covers", holds(rate.interval, truth)

    return read


def each_of(*reads: Read) -> Read:
    """Return the reader of what several read."""

    def read(report: fg.Report, scope: str) -> Iterator[tuple[str, bool]]:
        for one in reads:
            yield from one(report, scope)

    return read


def holds(interval: Any, truth: float) -> bool:
    return bool(interval.low - _TINY <= truth <= interval.high + _TINY)


def rejects(report: fg.Report) -> Occurrences:
    """Return whether any adjusted p-value is below .05."""
    p = [each.p_adjusted for each in report.estimates if each.p_adjusted is not None]
    return {"an adjusted p below .05": any(value < LEVEL for value in p)}


def counts(cells: np.ndarray, **values: Any) -> pl.DataFrame:
    """Return counts of shape (groups, cells) as a table, ``values`` being columns of the cells."""
    groups = np.repeat([f"g{g}" for g in range(len(cells))], cells.shape[1])
    columns = {name: np.tile(np.asarray(of), len(cells)) for name, of in values.items()}
    return pl.DataFrame({"group": groups, **columns, "n": cells.ravel()}).filter(pl.col("n") > 0)


def selected(x: Any, sizes: Any) -> pl.DataFrame:
    """Return groups of which ``x`` rows are selected."""
    return counts(np.stack([x, np.asarray(sizes) - x], axis=1), prediction=[1, 0])


CELLS = {"label": [1, 0, 1, 0], "prediction": [1, 1, 0, 0]}
"""Of true and false positives, false and true negatives."""


def confusions(rng: np.random.Generator, sizes: Any, shares: Any) -> pl.DataFrame:
    """Draw confusion tables of groups."""
    drawn = [rng.multinomial(n, s / s.sum()) for n, s in zip(sizes, shares, strict=True)]
    return counts(np.stack(drawn), **CELLS)


def class_shares(classes: int, correct: float, evenness: float):
    """Return the joint shares of labels and predictions; mistakes go to near classes."""
    labels = evenness ** np.arange(classes)
    distance = np.abs(np.subtract.outer(np.arange(classes), np.arange(classes)))
    mistakes = np.where(distance > 0, 0.6**distance, 0.0)
    table = np.eye(classes) * correct
    table += (1 - correct) * mistakes / mistakes.sum(1, keepdims=True)
    return labels[:, None] * table / labels.sum()


def cluster_sizes(kind, clusters, rng, data_sets):
    if isinstance(kind, float):  # one cluster holds this share of all rows
        sizes = np.full((data_sets, clusters), 20)
        sizes[:, 0] = round(kind / (1 - kind) * 20 * (clusters - 1))
        return sizes
    drawn = 20 * np.exp(rng.normal(-0.5, 1.0, (data_sets, clusters)))
    return np.maximum(np.rint(drawn), 1).astype(int)
