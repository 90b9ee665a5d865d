"""Reports of impact ratios alone: what a reader who must publish or judge one is told."""

import polars as pl
import pytest
from tests.selected_groups import selected

import fairgauge as fg
from fairgauge.render import render

CELLS = {
    ("Female", "White"): (300, 600), ("Male", "White"): (330, 600),
    ("Female", "Black"): (150, 420), ("Male", "Black"): (160, 400),
    ("Female", "Asian"): (180, 350), ("Male", "Asian"): (190, 340),
    ("Female", "Native"): (9, 20), ("Male", "Native"): (12, 33),
    (None, "White"): (20, 60), ("Male", None): (22, 40),
}  # fmt: skip


def applicants():
    return pl.DataFrame(
        [
            {"sex": sex, "race": race, "hired": int(i < selected), "score": i / n}
            for (sex, race), (selected, n) in CELLS.items()
            for i in range(n)
        ]
    )


def shown(of):
    return " ".join(render(of, "text", width=100).split())


def test_in_new_york_the_most_selected_category_of_a_small_audit_is_the_reference():
    """Of 15 people, 5% of the applicants, it was passed over: only shares below 2% may be."""
    cells = {"White": (45, 150), "Black": (22, 90), "Hispanic": (13, 45), "Asian": (14, 15)}
    asked = {"preset": "nyc-ll144"}
    few = fg.audit(selected(cells), **asked, rules="selection_rate.ratio >= 0.2")
    ratios = {each.group: each.value for each in few.estimates}
    assert ratios == pytest.approx(
        {name: selected / n * 15 / 14 for name, (selected, n) in cells.items() if name != "Asian"}
    )
    assert few.exit_code == 3
    assert str(few.brief().headline) == "No difference between groups could be tested"
    small = fg.audit(selected(cells), **{**asked, "preset": "ugesp"})
    assert {each.reference.group for each in small.estimates if each.reference} == {"White"}
    assert "difference between groups with sufficient data" in str(small.brief().headline)
    two = {name: cells[name] for name in ("White", "Asian")}
    none = fg.audit(selected(two), **{**asked, "preset": "ugesp"})
    assert str(none.brief().headline) == "No difference between groups could be tested"


def test_an_undecided_rule_names_the_rows_without_a_group():
    """Of 0.91 with a confidence interval above 0.8 it is not obvious why nothing is decided."""
    of = fg.audit(
        applicants().vstack(
            applicants().head(400).with_columns(pl.lit(None, pl.String).alias("sex"))
        ),
        prediction="hired",
        positive=1,
        sensitive="sex",
        reference="best",
        rules=["selection_rate.ratio >= 0.8"],
        metrics=["selection_rate.ratio"],
    )
    undecided = "INCONCLUSIVE for Female (0.91, 95% CI 0.84 to 0.98; the 460 rows without a group"
    assert f"{undecided} could change that)" in shown(of)
