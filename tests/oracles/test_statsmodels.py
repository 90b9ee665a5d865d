"""Regressions, gaps in pay and swapped names against statsmodels 0.15 on the rows.

Weighted and clustered rates: `GLM(..., Binomial(), var_weights=w)` with `cov_type="HC0"`, or
"cluster" and Student's t of one less than the clusters. `why` divides residuals by 1 less the
leverage (HC3), and omits each cluster in turn (jackknife), so that its intervals are a little
wider: by less than 1% in these 3,000 rows. Means: `WLS` with "HC3", and with "cluster".

`OaxacaBlinder`: its parts with the effects of each side by itself are ours where the regressors are
dummies of all combinations of the strata: Reimers's weights are the mean of both compositions.
Cotton's and Neumark's weights are no parts of `why`; and with regressors that are numbers its
effects are straight lines, of which `why` has the regression of the adjusted difference alone.
"""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import GapPartKind, StratumWeights
from fairgauge.stats.regression import adjusted_effect

T = 2.009575234489209  # of 49 degrees of freedom
Z = 1.959963984540054


@pytest.fixture(scope="module")
def rows():
    rng, n = np.random.default_rng(7), 3_000
    sex, branch = rng.choice(["F", "M"], n), rng.choice(["a", "b", "c"], n)
    dti = rng.normal(38 + 2 * (sex == "F"), 8, n).round(1)
    firm = rng.integers(0, 50, n)
    odds = 0.3 - 0.4 * (sex == "F") + 0.5 * (branch == "b") + rng.normal(0, 0.7, 50)[firm]
    y = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)
    rng.random(n)
    w = 1 + rng.integers(0, 2, n) + y * (branch == "a")
    pay = 30 + 0.2 * dti - 1.5 * (sex == "F") + rng.gamma(2, 2, n) + rng.normal(0, 2, 50)[firm]
    pay += 0.5 * w * (branch == "b")
    return pl.DataFrame({"sex": sex, "branch": branch, "dti": dti, "firm": firm, "y": y,
                         "w": w, "pay": pay.round(2)})  # fmt: skip


def adjusted(rows, **asked):
    asked = {"positive": 1, "sensitive": "sex", "reference": {"sex": "M"}} | asked
    (gap,) = fg.why(rows, **asked).gaps
    return gap.adjusted


def half(interval):
    return (interval[1] - interval[0]) / 2


@pytest.mark.parametrize(
    ("options", "effect", "log_odds", "error", "critical"),
    [
        ({"weight": "w"}, -0.11763558427212713, -0.49444852769499176, 0.07812878801289053, Z),
        ({"cluster": "firm"}, -0.12020107235129901, -0.49192954409723083, 0.07758518574410032, T),
        (
            {"weight": "w", "cluster": "firm"},
            -0.11763558427212713, -0.49444852769499176, 0.08341247535591073, T,
        ),
    ],
)  # fmt: skip
def test_levels(rows, options, effect, log_odds, error, critical):
    found = adjusted(rows, label="y", strata="branch", **options)
    assert found.value == pytest.approx(effect, abs=1e-9)
    assert np.log(found.odds_ratio) == pytest.approx(log_odds, abs=1e-9)
    reach = half(np.log(tuple(found.odds_ratio_interval)))
    assert 1 <= reach / (critical * error) < 1.01


@pytest.mark.parametrize(
    ("options", "effect", "error", "critical"),
    [
        ({"weight": "w"}, -0.9851501142637528, 0.14617835716910188, Z),
        ({"cluster": "firm"}, -0.9944394828868875, 0.1286135394929071, T),
        ({"weight": "w", "cluster": "firm"}, -0.9851501142637528, 0.14382987832045224, T),
    ],
)
def test_levels_of_means(rows, options, effect, error, critical):
    asked = {"label": "pay", "positive": None, "task": "regression", "strata": "branch"}
    found = adjusted(rows, **asked, **options)
    assert found.value == pytest.approx(effect, abs=1e-9)
    # clusters never make an interval narrower than that of independent rows
    assert 1 <= (found.interval.high - found.value) / (critical * error) < 1.06


COLUMNS = ["chist", "mhist", "phist", "selfemp", "condomin", "single", "insurance"]
CUTS = {"pirat": [0.28, 0.36], "lvrat": [0.8, 0.95]}


