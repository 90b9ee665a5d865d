"""Ratios, intervals, tests and bounds of published tables: worked numbers from the sources."""

from __future__ import annotations

from decimal import Decimal
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from stated_headers import check

import fairgauge as fg
from fairgauge.enums import IntervalMethod, Outcome
from fairgauge.render import render
from fairgauge.stats.significance import chi_square_p, fisher
from fairgauge.stats.unknown_people import ratio_bounds

NEW_YORK = """sex,race,applicants,selected
Male,Hispanic,205,90
Male,White,412,215
Male,Black,226,95
Male,NHPI,87,37
Male,Asian,321,167
Male,AIAN,24,11
Male,Two or more,115,52
Female,Hispanic,190,82
Female,White,385,197
Female,Black,164,75
Female,NHPI,32,15
Female,Asian,295,135
Female,AIAN,17,7
Female,Two or more,98,44
"""


def groups(text, **options):
    (table,) = check(text, **options).tables
    return {group.name: group for group in table.groups}


@pytest.mark.parametrize(
    ("name", "ratio", "low", "high"),
    [
        ("Male & Black", 0.806, 0.671, 0.959),
        ("Female & AIAN", 0.789, 0.412, 1.241),
        ("Male & Asian", 0.997, None, None),
    ],
)
def test_new_yorks_example(name, ratio, low, high):
    """6 RCNY 5-301, the worked example of the rule."""
    found = groups(NEW_YORK)[name]
    assert found.ratio == pytest.approx(ratio, abs=5e-4)
    if low is not None:
        assert tuple(found.interval) == pytest.approx((low, high), abs=5e-4)


def test_the_four_fifths_cases_of_the_uniform_guidelines():
    """29 CFR 1607.4 D and its questions and answers 21 and 22."""
    large = groups("group,n,hired\nA,80,48\nB,40,12\n", rules="selection_rate.ratio >= 0.8")["B"]
    assert large.ratio == pytest.approx(0.5)
    assert large.p_value == pytest.approx(0.0034, abs=5e-5)
    assert tuple(large.interval) == pytest.approx((0.295, 0.795), abs=5e-4)
    assert large.verdict.outcome is Outcome.FAIL
    assert large.flips is False
    small = groups("group,n,hired\nA,20,3\nB,10,1\n", rules="selection_rate.ratio >= 0.8")["B"]
    assert small.ratio == pytest.approx(0.667, abs=5e-4)
    assert small.p_value == 1.0
    assert small.verdict.outcome is Outcome.NOT_EVALUATED
    assert small.flips is True


def test_fisher_agrees_with_scipy():
    rng = np.random.default_rng(5)
    for _ in range(50):
        n1, n2 = rng.integers(1, 60, 2)
        x1, x2 = rng.integers(0, n1 + 1), rng.integers(0, n2 + 1)
        expected = stats.fisher_exact([[x1, n1 - x1], [x2, n2 - x2]]).pvalue
        assert fisher(x1, n1, x2, n2) == pytest.approx(expected)


def places(people, categories):
    """Yield every way to put people into categories."""
    return (each for each in product(range(people + 1), repeat=categories) if sum(each) == people)


def ratios_anywhere(selected, n, unknown, chosen, fewest=0):
    """Return the extreme ratios over every place and outcome of the unknown, by enumeration."""
    found = []
    for k in [chosen] if chosen is not None else range(unknown + 1):
        for yes, no in product(places(k, len(n)), places(unknown - k, len(n))):
            people = np.add(n, yes) + no
            rates = np.add(selected, yes) / people
            highest = rates[people >= min(fewest, people.max())].max()
            if highest > 0:
                found.append(rates / highest)
    return np.min(found, axis=0), np.max(found, axis=0)


