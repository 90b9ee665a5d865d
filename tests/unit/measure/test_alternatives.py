"""Candidates that are as good as the model in use and less discriminatory."""

import math
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtri

import fairgauge as fg
from fairgauge.render import render
from fairgauge.render._document_tree import TimeChart
from fairgauge.render.document import document
from fairgauge.stats.sequential import better_share, mean_least, records_p

# the shares that are selected, by group (M, F) and label
OLD = [[0.3, 0.8], [0.15, 0.65]]
BETTER = [[0.3, 0.8], [0.22, 0.75]]
LESS_ACCURATE = [[0.3, 0.8], [0.2633, 0.67]]
TURNED = [[0.3, 0.8], [0.52, 0.98]]
LEVELLED = [[0.17, 0.67], [0.15, 0.64]]
ASKED = {"label": "y", "prediction": "current", "positive": 1, "sensitive": "g"}


def rows(*models, n=4_000, old=OLD, shares=(0.7, 0.3), seed=0, alike=0.9):
    """Return rows of groups A, B, ... that models decide, whose latent scores are correlated."""
    rng = np.random.default_rng(seed)
    group, label = rng.choice(len(shares), n, p=shares), (rng.random(n) < 0.6).astype(int)
    base, found = rng.standard_normal(n), {"g": np.array([*"ABC"])[group], "y": label}
    for name, model in zip(["current", *(f"c{k}" for k in range(len(models)))], [old, *models]):  # noqa: B905
        latent = np.sqrt(alike) * base + np.sqrt(1 - alike) * rng.standard_normal(n)
        found[name] = (latent < ndtri(np.array(model))[group, label]).astype(int)
    return pl.DataFrame(found)


def judged(data, candidate="c*", **more):
    return fg.alternatives(data, candidate=candidate, **ASKED | {"reference": {"g": "A"}} | more)


def test_who_is_better_in_every_respect_is_shown():
    """`compare_models` called it "better in what could be tested" in 40 of 40 sets."""
    better = [[0.2, 0.85], [0.22, 0.83]]
    shown = [judged(rows(better, seed=seed)).verdict == "shown" for seed in range(12)]
    assert sum(shown) >= 11


def test_one_candidate_has_the_changes_and_intervals_of_compare_models():
    data = rows(BETTER)
    compared = fg.compare_models(
        data, candidate="c0", metrics="selection_rate.difference", margins={"accuracy": 0.01},
        **ASKED, reference={"g": "A"},
    )["c0"]  # fmt: skip
    one = judged(data)["c0"]
    (gap,), (kept,) = one.gaps, one.performance
    (disparity,), test = compared.disparities, compared.margins[0]
    assert (gap.change, gap.interval) == (disparity.change, disparity.interval)
    assert (kept.change, kept.interval) == (test.change.change, test.change.interval)
    assert tuple(gap.simultaneous) == pytest.approx(tuple(gap.interval))


def words_of(found, **more):
    """Return the first page and the tables on one line."""
    return " ".join(render(found, "text", **more).split())


@pytest.mark.parametrize(("column", "lacking"), [
    ("g", "group"), ("y", "label or decision"), ("c0", "label or decision"),
    ("current", "label or decision"),
])  # fmt: skip
def test_rows_without_a_value_are_stated_as_the_reason_where_they_are(column, lacking):
    """The page said that rows may be too few, of a candidate that all counted rows show."""
    data, unknown = rows(BETTER, n=20_000), np.random.default_rng(1).random(20_000) < 0.1
    assert judged(data)["c0"].withheld_because is None
    holes = pl.when(pl.Series(unknown)).then(None).otherwise(pl.col(column))
    found = judged(data.with_columns(holes.alias(column)))
    why = found["c0"].withheld_because
    code = "missing_groups" if column == "g" else "missing_outcomes"
    assert (str(why.code), why["rows"]) == (code, unknown.sum())
    stated = words_of(found)
    assert f"the {unknown.sum():,} rows without a {lacking} could change that" in stated
    assert "complete what is excluded" in stated
    assert "too few" not in stated
    (kept,) = found["c0"].performance
    open_ = kept.simultaneous.low > -kept.margin and not kept.shown
    assert ("because of rows that are excluded" in stated) == open_
    assert "Zeilen ohne" in words_of(found, lang="de")


