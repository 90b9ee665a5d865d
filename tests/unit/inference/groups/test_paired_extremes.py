"""Changes of the largest of several numbers: coverage, of many data sets, and symmetries."""

from itertools import pairwise

import numpy as np
import pytest
from bench.paired_coverage import both_sides, cells_of, change, drawn
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.cases import FEW_EXAMPLES

from fairgauge.catalogue.lookup import find_metric
from fairgauge.inference.groups.paired_extremes import combined_changes, spread_change
from fairgauge.inference.two.paired_tables import ClusterCounts, PairedTable
from fairgauge.stats.intervals import critical

SETS = 400
CANDIDATES = {  # P(accepted | label) under both models: of the group, and of its reference
    "equal": (((0.8, 0.3), (0.8, 0.3), 0.5), ((0.4, 0.1), (0.4, 0.1), 0.5)),
    "fairer": (((0.8, 0.3), (0.6, 0.2), 0.5), ((0.4, 0.1), (0.6, 0.2), 0.3)),
    "less fair": (((0.6, 0.2), (0.8, 0.3), 0.5), ((0.6, 0.2), (0.4, 0.1), 0.3)),
}


def changes(metric, table):
    sides = [change(find_metric(each.name), table) for each in metric.of]
    return combined_changes(metric, sides, inside=False)


@pytest.mark.parametrize("candidate", CANDIDATES)
@pytest.mark.parametrize("name", ["worst_odds", "average_absolute_odds"])
def test_the_interval_of_the_larger_gap_covers(name, candidate):
    """Percentiles of draws covered 60 % where a gap vanishes: both draws and data widen it."""
    metric = find_metric(name)
    cells = [cells_of((old, new), r) for old, new, r in CANDIDATES[candidate]]
    rng = np.random.default_rng(5)
    made, _ = changes(metric, both_sides(*(drawn(each, 300, SETS, rng) for each in cells)))
    known = [PairedTable(*[1e6 * each[None]] * 3) for each in cells]
    _, (old, new) = changes(metric, both_sides(*known))
    low, high = made.shift.at(np.full(SETS, critical(0.95)))
    covered = np.mean((low <= (new - old)[0]) & ((new - old)[0] <= high))
    assert covered > 0.935


CLEAR = {  # P(accepted | label) of groups of which two clearly differ most, under either model
    "the same groups": [
        ((p, p / 3), (0.8 * p + 0.1, p / 3), 0.3) for p in (0.85, 0.6, 0.5, 0.2)
    ],
    "other groups": [
        ((p, p / 3), (q, q / 3), 0.1)
        for p, q in zip((0.85, 0.6, 0.5, 0.2), (0.5, 0.85, 0.2, 0.6), strict=True)
    ],
}  # fmt: skip
NEARLY_EQUAL = [
    ((p, p / 3), (q, q / 3), 0.3)
    for p, q in zip((0.8, 0.6, 0.5, 0.4), (0.62, 0.6, 0.59, 0.56), strict=True)
]


def groups_change(name, counts, clusters=None, cluster_count=0):
    """Return the change of a metric of all groups; ``counts`` are by group, label and decisions."""
    metric = find_metric(name)
    counts = np.asarray(counts, dtype=float)
    table = PairedTable(counts, counts, counts, clusters=clusters, cluster_count=cluster_count)
    spreads = metric.of if hasattr(metric, "how") else [metric]
    rates = [find_metric(f"{each.of.name}.difference") for each in spreads]
    return spread_change(metric, [change(rate, table) for rate in rates])


def limits(made):
    low, high = made.made.shift.at(np.full(1, critical(0.95)))
    return float(low[0]), float(high[0])


def covered(name, groups, n, sets):
    cells = np.stack([cells_of((old, new), r) for old, new, r in groups])
    old, new = groups_change(name, 1e6 * cells).values
    rng = np.random.default_rng(6)
    inside = []
    for _ in range(sets):
        counts = np.stack([rng.multinomial(n, c.ravel()).reshape(c.shape) for c in cells])
        low, high = limits(groups_change(name, counts))
        inside.append(low <= float((new - old)[0]) <= high)
    return np.mean(inside)


