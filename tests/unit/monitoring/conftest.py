"""Makes the shared histories known to the tests beside it."""

from __future__ import annotations

from conftest_monitoring import shifted

__all__ = ["shifted"]
