"""Averages over classes and kappa: one statistic has one interval, whatever it is called."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import Average, ClassKind, IntervalMethod, Status
from fairgauge.reasons import ReasonCode

RATES = ("accuracy", "f1", "true_positive_rate", "positive_predictive_value", "cohen_kappa")
METRICS = [f"{rate}.difference" for rate in RATES]


def rows_of(tables: dict[str, np.ndarray]) -> pl.DataFrame:
    """Return the rows of tables of labels and predictions."""
    cells = [
        (group, f"c{label}", f"c{prediction}", count)
        for group, table in tables.items()
        for (label, prediction), count in np.ndenumerate(table)
    ]
    frame = pl.DataFrame(cells, schema=["g", "y", "p", "n"], orient="row")
    return frame.filter(pl.col("n") > 0)


def audited(tables: dict[str, np.ndarray], **options: object) -> fg.Report:
    asked = {"metrics": METRICS, "task": "multiclass", "count": "n", **options}
    return fg.audit(rows_of(tables), label="y", prediction="p", sensitive="g", **asked)


def confusions(classes: int, rows: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    shares = np.full((classes, classes), 0.3 / (classes - 1) / classes)
    np.fill_diagonal(shares, 0.7 / classes)
    return rng.multinomial(rows, shares.ravel()).reshape(classes, classes)


def of_all_classes(report: fg.Report, metric: str) -> dict[Average | None, fg.Estimate]:
    return {
        e.class_scope.average: e
        for e in report.estimates
        if e.metric == metric
        and e.group == "a"
        and e.class_scope.kind in (ClassKind.AVERAGE, ClassKind.NONE)
    }


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reference", ["others", "overall"])
def test_equal_statistics_have_one_interval(reference: str, *, weighted: bool) -> None:
    """Accuracy, micro F1, micro recall, micro precision and weighted recall are one number."""
    frame = rows_of({"a": confusions(4, 150, 0), "b": confusions(4, 400, 1)})
    rng = np.random.default_rng(2)
    each = frame.select(pl.exclude("n").repeat_by("n").explode())
    each = each.with_columns(w=pl.Series(np.exp(rng.normal(size=len(each)))))
    report = fg.audit(
        each, label="y", prediction="p", sensitive="g", metrics=METRICS, reference=reference,
        task="multiclass", weight="w" if weighted else None,
    )  # fmt: skip
    alike = [of_all_classes(report, "accuracy.difference")[None]]
    alike += [of_all_classes(report, m)[Average.MICRO] for m in METRICS[1:4]]
    alike.append(of_all_classes(report, "true_positive_rate.difference")[Average.WEIGHTED])
    for one, two in pairwise(alike):
        assert (two.value, two.low, two.high, two.p_value) == pytest.approx(
            (one.value, one.low, one.high, one.p_value), rel=1e-12
        )


def test_a_rare_class_is_insufficient_for_macro_averages_alone() -> None:
    table = np.array([[60, 5, 0], [5, 60, 0], [0, 0, 4]])
    found = of_all_classes(audited({"a": table, "b": 10 * table}), "f1.difference")
    assert found[Average.MACRO].status is Status.TOO_FEW
    assert found[Average.MACRO].reason.code is ReasonCode.SPARSE_CLASS
    assert found[Average.MACRO].reason["rows"] == 4
    assert found[Average.WEIGHTED].status is found[Average.MICRO].status is Status.OK


def test_kappa_needs_rows_outside_the_most_frequent_class() -> None:
    table = np.array([[100, 1], [1, 2]])
    (kappa, _) = audited(
        {"a": table, "b": 10 * table}, metrics=["cohen_kappa.difference"], task=None, positive="c1"
    ).estimates
    assert kappa.reason.code is ReasonCode.FEW_IN_MINORITY
    assert kappa.interval.methods == (
        IntervalMethod.MOVER, IntervalMethod.INFLUENCE, IntervalMethod.WILSON,
    )  # fmt: skip


def test_a_group_that_is_in_its_reference_is_correlated_with_it() -> None:
    """Against all rows, an interval is narrower than if its rows were other ones."""
    tables = {"a": confusions(3, 300, 3), "b": confusions(3, 300, 4)}
    whole = of_all_classes(audited(tables, reference="overall"), "f1.difference")
    others = of_all_classes(audited(tables), "f1.difference")
    for how in (Average.MACRO, Average.WEIGHTED):
        width = [each[how].high - each[how].low for each in (whole, others)]
        assert width[0] == pytest.approx(width[1] / 2, rel=0.05)
