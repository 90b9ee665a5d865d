"""The numbers of an audit of protected counts hold for every table that agrees with them."""

from __future__ import annotations

import itertools
import json
import math
import re

import numpy as np
import polars as pl
import pytest
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.enums import Outcome, Status
from fairgauge.errors import CubeError
from fairgauge.evidence.protection import protected
from fairgauge.reasons import ReasonCode
from fairgauge.render import render
from fairgauge.results.verification import VerificationResult

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
    exact, safe = fg.audit(cube), fg.audit(protected(cube, min_cell, [], random))
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
    safe = protected(cube, 3, [], np.random.default_rng(0))
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
    safe = protected(cube, 10, [], random)
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
            assert each.reason.code in (ReasonCode.PROTECTED, ReasonCode.PROTECTED_EMPTY)


@pytest.mark.parametrize("reference", ["best", "largest", "overall"])
def test_what_has_no_bounds_for_its_reference_has_a_reason(reference):
    safe = fg.protect(fg.count(people(np.random.default_rng(1)), count="n", **ASKED), 10)
    shared = fg.audit(safe, metrics=["accuracy.difference"], reference=reference)
    chosen = reference in ("best", "largest")
    code = ReasonCode.PROTECTED_REFERENCE if chosen else ReasonCode.PROTECTED
    assert {e.reason.code for e in shared.estimates} == {code}
    assert {e.status for e in shared.estimates} == {Status.NOT_APPLICABLE}


def test_strata_have_bounds_and_no_pooled_estimate():
    random = np.random.default_rng(4)
    rows = pl.concat([people(random).with_columns(s=pl.lit(name)) for name in ("north", "south")])
    cube = fg.count(rows, count="n", **ASKED, strata="s")
    report = fg.audit(fg.protect(cube, 5), metrics=["accuracy.difference"])
    pooled = [e for e in report.estimates if e.scope.kind == "pooled"]
    assert pooled
    assert {e.reason.code for e in pooled} == {ReasonCode.PROTECTED}
    assert sum(e.bounds is not None for e in report.estimates) == 9


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
        assert f"up to {each.reason['rows']} cases without g could change it" in each.says


@pytest.mark.parametrize(("sex", "outcome"), [("F", Outcome.PASS), (None, Outcome.INCONCLUSIVE)])
def test_rows_that_lack_a_column_may_be_of_groups_alone_that_the_other_allows(sex, outcome):
    """A rule on men was open as women of unknown race could be men."""
    many = {(s, r): 800 for s in "FM" for r in "BW"} | {(sex, None): 150}
    rows = [(*group, p, n) for group, n in many.items() for p in (0, 1)]
    cube = fg.count(
        pl.DataFrame(rows, schema=["sex", "race", "p", "n"], orient="row"), prediction="p",
        positive=1, count="n", intersections=[("sex", "race")], reference={"sex*race": ("M", "B")},
    )  # fmt: skip
    rule = "-0.12 <= selection_rate.difference <= 0.12"
    report = fg.audit(fg.protect(cube, 5), rules=[rule])
    assert {each.group: each.outcome for each in report.verdicts}["M & W"] is outcome


@pytest.mark.parametrize(("missing", "outcome"), [(0, Outcome.PASS), (600, Outcome.INCONCLUSIVE)])
def test_no_rule_passes_beside_many_missing_decisions(missing, outcome):
    """It passed, and the exact counts were inconclusive."""
    n = {("F", 1): 500, ("F", 0): 500, ("M", 1): 500, ("M", 0): 500, ("M", None): missing}
    rows = pl.DataFrame([{"g": g, "p": p, "n": n} for (g, p), n in n.items()], strict=False)
    asked = {"prediction": "p", "sensitive": "g", "positive": 1}
    cube = fg.count(rows, count="n", **asked)
    for each in (cube, protected(cube, 5, [], np.random.default_rng(1))):
        assert fg.audit(each, rules=["selection_rate.ratio >= 0.6"]).verdict is outcome


def test_people_with_a_decision_beside_an_unknown_one_are_not_protected():
    rows = pl.DataFrame({"id": ["a", *"abcde"], "g": [*"FFFMMM"],
                         "p": [0, None, 1, 1, 0, 1]})  # fmt: skip
    cube = fg.count(rows, prediction="p", sensitive="g", positive=1, person="id")
    with pytest.raises(
        CubeError, match=r"1 of their 5 people have a known .*\(--where 'p != \(missing\)'\)"
    ):
        fg.protect(cube, min_cell=3)


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


