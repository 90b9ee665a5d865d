"""Specification files: three formats, every mistake with its path, and the JSON Schema."""

# ruff: noqa: E501 - a case is one line, so that the tables read as tables

import contextlib
import json
import math
import os
import tomllib
from dataclasses import FrozenInstanceError
from itertools import pairwise

import jsonschema
import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.catalogue.catalogue import METRICS, RATES
from fairgauge.enums import Profile, ReferenceRule
from fairgauge.monitoring.monitor_spec import schema
from fairgauge.question.features import Feature
from fairgauge.question.option_types import DOCUMENT_KEYS
from fairgauge.question.options import Options
from fairgauge.question.specification import Spec, ask, read_options

TOML = """\
label = "approved"
prediction = "predicted"
positive = [1]
reference = "others"
metrics = ["clarify", "selection_rate.ratio"]
[[sensitive]]
column = "sex"
[[sensitive]]
column = "race"
values = ["Black", "Hispanic"]        # one group: these values together
[[sensitive]]
column = "age"
cuts = [40]                           # (-inf, 40], (40, inf)
[[rules]]
metric = "DI"
at_least = 0.8
features = ["race"]
"""
DOCUMENT = tomllib.loads(TOML)


def written(tmp_path, text, suffix=".toml"):
    path = tmp_path / f"audit{suffix}"
    path.write_text(text, encoding="utf-8")
    return path


def load_spec(path, columns=None):
    return ask(columns, None, **read_options(path))


def mistakes(tmp_path, text, suffix=".toml", columns=None):
    with pytest.raises(fg.SpecError) as caught:
        load_spec(written(tmp_path, text, suffix), columns)
    return [str(problem).replace(f"{tmp_path}{os.sep}", "") for problem in caught.value.problems]


@pytest.mark.parametrize(("text", "suffix"), [
    (TOML, ".toml"),
    *((yaml.safe_dump(DOCUMENT), suffix) for suffix in (".yaml", ".yml")),
    (json.dumps(DOCUMENT), ".json"),
    (f"﻿{json.dumps(DOCUMENT)}", ".JSON"),
])  # fmt: skip
def test_every_format_asks_what_the_library_asks(tmp_path, text, suffix):
    asked = {
        "label": "approved", "prediction": "predicted", "positive": 1,
        "sensitive": ["sex", {"race": ["Black", "Hispanic"]}, fg.cut("age", 40)],
        "metrics": ["clarify", "selection_rate.ratio"],
        "rules": [fg.rule("DI", at_least=0.8, features="race")],
    }  # fmt: skip
    assert load_spec(written(tmp_path, text, suffix)) == ask(**asked)


@pytest.mark.parametrize(("text", "value"), [
    *((word, word) for word in ("yes", "no", "on", "y", "tRUE", "NuLL")),
    ("true", True), ("TRUE", True), ("False", False), ("FALSE", False),
    ("1", 1), ("+2", 2), ("-1.50", -1.5), (".5", 0.5), ("1e3", 1000),
    *((text, text) for text in ("01", "0x1F", "0o17", "1_000", "1:30", "2020-01-01")),
    ("'1'", "1"), ("!!str 1", "1"), ("'null'", "null"),
])  # fmt: skip
def test_yaml_reads_plain_values_as_they_look(tmp_path, text, value):
    spec = load_spec(written(tmp_path, f"label: y\nsensitive: s\npositive: {text}\n", ".yaml"))
    assert [(type(v), v) for v in spec.positive] == [(type(value), value)]


