"""Groups that nobody recorded, whose rates are estimated within strata."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg

GROUPS = {"Black": "p_black", "White": "p_white"}
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
        "p_black": black,
        "p_white": 1 - black,
        "chosen": (rng.random(rows) < rate).astype(int),
        "place": place,
        "race": np.where(is_black, "Black", "White"),
        "asked": [
            g if rng.random() < share else None for g in np.where(is_black, "Black", "White")
        ],
    }
    truth = rate[is_black].mean() - rate[~is_black].mean()
    return pl.DataFrame(data), float(truth)


def audited(data, assume="given_group", rules=(), **asked):
    more = {k: asked.pop(k) for k in ("known", "known_drawn") if k in asked}
    return fg.audit(
        data, prediction="chosen", positive=1, metrics="selection_rate.difference",
        sensitive={"race": fg.probabilities(GROUPS, assume=assume, **more)},
        reference={"race": "White"}, rules=list(rules), **asked,
    )  # fmt: skip


def by(report, estimator):
    return next(e for e in report.estimators if str(e.estimator) == estimator)


def test_strata_make_right_what_places_make_wrong():
    held = []
    for seed in range(12):
        data, truth = of_places(seed=seed, rows=8_000)
        alone, within = (by(audited(data, **each), "likelihood") for each in ({}, WITHIN))
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
    assert audited(exact, **WITHIN)[KEY].value == pytest.approx(recorded[KEY].value, abs=1e-6)


def test_clusters_and_strata_are_refused_together():
    data, _ = of_places(500)
    with pytest.raises(fg.SpecError, match="remove it, or the cluster"):
        audited(data.with_columns(of=pl.int_range(500) // 5), cluster="of", **WITHIN)
