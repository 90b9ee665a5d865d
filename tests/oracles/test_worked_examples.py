"""Every worked example of the vendors' pages: `vectors/worked_examples.json`, one test each.

Each entry is run through the public line (`fg.confusion` or a table with a count column, then
`fg.audit`), or stands in `LATER` with the command that it belongs to. Nothing is skipped silently.
"""

import math
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import fairgauge as fg

ENTRIES = [f"W{number:03d}" for number in range(1, 148)]

LATER = {
    "drift_violation": "fairgauge clarify-monitor: rules on the drift of a metric",
    "cloudwatch_value": "no metric: infinity in a request to CloudWatch",
    "interval_string": "fairgauge clarify: how analysis.json writes intervals",
    "value_string": "fairgauge clarify: how analysis.json writes value lists",
    "TE_superseded_FPa/FNa-FPd/FNd": "no metric: a superseded formula, see test_definitions",
    "CDDL": "needs the service's validation file, which is not ours to ship; its counts by facet "
    "are W128 to W134, and CDDL is held to smclarify on nine tables",
}
"""What is not run here, and where it belongs."""

RATES = {
    "accuracy": "accuracy", "recall": "true_positive_rate", "specificity": "true_negative_rate",
    "precision": "positive_predictive_value", "rejection_rate": "negative_predictive_value",
    "error_ratio_fn_fp": "error_type_ratio", "conditional_acceptance": "conditional_acceptance",
    "conditional_rejection": "conditional_rejection",
}  # fmt: skip
VERTEX = {
    "AccuracyDifference": "vertex.accuracy_difference", "DPPPL": "vertex.dpppl",
    "RecallDifference": "vertex.recall_difference",
    "SpecificityDifference": "vertex.specificity_difference",
    "DifferenceInRatioOfErrorTypes": "vertex.difference_in_ratio_of_error_types",
    "DifferenceInPopulationSize": "vertex.difference_in_population_size", "DPPTL": "vertex.dpptl",
}  # fmt: skip
COUNTS = {
    "labeled_positive_outcomes": ("tp", "fn"),
    "labeled_negative_outcomes": ("tn", "fp"),
    "total_errors": ("fn", "fp"),
}


def close(ours: float | None, entry: dict[str, Any]) -> bool:
    expected = entry["expected"]
    if expected is None or ours is None:
        return ours is expected
    number = math.inf if expected == "Infinity" else expected
    return ours == number or math.isclose(
        ours, number, rel_tol=entry["tolerance"], abs_tol=entry["tolerance"]
    )


def cells(given: dict[str, int]) -> dict[str, int]:
    """Turn every way in which the sources give counts into tp, fp, fn, tn with these margins."""
    if "correct" in given:
        return {"tp": given["correct"], "fn": given["fn"], "fp": given["fp"]}
    if "positive" in given:
        return {"tp": given["positive"], "tn": given["negative"]}
    if "observed_positive" in given:
        rows = given.get("n", given["observed_positive"] + given["predicted_positive"])
        return margins(rows, given["observed_positive"], given["predicted_positive"])
    if "observed_negative" in given:
        rows = given.get("n", given["observed_negative"] + given["predicted_negative"])
        return margins(rows, rows - given["observed_negative"], rows - given["predicted_negative"])
    return given


def margins(rows: int, observed: int, predicted: int) -> dict[str, int]:
    """Return some confusion matrix with these numbers of observed and predicted positives."""
    both = max(0, observed + predicted - rows)
    neither = rows - observed - predicted + both
    return {"tp": both, "fn": observed - both, "fp": predicted - both, "tn": neither}


def two(d: dict[str, int], a: dict[str, int], metrics: str) -> fg.Report:
    return fg.audit(fg.confusion("facet", {"d": cells(d), "a": cells(a)}), metrics=metrics)


def shares(of_group: list[Any]) -> list[int]:
    exact = [Fraction(str(each)) for each in of_group]
    rows = math.lcm(*(each.denominator for each in exact))
    return [int(each * rows) for each in exact]


def distribution(inputs: dict[str, Any], metric: str) -> float | None:
    """Count shares out as a table of labels, and compare the two distributions."""
    rows = [
        {"facet": facet, "label": f"class {i}", "n": count}
        for facet, key in (("a", "Pa"), ("d", "Pd"))
        for i, count in enumerate(shares(inputs[key]))
        if count
    ]
    report = fg.audit(
        pd.DataFrame(rows), label="label", sensitive="facet", positive="class 0", count="n",
        metrics=metric,
    )  # fmt: skip
    return report[metric, "facet", "d"].value


def selection(inputs: dict[str, str], metric: str) -> float | None:
    groups = {}
    for group in "ad":
        share = Fraction(inputs[f"qhat_{group}"])
        groups[group] = {"tp": share.numerator, "tn": share.denominator - share.numerator}
    return fg.audit(fg.confusion("facet", groups), metrics=metric)[metric, "facet", "d"].value