OF_DOCUMENT = ", ".join(DOCUMENT_KEYS)
OF_RULES = "metric, at_least, at_most, between, features, groups, insufficient, decide"
# fmt: off
MISTAKES = [
    ({"label": 5}, ["label: must be the name of a column, not 5"]),
    ({"label": ["y"]}, ['label: must be the name of a column, not ["y"]']),
    ({"threshold": "a"}, ["threshold: must be numbers or 'median', not 'a'"]),
    ({"threshold": [0.5, "a"]}, ["threshold[1]: must be a finite number, not 'a'"]),
    ({"score": "s", "threshold": 1.5}, ["threshold: 1.5 is outside the range of the score, 0 to 1; set another threshold (--threshold T) or the range of the score (--score-range LOW HIGH)"]),
    ({"threshold": 0.3}, ["threshold: has no effect without a score (score, --score COL)"]),
    ({"threshold": 0.5, "prediction": "p"}, ["threshold: has no effect: the prediction is given by the column 'p'; remove one of the two"]),
    ({"seed": 1.5}, ["seed: must be a whole number, 0 or greater, not 1.5"]),
    ({"seed": True}, ["seed: must be a whole number, 0 or greater, not true"]),
    ({"seed": -1}, ["seed: must be a whole number, 0 or greater, not -1"]),
    ({"confidence": 95}, ["confidence: must be a number between 0.5 and 0.999999, not 95"]),
    ({"confidence": 1 - 1e-16}, ["confidence: must be a number between 0.5 and 0.999999, not 0.9999999999999999"]),
    ({"confidence": 1}, ["confidence: must be a number between 0.5 and 0.999999, not 1"]),
    ({"confidence": "0.9"}, ["confidence: must be a number between 0.5 and 0.999999, not '0.9'"]),
    ({"replicates": 0}, ["replicates: must be a whole number between 1 and 10,000,000, not 0"]),
    ({"max_groups": 0}, ["max_groups: must be a whole number between 1 and 100,000, not 0"]),
    ({"min_n": 0}, ["min_n: must be a whole number, 1 or greater, not 0"]),
    ({"min_share": 2}, ["min_share: must be a number between 0 and 1, not 2"]),
    ({"unknown": {"race": "Unknown"}}, ['unknown: must be one value, not {"race": "Unknown"}']),
    ({"unknown": ["Unknown", None]}, ["unknown[1]: must not be missing"]),
    ({"multiplicity": "family"}, ["multiplicity: 'family' is not allowed. Did you mean 'familywise'? Use per-decision or familywise"]),
    ({"document": "x"}, [f"document: must be a table of {OF_DOCUMENT}, not 'x'"]),
    ({"document": {"titel": "x", "author": 5}}, [f"document.titel: unknown key. Did you mean 'title'? Allowed: {OF_DOCUMENT}", "document.author: must be text, not 5"]),
    ({"score_range": [1]}, ["score_range: must be two ascending numbers, [low, high], not [1]"]),
    ({"score_range": [1, 0]}, ["score_range: must be two ascending numbers, [low, high], not [1, 0]"]),
    ({"task": "binry"}, ["task: 'binry' is not allowed. Did you mean 'binary'? Use binary, multiclass or regression"]),
    ({"method": "exakt"}, ["method: 'exakt' is not allowed. Did you mean 'exact'? Use default, exact, bootstrap or bayes"]),
    ({"profile": "Clarify"}, ["profile: 'Clarify' is not allowed. Did you mean 'clarify'? Use documented or clarify"]),
    ({"missing": 0}, ["missing: 0 is not allowed. Use exclude, group, error or ignorable"]),
    ({"reference": "lagest"}, ["reference: 'lagest' is not allowed. Did you mean 'largest'? Use others, overall, largest, best or a group with its column: COLUMN=VALUE, in Python {'column': value} or of an intersection {'a*b': [value of a, value of b]}"]),
    ({"reference": {"rce": "White"}}, ["reference.rce: 'rce' is not an audited feature. Did you mean 'race'?"]),
    ({"sensitive": ["race"], "reference": {"race": "A or B", "rice": "F"}}, ["reference.rice: 'rice' is not an audited feature. Did you mean 'race'?"]),
    ({"sensitive": ["race", "sex"], "reference": {"race": "A", "sx": "F"}}, ["reference.sx: 'sx' is not an audited feature. Did you mean 'sex'?"]),
    ({"reference": {"race": [1]}}, ["reference.race: must be one value, not [1]"]),
    ({"positive": []}, ["positive: must hold at least one value"]),
    ({"positive": [None]}, ["positive[0]: must not be missing"]),
    ({"positive": [[1]]}, ["positive[0]: must be one value, not [1]"]),
    ({"positive": {"abov": 1}}, ["positive.abov: is no label and no prediction; name the positive values of 'y'", "positive: names no value of 'y'; name one of each column"]),
    ({"positive": {"above": "x"}}, ["positive.above: must be a finite number, not 'x'"]),
    ({"metrics": []}, ["metrics: must name at least one metric"]),
    ({"metrics": ["DI", "true_postive_rate.ratio"]}, ["metrics[1]: no metric named 'true_postive_rate.ratio'. Did you mean 'true_positive_rate.ratio'? See: fairgauge metrics"]),
    ({"metrics": 5}, ["metrics[0]: must be a metric or the name of one, not 5"]),
    ({"metrics": [{"name": "cost"}]}, ['metrics[0]: must be a metric or the name of one, not {"name": "cost"}; those of your own are made in Python: fairgauge.rate, fairgauge.quotient']),
    ({"features": {"a": 1}}, ['features: must be a name or a list of names, not {"a": 1}']),
    ({"sensitive": []}, ["sensitive: name at least one sensitive feature (--sensitive COL)"]),
    ({"sensitive": 7}, ["sensitive: must be a list of columns, not 7"]),
    ({"sensitive": [7]}, ["sensitive[0]: must be the name of a column, not 7"]),
    ({"sensitive": [{"column": "race", "value": ["a"]}]}, ["sensitive[0].value: unknown key. Did you mean 'values'? Allowed: column, values, cuts, closed, order"]),
    ({"sensitive": [{"values": ["a"]}]}, ["sensitive[0].column: is missing"]),
    ({"sensitive": [{"column": "race", "values": ["a"], "cuts": [1]}]}, ["sensitive[0]: takes one of values, cuts and order"]),
    ({"sensitive": [{"column": "race", "values": ["a"], "closed": "left"}]}, ["sensitive[0].closed: is the closed edge of intervals and needs cuts, such as cuts = [40]"]),
    ({"sensitive": [{"column": "race", "cuts": [1], "closed": "lft"}]}, ["sensitive[0].closed: 'lft' is not allowed. Did you mean 'left'? Use right or left"]),
    ({"sensitive": [{"column": "race", "cuts": []}]}, ["sensitive[0].cuts: must hold at least one number"]),
    ({"sensitive": [{"column": "race", "values": []}]}, ["sensitive[0].values: must hold at least one value"]),
    ({"sensitive": [{"column": "race", "cuts": ["x"]}]}, ["sensitive[0].cuts[0]: must be a finite number, not 'x'"]),
    ({"sensitive": [{"column": "race", "cuts": [math.inf]}]}, ["sensitive[0].cuts[0]: must be a finite number, not Infinity"]),
    ({"sensitive": ["race", {"column": "race", "cuts": [1]}]}, ["sensitive: column 'race' is asked for twice"]),
    ({"sensitive": [{"race": ["a"]}, {"race": ["b", "a"]}]}, ["sensitive: value 'a' of 'race' is listed twice"]),
    ({"intersections": [5]}, ["intersections[0]: must be a name or a list of names, not 5"]),
    ({"intersections": ["race"]}, ["intersections[0]: must name two or more different columns"]),
    ({"intersections": [["race", "race"]]}, ["intersections[0]: must name two or more different columns"]),
    ({"rules": 5}, ["rules[0]: must be a rule, such as 'selection_rate.ratio >= 0.8', not 5"]),
    ({"rules": ["DI > 0.8"]}, ["rules[0]: cannot read 'DI > 0.8'; write 'METRIC >= X', 'METRIC <= X', 'X <= METRIC <= Y' or '|METRIC| <= X'"]),
    ({"rules": ["DI >= 0.8", "DI >= .80"]}, ["rules[1]: is the same rule as rules[0]; remove one of them"]),
    ({"rules": [{"at_least": 1}]}, ["rules[0].metric: is missing"]),
    ({"rules": [{"metric": 5, "at_least": 1}]}, ["rules[0].metric: must be a metric or the name of one, not 5"]),
    ({"rules": [{"metric": "DI"}]}, ["rules[0]: has no limit; give at_least, at_most or between"]),
    ({"rules": [{"metrc": "DI", "at_least": 1}]}, [f"rules[0].metrc: unknown key. Did you mean 'metric'? Allowed: {OF_RULES}"]),
    ({"rules": [{"metric": "DI", "atleast": 1}]}, [f"rules[0].atleast: unknown key. Did you mean 'at_least'? Allowed: {OF_RULES}"]),
    ({"rules": [{"metric": "DI", "at_least": math.nan}]}, ["rules[0].at_least: must be a number, not NaN"]),
    ({"rules": [{"metric": "DI", "at_least": 2, "at_most": 1}]}, ["rules[0]: is impossible: at least 2 and at most 1"]),
    ({"prediction": "p", "rules": [{"metric": "DI", "at_least": 1, "features": ["rac"]}]}, ["rules[0].features: 'rac' is not an audited feature. Did you mean 'race'?"]),
    ({"rules": [{"metric": "DI", "at_least": 1, "decide": "sometimes"}]}, ["rules[0].decide: 'sometimes' is not allowed. Use interval, point or significant"]),
    ({"rules": [{"metric": "DI", "at_least": 1, "insufficient": "pas"}]}, ["rules[0].insufficient: 'pas' is not allowed. Did you mean 'pass'? Use report, pass, fail or ignore"]),
    ({"rules": [{"metric": "true_postive_rate.ratio", "at_least": 0.8}]}, ["rules[0].metric: no metric named 'true_postive_rate.ratio'. Did you mean 'true_positive_rate.ratio'? See: fairgauge metrics"]),
    ({"rules": [{"metric": "selection_rate.largest_gap", "at_most": 0.1, "groups": "F"}]}, ["rules[0].groups: selection_rate.largest_gap is one number of all groups of a feature; remove groups, or set a rule on selection_rate or selection_rate.difference"]),
    ({"rules": [{"metric": "GE", "at_most": 0.1, "groups": "F"}]}, ["rules[0].groups: GE is one number of the whole table; remove groups"]),
    ({"rules": [{"metric": "consistency", "at_most": 0.1, "features": "sex"}]}, ["rules[0].features: consistency is one number of the whole table; remove features"]),
    ({"features": ["age", "y"]}, ["features[1]: 'y' is the outcome: rows would be alike because they are decided alike; name columns that are known before the decision"]),
    ({"weight": "n", "count": "n"}, ["weight: 'n' is already the count column"]),
    *(({"label": None, "successes": "x", "count": "n"} | document, said) for document, said in (
        ({"count": None}, ["successes: 'x' counts positive cases: name the column of all cases of a row, too (count, --count COL)"]),
        ({"successes": "n"}, ["successes: 'n' is already the count column"]),
        ({"label": "rate"}, ["successes: 'x' is the outcome, in place of 'rate': remove it (of the decision write prediction=x)"]),
        ({"positive": 0}, ["positive: is 1: successes are the positive cases; remove it"]),
        ({"task": "regression"}, ["task: of successes is binary; remove it"]),
        ({"weight": "rate"}, ["weight: cannot be combined with successes, whose cases are no rows"]),
    )),
]
# fmt: on


