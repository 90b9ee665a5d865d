"""Odds ratios: of two groups, and Mantel and Haenszel's of strata; published values, coverage."""

import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, contingency
from tests import reference_intervals as reference
from tests.selected_groups import selected

import fairgauge as fg
from fairgauge.enums import Status
from fairgauge.render import render
from fairgauge.stats.contrasts import mover_odds_ratio, mover_wilson_ratio, newcombe
from fairgauge.stats.intervals import critical, wilson
from fairgauge.stats.stratified import mantel_haenszel_odds_ratio

Z = critical(0.95)


def table(d, a, **options):
    """Audit two groups of (selected, n)."""
    counts = selected({"d": d, "a": a})
    options = {"metrics": ["odds ratio"], "reference": {"g": "a"}, **options}
    return fg.audit(counts, **options)["selection_odds.ratio", "g", "d"]


@pytest.mark.parametrize(
    ("d", "a", "value", "status"),
    [
        ((0, 40), (20, 40), 0.0, Status.OK),
        ((40, 40), (20, 40), np.inf, Status.OK),
        ((20, 40), (40, 40), 0.0, Status.OK),
        ((40, 40), (40, 40), None, Status.UNDEFINED),
        ((0, 40), (0, 40), None, Status.UNDEFINED),
        ((5, 10), (20, 40), 1.0, Status.TOO_FEW),
    ],
)
def test_edges(d, a, value, status):
    found = table(d, a)
    assert (found.value, found.status) == (value, status)
    if value is not None:
        assert found.low <= value <= found.high


def every_table(n1, n2):
    x1, x2 = np.meshgrid(np.arange(n1 + 1.0), np.arange(n2 + 1.0), indexing="ij")
    return x1, np.full_like(x1, n1), x2, np.full_like(x2, n2)


def limits(x1, n1, x2, n2):
    return mover_odds_ratio(x1 / n1, *wilson(x1, n1, Z), x2 / n2, *wilson(x2, n2, Z))


@pytest.mark.parametrize(("n1", "n2"), [(3, 5), (10, 10), (8, 60), (60, 15), (40, 200)])
def test_of_every_table(n1, n2):
    """It mirrors, falls with every harm to the reference, and is further from 1 than ratios."""
    x1, n1, x2, n2 = sides = every_table(n1, n2)
    low, high = limits(*sides)
    for mirror in (limits(x2, n2, x1, n1), limits(n1 - x1, n1, n2 - x2, n2)):
        with np.errstate(divide="ignore"):
            assert np.allclose(low, 1 / mirror[1], rtol=1e-9)
    with np.errstate(invalid="ignore"):  # infinite in two tables side by side
        for limit in (low, high):
            assert not (np.diff(limit, axis=1) > 1e-9 * limit[:, 1:]).any()
            assert not (np.diff(limit, axis=0) < -1e-9 * limit[:-1]).any()
    assert ((low > 1 + 1e-9) == (newcombe(*sides, Z)[0] > 1e-10)).all()
    above = x1 / n1 > x2 / n2
    for ratio in (mover_wilson_ratio(*sides, Z), mover_wilson_ratio(n2 - x2, n2, n1 - x1, n1, Z)):
        nearer = low < ratio[0] * (1 - 1e-9)
        assert not (above & (ratio[0] > 1) & nearer).any()


def test_a_zero_is_as_the_conditional_exact_test_has_it():
    """`odds_ratio` of SciPy and fisher.test of R: 1.815 to inf; one more harm brings it nearer."""
    none, one = table((15, 800), (0, 400)), table((15, 800), (1, 400))
    exact = contingency.odds_ratio([[15, 785], [0, 400]]).confidence_interval(0.95).low
    assert exact == pytest.approx(1.815, abs=5e-4)
    assert none.low == pytest.approx(exact, rel=0.01)
    assert none.low == pytest.approx(reference.odds_ratio(15, 800, 0, 400)[0], rel=1e-9)
    assert tuple(one.interval) == pytest.approx(reference.odds_ratio(15, 800, 1, 400), rel=1e-9)
    assert one.low < none.low
    rule = fg.rule("denials_odds.ratio", at_most=1.25)
    rows = selected({"d": (785, 800), "a": (400, 400)})
    asked = {"reference": {"g": "a"}, "metrics": ["denials_odds.ratio"]}
    report = fg.audit(rows, **asked, rules=[rule])
    assert report.verdict == "fail"
    assert "Denials odds" in str(report)
    assert "at least 1.83 times as high" in str(report)
    assert "Selection odds" not in str(report)


def test_odds_of_denial_are_plural_and_those_of_the_table():
    """The sentence stated odds of denial that "is" higher, and the table the odds of selection."""
    rows = selected({"d": (340, 400), "a": (760, 800)})
    asked = {"reference": {"g": "a"}, "metrics": ["denials_odds.ratio"], "favourable": "positive"}
    report = fg.audit(rows, **asked)
    whole = render(report, full=True)
    assert "Denials odds of prediction are higher for" in whole
    assert "selection odds" not in " ".join(whole.split()).casefold()
    assert "denials odds of prediction: 0.18 for" in whole.casefold()
    assert re.search(r"\nd +denials odds +0\.176 ", whole)
    assert "Denials odds von prediction sind für" in render(report, lang="de")


RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)


def test_coverage_over_every_table():
    """The rows on odds ratios of the page on coverage."""
    found, enough = [], []
    for n1, n2 in product((5, 8, 10, 15, 20, 30, 40, 60), repeat=2):
        low, high = limits(*every_table(n1, n2))
        chances = [[binom.pmf(np.arange(n + 1), n, p) for p in RATES] for n in (n1, n2)]
        for (p1, one), (p2, two) in product(*(zip(RATES, of, strict=True) for of in chances)):
            truth = p1 / (1 - p1) / (p2 / (1 - p2)) * np.array([1 + 1e-9, 1 - 1e-9])
            found.append(100 * np.outer(one, two)[(low <= truth[0]) & (high >= truth[1])].sum())
            pooled = (n1 * p1 + n2 * p2) / (n1 + n2)
            enough.append(min(n1, n2) * min(pooled, 1 - pooled) >= 5)
    covered, adequate = np.array(found), np.array(found)[enough]
    assert (covered.mean(), covered.min()) == pytest.approx((96.0, 90.3), abs=0.06)
    assert (adequate.mean(), adequate.min()) == pytest.approx((95.3, 90.6), abs=0.06)


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 40))
def test_of_matched_pairs_it_is_the_ratio_of_discordant_pairs(more, less, alike):
    """Of strata of one row a side: b / c, and Var(log) = 1/b + 1/c (Robins et al. 1986)."""
    x1 = np.repeat([1, 0, 1], [more, less, alike])
    x2 = np.repeat([0, 1, 1], [more, less, alike])
    low, high, _ = mantel_haenszel_odds_ratio(x1, np.ones(len(x1)), x2, np.ones(len(x1)), Z)
    half = Z * np.sqrt(1 / more + 1 / less)
    assert np.log(low) == pytest.approx(np.log(more / less) - half)
    assert np.log(high) == pytest.approx(np.log(more / less) + half)
