"""Two tables to look at: Berkeley's admissions of 1973, and loans that we made up.

The 24 counts of Berkeley's six largest departments are facts, known from D. Freedman, R. Pisani
and R. Purves, "Statistics", and from R's ``UCBAdmissions``; P. J. Bickel, E. A. Hammel and
J. W. O'Connell, "Sex Bias in Graduate Admissions: Data from Berkeley", Science 187 (1975), 398-404,
analysed the admissions. The loans are drawn at random from a seed.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairgauge.api.audit import audit
from fairgauge.atomic_files import write_whole
from fairgauge.question.options import Options
from fairgauge.results.report import Report

ADMISSIONS = (
    # department, men admitted, men rejected, women admitted, women rejected
    ("A", 512, 313, 89, 19),
    ("B", 353, 207, 17, 8),
    ("C", 120, 205, 202, 391),
    ("D", 138, 279, 131, 244),
    ("E", 53, 138, 94, 299),
    ("F", 22, 351, 24, 317),
)
LOANS = 5_000
SEED = 1973


class Example(NamedTuple):
    """An audited table: the stem of its files, what it is, and what its audit shows."""

    name: str
    title: str
    lesson: str
    report: Report


def examples(folder: Path) -> list[Example]:
    """Write ``berkeley.csv`` and ``loans.csv`` into an existing folder, and audit them."""
    found = []
    for name, text, asked, title, lesson in (
        ("berkeley", admissions(), _BERKELEY,
         "Admissions to the University of California, Berkeley, in 1973 (24 counts)",
         ("Over all departments, women are admitted less often than men. Adjusted for department "
         "no difference is shown on average: women applied more to departments that reject most "
         "applicants.")),
        ("loans", loans(), _LOANS, f"Made-up loans ({LOANS:,} rows, seed {SEED})",
         ("Women are approved less often than men, though as many of them repay: of those who "
         "repay, the model approves fewer of the women. Verdicts on smaller groups are "
         "inconclusive where the confidence interval includes a limit.")),
    ):  # fmt: skip
        path = folder / f"{name}.csv"
        write_whole(path, text)
        found.append(Example(name, title, lesson, audit(str(path), **asked)))
    return found


_BERKELEY: Options = {
    "label": "Admit", "positive": "Admitted", "sensitive": "Gender", "strata": "Dept",
    "count": "Freq",
    "words": {
        "noun": "applicants", "label_positive": "were admitted", "label_negative": "were rejected",
        "groups": {"Gender": {"Female": "women", "Male": "men"}},
    },
}  # fmt: skip
_LOANS: Options = {
    "label": "repaid", "prediction": "approved", "positive": "yes",
    "sensitive": ["sex", "race", {"column": "age", "cuts": [40], "closed": "left"}],
    "intersections": [("sex", "race")],
    "rules": ["selection_rate.ratio >= 0.8", "-0.1 <= true_positive_rate.difference <= 0.1"],
    "words": {
        "unit": "applications", "noun": "applicants", "positive": "approved",
        "negative": "refused", "label_positive": "repaid", "label_negative": "did not repay",
        "groups": {
            "sex": {"Female": "women", "Male": "men"}, "race": "{value} applicants",
            "age": {
                "[-inf, 40)": "applicants under 40", "[40, inf)": "applicants of 40 or more",
            },
            "sex*race": "{race} {sex}",
        },
    },
}  # fmt: skip


def admissions() -> str:
    """Return Berkeley's admissions as CSV: Admit, Gender, Dept, Freq; 24 rows of counts."""
    rows = [
        (outcome, gender, department, counts[2 * g + o])
        for department, *counts in ADMISSIONS
        for g, gender in enumerate(("Male", "Female"))
        for o, outcome in enumerate(("Admitted", "Rejected"))
    ]
    return _csv(("Admit", "Gender", "Dept", "Freq"), rows)


def loans(rows: int = LOANS, seed: int = SEED) -> str:
    """Return made-up loans as CSV: the same rows for the same seed.

    Whether a loan is repaid depends on income and debt alone. The score was built without the
    income of part-time work, which women have more often, and marks down one region, where more
    of the Black applicants live: so the model misses good borrowers of both groups.
    """
    random = np.random.default_rng(seed)
    sex = random.choice(["Female", "Male"], rows, p=[0.45, 0.55])
    race = random.choice(["Asian", "Black", "Hispanic", "White"], rows, p=[0.08, 0.17, 0.15, 0.6])
    age = np.clip(random.gamma(9.0, 4.6, rows), 18, 85).astype(int)
    south = random.random(rows) < np.where(race == "Black", 0.55, 0.25)
    region = np.where(south, "South", random.choice(["East", "North", "West"], rows))
    worth = random.normal(0.35, 1.0, rows)
    repaid = random.random(rows) < _logistic(1.8 * worth)
    marked = worth - 0.55 * (sex == "Female") - 0.7 * south + random.normal(0, 0.6, rows)
    score = np.round(_logistic(1.6 * marked), 3)
    columns = (
        sex, race, age, region, score, np.where(score >= 0.5, "yes", "no"),
        np.where(repaid, "yes", "no"),
    )  # fmt: skip
    header = ("sex", "race", "age", "region", "score", "approved", "repaid")
    return _csv(header, zip(*(column.tolist() for column in columns), strict=True))


def _logistic(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-x)))


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()
