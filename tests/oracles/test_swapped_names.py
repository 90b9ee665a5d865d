"""Names permuted between groups, on the callbacks of Bertrand and Mullainathan by first name."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

import fairgauge as fg
from fairgauge.stats.crossed_designs import permutation_p

CALLBACKS = {
    "black": {
        "Aisha": (4, 180), "Darnell": (2, 42), "Ebony": (20, 208), "Hakim": (3, 55),
        "Jamal": (4, 61), "Jermaine": (5, 52), "Kareem": (3, 64), "Keisha": (7, 183),
        "Kenya": (17, 196), "Lakisha": (11, 200), "Latonya": (21, 230), "Latoya": (19, 226),
        "Leroy": (6, 64), "Rasheed": (2, 67), "Tamika": (14, 256), "Tanisha": (12, 207),
        "Tremayne": (3, 69), "Tyrone": (4, 75),
    },
    "white": {
        "Allison": (22, 232), "Anne": (20, 242), "Brad": (10, 63), "Brendan": (5, 65),
        "Brett": (4, 59), "Carrie": (22, 168), "Emily": (18, 227), "Geoffrey": (4, 59),
        "Greg": (4, 51), "Jay": (9, 67), "Jill": (17, 203), "Kristen": (28, 213),
        "Laurie": (19, 195), "Matthew": (6, 67), "Meredith": (19, 187), "Neil": (5, 76),
        "Sarah": (19, 193), "Todd": (4, 68),
    },
}  # fmt: skip
"""Callbacks and résumés of every first name (American Economic Review 94, 2004, table 8)."""


def test_names_as_rows_permuted() -> None:
    names = [(called / n, race) for race, of in CALLBACKS.items() for called, n in of.values()]
    rate, black = np.array([r for r, _ in names]), np.array([race == "black" for _, race in names])
    assert sum(n for of in CALLBACKS.values() for _, n in of.values()) == 4870
    welch = stats.ttest_ind(rate[black], rate[~black], equal_var=False)
    assert (welch.statistic, welch.df) == (
        pytest.approx(-3.7557, abs=1e-4),
        pytest.approx(33.18, abs=5e-3),
    )
    assert permutation_p(rate, black, 0)[0] == pytest.approx(0.0006, abs=3e-4)


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
    audit = fg.pairs(answers, item="item", variant="name", run="run", sensitive="side",
                     reference={"side": "a"}, score="y")  # fmt: skip
    (difference,), (components,) = audit.differences, audit.components
    assert difference.value == pytest.approx(-0.2640625, abs=1e-9)
    assert difference.variance is not None
    of = difference.variance
    assert np.sqrt(of.names + of.items - of.residual) == pytest.approx(0.362754, abs=1e-4)
    assert components.names == pytest.approx(0.415053, abs=1e-4)
    assert components.items == pytest.approx(np.sqrt(2) * 0.291483, abs=1e-4)
    assert components.interaction == pytest.approx(0.534644, abs=1e-4)
    assert components.runs == pytest.approx(0.552094, abs=1e-4)