def test_a_claim_in_doubt_is_withheld_for_what_is_in_doubt():
    """The page asked for values that are missing, where none are."""
    data = rows(BETTER, n=20_000).with_columns(c0="y")  # a copy of the outcome
    stated = words_of(judged(data))
    assert "By the rows that are counted c0 would be shown, and is not" in stated
    assert "complete what is excluded, or what a warning puts in doubt" in stated
    assert "more rows of this kind" not in stated


def test_a_performance_of_which_less_is_better_is_kept_where_it_does_not_grow():
    """More errors counted as better, so a worse candidate was as good, and its search a gain."""
    worse = [[0.4, 0.8], [0.35, 0.75]]
    fewer = [[0.2, 0.8], [0.1, 0.7]]
    asked = {"margins": {"false_positive_rate": 0.01}, "retrained": True}
    data = rows(worse, fewer, n=20_000)
    found = judged(data, **asked)
    assert [one.is_as_good for one in found.candidates] == [False, True]
    assert [one.performance[0].worse for one in found.candidates] == [True, False]
    assert found.search.as_good == 1
    chart = next(
        each for each in document(found, full=True).exhibits if isinstance(each, TimeChart)
    )
    assert chart.allowed == (-math.inf, 0.01)
    alone = judged(data.drop("c1"), **asked)
    assert (alone.exit_code, alone.search) == (1, None)
    assert "worse by more than 1 of 100" in words_of(alone)


def test_a_gap_that_is_turned_round_is_as_much_smaller_as_it_is():
    """The change of a gap that crosses no difference was stated as by how much it is smaller."""
    found = judged(rows([[0.3, 0.8], [0.42, 0.89]], n=40_000))
    (gap,) = found["c0"].gaps
    assert gap.change > 0.2
    low, high = gap.distance.low, gap.distance.high
    assert low < abs(gap.new) - abs(gap.old) < high
    assert high < 0
    assert f"{-100 * high:.0f} to {-100 * low:.0f} of 100 closer together" in words_of(found)


def test_a_gap_without_a_worse_side_is_not_levelled():
    """Every smaller gap of such a rate was called levelled down."""
    old, new = [[0.2, 0.8], [0.35, 0.65]], [[0.2, 0.8], [0.22, 0.8]]
    found = judged(rows(new, n=40_000, old=old), disparity="PPV")
    assert (found["c0"].shown_for, found["c0"].lifts) == (("B",), True)
    assert "if a group has a smaller gap in" in words_of(found)


def test_a_ratio_is_stated_as_factors():
    found = judged(rows(*[BETTER, OLD] * 2, n=20_000), disparity="selection_rate.ratio",
                   retrained=True)  # fmt: skip
    search, stated = found.search, words_of(found)
    assert f"the smallest gap is a factor of {math.exp(search.curve[-1]):.3g}." in stated
    assert f"lowers the gap by at most a factor of {math.exp(search.bound):.3g}," in stated
    low, high = found[found.best].gaps[0].simultaneous
    gap = found[found.best].gaps[0]
    assert f"a ratio of {gap.old:.3f} and {gap.new:.3f}" in stated  # as in the table
    assert f"{low:.3g} to {high:.3g} times what it was" in stated
    assert "den Faktor" in words_of(found, lang="de")
    *_, curve = (e for e in document(found, full=True).exhibits if isinstance(e, TimeChart))
    assert curve.marks[-1].value == pytest.approx(math.exp(search.curve[-1]))


