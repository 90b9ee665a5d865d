"""People whose words nobody stated are called as their column and value allow, and no further."""

from __future__ import annotations

from typing import Any

import pytest

from fairgauge.render.grammar import Grammar
from fairgauge.results.statement import Side


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
