"""Inference: the confidence interval and p-value of every number, by the kind of its metric.

`bounds` gives the interval of one number of one group by the shape of its statistic, `interval` that
of a comparison by the kind of its metric. Nothing here looks at a name.
"""

from fairgauge.inference.comparison_intervals import Uncertainty
from fairgauge.inference.evidence import Comparisons, Evidence
from fairgauge.inference.interval import Intervals

__all__ = ["Comparisons", "Evidence", "Intervals", "Uncertainty"]
