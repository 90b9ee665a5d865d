"""Several classes: averages over them, kappa, the worst of them; every number by hand."""

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import cohen_kappa_score

import fairgauge as fg
from fairgauge.enums import Average, ClassKind, IntervalMethod, ReferenceKind
from fairgauge.reasons import ReasonCode
from fairgauge.results.scopes import NO_CLASS, ClassScope, Reference

#            prediction:  a  b  c     label
TABLES = {
    "G": {"a": (3, 1, 0), "b": (1, 4, 0), "c": (0, 1, 0)},
    "H": {"a": (2, 0, 2), "b": (0, 2, 0), "c": (1, 0, 3)},
}
"""Rows by group, label and prediction; nobody in G is predicted c."""


METRICS = [
    "standard", "cohen_kappa.difference", "TVD", "prediction.tvd", "prediction.ks",
    "prediction.kl", "prediction.lp", "true_positive_rate.difference",
    "true_positive_rate.largest_gap", "true_positive_rate.minimum", "false_positive_rate.maximum",
    "positive_predictive_value.difference",
]  # fmt: skip


def rows_of(times: int = 1) -> pl.DataFrame:
    rows = [
        {"g": g, "y": label, "p": prediction}
        for g, by_label in TABLES.items()
        for label, counts in by_label.items()
        for prediction, n in zip("abc", counts, strict=True)
        for _ in range(times * n)
    ]
    return pl.DataFrame(rows)


@pytest.fixture(scope="module")
def report() -> fg.Report:
    return fg.audit(
        rows_of(), label="y", prediction="p", sensitive="g", reference={"g": "H"}, metrics=METRICS,
        task="multiclass",
    )  # fmt: skip


MACRO, MICRO, WEIGHTED = (ClassScope(ClassKind.AVERAGE, average=each) for each in Average)


def of_class(name: str) -> ClassScope:
    return ClassScope(ClassKind.CLASS, name)


def rates(report: fg.Report, group: str, scope: ClassScope) -> dict[str, Any]:
    (found,) = [g for g in report.groups if (g.group, g.class_scope) == (group, scope)]
    return {name: rate.value for name, rate in found.rates.items()}


def one(report: fg.Report, metric: str, scope: ClassScope) -> Any:
    (found,) = [e for e in report.estimates if (e.metric, e.class_scope) == (metric, scope)]
    return found


def worst_class(report: fg.Report, metric: str) -> Any:
    (found,) = [
        e for e in report.estimates if (e.metric, e.class_scope.kind) == (metric, ClassKind.WORST)
    ]
    return found


@pytest.mark.parametrize(("scope", "rate", "expected"), [
    (of_class("c"), "positive_predictive_value", None),
    (MACRO, "positive_predictive_value", (3 / 4 + 4 / 6) / 2),  # without c
    (MICRO, "positive_predictive_value", 7 / 10),
    (WEIGHTED, "true_positive_rate", (4 * 3 / 4 + 5 * 4 / 5 + 0) / 10),
    (WEIGHTED, "positive_predictive_value", (4 * 3 / 4 + 5 * 4 / 6) / 9),
    (NO_CLASS, "accuracy", 7 / 10),
])  # fmt: skip
def test_averages_by_hand(
    report: fg.Report, scope: ClassScope, rate: str, expected: float | None
) -> None:
    found = rates(report, "G", scope)[rate]
    assert found == (expected and pytest.approx(expected, rel=1e-15))


def test_accuracy_of_all_classes(report: fg.Report) -> None:
    assert one(report, "accuracy.difference", NO_CLASS).value == pytest.approx(0.0, abs=1e-15)
    gap = one(report, "true_positive_rate.largest_gap", MACRO)
    ours = (Fraction(3, 4) + Fraction(4, 5) + 0) / 3
    theirs = (Fraction(2, 4) + 1 + Fraction(3, 4)) / 3
    assert gap.value == pytest.approx(float(theirs - ours), rel=1e-12)
    assert (gap.group, gap.reference) == ("H", Reference(ReferenceKind.GROUP, "G"))


def test_kappa_is_of_all_classes_alone(report: fg.Report) -> None:
    chance = Fraction(4 * 4 + 5 * 6 + 1 * 0, 100)  # labels times predictions, class by class
    expected = (Fraction(7, 10) - chance) / (1 - chance)
    assert rates(report, "G", NO_CLASS)["cohen_kappa"] == pytest.approx(float(expected), rel=1e-14)
    assert "cohen_kappa" not in rates(report, "G", of_class("a"))


