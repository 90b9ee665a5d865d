"""A search for subgroups against published numbers and other formulas.

Facts of tools that search subgroups without a guarantee: of DivExplorer's COMPAS table (MIT) two
sizes and two counts, of AIF360's bias scan (Apache-2.0) the formula of its score, of SliceLine
(BSD-3) what it prints of a table of ours. No table of theirs is here.
"""

import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

import fairgauge as fg
from fairgauge.stats.signed_roots import hypergeometric_tail, lower_end


@pytest.mark.parametrize(
    ("x", "n", "tail"), [(10, 30, 0.00042702), (20, 100, 0.00172191), (60, 400, 0.00055545)]
)
def test_exact_tails_are_those_of_fishers_test(x, n, tail):
    assert hypergeometric_tail(x, n, 400, 4_000) == pytest.approx(tail, abs=5e-9)
    by_fisher = stats.fisher_exact([[x, 400 - x], [n - x, 3_600 - n + x]], alternative="greater")
    assert hypergeometric_tail(x, n, 400, 4_000) == pytest.approx(by_fisher.pvalue, rel=1e-9)


def test_the_subgroup_of_compas_that_divexplorer_prints_has_its_difference():
    """25 to 45, African-American, male, more than 3 priors: 224 with label 0, 69 of them wrong."""
    counts = pl.DataFrame({
        "group": ["it"] * 3 + ["others"] * 3, "y": [0, 0, 1] * 2, "p": [1, 0, 1] * 2,
        "n": [69, 224 - 69, 794 - 224, 297 - 69, 3_363 - 224 - (297 - 69), 6_172 - 794 - 3_139],
    })  # fmt: skip
    found = fg.find(counts, label="y", prediction="p", positive=1, count="n", sensitive=["group"],
                    metrics="false_positive_rate")  # fmt: skip
    subgroup = found["group = it"]
    assert (subgroup.rows, subgroup.n, subgroup.events) == (794, 224, 69)
    assert (found.overall.rows, found.overall.n, found.overall.events) == (6_172, 3_363, 297)
    assert subgroup.rate - found.overall.rate == pytest.approx(0.219722, abs=5e-7)
    # at the critical value of all 952 subgroups of the table, of any depth
    low = lower_end(69, 224, 228, 3_139, 3.879) * (1 - 224 / 3_363)
    assert low == pytest.approx(0.116, abs=5e-4)


def _bias_scan(x: float, n: float, rate: float) -> float:
    """Return the signed root of the Bernoulli score of a bias scan."""
    both = ((x, rate), (n - x, 1 - rate))
    score = sum(each * math.log(each / n / of) for each, of in both if each)
    return math.copysign(math.sqrt(2 * max(score, 0.0)), x / n - rate)


def test_the_best_subgroup_of_a_bias_scan_of_shuffled_outcomes_is_seldom_a_claim():
    rng = np.random.default_rng(11)
    rows, tables = 1_500, 40
    frame = pl.DataFrame({name: rng.choice(list("abc"), rows) for name in "fgh"})
    frame = frame.with_columns(y=pl.lit(0), p=pl.Series(np.arange(rows) % 10 == 0).cast(pl.Int8))
    claims = printed = 0
    for seed in range(tables):
        shuffled = frame.with_columns(pl.col("p").shuffle(seed=seed))
        found = fg.find(shuffled, label="y", prediction="p", positive=1, sensitive=list("fgh"),
                        metrics="false_positive_rate")  # fmt: skip
        every = (*found.worse, *found.undecided)
        scores = {s.name: _bias_scan(s.events, s.n, 0.1) for s in every}
        best = max(scores, key=lambda name: scores[name])
        claims += best in {each.name for each in found.worse}
        printed += scores[best] > 1.96
    assert claims <= stats.binom.ppf(0.9995, tables, 0.05)
    assert printed > tables / 2  # the best one alone would be called biased in so many


def test_sizes_and_errors_are_those_that_sliceline_prints():
    """SliceLine 0.3.0: alpha 0.95, at most 3 conditions, at least 20 rows; size and errors."""
    i = np.arange(2_400)
    f0, f1, f2 = i % 3, i // 3 % 4, i // 7 % 5
    wrong = (i * 7_919 % 101 < 12) | ((f0 == 1) & (f1 == 2) & (i % 5 < 2))
    frame = pl.DataFrame({"f0": f0, "f1": f1, "f2": f2, "wrong": wrong.astype(int)})
    found = fg.find(
        frame, prediction="wrong", positive=1, sensitive=["f0", "f1", "f2"],
        metrics="selection_rate", worse="higher", min_rows=20,
    )  # fmt: skip
    printed = {"f0 = 1 & f1 = 2": (200, 92), "f1 = 2": (600, 140), "f0 = 1": (800, 164)}
    for name, counts in printed.items():
        assert (found[name].n, found[name].events) == counts
    assert found.overall.events == 355
    assert found.worse[0].name == "f0 = 1 & f1 = 2"  # the best slice of SliceLine, too
