"""Presets of decompositions: their metrics, sources and files; pay by category."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg

ROWS = 1_200


@pytest.fixture(scope="module")
def loans():
    random = np.random.default_rng(30)
    race, branch = random.choice(["B", "W"], ROWS), random.choice(["N", "S"], ROWS)
    return pl.DataFrame({
        "id": range(ROWS), "race": race, "branch": branch,
        "approved": random.binomial(1, np.where(race == "B", 0.6, 0.8)),
        "spread": random.gamma(2, 0.3, ROWS) + 0.1 * (race == "B"),
    })  # fmt: skip


@pytest.mark.parametrize(("asked", "metrics"), [
    ({"prediction": "approved", "positive": 1},
     ["selection_rate.difference", "selection_rate.ratio"]),
    ({"label": "spread", "task": "regression"}, ["mean_label.difference"]),
])  # fmt: skip
def test_lending_decomposes_decisions_by_both_and_prices_as_means(loans, asked, metrics):
    found = fg.why(loans, preset="us-lending", sensitive="race", reference={"race": "W"},
                   strata="branch", **asked)  # fmt: skip
    assert [gap.estimate.metric for gap in found.gaps] == metrics
    assert (found.gaps[0].adjusted.odds_ratio is not None) == ("prediction" in asked)


@pytest.fixture(scope="module")
def pay():
    random = np.random.default_rng(31)
    sex, grade = random.choice(["F", "M"], ROWS), random.choice(["junior", "senior"], ROWS)
    salary = np.where(grade == "senior", 50_000, 35_000) * random.lognormal(0, 0.2, ROWS)
    return pl.DataFrame({"sex": sex, "grade": grade, "salary": salary * (1 - 0.1 * (sex == "F"))})


ASKED = {
    "label": "salary", "sensitive": "sex", "reference": {"sex": "M"}, "strata": "grade",
    "preset": "eu-pay-transparency",
}  # fmt: skip


def test_pay_transparency_shows_the_ratio_of_every_category_with_its_interval(pay):
    report = fg.audit(pay, **ASKED)
    for grade in ("junior", "senior"):
        mine = pay.filter(grade=grade)
        ours, theirs = (mine.filter(sex=sex)["salary"].mean() for sex in "FM")
        (each,) = (
            e
            for e in report.estimates
            if (e.metric, e.group, e.stratum) == ("mean_label.ratio", "F", grade)
        )
        assert each.value == pytest.approx(ours / theirs)
        assert each.interval.low < each.value < each.interval.high
    assert not any("treated as" in each.message for each in report.diagnostics)


def test_the_parts_of_a_ratio_of_means_are_ratios(pay):
    found = fg.why(pay, **ASKED)
    ratio, difference = found.gaps
    assert (ratio.estimate.metric, difference.scale) == ("mean_label.ratio", "difference")
    assert all(0.5 < part.value < 1.5 for part in ratio.parts)
    assert {str(part.weights) for part in difference.parts} > {"mantel_haenszel"}
