"""What follows from printed numbers: rates, totals, ratios, margins, and how many were checked."""

import numpy as np
import pytest
from stated_headers import check
from tests.needs import EVERY_CASE

from fairgauge.errors import DataError
from fairgauge_check.check_result import FaultCode

CROSSED = "sex,race,n,hired\nM,A,50,20\nM,B,50,30\nF,A,40,10\nF,B,60,30\n"
LIMIT = "selection_rate.ratio >= 0.8"
TABLE = "group,n,hired,rate,ratio\nA,1000,500,50.0%,1.000\nB,800,320,40.0%,0.800\n"
TABLE += "C,700,315,45.0%,0.900\n"


def errors(text, **options):
    return [(f.code, f.row and f.row[0]) for t in check(text, **options).tables for f in t.errors]


def faults(text):
    return {fault.code: fault for table in check(text).tables for fault in table.faults}


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("group,n,hired\nA,1000,500\nB,1000,480\n", 0),
        ("group,n,rate\nA,1000,50%\nB,900,40%\n", 0),
        ("group,n,hired,rate\nA,10,5,50%\nB,10,4,40%\n", 2),
        ("group,rate,ratio\nA,50%,1.00\nB,40%,0.80\n", 1),
        ("group,n,hired\nA,1000,500\nB,1000,480\nTotal,2000,980\n", 2),
        (f"sex,n,hired\nM,100,50\nF,100,40\n\n{CROSSED}", 4),
    ],
)  # fmt: skip
def test_the_numbers_that_were_checked_are_counted(text, numbers):
    found = check(text)
    assert (found.errors, found.numbers_checked) == (0, numbers)
    assert found.exit_code == (0 if numbers else 3)  # that there is no error means nothing
    assert type(found).from_dict(found.to_dict()) == found


def test_a_reference_that_has_not_the_highest_rate_is_an_error_unless_a_small_one_has_it():
    text = "group,n,hired,ratio\nA,1000,500,1.250\nB,800,320,1.000\nC,700,315,1.125\n"
    assert errors(text) == [(FaultCode.REFERENCE_NOT_HIGHEST, 2)]
    assert errors(text, reference="B") == []
    small = "group,n,hired,ratio\nA,10,8,1.000\nB,900,300,0.417\nC,800,200,0.313\n"
    assert errors(small) == []


def test_ratios_to_the_rate_of_all_have_a_wrong_reference():
    text = "Sex,Applicants,Selected,Rate,Impact ratio\nFemale,1702,520,30.6%,0.892\n"
    text += "Male,1775,671,37.8%,1.104\nTotal,3477,1191,34.3%,1.000\n"
    assert errors(text) == [(FaultCode.REFERENCE_NOT_HIGHEST, 3)]


def test_of_two_ratios_of_1_the_one_is_the_reference_that_the_others_compare_with():
    rows = ["A,6382,4978,1.00", "B,1000,783,1.00"]
    rows += [f"C{i},1000,{600 + i},{(600 + i) / 780.0065:.3f}" for i in range(5)]
    (table,) = check("\n".join(["group,n,selected,AIR", *rows])).tables
    errors = [fault.code for fault in table.errors]
    assert (table.printed_reference, errors) == ("A", [FaultCode.REFERENCE_NOT_HIGHEST])


@pytest.mark.parametrize("male", ["1.003", "0.99", "1.01"])
def test_of_two_ratios_one_shows_that_the_other_is_the_references_own(male):
    text = "sex,n,hired,rate,ratio\nFemale,2248,698,31.0%,0.849\nMale,2454,898,36.6%,{}\n"
    assert errors(text.format(male)) == [(FaultCode.RATIO_MISMATCH, 2)]


@pytest.mark.parametrize("rules", [None, "selection_rate.ratio >= 0.5"])
def test_ratios_that_cannot_be_checked_are_counted_and_nothing_passes_beside_them(rules):
    text = "sex,n,hired,rate,ratio\nFemale,2248,698,31.0%,0.887\nMale,2454,898,36.6%,1.046\n"
    found = check(text, rules=rules)
    assert (found.errors, found.ratios_not_checked, found.exit_code) == (0, 2, 3)


@pytest.mark.parametrize(("printed", "wrong"), [("0.90", False), ("0.91", False), ("0.94", True)])
def test_ratios_of_printed_rates_alone(printed, wrong):
    assert bool(errors(f"group,rate,ratio\nMale,52%,1.00\nFemale,47%,{printed}\n")) is wrong


@pytest.mark.parametrize("printed", [True, False])
@pytest.mark.parametrize("seed", range(40 if EVERY_CASE else 12))
def test_ratios_are_right_whichever_cell_of_one_row_is_withheld(seed, printed):
    """Of the counts and of the printed rates; what neither of them gives is still an error."""
    rng = np.random.default_rng(seed)
    k, places = int(rng.integers(2, 6)), seed % 2
    n = rng.integers(30, 900, k)
    selected = np.round(n * rng.uniform(0.2, 0.95, k)).astype(int)
    rates = [f"{100 * x / m:.{places}f}" for x, m in zip(selected, n, strict=True)]
    best = int(np.argmax(selected / n))
    exact = np.array([float(rate) for rate in rates]) if printed else selected / n
    ratios = exact / exact[best]
    rows = [[name, n[i], selected[i], f"{rates[i]}%", f"{ratios[i]:.4f}"]
            for i, name in enumerate("ABCDE"[:k])]  # fmt: skip
    rows[rng.integers(k)][int(rng.integers(1, 4))] = "*"

    def found():
        text = "\n".join(
            ",".join(map(str, row)) for row in [["g", "n", "hired", "rate", "AIR"], *rows]
        )
        return {code for code, _ in errors(text)} | {*faults(text)} & {FaultCode.RATIOS_NOT_CHECKED}

    assert found() == set()
    other = (best + 1) % k
    rows[other][-1] = f"{ratios[other] * (0.75, 0.97)[places]:.4f}"
    assert found() & {FaultCode.RATIO_MISMATCH, FaultCode.RATIOS_NOT_CHECKED}


