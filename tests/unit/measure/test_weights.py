"""Integer weights are duplicated rows, for counts, scores and regressions; strata turn signs."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import DiagnosticCode, Outcome, Status
from fairgauge.reasons import ReasonCode
from fairgauge.render import render
from fairgauge.render.words.reason_sentences import describe_reason
from fairgauge.results.scopes import OVERALL, POOLED

BERKELEY = {  # department: men admitted, men rejected, women admitted, women rejected
    "A": (512, 313, 89, 19),
    "B": (353, 207, 17, 8),
    "C": (120, 205, 202, 391),
    "D": (138, 279, 131, 244),
    "E": (53, 138, 94, 299),
    "F": (22, 351, 24, 317),
}


def people(n: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(11)
    y = rng.integers(0, 2, n)
    return pl.DataFrame(
        {
            "g": rng.choice(["a", "b", "c"], n),
            "h": rng.choice(["u", "v"], n),
            "y": y,
            "p": rng.integers(0, 2, n),
            "s": np.clip(rng.normal(0.4 + 0.2 * y, 0.2), 0, 1),
            "label": rng.normal(10, 3, n),
            "prediction": rng.normal(11, 2, n),
            "w": rng.integers(1, 5, n),
        }
    )


def repeated(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(pl.all().repeat_by("w").explode())


ASKED: dict[str, dict[str, Any]] = {
    "counts": {
        "label": "y",
        "prediction": "p",
        "strata": "h",
        "population": {"g": {"a": 1, "b": 1, "c": 1}},
    },
    "scores": {"label": "y", "score": "s"},
    "regression": {"label": "label", "prediction": "prediction", "task": "regression"},
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_integer_weights_are_duplicated_rows(asked: dict[str, Any]) -> None:
    frame = people()
    weighted, duplicated = (
        fg.audit(data, sensitive="g", metrics="native", **more, **asked)
        for data, more in ((frame, {"weight": "w"}), (repeated(frame), {}))
    )
    compared = 0
    counted = [
        [e for e in report.estimates if not {e.metric, e.metric.partition(".")[0]} & UNWEIGHTED]
        for report in (weighted, duplicated)
    ]
    for ours, theirs in zip(*counted, strict=True):
        assert (ours.metric, ours.group, ours.scope) == (
            theirs.metric,
            theirs.group,
            theirs.scope,
        )
        if theirs.value is None:
            continue
        assert ours.value == pytest.approx(theirs.value, rel=1e-9, abs=1e-12), ours.metric
        compared += 1
    for mine, yours in zip(weighted.groups, duplicated.groups, strict=True):
        assert mine.weight == yours.n
        for name, rate in yours.rates.items():
            if name in UNWEIGHTED:
                continue
            assert mine.rates[name].value == pytest.approx(rate.value, rel=1e-9), name
            compared += 1
    assert compared > 60


UNWEIGHTED = {"median_label.difference", "median_label.ratio",
              "prediction_ks", "prediction_wasserstein", "residual_ks", "residual_wasserstein",
              "precision_at_k", "top_selection_ratio", "skew", "ndkl", "exposure_ratio",
              "consistency", "residual_spread", "label_smd", "prediction_smd", "score_smd",
              "selection_smd", "label.differential_fairness",
              "prediction.differential_fairness"}  # fmt: skip
"""What compares or orders rows counts each row once, as its page says; a divisor n - 1 and a prior
count are of rows, of which weights say nothing."""


@pytest.fixture(scope="module")
def berkeley() -> fg.Report:
    rows = [
        {"sex": sex, "dept": dept, "admitted": yes, "n": n}
        for dept, counts in BERKELEY.items()
        for (sex, yes), n in zip(
            [("men", 1), ("men", 0), ("women", 1), ("women", 0)], counts, strict=True
        )
    ]
    return fg.audit(
        pl.DataFrame(rows),
        label="admitted",
        count="n",
        sensitive="sex",
        strata="dept",
        metrics=["base_rate.difference", "DPL", "CDDL"],
    )


def test_the_sign_turns_within_departments(berkeley: fg.Report) -> None:
    (women,) = [
        e
        for e in berkeley.estimates
        if (e.metric, e.group, e.scope) == ("base_rate.difference", "women", OVERALL)
    ]
    assert women.value == pytest.approx(557 / 1835 - 1198 / 2691, rel=1e-12)
    (pooled,) = [
        e
        for e in berkeley.estimates
        if (e.metric, e.group, e.scope) == ("base_rate.difference", "women", POOLED)
    ]
    weights, gaps = [], []
    for ma, mr, wa, wr in BERKELEY.values():
        men, women_ = ma + mr, wa + wr
        weights.append(men * women_ / (men + women_))
        gaps.append(wa / women_ - ma / men)
    expected = sum(w * g for w, g in zip(weights, gaps, strict=True)) / sum(weights)
    assert pooled.value == pytest.approx(expected, rel=1e-12)
    assert expected > 0


def test_the_difference_disappears_after_adjusting_for_departments(berkeley: fg.Report) -> None:
    """The sign changes, but no longer significantly: that is no reversal."""
    codes = (DiagnosticCode.SIMPSON, DiagnosticCode.DISAPPEARS)
    notes = [d for d in berkeley.diagnostics if d.code in codes]
    assert {(d.code, d["group"], d["metric"]) for d in notes} == {
        (DiagnosticCode.DISAPPEARS, group, metric)
        for group in ("men", "women")
        for metric in ("base_rate.difference", "DPL")
    }
    name = "base_rate.difference"
    note = next(d for d in notes if (d["group"], d["metric"]) == ("women", name))
    adjusted = berkeley[name, "sex", "women", POOLED]
    assert note["overall"] == pytest.approx(557 / 1835 - 1198 / 2691, rel=1e-12)
    assert note["adjusted"] == adjusted.value > 0
    assert adjusted.low < 0 < adjusted.high


def test_conditional_disparity_of_berkeley(berkeley: fg.Report) -> None:
    (found,) = [e for e in berkeley.estimates if (e.metric, e.group) == ("CDDL", "women")]
    total = sum(map(sum, BERKELEY.values()))
    expected = sum(
        (ma + mr + wa + wr) / total * (wr / (wr + mr) - wa / (wa + ma))
        for ma, mr, wa, wr in BERKELEY.values()
    )
    assert found.value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("factor", [1e103, 1e-110])
def test_weights_whose_cubes_overflow_or_vanish_are_an_error(factor: float) -> None:
    data = people(60).with_columns(pl.col("w") * factor)
    with pytest.raises(fg.DataError, match="'w' is the weight, but its largest value is 4e"):
        fg.audit(data, label="y", prediction="p", positive=1, sensitive="g", weight="w")


def test_adequate_intervals_of_weighted_rates_hold_the_truth():
    """Of rates among few rows too, whose adequacy must not select variances that are too small."""
    rng = np.random.default_rng(8)
    sets, sizes = 400, (80, 160)
    rows = sets * sum(sizes)
    cell = rng.choice(4, p=[0.3, 0.12, 0.1, 0.48], size=rows)
    table = pl.DataFrame(
        {
            "g": np.tile(np.repeat(["a", "b"], sizes), sets),
            "s": np.repeat(np.arange(sets), sum(sizes)),
            "y": np.array([1, 0, 1, 0])[cell],
            "p": np.array([1, 1, 0, 0])[cell],
            "w": np.exp(1.2 * rng.normal(size=rows)),
        }
    )
    names = ["RD", "f1.difference", "false_positive_rate.difference"]
    report = fg.audit(
        table, label="y", prediction="p", sensitive="g", weight="w", strata="s", metrics=names
    )
    for name in names:
        found = [
            each.low <= 0 <= each.high
            for each in report.estimates
            if each.metric == name and each.scope.kind == "stratum" and each.group == "a"
            and each.status == "ok"
        ]  # fmt: skip
        assert len(found) > 0.75 * sets, name
        assert np.mean(found) >= 0.935 - 3 * np.sqrt(0.05 * 0.95 / len(found)), name


def test_a_few_heavy_rows_are_no_rate():
    weight = np.random.default_rng(2).uniform(1, 2, 200)
    table = pl.DataFrame({"g": ["a"] * 100 + ["b"] * 100, "p": [0, 1] * 100})
    assert {each.status for each in weighted_gap(table.with_columns(w=weight))} == {"ok"}
    weight[:2] = 5000.0  # two rows of the first group outweigh all others
    found = weighted_gap(table.with_columns(w=weight))
    assert {each.status for each in found} == {"too_few"}
    assert "weights leave 2.1 effective rows in the group, below 5" in found[0].says


def weighted_gap(table):
    report = fg.audit(table, prediction="p", sensitive="g", weight="w", metrics=["DPPL"])
    return list(report.estimates)


@pytest.mark.parametrize("task", ["binary", "scores", "multiclass", "regression"])
def test_nothing_of_a_group_that_few_weights_make_up_is_adequate(task):
    """Three of 150 rows have nearly all of the weight of the group: three effective rows."""
    random = np.random.default_rng(1)
    rows = 400
    group = np.where(np.arange(rows) < 150, "a", "b")
    weight = np.where(np.isin(np.arange(rows), [0, 1, 60]), 5000.0, 1.0)
    options = {"label": "y", "prediction": "p", "sensitive": "g", "weight": "w", "metrics": "all"}
    if task == "regression":
        label = random.normal(size=rows)
        columns = {"y": label, "p": label + random.normal(size=rows)}
        options |= {"task": "regression"}
    else:
        classes = 3 if task == "multiclass" else 2
        label = random.integers(0, classes, rows)
        guess = random.integers(0, classes, rows)
        columns = {"y": label, "p": np.where(random.random(rows) < 0.7, label, guess)}
        options |= {"task": "multiclass"} if task == "multiclass" else {"positive": 1}
    if task == "scores":
        columns["s"] = np.clip(0.2 + 0.5 * label + 0.2 * random.normal(size=rows), 0.01, 0.99)
        options |= {"score": "s"}
    report = fg.audit(pl.DataFrame({"g": group, "w": weight, **columns}), **options)
    of_rates = {
        name: rate.status
        for section in report.groups
        if section.group == "a"
        for name, rate in section.rates.items()
    }
    assert len(report.estimates) > 20
    assert Status.OK not in {each.status for each in report.estimates}
    assert Status.OK not in of_rates.values()


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_groups_whose_rows_all_weigh_nothing_are_named(asked: dict[str, Any]) -> None:
    """They were "used", had no rates, and their comparisons "no rows"."""
    rows = people().with_columns(w=pl.when(pl.col("g") == "c").then(0).otherwise("w"))
    asked = {**asked, "sensitive": "g", "weight": "w"}
    for data in (rows, fg.count(rows, **{k: v for k, v in asked.items() if k != "population"})):
        report = fg.audit(data, **asked)
        (warned,) = [
            each for each in report.diagnostics if each.code is DiagnosticCode.WEIGHTLESS_GROUPS
        ]
        n = rows["g"].eq("c").sum()
        assert (warned.level, warned["groups"], warned["rows"]) == ("warning", ("c",), n)
        assert warned.message == (
            f"every row of the group 'c' of 'g' has a weight of 0 ({n} rows): nothing is estimated "
            "of them"
        )
        rates = [rate for group in report.groups for rate in group.rates.values()]
        reasons = [each.reason for each in (*rates, *report.estimates) if each.reason is not None]
        empty = [each for each in reasons if each.code is ReasonCode.EMPTY_DENOMINATOR]
        assert all("of a weight above 0" in describe_reason(each) for each in empty)
    kept = fg.audit(people(), **asked)
    codes = {each.code for each in kept.diagnostics}
    assert DiagnosticCode.WEIGHTLESS_GROUPS not in codes


@pytest.mark.parametrize("preset", [None, "nyc-ll144"])
def test_single_rows_of_weight_0_are_not_counted_and_the_report_states_so(preset) -> None:
    """They are no evidence: a group of 1,587 rows, of which 12 weighed anything, passed."""
    rows = people().with_columns(w=pl.when(pl.int_range(pl.len()) % 4 == 0).then(0).otherwise("w"))
    asked = {"sensitive": "g", "prediction": "y", "positive": 1, "preset": preset}
    asked["metrics"] = "selection_rate"
    report = fg.audit(rows, **asked, weight="w")
    of_others = fg.audit(rows.filter(pl.col("w") > 0), **asked, weight="w")
    for group, other in zip(report.groups, of_others.groups, strict=True):
        rate, alone = group.rates["selection_rate"], other.rates["selection_rate"]
        assert group.n == rate.denominator == other.n < rows["g"].eq(group.group).sum()
        assert rate.value == pytest.approx(alone.value)
        assert rate.low == pytest.approx(alone.low)
    none = rows["w"].eq(0).sum()
    assert report.data.excluded == {"weight of 0": none}
    assert report.data.used == rows.height - none == of_others.data.used
    assert DiagnosticCode.UNCOUNTED_ROWS not in {each.code for each in report.diagnostics}
    text = " ".join(render(report, "markdown", full=True).split())
    assert "A row of weight 0 is not counted." in text
    assert "all used" not in text
    assert "of weight 0" not in render(fg.audit(rows, **asked), full=True)
    assert "of weight 0" not in render(of_others, full=True)  # where every row weighs something


def uneven(weighing: int) -> pl.DataFrame:
    """Return rows of two groups; of the refused of one all, and of its approved some, weigh 0."""
    weights = [1.0] * weighing + [0.0] * (400 - weighing)
    return pl.DataFrame({
        "g": ["a"] * 800 + ["b"] * 800, "y": ([1] * 400 + [0] * 400) * 2,
        "w": [2.0, 0.5] * 400 + [1.0] * 400 + weights,
    })  # fmt: skip


def test_weights_of_0_in_one_group_are_warned_of_and_no_rule_passes() -> None:
    """The refusals of one group weighed nothing: a pass, and "all used"."""
    asked = {"prediction": "y", "positive": 1, "sensitive": "g", "weight": "w",
             "reference": {"g": "a"}, "rules": "selection_rate.ratio >= 0.8"}  # fmt: skip
    rows = uneven(200)
    for data in (rows, rows.to_pandas(), fg.count(rows, **asked)):
        report = fg.audit(data, **asked)
        (warned,) = [e for e in report.diagnostics if e.code is DiagnosticCode.UNCOUNTED_ROWS]
        assert warned.message == (
            "12.5% of the rows (200 of 1,600) have a weight of 0, more often in one group than in "
            "another, and are in no number; no rule passes without them, and a fail is of the "
            "other rows alone; if they are not to count, state it: --where 'w > 0' (where)"
        )
        assert report.verdict is Outcome.INCONCLUSIVE
        assert [each.n for each in report.groups] == [800, 600]
    stated = fg.audit(rows, **asked, where="w > 0")
    assert stated.verdict is Outcome.PASS
    assert DiagnosticCode.UNCOUNTED_ROWS not in {each.code for each in stated.diagnostics}
    assert stated.groups == fg.audit(rows.filter(pl.col("w") > 0), **asked).groups


def test_a_group_of_few_rows_of_a_weight_has_insufficient_data() -> None:
    rows = uneven(0).with_columns(w=pl.when(pl.int_range(pl.len()) >= 812).then(0).otherwise("w"))
    asked = {"prediction": "y", "positive": 1, "sensitive": "g", "weight": "w",
             "reference": {"g": "a"}, "rules": "selection_rate.ratio >= 0.8"}  # fmt: skip
    report = fg.audit(rows, **asked)
    assert [each.n for each in report.groups] == [800, 12]
    assert report.verdicts[0].outcome is Outcome.NOT_EVALUATED


def test_counts_with_and_without_weights_of_0_add_up() -> None:
    asked = {"prediction": "y", "positive": 1, "sensitive": "g", "weight": "w"}
    rows = uneven(200)
    whole, parts = fg.count(rows, **asked), (rows.head(900), rows.tail(700))
    one, two = (fg.count(part, **asked) for part in parts)
    assert ("n" in one.tables[0].sums, "n" in two.tables[0].sums) == (False, True)
    assert one + two == two + one == whole
    assert fg.Cube.from_dict(json.loads(whole.to_json())) == whole
    assert fg.audit(one + two).groups == fg.audit(whole).groups


def test_why_names_groups_whose_rows_all_weigh_nothing() -> None:
    rows = people().with_columns(w=pl.when(pl.col("g") == "c").then(0).otherwise("w"))
    asked = {"label": "y", "positive": 1, "sensitive": "g", "weight": "w", "strata": "s"}
    found = fg.why(rows.with_columns(s=pl.int_range(pl.len()) % 2), **asked)
    (warned,) = [e for e in found.diagnostics if e.code is DiagnosticCode.WEIGHTLESS_GROUPS]
    assert warned["groups"] == ("c",)


@pytest.mark.parametrize("seed", range(3))
def test_the_smallest_detectable_difference_is_of_effective_rows(seed):
    """Rows of weight 0 show nothing: what could be detected is as without them."""
    rng = np.random.default_rng(seed)
    rows = pl.DataFrame({
        "g": ["A", "B"] * 600, "p": rng.binomial(1, 0.4, 1200), "w": [0.0, 1.0, 1.0, 0.0] * 300,
    })  # fmt: skip
    asked = {
        "prediction": "p", "positive": 1, "sensitive": "g", "metrics": "selection_rate",
        "rules": ["-0.002 <= selection_rate.difference <= 0.002"],
    }  # fmt: skip
    weighted = fg.audit(rows, **asked, weight="w").verdicts[0].reason
    alone = fg.audit(rows.filter(pl.col("w") > 0), **asked).verdicts[0].reason
    assert weighted["detectable"] == pytest.approx(alone["detectable"], rel=0.03)
    assert weighted["needed"] is not None


@pytest.mark.parametrize("metric", ["balanced_accuracy.difference", "f1.difference"])
def test_clusters_of_rows_that_weigh_nothing_are_none(metric):
    """The clusters of rows of weight 0 were blocks of the jackknife of balanced accuracy."""
    rng = np.random.default_rng(0)
    names = ["sex", "label", "prediction", "cluster", "weight"]
    rows = dict(zip(names, [np.repeat(["F", "M"], 40), *rng.integers(0, 2, (2, 80)),
                            np.arange(80) % 25, np.ones(80)], strict=True))  # fmt: skip
    rows = pl.DataFrame(rows)
    nothing = rows[:6].with_columns(cluster=pl.lit(100) + pl.col("cluster"), weight=pl.lit(0.0))
    asked = {name: name for name in names[1:]} | {"sensitive": "sex", "metrics": metric}
    without, among = (
        fg.audit(each, positive=1, **asked)[metric, "sex", "F"].interval
        for each in (rows, pl.concat([rows, nothing]))
    )
    assert (among.low, among.high) == pytest.approx((without.low, without.high), rel=1e-12)
