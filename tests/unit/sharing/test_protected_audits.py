"""The numbers of an audit of protected counts hold for every table that agrees with them."""

import itertools
import json
import re

import numpy as np
import polars as pl
import pytest
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.enums import Outcome
from fairgauge.errors import CubeError
from fairgauge.reasons import ReasonCode
from fairgauge.render import render
from fairgauge.sharing.protection import protect_counts

METRICS = ["standard", "true_positive_rate.ratio", "false_positive_rate.ratio", "DI", "DPPL"]
ASKED = {"label": "y", "prediction": "p", "sensitive": "g", "positive": 1}
SLACK = 1e-9


def people(random, *, groups=3, missing=0.0, size=40):
    """Return counted rows of groups by label and prediction."""
    cells = list(itertools.product([*range(groups), None], (0, 1), (0, 1)))
    n = random.poisson(size * random.uniform(0.1, 2.0, len(cells)))
    n[[g is None for g, _, _ in cells]] = random.poisson(missing, 4)
    return pl.DataFrame(
        {
            "g": [None if g is None else f"g{g}" for g, _, _ in cells],
            "y": [y for _, y, _ in cells],
            "p": [p for _, _, p in cells],
            "n": n,
        }
    ).filter(pl.col("n") > 0)


def bounded(report):
    return {each.key: each for each in report.estimates if each.bounds is not None}


@pytest.mark.parametrize("seed", range(2))
def test_true_metrics_and_their_intervals_lie_within_those_of_protected_counts(seed):
    random = np.random.default_rng(seed)
    rows = people(random, size=random.choice([15, 60, 400]), missing=random.choice([0, 4]))
    cube = fg.count(rows, count="n", **ASKED, metrics=METRICS)
    min_cell = int(random.choice([3, 10]))
    exact, safe = fg.audit(cube), fg.audit(protect_counts(cube, min_cell, [], random))
    known = bounded(safe)
    assert known
    compared = 0
    for each in exact.estimates:
        held = known.get(each.key)
        if held is None or each.value is None:
            continue
        low, high = held.bounds
        assert low - SLACK <= each.value <= high + SLACK
        assert low - SLACK <= held.value <= high + SLACK
        if held.interval is not None:
            assert held.interval.low <= low + SLACK
            assert held.interval.high >= high - SLACK
            if each.interval is not None:
                assert held.interval.low <= each.interval.low + SLACK
                assert held.interval.high >= each.interval.high - SLACK
                compared += 1
        if held.p_value is not None and each.p_value is not None:
            assert held.p_value >= each.p_value - 1e-6
    assert compared > 10 or min_cell == 10
    rates = {(g.group, name): r for g in exact.groups for name, r in g.rates.items()}
    for group in safe.groups:
        for name, rate in group.rates.items():
            true = rates[group.group, name]
            if rate.bounds is not None and true.value is not None:
                assert rate.bounds.low - SLACK <= true.value <= rate.bounds.high + SLACK
                assert rate.interval.low <= true.interval.low + SLACK
                assert rate.interval.high >= true.interval.high - SLACK


def test_bounds_are_attained():
    """By brute force: the least and the greatest value over all tables that agree."""
    cube = fg.confusion("sex", {"F": {"tp": 6, "fn": 4}, "M": {"tp": 9, "fn": 2}})
    safe = protect_counts(cube, 3, [], np.random.default_rng(0))
    report = fg.audit(safe, metrics=["true_positive_rate.difference", "true_positive_rate.ratio"])
    table = safe.tables[0]
    positive = table.codes[:, 1] == 1  # label: 0, 1
    cells = [
        range(int(low), int(high) + 1)
        for low, high in zip(table.sums["low"][positive], table.sums["high"][positive], strict=True)
    ]
    fn_f, tp_f, fn_m, tp_m = np.array(list(itertools.product(*cells))).T.astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        ours, theirs = tp_f / (tp_f + fn_f), tp_m / (tp_m + fn_m)
        by = {"difference": ours - theirs, "ratio": ours / theirs}
    for name, values in by.items():
        bounds = report[f"true_positive_rate.{name}", "sex", "F"].bounds
        values = values[~np.isnan(values)]
        assert bounds.low == pytest.approx(values.min())
        assert bounds.high == pytest.approx(values.max())


def test_a_verdict_holds_where_the_whole_range_agrees():
    random = np.random.default_rng(0)
    counts = {
        "F": {"tp": 300, "fn": 300, "fp": 0, "tn": 0},
        "M": {"tp": 590, "fn": 10, "fp": 0, "tn": 0},
    }
    cube = fg.confusion("sex", counts)
    safe = protect_counts(cube, 10, [], random)
    asked = {"metrics": ["true_positive_rate.ratio", "true_positive_rate.difference"]}
    clear = fg.audit(safe, **asked, rules=["true_positive_rate.ratio >= 0.8"])
    assert {v.group: v.outcome for v in clear.verdicts}["F"] is Outcome.FAIL
    for decide in ("interval", "point"):
        rule = fg.rule("true_positive_rate.difference", at_least=-0.483, groups="F", decide=decide)
        near = fg.audit(safe, **asked, rules=[rule])
        assert near.verdicts[0].outcome is Outcome.INCONCLUSIVE
    assert near.verdicts[0].reason.code is ReasonCode.BOUNDS_CROSS
    assert "agree with them, inside and outside the limits" in near.verdicts[0].says


