"""Many simulated data sets as the sides of comparisons, and the intervals an audit makes of them.

The data sets stand side by side, as the groups of an audit do, and go through the functions that an
audit calls: nothing of an interval is made here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.cells import ConfusionCounts
from fairgauge.catalogue.lookup import find_metric, find_rate
from fairgauge.enums import Profile
from fairgauge.inference import Comparisons, Evidence, Uncertainty
from fairgauge.inference.uncertainty import rate_values
from fairgauge.question.specification import Spec
from fairgauge.resolve.sides import BOTH, LABEL, PREDICTION

if TYPE_CHECKING:
    from fairgauge.inference.interval import Intervals


def _evidence(side_of, weights, everyone=None):
    """Return evidence; ``side_of`` makes a side of weights, one for each row."""
    if weights is None:
        side = side_of(1.0)
        return Evidence(side, side, everyone=everyone)
    weights = weights / weights.mean(axis=1, keepdims=True)
    side, squares, cubes, cases = (side_of(weights**power) for power in (1, 2, 3, 0))
    return Evidence(side, cases, squares, None, everyone, cubes)


def regression(labels, predictions, weights=None, everyone=None):
    """Return the evidence of labels and predictions of shape (data sets, rows)."""
    gap = predictions - labels

    def side(w):
        sums = {
            "n": np.broadcast_to(w, labels.shape).sum(1),
            "gap": (w * np.abs(gap)).sum(1),
            "distance3": (w * np.abs(gap) ** 3).sum(1),
            "gap2_y": (w * gap**2 * labels).sum(1),
            "gap2_yy": (w * gap**2 * labels**2).sum(1),
        }
        for first, second, of in (("y", "yy", labels), ("p", "pp", predictions)):
            powers = first, second, f"{first}3", f"{first}4"
            sums |= {name: (w * of**power).sum(1) for power, name in enumerate(powers, 1)}
        sums |= {f"gap{power}": (w * gap**power).sum(1) for power in (2, 3, 4)}
        return ConfusionCounts(size=sums["n"], moments=sums)

    return _evidence(side, weights, everyone)


def binary(labels, predictions, weights=None):
    """Return the evidence of boolean labels and predictions of shape (data sets, rows)."""
    cells = [labels & predictions, ~labels & predictions, labels & ~predictions]
    cells.append(~labels & ~predictions)

    def side(w):
        counts = np.stack([np.where(cell, w, 0.0).sum(1) for cell in cells], axis=-1)
        return of_cells(counts)

    return _evidence(side, weights)


def of_cells(counts):
    """Return one side of counts of TP, FP, FN and TN; shape (data sets, 4)."""
    counts = counts.astype(float)
    tp, fp, fn, tn = np.moveaxis(counts, -1, 0)
    zero = np.zeros_like(tp)
    label, prediction = ((tp + fn, fp + tn), (tp + fp, fn + tn))
    return ConfusionCounts(
        size=counts.sum(-1),
        cells={
            BOTH: counts,
            LABEL: np.stack([label[0], zero, zero, label[1]], axis=-1),
            PREDICTION: np.stack([prediction[0], zero, zero, prediction[1]], axis=-1),
        },
        classes={"label": np.stack(label, axis=-1), "prediction": np.stack(prediction, axis=-1)},
        joint=None,
    )


def rate_intervals(name, evidence):
    """Return the limits of a rate of every data set, and which are adequate."""
    margin = np.ones(len(evidence.side.size), dtype=bool)
    statistic = find_rate(name)
    made = rate_values([statistic], evidence, margin, Uncertainty(Spec()), Profile.DOCUMENTED)[name]
    ends = [(rate.interval.low, rate.interval.high) if rate.interval else (np.nan,) * 2
            for rate in made]  # fmt: skip
    return np.array(ends).T, np.array([rate.status == "ok" for rate in made])


def compared(name, group, reference) -> tuple[Intervals, np.ndarray]:
    """Return the intervals of a comparison in every data set, and which are adequate."""
    margin = np.ones(len(group.side.size), dtype=bool)
    sides, metric = Comparisons(group, reference, None, margin), find_metric(name)
    value = metric.value(group.side, reference.side, Profile.DOCUMENTED)
    found = Uncertainty(Spec()).of_metric(metric, sides, value)
    return found, np.array([few is None for few in found.too_few])
