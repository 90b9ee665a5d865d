"""Intervals of whole audits, against published numbers, scipy and formulas computed anew."""

import math
from itertools import pairwise, product

import numpy as np
import polars as pl
import pytest
from scipy import stats
from tests.selected_groups import selected

import fairgauge as fg
import reference_intervals as reference
from fairgauge.enums import Average, ClassKind, DiagnosticCode, IntervalMethod, Status
from fairgauge.enums import IntervalMethod as M
from fairgauge.reasons import Reason, ReasonCode

Z = reference.Z


def pair(a, b, **options):
    """Audit two groups, given as confusion cells."""
    names = ("tp", "fp", "fn", "tn")
    cells = {"a": dict(zip(names, a, strict=True)), "b": dict(zip(names, b, strict=True))}
    return fg.audit(fg.confusion("g", cells), **options)


def rows(**columns):
    return pl.DataFrame(columns)


def limits(estimate):
    return pytest.approx((estimate.low, estimate.high), abs=5e-5)


def notes(report, code):
    return [d for d in report.diagnostics if d.code is code]


def test_a_difference_of_rates_is_newcombes():
    found = pair((56, 0, 14, 10), (48, 0, 32, 10), metrics="all")
    each = found["true_positive_rate.difference", "g", "a"]
    assert limits(each) == (0.0524, 0.3339)
    assert each.p_value == pytest.approx(0.008133, abs=1e-6)
    assert (each.interval.methods, each.confidence) == ((M.NEWCOMBE,), 0.95)
    turned = found["RD", "g", "a"]
    assert limits(turned) == (-0.3339, -0.0524)


def test_rates_at_opposite_ends_of_small_groups_get_score_limits():
    found = pair((19, 0, 1, 0), (1, 0, 19, 0), metrics="selection_rate.difference")
    each = found["selection_rate.difference", "g", "a"]
    assert reference.scas(19, 20, 1, 20) == limits(each)
    assert each.interval.methods == (M.SCORE,)
    # of rates that are 1/2 if equal: no skewness; the variance is that of Miettinen and Nurminen
    z = 0.9 / math.sqrt(0.25 * (2 / 20) * 40 / 39)
    assert each.p_value == pytest.approx(2 * stats.norm.sf(z))


def test_bayes_is_jeffreys():
    found = pair((15, 0, 133, 0), (50, 0, 98, 0), metrics="DPPL", method="bayes")
    assert limits(found.groups[0].rates["selection_rate"]) == (0.0604, 0.1576)
    assert reference.jeffreys(15, 148) == limits(found.groups[0].rates["selection_rate"])
    each = found["DPPL", "g", "a"]
    assert each.interval.methods == (M.JEFFREYS,)
    rng = np.random.default_rng(1)
    drawn = rng.beta(50.5, 98.5, 200_000) - rng.beta(15.5, 133.5, 200_000)
    assert np.allclose((each.low, each.high), np.quantile(drawn, [0.025, 0.975]), atol=0.006)


@pytest.mark.parametrize(
    ("a", "reason"),
    [
        ((10, 0, 9, 0), Reason.of(ReasonCode.FEW_ROWS, n=19, minimum=20).on("group")),
        (
            (1, 0, 39, 0),
            Reason.of(ReasonCode.FEW_EXPECTED, expected=pytest.approx(40 * 21 / 440), minimum=5),
        ),
    ],
)
def test_too_few_keeps_value_and_interval(a, reason):
    found = pair(a, (20, 0, 380, 0) if a[0] == 1 else (200, 0, 200, 0), metrics="DPPL")
    each = found["DPPL", "g", "a"]
    assert each.status is Status.TOO_FEW
    assert each.reason == reason
    assert each.low < each.value < each.high


