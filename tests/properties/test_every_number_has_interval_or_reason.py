"""Every number that an audit prints has an interval, or a reason why it has none."""

from functools import cache

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.catalogue.catalogue import METRICS
from fairgauge.enums import Status

BINARY = [m.name for m in METRICS if "binary" in m.tasks]
SHORT = ("accuracy.", "error_type_ratio.", "cohen_kappa.", "prediction.", "equalized_odds.")
MULTICLASS = [
    m.name for m in METRICS
    if "multiclass" in m.tasks and ("." not in m.name or m.name.startswith(SHORT))
]  # fmt: skip
REGRESSION = [m.name for m in METRICS if "regression" in m.tasks]


def people(n, seed=0):
    rng = np.random.default_rng(seed)
    g = rng.choice(list("ABC"), n, p=[0.5, 0.3, 0.2])
    s = np.clip(rng.beta(2, 3, n) + (g == "A") * 0.05, 0, 1).round(3)
    return pl.DataFrame(
        {
            "g": g,
            "s": s,
            "y": (rng.random(n) < s).astype(int),
            "class": rng.choice(list("abc"), n),
            "guess": rng.choice(list("abc"), n),
            "amount": rng.gamma(3, 10, n),
            "forecast": rng.gamma(3, 10, n),
            "x": rng.normal(size=n),
            "st": rng.choice(["u", "v"], n),
            "w": rng.gamma(4, 1, n),
            "id": rng.integers(0, max(n // 8, 1), n),
        }
    )


KINDS = {
    "scores": {"label": "y", "score": "s", "positive": 1, "metrics": BINARY, "features": ["x"]},
    "classes": {"label": "class", "prediction": "guess", "metrics": MULTICLASS},
    "amounts": {
        "label": "amount", "prediction": "forecast", "task": "regression", "metrics": REGRESSION,
        "features": ["x"],
    },
}  # fmt: skip
DESIGNS = {
    "rows": {},
    "strata": {"strata": "st"},
    "weights": {"weight": "w"},
    "clusters": {"cluster": "id"},
    "everyone": {"reference": "overall"},
    "bootstrap": {"method": "bootstrap"},
    "bayes": {"method": "bayes"},
    "exact": {"method": "exact"},
}


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