def test_quadratic_kappa_is_of_classes_that_are_numbers():
    rng = np.random.default_rng(3)
    y, sex = rng.integers(1, 6, 600), rng.choice(["F", "M"], 600)
    p = np.clip(y + rng.integers(-2, 3, 600), 1, 5)
    asked = {"label": "y", "prediction": "p", "sensitive": "sex", "task": "multiclass"}
    asked |= {"metrics": ["qwk", "cohen_kappa"], "rules": ["|qwk.difference| <= 0.9"]}
    rows = pl.DataFrame({"y": y, "p": p, "sex": sex})
    report = fg.audit(rows, **asked)
    for group in ("F", "M"):
        found = rates(report, group, NO_CLASS)["quadratic_weighted_kappa"]
        theirs = cohen_kappa_score(y[sex == group], p[sex == group], weights="quadratic")
        assert found == pytest.approx(theirs, rel=1e-12)
    each = report["quadratic_weighted_kappa.difference", "sex", "F"]
    assert each.interval.low < each.value < each.interval.high
    assert report.verdict == "pass"
    named = rows.with_columns(pl.col("y", "p").replace_strict(range(1, 6), list("edcba")))
    report = fg.audit(named, **asked)
    each = report["quadratic_weighted_kappa.difference", "sex", "F"]
    assert (each.value, each.reason.code) == (None, ReasonCode.NEEDS_ORDER)
    assert [str(each.outcome) for each in report.verdicts] == ["not_evaluated"]
    numbers = {str(6 - i): [letter] for i, letter in enumerate("abcde", 1)}
    report = fg.audit(named, **asked, recode={"y": numbers, "p": numbers})
    found = rates(report, "M", NO_CLASS)["quadratic_weighted_kappa"]
    assert found == pytest.approx(theirs, rel=1e-12)


def test_distances_are_over_all_classes(report: fg.Report) -> None:
    # labels .4 .5 .1 against .4 .2 .4; predictions .4 .6 0 against .3 .2 .5
    of_predictions = {"tvd": 0.5, "ks": 0.5, "kl": float("inf"), "lp": 0.42**0.5}
    expected = {"TVD": 0.3} | {f"prediction.{name}": at for name, at in of_predictions.items()}
    found = {name: one(report, name, NO_CLASS).value for name in expected}
    assert found == pytest.approx(expected)


def test_the_worst_class(report: fg.Report) -> None:
    worst = worst_class(report, "true_positive_rate.difference")
    assert worst.value == -0.75
    assert worst.class_scope.name == "c"
    assert worst.says.startswith("G, class with the largest difference (c): ")
    lowest = worst_class(report, "true_positive_rate.minimum")
    assert lowest.value == 0
    highest = worst_class(report, "false_positive_rate.maximum")
    assert highest.value == pytest.approx(2 / 5)  # in G, 2 of 5 rows that are not b


def test_limits_of_the_worst_class_hold_for_all_classes_at_once() -> None:
    asked: dict[str, Any] = {"label": "y", "prediction": "p", "sensitive": "g"}
    asked |= {"reference": {"g": "H"}, "metrics": "true_positive_rate.difference"}
    every = fg.audit(rows_of(30), **asked)
    worst = worst_class(every, "true_positive_rate.difference")
    strict = fg.audit(rows_of(30), confidence=1 - 0.05 / 3, **asked)
    alone = one(strict, "true_positive_rate.difference", of_class("c"))
    assert (worst.low, worst.high) == pytest.approx((alone.low, alone.high))
    assert worst.confidence == 0.95
    steps = (IntervalMethod.SIMULTANEOUS, *alone.interval.methods)
    assert worst.interval.methods == steps
    assert worst.p_value == pytest.approx(min(1, 3 * alone.p_value))
    assert "(simultaneous 95% CI " in worst.says


@cache
def with_and_without_incomplete_rows() -> tuple[fg.Report, fg.Report]:
    tables = {"F": [("a", "a", 450), ("a", "b", 50), ("c", "c", 30), ("c", "a", 70)],
              "M": [("a", "a", 450), ("a", "b", 50), ("c", "c", 80), ("c", "a", 20)]}  # fmt: skip
    known = [(g, y, p) for g, rows in tables.items() for y, p, n in rows for _ in range(n)]
    lacking = [(g, "c", None) for g in tables for _ in range(900)]
    unlabelled = [(g, None, "b") for g in tables for _ in range(200)]
    asked: dict[str, Any] = {"label": "y", "prediction": "p", "sensitive": "g"}
    asked |= {"reference": {"g": "M"}, "metrics": "native", "task": "multiclass"}
    some, every = (
        fg.audit(pl.DataFrame(rows, schema=["g", "y", "p"], orient="row"), **asked)
        for rows in (known, [*known, *lacking, *unlabelled])
    )
    return some, every


