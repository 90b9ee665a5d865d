"""How sure the metrics of single rows are: limits, p-values, sentences, and why there are none."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
import reference_intervals as reference
from fairgauge.catalogue.lookup import find_metric
from fairgauge.enums import IntervalMethod as M
from fairgauge.enums import Status
from fairgauge.reasons import ReasonCode

CLASSES = {"prediction": "p", "features": ["x", "z"], "metrics": ["FT", "consistency"]}
RANKED = {
    "score": "s", "positive": 1,
    "metrics": ["top_selection_ratio(percent=20)", "exposure_ratio"],
}  # fmt: skip
KINDS: dict[str, dict[str, Any]] = {"classes": CLASSES, "ranked": RANKED}


def people(n: int = 300, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], n, p=[0.4, 0.35, 0.25])
    score = (rng.random(n) + 0.1 * (group == "a")).round(2) / 2
    return pl.DataFrame(
        {
            "g": group, "x": rng.normal(size=n).round(1), "z": rng.integers(0, 3, n),
            "p": (rng.random(n) < 0.4 + 0.2 * (group == "a")).astype(int), "s": score,
            "v": rng.normal(5, 2, n) + (group == "b"), "y": rng.normal(5, 2, n),
            "id": rng.integers(0, 40, n),
        }
    )  # fmt: skip


def audited(kind: str, rows: pl.DataFrame | None = None, **more: Any) -> fg.Report:
    frame = people() if rows is None else rows
    return fg.audit(frame, **{"sensitive": "g", "replicates": 500, **KINDS[kind], **more})


@pytest.mark.parametrize("kind", KINDS)
def test_every_number_has_limits_that_hold_it_and_widen(kind: str) -> None:
    report, wide = audited(kind), audited(kind, confidence=0.99)
    assert report.estimates
    for one, other in zip(report.estimates, wide.estimates, strict=True):
        assert one.status is Status.OK, one.reason
        assert one.interval
        assert one.interval.methods
        assert one.confidence == 0.95
        assert None not in (one.low, one.high, one.value)
        assert one.low <= one.value <= one.high  # type: ignore[operator]
        assert other.low <= one.low <= one.high <= other.high  # type: ignore[operator]
        assert other.high - other.low > one.high - one.low  # type: ignore[operator]
        assert "(95% CI " in one.says
        if one.metric != "consistency":
            assert one.p_value is not None
            assert one.p_adjusted is not None
            assert 0 < one.p_value <= one.p_adjusted <= 1


def test_a_flip_test_takes_the_reference_as_given() -> None:
    found = audited("classes")["FT", "g", "a"]
    n, shares = found.n_group or 0, (found.rate_group or 0, found.rate_reference or 0)
    better, worse = (round(share * n) for share in shares)
    assert [better / n, worse / n] == pytest.approx(shares)
    assert found.value == pytest.approx((better - worse) / n)
    assert (found.low, found.high) == pytest.approx(reference.tango(better, worse, n))
    assert found.interval
    assert found.interval.methods == (M.SCORE,)


def test_limits_against_everyone_are_those_against_the_rest_carried_over() -> None:
    frame = people()
    for metric in ("top_selection_ratio(percent=20)", "exposure_ratio"):
        rest = audited("ranked", frame, metrics=metric)[metric, "g", "a"]
        every = audited("ranked", frame, metrics=metric, reference="overall")[metric, "g", "a"]
        part = rest.n_group / (rest.n_group + rest.n_reference)  # type: ignore[operator]
        for name in ("value", "low", "high"):
            r = getattr(rest, name)
            assert getattr(every, name) == pytest.approx(r / (part * r + 1 - part)), (metric, name)
        assert every.p_value == rest.p_value


@pytest.mark.parametrize("kind", KINDS)
def test_few_rows_keep_their_limits_and_decide_nothing(kind: str) -> None:
    for each in audited(kind, people(18)).estimates:
        assert each.status is Status.TOO_FEW
        assert each.reason
        assert each.reason.code is ReasonCode.FEW_ROWS
        assert each.low is not None


def test_two_groups_that_are_each_others_reference_are_one_test() -> None:
    frame = people().filter(pl.col("g") != "c")
    report = audited("ranked", frame)
    for metric in {each.metric for each in report.estimates if each.p_adjusted}:
        for alone in audited("ranked", frame, metrics=metric).estimates:
            assert alone.p_adjusted == pytest.approx(alone.p_value, rel=1e-6), metric


def test_a_difference_is_found() -> None:
    rng = np.random.default_rng(3)
    group = np.repeat(["a", "b"], 150)
    frame = pl.DataFrame({"g": group, "s": (rng.random(300) + 0.4 * (group == "a")) / 2})
    for each in audited("ranked", frame).estimates:
        assert (each.p_value or 1) < 0.05, each.metric
        neutral = find_metric(each.metric).neutral
        assert not each.low <= neutral <= each.high, each.metric  # type: ignore[operator]


QUANTILES = ["median_label.difference", "median_label.ratio", "quantile_label(0.9).difference"]
ASKED = {"label": "pay", "task": "regression", "sensitive": "sex", "reference": {"sex": "M"}}


def workers(rows=400):
    random = np.random.default_rng(1)
    sex = random.choice(["F", "M"], rows)
    return pl.DataFrame({"sex": sex, "pay": random.lognormal(10 - 0.1 * (sex == "F"), 0.3, rows)})


def test_values_are_those_of_the_rows():
    data = workers()
    report = fg.audit(data, metrics=QUANTILES, **ASKED)
    ours, theirs = (data.filter(sex=each)["pay"].to_numpy() for each in "FM")
    first, second = np.median(ours), np.median(theirs)
    median, ratio, upper = (report[name, "sex", "F"] for name in QUANTILES)
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
