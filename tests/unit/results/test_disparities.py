"""Disparities: strata in which a difference goes both ways, and none is shown over all rows."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.results.disparities import opposite_strata


def of_departments(cells):
    rows = [
        (sex, dept, hired, n)
        for sex, dept, x, every in cells
        for hired, n in ((1, x), (0, every - x))
    ]
    return pl.DataFrame(rows, schema=["sex", "dept", "hired", "n"], orient="row")


@pytest.mark.parametrize(("of_m", "stated"), [((160, 100), True), ((100, 160), False)])
def test_strata_that_differ_in_both_directions_are_on_the_first_page(of_m, stated):
    """The first page had no word of them, where they offset each other over all rows."""
    cells = [("F", "A", 100, 200), ("F", "B", 160, 200),
             ("M", "A", of_m[0], 200), ("M", "B", of_m[1], 200)]  # fmt: skip
    asked = {"label": "hired", "positive": 1, "sensitive": "sex", "strata": "dept", "count": "n"}
    report = fg.audit(of_departments(cells), **asked)
    assert report.findings == ()
    both = opposite_strata(report.estimates)
    assert [[each.stratum for each in strata] for strata in both] == [["A", "B"]] * stated
    brief = report.brief()
    stating = "within dept differences in both directions are" in str(brief.headline)
    assert stating == stated
    found = " ".join(map(str, brief.found))
    assert ("it is lower in dept A and higher in dept B" in found) == stated


def test_strata_of_chance_in_both_directions_are_not_stated():
    """Of 100 tables without any difference at most 5 may state one."""
    rng = np.random.default_rng(11)
    asked = {"label": "hired", "positive": 1, "sensitive": "sex", "strata": "dept", "count": "n"}
    stated = 0
    for _ in range(40):
        x = rng.binomial(60, 0.5, (2, 12)).tolist()
        cells = [(sex, f"d{i}", x[k][i], 60) for k, sex in enumerate("FM") for i in range(12)]
        stated += bool(opposite_strata(fg.audit(of_departments(cells), **asked).estimates))
    assert stated <= 2
