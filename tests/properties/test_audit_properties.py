"""Properties of every comparison of the catalogue, on whole audits; no row is named.

One audit of a random table computes every metric that applies: of two groups each is compared with
the other, so exchanging the sides needs no second audit.
"""

import math
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from test_catalogue_properties import COUNTED, exact
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.catalogue.catalogue import RATES
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.lookup import find_metric
from fairgauge.render.grammar import describe_reason
from fairgauge.results.estimates import Estimate
from fairgauge.results.report import Report
from fairgauge.results.scopes import POOLED

COLUMNS = ["group", "stratum", "label", "prediction", "score", "n"]
PROPERTY = settings(
    deadline=None,
    phases=[Phase.explicit, Phase.generate] if EVERY_CASE else [Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
MANY = settings(PROPERTY, max_examples=6 if EVERY_CASE else 3)
"""Of properties that need no further audit: those of the tables below are made once.

The tables of `example` are tried beside them where every case is.
"""
FEW = settings(PROPERTY, max_examples=2 if EVERY_CASE else 1)
"""Of properties that need more audits. A table has a dozen tables in it: its strata."""


@cache
def table(seed: int) -> tuple[Any, ...]:
    """Return a random table: few rows or many, in few strata or many, some without an outcome."""
    random = Random(seed)
    size, strata = random.choice([6, 15, 40, 80]), random.choice(["xy", "rstuvwxyz"])
    often = random.choice([0.15, 0.5, 0.8])
    rows = [
        (
            random.choice("da"), random.choice(strata), int(random.random() < often),
            int(random.random() < often), random.choice([0.05, 0.2, 0.5, 0.5, 0.7, 0.9]),
            random.randint(1, 9),
        )
        for _ in range(size)
    ]  # fmt: skip
    both = [("d", "x", 1, 0, 0.5, 1), ("a", "x", 0, 1, 0.5, 1)]  # both groups, both labels
    return (*both, *rows)


BALANCED = [
    (g, s, y, p, score, 3)
    for g in "da"
    for s in "xy"
    for y in (0, 1)
    for p in (0, 1)
    for score in (0.2, 0.7)
]
SEPARATED = [("d", "x", 1, 1, 0.9, 2), ("a", "x", 0, 0, 0.2, 3)]
tables = (
    st.integers(0, 11).map(table)
    if EVERY_CASE
    else st.sampled_from([table(0), SEPARATED, table(1)])
)


def frame(rows: Any) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def ask(data: Any, **options: Any) -> Report:
    asked: dict[str, Any] = {
        "label": "label", "prediction": "prediction", "score": "score", "sensitive": "group",
        "strata": "stratum", "count": "n", "positive": 1, "metrics": "all",
    }  # fmt: skip
    return fg.audit(data, **{k: v for k, v in (asked | options).items() if v is not None})


@cache
def audit(rows: tuple[Any, ...], profile: str = "documented") -> Report:
    return ask(frame(list(rows)), profile=profile)


def of_rows(rows: Any, profile: str = "documented") -> Report:
    return audit(tuple(rows), profile)


def key_of(e: Estimate) -> Any:
    """Return what an estimate is of."""
    return e.metric, e.feature, e.group, e.reference, e.scope, e.class_scope, e.threshold


def values(report: Report) -> dict[Any, float | None]:
    """Return the value of every estimate by what it is of."""
    return {key_of(e): e.value for e in report.estimates}


def same(one: float | None, other: float | None, tolerance: float = 1e-9) -> bool:
    if one is None or other is None:
        return one is other
    return one == other or math.isclose(one, other, rel_tol=tolerance, abs_tol=1e-12)


def _unnamed(key: Any) -> Any:
    name, feature, *who, scope, class_scope, threshold = key
    if find_metric(name).scope == "feature":
        who = []
    return (name, feature, *who, scope, class_scope, threshold)


def counts_rows(metric: Any) -> bool:
    """Tell whether a metric is of single rows, or of so many rows from the top."""
    return metric.scope == "rows"


def differing(one: Report, other: Report, *, of_rows_too: bool = True) -> list[str]:
    """Return the metrics whose values differ, and how.

    Which two groups a metric of a whole feature names is not compared: equal ones tie.
    """
    mine, yours = (
        {
            _unnamed(key): value
            for key, value in values(each).items()
            if of_rows_too or not counts_rows(find_metric(key[0]))
        }
        for each in (one, other)
    )
    assert mine.keys() == yours.keys()
    return [
        f"{'.'.join(map(str, key))}: {mine[key]} {yours[key]}"
        for key in mine
        if not same(mine[key], yours[key])
    ]


def by_metric(report: Report) -> Any:
    """Yield every metric with its estimates of d and of a, slot by slot."""
    found: dict[Any, dict[str, Any]] = {}
    for e in report.estimates:
        if find_metric(e.metric).scope in ("group", "pooled"):
            found.setdefault((e.metric, e.scope), {})[e.group] = e
    for (name, _), pair in found.items():
        yield find_metric(name), pair["d"], pair["a"]


@MANY
@given(rows=tables)
@example(rows=BALANCED)
@example(rows=SEPARATED)
def test_every_estimate_and_every_rate_is_a_value_or_a_reason(rows: Any) -> None:
    for profile in ("documented", "clarify"):
        report = of_rows(rows, profile)
        assert report.estimates
        for e in report.estimates:
            if e.value is None:
                assert e.status not in ("ok", "too_few"), e
                assert e.reason, e
                words = describe_reason(e.reason)
                assert words == words.strip().rstrip(".")
                assert len(words) < 200
                assert not e.says
            else:
                assert e.status in ("ok", "too_few"), e
                assert not math.isnan(e.value)
                low, high = find_metric(e.metric).range
                # distances in profile clarify drop categories, so they can leave their range
                if profile == "documented":
                    assert low - 1e-9 <= e.value <= high + 1e-9, e
                compares = find_metric(e.metric).scope in ("group", "pooled")
                assert e.says.startswith(str(e.group) if compares else ""), e
                assert e.says
                assert "nan" not in e.says.split()
    limits = {rate.name: rate.range for rate in RATES}
    for group in of_rows(rows).groups:
        for name, rate in group.rates.items():
            if rate.value is None:
                assert rate.status not in ("ok", "too_few"), name
                assert rate.reason, name
            else:
                low, high = limits[name]
                assert low - 1e-9 <= rate.value <= high + 1e-9, (name, rate)


@FEW
@given(rows=tables)
def test_equal_groups_are_neutral(rows: Any) -> None:
    """The same rows as d and as a: every metric that is defined has its neutral value."""
    half = [row[1:] for row in rows]
    report = of_rows([("d", *row) for row in half] + [("a", *row) for row in half])
    checked = 0
    for each in report.estimates:
        neutral = find_metric(each.metric).neutral
        if getattr(find_metric(each.metric), "part", "") == "within":
            continue  # how uneven benefit is within groups says nothing of differences of groups
        if each.value is not None and each.feature is not None and not math.isnan(neutral):
            assert each.value == pytest.approx(neutral, abs=1e-9), each
            checked += 1
    assert checked > 20


def exact_contrast(metric: Contrast, d: Any, a: Any) -> Fraction | float | None:
    ours, theirs = exact(metric.of, d), exact(metric.of, a)
    if metric.order == "reference - group":
        ours, theirs = theirs, ours
    if ours is None or theirs is None:
        return None
    if metric.by == "difference":
        return None if ours == theirs == math.inf else ours - theirs
    if theirs == math.inf:
        return None if ours == math.inf else Fraction(0)
    if theirs == 0:
        return math.inf if ours else None
    return ours / theirs


def matrix(rows: Any, group: str, stratum: str | None) -> tuple[int, ...]:
    """Count tp, fp, fn, tn by hand."""
    found = dict.fromkeys([(1, 1), (0, 1), (1, 0), (0, 0)], 0)
    for g, s, label, prediction, _, n in rows:
        if g == group and stratum in (None, s):
            found[label, prediction] += n
    return tuple(found.values())


@MANY
@given(rows=tables)
@example(rows=BALANCED)
@example(rows=SEPARATED)
def test_a_contrast_is_the_exact_fraction_of_its_own_cells(rows: Any) -> None:
    checked = 0
    for metric, d, _ in by_metric(of_rows(rows)):
        if not isinstance(metric, Contrast) or metric.of not in COUNTED or d.scope == POOLED:
            continue
        expected = exact_contrast(
            metric, matrix(rows, "d", d.stratum), matrix(rows, "a", d.stratum)
        )
        if expected is None:
            assert (d.value, d.status) == (None, "undefined"), metric.name
        else:
            close = same(d.value, float(expected), 1e-12)
            assert close, (metric.name, d.scope, d.value, expected)
        checked += 1
    assert checked >= 50


@MANY
@given(rows=tables)
@example(rows=BALANCED)
def test_a_vendor_metric_is_its_native_counterpart_up_to_its_sign(rows: Any) -> None:
    """And what is said twice has one interval and one p-value."""
    report = of_rows(rows)
    found = {key_of(e): e for e in report.estimates}
    checked = 0
    for e in report.estimates:
        metric = find_metric(e.metric)
        if not isinstance(metric, Contrast) or e.scope == POOLED:
            continue
        native = f"{metric.of.name}.{metric.by}"
        key = (native, *key_of(e)[1:])
        if key not in found:
            assert metric.set == "native", "a vendor's metric is one of ours, with its sign"
            continue
        own, other = found[key], found[key].value
        for name in ("n_group", "n_reference", "p_value", "rate_group", "rate_reference"):
            assert getattr(e, name) == getattr(own, name)
        assert (e.interval is None) == (own.interval is None)
        if metric.order == "reference - group" and other is not None:
            inverse = 1 / other if other else math.inf
            other = inverse if metric.by == "ratio" else -other
        assert same(e.value, other), (e.metric, e.value, other)
        checked += metric.name != native
    assert checked >= 15


BY_NUMBER_OF_ROWS = (
    "label.differential_fairness", "prediction.differential_fairness",
)  # fmt: skip
"""Weights have no unit, so that these metrics take the number of rows for it, not their sum."""


@FEW
@given(rows=tables)
@example(rows=BALANCED)
def test_whole_weights_are_repeated_rows_are_counts(rows: Any) -> None:
    """A count of k, k rows, and a weight of k: the same rates and metrics."""
    repeated = [row for row in rows for _ in range(row[-1])]
    counted, weighted = of_rows(rows), ask(frame(rows), count=None, weight="n")
    one_each = ask(frame(repeated), count=None)
    assert not differing(counted, one_each)
    found = differing(counted, weighted, of_rows_too=False)  # those of rows do not take weights
    assert not [each for each in found if not each.startswith(BY_NUMBER_OF_ROWS)]
    assert counted.groups == one_each.groups
    for mine, yours in zip(counted.groups, weighted.groups, strict=True):
        assert mine.n == pytest.approx(yours.weight)
        assert mine.counts == pytest.approx(yours.weighted_counts)
        assert mine.share == pytest.approx(yours.share)
        shared = list(mine.rates)
        # equal weights leave the rates that do not take weights, too
        assert {n: mine.rates[n].value for n in shared} == pytest.approx(
            {n: yours.rates[n].value for n in shared}, nan_ok=True
        )


@FEW
@given(rows=tables)
@example(rows=BALANCED)
def test_documented_and_clarify_agree(rows: Any) -> None:
    """Wherever documented is defined and finite, and no category or outcome is missing."""
    filled = [*rows] + [
        (g, s, y, p, 0.4, 1) for g in "da" for s in "qrstuvwxyz" for y in (0, 1) for p in (0, 1)
    ]
    shown, replayed = values(of_rows(filled)), values(of_rows(filled, "clarify"))
    assert shown.keys() == replayed.keys()
    for key, value in shown.items():
        if value is not None and math.isfinite(value):
            assert same(value, replayed[key]), (key, value, replayed[key])
