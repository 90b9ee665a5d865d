"""What rows show before they are counted: the median score."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg


@pytest.mark.parametrize("code", [999, -1, "N/A"])
@pytest.mark.parametrize("engine", ["frame", "csv", "parquet"])
def test_the_median_is_of_the_scores_that_are_known(code, engine, tmp_path):
    """A code in a column of numbers, though listed as unknown, moved the threshold."""
    rng = np.random.default_rng(1)
    known = rng.integers(10, 90, 600)
    absent = rng.random(600) < 0.2
    scores = [code if none else int(each) for each, none in zip(known, absent, strict=True)]
    table = pl.DataFrame({"s": scores, "g": [*"ab"] * 300}, strict=False)
    if isinstance(code, str):
        table = table.with_columns(s=pl.Series([str(each) for each in scores]))
    path = tmp_path / f"rows.{engine}"
    if engine == "csv":
        table.write_csv(path)
    elif engine == "parquet":
        table.write_parquet(path)
    report = fg.audit(
        table if engine == "frame" else path,
        score="s", sensitive="g", threshold="median", score_range=(0, 100),
        recode={"s": {"unknown": [code]}},
    )  # fmt: skip
    above = known > np.median(known[~absent])
    for group, own in (("a", ~absent[::2] & above[::2]), ("b", ~absent[1::2] & above[1::2])):
        (rate,) = (e.rates["selection_rate"] for e in report.groups if e.group == group)
        assert rate.numerator == own.sum()
