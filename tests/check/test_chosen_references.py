"""The reference where rates are equal, and where the one that is named has few people."""

from __future__ import annotations

import pytest
from stated_headers import HEADERS_OF, check

from fairgauge.enums import Outcome
from fairgauge_check.check_result import Decision, FaultCode

TIED = "group,n,hired\n{},100,40\nB,1000,400\nC,1000,260\n"
SMALL = "group,n,hired\nNative,25,10\nWhite,1457,695\nBlack,390,174\n"


def shown(found):
    return " ".join(str(found).split())


@pytest.mark.parametrize("name", ["A", "Z"])
def test_a_tie_for_the_highest_rate_goes_to_the_largest_category_and_is_noted(name):
    found = check(TIED.format(name), rules="selection_rate.ratio >= 0.8")
    (table,) = found.tables
    groups = {group.name: group for group in table.groups}
    assert table.reference == "B"
    assert groups["C"].verdict.outcome is Outcome.FAIL
    (note,) = [fault for fault in table.faults if fault.code is FaultCode.REFERENCE_TIED]
    assert note.message == (
        f"'B' and '{name}' have the same highest rate, 0.4; ratios compare with 'B', "
        "which has the most people"
    )
    assert table.other_reference.name == name
    assert table.other_reference.changes == ("C",)
    assert f"{name}: the same rate; with it as the reference, the verdict of C" in shown(found)


def test_a_tie_of_equally_many_people_goes_to_the_first_by_name():
    (table,) = check("group,n,hired\nZ,100,40\nA,100,40\nC,100,10\n").tables
    assert table.reference == "A"
    assert [fault["by_people"] for fault in table.faults if fault.code == "reference_tied"] == [
        False
    ]


def test_ties_of_printed_rates_are_noted():
    (table,) = check("group,n,rate\nA,100,40%\nB,1000,40%\nC,1000,26%\n").tables
    assert table.reference == "B"
    assert FaultCode.REFERENCE_TIED in {fault.code for fault in table.faults}
    (table,) = check("group,rate,ratio\nA,40%,1.00\nB,40%,1.00\nC,26%,0.65\n").tables
    assert FaultCode.REFERENCE_TIED in {fault.code for fault in table.faults}


def test_no_tie_is_noted_without_one_nor_with_a_named_reference():
    for text, options in ((SMALL, {}), (TIED.format("A"), {"reference": "A"})):
        (table,) = check(text, **options).tables
        assert FaultCode.REFERENCE_TIED not in {fault.code for fault in table.faults}


def test_a_small_reference_is_not_stated_of_the_categories_that_are_compared_with_it():
    found = check(SMALL, rules="selection_rate.ratio >= 0.8", reference="Native")
    assert found.decisions[Decision.SMALL_REFERENCE] == 2
    assert found.decisions[Decision.BELOW_SHARE] == 0
    assert "2 are compared with a reference of too few people" in shown(found)


def test_another_reference_that_is_too_small_leaves_categories_without_a_verdict():
    found = check(SMALL.replace("25,10", "25,20"), rules="selection_rate.ratio >= 0.8")
    (table,) = found.tables
    assert table.other_reference.name == "Native"
    assert table.other_reference.changes == ()
    assert table.other_reference.not_evaluated == ("Black",)
    assert "Black would not be evaluated, because Native has too few people" in shown(found)
    assert type(found).from_dict(found.to_dict()) == found


LENDING = "race,n,selected,rate,{}\nAsian,2951,2450,83.02%,1.009\nWhite,19000,15628,82.25%,1.000\n"


def test_a_chosen_reference_is_not_called_the_highest_rate():
    """The header of lenders (AIR) means a control group, whatever its rate."""
    found = check(LENDING.format("AIR"), rules="selection_rate.ratio >= 0.8")
    assert (found.errors, found.tables[0].reference) == (0, "White")
    assert "White: the chosen group of the printed ratios" in shown(found)
    assert "the highest rate among" not in shown(found)
    assert not any("allow for the choice" in str(each) for each in found.brief().certainty)
    highest = check(LENDING.format("impact ratio"))
    assert "Asian: the highest rate among categories with at least 2% of the people" in shown(
        highest
    )


