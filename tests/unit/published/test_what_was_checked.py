"""What a check can and cannot establish: how many numbers it checked, and what must be wrong."""

from __future__ import annotations

import re
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest
from click.testing import CliRunner
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from told import check

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.published._header_words import (
    is_remark,
    means_impact,
    means_loans_made,
    means_not_accepted,
    names_share,
    role_of,
)
from fairgauge.published.published_table import ColumnRole
from fairgauge.results.check import FaultCode

COUNTS = "group,n,hired\nA,1000,500\nB,1000,480\n"
RATIOS = "group,rate,ratio\nA,50%,{}\nB,44%,{}\nC,30%,{}\n"


def faults(text):
    return {fault.code: fault for table in check(text).tables for fault in table.faults}


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        (COUNTS, 0),
        ("group,rate\nA,50%\nB,40%\n", 0),
        ("group,n,rate\nA,1000,50%\nB,900,40%\n", 0),
        ("group,n,rate\nA,10,50%\nB,10,40%\n", 2),
        ("group,n,hired,rate\nA,10,5,50%\nB,10,4,40%\n", 2),
        ("group,rate,ratio\nA,50%,1.00\nB,40%,0.80\n", 1),
        (f"{COUNTS}Total,2000,980\n", 2),
        ("group,n,hired,denied\nA,10,5,5\nB,10,4,6\n", 2),
    ],
)
def test_the_numbers_that_were_checked_are_counted(text, numbers):
    found = check(text)
    assert found.errors == 0
    assert found.numbers_checked == numbers
    assert type(found).from_dict(found.to_dict()) == found


def test_a_table_of_counts_alone_is_not_said_to_have_no_error():
    found = check(COUNTS)
    shown = " ".join(str(found).split())
    assert "No error" not in shown
    assert "The arithmetic of 1 table was not checked" in shown
    assert found.exit_code == 3
    assert (
        CliRunner()
        .invoke(main, ["check", "-", "--rule", "selection_rate.ratio >= 0.8"], input=COUNTS)
        .exit_code
        == 0
    )


def test_margins_are_numbers_that_were_checked():
    crossed = "sex,race,n,hired\nM,A,50,20\nM,B,50,30\nF,A,40,10\nF,B,60,30\n"
    assert check(f"sex,n,hired\nM,100,50\nF,100,40\n\n{crossed}").numbers_checked == 4


def test_ratios_of_no_single_reference_are_an_error():
    found = faults(RATIOS.format("1.3", "1.1", "0.02"))
    assert found[FaultCode.NO_COMMON_REFERENCE].message == (
        "no reference gives the impact ratio 0.02 of 'C': it would need a rate of about 1,500%"
    )
    found = faults(RATIOS.format("1.3", "1.1", "0.2"))
    assert found[FaultCode.NO_COMMON_REFERENCE].message == (
        "no single reference gives all impact ratios: 0.2 of 'C' needs one with a rate "
        "of about 150%, 1.3 of 'A' one of about 38.5%"
    )


@given(
    st.integers(200, 999), st.lists(st.integers(1, 999), min_size=1, max_size=5), st.integers(1, 4)
)
def test_ratios_to_a_rate_that_is_not_printed_are_no_error(reference, rates, places):
    rows = [f"G{i},{r / 10:.1f}%,{r / reference:.{places}f}" for i, r in enumerate(rates)]
    text = "\n".join(["group,rate,ratio", *rows, ""])
    assert FaultCode.NO_COMMON_REFERENCE not in faults(text)


def test_a_ratio_beside_that_of_counts_is_not_taken_as_of_rounded_rates():
    """A reference of 50.2% to 52.1% would take one of each."""
    rows = ("Male,1315,397,30%,0.58", "Female,774,400,52%,{}")
    text = "\n".join(["sex,n,hired,rate,ratio", *rows, ""])
    assert faults(text.format("1.03"))[FaultCode.RATIO_MISMATCH].message == (
        "the impact ratio is printed as 1.03; compared with 'Female' it is 1"
    )
    assert check(text.format("0.97")).errors == 1
    assert check(text.format("1.00")).errors == 0


def written(value, places, *, cut):
    """Write a number that is cut off or rounded at its last place."""
    exact = Decimal(value.numerator) / value.denominator
    return f"{exact.quantize(Decimal(10) ** -places, ROUND_DOWN if cut else ROUND_HALF_UP):f}"


@st.composite
def two_categories(draw, lowest=0.01):
    """Draw people and selected people of two categories; the first is to be the reference."""
    people = [draw(st.integers(100, 3000)) for _ in range(2)]
    shares = [draw(st.floats(lowest, 0.99)) for _ in range(2)]
    return [(n, round(n * share)) for n, share in zip(people, shares, strict=True)]


def error_codes(text):
    return {fault.code for table in check(text).tables for fault in table.errors}


def printed_table(counts, ratios, rates):
    cells = [
        ",".join(filter(None, (rate, ratio))) for rate, ratio in zip(rates, ratios, strict=True)
    ]
    names = zip("AB", counts, cells, strict=True)
    rows = [f"{name},{n},{selected},{behind}" for name, (n, selected), behind in names]
    return "\n".join([f"group,n,hired{',rate' if rates[0] else ''},ratio", *rows, ""])


def test_ratios_to_a_low_rate_of_whole_per_cents_may_be_of_printed_rates():
    """The printed rates give 4.17, and the counts 4.13."""
    text = "group,n,hired,rate,ratio\nA,100,12,12%,1.00\nB,101,50,50%,{}\n"
    assert FaultCode.RATIO_MISMATCH not in error_codes(text.format("4.17"))
    assert FaultCode.RATIO_MISMATCH in error_codes(text.format("4.08"))


