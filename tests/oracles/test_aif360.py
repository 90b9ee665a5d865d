"""aif360 0.6.1: every public method of its two metric classes, and its functions.

Order: unprivileged minus (over) privileged, that is group minus (over) reference. Methods without
groups are of all rows, or of all values of the attribute. Where a denominator is 0 aif360 takes 0;
there we are undefined and the oracle is not to be trusted.
"""

import math
from typing import Any

import pytest
from ledger import number, of_scores
from vendor import BINARY as TABLES
from vendor import COLUMNS

import fairgauge as fg

ERRORS = (
    "error_rate", "false_discovery_rate", "false_negative_rate", "false_omission_rate",
    "false_positive_rate",
)  # fmt: skip
ALIKE = (
    *ERRORS, "accuracy", "base_rate", "negative_predictive_value", "positive_predictive_value",
    "selection_rate", "true_negative_rate", "true_positive_rate",
)  # fmt: skip
"""Rates of one name there and here."""
RATES = {name: name for name in ALIKE} | {
    "precision": "positive_predictive_value", "recall": "true_positive_rate",
    "sensitivity": "true_positive_rate", "specificity": "true_negative_rate",
}  # fmt: skip
COMPARED = {f"{rate}_{by}": f"{rate}.{by}" for rate in ERRORS for by in ("difference", "ratio")} | {
    "disparate_impact": "DI",
    "mean_difference": "selection_rate.difference",
    "statistical_parity_difference": "selection_rate.difference",
    "equal_opportunity_difference": "true_positive_rate.difference",
    "true_positive_rate_difference": "true_positive_rate.difference",
}
LABELS = {
    "disparate_impact": "base_rate.ratio",
    "mean_difference": "base_rate.difference",
    "statistical_parity_difference": "base_rate.difference",
}


def close(ours: float, theirs: Any) -> bool:
    return math.isclose(ours, theirs, rel_tol=1e-12, abs_tol=1e-12)


def pairs(peers: Any, name: str) -> list[dict[str, Any]]:
    results = peers.oracle(f"{name}__aif360.json")["results"]
    return [entry for entry in results if "attribute" in entry]


def question(entry: dict[str, Any]) -> tuple[str, str, Any]:
    """Return group and reference by name, and the reference asked for."""
    (privileged,) = entry["privileged"]
    if isinstance(entry["unprivileged"], str):  # everything except the privileged: one rest
        return privileged, "others", "others"
    (unprivileged,) = entry["unprivileged"]
    return unprivileged, privileged, {entry["attribute"]: privileged}


@pytest.mark.parametrize("name", TABLES)
def test_group_rates(peers: Any, groups: Any, name: str) -> None:
    checked = 0
    for entry in pairs(peers, name):
        group, reference, _ = question(entry)
        found = groups(peers.audit(name, entry["attribute"], entry["favorable_label"]))
        sides = {"privileged": found[group if reference == "others" else reference]}
        if reference != "others":
            sides["unprivileged"] = found[group]
        theirs = entry["classification_metric"]
        for side, ours in sides.items():
            cells = theirs["binary_confusion_matrix"][side]
            assert {k.upper(): v for k, v in ours.counts.items()} == cells
            for their_name, our_name in RATES.items():
                value = ours.rates[our_name].value
                assert close(value, theirs[their_name][side]), (entry["attribute"], their_name)
                checked += 1
    print(f"\n{name}: {checked} group rates compared with aif360")
    assert checked >= 4 * len(RATES)


@pytest.mark.parametrize("name", TABLES)
def test_generalized_entropy(peers: Any, name: str) -> None:
    for entry in pairs(peers, name):
        report = peers.audit(name, entry["attribute"], entry["favorable_label"])
        theirs = entry["classification_metric"]
        assert close(report["GE"].value, theirs["generalized_entropy_index"])
        # the coefficient of variation of the same benefits is sqrt(2 GE)
        assert close(math.sqrt(2 * report["GE"].value), theirs["coefficient_of_variation"])


