"""THE table: every rate is one row; its difference, ratio and spread are made from that row.

``d`` is the group, ``a`` its reference. Citations: ``clarify:X`` is the page of metric X in the
Amazon SageMaker Clarify guide, ``vertex:data`` and ``vertex:model`` are the two pages on bias
metrics in the Google Vertex AI guide.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Literal, get_args

from fairgauge.catalogue import across
from fairgauge.catalogue import score_statistics as scores
from fairgauge.catalogue.cells import ALL, FN, FP, LABEL, PREDICTION, SCORE, TN, TP
from fairgauge.catalogue.comparisons import (
    BINARY,
    REGRESSION,
    Combined,
    Contrast,
    Imbalance,
    Metric,
    Order,
    RowMetric,
)
from fairgauge.catalogue.distributions import (
    ConditionalDisparity,
    Distance,
    Distances,
    Inequality,
    InequalityPart,
    OverallStandardisedDifference,
    OverallStandardisedMean,
)
from fairgauge.catalogue.statistics import Blend, Kappa, Quotient, Rate, Statistic
from fairgauge.enums import Better
from fairgauge.start.records import dataclass

Tool = Literal["Clarify", "Vertex AI", "Fairlearn", "AIF360", "aequitas"]
TOOLS: tuple[Tool, ...] = get_args(Tool)
"""The tools, in the order of the page that compares them."""


@dataclass(frozen=True, slots=True)
class Name:
    """A metric's name in another tool."""

    tool: Tool  # whose name, and which
    name: str
    ours: str | None  # the catalogue name of the same number; None where there is none
    differs: str | None = None  # how theirs differs from ours, or why there is none of ours


_SEPARATORS = re.compile(r"[\s_\-]+")


def lookup_key(name: str) -> str:
    """Return a name as it is looked up: cases, spaces, underscores and hyphens are alike."""
    return _SEPARATORS.sub("_", name.strip().casefold())


_TO_OVERALL = "unsigned; with method='to_overall', the largest difference from the overall value"
_ZERO = "a rate without rows is 0 there; here it is undefined and its group excluded"
_COUNT = "a count or a sum: see the report's groups"
_CLASSES = "of all classes: class {} of a multiclass audit"
_PAIR = "of the two groups compared; here of all groups of the feature"

# ruff: noqa: E501 - a row is one line, so that the table reads as a table
# fmt: off
_ERRORS = ("true_positive_rate", "true_negative_rate", "false_positive_rate", "false_negative_rate")


def _unchanged_names(names: str) -> dict[str, str]:
    return {name: name for name in names.split()}


