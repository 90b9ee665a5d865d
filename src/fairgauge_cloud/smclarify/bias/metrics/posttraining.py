"""The metrics of predictions, after training; like those of `pretraining`."""

from fairgauge_cloud.smclarify.bias.metrics.common import (
    AD,
    CDDPL,
    DAR,
    DCA,
    DCR,
    DI,
    DPPL,
    DRR,
    FT,
    GE,
    RD,
    SD,
    TE,
)

__all__ = ["AD", "CDDPL", "DAR", "DCA", "DCR", "DI", "DPPL", "DRR", "FT", "GE", "RD", "SD", "TE"]
