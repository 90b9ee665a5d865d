"""What holds of every comparison of models: engines, mirrors, names."""

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.model_rows import QUESTION, rows

import fairgauge as fg

CELLS = st.lists(st.integers(0, 25), min_size=16, max_size=16).filter(lambda n: sum(n) > 30)
RATES = ("selection_rate", "accuracy", "positive_predictive_value", "f1")


def table(counts):
    """Return counts of two groups by label and the decisions of two models."""
    names = ("sex", "repaid", "one", "two")
    cells = [
        dict(zip(names, ("FM"[i // 8], i // 4 % 2, i // 2 % 2, i % 2), strict=True)) | {"n": n}
        for i, n in enumerate(counts)
        if n
    ]
    return pl.DataFrame(cells)


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(CELLS)
def test_exchanging_the_models_mirrors_every_change(counts):
    data = table(counts)
    if data["sex"].n_unique() < 2 or data["repaid"].n_unique() < 2:
        return
    asked = {"label": "repaid", "sensitive": "sex", "count": "n",
             "metrics": [f"{rate}.difference" for rate in RATES]}  # fmt: skip
    try:
        there = fg.compare_models(data, prediction="one", candidate="two", **asked)["two"]
        back = fg.compare_models(data, prediction="two", candidate="one", **asked)["one"]
    except fg.SpecError:
        return  # a decision that is always the same is not told from a score
    for one, other in zip(
        (*there.disparities, *there.rates), (*back.disparities, *back.rates), strict=True
    ):
        assert (one.old, one.new) == (other.new, other.old)
        if one.interval is None:
            assert other.interval is None
            continue
        assert one.change == pytest.approx(-other.change)
        assert one.interval.low == pytest.approx(-other.interval.high, abs=1e-7)
        assert one.interval.high == pytest.approx(-other.interval.low, abs=1e-7)
        assert one.interval.low - 1e-9 <= one.change <= one.interval.high + 1e-9
        assert one.p_value == pytest.approx(other.p_value, abs=1e-6)


def test_every_change_is_that_of_the_two_audits():
    """Of every metric: the values of both models, and their difference or ratio as it states."""
    people = rows(2_000)
    found = fg.compare_models(people, **QUESTION, candidate="unfair", metrics="all")["unfair"]
    audits = [
        fg.audit(people, **QUESTION | {"prediction": model}, metrics="all")
        for model in ("current", "unfair")
    ]
    values = [
        {(e.metric, e.feature, e.group): e.value for e in audit.estimates}
        | {
            (e.metric, e.feature): e.value
            for e in audit.estimates
            if audit.catalogue.metric(e.metric).scope == "feature"  # named by its extreme groups
        }
        for audit in audits
    ]
    changed = [each for each in found.disparities if each.change is not None]
    assert len({each.metric for each in changed}) > 55
    for each in changed:
        of = (each.metric, each.feature)
        key = of if of in values[0] else (*of, each.group)
        assert [each.old, each.new] == pytest.approx([of[key] for of in values]), each.metric
        change = each.new / each.old if each.by == "ratio" else each.new - each.old
        assert each.change == pytest.approx(change), each.metric