NOT_SHOWN = {"F": {"tp": 203, "fn": 77, "fp": 3, "tn": 91}, "M": {"tp": 617, "fn": 39, "tn": 4}}


@pytest.fixture(scope="module")
def protected_report():
    return fg.audit(fg.protect(fg.confusion("sex", NOT_SHOWN), 10), rules=["accuracy >= 0.5"])


@pytest.mark.parametrize("format_", ["text", "markdown", "html", "json", "csv", "junit"])
def test_no_format_shows_an_exact_count(protected_report, format_):
    """Every number of persons in a report is a multiple of the smallest cell."""
    counts, report = NOT_SHOWN, protected_report
    text = render(report, format_)
    assert "multiples of 10" in text or format_ in ("csv", "junit")
    for exact in (203, 77, 91, 617, 39, sum(n for of in counts.values() for n in of.values())):
        assert f" {exact} " not in text
        assert f">{exact}<" not in text
        assert f",{exact}," not in text
    if format_ == "json":
        plain = json.loads(text)
        for group in plain["groups"]:
            assert all(n % 10 == 0 for n in [group["n"], *group["counts"].values()])
        for each in plain["estimates"]:
            sizes = (each["n_group"], each["n_reference"])
            assert all(n is None or n % 10 == 0 for n in sizes)
        assert plain["data"]["rows"] % 10 == 0


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
    for suffix in (".json", ".cdx.json", ".card.json"):
        report.save(tmp_path / f"report{suffix}")
    for path in tmp_path.glob("*.json"):
        held.append(json.loads(path.read_text(encoding="utf-8")))
    for value in held:
        assert not exact & {*numbers_in(value)}
    words = set(re.findall(r"\d+", render(report, "notebook").replace(",", "")))
    assert not {str(n) for n in exact if n > 99} & words


def test_a_report_of_protected_counts_is_saved_loaded_and_sealed(tmp_path):
    counts = {"F": {"tp": 203, "fn": 77, "fp": 3, "tn": 91}, "M": {"tp": 617, "fn": 39, "tn": 4}}
    safe = fg.protect(fg.confusion("sex", counts), 10)
    report = fg.audit(safe, metrics=["accuracy.difference", "selection_rate.ratio"])
    (tmp_path / "report.json").write_text(report.to_json(), encoding="utf-8")
    assert fg.load(tmp_path / "report.json").estimates == report.estimates
    found = fg.seal(report, safe, tmp_path / "audit.fairgauge")
    assert found.finding is VerificationResult.REPRODUCED


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


def test_a_rate_of_perhaps_no_row_is_undefined():
    safe = fg.protect(fg.confusion("sex", {"F": {"tp": 200}, "M": {"tp": 610, "fn": 90}}), 10)
    report = fg.audit(safe, metrics=["false_positive_rate.difference"])
    for each in report.estimates:
        assert each.status is Status.UNDEFINED
        assert each.reason.code is ReasonCode.PROTECTED_EMPTY
    assert not math.isnan(report.groups[0].n)


@pytest.fixture
def hired():
    """Return protected counts of decisions by sex, with few in one group."""
    exact = fg.count(
        pl.DataFrame(
            {
                "sex": ["F", "F", "M", "M", "X", "X"],
                "hired": ["yes", "no"] * 3,
                "n": [560, 1_190, 660, 1_340, 10, 10],
            }
        ),
        count="n",
        prediction="hired",
        positive="yes",
        sensitive="sex",
        metrics="selection_rate",
        reference={"sex": "M"},
    )
    return protected(exact, 10, [], np.random.default_rng(1))


@pytest.mark.parametrize("reference", ["best", "largest"])
def test_a_reference_that_protected_counts_do_not_show_is_explained(hired, reference):
    report = fg.audit(hired, reference=reference)
    reasons = {each.reason.code for each in report.estimates if each.value is None}
    assert reasons == {ReasonCode.PROTECTED_REFERENCE}
    text = " ".join(render(report, "text").split())
    assert f"do not show which group is the {reference} one" in text
    assert "--reference sex=GROUP" in text
