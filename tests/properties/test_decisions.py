"""The designs of ``bench.decisions`` with a few data sets: each word in the design that broke it.

The page's figures come from the same functions with 2,000 data sets: ``make coverage``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from bench.audit_designs import Design
from bench.decisions import as_wanted, designs
from bench.reviewed_audits import add_chunk, new_record

if TYPE_CHECKING:
    from pathlib import Path

_SETS = 5
_CHEAP = 100
"""Sets in a chunk of designs that are drawn as arrays: these are taken whole."""
DESIGNS = tuple(designs("."))


def _named(design: Design) -> str:
    return f"{design.of}: {design.setting}"


@pytest.mark.one_in(6)
@pytest.mark.parametrize("number", range(len(DESIGNS)), ids=list(map(_named, DESIGNS)))
def test_a_word_promises_what_it_states_in_the_design_that_broke_it(
    number: int, tmp_path: Path
) -> None:
    design = list(designs(str(tmp_path)))[number]
    record = new_record(design)
    sets = design.chunk if design.chunk >= _CHEAP else _SETS
    few = Design(design.of, design.setting, design.wanted, design.measure, sets)
    add_chunk(few, record)
    assert as_wanted(record), record["counts"]
