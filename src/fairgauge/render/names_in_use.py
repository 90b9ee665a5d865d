"""The catalogue in use: what names stand for while a report is rendered.

A report may name metrics of a user's own. Its catalogue is in use for as long as it is rendered, in
that thread of execution alone, as a locale would be.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING

from fairgauge.catalogue.lookup import BUILT_IN, Catalogue
from fairgauge.enums import Threshold

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from fairgauge.catalogue.comparisons import Metric
    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.report.report import Report

_IN_USE: ContextVar[Catalogue] = ContextVar("catalogue in use", default=BUILT_IN)
_SCORING: ContextVar[bool] = ContextVar("scoring rates in use", default=False)


@contextmanager
def naming(catalogue: Catalogue, *, scoring: bool = False) -> Iterator[None]:
    """Use a catalogue while a report is rendered.

    Parameters
    ----------
    scoring : bool
        Whether selection rates are scoring rates: the share of rows whose score is above the median
        of all scores, which selects nobody.
    """
    before, scoring_before = _IN_USE.set(catalogue), _SCORING.set(scoring)
    try:
        yield
    finally:
        _IN_USE.reset(before)
        _SCORING.reset(scoring_before)


def naming_in(report: Report) -> AbstractContextManager[None]:
    """Use the names of a report, with scoring rates where scores are cut at their median."""
    spec = report.spec
    cut = spec.get("threshold") == Threshold.MEDIAN and bool(spec.get("score"))
    turned = any(each.turned is not None for each in report.scores)
    scoring = cut and not spec.get("prediction") and not turned
    return naming(report.catalogue, scoring=scoring)


def is_scoring_rate(name: str) -> bool:
    """Return whether a rate is the share of rows with a score above the median."""
    return name == "selection_rate" and _SCORING.get()


def all_rates() -> tuple[Statistic, ...]:
    """Return every rate that a report may show, in order."""
    return _IN_USE.get().rates


def find_metric(name: str) -> Metric:
    """Return the metric of a name; LookupError where the catalogue in use does not have it."""
    return _IN_USE.get().metric(name)


def find_rate(name: str) -> Statistic:
    """Return the rate of a name; LookupError where the catalogue in use does not have it."""
    return _IN_USE.get().rate(name)


def metric_row(name: str) -> Metric | None:
    """Return the metric of a name; None where the catalogue in use does not have it."""
    return _metric_row(_IN_USE.get(), name)


def rate_row(name: str) -> Statistic | None:
    """Return the rate of a name; None where the catalogue in use does not have it."""
    return _rate_row(_IN_USE.get(), name)


@cache
def _metric_row(catalogue: Catalogue, name: str) -> Metric | None:
    try:
        return catalogue.metric(name)
    except LookupError:
        return None


@cache
def _rate_row(catalogue: Catalogue, name: str) -> Statistic | None:
    try:
        return catalogue.rate(name)
    except LookupError:
        return None
