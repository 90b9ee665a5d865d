"""Group-fairness audits with confidence intervals.

>>> import fairgauge as fg
>>> report = fg.audit(fg.confusion("sex", {"F": {"tp": 20, "fn": 7}, "M": {"tp": 65, "fn": 5}}))
>>> print(report["true_positive_rate.difference", "sex", "F"].says)
F: true positive rate 74.1% vs 92.9% for others, 18.8 pp lower (95% CI ...
"""

from __future__ import annotations

import sys

# Of python -m, Python puts the working folder first: a file duckdb.py there is not the library.
if (sys.argv[:1] == ["-m"] and "fairgauge" in sys.orig_argv[-len(sys.argv)]
        and not sys.flags.safe_path):  # fmt: skip
    del sys.path[0]

from importlib import import_module

from fairgauge.start import __version__

TYPE_CHECKING = False  # that of typing, whose import takes longer than all else here
if TYPE_CHECKING:
    import fairgauge.integrations.mlflow as mlflow  # noqa: F401 - used as fg.mlflow
    from fairgauge.api.audit import audit, count
    from fairgauge.api.comparing import alternatives, compare, compare_models
    from fairgauge.api.decomposing import why
    from fairgauge.api.paging import AuditPage, Exploration, explore, page
    from fairgauge.api.pairing import pairs
    from fairgauge.api.planning import plan
    from fairgauge.api.searching import find
    from fairgauge.api.thresholding import thresholds
    from fairgauge.catalogue.cells import FN, FP, TN, TP
    from fairgauge.catalogue.descriptions import metric, metrics
    from fairgauge.catalogue.own import quotient, rate, statistic
    from fairgauge.cube.build import confusion
    from fairgauge.cube.cube import Cube
    from fairgauge.errors import (
        CubeError,
        DataError,
        DuplicateCountsWarning,
        FairgaugeError,
        MissingExtra,
        SpecError,
    )
    from fairgauge.monitoring.history import History
    from fairgauge.monitoring.monitor import monitor, monitor_doctor
    from fairgauge.question.features import above, cut, probabilities
    from fairgauge.question.rules import Rule, rule
    from fairgauge.question.specification import Spec
    from fairgauge.results.alternatives import Alternatives
    from fairgauge.results.comparison import Change
    from fairgauge.results.estimates import Estimate, Finding
    from fairgauge.results.gap_decomposition import Decomposition
    from fairgauge.results.monitor_results import HistoryHealth, MonitorReport
    from fairgauge.results.name_swaps import PairsAudit
    from fairgauge.results.plan import Planned
    from fairgauge.results.report import Report
    from fairgauge.results.shown_result import load
    from fairgauge.results.subgroup_search import SubgroupSearch
    from fairgauge.results.threshold_choice import ThresholdChoice
    from fairgauge.results.verdicts import RulesNotMet
    from fairgauge.scan.source import sql
    from fairgauge.sharing.protection import protect
    from fairgauge.sharing.sealing import seal, verify

_NAMES_OF = {
    "api.audit": "audit count",
    "api.comparing": "alternatives compare compare_models",
    "api.decomposing": "why",
    "api.paging": "AuditPage Exploration explore page",
    "api.pairing": "pairs",
    "api.planning": "plan",
    "api.searching": "find",
    "api.thresholding": "thresholds",
    "catalogue.cells": "FN FP TN TP",
    "catalogue.descriptions": "metric metrics",
    "catalogue.own": "quotient rate statistic",
    "cube.build": "confusion",
    "cube.cube": "Cube",
    "errors": "CubeError DataError DuplicateCountsWarning FairgaugeError MissingExtra SpecError",
    "sharing.protection": "protect",
    "sharing.sealing": "seal verify",
    "monitoring.history": "History",
    "monitoring.monitor": "monitor monitor_doctor",
    "question.features": "above cut probabilities",
    "question.rules": "Rule rule",
    "question.specification": "Spec",
    "results.alternatives": "Alternatives",
    "results.comparison": "Change",
    "results.estimates": "Estimate Finding",
    "results.gap_decomposition": "Decomposition",
    "results.monitor_results": "HistoryHealth MonitorReport",
    "results.name_swaps": "PairsAudit",
    "results.plan": "Planned",
    "results.report": "Report",
    "results.shown_result": "load",
    "results.subgroup_search": "SubgroupSearch",
    "results.threshold_choice": "ThresholdChoice",
    "results.verdicts": "RulesNotMet",
    "scan.source": "sql",
}
_HOME = {name: module for module, names in _NAMES_OF.items() for name in names.split()}

__all__ = [
    "FN", "FP", "TN", "TP", "Alternatives", "AuditPage", "Change", "Cube", "CubeError", "DataError",
    "Decomposition", "DuplicateCountsWarning", "Estimate", "Exploration", "FairgaugeError",
    "Finding", "History", "HistoryHealth", "MissingExtra", "MonitorReport", "PairsAudit", "Planned",
    "Report", "Rule", "RulesNotMet", "Spec", "SpecError", "SubgroupSearch", "ThresholdChoice",
    "__version__", "above", "alternatives", "audit", "compare", "compare_models", "confusion",
    "count", "cut", "explore", "find", "load", "metric", "metrics", "monitor", "monitor_doctor",
    "page", "pairs", "plan", "probabilities", "protect", "quotient", "rate", "rule",
    "seal", "sql", "statistic", "thresholds", "verify", "why",
]  # fmt: skip


# what is used by the name of its module: ``fg.mlflow.log_report``
_MODULES = {"mlflow": "fairgauge.integrations.mlflow"}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that importing fairgauge costs nothing."""
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name not in _HOME:
        # the function of a plug-in's command, such as `check`; tools ask for `__test__` and others
        if not name.startswith("_"):
            from fairgauge.start.first_help import entry_points

            if point := entry_points("fairgauge.commands").get(name):
                return getattr(import_module(point.package), name)
        raise AttributeError(f"module 'fairgauge' has no attribute {name!r}")
    value = getattr(import_module(f"fairgauge.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
