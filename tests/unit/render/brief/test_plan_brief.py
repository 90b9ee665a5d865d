"""The brief of a plan: how many rows are probably enough, or what a table can show."""

from __future__ import annotations

import re

import fairgauge as fg

COUNTS = fg.confusion(
    "sex",
    {
        "F": {"tp": 60, "fn": 140, "fp": 20, "tn": 80},
        "M": {"tp": 150, "fn": 50, "fp": 30, "tn": 70},
    },
)


def test_the_rows_of_the_goal_that_needs_most_head_the_page() -> None:
    made = fg.plan(rate=0.5, tolerance=0.05)
    brief = made.brief()
    most = max(each.total for each in made.needed)
    assert str(brief.headline) == f"{most:,.0f} rows are probably enough for each goal"
    assert len(brief.found) == len(made.needed)
    assert str(brief.certainty[0]).startswith("80% of audits so planned reach the goal (power)")


def test_what_a_table_can_show_is_never_stated_as_less() -> None:
    made = fg.plan(COUNTS)
    brief = made.brief()
    stated = re.search(r"a difference of ([\d.]+) of 100 or more", str(brief.headline))
    assert stated is not None
    widest = 100 * max(each.difference for each in made.smallest)
    assert widest - 1e-9 <= float(stated[1]) <= widest + 0.1
    assert str(brief.found[-1]).startswith("In 9 more comparisons")
