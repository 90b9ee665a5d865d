"""Metrics of a user's own: used wherever a name is, shown where they are unknown, refused aloud."""

from __future__ import annotations

import json
import pickle
import sys
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.catalogue.catalogue import METRICS, RATES
from fairgauge.catalogue.derived import comparisons_of
from fairgauge.cli import main
from fairgauge.enums import IntervalMethod
from fairgauge.question.spec_file import import_code, read_options
from fairgauge.question.specification import ask
from fairgauge.render import names, render
from fairgauge.render.grammar import describe_reason
from fairgauge.results.report import Report

if TYPE_CHECKING:
    from pathlib import Path

ALL = fg.TP + fg.FP + fg.FN + fg.TN
NONZERO = (fg.TP + fg.FP, fg.TP + fg.FN, fg.TN + fg.FP, fg.TN + fg.FN)
COUNTS = {
    "F": {"tp": 60, "fp": 25, "fn": 37, "tn": 118},
    "M": {"tp": 165, "fp": 30, "fn": 25, "tn": 120},
    "X": {"tp": 30, "fp": 20, "fn": 17, "tn": 60},
}


def matthews(tp, fp, fn, tn):
    return (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))


HIT_SHARE = fg.rate("hit_share", of=fg.TP, among=fg.TP + fg.FP, better="higher", cite="ours")
COST = fg.quotient("cost_ratio", over=5 * fg.FN + fg.FP, under=fg.TP + fg.TN, better="lower")
MATTHEWS = fg.statistic(matthews, nonzero=NONZERO, range=(-1, 1), better="higher")
EVERY = (HIT_SHARE, COST, MATTHEWS)


def audited(metrics, **options):
    return fg.audit(fg.confusion("sex", COUNTS), metrics=metrics, replicates=400, **options)


def by_hand(function, group):
    """Return a statistic of a group and of everybody else."""
    cells = ("tp", "fp", "fn", "tn")
    rest = [sum(COUNTS[g][c] for g in COUNTS if g != group) for c in cells]
    return float(function(*(COUNTS[group][c] for c in cells))), float(function(*rest))


@pytest.mark.parametrize(
    ("metric", "function"),
    [
        (HIT_SHARE, lambda tp, fp, fn, tn: tp / (tp + fp)),
        (COST, lambda tp, fp, fn, tn: (5 * fn + fp) / (tp + tn)),
        (MATTHEWS, matthews),
    ],
    ids=lambda each: getattr(each, "name", ""),
)
def test_its_values_are_those_of_the_formula_by_hand(metric, function):
    report = audited([metric])
    for group in COUNTS:
        ours, others = by_hand(function, group)
        found = report[f"{metric.name}.difference", "sex", group]
        assert found.value == pytest.approx(ours - others, rel=1e-12)
        assert found.set == "own"
        assert found.low < found.value < found.high
        (counted,) = (g for g in report.groups if g.group == group)
        assert counted.rates[metric.name].value == pytest.approx(ours, rel=1e-12)
        assert counted.rates[metric.name].low < ours < counted.rates[metric.name].high


@pytest.mark.parametrize(
    ("reference", "method"),
    [("others", "default"), ("overall", "default"), ("best", "default"), ("largest", "bayes")],
)
def test_a_rate_of_ones_own_has_the_intervals_of_the_built_in_rate(reference, method):
    twin = fg.rate("own_recall", of=fg.TP, among=fg.TP + fg.FN, better="higher")
    report = audited([twin, "true_positive_rate"], reference=reference, method=method)
    pairs = 0
    for each in report.estimates:
        if each.metric == "own_recall.difference":
            known = report["true_positive_rate.difference", "sex", each.group]
            assert each.value == known.value
            if method == "default":
                assert (each.low, each.high, each.p_value) == (
                    known.low,
                    known.high,
                    known.p_value,
                )
            pairs += 1
    assert pairs >= 2