_TITLES = {
    "CI": "Class Imbalance", "DPL": "Difference in Positive Proportions in Labels", "KL": "Kullback-Liebler Divergence",
    "JS": "Jensen-Shannon Divergence", "LP": "L-p Norm", "TVD": "Total Variation Distance", "KS": "Kolmogorov-Smirnov Distance",
    "CDDL": "Conditional Demographic Disparity in Labels", "AD": "Accuracy Difference",
    "CDDPL": "Conditional Demographic Disparity in Predicted Labels", "DAR": "Difference in Acceptance Rates",
    "DCA": "Difference in Conditional Acceptance", "DCR": "Difference in Conditional Rejection", "DI": "Disparate Impact",
    "DPPL": "Difference in Positive Proportions in Predicted Labels", "DRR": "Difference in Rejection Rates",
    "GE": "Generalized Entropy", "RD": "Recall Difference", "SD": "Specificity Difference", "TE": "Treatment Equality",
}
_CLARIFY: Mapping[str, str] = {
    **{name: short for short, title in _TITLES.items() for name in (short, f"{title} ({short})")},
    **{_TITLES[short]: short for short in ("CI", "AD", "DPPL", "RD", "SD", "TE")},
    "DCAcc": "DCA", "Difference in Conditional Acceptance (DCAcc)": "DCA", "DCRej": "DCR", "Accuracy": "accuracy",
    "Proportion of Positive Predictions in Labels": "selection_rate", "Proportion of Negative Predictions in Labels": "rejection_share",
    "True Positive Rate / Recall": "true_positive_rate", "True Negative Rate / Specificity": "true_negative_rate",
    "Acceptance Rate / Precision": "positive_predictive_value", "Rejection Rate": "negative_predictive_value",
    "Conditional Acceptance": "conditional_acceptance", "Conditional Rejection": "conditional_rejection", "F1 Score": "f1",
}
_FLIPS = "opposite sign: smclarify computes F- minus F+; and its distances are of columns as they are, here of columns divided by their standard deviations; profile clarify gives its number"
_CLARIFY_DIFFERS: Mapping[str, tuple[str, str]] = {
    "FT": ("FT", _FLIPS), "Flip Test (FT)": ("FT", _FLIPS),
}
_VERTEX: Mapping[str, str] = {
    "Difference in Population Size": "vertex.difference_in_population_size",
    "Difference in Positive Proportions in True Labels": "vertex.dpptl",
    "DPPTL": "vertex.dpptl", "Label Imbalance": "vertex.dpptl",
    "Accuracy Difference": "vertex.accuracy_difference",
    "Difference in Positive Proportions in Predicted Labels": "vertex.dpppl",
    "DPPPL": "vertex.dpppl",
    "Recall Difference": "vertex.recall_difference",
    "Recall Difference (Equal Opportunity)": "vertex.recall_difference",
    "Specificity Difference": "vertex.specificity_difference",
    "Difference in Ratio of Error Types": "vertex.difference_in_ratio_of_error_types",
    "Treatment Equality": "vertex.difference_in_ratio_of_error_types",
}
_FAIRLEARN: Mapping[str, str] = {
    **_unchanged_names(f"selection_rate {' '.join(_ERRORS)} log_loss mean_prediction mean_absolute_error mean_squared_error root_mean_squared_error"),
    "accuracy_score": "accuracy", "zero_one_loss": "error_rate", "precision_score": "positive_predictive_value", "recall_score": "true_positive_rate",
    "f1_score": "f1", "cohen_kappa_score": "cohen_kappa", "roc_auc_score": "roc_auc", "r2_score": "r2",
    "accuracy_score_difference": "accuracy.largest_gap", "accuracy_score_ratio": "accuracy.smallest_ratio",
    "accuracy_score_group_min": "accuracy.minimum", "balanced_accuracy_score_group_min": "balanced_accuracy.minimum",
    "f1_score_group_min": "f1.minimum", "log_loss_group_max": "log_loss.maximum",
    "mean_absolute_error_group_max": "mean_absolute_error.maximum", "mean_squared_error_group_max": "mean_squared_error.maximum",
    "precision_score_group_min": "positive_predictive_value.minimum", "r2_score_group_min": "r2.minimum",
    "recall_score_group_min": "true_positive_rate.minimum", "roc_auc_score_group_min": "roc_auc.minimum",
    "zero_one_loss_group_max": "error_rate.maximum", "zero_one_loss_ratio": "error_rate.smallest_ratio",
    "zero_one_loss_difference": "error_rate.largest_gap",
}
_FAIRLEARN_DIFFERS: Mapping[str, tuple[str, str]] = {
    "balanced_accuracy_score": ("balanced_accuracy", "of several classes, theirs is the macro average of true_positive_rate"),
    "demographic_parity_difference": ("selection_rate.largest_gap", _TO_OVERALL),
    "demographic_parity_ratio": ("selection_rate.smallest_ratio", _TO_OVERALL),
    "equal_opportunity_difference": ("true_positive_rate.largest_gap", f"{_TO_OVERALL}; {_ZERO}"),
    "equal_opportunity_ratio": ("true_positive_rate.smallest_ratio", f"{_TO_OVERALL}; {_ZERO}"),
    "equalized_odds_difference": ("equalized_odds.largest_gap", f"{_TO_OVERALL}; agg='mean' is equalized_odds.mean_gap; {_ZERO}"),
    "equalized_odds_ratio": ("equalized_odds.smallest_ratio", f"{_TO_OVERALL}; agg='mean' is equalized_odds.mean_ratio; {_ZERO}"),
    **{f"{rate}_{how}": (f"{rate}.{by}", _TO_OVERALL if rate == "selection_rate" else f"{_TO_OVERALL}; {_ZERO}")
       for rate in ("selection_rate", *_ERRORS) for how, by in (("difference", "largest_gap"), ("ratio", "smallest_ratio"))},
    "f1_macro": ("f1", _CLASSES.format("macro")), "f1_weighted": ("f1", _CLASSES.format("weighted")),
    "precision_macro": ("positive_predictive_value", _CLASSES.format("macro")),
    "recall_macro": ("true_positive_rate", _CLASSES.format("macro")),
}
_FAIRLEARN_NONE: Mapping[str, str] = {
    "count": _COUNT,
    "median_absolute_error": "a median needs every row: sums give mean_absolute_error",
    "max_error": "the error of the single worst row, which does not describe a group: see root_mean_squared_error",
}
_AIF360: Mapping[str, str] = {
    **_unchanged_names(f"accuracy base_rate error_rate selection_rate {' '.join(_ERRORS)} positive_predictive_value negative_predictive_value"),
    **_unchanged_names("false_discovery_rate false_omission_rate generalized_true_positive_rate generalized_false_positive_rate"),
    "precision": "positive_predictive_value", "recall": "true_positive_rate", "sensitivity": "true_positive_rate", "specificity": "true_negative_rate",
    "generalized_fpr": "generalized_false_positive_rate", "specificity_score": "true_negative_rate", "sensitivity_score": "true_positive_rate",
    "statistical_parity_difference": "selection_rate.difference", "mean_difference": "selection_rate.difference",
    "disparate_impact": "DI", "disparate_impact_ratio": "DI",
    "equal_opportunity_difference": "true_positive_rate.difference", "true_positive_rate_difference": "true_positive_rate.difference",
    **{f"{rate}_{by}": f"{rate}.{by}" for by in ("difference", "ratio")
       for rate in ("false_positive_rate", "false_negative_rate", "false_discovery_rate", "false_omission_rate", "error_rate")},
    "average_odds_difference": "average_odds.difference", "average_abs_odds_difference": "average_absolute_odds",
    "average_odds_error": "average_absolute_odds", "average_predictive_value_difference": "average_predictive_value_difference",
    "generalized_equalized_odds_difference": "generalized_worst_odds",
    "generalized_entropy_index": "generalized_entropy", "generalized_entropy_error": "generalized_entropy",
    "theil_index": "theil_index", "coefficient_of_variation": "coefficient_of_variation",
    "between_all_groups_generalized_entropy_index": "between_group_generalized_entropy",
    "between_all_groups_theil_index": "between_group_theil_index",
    "kl_divergence": "KL", "class_imbalance": "vertex.difference_in_population_size",
}
_AIF360_DIFFERS: Mapping[str, tuple[str, str]] = {
    "equalized_odds_difference": ("worst_odds", "of group and reference, as worst_odds; Fairlearn's is of all groups"),
    "smoothed_empirical_differential_fairness": ("label.differential_fairness", "of labels also in ClassificationMetric; of predictions it is prediction.differential_fairness"),
    "smoothed_edf": ("label.differential_fairness", "of what is given, labels or predictions"),
    "differential_fairness_bias_amplification": ("prediction.differential_fairness", "minus label.differential_fairness"),
    "df_bias_amplification": ("prediction.differential_fairness", "minus label.differential_fairness"),
    "between_group_generalized_entropy_index": ("between_group_generalized_entropy", _PAIR),
    "between_group_generalized_entropy_error": ("between_group_generalized_entropy", _PAIR),
    "between_group_theil_index": ("between_group_theil_index", _PAIR),
    "between_group_coefficient_of_variation": ("between_group_generalized_entropy", f"sqrt(2 GE) of it, {_PAIR}"),
    "between_all_groups_coefficient_of_variation": ("between_group_generalized_entropy", "sqrt(2 GE) of it"),
    "consistency": ("consistency", "of labels, unscaled columns; neighbours at the same distance by row order, here by share"),
    "consistency_score": ("consistency", "unscaled columns; neighbours at the same distance by row order, here by share"),
    "conditional_demographic_disparity": ("CDDPL", "over the values of the attribute itself, not over strata"),
    "generalized_false_negative_rate": ("generalized_true_positive_rate", "one minus it"),
    "generalized_fnr": ("generalized_true_positive_rate", "one minus it"),
    "generalized_true_negative_rate": ("generalized_false_positive_rate", "one minus it"),
}
_AIF360_NONE: Mapping[str, str] = {
    "performance_measures": "the group's rates together", "power": "the number of true positives",
    "binary_confusion_matrix": _COUNT, "generalized_binary_confusion_matrix": _COUNT,
    **{f"num_{of}": _COUNT for of in ("instances", "positives", "negatives", "pred_positives", "pred_negatives", "true_positives", "true_negatives", "false_positives", "false_negatives")},
    **{f"num_generalized_{of}": _COUNT for of in ("true_positives", "true_negatives", "false_positives", "false_negatives")},
    "rich_subgroup": "a search for a subgroup: name its columns as an intersection",
}
_AEQUITAS_RATES = {
    "tpr": "true_positive_rate", "tnr": "true_negative_rate", "fpr": "false_positive_rate", "fnr": "false_negative_rate",
    "for": "false_omission_rate", "fdr": "false_discovery_rate", "npv": "negative_predictive_value", "precision": "positive_predictive_value",
    "pprev": "selection_rate",
}
_AEQUITAS: Mapping[str, str] = {
    "accuracy": "accuracy", **_AEQUITAS_RATES, "prev": "base_rate",
    **{f"{name}_disparity": f"{rate}.ratio" for name, rate in _AEQUITAS_RATES.items()},
}
_PARITY = "a verdict there: a rule of ours between 0.8 and 1.25"
_AEQUITAS_DIFFERS: Mapping[str, tuple[str, str]] = {
    f"{({'pprev': 'Impact', 'precision': 'Precision'}).get(name, name.upper())} Parity": (f"{rate}.ratio", _PARITY) for name, rate in _AEQUITAS_RATES.items()
}
_SHARE = "the group's share of all predicted positives, large where the group is: see selection_rate"
_AEQUITAS_NONE: Mapping[str, str] = {
    "ppr": _SHARE, "ppr_disparity": _SHARE,
    "Statistical Parity": f"rests on ppr, {_SHARE}",
    "TypeI Parity": "FDR and FPR parity together: two rules", "TypeII Parity": "FOR and FNR parity together: two rules",
    "Equalized Odds": "FPR and TPR parity together: two rules",
    "Unsupervised Fairness": "several rules together", "Supervised Fairness": "several rules together", "Overall Fairness": "the verdict of all rules",
    **dict.fromkeys(("tp", "fp", "fn", "tn", "pp", "pn", "k", "group_size", "group_label_pos", "group_label_neg", "total_entities"), _COUNT),
}
# fmt: on


