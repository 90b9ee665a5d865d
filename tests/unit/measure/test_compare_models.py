"""Candidates against the model in use: verdicts, changes, and what cannot be compared."""

import numpy as np
import polars as pl
import pytest
from tests.model_rows import QUESTION, rows

import fairgauge as fg
from fairgauge.enums import CandidateVerdict, Direction, Fairness, Performance, Status
from fairgauge.reasons import ReasonCode

PEOPLE = rows()


def compared(candidate, data=PEOPLE, **options):
    margins = {"accuracy": 0.02, "disparity": 0.08}
    return fg.compare_models(
        data, **{**QUESTION, "candidate": candidate, "margins": margins, **options}
    )


def of(found, metric, group="F"):
    (one,) = [d for d in found.disparities if (d.metric, d.group) == (metric, group)]
    return one


def test_a_candidate_that_is_fairer_and_as_good_dominates():
    found = compared("fairer")["fairer"]
    assert (found.verdict, found.fairness) == (CandidateVerdict.DOMINATES, Fairness.FAIRER)
    assert found.performance is Performance.NON_INFERIOR
    assert of(found, "selection_rate.difference").direction is Direction.CLOSER


def test_a_candidate_that_is_less_fair_is_worse():
    found = compared("unfair")["unfair"]
    assert found.verdict is CandidateVerdict.WORSE
    assert of(found, "selection_rate.difference").direction is Direction.FURTHER


def test_random_decisions_are_a_trade_off():
    found = compared("random")["random"]
    assert found.verdict is CandidateVerdict.TRADE_OFF
    assert found.performance is Performance.INFERIOR


def test_the_same_decisions_change_nothing():
    same = PEOPLE.with_columns(copy=pl.col("current"))
    found = compared("copy", same, margins={"accuracy": 0.05})["copy"]
    assert found.verdict is CandidateVerdict.CANNOT_TELL
    assert found.performance is Performance.NON_INFERIOR
    assert {d.change for d in found.disparities} == {0.0}
    assert not any(d.significant for d in found.disparities)


def test_without_a_margin_there_is_no_verdict():
    found = compared("fairer", margins={})["fairer"]
    assert found.verdict is CandidateVerdict.NONE
    assert found.fairness is Fairness.FAIRER


def test_too_few_rows_say_how_many_would_do():
    found = compared("fairer", rows(400, seed=3), margins={"accuracy": 0.01})["fairer"]
    assert found.verdict is CandidateVerdict.CANNOT_TELL
    (test,) = found.margins
    assert test.needed is None or test.needed > found.rows
    assert "rows" in str(compared("fairer", rows(400, seed=3)))


def test_changes_are_those_of_two_audits():
    rates = ("selection_rate", "accuracy", "f1", "positive_predictive_value")
    metrics = [f"{rate}.{by}" for rate in rates for by in ("difference", "ratio")]
    found = compared("fairer", metrics=metrics)["fairer"]
    options = {k: v for k, v in QUESTION.items() if k != "prediction"} | {"metrics": metrics}
    old, new = (fg.audit(PEOPLE, prediction=p, **options) for p in ("current", "fairer"))
    assert len(found.disparities) == len(metrics)
    for each in found.disparities:
        before, after = (a[each.metric, "sex", each.group].value for a in (old, new))
        assert each.old == pytest.approx(before)
        assert each.new == pytest.approx(after)
        change = after / before if each.by == "ratio" else after - before
        assert each.change == pytest.approx(change)
        assert each.interval.low < each.change < each.interval.high


def test_pairing_makes_intervals_narrower_than_two_reports():
    metric = "selection_rate.difference"
    found = of(compared("fairer")["fairer"], metric)
    options = {k: v for k, v in QUESTION.items() if k != "prediction"} | {"metrics": metric}
    old, new = (fg.audit(PEOPLE, prediction=p, **options) for p in ("current", "fairer"))
    apart = next(c for c in fg.compare(old, new, same_rows=False).changes if c.group == found.group)
    width, unpaired = (np.diff(tuple(each.interval))[0] for each in (found, apart))
    assert 1.5 < unpaired / width < 5


