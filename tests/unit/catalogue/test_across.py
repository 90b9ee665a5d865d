"""Across groups: gaps, ratios and spreads where some group is undefined; criteria; epsilon.

Ties are decided by counts, never by names.
"""

import itertools
import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.catalogue.across import Across
from fairgauge.catalogue.lookup import BUILT_IN
from fairgauge.enums import Outcome, ReferenceKind
from fairgauge.reasons import ReasonCode
from fairgauge.results.scopes import Reference

COUNTS = {
    "a": {"tp": 8, "fn": 2, "fp": 1, "tn": 9},  # TPR .8, FPR .1
    "b": {"tp": 3, "fn": 3, "fp": 6, "tn": 6},  # TPR .5, FPR .5
    "c": {"fp": 3, "tn": 7},  # no positives: TPR undefined, FPR .3
    "d": {"tp": 9, "fn": 1},  # no negatives: TPR .9, FPR undefined
}


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    report = fg.audit(fg.confusion("g", COUNTS), metrics="all")
    return {e.metric: e for e in report.estimates if e.metric.count(".") == 1 or e.group == "all"}


@pytest.mark.parametrize(
    ("metric", "value", "group", "reference"),
    [
        ("true_positive_rate.largest_gap", 0.4, "d", "b"),
        ("true_positive_rate.smallest_ratio", 5 / 9, "b", "d"),
        ("true_positive_rate.minimum", 0.5, "b", "d"),
        ("true_positive_rate.maximum", 0.9, "d", "b"),
        ("false_positive_rate.largest_gap", 0.4, "b", "a"),
        ("false_positive_rate.maximum", 0.5, "b", "a"),
        ("equalized_odds.mean_gap", (0.4 + 0.4) / 2, "d", "b"),
        ("equalized_odds.smallest_ratio", 1 / 5, "a", "b"),
        ("equalized_odds.mean_ratio", (5 / 9 + 1 / 5) / 2, "a", "b"),
    ],
)
def test_numbers_of_all_groups_leave_undefined_ones_out(
    found: dict[str, Any], metric: str, value: float, group: str, reference: str
) -> None:
    each = found[metric]
    assert each.value == pytest.approx(value)
    assert (each.group, each.reference.group) == (group, reference)


def test_epsilon_of_differential_fairness() -> None:
    table = fg.confusion("g", {"a": {"tp": 3, "tn": 1}, "b": {"tp": 1, "tn": 7}})
    (found,) = fg.audit(table, metrics="label.differential_fairness").estimates
    # smoothed: (3 + .5) / 5 against (1 + .5) / 9, and 1.5 / 5 against 7.5 / 9
    positive, negative = math.log((3.5 / 5) / (1.5 / 9)), math.log((7.5 / 9) / (1.5 / 5))
    assert positive > negative
    assert found.value == pytest.approx(positive, rel=1e-12)
    assert (found.group, found.reference) == ("a", Reference(ReferenceKind.GROUP, "b"))


@pytest.mark.parametrize(("means", "stated"), [
    ((-2.0, -4.0), False), ((-2.0, 4.0), False), ((0.0, 4.0), False), ((2.0, 4.0), True),
])  # fmt: skip
def test_ratios_of_numbers_that_may_be_negative_need_all_of_them_above_0(
    means: tuple[float, float], *, stated: bool
) -> None:
    rows = {"g": ["a"] * 4 + ["b"] * 4, "y": [m + x for m in means for x in (-1, -1, 1, 1)]}
    metrics = ["mean_label.smallest_ratio"]
    (each,) = fg.audit(rows, label="y", sensitive="g", task="regression", metrics=metrics).estimates
    if stated:
        assert each.value == pytest.approx(0.5)
    else:
        assert each.value is None
        assert each.reason is not None
        assert each.reason.code is ReasonCode.RATIO_NOT_ABOVE_ZERO