@pytest.mark.parametrize(
    ("document", "said"),
    MISTAKES,
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else "",
)
def test_every_mistake_has_its_path(tmp_path, document, said):
    document = {"label": "y", "sensitive": "race"} | document
    if document["sensitive"] == "race" and "race" in str(document.get("intersections")):
        del document["sensitive"]
    path = written(tmp_path, json.dumps(document), ".json")
    with pytest.raises(fg.SpecError) as caught:
        load_spec(path)
    assert sorted(map(str, caught.value.problems)) == sorted(said)


LAUGHS = "a: &a [lol, lol]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n" for old, new in pairwise("abcdefghi")
)
"""A billion laughs: each line holds the one before nine times over."""

# fmt: off
UNREADABLE = [
    ("x = [", ".toml", "audit.toml: is not valid TOML: "),
    ('label = "a"\nlabel = "b"', ".toml", "audit.toml: is not valid TOML: "),
    ("x: [", ".yaml", "audit.yaml: is not valid YAML: "),
    ("a: 1\nb: 2\na: 3", ".yaml", "audit.yaml: is not valid YAML: the key 'a' is given twice, line 3"),
    ("? [1]\n: 2", ".yaml", "audit.yaml: is not valid YAML: a key must be text, line 1"),
    ("a: &x 1\nb: *x", ".yaml", "audit.yaml: is not valid YAML: aliases (*name) are not supported, line 2"),
    ("a: !!python/name:os.system", ".yaml", "audit.yaml: is not valid YAML: could not determine a constructor"),
    ("a: 1\n---\nb: 1", ".yml", "audit.yml: is not valid YAML: "),
    ("{", ".json", "audit.json: is not valid JSON: "),
    ('{"a": 1, "a": 2}', ".json", "audit.json: is not valid JSON: the key 'a' is given twice"),
    ("[" * 100_000, ".json", "audit.json: is nested too deeply"),
    (f'{{"seed": {"9" * 5_000}}}', ".json", "audit.json: is not valid JSON: "),
    ("[" * 100_000, ".yaml", "audit.yaml: is nested too deeply"),
    ("{a: " * 50_000, ".yaml", "audit.yaml: is nested too deeply"),
    ('{"a":' * 30_000 + "1" + "}" * 30_000, ".json", "audit.json: is nested too deeply"),
    ("a = " + "[" * 100_000, ".toml", "audit.toml: is nested too deeply"),
    (LAUGHS, ".yaml", "audit.yaml: is not valid YAML: aliases (*name) are not supported, line 2"),
    ("- a", ".yaml", 'audit.yaml: must be a table of keys such as label and sensitive, not ["a"]'),
    ("[]", ".json", "audit.json: must be a table of keys such as label and sensitive, not []"),
    ("", ".ini", "audit.ini: has no suffix of a specification file; use .toml, .yaml, .yml, .json"),
]
# fmt: on


