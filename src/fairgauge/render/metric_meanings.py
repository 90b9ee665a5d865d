"""What the catalogue says of the names in a report; names that it does not have are shown bare.

A report may name metrics of a user's own. Its catalogue holds for as long as it is rendered
(`naming`), in that thread of execution alone, as a locale would.
"""

from __future__ import annotations

import math
import re
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.conditional import ConditionalDisparity
from fairgauge.catalogue.lookup import BUILT_IN, Catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairgauge.catalogue.comparisons import Metric
    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.report.estimates import Estimate

_CODE_BEHIND = re.compile(r"\s*\([A-Za-z]+\)$")
_HEADLINES = (
    "selection_rate", "true_positive_rate", "true_negative_rate", "false_positive_rate",
    "accuracy", "base_rate", "mean_error", "mean_absolute_error", "mean_prediction", "roc_auc",
)  # fmt: skip


_NAMES: ContextVar[Catalogue] = ContextVar("names", default=BUILT_IN)


@contextmanager
def naming(catalogue: Catalogue) -> Iterator[None]:
    """Let the names of a catalogue hold while a report is rendered."""
    before = _NAMES.set(catalogue)
    try:
        yield
    finally:
        _NAMES.reset(before)


def all_rates() -> tuple[Statistic, ...]:
    """Return every rate that a report may show, in order."""
    return _NAMES.get().rates


def find_metric(name: str) -> Metric:
    """Return the metric of a name; LookupError where no catalogue in force has it."""
    return _NAMES.get().metric(name)


def find_rate(name: str) -> Statistic:
    """Return the rate of a name; LookupError where no catalogue in force has it."""
    return _NAMES.get().rate(name)


def metric_row(name: str) -> Metric | None:
    """Return the catalogue row of a metric."""
    try:
        return find_metric(name)
    except LookupError:
        return None


def rate_row(name: str) -> Statistic | None:
    """Return the catalogue row of a rate."""
    try:
        return find_rate(name)
    except LookupError:
        return None


def title(name: str) -> str:
    """Return a metric's title without its code; nothing where the name says it all."""
    row = metric_row(name)
    if row is None or row.set in ("native", "own"):
        return ""
    return _CODE_BEHIND.sub("", row.title)


def rate_title(name: str) -> str:
    """Return a rate's name as words."""
    row = rate_row(name)
    return row.title if row else name.replace("_", " ")


def is_share(rate: str) -> bool:
    """Tell whether a rate is shown in per cent."""
    row = rate_row(rate)
    return row is not None and row.is_share


def neutral(name: str) -> float:
    """Return the value of a metric that means "no difference"."""
    row = metric_row(name)
    return row.neutral if row else 0.0


def is_signed(name: str) -> bool:
    """Tell whether a metric can be negative, so that its sign is worth showing."""
    row = metric_row(name)
    return row is None or row.range[0] < 0


def is_directed(name: str) -> bool:
    """Tell whether a metric compares two rates, so that one side fares better."""
    return compared(name) is not None


def is_of_feature(name: str) -> bool:
    """Tell whether a metric is one number of all groups of a feature, such as the largest gap."""
    row = metric_row(name)
    return row is not None and row.scope == "feature"


def headline_rank(name: str) -> int | None:
    """Return the place of a metric among those that a summary names first; None if not of them."""
    rate = compared(name)
    return _HEADLINES.index(rate) if rate in _HEADLINES else None


def compared(name: str) -> str | None:
    """Return the rate that a metric compares, if it compares one."""
    row = metric_row(name)
    return row.of.name if isinstance(row, Contrast) else None


def has_margin(pooled: str, metric: str) -> bool:
    """Tell whether a pooled metric is ``metric`` with strata held fixed, sign included."""
    if pooled == metric:
        return True
    conditional, row = metric_row(pooled), metric_row(metric)
    if not isinstance(conditional, ConditionalDisparity) or not isinstance(row, Contrast):
        return False
    rate = conditional.margin.name
    return (row.of.name, row.by, row.order) == (rate, "difference", "reference - group")


def reverses(overall: Estimate, adjusted: Estimate) -> bool:
    """Return whether two estimates of one metric lie on opposite sides of "no difference"."""
    if overall.value is None or adjusted.value is None:
        return False
    sides = [each.value - neutral(each.metric) for each in (overall, adjusted) if each.value]
    return len(sides) == 2 and sides[0] * sides[1] < 0


def distance(estimate: Estimate) -> tuple[float, float]:
    """Return how far an estimate is from "no difference", for ordering: first by its interval.

    Of two numbers, the first is the distance of the nearer end of the interval (0 if the interval
    holds the neutral value, or there is none), the second that of the value. A ratio is as far as
    its inverse. Infinite values come last: they say that a count is 0, not how a group fares.
    """
    if estimate.value is None or math.isinf(estimate.value):
        return (-1.0, -1.0)
    middle = neutral(estimate.metric)
    sure = 0.0
    if estimate.low is not None and estimate.high is not None:
        ends = (estimate.low, estimate.high)
        if min(ends) > middle or max(ends) < middle:
            sure = min(_apart(end, middle) for end in ends)
    return (sure, _apart(estimate.value, middle))


def _apart(value: float, middle: float) -> float:
    if middle == 0:
        return abs(value)
    return abs(math.log(value / middle)) if 0 < value < math.inf else math.inf
