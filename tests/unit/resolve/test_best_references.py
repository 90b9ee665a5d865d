"""The best group is the best by the metric's own number, and both parts of a mean have the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import ClassKind, Outcome

RATES = {"Black": (0.415, 0.820), "White": (0.240, 0.602), "Other": (0.168, 0.495)}


def groups(column: str, **numbers: Any) -> pl.DataFrame:
    rows = [(group, number) for group, every in numbers.items() for number in every]
    return pl.DataFrame(rows, schema=["g", column], orient="row")


def references(report: fg.Report) -> dict[str, tuple[str | None, str]]:
    return {e.metric: (e.group, str(e.reference)) for e in report.estimates}


def risks(rates: dict[str, tuple[float, float]] = RATES, n: int = 600) -> dict[str, Any]:
    """Return the question of people of whom so many are held risky, by their outcome."""
    rows = [
        (group, y, int(i < n * rate))
        for group, each in rates.items() for y, rate in enumerate(each) for i in range(n)
    ]  # fmt: skip
    data = pl.DataFrame(rows, schema=["race", "reoffended", "high_risk"], orient="row")
    return {
        "data": data, "label": "reoffended", "prediction": "high_risk", "positive": 1,
        "favourable": "negative", "sensitive": "race", "reference": "best",
    }  # fmt: skip


@pytest.mark.parametrize(("favourable", "best"), [("lower", "B"), ("higher", "A")])
def test_the_best_median_is_a_median(favourable, best):
    """The group with the better mean was the reference, and people who wait longer passed."""
    rng = np.random.default_rng(5)
    wait = groups(
        "days", A=rng.normal(20, 1, 300), B=[*rng.normal(16, 1, 270), *rng.normal(150, 1, 30)]
    )
    limit = "median_label.ratio" + (" <= 1.1" if favourable == "lower" else " >= 0.9")
    report = fg.audit(
        wait, label="days", task="regression", sensitive="g", favourable=favourable,
        reference="best", metrics=["median_label.difference", "mean_label.difference"], rules=limit,
    )  # fmt: skip
    assert [v.outcome for v in report.verdicts] == [Outcome.FAIL]
    found = references(report)
    assert found["median_label.difference"][1] == found["median_label.ratio"][1] == best
    assert found["mean_label.difference"][1] != best


@pytest.mark.parametrize("composite", ["average_absolute_odds", "worst_odds"])
def test_the_interval_of_a_composite_is_of_its_own_pairs(composite):
    """It was that of the pairs of whichever other metric was asked for before."""

    def of(metrics: Any) -> list[tuple[Any, ...]]:
        found = fg.audit(**risks(), metrics=metrics, rules=f"{composite} <= 0.33")
        assert all(e.interval for e in found.estimates if e.metric.startswith("true_positive"))
        every = [e for e in found.estimates if e.metric == composite]
        pairs = [(e.group, str(e.reference), e.value, e.interval, e.p_value) for e in every]
        return [*pairs, *((each.outcome,) for each in found.verdicts)]

    for beside in ("standard", "true_positive_rate", "false_positive_rate.difference"):
        assert of([beside, composite]) == of([composite, beside]) == of(composite)


def test_the_worst_class_of_a_group_is_one_of_its_own():
    """Where each class has another best group, those of different groups were taken together."""
    rng = np.random.default_rng(2)
    group, truth = rng.integers(0, 4, 2_000), rng.integers(0, 3, 2_000)
    right = rng.random(2_000) < rng.uniform(0.3, 0.9, (4, 3))[group, truth]
    names = np.array(list("xyz"))
    data = pl.DataFrame({
        "g": np.array(list("ABCD"))[group], "y": names[truth],
        "p": names[np.where(right, truth, (truth + 1) % 3)],
    })  # fmt: skip
    report = fg.audit(
        data, label="y", prediction="p", sensitive="g", reference="best",
        metrics="true_positive_rate.difference",
    )  # fmt: skip
    of_class: dict[str | None, float] = {}
    for each in report.estimates:
        if each.class_scope.kind is ClassKind.CLASS:
            of_class[each.group] = max(of_class.get(each.group, 0.0), abs(each.value or 0.0))
    worst = [e for e in report.estimates if e.class_scope.kind is ClassKind.WORST]
    assert len({str(e.reference) for e in worst}) > 1
    assert [(e.group, abs(e.value or 0.0)) for e in worst] == [
        (e.group, of_class[e.group]) for e in worst
    ]
    assert len(worst) == len(of_class)