def test_counts_answer_as_rows_do_and_merge():
    question = QUESTION | {"candidate": ["fairer", "random"], "margins": {"accuracy": 0.02}}
    half = PEOPLE.height // 2
    cube = fg.count(PEOPLE[:half], **question) + fg.count(PEOPLE[half:], **question)
    assert fg.compare_models(cube).candidates == fg.compare_models(PEOPLE, **question).candidates


def test_the_order_of_rows_and_names_of_groups_change_nothing():
    expected = compared("fairer")["fairer"]
    shuffled = PEOPLE.sample(fraction=1, shuffle=True, seed=1)
    assert compared("fairer", shuffled)["fairer"] == expected
    renamed = PEOPLE.with_columns(pl.col("sex").replace({"F": "overall", "M": "others"}))
    found = compared("fairer", renamed)["fairer"]
    assert [d.interval for d in found.disparities] == [d.interval for d in expected.disparities]


def test_weights_of_one_are_no_weights_and_their_unit_does_not_matter():
    plain = compared("fairer")["fairer"]
    for unit in (1.0, 250.0):
        weighted = PEOPLE.with_columns(weight=pl.lit(unit))
        found = compared("fairer", weighted, weight="weight")["fairer"]
        for one, other in zip(plain.disparities, found.disparities, strict=True):
            assert other.interval.low == pytest.approx(one.interval.low, abs=1e-9)
            assert other.interval.high == pytest.approx(one.interval.high, abs=1e-9)


def test_a_count_column_is_repeated_rows():
    twice = PEOPLE.with_columns(n=pl.lit(2))
    doubled = pl.concat([PEOPLE, PEOPLE])
    found, expected = compared("fairer", twice, count="n"), compared("fairer", doubled)
    assert found["fairer"].disparities == expected["fairer"].disparities


def test_clusters_of_repeated_rows_widen_intervals_by_the_root():
    copied = pl.concat([PEOPLE.with_row_index("id")] * 4)
    once = of(compared("fairer")["fairer"], "selection_rate.difference").interval
    found = compared("fairer", copied, cluster="id")["fairer"]
    again = of(found, "selection_rate.difference").interval
    assert np.diff(tuple(again)) == pytest.approx(np.diff(tuple(once)), rel=0.02)


def test_strata_are_compared_too():
    found = compared("fairer", strata="region")["fairer"]
    scopes = [d.scope.stratum for d in found.disparities if d.metric.startswith("selection")]
    assert sorted(filter(None, scopes)) == ["north", "south"]


def test_scores_are_decided_at_the_threshold():
    scored = PEOPLE.with_columns(a=0.25 + pl.col("current") / 2, b=0.25 + pl.col("fairer") / 2)
    found = fg.compare_models(
        scored, label="repaid", score="a", candidate="b", sensitive="sex",
        margins={"accuracy": 0.02, "disparity": 0.08},
    )["b"]  # fmt: skip
    expected = compared("fairer")["fairer"]
    assert [d.interval for d in found.disparities] == [d.interval for d in expected.disparities]
    assert found.verdict is expected.verdict


def test_classes_are_compared_one_by_one_and_on_average():
    rng = np.random.default_rng(2)
    label = rng.choice(["a", "b", "c"], 1_500)
    copy = [np.where(rng.random(1_500) < p, label, rng.permutation(label)) for p in (0.5, 0.8)]
    data = pl.DataFrame(
        {"sex": rng.choice(["F", "M"], 1_500), "y": label, "old": copy[0], "new": copy[1]}
    )
    found = fg.compare_models(
        data, label="y", prediction="old", candidate="new", sensitive="sex",
        metrics=["accuracy.difference", "f1.difference"], margins={"accuracy": 0.01},
    )["new"]  # fmt: skip
    assert found.performance is Performance.NON_INFERIOR
    (margin,) = found.margins
    assert margin.change.new == pytest.approx(np.mean(label == copy[1]))
    kinds = {str(d.class_scope.kind) for d in found.disparities}
    assert kinds == {"none", "class", "average"}
    assert all(d.interval is not None for d in found.disparities)