def _names_of_tool(
    tool: Tool, same: Mapping[str, str], differs: Mapping[str, tuple[str, str]],
    none: Mapping[str, str],
) -> Iterator[Name]:  # fmt: skip
    yield from (Name(tool, name, ours) for name, ours in same.items())
    yield from (Name(tool, name, ours, how) for name, (ours, how) in differs.items())
    yield from (Name(tool, name, None, why) for name, why in none.items())


NAMES: tuple[Name, ...] = (
    *_names_of_tool("Clarify", _CLARIFY, _CLARIFY_DIFFERS, {}),
    *_names_of_tool("Vertex AI", _VERTEX, {}, {}),
    *_names_of_tool("Fairlearn", _FAIRLEARN, _FAIRLEARN_DIFFERS, _FAIRLEARN_NONE),
    *_names_of_tool("AIF360", _AIF360, _AIF360_DIFFERS, _AIF360_NONE),
    *_names_of_tool("aequitas", _AEQUITAS, _AEQUITAS_DIFFERS, _AEQUITAS_NONE),
)
"""Every metric of these tools that we know, with ours or the reason why there is none."""

IN_USE: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("80% rule", "80 % rule", "80 percent rule", "4/5 rule", "4/5ths rule", "four-fifths"),
        ("selection_rate.smallest_ratio",),
    ),
    "scoring rate": ("selection_rate",),
    "AIR": ("selection_rate.ratio",),
    "SPD": ("selection_rate.difference",),
    "AOD": ("average_odds.difference",),
    # equal opportunity difference, of two groups or of all, and equalized odds difference
    "EOD": (
        "true_positive_rate.difference",
        "true_positive_rate.largest_gap",
        "equalized_odds.largest_gap",
    ),
    "denial rate": ("rejection_share",),
    "denial ratio": ("rejection_share.ratio",),
    "SMD": ("selection_smd_overall", "mean_label_smd_overall"),
}
"""Names of no tool: in laws, and in the words of a field. One of several metrics is ambiguous."""
_OF_ROWS = (
    "it is the mean of a number of each row; compute that as a column and audit it as the label "
    "(task regression, mean_label.difference)"
)
NOT_OURS: Mapping[str, str] = {
    **dict.fromkeys(("wer", "word_error_rate", "mape", "smape"), _OF_ROWS),
    "median_label": "it compares no groups; median_label.difference and median_label.ratio do",
} | dict.fromkeys(
    ("mcc", "matthews_corrcoef", "matthews_correlation_coefficient", "matthews_correlation", "matthews",
     "phi_coefficient"),
    "a function of the four cells that is not in the catalogue; fairgauge.statistic makes it a "
    "metric of your own (docs/own-metrics.md has it as its example)",
)  # fmt: skip
"""What names of no tool are that are not in the catalogue."""


HIGHER, LOWER, NEITHER = Better.HIGHER, Better.LOWER, Better.NEITHER
D_MINUS_A: Order = "group - reference"
A_MINUS_D: Order = "reference - group"
_NEIGHBOURS = "distances are of columns divided by their standard deviations, with the profile clarify of unscaled columns"

