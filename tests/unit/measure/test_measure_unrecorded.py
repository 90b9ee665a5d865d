"""Audits of groups that nobody recorded, from the probabilities of their groups."""

import json

import numpy as np
import polars as pl
import pytest

import fairgauge as fg

GROUPS = {"Black": "p_black", "White": "p_white", "other": "p_other"}
COLUMNS = list(GROUPS.values())


def people(rows, rates=(0.36, 0.55, 0.5), seed=0, concentration=1.0, known=0.0):
    """Draw people whose outcome does not depend on their probabilities within a group."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.array([0.2, 0.6, 0.2]) * concentration, rows)
    group = (p.cumsum(axis=1) > rng.random((rows, 1))).argmax(axis=1)
    chosen = rng.random(rows) < np.array(rates)[group]
    names = np.array(list(GROUPS))[group]
    reported = [name if rng.random() < known else None for name in names]
    columns = dict(zip(COLUMNS, p.T, strict=True))
    return pl.DataFrame(
        {"chosen": chosen.astype(int), **columns, "race": names, "reported": reported}
    )


def audited(data, rules=(), reference="White", metrics="selection_rate.difference", **asked):
    feature = {k: asked.pop(k) for k in ("known", "known_drawn", "assume") if k in asked}
    asked = {"prediction": "chosen", "positive": 1, **asked}
    return fg.audit(
        data,
        sensitive={"race": fg.probabilities(GROUPS, **feature)},
        reference={"race": reference} if reference else "others",
        metrics=metrics, rules=list(rules), **asked,
    )  # fmt: skip


LIMIT = "selection_rate.difference >= -0.05"


def outcome_of(report, group="Black"):
    return next(str(v.outcome) for v in report.verdicts if v.group == group)


def test_probabilities_of_0_and_1_give_the_values_of_the_recorded_column():
    data = people(800)
    known = data.with_columns(
        *((pl.col("race") == name).cast(pl.Float64).alias(c) for name, c in GROUPS.items())
    )
    metrics = ["selection_rate.difference", "selection_rate.ratio"]
    for reference in ("White", None):
        estimated = audited(known, reference=reference, metrics=metrics)
        recorded = fg.audit(
            known, prediction="chosen", positive=1, sensitive="race", metrics=metrics,
            reference={"race": reference} if reference else "others",
        )  # fmt: skip
        for each in recorded.estimates:
            ours = estimated[each.metric, "race", each.group]
            assert ours.value == pytest.approx(each.value, abs=1e-9)
            assert ours.interval.low == pytest.approx(each.interval.low, abs=0.01)
            assert ours.interval.high == pytest.approx(each.interval.high, abs=0.02)


def test_probabilities_without_information_decide_nothing():
    """The true ratio is .65; all have the same probabilities."""
    data = people(4_000).with_columns(
        pl.lit(0.3).alias("p_black"), pl.lit(0.5).alias("p_white"), pl.lit(0.2).alias("p_other")
    )
    rules = ["selection_rate.ratio >= 0.8", "selection_rate.difference >= -0.5", LIMIT]
    report = audited(data, rules)
    assert {str(each.outcome) for each in report.verdicts} == {"not_evaluated"}
    assert all(each.status == "undefined" for each in report.estimates)
    assert "do not distinguish 'Black', 'White', 'other'" in report.verdicts[0].says
    assert report.exit_code == 3
    bounds = audited(data, rules, assume="nothing")
    assert {str(each.outcome) for each in bounds.verdicts} == {"inconclusive"}
    counted = [{"metric": "selection_rate.ratio", "at_least": 0.8, "insufficient": "pass"}]
    assert "pass" not in {str(each.outcome) for each in audited(data, counted).verdicts}


LAWS = {
    "constant": lambda rng, n: np.full(n, 0.3),
    "drawn": lambda rng, n: rng.beta(0.6, 1.4, n),
    "nearly certain": lambda rng, n: np.where(rng.random(n) < 0.3, 0.99, 0.01),
    "of places": lambda rng, n: rng.beta(0.6, 1.4, 30)[rng.integers(0, 30, n)],
}
"""Probabilities that show nothing of the group: the area under their curve is .5."""


@pytest.mark.each_value
@pytest.mark.parametrize("assume", ["given_group", "nothing"])
@pytest.mark.parametrize("drawn", [None, "unknown", "random"])
@pytest.mark.parametrize("law", LAWS)
def test_no_rule_passes_by_probabilities_that_show_nothing(law, drawn, assume):
    """The true ratio is .5, and nobody's group depends on the probabilities.

    Without people of known group the same data arise where probabilities are right and all fare
    alike: no test of them can distinguish the two.
    """
    rng = np.random.default_rng(list(LAWS).index(law))
    black, p = rng.random(1_500) < 0.3, LAWS[law](rng, 1_500)
    data = pl.DataFrame({
        "chosen": (rng.random(1_500) < np.where(black, 0.3, 0.6)).astype(int),
        "p_black": p,
        "p_white": 1 - p,
        "reported": [
            ("Black" if b else "White") if u < 0.1 else None
            for b, u in zip(black.tolist(), rng.random(1_500).tolist(), strict=True)
        ],
    })  # fmt: skip
    known = {} if drawn is None else {"known": "reported", "known_drawn": drawn}
    race = fg.probabilities(Black="p_black", White="p_white", assume=assume, **known)
    rules = [
        "selection_rate.ratio >= 0.8",
        {"metric": "selection_rate.ratio", "at_least": 0.8, "decide": "point"},
        {"metric": "selection_rate.ratio", "at_least": 0.8, "decide": "significant"},
        {"metric": "selection_rate.ratio", "at_least": 0.8, "insufficient": "pass"},
        {"metric": "selection_rate", "at_least": 0.45},
    ]
    report = fg.audit(
        data, prediction="chosen", positive=1, sensitive={"race": race},
        reference={"race": "White"}, metrics="selection_rate.ratio", rules=rules,
    )  # fmt: skip
    assert "pass" not in {str(each.outcome) for each in report.verdicts if each.group == "Black"}
    assert report.exit_code != 0


def test_a_rule_passes_only_by_a_random_sample_of_people_of_known_group():
    wide, equal = ["selection_rate.difference >= -0.1"], (0.5, 0.5, 0.5)
    alone = audited(people(12_000, equal), wide)
    data = people(12_000, equal, known=0.5)
    volunteers = audited(data, wide, known="reported")
    drawn = audited(data, wide, known="reported", known_drawn="random")
    assert [outcome_of(each) for each in (alone, volunteers, drawn)] == [
        "inconclusive", "inconclusive", "pass",
    ]  # fmt: skip
    assert alone.verdicts[0].reason["known"] == 0
    assert volunteers.verdicts[0].reason["known"] > 5_000
    assert "a pass needs a random sample" in volunteers.verdicts[0].says


def test_a_group_below_the_minimum_has_no_verdict():
    data, of_known = people(4_000, known=0.5), {"known": "reported", "known_drawn": "random"}
    wide = ["selection_rate.difference >= -0.5"]
    assert outcome_of(audited(data, wide, **of_known)) == "pass"
    report = audited(data, wide, min_n=2_000, **of_known)
    assert outcome_of(report) == "not_evaluated"


def test_what_is_assumed_decides_and_is_stated():
    data = people(20_000, (0.45, 0.55, 0.5), known=0.0)
    one, nothing = audited(data, [LIMIT]), audited(data, [LIMIT], assume="nothing")
    assert [outcome_of(each) for each in (one, nothing)] == ["fail", "inconclusive"]
    key = ("selection_rate.difference", "race", "Black")
    assert "does not depend on the probabilities within a group" in one[key].says
    assert "without any assumption" in nothing[key].says
    assert "without any assumption" in nothing.verdicts[0].says
    made = {str(each.estimator): each for each in one.estimators if each.group == "Black"}
    assert set(made) == {"likelihood", "bounds"}
    assert one[key].interval == made["likelihood"].interval
    assert made["bounds"].interval.low <= made["bounds"].set_low < made["bounds"].set_high
    assert 500 < made["likelihood"].effective_people < 4_000


def test_a_random_sample_of_known_groups_decides():
    data = people(6_000, known=0.3)
    report = audited(data, [LIMIT], known="reported", known_drawn="random")
    estimate = report["selection_rate.difference", "race", "Black"]
    assert "corrected by a random sample" in estimate.says
    assert outcome_of(report) == "fail"
    not_random = audited(data, [LIMIT], known="reported")
    assert {str(each.estimator) for each in not_random.estimators} == {"likelihood", "bounds"}
    calibrated = [each for each in not_random.diagnostics if each.code == "calibration"]
    assert [each["rejected"] for each in calibrated] == [False]


def test_people_of_known_group_contradict_wrong_probabilities():
    data = people(6_000, known=0.3)
    total = pl.sum_horizontal(*(pl.col(c) ** 2 for c in COLUMNS))
    sure = data.with_columns(*((pl.col(c) ** 2 / total).alias(c) for c in COLUMNS))
    report = audited(sure, known="reported")
    (found,) = [each for each in report.diagnostics if each.code == "calibration"]
    assert found.level == "warning"
    assert "disagree with the groups" in found.message
    assert "by more than sampling variation would produce (p\u00a0<\u00a00.001, " in found.message
    assert "tested at 5%): they may be wrong, or those who report may differ" in found.message


def test_an_outcome_that_depends_on_the_probabilities_leaves_bounds_to_decide():
    rng = np.random.default_rng(3)
    data = people(20_000)
    rate = 0.3 + 1.6 * data["p_white"].to_numpy() * (1 - data["p_white"].to_numpy())
    data = data.with_columns(chosen=pl.Series((rng.random(20_000) < rate).astype(int)))
    report = audited(data, [LIMIT], assume="given_group")
    assert outcome_of(report) == "inconclusive"
    assert [e.code for e in report.diagnostics if e.code == "lack_of_fit"]


@pytest.mark.parametrize("amounts", [False, True])
def test_repeated_rows_of_clusters_do_not_lose_the_fit(amounts):
    """Tables that are as assumed, each row four times: as often as by the rows once, or less."""
    found = {1: 0, 4: 0}
    for seed in range(8):
        once = people(1_500, seed=seed).with_row_index("of")
        asked = {"assume": "given_group", "cluster": "of"}
        if amounts:
            pay = np.random.default_rng(seed).normal(once["chosen"].to_numpy(), 1)
            once = once.with_columns(chosen=pl.Series(pay))
            asked |= {"metrics": "mean_label.difference", "label": "chosen", "prediction": None,
                      "task": "regression", "positive": None}  # fmt: skip
        for times in found:
            report = audited(pl.concat([once] * times), **asked)
            found[times] += "lack_of_fit" in {str(e.code) for e in report.diagnostics}
    assert found[4] <= found[1] + 1 < 3


def widths(report):
    """Return how wide the interval of every estimator is."""
    intervals = {str(e.estimator): e.interval for e in report.estimators if e.group == "Black"}
    return {name: each.high - each.low for name, each in intervals.items()}


ASKED = {"known": "reported", "known_drawn": "random"}


@pytest.mark.parametrize(("name", "asked"), [("likelihood", {}), ("validated", ASKED)])
def test_weights_that_differ_widen_every_interval(name, asked):
    """Each row a cluster of its own has its own weight, in place of that of its cell."""
    rng = np.random.default_rng(4)
    data = people(2_500, known=0.4).with_row_index("of")
    data = data.with_columns(w=pl.Series(rng.lognormal(0, 0.8, 2_500)))
    alone, weighted = (widths(audited(data, **asked, **w)) for w in ({}, {"weight": "w"}))
    by_row = widths(audited(data, weight="w", cluster="of", **asked))
    assert weighted[name] > 1.2 * alone[name]
    assert weighted[name] == pytest.approx(by_row[name], rel=0.06)


def test_rows_without_probabilities_are_excluded_and_counted():
    data = people(1_000)
    missing = data.with_columns(
        *(pl.when(pl.int_range(1_000) < 7).then(None).otherwise(c).alias(c) for c in COLUMNS)
    )
    report = audited(missing)
    assert report.data.excluded == {"missing race": 7}
    assert report.data.used == 993
    ours = report["selection_rate.difference", "race", "Black"].value
    rest = audited(data[7:])["selection_rate.difference", "race", "Black"].value
    assert ours == pytest.approx(rest)


def test_what_assumes_nothing_states_its_range_and_no_value():
    report = audited(people(6_000, (0.4, 0.5, 0.5)), [LIMIT], assume="nothing")
    estimate = report["selection_rate.difference", "race", "Black"]
    assert (estimate.value, estimate.rate_group, estimate.rate_reference) == (None, None, None)
    saved = json.loads(report.to_json())
    assert {each["value"] for each in saved["estimates"]} == {None}
    low, high = (f"{100 * abs(end):.1f}" for end in estimate.interval)
    text = " ".join(str(report).split())
    assert f"−{low} to +{high}" in text
    for untrue in ("an estimated", "As precise", "as precise", "right wherever"):
        assert untrue not in text, untrue


@pytest.mark.parametrize("value", [None, "Pending"])
def test_estimated_groups_pass_no_rule_that_rows_without_an_outcome_could_change(value):
    """Half of the refused of one group without a decision: exit 0, whatever these were."""
    rng = np.random.default_rng(5)
    black = rng.random(6_000) < 0.4
    p = np.where(black, rng.beta(9, 1, 6_000), rng.beta(1, 9, 6_000))
    yes, asked = rng.random(6_000) < 0.5, rng.random(6_000) < 0.3
    rows = pl.DataFrame({
        "d": np.where(yes, "yes", "no"), "b": p, "w": 1 - p,
        "k": [("Black" if b else "White") if known else None
              for b, known in zip(black.tolist(), asked.tolist(), strict=True)],
    })  # fmt: skip
    question = {
        "prediction": "d", "positive": "yes", "rules": "selection_rate.ratio >= 0.7",
        "probabilities": {"name": "race", "probabilities": {"Black": "b", "White": "w"},
                          "known": "k", "known_drawn": "random"},
    }  # fmt: skip
    assert str(fg.audit(rows, **question).verdict) == "pass"
    some = (pl.col("b") > 0.5) & (pl.col("d") == "no") & (pl.int_range(pl.len()) % 2 == 0)
    lacking = rows.with_columns(d=pl.when(some).then(pl.lit(value)).otherwise("d"))
    assert str(fg.audit(lacking, **question).verdict) == "inconclusive"


def steps(report):
    return " ".join(each.text for each in report.brief().steps)


def test_people_are_to_be_asked_until_their_answers_decide():
    data = people(4_000, rates=(0.45, 0.5, 0.5), seed=8, known=0.23)
    assert "ask randomly drawn people for their race" in steps(audited(data))
    assert "drawn people" not in steps(audited(data, **ASKED))
    answered = len(data) - data["reported"].null_count()
    more = f"ask more randomly drawn people (beyond the {answered} who answered)"
    assert more in steps(audited(data, [LIMIT], **ASKED))


def test_a_headline_from_probabilities_says_that_it_is_estimated():
    def headline(data, *rules, **asked):
        return audited(data, rules, **asked).brief().headline.text

    data = people(4_000, (0.33, 0.55, 0.5), seed=1, known=0.15)
    estimated = (
        "Estimated from probabilities, if these are independent of the outcome within a group: "
    )
    strict = "selection_rate.difference >= -0.01"
    for found in (headline(data), headline(data, strict), headline(data, assume="given_group")):
        assert found.startswith(estimated)
    corrected = headline(data, **ASKED)
    assert corrected.startswith("Estimated from probabilities, corrected by answers: ")
    recorded = fg.audit(data, prediction="chosen", positive=1, sensitive="race",
                        metrics="selection_rate.difference")  # fmt: skip
    assert "stimated" not in recorded.brief().headline.text


# ---- groups that nobody recorded, whose rates are estimated within strata
GROUPS_STRATA = {"Black": "p_black", "White": "p_white"}
KEY = ("selection_rate.difference", "race", "Black")


def of_places(rows=20_000, places=8, seed=0, share=0.04):
    """Draw people of places that differ in groups and rates; probabilities are of both.

    Within a place and group the outcome does not depend on the probability, over all places it
    does: people who are likelier to be of a group live where rates are lower.
    """
    rng = np.random.default_rng(seed)
    place = rng.integers(0, places, rows)
    lean, level = np.linspace(-1.5, 1.5, places)[place], np.linspace(0.75, 0.35, places)[place]
    black = 1 / (1 + np.exp(-(lean + rng.normal(scale=1.5, size=rows))))
    is_black = rng.random(rows) < black
    rate = level - 0.1 * is_black
    data = {
        "p_black": black, "p_white": 1 - black, "chosen": (rng.random(rows) < rate).astype(int),
        "place": place, "race": np.where(is_black, "Black", "White"),
        "asked": [
            g if rng.random() < share else None for g in np.where(is_black, "Black", "White")
        ],
    }  # fmt: skip
    truth = rate[is_black].mean() - rate[~is_black].mean()
    return pl.DataFrame(data), float(truth)


def audited_strata(data, assume="given_group", rules=(), **asked):
    more = {k: asked.pop(k) for k in ("known", "known_drawn") if k in asked}
    return fg.audit(
        data, prediction="chosen", positive=1, metrics="selection_rate.difference",
        sensitive={"race": fg.probabilities(GROUPS_STRATA, assume=assume, **more)},
        reference={"race": "White"}, rules=list(rules), **asked,
    )  # fmt: skip


def by(report, estimator):
    return next(e for e in report.estimators if str(e.estimator) == estimator)


def test_strata_make_right_what_places_make_wrong():
    held = []
    for seed in range(12):
        data, truth = of_places(seed=seed, rows=8_000)
        alone, within = (by(audited_strata(data, **each), "likelihood") for each in ({}, WITHIN))
        held.append(within.interval.low <= truth <= within.interval.high)
        assert abs(within.value - truth) < 0.05 < abs(alone.value - truth)
    assert sum(held) >= 10


WITHIN = {"strata": "place"}


def test_one_hot_probabilities_within_strata_are_the_recorded_column():
    data, _ = of_places(4_000)
    exact = data.with_columns(
        p_black=(pl.col("race") == "Black").cast(float),
        p_white=(pl.col("race") == "White").cast(float),
    )
    recorded = fg.audit(
        data, prediction="chosen", positive=1, sensitive="race", reference={"race": "White"},
        metrics="selection_rate.difference",
    )  # fmt: skip
    assert audited_strata(exact, **WITHIN)[KEY].value == pytest.approx(
        recorded[KEY].value, abs=1e-6
    )


def test_clusters_and_strata_are_refused_together():
    data, _ = of_places(500)
    with pytest.raises(fg.SpecError, match="remove it, or the cluster"):
        audited_strata(data.with_columns(of=pl.int_range(500) // 5), cluster="of", **WITHIN)
