"""How sure we are: the interval and p-value of every number, by the kind of its catalogue row.

`bounds` gives the limits of one number of one group by the shape of its statistic, `interval` the
limits of a comparison by the kind of its metric. Nothing here looks at a name.
"""

from fairgauge.inference.comparison_intervals import Uncertainty
from fairgauge.inference.evidence import Comparisons, Evidence
from fairgauge.inference.interval import Interval

__all__ = ["Comparisons", "Evidence", "Interval", "Uncertainty"]
