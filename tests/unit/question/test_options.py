"""The table of options: everything that is derived from it, or held to it, has exactly its rows."""

import json
from dataclasses import replace

import click
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.cli._arguments import question, read_question
from fairgauge.enums import ReferenceRule
from fairgauge.monitoring.monitor_spec import schema
from fairgauge.question import option_types as types
from fairgauge.question.option_types import DOCUMENT_KEYS
from fairgauge.question.options import BY_NAME, OPTIONS, Options, Spec, flags_of
from fairgauge.question.specification import ask, read_options, read_spec
from fairgauge.reasons import ReasonCode
from fairgauge.render import render
from fairgauge.render.documents.report_notes import repetition

NAMES = [option.name for option in OPTIONS]

TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=4
)
HOSTILE = st.text("=:*,\\>%<ab1.", min_size=1, max_size=4)
NAME = TEXT | HOSTILE | st.sampled_from(["others", "rest", "median", "all", "best", "none"])
COLUMN = st.sampled_from(["s", "t", "a=b", "rest"])
SCALAR = NAME | st.booleans() | st.integers(-99, 99) | st.floats(-9, 9)
CUTS = st.lists(st.integers(-9, 9) | st.floats(-9, 9), min_size=1, max_size=3)
FEATURE = (
    st.builds(lambda c: {"column": c}, COLUMN)
    | st.builds(lambda c, v: {"column": c, "values": v}, COLUMN, st.lists(SCALAR, min_size=1))
    | st.builds(
        lambda c, p, e: {"column": c, "cuts": p, "closed": e},
        COLUMN, CUTS, st.sampled_from(["left", "right"]),
    )
)  # fmt: skip
RULE_TEXT = st.sampled_from(["DI >= 0.8", "-0.1 <= RD <= 0.1", "accuracy >= 0.9"])
RULE = RULE_TEXT | st.fixed_dictionaries(
    {"metric": st.sampled_from(["AD", "recall"]), "at_most": st.floats(-9, 9)},
    optional={"groups": st.lists(NAME, max_size=2),
              "decide": st.sampled_from(["interval", "point"]),
              "insufficient": st.sampled_from(["report", "pass", "fail", "ignore"])},
)  # fmt: skip
BARE = NAME.filter(lambda name: name and name == name.strip())
GROUPS = st.lists(BARE, min_size=2, max_size=4, unique=True)
UNRECORDED = st.fixed_dictionaries(
    {"name": BARE, "probabilities": GROUPS.map(lambda names: {n: f"p {n}" for n in names})},
    optional={"known": BARE, "assume": st.sampled_from(["given_group", "nothing"]),
              "tolerance": st.floats(0.001, 0.1)},
)  # fmt: skip
OF_TYPE = {
    types.COLUMN: NAME, types.COLUMNS: st.lists(NAME, min_size=1, max_size=3),
    types.REPLICATES: st.sampled_from(["w1-w4; acs", "a,b; fay 0.3", "r01-r12; jkn 0.5"]),
    types.ACCEPTED: st.lists(
        st.sampled_from(["same_names", "one_label:y", "reversed_scores:s"]), min_size=1, max_size=3
    ),
    types.NAMES: st.lists(NAME, min_size=1, max_size=3),
    types.GROUPS: st.lists(NAME, min_size=1, max_size=3), types.VALUE: SCALAR,
    types.VALUES: st.lists(SCALAR, min_size=1, max_size=3),
    types.RANGE: st.tuples(st.floats(-9, -1), st.floats(2, 9)),
    types.THRESHOLD: st.lists(st.floats(0, 1), min_size=1, max_size=3) | st.just("median"),
    types.POSITIVE: st.lists(SCALAR, min_size=1)
    | st.fixed_dictionaries({"above": st.floats()}, optional={"closed": st.just("left")}),
    types.FEATURES: st.lists(FEATURE, min_size=1, max_size=3),
    types.PROBABILITIES: st.lists(UNRECORDED, max_size=2, unique_by=lambda each: each["name"]),
    types.STRATA: st.lists(FEATURE.filter(lambda f: "values" not in f), min_size=1, max_size=3),
    types.INTERSECTIONS: st.lists(st.lists(NAME, min_size=2, max_size=3, unique=True), max_size=2),
    types.REFERENCE: st.sampled_from(list(ReferenceRule)) | st.dictionaries(COLUMN, SCALAR),
    types.METRICS: st.just(["DI", "accuracy"]) | st.just(["generalized_entropy(alpha=3)"]),
    types.MARGINS: st.dictionaries(st.sampled_from(["accuracy", "recall"]), st.floats(0, 9)),
    types.RECODE: st.dictionaries(
        NAME, st.fixed_dictionaries({"A": st.just(["a", 1]), "unknown": st.just([""])}), max_size=2
    ),
    types.CONDITIONS: st.dictionaries(
        COLUMN,
        st.lists(SCALAR | st.none(), min_size=1, max_size=3)
        | st.just([{"low": 1.5, "high": "Infinity", "closed": "right"}, None])
        | st.just([{"low": -2.0, "high": 3.0, "closed": "left"}]),
        max_size=2,
    ),
    types.RULES: st.lists(RULE, max_size=3),
    types.WORDS: st.fixed_dictionaries(
        {},
        optional={
            "noun": st.sampled_from(["applicants", "people = all"]),
            "positive": st.just("approved"),
        },
    ),
    types.CHECKS: st.fixed_dictionaries(
        {}, optional={"words": st.just({"total": ["todos"], "undecided": ["a, b", "c = d"]})}
    ),
    types.DOCUMENT: st.dictionaries(st.sampled_from(list(DOCUMENT_KEYS)), NAME, max_size=3),
}  # fmt: skip
"""Values of every type of option; of numbers and words, `values` knows them by their schema."""


