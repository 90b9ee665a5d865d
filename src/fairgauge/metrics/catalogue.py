"""THE table: every rate and every metric is one row here, and nowhere else.

``d`` is the group, ``a`` its reference. Citations: ``clarify:X`` is the page of metric X in the
Amazon SageMaker Clarify guide, ``vertex:data`` and ``vertex:model`` are the two pages on bias
metrics in the Google Vertex AI guide.
"""

from __future__ import annotations

from typing import Literal

from fairgauge.metrics.comparisons import (
    ConditionalDisparity,
    Contrast,
    Distance,
    Imbalance,
    Inequality,
    Metric,
    Order,
)
from fairgauge.metrics.kinds import Blend, Quotient, Rate, Statistic
from fairgauge.metrics.symbols import ALL, FN, FP, TN, TP
from fairgauge.words import Better

HIGHER, LOWER, NEITHER = Better.HIGHER, Better.LOWER, Better.NEITHER
D_MINUS_A: Order = "group - reference"
A_MINUS_D: Order = "reference - group"

# ruff: noqa: E501 - a row is one line, so that the table reads as a table
# fmt: off
RATES: tuple[Statistic, ...] = (
    Rate(name="base_rate", of=TP + FN, among=ALL, better=NEITHER, aka=("prevalence", "base rate", "observed positive rate"), says="the share of rows whose label is positive", cite=("clarify:DPL", "vertex:data")),
    Rate(name="negative_base_rate", of=TN + FP, among=ALL, better=NEITHER, aka=("observed negative rate",), says="the share of rows whose label is negative", cite=("clarify:DPL",)),
    Rate(name="selection_rate", of=TP + FP, among=ALL, better=HIGHER, aka=("predicted positive rate", "predicted prevalence", "pprev", "positive prediction rate", "Proportion of Positive Predictions in Labels"), says="the share of rows that are predicted positive", cite=("clarify:DPPL", "vertex:model")),
    Rate(name="rejection_share", of=TN + FN, among=ALL, better=LOWER, aka=("predicted negative rate", "Proportion of Negative Predictions in Labels"), says="the share of rows that are predicted negative", cite=("clarify:DPPL",)),
    Rate(name="accuracy", of=TP + TN, among=ALL, better=HIGHER, aka=("acc",), says="the share of predictions that are right", cite=("clarify:AD", "vertex:model")),
    Rate(name="error_rate", of=FP + FN, among=ALL, better=LOWER, aka=("misclassification rate", "zero one loss"), says="the share of predictions that are wrong", cite=("clarify:AD",)),
    Rate(name="true_positive_rate", of=TP, among=TP + FN, better=HIGHER, aka=("tpr", "recall", "sensitivity", "hit rate", "True Positive Rate / Recall"), says="the share of observed positives that are predicted positive", cite=("clarify:RD", "vertex:model")),
    Rate(name="false_negative_rate", of=FN, among=TP + FN, better=LOWER, aka=("fnr", "miss rate"), says="the share of observed positives that are predicted negative", cite=("clarify:RD",)),
    Rate(name="true_negative_rate", of=TN, among=TN + FP, better=HIGHER, aka=("tnr", "specificity", "selectivity", "True Negative Rate / Specificity"), says="the share of observed negatives that are predicted negative", cite=("clarify:SD", "vertex:model")),
    Rate(name="false_positive_rate", of=FP, among=TN + FP, better=LOWER, aka=("fpr", "fall-out", "false alarm rate"), says="the share of observed negatives that are predicted positive", cite=("clarify:SD",)),
    Rate(name="positive_predictive_value", of=TP, among=TP + FP, better=HIGHER, aka=("ppv", "precision", "acceptance rate", "Acceptance Rate / Precision"), says="the share of predicted positives that are observed positive", cite=("clarify:DAR",)),
    Rate(name="false_discovery_rate", of=FP, among=TP + FP, better=LOWER, aka=("fdr",), says="the share of predicted positives that are observed negative", cite=("clarify:DAR",)),
    Rate(name="negative_predictive_value", of=TN, among=TN + FN, better=HIGHER, aka=("npv", "rejection rate"), says="the share of predicted negatives that are observed negative", cite=("clarify:DRR",)),
    Rate(name="false_omission_rate", of=FN, among=TN + FN, better=LOWER, aka=("for",), says="the share of predicted negatives that are observed positive", cite=("clarify:DRR",)),
    Quotient(name="f1", over=2 * TP, under=2 * TP + FP + FN, bounded=True, better=HIGHER, aka=("f1 score", "f-score", "dice"), says="the harmonic mean of precision and recall", cite=("clarify:performance",)),
    Quotient(name="error_type_ratio", over=FN, under=FP, better=NEITHER, aka=("treatment ratio", "ratio of error types", "fn/fp"), says="the number of missed positives for each false alarm", cite=("clarify:TE", "vertex:model")),
    Quotient(name="conditional_acceptance", over=TP + FN, under=TP + FP, better=NEITHER, aka=("Conditional Acceptance",), says="observed positives for each predicted positive", cite=("clarify:DCA",)),
    Quotient(name="conditional_rejection", over=TN + FP, under=TN + FN, better=NEITHER, aka=("Conditional Rejection",), says="observed negatives for each predicted negative", cite=("clarify:DCR",)),
)
_BY_NAME = {row.name: row for row in RATES}


