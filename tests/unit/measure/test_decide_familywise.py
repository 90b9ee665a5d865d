"""Verdicts that hold together: Holm at the limits of the rules."""

import importlib
import itertools

import numpy as np
import polars as pl
import pytest
from scipy.optimize import brentq
from scipy.stats import norm
from tests.selected_groups import selected as of_groups

import fairgauge as fg
from fairgauge.enums import Outcome
from fairgauge.measure.measure import measure
from fairgauge.reasons import ReasonCode
from fairgauge.rowwise import row_metrics as row_reader
from fairgauge.scan.row_codes import coded_rows, read_rows
from fairgauge.stats.contrasts import newcombe

audit_module = importlib.import_module("fairgauge.api.audit")

LIMIT = 0.05


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

    def counted(calls, function):
        def called(*arguments, **options):
            calls.append(arguments[1:])
            return function(*arguments, **options)

        return called

    for read in (read_rows, coded_rows):
        monkeypatch.setattr(row_reader, read.__name__, counted(reads, read))
    monkeypatch.setattr(audit_module, "measure", counted(levels, measure))
    asked = {"label": "y", "prediction": "p", "sensitive": "g", "positive": 1, "rules": rules}
    fg.audit(rows, **asked, **options)
    per_decision = list(reads)
    reads.clear()
    levels.clear()
    fg.audit(rows, **asked, **options, multiplicity="familywise")
    assert len(levels) > 2  # more than one step of Holm, so that the test can fail
    assert reads == per_decision != []


def test_one_comparison_needs_no_adjustment() -> None:
    options = {"rules": [{"metric": "DPPL", "at_most": 0.05, "groups": ["g4"]}]}
    alone, together = (
        audited(SELECTED, multiplicity=each, **options) for each in ("per-decision", "familywise")
    )
    assert alone.verdicts == together.verdicts
