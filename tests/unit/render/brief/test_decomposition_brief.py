"""The brief of several gaps: the gravest first, each sentence with the name of its group."""

from __future__ import annotations

import polars as pl
import pytest
from tests.every_result import result

import fairgauge as fg
from fairgauge.render.formats import render

# Z remains within both units, B is accounted for by them, and few rows are of C
COUNTS = {
    ("Z", "x"): (20, 200), ("Z", "y"): (60, 200), ("B", "x"): (190, 600), ("B", "y"): (60, 100),
    ("C", "x"): (2, 8), ("C", "y"): (3, 8), ("D", "x"): (70, 200), ("D", "y"): (380, 600),
}  # fmt: skip


@pytest.fixture(scope="module")
def found():
    rows = [
        {"group": group, "unit": unit, "p": p, "n": n}
        for (group, unit), (ones, of) in COUNTS.items()
        for p, n in ((1, ones), (0, of - ones))
    ]
    return fg.why(
        pl.DataFrame(rows), prediction="p", positive=1, sensitive="group", count="n", strata="unit"
    )


def test_the_gravest_gap_is_the_headline_and_too_few_people_come_last(found):
    order = [gap.estimate.group for _, gap in found.gravest()]
    assert order[0] != found.gaps[0].estimate.group
    assert order[-1] == "C"
    assert [found.gaps[i] for i, _ in found.gravest()] == [gap for _, gap in found.gravest()]
    assert found.brief().headline.text == (
        f"People with group {order[0]} have p = 1 more often than all other people, "
        "also within unit"
    )


def test_what_is_certain_is_of_the_group_that_is_named(found):
    brief = found.brief()
    assert brief.certainty
    for sentence in brief.certainty:
        place = int(sentence.sources[0].partition("[")[2].partition("]")[0])
        named = [each.text for each in brief.certainty if f"gaps[{place}]" in each.sources[0]]
        assert named[0].startswith(f"{found.gaps[place].estimate.group}: ")


def test_the_verdict_names_groups_by_what_becomes_of_their_gaps(found):
    text = " ".join(render(found, "text").split())
    assert "REMAINS WITHIN" in text
    assert "INCONCLUSIVE: C" in text
    assert "The verdicts hold for all 4 gaps together (Holm)" in text


def test_the_gap_of_berkeley_is_stated_as_counts():
    brief = result("why").brief()
    assert str(brief.headline) == (
        "Women were admitted less often than all other applicants; within Dept the difference "
        "varies; Dept A (+20.3 pp, all others 0.0 pp) is unlike the others"
    )
    shares, parts, outlying = map(str, brief.found)
    assert shares == "Of 100 women, 30 were admitted; of 100 other applicants, 45."
    accounts = "Which Dept people are in accounts for 17.8 fewer of 100; within Dept the difference"
    assert parts == f"{accounts} is 3.6 more."
    rates = "of 100 women, 82 were admitted; of 100 other applicants, 62"
    assert outlying == f"Dept A is unlike the others: {rates}."
