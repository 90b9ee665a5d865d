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
    return fg.why(
        counted(), prediction="p", positive=1, sensitive="group", count="n", strata="unit"
    )


def counted():
    return pl.DataFrame(
        [
            {"group": group, "unit": unit, "p": p, "n": n}
            for (group, unit), (ones, of) in COUNTS.items()
            for p, n in ((1, ones), (0, of - ones))
        ]
    )


def test_the_gravest_gap_is_the_headline_and_too_few_people_come_last(found):
    order = [gap.estimate.group for _, gap in found.gravest()]
    assert order[0] != found.gaps[0].estimate.group
    remaining = [gap for _, gap in found.gravest() if gap.verdict == found.verdict]
    within = [abs(gap.part("within").value) for gap in remaining]
    assert within == sorted(within, reverse=True)
    assert len(within) > 1
    assert order[-1] == "C"
    assert [found.gaps[i] for i, _ in found.gravest()] == [gap for _, gap in found.gravest()]
    assert found.brief().headline.text == (
        "People with group Z have p = 1 less often than all other people, also within unit on "
        "average"
    )


def test_gaps_that_are_not_shown_do_not_stand_on_the_first_page_beside_one_that_is():
    counts = {"Z": (40, 400), "A": (200, 400), "B": (201, 400)}
    rows = [
        {"group": g, "unit": u, "p": p, "n": n}
        for g, (x, of) in counts.items()
        for u in "xy"
        for p, n in ((1, x), (0, of - x))
    ]
    asked = {"sensitive": "group", "reference": {"group": "A"}, "strata": "unit", "count": "n"}
    found = fg.why(pl.DataFrame(rows), prediction="p", positive=1, **asked)
    assert [str(gap.verdict) for gap in found.gaps] == ["no gap shown", "remains"]
    stated = [str(each) for each in found.brief().found]
    assert stated[0] == "Of 100 people with group Z, 10 had p = 1; of 100 people with group A, 50."
    assert stated[-1] == "1 more comparison: people with group B (no gap shown)."
    assert not any("group B" in each for each in stated[:-1])


def test_comparisons_that_are_not_stated_are_named_and_counted_once(found):
    """A difference and a ratio of one rate are one comparison, whatever a page has room for."""
    both = fg.why(
        counted(), prediction="p", positive=1, sensitive="group", count="n", strata="unit",
        metrics=["selection_rate.difference", "selection_rate.ratio"],
    )  # fmt: skip
    assert len(both.gaps) == 2 * len(found.gaps)
    last = [str(one.brief().found[-1]) for one in (found, both)]
    assert last[0] == last[1]
    number, named = int(last[0].split()[0]), last[0].partition(": ")[2]
    assert number == len(found.gaps) - 2 == named.count("people with group")
    text = render(found, "text", full=True)
    assert text.index("Z (group)") < text.index("B (group)")


def test_a_gap_in_pay_is_stated_as_averages():
    pay = {("F", "x"): 30, ("F", "y"): 40, ("M", "x"): 33, ("M", "y"): 43}
    rows = [{"sex": s, "unit": u, "pay": mean + d} for (s, u), mean in pay.items()
            for d in (-1, 1) for _ in range(20 + 40 * ((s == "F") == (u == "x")))]  # fmt: skip
    found = fg.why(pl.DataFrame(rows), label="pay", task="regression", sensitive="sex",
                   reference={"sex": "M"}, strata="unit")  # fmt: skip
    brief = found.brief()
    assert str(brief.headline) == (
        "Average pay is lower for people with sex F than for people with sex M, also within unit"
    )
    average, parts = map(str, brief.found)
    assert average == (
        "Average pay: 8.0 lower for people with sex F (32.5) than for people with sex M (40.5), "
        "0.80 times as high."
    )
    assert parts == (
        "Composition by unit accounts for an average 5 lower; within unit the average is 3 lower."
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
    assert "INCONCLUSIVE: INSUFFICIENT DATA: C" in text
    assert "The verdicts hold for all 4 gaps together (Holm)" in text


def test_the_gap_of_berkeley_is_stated_as_counts():
    brief = result("why").brief()
    assert str(brief.headline) == (
        "Women were admitted less often than all other applicants; the difference is in the other "
        "direction in Dept A (Female 20.3 pp higher than others, elsewhere 0.0 pp; "
        "adjusted\u00a0p\u00a0<\u00a00.001)"
    )
    shares, parts, outlying = map(str, brief.found)
    assert shares == "Of 100 women, 30 were admitted; of 100 other applicants, 45."
    accounts = "Composition by Dept accounts for 17.8 fewer of 100; within Dept the difference"
    assert parts == f"{accounts} is 3.6 more."
    rates = "of 100 women, 82 were admitted; of 100 other applicants, 62"
    assert outlying == f"In Dept A the difference is in the other direction: {rates}."
