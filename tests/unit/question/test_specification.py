"""The question: every form of every option, and every mistake at once."""

from __future__ import annotations

import contextlib
import math
import tomllib
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.catalogue.catalogue import METRICS, RATES
from fairgauge.enums import Profile, ReferenceRule, Task
from fairgauge.question.features import Feature
from fairgauge.question.options import Options
from fairgauge.question.specification import Spec, ask


def problems(columns=None, **options):
    with pytest.raises(fg.SpecError) as caught:
        ask(columns, **{"sensitive": "sex"} | options)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("asked", "features"),
    [
        ("sex", [Feature("sex")]),
        (["sex", "race"], [Feature("sex"), Feature("race")]),
        ({"race": ["B", "H"]}, [Feature("race", values=(("B", "H"),))]),
        ({"race": "B"}, [Feature("race", values=(("B",),))]),
        ([{"race": [["B"], ["H", "A"]]}], [Feature("race", values=(("B",), ("H", "A")))]),
        ([{"race": "B"}, {"race": "H"}], [Feature("race", values=(("B",), ("H",)))]),
        ([fg.cut("age", [60, 40, 40])], [Feature("age", cuts=(40.0, 60.0))]),
        ([{"column": "age", "cuts": 40}], [Feature("age", cuts=(40.0,))]),
        ([{"column": "race", "values": [1, 2.0]}], [Feature("race", values=((1, 2),))]),
    ],
)
def test_forms_of_sensitive_features(asked, features):
    assert ask(sensitive=asked).sensitive == tuple(features)


@pytest.mark.parametrize(
    ("asked", "positive"),
    [
        (1, (1,)),
        (True, (True,)),
        ("yes", ("yes",)),
        ([1, 2], (1, 2)),
        ((1.0, "1"), (1, "1")),
        (np.int64(1), (1,)),
        (fg.above(5), fg.above(5)),
        ({"above": 5}, fg.above(5)),
    ],
)
def test_forms_of_positive(asked, positive):
    assert ask(sensitive="sex", positive=asked).positive == positive


@pytest.mark.parametrize(
    ("asked", "pairs"),
    [
        ("a*b", (("a", "b"),)),
        (["a*b", "a * c"], (("a", "b"), ("a", "c"))),
        (("a", "b"), (("a", "b"),)),
        ([("a", "b"), ["a", "b", "c"]], (("a", "b"), ("a", "b", "c"))),
        ([("a", "b"), ("a", "b")], (("a", "b"),)),
    ],
)
def test_forms_of_intersections(asked, pairs):
    assert ask(intersections=asked).intersections == pairs


def test_defaults():
    spec = ask(sensitive="sex")
    assert spec == Spec(sensitive=(Feature("sex"),))
    assert (spec.reference, spec.profile, spec.task) == (
        ReferenceRule.OTHERS,
        Profile.DOCUMENTED,
        None,
    )
    assert (spec.confidence, spec.seed, spec.replicates) == (0.95, 0, 2_000)
    assert (spec.threshold, spec.score_range, spec.metrics) == ((0.5,), (0, 1), ("standard",))


def test_a_specification_is_a_frozen_value():
    spec = ask(sensitive="sex", prediction="p", rules=[fg.rule("DI", at_least=0.8)])
    rules = [{"metric": "DI", "at_least": 0.8}]
    assert hash(spec) == hash(ask(sensitive=["sex"], prediction="p", rules=rules))
    with pytest.raises(FrozenInstanceError):
        spec.label = "y"


def test_what_is_not_given_comes_from_the_base():
    base = ask(sensitive="sex", label="y", task="binary")
    spec = ask(base=base, label="z", metrics=None)
    assert (spec.label, spec.task, spec.metrics) == ("z", Task.BINARY, ("standard",))


def test_columns_are_told_with_their_paths():
    spec = ask(label="y", sensitive=["a"], intersections=[("a", "b")], features=["f"], strata="s")
    assert spec.columns() == [
        ("label", "y"), ("strata", "s"), ("sensitive[0]", "a"), ("intersections[0][1]", "b"),
        ("features[0]", "f"),
    ]  # fmt: skip


def test_unknown_columns_name_the_nearest_or_what_there_is():
    assert problems(["sexe", "y"], label="z") == [
        "label: no column 'z' in the data. It has 'sexe', 'y'",
        "sensitive[0]: no column 'sex' in the data. Did you mean 'sexe'?",
    ]
    assert problems(["sex", "race"], sensitive="sex,race") == [
        "sensitive[0]: no column 'sex,race' in the data. Name 'sex', 'race' one by one"
    ]
    assert problems(["sex", "branch", "county"], strata="branch*county") == [
        "strata: no column 'branch*county' in the data. Name 'branch', 'county' one by one"
    ]
    for cuts, python, toml in (
        ("quantiles", "'quantiles'", '"quantiles"'),
        ("40,60", "[40.0, 60.0]", "[40.0, 60.0]"),
    ):
        (said,) = problems(["sex", "age"], strata=[f"age:{cuts}"])
        assert said == (
            f"strata: no column 'age:{cuts}' in the data. To cut a column write {{'column': 'age', "
            f"'cuts': {python}}} (in TOML {{column = \"age\", cuts = {toml}}})"
        )
        (table,) = tomllib.loads(f"strata = [{said[said.index('{column') : -1]}]")["strata"]
        assert table == {"column": "age", "cuts": cuts if toml[0] == '"' else [40, 60]}
    (said,) = problems([f"column{i}" for i in range(5_000)], sensitive="zzz")
    assert said.endswith("'column7' and 4992 more")


