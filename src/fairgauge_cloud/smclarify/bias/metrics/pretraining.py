"""The metrics of labels, before training.

Every function takes boolean columns of the same rows; the formulas, ranges and edge rules are in
``fairgauge metrics NAME``. Where a metric has no value, it raises ValueError with smclarify's text.
"""

from fairgauge_cloud.smclarify.bias.metrics.common import CDDL, CI, DPL, JS, KL, KS, LP, TVD

__all__ = ["CDDL", "CI", "DPL", "JS", "KL", "KS", "LP", "TVD"]
