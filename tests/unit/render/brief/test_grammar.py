"""What people are called, and counts of them: neither more nor less than the columns and shares."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairgauge.render.counts import DENOMINATORS, Share
from fairgauge.render.grammar import Grammar
from fairgauge.results.statement import Measure, Range, Side, Statement


def called(words: dict[str, Any], *pairs: tuple[str, str], **values: set[str]) -> str:
    """Return what a group of columns and values is called."""
    return Grammar(words | {"values": values}).name(Side("group", "", pairs))


@pytest.mark.parametrize(
    ("pairs", "people", "applicants"),
    [
        ([("sex", "Female")], "women", "female applicants"),
        ([("Gender", "men")], "men", "male applicants"),
        ([("race", "Black")], "Black people", "Black applicants"),
        ([("sex", "Female"), ("race", "Black")], "Black women", "Black female applicants"),
        ([("race", "Other"), ("sex", "Male")], "men with race “Other”",
         "male applicants with race “Other”"),
        ([("sex", "F")], "people with sex F", "applicants with sex F"),
        ([("color", "Black")], "people with color Black", "applicants with color Black"),
    ],
)  # fmt: skip
def test_adjectives_of_people_stand_before_the_noun(pairs, people, applicants):
    assert called({}, *pairs) == people
    assert called({"noun": "applicants"}, *pairs) == applicants


def test_two_values_are_never_called_alike():
    values = ("Female", "female", "Male")
    found = [called({}, ("sex", value), sex={*values}) for value in values]
    assert found == ["people with sex Female", "people with sex female", "men"]


@pytest.mark.parametrize(("value", "of"), [("Female", "of women"), ("F", "with sex F")])
def test_rows_that_are_no_people_are_of_them(value, of):
    words = {"unit": "applications", "noun": "applications"}
    assert called(words, ("sex", value)) == f"applications {of}"


@pytest.mark.parametrize(
    "words", [{"unit": "children"}, {"noun": "loans"}, {"groups": {"sex": {"Female": "ladies"}}}]
)
def test_words_of_the_user_are_not_guessed_further(words):
    noun = words.get("noun", words.get("unit", "people"))
    assert called(words, ("sex", "Female"), ("age", "old")) == f"{noun} with sex Female and age old"


def test_a_race_alone_among_other_values_is_no_adjective():
    assert called({}, ("race", "White"), race={"White", "Red"}) == "people with race White"


def test_a_word_for_people_that_begins_with_other_keeps_its_order():
    """It was read as that for all other people: "other such workers"."""
    grammar = Grammar({"noun": "other workers"})
    assert grammar.name(Side("others")) == "all other other workers"
    assert grammar.some(Side("others")) == "other other workers"
    assert Grammar({}).some(Side("everyone")) == "people overall"


ENGLISH = Grammar({})


def compared(group: Side, reference: Side, ends: tuple[float, float] | None = None) -> Statement:
    return Statement(
        code="differs", who=group, than=reference, of=Measure("share", "selection rate"),
        interval=None if ends is None else Range(*ends),
        shown=ends is not None and not ends[0] <= 0 <= ends[1],
    )  # fmt: skip


def side(share: Share) -> Side:
    return Side("group", rate=float(share.rate), hits=share.hits, n=share.size)


@st.composite
def shares(draw: st.DrawFn) -> Share:
    size = draw(st.integers(1, 300_000))
    return Share.counted(draw(st.integers(0, size)), size)


@given(shares(), shares(), st.floats(0, 0.2), st.floats(0, 0.2))
def test_counts_state_what_the_shares_do(
    group: Share, reference: Share, below: float, above: float
) -> None:
    difference = float(group.rate - reference.rate)
    interval = (difference - below, difference + above)
    found = ENGLISH.counted(compared(side(group), side(reference), interval))
    mine, theirs = found["counts"]
    if (of := found["per"]) is None:
        assert (mine, theirs) == (group.hits, reference.hits)
        return
    assert of in DENOMINATORS
    assert of <= min(group.size or 0, reference.size or 0)
    for count, share in ((mine, group), (theirs, reference)):
        assert abs(count - share.rate * of) <= Fraction(1, 2)
        assert count not in (0, of) or share.rate in (0, 1)
    assert interval[0] <= (mine - theirs) / of <= interval[1]
    if interval[0] > 0 or interval[1] < 0:
        assert (mine > theirs) == (difference > 0)


def test_weighted_shares_have_no_counts_of_rows() -> None:
    weighted = Side("group", rate=0.36)
    found = ENGLISH.counted(compared(weighted, Side("group", rate=0.5)))
    assert (found["per"], found["counts"]) == (100, (36, 50))
    assert ENGLISH.counted(compared(weighted, side(Share.counted(5, 10)))) is None


@given(st.floats(-1, 1), st.floats(0, 1))
def test_no_end_is_rounded_onto_no_difference(low: float, width: float) -> None:
    text = ENGLISH.ends((low, low + width), compared(Side("group"), Side("others")))
    assert ("no difference" in text) == (0 in (low, low + width))
    assert not re.search(r"\b0(\.0+)? (fewer|more)", text)
    if low < 0 < low + width:
        assert "fewer" in text
        assert "more" in text


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        ((-0.197, -0.143), "between 14 and 20 fewer of 100"),
        ((0.143, 0.197), "between 14 and 20 more of 100"),
        ((-0.011, 0.049), "between 1 fewer and 5 more of 100"),
        ((0.1721, 0.1733), "between 17.21 and 17.33 more of 100"),
    ],
)
def test_ends_are_counts_of_people(interval: tuple[float, float], words: str) -> None:
    assert ENGLISH.ends(interval, compared(Side("group"), Side("others"))) == words