def test_what_has_no_bounds_has_a_reason():
    safe = fg.protect(fg.count(people(np.random.default_rng(1)), count="n", **ASKED), 10)
    report = fg.audit(safe, metrics=["standard", "f1.difference", "accuracy.largest_gap"])
    for each in report.estimates:
        if each.bounds is None:
            assert each.value is None
            assert each.reason.code in (ReasonCode.PROTECTED, ReasonCode.PROTECTED_UNDEFINED)


def test_rows_without_a_group_may_change_a_verdict():
    """The most rows without a group that agree with the counts are assigned as badly as can be."""
    rows = pl.DataFrame(
        {
            "g": ["a", "a", "b", "b", None, None],
            "p": [1, 0, 1, 0, 1, 0],
            "n": [400, 400, 420, 380, 150, 160],
        }
    )
    asked = {"prediction": "p", "sensitive": "g", "positive": 1, "count": "n"}
    cube = fg.count(rows, **asked)
    rule = "-0.12 <= selection_rate.difference <= 0.12"
    report = fg.audit(fg.protect(cube, 5), rules=[rule])
    assert {v.outcome for v in report.verdicts} == {Outcome.INCONCLUSIVE}
    assert {v.reason.code for v in report.verdicts} == {ReasonCode.MISSING_GROUPS}
    for each in report.verdicts:  # how many they are is not known
        assert f"up to {each.reason['rows']} cases without a known g could change that" in each.says


def test_classes_have_bounds():
    rows = pl.DataFrame(
        {
            "g": ["a", "b"] * 90,
            "y": ["low", "mid", "high"] * 60,
            "p": ["low", "mid", "mid", "high"] * 45,
        }
    )
    cube = fg.count(rows, label="y", prediction="p", sensitive="g", task="multiclass")
    some = ["selection_rate.difference", "accuracy.difference", "kappa.difference", "TVD"]
    asked = {} if EVERY_CASE else {"metrics": [*some, "true_positive_rate.ratio"]}
    exact = {e.key: e.value for e in fg.audit(cube, **asked).estimates}
    report = fg.audit(fg.protect(cube, 5), **asked)
    known = bounded(report)
    assert known
    for key, each in known.items():
        if exact.get(key) is not None:
            assert each.bounds.low - SLACK <= exact[key] <= each.bounds.high + SLACK


def numbers_in(value):
    """Yield every number of nested values, of a workbook's sheets or of JSON."""
    if isinstance(value, dict):
        value = value.values()
    elif isinstance(value, (str, int, float)) or value is None:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            yield value
        return
    for each in value:
        yield from numbers_in(each)


def test_no_file_holds_an_exact_count(tmp_path):
    """No cell, nor the sum of a group; none of them is the end of a published range by chance."""
    openpyxl = pytest.importorskip("openpyxl")
    counts = {"F": {"tp": 203, "fn": 77, "fp": 33, "tn": 91}, "M": {"tp": 618, "fn": 139, "tn": 15}}
    exact = {n for of in counts.values() for n in (*of.values(), sum(of.values())) if n % 11}
    safe = fg.protect(fg.confusion("sex", counts), 11)
    report = fg.audit(safe, rules=["accuracy >= 0.5"])
    report.save(tmp_path / "report.xlsx")
    book = openpyxl.load_workbook(tmp_path / "report.xlsx")
    held = [[row for sheet in book for row in sheet.iter_rows(values_only=True)]]
    safe.save(tmp_path / "counts.cube.json")
    for suffix in (".json", ".card.json"):
        report.save(tmp_path / f"report{suffix}")
    for path in tmp_path.glob("*.json"):
        held.append(json.loads(path.read_text(encoding="utf-8")))
    for value in held:
        assert not exact & {*numbers_in(value)}
    words = set(re.findall(r"\d+", render(report, "notebook").replace(",", "")))
    assert not {str(n) for n in exact if n > 99} & words


def test_what_takes_exact_counts_refuses_protected_ones():
    rows = people(np.random.default_rng(1)).with_columns(q=pl.col("p"))
    asked = {**ASKED, "candidate": "q"}
    safe = fg.protect(fg.count(rows, count="n", **asked), 10)
    with pytest.raises(CubeError, match="exact counts"):
        fg.compare_models(safe)
    with pytest.raises(CubeError, match="exact counts"):
        fg.monitor(
            {"2026-01": fg.protect(fg.count(rows, count="n", **ASKED), 10)},
            {**ASKED, "count": "n", "monitor": {"rules": ["accuracy.difference >= -0.1"]}},
        )
    one, two = (fg.audit(fg.protect(fg.count(rows, count="n", **ASKED), 10)) for _ in "ab")
    changes = fg.compare(one, two).changes
    assert all(c.interval is None for c in changes)
