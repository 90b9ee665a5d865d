"""Inference: the confidence interval and p-value of every number, by the kind of its metric.

`uncertainty` dispatches on the kind of a metric, over the counts that `interval.SideData` and
`clusters` hold, to

- `one`: rarely needed statistics of one sample (rates are in `two`);
- `two`: a contrast of two samples, and the statistics of either: of independent rows, or of the
  same rows under two models;
- `groups`: extremes and dispersion over all groups of a feature, and families of tests.

Nothing here looks at a name, and imports run one way: groups, two, one, clusters, interval.
"""

from fairgauge.inference.interval import Comparisons, FeatureGroups, Intervals, SideData
from fairgauge.inference.uncertainty import Uncertainty

__all__ = ["Comparisons", "FeatureGroups", "Intervals", "SideData", "Uncertainty"]