def test_margins_of_disparities_are_held_against_every_class():
    rng = np.random.default_rng(6)
    classes = np.array(["bronze", "gold", "silver"])
    y = rng.integers(3, size=6_000)
    data = pl.DataFrame(
        {"sex": rng.choice(["F", "M"], len(y)), "y": classes[y]}
        | {
            name: classes[np.where(rng.random(len(y)) < right, y, rng.integers(3, size=len(y)))]
            for name, right in (("p", 0.85), ("c", 0.9))
        }
    )
    found = fg.compare_models(
        data, label="y", prediction="p", candidate="c", sensitive="sex",
        margins={"accuracy": 0.01, "disparity": 0.1},
        metrics=["accuracy.difference", "true_positive_rate.difference"],
    )["c"]  # fmt: skip
    assert found.performance is Performance.NON_INFERIOR
    held = {(t.rate, t.change.class_scope.name, t.change.group) for t in found.groups}
    assert held == {
        (rate, name, group)
        for rate in ("accuracy", "true_positive_rate")
        for name in classes.tolist()
        for group in "FM"
    } | {("accuracy", None, group) for group in "FM"}
    for test in found.groups:
        if test.rate == "true_positive_rate":
            of = data.filter(
                (pl.col("y") == test.change.class_scope.name) & (pl.col("sex") == test.change.group)
            )
            assert test.change.new == pytest.approx((of["c"] == of["y"]).mean())


def test_who_changes_adds_up():
    found = compared("fairer")["fairer"]
    overall = {one.among: one for one in found.reclassified if one.feature is None}
    assert overall["all"].n == PEOPLE.height
    gained = ((PEOPLE["current"] == 0) & (PEOPLE["fairer"] == 1)).sum()
    assert overall["all"].gained == gained
    assert overall["positive"].gained + overall["negative"].gained == gained


def test_rows_that_one_model_does_not_decide_are_excluded_and_counted():
    fairer = pl.when(pl.int_range(pl.len()) < 100).then(None).otherwise(pl.col("fairer"))
    found = compared("fairer", PEOPLE.with_columns(fairer=fairer))
    candidate = found["fairer"]
    assert (candidate.undecided, candidate.rows) == (100, PEOPLE.height - 100)
    text = " ".join(str(found).split())
    assert "100 rows that one of both models does not decide are excluded" in text
    assert candidate.disparities == compared("fairer", PEOPLE[100:])["fairer"].disparities


def test_a_margin_of_a_rate_that_is_better_low():
    found = compared("fairer", margins={"false_positive_rate": 0.1})["fairer"]
    (test,) = found.margins
    assert test.change.change < 0.1
    assert test.outcome is Performance.NON_INFERIOR


