"""Verdicts that hold together: Holm at the limits of the rules."""

from __future__ import annotations

import importlib
import itertools

import numpy as np
import polars as pl
import pytest
from scipy.optimize import brentq
from scipy.stats import norm
from tests.selected_groups import selected as of_groups

import fairgauge as fg
from fairgauge.enums import DiagnosticCode, Outcome
from fairgauge.measure.measure import measure
from fairgauge.reasons import ReasonCode
from fairgauge.rowwise import _row_reader as exact_scores
from fairgauge.rowwise import _row_reader as row_reader
from fairgauge.scan.row_access import read_rows
from fairgauge.stats.contrasts import newcombe

audit_module = importlib.import_module("fairgauge.api.audit")

LIMIT = 0.05

GROUPS = 8


def counts_of(selected: list[int], n: int = 400) -> fg.Cube:
    return of_groups({f"g{i}": (k, n) for i, k in enumerate(selected)})


def audited(selected: list[int], **options: object) -> fg.Report:
    options = {"reference": {"g": "g0"}, "rules": ["-0.05 <= DPPL <= 0.05"]} | options
    return fg.audit(counts_of(selected), **options)


def p_at_limit(group: int, reference: int, n: int = 400) -> float:
    """Return one minus the confidence at which Newcombe's interval reaches the limit, halved."""
    value = (reference - group) / n
    if abs(value) <= LIMIT:
        return 1.0

    def beyond(z: float) -> float:
        low, high = newcombe(reference, n, group, n, z)
        return float(low - LIMIT if value > 0 else -LIMIT - high)

    return float(norm.sf(brentq(beyond, 1e-9, 30)))


SELECTED = [200, 152, 144, 140, 139, 138, 205, 195]


def test_fails_are_those_of_holm() -> None:
    """Against p-values at the limits, inverted from Newcombe's interval and adjusted by Holm."""
    report = audited(SELECTED, multiplicity="familywise")
    p = [p_at_limit(k, SELECTED[0]) for k in SELECTED[1:]]
    alone = [each < 0.025 for each in p]
    ordered = sorted(range(len(p)), key=p.__getitem__)
    rejected = itertools.takewhile(
        lambda rank: p[ordered[rank]] < 0.025 / (len(p) - rank), range(len(p))
    )
    failing = {ordered[rank] for rank in rejected}
    together = [i in failing for i in range(len(p))]
    assert alone != together != [each < 0.025 / len(p) for each in p]  # nor are they Bonferroni's
    assert [each.outcome is Outcome.FAIL for each in report.verdicts] == together
    given = audited(SELECTED)
    assert [each.outcome is Outcome.FAIL for each in given.verdicts] == alone
    for before, after in zip(given.verdicts, report.verdicts, strict=True):
        assert before.remains is (None if before.outcome is not Outcome.FAIL else
                                  after.outcome is Outcome.FAIL)  # fmt: skip
        if before.outcome is after.outcome:
            assert before == after
        else:
            assert (before.outcome, after.outcome) == (Outcome.FAIL, Outcome.INCONCLUSIVE)
            assert after.reason.code is ReasonCode.FAMILYWISE
            assert "the 7 comparisons are decided together (Holm)" in after.says


@pytest.mark.parametrize(
    ("rules", "options"),
    [
        (["FT <= 0.02", "-0.02 <= DPPL <= 0.02"], {"features": ["x"]}),
        (["roc_auc.difference >= -0.001", "-0.02 <= DPPL <= 0.02"], {"score": "s"}),
    ],
)
def test_rows_are_read_as_often_as_without_adjustment(monkeypatch, rules, options) -> None:
    """Each step of Holm read all rows again, although they do not depend on the confidence."""
    random = np.random.default_rng(4)
    group = random.integers(0, 4, 400)
    rows = pl.DataFrame({
        "g": [f"g{k}" for k in group],
        "y": random.integers(0, 2, 400),
        "p": (random.random(400) < 0.2 + 0.2 * group).astype(int),
        "s": (random.random(400) * 0.5 + 0.1 * group).round(4),
        "x": random.random(400),
    })  # fmt: skip
    reads, levels = [], []

    def counted_read(*arguments, **options):
        reads.append(arguments[1])
        return read_rows(*arguments, **options)

    def counted_levels(*arguments, **options):
        levels.append(arguments)
        return measure(*arguments, **options)

    for module in (row_reader, exact_scores):
        monkeypatch.setattr(module, "read_rows", counted_read)
    monkeypatch.setattr(audit_module, "measure", counted_levels)
    read_by = {}
    for multiplicity in ("per-decision", "familywise"):
        reads.clear()
        levels.clear()
        fg.audit(
            rows, label="y", prediction="p", sensitive="g", positive=1, rules=rules,
            multiplicity=multiplicity, **options,
        )  # fmt: skip
        read_by[multiplicity] = list(reads)
    assert len(levels) > 2  # more than one step of Holm, so that the test can fail
    assert read_by["familywise"] == read_by["per-decision"] != []


