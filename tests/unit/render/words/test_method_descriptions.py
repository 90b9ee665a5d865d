"""Every method that made a confidence interval is described where the interval is shown."""

import functools

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import IntervalMethod, Method
from fairgauge.render.documents.report_notes import described_methods, method_name
from fairgauge.render.grammar import english

BINARY = {"label": "y", "prediction": "p", "score": "s", "task": "binary"}
CLASSES = {"label": "y3", "prediction": "p3", "task": "multiclass"}
NUMBERS = {"label": "r", "prediction": "q", "task": "regression"}
ASKED = {
    **{
        f"{task}, {method}": {**options, "strata": "k", "method": str(method), "features": ["f"]}
        for task, options in (("binary", BINARY), ("classes", CLASSES), ("numbers", NUMBERS))
        for method in (Method.DEFAULT, Method.BAYES)
    },
    # each p-value is a search of scipy's: those of classes and strata took 28 seconds
    "binary, exact": {**BINARY, "method": "exact"},
    "classes, exact": {**CLASSES, "method": "exact", "metrics": ["accuracy.difference", "TVD"]},
    "weights": {**BINARY, "weight": "w"},
    "clusters": {**BINARY, "cluster": "c", "strata": "k"},
}


@functools.cache
def table():
    rng = np.random.default_rng(0)
    n = 500
    group, label = rng.choice(["a", "b", "c"], n), rng.integers(0, 2, n)
    return pl.DataFrame(
        {
            "g": group,
            "y": label,
            "p": np.where(group == "a", label, rng.integers(0, 2, n)),
            "s": rng.uniform(0.01, 0.99, n).round(3),
            "k": rng.choice(["u", "v"], n),
            "w": rng.lognormal(0, 0.5, n),
            "c": rng.integers(0, 80, n),
            "f": rng.normal(size=n),
            "y3": rng.choice(["x", "y", "z"], n),
            "p3": rng.choice(["x", "y", "z"], n),
            "r": rng.normal(size=n),
            "q": rng.normal(size=n),
        }
    )


def test_every_method_of_the_enum_is_described():
    assert set(map(str, IntervalMethod)) <= english().table["method"].keys()


@pytest.mark.parametrize("name", ASKED)
def test_every_method_of_a_report_is_described_once(name):
    asked = {"metrics": "all", "replicates": 60} | ASKED[name]
    report = fg.audit(table(), sensitive="g", **asked)
    used = {m for e in report.estimates if e.interval for m in e.interval.methods}
    assert used
    described = [each["name"] for each in described_methods(report)]
    assert len(described) == len(set(described))
    assert set(map(method_name, used)) <= set(described)


def test_a_description_is_a_sentence():
    for method in IntervalMethod:
        text = english().table["method"][method]
        assert text[0].isupper(), method
        assert text.endswith("."), method
        assert len(text) < 200, method