def test_boston_mortgages_with_nine_controls(shared):
    """Denials of 2,380 applicants (HMDA 1990): `get_margeff(dummy=True)`, and HC3.

    The residuals are divided by 1 less `GLM(...).get_influence().hat_matrix_diag` of the rows.
    """
    rows = pl.read_csv(shared.data("hmda.csv"))
    cut = [pl.Series(name, np.searchsorted(points, rows[name])) for name, points in CUTS.items()]
    rows = rows.with_columns(cut)
    black, denied = pl.col("afam") == "yes", pl.col("deny") == "yes"
    cells = rows.group_by([*COLUMNS, *CUTS]).agg(
        n_d=black.sum(), x_d=(black & denied).sum(), n_a=(~black).sum(), x_a=(~black & denied).sum()
    )
    codes = [np.unique(cells[name], return_inverse=True)[1] for name in (*COLUMNS, *CUTS)]
    counts = (cells[name] for name in ("x_d", "n_d", "x_a", "n_a"))
    found = adjusted_effect(*counts, codes, 1.959963984540054)
    assert found.cells == 671
    assert found.difference == pytest.approx(0.0519684894, abs=1e-9)
    assert found.log_odds == pytest.approx(0.6052339211, abs=1e-9)
    assert found.log_odds_error == pytest.approx(0.18908805013871008, abs=1e-8)
    # rates standardised by `Logit.predict`; the errors of their difference, and of the logarithm of
    # their ratio, from the influence of the rows
    ratio, low, high = found.ratio
    assert ratio == pytest.approx(1.4762943566360007, abs=1e-9)
    assert np.log(high / low) / 2 / 1.959963984540054 == pytest.approx(
        0.12323371402916922, abs=1e-8
    )
    assert (found.high - found.low) / 2 / 1.959963984540054 == pytest.approx(
        0.01833132915745251, abs=1e-8
    )


def test_controls_of_a_decomposition_are_those_of_the_regression(shared):
    """The same fit through `why`: one column is the stratum, eight are controls."""
    rows = pl.read_csv(shared.data("hmda.csv"))
    controls = [*COLUMNS[1:], *(fg.cut(name, points) for name, points in CUTS.items())]
    asked = {"label": "deny", "positive": "yes", "sensitive": "afam", "strata": "chist"}
    asked["reference"] = {"afam": "no"}
    (gap,) = fg.why(rows, controls=controls, **asked).gaps
    adjusted = gap.adjusted
    assert (adjusted.cells, len(gap.adjusted_for)) == (671, 9)
    assert adjusted.value == pytest.approx(0.0519684894, abs=1e-9)
    assert np.log(adjusted.odds_ratio) == pytest.approx(0.6052339211, abs=1e-9)
    assert gap.estimate.rate_group == pytest.approx(0.283186, abs=1e-6)
    (alone,) = fg.why(rows, **asked).gaps
    assert alone.parts == gap.parts
    assert alone.verdict is gap.verdict
    assert adjusted.extrapolated_reference > 0.1


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


def test_crossed_random_effects_of_restricted_maximum_likelihood() -> None:
    """Held against statsmodels 0.14: REML and moments agree on balanced data.

    ``mixedlm("y ~ g", groups=1, vc_formula={item, name, item x g, item x name})``
    """
    rng = np.random.default_rng(11)
    items, names, runs = 8, 8, 3
    group = (np.arange(names) < 4).astype(int)
    item = rng.normal(0, 1, (items, 1, 1))
    name = rng.normal(0, 0.4, (1, names, 1))
    by_group = rng.normal(0, 0.5, (items, 2))[:, 1 - group][:, :, None]
    cell = rng.normal(0, 0.5, (items, names, 1))
    run = rng.normal(0, 0.6, (items, names, runs))
    y = np.round(item + name + by_group + cell + run - 0.3 * group[None, :, None], 2)
    i, n, r = (axis.ravel() for axis in np.indices(y.shape))
    answers = pl.DataFrame({"item": i, "name": n, "run": r, "y": y.ravel(),
                            "side": np.where(group[n] == 1, "b", "a")})  # fmt: skip
    audit = fg.pairs(answers, item="item", variant="name", sensitive="side",
                     reference={"side": "a"}, score="y")  # fmt: skip
    (difference,) = audit.differences
    assert difference.value == pytest.approx(-0.2640625, abs=1e-9)
    assert difference.variance is not None
    of = difference.variance
    assert np.sqrt(of.names + of.items - of.residual) == pytest.approx(0.362754, abs=1e-4)