# ruff: noqa: E501 - a row is one line, so that the table reads as a table
# fmt: off
OF_CELLS: tuple[Statistic, ...] = (
    Rate(name="base_rate", of=TP + FN, among=ALL, better=NEITHER, aka=("prevalence", "base rate", "observed positive rate"), says="the share of rows whose label is positive", cite=("clarify:DPL", "vertex:data")),
    Rate(name="negative_base_rate", of=TN + FP, among=ALL, better=NEITHER, aka=("observed negative rate",), says="the share of rows whose label is negative", cite=("clarify:DPL",)),
    Rate(name="selection_rate", of=TP + FP, among=ALL, better=HIGHER, aka=("predicted positive rate", "predicted prevalence", "pprev", "positive prediction rate", "Proportion of Positive Predictions in Labels"), heading="selected", verb="is selected", says="the share of rows that are predicted positive", cite=("clarify:DPPL", "vertex:model")),
    Rate(name="rejection_share", of=TN + FN, among=ALL, better=LOWER, aka=("predicted negative rate", "Proportion of Negative Predictions in Labels"), says="the share of rows that are predicted negative", cite=("clarify:DPPL",)),
    Rate(name="accuracy", of=TP + TN, among=ALL, better=HIGHER, aka=("acc",), heading="acc.", says="the share of predictions that are correct", cite=("clarify:AD", "vertex:model")),
    Rate(name="error_rate", of=FP + FN, among=ALL, better=LOWER, aka=("misclassification rate", "zero one loss"), says="the share of predictions that are incorrect", cite=("clarify:AD",)),
    Rate(name="true_positive_rate", of=TP, among=TP + FN, better=HIGHER, aka=("tpr", "recall", "sensitivity", "hit rate", "True Positive Rate / Recall"), heading="TPR", reported_with="false_positive_rate", says="the share of observed positives that are predicted positive", cite=("clarify:RD", "vertex:model")),
    Rate(name="false_negative_rate", of=FN, among=TP + FN, better=LOWER, aka=("fnr", "miss rate"), heading="FNR", says="the share of observed positives that are predicted negative", cite=("clarify:RD",)),
    Rate(name="true_negative_rate", of=TN, among=TN + FP, better=HIGHER, aka=("tnr", "specificity", "selectivity", "True Negative Rate / Specificity"), heading="TNR", ambivalent=True, says="the share of observed negatives that are predicted negative", cite=("clarify:SD", "vertex:model")),
    Rate(name="false_positive_rate", of=FP, among=TN + FP, better=LOWER, aka=("fpr", "fall-out", "false alarm rate"), heading="FPR", ambivalent=True, says="the share of observed negatives that are predicted positive", cite=("clarify:SD",)),
    Rate(name="positive_predictive_value", of=TP, among=TP + FP, better=HIGHER, aka=("ppv", "precision", "acceptance rate", "Acceptance Rate / Precision"), heading="PPV", says="the share of predicted positives that are observed positive", cite=("clarify:DAR",)),
    Rate(name="false_discovery_rate", of=FP, among=TP + FP, better=LOWER, aka=("fdr",), says="the share of predicted positives that are observed negative", cite=("clarify:DAR",)),
    Rate(name="negative_predictive_value", of=TN, among=TN + FN, better=HIGHER, aka=("npv", "rejection rate"), heading="NPV", says="the share of predicted negatives that are observed negative", cite=("clarify:DRR",)),
    Rate(name="false_omission_rate", of=FN, among=TN + FN, better=LOWER, aka=("for",), says="the share of predicted negatives that are observed positive", cite=("clarify:DRR",)),
    Rate(name="jaccard_index", of=TP, among=TP + FP + FN, better=HIGHER, aka=("jaccard", "jaccard score", "threat score", "critical success index", "intersection over union"), says="the share of true positives among all rows that are observed or predicted positive", cite=("sklearn:jaccard_score",)),
    Quotient(name="f1", over=2 * TP, under=2 * TP + FP + FN, bounded=True, better=HIGHER, aka=("f1 score", "f-score", "dice"), says="the harmonic mean of precision and recall", cite=("clarify:performance",)),
    Quotient(name="error_type_ratio", over=FN, under=FP, better=NEITHER, aka=("treatment ratio", "ratio of error types", "fn/fp"), says="the number of false negatives per false positive", cite=("clarify:TE", "vertex:model")),
    Quotient(name="selection_odds", plural=True, over=TP + FP, under=TN + FN, better=HIGHER, aka=("odds of selection",), says="the number of predicted positives per predicted negative", cite=("Fagerland & Newcombe 2013",)),
    Quotient(name="denials_odds", plural=True, over=TN + FN, under=TP + FP, better=LOWER, aka=("odds of denial",), says="the number of predicted negatives per predicted positive", cite=("Fagerland & Newcombe 2013",)),
    Quotient(name="conditional_acceptance", over=TP + FN, under=TP + FP, better=NEITHER, aka=("Conditional Acceptance",), says="the number of observed positives per predicted positive", cite=("clarify:DCA",)),
    Quotient(name="conditional_rejection", over=TN + FP, under=TN + FN, better=NEITHER, aka=("Conditional Rejection",), says="the number of observed negatives per predicted negative", cite=("clarify:DCR",)),
)
TPR, FPR, TNR, PPV, FOR = (
    next(row for row in OF_CELLS if isinstance(row, Rate) and row.name == name)
    for name in ("true_positive_rate", "false_positive_rate", "true_negative_rate", "positive_predictive_value", "false_omission_rate")
)
BLENDS: tuple[Statistic, ...] = (
    Blend(name="balanced_accuracy", of=(TPR, TNR), better=HIGHER, aka=("bacc", "balanced accuracy score"), says="the mean of true positive rate and true negative rate", cite=("sklearn:balanced_accuracy_score",)),
    Blend(name="average_odds", plural=True, of=(TPR, FPR), better=NEITHER, says="the mean of true positive rate and false positive rate", cite=("aif360:average_odds_difference",)),
)
OF_ALL_CLASSES: tuple[Kappa, ...] = (
    Kappa(name="cohen_kappa", signed=True, better=HIGHER, aka=("kappa", "cohen kappa score"), says="the agreement of predictions and labels beyond the agreement of independent ones", cite=("sklearn:cohen_kappa_score",)),
    Kappa(name="quadratic_weighted_kappa", power=2, signed=True, better=HIGHER, aka=("qwk", "quadratic kappa", "quadratically weighted kappa"), says="the agreement of predictions and labels beyond that of independent ones, a prediction that is k classes off disagreeing k squared times as much", cite=("sklearn:cohen_kappa_score", "Cohen 1968")),
)
PREDICTIVE = Blend(name="average_predictive_value", of=(PPV, FOR), better=NEITHER, says="the mean of positive predictive value and false omission rate", cite=("aif360:average_predictive_value_difference",))