def test_ratios_of_printed_rates_may_be_to_the_unprinted_rate_of_all():
    text = "group,n,hired,rate,ratio\nA,100,12,12%,0.96\nB,485,61,13%,{}\n"
    assert error_codes(text.format("1.04")) <= {FaultCode.REFERENCE_NOT_HIGHEST}
    assert error_codes(text.format("1.09")) == {FaultCode.NO_COMMON_REFERENCE}


@settings(max_examples=60)
@given(
    two_categories(),
    st.sampled_from(["counts", "printed rates"]),
    st.sampled_from(["first", "all", "another"]),
    st.integers(0, 2),
    st.integers(2, 4),
    st.booleans(),
)
def test_ratios_of_two_categories_are_right_of_counts_and_of_printed_rates(
    counts, made_of, reference, rate_places, places, cut
):
    rates = [written(100 * Fraction(x, n), rate_places, cut=cut) + "%" for n, x in counts]
    exact = [Fraction(x, n) for n, x in counts]
    if made_of == "printed rates":
        exact = [Fraction(rate.rstrip("%")) / 100 for rate in rates]
    every = Fraction(sum(x for _, x in counts), sum(n for n, _ in counts))
    of = {"first": exact[0], "all": every, "another": Fraction(61, 100)}[reference]
    assume(of > 0)
    ratios = [written(rate / of, places, cut=cut) for rate in exact]
    near = [abs(rate / of - 1) < Fraction(3, 100) for rate in exact]
    assume(reference == "first" or not any(near))  # whose category it may be
    not_best = {FaultCode.REFERENCE_NOT_HIGHEST}
    assert error_codes(printed_table(counts, ratios, rates)) <= not_best
    if made_of == "counts":
        assert error_codes(printed_table(counts, ratios, ["", ""])) <= not_best


@settings(max_examples=60)
@given(
    two_categories(lowest=0.2),
    st.sampled_from(["counts", "printed rates"]),
    st.integers(2, 4),
    st.floats(0.02, 0.3),
    st.sampled_from([1, -1]),
    st.booleans(),
)
def test_a_false_ratio_of_the_reference_of_two_categories_is_an_error(
    counts, made_of, places, shift, sign, cut
):
    """Two decimals of a lower ratio, or cut off, also allow a reference that is not printed."""
    cut = cut and places > 2
    rates = [written(100 * Fraction(x, n), 2, cut=cut) + "%" for n, x in counts]
    exact = [Fraction(x, n) for n, x in counts]
    if made_of == "printed rates":
        exact = [Fraction(rate.rstrip("%")) / 100 for rate in rates]
    ratio = exact[1] / exact[0]
    false = written(1 + sign * Fraction(shift), places, cut=False)
    assume(ratio > (Fraction(8, 10) if places == 2 else Fraction(3, 10)))
    every = Fraction(sum(x for _, x in counts), sum(n for n, _ in counts))
    assume(abs(exact[0] / every - Fraction(false)) > Fraction(2, 100))  # that of all people
    ratios = [false, written(ratio, places, cut=cut)]
    found = error_codes(printed_table(counts, ratios, rates))
    other = FaultCode.RATIO_OF_ANOTHER_REFERENCE  # which the false one may fit by chance
    assert found & {FaultCode.NO_COMMON_REFERENCE, FaultCode.RATIO_MISMATCH, other}


@pytest.mark.parametrize("bound", ["<10", "< 10", "≤9", "fewer than 10", "under 10"])
def test_a_bound_in_the_place_of_a_count_is_used(bound):
    text = f"group,n,hired\nW,1000,400\nB,100,{bound}\nTotal,1100,{{}}\n"
    assert FaultCode.TOTAL_MISMATCH not in faults(text.format(405))
    assert faults(text.format(450))[FaultCode.TOTAL_MISMATCH].message.endswith(
        "its rows add up to between 400 and 409"
    )
    people = f"group,n,hired\nA,480,100\nB,75,20\nC,{bound},*\nTotal,{{}},125\n"
    assert FaultCode.TOTAL_MISMATCH in faults(people.format(565))
    assert FaultCode.TOTAL_MISMATCH not in faults(people.format(564))


LENDING = "Race,Applications,Approved\nWhite,7534,6543\nBlack,1346,1049\nAsian,692,591\n"
LEFT_OUT = "; unless the table leaves out {} or more of them, such as a category, one of these "
LEFT_OUT += "numbers is wrong"
UNKNOWN = f"{LENDING}Race not available,964,\n"


@pytest.mark.parametrize(
    ("text", "behind"),
    [
        (
            f"{UNKNOWN}Total,10565,\n",
            f"add up to 9572, with those of unknown category to 10536{LEFT_OUT.format(29)}",
        ),
        (
            f"{UNKNOWN}Total,10000,\n",
            f"add up to 9572, with those of unknown category to 10536{LEFT_OUT.format(428)}",
        ),
        (f"{UNKNOWN}Total,10536,9183\n", "add up to between 8183 and 9147"),
        (f"{UNKNOWN[:-1]}30\nTotal,10536,8183\n", "add up to 8213"),
        (f"{UNKNOWN}Total,9572,8200\n", "add up to 8183"),
        (f"{LENDING}Total,9500,8183\n", "add up to 9572"),
        (f"{LENDING}Total,9601,8183\n", f"add up to 9572{LEFT_OUT.format(29)}"),
        (
            f"{LENDING}Total,9602,\n".replace(",", "  ")
            + "\nTwo or more races (29 applicants) are not shown.\n",
            f"add up to 9572{LEFT_OUT.format(30)}",
        ),
        (f"{LENDING}Race not available,*,\nTotal,9500,\n", "add up to 9572"),
        (f"{LENDING}Two or more races,*,\nTotal,9500,\n", "add up to at least 9572"),
    ],
)
def test_a_total_that_is_wrong_states_the_sums_that_it_may_be(text, behind):
    """That of 10,565 was held against 9,572 alone, though 10,536 is right as well."""
    assert faults(text)[FaultCode.TOTAL_MISMATCH].message.endswith(f"its rows {behind}")


