"""The syntax of the command line: escapes, value sets, cuts, references, rules."""

import pytest

from fairgauge.question import readers as argument_syntax
from fairgauge.question.conditions import RowCondition
from fairgauge.question.features import parse_probabilities
from fairgauge.question.options import flag_of
from fairgauge.question.readers import Location
from fairgauge.question.recoding import Recoding, not_numbers, ranges_of, recoding_flag
from fairgauge.question.spec_file import overridden


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("sex", "sex"),
        (r"a\=b", "a=b"),
        (r"a\:b", "a:b"),
        (r"a\,b\*c", "a,b*c"),
        (r"C:\temp", r"C:\temp"),
        (r"a\\=b", r"a\=b"),
        ("", ""),
    ],
)
def test_a_backslash_escapes_four_characters(text, meant):
    assert argument_syntax.unescape(text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("sex", "sex"),
        ("race=Black,Hispanic", {"column": "race", "values": ["Black", "Hispanic"]}),
        (r"race=Black\, other,Asian", {"column": "race", "values": ["Black, other", "Asian"]}),
        ("race=a=b", {"column": "race", "values": ["a=b"]}),
        ("race=a:b", {"column": "race", "values": ["a:b"]}),
        (r"a\=b=c", {"column": "a=b", "values": ["c"]}),
        ("age:40:left", {"column": "age", "cuts": [40.0], "closed": "left"}),
        ("age:40:midle", {"column": "age", "cuts": [40.0], "closed": "midle"}),
        ("age:40,60.5", {"column": "age", "cuts": [40.0, 60.5]}),
        ("t:-1e3", {"column": "t", "cuts": [-1000.0]}),
        (r"t\:x:1", {"column": "t:x", "cuts": [1.0]}),
        ("a,b", "a,b"),
    ],
)
def test_sensitive(text, meant):
    problems = []
    assert argument_syntax.parse_sensitive([text], Location("sensitive", problems)) == [meant]
    assert problems == []


@pytest.mark.parametrize(
    "text", ["age:a", "age:", "age:1,,2", "age:nan", "age:inf", "time:a=b", "a:1:left:x"]
)
def test_cuts_that_are_no_numbers(text):
    problems = []
    argument_syntax.parse_sensitive([text], Location("sensitive", problems))
    (problem,) = problems
    assert problem.path == "sensitive[0]"
    column, _, rest = text.partition(":")
    assert problem.message == (
        f"the cut points after '{column}:' must be numbers, not {rest!r}; if the colon belongs to "
        r"the column's name, write \:"
    )


@pytest.mark.parametrize(
    ("texts", "meant"),
    [
        (["1"], ["1"]),
        (["a,b", "c"], ["a", "b", "c"]),
        ([r"a\,b"], ["a,b"]),
        ([">50000"], {"above": 50000.0}),
        (["> -0.5"], {"above": -0.5}),
        ([">50K"], [">50K"]),
        (["<=50K"], ["<=50K"]),
        ([">nan"], [">nan"]),
        ([""], [""]),
    ],
)
def test_positive(texts, meant):
    problems = []
    assert argument_syntax.parse_positive(texts, Location("positive", problems)) == meant
    assert problems == []


@pytest.mark.parametrize(
    ("texts", "meant"),
    [
        (["others"], "others"),
        (["race=White"], {"race": "White"}),
        (["race=a=b"], {"race": "a=b"}),
        ([r"a\=b=c"], {"a=b": "c"}),
        (["race=White", "sex=M"], {"race": "White", "sex": "M"}),
    ],
)
def test_reference(texts, meant):
    problems = []
    assert argument_syntax.parse_reference(texts, Location("reference", problems)) == meant
    assert problems == []


@pytest.mark.parametrize(
    ("text", "meant"), [("7", 7), ("0.5", 0.5), ("1e3", 1000.0), ("x", "x"), ("", "")]
)
def test_numbers(text, meant):
    number = argument_syntax.parse_number([text], Location("seed"))
    assert number == meant
    assert type(number) is type(meant)


def test_flags_are_read_and_written():
    at, syntax = Location("flag"), argument_syntax
    assert syntax.parse_positive([">50000"], at) == {"above": 50000.0}
    by_column = syntax.parse_positive(["y=yes,1", "p=a"], at, ["y", "p"])
    assert (by_column, syntax.parse_positive(["y=1"], at)) == (
        {"y": ["yes", "1"], "p": ["a"]}, ["y=1"])  # fmt: skip
    listed = syntax.parse_listed_features(["sex,age:40,60,race"], at)
    assert listed == ["sex", {"column": "age", "cuts": [40.0, 60.0]}, "race"]
    named = syntax.parse_words(["noun=applicants", "groups.sex.F=women"], at)
    assert named == {"noun": "applicants", "groups": {"sex": {"F": "women"}}}
    (race,) = parse_probabilities(["race: B=p_b, W=p_w; known=k"], at)
    assert race == {"name": "race", "probabilities": {"B": "p_b", "W": "p_w"}, "known": "k"}
    assert list(map(syntax.escape, ("a=b", 1.0, True))) == [r"a\=b", "1", "true"]
    assert flag_of("unknown", ["refused, or no answer"]) == r"--unknown 'refused\, or no answer'"
    assert flag_of("reference", {"sex*race": ["F", "B"]}) == r"--reference 'sex\*race=F & B'"
    condition = RowCondition("race", ("A or B", 1, None))
    assert condition.to_text() == 'race = "A or B" or 1 or (missing)'
    assert not at.problems


def test_replicate_weights_have_factors():
    for text, factor in (("w1-w80; acs", 0.05), ("w1-w4; fay 0.5", 1.0)):
        factors = argument_syntax.read_replicates(text, Location()).factors
        assert factors[0] == pytest.approx(factor)


def test_recodings_are_of_values_and_ranges():
    assert [ranges_of(text) for text in ("25-60", "25", "Zone 1-3")] == [[(25.0, 60.0)], [], []]
    below, above = ranges_of("<25 or 60+")
    assert (below[1] < 25, above) == (True, (60.0, float("inf")))
    sex = Recoding("sex", (("Male", ("M", 1)), ("unknown", ("?",))))
    assert sex.apply(["M", 1, "?", "F"]) == ["Male", "Male", None, "F"]
    age = Recoding("age", (("inside", ("25-60",)),))
    assert age.apply([24, 25, "60", "NA"]) == ["24", "inside", "inside", "NA"]
    line = recoding_flag('sex = {unknown = ["Don\'t know"]}')
    assert line == """--recode 'sex = {unknown = ["Don'"'"'t know"]}' (recode)"""
    assert not_numbers("n", ["0,25"], recoded=False).endswith("an empty cell for none")


def test_conditions_of_a_file_give_way_to_those_of_their_column():
    file = {"label": "y", "where": {"year": 2025, "site": "A"}}
    given = {"label": "z", "where": ["site = B"]}
    assert overridden(file, given) == {"label": "z", "where": [{"year": [2025]}, "site = B"]}
