"""What is written on the command line: escapes, value sets, cuts, references, rules."""

from __future__ import annotations

import pytest

from fairgauge.cli import argument_syntax


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
        ("age:40,60.5", {"column": "age", "cuts": [40.0, 60.5]}),
        ("t:-1e3", {"column": "t", "cuts": [-1000.0]}),
        (r"t\:x:1", {"column": "t:x", "cuts": [1.0]}),
        ("a,b", "a,b"),
    ],
)
def test_sensitive(text, meant):
    problems = []
    assert argument_syntax.sensitive(text, "sensitive[0]", problems) == meant
    assert problems == []


@pytest.mark.parametrize("text", ["age:a", "age:", "age:1,,2", "age:nan", "age:inf", "time:a=b"])
def test_cuts_that_are_no_numbers(text):
    problems = []
    argument_syntax.sensitive(text, "sensitive[0]", problems)
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
    assert argument_syntax.positive(texts, "positive", problems) == meant
    assert problems == []


def test_a_cut_stands_alone():
    problems = []
    argument_syntax.positive([">50,000"], "positive", problems)
    assert str(problems[0]) == "positive: a cut such as '>50' stands alone, without other values"


@pytest.mark.parametrize(
    ("texts", "meant"),
    [
        (["rest"], "rest"),
        (["race=White"], {"race": "White"}),
        (["race=a=b"], {"race": "a=b"}),
        ([r"a\=b=c"], {"a=b": "c"}),
        (["race=White", "sex=M"], {"race": "White", "sex": "M"}),
    ],
)
def test_reference(texts, meant):
    problems = []
    assert argument_syntax.reference(texts, "reference", problems) == meant
    assert problems == []


@pytest.mark.parametrize("texts", [["race=White", "rest"], ["race=White", "race=Black"]])
def test_references_that_do_not_go_together(texts):
    problems = []
    argument_syntax.reference(texts, "reference", problems)
    assert str(problems[0]) == (
        f"reference: cannot use {texts[1]!r} here; say either one word, or COL=VALUE once for each "
        "column"
    )


def test_rules_say_which_of_them_is_wrong():
    problems = []
    (rule,) = argument_syntax.rules(
        ["DI>=0.8", "DI => 1", "QQQ <= 1", "2 <= AD <= 1"], "rules", problems
    )
    assert str(rule) == "DI >= 0.8"
    assert [problem.path for problem in problems] == ["rules[1]", "rules[2].metric", "rules[3]"]


@pytest.mark.parametrize(
    ("text", "meant"), [("7", 7), ("0.5", 0.5), ("1e3", 1000.0), ("x", "x"), ("", "")]
)
def test_numbers(text, meant):
    assert argument_syntax.number(text) == meant
    assert type(argument_syntax.number(text)) is type(meant)