def test_two_groups_share_kl_and_disparity(shared: Any, audited: Any) -> None:
    """KL of the labels agrees where both groups have both classes."""
    results = shared.oracle("compas_pred__aif360_sklearn.json")["results"]
    (entry,) = (each for each in results if each["attribute"] == "sex")
    report = audited("compas_pred", "sex", 1, metrics="clarify")
    assert close(report["KL", "sex", "Female"].value, entry["kl_divergence(labels)"])


MORE = {
    "average_odds_difference": "average_odds.difference",
    "average_abs_odds_difference": "average_absolute_odds",
    "equalized_odds_difference": "worst_odds",
    "average_predictive_value_difference": "average_predictive_value_difference",
    "generalized_equalized_odds_difference": "generalized_worst_odds",
}
WHOLE = {
    "generalized_entropy_index": "generalized_entropy",
    "theil_index": "theil_index",
    "coefficient_of_variation": "coefficient_of_variation",
    **{
        f"generalized_entropy_index(alpha={a})": f"generalized_entropy(alpha={a})" for a in range(4)
    },
}
FEATURE = {
    "between_all_groups_generalized_entropy_index": "between_group_generalized_entropy",
    "between_all_groups_theil_index": "between_group_theil_index",
    **{
        f"between_all_groups_generalized_entropy_index(alpha={a})": (
            f"between_group_generalized_entropy(alpha={a})"
        )
        for a in range(4)
    },
    "smoothed_empirical_differential_fairness": "label.differential_fairness",
}
COUNTS = {
    "num_true_positives": ("tp",), "num_false_positives": ("fp",), "num_false_negatives": ("fn",),
    "num_true_negatives": ("tn",), "num_positives": ("tp", "fn"), "num_negatives": ("fp", "tn"),
    "num_pred_positives": ("tp", "fp"), "num_pred_negatives": ("fn", "tn"),
    "num_instances": ("tp", "fp", "fn", "tn"), "power": ("tp",),
}  # fmt: skip
GENERALIZED = {
    "generalized_true_positive_rate": ("generalized_true_positive_rate", False),
    "generalized_false_negative_rate": ("generalized_true_positive_rate", True),
    "generalized_false_positive_rate": ("generalized_false_positive_rate", False),
    "generalized_true_negative_rate": ("generalized_false_positive_rate", True),
}
"""Our rate, and whether theirs is what is left of 1."""
MEASURES = {
    "TPR": "true_positive_rate", "TNR": "true_negative_rate", "FPR": "false_positive_rate",
    "FNR": "false_negative_rate", "PPV": "positive_predictive_value",
    "NPV": "negative_predictive_value", "FDR": "false_discovery_rate", "FOR": "false_omission_rate",
    "ACC": "accuracy",
}  # fmt: skip
SUMS = {
    "GTP": "num_generalized_true_positives", "GFP": "num_generalized_false_positives",
    "GTN": "num_generalized_true_negatives", "GFN": "num_generalized_false_negatives",
}  # fmt: skip
DIVIDED = "alpha 0: theirs is divided by the mean benefit once more"
SMOOTHING = "differential fairness without smoothing (1e-9); ours is smoothed as aif360's default"
AMPLIFIED = "of predictions less of labels, as our two"
CODED = "(b_between)^2 = 2 GE between groups"
NO_STRATA = "over the values of the attribute itself, not over strata"


def audits(table: Any, name: str, entry: dict[str, Any]) -> tuple[fg.Report, fg.Report, str]:
    """Return the audit of the two sides, that of all values, and the group's name."""
    attribute = entry["attribute"]
    frame = table(name).assign(everyone="all")
    group, _, asked = question(entry)
    two = frame
    if asked == "others":
        known = frame[attribute].where(frame[attribute] == group, "other")
        two = frame.assign(**{attribute: known})
        group, asked = "other", {attribute: group}
    options = of_scores(name, entry["favorable_label"])
    wanted = {*COMPARED.values(), *LABELS.values(), *MORE.values(), *RATES.values()}
    wanted |= {ours for ours, _ in GENERALIZED.values()}
    pair = fg.audit(
        two, sensitive=[attribute, "everyone"], reference=asked, metrics=sorted(wanted), **options
    )
    every = {*WHOLE.values(), *FEATURE.values(), "prediction.differential_fairness"}
    whole = fg.audit(frame, sensitive=attribute, metrics=sorted(every), **options)
    return pair, whole, group


