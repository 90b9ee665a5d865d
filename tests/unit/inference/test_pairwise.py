"""Every pair of groups: limits that hold at once, against the closed form and the largest gap."""

import json
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, studentized_range
from tests.selected_groups import selected

import fairgauge as fg
from fairgauge.catalogue.catalogue import RATES
from fairgauge.catalogue.cells import ConfusionCounts
from fairgauge.enums import DiagnosticCode, IntervalMethod, ReferenceKind, ScopeKind
from fairgauge.enums import IntervalMethod as M
from fairgauge.inference import FeatureGroups, SideData, across_groups
from fairgauge.inference.across_groups import MOST_LISTED, pairs_not_listed, pairwise
from fairgauge.inference.families import Family
from fairgauge.inference.paired_changes import shown_claims
from fairgauge.question.specification import Spec
from fairgauge.resolve.references import BOTH, LABEL, PREDICTION
from fairgauge.results.scopes import NO_CLASS
from fairgauge.stats.contrasts import mover_wilson_ratio, newcombe
from fairgauge.stats.intervals import critical
from fairgauge.stats.significance import holm, newcombe_p, normal_tail

COUNTS = {"a": (40, 100), "b": (62, 90), "c": (11, 60), "d": (150, 400)}
ALONE = Family(1, 0.95)
SELECTED = next(rate for rate in RATES if rate.name == "selection_rate")


def audit(counts, **options):
    """Return a report of groups of which so many of so many are predicted positive."""
    return fg.audit(selected(counts), metrics="DPPL", **options)


def of(report, rate="selection_rate"):
    return {(p.group, p.other): p for p in report.pairs if p.rate == rate}


def closed_form(x, n, limits=newcombe, level=0.95):
    """Positions and simultaneous limits of all pairs, the critical value taken from scipy."""
    x, n = np.asarray(x), np.asarray(n)
    one, two = np.triu_indices(len(x), k=1)
    z = studentized_range.ppf(level, len(x), np.inf) / 2**0.5
    return one, two, *limits(x[one], n[one], x[two], n[two], z)


def groups(x, n):
    """Return groups of which so many of so many are predicted positive."""
    x, n = np.asarray(x, dtype=float), np.asarray(n, dtype=float)
    zero = np.zeros_like(x)
    counts = np.stack([x, zero, n - x, zero], axis=-1)

    def pick(which):
        some = counts[which]
        side = ConfusionCounts(
            size=some.sum(axis=-1), cells=dict.fromkeys((BOTH, LABEL, PREDICTION), some)
        )
        return SideData(side, side)

    return FeatureGroups("g", [f"g{i}" for i in range(len(x))], NO_CLASS, None, pick)


def test_pairs_are_newcombes_at_tukeys_critical_value():
    """Whatever else is asked: p-values alone hold with the 4 comparisons and the test of all."""
    found = of(audit(COUNTS))
    more = of(fg.audit(selected(COUNTS), metrics=["DPPL", "selection_rate.ratio", "vertex"]))
    assert [e.difference_interval for e in found.values()] == [
        e.difference_interval for e in more.values()
    ]
    x, n = zip(*COUNTS.values(), strict=True)
    size = 4 + 1 + 1
    *positions, low, high = closed_form(x, n)
    *_, ratio_low, ratio_high = closed_form(x, n, mover_wilson_ratio)
    names = list(COUNTS)
    assert len(found) == 6
    for i, (first, second) in enumerate(zip(*positions, strict=True)):
        difference = x[first] / n[first] - x[second] / n[second]
        pair = names[first], names[second]
        turned = difference > 0  # the group with the lower rate is named first
        each = found[pair[::-1] if turned else pair]
        sign = -1 if turned else 1
        assert each.difference == pytest.approx(-abs(difference))
        limits = sorted(sign * float(limit[i]) for limit in (low, high))
        assert tuple(each.difference_interval) == pytest.approx(tuple(limits))
        ratios = sorted(float(limit[i]) ** sign for limit in (ratio_low, ratio_high))
        assert (each.ratio_low, each.ratio_high) == pytest.approx(tuple(ratios))
        assert each.ratio == pytest.approx(each.rate_group / each.rate_other)
        z = float(norm.isf(newcombe_p(x[first], n[first], x[second], n[second]) / 2))
        p = 1 - studentized_range.cdf(z * 2**0.5, len(names), np.inf) ** size
        assert each.p_adjusted == pytest.approx(p, rel=1e-6, abs=1e-12)
        assert each.difference_interval.methods == (M.TUKEY, M.MOVER, M.WILSON)
        assert each.difference_interval.level == 0.95
        assert (each.pairs, each.significant) == (6, each.p_adjusted < 0.05)


