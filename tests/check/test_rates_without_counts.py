"""Tables of rounded rates and people: what holds for all counts that agree with them."""

from __future__ import annotations

import re
from itertools import product

import pytest
from stated_headers import check

from fairgauge.enums import Outcome
from fairgauge.render.formats import render
from fairgauge_check.check_result import FaultCode
from fairgauge_check.printed_numbers import read_number
from fairgauge_check.published_table import PublishedRow, selected_people

SCORED = "group,applicants,scoring rate\nA,200,52%\nB,150,41%\nC,170,50%\n"
PEOPLE = {"A": 200, "B": 150, "C": 170}


def groups(text, **options):
    (table,) = check(text, **options).tables
    return {group.name: group for group in table.groups}


def counts_that_agree():
    """Yield every table of counts whose rates are printed as those of SCORED, by brute force."""
    printed = {"A": 0.52, "B": 0.41, "C": 0.50}
    fits = [
        [x for x in range(n + 1) if _could_print(x / n, printed[name])]
        for name, n in PEOPLE.items()
    ]
    for selected in product(*fits):
        rows = [f"{g},{n},{x}" for (g, n), x in zip(PEOPLE.items(), selected, strict=True)]
        yield dict(zip(PEOPLE, selected, strict=True)), "\n".join(["group,n,hired", *rows])


def _could_print(rate, printed):
    """Rounded to a hundredth, or cut off there."""
    return -0.005 <= round(rate - printed, 9) < 0.01


@pytest.mark.parametrize(
    ("rate", "n", "expected"),
    [
        ("52%", 200, (103, 105)),
        ("33.3%", 3, (1, 1)),
        ("0%", 50, (0, 0)),
        ("0%", 250, (0, 2)),
        ("100%", 7, (7, 7)),
        (".480", 1390, (667, 668)),
        ("48%", 1390, (661, 681)),
        ("50%", 3, None),
        ("49%", 2, None),
        ("120%", 5, None),
    ],
)
def test_the_counts_that_agree_with_a_rate(rate, n, expected):
    row = PublishedRow(
        number=1, categories=("A",), n=read_number(str(n)), rate=read_number(rate)
    )  # fmt: skip
    assert selected_people(row) == expected


@pytest.mark.parametrize("options", [{}, {"reference": "C", "confidence": 0.8}])
def test_intervals_hold_for_all_counts_that_agree(options):
    found = groups(SCORED, **options)
    for selected, text in counts_that_agree():
        exact = groups(text, **{"reference": "A"} | options)
        for name, group in found.items():
            low, high = group.selected_range
            assert low <= selected[name] <= high
            if group.interval is not None:
                assert group.interval.low <= exact[name].interval.low + 1e-9
                assert group.interval.high >= exact[name].interval.high - 1e-9
                assert group.p_value >= exact[name].p_value - 1e-12


def test_intervals_are_no_wider_than_the_counts_that_agree_need():
    found = groups(SCORED)["B"].interval
    exact = [groups(text, reference="A")["B"].interval for _, text in counts_that_agree()]
    assert found.low == pytest.approx(min(each.low for each in exact), abs=1e-9)
    assert found.high == pytest.approx(max(each.high for each in exact), abs=1e-9)


@pytest.mark.parametrize("limit", [0.5, 0.8])
def test_a_verdict_holds_for_all_counts_that_agree(limit):
    """With the reference that each of these tables would have."""
    found = groups(SCORED, rules=f"selection_rate.ratio >= {limit}")
    tables = [
        groups(text, rules=f"selection_rate.ratio >= {limit}") for _, text in counts_that_agree()
    ]
    for name, group in found.items():
        every = {each[name].verdict.outcome for each in tables if each[name].verdict}
        if group.verdict is not None and group.verdict.outcome in (Outcome.PASS, Outcome.FAIL):
            assert every == {group.verdict.outcome}
    assert found["B"].verdict.outcome is (Outcome.PASS if limit == 0.5 else Outcome.INCONCLUSIVE)


def test_possible_ratios_are_over_all_counts_that_agree():
    found = groups(SCORED)
    for selected, _ in counts_that_agree():
        rates = {name: selected[name] / PEOPLE[name] for name in PEOPLE}
        for name, group in found.items():
            assert group.possible[0] <= rates[name] / max(rates.values()) + 1e-12
            assert group.possible[1] >= rates[name] / max(rates.values()) - 1e-12


def test_rates_that_one_count_alone_agrees_with_are_counts():
    exact = groups("group,n,hired\nA,80,48\nB,40,12\n", rules="selection_rate.ratio >= 0.8")["B"]
    rates = groups("group,n,rate\nA,80,60.00%\nB,40,30.00%\n", rules="selection_rate.ratio >= 0.8")[
        "B"
    ]
    assert rates.selected_range == (12, 12)
    assert rates.interval == exact.interval
    assert rates.verdict == exact.verdict


def test_a_table_without_people_states_why_it_has_no_interval():
    text = render(check("group,rate,ratio\nA,50%,1.00\nB,41%,0.82\n"), "text", full=True)
    assert "because the number of people is not printed" in " ".join(text.split())


def test_the_document_states_how_many_may_be_selected():
    text = " ".join(render(check(SCORED), "text", full=True).split())
    assert "the whole numbers that agree with the printed rates" in text
    low, high = groups(SCORED)["A"].selected_range
    assert f"200 {low} to {high} 52.00%" in text


@pytest.mark.parametrize("n", [False, True])
@pytest.mark.parametrize("rates", [("52%", "60%"), ("52.5%", "60.1%"), ("0.52", "0.6")])
def test_a_higher_rate_is_stated_as_it_is_printed(rates, n):
    """The low ends of what rounds to them, 0.515 and 0.595, are printed nowhere."""
    first, best = rates
    text = f"Category  Rate  Impact ratio\nAsian  {first}  1.00\nOther  {best}  1.15"
    if n:
        text = text.replace("Category", "Category  Applicants").replace("\nAsian", "\nAsian  5000")
        text = text.replace("\nOther", "\nOther  6000")
    codes = (FaultCode.HIGHER_RATE, FaultCode.REFERENCE_NOT_HIGHEST)
    faults = check(text).tables[0].faults
    (message,) = (fault.message for fault in faults if fault.code in codes)
    assert re.findall(r"\d[\d.]*%?", message) == sorted(rates, reverse=not n)
