"""Numbers that are no shares: no assignment of the rows without a group leaves their bounds."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.enums import Outcome
from fairgauge.measure.measure import measure
from fairgauge.question.specification import ask
from fairgauge.reasons import ReasonCode

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