@pytest.mark.parametrize("options", [{}, {"weight": "w"}, {"cluster": "c"}])
def test_pairs_agree_with_the_largest_gap(options):
    rng = np.random.default_rng(3)
    size = 600
    group = rng.integers(0, 4, size)
    cluster = group * 100 + rng.integers(0, 30, size)
    mood = rng.normal(0, 1.0, 400)[cluster]
    table = pl.DataFrame(
        {
            "p": (rng.random(size) < 1 / (1 + np.exp(-mood - group / 2))).astype(int),
            "g": group.astype(str), "c": cluster, "w": rng.lognormal(0, 0.7, size),
        }
    )  # fmt: skip
    metrics = ["selection_rate.largest_gap", "selection_rate.smallest_ratio"]
    report = fg.audit(table, prediction="p", sensitive="g", metrics=metrics, **options)
    gap, ratio = report.estimates
    found = of(report)
    assert len(found) == 6
    assert gap.reference.kind is ReferenceKind.GROUP
    most = found[gap.reference.group, gap.group]
    assert most.difference == pytest.approx(-gap.value)
    assert most.ratio == pytest.approx(ratio.value)
    # towards no difference the gap has the interval of its pair
    assert gap.low == max(0.0, *(-p.difference_interval.high for p in found.values()))
    # away from no difference it need not hold for all pairs at once
    assert gap.value < gap.high < max(-p.difference_interval.low for p in found.values())
    assert ratio.value > ratio.low > min(p.ratio_low for p in found.values())
    robust = (M.JACKKNIFE,) if "cluster" in options else ()
    assert gap.interval.methods == (M.TUKEY, M.MOVER, *robust, M.WILSON)
    assert most.difference_interval.methods == gap.interval.methods


def test_small_groups_are_in_no_pair():
    def numbers(report):
        return [(p.group, p.other, p.difference_interval, p.p_adjusted) for p in report.pairs]

    options = {"reference": {"g": "a"}}
    alone = audit(COUNTS, **options)
    assert len(alone.pairs) == 6
    assert numbers(audit(COUNTS | {"e": (19, 19)}, **options)) == numbers(alone)
    below = audit(COUNTS | {"e": (40, 59)}, min_n=60, **options)
    assert numbers(below) == numbers(alone)


def test_a_group_of_too_few_clusters_is_compared_with_none():
    table = pl.DataFrame({"p": [1, 0, 1, 0, 1] * 30, "g": ["a", "b", "c", "c", "d"] * 30})
    table = table.with_columns(
        c=pl.when(pl.col("g") == "a").then(0).otherwise(pl.int_range(1, pl.len() + 1))
    )
    report = fg.audit(table, prediction="p", sensitive="g", metrics="selection_rate", cluster="c")
    found = of(report)
    assert set(found) == {("b", "c"), ("b", "d"), ("c", "d")}
    assert {p.pairs for p in found.values()} == {3}
    low, high = found["b", "c"].difference_interval
    assert low < -0.5 < high < 0