def test_unknown_options_name_the_nearest():
    with pytest.raises(fg.SpecError) as caught:
        fg.audit(fg.confusion("sex", {"F": {"tp": 1}, "M": {"tp": 1}}), sensitve="sex")
    assert str(caught.value).startswith("sensitve: unknown option. Did you mean 'sensitive'? Allow")


TWO = {"label": "y", "prediction": "d"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": "AUC.ratio", **TWO}, "metrics[0]: roc_auc.ratio needs a score; add score ("),
        (
            {"metrics": ["standard", "tpr"], "label": "y"},
            "metrics[1]: true_positive_rate.difference needs a prediction; add prediction (",
        ),
        (
            {"rules": ["DPL <= 0.1", "accuracy >= 0.9"], "label": "y"},
            "rules[1].metric: accuracy needs a prediction; add prediction (",
        ),
        (
            {"rules": "AUC.ratio >= 0.8"},
            "rules[0].metric: roc_auc.ratio needs a label and a score; add label (--label COL); ",
        ),
        (
            {"rules": "CDDPL <= 0.1", **TWO},
            "rules[0].metric: CDDPL needs strata; add strata (--strata COL)",
        ),
        (
            {"rules": "representation.ratio >= 0.8"},
            "rules[0].metric: representation.ratio needs shares of a population; add population (",
        ),
        (
            {"rules": "FT <= 0.1", **TWO},
            "rules[0].metric: FT needs columns to compare rows by; add features (--features COL,",
        ),
        (
            {"rules": "consistency >= 0.8", "features": ["x"], "weight": "w", **TWO},
            "rules[0].metric: consistency is not defined of weighted rows; remove weight (--weight",
        ),
        (
            {"rules": "brier_score <= 0.3", "label": "y", "score": "s", "score_range": (-1, 1)},
            "rules[0].metric: brier_score needs scores that are probabilities; score_range is -1 ",
        ),
    ],
)
def test_what_a_metric_needs_must_be_asked(options, message):
    (problem,) = problems(**options)
    assert problem.startswith(message)


def test_what_is_misread_is_not_also_missing():
    assert problems(label=5, rules="base_rate >= 0.1") == [
        "label: must be the name of a column, not 5"
    ]
    rules = ["XDI >= 1", {"metric": "DPL", "at_most": 0.9, "features": ["x"]}]
    (problem,) = problems(label="y", rules=rules)
    assert problem.startswith("rules[0].metric: no metric named 'XDI'")


def test_a_metric_of_what_is_no_column_is_reported_as_not_applicable():
    assert ask(None, sensitive="sex", metrics=["FT", "CDDPL"], **TWO).metrics == ("FT", "CDDPL")


def test_a_score_makes_predictions():
    spec = ask(None, sensitive="sex", label="y", score="s", rules=["TPR >= 0.5"])
    assert spec.rules[0].metric == "true_positive_rate"


def test_sets_take_what_the_data_allow():
    for name in ("standard", "clarify", "vertex", "native", "all"):
        assert ask(None, sensitive="sex", label="y", metrics=name).metrics == (name,)


NEEDY = sorted({row.name for row in (*METRICS, *RATES)})
COLUMNS = {"label": "y", "prediction": "d", "score": "s"}


@given(st.sampled_from(NEEDY), st.sets(st.sampled_from([*COLUMNS])))
def test_no_rule_that_is_asked_lacks_a_column(name, given):
    """Whatever is accepted has an estimate with another obstacle than an absent column."""
    row = {each.name: each for each in (*RATES, *METRICS)}[name]
    options = {key: COLUMNS[key] for key in given}
    made = {*given, *(["prediction"] if "score" in given else [])}
    try:
        ask(None, sensitive="sex", rules=[fg.rule(name, at_least=0.1)], **options)
        wrong = []
    except fg.SpecError as error:
        wrong = [p.message for p in error.problems if p.path == "rules[0].metric"]
    lacks = bool(row.needs - made)
    assert any(" needs a label" in text or " needs a p" in text or " needs a s" in text
               for text in wrong) == lacks  # fmt: skip


def test_a_score_alone_needs_no_positive_value():
    rows = {"p": [0.2, 0.7, 0.9, 0.4] * 5, "g": ["a", "b", "b", "a"] * 5}
    frame = pd.DataFrame(rows)
    alone, said = (
        fg.audit(frame, score="p", sensitive="g", positive=positive) for positive in (None, 1)
    )
    assert alone.estimates == said.estimates
    assert any(each.value is not None for each in alone.estimates)


def test_mistakes_of_cuts_and_bounds():
    for points in ([], [math.nan], ["x"], math.inf, 10**400, True):
        with pytest.raises(fg.SpecError, match="cut: must be finite numbers, not"):
            fg.cut("age", points)
    for bound in (math.nan, "5", None, True, 10**400):
        with pytest.raises(fg.SpecError, match="above: must be a finite number, not"):
            fg.above(bound)


def test_messages_stay_short():
    names = ["x" * 10_000 + str(i) for i in range(100)]
    with pytest.raises(fg.SpecError) as caught:
        ask(["a"], sensitive=names, label="\x1b[31m" * 1_000)
    assert len(caught.value.problems) == 101
    assert len(str(caught.value)) < 2_000
    assert "\x1b" not in str(caught.value)


ATOMS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
    | st.sampled_from(["sex", "DI", "rest", "a*b", 10**400, b"x", object()])
)  # fmt: skip
ANYTHING = st.recursive(
    ATOMS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["column", "values", "cuts", "metric", "at_least", "between", "above"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(sorted(Options.__annotations__)), ANYTHING, max_size=3))
def test_anything_asked_is_a_specification_or_a_list_of_mistakes(options):
    with contextlib.suppress(fg.SpecError):
        spec = ask(["sex"], **options)
        assert hash(spec) == hash(ask(["sex"], **options))
