"""Regressions of weighted rows, and what says that data are insufficient for a rate of a group."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.catalogue.cells import ConfusionCounts
from fairgauge.catalogue.lookup import find_rate
from fairgauge.enums import IntervalMethod, Profile
from fairgauge.inference import SideData, Uncertainty
from fairgauge.inference.uncertainty import rate_values
from fairgauge.question.specification import Spec
from fairgauge.stats.intervals import (
    PowerSums,
    borrow_skewness,
    critical,
    degrees_of_squares,
    mean_limits,
    mean_moments,
    t_from_z,
)
from fairgauge.stats.squares import log_limits, tail_weight

ASKED = {"label": "y", "prediction": "p", "sensitive": "g", "task": "regression"}


def rows(n: int = 600, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    y = rng.normal(20, 4, n)
    off = rng.normal(1, 2, n)
    return pl.DataFrame(
        {
            "g": np.where(np.arange(n) % 3 == 0, "a", "b"),
            "y": y,
            "p": y + off,
            "w": np.exp(0.5 * rng.normal(size=n) + 0.2 * off),
        }
    )


@pytest.mark.parametrize("unit", [1.0, 0.3, 7000.0])
def test_equal_weights_of_any_unit_are_no_weights(unit):
    data = rows().with_columns(w=pl.lit(unit))
    plain, weighted = (fg.audit(data, **ASKED, weight=w) for w in (None, "w"))
    assert [e.interval.methods for e in weighted.estimates] == [
        e.interval.methods for e in plain.estimates
    ]
    for one, other in zip(plain.estimates, weighted.estimates, strict=True):
        assert [*other.interval] == pytest.approx([*one.interval], rel=1e-9, abs=1e-9)


def test_the_unit_of_unequal_weights_is_free():
    data = rows()
    one, other = (
        fg.audit(data.with_columns(pl.col("w") * unit), **ASKED, weight="w")
        for unit in (1.0, 1000.0)
    )
    for mine, yours in zip(one.estimates, other.estimates, strict=True):
        assert [*yours.interval] == pytest.approx([*mine.interval], rel=1e-6)


def test_a_weighted_mean_has_the_variance_of_its_influences():
    data = rows()
    report = fg.audit(data, **ASKED, weight="w", metrics=["mean_error.difference"])
    (group,) = (g for g in report.groups if g.group == "a")
    found = group.rates["mean_error"]
    assert found.interval.methods == (IntervalMethod.INFLUENCE, IntervalMethod.STUDENT_T)
    own = data.filter(pl.col("g") == "a")
    moments = []
    for each in (own, data):
        e, w = (each["p"] - each["y"]).to_numpy(), each["w"].to_numpy()
        sums = [PowerSums(*((w**p * e**k).sum() for k in range(4))) for p in (1, 2, 3)]
        moments.append(mean_moments(*sums))
    limits = mean_limits(borrow_skewness(*moments), critical(0.95))
    e, w = (own["p"] - own["y"]).to_numpy(), own["w"].to_numpy()
    assert found.value == pytest.approx(w @ e / w.sum())
    assert [*found.interval] == pytest.approx([float(end) for end in limits], rel=1e-6)


def moments(error, weight):
    """Return weighted sums of one side whose labels are 0."""
    n, zero = weight.sum(1), np.zeros(1)
    sums = {"n": n, "gap": (weight * abs(error)).sum(1)}
    sums |= {f"gap{k}": (weight * error**k).sum(1) for k in (2, 3, 4)}
    sums |= {"distance3": (weight * abs(error) ** 3).sum(1)}
    sums |= dict.fromkeys(("gap2_y", "gap2_yy", "y", "yy", "y3", "y4"), zero)
    sums |= {of: (weight * error**k).sum(1) for k, of in enumerate(("p", "pp", "p3", "p4"), 1)}
    return ConfusionCounts(size=n, moments=sums)


def test_the_variance_of_weighted_squares_has_few_degrees_of_freedom():
    """With 1,200 rows whose weights follow the errors: those of some 50 rows."""
    rng = np.random.default_rng(8)
    error = rng.normal(size=(1, 1200))
    weight = np.exp(0.5 * rng.normal(size=error.shape) + 0.5 * error)
    side, squares, cubes, cases = (
        moments(error, (weight / weight.mean()) ** k) for k in (1, 2, 3, 0)
    )
    data, name = SideData(side, cases, squares, None, None, cubes), "mean_squared_error"
    everyone = np.ones(1, dtype=bool)
    made = rate_values([find_rate(name)], data, everyone, Uncertainty(Spec()), Profile.DOCUMENTED)
    (found,) = made[name]
    mean, fourth = (np.average(error[0] ** k, weights=weight[0]) for k in (2, 4))
    influence = weight[0] * (error[0] ** 2 - mean)
    linearised = (influence @ influence) / weight.sum() ** 2
    rows = float(np.average((error[0] ** 2 - mean) ** 2, weights=weight[0]) / linearised)
    kish = float(weight.sum() ** 2 / (weight**2).sum())
    degrees = float(degrees_of_squares(kish, 1200))
    t = t_from_z(critical(0.95), degrees)
    tail = max(tail_weight(mean, fourth, each) for each in (rows, 1200))
    expected = [float(end) for end in log_limits(mean, tail - 1, np.inf, rows, t)]
    assert found.status == "too_few"  # too few rows in all
    assert 30 < degrees < 70
    assert [*found.interval] == pytest.approx(expected, rel=1e-6)
    assert rows < kish
