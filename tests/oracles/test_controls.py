"""Adjusted differences against `Logit` of statsmodels 0.15 on the rows."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.stats.regression import adjusted_effect

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
