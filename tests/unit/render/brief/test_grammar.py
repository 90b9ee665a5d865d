"""What people are called, and how counts, numbers and intervals of them are printed."""

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tests.selected_groups import selected

import fairgauge as fg
from fairgauge.catalogue.lookup import find_metric
from fairgauge.render import render
from fairgauge.render._document_tree import Unit
from fairgauge.render.grammar import DENOMINATORS, Grammar, Share, size_words
from fairgauge.render.words.metric_words import published_range, shown, shown_range
from fairgauge.render.words.verdict_sentences import interval_text
from fairgauge.results.scopes import Interval
from fairgauge.results.statement import Measure, Range, Side, Statement


def called(words: dict[str, Any], *pairs: tuple[str, str], **values: set[str]) -> str:
    """Return what a group of columns and values is called."""
    return Grammar(words | {"values": values}).name(Side("group", "", pairs))


@pytest.mark.parametrize(
    ("pairs", "people", "applicants"),
    [
        ([("sex", "Female")], "women", "female applicants"),
        ([("Gender", "men")], "men", "male applicants"),
        ([("race", "Black")], "Black people", "Black applicants"),
        ([("sex", "Female"), ("race", "Black")], "Black women", "Black female applicants"),
        ([("race", "Other"), ("sex", "Male")], "men with race “Other”",
         "male applicants with race “Other”"),
        ([("sex", "F")], "people with sex F", "applicants with sex F"),
        ([("color", "Black")], "people with color Black", "applicants with color Black"),
    ],
)  # fmt: skip
def test_adjectives_of_people_stand_before_the_noun(pairs, people, applicants):
    assert called({}, *pairs) == people
    assert called({"noun": "applicants"}, *pairs) == applicants


def test_two_values_are_never_called_alike():
    values = ("Female", "female", "Male")
    found = [called({}, ("sex", value), sex={*values}) for value in values]
    assert found == ["people with sex Female", "people with sex female", "men"]


@pytest.mark.parametrize(("value", "of"), [("Female", "of women"), ("F", "with sex F")])
def test_rows_that_are_no_people_are_of_them(value, of):
    words = {"unit": "applications", "noun": "applications"}
    assert called(words, ("sex", value)) == f"applications {of}"


@pytest.mark.parametrize(
    "words", [{"unit": "children"}, {"noun": "loans"}, {"groups": {"sex": {"Female": "ladies"}}}]
)
def test_words_of_the_user_are_not_guessed_further(words):
    noun = words.get("noun", words.get("unit", "people"))
    assert called(words, ("sex", "Female"), ("age", "old")) == f"{noun} with sex Female and age old"


def test_a_race_alone_among_other_values_is_no_adjective():
    assert called({}, ("race", "White"), race={"White", "Red"}) == "people with race White"


def test_a_word_for_people_that_begins_with_other_keeps_its_order():
    """It was read as that for all other people: "other such workers"."""
    grammar = Grammar({"noun": "other workers"})
    assert grammar.name(Side("others")) == "all other other workers"
    assert grammar.some(Side("others")) == "other other workers"
    assert Grammar({}).some(Side("everyone")) == "people overall"


ENGLISH = Grammar({})


def compared(group: Side, reference: Side, ends: tuple[float, float] | None = None) -> Statement:
    return Statement(
        code="differs", who=group, than=reference, of=Measure("share", "selection rate"),
        interval=None if ends is None else Range(*ends),
        shown=ends is not None and not ends[0] <= 0 <= ends[1],
    )  # fmt: skip


def side(share: Share) -> Side:
    return Side("group", rate=float(share.rate), hits=share.hits, n=share.size)


def test_one_of_a_plural_is_stated_as_its_size() -> None:
    stated = [ENGLISH.after_number("women", n) for n in ("1", "12")]
    assert stated == ["women (n = 1)", "12 women"]


@st.composite
def shares(draw: st.DrawFn) -> Share:
    size = draw(st.integers(1, 300_000))
    return Share(draw(st.integers(0, size)), size)