@pytest.mark.parametrize(("text", "suffix", "said"), UNREADABLE)
def test_files_that_cannot_be_read(tmp_path, text, suffix, said):
    (found,) = mistakes(tmp_path, text, suffix)
    assert found.startswith(said)
    assert len(found) < 500


def test_the_schema_accepts_what_is_accepted(tmp_path):
    validator = jsonschema.Draft202012Validator(schema())
    validator.check_schema(validator.schema)
    for document in (
        DOCUMENT,
        {"sensitive": [{"race": ["a"]}, "sex"]},
        {"positive": {"above": 1}},
        {"rules": ["accuracy >= 0.9"], "threshold": "median", "reference": "others"},
        {"sensitive": {"column": "age", "cuts": 40, "closed": "left"}, "document": {"title": "A"}},
    ):
        validator.validate(document)
    resolved = load_spec(written(tmp_path, TOML)).to_dict()
    validator.validate(json.loads(json.dumps(resolved)))


@pytest.mark.parametrize("document", [
    {"labl": "y"}, {"label": 5}, {"sensitive": [{"column": "s", "cut": 1}]},
    {"rules": [{"at_least": 1}]}, {"confidence": 1}, {"score_range": [1]}, {"task": "binry"},
    {"positive": {"above": "x"}}, {"document": {"titel": "A"}}, {"threshold": "mean"},
    {"sensitive": {"column": "age", "cuts": 40, "closed": "both"}}, {"min_n": 0},
])  # fmt: skip
def test_the_schema_refuses_what_is_refused(document):
    assert not jsonschema.Draft202012Validator(schema()).is_valid(document)


