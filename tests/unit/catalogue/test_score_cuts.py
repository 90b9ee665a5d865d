"""Lift, and the parameters of metrics."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.catalogue.lookup import BUILT_IN


def rows(seed, n=240, digits=2):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, n)
    score = np.round(np.clip(rng.normal(0.4 + 0.2 * label, 0.2), 0, 1), digits)
    return pl.DataFrame({"g": rng.choice(["a", "b"], n), "y": label, "s": score})


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("Top selection ratio( 20 )", "top_selection_ratio(k=20)"),
        ("top_selection_ratio(k=20)", "top_selection_ratio(k=20)"),
        ("top_selection_ratio(percent=5)", "top_selection_ratio(percent=5)"),
    ],
)
def test_a_metric_with_a_parameter_has_one_name(asked, name):
    assert [m.name for m in BUILT_IN.expand([asked])] == [name]
    assert fg.metric(asked).name == name
    assert str(fg.rule(asked, at_least=0.8)) == f"{name} >= 0.8"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("AD(3)", "AD has no parameter"),
        ("top_selection_ratio(0)", "k must be a whole number above 0, not 0"),
        ("top_selection_ratio(2.5)", "k must be a whole number above 0, not 2.5"),
        ("top_selection_ratio(percent=120)", "percent must be above 0 and below 100, not 120"),
        ("top_selection_ratio(recall=1)", "top_selection_ratio has no parameter recall"),
        ("between_group_generalized_entropy(k=1)", "entropy has no parameter k"),
        ("accuracy.worst", "has no worst: there is no such comparison"),
        ("op_selection_ratio(20)", "Did you mean 'top_selection_ratio'?"),
    ],
)
def test_a_parameter_that_is_not_allowed_says_so(asked, message):
    with pytest.raises(fg.SpecError) as caught:
        fg.audit(rows(0), label="y", score="s", sensitive="g", metrics=asked)
    assert message in str(caught.value)
    with pytest.raises(fg.SpecError) as caught:
        fg.metric(asked)
    assert message in str(caught.value)