@pytest.mark.parametrize("how", ["macro", "micro", "weighted"])
def test_averages_are_of_rows_with_label_and_prediction(how: str) -> None:
    """Weights counted rows without a prediction: values were outside their own intervals."""
    some, every = with_and_without_incomplete_rows()
    for report in (some, every):
        for group in (each for each in report.groups if each.class_scope.average == how):
            for name, rate in group.rates.items():
                if rate.value is not None and rate.low is not None:
                    assert rate.low - 1e-9 <= rate.value <= rate.high + 1e-9, name
    values = [
        {
            (each.metric, each.group): each.value
            for each in report.estimates
            if each.class_scope.average == how
        }
        for report in (some, every)
    ]
    assert values[0].keys() == values[1].keys()
    assert values[1] == pytest.approx(values[0], nan_ok=True)


# ---- scores: bounds of binned numbers hold, turning is exact
BOUNDED = ("roc_auc", "average_precision")


def rows(seed: int, n: int = 400, *, digits: int | None = None) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b"], n)
    label = rng.random(n) < np.where(group == "a", 0.3, 0.5)
    score = np.clip(rng.normal(0.45 + 0.2 * label, 0.004 + 0.2 * (seed % 2), n), 0, 1)
    if digits is not None:
        score = np.round(score, digits)
    return pl.DataFrame({"g": group, "y": label.astype(int), "s": score})


def sides(frame: pl.DataFrame, group: str) -> tuple[Any, Any]:
    own = frame.filter(pl.col("g") == group)
    scores, labels = own["s"].to_numpy(), own["y"].to_numpy()
    return scores[labels == 1], scores[labels == 0]


def auc(positive: Any, negative: Any) -> float:
    pairs = positive[:, None] - negative[None, :]
    return float((pairs > 0).mean() + (pairs == 0).mean() / 2)


def average_precision(positive: Any, negative: Any) -> float:
    """Return the mean over positives of the precision at their score, ties together."""
    above = [((positive >= s).sum(), (negative >= s).sum()) for s in positive]
    return float(np.mean([p / (p + n) for p, n in above]))


def audited(frame: pl.DataFrame, **asked: Any) -> fg.Report:
    return fg.audit(
        fg.count(frame, label="y", score="s", sensitive="g"),  # scores in bins, unlike from rows
        label="y", score="s", sensitive="g", reference={"g": "b"},
        metrics=[f"{name}.difference" for name in BOUNDED],
        **asked,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_the_exact_number_lies_within_the_bound(seed: int) -> None:
    frame = rows(seed)
    report = audited(frame)
    for group in report.groups:
        exact = {
            "roc_auc": auc(*sides(frame, group.group)),
            "average_precision": average_precision(*sides(frame, group.group)),
        }
        for name in BOUNDED:
            rate = group.rates[name]
            error = rate.error or 0.0  # None where no bin holds different scores
            assert abs(rate.value - exact[name]) <= error + 1e-12, name
            assert error < 0.1


@pytest.mark.parametrize("seed", [0, 1])
def test_rounded_scores_are_exact(seed: int) -> None:
    frame = rows(seed, digits=2)
    report = audited(frame)
    for group in report.groups:
        positive, negative = sides(frame, group.group)
        assert group.rates["roc_auc"].error is None
        assert group.rates["roc_auc"].value == pytest.approx(auc(positive, negative), rel=1e-12)
        expected = average_precision(positive, negative)
        assert group.rates["average_precision"].value == pytest.approx(expected, rel=1e-12)


def test_a_score_of_the_negative_value_is_turned_round() -> None:
    frame = rows(1)
    turned = frame.with_columns((1 - pl.col("s")).alias("s"))
    ours = audited(turned, positive=1, score_of=0)
    theirs = audited(frame, positive=1)
    for mine, yours in zip(ours.groups, theirs.groups, strict=True):
        for name, rate in yours.rates.items():
            other = mine.rates[name]
            if not name.startswith(("true", "false", "pos", "neg", "sel", "rej", "acc", "err")):
                off = 1e-9 + (rate.error or 0)
                assert other.value == pytest.approx(rate.value, rel=1e-9, abs=off), name