def across(report: fg.Report, metric: str) -> float:
    """Return the one number of a feature."""
    (found,) = [e for e in report.estimates if e.metric == metric]
    assert found.value is not None
    return found.value


def check_sides(book: Any, sides: dict[str, Any], theirs: dict[str, Any], where: str) -> None:
    """Compare what is given for all rows, the privileged and the unprivileged."""
    for side, group in sides.items():
        at = f"{where} {side}"
        for name, ours in RATES.items():
            book.same(group.rates[ours].value, theirs[name][side], f"{at} {name}")
        for name, (ours, left) in GENERALIZED.items():
            value = group.rates[ours].value
            book.same(1 - value if left else value, theirs[name][side], f"{at} {name}")
        for name, cells in COUNTS.items():
            book.same(sum(group.counts[c] for c in cells), theirs[name][side], f"{at} {name}")
        for name, ours in MEASURES.items():
            expected = theirs["performance_measures"][side][name]
            book.same(group.rates[ours].value, expected, f"{at} {name}")
        positives, negatives = (
            sum(group.counts[c] for c in x) for x in (("tp", "fn"), ("fp", "tn"))
        )
        tp = group.rates["generalized_true_positive_rate"].value * positives
        fp = group.rates["generalized_false_positive_rate"].value * negatives
        ours_of = {"GTP": tp, "GFN": positives - tp, "GFP": fp, "GTN": negatives - fp}
        for name, repeated in SUMS.items():
            expected = theirs["generalized_binary_confusion_matrix"][side][name]
            book.same(ours_of[name], expected, f"{at} {name}")
            book.same(ours_of[name], theirs[repeated][side], f"{at} {repeated}")


@pytest.mark.parametrize("name", TABLES)
def test_every_method(shared: Any, table: Any, ledger: Any, name: str) -> None:
    book = ledger("aif360")
    results = shared.oracle(f"{name}__aif360.json")["results"]
    for entry in (each for each in results if "attribute" in each):
        pair, whole, group = audits(table, name, entry)
        attribute, theirs = entry["attribute"], entry["classification_metric"]
        where = f"{name} {attribute} {group}"
        groups = {(g.feature, g.group): g for g in pair.groups}
        (privileged,) = entry["privileged"]
        sides = {
            "all": groups["everyone", "all"],
            "privileged": groups[attribute, privileged],
            "unprivileged": groups[attribute, group],
        }
        check_sides(book, sides, theirs, where)
        for their_name, ours in {**COMPARED, **MORE}.items():
            book.same(pair[ours, attribute, group].value, theirs[their_name], f"{where} {ours}")
        for their_name, ours in LABELS.items():
            expected = entry["label_dataset_metric"][their_name]
            book.same(pair[ours, attribute, group].value, expected, f"{where} label {ours}")
        for their_name, ours in WHOLE.items():
            book.same(whole[ours].value, theirs[their_name], f"{where} {ours}")
        for their_name, ours in FEATURE.items():
            if their_name.endswith("(alpha=0)"):
                again = across(whole, ours) / mean_benefit(whole)
                same = math.isclose(again, theirs[their_name], rel_tol=1e-9)
                book.explained(same, DIVIDED, where)
            else:
                book.same(across(whole, ours), theirs[their_name], f"{where} {ours}")
        check_derived(book, whole, theirs, where)
        unknown = set(theirs) - KNOWN
        assert not unknown, unknown
    book.settle(100)


