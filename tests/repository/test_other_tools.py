"""The page of what other tools do: every row names a release, and a test that is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "other-tools.md").read_text(encoding="utf-8")
ROWS = [line.strip("|").split("|") for line in PAGE.splitlines() if line.startswith("| ")][1:]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip())
def test_a_row_names_a_release_and_the_test_that_holds_it(row):
    library, *_, test = map(str.strip, row)
    assert len(row) == 5
    assert re.search(r" \d", library)
    assert (ROOT / "tests" / test.strip("`")).is_file()
