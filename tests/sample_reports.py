"""Reports for the tests of the renderers: small, printed elsewhere, or hostile."""

import dataclasses
import random
from functools import cache
from typing import Any

import polars as pl

import fairgauge as fg
from fairgauge.enums import IntervalMethod, Status
from fairgauge.results.report import Report
from fairgauge.results.scopes import Interval

_BERKELEY = {  # admitted and rejected, by department: women, men (Bickel, Hammel, O'Connell 1975)
    "A": ((89, 19), (512, 313)), "B": ((17, 8), (353, 207)), "C": ((202, 391), (120, 205)),
    "D": ((131, 244), (138, 279)), "E": ((94, 299), (53, 138)), "F": ((24, 317), (22, 351)),
}  # fmt: skip
HOSTILE = (
    "<script>alert(1)</script>", "=cmd|'/C calc'!A0", "evil\u202elive\u2066",
    "\x1b[31mred\x1b[0m\n\r\x07", "שלום עולם", "👩‍👩‍👧 family",
    "a|b*c_d`e` [x](javascript:alert(1)) ![i](http://example.org/i.png)", "x" * 10_000,
    "https://example.org/ @user #1", "]]> --> & \" ' </style>",
)  # fmt: skip


@cache
def small() -> Report:
    """Return the worked example of a confusion matrix for each of two groups, with two rules."""
    counts = fg.confusion(
        "sex",
        {
            "Female": {"tp": 20, "fp": 5, "fn": 7, "tn": 18},
            "Male": {"tp": 65, "fp": 10, "fn": 5, "tn": 20},
        },
    )
    rules = [fg.rule("DI", between=(0.8, 1.25)), fg.rule("AD", between=(-0.5, 0.5))]
    return fg.audit(counts, rules=rules)


@cache
def several() -> Report:
    """Return three groups, one tiny, one without predicted positives."""
    counts = fg.confusion(
        "race",
        {
            "Black": {"tp": 50, "fp": 20, "fn": 50, "tn": 80},
            "White": {"tp": 300, "fp": 60, "fn": 100, "tn": 340},
            "Other": {"fn": 2, "tn": 3},
        },
    )
    return fg.audit(counts, rules=[fg.rule("DI", at_least=0.8)])


@cache
def berkeley() -> Report:
    """Return the admissions to Berkeley in 1973, departments held fixed."""
    rows = [
        {"Admit": admit, "Gender": gender, "Dept": department, "Freq": freq}
        for department, both in _BERKELEY.items()
        for gender, counts in zip(("Female", "Male"), both, strict=True)
        for admit, freq in zip(("Admitted", "Rejected"), counts, strict=True)
    ]
    return fg.audit(
        pl.DataFrame(rows), label="Admit", positive="Admitted", count="Freq", sensitive="Gender",
        strata="Dept",
    )  # fmt: skip


def crossed(**options: Any) -> Report:
    """Return two features and their intersection."""
    rows = {
        "y": [i % 2 for i in range(240)],
        "p": [(i // 3) % 2 for i in range(240)],
        "sex": ["F" if i % 5 < 2 else "M" for i in range(240)],
        "race": ["ABC"[(i // 7) % 3] for i in range(240)],
    }
    return fg.audit(
        pl.DataFrame(rows), label="y", prediction="p", sensitive=["sex", "race"],
        intersections=[("sex", "race")], **options,
    )  # fmt: skip


def scored(**options: Any) -> Report:
    """Return three groups with scores, some of them and some labels missing."""
    options = {
        "label": "y", "score": "s", "threshold": 0.5, "positive": 1, "sensitive": "g",
        "rules": [fg.rule("DI", at_least=0.8)],
    } | options  # fmt: skip
    return fg.audit(scores(), **options)


@cache
def scores() -> pl.DataFrame:
    """Return rows whose scores lie on hundredths and between, and predict their labels."""
    chance = random.Random(7)
    table: dict[str, list[Any]] = {"g": [], "y": [], "s": [], "w": []}
    for i in range(420):
        score = chance.random()
        table["g"].append(("North", "South", "a <b> c")[i % 3])
        table["y"].append(None if i % 17 == 0 else int(chance.random() < score))
        table["s"].append(None if i % 29 == 0 else round(score, 2 if i % 2 else 5))
        table["w"].append(1 + i % 4 / 4)
    return pl.DataFrame(table)


@cache
def hostile() -> Report:
    """Return groups, a feature and strata whose names do harm where they are taken as markup."""
    rows = {
        "y": [i % 2 for i in range(400)],
        "p": [(i // 2) % 2 for i in range(400)],
        '"><b onmouseover=alert(2)>': [HOSTILE[i % 10] for i in range(400)],
        "</script>": [HOSTILE[(i // 10) % 2] for i in range(400)],
    }
    return fg.audit(
        pl.DataFrame(rows), label="y", prediction="p", sensitive='"><b onmouseover=alert(2)>',
        strata="</script>",
    )  # fmt: skip


def sure(report: Report) -> Report:
    """Return a report with intervals and p-values of plain round numbers, some on too few rows."""
    estimates = tuple(
        each
        if each.value is None or each.reference is None
        else dataclasses.replace(
            each,
            interval=Interval(
                each.value - 0.05, each.value + 0.05, 0.95, (IntervalMethod.NEWCOMBE,)
            ),
            simultaneous=Interval(
                each.value - 0.05, each.value + 0.05, 0.95, (IntervalMethod.NEWCOMBE,)
            ),
            p_value=1e-5,
            p_adjusted=4e-5,
            status=Status.TOO_FEW if (each.n_group or 0) < 10 else Status.OK,
            reason=None,
        )
        for each in report.estimates
    )
    return dataclasses.replace(report, estimates=estimates)
