"""Rules in tests: `Report.check` and the pytest plugin; reports as values."""

import copy
import os
import pickle
import subprocess
import sys
import textwrap
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import fairgauge as fg
from fairgauge.results.estimates import FamilyOfTests
from fairgauge.stats.significance import sidak

FEW = {"F": {"tp": 12, "fn": 10, "tn": 1}, "M": {"tp": 15, "fn": 9, "tn": 1}}
EQUAL = {"F": {"tp": 4_500, "fn": 500, "tn": 1}, "M": {"tp": 4_500, "fn": 500, "tn": 1}}
UNEQUAL = {"F": {"tp": 100, "fn": 900, "tn": 1}, "M": {"tp": 900, "fn": 100, "tn": 1}}
RULE = "true_positive_rate.ratio >= 0.8"


def audit(counts, *rules, **options):
    return fg.audit(fg.confusion("sex", counts), rules=[*rules], **options)


def test_a_report_that_passes_is_returned():
    report = audit(EQUAL, RULE)
    assert report.check() is report


def test_a_line_for_each_rule_and_group_that_is_not_met():
    report = audit(UNEQUAL, RULE, "accuracy >= 0.05", "accuracy >= 0.5")
    with pytest.raises(AssertionError) as caught:
        report.check()
    heading, *lines = str(caught.value).splitlines()
    assert heading == "2 of 5 verdicts are not a pass"
    assert [line.split(":")[0] for line in lines] == [
        f"FAIL {RULE}, sex",
        "FAIL accuracy >= 0.5, sex",
    ]
    assert lines[0].startswith(f"FAIL {RULE}, sex: F: true positive rate ratio 0.11")
    assert [verdict.group for verdict in caught.value.verdicts] == ["F", "F"]


def test_what_is_undecided_raises_unless_it_is_to_pass():
    report = audit(FEW, RULE)
    with pytest.raises(fg.RulesNotMet, match=f"INCONCLUSIVE {RULE}, sex: F: .* includes 0.8"):
        report.check()
    report.check(inconclusive="pass")
    with pytest.raises(fg.SpecError, match="inconclusive: use 'fail' or 'pass', not 'ignore'"):
        report.check(inconclusive="ignore")


@pytest.mark.parametrize("inconclusive", ["fail", "pass"])
def test_nothing_passes_by_absence(inconclusive):
    with pytest.raises(fg.RulesNotMet, match="the audit has no rules"):
        audit(EQUAL).check(inconclusive=inconclusive)
    absent = audit(EQUAL, fg.rule("accuracy", at_least=0.5, groups=["X"]))
    with pytest.raises(fg.RulesNotMet, match=r"NOT EVALUATED accuracy >= 0.5"):
        absent.check(inconclusive=inconclusive)
    ignored = audit(FEW, fg.rule("accuracy", at_least=0.5, insufficient="ignore"), min_n=1_000)
    with pytest.raises(fg.RulesNotMet, match=r"2 of 2 .* not a pass\nIGNORED accuracy >= 0.5"):
        ignored.check(inconclusive=inconclusive)


def test_many_groups_are_a_few_lines_and_hostile_names_do_no_harm():
    counts = {f"g{i}\x1b[31m\n": {"tp": 10 + i, "fn": 990 - i} for i in range(40)}
    with pytest.raises(fg.RulesNotMet) as caught:
        audit(counts, "accuracy >= 0.5").check()
    lines = str(caught.value).splitlines()
    assert len(lines) == 22
    assert lines[-1] == "and 20 more"
    assert "\x1b" not in str(caught.value)


def test_the_error_is_a_value():
    with pytest.raises(fg.RulesNotMet) as caught:
        audit(UNEQUAL, RULE).check()
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.verdicts) == (str(caught.value), caught.value.verdicts)


def test_reports_are_values():
    columns = {"y": [1, 0] * 60, "p": [1, 1, 0] * 40, "s": ["x", "y"] * 60, "g": [*"aab"] * 40}
    asked = {"label": "y", "prediction": "p", "strata": "s", "sensitive": "g"}
    asked |= {"metrics": ["standard", "clarify"]}
    first, second = (fg.audit(columns, **asked) for _ in range(2))
    assert first == second == replace(second, created="2020-01-01T00:00:00+00:00")
    for same in (pickle.loads(pickle.dumps(first)), copy.deepcopy(first)):
        assert same == first
        assert same.to_json() == first.to_json()
    assert fg.Report.from_dict(first.to_dict()) == first
    assert first != replace(first, estimates=first.estimates[1:])
    cubes = [fg.count(columns, label="y", sensitive="g") for _ in range(2)]
    assert pickle.loads(pickle.dumps(cubes[0])) == cubes[1]
    compared = fg.compare(first, second)
    assert pickle.loads(pickle.dumps(compared)) == compared