@pytest.mark.parametrize("candidate", CLEAR)
@pytest.mark.parametrize("name", ["selection_rate.largest_gap", "selection_rate.maximum"])
def test_the_interval_is_not_wide_where_one_item_is_the_largest(name, candidate):
    """The changes of the items themselves, whose limits were joined, covered 100 %."""
    assert 0.91 < covered(name, CLEAR[candidate], 1_000, 150) < 0.99


def test_the_interval_covers_where_several_items_may_be_the_largest():
    assert covered("selection_rate.largest_gap", NEARLY_EQUAL, 400, 150) > 0.935


COUNTS = arrays(np.int64, (4, 3, 2, 2), elements=st.integers(1, 40))
OF_GROUPS = (
    "selection_rate.largest_gap", "true_positive_rate.minimum", "selection_rate.maximum",
    "selection_rate.smallest_ratio", "equalized_odds.largest_gap", "equalized_odds.mean_gap",
)  # fmt: skip


@pytest.mark.parametrize("name", OF_GROUPS)
@FEW_EXAMPLES
@given(COUNTS)
def test_exchanging_the_models_negates_the_interval(name, counts):
    there, back = (groups_change(name, each) for each in (counts, counts.swapaxes(2, 3)))
    low, high = limits(there)
    assert (low, high) == pytest.approx(tuple(-limit for limit in limits(back)[::-1]), abs=1e-9)
    assert low <= float(there.made.shift.value[0]) <= high


@pytest.mark.parametrize("name", OF_GROUPS)
@FEW_EXAMPLES
@given(COUNTS, st.permutations(range(4)))
def test_relabelled_groups_do_not_change_the_interval(name, counts, order):
    one, other = groups_change(name, counts), groups_change(name, counts[order])
    assert limits(one) == pytest.approx(limits(other), abs=1e-9)
    assert one.values == other.values


@pytest.mark.parametrize("name", OF_GROUPS)
@FEW_EXAMPLES
@given(arrays(np.int64, (4, 3, 2), elements=st.integers(1, 40)))
def test_a_candidate_that_is_the_model_in_use_changes_nothing(name, counts):
    same = counts[..., None] * np.eye(2, dtype=int)
    made = groups_change(name, same)
    low, high = limits(made)
    assert made.made.shift.value[0] == 0
    assert low <= 0 <= high
    assert made.made.shift.p_value()[0] == 1


def test_more_confidence_widens_the_interval():
    rng = np.random.default_rng(7)
    made = groups_change("selection_rate.largest_gap", rng.integers(1, 40, (4, 3, 2, 2)))
    every = [made.made.shift.at(np.full(1, critical(c))) for c in (0.8, 0.9, 0.95, 0.99)]
    assert all(wide[0] < low and high < wide[1] for (low, high), wide in pairwise(every))


def test_clusters_of_one_row_are_independent_rows():
    """Limits of clusters differ by Student's t alone: by 1 % of 480 rows."""
    rng = np.random.default_rng(8)
    cells = np.stack([cells_of((old, new), r) for old, new, r in CLEAR["the same groups"]])
    codes = [rng.choice(12, 480, p=c.ravel() / c.sum()) for c in cells]
    counts = np.stack([np.bincount(each, minlength=12).reshape(3, 2, 2) for each in codes])
    clusters = [
        ClusterCounts(480 * i + np.arange(480), each, np.ones(480)) for i, each in enumerate(codes)
    ]
    one = groups_change("selection_rate.largest_gap", counts)
    other = groups_change("selection_rate.largest_gap", counts, clusters, 4 * 480)
    assert np.diff(limits(other)) == pytest.approx(np.diff(limits(one)), rel=0.02)