def test_a_function_has_the_interval_of_the_same_formula_as_a_kind():
    """Lift as a function draws the same tables as the kind of lift, and covers the same."""
    lift = fg.statistic(
        lambda tp, fp, fn, tn: tp / (tp + fp) / ((tp + fn) / (tp + fp + fn + tn)),
        name="own_lift",
        nonzero=(fg.TP + fg.FP, fg.TP + fg.FN),
        range=(0, np.inf),
    )
    report = fg.audit(fg.confusion("sex", COUNTS), metrics=[lift, "lift"], replicates=20_000)
    for group in COUNTS:
        own, kind = (report[f"{name}.difference", "sex", group] for name in ("own_lift", "lift"))
        assert own.value == pytest.approx(kind.value, rel=1e-12)
        assert tuple(own.interval) == pytest.approx(tuple(kind.interval), abs=0.02)


def test_a_quotient_without_a_closed_form_is_drawn():
    drawn = audited([COST])["cost_ratio.ratio", "sex", "F"].interval
    assert drawn.methods == (IntervalMethod.JEFFREYS,)
    plain = fg.quotient("misses_per_alarm", over=fg.FN, under=fg.FP)
    closed = audited([plain])["misses_per_alarm.ratio", "sex", "F"].interval
    assert IntervalMethod.WILSON in closed.methods


@pytest.mark.parametrize("metric", EVERY, ids=lambda each: each.name)
def test_every_comparison_can_be_named_given_and_ruled(metric):
    names = [f"{metric.name}.{by}" for by in comparisons_of(metric)]
    by_name = audited([metric, *names])
    given_ = audited([metric.compared(by) for by in comparisons_of(metric)])
    assert {e.metric for e in by_name.estimates} == set(names)
    assert {e.metric for e in given_.estimates} == set(names)
    for one in by_name.estimates:
        (other,) = (e for e in given_.estimates if (e.metric, e.group) == (one.metric, one.group))
        assert one == other
    compared = [metric.compared(by) for by in comparisons_of(metric)]
    rules = [fg.rule(each, at_most=0.999 * min(each.range[1], 1e9)) for each in compared]
    ruled = fg.audit(fg.confusion("sex", COUNTS), metrics="AD", rules=rules, replicates=400)
    assert {v.metric for v in ruled.verdicts} == set(names)
    assert {str(v.outcome) for v in ruled.verdicts} == {"pass"}


def test_the_same_metric_twice_is_one():
    again = fg.statistic(matthews, nonzero=NONZERO, range=(-1, 1), better="higher")
    once, twice = audited([MATTHEWS]), audited([MATTHEWS, again, "matthews", "matthews.difference"])
    assert once.estimates == twice.estimates
    assert list(once.groups[0].rates) == list(twice.groups[0].rates)


def test_nothing_is_registered():
    audited(list(EVERY))
    with pytest.raises(fg.SpecError, match="no metric named 'hit_share'"):
        audited(["hit_share"])
    assert not any(row.own for row in RATES)
    assert not any(row.set == "own" for row in METRICS)


# --- where the definition is unknown ---


def test_a_report_is_the_same_where_the_definition_is_unknown():
    rules = [fg.rule(MATTHEWS.compared("difference"), between=(-0.9, 0.9))]
    report = audited([*EVERY, "matthews.largest_gap", "AD"], rules=rules)
    text = report.to_json()
    read = Report.from_dict(json.loads(text))
    assert read == report
    assert read.to_json() == text
    assert pickle.loads(pickle.dumps(report)) == report
    assert read["matthews.difference", "sex", "F"] == report["matthews.difference", "sex", "F"]
    for name in names("report"):
        assert render(read, name) == render(report, name), name


def test_a_report_shows_it_as_any_other():
    text = render(audited(list(EVERY)), "html")
    for part in ("hit share", "(FP + 5 FN) / (TP + TN)", "A higher value favours the group."):
        assert part in text
    assert "nan means" not in text
    assert "hit share" in str(audited(list(EVERY))).lower()


def test_a_report_describes_every_name_that_it_uses():
    report = audited([MATTHEWS, "CI", "AD"])
    told = json.loads(report.to_json())["metrics"]
    used = {e.metric for e in report.estimates} | set(report.groups[0].rates)
    assert set(told) == used
    assert told["matthews"]["own"]
    assert told["matthews"]["range"] == [-1.0, 1.0]
    assert not told["AD"]["own"]
    assert told["AD"]["reading"].startswith("above 0, ")


