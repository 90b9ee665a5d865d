"""Findings are results: the same ones, in the same order, on the first page and after loading."""

import json
import re

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import every_result

import fairgauge as fg
import sample_reports
from fairgauge.catalogue.directions import disparity
from fairgauge.catalogue.lookup import METRICS, RATES
from fairgauge.enums import FindingReason, Outcome, ScopeKind, Status, Task
from fairgauge.results.estimates import is_significant
from fairgauge.results.report import Report
from fairgauge.results.verdicts import before_counting
from fairgauge.statements.sections import stated_comparisons


def random_report(seed: int, **options: object) -> Report:
    """Audit two features that both influence the decision, scores beside it."""
    rng = np.random.default_rng(seed)
    n = 3_000
    sex, region = rng.choice(["F", "M"], n), rng.choice(["north", "east", "south"], n)
    shift = 0.25 * rng.random() * (sex == "F") + 0.3 * rng.random() * (region == "east")
    score = np.clip(rng.beta(2, 2, n) - shift, 0, 1)
    label = (rng.random(n) < score).astype(int)
    rows = pl.DataFrame(
        {"y": label, "s": score, "p": (score > 0.45).astype(int), "sex": sex, "region": region,
         "site": rng.choice(["a", "b"], n)}
    )  # fmt: skip
    question = {"label": "y", "prediction": "p", "sensitive": ["sex", "region"]}
    return fg.audit(rows, **{**question, **options})


def thresholds_report() -> Report:
    return random_report(4, prediction=None, score="s", threshold=[0.3, 0.5])


def multiclass_report() -> Report:
    rng = np.random.default_rng(0)
    n = 2_000
    group = rng.choice(["a", "b"], n)
    classes = np.array(["x", "y", "z"])
    label = rng.choice(classes, n)
    hit = rng.random(n) < np.where(group == "a", 0.5, 0.8)
    made = np.where(hit, label, rng.choice(classes, n))
    rows = pl.DataFrame({"y": label, "p": made, "g": group})
    return fg.audit(rows, label="y", prediction="p", sensitive="g")


def risk_report(**options: object) -> Report:
    """Audit ratings of high risk, which are unfavourable, by race."""
    asked = {"label": "reoffended", "prediction": "high", "positive": 1, "sensitive": "race"}
    words = every_result.RISK_WORDS
    return fg.audit(
        every_result.defendants(), **{**asked, "words": words, "favourable": "negative", **options}
    )


REPORTS = {
    **{f"random {seed}": lambda seed=seed: random_report(seed) for seed in range(4)},
    "rule": lambda: random_report(1, rules=["selection_rate.ratio >= 0.8"]),
    "strata": lambda: random_report(2, strata="site"),
    "ratios": lambda: random_report(3, metrics=["selection_rate.ratio"]),
    "thresholds": thresholds_report, "classes": multiclass_report,
    "berkeley": sample_reports.berkeley, "loans": every_result.of_loans,
    "risk": lambda: risk_report(rules=["-0.1 <= false_positive_rate.difference <= 0.1"]),
    "errors": lambda: every_result.of_regression(label="price", prediction="estimate"),
    "equal": lambda: fg.audit(fg.confusion("g", {n: {"tp": 50, "fn": 50} for n in "ab"})),
}  # fmt: skip


@pytest.fixture(scope="module", params=REPORTS)
def report(request: pytest.FixtureRequest) -> Report:
    return REPORTS[request.param]()


def test_the_reports_have_findings_to_compare() -> None:
    counts = {name: len(make().findings) for name, make in REPORTS.items()}
    assert counts.pop("equal") == 0
    assert min(counts.values()) >= 1


def test_the_headline_is_of_the_first_finding(report: Report) -> None:
    headline = report.brief().headline
    if not report.findings:
        assert not any("estimates[" in source for source in headline.sources)
        return
    first = report.findings[0]
    contrasts = (first.estimate, first.beside, *first.others, *first.others_beside)
    place = re.fullmatch(r"estimates\[(\d+)\]", headline.sources[0])
    assert place is not None
    assert report.estimates[int(place[1])].key in {each.key for each in contrasts if each}


