"""What a check concludes from printed rates holds for every table of counts that prints them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cases import thorough_after

import fairgauge as fg
from fairgauge.enums import Outcome
from fairgauge_check.check_result import FaultLevel
from fairgauge_check.printed_numbers import read_number
from fairgauge_check.published_table import PublishedRow, selected_people
from fairgauge_check.stated_columns import tables_of
from fairgauge_check.table_arithmetic import check_arithmetic
from fairgauge_check.table_files import grids_of_text

CASES, TABLES_EACH = 24, 4


def checked(header, rows, limit):
    text = "\n".join(",".join(map(str, row)) for row in [header, *rows])
    (table,) = fg.check(text, rules=f"selection_rate.ratio >= {limit}").tables
    return {group.name: group for group in table.groups}


def agreeing(n, rate):
    row = PublishedRow(number=1, categories=("A",), n=read_number(str(n)), rate=read_number(rate))
    return selected_people(row)


def rates_that_print_alike(rng):
    """Return people, selected people and printed rates, of which two may be the highest."""
    k = int(rng.integers(2, 6))
    n = rng.integers(15, 400, k)
    p = rng.uniform(0.1, 0.9) + rng.choice([0, 0, 0.005, -0.01, -0.1, -0.25], k)
    selected = rng.binomial(n, np.clip(p, 0.02, 0.98))
    top, other = np.argsort(-selected / n)[:2]
    selected[other] = round(selected[top] / n[top] * n[other])
    places = int(rng.integers(0, 2))
    return n, selected, [f"{100 * x / m:.{places}f}%" for x, m in zip(selected, n, strict=True)]


@pytest.mark.parametrize("seed", thorough_after(2, range(CASES)))
def test_intervals_and_verdicts_hold_for_every_table_that_prints_these_rates(seed):
    """Whichever category has the highest rate in it, and is the reference."""
    rng = np.random.default_rng(seed)
    n, selected, rates = rates_that_print_alike(rng)
    names, limit = "ABCDE"[: len(n)], 0.8 if seed % 2 else 0.95
    printed = checked(("group", "n", "selection rate"), zip(names, n, rates, strict=True), limit)
    fits = [agreeing(m, rate) for m, rate in zip(n, rates, strict=True)]
    ends = [[rng.choice([*fit, rng.integers(*fit, endpoint=True)]) for fit in fits]
            for _ in range(TABLES_EACH - 1)]  # fmt: skip
    for counts in [selected, *ends]:
        true = checked(("group", "n", "selected"), zip(names, n, counts, strict=True), limit)
        for name, group in true.items():
            found = printed[name]
            if group.deciding is not None:
                assert found.deciding.low <= group.deciding.low + 1e-9
                assert found.deciding.high >= group.deciding.high - 1e-9
                if found.verdict.outcome in (Outcome.PASS, Outcome.FAIL):
                    assert found.verdict.outcome is group.verdict.outcome
            if found.possible is not None:
                assert found.possible[0] - 1e-9 <= group.ratio <= found.possible[1] + 1e-9
    for group in printed.values():
        if group.verdict is not None and group.verdict.outcome is Outcome.PASS:
            assert group.deciding.low >= limit
        if group.verdict is not None and group.verdict.outcome is Outcome.FAIL:
            assert group.deciding.high < limit


def errors(rows):
    header = ["group", "n", "selected", "selection rate", "AIR"]
    text = "\n".join(",".join(map(str, row)) for row in [header, *rows])
    faults = check_arithmetic(*tables_of(grids_of_text(text)[0])).faults
    return {fault.code: fault.message for fault in faults if fault.level is FaultLevel.ERROR}


@pytest.mark.parametrize(
    ("first", "second", "ratio", "behind"),
    [
        ("A,224,42,19%,{}", "B,*,46,90%,1.000", "0.211", "it is 0.2111"),
        ("A,224,42,19%,{}", "B,51,*,90%,1.000", "0.211", "it is 0.2111"),
        ("A,224,42,18.8%,{}", "B,*,46,90.2%,1.0000", "0.2084", "it is 0.2084"),
        ("A,*,42,19%,{}", "B,51,46,90%,1.000", "0.211", "it is 0.2111"),
        ("A,183,73,n/a,{}", "B,291,254,87%,1.0000", "0.4598", "it is 0.457"),
        ("A,183,73,40%,{}", "B,291,254,n/a,1.0000", "0.4598", "it is 0.457"),
    ],
)
def test_a_ratio_of_printed_rates_is_right_where_a_cell_is_withheld(first, second, ratio, behind):
    """It was held against exact counts on one side, and a rounded rate on the other."""
    rows = [first.format(ratio).split(","), second.split(",")]
    assert errors(rows) == {}
    rows[0][-1] = "0.3000"
    (message,) = errors(rows).values()
    assert message.endswith(behind)
