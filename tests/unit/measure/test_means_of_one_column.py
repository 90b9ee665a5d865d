"""Means by group, such as of a rate spread or a pay, and ratios of means that are not above 0."""

from operator import attrgetter

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import Outcome, Status
from fairgauge.reasons import ReasonCode

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
            "site": np.where(i < 200, "A", "B"), other: np.where(new, np.nan, wage + i % 5),
            column: wage - 50 * new, "w": 1 + i % 3, "k": i // 2,
            "s": np.where(i % 5 < 2, "x", "y"),
        }
    )  # fmt: skip
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


def changes_of_pay(women: float, men: float, size: int = 300):
    """Return changes of pay by sex, with two predictions of them, in two grades."""
    rng = np.random.default_rng(3)
    sex = np.repeat(["F", "M"], size)
    change = np.where(sex == "F", women, men) + rng.normal(0, 0.5, 2 * size)
    grade = np.tile([1, 2], size)
    return pd.DataFrame({"sex": sex, "change": change, "fitted": change, "grade": grade})


ASKED = {"label": "change", "sensitive": "sex", "strata": "grade", "reference": {"sex": "M"}}


@pytest.mark.parametrize(("women", "men"), [(-2, -4), (-4, -2), (2, -4), (-2, 4)])
def test_it_has_no_value_and_no_rule_on_it_passes_or_fails(women, men) -> None:
    metrics = ["mean_label.ratio", "mean_prediction.ratio"]
    asked = ASKED | {"prediction": "fitted", "task": "regression", "metrics": metrics}
    rules = [f"{each} >= 0.8" for each in metrics]
    report = fg.audit(changes_of_pay(women, men), **asked, rules=rules)
    found = [each for each in report.estimates if each.metric in metrics]
    assert len(found) == 2 * 4  # all rows, each grade, and pooled over them
    for each in found:
        assert (each.value, each.interval, each.status) == (None, None, Status.UNDEFINED)
        assert each.reason.code is ReasonCode.RATIO_NOT_ABOVE_ZERO
    assert [each.outcome for each in report.verdicts] == [Outcome.NOT_EVALUATED] * 2
    assert report.exit_code == 3
    text = str(report)
    assert "is 0 or below in a group that is compared" in " ".join(text.split())
    assert "times as high for" not in text


def test_a_mean_whose_interval_includes_0_gives_the_ratio_no_interval() -> None:
    asked = ASKED | {"task": "regression", "metrics": ["mean_label.ratio"]}
    rows = changes_of_pay(1, 0.05)
    rows["change"] += np.where(
        rows["sex"] == "M", 0.05 - rows["change"][rows["sex"] == "M"].mean(), 0
    )
    report = fg.audit(rows, **asked, rules=["mean_label.ratio >= 0.8"])
    overall = report.estimates[0]
    assert overall.value > 10
    assert (overall.interval, overall.reason.code) == (None, ReasonCode.RATIO_MAY_BE_ZERO)
    assert [each.outcome for each in report.verdicts] == [Outcome.NOT_EVALUATED]


# ---- integer weights of amounts are duplicated rows; weights that cannot be used are errors
UNWEIGHTED = {"median_label", "label_quarter", "top_selection_ratio", "exposure_ratio"}
"""What orders rows counts each row once, as its page says."""


def people(n: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(11)
    label = rng.normal(10, 3, n)
    return pl.DataFrame(
        {"g": rng.choice(["a", "b", "c"], n), "w": rng.integers(1, 5, n), "label": label,
         "prediction": rng.normal(11, 2, n), "y": label > 10}
    )  # fmt: skip


def test_integer_weights_of_amounts_are_duplicated_rows() -> None:
    """Of counts and scores properties hold it."""
    asked = {"label": "label", "prediction": "prediction", "task": "regression", "sensitive": "g"}
    repeated = people().select(pl.all().repeat_by("w").explode())
    weighted, duplicated = (
        fg.audit(data, metrics="native", weight=weight, **asked)
        for data, weight in ((people(), "w"), (repeated, None))
    )
    found, expected = (
        [
            *((e.metric, e.group, e.value) for e in report.estimates),
            *((name, g.group, r.value) for g in report.groups for name, r in g.rates.items()),
        ]
        for report in (weighted, duplicated)
    )
    found, expected = (
        [each for each in values if each[0].partition(".")[0] not in UNWEIGHTED]
        for values in (found, expected)
    )
    assert len(found) == len(expected) > 60
    for ours, theirs in zip(found, expected, strict=True):
        assert ours[:2] == theirs[:2]
        if theirs[2] is not None:
            assert ours[2] == pytest.approx(theirs[2], rel=1e-9, abs=1e-12), ours
    assert [g.weight for g in weighted.groups] == [g.n for g in duplicated.groups]


@pytest.mark.parametrize("factor", [1e103, 1e-110])
def test_weights_whose_cubes_overflow_or_vanish_are_an_error(factor: float) -> None:
    data = people(60).with_columns(pl.col("w") * factor)
    with pytest.raises(fg.DataError, match="'w' is the weight, and its largest value is 4e"):
        fg.audit(data, label="y", positive=True, sensitive="g", weight="w")
