"""Makes the shared histories known to all unit tests."""

from tests.monitored_days import shifted

__all__ = ["shifted"]
