"""Statistics at a cut of the scores, and lift: right on exact scores, bounded on binned ones."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.catalogue.lookup import expand, find_metric, find_rate
from fairgauge.render.grammar import describe_reason


def false_positive_rate_at(recall, scores, labels):
    """Return the lowest false positive rate of any threshold that reaches a recall."""
    rates = [
        ((scores >= t)[labels == 0].mean(), (scores >= t)[labels == 1].mean())
        for t in np.unique(scores)
    ]
    return min(fpr for fpr, tpr in rates if tpr >= recall - 1e-12)


def precision_at(k, scores, labels):
    """Return the expected precision of the top k over all orders of equal scores."""
    cut = np.sort(scores)[::-1][k - 1]
    above, at = labels[scores > cut], labels[scores == cut]
    return (above.sum() + at.mean() * (k - len(above))) / k


def rows(seed, n=240, digits=2):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, n)
    score = np.round(np.clip(rng.normal(0.4 + 0.2 * label, 0.2), 0, 1), digits)
    return pl.DataFrame({"g": rng.choice(["a", "b"], n), "y": label, "s": score})


def arrays(frame, group):
    own = frame.filter(pl.col("g") == group)
    return own["s"].to_numpy(), own["y"].to_numpy()


def rate_of(frame, name, group, **options):
    report = fg.audit(frame, label="y", score="s", sensitive="g", metrics=[name], **options)
    (found,) = (g for g in report.groups if g.group == group)
    return found.rates[find_rate(name).name]


@pytest.mark.parametrize("method", ["default", "exact"])
@pytest.mark.parametrize("seed", range(1))
def test_rounded_scores_give_the_definitions_exactly(seed, method):
    frame = rows(seed)
    for group in ("a", "b"):
        scores, labels = arrays(frame, group)
        for recall in (0.5, 0.8, 0.9, 1.0):
            name = f"false_positive_rate_at_recall({recall})"
            expected = false_positive_rate_at(recall, scores, labels)
            found = rate_of(frame, name, group, method=method)
            assert (found.value, found.error) == (pytest.approx(expected, rel=1e-12), None)
        for k in (1, 7, 50):
            found = rate_of(frame, f"precision_at_k({k})", group, method=method)
            expected = precision_at(k, scores, labels)
            assert (found.value, found.error) == (pytest.approx(expected, rel=1e-12), None)


@given(seed=st.integers(0, 10_000), k=st.integers(1, 60), recall=st.floats(0.05, 1))
def test_binned_scores_are_off_by_no_more_than_they_say(seed, k, recall):
    rng = np.random.default_rng(seed)
    label, score = rng.integers(0, 2, 120), rng.random(120) * 0.02  # many share a bin
    frame = pl.DataFrame({"g": ["a", "b"] * 60, "y": label, "s": score})
    for name, definition, parameter in (
        ("precision_at_k", precision_at, k),
        ("false_positive_rate_at_recall", false_positive_rate_at, recall),
    ):
        counts = fg.count(frame, label="y", score="s", sensitive="g")
        report = fg.audit(counts, metrics=[f"{name}({parameter:g})"])
        (group,) = (g for g in report.groups if g.group == "a")
        (found,) = (rate for key, rate in group.rates.items() if key.startswith(name))
        if found.value is None:
            continue
        expected = definition(float(f"{parameter:g}") if name[0] == "f" else k, *arrays(frame, "a"))
        assert abs(found.value - expected) <= (found.error or 0.0) + 1e-12


def test_a_share_of_the_rows_has_no_scale_and_takes_weights():
    frame = rows(3)
    name = "precision_at_k(percent=20)"
    plain = rate_of(frame, name, "a").value
    doubled = rate_of(pl.concat([frame, frame]), name, "a").value
    weighted = rate_of(frame.with_columns(w=pl.lit(2.5)), name, "a", weight="w").value
    assert plain == pytest.approx(doubled, rel=1e-12)
    assert plain == pytest.approx(weighted, rel=1e-12)


def test_lift_is_precision_over_the_base_rate():
    counts = {
        "F": {"tp": 20, "fp": 5, "fn": 7, "tn": 18},
        "M": {"tp": 65, "fp": 10, "fn": 5, "tn": 20},
    }
    report = fg.audit(fg.confusion("sex", counts), metrics="lift")
    assert report["lift.difference", "sex", "F"].rate_group == pytest.approx(20 / 25 / (27 / 50))
    empty = {"F": {"tp": 0, "fp": 5, "fn": 0, "tn": 18}, "M": {"tp": 0, "fp": 0, "fn": 5, "tn": 20}}
    report = fg.audit(fg.confusion("sex", empty), metrics="lift")
    reasons = {g.group: describe_reason(g.rates["lift"].reason) for g in report.groups}
    assert reasons["F"] == "no observed positives (TP + FN = 0)"
    assert reasons["M"] == "no predicted positives (TP + FP = 0)"


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("false_positive_rate_at_recall(0.9)", "false_positive_rate_at_recall(0.9)"),
        ("false_positive_rate_at_recall(recall=0.9)", "false_positive_rate_at_recall(0.9)"),
        ("FPR at recall( .9 )", "false_positive_rate_at_recall(0.9)"),
        ("precision_at_k(20)", "precision_at_k(20)"),
        ("precision_at_k(k=20)", "precision_at_k(20)"),
        ("precision_at_k(percent=5)", "precision_at_k(percent=5)"),
    ],
)
def test_a_rate_with_a_parameter_has_one_name(asked, name):
    assert find_rate(asked).name == name
    assert [m.name for m in expand([asked])] == [f"{name}.difference", f"{name}.ratio"]
    assert find_metric(f"{asked}.largest_gap").name == f"{name}.largest_gap"
    assert fg.metric(asked).name == name
    assert str(fg.rule(f"{asked}.ratio", at_least=0.8)) == f"{name}.ratio >= 0.8"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("precision_at_k(0)", "k must be a whole number above 0, not 0"),
        ("precision_at_k(2.5)", "k must be a whole number above 0, not 2.5"),
        ("precision_at_k(percent=120)", "percent must be above 0 and below 100, not 120"),
        ("precision_at_k(recall=0.5)", "precision_at_k has no parameter recall"),
        ("false_positive_rate_at_recall(1.5)", "recall must be above 0 and at most 1, not 1.5"),
        ("accuracy(3)", "accuracy has no parameter"),
        ("AD(3)", "AD has no parameter"),
        ("false_positive_rate_at_recall(k=5).ratio", "has no parameter k"),
        ("top_selection_ratio(0)", "k must be a whole number above 0, not 0"),
        ("top_selection_ratio(2.5)", "k must be a whole number above 0, not 2.5"),
        ("top_selection_ratio(percent=120)", "percent must be above 0 and below 100, not 120"),
        ("top_selection_ratio(recall=1)", "top_selection_ratio has no parameter recall"),
        ("atkinson(2)", "epsilon must lie between 0 and 1, not 2"),
        ("atkinson(alpha=0.5)", "atkinson has no parameter alpha"),
        ("between_group_generalized_entropy(k=1)", "entropy has no parameter k"),
        ("precision_at_k(20).worst", "has no worst: there is no such comparison"),
        ("recision_at_k(20)", "Did you mean 'precision_at_k'?"),
    ],
)
def test_a_parameter_that_is_not_allowed_says_so(asked, message):
    with pytest.raises(fg.SpecError) as caught:
        fg.audit(rows(0), label="y", score="s", sensitive="g", metrics=asked)
    assert message in str(caught.value)
    with pytest.raises(fg.SpecError) as caught:
        fg.metric(asked)
    assert message in str(caught.value)
