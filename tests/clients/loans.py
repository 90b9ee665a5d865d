"""A synthetic table of loans: labels and predictions of every type, facets of every kind."""

from __future__ import annotations

import numpy as np
import pandas as pd


def loans(rows: int = 600) -> pd.DataFrame:
    """Return the table; the same every time."""
    rng = np.random.default_rng(14)
    sex = rng.choice(["F", "M"], rows)
    income = rng.normal(50, 15, rows).round(4) + 6 * (sex == "M")
    frame = pd.DataFrame(
        {
            "sex": sex, "race": rng.choice(list("abcd"), rows, p=[0.5, 0.3, 0.15, 0.05]),
            "gender": (sex == "F").astype(int), "age": rng.integers(18, 90, rows),
            "income": income.round(4), "education": rng.integers(1, 6, rows),
            "team": rng.choice(["north", "south", "west"], rows),
        }
    )  # fmt: skip
    frame["score"] = 1 / (1 + np.exp(-(income - 52) / 8))
    for prefix, noise in (("label", 12), ("predicted", 4)):
        amount = (income + rng.normal(0, noise, rows)).round(3)
        after = prefix == "predicted"
        frame[prefix] = (amount > 52).astype(int)
        frame[f"{prefix}_text"] = np.where(amount > 52, "yes", "no")
        frame[f"{prefix}_bool"] = amount > 52
        grades = pd.cut(amount, [-np.inf, 40, 52, 65, np.inf], labels=list("DCBA"))
        frame["predicted_grade" if after else "grade"] = grades.astype(str)
        frame["predicted_amount" if after else "amount"] = amount
    return frame
