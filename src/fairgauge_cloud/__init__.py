"""Other systems' files and names, in and out, on top of the same line."""

from typing import TypedDict


class IntervalOptions(TypedDict, total=False):
    """How confidence intervals are made, as `fairgauge.audit` takes it."""

    confidence: float
    method: str
    seed: int
    replicates: int
