"""What missing rows could change: no assignment leaves the bounds, nothing is undone in vain."""

from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.enums import Outcome, WhyInconclusive
from fairgauge.inference.possible import could_undo, uncompared_limits
from fairgauge.measure.measure import measure
from fairgauge.question.specification import ask
from fairgauge.reasons import ReasonCode
from fairgauge.resolve.resolution import resolve

BINARY = [
    "roc_auc.difference", "roc_auc.ratio", "roc_auc.largest_gap", "brier_score.ratio",
    "log_loss.difference", "mean_score.difference", "mean_score.ratio",
    "calibration_gap.difference", "calibration_gap.maximum",
    "generalized_true_positive_rate.ratio", "generalized_worst_odds", "f1.difference", "f1.ratio",
    "f1.smallest_ratio", "conditional_acceptance.ratio", "balanced_accuracy.difference",
    "average_odds.difference", "average_absolute_odds", "worst_odds", "equalized_odds.mean_gap",
    "equalized_odds.smallest_ratio", "roc_auc", "f1", "brier_score",
]  # fmt: skip
NUMBERS = [
    "mean_label.difference", "mean_label.ratio", "mean_prediction.smallest_ratio",
    "mean_error.difference", "mean_absolute_error.ratio", "mean_squared_error.difference",
    "root_mean_squared_error.ratio", "root_mean_squared_error.largest_gap", "mean_label",
    "mean_error",
]  # fmt: skip
NOT_BOUNDED = ["cohen_kappa.difference", "average_precision.ratio"]


def table(random: np.random.Generator, unknown: int, *, regression: bool) -> pd.DataFrame:
    """Return a table of few rows of groups a, b and c, and rows without a group."""
    n = int(random.integers(9, 26))
    group = [*np.resize(["a", "b"], n - 4), *"cccc", *[None] * unknown]
    n += unknown
    data = pd.DataFrame({"g": group, "y": random.integers(0, 2, n)})
    data.loc[n - unknown - 4 : n - unknown - 3, "y"] = [0, 1]  # of c, as of all
    data.loc[:3, "y"] = [0, 0, 1, 1]
    data["s"] = random.choice([0.0, 0.13, 0.5, 0.77, 1.0, 0.4], n)
    if regression:
        data["y"] = np.round(np.exp(random.normal(0, 1.5, n)) - random.choice([0, 2]), 2)
        data["s"] = data["y"] + np.round(random.normal(0, 1, n) ** 3, 2)
    return data


def question(metrics, *, regression: bool, **options):
    asked = {"label": "y", "sensitive": "g", "metrics": metrics, "replicates": 20, **options}
    return asked | (
        {"prediction": "s", "task": "regression"}
        if regression
        else {"score": "s", "threshold": 0.5}
    )


def values_of(report, metrics):
    """Return the values of one report, by metric, and by group where it is of one."""
    found = {}
    for each in report.estimates:
        if each.scope.kind == "overall" and each.value is not None and each.feature == "g":
            spans = each.definition.scope == "feature"
            found[each.metric, None if spans else each.group] = each.value
    for group in report.groups:
        if group.reference_kind is None and group.scope.kind == "overall":
            found |= {
                (name, group.group): rate.value
                for name, rate in group.rates.items()
                if name in metrics and rate.value is not None
            }
    return found


@pytest.mark.parametrize("reference", ["others", "overall", {"g": "b"}, "largest"])
@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize("seed", range(40 if EVERY_CASE else 1))
def test_no_assignment_of_rows_leaves_the_bounds(seed, regression, reference):
    random = np.random.default_rng([seed, regression])
    unknown = int(random.integers(1, 4))
    data, metrics = table(random, unknown, regression=regression), NUMBERS if regression else BINARY
    ruled = metrics if regression else metrics + NOT_BOUNDED
    compared = [metric for metric in ruled if "." in metric or "odds" in metric]
    asked = question(compared, regression=regression, reference=reference, min_n=1)
    asked["rules"] = [fg.rule(metric, at_least=0.001) for metric in ruled]
    found = measure(fg.count(data, **asked), ask(**asked)).worst_cases
    cases = {(key[0], key[2]): case for key, (case,) in found.items()}
    assert {metric for metric, _ in cases} == {*metrics}
    for groups in product("abc", repeat=unknown):
        moved = data.assign(g=[*data["g"][:-unknown], *groups])
        for key, value in values_of(fg.audit(moved, **asked), metrics).items():
            if case := cases.get(key):
                slack = 1e-9 * max(1.0, abs(value)) if np.isfinite(value) else 0.0
                assert case.low - slack <= value <= case.high + slack, (key, groups)


