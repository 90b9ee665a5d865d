"""The document of a decomposition: what is filed, and the command that repeats it."""

from __future__ import annotations

import re
import shlex

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from tests.every_result import loans, result

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.render import render
from fairgauge.render._document_tree import Chart, Code, Facts, Heading, SignOff, Table
from fairgauge.render.charts.charts import placed
from fairgauge.render.document import document as decomposition_document

ASKED = {
    "words": {"prediction": "approved", "positive": "yes", "sensitive": "sex", "strata": "region",
              "words": {"noun": "applicants", "groups": {"sex": {"Female": "women"}}}},
    "controls": {"prediction": "approved", "positive": "yes", "sensitive": "sex",
                 "strata": ["region"], "controls": [fg.cut("score", [0.2, 0.4])]},
    "margins": {"label": "repaid", "positive": "yes", "sensitive": ["race"],
                "reference": {"race": "White"}, "strata": "region",
                "margins": {"base_rate": 0.05}},
    "quantiles": {"prediction": "approved", "positive": "yes", "sensitive": "sex",
                  "strata": fg.cut("score", "quantiles")},
}  # fmt: skip


def blocks_filed(found):
    return list(decomposition_document(found, full=True).filed)


@pytest.mark.parametrize("name", ASKED)
def test_the_command_that_is_filed_repeats_the_decomposition(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    loans().write_csv("loans.csv")
    found = fg.why("loans.csv", **ASKED[name])
    (line,) = [each.text for each in blocks_filed(found) if isinstance(each, Code)]
    program, *arguments = shlex.split(line)
    assert program == "fairgauge"
    again = CliRunner().invoke(main, [*arguments, "-o", "again.json", "-q"])
    assert again.exit_code == 0, again.output
    same = fg.load("again.json")
    assert [gap.parts for gap in same.gaps] == [gap.parts for gap in found.gaps]
    assert [gap.strata for gap in same.gaps] == [gap.strata for gap in found.gaps]
    assert [gap.verdict for gap in same.gaps] == [gap.verdict for gap in found.gaps]
    assert {**same.spec} == {**found.spec}


def test_what_is_filed_has_sources_method_and_room_for_signatures():
    found = result("why")
    blocks = blocks_filed(found)
    facts = dict(pair for each in blocks if isinstance(each, Facts) for pair in each.pairs)
    assert facts["fingerprint of the counts"] == found.fingerprint
    assert found.fingerprint.startswith("sha256:")
    assert facts["made at"] == found.created
    assert isinstance(blocks[-1], SignOff)
    titles = [each.text for each in blocks if isinstance(each, Heading)]
    assert "Method and excluded rows" in titles


def test_counts_that_are_in_no_file_leave_a_place_for_one():
    rows = pl.DataFrame({"p": [1, 0, 1, 0] * 30, "g": ["a", "a", "b", "b"] * 30,
                         "s": (["x"] * 4 + ["y"] * 4) * 15})  # fmt: skip
    found = fg.why(rows, prediction="p", sensitive="g", strata="s")
    (line,) = [each.text for each in blocks_filed(found) if isinstance(each, Code)]
    assert line.startswith("fairgauge why DATA ")


def test_what_is_filed_of_several_gaps_has_the_parts_of_one_and_the_others():
    found = fg.why(loans(), prediction="approved", positive="yes", sensitive=["sex", "race"],
                   strata="region")  # fmt: skip
    tables = [each.caption for each in blocks_filed(found) if isinstance(each, Table)]
    assert tables == ["Parts of the gap", "Strata", "Other gaps"]
    one = [each.caption for each in blocks_filed(result("why")) if isinstance(each, Table)]
    assert one == ["Parts of the gap", "Strata"]


@pytest.mark.parametrize("scale", ["difference", "ratio"])
def test_the_number_of_a_part_is_the_length_of_its_bar_which_has_no_dot(scale):
    """A dot stood where the bar of "within" ended, at −14.2, and beside it its number, +3.6."""
    rows = pl.DataFrame({"p": [1, 0, 1, 0] * 2, "g": ["a", "a", "b", "b"] * 2,
                         "s": ["x"] * 4 + ["y"] * 4,
                         "n": [80, 20, 620, 380, 70, 930, 25, 375]})  # fmt: skip
    asked = {"prediction": "p", "sensitive": "g", "strata": "s", "count": "n"}
    found = fg.why(rows, **asked, metrics=[f"selection_rate.{scale}"])
    sections, ratio = decomposition_document(found, full=True).sections, scale == "ratio"
    charts = (block for each in sections for block in each.blocks if isinstance(block, Chart))
    (waterfall,) = (each for each in charts if each.caption == "The gap and its parts")
    rows = placed(waterfall).rows
    for row, before in zip(rows, [None, *rows], strict=False):
        mark, start = row.row.mark.value, row.row.start
        length = mark / start if ratio else mark - start
        number = float(row.row.text.removesuffix(" pp").replace("−", "-"))
        assert number == pytest.approx(length if ratio else 100 * length, abs=0.051)
        assert row.mark.at is None
        assert row.part is not None
        # the gap and what remains of it by regression are no parts
        assert start == (before.row.mark.value if before and not row.row.emphasis else ratio)
    assert [row.row.emphasis for row in rows] == [False, False, True, True]


@pytest.mark.parametrize("favourable", ["positive", "negative"])
@pytest.mark.parametrize("metric", ["selection_rate.difference", "selection_rate.ratio"])
def test_the_parts_of_a_gap_say_which_side_is_worse_for_whom(metric, favourable):
    asked = {"prediction": "approved", "positive": "yes", "sensitive": "sex", "metrics": [metric]}
    words = {"positive": "approved",
             "groups": {"sex": {"Female": "women", "Male": "men"}}}  # fmt: skip
    found = fg.why(loans(), **asked, strata="region", words=words, favourable=favourable)
    charts = [
        each
        for each in decomposition_document(found, full=True).exhibits
        if isinstance(each, Chart)
    ]
    assert [each.caption for each in charts] == [
        "The gap and its parts",
        "Difference in each region",
    ]
    ratio = metric.endswith("ratio")
    one, other = ("men", "women")[:: -1 if found.gaps[0].estimate.group == "Female" else 1]
    worse = one if favourable == "positive" else other
    for chart, at in zip(charts, ("1" if ratio else "0", "0"), strict=True):
        assert chart.legend.startswith(
            f"Below {at}: {one.capitalize()} are approved less often than {other} (worse for "
            f"{worse}); above it the reverse."
        )


def test_the_parts_of_a_gap_in_pay_say_which_side_is_lower_for_whom():
    pay = [3_000.0 + i % 7 * 10 - (100 if i % 2 else 0) for i in range(400)]
    rows = {"sex": ["m", "f"] * 200, "pay": pay, "grade": [1, 1, 2, 2] * 100}
    asked = {"label": "pay", "sensitive": "sex", "strata": "grade", "task": "regression"}
    for more, note in (({}, ""), ({"favourable": "higher"}, " (worse for people with sex f)")):
        found = fg.why(pl.DataFrame(rows), **asked, reference={"sex": "m"}, **more)
        chart, *_ = decomposition_document(found, full=True).exhibits
        assert chart.legend.startswith(
            "Below 0: Average pay is lower for people with sex f than for people with sex m"
            f"{note}; above it the reverse."
        )


def test_a_notebook_draws_parts_and_strata_by_anchors_of_their_own():
    """Cells of one notebook share their anchors: the second chart had the grid of the first."""
    asked = {"prediction": "approved", "positive": "yes", "sensitive": "sex"}
    shown = [
        render(fg.why(loans(), **asked, strata=strata), "notebook")
        for strata in ("region", fg.cut("score", [0.5]))
    ]
    anchors = [set(re.findall(r'id="(grid[^"]*)"', each)) for each in shown]
    assert [len(each) for each in anchors] == [2, 2]
    assert not anchors[0] & anchors[1]
    for each, own in zip(shown, anchors, strict=True):
        assert "The gap and its parts" in each
        assert set(re.findall(r'href="#(grid[^"]*)"', each)) == own


@pytest.mark.parametrize("seed", range(6))
def test_the_strata_that_are_drawn_are_those_furthest_from_the_others(seed):
    """Strata too small for a test stood last, in the direction of the gap: +12.5 pp was left out.

    What is drawn is what the sentence names, whichever group is the reference.
    """
    rng = np.random.default_rng(seed)
    branch, black = rng.integers(0, 30, 2_400), rng.random(2_400) < rng.uniform(0.1, 0.4)
    drift = rng.normal(0, rng.choice([0.05, 0.2]), 30)[branch]
    approved = rng.random(2_400) < np.clip(0.8 - 0.05 * black + drift * black, 0.02, 0.98)
    rows = pl.DataFrame({
        "approved": np.where(approved, "yes", "no"), "branch": [f"B{i:02}" for i in branch],
        "race": np.where(black, "Black", "White"),
    })  # fmt: skip
    sides = []
    for reference in ("White", "Black"):
        found = fg.why(
            rows, prediction="approved", positive="yes", sensitive="race", strata="branch",
            reference={"race": reference},
        )  # fmt: skip
        (gap,) = found.gaps
        strata = {each.stratum["branch"]: each for each in gap.strata}
        chart = list(decomposition_document(found, full=True).exhibits)[-1]
        drawn = {row.label for row in chart.rows if not row.emphasis}
        assert len(drawn) == 8
        note = "Of 30, the 8 furthest from the others, relative to their intervals"
        assert chart.notes[0].startswith(note)

        def distance(name, strata=strata):
            each = strata[name]
            apart = each.difference - each.others
            low, high = each.interval
            end = each.difference - low if apart > 0 else high - each.difference
            return each.outlying, abs(apart) / end

        assert min(map(distance, drawn)) >= max(map(distance, strata.keys() - drawn))
        sides.append(drawn)
    assert sides[0] == sides[1]