AIR = (
    "Race,Applicants,Hires,Rate,{}\nWhite,4000,2000,50.0%,1.00\nBlack,3000,1500,50.0%,1.00\n"
    "Asian,3000,2400,80.0%,{}\nUnknown,0,,,\n"
)
CONTROL = (
    'Race,Applications,Approved,Approval rate,"{}"\nWhite,4120,3502,85.0%,1.00\n'
    "Black,812,585,72.0%,0.85\nAsian,640,557,87.0%,1.02\n"
)
FOUR_FIFTHS = "selection_rate.ratio >= 0.8"


@pytest.mark.parametrize(
    "header",
    ["Ratio to White", "Approval rate ratio to White", "Approval ratio to White", "Ratio vs White",
     "Impact ratio to White", "Disparity ratio to White", "Relative to White",
     "Compared with White", "Ratio (White = 1.00)", "Approval rate ratio (vs. White)",
     "Adverse impact ratio to White", "Adverse impact ratio (AIR)", "AIR (vs. Non-Hispanic White)",
     "Impact ratio to control group", "Impact ratio (reference: White)", "AIR", "air",
     "air_vs_non_hispanic_white", "Impact_ratio_to_control_group",
     "Impact ratio vs. Non-Hispanic White"],
)  # fmt: skip
def test_headers_that_name_the_control_group_mean_a_chosen_group(header):
    found = check(CONTROL.format(header), columns=HEADERS_OF | {"ratio": header})
    (table,) = found.tables
    assert (found.errors, table.reference, table.compares_as_printed) == (0, "White", True)


@pytest.mark.parametrize(
    "header",
    ["Adverse impact ratio", "Impact ratio", "Ratio to highest", "AIR to the highest rate",
     "Impact ratio to White, the most selected"],
)  # fmt: skip
def test_a_reference_that_no_header_names_is_an_error_and_the_option_is_offered(header):
    stated = HEADERS_OF | {"ratio": header}
    (table,) = check(CONTROL.format(header), columns=stated).tables
    (fault,) = table.errors
    assert fault.message == (
        "the reference of the ratios has a rate of 0.85, but 'Asian' has the highest, 0.8703; "
        "if White is the control group, name it: --reference White"
    )
    assert check(CONTROL.format(header), columns=stated, reference="White").errors == 0


TO_ASIAN = (
    'Race,Applicants,Hires,Hire rate,"{}"\nWhite,20000,9000,45.0%,{}\n'
    "Black,10000,4400,44.0%,0.88\nAsian,9000,4500,50.0%,1.00\n"
)


@pytest.mark.parametrize("options", [{}, {"reference": "White"}])
@pytest.mark.parametrize("white", ["0.90", "-"])
@pytest.mark.parametrize(
    "header",
    ["Ratio to White", "Impact ratio vs. White", "Ratio (White = 1.00)", "Ratio to the white",
     "Impact ratio (reference: White)", "AIR vs. Non-Hispanic White"],
)  # fmt: skip
def test_ratios_to_another_category_than_the_one_their_header_names_are_errors(
    header, white, options
):
    """They passed: Asian was called the chosen group that the printed ratios compare with."""
    stated = HEADERS_OF | {"ratio": header}
    found = check(TO_ASIAN.format(header, white), columns=stated, rules=FOUR_FIFTHS, **options)
    (table,) = found.tables
    assert (table.reference, table.printed_reference, found.exit_code) == ("White", "White", 1)
    other, wrong = FaultCode.RATIO_OF_ANOTHER_REFERENCE, FaultCode.RATIO_MISMATCH
    codes = [(fault.code, fault.row[1]) for fault in table.errors]
    assert codes == [(other, "White")] * (white != "-") + [(other, "Black"), (wrong, "Asian")]
    assert "no category has a ratio of 1" not in shown(found)


