"""The page on coverage shows what was measured, and the measurements are those of the designs."""

from __future__ import annotations

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
sys.path.insert(0, str(DOCS))

from bench.coverage import DESIGNS, misses  # noqa: E402
from make_coverage_page import PAGE, page, read, tables  # noqa: E402 - a script beside the page

WRITE = "written anew by: python docs/make_coverage_page.py"


def test_the_tables_are_those_of_the_measurements() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(text, tables(read())), WRITE


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
    assert text != page(text, tables(records))