KNOWN = {
    *RATES, *COUNTS, *GENERALIZED, *COMPARED, *MORE, *WHOLE, *FEATURE,
    "performance_measures", "generalized_binary_confusion_matrix", "binary_confusion_matrix",
    "consistency", "between_all_groups_coefficient_of_variation",
    "between_group_coefficient_of_variation", "between_group_generalized_entropy_index",
    "between_group_theil_index", "differential_fairness_bias_amplification",
    "smoothed_empirical_differential_fairness(concentration=1e-9)",
    *(f"between_group_generalized_entropy_index(alpha={a})" for a in range(4)),
    *(f"num_generalized_{x}_{y}" for x in ("true", "false") for y in ("positives", "negatives")),
}  # fmt: skip
"""Every method is compared, derived, or in the test of consistency."""


def mean_benefit(report: fg.Report) -> float:
    """Return 1 + (FP - FN) / n of all rows."""
    rows = sum(g.n for g in report.groups)
    return 1 + sum(g.counts["fp"] - g.counts["fn"] for g in report.groups) / rows


def check_derived(book: Any, whole: fg.Report, theirs: dict[str, Any], where: str) -> None:
    """Compare what is another form of our numbers."""
    between = across(whole, "between_group_generalized_entropy")
    squared = theirs["between_all_groups_coefficient_of_variation"] ** 2
    book.explained(math.isclose(squared, 2 * between, rel_tol=1e-9), CODED, where)
    labels = across(whole, "label.differential_fairness")
    amplified = across(whole, "prediction.differential_fairness") - labels
    expected = theirs["differential_fairness_bias_amplification"]
    book.explained(math.isclose(amplified, expected, rel_tol=1e-9), AMPLIFIED, where)
    raw = number(theirs["smoothed_empirical_differential_fairness(concentration=1e-9)"])
    book.explained(raw >= labels * 0.9, SMOOTHING, where)


@pytest.mark.parametrize("name", TABLES)
def test_intersections(shared: Any, audited: Any, ledger: Any, name: str) -> None:
    book = ledger("aif360")
    results = shared.oracle(f"{name}__aif360.json")["results"]
    for entry in (each for each in results if "attributes" in each):
        theirs = entry["intersectional"]
        report = audited(
            name, "|".join(entry["attributes"]), entry["favorable_label"],
            metrics=(*WHOLE.values(), *FEATURE.values(), "prediction.differential_fairness"),
        )  # fmt: skip
        for their_name in ("generalized_entropy_index", "theil_index", "coefficient_of_variation"):
            book.same(report[WHOLE[their_name]].value, theirs[their_name], f"{name} {their_name}")
        labels, predictions = "label.differential_fairness", "prediction.differential_fairness"
        for their_name, ours in {
            "between_all_groups_generalized_entropy_index": "between_group_generalized_entropy",
            "between_all_groups_theil_index": "between_group_theil_index",
            "smoothed_empirical_differential_fairness": labels,
            "label smoothed_empirical_differential_fairness": labels,
            "pred smoothed_empirical_differential_fairness": predictions,
        }.items():
            value = across(report, ours)
            book.same(value, theirs[their_name], f"{name} {their_name}")
    book.settle(8)


def test_consistency_where_no_ties_decide(shared: Any, table: Any, ledger: Any) -> None:
    """aif360's is of the labels, by unscaled columns: ours of a prediction that is the label."""
    book = ledger("aif360")
    ties = "neighbours at the same distance: theirs the first rows, ours all of them by share"
    for name in ("hmda_pred",):
        results = shared.oracle(f"{name}__aif360.json")["results"]
        for entry in (each for each in results if "attribute" in each):
            attribute = entry["attribute"]
            codes = entry["code_map"]
            frame = table(name)
            frame = frame.assign(coded=frame[attribute].map(codes))
            features = [*(f for f in entry["features"] if f != attribute), "coded"]
            report = fg.audit(
                frame.assign(decided=frame[COLUMNS[name][1]]), prediction="decided",
                positive=entry["favorable_label"], sensitive=attribute, features=features,
                metrics="consistency", profile="clarify",
            )  # fmt: skip
            (expected,) = entry["classification_metric"]["consistency"]
            ours = report["consistency"].value
            assert ours is not None
            book.explained(abs(ours - expected) < 0.01, ties, f"{name} {ours} {expected}")
    book.settle(2)


