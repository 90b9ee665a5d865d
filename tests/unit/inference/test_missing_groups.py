"""Rows without a group: what they could change, by every assignment there is."""

from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.catalogue.catalogue import METRICS
from fairgauge.enums import DiagnosticCode, Outcome
from fairgauge.measure.measure import measure
from fairgauge.question.specification import ask as make_spec
from fairgauge.reasons import ReasonCode

CELLS = ("tp", "fp", "fn", "tn")
KNOWN = {"a": (14, 6, 5, 25), "b": (20, 9, 6, 30), "c": (9, 4, 8, 20)}
UNKNOWN = (3, 1, 2, 2)
MISSING = ReasonCode.MISSING_GROUPS


def rows(groups):
    """Return rows of the cells of every group, None for no group."""
    made = []
    for group, counts in groups.items():
        for cell, many in zip(CELLS, counts, strict=True):
            made += [(group, int(cell in ("tp", "fn")), int(cell in ("tp", "fp")))] * many
    return pd.DataFrame(made, columns=["g", "y", "p"])


def ask(data, *rules, **options):
    asked = {"label": "y", "prediction": "p", "sensitive": "g"} | options
    return fg.audit(data, metrics=[rule.metric for rule in rules], rules=rules, **asked)


def said(report, group="a"):
    (found,) = [each for each in report.verdicts if group in (each.group, each.mirror)]
    return found


def worst_case(data, metric, group, **options):
    """Return the worst case of a metric for one group."""
    asked = {"label": "y", "prediction": "p", "sensitive": "g", "metrics": metric} | options
    asked["rules"] = [fg.rule(metric, at_least=0.001)]  # without a rule nobody asks for them
    spec = make_spec(**asked)
    measured = measure(fg.count(data, **asked), spec)
    ((found,),) = [cases for key, cases in measured.worst_cases.items() if key[2] == group]
    return found


@cache
def everywhere(group):
    """Return the report of every way in which unknown rows may be of the group or not."""
    found = []
    for mine in product(*(range(many + 1) for many in UNKNOWN)):
        theirs = [u - m for u, m in zip(UNKNOWN, mine, strict=True)]
        other = next(each for each in KNOWN if each != group)
        moved = {
            name: tuple(
                k + (m if name == group else t if name == other else 0)
                for k, m, t in zip(cells, mine, theirs, strict=True)
            )
            for name, cells in KNOWN.items()
        }
        cells = {name: dict(zip(CELLS, each, strict=True)) for name, each in moved.items()}
        found.append(fg.audit(fg.confusion("g", cells), metrics=ATTAINED))
    return found


ATTAINED = [
    "RD", "selection_rate.difference", "DI", "accuracy.ratio", "selection_odds.ratio",
    "error_type_ratio.difference", "selection_smd_overall",
]  # fmt: skip


@pytest.mark.parametrize("metric", ATTAINED)
def test_the_worst_cases_are_what_some_assignment_attains(metric):
    values = [report[metric, "g", "b"].value for report in everywhere("b")]
    worst = worst_case(rows(KNOWN | {None: UNKNOWN}), metric, "b")
    assert (worst.low, worst.high) == pytest.approx((min(values), max(values)), abs=1e-12)
    assert worst.rows == sum(UNKNOWN)


def test_no_rule_passes_beside_many_rows_without_a_group():
    """Means, areas under curves, F1 and equalized odds passed with 40% of rows of unknown group."""
    random = np.random.default_rng(4)
    data = pd.DataFrame(
        {"g": random.choice(["a", "b", "c"], 3_000), "y": random.integers(0, 2, 3_000)}
    )
    data["s"] = np.round(np.clip(data["y"] * 0.2 + random.random(3_000) * 0.8, 0, 1), 2)
    share = 1 if EVERY_CASE else 3
    of = {"label", "prediction", "score"}
    names = [m.name for m in METRICS if "binary" in m.tasks and m.needs <= of]
    asked = {"label": "y", "score": "s", "threshold": 0.5, "sensitive": "g", "replicates": 50}
    asked |= {"metrics": "all" if EVERY_CASE else names[::share]}
    every = fg.audit(data, **asked)
    ends: dict[str, list[float]] = {}
    for each in every.estimates:
        single = each.scope.kind == "overall" and each.feature == "g"
        if single and each.status == "ok" and each.interval:
            ends.setdefault(each.metric, []).extend(each.interval)
    rules = [fg.rule(m, between=(min(e) - 0.01, max(e) + 0.01)) for m, e in ends.items()]
    assert len(rules) > 100 / share
    passed = {each.rule for each in fg.audit(data, **asked, rules=rules).verdicts
              if each.outcome is Outcome.PASS}  # fmt: skip
    assert len(passed) > 0.8 * len(rules)
    unknown = pd.concat([data, data.sample(2_000, random_state=1).assign(g=None)])
    found = fg.audit(unknown, **asked, rules=rules)
    assert not [each for each in found.verdicts if each.outcome is Outcome.PASS]
    few = pd.concat([data, data[:5].assign(g=None)])
    kept = {each.rule for each in fg.audit(few, **asked, rules=rules).verdicts
            if each.outcome is Outcome.PASS}  # fmt: skip
    assert len(kept) > 0.8 * len(passed)