def test_comparing_reports_knows_their_metrics():
    old, new = audited([MATTHEWS]), audited([MATTHEWS])
    compared = fg.compare(old, new)
    assert compared.catalogue.metric("matthews.difference").neutral == 0
    assert type(compared).from_dict(json.loads(compared.to_json())) == compared
    other = fg.rate("matthews", of=fg.TP, among=ALL)
    differs = [each.key for each in fg.compare(old, audited([other])).differences]
    assert "matthews" in differs


def test_fg_metric_explains_it():
    assert "defined in   ours" in str(fg.metric(HIT_SHARE))
    assert fg.metric(HIT_SHARE.compared("ratio")).reading == (
        "above 1, the group's hit share is higher than its reference's"
    )


def test_a_cube_file_cannot_hold_a_definition(tmp_path):
    rows = pl.DataFrame({"y": [1, 0, 1, 0], "p": [1, 1, 1, 0], "sex": ["F", "F", "M", "M"]})
    counts = fg.count(rows, label="y", prediction="p", sensitive="sex", metrics=[HIT_SHARE])
    assert fg.audit(counts)["hit_share.difference", "sex", "F"].value == -0.5
    with pytest.raises(fg.CubeError, match=r"of your own \(hit_share\): count without"):
        counts.save(tmp_path / "day.cube.json")


# --- import paths ---

