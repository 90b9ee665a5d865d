"""The brief of a plan: how many rows are probably enough, or what a table can show."""

from __future__ import annotations

import re

import polars as pl

import fairgauge as fg
from fairgauge.render._document_tree import Table
from fairgauge.render.document import document as document_of
from fairgauge.statements.planning import per_hundred

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


def test_the_table_and_the_sentence_round_a_smallest_disparity_alike() -> None:
    """The table had 3.9 pp where the sentence had 4.0 of 100, of 0.0391."""
    made = fg.plan(COUNTS)
    blocks = [each for section in document_of(made).sections for each in section.blocks]
    table = next(each for each in blocks if isinstance(each, Table))
    assert table.columns[3].heading == "ratio below 1"  # a higher rate is detected from another on
    in_table = [row[2].text for row in table.rows]
    assert in_table == [f"{per_hundred(each.difference):.1f} pp" for each in made.smallest]
    sentences = " ".join(map(str, made.brief().found))
    stated = re.findall(r": ([\d.]+) of 100 \(", sentences)
    assert stated
    assert {f"{each} pp" for each in stated} <= set(in_table)


def test_a_table_of_means_plans_nothing_and_promises_no_power():
    """80% of audits "so planned" reached the goal, beside an empty table."""
    table = pl.DataFrame({"y": [float(i % 7) for i in range(200)], "g": ["a", "b"] * 100})
    made = fg.plan(table, label="y", task="regression", sensitive="g")
    assert "rate of reference" not in str(made)
    brief = made.brief()
    assert str(brief.headline) == "No comparison of the table can be planned for"
    assert "for rates of two groups that share no row" in str(brief.looked_at[0])
    assert not brief.certainty
    assert "an inconclusive one states the rows it needs" in str(brief.steps[0])


def test_a_plan_names_the_class_or_the_threshold_of_every_rate() -> None:
    """Three rows of one group and rate differed in nothing that was stated."""
    rows = {"g": ["a", "b"] * 150, "y": ["x", "y", "z"] * 100, "p": ["x", "y", "y"] * 100}
    of_classes = fg.plan(rows, label="y", prediction="p", sensitive="g", metrics="base_rate")
    scores = {"g": ["a", "b"] * 150, "y": [0, 1, 1] * 100, "s": [i / 300 for i in range(300)]}
    asked = {"label": "y", "score": "s", "sensitive": "g", "metrics": ["accuracy", "base_rate"]}
    of_scores = fg.plan(scores, **asked, threshold=[0.3, 0.7])  # type: ignore[arg-type]
    for made, places in (
        (of_classes, [f"base rate (class {each})" for each in "xyz"]),
        (of_scores, ["accuracy (threshold 0.3)", "accuracy (threshold 0.7)", "base rate"]),
    ):
        (table,) = (each for part in document_of(made).sections for each in part.blocks)
        assert isinstance(table, Table)
        named = {(row[0].text, row[1].text) for row in table.rows}
        assert named == {(f"{group} (g)", place) for group in "ab" for place in places}
        assert len(table.rows) == len(named)
        brief = made.brief()
        assert all(any(f"in {place}: " in str(each) for place in places)
                   for each in brief.found[:3])  # fmt: skip
