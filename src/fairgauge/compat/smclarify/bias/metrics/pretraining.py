"""The metrics of labels, before training.

Every function takes boolean columns of the same rows; the formulas, ranges and edge rules are in
``fairgauge metrics NAME``. Where a metric has no value, it raises ValueError with smclarify's text.
"""

# ruff: noqa: N802 - the names are smclarify's
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.distributions import DISTANCES, Distances
from fairgauge.compat._coded_column import from_series
from fairgauge.compat._service_texts import NO_SHARED
from fairgauge.compat.smclarify.bias.metrics import common
from fairgauge.compat.smclarify.bias.metrics.common import facet, flag, measure, require
from fairgauge.enums import Profile

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd


def CI(feature: pd.Series, sensitive_facet_index: pd.Series) -> float:
    """Class Imbalance (CI)."""
    del feature
    return measure(["CI"], sensitive_facet_index)[0]


def DPL(
    feature: pd.Series, sensitive_facet_index: pd.Series, positive_label_index: pd.Series
) -> float:
    """Difference in Positive Proportions in Labels (DPL)."""
    del feature
    label = flag(positive_label_index, "positive_label_index")
    return measure(["DPL"], sensitive_facet_index, label)[0]


def CDDL(
    feature: pd.Series,
    sensitive_facet_index: pd.Series,
    positive_label_index: pd.Series,
    group_variable: pd.Series,
) -> float:
    """Conditional Demographic Disparity in Labels (CDDL)."""
    return common.CDD(feature, sensitive_facet_index, positive_label_index, group_variable)


def _distance(name: str, title: str, by: Distances) -> Callable[[pd.Series, pd.Series], float]:
    """Return the function of a distance of labels, which are not collapsed."""

    def metric(label: pd.Series, sensitive_facet_index: pd.Series) -> float:
        column = from_series(label, "label")
        inside = facet(sensitive_facet_index).codes >= 0
        known = column.codes >= 0
        group, reference = (
            np.bincount(column.codes[known & side], minlength=len(column.levels)).astype(float)
            for side in (inside, ~inside)
        )
        found = DISTANCES[by].between(reference[None], group[None], Profile.CLARIFY)[0]
        require(bool(found == found), NO_SHARED)
        return float(found)

    return common.named(metric, name, title)


KL = _distance("KL", "Kullback-Liebler Divergence", "kl")
JS = _distance("JS", "Jensen-Shannon Divergence", "js")
LP = _distance("LP", "L-p Norm", "lp")
TVD = _distance("TVD", "Total Variation Distance", "tvd")
KS = _distance("KS", "Kolmogorov-Smirnov Distance", "ks")
