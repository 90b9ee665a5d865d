"""What a check can and cannot establish: how many numbers it checked, and what must be wrong."""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest
from click.testing import CliRunner
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from stated_headers import check

from fairgauge.cli import main
from fairgauge_check.check_result import FaultCode

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
        .invoke(
            main,
            ["check", "-", "--n=n", "--selected=hired", "--rule", "selection_rate.ratio >= 0.8"],
            input=COUNTS,
        )
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


def test_a_share_is_no_bound_of_a_count():
    text = "group,n,hired\nW,1000,400\nB,100,< 2%\nTotal,1100,450\n"
    assert FaultCode.TOTAL_MISMATCH not in faults(text)


@pytest.mark.parametrize(
    "text",
    [
        "g,n,hired\nA,1000,500\nB,300,70\nC,200,*\nTotal,1500,690\n",
        "g,n,hired\nA,1000,500\nB,300,70\nC,200,*\nTotal,1500,570\n",
        "g,n,hired\nA,1000,500\nB,300,*\nC,200,*\nTotal,1500,690\n",
        "g,n,hired\nA,1000,500\nB,300,70\nC,200,*\nUnknown,90,30\nTotal,1590,690\n",
        "g,n,hired\nA,1000,500\nB,300,70\nC,9,*\nUnknown,90,30\nTotal,1399,608\n",
        "g,n,hired,rate\nA,1000,500,50.0%\nB,50,*,44%\n",
        "g,n,hired\nA,1000,500\nB,300,70\nC,200,-\nTotal,1500,690\n",
    ],
)
def test_a_total_with_a_withheld_count_that_it_allows_is_no_error(text):
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


HEADINGS = (
    "Impact ratio", "AIR", "Four-fifths ratio", "Relative risk", "Denial rate", "% denied",
    "Rejection rate ratio", "Hire rate", "Approval rate", "Scoring rate", "% approved",
    "Approved %", "Share hired", "Not selected", "Non-selected", "Turned down rate", "Loans made",
    "Approved but not accepted", "Approved and accepted", "Apps",
    "Group n", "Odds ratio", "Loan-to-value ratio", "True positive rate", "Preapproval requests",
)  # fmt: skip


APPROVALS = """derived_race,n,approved,{},denied,denial_rate,impact_ratio
White,7817,6992,89.4%,825,10.6%,1.00
Black,1983,1625,82.9%,358,18.1%,0.92
Asian,1049,938,89.4%,111,10.6%,1.00
"""


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


BOTH_BASES = (
    "Race,Applications,Approved,Denied,Rate\nWhite,8000,6100,1200,{}\nBlack,1200,770,330,{}\n"
    "Joint,400,290,90,{}\n"
)
RATES_OF = {"decided": ("83.6%", "70.0%", "76.3%"), "all": ("76.3%", "64.2%", "72.5%")}


NEITHER = (
    "Race,Applications,Approved,Denied,Withdrawn{}\n"
    "White,10000,7000,500,2500{}\nBlack,5000,3250,1500,250{}\n"
)


def neither(header="", white="", black="", **options):
    text = NEITHER.format(header, white, black)
    return check(text, rules="selection_rate.ratio >= 0.8", **options)


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


HIRES = (
    "Sex,Applicants,Hired,Not hired,Selection rate,Impact ratio\n"
    "Female,{},950,1050,47.5%,0.950\nMale,2500,1250,1250,50.0%,1.000\nTotal,{},2200,2300,48.9%,\n"
)


@settings(max_examples=80)
@given(st.data())
def test_a_wrong_number_of_people_beside_those_not_selected_is_found(data):
    """Whether the rates are printed or not."""
    rates = data.draw(st.sampled_from(["all", "none"]))
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
    of = [row[1] for row in rows]

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
