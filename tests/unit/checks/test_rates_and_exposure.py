"""Rates and successes next to counts, and exposure as a weight: no pass by what is no mean."""

import numpy as np
import polars as pl
import pytest
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.enums import Outcome

HARM = {"sensitive": "g", "reference": {"g": "a"}, "rules": "mean_label.ratio <= 3"}


def schools(rng, rows=60):
    """Return rows of schools, each with its pupils, those suspended, and their rate."""
    n = rng.integers(20, 900, rows)
    k = rng.binomial(n, rng.uniform(0.05, 0.15))
    groups = rng.permutation(["a", "b"] * (rows // 2))
    return pl.DataFrame({"g": groups, "pupils": n, "held": k, "rate": (k / n).round(3)})


def policies(rng, rows=4_000):
    """Return insured people with a time at risk, and events in proportion to it."""
    exposure = rng.choice([rng.uniform(0.05, 1, rows), rng.integers(1, 37, rows)])
    events = rng.poisson(rng.uniform(0.2, 0.6) * exposure / exposure.mean())
    groups = rng.permutation(["a", "b"] * (rows // 2))
    return pl.DataFrame({"g": groups, "exposure": exposure, "claims": events,
                         "frequency": events / exposure})  # fmt: skip


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(
    ("make", "label", "more", "code"),
    [
        (schools, "rate", {"count": "pupils"}, "rates_with_counts"),
        (schools, "held", {"count": "pupils"}, "rates_with_counts"),
        (policies, "claims", {"weight": "exposure"}, "exposure_as_weight"),
    ],
)
def test_no_rule_passes_on_a_mean_that_is_no_rate(make, label, more, code, seed):
    rows = make(np.random.default_rng(seed))
    asked = HARM | more | {"label": label, "task": "regression"}
    found, accepted = fg.audit(rows, **asked), fg.audit(rows, **asked, accept=code)
    assert code in [each.code for each in found.doubts]
    assert (found.verdict, accepted.verdict) == (Outcome.INCONCLUSIVE, Outcome.PASS)
    assert fg.audit(fg.count(rows, **asked)).verdict is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("seed", range(10))
def test_what_closes_the_doubt_gives_the_right_number(seed):
    rng = np.random.default_rng(seed)
    rows, sums = schools(rng), {}
    asked = HARM | {"rules": "base_rate.ratio <= 3", "favourable": "negative"}
    report = fg.audit(rows, successes="held", count="pupils", **asked)
    for (group,), part in rows.group_by("g"):
        sums[group] = part["held"].sum() / part["pupils"].sum()
    assert report["base_rate.ratio", "g", "b"].value == pytest.approx(sums["b"] / sums["a"])
    assert (report.verdict, report.doubts) == (Outcome.PASS, ())
    rows = policies(rng)
    report = fg.audit(rows, label="frequency", weight="exposure", task="regression", **HARM)
    rate = {g: part["claims"].sum() / part["exposure"].sum() for (g,), part in rows.group_by("g")}
    assert report["mean_label.ratio", "g", "b"].value == pytest.approx(rate["b"] / rate["a"])
    assert (report.verdict, report.doubts) == (Outcome.PASS, ())


def ratings(rng):
    """Return how many people gave each rating, of a few steps."""
    steps = int(rng.integers(3, 12))
    shape = rng.dirichlet(np.full(steps, 3.0), 2) * rng.integers(100, 9_000)
    rows = [(g, i + 1, int(shape[j, i])) for j, g in enumerate("ab") for i in range(steps)]
    return rows, {"count": "w"}


def pay(rng):
    """Return people in bands of pay."""
    rows = [
        (g, int(b), int(rng.integers(3, 90))) for g in "ab" for b in range(18_000, 90_000, 9_000)
    ]
    return rows, {"count": "w"}


def surveyed(rng):
    """Return numbers of children, visits or days with sampling weights, also of mean 1."""
    n = int(rng.integers(200, 3_000))
    weights = rng.lognormal(0, rng.uniform(0.2, 0.9), n) * rng.choice([1.0, 250.0])
    if rng.random() < 0.5:
        weights = np.round(weights, 2) + 1
    labels = rng.poisson(rng.uniform(0.1, 4), n)
    return list(zip(rng.choice(["a", "b"], n), labels, weights, strict=True)), {"weight": "w"}


@pytest.mark.parametrize("make", [ratings, pay, surveyed])
def test_amounts_with_counts_or_sampling_weights_are_not_doubted(make):
    for seed in range(200 if EVERY_CASE else 40):
        rows, more = make(np.random.default_rng(seed))
        frame = pl.DataFrame(rows, schema=["g", "y", "w"], orient="row")
        found = fg.audit(frame, label="y", task="regression", sensitive="g", **more)
        assert {e.code for e in found.doubts}.isdisjoint(
            {"rates_with_counts", "exposure_as_weight"}
        )


def test_numbers_that_ask_for_a_positive_value_next_to_a_count_name_successes():
    rows = schools(np.random.default_rng(0))
    for label in ("held", "rate"):
        with pytest.raises(fg.SpecError, match="--successes COL"):
            fg.audit(rows, label=label, count="pupils", sensitive="g")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"successes": "held"}, "name the column of all cases"),
        ({"successes": "pupils", "count": "pupils"}, "already the count"),
        ({"successes": "held", "count": "pupils", "label": "rate"}, "in place of 'rate'"),
        ({"successes": "held", "count": "pupils", "positive": 0}, "positive: is 1"),
        ({"successes": "held", "count": "pupils", "task": "regression"}, "task: of successes"),
        ({"successes": "held", "count": "pupils", "weight": "rate"}, "weight: cannot be combined"),
    ],
)
def test_what_successes_cannot_be_asked_with_is_refused(asked, message):
    with pytest.raises(fg.SpecError, match=message):
        fg.audit(schools(np.random.default_rng(0)), sensitive="g", **asked)
