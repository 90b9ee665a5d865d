"""Differences of the rates of a mean, such as average odds, that offset each other in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.derived import contrast_of
from fairgauge.catalogue.statistics import Blend
from fairgauge.enums import DiagnosticCode, Status
from fairgauge.measure.slices import Slice
from fairgauge.resolve.asked_metrics import AskedMetric
from fairgauge.results.estimates import Estimate
from fairgauge.results.scopes import OVERALL, Diagnostic


def offsetting_parts(
    slices: Sequence[Slice], metrics: Sequence[AskedMetric]
) -> Iterator[Diagnostic]:
    """State the means of rates of which a group has one that is higher, and one that is lower.

    Each difference is statistically significant by itself. The mean shows little of either.
    """
    rows = (each.metric for each in metrics if each.obstacle is None)
    means = {m.of for m in rows if isinstance(m, Contrast) and isinstance(m.of, Blend)}
    for mean, part in product(sorted(means, key=lambda each: each.name), slices):
        if part.counts.protected:
            continue
        pairs = part.compared(contrast_of(mean, "difference"))  # the mean's own, of both parts
        parts = (contrast_of(rate, "difference") for rate in mean.of)
        every = [part.estimates(each, compared=pairs) for each in parts]
        for of_group in zip(*every, strict=True):
            first = of_group[0]
            if first.scope != OVERALL or first.mirror_of is not None:
                continue
            if {_side(each) for each in of_group} >= {-1, 1}:
                yield Diagnostic.note(
                    DiagnosticCode.OFFSETTING_PARTS,
                    part.counts.feature,
                    metric=mean.name,
                    group=first.group,
                    rates=tuple(rate.title for rate in mean.of),
                    differences=tuple(each.value or 0.0 for each in of_group),
                    threshold=part.outcome.threshold,
                    **({"class": name} if (name := part.outcome.class_scope.name) else {}),
                )


def _side(each: Estimate) -> int:
    """Return on which side of "no difference" a whole interval is; 0 of neither."""
    if each.status is not Status.OK or each.low is None or each.high is None:
        return 0
    return (each.low > 0) - (each.high < 0)
