"""Rows of people and of models that decide about them, for the tests of comparisons of models."""

import numpy as np
import polars as pl

QUESTION = {"label": "repaid", "prediction": "current", "sensitive": "sex"}


def rows(n=3_000, seed=0):
    """Return people, the model in use, which is unfair to F, and candidates of several kinds."""
    rng = np.random.default_rng(seed)
    sex = np.where(rng.random(n) < 0.4, "F", "M")
    repaid = (rng.random(n) < 0.5).astype(int)
    signal = 1.4 * (repaid - 0.5) + rng.normal(size=n)
    noise = 0.4 * rng.normal(size=(3, n))
    woman = sex == "F"
    return pl.DataFrame(
        {
            "sex": sex, "region": rng.choice(["north", "south"], n), "repaid": repaid,
            "current": (signal - 0.5 * woman + noise[0] > 0).astype(int),
            "fairer": (signal + noise[1] > 0).astype(int),
            "unfair": (signal - 1.2 * woman + noise[2] > 0).astype(int),
            "random": rng.integers(0, 2, n), "weight": rng.uniform(0.5, 2.0, n),
            "person": rng.integers(0, n // 3, n),
        }
    )  # fmt: skip
