"""The question: every form of every option, and every mistake at once."""

import contextlib
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.catalogue.catalogue import METRICS, RATES
from fairgauge.enums import Profile, ReferenceRule
from fairgauge.question.features import Feature
from fairgauge.question.options import Options
from fairgauge.question.specification import Spec, ask


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
