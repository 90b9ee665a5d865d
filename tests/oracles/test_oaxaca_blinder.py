"""A gap in pay against `OaxacaBlinder` and `OLS` of statsmodels 0.15 on the rows.

Its parts with the effects of each side by itself are ours where the regressors are dummies of all
combinations of the strata: Reimers's weights are the mean of both compositions. Cotton's and
Neumark's weights are no parts of `why`; and with regressors that are numbers its effects are
straight lines, of which `why` has the regression of the adjusted difference alone.
"""

import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import GapPartKind, StratumWeights

TWO_FOLD = {  # unexplained and explained, of men less women: here of women less men
    StratumWeights.AVERAGE: -1.8385671417779843,  # two_fold_type="reimers"
    StratumWeights.GROUP: -1.6577520535094032,  # "self_submitted", weight 0
    StratumWeights.REFERENCE: -2.019382230046565,  # the same, weight 1
    StratumWeights.MANTEL_HAENSZEL: -1.7802875063699997,  # "pooled"
}


@pytest.fixture(scope="module")
def gap():
    """Decompose the pay of 900 people, of whom the sexes are in other grades and at other sites."""
    rows = []
    for i in range(900):
        woman = i * 7 % 11 < 4
        grade = min((i * 13 % 17 + (0 if woman else 5)) // 7, 2)
        site = i * 5 % 9 > (5 if woman else 3)
        less = 1.5 * woman + woman * (grade == 2)
        pay = 20 + 6 * grade + 3 * site + grade * site - less + i % 10 / 2
        rows.append(("F" if woman else "M", f"g{grade}", f"s{site:d}", pay))
    people = pl.DataFrame(rows, schema=["sex", "grade", "site", "pay"], orient="row")
    found = fg.why(people, label="pay", task="regression", sensitive="sex", reference={"sex": "M"},
                   strata=["grade", "site"])  # fmt: skip
    return found.gaps[0]


def test_parts_of_a_gap_in_pay_are_those_of_a_two_fold_decomposition(gap):
    """Of dummies of the six combinations of grade and site."""
    assert gap.estimate.value == pytest.approx(-6.374317755415319, abs=1e-10)
    composition = gap.part(GapPartKind.COMPOSITION).value
    assert composition == pytest.approx(-4.535750613637327, abs=1e-10)
    for weights, unexplained in TWO_FOLD.items():
        within = gap.part(GapPartKind.WITHIN, weights).value
        assert within == pytest.approx(unexplained, abs=1e-10), weights


def test_the_adjusted_gap_in_pay_is_the_unexplained_part_of_a_pooled_regression(gap):
    """Of dummies of the grades and of the sites without interactions; its error is HC3."""
    adjusted = gap.adjusted
    assert adjusted.value == pytest.approx(-1.7466373897028293, abs=1e-10)
    t = 1.9626180940964548  # of 900 rows less five coefficients
    half = (adjusted.interval.high - adjusted.interval.low) / 2
    assert half == pytest.approx(t * 0.11598013574351967, rel=1e-9)