def test_distances_of_two_categories_fold_newcombes():
    found = pair((56, 0, 14, 0), (48, 0, 32, 0), metrics=["TVD", "KL"], positive=1)
    assert found["TVD", "g", "a"].value == 0  # all labels are positive
    found = pair((40, 16, 10, 4), (30, 18, 20, 12), metrics=["TVD", "LP", "KL"])
    low, high = reference.newcombe(50, 70, 50, 80)
    assert low < 0 < high  # so that the absolute difference may be 0
    assert limits(found["TVD", "g", "a"]) == (0, max(-low, high))
    assert found["TVD", "g", "a"].p_value == pytest.approx(reference.newcombe_p(50, 70, 50, 80))
    kl = found["KL", "g", "a"]
    assert kl.low == 0.0 <= kl.value < kl.high
    floor = (1 / 70 + 1 / 80) / 2  # twice n times KL is a chi-square of one degree of freedom
    assert kl.expected == pytest.approx(floor)
    assert kl.corrected == pytest.approx(max(kl.value - floor, 0))
    words = f"; about {floor:.2g} is expected under no difference"
    assert kl.says.endswith(words)
    near = pair((40, 16, 10, 4), (50, 22, 12, 5), metrics=["JS"])["JS", "g", "a"]
    assert near.corrected == 0
    far = pair((40, 16, 10, 4), (10, 18, 40, 42), metrics=["KL", "JS", "TVD"])
    for name in ("KL", "JS"):
        each = far[name, "g", "a"]
        assert each.corrected == pytest.approx(each.value - each.expected, rel=1e-9)
    assert far["TVD", "g", "a"].corrected is None


def stratified():
    found = []
    for stratum, group in product("xy", "ab"):
        accepted = 30 if group == "a" else 50
        found += [(stratum, group, 1)] * accepted + [(stratum, group, 0)] * (100 - accepted)
    return pl.DataFrame(found, schema=["st", "g", "y"], orient="row")


def test_disparity_within_thin_strata_has_the_interval_of_its_score():
    options = {"label": "y", "sensitive": "g", "strata": "st", "metrics": "CDDL"}
    thick = fg.audit(stratified(), **options)["CDDL", "g", "a"]
    assert thick.interval.methods == (M.SCORE,)
    assert thick.low < thick.value < thick.high
    third = pl.concat_str("st", pl.lit(" "), (pl.int_range(pl.len()) % 20).cast(pl.String))
    thin = fg.audit(stratified().with_columns(st=third), **options)["CDDL", "g", "a"]
    assert thin.status is Status.OK
    assert thin.low < thick.value < thin.high


def five_groups(metrics="selection_rate"):
    groups = {name: (x, 100) for name, x in zip("abcde", (20, 26, 31, 18, 24), strict=True)}
    return fg.audit(selected(groups), metrics=metrics)


def test_p_values_are_adjusted_for_all_that_a_report_tests():
    """Three rates of labels, predictions and both; what has insufficient data is in no family."""
    groups = ["selection_rate.difference", "selection_rate.ratio"]
    report = five_groups(groups)
    every = [e for e in report.estimates if e.metric in groups]
    (note,) = notes(report, DiagnosticCode.ADJUSTED_P)
    tests = len(notes(report, DiagnosticCode.HOMOGENEITY))
    assert note["comparisons"] == 5 + 2 * tests  # of three and more groups all pairs, too
    assert note["homogeneity"] == tests
    for each in every:
        expected = 1 - (1 - each.p_value) ** note["comparisons"]
        assert each.p_adjusted == pytest.approx(expected)
        assert (each.p_adjusted < 0.05) == (each.definition.neutral not in each.simultaneous)


@pytest.mark.parametrize("groups", [20, 21, 22])
def test_a_further_group_makes_no_p_value_smaller(groups):
    cells = {f"g{i}": {"tp": 30 + i, "fn": 70 - i} for i in range(groups)}
    report = fg.audit(fg.confusion("g", cells), metrics="DPPL")
    (note,) = notes(report, DiagnosticCode.ADJUSTED_P)
    assert note["comparisons"] >= groups
    single = [1 - (1 - e.p_value) ** groups for e in report.estimates]
    assert all(e.p_adjusted >= p - 1e-9 for e, p in zip(report.estimates, single, strict=True))


def test_score_limits_are_of_shares_alone():
    """F1 is a function of a share: limits of a difference of those shares are not its own."""
    cells = ((24, 8, 8, 10), (2, 18, 20, 10))  # shares .6 and .05, of fewer than 50 rows each
    found = pair(*cells, metrics="f1.difference")["f1.difference", "g", "a"]
    sides = []
    for tp, fp, fn, _ in cells:
        share, (low, high) = tp / (tp + fp + fn), reference.wilson(tp, tp + fp + fn)
        value, *ends = (2 * s / (1 + s) for s in (share, low, high))
        sides += [value, ends]
    assert (found.low, found.high) == pytest.approx(reference.mover(*sides))


# ---- averages over classes and kappa: one statistic has one interval, whatever it is called
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