def test_two_comparisons_are_noted_and_one_is_not() -> None:
    def notes(*groups: str) -> list[object]:
        rule = {"metric": "DPPL", "at_most": 0.05, "groups": list(groups)}
        report = audited(SELECTED, rules=[rule])
        code = DiagnosticCode.FAILS_TOGETHER
        return [n["comparisons"] for n in report.diagnostics if n.code is code]

    assert notes("g4") == []
    assert notes("g4", "g5") == [2]


def test_one_comparison_needs_no_adjustment() -> None:
    options = {"rules": [{"metric": "DPPL", "at_most": 0.05, "groups": ["g4"]}]}
    alone, together = (
        audited(SELECTED, multiplicity=each, **options) for each in ("per-decision", "familywise")
    )
    assert alone.verdicts == together.verdicts


@pytest.mark.parametrize("multiplicity", ["per-decision", "familywise"])
def test_a_report_states_how_many_fails_remain(multiplicity: str) -> None:
    report = audited(SELECTED, multiplicity=multiplicity)
    [note] = [each for each in report.diagnostics if each.code is DiagnosticCode.FAILS_TOGETHER]
    fails = [each for each in report.verdicts if each.outcome is Outcome.FAIL]
    assert (note["comparisons"], note["fails"]) == (7, len(fails))
    assert note["remaining"] == sum(bool(each.remains) for each in fails)
    assert "at most 2.5% of audits" in note.message


GROUPLESS = {
    "Black": (880, 2_000),
    "White": (4_500, 6_000),
    "": (820, 1_200),
    **dict.fromkeys("ABCD", (150, 200)),
}
"""Black people fail by far; by 95% intervals rows without a race cannot change that."""


def of_people(selected: dict[str, tuple[int, int]], **options: object) -> fg.Report:
    people = [
        (race or None, i < yes) for race, (yes, n) in selected.items() for i in range(n)
    ]  # fmt: skip
    rows = pl.DataFrame(people, ["race", "ok"], orient="row")
    return fg.audit(
        rows, prediction="ok", positive=True, sensitive="race", reference={"race": "White"},
        rules=["selection_rate.difference >= -0.075"], **options,
    )  # fmt: skip


def test_what_keeps_a_fail_from_remaining_is_stated() -> None:
    """A gap of 31 points did "not remain": the rows without a race were what left it open."""
    report = of_people(GROUPLESS)
    [verdict] = [each for each in report.verdicts if each.outcome is Outcome.FAIL]
    assert (verdict.group, verdict.remains) == ("Black", False)
    could = "1,200 rows without race could then change it"
    assert verdict.says.endswith(
        f"it does not remain when all comparisons are judged together, because {could}"
    )
    printed = " ".join(str(report).split())
    assert f"not with all comparisons judged together: {could}" in printed
    assert "judged together (Holm); rows without a group alone leave 1 open." in printed
    assert "1 fails (0 when all are judged together; rows without a group alone leave 1 open)" in (
        " ".join(each.text for each in report.brief().verdict)
    )
    assert fg.Report.from_dict(report.to_dict()).verdicts == report.verdicts
    together = of_people(GROUPLESS, multiplicity="familywise")
    [open_] = [each for each in together.verdicts if each.group == "Black"]
    assert open_.says.endswith(f"decided together (Holm): {could}")


def test_with_all_groups_known_such_a_fail_remains() -> None:
    report = of_people({name: counts for name, counts in GROUPLESS.items() if name})
    [verdict] = [each for each in report.verdicts if each.outcome is Outcome.FAIL]
    assert verdict.remains
    assert verdict.says.endswith("it remains when all comparisons are judged together")


def test_rows_without_a_group_are_no_cause_where_holm_alone_decides() -> None:
    """Some fails do not remain by their own intervals, beside rows that could change nothing."""
    races = {f"g{i}": (k, 400) for i, k in enumerate((140, 200, 200, 200))}
    report = of_people({"White": (202, 400), **races, "": (1, 1)})
    alone = [each for each in report.verdicts if each.remains is False]
    assert alone
    assert all(each.reason.get("together") is None for each in alone)
    assert "leave" not in str(report)