def test_what_has_no_interval_says_why():
    found = compared("fairer", metrics=["theil_index"])["fairer"]
    assert {d.status for d in found.disparities} == {Status.NOT_APPLICABLE}
    assert all(d.reason is not None for d in found.disparities)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"candidate": "current"}, "'current' is already the model in use"),
        ({"candidate": ["fairer", "fairer"]}, "'fairer' is already a candidate"),
        ({"candidate": "repaid"}, "'repaid' is already the label"),
        ({"candidate": "absent"}, "no column 'absent'"),
        ({"candidate": []}, "name the columns of the candidates' decisions"),
        ({"margins": {"base_rate": 0.1}}, "has no margin"),
        ({"margins": {"accurcy": 0.1}}, "accuracy"),
        ({"margins": {"accuracy": -0.1}}, "0 or greater"),
        ({"margins": {"accuracy.difference": 0.1}}, "is not compared"),
        ({"method": "bootstrap"}, "bootstrap has no effect"),
        ({"margins": {"disparity": 1}}, "must be below 1"),
        ({"prediction": None}, "needs the model in use"),
        ({"task": "regression"}, "the predictions of two regressions"),
        ({"margins": {"accuracy": 1}}, "differs by 1 at most; 1 of 100 is written as 0.01"),
        ({"margins": {"accuracy": 5, "disparity": 0.1}}, "5 of 100 is written as 0.05"),
        ({"margins": {"disparity": 5}}, "of a ratio it is a share, not 5"),
        (
            {"metrics": "selection_rate.ratio", "margins": {"selection_rate.ratio": 1}},
            "margins.selection_rate.ratio: can never be exceeded",
        ),
        (
            {"metrics": "RD", "margins": {"RD": 5}},
            "RD differs by 1 at most; 5 of 100 is written as 0.05",
        ),
    ],
)
def test_wrong_questions_say_what_is_wrong(options, message):
    with pytest.raises(fg.SpecError, match=message):
        fg.compare_models(PEOPLE, **QUESTION | {"candidate": "fairer"} | options)


def test_a_score_outside_the_range_names_the_column():
    scored = PEOPLE.with_columns(a=pl.lit(0.5), b=pl.lit(7.0))
    with pytest.raises(fg.DataError, match="'b' is the score and must lie in"):
        fg.compare_models(scored, label="repaid", score="a", candidate="b", sensitive="sex")


def test_counts_without_candidates_cannot_be_compared():
    with pytest.raises(fg.CubeError, match="do not hold the candidate 'fairer'"):
        fg.compare_models(fg.count(PEOPLE, **QUESTION), candidate="fairer")


def test_an_audit_of_counts_with_candidates_is_of_the_model_in_use():
    cube = fg.count(PEOPLE, **QUESTION, candidate="fairer")
    assert fg.audit(cube).estimates == fg.audit(PEOPLE, **QUESTION).estimates


def test_json_can_be_read_again():
    found = compared(["fairer", "random"], strata="region")
    assert fg.ModelComparison.from_dict(found.to_dict()) == found


def test_options_do_not_belong_to_two_reports():
    report = fg.audit(PEOPLE, **QUESTION)
    with pytest.raises(fg.SpecError, match="takes two reports, old and new"):
        fg.compare(report, report, candidate="fairer")


def scored(n=500, seed=5):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, n)
    a, b = (1 / (1 + np.exp(-(1.5 * (label - 0.5) + rng.normal(size=n) * s))) for s in (1.0, 0.7))
    return pl.DataFrame({"y": label, "a": a, "b": b, "sex": rng.choice(["F", "M"], n)})


def test_areas_and_brier_scores_are_compared_row_by_row():
    data = scored()
    metrics = ["roc_auc.difference", "brier_score.difference"]
    found = fg.compare_models(
        data, label="y", score="a", candidate="b", sensitive="sex", metrics=metrics,
        margins={"roc_auc": 0.02},
    )["b"]  # fmt: skip
    old, new = (
        fg.audit(data, label="y", score=s, sensitive="sex", metrics=metrics) for s in ("a", "b")
    )
    for each in found.disparities:
        before, after = (a[each.metric, "sex", each.group].value for a in (old, new))
        assert (each.old, each.new) == pytest.approx((before, after))
        assert each.interval.low < each.change < each.interval.high
    errors = ((data["b"] - data["y"]) ** 2 - (data["a"] - data["y"]) ** 2).to_numpy()
    half = 1.965 * errors.std(ddof=1) / np.sqrt(len(errors))
    (brier,) = [r for r in found.rates if (r.rate, r.feature) == ("brier_score", None)]
    assert brier.change == pytest.approx(errors.mean())
    assert brier.interval.high - brier.change == pytest.approx(half, rel=1e-3)


