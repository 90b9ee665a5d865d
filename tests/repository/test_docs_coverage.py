"""The page on coverage shows what was measured, and the measurements are those of the designs."""

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
sys.path.insert(0, str(DOCS))

from bench import counting, coverage, decisions, reviewed_audits, swapped_names  # noqa: E402
from make_coverage_page import (  # noqa: E402 - a script beside the page
    ALL_METRICS,
    AUDITS,
    DECISIONS,
    SWAPPED_NAMES,
    TABLES,
    cells,
    made,
    page,
    read,
    with_tables,
)


def test_the_page_has_a_place_for_all_tables_and_shows_them() -> None:
    text = (DOCS / "coverage.md").read_text(encoding="utf-8")
    assert all(tables in page(text, made()) for tables in made().values())


def test_every_measured_table_stands_on_one_page_of_the_site_and_no_link_is_left() -> None:
    pages = [path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md")]
    shown = list(map(with_tables, pages))
    names = [s.split("\n")[0] for s in TABLES.read_text(encoding="utf-8").split("\n## ")[1:]]
    for name in names:
        assert sum(f"<summary>{name}</summary>" in each for each in shown) == 1, name
    assert not any("evidence/tables.md#" in each for each in shown)


def test_all_metrics_are_measured_in_every_design_and_none_covers_too_little() -> None:
    """Below 92.5 % by more than three standard errors of its data sets."""
    records = read(ALL_METRICS)
    assert [each["design"] for each in records] == [each.name for each in coverage.DESIGNS]
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
    assert found == [(e.of, e.setting, e.wanted) for e in decisions.DESIGNS]
    assert not [each["setting"] for each in records if not counting.as_wanted(each)]
    rows = {number for of, *_ in found for number in of.split(", ")}
    assert rows == {*map(str, range(1, 17)), "together"} - {"9"}  # published rates: not judged


def test_studies_of_swapped_names_are_measured_and_raise_few_false_alarms() -> None:
    records = {each["setting"]: each for each in read(SWAPPED_NAMES)}
    assert list(records) == [each.setting for each in swapped_names.STUDY_DESIGNS]
    for study in swapped_names.STUDY_DESIGNS:
        record = records[study.setting]
        assert (record["studies"], record["wanted"]) == (2_000, study.wanted)
        share = {what: 100 * n / record["studies"] for what, n in record["counts"].items()}
        if study.wanted.startswith("at most"):
            assert share["differs"] <= int(study.wanted.split()[-1]), study.setting
        if study.wanted == "93.5 or more":
            assert share["covers"] >= 93.5, study.setting
        if study.baseline is not None:
            assert share["against the baseline"] > 50