def test_a_total_rate_is_stated_with_and_without_people_of_unknown_category():
    text = "group,n,hired,rate\nA,100,50,50%\nB,100,30,30%\nUnknown,50,40,80%\nTotal,,,{}\n"
    for right in ("40%", "48%"):
        assert FaultCode.TOTAL_RATE_MISMATCH not in faults(text.format(right))
    assert faults(text.format("44%"))[FaultCode.TOTAL_RATE_MISMATCH].message.endswith(
        "that of its rows is 40%, with those of unknown category 48%"
    )


def test_a_total_of_people_of_whom_some_are_withheld_is_not_checked():
    """It was an error wherever the people of unknown category were, and were not printed."""
    found = faults(f"{LENDING}Race not available,*,\nTotal,10565,\n")
    assert FaultCode.TOTAL_MISMATCH not in found
    assert FaultCode.TOTAL_NOT_CHECKED in found


@pytest.mark.parametrize(
    ("n", "selected", "sentence", "wrong"),
    [
        (9601, "", "Two or more minority races (29 applications) are not shown.", False),
        (9601, 8205, "29 applicants of two or more races were excluded.", False),
        (10565, "", "Two or more minority races (29 applications) are not shown.", False),
        (9601, 8213, "Two or more minority races (29 applications) are not shown.", True),
        (9602, "", "Two or more minority races (29 applications) are not shown.", True),
        (9543, "", "Two or more minority races (29 applications) are not shown.", True),
        (9601, "", "Categories with fewer than 29 applicants are not shown.", True),
        (9601, "", "Two or more minority races (29 applications) are shown.", True),
        (9575, "", "In all, 3 categories are not shown.", True),
        (9601, "", "Two races (29 applicants, 12 approved) are not shown.", True),
    ],
)
@pytest.mark.parametrize("form", ["markdown", "html"])
def test_a_total_may_be_of_people_whom_a_sentence_states_to_have_no_row(
    n, selected, sentence, wrong, form
):
    rows = [row.split(",") for row in f"{UNKNOWN}Total,{n},{selected}".splitlines()]
    if form == "markdown":
        text = "".join(f"| {' | '.join(row)} |\n" for row in [rows[0], ["---"] * 3, *rows[1:]])
    else:
        cells = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows)
        text = "<table>\n" + "\n".join(f"<tr>{row}</tr>" for row in cells) + "\n</table>\n"
    found = faults(f"{text}\n{sentence}\n")
    assert (FaultCode.TOTAL_MISMATCH in found) is wrong


def test_people_whom_a_sentence_states_to_have_no_row_hide_a_withheld_count():
    text = "g  n  hired\nA  1000  500\nB  300  70\nC  200  *\nTotal  1529  690\n"
    assert FaultCode.COUNT_RECOVERABLE in faults(text.replace("1529", "1500"))
    text += "\nTwo other groups (29 people) are not shown.\n"
    assert FaultCode.COUNT_RECOVERABLE not in faults(text)


def test_a_share_is_no_bound_of_a_count():
    text = "group,n,hired\nW,1000,400\nB,100,< 2%\nTotal,1100,450\n"
    assert FaultCode.TOTAL_MISMATCH not in faults(text)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("g,n,hired\nA,1000,500\nB,300,70\nC,200,*\nTotal,1500,690\n", 120),
        ("g,n,hired\nA,1000,500\nB,300,70\nC,200,*\nTotal,1500,570\n", 0),
        ("g,n,hired\nA,1000,500\nB,300,*\nC,200,*\nTotal,1500,690\n", None),
        ("g,n,hired\nA,1000,500\nB,300,70\nC,200,*\nUnknown,90,30\nTotal,1590,690\n", None),
        ("g,n,hired\nA,1000,500\nB,300,70\nC,9,*\nUnknown,90,30\nTotal,1399,608\n", 8),
        ("g,n,hired,rate\nA,1000,500,50.0%\nB,50,*,44%\n", 22),
        ("g,n,hired\nA,1000,500\nB,300,70\nC,200,-\nTotal,1500,690\n", None),
    ],
)
def test_a_withheld_count_that_can_be_computed_is_noted(text, count):
    found = faults(text).get(FaultCode.COUNT_RECOVERABLE)
    assert (found and found["count"]) == count
    assert FaultCode.TOTAL_MISMATCH not in faults(text)


TWO = "Category,Applicants,Selected,Rate,Impact ratio\nM,2319,1720,74.2%,1.000\n"
TWO += "N,2041,1514,74.2%,1.000\n"


@pytest.mark.parametrize(
    "more",
    [
        "F,900,*,*,*\n",
        "F,70,<10,,<0.2\n",  # below 2% of the people, as undecided as with its count
        "F,9,*,*,*\n",
        "F,9,n/a,n/a,n/a\n",
        "F,9,3,33.3%,0.449\n",
        "F,*,*,*,*\n",
        "F,1848,see note,see note,0.9\n",
        f"\n{TWO.splitlines()[0]}\nF,1848,499,27.0%,0.964\n",
    ],
)
def test_a_ratio_without_a_verdict_is_undecided(more):
    found = check(TWO + more, rules="selection_rate.ratio >= 0.8")
    assert (str(found.verdict), found.exit_code) == ("inconclusive", 3)


@pytest.mark.parametrize("more", ["F,0,0,-,-\n", "F,0,*,*,*\n", ""])
def test_a_category_of_nobody_is_not_undecided(more):
    found = check(TWO + more, rules="selection_rate.ratio >= 0.8")
    assert (str(found.verdict), found.exit_code) == ("pass", 0)