def test_reports_with_metrics_of_ones_own_are_values():
    own = fg.statistic(lambda tp, fp, fn, tn: tp / (tp + fn), name="mine", nonzero=[fg.TP + fg.FN])
    first, second = (audit(EQUAL, metrics=[own]) for _ in range(2))
    assert first == second
    assert pickle.loads(pickle.dumps(first)) == first


def test_a_loaded_comparison_of_scores_cut_at_their_median_is_of_scoring_rates(tmp_path):
    reports = []
    for shift in (10, 40):
        score = [((7 * i) % 100 + (i % 2) * shift) / 150 for i in range(200)]
        asked = {"sensitive": "sex", "score": "score", "threshold": "median"}
        rows = {"sex": ["F", "M"] * 100, "score": score}
        reports.append(fg.audit(rows, metrics=["selection_rate.difference"], **asked))
    comparison = fg.compare(*reports)
    assert "scoring rate" in str(comparison).casefold()
    comparison.save(tmp_path / "comparison.json")
    assert str(fg.load(tmp_path / "comparison.json")) == str(comparison)


TESTS = f"""
import fairgauge as fg

def audited(counts):
    return fg.audit(fg.confusion("sex", counts), rules=[{RULE!r}])

def test_equal():
    audited({EQUAL}).check()

def test_unequal():
    audited({UNEQUAL}).check()

def test_few():
    audited({FEW}).check()

def test_other():
    assert 1 == 2
"""


def test_pytest_shows_the_rules_and_no_traceback(tmp_path):
    (tmp_path / "test_model.py").write_text(textwrap.dedent(TESTS))
    program = "import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))"
    plugin = ["-p", "no:fairgauge", "-p", "fairgauge.integrations.pytest_plugin"]
    done = subprocess.run(
        [sys.executable, "-c", program, *plugin, "--junit-xml=out.xml", "-rN"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )  # fmt: skip
    assert "3 failed, 1 passed" in done.stdout
    assert f"FAIL {RULE}, sex: F: true positive rate ratio 0.11" in done.stdout
    assert f"INCONCLUSIVE {RULE}, sex: F" in done.stdout
    assert "test_model.py:10: RulesNotMet" in done.stdout
    assert "assert 1 == 2" in done.stdout
    assert done.stdout.count("def test_") == 1, "a traceback of the other test alone"
    (unequal,) = ET.parse(tmp_path / "out.xml").iterfind(".//testcase[@name='test_unequal']")
    assert "ratio 0.11" in unequal.find("failure").text


GROUPS = {
    "F": {"tp": 60, "fp": 20, "fn": 140, "tn": 180},
    "M": {"tp": 187, "fp": 66, "fn": 33, "tn": 154},
    "X": {"tp": 90, "fp": 30, "fn": 60, "tn": 120},
}


def report(groups: str, **asked: Any) -> fg.Report:
    return fg.audit(fg.confusion("g", {name: GROUPS[name] for name in groups}), **asked)


@pytest.mark.parametrize(
    ("groups", "metrics", "family"),
    [
        ("FM", ["selection_rate.difference"], (1, 0, 0)),
        ("FM", ["selection_rate.difference", "selection_rate.ratio", "DPPL"], (1, 0, 0)),
        ("FM", ["selection_rate.difference", "recall.difference"], (2, 0, 0)),
        ("FMX", ["selection_rate.difference"], (3, 1, 1)),
    ],
)
def test_family_is_counted(groups: str, metrics: list[str], family: tuple[int, ...]) -> None:
    found = report(groups, metrics=metrics)
    assert found.findings
    for each in found.findings:
        assert each.family is not None
        assert (each.family.comparisons, each.family.homogeneity, each.family.all_pairs) == family
        p = each.estimate.p_value
        assert p is not None
        assert each.p_adjusted == pytest.approx(float(sidak(p, each.family.tests)), rel=1e-9)


def test_a_group_that_cannot_be_decided_is_in_no_family() -> None:
    few = fg.confusion("g", {**GROUPS, "Y": {"tp": 3, "fp": 2, "fn": 2, "tn": 3}})
    asked: dict[str, Any] = {"metrics": ["recall.difference"], "reference": {"g": "M"}}
    one, other = (fg.audit(counts, **asked).findings[0].family
                  for counts in (fg.confusion("g", GROUPS), few))  # fmt: skip
    assert one == other == FamilyOfTests(comparisons=2, homogeneity=1, all_pairs=1)