def test_scores_of_counts_say_that_they_need_rows():
    question = {"label": "y", "score": "a", "candidate": "b", "sensitive": "sex"}
    cube = fg.count(scored(), **question)
    found = fg.compare_models(cube, metrics=["roc_auc.difference"])["b"]
    assert {d.status for d in found.disparities} == {Status.NOT_APPLICABLE}
    assert {d.reason.code for d in found.disparities} == {ReasonCode.NOT_OF_DECISIONS}


def test_pooled_changes_are_means_over_strata_and_decide():
    metric = "selection_rate.difference"
    found = compared("fairer", strata="region", metrics=metric)["fairer"]
    pooled = [d for d in found.disparities if d.scope.kind == "pooled"]
    strata = [d for d in found.disparities if d.scope.kind == "stratum"]
    assert len(pooled) == 1
    weights = np.array([d.n_group * d.n_reference / (d.n_group + d.n_reference) for d in strata])
    mean = np.average([d.change for d in strata], weights=weights)
    assert pooled[0].change == pytest.approx(mean)
    half = np.diff(tuple(pooled[0].interval))[0]
    overall = next(d for d in found.disparities if d.scope.kind == "overall")
    assert half == pytest.approx(np.diff(tuple(overall.interval))[0], rel=0.1)
    assert pooled[0].p_adjusted is not None
    assert overall.p_adjusted is None


ADJUSTED = [
    f"{rate}.{by}"
    for rate in ("selection_rate", "accuracy", "positive_predictive_value", "f1")
    for by in ("difference", "ratio")
] + ["DI"]


@pytest.mark.parametrize(
    "options", [{}, {"weight": "weight"}, {"cluster": "person"}, {"reference": {"sex": "M"}}]
)
def test_what_is_adjusted_for_strata_changes_as_two_audits_do(options):
    asked = {"metrics": ADJUSTED, "strata": "region", **options}
    found = [
        d for d in compared("fairer", **asked)["fairer"].disparities if d.scope.kind == "pooled"
    ]
    assert {d.metric for d in found} == set(ADJUSTED)
    question = {k: v for k, v in QUESTION.items() if k != "prediction"} | asked
    audits = [fg.audit(PEOPLE, prediction=p, **question) for p in ("current", "fairer")]
    for each in found:
        values = [
            next(
                e.value
                for e in audit.estimates
                if (e.metric, e.group, str(e.scope.kind)) == (each.metric, each.group, "pooled")
            )
            for audit in audits
        ]
        assert (each.old, each.new) == pytest.approx(values), each.metric
        assert each.interval.low < each.change < each.interval.high, each.metric


def test_ratios_within_strata_are_those_of_all_rows_where_strata_are_alike():
    """Strata that are copies of each other adjust nothing."""
    copies = pl.concat([PEOPLE.with_columns(region=pl.lit(name)) for name in "abc"])
    metrics = ["selection_rate.ratio", "selection_rate.difference"]
    found = compared("fairer", copies, strata="region", metrics=metrics)["fairer"].disparities
    for metric in metrics:
        overall, pooled = (
            next(d for d in found if (d.metric, str(d.scope.kind)) == (metric, kind))
            for kind in ("overall", "pooled")
        )
        assert pooled.change == pytest.approx(overall.change)
        assert tuple(pooled.interval) == pytest.approx(tuple(overall.interval), rel=5e-3)
        assert tuple(pooled.distance_interval) == pytest.approx(
            tuple(overall.distance_interval), rel=0.03
        )


def test_clusters_with_rows_in_all_strata_widen_what_is_adjusted_for_them():
    """Every row has a copy in each stratum, so that there are as few people as in one."""
    copies = pl.concat([
        PEOPLE.with_row_index("id").with_columns(region=pl.lit(name)) for name in "abcd"
    ])  # fmt: skip
    metrics = ["selection_rate.difference", "selection_rate.ratio", "f1.difference"]
    once, copied = (
        compared("fairer", data, strata="region", metrics=metrics, cluster="id")["fairer"]
        for data in (copies.filter(region="a"), copies)
    )
    for metric in metrics:
        widths = [
            np.diff(np.log(interval) if metric.endswith("ratio") else interval)[0]
            for found in (once, copied)
            for interval in [
                tuple(next(d.interval for d in found.disparities
                           if d.metric == metric and d.scope.kind == "pooled"))
            ]
        ]  # fmt: skip
        assert widths[1] == pytest.approx(widths[0], rel=0.02), metric


