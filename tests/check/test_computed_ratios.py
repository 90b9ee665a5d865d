"""Ratios, intervals and tests of published tables: worked numbers from the sources."""

import numpy as np
import pytest
from stated_headers import check

import fairgauge as fg
from fairgauge.enums import Outcome
from fairgauge_check.check_result import FaultCode

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
LIMIT = "selection_rate.ratio >= 0.8"


def groups(text, **options):
    (table,) = check(text, **options).tables
    return {group.name: group for group in table.groups}


@pytest.mark.parametrize(
    ("name", "ratio", "low", "high"),
    [("Male & Black", 0.806, 0.671, 0.959), ("Female & AIAN", 0.789, 0.412, 1.241)],
)
def test_new_yorks_example(name, ratio, low, high):
    """6 RCNY 5-301, the worked example of the rule."""
    found = groups(NEW_YORK)[name]
    assert found.ratio == pytest.approx(ratio, abs=5e-4)
    assert tuple(found.interval) == pytest.approx((low, high), abs=5e-4)


def test_the_four_fifths_cases_of_the_uniform_guidelines():
    """29 CFR 1607.4 D and its questions and answers 21 and 22."""
    large = groups("group,n,hired\nA,80,48\nB,40,12\n", rules=LIMIT)["B"]
    assert large.ratio == pytest.approx(0.5)
    assert large.p_value == pytest.approx(0.0034, abs=5e-5)
    assert tuple(large.interval) == pytest.approx((0.295, 0.795), abs=5e-4)
    assert large.verdict.outcome is Outcome.FAIL
    small = groups("group,n,hired\nA,20,3\nB,10,1\n", rules=LIMIT)["B"]
    assert small.ratio == pytest.approx(0.667, abs=5e-4)
    assert small.p_value == 1.0
    assert small.verdict.outcome is Outcome.NOT_EVALUATED


def test_the_limit_gives_three_outcomes_that_never_contradict_the_interval():
    text = "group,n,hired\nA,1000,500\nB,1000,480\nC,1000,300\nD,100,41\n"
    found = groups(text, rules=LIMIT)
    outcomes = {name: group.verdict and group.verdict.outcome for name, group in found.items()}
    assert outcomes == {
        "A": None, "B": Outcome.PASS, "C": Outcome.FAIL, "D": Outcome.INCONCLUSIVE,
    }  # fmt: skip
    for name, given in groups(text).items():  # without a limit nothing allows for the choice
        if given.interval is not None:
            low, high = found[name].interval
            assert low <= given.interval.low <= given.interval.high <= high
            assert tuple(found[name].verdict.interval)[:2] == (low, high)


def test_a_small_category_is_never_the_reference():
    table = check("group,n,hired\nA,5000,2500\nB,4000,1800\nC,60,48\n", rules=LIMIT).tables[0]
    assert table.reference == "A"
    assert table.groups[2].decision == "not_evaluated"


def test_a_category_without_counts_that_may_have_the_highest_rate_leaves_no_verdict():
    text = "group,n,hired,rate\nA,1000,500,50%\nB,1000,480,48%\nC,900,*,{}\n"
    for rate, decided in (("60%", False), ("30%", True)):
        found = check(text.format(rate), rules=LIMIT)
        assert bool(found.verdicts) is decided
        assert found.exit_code == 3


def test_a_specification_file_is_shared_with_audits(tmp_path):
    (tmp_path / "audit.toml").write_text(
        f'label = "y"\nsensitive = "sex"\nrules = ["{LIMIT}"]\n'
        "min_n = 50\nmin_share = 0.1\nconfidence = 0.9\n"
    )
    text = "group,n,hired\nA,80,48\nB,40,12\n"
    found = check(text, config=tmp_path / "audit.toml")
    asked = {"min_n": 50, "min_share": 0.1, "confidence": 0.9}
    assert found.tables == check(text, rules=LIMIT, **asked).tables
    assert (found.limit, found.level) == (0.8, 0.9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rules": "selection_rate.ratio >= 2"}, "with a limit above 0 and at most 1"),
        ({"rules": "accuracy >= 0.8"}, "published tables decide one rule"),
        ({"confidence": 1.0}, "confidence"),
        ({"rules": "selection_rate.ratio <= 1.25"}, "of a harm .--favourable negative"),
        ({"rules": LIMIT, "favourable": "negative"}, "<= LIMIT' with a limit of at least 1"),
        ({"favourable": "neither"}, "positive or negative, not neither"),
        ({"per": 0}, "per: must be a whole number above 0"),
        ({"reference": "Whit"}, "reference: no table has counts of a category 'Whit'"),
    ],
)
def test_options_out_of_range_are_named(options, message):
    with pytest.raises(fg.SpecError, match=message):
        check(NEW_YORK, **options)


HARM = "race,youths,{},rate,RRI\nWhite,50000,1000,{},1.00\nBlack,10000,600,{},3.00\n"
CAP = "selection_rate.ratio <= 1.25"


def of_harm(header="arrests", rates=("2.0%", "6.0%"), **options):
    columns = {"n": "youths", "selected": header, "rate": "rate", "ratio": "RRI"}
    return fg.check(HARM.format(header, *rates), columns=columns, **options)