SMALL, LARGE, BETTER = (5, 5, 4, 4), (50, 50, 50, 50), (95, 5, 5, 95)
ACROSS = [
    entry.name
    for entry in fg.metrics()
    if entry.set != "rate"
    and isinstance(BUILT_IN.metric(entry.name), Across)
    and BUILT_IN.metric(entry.name).needs <= {"label", "prediction"}
]


def audited(groups, **options):
    cells = {
        name: dict(zip(("tp", "fp", "fn", "tn"), counts, strict=True))
        for name, counts in groups.items()
    }
    return fg.audit(fg.confusion("g", cells), **({"metrics": "accuracy.minimum"} | options))


@pytest.mark.parametrize("names", list(itertools.permutations("AMZ")))
def test_of_two_groups_with_the_lowest_rate_the_larger_decides(names):
    """A of 18 rows left the rule without a verdict, which the name Z turned into a fail."""
    groups = dict(zip(names, (SMALL, LARGE, BETTER), strict=True))
    report = audited(groups, rules=["accuracy.minimum >= 0.6"])
    (verdict,) = report.verdicts
    assert (verdict.outcome, verdict.group) == (Outcome.FAIL, names[1])


def stated(report, back):
    """Return the estimates with groups by what they hold, whatever they are called."""
    return {
        each.metric: (
            back.get(each.group),
            back.get(each.reference.group) if each.reference else None,
            each.status,
            None if each.value is None else round(each.value, 12),
            each.interval and (round(each.interval.low, 9), round(each.interval.high, 9)),
        )
        for each in report.estimates
    }


@pytest.mark.parametrize(
    "counts",
    [
        (SMALL, LARGE, BETTER, LARGE[::-1]),
        ((40, 10, 10, 40), (400, 100, 100, 400), (20, 5, 5, 20)),  # all rates are the same
    ],
)
def test_names_decide_nothing_in_any_metric_of_all_groups(counts):
    """Every order of the names, over every metric of all groups."""
    results = []
    every = list(itertools.permutations("abcd"[: len(counts)]))
    for names in every if EVERY_CASE else every[::9]:
        groups = dict(zip(names, counts, strict=True))
        report = audited(groups, metrics=ACROSS, replicates=50)
        results.append(stated(report, groups))
    assert set(results[0]) == set(ACROSS)
    for found in results[1:]:
        assert found == results[0]


def test_a_gap_within_rounding_is_none_and_names_no_group():
    """The average of the selection rates of K classes is 1/K in every group."""
    rng = np.random.default_rng(7)
    rows = pl.DataFrame({
        "g": rng.choice(["a", "b"], 403), "y": rng.choice(["u", "v", "w"], 403),
        "p": rng.choice(["u", "v", "w"], 403),
    })  # fmt: skip
    metrics = ["selection_rate.largest_gap", "selection_rate.smallest_ratio"]
    report = fg.audit(rows, label="y", prediction="p", sensitive="g", metrics=metrics)
    averages = [each for each in report.estimates if each.class_scope.average is not None]
    assert {str(each.class_scope.average) for each in averages} >= {"macro", "micro"}
    for each in averages:
        if str(each.class_scope.average) in ("macro", "micro"):
            assert each.value == (0.0 if each.metric.endswith("gap") else 1.0)
            assert (each.group, each.reference) == (None, None)


COUNTS_INEQUALITY = {
    "a": {"tp": 4, "fp": 3, "fn": 1, "tn": 2},
    "b": {"tp": 5, "fp": 0, "fn": 3, "tn": 7},
    "c": {"tp": 1, "fp": 2, "fn": 0, "tn": 2},
}
# ---- benefits and standardised differences; every number by hand
BENEFIT = {"tp": 1, "fp": 2, "fn": 0, "tn": 1}


def benefits() -> list[tuple[str, int]]:
    return [
        (group, BENEFIT[cell])
        for group, cells in COUNTS_INEQUALITY.items()
        for cell, n in cells.items()
        for _ in range(n)
    ]