OWN_RATIO = """sex,n,hired,rate,ratio
Female,2248,698,31.0%,{}
Male,2454,898,36.6%,{}
Non-binary,51,19,37.3%,N/A*
"""


@pytest.mark.parametrize(
    ("female", "male"),
    [("0.849", "1.003"), ("0.847", "1.003"), ("0.85", "0.99"), ("0.85", "1.01")],
)
def test_of_two_ratios_one_shows_that_the_other_is_the_references_own(female, male):
    """0.849 is of the counts, and 0.847 of the printed rates."""
    found = check(OWN_RATIO.format(female, male))
    (error,) = found.tables[0].errors
    assert (error.code, error.row) == (FaultCode.RATIO_MISMATCH, (2, "Male"))
    assert found.exit_code == 1
    assert FaultCode.NO_REFERENCE not in faults(OWN_RATIO.format(female, male))


@pytest.mark.parametrize("rules", [None, "selection_rate.ratio >= 0.5"])
def test_ratios_that_cannot_be_checked_are_counted_and_nothing_passes_beside_them(rules):
    """They may be to a category of a rate of 35% that the table lacks."""
    found = check(OWN_RATIO.format("0.887", "1.046"), rules=rules)
    assert (found.errors, found.ratios_not_checked, found.exit_code) == (0, 2, 3)
    shown = " ".join(str(found).split())
    assert "No error in the 3 printed numbers checked; 2 impact ratios were not checked" in shown
    assert "2 impact ratios were not checked, because the reference or a rate is not known" in shown
    assert type(found).from_dict(found.to_dict()) == found


def test_ratios_that_cannot_be_checked_are_counted_beside_errors():
    found = check(OWN_RATIO.format("0.887", "1.046").replace("31.0%", "41.0%"))
    assert "1 error in 1 table; 2 impact ratios were not checked" in " ".join(str(found).split())


def test_a_ratio_without_a_printed_rate_is_not_checked():
    text = "sex,rate,ratio\nFemale,40%,0.80\nMale,50%,1.00\nOther,,0.70\n"
    assert faults(text)[FaultCode.RATIOS_NOT_CHECKED]["categories"] == ("Other",)


OF_COLUMNS = (
    "Job family,Men applied,Men hired,Men rate,Women applied,Women hired,Women rate,{}\n"
    "Office,4020,1010,25.1%,5880,1470,25.0%,0.60\nStore,4000,1000,25.0%,4000,1000,25.0%,1.00\n"
)
OF_TWO = (
    "Sex,Applicants,Hired,Selection rate,Impact ratio,{}\nMen,5000,1000,20.0%,1.00,1.00\n"
    "Women,4000,780,19.5%,0.98,0.60\nOther,10,2,20.0%,,\n"
)


@pytest.mark.parametrize(
    ("text", "header", "rows"),
    [
        (OF_COLUMNS, "Impact ratio", ("Office", "Store")),
        (OF_COLUMNS, "Ratio to men", ("Office", "Store")),
        (OF_TWO, "4/5ths ratio", ("Men", "Women")),
        (OF_TWO, "AIR", ("Men", "Women")),
    ],
)
@pytest.mark.parametrize("rules", [None, "selection_rate.ratio >= 0.5"])
def test_ratios_in_a_column_that_is_not_read_are_not_checked_and_nothing_passes(
    text, header, rows, rules
):
    """They passed, and every number was said to be computed again."""
    columns = {"ratio": "Impact ratio"} if text is OF_TWO else None
    found = check(text.format(header), rules=rules, columns=columns)
    (fault,) = (
        fault for fault in found.tables[0].faults if fault.code is FaultCode.RATIOS_NOT_CHECKED
    )
    assert (fault["column"], fault["categories"]) == (header, rows)
    assert (found.errors, found.ratios_not_checked, found.exit_code) == (0, 2, 3)
    assert str(found.verdict) == ("inconclusive" if rules else "none")
    shown = " ".join(str(found).split())
    assert "2 impact ratios were not checked" in shown
    assert f"not checked, because the column '{header}' is not read" in shown
    assert "of the columns that are read, every number that follows from others was" in shown
    assert type(found).from_dict(found.to_dict()) == found


@pytest.mark.parametrize(
    "header", ["Odds ratio", "Ratio of denials to approvals", "Debt-to-income ratio"]
)
def test_another_statistic_that_is_not_read_is_no_impact_ratio(header):
    columns = {"ratio": "Impact ratio"}
    text = OF_TWO.format(header).replace("Other,10,2,20.0%,,\n", "")
    found = check(text, rules="selection_rate.ratio >= 0.5", columns=columns)
    assert (found.ratios_not_checked, found.exit_code) == (0, 0)


HEADINGS = (
    "Impact ratio", "AIR", "Four-fifths ratio", "Relative risk", "Denial rate", "% denied",
    "Rejection rate ratio", "Hire rate", "Approval rate", "Scoring rate", "% approved",
    "Approved %", "Share hired", "Not selected", "Non-selected", "Turned down rate", "Loans made",
    "Approved but not accepted", "Approved and accepted", "Apps",
    "Group n", "Odds ratio", "Loan-to-value ratio", "True positive rate", "Preapproval requests",
)  # fmt: skip


@pytest.mark.parametrize("header", HEADINGS)
def test_a_header_is_read_alike_whatever_parts_its_words(header):
    """Of "Not_selected" the numbers were those of selected people."""
    read = role_of, means_impact, means_loans_made, means_not_accepted, is_remark, names_share
    parted = re.sub("[ -]", "_", header), header.replace(" ", "-")
    for written in (*parted, parted[0].lower(), parted[0].upper(), header.lower(), header.upper()):
        assert [of(written) for of in read] == [of(header) for of in read], written
    assert role_of("ApprovalRate") is ColumnRole.RATE


