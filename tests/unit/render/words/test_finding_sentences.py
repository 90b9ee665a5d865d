"""Findings state of which comparisons an interval holds, and name every group that is left out."""

import numpy as np
import polars as pl
from tests.selected_groups import selected

import fairgauge as fg
from fairgauge.render import render


def of_counts(groups, **options):
    report = fg.audit(selected(groups), metrics=["selection_rate.difference"], **options)
    return " ".join(render(report, "text").split())


def test_the_interval_of_the_worst_class_is_called_simultaneous():
    rng = np.random.default_rng(1)
    label = rng.integers(0, 3, 2000)
    group = rng.choice(["F", "M"], 2000)
    wrong = rng.random(2000) < np.where(group == "F", 0.4, 0.2)
    frame = pl.DataFrame(
        {"y": label, "p": np.where(wrong, (label + 1) % 3, label), "g": group}
    ).with_columns(pl.col("y", "p").cast(pl.String))
    text = " ".join(
        render(fg.audit(frame, label="y", prediction="p", sensitive="g"), "text", full=True).split()
    )
    finding = text.partition("1. F (")[2].partition("%).")[0]
    assert "simultaneous 95% CI" in finding


def test_all_groups_without_a_conclusion_are_counted():
    text = of_counts({"large": (500, 1000), **{f"g{i:02}": (5, 10) for i in range(30)}})
    listed = text.partition("? insufficient data:")[2].partition(";")[0]
    assert listed.count("n = 10") == 8
    assert listed.endswith("and 22 more")


def test_it_is_the_small_group_that_has_insufficient_data():
    """The other one is compared with it, and has no conclusion for that reason alone."""
    assert "? insufficient data: F, n = 10;" in of_counts({"F": (5, 10), "M": (25, 50)})
    groups = {"F": (5, 10), "M": (25, 50), "X": (20, 40)}
    stated = of_counts(groups, reference={"g": "F"})
    assert "comparisons of people with g M or X with people with g F, who are too few." in stated