SCORES: tuple[Statistic, ...] = (
    scores.RocAuc(name="roc_auc", better=HIGHER, aka=("auc", "auroc", "area under the roc curve", "subgroup auc"), heading="AUC", spelled_out="area under the ROC curve", says="the probability that an observed positive scores above an observed negative, ties counting half", cite=("sklearn:roc_auc_score",)),
    scores.AveragePrecision(name="average_precision", better=HIGHER, aka=("pr auc", "auprc", "ap"), says="precision averaged over the observed positives, from the highest score down", cite=("sklearn:average_precision_score",)),
    scores.ScoreMean(name="brier_score", of=scores.ScoreTerm.SQUARED_ERROR, better=LOWER, aka=("brier", "brier score loss"), says="the mean squared difference between score and label", cite=("sklearn:brier_score_loss",)),
    scores.ScoreMean(name="log_loss", of=scores.ScoreTerm.LOG_LOSS, better=LOWER, aka=("cross entropy", "logistic loss"), says="the mean negative log likelihood of the labels", cite=("sklearn:log_loss",)),
    scores.CalibrationError(name="expected_calibration_error", better=LOWER, aka=("ece",), heading="ECE", says="the mean absolute difference between mean score and observed positive rate over ten equal-width bins (biased upwards in small groups)", cite=("Naeini et al. 2015",)),
    scores.ScoreMean(name="calibration_gap", of=scores.ScoreTerm.CALIBRATION_GAP, signed=True, better=NEITHER, aka=("calibration in the large", "mean calibration"), says="the mean score minus the share of positive labels", cite=("Van Calster et al. 2019",)),
    scores.LabelMeanScore(name="generalized_true_positive_rate", label="positive", better=HIGHER, aka=("gtpr", "balance for the positive class", "mean score of positives"), says="the mean score of observed positives", cite=("aif360:generalized_true_positive_rate", "Kleinberg et al. 2017")),
    scores.LabelMeanScore(name="generalized_false_positive_rate", label="negative", better=LOWER, aka=("gfpr", "balance for the negative class", "mean score of negatives"), says="the mean score of observed negatives", cite=("aif360:generalized_false_positive_rate", "Kleinberg et al. 2017")),
    scores.ScoreMean(name="mean_score", of=scores.ScoreTerm.SCORE, better=NEITHER, aka=("average score", "mean predicted score"), says="the mean of the scores", cite=("holisticai:average_score_difference",)),
)

_MEAN_LABEL = scores.Mean(name="mean_label", of=scores.RegressionTerm.LABEL, better=NEITHER, aka=("average label",), says="the mean of the labels", cite=("fairlearn:MetricFrame",))
MOMENTS: tuple[Statistic, ...] = (
    _MEAN_LABEL,
    scores.Mean(name="mean_prediction", of=scores.RegressionTerm.PREDICTION, better=NEITHER, aka=("average prediction",), says="the mean of the predictions", cite=("fairlearn:mean_prediction",)),
    scores.Mean(name="mean_error", of=scores.RegressionTerm.ERROR, signed=True, better=NEITHER, aka=("mean signed error", "mean residual", "bias"), says="the mean of prediction minus label; above 0, predictions are too high", cite=("fairlearn:MetricFrame",)),
    scores.Mean(name="mean_absolute_error", of=scores.RegressionTerm.ABSOLUTE_ERROR, better=LOWER, aka=("mae",), heading="MAE", says="the mean absolute difference between prediction and label", cite=("sklearn:mean_absolute_error",)),
    scores.Mean(name="mean_squared_error", of=scores.RegressionTerm.SQUARED_ERROR, better=LOWER, aka=("mse",), says="the mean squared difference between prediction and label", cite=("sklearn:mean_squared_error",)),
    scores.RootMeanSquaredError(name="root_mean_squared_error", better=LOWER, aka=("rmse",), heading="RMSE", says="the square root of the mean squared error", cite=("sklearn:root_mean_squared_error",)),
    scores.ExplainedVariance(name="r2", signed=True, better=HIGHER, aka=("r squared", "coefficient of determination", "r2 score"), says="the share of the labels' variance that the predictions explain", cite=("sklearn:r2_score",)),
)

