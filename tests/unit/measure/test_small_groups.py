"""Groups that are too small decide nothing, and no rule passes because rows are not counted."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import Outcome, Status
from fairgauge.reasons import ReasonCode


def counts_of(sizes: dict[str, int]) -> fg.Cube:
    return fg.confusion(
        "g",
        {
            name: {"tp": n // 2, "fp": n // 10, "fn": n // 5, "tn": n // 5}
            for name, n in sizes.items()
        },
    )


@pytest.mark.parametrize(
    ("minimum", "status"),
    [
        ({"min_n": 100}, Status.OK),
        ({"min_n": 101}, Status.TOO_FEW),
        ({"min_share": 0.05}, Status.OK),  # 100 of 2,000 rows
        ({"min_share": 0.0501}, Status.TOO_FEW),
    ],
)
def test_a_group_of_exactly_the_minimum_is_large_enough(
    minimum: dict[str, float], status: Status
) -> None:
    sizes = {"a": 1000, "b": 900, "c": 100}
    report = fg.audit(counts_of(sizes), metrics=["DI"], **minimum)
    assert report["DI", "g", "c"].status is status


@pytest.mark.parametrize(
    ("sizes", "side"), [({"a": 400, "b": 12}, "group"), ({"a": 12, "b": 400}, "reference")]
)
@pytest.mark.parametrize("metric", ["DI", "RD", "JS", "TE", "selection_rate.ratio"])
def test_too_few_rows_are_of_a_side(sizes: dict[str, int], side: str, metric: str) -> None:
    report = fg.audit(counts_of(sizes), metrics=[metric], reference={"g": "a"})
    estimate = report[metric, "g", "b"]
    assert estimate.status is Status.TOO_FEW
    assert estimate.reason is not None
    assert (estimate.reason.code, estimate.reason.side) == (ReasonCode.FEW_ROWS, side)
    assert f"in the {side}, below 20" in estimate.says


ASKED = {
    "prediction": "p", "positive": 1, "sensitive": "g", "metrics": "selection_rate",
    "rules": ["selection_rate.ratio >= 0.8"],
}  # fmt: skip


def table(omitted):
    """Of A 50 of 100 are selected, of B 30: without some of B's rejected rows, 50 too."""
    p = [1] * 1000 + [0] * 1000 + [1] * 600 + [0] * 1400
    rows = pd.DataFrame({"g": ["A"] * 2000 + ["B"] * 2000, "p": p, "w": 1.0})
    rows.loc[rows.index[len(rows) - omitted :], "w"] = np.nan
    return rows


@pytest.mark.parametrize("role", ["weight", "count"])
def test_a_rule_does_not_pass_without_them(role):
    whole = fg.audit(table(0), **ASKED, **{role: "w"})
    assert whole.verdict is Outcome.FAIL
    report = fg.audit(table(800), **ASKED, **{role: "w"})
    assert report.verdict is Outcome.INCONCLUSIVE
    (verdict,) = report.verdicts
    assert verdict.reason.code is ReasonCode.NOT_COUNTED
    assert f"the 800 rows without a {role} could change that" in (verdict.says)
    text = " ".join(str(report).split())
    assert "because rows that are not counted could change it" in text
    assert "first do what the warnings ask" in text


def test_a_fail_stays_one_and_a_handful_changes_no_pass():
    assert fg.audit(table(100), **ASKED, weight="w").verdict is Outcome.FAIL
    lenient = ASKED | {"rules": ["selection_rate.ratio >= 0.4"]}
    assert fg.audit(table(15), **lenient, weight="w").verdict is Outcome.PASS
    assert fg.audit(table(25), **lenient, weight="w").verdict is Outcome.INCONCLUSIVE


# ---- the summary of a search: the subgroups that account for the others
ASKED_CLAIMS = {"prediction": "p", "positive": 1, "metrics": "selection_rate", "worse": "higher"}
FEATURES = ["race", "branch", "sex", "age"]


def people(rng, n, rate):
    """Return people of whom most in one branch are black, where the others are a third."""
    branch = rng.integers(0, 12, n)
    black = rng.random(n) < np.where(branch == 7, 0.7, 0.3)
    return pl.DataFrame({
        "race": np.where(black, "black", "white"),
        "branch": [f"B{each:02}" for each in branch],
        "sex": rng.choice(["F", "M"], n),
        "age": rng.choice(["y", "m", "o"], n),
        "p": (rng.random(n) < rate(black, branch == 7)).astype(int),
    })  # fmt: skip


CELL, BLACK, BRANCH = "race = black & branch = B07", "race = black", "branch = B07"
LAWS = {
    "the overlap": (lambda black, here: np.where(black & here, 0.4, 0.1), {CELL}),
    "one feature": (lambda black, here: np.where(black, 0.2, 0.1), {BLACK}),
    "the other": (lambda black, here: np.where(here, 0.3, 0.1), {BRANCH}),
    "both": (lambda black, here: 0.1 + 0.12 * black + 0.2 * here, {BLACK, BRANCH}),
    "one and the overlap": (lambda black, here: 0.1 + 0.1 * black + 0.5 * (black & here),
                            {BLACK, CELL}),
}  # fmt: skip


@pytest.mark.parametrize("law", LAWS)
def test_no_order_and_no_name_decides_the_summary(law):
    frame = people(np.random.default_rng(32), 3_000, LAWS[law][0])
    found = fg.find(frame, sensitive=FEATURES, **ASKED_CLAIMS)
    other_names = {"black": "w", "white": "x", "F": "z", "M": "a"}
    again = fg.find(
        frame.sample(fraction=1, shuffle=True, seed=1).with_columns(
            pl.col("race", "sex").replace(other_names)
        ),
        sensitive=FEATURES[::-1],
        **ASKED_CLAIMS,
    )
    expected = [
        {(feature, other_names.get(value, value)) for feature, value in each.conditions.items()}
        for each in found.worse
        if each.explained_by is None
    ]
    members = [set(each.conditions.items()) for each in again.worse if each.explained_by is None]
    assert sorted(map(sorted, members)) == sorted(map(sorted, expected))
