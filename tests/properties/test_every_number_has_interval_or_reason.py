"""Every number that an audit prints has an interval, or a reason why it has none."""

import re
from functools import cache

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.catalogue.catalogue import METRICS
from fairgauge.enums import Status

BINARY = [m.name for m in METRICS if "binary" in m.tasks]
SHORT = ("accuracy.", "error_type_ratio.", "cohen_kappa.", "prediction.", "equalized_odds.")
MULTICLASS = [
    m.name for m in METRICS
    if "multiclass" in m.tasks and ("." not in m.name or m.name.startswith(SHORT))
]  # fmt: skip
SCORED = [m.name for m in METRICS if "score" in m.needs and "prediction" not in m.needs]
REGRESSION = [m.name for m in METRICS if "regression" in m.tasks]


def people(n, seed=0):
    rng = np.random.default_rng(seed)
    g = rng.choice(list("ABC"), n, p=[0.5, 0.3, 0.2])
    s = np.clip(rng.beta(2, 3, n) + (g == "A") * 0.05, 0, 1).round(3)
    return pl.DataFrame(
        {
            "g": g, "s": s, "y": (rng.random(n) < s).astype(int),
            "class": rng.choice(list("abc"), n), "guess": rng.choice(list("abc"), n),
            "amount": rng.gamma(3, 10, n), "forecast": rng.gamma(3, 10, n), "x": rng.normal(size=n),
            "st": rng.choice(["u", "v"], n), "w": rng.gamma(4, 1, n),
            "id": rng.integers(0, max(n // 8, 1), n),
        }
    )  # fmt: skip


KINDS = {
    "scores": {
        "label": "y", "score": "s", "threshold": 0.5, "positive": 1, "metrics": BINARY,
        "features": ["x"],
    },
    "scores without a threshold": {"label": "y", "score": "s", "positive": 1, "metrics": SCORED},
    "classes": {"label": "class", "prediction": "guess", "metrics": MULTICLASS},
    "amounts": {
        "label": "amount", "prediction": "forecast", "task": "regression", "metrics": REGRESSION,
        "features": ["x"],
    },
}  # fmt: skip
DESIGNS = {
    "rows": {}, "strata": {"strata": "st"}, "weights": {"weight": "w"},
    "clusters": {"cluster": "id"}, "everyone": {"reference": "overall"},
    "bootstrap": {"method": "bootstrap"}, "bayes": {"method": "bayes"},
    "exact": {"method": "exact"},
}  # fmt: skip


@cache
def audited(kind, design, rows, seed=0):
    options = KINDS[kind] | DESIGNS[design]
    table = people(rows, seed)
    return fg.audit(table, sensitive="g", replicates=100, **options)


def numbers(report):
    """Every number with a value: what it is, its limits, and the reason."""
    for each in report.estimates:
        if each.value is not None:
            yield (each.metric, each.group, each.scope, each.class_scope), each
    for group in report.groups:
        for name, rate in group.rates.items():
            if rate.value is not None:
                yield (name, group.group, group.scope, group.class_scope), rate


@pytest.mark.each_value
@pytest.mark.parametrize("rows", [7, 40, 1000])
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_number_without_an_interval_says_why(kind, design, rows):
    mute = [
        key for key, each in numbers(audited(kind, design, rows))
        if each.low is None and not each.reason
    ]  # fmt: skip
    assert not mute
    silent = [
        each.metric for each in audited(kind, design, rows).estimates
        if each.value is not None and each.low is None
        and "; no confidence interval: " not in each.says
        and "; insufficient data: " not in each.says
    ]  # fmt: skip
    assert not silent


@pytest.mark.parametrize("kind", KINDS)
def test_of_enough_independent_rows_every_number_has_an_interval(kind):
    without = [
        (key, each.reason) for key, each in numbers(audited(kind, "rows", 1000))
        if each.low is None and each.status is not Status.TOO_FEW
    ]  # fmt: skip
    assert not without


@pytest.mark.parametrize("kind", KINDS)
@given(st.integers(20, 60), st.integers(1, 7), st.sampled_from(["rows", "weights", "strata"]))
@settings(max_examples=2)
def test_what_differs_by_rounding_alone_does_not_differ(kind, rows, times, design):
    table = people(rows, rows).with_columns(pl.lit("A").alias("g"))
    copies = [table.with_columns(pl.lit("B").alias("g")) for _ in range(times)]
    for each in (pl.concat([table, *copies]), people(rows, rows)):
        report = fg.audit(each, sensitive="g", replicates=50, **KINDS[kind] | DESIGNS[design])
        differences = {
            e.metric: e.value for e in report.estimates
            if e.value is not None and getattr(e.definition, "neutral", None) == 0
        }  # fmt: skip
        assert not {k: v for k, v in differences.items() if 0 < abs(v) < 1e-12}
        assert not re.search(r"\de-(1[3-9]|[2-9]\d)", str(report))
        if each.height > rows and (differences.get("selection_rate.difference") == 0):
            difference = next(
                e for e in report.estimates if e.metric == "selection_rate.difference"
            )
            assert "no difference" in difference.says


def test_rare_rates_have_digits_and_a_mean_of_parts_that_offset_is_no_absence_of_difference():
    rare = pl.DataFrame({"g": ["A", "B"], "y": [1, 1], "n": [42, 13]})
    rest = pl.DataFrame({"g": ["A", "B"], "y": [0, 0], "n": [99_958, 99_987]})
    table = pl.concat([rare, rest])
    asked = {"positive": 1, "sensitive": "g", "reference": {"g": "B"}}
    counted = fg.audit(table, label="y", count="n", metrics=["base_rate"], **asked)
    assert "0.042% vs 0.013% for B, 0.03 pp higher" in counted.estimates[0].says
    cells = {"g": [*"AAAABBBB"], "y": [1, 0] * 4, "p": [1, 1, 0, 0] * 2}
    offset = pl.DataFrame(cells | {"n": [80, 120, 120, 80, 120, 80, 80, 120]})
    mean = fg.audit(offset, label="y", prediction="p", count="n", metrics=["average_odds"], **asked)
    assert "0.5 vs 0.5 for B, the same mean" in mean.estimates[0].says
