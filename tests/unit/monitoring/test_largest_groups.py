"""The largest group of the first period is the reference, in every order of arrival."""

import tempfile

from hypothesis import given
from hypothesis import strategies as st
from tests.cases import FEW_EXAMPLES
from tests.monitored_days import asked, cube, day_names

import fairgauge as fg

LARGEST = asked({"metric": "selection_rate.ratio", "at_least": 0.8}) | {"reference": "largest"}
WOMEN = cube(400, of=1_000, others=20, size=50)
"""A day with more women than men."""


@FEW_EXAMPLES
@given(order=st.permutations(range(5)))
def test_the_reference_is_the_same_in_every_order_of_arrival(order):
    """Every other day has more women than men."""
    with tempfile.TemporaryDirectory() as folder:
        history = fg.History(folder)
        for arrived, day in enumerate(order, start=1):
            history.add(day_names(5)[day], WOMEN if day % 2 else cube(40))
            report = fg.monitor(history, LARGEST)
            first = min(order[:arrived])
            reference = "F" if first % 2 else "M"
            assert {each.reference for each in report.comparisons} == {reference}
