"""Integer weights are duplicated rows, for counts, scores and regressions; strata turn signs."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import DiagnosticCode
from fairgauge.reasons import ReasonCode
from fairgauge.render.words.reason_sentences import describe_reason
from fairgauge.results.scopes import OVERALL, POOLED

BERKELEY = {  # department: men admitted, men rejected, women admitted, women rejected
    "A": (512, 313, 89, 19),
    "B": (353, 207, 17, 8),
    "C": (120, 205, 202, 391),
    "D": (138, 279, 131, 244),
    "E": (53, 138, 94, 299),
    "F": (22, 351, 24, 317),
}


def people(n: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(11)
    y = rng.integers(0, 2, n)
    return pl.DataFrame(
        {
            "g": rng.choice(["a", "b", "c"], n),
            "h": rng.choice(["u", "v"], n),
            "y": y,
            "p": rng.integers(0, 2, n),
            "s": np.clip(rng.normal(0.4 + 0.2 * y, 0.2), 0, 1),
            "label": rng.normal(10, 3, n),
            "prediction": rng.normal(11, 2, n),
            "w": rng.integers(1, 5, n),
        }
    )


def repeated(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(pl.all().repeat_by("w").explode())


ASKED: dict[str, dict[str, Any]] = {
    "counts": {
        "label": "y",
        "prediction": "p",
        "strata": "h",
        "population": {"g": {"a": 1, "b": 1, "c": 1}},
    },
    "scores": {"label": "y", "score": "s"},
    "regression": {"label": "label", "prediction": "prediction", "task": "regression"},
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_integer_weights_are_duplicated_rows(asked: dict[str, Any]) -> None:
    frame = people()
    weighted, duplicated = (
        fg.audit(data, sensitive="g", metrics="native", **more, **asked)
        for data, more in ((frame, {"weight": "w"}), (repeated(frame), {}))
    )
    compared = 0
    counted = [
        [e for e in report.estimates if not {e.metric, e.metric.partition(".")[0]} & UNWEIGHTED]
        for report in (weighted, duplicated)
    ]
    for ours, theirs in zip(*counted, strict=True):
        assert (ours.metric, ours.group, ours.scope) == (
            theirs.metric,
            theirs.group,
            theirs.scope,
        )
        if theirs.value is None:
            continue
        assert ours.value == pytest.approx(theirs.value, rel=1e-9, abs=1e-12), ours.metric
        compared += 1
    for mine, yours in zip(weighted.groups, duplicated.groups, strict=True):
        assert mine.weight == yours.n
        for name, rate in yours.rates.items():
            if name in UNWEIGHTED:
                continue
            assert mine.rates[name].value == pytest.approx(rate.value, rel=1e-9), name
            compared += 1
    assert compared > 60


UNWEIGHTED = {"median_label.difference", "median_label.ratio",
              "prediction_ks", "prediction_wasserstein", "residual_ks", "residual_wasserstein",
              "precision_at_k", "top_selection_ratio", "skew", "ndkl", "exposure_ratio",
              "consistency", "residual_spread", "label_smd", "prediction_smd", "score_smd",
              "selection_smd", "label.differential_fairness",
              "prediction.differential_fairness"}  # fmt: skip
"""What compares or orders rows counts each row once, as its page says; a divisor n - 1 and a prior
count are of rows, of which weights say nothing."""


@pytest.fixture(scope="module")
def berkeley() -> fg.Report:
    rows = [
        {"sex": sex, "dept": dept, "admitted": yes, "n": n}
        for dept, counts in BERKELEY.items()
        for (sex, yes), n in zip(
            [("men", 1), ("men", 0), ("women", 1), ("women", 0)], counts, strict=True
        )
    ]
    return fg.audit(
        pl.DataFrame(rows),
        label="admitted",
        count="n",
        sensitive="sex",
        strata="dept",
        metrics=["base_rate.difference", "DPL", "CDDL"],
    )


def test_the_sign_turns_within_departments(berkeley: fg.Report) -> None:
    (women,) = [
        e
        for e in berkeley.estimates
        if (e.metric, e.group, e.scope) == ("base_rate.difference", "women", OVERALL)
    ]
    assert women.value == pytest.approx(557 / 1835 - 1198 / 2691, rel=1e-12)
    (pooled,) = [
        e
        for e in berkeley.estimates
        if (e.metric, e.group, e.scope) == ("base_rate.difference", "women", POOLED)
    ]
    weights, gaps = [], []
    for ma, mr, wa, wr in BERKELEY.values():
        men, women_ = ma + mr, wa + wr
        weights.append(men * women_ / (men + women_))
        gaps.append(wa / women_ - ma / men)
    expected = sum(w * g for w, g in zip(weights, gaps, strict=True)) / sum(weights)
    assert pooled.value == pytest.approx(expected, rel=1e-12)
    assert expected > 0


def test_conditional_disparity_of_berkeley(berkeley: fg.Report) -> None:
    (found,) = [e for e in berkeley.estimates if (e.metric, e.group) == ("CDDL", "women")]
    total = sum(map(sum, BERKELEY.values()))
    expected = sum(
        (ma + mr + wa + wr) / total * (wr / (wr + mr) - wa / (wa + ma))
        for ma, mr, wa, wr in BERKELEY.values()
    )
    assert found.value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("factor", [1e103, 1e-110])
def test_weights_whose_cubes_overflow_or_vanish_are_an_error(factor: float) -> None:
    data = people(60).with_columns(pl.col("w") * factor)
    with pytest.raises(fg.DataError, match="'w' is the weight, but its largest value is 4e"):
        fg.audit(data, label="y", prediction="p", positive=1, sensitive="g", weight="w")


def test_adequate_intervals_of_weighted_rates_hold_the_truth():
    """Of rates among few rows too, whose adequacy must not select variances that are too small."""
    rng = np.random.default_rng(8)
    sets, sizes = 400, (80, 160)
    rows = sets * sum(sizes)
    cell = rng.choice(4, p=[0.3, 0.12, 0.1, 0.48], size=rows)
    table = pl.DataFrame(
        {
            "g": np.tile(np.repeat(["a", "b"], sizes), sets),
            "s": np.repeat(np.arange(sets), sum(sizes)),
            "y": np.array([1, 0, 1, 0])[cell],
            "p": np.array([1, 1, 0, 0])[cell],
            "w": np.exp(1.2 * rng.normal(size=rows)),
        }
    )
    names = ["RD", "f1.difference", "false_positive_rate.difference"]
    report = fg.audit(
        table, label="y", prediction="p", sensitive="g", weight="w", strata="s", metrics=names
    )
    for name in names:
        found = [
            each.low <= 0 <= each.high
            for each in report.estimates
            if each.metric == name and each.scope.kind == "stratum" and each.group == "a"
            and each.status == "ok"
        ]  # fmt: skip
        assert len(found) > 0.75 * sets, name
        assert np.mean(found) >= 0.935 - 3 * np.sqrt(0.05 * 0.95 / len(found)), name


def test_a_few_heavy_rows_are_no_rate():
    weight = np.random.default_rng(2).uniform(1, 2, 200)
    table = pl.DataFrame({"g": ["a"] * 100 + ["b"] * 100, "p": [0, 1] * 100})
    assert {each.status for each in weighted_gap(table.with_columns(w=weight))} == {"ok"}
    weight[:2] = 5000.0  # two rows of the first group outweigh all others
    found = weighted_gap(table.with_columns(w=weight))
    assert {each.status for each in found} == {"too_few"}
    assert "weights leave 2.1 effective rows in the group, below 5" in found[0].says


def weighted_gap(table):
    report = fg.audit(table, prediction="p", sensitive="g", weight="w", metrics=["DPPL"])
    return list(report.estimates)


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_groups_whose_rows_all_weigh_nothing_are_named(asked: dict[str, Any]) -> None:
    """They were "used", had no rates, and their comparisons "no rows"."""
    rows = people().with_columns(w=pl.when(pl.col("g") == "c").then(0).otherwise("w"))
    asked = {**asked, "sensitive": "g", "weight": "w"}
    for data in (rows, fg.count(rows, **{k: v for k, v in asked.items() if k != "population"})):
        report = fg.audit(data, **asked)
        (warned,) = [
            each for each in report.diagnostics if each.code is DiagnosticCode.WEIGHTLESS_GROUPS
        ]
        n = rows["g"].eq("c").sum()
        assert (warned.level, warned["groups"], warned["rows"]) == ("warning", ("c",), n)
        assert warned.message == (
            f"every row of the group 'c' of 'g' has a weight of 0 ({n} rows): nothing is estimated "
            "of them"
        )
        rates = [rate for group in report.groups for rate in group.rates.values()]
        reasons = [each.reason for each in (*rates, *report.estimates) if each.reason is not None]
        empty = [each for each in reasons if each.code is ReasonCode.EMPTY_DENOMINATOR]
        assert all("of a weight above 0" in describe_reason(each) for each in empty)
    kept = fg.audit(people(), **asked)
    codes = {each.code for each in kept.diagnostics}
    assert DiagnosticCode.WEIGHTLESS_GROUPS not in codes
