"""Numbers of levels: as_float and as_int are float and int, errors included."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairgauge.compat._coded_column import as_float, as_int

Conversion = Callable[..., object]

LEVELS = st.one_of(
    st.text(max_size=4),
    st.integers().map(str),
    st.floats().map(str),
    st.integers(),
    st.floats(),
    st.booleans(),
    st.binary(max_size=3),
    st.none(),
    st.decimals(),
    st.fractions(),
    st.lists(st.integers(), max_size=2),
    st.floats(width=32).map(np.float32),
    st.complex_numbers(),
    st.dates(),
    st.just(pd.Timestamp("2024-01-31")),
    st.sampled_from([Decimal("1.5"), Fraction(3, 2), np.int8(3), np.bool_(True)]),
)


def outcome(convert: Conversion, level: object) -> object:
    """Return what a conversion gives, or the type and text of its error."""
    try:
        return repr(convert(level))
    except (TypeError, ValueError, OverflowError) as error:
        return type(error), str(error)


@pytest.mark.parametrize(("ours", "builtin"), [(as_float, float), (as_int, int)])
@given(level=LEVELS)
def test_a_level_is_converted_as_python_converts_it(
    ours: Conversion, builtin: Conversion, level: object
) -> None:
    theirs = outcome(builtin, level)
    if isinstance(theirs, tuple) and theirs[0] is TypeError:
        found = outcome(ours, level)
        assert isinstance(found, tuple)
        assert found[0] is TypeError
        assert type(level).__name__ in str(found[1])
    else:
        assert outcome(ours, level) == theirs