def rate(name: str) -> Statistic:
    """Return a rate by its catalogue name."""
    return _BY_NAME[name]


def _share(name: str) -> Rate:
    row = _BY_NAME[name]
    assert isinstance(row, Rate)
    return row


RATES = (
    *RATES,
    Blend(name="balanced_accuracy", of=(_share("true_positive_rate"), _share("true_negative_rate")), better=HIGHER, aka=("bacc",), says="the mean of true positive rate and true negative rate", cite=("sklearn:balanced_accuracy_score",)),
)
_BY_NAME = {row.name: row for row in RATES}

CLARIFY: tuple[Metric, ...] = (
    # before training: sizes and labels
    Imbalance(name="CI", set="clarify", title="Class Imbalance (CI)", order=A_MINUS_D, standard=True, says="how much smaller the group is than its reference", positive="the group has fewer rows than its reference", aka=("class imbalance",), cite=("clarify:CI",)),
    Contrast(name="DPL", set="clarify", title="Difference in Proportions of Labels (DPL)", of=rate("base_rate"), by="difference", order=A_MINUS_D, standard=True, says="how much less often the group is observed positive", positive="the group has a lower share of positive labels", aka=("Difference in Positive Proportions in Labels", "Difference in Positive Proportions in Labels (DPL)"), cite=("clarify:DPL",)),
    Distance(name="KL", set="clarify", title="Kullback-Leibler Divergence (KL)", of="label", by="kl", says="how far the reference's label distribution diverges from the group's", positive="the distributions differ; the sign carries no direction", aka=("Kullback-Liebler Divergence (KL)", "kullback leibler divergence"), cite=("clarify:KL",)),
    Distance(name="JS", set="clarify", title="Jensen-Shannon Divergence (JS)", of="label", by="js", says="how far both label distributions diverge from their mean", positive="the distributions differ; the sign carries no direction", aka=("jensen shannon divergence",), cite=("clarify:JS",)),
    Distance(name="LP", set="clarify", title="Lp-norm (LP)", of="label", by="lp", says="the Euclidean distance of the label distributions", positive="the distributions differ; the sign carries no direction", aka=("L-p Norm (LP)", "lp norm"), cite=("clarify:LP",)),
    Distance(name="TVD", set="clarify", title="Total Variation Distance (TVD)", of="label", by="tvd", says="the share of labels that would have to change for equal distributions", positive="the distributions differ; the sign carries no direction", aka=("total variation distance",), cite=("clarify:TVD",)),
    Distance(name="KS", set="clarify", title="Kolmogorov-Smirnov (KS)", of="label", by="ks", says="the largest difference in the share of any one label", positive="the distributions differ; the sign carries no direction", aka=("Kolmogorov-Smirnov Distance (KS)", "kolmogorov smirnov distance"), cite=("clarify:KS",)),
    ConditionalDisparity(name="CDDL", set="clarify", title="Conditional Demographic Disparity in Labels (CDDL)", of="label", standard=True, says="the group's share of negative labels less its share of positive labels, within strata", positive="the group has more of the negative than of the positive labels", aka=("conditional demographic disparity in labels",), cite=("clarify:CDDL",)),
    # after training: predictions against labels
    Contrast(name="DPPL", set="clarify", title="Difference in Positive Proportions in Predicted Labels (DPPL)", of=rate("selection_rate"), by="difference", order=A_MINUS_D, standard=True, says="how much less often the group is predicted positive", positive="the group is predicted positive less often", aka=("Difference in Positive Proportions in Predicted Labels",), cite=("clarify:DPPL",)),
    Contrast(name="DI", set="clarify", title="Disparate Impact (DI)", of=rate("selection_rate"), by="ratio", standard=True, says="how many times as often the group is predicted positive", positive="above 1, the group is predicted positive more often", aka=("impact ratio", "adverse impact ratio"), cite=("clarify:DI",)),
    Contrast(name="DCA", set="clarify", title="Difference in Conditional Acceptance (DCAcc)", of=rate("conditional_acceptance"), by="difference", order=A_MINUS_D, standard=True, says="how many more observed positives the reference has for each predicted positive", positive="relative to the labels, the model accepts too few of the reference, more so than of the group", aka=("DCAcc", "Difference in Conditional Acceptance", "Difference in Conditional Acceptance (DCA)"), cite=("clarify:DCA",)),
    Contrast(name="DCR", set="clarify", title="Difference in Conditional Rejection (DCR)", of=rate("conditional_rejection"), by="difference", order=D_MINUS_A, standard=True, says="how many more observed negatives the group has for each predicted negative", positive="relative to the labels, the model rejects too few of the group, more so than of the reference", aka=("Difference in Conditional Rejection",), cite=("clarify:DCR",)),
    Contrast(name="RD", set="clarify", title="Recall Difference (RD)", of=rate("true_positive_rate"), by="difference", order=A_MINUS_D, standard=True, says="how much less often the group's observed positives are found", positive="more false negatives among the group's observed positives", cite=("clarify:RD",)),
    Contrast(name="SD", set="clarify", title="Specificity Difference (SD)", of=rate("true_negative_rate"), by="difference", order=D_MINUS_A, standard=True, says="how much more often the group's observed negatives are predicted negative", positive="fewer false positives in the group: Clarify reads it as bias against the group", cite=("clarify:SD",)),
    Contrast(name="DAR", set="clarify", title="Difference in Acceptance Rates (DAR)", of=rate("positive_predictive_value"), by="difference", order=A_MINUS_D, standard=True, says="how much less often the group's predicted positives are right", positive="more false positives among the group's predicted positives", aka=("Difference in Acceptance Rates",), cite=("clarify:DAR",)),
    Contrast(name="DRR", set="clarify", title="Difference in Rejection Rates (DRR)", of=rate("negative_predictive_value"), by="difference", order=D_MINUS_A, standard=True, says="how much more often the group's predicted negatives are right", positive="fewer false negatives among the group's predicted negatives", aka=("Difference in Rejection Rates",), cite=("clarify:DRR",)),
    Contrast(name="AD", set="clarify", title="Accuracy Difference (AD)", of=rate("accuracy"), by="difference", order=A_MINUS_D, standard=True, says="how much less often predictions are right for the group", positive="the group is judged less accurately", cite=("clarify:AD",)),
    Contrast(name="TE", set="clarify", title="Treatment Equality (TE)", of=rate("error_type_ratio"), by="difference", order=D_MINUS_A, standard=True, says="how many more false negatives the group has for each false positive", positive="the group's errors are more often missed positives", cite=("clarify:TE",)),
    ConditionalDisparity(name="CDDPL", set="clarify", title="Conditional Demographic Disparity in Predicted Labels (CDDPL)", of="prediction", standard=True, says="the group's share of predicted negatives less its share of predicted positives, within strata", positive="the group has more of the rejected than of the accepted", aka=("conditional demographic disparity in predicted labels",), cite=("clarify:CDDPL",)),
    Inequality(name="GE", set="clarify", title="Generalized Entropy (GE)", says="how unevenly benefit is spread over all rows", positive="above 0, benefit is spread unevenly", aka=("generalized entropy", "generalized entropy index"), cite=("clarify:GE",)),
)

