"""Numbers and intervals are printed on their own side of a limit and of no difference."""

import re
from dataclasses import replace

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tests.selected_groups import selected

import fairgauge as fg
from fairgauge.catalogue.lookup import find_metric
from fairgauge.render import render
from fairgauge.render._document_tree import Unit
from fairgauge.render.counts import size_words
from fairgauge.render.words.metric_words import published_range, shown, shown_range
from fairgauge.render.words.verdict_sentences import interval_text
from fairgauge.results.scopes import Interval

LIMITS = st.integers(-200, 200).map(lambda hundredths: hundredths / 100)
STEPS = st.sampled_from([1, -1]).flatmap(
    lambda sign: st.floats(1e-5, 0.02).map(lambda size: sign * size)
)


def test_a_ratio_just_below_four_fifths_is_not_shown_as_it():
    counts = selected({"a": (799, 1_000), "b": (1_000, 1_000)})
    report = fg.audit(counts, reference={"g": "b"}, rules=["selection_rate.ratio >= 0.8"])
    assert "selection rate ratio 0.799, 95% CI" in report.verdicts[0].says
    for full in (False, True):
        assert "0.799, 95% CI" in render(report, "text", full=full)


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
