"""A printed number agrees with what it is made of where that is rounded or cut off to it."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stated_headers import check

from fairgauge_check.check_result import FaultCode
from fairgauge_check.printed import read_number

TABLE = "group,n,hired,rate,ratio\nA,100,50,50%,1.00\nB,100,44,{},{}\n"


def errors(text):
    return [fault.code for table in check(text).tables for fault in table.errors]


@pytest.mark.parametrize("ratio", ["0.9", "0.8", "0.88", "0.880"])
@pytest.mark.parametrize("rate", ["44%", "44.0%", "0.44"])
def test_exact_values_are_no_error(rate, ratio):
    assert errors(TABLE.format(rate, ratio)) == []


@pytest.mark.parametrize("ratio", ["0.87", "0.879", "0.89", "0.870"])
def test_a_ratio_one_unit_off_is_an_error(ratio):
    assert errors(TABLE.format("44%", ratio)) == [FaultCode.RATIO_MISMATCH]


@pytest.mark.parametrize("rate", ["43%", "43.9%", "44.1%", "45%"])
def test_a_rate_one_unit_off_is_an_error(rate):
    assert errors(TABLE.format(rate, "0.88")) == [FaultCode.RATE_MISMATCH]


@given(st.integers(1, 10**6), st.integers(0, 10**6), st.integers(0, 5), st.integers(-3, 3))
def test_a_number_agrees_if_it_is_rounded_or_cut_off(n, x, places, by):
    """Against integers alone: which are the roundings, and the cut-off, of ``x / n``."""
    scale = 10**places
    cut = x * scale // n
    rest = 2 * (x * scale - cut * n) - n  # twice the remainder against half a unit
    right = {cut, *([cut + 1] if rest >= 0 else [])}
    units = cut + by
    if units < 0:
        return
    printed = read_number(f"{units // scale}.{units % scale:0{places}d}" if places else f"{units}")
    assert printed.agrees(Fraction(x, n)) is (units in right)
