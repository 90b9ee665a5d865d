"""fg.why of means by regression."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg


def test_means_are_adjusted_by_linear_regression(tmp_path):
    rng = np.random.default_rng(3)
    n = 600
    grade, sex = rng.integers(0, 3, n), rng.choice(["F", "M"], n)
    pay = 30 + 8 * grade - 1.5 * (sex == "F") + rng.normal(0, 3, n)
    table = pl.DataFrame({"grade": grade, "sex": sex, "pay": pay})
    found = fg.why(table, label="pay", task="regression", sensitive="sex", strata="grade",
                   reference={"sex": "M"})  # fmt: skip
    (gap,) = found.gaps
    main = gap.adjusted
    design = np.column_stack([np.ones(n), sex == "F", grade == 1, grade == 2]).astype(float)
    assert main.value == pytest.approx(np.linalg.lstsq(design, pay)[0][1])
    assert main.interval.low < -1.5 < main.interval.high
    found.save(tmp_path / "why.json")
    assert fg.load(tmp_path / "why.json") == found
