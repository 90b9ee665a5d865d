"""No claim on a candidate that the rows which are excluded could overturn."""

import numpy as np
import polars as pl
import pytest
from tests.model_rows import QUESTION, rows

import fairgauge as fg
from fairgauge.catalogue.catalogue import rate
from fairgauge.enums import CandidateVerdict, Fairness, Performance
from fairgauge.inference.possible import PossiblePairs, furthest
from fairgauge.resolve.outcomes import OutcomeMasks

PEOPLE = rows(12_000)
MARGINS = {"accuracy": 0.02, "disparity": 0.08}
WRONGED = (PEOPLE["sex"] == "F") & (PEOPLE["repaid"] == 1)
CURRENT, FAIRER = PEOPLE["current"], PEOPLE["fairer"]
HARMFUL = PEOPLE.with_columns(
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
    few = pl.Series(np.arange(PEOPLE.height) % 1_500 == 0)
    for column in ("sex", "fairer", "repaid"):
        found = compared(without(PEOPLE, column, few))
        assert found["fairer"].verdict is CandidateVerdict.DOMINATES, column
        assert f"{few.sum():,} rows" in " ".join(str(found).split())


def test_rows_that_are_excluded_take_back_no_harm():
    found = compared(without(PEOPLE, "unfair", WRONGED & pl.Series(np.arange(12_000) % 9 == 0)),
                     ).candidates[0]  # fmt: skip
    assert found.verdict is CandidateVerdict.DOMINATES  # of the other candidate
    worse = without(PEOPLE, "sex", pl.Series(np.arange(12_000) % 40 == 0))
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
