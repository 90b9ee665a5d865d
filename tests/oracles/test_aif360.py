"""aif360 0.6.1: group rates, and the differences and ratios that have a name of ours.

Order: unprivileged minus (over) privileged, that is group minus (over) reference. Where a
denominator is 0 aif360 takes 0; there we are undefined and the oracle is not to be trusted.
"""

import math
from typing import Any

import pytest
from vendor import BINARY as TABLES

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
    "precision": "positive_predictive_value",
    "recall": "true_positive_rate",
    "sensitivity": "true_positive_rate",
    "specificity": "true_negative_rate",
}
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
