"""Many candidates are counted by sums of conditions, and as in every other source."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg

NAMES = [f"c{k:02}" for k in range(70)]


def decided(rows=3_000):
    rng = np.random.default_rng(0)
    found = {name: rng.integers(0, 2, rows) for name in ("y", "current", *NAMES)}
    return pl.DataFrame({"g": rng.choice(["F", "M"], rows), "w": rng.uniform(1, 2, rows)} | found)


def late(column, value):
    """Return a value that first rows do not show."""
    return (
        pl.when(pl.int_range(pl.len()) == pl.len() - 1).then(value).otherwise(column).alias(column)
    )


CASES = {
    "whole numbers": ([], {}),
    "some without a decision": ([late("c01", None)], {}),
    "texts": ([pl.col(NAMES).cast(pl.String), pl.col("y", "current").cast(pl.String)], {}),
    "truth values": ([pl.col("y", "current", *NAMES).cast(pl.Boolean)], {"positive": True}),
    "a value that first rows do not show": ([late("c02", 2)], {}),
    "all alike": ([pl.lit(1).alias("c03")], {}),
    "weights": ([], {"weight": "w"}),
    "scores": ([pl.col("current", *NAMES) * 0.5 + 0.2], {"score": "current", "prediction": None,
                                                        "threshold": 0.5}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_file_of_seventy_candidates_has_the_counts_of_a_frame(case, tmp_path):
    """From 61 on counting a file ended with an OverflowError."""
    changes, more = CASES[case]
    rows = decided().with_columns(*changes)
    rows.write_parquet(tmp_path / "rows.parquet")
    rows.write_csv(tmp_path / "rows.csv")
    asked = {"label": "y", "prediction": "current", "candidate": "c*", "sensitive": "g"}
    asked = {k: v for k, v in (asked | {"positive": 1} | more).items() if v is not None}
    cube = fg.count(rows, **asked)
    assert fg.count(tmp_path / "rows.parquet", **asked) == cube
    if case not in ("texts", "truth values"):
        assert fg.count(tmp_path / "rows.csv", **asked) == cube
