"""The brief of a plan: how many rows are probably enough."""

from __future__ import annotations

import fairgauge as fg


def test_the_rows_of_the_goal_that_needs_most_head_the_page() -> None:
    made = fg.plan(rate=0.5, tolerance=0.05)
    brief = made.brief()
    most = max(each.total for each in made.needed)
    assert str(brief.headline) == f"{most:,.0f} rows are probably enough for each goal"
    assert len(brief.found) == len(made.needed)
    assert made.assumed["rate"] == 0.5
    assert "a rate of 50 of 100 in the reference" in " ".join(map(str, brief.looked_at))
    assert str(brief.certainty[0]).startswith("80% of audits so planned reach the goal (power)")