APPROVALS = """derived_race,n,approved,{},denied,denial_rate,impact_ratio
White,7817,6992,89.4%,825,10.6%,1.00
Black,1983,1625,82.9%,358,18.1%,0.92
Asian,1049,938,89.4%,111,10.6%,1.00
"""


@pytest.mark.parametrize("header", ["approval_rate", "APPROVAL-RATE", "approved_pct", "% approved"])
def test_a_wrong_rate_below_a_name_in_code_is_an_error(header):
    """The column was not read, and a rule passed."""
    found = check(APPROVALS.format(header), rules="selection_rate.ratio >= 0.8")
    assert (found.errors, found.exit_code) == (1, 1)
    assert "the rate is printed as 82.9%; 1625 of 1983 is 81.947%" in str(found)


@pytest.mark.parametrize(
    ("columns", "header"), [(None, "approvalrate"), ({"rate": "approval"}, "Approval rate")]
)
def test_rates_in_a_column_that_is_not_read_are_not_checked_and_nothing_passes(columns, header):
    text = APPROVALS.format(header)
    if columns:
        text = text.replace("denied", "approval", 1).replace("825", "89.4%").replace("358", "81.9%")
        text = text.replace("111", "89.4%")
    found = check(text, rules="selection_rate.ratio >= 0.8", columns=columns)
    assert (found.errors, found.ratios_not_checked, found.exit_code) == (0, 3, 3)
    assert str(found.verdict) == "inconclusive"
    shown = " ".join(str(found).split())
    assert f"3 printed rates were not checked, because the column '{header}' is not read" in shown
    assert type(found).from_dict(found.to_dict()) == found


BASES = """race,n,hired,rate,ratio
A,1000,504,50%,1.000
B,1000,406,41%,{}
C,1000,354,35%,{}
"""


@pytest.mark.parametrize(
    ("b", "c", "wrong"),
    [
        ("0.806", "0.702", False),
        ("0.805", "0.702", False),  # cut off
        ("0.820", "0.700", False),
        ("0.82", "0.70", False),
        ("0.820", "0.702", True),
        ("0.806", "0.700", True),
    ],
)
def test_ratios_of_counts_beside_ratios_of_printed_rates_are_an_error(b, c, wrong):
    found = faults(BASES.format(b, c))
    assert (FaultCode.RATIOS_OF_TWO_BASES in found) is wrong
    assert check(BASES.format(b, c)).errors == wrong


def test_ratios_of_two_bases_are_named():
    assert faults(BASES.format("0.820", "0.702"))[FaultCode.RATIOS_OF_TWO_BASES].message == (
        "some impact ratios are of the counts and others of the printed rates: 0.702 of 'C' "
        "follows from the counts alone, 0.820 of 'B' from the printed rates alone"
    )


LOANS = "Race,Applications,{},Denied,Withdrawn\nWhite,1000,800,100,100\nBlack,1000,450,100,450\n"


@pytest.mark.parametrize("header", ["Approved", "Originated", "Loans made", "Granted", "Funded"])
def test_loans_that_are_made_are_selected_under_every_name(header):
    """All that was not denied was approved, withdrawn applications too: PASS of 0.56."""
    check = check(LOANS.format(header), reference="White", rules="selection_rate.ratio >= 0.8")
    assert [group.selected for group in check.tables[0].groups] == [800, 450]
    assert check.verdict == "inconclusive"  # 0.56 of all, and 0.92 of those decided
    fewer = LOANS.format(header).replace("450,100,450", "450,400,150")
    assert check(fewer, reference="White", rules="selection_rate.ratio >= 0.8").verdict == "fail"


@pytest.mark.parametrize("rate", ["", ",Denial rate"])
def test_applications_without_a_decision_are_not_approved(rate):
    text = f"Race,Applications,Denied,Withdrawn{rate}\n"
    for race, withdrawn in (("White", 100), ("Black", 450)):
        text += f"{race},1000,100,{withdrawn}{',10.0%' if rate else ''}\n"
    check = check(text, rules="selection_rate.ratio >= 0.8")
    assert check.verdict == "inconclusive"
    assert [group.rate for group in check.tables[0].groups] == [None, None]
    every = check(text.replace("Withdrawn", "Median age"), rules="selection_rate.ratio >= 0.8")
    assert every.verdict == "pass"


@pytest.mark.parametrize(
    "columns",
    [
        {"Denial rate": ("11.1%", "18.2%")},
        {"Approval rate": ("88.9%", "81.8%"), "AIR": ("1.00", "0.92")},
    ],
)
def test_rates_of_those_that_were_decided_are_no_error(columns):
    lines = [",".join(["Race,Applications,Approved,Denied", *columns])]
    for i, row in enumerate(("White,1000,800,100", "Black,1000,450,100")):
        lines.append(",".join([row, *(each[i] for each in columns.values())]))
    check = check("\n".join(lines), reference="White")
    (table,) = check.tables
    assert not table.errors
    assert [group.n for group in table.groups] == [900, 550]
    assert table.columns["n"] == "Approved + Denied, of Applications"
    wrong = check("\n".join(lines).replace("88.9%", "87.9%").replace("11.1%", "12.1%"))
    assert wrong.tables[0].errors


BOTH_BASES = (
    "Race,Applications,Approved,Denied,Rate\nWhite,8000,6100,1200,{}\nBlack,1200,770,330,{}\n"
    "Joint,400,290,90,{}\n"
)
RATES_OF = {"decided": ("83.6%", "70.0%", "76.3%"), "all": ("76.3%", "64.2%", "72.5%")}


