"""The syntax of the command line: escapes, value sets, cuts, references, rules."""

import pytest

from fairgauge.question import readers as argument_syntax
from fairgauge.question.readers import Location


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
