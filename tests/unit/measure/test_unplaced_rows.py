"""Rows without probabilities beside rows with them: answers, random samples, and the first page."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg

LIMIT = "selection_rate.difference >= -0.05"


def people(of_probable, of_others, seed=0, n=6_000, answered=(0.3, 0.3), others=0.14):
    """Draw people, of whom some have no probabilities, with rates of Black and White of each."""
    rng = np.random.default_rng(seed)
    missing, p = rng.random(n) < others, rng.beta(0.1, 0.1, n)
    black = rng.random(n) < np.where(missing, 0.9, p)
    rates = np.where(missing[:, None], of_others, of_probable)
    y = rng.random(n) < np.where(black, rates[:, 0], rates[:, 1])
    known = rng.random(n) < np.where(missing, *answered[::-1])
    names = np.where(black, "Black", "White")
    return pl.DataFrame(
        {
            "y": y.astype(int),
            "b": [None if m else each for m, each in zip(missing, p.tolist(), strict=True)],
            "w": [None if m else 1 - each for m, each in zip(missing, p.tolist(), strict=True)],
            "known": [g if k else None for g, k in zip(names.tolist(), known, strict=True)],
            "group": names, "one": np.ones(n), "row": np.arange(n), "place": rng.integers(0, 3, n),
        }
    )  # fmt: skip


def audited(data, how="unknown", **asked):
    race = fg.probabilities(Black="b", White="w", known="known", known_drawn=how)
    return fg.audit(data, prediction="y", positive=1, sensitive={"race": race}, rules=[LIMIT],
                    reference={"race": "White"}, **asked)  # fmt: skip


def gap(data):
    rates = dict(data.group_by("group").agg(pl.col("y").mean()).rows())
    return rates["Black"] - rates["White"]


HIDDEN = (0.62, 0.6), (0.04, 0.6)
"""Rates that are alike where there are probabilities, and differ elsewhere."""
CANCELLED = (0.5, 0.66), (0.95, 0.1)
"""Rates that differ where there are probabilities, of groups that fare alike in all."""


def test_a_random_sample_shows_a_gap_among_rows_without_probabilities():
    data = people(*HIDDEN)
    report = audited(data, "random")
    made = report["selection_rate.difference", "race", "Black"]
    assert made.interval.low < gap(data) < made.interval.high < -0.05
    assert (str(report.verdict), report.data.used) == ("fail", data.height)
    overall = next(g for g in report.totals if g.feature == "race")
    assert overall.rates["selection_rate"].value == pytest.approx(data["y"].mean())
    assert sum(g.n for g in report.groups) == pytest.approx(data.height, abs=0.2)


@pytest.mark.parametrize(("how", "answered"), [
    ("unknown", (0.3, 0.3)), ("random", (0.3, 0.3)), ("random", (0.3, 0.0)),
])  # fmt: skip
def test_a_gap_that_rows_without_probabilities_cancel_is_no_fail(how, answered):
    data = people(*CANCELLED, answered=answered, n=12_000)
    assert abs(gap(data)) < 0.05
    report = audited(data, how)
    assert str(report.verdict) == "inconclusive"
    if how == "random" and answered[1]:
        assert abs(report["selection_rate.difference", "race", "Black"].value) < 0.06
    else:
        assert report.verdicts[0].reason.code == "missing_groups"
    of_all = audited(data.filter(pl.col("b").is_not_null()), how)
    assert str(of_all.verdict) == "fail"