@pytest.mark.parametrize(
    ("ratio", "fault"),
    [
        ("0.80", FaultCode.RATIO_MISMATCH),
        ("0.79", FaultCode.RATIO_MISMATCH),
        ("0.78", FaultCode.RATIO_OF_ANOTHER_REFERENCE),
    ],
)
def test_a_ratio_to_another_category_is_that_of_the_printed_rates(ratio, fault):
    """0.80 was called the ratio to B: 50% of 64% is 0.78, whatever was rounded."""
    table = "Category,Applicants,Selection Rate,Impact Ratio\nA,280,66%,1.00\nB,260,64%,0.97\n"
    found = check(f"{table}C,300,50%,{ratio}\n")
    assert [each.code for each in found.tables[0].errors] == [fault]


def test_a_header_that_names_no_category_of_the_table_is_held_against_none():
    (table,) = check(TO_ASIAN.format("Ratio to men", "0.90")).tables
    assert (table.printed_reference, table.errors) == ("Asian", ())


def test_another_category_than_that_of_the_printed_ratios_is_named_in_a_note():
    found = check(TO_ASIAN.format("Impact ratio", "0.90"), reference="White")
    assert (found.errors, found.exit_code) == (0, 0)
    assert "The printed ratios compare with 'Asian', not with 'White' as named" in shown(found)
    as_printed = check(TO_ASIAN.format("Impact ratio", "0.90"), reference="Asian")
    assert "as named" in shown(as_printed)
    assert "not with" not in shown(as_printed)


@pytest.mark.parametrize("header", ["AIR", "Ratio to White", "Impact ratio"])
@pytest.mark.parametrize("options", [{"preset": "ugesp"}, {"preset": "nyc-ll144"},
                                     {"config": {"reference": "best"}}])  # fmt: skip
def test_what_asks_for_the_highest_rate_gets_it_whatever_the_header(header, options):
    """It passed, compared with the control group that the header of lenders (AIR) means."""
    found = check(AIR.format(header, "1.60"), **options)
    (table,) = found.tables
    assert (table.reference, table.printed_reference, found.exit_code) == ("Asian", "White", 1)
    assert [fault.code for fault in table.errors] == [FaultCode.REFERENCE_NOT_HIGHEST]
    assert [group.ratio for group in table.groups] == [0.625, 0.625, 1.0]
    assert found.verdict is (Outcome.FAIL if options == {"preset": "ugesp"} else Outcome.NONE)
    assert "the chosen group" not in shown(found).partition("Method")[0]
    (wrong,) = check(AIR.format(header, "1.70"), **options).tables
    assert FaultCode.RATIO_MISMATCH in {fault.code for fault in wrong.errors}


def test_nothing_passes_by_a_control_group_that_would_not_by_the_highest_rate():
    text = AIR.format("AIR", "1.60").replace("1500,50.0%,1.00", "1440,48.0%,0.96")
    found = check(text, rules=FOUR_FIFTHS)
    (table,) = found.tables
    assert (table.reference, found.errors) == ("White", 0)
    assert (found.verdict, found.exit_code) == (Outcome.INCONCLUSIVE, 3)
    assert table.other_reference.changes == ("White", "Black")
    assert (
        "Ratios compare with White, the chosen group of the printed ones; Asian has a higher rate, "
        "and with the highest rate as the reference the verdicts of White and Black would change."
    ) in shown(found)
    assert "the chosen group (--reference White), or the highest rate" in shown(found)
    assert type(found).from_dict(found.to_dict()) == found
    equal = check(AIR.format("AIR", "1.60"), rules=FOUR_FIFTHS)
    assert "with White, one of several that fit the printed ones equally; Asian" in shown(equal)
    assert "the chosen group (--reference White or --reference Black), or the highest" in shown(
        equal
    )
    named = check(text, rules=FOUR_FIFTHS, reference="White")
    assert (named.verdict, named.exit_code) == (Outcome.PASS, 0)
    assert named.tables[0].other_reference is None