MODULE = """
import fairgauge as fg
missed = fg.rate("missed_rows", of=fg.FN, among=fg.TP + fg.FP + fg.FN + fg.TN)
recall = fg.rate("own_recall", of=fg.TP, among=fg.TP + fg.FN)
number = 5
def function(tp, fp, fn, tn):
    return tp
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "house_metrics.py").write_text(MODULE)
    (tmp_path / "broken_metrics.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in ("house_metrics", "broken_metrics"):
        sys.modules.pop(name, None)


SPECIFICATION = (
    'label = "y"\nprediction = "p"\nsensitive = "sex"\n'
    'metrics = ["house_metrics:missed", "missed_rows.largest_gap", "AD"]\n'
    '[[rules]]\nmetric = "house_metrics:recall.ratio"\nat_least = 0.1\n'
)


def test_a_specification_names_the_code_beside_it_that_may_be_imported(module):
    path = module / "audit.toml"
    path.write_text(SPECIFICATION)
    with pytest.raises(fg.SpecError, match=r"would import 'house_metrics' from .*--allow-code"):
        read_options(path)
    assert "house_metrics" not in sys.modules
    import_code(path)
    spec = ask(**read_options(path))
    assert spec.to_dict()["metrics"] == ["missed_rows", "missed_rows.largest_gap", "AD"]
    assert [rate.name for rate in spec.catalogue.own] == ["missed_rows", "own_recall"]
    assert str(spec.rules[0]) == "own_recall.ratio >= 0.1"


def test_a_command_imports_code_beside_its_specification_alone(module, tmp_path_factory, capsys):
    path = tmp_path_factory.mktemp("elsewhere") / "audit.toml"
    path.write_text(SPECIFICATION)
    with pytest.raises(fg.SpecError, match="beside the specification, and house_metrics is not in"):
        import_code(path)
    (module / "audit.toml").write_text(SPECIFICATION)
    (module / "t.csv").write_text("y,p,sex\n" + "1,0,F\n0,1,M\n1,1,F\n1,1,M\n" * 9)
    asked = ["audit", str(module / "t.csv"), "-c", str(module / "audit.toml")]
    refused = CliRunner().invoke(main, asked)
    assert refused.exit_code == 2
    assert len(refused.stderr.splitlines()) == 1
    assert "missed rows" in CliRunner().invoke(main, [*asked, "--allow-code"]).output


def test_a_name_in_a_file_is_found_in_modules_that_python_imported(module):
    from fairgauge.question.rules import parse_rule

    import_module("house_metrics")
    assert str(parse_rule("house_metrics:recall.ratio >= 0.8")) == "own_recall.ratio >= 0.8"
    assert fg.metric("house_metrics:missed").formula == "FN / n"


ASKED = {"label": "y", "prediction": "p", "sensitive": "sex"}
OWN_AS_DATA = {"name": "cost", "over": "5 * FN + FP", "under": "TP + TN", "better": "lower"}


def test_a_file_defines_metrics_by_their_cells():
    rule = {"metric": OWN_AS_DATA | {"compared": "ratio"}, "at_most": 1.2}
    spec = ask(**ASKED, metrics=[OWN_AS_DATA], rules=[rule])
    cost = fg.quotient("cost", over=5 * fg.FN + fg.FP, under=fg.TP + fg.TN, better="lower")
    assert spec.metrics == (cost,)
    assert spec.rules == (fg.rule(cost.compared("ratio"), at_most=1.2),)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"under": "TP - FP"}, "cannot read 'TP - FP'; write a sum of cells"),
        ({"under": "9999999 TP"}, "cannot read"),
        ({"under": 3}, "not 'under' = 3"),
        ({"function": "f"}, "not 'function' = 'f'"),
        ({"of": "TP"}, "lacks among"),
        ({"name": "accuracy"}, "is the name of a metric of fairgauge"),
        ({"compared": "sum"}, "there is no such comparison"),
    ],
)
def test_a_definition_that_cannot_be_read_says_so(change, message):
    with pytest.raises(fg.SpecError, match=rf"metrics\[0\].*{message}"):
        ask(**ASKED, metrics=[OWN_AS_DATA | change])


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nowhere_at_all:x", r"nothing is imported because a file or a text names it: allow"),
        ("house_metrics:mised", "module house_metrics has no 'mised'. Did you mean 'missed'"),
        (
            "house_metrics:number",
            "house_metrics:number is of type int, not a metric; make one with",
        ),
        (
            "house_metrics:function",
            "is of type function, not a metric; make one with fairgauge.rate",
        ),
        ("house_metrics:missed.ratios", "missed_rows has no ratios: there is no such comparison"),
    ],
)
def test_an_import_path_that_leads_nowhere_says_so(module, path, message):
    import_module("house_metrics")
    with pytest.raises(fg.SpecError, match=message) as caught:
        audited(["AD", path])
    assert caught.value.problems[0].path == "metrics[1]"


# --- mistakes ---


@pytest.mark.parametrize("name", ["accuracy", "recall", "AD", "standard", "disparate_impact"])
def test_a_name_of_fairgauge_is_refused(name):
    with pytest.raises(fg.SpecError, match="is the name of a metric of fairgauge"):
        fg.rate(name, of=fg.TP, among=ALL)


@pytest.mark.parametrize("name", ["", "two words", "a.b", "a(1)", "1a", "a:b"])
def test_a_name_is_an_identifier(name):
    with pytest.raises(fg.SpecError, match="letters, digits and underscores"):
        fg.quotient(name, over=fg.FN, under=fg.FP)


@pytest.mark.parametrize("over", [0.5 * fg.TP, fg.TP + -1 * fg.FP, "TP", 0 * fg.TP])
def test_sums_are_of_whole_cells(over):
    with pytest.raises(fg.SpecError, match="'odd': over: must "):
        fg.quotient("odd", over=over, under=fg.FN)
    assert fg.FN * 5 == 5 * fg.FN


def a_function(tp, fp, fn, tn):
    return tp / (tp + fn)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: fg.rate("own", of=fg.TP + fg.FP, among=fg.TP + fg.FN),
         r"TP \+ FP is not a part of TP \+ FN; for other ratios of cells use fairgauge.quotient"),
        (lambda: fg.statistic(3), "statistic: needs a function, not '3'"),
        (lambda: fg.statistic(lambda tp, fp, fn, tn: tp), "a lambda has no name; give it one"),
        *(
            (lambda r=r: fg.statistic(a_function, range=r), "range: must be two rising numbers")
            for r in ((1, 0), (0, 0), 3, "ab", (0, 1, 2))
        ),
    ],
)  # fmt: skip
def test_what_does_not_define_a_metric_is_refused(made, message):
    with pytest.raises(fg.SpecError, match=message):
        made()


def test_two_metrics_of_one_name_are_refused():
    other = fg.rate("hit_share", of=fg.TP, among=ALL)
    for asked in (
        {"metrics": [HIT_SHARE, other]},
        {"metrics": [HIT_SHARE], "rules": [fg.rule(other.compared("ratio"), at_least=0.8)]},
    ):
        with pytest.raises(fg.SpecError) as caught:
            audited(**asked)
        (problem,) = caught.value.problems
        assert "two different metrics are called 'hit_share'" in problem.message


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda tp, fp, fn, tn: tp / (fp * 0), r"returned inf for TP = 7.*nonzero="),
        (lambda tp, fp, fn, tn: np.log(-tp), "returned nan for TP = 7"),
        (lambda tp, fp, fn, tn: 1 if tp > fp else 0, "raised ValueError.*np.where instead of if"),
        (lambda tp, fp, fn, tn: tp.sum(), r"returned an array of shape \(\)"),
        (lambda tp, fp, fn, tn: np.stack([tp, fp]), r"returned an array of shape \(2, 4\)"),
        (lambda tp, fp, fn, tn: tp / tp.sum(), "gives other values for arrays than"),
        (lambda tp, fp: tp, "raised TypeError"),
        (lambda tp, fp, fn, tn: "many", "raised ValueError"),
        (lambda tp, fp, fn, tn: -tp, "returned -7 .* a number from 0 to inf; give its range"),
    ],
)
def test_a_function_that_does_not_fit_is_refused_by_its_name(function, message):
    function.__qualname__ = "my_statistic"
    with pytest.raises(fg.SpecError, match="'my_statistic' of mine ") as caught:
        fg.statistic(function, name="mine", range=(0, np.inf))
    assert caught.match(message)


def test_a_function_that_fails_on_the_data_is_refused_too():
    counts = {"F": {"tp": 3, "fn": 2, "tn": 5}, "M": {"tp": 5, "fp": 2, "fn": 2, "tn": 5}}
    odds = fg.statistic(lambda tp, fp, fn, tn: tp / fp, name="odds", range=(0, np.inf))
    with pytest.raises(fg.SpecError, match=r"of odds returned inf for TP = 3, FP = 0"):
        fg.audit(fg.confusion("sex", counts), metrics=odds)
    defined = fg.statistic(
        lambda tp, fp, fn, tn: tp / fp, name="odds", range=(0, np.inf), nonzero=fg.FP
    )
    found = fg.audit(fg.confusion("sex", counts), metrics=defined)["odds.ratio", "sex", "F"]
    assert (str(found.status), found.value) == ("undefined", None)
    assert describe_reason(found.reason) == "the group has no false positives (FP = 0)"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (5, r"metrics\[0\]: must be a metric or the name of one, not 5"),
        ([matthews], "make it one: fairgauge.statistic"),
        ([], "name at least one metric"),
    ],
)
def test_what_is_no_metric_is_refused(asked, message):
    with pytest.raises(fg.SpecError, match=message):
        audited(asked)


def test_a_rule_may_name_the_rate_of_every_group():
    rules = [fg.rule(HIT_SHARE, at_least=0.9), fg.rule(MATTHEWS, at_least=-0.5)]
    report = fg.audit(fg.confusion("sex", COUNTS), metrics="AD", rules=rules, replicates=400)
    found = {(v.metric, v.group): str(v.outcome) for v in report.verdicts}
    assert found["hit_share", "F"] == "fail"
    assert found["matthews", "F"] == "pass"


def test_a_statistic_that_can_be_negative_has_no_ratio():
    with pytest.raises(LookupError, match="matthews has no ratio: it can be negative"):
        MATTHEWS.compared("ratio")
    assert {e.metric for e in audited([MATTHEWS]).estimates} == {"matthews.difference"}


cells = st.builds(lambda *k: sum((n * c for n, c in zip(k, (fg.TP, fg.FP, fg.FN, fg.TN), strict=True)), 0 * fg.TP), *[st.integers(0, 3)] * 4)  # noqa: E501 # fmt: skip


@given(over=cells, under=cells)
def test_any_quotient_of_cells_is_measured_or_refused(over, under):
    """Whatever the coefficients: a value by hand, inside its interval and its range."""
    empty = not any(over) or not any(under)
    if empty or over == under == ALL:
        with pytest.raises(fg.SpecError, match=r"must be a sum of|is the same for every group"):
            fg.quotient("any_quotient", over=over, under=under)
        return
    metric = fg.quotient("any_quotient", over=over, under=under)
    report = audited([metric])
    counted = next(g for g in report.groups if g.group == "F")
    found = counted.rates["any_quotient"]
    numbers = [COUNTS["F"][c] for c in ("tp", "fp", "fn", "tn")]
    above, below = (np.dot(each, numbers) for each in (over, under))
    assert found.value == pytest.approx(above / below, rel=1e-12)
    assert found.low <= found.value <= found.high
    assert metric.range[0] <= found.value <= metric.range[1]
