"""The best group is the best by the metric's own number, and both parts of a mean have the same."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import ClassKind, Outcome


def groups(column: str, **numbers: Any) -> pl.DataFrame:
    rows = [(group, number) for group, every in numbers.items() for number in every]
    return pl.DataFrame(rows, schema=["g", column], orient="row")


def references(report: fg.Report) -> dict[str, tuple[str | None, str]]:
    return {e.metric: (e.group, str(e.reference)) for e in report.estimates}


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
