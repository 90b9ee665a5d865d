"""Makes the shared histories known to all unit tests."""

from __future__ import annotations

from tests.monitored_days import shifted

__all__ = ["shifted"]
