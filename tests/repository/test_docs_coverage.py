"""The page on coverage shows what was measured, and the measurements are those of the designs."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import numpy as np

DOCS = Path(__file__).resolve().parents[2] / "docs"
sys.path.insert(0, str(DOCS))

from bench import all_metrics, decisions, reviewed_audits, subgroup_searches, swapped_names  # noqa: E402
from bench.coverage import DESIGNS, misses  # noqa: E402
from make_coverage_page import (  # noqa: E402 - a script beside the page
    ALL_METRICS,
    AUDITS,
    DECISIONS,
    SUBGROUP_SEARCHES,
    SWAPPED_NAMES,
    cells,
    made,
    of_unrecorded_groups,
    page,
    read,
)

_SHARES = (all_metrics.confusion(0.4, 0.75, 0.2),) * 2


def test_the_page_has_a_place_for_all_tables_and_shows_them() -> None:
    text = (DOCS / "coverage.md").read_text(encoding="utf-8")
    assert all(tables in page(text, made()) for tables in made().values())


def test_the_measurements_are_of_the_designs_and_keep_their_floors() -> None:
    found = {(each["subject"], each["setting"], each["method"]): each for each in read()}
    for design in DESIGNS:
        record = found.pop((design.subject, design.setting, design.method))
        assert record["before"] == design.before
        assert not misses(design, record["measured"], record["data_sets"])
    assert not found, "designs that are no longer measured; run: make coverage"


def test_all_metrics_are_measured_in_every_design_and_none_covers_too_little() -> None:
    """Below 92.5 % by more than three standard errors of its data sets."""
    records = read(ALL_METRICS)
    assert [each["design"] for each in records] == [each.name for each in all_metrics.DESIGNS]
    low = {
        f"{record['design']}: {cell.metric} ({cell.of}) {cell.held} of {cell.adequate}"
        for record in records
        for cell in cells(record)
        if cell.coverage < 92.5 - 3 * cell.error(92.5)
    }
    assert not low


def test_the_reviewed_designs_are_measured() -> None:
    found = [(each["of"], each["setting"], each["wanted"]) for each in read(AUDITS)]
    assert found == [(each.of, each.setting, each.wanted) for each in reviewed_audits.DESIGNS]


def test_the_decisions_are_measured_and_as_wanted() -> None:
    records = read(DECISIONS)
    found = [(each["of"], each["setting"], each["wanted"]) for each in records]
    assert found == [(e.of, e.setting, e.wanted) for e in decisions.designs("")]
    assert not [each["setting"] for each in records if not decisions.as_wanted(each)]
    rows = {number for of, *_ in found for number in of.split(", ")}
    assert rows == {*map(str, range(1, 17)), "together"}


@pytest.mark.parametrize(
    ("wanted", "happened", "holds"),
    [("at most 2.5", 40, True), ("at most 2.5", 90, False), ("0", 0, True), ("0", 1, False),
     ("p of about 5", 100, True), ("p of about 5", 60, False), ("p of 93.5 or more", 1900, True),
     ("p of 93.5 or more", 1800, False), ("another at most 1", 900, True)],
)  # fmt: skip
def test_what_is_wanted_is_read(wanted: str, happened: int, holds: bool) -> None:
    record = {"wanted": wanted, "counts": {"p of a difference": [happened, 2000]}}
    assert decisions.as_wanted(record) is holds


def test_studies_of_swapped_names_are_measured_and_raise_few_false_alarms() -> None:
    records = {each["setting"]: each for each in read(SWAPPED_NAMES)}
    assert list(records) == [each.setting for each in swapped_names.STUDY_DESIGNS]
    for study in swapped_names.STUDY_DESIGNS:
        record = records[study.setting]
        assert (record["studies"], record["wanted"]) == (swapped_names.STUDIES, study.wanted)
        share = {what: 100 * n / record["studies"] for what, n in record["counts"].items()}
        if study.wanted.startswith("at most"):
            assert share["differs"] <= int(study.wanted.split()[-1]), study.setting
        if study.wanted == "93.5 or more":
            assert share["covers"] >= 93.5, study.setting
        if study.baseline is not None:
            assert share["against the baseline"] > 50


def test_searches_for_subgroups_err_in_at_most_a_twentieth_of_tables() -> None:
    """At most 5 %, by three standard errors of the tables that were drawn."""
    records = {each["setting"]: each for each in read(SUBGROUP_SEARCHES)}
    laws = subgroup_searches.EVERY
    assert list(records) == [law.setting for law in laws]
    for setting, record in records.items():
        tables, sums = record["tables"], record["sums"]
        assert tables >= subgroup_searches.TABLES
        assert sums[subgroup_searches.OUTSIDE] == 0
        most = tables * 0.05 + 3 * (tables * 0.05 * 0.95) ** 0.5
        for what in subgroup_searches.COUNTED:
            assert sums.get(what, 0) <= most, (setting, what)


def _tiny(rng: np.random.Generator, data_sets: int) -> all_metrics.Drawn:
    drawn = all_metrics.counted((25, 40), _SHARES, rng, data_sets)
    return replace(drawn, options={**drawn.options, "metrics": ["DPL"]})


def test_counts_of_chunks_add_up_and_a_stopped_measurement_goes_on(tmp_path: Path) -> None:
    counts = tmp_path / "counts.json"
    design = all_metrics.Design("tiny", _tiny, chunk=3)
    whole = all_metrics.Measurement(design, all_metrics.Counted())
    for _ in range(2):
        whole.count_chunk()
    first = all_metrics.Measurement(design, all_metrics.Counted())
    first.count_chunk()
    all_metrics.write(counts, [first])
    second = all_metrics.Measurement(design, all_metrics.read(counts)["tiny"])
    second.count_chunk()
    assert second.counted == whole.counted
    assert second.counted.data_sets == 6
    held, adequate = second.counted.intervals["DPL"]["g1"]
    assert 0 < held <= adequate <= 6


def test_a_metric_that_came_later_is_counted_in_the_chunks_that_it_missed(tmp_path: Path) -> None:
    design = all_metrics.Design("tiny", _tiny, chunk=3)
    whole = all_metrics.Measurement(design, all_metrics.Counted())
    for _ in range(3):
        whole.count_chunk()
    before = all_metrics.Counted(data_sets=9, chunks=3)
    later = all_metrics.Measurement(design, before)
    assert later.count_missed("DPL")
    assert before.missed == {"DPL": 2}
    all_metrics.write(tmp_path / "counts.json", [later])
    again = all_metrics.Measurement(design, all_metrics.read(tmp_path / "counts.json")["tiny"])
    assert again.count_missed("DPL")
    assert again.count_missed("DPL")
    assert not again.count_missed("DPL")
    assert again.counted.intervals == {"DPL": whole.counted.intervals["DPL"]}
    assert not again.counted.missed


def test_groups_that_nobody_recorded_have_rows_with_their_number_of_tables() -> None:
    verdicts = {"kind": "verdicts", "design": "a law", "people": 20_000, "gap": -5.0}
    counts = {"likelihood fail": 3, "likelihood covers": 190, "validated pass": 50}
    coverage = {"kind": "coverage", "design": "3 groups", "people": 2_000, "tables": 400}
    sums = {"likelihood bias": -40.0, "likelihood squared": 6_400.0,
            "selection_rate.difference covered": 380.0}  # fmt: skip
    text = of_unrecorded_groups(
        [
            verdicts | {"tables": 200, "sums": counts},
            verdicts | {"design": "too few", "tables": 99, "sums": counts},
            coverage | {"sums": sums},
        ]
    )
    rows = text.split("\n")
    assert rows[2].startswith("| a law | 20,000 | 200 | -5.0 | 0.0 / 1.5 (95.0) |")
    assert rows[2].endswith("| 25.0 / 0.0 (0.0) |")
    assert "| 3 groups | 2,000 | 400 | -0.1 / 4.0 | 95.0 |" in text
    assert text.endswith("not shown: 1 of 3 designs.")