@pytest.mark.parametrize("seed", range(12))
def test_bounds_hold_wherever_the_unknown_belong(seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(3, 30, rng.integers(2, 4))
    selected = rng.integers(1, n + 1)
    unknown = int(rng.integers(0, 5))
    chosen = None if seed % 2 else int(rng.integers(0, unknown + 1))
    low, high = ratio_bounds(selected, n, unknown, chosen)
    least, most = ratios_anywhere(selected, n, unknown, chosen)
    assert (low <= least + 1e-9).all()
    assert (high >= most - 1e-9).all()
    # people may be split between categories: no more than one person away
    step = 2 / n.min()
    assert (least - low <= step).all()
    assert (high - most <= step).all()


@pytest.mark.parametrize("seed", range(150))
def test_bounds_hold_where_the_unknown_make_a_category_large_enough_for_the_highest_rate(seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(2, 14, rng.integers(2, 4))
    selected = rng.integers(1, n + 1)
    unknown, fewest = int(rng.integers(1, 5)), int(rng.integers(4, 16))
    chosen = None if seed % 2 else int(rng.integers(0, unknown + 1))
    low, high = ratio_bounds(selected, n, unknown, chosen, fewest)
    least, most = ratios_anywhere(selected, n, unknown, chosen, fewest)
    assert (low <= least + 1e-9).all()
    assert (high >= most - 1e-9).all()
    if chosen is None and (n >= fewest).any():
        step = 2 / n.min()
        assert (least - low <= step).all()
        assert (high - most <= step * np.maximum(most, 1)).all()


def test_a_category_of_few_people_may_be_the_reference_with_those_of_unknown_category():
    found = groups("group,n,hired\nA,100,40\nB,15,14\nUnknown,10,\n")
    assert found["A"].possible[0] == pytest.approx((40 / 105) / (19 / 20), abs=0.01)
    assert groups("group,n,hired\nA,12,10\nB,15,5\n")["A"].possible is None


def test_no_unknown_people_leave_the_ratios_as_they_are():
    low, high = ratio_bounds([60, 40, 10], [100, 100, 50], 0)
    np.testing.assert_allclose(low, high)
    np.testing.assert_allclose(low, [1, 2 / 3, 1 / 3])


def test_people_of_unknown_category_bound_every_ratio():
    text = NEW_YORK + "Unknown,Unknown,250,\n"
    found = groups(text)
    for group in found.values():
        if group.name != "Unknown & Unknown":
            low, high = group.possible
            assert low <= min(group.ratio, 1) <= high
    assert found["Male & Black"].possible[0] < 0.8


def test_the_limit_gives_three_outcomes_and_a_clean_table_exits_with_0():
    text = "group,n,hired\nA,1000,500\nB,1000,480\nC,1000,300\nD,100,41\n"
    found = groups(text, rules="selection_rate.ratio >= 0.8")
    outcomes = {name: group.verdict and group.verdict.outcome for name, group in found.items()}
    assert outcomes == {
        "A": None,
        "B": Outcome.PASS,
        "C": Outcome.FAIL,
        "D": Outcome.INCONCLUSIVE,
    }


def test_a_small_category_is_never_the_reference_and_the_table_says_what_it_would_change():
    text = "group,n,hired\nA,5000,2500\nB,4000,1800\nC,60,48\n"
    (table,) = check(text, rules="selection_rate.ratio >= 0.8").tables
    assert table.reference == "A"
    assert (table.other_reference.name, table.other_reference.not_evaluated) == ("C", ("B",))
    shown = " ".join(str(check(text, rules="selection_rate.ratio >= 0.8")).split())
    assert "C: a higher rate; with it as the reference, B would not be" in shown
    printed = "group,n,hired,ratio\nA,5000,2500,1.11\nB,4000,1800,1\n"
    assert "B: the reference of the printed ratios" in " ".join(str(check(printed)).split())


def test_a_specification_file_is_shared_with_audits(tmp_path):
    (tmp_path / "audit.toml").write_text(
        'label = "y"\nsensitive = "sex"\nrules = ["selection_rate.ratio >= 0.8"]\n'
        "min_n = 50\nmin_share = 0.1\nconfidence = 0.9\n"
    )
    text = "group,n,hired\nA,80,48\nB,40,12\n"
    found = check(text, config=tmp_path / "audit.toml")
    asked = {"min_n": 50, "min_share": 0.1, "confidence": 0.9}
    assert found.to_dict() == found.to_dict() | {"limit": 0.8, "min_n": 50, "min_share": 0.1}
    assert found.tables == check(text, rules="selection_rate.ratio >= 0.8", **asked).tables
    assert check(text, config=tmp_path / "audit.toml", min_n=20).smallest_reference.people == 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rules": "selection_rate.ratio <= 0.8"}, "rules: published tables decide one rule"),
        ({"rules": "accuracy >= 0.8"}, "rules: published tables decide one rule"),
        ({"rules": ["selection_rate.ratio >= 0.8", "selection_rate.ratio >= 0.7"]}, "one rule"),
        ({"min_share": 1}, "min_share: must be a number between 0 and 1, not 1"),
        ({"min_n": 0}, "min_n: must be a whole number"),
        ({"confidence": 95}, "confidence: must be a number between 0 and 1, not 95"),
        ({"config": {"min_shaer": 0.1}}, "min_shaer: unknown option. Did you mean 'min_share'"),
        ({"columns": {"applicants": "n"}}, "unknown role"),
    ],
)
def test_options_out_of_range_are_named(options, message):
    with pytest.raises(fg.SpecError, match=message):
        check(NEW_YORK, **options)


