"""The page of simulated years: its tables are those that were measured, and the promise held."""

from __future__ import annotations

import runpy
from pathlib import Path

NAIVE = "95% CI of all rows so far"
DOCS = Path(__file__).resolve().parents[3] / "docs"


def test_the_page_has_a_place_for_its_tables():
    made = runpy.run_path(str(DOCS / "make_monitoring_page.py"))
    tables = made["tables"](made["read"]())
    page = (DOCS / "monitoring-simulation.md").read_text(encoding="utf-8")
    assert tables in made["page"](page, tables)


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
