"""The constants of smclarify."""

from fairgauge_cloud._facet_counts import UNIQUENESS_THRESHOLD as UNIQUENESS_THRESHOLD

INFINITY = float("inf")
