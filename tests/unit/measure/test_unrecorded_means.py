"""Averages of groups of which only probabilities are known."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.stats.contrasts import welch_degrees
from fairgauge.stats.intervals import critical_t

GROUPS = {"Black": "b", "White": "w", "other": "o"}
METRICS = ["mean_label.difference", "mean_label.ratio", "mean_label_smd_overall"]
PLACES = np.array(
    [[0.92, 0.05, 0.03], [0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.02, 0.18, 0.8], [0.3, 0.3, 0.4]]
)


def policies(rows=4_000, seed=1, bend=0.0, known=0.0):
    """Draw premiums, by group alone if nothing bends, of people from a few places."""
    rng = np.random.default_rng(seed)
    p = PLACES[rng.integers(0, len(PLACES), rows)]
    group = (p.cumsum(axis=1) > rng.random((rows, 1))).argmax(axis=1)
    premium = rng.gamma(8, 0.5, rows) * np.array([1.25, 1.0, 1.02])[group]
    premium += bend * p[:, 0] * (1 - p[:, 0])
    names = np.array(list(GROUPS))[group]
    asked = rng.random(rows) < known
    table = pl.DataFrame(dict(zip(GROUPS.values(), p.T, strict=True)))
    return table.with_columns(
        premium=pl.Series(premium), race=pl.Series(names),
        known=pl.Series([name if some else None for name, some in zip(names, asked, strict=True)]),
        weight=pl.Series(rng.gamma(4, 0.25, rows)), town=pl.Series(rng.integers(0, 200, rows)),
    )  # fmt: skip


def audited(data, reference="others", sensitive=None, *, known=None, drawn="unknown", **asked):
    race = fg.probabilities(GROUPS, known=known, known_drawn=drawn)
    return fg.audit(
        data, task="regression", label="premium", favourable="lower", metrics=METRICS,
        sensitive=sensitive or {"race": race}, reference=reference, **asked,
    )  # fmt: skip


def numbers(estimate):
    return [estimate.value, estimate.p_value, *estimate.interval, *(estimate.simultaneous or ())]


@pytest.mark.parametrize("reference", ["others", "overall", {"race": "White"}])
@pytest.mark.parametrize("weight", [None, "weight"])
def test_probabilities_of_0_and_1_give_the_recorded_groups_and_their_intervals(reference, weight):
    data = policies(900)
    certain = data.with_columns(
        (pl.col("race") == name).cast(float).alias(column) for name, column in GROUPS.items()
    )
    estimated = audited(certain, reference, weight=weight)
    recorded = audited(certain, reference, sensitive="race", weight=weight)
    for each in recorded.estimates:
        ours = estimated[each.metric, "race", each.group]
        assert numbers(ours) == pytest.approx(numbers(each), rel=1e-6)
    for row in estimated.estimators:
        value = estimated[row.metric, "race", row.group].value
        assert row.value == pytest.approx(value)
    for ours, theirs in zip(estimated.groups, recorded.groups, strict=True):
        a, b = ours.rates["mean_label"], theirs.rates["mean_label"]
        assert [a.value, *a.interval] == pytest.approx([b.value, *b.interval])


def by_hand(p, premium, weight, cluster=None):
    """Return the averages by regression and by weighting, with what each row moves them by."""
    inverse = np.linalg.inv((p * weight[:, None]).T @ p)
    means = inverse @ (p.T @ (weight * premium))
    of_regression = (premium - p @ means)[:, None] * (p @ inverse)
    weighted = (weight * premium) @ p / (weight @ p)
    of_weighting = p * (premium[:, None] - weighted) / (weight @ p)
    return {
        "regression": (means, of_regression * weight[:, None], p @ inverse * weight[:, None]),
        "weighted": (weighted, of_weighting * weight[:, None], p / (weight @ p) * weight[:, None]),
    }


@pytest.mark.parametrize("cluster", [None, "town"])
def test_estimates_are_least_squares_and_weighted_averages_with_robust_variances(cluster):
    data = policies(3_000)
    p, premium = data["b", "w", "o"].to_numpy(), data["premium"].to_numpy()
    report = audited(data, {"race": "White"}, cluster=cluster)
    rows = {(each.metric, each.group, str(each.estimator)): each for each in report.estimators}
    for name, (means, moved, slopes) in by_hand(p, premium, np.ones(len(p))).items():
        row = rows["mean_label.difference", "Black", name]
        assert row.value == pytest.approx(means[0] - means[1], rel=1e-9)
        n, towns = 1 / (slopes**2).sum(axis=0), data["town"].to_numpy()
        assert row.effective_people == round(min(n[:2]))
        if cluster:
            sums = np.zeros((200, 3))
            np.add.at(sums, towns, moved)
            covariance, degrees = sums.T @ sums * 200 / 199, 199
        else:
            covariance = moved.T @ moved * np.sqrt(np.outer(n / (n - 1), n / (n - 1)))
            v = np.diag(covariance) * n
            degrees = welch_degrees(v[0], n[0], v[1], n[1])
        variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
        half = critical_t(0.95, degrees) * np.sqrt(variance)
        low, high = row.value - half, row.value + half
        assert tuple(row.interval) == pytest.approx((low, high), rel=1e-9)
    smd = rows["mean_label_smd_overall", "Black", "regression"].value
    difference = rows["mean_label.difference", "Black", "regression"].value
    assert smd == pytest.approx(100 * difference / premium.std(), rel=1e-9)


def test_a_regression_is_that_of_statsmodels():
    linear = pytest.importorskip("statsmodels.api")
    data = policies(3_000)
    fit = linear.WLS(
        data["premium"].to_numpy(), data["b", "w", "o"].to_numpy(), data["weight"].to_numpy()
    ).fit(cov_type="HC0")
    groups = audited(data, weight="weight").groups
    assert [each.rates["mean_label"].value for each in groups] == pytest.approx(fit.params)
    widths = [each.rates["mean_label"].interval for each in groups]
    assert [(high - low) / 3.92 for low, high in widths] == pytest.approx(fit.bse, rel=0.05)


def test_amounts_far_from_0_and_parts_of_a_table_give_the_same():
    data = policies(1_000)
    far = data.with_columns(pl.col("premium") + 1e6)
    near, away = (audited(each, {"race": "White"}) for each in (data, far))
    for group in ("Black", "other"):
        one, other = (r["mean_label.difference", "race", group] for r in (near, away))
        assert numbers(other) == pytest.approx(numbers(one), rel=1e-5)
    asked = {
        "task": "regression", "label": "premium", "sensitive": {"race": fg.probabilities(GROUPS)},
    }  # fmt: skip
    added = fg.count(data[:300], **asked) + fg.count(data[300:], **asked)
    report = fg.audit(added, metrics=METRICS, favourable="lower", reference={"race": "White"})
    mine = report["mean_label.ratio", "race", "Black"]
    assert numbers(mine) == pytest.approx(numbers(near["mean_label.ratio", "race", "Black"]))


def test_bounds_are_reached_where_amounts_have_two_values():
    rows = 20_000
    premium = [1.0] * (3 * rows // 10) + [0.0] * (7 * rows // 10)
    data = pl.DataFrame({"b": [0.3] * rows, "w": [0.7] * rows, "premium": premium})
    report = fg.audit(
        data, task="regression", label="premium", metrics="mean_label.difference",
        sensitive={"race": fg.probabilities(Black="b", White="w", assume="nothing")},
    )  # fmt: skip
    black = next(each for each in report.estimators if each.group == "Black")
    assert black.set_high == pytest.approx(1.0, abs=1e-3)


RULE = "mean_label.ratio <= 1.4"


def outcome(report, group="Black"):
    return next(each for each in report.verdicts if each.group == group)


def test_a_rule_on_averages_passes_by_a_random_sample_alone():
    data = policies(known=0.3)
    asked = {"reference": "overall", "rules": [RULE], "known": "known"}
    assert str(outcome(audited(data, **asked)).outcome) == "inconclusive"
    assert str(outcome(audited(data, drawn="random", **asked)).outcome) == "pass"
    nowhere = pl.when(pl.int_range(pl.len()) % 2 == 1).then(None)
    without = data.with_columns(
        *(nowhere.otherwise(pl.col(c)).alias(c) for c in GROUPS.values()),
        premium=pl.col("premium") * nowhere.is_null().replace_strict({True: 3.0, False: 1.0}),
    ).with_columns(known=pl.lit(None, pl.String))
    verdict = outcome(audited(without, "overall", rules=["mean_label.ratio <= 1.05"]))
    assert (str(verdict.outcome), verdict.reason.code.name) == ("inconclusive", "MISSING_GROUPS")
    few = data.with_columns(premium=pl.when(pl.int_range(pl.len()) % 50 > 0).then("premium"))
    verdict = outcome(audited(few, drawn="random", **asked))
    assert (str(verdict.outcome), verdict.reason.code.name) == ("inconclusive", "MISSING_OUTCOMES")
    assert "could change" in verdict.says


def test_a_random_sample_is_right_where_the_regression_is_not():
    data = policies(20_000, bend=6.0, known=0.5, seed=4)
    report = audited(data, {"race": "White"}, known="known", drawn="random")
    of = {name: data.filter(race=name)["premium"].mean() for name in GROUPS}
    rows = [e for e in report.estimators if e.metric == METRICS[0] and e.group == "Black"]
    low, high = next(e.interval for e in rows if str(e.estimator) == "validated")
    assert low < of["Black"] - of["White"] < high
    bent = audited(data, {"race": "White"})
    assert any(each.code.name == "LACK_OF_FIT" for each in bent.diagnostics)
    assert {str(each.estimator) for each in bent.estimators if each.decides} == {"bounds"}


def test_strata_of_estimated_averages_are_refused():
    with pytest.raises(fg.SpecError, match="audit one stratum at a time"):
        audited(policies(100), strata="town")