def test_a_verdict_never_contradicts_the_interval_that_is_shown():
    text = "group,n,hired\nA,400,200\nB,400,145\nC,400,190\nD,400,197\nE,400,193\n"
    found = groups(text, rules="selection_rate.ratio >= 0.8")
    for group in found.values():
        if group.verdict is not None:
            low, high = group.deciding
            assert low <= group.interval.low <= group.interval.high <= high
            expected = Outcome.PASS if low >= 0.8 else Outcome.FAIL if high < 0.8 else None
            assert group.verdict.outcome is (expected or Outcome.INCONCLUSIVE)
    assert f"{found['C'].deciding.low:.3f} to" in str(
        check(text, rules="selection_rate.ratio >= 0.8")
    )


def test_a_category_that_stands_twice_is_not_called_the_reference():
    found = check("group,n,hired\nA,100,45\nB,100,64\nB,100,40\n").tables[0].groups
    assert [group.is_reference for group in found] == [False, True, False]
    assert found[2].ratio is None


def test_rates_without_counts_have_ratios_and_no_interval():
    found = check(
        "Category  Scoring Rate\nMale  52%\nFemale  30%\n", rules="selection_rate.ratio >= 0.8"
    )
    (table,) = found.tables
    assert table.groups[1].ratio == pytest.approx(0.30 / 0.52)
    assert table.groups[1].interval is None
    assert found.verdict is Outcome.INCONCLUSIVE
    shown = " ".join(str(found).split())
    assert "decided by the limit: the number of people is not printed." in shown
    assert "NO VERDICT WITHOUT COUNTS" in shown
    assert "INCONCLUSIVE" not in shown
    assert "Male: the highest rate that is printed" in shown
    assert "at least 20 people" not in shown


def test_what_is_possible_holds_the_ratio_of_a_category_too_small_to_be_the_reference():
    text = "group,n,hired\nA,5000,2500\nB,4000,1800\nC,60,48\nUnknown,100,\n"
    found = groups(text)
    low, high = found["C"].possible
    assert low < found["C"].ratio < high
    assert found["A"].possible[1] == 1.0


def test_nobody_selected_gives_no_ratio_and_no_false_reason():
    found = check("group,n,hired\nA,80,0\nB,40,0\n", rules="selection_rate.ratio >= 0.8")
    assert [group.ratio for group in found.tables[0].groups] == [None, None]
    assert "decided by the limit: every rate is 0." in " ".join(str(found).split())


def test_the_reference_is_described_with_both_minimums():
    found = check("group,n,hired\nA,80,48\nB,40,12\nC,3,3\n")
    assert found.tables[0].reference == "A"
    assert "at least 2% of the people and at least 20 people" in " ".join(str(found).split())


def test_the_highest_rate_is_the_reference_where_there_are_no_counts():
    (table,) = check("Category  Scoring Rate\nMale  52%\nFemale  30%\n").tables
    assert [group.is_reference for group in table.groups] == [True, False]
    assert [group.rate for group in table.groups] == [0.52, 0.3]  # as printed


LENDING = {
    "race": """race,applicants,approved
White,14461,13142
Black,1337,1065
Asian,1286,1224
Native American,94,81
""",
    "ethnicity": "ethnicity,applicants,approved\nNon-Hispanic,15175,13943\nHispanic,2032,1593\n",
    "sex": "sex,applicants,approved\nMale,6497,5806\nFemale,4222,3719\n",
}