def test_the_largest_gap_changes_as_the_two_groups_do():
    found = compared("fairer", metrics=["selection_rate.largest_gap", "selection_rate.difference"])
    gap, difference = sorted(found["fairer"].disparities, key=lambda d: d.metric, reverse=True)
    assert gap.metric == "selection_rate.largest_gap"
    assert gap.change == pytest.approx(abs(difference.new) - abs(difference.old))
    # one interval allows for both signs of a gap that may be 0, the other for those of its change
    assert tuple(gap.interval) == pytest.approx(tuple(difference.distance_interval), abs=0.005)
    assert gap.interval.high == pytest.approx(difference.distance_interval.high, rel=0.01)
    assert gap.interval.high < 0
    assert gap.direction is Direction.CLOSER
    assert gap.significant


def test_the_largest_gap_of_equal_groups_is_not_called_closer():
    rng = np.random.default_rng(4)
    n = 2_000
    data = pl.DataFrame(
        {
            "sex": rng.choice(list("abcdef"), n),
            "repaid": rng.integers(0, 2, n),
            "current": rng.integers(0, 2, n),
            "other": rng.integers(0, 2, n),
        }
    )
    (gap,) = compared("other", data, metrics="selection_rate.largest_gap")["other"].disparities
    assert gap.interval.low < 0 < gap.interval.high
    assert not gap.significant


def test_an_odds_ratio_adjusted_for_strata_has_no_paired_method():
    found = compared("fairer", strata="region", metrics="selection_odds.ratio")["fairer"]
    reasons = {str(d.scope.kind): d.reason for d in found.disparities}
    assert reasons["overall"] is None
    assert reasons["pooled"].code == "no_paired_method"


def test_metrics_without_a_paired_method_say_so():
    found = compared("fairer", metrics=["theil_index"])
    assert "no method is known for the change of" in found.to_json()


COUNTED = (
    "worst_odds", "average_absolute_odds", "accuracy.largest_gap", "f1.minimum",
    "selection_rate.smallest_ratio", "false_positive_rate.maximum", "equalized_odds.largest_gap",
    "equalized_odds.mean_gap", "equalized_odds.smallest_ratio",
)  # fmt: skip
"""Metrics of counts that are no contrast of a rate with a closed form, of every kind."""


@pytest.mark.parametrize(
    "options",
    [{}, {"weight": "weight"}, {"cluster": "person"}, {"reference": "overall"}],
    ids=lambda each: next(iter(each), "plain"),
)
def test_every_kind_of_metric_changes_as_two_audits_do(options):
    few = {"replicates": 100, "metrics": COUNTED, **options}
    found = compared("fairer", **few)["fairer"]
    asked = {k: v for k, v in QUESTION.items() if k != "prediction"} | few
    audits = [fg.audit(PEOPLE, prediction=p, **asked) for p in ("current", "fairer")]
    assert {each.metric for each in found.disparities} == set(COUNTED)
    for each in found.disparities:
        of_metric = [[e for e in a.estimates if e.metric == each.metric] for a in audits]
        values = [
            next(e.value for e in every if len(every) == 1 or e.group == each.group)
            for every in of_metric
        ]
        assert (each.old, each.new) == pytest.approx(values), each.metric
        assert each.interval.low <= each.change <= each.interval.high


