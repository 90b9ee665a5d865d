"""A mean by group, such as of a rate spread or a pay: a regression without predictions."""

from operator import attrgetter

import numpy as np
import pytest

import fairgauge as fg

pd = pytest.importorskip("pandas")
STANDARD = ["mean_{}.difference", "mean_{}.ratio"]


@pytest.fixture(scope="module")
def pay():
    rng = np.random.default_rng(4)
    n = 400
    rows = pd.DataFrame(
        {"race": rng.choice(["A", "B", "C"], n, p=[0.5, 0.3, 0.2]), "grade": rng.choice([1, 2], n)}
    )
    rows["pay"] = rng.lognormal(3, 0.5, n) + 2 * (rows.race == "B")
    rows["weight"] = rng.uniform(0.5, 2, n)
    rows.loc[::40, "pay"] = np.nan
    return rows.assign(other=1.1 * rows.pay)


@pytest.mark.parametrize("column", ["label", "prediction"])
@pytest.mark.parametrize("weight", [None, "weight"])
def test_a_mean_alone_is_that_beside_another_column(pay, column, weight):
    other = {"label": "prediction", "prediction": "label"}[column]
    asked = {"sensitive": "race", "strata": "grade", "task": "regression", "weight": weight}
    alone = fg.audit(pay, **asked, **{column: "pay"})
    both = fg.audit(
        pay, **asked, **{column: "pay", other: "other"}, metrics=[f"mean_{column}"]
    )  # fmt: skip
    assert [each.metric for each in alone.estimates] == [each.metric for each in both.estimates]
    assert {each.metric for each in alone.estimates} == {s.format(column) for s in STANDARD}
    for one, two in zip(alone.estimates, both.estimates, strict=True):
        assert (one.value, one.interval.methods) == (two.value, two.interval.methods)
        for name in ("interval.low", "interval.high", "p_value"):  # of sums in another order
            assert attrgetter(name)(one) == pytest.approx(attrgetter(name)(two), rel=1e-12)
    assert any(each.stratum for each in alone.estimates)


@pytest.mark.parametrize("more", [{}, {"weight": "w"}, {"strata": "s"}, {"cluster": "k"}])
@pytest.mark.parametrize(("column", "other"), [("prediction", "label"), ("label", "prediction")])
def test_means_of_a_column_are_of_all_rows_that_have_it(column, other, more):
    """Rows without a label were in no mean prediction: a rule that fails without them passed."""
    i = np.arange(400)
    new = (i >= 200) & (i % 2 == 0)
    wage = (90 + i % 21).astype(float)
    rows = pd.DataFrame(
        {
            "site": np.where(i < 200, "A", "B"),
            other: np.where(new, np.nan, wage + i % 5),
            column: wage - 50 * new,
            "w": 1 + i % 3,
            "k": i // 2,
            "s": np.where(i % 5 < 2, "x", "y"),
        }
    )
    metrics = [f"mean_{column}.ratio", f"mean_{column}.difference"]
    asked = {"sensitive": "site", "task": "regression", "metrics": metrics, **more}
    alone = fg.audit(rows, **{column: column}, **asked)
    both = fg.audit(rows, **{column: column, other: other}, **asked)
    found, found_alone = (
        [each for each in report.estimates if each.scope.kind == "overall"]
        for report in (both, alone)
    )
    assert len(found) == 2 * len(metrics)
    for each, one in zip(found, found_alone, strict=True):
        assert (each.metric, each.group) == (one.metric, one.group)
        assert each.value == pytest.approx(one.value)
        assert each.n_group == one.n_group == 200
        if "cluster" not in more:  # the blocks of the jackknife depend on all that rows hold
            assert (each.low, each.high) == pytest.approx((one.low, one.high))
    w = rows["w"] if "weight" in more else np.ones(400)
    means = [np.average(rows[column][at], weights=w[at]) for at in (i < 200, i >= 200)]
    (ratio,) = (e for e in found if e.metric == metrics[0] and e.group == "B")
    assert ratio.value == pytest.approx(means[1] / means[0])
