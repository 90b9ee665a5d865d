"""The brief of a check of published tables: its errors, and the lowest ratio as people."""

import re

import numpy as np
import pytest

import fairgauge as fg
from fairgauge.render import render
from fairgauge.render.words.verdict_sentences import describe_verdict

WRONG = "Race,n,Selected,Selection rate,Impact ratio\n" + "\n".join([
    "White,1000,300,30.0%,1.000", "Black,500,120,24.0%,0.800", "Hispanic,200,30,15.0%,0.520",
])  # fmt: skip
RIGHT = WRONG.replace("0.520", "0.500")
SMALL = WRONG.replace("Hispanic,200,30,15.0%,0.520", "Hispanic,20,2,10.0%,0.333")
LIMIT = "selection_rate.ratio >= 0.8"


def test_the_lowest_ratio_is_not_that_of_a_handful_of_people() -> None:
    found = fg.check(SMALL).brief().found
    assert str(found[-1]) == (
        "The lowest impact ratio of categories of 2% of the people or more: of equally many "
        "people, 80 of Black are counted in Selected, for every 100 of White."
    )


def test_an_error_heads_the_page_and_is_named() -> None:
    brief = fg.check(WRONG).brief()
    assert str(brief.headline) == "1 error in 1 table"
    assert "Row 3 (Hispanic)" in str(brief.found[0])
    assert str(brief.found[1]) == (
        "The lowest impact ratio: of equally many people, 50 of Hispanic are counted in "
        "Selected, for every 100 of White."
    )
    assert re.fullmatch(
        r"Impact ratio, Hispanic to White: between \d+ and \d+ for every 100 "
        r"\(95% CI, for this ratio alone\)\.",
        str(brief.certainty[0]),
    )
    assert str(brief.steps[0]) == "Analyst: send the errors to the publisher of the tables."


def test_errors_are_numbered_where_there_are_several() -> None:
    """The first lines have room for some of them: that more follow is seen from the numbers."""
    lines = WRONG.replace("0.800", "0.700").replace("1000,300,30.0%", "1000,310,30.0%")
    found = fg.check(lines)
    assert found.errors == 3
    for i, sentence in enumerate(found.brief().found[:3], 1):
        assert str(sentence).startswith(f"Error {i} of 3: Row ")
    assert "Error" not in str(fg.check(WRONG).brief().found[0])


def test_a_column_of_numbers_that_nobody_stated_is_no_category() -> None:
    with pytest.raises(fg.DataError, match="scored"):
        fg.check("sex,scored,scoring rate\nMale,1390,52%\nFemale,1181,47%\n")


def test_without_an_error_nothing_more_is_claimed_than_was_checked() -> None:
    brief = fg.check(RIGHT, rules=LIMIT).brief()
    assert str(brief.headline).startswith("No error in the arithmetic of 1 table; ")
    assert str(brief.verdict[0]).startswith("Of 2 ratios, ")
    assert "Whether an audit meets a law." in map(str, brief.limits)
    unchecked = fg.check("group,n,selected\nA,100,50\nB,100,40\n").brief()
    assert "was not checked" in str(unchecked.headline)
    rates = fg.check("group,selection rate,impact ratio\nA,50%,1.00\nB,40%,0.80\n").brief()
    assert not any("every 100 (" in str(each) for each in rates.certainty)
    assert any("number of people in every category" in str(each) for each in rates.steps)


@pytest.mark.parametrize("seed", range(20))
def test_the_lowest_ratio_is_stated_on_its_side_of_the_limit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lines = ["group,n,selected"]
    for name in "ABCD":
        n = int(rng.integers(50, 2_000))
        lines.append(f"{name},{n},{int(rng.integers(5, n))}")
    made = fg.check("\n".join(lines), rules=LIMIT)
    sentence = next(each for each in made.brief().found if "lowest" in str(each))
    stated = re.search(
        r"people, ([\d.,]+) of (.) are counted in selected, for every 100 of (.)", str(sentence)
    )
    assert stated is not None
    groups = {each.name: each for each in made.tables[0].groups}
    of = {name: each for name, each in groups.items() if each.ratio and not each.is_reference}
    lowest = groups[stated[2]]
    assert lowest.ratio == min(each.ratio for each in of.values() if each.interval is not None)
    assert groups[stated[3]].is_reference
    value = float(stated[1].replace(",", ""))
    assert lowest.ratio is not None
    assert value == pytest.approx(100 * lowest.ratio, abs=0.51)
    assert (value < 80) is (lowest.ratio < 0.8)


@pytest.mark.parametrize("table", ["sex,n,selected\nMale,230,118\nFemale,245,88\n"])
def test_people_of_unknown_category_leave_a_rule_open_at_any_size(table: str) -> None:
    """About 1,300 people would decide it, a check stated, where an audit states that none would."""
    known, unknown = (fg.check(text, rules=LIMIT) for text in (table, f"{table}Unknown,75,\n"))
    (verdict,) = (each for each in unknown.verdicts if each.group == "Female")
    text = describe_verdict(verdict)
    assert verdict.reason["open_rows"] == 75
    assert "are needed" not in text
    assert text in render(unknown, "csv")
    steps = [" ".join(map(str, each.brief().steps)) for each in (known, unknown)]
    assert ["plan how many people would decide" in each for each in steps] == [True, False]
    assert ["ask for the categories" in each for each in steps] == [False, True]


def test_few_people_of_unknown_category_leave_it_to_more_people() -> None:
    table = "sex,n,selected\nMale,230,118\nFemale,245,88\nUnknown,2,\n"
    (verdict,) = (each for each in fg.check(table, rules=LIMIT).verdicts if each.group == "Female")
    assert verdict.reason.get("open_rows") is None
    assert "rows of Female are needed" in describe_verdict(verdict)