@pytest.mark.parametrize("base", RATES_OF)
@pytest.mark.parametrize("at", range(3))
def test_one_wrong_rate_leaves_the_others_right_whichever_people_they_are_of(base, at):
    """Every right rate of those decided was an error beside a wrong one."""
    (other,) = RATES_OF.keys() - {base}
    for wrong in ("81.0%", RATES_OF[other][at]):
        rates = [wrong if i == at else rate for i, rate in enumerate(RATES_OF[base])]
        (table,) = check(BOTH_BASES.format(*rates)).tables
        assert [fault.row[0] for fault in table.errors] == [at + 1]
        assert table.groups[0].n == (7300 if base == "decided" else 8000)
    two = BOTH_BASES.format("76.3%", "70.0%", "x")
    assert check(two).tables[0].groups[0].n == 8000  # as many of each: of all people


NEITHER = (
    "Race,Applications,Approved,Denied,Withdrawn{}\n"
    "White,10000,7000,500,2500{}\nBlack,5000,3250,1500,250{}\n"
)


def neither(header="", white="", black="", **options):
    text = NEITHER.format(header, white, black)
    return check(text, rules="selection_rate.ratio >= 0.8", **options)


def test_a_table_that_does_not_show_of_whom_its_rates_are_passes_of_both_or_not_at_all():
    """Withdrawn applications counted as refusals: a PASS of 0.929; of those decided it is 0.733."""
    check = neither()
    assert (check.verdict, check.exit_code, check.errors) == ("inconclusive", 3, 0)
    (table,) = check.tables
    assert table.groups[1].verdict.says == (
        "the ratio of the rates of all people passes, that of the rates of those selected and not "
        "selected alone fails; the table does not show which of both it is of"
    )
    assert FaultCode.BASE_NOT_STATED in [fault.code for fault in table.faults]
    of_all = ", if selection rates are of all people, which the table does not show."
    assert of_all in str(check.brief())
    assert of_all not in str(neither(",AIR", ",1.00", ",0.93").brief())
    rated = neither(",Denial rate", ",6.7%", ",31.6%")
    assert (rated.verdict, rated.exit_code) == ("fail", 1)
    assert neither(",Denial rate", ",5.0%", ",30.0%").exit_code == 0


@pytest.mark.parametrize(
    ("a", "b", "code"),
    [
        ((7000, 2900), (6900, 2900), 0),
        ((7000, 2900), (3000, 6900), 1),
        ((7000, 3000), (6900, 100), 3),  # A is the reference of all, and fails of those decided
        ((7000, 3000), (4900, 100), 3),
    ],
)
def test_verdicts_hold_of_all_people_and_of_those_decided(a, b, code):
    text = "Race,Applications,Approved,Denied\nA,10000,{},{}\nB,10000,{},{}\n".format(*a, *b)
    assert check(text, rules="selection_rate.ratio >= 0.8").exit_code == code


def test_people_who_are_neither_count_where_no_number_of_people_is_printed():
    """The rates were of those decided, and 0.68 against 0.92 of all people passed."""
    text = "Race,Approved,Denied,Withdrawn\nWhite,7000,500,{}\nBlack,6500,500,2500\n"
    check = check(text.format(100), rules="selection_rate.ratio >= 0.8")
    assert [group.n for group in check.tables[0].groups] == [7600, 9500]
    assert check.exit_code == 3
    assert FaultCode.COLUMNS_IGNORED not in [fault.code for fault in check.tables[0].faults]
    assert check(text.format("<10"), rules="selection_rate.ratio >= 0.8").exit_code == 3


UNDECIDED = "Race,Approved,Denied,Withdrawn,{}\nWhite,6138,1013,930,{}\nBlack,1530,502,459,{}\n"
RIGHT_OF = {
    ("Denial rate", "all"): ("12.5%", "20.2%"),
    ("Denial rate", "decided"): ("14.2%", "24.7%"),
    ("Approval rate", "all"): ("76.0%", "61.4%"),
    ("Approval rate", "decided"): ("85.8%", "75.3%"),
    ("Denial rate,Denial ratio", "all"): ("12.5%,1.00", "20.2%,1.61"),
    ("Denial rate,Denial ratio", "decided"): ("14.2%,1.00", "24.7%,1.74"),
}
OTHER_COLUMNS = {
    "two": {"Withdrawn": "Withdrawn,Incomplete", "930": "630,300", "459": "400,59"},
    "loans made": {"Approved": "Originated,Approved not accepted",
                   "6138": "6000,138", "1530": "1500,30"},
    "per cent": {"Withdrawn": "Withdrawn,Withdrawn (%)", "930": "930,12", "459": "459,18"},
}  # fmt: skip


@pytest.mark.parametrize(("header", "base"), RIGHT_OF)
@pytest.mark.parametrize("columns", ["one", *OTHER_COLUMNS])
def test_rates_show_of_whom_they_are_where_no_number_of_people_is_printed(columns, header, base):
    """1013 of 8081 were denied, and 12.5% was an error beside 14.17% of 7151."""
    text = UNDECIDED.format(header, *RIGHT_OF[header, base])
    for old, new in OTHER_COLUMNS.get(columns, {}).items():
        text = text.replace(old, new)
    check = check(text, reference="White", rules="selection_rate.ratio >= 0.85")
    (table,) = check.tables
    assert not table.errors
    people, outcome = ([8081, 2491], "fail") if base == "all" else ([7151, 2032], "pass")
    assert [group.n for group in table.groups] == people
    assert table.groups[1].verdict.outcome == outcome
    unread = [fault["columns"] for fault in table.faults if fault.code == "columns_ignored"]
    assert ("'Withdrawn'" in str(unread)) is (base == "decided")


