"""The syntax of the command line: escapes, value sets, cuts, references, recodings, rules."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.enums import Decide, Insufficient
from fairgauge.question import readers as syntax
from fairgauge.question.conditions import RowCondition
from fairgauge.question.features import parse_probabilities
from fairgauge.question.options import flag_of
from fairgauge.question.readers import Location
from fairgauge.question.recoding import Recoding, not_numbers, ranges_of, recoding_flag
from fairgauge.question.rules import Rule, allows, parse_rule
from fairgauge.question.specification import overridden

UNESCAPED = {
    "sex": "sex", r"a\=b": "a=b", r"a\:b": "a:b", r"a\,b\*c": "a,b*c", r"C:\temp": r"C:\temp",
    r"a\\=b": r"a\=b", "": "",
}  # fmt: skip
SENSITIVE = {
    "sex": "sex", "race=Black,Hispanic": {"column": "race", "values": ["Black", "Hispanic"]},
    r"race=Black\, other,Asian": {"column": "race", "values": ["Black, other", "Asian"]},
    "race=a=b": {"column": "race", "values": ["a=b"]},
    "race=a:b": {"column": "race", "values": ["a:b"]},
    r"a\=b=c": {"column": "a=b", "values": ["c"]},
    "age:40:left": {"column": "age", "cuts": [40.0], "closed": "left"},
    "age:40:midle": {"column": "age", "cuts": [40.0], "closed": "midle"},
    "age:40,60.5": {"column": "age", "cuts": [40.0, 60.5]},
    "t:-1e3": {"column": "t", "cuts": [-1000.0]}, r"t\:x:1": {"column": "t:x", "cuts": [1.0]},
    "a,b": "a,b",
}  # fmt: skip
POSITIVE = {
    ("1",): ["1"], ("a,b", "c"): ["a", "b", "c"], (r"a\,b",): ["a,b"], ("",): [""],
    (">50000",): {"above": 50000.0}, ("> -0.5",): {"above": -0.5}, (">50K",): [">50K"],
    (">=5",): {"above": 5.0, "closed": "left"}, ("<=50K",): ["<=50K"], (">nan",): [">nan"],
}  # fmt: skip
REFERENCE = {
    ("others",): "others", ("race=White",): {"race": "White"}, ("race=a=b",): {"race": "a=b"},
    (r"a\=b=c",): {"a=b": "c"}, ("race=White", "sex=M"): {"race": "White", "sex": "M"},
}  # fmt: skip
NUMBERS = {"7": 7, "0.5": 0.5, "1e3": 1000.0, "x": "x", "": ""}
CASES = [
    *((syntax.parse_names, [text], [meant]) for text, meant in UNESCAPED.items()),
    *((syntax.parse_sensitive, [text], [meant]) for text, meant in SENSITIVE.items()),
    *((syntax.parse_positive, texts, meant) for texts, meant in POSITIVE.items()),
    *((syntax.parse_reference, texts, meant) for texts, meant in REFERENCE.items()),
    *((syntax.parse_number, [text], meant) for text, meant in NUMBERS.items()),
]


@pytest.mark.parametrize(("parse", "texts", "meant"), CASES)
def test_a_flag_is_read_as_a_file_has_it(parse, texts, meant):
    at = Location("flag")
    read = parse(texts, at)
    assert (read, type(read), at.problems) == (meant, type(meant), [])


@pytest.mark.parametrize(
    "text", ["age:a", "age:", "age:1,,2", "age:nan", "age:inf", "time:a=b", "a:1:left:x"]
)
def test_cuts_that_are_no_numbers(text):
    problems = []
    syntax.parse_sensitive([text], Location("sensitive", problems))
    (problem,) = problems
    assert problem.path == "sensitive[0]"
    column, _, rest = text.partition(":")
    assert problem.message == (
        f"the cut points after '{column}:' must be numbers, not {rest!r}; if the colon belongs to "
        r"the column's name, write \:"
    )


def test_flags_are_read_and_written():
    at = Location("flag")
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
    for text, factor in (("w1-w80; acs", 0.05), ("w1-w4; fay 0.5", 1.0)):
        assert syntax.read_replicates(text, at).factors[0] == pytest.approx(factor)
    for text in ("DI >= 0.8", "RD <= 0.1", "-0.1 <= RD <= 0.1", "AD <= 0.123456789"):
        assert str(parse_rule(text)) == text
    assert not at.problems


def test_recodings_are_of_values_and_ranges():
    assert [ranges_of(text) for text in ("25-60", "25", "Zone 1-3")] == [[(25.0, 60.0)], [], []]
    below, above = ranges_of("<25 or 60+")
    assert (below[1] < 25, above) == (True, (60.0, math.inf))
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


@pytest.mark.parametrize(("text", "metric", "low", "high"), [
    ("DI >= 0.8", "DI", 0.8, math.inf), ("DI>=.8", "DI", 0.8, math.inf),
    ("RD <= 1e-1", "RD", -math.inf, 0.1), ("-0.1 <= RD <= 0.1", "RD", -0.1, 0.1),
    ("-0.1<=RD<=+0.1", "RD", -0.1, 0.1), ("|RD| <= 0.1", "RD", -0.1, 0.1),
    ("  selection_rate.ratio >= 1. ", "selection_rate.ratio", 1.0, math.inf),
    ("0 <= TE <= inf", "TE", 0.0, math.inf), ("recall >= 0.5", "true_positive_rate", 0.5, math.inf),
    ("Disparate Impact (DI) >= 0.8", "DI", 0.8, math.inf),
    ("vertex.recall_difference <= 0", "vertex.recall_difference", -math.inf, 0.0),
    ("accuracy >= 0.9", "accuracy", 0.9, math.inf),
    ("| accuracy.difference |<=5e-2", "accuracy.difference", -0.05, 0.05),
])  # fmt: skip
def test_rules_as_text(text, metric, low, high):
    assert parse_rule(text) == Rule(metric, low, high)


@pytest.mark.parametrize(
    "text", ["", "DI", "DI >= ", ">= 0.8", "DI > 0.8", "DI == 1", "0.8 <= DI", "DI >= x", "DI => 1"]
)
def test_text_that_is_no_rule(text):
    with pytest.raises(fg.SpecError) as caught:
        parse_rule(text)
    assert str(caught.value) == (
        f"rule: cannot read {text!r}; write 'METRIC >= X', 'METRIC <= X', 'X <= METRIC <= Y' or "
        "'|METRIC| <= X'"
    )


@given(
    low=st.floats(-0.99, 0), high=st.floats(0, 9), decide=st.sampled_from(Decide),
    features=st.lists(st.text(max_size=2), max_size=2), insufficient=st.sampled_from(Insufficient),
)  # fmt: skip
def test_a_rule_can_be_written_and_read_again(low, high, **more):
    rule = fg.rule("AD", between=(low, high), **more)
    assert fg.rule(**rule.to_dict()) == rule
    assert parse_rule(str(rule)) == fg.rule("AD", between=(low, high))
    assert allows(rule, low)
    assert allows(rule, high)
    assert not allows(rule, high + 1)
