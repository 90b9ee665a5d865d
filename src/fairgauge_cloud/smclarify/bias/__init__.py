"""Bias reports under smclarify's names."""

from fairgauge_cloud.smclarify.bias.report import FacetColumn, FacetContinuousColumn, bias_report

__all__ = ["FacetColumn", "FacetContinuousColumn", "bias_report"]