def test_candidates_that_are_shown_to_be_worse_are_none_that_could_not_be_judged():
    """Every candidate is worse, and the page said that rows may be too few."""
    data = rows([[0.6, 0.4], [0.6, 0.4]], n=600, shares=(0.98, 0.02))
    found = judged(data)
    assert found["c0"].not_judged == ("B",)
    assert (found.verdict, found.exit_code) == ("none shown", 1)
    assert "too few" not in words_of(found)
    one_group = judged(data.with_columns(g=pl.lit("A"), c0="current"))
    assert one_group.verdict == "not judged"
    assert "too few" not in words_of(one_group)


def test_candidates_that_decide_other_rows_are_compared_where_both_decide():
    data = rows(OLD, OLD, n=6_000)
    assert "decide the same 6,000 rows" in words_of(judged(data))
    fewer = data.with_columns(c1=pl.when(pl.int_range(pl.len()) >= 40).then("c1"))
    assert "are compared in what both decide of a table: 5,960 to 6,000" in words_of(judged(fewer))


def test_a_group_that_may_be_harmed_is_stated_as_what_stands_in_the_way():
    data = rows([*BETTER, [0.3, 0.8]], old=[*OLD, [0.3, 0.8]], n=4_000, shares=(0.5, 0.4, 0.1))
    found = judged(data)
    assert not found["c0"].shown_for
    assert found["c0"].gaps[1].distance.high > 0.02
    assert words_of(found).count("larger by 2 of 100 or more is not excluded") == 1


def test_a_candidate_without_a_gap_is_not_the_nearest():
    nobody = pl.when(pl.col("g") == "A").then("c0")
    data = rows(BETTER, [[0.3, 0.8], [0.13, 0.63]], n=6_000).with_columns(c0=nobody)
    assert "The nearest, as measured, is c1" in words_of(judged(data))


@pytest.mark.parametrize(
    ("model", "more", "why"),
    [
        (OLD, {}, "a model of the same rates"),
        (LESS_ACCURATE, {"margins": {"accuracy": 0.01}}, "less accurate by the margin"),
        (TURNED, {}, "a gap that is turned round into as large a one"),
        ([[0.0, 0.0], [0.0, 0.0]], {"margins": {"accuracy": 0.9}}, "who accepts nobody"),
        ([[1.0, 1.0], [1.0, 1.0]], {"margins": {"accuracy": 0.9}}, "who accepts everybody"),
    ],
)
def test_who_is_not_both_is_not_shown(model, more, why):
    found = judged(rows(BETTER, model, n=30_000), **more)
    assert found["c0"].shown_for == ("B",)
    assert found["c1"].shown_for == (), why


@pytest.mark.parametrize(("column", "value", "more", "verdict"), [
    ("c0", pl.col("current"), {}, "none shown"),  # a copy of the model in use
    ("c0", 1 - pl.col("y"), {"margins": {"accuracy": 0.9}}, "none shown"),
    ("c0", pl.col("y"), {}, "none shown"),  # withheld: a copy of the outcome
    ("c0", pl.col("c0"), {"margins": {"accuracy": 0.0}}, "shown"),
    ("c0", pl.when(pl.col("g") == "A").then("c0"), {}, "not judged"),  # no decision for B
    ("c0", pl.when((pl.col("g") == "A") | (pl.col("c0") == 1) | (pl.int_range(pl.len()) % 3 > 0))
     .then("c0"), {}, "none shown"),  # refusals of a group are missing
    ("g", pl.lit("A"), {}, "not judged"),
    ("g", pl.col("g").cast(pl.Enum(["A", "B", "empty"])), {}, "shown"),
    ("y", pl.when(pl.int_range(pl.len()) > 0).then("y"), {"margins": {"f1": 0.01}}, "none shown"),
])  # fmt: skip
def test_who_tries_to_have_a_candidate_named(column, value, more, verdict):
    data = rows([[0.28, 0.82], [0.22, 0.75]], n=20_000).with_columns(value.alias(column))
    assert judged(data, **more).verdict == verdict


