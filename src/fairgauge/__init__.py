"""Tell whether a model is fair to these people, and how sure we are.

>>> import fairgauge as fg
>>> report = fg.audit(fg.confusion("sex", {"F": {"tp": 20, "fn": 7}, "M": {"tp": 65, "fn": 5}}))
>>> print(report["RD", "sex", "F"].says)
F: true positive rate 74.1%, 18.8 points lower than the rest (92.9%); 95% interval ...
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from fairgauge.version import __version__

if TYPE_CHECKING:
    from fairgauge.audit import audit, count
    from fairgauge.catalogue import metric, metrics
    from fairgauge.compare import compare
    from fairgauge.comparison import Comparison
    from fairgauge.confusion import confusion
    from fairgauge.cube import Cube
    from fairgauge.errors import CubeError, DataError, FairgaugeError, MissingExtra, SpecError
    from fairgauge.estimate import Estimate
    from fairgauge.feature import above, cut
    from fairgauge.load import load
    from fairgauge.planning import plan
    from fairgauge.report import Report
    from fairgauge.rule import Rule, rule
    from fairgauge.scan.query import sql
    from fairgauge.spec import Spec

_HOME = {
    "Comparison": "comparison",
    "Cube": "cube",
    "CubeError": "errors",
    "DataError": "errors",
    "Estimate": "estimate",
    "FairgaugeError": "errors",
    "MissingExtra": "errors",
    "Report": "report",
    "Rule": "rule",
    "Spec": "spec",
    "SpecError": "errors",
    "above": "feature",
    "audit": "audit",
    "compare": "compare",
    "confusion": "confusion",
    "count": "audit",
    "cut": "feature",
    "load": "load",
    "metric": "catalogue",
    "metrics": "catalogue",
    "plan": "planning",
    "rule": "rule",
    "sql": "scan.query",
}

__all__ = [
    "Comparison",
    "Cube",
    "CubeError",
    "DataError",
    "Estimate",
    "FairgaugeError",
    "MissingExtra",
    "Report",
    "Rule",
    "Spec",
    "SpecError",
    "__version__",
    "above",
    "audit",
    "compare",
    "confusion",
    "count",
    "cut",
    "load",
    "metric",
    "metrics",
    "plan",
    "rule",
    "sql",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that importing fairgauge costs nothing."""
    if name not in _HOME:
        raise AttributeError(f"module 'fairgauge' has no attribute {name!r}")
    value = getattr(import_module(f"fairgauge.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


class _Package(ModuleType):
    """A package whose public functions win over the submodules of the same name."""

    def __setattr__(self, name: str, value: object) -> None:
        """Ignore that importing ``fairgauge.rule`` binds the module to ``rule``, as Python does."""
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
