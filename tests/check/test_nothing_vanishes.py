"""What a publisher leaves out, hides or adds cannot make a wrong ratio or a failed rule vanish."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stated_headers import check

import fairgauge as fg
from fairgauge_check.check_result import FaultCode
from fairgauge_check.printed import read_number

HEADER = "group,n,selected,selection rate,impact ratio\n"
ROWS = "White,1000,800,80.0%,1.000\nAsian,900,710,78.9%,0.986\n"
TABLE = HEADER + ROWS
REMARKS = HEADER.replace(",n", ",remark,n") + ROWS.replace("e,", "e,,").replace("n,9", "n,,9")
MARKDOWN = "|group|n|selected|\n|---|---|---|\n|White|1000|800|\n|Asian|900|710|\n"
HIDDEN = {
    "a category without a number": f"{TABLE}Black,,,,\n",
    "one between others": f"{HEADER}White,1000,800,80.0%,1.000\nBlack,,,,\n{ROWS[27:]}",
    "a number with letters": f"{TABLE}Black,8OO,300,37.5%,0.469\n",
    "numbers behind words": f"{TABLE}Black,see 800,see 300,see 37.5,see 0.469\n",
    "a row in one cell": f"{TABLE}Black 800 300 37.5% 0.469\n",
    "a row of other width": f"{TABLE}\nBlack,800,300\n",
    "a row without bars": f"{MARKDOWN}Black 800 300\n\nText.\n",
    "numbers that are withheld": f"{TABLE}Black,800,*,*,*\n",
    "a row that is called a total": f"{REMARKS}Black,total,800,300,37.5%,0.469\n",
    "a ratio of a total": "group,selection rate,impact ratio\nWhite,80.0%,1.000\n"
    "Asian,78.9%,0.986\nTotal Black,37.5%,0.7\n",
    "nobody with a rate": f"{TABLE}Black,0,,37.5%,0.469\n",
    "a table of its own": f"{TABLE}\n{HEADER}Black,800,300,37.5%,1.000\n",
    "a second column of ratios": "group,n,selected,impact ratio,impact ratio\n"
    "White,1000,800,1.000,1\nAsian,900,710,0.986,0.5\n",
    "ratios below another header": "group,n,selected,Index\n"
    "White,1000,800,1.000\nAsian,900,710,.5\n",
    "rates alone": f"{TABLE}\ngroup,selection rate\nMale,80.0%\nFemale,37.5%\n",
    "another table": f"{TABLE}\nRace,Hired of all\nBlack,300/800 (37.5%)\nOther,90/100 (90%)\n",
}
NOT_BY_ITSELF = {"a row that is called a total", "nobody with a rate"}
"""Ratios that are right as printed, and fail the rule."""


@pytest.mark.parametrize("case", HIDDEN)
def test_nothing_passes_beside_what_was_not_computed(case):
    found = fg.check(HIDDEN[case], rules="selection_rate.ratio >= 0.8")
    assert found.exit_code in (1, 3)
    if case not in NOT_BY_ITSELF:
        assert fg.check(HIDDEN[case]).exit_code in (1, 3)


@pytest.mark.parametrize(
    "below",
    ["", "Source: HR data 2024,,,,\n", "* fewer than 2%,,,,\n", "Page 3 of 7\n", "Other,9,*,*,*\n"],
)
def test_notes_below_a_table_leave_nothing_open(below):
    assert fg.check(TABLE + below).exit_code == 0


def test_rows_after_a_gap_are_not_read_and_nothing_passes_beside_them():
    found = fg.check(f"{TABLE}\nContinued on next page\n\nBlack,800,300,37.5%,0.9\n")
    assert (found.exit_code, [each.counts for each in found.unread]) == (3, [True])


# ---- A printed number agrees with what it is made of where that is rounded or cut off to it
TABLE_CUT = "group,n,hired,rate,ratio\nA,100,50,50%,1.00\nB,100,44,{},{}\n"


def errors(text):
    return [fault.code for table in check(text).tables for fault in table.errors]


@pytest.mark.parametrize("ratio", ["0.9", "0.8", "0.88", "0.880"])
@pytest.mark.parametrize("rate", ["44%", "44.0%", "0.44"])
def test_exact_values_are_no_error(rate, ratio):
    assert errors(TABLE_CUT.format(rate, ratio)) == []


@pytest.mark.parametrize("ratio", ["0.87", "0.879", "0.89", "0.870"])
def test_a_ratio_one_unit_off_is_an_error(ratio):
    assert errors(TABLE_CUT.format("44%", ratio)) == [FaultCode.RATIO_MISMATCH]


@pytest.mark.parametrize("rate", ["43%", "43.9%", "44.1%", "45%"])
def test_a_rate_one_unit_off_is_an_error(rate):
    assert errors(TABLE_CUT.format(rate, "0.88")) == [FaultCode.RATE_MISMATCH]


@given(st.integers(1, 10**6), st.integers(0, 10**6), st.integers(0, 5), st.integers(-3, 3))
def test_a_number_agrees_if_it_is_rounded_or_cut_off(n, x, places, by):
    """Against integers alone: which are the roundings, and the cut-off, of ``x / n``."""
    scale = 10**places
    cut = x * scale // n
    rest = 2 * (x * scale - cut * n) - n  # twice the remainder against half a unit
    right = {cut, *([cut + 1] if rest >= 0 else [])}
    units = cut + by
    if units < 0:
        return
    printed = read_number(f"{units // scale}.{units % scale:0{places}d}" if places else f"{units}")
    assert printed.agrees(Fraction(x, n)) is (units in right)
