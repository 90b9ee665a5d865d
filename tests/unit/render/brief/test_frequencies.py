"""Natural frequencies: what they state is neither more nor less than the shares."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairgauge.render.brief._frequencies import DENOMINATORS, Frequencies, Share, frequencies
from fairgauge.render.brief._frequencies import range_words as in_words


@st.composite
def shares(draw: st.DrawFn) -> Share:
    size = draw(st.integers(1, 300_000))
    return Share.counted(draw(st.integers(0, size)), size)


@given(shares(), shares(), st.floats(0, 0.2), st.floats(0, 0.2))
def test_counts_state_what_the_shares_do(
    group: Share, reference: Share, below: float, above: float
) -> None:
    difference = float(group.rate - reference.rate)
    interval = (difference - below, difference + above)
    found = frequencies(group, reference, interval)
    assert found is not None
    if found.of is None:
        assert (found.group, found.reference) == (group.hits, reference.hits)
        return
    assert found.of in DENOMINATORS
    assert found.of <= min(group.size or 0, reference.size or 0)
    for count, share in ((found.group, group), (found.reference, reference)):
        assert abs(count - share.rate * found.of) <= Fraction(1, 2)
        assert count not in (0, found.of) or share.rate in (0, 1)
    assert interval[0] <= (found.group - found.reference) / found.of <= interval[1]
    if interval[0] > 0 or interval[1] < 0:
        assert (found.group > found.reference) == (difference > 0)


@given(st.integers(1, 99), st.integers(100, 10_000))
def test_of_fewer_than_100_people_the_counts_themselves_are_stated(few: int, many: int) -> None:
    found = frequencies(Share.counted(few // 2, few), Share.counted(many // 3, many))
    assert found == Frequencies(None, few // 2, many // 3)


def test_weighted_shares_have_no_counts_of_rows() -> None:
    weighted = Share(Fraction(36, 100))
    assert frequencies(weighted, Share(Fraction(1, 2))) == Frequencies(100, 36, 50)
    assert frequencies(weighted, Share.counted(5, 10)) is None


@given(st.floats(-1, 1), st.floats(0, 1), st.sampled_from(DENOMINATORS))
def test_no_end_is_rounded_onto_no_difference(low: float, width: float, of: int) -> None:
    text = in_words((low, low + width), of)
    ends = text.removeprefix("between ").removesuffix(f" of {of:,}")
    assert ("no difference" in ends) == (0 in (low, low + width))
    if low < 0 < low + width:
        assert "fewer" in ends
        assert "more" in ends


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
    assert in_words(interval, 100) == words
