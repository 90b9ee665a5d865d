"""Findings state the tests with which theirs is judged together."""

import json
from typing import Any

import pytest

import fairgauge as fg
from fairgauge.render import render
from fairgauge.results.estimates import FamilyOfTests
from fairgauge.stats.significance import sidak

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


def test_every_format_of_data_has_it() -> None:
    found = report("FMX", metrics=["selection_rate.difference"])
    saved = json.loads(render(found, "json"))
    family = {"tests": 5, "comparisons": 3, "homogeneity": 1, "all_pairs": 1}
    assert saved["findings"][0]["family"] == family
    assert fg.Report.from_dict(saved).findings == found.findings
    assert found.to_polars("findings")["family_tests"].to_list() == [5.0] * len(found.findings)
