"""scikit-learn's counts by group and intersection, and every rate computed from them exactly.

`fractions.Fraction` is the arithmetic here: nothing of the library under test takes part.
"""

import math
from fractions import Fraction
from typing import Any

import pytest
from ledger import positive_of
from vendor import BINARY as TABLES

from fairgauge.catalogue.catalogue import RATES
from fairgauge.catalogue.statistics import Blend, Quotient, Rate


def exact(tp: int, fp: int, fn: int, tn: int) -> dict[str, Fraction | None]:
    """Return every rate by its definition, None where its denominator is 0."""

    def ratio(over: int, under: int) -> Fraction | None:
        return Fraction(over, under) if under else None

    def mean(one: Fraction | None, other: Fraction | None) -> Fraction | None:
        return None if one is None or other is None else (one + other) / 2

    n = tp + fp + fn + tn
    tpr, tnr = ratio(tp, tp + fn), ratio(tn, tn + fp)
    return {
        "base_rate": ratio(tp + fn, n), "negative_base_rate": ratio(tn + fp, n),
        "selection_rate": ratio(tp + fp, n), "rejection_share": ratio(tn + fn, n),
        "accuracy": ratio(tp + tn, n), "error_rate": ratio(fp + fn, n), "true_positive_rate": tpr,
        "false_negative_rate": ratio(fn, tp + fn), "true_negative_rate": tnr,
        "false_positive_rate": ratio(fp, tn + fp), "positive_predictive_value": ratio(tp, tp + fp),
        "false_discovery_rate": ratio(fp, tp + fp), "negative_predictive_value": ratio(tn, tn + fn),
        "false_omission_rate": ratio(fn, tn + fn), "jaccard_index": ratio(tp, tp + fp + fn),
        "f1": ratio(2 * tp, 2 * tp + fp + fn), "error_type_ratio": ratio(fn, fp),
        "selection_odds": ratio(tp + fp, tn + fn), "denials_odds": ratio(tn + fn, tp + fp),
        "conditional_acceptance": ratio(tp + fn, tp + fp),
        "conditional_rejection": ratio(tn + fp, tn + fn), "balanced_accuracy": mean(tpr, tnr),
        "average_odds": mean(tpr, ratio(fp, tn + fp)),
    }  # fmt: skip


def same(ours: Any, expected: Fraction | None, over: int) -> bool:
    if expected is None:
        infinite = ours.value == math.inf and over > 0
        return infinite or (ours.value is None and ours.status == "undefined" and bool(ours.reason))
    return math.isclose(ours.value, expected, rel_tol=1e-15, abs_tol=0)


OVER = {
    "error_type_ratio": lambda c: c["fn"],
    "selection_odds": lambda c: c["tp"] + c["fp"],
    "denials_odds": lambda c: c["tn"] + c["fn"],
    "conditional_acceptance": lambda c: c["tp"] + c["fn"],
    "conditional_rejection": lambda c: c["tn"] + c["fp"],
}
"""The numerators of what can be infinite."""


@pytest.mark.parametrize("name", TABLES)
def test_counts_and_rates(peers: Any, groups: Any, name: str) -> None:
    checked = 0
    for key, results in peers.oracle(f"{name}__sklearn.json")["results"].items():
        positive = positive_of(key)
        for columns, entry in results.items():
            if columns in ("overall", "pairs"):
                continue
            found = groups(peers.audit(name, columns, positive))
            assert {each.replace("|", " & ") for each in entry["groups"]} == set(found)
            for group, theirs in entry["groups"].items():
                ours = found[group.replace("|", " & ")]
                counts = {cell: int(theirs["counts"][cell]) for cell in ("tp", "fp", "fn", "tn")}
                assert ours.counts == counts
                assert ours.n == theirs["counts"]["n"]
                for rate, expected in exact(**counts).items():
                    over = OVER.get(rate, lambda _: 0)(counts)
                    assert same(ours.rates[rate], expected, over), (columns, group, rate)
                    checked += 1
    print(f"\n{name}: {checked} rates are the exact fractions of scikit-learn's counts")
    assert checked >= 100


def test_every_rate_is_checked() -> None:
    counted = {rate.name for rate in RATES if isinstance(rate, (Rate, Quotient, Blend))}
    assert set(exact(1, 1, 1, 1)) == counted


@pytest.mark.parametrize("name", TABLES)
def test_impact_ratio(peers: Any, name: str) -> None:
    """The selection rate over the highest of all groups."""
    title = "impact_ratio(selection_rate / max selection_rate)"
    for key, results in peers.oracle(f"{name}__sklearn.json")["results"].items():
        positive = positive_of(key)
        for columns, entry in results.items():
            if columns in ("overall", "pairs"):
                continue
            report = peers.audit(name, columns, positive, reference="best", metrics="DI", min_n=1)
            feature = columns.replace("|", "*")
            for group, expected in entry[title].items():
                if expected == 1:
                    continue  # the best is compared with nobody
                ours = report["DI", feature, group.replace("|", " & ")].value
                assert math.isclose(ours, expected, rel_tol=1e-12, abs_tol=1e-15), (columns, group)
