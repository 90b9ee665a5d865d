"""The registered metrics, in smclarify's order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairgauge.compat.service_texts import REGISTERED_POST, REGISTERED_PRE
from fairgauge.compat.smclarify.bias.metrics import posttraining, pretraining

if TYPE_CHECKING:
    from collections.abc import Callable

PRETRAINING_METRIC_FUNCTIONS: list[Callable[..., Any]] = [
    getattr(pretraining, name) for name in REGISTERED_PRE
]
POSTTRAINING_METRIC_FUNCTIONS: list[Callable[..., Any]] = [
    getattr(posttraining, name) for name in REGISTERED_POST
]


def all_metrics() -> list[str]:
    """Return the names of all metrics."""
    return [*REGISTERED_PRE, *REGISTERED_POST]
