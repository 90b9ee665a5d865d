#!/usr/bin/env python3
"""Seals reports by every kind of interval, or verifies them with another set of libraries.

tests/sealed_elsewhere.py seal FOLDER
tests/sealed_elsewhere.py verify FOLDER     exit code 1: a number is not reproduced
"""

import sys
from pathlib import Path

import numpy as np
import polars as pl

import fairgauge as fg
from fairgauge.sharing.sealing import VerificationResult

BINARY = {"label": "y", "prediction": "p", "sensitive": ["g", "h"], "positive": 1}
CASES = {
    "default": {"rules": ["DI >= 0.8", "-0.1 <= RD <= 0.1"]},
    "best": {"intersections": [("g", "h")], "reference": "best", "metrics": "standard"},
    "strata": {"strata": "h", "sensitive": "g", "weight": "w"}, "clusters": {"cluster": "id"},
    "exact": {"method": "exact"}, "bayes": {"method": "bayes"},
    "bootstrap": {"method": "bootstrap", "replicates": 200},
    "scores": {"prediction": None, "score": "score", "threshold": 0.5},
    "classes": {"label": "k", "prediction": "j", "positive": None, "task": "multiclass"},
    "amounts": {"label": "a", "prediction": "b", "positive": None, "task": "regression"},
    "clarify": {"profile": "clarify", "metrics": "clarify"},
}  # fmt: skip


def rows(n: int = 1_500) -> pl.DataFrame:
    """Return synthetic rows; one group is small."""
    random = np.random.default_rng(7)
    score = random.beta(2, 3, n)
    return pl.DataFrame(
        {
            "g": random.choice(["a", "b", "c", "d"], n, p=[0.4, 0.3, 0.25, 0.05]),
            "h": random.choice(["x", "y"], n), "score": score,
            "y": (random.random(n) < score).astype(int), "p": (score > 0.4).astype(int),
            "w": random.gamma(2, 1, n), "id": random.integers(0, n // 4, n),
            "a": random.lognormal(3, 1, n), "b": random.lognormal(3, 1, n),
            "k": random.choice(["l", "m", "n"], n), "j": random.choice(["l", "m", "n"], n),
        }
    )  # fmt: skip


def seal(folder: Path) -> int:
    """Seal a bundle of every case, and one of protected counts."""
    table = rows()
    for name, options in CASES.items():
        cube = fg.count(table, **{**BINARY, "metrics": "all", **options})
        fg.seal(fg.audit(cube), cube, folder / f"{name}.fairgauge")
    safe = fg.protect(fg.count(table, **BINARY), 10)
    fg.seal(fg.audit(safe), safe, folder / "protected.fairgauge")
    return 0


def verify(folder: Path) -> int:
    """Verify every bundle of a folder; the random draws of another NumPy need not be the same."""
    verified = [fg.verify(path) for path in sorted(folder.glob("*.fairgauge"))]
    print(*verified, sep="\n")
    return int(
        not verified
        or any(
            v.finding is not VerificationResult.REPRODUCED
            and not (v.finding is VerificationResult.PARTLY_REPRODUCED and v.redrawn)
            for v in verified
        )
    )


if __name__ == "__main__":
    command, where = sys.argv[1:]
    sys.exit({"seal": seal, "verify": verify}[command](Path(where)))
