"""The page on coverage shows what was measured, and the measurements are those of the designs."""

from __future__ import annotations

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
sys.path.insert(0, str(DOCS))

from bench import all_metrics  # noqa: E402
from bench.coverage import DESIGNS, misses  # noqa: E402
from make_coverage_page import (  # noqa: E402 - a script beside the page
    ALL_METRICS,
    MEASURED,
    PAGE,
    made,
    page,
    read,
    tables,
)

WRITE = "written anew by: python docs/make_coverage_page.py"


def test_the_tables_are_those_of_the_measurements() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(text, made()), WRITE


def test_the_measurements_are_of_the_designs_and_keep_their_floors() -> None:
    found = {(each["subject"], each["setting"], each["method"]): each for each in read()}
    for design in DESIGNS:
        record = found.pop((design.subject, design.setting, design.method))
        assert record["before"] == design.before
        assert not misses(design, record["measured"], record["data_sets"])
    assert not found, "designs that are no longer measured; run: make coverage"


def test_a_measurement_that_changes_the_page_is_noticed() -> None:
    records = [dict(each) for each in read()]
    records[0] = records[0] | {"measured": {"coverage": 12.3}}
    text = PAGE.read_text(encoding="utf-8")
    assert text != page(text, {MEASURED.name: tables(records)})


def test_all_metrics_are_measured_in_every_design_and_none_covers_too_little() -> None:
    """Below 92.5 % by more than three standard errors of its data sets."""
    found = {each["design"]: each["metrics"] for each in read(ALL_METRICS)}
    assert list(found) == [design.name for design in all_metrics.DESIGNS]
    low = {
        f"{design}: {name} {each['coverage']} of {each['adequate']}"
        for design, metrics in found.items()
        for name, each in metrics.items()
        if each["coverage"] < 92.5 - 300 * (0.925 * 0.075 / each["adequate"]) ** 0.5
    }
    assert not low