def test_the_first_page_states_the_findings_in_their_order(report: Report) -> None:
    """What it states of each is what the headline, the full report and programs have of it."""
    sources = [each.sources for each in report.brief().found if each.sources]
    stated = [each.contrast.key for each in stated_comparisons(report, report.findings[:2])]
    places = {each.key: f"estimates[{i}]" for i, each in enumerate(report.estimates)}
    named = list(dict.fromkeys(of for (of, *_) in sources if of.startswith("estimates[")))
    assert named[: len(stated)] == [places[key] for key in stated]


def test_programs_read_the_same_findings(report: Report) -> None:
    estimates = [each.estimate for each in report.findings]
    subjects = [(each.metric, each.feature, each.group) for each in estimates]
    written = json.loads(report.to_json())
    jsonschema.Draft202012Validator(Report.json_schema()).validate(written)
    found = [each["estimate"] for each in written["findings"]]
    assert [(each["metric"], each["feature"], each["group"]) for each in found] == subjects
    assert Report.from_dict(written).findings == report.findings


def test_a_finding_is_an_estimate_of_the_report_and_states_why(report: Report) -> None:
    for finding in report.findings:
        assert finding.estimate in report.estimates
        assert finding.estimate.status is Status.OK
        assert finding.why[0] is FindingReason.SIGNIFICANT
        assert finding.p_adjusted is not None
        assert finding.p_adjusted <= 0.05
        assert finding.p_adjusted == finding.estimate.p_adjusted
        none = finding.estimate.definition.neutral
        assert finding.interval is None or none not in finding.interval
        assert finding.estimate.group not in {each.group for each in finding.others}


def test_a_finding_says_which_rule_fails_for_its_group() -> None:
    report = random_report(1, rules=["selection_rate.ratio >= 0.8"])
    failing = {each.group for each in report.verdicts if each.outcome == "fail"}
    marked = {
        each.estimate.group for each in report.findings if FindingReason.RULE_FAILED in each.why
    }
    selection = {each.estimate.group for each in report.findings if each.rate == "selection_rate"}
    assert failing & selection == marked
    assert marked


def _approved(counts: dict[str, tuple[int, int]], **options: object) -> Report:
    """Audit how many of each group are approved."""
    cells = {name: {"tp": yes, "fn": of - yes} for name, (yes, of) in counts.items()}
    return fg.audit(fg.confusion("g", cells), **options)


def test_a_finding_that_fails_a_rule_comes_before_a_larger_one_that_does_not() -> None:
    rules = ["accuracy.difference >= -0.02"]
    for asked in ({}, {"rules": rules}):
        report = random_report(1, **asked)
        fails = [FindingReason.RULE_FAILED in each.why for each in report.findings]
        assert fails == sorted(fails, reverse=True)
        assert any(fails) == bool(asked)


def test_a_fail_of_a_group_that_is_better_off_heads_no_page_where_another_is_worse_off() -> None:
    """Compared with all others, who contain the group that is worst off, a group does better."""
    groups = {"a": (270, 600), "b": (2_000, 3_000), "c": (1_530, 3_000)}
    report = _approved(groups, rules=["-0.1 <= selection_rate.difference <= 0.1"])
    assert {each.group for each in report.verdicts if each.outcome == "fail"} == {"b"}
    assert (report.findings[0].rate, report.findings[0].estimate.group) == ("selection_rate", "a")
    brief = report.brief()
    assert brief.headline.text.startswith("People with g a ")
    assert [each.text for each in brief.found][1].startswith(
        "People with g b fail as the better-off side: of 100 people with g b, 67 "
    )


def test_a_finding_that_does_not_follow_from_the_counts_is_not_sealed(tmp_path) -> None:
    counts = fg.confusion("sex", {"F": {"tp": 200, "fn": 300}, "M": {"tp": 300, "fn": 200}})
    written = fg.audit(counts).to_dict()
    assert fg.seal(fg.audit(counts), counts, tmp_path / "a.fairgauge").finding == "reproduced"
    changes = (
        {"findings": []},
        {"findings": [{**each, "p_adjusted": 0.5} for each in written["findings"]]},
        {"findings": [{**each, "why": ["largest"]} for each in written["findings"]]},
    )
    for changed in changes:
        path = tmp_path / "report.json"
        path.write_text(json.dumps(written | changed))
        with pytest.raises(fg.DataError, match="does not follow from the counts"):
            fg.seal(path, counts, tmp_path / "b.fairgauge")


# ---- every significant disparity that is asked for is a finding, and opposite ones are both stated
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
