"""The options of `fairgauge.audit` that a service's job takes; all others stand in its files."""

from __future__ import annotations

from typing import TypedDict


class IntervalOptions(TypedDict, total=False):
    """How confidence intervals are made, as `fairgauge.audit` takes it."""

    confidence: float
    method: str
    seed: int
    replicates: int
