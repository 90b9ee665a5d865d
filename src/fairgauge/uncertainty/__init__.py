"""How sure we are: the interval and p-value of every number, by the kind of its catalogue row.

`bounds` gives the limits of one number of one group by the shape of its statistic, `interval` the
limits of a comparison by the kind of its metric. Nothing here looks at a name.
"""

from fairgauge.uncertainty.comparisons import Uncertainty
from fairgauge.uncertainty.evidence import Comparisons, Evidence
from fairgauge.uncertainty.interval import Interval

__all__ = ["Comparisons", "Evidence", "Interval", "Uncertainty"]
