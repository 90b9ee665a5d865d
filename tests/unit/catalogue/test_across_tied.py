"""The groups that a metric of all groups comes from: ties are decided by counts, never by names."""

import itertools

import numpy as np
import polars as pl
import pytest
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.catalogue.across import Across
from fairgauge.catalogue.lookup import BUILT_IN
from fairgauge.enums import Outcome

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