@pytest.mark.parametrize(
    "options", [{}, {"cluster": "person"}, {"strata": "region"}, {"confidence": 0.9}]
)
def test_the_adjusted_interval_excludes_no_change_just_where_the_verdict_does(options):
    few = {"replicates": 100, "metrics": (*COUNTED, "true_positive_rate.difference"), **options}
    found = compared(["fairer", "unfair", "random"], rows(500, seed=1), **few)
    decided = [d for c in found.candidates for d in c.disparities if d.p_adjusted is not None]
    assert {d.significant for d in decided} == {True, False}
    for each in decided:
        low, high = each.distance_adjusted
        assert (low > 0 or high < 0) == each.significant, each
        assert each.significant == (each.p_adjusted <= 1 - found.confidence), each
        assert low - 1e-9 <= each.distance <= high + 1e-9
    (one,) = compared("fairer", metrics="selection_rate.difference")["fairer"].disparities
    assert tuple(one.distance_adjusted) == pytest.approx(tuple(one.distance_interval))


@pytest.mark.parametrize("margin", [0.001, 0.02, 0.05, 0.3])
def test_the_adjusted_interval_decides_a_margin(margin):
    margins = {"accuracy": margin, "false_positive_rate": margin}
    found = compared(["fairer", "unfair", "random"], rows(700, seed=2), margins=margins)
    for test in (test for each in found.candidates for test in each.margins):
        low, high = test.adjusted
        worst, best = (low, high) if test.rate == "accuracy" else (-high, -low)
        assert (worst > -margin) == (test.outcome is Performance.NON_INFERIOR)
        assert (best < -margin) == (test.outcome is Performance.INFERIOR)
        assert (test.p_adjusted <= 0.025) == (test.outcome is Performance.NON_INFERIOR)
        assert test.better == (worst > 0)
        assert low <= test.change.interval.low + 1e-12
        assert high >= test.change.interval.high - 1e-12


@pytest.mark.each_value
@pytest.mark.parametrize(
    ("scored", "options"),
    [(True, {}), (False, {"cluster": "person"}), (False, {"strata": "region"})],
)
def test_every_metric_of_the_catalogue_has_a_change_or_a_reason(scored, options):
    asked = {"replicates": 20, "metrics": "all", "margins": {}, **options}
    data, candidate = rows(600), "fairer"
    if scored:
        noise = np.random.default_rng(0).uniform(-0.2, 0.2, (2, 600))
        data = data.with_columns(
            a=0.25 + pl.col("current") / 2 + noise[0], b=0.25 + pl.col("fairer") / 2 + noise[1]
        )
        asked |= {"prediction": None, "score": "a"}
        candidate = "b"
    found = compared(candidate, data, **asked)[candidate]
    assert all(d.interval or d.reason or d.status is Status.OK for d in found.disparities)
    applicable = {d.metric for d in found.disparities if d.status is not Status.NOT_APPLICABLE}
    assert len(applicable) > 140


def test_too_many_classes_to_be_compared_jointly_are_refused():
    rng = np.random.default_rng(6)
    classes = [f"class {i}" for i in range(90)]
    n = 4_000
    data = pl.DataFrame(
        {
            "sex": rng.choice([f"g{i}" for i in range(40)], n),
            **{name: rng.choice(classes, n) for name in ("y", "a", "b")},
        }
    )
    with pytest.raises(fg.SpecError, match="compare fewer classes, groups or strata"):
        fg.compare_models(data, label="y", prediction="a", candidate="b", sensitive="sex")


@pytest.mark.parametrize("candidate", ["fairer", "unfair", "random"])
@pytest.mark.parametrize("missing", [0, 40])
def test_a_table_of_counts_is_answered_as_its_rows(candidate, missing):
    """Whole candidates are equal: verdicts, sizes, the rows that would decide, what is excluded."""
    decided = pl.when(pl.int_range(pl.len()) < missing).then(None).otherwise(pl.col(candidate))
    few = PEOPLE.head(300).with_columns(decided.alias(candidate))
    counts = few.group_by("sex", "repaid", "current", candidate).len("n")
    margins = {"accuracy": 0.005}
    (of_counts,), (of_rows,) = (
        compared(candidate, table, margins=margins, **more).candidates
        for table, more in ((counts, {"count": "n"}), (few, {}))
    )
    assert (of_rows.rows, of_rows.undecided) == (300 - missing, missing)
    assert of_counts == of_rows


