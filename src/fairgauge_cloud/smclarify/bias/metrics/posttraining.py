"""The metrics of predictions, after training.

Every function takes boolean columns of the same rows; the formulas, ranges and edge rules are in
``fairgauge metrics NAME``. Where a metric has no value, it raises ValueError with smclarify's text.
"""

# ruff: noqa: N802 - the names are smclarify's
from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from fairgauge_cloud._coded_column import from_frame
from fairgauge_cloud._service_metrics import Features
from fairgauge_cloud.smclarify.bias.metrics import common
from fairgauge_cloud.smclarify.bias.metrics.common import facet, flag, measure, require

if TYPE_CHECKING:
    from pandas import DataFrame, Series


def DPPL(
    feature: Series, sensitive_facet_index: Series, positive_predicted_label_index: Series
) -> float:
    """Difference in Positive Proportions in Predicted Labels (DPPL)."""
    return common.DPL(feature, sensitive_facet_index, positive_predicted_label_index)


def DI(
    feature: Series, sensitive_facet_index: Series, positive_predicted_label_index: Series
) -> float:
    """Disparate Impact (DI)."""
    del feature
    prediction = flag(positive_predicted_label_index, "positive_predicted_label_index")
    return measure(["DI"], sensitive_facet_index, prediction=prediction)[0]


_of = common.of_labels_and_predictions
_first, _second = itemgetter(0), itemgetter(1)
DCA = _of("DCA", "Difference in Conditional Acceptance", ["DCA", "DCR"], _first)
DCR = _of("DCR", "Difference in Conditional Rejection", ["DCA", "DCR"], _second)
RD = _of("RD", "Recall Difference", ["RD", "SD"], _first)
SD = _of("SD", "Specificity Difference", ["RD", "SD"], _second)
DAR = _of("DAR", "Difference in Acceptance Rates", ["DAR", "DRR"], _first)
DRR = _of("DRR", "Difference in Rejection Rates", ["DAR", "DRR"], _second)
AD = _of("AD", "Accuracy Difference", ["AD"], _first)
TE = _of("TE", "Treatment Equality", ["TE"], _first)


def CDDPL(
    feature: Series,
    sensitive_facet_index: Series,
    positive_predicted_label_index: Series,
    group_variable: Series,
) -> float:
    """Conditional Demographic Disparity in Predicted Labels (CDDPL)."""
    return common.CDD(
        feature, sensitive_facet_index, positive_predicted_label_index, group_variable
    )


def FT(
    df: DataFrame, sensitive_facet_index: Series, positive_predicted_label_index: Series
) -> float:
    """Flip Test (FT)."""
    inside = facet(sensitive_facet_index)
    prediction = flag(positive_predicted_label_index, "positive_predicted_label_index")
    return Features(lambda: from_frame(df)).flip(inside.codes == 0, prediction.states == 1)


def GE(positive_label_index: Series, positive_predicted_label_index: Series) -> float:
    """Generalized Entropy (GE)."""
    label = flag(positive_label_index, "positive_label_index")
    prediction = flag(positive_predicted_label_index, "positive_predicted_label_index")
    require(len(positive_label_index) > 0, "dataset must be non-empty")
    everyone = positive_label_index | True
    return measure(["GE"], everyone, label, prediction)[0]
