"""Published tables of selection rates, checked: a plug-in of fairgauge.

>>> from fairgauge_check import check
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairgauge_check.check_result import Check
    from fairgauge_check.checking import check

__all__ = ["Check", "check"]


def __getattr__(name: str) -> object:
    """Import a name when it is first used, so that the help of the command costs nothing."""
    if name == "check":
        from fairgauge_check.checking import check

        return check
    if name == "Check":
        from fairgauge_check.check_result import Check

        return Check
    raise AttributeError(f"module 'fairgauge_check' has no attribute {name!r}")
