"""Groups known by probability: estimates, intervals of shared people, bias, and bad input."""

from __future__ import annotations

import html

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fairgauge as fg
from fairgauge.render import render

GROUPS = {"Black": "p_black", "White": "p_white"}
RATE, DIFFERENCE = "selection_rate", "selection_rate.difference"


def applicants(n=2000, *, within=0.0, seed=8):
    """Return people with a probability of being Black, whether they are, and an outcome.

    The outcome depends on what the probability was made from, and by ``within`` on the group.
    """
    rng = np.random.default_rng(seed)
    place = rng.normal(size=n)
    p = 1 / (1 + np.exp(0.5 - 1.5 * place))
    black = rng.random(n) < p
    approved = rng.random(n) < 1 / (1 + np.exp(-(0.4 - 0.6 * place - within * black)))
    return pl.DataFrame(
        {"p_black": p, "p_white": 1 - p, "black": black, "approved": approved.astype(int)}
    )


def estimate(frame, metric=DIFFERENCE, **options):
    people = fg.by_probability(frame, "race", GROUPS)
    report = fg.audit(people.rows, prediction="approved", positive=1, **people.options, **options)
    return report[metric, "race", "Black"]


def test_the_estimate_and_its_interval_are_those_of_the_influence_of_every_person():
    """Both rates have the same people: their errors are correlated, which narrows the interval."""
    frame = applicants()
    p, y = frame["p_black"].to_numpy(), frame["approved"].to_numpy()
    ours, theirs = (p * y).sum() / p.sum(), ((1 - p) * y).sum() / (1 - p).sum()
    influence = p * (y - ours) / p.sum() - (1 - p) * (y - theirs) / (1 - p).sum()
    half = 1.96 * np.sqrt((influence**2).sum())
    found = estimate(frame)
    assert found.value == pytest.approx(ours - theirs)
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.03)


def test_certain_groups_are_the_groups():
    frame = applicants()
    certain = frame.with_columns(
        p_black=pl.col("black").cast(pl.Float64), p_white=1 - pl.col("black").cast(pl.Float64)
    )
    known = fg.audit(
        frame.with_columns(race=pl.when("black").then(pl.lit("Black")).otherwise(pl.lit("White"))),
        prediction="approved", positive=1, sensitive="race", metrics=[DIFFERENCE],
    )[DIFFERENCE, "race", "Black"]  # fmt: skip
    found = estimate(certain)
    assert found.value == pytest.approx(known.value)
    assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=2e-3)


def test_the_weighted_estimator_is_unbiased_where_the_group_adds_nothing_to_its_probability():
    frame = applicants(20_000)
    truth = (
        frame.filter("black")["approved"].mean() - frame.filter(~pl.col("black"))["approved"].mean()
    )
    found = estimate(frame)
    assert found.value == pytest.approx(truth, abs=0.015)


def test_it_understates_a_disparity_among_people_of_equal_probabilities():
    frame = applicants(20_000, within=0.8)
    rates = [frame.filter(pl.col("black") == each)["approved"].mean() for each in (True, False)]
    found = estimate(frame)
    assert rates[0] - rates[1] < found.low < found.high < 0
    caveat = fg.by_probability(frame, "race", GROUPS).options["document"]["caveat"]
    assert "its disparity is understated" in caveat


@pytest.mark.parametrize("made", [pl.DataFrame, pd.DataFrame, pa.table])
def test_every_kind_of_frame_gives_the_same(made):
    frame = applicants(300).to_dict(as_series=False)
    people = fg.by_probability(made(frame), "race", GROUPS)
    assert type(people.rows) is type(made(frame))
    found = estimate(made(frame))
    expected = estimate(pl.DataFrame(frame))
    assert (found.value, found.interval) == (expected.value, expected.interval)


def test_weights_multiply_and_people_without_probabilities_are_of_unknown_group():
    frame = pl.DataFrame(
        {
            "p_black": [0.9, 0.2, None, 1.0],
            "p_white": [0.1, 0.8, None, 0.0],
            "approved": [1, 0, 1, 0],
            "w": [2.0, 1.0, 3.0, 1.0],
            "home": ["a", "a", "b", "c"],
        }
    )
    people = fg.by_probability(frame, "race", GROUPS, weight="w", cluster="home")
    rows = people.rows.select("race", "race: probability", "race: person").rows()
    assert rows == [
        ("Black", 1.8, "a"), ("Black", 0.2, "a"), ("Black", 1.0, "c"),
        ("White", 0.2, "a"), ("White", 0.8, "a"),
        (None, 3.0, "b"),
    ]  # fmt: skip
    report = fg.audit(people.rows, prediction="approved", positive=1, **people.options)
    assert report.data.excluded == {"missing race": 1}
    assert report.by_group()[RATE]["race", "Black"] == pytest.approx(1.8 / 3.0)