def test_a_group_that_is_harmed_stands_in_the_way():
    old = [*OLD, [0.2, 0.7]]
    new = [[0.3, 0.8], [0.22, 0.72], [0.12, 0.6]]
    data = rows(new, n=40_000, old=old, shares=(0.5, 0.3, 0.2))
    found = judged(data)
    assert (found["c0"].shown_for, found["c0"].worse_for) == ((), ("C",))
    assert (found.exit_code, found["c0"].worse) == (1, True)
    assert judged(data, harm=0.2).exit_code == 0
    without = ASKED | {"exclude_groups": ["C"], "reference": {"g": "A"}}
    compared = fg.compare_models(data, candidate="c0", **without)
    rule = {"rules": "selection_rate.ratio >= 0.8", "margins": {"accuracy": 0.1}}
    chosen = fg.thresholds(
        data, **without | {"prediction": None, "score": "current", "threshold": 0.5} | rule
    )
    for found in (judged(data, exclude_groups=["C"]), compared, chosen):
        assert "Excluded (g): C 7,962" in str(found)


def test_who_lifts_a_group_is_named_before_who_levels_down():
    found = judged(rows(LEVELLED, BETTER, n=40_000), margins={"accuracy": 0.06})
    assert all(one.shown_for for one in found.candidates)
    assert [gap.levelled for one in found.candidates for gap in one.gaps] == [True, False]
    assert found.best == "c1"


def test_a_feature_whose_reference_fares_worst_is_named():
    """The largest group may be the one that is worse off: then no gap of its feature can shrink."""
    data = rows(BETTER, shares=(0.3, 0.7)).with_columns(h=pl.Series(["x", "y", "y", "z"] * 1_000))
    found = judged(data, sensitive=["g", "h"], reference="largest")
    assert "no group of g is worse off" in str(found)
    assert "no group of" not in str(judged(data, sensitive=["g", "h"]))


def test_names_and_order_of_candidates_decide_nothing():
    data = rows(OLD, BETTER, LESS_ACCURATE, BETTER, n=9_000)
    one = {c.name: c for c in judged(data).candidates}
    other = judged(data, candidate=["c3", "c1", "c0", "c2"]).candidates
    assert {c.name: c for c in other} == one


def test_turning_the_outcome_round_changes_nothing():
    data = rows(OLD, BETTER, n=9_000)
    turned = judged(data, positive=0, favourable="negative")
    for one, other in zip(judged(data).candidates, turned.candidates, strict=True):
        assert one.shown_for == other.shown_for
        assert one.gaps[0].change == pytest.approx(-other.gaps[0].change)


def test_a_group_without_rows_of_the_rate_has_too_few_and_no_gap():
    """Both gaps are undefined: the page stated one as undefined under the model in use."""
    none_due = rows(BETTER).with_columns(y=pl.when(pl.col("g") == "A").then("y").otherwise(0))
    stated = words_of(judged(none_due, disparity="FNR"))
    assert "Not judged: people with g B (n = 0, below 20)." in stated
    assert "undefined" not in stated


def test_a_ratio_that_was_zero_has_no_endless_number():
    data = rows(BETTER, n=6_000, old=[OLD[0], [0.0, 0.0]])
    found = judged(data, disparity="selection_rate.ratio")
    stated = words_of(found)
    assert "times what it was" in stated
    assert "inf" not in stated.split()


def test_a_search_from_a_ratio_of_zero_bounds_no_regret_and_is_read_again():
    data = rows(BETTER, LESS_ACCURATE, BETTER, n=6_000, old=[OLD[0], [0.0, 0.0]])
    found = judged(data, disparity="selection_rate.ratio", retrained=True)
    assert found.search.regret is None
    assert type(found).from_dict(found.to_dict()) == found
    assert "may truly have a smaller gap, and nothing here bounds" in words_of(found)


def test_of_one_group_it_is_stated_that_none_is_compared_and_no_candidate_is_the_nearest():
    data = rows(BETTER, LESS_ACCURATE, n=600).with_columns(g=pl.lit("A"))
    text = words_of(judged(data))
    assert "No group is compared with another." in text
    assert "nearest, as measured" not in text


def test_without_a_worse_side_no_group_is_said_to_be_none_that_is_worse_off():
    assert "is worse off than" not in words_of(judged(rows(OLD, n=900), disparity="ppv"))