@given(shares(), shares(), st.floats(0, 0.2), st.floats(0, 0.2))
def test_counts_state_what_the_shares_do(
    group: Share, reference: Share, below: float, above: float
) -> None:
    difference = float(group.rate - reference.rate)
    interval = (difference - below, difference + above)
    found = ENGLISH.counted(compared(side(group), side(reference), interval))
    mine, theirs = found["counts"]
    if (of := found["per"]) is None:
        assert (mine, theirs) == (group.hits, reference.hits)
        return
    assert of in DENOMINATORS
    assert of <= min(group.size or 0, reference.size or 0)
    for count, share in ((mine, group), (theirs, reference)):
        assert abs(count - share.rate * of) <= Fraction(1, 2)
        assert count not in (0, of) or share.rate in (0, 1)
    assert interval[0] <= (mine - theirs) / of <= interval[1]
    if interval[0] > 0 or interval[1] < 0:
        assert (mine > theirs) == (difference > 0)


def test_weighted_shares_have_no_counts_of_rows() -> None:
    weighted = Side("group", rate=0.36)
    found = ENGLISH.counted(compared(weighted, Side("group", rate=0.5)))
    assert (found["per"], found["counts"]) == (100, (36, 50))
    assert ENGLISH.counted(compared(weighted, side(Share(5, 10)))) is None


@given(st.floats(-1, 1), st.floats(0, 1))
def test_no_end_is_rounded_onto_no_difference(low: float, width: float) -> None:
    text = ENGLISH.ends((low, low + width), compared(Side("group"), Side("others")))
    assert ("no difference" in text) == (0 in (low, low + width))
    assert not re.search(r"\b0(\.0+)? (fewer|more)", text)
    if low < 0 < low + width:
        assert "fewer" in text
        assert "more" in text


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        ((-0.197, -0.143), "between 14 and 20 fewer of 100"),
        ((0.143, 0.197), "between 14 and 20 more of 100"),
        ((-0.011, 0.049), "between 1 fewer and 5 more of 100"),
        ((0.1721, 0.1733), "between 17.21 and 17.33 more of 100"),
    ],
)
def test_ends_are_counts_of_people(interval: tuple[float, float], words: str) -> None:
    assert ENGLISH.ends(interval, compared(Side("group"), Side("others"))) == words


LIMITS = st.integers(-200, 200).map(lambda hundredths: hundredths / 100)
STEPS = st.sampled_from([1, -1]).flatmap(
    lambda sign: st.floats(1e-5, 0.02).map(lambda size: sign * size)
)


@example(-0.51, 0.0005, Unit.NUMBER)
@given(LIMITS, STEPS, st.sampled_from(list(Unit)))
def test_what_is_shown_is_on_the_side_of_the_value(limit, step, unit):
    value = limit + step
    assume(unit is not Unit.RATIO or value >= 0)
    text = shown(value, unit, sign=True, limits=[limit]).strip("%").replace("−", "-")
    assume(not text.startswith("<"))  # next to nothing
    scale = 100 if unit in (Unit.PERCENT, Unit.POINTS) else 1
    printed = float(text.replace(",", ""))
    assert (printed > round(scale * limit, 9)) is (value > limit)
    assert printed != round(scale * limit, 9)


@given(st.floats(0, 3), st.sampled_from(list(Unit)))
def test_without_limits_nothing_changes_and_a_value_on_its_limit_has_the_usual_digits(value, unit):
    value = round(value, 1 if unit is Unit.HUNDREDTHS else 2)
    usual = shown(value, unit)
    assert shown(value, unit, limits=[value]) == usual


NEAR = st.floats(2e-6, 0.4) | st.floats(2e-9, 2e-6)


def _numbers(text):
    return [float(each) for each in re.findall(r"[-−+]?\d+\.?\d*", text.replace("−", "-"))]