def entropy(values: list[float], alpha: float) -> float:
    mean = sum(values) / len(values)
    shares = [v / mean for v in values]
    if alpha == 1:
        return sum(s * math.log(s) for s in shares if s) / len(shares)
    return sum(s**alpha - 1 for s in shares) / (len(shares) * alpha * (alpha - 1))


def values(*metrics: str) -> dict[str, Any]:
    report = fg.audit(fg.confusion("g", COUNTS_INEQUALITY), metrics=list(metrics))
    return {e.metric: e.value for e in report.estimates}


@pytest.mark.parametrize("alpha", [1, 2, 3, 0.5])
def test_between_groups_is_the_entropy_of_their_means(alpha: float) -> None:
    names = [
        f"{name}(alpha={alpha})"
        for name in ("generalized_entropy", "between_group_generalized_entropy")
    ]
    whole, between = (values(*names)[name] for name in names)
    own = [float(b) for _, b in benefits()]
    assert whole == pytest.approx(entropy(own, alpha), rel=1e-12)
    of_group = {g: [b for h, b in benefits() if h == g] for g in COUNTS_INEQUALITY}
    smoothed = [sum(of_group[g]) / len(of_group[g]) for g, _ in benefits()]
    assert between == pytest.approx(entropy(smoothed, alpha), rel=1e-12)


LENDING = {"Black": (1065, 1337), "White": (13142, 14461), "Asian": (1224, 1286), "NA": (81, 94)}
"""Approvals and applicants of a sample of published mortgage data."""


def lending(**options: object) -> fg.Report:
    counts = {name: {"tp": yes, "tn": n - yes} for name, (yes, n) in LENDING.items()}
    return fg.audit(fg.confusion("race", counts), metrics="selection_smd_overall", **options)


@pytest.mark.parametrize("group", ["Black", "Asian", "NA"])
def test_the_smd_of_fair_lending_divides_by_the_deviation_of_all_applicants(group: str) -> None:
    """100 (mean_g - mean_ref) / SD of all: the applicants of every other group are among all."""
    every = [np.repeat([1.0, 0.0], [yes, n - yes]) for yes, n in LENDING.values()]
    (yes, n), (others, m) = LENDING[group], LENDING["White"]
    found = lending(reference="largest")["selection_smd_overall", "race", group]
    deviation = np.concatenate(every).std()
    assert found.value == pytest.approx(100 * (yes / n - others / m) / deviation, rel=1e-12)
    assert found.interval.low < found.value < found.interval.high


def test_an_index_of_inequality_has_an_interval_but_no_p_value() -> None:
    """It is 0 for a perfect prediction alone, so that a test of 0 would reject all others."""
    names = ["GE", "theil_index", "coefficient_of_variation"]
    table = fg.confusion("g", {"a": {"tp": 30, "fn": 10}, "b": {"fp": 20, "tn": 60}})
    estimates = fg.audit(table, metrics=names).estimates
    assert sorted(each.metric for each in estimates) == sorted(names)
    assert all(each.interval and each.interval.low > 0 for each in estimates)
    assert {each.p_value for each in estimates} == {None}


def test_entropy_of_order_0_is_the_mean_log_deviation() -> None:
    counts = {"a": {"tp": 4, "fp": 3, "tn": 2}, "b": {"tp": 5, "fp": 1, "tn": 7}}
    values = [BENEFIT[cell] for cells in counts.values() for cell, n in cells.items()
              for _ in range(n)]  # fmt: skip
    mean = sum(values) / len(values)
    by_hand = -sum(math.log(value / mean) for value in values) / len(values)
    asked = "generalized_entropy(0)"
    (found,) = fg.audit(fg.confusion("g", counts), metrics=asked).estimates
    assert found.value == pytest.approx(by_hand)
    assert fg.metric(asked).formula.startswith("-mean(ln(b / mean(b)))")
