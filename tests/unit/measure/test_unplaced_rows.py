"""Rows without probabilities beside rows with them: answers, random samples, and the first page."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.render.formats import render

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
            "group": names,
            "one": np.ones(n),
            "row": np.arange(n),
            "place": rng.integers(0, 3, n),
        }
    )


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


def test_the_first_page_states_how_many_rows_have_none_and_how_many_of_these_answered():
    data = people(*HIDDEN)
    without = data.filter(pl.col("b").is_null())
    answered = without["known"].count()
    for how in ("random", "unknown"):
        page = " ".join(render(audited(data, how), "text").split("Warning:")[0].split())
        assert f"{without.height:,} of 6,000 rows have no probabilities of race" in page
        assert f"groups of {answered:,} of these are known" in page
        assert f"the other {without.height - answered:,}" in page
    assert audited(data).data.excluded == {"missing race": without.height - answered}


def test_rows_twice_and_weights_of_one_change_no_value():
    data = people(*HIDDEN, n=2_000)
    for how in ("random", "unknown"):
        plain = audited(data, how)["selection_rate.difference", "race", "Black"]
        weighted = audited(data, how, weight="one")["selection_rate.difference", "race", "Black"]
        clusters = audited(data, how, cluster="row")["selection_rate.difference", "race", "Black"]
        for other in (weighted, clusters):
            assert other.value == pytest.approx(plain.value, abs=1e-6)
            assert list(other.interval)[:2] == pytest.approx(list(plain.interval)[:2], abs=0.012)
    strata = audited(data, "random", strata="place")["selection_rate.difference", "race", "Black"]
    assert strata.value == pytest.approx(gap(data), abs=0.06)


def test_the_error_names_the_column_with_a_text(tmp_path):
    lines = ["y,b,w,o", *["1,0.2,0.3,0.5"] * 9, "1,0.2,0.8,(S)"]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    race = fg.probabilities(Black="b", White="w", other="o")
    with pytest.raises(fg.DataError, match=r"column 'o' must hold numbers, but has '\(S\)'"):
        fg.audit(tmp_path / "rows.csv", prediction="y", positive=1, sensitive={"race": race})
