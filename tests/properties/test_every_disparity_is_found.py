"""Every significant disparity that is asked for is a finding, and opposite ones are both stated."""

import re

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.catalogue.directions import disparity
from fairgauge.catalogue.lookup import METRICS, RATES
from fairgauge.enums import Outcome, ScopeKind, Task
from fairgauge.results.estimates import is_significant
from fairgauge.results.verdicts import before_counting

OF_DECISIONS = [
    "selection_rate", "true_positive_rate", "false_positive_rate", "accuracy", "average_odds",
    "balanced_accuracy", "average_absolute_odds", "positive_predictive_value", "f1",
    "top_selection_ratio(percent=5)", "roc_auc", "mean_score",
]  # fmt: skip
OF_AMOUNTS = ["mean_label", "median_label.ratio", "median_label.difference",
              "quantile_label(0.9).ratio", "quantile_label(0.1).difference"]  # fmt: skip
GAPS = st.floats(-0.6, 0.6)


def people(seed: int, gap: float, tail: float, n: int = 1_500) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M", "X"], n)
    score = np.clip(rng.beta(2, 2, n) + gap * 0.3 * (sex == "F"), 0, 1)
    top = np.quantile(score, 0.95)
    score = np.where((score > top) & (sex == "M") & (tail > 0), top * 0.9, score)
    y = (rng.random(n) < np.clip(score + 0.2 * tail * (sex == "X"), 0, 1)) * 1
    pay = np.exp(rng.normal(3 + gap * 0.4 * (sex == "F"), 0.4 + 0.5 * abs(tail) * (sex == "F")))
    return pd.DataFrame({"sex": sex, "s": score.round(3), "y": y, "pay": pay.round(2)})


def assert_found(report: fg.Report) -> None:
    """Check that each significant comparison is one of a finding, or the same test as one."""
    found = {key(each) for finding in report.findings
             for each in (finding.estimate, finding.beside, *finding.others, *finding.others_beside)
             if each is not None}  # fmt: skip
    for each in report.estimates:
        if each.scope.kind is ScopeKind.OVERALL and is_significant(each):
            sides = {key(each), key(each, each.mirror_of or each.group)}
            sides |= {key(e) for e in report.estimates if e.mirror_of == each.group
                      and e.metric == each.metric and e.feature == each.feature}  # fmt: skip
            assert sides & found, (each.metric, each.group)


def key(each: object, group: str | None = None) -> tuple[object, ...]:
    return disparity(each.definition), each.feature, group or each.group


@given(
    st.integers(0, 99), GAPS, GAPS, st.lists(st.sampled_from(OF_DECISIONS), min_size=1, unique=True)
)
def test_each_significant_disparity_of_decisions_is_a_finding(seed, gap, tail, metrics):
    asked = {
        "label": "y", "score": "s", "threshold": 0.5, "positive": 1, "sensitive": "sex",
        "metrics": metrics,
    }  # fmt: skip
    assert_found(fg.audit(people(seed, gap, tail), **asked))


@given(
    st.integers(0, 99), GAPS, GAPS, st.lists(st.sampled_from(OF_AMOUNTS), min_size=1, unique=True)
)
def test_each_significant_disparity_of_amounts_is_a_finding(seed, gap, tail, metrics):
    report = fg.audit(people(seed, gap, tail), label="pay", sensitive="sex",
                      task="regression", metrics=metrics)  # fmt: skip
    assert_found(report)
    if any(map(is_significant, report.estimates)):
        assert report.findings
        assert "no difference" not in str(report).lower().split("\n")[1]


NAMED = [row.name for row in (*METRICS, *RATES) if Task.BINARY in row.tasks]
VERB = re.compile(
    r"\b(is|are|has|have|had|was|were|differs?|could be|predicted|exceeds|falls|match(es)?|stands?"
    r"|orders?)\b",
    re.I,
)


@given(st.integers(0, 99), GAPS, GAPS, st.lists(st.sampled_from(NAMED), min_size=1, max_size=2),
       st.floats(0, 1), st.booleans(), st.booleans())  # fmt: skip
def test_a_headline_is_a_sentence_and_fails_come_first(
    seed, gap, tail, metrics, place, at_least, two
):
    data = people(seed, gap, tail)
    data = data[data.sex != "X"] if two else data
    data["place"], data["p"] = np.where(data.s > 0.4, "a", "b"), (data.s > 0.5) * 1
    asked = {"label": "y", "score": "s", "prediction": "p", "positive": 1, "sensitive": "sex",
             "strata": "place", "metrics": list(dict.fromkeys(metrics))}  # fmt: skip
    try:
        report = fg.audit(data, **asked)
    except ValueError:  # needs a question of its own, such as a population
        return
    assert_sentences(report)
    values = [(e.metric, e.value) for e in report.estimates
              if e.scope.kind is ScopeKind.OVERALL and e.value is not None
              and np.isfinite(e.value)]  # fmt: skip
    if not values:
        return
    metric, value = values[int(place * (len(values) - 1))]
    try:
        ruled = fg.audit(data, **asked, rules=f"{metric} {'>=' if at_least else '<='} {value:.9f}")
    except ValueError:
        return
    assert_sentences(ruled)
    failing = {group for each in ruled.verdicts if before_counting(each) is Outcome.FAIL
               for group in (each.group, each.mirror)}  # fmt: skip
    found = [{each.group, each.mirror_of} for finding in ruled.findings
             for each in (finding.estimate, *finding.others) if each.metric == metric]  # fmt: skip
    if any(groups & failing - {None} for groups in found):
        first = ruled.findings[0]
        of = [first.estimate, first.beside, *first.others, *first.others_beside]
        assert failing & {group for e in of if e for group in (e.group, e.mirror_of)}, metric


def assert_sentences(report: fg.Report) -> None:
    brief = report.brief()
    assert VERB.search(str(brief.headline)), str(brief.headline)
    for each in brief.found:
        assert len(str(each).split()) > 3, str(each)
