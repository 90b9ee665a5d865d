"""Curves from binned scores, against the numbers of audits at the same thresholds."""

from __future__ import annotations

import math
import random
from functools import cache
from itertools import pairwise

import polars as pl
import pytest

import fairgauge as fg
from fairgauge.errors import DataError
from fairgauge.results.curves import at_threshold, edges, reliability, roc, steps, sweep
from fairgauge.results.estimates import ScoreCounts

GRID = [0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95]


def rows(n=600, seed=3):
    chance = random.Random(seed)
    table = {"g": [], "y": [], "s": [], "w": []}
    for i in range(n):
        score = chance.random()
        table["g"].append("abc"[i % 3])
        table["y"].append(None if i % 17 == 0 else int(chance.random() < score))
        table["s"].append(None if i % 29 == 0 else round(score, 2 if i % 2 else 5))
        table["w"].append(1 + i % 4 / 4)
    return pl.DataFrame(table)


METRICS = [
    f"{rate}.difference"
    for rate in (
        "roc_auc", "selection_rate", "true_positive_rate", "false_positive_rate",
        "expected_calibration_error", "maximum_calibration_error",
    )
]  # fmt: skip


def audited(**options):
    options = {"label": "y", "score": "s", "positive": 1, "sensitive": "g"} | options
    options |= {"metrics": METRICS}
    # of counts, whose scores stand in the same bins as those that curves are drawn from
    return fg.audit(fg.count(rows(), threshold=GRID, **options))


CASES = {
    "documented": {},
    "weighted": {"weight": "w"},
    "of the other class": {"score_of": 0},
    "exact": {"method": "exact"},
    "one group and the rest": {"sensitive": {"g": ["a"]}},
}


@cache
def of_case(name):
    return audited(**CASES[name])


