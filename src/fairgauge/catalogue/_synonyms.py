"""What other tools call a number, and where theirs is not quite ours.

Where a name has no metric of ours, the reason stands in its place; `fairgauge metrics NAME` repeats it. Group and reference are
what AIF360 calls unprivileged and privileged, Clarify facet d and
facet a, Vertex AI slice 1 and slice 2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal, get_args

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
    **dict.fromkeys(
        ("qwk", "quadratic_weighted_kappa", "weighted_kappa"),
        "there are cohen_kappa of classes without order, and mean_absolute_error and "
        "mean_squared_error of classes that are numbers (task regression)",
    ),
    "median_label": "it compares no groups; median_label.difference and median_label.ratio do",
} | dict.fromkeys(
    ("mcc", "matthews_corrcoef", "matthews_correlation_coefficient", "matthews_correlation", "matthews",
     "phi_coefficient"),
    "a function of the four cells that is not in the catalogue; fairgauge.statistic makes it a "
    "metric of your own (docs/own-metrics.md has it as its example)",
)  # fmt: skip
"""What names of no tool are that are not in the catalogue."""