RATES: tuple[Statistic, ...] = (*OF_CELLS, *BLENDS, *OF_ALL_CLASSES, *SCORES, *MOMENTS)
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
    Distance(name="LP", set="clarify", title="Lp-norm (LP)", of="label", by="lp", says="the Euclidean distance between the label distributions", positive="the distributions differ; the sign carries no direction", aka=("L-p Norm (LP)", "lp norm"), cite=("clarify:LP",)),
    Distance(name="TVD", set="clarify", title="Total Variation Distance (TVD)", of="label", by="tvd", says="the share of labels that would have to change to make the distributions equal", positive="the distributions differ; the sign carries no direction", aka=("total variation distance",), cite=("clarify:TVD",)),
    Distance(name="KS", set="clarify", title="Kolmogorov-Smirnov (KS)", of="label", by="ks", says="the largest difference between the shares of any one label", positive="the distributions differ; the sign carries no direction", aka=("Kolmogorov-Smirnov Distance (KS)", "kolmogorov smirnov distance"), cite=("clarify:KS",)),
    ConditionalDisparity(name="CDDL", set="clarify", title="Conditional Demographic Disparity in Labels (CDDL)", of="label", margin=rate("base_rate"), says="the group's share of negative labels minus its share of positive labels, averaged over strata", positive="the group's share of negative labels is larger than its share of positive labels", aka=("conditional demographic disparity in labels",), cite=("clarify:CDDL",)),
    # after training: predictions against labels
    Contrast(name="DPPL", set="clarify", title="Difference in Positive Proportions in Predicted Labels (DPPL)", of=rate("selection_rate"), by="difference", order=A_MINUS_D, says="how much less often the group is predicted positive", positive="the group is predicted positive less often", cite=("clarify:DPPL",)),
    Contrast(name="DI", set="clarify", title="Disparate Impact (DI)", of=rate("selection_rate"), by="ratio", says="how many times as often the group is predicted positive", positive="the group is predicted positive more often", aka=("impact ratio", "adverse impact ratio"), cite=("clarify:DI",)),
    Contrast(name="DCA", set="clarify", title="Difference in Conditional Acceptance (DCAcc)", of=rate("conditional_acceptance"), by="difference", order=A_MINUS_D, says="how many more observed positives per predicted positive the reference has", positive="relative to the labels, the model accepts too few of the reference, more so than of the group", aka=("DCAcc", "Difference in Conditional Acceptance", "Difference in Conditional Acceptance (DCA)"), cite=("clarify:DCA",)),
    Contrast(name="DCR", set="clarify", title="Difference in Conditional Rejection (DCR)", of=rate("conditional_rejection"), by="difference", order=D_MINUS_A, says="how many more observed negatives per predicted negative the group has", positive="relative to the labels, the model rejects too few of the group, more so than of the reference", aka=("Difference in Conditional Rejection",), cite=("clarify:DCR",)),
    Contrast(name="RD", set="clarify", title="Recall Difference (RD)", of=rate("true_positive_rate"), by="difference", order=A_MINUS_D, says="how much less often the group's observed positives are predicted positive", positive="the group has more false negatives among its observed positives", cite=("clarify:RD",)),
    Contrast(name="SD", set="clarify", title="Specificity Difference (SD)", of=rate("true_negative_rate"), by="difference", order=D_MINUS_A, says="how much more often the group's observed negatives are predicted negative", positive="the group has fewer false positives among its observed negatives, which Clarify interprets as bias against the group", cite=("clarify:SD",)),
    Contrast(name="DAR", set="clarify", title="Difference in Acceptance Rates (DAR)", of=rate("positive_predictive_value"), by="difference", order=A_MINUS_D, says="how much less often the group's predicted positives are observed positive", positive="the group has more false positives among its predicted positives", aka=("Difference in Acceptance Rates",), cite=("clarify:DAR",)),
    Contrast(name="DRR", set="clarify", title="Difference in Rejection Rates (DRR)", of=rate("negative_predictive_value"), by="difference", order=D_MINUS_A, says="how much more often the group's predicted negatives are observed negative", positive="the group has fewer false negatives among its predicted negatives", aka=("Difference in Rejection Rates",), cite=("clarify:DRR",)),
    Contrast(name="AD", set="clarify", title="Accuracy Difference (AD)", of=rate("accuracy"), by="difference", order=A_MINUS_D, says="how much less often predictions are correct for the group", positive="predictions are less accurate for the group", cite=("clarify:AD",)),
    Contrast(name="TE", set="clarify", title="Treatment Equality (TE)", of=rate("error_type_ratio"), by="difference", order=D_MINUS_A, says="how many more false negatives per false positive the group has", positive="false negatives make up more of the group's errors", cite=("clarify:TE",)),
    ConditionalDisparity(name="CDDPL", set="clarify", title="Conditional Demographic Disparity in Predicted Labels (CDDPL)", of="prediction", margin=rate("selection_rate"), says="the group's share of predicted negatives minus its share of predicted positives, averaged over strata", positive="the group's share of predicted negatives is larger than its share of predicted positives", aka=("conditional demographic disparity in predicted labels",), cite=("clarify:CDDPL",)),
    Inequality(name="GE", set="clarify", title="Generalized Entropy (GE)", says="how unequally benefit is distributed over all rows", positive="benefit is distributed unequally", cite=("clarify:GE",)),
    RowMetric(name="FT", set="clarify", title="Flip Test (FT)", kind="flip", formula="(F+ - F-) / n_d,  F+ predicted negative with a positive neighbourhood, F- the reverse", range=(-1.0, 1.0), needs=PREDICTION, tasks=BINARY, by_features=True, says=f"how much more often rows of the group have nearest neighbours in the reference with a better prediction than with a worse one; {_NEIGHBOURS}", positive="rows of the group are predicted negative where similar rows of the reference are predicted positive (profile clarify has the opposite sign, as smclarify computes it)", aka=("flip test", "counterfactual fliptest"), cite=("clarify:FT",)),
)

VERTEX: tuple[Metric, ...] = (
    Imbalance(name="vertex.difference_in_population_size", set="vertex", title="Difference in Population Size", order=D_MINUS_A, says="how much larger slice 1 (the group) is than slice 2 (its reference)", positive="slice 1 has more rows", cite=("vertex:data",)),
    Contrast(name="vertex.dpptl", set="vertex", title="Difference in Positive Proportions in True Labels (DPPTL)", of=rate("base_rate"), by="difference", says="how much more often slice 1 is observed positive", positive="slice 1 has a higher share of positive labels", aka=("dpptl", "label imbalance", "Difference in Positive Proportions in True Labels"), cite=("vertex:data",)),
    Contrast(name="vertex.accuracy_difference", set="vertex", title="Accuracy Difference", of=rate("accuracy"), by="difference", says="how much more often predictions are correct for slice 1", positive="predictions are more accurate for slice 1", cite=("vertex:model",)),
    Contrast(name="vertex.dpppl", set="vertex", title="Difference in Positive Proportions in Predicted Labels (DPPPL)", of=rate("selection_rate"), by="difference", says="how much more often slice 1 is predicted positive", positive="slice 1 is predicted positive more often", aka=("dpppl",), cite=("vertex:model",)),
    Contrast(name="vertex.recall_difference", set="vertex", title="Recall Difference (Equal Opportunity)", of=rate("true_positive_rate"), by="difference", says="how much more often slice 1's observed positives are predicted positive", positive="more of slice 1's observed positives are predicted positive", cite=("vertex:model",)),
    Contrast(name="vertex.specificity_difference", set="vertex", title="Specificity Difference", of=rate("true_negative_rate"), by="difference", says="how much more often slice 1's observed negatives are predicted negative", positive="slice 1 has fewer false positives among its observed negatives", cite=("vertex:model",)),
    Contrast(name="vertex.difference_in_ratio_of_error_types", set="vertex", title="Difference in Ratio of Error Types (Treatment Equality)", of=rate("error_type_ratio"), by="difference", says="how many more false negatives per false positive slice 1 has", positive="slice 1 has relatively more false negatives (type II errors)", aka=("difference in ratio of error types",), cite=("vertex:model",)),
)
# fmt: on


