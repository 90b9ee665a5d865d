"""fairlearn 0.15: rates by group and over all rows, by control feature, and disparities.

fairlearn's differences are unsigned and of the whole feature; ours are signed and of a group:
theirs is the widest of ours. Where a denominator is 0, fairlearn says 0 and we say undefined.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

RATES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced_accuracy",
    "selection_rate": "selection_rate",
    "tpr": "true_positive_rate",
    "fpr": "false_positive_rate",
    "fnr": "false_negative_rate",
    "tnr": "true_negative_rate",
    "precision": "positive_predictive_value",
    "recall": "true_positive_rate",
    "f1": "f1",
    "mean_prediction": "selection_rate",
    "zero_one_loss": "error_rate",
}
COMPARED = tuple(
    f"{rate}.{by}" for rate in sorted({*RATES.values()}) for by in ("difference", "ratio")
)
TABLES = ["compas_pred", "adult_pred", "hmda_pred"]


def close(ours: float, theirs: float) -> bool:
    return math.isclose(ours, theirs, rel_tol=1e-12, abs_tol=1e-12)


def positive_of(key: str) -> Any:
    value = key.removeprefix("pos=").removeprefix("one_vs_rest pos=")
    return int(value) if value.isdigit() else value


def frames(peers: Any, name: str) -> list[tuple[Any, str, dict[str, Any]]]:
    """Return (positive, columns, entry) of every metric frame in an oracle file."""
    results = peers.oracle(f"{name}__fairlearn.json")["results"]
    return [
        (positive_of(key), columns, entry)
        for key, by_columns in results.items()
        for columns, entry in by_columns.items()
    ]


def check_group(group: Any, theirs: dict[str, float], where: str) -> int:
    """Compare all rates of a group; an undefined one is 0 (precision, F1 ...) or NaN there."""
    assert group.n == theirs["count"], where
    checked = 0
    for name, ours in RATES.items():
        rate, expected = group.rates[ours], theirs[name]
        if rate.value is None:
            # theirs is a number only by the convention zero_division=0
            empty = expected in (0, "NaN") or name == "balanced_accuracy"
            assert empty, (where, name, expected)
            assert rate.status == "undefined"
            assert rate.reason
        else:
            assert close(rate.value, expected), (where, name, rate.value, expected)
        checked += 1
    return checked


@pytest.mark.parametrize("name", TABLES)
def test_rates_by_group(peers: Any, groups: Any, name: str) -> None:
    checked = 0
    for positive, columns, entry in frames(peers, name):
        found = groups(peers.audit(name, columns, positive))
        theirs = entry["metric_frame"]["by_group"]
        assert {key.replace("|", " & ") for key in theirs} == set(found)
        for key, rates in theirs.items():
            checked += check_group(found[key.replace("|", " & ")], rates, f"{columns}={key}")
    print(f"\n{name}: {checked} group rates compared with fairlearn")
    assert checked >= 96


@pytest.mark.parametrize("name", TABLES)
def test_rates_of_everyone(peers: Any, groups: Any, name: str) -> None:
    for positive, columns, entry in frames(peers, name):
        report = peers.audit(name, columns, positive, reference="overall", metrics=COMPARED)
        for theirs, ours in RATES.items():
            expected = entry["metric_frame"]["overall"][theirs]
            found = {e.rate_reference for e in report.estimates if e.metric == f"{ours}.difference"}
            assert all(close(each, expected) for each in found), (columns, theirs)
            assert found


@pytest.mark.parametrize("name", TABLES)
def test_rates_within_a_control_feature(peers: Any, groups: Any, name: str) -> None:
    checked = 0
    for positive, columns, entry in frames(peers, name):
        if not entry.get("control_feature"):
            continue
        metrics = tuple(f"{ours}.difference" for ours in RATES.values())
        strata = entry["control_feature"]
        report = peers.audit(name, columns, positive, strata=strata, metrics=metrics)
        for key, theirs in entry["metric_frame_control"]["by_group"].items():
            stratum, group = key.split("|")
            if theirs["count"] == "NaN":
                assert groups(report, stratum)[group].n == 0
                continue
            checked += check_group(groups(report, stratum)[group], theirs, key)
    assert checked >= 48


@pytest.mark.parametrize("name", TABLES)
def test_differences_and_ratios(peers: Any, name: str) -> None:
    """Between groups: the best and the worst; to overall: the one farthest from everyone."""
    checked = 0
    for positive, columns, entry in frames(peers, name):
        frame = entry["metric_frame"]
        report = peers.audit(name, columns, positive, reference="overall", metrics=COMPARED)
        for theirs, ours in RATES.items():
            by_group = [rates[theirs] for rates in frame["by_group"].values()]
            values = {e.group: e for e in report.estimates if e.metric == f"{ours}.difference"}
            if any(e.value is None for e in values.values()) or "NaN" in by_group:
                continue  # theirs is a number by the convention zero_division=0
            widest = max(abs(e.value) for e in values.values())
            assert close(widest, frame["difference_to_overall"][theirs]), (columns, theirs)
            rates = [e.rate_group for e in values.values()]
            between = max(rates) - min(rates)
            assert close(between, frame["difference_between_groups"][theirs])
            ratios = [e.value for e in report.estimates if e.metric == f"{ours}.ratio"]
            smallest = min(min(r, 1 / r) if r else 0.0 for r in ratios)
            assert close(smallest, frame["ratio_to_overall"][theirs]), (columns, theirs)
            checked += 3
    print(f"\n{name}: {checked} differences and ratios compared with fairlearn")
    assert checked >= 30


@pytest.mark.parametrize("name", TABLES)
def test_named_disparities(peers: Any, name: str) -> None:
    """Demographic parity and equalized odds are the widest of our signed differences."""
    rate_of = {"demographic_parity": "selection_rate", "equal_opportunity": "true_positive_rate"}
    for positive, columns, entry in frames(peers, name):
        report = peers.audit(name, columns, positive, reference="overall", metrics=COMPARED)
        for theirs, rate in rate_of.items():
            named = entry["named"][f"{theirs}_difference(method=to_overall)"]
            values = [e.value for e in report.estimates if e.metric == f"{rate}.difference"]
            if None not in values:
                assert close(max(map(abs, values)), named)


def test_one_vs_rest_of_three_classes(peers: Any, groups: Any) -> None:
    name, checked = "compas_multiclass_pred", 0
    for columns, entry in peers.oracle(f"{name}__fairlearn.json")["results"].items():
        for key, frame in entry.items():
            if not key.startswith("one_vs_rest"):
                continue
            positive = key.removeprefix("one_vs_rest pos=")
            found = groups(peers.audit(name, columns, positive))
            for group, theirs in frame["metric_frame"]["by_group"].items():
                checked += check_group(found[group], theirs, f"{columns}={group} {positive}")
    assert checked == 3 * (6 + 2) * len(RATES)