SAMPLE = {
    "statistical_parity_difference": "selection_rate.difference",
    "disparate_impact_ratio": "selection_rate.ratio",
    "equal_opportunity_difference": "true_positive_rate.difference",
    "average_odds_difference": "average_odds.difference",
    "average_odds_error": "average_absolute_odds",
    "average_predictive_value_difference": "average_predictive_value_difference",
    "label: statistical_parity_difference": "base_rate.difference",
    "label: disparate_impact_ratio": "base_rate.ratio",
}
SAMPLE_RATES = {
    "specificity_score": "true_negative_rate", "sensitivity_score": "true_positive_rate",
    "base_rate": "base_rate", "selection_rate": "selection_rate",
    "generalized_fpr": "generalized_false_positive_rate",
}  # fmt: skip
FURTHER = (
    "generalized_true_positive_rate", "between_group_generalized_entropy",
    "vertex.difference_in_population_size",
)  # fmt: skip
SAMPLE_WHOLE = {
    "generalized_entropy_error": "generalized_entropy",
    "theil_index(b=1+pred-true)": "theil_index",
    "coefficient_of_variation(b)": "coefficient_of_variation",
}


@pytest.mark.parametrize("name", TABLES[:2])
def test_functions(shared: Any, table: Any, ledger: Any, name: str) -> None:
    """The functions of aif360.sklearn: every other value against the privileged one."""
    book = ledger("aif360")
    for entry in shared.oracle(f"{name}__aif360_sklearn.json")["results"]:
        attribute, privileged, positive = entry["attribute"], entry["priv_group"], entry["pos"]
        frame = table(name).assign(everyone="all")
        two = frame.assign(
            **{attribute: frame[attribute].where(frame[attribute] == privileged, "other")}
        )
        options = of_scores(name, positive)
        pair = fg.audit(
            two, sensitive=[attribute, "everyone"], reference={attribute: privileged},
            metrics=[*SAMPLE.values(), *SAMPLE_WHOLE.values(), *SAMPLE_RATES.values(), *FURTHER],
            **options,
        )  # fmt: skip
        spreads = ["label.differential_fairness", "prediction.differential_fairness"]
        every = fg.audit(frame, sensitive=attribute, metrics=spreads, **options)
        where = f"{name} {attribute} sklearn"
        for theirs, ours in SAMPLE.items():
            book.same(pair[ours, attribute, "other"].value, entry[theirs], f"{where} {theirs}")
        (whole,) = [g for g in pair.groups if g.feature == "everyone"]
        for theirs, ours in SAMPLE_RATES.items():
            book.same(whole.rates[ours].value, entry[theirs], f"{where} {theirs}")
        missed = 1 - whole.rates["generalized_true_positive_rate"].value
        book.same(missed, entry["generalized_fnr"], f"{where} generalized_fnr")
        for theirs, ours in SAMPLE_WHOLE.items():
            book.same(pair[ours].value, entry[theirs], f"{where} {theirs}")
        sizes = pair["vertex.difference_in_population_size", attribute, "other"].value
        book.same(sizes, entry["class_imbalance"], f"{where} class_imbalance")
        name_of = ("between_group_generalized_entropy", attribute)
        between = [e.value for e in pair.estimates if (e.metric, e.feature) == name_of]
        book.same(between[0], entry["between_group_generalized_entropy_error"], where)
        labels = across(every, "label.differential_fairness")
        predictions = across(every, "prediction.differential_fairness")
        book.same(labels, entry["smoothed_edf(labels, concentration=1)"], f"{where} labels")
        book.same(predictions, entry["smoothed_edf(pred)"], f"{where} predictions")
        amplified = entry["df_bias_amplification"]
        book.explained(math.isclose(predictions - labels, amplified), AMPLIFIED, where)
        for each in ("labels", "pred"):
            book.explained(f"conditional_demographic_disparity({each})" in entry, NO_STRATA, where)
    book.settle(40)