@pytest.mark.parametrize("column", ["g", "y", "c0"])
def test_no_claim_stands_that_rows_without_a_value_could_undo(column):
    data = rows(BETTER, n=6_000)
    kept = pl.int_range(pl.len()) % 10 > 0
    holes = data.with_columns(pl.when(kept).then(column).alias(column))
    assert judged(data).verdict == "shown"
    assert judged(holes).verdict == "none shown"


@pytest.mark.parametrize("column", ["g", "y", "c0", "current"])
@pytest.mark.parametrize("disparity", ["selection_rate", "selection_rate.ratio", "FNR"])
def test_a_claim_stands_whatever_the_rows_without_a_value_hold(column, disparity):
    """Filled in against the candidate, the rows still show what is claimed without them."""
    data = rows([[0.3, 0.8], [0.23, 0.74]], n=6_000, seed=len(column + disparity))
    missing = pl.int_range(pl.len()) % 300 == 0
    holes = data.with_columns(pl.when(~missing).then(column).alias(column))
    assert judged(holes, disparity=disparity)["c0"].shown_for == ("B",)
    wrong, lost = pl.col("g") == "B", pl.col("c0") < pl.col("current")
    against = {
        "g": pl.when(lost).then(pl.lit("B")).otherwise(pl.lit("A")),
        "c0": (~wrong).cast(int), "current": wrong.cast(int), "y": 1 - pl.col("c0"),
    }  # fmt: skip
    full = data.with_columns(pl.when(missing).then(against[column]).otherwise(column).alias(column))
    assert judged(full, disparity=disparity)["c0"].shown_for == ("B",)


def scores(n, digits, seed=0):
    """Return rows with the scores of two models, of which the second ranks better."""
    rng = np.random.default_rng(seed)
    y, g, z = rng.integers(0, 2, n), rng.choice(["A", "B"], n), rng.standard_normal(n)
    own = (0.5 + k * (y - 0.5) + 0.15 * z + 0.05 * rng.standard_normal(n) for k in (0.2, 0.25))
    current, c0 = (each.clip(0, 1).round(digits) for each in own)
    return pl.DataFrame({"y": y, "g": g, "current": current, "c0": c0})


OF_SCORES = {"prediction": None, "score": "current", "threshold": 0.5, "margins": {"roc_auc": 0.01}}


def delong(data):
    """Return the change of the area and its standard error, from all pairs of rows."""
    y, parts = data["y"].to_numpy(), []
    for name in ("current", "c0"):
        one, two = (data[name].to_numpy()[y == of] for of in (1, 0))
        won = (one[:, None] > two) + 0.5 * (one[:, None] == two)
        parts.append((won.mean(), won.mean(axis=1), won.mean(axis=0)))
    error = sum(np.var(b - a, ddof=1) / len(a) for a, b in zip(parts[0][1:], parts[1][1:]))  # noqa: B905
    return parts[1][0] - parts[0][0], np.sqrt(error)


@pytest.mark.parametrize(
    ("n", "digits", "close"), [(3_000, 2, 1e-12), (200, 3, 1e-12), (500, 9, 3e-4)]
)
def test_the_area_under_the_curve_changes_as_delong_has_it(n, digits, close):
    data = scores(n, digits)
    (kept,) = judged(data, **OF_SCORES)["c0"].performance
    change, error = delong(data)
    expected = change, change - ndtri(0.975) * error, change + ndtri(0.975) * error
    assert (kept.change, kept.interval.low, kept.interval.high) == pytest.approx(
        expected, abs=close
    )
    turned = data.with_columns((-pl.col("current", "c0") + 1).round(12))
    again = judged(turned, score_of=0, **OF_SCORES)["c0"].performance[0]
    assert tuple(again.interval) == pytest.approx(tuple(kept.interval), abs=1e-9)
    each = judged(data.with_columns(k=pl.int_range(n)), person="k", **OF_SCORES)
    assert tuple(each["c0"].performance[0].interval) == pytest.approx(
        tuple(kept.interval), abs=1e-3
    )
    assert judged(data.with_columns(c0="current"), **OF_SCORES)["c0"].performance[0].change == 0


