"""The flip test by an index is the one by all pairs, whatever the order of the rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairgauge_cloud._facet_counts import CodedColumn, Kind, from_values
from fairgauge_cloud._service_metrics import Features


def columns(points: np.ndarray) -> list[CodedColumn]:
    return [from_values(f"x{i}", each.tolist()) for i, each in enumerate(points.T)]


def by_all_pairs(points: np.ndarray, inside: np.ndarray, positive: np.ndarray) -> float:
    """Return smclarify's flip test: the five nearest rows outside vote on every row inside."""
    outside = points[~inside]
    k = 5 if len(outside) > 9 else 1
    flips = 0
    for point, chosen in zip(points[inside], positive[inside], strict=True):
        nearest = np.argsort(((outside - point) ** 2).sum(axis=1))[:k]
        vote = positive[~inside][nearest].mean() > 0.5
        flips += int(chosen and not vote) - int(vote and not chosen)
    return flips / int(inside.sum())


@given(seed=st.integers(0, 10**6), rows=st.integers(2, 80), dimensions=st.integers(1, 4))
def test_without_ties_it_is_the_one_by_all_pairs(seed: int, rows: int, dimensions: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(rows, dimensions))
    inside, positive = rng.random(rows) < 0.4, rng.random(rows) < 0.5
    inside[:2] = [True, False]
    features = Features(lambda: columns(points))
    expected = by_all_pairs(points, inside, positive)
    assert features.flip(inside, positive) == pytest.approx(expected, abs=1e-12)


def test_sign_and_columns_of_text() -> None:
    inside = np.repeat([True, False], 12)
    positive = np.repeat([True, False], 12)
    numbers = Features(lambda: columns(np.arange(24.0)[:, None] % 12))
    assert numbers.flip(inside, positive) == 1.0
    texts = Features(lambda: [CodedColumn("x", Kind.TEXT, np.arange(24) % 2, ("a", "b"))])
    with pytest.raises(ValueError, match="FlipTest does not support non-numeric columns"):
        texts.flip(inside, positive)


def test_rows_without_a_value_are_excluded() -> None:
    inside = np.array([True, True] + [False] * 12)
    positive = np.array([True, True] + [False] * 12)
    feature = from_values("x", [1.0, None, *range(12)])
    assert Features(lambda: [feature]).flip(inside, positive) == 1.0
    missing = from_values("x", [None, None, *range(12)])
    with pytest.raises(ValueError, match="no row of one side has a value in every feature"):
        Features(lambda: [missing]).flip(inside, positive)
