"""Which statistics a gap can be decomposed in, and of which one it is where nobody states it."""

from __future__ import annotations

from fairgauge.catalogue.moments import Mean, RegressionTerm
from fairgauge.catalogue.statistics import Rate, Statistic

_ONE_COLUMN = (RegressionTerm.LABEL, RegressionTerm.PREDICTION)


def has_decomposition(of: Statistic | None) -> bool:
    """Return whether a statistic is a rate, or the mean of one column, which sums over strata."""
    return isinstance(of, Rate) or (isinstance(of, Mean) and of.of in _ONE_COLUMN)


def usual_rate(*, decided: bool, labelled: bool, regression: bool) -> str:
    """Return the rate or mean that is decomposed by default: of the decision where there is one.

    >>> usual_rate(decided=True, labelled=True, regression=False)
    'selection_rate'
    >>> usual_rate(decided=True, labelled=True, regression=True)
    'mean_label'
    """
    if regression:
        return "mean_label" if labelled else "mean_prediction"
    return "selection_rate" if decided else "base_rate"