@pytest.mark.parametrize("format_", ["html", "text", "markdown"])
def test_every_report_and_comparison_states_first_what_is_estimated_whole(format_):
    frame = applicants(200).with_columns(candidate=1 - pl.col("approved"))
    people = fg.by_probability(frame, "race", GROUPS)
    question = {"prediction": "approved", "positive": 1, **people.options}
    for found in (
        fg.audit(people.rows, **question),
        fg.compare_models(people.rows, **question, candidate="candidate"),
    ):
        shown = html.unescape(render(found, format_)).replace("\\", "")
        text = " ".join(shown.split())
        assert f"Warning: {people.options['document']['caveat']}" in text
    assert "each of 200 people" in text
    assert "makes 400 rows" in text


def test_who_changes_counts_people_by_their_probability():
    frame = applicants(200).with_columns(candidate=pl.lit(1))
    people = fg.by_probability(frame, "race", GROUPS)
    found = fg.compare_models(people.rows, prediction="approved", positive=1, candidate="candidate",
                       **people.options)  # fmt: skip
    changed = {one.group: one for one in found["candidate"].reclassified}
    gained = frame.filter(pl.col("approved") == 0)
    assert changed["all"].weighted_n == pytest.approx(200)
    assert changed["all"].weighted_gained == pytest.approx(len(gained))
    assert changed["Black"].weighted_gained == pytest.approx(gained["p_black"].sum())


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"p_black": [0.9, 0.5]}, r"probabilities: those of row 2 sum to 1.3; .*several groups"),
        ({"p_black": [0.8, 0.5]}, r"row 1 sum to 0.9 \(the first of 2 such rows\); they must sum"),
        ({"p_black": [0.9, None]}, "those of row 2 have a missing one"),
        ({"p_black": [0.9, 1.2]}, r"probabilities.Black: 'p_black' holds 1.2 in row 2"),
        ({"p_black": ["0.9", "0.2"]}, "'p_black' holds no numbers"),
        ({"race": ["x", "y"]}, "there is a column 'race' already"),
    ],
)
def test_what_is_no_probability(values, message):
    columns = {"p_black": [0.9, 0.2], "p_white": [0.1, 0.8], "approved": [1, 0]}
    with pytest.raises(fg.SpecError, match=message):
        fg.by_probability(pl.DataFrame(columns | values), "race", GROUPS)


def test_columns_that_are_not_there_and_data_that_are_no_frame():
    with pytest.raises(fg.SpecError, match=r"no column 'p_blck'. Did you mean 'p_black'"):
        fg.by_probability(applicants(5), "race", GROUPS | {"Black": "p_blck"})
    with pytest.raises(fg.SpecError, match="two groups or more"):
        fg.by_probability(applicants(5), "race", {"Black": "p_black"})
    with pytest.raises(fg.DataError, match="cannot use a list"):
        fg.by_probability([1, 2], "race", GROUPS)


def test_people_in_several_groups_are_compared_with_everyone_else():
    """One feature for each group: a person in two groups is on one side of each comparison."""
    rng = np.random.default_rng(5)
    rows = pl.DataFrame(
        {
            "black": rng.choice([0, 1], 900, p=[0.7, 0.3]),
            "asian": rng.choice([0, 1], 900, p=[0.8, 0.2]),
            "approved": rng.integers(0, 2, 900),
        }
    )
    report = fg.audit(rows, prediction="approved", positive=1,
                      sensitive={"black": [1], "asian": [1]}, metrics=[DIFFERENCE])  # fmt: skip
    both = rows.filter((pl.col("black") == 1) & (pl.col("asian") == 1))
    assert len(both) > 20
    for column in ("black", "asian"):
        (found,) = (each for each in report.estimates if each.feature == column)
        inside, outside = (rows.filter(pl.col(column) == each)["approved"] for each in (1, 0))
        assert found.value == pytest.approx(inside.mean() - outside.mean())
        assert (found.n_group, found.n_reference) == (len(inside), len(outside))
