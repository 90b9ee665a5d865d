"""What a publisher leaves out, hides or adds cannot make a wrong ratio or a failed rule vanish."""

import pytest

import fairgauge as fg

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
