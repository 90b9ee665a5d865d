"""A number beside a limit is shown on its own side of it: rounding never changes what it states."""

import polars as pl
from hypothesis import assume, example, given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.render import render
from fairgauge.render._document_tree import Unit
from fairgauge.render.words.metric_words import shown

LIMITS = st.integers(-200, 200).map(lambda hundredths: hundredths / 100)
STEPS = st.sampled_from([1, -1]).flatmap(
    lambda sign: st.floats(1e-5, 0.02).map(lambda size: sign * size)
)


def test_a_ratio_just_below_four_fifths_is_not_shown_as_it():
    decisions = [1] * 799 + [0] * 201 + [1] * 1000
    rows = pl.DataFrame({"g": ["a"] * 1000 + ["b"] * 1000, "ok": decisions})
    report = fg.audit(rows, prediction="ok", positive=1, sensitive="g", reference={"g": "b"},
                      rules=["selection_rate.ratio >= 0.8"])  # fmt: skip
    assert "selection rate ratio 0.799, 95% CI" in report.verdicts[0].says
    for options in ({}, {"full": True}):
        text = render(report, "text", **options)
        assert "0.799, 95% CI" in text


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
