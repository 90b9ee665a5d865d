"""Rows without probabilities of groups: nothing passes or fails that they could change.

Probabilities of 0 and 1 make every estimate that of the recorded groups, so that all values that
the groups of other rows could give are enumerated without the product.
"""

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.needs import EVERY_CASE

import fairgauge as fg

NAMES = ("Black", "White")
RATES = {"selection_rate.difference": np.subtract, "selection_rate.ratio": np.divide}
BOTH = [("unknown", "given_group"), ("unknown", "nothing")]


def drawn(seed: int, answered: float) -> pl.DataFrame:
    """Draw people with probabilities of 0 or 1, some without any, and answers of some."""
    rng = np.random.default_rng(seed)
    n, rates = int(rng.integers(200, 500)), rng.uniform(0.2, 0.8, 2)
    group = rng.integers(0, 2, n)
    missing = np.arange(n) < rng.integers(1, n // 5)
    y = (rng.random(n) < np.where(missing, rng.random(), rates[group])).astype(int)
    known = np.where(missing, rng.random(n) < answered, rng.random(n) < 0.6)
    order = rng.permutation(n)
    black = np.where(missing, None, (group == 0) * 1.0)
    white = np.where(missing, None, (group == 1) * 1.0)
    names = np.where(known, np.array(NAMES)[group], None)
    columns = {"y": y, "b": black, "w": white, "known": names, "group": np.array(NAMES)[group]}
    schema = {"y": pl.Int64, "b": pl.Float64, "w": pl.Float64, "known": pl.String}
    return pl.DataFrame({name: of[order].tolist() for name, of in columns.items()}, schema | {
        "group": pl.String})  # fmt: skip


def audited(data: pl.DataFrame, rule: Any, how: str, assume: str, **asked: Any) -> fg.Report:
    race = fg.probabilities(Black="b", White="w", known="known", known_drawn=how, assume=assume)
    return fg.audit(data, prediction="y", positive=1, sensitive={"race": race},
                    reference={"race": "White"}, rules=[rule], **asked)  # fmt: skip


def possible(data: pl.DataFrame, contrast: Any) -> np.ndarray:
    """Enumerate the values that rows without probabilities and without an answer could give."""
    rows = data.select("b", "known").rows()
    placed = [known if b is None else NAMES[b == 0] for b, known in rows]
    y = data["y"].to_numpy()
    each = [*zip(placed, y.tolist(), strict=True)]
    counts = np.array([[each.count((g, v)) for v in (0, 1)] for g in NAMES])
    open_, found = [each.count((None, v)) for v in (0, 1)], []
    for failures, successes in product(range(open_[0] + 1), range(open_[1] + 1)):
        moved = np.array([failures, successes])
        both = counts[0] + moved, counts[1] + np.array(open_) - moved
        found.append(contrast(*(side[1] / side.sum() for side in both)))
    return np.array(found)


@pytest.mark.parametrize(("how", "assume"), [*BOTH, ("random", "given_group")])
@pytest.mark.parametrize("metric", RATES)
def test_no_verdict_is_one_that_their_groups_could_change(how, assume, metric):
    outcomes = set()
    for seed in range(8 if EVERY_CASE else 4):
        data = drawn(seed, answered=0.5)
        values = possible(data, RATES[metric])
        for at in (values.min() - 0.02, values.min() - 0.3, values.max() + 0.3):
            limit = max(float(at), -0.99 if metric.endswith("difference") else 0.01)
            (verdict,) = audited(data, f"{metric} >= {limit}", how, assume).verdicts
            outcomes.add(str(verdict.outcome))
            if verdict.outcome == "pass":
                assert how == "random"
                assert values.min() >= limit
            if verdict.outcome == "fail" and how != "random":  # which estimates all rows
                assert values.max() < limit
    assert "fail" in outcomes
    assert ("pass" in outcomes) is (how == "random")


@pytest.mark.parametrize(("how", "assume"), BOTH)
def test_their_worst_case_is_attained(how, assume):
    for seed in range(4):
        data = drawn(seed, answered=0.3)
        values = possible(data, np.subtract)
        at = float(values.min()) + 1e-6
        rule = {"metric": "selection_rate.difference", "at_least": at, "decide": "point"}
        (verdict,) = audited(data, rule, how, assume).verdicts
        if verdict.reason.code == "missing_groups":
            assert verdict.reason["low"] == pytest.approx(values.min(), abs=1e-4)
            assert verdict.reason["high"] == pytest.approx(values.max(), abs=1e-4)
            assert (
                verdict.reason["rows"]
                == data.filter(pl.col("b").is_null() & pl.col("known").is_null()).height
            )
        else:
            assert verdict.outcome == "fail" or assume == "nothing"
