"""A mark beside a number is explained below the table that has it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest
from tests import sample_reports

import fairgauge as fg
from fairgauge.render._document_tree import Block, Section, Table
from fairgauge.render.document import document as report_document

COUNTS = {
    "F": {"tp": 60, "fp": 30, "fn": 40, "tn": 270},
    "M": {"tp": 190, "fp": 60, "fn": 60, "tn": 190},
    "X": {"tp": 3, "fp": 2, "fn": 2, "tn": 4},
}
REPORTS = {
    "vendors": lambda: fg.audit(fg.confusion("sex", COUNTS), metrics=["clarify", "vertex"]),
    "native": lambda: fg.audit(fg.confusion("sex", COUNTS), metrics=["standard", "AD"]),
    "both": lambda: fg.audit(fg.confusion("sex", COUNTS), metrics=["DI", "accuracy.difference"]),
    "berkeley": sample_reports.berkeley,
    "several": sample_reports.several,
}


def tables(blocks: Iterable[Block | Section]) -> Iterator[Table]:
    for each in blocks:
        if isinstance(each, Table):
            yield each
        elif isinstance(each, Section):
            yield from tables(each.blocks)


@pytest.mark.parametrize("name", REPORTS)
def test_every_table_of_the_whole_record_explains_its_marks(name: str) -> None:
    every = list(tables(report_document(REPORTS[name](), full=True).sections))
    marked = {"*": 0, "?": 0}
    for table in every:
        texts = [t for row in (*table.rows, *table.totals) for c in row for t in (c.text, c.below)]
        notes = " ".join(table.notes)
        for mark, words in (("*", "* statistically significant"), ("?", "? ")):
            if any(text[-1:] == mark and text[-2:-1].isdigit() for text in texts):
                marked[mark] += 1
                assert words in notes, (table.caption, mark)
    assert marked["*"]