def values(option):
    if option.type.words:
        return st.sampled_from(option.type.words)
    numbers = option.type.schema
    if numbers.get("type") == "integer":
        return st.integers(numbers["minimum"], 99)
    if numbers.get("type") == "number":
        return st.floats(0.01, 0.99)
    return OF_TYPE[option.type]


@st.composite
def specs(draw):
    """Return a specification, of any of the options."""
    names = draw(st.sets(st.sampled_from(NAMES), max_size=6))
    options = {name: draw(values(BY_NAME[name])) for name in NAMES if name in names}
    try:
        return ask(**{"sensitive": ["s", "t", "a=b", "rest"]} | options)
    except fg.SpecError:
        reject()  # options that contradict each other


def parsed(words):
    """Return the specification that flags ask for, parsed as a command does."""

    @click.command()
    @question()
    def command(config, **flags):
        return ask(**read_question(config, flags))

    return command.main(words, standalone_mode=False)


def as_text(value):
    """Return values as the command line has them: 1 and "1" are one text."""
    if isinstance(value, dict):
        return {key: as_text(each) for key, each in value.items()}
    if isinstance(value, list):
        return [as_text(each) for each in value]
    return str(value).lower() if isinstance(value, bool) else str(value)


def test_the_typed_keywords_of_an_audit_are_the_table():
    assert list(Options.__annotations__) == NAMES == list(Spec.__dataclass_fields__)


def test_the_schema_has_every_option():
    properties = schema()["properties"]
    assert list(properties) == [*NAMES, "monitor"]
    assert [properties[option.name]["description"] for option in OPTIONS] == [
        f"{option.description}." for option in OPTIONS
    ]


def test_every_option_has_its_flags():
    command = click.command(question()(lambda **_: None))
    flags = [parameter.opts[-1] for parameter in command.params]
    expected = [option.flag for option in OPTIONS]
    assert flags == ["--config", *expected]


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_descriptions_are_noun_phrases(option):
    for text in (option.description, option.effect):
        assert not text.endswith(".")
        assert "  " not in text
    assert option.description[0].isupper()


@given(specs())
@settings(suppress_health_check=[HealthCheck.filter_too_much])
def test_every_specification_can_be_written_and_read_again(tmp_path_factory, spec):
    written = json.loads(json.dumps(spec.to_dict()))
    assert ask(**spec.to_dict()) == spec
    left_out = {name: getattr(Spec(), name) for name in ("metrics", "rules", "recode", "checks")}
    assert read_spec(written) == replace(spec, **left_out)  # what statements read of a result
    path = tmp_path_factory.mktemp("spec") / "audit.json"
    path.write_text(json.dumps(written), encoding="utf-8")
    assert ask(**read_options(path)) == spec


@given(specs())
@settings(suppress_health_check=[HealthCheck.filter_too_much])
def test_flags_ask_the_same_question(spec):
    # an empty list has no flag, so that a preset's own holds; reports state what was asked
    spec = ask(**{key: value for key, value in spec.to_dict().items() if value not in ([], {})})
    words = flags_of(spec.to_dict())
    if words is not None:
        assert as_text(parsed(words).to_dict()) == as_text(spec.to_dict())


def report(**changed):
    made = fg.audit(fg.confusion("sex", {"F": {"tp": 5, "fn": 5}, "M": {"tp": 9, "fn": 1}}))
    return replace(made, spec=made.spec | changed)


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_a_comparison_states_every_option_that_differs(option):
    if option.name in ("label", "positive", "task"):
        pytest.skip("reports that differ in it are not compared")
    given = {"favourable": "negative", "words": {"positive": "hired"}, "confidence": 0.9}
    other = given.get(option.name, "another")
    found = fg.compare(report(), report(**{option.name: other}))
    stated = [(each.key, each.says) for each in found.differences]
    assert stated == ([] if option.described else [(option.name, option.effect)])
    assert found.refused is not None  # the same rows
    reasons = (found.refused, *(found.refused.get("reasons") or ()))
    asked_differently = ReasonCode.ASKED_DIFFERENTLY in {each.code for each in reasons}
    assert asked_differently is (not option.comparable)


@pytest.mark.parametrize(
    ("source", "data"),
    [("loans.csv", "loans.csv"), ("/in/loans.csv", "/in/loans.csv"), ("pandas frame", "DATA")],
)
def test_a_command_names_a_file_or_leaves_a_place_for_one(source, data):
    made = report()
    of = replace(made, data=replace(made.data, source=source))
    assert repetition(of)[1] is None
    assert repetition(of)[0].startswith(f"fairgauge audit {data} ")
    rules = [{"metric": "DI", "at_least": 0.8, "groups": "F"}]
    by_file = replace(of, spec=of.spec | {"rules": rules})
    by = (f"fairgauge audit {data} -c audit.json", "audit.json")
    assert repetition(by_file) == by
    assert f"fairgauge audit {data} -c audit.json" in render(by_file, "html")
