"""The metrics of labels, before training.

Every function takes boolean columns of the same rows; the formulas, ranges and edge rules are in
``fairgauge metrics NAME``. Where a metric has no value, it raises ValueError with smclarify's text.
"""

# ruff: noqa: N802 - the names are smclarify's
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge_cloud._coded_column import from_series
from fairgauge_cloud._service_texts import NO_SHARED
from fairgauge_cloud.smclarify.bias.metrics import common
from fairgauge_cloud.smclarify.bias.metrics.common import facet, flag, measure, require

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from pandas import Series

    Array = NDArray[np.float64]


def CI(feature: Series, sensitive_facet_index: Series) -> float:
    """Class Imbalance (CI)."""
    del feature
    return measure(["CI"], sensitive_facet_index)[0]


def DPL(feature: Series, sensitive_facet_index: Series, positive_label_index: Series) -> float:
    """Difference in Positive Proportions in Labels (DPL)."""
    del feature
    label = flag(positive_label_index, "positive_label_index")
    return measure(["DPL"], sensitive_facet_index, label)[0]


def CDDL(
    feature: Series,
    sensitive_facet_index: Series,
    positive_label_index: Series,
    group_variable: Series,
) -> float:
    """Conditional Demographic Disparity in Labels (CDDL)."""
    return common.CDD(feature, sensitive_facet_index, positive_label_index, group_variable)


def _distance(
    name: str, title: str, of_shares: Callable[[Array, Array], float]
) -> Callable[[Series, Series], float]:
    """Return the function of a distance of labels, which are not collapsed.

    As in smclarify, categories that either side lacks are removed without renormalising.
    """

    def metric(label: Series, sensitive_facet_index: Series) -> float:
        column = from_series(label, "label")
        inside = facet(sensitive_facet_index).codes >= 0
        known = column.codes >= 0
        counts = [
            np.bincount(column.codes[known & side], minlength=len(column.levels))
            for side in (~inside, inside)
        ]
        shared = (counts[0] > 0) & (counts[1] > 0)
        require(bool(shared.any()), NO_SHARED)
        p, q = (each[shared] / each.sum() for each in counts)
        return float(of_shares(p, q))

    return common.named(metric, name, title)


def _kl(p: Array, q: Array) -> float:
    return float((p * np.log(p / q)).sum())


KL = _distance("KL", "Kullback-Liebler Divergence", _kl)
JS = _distance(
    "JS", "Jensen-Shannon Divergence", lambda p, q: (_kl(p, (p + q) / 2) + _kl(q, (p + q) / 2)) / 2
)
LP = _distance("LP", "L-p Norm", lambda p, q: float(np.sqrt(((p - q) ** 2).sum())))
TVD = _distance("TVD", "Total Variation Distance", lambda p, q: float(np.abs(p - q).sum() / 2))
KS = _distance("KS", "Kolmogorov-Smirnov Distance", lambda p, q: float(np.abs(p - q).max()))
