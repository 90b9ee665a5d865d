"""`fairgauge.find` of calibration: where the labels of a subgroup differ from its scores."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from scipy import stats
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.errors import SpecError
from fairgauge.render.formats import render
from fairgauge.stats.signed_roots import BinomialTails, binomial_root, fewest_above, lower_rate

ASKED = {"label": "y", "score": "s", "positive": 1, "rate": "calibration_gap"}
FEATURES = ["sex", "race"]


def scored(rows=6_000, seed=1, too_low=0.0, mean=0.4):
    rng = np.random.default_rng(seed)
    sex, race = rng.choice(["F", "M"], rows), rng.choice(["A", "B", "C"], rows, p=[0.6, 0.3, 0.1])
    s = rng.beta(4 * mean, 4 * (1 - mean), rows).round(3)
    planted = (sex == "F") & (race == "B")
    y = rng.random(rows) < np.clip(s + too_low * planted, 0, 1)
    return pl.DataFrame({"sex": sex, "race": race, "s": s, "y": y.astype(int)})


PLANTED = scored(too_low=0.2)


def by_hand(frame, min_rows):
    found = {}
    rows = frame.with_columns(bin=(pl.col("s") * 10 + 1e-9).floor().clip(upper_bound=9)).to_dicts()
    for k in range(3):
        for names in itertools.combinations(FEATURES, k):
            for row in rows:
                key = frozenset([*((name, row[name]) for name in names), ("s", row["bin"])])
                counts = found.setdefault(key, [0, 0, 0.0])
                counts[0] += 1
                counts[1] += row["y"]
                counts[2] += row["s"]
    return {key: counts for key, counts in found.items() if counts[0] >= min_rows}


def conditions(subgroup):
    low = float(subgroup.conditions["s"][1:].split(",")[0])
    return frozenset((subgroup.conditions | {"s": round(10 * low)}).items())


def test_every_part_of_the_score_is_counted_as_by_hand():
    found = fg.find(PLANTED, features=FEATURES, min_rows=30, **ASKED)
    expected = by_hand(PLANTED, 30)
    listed = (*found.worse, *found.undecided)
    assert found.examined == len(expected) == len(listed)
    for each in listed:
        n, positives, scores = expected[conditions(each)]
        assert (each.n, each.events) == (n, positives)
        assert (each.rate, each.reference_rate) == pytest.approx((scores / n, positives / n))
        root = binomial_root(positives, n, scores / n)
        assert each.evidence == pytest.approx(abs(float(root)))


def test_the_planted_group_is_found_and_none_where_scores_are_calibrated():
    found = fg.find(scored(15_000, too_low=0.2), features=FEATURES, **ASKED)
    assert found.summary
    assert all(name.startswith("sex = F & race = B & s = ") for name in found.summary)
    assert all(each.high < 0 for each in found.worse)
    calibrated = fg.find(scored(seed=2), features=FEATURES, **ASKED)
    assert calibrated.worse == ()
    text = str(calibrated)
    assert "Where are the scores not calibrated?" in text
    assert "No subgroup is shown to be miscalibrated" in text
    assert "80% power, at the mean of all scores" in text


def test_claims_ends_and_p_values_agree_on_every_side():
    for worse, tolerance in itertools.product(("either", "higher", "lower"), (0.0, 0.05)):
        found = fg.find(PLANTED, features=FEATURES, worse=worse, tolerance=tolerance, **ASKED)
        for each in (*found.worse, *found.undecided):
            claimed = each.status == "worse"
            beyond = (
                worse != "lower" and each.low > tolerance,
                worse != "higher" and each.high < -tolerance,
            )
            assert any(beyond) == claimed
            assert -1 <= each.low <= each.difference <= each.high <= 1
            assert (each.p_adjusted <= 0.05) == claimed
    assert fg.find(PLANTED, features=FEATURES, worse="higher", **ASKED).worse == ()


def test_counts_and_files_hold_the_same(tmp_path):
    found = fg.find(PLANTED, features=FEATURES, **ASKED)
    asked = {name: ASKED[name] for name in ("label", "score", "positive")}
    cube = fg.count(PLANTED, sensitive=FEATURES, intersections=[FEATURES], **asked)
    again = fg.find(cube, rate="calibration_gap")
    assert [each.name for each in again.worse] == [each.name for each in found.worse]
    assert [each.low for each in again.worse] == pytest.approx([e.low for e in found.worse])
    assert again.examined == found.examined
    found.save(tmp_path / "find.json")
    read = fg.load(tmp_path / "find.json")
    assert read == found
    assert str(read) == str(found)
    assert next(iter(found.to_pandas()["s"])).startswith("[0.")
    html = render(found, "html")
    assert "Mean score less share of positive labels" in html
    assert "Dashed: the smallest difference that is shown to be miscalibrated" in html


def test_what_is_beyond_the_edge_of_the_funnel_at_the_mean_of_all_scores_is_claimed():
    for worse, sides in (("either", 2), ("higher", 1), ("lower", 1)):
        found = fg.find(PLANTED, features=FEATURES, worse=worse, **ASKED)
        sizes = [point.n for point in found.funnel.edge]
        assert len(sizes) - len(set(sizes)) == (len(set(sizes)) if sides == 2 else 0)
        mean = PLANTED["s"].mean()
        for point in found.funnel.edge:
            high, n = point.difference > 0, point.n
            c = found.critical_value if high else found.other_critical_value
            assert (worse != "lower") if high else (worse != "higher")
            events = round(n * (mean - point.difference))
            evidence = [
                float(binomial_root(n - x, n, 1 - mean) if high else binomial_root(x, n, mean))
                for x in (events, events + (1 if high else -1))
            ]
            assert evidence[0] > c >= evidence[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"score": None, "prediction": "y"}, "rate: calibration_gap.difference needs a score"),
        ({"score_range": [0, 2]}, "probabilities, from 0 to 1"),
        ({"score_of": 0}, "probabilities, from 0 to 1"),
        ({"reference": "overall"}, "state neither reference nor multiplicity"),
        ({"multiplicity": "fdr"}, "state neither reference nor multiplicity"),
        ({"person": "sex"}, "of rows, not of people"),
        ({"features": ["s"]}, "'s' is the score"),
        ({"rate": "base_rate", "worse": "either"}, "of calibration alone"),
        (
            {"rate": "base_rate", "worse": "lower", "reference": "labels"},
            "of calibration alone|alone is compared",
        ),
    ],
)
def test_mistakes_are_refused_with_what_to_do(options, message):
    with pytest.raises(SpecError, match=message):
        fg.find(PLANTED, **{"features": FEATURES, **ASKED, **options})


def test_roots_tails_and_ends_are_those_of_the_binomial_distribution():
    rng = np.random.default_rng(5)
    n, p = rng.integers(20, 400, 300), rng.random(300) * 0.6
    x = rng.binomial(n, p)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = stats.binom.logpmf(x, n, x / n) - stats.binom.logpmf(x, n, p)
    np.testing.assert_allclose(np.abs(binomial_root(x, n, p)), np.sqrt(2 * np.maximum(ratio, 0)),
                               atol=1e-5)  # fmt: skip
    tails = BinomialTails(n, p)
    c = tails.critical_value(0.05)
    fewest = fewest_above(n, p, c)
    assert tails.exceeding(c) == pytest.approx(stats.binom.sf(fewest - 1, n, p).sum())
    assert tails.exceeding(c) <= 0.05
    assert (binomial_root(fewest[fewest <= n], n[fewest <= n], p[fewest <= n]) > c).all()
    ends = lower_rate(x, n, 3.0)
    assert (ends[x == 0] == 0).all()
    held = x > 0
    np.testing.assert_allclose(binomial_root(x[held], n[held], ends[held]), 3, atol=1e-6)


@pytest.mark.parametrize("mean", [0.4, 0.05])
def test_calibrated_scores_are_seldom_claimed_not_to_be(mean):
    wrong = 0
    tables = 40 if EVERY_CASE else 16
    for seed in range(tables):
        found = fg.find(scored(1_500, seed, mean=mean), features=FEATURES, **ASKED)
        wrong += bool(found.worse)
    assert wrong <= stats.binom.ppf(0.9995, tables, 0.05)
