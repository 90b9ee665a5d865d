"""Audits by swapped names, held against crossed random effects of statsmodels."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg


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
