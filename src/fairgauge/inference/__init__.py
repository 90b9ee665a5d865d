"""Inference: the confidence interval and p-value of every number, by the kind of its metric.

`uncertainty` dispatches on the kind of a metric, over the counts that `evidence` and `clusters`
hold, to

- `one`: a statistic of one sample (`one.statistic_intervals.statistic_interval`, by its kind);
- `two`: a contrast of two samples: of independent rows, or of the same rows under two models;
- `groups`: extremes and dispersion over all groups of a feature, and families of tests.

Nothing here looks at a name, and imports run one way: groups, two, one, evidence, interval.
"""

from fairgauge.inference.compared_counts import Comparisons, Evidence, FeatureGroups
from fairgauge.inference.interval import Intervals
from fairgauge.inference.uncertainty import Uncertainty

__all__ = ["Comparisons", "Evidence", "FeatureGroups", "Intervals", "Uncertainty"]
