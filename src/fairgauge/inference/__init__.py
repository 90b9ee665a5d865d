"""Inference: the confidence interval and p-value of every number, by the kind of its metric.

A number passes three packages: `catalogue` has its kind, a module here reads the counts of its
sides (`interval.SideData`) and `stats` has the formula. `uncertainty` dispatches:

- one statistic of two sides, and the statistics of either: `contrast_intervals`, which takes rarer
  statistics of one side from `_whole_tables` and `_numeric_statistics`;
- other comparisons of two sides: `_metric_intervals`; of the same rows under two models:
  `paired_changes`;
- extremes and dispersion over all groups of a feature: `across_groups`; all tests of a report:
  `families`;
- dependent rows, whatever the statistic: `clusters`.

Nothing here looks at a name.
"""

from fairgauge.inference.interval import Comparisons, FeatureGroups, Intervals, SideData
from fairgauge.inference.uncertainty import Uncertainty

__all__ = ["Comparisons", "FeatureGroups", "Intervals", "SideData", "Uncertainty"]
