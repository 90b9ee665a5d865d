"""The page on choosing between models: its examples run, and its measurements are shown."""

from __future__ import annotations

import doctest
import json
from pathlib import Path

from bench.paired_coverage import BEGIN, DATA, END, VERDICTS, page, table

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_examples_run() -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    path = str(DOCS / "choosing-between-models.md")
    found = doctest.testfile(path, module_relative=False, optionflags=flags)
    assert found.attempted > 12
    assert found.failed == 0


def test_the_measured_coverage_keeps_its_floor() -> None:
    records = json.loads(DATA.read_text(encoding="utf-8"))
    assert table(records) in page(f"{BEGIN}{END}", records)
    for each in records:
        sampling = 0.0 if each["setting"] == "exact" else 1.5
        assert each["lowest_with_5"] >= 93.5 - sampling, each["subject"]


def test_intervals_are_not_wider_than_they_must_be() -> None:
    """Of no equal groups and independent rows; 97 % and one standard error of 2,000 data sets."""
    wide = ("several equal", "draws", "clusters", "weights", "every table")
    for each in json.loads(DATA.read_text(encoding="utf-8")):
        if not any(word in each["subject"] for word in wide):
            ceiling = 99.0 if "largest gap" in each["subject"] else 97.4
            assert each["highest_with_5"] <= ceiling, each["subject"]


def test_equal_models_are_called_fairer_in_at_most_five_percent_of_runs() -> None:
    records = json.loads(VERDICTS.read_text(encoding="utf-8"))
    equal = [each for each in records if each["subject"] == "equal models"]
    assert len(equal) >= 4
    assert all(each["called fairer"] <= 5.0 for each in equal)


def test_a_candidate_that_harms_a_group_by_its_margin_rarely_dominates() -> None:
    """At most 5% by a disparity, 2.5% by a group's own rate; one that is better is recognised."""
    records = [
        each for each in json.loads(VERDICTS.read_text(encoding="utf-8")) if "dominates" in each
    ]
    harmed = [each for each in records if each["subject"] == "a harmed group"]
    assert len(harmed) >= 7
    assert sum(each["runs"] for each in harmed) >= 9_000
    assert all(each["dominates"] <= 2.5 for each in harmed)
    better = [each["dominates"] for each in records if each not in harmed]
    assert min(better) >= 80