@given(near=NEAR, far=NEAR, above=st.booleans())
def test_no_range_is_rounded_onto_no_difference(near, far, above):
    near, far = sorted((near, far))
    ends = (near, far) if above else (-far, -near)
    low, high = (1 + end for end in ends)
    ratio = find_metric("selection_rate.ratio")
    ratios = [
        shown_range(low, high, Unit.RATIO),
        published_range(low, high),
        interval_text(ratio, Interval(low, high, 0.95)).split("CI")[1],
    ]
    for text in ratios:
        assert [number > 1 for number in _numbers(text)] == [above] * 2, text
        assert 1 not in _numbers(text)
    difference = find_metric("selection_rate.difference")
    differences = [
        shown_range(*ends, Unit.POINTS, sign=True),
        interval_text(difference, Interval(*ends, 0.95)).split("CI")[1],
    ]
    for text in differences:
        assert [number > 0 for number in _numbers(text)] == [above] * 2, text
        assert 0 not in _numbers(text)
    assert "no difference" not in size_words(ends, 100)


@given(near=NEAR, far=NEAR)
def test_ends_on_both_sides_of_no_difference_are_two_numbers(near, far):
    """One place had "0.0 to 0.0", another "between 0.03 fewer and 0.03 more of 100"."""
    low, high = shown_range(-near, far, Unit.POINTS, sign=True).split(" to ")
    assert low != high, (low, high)
    assert _numbers(low)[0] <= 0 <= _numbers(high)[0]


@pytest.mark.parametrize("written", ["text", "markdown", "html", "xlsx"])
def test_every_format_prints_the_interval_that_the_test_is_of(written, tmp_path):
    counts = selected({"Female": (480, 1_000), "Male": (530, 1_000)}, "sex")
    report = fg.audit(counts, preset="nyc-ll144")
    ends = {"selection_rate.ratio": (0.8123, 0.99963), "selection_rate.difference": (-0.1, -0.0003)}

    def near(each):
        if each.metric not in ends or each.interval is None:
            return each
        low, high = ends[each.metric]
        both = (each.interval, each.simultaneous)
        interval, together = (of and replace(of, low=low, high=high) for of in both)
        return replace(each, interval=interval, simultaneous=together)

    report = replace(report, estimates=tuple(map(near, report.estimates)))
    if written == "xlsx":
        openpyxl = pytest.importorskip("openpyxl")
        report.save(tmp_path / "audit.xlsx")
        sheets = openpyxl.load_workbook(tmp_path / "audit.xlsx").worksheets
        text = " ".join(str(cell.value) for sheet in sheets for row in sheet.rows for cell in row)
    else:
        text = render(report, written, **({} if written == "html" else {"full": True}))
    assert "0.9996" in text
    wrong = re.findall(r"\b0\.81\d? (?:to|and) 1(?:\.00?0?)?\b", " ".join(text.split()))
    assert wrong == []


def test_no_end_is_minus_zero():
    for kind in Unit:
        sides = ((-0.2, -1e-12), (-1e-9, 0.2))
        ends = " to ".join(shown_range(*side, kind, sign=True) for side in sides).split(" to ")
        assert not [end for end in ends if re.fullmatch(r"[-−]0(\.0*)?%?", end)], (kind, ends)


def test_a_difference_that_rounds_to_none_is_stated_as_below_one():
    """So many rows that the interval is narrower than a tenth of a percentage point."""
    n = 40_000_000
    report = fg.audit(
        selected({"a": (n // 2, n), "b": (0.4001 * n, n)}), reference={"g": "a"},
        metrics="selection_rate.difference", rules="selection_rate.difference >= -0.0999",
    )  # fmt: skip
    (verdict,) = report.verdicts
    assert verdict.outcome == "inconclusive"
    assert 0 < verdict.reason["detectable"] < 0.001
    assert "below 0.1 pp" in verdict.says


def test_a_list_that_is_longer_by_one_names_it() -> None:
    """“A, B, C and 1 more” hid the group that the headline was about."""
    assert ENGLISH.listing("abcd", most=3) == "a, b, c and d"
    assert ENGLISH.listing("abcde", most=3) == "a, b, c and 2 more"
