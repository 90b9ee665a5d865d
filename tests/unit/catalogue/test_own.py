"""Metrics of a user's own: used wherever a name is, shown where they are unknown, refused aloud."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.catalogue.across import comparisons_of

ALL = fg.TP + fg.FP + fg.FN + fg.TN
NONZERO = (fg.TP + fg.FP, fg.TP + fg.FN, fg.TN + fg.FP, fg.TN + fg.FN)
COUNTS = {
    "F": {"tp": 60, "fp": 25, "fn": 37, "tn": 118},
    "M": {"tp": 165, "fp": 30, "fn": 25, "tn": 120},
    "X": {"tp": 30, "fp": 20, "fn": 17, "tn": 60},
}


def matthews(tp, fp, fn, tn):
    return (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))


HIT_SHARE = fg.rate("hit_share", of=fg.TP, among=fg.TP + fg.FP, better="higher", cite="ours")
COST = fg.quotient("cost_ratio", over=5 * fg.FN + fg.FP, under=fg.TP + fg.TN, better="lower")
MATTHEWS = fg.statistic(matthews, nonzero=NONZERO, range=(-1, 1), better="higher")
EVERY = (HIT_SHARE, COST, MATTHEWS)


def audited(metrics, **options):
    return fg.audit(fg.confusion("sex", COUNTS), metrics=metrics, replicates=400, **options)


def by_hand(function, group):
    """Return a statistic of a group and of everybody else."""
    cells = ("tp", "fp", "fn", "tn")
    rest = [sum(COUNTS[g][c] for g in COUNTS if g != group) for c in cells]
    return float(function(*(COUNTS[group][c] for c in cells))), float(function(*rest))


@pytest.mark.parametrize(
    ("metric", "function"),
    [
        (HIT_SHARE, lambda tp, fp, fn, tn: tp / (tp + fp)),
        (COST, lambda tp, fp, fn, tn: (5 * fn + fp) / (tp + tn)),
        (MATTHEWS, matthews),
    ],
    ids=lambda each: getattr(each, "name", ""),
)
def test_its_values_are_those_of_the_formula_by_hand(metric, function):
    report = audited([metric])
    for group in COUNTS:
        ours, others = by_hand(function, group)
        found = report[f"{metric.name}.difference", "sex", group]
        assert found.value == pytest.approx(ours - others, rel=1e-12)
        assert found.set == "own"
        assert found.low < found.value < found.high
        (counted,) = (g for g in report.groups if g.group == group)
        assert counted.rates[metric.name].value == pytest.approx(ours, rel=1e-12)
        assert counted.rates[metric.name].low < ours < counted.rates[metric.name].high


@pytest.mark.parametrize(
    ("reference", "method"),
    [("others", "default"), ("overall", "default"), ("best", "default"), ("largest", "bayes")],
)
def test_a_rate_of_ones_own_has_the_intervals_of_the_built_in_rate(reference, method):
    twin = fg.rate("own_recall", of=fg.TP, among=fg.TP + fg.FN, better="higher")
    report = audited([twin, "true_positive_rate"], reference=reference, method=method)
    pairs = 0
    for each in report.estimates:
        if each.metric == "own_recall.difference":
            known = report["true_positive_rate.difference", "sex", each.group]
            assert each.value == known.value
            if method == "default":
                assert (each.low, each.high, each.p_value) == (known.low, known.high, known.p_value)
            pairs += 1
    assert pairs >= 2


@pytest.mark.parametrize("metric", EVERY, ids=lambda each: each.name)
def test_every_comparison_can_be_named_given_and_ruled(metric):
    names = [f"{metric.name}.{by}" for by in comparisons_of(metric)]
    by_name = audited([metric, *names])
    given_ = audited([metric.compared(by) for by in comparisons_of(metric)])
    assert {e.metric for e in by_name.estimates} == set(names)
    assert {e.metric for e in given_.estimates} == set(names)
    for one in by_name.estimates:
        (other,) = (e for e in given_.estimates if (e.metric, e.group) == (one.metric, one.group))
        assert one == other
    compared = [metric.compared(by) for by in comparisons_of(metric)]
    rules = [fg.rule(each, at_most=0.999 * min(each.range[1], 1e9)) for each in compared]
    asked = {"metrics": "AD", "replicates": 400, "accept": ["limits_the_better_off"]}
    ruled = fg.audit(fg.confusion("sex", COUNTS), rules=rules, **asked)
    assert {v.metric for v in ruled.verdicts} == set(names)
    assert {str(v.outcome) for v in ruled.verdicts} == {"pass"}


@pytest.mark.parametrize("name", ["accuracy", "recall", "AD", "standard", "disparate_impact"])
def test_a_name_of_fairgauge_is_refused(name):
    with pytest.raises(fg.SpecError, match="is the name of a metric of fairgauge"):
        fg.rate(name, of=fg.TP, among=ALL)


cells = st.builds(lambda *k: sum((n * c for n, c in zip(k, (fg.TP, fg.FP, fg.FN, fg.TN), strict=True)), 0 * fg.TP), *[st.integers(0, 3)] * 4)  # noqa: E501 # fmt: skip


@given(over=cells, under=cells)
def test_any_quotient_of_cells_is_measured_or_refused(over, under):
    """Whatever the coefficients: a value by hand, inside its interval and its range."""
    empty = not any(over) or not any(under)
    if empty or over == under == ALL:
        with pytest.raises(fg.SpecError, match=r"must be a sum of|is the same for every group"):
            fg.quotient("any_quotient", over=over, under=under)
        return
    metric = fg.quotient("any_quotient", over=over, under=under)
    report = audited([metric])
    counted = next(g for g in report.groups if g.group == "F")
    found = counted.rates["any_quotient"]
    numbers = [COUNTS["F"][c] for c in ("tp", "fp", "fn", "tn")]
    above, below = (np.dot(each, numbers) for each in (over, under))
    assert found.value == pytest.approx(above / below, rel=1e-12)
    assert found.low <= found.value <= found.high
    assert metric.range[0] <= found.value <= metric.range[1]
