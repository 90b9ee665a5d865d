"""Which sets of features of a search are counted together, so that the rows are read seldom."""

from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairgauge.measure import _subgroup_counts


@given(
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=9),
    depth=st.integers(1, 4),
    rows=st.sampled_from([1_000, 200_000, 10_000_000]),
)
def test_every_set_is_in_one_that_is_not_too_large(sizes, depth, rows):
    sets = [*combinations(range(len(sizes)), min(depth, len(sizes)))]
    wider = _subgroup_counts._wider(sets, sizes, rows)
    assert set(sets) == {
        each for features in wider for each in combinations(features, len(sets[0]))
    }
    for features in wider:
        assert features in sets or prod(sizes[f] + 1 for f in features) <= 250_000


def test_many_features_are_counted_in_few_sets():
    sets = [*combinations(range(60), 3)]
    assert len(_subgroup_counts._wider(sets, [3] * 60, 10_000_000)) < len(sets) / 20


@pytest.mark.parametrize("most", [1, 2, 3])
def test_the_sums_of_a_table_are_those_of_numpy(most):
    counts = np.random.default_rng(0).integers(0, 9, (2, 3, 4, 5, 3)).astype(float)
    features = (1, 4, 6, 9)
    found = dict(_subgroup_counts._sums(counts, features, most))
    subsets = [each for k in range(1, most + 1) for each in combinations(features, k)]
    assert sorted(found) == sorted(subsets)
    for each, table in found.items():
        others = tuple(i for i, f in enumerate(features) if f not in each)
        assert (table == counts.sum(axis=others)).all()
