"""The median, and other quantiles, of a numeric outcome by group."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import Status

NAMES = ["median_label.difference", "median_label.ratio", "quantile_label(0.9).difference"]
ASKED = {"label": "pay", "task": "regression", "sensitive": "sex", "reference": {"sex": "M"}}


def workers(rows=400):
    random = np.random.default_rng(1)
    sex = random.choice(["F", "M"], rows)
    return pl.DataFrame({"sex": sex, "pay": random.lognormal(10 - 0.1 * (sex == "F"), 0.3, rows)})


def test_values_are_those_of_the_rows():
    data = workers()
    report = fg.audit(data, metrics=NAMES, **ASKED)
    ours, theirs = (data.filter(sex=each)["pay"].to_numpy() for each in "FM")
    first, second = np.median(ours), np.median(theirs)
    median, ratio, upper = (report[name, "sex", "F"] for name in NAMES)
    assert median.value == pytest.approx(first - second)
    assert ratio.value == pytest.approx(first / second)
    assert upper.value == pytest.approx(np.quantile(ours, 0.9) - np.quantile(theirs, 0.9))
    assert (median.rate_group, median.rate_reference) == pytest.approx((first, second))
    assert (median.p_value < 0.05) == (not median.low <= 0 <= median.high)
    assert "median label" in median.says
    assert "0.9 quantile of the label" in upper.says


def test_medians_of_public_data(shared):
    """Charges of 1,338 insured people: `numpy.median`, and `QuantReg` of statsmodels 0.15.

    The latter's interval, of a kernel estimate of the density, is -1,024 to 1,098.
    """
    asked = {"label": "charges", "task": "regression", "sensitive": "sex"}
    asked["reference"] = {"sex": "male"}
    report = fg.audit(shared.data("insurance.csv"), metrics="median_label.difference", **asked)
    median = report["median_label.difference", "sex", "female"]
    assert (median.rate_group, median.rate_reference) == pytest.approx((9412.9625, 9369.61575))
    assert median.value == pytest.approx(43.34675)
    assert median.high - median.low == pytest.approx(1_098 + 1_024, rel=0.15)


def test_without_a_bound_there_is_no_interval():
    few = workers(8)
    found = fg.audit(few, metrics="median_label.difference", **ASKED).estimates[0]
    assert found.interval is None
    whole = {**ASKED, "reference": "overall"}
    found = fg.audit(workers(), metrics="median_label.difference", **whole).estimates[0]
    assert found.interval is None
    assert "share rows" in found.says
    negative = workers().with_columns(pay=pl.col("pay") - 50_000)
    found = fg.audit(negative, metrics="median_label.ratio", **ASKED).estimates[0]
    assert found.status is Status.UNDEFINED