def test_people_of_unknown_category_count_by_the_highest_rate_too():
    """Unknown people leave Black open by the highest rate, not by the control group."""
    text = AIR.format("AIR", "1.16").replace("2400,80.0", "1740,58.0").replace("n,0", "n,400")
    found = check(text, rules=FOUR_FIFTHS)
    by_highest = check(text, preset="ugesp")
    assert {each.outcome for each in by_highest.verdicts} == {Outcome.INCONCLUSIVE}
    assert {each.outcome for each in found.verdicts} == {Outcome.PASS}
    assert "Black" in found.tables[0].other_reference.changes
    assert found.verdict is not Outcome.PASS


def test_a_higher_rate_than_that_of_a_control_group_is_stated():
    found = check(AIR.format("AIR", "1.60").replace("1500,50.0%,1.00", "1440,48.0%,0.96"))
    assert (found.errors, found.exit_code) == (0, 0)
    stated = (
        "Ratios compare with White, the chosen group of the printed ones; Asian has a higher rate."
    )
    assert stated in shown(found)
    passed = check(LENDING.format("AIR"), rules=FOUR_FIFTHS)
    assert (passed.verdict, passed.exit_code) == (Outcome.PASS, 0)
    assert stated in shown(passed)
    assert (
        "Asian: a higher rate; with the highest rate as the reference, no verdict would change"
        in (shown(passed))
    )
    lower = check(LENDING.replace("2450,83.02%,1.009", "2400,81.33%,0.989").format("AIR"))
    assert lower.tables[0].other_reference is None
    assert "a higher rate" not in shown(lower)


def test_a_small_reference_is_not_said_to_be_large():
    found = check("g,n,hired\nA,15,10\nB,10,4\n")
    assert found.tables[0].reference == "A"
    assert "A: one of the smaller categories, because none with a rate has at least" in shown(found)


BY_PURPOSE = (
    "{},Race,Applications,Approvals,Approval rate,AIR\nPurchase,White,1000,900,90%,1.00\n"
    "Purchase,Black,200,160,80%,{}\nRefinance,White,800,600,75%,1.00\n"
    "Refinance,Black,150,90,60%,.80\n"
)


BY_JOB = (
    "{},Sex,Applicants,Hired,Rate,Impact ratio\nCashier,Men,2000,800,40.0%,1.00\n"
    "Cashier,Women,2100,819,39.0%,{}\nPicker,Men,1500,300,20.0%,{}\n"
    "Picker,Women,1400,266,19.0%,{}\nDriver,Men,900,450,50.0%,{}\nDriver,Women,400,190,47.5%,{}\n"
)
WITHIN = [".97", "1.00", ".95", "1.00", ".95"]
OF_ALL = [".78", ".40", ".38", "1.00", ".95"]


@pytest.mark.parametrize("at", range(5))
@pytest.mark.parametrize("wrong", [".30", ".95", "1.00"])
def test_one_ratio_that_is_wrong_for_the_reference_of_all_jobs_splits_no_table(at, wrong):
    first = BY_JOB.replace("40.0%,1.00", "40.0%,.80")
    found = check(first.format("Job", *OF_ALL[:at], wrong, *OF_ALL[at + 1 :]))
    assert len(found.tables) == 1
    assert bool(found.errors) == (wrong != OF_ALL[at])


def test_a_table_of_products_whose_ratios_have_one_reference_stays_one_table():
    text = BY_PURPOSE.format("Purpose", ".89").replace("75%,1.00", "75%,.83").replace(".80", ".67")
    found = check(text)
    assert (len(found.tables), found.errors) == (1, 0)


