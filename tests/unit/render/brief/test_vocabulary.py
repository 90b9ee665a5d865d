"""People whose words nobody stated are called as their column and value allow, and no further."""

from __future__ import annotations

import pytest

from fairgauge.identity import FeatureId, GroupId, ValueSet
from fairgauge.render.brief._vocabulary import AllPeople, Vocabulary, some, such


def group(*pairs):
    """Return a feature and one group of it, from columns and values."""
    columns, values = zip(*pairs, strict=True)
    found = GroupId.of(*(ValueSet((value,)) for value in values))
    return "*".join(columns), found.name(), FeatureId(columns), found


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
    of, name, *ids = group(*pairs)
    other = group(*((column, "Asian" if column == "race" else value) for column, value in pairs))
    for spec, expected in (({}, people), ({"words": {"noun": "applicants"}}, applicants)):
        words = Vocabulary(spec, [(of, name, *ids), other])
        assert words.group(of, name) == expected


def test_two_values_are_never_called_alike():
    named = [group(("sex", value)) for value in ("Female", "female", "Male")]
    words = Vocabulary({}, named)
    found = [words.group("sex", value) for value in ("Female", "female", "Male")]
    assert found == ["people with sex Female", "people with sex female", "men"]


@pytest.mark.parametrize(("value", "of"), [("Female", "of women"), ("F", "with sex F")])
def test_rows_that_are_no_people_are_of_them(value, of):
    words = Vocabulary({}, [group(("sex", value))], unit="applications", repeated=True)
    assert words.group("sex", value) == f"applications {of}"


@pytest.mark.parametrize(
    "words",
    [
        {"unit": "children"},
        {"noun": "loans"},
        {"groups": {"sex": {"Female": "ladies"}}},
    ],
)
def test_words_of_the_user_are_not_guessed_further(words):
    of, name, *ids = group(("sex", "Female"), ("age", "old"))
    noun = words.get("noun", "people")
    found = Vocabulary({"words": words}, [(of, name, *ids)]).group(of, name)
    assert found == f"{noun} with sex Female and age old"


def test_a_race_alone_among_other_values_is_no_adjective():
    wines = [group(("race", value)) for value in ("White", "Red")]
    assert Vocabulary({}, wines).group("race", "White") == "people with race White"


def test_a_word_for_people_that_begins_with_other_keeps_its_order():
    """It was read as that for all other people: "other such workers"."""
    assert such("other workers") == "such other workers"
    assert some("all hands") == "all hands"
    of_others = AllPeople("other workers", other=True)
    assert (of_others, some(of_others)) == ("all other other workers", "other other workers")
    assert such(AllPeople("people", other=True)) == "other such people"
    assert some(AllPeople("people")) == "people overall"