@pytest.mark.parametrize("name", CASES)
def test_cells_and_rates_are_those_of_the_audit(name):
    report = of_case(name)
    counts = {each.group: each for each in report.scores}
    low, high = report.spec["score_range"]
    assert {group.group for group in report.groups} == set(counts)
    for group in report.groups:
        found = at_threshold(counts[group.group], group.threshold)
        expected = group.weighted_counts or group.counts
        assert [found.tp, found.fp, found.fn, found.tn] == pytest.approx(list(expected.values()))
        rates = sweep(counts[group.group], low, high)[round(group.threshold * 1000)]
        assert rates.threshold == group.threshold
        for rate in ("selection_rate", "true_positive_rate", "false_positive_rate"):
            expected = group.rates[rate].value
            assert getattr(rates, rate) == pytest.approx(expected, abs=1e-12), rate
        every = sum([found.tp, found.fp, found.fn, found.tn, found.selected, found.rejected])
        share = (found.tp + found.fp + found.selected) / every
        assert share == pytest.approx(group.rates["selection_rate"].value, abs=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_the_area_under_the_curve_is_the_auc(name):
    report = of_case(name)
    for counts in report.scores:
        points = roc(counts)
        assert (points[0].false_positive_rate, points[0].true_positive_rate) == (0, 0)
        assert (points[-1].false_positive_rate, points[-1].true_positive_rate) == (1, 1)
        area = sum(
            (b.false_positive_rate - a.false_positive_rate)
            * (a.true_positive_rate + b.true_positive_rate) / 2
            for a, b in pairwise(points)
        )  # fmt: skip
        group = next(each for each in report.groups if each.group == counts.group)
        assert area == pytest.approx(group.rates["roc_auc"].value, abs=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_the_bins_give_the_calibration_errors(name):
    report = of_case(name)
    for counts in report.scores:
        bins = reliability(counts)
        group = next(each for each in report.groups if each.group == counts.group)
        gaps = [(b.n, abs(b.mean_score - b.share)) for b in bins if b.n]
        total = sum(n for n, _ in gaps)
        error = sum(n * gap for n, gap in gaps) / total
        assert error == pytest.approx(group.rates["expected_calibration_error"].value, abs=1e-9)
        assert max(gap for _, gap in gaps) == pytest.approx(
            group.rates["maximum_calibration_error"].value, abs=1e-9
        )


def test_a_score_equal_to_the_threshold_is_above_it_only_where_the_edge_is_closed():
    report = audited(profile="clarify")
    gained = 0
    for group in report.groups:
        counts = next(each for each in report.scores if each.group == group.group)
        found = at_threshold(counts, group.threshold, closed="right")
        # a missing label counts as negative in this profile
        assert (found.tp, found.fp + found.selected) == (group.counts["tp"], group.counts["fp"])
        strict, loose = (at_threshold(counts, group.threshold, c).tp for c in ("right", "left"))
        gained += loose - strict
    assert gained > 0


def test_a_threshold_among_scores_that_are_counted_together_is_refused():
    counts = ScoreCounts(
        feature="g", group="a", low=(0.2,), high=(0.201,), positive=(3,), negative=(1,),
        unlabelled=(0,), total=(0.8,),
    )  # fmt: skip
    with pytest.raises(DataError) as error:
        at_threshold(counts, 0.2005)
    assert str(error.value) == (
        "the scores between 0.2 and 0.201 are counted together, and the threshold 0.2005 lies "
        "among them; take one of the two edges"
    )
    assert at_threshold(counts, 0.2).tp == 3
    assert at_threshold(counts, 0.201).tp == 0


def test_groups_without_labels_have_no_curve():
    counts = ScoreCounts(
        feature="g", group="a", low=(0.2,), high=(0.2,), positive=(0,), negative=(0,),
        unlabelled=(5,), total=(0,),
    )  # fmt: skip
    assert roc(counts) == ()
    assert all(each.mean_score is None and each.n == 0 for each in reliability(counts))
    at = sweep(counts, 0.0, 1.0)[200]
    assert (at.selection_rate, at.true_positive_rate, at.false_positive_rate) == (1, None, None)


def test_steps_keep_every_row_and_tell_edges_from_what_lies_between():
    report = audited()
    found = steps(report.scores, 0.0, 1.0)
    known = rows().filter(pl.col("s").is_not_null())
    assert sum(found.positive) == known["y"].sum()
    assert sum(found.positive) + sum(found.negative) + sum(found.unlabelled) == len(known)
    on_edge = {round(s * 1000) for s in known["s"] if s in edges(0.0, 1.0)}
    assert {(place - 1) // 2 for place in found.places if place % 2} == on_edge
    exact = steps(audited(method="exact").scores, 0.0, 1.0)
    assert exact == found


def test_other_ranges_have_edges_of_their_own():
    assert edges(-3.0, 3.0)[0] == -3.0
    assert edges(-3.0, 3.0)[1000] == 3.0
    assert math.isclose(edges(-3.0, 3.0)[501], 0.006)


def test_bins_and_cells_of_compas_are_those_of_scikit_learn(shared):
    expected = shared.oracle("compas_pred__sklearn.json")["results"]["pos=1"]
    path = shared.data("compas_pred.csv")
    report = fg.audit(str(path), label="two_year_recid", positive=1, score="score", sensitive="sex")
    low, high = 0.0, 1.0
    assert steps(report.scores, low, high).places == tuple(2 * k + 1 for k in range(100, 1001, 100))
    everyone = expected["overall"]["score_metrics"]["ece_uniform10"]["bins"]
    for i, of in enumerate(everyone):
        both = [reliability(each)[i] for each in report.scores]
        assert sum(each.n for each in both) == of["n"]
        mean = sum(each.n * each.mean_score for each in both) / of["n"]
        share = sum(each.n * each.share for each in both) / of["n"]
        assert mean == pytest.approx(of["mean_score"], abs=1e-12)
        assert share == pytest.approx(of["mean_label"], abs=1e-12)
