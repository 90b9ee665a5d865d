"""What designs of audits draw, and what is read off their reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

import fairgauge as fg
from bench.counting import Design, Occurrences

_AS_STRATA = 100
_TINY = 1e-9
BINARY: dict[str, Any] = {"positive": 1, "sensitive": "group"}
COUNTED = {**BINARY, "count": "n", "prediction": "prediction"}
LABELLED = {**COUNTED, "label": "label"}
CELLS = {"label": [1, 0, 1, 0], "prediction": [1, 1, 0, 0]}
"""Of true and false positives, false and true negatives."""

Happened = Iterator[tuple[str, bool]]
_OF_ALL_GROUPS = {"selection_rate.largest_gap"}


def as_strata(
    of: str,
    setting: str,
    wanted: str,
    draw: Callable[[np.random.Generator], pl.DataFrame],
    truths: Mapping[str, float] | None = None,
    *,
    rates: Mapping[str, float] | None = None,
    read: Callable[[fg.Report, str], Happened] | None = None,
    **options: Any,
) -> Design:
    """Return a design of which data sets are audited as strata: each as it would be alone.

    Counted is whether intervals of the first group hold the truths of metrics and of rates, or what
    is ``read``.
    """
    asked = {"sensitive": "group", "metrics": list(truths or ()), **options}

    def measure(rng: np.random.Generator, size: int) -> Happened:
        sets = [draw(rng).with_columns(set=pl.lit(i)) for i in range(size)]
        report = fg.audit(pl.concat(sets), strata="set", **asked)
        if read is not None:
            yield from read(report, "stratum")
        else:
            yield from covered(report, "stratum", truths or {}, rates or {})

    return Design(of, setting, wanted, measure, _AS_STRATA)


def covered(
    report: fg.Report, scope: str, truths: Mapping[str, float], rates: Mapping[str, float]
) -> Happened:
    """Yield whether adequate intervals of the first group hold the truths of metrics and rates.

    Averages over classes count under their own names; ``scope`` is "pooled" of what is adjusted for
    strata.
    """
    for metric, truth in truths.items():
        for each in report.estimates:
            of_first = each.group == "g0" or metric in _OF_ALL_GROUPS
            asked = each.metric == metric and of_first and each.scope.kind == scope
            known = each.status == "ok" and each.interval is not None
            if asked and known and each.class_scope.kind in ("none", "average"):
                name = " ".join(filter(None, (each.class_scope.average, each.metric)))
                yield f"{name} covers", holds(each.interval, truth)
    for group in report.groups:
        if group.group == "g0" and (group.stratum is not None) == (scope == "stratum"):
            for name, truth in rates.items():
                rate = group.rates[name]
                if rate.status == "ok" and rate.interval is not None:
                    yield f"{name} covers", holds(rate.interval, truth)


def holds(interval: Any, truth: float) -> bool:
    return bool(interval.low - _TINY <= truth <= interval.high + _TINY)


def rejects(report: fg.Report) -> Occurrences:
    """Return whether any adjusted p-value is below .05."""
    p = [each.p_adjusted for each in report.estimates if each.p_adjusted is not None]
    return {"an adjusted p below .05": any(value < 0.05 for value in p)}


def counts(cells: np.ndarray, **values: Any) -> pl.DataFrame:
    """Return counts of shape (groups, cells) as a table, ``values`` being columns of the cells."""
    groups = np.repeat([f"g{g}" for g in range(len(cells))], cells.shape[1])
    columns = {name: np.tile(np.asarray(of), len(cells)) for name, of in values.items()}
    return pl.DataFrame({"group": groups, **columns, "n": cells.ravel()}).filter(pl.col("n") > 0)


def selected(x: Any, sizes: Any) -> pl.DataFrame:
    """Return groups of which ``x`` rows are selected."""
    return counts(np.stack([x, np.asarray(sizes) - x], axis=1), prediction=[1, 0])


def selected_in_strata(x: np.ndarray, sizes: np.ndarray) -> pl.DataFrame:
    """Return groups of which ``x`` rows are selected; both are of shape (groups, strata)."""
    cells = np.stack([x, sizes - x], axis=-1).reshape(len(x), -1)
    strata = x.shape[1]
    return counts(cells, stratum=np.repeat(np.arange(strata), 2), prediction=[1, 0] * strata)


def people(sizes: Any, **columns: Any) -> pl.DataFrame:
    """Return rows of groups of these sizes."""
    names = [f"g{g}" for g in range(len(sizes))]
    return pl.DataFrame({"group": np.repeat(names, sizes), **columns})


def audit_scores(sizes: Any, label: Any, score: Any, *metrics: str, **options: Any) -> fg.Report:
    return fg.audit(
        people(sizes, label=label, score=score),
        **BINARY, label="label", score="score", metrics=[*metrics], **options,
    )  # fmt: skip


def confusion(base: float, recall: float, false_positives: float) -> np.ndarray:
    """Return the probabilities of TP, FP, FN and TN."""
    positive = np.array([recall, 1 - recall])
    negative = np.array([false_positives, 1 - false_positives])
    return np.stack([base * positive, (1 - base) * negative], axis=1).ravel()


def confusions(sizes: Any, shares: Any, rng: np.random.Generator) -> pl.DataFrame:
    """Draw confusion tables of groups."""
    drawn = [rng.multinomial(n, s / s.sum()) for n, s in zip(sizes, shares, strict=True)]
    return counts(np.stack(drawn), **CELLS)


def class_shares(classes: int, correct: float, evenness: float) -> np.ndarray:
    """Return the joint shares of labels and predictions; mistakes go to near classes."""
    labels = evenness ** np.arange(classes)
    distance = np.abs(np.subtract.outer(np.arange(classes), np.arange(classes)))
    mistakes = np.where(distance > 0, 0.6**distance, 0.0)
    table = np.eye(classes) * correct
    table += (1 - correct) * mistakes / mistakes.sum(1, keepdims=True)
    return labels[:, None] * table / labels.sum()