@pytest.mark.parametrize(
    ("table", "name", "reference", "test", "ratio", "p"),
    [
        ("race", "Black", "White", "yates", ".876506", "1.2426e-38"),
        ("race", "Asian", "White", "fisher", "1.047315", "2.3895e-08"),
        ("race", "Native American", "White", "fisher", ".948187", ".146779"),
        ("ethnicity", "Hispanic", "Non-Hispanic", "yates", ".853227", "1.7262e-82"),
        ("sex", "Female", "Male", "yates", ".985698", ".0430065"),
    ],
)
def test_lending_against_a_named_reference(table, name, reference, test, ratio, p):
    """A sample of HMDA applications, to the printed digits: Yates, or Fisher of small cells."""
    found = groups(LENDING[table], reference=reference, test=test)[name]
    assert Decimal(f"{found.ratio:.6f}") == Decimal(ratio)
    digits = len(Decimal(p).as_tuple().digits)
    assert Decimal(f"{found.p_value:.{digits - 1}e}") == Decimal(p)


def test_pearsons_test_is_the_chi_square_of_the_guidelines():
    """Chi-square 9.60 of 48 of 80 against 12 of 40."""
    found = groups("group,n,hired\nA,80,48\nB,40,12\n", test="pearson")["B"]
    assert found.p_value == pytest.approx(stats.chi2.sf(9.60, 1))


@given(st.lists(st.integers(0, 60), min_size=4, max_size=4))
def test_chi_square_agrees_with_scipy(cells):
    a, b, c, d = cells
    ours = [chi_square_p(a, a + b, c, c + d, continuity=each) for each in (False, True)]
    if min(a + b, c + d) == 0:
        assert np.isnan(ours).all()
    elif min(a + c, b + d) == 0:
        assert ours == [1.0, 1.0]
    else:
        theirs = [stats.chi2_contingency([[a, b], [c, d]], correction=y)[1] for y in (False, True)]
        assert ours == pytest.approx(theirs)


def test_a_named_reference_is_compared_with_and_is_no_fault():
    text = "race,n,hired,ratio\nWhite,400,200,1.000\nBlack,300,120,0.800\nAsian,300,180,1.200\n"
    (unasked,) = check(text).tables
    assert "reference_not_highest" in [str(fault.code) for fault in unasked.faults]
    found = check(text, reference="White", rules="selection_rate.ratio >= 0.8")
    (table,) = found.tables
    assert (table.reference, table.other_reference) == ("White", None)
    assert [str(fault.code) for fault in table.faults] == ["unknown_not_stated"]
    assert [round(group.ratio, 3) for group in table.groups] == [1.0, 0.8, 1.2]
    asian = table.groups[2]
    assert asian.verdict.outcome is Outcome.PASS
    assert tuple(asian.verdict.interval) == tuple(asian.interval)  # no choice to allow for
    assert "White: as named" in str(found)


def test_of_several_tables_each_takes_the_reference_that_it_has():
    text = "\n".join(LENDING.values())
    found = check(text, reference=["White", "Male"], test="yates")
    assert [table.reference for table in found.tables] == ["White", "Non-Hispanic", "Male"]
    assert "continuity correction" in render(found, full=True)
    assert found.to_dict()["test"] == "yates"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reference": "Whit"}, "reference: no table has counts of a category 'Whit'. Did you me"),
        ({"test": "z"}, "test: 'z' is not allowed. Use fisher, pearson or yates"),
    ],
)
def test_references_and_tests_that_are_not_there(options, message):
    with pytest.raises(fg.SpecError, match=message):
        check(LENDING["race"], **options)


def test_ratios_without_anybody_selected_or_any_other_category():
    low, high = ratio_bounds([0, 0], [10, 20], 0)
    assert np.isnan([*low, *high]).all()
    assert [side.tolist() for side in ratio_bounds([5], [10], 3)] == [[1.0], [1.0]]
    low, high = ratio_bounds([0, 0], [10, 20], 5)  # all of the unknown may be selected, of either
    assert (low.tolist(), high.tolist()) == ([0.0, 0.0], [1.0, 1.0])


def test_the_interval_of_rates_far_apart_in_small_categories_is_named():
    found = check("group,n,hired\nA,40,36\nB,40,8\n")
    assert found.tables[0].groups[1].interval.methods == (IntervalMethod.SCORE,)
    method = " ".join(render(found, full=True).partition("Method")[2].split())
    assert "more than 0.5 apart with fewer than 50 people on a side, skewness-corrected" in method
