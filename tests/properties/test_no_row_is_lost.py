"""`check` loses no row of a published table: it is read, or named, and then nothing passes.

Rows of invented tables are laid out as CSV and Markdown are, with endings, gaps and
page breaks. One ratio is wrong, so that a check which finds no error did not read it.
"""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge_check.check_result import Check

HEADER = ("Category", "n", "Selected", "Selection rate", "Impact ratio")
NAMES = ("Asian", "Black", "Two or more", "White (not Hispanic)", "Age 40 and over", "Under 40")
RULE = "selection_rate.ratio >= 0.8"
MARKS = {"tab": "\t", "csv": ",", "markdown": " | "}
ENDINGS = (
    "", " *", " [1]", " (0.6 to 1.1)", " (0.7-1.9)", " [0.6, 1.1]", " (n<30)", " (n = 30)",
    " (p = 0.02)", " adverse impact", " Yes", " see note 3", " 0.7-1.9", " (reference)", " ref",
)  # fmt: skip
"""What stands behind a printed ratio."""
INSTEAD = ("N/A", "--", "N/A (fewer than 2%)", "not calculated", "*", "n < 2%", "")
"""What stands in its place."""
GAPS = (
    "",
    "\n",
    "\n\n",
    "\f",
    "\n\f\n",
    "\nContinued on next page\n\n",
    "Page 3 of 7\n",
    "\n12\n\n",
)
"""What stands between two rows."""


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[list[str]], int]:
    """Draw rows of which all but one have the same rate, and the place of the wrong ratio."""
    count = draw(st.integers(3, 6))
    wrong = draw(st.integers(0, count - 1))
    rows = []
    for i in range(count):
        selected = 400 if i == wrong else 900
        rate = f"{selected / 10:.1f}%"
        rows.append([NAMES[i], str(1200 + i), str(selected), rate, "1.000"])
        rows[i][3] = f"{100 * selected / (1200 + i):.1f}%"
        rows[i][4] = "0.970" if i == wrong else f"{1200 / (1200 + i):.3f}"
    return rows, wrong


def laid_out(rows: Sequence[Sequence[str]], layout: str, gap: str, at: int) -> str:
    """Write a table with a gap above one of its rows."""
    lines = [MARKS[layout].join(row) for row in (HEADER, *rows)]
    if layout == "markdown":
        lines = [f"| {line} |" for line in lines]
        lines.insert(1, "|---" * len(HEADER) + "|")
    at += len(lines) - len(rows)
    return "\n".join(lines[:at]) + f"\n{gap}" + "\n".join(lines[at:]) + "\n\n"


def checked(text: str) -> Check | None:
    """Return a check; None where it is refused with what to do."""
    try:
        return fg.check(text, rules=RULE)
    except fg.DataError:
        return None


def named(found: Check, text: str) -> bool:
    """Return whether a row is named as not read, or the table below a gap that it is in."""
    return any(text in each.reason or "the table " in each.reason for each in found.unread)


@pytest.mark.parametrize("layout", MARKS)
@given(
    drawn=tables(),
    ending=st.sampled_from([*ENDINGS, *INSTEAD]),
    where=st.integers(0, 5),
    gap=st.sampled_from(GAPS),
    at=st.integers(1, 5),
)
def test_every_row_is_read_or_named_and_a_wrong_ratio_is_found(
    layout: str, drawn: tuple[list[list[str]], int], ending: str, where: int, gap: str, at: int
) -> None:
    rows, wrong = drawn
    where, at = where % len(rows), at % len(rows) or 1
    own = rows[where]
    own[4] = own[4] + ending if ending in ENDINGS and ending else ending or own[4]
    text = laid_out([[cell.replace(",", ";") for cell in row] for row in rows], layout, gap, at)
    found = checked(text)
    if found is None:
        return
    read = [group.n for table in found.tables for group in table.groups]
    for row in rows:
        assert int(row[1]) in read or named(found, row[1]), (row, text)
    assert found.exit_code != 0, text
    if not found.unread and (where != wrong or ending in ENDINGS):
        assert found.errors or found.ratios_not_checked, text