def test_rows_without_a_score_or_an_outcome_may_undo_an_area():
    data = scores(3_000, 2)
    stated = words_of(judged(data, **OF_SCORES))
    assert "a change of 0.047 to 0.062 (95% CI); not worse by more than 0.01." in stated
    few, many = (
        data.with_columns(pl.when(pl.int_range(pl.len()) >= n).then("c0").alias("c0"))
        for n in (5, 150)
    )
    assert [judged(e, **OF_SCORES)["c0"].performance[0].shown for e in (few, many)] == [True, False]


def test_people_whose_decisions_are_counted_cluster():
    data = rows(BETTER).with_columns(k=pl.int_range(pl.len()) // 4)
    found = [judged(data, **how) for how in ({"person": "k"}, {"cluster": "k"})]
    assert found[0]["c0"].gaps == found[1]["c0"].gaps
    stated = "also several of one person, which are a cluster"
    assert [stated in " ".join(str(each).split()) for each in found] == [True, False]
    with pytest.raises(fg.SpecError, match="count each decision"):
        judged(data, person="k", per_person="any")


def test_a_candidate_that_was_chosen_on_other_rows_pays_for_no_other(tmp_path):
    first, data = rows(OLD, BETTER, OLD, n=8_000, seed=1), rows(OLD, BETTER, OLD, n=8_000, seed=2)
    found = judged(data, chosen_on=first)
    assert ([c.name for c in found.candidates], found.chosen_among) == (["c1"], 3)
    gap = found["c1"].gaps[0]
    assert tuple(gap.simultaneous) == pytest.approx(tuple(gap.interval))
    with pytest.raises(fg.DataError, match="the same rows"):
        judged(data, chosen_on=data)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"label": None}, "label: name the column of outcomes"),
        ({"reference": "others"}, "reference: name a group, or the largest"),
        ({"margins": {"disparity": 0.1}}, "by how much gaps may grow is harm"),
        (
            {"margins": {"roc_auc": 0.01}, "candidate": "c0", "score": "c1"},
            "margins.roc_auc: is of scores",
        ),
        ({"disparity": "roc_auc"}, "disparity: must be a rate of decisions"),
        ({"harm": 0.0}, "harm: must be above 0"),
        ({"looks": [2]}, "state retrained, too"),
        ({"retrained": True, "looks": [5]}, "planned to look at '5'"),
    ],
)
def test_what_has_no_answer_is_refused_in_words(more, message):
    with pytest.raises(fg.SpecError, match=message):
        judged(rows(BETTER, *[BETTER] * ("candidate" in more)), **more)


def test_a_search_states_what_more_of_one_recipe_could_find():
    data = rows(*[OLD, LESS_ACCURATE, BETTER] * 4)
    search = judged(data, retrained=True).search
    assert dict(search.chance_of_better) == {1: 1 / 13, 10: 10 / 22, 12: 0.5}
    assert [*search.curve] == sorted(search.curve, reverse=True)
    of = [judged(data, retrained=True, **how).search.bound
          for how in ({"fixed_number": True}, {"looks": [6, 12, 24]}, {})]  # fmt: skip
    assert of == sorted(of)
    assert judged(data).search is None


def test_bounds_of_a_search():
    rng = np.random.default_rng(0)
    least = np.minimum.accumulate(rng.random((4_000, 300)), axis=1)
    bounds = np.array([better_share(k, 0.05) for k in range(1, 301)])
    assert (least > bounds).any(axis=1).mean() <= 0.05
    values = rng.random(7)
    means = [np.mean([min(c) for c in combinations(values, j)]) for j in range(1, 8)]
    assert mean_least(values) == pytest.approx(means)
    p = np.array([records_p(rng.random(40)) for _ in range(1_000)])
    assert (p <= 0.05).mean() <= 0.06
