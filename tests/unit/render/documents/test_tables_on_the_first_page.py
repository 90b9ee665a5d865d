"""Tables to publish are on the first page of every format that has tables."""

import itertools

import pytest
from tests.needs import missing
from tests.unit.render.writers.test_two_pages import PrintedPages

import fairgauge as fg
from fairgauge.render import render
from fairgauge.render.document import document as report_document
from fairgauge.render.writers import pdf

polars = pytest.importorskip("polars")
CAPTIONS = ["Groups of sex", "Groups of race", "Groups of sex*race"]


@pytest.fixture(scope="module")
def report():
    people = list(itertools.product("FM", "ABCDEFGHIJ", range(20)))
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
def test_the_first_page_has_every_table(report, full):
    first = report_document(report, full=full)
    assert [getattr(each, "caption", "") for each in first.exhibits][-3:] == CAPTIONS
    assert "3 tables to publish" in render(report, "text")  # which has no exhibits


def test_a_pdf_has_every_table_and_what_is_not_stated(report, tmp_path):
    if pdf.find_browser() is None:
        missing("Chromium")
    report.save(tmp_path / "audit.pdf")
    text = " ".join(PrintedPages((tmp_path / "audit.pdf").read_bytes()).texts())
    assert all(caption in text for caption in CAPTIONS)
    assert "does not state the" in text
    assert "Sign-off" in text