_BOTH, _ONE = across.CONTRASTS, across.CONTRASTS[:1]
# The rates of ``metrics="standard"``, and how they are compared: demographic parity, equalized
# odds, predictive parity and accuracy equality; labels, scores and regressions. Means are those of
# one column of numbers alone, without errors.
_STANDARD: dict[str, tuple[across.Contrasts, ...]] = {
    "selection_rate": _BOTH, "true_positive_rate": _ONE, "false_positive_rate": _ONE,
    "positive_predictive_value": _ONE, "accuracy": _ONE, "base_rate": _BOTH, "roc_auc": _ONE,
    "calibration_gap": _ONE, "mean_error": _ONE, "mean_absolute_error": _ONE, "mean_label": _BOTH,
    "mean_prediction": _BOTH,
}  # fmt: skip

CENTRAL_RATES = tuple(_STANDARD)
"""The rates of the standard metrics, in the order in which reports show them."""


# what other tools call metrics, each with its sign
_TAKEN = {*map(lookup_key, (*(row.title for row in CLARIFY + VERTEX), *(of.name for of in NAMES)))}


# the names in use of contrasts that do not follow from those of their rates
_CONTRAST_NAMES = {
    "selection_odds.ratio": ("odds ratio",),
    "denials_odds.ratio": ("denials odds ratio", "odds ratio of denial"),
}


def _native(of: Statistic, by: across.Contrasts) -> Contrast:
    names = _CONTRAST_NAMES.get(f"{of.name}.{by}", ())
    derived = (name for each in of.aka if lookup_key(name := f"{each} {by}") not in _TAKEN)
    more = {"heading": next(iter(names), ""), "standard": by in _STANDARD.get(of.name, ())}
    return across.contrast_of(of, by, aka=(*names, *derived), **more)


NATIVE: tuple[Metric, ...] = tuple(
    _native(of, by) for of in RATES for by in across.CONTRASTS if by in across.comparisons_of(of)
)


