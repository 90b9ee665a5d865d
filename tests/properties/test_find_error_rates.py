"""How often a search errs: simulated tables of several laws, through the public function."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

import fairgauge as fg

TABLES = 50
ROWS = 1_500


def independent(rng):
    return rng.integers(0, 3, (ROWS, 5)), lambda c: np.full(ROWS, 0.1)


def correlated(rng):
    codes = rng.integers(0, 3, (ROWS, 5))
    for i in range(1, 5):
        same = rng.random(ROWS) < 0.7
        codes[same, i] = codes[same, i - 1]
    return codes, lambda c: np.full(ROWS, 0.03)


def jointly_different(rng):
    return rng.integers(0, 3, (ROWS, 5)), lambda c: np.where(c[:, 0] == c[:, 1], 0.3, 0.1)


def merged_and_split(rng):
    codes = rng.integers(0, 3, (ROWS, 3))
    merged = np.minimum(codes[:, 0], 1)
    split = codes[:, 1] * 2 + rng.integers(0, 2, ROWS)
    return np.column_stack([codes, merged, split]), lambda c: 0.1 + 0.15 * (c[:, 0] == 0)


def ordered(rng):
    """An ordered feature in 6, 3 and 2 bands, and another name of it; the rate rises with it."""
    band = rng.integers(0, 6, ROWS)
    renamed = np.array([2, 0, 1])[band // 2]
    other = rng.integers(0, 3, ROWS)
    codes = np.column_stack([band, band // 2, band // 3, renamed, other])
    return codes, lambda c: 0.06 + 0.03 * c[:, 0]


def rare_and_uneven(rng):
    rates = rng.beta(0.3, 20, 9)
    return rng.integers(0, 3, (ROWS, 4)), lambda c: rates[3 * c[:, 0] + c[:, 1]]


LAWS = (independent, correlated, jointly_different, merged_and_split, ordered, rare_and_uneven)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("law", LAWS)
def test_claims_and_ends_err_in_at_most_a_twentieth_of_tables(law):
    rng = np.random.default_rng(2026)
    codes, rates_of = law(rng)
    rates = rates_of(codes)
    names = [f"f{i}" for i in range(codes.shape[1])]
    frame = pl.DataFrame(codes, schema=names).with_columns(y=pl.lit(0))
    wrong = dict.fromkeys(("worse", "low", "high"), 0)
    for _ in range(TABLES):
        rows = frame.with_columns(p=pl.Series((rng.random(ROWS) < rates).astype(int)))
        found = fg.find(
            rows, label="y", prediction="p", positive=1, features=names, depth=2,
            rate="false_positive_rate",
        )  # fmt: skip
        assert found.undecided_count == len(found.undecided)
        listed = (*found.worse, *found.undecided)
        inside = [
            np.logical_and.reduce([codes[:, int(f[1:])] == int(v) for f, v in s.conditions.items()])
            for s in listed
        ]
        true = np.array([rates[rows].mean() - rates[~rows].mean() for rows in inside])
        low, high = (np.array([getattr(s, end) for s in listed]) for end in ("low", "high"))
        assert (low >= -1).all()
        assert (high <= 1).all()
        wrong["worse"] += bool((true[: len(found.worse)] <= 1e-12).any())
        wrong["low"] += bool((low > true + 1e-12).any())
        wrong["high"] += bool((high < true - 1e-12).any())
    most = stats.binom.ppf(0.9995, TABLES, 0.05)
    assert max(wrong.values()) <= most, wrong
