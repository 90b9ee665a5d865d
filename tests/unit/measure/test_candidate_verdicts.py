"""What "dominates" takes: margins of disparities and of groups' own rates, and data for both."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.model_rows import QUESTION, rows

import fairgauge as fg
from fairgauge.catalogue.catalogue import rate
from fairgauge.enums import CandidateVerdict, Fairness, Performance, Status
from fairgauge.inference.possible import PossiblePairs, furthest
from fairgauge.resolve.outcomes import OutcomeMasks
from fairgauge.results.comparison import with_verdict
from fairgauge.start.records import replace
from fairgauge.statements.changes import candidate_statements
from fairgauge.stats.significance import holm

PEOPLE = rows(3_000)
MARGINS = {"accuracy": 0.02, "disparity": 0.08}


def improved(group, n, old, new):
    """Return counts of true and false positive rates of two models that mostly agree."""
    for label, before, after in ((1, old[0], new[0]), (0, old[1], new[1])):
        both = 0.9 * min(before, after) + 0.1 * before * after
        cells = {(1, 1): both, (1, 0): before - both, (0, 1): after - both}
        for current, c0 in ((1, 1), (1, 0), (0, 1), (0, 0)):
            share = cells.get((current, c0), 1 - sum(cells.values()))
            yield {"group": group, "y": label, "current": current, "c0": c0,
                   "n": round(n / 2 * share)}  # fmt: skip


def test_who_could_not_be_tested_is_named():
    people = [
        *improved("A", 750, (0.80, 0.20), (0.84, 0.18)),
        *improved("B", 675, (0.62, 0.20), (0.80, 0.18)),
        *improved("C", 75, (0.68, 0.20), (0.80, 0.18)),
    ]
    found = fg.compare_models(
        pl.DataFrame(people), label="y", prediction="current", sensitive="group", count="n",
        candidate="c0", margins={"accuracy": 0.02, "disparity": 0.1},
    )  # fmt: skip
    candidate = found["c0"]
    assert candidate.verdict is CandidateVerdict.BETTER_WHERE_TESTED
    assert found.exit_code == 3
    groups = {getattr(each, "group", None) or each.change.group for each in candidate.untested}
    assert groups == {"C"}
    text = " ".join(str(found).split())
    assert "c0 is better than current in what could be tested" in text
    assert "Not shown to be within the margin: people with group C." in text


def test_fairer_and_as_good_is_one_claim_of_each_candidate():
    """Two corrections beside each other named a wrong candidate in 4% of sets (K = 10)."""
    models = ["fairer", "unfair"]
    found = fg.compare_models(PEOPLE, **QUESTION, candidate=models, margins={"accuracy": 0.02})
    one = found["fairer"]
    assert (one.fairness, one.performance) == ("fairer", "non-inferior")
    p = max(
        len(one.disparities) * min(e.p_value for e in one.disparities if e.direction == "closer"),
        2 * one.margins[0].p_value,
    )
    assert one.together is (p <= 0.05 / 2) is True
    apart = with_verdict(replace(one, together=False))
    assert apart.verdict is CandidateVerdict.CANNOT_TELL
    text = " ".join(str(replace(found, candidates=(apart,))).split())
    assert "both together are not shown with the claims of all candidates" in text


def test_claims_of_all_candidates_are_one_procedure_and_margins_are_held_at_its_level():
    """Holm over intersection-unions, as `alternatives` has it; margins had a Holm of their own."""
    names, shown = ["fairer", "unfair", "random"], 0
    for seed in range(8):
        found = fg.compare_models(
            rows(1_500, seed=seed), **QUESTION, candidate=names, margins={"accuracy": 0.05}
        )
        p = [
            max(
                len(one.disparities)
                * min((e.p_value for e in one.disparities if e.direction == "closer"), default=1),
                2 * one.margins[0].p_value,
            )
            for one in found.candidates
        ]
        together = [one.together for one in found.candidates]
        assert together == (holm(np.array(p)) <= 0.05).tolist()
        left = len(names) - sum(together)  # those shown first make room for the others
        for (test,) in (one.margins for one in found.candidates):
            assert test.p_adjusted == pytest.approx(min(1, test.p_value * max(left, 1)))
        shown += sum(together)
    assert 0 < shown < 8 * len(names)


def test_a_margin_of_disparities_alone_is_no_verdict_that_it_is_as_good():
    found = fg.compare_models(PEOPLE, **QUESTION, candidate="fairer", margins={"disparity": 0.08})
    assert found["fairer"].verdict is CandidateVerdict.CANNOT_TELL
    assert "no margin is stated for its accuracy" in " ".join(str(found).split())


def test_margins_are_decided_by_the_interval_that_stands_beside_them():
    for seed in range(6):
        found = fg.compare_models(
            rows(700, seed=seed), **QUESTION, candidate=["fairer", "unfair"],
            metrics=["selection_rate.difference", "true_positive_rate.ratio"],
            margins={"accuracy": 0.02, "disparity": 0.05},
        )  # fmt: skip
        for candidate in found.candidates:
            for one in candidate.disparities:
                scale = -np.log1p(-one.margin) if one.by == "ratio" else one.margin
                within = one.margin_interval.high < scale
                assert within == (one.outcome is Performance.NON_INFERIOR)
                if one.outcome is Performance.INFERIOR:
                    assert one.margin_interval.low > scale
            for test in candidate.groups:
                least = 1 - test.margin if test.by == "ratio" else -test.margin
                assert (test.adjusted.low > least) == (test.outcome is Performance.NON_INFERIOR)


NEUTRAL = st.tuples(st.integers(1, 30), st.integers(1, 30), st.integers(0, 6), st.integers(0, 6))


@given(
    harmed=st.sampled_from(["unfair", "random"]),
    added=st.dictionaries(st.sampled_from(["X", "Y", "Z"]), NEUTRAL, min_size=1),
    without_group=st.integers(0, 50),
    margin=st.sampled_from([0.02, 0.1]),
)
def test_no_group_row_or_feature_turns_a_bad_verdict_into_dominance(
    harmed, added, without_group, margin
):
    """Nobody can silence what is worse: whatever is added, a candidate does not dominate."""
    base = PEOPLE.select("sex", "repaid", "current", pl.col(harmed).alias("new")).head(1_500)
    question = {"label": "repaid", "prediction": "current", "candidate": "new",
                "reference": {"sex": "M"}}  # fmt: skip
    question["margins"] = {"accuracy": 0.02, "disparity": margin}
    before = fg.compare_models(base, **question, sensitive="sex")["new"]
    assert before.verdict in (CandidateVerdict.WORSE, CandidateVerdict.TRADE_OFF)
    more = []
    for name, (good, bad, gained, lost) in added.items():
        for label, old, new, n in ((1, 1, 1, good), (0, 0, 0, bad), (1, 0, 1, gained),
                                   (0, 1, 0, lost)):  # fmt: skip
            more += [{"sex": name, "repaid": label, "current": old, "new": new}] * n
    more += [{"sex": None, "repaid": 1, "current": 0, "new": 1}] * without_group
    data = pl.concat([base, pl.DataFrame(more, schema=base.schema)])
    noise = np.random.default_rng(len(more)).choice(["k", "l"], len(data))
    after = fg.compare_models(
        data.with_columns(other=noise), **question, sensitive=["sex", "other"]
    )["new"]
    assert after.verdict is not CandidateVerdict.DOMINATES
    of_women = [each for each in after.disparities if (each.group, each.status) == ("F", Status.OK)]
    assert any(each.outcome is not Performance.NON_INFERIOR for each in of_women) or (
        after.performance is not Performance.NON_INFERIOR
    )


@pytest.mark.parametrize(
    "sizes", [{"Fir": 14}, {"Ash": 3, "Fir": 19}, {"Ash": 1, "Fir": 2, "Yew": 8}]
)
def test_each_group_that_is_too_small_is_named(sizes):
    few = [pl.DataFrame({"sex": [name] * n, "repaid": [i % 2 for i in range(n)]})
           for name, n in sizes.items()]  # fmt: skip
    models = {name: pl.col("repaid") for name in ("current", "fairer", "unfair", "random")}
    small = pl.concat(few).with_columns(region=pl.lit("north"), **models)
    data = pl.concat([PEOPLE.drop("weight", "person"), small], how="diagonal_relaxed")
    flipped = pl.int_range(pl.len()) % 50 == 0
    data = data.with_columns(
        alike=pl.when(flipped).then(1 - pl.col("current")).otherwise("current")
    )
    for candidate, margins, verdict in (
        ("fairer", MARGINS, CandidateVerdict.BETTER_WHERE_TESTED),
        ("alike", {"accuracy": 0.05}, CandidateVerdict.CANNOT_TELL),
        ("alike", {}, CandidateVerdict.NONE),
    ):
        found = fg.compare_models(data, **QUESTION, candidate=candidate, margins=margins)
        assert found[candidate].verdict == verdict
        if candidate == "fairer":
            held = {(e.change.group, e.outcome) for e in found["fairer"].groups} - {
                (sex, Performance.NON_INFERIOR) for sex in "FM"
            }
            assert held == {(name, Performance.CANNOT_TELL) for name in sizes}
        (few,) = (s for s in candidate_statements(found, found[candidate]) if s.verdict == "few")
        named = {part.who.values[0][1]: part.who.n for part in few.parts}
        assert named == sizes
        text = " ".join(str(found).split())
        assert all(name in text and f"({n} row" in text for name, n in sizes.items())


# ---- no claim on a candidate that the rows which are excluded could overturn
PEOPLE_CUT = rows(12_000)
WRONGED = (PEOPLE_CUT["sex"] == "F") & (PEOPLE_CUT["repaid"] == 1)
CURRENT, FAIRER = PEOPLE_CUT["current"], PEOPLE_CUT["fairer"]
HARMFUL = PEOPLE_CUT.with_columns(
    fairer=pl.when(WRONGED & (pl.int_range(pl.len()) % 2 == 0)).then(0).otherwise(FAIRER)
)
"""The candidate refuses half of the women who repaid, and is closer in all that is left."""


def compared(data, **options):
    asked = {**QUESTION, "margins": MARGINS, **options}
    return fg.compare_models(data, candidate="fairer", **asked)


def without(data, column, where):
    return data.with_columns(pl.when(~where).then(pl.col(column)).alias(column))


REFUSED = (HARMFUL["fairer"] == 0) & WRONGED & (FAIRER == 1)


@pytest.mark.parametrize("column", ["sex", "fairer", "weight", "repaid"])
def test_a_candidate_does_not_dominate_by_rows_that_are_excluded(column):
    options = {"weight": "weight"} if column == "weight" else {}
    data = HARMFUL.with_columns(weight=pl.lit(1.0))
    found = compared(without(data, column, REFUSED), **options)
    assert found["fairer"].verdict is not CandidateVerdict.DOMINATES
    assert found["fairer"].overturned
    assert found.exit_code != 0
    text = " ".join(str(found).split())
    assert "What the rows that are excluded could overturn does not count" in text
    assert f"{REFUSED.sum():,} rows" in text
    assert "no number of rows would" not in text


def test_a_claim_that_no_excluded_row_could_overturn_is_made():
    few = pl.Series(np.arange(PEOPLE_CUT.height) % 1_500 == 0)
    for column in ("sex", "fairer", "repaid"):
        found = compared(without(PEOPLE_CUT, column, few))
        assert found["fairer"].verdict is CandidateVerdict.DOMINATES, column
        assert f"{few.sum():,} rows" in " ".join(str(found).split())


def test_rows_that_are_excluded_take_back_no_harm():
    found = compared(without(PEOPLE_CUT, "unfair", WRONGED & pl.Series(np.arange(12_000) % 9 == 0)),
                     ).candidates[0]  # fmt: skip
    assert found.verdict is CandidateVerdict.DOMINATES  # of the other candidate
    worse = without(PEOPLE_CUT, "sex", pl.Series(np.arange(12_000) % 40 == 0))
    found = fg.compare_models(worse, candidate="unfair", margins=MARGINS, **QUESTION)["unfair"]
    assert found.fairness is Fairness.LESS_FAIR
    assert Performance.INFERIOR in {each.outcome for each in found.disparities}


@pytest.mark.parametrize("lacking", [("F", None), (None, None)])
def test_rows_that_lack_a_column_overturn_claims_on_groups_alone_that_they_may_be_of(lacking):
    """A claim on men was open as women of unknown race could be men."""
    rng = np.random.default_rng(1)
    many = {("F", "B"): 8_000, ("F", "W"): 8_000, ("M", "B"): 900, ("M", "W"): 900, lacking: 90}
    rows = [(*group, int(u < (0.35 if group == ("M", "B") else 0.5)), int(u < 0.5))
            for group, n in many.items() for u in rng.random(n)]  # fmt: skip
    data = pl.DataFrame(rows, schema=["sex", "race", "old", "fairer"], orient="row")
    left = pl.int_range(pl.len()) >= data.height - 90
    data = data.with_columns(old=pl.when(left).then(1).otherwise("old"))
    data = data.with_columns(fairer=pl.when(left).then(0).otherwise("fairer"))
    right = pl.Series(rng.random(data.height) < 0.8)
    data = data.with_columns(y=pl.when(right).then("fairer").otherwise(1 - pl.col("fairer")))
    asked = {"label": "y", "prediction": "old", "positive": 1, "sensitive": [],
             "intersections": [("sex", "race")], "reference": {"sex*race": ("M", "W")},
             "margins": {"accuracy": 0.02, "disparity": 0.1}}  # fmt: skip
    found = fg.compare_models(
        data, candidate="fairer", metrics="selection_rate.difference", **asked
    )["fairer"]
    (men,) = [each for each in found.disparities if each.group == "M & B"]
    assert found.overturned is men.overturned is (lacking[0] is None)
    assert (found.verdict is CandidateVerdict.DOMINATES) is not found.overturned


@pytest.mark.parametrize("value", [None, "Pending", "no"])
def test_an_undecided_row_may_have_either_decision_as_an_empty_one_may(value):
    """95 "Pending" of 10,000 men: too few for a doubt, and were they chosen, the gap would grow."""
    men = ["yes"] * 4_905 + [value] * 95 + ["no"] * 5_000
    old = ["yes"] * 5_000 + ["no"] * 5_000
    y = [one if i % 10 < 7 else old[-1 - i] for i, one in enumerate(old)]
    women = ["yes"] * 4_800 + ["no"] * 5_200
    data = pl.DataFrame({"g": [*"F" * 10_000, *"M" * 10_000], "y": y * 2, "p": old * 2,
                         "q": women + men})  # fmt: skip
    asked = {"label": "y", "prediction": "p", "candidate": "q", "positive": "yes",
             "sensitive": "g", "metrics": "selection_rate.difference",
             "margins": {"disparity": 0.02}, "accept": "doubled_rows"}  # fmt: skip
    (gap,) = fg.compare_models(data, **asked)["q"].disparities
    assert (gap.outcome is Performance.NON_INFERIOR) is (value == "no")


RATES = ("selection_rate", "accuracy", "true_positive_rate", "positive_predictive_value")


@pytest.mark.each_value
@pytest.mark.parametrize("by", ["difference", "ratio"])
@pytest.mark.parametrize("name", RATES)
def test_no_completion_of_missing_values_is_beyond_the_worst_case(name, by):
    of, outcome = rate(name), OutcomeMasks(np.array([True, False]), np.array([True, False]))
    rng = np.random.default_rng(5)
    for _ in range(30):
        n = int(rng.integers(60, 200))
        group, label, old, new = (rng.integers(0, 2, n) for _ in range(4))
        known = [np.where(rng.random(n) < 0.06, 2, each) for each in (group, label, old, new)]
        cells = np.zeros((4, 3, 3, 3))
        np.add.at(cells, (known[0] + (known[0] == 2), *known[1:]), 1.0)  # 2: of no group
        pairs = PossiblePairs(cells[:-1], cells[-1:], np.ones((1, 7), dtype=bool), outcome)
        sides = [pairs.limits(of, np.array([g])) for g in (0, 1)]
        sides = [each.in_logarithms() for each in sides] if by == "ratio" else sides
        worst = furthest(*sides)[0]
        for _ in range(40):
            whole = [
                np.where(each == 2, rng.integers(0, 2, n), each) for each in known
            ]  # as the rows may be
            values = np.array(
                [[_value(of, whole, decided, g) for g in (0, 1)] for decided in (2, 3)]
            )
            if by == "ratio":
                values = np.log(values)
            changes = values[1] - values[0]
            for g, side in enumerate(sides):
                assert side.old[0][0] - 1e-9 <= values[0][g] <= side.old[1][0] + 1e-9
                assert side.change[0][0] - 1e-9 <= changes[g] <= side.change[1][0] + 1e-9
            gaps = values[:, 0] - values[:, 1]
            assert abs(gaps[1]) - abs(gaps[0]) <= worst + 1e-9


def _value(of, rows, decided, group):
    here = rows[0] == group
    cell = 2 * rows[decided][here] + rows[1][here]
    counted = np.array(of.of)[cell].sum(), np.array(of.among)[cell].sum()
    return counted[0] / counted[1]