# fmt: off
_OF_PREDICTIONS: tuple[tuple[Distances, str, str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("kl", "Kullback-Leibler divergence", "how far the reference's predictions diverge from the group's", (), ("clarify:KL",)),
    ("js", "Jensen-Shannon divergence", "how far both distributions of predictions diverge from their mean", (), ("clarify:JS",)),
    ("lp", "Lp-norm", "the Euclidean distance between the distributions of predictions", (), ("clarify:LP",)),
    ("tvd", "Total variation distance", "the share of predictions that would have to change to make the distributions equal", ("multiclass statistical parity",), ("clarify:TVD", "holisticai:multiclass_statistical_parity")),
    ("ks", "Largest difference", "the largest difference between the shares of any one prediction", (), ("clarify:KS",)),
)
COMBINED: tuple[Metric, ...] = (
    Combined(name="average_absolute_odds", set="native", title="Average absolute odds difference", of=(_native(TPR, "difference"), _native(FPR, "difference")), how="mean", says="the mean absolute difference in true and in false positive rate", positive="the error rates differ", aka=("average_abs_odds_difference",), cite=("aif360:average_abs_odds_difference",)),
    Combined(name="worst_odds", set="native", title="Equalized odds difference of one group", of=(_native(TPR, "difference"), _native(FPR, "difference")), how="worst", says="the larger of the absolute differences in true and in false positive rate", positive="the error rates differ", cite=("aif360:equalized_odds_difference",)),
    Combined(name="generalized_worst_odds", set="native", title="Generalized equalized odds difference of one group", of=(_native(rate("generalized_true_positive_rate"), "difference"), _native(rate("generalized_false_positive_rate"), "difference")), how="worst", says="the larger of the absolute differences in the mean score of observed positives and of observed negatives", positive="scores differ among rows of the same label", cite=("aif360:generalized_equalized_odds_difference",)),
    Contrast(name="average_predictive_value_difference", set="native", title="Average predictive value difference", of=PREDICTIVE, by="difference", says="the mean of the differences in positive predictive value and false omission rate", positive="the group's predicted positives and negatives are more often observed positive", cite=("aif360:average_predictive_value_difference",)),
    OverallStandardisedDifference(name="selection_smd_overall", set="native", title="Standardised mean difference of selection, by the overall standard deviation", heading="SMD", says="100 times the difference in selection rate, in standard deviations of all rows", positive="the group is predicted positive more often", aka=("SMD of fair lending",), cite=("solas-disparity:standardized_mean_difference",)),
    OverallStandardisedMean(name="mean_label_smd_overall", set="native", title="Standardised mean difference of the label, by the overall standard deviation", heading="SMD", mean="mean label", of=_MEAN_LABEL, says="100 times the difference in the mean label, in standard deviations of all rows", positive="the group's labels are higher", cite=("solas-disparity:standardized_mean_difference",)),
)

DISTANCES_OF_PREDICTIONS: tuple[Metric, ...] = tuple(
    Distance(name=f"prediction.{by}", set="native", title=f"{title} of predictions", of="prediction", by=by, says=says, positive="the distributions differ; the sign carries no direction", aka=aka, cite=cite)
    for by, title, says, aka, cite in _OF_PREDICTIONS
)

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


def _named_spread(of: Statistic, by: across.Spreads) -> across.Spread:
    return across.spread_of(of, by, SPREAD_NAMES.get(f"{of.name}.{by}", ()))


SPREADS: tuple[Metric, ...] = tuple(
    _named_spread(of, by)
    for of in RATES
    for by in across.SPREAD_WORDS
    if by in across.comparisons_of(of)
)

# fmt: off
CRITERIA: tuple[Metric, ...] = (
    across.Joint(name="equalized_odds.largest_gap", set="native", title="Equalized odds, largest gap", of=(_named_spread(TPR, "largest_gap"), _named_spread(FPR, "largest_gap")), how="worst", says="the larger of the largest gaps in true and in false positive rate", positive="the groups' error rates differ", aka=("equalized odds",), cite=("fairlearn:equalized_odds_difference",)),
    across.Joint(name="equalized_odds.mean_gap", set="native", title="Equalized odds, mean gap", of=(_named_spread(TPR, "largest_gap"), _named_spread(FPR, "largest_gap")), how="mean", says="the mean of the largest gaps in true and in false positive rate", positive="the groups' error rates differ", cite=("fairlearn:equalized_odds_difference",)),
    across.Joint(name="equalized_odds.smallest_ratio", set="native", title="Equalized odds, smallest ratio", of=(_named_spread(TPR, "smallest_ratio"), _named_spread(FPR, "smallest_ratio")), how="worst", says="the smaller of the smallest ratios of true and of false positive rate", positive="the groups' error rates differ", aka=("equalized_odds_ratio",), cite=("fairlearn:equalized_odds_ratio",)),
    across.Joint(name="equalized_odds.mean_ratio", set="native", title="Equalized odds, mean ratio", of=(_named_spread(TPR, "smallest_ratio"), _named_spread(FPR, "smallest_ratio")), how="mean", says="the mean of the smallest ratios of true and of false positive rate", positive="the groups' error rates differ", cite=("fairlearn:equalized_odds_ratio",)),
    across.DifferentialFairness(name="label.differential_fairness", set="native", title="Differential fairness of labels (epsilon)", of="label", says="the largest log ratio between two groups of the share of any label, with smoothing", positive="some label is more frequent in one group", aka=("smoothed_empirical_differential_fairness", "smoothed edf of labels"), cite=("Foulds et al. 2020", "aif360:smoothed_empirical_differential_fairness")),
    across.DifferentialFairness(name="prediction.differential_fairness", set="native", title="Differential fairness of predictions (epsilon)", of="prediction", says="the largest log ratio between two groups of the share of any prediction, with smoothing", positive="some prediction is more frequent in one group", aka=("smoothed edf of predictions",), cite=("Foulds et al. 2020",)),
)
UNEVEN: tuple[Metric, ...] = (
    Inequality(name="generalized_entropy", set="native", title="generalized entropy", says="how unequally benefit is distributed over all rows; generalized_entropy(alpha=X) has order X instead of 2", positive="benefit is distributed unequally", aka=("generalized entropy index",), cite=("Speicher et al. 2018",)),
    Inequality(name="theil_index", set="native", title="Theil index", parameter=1.0, says="generalized entropy of order 1", positive="benefit is distributed unequally", aka=("theil",), cite=("Speicher et al. 2018", "aif360:theil_index")),
    Inequality(name="coefficient_of_variation", set="native", title="coefficient of variation", index="variation", says="the standard deviation of the benefits divided by their mean, sqrt(2 GE)", positive="benefit is distributed unequally", cite=("aif360:coefficient_of_variation",)),
    InequalityPart(name="between_group_generalized_entropy", set="native", title="Generalized entropy between groups", says="the part of generalized entropy due to differences between groups; with (alpha=X), of order X instead of 2", positive="mean benefit differs between groups", aka=("between_all_groups_generalized_entropy_index", "between_group_generalized_entropy_index"), cite=("Speicher et al. 2018", "aif360:between_group_generalized_entropy_index")),
    InequalityPart(name="between_group_theil_index", set="native", title="Theil index between groups", parameter=1.0, says="the part of the Theil index due to differences between groups", positive="mean benefit differs between groups", aka=("between_all_groups_theil_index",), cite=("aif360:between_group_theil_index",)),
)
ROWWISE: tuple[Metric, ...] = (
    RowMetric(name="consistency", set="native", title="Consistency", kind="consistency", formula="1 - mean |prediction - mean prediction of the 5 nearest rows, itself among them|", range=(0.0, 1.0), neutral=1.0, needs=PREDICTION, tasks=BINARY, one_per="table", by_features=True, says=f"how similar the predictions of similar rows are; {_NEIGHBOURS}", positive="similar rows have different predictions", aka=("individual fairness consistency",), cite=("Zemel et al. 2013", "aif360:consistency")),
    RowMetric(name="median_label.difference", set="native", title="Median label difference", kind="quantile_difference", formula="Q_d(q) - Q_a(q), Q(q) the number that a share q of labels is at or below", range=(-math.inf, math.inf), needs=LABEL, tasks=REGRESSION, q=0.5, says="the group's median label less its reference's; as quantile_label(q).difference, of another quantile", positive="the group's median label is higher", aka=("quantile_label.difference",), cite=("Directive (EU) 2023/970, art. 3", "David & Nagaraja 2003")),
    RowMetric(name="label_quarter", set="native", title="Share of quarter 1 of the label", kind="quarter", formula="rows of the group in quarter k of all rows by label, over all rows in it", range=(0.0, 1.0), needs=LABEL, tasks=REGRESSION, top=1, says="the group's share of the rows in quarter 1, that of the lowest labels; with (k=2) to (k=4), in another; of labels that straddle two quarters, each has its part", positive="the group is in that quarter", cite=("Directive (EU) 2023/970, art. 9",)),
    RowMetric(name="median_label.ratio", set="native", title="Median label ratio", kind="quantile_ratio", formula="Q_d(q) / Q_a(q), Q(q) the number that a share q of labels is at or below", range=(0.0, math.inf), neutral=1.0, needs=LABEL, tasks=REGRESSION, q=0.5, says="the group's median label divided by its reference's; as quantile_label(q).ratio, of another quantile", positive="the group's median label is higher", aka=("quantile_label.ratio",), cite=("Directive (EU) 2023/970, art. 3", "David & Nagaraja 2003")),
    RowMetric(name="top_selection_ratio", set="native", title="Selection ratio at the top of a ranking", kind="top", formula="share of the group's rows among the k highest scores, over the reference's", range=(0.0, math.inf), neutral=1.0, needs=SCORE, tasks=BINARY, top=100, says="how many times as often the group is among the 100 highest scores; with (k=N) or (percent=P), among the top N rows or P per cent", positive="the group is more often among the highest scores", cite=("aequitas:rank_abs",)),
    RowMetric(name="exposure_ratio", set="native", title="Exposure ratio of a ranking", kind="exposure", formula="mean_d(1 / log2(rank + 1)) / mean_a(1 / log2(rank + 1))", range=(0.0, math.inf), neutral=1.0, needs=SCORE, tasks=BINARY, says="the group's mean exposure, 1 / log2(rank + 1), divided by its reference's", positive="the group is ranked higher", cite=("Singh & Joachims 2018",)),
)
METRICS: tuple[Metric, ...] = (*CLARIFY, *VERTEX, *NATIVE, *COMBINED, *DISTANCES_OF_PREDICTIONS, *UNEVEN, *SPREADS, *CRITERIA, *ROWWISE)
