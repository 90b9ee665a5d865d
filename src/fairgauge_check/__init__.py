"""Published tables of selection rates, checked: a plug-in of fairgauge.

>>> from fairgauge_check import check
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairgauge_check.check_result import Check
    from fairgauge_check.checking import check

__all__ = ["Check", "check"]


def __getattr__(name: str) -> object:
    # imported when it is first used, so that the help of the command costs nothing
    if name not in __all__:
        raise AttributeError(f"module 'fairgauge_check' has no attribute {name!r}")
    home = "checking" if name == "check" else "check_result"
    return getattr(import_module(f"fairgauge_check.{home}"), name)