@pytest.mark.parametrize(
    ("rows", "total", "wrong"),
    [
        ("A,480,100\nB,75,20\n", "555,120", False),
        ("A,480,100\nB,75,20\n", "556,120", True),
        ("A,480,100\nB,75,20\nUnknown,30,\n", "555,120", False),
        ("A,480,100\nB,75,20\nUnknown,30,\n", "585,120", False),
        ("A,480,100\nB,75,20\nUnknown,30,\n", "570,120", True),
        ("A,480,100\nB,75,*\n", "555,170", False),
        ("A,480,100\nB,75,*\n", "555,180", True),
        ("A,480,100\nB,*,*\n", "500,110", False),
        ("A,480,100\nB,*,*\n", "470,110", True),
    ],
)
def test_totals_are_those_that_their_rows_allow(rows, total, wrong):
    found = faults(f"group,n,hired\n{rows}Total,{total}\n")
    assert (FaultCode.TOTAL_MISMATCH in found) is wrong
    assert (FaultCode.TOTAL_NOT_CHECKED in found) is ("*,*" in rows)


NAMED = "group,n,hired\nM & A,50,20\nM & B,50,30\nF & A,40,10\nF & B,60,30\n"


@pytest.mark.parametrize("crossed", [CROSSED, NAMED])
@pytest.mark.parametrize(
    ("sex", "more", "wrong"),
    [
        ("M,100,50\nF,100,40\n", "", []),
        ("M,101,50\nF,100,40\n", "", [1]),
        ("M,99,50\nF,100,40\n", "", [1]),
        ("M,104,50\nF,100,40\n", "Unknown{},5,\n", []),
        ("M,106,50\nF,100,40\n", "Unknown{},5,\n", [1]),
    ],
)
def test_margins_are_the_sums_of_their_intersections(crossed, sex, more, wrong):
    more = more.format(",Unknown" if crossed is CROSSED else "")
    found = errors(f"sex,n,hired\n{sex}\n{crossed}{more}")
    assert found == [(FaultCode.MARGIN_MISMATCH, row) for row in wrong]


def test_intersections_that_lack_a_row_or_are_of_other_categories_are_no_error():
    sex = "sex,n,hired\nM,100,50\nF,100,40\n\n"
    assert errors(sex + CROSSED.replace("F,B,60,30\n", "")) == []
    assert errors("age,n,hired\n-40,999,400\n40+,90,30\n\n" + CROSSED) == []


TWO = "Category,Applicants,Selected,Rate,Impact ratio\nM,2319,1720,74.2%,1.000\n"
TWO += "N,2041,1514,74.2%,1.000\n"


@pytest.mark.parametrize(
    "more",
    ["F,900,*,*,*\n", "F,9,*,*,*\n", "F,*,*,*,*\n", "F,9,3,33.3%,0.449\n",
     "F,1848,see note,see note,0.9\n", f"\n{TWO.splitlines()[0]}\nF,1848,499,27.0%,0.964\n"],
)  # fmt: skip
def test_a_ratio_without_a_verdict_is_undecided(more):
    found = check(TWO + more, rules=LIMIT)
    assert (str(found.verdict), found.exit_code) == ("inconclusive", 3)
    empty = check(f"{TWO}F,0,0,-,-\n", rules=LIMIT)
    assert (str(empty.verdict), empty.exit_code) == ("pass", 0)


def test_tables_below_one_header_are_refused_with_what_to_do():
    text = """Category,Applicants,Selected,Rate,Impact Ratio
Sex,,,,
Male,1679,745,44.4%,1.00
Female,1156,465,40.2%,0.91
Race,,,,
White,1374,616,44.8%,1.00
Black,549,182,33.2%,0.74
"""
    with pytest.raises(DataError, match=r"such as 'Sex'; .* below a header of its own"):
        check(text)
    apart = text.replace("Sex,,,,\n", "").replace("Race,,,,", f"\n{text.splitlines()[0]}")
    assert ([len(each.groups) for each in check(apart).tables], errors(apart)) == ([2, 2], [])


def test_an_answer_beside_people_of_unknown_category_is_a_category():
    text = "Sex,Applicants,Selected,Rate,Ratio\nFemale,400,120,30%,0.75\nMale,400,160,40%,1.00\n"
    text += "Decline to answer,200,60,30%,0.75\n"
    assert check(text).ratios_not_checked == 1
    (table,) = check(f"{text}Unknown,50,-,-,-\n", rules="selection_rate.ratio >= 0.5").tables
    assert (table.errors, table.unknown) == ((), 50)
    assert [group.name for group in table.groups] == ["Female", "Male", "Decline to answer"]


def test_nothing_passes_beside_a_total_of_more_people_than_the_rows_have():
    """Six hundred people stood in the total alone, and every ratio passed."""
    text = "group,n,hired\nA,1000,500\nB,1000,480\nTotal,{},980\n"
    found = check(text.format(2600), rules=LIMIT)
    assert (found.exit_code, str(found.verdict), "PASS" in str(found)) == (1, "inconclusive", False)
    assert str(check(text.format(2000), rules=LIMIT).verdict) == "pass"
