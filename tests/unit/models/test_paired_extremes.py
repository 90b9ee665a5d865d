"""The change of the larger of two gaps covers the true one: many data sets at once."""

import numpy as np
import pytest
from bench.paired_coverage import both_sides, cells_of, change, drawn

from fairgauge.catalogue.lookup import find_metric
from fairgauge.inference.paired_extremes import combined_changes
from fairgauge.inference.paired_tables import PairedTable
from fairgauge.stats.intervals import critical

SETS = 1_000
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
