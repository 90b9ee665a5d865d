"""The constants of smclarify."""

from fairgauge_cloud._facet_counts import UNIQUENESS_THRESHOLD as UNIQUENESS_THRESHOLD

INFINITY = float("inf")
FT_DEFAULT_NEIGHBOR = 5
FT_MIN_NEIGHBOR = 1
FT_SAMPLES_COUNT_THRESHOLD = 9