VERTEX: tuple[Metric, ...] = (
    Imbalance(name="vertex.difference_in_population_size", set="vertex", title="Difference in Population Size", order=D_MINUS_A, says="how much larger slice 1 (the group) is than slice 2 (its reference)", positive="slice 1 has more rows", cite=("vertex:data",)),
    Contrast(name="vertex.dpptl", set="vertex", title="Difference in Positive Proportions in True Labels (DPPTL)", of=rate("base_rate"), by="difference", says="how much more often slice 1 is observed positive", positive="slice 1 has a higher share of positive labels", aka=("dpptl", "label imbalance", "Difference in Positive Proportions in True Labels"), cite=("vertex:data",)),
    Contrast(name="vertex.accuracy_difference", set="vertex", title="Accuracy Difference", of=rate("accuracy"), by="difference", says="how much more often predictions are right for slice 1", positive="slice 1 is judged more accurately", cite=("vertex:model",)),
    Contrast(name="vertex.dpppl", set="vertex", title="Difference in Positive Proportions in Predicted Labels (DPPPL)", of=rate("selection_rate"), by="difference", says="how much more often slice 1 is predicted positive", positive="slice 1 is predicted positive more often", aka=("dpppl",), cite=("vertex:model",)),
    Contrast(name="vertex.recall_difference", set="vertex", title="Recall Difference (Equal Opportunity)", of=rate("true_positive_rate"), by="difference", says="how much more often slice 1's observed positives are found", positive="more of slice 1's observed positives are found", cite=("vertex:model",)),
    Contrast(name="vertex.specificity_difference", set="vertex", title="Specificity Difference", of=rate("true_negative_rate"), by="difference", says="how much more often slice 1's observed negatives are predicted negative", positive="fewer false positives among slice 1's observed negatives", cite=("vertex:model",)),
    Contrast(name="vertex.difference_in_ratio_of_error_types", set="vertex", title="Difference in Ratio of Error Types (Treatment Equality)", of=rate("error_type_ratio"), by="difference", says="how many more false negatives slice 1 has for each false positive", positive="relatively more false negatives (type II errors) in slice 1", aka=("difference in ratio of error types",), cite=("vertex:model",)),
)
# fmt: on


def _native(of: Statistic, by: Literal["difference", "ratio"]) -> Contrast:
    more = f"the group's {of.title} is higher than its reference's"
    return Contrast(
        name=f"{of.name}.{by}",
        set="native",
        title=f"{of.title[:1].upper()}{of.title[1:]}, {by}",
        of=of,
        by=by,
        says=f"the group's {of.title} {'less' if by == 'difference' else 'over'} its reference's",
        positive=more if by == "difference" else f"above 1, {more}",
        aka=tuple(f"{name} {by}" for name in of.aka),
        cite=of.cite,
    )


NATIVE: tuple[Metric, ...] = tuple(
    _native(of, by)
    for of in RATES
    for by in ("difference", "ratio")  # type: ignore[arg-type]
)

METRICS: tuple[Metric, ...] = (*CLARIFY, *VERTEX, *NATIVE)