@pytest.mark.parametrize(
    ("rates", "base", "wrong"),
    [
        (("12.5%", "20.2%", "13.9%"), "all", {3: "100 of 700 + 100 + 50 is 11.76%"}),
        (("14.2%", "20.2%", "12.5%"), "decided", {2: "502 of 1530 + 502 is 24.7%"}),
        (("12.5%", "24.7%", "99.9%"), "decided", {1: "1013 of", 3: "100 of"}),  # one of each
    ],
)
def test_rates_are_wrong_of_the_people_of_whom_more_are_right(rates, base, wrong):
    text = UNDECIDED.format("Denial rate", *rates) + f"Asian,700,100,50,{rates[2]}\n"
    (table,) = check(text).tables
    assert table.groups[0].n == (8081 if base == "all" else 7151)
    assert [error.row[0] for error in table.errors] == [*wrong]
    for error in table.errors:
        assert wrong[error.row[0]] in error.message


def test_a_withheld_number_of_undecided_people_leaves_its_row_open():
    rated = UNDECIDED.format("Denial rate", "12.5%", "20.2%")
    (table,) = check(rated + "Asian,700,100,*,11.8%\n").tables
    assert not table.errors
    assert [group.n for group in table.groups] == [8081, 2491, None]
    of_denials = UNDECIDED.format("Approval rate,Denial ratio", "76.0%,1.00", "61.4%,1.61")
    check = check(of_denials + "Asian,700,*,50,82.4%,0.94\n")  # not 17.6% were denied
    assert (check.errors, check.ratios_not_checked) == (0, 1)


def test_all_people_are_not_held_against_those_decided_alone():
    race = UNDECIDED.format("Denial rate", "{}", "{}")
    both = "\nRace,Sex,Approved,Denied,Withdrawn\nWhite,F,3000,500,400\nWhite,M,3138,513,530\n"
    both += "Black,F,800,300,200\nBlack,M,730,202,259\n"
    of_all = race.format("12.5%", "20.2%") + both
    assert not check(race.format("14.2%", "24.7%") + both).errors
    alone = re.sub(r",(Withdrawn|\d+)$", "", of_all, flags=re.MULTILINE)
    assert not check(alone).errors
    assert not check(of_all).errors
    assert check(of_all.replace(",530", ",531")).errors == 1


@pytest.mark.parametrize(
    ("ratio", "n", "code"), [("0.73", 4750, 1), ("0.93", 5000, 0), ("0.8", 5000, 1)]
)
def test_ratios_alone_show_of_whom_rates_are(ratio, n, code):
    """0.73, which follows from the decisions, was an error beside 0.929 of all, and a PASS."""
    check = neither(",AIR", ",1.00", f",{ratio}")
    assert (check.tables[0].groups[1].n, check.exit_code) == (n, code)
    assert check.errors == (ratio == "0.8")


HIRES = (
    "Sex,Applicants,Hired,Not hired,Selection rate,Impact ratio\n"
    "Female,{},950,1050,47.5%,0.950\nMale,2500,1250,1250,50.0%,1.000\nTotal,{},2200,2300,48.9%,\n"
)


def test_all_people_of_a_table_of_decided_ones_are_checked():
    """950 of 600 applicants were hired, of 99,999 in all, and the check had no error."""
    check = check(HIRES.format(600, 99999))
    parts, total = check.tables[0].errors
    assert parts.message == (
        "950 selected and 1050 not selected are 2,000 people; the number of people is printed "
        "as 600"
    )
    assert total.message.startswith(
        "the total number of people is printed as 99999; its rows add up to 3100"
    )
    assert not check(HIRES.format(2100, 4600)).errors


def test_all_people_of_a_table_of_decided_ones_are_held_against_intersections():
    race = "Race,Applied,Approved,Denied,Rate\nA,{},240,160,60.0%\nB,900,400,400,50.0%\n\n"
    both = "Race,Sex,Applied,Approved\nA,F,300,140\nA,M,200,100\nB,F,450,200\nB,M,450,200\n"
    added = "the number of people is printed as 700; its rows in the table 'Race × Sex' add up to"
    unknown = "such as people of unknown category, one of these numbers is wrong"
    assert not check(race.format(500) + both).errors
    assert [
        fault.message
        for table in check(race.format(700) + both).tables
        for fault in table.errors
    ] == [f"{added} 500; unless that table leaves out 200 or more others, {unknown}"]


@settings(max_examples=80)
@given(st.data())
def test_a_wrong_number_of_people_beside_those_not_selected_is_found(data):
    """Whether the rates are of all people, of those decided, or not printed."""
    rates = data.draw(st.sampled_from(["all", "decided", "none"]))
    total, withdrawn = data.draw(st.booleans()), data.draw(st.booleans())
    rows = [
        [name, 0, data.draw(st.integers(20, 900)), data.draw(st.integers(20, 900))]
        for name in "ABC"[: data.draw(st.integers(2, 3))]
    ]
    for row in rows:
        row[1] = row[2] + row[3] + (data.draw(st.integers(1, 300)) if withdrawn else 0)
    if total:
        rows.append(["Total", *(sum(row[i] for row in rows) for i in (1, 2, 3))])
    decided = [row[2] + row[3] for row in rows]
    of = decided if rates == "decided" else [row[1] for row in rows]

    def table():
        lines = ["group,applied,hired,refused" + ",rate" * (rates != "none")]
        for row, people in zip(rows, of, strict=True):
            rate = [] if rates == "none" else [f"{100 * row[2] / people:.1f}%"]
            lines.append(",".join(map(str, [*row, *rate])))
        return check("\n".join(lines)).tables[0]

    def faults():
        return {(fault.code, fault.row[0]) for fault in table().faults if fault.row}

    assert not table().errors
    before, at = faults(), data.draw(st.integers(0, len(rows) - 1))
    rows[at][1] = data.draw(st.integers(0, 4000).filter(lambda n: n != rows[at][1]))
    if rows[at][1] < decided[at] or total:
        assert table().errors
    elif not withdrawn:
        assert faults() > before


