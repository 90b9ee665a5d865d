"""Nobody can silence a FAIL: what is added elsewhere leaves it a FAIL, or undecided at most."""

from __future__ import annotations

from typing import Any

import pytest

import fairgauge as fg

COUNTS = {
    "A": {"tp": 60, "fp": 20, "fn": 140, "tn": 180},
    "B": {"tp": 170, "fp": 60, "fn": 30, "tn": 140},
}
TINY = {"tp": 3, "fp": 3, "fn": 3, "tn": 3}
LARGE = {"tp": 120, "fp": 50, "fn": 80, "tn": 150}
COMPARED = tuple(
    entry.name for entry in fg.metrics() if entry.name.endswith((".difference", ".ratio"))
)


def fails(counts: dict[str, Any], rules: list[Any], **more: Any) -> set[tuple[str, Any]]:
    report = fg.audit(fg.confusion("g", counts), rules=rules, **more)
    return {(v.metric, v.group) for v in report.verdicts if v.outcome == "fail"}


@pytest.fixture(scope="module")
def rules() -> list[Any]:
    """Return a rule for every difference and ratio of counts that A surely fails."""
    report = fg.audit(fg.confusion("g", COUNTS), reference={"g": "B"}, metrics="all")
    found = []
    for each in report.estimates:
        if each.metric in COMPARED and each.group == "A" and each.interval and each.status == "ok":
            limit = each.high + 0.1 * (each.high - each.low)
            found.append(fg.rule(each.metric, at_least=limit, groups="A"))
    assert len(found) > 20
    return found


@pytest.mark.parametrize("added", [TINY, LARGE], ids=["a tiny group", "a large group"])
def test_another_group_silences_no_fail_against_a_named_reference(
    rules: list[Any], added: dict[str, int]
) -> None:
    before = fails(COUNTS, rules, reference={"g": "B"})
    assert before == {(rule.metric, "A") for rule in rules}
    assert fails({**COUNTS, "C": added}, rules, reference={"g": "B"}) == before


def test_another_rule_silences_no_fail(rules: list[Any]) -> None:
    met = fg.rule("selection_rate.difference", between=(-1, 1))
    alone = fails(COUNTS, rules, reference={"g": "B"})
    assert fails(COUNTS, [*rules, met], reference={"g": "B"}) >= alone


def test_a_tiny_group_silences_no_fail_of_a_largest_gap() -> None:
    limit = [fg.rule("selection_rate.largest_gap", at_most=0.05)]
    assert fails(COUNTS, limit)
    extreme = {"tp": 12, "fp": 0, "fn": 0, "tn": 0}
    assert fails({**COUNTS, "C": extreme}, limit)
