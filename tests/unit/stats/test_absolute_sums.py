"""Quantiles and tails of a sum of two absolute normal values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairgauge.stats.contrasts import absolute_sum_quantile, absolute_sum_tail
from fairgauge.stats.intervals import critical


def test_a_square_has_a_closed_form():
    """|Z1| + |Z2| <= q is a square of side q sqrt(2), turned."""
    side = critical(np.sqrt(0.95)) * np.sqrt(2)
    assert absolute_sum_quantile(1, 1, 0.95) == pytest.approx(side, rel=1e-6)
    assert absolute_sum_tail(side, 1, 1) == pytest.approx(0.05, rel=1e-6)


def test_one_alone_is_a_normal_value():
    for one, two in ((2, 0), (0, 2)):
        assert absolute_sum_quantile(one, two, 0.9) == pytest.approx(2 * critical(0.9), rel=1e-6)
        assert absolute_sum_tail(2 * critical(0.9), one, two) == pytest.approx(0.1, rel=1e-6)


def test_drawn_values_exceed_the_quantile_as_often():
    z = np.abs(np.random.default_rng(0).standard_normal((400_000, 2)))
    for scale in ((1, 0.3), (0.7, 2)):
        over = (z @ scale > float(absolute_sum_quantile(*scale, 0.95))).mean()
        assert over == pytest.approx(0.05, abs=0.0011)


@given(
    one=st.floats(0.01, 100),
    two=st.floats(0.01, 100),
    confidence=st.sampled_from([0.8, 0.95, 0.999]),
)
def test_quantile_and_tail_agree(one, two, confidence):
    q = absolute_sum_quantile(one, two, confidence)
    assert absolute_sum_tail(q, one, two) == pytest.approx(1 - confidence, rel=5e-3)
    assert absolute_sum_quantile(two, one, confidence) == q
    assert absolute_sum_tail(0.0, one, two) == pytest.approx(1.0)
