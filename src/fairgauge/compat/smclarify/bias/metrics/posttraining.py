"""The metrics of predictions, after training.

Every function takes boolean columns of the same rows; the formulas, ranges and edge rules are in
``fairgauge metrics NAME``. Where a metric has no value, it raises ValueError with smclarify's text.
"""

# ruff: noqa: N802 - the names are smclarify's
from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.compat._coded_column import from_frame
from fairgauge.compat._flip_test import Features
from fairgauge.compat.smclarify.bias.metrics import common
from fairgauge.compat.smclarify.bias.metrics.common import require
from fairgauge.compat.smclarify.bias.metrics.flags import facet, flag, measure

if TYPE_CHECKING:
    import pandas as pd


def DPPL(
    feature: pd.Series, sensitive_facet_index: pd.Series, positive_predicted_label_index: pd.Series
) -> float:
    """Difference in Positive Proportions in Predicted Labels (DPPL)."""
    return common.DPL(feature, sensitive_facet_index, positive_predicted_label_index)


def DI(
    feature: pd.Series, sensitive_facet_index: pd.Series, positive_predicted_label_index: pd.Series
) -> float:
    """Disparate Impact (DI)."""
    del feature
    prediction = flag(positive_predicted_label_index, "positive_predicted_label_index")
    return measure(["DI"], sensitive_facet_index, prediction=prediction)[0]


def DCA(
    feature: pd.Series,
    sensitive_facet_index: pd.Series,
    positive_label_index: pd.Series,
    positive_predicted_label_index: pd.Series,
) -> float:
    """Difference in Conditional Acceptance (DCA)."""
    return common.DCO(
        feature, sensitive_facet_index, positive_label_index, positive_predicted_label_index
    )[0]


def DCR(
    feature: pd.Series,
    sensitive_facet_index: pd.Series,
    positive_label_index: pd.Series,
    positive_predicted_label_index: pd.Series,
) -> float:
    """Difference in Conditional Rejection (DCR)."""
    return common.DCO(
        feature, sensitive_facet_index, positive_label_index, positive_predicted_label_index
    )[1]


def RD(
    feature: pd.Series,
    sensitive_facet_index: pd.Series,
    positive_label_index: pd.Series,
    positive_predicted_label_index: pd.Series,
) -> float:
    """Recall Difference (RD)."""
    return common.DLA(
        feature, sensitive_facet_index, positive_label_index, positive_predicted_label_index
    )[0]


def SD(
    feature: pd.Series,
    sensitive_facet_index: pd.Series,
    positive_label_index: pd.Series,
    positive_predicted_label_index: pd.Series,
) -> float:
    """Specificity Difference (SD)."""
    return common.DLA(
        feature, sensitive_facet_index, positive_label_index, positive_predicted_label_index
    )[1]


def DAR(
    feature: pd.Series,
    sensitive_facet_index: pd.Series,
    positive_label_index: pd.Series,
    positive_predicted_label_index: pd.Series,
) -> float:
    """Difference in Acceptance Rates (DAR)."""
    return common.DLR(
        feature, sensitive_facet_index, positive_label_index, positive_predicted_label_index
    )[0]


def DRR(
    feature: pd.Series,
    sensitive_facet_index: pd.Series,
    positive_label_index: pd.Series,
    positive_predicted_label_index: pd.Series,
) -> float:
    """Difference in Rejection Rates (DRR)."""
    return common.DLR(
        feature, sensitive_facet_index, positive_label_index, positive_predicted_label_index
    )[1]


def AD(
    feature: pd.Series,
    sensitive_facet_index: pd.Series,
    positive_label_index: pd.Series,
    positive_predicted_label_index: pd.Series,
) -> float:
    """Accuracy Difference (AD)."""
    del feature
    return _of_both(
        "AD", sensitive_facet_index, positive_label_index, positive_predicted_label_index
    )


def CDDPL(
    feature: pd.Series,
    sensitive_facet_index: pd.Series,
    positive_predicted_label_index: pd.Series,
    group_variable: pd.Series,
) -> float:
    """Conditional Demographic Disparity in Predicted Labels (CDDPL)."""
    return common.CDD(
        feature, sensitive_facet_index, positive_predicted_label_index, group_variable
    )


def TE(
    feature: pd.Series,
    sensitive_facet_index: pd.Series,
    positive_label_index: pd.Series,
    positive_predicted_label_index: pd.Series,
) -> float:
    """Treatment Equality (TE)."""
    del feature
    return _of_both(
        "TE", sensitive_facet_index, positive_label_index, positive_predicted_label_index
    )


def FT(
    df: pd.DataFrame, sensitive_facet_index: pd.Series, positive_predicted_label_index: pd.Series
) -> float:
    """Flip Test (FT)."""
    inside = facet(sensitive_facet_index)
    prediction = flag(positive_predicted_label_index, "positive_predicted_label_index")
    return Features(lambda: from_frame(df)).flip(inside.codes == 0, prediction.states == 1)


def GE(positive_label_index: pd.Series, positive_predicted_label_index: pd.Series) -> float:
    """Generalized Entropy (GE)."""
    label = flag(positive_label_index, "positive_label_index")
    prediction = flag(positive_predicted_label_index, "positive_predicted_label_index")
    require(len(positive_label_index) > 0, "dataset must be non-empty")
    everyone = positive_label_index | True
    return measure(["GE"], everyone, label, prediction)[0]


def _of_both(
    metric: str,
    sensitive_facet_index: pd.Series,
    positive_label_index: pd.Series,
    positive_predicted_label_index: pd.Series,
) -> float:
    label = flag(positive_label_index, "positive_label_index")
    prediction = flag(positive_predicted_label_index, "positive_predicted_label_index")
    return measure([metric], sensitive_facet_index, label, prediction)[0]
