"""Sentences of a report agree with its tables and with each other."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import fairgauge as fg
from fairgauge.integrations.github_action import workflow_commands
from fairgauge.render.formats import render


@pytest.fixture(scope="module")
def loans() -> pd.DataFrame:
    """Return loans whose approval differs by sex and region, with a small group and gaps."""
    rng = np.random.default_rng(1)
    n = 1_200
    sex = rng.choice(["F", "M", "X"], n, p=[0.45, 0.52, 0.03])
    region = np.where(rng.random(n) < np.where(sex == "F", 0.8, 0.2), "north", "south")
    label = rng.random(n) < np.where(region == "north", 0.3, 0.7)
    score = np.clip(np.where(label, 0.65, 0.35) + rng.normal(0, 0.2, n), 0, 1)
    return pd.DataFrame(
        {
            "sex": sex,
            "region": region,
            "age": rng.integers(18, 80, n),
            "repaid": label.astype(int),
            "score": score,
            "approved": (score >= 0.5).astype(int),
        }
    )


def _audit(loans: pd.DataFrame, **asked: object) -> fg.Report:
    return fg.audit(
        loans,
        **{"label": "repaid", "prediction": "approved", "positive": 1, "sensitive": "sex", **asked},
    )


def _text(report: fg.Report, *, full: bool = False) -> str:
    """Return a report as text, its lines joined."""
    return " ".join(render(report, full=full).split())


def test_a_group_that_is_too_small_is_in_no_pair(loans):
    """Groups below min_n differ from nobody, although F and M would."""
    larger = int((loans["sex"] == "F").sum()) + 1
    assert _audit(loans, metrics="selection_rate").pairs
    assert not _audit(loans, metrics="selection_rate", min_n=larger).pairs


RATES = {"A": 60, "B": 59, "C": 30}


def _of_three_groups(rule):
    table = {g: {"tp": 10 * rate, "fn": 1_000 - 10 * rate} for g, rate in RATES.items()}
    return fg.audit(fg.confusion("grp", table), rules=rule)


@pytest.mark.parametrize(
    ("rule", "groups"),
    [
        ("true_positive_rate.largest_gap <= 0.1", ["A", "C"]),
        ("true_positive_rate.largest_gap <= 0.3", ["A", "C"]),
        ("true_positive_rate.smallest_ratio >= 0.8", ["C", "A"]),
        ("true_positive_rate.minimum >= 0.5", ["C"]),
        ("true_positive_rate.maximum <= 0.5", ["A"]),
    ],
)
def test_every_place_names_the_same_groups_of_a_rule(rule, groups):
    """A failed largest gap named the best-off group alone, as if the rule failed for it."""
    report = _of_three_groups(rule)
    named = " and ".join(groups)
    between = " and ".join(f"people with grp {each}" for each in groups)
    of = f"{'between' if len(groups) == 2 else 'for'} {between}"
    (verdict,) = report.verdicts
    does = "fails" if verdict.outcome == "fail" else "is inconclusive"
    assert f"” {does} {of}." in str(report.brief())
    assert f"{verdict.outcome.upper()} ({named} (grp)):" in render(report, "text", quiet=True)
    assert f': {named}" time=' in render(report, "junit")
    assert f"{str(verdict.outcome).upper()} for {named} (" in _text(report)
    with pytest.raises(fg.RulesNotMet, match=f"grp: {named}: "):
        report.check()
    assert all(f"grp: {named}: " in each for each in workflow_commands(report))
    markdown = render(report, "markdown")
    assert f"| {named} | {verdict.outcome}, " in markdown  # the grid of the first page
    assert "()" not in markdown
    html = render(report, "html")
    assert "each group and" not in html
    assert f">{named}</th>" in html


def test_every_table_has_the_same_groups(loans):
    """The largest ones, in the tables of rates and of other metrics."""
    rng = np.random.default_rng(3)
    weights = np.arange(1, 21) / np.arange(1, 21).sum()
    loans = loans.assign(town=[f"t{i:02d}" for i in rng.choice(20, len(loans), p=weights)])
    text = render(_audit(loans, sensitive="town", metrics=["selection_rate", "TVD"]))
    first, second = (
        [
            line.split()[0]
            for line in part.splitlines()
            if line.startswith("t") and line[1].isdigit() and "," not in line.split()[0]
        ]
        for part in text.split("12 of 20 groups")[:2]
    )
    assert first == second
    assert len(first) == 12


@pytest.mark.parametrize("strata", [["region"], ["region", "grade"]])
def test_rows_without_a_stratum_are_missing_from_numbers_within_strata_alone(loans, strata):
    """They were "excluded", beside tables with all rows."""
    known = loans.index % 10 != 0
    lacking = loans.assign(region=loans["region"].where(known), grade=1)
    report = _audit(lacking, sensitive="sex", strata=strata)
    rows, reason = int((~known).sum()), "missing stratum"
    if len(strata) > 1:
        reason = "missing region (stratum)"
    assert report.data.excluded == {reason: rows}
    assert report.data.used == len(loans)
    for kind in ("text", "markdown"):
        text = " ".join(render(report, kind).split())
        assert "all used" in text
        for other in ("Excluded:", "lacks several of these", "for at least one feature"):
            assert other not in text
    assert f"{reason}, excluded from numbers within strata, or adjusted" in render(report, "html")