def test_of_many_groups_those_that_differ_most_are_kept():
    rng = np.random.default_rng(1)
    n = rng.integers(30, 300, 40)
    x = rng.binomial(n, rng.uniform(0.1, 0.9, 40))
    many_groups = groups(x, n)
    found = pairwise([SELECTED], many_groups, Spec(), ALONE)
    *_, low, high = closed_form(x, n)
    assert (len(found), len(low)) == (MOST_LISTED, 780)
    sure = np.sort(np.maximum(np.fmax(low, -high), 0.0))[::-1]
    kept = [max(-pair.difference_interval.high, 0.0) for pair in found]
    assert np.allclose(kept, sure[:MOST_LISTED])
    (note,) = pairs_not_listed(many_groups)
    assert note.code is DiagnosticCode.PAIRS_LIMITED
    assert (note["pairs"], note["groups"], note["listed"]) == (780, 40, 435)
    assert not list(pairs_not_listed(groups(x[:30], n[:30])))


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(20, 60)), min_size=3, max_size=6),
    st.floats(0.6, 0.98),
)
def test_limits_hold_the_difference_widen_with_the_level_and_agree_with_p(counts, confidence):
    x = [min(k, n) for k, n in counts]
    n = [size for _, size in counts]
    found, surer, larger = (
        {
            (p.group, p.other): p
            for p in pairwise([SELECTED], groups(*each), Spec(confidence=level), Family(1, level))
        }
        for each, level in (
            ((x, n), confidence),
            ((x, n), confidence + 0.01),
            ((np.multiply(x, 9), np.multiply(n, 9)), confidence),
        )
    )
    assert len(found) == len(list(combinations(n, 2)))
    for key, pair in found.items():
        low, high = pair.difference_interval
        assert low <= pair.difference + 1e-12
        assert pair.difference - 1e-12 <= high
        wider, narrower = surer[key].difference_interval, larger[key].difference_interval
        assert wider.low < low + 1e-12
        assert wider.high > high - 1e-12
        assert narrower.high - narrower.low < high - low
        touching = abs(high) < 1e-9
        assert (high < 0) == (pair.p_adjusted < 1 - confidence) or touching
        if pair.ratio is not None:
            assert (high < 0) == (pair.ratio_high < 1) or touching


# ---- intervals for what is singled out of several: of the best group, and of the most extreme one
RATES_EXTREMES = dict(zip("abcdef", (120, 130, 110, 125, 90, 118), strict=True))


def audit_extremes(counts, rows=400, **options):
    groups = selected({name: (x, rows) for name, x in counts.items()})
    metrics = ["selection_rate.difference", "DI"]
    return fg.audit(groups, **({"metrics": metrics} | options))


def test_the_interval_of_the_most_extreme_group_holds_for_all_groups():
    report = audit_extremes(RATES_EXTREMES)
    z = critical(0.95 ** (1 / 8))  # with the test of homogeneity, and all pairs
    for name, x in RATES_EXTREMES.items():
        each = report["selection_rate.difference", "g", name]
        others = sum(RATES_EXTREMES.values()) - x
        assert tuple(each.simultaneous) == pytest.approx(newcombe(x, 400, others, 2000, z))
        assert each.simultaneous.level == 0.95
        assert each.simultaneous.methods[0] is IntervalMethod.SIMULTANEOUS_GROUPS
        assert each.simultaneous.low < each.low < each.high < each.simultaneous.high
    assert fg.Report.from_dict(json.loads(report.to_json())).estimates == report.estimates


def test_a_single_comparison_is_simultaneous_by_itself():
    for each in audit_extremes({"a": 120, "b": 130}).estimates:
        assert each.simultaneous == each.interval
    for each in audit_extremes({"a": 120, "b": 130}, reference={"g": "a"}).estimates:
        assert each.simultaneous == each.interval