def test_of_a_harm_the_reference_is_the_lowest_rate_and_the_rule_a_largest_ratio():
    (table,) = of_harm(favourable="negative", rules=CAP, reference="White").tables
    black = table.groups[1]
    assert (table.reference, table.errors, black.decision) == ("White", (), "fail")
    assert (black.ratio, *black.interval)[:3] == pytest.approx((3, 2.717, 3.312), abs=1e-3)
    (table,) = of_harm(favourable="negative", rules=CAP).tables
    assert (table.reference, table.groups[1].decision) == ("White", "fail")
    text = " ".join(str(of_harm(favourable="negative", rules=CAP)).split())
    assert "300 of Black are counted in arrests, for every 100 of White" in text
    found = of_harm(rates=("20.0", "60.0"), favourable="negative", per=1000)
    assert (found.errors, found.tables[0].groups[1].rate) == (0, 0.06)
    assert of_harm(rates=("20.0", "61.0"), favourable="negative", per=1000).errors == 1


@pytest.mark.parametrize("header", ["arrests", "denied", "# suspended", "hired", "approved"])
def test_nothing_passes_by_a_column_of_harm_until_it_is_stated_which_side_is_better(header):
    rules, harmful = "selection_rate.ratio >= 0.8", header not in ("hired", "approved")
    found = of_harm(header, rules=rules, reference="White")
    assert (found.exit_code, found.verdict == "pass") == ((3, False) if harmful else (0, True))
    assert ("has the name of a harm" in str(found)) is harmful
    assert of_harm(header, rules=rules, reference="White", favourable="positive").exit_code == 0
    assert bool(of_harm(header).errors) is not harmful  # nobody knows which rate is the best


@pytest.mark.parametrize("seed", range(20))
def test_a_harm_is_judged_as_an_audit_judges_it(seed):
    rng = np.random.default_rng(seed)
    names, n = list("ABCD"), rng.integers(100, 3_000, 4)
    x = rng.binomial(n, rng.uniform(0.1, 0.3, 4))
    unknown = f"Unknown,{rng.integers(1, 200)},\n" * int(rng.integers(2))
    text = "g,n,hired\n" + "".join(f"{g},{m},{k}\n" for g, m, k in zip(names, n, x, strict=True))
    table = check(text + unknown, favourable="negative", rules=CAP).tables[0]
    assert table.reference == names[int(np.argmin(x / n))]
    rows = {"g": names * 2, "y": [1] * 4 + [0] * 4, "n": [*x, *(n - x)]}
    report = fg.audit(rows, prediction="y", positive=1, sensitive="g", count="n", rules=CAP,
                      reference="best", favourable="negative")  # fmt: skip
    own = {v.group: v.outcome for v in report.verdicts if str(v.group) != table.reference}
    for group in table.groups:
        if not group.is_reference:
            judged = own[group.name]
            assert group.decision == judged or (unknown and group.decision == "inconclusive")
            assert group.ratio == pytest.approx(group.rate / min(x / n))


@pytest.mark.parametrize("even", [True, False])
def test_categories_that_repeat_are_one_fault_with_advice(even):
    """An error where some do; where each stands as often, as of schools, nobody made one."""
    rows = [f"{sex},{900 + i},{300 + i},{i}\n" for i in range(30) for sex in "FM"]
    (table,) = check(f"sex,n,hired,school\n{''.join(rows[: 60 if even else 59])}").tables
    code = FaultCode.SEVERAL_TABLES if even else FaultCode.REPEATED_CATEGORY
    (fault,) = (each for each in table.faults if each.code is code)
    assert (fault.row, fault["other"], len(table.errors)) == ((3, "F"), 1, 0 if even else 1)
    assert fault["times" if even else "rows"] == (30 if even else 57)
    assert "--group" in fault.message


def test_rates_without_counts_have_ratios_and_no_interval():
    found = check("Category,Scoring Rate\nMale,52%\nFemale,30%\n", rules=LIMIT)
    male, female = found.tables[0].groups
    assert (male.is_reference, female.ratio, female.interval) == (
        True, pytest.approx(0.30 / 0.52), None,
    )  # fmt: skip
    assert found.verdict is Outcome.INCONCLUSIVE
    assert "NO VERDICT WITHOUT COUNTS" in str(found)


def test_nobody_selected_and_a_category_that_stands_twice():
    nobody = check("group,n,hired\nA,80,0\nB,40,0\n", rules=LIMIT).tables[0].groups
    assert [group.ratio for group in nobody] == [None, None]
    found = check("group,n,hired\nA,100,45\nB,100,64\nB,100,40\n").tables[0].groups
    assert [group.is_reference for group in found] == [False, True, False]
    assert found[2].ratio is None


def test_a_named_reference_is_compared_with_and_is_no_fault():
    text = "race,n,hired,ratio\nWhite,400,200,1.000\nBlack,300,120,0.800\nAsian,300,180,1.200\n"
    assert "reference_not_highest" in [str(f.code) for f in check(text).tables[0].faults]
    table = check(text, reference="White", rules=LIMIT).tables[0]
    assert table.reference == "White"
    assert [str(fault.code) for fault in table.faults] == ["unknown_not_stated"]
    assert [round(group.ratio, 3) for group in table.groups] == [1.0, 0.8, 1.2]
    asian = table.groups[2]
    assert asian.verdict.outcome is Outcome.PASS
    assert tuple(asian.verdict.interval) == tuple(asian.interval)  # no choice to allow for
    assert check(text, preset="ugesp").exit_code == 1