# ---- the question: every form of every option, and every mistake at once
def problems(columns=None, **options):
    with pytest.raises(fg.SpecError) as caught:
        ask(columns, **{"sensitive": "sex"} | options)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(("asked", "features"), [
    ("sex", [Feature("sex")]),
    (["sex", "race"], [Feature("sex"), Feature("race")]),
    ({"race": ["B", "H"]}, [Feature("race", values=(("B", "H"),))]),
    ({"race": "B"}, [Feature("race", values=(("B",),))]),
    ([{"race": [["B"], ["H", "A"]]}], [Feature("race", values=(("B",), ("H", "A")))]),
    ([{"race": "B"}, {"race": "H"}], [Feature("race", values=(("B",), ("H",)))]),
    ([fg.cut("age", [60, 40, 40])], [Feature("age", cuts=(40.0, 60.0))]),
    ([{"column": "age", "cuts": 40}], [Feature("age", cuts=(40.0,))]),
    ([{"column": "race", "values": [1, 2.0]}], [Feature("race", values=((1, 2),))]),
])  # fmt: skip
def test_forms_of_sensitive_features(asked, features):
    assert ask(sensitive=asked).sensitive == tuple(features)


@pytest.mark.parametrize(("asked", "positive"), [
    (1, (1,)), (True, (True,)), ("yes", ("yes",)), ([1, 2], (1, 2)), ((1.0, "1"), (1, "1")),
    (np.int64(1), (1,)), (fg.above(5), fg.above(5)), ({"above": 5}, fg.above(5)),
    ({"above": 5, "closed": "left"}, fg.above(5, closed="left")),
])  # fmt: skip
def test_forms_of_positive(asked, positive):
    assert ask(sensitive="sex", positive=asked).positive == positive


