"""Inference: the confidence interval and p-value of every number, by the kind of its metric.

`group_intervals.statistic_interval` gives the interval of a statistic of one group by the kind of
the statistic, `uncertainty.interval` that of a comparison by the kind of its metric. Nothing here
looks at a name.
"""

from fairgauge.inference.evidence import Comparisons, Evidence, FeatureGroups
from fairgauge.inference.interval import Intervals
from fairgauge.inference.uncertainty import Uncertainty

__all__ = ["Comparisons", "Evidence", "FeatureGroups", "Intervals", "Uncertainty"]