def scored() -> tuple[pd.DataFrame, np.random.Generator]:
    random, n = np.random.default_rng(1), 20_000
    data = pd.DataFrame({"sex": random.choice(["F", "M"], n), "y": random.integers(0, 2, n)})
    score = np.clip(0.3 + 0.3 * data["y"] + random.normal(0, 0.2, n), 0, 1).round(3)
    return data.assign(s=score), random


@pytest.mark.parametrize(
    ("rule", "outcome"),
    [
        ("roc_auc.ratio >= 0.8", Outcome.PASS),
        ("roc_auc.ratio >= 0.97", Outcome.INCONCLUSIVE),
        ("cohen_kappa.difference >= -0.2", Outcome.INCONCLUSIVE),
    ],
)
def test_few_rows_without_a_group_leave_a_rule_open_only_where_they_could_break_it(rule, outcome):
    """The area under the curve was withheld from 1% on, whatever its limit."""
    data, random = scored()
    data.loc[random.random(len(data)) < 0.011, "sex"] = None
    cut = {"threshold": 0.5} if "kappa" in rule else {}
    report = fg.audit(data, label="y", score="s", sensitive="sex", rules=[rule], **cut)
    verdict, *_ = report.verdicts
    assert verdict.outcome is outcome
    if outcome is Outcome.INCONCLUSIVE:
        computed = "kappa" not in rule
        assert verdict.reason.code is ReasonCode.MISSING_GROUPS
        assert ("it could reach from 0.9" in verdict.says) is computed
        assert ("the data allow both a pass and a fail" in str(report)) is computed


def test_rows_without_a_group_or_a_label_are_in_no_bound():
    data, _ = scored()
    data.loc[:400, ["sex", "y"]] = None
    verdict, *_ = fg.audit(
        data, label="y", score="s", positive=1, sensitive="sex", rules=["roc_auc.ratio >= 0.8"]
    ).verdicts
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.reason["unbounded"]


ASKED = {"label": "y", "prediction": "d", "positive": 1, "sensitive": "g", "strata": "s"}


def rows(n: int = 3_000) -> pl.DataFrame:
    """Return rows of two groups, of which group a lacks something in a tenth of the rows."""
    rng = np.random.default_rng(5)
    group, label = rng.choice(["a", "b"], n), rng.integers(0, 2, n)
    return pl.DataFrame({
        "g": group, "y": label, "d": np.where(rng.random(n) < 0.8, label, 1 - label),
        "s": rng.choice(["n", "m"], n), "lacking": (group == "a") & (rng.random(n) < 0.1),
    })  # fmt: skip


@pytest.mark.parametrize(
    ("metric", "limits", "undone"),
    [
        ("selection_rate.difference", (0.01, 0.05), True),
        ("selection_rate.difference", (0.2, 0.3), False),
        ("selection_rate.difference", (-0.3, -0.2), False),
        ("selection_rate.ratio", (1.02, 1.1), True),
        ("selection_rate.ratio", (1.6, 1.9), False),
    ],
)
def test_what_is_shown_is_undone_where_its_limits_move_across_none(metric, limits, undone):
    data = rows().with_columns(d=pl.when(~pl.col("lacking")).then("d"))
    cube = fg.count(data, **ASKED)
    resolved = resolve(cube, cube.asked)
    estimate = fg.audit(cube, metrics=metric)[metric, "g", "a"]
    asked = resolved.features[0], resolved.outcomes[0], estimate, (0, 1), cube.asked
    found = could_undo(*asked, [limits])
    assert found is (WhyInconclusive.MISSING_OUTCOMES if undone else None)


@pytest.mark.parametrize("ratio", [False, True])
@pytest.mark.parametrize("of_reference", [False, True])
@given(st.floats(0.05, 0.95), st.floats(0.05, 0.95), st.integers(0, 500), st.floats(0, 1))
def test_rows_of_one_side_alone_may_differ_by_any_rate(ratio, of_reference, own, other, m, share):
    n, x, y = 1_000, 1_000 * own, m * share

    def contrast(mine, theirs):
        first, second = (theirs, mine) if of_reference else (mine, theirs)
        return first / second if ratio else first - second

    within = (contrast(own, other),) * 2
    ends = uncompared_limits(within, (x, n), (y, m), ratio=ratio, of_reference=of_reference)
    rates = ((n * other + m * rate) / (n + m) for rate in (0, 1))
    expected = sorted(contrast((x + y) / (n + m), each) for each in rates)
    assert np.ravel(ends) == pytest.approx(np.repeat(expected, 2))
