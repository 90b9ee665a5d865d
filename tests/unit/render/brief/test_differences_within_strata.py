"""Strata in which there is a difference, where none is shown over all rows."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import DiagnosticCode, Level, Outcome

ASKED = {"label": "hired", "positive": 1, "sensitive": "sex", "strata": "dept", "count": "n"}


def of_departments(cells):
    rows = [
        (sex, dept, hired, n)
        for sex, dept, x, every in cells
        for hired, n in ((1, x), (0, every - x))
    ]
    return pl.DataFrame(rows, schema=["sex", "dept", "hired", "n"], orient="row")


def within_strata(report):
    return [each for each in report.diagnostics if each.code is DiagnosticCode.WITHIN_STRATA]


def alternating(n, x):
    """Return many departments in which women are hired more and less often in turn."""
    return of_departments(
        [
            cell
            for i in range(40)
            for cell in (("F", f"d{i}", x[i % 2], n), ("M", f"d{i}", sum(x) // 2, n))
        ]
    )


@pytest.mark.parametrize(("of_m", "stated"), [((160, 100), True), ((100, 160), False)])
def test_strata_that_differ_in_both_directions_are_on_the_first_page(of_m, stated):
    """The first page had no word of them, where they offset each other over all rows."""
    cells = [("F", "A", 100, 200), ("F", "B", 160, 200),
             ("M", "A", of_m[0], 200), ("M", "B", of_m[1], 200)]  # fmt: skip
    report = fg.audit(of_departments(cells), **ASKED)
    assert report.findings == ()
    found = within_strata(report)
    assert [(each["lower"], each["higher"]) for each in found] == [(("A",), ("B",))] * stated
    brief = report.brief()
    stating = "within dept differences in both directions are shown" in str(brief.headline)
    assert stating == stated
    text = " ".join(map(str, brief.found))
    assert ("it is lower in dept A and higher in dept B" in text) == stated


def test_a_stratum_that_differs_alone_is_stated_where_no_difference_over_all_rows_is_shown():
    """A rule passed with "no difference is shown", where women of one department were harmed."""
    cells = [("F", "A", 1800, 2000), ("M", "A", 1800, 2000), ("F", "B", 15, 50), ("M", "B", 45, 50)]
    report = fg.audit(of_departments(cells), rules="base_rate.ratio >= 0.9", **ASKED)
    assert report.verdict is Outcome.PASS
    [warning] = within_strata(report)
    assert (warning.level, warning["lower"], warning["higher"]) == (Level.WARNING, ("B",), ())
    brief = report.brief()
    assert "over all rows, but in dept B one is shown" in str(brief.headline)
    assert "not adjusted for dept, within which differences are shown" in " ".join(
        map(str, brief.verdict)
    )
    text = " ".join(map(str, brief.found))
    assert "it is lower in dept B" in text
    assert "No difference beyond sampling variation is shown over all rows." in text
    assert "no difference in base rate over all rows is shown" in warning.message


def test_a_difference_that_varies_over_strata_is_stated_where_no_single_stratum_differs():
    """Forty branches above and below in turn had "no difference" as their headline."""
    report = fg.audit(alternating(60, (53, 37)), **ASKED)
    [warning] = within_strata(report)
    assert (warning["lower"], warning["higher"]) == ((), ())
    assert warning["p"] < 0.001
    brief = report.brief()
    assert "over dept differences vary statistically significantly" in str(brief.headline)
    assert "the difference varies over dept" in " ".join(map(str, brief.found))


def test_strata_are_tested_together_with_those_of_all_features():
    cells = [("F", "A", 450, 500), ("M", "A", 450, 500), ("F", "B", 6, 12), ("M", "B", 9, 12)]
    table = of_departments(cells)
    ages = pl.concat([table.with_columns(age=pl.lit(age)) for age in "wxyz"])
    alone = fg.audit(ages, **ASKED)
    report = fg.audit(ages, **{**ASKED, "sensitive": ["sex", "age"]})
    for each, named in ((alone, True), (report, False)):
        assert any(note["lower"] for note in within_strata(each)) is named


def test_strata_of_chance_are_not_stated():
    """Of 40 tables without any difference few may state one, by either of two tests."""
    rng = np.random.default_rng(11)
    stated = 0
    for _ in range(40):
        x = rng.binomial(60, 0.5, (2, 12)).tolist()
        cells = [(sex, f"d{i}", x[k][i], 60) for k, sex in enumerate("FM") for i in range(12)]
        stated += bool(within_strata(fg.audit(of_departments(cells), **ASKED)))
    assert stated <= 4


def test_a_rate_its_complement_and_their_odds_are_one_test_in_a_stratum():
    """A preset with all three named fewer strata, and counted them as further comparisons."""
    cells = [cell for i in range(12) for cell in (("F", f"d{i}", 50, 60), ("M", f"d{i}", 200, 240))]
    cells[10] = ("F", "d5", 33, 60)
    asked = {"sensitive": "sex", "strata": "dept", "count": "n", "prediction": "hired"}
    table = of_departments(cells)
    difference = "selection_rate.difference"
    of_all = ["selection_odds.ratio", "selection_rate.ratio", difference, "rejection_share.ratio"]
    for metrics in ([difference], of_all):
        report = fg.audit(table, positive=1, metrics=metrics, **asked)
        [warning] = within_strata(report)
        assert (warning["lower"], warning["higher"], warning["others"]) == (("d5",), (), 0)
        assert warning["p"] is not None


def test_within_strata_that_decide_the_outcome_nothing_is_stated():
    """An audit had differences in both directions, where why compares nothing."""
    cells = [("F", "hi", 2823, 2851), ("M", "hi", 12103, 12115),
             ("F", "lo", 74, 1033), ("M", "lo", 64, 4001)]  # fmt: skip
    report = fg.audit(of_departments(cells), **ASKED)
    assert report.findings == ()
    assert within_strata(report) == []
    assert "within dept" not in str(report.brief().headline)


OFFSET = [
    ("F", "A", 930, 1000), ("M", "A", 175, 230), ("F", "B", 30, 1000), ("M", "B", 52, 230),
    ("F", "C", 400, 1000), ("M", "C", 53, 230), ("F", "D", 640, 1000), ("M", "D", 199, 230),
    *(("M", dept, 200, 260) for dept in "EFG"),
]  # fmt: skip
"""Women are hired more often in A and C, less often in B and D; E, F and G have men alone."""


@pytest.mark.parametrize("options", [{}, {"reference": {"sex": "M"}}])
def test_the_variation_of_a_mirrored_group_is_that_of_the_other(options):
    """Of the finding of F the headline had "no difference is shown", the note was of M."""
    asked = {**ASKED, "label": None, "prediction": "hired", "metrics": "selection_rate.difference"}
    headline = str(fg.audit(of_departments(OFFSET), **asked, **options).brief().headline)
    assert headline.endswith("no difference is shown on average, and it varies over strata")


def test_strata_are_counted_and_tested_where_both_sides_are():
    """ "In 2 of the other 5 … (all 7 tested together)" counted three with men alone."""
    report = fg.audit(of_departments(OFFSET), **ASKED)
    found = " ".join(map(str, report.brief().found))
    assert "23 of 100 people with sex M, 3 of 100 people with sex F) the difference itself" in found
    assert "93 of 100 people with sex F) the reverse is shown (all 4 tested together)." in found


SHOWN_IN_A = [("F", "A", 320, 400), ("M", "A", 4500, 5000),
              ("F", "B", 1110, 1500), ("M", "B", 1008, 1400)]  # fmt: skip
"""Women of A are hired less often (p = 1e-8), and none are on average over A and B."""
SHOWN_IN_BOTH = [("F", "A", 320, 400), ("M", "A", 4500, 5000), ("F", "B", 1110, 1500),
                 ("M", "B", 900, 1400), ("F", "C", 150, 200), ("M", "C", 150, 200),
                 ("F", "D", 150, 200), ("M", "D", 150, 200)]  # fmt: skip
REVERSED = [("F", "A", 320, 400), ("M", "A", 4500, 5000), ("F", "B", 1110, 1500),
            ("M", "B", 600, 1400)]  # fmt: skip


IN_A = "In dept A (80 of 100 women, 90 of 100 men) the difference itself is shown"
IN_B = "in dept B (74 of 100 women, 64 of 100 men) the reverse is shown"


@pytest.mark.parametrize(
    ("cells", "adjusted", "stated"),
    [
        (SHOWN_IN_A, "no difference is shown on average", f"{IN_A} (all 2"),
        (
            SHOWN_IN_BOTH, "no difference is shown on average",
            f"{IN_A}; {IN_B}; in the other 2 no difference is shown (all 4",
        ),
        (
            REVERSED, "the difference is the reverse",
            f"{IN_A}; in the other the reverse is shown (all 2",
        ),
    ],
)  # fmt: skip
def test_strata_in_which_the_difference_is_shown_are_named_as_those_of_the_reverse_are(
    cells, adjusted, stated
):
    """ "After adjusting no difference is shown" was all, where one stratum had p = 1e-8."""
    words = {"groups": {"sex": {"F": "women", "M": "men"}}}
    report = fg.audit(of_departments(cells), words=words, **ASKED)
    text = f"After adjusting for dept {adjusted}. {stated} tested together)."
    assert text in map(str, report.brief().found)


def test_strata_in_which_a_ratio_or_a_mean_is_shown_to_differ_are_named():
    """Of ratios alone, and of averages, the first page named no stratum."""
    report = fg.audit(of_departments(SHOWN_IN_A), metrics="base_rate.ratio", **ASKED)
    shown = "the difference itself is shown (all 2 tested together)"
    assert shown in str(report.brief().found[1])
    rng = np.random.default_rng(0)
    pay = {
        ("F", "A"): (84, 100), ("M", "A"): (90, 800), ("F", "B"): (63, 400), ("M", "B"): (60, 300),
    }  # fmt: skip
    rows = [(*cell, each) for cell, (m, n) in pay.items() for each in rng.normal(m, 10, n)]
    table = pl.DataFrame(rows, schema=["sex", "dept", "pay"], orient="row")
    report = fg.audit(table, label="pay", task="regression", sensitive="sex", strata="dept")
    assert f"In dept A {shown}" in " ".join(map(str, report.brief().found))
