"""How sure the metrics of single rows are: limits, p-values, sentences, and why there are none."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
import reference_intervals as reference
from fairgauge.catalogue.lookup import find_metric
from fairgauge.enums import IntervalMethod as M
from fairgauge.enums import Outcome, Status
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.rowwise import _row_slices as row_slices

CLASSES = {"prediction": "p", "features": ["x", "z"], "metrics": ["FT", "consistency"]}
RANKED = {
    "score": "s", "positive": 1,
    "metrics": ["top_selection_ratio(percent=20)", "skew(percent=20)", "exposure_ratio", "ndkl"],
}  # fmt: skip
AMOUNTS = {
    "label": "y", "prediction": "v", "task": "regression",
    "metrics": [
        "prediction_ks", "prediction_wasserstein", "residual_ks", "residual_wasserstein",
    ],
}  # fmt: skip
KINDS: dict[str, dict[str, Any]] = {"classes": CLASSES, "ranked": RANKED, "amounts": AMOUNTS}


def people(n: int = 300, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], n, p=[0.4, 0.35, 0.25])
    score = (rng.random(n) + 0.1 * (group == "a")).round(2) / 2
    return pl.DataFrame(
        {
            "g": group,
            "x": rng.normal(size=n).round(1),
            "z": rng.integers(0, 3, n),
            "p": (rng.random(n) < 0.4 + 0.2 * (group == "a")).astype(int),
            "s": score,
            "v": rng.normal(5, 2, n) + (group == "b"),
            "y": rng.normal(5, 2, n),
            "id": rng.integers(0, 40, n),
        }
    )


def audited(kind: str, rows: pl.DataFrame | None = None, **more: Any) -> fg.Report:
    frame = people() if rows is None else rows
    return fg.audit(frame, **{"sensitive": "g", "replicates": 500, **KINDS[kind], **more})


def numbers(report: fg.Report) -> dict[tuple[str, str], tuple[Any, ...]]:
    found = report.estimates
    return {(e.metric, e.group): (e.value, e.low, e.high, e.p_value) for e in found}


@pytest.mark.parametrize("kind", KINDS)
def test_every_number_has_limits_that_hold_it_and_widen(kind: str) -> None:
    report, wide = audited(kind), audited(kind, confidence=0.99)
    assert report.estimates
    for one, other in zip(report.estimates, wide.estimates, strict=True):
        assert one.status is Status.OK, one.reason
        assert one.interval
        assert one.interval.methods
        assert one.confidence == 0.95
        assert None not in (one.low, one.high, one.value)
        assert one.low <= one.value <= one.high  # type: ignore[operator]
        assert other.low <= one.low <= one.high <= other.high  # type: ignore[operator]
        assert other.high - other.low > one.high - one.low  # type: ignore[operator]
        assert "(95% CI " in one.says
        if one.metric != "consistency":
            assert one.p_value is not None
            assert one.p_adjusted is not None
            assert 0 < one.p_value <= one.p_adjusted <= 1


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_rows_moves_no_limit(kind: str) -> None:
    frame = people()
    turned = frame.sample(fraction=1.0, shuffle=True, seed=5)
    assert numbers(audited(kind, frame)) == numbers(audited(kind, turned))


@pytest.mark.parametrize("kind", ["ranked", "amounts"])
def test_draws_follow_the_seed_and_nothing_else_that_is_asked(kind: str) -> None:
    last = KINDS[kind]["metrics"][-1]
    whole, alone = audited(kind), audited(kind, metrics=last)
    assert numbers(alone).items() <= numbers(whole).items()
    assert numbers(audited(kind, metrics=last, seed=1)) != numbers(alone)


@pytest.mark.parametrize("kind", KINDS)
def test_clusters_leave_no_interval_and_say_so(kind: str) -> None:
    for each in audited(kind, cluster="id").estimates:
        assert each.value is not None
        assert (each.low, each.p_value) == (None, None)
        assert each.reason == Reason.of(ReasonCode.ROW_METRIC_WITH_CLUSTERS)


def test_a_flip_test_takes_the_reference_as_given() -> None:
    found = audited("classes")["FT", "g", "a"]
    n, shares = found.n_group or 0, (found.rate_group or 0, found.rate_reference or 0)
    better, worse = (round(share * n) for share in shares)
    assert [better / n, worse / n] == pytest.approx(shares)
    assert found.value == pytest.approx((better - worse) / n)
    assert (found.low, found.high) == pytest.approx(reference.tango(better, worse, n))
    assert found.interval
    assert found.interval.methods == (M.SCORE, M.CONDITIONAL)


def test_profile_clarify_turns_the_limits_of_a_flip_test() -> None:
    ours, theirs = (
        audited("classes", profile=p, features="z")["FT", "g", "b"]
        for p in ("documented", "clarify")
    )
    turned = (-(theirs.value or 0), -(theirs.high or 0), -(theirs.low or 0))
    assert (ours.value, ours.low, ours.high) == pytest.approx(turned)
    assert ours.p_value == theirs.p_value


def test_a_flip_test_of_a_sample_rests_on_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = audited("classes")["FT", "g", "a"]
    monkeypatch.setattr(row_slices, "MOST_QUERIES", 50)
    sample = audited("classes")["FT", "g", "a"]
    assert sample.n_group == 50
    assert sample.high - sample.low > 1.2 * (whole.high - whole.low)  # type: ignore[operator]


def test_a_row_is_not_held_against_itself() -> None:
    found = audited("classes", reference="overall")["FT", "g", "a"]
    assert found.value is not None
    assert found.low is None
    assert found.reason
    assert found.reason.code is ReasonCode.OWN_NEIGHBOURS


def test_rows_that_are_all_alike_are_not_certain_to_be() -> None:
    frame = people().with_columns(p=pl.lit(1))
    found = audited("classes", frame, metrics="consistency").estimates[0]
    assert found.value == found.high == 1
    assert 0.95 < (found.low or 0) < 1


def test_limits_against_everyone_are_those_against_the_rest_carried_over() -> None:
    frame = people()
    for metric in ("top_selection_ratio(percent=20)", "exposure_ratio"):
        rest = audited("ranked", frame, metrics=metric)[metric, "g", "a"]
        every = audited("ranked", frame, metrics=metric, reference="overall")[metric, "g", "a"]
        part = rest.n_group / (rest.n_group + rest.n_reference)  # type: ignore[operator]
        for name in ("value", "low", "high"):
            r = getattr(rest, name)
            assert getattr(every, name) == pytest.approx(r / (part * r + 1 - part)), (metric, name)
        assert every.p_value == rest.p_value
    for metric in AMOUNTS["metrics"]:
        rest = audited("amounts", frame, metrics=metric)[metric, "g", "a"]
        every = audited("amounts", frame, metrics=metric, reference="overall")[metric, "g", "a"]
        part = rest.n_group / (rest.n_group + rest.n_reference)  # type: ignore[operator]
        for name in ("value", "low", "high"):
            r = getattr(rest, name)
            assert getattr(every, name) == pytest.approx((1 - part) * r), (metric, name)


def test_a_group_that_is_everyone_has_nothing_to_be_compared_with() -> None:
    frame = people().with_columns(g=pl.lit("a"))
    for kind in ("ranked", "amounts"):
        for each in audited(kind, frame, reference="overall").estimates:
            if each.metric.startswith("skew"):
                assert each.status is Status.TOO_FEW
                continue
            assert each.low is None
            assert each.reason
            assert each.reason.code in (ReasonCode.OWN_REFERENCE, ReasonCode.ONE_GROUP_RANKED)


def test_distances_and_divergences_say_what_chance_alone_would_give() -> None:
    for kind in ("ranked", "amounts"):
        for each in audited(kind).estimates:
            chance = each.metric == "ndkl" or kind == "amounts"
            assert (each.expected is not None) == chance
            assert ("is expected under no difference" in each.says) == chance


def test_a_distance_is_a_ball_of_many_cells_too() -> None:
    """Of more values than cells the limits stay about those of all values."""
    frame = people(3000)
    found = audited("amounts", frame, metrics="prediction_ks", replicates=2000)
    one = found["prediction_ks", "g", "b"]
    x, y = (
        np.sort(frame.filter((pl.col("g") == "b") == side)["v"].to_numpy())
        for side in (True, False)
    )
    # the bootstrap of both sides: how far their distributions move from those observed
    rng, grid, moved = np.random.default_rng(0), np.concatenate([x, y]), []
    for _ in range(400):
        apart = [
            np.searchsorted(np.sort(rng.choice(side, len(side))), grid, "right") / len(side)
            - np.searchsorted(side, grid, "right") / len(side)
            for side in (x, y)
        ]
        moved.append(np.abs(apart[0] - apart[1]).max())
    radius = np.quantile(moved, 0.95)
    assert one.high - one.value == pytest.approx(radius, rel=0.1)  # type: ignore[operator]


def test_a_group_without_a_place_has_no_lower_limit() -> None:
    rows = {"g": ["a"] * 40 + ["b"] * 60, "s": [i / 200 for i in range(100)]}
    report = audited("ranked", pl.DataFrame(rows), metrics=["skew(k=30)", "ndkl"])
    found = report["skew(k=30)", "g", "a"]
    assert found.value == found.low == -math.inf
    assert -2 < (found.high or 0) < 0
    assert "95% CI −infinity to −" in found.says
    (held,) = (e for e in json.loads(report.to_json())["estimates"] if e["group"] == "a")
    assert held["low"] == "-Infinity"
    # none of 30 places, of 40 rows against 60: Wilson's limits of the odds 0 to 30
    low, high = (60 / 40 * end for end in reference.odds(0, 30))
    ratio = audited("ranked", pl.DataFrame(rows), metrics="top_selection_ratio(k=30)").estimates[0]
    assert (ratio.value, ratio.low) == (0, pytest.approx(low, abs=1e-12))
    assert ratio.high == pytest.approx(high)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (0.5, Reason.of(ReasonCode.ONE_VALUE, of="score", value="0.5")),
        (0.4, Reason.of(ReasonCode.ONE_RANK)),
    ],
)
def test_equal_scores_tell_nothing(other: float, reason: Reason) -> None:
    """Those of a group that is excluded may be others."""
    frame = people().with_columns(s=pl.lit(0.5))
    excluded = frame.head(9).with_columns(g=pl.lit("excluded"), s=pl.lit(other))
    report = audited("ranked", pl.concat([frame, excluded]), exclude_groups="excluded")
    even = next(e for e in report.estimates if e.metric == "ndkl")
    for found, neutral in ((report["exposure_ratio", "g", "a"], 1), (even, 0)):
        assert found.value == pytest.approx(neutral, abs=1e-12)
        assert found.low is None
        assert found.reason == reason


@pytest.mark.parametrize("kind", KINDS)
def test_few_rows_keep_their_limits_and_decide_nothing(kind: str) -> None:
    for each in audited(kind, people(18)).estimates:
        assert each.status is Status.TOO_FEW
        assert each.reason
        assert each.reason.code is ReasonCode.FEW_ROWS
        assert each.low is not None


def test_few_places_are_too_few() -> None:
    found = audited("ranked", metrics="skew(k=6)")["skew(k=6)", "g", "a"]
    assert found.status is Status.TOO_FEW
    assert found.reason
    assert found.reason.code is ReasonCode.FEW_EXPECTED


def test_cases_count_as_rows() -> None:
    frame = people(120)
    twice = frame.with_columns(n=pl.lit(2))
    repeated = pl.concat([frame, frame])
    for kind in KINDS:
        counted = numbers(audited(kind, twice, count="n"))
        assert counted == numbers(audited(kind, repeated))


@pytest.mark.parametrize("kind", ["ranked", "amounts"])
def test_two_groups_that_are_each_others_reference_are_one_test(kind: str) -> None:
    frame = people().filter(pl.col("g") != "c")
    report = audited(kind, frame)
    for metric in {each.metric for each in report.estimates if each.p_adjusted}:
        for alone in audited(kind, frame, metrics=metric).estimates:
            assert alone.p_adjusted == pytest.approx(alone.p_value, rel=1e-6), metric


def test_a_difference_is_found() -> None:
    rng = np.random.default_rng(3)
    group = np.repeat(["a", "b"], 150)
    frame = pl.DataFrame(
        {
            "g": group,
            "s": (rng.random(300) + 0.4 * (group == "a")) / 2,
            "v": rng.normal(0, 1, 300) + (group == "a"),
            "y": rng.normal(0, 1, 300),
        }
    )
    for kind in ("ranked", "amounts"):
        for each in audited(kind, frame).estimates:
            assert (each.p_value or 1) < 0.05, each.metric
            neutral = find_metric(each.metric).neutral
            assert not each.low <= neutral <= each.high, each.metric  # type: ignore[operator]


@pytest.mark.parametrize("metric", ["top_selection_ratio", "skew"])
@pytest.mark.parametrize("top", ["k=300", "k=5000", "percent=99.9"])
def test_a_top_of_all_rows_is_not_evaluated(metric, top):
    """The ratio is 1 by construction, and passed where one group had all the places of a top."""
    apart = people().with_columns(s=pl.col("s") / 2 + 0.25 * (pl.col("g") == "a"))
    for rows, more in (
        (apart, {}),
        (pl.concat([apart, apart], how="vertical").with_row_index("i"), {"where": "i < 300"}),
    ):
        report = audited(
            "ranked", rows, metrics="exposure_ratio", rules=f"{metric}({top}) <= 2", **more
        )
        assert report.exit_code == 3
        assert {each.outcome for each in report.verdicts} == {Outcome.NOT_EVALUATED}
        text = " ".join(str(report).split())
        assert "the top is the whole ranking (300 rows), so that the scores have no effect" in text
    beside = audited("ranked", apart, metrics="exposure_ratio", rules=f"{metric}(k=299) <= 2")
    assert beside.exit_code == 0
