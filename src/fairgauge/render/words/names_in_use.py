"""The catalogue in use: what names stand for while a report is rendered.

A report may name metrics of a user's own. Its catalogue is in use for as long as it is rendered, in
that thread of execution alone, as a locale would be.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from fairgauge.catalogue.lookup import BUILT_IN, Catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairgauge.catalogue.comparisons import Metric
    from fairgauge.catalogue.statistics import Statistic

_IN_USE: ContextVar[Catalogue] = ContextVar("catalogue in use", default=BUILT_IN)


@contextmanager
def naming(catalogue: Catalogue) -> Iterator[None]:
    """Use a catalogue while a report is rendered."""
    before = _IN_USE.set(catalogue)
    try:
        yield
    finally:
        _IN_USE.reset(before)


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
    return _IN_USE.get().find_metric(name)


def rate_row(name: str) -> Statistic | None:
    """Return the rate of a name; None where the catalogue in use does not have it."""
    return _IN_USE.get().find_rate(name)