def imbalance(inputs: dict[str, int]) -> float | None:
    """CI needs no label; a facet without rows is a bin of a cut that holds none."""
    ages = pd.DataFrame({"age": [20] * inputs["n_d"] + [60] * inputs["n_a"]})
    report = fg.audit(ages, sensitive=fg.cut("age", [40]), metrics="CI")
    return report["CI", "age", "(-inf, 40]"].value


def disparity(inputs: dict[str, str]) -> float | None:
    """DD is CDDL in a single stratum: a thousand accepted and a thousand rejected."""
    rejected = int(Fraction(inputs["share_of_rejected"]) * 1000)
    accepted = int(Fraction(inputs["share_of_accepted"]) * 1000)
    rows = [
        ("d", 1, accepted), ("a", 1, 1000 - accepted), ("d", 0, rejected),
        ("a", 0, 1000 - rejected),
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=["facet", "label", "n"]).assign(stratum="one")
    report = fg.audit(
        table, label="label", sensitive="facet", strata="stratum", count="n", metrics="CDDL"
    )
    return report["CDDL", "facet", "d"].value


def benefit(inputs: dict[str, int]) -> float:
    """Recover b from GE beside ten rows of benefit 1: GE names b but for b = 0 and b = 2."""
    rows = [(inputs["y"], inputs["y_hat"])] + [(1, 1)] * 10
    table = pd.DataFrame(rows, columns=["y", "y_hat"]).assign(g="x")
    found = fg.audit(table, label="y", prediction="y_hat", sensitive="g", metrics="GE")["GE"].value
    expected = {b: ((b * b + 10) / 11 / ((b + 10) / 11) ** 2 - 1) / 2 for b in (0, 1, 2)}
    (which,) = [b for b, ge in expected.items() if math.isclose(found, ge, abs_tol=1e-12)]
    return float(which)


def binarized(inputs: dict[str, float]) -> float | None:
    """Clarify's score above the threshold is positive; its profile says so."""
    table = pd.DataFrame({"score": [inputs["score"]], "y": [1], "g": ["x"]})
    report = fg.audit(
        table, label="y", score="score", threshold=inputs["probability_threshold"], sensitive="g",
        metrics="all", profile="clarify",
    )  # fmt: skip
    return report.groups[0].rates["selection_rate"].value


def listed(inputs: dict[str, float]) -> bool:
    table = pd.DataFrame({"x": [inputs["value"], 0.0, 1.0]})
    report = fg.audit(table, sensitive=fg.cut("x", [inputs["threshold"]]), metrics="CI")
    groups = {group.group: group.n for group in report.groups}
    return groups[f"({inputs['threshold']:g}, inf)"] == 2


def computed(entry: dict[str, Any]) -> Any:
    metric, inputs = entry["metric"], entry["inputs"]
    if metric in RATES:
        given = inputs.get("group", inputs)
        report = fg.audit(fg.confusion("facet", {"g": cells(given), "o": {"tp": 1}}), metrics="all")
        return report.groups[0].rates[RATES[metric]].value
    if metric in VERTEX:
        report = two(inputs["slice_1"], inputs["slice_2"], "vertex")
        return report[VERTEX[metric], "facet", "d"].value
    if metric in COUNTS:
        report = fg.audit(
            fg.confusion("facet", {"g": inputs["slice"], "o": {"tp": 1}}), metrics="all"
        )
        return float(sum(report.groups[0].counts[cell] for cell in COUNTS[metric]))
    if metric == "GE":
        groups = {"all": inputs["pooled"]}
        return fg.audit(fg.confusion("facet", groups), metrics="GE")["GE"].value
    if "Pa" in inputs:
        return distribution(inputs, metric)
    if "qhat_a" in inputs:
        return selection(inputs, metric)
    if "n_a" in inputs:
        return imbalance(inputs)
    kinds = {"DD": disparity, "benefit": benefit, "binarize_score": binarized}
    kinds["in_threshold_group"] = listed
    if metric in kinds:
        return kinds[metric](inputs)
    return two(inputs["d"], inputs["a"], "clarify")[metric, "facet", "d"].value


@pytest.mark.parametrize("name", ENTRIES)
def test_worked_example(shared: Any, name: str) -> None:
    (entry,) = [each for each in shared.vectors("worked_examples.json") if each["id"] == name]
    if entry["metric"] in LATER:
        assert LATER[entry["metric"]]
        return
    ours = computed(entry)
    if isinstance(entry["expected"], bool):
        assert ours is entry["expected"]
    else:
        assert close(ours, entry), (ours, entry)


def test_every_entry_is_run_or_named(shared: Any) -> None:
    entries = shared.vectors("worked_examples.json")
    assert [entry["id"] for entry in entries] == ENTRIES
    later = [entry for entry in entries if entry["metric"] in LATER]
    assert {entry["metric"] for entry in later} == set(LATER)
    print(f"\n{len(entries) - len(later)} worked examples run, {len(later)} belong elsewhere")
    assert len(later) == 17


def test_all_false_negatives_say_why(shared: Any) -> None:
    ge = fg.audit(fg.confusion("facet", {"all": {"fn": 5}}), metrics="GE", profile="documented")[
        "GE"
    ]
    assert (ge.value, ge.status) == (None, "undefined")
    assert ge.reason.code == "no_benefit"
