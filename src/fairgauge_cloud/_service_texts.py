"""The service's spelling: names in order, descriptions, and the texts of its errors."""

from __future__ import annotations

import math
from typing import NotRequired, TypedDict

from fairgauge import Report

DESCRIPTIONS = {
    "CDDL": "Conditional Demographic Disparity in Labels (CDDL)",
    "CI": "Class Imbalance (CI)",
    "DPL": "Difference in Positive Proportions in Labels (DPL)",
    "JS": "Jensen-Shannon Divergence (JS)",
    "KL": "Kullback-Liebler Divergence (KL)",
    "KS": "Kolmogorov-Smirnov Distance (KS)",
    "LP": "L-p Norm (LP)",
    "TVD": "Total Variation Distance (TVD)",
    "AD": "Accuracy Difference (AD)",
    "CDDPL": "Conditional Demographic Disparity in Predicted Labels (CDDPL)",
    "DAR": "Difference in Acceptance Rates (DAR)",
    "DCA": "Difference in Conditional Acceptance (DCA)",
    "DCR": "Difference in Conditional Rejection (DCR)",
    "DI": "Disparate Impact (DI)",
    "DPPL": "Difference in Positive Proportions in Predicted Labels (DPPL)",
    "DRR": "Difference in Rejection Rates (DRR)",
    "FT": "Flip Test (FT)",
    "GE": "Generalized Entropy (GE)",
    "RD": "Recall Difference (RD)",
    "SD": "Specificity Difference (SD)",
    "TE": "Treatment Equality (TE)",
}
"""What stands beside a code in results, letter for letter as the service writes it."""

REGISTERED_PRE = ("CI", "DPL", "KL", "JS", "LP", "TVD", "KS", "CDDL")
REGISTERED_POST = (
    "DPPL", "DI", "DCA", "DCR", "RD", "SD", "DAR", "DRR", "AD", "CDDPL", "TE", "FT", "GE",
)  # fmt: skip
"""The metrics of each stage, in the order in which an error lists them."""
PRE_TRAINING, POST_TRAINING = (tuple(sorted(each)) for each in (REGISTERED_PRE, REGISTERED_POST))
"""The same in the order of results."""

ALIASES = {"DCAcc": "DCA", "CDD": "CDDL", "DPPPL": "DPPL", "DPPTL": "DPL"}

NO_GROUP = "Group variable is empty or not provided"
NO_SHARED = "No instance of common facet found, dataset may be too small"
ONLY_FALSE_NEGATIVES = (
    "All predicted labels are false negatives. "
    "There should be at least one prediction that is not false negative."
)
NOT_NUMERIC = "FlipTest does not support non-numeric columns"

_D_EMPTY, _A_EMPTY = "Facet set is empty", "Negated Facet set is empty"
_EMPTY = {
    "CI": (
        "CI: facet set is empty. Check that x[facet] has non-zero length.",
        "CI: negated facet set is empty. Check that x[~facet] has non-zero length.",
    ),
    "DPL": ("Facet set is empty.", "Negative facet set is empty."),
    "DPPL": ("Facet set is empty.", "Negative facet set is empty."),
    "DI": (_D_EMPTY, "Negated facet set is empty"),
    **dict.fromkeys(("DCA", "DCR"), (f"DCO: {_D_EMPTY}", f"DCO: {_A_EMPTY}")),
    **dict.fromkeys(("RD", "SD"), (f"DLA: {_D_EMPTY}", f"DLA: {_A_EMPTY}")),
    **dict.fromkeys(("DAR", "DRR"), (f"DLR: {_D_EMPTY}", f"DLR: {_A_EMPTY}")),
    **dict.fromkeys(("AD", "TE", "FT"), (_D_EMPTY, _A_EMPTY)),
}
CONDITIONAL = ("CDDL", "CDDPL")
"""The metrics that adjust for strata."""
_WITHOUT_OUTCOME = {
    "no_positives": "No positive labels in set",
    "no_negatives": "No negative labels in set",
}
"""The engine writes the same words of predictions."""
_DISTANCES = ("KL", "JS", "LP", "TVD", "KS")


class MetricEntry(TypedDict):
    """A metric of a result list; ``error`` where it has no value."""

    name: str
    description: str
    value: float | str | None
    error: NotRequired[str]


class BlockEntry(TypedDict):
    """The metrics of one value of a facet, or of those above a threshold."""

    value_or_threshold: str
    metrics: list[MetricEntry]


class StageEntry(TypedDict):
    """The results of a stage: the label, and the blocks of every facet."""

    label: str
    label_value_or_threshold: str
    facets: dict[str, list[BlockEntry]]


def unknown_metric(registered: tuple[str, ...]) -> str:
    """Return the engine's message about a name that is none of its metrics."""
    return f"Invalid metric_name: metrics should be one of the registered metrics{[*registered]}"


def error_text(
    metric: str, group_rows: float, reference_rows: float, code: str = "", reason: str = ""
) -> str:
    """Return the engine's words for a metric that has no value.

    Where the engine has no words of its own, it is ``reason``, of this ``code``.
    """
    if metric in _DISTANCES:
        return NO_SHARED
    if metric == "GE":
        return ONLY_FALSE_NEGATIVES
    if metric in CONDITIONAL:
        return _WITHOUT_OUTCOME.get(code, NO_GROUP)
    of_group, of_reference = _EMPTY[metric]
    if metric in ("CI", "DPL", "DPPL", "DI") and reference_rows == 0:
        return of_reference
    if group_rows == 0:
        return of_group
    if reference_rows == 0:
        return of_reference
    return reason


def result(metric: str, value: float | None, error: str | None = None) -> MetricEntry:
    """Return one entry of a result list."""
    entry: MetricEntry = {
        "name": metric,
        "description": DESCRIPTIONS[metric],
        "value": spelled(value),
    }
    if error is not None:
        entry["error"] = error
    return entry


def spelled(value: float | None) -> float | str | None:
    """Write infinities as text, and -0.0 as 0.0."""
    if value is None:
        return None
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value + 0.0


def read(value: float | str | None) -> float | None:
    """Read a value of a results file: a number, an infinity in either spelling, or nothing."""
    if isinstance(value, str):
        sign = -1.0 if value.startswith("-") else 1.0
        if value.lstrip("+-") in ("Infinity", "inf", "∞"):
            return sign * math.inf
        return float(value)
    return None if value is None or math.isnan(value) else float(value)


def warnings_of(report: Report) -> list[str]:
    """Return what an audit warns of, a line each."""
    return [f"Warning: {each}" for each in report.diagnostics if each.level == "warning"]
