"""The page of simulated years: its tables are those that were measured, and the promise held."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
from bench.betting import ALPHA, betting_alarm
from bench.monitoring import DESIGNS, Streams, cubes, followed, sequences

import fairgauge as fg

NAIVE = "95% CI of all rows so far"
DOCS = Path(__file__).resolve().parents[3] / "docs"


def test_the_tables_are_those_that_were_measured():
    made = runpy.run_path(str(DOCS / "make_monitoring_page.py"))
    page = (DOCS / "monitoring-simulation.md").read_text(encoding="utf-8")
    assert made["page"](page, made["tables"](made["read"]())) == page


def test_the_promise_was_kept_in_every_design():
    """The upper 97.5% confidence limit of the share of years with a false alarm is below 5%."""
    records = runpy.run_path(str(DOCS / "make_monitoring_page.py"))["read"]()
    false = [each for each in records if each["kind"] == "false"]
    assert len(false) >= 14
    assert max(each["measured"]["fairgauge"]["upper"] for each in false) < 0.05


def test_confidence_sequences_hold_over_whole_years_and_repeated_intervals_do_not():
    records = runpy.run_path(str(DOCS / "make_monitoring_page.py"))["read"]()
    found = [each["measured"] for each in records if each["kind"] == "sequence"]
    assert len(found) == 15
    assert min(each["confidence sequence"]["lower"] for each in found) > 0.95
    repeated = [each[NAIVE]["held"] for each in found if NAIVE in each]
    assert max(repeated) < 0.7


def test_delays_are_near_those_of_a_tuned_cusum():
    records = runpy.run_path(str(DOCS / "make_monitoring_page.py"))["read"]()
    delays = [each["measured"] for each in records if each["kind"] == "delay"]
    assert len(delays) == 6
    for each in delays:
        tuned = each["CUSUM tuned on this design"]["median"]
        assert each["fairgauge"]["median"] <= 1.5 * tuned


def test_simulated_cubes_are_those_of_their_counts():
    counts = np.array([[[3, 10], [4, 5]], [[1, 9], [6, 7]]])
    made = list(cubes(counts, ("b", "a")))
    for cube, ((x_b, n_b), (x_a, n_a)) in zip(made, counts.tolist(), strict=True):
        groups = {"b": {"tp": x_b, "fn": n_b - x_b}, "a": {"tp": x_a, "fn": n_a - x_a}}
        assert cube == fg.confusion("g", groups)


def test_a_simulated_year_is_followed_by_the_public_function():
    """A shift on day 180 is found, and an interval that misses is counted."""
    counts = np.tile([30.0, 100.0, 60.0, 200.0], (365, 1))
    counts[180:, 0] = 45
    alarm, ends, threshold = followed(DESIGNS[0], counts)
    assert 180 <= alarm < 190
    assert threshold == 365 / 0.04
    rates = np.full((365, 1), 0.3)
    for d, missed in ((counts[:, :1] / 100, 0.0), (rates + 0.3, 1.0)):
        made = Streams(counts[:, None], d, rates)
        found = sequences(DESIGNS[0], made, ends[:, None])
        assert found["confidence sequence"]["missed"] == [missed]


def test_a_bettor_rarely_rejects_what_is_equal():
    rng = np.random.default_rng(1)
    first, second = (rng.random((300, 800)) < rate for rate in (0.6, 0.6))
    assert np.isfinite(betting_alarm(first * 1.0, second * 1.0)).mean() <= ALPHA
    unequal = betting_alarm((rng.random((50, 800)) < 0.3) * 1.0, second[:50] * 1.0)
    assert np.isfinite(unequal).mean() > 0.95
