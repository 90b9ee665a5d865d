"""Pairs of reports for the tests of comparisons."""

from typing import Any

import fairgauge as fg
import sample_reports
from fairgauge.results.report import Report

RULES = [fg.rule("DI", at_least=0.8), fg.rule("RD", between=(-0.1, 0.1))]


def report(groups: dict[str, dict[str, int]], feature: str = "race", **options: Any) -> Report:
    """Audit a confusion matrix for each group."""
    return fg.audit(fg.confusion(feature, groups), **({"rules": RULES} | options))


def months() -> tuple[Report, Report]:
    """Return last month and this: one group fares worse, one comes up, one is new."""
    white = {"tp": 1700, "fp": 260, "fn": 300, "tn": 1240}
    black = {"tp": 830, "fp": 130, "fn": 170, "tn": 570}
    asian = {"tp": 150, "fp": 45, "fn": 150, "tn": 155}
    old = report({"White": white, "Black": black, "Asian": asian})
    new = report(
        {
            "White": white | {"tn": 1300},
            "Black": {"tp": 620, "fp": 100, "fn": 400, "tn": 590},
            "Asian": {"tp": 262, "fp": 30, "fn": 48, "tn": 170},
            "Other": {"tp": 9, "fp": 1, "fn": 2, "tn": 8},
        }
    )
    return old, new


def models() -> tuple[Report, Report]:
    """Return two models on the same rows of two groups."""
    women, men = {"tp": 70, "fp": 20, "fn": 30, "tn": 80}, {"tp": 160, "fp": 40, "fn": 40, "tn": 60}
    other = {"tp": 60, "fp": 20, "fn": 40, "tn": 80}
    old = report({"Female": women, "Male": men}, "sex")
    return old, report({"Female": other, "Male": men}, "sex")


def hostile() -> tuple[Report, Report]:
    """Return reports whose names do harm where they are taken as markup, and of which some move."""
    names = sample_reports.HOSTILE
    old = {name: {"tp": 50 + i, "fp": 20, "fn": 40, "tn": 60} for i, name in enumerate(names)}
    new = {name: {"tp": 90, "fp": 9, "fn": 10 * i, "tn": 61} for i, name in enumerate(names)}
    new["<img src=x onerror=alert(3)>"] = new.pop(names[0])
    feature = '"><b onmouseover=alert(2)>'
    return report(old, feature), report(new, feature)