@pytest.mark.parametrize("metric", ["selection_rate.difference", "selection_rate.ratio"])
def test_a_single_stratum_has_no_simultaneous_interval(metric: str) -> None:
    """Its ordinary interval stood in its place, though three groups are compared."""
    rows = [
        {"g": "abc"[i % 3], "day": "xy"[i % 2], "hired": int((i * 7) % 11 < 3 + i % 3)}
        for i in range(1_200)
    ]
    report = fg.audit(
        pl.DataFrame(rows), prediction="hired", positive=1, sensitive="g", strata="day",
        metrics=[metric],
    )  # fmt: skip
    for each in report.estimates:
        assert each.interval is not None
        if each.scope.kind is ScopeKind.STRATUM:
            assert each.simultaneous is None
        else:
            assert each.simultaneous is not None
            assert each.simultaneous.low < each.interval.low
            assert each.simultaneous.high > each.interval.high


statistics = st.lists(st.floats(-1, 6), min_size=1, max_size=12)


@given(statistics)
def test_what_is_shown_is_what_holms_procedure_rejects(least):
    least = np.array(least)
    shown, level = shown_claims(lambda at: least > critical(at), len(least), 0.95)
    assert shown.tolist() == (holm(2 * normal_tail(np.maximum(least, 0))) < 0.05).tolist()
    assert (least[~shown] <= critical(level)).all()


def test_a_false_claim_is_shown_in_one_of_forty_tables_whatever_the_candidates():
    """Each has two parts, one of which is false; they have 0 to 81% in common."""
    rng = np.random.default_rng(0)
    for candidates, shared in ((1, 0.0), (10, 0.0), (10, 0.9)):
        named = 0
        for _ in range(2_000):
            part = shared * rng.normal() + np.sqrt(1 - shared**2) * rng.normal(size=candidates)
            parts = np.stack([part, np.full(candidates, 9.0)])
            shown, _ = shown_claims(lambda at: parts.min(axis=0) > critical(at), candidates, 0.95)  # noqa: B023
            named += shown.any()
        assert named <= 64


@pytest.mark.parametrize("rows", [1_500, 30_000])
@pytest.mark.parametrize("apart", [0.0, 0.3])
def test_the_furthest_of_many_groups_are_those_of_all_pairs(monkeypatch, rows, apart):
    """Beyond some groups only pairs are compared that can be the furthest apart."""
    drawn = np.random.default_rng(rows)
    group, label = drawn.zipf(1.3, rows) % 120, drawn.integers(0, 2, rows)
    shares = np.clip(0.3 + apart * drawn.normal(size=120), 0, 1)
    frame = pl.DataFrame({
        "g": group, "y": label, "s": drawn.integers(0, 2, rows),
        "p": (drawn.random(rows) < shares[group] + 0.1 * label).astype(int),
    })  # fmt: skip
    rates = "selection_rate", "true_positive_rate", "positive_predictive_value", "balanced_accuracy"
    asked = [f"{rate}.{by}" for rate in rates for by in ("largest_gap", "smallest_ratio")]
    asked += ["label.differential_fairness", "equalized_odds.smallest_ratio"]
    counted = fg.count(frame, label="y", prediction="p", sensitive="g", strata="s", metrics=asked)
    some = fg.audit(counted)
    monkeypatch.setattr(across_groups, "_FEW_GROUPS", 1_000)
    every = fg.audit(counted)
    assert [(e.key, e.interval) for e in some.estimates] == [
        (e.key, e.interval) for e in every.estimates
    ]
    assert sum(e.interval is not None for e in some.estimates) > 20


def test_of_many_groups_one_with_infinite_odds_is_compared_with_all(monkeypatch):
    """Its limits are not bounded as those of others: some were passed over."""
    drawn = np.random.default_rng(1)
    counts = {}
    for group, share in enumerate(drawn.uniform(0.3, 0.9, 110)):
        n = int(drawn.integers(60, 300))
        counts[f"g{group:03}"] = int(drawn.binomial(n, share)), n
    table, asked = selected({"all": (3_000, 3_000)} | counts), "selection_odds.largest_gap"
    some = fg.audit(table, metrics=asked)
    monkeypatch.setattr(across_groups, "_FEW_GROUPS", 1_000)
    every = fg.audit(table, metrics=asked)
    assert some.estimates[0].interval == every.estimates[0].interval is not None