@pytest.mark.parametrize(
    ("metric", "tolerance"),
    [
        ("selection_rate.ratio", 0.002),
        ("selection_rate.difference", 0.001),
        ("selection_odds.ratio", 0.01),
        ("false_negative_rate.difference", 0.002),
    ],
)
def test_an_interval_reaches_as_far_as_that_of_the_worst_table(metric, tolerance):
    """It moved by as much as the value, and a limit below it was passed that the table failed."""
    rng = np.random.default_rng(5)
    lowers = ("fn", "tn") if metric.startswith("selection") else ("tp",)
    counted = CELLS if metric.startswith("selection") else ("tp", "fn")

    def low(known, *rules):
        rule = fg.rule(metric, at_least=-0.9 if metric.endswith("difference") else 0.001)
        report = ask(rows(known), *(rules or [rule]), reference={"g": "b"})
        return said(report) if rules else said(report).interval.low

    for _ in range(6):
        sizes = np.append(rng.integers(150, 1500, 2), rng.integers(5, 120)).tolist()
        a, b, none = (
            dict(zip(CELLS, rng.multinomial(n, rng.dirichlet([5] * 4)), strict=True)) for n in sizes
        )
        known = {"a": [*a.values()], "b": [*b.values()]}
        asked = fg.rule(metric, at_least=low(known) - 1e-9)
        reached = low(known | {None: [*none.values()]}, asked).reason
        assert reached.code is MISSING
        for cell in counted:
            (a if cell in lowers else b)[cell] += none[cell]
        worst = low({"a": [*a.values()], "b": [*b.values()]})
        assert reached["low"] <= worst + tolerance


def test_a_failure_that_rows_could_turn_is_inconclusive():
    known = {"a": (200, 0, 800, 0), "b": (300, 0, 700, 0)}
    rule = fg.rule("DI", at_least=0.8)
    assert said(ask(rows(known), rule)).outcome is Outcome.FAIL
    found = said(ask(rows(known | {None: (60, 0, 0, 0)}), rule))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert (found.reason.code, found.reason["rows"], found.reason["alone"]) == (MISSING, 60, "fail")
    assert found.says.startswith(
        "disparate impact (Clarify DI) 0.667, 95% CI 0.570 to 0.779: the 60 rows without a known g "
        "could change that: it could reach from "
    )


def test_the_value_alone_decides_whatever_the_rows_without_a_group():
    known = {"a": (200, 0, 800, 0), "b": (300, 0, 700, 0), None: (60, 0, 0, 0)}
    rule = fg.rule("DI", at_least=0.8, decide="point")
    found = said(ask(rows(known), rule))
    assert (found.outcome, found.reason.code) == (Outcome.FAIL, ReasonCode.POINT_OUTSIDE)


def test_weights_bound_weighted_rates():
    """30 of 100 against 20 of 100, and 8 of 20 by their weights without a group."""
    known = {"a": (30, 0, 70, 0), "b": (20, 0, 80, 0), None: (4, 0, 6, 0)}
    data = rows(known).assign(w=lambda of: np.where(of["g"].isna(), 5.0, 2.5))
    worst = worst_case(data, "selection_rate.difference", "a", weight="w")
    bound = 30 / 112 - 28 / 108, 38 / 108 - 20 / 112
    assert (worst.low, worst.high) == pytest.approx(bound)


def test_an_intersection_misses_rows_that_miss_either_part():
    data = rows(KNOWN | {None: UNKNOWN}).assign(h=lambda d: np.where(d.index % 2, "x", "y"))
    data.loc[0, "h"] = None
    rule = fg.rule("selection_rate.difference", between=(-1, 0.99), decide="point")
    report = ask(data, rule, sensitive="g", intersections=[("g", "h")])
    notes = {d.feature: (d["rows"], d["total"]) for d in report.diagnostics
             if d.code is DiagnosticCode.MISSING_GROUPS}  # fmt: skip
    assert notes == {"g*h": (9, 164), "g": (8, 164)}
