"""`check` loses no row of a published table: it is read, or named, and then nothing passes.

Rows of invented tables are laid out as CSV and Markdown are, with endings, gaps and
page breaks. One ratio is wrong, so that a check which finds no error did not read it.
"""

from collections.abc import Sequence

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.enums import Status
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
    "", "\n", "\n\n", "\f", "\n\f\n", "\nContinued on next page\n\n", "Page 3 of 7\n", "\n12\n\n",
)  # fmt: skip
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
    drawn=tables(), ending=st.sampled_from([*ENDINGS, *INSTEAD]), where=st.integers(0, 5),
    gap=st.sampled_from(GAPS), at=st.integers(1, 5),
)  # fmt: skip
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


# ---- the n of a metric of several rates is its rows; a small part of them is named where it limits
CELLS = st.tuples(*[st.integers(0, 60)] * 4)
COMPOSITES = ["average_odds", "balanced_accuracy", "average_absolute_odds"]
ASKED = {"label": "y", "prediction": "p", "positive": 1, "sensitive": "g"}


def rows(groups: dict[str, tuple[int, ...]]) -> pd.DataFrame:
    """Return rows of groups, each with its tp, fp, fn and tn."""
    kinds = ((1, 1), (0, 1), (1, 0), (0, 0))
    made = [
        (group, *kind)
        for group, cells in groups.items()
        for kind, n in zip(kinds, cells, strict=True)
        for _ in range(n)
    ]
    return pd.DataFrame(made, columns=["g", "y", "p"])


@given(CELLS, CELLS)
def test_n_of_a_composite_is_its_rows(one, other):
    data = rows({"A": one, "B": other, "C": (30, 30, 30, 30)})
    report = fg.audit(data, **ASKED, metrics=COMPOSITES)
    sizes = data.groupby("g").size().to_dict()
    for each in report.estimates:
        if each.group in sizes:
            n = sizes[each.group]
            assert (each.n_group, each.n_reference) == (n, len(data) - n), each.metric
    for group in report.groups:
        rate = group.rates.get("balanced_accuracy")
        if rate is not None and group.group in sizes:
            assert rate.denominator == sizes[group.group]


@given(st.integers(1, 19), st.integers(40, 900), st.booleans())
def test_the_part_that_limits_is_named(few, many, positives):
    cells = (few, many // 2, 0, many - many // 2) if positives else (many // 2, few, many // 2, 0)
    data = rows({"A": cells, "B": (100, 100, 100, 100)})
    report = fg.audit(data, **ASKED, metrics=COMPOSITES, rules="balanced_accuracy >= 0.4")
    total = sum(cells)
    for each in report.estimates:
        if each.reference is not None and each.status is Status.TOO_FEW:
            assert each.reason["n"] in (few, total)
            assert each.reason.side == ("group" if each.group == "A" else "reference")
    verdict = next(each for each in report.verdicts if each.group == "A")
    assert verdict.reason["n"] in (few, total)


@given(st.integers(1, 19), st.booleans())
def test_a_comparison_names_the_part_that_limits_it(few, positives):
    data = rows({"A": (few, 60, 0, 40) if positives else (60, few, 40, 0), "B": (99,) * 4})
    report = fg.audit(data, **ASKED, metrics=["balanced_accuracy"])
    limiting = "true positive rate" if positives else "true negative rate"
    for each in report.estimates:
        assert (each.reason["n"], each.reason["part"]) == (few, limiting)
    assert f"{few} of them for {limiting}" in " ".join(str(report).split())


@given(st.integers(-30, 30), st.integers(-30, 30))
def test_parts_that_offset_each_other_are_stated(of_tpr, of_fpr):
    one = (120 + of_tpr, 120 + of_fpr, 80 - of_tpr, 80 - of_fpr)
    data = rows({"A": one, "B": (120, 120, 80, 80)})
    report = fg.audit(data, **ASKED, metrics=["average_odds"])
    parts = fg.audit(data, **ASKED, metrics=["true_positive_rate", "false_positive_rate"])
    found = [parts[f"{name}.difference", "g", "A"] for name in parts.groups[0].rates]
    shown = {each.value > 0 for each in found if each.low > 0 or each.high < 0}
    assert ("parts_offset" in {d.code for d in report.diagnostics}) is (len(shown) == 2)
