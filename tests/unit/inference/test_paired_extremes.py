"""Changes of the largest of several numbers: exchanging the models mirrors their intervals."""

import numpy as np
import pytest

from fairgauge.catalogue.lookup import find_metric
from fairgauge.inference.contrast_intervals import statistic_interval
from fairgauge.inference.interval import SideData
from fairgauge.inference.paired_changes import combined_changes, confusion, statistic_change
from fairgauge.stats.intervals import critical
from fairgauge.stats.paired_tables import PairedTable


def limits_of(metric, counts):
    table, changes = PairedTable(*[1.0 * counts] * 3), []
    sides = [confusion(margin, classes=False) for margin in table.margins]
    for part in metric.of:
        rate = find_metric(part.name).of
        intervals = [statistic_interval(rate, SideData(side, side, None)) for side in sides]
        changes.append(statistic_change(rate, table, *intervals))
    change = combined_changes(metric, changes, inside=False)
    return np.ravel(change.shift.at(np.full(1, critical(0.95))))


@pytest.mark.parametrize("name", ["worst_odds", "average_absolute_odds"])
def test_exchanging_the_models_negates_the_interval(name):
    metric, counts = find_metric(name), np.random.default_rng(7).integers(1, 40, (2, 3, 2, 2))
    there, back = limits_of(metric, counts), limits_of(metric, counts.swapaxes(2, 3))
    assert there == pytest.approx(-back[::-1], abs=1e-9)