def test_kappa_is_one_number_of_all_classes_as_in_an_audit():
    random = np.random.default_rng(5)
    classes = np.array([*"abc"])
    label = random.choice(classes, 600)

    def guesses(share):
        return np.where(random.random(600) < share, label, random.choice(classes, 600))

    data = pl.DataFrame(
        {"y": label, "p": guesses(0.6), "q": guesses(0.7), "g": random.choice([*"FM"], 600)}
    )
    metrics = ["cohen_kappa.difference", "cohen_kappa.largest_gap", "accuracy.difference"]
    question = {"label": "y", "prediction": "p", "sensitive": "g", "metrics": metrics}
    audited = fg.audit(data, **question)
    found = fg.compare_models(data, candidate="q", **question)["q"]
    asked = {(each.metric, each.class_scope) for each in audited.estimates}
    assert {(each.metric, each.class_scope) for each in found.disparities} <= asked
    for rate in ("cohen_kappa", "accuracy"):
        of_groups = {each.class_scope for each in audited.groups if rate in each.rates}
        assert {each.class_scope for each in found.rates if each.rate == rate} == of_groups


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_extremes_of_infinite_limits_are_compared_without_a_warning():
    """One group has no selected row."""
    few = rows(60).with_columns(sex=pl.Series(["A", "B", "C"] * 20))
    selected = pl.when(pl.col("sex") == "A").then(0).otherwise(pl.col("current"))
    metrics = ["selection_rate.smallest_ratio", "selection_odds.largest_gap", "lift.minimum",
               "positive_predictive_value.largest_gap", "worst_odds"]  # fmt: skip
    found = compared("fairer", few.with_columns(current=selected), metrics=metrics)["fairer"]
    assert {each.metric for each in found.disparities} == set(metrics)
    assert found.verdict is not CandidateVerdict.DOMINATES


def test_a_group_that_is_never_selected_is_in_the_smallest_ratio() -> None:
    """The ratio of a group without selected rows is 0, and not that of the other groups."""
    rows = pl.DataFrame({
        "g": ["a"] * 100 + ["b"] * 100 + ["c"] * 100, "label": [0, 1] * 150,
        "old": [0] * 100 + [0, 1] * 50 + [0, 1, 1, 1] * 25,
        "new": [0] * 100 + [1, 1] * 50 + [0, 1, 1, 1] * 25,
    })  # fmt: skip
    found = fg.compare_models(
        rows, label="label", prediction="old", candidate="new", positive=1, sensitive="g",
        metrics=["selection_rate.smallest_ratio"],
    )  # fmt: skip
    (ratio,) = (e for e in found.candidates[0].disparities if "smallest" in e.metric)
    assert (ratio.old, ratio.new) == (None, None)
    assert ratio.reason is not None
    assert ratio.reason.code is ReasonCode.RATIO_MAY_BE_ZERO


@pytest.mark.parametrize("by", ["prediction", "score"])
def test_a_candidate_that_decides_the_opposite_is_warned_of(by):
    """It was praised for smaller differences, without a word."""
    rng = np.random.default_rng(1)
    label = rng.integers(0, 2, 2000)
    score = np.clip(0.3 + 0.3 * label + 0.2 * rng.normal(size=2000), 0, 1)
    held = score if by == "score" else (score > 0.5) * 1.0
    asked = {"label": label, "positive": 1, "sensitive": {"sex": rng.choice(["F", "M"], 2000)}}
    asked |= {by: held} | ({"threshold": 0.5} if by == "score" else {})
    for candidate, warned in ((1 - held, True), (np.where(rng.random(2000) < 0.9, held, 0), False)):
        found = fg.compare_models(candidate={"c": candidate}, **asked)
        messages = " ".join(each.message for each in found.diagnostics)
        assert ("'c' is positive less often where 'label' is" in messages) == warned
