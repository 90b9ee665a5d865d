"""THE table: every rate and every metric is one row here, and nowhere else.

``d`` is the group, ``a`` its reference. Citations: ``clarify:X`` is the page of metric X in the
Amazon SageMaker Clarify guide, ``vertex:data`` and ``vertex:model`` are the two pages on bias
metrics in the Google Vertex AI guide.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from fairgauge.catalogue import moments, score_statistics
from fairgauge.catalogue.across import DifferentialFairness, Joint, Spread, Spreads
from fairgauge.catalogue.averages import Kappa
from fairgauge.catalogue.cells import ALL, FN, FP, TN, TP
from fairgauge.catalogue.comparisons import Combined, Contrast, Imbalance, Metric, Order
from fairgauge.catalogue.conditional import ConditionalDisparity
from fairgauge.catalogue.distributions import CrossAuc, Distance, ScoreDistance
from fairgauge.catalogue.inequality import Inequality, InequalityPart
from fairgauge.catalogue.moments import MomentStatistic
from fairgauge.catalogue.representation import Representation
from fairgauge.catalogue.row_metrics import RowMetric
from fairgauge.catalogue.score_statistics import ScoreStatistic
from fairgauge.catalogue.standardised_differences import StandardisedDifference
from fairgauge.catalogue.statistics import Blend, Quotient, Rate, Statistic
from fairgauge.catalogue.synonyms import NAMES, plain
from fairgauge.enums import Better

if TYPE_CHECKING:
    from fairgauge.catalogue.distances import Distances

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
    Rate(name="jaccard_index", of=TP, among=TP + FP + FN, better=HIGHER, aka=("jaccard", "jaccard score", "threat score", "critical success index", "intersection over union"), says="the share of right positives among all that are observed or predicted positive", cite=("sklearn:jaccard_score",)),
    Quotient(name="f1", over=2 * TP, under=2 * TP + FP + FN, bounded=True, better=HIGHER, aka=("f1 score", "f-score", "dice"), says="the harmonic mean of precision and recall", cite=("clarify:performance",)),
    Quotient(name="error_type_ratio", over=FN, under=FP, better=NEITHER, aka=("treatment ratio", "ratio of error types", "fn/fp"), says="the number of missed positives for each false alarm", cite=("clarify:TE", "vertex:model")),
    Quotient(name="conditional_acceptance", over=TP + FN, under=TP + FP, better=NEITHER, aka=("Conditional Acceptance",), says="observed positives for each predicted positive", cite=("clarify:DCA",)),
    Quotient(name="conditional_rejection", over=TN + FP, under=TN + FN, better=NEITHER, aka=("Conditional Rejection",), says="observed negatives for each predicted negative", cite=("clarify:DCR",)),
)
TPR, FPR, TNR, PPV, FOR = (
    next(row for row in RATES if isinstance(row, Rate) and row.name == name)
    for name in ("true_positive_rate", "false_positive_rate", "true_negative_rate", "positive_predictive_value", "false_omission_rate")
)
BLENDS: tuple[Statistic, ...] = (
    Blend(name="balanced_accuracy", of=(TPR, TNR), better=HIGHER, aka=("bacc", "balanced accuracy score"), says="the mean of true positive rate and true negative rate", cite=("sklearn:balanced_accuracy_score",)),
    Blend(name="average_odds", of=(TPR, FPR), better=NEITHER, says="the mean of true positive rate and false positive rate", cite=("aif360:average_odds_difference",)),
)
KAPPA = Kappa(name="cohen_kappa", signed=True, better=HIGHER, aka=("kappa", "cohen kappa score"), says="the agreement of predictions and labels beyond chance", cite=("sklearn:cohen_kappa_score",))
PREDICTIVE = Blend(name="average_predictive_value", of=(PPV, FOR), better=NEITHER, says="the mean of positive predictive value and false omission rate", cite=("aif360:average_predictive_value_difference",))

SCORES: tuple[Statistic, ...] = (
    ScoreStatistic(name="roc_auc", compute=score_statistics.roc_auc, bound=score_statistics.roc_auc_bound, two_classes=True, written="P(score of a positive > score of a negative) + P(equal) / 2", better=HIGHER, aka=("auc", "auroc", "area under the roc curve", "subgroup auc"), says="the probability that an observed positive scores above an observed negative, ties counting half", cite=("sklearn:roc_auc_score",)),
    ScoreStatistic(name="average_precision", compute=score_statistics.average_precision, bound=score_statistics.average_precision_bound, two_classes=True, written="sum_k (recall_k - recall_k-1) precision_k, from the highest score down", better=HIGHER, aka=("pr auc", "auprc", "ap"), says="precision averaged over the observed positives, from the highest score down", cite=("sklearn:average_precision_score",)),
    ScoreStatistic(name="brier_score", compute=score_statistics.brier_score, probability=True, written="mean((score - label)^2)", better=LOWER, aka=("brier", "brier score loss"), says="the mean squared distance of score and label", cite=("sklearn:brier_score_loss",)),
    ScoreStatistic(name="log_loss", compute=score_statistics.log_loss, probability=True, limits=(0.0, math.inf), written="-mean(label ln(score) + (1 - label) ln(1 - score))", better=LOWER, aka=("cross entropy", "logistic loss"), says="the mean negative log likelihood of the labels", cite=("sklearn:log_loss",)),
    ScoreStatistic(name="expected_calibration_error", compute=score_statistics.expected_calibration_error, probability=True, written="sum_b n_b / n |mean score_b - positive share_b| over ten bins (0, 0.1], ... (0.9, 1]", better=LOWER, aka=("ece",), says="the mean distance of score and outcome over ten equal bins (biased upwards in small groups)", cite=("Naeini et al. 2015",)),
    ScoreStatistic(name="maximum_calibration_error", compute=score_statistics.maximum_calibration_error, probability=True, written="max_b |mean score_b - positive share_b| over ten bins", better=LOWER, aka=("mce",), says="the largest distance of score and outcome in ten equal bins", cite=("Naeini et al. 2015",)),
    ScoreStatistic(name="calibration_gap", signed=True, compute=score_statistics.calibration_gap, probability=True, limits=(-1.0, 1.0), written="mean(score) - share of positive labels", better=NEITHER, aka=("calibration in the large", "mean calibration"), says="the mean score less the share of positive labels", cite=("Van Calster et al. 2019",)),
    ScoreStatistic(name="calibration_slope", signed=True, compute=score_statistics.calibration_slope, probability=True, two_classes=True, limits=(-math.inf, math.inf), written="slope b of logit P(label = 1) = a + b logit(score)", better=NEITHER, says="the slope of the outcome's log odds on the score's: below 1, scores are too extreme", cite=("Van Calster et al. 2019",)),
    ScoreStatistic(name="calibration_intercept", signed=True, compute=score_statistics.calibration_intercept, probability=True, two_classes=True, limits=(-math.inf, math.inf), written="intercept a of logit P(label = 1) = a + b logit(score)", better=NEITHER, says="the intercept of the outcome's log odds on the score's", cite=("Van Calster et al. 2019",)),
    ScoreStatistic(name="generalized_true_positive_rate", compute=score_statistics.mean_score_of_positives, probability=True, written="mean(score) of observed positives", better=HIGHER, aka=("gtpr", "balance for the positive class", "mean score of positives"), says="the mean score of observed positives", cite=("aif360:generalized_true_positive_rate", "Kleinberg et al. 2017")),
    ScoreStatistic(name="generalized_false_positive_rate", compute=score_statistics.mean_score_of_negatives, probability=True, written="mean(score) of observed negatives", better=LOWER, aka=("gfpr", "balance for the negative class", "mean score of negatives"), says="the mean score of observed negatives", cite=("aif360:generalized_false_positive_rate", "Kleinberg et al. 2017")),
    ScoreStatistic(name="mean_score", compute=score_statistics.mean_score, labelled=False, limits=(-math.inf, math.inf), written="mean(score)", better=NEITHER, aka=("average score", "mean predicted score"), says="the mean of the scores", cite=("holisticai:average_score_difference",)),
)

MOMENTS: tuple[Statistic, ...] = (
    MomentStatistic(name="mean_label", compute=moments.mean_label, written="mean(y)", better=NEITHER, aka=("average label",), says="the mean of the labels", cite=("fairlearn:MetricFrame",)),
    MomentStatistic(name="mean_prediction", compute=moments.mean_prediction, written="mean(p)", better=NEITHER, aka=("average prediction",), says="the mean of the predictions", cite=("fairlearn:mean_prediction",)),
    MomentStatistic(name="mean_error", signed=True, compute=moments.mean_error, written="mean(p - y)", better=NEITHER, aka=("mean signed error", "mean residual", "bias"), says="the mean of prediction less label: above 0, predictions are too high", cite=("fairlearn:MetricFrame",)),
    MomentStatistic(name="mean_absolute_error", compute=moments.mean_absolute_error, limits=(0.0, math.inf), written="mean(|p - y|)", better=LOWER, aka=("mae",), says="the mean distance of prediction and label", cite=("sklearn:mean_absolute_error",)),
    MomentStatistic(name="mean_squared_error", compute=moments.mean_squared_error, limits=(0.0, math.inf), written="mean((p - y)^2)", better=LOWER, aka=("mse",), says="the mean squared distance of prediction and label", cite=("sklearn:mean_squared_error",)),
    MomentStatistic(name="root_mean_squared_error", compute=moments.root_mean_squared_error, limits=(0.0, math.inf), written="sqrt(mean((p - y)^2))", better=LOWER, aka=("rmse",), says="the root of the mean squared error", cite=("sklearn:root_mean_squared_error",)),
    MomentStatistic(name="r2", signed=True, compute=moments.r2, at_least=2, limits=(-math.inf, 1.0), written="1 - sum((p - y)^2) / sum((y - mean(y))^2)", better=HIGHER, aka=("r squared", "coefficient of determination", "r2 score"), says="the share of the labels' variance that the predictions explain", cite=("sklearn:r2_score",)),
    MomentStatistic(name="residual_spread", compute=moments.residual_spread, at_least=2, limits=(0.0, math.inf), written="sd(p - y)", better=LOWER, aka=("residual standard deviation",), says="the standard deviation of prediction less label", cite=("fairlearn:MetricFrame",)),
)

RATES = (*RATES, *BLENDS, KAPPA, *SCORES, *MOMENTS)
_BY_NAME = {row.name: row for row in RATES}


def rate(name: str) -> Statistic:
    """Return a rate by its catalogue name."""
    return _BY_NAME[name]


CLARIFY: tuple[Metric, ...] = (
    # before training: sizes and labels
    Imbalance(name="CI", set="clarify", title="Class Imbalance (CI)", order=A_MINUS_D, says="how much smaller the group is than its reference", positive="the group has fewer rows than its reference", cite=("clarify:CI",)),
    Contrast(name="DPL", set="clarify", title="Difference in Proportions of Labels (DPL)", of=rate("base_rate"), by="difference", order=A_MINUS_D, says="how much less often the group is observed positive", positive="the group has a lower share of positive labels", aka=("Difference in Positive Proportions in Labels", "Difference in Positive Proportions in Labels (DPL)"), cite=("clarify:DPL",)),
    Distance(name="KL", set="clarify", title="Kullback-Leibler Divergence (KL)", of="label", by="kl", says="how far the reference's label distribution diverges from the group's", positive="the distributions differ; the sign carries no direction", aka=("Kullback-Liebler Divergence (KL)", "kullback leibler divergence"), cite=("clarify:KL",)),
    Distance(name="JS", set="clarify", title="Jensen-Shannon Divergence (JS)", of="label", by="js", says="how far both label distributions diverge from their mean", positive="the distributions differ; the sign carries no direction", aka=("jensen shannon divergence",), cite=("clarify:JS",)),
    Distance(name="LP", set="clarify", title="Lp-norm (LP)", of="label", by="lp", says="the Euclidean distance of the label distributions", positive="the distributions differ; the sign carries no direction", aka=("L-p Norm (LP)", "lp norm"), cite=("clarify:LP",)),
    Distance(name="TVD", set="clarify", title="Total Variation Distance (TVD)", of="label", by="tvd", says="the share of labels that would have to change for equal distributions", positive="the distributions differ; the sign carries no direction", aka=("total variation distance",), cite=("clarify:TVD",)),
    Distance(name="KS", set="clarify", title="Kolmogorov-Smirnov (KS)", of="label", by="ks", says="the largest difference in the share of any one label", positive="the distributions differ; the sign carries no direction", aka=("Kolmogorov-Smirnov Distance (KS)", "kolmogorov smirnov distance"), cite=("clarify:KS",)),
    ConditionalDisparity(name="CDDL", set="clarify", title="Conditional Demographic Disparity in Labels (CDDL)", of="label", margin=rate("base_rate"), says="the group's share of negative labels less its share of positive labels, within strata", positive="the group has more of the negative than of the positive labels", aka=("conditional demographic disparity in labels",), cite=("clarify:CDDL",)),
    # after training: predictions against labels
    Contrast(name="DPPL", set="clarify", title="Difference in Positive Proportions in Predicted Labels (DPPL)", of=rate("selection_rate"), by="difference", order=A_MINUS_D, says="how much less often the group is predicted positive", positive="the group is predicted positive less often", cite=("clarify:DPPL",)),
    Contrast(name="DI", set="clarify", title="Disparate Impact (DI)", of=rate("selection_rate"), by="ratio", says="how many times as often the group is predicted positive", positive="above 1, the group is predicted positive more often", aka=("impact ratio", "adverse impact ratio"), cite=("clarify:DI",)),
    Contrast(name="DCA", set="clarify", title="Difference in Conditional Acceptance (DCAcc)", of=rate("conditional_acceptance"), by="difference", order=A_MINUS_D, says="how many more observed positives the reference has for each predicted positive", positive="relative to the labels, the model accepts too few of the reference, more so than of the group", aka=("DCAcc", "Difference in Conditional Acceptance", "Difference in Conditional Acceptance (DCA)"), cite=("clarify:DCA",)),
    Contrast(name="DCR", set="clarify", title="Difference in Conditional Rejection (DCR)", of=rate("conditional_rejection"), by="difference", order=D_MINUS_A, says="how many more observed negatives the group has for each predicted negative", positive="relative to the labels, the model rejects too few of the group, more so than of the reference", aka=("Difference in Conditional Rejection",), cite=("clarify:DCR",)),
    Contrast(name="RD", set="clarify", title="Recall Difference (RD)", of=rate("true_positive_rate"), by="difference", order=A_MINUS_D, says="how much less often the group's observed positives are found", positive="more false negatives among the group's observed positives", cite=("clarify:RD",)),
    Contrast(name="SD", set="clarify", title="Specificity Difference (SD)", of=rate("true_negative_rate"), by="difference", order=D_MINUS_A, says="how much more often the group's observed negatives are predicted negative", positive="fewer false positives in the group: Clarify reads it as bias against the group", cite=("clarify:SD",)),
    Contrast(name="DAR", set="clarify", title="Difference in Acceptance Rates (DAR)", of=rate("positive_predictive_value"), by="difference", order=A_MINUS_D, says="how much less often the group's predicted positives are right", positive="more false positives among the group's predicted positives", aka=("Difference in Acceptance Rates",), cite=("clarify:DAR",)),
    Contrast(name="DRR", set="clarify", title="Difference in Rejection Rates (DRR)", of=rate("negative_predictive_value"), by="difference", order=D_MINUS_A, says="how much more often the group's predicted negatives are right", positive="fewer false negatives among the group's predicted negatives", aka=("Difference in Rejection Rates",), cite=("clarify:DRR",)),
    Contrast(name="AD", set="clarify", title="Accuracy Difference (AD)", of=rate("accuracy"), by="difference", order=A_MINUS_D, says="how much less often predictions are right for the group", positive="the group is judged less accurately", cite=("clarify:AD",)),
    Contrast(name="TE", set="clarify", title="Treatment Equality (TE)", of=rate("error_type_ratio"), by="difference", order=D_MINUS_A, says="how many more false negatives the group has for each false positive", positive="the group's errors are more often missed positives", cite=("clarify:TE",)),
    ConditionalDisparity(name="CDDPL", set="clarify", title="Conditional Demographic Disparity in Predicted Labels (CDDPL)", of="prediction", margin=rate("selection_rate"), says="the group's share of predicted negatives less its share of predicted positives, within strata", positive="the group has more of the rejected than of the accepted", aka=("conditional demographic disparity in predicted labels",), cite=("clarify:CDDPL",)),
    Inequality(name="GE", set="clarify", title="Generalized Entropy (GE)", says="how unevenly benefit is spread over all rows", positive="above 0, benefit is spread unevenly", cite=("clarify:GE",)),
    RowMetric(name="FT", set="clarify", title="Flip Test (FT)", kind="flip", says="how much more often the group's similar neighbours in the reference would be decided better than worse", positive="the group's rows are rejected where similar rows of the reference are accepted (profile clarify has the opposite sign, as smclarify computes it)", aka=("flip test", "counterfactual fliptest"), cite=("clarify:FT",)),
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


_STANDARD = {
    "selection_rate": ("difference", "ratio"),
    "true_positive_rate": ("difference",),
    "false_positive_rate": ("difference",),
    "positive_predictive_value": ("difference",),
    "accuracy": ("difference",),
    "base_rate": ("difference", "ratio"),
    "roc_auc": ("difference",),
    "calibration_gap": ("difference",),
    "mean_error": ("difference",),
    "mean_absolute_error": ("difference",),
}
"""The rates of ``metrics="standard"``, and how they are compared: demographic parity, equalized
odds, predictive parity and accuracy equality; labels, scores and regressions."""


_TAKEN = frozenset(
    (*(plain(row.title) for row in (*CLARIFY, *VERTEX)), *(plain(each.name) for each in NAMES))
)
"""What other tools call metrics, each with its sign."""


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
        aka=tuple(name for each in of.aka if plain(name := f"{each} {by}") not in _TAKEN),
        cite=of.cite,
        standard=by in _STANDARD.get(of.name, ()),
    )


_BY: tuple[Literal["difference", "ratio"], ...] = ("difference", "ratio")
NATIVE: tuple[Metric, ...] = tuple(
    _native(of, by) for of in RATES for by in _BY if by == "difference" or not of.signed
)


def _contrast(of: Statistic) -> Contrast:
    return _native(of, "difference")


# fmt: off
_OF_PREDICTIONS: tuple[tuple[Distances, str, str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("kl", "Kullback-Leibler divergence", "how far the reference's predictions diverge from the group's", (), ("clarify:KL",)),
    ("js", "Jensen-Shannon divergence", "how far both distributions of predictions diverge from their mean", (), ("clarify:JS",)),
    ("lp", "Lp-norm", "the Euclidean distance of the distributions of predictions", (), ("clarify:LP",)),
    ("tvd", "Total variation distance", "the share of predictions that would have to change for equal distributions", ("multiclass statistical parity",), ("clarify:TVD", "holisticai:multiclass_statistical_parity")),
    ("ks", "Largest difference", "the largest difference in the share of any one prediction", (), ("clarify:KS",)),
)
COMBINED: tuple[Metric, ...] = (
    Combined(name="average_absolute_odds", set="native", title="Average absolute odds difference", of=(_contrast(TPR), _contrast(FPR)), how="mean", says="the mean size of the differences in true and false positive rate", positive="above 0, the error rates differ", aka=("average_abs_odds_difference",), cite=("aif360:average_abs_odds_difference",)),
    Combined(name="worst_odds", set="native", title="Equalized odds difference of one group", of=(_contrast(TPR), _contrast(FPR)), how="worst", says="the larger size of the differences in true and false positive rate", positive="above 0, the error rates differ", cite=("aif360:equalized_odds_difference",)),
    Combined(name="generalized_worst_odds", set="native", title="Generalized equalized odds difference of one group", of=(_contrast(rate("generalized_true_positive_rate")), _contrast(rate("generalized_false_positive_rate"))), how="worst", says="the larger size of the differences in mean score of observed positives and of observed negatives", positive="above 0, scores differ among rows of the same label", cite=("aif360:generalized_equalized_odds_difference",)),
    Contrast(name="average_predictive_value_difference", set="native", title="Average predictive value difference", of=PREDICTIVE, by="difference", says="the mean of the differences in positive predictive value and false omission rate", positive="the group's predictions of either kind are more often observed positive", cite=("aif360:average_predictive_value_difference",)),
    StandardisedDifference(name="selection_smd", set="native", title="Standardised mean difference of selection", of="selection", says="the difference in selection rate, in standard deviations", positive="the group is predicted positive more often", aka=("cohen d of selection",), cite=("Cohen 1988", "holisticai:cohen_d")),
    StandardisedDifference(name="score_smd", set="native", title="Standardised mean difference of scores", of="score", says="the difference in mean score, in standard deviations", positive="the group's scores are higher", aka=("standardized mean difference", "cohen d of scores"), cite=("Cohen 1988",)),
    StandardisedDifference(name="prediction_smd", set="native", title="Standardised mean difference of predictions", of="prediction", says="the difference in mean prediction, in standard deviations", positive="the group's predictions are higher", cite=("Cohen 1988",)),
    StandardisedDifference(name="label_smd", set="native", title="Standardised mean difference of labels", of="label", says="the difference in mean label, in standard deviations", positive="the group's labels are higher", cite=("Cohen 1988",)),
    ScoreDistance(name="score_ks", set="native", title="Kolmogorov-Smirnov distance of scores", by="ks", says="the largest difference of the two cumulative score distributions", positive="the distributions differ; the sign carries no direction", aka=("ks of scores",), cite=("scipy:ks_2samp",)),
    ScoreDistance(name="score_wasserstein", set="native", title="Wasserstein distance of scores", by="wasserstein", says="how far scores must move for equal distributions", positive="the distributions differ; the sign carries no direction", aka=("earth mover distance of scores",), cite=("scipy:wasserstein_distance",)),
    ScoreDistance(name="abroca", set="native", title="Area between the ROC curves (ABROCA)", by="abroca", says="the area between the two ROC curves", positive="the curves differ; the sign carries no direction", cite=("Gardner et al. 2019",)),
    CrossAuc(name="bpsn_auc", set="native", title="Background positive, subgroup negative AUC", positives="reference", says="how often the reference's positives score above the group's negatives", positive="low values mean that the group's negatives score too high", aka=("background positive subgroup negative auc",), cite=("Borkan et al. 2019",)),
    CrossAuc(name="bnsp_auc", set="native", title="Background negative, subgroup positive AUC", positives="group", says="how often the group's positives score above the reference's negatives", positive="low values mean that the group's positives score too low", aka=("background negative subgroup positive auc",), cite=("Borkan et al. 2019",)),
)

DISTANCES_OF_PREDICTIONS: tuple[Metric, ...] = tuple(
    Distance(name=f"prediction.{by}", set="native", title=f"{title} of predictions", of="prediction", by=by, says=says, positive="the distributions differ; the sign carries no direction", aka=aka, cite=cite)
    for by, title, says, aka, cite in _OF_PREDICTIONS
)

SPREAD_WORDS: dict[Spreads, tuple[str, str, str]] = {
    "largest_gap": ("largest gap", "how far the two groups that differ most lie apart in", "the groups differ"),
    "smallest_ratio": ("smallest ratio", "the lowest over the highest group's", "at 1 the groups are equal, below it they differ"),
    "minimum": ("minimum", "the lowest group's", "the worst group of a rate that should be high"),
    "maximum": ("maximum", "the highest group's", "the worst group of a rate that should be low"),
    "variance": ("variance", "the variance over groups of", "the groups differ"),
    "gini": ("Gini index", "the Gini index over groups of", "the groups differ"),
}
SPREAD_NAMES: dict[str, tuple[str, ...]] = {
    "selection_rate.largest_gap": ("demographic_parity_difference", "demographic parity"),
    "selection_rate.smallest_ratio": ("demographic_parity_ratio",),
    "true_positive_rate.largest_gap": ("equal opportunity",),
    "true_positive_rate.smallest_ratio": ("equal_opportunity_ratio",),
    "positive_predictive_value.largest_gap": ("predictive parity",),
    "error_type_ratio.largest_gap": ("treatment equality of all groups",),
    "false_positive_rate.largest_gap": ("predictive equality",),
    "accuracy.largest_gap": ("overall accuracy equality",),
}
# fmt: on


def _spread(of: Statistic, by: Spreads) -> Spread:
    title, says, positive = SPREAD_WORDS[by]
    name = f"{of.name}.{by}"
    return Spread(
        name=name,
        set="native",
        title=f"{of.title[:1].upper()}{of.title[1:]}, {title}",
        of=of,
        by=by,
        says=f"{says} {of.title}",
        positive=positive,
        aka=SPREAD_NAMES.get(name, ()),
        cite=("fairlearn:MetricFrame", *of.cite),
    )


_SPREADS: tuple[Spreads, ...] = tuple(SPREAD_WORDS)
SPREADS: tuple[Metric, ...] = tuple(
    _spread(of, by)
    for of in RATES
    for by in _SPREADS
    if not of.signed or by not in ("smallest_ratio", "gini")
)

# fmt: off
CRITERIA: tuple[Metric, ...] = (
    Joint(name="equalized_odds.largest_gap", set="native", title="Equalized odds, largest gap", of=(_spread(TPR, "largest_gap"), _spread(FPR, "largest_gap")), how="worst", says="the larger of the largest gaps in true and in false positive rate", positive="the groups' error rates differ", aka=("equalized odds",), cite=("fairlearn:equalized_odds_difference",)),
    Joint(name="equalized_odds.mean_gap", set="native", title="Equalized odds, mean gap", of=(_spread(TPR, "largest_gap"), _spread(FPR, "largest_gap")), how="mean", says="the mean of the largest gaps in true and in false positive rate", positive="the groups' error rates differ", cite=("fairlearn:equalized_odds_difference",)),
    Joint(name="equalized_odds.smallest_ratio", set="native", title="Equalized odds, smallest ratio", of=(_spread(TPR, "smallest_ratio"), _spread(FPR, "smallest_ratio")), how="worst", says="the smaller of the smallest ratios of true and of false positive rate", positive="at 1 the groups are equal, below it they differ", aka=("equalized_odds_ratio",), cite=("fairlearn:equalized_odds_ratio",)),
    Joint(name="equalized_odds.mean_ratio", set="native", title="Equalized odds, mean ratio", of=(_spread(TPR, "smallest_ratio"), _spread(FPR, "smallest_ratio")), how="mean", says="the mean of the smallest ratios of true and of false positive rate", positive="at 1 the groups are equal, below it they differ", cite=("fairlearn:equalized_odds_ratio",)),
    DifferentialFairness(name="label.differential_fairness", set="native", title="Differential fairness of labels (epsilon)", of="label", says="the largest log ratio between two groups of any label's share, smoothed", positive="above 0, some label is more frequent in one group", aka=("smoothed_empirical_differential_fairness", "smoothed edf of labels"), cite=("Foulds et al. 2020", "aif360:smoothed_empirical_differential_fairness")),
    DifferentialFairness(name="prediction.differential_fairness", set="native", title="Differential fairness of predictions (epsilon)", of="prediction", says="the largest log ratio between two groups of any prediction's share, smoothed", positive="above 0, some prediction is more frequent in one group", aka=("smoothed edf of predictions",), cite=("Foulds et al. 2020",)),
)
# fmt: on

# fmt: off
UNEVEN: tuple[Metric, ...] = (
    Inequality(name="generalized_entropy", set="native", title="generalized entropy", says="how unevenly benefit is spread over all rows; generalized_entropy(alpha=X) takes another order than 2", positive="above 0, benefit is spread unevenly", aka=("generalized entropy index",), cite=("Speicher et al. 2018",)),
    Inequality(name="theil_index", set="native", title="Theil index", parameter=1.0, says="generalized entropy of order 1", positive="above 0, benefit is spread unevenly", aka=("theil",), cite=("Speicher et al. 2018", "aif360:theil_index")),
    Inequality(name="coefficient_of_variation", set="native", title="coefficient of variation", index="variation", says="the standard deviation of the benefits over their mean, sqrt(2 GE)", positive="above 0, benefit is spread unevenly", cite=("aif360:coefficient_of_variation",)),
    Inequality(name="atkinson", set="native", title="Atkinson index", index="atkinson", parameter=0.5, says="the share of benefit that an even spread could spare; atkinson(epsilon=X) takes another aversion than 0.5", positive="above 0, benefit is spread unevenly", aka=("atkinson index",), cite=("Atkinson 1970",)),
    InequalityPart(name="between_group_generalized_entropy", set="native", title="Generalized entropy between groups", part="between", says="the part of generalized entropy that lies between groups; (alpha=X) takes another order than 2", positive="above 0, mean benefit differs between groups", aka=("between_all_groups_generalized_entropy_index", "between_group_generalized_entropy_index"), cite=("Speicher et al. 2018", "aif360:between_group_generalized_entropy_index")),
    InequalityPart(name="within_group_generalized_entropy", set="native", title="Generalized entropy within groups", part="within", says="the part of generalized entropy that lies within groups; (alpha=X) takes another order than 2", positive="above 0, benefit is spread unevenly inside groups", cite=("Speicher et al. 2018",)),
    InequalityPart(name="between_group_theil_index", set="native", title="Theil index between groups", part="between", parameter=1.0, says="the part of Theil's index that lies between groups", positive="above 0, mean benefit differs between groups", aka=("between_all_groups_theil_index",), cite=("aif360:between_group_theil_index",)),
)
# fmt: on

# fmt: off
POPULATION: tuple[Metric, ...] = (
    Representation(name="representation.difference", set="native", title="Representation, difference", by="difference", standard=True, says="the group's share of the rows less its share of the population", positive="the group is over-represented", cite=("holisticai:representation",)),
    Representation(name="representation.ratio", set="native", title="Representation, ratio", by="ratio", standard=True, says="the group's share of the rows over its share of the population", positive="above 1, the group is over-represented", aka=("representation index",), cite=("holisticai:representation",)),
)

ROWWISE: tuple[Metric, ...] = (
    RowMetric(name="consistency", set="native", title="Consistency", kind="consistency", says="how alike the predictions of similar rows are", positive="1 when similar rows are always predicted alike", aka=("individual fairness consistency",), cite=("Zemel et al. 2013", "aif360:consistency")),
    RowMetric(name="prediction_ks", set="native", title="Kolmogorov-Smirnov distance of predictions", kind="prediction_ks", says="the largest difference of the two cumulative distributions of predictions", positive="the distributions differ; the sign carries no direction", cite=("scipy:ks_2samp",)),
    RowMetric(name="prediction_wasserstein", set="native", title="Wasserstein distance of predictions", kind="prediction_wasserstein", says="how far predictions must move for equal distributions", positive="the distributions differ; the sign carries no direction", cite=("scipy:wasserstein_distance",)),
    RowMetric(name="residual_ks", set="native", title="Kolmogorov-Smirnov distance of residuals", kind="residual_ks", says="the largest difference of the two cumulative distributions of residuals", positive="the distributions differ; the sign carries no direction", cite=("scipy:ks_2samp",)),
    RowMetric(name="residual_wasserstein", set="native", title="Wasserstein distance of residuals", kind="residual_wasserstein", says="how far residuals must move for equal distributions", positive="the distributions differ; the sign carries no direction", cite=("scipy:wasserstein_distance",)),
    RowMetric(name="top_selection_ratio", set="native", title="Selection ratio at the top of a ranking", kind="top", top=100, says="how many times as often the group is among the 100 highest scores; (k=N) or (percent=P) take another top", positive="above 1, the group is among the top more often", cite=("aequitas:rank_abs",)),
    RowMetric(name="skew", set="native", title="Skew at the top of a ranking", kind="skew", top=100, says="the log ratio of the group's share of the 100 highest scores and of all rows; (k=N) or (percent=P) take another top", positive="above 0, the group is over-represented at the top", aka=("skew@k",), cite=("Geyik et al. 2019",)),
    RowMetric(name="ndkl", set="native", title="Normalised discounted KL divergence of a ranking (NDKL)", kind="ndkl", says="how far the groups of every top of the ranking are from the groups of all rows", positive="above 0, some group is higher in the ranking than its share", cite=("Geyik et al. 2019",)),
    RowMetric(name="exposure_ratio", set="native", title="Exposure ratio of a ranking", kind="exposure", says="the group's mean exposure, 1 / log2(rank + 1), over its reference's", positive="above 1, the group stands higher in the ranking", cite=("Singh & Joachims 2018",)),
)
# fmt: on

METRICS: tuple[Metric, ...] = (
    *CLARIFY,
    *VERTEX,
    *NATIVE,
    *COMBINED,
    *DISTANCES_OF_PREDICTIONS,
    *UNEVEN,
    *SPREADS,
    *CRITERIA,
    *POPULATION,
    *ROWWISE,
)