def test_defaults():
    spec = ask(sensitive="sex")
    assert spec == Spec(sensitive=(Feature("sex"),))
    stated = (spec.reference, spec.profile, spec.task)
    assert stated == (ReferenceRule.OTHERS, Profile.DOCUMENTED, None)
    assert (spec.confidence, spec.seed, spec.replicates) == (0.95, 0, 2_000)
    assert (spec.threshold, spec.score_range, spec.metrics) == ((), (0, 1), ("standard",))


def test_a_specification_is_a_frozen_value():
    spec = ask(sensitive="sex", prediction="p", rules=[fg.rule("DI", at_least=0.8)])
    rules = [{"metric": "DI", "at_least": 0.8}]
    assert hash(spec) == hash(ask(sensitive=["sex"], prediction="p", rules=rules))
    with pytest.raises(FrozenInstanceError):
        spec.label = "y"


def test_unknown_columns_name_the_nearest_and_what_there_is():
    assert problems(["sexe", "y"], label="z") == [
        "label: no column 'z' in the data. It has 'sexe', 'y'",
        "sensitive[0]: no column 'sex' in the data. Did you mean 'sexe'? It has 'sexe', 'y'",
    ]
    assert problems(["sex", "race"], sensitive="sex,race") == [
        "sensitive[0]: no column 'sex,race' in the data. Name 'sex', 'race' one by one"
    ]
    (said,) = problems([f"column{i}" for i in range(5_000)], sensitive="zzz")
    assert said.endswith("'column7' and 4992 more")


def test_unknown_options_name_the_nearest():
    with pytest.raises(fg.SpecError) as caught:
        fg.audit(fg.confusion("sex", {"F": {"tp": 1}, "M": {"tp": 1}}), sensitve="sex")
    assert str(caught.value).startswith("sensitve: unknown option. Did you mean 'sensitive'? Allow")


def test_a_score_makes_predictions():
    spec = ask(None, sensitive="sex", label="y", score="s", threshold=0.5, rules=["TPR >= 0.5"])
    assert spec.rules[0].metric == "true_positive_rate"


NEEDY = sorted({row.name for row in (*METRICS, *RATES)})
COLUMNS = {"label": "y", "prediction": "d", "score": "s"}


@given(st.sampled_from(NEEDY), st.sets(st.sampled_from([*COLUMNS])))
def test_no_rule_that_is_asked_lacks_a_column(name, given):
    """Whatever is accepted has an estimate with another obstacle than an absent column."""
    row = {each.name: each for each in (*RATES, *METRICS)}[name]
    options = {key: COLUMNS[key] for key in given}
    made = {*given, *(["prediction"] if "score" in given else [])}
    if made > given:
        options["threshold"] = 0.5
    try:
        ask(None, sensitive="sex", rules=[fg.rule(name, at_least=0.1)], **options)
        wrong = []
    except fg.SpecError as error:
        wrong = [p.message for p in error.problems if p.path == "rules[0].metric"]
    lacks = bool(row.needs - made)
    assert any(" needs a label" in text or " needs a p" in text or " needs a s" in text
               for text in wrong) == lacks  # fmt: skip


ATOMS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
    | st.sampled_from(["sex", "DI", "rest", "a*b", 10**400, b"x", object()])
)  # fmt: skip
KEYS = st.sampled_from(["column", "values", "cuts", "metric", "at_least", "between", "above"])
ANYTHING = st.recursive(
    ATOMS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(sorted(Options.__annotations__)), ANYTHING, max_size=3))
def test_anything_asked_is_a_specification_or_a_list_of_mistakes(options):
    with contextlib.suppress(fg.SpecError):
        spec = ask(["sex"], **options)
        assert hash(spec) == hash(ask(["sex"], **options))
