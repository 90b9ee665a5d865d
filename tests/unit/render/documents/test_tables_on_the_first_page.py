"""Tables to publish: on the first page, or named there; every format holds all of them."""

from __future__ import annotations

import itertools

import pytest
from tests.needs import missing
from tests.unit.render.writers.test_two_pages import PrintedPages

import fairgauge as fg
from fairgauge.render import render
from fairgauge.render.document import document as report_document
from fairgauge.render.writers import pdf

polars = pytest.importorskip("polars")
CAPTIONS = ("Groups of sex", "Groups of race", "Groups of sex*race")


@pytest.fixture(scope="module")
def report():
    """Return an audit whose third table has no room on the first page."""
    return audit_of("ABCDEFGHIJ")


def audit_of(races):
    people = list(itertools.product("FM", races, range(20)))
    hired = [int((i * 7 + j) % 3 == 0) for i, (*_, j) in enumerate(people)]
    rows = {"sex": [sex for sex, *_ in people], "race": [race for _, race, _ in people]}
    return fg.audit(
        polars.DataFrame(rows | {"hired": hired}),
        preset="nyc-ll144",
        prediction="hired",
        positive=1,
        sensitive=["sex", "race"],
    )


@pytest.mark.parametrize("full", [False, True])
def test_the_first_page_has_or_names_every_table(report, full):
    where = "follow" if full else "are in the whole report"
    first = report_document(report, full=full)
    texts = [getattr(each, "caption", None) or getattr(each, "text", "") for each in first.exhibits]
    assert list(CAPTIONS[:2]) == [each for each in texts if each in CAPTIONS]
    assert any(
        each == f"More tables to publish {where}: {CAPTIONS[2]}." for each in map(str, texts)
    )


def test_what_is_on_a_page_is_not_listed_as_not_shown(report):
    """Text has no exhibits, so that it alone lists the tables as not shown."""
    assert "3 tables to publish" in render(report, "text")
    for written in ("markdown", "notebook"):
        listed = render(report, written).partition("Not shown: ")[2].partition(".")[0]
        assert listed
        assert "to publish" not in listed


@pytest.mark.parametrize("written", ["markdown", "html"])
def test_pages_state_what_follows_and_hold_it(report, written):
    more = {} if written == "html" else {"full": True}
    text = render(report, written, **more).replace("\\*", "*")
    assert f"More tables to publish follow: {CAPTIONS[2]}." in text
    assert all(f"{caption}" in text for caption in CAPTIONS)
    assert "does not state the" in text


def test_a_pdf_has_every_table_and_what_is_not_stated(report, tmp_path):
    if pdf.find_browser() is None:
        missing("Chromium")
    report.save(tmp_path / "audit.pdf")
    pages = list(PrintedPages((tmp_path / "audit.pdf").read_bytes()).texts())
    text = " ".join(pages)
    assert all(caption in text for caption in CAPTIONS)
    assert "follow:" in pages[0] or all(caption in pages[0] for caption in CAPTIONS)
    assert "does not state the" in text


def test_tables_with_room_are_on_the_first_of_two_pages(tmp_path):
    if pdf.find_browser() is None:
        missing("Chromium")
    audit_of("ABCD").save(tmp_path / "audit.pdf")
    pages = list(PrintedPages((tmp_path / "audit.pdf").read_bytes()).texts())
    assert len(pages) == 2
    assert all(caption in pages[0] for caption in CAPTIONS)
    assert "Sign-off" in pages[1]


def test_no_table_to_publish_is_omitted_from_a_pdf(report):
    """Charts give way for room on two pages; of the tables, all or none leave the first page."""
    document = report_document(report, full=True)
    for shorter in (
        *(each for each, _ in pdf._shorter(document)),
        pdf._with_tables_apart(document),
    ):
        held = [*shorter.exhibits]
        held += [block for section in shorter.sections for block in section.blocks]
        assert all(table in held for table in document.to_publish)