DISPOSITIONS = (
    "Race\tApplications\tOriginated\t{}\tDenied\tWithdrawn\tApproval rate\tDenial rate\n"
    "White\t10000\t7400\t300\t1400\t900\t{}\nBlack\t3000\t1950\t90\t630\t330\t{}\n"
)
OF_DECIDED = ("84.6%\t15.4%", "76.4%\t23.6%")
OF_ALL = ("77.0%\t14.0%", "68.0%\t21.0%")


@pytest.mark.parametrize("columns", [{}, {"not_selected": "Denied"}])
@pytest.mark.parametrize("rates", [OF_DECIDED, OF_ALL])
@pytest.mark.parametrize(
    "header",
    ["Approved not accepted", "Approved, but not accepted", "Approved (not accepted)",
     "Application approved but not accepted"],
)  # fmt: skip
def test_approvals_that_are_not_accepted_are_selected_beside_loans_made(header, rates, columns):
    """They were the number not selected, and 84.6% an error beside 7400 of 9100."""
    (table,) = check(DISPOSITIONS.format(header, *rates), columns=columns).tables
    assert not table.errors
    assert [group.selected for group in table.groups] == [7700, 2040]
    assert [group.n for group in table.groups] == ([9100, 2670] if rates is OF_DECIDED
                                                   else [10000, 3000])  # fmt: skip
    assert table.columns["selected"] == f"Originated + {header}"
    assert table.columns["not_selected"] == "Denied"


@pytest.mark.parametrize("made", [
    "Approved and accepted", "Approved, accepted", "Approved & closed", "Accepted approvals",
])  # fmt: skip
def test_approvals_that_state_that_they_were_accepted_are_loans_made(made):
    """84.6% was called an error beside 7400 of 9100."""
    text = DISPOSITIONS.format("Approved not accepted", *OF_DECIDED).replace("Originated", made)
    (table,) = check(text).tables
    assert not table.errors
    assert [group.selected for group in table.groups] == [7700, 2040]
    assert table.columns["selected"] == f"{made} + Approved not accepted"


def test_rates_of_loans_made_are_of_these_alone():
    text = DISPOSITIONS.format("Approved not accepted", "74.0%\t14.0%", "65.0%\t21.0%")
    (table,) = check(text.replace("Approval rate", "Rate")).tables
    assert not table.errors
    assert [group.selected for group in table.groups] == [7400, 1950]
    assert check(text).errors  # a rate of approvals is of all of them


@pytest.mark.parametrize("cell", ["<10", "-", "n/a", "suppressed"])
def test_withheld_approvals_leave_their_row_open(cell):
    text = 'Race,Applications,Originated,"Approved, not accepted",Denied\n'
    text += f"White,9100,7400,300,1400\nBlack,2670,1950,90,630\nAsian,800,600,{cell},190\n"
    check = check(text, rules="selection_rate.ratio >= 0.8")
    assert not check.errors
    assert (check.verdict, check.exit_code) == ("inconclusive", 3)
    assert [group.selected for group in check.tables[0].groups] == [7700, 2040, None]


def test_requests_for_a_preapproval_are_no_applications():
    text = DISPOSITIONS.format("Approved not accepted", *OF_DECIDED).replace(
        "Withdrawn", "Preapproval request denied"
    )
    (table,) = check(text).tables
    assert not table.errors
    assert table.columns["not_selected"] == "Denied"


def test_apps_are_a_number_of_applications():
    """They were not read, and "the number of people is not printed" was untrue."""
    text = "Race,Apps,Denied,Denial rate,Denial ratio (vs. White)\n"
    text += "White,1000,150,15.0%,1.00\nBlack,500,130,26.0%,1.73\n"
    check = check(text)
    assert (check.errors, check.tables[0].columns["n"]) == (0, "Apps")
    assert [group.n for group in check.tables[0].groups] == [1000, 500]
    assert "not printed" not in str(check)
    assert check(text.replace("26.0%", "62.0%")).errors


@pytest.mark.parametrize("header", ["Decline %", "Decline rate", "Denial %", "% declined"])
def test_shares_of_declined_applications_are_denial_rates(header):
    text = f"Branch,Apps,Declined,{header}\nNorth,1000,150,15.0%\nSouth,500,130,{{}}\n"
    assert not check(text.format("26.0%")).errors
    assert check(text.format("62.0%")).errors


def test_a_table_of_denials_in_other_words_names_their_columns():
    """It named those of selected people alone."""
    text = "Branch,Files,Turned down\nNorth,1000,150\nSouth,500,130\n"
    with pytest.raises(fg.DataError, match="--column not_selected=NAME --column denial_rate=NAME"):
        check(text)
    found = check(text, columns={"n": "Files", "not_selected": "Turned down"})
    assert [group.selected for group in found.tables[0].groups] == [850, 370]
    with pytest.raises(fg.DataError) as caught:
        check(text.replace("Turned down", "Score"))
    assert "not_selected" not in str(caught.value)


@pytest.mark.parametrize(("rate", "rates"), [("Denial", (15.4, 23.6)), ("Approval", (84.6, 76.4))])
def test_decided_people_are_all_where_no_others_are_stated(rate, rates):
    text = f"Race,Decided,Approved,Denied,{rate} rate\n"
    text += "White,9100,7700,1400,{}%\nBlack,2670,2040,630,{}%\n".format(*rates)
    (table,) = check(text).tables
    assert not table.errors
    assert table.columns["n"] == "Decided"
    more = text.replace("Race,", "Race,Applications,")
    more = more.replace("White,", "White,9900,").replace("Black,", "Black,2900,")
    (table,) = check(more).tables
    assert table.columns["n"] == "Approved + Denied, of Applications"  # of whom the rates are