EQUAL = (
    "Race,Applications,Approved,{}\nWhite,8000,6960,{}\nAsian,900,784,1.00\nBlack,2000,1580,0.91\n"
)
NOT_SHOWN = (
    "As their reference 'White' and 'Asian' fit the printed ratios equally; 'White', which has the "
    "most people, is taken; if it is another, name it: --reference Asian."
)


@pytest.mark.parametrize("white", ["1.00", "-"])
def test_a_reference_that_the_printed_ratios_do_not_show_is_not_stated_as_theirs(white):
    """Asian was called the chosen group, though all ratios are right to White as well."""
    found = check(EQUAL.format("AIR", white))
    (table,) = found.tables
    assert (table.reference, table.printed_reference, found.exit_code) == ("White", "White", 0)
    assert NOT_SHOWN in shown(found)
    assert "White: one of White and Asian, which fit the printed ratios equally" in shown(found)
    assert "the chosen group" not in shown(found).partition("Method")[0]
    assert type(found).from_dict(found.to_dict()) == found


@pytest.mark.parametrize(
    ("header", "options", "reference"),
    [
        ("AIR", {"reference": "Asian"}, "Asian"),
        ("AIR", {"reference": "White"}, "White"),
        ("Ratio to White", {}, "White"),
        ("Ratio to Asian", {}, "Asian"),
        ("AIR", {"preset": "ugesp"}, "Asian"),
        ("Impact ratio", {}, "Asian"),
    ],
)
def test_a_reference_that_is_named_or_that_of_the_highest_rate_is_open_to_no_other(
    header, options, reference
):
    found = check(EQUAL.format(header, "1.00"), **options)
    (table,) = found.tables
    assert (table.reference, table.printed_reference) == (reference, reference)
    assert (found.exit_code, "fit the printed" in shown(found).partition("Method")[0]) == (0, False)


def test_a_named_reference_beside_others_that_fit_the_ratios_equally_is_no_error():
    found = check(EQUAL.format("AIR", "1.00"), reference="Black")
    assert (found.errors, found.tables[0].reference) == (0, "Black")
    assert NOT_SHOWN in shown(found)


def test_people_of_unknown_category_stay_the_reason_of_a_verdict_of_an_open_reference():
    text = EQUAL.format("AIR", "1.00") + "Unknown,400,,\n"
    found = check(text, rules=FOUR_FIFTHS)
    assert {str(each.reason.code) for each in found.verdicts} == {"missing_groups"}


def test_a_category_of_few_people_is_no_reference_that_the_ratios_may_have():
    found = check(EQUAL.replace("900,784", "15,13").format("AIR", "1.00"))
    assert "White: the chosen group of the printed ratios" in shown(found)


@pytest.mark.parametrize(("limit", "to_white"), [(0.88, "pass"), (0.935, "fail")])
def test_a_verdict_that_depends_on_which_reference_the_ratios_have_is_inconclusive(limit, to_white):
    rule, text = f"selection_rate.ratio >= {limit}", EQUAL.format("AIR", "1.00")
    (_, _, to_asian) = check(text, rules=rule, reference="Asian").tables[0].groups
    (_, _, black) = check(text, rules=rule, reference="White").tables[0].groups
    assert [str(each.verdict.outcome) for each in (black, to_asian)] == [to_white, "inconclusive"]
    found = check(text, rules=rule)
    assert (found.verdict, found.exit_code) == (Outcome.INCONCLUSIVE, 3)
    assert found.tables[0].groups[2].decision is Decision.INCONCLUSIVE
    means = {"pass": "passes", "fail": "fails"}[to_white]
    assert f"the ratio to White {means}, that to Asian is inconclusive" in shown(found)
    assert "(--reference White) or another (--reference Asian)" in shown(found)
    assert type(found).from_dict(found.to_dict()) == found
